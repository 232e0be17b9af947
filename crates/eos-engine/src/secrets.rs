//! Secret values on their way: a person's own place in the secrets engine, and the control minion's word about the rest.
//!
//! The token of a person reads and writes no secret of a component. The control minion moves values between such places and
//! components, as far as the person's role reaches. A message never has one.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::time::Duration;

use eos_core::emit::sha256;
pub use eos_core::kinds::secret::Previous;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::nomad::NomadClient;
use crate::vault::VaultClient;

const CALL: Duration = Duration::from_secs(30);
/// How often a write starts over because somebody else wrote to the same path.
const ATTEMPTS: usize = 8;

/// The namespace of places that belong to no component.
pub const APART: &str = "default";

/// Names a component in a path: both names in full may be longer than Nomad lets a path be.
fn key(environment: &str, component: &str) -> String {
    sha256(format!("{environment}/{component}").as_bytes())[..32].to_owned()
}

/// Where values wait that a person gave for a component, until their step.
pub fn given_path(user: &str, operation: &str, environment: &str, component: &str) -> String {
    format!(
        "eos_users/{user}/given/{operation}/{}",
        key(environment, component)
    )
}

/// Where the control minion keeps the values before an operation, for itself alone.
pub fn kept_path(operation: &str, environment: &str, component: &str) -> String {
    format!("eos_kept/{operation}/{}", key(environment, component))
}

/// What the control minion says of a component's secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct SecretSeen {
    /// Names, each with a mark that equal values have in common within one answer; none above the caller's role.
    pub items: Option<BTreeMap<String, Option<String>>>,
    pub version: u64,
    /// The same of the version that was asked for.
    pub then: Option<BTreeMap<String, Option<String>>>,
}

/// What an answer of the control minion says of these components, by `environment/component`.
pub fn seen_in(answer: &Value) -> Result<BTreeMap<String, SecretSeen>, EngineError> {
    if let Some(error) = answer.pointer("/errors/secret") {
        return Err(error_of(error));
    }
    let found = answer.get("secret").cloned().unwrap_or_else(|| json!({}));
    serde_json::from_value(found).map_err(|error| {
        EngineError::new(
            Layer::Salt,
            ErrorKind::Invalid,
            "secrets in the answer of the control minion",
            error.to_string(),
        )
    })
}

/// What kept the control minion from looking, in the words of the engine that it asked.
pub(crate) fn error_of(error: &Value) -> EngineError {
    let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
    let layer = match text("layer") {
        "nomad" => Layer::Nomad,
        "vault" => Layer::Vault,
        _ => Layer::Salt,
    };
    EngineError::new(layer, ErrorKind::Failed, text("object"), text("words")).with_hint(text("hint"))
}

/// Asks the control minion about components, each with the version to compare with, if any.
pub async fn observe(
    engines: &Engines,
    wanted: &BTreeMap<String, Option<u64>>,
) -> Result<BTreeMap<String, SecretSeen>, EngineError> {
    if wanted.is_empty() {
        return Ok(BTreeMap::new());
    }
    let arguments = json!({"parts": {"secret": wanted}});
    let control = &engines.endpoints.control;
    let answer = engines.salt.call(control, "eos.observe", arguments, CALL).await?;
    seen_in(&answer)
}

/// Values of a component, if the person's role reaches them: the control minion puts them into the person's own place,
/// where they are read and removed. With operations, also earlier values and those that these have waiting or kept.
pub async fn reveal(
    engines: &Engines,
    environment: &str,
    component: &str,
    item: Option<&str>,
    operations: Option<&[&str]>,
) -> Result<BTreeMap<String, SecretString>, EngineError> {
    let mut facts = json!({});
    if let Some(item) = item {
        facts["items"] = json!([item]);
    }
    if let Some(operations) = operations {
        facts["operations"] = json!(operations);
    }
    let arguments = json!({
        "kind": "secret", "action": "reveal", "environment": environment, "component": component, "facts": facts,
    });
    let control = &engines.endpoints.control;
    let answer = engines.salt.call(control, "eos.act", arguments, CALL).await?;
    let Some(path) = answer.get("path").and_then(Value::as_str) else {
        return Ok(BTreeMap::new());
    };
    let own = format!("eos_users/{}/revealed/", engines.endpoints.salt.user);
    if !path.starts_with(&own) {
        let words = format!("the control minion put it at {path}, which is another's");
        let object = format!("secrets of {component}");
        return Err(EngineError::new(Layer::Salt, ErrorKind::Invalid, object, words));
    }
    let at = SecretPath {
        namespace: APART,
        path,
    };
    let secrets = engines.secrets();
    let found = secrets.entry(at).await;
    secrets.delete(at).await?;
    Ok(found?.unwrap_or_default().items)
}

/// The arguments of `eos.act` that remove the values of an operation.
pub(crate) fn forgetting(operation: &str) -> Value {
    json!({"kind": "secret", "action": "forget", "facts": {}, "operation": operation})
}

/// Removes the values that an operation has waiting or kept. Gives those that only an operator may remove.
pub async fn forget(engines: &Engines, operation: &str) -> Result<Vec<String>, EngineError> {
    let control = &engines.endpoints.control;
    let answer = engines
        .salt
        .call(control, "eos.act", forgetting(operation), CALL)
        .await?;
    let left = answer.get("left").cloned().unwrap_or_default();
    serde_json::from_value(left).map_err(|error| {
        let object = format!("values of operation {operation}");
        EngineError::new(Layer::Salt, ErrorKind::Invalid, object, error.to_string())
    })
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

    /// The newest version of a path, without its values; nothing where there is none, or it is deleted.
    fn version(&self, at: SecretPath<'_>) -> impl Future<Output = Result<Option<u64>, EngineError>>;

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

fn changed_by_others(layer: Layer, at: SecretPath<'_>) -> EngineError {
    EngineError::new(
        layer,
        ErrorKind::Conflict,
        format!("secret {}", at.path),
        format!("others changed it during all {ATTEMPTS} attempts"),
    )
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

    async fn version(&self, at: SecretPath<'_>) -> Result<Option<u64>, EngineError> {
        self.nomad.variable_version(at.namespace, at.path).await
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

    async fn version(&self, at: SecretPath<'_>) -> Result<Option<u64>, EngineError> {
        self.vault.entry_version(at.path).await
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

    async fn version(&self, at: SecretPath<'_>) -> Result<Option<u64>, EngineError> {
        match self {
            EstateSecrets::Nomad(secrets) => secrets.version(at).await,
            EstateSecrets::Vault(secrets) => secrets.version(at).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_before_is_written_down_without_values() {
        for (previous, text) in [
            (Previous::Nothing, r#""nothing""#),
            (Previous::Version(3), r#"{"version":3}"#),
            (
                Previous::Kept("eos_kept/01JC/web".to_owned()),
                r#"{"kept":"eos_kept/01JC/web"}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&previous).unwrap(), text);
            assert_eq!(serde_json::from_str::<Previous>(text).unwrap(), previous);
        }
    }
}
