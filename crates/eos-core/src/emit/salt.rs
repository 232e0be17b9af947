//! What Salt is given: the slice of the pillar that each minion needs, and one small SLS a piece of work.
//! The states themselves are static formula code.

use super::{Artifacts, terraform::Workspace};
use crate::lowered::Lowered;
use crate::pillar::Pillar;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The minion that runs Terraform.
pub fn control(pillar: &Pillar) -> Option<&str> {
    pillar
        .hosts
        .values()
        .find(|host| host.roles.iter().any(|role| role == "control"))
        .map(|host| host.name.as_str())
}

/// SLS names of one component: what a step runs.
pub fn sls(component: &str, environment: &str, piece: &str) -> String {
    format!("components.{component}.{environment}.{piece}")
}

pub fn emit(pillar: &Pillar, components: &[Lowered], workspaces: &[Workspace], artifacts: &mut Artifacts) {
    let control = control(pillar);
    for host in pillar.hosts.keys() {
        let is_control = control == Some(host.as_str());
        let slice = slice(host, is_control, components, workspaces);
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
    for component in components
        .iter()
        .filter(|component| !component.volumes.is_empty())
    {
        let states: Map<String, Value> = component
            .volumes
            .iter()
            .map(|volume| {
                let id = format!("{}/{}", component.workspace(), volume.need);
                let state = json!({"file.directory": [
                    {"name": volume.path.value}, {"user": account(&volume.user)}, {"group": account(&volume.group)},
                    {"mode": volume.mode}, {"makedirs": true}]});
                (id, state)
            })
            .collect();
        let path = format!(
            "salt/components/{}/{}/volumes.sls",
            component.component, component.environment
        );
        artifacts.insert(path, json_sls(&Value::Object(states)));
        pieces.entry(&component.component).or_default().push(sls(
            &component.component,
            &component.environment,
            "volumes",
        ));
    }
    for workspace in workspaces {
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
    let waves = waves(control, components, workspaces);
    artifacts.insert(
        "salt/orchestrate/waves.json".to_owned(),
        pretty(&json!({"waves": waves})).into_bytes(),
    );
}

/// Salt takes a number in quotes for a name, and finds no such user.
fn account(name: &str) -> Value {
    name.parse::<u32>().map_or_else(|_| name.into(), Value::from)
}

fn slice(host: &str, is_control: bool, components: &[Lowered], workspaces: &[Workspace]) -> Value {
    let mut volumes = Map::new();
    for component in components {
        for volume in component
            .volumes
            .iter()
            .filter(|volume| volume.host.value == host)
        {
            let facts = json!({"path": volume.path.value, "user": volume.user, "group": volume.group, "mode": volume.mode});
            volumes.insert(format!("{}/{}", component.workspace(), volume.need), facts);
        }
    }
    let mut eos = Map::new();
    eos.insert("volumes".to_owned(), Value::Object(volumes));
    if is_control {
        let secrets: BTreeMap<String, Value> = components
            .iter()
            .filter(|component| !component.secrets.is_empty())
            .map(|component| {
                let items: Vec<_> = component.secrets.iter().map(|secret| secret.item.as_str()).collect();
                let secret = json!([{"namespace": component.environment, "path": component.secret_path(), "items": items}]);
                (component.workspace(), secret)
            })
            .collect();
        let workspaces: Map<String, Value> = workspaces
            .iter()
            .map(|workspace| {
                let name = format!("{}/{}", workspace.environment, workspace.component);
                let facts = json!({
                    "digest": workspace.digest,
                    "token": if workspace.management { "management" } else { "client" },
                    "files": workspace.files,
                    "hosts": workspace.hosts,
                    "secrets": secrets.get(&name).cloned().unwrap_or_else(|| json!([])),
                });
                (name, facts)
            })
            .collect();
        eos.insert("workspaces".to_owned(), Value::Object(workspaces));
    }
    json!({"eos": eos})
}

/// Where secrets lie; never what they are.
fn secret_paths(components: &[Lowered]) -> Value {
    let paths: Map<String, Value> = components
        .iter()
        .filter(|component| !component.secrets.is_empty())
        .map(|component| {
            let items: Vec<_> = component
                .secrets
                .iter()
                .map(|secret| secret.item.as_str())
                .collect();
            (format!("secret/{}", component.workspace()), json!(items))
        })
        .collect();
    json!({"secrets": paths})
}

/// The order in which `salt-run state.orchestrate orchestrate.deploy` converges the tree without Eos.
fn waves(control: Option<&str>, components: &[Lowered], workspaces: &[Workspace]) -> Vec<Vec<Value>> {
    let Some(control) = control else { return Vec::new() };
    let on_control = |workspace: &&Workspace| json!({"minion": control, "sls": sls(&workspace.component, &workspace.environment, "workspace")});
    let (platforms, rest): (Vec<_>, Vec<_>) = workspaces
        .iter()
        .partition(|workspace| workspace.component == super::terraform::PLATFORM);
    let mut first: Vec<Value> = platforms.iter().map(on_control).collect();
    for component in components {
        let hosts: std::collections::BTreeSet<_> = component
            .volumes
            .iter()
            .map(|volume| &volume.host.value)
            .collect();
        first.extend(hosts.into_iter().map(|host| {
            json!({"minion": host, "sls": sls(&component.component, &component.environment, "volumes")})
        }));
    }
    let waves = vec![first, rest.iter().map(on_control).collect()];
    waves.into_iter().filter(|wave| !wave.is_empty()).collect()
}

fn json_sls(value: &Value) -> Vec<u8> {
    format!("#!json\n{}\n", pretty(value)).into_bytes()
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("a JSON value has a JSON form")
}
