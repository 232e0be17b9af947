//! Where everything stands in the picture: whole pixels, the same for the same graph.
//!
//! An environment is a band. In it, components are frames in stacks, each stack to the right of what it comes after; in
//! a frame, nodes are boxes in columns by layer: what jobs need (secret, host) shares the first, one below the other. An edge to the right within a frame is one curve. Every other edge
//! leaves its frame, follows the channels between stacks and the gaps between frames, and enters the next frame, so that
//! it crosses no box. What comes from one node shares its way as long as it can, like the branches of a tree.

mod columns;
mod ways;

use self::columns::{Column, layers};
use super::letters::text_width;
use super::{Edge, Graph, levels};
use crate::emit::terraform::PLATFORM;
use crate::node::Layer;
use std::collections::{BTreeMap, BTreeSet};

/// A column is as wide as its longest name, within these bounds.
const BOX_WIDTH: i32 = 176;
const BOX_WIDTH_AT_MOST: i32 = 360;
const TITLE_AT_MOST: i32 = 480;
/// What a box has beside its name, and the mark of its health.
const BESIDE_NAME: i32 = 26;
const MARK: i32 = 20;
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
/// Sizes of text, as in the style; of a title with what bold letters are wider.
pub const NAME_SIZE: f64 = 12.5;
pub const TITLE_SIZE: f64 = 13.5 * 1.1;
/// Pictures without this much room look lost.
const LEAST_WIDTH: i32 = 1080;

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

impl Cell {
    fn first_row(&self) -> i32 {
        self.rect.y + FRAME_TITLE + lanes_room(self.above.len())
    }
}

/// Everything that leaves one node in one direction: it shares its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Net {
    source: usize,
    /// To a stack that is not to the right of its own.
    back: bool,
}

/// From where to where a column reaches.
#[derive(Clone, Copy)]
struct Span {
    x: i32,
    width: i32,
}

struct Stack {
    cells: Vec<usize>,
    /// Each with its place, from the left side of the stack.
    columns: BTreeMap<Column, Span>,
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
        plan.choose_columns_and_rows();
        plan.choose_lanes();
        plan.choose_ports();
        plan.choose_stacks();
        plan.choose_gaps();
        plan
    }

    fn is_curve(&self, edge: &Edge) -> bool {
        self.is_within(edge) && self.column_of[&edge.from] < self.column_of[&edge.to]
    }

    fn is_within(&self, edge: &Edge) -> bool {
        self.cell_of[&edge.from] == self.cell_of[&edge.to]
    }

    /// The edges from one frame to another.
    fn edges_between(&self) -> impl Iterator<Item = &Edge> {
        let edges = self.edges.iter().map(|(_, edge)| edge);
        edges.filter(|edge| !self.is_within(edge))
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
        let mut widths: BTreeMap<Column, i32> = BTreeMap::new();
        for node in cells.iter().flat_map(|cell| &self.cells[*cell].nodes) {
            let width = widths.entry(self.column_of[node]).or_default();
            *width = self.box_width(*node).max(*width);
        }
        let mut columns = BTreeMap::new();
        let mut x = FRAME_PADDING;
        for (column, width) in widths {
            columns.insert(column, Span { x, width });
            x += width + COLUMN_GAP;
        }
        let titles = cells.iter().map(|cell| self.title_width(*cell)).max();
        let stack = Stack {
            x: 0,
            width: (x - COLUMN_GAP).max(FRAME_PADDING + titles.unwrap_or(0)) + FRAME_PADDING,
            columns,
            gaps: vec![BTreeSet::new(); cells.len() + 1],
            cells,
        };
        for cell in &stack.cells {
            self.stack_of[*cell] = self.stacks.len();
        }
        self.stacks.push(stack);
        self.pile(self.stacks.len() - 1);
    }

    /// Wide enough for the name of the node, unless that is very long.
    fn box_width(&self, node: usize) -> i32 {
        let name = &self.graph.nodes[node].address.name;
        let beside = -room_for_name(0, self.graph.live.is_some());
        let wished = text_width(name, NAME_SIZE).ceil() as i32;
        wished.saturating_add(beside).clamp(BOX_WIDTH, BOX_WIDTH_AT_MOST)
    }

    fn title_width(&self, cell: usize) -> i32 {
        let wished = text_width(&self.cells[cell].component, TITLE_SIZE).ceil() as i32;
        wished.min(TITLE_AT_MOST)
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
        let middles: Vec<i64> = self.before[cell]
            .iter()
            .map(|from| &self.cells[*from])
            .filter(|from| from.component != PLATFORM && from.rect.height > 0)
            .map(|from| from.rect.middle().into())
            .collect();
        let mean = middles.iter().sum::<i64>().checked_div(middles.len() as i64)?;
        i32::try_from(mean).ok()
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
            self.cells[cell].rect.x = stack.x;
            let of = &self.cells[cell];
            let first = of.first_row();
            for node in &of.nodes {
                let column = stack.columns[&self.column_of[node]];
                self.boxes.insert(
                    *node,
                    Rect {
                        x: stack.x + column.x,
                        y: first + self.row_of[node] * HALF_ROW,
                        width: column.width,
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

    fn row_middle(&self, node: usize) -> i32 {
        self.cells[self.cell_of[&node]].first_row() + self.row_of[&node] * HALF_ROW + BOX_HEIGHT / 2
    }

    fn band(self, environment: &str, corner: Point) -> Band {
        let mut headings = Vec::new();
        for stack in &self.stacks {
            for (column, span) in stack.columns.iter().filter(|(column, _)| column.1 == 0) {
                let nodes = stack.cells.iter().flat_map(|cell| &self.cells[*cell].nodes);
                let layer = |node: &usize| self.graph.nodes[*node].layer;
                headings.push(Heading {
                    layers: nodes.map(layer).filter(|of| layers(*of) == column.0).collect(),
                    at: Point {
                        x: stack.x + span.x,
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

/// What a box of this width has for the name of its node.
pub fn room_for_name(width: i32, has_mark: bool) -> i32 {
    width - BESIDE_NAME - if has_mark { MARK } else { 0 }
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
