//! What Salt is given: the slice of the pillar that each minion needs, and one small SLS a piece of work.
//! The states themselves are static formula code.

use super::terraform::{PLATFORM, Workspace, WorkspaceFacts};
use super::{Artifacts, json_lines, monitoring};
use crate::canonical::canonical_digest;
use crate::compose::Key;
use crate::lowered::{Lowered, Lvm, Volume};
use crate::pillar::{Converted, Pillar, Restored};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The minion that runs Terraform.
pub fn control(pillar: &Pillar) -> Option<&str> {
    let control = pillar.hosts.values().find(|host| host.has_role("control"));
    control.map(|host| host.name.as_str())
}

/// SLS names of one component: what a step runs.
pub fn sls(component: &str, environment: &str, piece: &str) -> String {
    format!("components.{component}.{environment}.{piece}")
}

/// Host -> the piece that makes the component's volumes there, and the volumes.
pub fn volume_pieces(component: &Lowered) -> BTreeMap<&str, (String, Vec<&Volume>)> {
    let mut hosts: BTreeMap<&str, (String, Vec<&Volume>)> = BTreeMap::new();
    for volume in &component.volumes {
        hosts.entry(&volume.host.value).or_default().1.push(volume);
    }
    let several = hosts.len() > 1;
    for (host, (piece, _)) in &mut hosts {
        *piece = match several {
            true => format!("volumes-{host}"),
            false => "volumes".to_owned(),
        };
    }
    hosts
}

/// What a step names the component's volumes on one host by: the digest of their slices there.
pub fn volumes_digest(component: &Lowered, host: &str) -> String {
    canonical_digest(&Value::Object(volume_slices(component, host)))
}

/// Name -> facts of the component's volumes on one host.
fn volume_slices(component: &Lowered, host: &str) -> Map<String, Value> {
    let there = component
        .volumes
        .iter()
        .filter(|volume| volume.host.value == host);
    let slices = there.map(|volume| (volume_id(component, volume), volume_facts(component, volume)));
    slices.collect()
}

fn volume_id(component: &Lowered, volume: &Volume) -> String {
    volume.id(&component.environment, &component.component)
}

pub fn emit(
    pillar: &Pillar,
    components: &BTreeMap<Key, Lowered>,
    workspaces: &BTreeMap<Key, Workspace>,
    artifacts: &mut Artifacts,
) {
    let control = control(pillar);
    let mut volumes: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for component in components.values() {
        for volume in &component.volumes {
            let slices = volumes.entry(&volume.host.value).or_default();
            slices.insert(volume_id(component, volume), volume_facts(component, volume));
        }
    }
    let mut watching = monitoring::slices(components);
    for host in pillar.hosts.keys() {
        let (monitors, monitoring) = watching.remove(host.as_str()).unwrap_or_default();
        let eos = Slice {
            monitoring,
            monitors,
            volumes: volumes.remove(host.as_str()).unwrap_or_default(),
            workspaces: (control == Some(host.as_str())).then(|| workspace_slices(workspaces)),
        };
        let slice = BTreeMap::from([("eos", eos)]);
        artifacts.insert(format!("pillar/hosts/{host}.sls"), json_sls(&slice));
    }
    let top: Map<String, Value> = pillar
        .hosts
        .keys()
        .map(|host| (host.clone(), json!([format!("hosts.{host}")])))
        .collect();
    artifacts.insert("pillar/top.sls".to_owned(), json_sls(&json!({"base": top})));
    artifacts.insert(
        "pillar/credentials/vault.sls".to_owned(),
        json_sls(&secret_paths(components)),
    );

    let mut pieces: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for component in components.values() {
        for (piece, volumes) in volume_pieces(component).into_values() {
            let states: Map<String, Value> = volumes
                .into_iter()
                .map(|volume| {
                    let id = volume_id(component, volume);
                    (id, volume_state(component, volume))
                })
                .collect();
            let (name, environment) = (&component.component, &component.environment);
            let path = format!("salt/components/{name}/{environment}/{piece}.sls");
            artifacts.insert(path, json_sls(&Value::Object(states)));
            if piece == "volumes" {
                pieces
                    .entry(name)
                    .or_default()
                    .push(sls(name, environment, &piece));
            }
        }
    }
    for workspace in workspaces.values() {
        let name = format!("{}/{}", workspace.environment, workspace.component);
        let mut states = Map::new();
        states.insert(name.clone(), json!({"eos_terraform.applied": [{"name": name}]}));
        let path = format!(
            "salt/components/{}/{}/workspace.sls",
            workspace.component, workspace.environment
        );
        artifacts.insert(path, json_sls(&Value::Object(states)));
        pieces.entry(&workspace.component).or_default().push(sls(
            &workspace.component,
            &workspace.environment,
            "workspace",
        ));
    }
    for (component, pieces) in &pieces {
        artifacts.insert(
            format!("salt/components/{component}/deploy.sls"),
            json_sls(&json!({"include": pieces})),
        );
    }
    monitoring::emit(components, artifacts);
    let waves = waves(control, components, workspaces);
    artifacts.insert(
        "salt/orchestrate/waves.json".to_owned(),
        json_lines("", &BTreeMap::from([("waves", waves)])),
    );
}

