//! Where secret values live: written with compare-and-set, read back, and never seen in a message.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;

use secrecy::{ExposeSecret, SecretString};

use crate::error::{EngineError, ErrorKind, Layer};
use crate::nomad::NomadClient;
use crate::vault::VaultClient;

/// How often a write starts over because somebody else wrote to the same path.
const ATTEMPTS: usize = 8;

/// Where the secrets of one component are kept. A path is no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretPath<'a> {
    /// The environment, as a namespace of Nomad; Vault has it in the path.
    pub namespace: &'a str,
    /// What the component's own tasks may read: `nomad/jobs/<component>` in Nomad,
    /// `<environment>/<component>/app` in Vault.
    pub path: &'a str,
}

/// All items of a path.
#[derive(Debug, Default)]
pub struct Entry {
    pub items: BTreeMap<String, SecretString>,
    /// Changes with every write; 0 for what was never written.
    pub revision: u64,
}

/// The estate's secrets engine.
pub trait Secrets {
    /// Whose words an error is in.
    fn layer(&self) -> Layer;

    /// Whether what is overwritten is kept, each under its revision.
    fn keeps_versions(&self) -> bool;

    fn entry(&self, at: SecretPath<'_>) -> impl Future<Output = Result<Option<Entry>, EngineError>>;

    /// Writes an entry whole, if it is still the one of that revision (`Conflict` otherwise). Gives the new revision.
    fn put_entry(&self, at: SecretPath<'_>, entry: &Entry) -> impl Future<Output = Result<u64, EngineError>>;

    /// Deletes all items of a path, and every version of them; one that does not exist is deleted already.
    fn delete(&self, at: SecretPath<'_>) -> impl Future<Output = Result<(), EngineError>>;

    /// Writes these items beside those that are there already, and reads them back. Gives the version that was
    /// written, where there are versions.
    fn set_items(
        &self,
        at: SecretPath<'_>,
        items: &BTreeMap<String, SecretString>,
    ) -> impl Future<Output = Result<Option<u64>, EngineError>> {
        async move {
            for _ in 0..ATTEMPTS {
                let mut entry = self.entry(at).await?.unwrap_or_default();
                let added = items.iter().map(|(name, value)| (name.clone(), value.clone()));
                entry.items.extend(added);
                match self.put_entry(at, &entry).await {
                    Err(error) if error.kind == ErrorKind::Conflict => continue,
                    Err(error) => return Err(error),
                    Ok(revision) => {
                        let found = self.entry(at).await?.unwrap_or_default();
                        compare(self.layer(), at, items, &found)?;
                        return Ok(self.keeps_versions().then_some(revision));
                    }
                }
            }
            Err(EngineError::new(
                self.layer(),
                ErrorKind::Conflict,
                format!("secret {}", at.path),
                format!("it was changed by others during all of {ATTEMPTS} attempts"),
            ))
        }
    }

    fn read(
        &self,
        at: SecretPath<'_>,
        item: &str,
    ) -> impl Future<Output = Result<Option<SecretString>, EngineError>> {
        async move {
            let entry = self.entry(at).await?;
            Ok(entry.and_then(|mut entry| entry.items.remove(item)))
        }
    }

    /// The names of the items, without their values; nothing if the path does not exist.
    fn names(
        &self,
        at: SecretPath<'_>,
    ) -> impl Future<Output = Result<Option<BTreeSet<String>>, EngineError>> {
        async move {
            let entry = self.entry(at).await?;
            Ok(entry.map(|entry| entry.items.into_keys().collect()))
        }
    }
}

fn compare(
    layer: Layer,
    at: SecretPath<'_>,
    wanted: &BTreeMap<String, SecretString>,
    found: &Entry,
) -> Result<(), EngineError> {
    for (name, value) in wanted {
        let read = found.items.get(name);
        if read.is_none_or(|read| read.expose_secret() != value.expose_secret()) {
            let object = format!("item {name} of secret {}", at.path);
            let words = "it was written, but reads back differently";
            return Err(EngineError::new(layer, ErrorKind::Conflict, object, words));
        }
    }
    Ok(())
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
    fn layer(&self) -> Layer {
        Layer::Nomad
    }

    fn keeps_versions(&self) -> bool {
        false
    }

    async fn entry(&self, at: SecretPath<'_>) -> Result<Option<Entry>, EngineError> {
        let variable = self.nomad.variable(at.namespace, at.path).await?;
        Ok(variable.map(|variable| Entry {
            items: variable.items,
            revision: variable.modify_index,
        }))
    }

    async fn put_entry(&self, at: SecretPath<'_>, entry: &Entry) -> Result<u64, EngineError> {
        self.nomad
            .put_variable(at.namespace, at.path, &entry.items, entry.revision)
            .await
    }

    async fn delete(&self, at: SecretPath<'_>) -> Result<(), EngineError> {
        match self.nomad.delete_variable(at.namespace, at.path).await {
            Err(error) if error.kind == ErrorKind::NotFound => Ok(()),
            answer => answer,
        }
    }
}

/// Entries of Vault's key-value store.
pub struct VaultSecrets<'a> {
    vault: &'a VaultClient,
}

impl<'a> VaultSecrets<'a> {
    pub fn new(vault: &'a VaultClient) -> Self {
        VaultSecrets { vault }
    }
}

impl Secrets for VaultSecrets<'_> {
    fn layer(&self) -> Layer {
        Layer::Vault
    }

    fn keeps_versions(&self) -> bool {
        true
    }

    async fn entry(&self, at: SecretPath<'_>) -> Result<Option<Entry>, EngineError> {
        let found = self.vault.entry(at.path).await?;
        Ok(found.map(|found| Entry {
            items: found.items,
            revision: found.version,
        }))
    }

    async fn put_entry(&self, at: SecretPath<'_>, entry: &Entry) -> Result<u64, EngineError> {
        self.vault.put_entry(at.path, &entry.items, entry.revision).await
    }

    async fn delete(&self, at: SecretPath<'_>) -> Result<(), EngineError> {
        self.vault.delete_entry(at.path).await
    }
}

/// Whichever of them the estate has.
pub enum EstateSecrets<'a> {
    Nomad(NomadSecrets<'a>),
    Vault(VaultSecrets<'a>),
}

impl Secrets for EstateSecrets<'_> {
    fn layer(&self) -> Layer {
        match self {
            EstateSecrets::Nomad(secrets) => secrets.layer(),
            EstateSecrets::Vault(secrets) => secrets.layer(),
        }
    }

    fn keeps_versions(&self) -> bool {
        match self {
            EstateSecrets::Nomad(secrets) => secrets.keeps_versions(),
            EstateSecrets::Vault(secrets) => secrets.keeps_versions(),
        }
    }

    async fn entry(&self, at: SecretPath<'_>) -> Result<Option<Entry>, EngineError> {
        match self {
            EstateSecrets::Nomad(secrets) => secrets.entry(at).await,
            EstateSecrets::Vault(secrets) => secrets.entry(at).await,
        }
    }

    async fn put_entry(&self, at: SecretPath<'_>, entry: &Entry) -> Result<u64, EngineError> {
        match self {
            EstateSecrets::Nomad(secrets) => secrets.put_entry(at, entry).await,
            EstateSecrets::Vault(secrets) => secrets.put_entry(at, entry).await,
        }
    }

    async fn delete(&self, at: SecretPath<'_>) -> Result<(), EngineError> {
        match self {
            EstateSecrets::Nomad(secrets) => secrets.delete(at).await,
            EstateSecrets::Vault(secrets) => secrets.delete(at).await,
        }
    }
}
