//! The variables of a component's module: everything an environment may differ in, in one list.
//! Terraform's declarations, the module call, Nomad's job variables and the tfvars are all written from it.

use super::nomad::task_prefix;
use super::task_templates::{in_job, templates};
use crate::lowered::{Check, Container, Driver, Group, Lowered};
use crate::option::{CPU, MEMORY, REPLICAS};
use crate::pillar::GENERATIONS;
use serde_json::Value;
use std::ops::RangeInclusive;

/// Bytes of memory that the processes of a container may share.
const SHM: (i64, i64) = (1, 1 << 40);

#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    pub name: String,
    pub kind: Kind,
    pub value: Value,
    pub description: String,
    /// Whether the Nomad job takes it too.
    pub in_job: bool,
    /// Whether an instance would run otherwise with another value. The number of instances is the exception: a job is
    /// scaled without a restart.
    pub of_instance: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Text,
    /// A whole number and the bounds of its validation.
    Number {
        low: i64,
        high: i64,
    },
    /// Texts by name; Terraform alone takes it.
    Map,
    /// Texts; Terraform alone takes it.
    List,
}

/// A name as HCL identifiers allow it.
pub fn identifier(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '_'
            }
        })
        .collect()
}

/// All variables but the digest, which is made from their values.
pub fn variables(component: &Lowered) -> Vec<Variable> {
    let mut list = vec![
        text(
            "namespace",
            &component.environment,
            "Nomad namespace: the environment",
            true,
        ),
        text(
            "datacenter",
            &component.datacenter.value,
            "Datacenter the instances run in",
            true,
        ),
    ];
    if let Some(schedule) = component.shape.schedule() {
        list.push(text(
            "cron",
            &schedule.cron.value,
            "When the job starts a run",
            true,
        ));
        list.push(text("zone", &schedule.zone.value, "Time zone of its hours", true));
    }
    for group in &component.groups {
        add_group(&mut list, component, group);
    }
    for (need, name) in &component.borrowed {
        let variable = format!("volume_{}_name", identifier(need));
        list.push(text(&variable, name, "Name of the volume in Nomad", true));
    }
    for (need, volumes) in component.volumes_by_need() {
        let prefix = format!("volume_{}", identifier(need));
        list.push(text(
            &format!("{prefix}_name"),
            &volumes[0].name,
            "Name of the volume in Nomad",
            true,
        ));
        if volumes[0].each {
            let paths = volumes
                .iter()
                .map(|volume| (volume.host.value.clone(), Value::from(volume.path.value.as_str())));
            list.push(Variable {
                kind: Kind::Map,
                value: Value::Object(paths.collect()),
                of_instance: false,
                ..text(
                    &format!("{prefix}_paths"),
                    "",
                    "Node -> directory of the volume there",
                    false,
                )
            });
            continue;
        }
        list.push(text(
            &format!("{prefix}_host"),
            &volumes[0].host.value,
            "Node the volume lies on",
            false,
        ));
        list.push(text(
            &format!("{prefix}_path"),
            &volumes[0].path.value,
            "Directory of the volume",
            false,
        ));
    }
    list
}

