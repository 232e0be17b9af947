//! Why one instance is not healthy: how its tasks ended, what they wrote, and what its checks say.

use eos_core::timing::Span;

use super::{Diagnosis, Inquiry, answered, first_sentence, short};
use crate::discovery::Discovery;
use crate::error::Layer;
use crate::nomad::{Allocation, JobVersion, LogStream, TaskEvent, TaskGroup, TaskRun};

/// So much is read from the end of a log.
pub(super) const TAIL: u64 = 16 * 1024;
const EVENTS: usize = 6;

impl Inquiry<'_> {
    pub(super) async fn instance(&self, job: &JobVersion, one: &Allocation, found: &mut Diagnosis) {
        let place = format!("allocation {} on {}", short(&one.id), one.node_name);
        let group = job.task_groups.iter().find(|group| group.name == one.task_group);
        found.layer = Layer::Nomad;
        found.object = format!("job {}, {place}", job.id);
        let cause = cause(one, group);
        if let Some((task, cause)) = &cause {
            found.words = format!("task {task} {}", cause.words());
            found.hint = cause.hint(&job.id);
        }
        let blamed = cause.as_ref().map(|(task, _)| task.as_str());
        // Where no task ended by itself, a check does not pass.
        if cause.is_none()
            && let Some(group) = group
        {
            self.checks(group, one, found).await;
            if let Some(late) = Late::of(one, group) {
                late.tell(found);
            }
        }
        self.say(found, format!("Nomad, {place}"), one.last_events(EVENTS));
        self.tasks_wrote(one, blamed, found).await;
    }

    /// The last lines of one task, or of all.
    pub(super) async fn tasks_wrote(&self, one: &Allocation, task: Option<&str>, found: &mut Diagnosis) {
        if self.hidden.is_none() {
            return;
        }
        let tasks = one
            .task_states
            .keys()
            .filter(|name| task.is_none_or(|task| task == *name));
        for task in tasks.filter(|name| !name.starts_with("connect-proxy-")) {
            let log = |stream| {
                let namespace = &self.failed.step.environment;
                answered(self.engines.nomad.logs(namespace, &one.id, task, stream, TAIL))
            };
            let (stderr, stdout) = tokio::join!(log(LogStream::Stderr), log(LogStream::Stdout));
            for (stream, text) in [(LogStream::Stderr, stderr), (LogStream::Stdout, stdout)] {
                let noted = || self.failed.witness.wrote(&one.id, task, stream);
                let text = text.filter(|text| !text.is_empty()).or_else(noted);
                let lines = whole_lines(&text.unwrap_or_default(), TAIL as usize);
                self.say(found, format!("task {task}, {}", stream.name()), lines);
            }
        }
    }

    /// What the checks of an instance say that do not pass.
    async fn checks(&self, group: &TaskGroup, one: &Allocation, found: &mut Diagnosis) {
        let discovery = self.engines.discovery();
        found.hint = "Read its output, and see which answer its check expects".to_owned();
        for service in &group.services {
            let checked = service
                .checks
                .first()
                .map(|check| check.words())
                .unwrap_or_default();
            found.words = format!("{checked} does not pass").trim_start().to_owned();
            let instances = discovery.instances(&service.name, &self.failed.step.environment);
            let registered = answered(instances).await.unwrap_or_default();
            let own = registered
                .into_iter()
                .find(|instance| instance.allocation == one.id);
            let checks = own.map_or_else(|| self.failed.witness.failing(&one.id), |own| own.checks);
            for check in checks.iter().filter(|check| check.status == "failure") {
                let output = check.words();
                if let Some(hidden) = self.hidden.as_ref().filter(|_| !output.is_empty()) {
                    // Consul has the page behind its own words.
                    let output = output.split(" Output: ").next().unwrap_or_default();
                    let output = first_sentence(&hidden.mask(output));
                    found.words = format!("{checked} does not pass: {output}");
                }
                found.layer = discovery.layer();
                found.object = format!(
                    "service {}, allocation {} on {}",
                    service.name,
                    short(&one.id),
                    one.node_name
                );
                let from = format!("{}, check of service {}", discovery.layer().name(), check.service);
                self.say(found, from, output.lines().map(str::to_owned).collect());
            }
        }
    }
}

/// An instance that did not become healthy in the time its recipe gives a start.
struct Late<'a> {
    group: &'a str,
    limit: Span,
    pulls: Vec<String>,
}

