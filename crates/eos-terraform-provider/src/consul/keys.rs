//! Owns the resource `consul_keys`: keys in Consul's key/value store, written.
//!
//! The published resource also reads keys for other resources to use, which it calls deprecated itself; that
//! part is not here.
//!
//! Nothing that Eos emits has one yet. It is here for modules of somebody's own: what running tasks read as their settings
//! belongs in Consul's store, and a laboratory reaches no other provider for it.

use std::collections::BTreeSet;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::{located, refused};
use crate::api::{Api, Call, text};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::provider::{Applied, Change, Context, Failed, Outcome, Planned, Resource};
use crate::schema::{Attribute, Block};
use crate::value::{Set, Value, object};

/// The published provider's id of every such resource.
const ID: &str = "consul";

pub struct Keys;

object! {
    pub struct KeysObject {
        id: String,
        datacenter: String,
        namespace: String,
        partition: String,
        key: Set<Key>,
    }
}

object! {
    pub struct Key {
        path: String,
        value: String,
        flags: i64,
        delete: bool,
    }
}

impl Resource for Keys {
    type Client = Api;
    type Object = KeysObject;

    const NAME: &'static str = "consul_keys";
    const SCHEMA_VERSION: i64 = 1;

    fn schema(&self) -> Block {
        Block::new(
            "Keys in Consul's key/value store",
            [
                Attribute::defaulted::<String>("id", "Always consul"),
                Attribute::defaulted::<String>(
                    "datacenter",
                    "Datacenter of the keys; the provider's if not set",
                ),
                Attribute::optional::<String>("namespace", "Namespace of the keys (Consul Enterprise)"),
                Attribute::optional::<String>("partition", "Partition of the keys (Consul Enterprise)"),
            ],
        )
        .set_block(
            "key",
            Block::new(
                "One key",
                [
                    Attribute::required::<String>("path", "The key, such as app/settings/level"),
                    Attribute::optional::<String>("value", "Its value"),
                    Attribute::optional::<i64>("flags", "A number that is kept with the value; 0 if not set"),
                    Attribute::optional::<bool>(
                        "delete",
                        "Delete the key when this block or the resource goes",
                    ),
                ],
            ),
        )
    }

    fn validate(&self, config: &KeysObject) -> Diagnostics {
        let mut found = Vec::new();
        let mut paths = BTreeSet::new();
        for key in config.key.elements() {
            if let Some(path) = key.path.as_str() {
                if path.split('/').any(|part| matches!(part, "." | ".."))
                    || path.starts_with('/')
                    || path.is_empty()
                {
                    found.push(Diagnostic::error(format!("Consul cannot have the key {path:?}")).at("key"));
                }
                if !paths.insert(path) {
                    found.push(Diagnostic::error(format!("Two blocks write the key {path}")).at("key"));
                }
            }
            if key.value == Value::Null {
                found.push(
                    Diagnostic::error(format!("Key {} has no value", key.name()))
                        .hint("This provider writes keys; it does not read them for other resources")
                        .at("key"),
                );
            }
        }
        found
    }

    fn import(&self, _id: &str) -> Result<KeysObject, Diagnostics> {
        Err(Diagnostic::error("A consul_keys cannot be imported")
            .hint("Apply it: a key that has the value already stays as it is")
            .into())
    }

    /// A key that is gone is left out, so that it is planned again.
    async fn read(
        &self,
        context: &Context<'_, Api>,
        mut object: KeysObject,
    ) -> Result<Option<KeysObject>, Diagnostics> {
        let mut kept = Vec::new();
        for key in object.key.elements() {
            kept.extend(object.find(context.client, key).await?);
        }
        object.set(kept);
        Ok(Some(object))
    }

    async fn plan(
        &self,
        _context: &Context<'_, Api>,
        change: Change<KeysObject>,
    ) -> Result<Planned<KeysObject>, Diagnostics> {
        let mut object = change.proposed;
        object.id = Value::from(ID);
        if object.datacenter.is_unknown() && change.config.datacenter == Value::Null {
            object.datacenter = Value::Null;
        }
        let mut replace = Vec::new();
        if let Some(prior) = change.prior {
            for (attribute, before, after) in [
                ("datacenter", &prior.datacenter, &object.datacenter),
                ("namespace", &prior.namespace, &object.namespace),
                ("partition", &prior.partition, &object.partition),
            ] {
                if before != after {
                    replace.push(attribute);
                }
            }
        }
        Ok(Planned {
            object,
            replace,
            warnings: Vec::new(),
        })
    }

    async fn create(&self, context: &Context<'_, Api>, planned: KeysObject) -> Outcome<KeysObject> {
        planned.write(context.client, Vec::new()).await
    }

    async fn update(
        &self,
        context: &Context<'_, Api>,
        prior: KeysObject,
        planned: KeysObject,
    ) -> Outcome<KeysObject> {
        let before = prior.key.elements().cloned().collect();
        planned.write(context.client, before).await
    }

    async fn destroy(
        &self,
        context: &Context<'_, Api>,
        object: KeysObject,
    ) -> Result<Diagnostics, Diagnostics> {
        for key in object.key.elements().filter(|key| key.delete.is_true()) {
            object.remove(context.client, key).await?;
        }
        Ok(Vec::new())
    }
}

impl Key {
    fn name(&self) -> &str {
        self.path.as_str().unwrap_or_default()
    }

