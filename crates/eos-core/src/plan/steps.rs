//! In which steps a plan is applied, and which waits for which. The kinds say what is to be done; this file orders it.

use super::{Act, Change, Key, PlanInput, Step, Work};
use crate::address::Address;
use crate::emit::terraform::PLATFORM;
use crate::kinds::{
    Going, KINDS, Kind, Made, Parting, Phase, PhaseStep, Proof, Unmade, Wanted, host, workspace,
};
use crate::lowered::Lowered;
use crate::node::Node;
use crate::order::{self, Before};
use crate::recipe::Risk;
use crate::scope::Scope;
use std::collections::{BTreeMap, BTreeSet};

/// The steps of a plan while they are put together.
struct Steps<'i, 'a> {
    input: &'i PlanInput<'a>,
    control: String,
    steps: Vec<Step>,
}

/// Hosts first, then the namespace, then each component phase by phase; what goes, goes after what comes, and what nothing brings back comes
/// last. Components that do not wait for one another have chains of their own.
pub(super) fn steps(input: &PlanInput<'_>, touched: &[Key], changes: &[Change], acts: &[Act]) -> Vec<Step> {
    let is_of_component = |key: &Key| Scope::of(key) != Scope::Estate;
    let control = match &input.compilation.control {
        Some(control) => control.clone(),
        // Nobody runs Terraform; hosts do without.
        None if !acts.is_empty() || touched.iter().any(is_of_component) => return Vec::new(),
        None => String::new(),
    };
    let mut all = Steps {
        input,
        control,
        steps: Vec::new(),
    };
    let deliver_for = (input.environment.to_owned(), PLATFORM.to_owned());
    let delivered = all.add(&deliver_for, Risk::Low, &[], Work::Deliver);
    let (hosts, touched): (Vec<&Key>, Vec<&Key>) =
        touched.iter().partition(|key| Scope::of(key) == Scope::Estate);
    let (wanted, gone): (Vec<&Key>, Vec<&Key>) = touched
        .into_iter()
        .partition(|key| !input.compilation.nodes(key).is_empty());
    let (platform, wanted): (Vec<&Key>, Vec<&Key>) = wanted.into_iter().partition(|key| key.1 == PLATFORM);
    let mut ground = all.hosts(hosts, delivered);
    for key in platform {
        if let Some(wanted) = input.compilation.workspaces.get(key) {
            let part = workspace::Made {
                minion: all.control.clone(),
                digest: wanted.digest.clone(),
                loses: false,
            };
            ground = vec![all.add(key, Risk::Low, &ground, Work::Make(Made::Workspace(part)))];
        }
    }
    let healthy = all.components(wanted, changes, &ground);
    // What is wanted is healthy before anything goes.
    let ready = if healthy.is_empty() { ground } else { healthy };
    all.acts(acts, changes, &ready);
    all.removals(gone, &ready);
    all.steps
}

impl Steps<'_, '_> {
    fn add(&mut self, key: &Key, risk: Risk, after: &[String], work: Work) -> String {
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

    /// A proof of each host that stays, once its slice is delivered. What may lie on a host waits for the proof.
    fn hosts(&mut self, hosts: Vec<&Key>, delivered: String) -> Vec<String> {
        let mut proved = Vec::new();
        for key in hosts {
            if let Some(host) = self.input.compilation.hosts.get(&key.1) {
                let work = Work::Prove(Proof::Host(host::Answers::of(host)));
                proved.push(self.add(key, Risk::Low, std::slice::from_ref(&delivered), work));
            }
        }
        match proved.is_empty() {
            true => vec![delivered],
            false => proved,
        }
    }

    /// Adds steps of which each waits for the one before. Gives what waits for the last.
    fn chain(&mut self, key: &Key, asked: Vec<PhaseStep>, mut after: Vec<String>) -> Vec<String> {
        for PhaseStep { risk, work } in asked {
            after = vec![self.add(key, risk, &after, work)];
        }
        after
    }

    /// A chain for each component, which begins when those before it are healthy. Gives the ends of all chains.
    fn components(&mut self, wanted: Vec<&Key>, changes: &[Change], ground: &[String]) -> Vec<String> {
        let compilation = self.input.compilation;
        let found = wanted
            .into_iter()
            .filter_map(|key| compilation.components.get(key));
        let mut components: Vec<&Lowered> = found.collect();
        components.sort_by_key(|component| (component.wave, &component.component));
        let mut ends: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut later = Vec::new();
        for component in components {
            let key = component.key();
            let asked = self.makes(component, &key, changes);
            let (after_healthy, before): (Vec<_>, Vec<_>) = asked
                .into_iter()
                .partition(|(kind, _)| kind.phase() == Phase::AfterHealthy);
            later.push((component, after_healthy));
            let mut own = changes.iter().filter(|change| change.key() == key).peekable();
            if own.peek().is_some() && own.all(Change::is_after_healthy) {
                continue;
            }
            let waited = component.before.iter().filter_map(|name| ends.get(name.as_str()));
            let mut after: Vec<String> = waited.flatten().cloned().collect();
            if after.is_empty() {
                after = ground.to_vec();
            }
            for (_, asked) in before {
                after = self.chain(&key, asked, after);
            }
            ends.insert(&component.component, after);
        }
        let mut last = Vec::new();
        for (component, asked) in later {
            for (kind, asked) in asked {
                let waited = [Some(component.component.as_str()), kind.waits_for(component)];
                let waited = waited.into_iter().flatten().filter_map(|name| ends.get(name));
                let waited: BTreeSet<&String> = waited.flatten().collect();
                let after = match waited.is_empty() {
                    true => ground.to_vec(),
                    false => waited.into_iter().cloned().collect(),
                };
                last.extend(self.chain(&component.key(), asked, after));
            }
        }
        ends.into_values().flatten().chain(last).collect()
    }

    /// What is done with components once all that is wanted is healthy.
    fn acts(&mut self, acts: &[Act], changes: &[Change], ready: &[String]) {
        for act in acts {
            let key = act.key();
            if let Some(component) = self.input.compilation.components.get(&key) {
                let asked = act
                    .deed
                    .home()
                    .does(act.deed, &self.wanted(component, &key, changes));
                self.chain(&key, asked, ready.to_vec());
            }
        }
    }

    fn wanted<'w>(&'w self, component: &'w Lowered, key: &'w Key, changes: &'w [Change]) -> Wanted<'w, 'w> {
        Wanted {
            input: self.input,
            component,
            key,
            changes,
            control: &self.control,
            risk: self.expected(component.risk, &self.input.compilation.nodes(key)),
            applied_risk: self.applied_risk(key),
        }
    }

