//! Addresses: what sort of thing a node is, and its name. Written down as `kind/name`.

pub use crate::kinds::NodeKind;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

impl NodeKind {
    /// The address of the node of this kind that has a name.
    pub fn at(self, name: impl Into<String>) -> Address {
        Address {
            kind: self,
            name: name.into(),
        }
    }
}

/// One node of an environment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    pub kind: NodeKind,
    pub name: String,
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.kind.word(), self.name)
    }
}

/// A text that is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not the address of a node, such as job/hello")]
pub struct NoAddress(String);

impl FromStr for Address {
    type Err = NoAddress;

    fn from_str(text: &str) -> Result<Self, NoAddress> {
        let no = || NoAddress(text.to_owned());
        let (word, name) = text.split_once('/').ok_or_else(no)?;
        let kind = NodeKind::ALL.into_iter().find(|kind| kind.word() == word);
        Ok(kind.ok_or_else(no)?.at(name))
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_is_written() {
        for kind in NodeKind::ALL {
            let address = kind.at("web-data@node1");
            assert_eq!(address.to_string().parse(), Ok(address));
        }
        for text in ["", "job", "jobs/hello", "/hello"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }

    #[test]
    fn addresses_are_in_the_order_of_their_texts() {
        let mut words = NodeKind::ALL.map(NodeKind::word).to_vec();
        assert!(words.is_sorted());
        words.dedup();
        assert_eq!(words.len(), NodeKind::ALL.len());
    }
}
