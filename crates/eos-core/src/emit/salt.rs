//! What Salt is given: the slice of the pillar that each minion needs, and one small SLS a piece of work.
//! The states themselves are static formula code.

use super::terraform::{PLATFORM, Workspace, WorkspaceFacts};
use super::words::Words;
use super::{Artifacts, json_lines};
use crate::called::{piece_sls, slice_file, slice_sls, sls_file};
use crate::compose::Key;
use crate::kinds::{KINDS, Phase, Slices};
use crate::lowered::Lowered;
use crate::pillar::Pillar;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The minion that runs Terraform.
pub fn control(pillar: &Pillar) -> Option<&str> {
    let control = pillar.hosts.values().find(|host| host.has_role("control"));
    control.map(|host| host.name.as_str())
}

pub fn emit(
    pillar: &Pillar,
    components: &BTreeMap<Key, Lowered>,
    workspaces: &BTreeMap<Key, Workspace>,
    artifacts: &mut Artifacts,
) {
    let control = control(pillar);
    let hosts = pillar.hosts.keys().map(String::as_str);
    let mut slices: Slices<'_> = hosts.map(|host| (host, BTreeMap::new())).collect();
    for kind in KINDS {
        kind.slices(components, &mut slices);
    }
    let keys: BTreeMap<String, &Key> = (components.iter())
        .map(|(key, component)| (component.workspace(), key))
        .collect();
    for host in pillar.hosts.values() {
        let parts = slices.remove(host.name.as_str()).unwrap_or_default();
        let is_control = control == Some(host.name.as_str());
        let named = parts.values().flat_map(Map::keys);
        let mut concerned: BTreeSet<&Key> = named
            .filter_map(|name| keys.get(owner_of(name)).copied())
            .collect();
        concerned.extend(is_control.then(|| workspaces.keys()).into_iter().flatten());
        let eos = Slice {
            estate: Words::of(host, concerned, pillar, components),
            parts,
            workspaces: is_control.then(|| workspace_slices(workspaces)),
        };
        let slice = BTreeMap::from([("eos", eos)]);
        artifacts.insert(slice_file(&host.name), json_sls(&slice));
    }
    let top: Map<String, Value> = pillar
        .hosts
        .keys()
        .map(|host| (host.clone(), json!([slice_sls(host)])))
        .collect();
    artifacts.insert("pillar/top.sls".to_owned(), json_sls(&json!({"base": top})));
    artifacts.insert(
        "pillar/credentials/vault.sls".to_owned(),
        json_sls(&secret_paths(components)),
    );

    let mut included: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut calls: Pieces<'_> = BTreeMap::new();
    for component in components.values() {
        let (name, environment) = (&component.component, &component.environment);
        let folder = format!("salt/components/{name}/{environment}");
        for kind in KINDS {
            for piece in kind.pieces(component) {
                let sls = piece_sls(environment, name, &piece.name);
                artifacts.insert(sls_file("salt", &sls), json_sls(&piece.states));
                if piece.deploys {
                    included.entry(name).or_default().push(sls.clone());
                }
                calls.entry(kind.phase()).or_default().push(Call {
                    minion: piece.minion.into(),
                    sls,
                    digest: piece.digest.into(),
                });
            }
            for (file, content) in kind.files(component) {
                artifacts.insert(format!("{folder}/{file}"), content);
            }
        }
    }
    for workspace in workspaces.values() {
        let name = format!("{}/{}", workspace.environment, workspace.component);
        let mut states = Map::new();
        states.insert(name.clone(), json!({"eos_terraform.applied": [{"name": name}]}));
        let sls = piece_sls(&workspace.environment, &workspace.component, "workspace");
        artifacts.insert(sls_file("salt", &sls), json_sls(&Value::Object(states)));
        included.entry(&workspace.component).or_default().push(sls);
    }
    for (component, included) in &included {
        artifacts.insert(
            format!("salt/components/{component}/deploy.sls"),
            json_sls(&json!({"include": included})),
        );
    }
    let waves = waves(control, components, workspaces, calls);
    artifacts.insert(
        "salt/orchestrate/waves.json".to_owned(),
        json_lines("", &BTreeMap::from([("waves", waves)])),
    );
}

