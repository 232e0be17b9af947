//! A whole environment: all its components deleted, or all of another's promoted into it, by one intent.

use super::{Editor, Intent, Sentence, edit};
use crate::catalog::Catalog;
use crate::diagnostic::Diagnostic;
use crate::pillar::{Pillar, PillarFiles, Words};

pub fn delete(files: &PillarFiles, environment: &str) -> Result<PillarFiles, Vec<Diagnostic>> {
    let pillar = Pillar::read(files)?;
    let mut names = names(&pillar, environment).peekable();
    // An environment without a file stays so.
    if names.peek().is_none() {
        return Ok(files.clone());
    }
    let mut editor = Editor::open(files, environment)?;
    for name in names {
        editor.remove(&[name])?;
    }
    Ok(editor.close())
}

pub fn promote(
    files: &PillarFiles,
    catalog: &Catalog,
    said: &Words,
    from: &str,
    to: &str,
) -> Result<PillarFiles, Vec<Diagnostic>> {
    let pillar = Pillar::read(files)?;
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
            sentence: Sentence::PromoteComponent {
                from: from.to_owned(),
                to: to.to_owned(),
                component: name.to_owned(),
            },
            said: said.clone(),
        };
        files = edit(&files, catalog, &one)?;
    }
    Ok(files)
}

fn names<'p>(pillar: &'p Pillar, environment: &str) -> impl Iterator<Item = &'p str> {
    let names = pillar.components.keys();
    names
        .filter(move |(of, _)| of == environment)
        .map(|(_, name)| name.as_str())
}
