//! The jobs of a component: its own, and those it has beside, because they run in another way or come after.

use super::environment;
use crate::compose::member_name;
use crate::diagnostic::Diagnostic;
use crate::expand::Expanded;
use crate::kinds::{HostParts, WorkspaceParts};
use crate::lowered::{CopyOf, Group, Lowered, Schedule, SecretItem, Shape};
use crate::passes::secrets;
use crate::recipe::{self, Mode, Service};
use crate::source::{Source, Sourced};
use std::collections::{BTreeMap, BTreeSet};

/// The zone of a schedule that names none.
const ZONE: &str = "UTC";

/// A job: the groups of one or several services that run in one way.
#[derive(Default)]
pub struct Job {
    /// The service that it is by itself; none of the component's own.
    pub service: Option<String>,
    pub shape: Shape,
    pub groups: Box<[Group]>,
}

/// The groups of these services, by job; the component's own comes first.
pub fn apart(
    expanded: &Expanded<'_>,
    services: Vec<&Service>,
    groups: Vec<Group>,
) -> Result<Vec<Job>, Diagnostic> {
    let mut groups: BTreeMap<String, Group> = groups
        .into_iter()
        .map(|group| (group.name.clone(), group))
        .collect();
    let mut jobs = Vec::new();
    for job in recipe::jobs(&services) {
        let Some(first) = job.services.first() else {
            continue;
        };
        let own = job
            .services
            .iter()
            .filter_map(|service| groups.remove(&service.name));
        jobs.push(Job {
            service: job.of.map(|service| service.name.clone()),
            shape: shape(expanded, &first.mode)?,
            groups: own.collect(),
        });
    }
    Ok(jobs)
}

fn shape(expanded: &Expanded<'_>, mode: &Mode) -> Result<Shape, Diagnostic> {
    Ok(match mode {
        Mode::Service => Shape::Service,
        Mode::System => Shape::System,
        Mode::Batch => Shape::Batch,
        Mode::Scheduled(schedule) => {
            let cron = expanded.text(&schedule.cron)?;
            if let Err(why) = crate::schedule::check(&cron.value) {
                return Err(expanded.wrong(&schedule.cron, &why));
            }
            let zone = match &schedule.zone {
                Some(zone) => expanded.text(zone)?,
                None => Sourced::new(
                    ZONE.to_owned(),
                    Source::pass("jobs", "the schedule names no zone"),
                ),
            };
            if let (Err(why), Some(template)) = (crate::schedule::check_zone(&zone.value), &schedule.zone) {
                return Err(expanded.wrong(template, &why));
            }
            Shape::Scheduled(Box::new(Schedule {
                cron,
                zone,
                overlap: schedule.overlap,
                rests: expanded.component.stopped.as_deref().map(environment::stopped_by),
            }))
        }
    })
}

/// A job beside the component's own. It mounts the volumes of its component and has copies of its secrets.
pub fn member(
    expanded: &Expanded<'_>,
    own: &Lowered,
    job: Job,
    order: &impl Fn(&str) -> (BTreeSet<String>, usize),
) -> Lowered {
    let name = member_name(&own.component, job.service.as_deref().unwrap_or_default());
    let (before, wave) = order(&name);
    let mounted: BTreeSet<&str> = job
        .groups
        .iter()
        .flat_map(|group| &group.mounts)
        .map(|mount| mount.volume.as_str())
        .collect();
    let borrowed = own.volumes_by_need().into_iter();
    let borrowed = borrowed
        .filter(|(need, _)| mounted.contains(need))
        .map(|(need, volumes)| (need.to_owned(), volumes[0].name.clone()))
        .collect();
    let secrets = secrets::items(expanded, &job.groups).into_iter();
    let copied = secrets.map(|secret| SecretItem {
        generate: None,
        not_rotated: None,
        copy_of: Some(secret.copy_of.unwrap_or_else(|| CopyOf {
            component: own.component.clone(),
            item: secret.item.clone(),
        })),
        item: secret.item,
    });
    Lowered {
        component: name,
        owner: Some(own.component.clone()),
        is_member: true,
        before,
        wave,
        shape: job.shape,
        groups: job.groups,
        borrowed,
        in_workspace: WorkspaceParts::default(),
        volumes: Box::default(),
        parts: HostParts::default(),
        secrets: copied.collect(),
        outputs: Box::default(),
        asked: None,
        monitor: None,
        ..own.clone()
    }
}
