//! Owns schemas: which attributes and blocks a provider or a resource has, in Terraform's terms.

use serde_json::Value as Json;

use crate::protocol::messages;
use crate::value::{Shape, Type};

/// The attributes and nested blocks of a provider, a resource or a nested block.
#[derive(Debug)]
pub struct Block {
    description: &'static str,
    attributes: Vec<Attribute>,
    blocks: Vec<NestedBlock>,
}

#[derive(Debug)]
pub struct Attribute {
    name: &'static str,
    ty: Type,
    setting: Setting,
    sensitive: bool,
    description: &'static str,
}

/// Who gives an attribute its value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Setting {
    Required,
    Optional,
    /// The configuration may set it; if it does not, the plan does.
    Defaulted,
    Computed,
}

#[derive(Debug)]
struct NestedBlock {
    name: &'static str,
    block: Block,
    nesting: Nesting,
    min: i64,
    /// 0: no limit.
    max: i64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Nesting {
    Single,
    List,
    Set,
}

impl Attribute {
    fn new<T: Shape>(name: &'static str, setting: Setting, description: &'static str) -> Self {
        Self {
            name,
            ty: T::shape(),
            setting,
            sensitive: false,
            description,
        }
    }

    pub fn required<T: Shape>(name: &'static str, description: &'static str) -> Self {
        Self::new::<T>(name, Setting::Required, description)
    }

    pub fn optional<T: Shape>(name: &'static str, description: &'static str) -> Self {
        Self::new::<T>(name, Setting::Optional, description)
    }

    pub fn defaulted<T: Shape>(name: &'static str, description: &'static str) -> Self {
        Self::new::<T>(name, Setting::Defaulted, description)
    }

    pub fn computed<T: Shape>(name: &'static str, description: &'static str) -> Self {
        Self::new::<T>(name, Setting::Computed, description)
    }

    pub fn sensitive(mut self) -> Self {
        self.sensitive = true;
        self
    }
}

impl Block {
    pub fn new(description: &'static str, attributes: impl IntoIterator<Item = Attribute>) -> Self {
        Self {
            description,
            attributes: attributes.into_iter().collect(),
            blocks: Vec::new(),
        }
    }

    /// Adds a block that may stand once and is an object, not a list.
    pub fn single_block(mut self, name: &'static str, block: Block) -> Self {
        self.blocks.push(NestedBlock {
            name,
            block,
            nesting: Nesting::Single,
            min: 0,
            max: 0,
        });
        self
    }

    /// Adds a block that may be repeated from `min` to `max` times (0: no limit).
    pub fn list_block(mut self, name: &'static str, min: i64, max: i64, block: Block) -> Self {
        self.blocks.push(NestedBlock {
            name,
            block,
            nesting: Nesting::List,
            min,
            max,
        });
        self
    }

    /// Adds a block that may be repeated without limit, and whose order means nothing.
    pub fn set_block(mut self, name: &'static str, block: Block) -> Self {
        self.blocks.push(NestedBlock {
            name,
            block,
            nesting: Nesting::Set,
            min: 0,
            max: 0,
        });
        self
    }

    /// The type of an object that has this schema.
    pub fn shape(&self) -> Type {
        let attributes = self.attributes.iter().map(|a| (a.name.to_owned(), a.ty.clone()));
        let blocks = self.blocks.iter().map(|b| {
            let shape = b.block.shape();
            let shape = match b.nesting {
                Nesting::Single => shape,
                Nesting::List => Type::List(Box::new(shape)),
                Nesting::Set => Type::Set(Box::new(shape)),
            };
            (b.name.to_owned(), shape)
        });
        Type::Object(attributes.chain(blocks).collect())
    }

    fn to_message_block(&self) -> messages::SchemaBlock {
        let attribute = |a: &Attribute| messages::SchemaAttribute {
            name: a.name.to_owned(),
            r#type: a.ty.to_json().to_string().into_bytes(),
            description: a.description.to_owned(),
            required: a.setting == Setting::Required,
            optional: matches!(a.setting, Setting::Optional | Setting::Defaulted),
            computed: matches!(a.setting, Setting::Computed | Setting::Defaulted),
            sensitive: a.sensitive,
        };
        let nested = |b: &NestedBlock| messages::SchemaNestedBlock {
            type_name: b.name.to_owned(),
            block: Some(b.block.to_message_block()),
            nesting: match b.nesting {
                Nesting::Single => messages::NestingMode::Single,
                Nesting::List => messages::NestingMode::List,
                Nesting::Set => messages::NestingMode::Set,
            }
            .into(),
            min_items: b.min,
            max_items: b.max,
        };
        messages::SchemaBlock {
            attributes: self.attributes.iter().map(attribute).collect(),
            block_types: self.blocks.iter().map(nested).collect(),
            description: self.description.to_owned(),
        }
    }

    /// The schema as Terraform asks for it.
    pub fn to_message(&self, version: i64) -> messages::Schema {
        messages::Schema {
            version,
            block: Some(self.to_message_block()),
        }
    }

