//! What holds for every graph, with graphs made by hand and at random.

use super::layout::{Layout, Point, Rect, Route, layout};
use super::live::{Health, Live};
use super::{Graph, dot::dot, svg::svg};
use crate::address::Address;
use crate::node::{Attribute, Layer, Node, Reversibility, Writer};
use crate::source::Source;
use proptest::prelude::*;
use regex::Regex;
use std::collections::BTreeMap;

fn node(component: &str, layer: Layer, address: &str, after: &[&str]) -> Node {
    let value = Attribute {
        value: format!("value of {address}").into(),
        from: Source::pass("test", address),
        over: Vec::new(),
    };
    Node {
        address: address.parse().unwrap(),
        environment: "production".to_owned(),
        component: component.to_owned(),
        owner: None,
        risk: Default::default(),
        layer,
        writer: Writer::Terraform,
        reversibility: Reversibility::Reversible,
        summary: format!("summary of {address}"),
        attributes: BTreeMap::from([("attribute".to_owned(), value)]),
        after: after.iter().map(|address| address.parse().unwrap()).collect(),
    }
}

/// A component that comes after another: the edge leads from one frame to the next.
fn two_components() -> Vec<Node> {
    vec![
        node("platform", Layer::Job, "namespace/production", &[]),
        node("database", Layer::Host, "volume/database-data", &[]),
        node(
            "database",
            Layer::Job,
            "job/database",
            &["namespace/production", "volume/database-data"],
        ),
        node("database", Layer::Service, "service/database", &["job/database"]),
        node(
            "chat",
            Layer::Job,
            "job/chat",
            &["namespace/production", "service/database"],
        ),
        node("hello", Layer::Job, "job/hello", &["namespace/production"]),
    ]
}

fn waves(graph: &Graph) -> Vec<(usize, String)> {
    let nodes = graph.nodes.iter().map(|node| node.address.to_string());
    let mut waves: Vec<_> = graph.waves.iter().copied().zip(nodes).collect();
    waves.sort();
    waves
}

#[test]
fn a_wave_holds_what_has_nothing_left_to_wait_for() {
    let nodes = two_components();
    let graph = Graph::new(&nodes).unwrap();
    let expected = [
        (1, "namespace/production"),
        (1, "volume/database-data"),
        (2, "job/database"),
        (2, "job/hello"),
        (3, "service/database"),
        (4, "job/chat"),
    ];
    assert_eq!(
        waves(&graph),
        expected.map(|(wave, address)| (wave, address.to_owned()))
    );
}

#[test]
fn a_component_comes_with_all_it_comes_after_and_nothing_else() {
    let nodes = two_components();
    let graph = Graph::new(&nodes).unwrap().up_to("chat");
    let left: Vec<&str> = graph.nodes.iter().map(|node| node.component.as_str()).collect();
    assert_eq!(left, ["chat", "database", "platform", "database", "database"]);
    assert_eq!(graph.waves.iter().max(), Some(&4));
    assert!(Graph::new(&nodes).unwrap().up_to("none").nodes.is_empty());
}

#[test]
fn an_edge_that_leads_nowhere_is_refused() {
    let nodes = [node("hello", Layer::Job, "job/hello", &["secret/hello"])];
    let refused = Graph::new(&nodes).unwrap_err();
    assert_eq!(
        refused[0].message,
        "job/hello in production comes after secret/hello, which is not there"
    );
}

#[test]
fn equal_addresses_of_two_environments_are_two_nodes() {
    let mut nodes = two_components();
    nodes.extend(two_components().into_iter().map(|node| Node {
        environment: "staging".to_owned(),
        ..node
    }));
    let graph = Graph::new(&nodes).unwrap();
    assert_eq!(graph.edges.len(), 12);
    for edge in &graph.edges {
        assert_eq!(
            graph.nodes[edge.from].environment,
            graph.nodes[edge.to].environment
        );
    }
    check(&graph);
}

#[test]
fn a_cycle_is_drawn_and_not_followed_for_ever() {
    let nodes = [
        node("a", Layer::Job, "job/a", &["job/b", "job/a"]),
        node("b", Layer::Job, "job/b", &["job/c"]),
        node("b", Layer::Service, "job/c", &["job/a", "job/b"]),
    ];
    let graph = Graph::new(&nodes).unwrap();
    assert_eq!(graph.edges.len(), 5);
    check(&graph);
}

#[test]
fn nothing_is_a_picture_too() {
    let graph = Graph::new(&[]).unwrap();
    check(&graph);
    assert!(svg(&graph).contains("There is no component yet"));
    assert!(dot(&graph).starts_with("digraph"));
}

