//! How the services of a recipe run, and which of them are one job: a component may have several.

use super::read::read_template;
use super::{Moment, Service};
use crate::diagnostic::Position;
use crate::name::quoted;
use crate::read::{Reader, find};
use crate::template::Template;
use crate::yaml::{Entry, Node};
use std::collections::BTreeSet;

/// How a service runs.
#[derive(Clone, Debug, Default)]
pub enum Mode {
    /// For good, with as many instances as are wanted.
    #[default]
    Service,
    /// For good, with one instance on each host.
    System,
    /// To its end, once for each change of it.
    Batch,
    /// To its end, at set times.
    Scheduled(Schedule),
}

impl Mode {
    const WORDS: &'static [&'static str] = &["service", "system", "batch"];

    /// Whether it runs until somebody stops it.
    pub fn is_lasting(&self) -> bool {
        match self {
            Self::Service | Self::System => true,
            Self::Batch | Self::Scheduled(_) => false,
        }
    }

    /// Whether services of both may be one job. One schedule is one job's.
    fn is_one_job(&self, other: &Self) -> bool {
        matches!(
            (self, other),
            (Self::Service, Self::Service) | (Self::System, Self::System) | (Self::Batch, Self::Batch)
        )
    }
}

/// When a service runs.
#[derive(Clone, Debug)]
pub struct Schedule {
    pub cron: Template,
    /// The time zone of its hours; without one UTC.
    pub zone: Option<Template>,
    /// It starts also while an earlier run goes on.
    pub overlap: bool,
}

/// Services that are one job of Nomad.
#[derive(Debug)]
pub struct Job<'r> {
    /// The service that is a job by itself; none for the component's own job.
    pub of: Option<&'r Service>,
    pub services: Vec<&'r Service>,
    /// Of a job that is not the component's own: those it comes after, beside the own one.
    pub after: BTreeSet<&'r str>,
}

/// Services that wait for no other and run as the first of these does are the component's own job, which comes first. Each
/// other one is a job by itself.
pub fn jobs<'r>(services: &[&'r Service]) -> Vec<Job<'r>> {
    let waits_for = |service: &'r Service| {
        let there = |name: &&'r str| services.iter().any(|other| other.name == *name);
        let after = service.after.iter().map(|(name, _)| name.as_str());
        after.filter(there).collect::<BTreeSet<&str>>()
    };
    let Some(first) = services.iter().find(|service| waits_for(service).is_empty()) else {
        return Vec::new();
    };
    let is_own = |service: &Service| {
        std::ptr::eq(service, *first)
            || waits_for_nothing(service, services) && service.mode.is_one_job(&first.mode)
    };
    let (own, others): (Vec<&Service>, Vec<&Service>) =
        services.iter().copied().partition(|service| is_own(service));
    let is_by_itself = |name: &&str| others.iter().any(|other| other.name == **name);
    let by_themselves = others.iter().map(|service| Job {
        of: Some(service),
        services: vec![service],
        after: waits_for(service)
            .into_iter()
            .filter(|name| is_by_itself(&name))
            .collect(),
    });
    let by_themselves: Vec<Job<'r>> = by_themselves.collect();
    let own = Job {
        of: None,
        services: own,
        after: BTreeSet::new(),
    };
    std::iter::once(own).chain(by_themselves).collect()
}

fn waits_for_nothing(service: &Service, there: &[&Service]) -> bool {
    let mut after = service.after.iter();
    !after.any(|(name, _)| there.iter().any(|other| other.name == *name))
}

/// `type` and `schedule` of a service.
pub(super) fn read_mode(reader: &mut Reader<'_>, entries: &[Entry], what: &str) -> Mode {
    let word = find(entries, "type").and_then(|node| Some((reader.text("type", node)?, node.at)));
    let schedule = find(entries, "schedule");
    match (word, schedule) {
        (None, Some(node)) => read_schedule(reader, node).map_or(Mode::Batch, Mode::Scheduled),
        (Some((word, at)), Some(node)) => {
            if word != "batch" {
                reader.report_with_hint(
                    at,
                    format!("{what} has a schedule, so it runs to its end"),
                    "Take type out, or the schedule",
                );
            }
            read_schedule(reader, node).map_or(Mode::Batch, Mode::Scheduled)
        }
        (Some((word, at)), None) => match word.as_str() {
            "service" => Mode::Service,
            "system" => Mode::System,
            "batch" => Mode::Batch,
            _ => {
                let hint = format!("Known types: {}; or give it a schedule", Mode::WORDS.join(", "));
                reader.report_with_hint(at, format!("Unknown type {} of {what}", quoted(&word)), hint);
                Mode::Service
            }
        },
        (None, None) => Mode::Service,
    }
}

