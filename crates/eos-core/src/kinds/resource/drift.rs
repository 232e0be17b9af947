//! Resources of clouds: what Terraform last said that it would change about them, on the control minion's own schedule.
//!
//! Nobody asks a cloud about every resource while a person waits. What was found before the last application counts no more.

use super::{Part, address};
use crate::compose::Key;
use crate::drift::{Inspection, Layer, Look, Object, Verdict};
use crate::lowered::Lowered;
use serde_json::Value;

pub(super) fn verdicts(look: &Look<'_>) -> Vec<Object> {
    let control = look.seen.control.as_ref();
    let inspection = control.and_then(|control| look.seen.minions.get(control)?.as_ref().ok());
    let Some(inspection) = inspection else {
        return Vec::new();
    };
    let mut objects = Vec::new();
    for key in look.workspace_keys() {
        if let Some(component) = look
            .component(&key)
            .filter(|one| !one.in_workspace.resources.is_empty())
        {
            objects.extend(of_component(look, &key, component, inspection));
        }
    }
    objects
}

fn of_component(look: &Look<'_>, key: &Key, component: &Lowered, inspection: &Inspection) -> Vec<Object> {
    let name = format!("{}/{}", key.0, key.1);
    let workspaces = inspection.workspaces.as_ref();
    let applied = workspaces.and_then(|all| all.get(&name)?.as_ref()?.when.as_deref());
    let synced = inspection.synced.as_ref();
    // Both are the control minion's own clock, in one form.
    let synced = synced.filter(|synced| applied.is_some_and(|applied| synced.when.as_str() > applied));
    let Some(found) = synced.and_then(|synced| synced.workspaces.get(&name)) else {
        return Vec::new();
    };
    let of = |resource: &Part| {
        let actions = actions(&found.resources, &resource.terraform_address(&key.1));
        let (verdict, note) = match actions.as_deref() {
            None if found.verdict == "failed" => (Verdict::Unreachable, found.words.clone()),
            None => (Verdict::InStep, None),
            Some(["create"]) => (Verdict::Missing, None),
            Some(["update"]) => (Verdict::Changed, None),
            Some(_) => {
                let words = "Terraform would replace it";
                (Verdict::Changed, Some(words.to_owned()))
            }
        };
        let mut object = look.object(
            key,
            address(&key.1, &resource.name).to_string(),
            Layer::Cloud,
            verdict,
        );
        object.note = note;
        object
    };
    component.in_workspace.resources.iter().map(of).collect()
}

/// What Terraform would do about a resource.
fn actions<'f>(found: &'f Value, address: &str) -> Option<Vec<&'f str>> {
    let listed = found.as_array()?;
    let one = listed.iter().find(|one| one["address"] == address)?;
    let actions = one["actions"].as_array()?;
    Some(actions.iter().filter_map(Value::as_str).collect())
}