#[test]
fn a_thousand_components_stand_apart() {
    let mut nodes = vec![node("platform", Layer::Job, "namespace/production", &[])];
    for number in 0..1000 {
        let component = format!("c{number}");
        let volume = format!("volume/{component}");
        let job = format!("job/{component}");
        let service = format!("service/{component}");
        nodes.push(node(&component, Layer::Host, &volume, &[]));
        let mut after = vec!["namespace/production".to_owned(), volume];
        if number % 3 > 0 {
            after.push(format!("service/c{}", number / 3 * 3));
        }
        let after: Vec<&str> = after.iter().map(String::as_str).collect();
        nodes.push(node(&component, Layer::Job, &job, &after));
        nodes.push(node(&component, Layer::Service, &service, &[&job]));
    }
    let graph = Graph::new(&nodes).unwrap();
    let layout = layout(&graph);
    apart(&layout);
    assert!(layout.width < 3 * layout.height && layout.height < 3 * layout.width);
    assert!(svg(&graph).len() > 1_000_000);
}

#[test]
fn a_hover_tells_all_of_a_node_and_an_edge_what_it_joins() {
    let nodes = two_components();
    let picture = svg(&Graph::new(&nodes).unwrap());
    assert!(picture.contains("<title>job/chat after service/database</title>"));
    assert!(picture.contains(
        "<title>job/chat\nsummary of job/chat\nwritten by terraform, wave 4\n\
         attribute = value of job/chat  (pass test: job/chat)</title>"
    ));
    for unwanted in ["<script", "href", "url(", "@import"] {
        assert!(!picture.contains(unwanted), "{unwanted}");
    }
}

#[test]
fn a_long_name_is_short_in_its_box_and_whole_in_the_hover() {
    let long = format!("job/{}-end", "long".repeat(30));
    let nodes = [node("one", Layer::Job, &long, &[])];
    let picture = svg(&Graph::new(&nodes).unwrap());
    assert!(picture.contains(&format!("<title>{long}\n")));
    assert!(
        picture.contains('…') && picture.contains("-end</text>"),
        "{picture}"
    );
}

#[test]
fn a_name_as_people_give_it_is_whole_in_its_box_and_its_frame() {
    let name = "customer-relationship-dashboard-1";
    let mut nodes = vec![
        node(name, Layer::Secret, &format!("secret/{name}"), &[]),
        node(name, Layer::Job, &format!("job/{name}"), &[]),
    ];
    nodes.push(node("small", Layer::Job, "job/small", &[]));
    let mut graph = Graph::new(&nodes).unwrap();
    let asked = Live::default();
    for live in [None, Some(asked)] {
        graph.live = live;
        let picture = svg(&graph);
        assert!(!picture.contains('…'), "{picture}");
        check(&graph);
    }
}

#[test]
fn a_picture_shrinks_to_its_window() {
    let picture = svg(&Graph::new(&two_components()).unwrap());
    let root = picture.split_once('>').unwrap().0;
    assert!(root.contains(" viewBox=\"0 0 "), "{root}");
    assert!(picture.contains("max-width: 100%; height: auto;"));
}

