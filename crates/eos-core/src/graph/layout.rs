//! Where everything stands in the picture: whole pixels, the same for the same graph.
//!
//! An environment is a band. In it, components are frames in stacks, each stack to the right of what it comes after; in
//! a frame, nodes are boxes in columns by layer: what jobs need (secret, host, cloud) shares the first, one below the other. An edge to the right within a frame is one curve. Every other edge
//! leaves its frame, follows the channels between stacks and the gaps between frames, and enters the next frame, so that
//! it crosses no box. What comes from one node shares its way as long as it can, like the branches of a tree.

use super::{Edge, Graph, levels};
use crate::emit::terraform::PLATFORM;
use crate::node::Layer;
use std::collections::{BTreeMap, BTreeSet};

pub const BOX_WIDTH: i32 = 176;
pub const BOX_HEIGHT: i32 = 40;
pub const MARGIN: i32 = 28;
/// From the top of the band to its first column heading, and from there to the first frame.
pub const BAND_TITLE: i32 = 52;
pub const HEADING: i32 = 8;
/// A frame's own title.
pub const FRAME_TITLE: i32 = 30;
/// Room above the bands for the title of the picture and the legend.
pub const HEAD: i32 = 84;
const BAND_PADDING: i32 = 24;
const BAND_GAP: i32 = 24;
const FRAME_PADDING: i32 = 16;
/// Between columns of a frame.
const COLUMN_GAP: i32 = 46;
/// From a box to where an edge turns up or down.
const TURN: i32 = 14;
/// Boxes are placed on a raster of half rows.
const HALF_ROW: i32 = (BOX_HEIGHT + 12) / 2;
/// Between frames of a stack, and beside a stack.
const FRAME_GAP: i32 = 22;
const CHANNEL: i32 = 44;
/// Between edges side by side, where there is room.
const LANE: i32 = 8;
/// What lanes side by side may take together; more of them stand closer.
const LANES_AT_MOST: i32 = 160;
/// A stack that would be taller is broken into several, unless the picture is large anyway.
const STACK_HEIGHT: i32 = 2400;
/// Pictures without this much room look lost.
const LEAST_WIDTH: i32 = 760;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rect {
    pub x: i32,
    pub y: i32,
    pub width: i32,
    pub height: i32,
}

impl Rect {
    pub fn right(&self) -> i32 {
        self.x + self.width
    }

    pub fn bottom(&self) -> i32 {
        self.y + self.height
    }

