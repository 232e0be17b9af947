//! Operations of the full profile against a real Consul and Vault: locked, refused, lost, and resumed.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::component_lock::{components, holder, killed, session_of};
use crate::consul::{self, Consul};
use crate::process::{apart, engine_of};
use crate::vault::{self, Vault};
use eos_core::plan::{Plan, SecretWork, Step, Work};
use eos_engine::component_lock::{ComponentLock, Holder, TTL};
use eos_engine::engines::Engines;
use eos_engine::estate::{Estate, pillar_digest};
use eos_engine::failure::Failure;
use eos_engine::operation::{Author, Finished, Watch, apply, resume};
use eos_engine::store::Outcome;
use eos_engine::{ErrorKind, Layer, env_names};
use secrecy::{ExposeSecret, SecretString};

/// What happens while an operation runs.
#[derive(Default)]
struct Seen<'a> {
    /// Effects, by step.
    effects: Vec<String>,
    /// Done before a step begins.
    before: Option<(usize, Box<dyn FnMut() + 'a>)>,
}

impl Watch for Seen<'_> {
    fn begin(&mut self, _: &str, _: usize) {}

    fn step(&mut self, number: usize, _: &Step) {
        if let Some((at, work)) = &mut self.before
            && *at == number
        {
            work();
        }
    }

    fn progress(&mut self, _: &str) {}

    fn done(&mut self, _: usize, step: &Step, effect: &str, _: Duration) {
        self.effects.push(format!("{}: {effect}", step.component));
    }
}

struct Full {
    estate: Estate,
    engines: Engines,
    consul: Consul,
    vault: Vault,
}

impl Full {
    async fn start(consul: &str, vault: &str, directory: &Path) -> Full {
        let consul = Consul::start(consul, directory).await;
        let vault = Vault::start(vault, directory).await;
        let root = directory.join("estate");
        Estate::init(&root).await.unwrap();
        let tokens = [("consul-token", consul::TOKEN), ("vault-token", vault::ROOT)];
        for (file, token) in tokens {
            std::fs::write(root.join(".eos").join(file), token).unwrap();
        }
        // Of the secrets' steps neither Salt nor Nomad hears anything.
        let settings = format!(
            "profile = \"full\"\n\
             [salt]\nurl = \"https://127.0.0.1:1\"\nuser = \"eos\"\n\
             [nomad]\naddress = \"http://127.0.0.1:1\"\n\
             [consul]\naddress = \"{}\"\ntoken_file = \".eos/consul-token\"\n\
             [vault]\naddress = \"{}\"\ntoken_file = \".eos/vault-token\"\n\
             [delivery]\nkind = \"directory\"\npath = \"srv\"\n\
             [control]\nminion = \"control\"\n",
            consul.address, vault.address
        );
        std::fs::write(root.join("eos.toml"), settings).unwrap();
        let estate = Estate::open(Some(&root)).unwrap();
        let engines = Engines::connect(&estate.settings).unwrap().unwrap();
        Full {
            estate,
            engines,
            consul,
            vault,
        }
    }

    /// Two components get a secret each: one is given, one is made.
    fn plan(&self) -> Plan {
        let step = |component: &str, given| Step {
            id: format!("{component}-secret"),
            environment: "production".to_owned(),
            component: component.to_owned(),
            work: Work::Secret {
                path: format!("production/{component}/app"),
                items: vec![SecretWork {
                    item: "password".to_owned(),
                    given,
                    rotate: false,
                    generate: Some(24),
                    copy_of: None,
                }],
            },
        };
        Plan {
            version: 1,
            environment: "production".to_owned(),
            components: Vec::new(),
            intent: None,
            base: pillar_digest(&self.estate.pillar_files().unwrap()),
            pillar: BTreeMap::new(),
            release: self.estate.compile().unwrap().release,
            observed: true,
            pins: Default::default(),
            changes: Vec::new(),
            steps: vec![step("grafana", false), step("minio", true)],
        }
    }

    async fn apply(&self, watch: &mut Seen<'_>) -> Result<Finished, Failure> {
        let given = BTreeMap::from([("password".to_owned(), SecretString::from("hunter2"))]);
        let author = Author {
            who: "ada",
            words: "apply",
        };
        apply(&self.estate, &self.engines, &self.plan(), &given, author, watch).await
    }

    async fn value(&self, path: &str) -> Option<String> {
        let entry = self.vault.client.entry(path).await.unwrap()?;
        Some(entry.items.get("password")?.expose_secret().to_owned())
    }

    fn last_outcome(&self) -> Outcome {
        self.estate.store().unwrap().history(1).unwrap()[0].outcome
    }
}

