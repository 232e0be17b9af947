//! The client of Consul against a real one with ACLs on, and its catalogue as Nomad fills it.

use std::path::Path;
use std::time::Duration;

use crate::nomad;
use crate::process::{EngineProcess, engine_of, eventually, free_port};
use eos_engine::consul::{KeyWork, Request, TRANSACTION, Transaction};
use eos_engine::discovery::{ConsulDiscovery, Discovery};
use eos_engine::{ConsulClient, ConsulEndpoint, ErrorKind, env_names};
use secrecy::SecretString;
use serde_json::{Value, json};

pub const TOKEN: &str = "0c3f1d84-9f3e-4d0e-8a53-6a1c2a2f7e10";
const LIMIT: Duration = Duration::from_secs(60);

/// A Consul that is one server, with a management token that is chosen in advance.
pub struct Consul {
    pub agent: EngineProcess,
    pub address: String,
    pub client: ConsulClient,
}

impl Consul {
    pub async fn start(program: &str, directory: &Path) -> Consul {
        let (http, server, serf) = (free_port(), free_port(), free_port());
        let configuration = json!({
            "ports": {"http": http, "server": server, "serf_lan": serf, "serf_wan": -1, "dns": -1, "grpc": -1,
                "grpc_tls": -1},
            "acl": {"enabled": true, "default_policy": "deny", "tokens": {"initial_management": TOKEN, "agent": TOKEN}},
            "disable_update_check": true,
        });
        std::fs::write(directory.join("consul.json"), configuration.to_string()).unwrap();
        let arguments = [
            "agent",
            "-dev",
            "-bind",
            "127.0.0.1",
            "-config-file",
            "consul.json",
        ];
        let agent = EngineProcess::start(program, &arguments, directory, "consul.log");
        let address = format!("http://127.0.0.1:{http}");
        let client = client(&address, TOKEN);
        let own = Request {
            object: "own token",
            path: "acl/token/self",
            query: &[],
        };
        eventually("consul", LIMIT, async || client.get::<Value>(own).await).await;
        Consul {
            agent,
            address,
            client,
        }
    }
}

pub fn client(address: &str, token: &str) -> ConsulClient {
    let endpoint = ConsulEndpoint {
        address: address.to_owned(),
        certificate: None,
        token_file: None,
    };
    ConsulClient::new(&endpoint)
        .unwrap()
        .with_token(SecretString::from(token))
}

#[tokio::test]
async fn consul_is_read_as_it_is() {
    let Some(program) = engine_of(env_names::TEST_CONSUL) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let mut consul = Consul::start(&program, directory.path()).await;
    let whole = async {
        refusals_have_a_kind(&consul).await;
        a_token_may_be_too_small(&consul).await;
        a_transaction_is_done_whole_or_not_at_all(&consul.client).await;
        consul.agent.kill();
        let error = consul.client.service("web").await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unreachable);
        assert!(error.hint.unwrap().contains("Is Consul running?"));
    };
    tokio::time::timeout(Duration::from_secs(120), whole)
        .await
        .expect("the whole test has a time limit");
}

async fn refusals_have_a_kind(consul: &Consul) {
    const WRONG: &str = "ffffffff-9f3e-4d0e-8a53-6a1c2a2f7e10";
    let error = client(&consul.address, WRONG).key("a").await.unwrap_err();
    assert_eq!(
        (error.kind, error.words.as_str()),
        (ErrorKind::Refused, "ACL not found")
    );
    assert!(!format!("{error:?}").contains(WRONG), "{error:?}");
    assert_eq!(consul.client.key("terraform/nobody").await.unwrap(), None);
    assert_eq!(consul.client.service("nobody").await.unwrap().len(), 0);
    let error = consul.client.renew_session(WRONG).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
    consul.client.destroy_session(WRONG).await.unwrap();
}

