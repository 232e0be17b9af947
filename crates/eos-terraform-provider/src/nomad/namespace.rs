//! Owns the resource `nomad_namespace`: a namespace in Nomad.

use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::time::Instant;

use super::client::Client;
use super::stopping;
use crate::api::{ApiError, Call, strings, text, texts};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::provider::{Applied, Change, Context, Failed, Outcome, Planned, Resource};
use crate::schema::{Attribute, Block};
use crate::value::{List, Map, Set, Value, object};

/// Nomad makes this namespace itself and refuses to delete it.
const DEFAULT: &str = "default";
const DEFAULT_DESCRIPTION: &str = "Default shared namespace";

pub struct Namespace;

object! {
    pub struct NamespaceObject {
        id: String,
        name: String,
        description: String,
        quota: String,
        meta: Map<String>,
        capabilities: List<Capabilities>,
        node_pool_config: List<NodePoolConfig>,
    }
}

object! {
    pub struct Capabilities {
        enabled_task_drivers: List<String>,
        disabled_task_drivers: List<String>,
        enabled_network_modes: List<String>,
        disabled_network_modes: List<String>,
    }
}

object! {
    pub struct NodePoolConfig {
        default: String,
        allowed: Set<String>,
        denied: Set<String>,
    }
}

impl Resource for Namespace {
    type Client = Client;
    type Object = NamespaceObject;

    const NAME: &'static str = "nomad_namespace";

    fn schema(&self) -> Block {
        Block::new(
            "A namespace in Nomad",
            [
                Attribute::defaulted::<String>("id", "Name of the namespace"),
                Attribute::required::<String>("name", "Name of the namespace"),
                Attribute::optional::<String>("description", "Description of the namespace"),
                Attribute::optional::<String>("quota", "Quota that limits it (Nomad Enterprise)"),
                Attribute::optional::<Map<String>>("meta", "Free metadata"),
            ],
        )
        .list_block(
            "capabilities",
            0,
            1,
            Block::new(
                "Capabilities of the jobs in the namespace",
                [
                    Attribute::optional::<List<String>>("enabled_task_drivers", "Only these task drivers"),
                    Attribute::optional::<List<String>>("disabled_task_drivers", "Not these task drivers"),
                    Attribute::optional::<List<String>>("enabled_network_modes", "Only these network modes"),
                    Attribute::optional::<List<String>>("disabled_network_modes", "Not these network modes"),
                ],
            ),
        )
        .list_block(
            "node_pool_config",
            0,
            1,
            Block::new(
                "Node pools of the namespace (Nomad Enterprise)",
                [
                    Attribute::defaulted::<String>("default", "Pool of jobs that name none"),
                    Attribute::optional::<Set<String>>("allowed", "Only these pools"),
                    Attribute::optional::<Set<String>>("denied", "Not these pools"),
                ],
            ),
        )
    }

    fn validate(&self, config: &NamespaceObject) -> Diagnostics {
        let pools = config.node_pool_config.elements();
        let both = pools.filter(|pools| pools.allowed != Value::Null && pools.denied != Value::Null);
        both.map(|_| Diagnostic::error("allowed and denied exclude each other").at("node_pool_config"))
            .collect()
    }

    fn import(&self, id: &str) -> Result<NamespaceObject, Diagnostics> {
        Ok(NamespaceObject {
            id: Value::from(id),
            capabilities: Value::from_elements([]),
            node_pool_config: Value::from_elements([]),
            ..NamespaceObject::default()
        })
    }

