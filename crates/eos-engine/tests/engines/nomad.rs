//! The clients of Nomad against a real one, with ACLs on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use crate::process::{EngineProcess, engine_of, eventually, free_port};
use eos_engine::discovery::{Discovery, NomadDiscovery};
use eos_engine::nomad::{LogStream, Request};
use eos_engine::secrets::{NomadSecrets, SecretPath, Secrets};
use eos_engine::{ErrorKind, NomadClient, NomadEndpoint, env_names};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

const TOKEN: &str = "5f0a3f5e-7f10-4b7e-9d5c-0d9c3d7a1b11";
const LIMIT: Duration = Duration::from_secs(60);

#[tokio::test]
async fn nomad_is_read_as_it_is() {
    let Some(program) = engine_of(env_names::TEST_NOMAD) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let address = format!("http://127.0.0.1:{}", free_port());
    let _agent = start(&program, directory.path(), &address, None);
    let nomad = ready(directory.path(), &address).await;
    let whole = async {
        refusals_have_a_kind(&address, &nomad).await;
        jobs_are_parsed_and_planned(&nomad).await;
        a_healthy_job_is_found_healthy(&nomad).await;
        a_lost_race_is_a_conflict(&nomad).await;
        a_failing_version_is_never_called_healthy(&nomad).await;
        a_job_without_a_place_says_why(&nomad).await;
        secrets_are_merged_and_never_shown(&nomad).await;
        volumes_and_namespaces_are_listed(directory.path(), &nomad).await;
        purge(&nomad, "web").await;
        assert_eq!(
            nomad.job("default", "web").await.unwrap_err().kind,
            ErrorKind::NotFound
        );
        eventually("service", LIMIT, async || {
            match NomadDiscovery::new(&nomad).instances("web", "default").await {
                Ok(instances) if instances.is_empty() => Ok(()),
                other => Err(format!("{other:?}")),
            }
        })
        .await;
    };
    tokio::time::timeout(Duration::from_secs(240), whole)
        .await
        .expect("the whole test has a time limit");
}

/// Without a `consul` block it looks for none.
pub fn start(program: &str, directory: &Path, address: &str, consul: Option<&str>) -> EngineProcess {
    let (unseen, consul) = match consul {
        Some(block) => ("", block),
        None => (",consul", "consul {\n  enabled = false\n}\n"),
    };
    let http = address.rsplit(':').next().unwrap();
    let (rpc, serf) = (free_port(), free_port());
    let configuration = format!(
        r#"
bind_addr = "127.0.0.1"
disable_update_check = true
ports {{
  http = {http}
  rpc = {rpc}
  serf = {serf}
}}
acl {{
  enabled = true
}}
client {{
  options = {{ "fingerprint.denylist" = "env_aws,env_gce,env_azure,env_digitalocean,vault{unseen}" }}
}}
plugin "raw_exec" {{
  config {{ enabled = true }}
}}
{consul}
"#
    );
    std::fs::write(directory.join("agent.hcl"), configuration).unwrap();
    EngineProcess::start(
        program,
        &["agent", "-dev", "-config", "agent.hcl"],
        directory,
        "nomad.log",
    )
}

pub async fn ready(directory: &Path, address: &str) -> NomadClient {
    let anonymous = NomadClient::new(&NomadEndpoint {
        address: address.to_owned(),
        certificate: None,
        token_file: None,
        other_users: BTreeMap::new(),
    })
    .unwrap();
    let bootstrap = Request {
        object: "token",
        path: "acl/bootstrap",
        query: &[],
    };
    eventually("bootstrap", LIMIT, async || {
        anonymous
            .post::<Value>(bootstrap, &json!({"BootstrapSecret": TOKEN}))
            .await
    })
    .await;
    let token_file = directory.join("token");
    std::fs::write(&token_file, format!("{TOKEN}\n")).unwrap();
    let endpoint = NomadEndpoint {
        address: address.to_owned(),
        certificate: None,
        token_file: Some(token_file),
        other_users: BTreeMap::new(),
    };
    let nomad = NomadClient::new(&endpoint).unwrap();
    eventually("node", LIMIT, async || match nomad.nodes().await {
        Ok(nodes)
            if nodes
                .iter()
                .any(|node| node.status == "ready" && node.drivers["raw_exec"].healthy) =>
        {
            Ok(())
        }
        Ok(nodes) => Err(format!("{nodes:?}")),
        Err(error) => Err(error.to_string()),
    })
    .await;
    nomad
}

