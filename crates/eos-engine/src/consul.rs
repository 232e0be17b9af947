//! Consul's HTTP API: sessions, transactions on keys and the health of services, typed; plain JSON for the rest.
//!
//! A rolled-back transaction is HTTP 409 with its reason in JSON, also when the token may not do it; every other
//! refusal is plain text. An empty list is the answer for a session or service that is not there.

mod lists;

use std::ops::Deref;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use reqwest::{Method, StatusCode};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::endpoints::ConsulEndpoint;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::http::{ANSWER, Api, Dialect, read_json};

pub use crate::http::Request;
pub use lists::{ListedCheck, Server, Servers};

/// How many operations a transaction may have; Consul's own limit is no lower.
pub const TRANSACTION: usize = 64;

/// One instance of a service, with the checks of itself and of its node.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ServiceHealth {
    pub node: Node,
    pub service: Service,
    pub checks: Vec<Check>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Node {
    #[serde(rename = "Node")]
    pub name: String,
    pub address: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Service {
    #[serde(rename = "ID")]
    pub id: String,
    #[serde(rename = "Service")]
    pub name: String,
    /// Empty where it is that of the node.
    pub address: String,
    pub port: u16,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Check {
    pub name: String,
    /// `passing`, `warning`, `critical`.
    pub status: String,
    #[serde(default)]
    pub output: String,
    /// Empty for a check of the node.
    #[serde(rename = "ServiceID", default)]
    pub service_id: String,
}

/// Something that a token may be allowed to do: `("key", "terraform/", "write")`.
pub type Right = (&'static str, &'static str, &'static str);

/// A key with its value, and the session that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub value: Vec<u8>,
    pub session: Option<String>,
}

/// One operation of a transaction.
#[derive(Debug, Clone, Copy)]
pub enum KeyWork<'a> {
    /// The session takes the key, which nobody holds.
    Lock {
        key: &'a str,
        session: &'a str,
        value: &'a [u8],
    },
    /// The session gives the key back, without the delay that follows the end of a session.
    Unlock {
        key: &'a str,
        session: &'a str,
        value: &'a [u8],
    },
    /// Nothing is done unless the session holds the key.
    CheckSession {
        key: &'a str,
        session: &'a str,
    },
    Delete {
        key: &'a str,
    },
}

impl KeyWork<'_> {
    pub fn key(&self) -> &str {
        match self {
            KeyWork::Lock { key, .. }
            | KeyWork::Unlock { key, .. }
            | KeyWork::CheckSession { key, .. }
            | KeyWork::Delete { key } => key,
        }
    }

    fn json(&self) -> Value {
        let work = match self {
            KeyWork::Lock { key, session, value } => {
                json!({"Verb": "lock", "Key": key, "Session": session, "Value": BASE64.encode(value)})
            }
            KeyWork::Unlock { key, session, value } => {
                json!({"Verb": "unlock", "Key": key, "Session": session, "Value": BASE64.encode(value)})
            }
            KeyWork::CheckSession { key, session } => {
                json!({"Verb": "check-session", "Key": key, "Session": session})
            }
            KeyWork::Delete { key } => json!({"Verb": "delete", "Key": key}),
        };
        json!({"KV": work})
    }
}

/// How a transaction ended: all of it was done, or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transaction {
    Done,
    /// The first operation that could not be done, by its place, and Consul's reason.
    RolledBack {
        at: usize,
        words: String,
    },
}

#[derive(Clone)]
pub struct ConsulClient {
    api: Api,
}

/// What every engine's API can do.
impl Deref for ConsulClient {
    type Target = Api;

    fn deref(&self) -> &Api {
        &self.api
    }
}

impl ConsulClient {
    pub fn new(endpoint: &ConsulEndpoint) -> Result<Self, EngineError> {
        let api = Api::new(
            Dialect {
                layer: Layer::Consul,
                token_header: "X-Consul-Token",
                refusal: read_refusal,
            },
            &endpoint.address,
            endpoint.certificate.as_deref(),
            endpoint.token_file.as_deref(),
        )?;
        Ok(ConsulClient { api })
    }

