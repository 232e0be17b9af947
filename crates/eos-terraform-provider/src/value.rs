//! Owns typed values: what Terraform sends as MessagePack becomes a Rust type whose every attribute is
//! known, null or unknown, and goes back the same way.

use std::collections::BTreeMap;

use rmpv::Value as Packed;
use serde_json::{Value as Json, json};

/// An attribute: set, not set, or not known before the apply.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value<T> {
    Unknown,
    #[default]
    Null,
    Known(T),
}

/// A list whose elements may be unknown one by one.
pub type List<T> = Vec<Value<T>>;

/// A map whose elements may be unknown one by one.
pub type Map<T> = BTreeMap<String, Value<T>>;

/// A set: Terraform sends it like a list, but its order means nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Set<T>(pub Vec<Value<T>>);

impl<T> Value<T> {
    pub fn known(&self) -> Option<&T> {
        match self {
            Value::Known(value) => Some(value),
            Value::Null | Value::Unknown => None,
        }
    }

    pub fn is_unknown(&self) -> bool {
        matches!(self, Value::Unknown)
    }
}

impl<T> From<Option<T>> for Value<T> {
    fn from(option: Option<T>) -> Self {
        option.map_or(Value::Null, Value::Known)
    }
}

impl From<&str> for Value<String> {
    fn from(text: &str) -> Self {
        Value::Known(text.to_owned())
    }
}

impl Value<String> {
    pub fn as_str(&self) -> Option<&str> {
        self.known().map(String::as_str)
    }

    /// What an engine that does not tell "empty" from "not set" answered, in the words of `before`.
    pub fn read_back(before: &Self, answer: &str) -> Self {
        match (before, answer) {
            (Value::Null | Value::Unknown, "") => Value::Null,
            _ => Value::from(answer),
        }
    }
}

impl Value<bool> {
    /// Whether the flag is set; null counts as not set.
    pub fn is_true(&self) -> bool {
        self.known() == Some(&true)
    }
}

impl<T> Value<List<T>> {
    /// The known elements of a list; none if the list itself is null or unknown.
    pub fn elements(&self) -> impl Iterator<Item = &T> {
        self.known().into_iter().flatten().filter_map(Value::known)
    }

    pub fn from_elements(elements: impl IntoIterator<Item = T>) -> Self {
        Value::Known(elements.into_iter().map(Value::Known).collect())
    }
}

impl<T> Value<Set<T>> {
    pub fn elements(&self) -> impl Iterator<Item = &T> {
        self.known()
            .into_iter()
            .flat_map(|set| &set.0)
            .filter_map(Value::known)
    }
}

impl<T: Ord> Value<Set<T>> {
    /// A set in sorted order, so that equal sets are equal values.
    pub fn from_members(members: impl IntoIterator<Item = T>) -> Self {
        let mut members: Vec<T> = members.into_iter().collect();
        members.sort();
        Value::Known(Set(members.into_iter().map(Value::Known).collect()))
    }
}

impl<T> Value<Map<T>> {
    /// The known entries of a map; none if the map itself is null or unknown.
    pub fn entries(&self) -> impl Iterator<Item = (&String, &T)> {
        self.known()
            .into_iter()
            .flatten()
            .filter_map(|(key, value)| Some((key, value.known()?)))
    }

    pub fn from_entries(entries: impl IntoIterator<Item = (String, T)>) -> Self {
        Value::Known(
            entries
                .into_iter()
                .map(|(key, value)| (key, Value::Known(value)))
                .collect(),
        )
    }

    /// As [`Value::<String>::read_back`], for maps.
    pub fn read_back_entries(before: &Self, answer: impl IntoIterator<Item = (String, T)>) -> Self {
        match (before, Value::from_entries(answer)) {
            (Value::Null | Value::Unknown, Value::Known(map)) if map.is_empty() => Value::Null,
            (_, answer) => answer,
        }
    }
}

/// Terraform's type of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    String,
    Number,
    Bool,
    List(Box<Type>),
    Set(Box<Type>),
    Map(Box<Type>),
    Object(BTreeMap<String, Type>),
}

impl Type {
    /// The type as Terraform writes it in a schema.
    pub fn to_json(&self) -> Json {
        match self {
            Type::String => json!("string"),
            Type::Number => json!("number"),
            Type::Bool => json!("bool"),
            Type::List(element) => json!(["list", element.to_json()]),
            Type::Set(element) => json!(["set", element.to_json()]),
            Type::Map(element) => json!(["map", element.to_json()]),
            Type::Object(attributes) => {
                let attributes: serde_json::Map<_, _> = attributes
                    .iter()
                    .map(|(name, ty)| (name.clone(), ty.to_json()))
                    .collect();
                json!(["object", attributes])
            }
        }
    }
}

/// A MessagePack value that is not of the type the schema promises.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("expected {expected}, found {found}{}", place(.within))]
pub struct Mismatch {
    expected: &'static str,
    found: String,
    within: Vec<String>,
}

