//! Owns the translation of protocol calls into calls of a provider and its resources.

use std::sync::Arc;

use prost::Message;
use rmpv::Value as Packed;
use tokio::sync::{OnceCell, watch};

use super::messages::*;
use crate::diagnostic::{Diagnostic as Finding, Diagnostics, Step, attribute_path};
use crate::provider::{AnyResource, Change, Context, Provider, Stop};
use crate::schema::fit;

/// Serves one provider to one Terraform process.
pub struct Service<C> {
    provider: Provider<C>,
    client: OnceCell<C>,
    stop: watch::Sender<bool>,
}

/// Why a call got no answer.
#[derive(Debug, PartialEq)]
pub enum Refusal {
    /// Terraform takes this for "an older provider" and goes on without the call.
    NotImplemented,
    Malformed(String),
}

impl From<prost::DecodeError> for Refusal {
    fn from(error: prost::DecodeError) -> Self {
        Refusal::Malformed(error.to_string())
    }
}

impl<C: Send + Sync> Service<C> {
    pub fn new(provider: Provider<C>) -> Arc<Self> {
        Arc::new(Self {
            provider,
            client: OnceCell::new(),
            stop: watch::Sender::new(false),
        })
    }

    /// Answers one call of `tfplugin6.Provider`.
    pub async fn call(&self, method: &str, request: &[u8]) -> Result<Vec<u8>, Refusal> {
        let answer = match method {
            "GetProviderSchema" => self.schemas().encode_to_vec(),
            "ValidateProviderConfig" => {
                let request = ValidateProviderConfigRequest::decode(request)?;
                let diagnostics = match unpack(request.config.as_ref()) {
                    Ok(config) => self.provider.configuration.validate(config),
                    Err(wrong) => wrong,
                };
                ValidateProviderConfigResponse {
                    diagnostics: to_messages(diagnostics),
                }
                .encode_to_vec()
            }
            "ConfigureProvider" => {
                let request = ConfigureProviderRequest::decode(request)?;
                let diagnostics = self
                    .configure(request.config.as_ref())
                    .await
                    .err()
                    .unwrap_or_default();
                ConfigureProviderResponse {
                    diagnostics: to_messages(diagnostics),
                }
                .encode_to_vec()
            }
            "ValidateResourceConfig" => {
                let request = ValidateResourceConfigRequest::decode(request)?;
                let validate = || {
                    Ok(self
                        .resource(&request.type_name)?
                        .validate(unpack(request.config.as_ref())?))
                };
                let diagnostics = validate().unwrap_or_else(|wrong| wrong);
                ValidateResourceConfigResponse {
                    diagnostics: to_messages(diagnostics),
                }
                .encode_to_vec()
            }
            "UpgradeResourceState" => self
                .upgrade(UpgradeResourceStateRequest::decode(request)?)
                .encode_to_vec(),
            "ReadResource" => self
                .read(ReadResourceRequest::decode(request)?)
                .await
                .encode_to_vec(),
            "PlanResourceChange" => self
                .plan(PlanResourceChangeRequest::decode(request)?)
                .await
                .encode_to_vec(),
            "ApplyResourceChange" => self
                .apply(ApplyResourceChangeRequest::decode(request)?)
                .await
                .encode_to_vec(),
            "ImportResourceState" => self
                .import(ImportResourceStateRequest::decode(request)?)
                .encode_to_vec(),
            "StopProvider" => {
                self.stop.send_replace(true);
                StopProviderResponse::default().encode_to_vec()
            }
            _ => return Err(Refusal::NotImplemented),
        };
        Ok(answer)
    }

    fn schemas(&self) -> GetProviderSchemaResponse {
        GetProviderSchemaResponse {
            provider: Some(self.provider.configuration.schema().to_message(0)),
            resource_schemas: self
                .provider
                .resources
                .iter()
                .map(|resource| {
                    let schema = resource.schema().to_message(resource.schema_version());
                    (resource.name().to_owned(), schema)
                })
                .collect(),
            server_capabilities: Some(ServerCapabilities {
                plan_destroy: false,
                get_provider_schema_optional: true,
            }),
        }
    }

    async fn configure(&self, sent: Option<&DynamicValue>) -> Result<(), Diagnostics> {
        let client = self.provider.configuration.connect(unpack(sent)?).await?;
        self.client
            .set(client)
            .map_err(|_| Finding::error("Terraform configured the provider twice").into())
    }

    fn resource(&self, name: &str) -> Result<&dyn AnyResource<C>, Diagnostics> {
        let found = self
            .provider
            .resources
            .iter()
            .find(|resource| resource.name() == name);
        found.map(|resource| &**resource).ok_or_else(|| {
            Finding::error(format!("Provider {} has no resource {name}", self.provider.name))
                .hint(
                    "This provider serves a part of the published one; `terraform providers schema` lists it",
                )
                .into()
        })
    }

