//! What is read, refused and written.

use super::*;
use crate::diagnostic::Diagnostic;
use proptest::prelude::*;
use std::time::Instant;

fn read(text: &str) -> Node {
    parse("a.sls", text.as_bytes()).unwrap_or_else(|diagnostics| panic!("{text:?}: {diagnostics:?}"))
}

#[track_caller]
fn refused(text: impl AsRef<[u8]>, message: &str, line: u32, column: u32) -> Diagnostic {
    let diagnostics = parse("a.sls", text.as_ref()).expect_err("refused");
    let diagnostic = diagnostics[0].clone();
    assert!(diagnostic.message.contains(message), "{diagnostic}");
    let at = diagnostic.at.clone().expect("a place");
    assert_eq!(
        (at.file.as_str(), at.position.line, at.position.column),
        ("a.sls", line, column),
        "{diagnostic}"
    );
    assert!(diagnostic.hint.is_some(), "{diagnostic}");
    diagnostic
}

fn at(line: u32, column: u32) -> Position {
    Position { line, column }
}

/// Each line was checked against Salt's loader by the tests of `salt_agreement`.
#[test]
fn plain_scalars_that_all_readers_read_alike() {
    for (text, value) in [
        ("~", Value::Null),
        ("null", Value::Null),
        ("true", Value::Bool(true)),
        ("False", Value::Bool(false)),
        ("0", Value::Integer(0)),
        ("-12", Value::Integer(-12)),
        ("+5", Value::Integer(5)),
        ("0x1F", Value::Integer(31)),
        ("9223372036854775807", Value::Integer(i64::MAX)),
        ("1.5", Value::Float(1.5)),
        ("1.", Value::Float(1.0)),
        (".5", Value::Float(0.5)),
        ("-0.5", Value::Float(-0.5)),
        ("1.5e+3", Value::Float(1500.0)),
        ("00.5", Value::Float(0.5)),
        ("y", "y".into()),
        ("n", "n".into()),
        ("2001-01-01", "2001-01-01".into()),
        ("2001-01-01 10:00:00", "2001-01-01 10:00:00".into()),
        ("10.0.0.1", "10.0.0.1".into()),
        ("1.2.3", "1.2.3".into()),
        ("80:80", "80:80".into()),
        ("1a", "1a".into()),
        ("-", Value::list([Value::Null])),
        ("truE", "truE".into()),
        ("grafana/grafana:11.0", "grafana/grafana:11.0".into()),
    ] {
        assert_eq!(read(text).value, value, "{text}");
    }
}

#[test]
fn plain_scalars_that_readers_read_otherwise_are_refused() {
    for text in [
        "yes",
        "No",
        "ON",
        "off",
        "0123",
        "-0123",
        "0750",
        "00",
        "0o17",
        "0b11",
        "1_000",
        "1:30",
        "190:20:30",
        "12:30:45.5",
        "1e3",
        "1.5e3",
        "+.5",
        "089",
        ".inf",
        "-.INF",
        ".nan",
        "9223372036854775808",
        "-0x1F",
        "0x1_F",
        "=",
        "<<",
        "1e+3",
        "1.0e+400",
    ] {
        let diagnostic = refused(format!("a: {text}\n"), "not the same to every reader", 1, 4);
        assert!(diagnostic.hint.is_some_and(|hint| hint.contains("quotes")));
        assert_eq!(
            read(&format!("a: '{text}'\n")).get("a").and_then(Node::as_str),
            Some(text)
        );
    }
}

#[test]
fn every_node_knows_its_place() {
    let text = "a: 1\nb:\n  \u{e9}: [x, {y: z}]\n  c:   # why\n  d: |  # text\n    one\n\n  e:\n  - 1\n  -\n";
    let root = read(text);
    let span = |path: &[&str]| {
        let node = root.path(path).unwrap();
        (node.at, &text[node.span.clone()])
    };
    assert_eq!(span(&["a"]), (at(1, 4), "1"));
    assert_eq!(span(&["b", "\u{e9}"]), (at(3, 6), "[x, {y: z}]"));
    assert_eq!(span(&["b", "c"]), (at(4, 5), ""));
    assert_eq!(span(&["b", "d"]), (at(5, 6), "|  # text\n    one"));
    assert_eq!(span(&["b", "e"]), (at(9, 3), "- 1\n  -"));
    assert_eq!(
        root.path(&["b", "e"]).unwrap().as_list().unwrap()[1].at,
        at(10, 4)
    );
    let entry = root.get("b").unwrap().entry("d").unwrap();
    assert_eq!((entry.key_at, &text[entry.key_span.clone()]), (at(5, 3), "d"));
    assert_eq!(root.span, 0..text.len() - 1);
}

