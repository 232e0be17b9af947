//! What Consul has: all services with how many instances each, and the rules of the mesh, in two requests.

use std::collections::BTreeMap;

use eos_core::drift::ConsulSeen;
use serde::Deserialize;

use crate::consul::ConsulClient;
use crate::engines::Engines;
use crate::error::EngineError;
use crate::http::Request;

/// Nothing in an estate without Consul.
pub async fn ask(engines: &Engines) -> Option<Result<ConsulSeen, EngineError>> {
    let consul = engines.consul.as_ref()?;
    let seen = tokio::try_join!(services(consul), intentions(consul));
    Some(seen.map(|(services, intentions)| ConsulSeen { services, intentions }))
}

async fn services(consul: &ConsulClient) -> Result<BTreeMap<String, u64>, EngineError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Summary {
        name: String,
        #[serde(default)]
        instance_count: u64,
    }
    // Of all that lists services, this alone says how many instances they have without a request for each.
    let request = Request {
        object: "services",
        path: "internal/ui/services",
        query: &[],
    };
    let found: Vec<Summary> = consul.get(request).await?;
    Ok(found
        .into_iter()
        .map(|one| (one.name, one.instance_count))
        .collect())
}

/// Service -> those that may call it.
async fn intentions(
    consul: &ConsulClient,
) -> Result<BTreeMap<String, std::collections::BTreeSet<String>>, EngineError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Entry {
        name: String,
        #[serde(default)]
        sources: Option<Vec<From>>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct From {
        name: String,
        #[serde(default)]
        action: String,
    }
    let request = Request {
        object: "intentions",
        path: "config/service-intentions",
        query: &[],
    };
    let entries: Vec<Entry> = consul.get(request).await?;
    let allowed = |entry: &Entry| {
        let sources = entry.sources.iter().flatten();
        sources
            .filter(|source| source.action == "allow")
            .map(|source| source.name.clone())
            .collect()
    };
    Ok(entries
        .iter()
        .map(|entry| (entry.name.clone(), allowed(entry)))
        .collect())
}
