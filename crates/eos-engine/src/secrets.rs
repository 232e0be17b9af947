//! Where secret values live: written with compare-and-set, read back, and never seen in a message.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;

use secrecy::{ExposeSecret, SecretString};

use crate::error::{EngineError, ErrorKind, Layer};
use crate::nomad::NomadClient;

/// How often a write starts over because somebody else wrote to the same path.
const ATTEMPTS: usize = 8;

/// Where the secrets of one component are kept. A path is no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretPath<'a> {
    /// The environment.
    pub namespace: &'a str,
    /// `nomad/jobs/<job>`: what that job may read without any policy.
    pub path: &'a str,
}

/// The estate's secrets engine.
pub trait Secrets {
    /// Writes these items beside those that are there already, and reads them back.
    fn set_items(
        &self,
        at: SecretPath<'_>,
        items: &BTreeMap<String, SecretString>,
    ) -> impl Future<Output = Result<(), EngineError>>;

    fn read(
        &self,
        at: SecretPath<'_>,
        item: &str,
    ) -> impl Future<Output = Result<Option<SecretString>, EngineError>>;

    /// The names of the items, without their values; nothing if the path does not exist.
    fn names(
        &self,
        at: SecretPath<'_>,
    ) -> impl Future<Output = Result<Option<BTreeSet<String>>, EngineError>>;

    /// Deletes all items of a path; one that does not exist is deleted already.
    fn delete(&self, at: SecretPath<'_>) -> impl Future<Output = Result<(), EngineError>>;
}

/// Nomad variables. They keep no versions: what is overwritten is gone.
pub struct NomadSecrets<'a> {
    nomad: &'a NomadClient,
}

impl<'a> NomadSecrets<'a> {
    pub fn new(nomad: &'a NomadClient) -> Self {
        NomadSecrets { nomad }
    }
}

impl Secrets for NomadSecrets<'_> {
    async fn set_items(
        &self,
        at: SecretPath<'_>,
        items: &BTreeMap<String, SecretString>,
    ) -> Result<(), EngineError> {
        for _ in 0..ATTEMPTS {
            let (mut all, index) = match self.nomad.variable(at.namespace, at.path).await? {
                Some(variable) => (variable.items, variable.modify_index),
                None => (BTreeMap::new(), 0),
            };
            all.extend(items.iter().map(|(name, value)| (name.clone(), value.clone())));
            match self.nomad.put_variable(at.namespace, at.path, &all, index).await {
                Err(error) if error.kind == ErrorKind::Conflict => continue,
                Err(error) => return Err(error),
                Ok(_) => return self.read_back(at, items).await,
            }
        }
        Err(EngineError::new(
            Layer::Nomad,
            ErrorKind::Conflict,
            format!("variable {}", at.path),
            format!("it was changed by others during all of {ATTEMPTS} attempts"),
        ))
    }

    async fn read(&self, at: SecretPath<'_>, item: &str) -> Result<Option<SecretString>, EngineError> {
        let variable = self.nomad.variable(at.namespace, at.path).await?;
        Ok(variable.and_then(|mut variable| variable.items.remove(item)))
    }

    async fn names(&self, at: SecretPath<'_>) -> Result<Option<BTreeSet<String>>, EngineError> {
        let variable = self.nomad.variable(at.namespace, at.path).await?;
        Ok(variable.map(|variable| variable.items.into_keys().collect()))
    }

    async fn delete(&self, at: SecretPath<'_>) -> Result<(), EngineError> {
        match self.nomad.delete_variable(at.namespace, at.path).await {
            Err(error) if error.kind == ErrorKind::NotFound => Ok(()),
            answer => answer,
        }
    }
}

impl NomadSecrets<'_> {
    async fn read_back(
        &self,
        at: SecretPath<'_>,
        items: &BTreeMap<String, SecretString>,
    ) -> Result<(), EngineError> {
        let found = self.nomad.variable(at.namespace, at.path).await?;
        for (name, value) in items {
            let read = found.as_ref().and_then(|variable| variable.items.get(name));
            if read.is_none_or(|read| read.expose_secret() != value.expose_secret()) {
                let object = format!("item {name} of variable {}", at.path);
                let words = "it was written, but reads back differently";
                return Err(EngineError::new(Layer::Nomad, ErrorKind::Conflict, object, words));
            }
        }
        Ok(())
    }
}
