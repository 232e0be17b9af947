//! What an edit changes, and what it leaves alone.

use super::*;
use crate::yaml::Style;
use proptest::prelude::*;
use proptest::sample::Index;

const FILE: &str = "pillar/infrastructure/production.sls";

fn set_ok(text: &str, path: &[&str], value: impl Into<Value>) -> String {
    set(FILE, text, path, &value.into()).unwrap_or_else(|diagnostic| panic!("{diagnostic}\nin {text}"))
}

fn remove_ok(text: &str, path: &[&str]) -> String {
    remove(FILE, text, path).unwrap_or_else(|diagnostic| panic!("{diagnostic}\nin {text}"))
}

const ESTATE: &str = "\
#!yaml
# The estate of the kitchen.

components:
  # Shown in the hall.
  grafana:
    recipe: grafana   # from the catalog
    options:
      # Chosen by the house.
      port: 3000   # do not change

      theme: dark
  prometheus: {recipe: prometheus, options: {port: 9090}}
# The machines.
hosts:
  control:
    address: 10.0.0.1
";

#[test]
fn a_scalar_is_replaced_in_its_place() {
    let edited = set_ok(ESTATE, &["components", "grafana", "options", "port"], 3001);
    assert_eq!(edited, ESTATE.replace("port: 3000", "port: 3001"));
}

#[test]
fn block_text_that_keeps_its_blank_lines_is_replaced_without_the_key_behind_it() {
    let text = "#!yaml\na:\n  b: |+\n    one\n\n  c: 1\n";
    assert_eq!(set_ok(text, &["a", "b"], "two"), "#!yaml\na:\n  b: two\n  c: 1\n");
    assert_eq!(remove_ok(text, &["a", "b"]), "#!yaml\na:\n  c: 1\n");
}

#[test]
fn setting_the_same_value_changes_nothing() {
    assert_eq!(
        set_ok(ESTATE, &["components", "grafana", "options", "port"], 3000),
        ESTATE
    );
    let root = read(FILE, ESTATE).unwrap();
    let grafana = root.path(&["components", "grafana"]).unwrap();
    assert_eq!(
        set(FILE, ESTATE, &["components", "grafana"], &grafana.value).unwrap(),
        ESTATE
    );
}

#[test]
fn setting_a_map_edits_only_the_lines_that_differ() {
    let options = Value::map([
        ("theme", "light".into()),
        ("port", 3000.into()),
        ("users", 5.into()),
    ]);
    let edited = set_ok(ESTATE, &["components", "grafana", "options"], options);
    assert_eq!(
        edited,
        ESTATE.replace("theme: dark\n", "theme: light\n      users: 5\n")
    );
    let options = Value::map([("theme", "dark".into())]);
    let edited = set_ok(ESTATE, &["components", "grafana", "options"], options);
    let owned = "      # Chosen by the house.\n      port: 3000   # do not change\n";
    assert_eq!(edited, ESTATE.replace(owned, ""));
}

#[test]
fn a_new_key_goes_to_its_sorted_place_above_the_comments_of_the_next() {
    let edited = set_ok(
        ESTATE,
        &["components", "consul"],
        Value::map([("recipe", "consul".into())]),
    );
    let next = "  # Shown in the hall.\n";
    assert_eq!(
        edited,
        ESTATE.replace(next, &format!("  consul:\n    recipe: consul\n{next}"))
    );
    let edited = set_ok(ESTATE, &["components", "grafana", "options", "zone"], "hall");
    assert_eq!(
        edited,
        ESTATE.replace("theme: dark\n", "theme: dark\n      zone: hall\n")
    );
    let edited = set_ok(ESTATE, &["domains"], Value::list(["a.example".into()]));
    assert_eq!(
        edited,
        ESTATE.replace("# The machines.\n", "domains:\n  - a.example\n# The machines.\n")
    );
}

#[test]
fn a_new_key_goes_to_the_end_where_keys_are_not_sorted() {
    let text = "#!yaml\nb: 1\na: 2\n# the end\n";
    assert_eq!(set_ok(text, &["aa"], 3), "#!yaml\nb: 1\na: 2\naa: 3\n# the end\n");
}

#[test]
fn comments_at_the_top_belong_to_the_file() {
    let text = "#!yaml\n# of the file\nb: 1\n";
    assert_eq!(set_ok(text, &["a"], 0), "#!yaml\n# of the file\na: 0\nb: 1\n");
    assert_eq!(remove_ok(text, &["b"]), "#!yaml\n# of the file\n");
}

