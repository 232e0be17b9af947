//! Nomad in the lab: server and client in one agent, made ready, given its policies, drained before it is ended.

mod settings;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use eos_engine::nomad::{Node, Request};
use eos_engine::{NomadClient, NomadEndpoint};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::choices::Choices;
use crate::containers;
use crate::daemon::{Daemon, SALT_API, SALT_MASTER, SALT_MINION, Start};
use crate::durable;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::process;
use crate::progress::Running;
use crate::secrets::Secrets;
use crate::served::FormulaFile;

const LEADER: Duration = Duration::from_secs(60);
/// Then the client is asleep after a failed registration, and a new start is quicker.
const REGISTERED: Duration = Duration::from_secs(8);
const STARTS: u32 = 4;
/// Longer than the time that Nomad gives a task by default to end by itself.
const DRAINED: Duration = Duration::from_secs(20);
const STOP: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(100);

/// What Terraform's token of one run may do: part of the formula, whose module makes those tokens.
const DEPLOY_POLICY: &str = "eos-deploy";
const DEPLOY_POLICY_FILE: &str = "files/eos-deploy.policy.hcl";
/// What the program itself may do: read and foresee everything, and write secrets, which are nobody else's to write.
const PROGRAM_POLICY: &str = "eos-read";
const PROGRAM_RULES: &str = r#"namespace "*" {
  policy       = "read"
  capabilities = ["plan-job", "read-fs", "read-logs"]

  variables {
    path "*" {
      capabilities = ["destroy", "list", "read", "write"]
    }
  }
}

agent {
  policy = "read"
}

host_volume "*" {
  policy = "read"
}

node {
  policy = "read"
}

operator {
  policy = "read"
}

plugin {
  policy = "read"
}
"#;

pub struct Nomad<'a> {
    layout: &'a Layout,
    choices: &'a Choices,
    secrets: &'a Secrets,
    daemon: Daemon<'a>,
    /// With the token that may do everything.
    client: NomadClient,
}

