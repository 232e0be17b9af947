//! Inside a frame: which column and which row each box stands in.

use super::{BandPlan, whole};
use crate::graph::{Edge, levels};
use crate::node::Layer;
use std::collections::BTreeMap;

/// Layers that share a column, and how often in this frame something of them comes after something else of them.
pub(super) type Column = (Layers, usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Layers {
    /// Secret and host: what jobs need.
    Needs,
    Jobs,
    Services,
}

pub(super) fn layers(layer: Layer) -> Layers {
    match layer {
        Layer::Secret | Layer::Host => Layers::Needs,
        Layer::Cloud | Layer::Job => Layers::Jobs,
        Layer::Service | Layer::Hook => Layers::Services,
    }
}

impl BandPlan<'_> {
    pub(super) fn choose_columns_and_rows(&mut self) {
        for (cell, edges) in self.inner_edges().iter().enumerate() {
            self.choose_columns(cell, edges);
            self.choose_rows(cell, edges);
        }
    }

    /// The edges within each cell.
    fn inner_edges(&self) -> Vec<Vec<Edge>> {
        let mut inner = vec![Vec::new(); self.cells.len()];
        for (_, edge) in &self.edges {
            let cell = self.cell_of[&edge.to];
            if self.cell_of[&edge.from] == cell {
                inner[cell].push(*edge);
            }
        }
        inner
    }

    fn choose_columns(&mut self, cell: usize, inner: &[Edge]) {
        let nodes = &self.cells[cell].nodes;
        let index: BTreeMap<usize, usize> = nodes.iter().enumerate().map(|(i, node)| (*node, i)).collect();
        let of = |node: usize| layers(self.graph.nodes[node].layer);
        let mut before = vec![Vec::new(); nodes.len()];
        for edge in inner.iter().filter(|edge| of(edge.from) == of(edge.to)) {
            before[index[&edge.to]].push(index[&edge.from]);
        }
        for (node, depth) in nodes.iter().zip(levels(&before)) {
            self.column_of.insert(*node, (of(*node), depth));
        }
    }

    /// From left to right, each box as level with what it comes after as can be, out of the way of edges that pass.
    fn choose_rows(&mut self, cell: usize, inner: &[Edge]) {
        let mut columns: BTreeMap<Column, Vec<usize>> = BTreeMap::new();
        for node in &self.cells[cell].nodes {
            columns.entry(self.column_of[node]).or_default().push(*node);
        }
        let mut before: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut last_use: BTreeMap<usize, Column> = BTreeMap::new();
        for edge in inner {
            before.entry(edge.to).or_default().push(edge.from);
            let to = self.column_of[&edge.to];
            let last = last_use.entry(edge.from).or_insert(to);
            *last = to.max(*last);
        }
        for (column, nodes) in &columns {
            let passing: Vec<i32> = last_use
                .iter()
                .filter(|(from, last)| self.column_of[*from] < *column && column < *last)
                .map(|(from, _)| self.row_of[from])
                .collect();
            let mut wished: Vec<(i32, Layer, usize)> = nodes
                .iter()
                .map(|node| {
                    let placed: Vec<i32> = before
                        .get(node)
                        .into_iter()
                        .flatten()
                        .filter_map(|from| self.row_of.get(from).copied())
                        .collect();
                    let wish = placed.iter().sum::<i32>() / whole(placed.len()).max(1);
                    (wish, self.graph.nodes[*node].layer, *node)
                })
                .collect();
            wished.sort_unstable();
            let mut taken: Vec<i32> = Vec::new();
            for group in wished.chunk_by(|one, other| one.0 == other.0) {
                // Boxes that wish for the same place spread to both sides of it.
                for (index, (wish, _, node)) in (0i32..).zip(group) {
                    let spread = if column.0 > Layers::Needs {
                        whole(group.len()) - 1
                    } else {
                        0
                    };
                    let wish = wish + 2 * index - spread;
                    let free = |row: &i32| taken.iter().chain(&passing).all(|other| (row - other).abs() >= 2);
                    let row = (0..)
                        .flat_map(|away| [wish + away, wish - away])
                        // Rows are filled downwards: what stands higher is on its way past.
                        .find(|row| free(row) && taken.iter().all(|other| other < row));
                    let row = row.expect("below all boxes there is room");
                    taken.push(row);
                    self.row_of.insert(*node, row);
                }
            }
        }
        let first = self.cells[cell]
            .nodes
            .iter()
            .map(|node| self.row_of[node])
            .min()
            .unwrap_or(0);
        for node in &self.cells[cell].nodes {
            *self.row_of.entry(*node).or_default() -= first;
        }
    }
}