    fn middle(&self) -> i32 {
        self.y + self.height / 2
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Route {
    /// Level from `from` to the column at `turn`, then one curve to `to`.
    Curve { from: Point, turn: i32, to: Point },
    /// Through these points, with round corners.
    Way(Vec<Point>),
}

#[derive(Debug)]
pub struct Layout {
    pub width: i32,
    pub height: i32,
    pub bands: Vec<Band>,
    /// By place in `Graph::nodes`.
    pub boxes: Vec<Rect>,
    /// By place in `Graph::edges`.
    pub routes: Vec<Route>,
}

#[derive(Debug)]
pub struct Band {
    pub environment: String,
    pub rect: Rect,
    pub headings: Vec<Heading>,
    pub frames: Vec<Frame>,
}

/// The names of layers above their column; `at` is where the text begins.
#[derive(Debug)]
pub struct Heading {
    pub layers: BTreeSet<Layer>,
    pub at: Point,
}

#[derive(Debug)]
pub struct Frame {
    pub component: String,
    pub rect: Rect,
}

pub fn layout(graph: &Graph) -> Layout {
    let mut boxes = vec![Rect::default(); graph.nodes.len()];
    let mut routes: Vec<Option<Route>> = graph.edges.iter().map(|_| None).collect();
    let mut bands = Vec::new();
    let mut top = HEAD;
    for environment in graph.environments() {
        let mut plan = BandPlan::new(graph, environment);
        let corner = Point { x: MARGIN, y: top };
        plan.stand(corner);
        for (place, rect) in &plan.boxes {
            boxes[*place] = *rect;
        }
        for (edge, route) in plan.routes() {
            routes[edge] = Some(route);
        }
        let band = plan.band(environment, corner);
        top = band.rect.bottom() + BAND_GAP;
        bands.push(band);
    }
    let widest = bands.iter().map(|band| band.rect.width).max().unwrap_or(0);
    let width = widest.max(LEAST_WIDTH - 2 * MARGIN);
    for band in &mut bands {
        band.rect.width = width;
    }
    Layout {
        width: width + 2 * MARGIN,
        height: top - BAND_GAP + MARGIN,
        bands,
        boxes,
        routes: routes
            .into_iter()
            .map(|route| route.expect("every edge is within one environment"))
            .collect(),
    }
}

/// Layers that share a column, and how often in this frame something of them comes after something else of them.
type Column = (Layers, usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Layers {
    /// Secret, host, cloud: what jobs need.
    Needs,
    Jobs,
    Services,
}

fn layers(layer: Layer) -> Layers {
    match layer {
        Layer::Secret | Layer::Host | Layer::Cloud => Layers::Needs,
        Layer::Job => Layers::Jobs,
        Layer::Service => Layers::Services,
    }
}

/// A component while its place is looked for.
struct Cell {
    component: String,
    nodes: Vec<usize>,
    /// Sources of edges that come in above the boxes, and of edges that leave below them: a lane each.
    above: Vec<usize>,
    below: Vec<usize>,
    height: i32,
    rect: Rect,
}

/// Everything that leaves one node in one direction: it shares its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Net {
    source: usize,
    /// To a stack that is not to the right of its own.
    back: bool,
}

#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

struct Stack {
    cells: Vec<usize>,
    columns: Vec<Column>,
    x: i32,
    width: i32,
    /// The nets that pass above each cell, and last below all of them.
    gaps: Vec<BTreeSet<Net>>,
}

/// The left side of a stack, or the right side of the last: where edges go up and down.
struct Channel {
    x: i32,
    lanes: BTreeMap<Net, usize>,
    count: usize,
}

struct BandPlan<'g> {
    graph: &'g Graph<'g>,
    /// Edges of this environment, by place.
    edges: Vec<(usize, Edge)>,
    cells: Vec<Cell>,
    /// The cells that each cell comes after.
    before: Vec<Vec<usize>>,
    cell_of: BTreeMap<usize, usize>,
    column_of: BTreeMap<usize, Column>,
    /// The middle of a box in half rows.
    row_of: BTreeMap<usize, i32>,
    stacks: Vec<Stack>,
    stack_of: Vec<usize>,
    /// Which gap of a stack a net passes through.
    gap_of: BTreeMap<(Net, usize), usize>,
    /// How far from the middle of its box an edge ends.
    port_of: BTreeMap<Edge, i32>,
    channels: Vec<Channel>,
    boxes: BTreeMap<usize, Rect>,
    size: Point,
}

impl<'g> BandPlan<'g> {
    fn new(graph: &'g Graph<'g>, environment: &str) -> Self {
        let mut names: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, node) in graph.nodes.iter().enumerate() {
            if node.environment == environment {
                names.entry(&node.component).or_default().push(place);
            }
        }
        let cells: Vec<Cell> = names
            .into_iter()
            .map(|(component, nodes)| Cell {
                component: component.to_owned(),
                nodes,
                above: Vec::new(),
                below: Vec::new(),
                height: 0,
                rect: Rect::default(),
            })
            .collect();
        let cell_of: BTreeMap<usize, usize> = cells
            .iter()
            .enumerate()
            .flat_map(|(cell, of)| of.nodes.iter().map(move |node| (*node, cell)))
            .collect();
        let edges = graph
            .edges
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, edge)| cell_of.contains_key(&edge.to))
            .collect();
        let mut plan = Self {
            graph,
            edges,
            stack_of: vec![0; cells.len()],
            before: vec![Vec::new(); cells.len()],
            cells,
            cell_of,
            column_of: BTreeMap::new(),
            row_of: BTreeMap::new(),
            stacks: Vec::new(),
            gap_of: BTreeMap::new(),
            port_of: BTreeMap::new(),
            channels: Vec::new(),
            boxes: BTreeMap::new(),
            size: Point { x: 0, y: 0 },
        };
        let inner = plan.inner_edges();
        for (cell, edges) in inner.iter().enumerate() {
            plan.choose_columns(cell, edges);
            plan.choose_rows(cell, edges);
        }
        plan.choose_lanes();
        plan.choose_ports();
        plan.choose_stacks();
        plan.choose_gaps();
        plan
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

    fn is_curve(&self, edge: &Edge) -> bool {
        self.cell_of[&edge.from] == self.cell_of[&edge.to]
            && self.column_of[&edge.from] < self.column_of[&edge.to]
    }

    fn is_within(&self, edge: &Edge) -> bool {
        self.cell_of[&edge.from] == self.cell_of[&edge.to]
    }

    /// The edges from one frame to another.
    fn edges_between(&self) -> impl Iterator<Item = &Edge> {
        let edges = self.edges.iter().map(|(_, edge)| edge);
        edges.filter(|edge| !self.is_within(edge))
    }

    /// Whether nothing stands level with the node, on its left or on its right.
    fn is_free_beside(&self, node: usize, side: Side) -> bool {
        let (column, row) = (self.column_of[&node], self.row_of[&node]);
        self.cells[self.cell_of[&node]].nodes.iter().all(|other| {
            let beside = match side {
                Side::Left => self.column_of[other] < column,
                Side::Right => self.column_of[other] > column,
            };
            !beside || (self.row_of[other] - row).abs() >= 2
        })
    }

    fn choose_lanes(&mut self) {
        let mut above = vec![BTreeSet::new(); self.cells.len()];
        let mut below = vec![BTreeSet::new(); self.cells.len()];
        for (_, edge) in self.edges.iter().filter(|(_, edge)| !self.is_curve(edge)) {
            if self.is_within(edge) || !self.is_free_beside(edge.from, Side::Right) {
                below[self.cell_of[&edge.from]].insert(edge.from);
            }
            if !self.is_within(edge) && !self.is_free_beside(edge.to, Side::Left) {
                above[self.cell_of[&edge.to]].insert(edge.from);
            }
        }
        for ((cell, above), below) in self.cells.iter_mut().zip(above).zip(below) {
            cell.above = above.into_iter().collect();
            cell.below = below.into_iter().collect();
            let last = cell.nodes.iter().map(|node| self.row_of[node]).max().unwrap_or(0);
            cell.height = FRAME_TITLE
                + lanes_room(cell.above.len())
                + last * HALF_ROW
                + BOX_HEIGHT
                + lanes_room(cell.below.len())
                + FRAME_PADDING;
        }
    }

    /// Components to the right of what they come after; many on one level stand in several stacks.
    fn choose_stacks(&mut self) {
        let mut before: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.cells.len()];
        for edge in self.edges_between() {
            before[self.cell_of[&edge.to]].insert(self.cell_of[&edge.from]);
        }
        self.before = before.into_iter().map(Vec::from_iter).collect();
        let mut by_level: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (cell, level) in levels(&self.before).into_iter().enumerate() {
            by_level.entry(level).or_default().push(cell);
        }
        let needed: BTreeSet<usize> = self.before.iter().flatten().copied().collect();
        let tall = self.stack_height();
        for (_, mut cells) in by_level {
            // What others come after stands on top and, of several stacks, in the last: next to those others.
            cells.sort_by_key(|cell| (self.wish(*cell), !needed.contains(cell), *cell));
            let space = |cell: &usize| self.cells[*cell].height + FRAME_GAP;
            let whole: i32 = cells.iter().map(space).sum();
            let part = whole / ((whole + tall - 1) / tall).max(1);
            let mut stacks = vec![Vec::new()];
            let mut filled = 0;
            for cell in cells {
                if filled >= part {
                    stacks.push(Vec::new());
                    filled = 0;
                }
                filled += space(&cell);
                stacks.last_mut().expect("there is one").push(cell);
            }
            for cells in stacks.into_iter().rev() {
                self.push_stack(cells);
            }
        }
    }

    fn push_stack(&mut self, cells: Vec<usize>) {
        let columns: BTreeSet<Column> = cells
            .iter()
            .flat_map(|cell| &self.cells[*cell].nodes)
            .map(|node| self.column_of[node])
            .collect();
        let stack = Stack {
            x: 0,
            width: column_x(whole(columns.len())) - COLUMN_GAP + FRAME_PADDING,
            columns: columns.into_iter().collect(),
            gaps: vec![BTreeSet::new(); cells.len() + 1],
            cells,
        };
        for cell in &stack.cells {
            self.stack_of[*cell] = self.stacks.len();
        }
        self.stacks.push(stack);
        self.pile(self.stacks.len() - 1);
    }

    /// Tall enough that the picture is about as wide as it is high.
    fn stack_height(&self) -> i32 {
        let area: f64 = self
            .cells
            .iter()
            .map(|cell| f64::from(cell.height + FRAME_GAP) * f64::from(3 * (BOX_WIDTH + COLUMN_GAP)))
            .sum();
        // Whole pixels of a root are the same everywhere: IEEE 754 rounds it one way only.
        STACK_HEIGHT.max(area.sqrt() as i32)
    }

    /// The height at which the component would stand level with what it comes after.
    fn wish(&self, cell: usize) -> Option<i32> {
        let middles: Vec<i32> = self.before[cell]
            .iter()
            .map(|from| &self.cells[*from])
            .filter(|from| from.component != PLATFORM && from.rect.height > 0)
            .map(|from| from.rect.middle())
            .collect();
        (!middles.is_empty()).then(|| middles.iter().sum::<i32>() / whole(middles.len()))
    }

    /// Frames one below the other, each where it wishes to be if the stack does not become taller than those before.
    fn pile(&mut self, stack: usize) {
        let cells = self.stacks[stack].cells.clone();
        let nets = self.stacks[stack].gaps.iter().map(BTreeSet::len);
        let mut gaps: Vec<i32> = nets.map(|nets| FRAME_GAP + lanes_room(nets)).collect();
        // All stacks begin at the same height.
        let first = self.stacks.iter().map(|stack| stack.gaps[0].len()).max();
        gaps[0] = FRAME_GAP + lanes_room(first.unwrap_or(0));
        let mut bottom = 0;
        for (cell, gap) in cells.iter().zip(&gaps) {
            let height = self.cells[*cell].height;
            let least = bottom + gap;
            let wished = self.wish(*cell).map_or(least, |wish| wish - height / 2);
            self.cells[*cell].rect = Rect {
                x: 0,
                y: wished.max(least),
                width: self.stacks[stack].width,
                height,
            };
            bottom = self.cells[*cell].rect.bottom();
        }
        let packed: i32 = cells
            .iter()
            .zip(&gaps)
            .map(|(cell, gap)| gap + self.cells[*cell].height)
            .sum();
        let others = self.stacks[..stack].iter().flat_map(|stack| &stack.cells);
        let tallest = others
            .map(|cell| self.cells[*cell].rect.bottom())
            .max()
            .unwrap_or(0);
        let mut limit = packed.max(tallest);
        for (cell, gap) in cells.iter().zip(&gaps).rev() {
            let rect = &mut self.cells[*cell].rect;
            rect.y = rect.y.min(limit - rect.height);
            limit = rect.y - gap;
        }
    }

    fn net(&self, edge: &Edge) -> Net {
        Net {
            source: edge.from,
            back: self.stack_of[self.cell_of[&edge.to]] <= self.stack_of[self.cell_of[&edge.from]],
        }
    }

    /// The stacks that an edge between two frames passes, in its order.
    fn passed(&self, edge: &Edge) -> Vec<usize> {
        let from = self.stack_of[self.cell_of[&edge.from]];
        let to = self.stack_of[self.cell_of[&edge.to]];
        match to > from {
            true => (from + 1..to).collect(),
            false => (to..=from).rev().collect(),
        }
    }

    /// Each net passes a stack through the gap that is nearest to where it comes from.
    fn choose_gaps(&mut self) {
        let mut chosen: BTreeSet<(Net, usize)> = BTreeSet::new();
        for edge in self.edges_between() {
            chosen.extend(self.passed(edge).into_iter().map(|stack| (self.net(edge), stack)));
        }
        for (net, stack) in chosen {
            let from = self.cells[self.cell_of[&net.source]].rect;
            let row = from.y + FRAME_TITLE + self.row_of[&net.source] * HALF_ROW;
            let cells = &self.stacks[stack].cells;
            let tops = cells.iter().map(|cell| self.cells[*cell].rect.y);
            let end = cells.last().map_or(0, |cell| self.cells[*cell].rect.bottom());
            let gap = tops
                .chain([end + FRAME_GAP])
                .enumerate()
                .min_by_key(|(_, y)| (y - FRAME_GAP / 2 - row).abs())
                .map_or(0, |(gap, _)| gap);
            self.stacks[stack].gaps[gap].insert(net);
            self.gap_of.insert((net, stack), gap);
        }
    }

    /// Everything at its place, the band's corner at `corner`.
    fn stand(&mut self, corner: Point) {
        let top = corner.y + BAND_TITLE + HEADING;
        for cell in &mut self.cells {
            cell.rect = Rect::default();
        }
        for stack in 0..self.stacks.len() {
            self.pile(stack);
        }
        // The first gap is there only for what passes through it.
        for cell in &mut self.cells {
            cell.rect.y += top - FRAME_GAP / 2;
        }
        self.choose_channels();
        let mut x = corner.x;
        for number in 0..=self.stacks.len() {
            let outer = number == 0 || number == self.stacks.len();
            let count = self.channels[number].count;
            let room = lanes_room(count.saturating_sub(1));
            let width = match (outer, count) {
                (true, 0) => BAND_PADDING,
                _ => CHANNEL + room,
            };
            self.channels[number].x = x + width / 2 - room / 2;
            x += width;
            if let Some(stack) = self.stacks.get_mut(number) {
                stack.x = x;
                x += stack.width;
            }
        }
        let mut bottom = top;
        for cell in 0..self.cells.len() {
            let stack = &self.stacks[self.stack_of[cell]];
            let columns: BTreeMap<Column, i32> = stack.columns.iter().copied().zip(0..).collect();
            self.cells[cell].rect.x = stack.x;
            let of = &self.cells[cell];
            let first = of.rect.y + FRAME_TITLE + lanes_room(of.above.len());
            for node in &of.nodes {
                let column = columns[&self.column_of[node]];
                self.boxes.insert(
                    *node,
                    Rect {
                        x: stack.x + column_x(column),
                        y: first + self.row_of[node] * HALF_ROW,
                        width: BOX_WIDTH,
                        height: BOX_HEIGHT,
                    },
                );
            }
            bottom = bottom.max(of.rect.bottom());
        }
        for stack in &self.stacks {
            let below = stack.gaps.last().map_or(0, BTreeSet::len);
            let end = stack
                .cells
                .last()
                .map_or(0, |cell| self.cells[*cell].rect.bottom());
            if below > 0 {
                bottom = bottom.max(end + FRAME_GAP + lanes_room(below));
            }
        }
        self.size = Point {
            x: x - corner.x,
            y: bottom + BAND_PADDING - corner.y,
        };
    }

    /// In each channel, nets whose ways up and down overlap get a lane each.
    fn choose_channels(&mut self) {
        let mut reach: Vec<BTreeMap<Net, (i32, i32)>> = vec![BTreeMap::new(); self.stacks.len() + 1];
        for edge in self.edges_between() {
            let net = self.net(edge);
            for (channel, from, to) in self.climbs(edge) {
                let range = reach[channel].entry(net).or_insert((from, from));
                *range = (range.0.min(from).min(to), range.1.max(from).max(to));
            }
        }
        self.channels = reach
            .into_iter()
            .map(|nets| {
                let mut ranges: Vec<((i32, i32), Net)> = nets
                    .into_iter()
                    .filter(|(_, range)| range.0 != range.1)
                    .map(|(net, range)| (range, net))
                    .collect();
                ranges.sort_unstable();
                let mut ends: Vec<i32> = Vec::new();
                let mut lanes = BTreeMap::new();
                for ((start, end), net) in ranges {
                    let lane = ends.iter().position(|taken| taken + LANE < start);
                    let lane = lane.unwrap_or_else(|| {
                        ends.push(0);
                        ends.len() - 1
                    });
                    ends[lane] = end;
                    lanes.insert(net, lane);
                }
                Channel {
                    x: 0,
                    lanes,
                    count: ends.len(),
                }
            })
            .collect();
    }

    /// Which channels an edge between frames goes through, and between which heights.
    fn climbs(&self, edge: &Edge) -> Vec<(usize, i32, i32)> {
        let net = self.net(edge);
        let from = self.stack_of[self.cell_of[&edge.from]];
        let mut height = self.exit_height(edge.from);
        let mut channel = from + 1;
        let mut climbs = Vec::new();
        for stack in self.passed(edge) {
            let gap = self.gap_height(stack, net);
            climbs.push((channel, height, gap));
            height = gap;
            channel = if net.back { stack } else { stack + 1 };
        }
        climbs.push((channel, height, self.entry_height(edge)));
        climbs
    }

    fn first_row(&self, cell: &Cell) -> i32 {
        cell.rect.y + FRAME_TITLE + lanes_room(cell.above.len())
    }

    fn row_middle(&self, node: usize) -> i32 {
        self.first_row(&self.cells[self.cell_of[&node]]) + self.row_of[&node] * HALF_ROW + BOX_HEIGHT / 2
    }

    /// The lane of a source below the boxes of its frame.
    fn below_height(&self, source: usize) -> i32 {
        let cell = &self.cells[self.cell_of[&source]];
        let lane = cell.below.iter().position(|of| *of == source).unwrap_or(0);
        let room = lanes_room(cell.below.len());
        cell.rect.bottom() - FRAME_PADDING - room + lane_offset(lane + 1, cell.below.len())
    }

    fn exit_height(&self, source: usize) -> i32 {
        match self.is_free_beside(source, Side::Right) {
            true => self.row_middle(source),
            false => self.below_height(source),
        }
    }

    fn entry_height(&self, edge: &Edge) -> i32 {
        if self.is_free_beside(edge.to, Side::Left) {
            return self.port(edge);
        }
        let cell = &self.cells[self.cell_of[&edge.to]];
        let lane = cell.above.iter().position(|of| *of == edge.from).unwrap_or(0);
        cell.rect.y + FRAME_TITLE + lane_offset(lane, cell.above.len())
    }

    fn gap_height(&self, stack: usize, net: Net) -> i32 {
        let gap = self.gap_of[&(net, stack)];
        let stack = &self.stacks[stack];
        let nets = &stack.gaps[gap];
        let offset = lane_offset(nets.range(..net).count(), nets.len());
        match stack.cells.get(gap) {
            Some(below) => self.cells[*below].rect.y - FRAME_GAP / 2 - offset,
            None => {
                let end = stack
                    .cells
                    .last()
                    .map_or(0, |cell| self.cells[*cell].rect.bottom());
                end + FRAME_GAP / 2 + offset
            }
        }
    }

    /// Edges end on the left side of a box in the order from which they come, so that they do not cross.
    fn choose_ports(&mut self) {
        let mut incoming: BTreeMap<usize, Vec<_>> = BTreeMap::new();
        for (_, edge) in &self.edges {
            let order = match (self.is_curve(edge), self.is_within(edge)) {
                (true, _) => (1, self.row_of[&edge.from]),
                (false, true) => (2, 0),
                (false, false) if self.is_free_beside(edge.to, Side::Left) => (1, self.row_of[&edge.to]),
                (false, false) => (0, 0),
            };
            incoming.entry(edge.to).or_default().push((order, *edge));
        }
        for mut edges in incoming.into_values() {
            edges.sort_unstable();
            let last = whole(edges.len() - 1);
            let room = (LANE * last).min(BOX_HEIGHT - 16);
            for (place, (_, edge)) in (0..).zip(edges) {
                self.port_of.insert(edge, room * place / last.max(1) - room / 2);
            }
        }
    }

    fn port(&self, edge: &Edge) -> i32 {
        self.row_middle(edge.to) + self.port_of[edge]
    }

    /// The way of every edge, by its place in the graph.
    fn routes(&self) -> impl Iterator<Item = (usize, Route)> {
        self.edges.iter().map(|(place, edge)| (*place, self.route(edge)))
    }

    fn route(&self, edge: &Edge) -> Route {
        let (source, target) = (self.boxes[&edge.from], self.boxes[&edge.to]);
        let start = Point {
            x: source.right(),
            y: source.middle(),
        };
        let end = Point {
            x: target.x,
            y: self.port(edge),
        };
        if self.is_curve(edge) {
            return Route::Curve {
                from: start,
                turn: target.x - COLUMN_GAP,
                to: end,
            };
        }
        let mut way = vec![start];
        // Down to the lane below the boxes, where the edge leaves on one.
        let descend = |way: &mut Vec<Point>, lane: i32| {
            let x = source.right() + TURN;
            way.extend([Point { x, y: start.y }, Point { x, y: lane }]);
        };
        if self.is_within(edge) {
            let lane = self.below_height(edge.from);
            descend(&mut way, lane);
            let x = target.x - TURN;
            way.extend([Point { x, y: lane }, Point { x, y: end.y }]);
        } else {
            let exit = self.exit_height(edge.from);
            if exit != start.y {
                descend(&mut way, exit);
            }
            let net = self.net(edge);
            for (channel, from, to) in self.climbs(edge) {
                let channel = &self.channels[channel];
                if let Some(lane) = channel.lanes.get(&net) {
                    let x = channel.x + lane_offset(*lane, channel.count);
                    way.extend([Point { x, y: from }, Point { x, y: to }]);
                }
            }
            let entry = self.entry_height(edge);
            if entry != end.y {
                let above = &self.cells[self.cell_of[&edge.to]].above;
                let lane = above.iter().position(|of| *of == edge.from).unwrap_or(0);
                // The upper lane turns later: then lanes do not cross.
                let x = target.x - TURN - lane_offset(lane, above.len()).min(COLUMN_GAP / 2);
                way.extend([Point { x, y: entry }, Point { x, y: end.y }]);
            }
        }
        way.push(end);
        Route::Way(straightened(way))
    }

    fn band(self, environment: &str, corner: Point) -> Band {
        let mut headings = Vec::new();
        for stack in &self.stacks {
            for (index, column) in (0..).zip(&stack.columns).filter(|(_, column)| column.1 == 0) {
                let nodes = stack.cells.iter().flat_map(|cell| &self.cells[*cell].nodes);
                let layer = |node: &usize| self.graph.nodes[*node].layer;
                headings.push(Heading {
                    layers: nodes.map(layer).filter(|of| layers(*of) == column.0).collect(),
                    at: Point {
                        x: stack.x + column_x(index),
                        y: corner.y + BAND_TITLE,
                    },
                });
            }
        }
        Band {
            environment: environment.to_owned(),
            rect: Rect {
                x: corner.x,
                y: corner.y,
                width: self.size.x,
                height: self.size.y,
            },
            headings,
            frames: self
                .cells
                .into_iter()
                .map(|cell| Frame {
                    component: cell.component,
                    rect: cell.rect,
                })
                .collect(),
        }
    }
}

/// From the left side of a frame to a column of it.
fn column_x(index: i32) -> i32 {
    FRAME_PADDING + index * (BOX_WIDTH + COLUMN_GAP)
}

fn lanes_room(lanes: usize) -> i32 {
    whole(lanes).saturating_mul(LANE).min(LANES_AT_MOST)
}

fn lane_offset(lane: usize, lanes: usize) -> i32 {
    match lanes_room(lanes) < LANES_AT_MOST {
        true => whole(lane) * LANE,
        false => whole(LANES_AT_MOST as usize * lane / lanes),
    }
}

fn whole(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// Without points that change no direction.
fn straightened(way: Vec<Point>) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    for point in way {
        if kept.last() == Some(&point) {
            continue;
        }
        if let [.., before, last] = kept.as_slice() {
            let upright = before.x == last.x && last.x == point.x;
            let level = before.y == last.y && last.y == point.y;
            if upright || level {
                kept.pop();
            }
        }
        kept.push(point);
    }
    kept
}