    /// One line for each attribute and block, for comparison with a table of the published schema.
    #[cfg(test)]
    pub fn table(&self) -> Vec<String> {
        let mut lines = Vec::new();
        self.table_lines("", &mut lines);
        lines.sort();
        lines
    }

    #[cfg(test)]
    fn table_lines(&self, prefix: &str, lines: &mut Vec<String>) {
        for a in &self.attributes {
            let setting = match a.setting {
                Setting::Required => "required",
                // The published tables do not tell whether an optional attribute is computed too.
                Setting::Optional | Setting::Defaulted => "optional",
                Setting::Computed => "computed",
            };
            let ty = a.ty.to_json().to_string().replace('"', "");
            lines.push(format!("{prefix}{} {setting} {ty}", a.name));
        }
        for b in &self.blocks {
            let nesting = match b.nesting {
                Nesting::Single => "single",
                Nesting::List => "list",
                Nesting::Set => "set",
            };
            let required = if b.min > 0 { "required" } else { "optional" };
            let most = if b.max == 1 || b.nesting == Nesting::Single {
                "one"
            } else {
                "many"
            };
            lines.push(format!("{prefix}{} {required} block {nesting} {most}", b.name));
            b.block.table_lines(&format!("{prefix}{}.", b.name), lines);
        }
    }
}

/// Fits a stored object to a type: what the type does not name is dropped, and a list that is missing
/// (a block that was never written) is empty. Values are left as they are.
pub fn fit(stored: Json, shape: &Type) -> Json {
    match (stored, shape) {
        (Json::Object(mut stored), Type::Object(attributes)) => Json::Object(
            attributes
                .iter()
                .map(|(name, ty)| fit_attribute(name, ty, &mut stored))
                .collect(),
        ),
        (Json::Object(entries), Type::Map(element)) => Json::Object(
            entries
                .into_iter()
                .map(|(key, value)| (key, fit(value, element)))
                .collect(),
        ),
        (Json::Array(elements), Type::List(element) | Type::Set(element)) => {
            Json::Array(elements.into_iter().map(|value| fit(value, element)).collect())
        }
        (other, _) => other,
    }
}

fn fit_attribute(name: &str, ty: &Type, stored: &mut serde_json::Map<String, Json>) -> (String, Json) {
    let missing = || match ty {
        Type::List(element) | Type::Set(element) if matches!(**element, Type::Object(_)) => {
            Json::Array(Vec::new())
        }
        _ => Json::Null,
    };
    let value = stored
        .remove(name)
        .filter(|value| !value.is_null())
        .unwrap_or_else(missing);
    (name.to_owned(), fit(value, ty))
}

/// Comparison with the schema of a published provider, for tests.
#[cfg(test)]
pub mod published {
    use std::collections::BTreeMap;

    use crate::provider::Provider;

    /// Compares names and types with a list of what is published: one line an attribute or block.
    pub fn compare<C>(provider: &Provider<C>, list: &str) {
        let mut published: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut section = "";
        for line in list.lines() {
            match line.split_once('#').map_or(line, |(text, _)| text).trim() {
                "" => {}
                name if name.ends_with(':') => section = name.trim_end_matches(':'),
                entry => published.entry(section).or_default().push(entry.to_owned()),
            }
        }
        published.values_mut().for_each(|lines| lines.sort());

        let mut ours: BTreeMap<&str, Vec<String>> = provider
            .resources
            .iter()
            .map(|resource| (resource.name(), resource.schema().table()))
            .collect();
        ours.insert("provider", provider.configuration.schema().table());
        assert_eq!(ours, published);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::value::{List, Map, object};

    object! {
        pub struct Inside {
            vars: Map<String>,
        }
    }

    fn block() -> Block {
        Block::new(
            "",
            [
                Attribute::required::<String>("name", ""),
                Attribute::optional::<List<String>>("ids", ""),
            ],
        )
        .list_block(
            "inside",
            0,
            1,
            Block::new("", [Attribute::optional::<Map<String>>("vars", "")]),
        )
    }

    #[test]
    fn the_shape_of_a_schema_is_the_shape_of_its_object() {
        object! {
            pub struct Whole {
                name: String,
                ids: List<String>,
                inside: List<Inside>,
            }
        }
        assert_eq!(block().shape(), Whole::shape());
    }

    #[test]
    fn a_stored_object_loses_only_what_the_schema_does_not_name() {
        let stored = json!({"name": "web", "vault_token": "x", "inside": [{"vars": {"a": "1"}, "old": 1}]});
        let fitted = fit(stored, &block().shape());
        assert_eq!(
            fitted,
            json!({"ids": null, "inside": [{"vars": {"a": "1"}}], "name": "web"})
        );
    }

    #[test]
    fn a_block_that_was_never_stored_is_an_empty_list() {
        assert_eq!(fit(json!({"name": "web"}), &block().shape())["inside"], json!([]));
        assert_eq!(
            fit(json!({"inside": null}), &block().shape())["inside"],
            json!([])
        );
    }
}
