//! One component: how many instances are wanted, run and are healthy, where, since when, and what was last done.

use std::collections::BTreeSet;

use eos_core::pillar::{Pillar, Words};
use jiff::Timestamp;
use serde::Serialize;

use super::checks::{CheckStatus, Checks};
use super::nomad::NomadNow;
use super::runs::Runs;
use super::{Trouble, moment};
use crate::nomad::{Allocation, JobStatus};
use crate::operation::Standing;
use crate::store::{Applied, Operation};

/// Nomad remembers instances that ended; so many of them are of interest.
const ENDED: usize = 3;

#[derive(Debug, Serialize)]
pub struct ComponentStatus {
    pub component: String,
    /// Under which the proxy serves it; looked up for one component alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// It has no job: it is as its last operation left it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub runs_nothing: bool,
    /// Somebody stopped it: nothing of it is to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// Unknown where Nomad does not answer, as are the next two; nothing where it has no job.
    /// As the pillar was last applied; for what was not, as Nomad is told.
    pub desired: Option<u64>,
    pub running: Option<u64>,
    pub healthy: Option<u64>,
    pub version: Option<String>,
    /// When the oldest instance that runs was made.
    pub since: Option<Timestamp>,
    /// Where it runs.
    pub nodes: BTreeSet<String>,
    /// Those that are to run, then some of those that did not end well, newest first.
    pub instances: Vec<Instance>,
    /// Of a job that runs to its end: how the last run did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<Runs>,
    pub operation: Option<LastOperation>,
    pub trouble: Option<Trouble>,
    #[serde(skip)]
    runs_once: bool,
    #[serde(skip)]
    is_applied: bool,
    #[serde(skip)]
    is_finished: bool,
    /// How many instances its pillar, as it was applied, wants of it.
    #[serde(skip)]
    wanted: Option<u64>,
}

/// Who stopped a component, and when; nothing where a person wrote it into the pillar by hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stopped {
    #[serde(flatten)]
    pub by: Option<Words>,
}

impl ComponentStatus {
    /// Something is wanted, all of it runs and is healthy, and nothing newer waits for room. Without a job it is enough
    /// that it was applied; of what is stopped, that nothing runs.
    pub fn is_well(&self) -> bool {
        if self.runs_nothing {
            return self.trouble.is_none();
        }
        if self.stopped.is_some() {
            return self.desired == Some(0) && self.running == Some(0) && self.trouble.is_none();
        }
        if self.runs.is_some() {
            return self.trouble.is_none();
        }
        let wanted = self.desired.filter(|desired| *desired > 0);
        wanted.is_some() && self.running == wanted && self.healthy == wanted && self.trouble.is_none()
    }

