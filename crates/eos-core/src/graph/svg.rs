//! The graph as a picture: one SVG file that needs nothing else, light or dark as the reader's screen is.

use super::Graph;
use super::layout::{
    BOX_HEIGHT, Band, FRAME_TITLE, Frame, Layout, MARGIN, NAME_SIZE, Point, Rect, Route, TITLE_SIZE, layout,
    room_for_name,
};
use super::letters::{shortened, text_width};
use super::live::{Counts, Health, Live};
use crate::address::Address;
use crate::node::{Layer, Node, Writer};
use serde_json::Value;
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");
/// Of the corners of an edge.
const RADIUS: i32 = 9;
/// A picture shrinks to its window, down to this part of its width. A reader who zooms in gets past that.
const SMALLEST: i32 = 4;
/// The size of small text, as in the style.
const SMALL_SIZE: f64 = 11.0;
/// How much wider bold letters are.
const BOLD: f64 = 1.1;
const DIRECTION: &str = "An arrow leads from the earlier node to the later one";

pub fn svg(graph: &Graph) -> String {
    let layout = layout(graph);
    let Layout { width, height, .. } = layout;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"eos-graph\" role=\"img\" \
         aria-labelledby=\"eos-graph-title eos-graph-desc\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" style=\"min-width:{}px\">\n\
         <title id=\"eos-graph-title\">{}</title>\n\
         <desc id=\"eos-graph-desc\">{}</desc>\n\
         <style>\n{STYLE}</style>\n\
         <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>",
        width / SMALLEST,
        escaped(&title(graph)),
        escaped(&format!("{}. {DIRECTION}.", extent(graph))),
    );
    head(&mut text, graph, width);
    for band in &layout.bands {
        band_below(&mut text, band);
    }
    for (edge, route) in graph.edges.iter().zip(&layout.routes) {
        let [from, to] = [edge.from, edge.to].map(|place| graph.nodes[place]);
        let between = if from.component == to.component {
            ""
        } else {
            " between"
        };
        let way = way(route);
        let _ = writeln!(
            text,
            "<g class=\"edge{between}\"><title>{} after {}</title><path class=\"reach\" d=\"{way}\"/>\
             <path d=\"{way}\"/></g>",
            escaped(&to.address.to_string()),
            escaped(&from.address.to_string()),
        );
    }
    for ((node, wave), rect) in graph.nodes.iter().zip(&graph.waves).zip(&layout.boxes) {
        node_box(&mut text, node, *wave, rect, graph.health(node));
    }
    text.push_str("</svg>\n");
    text
}

/// `5 components in production, staging`.
fn title(graph: &Graph) -> String {
    let components = counted(graph.components().len(), "component");
    match Vec::from_iter(graph.environments()).as_slice() {
        [] => "There is no component yet".to_owned(),
        environments => format!("{components} in {}", environments.join(", ")),
    }
}

fn extent(graph: &Graph) -> String {
    let waves = graph.waves.iter().copied().max().unwrap_or(0);
    format!(
        "{} in {}",
        counted(graph.nodes.len(), "node"),
        counted(waves, "wave")
    )
}

