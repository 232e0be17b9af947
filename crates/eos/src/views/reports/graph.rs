//! The report of `eos graph`: by environment and wave, each wave after those above it; and the file it went to.

use crate::views::report::{Message, Page, Report, value};
use crate::views::text::{BOLD, RED, counted, hang, pad_left, printable};
use eos_core::graph::Graph;
use eos_core::graph::live::{Counts, Health};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

impl Report for Graph<'_> {
    fn text(&self, page: &mut Page) {
        match self.nodes.is_empty() {
            true => page.say("There is no component here yet; `eos catalog list` shows what can be created"),
            false => page.data(graph_text(self, page.columns())),
        }
    }

    fn json(&self) -> Message {
        let nodes = self.nodes.iter().zip(&self.waves).map(|(node, wave)| {
            let mut shown = json!({
                "environment": node.environment, "component": node.component, "address": node.address,
                "layer": node.layer, "writer": node.writer, "wave": wave, "summary": node.summary,
            });
            if let Some(health) = self.health(node) {
                shown["health"] = health.word().into();
                if let Health::Ill(why) = health {
                    shown["why"] = why.as_str().into();
                }
            }
            shown
        });
        let edges = self.edges.iter().map(|edge| {
            let [from, to] = [edge.from, edge.to].map(|place| self.nodes[place]);
            json!({"environment": to.environment, "from": from.address, "to": to.address})
        });
        let mut content = json!({"nodes": nodes.collect::<Vec<_>>(), "edges": edges.collect::<Vec<_>>()});
        if let Some(live) = &self.live {
            content["health"] = value(&live.counts(self.nodes.iter().copied()));
            content["silent"] = value(&live.silent);
        }
        Message::Document("graph", content)
    }
}

pub struct GraphFile<'a> {
    pub graph: &'a Graph<'a>,
    pub file: &'a Path,
}

impl Report for GraphFile<'_> {
    fn text(&self, page: &mut Page) {
        page.say(&format!(
            "{}, written to {}",
            extent(self.graph),
            self.file.display()
        ));
    }

    fn json(&self) -> Message {
        let graph = self.graph;
        let content =
            json!({"file": self.file, "nodes": graph.nodes.len(), "waves": graph.waves.iter().max()});
        Message::Document("graph_file", content)
    }
}

fn graph_text(graph: &Graph, columns: usize) -> String {
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
        let summary = format!("{environment}: {}{health}", nodes_in_waves(nodes, waves.len()));
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
fn extent(graph: &Graph) -> String {
    nodes_in_waves(graph.nodes.len(), graph.waves.iter().copied().max().unwrap_or(0))
}

fn nodes_in_waves(nodes: usize, waves: usize) -> String {
    format!(
        "{} in {}",
        counted(nodes, "node", "nodes"),
        counted(waves, "wave", "waves")
    )
}