    fn context(&self) -> Result<Context<'_, C>, Diagnostics> {
        let client = self.client.get().ok_or_else(|| {
            Finding::error(format!(
                "Provider {} was called before it was configured",
                self.provider.name
            ))
        })?;
        Ok(Context {
            client,
            stop: Stop::new(self.stop.subscribe()),
        })
    }

    fn upgrade(&self, request: UpgradeResourceStateRequest) -> UpgradeResourceStateResponse {
        let upgraded = || {
            let shape = self.resource(&request.type_name)?.schema().shape();
            let stored = request
                .raw_state
                .as_ref()
                .map(|raw| raw.json.as_slice())
                .unwrap_or_default();
            let stored = serde_json::from_slice(stored).map_err(|error| {
                Finding::error(format!(
                    "The Terraform state of a {} cannot be read",
                    request.type_name
                ))
                .detail(error.to_string())
                .hint("Terraform states older than version 0.12 are not supported")
            })?;
            Ok::<_, Diagnostics>(fit(stored, &shape).to_string().into_bytes())
        };
        match upgraded() {
            Ok(json) => UpgradeResourceStateResponse {
                upgraded_state: Some(DynamicValue {
                    json,
                    ..Default::default()
                }),
                diagnostics: Vec::new(),
            },
            Err(wrong) => UpgradeResourceStateResponse {
                upgraded_state: None,
                diagnostics: to_messages(wrong),
            },
        }
    }

    async fn read(&self, request: ReadResourceRequest) -> ReadResourceResponse {
        let read = async {
            let object = unpack(request.current_state.as_ref())?;
            self.resource(&request.type_name)?
                .read(self.context()?, object)
                .await
        };
        let (new_state, diagnostics) = match read.await {
            Ok(object) => (Some(pack(&object)), Vec::new()),
            Err(wrong) => (request.current_state, to_messages(wrong)),
        };
        ReadResourceResponse {
            new_state,
            diagnostics,
            private: request.private,
        }
    }

    async fn plan(&self, request: PlanResourceChangeRequest) -> PlanResourceChangeResponse {
        let plan = async {
            let change = Change {
                prior: Some(unpack(request.prior_state.as_ref())?),
                config: unpack(request.config.as_ref())?,
                proposed: unpack(request.proposed_new_state.as_ref())?,
            };
            self.resource(&request.type_name)?
                .plan(self.context()?, change)
                .await
        };
        match plan.await {
            Ok(planned) => PlanResourceChangeResponse {
                planned_state: Some(pack(&planned.object)),
                requires_replace: planned
                    .replace
                    .into_iter()
                    .map(|attribute| attribute_path(&[Step::Attribute(attribute)]))
                    .collect(),
                planned_private: request.prior_private,
                diagnostics: to_messages(planned.warnings),
            },
            Err(wrong) => PlanResourceChangeResponse {
                planned_state: request.prior_state,
                diagnostics: to_messages(wrong),
                ..Default::default()
            },
        }
    }

    async fn apply(&self, request: ApplyResourceChangeRequest) -> ApplyResourceChangeResponse {
        let apply = async {
            let prior = unpack(request.prior_state.as_ref())?;
            let planned = unpack(request.planned_state.as_ref())?;
            Ok::<_, Diagnostics>(
                self.resource(&request.type_name)?
                    .apply(self.context()?, prior, planned)
                    .await,
            )
        };
        let (new_state, diagnostics) = match apply.await {
            Ok((object, diagnostics)) => (Some(pack(&object)), to_messages(diagnostics)),
            Err(wrong) => (request.prior_state, to_messages(wrong)),
        };
        ApplyResourceChangeResponse {
            new_state,
            private: request.planned_private,
            diagnostics,
        }
    }

    fn import(&self, request: ImportResourceStateRequest) -> ImportResourceStateResponse {
        match self
            .resource(&request.type_name)
            .and_then(|resource| resource.import(&request.id))
        {
            Ok(object) => ImportResourceStateResponse {
                imported_resources: vec![ImportedResource {
                    type_name: request.type_name,
                    state: Some(pack(&object)),
                }],
                diagnostics: Vec::new(),
            },
            Err(wrong) => ImportResourceStateResponse {
                imported_resources: Vec::new(),
                diagnostics: to_messages(wrong),
            },
        }
    }
}

fn to_messages(diagnostics: Diagnostics) -> Vec<Diagnostic> {
    diagnostics.into_iter().map(Diagnostic::from).collect()
}

fn pack(object: &Packed) -> DynamicValue {
    let mut msgpack = Vec::new();
    rmpv::encode::write_value(&mut msgpack, object).expect("writing to memory does not fail");
    DynamicValue {
        msgpack,
        json: Vec::new(),
    }
}

fn unpack(sent: Option<&DynamicValue>) -> Result<Packed, Diagnostics> {
    let Some(sent) = sent.filter(|sent| !sent.msgpack.is_empty()) else {
        return Ok(Packed::Nil);
    };
    rmpv::decode::read_value(&mut sent.msgpack.as_slice()).map_err(|error| {
        Finding::error("Terraform sent an object that is not MessagePack")
            .detail(error.to_string())
            .into()
    })
}
