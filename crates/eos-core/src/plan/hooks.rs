//! Steps for what is done once a component is healthy: it is watched, or watched no longer.

use super::steps::Steps;
use super::{Change, Key, Plan, Work};
use crate::compile::Compilation;
use crate::emit::monitoring::{rules_digest, rules_sls};
use crate::lowered::Lowered;
use crate::node::{Layer, Node, rules_address};
use crate::recipe::Risk;
use std::collections::{BTreeMap, BTreeSet};

/// Those that some components watch or watched: they are to be told when one of these comes or goes.
pub(super) fn watched_by(
    environment: &str,
    monitors: &[String],
    compilation: &Compilation,
    applied: &BTreeMap<Key, Vec<Node>>,
) -> Vec<String> {
    let wanted = compilation.of_environment(environment).filter(|component| {
        let monitor = component.watched_by.as_ref().map(|monitor| &monitor.component);
        monitor.is_some_and(|monitor| monitors.contains(monitor))
    });
    let was = applied.iter().filter(|((of, _), nodes)| {
        let mut by = nodes.iter().filter_map(|node| node.text("by"));
        of == environment && by.any(|by| monitors.iter().any(|monitor| monitor == by))
    });
    let was = was.map(|((_, name), _)| name.clone());
    wanted
        .map(|component| component.component.clone())
        .chain(was)
        .collect()
}

/// Whether all that changes about a component is who watches it, and how.
pub(super) fn only_hooks(component: &Lowered, changes: &[Change]) -> bool {
    let mut own = changes
        .iter()
        .filter(|change| change.component == component.component)
        .peekable();
    own.peek().is_some() && own.all(|change| change.layer == Layer::Hook)
}

impl Plan {
    /// Components of which nothing but the hooks changes: no step brings their workspaces anywhere.
    pub fn only_hooked(&self) -> BTreeSet<Key> {
        let key = |environment: &String, component: &String| (environment.clone(), component.clone());
        let hooked = self.changes.iter().filter(|change| change.layer == Layer::Hook);
        let mut hooked: BTreeSet<Key> = hooked
            .map(|change| key(&change.environment, &change.component))
            .collect();
        for step in &self.steps {
            if matches!(step.work, Work::Workspace { .. } | Work::RemoveWorkspace { .. }) {
                hooked.remove(&key(&step.environment, &step.component));
            }
        }
        hooked
    }
}

/// Who watched a component when it was last applied, and the host on which its rules are.
pub(super) struct Watch {
    by: String,
    host: String,
}

impl Steps<'_, '_> {
    /// Who watched it, if that is still there to be told otherwise. A monitor that goes takes its rules along, as far as
    /// anybody is asked.
    pub(super) fn watch(&self, key: &Key) -> Option<Watch> {
        let address = rules_address(&key.1);
        let mut nodes = self.input.applied.get(key)?.iter();
        let node = nodes.find(|node| node.address == address)?;
        let (by, host) = (node.text("by")?, node.text("host")?);
        self.input.compilation.component(&key.0, by)?;
        Some(Watch {
            by: by.to_owned(),
            host: host.to_owned(),
        })
    }

    /// Rules go before what they are about, so that nobody is alarmed by what is meant to be.
    pub(super) fn remove_rules(&mut self, key: &Key, watch: &Watch, after: Vec<String>) -> Vec<String> {
        let work = Work::RemoveMonitor {
            minion: watch.host.clone(),
            by: watch.by.clone(),
        };
        vec![self.add(key, self.applied_risk(key), &after, work)]
    }

    pub(super) fn verify_unwatched(&mut self, key: &Key, watch: Watch, after: String) -> String {
        let work = Work::VerifyUnwatched { by: watch.by };
        self.add(key, Risk::Low, &[after], work)
    }

    /// All that is wanted is watched by whom it should be, once it and that are healthy. Gives the ends.
    pub(super) fn hooks(
        &mut self,
        components: &[&Lowered],
        ends: &BTreeMap<&str, String>,
        ground: &[String],
    ) -> Vec<String> {
        let mut last = Vec::new();
        for component in components {
            let key = &(component.environment.clone(), component.component.clone());
            let monitor = component.watched_by.as_deref();
            let healthy = [
                Some(&component.component),
                monitor.map(|monitor| &monitor.component),
            ];
            let healthy: BTreeSet<&String> = healthy
                .into_iter()
                .flatten()
                .filter_map(|name| ends.get(name.as_str()))
                .collect();
            let mut after: Vec<String> = healthy.into_iter().cloned().collect();
            if after.is_empty() {
                after = ground.to_vec();
            }
            let moved = |watch: &Watch| monitor.is_none_or(|monitor| monitor.component != watch.by);
            if let Some(watch) = self.watch(key).filter(moved) {
                after = self.remove_rules(key, &watch, after);
                // One that can still be measured is still a target of all that measure.
                if monitor.is_none() {
                    last.push(self.verify_unwatched(key, watch, after[0].clone()));
                }
            }
            if let Some(monitor) = monitor {
                let work = Work::Monitor {
                    minion: monitor.host.clone(),
                    sls: rules_sls(component),
                    digest: rules_digest(component),
                };
                last.push(self.add(key, component.risk, &after, work));
            }
        }
        last
    }
}