/// `"0 3 * * *"`, or `{cron: "0 3 * * *", zone: Europe/Berlin, overlap: true}`.
fn read_schedule(reader: &mut Reader<'_>, node: &Node) -> Option<Schedule> {
    if node.as_map().is_none() {
        return Some(Schedule {
            cron: read_template(reader, "schedule", node)?,
            zone: None,
            overlap: false,
        });
    }
    let fields = reader.record("schedule", node, &["cron", "zone", "overlap"]);
    let Some(cron) = find(fields, "cron") else {
        let hint = "Use schedule: \"0 3 * * *\" for every day at three";
        reader.report_with_hint(node.at, "schedule says no times", hint);
        return None;
    };
    Some(Schedule {
        cron: read_template(reader, "cron", cron)?,
        zone: find(fields, "zone").and_then(|node| read_template(reader, "zone", node)),
        overlap: find(fields, "overlap").is_some_and(|node| reader.flag("overlap", node) == Some(true)),
    })
}

/// `after` of a service, each name with its place.
pub(super) fn read_after(reader: &mut Reader<'_>, entries: &[Entry]) -> Vec<(String, Position)> {
    let Some(node) = find(entries, "after") else {
        return Vec::new();
    };
    let names = reader.texts("after", node);
    let places = node.as_list().into_iter().flatten().map(|item| item.at);
    names.into_iter().zip(places).collect()
}

/// Services wait for others of their recipe, in no circle, and for nothing that comes only at set times.
pub(super) fn check(reader: &mut Reader<'_>, services: &[Service]) {
    for service in services {
        for (name, at) in &service.after {
            let other = services.iter().find(|other| other.name == *name);
            let problem = match other.map(|other| &other.mode) {
                None => "is no service of the recipe",
                Some(Mode::Scheduled(_)) => "runs at set times, and nothing waits for it",
                Some(Mode::Service | Mode::System | Mode::Batch) => continue,
            };
            let words = format!(
                "Service {} comes after {}, which {problem}",
                service.name,
                quoted(name)
            );
            reader.report(*at, words);
        }
        check_mode(reader, service);
    }
    let before = services.iter().map(|service| {
        let after = service.after.iter().map(|(name, _)| name.as_str());
        (service.name.as_str(), after.collect())
    });
    if let Err(circle) = crate::order::waves(&before.collect())
        && let Some(service) = services.iter().find(|service| service.name == circle[0])
    {
        let words = format!("Services wait for one another: {}", circle.join(" after "));
        reader.report_with_hint(service.at, words, "Take one of them out of after");
    }
}

fn check_mode(reader: &mut Reader<'_>, service: &Service) {
    let name = &service.name;
    if matches!(service.mode, Mode::System) {
        if service.one || !service.replicas.of.is_empty() || service.replicas.minimum.is_some() {
            let words = format!("Service {name} runs on every host, and says how many instances it has");
            reader.report_with_hint(
                service.at,
                words,
                "Take replicas and instances out, or type: system",
            );
        }
        if !service.mounts.is_empty() {
            let words = format!("Service {name} runs on every host, and mounts a volume of one");
            reader.report_with_hint(service.at, words, "Take type: system out, or the volume");
        }
    }
    if service.mode.is_lasting() {
        if service.timing.ends.is_some() {
            let words = format!("Service {name} does not end by itself, and says within which time it does");
            reader.report_with_hint(service.at, words, "Add type: batch, or take ends out");
        }
        return;
    }
    let said = [
        ("a check", service.check.is_some()),
        ("metrics", service.metrics.is_some()),
        ("replicas", !service.replicas.of.is_empty()),
        ("start", service.timing.start.is_some()),
        (
            "tasks after its start",
            service.tasks.iter().any(|task| task.moment == Moment::After),
        ),
    ];
    for (what, _) in said.iter().filter(|(_, said)| *said) {
        let words = format!("Service {name} runs to its end, and has {what}");
        reader.report_with_hint(service.at, words, "These are of services that run for good");
    }
    if matches!(service.mode, Mode::Scheduled(_)) && service.timing.ends.is_some() {
        let words = format!("Service {name} has a schedule: nothing waits for the end of a run");
        reader.report_with_hint(service.at, words, "Take ends out");
    }
}