impl<'a> Nomad<'a> {
    pub fn new(layout: &'a Layout, choices: &'a Choices, secrets: &'a Secrets) -> Result<Nomad<'a>> {
        let token_file = Some(secrets.nomad_management_file());
        let client = NomadClient::new(&NomadEndpoint {
            address: address(choices),
            token_file,
        })?;
        Ok(Nomad {
            layout,
            choices,
            secrets,
            daemon: Daemon::nomad(layout),
            client,
        })
    }

    pub fn endpoint(&self) -> NomadEndpoint {
        NomadEndpoint {
            address: address(self.choices),
            token_file: Some(self.secrets.nomad_program_file()),
        }
    }

    /// Brings it up if it is not, waits until it takes jobs, and sees to its policies and tokens.
    pub async fn up(&self, formula: &[FormulaFile<'_>], step: &Running<'_>) -> Result<()> {
        let settings = settings::settings(self.layout, self.choices);
        durable::write_json(&self.settings(), &settings, 0o600)?;
        self.first_start().await?;
        self.start_until_registered(step).await?;
        self.take_jobs().await?;
        self.grant(formula).await
    }

    /// Ends its tasks, then itself.
    pub async fn stop(&self, step: &Running<'_>) -> Result<()> {
        if let Err(error) = self.end_tasks(step).await {
            step.note(&format!("tasks are ended by force: {error}"));
        }
        self.daemon.stop(STOP).await
    }

    /// In good order and by Nomad itself, whichever driver runs them; the jobs stay, and are placed again when the
    /// node takes jobs again.
    async fn end_tasks(&self, step: &Running<'_>) -> Result<()> {
        if self.daemon.running()?.is_none() {
            if !self.has_left_tasks() {
                return Ok(());
            }
            // They outlive it. Started again, it knows how to end them.
            self.start_until_registered(step).await?;
        }
        self.drain().await
    }

    /// Whether there are processes of the lab that no engine counts as its own.
    fn has_left_tasks(&self) -> bool {
        let names = [SALT_MASTER, SALT_API, SALT_MINION];
        let engines: Vec<_> = names
            .into_iter()
            .flat_map(|name| Daemon::salt(self.layout, name).processes())
            .chain(containers::engine_processes(self.layout))
            .collect();
        process::marked(&self.layout.root)
            .iter()
            .any(|process| !engines.contains(process))
    }

    /// The only true sign: `/v1/nodes` says what was before the restart, until the client has registered anew.
    pub async fn is_ready(&self) -> bool {
        let registered = self.get("agent", "agent/self").await.is_ok_and(|agent| {
            let beat = agent["stats"]["client"]["heartbeat_ttl"].as_str();
            beat.is_some_and(|beat| !matches!(beat, "0s" | ""))
        });
        registered && self.node().await.is_ok_and(|node| node.status == "ready")
    }

    async fn start(&self) -> Result<()> {
        let ports = &self.choices.ports;
        let ports = [ports.nomad_http, ports.nomad_rpc, ports.nomad_serf];
        let reads = [self.settings()];
        let program = &self.choices.engines.nomad.path;
        self.daemon
            .ensure(&Start {
                program,
                reads: &reads,
                ports: &ports,
                stale: &[],
                umask: 0o022,
            })
            .await
    }

    /// Of server and client in one agent, the client comes too early on the first start: the server's keys are
    /// not there yet, and it sleeps for half a minute. So the first start is only for keys and tokens.
    async fn first_start(&self) -> Result<()> {
        let done = self.layout.nomad().join("first-start-done");
        if done.exists() {
            return Ok(());
        }
        self.start().await?;
        self.wait_for_leader().await?;
        self.daemon.stop(STOP).await?;
        durable::write(&done, b"", 0o600)
    }

    async fn start_until_registered(&self, step: &Running<'_>) -> Result<()> {
        for attempt in 1..=STARTS {
            self.start().await?;
            self.wait_for_leader().await?;
            let begun = Instant::now();
            while begun.elapsed() < REGISTERED {
                if self.is_ready().await {
                    return Ok(());
                }
                // A client whose registration failed sleeps, unless another of its calls to the server succeeds:
                // looking up our token for this question is one.
                self.get("client", "client/stats").await.ok();
                sleep(LOOK).await;
            }
            if attempt < STARTS {
                step.note("its client did not register; starting it again");
                self.daemon.stop(STOP).await?;
            }
        }
        Err(self
            .daemon
            .not_ready(REGISTERED * STARTS, "its client did not register"))
    }

    /// A leader, its signing key, and a server that knows our token (which was chosen before it is told).
    async fn wait_for_leader(&self) -> Result<()> {
        let begun = Instant::now();
        let mut last = None;
        while begun.elapsed() < LEADER {
            match self.look_for_leader().await {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) => last = Some(error.to_string()),
            }
            self.daemon.check_running()?;
            sleep(LOOK).await;
        }
        Err(self
            .daemon
            .not_ready(LEADER, last.unwrap_or_else(|| "it found no leader".into())))
    }

    async fn look_for_leader(&self) -> Result<bool> {
        let leader = self.get("leader", "status/leader").await?;
        if !leader.as_str().is_some_and(|leader| leader.contains(':')) {
            return Ok(false);
        }
        if self.get("own token", "acl/token/self").await.is_err() {
            let secret = json!({"BootstrapSecret": self.secrets.nomad_management.expose_secret()});
            self.post("first token", "acl/bootstrap", &secret).await?;
        }
        let keys = self.get("signing keys", "operator/keyring/keys").await?;
        Ok(keys.as_array().is_some_and(|keys| !keys.is_empty()))
    }

    async fn node(&self) -> Result<Node> {
        let nodes = self.client.nodes().await?;
        let own = nodes.into_iter().find(|node| node.name == self.choices.control);
        own.ok_or_else(|| {
            self.daemon
                .not_ready(Duration::ZERO, "it does not know its own node")
        })
    }

    /// Undoes the drain with which it was ended.
    async fn take_jobs(&self) -> Result<()> {
        let node = self.node().await?;
        if node.scheduling_eligibility == "eligible" {
            return Ok(());
        }
        let eligible = json!({"DrainSpec": null, "MarkEligible": true});
        self.post("node", &format!("node/{}/drain", node.id), &eligible)
            .await
            .map(drop)
    }

    async fn drain(&self) -> Result<()> {
        let id = self.node().await?.id;
        // A negative deadline ends the tasks at once, each within the time that it asks for itself.
        let drain = json!({"DrainSpec": {"Deadline": -1, "IgnoreSystemJobs": false}, "MarkEligible": false});
        self.post("node", &format!("node/{id}/drain"), &drain).await?;
        let begun = Instant::now();
        loop {
            let allocations = self
                .get("allocations of the node", &format!("node/{id}/allocations"))
                .await?;
            let is_at_work = |allocation: &&Value| {
                let status = allocation["ClientStatus"].as_str();
                status.is_none_or(|status| matches!(status, "running" | "pending"))
            };
            let at_work = allocations
                .as_array()
                .map_or(0, |all| all.iter().filter(is_at_work).count());
            if at_work == 0 {
                return Ok(());
            }
            if begun.elapsed() > DRAINED {
                return Err(self
                    .daemon
                    .not_ready(DRAINED, format!("{at_work} allocations did not end")));
            }
            sleep(LOOK).await;
        }
    }

    async fn grant(&self, formula: &[FormulaFile<'_>]) -> Result<()> {
        let deploy = formula.iter().find(|(path, _)| *path == DEPLOY_POLICY_FILE);
        let (_, rules) = deploy.ok_or(Error::FormulaIncomplete {
            path: DEPLOY_POLICY_FILE,
        })?;
        self.policy(
            DEPLOY_POLICY,
            "What one Terraform run of Eos may do",
            &String::from_utf8_lossy(rules),
        )
        .await?;
        self.policy(
            PROGRAM_POLICY,
            "What the program eos itself may do",
            PROGRAM_RULES,
        )
        .await?;
        let secret = self.program_token().await?;
        durable::write(
            &self.secrets.nomad_program_file(),
            format!("{secret}\n").as_bytes(),
            0o600,
        )
    }

    async fn policy(&self, name: &str, description: &str, rules: &str) -> Result<()> {
        let (object, path) = (format!("policy {name}"), format!("acl/policy/{name}"));
        if self
            .get(&object, &path)
            .await
            .is_ok_and(|policy| policy["Rules"] == rules)
        {
            return Ok(());
        }
        let policy = json!({"Name": name, "Description": description, "Rules": rules});
        self.post(&object, &path, &policy).await.map(drop)
    }

    /// The secret of a token cannot be chosen, but asked for again: a crash before it is written down is harmless.
    async fn program_token(&self) -> Result<String> {
        let tokens = self.get("tokens", "acl/tokens").await?;
        let there = tokens
            .as_array()
            .and_then(|all| all.iter().find(|token| token["Name"] == PROGRAM_POLICY));
        let token = match there.and_then(|token| token["AccessorID"].as_str()) {
            Some(accessor) => {
                self.get("token of the program", &format!("acl/token/{accessor}"))
                    .await?
            }
            None => {
                let wanted = json!({"Name": PROGRAM_POLICY, "Type": "client", "Policies": [PROGRAM_POLICY]});
                self.post("token of the program", "acl/token", &wanted).await?
            }
        };
        let secret = token["SecretID"].as_str().map(str::to_owned);
        secret.ok_or_else(|| {
            self.daemon
                .not_ready(Duration::ZERO, "it made a token without a secret")
        })
    }

    async fn get(&self, object: &str, path: &str) -> Result<Value> {
        Ok(self
            .client
            .get(Request {
                object,
                path,
                query: &[],
            })
            .await?)
    }

    async fn post(&self, object: &str, path: &str, body: &Value) -> Result<Value> {
        Ok(self
            .client
            .post(
                Request {
                    object,
                    path,
                    query: &[],
                },
                body,
            )
            .await?)
    }

    fn settings(&self) -> PathBuf {
        self.layout.nomad().join("agent.json")
    }
}

pub fn address(choices: &Choices) -> String {
    format!("http://127.0.0.1:{}", choices.ports.nomad_http)
}

/// Root's tasks have small file systems in memory for their secrets, which outlive them and hold the directory; what a
/// Docker that was killed had mounted likewise.
pub fn unmount(directory: &Path) -> Result<()> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    for mount in settings::mounts_below(&mounts, directory) {
        rustix::mount::unmount(&mount, rustix::mount::UnmountFlags::DETACH).map_err(|error| Error::File {
            action: "unmount",
            path: mount,
            source: error.into(),
        })?;
    }
    Ok(())
}
