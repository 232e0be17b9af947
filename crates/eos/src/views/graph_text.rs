//! The graph as a person reads it on a terminal: by environment and wave, each wave after those above it.

use super::plan_text::BOLD;
use super::text::{hang, pad_left, printable};
use eos_core::graph::Graph;
use std::collections::BTreeMap;
use std::fmt::Write;

pub fn graph_text(graph: &Graph, columns: usize) -> String {
    let mut environments: BTreeMap<&str, BTreeMap<usize, Vec<String>>> = BTreeMap::new();
    for (node, wave) in graph.nodes.iter().zip(&graph.waves) {
        let waves = environments.entry(&node.environment).or_default();
        waves.entry(*wave).or_default().push(printable(&node.address));
    }
    let mut text = String::new();
    for (environment, waves) in environments {
        let nodes = waves.values().map(Vec::len).sum();
        let summary = format!("{environment}: {}", counted(nodes, waves.len()));
        for line in hang("", &summary, columns).lines() {
            let _ = writeln!(text, "{BOLD}{line}{BOLD:#}");
        }
        let digits = waves.len().to_string().len();
        for (wave, addresses) in waves {
            let first = format!("  wave {}  ", pad_left(&wave.to_string(), digits));
            text.push_str(&hang(&first, &addresses.join("  "), columns));
        }
    }
    text
}

/// `12 nodes in 4 waves`.
pub fn extent(graph: &Graph) -> String {
    counted(graph.nodes.len(), graph.waves.iter().copied().max().unwrap_or(0))
}

fn counted(nodes: usize, waves: usize) -> String {
    let some = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    format!("{} in {}", some(nodes, "node"), some(waves, "wave"))
}
