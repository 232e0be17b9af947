//! The graph over all layers: which nodes there are, what comes after what, and in which wave each is done.

pub mod dot;
mod layout;
mod letters;
pub mod live;
pub mod svg;
#[cfg(test)]
mod tests;

use crate::address::Address;
use crate::diagnostic::Diagnostic;
use crate::emit::terraform::PLATFORM;
use crate::node::Node;
use live::{Health, Live};
use std::collections::{BTreeMap, BTreeSet};

/// Nodes and edges, in an order that depends on nothing but their names.
#[derive(Debug)]
pub struct Graph<'a> {
    /// In order of environment, then address.
    pub nodes: Vec<&'a Node>,
    /// In order of what is done first, then of what comes after it.
    pub edges: Vec<Edge>,
    /// The wave of each node, from 1: all it comes after is in earlier waves.
    pub waves: Vec<usize>,
    /// How each node is just now, where the engines were asked.
    pub live: Option<Live>,
}

/// Node `to` comes after node `from`; both are places in `Graph::nodes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
}

impl<'a> Graph<'a> {
    /// An edge to a node that is not there is a fault of whoever made the nodes, and is refused.
    pub fn new(nodes: impl IntoIterator<Item = &'a Node>) -> Result<Self, Vec<Diagnostic>> {
        let mut nodes: Vec<&Node> = nodes.into_iter().collect();
        nodes.sort_by_key(|node| (&node.environment, &node.address));
        let places: BTreeMap<(&str, &Address), usize> = nodes
            .iter()
            .enumerate()
            .map(|(place, node)| ((node.environment.as_str(), &node.address), place))
            .collect();
        let mut edges = BTreeSet::new();
        let mut missing = Vec::new();
        for (to, node) in nodes.iter().enumerate() {
            for before in &node.after {
                match places.get(&(node.environment.as_str(), before)) {
                    Some(from) => {
                        edges.insert(Edge { from: *from, to });
                    }
                    None => missing.push(Diagnostic::new(format!(
                        "{} in {} comes after {before}, which is not there",
                        node.address, node.environment
                    ))),
                }
            }
        }
        match missing.is_empty() {
            true => Ok(Self::assemble(nodes, edges.into_iter().collect())),
            false => Err(missing),
        }
    }

    /// Only the nodes of a component, in every environment that has it, and all that they come after.
    pub fn up_to(&self, component: &str) -> Self {
        let before = befores(self.nodes.len(), &self.edges);
        let mut kept: Vec<bool> = self
            .nodes
            .iter()
            .map(|node| node.component == component)
            .collect();
        let mut open: Vec<usize> = (0..kept.len()).filter(|place| kept[*place]).collect();
        while let Some(place) = open.pop() {
            for from in &before[place] {
                if !std::mem::replace(&mut kept[*from], true) {
                    open.push(*from);
                }
            }
        }
        let mut moved = vec![0; kept.len()];
        let mut nodes = Vec::new();
        for place in (0..kept.len()).filter(|place| kept[*place]) {
            moved[place] = nodes.len();
            nodes.push(self.nodes[place]);
        }
        let edges = self
            .edges
            .iter()
            .filter(|edge| kept[edge.from] && kept[edge.to])
            .map(|edge| Edge {
                from: moved[edge.from],
                to: moved[edge.to],
            })
            .collect();
        Self::assemble(nodes, edges)
    }

    /// How a node is just now; nothing where no engine was asked.
    pub fn health(&self, node: &Node) -> Option<&Health> {
        self.live.as_ref().map(|live| live.of(node))
    }

    pub fn environments(&self) -> BTreeSet<&'a str> {
        self.nodes.iter().map(|node| node.environment.as_str()).collect()
    }

    /// (environment, component) of the nodes, without what components share.
    pub fn components(&self) -> BTreeSet<(&'a str, &'a str)> {
        let all = self.nodes.iter().filter(|node| node.component != PLATFORM);
        all.map(|node| (node.environment.as_str(), node.component.as_str()))
            .collect()
    }

    fn assemble(nodes: Vec<&'a Node>, edges: Vec<Edge>) -> Self {
        let waves = levels(&befores(nodes.len(), &edges))
            .into_iter()
            .map(|level| level + 1)
            .collect();
        Self {
            nodes,
            edges,
            waves,
            live: None,
        }
    }
}

/// What each place comes after.
fn befores(places: usize, edges: &[Edge]) -> Vec<Vec<usize>> {
    let mut before = vec![Vec::new(); places];
    for edge in edges {
        before[edge.to].push(edge.from);
    }
    before
}

/// The topological level of each place, from 0. A cycle is cut at its first place: the compiler refuses cycles, and
/// a picture of one must still come to an end.
fn levels(before: &[Vec<usize>]) -> Vec<usize> {
    let mut after = vec![Vec::new(); before.len()];
    let mut waits_for: Vec<usize> = before.iter().map(Vec::len).collect();
    for (to, all) in before.iter().enumerate() {
        for from in all {
            after[*from].push(to);
        }
    }
    let mut level = vec![0; before.len()];
    let mut done = vec![false; before.len()];
    let mut ready: Vec<usize> = (0..before.len()).filter(|place| waits_for[*place] == 0).collect();
    let mut first_open = 0;
    loop {
        let Some(place) = ready.pop().or_else(|| {
            first_open += done[first_open..].iter().position(|done| !done)?;
            Some(first_open)
        }) else {
            return level;
        };
        done[place] = true;
        for next in after[place].iter().copied().filter(|next| *next != place) {
            if done[next] {
                continue;
            }
            level[next] = level[next].max(level[place] + 1);
            waits_for[next] -= 1;
            if waits_for[next] == 0 {
                ready.push(next);
            }
        }
    }
}