fn place(within: &[String]) -> String {
    if within.is_empty() {
        String::new()
    } else {
        format!(
            " at {}",
            within
                .iter()
                .rev()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(".")
        )
    }
}

impl Mismatch {
    fn new(expected: &'static str, found: &Packed) -> Self {
        let found = match found {
            Packed::Nil => "null",
            Packed::Boolean(_) => "a bool",
            Packed::Integer(_) | Packed::F32(_) | Packed::F64(_) => "a number",
            Packed::String(_) => "a string",
            Packed::Binary(_) => "bytes",
            Packed::Array(_) => "a list",
            Packed::Map(_) => "an object",
            Packed::Ext(..) => "an unknown value",
        };
        Self {
            expected,
            found: found.to_owned(),
            within: Vec::new(),
        }
    }

    pub fn within(mut self, name: impl Into<String>) -> Self {
        self.within.push(name.into());
        self
    }
}

/// A Rust type that stands for a Terraform type.
pub trait Shape: Sized {
    fn shape() -> Type;
    fn pack(&self) -> Packed;
    fn unpack(packed: &Packed) -> Result<Self, Mismatch>;
}

impl<T: Shape> Value<T> {
    pub fn pack(&self) -> Packed {
        match self {
            Value::Unknown => Packed::Ext(0, vec![0]),
            Value::Null => Packed::Nil,
            Value::Known(value) => value.pack(),
        }
    }

    pub fn unpack(packed: &Packed) -> Result<Self, Mismatch> {
        match packed {
            Packed::Ext(..) => Ok(Value::Unknown),
            Packed::Nil => Ok(Value::Null),
            known => T::unpack(known).map(Value::Known),
        }
    }
}

impl Shape for String {
    fn shape() -> Type {
        Type::String
    }

    fn pack(&self) -> Packed {
        Packed::from(self.as_str())
    }

    fn unpack(packed: &Packed) -> Result<Self, Mismatch> {
        packed
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| Mismatch::new("a string", packed))
    }
}

impl Shape for bool {
    fn shape() -> Type {
        Type::Bool
    }

    fn pack(&self) -> Packed {
        Packed::from(*self)
    }

    fn unpack(packed: &Packed) -> Result<Self, Mismatch> {
        packed.as_bool().ok_or_else(|| Mismatch::new("a bool", packed))
    }
}

impl Shape for i64 {
    fn shape() -> Type {
        Type::Number
    }

    fn pack(&self) -> Packed {
        Packed::from(*self)
    }

    fn unpack(packed: &Packed) -> Result<Self, Mismatch> {
        packed
            .as_i64()
            .ok_or_else(|| Mismatch::new("a whole number", packed))
    }
}

fn unpack_elements<T: Shape>(packed: &Packed, expected: &'static str) -> Result<Vec<Value<T>>, Mismatch> {
    let elements = packed.as_array().ok_or_else(|| Mismatch::new(expected, packed))?;
    let unpack = |(index, element)| Value::unpack(element).map_err(|m: Mismatch| m.within(index_name(index)));
    elements.iter().enumerate().map(unpack).collect()
}

fn index_name(index: usize) -> String {
    format!("[{index}]")
}

impl<T: Shape> Shape for List<T> {
    fn shape() -> Type {
        Type::List(Box::new(T::shape()))
    }

    fn pack(&self) -> Packed {
        Packed::Array(self.iter().map(Value::pack).collect())
    }

    fn unpack(packed: &Packed) -> Result<Self, Mismatch> {
        unpack_elements(packed, "a list")
    }
}

impl<T: Shape> Shape for Set<T> {
    fn shape() -> Type {
        Type::Set(Box::new(T::shape()))
    }

    fn pack(&self) -> Packed {
        Packed::Array(self.0.iter().map(Value::pack).collect())
    }

    fn unpack(packed: &Packed) -> Result<Self, Mismatch> {
        unpack_elements(packed, "a set").map(Set)
    }
}

impl<T: Shape> Shape for Map<T> {
    fn shape() -> Type {
        Type::Map(Box::new(T::shape()))
    }

    fn pack(&self) -> Packed {
        Packed::Map(
            self.iter()
                .map(|(key, value)| (Packed::from(key.as_str()), value.pack()))
                .collect(),
        )
    }

    fn unpack(packed: &Packed) -> Result<Self, Mismatch> {
        let entries = packed.as_map().ok_or_else(|| Mismatch::new("a map", packed))?;
        entries
            .iter()
            .map(|(key, value)| {
                let key = String::unpack(key)?;
                let value = Value::unpack(value).map_err(|m| m.within(key.clone()))?;
                Ok((key, value))
            })
            .collect()
    }
}

/// One attribute of a packed object; null when it is not there.
pub fn unpack_attribute<T: Shape>(packed: &Packed, name: &str) -> Result<Value<T>, Mismatch> {
    let attributes = packed
        .as_map()
        .ok_or_else(|| Mismatch::new("an object", packed))?;
    match attributes.iter().find(|(key, _)| key.as_str() == Some(name)) {
        Some((_, value)) => Value::unpack(value).map_err(|m| m.within(name)),
        None => Ok(Value::Null),
    }
}