    /// What each kind asks for of a component, phase by phase.
    fn makes(
        &self,
        component: &Lowered,
        key: &Key,
        changes: &[Change],
    ) -> Vec<(&'static dyn Kind, Vec<PhaseStep>)> {
        let wanted = self.wanted(component, key, changes);
        let asked = KINDS.into_iter().map(|kind| (kind, kind.makes(&wanted)));
        let mut asked: Vec<_> = asked.filter(|(_, asked)| !asked.is_empty()).collect();
        asked.sort_by_key(|(kind, _)| kind.phase());
        asked
    }

    /// What depends on others goes before them; all runs out before secrets, namespace and data go.
    fn removals(&mut self, gone: Vec<&Key>, ready: &[String]) {
        // The namespace goes after all that lies in it, its secrets included.
        let (platform, gone): (Vec<&Key>, Vec<&Key>) = gone.into_iter().partition(|key| key.1 == PLATFORM);
        let mut asked: BTreeMap<&Key, Vec<(Parting, PhaseStep)>> = BTreeMap::new();
        for key in &gone {
            let going = Going {
                input: self.input,
                key,
                control: &self.control,
                risk: self.applied_risk(key),
            };
            let steps = KINDS.iter().flat_map(|kind| kind.removes(&going));
            asked.insert(key, steps.collect());
        }
        let mut after = ready.to_vec();
        for wave in dependents_first(self.input, gone.clone()) {
            let mut ends = Vec::new();
            for key in wave {
                let parting = [Parting::BeforeJob, Parting::Job, Parting::AfterJob];
                let steps = taken(&mut asked, key, &parting);
                if !steps.is_empty() {
                    ends.extend(self.chain(key, steps, after.clone()));
                }
            }
            if !ends.is_empty() {
                after = ends;
            }
        }
        for key in &gone {
            after = self.chain(key, taken(&mut asked, key, &[Parting::NothingRuns]), after);
        }
        for key in platform {
            let part = workspace::Unmade {
                minion: self.control.clone(),
                loses: false,
            };
            let work = Work::Unmake(Unmade::Workspace(part));
            after = vec![self.add(key, Risk::Low, &after, work)];
        }
        for key in &gone {
            after = self.chain(key, taken(&mut asked, key, &[Parting::Last]), after);
        }
        for (key, work) in KINDS.iter().flat_map(|kind| kind.leftovers(self.input)) {
            after = vec![self.add(&key, self.applied_risk(&key), &after, work)];
        }
    }

    fn applied_risk(&self, key: &Key) -> Risk {
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

/// Takes the steps of a component that come at these times, in the order of the times.
fn taken(
    asked: &mut BTreeMap<&Key, Vec<(Parting, PhaseStep)>>,
    key: &Key,
    times: &[Parting],
) -> Vec<PhaseStep> {
    let Some(steps) = asked.get_mut(key) else {
        return Vec::new();
    };
    let (mut now, later): (Vec<_>, Vec<_>) = std::mem::take(steps)
        .into_iter()
        .partition(|(parting, _)| times.contains(parting));
    *steps = later;
    now.sort_by_key(|(parting, _)| *parting);
    now.into_iter().map(|(_, asked)| asked).collect()
}

/// What is to go, in the reverse of the order in which it came: those that nobody depends on first.
fn dependents_first<'k>(input: &PlanInput<'_>, gone: Vec<&'k Key>) -> Vec<Vec<&'k Key>> {
    let mut owners: BTreeMap<&Address, &str> = BTreeMap::new();
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
            let names = after.filter_map(|address| owners.get(address).copied());
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