#[test]
fn a_label_for_graphviz_stands_for_itself() {
    let nodes = [node("a\"b", Layer::Job, "job/\\N \"x\" &amp;\n", &[])];
    let text = dot(&Graph::new(&nodes).unwrap());
    assert!(text.contains(r#"label="a\"b";"#), "{text}");
    assert!(text.contains(r#"[label="job/\\N \"x\" &amp;amp;\n","#), "{text}");
}

#[test]
fn what_is_ill_is_marked_without_colour_too_and_says_why() {
    let nodes = two_components();
    let mut graph = Graph::new(&nodes).unwrap();
    let plain = svg(&graph);
    assert!(!plain.contains("class=\"health"), "nobody was asked");
    let mut live = Live::default();
    for node in &graph.nodes {
        live.set(
            node,
            match node.address.to_string().as_str() {
                "job/chat" => Health::Ill("0 of 1 healthy: <b>no</b>".to_owned()),
                "job/hello" => Health::Absent,
                _ => Health::Well,
            },
        );
    }
    let well = graph.nodes.len() - 2;
    graph.live = Some(live);
    let picture = svg(&graph);
    sound(&graph, &picture);
    assert!(picture.contains("class=\"node job is-ill\""));
    assert!(picture.contains("wave 4\nill: 0 of 1 healthy: &lt;b&gt;no&lt;/b&gt;\n"));
    for words in [format!("{well} well"), "1 ill".to_owned(), "1 absent".to_owned()] {
        assert!(picture.contains(&format!(">{words}</text>")), "{words}");
    }
    let text = dot(&graph);
    assert!(text.contains("[label=\"job/chat !\""), "{text}");
    assert!(text.contains("wave 4, ill: 0 of 1 healthy"), "{text}");
    assert!(text.contains("[label=\"job/hello -\""), "{text}");
}

/// All that must hold of the picture of any graph.
fn check(graph: &Graph) {
    let layout = layout(graph);
    apart(&layout);
    inside(graph, &layout);
    assert_eq!(layout.routes.len(), graph.edges.len());
    for (edge, route) in graph.edges.iter().zip(&layout.routes) {
        let (source, target) = (layout.boxes[edge.from], layout.boxes[edge.to]);
        let (from, to) = ends(route);
        assert_eq!(from.x, source.right());
        assert!(source.y < from.y && from.y < source.bottom());
        assert_eq!(to.x, target.x);
        assert!(target.y < to.y && to.y < target.bottom());
        for (one, other) in level_and_upright(route) {
            for rect in &layout.boxes {
                assert!(
                    !runs_through(one, other, rect),
                    "{edge:?} {one:?} {other:?} {rect:?}"
                );
            }
        }
    }
    sound(graph, &svg(graph));
}

fn ends(route: &Route) -> (Point, Point) {
    match route {
        Route::Curve { from, to, .. } => (*from, *to),
        Route::Way(points) => (points[0], points[points.len() - 1]),
    }
}

fn level_and_upright(route: &Route) -> Vec<(Point, Point)> {
    match route {
        Route::Curve { from, turn, .. } => vec![(*from, Point { x: *turn, y: from.y })],
        Route::Way(points) => points.windows(2).map(|two| (two[0], two[1])).collect(),
    }
}

/// Whether a level or upright line is inside of a box, not only at its edge.
fn runs_through(one: Point, other: Point, rect: &Rect) -> bool {
    assert!(one.x == other.x || one.y == other.y, "{one:?} {other:?}");
    let overlap = |one: i32, other: i32, start: i32, end: i32| {
        let (low, high) = (one.min(other), one.max(other));
        low < end && start < high || low == high && start < low && low < end
    };
    overlap(one.x, other.x, rect.x, rect.right()) && overlap(one.y, other.y, rect.y, rect.bottom())
}

fn apart(layout: &Layout) {
    let frames = layout.bands.iter().flat_map(|band| &band.frames);
    let frames: Vec<Rect> = frames.map(|frame| frame.rect).collect();
    let bands: Vec<Rect> = layout.bands.iter().map(|band| band.rect).collect();
    for mut rects in [layout.boxes.clone(), frames, bands] {
        rects.sort_by_key(|rect| (rect.x, rect.y));
        for (place, one) in rects.iter().enumerate() {
            let near = rects[place + 1..]
                .iter()
                .take_while(|other| other.x < one.right());
            for other in near {
                assert!(
                    one.bottom() <= other.y || other.bottom() <= one.y,
                    "{one:?} {other:?}"
                );
            }
        }
    }
}

fn holds(outer: &Rect, inner: &Rect) -> bool {
    outer.x <= inner.x
        && outer.y <= inner.y
        && inner.right() <= outer.right()
        && inner.bottom() <= outer.bottom()
}

fn inside(graph: &Graph, layout: &Layout) {
    for band in &layout.bands {
        assert!(band.rect.right() < layout.width && band.rect.bottom() < layout.height);
        for frame in &band.frames {
            assert!(holds(&band.rect, &frame.rect));
            for (node, rect) in graph.nodes.iter().zip(&layout.boxes) {
                if node.environment == band.environment && node.component == frame.component {
                    assert!(holds(&frame.rect, rect), "{rect:?} {:?}", frame.rect);
                }
            }
        }
    }
    for route in &layout.routes {
        let points = level_and_upright(route);
        assert!(points.iter().all(|(one, other)| {
            [one, other]
                .iter()
                .all(|at| 0 < at.x && at.x < layout.width && 0 < at.y && at.y < layout.height)
        }));
    }
}

/// Tags are closed in their order, text holds no tag, and every address is there for the hover.
fn sound(graph: &Graph, picture: &str) {
    let tag = Regex::new(r#"<(/?)([a-z]+)((?: [a-zA-Z-]+="[^"<>&]*")*)(/?)>"#).unwrap();
    let mut open: Vec<&str> = Vec::new();
    let mut end = 0;
    let mut texts = Vec::new();
    for found in tag.captures_iter(picture) {
        let whole = found.get(0).unwrap();
        texts.push(&picture[end..whole.start()]);
        end = whole.end();
        let name = found.get(2).unwrap().as_str();
        match (&found[1], &found[4]) {
            ("/", _) => assert_eq!(open.pop(), Some(name)),
            (_, "/") => {}
            _ => open.push(name),
        }
    }
    assert!(open.is_empty() && picture[end..].trim().is_empty());
    let entity = Regex::new("&(amp|lt|gt|quot);").unwrap();
    for text in &texts {
        assert!(!text.contains(['<', '>']), "{text}");
        assert!(!entity.replace_all(text, "").contains('&'), "{text}");
        assert!(
            text.chars()
                .all(|letter| letter == '\n' || letter == '\t' || !letter.is_control())
        );
    }
    let hovers = texts.iter().filter(|text| text.contains("\nwritten by ")).count();
    assert_eq!(hovers, graph.nodes.len());
    assert_eq!(picture.matches("class=\"reach\"").count(), graph.edges.len());
}

const HOSTILE: [&str; 9] = [
    "",
    "grafana",
    "</title><script>alert(1)</script>",
    "a&b\"c'd",
    "]]>",
    "\u{0}\u{1b}[2J\u{202e}\u{ffff}",
    "\\N\\\"",
    "two\nlines",
    "日本語のとても長い名前です日本語のとても長い名前です",
];

prop_compose! {
    fn any_node(count: usize)(
        component in 0..6usize,
        layer in 0..5usize,
        hostile in 0..HOSTILE.len(),
        after in prop::collection::vec(0..count, 0..4),
        staging in prop::bool::weighted(0.2),
    ) -> (usize, usize, usize, Vec<usize>, bool) {
        (component, layer, hostile, after, staging)
    }
}

fn any_nodes() -> impl Strategy<Value = Vec<Node>> {
    (1..24usize)
        .prop_flat_map(|count| prop::collection::vec(any_node(count), count))
        .prop_map(|drawn| {
            let address = |place: usize| format!("job/{place}{}", HOSTILE[drawn[place].2]);
            drawn
                .iter()
                .enumerate()
                .map(|(place, (component, layer, hostile, after, staging))| {
                    // Edges stay within an environment.
                    let after: Vec<String> = after
                        .iter()
                        .filter(|from| drawn[**from].4 == *staging)
                        .map(|from| address(*from))
                        .collect();
                    let after: Vec<&str> = after.iter().map(String::as_str).collect();
                    let component = format!("{component}{}", HOSTILE[(component + 1) % HOSTILE.len()]);
                    let mut made = node(&component, Layer::ALL[*layer], &address(place), &after);
                    made.summary = HOSTILE[*hostile].to_owned();
                    if *staging {
                        made.environment = "staging".to_owned();
                    }
                    made
                })
                .collect()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_graph_is_drawn_soundly(nodes in any_nodes()) {
        check(&Graph::new(&nodes).unwrap());
    }

    #[test]
    fn the_order_of_the_nodes_changes_no_byte(nodes in any_nodes(), seed in 0..97usize) {
        let graph = Graph::new(&nodes).unwrap();
        let mut turned: Vec<&Node> = nodes.iter().collect();
        turned.rotate_left(seed % nodes.len());
        let again = Graph::new(turned).unwrap();
        prop_assert_eq!(svg(&graph), svg(&again));
        prop_assert_eq!(dot(&graph), dot(&again));
    }

    #[test]
    fn any_node_without_a_cycle_is_in_a_later_wave_than_what_it_comes_after(mut nodes in any_nodes()) {
        let order: BTreeMap<Address, usize> =
            nodes.iter().enumerate().map(|(place, node)| (node.address.clone(), place)).collect();
        for node in &mut nodes {
            let own = order[&node.address];
            node.after.retain(|from| order[from] < own);
        }
        let graph = Graph::new(&nodes).unwrap();
        for edge in &graph.edges {
            prop_assert!(graph.waves[edge.from] < graph.waves[edge.to]);
        }
        for (place, wave) in graph.waves.iter().enumerate() {
            let before = graph.edges.iter().filter(|edge| edge.to == place);
            let latest = before.map(|edge| graph.waves[edge.from]).max().unwrap_or(0);
            prop_assert_eq!(*wave, latest + 1);
        }
    }
}