/// Salt takes a number in quotes for a name, and finds no such user.
fn account(name: &str) -> Value {
    name.parse::<u32>().map_or_else(|_| name.into(), Value::from)
}

fn volume_facts(component: &Lowered, volume: &Volume) -> Value {
    let mut facts = json!({
        "path": volume.path.value,
        "user": volume.user,
        "group": volume.group,
        "mode": volume.mode,
        "durability": volume.durability.value.word(),
        "risk": component.risk,
    });
    if let Some(lvm) = &volume.lvm {
        facts["alert"] = lvm.alert.value.into();
        for (name, value) in storage_facts(volume, lvm) {
            facts[name] = value;
        }
    }
    facts
}

/// What both the slice and the state say of a volume on LVM.
fn storage_facts(volume: &Volume, lvm: &Lvm) -> Vec<(&'static str, Value)> {
    let mut facts = vec![
        ("volume", volume.name.as_str().into()),
        ("volume_group", lvm.group.value.as_str().into()),
        ("devices", json!(lvm.devices.value)),
        ("size", volume.size.value.into()),
        ("filesystem", volume.filesystem.value.word().into()),
    ];
    let compression = lvm.compression.as_ref();
    facts.extend(compression.map(|word| ("compression", word.value.as_str().into())));
    facts.extend(lvm.shrink_from.map(|size| ("shrink_from", size.into())));
    if !lvm.snapshots.is_empty() {
        facts.push(("snapshots", json!(lvm.snapshots)));
    }
    if let Some(Restored { snapshot, when }) = &lvm.restored {
        facts.push(("restore", json!({"snapshot": snapshot, "when": when})));
    }
    if let Some(Converted {
        from,
        when,
        committed,
    }) = &lvm.converted
    {
        let conversion = json!({"from": from.word(), "when": when, "commit": committed});
        facts.push(("conversion", conversion));
    }
    facts
}

fn volume_state(component: &Lowered, volume: &Volume) -> Value {
    let owner = [
        json!({"user": account(&volume.user)}),
        json!({"group": account(&volume.group)}),
        json!({"mode": volume.mode}),
    ];
    let mut arguments = vec![json!({"name": volume.path.value})];
    arguments.extend(owner);
    let Some(lvm) = &volume.lvm else {
        arguments.push(json!({"makedirs": true}));
        return json!({"file.directory": arguments});
    };
    arguments.push(json!({"volume_id": volume_id(component, volume)}));
    arguments.extend(
        storage_facts(volume, lvm)
            .into_iter()
            .map(|(name, value)| json!({name: value})),
    );
    json!({"eos_storage.mounted": arguments})
}

/// What one minion needs of the pillar. Written as it is: that of the control minion grows with the estate.
#[derive(Serialize)]
struct Slice<'a> {
    #[serde(skip_serializing_if = "Map::is_empty")]
    monitoring: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    monitors: Map<String, Value>,
    volumes: Map<String, Value>,
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
            let path = format!("secret/{}", component.workspace());
            (path, json!(item_names(component)))
        })
        .collect();
    json!({"secrets": paths})
}

/// One call of a wave. Written as it is: there are as many of them as there are volumes and components.
#[derive(Serialize)]
pub(super) struct Call<'a> {
    pub minion: &'a str,
    pub sls: String,
    pub digest: Cow<'a, str>,
}

/// The order in which `salt-run state.orchestrate orchestrate.deploy` converges the tree without Eos: namespaces and
/// volumes, then component after component. A wave begins when the one before it is healthy.
fn waves<'a>(
    control: Option<&'a str>,
    components: &'a BTreeMap<Key, Lowered>,
    workspaces: &'a BTreeMap<Key, Workspace>,
) -> Vec<Vec<Call<'a>>> {
    let Some(control) = control else { return Vec::new() };
    let on_control = |key: &Key| Call {
        minion: control,
        sls: sls(&key.1, &key.0, "workspace"),
        digest: workspaces[key].digest.as_str().into(),
    };
    let platforms = workspaces.keys().filter(|(_, component)| component == PLATFORM);
    let mut waves = vec![platforms.map(on_control).collect::<Vec<Call<'_>>>()];
    for component in components.values() {
        for (host, (piece, _)) in volume_pieces(component) {
            waves[0].push(Call {
                minion: host,
                sls: sls(&component.component, &component.environment, &piece),
                digest: volumes_digest(component, host).into(),
            });
        }
    }
    for (key, component) in components.iter().filter(|(_, component)| component.runs()) {
        let wave = component.wave + 1;
        while waves.len() <= wave {
            waves.push(Vec::new());
        }
        waves[wave].push(on_control(key));
    }
    waves.push(monitoring::wave(components));
    waves.into_iter().filter(|wave| !wave.is_empty()).collect()
}

fn json_sls(document: &impl Serialize) -> Vec<u8> {
    json_lines("#!json\n", document)
}
