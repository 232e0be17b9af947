//! A recipe of a few kilobytes takes neither memory nor time nor stack without bound: an error with its place instead.
//! One test alone in its process, so that the process's own peak of memory is the measure.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use eos_core::catalog::Catalog;
use eos_core::compile::compile;
use eos_core::diagnostic::Diagnostic;
use eos_core::pillar::{COMMON_FILE, Pillar, PillarFiles, environment_file};
use eos_core::profile::Profile;
use std::time::{Duration, Instant};

const COMMON: &str = "#!yaml\nhosts:\n  control:\n    address: 127.0.0.1\n    roles: [client, control]\n";
/// One refusal, in a build without optimisation on a busy machine.
const SOON: Duration = Duration::from_secs(15);
/// All of them together. One step of minijinja's may make 100 MB before a meter sees it.
const MEMORY_KIB: u64 = 600 << 10;

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn recipe(name: &str, more: &str) -> (String, Vec<u8>) {
    let text = format!("recipe: {name}\nsummary: s\nversion: \"1\"\n{more}");
    (format!("recipes/{name}/recipe.yaml"), text.into_bytes())
}

fn refused(what: &str, recipes: &[(String, Vec<u8>)], component: &str) -> Vec<Diagnostic> {
    let text = format!("#!yaml\ncomponents:\n  {component}: {{recipe: {component}}}\n");
    let files = PillarFiles::from([
        (COMMON_FILE.to_owned(), COMMON.as_bytes().to_vec()),
        (environment_file("production"), text.into_bytes()),
    ]);
    let begun = Instant::now();
    let read = Pillar::read(&files).and_then(|pillar| Ok((pillar, Catalog::load(recipes)?)));
    let result = read.and_then(|(pillar, catalog)| compile(&pillar, &catalog, Profile::Solo));
    let (took, peak) = (begun.elapsed(), peak_kib());
    println!("{what}: {took:?}, peak {peak} KiB");
    assert!(took < SOON, "{what} took {took:?}");
    assert!(peak < MEMORY_KIB, "{what} took {peak} KiB");
    let Err(found) = result else {
        panic!("{what} was accepted")
    };
    for diagnostic in &found {
        assert!(diagnostic.at.is_some(), "{what}: {diagnostic}");
        assert!(diagnostic.hint.is_some(), "{what}: {diagnostic}");
    }
    found
}

/// A recipe whose one file is this template.
fn file(template: &str) -> (String, Vec<u8>) {
    let lines: String = template.lines().map(|line| format!("        {line}\n")).collect();
    recipe(
        "own",
        &format!("services:\n  own:\n    image: a\n    files:\n      a.conf: |\n{lines}"),
    )
}

/// A recipe with these values for a task's variables.
fn variables(values: impl Iterator<Item = String>) -> (String, Vec<u8>) {
    let lines: String = values
        .enumerate()
        .map(|(number, value)| format!("      X{number}: \"{value}\"\n"))
        .collect();
    recipe(
        "own",
        &format!("services:\n  own:\n    image: a\n    env:\n{lines}"),
    )
}

/// Recipes each of which uses the next one twice.
fn doubling(count: usize) -> Vec<(String, Vec<u8>)> {
    let one = |number: usize| {
        let next = number + 1;
        let uses = match next < count {
            true => format!("uses:\n  a: {{recipe: r{next}}}\n  b: {{recipe: r{next}}}\n"),
            false => String::new(),
        };
        recipe(
            &format!("r{number}"),
            &format!("{uses}services:\n  r{number}:\n    image: a\n"),
        )
    };
    (0..count).map(one).collect()
}

