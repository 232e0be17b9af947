//! Bad input: a clear error with its place, or a value that every emitter carries to the byte.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use eos_core::catalog::Catalog;
use eos_core::compile::{Compilation, compile};
use eos_core::diagnostic::Diagnostic;
use eos_core::intent::{self, Intent, Sentence};
use eos_core::option::OptionType;
use eos_core::pillar::{COMMON_FILE, Pillar, PillarFiles, Words, environment_file};
use eos_core::profile::Profile;
use eos_core::recipe::Recipe;
use eos_core::yaml::{self, Node, Value};
use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, TestCaseError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

const COMMON: &str = "#!yaml\nhosts:\n  control:\n    address: 127.0.0.1\n    roles: [client, control]\n";
const OWN_RECIPE: &str = "recipes/own/recipe.yaml";
const MEGABYTES: usize = 10 << 20;
/// Refusing takes no longer than this, however large the input would become.
const AT_ONCE: Duration = Duration::from_millis(100);
/// Reading ten megabytes takes no longer than this, in a build without optimisation.
const BOUNDED: Duration = Duration::from_secs(20);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn production() -> String {
    environment_file("production")
}

fn estate(production_text: impl AsRef<[u8]>) -> PillarFiles {
    PillarFiles::from([
        (COMMON_FILE.to_owned(), COMMON.as_bytes().to_vec()),
        (production(), production_text.as_ref().to_vec()),
    ])
}

/// The whole way from files to artifacts.
fn run(files: &PillarFiles, own: &[(String, Vec<u8>)]) -> Result<Compilation, Vec<Diagnostic>> {
    compile(&Pillar::read(files)?, &Catalog::load(own)?, Profile::Solo)
}

/// The whole way for an estate whose own recipe is this, used by one component with the options given.
fn run_recipe(recipe: &[u8], options: &str) -> Result<Compilation, Vec<Diagnostic>> {
    let text = format!("#!yaml\ncomponents:\n  own:\n    recipe: own\n    options: {options}\n");
    run(&estate(text), &[(OWN_RECIPE.to_owned(), recipe.to_vec())])
}

fn within<T>(limit: Duration, what: &str, work: impl FnOnce() -> T) -> T {
    let (begun, before) = (Instant::now(), processor_time());
    let result = work();
    let (took, used) = (begun.elapsed(), processor_time() - before);
    assert!(
        used < limit,
        "{what} took {used:?} of a processor, more than {limit:?}"
    );
    // Work of other threads does not count above. A busy machine may take its time, but not for ever.
    assert!(took < limit * 20, "{what} took {took:?}");
    result
}

/// What this thread has had of a processor so far.
fn processor_time() -> Duration {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanoseconds = counted.split(' ').next().unwrap();
    Duration::from_nanos(nanoseconds.parse().unwrap())
}

/// What every message owes its reader: short, and nothing that disturbs a terminal or hides from the eye.
fn check_manners(diagnostic: &Diagnostic) {
    let words = [Some(&diagnostic.message), diagnostic.hint.as_ref()];
    for words in words.into_iter().flatten() {
        let unseen = |char: char| {
            char.is_control()
                || matches!(char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        };
        assert!(!words.contains(unseen), "{words:?}");
        assert!(words.len() < 1000, "{} bytes: {:.200}", words.len(), words);
        assert!(!words.ends_with('.') || words.ends_with(".."), "{words:?}");
    }
}

/// A fragment of the message, line and column.
type Expected<'a> = (&'a str, u32, u32);

