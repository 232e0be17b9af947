//! New values for secrets: which ones may have them, and the intent's own record. A value is nowhere in the pillar.

use super::{Editor, Intent, Verb, missing, new_component, words};
use crate::catalog::Catalog;
use crate::compose::compose;
use crate::diagnostic::Diagnostic;
use crate::expand::flag;
use crate::lowered::{CopyOf, SecretItem};
use crate::name;
use crate::pillar::{Component, Pillar};

pub fn edit(
    editor: &mut Editor,
    pillar: &Pillar,
    catalog: &Catalog,
    intent: &Intent,
    existing: Option<&Component>,
) -> Result<(), Vec<Diagnostic>> {
    let (composed, found) = compose(pillar, catalog);
    let key = (intent.environment.clone(), intent.component.clone());
    let Some(expanded) = composed.components.get(&key) else {
        return Err(match existing {
            Some(_) => found,
            None => vec![missing(pillar, catalog, intent)],
        });
    };
    let found = refusals(intent, &expanded.secrets);
    if !found.is_empty() {
        return Err(found);
    }
    let asked = new_component(intent, &expanded.recipe.name);
    match existing {
        Some(_) => editor.set(&[&intent.component, "intent"], &words(&asked)),
        // What another has for its own use is written down when a person first changes something about it.
        None => editor.add(&asked),
    }
}

impl Intent {
    /// Whether it gives this secret of its component's own a new value.
    pub fn rotates(&self, secret: &str) -> bool {
        self.verb == Verb::Rotate && (self.options.is_empty() || self.options.contains_key(secret))
    }
}

fn refusals(intent: &Intent, secrets: &[SecretItem]) -> Vec<Diagnostic> {
    let component = &intent.component;
    let own: Vec<&SecretItem> = secrets.iter().filter(|secret| secret.copy_of.is_none()).collect();
    if own.is_empty() && intent.options.is_empty() {
        let none = Diagnostic::new(format!("{component} has no secret of its own"));
        return vec![match secrets.iter().find_map(|secret| secret.copy_of.as_ref()) {
            Some(copy) => none.hint(there(copy)),
            None => none.hint("There is nothing to rotate"),
        }];
    }
    let mut found = Vec::new();
    for name in intent.options.keys() {
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
    for secret in own.iter().filter(|secret| intent.rotates(&secret.item)) {
        let name = &secret.item;
        let given = intent.options.get(name).is_some_and(|value| !value.is_null());
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