#[test]
fn missing_parents_are_made() {
    let edited = set_ok("#!yaml\n", &["a", "b", "c"], "d");
    assert_eq!(edited, "#!yaml\na:\n  b:\n    c: d\n");
    assert_eq!(set_ok("#!yaml\na:\n", &["a", "b"], 1), "#!yaml\na:\n  b: 1\n");
    assert_eq!(
        set_ok("#!yaml\na:   # why\nb: 1\n", &["a", "b"], 1),
        "#!yaml\na:   # why\n  b: 1\nb: 1\n"
    );
    assert_eq!(set_ok("#!yaml\n{}\n", &["a"], 1), "#!yaml\na: 1\n");
    assert_eq!(set_ok("#!yaml", &["a"], 1), "#!yaml\na: 1\n");
    assert_eq!(set_ok("#!yaml\n---\n", &["a"], 1), "#!yaml\n---\na: 1\n");
}

#[test]
fn removing_takes_the_comments_of_the_key_and_nothing_else() {
    let edited = remove_ok(ESTATE, &["components", "grafana"]);
    let start = ESTATE.find("  # Shown").unwrap();
    let end = ESTATE.find("  prometheus:").unwrap();
    assert_eq!(edited, format!("{}{}", &ESTATE[..start], &ESTATE[end..]));
}

#[test]
fn comments_inside_a_removed_key_do_not_become_text() {
    let text = "#!yaml\na: |\n  text\n\nb:\n  c: 1\n    # inside\n# outside\nd: 2\n";
    assert_eq!(
        remove_ok(text, &["b"]),
        "#!yaml\na: |\n  text\n\n# outside\nd: 2\n"
    );
}

#[test]
fn removing_the_last_key_leaves_braces_that_can_be_filled_again() {
    let emptied = remove_ok(ESTATE, &["hosts", "control"]);
    assert_eq!(
        emptied,
        ESTATE.replace("hosts:\n  control:\n    address: 10.0.0.1\n", "hosts: {}\n")
    );
    let filled = set_ok(&emptied, &["hosts", "control", "address"], "10.0.0.1");
    assert_eq!(filled, ESTATE);
    let emptied = remove_ok(
        "#!yaml\na:   # why\n  # of b\n  b: 1\n  # left\nc: 2\n",
        &["a", "b"],
    );
    assert_eq!(emptied, "#!yaml\na: {}   # why\n  # left\nc: 2\n");
}

#[test]
fn braces_are_edited_in_braces() {
    let text = "#!yaml\na: {b: 1, d: {e: 2}}  # why\n";
    assert_eq!(
        set_ok(text, &["a", "c"], "x y"),
        "#!yaml\na: {b: 1, c: \"x y\", d: {e: 2}}  # why\n"
    );
    assert_eq!(
        set_ok(text, &["a", "z"], 3),
        "#!yaml\na: {b: 1, d: {e: 2}, z: 3}  # why\n"
    );
    assert_eq!(
        set_ok(text, &["a", "d", "e"], Value::list([1.into()])),
        "#!yaml\na: {b: 1, d: {e: [1]}}  # why\n"
    );
    assert_eq!(remove_ok(text, &["a", "b"]), "#!yaml\na: {d: {e: 2}}  # why\n");
    assert_eq!(remove_ok(text, &["a", "d"]), "#!yaml\na: {b: 1}  # why\n");
    assert_eq!(
        remove_ok(text, &["a", "d", "e"]),
        "#!yaml\na: {b: 1, d: {}}  # why\n"
    );
    assert_eq!(
        remove_ok("#!yaml\na: {b: 1, c: 2,}\n", &["a", "c"]),
        "#!yaml\na: {b: 1, }\n"
    );
    let lines = "#!yaml\na: {\n  b: 1, # one\n  c: 2 # two\n}\n";
    assert_eq!(
        remove_ok(lines, &["a", "c"]),
        "#!yaml\na: {\n  b: 1 # one\n   # two\n}\n"
    );
    assert_eq!(
        set_ok(lines, &["a", "d"], 3),
        "#!yaml\na: {\n  b: 1, # one\n  c: 2, d: 3 # two\n}\n"
    );
    assert_eq!(set_ok("#!yaml\n{a: , b}\n", &["b"], 1), "#!yaml\n{a: , b: 1}\n");
    assert_eq!(
        set_ok("#!yaml\n{a: , b}\n", &["a", "c"], 1),
        "#!yaml\n{a: {c: 1} , b}\n"
    );
}

