//! Terraform's own graph of a workspace, drawn on the control minion.

use std::time::Duration;

use serde_json::{Value, json};

use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};

/// Terraform is initialised for it.
const ANSWER: Duration = Duration::from_secs(90);

/// In the language of Graphviz.
pub async fn ask(engines: &Engines, environment: &str, component: &str) -> Result<String, EngineError> {
    let minion = &engines.endpoints.control;
    let names = json!({"kind": "workspace", "name": format!("{environment}/{component}")});
    let answer = engines
        .salt
        .call(minion, "eos.examine", names, ANSWER)
        .await
        .map_err(|error| match error.words.contains("never applied") {
            true => error.with_hint("eos apply"),
            false => error,
        })?;
    match answer {
        Value::String(dot) if dot.contains("digraph") => Ok(dot),
        _ => {
            let object = format!("the graph of {environment}/{component}");
            let words = "the answer is no graph";
            Err(EngineError::new(
                Layer::Terraform,
                ErrorKind::Invalid,
                object,
                words,
            ))
        }
    }
}
