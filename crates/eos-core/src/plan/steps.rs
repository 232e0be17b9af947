//! In which steps a plan is carried out, and which waits for which.

use super::changes::{Doomed, commits, doomed_volumes};
use super::hooks::only_hooks;
use super::{Action, Change, Expected, Key, PlanInput, SecretWork, Step, Work};
use crate::compile::Compilation;
use crate::emit::salt::{sls, volume_pieces, volumes_digest};
use crate::emit::terraform::PLATFORM;
use crate::lowered::{Lowered, secret_path};
use crate::node::{Layer, Node};
use crate::order::{self, Before};
use crate::recipe::Risk;
use crate::storage;
use std::collections::{BTreeMap, BTreeSet};

/// The steps of a plan while they are put together.
pub(super) struct Steps<'i, 'a> {
    pub(super) input: &'i PlanInput<'a>,
    control: String,
    steps: Vec<Step>,
}

/// Namespace first, then secrets and volumes, then jobs, each verified; what cannot be taken back comes last. Components
/// that do not wait for one another have chains of their own.
pub(super) fn steps(input: &PlanInput<'_>, touched: &[Key], changes: &[Change]) -> Vec<Step> {
    let Some(control) = input.compilation.control.clone() else {
        return Vec::new();
    };
    let mut all = Steps {
        input,
        control,
        steps: Vec::new(),
    };
    let deliver_for = (input.environment.to_owned(), PLATFORM.to_owned());
    let delivered = all.add(&deliver_for, Risk::Low, &[], Work::Deliver);
    let (wanted, gone): (Vec<&Key>, Vec<&Key>) = touched
        .iter()
        .partition(|key| !input.compilation.nodes(key).is_empty());
    let (platform, wanted): (Vec<&Key>, Vec<&Key>) = wanted.into_iter().partition(|key| key.1 == PLATFORM);
    let mut ground = vec![delivered];
    for key in platform {
        if let Some(id) = all.workspace(key, Risk::Low, &ground) {
            ground = vec![id];
        }
    }
    let healthy = all.components(wanted, changes, &ground);
    // What is wanted is healthy before anything goes.
    let ready = if healthy.is_empty() { ground } else { healthy };
    all.removals(gone, &ready);
    all.steps
}

/// What is left to prove of a host once its slice is delivered.
pub(super) fn host_steps(input: &PlanInput<'_>, before: &[Step]) -> Vec<Step> {
    let Some(intent) = &input.intent else {
        return Vec::new();
    };
    let step = |id: &str, after: Vec<String>, work| Step {
        id: id.to_owned(),
        environment: input.environment.to_owned(),
        component: intent.component.clone(),
        after,
        risk: Risk::Low,
        work,
    };
    let mut steps = Vec::new();
    let mut after: Vec<String> = before.iter().map(|step| step.id.clone()).collect();
    if after.is_empty() {
        steps.push(step("1-deliver", Vec::new(), Work::Deliver));
        after.push("1-deliver".to_owned());
    }
    if let Some(host) = input.hosts.1.get(&intent.component) {
        steps.push(step(
            "host",
            after,
            Work::VerifyHost {
                minion: host.name.clone(),
                client: host.has_role("client"),
            },
        ));
    }
    steps
}

impl Steps<'_, '_> {
    pub(super) fn add(&mut self, key: &Key, risk: Risk, after: &[String], work: Work) -> String {
        let id = format!("{}-{}", self.steps.len() + 1, work.title());
        self.steps.push(Step {
            id: id.clone(),
            environment: key.0.clone(),
            component: key.1.clone(),
            after: after.to_vec(),
            risk,
            work,
        });
        id
    }

    fn workspace(&mut self, key: &Key, risk: Risk, after: &[String]) -> Option<String> {
        let wanted = self.input.compilation.workspace(&key.0, &key.1)?;
        let work = Work::Workspace {
            minion: self.control.clone(),
            sls: sls(&key.1, &key.0, "workspace"),
            digest: wanted.digest.clone(),
        };
        Some(self.add(key, risk, after, work))
    }

