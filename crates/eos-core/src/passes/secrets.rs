//! The secrets pass: which items of a component's secret its services really use.

use crate::expand::Expanded;
use crate::lowered::{Group, SecretItem};
use std::collections::BTreeSet;

pub fn items(expanded: &Expanded<'_>, groups: &[Group]) -> Vec<SecretItem> {
    let used: BTreeSet<&str> = groups
        .iter()
        .flat_map(|group| &group.secrets)
        .flat_map(|secret| secret.text.value.secrets())
        .collect();
    let mut items: Vec<_> = expanded
        .secrets
        .iter()
        .filter(|item| used.contains(item.item.as_str()))
        .cloned()
        .collect();
    items.sort_by(|a, b| a.item.cmp(&b.item));
    items
}