/// `environment/component` of a part: its name begins so.
fn owner_of(part: &str) -> &str {
    let ends = part.match_indices('/').nth(1).map(|(at, _)| at);
    &part[..ends.unwrap_or(part.len())]
}

/// What one minion needs of the pillar. Written as it is: that of the control minion grows with the estate.
#[derive(Serialize)]
struct Slice<'a> {
    estate: Words<'a>,
    /// In the order of their names, before those of workspaces.
    #[serde(flatten)]
    parts: BTreeMap<&'static str, Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workspaces: Option<BTreeMap<String, WorkspaceSlice<'a>>>,
}

/// A workspace by its digest, and all that the digest is of.
#[derive(Serialize)]
struct WorkspaceSlice<'a> {
    digest: &'a str,
    #[serde(flatten)]
    facts: &'a WorkspaceFacts,
}

fn workspace_slices(workspaces: &BTreeMap<Key, Workspace>) -> BTreeMap<String, WorkspaceSlice<'_>> {
    let slices = workspaces.values().map(|workspace| {
        let slice = WorkspaceSlice {
            digest: &workspace.digest,
            facts: &workspace.facts,
        };
        (
            format!("{}/{}", workspace.environment, workspace.component),
            slice,
        )
    });
    slices.collect()
}

fn item_names(component: &Lowered) -> Vec<&str> {
    component
        .secrets
        .iter()
        .map(|secret| secret.item.as_str())
        .collect()
}

/// Where secrets lie; never what they are.
fn secret_paths(components: &BTreeMap<Key, Lowered>) -> Value {
    let paths: Map<String, Value> = components
        .values()
        .filter(|component| !component.secrets.is_empty())
        .map(|component| {
            let facts = json!({"place": component.secret_place(), "items": item_names(component)});
            (component.workspace(), facts)
        })
        .collect();
    json!({"secrets": paths})
}

/// One call of a wave. Written as it is: there are as many of them as there are volumes and components.
#[derive(Serialize)]
struct Call<'a> {
    minion: Cow<'a, str>,
    sls: String,
    digest: Cow<'a, str>,
}

/// The calls for what minions make beside workspaces, component by component.
type Pieces<'a> = BTreeMap<Phase, Vec<Call<'a>>>;

/// The order in which `salt-run state.orchestrate orchestrate.deploy` converges the tree without Eos: namespaces and
/// volumes, then component after component. A wave begins when the one before it is healthy.
fn waves<'a>(
    control: Option<&'a str>,
    components: &'a BTreeMap<Key, Lowered>,
    workspaces: &'a BTreeMap<Key, Workspace>,
    mut pieces: Pieces<'a>,
) -> Vec<Vec<Call<'a>>> {
    let Some(control) = control else { return Vec::new() };
    let on_control = |key: &Key| Call {
        minion: control.into(),
        sls: piece_sls(&key.0, &key.1, "workspace"),
        digest: workspaces[key].digest.as_str().into(),
    };
    let platforms = workspaces.keys().filter(|(_, component)| component == PLATFORM);
    let mut waves = vec![platforms.map(on_control).collect::<Vec<Call<'_>>>()];
    waves[0].extend(pieces.remove(&Phase::BeforeJob).into_iter().flatten());
    for (key, component) in components
        .iter()
        .filter(|(_, component)| component.has_workspace())
    {
        let wave = component.wave + 1;
        while waves.len() <= wave {
            waves.push(Vec::new());
        }
        waves[wave].push(on_control(key));
    }
    waves.extend(pieces.remove(&Phase::AfterHealthy));
    waves.into_iter().filter(|wave| !wave.is_empty()).collect()
}

fn json_sls(document: &impl Serialize) -> Vec<u8> {
    json_lines("#!json\n", document)
}