    /// A chain for each component, which begins when those before it are healthy. Gives the ends of all chains.
    fn components(&mut self, wanted: Vec<&Key>, changes: &[Change], ground: &[String]) -> Vec<String> {
        let compilation = self.input.compilation;
        let found = wanted
            .into_iter()
            .filter_map(|key| compilation.component(&key.0, &key.1));
        let mut components: Vec<&Lowered> = found.collect();
        components.sort_by_key(|component| (component.wave, &component.component));
        let mut ends: BTreeMap<&str, String> = BTreeMap::new();
        for component in &components {
            if only_hooks(component, changes) {
                continue;
            }
            let waited = component.before.iter().filter_map(|name| ends.get(name.as_str()));
            let mut after: Vec<String> = waited.cloned().collect();
            if after.is_empty() {
                after = ground.to_vec();
            }
            let end = self.chain(component, changes, after);
            ends.insert(&component.component, end);
        }
        let hooked = self.hooks(&components, &ends, ground);
        ends.into_values().chain(hooked).collect()
    }

    fn chain(&mut self, component: &Lowered, changes: &[Change], mut after: Vec<String>) -> String {
        let key = &(component.environment.clone(), component.component.clone());
        let risk = self.expected(component.risk, &self.input.compilation.nodes(key));
        let touches = |layer: Layer| {
            changes
                .iter()
                .any(|c| c.component == component.component && c.layer == layer && c.action != Action::Delete)
        };
        if let Some(previous) = self.input.left.and_then(|left| left.secrets.get(key)) {
            let work = Work::RestoreSecret {
                minion: self.control.clone(),
                path: component.secret_path(),
                previous: previous.clone(),
            };
            after = vec![self.add(key, risk, &after, work)];
        }
        if touches(Layer::Secret) {
            let work = Work::Secret {
                minion: self.control.clone(),
                path: component.secret_path(),
                items: secret_items(self.input, key),
            };
            after = vec![self.add(key, risk, &after, work)];
        }
        if touches(Layer::Host) {
            for (minion, (piece, volumes)) in volume_pieces(component) {
                let host = self
                    .input
                    .observed
                    .and_then(|observed| observed.storage.get(minion));
                let risks = volumes
                    .iter()
                    .map(|volume| storage::risk(component, volume, host));
                let risk = risks.max().unwrap_or(risk).max(risk);
                let paths = volumes.into_iter().map(|volume| volume.path.value.clone());
                let work = Work::Volumes {
                    minion: minion.to_owned(),
                    sls: sls(&key.1, &key.0, &piece),
                    digest: volumes_digest(component, minion),
                    paths: paths.collect(),
                    lasting: loses_data(component, changes),
                };
                after = vec![self.add(key, risk, &after, work)];
            }
        }
        if !component.runs() {
            return after.remove(0);
        }
        if let Some(id) = self.workspace(key, risk, &after) {
            after = vec![id];
        }
        let work = Work::Verify {
            digest: job_digest(self.input.compilation, key),
            groups: expected(component),
        };
        self.add(key, Risk::Low, &after, work)
    }

