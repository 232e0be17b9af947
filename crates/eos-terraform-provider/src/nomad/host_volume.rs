//! Owns the resource `nomad_dynamic_host_volume_registration`: a directory of a node that Nomad offers to
//! jobs as a volume. Nomad only knows it; whoever made the directory keeps it.

use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::time::Instant;

use super::client::Client;
use super::{import_id, size, stopping};
use crate::api::{ApiError, Call, list, strings, text};
use crate::diagnostic::{Diagnostic, Diagnostics, Step};
use crate::provider::{Applied, Change, Context, Failed, Outcome, Planned, Resource};
use crate::schema::{Attribute, Block};
use crate::value::{List, Map, Value, object};

/// A node announces a new volume with one of its next heartbeats: 11 s were seen on an idle machine.
const UNTIL_READY: Duration = Duration::from_secs(90);
const QUERY: Duration = Duration::from_secs(10);

pub struct HostVolumeRegistration;

object! {
    pub struct VolumeObject {
        id: String,
        name: String,
        namespace: String,
        node_id: String,
        host_path: String,
        capacity: String,
        parameters: Map<String>,
        capability: List<Capability>,
        capacity_bytes: i64,
        capacity_min_bytes: i64,
        capacity_max_bytes: i64,
        constraint: List<Constraint>,
        node_pool: String,
        plugin_id: String,
        state: String,
    }
}

object! {
    pub struct Capability {
        access_mode: String,
        attachment_mode: String,
    }
}

object! {
    pub struct Constraint {
        attribute: String,
        operator: String,
        value: String,
    }
}

/// Attributes that belong to the identity of a volume: a change needs a new registration.
const IDENTITY: [&str; 4] = ["name", "namespace", "node_id", "host_path"];

impl Resource for HostVolumeRegistration {
    type Client = Client;
    type Object = VolumeObject;

    const NAME: &'static str = "nomad_dynamic_host_volume_registration";

    fn schema(&self) -> Block {
        Block::new(
            "A directory of a node, offered to jobs as a volume",
            [
                Attribute::computed::<String>("id", "ID of the volume"),
                Attribute::required::<String>("name", "Name that jobs ask for"),
                Attribute::defaulted::<String>("namespace", "Namespace of the volume"),
                Attribute::required::<String>("node_id", "ID of the node that has the directory"),
                Attribute::required::<String>("host_path", "The directory"),
                Attribute::optional::<String>("capacity", "Size, like 10GiB; Nomad does not enforce it"),
                Attribute::optional::<Map<String>>("parameters", "Free parameters of the volume"),
                Attribute::computed::<i64>("capacity_bytes", "Size in bytes"),
                Attribute::computed::<i64>("capacity_min_bytes", "Smallest size asked for; 0 here"),
                Attribute::computed::<i64>("capacity_max_bytes", "Largest size asked for; 0 here"),
                Attribute::computed::<List<Constraint>>("constraint", "Constraints of placement; none here"),
                Attribute::computed::<String>("node_pool", "Node pool of the node"),
                Attribute::computed::<String>("plugin_id", "Plugin that made the volume; none here"),
                Attribute::computed::<String>("state", "pending, ready or unavailable"),
            ],
        )
        .list_block(
            "capability",
            1,
            0,
            Block::new(
                "A way in which jobs may use the volume",
                [
                    Attribute::required::<String>("access_mode", "For example single-node-writer"),
                    Attribute::required::<String>("attachment_mode", "file-system or block-device"),
                ],
            ),
        )
    }

