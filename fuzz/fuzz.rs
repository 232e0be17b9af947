//! Fuzz targets on the stable toolchain: mutated pillars and recipes are read, compiled and edited, and what must hold
//! of every input is checked. The corpus is `fuzz/corpus`, the golden estates and the catalog.
//!
//! `cargo test -p eos-core --test fuzz` is a short run with a seed of its own, which it prints.
//! `EOS_FUZZ_SECONDS=600 EOS_TEST_SEED=7 cargo test --release -p eos-core --test fuzz` is a long one.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod mutate;

use eos_core::catalog::Catalog;
use eos_core::compile::compile;
use eos_core::diagnostic::Diagnostic;
use eos_core::pillar::{COMMON_FILE, Pillar, PillarFiles, environment_file};
use eos_core::profile::Profile;
use eos_core::recipe::Recipe;
use eos_core::yaml::{self, Node, Value};
use eos_core::{name, splice};
use mutate::{Random, mutated};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// What one input of at most 64 KiB may take, without optimisation on a busy machine.
const BOUND: Duration = Duration::from_secs(3);
const FILE: &str = "pillar/infrastructure/production.sls";
const OWN_RECIPE: &str = "recipes/own/recipe.yaml";
const COMMON: &str = "#!yaml\nhosts: {control: {address: a, roles: [client, control]}}\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files below some directories whose name ends so, in a fixed order.
fn corpus(directories: &[&str], ending: &str) -> Vec<Vec<u8>> {
    let mut open: Vec<PathBuf> = directories
        .iter()
        .map(|directory| root().join(directory))
        .collect();
    let mut files = Vec::new();
    while let Some(next) = open.pop() {
        if next.is_dir() {
            open.extend(
                std::fs::read_dir(&next)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if next.to_str().unwrap().ends_with(ending) {
            files.push(next);
        }
    }
    files.sort();
    assert!(!files.is_empty(), "{directories:?} hold no {ending}");
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// The pillars that people write: those of the golden estates, and odd ones.
fn pillars() -> Vec<Vec<u8>> {
    let mut texts = corpus(&["fuzz/corpus/pillar"], "");
    for case in std::fs::read_dir(root().join("tests/golden")).unwrap() {
        let estate = case.unwrap().path().join("estate");
        texts.extend(corpus(&[estate.to_str().unwrap()], ".sls"));
    }
    texts.sort();
    texts
}

/// An input that is being tried: told and kept if it is the last one.
struct Tried<'a> {
    target: &'a str,
    seed: u64,
    number: u64,
    input: &'a [u8],
}

impl Drop for Tried<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{}", self.target));
            let wrote = std::fs::write(&kept, self.input);
            eprintln!(
                "seed {}, input {} of {}, kept as {} ({wrote:?}):\n{}",
                self.seed,
                self.number,
                self.target,
                kept.display(),
                String::from_utf8_lossy(self.input).escape_debug()
            );
        }
    }
}

/// Tries mutated inputs until the time is over.
fn fuzz(target: &str, corpus: &[Vec<u8>], mut check: impl FnMut(&mut Random, &[u8])) {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .map(|value| value.parse::<u64>().expect("a whole number"))
    };
    let clock = || {
        SystemTime::UNIX_EPOCH
            .elapsed()
            .expect("a clock after 1970")
            .as_micros() as u64
            % 1_000_000
    };
    let seed = number("EOS_TEST_SEED").unwrap_or_else(clock);
    let seconds = Duration::from_secs(number("EOS_FUZZ_SECONDS").unwrap_or(10));
    let begun = Instant::now();
    let mut tried = 0;
    while tried < corpus.len() as u64 || begun.elapsed() < seconds {
        let mut random = Random(seed.wrapping_mul(1 << 32).wrapping_add(tried));
        // First the corpus as it is.
        let input = match corpus.get(tried as usize) {
            Some(text) => text.clone(),
            None => mutated(&mut random, corpus),
        };
        let trying = Tried {
            target,
            seed,
            number: tried,
            input: &input,
        };
        let started = Instant::now();
        check(&mut random, &input);
        let took = started.elapsed();
        assert!(took < BOUND, "{took:?} for {} bytes", input.len());
        drop(trying);
        tried += 1;
    }
    // Past the capture of the test harness: the seed is to be seen in every run.
    writeln!(std::io::stderr(), "fuzz {target}: {tried} inputs, seed {seed}").expect("stderr is open");
}

