//! Owns what a provider is: its configuration and its resources, as traits that `nomad/` and `consul/`
//! implement, and the untyped faces of both that the protocol layer calls.

use std::future::Future;
use std::pin::Pin;

use rmpv::Value as Packed;
use tokio::sync::watch;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::schema::Block;
use crate::value::{Mismatch, Shape, Value, forget_unknown};

/// A provider. `C` is the client that its resources speak to their engine with.
pub struct Provider<C> {
    /// The name in `terraform-provider-<name>`.
    pub name: &'static str,
    pub configuration: Box<dyn AnyConfiguration<C>>,
    pub resources: Vec<Box<dyn AnyResource<C>>>,
}

/// The configuration block of a provider, and how it becomes a client.
pub trait Configuration: Send + Sync + 'static {
    type Client: Send + Sync + 'static;
    type Object: Shape + Send;

    fn schema(&self) -> Block;

    /// Checks a configuration without an engine; values may be unknown.
    fn validate(&self, config: &Self::Object) -> Diagnostics;

    fn connect(&self, config: Self::Object)
    -> impl Future<Output = Result<Self::Client, Diagnostics>> + Send;
}

/// One resource type.
pub trait Resource: Send + Sync + 'static {
    type Client: Send + Sync + 'static;
    type Object: Shape + Clone + Send + Sync;

    const NAME: &'static str;
    /// The version of the schema in the published provider: a Terraform state tells which one wrote it.
    const SCHEMA_VERSION: i64 = 0;

    fn schema(&self) -> Block;

    /// Checks a configuration without an engine; values may be unknown.
    fn validate(&self, config: &Self::Object) -> Diagnostics;

    /// The object that `terraform import` starts from; `read` completes it.
    fn import(&self, id: &str) -> Result<Self::Object, Diagnostics>;

    /// The object as the engine has it now; nothing if it is gone.
    fn read(
        &self,
        context: &Context<'_, Self::Client>,
        object: Self::Object,
    ) -> impl Future<Output = Result<Option<Self::Object>, Diagnostics>> + Send;

    fn plan(
        &self,
        context: &Context<'_, Self::Client>,
        change: Change<Self::Object>,
    ) -> impl Future<Output = Result<Planned<Self::Object>, Diagnostics>> + Send;

    fn create(
        &self,
        context: &Context<'_, Self::Client>,
        planned: Self::Object,
    ) -> impl Future<Output = Outcome<Self::Object>> + Send;

    fn update(
        &self,
        context: &Context<'_, Self::Client>,
        prior: Self::Object,
        planned: Self::Object,
    ) -> impl Future<Output = Outcome<Self::Object>> + Send;

    /// Removes the object; answers warnings.
    fn destroy(
        &self,
        context: &Context<'_, Self::Client>,
        object: Self::Object,
    ) -> impl Future<Output = Result<Diagnostics, Diagnostics>> + Send;
}

/// What a call may use.
pub struct Context<'a, C> {
    pub client: &'a C,
    pub stop: Stop,
}

/// A request to stop, from Terraform or because the program ends: every wait must end then.
#[derive(Clone)]
pub struct Stop(watch::Receiver<bool>);

impl Stop {
    pub fn new(receiver: watch::Receiver<bool>) -> Self {
        Self(receiver)
    }

    /// Returns when the request comes.
    pub async fn requested(&self) {
        // An error means that the sender is gone, which it is only while the program ends.
        let _ = self.0.clone().wait_for(|stop| *stop).await;
    }
}

/// What `plan` decides about; a destruction is never asked.
pub struct Change<T> {
    /// Nothing: the object is to be created.
    pub prior: Option<T>,
    pub config: T,
    /// The configuration, with values of `prior` where it leaves a computed attribute open.
    pub proposed: T,
}

pub struct Planned<T> {
    pub object: T,
    /// Attributes whose change needs a new object.
    pub replace: Vec<&'static str>,
    pub warnings: Diagnostics,
}

pub struct Applied<T> {
    pub object: T,
    pub warnings: Diagnostics,
}

/// A failed create or update. `object` is what exists nevertheless; nothing: as before the call.
#[derive(Debug)]
pub struct Failed<T> {
    pub object: Option<Box<T>>,
    pub diagnostics: Diagnostics,
}

pub type Outcome<T> = Result<Applied<T>, Failed<T>>;

impl<T> From<Diagnostics> for Failed<T> {
    fn from(diagnostics: Diagnostics) -> Self {
        Self {
            object: None,
            diagnostics,
        }
    }
}

impl<T> From<Diagnostic> for Failed<T> {
    fn from(diagnostic: Diagnostic) -> Self {
        Self {
            object: None,
            diagnostics: vec![diagnostic],
        }
    }
}

type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A resource type without its Rust types: objects are MessagePack, nil for "none".
pub trait AnyResource<C>: Send + Sync {
    fn name(&self) -> &'static str;
    fn schema_version(&self) -> i64;
    fn schema(&self) -> Block;
    fn validate(&self, config: Packed) -> Diagnostics;
    fn import(&self, id: &str) -> Result<Packed, Diagnostics>;
    fn read<'a>(
        &'a self,
        context: Context<'a, C>,
        object: Packed,
    ) -> Pending<'a, Result<Packed, Diagnostics>>;
    fn plan<'a>(&'a self, context: Context<'a, C>, change: Change<Packed>) -> Pending<'a, AnyPlanned>;
    fn apply<'a>(
        &'a self,
        context: Context<'a, C>,
        prior: Packed,
        planned: Packed,
    ) -> Pending<'a, (Packed, Diagnostics)>;
}