    /// The same Consul with another token than that of the endpoint.
    pub fn with_token(self, token: SecretString) -> Self {
        ConsulClient {
            api: self.api.with_token(token),
        }
    }

    /// The instances of a service, whatever their health; none if it is not known.
    pub async fn service(&self, name: &str) -> Result<Vec<ServiceHealth>, EngineError> {
        self.get(Request {
            object: &format!("service {name}"),
            path: &format!("health/service/{name}"),
            query: &[],
        })
        .await
    }

    /// The address of the server that leads; empty where none does.
    pub async fn leader(&self) -> Result<String, EngineError> {
        self.get(Request {
            object: "leader",
            path: "status/leader",
            query: &[],
        })
        .await
    }

    /// Which of these the token is not allowed to do.
    pub async fn denied(&self, rights: &[Right]) -> Result<Vec<Right>, EngineError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Decision {
            allow: bool,
        }
        let request = Request {
            object: "the token of Eos",
            path: "internal/acl/authorize",
            query: &[],
        };
        let asked: Vec<Value> = rights
            .iter()
            .map(|(resource, segment, access)| json!({"Resource": resource, "Segment": segment, "Access": access}))
            .collect();
        let decisions: Vec<Decision> = self.post(request, &Value::Array(asked)).await?;
        let decided = rights.iter().zip(decisions);
        Ok(decided
            .filter(|(_, decision)| !decision.allow)
            .map(|(right, _)| *right)
            .collect())
    }

    pub async fn key(&self, key: &str) -> Result<Option<Key>, EngineError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct StoredKey {
            value: Option<String>,
            session: Option<String>,
        }
        let object = format!("key {key}");
        let request = Request {
            object: &object,
            path: &format!("kv/{key}"),
            query: &[],
        };
        let found: Vec<StoredKey> = match self.get(request).await {
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
            answer => answer?,
        };
        let Some(StoredKey { value, session }) = found.into_iter().next() else {
            return Ok(None);
        };
        let value = BASE64.decode(value.unwrap_or_default()).map_err(|error| {
            EngineError::new(Layer::Consul, ErrorKind::Invalid, object, error.to_string())
        })?;
        Ok(Some(Key { value, session }))
    }

    /// A session that ends when it is not renewed for `ttl` (Consul may take twice as long), and by nothing else:
    /// the health of the agent that was asked says nothing of whoever holds the session.
    pub async fn create_session(
        &self,
        name: &str,
        ttl: Duration,
        lock_delay: Duration,
    ) -> Result<String, EngineError> {
        #[derive(Deserialize)]
        struct Created {
            #[serde(rename = "ID")]
            id: String,
        }
        let request = Request {
            object: &format!("session {name}"),
            path: "session/create",
            query: &[],
        };
        let body = json!({
            "Name": name,
            "TTL": format!("{}s", ttl.as_secs()),
            "LockDelay": format!("{}s", lock_delay.as_secs()),
            "Behavior": "release",
            "NodeChecks": [],
        });
        Ok(self.put::<Created>(request, &body).await?.id)
    }

    /// `NotFound` where the session has ended.
    pub async fn renew_session(&self, id: &str) -> Result<(), EngineError> {
        let request = Request {
            object: &format!("session {id}"),
            path: &format!("session/renew/{id}"),
            query: &[],
        };
        self.put::<Value>(request, &json!({})).await.map(drop)
    }

    /// Ends a session; one that has ended already is no error.
    pub async fn destroy_session(&self, id: &str) -> Result<(), EngineError> {
        let request = Request {
            object: &format!("session {id}"),
            path: &format!("session/destroy/{id}"),
            query: &[],
        };
        self.put::<Value>(request, &json!({})).await.map(drop)
    }

    /// Does all of it or nothing; at most [`TRANSACTION`] operations.
    pub async fn transact(&self, object: &str, work: &[KeyWork<'_>]) -> Result<Transaction, EngineError> {
        let request = Request {
            object,
            path: "txn",
            query: &[],
        };
        let body = Value::Array(work.iter().map(KeyWork::json).collect());
        let answer = self.api.send(Method::PUT, request, Some(&body), ANSWER).await?;
        if answer.status == StatusCode::CONFLICT {
            return read_rollback(object, &answer.text);
        }
        self.read::<Value>(object, &answer).map(|_| Transaction::Done)
    }
}

