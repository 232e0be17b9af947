//! New values for secrets: which ones may have them, and the intent's own record. A value is nowhere in the pillar.

use super::{Editor, Intent, NewValue, Sentence, Subject};
use crate::compose::compose;
use crate::diagnostic::Diagnostic;
use crate::expand::flag;
use crate::lowered::{CopyOf, SecretItem};
use crate::name;
use std::collections::BTreeMap;

pub fn edit(
    editor: &mut Editor,
    subject: &Subject<'_>,
    secrets: &BTreeMap<String, NewValue>,
) -> Result<(), Vec<Diagnostic>> {
    let (composed, found) = compose(subject.pillar, subject.catalog);
    let key = (subject.environment.to_owned(), subject.name.to_owned());
    let existing = subject.existing();
    let Some(expanded) = composed.components.get(&key) else {
        return Err(match existing {
            Some(_) => found,
            None => vec![subject.missing()],
        });
    };
    let found = refusals(subject.name, secrets, &expanded.secrets);
    if !found.is_empty() {
        return Err(found);
    }
    subject.note(editor)
}

impl Intent {
    /// Whether it gives this secret of its component's own a new value.
    pub fn rotates(&self, secret: &str) -> bool {
        matches!(&self.sentence, Sentence::Rotate { secrets, .. } if is_among(secrets, secret))
    }
}

fn is_among(secrets: &BTreeMap<String, NewValue>, secret: &str) -> bool {
    secrets.is_empty() || secrets.contains_key(secret)
}

fn refusals(component: &str, named: &BTreeMap<String, NewValue>, secrets: &[SecretItem]) -> Vec<Diagnostic> {
    let own: Vec<&SecretItem> = secrets.iter().filter(|secret| secret.copy_of.is_none()).collect();
    if own.is_empty() && named.is_empty() {
        let none = Diagnostic::new(format!("{component} has no secret of its own"));
        return vec![match secrets.iter().find_map(|secret| secret.copy_of.as_ref()) {
            Some(copy) => none.hint(there(copy)),
            None => none.hint("There is nothing to rotate"),
        }];
    }
    let mut found = Vec::new();
    for name in named.keys() {
        match secrets.iter().find(|secret| secret.item == *name) {
            None => found.push(unknown(component, name, &own)),
            Some(SecretItem {
                copy_of: Some(copy), ..
            }) => {
                let CopyOf { component: of, item } = copy;
                let words = format!("Secret {name} of {component} is a copy of {item} of {of}");
                found.push(Diagnostic::new(words).hint(there(copy)));
            }
            Some(_) => {}
        }
    }
    for secret in own.iter().filter(|secret| is_among(named, &secret.item)) {
        let name = &secret.item;
        let given = named.get(name) == Some(&NewValue::Given);
        if let Some(why) = &secret.not_rotated {
            let words = format!("Secret {name} of {component} cannot be rotated: {why}");
            found.push(Diagnostic::new(words).hint(format!(
                "Change it in the program itself; `eos update {component} --{} -` then records it for `eos \
                 read --reveal`",
                flag(name)
            )));
        } else if secret.generate.is_none() && !given {
            let words = format!("Eos cannot generate {name} of {component}: a person chooses it");
            let hint = format!("Give it: eos rotate secret {component} {name} --to -");
            found.push(Diagnostic::new(words).hint(hint));
        }
    }
    found
}

fn there(copy: &CopyOf) -> String {
    format!(
        "Rotate it there, and all copies follow: eos rotate secret {} {}",
        copy.component, copy.item
    )
}

/// What to say about a secret that a component does not have.
pub fn unknown(component: &str, secret: &str, known: &[&SecretItem]) -> Diagnostic {
    let names: Vec<&str> = known.iter().map(|secret| secret.item.as_str()).collect();
    let unknown = Diagnostic::new(format!("{component} has no secret {}", name::named(secret)));
    unknown.hint(
        match (name::closest(secret, names.iter().copied()), names.is_empty()) {
            (Some(meant), _) => format!("Did you mean {meant}?"),
            (None, true) => "It has none at all".to_owned(),
            (None, false) => format!("It has {}", names.join(", ")),
        },
    )
}