#[test]
fn a_value_of_another_kind_is_replaced_as_a_whole() {
    let text = "#!yaml\na: # why\n  # below\n  - 1\n  - 2\nb: 3  # three\n";
    assert_eq!(
        set_ok(text, &["a"], "x"),
        "#!yaml\na: x # why\n  # below\nb: 3  # three\n"
    );
    assert_eq!(
        set_ok(text, &["a"], Value::list([3.into()])),
        "#!yaml\na: # why\n  # below\n  - 3\nb: 3  # three\n"
    );
    assert_eq!(
        set_ok(text, &["b"], Value::map([("c", 4.into())])),
        "#!yaml\na: # why\n  # below\n  - 1\n  - 2\nb:  # three\n  c: 4\n"
    );
    assert_eq!(
        set_ok("#!yaml\na:\n  \"x\n  y\"  # why\nb: 1\n", &["a"], "z"),
        "#!yaml\na:\n  z  # why\nb: 1\n"
    );
}

#[test]
fn block_text_is_replaced_with_its_lines() {
    let text = "#!yaml\na: |  # why\n  one\n  two\n\nb: 1\n";
    assert_eq!(set_ok(text, &["a"], "x"), "#!yaml\na: x  # why\n\nb: 1\n");
    assert_eq!(remove_ok(text, &["a"]), "#!yaml\n\nb: 1\n");
    let kept = "#!yaml\na: |+\n  one\n\n\nb: 1\n";
    assert_eq!(set_ok(kept, &["a"], "x"), "#!yaml\na: x\nb: 1\n");
    assert_eq!(
        set_ok(kept, &["aa"], "x"),
        "#!yaml\na: |+\n  one\n\n\naa: x\nb: 1\n"
    );
}

#[test]
fn the_files_own_indentation_and_line_breaks_are_kept() {
    let text = "#!yaml\r\na:\r\n    b: 1\r\n";
    let edited = set_ok(
        text,
        &["c", "d", "e"],
        Value::list([1.into(), Value::map([("f", 2.into())])]),
    );
    assert_eq!(
        edited,
        "#!yaml\r\na:\r\n    b: 1\r\nc:\r\n    d:\r\n        e:\r\n            - 1\r\n            - f: 2\r\n"
    );
    assert_eq!(remove_ok(&edited, &["c"]), text);
}

#[test]
fn a_missing_last_line_break_is_no_obstacle() {
    assert_eq!(set_ok("#!yaml\na: 1", &["b"], 2), "#!yaml\na: 1\nb: 2\n");
    assert_eq!(set_ok("#!yaml\r\na: 1", &["b"], 2), "#!yaml\r\na: 1\r\nb: 2\r\n");
    assert_eq!(remove_ok("#!yaml\na: 1\nb: 2", &["b"]), "#!yaml\na: 1\n");
    assert_eq!(set_ok("#!yaml\na: 1", &["a"], 2), "#!yaml\na: 2\n");
    assert_eq!(set_ok("#!yaml\na:", &["a"], 2), "#!yaml\na: 2\n");
    assert_eq!(set_ok("#!yaml\na:", &["a", "b"], 2), "#!yaml\na:\n  b: 2\n");
    assert_eq!(set_ok("#!yaml\na: {}", &["a", "b"], 2), "#!yaml\na:\n  b: 2\n");
    assert_eq!(set_ok("#!yaml\n{}", &["b"], 2), "#!yaml\nb: 2\n");
}

#[test]
fn text_with_the_marks_of_jinja_is_only_text() {
    let text = "#!yaml\na: \"{{ x }}\"\n";
    assert_eq!(
        set_ok(text, &["b"], "{% y %}"),
        "#!yaml\na: \"{{ x }}\"\nb: \"{% y %}\"\n"
    );
}

#[track_caller]
fn refused(result: Result<String, Diagnostic>, message: &str, line: u32, column: u32) {
    let diagnostic = result.expect_err("refused");
    assert!(diagnostic.message.contains(message), "{diagnostic}");
    let at = diagnostic.at.expect("a place");
    assert_eq!(
        (at.file.as_str(), at.position.line, at.position.column),
        (FILE, line, column)
    );
}

#[test]
fn other_renderers_than_yaml_are_refused() {
    for text in [
        "a: 1\n",
        "#!jinja|yaml\na: 1\n",
        "#!yaml|gpg\na: 1\n",
        " #!yaml\na: 1\n",
        "#!yamlex\n",
        "",
    ] {
        refused(
            set(FILE, text, &["a"], &2.into()),
            "does not start with #!yaml",
            1,
            1,
        );
    }
}