pub type AnyPlanned = Result<Planned<Packed>, Diagnostics>;

/// A configuration without its Rust types.
pub trait AnyConfiguration<C>: Send + Sync {
    fn schema(&self) -> Block;
    fn validate(&self, config: Packed) -> Diagnostics;
    fn connect<'a>(&'a self, config: Packed) -> Pending<'a, Result<C, Diagnostics>>;
}

impl<T: Configuration> AnyConfiguration<T::Client> for T {
    fn schema(&self) -> Block {
        Configuration::schema(self)
    }

    fn validate(&self, config: Packed) -> Diagnostics {
        unpack_configuration(&config)
            .map_or_else(|wrong| wrong, |config| Configuration::validate(self, &config))
    }

    fn connect<'a>(&'a self, config: Packed) -> Pending<'a, Result<T::Client, Diagnostics>> {
        Box::pin(async move { Configuration::connect(self, unpack_configuration(&config)?).await })
    }
}

/// A provider without a configuration block: every attribute is null.
fn unpack_configuration<T: Shape>(packed: &Packed) -> Result<T, Diagnostics> {
    match unpack(packed)? {
        Some(config) => Ok(config),
        None => T::unpack(&Packed::Map(Vec::new())).map_err(|mismatch| wrong_object(&mismatch).into()),
    }
}

fn unpack<T: Shape>(packed: &Packed) -> Result<Option<T>, Diagnostics> {
    match Value::<T>::unpack(packed) {
        Ok(Value::Known(object)) => Ok(Some(object)),
        Ok(Value::Null | Value::Unknown) => Ok(None),
        Err(mismatch) => Err(wrong_object(&mismatch).into()),
    }
}

fn wrong_object(mismatch: &Mismatch) -> Diagnostic {
    Diagnostic::error("Terraform sent an object that does not have this provider's schema")
        .detail(mismatch.to_string())
}

fn unpack_one<T: Shape>(packed: &Packed) -> Result<T, Diagnostics> {
    unpack(packed)?.ok_or_else(|| Diagnostic::error("Terraform sent no object where one is needed").into())
}

impl<R: Resource> AnyResource<R::Client> for R {
    fn name(&self) -> &'static str {
        R::NAME
    }

    fn schema_version(&self) -> i64 {
        R::SCHEMA_VERSION
    }

    fn schema(&self) -> Block {
        Resource::schema(self)
    }

    fn validate(&self, config: Packed) -> Diagnostics {
        unpack_one(&config).map_or_else(|wrong| wrong, |config| Resource::validate(self, &config))
    }

    fn import(&self, id: &str) -> Result<Packed, Diagnostics> {
        Resource::import(self, id).map(|object| object.pack())
    }

    fn read<'a>(
        &'a self,
        context: Context<'a, R::Client>,
        object: Packed,
    ) -> Pending<'a, Result<Packed, Diagnostics>> {
        Box::pin(async move {
            let object = unpack_one(&object)?;
            let found = Resource::read(self, &context, object).await?;
            Ok(found.map_or(Packed::Nil, |object| object.pack()))
        })
    }

    fn plan<'a>(
        &'a self,
        context: Context<'a, R::Client>,
        change: Change<Packed>,
    ) -> Pending<'a, AnyPlanned> {
        Box::pin(async move {
            let prior = change.prior.as_ref().map(unpack).transpose()?.flatten();
            let Some(proposed) = unpack(&change.proposed)? else {
                return Ok(Planned {
                    object: Packed::Nil,
                    replace: Vec::new(),
                    warnings: Vec::new(),
                });
            };
            let config = unpack_one(&change.config)?;
            let planned = Resource::plan(
                self,
                &context,
                Change {
                    prior,
                    config,
                    proposed,
                },
            )
            .await?;
            Ok(Planned {
                object: planned.object.pack(),
                replace: planned.replace,
                warnings: planned.warnings,
            })
        })
    }

    fn apply<'a>(
        &'a self,
        context: Context<'a, R::Client>,
        prior: Packed,
        planned: Packed,
    ) -> Pending<'a, (Packed, Diagnostics)> {
        Box::pin(async move {
            let (before, after) = match (unpack(&prior), unpack(&planned)) {
                (Ok(before), Ok(after)) => (before, after),
                (Err(wrong), _) | (_, Err(wrong)) => return (prior, wrong),
            };
            let outcome = match (before, after) {
                (None, Some(planned)) => Resource::create(self, &context, planned).await,
                (Some(before), Some(planned)) => Resource::update(self, &context, before, planned).await,
                (Some(before), None) => {
                    return match Resource::destroy(self, &context, before).await {
                        Ok(warnings) => (Packed::Nil, warnings),
                        Err(diagnostics) => (prior, diagnostics),
                    };
                }
                (None, None) => return (Packed::Nil, Vec::new()),
            };
            match outcome {
                Ok(applied) => (applied.object.pack(), applied.warnings),
                Err(failed) => {
                    let object = failed
                        .object
                        .map_or(prior, |object| forget_unknown(object.pack()));
                    (object, failed.diagnostics)
                }
            }
        })
    }
}