/// Consul reports it like a lost race, which it is not.
async fn a_token_may_be_too_small(consul: &Consul) {
    const SMALL: &str = "5b7a4f60-1c1d-4f0e-9b0a-5e1f7c9d2a33";
    let make = async |object, path, body: Value| {
        let request = Request {
            object,
            path,
            query: &[],
        };
        consul.client.put::<Value>(request, &body).await.unwrap()
    };
    let rules = "key_prefix \"terraform/\" { policy = \"read\" }";
    make("policy", "acl/policy", json!({"Name": "small", "Rules": rules})).await;
    let token = json!({"SecretID": SMALL, "Policies": [{"Name": "small"}]});
    make("token", "acl/token", token).await;
    let work = [KeyWork::Delete {
        key: "terraform/production/grafana/lock",
    }];
    let error = client(&consul.address, SMALL)
        .transact("lock", &work)
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused, "{error}");
    assert!(error.words.contains("key:write"), "{error}");
}

async fn a_transaction_is_done_whole_or_not_at_all(consul: &ConsulClient) {
    let session = consul
        .create_session("test", Duration::from_secs(60), Duration::ZERO)
        .await
        .unwrap();
    let lock = |key| KeyWork::Lock {
        key,
        session: &session,
        value: b"mine",
    };
    let keys: Vec<String> = (0..TRANSACTION)
        .map(|number| format!("terraform/test/{number}/lock"))
        .collect();
    let all: Vec<KeyWork<'_>> = keys.iter().map(|key| lock(key)).collect();
    assert_eq!(consul.transact("locks", &all).await.unwrap(), Transaction::Done);
    let found = consul.key(&keys[7]).await.unwrap().unwrap();
    assert_eq!(
        (found.value.as_slice(), found.session.as_ref()),
        (&b"mine"[..], Some(&session))
    );
    let other = consul
        .create_session("other", Duration::from_secs(60), Duration::ZERO)
        .await
        .unwrap();
    let work = [
        KeyWork::Delete { key: &keys[0] },
        KeyWork::CheckSession {
            key: &keys[1],
            session: &other,
        },
    ];
    let Transaction::RolledBack { at: 1, words } = consul.transact("locks", &work).await.unwrap() else {
        panic!("the second operation cannot be done");
    };
    assert!(words.contains(&session), "{words}");
    assert!(consul.key(&keys[0]).await.unwrap().is_some());
    consul.destroy_session(&session).await.unwrap();
    assert_eq!(consul.key(&keys[0]).await.unwrap().unwrap().session, None);
}

#[tokio::test]
async fn what_nomad_registers_in_consul_is_found() {
    let (Some(consul), Some(nomad)) = (
        engine_of(env_names::TEST_CONSUL),
        engine_of(env_names::TEST_NOMAD),
    ) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let consul = Consul::start(&consul, directory.path()).await;
    let address = format!("http://127.0.0.1:{}", free_port());
    let catalogue = format!(
        "consul {{\n  address = \"{}\"\n  token = \"{TOKEN}\"\n}}\n",
        consul.address.trim_start_matches("http://")
    );
    let _agent = nomad::start(&nomad, directory.path(), &address, Some(&catalogue));
    let nomad = nomad::ready(directory.path(), &address).await;
    let whole = async {
        let job = nomad::job_file("web", "python3", 64).replace("\"nomad\"", "\"consul\"");
        nomad::register(&nomad, &job).await;
        let healthy = nomad
            .wait_healthy("default", "web", LIMIT, &mut |_| {})
            .await
            .unwrap();
        let discovery = ConsulDiscovery::new(&consul.client, &nomad);
        let instances = discovery.instances("web", "default").await.unwrap();
        let [instance] = instances.as_slice() else {
            panic!("{instances:?}");
        };
        assert_eq!(
            (instance.healthy, instance.address.as_str()),
            (Some(true), "127.0.0.1")
        );
        let [allocation] = healthy.allocations.as_slice() else {
            panic!("{healthy:?}");
        };
        assert_eq!(
            (&instance.node, &instance.allocation),
            (&allocation.node_name, &allocation.id)
        );
        let [check] = instance.checks.as_slice() else {
            panic!("{instance:?}");
        };
        assert_eq!((check.name.as_str(), check.status.as_str()), ("alive", "success"));
        nomad::purge(&nomad, "web").await;
        eventually("service gone", LIMIT, async || {
            match discovery.instances("web", "default").await {
                Ok(instances) if instances.is_empty() => Ok(()),
                other => Err(format!("{other:?}")),
            }
        })
        .await;
    };
    tokio::time::timeout(Duration::from_secs(180), whole)
        .await
        .expect("the whole test has a time limit");
}
