//! Owns what Terraform stores of a `nomad_job`, and how Nomad's answers fill it.

use serde_json::Value as Json;

use crate::api::{list, strings, text};
use crate::value::{List, Map, Set, Value, object};

object! {
    pub struct JobObject {
        id: String,
        jobspec: String,
        json: bool,
        hcl2: List<Hcl2>,
        detach: bool,
        deregister_on_destroy: bool,
        deregister_on_id_change: bool,
        purge_on_destroy: bool,
        policy_override: bool,
        read_allocation_ids: bool,
        rerun_if_dead: bool,
        timeouts: Timeouts,
        name: String,
        namespace: String,
        r#type: String,
        region: String,
        datacenters: Set<String>,
        status: String,
        modify_index: String,
        deployment_id: String,
        deployment_status: String,
        allocation_ids: List<String>,
        task_groups: List<TaskGroup>,
    }
}

object! {
    pub struct Hcl2 {
        allow_fs: bool,
        vars: Map<String>,
    }
}

object! {
    pub struct Timeouts {
        create: String,
        update: String,
    }
}

object! {
    pub struct TaskGroup {
        name: String,
        count: i64,
        meta: Map<String>,
        task: List<Task>,
        volumes: List<GroupVolume>,
    }
}

object! {
    pub struct Task {
        name: String,
        driver: String,
        meta: Map<String>,
        volume_mounts: List<VolumeMount>,
    }
}

object! {
    pub struct VolumeMount {
        volume: String,
        destination: String,
        read_only: bool,
    }
}

object! {
    pub struct GroupVolume {
        name: String,
        r#type: String,
        source: String,
        read_only: bool,
    }
}

impl JobObject {
    /// What the text of the job decides; known as soon as the text is.
    pub fn take_identity(&mut self, job: &Json) {
        self.id = Value::from(text(&job["ID"]));
        self.name = Value::from(text(&job["Name"]));
        self.namespace = Value::from(text(&job["Namespace"]));
        self.r#type = Value::from(text(&job["Type"]));
    }

    pub fn forget_identity(&mut self) {
        for attribute in [
            &mut self.id,
            &mut self.name,
            &mut self.namespace,
            &mut self.r#type,
        ] {
            *attribute = Value::Unknown;
        }
    }

    /// What a registration decides. An unknown `modify_index` is the plan's word that there will be one.
    pub fn forget_what_nomad_decides(&mut self) {
        self.region = Value::Unknown;
        self.datacenters = Value::Unknown;
        self.status = Value::Unknown;
        self.modify_index = Value::Unknown;
        self.deployment_id = Value::Unknown;
        self.deployment_status = Value::Unknown;
        self.allocation_ids = Value::Unknown;
        self.task_groups = Value::Unknown;
    }

    pub fn vars(&self) -> Value<Map<String>> {
        self.hcl2
            .elements()
            .next()
            .map(|hcl2| hcl2.vars.clone())
            .unwrap_or_default()
    }

    pub fn same_text(&self, other: &Self) -> bool {
        let (vars, other_vars) = (self.vars(), other.vars());
        self.jobspec == other.jobspec
            && self.json.is_true() == other.json.is_true()
            && vars.entries().eq(other_vars.entries())
    }
}

pub fn task_group(group: &Json) -> TaskGroup {
    let mut volumes: Vec<&Json> = group["Volumes"]
        .as_object()
        .into_iter()
        .flat_map(|map| map.values())
        .collect();
    volumes.sort_by_key(|volume| text(&volume["Name"]));
    TaskGroup {
        name: Value::from(text(&group["Name"])),
        count: group["Count"].as_i64().into(),
        meta: Value::from_entries(strings(&group["Meta"])),
        task: Value::from_elements(list(&group["Tasks"]).map(task)),
        volumes: Value::from_elements(volumes.into_iter().map(|volume| GroupVolume {
            name: Value::from(text(&volume["Name"])),
            r#type: Value::from(text(&volume["Type"])),
            source: Value::from(text(&volume["Source"])),
            read_only: volume["ReadOnly"].as_bool().into(),
        })),
    }
}

fn task(task: &Json) -> Task {
    Task {
        name: Value::from(text(&task["Name"])),
        driver: Value::from(text(&task["Driver"])),
        meta: Value::from_entries(strings(&task["Meta"])),
        volume_mounts: Value::from_elements(list(&task["VolumeMounts"]).map(|mount| VolumeMount {
            volume: Value::from(text(&mount["Volume"])),
            destination: Value::from(text(&mount["Destination"])),
            read_only: mount["ReadOnly"].as_bool().into(),
        })),
    }
}