    fn validate(&self, config: &VolumeObject) -> Diagnostics {
        let mut found = Vec::new();
        if config
            .capacity
            .as_str()
            .is_some_and(|capacity| size::parse(capacity).is_none())
        {
            found.push(
                Diagnostic::error("capacity is not a size")
                    .hint("Write it like 10GiB or 500MB")
                    .at("capacity"),
            );
        }
        if config
            .host_path
            .as_str()
            .is_some_and(|path| !path.starts_with('/'))
        {
            found.push(Diagnostic::error("host_path is not an absolute path").at("host_path"));
        }
        let mode = |index: usize, attribute: &'static str, value: &Value<String>, offered: &[&str]| {
            let value = value.as_str().filter(|value| !offered.contains(value))?;
            let place = [
                Step::Attribute("capability"),
                Step::Index(i64::try_from(index).unwrap_or_default()),
                Step::Attribute(attribute),
            ];
            let wrong = Diagnostic::error(format!("{attribute} {value} does not exist for host volumes"));
            Some(
                wrong
                    .hint(format!("One of: {}", offered.join(", ")))
                    .within(place),
            )
        };
        for (index, capability) in config.capability.elements().enumerate() {
            found.extend(mode(index, "access_mode", &capability.access_mode, &ACCESS_MODES));
            found.extend(mode(
                index,
                "attachment_mode",
                &capability.attachment_mode,
                &ATTACHMENT_MODES,
            ));
        }
        found
    }

    fn import(&self, id: &str) -> Result<VolumeObject, Diagnostics> {
        let (id, namespace) = import_id(id);
        let capability = Value::from_elements([]);
        Ok(VolumeObject {
            id: Value::from(id),
            namespace,
            capability,
            ..VolumeObject::default()
        })
    }

    async fn read(
        &self,
        context: &Context<'_, Client>,
        mut object: VolumeObject,
    ) -> Result<Option<VolumeObject>, Diagnostics> {
        let id = object.id.as_str().unwrap_or_default().to_owned();
        let found = context.client.find(object.get(context.client, &id)).await;
        match found.map_err(|error| error.diagnostic(format!("Volume {id} cannot be read")))? {
            Some(answer) => {
                object.take(&answer);
                Ok(Some(object))
            }
            None => Ok(None),
        }
    }

    async fn plan(
        &self,
        context: &Context<'_, Client>,
        change: Change<VolumeObject>,
    ) -> Result<Planned<VolumeObject>, Diagnostics> {
        let Change {
            prior,
            config,
            proposed: mut object,
        } = change;
        if config.namespace == Value::Null {
            object.namespace = Value::from(context.client.namespace());
        }
        let Some(prior) = prior else {
            object.id = Value::Unknown;
            object.forget_what_nomad_decides();
            return Ok(Planned {
                object,
                replace: Vec::new(),
                warnings: Vec::new(),
            });
        };
        let replace: Vec<&'static str> = IDENTITY
            .into_iter()
            .zip([
                prior.name != object.name,
                prior.namespace != object.namespace,
                prior.node_id != object.node_id,
                prior.host_path != object.host_path,
            ])
            .filter_map(|(attribute, changed)| changed.then_some(attribute))
            .collect();
        let changed = prior.capacity_meant() != object.capacity_meant()
            || prior.parameters != object.parameters
            || prior.capability != object.capability;
        if changed || !replace.is_empty() {
            object.forget_what_nomad_decides();
        }
        Ok(Planned {
            object,
            replace,
            warnings: Vec::new(),
        })
    }

    async fn create(&self, context: &Context<'_, Client>, planned: VolumeObject) -> Outcome<VolumeObject> {
        register(context, planned).await
    }

    async fn update(
        &self,
        context: &Context<'_, Client>,
        _prior: VolumeObject,
        planned: VolumeObject,
    ) -> Outcome<VolumeObject> {
        if planned.state.is_unknown() {
            register(context, planned).await
        } else {
            // Only the words for the same capacity changed; Nomad would refuse to touch a volume in use.
            Ok(Applied {
                object: planned,
                warnings: Vec::new(),
            })
        }
    }

    async fn destroy(
        &self,
        context: &Context<'_, Client>,
        object: VolumeObject,
    ) -> Result<Diagnostics, Diagnostics> {
        let id = object.id.as_str().unwrap_or_default();
        let name = object.name.as_str().unwrap_or_default();
        let cannot = |error: ApiError| error.diagnostic(format!("Nomad cannot deregister volume {name}"));
        let Some(volume) = context
            .client
            .find(object.get(context.client, id))
            .await
            .map_err(cannot)?
        else {
            return Ok(Vec::new());
        };
        // For a volume that a plugin made, the same call deletes the data.
        let plugin = text(&volume["PluginID"]);
        if !plugin.is_empty() {
            return Err(Diagnostic::error(format!(
                "Volume {name} was made by plugin {plugin}, not registered"
            ))
            .detail("Deregistering it would delete its data.")
            .hint("terraform state rm removes it from the Terraform state and leaves the volume as it is")
            .into());
        }
        deregister(context, &object, id, name)
            .await
            .map(|()| Vec::new())
            .map_err(Diagnostics::from)
    }
}

const ACCESS_MODES: [&str; 4] = [
    "single-node-reader-only",
    "single-node-writer",
    "single-node-single-writer",
    "single-node-multi-writer",
];
const ATTACHMENT_MODES: [&str; 2] = ["file-system", "block-device"];