#[test]
fn what_cannot_be_edited_is_refused_with_its_place() {
    refused(
        set(FILE, "#!yaml\na: {{ x }}\n", &["b"], &1.into()),
        "not text but a map",
        2,
        5,
    );
    refused(
        set(FILE, "#!yaml\na: text\n", &["a", "b"], &1.into()),
        "a is text, so b cannot be in it",
        2,
        4,
    );
    refused(
        set(FILE, "#!yaml\n- 1\n", &["a"], &1.into()),
        "holds a list",
        2,
        1,
    );
    let missing = remove(FILE, ESTATE, &["components", "loki", "options"]).unwrap_err();
    assert_eq!(missing.message, format!("{FILE} has no components.loki.options"));
    assert!(set(FILE, ESTATE, &[], &1.into()).is_err());
    assert!(remove(FILE, ESTATE, &[]).is_err());
    assert!(set(FILE, ESTATE, &["a"], &"nul \0".into()).is_err());
    assert!(set(FILE, ESTATE, &["a"], &Value::Float(f64::NAN)).is_err());
}

// Random files and random edits.

/// A random tree and the way it is written.
#[derive(Clone, Debug)]
enum Written {
    Scalar(Value, &'static str),
    Braces(Vec<(String, Value)>),
    Items(Vec<Value>),
    Text(Vec<String>),
    Map(Vec<(String, Written, Around)>),
}

/// Comments and blank lines around an entry.
#[derive(Clone, Debug)]
struct Around {
    above: Vec<&'static str>,
    beside: &'static str,
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-e]",
        2 => "[a-c][a-z0-9-]{1,3}",
        1 => prop::sample::select(vec!["1", "yes", "a b", "x: y", "#", "", "\u{e9}", "{{ k }}", "null", "-"])
            .prop_map(str::to_owned),
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Integer),
        "[a-z ]{0,8}".prop_map(Value::String),
        prop::sample::select(vec![
            "a # b", "\n", "x\n\ny ", "{{ a }}", "${b}", "%{c}", "- d", "1:30", "0x1", "\u{2028}"
        ])
        .prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::list),
            prop::collection::btree_map(key(), inner, 0..4).prop_map(Value::map),
        ]
    })
}

fn around() -> impl Strategy<Value = Around> {
    let above = prop::sample::select(vec![
        "",
        "# above",
        "#",
        "  # askew",
        "# key: value",
        "# \u{1f600}",
    ]);
    let beside = prop::sample::select(vec!["", "", "  # beside", " # - x: |", "   "]);
    (prop::collection::vec(above, 0..3), beside).prop_map(|(above, beside)| Around { above, beside })
}

fn written() -> impl Strategy<Value = Written> {
    let flat = prop::collection::btree_map(key(), scalar(), 0..4).prop_map(|map| map.into_iter().collect());
    let leaf = prop_oneof![
        4 => (scalar(), prop::sample::select(vec!["", "", "  "])).prop_map(|(value, pad)| Written::Scalar(value, pad)),
        1 => flat.prop_map(Written::Braces),
        1 => prop::collection::vec(scalar(), 1..4).prop_map(Written::Items),
        1 => prop::collection::vec("[a-z#:]{0,5}", 1..4).prop_map(Written::Text),
    ];
    leaf.prop_recursive(3, 20, 5, |inner| {
        prop::collection::vec((key(), inner, around()), 1..5).prop_map(|mut entries| {
            let mut seen = std::collections::HashSet::new();
            entries.retain(|(key, ..)| seen.insert(key.clone()));
            Written::Map(entries)
        })
    })
}