fn read_rollback(object: &str, text: &str) -> Result<Transaction, EngineError> {
    #[derive(Deserialize)]
    struct RolledBack {
        #[serde(rename = "Errors")]
        errors: Vec<Reason>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Reason {
        op_index: usize,
        what: String,
    }
    let RolledBack { errors } = read_json(Layer::Consul, object, text)?;
    match errors.into_iter().next() {
        Some(reason) if reason.what.contains("Permission denied") => {
            Err(read_refusal(object, StatusCode::FORBIDDEN, &reason.what))
        }
        Some(reason) => Ok(Transaction::RolledBack {
            at: reason.op_index,
            words: reason.what,
        }),
        None => Err(EngineError::new(
            Layer::Consul,
            ErrorKind::Invalid,
            object,
            "the transaction was rolled back without a reason",
        )),
    }
}

fn read_refusal(object: &str, status: StatusCode, body: &str) -> EngineError {
    let error = |kind| EngineError::new(Layer::Consul, kind, object, body);
    match status {
        StatusCode::NOT_FOUND => error(ErrorKind::NotFound),
        StatusCode::CONFLICT => error(ErrorKind::Conflict),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            error(ErrorKind::Refused).with_hint("Check the token that eos.toml names for Consul")
        }
        StatusCode::BAD_REQUEST | StatusCode::METHOD_NOT_ALLOWED => error(ErrorKind::Invalid),
        StatusCode::INTERNAL_SERVER_ERROR
            if body.contains("No cluster leader") || body.contains("No known Consul servers") =>
        {
            error(ErrorKind::Unreachable)
                .with_hint("Consul is starting or has lost its majority: try again soon")
        }
        _ => error(ErrorKind::Failed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_a_kind() {
        let cases = [
            (404, "Session id 'x' not found", ErrorKind::NotFound),
            (403, "ACL not found", ErrorKind::Refused),
            (403, "Permission denied: anonymous token", ErrorKind::Refused),
            (400, "Failed to parse body", ErrorKind::Invalid),
            (405, "method POST not allowed", ErrorKind::Invalid),
            (500, "No cluster leader", ErrorKind::Unreachable),
            (500, "raft apply failed: invalid session \"x\"", ErrorKind::Failed),
        ];
        for (status, body, kind) in cases {
            let error = read_refusal("key a", StatusCode::from_u16(status).unwrap(), body);
            assert_eq!(
                (error.layer, error.kind, error.words.as_str()),
                (Layer::Consul, kind, body)
            );
        }
    }

    #[test]
    fn a_rolled_back_transaction_names_its_reason() {
        let held = r#"{"Results":null,"Errors":[{"OpIndex":1,"What":"failed to lock key \"a\", lock is already held"}]}"#;
        assert_eq!(
            read_rollback("lock", held).unwrap(),
            Transaction::RolledBack {
                at: 1,
                words: "failed to lock key \"a\", lock is already held".to_owned()
            }
        );
        let denied =
            r#"{"Errors":[{"OpIndex":0,"What":"Permission denied: token lacks permission 'key:write'"}]}"#;
        assert_eq!(
            read_rollback("lock", denied).unwrap_err().kind,
            ErrorKind::Refused
        );
        let silent = r#"{"Errors":[]}"#;
        assert_eq!(
            read_rollback("lock", silent).unwrap_err().kind,
            ErrorKind::Invalid
        );
    }
}
