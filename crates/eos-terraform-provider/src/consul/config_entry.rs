//! Owns the resource `consul_config_entry`: a config entry in Consul, such as who may speak to a service.

use serde_json::Value as Json;

use super::entry::{differences, member, readable};
use super::{located, refused};
use crate::api::{Api, ApiError, Call};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::provider::{Applied, Change, Context, Failed, Outcome, Planned, Resource};
use crate::schema::{Attribute, Block};
use crate::value::{Value, object};

const INTENTIONS: &str = "service-intentions";
const SERVICE: &str = "service-defaults";
const PROXY: &str = "proxy-defaults";
/// The kinds whose comparison was tried with a real Consul.
const KINDS: [&str; 3] = [INTENTIONS, SERVICE, PROXY];
/// There is one entry of kind `proxy-defaults`, and this is its name.
const PROXY_NAME: &str = "global";

pub struct ConfigEntry;

object! {
    pub struct ConfigEntryObject {
        id: String,
        kind: String,
        name: String,
        namespace: String,
        partition: String,
        config_json: String,
    }
}

impl Resource for ConfigEntry {
    type Client = Api;
    type Object = ConfigEntryObject;

    const NAME: &'static str = "consul_config_entry";

    fn schema(&self) -> Block {
        Block::new(
            "A config entry in Consul",
            [
                Attribute::defaulted::<String>("id", "KIND-NAME"),
                Attribute::required::<String>(
                    "kind",
                    "service-intentions, service-defaults or proxy-defaults",
                ),
                Attribute::required::<String>("name", "Name of the service, or global for proxy-defaults"),
                Attribute::optional::<String>("namespace", "Namespace of the entry (Consul Enterprise)"),
                Attribute::optional::<String>("partition", "Partition of the entry (Consul Enterprise)"),
                Attribute::optional::<String>("config_json", "The entry without kind and name, as JSON"),
            ],
        )
    }

    fn validate(&self, config: &ConfigEntryObject) -> Diagnostics {
        let mut found = Vec::new();
        if let Some(kind) = config.kind.as_str() {
            found.extend(unknown_kind(kind).map(|wrong| wrong.at("kind")));
            if kind == PROXY && config.name.as_str().is_some_and(|name| name != PROXY_NAME) {
                found.push(
                    Diagnostic::error("The one entry of kind proxy-defaults has the name global").at("name"),
                );
            }
        }
        match &config.config_json {
            Value::Known(text) => found.extend(parse(text).err()),
            Value::Null => found.push(
                Diagnostic::error("A config entry needs config_json")
                    .hint("config_json = jsonencode({ Sources = [...] })")
                    .at("config_json"),
            ),
            Value::Unknown => {}
        }
        found
    }

    /// `KIND/NAME` or `PARTITION/NAMESPACE/KIND/NAME`.
    fn import(&self, id: &str) -> Result<ConfigEntryObject, Diagnostics> {
        let parts: Vec<&str> = id.split('/').collect();
        let (partition, namespace, kind, name) = match parts[..] {
            [kind, name] => (Value::Null, Value::Null, kind, name),
            [partition, namespace, kind, name] => {
                (Value::from(partition), Value::from(namespace), kind, name)
            }
            _ => {
                return Err(
                    Diagnostic::error(format!("Import id {id} is not of the form KIND/NAME"))
                        .hint("In another partition or namespace: PARTITION/NAMESPACE/KIND/NAME")
                        .into(),
                );
            }
        };
        if let Some(wrong) = unknown_kind(kind) {
            return Err(wrong.into());
        }
        Ok(ConfigEntryObject {
            id: id_of(kind, name),
            kind: Value::from(kind),
            name: Value::from(name),
            namespace,
            partition,
            config_json: Value::Null,
        })
    }

    async fn read(
        &self,
        context: &Context<'_, Api>,
        mut object: ConfigEntryObject,
    ) -> Result<Option<ConfigEntryObject>, Diagnostics> {
        let Some(kept) = object.find(context.client).await? else {
            return Ok(None);
        };
        let written = object.written();
        let is_same = written
            .as_ref()
            .is_some_and(|written| differences(written, &kept).is_empty());
        // The text stays as it was written as long as it says what Consul keeps.
        if !is_same {
            object.config_json = Value::Known(readable(&kept, written.as_ref()).to_string());
        }
        Ok(Some(object))
    }

