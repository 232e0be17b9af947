//! The graph of a component as a file: what a reviewer reads in git to see which source changed which attribute.
//!
//! One line an attribute, and no places in the pillar: they move with every edit above them, and would make files differ
//! that nobody changed. `eos why` tells them.

use super::{Artifacts, ROOM};
use crate::compose::Key;
use crate::node::Node;
use serde_json::Value;
use std::fmt::Write;

pub fn emit((environment, component): &Key, nodes: &[Node], artifacts: &mut Artifacts) {
    let mut text = String::with_capacity(ROOM);
    text.push('[');
    for (index, node) in nodes.iter().enumerate() {
        text.push_str(if index == 0 { "\n" } else { ",\n" });
        write_node(&mut text, node);
    }
    text.push_str("\n]\n");
    text.shrink_to_fit();
    artifacts.insert(format!("graph/{environment}/{component}.json"), text.into_bytes());
}

fn write_node(text: &mut String, node: &Node) {
    let json = |words: &str| Value::from(words).to_string();
    let _ = write!(
        text,
        "  {{\n    \"address\": {},\n    \"after\": [",
        json(&node.address.to_string())
    );
    for (index, address) in node.after.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        let _ = write!(text, "{comma}{}", json(&address.to_string()));
    }
    text.push_str("],\n    \"attributes\": {");
    for (index, (name, attribute)) in node.attributes.iter().enumerate() {
        text.push_str(if index == 0 { "\n" } else { ",\n" });
        let (value, from) = (&attribute.value, attribute.from.words());
        let _ = write!(
            text,
            "      {}: {{\"value\": {value}, \"from\": {}}}",
            json(name),
            json(&from)
        );
    }
    text.push_str("\n    }\n  }");
}