/// What must hold of every message, and of its place in the file.
fn check_told(found: &[Diagnostic], file: &str, input: &[u8]) {
    assert!(!found.is_empty(), "refused without a word");
    for diagnostic in found {
        for words in [Some(&diagnostic.message), diagnostic.hint.as_ref()]
            .into_iter()
            .flatten()
        {
            assert!(
                words.len() < 2000 && !words.contains(char::is_control),
                "{words:?}"
            );
        }
        let Some(place) = diagnostic.at.as_ref().filter(|place| place.file == file) else {
            continue;
        };
        let line = input
            .split(|byte| *byte == b'\n')
            .nth(place.position.line as usize - 1);
        let line = line.unwrap_or_else(|| panic!("no such line: {diagnostic}"));
        let length = String::from_utf8_lossy(line).chars().count();
        assert!(
            (1..=length + 1).contains(&(place.position.column as usize)),
            "no such column: {diagnostic}"
        );
    }
}

/// Every node lies inside of its parent and where it says; what was read is printed and read again as the same.
fn check_tree(text: &str, root: &Node) {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        assert!(text.get(node.span.clone()).is_some(), "{:?}", node.span);
        let below: Vec<&Node> = match &node.value {
            Value::Map(entries) => entries.iter().map(|entry| &entry.value).collect(),
            Value::List(nodes) => nodes.iter().collect(),
            _ => continue,
        };
        for inner in below {
            assert!(
                inner.span.start >= node.span.start && inner.span.end <= node.span.end,
                "{:?} in {:?}",
                inner,
                node.span
            );
            open.push(inner);
        }
    }
    let printed = yaml::print(&root.value).expect("what was read can be written");
    let again = yaml::parse(FILE, printed.as_bytes()).unwrap_or_else(|found| panic!("{found:?}\n{printed}"));
    assert_eq!(again.value, root.value, "{printed}");
}

#[test]
fn pillar_parser() {
    let catalog = Catalog::load(&[]).unwrap();
    fuzz("pillar_parser", &pillars(), |random, input| {
        match yaml::parse(FILE, input) {
            Ok(root) => check_tree(std::str::from_utf8(input).expect("it was read"), &root),
            Err(found) => {
                check_told(&found, FILE, input);
                assert!(
                    found.iter().all(|diagnostic| diagnostic.at.is_some()),
                    "{found:?}"
                );
            }
        }
        let mut files = PillarFiles::from([
            (COMMON_FILE.to_owned(), COMMON.into()),
            (FILE.to_owned(), input.to_vec()),
        ]);
        if random.below(3) == 0 {
            files = PillarFiles::from([(COMMON_FILE.to_owned(), input.to_vec())]);
            files.insert(
                environment_file("production"),
                b"#!yaml\ncomponents: {hello: {}}\n".to_vec(),
            );
        }
        let file = if files[COMMON_FILE] == input {
            COMMON_FILE
        } else {
            FILE
        };
        match Pillar::read(&files) {
            Ok(pillar) => match compile(&pillar, &catalog, Profile::Solo) {
                Ok(compilation) => {
                    assert_eq!(
                        compilation.artifacts,
                        compile(&pillar, &catalog, Profile::Solo).unwrap().artifacts
                    );
                    assert!(compilation.artifacts.keys().all(|path| !path.contains("..")));
                }
                Err(found) => check_told(&found, file, input),
            },
            Err(found) => {
                check_told(&found, file, input);
                assert!(
                    found.iter().all(|diagnostic| diagnostic.at.is_some()),
                    "{found:?}"
                );
            }
        }
    });
}

#[test]
fn recipe_parser() {
    let corpus = corpus(&["catalog", "fuzz/corpus/recipe"], ".yaml");
    fuzz("recipe_parser", &corpus, |_, input| {
        let recipe = match Recipe::parse(OWN_RECIPE, input) {
            Ok(recipe) => recipe,
            Err(found) => {
                check_told(&found, OWN_RECIPE, input);
                assert!(
                    found.iter().all(|diagnostic| diagnostic.at.is_some()),
                    "{found:?}"
                );
                return;
            }
        };
        assert_eq!(name::problem(name::Sort::Recipe, &recipe.name), None);
        // What it uses must be in the catalog, and have what is asked of it.
        let catalog = match Catalog::load(&[(OWN_RECIPE.to_owned(), input.to_vec())]) {
            Ok(catalog) => catalog,
            Err(found) => return check_told(&found, OWN_RECIPE, input),
        };
        let text = format!("#!yaml\ncomponents: {{subject: {{recipe: {}}}}}\n", recipe.name);
        let files = PillarFiles::from([
            (COMMON_FILE.to_owned(), COMMON.into()),
            (FILE.to_owned(), text.into()),
        ]);
        match compile(&Pillar::read(&files).unwrap(), &catalog, Profile::Solo) {
            Ok(compilation) => {
                for (path, bytes) in compilation
                    .artifacts
                    .iter()
                    .filter(|(path, _)| path.ends_with(".hcl"))
                {
                    check_blocks(path, std::str::from_utf8(bytes).unwrap());
                }
            }
            Err(found) => check_told(&found, OWN_RECIPE, input),
        }
    });
}