    pub(super) fn see(&mut self, asked: &NomadNow, checks: Option<&Checks>, more: &str) {
        let name = self.component.clone();
        if self.runs_nothing {
            let unfinished = (!self.is_finished).then_some("the operation that makes it did not finish");
            self.trouble = unfinished.map(|words| Trouble::new(name, words, format!("eos history{more}")));
            return;
        }
        self.runs = Runs::of(asked, &name, self.runs_once);
        let Some(job) = asked.job(&name) else {
            (self.desired, self.running, self.healthy) = (Some(0), Some(0), Some(0));
            let is_forgotten = self.runs.is_some() && self.is_finished;
            if self.is_applied && !is_forgotten {
                let words = "Nomad has no such job, although Eos applied it";
                self.trouble = Some(Trouble::new(name, words, format!("eos plan{more}")));
            }
            return;
        };
        let mut allocations = asked.allocations_of(&name);
        if let Some(runs) = &self.runs {
            let last = runs.last.as_ref().filter(|last| last.job != name);
            allocations.extend(last.into_iter().flat_map(|last| asked.allocations_of(&last.job)));
        }
        let count = if job.stop { 0 } else { job.desired };
        let desired = match (job.r#type.as_str(), self.wanted.unwrap_or(count)) {
            // Nomad makes one for each host that can run it.
            ("system", wanted) if wanted > 0 => {
                let kept = allocations.iter().filter(|one| one.desired_status == "run");
                kept.count() as u64
            }
            (_, wanted) => wanted,
        };
        let running: Vec<&Allocation> = allocations
            .iter()
            .copied()
            .filter(|one| one.is_running())
            .collect();
        self.desired = Some(desired);
        self.running = Some(running.len() as u64);
        self.version = asked
            .listed(&name)
            .and_then(|job| job.meta.get("eos_version").cloned());
        self.since = running.iter().map(|one| one.create_time).min().and_then(moment);
        self.nodes = running.iter().map(|one| one.node_name.clone()).collect();
        self.instances = instances(&allocations, job, checks);
        self.healthy = checks.map(|_| {
            let is_well = |one: &&Instance| one.status == "running" && one.healthy == Some(true);
            self.instances.iter().filter(is_well).count() as u64
        });
        let is_short = self.healthy.is_some_and(|healthy| healthy < desired) || self.running < self.desired;
        if self.stopped.is_some() && desired.max(running.len() as u64) > 0 {
            let words = format!("the pillar has it stopped, and {} of it run", running.len());
            self.trouble = Some(Trouble::new(&name, words, format!("eos drift{more}")));
            return;
        }
        if let Some(runs) = self.runs.as_ref().filter(|_| !job.stop) {
            self.trouble = runs.trouble(asked, &name, more);
            return;
        }
        if let Some(words) = self.changed_outside(job, count) {
            self.trouble = Some(Trouble::new(&name, words, format!("eos drift{more}")));
            return;
        }
        // The old version runs on while a newer one finds no room.
        let words = (is_short || asked.unplaced.contains_key(&name)).then(|| self.why(asked, job));
        self.trouble = words.map(|words| Trouble::new(&name, words, format!("eos logs {name}{more}")));
    }

    /// What Nomad was told of its instances beside Eos. An operation that is not finished may be at it.
    fn changed_outside(&self, job: &JobStatus, count: u64) -> Option<String> {
        match self.wanted.filter(|_| self.is_finished) {
            _ if job.stop && self.is_applied => Some("its job was stopped outside Eos".to_owned()),
            Some(wanted) if wanted != count => {
                Some(format!("Nomad has a count of {count}, the pillar has {wanted}"))
            }
            Some(_) | None => None,
        }
    }

    /// What says most about why it is not what it should be.
    fn why(&self, asked: &NomadNow, job: &JobStatus) -> String {
        let failing = self.instances.iter().find_map(|one| {
            let check = one
                .checks
                .iter()
                .find(|check| check.status == CheckStatus::FAILING)?;
            Some(format!(
                "allocation {}: {}",
                short(&one.allocation),
                check.failing_words()
            ))
        });
        let unplaced = || asked.unplaced.get(&self.component).cloned();
        let trouble = || self.instances.iter().find_map(|one| one.trouble.clone());
        let deploying = || job.is_deploying().then(|| "it is being deployed".to_owned());
        failing
            .or_else(unplaced)
            .or_else(trouble)
            .or_else(deploying)
            .unwrap_or_else(|| format!("{} of {} run", self.running.unwrap_or(0), job.desired))
    }
}

