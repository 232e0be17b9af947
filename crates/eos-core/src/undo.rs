//! Taking an edit of the pillar back: the entries that it changed become what they were, whatever happened beside them.

use crate::diagnostic::Diagnostic;
use crate::pillar::PillarFiles;
use crate::splice;
use crate::yaml::{self, Entry, Node, Value};
use std::collections::BTreeSet;

/// The pillar of `now` without what an edit made of `before`, which is `after`: a file that it made goes, one that it
/// removed comes back. Files and entries that the edit left alone stay as they are now. An entry that was changed again
/// since is refused, unless only its intent's record was.
pub fn undo(
    now: &PillarFiles,
    before: &PillarFiles,
    after: &PillarFiles,
) -> Result<PillarFiles, Vec<Diagnostic>> {
    let mut undone = now.clone();
    let files: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for file in files {
        let (original, edited, current) = (before.get(file), after.get(file), now.get(file));
        if original == edited || current == original {
            continue;
        }
        if current == edited {
            match original {
                Some(original) => undone.insert(file.clone(), original.clone()),
                None => undone.remove(file),
            };
            continue;
        }
        let [current, original, edited] =
            [current, original, edited].map(|bytes| bytes.map_or(EMPTY, Vec::as_slice));
        let text = by_entries(file, current, original, edited)?;
        undone.insert(file.clone(), text.into_bytes());
    }
    Ok(undone)
}

/// The text of `after` with these entries of a section as `before` had them: what an edit of nothing else came from.
pub fn with_entries_of(
    file: &str,
    after: &[u8],
    before: &[u8],
    section: &str,
    names: &[String],
) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let mut text = text_of(file, after)?;
    let (after, before) = (yaml::parse(file, after)?, yaml::parse(file, before)?);
    for name in names {
        let keys = [section, name.as_str()];
        let of = |root: &Node| root.path(&keys).map(|node| node.value.clone());
        text = match (of(&before), of(&after)) {
            (before, after) if before == after => continue,
            (Some(value), _) => splice::set(file, &text, &keys, &value),
            (None, _) => splice::remove(file, &text, &keys),
        }
        .map_err(|found| vec![found])?;
    }
    Ok(text.into_bytes())
}

fn text_of(file: &str, bytes: &[u8]) -> Result<String, Vec<Diagnostic>> {
    String::from_utf8(bytes.to_vec()).map_err(|_| vec![Diagnostic::new(format!("{file} is not UTF-8"))])
}

const EMPTY: &[u8] = b"#!yaml\n";

fn by_entries(file: &str, now: &[u8], before: &[u8], after: &[u8]) -> Result<String, Vec<Diagnostic>> {
    let mut text = text_of(file, now)?;
    let (now, before, after) = (
        yaml::parse(file, now)?,
        yaml::parse(file, before)?,
        yaml::parse(file, after)?,
    );
    for path in names(&before).union(&names(&after)) {
        let (section, name) = path;
        let of = |root: &Node| {
            root.path(&[section.as_str(), name.as_str()])
                .map(|node| node.value.clone())
        };
        let (original, edited, current) = (of(&before), of(&after), of(&now));
        if original == edited || current == original {
            continue;
        }
        if said(current.as_ref()) != said(edited.as_ref()) {
            return Err(vec![changed_since(file, &now, section, name)]);
        }
        let keys = [section.as_str(), name.as_str()];
        text = match original {
            Some(value) => splice::set(file, &text, &keys, &value),
            None => splice::remove(file, &text, &keys),
        }
        .map_err(|found| vec![found])?;
    }
    Ok(text)
}

/// What an entry says, without the record of who last asked for something: a restart changes nothing else.
fn said(entry: Option<&Value>) -> Option<Value> {
    entry.cloned().map(|entry| match entry {
        Value::Map(mut fields) => {
            fields.retain(|field| field.key != "intent");
            Value::Map(fields)
        }
        other => other,
    })
}

/// (section, name) of every entry, such as (`components`, `grafana`).
fn names(root: &Node) -> BTreeSet<(String, String)> {
    let entries = |node: &Node| match &node.value {
        Value::Map(entries) => entries.clone(),
        _ => Vec::new(),
    };
    let named = entries(root).into_iter().flat_map(|section: Entry| {
        let below = entries(&section.value);
        below
            .into_iter()
            .map(move |entry| (section.key.clone(), entry.key))
    });
    named.collect()
}