#[test]
fn a_recipe_takes_neither_memory_nor_time_nor_stack_without_bound() {
    let terms = ["('a'*99999999)"; 50].join(" ~ ");
    let nested_loops = |inner: &str| {
        let open: String = (0..30)
            .map(|level| format!("{{% for a{} in [a{level} ~ a{level}] %}}", level + 1))
            .collect();
        format!(
            "{{% for a0 in ['xxxxxxxx'] %}}{open}{inner}{}{{% endfor %}}",
            "{% endfor %}".repeat(30)
        )
    };
    for (what, own, words) in [
        (
            "repeated and joined text",
            variables([format!("{{{{ {terms} }}}}")].into_iter()),
            "MiB of text",
        ),
        (
            "repeated text",
            variables(["{{ 'a' * 99999999 }}".to_owned()].into_iter()),
            "MiB of text",
        ),
        (
            "a repeated list",
            variables(["{{ [1] * 99999999 }}".to_owned()].into_iter()),
            "MiB of text",
        ),
        (
            "a search in a repeated list",
            file(&"{{ 2 in [1] * 99999999 }}".repeat(1000)),
            "MiB of text",
        ),
        (
            "text that doubles by set",
            file(&format!(
                "{{% set s = 'x' %}}{}",
                "{% set s = s ~ s %}".repeat(40)
            )),
            "{% for %}",
        ),
        (
            "text that doubles by with",
            file("{% with s = 'x' %}{% endwith %}"),
            "{% for %}",
        ),
        (
            "text that doubles by loops",
            file(&nested_loops("{{ a30 }}")),
            "MiB of text",
        ),
        (
            "sums that double by loops",
            file(&nested_loops("{{ a30 }}").replace('~', "+")),
            "MiB of text",
        ),
        (
            "JSON of JSON",
            file(&format!("{{{{ '\"'{} }}}}", "|tojson".repeat(60))),
            "MiB of text",
        ),
        (
            "much text in one file",
            file(&"{{ 'x' * 90000 }}".repeat(3000)),
            "MiB of text",
        ),
        (
            "plain text in loops",
            file(&format!(
                "{{% for a in [1] * 9999 %}}{}{{% endfor %}}",
                "x".repeat(60_000)
            )),
            "MiB of text",
        ),
        (
            "much text in many values",
            variables((0..3000).map(|_| "{{ 'x' * 90000 }}".to_owned())),
            "MiB of text",
        ),
        (
            "a JSON of any width",
            file("{{ [1]|tojson(indent=99999999) }}"),
            "too many arguments",
        ),
        (
            "minus signs",
            file(&format!("{{{{ {}1 }}}}", "-".repeat(60_000))),
            "words and signs",
        ),
        (
            "not not",
            file(&format!("{{{{ {} 1 }}}}", "not ".repeat(15_000))),
            "words and signs",
        ),
        (
            "choices in a row",
            file(&format!("{{{{ {} 1 }}}}", "1 if 1 else ".repeat(5_000))),
            "words and signs",
        ),
        (
            "parentheses of a loop",
            file(&format!("{{% for {}a in b %}}", "(".repeat(60_000))),
            "words and signs",
        ),
        (
            "attributes",
            file(&format!("{{{{ version{} }}}}", ".a".repeat(30_000))),
            "words and signs",
        ),
        (
            "attributes within the count",
            file(&format!("{{{{ version{} }}}}", ".a".repeat(200))),
            "levels deep",
        ),
        (
            "filters within the count",
            file(&format!("{{{{ version{} }}}}", "|trim".repeat(200))),
            "levels deep",
        ),
        (
            "elif",
            file(&format!(
                "{{% if 1 %}}{}{{% endif %}}",
                "{% elif 1 %}".repeat(5_000)
            )),
            "elif",
        ),
    ] {
        let found = refused(what, &[own], "own");
        assert!(found[0].message.contains(words), "{what}: {}", found[0]);
    }
    for count in [17, 24] {
        let found = refused("composition", &doubling(count), "r0");
        assert_eq!(found.len(), 1, "{found:#?}");
        let words = "more than 100 others for its own use: r0 uses r1 uses r2";
        assert!(found[0].message.contains(words), "{}", found[0]);
    }
}
