//! What would change: the nodes that are wanted against those that were applied.

use super::{Action, AttributeChange, Change, Key, PlanInput};
use crate::kinds::{self, KINDS};
use crate::lowered::Lowered;
use crate::node::{Attribute, Node};
use std::collections::{BTreeMap, BTreeSet};

/// Whether the engines say that the workspace, and its job where it has one, are what the pillar wants.
fn in_step(input: &PlanInput<'_>, key: &Key) -> bool {
    let (Some(observed), Some(workspace)) = (input.observed, input.compilation.workspace(&key.0, &key.1))
    else {
        return true;
    };
    let name = format!("{}/{}", key.0, key.1);
    let workspace_in_step = observed
        .workspaces
        .get(&name)
        .is_some_and(|digest| digest.as_deref() == Some(&workspace.digest));
    let component = input.compilation.components.get(key);
    let job_in_step = |component: &Lowered| match observed.jobs.get(key) {
        Some(digest) => digest.as_deref() == Some(&workspace.job_digest),
        None => component.may_be_forgotten(),
    };
    workspace_in_step && component.filter(|one| one.runs()).is_none_or(job_in_step)
}

/// The changes of a component, of `platform` or of a host.
pub(super) fn changes_of(input: &PlanInput<'_>, key: &Key) -> Vec<Change> {
    let nothing = Vec::new();
    let wanted = input.compilation.nodes(key);
    // What is there of an unfinished component is not known: if it is wanted, all of it is made.
    let known = input
        .applied
        .get(key)
        .filter(|_| wanted.is_empty() || !input.unfinished.contains(key));
    let applied = known.unwrap_or(&nothing);
    let mut changes: Vec<_> = wanted
        .iter()
        .filter_map(
            |node| match applied.iter().find(|before| before.address == node.address) {
                None => Some(change(Action::Create, node, None)),
                Some(before) if !before.has_values_of(node) => {
                    Some(change(Action::Change, node, Some(before)))
                }
                Some(_) => None,
            },
        )
        .collect();
    changes.extend(
        applied
            .iter()
            .filter(|node| !wanted.iter().any(|now| now.address == node.address))
            .map(|node| change(Action::Delete, node, None)),
    );
    for kind in KINDS {
        kind.adds(input, key, &wanted, &mut changes);
    }
    add_made_again(input, &wanted, &mut changes);
    if changes.is_empty() && !wanted.is_empty() && !in_step(input, key) {
        changes.extend(
            wanted
                .iter()
                .filter(|node| node.layer.is_of_workspace())
                .map(|node| Change {
                    note: Some("the engines differ from the pillar".to_owned()),
                    ..Change::again(node)
                }),
        );
    }
    for change in &mut changes {
        if let Some(kind) = kinds::of(change.address.kind) {
            kind.remark(change, input);
        }
    }
    changes
}

/// What a host no longer has as it was made, though the pillar says the same of it as ever.
fn add_made_again(input: &PlanInput<'_>, wanted: &[Node], changes: &mut Vec<Change>) {
    let Some(intent) = &input.intent else { return };
    for node in wanted.iter().filter(|node| intent.makes_again(&node.address)) {
        if !changes.iter().any(|change| change.address == node.address) {
            changes.push(Change {
                note: Some("changed on its host; Eos makes it again".to_owned()),
                ..Change::again(node)
            });
        }
    }
}

pub(super) fn change(action: Action, node: &Node, before: Option<&Node>) -> Change {
    let nothing = BTreeMap::new();
    let (old, new): (&BTreeMap<String, Attribute>, _) = match action {
        Action::Create => (&nothing, &node.attributes),
        Action::Delete => (&node.attributes, &nothing),
        Action::Change => (
            before.map_or(&nothing, |before| &before.attributes),
            &node.attributes,
        ),
    };
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let attributes = names
        .into_iter()
        .map(|name| AttributeChange {
            name: name.clone(),
            before: old.get(name).map(|attribute| attribute.value.clone()),
            after: new.get(name).map(|attribute| attribute.value.clone()),
            from: new.get(name).map(|attribute| attribute.from.clone()),
        })
        .filter(|change| change.before != change.after)
        .collect();
    Change {
        address: node.address.clone(),
        environment: node.environment.clone(),
        component: node.component.clone(),
        layer: node.layer,
        action,
        summary: node.summary.clone(),
        reversibility: node.reversibility,
        note: None,
        attributes,
    }
}
