//! The graph in the language of Graphviz: a cluster for each environment, in it one for each component.

use super::Graph;
use super::live::Health;
use crate::node::{Layer, Node};
use std::collections::BTreeMap;
use std::fmt::Write;

const OPENING: &str = r##"digraph eos {
  rankdir=LR;
  graph [fontname="sans-serif", style=rounded, color="#b0b8c4"];
  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=11];
  edge [color="#6f7a88"];
"##;

pub fn dot(graph: &Graph) -> String {
    let mut text = String::from(OPENING);
    let mut clusters: BTreeMap<&str, BTreeMap<&str, Vec<usize>>> = BTreeMap::new();
    for (place, node) in graph.nodes.iter().enumerate() {
        let components = clusters.entry(&node.environment).or_default();
        components.entry(&node.component).or_default().push(place);
    }
    for (number, (environment, components)) in clusters.iter().enumerate() {
        let _ = writeln!(
            text,
            "  subgraph cluster_{number} {{\n    label={};",
            quoted(environment)
        );
        for (inner, (component, places)) in components.iter().enumerate() {
            let _ = writeln!(
                text,
                "    subgraph cluster_{number}_{inner} {{\n      label={};",
                quoted(component)
            );
            for place in places {
                let node = graph.nodes[*place];
                let health = graph.health(node);
                let label = match health.map_or("", Health::mark) {
                    "" => node.address.to_string(),
                    mark => format!("{} {mark}", node.address),
                };
                let words = health.map_or_else(String::new, |health| format!(", {}", health.words()));
                let _ = writeln!(
                    text,
                    "      {} [label={}, tooltip={}, fillcolor=\"{}\"{}];",
                    quoted(&name(node)),
                    quoted(&label),
                    quoted(&format!("{}, wave {}{words}", node.summary, graph.waves[*place])),
                    color(node.layer),
                    health.map_or("", border)
                );
            }
            text.push_str("    }\n");
        }
        text.push_str("  }\n");
    }
    for edge in &graph.edges {
        let [from, to] = [edge.from, edge.to].map(|place| quoted(&name(graph.nodes[place])));
        let _ = writeln!(text, "  {from} -> {to};");
    }
    text.push_str("}\n");
    text
}

/// Addresses are unique only within an environment.
fn name(node: &Node) -> String {
    format!("{}/{}", node.environment, node.address)
}

/// A backslash begins an escape in labels, and is doubled to stand for itself.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            letter if letter.is_control() => quoted.push('\u{fffd}'),
            // Graphviz reads labels as HTML entities.
            '&' => quoted.push_str("&amp;"),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// Beside the mark, which needs no colour.
fn border(health: &Health) -> &'static str {
    match health {
        Health::Well => ", color=\"#197a37\"",
        Health::Ill(_) => ", color=\"#c5221f\", penwidth=2.5",
        Health::Absent => ", color=\"#8a6100\", style=\"rounded,filled,dashed\"",
        Health::Unknown => ", color=\"#8a94a2\"",
    }
}

fn color(layer: Layer) -> &'static str {
    match layer {
        Layer::Secret => "#eee5ff",
        Layer::Host => "#ffe8d6",
        Layer::Cloud => "#d9ecff",
        Layer::Job => "#dcf5e3",
        Layer::Service => "#ffe0ef",
        Layer::Hook => "#fff6cc",
    }
}