#[test]
fn kept_block_text_ends_before_the_next_line() {
    let text = "a:\n  b: |+\n    one\n\n  c: 1\n";
    let root = read(text);
    let span = root.path(&["a", "b"]).unwrap().span.clone();
    assert_eq!(&text[span], "|+\n    one\n\n");
}

#[test]
fn values_are_found_and_named() {
    let root = read("a: {b: [1, 2.5, true, x, null]}\n");
    let list = root.path(&["a", "b"]).and_then(Node::as_list).unwrap();
    assert_eq!(list[0].as_i64(), Some(1));
    assert_eq!(list[2].as_bool(), Some(true));
    assert_eq!(list[3].as_str(), Some("x"));
    assert!(list[4].is_null());
    let kinds: Vec<_> = list.iter().map(Node::kind_name).collect();
    assert_eq!(
        kinds,
        ["a whole number", "a number", "true or false", "text", "nothing"]
    );
    assert_eq!(root.to_json().to_string(), r#"{"a":{"b":[1,2.5,true,"x",null]}}"#);
    assert!(root.path(&["a", "x"]).is_none());
}

#[test]
fn maps_compare_without_order() {
    assert_eq!(read("a: 1\nb: 2\n"), read("{b: 2, a: 1}\n"));
    assert_ne!(read("a: 1\n"), read("a: 1\nb: 2\n"));
    assert_ne!(read("[1, 2]\n"), read("[2, 1]\n"));
}

#[test]
fn bytes_that_are_not_text_are_refused() {
    refused(b"a: 1\nb: \xff\n", "not UTF-8", 2, 4);
    refused("a: \u{1}\n", "U+0001", 1, 4);
    refused("a: x\0\n", "U+0000", 1, 5);
    refused("a: \"\u{e9}\u{85}\"\n", "U+0085", 1, 6);
    refused("# \u{2028}\n", "U+2028", 1, 3);
    refused("a: \u{7f}\n", "U+007F", 1, 4);
    refused("\u{feff}a: 1\n", "byte order mark", 1, 1);
    refused("a: 1\rb: 2\n", "carriage return", 1, 5);
    refused("a: \"\\0\"\n", "NUL", 1, 4);
}

#[test]
fn what_pillar_files_do_without_is_refused() {
    refused("a: &x 1\n", "anchors", 1, 4);
    refused("a: *x\n", "aliases", 1, 4);
    refused("a: !!str 1\n", "tags", 1, 4);
    refused("<<: {a: 1}\n", "merge keys", 1, 1);
    refused("%YAML 1.1\n---\na: 1\n", "directives", 1, 1);
    refused("a: 1\n---\nb: 2\n", "second document", 2, 1);
    refused("a: 1\n...\n", "document end markers", 2, 1);
    refused("? a\n: 1\n", "one line", 1, 3);
    assert_eq!(read("---\n\"<<\": 1\n"), read("{\"<<\": 1}"));
}

#[test]
fn tabs_outside_of_text_are_refused() {
    refused("a:\n\tb: 1\n", "a tab stands in the indentation", 2, 1);
    refused("a:\t1\n", "a tab stands outside of text", 1, 3);
    refused("a: x\ty\n", "a tab stands in text without quotes", 1, 4);
    assert_eq!(
        read("a: \"\tx\" #\ty\n").get("a").and_then(Node::as_str),
        Some("\tx")
    );
}

#[test]
fn keys_are_text_and_stand_once() {
    refused("a: 1\nb: 2\na: 3\n", "the key `a` stands twice", 3, 1);
    refused("{a: 1, 'a': 2}\n", "the key `a` stands twice", 1, 8);
    let diagnostic = refused("80: x\n", "the key `80` is a whole number", 1, 1);
    assert_eq!(diagnostic.hint.as_deref(), Some("put it in quotes: \"80\""));
    refused("true: x\n", "the key `true` is true or false", 1, 1);
    refused("no: x\n", "the key `no` is not the same to every reader", 1, 1);
    refused(": x\n", "a key is missing", 1, 1);
    refused("[a]: x\n", "not text but a map or a list", 1, 1);
    refused(
        format!("{}: x\n", "k".repeat(1001)),
        "longer than 1000 bytes",
        1,
        1,
    );
    // What is read can be written, so what counts is its length in quotes.
    refused(
        format!("a{}: x\n", "\\".repeat(600)),
        "longer than 1000 bytes",
        1,
        1,
    );
}

#[test]
fn a_key_is_told_so_that_a_terminal_is_not_disturbed() {
    let diagnostic = refused(
        "\"\\e[31m\\u202ea\": 1\n\"\\e[31m\\u202ea\": 2\n",
        "the key `\\x1b[31m\\u202ea` stands twice",
        2,
        1,
    );
    assert!(!diagnostic.to_string().contains('\u{1b}'));
    let long = "k".repeat(900);
    let diagnostic = refused(format!("{long}: 1\n{long}: 2\n"), "stands twice", 2, 1);
    assert!(diagnostic.message.len() < 120, "{diagnostic}");
}

#[test]
fn jinja_is_named_as_such() {
    for text in ["a: {{ x }}\n", "{% if x %}\na: 1\n{% endif %}\n", "{# note #}\n"] {
        let diagnostics = parse("a.sls", text.as_bytes()).unwrap_err();
        assert!(
            diagnostics[0]
                .hint
                .as_ref()
                .is_some_and(|hint| hint.contains("Jinja")),
            "{diagnostics:?}"
        );
    }
    assert_eq!(
        read("a: '{{ x }}'\n").get("a").and_then(Node::as_str),
        Some("{{ x }}")
    );
}

#[test]
fn all_that_is_wrong_is_told_up_to_a_limit() {
    let diagnostics = parse("a.sls", b"a: yes\nb: 1\nb: 0o7\n").unwrap_err();
    assert_eq!(diagnostics.len(), 3);
    let many = "- yes\n".repeat(1000);
    assert_eq!(parse("a.sls", many.as_bytes()).unwrap_err().len(), 50);
}

#[test]
fn depth_and_size_are_limited() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    read(&nested(DEPTH_LIMIT));
    refused(nested(DEPTH_LIMIT + 1), "nested more than 64 levels", 1, 65);
    let deep: String = (0..100)
        .map(|depth| format!("{}a:\n", " ".repeat(depth)))
        .collect();
    assert!(
        parse("a.sls", deep.as_bytes()).unwrap_err()[0]
            .message
            .contains("nested more than 64")
    );
    for bomb in [
        "[".repeat(1_000_000),
        "{".repeat(1_000_000),
        "- ".repeat(500_000),
        "? ".repeat(500_000),
    ] {
        assert!(parse("a.sls", bomb.as_bytes()).is_err());
    }
    let four = b"{a: [1]}";
    assert!(parse::parse_within("a.sls", four, 4).is_ok());
    assert!(
        parse::parse_within("a.sls", four, 3).unwrap_err()[0]
            .message
            .contains("too many values")
    );
}