fn write(lines: &mut Vec<String>, entries: &[(String, Written, Around)], indent: usize, step: usize) {
    let pad = " ".repeat(indent);
    for (key, written, around) in entries {
        lines.extend(around.above.iter().map(|line| {
            if line.is_empty() {
                String::new()
            } else {
                format!("{pad}{line}")
            }
        }));
        let key = yaml::quote(key);
        let beside = around.beside;
        match written {
            Written::Scalar(value, spaces) => {
                lines.push(format!("{pad}{key}: {spaces}{}{beside}", yaml::inline(value)))
            }
            Written::Braces(map) => {
                let map = Value::map(map.iter().cloned());
                lines.push(format!("{pad}{key}: {}{beside}", yaml::inline(&map)));
            }
            Written::Items(items) => {
                lines.push(format!("{pad}{key}:{beside}"));
                lines.extend(items.iter().map(|item| format!("{pad}- {}", yaml::inline(item))));
            }
            Written::Text(text) => {
                lines.push(format!(
                    "{pad}{key}: |{}",
                    if beside.contains('#') { beside } else { "" }
                ));
                lines.push(format!("{pad} first"));
                lines.extend(text.iter().map(|line| {
                    if line.is_empty() {
                        String::new()
                    } else {
                        format!("{pad} {line}")
                    }
                }));
            }
            Written::Map(entries) => {
                lines.push(format!("{pad}{key}:{beside}"));
                write(lines, entries, indent + step, step);
            }
        }
    }
}

fn document() -> impl Strategy<Value = String> {
    let entries = prop::collection::vec((key(), written(), around()), 0..6).prop_map(|mut entries| {
        let mut seen = std::collections::HashSet::new();
        entries.retain(|(key, ..)| seen.insert(key.clone()));
        entries
    });
    (
        entries,
        prop::sample::select(vec![2, 4]),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(entries, step, crlf, last)| {
            let mut lines = vec!["#!yaml".to_owned()];
            write(&mut lines, &entries, 0, step);
            let ends_in_text =
                matches!(entries.last(), Some((_, written, _)) if !matches!(written, Written::Scalar(..)));
            let mut text = lines.join(if crlf { "\r\n" } else { "\n" });
            if last || ends_in_text {
                text.push_str(if crlf { "\r\n" } else { "\n" });
            }
            text
        })
}

#[derive(Clone, Debug)]
enum Change {
    /// Sets below an existing path that the index picks, or at it.
    Set {
        at: Index,
        below: Vec<String>,
        value: Value,
    },
    Remove {
        at: Index,
    },
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => (any::<Index>(), prop::collection::vec(key(), 0..3), value())
            .prop_map(|(at, below, value)| Change::Set { at, below, value }),
        1 => any::<Index>().prop_map(|at| Change::Remove { at }),
    ]
}

/// The paths of all entries that lie in maps only.
fn paths(node: &Node, above: &[String], found: &mut Vec<Vec<String>>) {
    for entry in node.as_map().unwrap_or_default() {
        let path: Vec<String> = above.iter().cloned().chain([entry.key.clone()]).collect();
        paths(&entry.value, &path, found);
        found.push(path);
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

/// The lines that an edit at a path may not touch: all but those of the entry itself, of braces around it, and, if it
/// is removed, of the comments above it and of the key whose map it may leave empty.
fn foreign<'a>(text: &'a str, path: &[&str], removes: bool) -> Vec<&'a str> {
    let root = read(FILE, text).unwrap();
    let line_of = |offset: usize| text[..offset].matches('\n').count();
    let mut own = Vec::new();
    let mut node = &root;
    for (index, key) in path.iter().enumerate() {
        let Some(entry) = node.entry(key) else { break };
        let last = index + 1 == path.len();
        let empty = entry.value.as_map().is_none_or(<[Entry]>::is_empty);
        let only = entry.value.as_map().is_some_and(|entries| entries.len() == 1);
        let braces = entry.value.style == Style::Flow && entry.value.as_map().is_some();
        let first_line = line_of(entry.key_span.start);
        let end = entry.value.span.end.max(entry.key_span.end);
        let last_line = line_of(if text[..end].ends_with('\n') { end - 1 } else { end });
        if last || empty || braces {
            own.extend(first_line..=last_line);
        } else if only {
            own.push(first_line);
        }
        let indent = entry.key_at.column as usize - 1;
        let indent_of = |line: &str| line.len() - line.trim_start().len();
        let comment = |line: &str| line.trim_start().starts_with('#');
        let all = lines(text);
        if last {
            // Comments inside it, and the blank lines between them, go with keys that go.
            let inside = |&line: &usize| {
                all[line].trim().is_empty() || comment(all[line]) && indent_of(all[line]) > indent
            };
            own.extend((last_line + 1..all.len()).take_while(inside));
        }
        if last && removes {
            own.extend(
                (0..first_line)
                    .rev()
                    .take_while(|&line| comment(all[line]) && indent_of(all[line]) == indent),
            );
        }
        node = &entry.value;
    }
    if root.style == Style::Flow {
        own.extend(line_of(root.span.start)..=line_of(root.span.end));
    }
    lines(text)
        .into_iter()
        .enumerate()
        .filter(|(line, _)| !own.contains(line))
        .map(|(_, line)| line)
        .collect()
}

