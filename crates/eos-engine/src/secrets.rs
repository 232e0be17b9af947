//! Where secret values live: written with compare-and-set, read back, and never seen in a message.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;

pub use eos_core::plan::Previous;
use secrecy::{ExposeSecret, SecretString};

use crate::error::{EngineError, ErrorKind, Layer};
use crate::nomad::NomadClient;
use crate::vault::VaultClient;

/// How often a write starts over because somebody else wrote to the same path.
const ATTEMPTS: usize = 8;

/// How many versions of an entry Vault keeps, unless it is told otherwise.
const VERSIONS: u64 = 10;

/// Where values wait that belong to a running operation: in the secrets engine, apart from every environment.
pub const STAGED_NAMESPACE: &str = "default";

/// Values that a person gave, until their step.
pub fn staged_path(operation: &str) -> String {
    format!("eos/staged/{operation}")
}

/// The copy of what an operation overwrites or removes at a path, until it ends.
pub fn copy_path(operation: &str, path: &str) -> String {
    format!("{}/{path}", staged_path(operation))
}

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

    /// What is at a path now, before an operation overwrites it; nothing is written yet (see `keep`).
    fn remember(
        &self,
        at: SecretPath<'_>,
        operation: &str,
    ) -> impl Future<Output = Result<Previous, EngineError>>;

    /// As `remember`, but also where all versions of the path are about to go: a copy is to be kept.
    fn remember_for_removal(
        &self,
        at: SecretPath<'_>,
        operation: &str,
    ) -> impl Future<Output = Result<Previous, EngineError>> {
        async move {
            let path = copy_path(operation, at.path);
            let copy = SecretPath {
                namespace: STAGED_NAMESPACE,
                path: &path,
            };
            let is_there = self.entry(copy).await?.is_some() || self.entry(at).await?.is_some();
            Ok(match is_there {
                true => Previous::Kept(path),
                false => Previous::Nothing,
            })
        }
    }

    /// Makes the copy that `remember` spoke of. One that is there stays: the operation may have written since.
    fn keep(&self, at: SecretPath<'_>, previous: &Previous) -> impl Future<Output = Result<(), EngineError>> {
        async move {
            let Previous::Kept(path) = previous else {
                return Ok(());
            };
            let copy = SecretPath {
                namespace: STAGED_NAMESPACE,
                path,
            };
            if self.entry(copy).await?.is_some() {
                return Ok(());
            }
            let items = self.entry(at).await?.unwrap_or_default().items;
            self.put_entry(copy, &Entry { items, revision: 0 })
                .await
                .map(drop)
        }
    }

    /// The items of a version that the engine keeps; `NotFound` where they are gone.
    fn items_of_version(
        &self,
        at: SecretPath<'_>,
        version: u64,
    ) -> impl Future<Output = Result<BTreeMap<String, SecretString>, EngineError>>;

    /// The items of the versions before the newest, as far as the engine keeps them.
    fn earlier(
        &self,
        at: SecretPath<'_>,
        newest: u64,
    ) -> impl Future<Output = Result<Vec<BTreeMap<String, SecretString>>, EngineError>> {
        async move {
            let mut found = Vec::new();
            let oldest = match self.keeps_versions() {
                true => newest.saturating_sub(VERSIONS).max(1),
                false => newest,
            };
            for version in oldest..newest {
                match self.items_of_version(at, version).await {
                    Err(error) if error.kind == ErrorKind::NotFound => {}
                    items => found.push(items?),
                }
            }
            Ok(found)
        }
    }

    /// The items that an operation found at a path; `NotFound` where they are gone.
    fn remembered(
        &self,
        at: SecretPath<'_>,
        previous: &Previous,
    ) -> impl Future<Output = Result<BTreeMap<String, SecretString>, EngineError>> {
        async move {
            let path = match previous {
                Previous::Nothing => return Ok(BTreeMap::new()),
                Previous::Version(version) => return self.items_of_version(at, *version).await,
                Previous::Kept(path) => path,
            };
            let copy = SecretPath {
                namespace: STAGED_NAMESPACE,
                path,
            };
            let words = format!("its previous value is no longer at {path}");
            let kept = self.entry(copy).await?;
            Ok(kept.ok_or_else(|| not_kept(self.layer(), at, words))?.items)
        }
    }

    /// Makes a path what it was, and reads that back; done again, it changes nothing. What was written since is
    /// no longer the newest.
    fn restore(
        &self,
        at: SecretPath<'_>,
        previous: &Previous,
    ) -> impl Future<Output = Result<(), EngineError>> {
        async move {
            if *previous == Previous::Nothing {
                self.delete(at).await?;
                return match self.names(at).await? {
                    None => Ok(()),
                    Some(_) => Err(still_there(self.layer(), at)),
                };
            }
            let items = self.remembered(at, previous).await?;
            for _ in 0..ATTEMPTS {
                let Entry {
                    items: found,
                    revision,
                } = self.entry(at).await?.unwrap_or_default();
                if same(&found, &items) {
                    return Ok(());
                }
                let entry = Entry {
                    items: items.clone(),
                    revision,
                };
                match self.put_entry(at, &entry).await {
                    Err(error) if error.kind == ErrorKind::Conflict => continue,
                    Err(error) => return Err(error),
                    Ok(_) => {
                        let found = self.entry(at).await?.unwrap_or_default();
                        return compare(self.layer(), at, &items, &found);
                    }
                }
            }
            Err(changed_by_others(self.layer(), at))
        }
    }

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
            Err(changed_by_others(self.layer(), at))
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