/// A web server; `command` may be one that fails.
pub fn job_file(name: &str, command: &str, memory: u64) -> String {
    format!(
        r#"
job "{name}" {{
  update {{
    min_healthy_time  = "1s"
    healthy_deadline  = "6s"
    progress_deadline = "7s"
    auto_revert       = true
  }}
  group "main" {{
    restart {{
      attempts = 0
      mode     = "fail"
    }}
    reschedule {{
      attempts  = 0
      unlimited = false
    }}
    network {{
      port "http" {{}}
    }}
    service {{
      name     = "{name}"
      port     = "http"
      provider = "nomad"
      check {{
        name     = "alive"
        type     = "http"
        path     = "/"
        interval = "1s"
        timeout  = "1s"
      }}
    }}
    task "server" {{
      driver = "raw_exec"
      config {{
        command = "{command}"
        args    = ["-m", "http.server", "${{NOMAD_PORT_http}}", "--bind", "127.0.0.1"]
      }}
      resources {{
        cpu    = 50
        memory = {memory}
      }}
    }}
  }}
}}
"#
    )
}

pub async fn register(nomad: &NomadClient, file: &str) -> Value {
    let job = nomad.parse(file, "").await.unwrap();
    let request = Request {
        object: "job",
        path: "jobs",
        query: &[],
    };
    let _: Value = nomad.post(request, &json!({"Job": job})).await.unwrap();
    job
}

pub async fn purge(nomad: &NomadClient, job: &str) {
    let request = Request {
        object: "job",
        path: &format!("job/{job}"),
        query: &[("purge", "true")],
    };
    let _: Value = nomad.delete(request).await.unwrap();
}

async fn refusals_have_a_kind(address: &str, nomad: &NomadClient) {
    let anonymous = NomadClient::new(&NomadEndpoint {
        address: address.to_owned(),
        certificate: None,
        token_file: None,
        other_users: BTreeMap::new(),
    })
    .unwrap();
    assert_eq!(anonymous.nodes().await.unwrap_err().kind, ErrorKind::Refused);
    assert_eq!(
        nomad.job("default", "nobody").await.unwrap_err().kind,
        ErrorKind::NotFound
    );
    let closed = NomadEndpoint {
        address: format!("http://127.0.0.1:{}", free_port()),
        certificate: None,
        token_file: None,
        other_users: BTreeMap::new(),
    };
    let error = NomadClient::new(&closed).unwrap().nodes().await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unreachable);
    assert!(error.words.contains("refused"), "{error}");
}

async fn jobs_are_parsed_and_planned(nomad: &NomadClient) {
    let error = nomad.parse("job \"x\" {", "").await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid);
    assert!(error.words.contains("Unclosed configuration block"), "{error}");
    let parsed = nomad
        .parse(
            "variable \"n\" {}\njob \"x\" {\n meta = { n = var.n }\n}",
            "n = \"7\"",
        )
        .await
        .unwrap();
    assert_eq!(parsed["Meta"]["n"], "7");

    let job = nomad.parse(&job_file("web", "python3", 64), "").await.unwrap();
    let plan = nomad.plan("default", "web", &job).await.unwrap();
    assert_eq!(plan.diff["Type"], "Added");
    assert!(plan.unplaced.is_empty());
    let job = nomad
        .parse(&job_file("web", "python3", 99_000_000), "")
        .await
        .unwrap();
    let plan = nomad.plan("default", "web", &job).await.unwrap();
    assert_eq!(plan.unplaced["main"].words(), "too little memory (1 of 1 nodes)");
}

async fn a_healthy_job_is_found_healthy(nomad: &NomadClient) {
    register(nomad, &job_file("web", "python3", 64)).await;
    let healthy = nomad
        .wait_healthy("default", "web", LIMIT, &mut |_| {})
        .await
        .unwrap();
    assert_eq!((healthy.version, healthy.allocations.len()), (0, 1));
    let allocation = &healthy.allocations[0];
    assert_eq!(allocation.healthy(), Some(true));
    assert_eq!(nomad.job("default", "web").await.unwrap().desired(), 1);
    assert_eq!(
        nomad.job_deployments("default", "web").await.unwrap()[0].status,
        "successful"
    );

    let instances = NomadDiscovery::new(nomad)
        .instances("web", "default")
        .await
        .unwrap();
    assert_eq!(instances.len(), 1);
    assert_eq!(
        (instances[0].healthy, instances[0].address.as_str()),
        (Some(true), "127.0.0.1")
    );
    assert_eq!(
        (instances[0].node.as_str(), &instances[0].allocation),
        (allocation.node_name.as_str(), &allocation.id)
    );
    assert_eq!(instances[0].checks[0].name, "alive");

    let logs = nomad
        .logs("default", &allocation.id, "server", LogStream::Stderr, 100_000)
        .await
        .unwrap();
    assert!(logs.contains("GET / HTTP/1.1"), "{logs}");
    let tail = nomad
        .logs("default", &allocation.id, "server", LogStream::Stderr, 20)
        .await
        .unwrap();
    assert_eq!(tail.len(), 20, "{tail}");
}

