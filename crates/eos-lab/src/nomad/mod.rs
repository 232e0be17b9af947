//! Nomad in the lab: server and client in one agent, a client on every other node, made ready, given their policies,
//! drained before they are ended.

mod settings;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use eos_engine::nomad::Request;
use eos_engine::person;
use eos_engine::settings::Profile;
use eos_engine::{NomadClient, NomadEndpoint};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::choices::{Choices, Node};
use crate::containers;
use crate::daemon::{self, Daemon, NOMAD, Start};
use crate::durable;
use crate::error::{AtPath, Error, IfThere, Result};
use crate::layout::Layout;
use crate::process;
use crate::progress::Running;
use crate::salt::{ROLES, USER};
use crate::secrets::Secrets;
use crate::served::{self, FormulaFile};
use crate::tls::{Certificates, Holder};
use crate::vault;

const LEADER: Duration = Duration::from_secs(60);
/// Then the client is asleep after a failed registration, and a new start is quicker.
const REGISTERED: Duration = Duration::from_secs(8);
const STARTS: u32 = 4;
/// Longer than the time that Nomad gives a task by default to end by itself.
const DRAINED: Duration = Duration::from_secs(20);
const STOP: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(100);
/// How long a node may take from its introduction to its registration.
const INTRODUCTION: &str = "10m";
/// How long a server that was started again may take to remember our token.
const RECALL: Duration = Duration::from_secs(5);
/// Nomad's words where somebody has had its first token.
const HAD: &str = "bootstrap already done";

/// What Terraform's token of one run may do: part of the formula, whose module makes those tokens.
const DEPLOY_POLICY: &str = "eos-deploy";
const DEPLOY_POLICY_FILE: &str = "files/eos-deploy.policy.hcl";
/// The same of one session in a task.
const SESSION_POLICY: &str = "eos-session";
const SESSION_POLICY_FILE: &str = "files/eos-session.policy.hcl";
/// Of the token that all users shared in a lab of an earlier Eos. It read every secret.
const SHARED_POLICY: &str = "eos-read";
const NODES_POLICY_FILE: &str = "files/eos-nodes.policy.hcl";

pub struct Nomad<'a> {
    layout: &'a Layout,
    choices: &'a Choices,
    secrets: &'a Secrets,
    certificates: &'a Certificates,
    control: Agent<'a>,
    nodes: Vec<Agent<'a>>,
}

struct Agent<'a> {
    node: Option<&'a Node>,
    daemon: Daemon<'a>,
    /// With the token that may do everything.
    client: NomadClient,
}

