//! The ways of edges: lanes in a frame, gaps between frames, channels between stacks, and the route along them.

use super::{
    BOX_HEIGHT, BandPlan, COLUMN_GAP, Channel, FRAME_GAP, FRAME_PADDING, FRAME_TITLE, HALF_ROW, LANE, Net,
    Point, Route, lane_offset, lanes_room, whole,
};
use crate::graph::Edge;
use std::collections::{BTreeMap, BTreeSet};

/// From a box to where an edge turns up or down.
const TURN: i32 = 14;

#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

impl BandPlan<'_> {
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

    pub(super) fn choose_lanes(&mut self) {
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
    pub(super) fn choose_gaps(&mut self) {
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

    /// In each channel, nets whose ways up and down overlap get a lane each.
    pub(super) fn choose_channels(&mut self) {
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
    pub(super) fn choose_ports(&mut self) {
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
    pub(super) fn routes(&self) -> impl Iterator<Item = (usize, Route)> {
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