/// Blocks of HCL as the emitter writes them: every line is one of a few shapes, so nothing was smuggled into it.
fn check_blocks(path: &str, text: &str) {
    for line in text.lines() {
        let line = line.trim_start();
        let name = |name: &str| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        };
        let first = line.split_whitespace().next().unwrap_or_default();
        let sound = match line {
            "" | "}" => true,
            _ if line.ends_with('{') || line.ends_with("{}") => name(first),
            _ => line
                .split_once('=')
                .is_some_and(|(left, _)| name(left.trim_end())),
        };
        assert!(sound, "{path}: {line:?}");
    }
}

/// The same edit on a tree of JSON, made without the editor.
fn edited(
    mut tree: serde_json::Value,
    path: &[String],
    value: Option<&serde_json::Value>,
) -> serde_json::Value {
    let mut at = &mut tree;
    for (index, key) in path.iter().enumerate() {
        if !at.is_object() {
            *at = serde_json::json!({});
        }
        let entries = at.as_object_mut().expect("made an object above");
        if index + 1 < path.len() || value.is_some() {
            at = entries.entry(key.clone()).or_insert(serde_json::Value::Null);
        } else {
            entries.remove(key);
            return tree;
        }
    }
    *at = value.cloned().unwrap_or_default();
    tree
}

fn paths(value: &serde_json::Value, above: &[String], found: &mut Vec<Vec<String>>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let path: Vec<String> = above.iter().cloned().chain([key.clone()]).collect();
        paths(value, &path, found);
        found.push(path);
    }
}

fn any_value(random: &mut Random) -> Value {
    match random.below(6) {
        0 => Value::Null,
        1 => Value::Bool(true),
        2 => Value::Integer(random.next() as i64),
        3 => Value::list([mutate::text(random).into(), Value::map([("a", Value::Null)])]),
        4 => Value::map([(mutate::text(random), mutate::text(random).into())]),
        _ => mutate::text(random).into(),
    }
}

#[test]
fn splice_editor() {
    fuzz("splice_editor", &pillars(), |random, input| {
        let Some((text, tree)) = std::str::from_utf8(input)
            .ok()
            .and_then(|text| Some((text, yaml::parse(FILE, input).ok()?.to_json())))
            .filter(|(text, tree)| {
                text.lines().next() == Some("#!yaml") && (tree.is_object() || tree.is_null())
            })
        else {
            return;
        };
        let mut known = Vec::new();
        paths(&tree, &[], &mut known);
        let mut path = known.get(random.below(known.len())).cloned().unwrap_or_default();
        let removes = !path.is_empty() && random.below(3) == 0;
        if !removes && (path.is_empty() || random.below(2) == 0) {
            path.push(mutate::text(random));
        }
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        let value = any_value(random);
        let (result, intended) = match removes {
            true => (splice::remove(FILE, text, &keys), edited(tree, &path, None)),
            false => (
                splice::set(FILE, text, &keys, &value),
                edited(tree, &path, Some(&value.to_json())),
            ),
        };
        match result {
            Ok(written) => {
                // A file without keys says nothing, and that is an empty map to the editor.
                let read = yaml::parse(FILE, written.as_bytes())
                    .unwrap_or_else(|found| panic!("{found:?}\n{written}"));
                let said = match read.value {
                    Value::Null => serde_json::json!({}),
                    value => value.to_json(),
                };
                assert_eq!(said, intended, "{path:?} {value:?}\n{written}");
            }
            Err(found) => {
                // Block text that keeps its blank lines (`|+`) takes those behind a removed key as well: by hand, then.
                assert!(
                    !found.message.contains("was not changed") || text.contains('+'),
                    "{path:?} {value:?} {removes}\n{found}"
                );
                check_told(&[found], FILE, input);
            }
        }
    });
}