impl<'a> Late<'a> {
    fn of(one: &Allocation, group: &'a TaskGroup) -> Option<Self> {
        let mut events = one.task_states.values().flat_map(|run| &run.events);
        let is_late = |event: &TaskEvent| {
            event.r#type == "Alloc Unhealthy" && event.display_message.contains("deadline")
        };
        events.find(|event| is_late(event))?;
        Some(Self {
            group: &group.name,
            limit: Span::milliseconds(group.update.as_ref()?.healthy_deadline / 1_000_000),
            pulls: one.pulls(),
        })
    }

    fn tell(&self, found: &mut Diagnosis) {
        let Self { group, limit, pulls } = self;
        let why = match pulls.first() {
            Some(pull) => pull,
            None => &found.words,
        };
        found.words = format!("not healthy within {limit}: {why}");
        found.hint = format!(
            "Does it need longer? Raise start: {{within: {limit}}} of service {group} in its recipe. Else see what it wrote, and what its check asks for"
        );
    }
}

/// A tail that is full begins somewhere within a line, perhaps within a secret of it.
fn whole_lines(text: &str, limit: usize) -> Vec<String> {
    let cut = usize::from(text.len() >= limit);
    text.lines().skip(cut).map(str::to_owned).collect()
}

/// How a task came to its end, or did not begin.
#[derive(Debug, PartialEq, Eq)]
enum Cause {
    /// The driver, a template or an artifact, in Nomad's words.
    NotStarted {
        kind: String,
        words: String,
    },
    Ended {
        code: i64,
        signal: i64,
        starts: u64,
    },
    OutOfMemory {
        limit: Option<u64>,
    },
}

impl Cause {
    fn words(&self) -> String {
        match self {
            Cause::NotStarted { kind, words } => match kind.as_str() {
                "Driver Failure" => format!("does not start: {}", first_sentence(words)),
                kind => format!("does not start: {kind}: {}", first_sentence(words)),
            },
            Cause::Ended { code, signal, starts } => {
                let how = match signal {
                    0 => format!("with exit code {code}"),
                    signal => format!("by signal {signal}"),
                };
                match starts {
                    0 | 1 => format!("ended {how}"),
                    starts => format!("ended {how}, and Nomad started it {starts} times"),
                }
            }
            Cause::OutOfMemory { limit } => match limit {
                Some(limit) => format!("used more than its {limit} MiB of memory"),
                None => "used more memory than it has".to_owned(),
            },
        }
    }

    fn hint(&self, job: &str) -> String {
        match self {
            Cause::NotStarted { words, .. } if is_about_an_image(words) => {
                "Is there such an image, and can the host reach its registry?".to_owned()
            }
            Cause::NotStarted { kind, .. } if kind == "Template" => {
                format!("Are its secrets there? eos status {job} shows them")
            }
            Cause::NotStarted { .. } => "Correct its program, image or options, or the host".to_owned(),
            Cause::Ended { .. } => "Read its output; correct its options".to_owned(),
            Cause::OutOfMemory { .. } => "Raise --memory".to_owned(),
        }
    }
}

fn is_about_an_image(words: &str) -> bool {
    let words = words.to_lowercase();
    ["pull", "image", "manifest", "registry"]
        .iter()
        .any(|word| words.contains(word))
}

/// The task that went wrong first, and how.
fn cause(one: &Allocation, group: Option<&TaskGroup>) -> Option<(String, Cause)> {
    // A task that runs to its end may have ended well.
    let is_any_failed = one.task_states.values().any(|run| run.failed);
    let tasks = one
        .task_states
        .iter()
        .filter(|(_, run)| run.failed || !is_any_failed);
    let causes = tasks.filter_map(|(name, run)| {
        let limit = group.and_then(|group| group.tasks.iter().find(|task| task.name == *name));
        let limit = limit.map(|task| task.resources.memory);
        cause_of_task(run, limit).map(|(time, cause)| (time, name.clone(), cause))
    });
    let first = causes.min_by_key(|(time, ..)| *time);
    first.map(|(_, name, cause)| (name, cause))
}