fn counted(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// The title, and on the right what the colours mean.
fn head(text: &mut String, graph: &Graph, width: i32) {
    let mut x = width - MARGIN;
    let mut legend = String::new();
    for layer in Layer::ALL.into_iter().rev() {
        let name = layer.name();
        x -= text_width(name, SMALL_SIZE) as i32;
        let _ = writeln!(
            legend,
            "<g class=\"{name}\"><rect class=\"box\" x=\"{}\" y=\"32\" width=\"13\" height=\"13\" rx=\"4\"/>\
             <text class=\"quiet\" x=\"{x}\" y=\"43\">{name}</text></g>",
            x - 19
        );
        x -= 40;
    }
    let _ = writeln!(
        text,
        "<text class=\"headline\" x=\"{MARGIN}\" y=\"44\">{}</text>\n\
         <text class=\"quiet\" x=\"{MARGIN}\" y=\"64\">{}. {DIRECTION}.</text>",
        escaped(&shortened(&title(graph), x - MARGIN, 20.0 * BOLD)),
        extent(graph)
    );
    text.push_str(&legend);
    if let Some(live) = &graph.live {
        live_legend(text, graph, live, width);
    }
}

/// Below the layers: how many are well, and what the marks mean.
fn live_legend(text: &mut String, graph: &Graph, live: &Live, width: i32) {
    let Counts {
        well,
        ill,
        absent,
        unknown,
    } = live.counts(graph.nodes.iter().copied());
    let all = [
        (Health::Unknown, unknown),
        (Health::Absent, absent),
        (Health::Ill(String::new()), ill),
        (Health::Well, well),
    ];
    let mut x = width - MARGIN;
    for (health, count) in all.iter().filter(|(_, count)| *count > 0) {
        let words = format!("{count} {}", health.word());
        x -= text_width(&words, SMALL_SIZE) as i32;
        mark(text, health, Point { x: x - 12, y: 60 });
        let _ = writeln!(text, "<text class=\"quiet\" x=\"{x}\" y=\"64\">{words}</text>");
        x -= 40;
    }
}

/// A disc whose letter says the same as its colour.
fn mark(text: &mut String, health: &Health, at: Point) {
    let letter = match health {
        Health::Well => "\u{2713}",
        other => other.mark(),
    };
    let Point { x, y } = at;
    let _ = write!(
        text,
        "<g class=\"health {}\"><circle cx=\"{x}\" cy=\"{y}\" r=\"7\"/><text x=\"{x}\" y=\"{}\">{letter}</text></g>",
        health.word(),
        y + 4
    );
}

fn band_below(text: &mut String, band: &Band) {
    let Rect { x, y, width, height } = band.rect;
    let _ = writeln!(
        text,
        "<rect class=\"band\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"14\"/>\n\
         <text class=\"band-title\" x=\"{}\" y=\"{}\">{}</text>",
        x + 24,
        y + 30,
        escaped(&shortened(&band.environment, width - 48, 16.0 * BOLD)),
    );
    for heading in &band.headings {
        let Point { x, y } = heading.at;
        let _ = write!(text, "<text class=\"heading\" x=\"{x}\" y=\"{y}\">");
        for (place, layer) in heading.layers.iter().enumerate() {
            let name = layer.name();
            let space = if place == 0 { "" } else { " dx=\"10\"" };
            let _ = write!(text, "<tspan class=\"{name}\"{space}>{name}</tspan>");
        }
        text.push_str("</text>\n");
    }
    for frame in &band.frames {
        frame_below(text, frame);
    }
}

fn frame_below(text: &mut String, frame: &Frame) {
    let Rect { x, y, width, height } = frame.rect;
    let _ = writeln!(
        text,
        "<g><title>{}</title><rect class=\"frame\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"10\"/>\
         <text class=\"frame-title\" x=\"{}\" y=\"{}\">{}</text></g>",
        escaped(&frame.component),
        x + 16,
        y + FRAME_TITLE - 11,
        escaped(&shortened(&frame.component, width - 32, TITLE_SIZE))
    );
}

fn node_box(text: &mut String, node: &Node, wave: usize, rect: &Rect, health: Option<&Health>) {
    let Rect { x, y, width, .. } = *rect;
    let Address { kind, name } = &node.address;
    let room = room_for_name(width, health.is_some());
    let state = health.map_or_else(String::new, |health| format!(" is-{}", health.word()));
    let _ = write!(
        text,
        "<g class=\"node {}{state}\"><title>{}</title>\
         <rect class=\"box\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BOX_HEIGHT}\" rx=\"7\"/>\
         <rect class=\"bar\" x=\"{}\" y=\"{}\" width=\"3\" height=\"{}\" rx=\"1.5\"/>\
         <text class=\"name\" x=\"{}\" y=\"{}\">{}</text>\
         <text class=\"small\" x=\"{}\" y=\"{}\">{}</text>\
         <text class=\"small end\" x=\"{}\" y=\"{}\">wave {wave}</text>",
        node.layer.name(),
        escaped(&hover(node, wave, health)),
        x + 7,
        y + 8,
        BOX_HEIGHT - 16,
        x + 17,
        y + 17,
        escaped(&shortened(name, room, NAME_SIZE)),
        x + 17,
        y + 31,
        escaped(&shortened(kind.word(), room - 60, SMALL_SIZE)),
        x + width - 9,
        y + 31,
    );
    if let Some(health) = health {
        let at = Point {
            x: x + width - 14,
            y: y + 12,
        };
        mark(text, health, at);
    }
    text.push_str("</g>\n");
}

fn writer(writer: Writer) -> &'static str {
    match writer {
        Writer::Salt => "salt",
        Writer::Terraform => "terraform",
        Writer::Secret => "secret",
    }
}

/// All there is to know about a node, one line a thing.
fn hover(node: &Node, wave: usize, health: Option<&Health>) -> String {
    let mut text = format!(
        "{}\n{}\nwritten by {}, wave {wave}",
        node.address,
        node.summary,
        writer(node.writer)
    );
    if let Some(health) = health {
        let _ = write!(text, "\n{}", health.words());
    }
    for (name, attribute) in &node.attributes {
        let value = match &attribute.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let _ = write!(text, "\n{name} = {value}  ({})", attribute.from);
    }
    text
}

fn way(route: &Route) -> String {
    let mut way = String::new();
    match route {
        Route::Curve { from, turn, to } => {
            let _ = write!(way, "M{} {}", from.x, from.y);
            if *turn > from.x {
                let _ = write!(way, "H{turn}");
            }
            let middle = (turn + to.x) / 2;
            let _ = write!(way, "C{middle} {} {middle} {} {} {}", from.y, to.y, to.x, to.y);
        }
        Route::Way(points) => {
            let start = points[0];
            let _ = write!(way, "M{} {}", start.x, start.y);
            for three in points.windows(3) {
                corner(&mut way, three[0], three[1], three[2]);
            }
        }
    }
    let Point { x, y } = match route {
        Route::Curve { to, .. } => *to,
        Route::Way(points) => points[points.len() - 1],
    };
    // The arrow head: every edge ends on the left side of a box.
    let _ = write!(way, "L{x} {y}M{} {}L{x} {y}L{} {}", x - 6, y - 4, x - 6, y + 4);
    way
}

/// To a corner and round it.
fn corner(way: &mut String, before: Point, at: Point, after: Point) {
    let reach = |other: Point| {
        let length = (other.x - at.x).abs() + (other.y - at.y).abs();
        let radius = RADIUS.min(length / 2);
        Point {
            x: at.x + (other.x - at.x).signum() * radius,
            y: at.y + (other.y - at.y).signum() * radius,
        }
    };
    let (enter, leave) = (reach(before), reach(after));
    let _ = write!(
        way,
        "L{} {}Q{} {} {} {}",
        enter.x, enter.y, at.x, at.y, leave.x, leave.y
    );
}

/// Text as XML has it. What XML cannot hold, and what would turn the direction of a text, is shown as unknown.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(letter),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => {
                escaped.push('\u{fffd}')
            }
            letter if letter.is_control() => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}
