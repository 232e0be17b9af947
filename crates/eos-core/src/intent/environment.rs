//! A whole environment: all its components deleted, or all of another's promoted into it, by one intent.

use super::{Editor, Intent, Noun, Verb, edit as edit_one};
use crate::catalog::Catalog;
use crate::diagnostic::Diagnostic;
use crate::pillar::{Pillar, PillarFiles};

pub fn edit(files: &PillarFiles, catalog: &Catalog, intent: &Intent) -> Result<PillarFiles, Vec<Diagnostic>> {
    let pillar = Pillar::read(files)?;
    match intent.verb {
        Verb::Delete => {
            let mut names = names(&pillar, &intent.environment).peekable();
            // An environment without a file stays so.
            if names.peek().is_none() {
                return Ok(files.clone());
            }
            let mut editor = Editor::open(files, &intent.environment)?;
            for name in names {
                editor.remove(&[name])?;
            }
            Ok(editor.close())
        }
        Verb::Promote => {
            let from = intent.from.as_deref().unwrap_or_default();
            let mut names = names(&pillar, from).peekable();
            if names.peek().is_none() {
                let nothing = format!("There is no component in {from} to promote");
                return Err(vec![
                    Diagnostic::new(nothing).hint("`eos list` shows what there is"),
                ]);
            }
            let mut files = files.clone();
            for name in names {
                let one = Intent {
                    noun: Noun::Component,
                    component: name.to_owned(),
                    ..intent.clone()
                };
                files = edit_one(&files, catalog, &one)?;
            }
            Ok(files)
        }
        _ => Err(vec![Diagnostic::new(
            "Only delete and promote take a whole environment",
        )]),
    }
}

fn names<'p>(pillar: &'p Pillar, environment: &str) -> impl Iterator<Item = &'p str> {
    let names = pillar.components.keys();
    names
        .filter(move |(of, _)| of == environment)
        .map(|(_, name)| name.as_str())
}