    async fn plan(
        &self,
        context: &Context<'_, Api>,
        change: Change<ConfigEntryObject>,
    ) -> Result<Planned<ConfigEntryObject>, Diagnostics> {
        let Change {
            prior,
            config: _,
            proposed: mut object,
        } = change;
        object.id = match (object.kind.as_str(), object.name.as_str()) {
            (Some(kind), Some(name)) => id_of(kind, name),
            _ => Value::Unknown,
        };
        let mut replace = Vec::new();
        let mut warnings = Vec::new();
        match prior {
            Some(prior) => {
                for (attribute, before, after) in [
                    ("kind", &prior.kind, &object.kind),
                    ("name", &prior.name, &object.name),
                    ("namespace", &prior.namespace, &object.namespace),
                    ("partition", &prior.partition, &object.partition),
                ] {
                    if before != after {
                        replace.push(attribute);
                    }
                }
                // Other words for what Consul keeps already are no change.
                if replace.is_empty()
                    && object.config_json != prior.config_json
                    && let (Some(wanted), Some(before)) = (object.written(), prior.written())
                    && let Some(kept) = prior.find(context.client).await?
                    && differences(&wanted, &kept).is_empty()
                    && differences(&before, &kept).is_empty()
                {
                    object.config_json = prior.config_json;
                }
            }
            None => {
                if !object.id.is_unknown() && object.find(context.client).await?.is_some() {
                    warnings.push(
                        Diagnostic::warning(format!("Consul has {} already", object.title()))
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
        context: &Context<'_, Api>,
        planned: ConfigEntryObject,
    ) -> Outcome<ConfigEntryObject> {
        planned.write(context.client).await
    }

    async fn update(
        &self,
        context: &Context<'_, Api>,
        _prior: ConfigEntryObject,
        planned: ConfigEntryObject,
    ) -> Outcome<ConfigEntryObject> {
        planned.write(context.client).await
    }

    async fn destroy(
        &self,
        context: &Context<'_, Api>,
        object: ConfigEntryObject,
    ) -> Result<Diagnostics, Diagnostics> {
        // Consul answers the same whether there was an entry or not.
        let deleted = context
            .client
            .ask(object.located(Call::delete(&object.path())))
            .await;
        deleted.map_err(|error| {
            object.refused(
                &error,
                format!("Consul cannot delete {}", object.title()),
                "write",
            )
        })?;
        Ok(Vec::new())
    }
}

impl ConfigEntryObject {
    fn kind(&self) -> &str {
        self.kind.as_str().unwrap_or_default()
    }

    fn name(&self) -> &str {
        self.name.as_str().unwrap_or_default()
    }

    fn title(&self) -> String {
        format!("config entry {}/{}", self.kind(), self.name())
    }

    fn path(&self) -> [&str; 3] {
        ["config", self.kind(), self.name()]
    }

    /// What the configuration says; nothing if it is not known, or is no entry.
    fn written(&self) -> Option<Json> {
        parse(self.config_json.as_str()?).ok()
    }

    fn located<'a>(&self, call: Call<'a>) -> Call<'a> {
        located(call, &self.namespace, &self.partition)
    }

    async fn find(&self, client: &Api) -> Result<Option<Json>, Diagnostic> {
        let found = client.find(self.located(Call::get(&self.path()))).await;
        found.map_err(|error| self.refused(&error, format!("Consul cannot read {}", self.title()), "read"))
    }

    /// Writes the entry, and reads back that Consul keeps what was written.
    async fn write(self, client: &Api) -> Outcome<Self> {
        let written = parse(self.config_json.as_str().unwrap_or_default())?;
        let mut body = written.clone();
        body["Kind"] = Json::from(self.kind());
        body["Name"] = Json::from(self.name());
        let call = self.located(Call::put(&["config"], body));
        let title = self.title();
        if let Err(error) = client.ask(call).await {
            return Err(self
                .refused(&error, format!("Consul refuses {title}"), "write")
                .into());
        }
        let wrong = match self.find(client).await {
            Ok(Some(kept)) => match differences(&written, &kept) {
                places if places.is_empty() => None,
                places => Some(
                    Diagnostic::error(format!(
                        "Consul stores {title} with other values than the provider \
                        wrote"
                    ))
                    .detail(format!("Differences: {}", places.join(", ")))
                    .hint(format!(
                        "Write them as Consul does: {}",
                        readable(&kept, Some(&written))
                    ))
                    .at("config_json"),
                ),
            },
            Ok(None) => {
                return Err(
                    Diagnostic::error(format!("Consul lost {title} right after it was written")).into(),
                );
            }
            Err(error) => Some(error),
        };
        match wrong {
            None => Ok(Applied {
                object: self,
                warnings: Vec::new(),
            }),
            Some(wrong) => Err(Failed {
                object: Some(Box::new(self)),
                diagnostics: wrong.into(),
            }),
        }
    }

    fn refused(&self, error: &ApiError, summary: String, access: &str) -> Diagnostic {
        let name = self.name();
        let rule = match self.kind() {
            INTENTIONS => format!("service \"{name}\" {{ policy = \"read\", intentions = \"{access}\" }}"),
            PROXY => format!("mesh = \"{access}\""),
            _ => format!("service \"{name}\" {{ policy = \"{access}\" }}"),
        };
        refused(error, summary, &rule)
    }
}

fn id_of(kind: &str, name: &str) -> Value<String> {
    Value::Known(format!("{kind}-{name}"))
}

fn unknown_kind(kind: &str) -> Option<Diagnostic> {
    (!KINDS.contains(&kind)).then(|| {
        Diagnostic::error(format!("This provider has no config entries of kind {kind}"))
            .hint(format!("It has {}", KINDS.join(", ")))
    })
}

/// The object in `config_json`.
fn parse(text: &str) -> Result<Json, Diagnostic> {
    let wrong = |summary: String| Diagnostic::error(summary).at("config_json");
    let entry: Json =
        serde_json::from_str(text).map_err(|error| wrong(format!("config_json is not JSON: {error}")))?;
    if !entry.is_object() {
        return Err(wrong("config_json is not a JSON object".to_owned()));
    }
    for (field, attribute) in [("Kind", "kind"), ("Name", "name")] {
        if member(&entry, field).is_some() {
            return Err(wrong(format!(
                "config_json holds {field}, which is the attribute {attribute}"
            )));
        }
    }
    Ok(entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Shape;

    fn entry(kind: &str, name: &str, config_json: &str) -> ConfigEntryObject {
        ConfigEntryObject {
            kind: Value::from(kind),
            name: Value::from(name),
            config_json: Value::from(config_json),
            ..ConfigEntryObject::default()
        }
    }

    #[test]
    fn schema_and_object_have_the_same_shape() {
        assert_eq!(ConfigEntry.schema().shape(), ConfigEntryObject::shape());
    }

    #[test]
    fn a_configuration_that_cannot_work_is_refused_without_consul() {
        let text = |object: &ConfigEntryObject| -> Vec<String> {
            ConfigEntry
                .validate(object)
                .iter()
                .map(Diagnostic::text)
                .collect()
        };
        assert!(text(&entry(INTENTIONS, "api", "{\"Sources\": []}")).is_empty());
        for (object, words) in [
            (
                entry("ingress-gateway", "g", "{}"),
                "no config entries of kind ingress-gateway",
            ),
            (entry(PROXY, "web", "{}"), "has the name global"),
            (entry(SERVICE, "web", "{"), "config_json is not JSON: "),
            (entry(SERVICE, "web", "[]"), "config_json is not a JSON object"),
            (
                entry(SERVICE, "web", "{\"kind\": \"x\"}"),
                "holds Kind, which is the attribute kind",
            ),
        ] {
            let found = text(&object);
            assert!(found.len() == 1 && found[0].contains(words), "{words}: {found:?}");
        }
        let missing = ConfigEntryObject {
            config_json: Value::Null,
            ..entry(SERVICE, "web", "")
        };
        assert_eq!(text(&missing).len(), 1);
        let unknown = ConfigEntryObject {
            config_json: Value::Unknown,
            name: Value::Unknown,
            ..entry(PROXY, "", "")
        };
        assert!(text(&unknown).is_empty());
    }

    #[test]
    fn an_import_id_names_kind_and_name() {
        let imported = ConfigEntry
            .import("service-intentions/api")
            .expect("the form is right");
        assert_eq!(imported.id, Value::from("service-intentions-api"));
        assert_eq!((imported.kind(), imported.name()), (INTENTIONS, "api"));
        let elsewhere = ConfigEntry
            .import("p/n/service-defaults/web")
            .expect("the form is right");
        assert_eq!(elsewhere.partition, Value::from("p"));
        assert_eq!(elsewhere.namespace, Value::from("n"));
        for id in ["api", "a/b/c", "ingress-gateway/g"] {
            assert!(ConfigEntry.import(id).is_err(), "{id}");
        }
    }
}