fn cause_of_task(run: &TaskRun, limit: Option<u64>) -> Option<(i64, Cause)> {
    const NOT_STARTED: [&str; 7] = [
        "Driver Failure",
        "Failed Validation",
        "Setup Failure",
        "Failed Artifact Download",
        "Task hook failed",
        "Template",
        "Sibling Task Failed",
    ];
    // What ends after it was told to has no fault of its own.
    let mut told = false;
    let mut last = None;
    for event in &run.events {
        let kind = event.r#type.as_str();
        match kind {
            "Started" => told = false,
            "Killing" | "Restart Signaled" => told = true,
            "Terminated" if !told => {
                let detail = |key: &str| event.details.get(key).map_or("", String::as_str);
                let number = |key: &str| detail(key).parse().unwrap_or(0);
                let cause = match detail("oom_killed") {
                    "true" => Cause::OutOfMemory { limit },
                    _ => Cause::Ended {
                        code: number("exit_code"),
                        signal: number("signal"),
                        starts: run.restarts + 1,
                    },
                };
                last = Some((event.time, cause));
            }
            _ if NOT_STARTED.contains(&kind) && !told && !event.display_message.is_empty() => {
                let words = event.display_message.clone();
                let kind = kind.to_owned();
                last = Some((event.time, Cause::NotStarted { kind, words }));
            }
            _ => {}
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn of(events: Value, restarts: u64) -> Option<String> {
        let run = json!({"State": "dead", "Failed": true, "Restarts": restarts, "Events": events});
        let run: TaskRun = serde_json::from_value(run).unwrap();
        cause_of_task(&run, Some(64)).map(|(_, cause)| cause.words())
    }

    fn event(kind: &str, details: Value, words: &str) -> Value {
        json!({"Type": kind, "Time": 1, "DisplayMessage": words, "Details": details})
    }

    #[test]
    fn a_task_that_ends_by_itself_is_the_cause() {
        let started = event("Started", json!({}), "Task started by client");
        let ended = |code: &str, oom: &str| {
            let details = json!({"exit_code": code, "signal": "0", "oom_killed": oom});
            event("Terminated", details, "Exit Code: 3")
        };
        let words = of(json!([started, ended("3", "false")]), 3);
        assert_eq!(
            words.as_deref(),
            Some("ended with exit code 3, and Nomad started it 4 times")
        );
        let words = of(json!([started, ended("137", "true")]), 0);
        assert_eq!(words.as_deref(), Some("used more than its 64 MiB of memory"));
        let told = event(
            "Restart Signaled",
            json!({}),
            "healthcheck: check \"x\" unhealthy",
        );
        assert_eq!(of(json!([started, told, ended("143", "false")]), 1), None);
        let told = event("Killing", json!({}), "Sent interrupt");
        assert_eq!(of(json!([started, told, ended("130", "false")]), 0), None);
    }

    #[test]
    fn what_a_driver_says_is_the_cause() {
        let words = "failed to launch command with executor: no such file. And so on";
        let found = of(json!([event("Driver Failure", json!({}), words)]), 0);
        assert_eq!(
            found.as_deref(),
            Some("does not start: failed to launch command with executor: no such file")
        );
    }

    #[test]
    fn a_start_that_is_too_slow_names_its_limit_and_the_key_of_the_recipe() {
        let group = json!({"Name": "slow", "Count": 1, "Update": {"HealthyDeadline": 5_000_000_000_u64}});
        let group: TaskGroup = serde_json::from_value(group).unwrap();
        let said = |events: Value| {
            let run = json!({"State": "running", "Failed": false, "Restarts": 0, "Events": events});
            let one = json!({"ID": "a1", "Name": "slow.slow[0]", "NodeID": "n1", "JobID": "slow", "JobVersion": 0,
                "TaskGroup": "slow", "DesiredStatus": "run", "ClientStatus": "running", "TaskStates": {"slow": run}});
            let one: Allocation = serde_json::from_value(one).unwrap();
            let mut found = Diagnosis {
                layer: Layer::Nomad,
                object: "job slow".to_owned(),
                words: "check GET / does not pass".to_owned(),
                lines: Vec::new(),
                hint: String::new(),
            };
            Late::of(&one, &group)?.tell(&mut found);
            Some((found.words, found.hint))
        };
        let started = event("Started", json!({}), "Task started by client");
        let words = "Services not healthy by deadline: slow";
        let late = event("Alloc Unhealthy", json!({}), words);
        let (words, hint) = said(json!([started, late])).unwrap();
        assert_eq!(words, "not healthy within 5s: check GET / does not pass");
        assert!(
            hint.contains("start: {within: 5s} of service slow in its recipe"),
            "{hint}"
        );
        let failed = event("Alloc Unhealthy", json!({}), "Unhealthy because of failed task");
        assert_eq!(said(json!([started, failed])), None);
    }

    #[test]
    fn a_line_that_was_cut_is_left_out() {
        assert_eq!(whole_lines("secret\nb\n", 9), ["b"]);
        assert_eq!(whole_lines("a\nb\n", 9), ["a", "b"]);
    }
}
