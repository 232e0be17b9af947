//! What Nomad has: five lists, however many jobs there are; and its own diff of those jobs that moved.

use std::collections::{BTreeMap, BTreeSet};

use eos_core::compile::Compilation;
use eos_core::drift::{Compared, JobSeen, NomadSeen, OrSilent};
use eos_core::plan::Key;
use futures_util::StreamExt;
use futures_util::stream;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::silent;
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::http::Request;
use crate::nomad::null_is_empty;

/// How many jobs are read at the same time.
const AT_ONCE: usize = 8;
/// What Eos writes into a job's meta where the version of its secrets is a part of it.
const SECRET_VERSION: &str = "eos_secret_version";

pub async fn ask(engines: &Engines, environment: &str) -> Result<NomadSeen, EngineError> {
    let nomad = &engines.nomad;
    let (jobs, running, services, volumes, namespaces, nodes) = tokio::try_join!(
        jobs(engines),
        running(engines, environment),
        services(engines, environment),
        nomad.volumes(environment),
        nomad.namespaces(),
        nomad.nodes(),
    )?;
    let names: BTreeMap<&str, &str> = nodes
        .iter()
        .map(|node| (node.id.as_str(), node.name.as_str()))
        .collect();
    let mut on: BTreeMap<Key, BTreeSet<String>> = BTreeMap::new();
    for volume in &volumes {
        let key = (volume.namespace.clone(), volume.name.clone());
        let node = names.get(volume.node_id.as_str()).map(|name| (*name).to_owned());
        on.entry(key).or_default().extend(node);
    }
    Ok(NomadSeen {
        namespaces: namespaces.into_iter().map(|one| one.name).collect(),
        jobs,
        running,
        services,
        volumes: on,
        compared: BTreeMap::new(),
    })
}

async fn jobs(engines: &Engines) -> Result<BTreeMap<Key, JobSeen>, EngineError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Stub {
        #[serde(rename = "ID")]
        id: String,
        namespace: String,
        #[serde(rename = "ParentID", default)]
        parent: String,
        #[serde(default)]
        stop: bool,
        job_modify_index: u64,
        #[serde(default)]
        submit_time: i64,
        #[serde(default, deserialize_with = "null_is_empty")]
        meta: BTreeMap<String, String>,
    }
    let request = Request {
        object: "jobs",
        path: "jobs",
        query: &[("namespace", "*"), ("meta", "true")],
    };
    let stubs: Vec<Stub> = engines.nomad.get(request).await?;
    // One run of a periodic job is no job of its own.
    let stubs = stubs.into_iter().filter(|stub| stub.parent.is_empty());
    Ok(stubs
        .map(|stub| {
            let submitted = Timestamp::from_nanosecond(stub.submit_time.into()).ok();
            let job = JobSeen {
                stop: stub.stop,
                index: stub.job_modify_index,
                meta: stub.meta,
                submitted: submitted.map(|at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
            };
            ((stub.namespace, stub.id), job)
        })
        .collect())
}

async fn running(
    engines: &Engines,
    environment: &str,
) -> Result<BTreeMap<(String, String, String), u64>, EngineError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Allocation {
        namespace: String,
        #[serde(rename = "JobID")]
        job: String,
        task_group: String,
        desired_status: String,
        client_status: String,
    }
    let request = Request {
        object: "allocations",
        path: "allocations",
        query: &[("namespace", environment), ("task_states", "false")],
    };
    let mut running = BTreeMap::new();
    for one in engines.nomad.get::<Vec<Allocation>>(request).await? {
        if one.desired_status == "run" && one.client_status == "running" {
            *running
                .entry((one.namespace, one.job, one.task_group))
                .or_default() += 1;
        }
    }
    Ok(running)
}