/// Replaces everything unknown by null: what Terraform may store after a failed apply.
pub fn forget_unknown(packed: Packed) -> Packed {
    match packed {
        Packed::Ext(..) => Packed::Nil,
        Packed::Array(elements) => Packed::Array(elements.into_iter().map(forget_unknown).collect()),
        Packed::Map(entries) => Packed::Map(
            entries
                .into_iter()
                .map(|(key, value)| (key, forget_unknown(value)))
                .collect(),
        ),
        known => known,
    }
}

/// Declares an object type: a struct whose every field is a [`Value`], and its [`Shape`].
macro_rules! object {
    ($(#[$note:meta])* pub struct $name:ident { $($field:ident: $ty:ty),* $(,)? }) => {
        $(#[$note])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $(pub $field: $crate::value::Value<$ty>,)*
        }

        impl $crate::value::Shape for $name {
            fn shape() -> $crate::value::Type {
                $crate::value::Type::Object(std::collections::BTreeMap::from([
                    $(($crate::value::attribute_name(stringify!($field)), <$ty>::shape()),)*
                ]))
            }

            fn pack(&self) -> rmpv::Value {
                rmpv::Value::Map(vec![
                    $((rmpv::Value::from($crate::value::attribute_name(stringify!($field))), self.$field.pack()),)*
                ])
            }

            fn unpack(packed: &rmpv::Value) -> Result<Self, $crate::value::Mismatch> {
                Ok(Self {
                    $($field: $crate::value::unpack_attribute(
                        packed,
                        &$crate::value::attribute_name(stringify!($field)),
                    )?,)*
                })
            }
        }
    };
}
pub(crate) use object;

/// The attribute a field stands for; a raw identifier (`r#type`) is only Rust's spelling.
pub fn attribute_name(field: &str) -> String {
    field.trim_start_matches("r#").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    object! {
        pub struct Inner {
            port: i64,
        }
    }

    object! {
        pub struct Outer {
            r#type: String,
            on: bool,
            labels: Map<String>,
            inner: List<Inner>,
            zones: Set<String>,
        }
    }

    fn through_bytes(packed: &Packed) -> Packed {
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, packed).expect("a vector takes every write");
        rmpv::decode::read_value(&mut bytes.as_slice()).expect("what was written can be read")
    }

    #[test]
    fn every_kind_of_value_survives_the_wire() {
        let object = Outer {
            r#type: Value::from("service"),
            on: Value::Null,
            labels: Value::Known(Map::from([
                ("a".to_owned(), Value::from("1")),
                ("b".to_owned(), Value::Unknown),
            ])),
            inner: Value::Known(vec![
                Value::Known(Inner {
                    port: Value::Known(-5),
                }),
                Value::Unknown,
            ]),
            zones: Value::from_members(["z2".to_owned(), "z1".to_owned()]),
        };
        assert_eq!(Outer::unpack(&through_bytes(&object.pack())), Ok(object));
    }

    #[test]
    fn any_extension_is_unknown() {
        let refined = Packed::Ext(12, vec![0x81, 1, 0xc2]);
        assert_eq!(Value::<String>::unpack(&refined), Ok(Value::Unknown));
    }

    #[test]
    fn a_wrong_type_is_named_with_its_place() {
        let packed = Packed::Map(vec![(
            Packed::from("inner"),
            Packed::Array(vec![Packed::Map(vec![(
                Packed::from("port"),
                Packed::from("http"),
            )])]),
        )]);
        let mismatch = Outer::unpack(&packed).expect_err("a string is no number");
        assert_eq!(
            mismatch.to_string(),
            "expected a whole number, found a string at inner.[0].port"
        );
    }

    #[test]
    fn a_missing_attribute_is_null() {
        assert_eq!(Outer::unpack(&Packed::Map(Vec::new())), Ok(Outer::default()));
    }

    #[test]
    fn forgetting_reaches_every_depth() {
        let object = Outer {
            on: Value::Unknown,
            inner: Value::Known(vec![Value::Known(Inner { port: Value::Unknown })]),
            ..Outer::default()
        };
        let settled = Outer::unpack(&forget_unknown(object.pack())).expect("the shape is unchanged");
        assert_eq!(settled.on, Value::Null);
        assert_eq!(settled.inner, Value::from_elements([Inner { port: Value::Null }]));
    }

    #[test]
    fn an_engine_without_null_does_not_turn_null_into_empty() {
        assert_eq!(Value::read_back(&Value::Null, ""), Value::Null);
        assert_eq!(Value::read_back(&Value::from(""), ""), Value::from(""));
        assert_eq!(Value::read_back(&Value::Null, "x"), Value::from("x"));
        assert_eq!(
            Value::<Map<String>>::read_back_entries(&Value::Null, []),
            Value::Null
        );
    }
}
