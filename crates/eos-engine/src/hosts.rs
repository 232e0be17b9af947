//! Hosts as they were last applied. The store has them; until an operation has written them there, git does.

use eos_core::kinds::host;
use eos_core::pillar::{COMMON_FILE, Host, Pillar};
use eos_core::scope::Scope;

use crate::error::EngineError;
use crate::estate::Estate;
use crate::planning::{Nodes, nodes_of};
use crate::store::{Applied, Store};

/// The nodes of all hosts that were applied, by key.
pub(crate) async fn applied(estate: &Estate, store: &Store) -> Result<Nodes, EngineError> {
    let recorded = store.applied(Scope::Estate.prefix())?;
    if !recorded.is_empty() {
        return recorded.into_iter().map(nodes_of).collect();
    }
    let hosts = committed(estate).await?.into_iter();
    let nodes = hosts.map(|host| (Scope::Estate.key(&host.name), vec![host::node(&host)]));
    Ok(nodes.collect())
}

/// The rows of the hosts in the last commit, which an operation writes down where there are none yet. From then on Eos sees
/// every change of a host, also one that a person commits.
pub(crate) async fn committed_rows(estate: &Estate, operation: &str) -> Result<Vec<Applied>, EngineError> {
    let hosts = committed(estate).await?.into_iter();
    let rows = hosts.map(|host| Applied {
        environment: Scope::Estate.prefix().to_owned(),
        digest: host::digest(&host),
        nodes: serde_json::json!([host::node(&host)]),
        operation: operation.to_owned(),
        component: host.name,
    });
    Ok(rows.collect())
}

/// The hosts of the last commit. A file that this Eos cannot read names none.
async fn committed(estate: &Estate) -> Result<Vec<Host>, EngineError> {
    let repository = estate.repository();
    let Some(head) = repository.head().await? else {
        return Ok(Vec::new());
    };
    let Some(text) = repository.show(&head, COMMON_FILE).await? else {
        return Ok(Vec::new());
    };
    let pillar = Pillar::read(&[(COMMON_FILE.to_owned(), text)].into()).unwrap_or_default();
    Ok(pillar.hosts.into_values().collect())
}