fn same(some: &BTreeMap<String, SecretString>, others: &BTreeMap<String, SecretString>) -> bool {
    let mut pairs = some.iter().zip(others);
    some.len() == others.len()
        && pairs.all(|(one, other)| one.0 == other.0 && one.1.expose_secret() == other.1.expose_secret())
}

/// What was deleted is read back as there.
pub fn still_there(layer: Layer, at: SecretPath<'_>) -> EngineError {
    let object = format!("secret {}", at.path);
    EngineError::new(layer, ErrorKind::Failed, object, "deleted, but still there")
}

fn changed_by_others(layer: Layer, at: SecretPath<'_>) -> EngineError {
    EngineError::new(
        layer,
        ErrorKind::Conflict,
        format!("secret {}", at.path),
        format!("others changed it during all {ATTEMPTS} attempts"),
    )
}

fn not_kept(layer: Layer, at: SecretPath<'_>, words: String) -> EngineError {
    let object = format!("secret {}", at.path);
    EngineError::new(layer, ErrorKind::NotFound, object, words)
        .with_hint("Give it a value again: eos rotate secret COMPONENT NAME --to -")
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
            let words = "Eos wrote it, but reads back another value";
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

    async fn remember(&self, at: SecretPath<'_>, operation: &str) -> Result<Previous, EngineError> {
        self.remember_for_removal(at, operation).await
    }

    async fn items_of_version(
        &self,
        at: SecretPath<'_>,
        version: u64,
    ) -> Result<BTreeMap<String, SecretString>, EngineError> {
        let words = format!("Nomad keeps no versions, so there is no version {version}");
        Err(not_kept(self.layer(), at, words))
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

    async fn remember(&self, at: SecretPath<'_>, _operation: &str) -> Result<Previous, EngineError> {
        let found = self.vault.entry(at.path).await?;
        // A newest version that was deleted holds nothing that could be put back.
        let found = found.filter(|found| !found.items.is_empty());
        Ok(found.map_or(Previous::Nothing, |found| Previous::Version(found.version)))
    }

    async fn items_of_version(
        &self,
        at: SecretPath<'_>,
        version: u64,
    ) -> Result<BTreeMap<String, SecretString>, EngineError> {
        let found = self.vault.entry_of_version(at.path, version).await?;
        let found = found.filter(|found| !found.items.is_empty());
        let gone = || not_kept(self.layer(), at, format!("its version {version} is deleted"));
        Ok(found.ok_or_else(gone)?.items)
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

    async fn remember(&self, at: SecretPath<'_>, operation: &str) -> Result<Previous, EngineError> {
        match self {
            EstateSecrets::Nomad(secrets) => secrets.remember(at, operation).await,
            EstateSecrets::Vault(secrets) => secrets.remember(at, operation).await,
        }
    }

    async fn items_of_version(
        &self,
        at: SecretPath<'_>,
        version: u64,
    ) -> Result<BTreeMap<String, SecretString>, EngineError> {
        match self {
            EstateSecrets::Nomad(secrets) => secrets.items_of_version(at, version).await,
            EstateSecrets::Vault(secrets) => secrets.items_of_version(at, version).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An engine that says of everything that it is deleted, and keeps it.
    struct Stubborn;

    impl Secrets for Stubborn {
        fn layer(&self) -> Layer {
            Layer::Nomad
        }

        fn keeps_versions(&self) -> bool {
            false
        }

        async fn entry(&self, _at: SecretPath<'_>) -> Result<Option<Entry>, EngineError> {
            Ok(Some(Entry::default()))
        }

        async fn put_entry(&self, _at: SecretPath<'_>, _entry: &Entry) -> Result<u64, EngineError> {
            Ok(1)
        }

        async fn delete(&self, _at: SecretPath<'_>) -> Result<(), EngineError> {
            Ok(())
        }

        async fn remember(&self, _at: SecretPath<'_>, _operation: &str) -> Result<Previous, EngineError> {
            Ok(Previous::Nothing)
        }

        async fn items_of_version(
            &self,
            at: SecretPath<'_>,
            _version: u64,
        ) -> Result<BTreeMap<String, SecretString>, EngineError> {
            Err(not_kept(self.layer(), at, "no versions".to_owned()))
        }
    }

    #[tokio::test]
    async fn what_is_said_to_be_gone_again_is_read_back() {
        let at = SecretPath {
            namespace: "default",
            path: "nomad/jobs/web",
        };
        let error = Stubborn.restore(at, &Previous::Nothing).await.unwrap_err();
        assert_eq!(error.words, "deleted, but still there");
    }

    #[test]
    fn what_was_before_is_written_down_without_values() {
        for (previous, text) in [
            (Previous::Nothing, r#""nothing""#),
            (Previous::Version(3), r#"{"version":3}"#),
            (
                Previous::Kept("eos/staged/01JC/web".to_owned()),
                r#"{"kept":"eos/staged/01JC/web"}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&previous).unwrap(), text);
            assert_eq!(serde_json::from_str::<Previous>(text).unwrap(), previous);
        }
    }
}