/// All of these problems and no other, in this order, all in one file.
#[track_caller]
fn expect<T>(case: &str, result: Result<T, Vec<Diagnostic>>, file: &str, expected: &[Expected<'_>]) {
    let Err(found) = result else {
        panic!("{case:.300?} was accepted")
    };
    found.iter().for_each(check_manners);
    let told: String = found.iter().map(|diagnostic| format!("{diagnostic}\n")).collect();
    assert_eq!(found.len(), expected.len(), "{case:.300?}\n{told}");
    for (diagnostic, (fragment, line, column)) in found.iter().zip(expected) {
        let place = diagnostic
            .at
            .as_ref()
            .unwrap_or_else(|| panic!("{case:.300?}: no place\n{told}"));
        assert!(diagnostic.message.contains(fragment), "{case:.300?}\n{told}");
        assert_eq!(
            (place.file.as_str(), place.position.line, place.position.column),
            (file, *line, *column),
            "{case:.300?}\n{told}"
        );
    }
}

#[track_caller]
fn refused_pillar(text: impl AsRef<[u8]>, expected: &[Expected<'_>]) {
    let text = text.as_ref();
    expect(
        &String::from_utf8_lossy(text),
        run(&estate(text), &[]),
        &production(),
        expected,
    );
}

#[track_caller]
fn refused_common(text: &str, expected: &[Expected<'_>]) {
    let mut files = estate("#!yaml\ncomponents: {hello: {}}\n");
    files.insert(COMMON_FILE.to_owned(), text.into());
    expect(text, run(&files, &[]), COMMON_FILE, expected);
}

#[track_caller]
fn refused_recipe(text: &str, expected: &[Expected<'_>]) {
    expect(text, run_recipe(text.as_bytes(), "{}"), OWN_RECIPE, expected);
}

#[test]
fn malformed_pillars_are_refused_with_their_place() {
    refused_pillar("components: {}\n", &[("must start with the line #!yaml", 1, 1)]);
    refused_pillar("", &[("must start with the line #!yaml", 1, 1)]);
    refused_pillar("#!jinja|yaml\ncomponents: {}\n", &[("must start with", 1, 1)]);
    refused_pillar(
        "#!yaml\ncomponents: {hello: {recipe: hello}\n",
        &[("is not YAML: unclosed bracket", 2, 13)],
    );
    refused_pillar("#!yaml\ncomponents: \"hello\n", &[("is not YAML", 3, 1)]);
    refused_pillar(
        "#!yaml\ncomponents:\n  hello:\n   recipe: hello\n    options: {}\n",
        &[("is not YAML", 5, 12)],
    );
    refused_pillar(
        "#!yaml\ncomponents:\n\thello: {}\n",
        &[("a tab stands in the indentation", 3, 1)],
    );
    refused_pillar(
        "#!yaml\ncomponents:\t{}\n",
        &[("a tab stands outside of text", 2, 12)],
    );
    refused_pillar(
        "#!yaml\ncomponents: {}\n---\ncomponents: {}\n",
        &[("a second document begins", 3, 1)],
    );
    refused_pillar("#!yaml\n%YAML 1.1\n---\n{}\n", &[("directives", 2, 1)]);
    refused_pillar("#!yaml\n- components\n", &[("must be a map, not a list", 2, 1)]);
    refused_pillar("#!yaml\nhello\n", &[("must be a map, not text", 2, 1)]);
    refused_pillar(
        "#!yaml\ncomponents:\n  hello: {{ pillar }}\n",
        &[("a key is not text but a map or a list", 3, 11)],
    );
    refused_pillar(
        "#!yaml\n{% if true %}\ncomponents: {}\n{% endif %}\n",
        &[("is not YAML", 2, 2)],
    );
}

#[test]
fn what_points_at_other_values_is_refused() {
    refused_pillar(
        "#!yaml\ncomponents:\n  a: &one {recipe: hello}\n  b: *one\n",
        &[
            ("anchors are not used here", 3, 6),
            ("aliases are not used here", 4, 6),
        ],
    );
    refused_pillar(
        "#!yaml\ncomponents:\n  a: {<<: {recipe: hello}}\n",
        &[("merge keys are not used here", 3, 7)],
    );
    refused_pillar(
        "#!yaml\ncomponents: !!python/object/apply:os.system [id]\n",
        &[("tags are not used here", 2, 13)],
    );
}

#[test]
fn characters_that_readers_take_otherwise_are_refused() {
    for (text, expected) in [
        (
            &b"#!yaml\ncomponents: {a: \xff}\n"[..],
            ("the file is not UTF-8", 2, 17),
        ),
        (b"\xff\xfe#\0!\0", ("must start with the line #!yaml", 1, 1)),
        (
            b"\xef\xbb\xbf#!yaml\n{}\n",
            ("must start with the line #!yaml", 1, 1),
        ),
        (b"#!yaml\n\xef\xbb\xbf{}\n", ("byte order mark", 2, 1)),
        (b"#!yaml\na: \"\0\"\n", ("the character U+0000", 2, 5)),
        (b"#!yaml\na: \"\\0\"\n", ("a NUL character", 2, 4)),
        (b"#!yaml\na: 1\rb: 2\n", ("a carriage return", 2, 5)),
        (b"#!yaml\na: \"x\xe2\x80\xa8y\"\n", ("the character U+2028", 2, 6)),
        (b"#!yaml\na: \"x\xe2\x80\xa9y\"\n", ("the character U+2029", 2, 6)),
        (b"#!yaml\na: \"x\xc2\x85y\"\n", ("the character U+0085", 2, 6)),
        (b"#!yaml\na: \"\x1b[31m\"\n", ("the character U+001B", 2, 5)),
        (b"#!yaml\na: \"\xed\xa0\x80\"\n", ("the file is not UTF-8", 2, 5)),
    ] {
        refused_pillar(text, &[expected]);
    }
}

#[test]
fn wrong_types_and_unknown_keys_are_told_all_at_once() {
    refused_pillar(
        "#!yaml\ncomponets: {}\n",
        &[(
            "Unknown key \"componets\" in pillar/infrastructure/production.sls",
            2,
            1,
        )],
    );
    refused_pillar(
        "#!yaml\ncomponents: [hello]\n",
        &[("components must be a map, not a list", 2, 13)],
    );
    refused_pillar(
        "#!yaml
components:
  one: hello
  two: {recipe: 3, optons: {}, intent: yesterday}
  three: {recipe: [hello], options: [greeting], intent: {words: 1, who: {}, when: null, why: x}}
  four:
",
        &[
            ("a component must be a map, not text", 3, 8),
            ("Unknown key \"optons\" in a component", 4, 20),
            ("recipe must be text, not a whole number", 4, 17),
            ("intent must be a map, not text", 4, 40),
            ("recipe must be text, not a list", 5, 19),
            ("options must be a map, not a list", 5, 37),
            ("Unknown key \"why\" in intent", 5, 89),
            ("words must be text, not a whole number", 5, 65),
            ("who must be text, not a map", 5, 73),
            ("when must be text, not nothing", 5, 83),
            ("a component must be a map, not nothing", 6, 8),
        ],
    );
    refused_pillar(
        "#!yaml
components:
  hello: {options: {greeting: 3, replicas: many, cpu: 1.5, memory: -1, greting: x, datacenter: [a]}}
  grafana: {options: {port: 70000, data_path: opt, image: {a: b}, admin_password: secret}}
  other: {recipe: helo}
",
        &[
            ("Option port of grafana: 70000 is not a port", 4, 29),
            (
                "Secret option admin_password of grafana stands in the pillar",
                4,
                83,
            ),
            (
                "Option data_path of grafana: \"opt\" is not an absolute path",
                4,
                47,
            ),
            ("Option image of grafana: a map is not text", 4, 59),
            ("Recipe hello has no option \"greting\"", 3, 81),
            ("Option greeting of hello: 3 is not text", 3, 31),
            ("Option replicas of hello: \"many\" is not a whole number", 3, 44),
            ("Option cpu of hello: 1.5 is not a whole number", 3, 55),
            ("Option memory of hello: -1 is less than 1", 3, 68),
            ("Option datacenter of hello: a list is not text", 3, 96),
            ("There is no recipe \"helo\"", 5, 3),
        ],
    );
    refused_common(
        "#!yaml\nhosts: 3\n",
        &[("hosts must be a map, not a whole number", 2, 8)],
    );
    refused_common(
        "#!yaml
hosts:
  one: {}
  two: {address: 1, roles: client, volumes_below: [a]}
  three: {address: a, rolls: [], roles: [1, null]}
",
        &[
            ("Host \"one\" has no address", 3, 3),
            ("address must be text", 4, 18),
            ("roles must be a list, not text", 4, 28),
            ("volumes_below must be text, not a list", 4, 51),
            ("Unknown key \"rolls\" in a host", 5, 23),
            ("roles must be text, not a whole number", 5, 42),
            ("roles must be text, not nothing", 5, 45),
        ],
    );
}

#[test]
fn duplicates_are_refused() {
    refused_pillar(
        "#!yaml\ncomponents:\n  hello: {}\n  grafana: {}\n  hello: {recipe: grafana}\n",
        &[("the key `hello` stands twice in one map", 5, 3)],
    );
    refused_pillar(
        "#!yaml\ncomponents: {hello: {recipe: hello, \"recipe\": grafana}}\n",
        &[("the key `recipe` stands twice", 2, 37)],
    );
    let recipe =
        |name: &str| format!("recipe: {name}\nsummary: s\nversion: \"1\"\nservices: {{a: {{image: a}}}}\n");
    let own = |file: &str, name: &str| (file.to_owned(), recipe(name).into_bytes());
    expect(
        "two recipes of one name",
        Catalog::load(&[
            own("recipes/a/recipe.yaml", "twin"),
            own("recipes/b/recipe.yaml", "twin"),
        ])
        .map(|_| ()),
        "recipes/b/recipe.yaml",
        &[("\"twin\"", 1, 9)],
    );
    // Over a built-in recipe the estate's own is the one that counts.
    assert!(Catalog::load(&[own("recipes/hello/recipe.yaml", "hello")]).is_ok());
}

#[test]
fn names_are_plain_or_refused() {
    for name in [
        "../../etc/passwd",
        "..",
        "a/b",
        "a\\b",
        "a\"b",
        "a'b",
        "a\nb",
        "a\r\nb",
        "${a}",
        "%{a}",
        "{{ a }}",
        "{% a %}",
        "$(id)",
        "`id`",
        "a;id",
        "a|id",
        "a&",
        "a b",
        " a",
        "a*",
        "-a",
        "a-",
        "a_b",
        "A",
        "",
        "~",
        "\u{1b}[31ma\u{1b}[0m",
        "a\u{7}",
        "a\u{9b}31m",
        "gr\u{430}fana",
        "hell\u{3bf}",
        "hel\u{200b}lo",
        "hello\u{202e}",
        "hello\u{feff}",
        "\u{ff48}ello",
        "h\u{e9}llo",
        "h\u{1f980}",
        "platform",
        "volume",
        &"a".repeat(49),
    ] {
        let quoted = yaml::print(&Value::map([(name, Value::map([("recipe", "hello".into())]))])).unwrap();
        refused_pillar(
            format!("#!yaml\ncomponents:\n  {}", quoted.replace('\n', "\n  ")),
            &[("cannot name a component", 3, 3)],
        );
        // Salt has minions of these names.
        if ["a-", "a_b", "A"].contains(&name) || name.len() == 49 {
            continue;
        }
        let host = yaml::quote(name);
        refused_common(
            &format!(
                "#!yaml\nhosts:\n  control: {{address: a, roles: [client, control]}}\n  {host}: {{address: b}}\n"
            ),
            &[("cannot name a host", 4, 3)],
        );
        refused_common(
            &format!("#!yaml\nhosts:\n  {host}: {{}}\n"),
            &[("cannot name a host", 3, 3), ("has no address", 3, 3)],
        );
    }
}

/// A name that looks like another is shown so that the difference can be seen.
#[test]
fn look_alikes_are_told_apart() {
    for (given, shown) in [
        ("gr\u{430}fana", "U+0430"),
        ("hel\u{200b}lo", "\\u{200b}"),
        ("\u{ff48}ello", "U+FF48"),
    ] {
        for text in [
            format!(
                "#!yaml\ncomponents: {{{}: {{recipe: hello}}}}\n",
                yaml::quote(given)
            ),
            format!("#!yaml\ncomponents: {{a: {{recipe: {}}}}}\n", yaml::quote(given)),
        ] {
            let found = run(&estate(&text), &[]).unwrap_err();
            found.iter().for_each(check_manners);
            assert!(found[0].message.contains(shown), "{found:?}");
        }
    }
}

const RECIPE: &str = "recipe: own
summary: s
version: \"1\"
services:
  own:
    image: \"a:{{ version }}\"
";

#[test]
fn malformed_recipes_are_refused_with_their_place() {
    refused_recipe(
        "",
        &[
            ("the recipe must be a map, not nothing", 1, 1),
            ("The recipe has no recipe", 1, 1),
            ("The recipe has no summary", 1, 1),
            ("The recipe has no version", 1, 1),
            ("The recipe has no services", 1, 1),
        ],
    );
    refused_recipe("recipe: [\n", &[("is not YAML: unclosed bracket", 1, 9)]);
    refused_recipe(
        "recipe: ../own\nsummary: 1\nversion: 1.0\nrisk: lethal\noptons: {}\nservices: {}\n",
        &[
            ("Unknown key \"optons\" in the recipe", 5, 1),
            ("summary must be text", 2, 10),
            ("version must be text", 3, 10),
            ("\"../own\" cannot name a recipe", 1, 9),
            ("Unknown risk", 4, 7),
        ],
    );
    for (line, expected) in [
        (
            "options: {a: {type: strin}}",
            ("Unknown option type \"strin\"", 7, 21),
        ),
        ("options: {a: {type: choice}}", ("has no choices", 7, 11)),
        (
            "options: {a: {type: secret, default: x}}",
            ("is a secret and has a default", 7, 11),
        ),
        ("options: {a: {generate: 24}}", ("cannot be generated", 7, 11)),
        (
            "options: {a: {type: secret, generate: 1000000000}}",
            ("between 12 and 128", 7, 39),
        ),
        ("options: {A: {}}", ("option \"A\" has no valid name", 7, 11)),
        ("options: {\"a\\n}\": {}}", ("has no valid name", 7, 11)),
        ("options: {cpu: {}}", ("is built in", 7, 11)),
        (
            "options: {a: {default: \"{{ b }}\"}}",
            ("Unknown name \"b\" in a template", 7, 24),
        ),
        ("options: {a: {default: \"{{ 1 +\"}}", ("cannot be read", 7, 24)),
        (
            "options: {a: {default: \"{% if 1 %}\"}}",
            ("only {{ expressions }}", 7, 24),
        ),
        ("needs: {data: {}}", ("need \"data\" must have one key", 7, 9)),
        (
            "needs: {data: {volume: {purpose: x, size: 1G, path: /a}}}",
            ("Unknown purpose", 7, 34),
        ),
        (
            "needs: {data: {volume: {purpose: backup, size: 1G, path: /a, owner: a}}}",
            ("user:group", 7, 69),
        ),
        (
            "needs: {data: {volume: {purpose: backup, size: 1G, path: /a, mode: \"9\"}}}",
            ("mode", 7, 68),
        ),
        (
            "outputs: {a: \"{{ nothing }}\"}",
            ("Unknown name \"nothing\"", 7, 14),
        ),
    ] {
        refused_recipe(&format!("{RECIPE}{line}\n"), &[expected]);
    }
}

/// What a recipe writes into HCL as a name must be a name: nothing can be smuggled in, and no two names run together.
#[test]
fn names_in_a_recipe_cannot_become_code() {
    for hostile in [
        "X = 1\n}\nresource",
        "a b",
        "a\"b",
        "${a}",
        "a=b",
        "",
        "../a",
        "\u{430}",
        "1a",
        "a\u{1b}[31m",
    ] {
        let key = yaml::quote(hostile);
        for (line, fragment) in [
            (format!("    env: {{{key}: x}}"), "variable"),
            (format!("    ports: {{{key}: {{}}}}"), "port"),
            (
                format!("    secrets: {{{key}: s}}\noptions: {{s: {{type: secret}}}}"),
                "variable",
            ),
        ] {
            let text = format!("{RECIPE}{line}\n");
            let found = run_recipe(text.as_bytes(), "{}").expect_err(&text);
            found.iter().for_each(check_manners);
            assert!(found[0].message.contains(fragment), "{text}\n{found:#?}");
            assert!(found[0].at.is_some(), "{found:#?}");
        }
        let need = format!("needs: {{{key}: {{volume: {{purpose: backup, size: 1G, path: /a}}}}}}");
        let text = format!("{RECIPE}{need}\n");
        let found = run_recipe(text.as_bytes(), "{}").expect_err(&text);
        assert_eq!(found[0].at.as_ref().unwrap().position.line, 7, "{found:#?}");
    }
    for line in [
        "    env: {A_B: x, a_b: y}",
        "    files: {a.conf: x, a_conf: y}",
        "    env: {A: x}\n    secrets: {A: s}\noptions: {s: {type: secret}}",
    ] {
        let text = format!("{RECIPE}{line}\n");
        let found = run_recipe(text.as_bytes(), "{}").expect_err(&text);
        assert!(
            found[0].message.contains("twice") || found[0].message.contains("same"),
            "{found:#?}"
        );
    }
}

#[test]
fn bombs_are_refused_at_once() {
    let mut laughs = "#!yaml\na0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for level in 1..20 {
        let below = format!("*a{}", level - 1);
        laughs.push_str(&format!(
            "a{level}: &a{level} [{}]\n",
            [below.as_str(); 9].join(", ")
        ));
    }
    let nested = format!("#!yaml\na: {}", "[".repeat(100_000));
    let nested_maps = format!("#!yaml\n{}", "{a: ".repeat(100_000));
    let dashes = format!("#!yaml\n{}", "- ".repeat(100_000));
    let steps: String = (0..500)
        .map(|depth| format!("{}a:\n", " ".repeat(depth)))
        .collect();
    let merges = "#!yaml\na: &a {b: c}\nd: {<<: [*a, *a, *a]}\n".to_owned();
    let doubling = "{% for a in range(1000000) %}{% endfor %}";
    for (text, fragment) in [
        (laughs, "anchors are not used here"),
        (nested, "nested more than 64 levels deep"),
        (nested_maps, "nested more than 64 levels deep"),
        (dashes, "nested more than 64 levels deep"),
        (format!("#!yaml\n{steps}"), "nested more than 64 levels deep"),
        (merges, "anchors are not used here"),
        (format!("#!yaml\na: \"{doubling}\"\n"), "Unknown key \"a\""),
    ] {
        let name = text[..60.min(text.len())].to_owned();
        // The best of three: another process may have had the processor.
        let times = (0..3).map(|_| {
            let begun = Instant::now();
            assert!(run(&estate(&text), &[]).is_err());
            begun.elapsed()
        });
        let took = times.min().unwrap();
        assert!(took < AT_ONCE, "{name} took {took:?}");
        let found = run(&estate(&text), &[]).unwrap_err();
        found.iter().for_each(check_manners);
        assert!(found[0].message.contains(fragment), "{name}: {:?}", found[0]);
        assert!(found[0].at.is_some());
    }
}

#[test]
fn templates_cannot_run_away() {
    for expression in [
        "{{ range(1000000000) }}",
        "{{ 'a' * 1000000000 }}",
        "{{ [1] * 1000000000 }}",
        "{{ ('a' * 60000)|replace('a', 'b' * 60000) }}",
        "{{ range(99999)|map('string')|join(version * 10000) }}",
        "{{ 10 ** 1000000 }}",
    ] {
        let text = RECIPE.replace("\"a:{{ version }}\"", &yaml::quote(expression));
        let result = within(Duration::from_secs(2), expression, || {
            run_recipe(text.as_bytes(), "{}")
        });
        let found = result.expect_err(expression);
        found.iter().for_each(check_manners);
        assert!(
            found.iter().all(|diagnostic| diagnostic.at.is_some()),
            "{found:?}"
        );
    }
    let nested = format!("{}version{}", "(".repeat(100_000), ")".repeat(100_000));
    for hostile in [
        format!("{{{{ {nested} }}}}"),
        format!("{{{{ {} }}}}", "-".repeat(100_000)),
        format!("{{{{ {} }}}}", "not ".repeat(100_000)),
        format!("{{{{ {} }}}}", "[".repeat(100_000)),
        format!("{{{{ version{} }}}}", ".a".repeat(100_000)),
        format!("{{{{ version{} }}}}", "|trim".repeat(100_000)),
        format!("{{{{ {} }}}}", "a".repeat(MEGABYTES)),
        format!("{{{{ {} }}}}", "a".repeat(3000)),
    ] {
        let text = RECIPE.replace("\"a:{{ version }}\"", &yaml::quote(&hostile));
        let result = within(BOUNDED, &hostile[..40], || run_recipe(text.as_bytes(), "{}"));
        result.expect_err(&hostile[..40]).iter().for_each(check_manners);
    }
}

#[test]
fn ten_megabytes_are_read_and_refused_where_no_engine_carries_them() {
    let long = "x".repeat(MEGABYTES);
    let hello =
        |value: &str| format!("#!yaml\ncomponents:\n  hello:\n    options:\n      greeting: {value}\n");
    for (value, fragment) in [
        (long.clone(), "Option greeting of hello"),
        (format!("\"{long}\""), "Option greeting of hello"),
        (
            format!("\"{}\"", "\\x1b".repeat(MEGABYTES / 4)),
            "Option greeting of hello",
        ),
        (format!("[{long}]"), "Option greeting of hello"),
        (format!("{{a: {long}}}"), "Option greeting of hello"),
        (format!("|\n        {long}"), "Option greeting of hello"),
    ] {
        let found = within(BOUNDED, "a value of 10 MB", || run(&estate(hello(&value)), &[])).unwrap_err();
        found.iter().for_each(check_manners);
        assert!(found[0].message.contains(fragment), "{found:?}");
        assert_eq!(found[0].at.as_ref().unwrap().position.line, 5);
    }
    for (text, fragment) in [
        (format!("#!yaml\ncomponents:\n  {long}: {{}}\n"), "a key"),
        (format!("#!yaml\ncomponents:\n  \"{long}\": {{}}\n"), "a key"),
        (
            format!("#!yaml\ncomponents:\n  a: {{recipe: {long}}}\n"),
            "There is no recipe",
        ),
        (format!("#!yaml\ncomponents:\n  a: {{{long}\n"), ""),
        (
            format!("#!yaml\ncomponents:\n# {long}\n  a: {{b: c}}\n"),
            "Unknown key \"b\"",
        ),
        (
            format!("#!yaml\n{}", "\n".repeat(MEGABYTES)) + "a: b\n",
            "Unknown key \"a\"",
        ),
    ] {
        let found = within(BOUNDED, &text[..40], || run(&estate(&text), &[])).unwrap_err();
        found.iter().for_each(check_manners);
        assert!(
            found[0].to_string().contains(fragment),
            "{}: {found:?}",
            &text[..40]
        );
        assert!(found[0].at.is_some());
    }
    // As text it is carried: only an option has a limit.
    let node = yaml::parse("a.sls", format!("a: {long}\n").as_bytes()).unwrap();
    assert_eq!(node.get("a").and_then(Node::as_str), Some(long.as_str()));
}

// Every kind of value at every key.

fn files_below(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else {
                let name = entry
                    .path()
                    .strip_prefix(directory)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                files.insert(name, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    files
}

/// A tree with one node replaced: where that was, what was there, and the whole.
type Replaced<'t> = (String, &'t Value, Value);

/// The tree with every node of it replaced in turn.
fn replaced<'t>(tree: &'t Value, with: &Value) -> Vec<Replaced<'t>> {
    let mut all = vec![(String::new(), tree, with.clone())];
    match tree {
        Value::Map(entries) => {
            for (index, entry) in entries.iter().enumerate() {
                for (below, was, inner) in replaced(&entry.value.value, with) {
                    let mut entries = entries.clone();
                    entries[index].value.value = inner;
                    all.push((format!(".{}{below}", entry.key), was, Value::Map(entries)));
                }
            }
        }
        Value::List(nodes) => {
            for (index, node) in nodes.iter().enumerate() {
                for (below, was, inner) in replaced(&node.value, with) {
                    let mut nodes = nodes.clone();
                    nodes[index].value = inner;
                    all.push((format!("[{index}]{below}"), was, Value::List(nodes)));
                }
            }
        }
        _ => {}
    }
    all
}

fn wrong_values() -> Vec<Value> {
    vec![
        Value::Null,
        Value::Integer(-7),
        "wr\u{f6}ng ${x}\n\u{1b}[31m".into(),
        Value::list([Value::list([]), Value::map([("a", Value::Null)])]),
        Value::map([("unknown", Value::map([("key", Value::Integer(1))]))]),
    ]
}

/// Told with a place, or taken: never a panic, and never taken where a collection stands in place of text. (What a
/// default may be depends on its option, and one that does not apply is not looked at.)
fn check_replacement(
    what: &str,
    path: &str,
    was: &Value,
    with: &Value,
    result: Result<Compilation, Vec<Diagnostic>>,
) {
    match result {
        Ok(_) => {
            let scalar = |value: &Value| !matches!(value, Value::List(_) | Value::Map(_));
            assert!(
                !scalar(was) || scalar(with) || path.ends_with(".default"),
                "{what}{path} was {was:?}, and {with:?} was accepted"
            );
        }
        Err(found) => {
            assert!(!found.is_empty());
            found.iter().for_each(check_manners);
            for diagnostic in &found {
                assert!(
                    diagnostic.at.is_some() || diagnostic.message.starts_with("No "),
                    "{what}{path}: {diagnostic}"
                );
            }
        }
    }
}

#[test]
fn every_kind_of_value_at_every_key_of_every_recipe() {
    let recipes = files_below(&root().join("catalog"));
    for (file, text) in recipes.iter().filter(|(file, _)| file.ends_with("recipe.yaml")) {
        let tree = yaml::parse(file, text).unwrap().value;
        for with in wrong_values() {
            for (path, was, changed) in replaced(&tree, &with) {
                let mut changed = changed;
                if let Value::Map(entries) = &mut changed
                    && path != ".recipe"
                    && let Some(name) = entries.iter_mut().find(|entry| entry.key == "recipe")
                {
                    name.value.value = "own".into();
                }
                let text = yaml::print(&changed).unwrap();
                let result = Recipe::parse(OWN_RECIPE, text.as_bytes())
                    .and_then(|_| run_recipe(text.as_bytes(), "{}"));
                check_replacement(file, &path, was, &with, result);
            }
        }
    }
}

#[test]
fn every_kind_of_value_at_every_key_of_every_pillar() {
    for case in std::fs::read_dir(root().join("tests/golden")).unwrap() {
        let files = files_below(&case.unwrap().path().join("estate"));
        for (file, text) in &files {
            let tree = yaml::parse(file, text).unwrap().value;
            for with in wrong_values() {
                for (path, was, changed) in replaced(&tree, &with) {
                    let mut files = files.clone();
                    let changed = format!("#!yaml\n{}", yaml::print(&changed).unwrap());
                    files.insert(file.clone(), changed.into_bytes());
                    check_replacement(file, &path, was, &with, run(&files, &[]));
                }
            }
        }
    }
}

// Hostile values on the whole way from words to artifacts.

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::load(&[]).unwrap());

fn piece() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "../",
        "\"",
        "'",
        "\\",
        "\\n",
        "\n",
        "\r",
        "\r\n",
        "\t",
        "$",
        "%",
        "{",
        "}",
        "${",
        "$${",
        "%{",
        "%%{",
        "${a}",
        "%{ if true }",
        "{{",
        "}}",
        "{{ a }}",
        "{%",
        "{#",
        "#}",
        "$(id)",
        "`id`",
        ";",
        "&&",
        "|",
        "<",
        ">",
        "*",
        "~",
        "#",
        " #",
        ": ",
        "- ",
        "!",
        "&a",
        "*a",
        "[",
        "]",
        ",",
        "?",
        "@",
        "=",
        "<<",
        "null",
        "yes",
        "0123",
        "1e3",
        "0x1",
        "2001-01-01",
        "1:30",
        ".inf",
        "true",
        "***",
        "%s",
        "%00",
        "<script>",
        "\u{0}",
        "\u{1b}[31m",
        "\u{7}",
        "\u{8}",
        "\u{7f}",
        "\u{85}",
        "\u{9b}",
        "\u{a0}",
        "\u{ad}",
        "\u{200b}",
        "\u{200d}",
        "\u{202e}",
        "\u{2028}",
        "\u{2029}",
        "\u{feff}",
        "\u{fffd}",
        "\u{fffe}",
        "\u{ffff}",
        "\u{10ffff}",
        "\u{430}",
        "e\u{301}",
        "\u{e9}",
        "\u{1e9b}\u{323}",
        "\u{2126}",
        "\u{1f980}",
        "\u{1f468}\u{200d}\u{1f469}",
        " ",
        "  ",
        "a",
        "hello",
        "/",
        ".",
        "\u{3000}",
    ]);
    prop_oneof![8 => known.prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from), 1 => "[ -~]{1,8}"]
}

fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => prop::collection::vec(piece(), 0..8).prop_map(|pieces| pieces.concat()),
        2 => any::<String>(),
        1 => (piece(), 100..3000_usize).prop_map(|(piece, times)| piece.repeat(times)),
    ]
}

fn intent(name: &str, recipe: &str, option: &str, value: serde_json::Value) -> Intent {
    Intent {
        sentence: Sentence::CreateComponent {
            environment: "production".to_owned(),
            component: name.to_owned(),
            recipe: recipe.to_owned(),
            options: BTreeMap::from([(option.to_owned(), value)]),
        },
        said: Words {
            words: "eos create".to_owned(),
            who: "me".to_owned(),
            when: "2026-01-01T00:00:00Z".to_owned(),
        },
    }
}

fn written(recipe: &str, option: &str, value: &str) -> Result<PillarFiles, Vec<Diagnostic>> {
    intent::edit(
        &estate("#!yaml\ncomponents: {}\n"),
        &CATALOG,
        &intent("subject", recipe, option, value.into()),
    )
}

/// All texts of a JSON document by their place in it, keys among them.
fn texts(value: &serde_json::Value, at: String, found: &mut BTreeMap<String, String>) {
    match value {
        serde_json::Value::String(text) => {
            found.insert(at, text.clone());
        }
        serde_json::Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                texts(item, format!("{at}/{index}"), found);
            }
        }
        serde_json::Value::Object(entries) => {
            for (index, (key, value)) in entries.iter().enumerate() {
                found.insert(format!("{at}/{index}="), key.clone());
                texts(value, format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// The texts of all JSON artifacts, but those that are digests; the other artifacts as they are.
fn carried(compilation: &Compilation) -> BTreeMap<String, String> {
    let digest = |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut found = BTreeMap::new();
    for (path, bytes) in &compilation.artifacts {
        let text = std::str::from_utf8(bytes).expect("artifacts are text");
        match serde_json::from_str(text.strip_prefix("#!json\n").unwrap_or(text)) {
            Ok(value) => texts(&value, path.clone(), &mut found),
            Err(_) => {
                found.insert(path.clone(), text.to_owned());
            }
        }
    }
    found.retain(|_, text| !digest(text));
    found
}

/// The forms in which a text may stand inside of another: as it is, in JSON as templates write it, in a template that
/// Nomad fills, or in both.
fn forms(value: &str) -> Vec<String> {
    let json = serde_json::to_string(value).unwrap();
    let json = json[1..json.len() - 1]
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\'', "\\u0027");
    let filled = |text: &str| text.replace("{{", "{{ \"{{\" }}");
    vec![value.to_owned(), filled(value), filled(&json), json]
}

/// What a component of a recipe becomes with this option, where it needs no other option to be there.
fn marked(recipe: &str, option: &str, marker: &str) -> Option<BTreeMap<String, String>> {
    let pillar = Pillar::read(&written(recipe, option, marker).ok()?).unwrap();
    Some(carried(&compile(&pillar, &CATALOG, Profile::Solo).ok()?))
}

struct Subject {
    recipe: String,
    option: String,
    kind: OptionType,
    marker: &'static str,
    marked: BTreeMap<String, String>,
}

/// Every option of the catalog that takes text.
static SUBJECTS: LazyLock<Vec<Subject>> = LazyLock::new(|| {
    let mut subjects = Vec::new();
    for recipe in CATALOG.iter() {
        for option in recipe.settable() {
            let marker = match option.kind {
                OptionType::String => "eosmarker",
                OptionType::Path => "/eosmarker",
                _ => continue,
            };
            subjects.extend(marked(&recipe.name, &option.name, marker).map(|marked| Subject {
                recipe: recipe.name.clone(),
                option: option.name.clone(),
                kind: option.kind.clone(),
                marker,
                marked,
            }));
        }
    }
    subjects
});

/// What the estate says of a minion, for people: of a long value only where the pillar has it. It comes first.
const ESTATE: &str = "pillar/hosts/control.sls/0/0/";

/// The tree for a value is the tree for a marker with the marker replaced: nothing else changes, and no bit of it.
fn check_carried(subject: &Subject, value: &str) -> Result<(), TestCaseError> {
    let Subject {
        recipe,
        option,
        kind,
        marker,
        marked,
    } = subject;
    let value = match kind {
        OptionType::Path => format!("/{value}"),
        _ => value.to_owned(),
    };
    let outcome = written(recipe, option, &value).and_then(|files| {
        let pillar = Pillar::read(&files)?;
        let read_back = &pillar.component("production", "subject").unwrap().options[option].value;
        assert_eq!(read_back, &serde_json::Value::from(value.as_str()));
        compile(&pillar, &CATALOG, Profile::Solo)
    });
    let compilation = match outcome {
        Ok(compilation) => compilation,
        Err(found) => {
            prop_assert!(!found.is_empty());
            found.iter().for_each(check_manners);
            return Ok(());
        }
    };
    let forms = forms(&value);
    let size = serde_json::to_string(&value).unwrap().len();
    let pointed = (size > 256).then(|| format!("({size} bytes in pillar/infrastructure/production.sls)"));
    let carried = carried(&compilation);
    prop_assert_eq!(
        carried.keys().collect::<Vec<_>>(),
        marked.keys().collect::<Vec<_>>()
    );
    for (at, text) in &carried {
        let is_carried = forms.iter().any(|form| *text == marked[at].replace(marker, form));
        let sound =
            is_carried || at.starts_with(ESTATE) && marked[at] == *marker && Some(text) == pointed.as_ref();
        prop_assert!(sound, "{} {}: {:?} became {:?}", recipe, at, &marked[at], text);
    }
    let places: Vec<_> = marked
        .iter()
        .filter(|(_, text)| text.contains(marker))
        .map(|(at, _)| at)
        .collect();
    prop_assert!(
        places.iter().any(|at| at.starts_with("graph/")),
        "{} {}: {:?}",
        recipe,
        option,
        places
    );
    prop_assert!(
        places.iter().any(|at| at.contains("terraform.tfvars.json/")),
        "{} {}: {:?}",
        recipe,
        option,
        places
    );
    let on_host = places.iter().any(|at| at.starts_with("pillar/hosts/"));
    prop_assert!(on_host || *kind != OptionType::Path, "{:?}", places);
    Ok(())
}

fn config() -> ProptestConfig {
    ProptestConfig {
        // Each case is tried on every option of the catalog.
        cases: ProptestConfig::default().cases / 4,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_value_is_refused_or_carried_to_the_byte(value in hostile()) {
        prop_assert!(SUBJECTS.iter().any(|subject| subject.option == "greeting"));
        for subject in SUBJECTS.iter() {
            check_carried(subject, &value)?;
        }
    }

    #[test]
    fn a_text_where_another_kind_belongs_is_refused(value in hostile()) {
        for recipe in CATALOG.iter() {
            for option in recipe.settable() {
                let fits = match option.kind {
                    OptionType::String | OptionType::Path | OptionType::Secret => continue,
                    ref kind => kind.check(value.as_str().into()).is_ok(),
                };
                match written(&recipe.name, &option.name, &value) {
                    Ok(_) => prop_assert!(fits, "{} {}", recipe.name, option.name),
                    Err(found) => found.iter().for_each(check_manners),
                }
            }
        }
    }

    #[test]
    fn a_secret_is_never_carried(value in "[a-zA-Z0-9]{12,40}") {
        for recipe in CATALOG.iter() {
            for option in recipe.settable().filter(|option| option.kind == OptionType::Secret) {
                let files = written(&recipe.name, &option.name, &value).unwrap();
                let compilation = compile(&Pillar::read(&files).unwrap(), &CATALOG, Profile::Solo).unwrap();
                for (path, bytes) in files.iter().chain(&compilation.artifacts) {
                    prop_assert!(!String::from_utf8_lossy(bytes).contains(&value), "{}", path);
                }
            }
        }
    }

    #[test]
    fn any_name_is_refused_or_plain(name in hostile()) {
        let intent = intent(&name, "hello", "greeting", "x".into());
        match intent::edit(&estate("#!yaml\n"), &CATALOG, &intent) {
            Ok(files) => {
                prop_assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
                let compilation = compile(&Pillar::read(&files).unwrap(), &CATALOG, Profile::Solo).unwrap();
                let tfvars = format!("terraform/environments/production/{name}/terraform.tfvars.json");
                prop_assert!(compilation.artifacts.contains_key(&tfvars));
            }
            Err(found) => found.iter().for_each(check_manners),
        }
    }
}

/// A recipe whose service says this of its timing, in line 8.
fn timed(line: &str) -> String {
    format!(
        "recipe: own\nsummary: s\nversion: '1'\nservices:\n  own:\n    program: [x]\n    ports: {{http: {{}}}}\n    {line}\n"
    )
}

#[test]
fn hostile_durations_are_refused_with_their_place() {
    for (value, expected) in [
        ("0s", "start.within must be between 5s and 1h, not 0s"),
        ("4999ms", "start.within must be between 5s and 1h, not 4999ms"),
        ("61m", "start.within must be between 5s and 1h, not 61m"),
        (
            "99999999999999999999s",
            "start.within: \"99999999999999999999s\" is not a duration",
        ),
        ("\"-5s\"", "start.within: \"-5s\" is not a duration"),
        ("\"5 s\"", "start.within: \"5 s\" is not a duration"),
        ("\"\"", "start.within: \"\" is not a duration"),
        ("1.5m", "start.within: \"1.5m\" is not a duration"),
        ("\"{{ version }}m\"", "is not a duration"),
        ("90", "start.within must be a duration, not a whole number"),
        ("[90s]", "start.within must be a duration, not a list"),
        ("null", "start.within must be a duration, not"),
    ] {
        refused_recipe(
            &timed(&format!("start: {{within: {value}}}")),
            &[(expected, 8, 21)],
        );
    }
    refused_recipe(&timed("start: {}"), &[("start says no time", 8, 12)]);
    refused_recipe(&timed("stop: 30s"), &[("stop must be a map, not text", 8, 11)]);
    let of_check = |rest: &str| timed(&format!("check: {{tcp: true, {rest}}}"));
    let refused_check = |rest: &str, fragment: &str, column: u32| {
        refused_recipe(&of_check(rest), &[(fragment, 8, column)]);
    };
    refused_check("every: 0s", "every must be between 1s and 1h, not 0s", 31);
    refused_check("every: 999ms", "every must be between 1s and 1h, not 999ms", 31);
    refused_check("timeout: 0ms", "timeout must be between 1s and 1h, not 0s", 33);
    let late = "every of the check of service \"own\" is 2m, and a start may take 90s";
    refused_check("every: 2m", late, 31);
    let late = "timeout of the check of service \"own\" is 90s, and a start may take 90s";
    refused_check("timeout: 90s", late, 33);
    let late = "every of the check of service \"own\" is 5s, and a start may take 5s";
    refused_recipe(
        &format!("{}    start: {{within: 5s}}\n", of_check("timeout: 1s")),
        &[(late, 9, 21)],
    );
}

#[test]
fn what_a_recipe_says_of_its_timing_is_in_the_job() {
    let text = timed("check: {tcp: true, every: 60s, timeout: 2s}")
        + "    start: {within: 1h}\n    stop: {within: 1h}\n";
    let compiled = run_recipe(text.as_bytes(), "{replicas: 2}").expect("it compiles");
    let file = |ending: &str| {
        let found = compiled.artifacts.iter().find(|(path, _)| path.ends_with(ending));
        String::from_utf8(found.expect(ending).1.to_vec()).unwrap()
    };
    let job = file("own.nomad.hcl");
    for line in [
        "healthy_deadline = \"1h\"",
        "kill_timeout = \"1h\"",
        "interval = \"1m\"",
        "timeout  = \"2s\"",
        "grace           = \"1h\"",
    ] {
        assert!(job.contains(line), "{line}\n{job}");
    }
    let component = compiled.component("production", "own").expect("it is there");
    assert_eq!(component.rollout().as_secs(), 3 * 7200);
}
