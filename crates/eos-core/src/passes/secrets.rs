//! The secrets pass: which items of a component's secret its services really use.

use crate::expand::Expanded;
use crate::lowered::SecretItem;

pub fn items(expanded: &Expanded<'_>) -> Vec<SecretItem> {
    let used = |item: &SecretItem| {
        expanded
            .recipe
            .services
            .iter()
            .any(|service| service.secrets.iter().any(|used| used.item == item.item))
    };
    let mut items: Vec<_> = expanded
        .secrets
        .iter()
        .filter(|item| used(item))
        .cloned()
        .collect();
    items.sort_by(|a, b| a.item.cmp(&b.item));
    items
}