fn add_group(list: &mut Vec<Variable>, component: &Lowered, group: &Group) {
    let prefix = identifier(&group.name);
    let name = |suffix: &str| format!("{prefix}_{suffix}");
    list.push(text(
        &name("service"),
        &group.service,
        "Name the service is registered under",
        true,
    ));
    list.push(Variable {
        of_instance: false,
        ..number(
            &name("count"),
            group.count.value,
            bounds(instances(group)),
            "How many instances run",
        )
    });
    list.push(number(
        &name("cpu"),
        group.cpu.value,
        bounds(CPU),
        "Processor share of an instance, in MHz",
    ));
    list.push(number(
        &name("memory"),
        group.memory.value,
        bounds(MEMORY),
        "Memory of an instance, in MiB",
    ));
    let container = group.more.as_deref().map(|more| &more.container);
    add_task(list, &prefix, &group.driver, container);
    for task in group.more.iter().flat_map(|more| &more.tasks) {
        let prefix = task_prefix(group, task);
        add_task(list, &prefix, &task.driver, Some(&task.container));
    }
    for (variable, value) in &group.env {
        if let Some(known) = in_job(variable, &value.value) {
            list.push(text(
                &name(&format!("env_{}", identifier(variable))),
                known,
                "Environment of the task",
                true,
            ));
        }
    }
    for template in templates(component, group)
        .into_iter()
        .filter(|template| !template.fixed)
    {
        list.push(text(
            &name(&template.name),
            &template.data,
            "Template that Nomad renders for the task",
            true,
        ));
    }
    for port in &group.ports {
        let label = identifier(&port.label);
        if let Some(fixed) = &port.fixed {
            list.push(number(
                &name(&format!("port_{label}")),
                fixed.value.into(),
                (1, 65535),
                "Port of the host",
            ));
        }
        if let Some(to) = &port.to {
            list.push(number(
                &name(&format!("port_{label}_to")),
                to.value.into(),
                (1, 65535),
                "Port in the container",
            ));
        }
    }
    if let Some(mesh) = &group.mesh {
        for (index, upstream) in mesh.upstreams.iter().enumerate() {
            list.push(text(
                &name(&format!("upstream_{index}")),
                &upstream.service,
                "Service that is called through the mesh",
                true,
            ));
        }
        if mesh.is_called() {
            let callers = mesh.callers.iter().map(|caller| Value::from(caller.as_str()));
            list.push(Variable {
                kind: Kind::List,
                value: Value::Array(callers.collect()),
                of_instance: false,
                ..text(
                    &name("callers"),
                    "",
                    "Services that may call it through the mesh",
                    false,
                )
            });
        }
    }
    for (index, host) in group.routes.iter().enumerate() {
        list.push(Variable {
            of_instance: false,
            ..text(
                &name(&format!("route_{index}")),
                &host.value,
                "Host name under which the proxy serves it",
                true,
            )
        });
    }
    if let Some(Check::Http(path)) = &group.check {
        list.push(text(
            &name("check_path"),
            &path.value,
            "Path of the health check",
            true,
        ));
    }
}

/// What a task runs, and in which container.
fn add_task(list: &mut Vec<Variable>, prefix: &str, driver: &Driver, container: Option<&Container>) {
    let name = |suffix: &str| format!("{prefix}_{suffix}");
    match driver {
        Driver::Docker { image, .. } => {
            list.push(text(&name("image"), &image.value, "Container image", true));
        }
        Driver::RawExec { command, .. } => list.push(text(
            &name("command"),
            &command.value,
            "Program of the host",
            true,
        )),
    }
    for (index, arg) in driver.args().iter().enumerate() {
        list.push(text(
            &name(&format!("arg_{index}")),
            &arg.value,
            "Argument of the program",
            true,
        ));
    }
    let Some(container) = container else {
        return;
    };
    for (index, word) in container.entrypoint.iter().enumerate() {
        let name = name(&format!("entrypoint_{index}"));
        list.push(text(
            &name,
            &word.value,
            "Word that starts the program of the container",
            true,
        ));
    }
    if let Some(user) = &container.user {
        list.push(text(
            &name("user"),
            &user.value,
            "User that the container runs as",
            true,
        ));
    }
    if let Some(hostname) = &container.hostname {
        let description = "Host name that the container finds itself under";
        list.push(text(&name("hostname"), &hostname.value, description, true));
    }
    if let Some(shm) = &container.shm {
        list.push(Variable {
            value: shm.value.into(),
            ..number(
                &name("shm"),
                0,
                SHM,
                "Memory that processes of the container share, in bytes",
            )
        });
    }
}

pub fn text(name: &str, value: &str, description: &str, in_job: bool) -> Variable {
    Variable {
        name: name.to_owned(),
        kind: Kind::Text,
        value: value.into(),
        description: description.to_owned(),
        in_job,
        of_instance: true,
    }
}

/// A new number changes what Terraform is given, and nothing of what runs.
pub fn generation(number: u32) -> Variable {
    Variable {
        of_instance: false,
        ..self::number(
            "generation",
            number,
            (0, GENERATIONS.into()),
            "How often the pillar was put through again, unused by the job",
        )
    }
}

/// How many instances a group may have: none of what is stopped, at least one of anything else.
fn instances(group: &Group) -> RangeInclusive<u32> {
    group.count.value.min(*REPLICAS.start())..=*REPLICAS.end()
}

fn bounds(range: RangeInclusive<u32>) -> (i64, i64) {
    ((*range.start()).into(), (*range.end()).into())
}

fn number(name: &str, value: u32, (low, high): (i64, i64), description: &str) -> Variable {
    Variable {
        name: name.to_owned(),
        kind: Kind::Number { low, high },
        value: value.into(),
        description: description.to_owned(),
        in_job: true,
        of_instance: true,
    }
}