    async fn read(
        &self,
        context: &Context<'_, Client>,
        mut object: NamespaceObject,
    ) -> Result<Option<NamespaceObject>, Diagnostics> {
        let name = object.id.as_str().unwrap_or_default().to_owned();
        match find(context.client, &name).await? {
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
        change: Change<NamespaceObject>,
    ) -> Result<Planned<NamespaceObject>, Diagnostics> {
        let Change {
            prior,
            config,
            proposed: mut object,
        } = change;
        object.id = object.name.clone();
        if let (Value::Known(blocks), Some(configured)) = (
            &mut object.node_pool_config,
            config.node_pool_config.elements().next(),
        ) {
            for block in blocks.iter_mut() {
                if let (Value::Known(block), Value::Null) = (block, &configured.default) {
                    block.default = Value::from(DEFAULT);
                }
            }
        }
        let mut replace = Vec::new();
        let mut warnings = Vec::new();
        match &prior {
            Some(prior) if prior.name != object.name => replace.push("name"),
            Some(_) => {}
            None => {
                let name = object.name.as_str().filter(|name| *name != DEFAULT);
                if let Some(name) = name
                    && find(context.client, name).await?.is_some()
                {
                    warnings.push(
                        Diagnostic::warning(format!("Namespace {name} exists in Nomad already"))
                            .detail("If it is not in the Terraform state yet, the apply takes it over.")
                            .at("name"),
                    );
                }
            }
        }
        Ok(Planned {
            object,
            replace,
            warnings,
        })
    }

    async fn create(
        &self,
        context: &Context<'_, Client>,
        planned: NamespaceObject,
    ) -> Outcome<NamespaceObject> {
        write(context.client, planned).await
    }

    async fn update(
        &self,
        context: &Context<'_, Client>,
        _prior: NamespaceObject,
        planned: NamespaceObject,
    ) -> Outcome<NamespaceObject> {
        write(context.client, planned).await
    }

    async fn destroy(
        &self,
        context: &Context<'_, Client>,
        object: NamespaceObject,
    ) -> Result<Diagnostics, Diagnostics> {
        let name = object.id.as_str().unwrap_or_default();
        let cannot_delete =
            |error: ApiError| error.diagnostic(format!("Nomad cannot delete namespace {name}"));
        if name == DEFAULT {
            let body = json!({"Name": DEFAULT, "Description": DEFAULT_DESCRIPTION});
            context
                .client
                .ask(Call::put(&["namespace"], body))
                .await
                .map_err(cannot_delete)?;
            return Ok(Diagnostic::warning("Namespace default stays: Nomad needs it")
                .detail("The provider reset its description, metadata and limits.")
                .into());
        }
        let begun = Instant::now();
        let mut patience = None;
        loop {
            match context.client.ask(Call::delete(&["namespace", name])).await {
                Ok(_) => return Ok(Vec::new()),
                Err(error) if error.says("namespace not found") => return Ok(Vec::new()),
                // Allocations of a job that was stopped in the same apply take a moment to end.
                Err(error) if error.says("non-terminal allocations") => {
                    let patience = match patience {
                        Some(known) => known,
                        None => *patience.insert(stopping_in(context.client, name).await),
                    };
                    if begun.elapsed() >= patience {
                        return Err(cannot_delete(error).into());
                    }
                    tokio::select! {
                        () = tokio::time::sleep(Duration::from_secs(1)) => {}
                        () = context.stop.requested() => return Err(cannot_delete(error).into()),
                    }
                }
                Err(error) => return Err(cannot_delete(error).into()),
            }
        }
    }
}

/// How long the allocations of a namespace may still take to end.
async fn stopping_in(client: &Client, namespace: &str) -> Duration {
    let allocations = client.ask(Call::get(&["allocations"]).namespace(namespace)).await;
    stopping::patience(client, namespace, &allocations.unwrap_or_default()).await
}

impl NamespaceObject {
    fn take(&mut self, answer: &Json) {
        self.id = Value::from(text(&answer["Name"]));
        self.name = Value::from(text(&answer["Name"]));
        self.description = Value::read_back(&self.description, text(&answer["Description"]));
        self.quota = Value::read_back(&self.quota, text(&answer["Quota"]));
        self.meta = Value::read_back_entries(&self.meta, strings(&answer["Meta"]));
        self.capabilities = capabilities(&self.capabilities, &answer["Capabilities"]);
        self.node_pool_config = node_pool_config(&self.node_pool_config, &answer["NodePoolConfiguration"]);
    }
}

fn capabilities(before: &Value<List<Capabilities>>, answer: &Json) -> Value<List<Capabilities>> {
    let known = before.elements().next().cloned();
    let was_there = known.is_some();
    let known = known.unwrap_or_default();
    let listed = |before: &Value<List<String>>, answer: &Json| match texts(answer) {
        empty if empty.is_empty() && before == &Value::Null => Value::Null,
        texts => Value::from_elements(texts),
    };
    let now = Capabilities {
        enabled_task_drivers: listed(&known.enabled_task_drivers, &answer["EnabledTaskDrivers"]),
        disabled_task_drivers: listed(&known.disabled_task_drivers, &answer["DisabledTaskDrivers"]),
        enabled_network_modes: listed(&known.enabled_network_modes, &answer["EnabledNetworkModes"]),
        disabled_network_modes: listed(&known.disabled_network_modes, &answer["DisabledNetworkModes"]),
    };
    block(was_there, now, &Capabilities::default())
}

fn node_pool_config(before: &Value<List<NodePoolConfig>>, answer: &Json) -> Value<List<NodePoolConfig>> {
    let known = before.elements().next().cloned();
    let was_there = known.is_some();
    let known = known.unwrap_or_default();
    let members = |before: &Value<Set<String>>, answer: &Json| match texts(answer) {
        empty if empty.is_empty() && before == &Value::Null => Value::Null,
        texts => Value::from_members(texts),
    };
    let now = NodePoolConfig {
        default: Value::read_back(&known.default, text(&answer["Default"])),
        allowed: members(&known.allowed, &answer["Allowed"]),
        denied: members(&known.denied, &answer["Denied"]),
    };
    block(was_there, now, &NodePoolConfig::default())
}

/// A block that nobody wrote stays away as long as it would say nothing.
fn block<T: PartialEq>(was_there: bool, now: T, nothing: &T) -> Value<List<T>> {
    if was_there || now != *nothing {
        Value::from_elements([now])
    } else {
        Value::from_elements([])
    }
}

async fn find(client: &Client, name: &str) -> Result<Option<Json>, Diagnostic> {
    let found = client.find(Call::get(&["namespace", name])).await;
    found.map_err(|error| error.diagnostic(format!("Namespace {name} cannot be read")))
}

async fn write(client: &Client, mut object: NamespaceObject) -> Outcome<NamespaceObject> {
    let name = object.name.as_str().unwrap_or_default().to_owned();
    let written = client.ask(Call::put(&["namespace"], body(&object))).await;
    written.map_err(|error| error.diagnostic(format!("Nomad refuses namespace {name}")))?;
    match find(client, &name).await {
        Ok(Some(answer)) => {
            object.take(&answer);
            Ok(Applied {
                object,
                warnings: Vec::new(),
            })
        }
        Ok(None) => {
            Err(Diagnostic::error(format!("Namespace {name} is gone right after it was written")).into())
        }
        Err(error) => Err(Failed {
            object: Some(Box::new(object)),
            diagnostics: error.into(),
        }),
    }
}

fn body(object: &NamespaceObject) -> Json {
    let meta: serde_json::Map<_, _> = object
        .meta
        .entries()
        .map(|(key, value)| (key.clone(), Json::from(value.as_str())))
        .collect();
    let listed = |list: &Value<List<String>>| list.elements().cloned().collect::<Vec<_>>();
    // Null, not an empty list, where nothing is set: an empty list of allowed pools allows none.
    let members = |set: &Value<Set<String>>| set.known().map(|_| set.elements().cloned().collect::<Vec<_>>());
    json!({
        "Name": object.name.as_str(),
        "Description": object.description.as_str().unwrap_or_default(),
        "Quota": object.quota.as_str().unwrap_or_default(),
        "Meta": meta,
        "Capabilities": object.capabilities.elements().next().map(|block| json!({
            "EnabledTaskDrivers": listed(&block.enabled_task_drivers),
            "DisabledTaskDrivers": listed(&block.disabled_task_drivers),
            "EnabledNetworkModes": listed(&block.enabled_network_modes),
            "DisabledNetworkModes": listed(&block.disabled_network_modes),
        })),
        "NodePoolConfiguration": object.node_pool_config.elements().next().map(|block| json!({
            "Default": block.default.as_str().unwrap_or_default(),
            "Allowed": members(&block.allowed),
            "Denied": members(&block.denied),
        })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Shape;

    #[test]
    fn schema_and_object_have_the_same_shape() {
        assert_eq!(Namespace.schema().shape(), NamespaceObject::shape());
    }

    #[test]
    fn nothing_set_reads_back_as_nothing_set() {
        let mut object = Namespace
            .import("production")
            .expect("every name can be imported");
        object.take(&json!({"Name": "production", "Description": "", "Quota": "", "Meta": null, "Capabilities": null}));
        let bare = NamespaceObject {
            id: Value::from("production"),
            name: Value::from("production"),
            capabilities: Value::from_elements([]),
            node_pool_config: Value::from_elements([]),
            ..NamespaceObject::default()
        };
        assert_eq!(object, bare);
    }

    #[test]
    fn a_limit_set_by_hand_shows() {
        let mut object = Namespace
            .import("production")
            .expect("every name can be imported");
        object.take(&json!({"Name": "production", "Capabilities": {"DisabledTaskDrivers": ["raw_exec"]}}));
        let block = object.capabilities.elements().next().expect("the block appears");
        assert_eq!(
            block.disabled_task_drivers,
            Value::from_elements(["raw_exec".to_owned()])
        );
        assert_eq!(block.enabled_task_drivers, Value::Null);
    }
}