#[tokio::test]
async fn an_operation_of_the_full_profile_holds_its_components() {
    let (Some(consul), Some(vault)) = (
        engine_of(env_names::TEST_CONSUL),
        engine_of(env_names::TEST_VAULT),
    ) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let full = Full::start(&consul, &vault, directory.path()).await;
    let whole = async {
        what_another_holds_is_not_touched(&full).await;
        a_lock_that_is_lost_stops_the_operation_before_its_next_step(&full).await;
        a_killed_operation_is_resumed_at_once(&full).await;
        the_lock_names_the_operation_and_is_given_back(&full).await;
    };
    tokio::time::timeout(Duration::from_secs(120), whole)
        .await
        .expect("the whole test has a time limit");
}

async fn what_another_holds_is_not_touched(full: &Full) {
    let (minio, other) = (components(&["minio"]), holder("01OTHER"));
    let held = ComponentLock::try_acquire(&full.consul.client, &minio, &other, TTL)
        .await
        .unwrap();
    let head = full.estate.repository().head().await.unwrap();
    let Err(Failure::Engine(error)) = full.apply(&mut Seen::default()).await else {
        panic!("another operation holds minio");
    };
    assert_eq!(
        (error.layer, error.kind, error.object.as_str()),
        (Layer::Consul, ErrorKind::Conflict, "lock of production/minio")
    );
    assert!(error.words.contains("operation 01OTHER of ada"), "{error}");
    assert_eq!(full.last_outcome(), Outcome::TakenBack);
    assert_eq!(full.estate.repository().head().await.unwrap(), head);
    assert_eq!(full.value("production/grafana/app").await, None);
    held.still_held().await.unwrap();
    held.release().await.unwrap();
}

async fn a_lock_that_is_lost_stops_the_operation_before_its_next_step(full: &Full) {
    let end_the_session = || {
        apart(async || {
            let consul = consul::client(&full.consul.address, consul::TOKEN);
            let session = session_of(&consul, "minio").await.unwrap();
            consul.destroy_session(&session).await.unwrap();
        });
    };
    let mut watch = Seen {
        before: Some((2, Box::new(end_the_session))),
        ..Seen::default()
    };
    let Err(Failure::Step(failure)) = full.apply(&mut watch).await else {
        panic!("the lock is lost before the second step");
    };
    assert_eq!((failure.number, failure.error.kind), (2, ErrorKind::Conflict));
    assert!(
        failure.error.words.contains("lost on the way"),
        "{}",
        failure.error
    );
    assert_eq!(
        watch.effects,
        ["grafana: 1 value written to Vault as version 1, read back"]
    );
    assert_eq!(full.value("production/minio/app").await, None);
    assert_eq!(full.last_outcome(), Outcome::Failed);
    let staged = format!("eos/staged/{}", failure.operation);
    assert_eq!(full.value(&staged).await.as_deref(), Some("hunter2"));
}

async fn a_killed_operation_is_resumed_at_once(full: &Full) {
    let operation = full.estate.store().unwrap().history(1).unwrap().remove(0).id;
    killed(&full.consul.address, &operation, &["grafana", "minio"], TTL);
    let mut watch = Seen::default();
    let begun = Instant::now();
    let finished = resume(&full.estate, &full.engines, Some(&operation), &mut watch)
        .await
        .unwrap();
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    assert_eq!(finished.operation, operation);
    assert_eq!(
        watch.effects,
        ["minio: 1 value written to Vault as version 1, read back"]
    );
    assert_eq!(
        full.value("production/minio/app").await.as_deref(),
        Some("hunter2")
    );
    assert_eq!(full.value(&format!("eos/staged/{operation}")).await, None);
    assert_eq!(full.last_outcome(), Outcome::Done);
    let key = full.consul.client.key("terraform/production/minio/lock").await;
    assert_eq!(key.unwrap(), None);
}

async fn the_lock_names_the_operation_and_is_given_back(full: &Full) {
    let mut found: Option<Holder> = None;
    let look = || {
        let key = apart(async || {
            let consul = consul::client(&full.consul.address, consul::TOKEN);
            consul
                .key("terraform/production/grafana/lock")
                .await
                .unwrap()
                .unwrap()
        });
        assert!(key.session.is_some());
        // What is no holder is none, and the assertion below says so.
        found = serde_json::from_slice(&key.value).ok();
    };
    let mut watch = Seen {
        before: Some((1, Box::new(look))),
        ..Seen::default()
    };
    let finished = full.apply(&mut watch).await.unwrap();
    assert_eq!(
        watch.effects,
        [
            "grafana: there already, read back",
            "minio: 1 value written to Vault as version 2, read back"
        ]
    );
    drop(watch);
    let found = found.unwrap();
    assert_eq!((found.operation, found.who.as_str()), (finished.operation, "ada"));
    let key = full.consul.client.key("terraform/production/grafana/lock").await;
    assert_eq!(key.unwrap(), None);
}