/// Twenty times the text takes about twenty times as long, not four hundred times.
#[test]
fn reading_and_writing_take_linear_time() {
    let time = |size: usize| {
        let hostile = "x\u{e9}\" \\ {{\u{2028}";
        let hostile = hostile.repeat(size / hostile.len());
        let value = Value::map([("a", hostile.into()), ("b", "y".repeat(size).into())]);
        let lines = format!(
            "a: |\n{}b: '{}'\n",
            "  line\n".repeat(size / 7),
            "w\n ".repeat(size / 3)
        );
        let begun = Instant::now();
        let text = print(&value).unwrap();
        assert_eq!(read(&text).value, value);
        read(&lines);
        begun.elapsed()
    };
    // The best of some runs: other work on the machine must not count.
    let best = |size| (0..3).map(|_| time(size)).min().unwrap();
    let (small, large) = (best(50_000), best(1_000_000));
    assert!(large < small * 100, "{small:?} for 50 kB, {large:?} for 1 MB");
}

#[test]
fn text_is_quoted_where_it_must_be() {
    for (text, quoted) in [
        ("grafana", "grafana"),
        ("/srv/data", "/srv/data"),
        ("11.0.1", "11.0.1"),
        ("", "\"\""),
        ("yes", "\"yes\""),
        ("12", "\"12\""),
        ("0o7", "\"0o7\""),
        ("1:30", "\"1:30\""),
        ("2001-01-01", "\"2001-01-01\""),
        ("a: b", "\"a: b\""),
        ("${x}", "\"${x}\""),
        ("{{ x }}", "\"{{ x }}\""),
        (" x ", "\" x \""),
        ("say \"no\" \\", "\"say \\\"no\\\" \\\\\""),
        ("a\nb\tc\r", "\"a\\nb\\tc\\r\""),
        ("\u{2028}\u{85}\u{feff}", "\"\\u2028\\x85\\ufeff\""),
        ("\u{1f600}", "\"\u{1f600}\""),
        ("\0", "\"\\x00\""),
    ] {
        assert_eq!(quote(text), quoted);
    }
}

