//! Vault's HTTP API: entries of its key-value store, its health and the program's own token, typed; plain JSON for
//! the rest.
//!
//! A lost race is HTTP 400, an entry whose newest version is deleted is a 404 with a body, and a path without any
//! engine is a 404 with a reason: such traps are read here, and nowhere else.

pub mod policies;

use std::collections::BTreeMap;
use std::ops::Deref;

use jiff::Timestamp;
use reqwest::{Method, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::endpoints::VaultEndpoint;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::http::{ANSWER, Answer, Api, Dialect, read_json};

pub use crate::http::Request;

/// Where the key-value store (version 2) is mounted.
pub const MOUNT: &str = "secret";
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Health {
    pub initialized: bool,
    pub sealed: bool,
    pub standby: bool,
    pub version: String,
}

/// The newest version of an entry; without items where that version is deleted.
#[derive(Debug)]
pub struct Entry {
    pub version: u64,
    pub items: BTreeMap<String, SecretString>,
}

/// What Vault says of the token it was asked with; times in seconds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct OwnToken {
    pub ttl: u64,
    pub creation_ttl: u64,
    pub renewable: bool,
    /// Nothing for a token that does not expire.
    pub expire_time: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SecretsEngine {
    pub r#type: String,
    pub options: Option<BTreeMap<String, String>>,
}

impl SecretsEngine {
    /// As a person calls it: `kv version 2`.
    pub fn words(&self) -> String {
        match self.options.as_ref().and_then(|options| options.get("version")) {
            Some(version) => format!("{} version {version}", self.r#type),
            None => self.r#type.clone(),
        }
    }

    /// Whether entries have versions, without which nothing is written.
    pub fn is_versioned_store(&self) -> bool {
        self.words() == "kv version 2"
    }
}

/// Every answer of Vault has what was asked for in `data`.
#[derive(Deserialize)]
struct Wrapped<T> {
    data: T,
}

#[derive(Deserialize)]
struct Versioned {
    data: Option<BTreeMap<String, SecretString>>,
    metadata: Version,
}

#[derive(Deserialize)]
struct Version {
    version: u64,
}

pub struct VaultClient {
    api: Api,
}

/// What every engine's API can do.
impl Deref for VaultClient {
    type Target = Api;

    fn deref(&self) -> &Api {
        &self.api
    }
}

impl VaultClient {
    pub fn new(endpoint: &VaultEndpoint) -> Result<Self, EngineError> {
        let api = Api::new(
            Dialect {
                layer: Layer::Vault,
                token_header: "X-Vault-Token",
                refusal: read_refusal,
            },
            &endpoint.address,
            endpoint.certificate.as_deref(),
            endpoint.token_file.as_deref(),
        )?;
        Ok(VaultClient { api })
    }

    /// The same Vault with another token than that of the endpoint.
    pub fn with_token(self, token: SecretString) -> Self {
        VaultClient {
            api: self.api.with_token(token),
        }
    }

    /// Answered by a sealed or new Vault too, and without a token.
    pub async fn health(&self) -> Result<Health, EngineError> {
        self.get(Request {
            object: "health",
            path: "sys/health",
            query: &[
                ("standbyok", "true"),
                ("sealedcode", "200"),
                ("uninitcode", "200"),
            ],
        })
        .await
    }

    pub async fn entry(&self, path: &str) -> Result<Option<Entry>, EngineError> {
        let object = object(path);
        let request = Request {
            object: &object,
            path: &data_path(path),
            query: &[],
        };
        let answer = self.api.send(Method::GET, request, None, ANSWER).await?;
        read_entry(&object, &answer)
    }

    /// The newest version of an entry, without its items; nothing where it is deleted.
    pub async fn entry_version(&self, path: &str) -> Result<Option<u64>, EngineError> {
        #[derive(Deserialize)]
        struct Metadata {
            current_version: u64,
            versions: BTreeMap<String, State>,
        }
        #[derive(Deserialize)]
        struct State {
            deletion_time: String,
            destroyed: bool,
        }
        let request = Request {
            object: &object(path),
            path: &format!("{MOUNT}/metadata/{path}"),
            query: &[],
        };
        let found = match self.get::<Wrapped<Metadata>>(request).await {
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
            answer => answer?.data,
        };
        let newest = found.versions.get(&found.current_version.to_string());
        let is_there = newest.is_some_and(|state| state.deletion_time.is_empty() && !state.destroyed);
        Ok(is_there.then_some(found.current_version))
    }

    /// Writes an entry whole, if its newest version is still this one (0: if there never was one). Gives the new
    /// version.
    pub async fn put_entry(
        &self,
        path: &str,
        items: &BTreeMap<String, SecretString>,
        version: u64,
    ) -> Result<u64, EngineError> {
        let plain: BTreeMap<&str, &str> = items
            .iter()
            .map(|(name, value)| (name.as_str(), value.expose_secret()))
            .collect();
        let request = Request {
            object: &object(path),
            path: &data_path(path),
            query: &[],
        };
        let body = json!({"options": {"cas": version}, "data": plain});
        let written: Wrapped<Version> = self.post(request, &body).await?;
        Ok(written.data.version)
    }

    /// Deletes an entry with all its versions; one that does not exist is deleted already.
    pub async fn delete_entry(&self, path: &str) -> Result<(), EngineError> {
        self.delete(Request {
            object: &object(path),
            path: &format!("{MOUNT}/metadata/{path}"),
            query: &[],
        })
        .await
    }

    /// What there is below a path of the key-value store, one level deep: `grafana/`.
    pub async fn names_below(&self, path: &str) -> Result<Vec<String>, EngineError> {
        #[derive(Deserialize)]
        struct Names {
            keys: Vec<String>,
        }
        let request = Request {
            object: &object(path),
            path: &format!("{MOUNT}/metadata/{path}"),
            query: &[("list", "true")],
        };
        match self.get::<Wrapped<Names>>(request).await {
            Err(error) if error.kind == ErrorKind::NotFound => Ok(Vec::new()),
            answer => answer.map(|names| names.data.keys),
        }
    }

    pub async fn own_token(&self) -> Result<OwnToken, EngineError> {
        let token: Wrapped<OwnToken> = self.get(own("auth/token/lookup-self")).await?;
        Ok(token.data)
    }

    /// Renews the program's own token once half of its time has passed; one that cannot be renewed is left as it is.
    pub async fn keep_token(&self) -> Result<(), EngineError> {
        let token = self.own_token().await?;
        if token.renewable && token.ttl < token.creation_ttl / 2 {
            let renewed: Result<Value, _> = self.put(own("auth/token/renew-self"), &json!({})).await;
            renewed?;
        }
        Ok(())
    }

    /// What is mounted where the key-value store should be.
    pub async fn secrets_engine(&self) -> Result<SecretsEngine, EngineError> {
        let engine: Wrapped<SecretsEngine> = self
            .get(Request {
                object: &format!("secrets engine {MOUNT}/"),
                path: &format!("sys/internal/ui/mounts/{MOUNT}"),
                query: &[],
            })
            .await?;
        Ok(engine.data)
    }
}

fn own(path: &str) -> Request<'_> {
    Request {
        object: "the token of Eos",
        path,
        query: &[],
    }
}

fn object(path: &str) -> String {
    format!("secret {path}")
}

fn data_path(path: &str) -> String {
    format!("{MOUNT}/data/{path}")
}

fn read_entry(object: &str, answer: &Answer) -> Result<Option<Entry>, EngineError> {
    let deleted = answer.status == StatusCode::NOT_FOUND && answer.text.contains("\"metadata\"");
    if answer.status.is_success() || deleted {
        let found: Wrapped<Versioned> = read_json(Layer::Vault, object, &answer.text)?;
        return Ok(Some(Entry {
            version: found.data.metadata.version,
            items: found.data.data.unwrap_or_default(),
        }));
    }
    let refusal = read_refusal(object, answer.status, &answer.text);
    match refusal.kind {
        // Where the path has no engine at all, Vault says so; where there is just no entry, it says nothing.
        ErrorKind::NotFound if refusal.words.is_empty() => Ok(None),
        ErrorKind::NotFound => Err(refusal.with_hint(format!(
            "A key-value store of version 2 must be mounted at {MOUNT}/"
        ))),
        _ => Err(refusal),
    }
}

fn read_refusal(object: &str, status: StatusCode, body: &str) -> EngineError {
    #[derive(Deserialize)]
    struct Errors {
        errors: Vec<String>,
    }
    // Anything but its own form of an error comes from something before Vault, and is not quoted.
    let words = match serde_json::from_str::<Errors>(body) {
        Ok(Errors { errors }) => errors.join("; "),
        Err(_) => format!("HTTP {status}"),
    };
    // Several reasons come as a list of many lines.
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let error = |kind| EngineError::new(Layer::Vault, kind, object, words.as_str());
    match status {
        StatusCode::NOT_FOUND => error(ErrorKind::NotFound),
        StatusCode::FORBIDDEN => error(ErrorKind::Refused)
            .with_hint("Check the token that eos.toml names for Vault, and its policies"),
        StatusCode::BAD_REQUEST if words.contains("check-and-set parameter did not match") => {
            error(ErrorKind::Conflict)
        }
        StatusCode::BAD_REQUEST | StatusCode::METHOD_NOT_ALLOWED => error(ErrorKind::Invalid),
        StatusCode::SERVICE_UNAVAILABLE if words.contains("sealed") => {
            error(ErrorKind::Unreachable).with_hint("Unseal it; eos lab up unseals a lab's")
        }
        StatusCode::SERVICE_UNAVAILABLE => error(ErrorKind::Unreachable),
        _ => error(ErrorKind::Failed),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderMap;

    use super::*;

    fn answer(status: u16, text: &str) -> Answer {
        Answer {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::new(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_refusal_has_a_kind_and_vaults_words_on_one_line() {
        let cases = [
            (
                403,
                r#"{"errors":["2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n"]}"#,
                ErrorKind::Refused,
                "2 errors occurred: * permission denied * invalid token",
            ),
            (
                503,
                r#"{"errors":["Vault is sealed"]}"#,
                ErrorKind::Unreachable,
                "Vault is sealed",
            ),
            (
                400,
                r#"{"errors":["check-and-set parameter did not match the current version"]}"#,
                ErrorKind::Conflict,
                "check-and-set parameter did not match the current version",
            ),
            (
                400,
                r#"{"errors":["lease is not renewable"]}"#,
                ErrorKind::Invalid,
                "lease is not renewable",
            ),
            (404, r#"{"errors":[]}"#, ErrorKind::NotFound, ""),
            (
                502,
                "<html>hunter2</html>",
                ErrorKind::Failed,
                "HTTP 502 Bad Gateway",
            ),
        ];
        for (status, body, kind, words) in cases {
            let error = read_refusal("secret a", StatusCode::from_u16(status).unwrap(), body);
            assert_eq!(
                (error.layer, error.kind, error.words.as_str()),
                (Layer::Vault, kind, words)
            );
        }
    }

    #[test]
    fn an_entry_a_deleted_one_none_and_no_engine_differ() {
        let read = |status, text: &str| read_entry("secret a", &answer(status, text));
        let whole = r#"{"data":{"data":{"password":"hunter2"},"metadata":{"version":3}}}"#;
        let entry = read(200, whole).unwrap().unwrap();
        assert_eq!((entry.version, entry.items.len()), (3, 1));
        assert!(!format!("{entry:?}").contains("hunter2"), "{entry:?}");
        let deleted = r#"{"data":{"data":null,"metadata":{"deletion_time":"x","version":4}}}"#;
        let entry = read(404, deleted).unwrap().unwrap();
        assert_eq!((entry.version, entry.items.len()), (4, 0));
        assert!(read(404, r#"{"errors":[]}"#).unwrap().is_none());
        let unmounted = r#"{"errors":["no handler for route \"secret/data/a\". route entry not found."]}"#;
        let error = read(404, unmounted).unwrap_err();
        assert!(error.hint.unwrap().contains("mounted at secret/"));
    }

    #[test]
    fn a_value_that_is_no_text_is_not_quoted() {
        let odd = r#"{"data":{"data":{"password":{"x":"hunter2"}},"metadata":{"version":3}}}"#;
        let error = read_entry("secret a", &answer(200, odd)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid);
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}