    /// Consul does not tell flags that are not set from zero.
    fn says_the_same(&self, other: &Key) -> bool {
        let flags = |key: &Key| key.flags.known().copied().unwrap_or_default();
        self.value == other.value && flags(self) == flags(other)
    }

    fn rule(&self, access: &str) -> String {
        format!("key \"{}\" {{ policy = \"{access}\" }}", self.name())
    }
}

impl KeysObject {
    fn set(&mut self, keys: Vec<Key>) {
        self.key = Value::Known(Set(keys.into_iter().map(Value::Known).collect()));
    }

    fn located<'a>(&self, call: Call<'a>) -> Call<'a> {
        let call = match self.datacenter.as_str() {
            Some(datacenter) if !datacenter.is_empty() => call.query("dc", datacenter),
            _ => call,
        };
        located(call, &self.namespace, &self.partition)
    }

    /// The key as Consul has it now.
    async fn find(&self, client: &Api, key: &Key) -> Result<Option<Key>, Diagnostic> {
        let path = path(key);
        let found = client.find(self.located(Call::get(&path))).await;
        let summary = || format!("Consul cannot read key {}", key.name());
        let Some(answer) = found.map_err(|error| refused(&error, summary(), &key.rule("read")))? else {
            return Ok(None);
        };
        let decoded = BASE64_STANDARD.decode(text(&answer[0]["Value"]));
        let value = decoded.map_err(|error| Diagnostic::error(summary()).detail(error.to_string()))?;
        let flags = match (&key.flags, answer[0]["Flags"].as_i64()) {
            (Value::Null, Some(0)) => Value::Null,
            (_, flags) => Value::from(flags),
        };
        Ok(Some(Key {
            path: key.path.clone(),
            value: Value::Known(String::from_utf8_lossy(&value).into_owned()),
            flags,
            delete: key.delete.clone(),
        }))
    }

    async fn put(&self, client: &Api, key: &Key) -> Result<(), Diagnostic> {
        let name = key.name();
        let call = Call::put_text(&path(key), key.value.as_str().unwrap_or_default()).query(
            "flags",
            key.flags.known().copied().unwrap_or_default().to_string(),
        );
        let written = client.ask(self.located(call)).await;
        written.map_err(|error| refused(&error, format!("Consul refuses key {name}"), &key.rule("write")))?;
        match self.find(client, key).await? {
            Some(kept) if kept.says_the_same(key) => Ok(()),
            _ => Err(Diagnostic::error(format!(
                "Consul stores key {name} with another value than the provider \
                    wrote"
            ))
            .hint("Another client may write it")),
        }
    }

    async fn remove(&self, client: &Api, key: &Key) -> Result<(), Diagnostic> {
        let removed = client.ask(self.located(Call::delete(&path(key)))).await;
        removed.map(drop).map_err(|error| {
            let summary = format!("Consul cannot delete key {}", key.name());
            refused(&error, summary, &key.rule("write"))
        })
    }

    /// Writes what is new or changed, then deletes what is no longer there, so that a key that gets another
    /// name is never missing under both.
    async fn write(mut self, client: &Api, before: Vec<Key>) -> Outcome<Self> {
        let wanted: Vec<Key> = self.key.elements().cloned().collect();
        let mut there = before;
        let outcome = self.bring_about(client, &wanted, &mut there).await;
        match outcome {
            Ok(()) => Ok(Applied {
                object: self,
                warnings: Vec::new(),
            }),
            Err(wrong) => {
                self.set(there);
                Err(Failed {
                    object: Some(Box::new(self)),
                    diagnostics: wrong.into(),
                })
            }
        }
    }

    /// `there` is what Consul has, before, after, and after an error.
    async fn bring_about(
        &self,
        client: &Api,
        wanted: &[Key],
        there: &mut Vec<Key>,
    ) -> Result<(), Diagnostic> {
        for key in wanted {
            let place = there.iter().position(|other| other.path == key.path);
            if place.is_none_or(|place| !there[place].says_the_same(key)) {
                self.put(client, key).await?;
            }
            match place {
                Some(place) => there[place] = key.clone(),
                None => there.push(key.clone()),
            }
        }
        while let Some(place) = there
            .iter()
            .position(|key| !wanted.iter().any(|wanted| wanted.path == key.path))
        {
            if there[place].delete.is_true() {
                self.remove(client, &there[place]).await?;
            }
            there.remove(place);
        }
        Ok(())
    }
}

fn path(key: &Key) -> Vec<&str> {
    std::iter::once("kv").chain(key.name().split('/')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Shape;

    #[test]
    fn schema_and_object_have_the_same_shape() {
        assert_eq!(Keys.schema().shape(), KeysObject::shape());
    }

    #[test]
    fn keys_that_cannot_be_written_are_refused_without_consul() {
        let key = |path: &str, value: Value<String>| Key {
            path: Value::from(path),
            value,
            ..Key::default()
        };
        let count = |keys: Vec<Key>| {
            let mut object = KeysObject::default();
            object.set(keys);
            Keys.validate(&object).len()
        };
        assert_eq!(
            count(vec![key("a/b", Value::from("")), key("a/c/", Value::Unknown)]),
            0
        );
        for path in ["", "/a", "a/../b", "."] {
            assert_eq!(count(vec![key(path, Value::from("x"))]), 1, "{path:?}");
        }
        assert_eq!(count(vec![key("a", Value::Null)]), 1);
        assert_eq!(
            count(vec![key("a", Value::from("1")), key("a", Value::from("2"))]),
            1
        );
    }
}
