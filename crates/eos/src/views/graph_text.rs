//! The graph as a person reads it on a terminal: by environment and wave, each wave after those above it.

use super::plan_text::{BOLD, RED};
use super::text::{hang, pad_left, printable};
use eos_core::graph::Graph;
use eos_core::graph::live::{Counts, Health};
use std::collections::BTreeMap;
use std::fmt::Write;

pub fn graph_text(graph: &Graph, columns: usize) -> String {
    let mut environments: BTreeMap<&str, BTreeMap<usize, Vec<String>>> = BTreeMap::new();
    for (node, wave) in graph.nodes.iter().zip(&graph.waves) {
        let waves = environments.entry(&node.environment).or_default();
        let address = printable(&node.address.to_string());
        let word = match graph.health(node) {
            None | Some(Health::Well) => address,
            Some(health) => format!("{address} ({})", health.word()),
        };
        waves.entry(*wave).or_default().push(word);
    }
    let mut text = String::new();
    for (environment, waves) in environments {
        let nodes = waves.values().map(Vec::len).sum();
        let health = graph.live.as_ref().map_or_else(String::new, |live| {
            let here = graph.nodes.iter().filter(|node| node.environment == environment);
            format!("; {}", counts_words(live.counts(here.copied())))
        });
        let summary = format!("{environment}: {}{health}", counted(nodes, waves.len()));
        for line in hang("", &summary, columns).lines() {
            let _ = writeln!(text, "{BOLD}{line}{BOLD:#}");
        }
        let digits = waves.len().to_string().len();
        for (wave, addresses) in waves {
            let first = format!("  wave {}  ", pad_left(&wave.to_string(), digits));
            text.push_str(&hang(&first, &addresses.join("  "), columns));
        }
        for node in graph.nodes.iter().filter(|node| node.environment == environment) {
            let Some(Health::Ill(why)) = graph.health(node) else {
                continue;
            };
            let line = format!("{}: {}", node.address, printable(why));
            let line = hang("! ", &line, columns);
            text.push_str(&line.replacen('!', &format!("{RED}!{RED:#}"), 1));
        }
    }
    for silent in graph.live.iter().flat_map(|live| &live.silent) {
        let line = hang("! ", &printable(silent), columns);
        text.push_str(&line.replacen('!', &format!("{RED}!{RED:#}"), 1));
    }
    text
}

/// `5 well, 1 ill`.
fn counts_words(counts: Counts) -> String {
    let Counts {
        well,
        ill,
        absent,
        unknown,
    } = counts;
    let all = [
        (well, "well"),
        (ill, "ill"),
        (absent, "absent"),
        (unknown, "unknown"),
    ];
    let some: Vec<String> = all
        .into_iter()
        .filter(|(count, word)| *count > 0 || *word == "well")
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    some.join(", ")
}

/// `12 nodes in 4 waves`.
pub fn extent(graph: &Graph) -> String {
    counted(graph.nodes.len(), graph.waves.iter().copied().max().unwrap_or(0))
}

fn counted(nodes: usize, waves: usize) -> String {
    let some = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    format!("{} in {}", some(nodes, "node"), some(waves, "wave"))
}