async fn services(engines: &Engines, environment: &str) -> Result<BTreeSet<Key>, EngineError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct OfNamespace {
        namespace: String,
        #[serde(default, deserialize_with = "null_is_empty")]
        services: Vec<Named>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Named {
        service_name: String,
    }
    let request = Request {
        object: "services",
        path: "services",
        query: &[("namespace", environment)],
    };
    let found: Vec<OfNamespace> = engines.nomad.get(request).await?;
    Ok(found
        .into_iter()
        .flat_map(|OfNamespace { namespace, services }| {
            services
                .into_iter()
                .map(move |one| (namespace.clone(), one.service_name))
        })
        .collect())
}

/// These jobs, and what Nomad itself would change of them if they were registered as they were applied.
pub async fn compare<'c>(
    engines: &Engines,
    moved: &[Key],
    baseline: impl Fn(&Key) -> Option<&'c Compilation>,
) -> BTreeMap<Key, OrSilent<Compared>> {
    let asked = moved.iter().filter_map(|key| Some((key, baseline(key)?)));
    let asked = asked.map(|(key, compilation)| async move {
        let answer = compared(engines, key, compilation).await;
        (key.clone(), answer.map_err(|error| silent(&error)))
    });
    stream::iter(asked).buffer_unordered(AT_ONCE).collect().await
}

async fn compared(engines: &Engines, key: &Key, compilation: &Compilation) -> Result<Compared, EngineError> {
    let (namespace, job) = key;
    let broken = |words: &str| {
        let object = format!("job {job}");
        EngineError::new(Layer::Estate, ErrorKind::Invalid, object, words)
    };
    let workspace = compilation
        .workspaces
        .get(key)
        .ok_or_else(|| broken("it has no workspace"))?;
    let file = |end: &str| {
        let mut paths = workspace.facts.files.keys().filter(|path| path.ends_with(end));
        paths.next().and_then(|path| compilation.artifacts.get(path))
    };
    let hcl = file(&format!("/{job}.nomad.hcl")).ok_or_else(|| broken("it has no job file"))?;
    let values = file("/terraform.tfvars.json").ok_or_else(|| broken("it has no values"))?;
    let hcl = String::from_utf8_lossy(hcl);
    let values: BTreeMap<String, Value> =
        serde_json::from_slice(values).map_err(|error| broken(&error.to_string()))?;
    let mut variables: String = values
        .iter()
        .filter(|(name, _)| is_declared(&hcl, name))
        .map(|(name, value)| format!("{name} = {}\n", literal(value)))
        .collect();
    let request = Request {
        object: &format!("job {job}"),
        path: &format!("job/{job}"),
        query: &[("namespace", namespace)],
    };
    let real: Value = engines.nomad.get(request).await?;
    if is_declared(&hcl, "secret_version") {
        // Which version it runs with is no question of this one.
        let version = real["Meta"][SECRET_VERSION].as_str().unwrap_or("0");
        variables.push_str(&format!("secret_version = {version}\n"));
    }
    let wanted = engines.nomad.parse(&hcl, &variables).await?;
    let diff = engines.nomad.plan(namespace, job, &wanted).await?.diff;
    Ok(Compared { diff, real, wanted })
}

fn is_declared(hcl: &str, name: &str) -> bool {
    hcl.contains(&format!("variable \"{name}\" {{"))
}

/// A value as HCL writes it: JSON, but for what HCL would evaluate and escapes that it does not know.
fn literal(value: &Value) -> String {
    let json = value.to_string();
    json.replace("${", "$${")
        .replace("%{", "%%{")
        .replace("\\b", "\\u0008")
        .replace("\\f", "\\u000c")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_is_not_evaluated() {
        assert_eq!(
            literal(&json!("a ${b} %{c} \"d\"\n")),
            r#""a $${b} %%{c} \"d\"\n""#
        );
        assert_eq!(literal(&json!(3)), "3");
    }

    #[test]
    fn only_what_a_job_declares_is_given_to_it() {
        let hcl = "variable \"hello_count\" {\n  type = number\n}\n";
        assert!(is_declared(hcl, "hello_count") && !is_declared(hcl, "count"));
    }
}