async fn a_lost_race_is_a_conflict(nomad: &NomadClient) {
    let job = nomad.parse(&job_file("web", "python3", 64), "").await.unwrap();
    let request = Request {
        object: "job web",
        path: "jobs",
        query: &[],
    };
    let body = json!({"Job": job, "EnforceIndex": true, "JobModifyIndex": 1});
    assert_eq!(
        nomad.post::<Value>(request, &body).await.unwrap_err().kind,
        ErrorKind::Conflict
    );
}

async fn a_failing_version_is_never_called_healthy(nomad: &NomadClient) {
    register(nomad, &job_file("web", "/nonexistent/server", 64)).await;
    let error = nomad
        .wait_healthy("default", "web", LIMIT, &mut |_| {})
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind, error.object.as_str()),
        (ErrorKind::Failed, "job web")
    );
    assert!(error.words.contains("/nonexistent/server"), "{error}");
    // Nomad reverts to version 0 as version 2, and that one is healthy.
    let healthy = nomad
        .wait_healthy("default", "web", LIMIT, &mut |_| {})
        .await
        .unwrap();
    assert_eq!(healthy.version, 2);
}

async fn a_job_without_a_place_says_why(nomad: &NomadClient) {
    register(nomad, &job_file("huge", "python3", 99_000_000)).await;
    let error = nomad
        .wait_healthy("default", "huge", Duration::from_secs(3), &mut |_| {})
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Timeout);
    assert!(
        error
            .words
            .contains("group main cannot be placed: too little memory (1 of 1 nodes)"),
        "{error}"
    );
    purge(nomad, "huge").await;
}

async fn secrets_are_merged_and_never_shown(nomad: &NomadClient) {
    let secrets = NomadSecrets::new(nomad);
    let at = SecretPath {
        namespace: "default",
        path: "nomad/jobs/web",
    };
    let items = |pairs: &[(&str, &str)]| -> BTreeMap<String, SecretString> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), SecretString::from(*value)))
            .collect()
    };
    assert_eq!(secrets.names(at).await.unwrap(), None);
    secrets
        .set_items(at, &items(&[("admin_password", "hunter2"), ("other", "kept")]))
        .await
        .unwrap();
    secrets
        .set_items(at, &items(&[("admin_password", "hunter3")]))
        .await
        .unwrap();
    let read = |item: &'static str| async {
        secrets
            .read(at, item)
            .await
            .unwrap()
            .map(|v| v.expose_secret().to_owned())
    };
    assert_eq!(read("admin_password").await.as_deref(), Some("hunter3"));
    assert_eq!(read("other").await.as_deref(), Some("kept"));
    assert_eq!(read("missing").await, None);

    let error = nomad
        .put_variable("default", at.path, &items(&[("x", "mine")]), 0)
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    assert!(
        !format!("{error:?}").contains("hunter") && !format!("{error:?}").contains("mine"),
        "{error:?}"
    );

    let names: Vec<String> = (0..4).map(|number| format!("item{number}")).collect();
    let set = |name: &str| {
        let items = items(&[(name, "value")]);
        let secrets = NomadSecrets::new(nomad);
        async move { secrets.set_items(at, &items).await }
    };
    let (a, b, c, d) = tokio::join!(set(&names[0]), set(&names[1]), set(&names[2]), set(&names[3]));
    assert!([a, b, c, d].into_iter().all(|version| version.unwrap().is_none()));
    let expected: BTreeSet<String> = names
        .into_iter()
        .chain(["admin_password".to_owned(), "other".to_owned()])
        .collect();
    assert_eq!(secrets.names(at).await.unwrap(), Some(expected));
    let written = secrets.entry(at).await.unwrap().unwrap().revision;
    assert_eq!(secrets.version(at).await.unwrap(), Some(written));

    secrets.delete(at).await.unwrap();
    secrets.delete(at).await.unwrap();
    assert_eq!(secrets.names(at).await.unwrap(), None);
}

async fn volumes_and_namespaces_are_listed(directory: &Path, nomad: &NomadClient) {
    let request = Request {
        object: "namespace staging",
        path: "namespace/staging",
        query: &[],
    };
    let () = nomad.put(request, &json!({"Name": "staging"})).await.unwrap();
    let names: Vec<String> = nomad
        .namespaces()
        .await
        .unwrap()
        .into_iter()
        .map(|found| found.name)
        .collect();
    assert_eq!(names, ["default", "staging"]);

    assert!(nomad.volumes("staging").await.unwrap().is_empty());
    let node = nomad.nodes().await.unwrap().remove(0);
    let request = Request {
        object: "volume data",
        path: "volume/host/register",
        query: &[],
    };
    let volume = json!({"Volume": {"Namespace": "staging", "Name": "data", "NodeID": node.id, "HostPath": directory,
        "RequestedCapabilities": [{"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}]}});
    let _: Value = nomad.put(request, &volume).await.unwrap();
    eventually("volume", LIMIT, async || {
        match nomad.volumes("staging").await.unwrap().as_slice() {
            [volume] if volume.state == "ready" && volume.name == "data" => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
}
