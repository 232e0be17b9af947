//! What hosts have of storage, as their minions say.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use eos_core::storage::HostStorage;
use futures_util::future::try_join_all;
use serde_json::json;

use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};

/// A minion asks LVM, and the kernel of every disk.
const ANSWER: Duration = Duration::from_secs(60);

/// What each of these hosts has. One that is silent is a failure: nothing is planned for a host that nobody knows.
pub async fn of_hosts(
    engines: &Engines,
    hosts: BTreeSet<String>,
) -> Result<BTreeMap<String, HostStorage>, EngineError> {
    let asked = hosts.into_iter().map(|host| async {
        let answer = of_host(engines, &host).await?;
        Ok::<_, EngineError>((host, answer))
    });
    Ok(try_join_all(asked).await?.into_iter().collect())
}

pub async fn of_host(engines: &Engines, host: &str) -> Result<HostStorage, EngineError> {
    let answer = engines.salt.call(host, "eos.storage", json!({}), ANSWER).await?;
    serde_json::from_value(answer).map_err(|error| {
        EngineError::new(
            Layer::Salt,
            ErrorKind::Invalid,
            format!("storage of host {host}"),
            error.to_string(),
        )
        .with_hint("Is the formula of this host that of this version of Eos? `eos doctor` says")
    })
}