impl VolumeObject {
    fn get<'a>(&'a self, client: &'a Client, id: &'a str) -> Call<'a> {
        Call::get(&["volume", "host", id]).namespace(self.namespace.as_str().unwrap_or(client.namespace()))
    }

    fn forget_what_nomad_decides(&mut self) {
        self.capacity_bytes = Value::Unknown;
        self.capacity_min_bytes = Value::Unknown;
        self.capacity_max_bytes = Value::Unknown;
        self.constraint = Value::Unknown;
        self.node_pool = Value::Unknown;
        self.plugin_id = Value::Unknown;
        self.state = Value::Unknown;
    }

    fn take(&mut self, answer: &Json) {
        self.id = Value::from(text(&answer["ID"]));
        self.name = Value::from(text(&answer["Name"]));
        self.namespace = Value::from(text(&answer["Namespace"]));
        self.node_id = Value::from(text(&answer["NodeID"]));
        self.host_path = Value::from(text(&answer["HostPath"]));
        self.parameters = Value::read_back_entries(&self.parameters, strings(&answer["Parameters"]));
        self.capability =
            Value::from_elements(
                list(&answer["RequestedCapabilities"]).map(|capability| Capability {
                    access_mode: Value::from(text(&capability["AccessMode"])),
                    attachment_mode: Value::from(text(&capability["AttachmentMode"])),
                }),
            );
        self.take_capacity(answer["CapacityBytes"].as_i64().unwrap_or_default());
        self.capacity_min_bytes = answer["RequestedCapacityMinBytes"].as_i64().into();
        self.capacity_max_bytes = answer["RequestedCapacityMaxBytes"].as_i64().into();
        self.constraint = Value::from_elements(list(&answer["Constraints"]).map(|constraint| Constraint {
            attribute: Value::from(text(&constraint["LTarget"])),
            operator: Value::from(text(&constraint["Operand"])),
            value: Value::from(text(&constraint["RTarget"])),
        }));
        self.node_pool = Value::from(text(&answer["NodePool"]));
        self.plugin_id = Value::from(text(&answer["PluginID"]));
        self.state = Value::from(text(&answer["State"]));
    }

    /// The capacity in bytes; 0 if none is set.
    fn capacity_meant(&self) -> i64 {
        self.capacity.as_str().and_then(size::parse).unwrap_or_default()
    }

    /// Nomad keeps bytes, the configuration has words: they stay as long as they mean the same.
    fn take_capacity(&mut self, bytes: i64) {
        if self.capacity_meant() != bytes {
            self.capacity = Value::Known(format!("{bytes}B"));
        }
        self.capacity_bytes = Value::Known(bytes);
    }
}

async fn register(context: &Context<'_, Client>, mut object: VolumeObject) -> Outcome<VolumeObject> {
    let name = object.name.as_str().unwrap_or_default().to_owned();
    let namespace = object
        .namespace
        .as_str()
        .unwrap_or(context.client.namespace())
        .to_owned();
    let call = Call::put(&["volume", "host", "register"], body(&object)).namespace(&namespace);
    let answer = context.client.ask(call).await.map_err(|error| {
        let diagnostic = error.diagnostic(format!("Nomad refuses volume {name}"));
        if error.says("could not verify host path") {
            diagnostic
                .hint("The directory must exist on the node first")
                .at("host_path")
        } else if error.says("already exists on this node") {
            diagnostic.hint("Import it, or choose another name").at("name")
        } else if error.says("cannot update a volume in use") {
            diagnostic.hint("Stop the jobs that mount it first")
        } else {
            diagnostic
        }
    })?;
    let id = text(&answer["Volume"]["ID"]).to_owned();
    object.take(&answer["Volume"]);
    match ready(context, &mut object, &id).await {
        Ok(()) => Ok(Applied {
            object,
            warnings: Vec::new(),
        }),
        Err(diagnostic) => Err(Failed {
            object: Some(Box::new(object)),
            diagnostics: diagnostic.into(),
        }),
    }
}

fn body(object: &VolumeObject) -> Json {
    let parameters: serde_json::Map<_, _> = object
        .parameters
        .entries()
        .map(|(key, value)| (key.clone(), Json::from(value.as_str())))
        .collect();
    let capability = |capability: &Capability| {
        json!({
            "AccessMode": capability.access_mode.as_str(),
            "AttachmentMode": capability.attachment_mode.as_str(),
        })
    };
    json!({"Volume": {
        // Empty: a new volume. With an ID Nomad changes that volume.
        "ID": object.id.as_str().unwrap_or_default(),
        "Name": object.name.as_str(),
        "Namespace": object.namespace.as_str(),
        "NodeID": object.node_id.as_str(),
        "HostPath": object.host_path.as_str(),
        "CapacityBytes": object.capacity_meant(),
        "RequestedCapabilities": object.capability.elements().map(capability).collect::<Vec<_>>(),
        "Parameters": parameters,
    }})
}