    /// What depends on others goes before them; all runs out before secrets, namespace and data go.
    fn removals(&mut self, gone: Vec<&Key>, ready: &[String]) {
        // The namespace goes after all that lies in it, its secrets included.
        let (empty_platform, gone): (Vec<&Key>, Vec<&Key>) =
            gone.into_iter().partition(|key| key.1 == PLATFORM);
        let (all_gone, gone): (Vec<&Key>, Vec<&Key>) = (
            gone.clone(),
            gone.into_iter().filter(|key| self.ran(key)).collect(),
        );
        let mut after = ready.to_vec();
        let mut ends = Vec::new();
        for wave in dependents_first(self.input, gone.clone()) {
            ends.clear();
            for key in wave {
                let services = applied_names(self.input, key, Layer::Service);
                let work = Work::RemoveWorkspace {
                    minion: self.control.clone(),
                };
                let watch = self.watch(key);
                let before = match &watch {
                    Some(watch) => self.remove_rules(key, watch, after.clone()),
                    None => after.clone(),
                };
                let removed = self.add(key, self.applied_risk(key), &before, work);
                let stop = self.applied_stop(key);
                let work = Work::VerifyGone { services, stop };
                let mut end = self.add(key, Risk::Low, &[removed], work);
                if let Some(watch) = watch {
                    end = self.verify_unwatched(key, watch, end);
                }
                ends.push(end);
            }
            after.clone_from(&ends);
        }
        let mut last = after;
        for key in &gone {
            let nodes = self.input.applied.get(*key);
            if nodes.is_some_and(|nodes| nodes.iter().any(|node| node.layer == Layer::Secret)) {
                let work = Work::RemoveSecret {
                    minion: self.control.clone(),
                    path: secret_path(self.input.compilation.profile, &key.0, &key.1),
                };
                last = vec![self.add(key, self.applied_risk(key), &last, work)];
            }
        }
        for key in empty_platform {
            let work = Work::RemoveWorkspace {
                minion: self.control.clone(),
            };
            last = vec![self.add(key, Risk::Low, &last, work)];
        }
        for key in all_gone {
            let doomed = doomed_volumes(self.input, key);
            for (minion, paths) in self.kept_volumes(key, &doomed) {
                let standing = self
                    .input
                    .observed
                    .and_then(|observed| observed.standing.get(&minion));
                let there = standing.into_iter().flatten();
                let there = there.filter(|(path, _)| paths.contains(path));
                let there = there.map(|(path, uuid)| (path.clone(), uuid.clone())).collect();
                let work = Work::VerifyKept { minion, paths, there };
                last = vec![self.add(key, Risk::Low, &last, work)];
            }
            let mut by_host: BTreeMap<&str, Vec<Doomed<'_>>> = BTreeMap::new();
            for volume in doomed {
                by_host.entry(volume.host).or_default().push(volume);
            }
            for (host, doomed) in by_host {
                let with_data = doomed.iter().filter(|volume| !volume.ephemeral);
                let work = Work::RemoveVolumes {
                    minion: host.to_owned(),
                    with_data: with_data.map(|volume| volume.name.clone()).collect(),
                    volumes: doomed
                        .iter()
                        .map(|volume| (volume.name.clone(), volume.path.to_owned()))
                        .collect(),
                };
                last = vec![self.add(key, self.applied_risk(key), &last, work)];
            }
        }
        self.unused_volumes(last);
    }

    /// Whether something of it ran; a volume that stood for itself never did.
    fn ran(&self, key: &Key) -> bool {
        let nodes = self.input.applied.get(key).into_iter().flatten();
        nodes.into_iter().any(|node| node.layer == Layer::Job)
    }