#[test]
fn values_are_written_as_lines() {
    let value = Value::map([
        (
            "a",
            Value::list([
                1.into(),
                Value::list(["x".into()]),
                Value::map([("b", Value::Null), ("c", true.into())]),
            ]),
        ),
        ("d", Value::map::<&str>([])),
        ("e", Value::list([])),
        ("f", Value::Float(1e300)),
        ("g", Value::Float(2.0)),
        ("h", Value::Float(1.5e-7)),
    ]);
    assert_eq!(
        print(&value).unwrap(),
        "a:\n  - 1\n  - - x\n  - b: null\n    c: true\nd: {}\ne: []\nf: 1.0e+300\ng: 2.0\nh: 1.5e-7\n"
    );
    assert_eq!(print(&"x".into()).unwrap(), "x\n");
}

#[test]
fn what_could_not_be_read_back_is_not_written() {
    let deep = (0..=DEPTH_LIMIT).fold(Value::Null, |value, _| Value::list([value]));
    let twice = Value::map([("a", Value::Null), ("a", Value::Null)]);
    for value in [
        deep,
        twice,
        "\0".into(),
        Value::Float(f64::INFINITY),
        Value::map([("k".repeat(1001), Value::Null)]),
    ] {
        assert!(print(&value).is_err());
    }
}

/// Texts made of what YAML, Terraform, Nomad and Jinja give a meaning to.
pub(super) fn hostile_text() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        prop::sample::select(vec![
            "'",
            "\"",
            "\\",
            "\n",
            "\r",
            "\t",
            "${",
            "%{",
            "{{",
            "{%",
            "}}",
            " ",
            "  ",
            ": ",
            " #",
            "#",
            "- ",
            "? ",
            "|",
            ">",
            "&",
            "*",
            "!",
            "%",
            "@",
            "`",
            ",",
            "[",
            "]",
            "{",
            "}",
            "---",
            "...",
            "<<",
            "=",
            "~",
            "null",
            "yes",
            "No",
            "on",
            "true",
            "0",
            "12",
            "0o7",
            "0x1",
            "1e3",
            "1.5",
            ".inf",
            "1:30",
            "1_0",
            "2001-01-01",
            "\u{85}",
            "\u{2028}",
            "\u{2029}",
            "\u{feff}",
            "\u{a0}",
            "\u{1f600}",
            "\u{200b}",
            "\u{e9}",
            "\u{7f}",
            "\u{1b}",
            "\u{1}",
            "\u{fffe}",
            "\u{10ffff}",
            "\u{d7ff}",
            "a",
            "-",
            ".",
            "/",
            "_",
        ])
        .prop_map(str::to_owned),
        any::<char>()
            .prop_filter("NUL is refused", |char| *char != '\0')
            .prop_map(String::from),
    ];
    prop::collection::vec(fragment, 0..6).prop_map(|fragments| fragments.concat())
}

/// Values of all kinds, with hostile texts as values and keys.
pub(super) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Integer),
        any::<f64>()
            .prop_filter("not in JSON", |number| number.is_finite())
            .prop_map(Value::Float),
        hostile_text().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::list),
            prop::collection::btree_map(hostile_text(), inner, 0..4).prop_map(Value::map),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(value in any_value()) {
        let text = print(&value).unwrap();
        prop_assert_eq!(&read(&text).value, &value, "{}", text);
        let on_one_line = inline(&value);
        prop_assert!(!on_one_line.contains('\n'));
        prop_assert_eq!(&read(&on_one_line).value, &value, "{}", on_one_line);
    }

    #[test]
    fn reading_never_panics(text in hostile_text(), bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let _ = parse("a.sls", text.as_bytes());
        let _ = parse("a.sls", &bytes);
    }
}
