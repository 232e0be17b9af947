//! How the things of a graph are just now, as the engines said: what is told beside the graph, never part of it.

use crate::address::Address;
use crate::node::Node;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    Well,
    /// It is there, and this is wrong with it.
    Ill(String),
    /// It is not there.
    Absent,
    /// No engine was asked, or none answered.
    Unknown,
}

impl Health {
    pub const WORDS: [&str; 4] = ["well", "ill", "absent", "unknown"];

    pub fn word(&self) -> &'static str {
        match self {
            Self::Well => Self::WORDS[0],
            Self::Ill(_) => Self::WORDS[1],
            Self::Absent => Self::WORDS[2],
            Self::Unknown => Self::WORDS[3],
        }
    }

    /// In ASCII, after an address.
    pub fn mark(&self) -> &'static str {
        match self {
            Self::Well => "",
            Self::Ill(_) => "!",
            Self::Absent => "-",
            Self::Unknown => "?",
        }
    }

    /// `ill: 0 of 1 healthy`.
    pub fn words(&self) -> String {
        match self {
            Self::Ill(why) => format!("{}: {why}", self.word()),
            other => other.word().to_owned(),
        }
    }
}

/// The health of nodes, by environment and address.
#[derive(Clone, Debug, Default)]
pub struct Live {
    health: BTreeMap<(String, Address), Health>,
    /// Engines that did not answer, each with its words.
    pub silent: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub well: usize,
    pub ill: usize,
    pub absent: usize,
    pub unknown: usize,
}

impl Live {
    pub fn set(&mut self, node: &Node, health: Health) {
        self.health
            .insert((node.environment.clone(), node.address.clone()), health);
    }

    pub fn of(&self, node: &Node) -> &Health {
        let key = (node.environment.clone(), node.address.clone());
        self.health.get(&key).unwrap_or(&Health::Unknown)
    }

    pub fn counts<'a>(&self, nodes: impl IntoIterator<Item = &'a Node>) -> Counts {
        let mut counts = Counts::default();
        for node in nodes {
            match self.of(node) {
                Health::Well => counts.well += 1,
                Health::Ill(_) => counts.ill += 1,
                Health::Absent => counts.absent += 1,
                Health::Unknown => counts.unknown += 1,
            }
        }
        counts
    }
}