impl<'a> Nomad<'a> {
    pub fn new(
        layout: &'a Layout,
        choices: &'a Choices,
        secrets: &'a Secrets,
        certificates: &'a Certificates,
    ) -> Result<Nomad<'a>> {
        let agent = |node: Option<&'a Node>| -> Result<Agent<'a>> {
            let port = node.map_or(choices.ports.nomad_http, |node| node.nomad_http);
            let client = NomadClient::new(&NomadEndpoint {
                address: format!("https://127.0.0.1:{port}"),
                certificate: Some(certificates.authority()),
                token_file: Some(secrets.nomad_management_file()),
                other_users: BTreeMap::new(),
            })?;
            Ok(Agent {
                node,
                daemon: Daemon::nomad(layout, node.map(|node| node.name.as_str())),
                client,
            })
        };
        Ok(Nomad {
            layout,
            choices,
            secrets,
            certificates,
            control: agent(None)?,
            nodes: choices
                .nodes
                .iter()
                .map(|node| agent(Some(node)))
                .collect::<Result<_>>()?,
        })
    }

    pub fn endpoint(&self) -> NomadEndpoint {
        NomadEndpoint {
            address: address(self.choices),
            certificate: Some(self.certificates.authority()),
            token_file: Some(self.secrets.person_file(USER, NOMAD)),
            other_users: self.secrets.tokens_of_others(NOMAD),
        }
    }

    /// Brings up what is not up, waits until it takes jobs, and sees to policies and tokens.
    pub async fn up(&self, formula: &[FormulaFile<'_>], step: &Running<'_>) -> Result<()> {
        for agent in self.agents() {
            let directory = self.directory(agent);
            durable::directory(&directory, 0o700)?;
            let settings = settings::settings(
                self.layout,
                self.choices,
                self.secrets,
                self.certificates,
                agent.node,
            )?;
            durable::write_json(&directory.join("agent.json"), &settings, 0o600)?;
        }
        self.first_start().await?;
        self.end_tasks_of_outdated(step).await;
        self.start_all(step).await?;
        self.take_jobs().await?;
        self.grant(formula).await
    }

    /// Ends its tasks, then itself. `others` are the daemons of the lab that are not Nomad's.
    pub async fn stop(&self, others: &[&Daemon<'_>], step: &Running<'_>) -> Result<()> {
        if let Err(error) = self.end_tasks(others, step).await {
            step.note(&format!("the lab ends tasks by force: {error}"));
        }
        let all: Vec<&Daemon<'_>> = self.agents().map(|agent| &agent.daemon).collect();
        daemon::stop_all(&all, STOP).await
    }

    /// The nodes' agents after that of control.
    pub fn daemons(&self) -> impl Iterator<Item = &Daemon<'a>> {
        self.agents().map(|agent| &agent.daemon)
    }

    /// Whether each agent, in the same order, takes jobs.
    pub async fn readiness(&self) -> Vec<bool> {
        let mut ready = Vec::new();
        for agent in self.agents() {
            ready.push(self.is_ready(agent).await);
        }
        ready
    }

    fn agents(&self) -> impl Iterator<Item = &Agent<'a>> {
        std::iter::once(&self.control).chain(&self.nodes)
    }

    fn name(&self, agent: &Agent<'a>) -> &'a str {
        agent.node.map_or(&self.choices.control, |node| &node.name)
    }

    fn directory(&self, agent: &Agent<'_>) -> PathBuf {
        self.layout.part(NOMAD, agent.node.map(|node| node.name.as_str()))
    }

    /// In good order and by Nomad itself, whichever driver runs them; the jobs stay, and are placed again when the
    /// nodes take jobs again.
    async fn end_tasks(&self, others: &[&Daemon<'_>], step: &Running<'_>) -> Result<()> {
        let mut running = 0;
        for agent in self.agents() {
            running += usize::from(agent.daemon.running()?.is_some());
        }
        if running == 0 && !self.has_left_tasks(others) {
            return Ok(());
        }
        if running < self.agents().count() {
            // Tasks outlive an agent. Started again, it knows how to end them.
            self.start_all(step).await?;
        }
        self.drain().await
    }

    /// Whether there are processes of the lab that no other engine counts as its own.
    fn has_left_tasks(&self, others: &[&Daemon<'_>]) -> bool {
        let theirs: Vec<_> = others
            .iter()
            .flat_map(|daemon| daemon.processes())
            .chain(containers::engine_processes(self.layout))
            .collect();
        process::marked(&self.layout.root)
            .iter()
            .any(|process| !theirs.contains(process))
    }

    /// The only true sign: `/v1/nodes` says what was before the restart, until the client has registered anew.
    async fn is_ready(&self, agent: &Agent<'a>) -> bool {
        let registered = agent.get("agent", "agent/self").await.is_ok_and(|found| {
            let beat = found["stats"]["client"]["heartbeat_ttl"].as_str();
            beat.is_some_and(|beat| !matches!(beat, "0s" | ""))
        });
        registered && self.node(agent).await.is_ok_and(|node| node.status == "ready")
    }

    /// An agent that starts again with other settings cannot keep its tasks: they end in good order, and are placed
    /// again. One that cannot be asked starts all the same.
    async fn end_tasks_of_outdated(&self, step: &Running<'_>) {
        let is_outdated = |agent: &Agent<'a>| {
            let (reads, ports) = self.reads_and_ports(agent);
            agent.daemon.is_outdated(&self.start_of(&reads, &ports))
        };
        if !self.agents().any(|agent| is_outdated(agent).unwrap_or(false)) {
            return;
        }
        step.note("the settings of Nomad changed: running services stop, and start again");
        if let Err(error) = self.drain().await {
            step.note(&format!("Nomad starts again without draining: {error}"));
        }
    }

    async fn start(&self, agent: &Agent<'_>) -> Result<()> {
        let (reads, ports) = self.reads_and_ports(agent);
        agent.daemon.ensure(&self.start_of(&reads, &ports)).await
    }

    fn start_of<'s>(&'s self, reads: &'s [PathBuf], ports: &'s [u16]) -> Start<'s> {
        Start {
            program: &self.choices.engines.nomad.path,
            reads,
            ports,
            stale: &[],
            umask: 0o022,
        }
    }

    fn reads_and_ports(&self, agent: &Agent<'_>) -> (Vec<PathBuf>, Vec<u16>) {
        let ports = &self.choices.ports;
        let ports = match agent.node {
            None => vec![ports.nomad_http, ports.nomad_rpc, ports.nomad_serf],
            Some(node) => vec![node.nomad_http],
        };
        let mut reads = vec![self.directory(agent).join("agent.json")];
        reads.extend(self.certificates.files(holder(agent.node)));
        (reads, ports)
    }

    /// Of server and client in one agent, the client comes too early on the first start: the server's keys are
    /// not there yet, and it sleeps for half a minute. So the first start is only for keys and tokens.
    ///
    /// Nomad gives its first token to whoever asks first. If that was somebody else, it begins anew: nothing has run there
    /// yet, because no node has been introduced.
    async fn first_start(&self) -> Result<()> {
        let done = self.layout.nomad().join("first-start-done");
        if done.exists() {
            return Ok(());
        }
        for attempt in 1..=STARTS {
            self.start(&self.control).await?;
            let led = self.wait_for_leader().await;
            if led.is_ok() {
                self.introduce(&self.control).await?;
                // Its own client introduces itself before there is a leader, and waits half a minute if the server
                // does not know by then with which key the token was signed.
                self.control.client.save_snapshot().await?;
            }
            self.control.daemon.stop(STOP).await?;
            match led {
                Ok(()) => return Ok(durable::write(&done, b"", 0o600)?),
                Err(Error::TokenTaken { .. }) if attempt < STARTS => {
                    durable::remove(&self.data(&self.control))?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn start_all(&self, step: &Running<'_>) -> Result<()> {
        self.start_until_registered(&self.control, step).await?;
        // All at once, and then one wait.
        for agent in &self.nodes {
            self.introduce(agent).await?;
            self.start(agent).await?;
        }
        for agent in &self.nodes {
            self.start_until_registered(agent, step).await?;
        }
        Ok(())
    }

    async fn start_until_registered(&self, agent: &Agent<'a>, step: &Running<'_>) -> Result<()> {
        for attempt in 1..=STARTS {
            self.start(agent).await?;
            self.wait_for_leader().await?;
            let begun = Instant::now();
            while begun.elapsed() < REGISTERED {
                if self.is_ready(agent).await {
                    return Ok(durable::remove(&self.introduction(agent))?);
                }
                agent.daemon.check_running()?;
                // A client whose registration failed sleeps, unless another of its calls to the server succeeds:
                // looking up our token for this question is one.
                agent.get("client", "client/stats").await.ok();
                sleep(LOOK).await;
            }
            if attempt < STARTS {
                step.note("its client did not register; starting it again");
                self.introduce(agent).await?;
                agent.daemon.stop(STOP).await?;
            }
        }
        Err(agent
            .daemon
            .not_ready(REGISTERED * STARTS, "its client did not register"))
    }

    /// Leaves a token for a node that the server does not know: it takes no stranger, even with a certificate.
    async fn introduce(&self, agent: &Agent<'a>) -> Result<()> {
        let name = self.name(agent);
        let nodes = self.control.client.nodes().await?;
        if nodes.iter().any(|node| node.name == name) {
            return Ok(());
        }
        let wanted = json!({"NodeName": name, "TTL": INTRODUCTION});
        let path = "acl/identity/client-introduction-token";
        let answer = self.control.post("introduction of a node", path, &wanted).await?;
        let token = answer["JWT"].as_str().unwrap_or_default();
        let file = self.introduction(agent);
        for directory in [self.data(agent), self.data(agent).join("client")] {
            durable::directory(&directory, 0o700)?;
        }
        Ok(durable::write(&file, token.as_bytes(), 0o600)?)
    }

    fn data(&self, agent: &Agent<'_>) -> PathBuf {
        self.directory(agent).join("data")
    }

    /// Where Nomad looks for the token with which a client introduces itself.
    fn introduction(&self, agent: &Agent<'_>) -> PathBuf {
        self.data(agent).join("client/intro_token.jwt")
    }

    /// A leader, its signing key, and a server that knows our token (which was chosen before it is told).
    async fn wait_for_leader(&self) -> Result<()> {
        let begun = Instant::now();
        let (mut last, mut taken_since) = (None, None);
        while begun.elapsed() < LEADER {
            let looked = self.look_for_leader().await;
            taken_since = match looked {
                Err(Error::TokenTaken { .. }) => taken_since.or_else(|| Some(Instant::now())),
                _ => None,
            };
            match looked {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) if taken_since.is_some_and(|since| since.elapsed() > RECALL) => return Err(error),
                Err(error) => last = Some(error.to_string()),
            }
            self.control.daemon.check_running()?;
            sleep(LOOK).await;
        }
        Err(self
            .control
            .daemon
            .not_ready(LEADER, last.unwrap_or_else(|| "it found no leader".into())))
    }

    async fn look_for_leader(&self) -> Result<bool> {
        let server = &self.control;
        let leader = server.get("leader", "status/leader").await?;
        if !leader.as_str().is_some_and(|leader| leader.contains(':')) {
            return Ok(false);
        }
        if server.get("own token", "acl/token/self").await.is_err() {
            let secret = json!({"BootstrapSecret": self.secrets.nomad_management.expose_secret()});
            match server.post("first token", "acl/bootstrap", &secret).await {
                Err(error) if error.to_string().contains(HAD) => {
                    return Err(Error::TokenTaken { engine: NOMAD });
                }
                asked => asked?,
            };
        }
        let keys = server.get("signing keys", "operator/keyring/keys").await?;
        Ok(keys.as_array().is_some_and(|keys| !keys.is_empty()))
    }

    async fn node(&self, agent: &Agent<'a>) -> Result<eos_engine::nomad::Node> {
        let name = self.name(agent);
        let nodes = self.control.client.nodes().await?;
        // An older one of the same name may be there, which is gone for good.
        let mut own = nodes.into_iter().filter(|node| node.name == name);
        let first = own.next();
        let ready = first
            .clone()
            .into_iter()
            .chain(own)
            .find(|node| node.status == "ready");
        ready.or(first).ok_or_else(|| {
            agent
                .daemon
                .not_ready(Duration::ZERO, "the server does not know its node")
        })
    }

    /// Undoes the drain with which it was ended.
    async fn take_jobs(&self) -> Result<()> {
        let eligible = json!({"DrainSpec": null, "MarkEligible": true});
        for agent in self.agents() {
            let node = self.node(agent).await?;
            if node.scheduling_eligibility != "eligible" {
                self.control
                    .post("node", &format!("node/{}/drain", node.id), &eligible)
                    .await?;
            }
        }
        Ok(())
    }

    async fn drain(&self) -> Result<()> {
        // A negative deadline ends the tasks at once, each within the time that it asks for itself.
        let drain = json!({"DrainSpec": {"Deadline": -1, "IgnoreSystemJobs": false}, "MarkEligible": false});
        let mut ids = Vec::new();
        for agent in self.agents() {
            let id = self.node(agent).await?.id;
            self.control
                .post("node", &format!("node/{id}/drain"), &drain)
                .await?;
            ids.push(id);
        }
        let begun = Instant::now();
        for id in ids {
            loop {
                let at_work = self.at_work(&id).await?;
                if at_work == 0 {
                    break;
                }
                if begun.elapsed() > DRAINED {
                    let words = format!("{at_work} allocations did not end");
                    return Err(self.control.daemon.not_ready(DRAINED, words));
                }
                sleep(LOOK).await;
            }
        }
        Ok(())
    }

    /// How many allocations a node still has.
    async fn at_work(&self, id: &str) -> Result<usize> {
        let path = format!("node/{id}/allocations");
        let allocations = self.control.get("allocations of the node", &path).await?;
        let is_at_work = |allocation: &&Value| {
            let status = allocation["ClientStatus"].as_str();
            status.is_none_or(|status| matches!(status, "running" | "pending"))
        };
        Ok(allocations
            .as_array()
            .map_or(0, |all| all.iter().filter(is_at_work).count()))
    }

    async fn grant(&self, formula: &[FormulaFile<'_>]) -> Result<()> {
        let rules = served::policy(formula, DEPLOY_POLICY_FILE)?;
        self.policy(DEPLOY_POLICY, "Rights of one Terraform run of Eos", &rules)
            .await?;
        let rules = served::policy(formula, SESSION_POLICY_FILE)?;
        self.policy(SESSION_POLICY, "Rights of one session in a task", &rules)
            .await?;
        match self.choices.profile {
            Profile::Solo => {
                let token = self.secrets.nomad_management.expose_secret();
                self.secrets
                    .write_control_credential(&json!({"nomad_token": token}))?;
            }
            // There the control minion has its tokens from Vault.
            Profile::Full => {
                let description = "Rights of a client that only lists nodes";
                let rules = served::policy(formula, NODES_POLICY_FILE)?;
                self.policy(vault::NODES_POLICY, description, &rules).await?;
            }
        }
        let text = served::policy(formula, person::NOMAD_FILE)?;
        for (user, _) in ROLES {
            let name = person::policy_name(user);
            let description = format!("Rights of the API user {user}");
            self.policy(&name, &description, &person::rules(&text, user))
                .await?;
            let secret = self.token_of(&name).await?;
            durable::write(
                &self.secrets.person_file(user, NOMAD),
                format!("{secret}\n").as_bytes(),
                0o600,
            )?;
        }
        // A token without its policy may do nothing.
        let path = format!("acl/policy/{SHARED_POLICY}");
        let shared = request("policy of the shared token", &path);
        self.control.client.delete::<Value>(shared).await.if_there()?;
        self.secrets.remove_shared(NOMAD)
    }

    async fn policy(&self, name: &str, description: &str, rules: &str) -> Result<()> {
        let (object, path) = (format!("policy {name}"), format!("acl/policy/{name}"));
        if self
            .control
            .get(&object, &path)
            .await
            .is_ok_and(|policy| policy["Rules"] == rules)
        {
            return Ok(());
        }
        let policy = json!({"Name": name, "Description": description, "Rules": rules});
        self.control.post(&object, &path, &policy).await.map(drop)
    }

    /// The secret of a token cannot be chosen, but asked for again: a crash before it is written down is harmless.
    async fn token_of(&self, policy: &str) -> Result<String> {
        let tokens = self.control.get("tokens", "acl/tokens").await?;
        let there = tokens
            .as_array()
            .and_then(|all| all.iter().find(|token| token["Name"] == policy));
        let token = match there.and_then(|token| token["AccessorID"].as_str()) {
            Some(accessor) => {
                self.control
                    .get("token of a person", &format!("acl/token/{accessor}"))
                    .await?
            }
            None => {
                let wanted = json!({"Name": policy, "Type": "client", "Policies": [policy]});
                self.control
                    .post("token of a person", "acl/token", &wanted)
                    .await?
            }
        };
        let secret = token["SecretID"].as_str().map(str::to_owned);
        secret.ok_or_else(|| {
            self.control
                .daemon
                .not_ready(Duration::ZERO, "it made a token without a secret")
        })
    }
}

impl Agent<'_> {
    async fn get(&self, object: &str, path: &str) -> Result<Value> {
        Ok(self.client.get(request(object, path)).await?)
    }

    async fn post(&self, object: &str, path: &str, body: &Value) -> Result<Value> {
        Ok(self.client.post(request(object, path), body).await?)
    }
}

fn request<'a>(object: &'a str, path: &'a str) -> Request<'a> {
    Request {
        object,
        path,
        query: &[],
    }
}

pub fn address(choices: &Choices) -> String {
    format!("https://127.0.0.1:{}", choices.ports.nomad_http)
}

fn holder(node: Option<&Node>) -> Holder {
    node.map_or(Holder::NomadServer, |_| Holder::NomadClient)
}

/// Root's tasks have small file systems in memory for their secrets, which outlive them and hold the directory; what a
/// Docker that was killed had mounted likewise.
pub fn unmount(directory: &Path) -> Result<()> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    for mount in settings::mounts_below(&mounts, directory) {
        rustix::mount::unmount(&mount, rustix::mount::UnmountFlags::DETACH)
            .map_err(std::io::Error::from)
            .at("unmount", mount)?;
    }
    Ok(())
}
