//! All there is of a kind, by one request each, and what Consul says of its own servers.

use std::collections::BTreeMap;

use reqwest::{Method, StatusCode};
use serde::Deserialize;

use super::ConsulClient;
use crate::error::{EngineError, ErrorKind};
use crate::http::{ANSWER, Request};

/// One check of a service or, without a service, of a node.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ListedCheck {
    pub node: String,
    pub name: String,
    /// `passing`, `warning`, `critical`.
    pub status: String,
    #[serde(default)]
    pub output: String,
    #[serde(rename = "ServiceID", default)]
    pub service_id: String,
    #[serde(default)]
    pub service_name: String,
}

impl ListedCheck {
    pub fn passes(&self) -> bool {
        self.status == "passing"
    }
}

/// Whether the servers of Consul are well, each as the others see it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Servers {
    pub healthy: bool,
    #[serde(default)]
    pub servers: Vec<Server>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Server {
    pub name: String,
    pub version: String,
    pub leader: bool,
    pub healthy: bool,
}

impl ConsulClient {
    /// The checks of all nodes and services.
    pub async fn checks(&self) -> Result<Vec<ListedCheck>, EngineError> {
        self.list("checks", "health/state/any").await
    }

    /// The services by name, without Consul itself.
    pub async fn service_names(&self) -> Result<Vec<String>, EngineError> {
        let mut names: BTreeMap<String, Vec<String>> = self.list("services", "catalog/services").await?;
        names.remove("consul");
        Ok(names.into_keys().collect())
    }

    /// The names of all keys that begin so.
    pub async fn keys(&self, beginning: &str) -> Result<Vec<String>, EngineError> {
        let request = Request {
            object: &format!("keys below {beginning}"),
            path: &format!("kv/{beginning}"),
            query: &[("keys", "true")],
        };
        match self.get(request).await {
            Err(error) if error.kind == ErrorKind::NotFound => Ok(Vec::new()),
            answer => answer,
        }
    }

    /// Consul's own health endpoint: it answers 429 where the servers are not well, and says why all the same.
    pub async fn servers(&self) -> Result<Servers, EngineError> {
        let request = Request {
            object: "the health of its servers",
            path: "operator/autopilot/health",
            query: &[],
        };
        let mut answer = self.api.send(Method::GET, request, None, ANSWER).await?;
        if answer.status == StatusCode::TOO_MANY_REQUESTS {
            answer.status = StatusCode::OK;
        }
        self.read(request.object, &answer)
    }

    async fn list<T: serde::de::DeserializeOwned>(&self, object: &str, path: &str) -> Result<T, EngineError> {
        let query = &[];
        self.get(Request { object, path, query }).await
    }
}
