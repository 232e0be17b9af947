//! Hosts: a minion that has the formula and is served the release, and a Nomad client of the same name.

use std::time::Duration;

use eos_core::kinds::host::Answers;
use serde_json::{Value, json};

use crate::delivery;
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::steps::{CALL, Context, Verified};

/// Salt itself takes about ten seconds to say that a minion is gone.
const HOST: Duration = Duration::from_secs(15);
/// A minion fetches every file of the formula; a slow one has taken more than a minute.
const SYNC: Duration = Duration::from_secs(180);

/// What must be so before a host can be one: its minion answers and has a formula, and a client's Nomad node is ready under the minion's
/// name. Gives the node's id.
pub async fn host_answers(
    engines: &Engines,
    minion: &str,
    client: bool,
) -> Result<Option<String>, EngineError> {
    let answered = engines.salt.call(minion, "test.ping", json!({}), HOST).await;
    answered.map_err(|error| {
        error.with_hint(format!(
            "Start salt-minion there with the id {minion}, the name of its Nomad node, and have the master accept its key"
        ))
    })?;
    engines.salt.call(minion, "eos.info", json!({}), HOST).await?;
    if !client {
        return Ok(None);
    }
    let nodes = engines.nomad.nodes().await?;
    let (kind, words) = match nodes.into_iter().find(|node| node.name == minion) {
        Some(node) if node.status == "ready" => return Ok(Some(node.id)),
        Some(node) => (ErrorKind::Failed, format!("it is {}", node.status)),
        None => (ErrorKind::NotFound, "no client has that name".to_owned()),
    };
    Err(
        EngineError::new(Layer::Nomad, kind, format!("node {minion}"), words).with_hint(
            "A Nomad client has the name of its Salt minion; start it, or leave the role client out",
        ),
    )
}

/// A minion that was down when the formula changed has the one before. Gives what it says of itself then.
async fn bring_formula(engines: &Engines, minion: &str) -> Result<Value, EngineError> {
    let salt = &engines.salt;
    let wanted = salt
        .call(&engines.endpoints.control, "eos.info", json!({}), CALL)
        .await?;
    let info = salt.call(minion, "eos.info", json!({}), CALL).await?;
    if info.get("formula") == wanted.get("formula") {
        return Ok(info);
    }
    salt.call(minion, "eos.sync", json!({}), SYNC).await?;
    salt.call(minion, "eos.info", json!({}), CALL).await
}

/// The host is there, has the formula, and is served the release.
pub(super) async fn prove(context: &Context<'_>, answers: &Answers) -> Result<Verified, EngineError> {
    let Answers { minion, client } = answers;
    let node = host_answers(context.engines, minion, *client).await?;
    let info = bring_formula(context.engines, minion).await?;
    let served = info.get("release").and_then(Value::as_str).unwrap_or_default();
    let current = delivery::current(context.engines).await?;
    if current.as_deref() != Some(served) {
        let words = format!("the master serves minion {minion} another release");
        return Err(EngineError::new(
            Layer::Salt,
            ErrorKind::Failed,
            format!("host {minion}"),
            words,
        ));
    }
    let words = match node {
        Some(_) => format!("{minion} answers as a minion and as a Nomad client"),
        None => format!("{minion} answers as a minion"),
    };
    Ok(Verified::new(words, json!({"release": served, "node": node})))
}
