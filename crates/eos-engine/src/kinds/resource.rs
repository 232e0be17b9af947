//! Resources: read back from Terraform's state, which the control minion answers for.

use eos_core::kinds::resource::Present;
use eos_core::plan::Step;
use serde_json::{Value, json};

use crate::error::{EngineError, ErrorKind, Layer};
use crate::steps::{CALL, Context, Verified};

pub(super) async fn prove_present(
    context: &Context<'_>,
    step: &Step,
    proof: &Present,
) -> Result<Verified, EngineError> {
    let name = step.place();
    let asked = json!({"parts": {"workspace": [name]}});
    let salt = &context.engines.salt;
    let answer = salt.call(&proof.minion, "eos.observe", asked, CALL).await?;
    let seen = answer
        .get("workspace")
        .and_then(|seen| seen.get(&name))
        .cloned()
        .unwrap_or_default();
    let missing = missing(proof, &seen);
    if !missing.is_empty() {
        let words = format!("Terraform's state does not have {}", missing.join(", "));
        let object = format!("workspace {name}");
        return Err(EngineError::new(
            Layer::Terraform,
            ErrorKind::Failed,
            object,
            words,
        ));
    }
    let count = proof.resources.len();
    let words = match count {
        1 => format!("{name}: its resource is in Terraform's state"),
        _ => format!("{name}: its {count} resources are in Terraform's state"),
    };
    Ok(Verified::new(words, seen))
}

/// The resources that the answer about a workspace does not name.
fn missing<'p>(proof: &'p Present, seen: &Value) -> Vec<&'p str> {
    let there = seen.get("resources").and_then(Value::as_array);
    let there: Vec<&str> = there.into_iter().flatten().filter_map(Value::as_str).collect();
    let wanted = proof.resources.iter().map(String::as_str);
    wanted.filter(|address| !there.contains(address)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_that_the_state_does_not_name_is_missing() {
        let proof = Present {
            minion: "control".into(),
            resources: vec![
                "module.edge.hcloud_server.web".into(),
                "module.edge.hcloud_network.net".into(),
            ],
        };
        let one = json!({"resources": ["module.edge.hcloud_server.web"]});
        assert_eq!(missing(&proof, &one), ["module.edge.hcloud_network.net"]);
        assert_eq!(missing(&proof, &Value::Null).len(), 2);
        assert!(missing(&proof, &json!({"resources": proof.resources})).is_empty());
    }
}