    /// What stays of a volume that stood for itself: host -> paths.
    fn kept_volumes(&self, key: &Key, doomed: &[Doomed<'_>]) -> BTreeMap<String, Vec<String>> {
        let mut kept: BTreeMap<String, Vec<String>> = BTreeMap::new();
        if self.ran(key) {
            return kept;
        }
        for node in self.input.applied.get(key).into_iter().flatten() {
            let goes = doomed.iter().any(|volume| volume.address == node.address);
            if let (Some(host), Some(path), false) = (node.text("host"), node.text("path"), goes) {
                kept.entry(host.to_owned()).or_default().push(path.to_owned());
            }
        }
        kept
    }

    /// Directories that an operation made before it failed, and that nothing has used.
    fn unused_volumes(&mut self, mut last: Vec<String>) {
        let Some(left) = self.input.left else { return };
        for ((key, minion), volumes) in &left.unused_volumes {
            let named = self.input.compilation.component(&key.0, &key.1);
            let kept = named.into_iter().flat_map(|component| &component.volumes);
            let kept: BTreeSet<String> = kept
                .map(|volume| format!("{}/{}/{}", key.0, key.1, volume.need))
                .collect();
            let volumes: BTreeMap<String, String> = volumes
                .iter()
                .filter(|(name, _)| !kept.contains(*name))
                .map(|(name, path)| (name.clone(), path.clone()))
                .collect();
            if volumes.is_empty() {
                continue;
            }
            let work = Work::RemoveUnusedVolumes {
                minion: minion.clone(),
                volumes,
            };
            last = vec![self.add(key, self.applied_risk(key), &last, work)];
        }
    }

    fn applied_stop(&self, key: &Key) -> Option<u64> {
        let nodes = self.input.applied.get(key).into_iter().flatten();
        let longest = nodes.filter_map(Node::stop).max();
        longest.map(|span| span.duration().as_secs())
    }

    pub(super) fn applied_risk(&self, key: &Key) -> Risk {
        let nodes = self.input.applied.get(key).map_or(&[][..], Vec::as_slice);
        self.expected(Risk::Low, nodes)
    }

    /// The risk that the minions will find, as far as it is known. They know best, and decide.
    fn expected(&self, own: Risk, nodes: &[Node]) -> Risk {
        let tiers = self.input.observed.and_then(|observed| observed.tiers.as_ref());
        let found = match tiers {
            Some(tiers) => tiers.risk(nodes),
            None => nodes.iter().map(|node| node.risk).max().unwrap_or_default(),
        };
        own.max(found)
    }
}

/// Whether something of a component's volumes cannot be had back: a snapshot that goes, or what was written since one.
fn loses_data(component: &Lowered, changes: &[Change]) -> bool {
    changes.iter().any(|change| {
        change.component == component.component
            && change.layer == Layer::Host
            && change.attributes.iter().any(|attribute| {
                let goes = attribute.after.is_none() && attribute.name.starts_with("snapshot.");
                let comes = attribute.after.is_some() && attribute.name == "restored";
                goes || comes || commits(attribute)
            })
    })
}

fn job_digest(compilation: &Compilation, key: &Key) -> String {
    let workspace = compilation.workspace(&key.0, &key.1);
    workspace.map_or_else(String::new, |workspace| workspace.job_digest.clone())
}

/// What is to go, in the reverse of the order in which it came: those that nobody depends on first.
fn dependents_first<'k>(input: &PlanInput<'_>, gone: Vec<&'k Key>) -> Vec<Vec<&'k Key>> {
    let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
    for key in &gone {
        for node in input.applied.get(*key).into_iter().flatten() {
            owners.insert(&node.address, &key.1);
        }
    }
    let before: Before<'_> = gone
        .iter()
        .map(|key| {
            let after = input
                .applied
                .get(*key)
                .into_iter()
                .flatten()
                .flat_map(|node| &node.after);
            let names = after.filter_map(|address| owners.get(address.as_str()).copied());
            (key.1.as_str(), names.filter(|name| *name != key.1).collect())
        })
        .collect();
    // What was applied came in an order, so there is no cycle in it; if there were one, any order would do.
    let waves = order::waves(&before).unwrap_or_default();
    let mut ordered: BTreeMap<usize, Vec<&Key>> = BTreeMap::new();
    for key in gone {
        let wave = waves.get(key.1.as_str()).copied().unwrap_or(0);
        ordered.entry(wave).or_default().push(key);
    }
    ordered.into_values().rev().collect()
}

fn applied_names(input: &PlanInput<'_>, key: &Key, layer: Layer) -> Vec<String> {
    let nodes = input.applied.get(key).map_or(&[][..], Vec::as_slice);
    let of_layer = nodes.iter().filter(|node| node.layer == layer);
    of_layer
        .filter_map(|node| node.address.split_once('/').map(|(_, name)| name.to_owned()))
        .collect()
}

fn expected(component: &Lowered) -> Vec<Expected> {
    component
        .groups
        .iter()
        .map(|group| Expected {
            group: group.name.clone(),
            service: (!group.ports.is_empty()).then(|| group.service.clone()),
            count: group.count.value,
            check: group.check.is_some(),
        })
        .collect()
}

pub(super) fn secret_items(input: &PlanInput<'_>, key: &Key) -> Vec<SecretWork> {
    let named = input
        .intent
        .as_ref()
        .is_none_or(|intent| intent.component == key.1);
    input
        .compilation
        .component(&key.0, &key.1)
        .map_or_else(Vec::new, |component| {
            component
                .secrets
                .iter()
                .map(|secret| SecretWork {
                    item: secret.item.clone(),
                    given: named && input.given.contains(&secret.item),
                    rotate: secret.copy_of.is_none()
                        && input
                            .intent
                            .as_ref()
                            .is_some_and(|intent| named && intent.rotates(&secret.item)),
                    generate: secret.generate,
                    copy_of: secret.copy_of.clone(),
                })
                .collect()
        })
}
