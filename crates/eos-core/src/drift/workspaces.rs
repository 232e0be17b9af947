//! Workspaces: Terraform's states, and the trees they are applied from, on the control minion.

use super::files::verdict as file_verdict;
use super::{Difference, FileChange, FileSeen, Inspection, Layer, Look, Object, Verdict, WorkspaceSeen};
use crate::compile::workspace_digest;
use crate::compose::Key;
use crate::emit::terraform::PLATFORM;

pub fn verdicts(look: &Look<'_>) -> Vec<Object> {
    let Some(control) = &look.seen.control else {
        return Vec::new();
    };
    let keys = look.workspace_keys();
    let Some(Ok(inspection)) = look.seen.minions.get(control) else {
        return Vec::new();
    };
    // Of a minion that could not tell, that is said with its host.
    if inspection.workspaces.is_none() {
        return Vec::new();
    }
    let mut objects = Vec::new();
    for key in &keys {
        let name = format!("{}/{}", key.0, key.1);
        let seen = inspection
            .workspaces
            .as_ref()
            .and_then(|all| all.get(&name)?.as_ref());
        objects.push(verdict(look, key, seen));
        if let Some(tree) = seen.and_then(|seen| seen.tree.as_ref()) {
            let files = [
                (&tree.changed, FileChange::Changed),
                (&tree.missing, FileChange::Missing),
                (&tree.strange, FileChange::Strange),
            ];
            for (paths, how) in files {
                for path in paths {
                    let file = FileSeen {
                        path: path.clone(),
                        how,
                    };
                    let mut object = file_verdict(look, &file, &format!("workspace {name} on {control}"));
                    object.component = (key.1 != PLATFORM).then(|| key.1.clone());
                    object.risk = look.risk(key);
                    objects.push(object);
                }
            }
        }
    }
    if look.is_whole() {
        objects.extend(orphans(look, inspection));
    }
    objects
}

fn verdict(look: &Look<'_>, key: &Key, seen: Option<&WorkspaceSeen>) -> Object {
    let object = format!("workspace/{}/{}", key.0, key.1);
    let of = |verdict| look.object(key, object.clone(), Layer::Terraform, verdict);
    let recorded = look.recorded.get(key);
    if let Some((seen, error)) = seen.and_then(|seen| Some((seen, seen.error.as_ref()?))) {
        let mut object = of(match seen.unread {
            true => Verdict::Unreachable,
            false => Verdict::Changed,
        });
        object.note = Some(error.words.clone());
        return object;
    }
    let Some(seen) = seen.filter(|seen| seen.serial.is_some()) else {
        return match recorded {
            Some(_) => of(Verdict::Missing),
            None => of(Verdict::PillarAhead),
        };
    };
    if let Some(changed) = seen.state_changed.as_ref().filter(|changed| !changed.is_empty()) {
        let mut object = of(Verdict::Changed);
        for (address, attributes) in changed {
            match attributes.is_empty() {
                true => object.attributes.push(Difference::named(address)),
                false => {
                    let named = attributes.iter().map(|name| format!("{address}.{name}"));
                    object.attributes.extend(named.map(Difference::named));
                }
            }
        }
        return object;
    }
    if look.is_ahead(key) {
        return of(Verdict::PillarAhead);
    }
    let recorded = recorded.map(|recorded| workspace_digest(recorded));
    match (recorded, seen.digest.as_deref()) {
        (Some(recorded), Some(digest)) if recorded == digest => of(Verdict::InStep),
        // Somebody else applied something else, or the state moved in a way that changed no attribute.
        (_, digest) => {
            let mut object = of(Verdict::Changed);
            object.attributes = vec![Difference {
                name: "digest".to_owned(),
                before: recorded.map(Into::into),
                after: digest.map(Into::into),
            }];
            object
        }
    }
}

/// What nobody has any more, of this environment.
fn orphans(look: &Look<'_>, inspection: &Inspection) -> Vec<Object> {
    let orphans = inspection.orphans.iter().flatten();
    let of_environment = orphans.filter(|name| {
        let key = name.split_once('/');
        key.is_some_and(|(environment, component)| {
            let key = (environment.to_owned(), component.to_owned());
            // What is still to be deleted is the pillar's doing.
            environment == look.environment && !look.recorded.contains_key(&key) && !look.is_held(component)
        })
    });
    of_environment
        .map(|name| {
            let key = look.platform();
            look.object(
                &key,
                format!("workspace/{name}"),
                Layer::Terraform,
                Verdict::Unowned,
            )
        })
        .collect()
}