/// Waits until the node has announced the volume: a job could not be placed on it before.
async fn ready(context: &Context<'_, Client>, object: &mut VolumeObject, id: &str) -> Result<(), Diagnostic> {
    let name = object.name.as_str().unwrap_or_default().to_owned();
    let deadline = Instant::now() + UNTIL_READY;
    let mut index = 0;
    loop {
        let call = object.get(context.client, id).newer_than(index, QUERY);
        let (answer, next) = tokio::select! {
            answer = context.client.ask_with_index(call) => {
                answer.map_err(|error| error.diagnostic(format!("Volume {name} cannot be read")))?
            }
            () = context.stop.requested() => {
                return Err(Diagnostic::error(format!("Interrupted while waiting for volume {name}"))
                    .hint("It is registered and stays in the Terraform state"));
            }
            () = tokio::time::sleep_until(deadline) => {
                let state = object.state.as_str().unwrap_or_default();
                return Err(Diagnostic::error(format!(
                    "Volume {name} is {state}, not ready, after {} s", UNTIL_READY.as_secs()
                ))
                .hint("Check that the node is ready: nomad node status"));
            }
        };
        object.take(&answer);
        if object.state.as_str() == Some("ready") {
            return Ok(());
        }
        index = if next < index { 0 } else { next };
    }
}

async fn deregister(
    context: &Context<'_, Client>,
    object: &VolumeObject,
    id: &str,
    name: &str,
) -> Result<(), Diagnostic> {
    let cannot = |error: &ApiError| error.diagnostic(format!("Nomad cannot deregister volume {name}"));
    let namespace = object.namespace.as_str().unwrap_or(context.client.namespace());
    let begun = Instant::now();
    let mut patience = None;
    loop {
        let call = Call::delete(&["volume", "host", id, "delete"]).namespace(namespace);
        let refused = match context.client.ask(call).await {
            Ok(_) => return Ok(()),
            Err(error) if error.says("no such volume") => return Ok(()),
            Err(error) if error.says("in use by alloc") => error,
            Err(error) => return Err(cannot(&error)),
        };
        let volume = context
            .client
            .ask(object.get(context.client, id))
            .await
            .map_err(|error| cannot(&error))?;
        let patience = match patience {
            Some(known) => known,
            None => {
                let found = stopping::patience(context.client, namespace, &volume["Allocations"]).await;
                *patience.insert(found)
            }
        };
        let users = users(&volume["Allocations"]);
        if !users.is_empty() || begun.elapsed() >= patience {
            let users = if users.is_empty() {
                vec![refused.words().to_owned()]
            } else {
                users
            };
            return Err(Diagnostic::error(format!("Volume {name} is in use"))
                .detail(users.join("\n"))
                .hint(
                    "Stop the jobs that mount it first; a job in the same configuration needs depends_on",
                ));
        }
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(500)) => {}
            () = context.stop.requested() => return Err(cannot(&refused)),
        }
    }
}

/// The allocations that use a volume and are not about to end.
fn users(allocations: &Json) -> Vec<String> {
    let running = list(allocations).filter(|allocation| text(&allocation["DesiredStatus"]) == "run");
    running
        .map(|allocation| {
            format!(
                "job {}, allocation {}",
                text(&allocation["JobID"]),
                text(&allocation["ID"])
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Shape;

    #[test]
    fn schema_and_object_have_the_same_shape() {
        assert_eq!(HostVolumeRegistration.schema().shape(), VolumeObject::shape());
    }

    #[test]
    fn a_capacity_in_words_stays_as_written_while_it_is_true() {
        let mut object = VolumeObject {
            capacity: Value::from("1GiB"),
            ..VolumeObject::default()
        };
        object.take_capacity(1 << 30);
        assert_eq!(object.capacity, Value::from("1GiB"));
        object.take_capacity(5);
        assert_eq!(object.capacity, Value::from("5B"));
        let mut unset = VolumeObject::default();
        unset.take_capacity(0);
        assert_eq!(unset.capacity, Value::Null);
    }

    #[test]
    fn only_allocations_that_go_on_are_users() {
        let allocations = json!([
            {"ID": "a1", "JobID": "web", "DesiredStatus": "run"},
            {"ID": "a2", "JobID": "old", "DesiredStatus": "stop"},
        ]);
        assert_eq!(users(&allocations), ["job web, allocation a1"]);
    }

    #[test]
    fn wrong_modes_sizes_and_paths_are_refused() {
        let config = VolumeObject {
            host_path: Value::from("data"),
            capacity: Value::from("much"),
            capability: Value::from_elements([Capability {
                access_mode: Value::from("any"),
                attachment_mode: Value::from("file-system"),
            }]),
            ..VolumeObject::default()
        };
        assert_eq!(HostVolumeRegistration.validate(&config).len(), 3);
    }
}