fn is_subsequence(some: &[&str], all: &[&str]) -> bool {
    let mut all = all.iter();
    some.iter().all(|line| all.any(|other| other == line))
}

fn strs(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

/// Each of these cases is twenty edits, so a part of the usual number will do.
fn fewer_cases() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig {
        cases: usual.cases / 4,
        ..usual
    }
}

#[test]
fn spaces_behind_the_last_key_go_with_it() {
    for blank in ["  ", "\n  ", "\n"] {
        let text = format!("#!yaml\nabove: >-\n  text\nlast: 1\n{blank}");
        let removed = remove(FILE, &text, &["last"]).unwrap();
        assert_eq!(
            removed.trim_end_matches('\n'),
            "#!yaml\nabove: >-\n  text",
            "{blank:?}"
        );
    }
}

proptest! {
    #![proptest_config(fewer_cases())]

    #[test]
    fn edits_change_what_they_should_and_nothing_else(text in document(), changes in prop::collection::vec(change(), 20)) {
        let mut text = text;
        let mut model = read(FILE, &text).expect("a file that can be edited").value;
        for change in changes {
            let root = read(FILE, &text).unwrap();
            let mut known = vec![];
            paths(&root, &[], &mut known);
            let (path, value) = match change {
                Change::Set { at, below, value } => {
                    let mut path = if known.is_empty() { vec![] } else { at.get(&known).clone() };
                    if root.path(&strs(&path)).is_some_and(|node| matches!(node.value, Value::Map(_) | Value::Null)) {
                        path.extend(below);
                    }
                    if path.is_empty() { continue }
                    (path, Some(value))
                }
                Change::Remove { at } => {
                    if known.is_empty() { continue }
                    (at.get(&known).clone(), None)
                }
            };
            let path = strs(&path);
            if let Some(parent) = (1..path.len()).find(|&length| root.path(&path[..length]).is_some_and(|node| {
                !matches!(node.value, Value::Map(_) | Value::Null)
            })) {
                prop_assert!(set(FILE, &text, &path, &Value::Null).is_err(), "{:?}", &path[..parent]);
                continue;
            }
            let foreign = foreign(&text, &path, value.is_none());
            let edited = match &value {
                Some(value) => {
                    set_in_tree(&mut model, &path, value);
                    set(FILE, &text, &path, value)
                }
                None => {
                    remove_in_tree(&mut model, &path);
                    remove(FILE, &text, &path)
                }
            };
            let edited = match edited {
                Ok(edited) => edited,
                Err(diagnostic) => return Err(TestCaseError::fail(format!("{path:?} {value:?}\n{text}\n{diagnostic}"))),
            };
            prop_assert_eq!(&read(FILE, &edited).unwrap().value, &model);
            prop_assert!(
                is_subsequence(&foreign, &lines(&edited)),
                "{:?} {:?}\n--- before\n{}\n--- after\n{}", path, value, text, edited
            );
            let crlf = text.contains("\r\n");
            prop_assert!(edited.split_inclusive('\n').all(|line| !line.ends_with('\n') || line.ends_with("\r\n") == crlf));
            text = edited;
        }
    }

    #[test]
    fn the_order_of_independent_sets_does_not_matter(
        text in document(),
        sets in prop::collection::btree_map(key().prop_map(|key| format!("z-{key}")), value(), 2..6),
    ) {
        let apply = |sets: &mut dyn Iterator<Item = (&String, &Value)>| {
            sets.fold(text.clone(), |text, (key, value)| set(FILE, &text, &["w", key], value).unwrap())
        };
        let one = apply(&mut sets.iter());
        let other = apply(&mut sets.iter().rev());
        prop_assert_eq!(read(FILE, &one).unwrap(), read(FILE, &other).unwrap());
    }

    #[test]
    fn what_is_set_can_be_removed_again(text in document(), key in key(), value in value()) {
        let root = read(FILE, &text).unwrap();
        prop_assume!(root.as_map().is_some_and(|entries| !entries.is_empty()));
        let key = format!("{key}-new");
        let added = set(FILE, &text, &[&key], &value).unwrap();
        let removed = remove(FILE, &added, &[&key]).unwrap();
        prop_assert_eq!(removed.trim_end_matches(['\r', '\n']), text.trim_end_matches(['\r', '\n']));
    }
}