/// One allocation of Nomad.
#[derive(Debug, Clone, Serialize)]
pub struct Instance {
    pub allocation: String,
    /// Of the component, as its recipe names it.
    pub service: String,
    pub node: String,
    /// `pending`, `running`, `complete`, `failed`, `lost`, `unknown`.
    pub status: String,
    /// Unknown as long as nobody has said so.
    pub healthy: Option<bool>,
    pub since: Option<Timestamp>,
    pub restarts: u64,
    /// Of the job.
    pub job_version: u64,
    pub checks: Vec<CheckStatus>,
    /// The last thing that went wrong in it.
    pub trouble: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LastOperation {
    pub id: String,
    pub verb: String,
    pub outcome: String,
    /// The outcome, with what came of it since.
    pub standing: Standing,
    pub who: String,
    pub words: String,
    pub started: Timestamp,
    pub ended: Option<Timestamp>,
}

impl LastOperation {
    fn new(operation: &Operation, standing: Standing) -> Self {
        LastOperation {
            id: operation.id.clone(),
            verb: operation.words.split(' ').nth(1).unwrap_or_default().to_owned(),
            outcome: operation.outcome.words().to_owned(),
            standing,
            who: operation.who.clone(),
            words: operation.words.clone(),
            started: operation.started,
            ended: operation.ended,
        }
    }
}

/// The components as far as the store knows them; no engine is asked.
pub(super) fn of_store(
    operations: &[(Operation, Standing)],
    environment: &str,
    names: BTreeSet<String>,
    applied: &[Applied],
    pillar: &Pillar,
) -> Vec<ComponentStatus> {
    let last = |name: &String| {
        let of_it = |(one, standing): &&(Operation, Standing)| {
            let is_of_it = one.environment == environment && one.components.contains(name);
            is_of_it && *standing != Standing::NotBegun
        };
        let found = operations.iter().find(of_it);
        found.map(|(operation, standing)| LastOperation::new(operation, *standing))
    };
    let known = |name: &String| applied.iter().find(|one| one.component == *name);
    let stopped = |name: &str| {
        let stopped = pillar.component(environment, name)?.stopped.as_ref()?;
        Some(Stopped {
            by: stopped.by.clone(),
        })
    };
    let component = |component: String| ComponentStatus {
        url: None,
        stopped: stopped(&component),
        runs_nothing: known(&component).is_some_and(Applied::runs_nothing),
        desired: None,
        running: None,
        healthy: None,
        version: None,
        since: None,
        nodes: known(&component)
            .filter(|one| one.runs_nothing())
            .map_or_else(BTreeSet::new, Applied::hosts),
        instances: Vec::new(),
        runs: None,
        operation: last(&component),
        trouble: None,
        runs_once: known(&component).is_some_and(Applied::runs_once),
        is_applied: known(&component).is_some(),
        is_finished: known(&component).is_some_and(|one| !one.digest.is_empty()),
        wanted: known(&component).and_then(Applied::instances),
        component,
    };
    names.into_iter().map(component).collect()
}

fn instances(allocations: &[&Allocation], job: &JobStatus, checks: Option<&Checks>) -> Vec<Instance> {
    let instance = |one: &&Allocation| {
        let checks = checks.map(|checks| checks.of(&one.id)).unwrap_or_default();
        Instance {
            allocation: one.id.clone(),
            service: one.task_group.clone(),
            node: one.node_name.clone(),
            status: one.client_status.clone(),
            healthy: is_healthy(one, job, &checks),
            since: moment(one.create_time),
            restarts: one.task_states.values().map(|task| task.restarts).sum(),
            job_version: one.job_version,
            checks,
            trouble: one.trouble(),
        }
    };
    let is_wanted = |one: &&&Allocation| one.desired_status == "run" && one.client_status != "failed";
    let wanted = allocations.iter().filter(is_wanted).map(instance);
    let ended = allocations
        .iter()
        .filter(|one| !is_wanted(one) && matches!(one.client_status.as_str(), "failed" | "lost" | "unknown"));
    wanted.chain(ended.take(ENDED).map(instance)).collect()
}

/// What the checks say now counts for more than what the deployment said when it ended. An instance that has neither,
/// such as one that took the place of another, is as well as its running; during a deployment that is too early to say.
fn is_healthy(allocation: &Allocation, job: &JobStatus, checks: &[CheckStatus]) -> Option<bool> {
    if !allocation.is_running() {
        return Some(false);
    }
    let all = |status| !checks.is_empty() && checks.iter().all(|check| check.status == status);
    if checks.iter().any(|check| check.status == CheckStatus::FAILING) {
        return Some(false);
    }
    if all(CheckStatus::PASSING) {
        return Some(true);
    }
    allocation
        .healthy()
        .or((checks.is_empty() && !job.is_deploying()).then_some(true))
}

fn short(allocation: &str) -> &str {
    allocation.get(..8).unwrap_or(allocation)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use eos_core::pillar::environment_file;
    use serde_json::json;

    use super::*;

    fn asked(deploying: bool, healthy: Option<bool>, status: &str) -> NomadNow {
        let job = json!({"ID": "web", "Type": "service", "Status": "running", "Version": 2, "GroupCountSum": 1,
            "LatestDeployment": {"IsActive": deploying}});
        let allocation = json!({"ID": "8c1f33f2-4a6c", "Name": "web.web[0]", "NodeID": "n", "NodeName": "node1",
            "JobID": "web", "JobVersion": 2, "TaskGroup": "web", "DesiredStatus": "run", "ClientStatus": status,
            "DeploymentStatus": {"Healthy": healthy}, "CreateTime": 1_794_824_479_148_844_311_i64,
            "TaskStates": {"web": {"State": "running", "Restarts": 2, "Events": []}}});
        let listed =
            json!({"ID": "web", "Type": "service", "Status": "running", "Meta": {"eos_version": "7"}});
        NomadNow {
            nodes: Vec::new(),
            health: None,
            jobs: vec![serde_json::from_value(job).unwrap()],
            listed: vec![serde_json::from_value(listed).unwrap()],
            allocations: vec![serde_json::from_value(allocation).unwrap()],
            unplaced: BTreeMap::new(),
        }
    }

    fn seen(asked: &NomadNow, checks: Option<&Checks>, applied: bool) -> ComponentStatus {
        seen_of("{}", asked, checks, applied)
    }

    /// `web` is the component as the pillar has it.
    fn seen_of(web: &str, asked: &NomadNow, checks: Option<&Checks>, applied: bool) -> ComponentStatus {
        let file = format!("#!yaml\ncomponents: {{web: {web}}}\n").into_bytes();
        let pillar = Pillar::read(&[(environment_file("production"), file)].into()).unwrap();
        let applied: Vec<Applied> = applied
            .then(|| Applied {
                environment: "production".into(),
                component: "web".into(),
                digest: String::new(),
                nodes: json!([]),
                operation: String::new(),
            })
            .into_iter()
            .collect();
        let mut all = of_store(&[], "production", ["web".to_owned()].into(), &applied, &pillar);
        all[0].see(asked, checks, "");
        all.remove(0)
    }

    fn checks(status: &'static str) -> Checks {
        let check = CheckStatus {
            service: "web".into(),
            name: "alive".into(),
            status,
            words: "502".into(),
        };
        Checks::from([("8c1f33f2-4a6c".to_owned(), vec![check])])
    }

    #[test]
    fn what_a_check_says_now_counts_for_more_than_a_deployment_that_is_over() {
        let none = Checks::default();
        let cases = [
            (false, Some(true), checks(CheckStatus::PASSING), 1),
            (false, Some(true), checks(CheckStatus::FAILING), 0),
            (false, Some(false), checks(CheckStatus::PASSING), 1),
            (false, None, checks(CheckStatus::PENDING), 0),
            // One that took the place of another: no deployment ever looked at it.
            (false, None, none.clone(), 1),
            (true, None, none.clone(), 0),
            (false, Some(false), none, 0),
        ];
        for (deploying, healthy, checks, expected) in cases {
            let seen = seen(&asked(deploying, healthy, "running"), Some(&checks), true);
            assert_eq!(seen.healthy, Some(expected), "{deploying} {healthy:?} {checks:?}");
            assert_eq!(seen.is_well(), expected == 1);
        }
    }

    #[test]
    fn a_row_tells_where_and_since_when_and_why_not() {
        let well = seen(
            &asked(false, Some(true), "running"),
            Some(&checks(CheckStatus::PASSING)),
            true,
        );
        assert_eq!(
            (well.version.as_deref(), well.instances[0].restarts),
            (Some("7"), 2)
        );
        assert_eq!(well.nodes, BTreeSet::from(["node1".to_owned()]));
        assert!(well.since.is_some() && well.trouble.is_none());
        let ill = seen(
            &asked(false, Some(true), "running"),
            Some(&checks(CheckStatus::FAILING)),
            true,
        );
        let trouble = ill.trouble.unwrap();
        assert_eq!(
            (trouble.words.as_str(), trouble.look.as_str()),
            (
                "allocation 8c1f33f2: check alive of service web does not pass (502)",
                "eos logs web"
            )
        );
        let mut unplaced = asked(false, None, "failed");
        unplaced.unplaced.insert("web".into(), "too little memory".into());
        assert_eq!(
            seen(&unplaced, Some(&Checks::default()), true)
                .trouble
                .unwrap()
                .words,
            "too little memory"
        );
    }

    #[test]
    fn what_nomad_is_told_outside_eos_is_a_trouble_and_not_desired() {
        let job = json!({"address": "job/web", "attributes": {
            "group.count": {"value": 1}, "other.count": {"value": 2}, "group.cpu": {"value": 50}}});
        let seen = |told: u64, stop: bool, digest: &str| {
            let mut asked = asked(false, Some(true), "running");
            asked.jobs[0].desired = told;
            asked.jobs[0].stop = stop;
            let applied = Applied {
                environment: "production".into(),
                component: "web".into(),
                digest: digest.to_owned(),
                nodes: json!([job]),
                operation: String::new(),
            };
            let file = b"#!yaml\ncomponents: {web: {}}\n".to_vec();
            let pillar = Pillar::read(&[(environment_file("production"), file)].into()).unwrap();
            let mut all = of_store(&[], "production", ["web".to_owned()].into(), &[applied], &pillar);
            all[0].see(&asked, Some(&Checks::default()), "");
            let trouble = all[0].trouble.clone().unwrap();
            (all[0].desired, trouble.words, trouble.look)
        };
        let words = "Nomad has a count of 5, the pillar has 3".to_owned();
        assert_eq!(seen(5, false, "d"), (Some(3), words, "eos drift".to_owned()));
        let words = "its job was stopped outside Eos".to_owned();
        assert_eq!(seen(3, true, "d"), (Some(3), words, "eos drift".to_owned()));
        // An operation that is not finished may be the one that told Nomad.
        assert_eq!(seen(5, false, "").2, "eos logs web");
    }

    #[test]
    fn what_is_stopped_is_well_as_long_as_nothing_of_it_runs() {
        let by = "{stopped: {words: eos stop web, who: ada, when: '2026-11-18T11:00:00Z'}}";
        let none = Checks::default();
        let mut resting = asked(false, None, "complete");
        resting.jobs[0].desired = 0;
        let seen = |web: &str, asked: &NomadNow| seen_of(web, asked, Some(&none), true);
        let rests = seen(by, &resting);
        assert!(rests.is_well());
        assert_eq!(
            serde_json::to_value(&rests).unwrap()["stopped"]["who"],
            json!("ada")
        );
        let by_hand = seen("{stopped: true}", &resting);
        assert!(by_hand.is_well());
        assert_eq!(serde_json::to_value(&by_hand).unwrap()["stopped"], json!({}));
        // Nobody stopped it: that nothing is wanted is a fault.
        assert!(!seen("{}", &resting).is_well());
        let runs = seen(by, &asked(false, Some(true), "running"));
        assert_eq!(
            runs.trouble.as_ref().unwrap().words,
            "the pillar has it stopped, and 1 of it run"
        );
        assert!(!runs.is_well());
    }

    #[test]
    fn a_job_that_went_behind_our_back_is_a_trouble_and_one_that_never_was_is_none() {
        let mut nothing = asked(false, None, "running");
        nothing.jobs.clear();
        let gone = seen(&nothing, Some(&Checks::default()), true);
        assert_eq!(
            (gone.desired, gone.trouble.unwrap().look.as_str()),
            (Some(0), "eos plan")
        );
        assert!(seen(&nothing, Some(&Checks::default()), false).trouble.is_none());
        // Nobody says what the checks are: health is not known, and not claimed.
        let unknown = seen(&asked(false, Some(true), "running"), None, true);
        assert_eq!((unknown.running, unknown.healthy), (Some(1), None));
        assert!(!unknown.is_well());
    }
}