fn changed_since(file: &str, now: &Node, section: &str, name: &str) -> Diagnostic {
    let found = Diagnostic::new(format!("{name} changed again since")).hint(
        "`eos history` shows the later operation: roll that back first, or set the value with `eos \
            update`",
    );
    match now.path(&[section, name]).or_else(|| now.get(section)) {
        Some(node) => found.at(file, node.at),
        None => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "pillar/infrastructure/production.sls";

    fn files(components: &str) -> PillarFiles {
        [(
            FILE.to_owned(),
            format!("#!yaml\n# mine\ncomponents:{components}").into_bytes(),
        )]
        .into()
    }

    fn undone(now: &str, before: &str, after: &str) -> Result<String, String> {
        let text = undo(&files(now), &files(before), &files(after));
        match text {
            Ok(files) => {
                let text = String::from_utf8(files[FILE].clone()).unwrap();
                Ok(text
                    .strip_prefix("#!yaml\n# mine\ncomponents:")
                    .unwrap()
                    .to_owned())
            }
            Err(found) => Err(found[0].message.clone()),
        }
    }

    #[test]
    fn an_edit_goes_and_what_came_beside_it_stays() {
        let hello = "\n  hello:\n    recipe: hello\n";
        let both = "\n  hello:\n    recipe: hello\n  redis:\n    recipe: redis\n";
        let redis = "\n  redis:\n    recipe: redis\n";
        // Nothing came since: byte for byte what it was.
        assert_eq!(undone(hello, " {}\n", hello).as_deref(), Ok(" {}\n"));
        assert_eq!(
            undone(" {} # odd\n", " {} # odd\n", hello).as_deref(),
            Ok(" {} # odd\n")
        );
        // Its neighbour was made since.
        assert_eq!(undone(both, " {}\n", hello).as_deref(), Ok(redis));
        // A deleted one comes back beside what was made since.
        assert_eq!(undone(redis, hello, " {}\n").as_deref(), Ok(both));
    }

    #[test]
    fn a_file_that_was_made_goes_and_one_that_was_removed_comes_back() {
        let hello = files("\n  hello:\n    recipe: hello\n");
        let none = PillarFiles::new();
        assert_eq!(undo(&hello, &none, &hello), Ok(none.clone()));
        assert_eq!(undo(&none, &hello, &none), Ok(hello.clone()));
        // Somebody made the file again since, without the entry.
        let redis = files("\n  redis:\n    recipe: redis\n");
        let both = undo(&redis, &hello, &none).unwrap();
        let text = String::from_utf8(both[FILE].clone()).unwrap();
        assert!(text.contains("hello:") && text.contains("redis:"), "{text}");
    }

    #[test]
    fn entries_that_are_not_named_stay_as_they_are() {
        let before = "#!yaml\nhosts:\n  a: {address: 1.1.1.1}\n  b: {address: 2.2.2.2}\n";
        let after =
            "#!yaml\nhosts:\n  a: {address: 1.1.1.9}\n  b: {address: 2.2.2.9}\n  c: {address: 3.3.3.3}\n";
        let named = |name: &str| {
            let names = [name.to_owned()];
            let text = with_entries_of(FILE, after.as_bytes(), before.as_bytes(), "hosts", &names).unwrap();
            let root = yaml::parse(FILE, &text).unwrap();
            let address = |host: &str| {
                root.path(&["hosts", host, "address"])
                    .map(|node| node.value.clone())
            };
            ["a", "b", "c"].map(address)
        };
        let text = |text: &str| Some(Value::String(text.to_owned()));
        assert_eq!(named("b"), [text("1.1.1.9"), text("2.2.2.2"), text("3.3.3.3")]);
        assert_eq!(named("c"), [text("1.1.1.9"), text("2.2.2.9"), None]);
    }

    #[test]
    fn a_restart_since_is_no_change() {
        let hello = |greeting: &str, words: &str| {
            format!(
                "\n  hello:\n    options:\n      greeting: {greeting}\n    intent:\n      words: {words}\n"
            )
        };
        let (before, after) = (hello("Hello", "create"), hello("Hi", "update"));
        assert_eq!(
            undone(&hello("Hi", "restart"), &before, &after),
            Ok(before.clone())
        );
        assert_eq!(
            undone(&hello("Hey", "restart"), &before, &after),
            Err("hello changed again since".to_owned())
        );
    }

    #[test]
    fn what_was_changed_again_is_refused() {
        let one = "\n  hello:\n    recipe: hello\n";
        let two = "\n  hello:\n    recipe: hello\n    options: {replicas: 2}\n";
        let three = "\n  hello:\n    recipe: hello\n    options: {replicas: 3}\n";
        assert_eq!(undone(three, one, two).unwrap_err(), "hello changed again since");
        assert_eq!(undone(two, one, two).as_deref(), Ok(one));
        assert_eq!(
            undone(" {}\n", one, two).unwrap_err(),
            "hello changed again since"
        );
    }
}
