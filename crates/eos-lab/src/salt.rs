//! Salt in the lab: master, HTTP API and a minion on every node, who trust each other from the first start on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use eos_engine::{EngineError, SaltClient, SaltEndpoint};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use sha2::{Digest, Sha512};
use tokio::process::Command;
use tokio::time::{Instant, sleep, timeout};

use crate::choices::{Choices, CloudProvider};
use crate::daemon::{self, Daemon, SALT_API, SALT_MASTER, SALT_MINION, Start};
use crate::durable;
use crate::error::{AtPath, Error, Result};
use crate::layout::{self, Layout};
use crate::progress::Running;
use crate::secrets::Secrets;
use crate::tls::{Certificates, Holder};

/// Users of the API, one for each role.
pub const ROLES: [(&str, &str); 3] = [
    ("eos-user", "user"),
    (USER, "operator"),
    ("eos-architect", "architect"),
];
/// As whom the program speaks to Salt unless it is told otherwise.
pub const USER: &str = "eos-operator";
/// What every API user may call. How much of it a role may ask for is the formula's to say.
const ALLOWED: [&str; 14] = [
    "eos.info",
    "eos.deliver",
    "eos.preview",
    "eos.make",
    "eos.remove",
    "eos.act",
    "eos.stop",
    "eos.status",
    "eos.observe",
    "eos.inspect",
    "eos.examine",
    "eos.sync",
    "test.ping",
    "saltutil.find_job",
];
/// What those may call beside, whose role is above the lowest.
const DECIDING: [&str; 2] = ["eos.approve", "eos.take_home"];
/// Brings the formula to a minion.
const BRING: &str = "saltutil.sync_all";
/// What beside those root may publish by hand: the orchestration of an emitted tree asks for it.
const BY_HAND: [&str; 4] = [
    BRING,
    "eos_secrets.require",
    "eos_orchestrator.require_healthy",
    "eos_orchestrator.remove",
];
/// Of the formula: publishes, as the master's job cache, only what passed the master's door.
const JOB_CACHE: &str = "eos_jobs";
/// Of the formula: what master and API load. They read it at their start.
const MASTER_MODULES: [&str; 4] = [
    "log_handlers/eos_guard.py",
    "returners/eos_jobs.py",
    "netapi/rest_cherrypy/__init__.py",
    "pillar/eos_pillar.py",
];
/// All that Salt 3008.3 has. A request could name one, and Salt has no setting for "none".
const RETURNERS: [&str; 10] = [
    "highstate_return",
    "local",
    "local_cache",
    "multi_returner",
    "pgjsonb",
    "postgres",
    "postgres_local_cache",
    "rawfile_json",
    "salt_cache",
    "syslog_return",
];
/// All but the one that just calls the function.
const EXECUTORS: [&str; 2] = ["splay", "sudo"];
/// Writes pairs of keys: `argv` names their files without `.pem` and `.pub`.
const MAKE_KEYS: &str = "
import os, sys
from salt.crypt import gen_keys
os.umask(0o077)
for name in sys.argv[1:]:
    for end, text in zip(('.pem', '.pub'), gen_keys(2048)):
        with open(name + end, 'w') as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
";
/// Cold and on a busy machine it has taken 17 s.
const READY: Duration = Duration::from_secs(120);
/// The first look. Short, since Salt waits in vain for what comes after it asked; later ones are longer, for a
/// machine that is busy.
const FIRST_LOOK: Duration = Duration::from_secs(3);
const LONGEST_LOOK: Duration = Duration::from_secs(12);
const SYNC: Duration = Duration::from_secs(60);
/// What Salt writes is nobody else's to read.
const PRIVATE: u32 = 0o077;
const STOP: Duration = Duration::from_secs(15);
/// A minion that is started on a busy machine has been seen to end at once, and to stay when started again.
const MINION_STARTS: u32 = 4;

pub struct Salt<'a> {
    layout: &'a Layout,
    choices: &'a Choices,
    secrets: &'a Secrets,
    certificates: &'a Certificates,
    master: Daemon<'a>,
    api: Daemon<'a>,
    /// That of the control node first.
    minions: Vec<Minion<'a>>,
}

struct Minion<'a> {
    id: &'a str,
    /// Other nodes than control do not run Terraform.
    is_control: bool,
    /// Where its settings, keys and caches lie.
    directory: PathBuf,
    /// Nothing of a component is made elsewhere.
    volumes: PathBuf,
    sockets: PathBuf,
    daemon: Daemon<'a>,
}

impl<'a> Salt<'a> {
    pub fn new(
        layout: &'a Layout,
        choices: &'a Choices,
        secrets: &'a Secrets,
        certificates: &'a Certificates,
    ) -> Salt<'a> {
        let nodes = choices.nodes.iter().map(|node| Some(node.name.as_str()));
        let minion = |node: Option<&'a str>| Minion {
            id: node.unwrap_or(&choices.control),
            is_control: node.is_none(),
            directory: layout.minion(node),
            volumes: node.map_or_else(|| layout.volumes(), |node| layout.volumes().join(node)),
            sockets: choices.sockets.join(node.unwrap_or("minion")),
            daemon: Daemon::minion(layout, node),
        };
        Salt {
            layout,
            choices,
            secrets,
            certificates,
            master: Daemon::salt(layout, SALT_MASTER),
            api: Daemon::salt(layout, SALT_API),
            minions: std::iter::once(None).chain(nodes).map(minion).collect(),
        }
    }

    pub fn endpoint(&self) -> SaltEndpoint {
        SaltEndpoint {
            url: self.url(),
            user: USER.into(),
            certificate: Some(self.certificates.authority()),
            password_file: Some(self.secrets.password_file(USER)),
            other_users: ROLES
                .iter()
                .filter(|(user, _)| *user != USER)
                .map(|(user, _)| ((*user).to_owned(), self.secrets.password_file(user)))
                .collect(),
        }
    }

    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.choices.ports.salt_api)
    }

    /// Brings up master and API where they are not up. They speak to no other engine.
    pub async fn up(&self) -> Result<()> {
        let nodes = self.choices.nodes.iter().map(|node| node.name.as_str());
        layout::make_private(
            &self.choices.sockets,
            ["master", "minion"].into_iter().chain(nodes),
        )?;
        self.write_settings()?;
        self.introduce().await?;
        self.start().await
    }

    /// Brings up the minions, waits until every one answers, and gives them the formula's modules. A minion speaks to
    /// the other engines as soon as it runs, so they have to be up.
    pub async fn minions_up(&self, formula: &str, step: &Running<'_>) -> Result<()> {
        for minion in &self.minions {
            self.start_minion(minion).await?;
        }
        let client = SaltClient::new(&self.endpoint())?;
        for minion in &self.minions {
            self.wait_until_ready(minion, &client, step).await?;
        }
        self.bring_modules(formula).await
    }

    pub async fn stop(&self) -> Result<()> {
        // At once, since a minion alone takes five seconds.
        let all: Vec<&Daemon<'_>> = self.daemons().collect();
        daemon::stop_all(&all, STOP).await
    }

    /// Master, API, then the minions.
    pub fn daemons(&self) -> impl Iterator<Item = &Daemon<'a>> {
        [&self.master, &self.api]
            .into_iter()
            .chain(self.minions.iter().map(|minion| &minion.daemon))
    }

    /// Whether the API lets the program in, and whether each minion answers.
    pub async fn readiness(&self) -> Result<(bool, Vec<bool>)> {
        let silent = vec![false; self.minions.len()];
        // With the master gone the API does not answer at all.
        if self.master.running()?.is_none() || self.api.running()?.is_none() {
            return Ok((false, silent));
        }
        let client = SaltClient::new(&self.endpoint())?;
        if client.login(&self.secrets.password(USER)?).await.is_err() {
            return Ok((false, silent));
        }
        let mut answers = Vec::new();
        for minion in &self.minions {
            // Nobody answers for a minion that is gone, and Salt waits for it all the same.
            let is_running = minion.daemon.running()?.is_some();
            answers.push(is_running && minion.ping(&client).await.is_ok());
        }
        Ok((true, answers))
    }

    async fn start(&self) -> Result<()> {
        let ports = &self.choices.ports;
        let programs = &self.choices.engines.salt.path;
        let mut read: Vec<PathBuf> = MASTER_MODULES
            .iter()
            .map(|module| self.master_modules().join(module))
            .collect();
        read.push(self.settings("master"));
        let master = Start {
            program: &programs.join(SALT_MASTER),
            reads: &read,
            ports: &[ports.salt_publish, ports.salt_return],
            stale: &[self.part("master").join(MASTER_PID)],
            umask: PRIVATE,
        };
        self.master.ensure(&master).await?;
        read.push(self.certificates.certificate(Holder::SaltApi));
        let api = Start {
            program: &programs.join(SALT_API),
            reads: &read,
            ports: &[ports.salt_api],
            stale: &[self.part("master").join(API_PID)],
            umask: PRIVATE,
        };
        self.api.ensure(&api).await
    }

    async fn start_minion(&self, minion: &Minion<'_>) -> Result<()> {
        let start = Start {
            program: &self.choices.engines.salt.path.join(SALT_MINION),
            reads: &[minion.settings()],
            ports: &[],
            stale: &[MINION_PID, MINION_CLAIM].map(|file| minion.directory.join(file)),
            umask: PRIVATE,
        };
        minion.daemon.ensure(&start).await
    }

    /// An open port is no sign: the API opens it long before the master lets anybody in.
    async fn wait_until_ready(
        &self,
        minion: &Minion<'_>,
        client: &SaltClient,
        step: &Running<'_>,
    ) -> Result<()> {
        let begun = Instant::now();
        let mut look = FIRST_LOOK;
        let mut starts = 1;
        let mut words = "no answer".to_owned();
        while begun.elapsed() < READY {
            tokio::select! {
                answer = timeout(look, minion.ping(client)) => match answer {
                    Ok(Ok(())) => return Ok(()),
                    Ok(Err(error)) => words = error.to_string(),
                    Err(_) => look = LONGEST_LOOK.min(look * 2),
                },
                ended = self.until_one_ends(minion) => ended?,
            }
            self.master.check_running()?;
            self.api.check_running()?;
            if minion.daemon.running()?.is_none() {
                if starts == MINION_STARTS {
                    return minion.daemon.check_running();
                }
                starts += 1;
                step.note("the minion ended; starting it again");
                self.start_minion(minion).await?;
            }
            sleep(Duration::from_millis(200)).await;
        }
        Err(minion.daemon.not_ready(READY, words))
    }

    async fn until_one_ends(&self, minion: &Minion<'_>) -> Result<()> {
        loop {
            for engine in [&self.master, &self.api, &minion.daemon] {
                if engine.running()?.is_none() {
                    return Ok(());
                }
            }
            sleep(Duration::from_millis(300)).await;
        }
    }

    /// Gives master and minions their keys, and each the other's, so that neither has to trust a stranger.
    async fn introduce(&self) -> Result<()> {
        let ours = self.part("master").join("pki");
        let accepted = |minion: &Minion<'_>| ours.join("minions").join(minion.id);
        let strangers: Vec<&Minion<'_>> = self
            .minions
            .iter()
            .filter(|minion| !accepted(minion).exists())
            .collect();
        if strangers.is_empty() {
            return Ok(());
        }
        durable::directory(&ours.join("minions"), 0o700)?;
        durable::directory(&ours, 0o700)?;
        let mut missing: Vec<PathBuf> = Vec::new();
        // Those that know the master already would not know it with another key.
        if strangers.len() == self.minions.len() {
            missing.push(ours.join("master"));
        }
        for minion in &strangers {
            durable::directory(&minion.keys(), 0o700)?;
            missing.push(minion.keys().join("minion"));
        }
        self.make_keys(&missing).await?;
        for minion in strangers {
            copy(&ours.join("master.pub"), &minion.keys().join("minion_master.pub"))?;
            // Last, since its presence says that all of it is done.
            copy(&minion.keys().join("minion.pub"), &accepted(minion))?;
        }
        Ok(())
    }

    async fn make_keys(&self, files: &[PathBuf]) -> Result<()> {
        let mut python = Command::new(self.choices.engines.salt.path.join("python"));
        python.arg("-c").arg(MAKE_KEYS).args(files);
        self.run("making Salt's keys", python).await.map(drop)
    }

    /// Gives minions the formula's modules, with the master's own key: no API user has a say in what is brought. Only to
    /// those that have another formula, since it takes seconds.
    async fn bring_modules(&self, formula: &str) -> Result<()> {
        let has_another = |minion: &&Minion<'_>| {
            !fs::read_to_string(minion.synced()).is_ok_and(|digest| digest.trim_end() == formula)
        };
        let waiting: Vec<&Minion<'_>> = self.minions.iter().filter(has_another).collect();
        if waiting.is_empty() {
            return Ok(());
        }
        let ids: Vec<&str> = waiting.iter().map(|minion| minion.id).collect();
        let mut salt = Command::new(self.choices.engines.salt.path.join("salt"));
        salt.arg("-c")
            .arg(self.part("master").join("etc"))
            .args(["--out=json", "--static", "--log-level=error"])
            .arg(format!("--timeout={}", SYNC.as_secs()))
            .args(["-L", &ids.join(","), BRING, "saltenv=base"]);
        let what = "bringing the formula to the minions";
        let answer = self.run(what, salt).await?;
        let brought: Value = serde_json::from_str(&answer).unwrap_or_default();
        for minion in waiting {
            // Of a minion that failed it is words.
            if !brought[minion.id]["modules"].is_array() {
                return Err(Error::Command {
                    what: what.into(),
                    words: format!("{}: {}", minion.id, brought[minion.id]),
                    hint: None,
                });
            }
            durable::write(&minion.synced(), format!("{formula}\n").as_bytes(), 0o600)?;
        }
        Ok(())
    }

    /// Runs a program of Salt's to its end, and gives what it wrote.
    async fn run(&self, what: &str, mut command: Command) -> Result<String> {
        let program = PathBuf::from(command.as_std().get_program());
        let ran = command
            .env_clear()
            .env("HOME", &self.layout.root)
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .at("run", &program)?;
        if ran.status.success() {
            return Ok(String::from_utf8_lossy(&ran.stdout).into_owned());
        }
        let words = [ran.stderr, ran.stdout].map(|said| String::from_utf8_lossy(&said).trim().to_owned());
        Err(Error::Command {
            what: what.into(),
            words: words.join("\n").trim().to_owned(),
            hint: None,
        })
    }

    fn write_settings(&self) -> Result<()> {
        let minions = self.minions.iter().map(|minion| minion.directory.clone());
        for directory in minions.chain([self.part("master")]) {
            durable::directory(&directory.join("etc"), 0o700)?;
            durable::directory(&directory, 0o700)?;
        }
        let mut users = String::new();
        for (user, _) in ROLES {
            let password = self.secrets.password(user)?;
            let digest = hex::encode(Sha512::digest(password.expose_secret().as_bytes()));
            users += &format!("{user}:{digest}\n");
        }
        durable::write(&self.users(), users.as_bytes(), 0o600)?;
        // JSON is YAML too, and needs no care with quotes.
        durable::write_json(&self.settings("master"), &self.master_settings(), 0o600)?;
        for minion in &self.minions {
            durable::write_json(&minion.settings(), &self.minion_settings(minion), 0o600)?;
        }
        Ok(())
    }

    fn master_settings(&self) -> Value {
        let (own, srv, ports) = (self.part("master"), self.layout.srv(), &self.choices.ports);
        let mut settings = json!({
            // Its key is named after it; without an id that would be the machine's name, which may change.
            "id": "lab",
            // Salt would lay every path that is not below another root below that; all that it writes to are named.
            "root_dir": "/",
            "conf_file": self.settings("master"),
            "pki_dir": own.join("pki"),
            "cachedir": own.join("cache"),
            "sock_dir": self.choices.sockets.join("master"),
            "pidfile": own.join(MASTER_PID),
            "api_pidfile": own.join(API_PID),
            "sqlite_queue_dir": own.join("queues"),
            "token_dir": own.join("tokens"),
            "syndic_dir": own.join("syndic"),
            "extension_modules": own.join("extmods"),
            // Everything goes to standard error, which is the log.
            "log_file": "/dev/null",
            "api_logfile": "/dev/null",
            "key_logfile": "/dev/null",
            "log_level_logfile": "quiet",
            "log_fmt_console": LOG_FORMAT,
            "log_datefmt": LOG_TIME,
            // For every call it notes two errors that are none.
            "log_granular_levels": {"asyncio": "critical"},
            "interface": "127.0.0.1",
            "publish_port": ports.salt_publish,
            "ret_port": ports.salt_return,
            "worker_threads": 2,
            "auto_accept": false,
            "timeout": 5,
            "gather_job_timeout": 5,
            "keep_jobs_seconds": 86400,
            // Every plan is an environment of its own while it is being made.
            "file_roots": {
                "base": [srv.join("formula"), srv.join("current/salt"), srv.join("current/files")],
                "__env__": [srv.join("formula"), srv.join("plans/__env__/salt"), srv.join("plans/__env__/files")],
            },
            // Salt would render what is in these. What is delivered is read as JSON instead.
            "pillar_roots": {"base": []},
            "ext_pillar": [
                {"eos_pillar": srv},
                {"terraform_outputs": self.layout.minion(None).join("cache/eos/deployed")},
            ],
            // Salt puts whatever environment a minion asks for into the path: `../../../etc` would lead to
            // `/etc/salt`, with the master's key in it.
            "file_ignore_regex": [r"(^|/)\.\.(/|$)", r"/(current|plans/[^/]+)/(salt|files)/(_|top\.sls$)"],
            // A link in the directory of delivery would make the master serve whatever it can read.
            "fileserver_followsymlinks": false,
            // A release takes effect with its delivery, not when a cache runs out.
            "fileserver_list_cache_time": 0,
            "max_event_size": LARGEST_ANSWER,
            "rest_cherrypy": {
                "host": "127.0.0.1",
                "port": ports.salt_api,
                "ssl_crt": self.certificates.certificate(Holder::SaltApi),
                "ssl_key": self.certificates.key(Holder::SaltApi),
                "thread_pool": 20,
            },
        });
        for (name, value) in self.boundary() {
            settings[name] = value;
        }
        settings
    }

    /// What the master publishes, and of whom.
    fn boundary(&self) -> [(&'static str, Value); 7] {
        let all = [&ALLOWED[..], &DECIDING, &BY_HAND].concat();
        [
            ("netapi_enable_clients", json!(["local", "local_async"])),
            ("external_auth", json!({"file": self.permissions()})),
            // Salt lets a call of several functions pass if any one of them is allowed. This list refuses each
            // function by itself, so that `["eos.info", "cmd.run"]` is refused too.
            (
                "publisher_acl_blacklist",
                json!({"modules": [format!(r"(?!({})\Z)[\s\S]*", all.join("|").replace('.', r"\."))]}),
            ),
            // Those look at the function alone. These look at the whole request, before anybody else does.
            ("module_dirs", json!([self.master_modules()])),
            ("master_job_cache", json!(JOB_CACHE)),
            // A target could ask whether a minion's pillar has a value.
            ("minion_data_cache", json!(false)),
            // Older ones let a minion send in the name of another. It is Salt's own choice, too.
            ("minimum_auth_version", json!(3)),
        ]
    }

    /// Who may call what, as Salt's authentication by a file has it.
    fn permissions(&self) -> Value {
        let exactly = |functions: &[&str]| -> Vec<String> {
            let patterns = functions
                .iter()
                .map(|function| format!(r"{}\Z", function.replace('.', r"\.")));
            patterns.collect()
        };
        let mut permissions = json!({"^filename": self.users(), "^hashtype": "sha512"});
        for (user, role) in ROLES {
            let more: &[&str] = if role == "user" { &[] } else { &DECIDING };
            permissions[user] = json!([{"*": exactly(&[&ALLOWED[..], more].concat())}]);
        }
        permissions
    }

    fn minion_settings(&self, minion: &Minion<'_>) -> Value {
        let (own, ports) = (&minion.directory, &self.choices.ports);
        let mut settings = json!({
            "id": minion.id,
            "master": "127.0.0.1",
            "master_port": ports.salt_return,
            "publish_port": ports.salt_publish,
            "root_dir": "/",
            "conf_file": minion.settings(),
            "pki_dir": own.join("pki"),
            "cachedir": own.join("cache"),
            "sock_dir": minion.sockets,
            "extension_modules": own.join("extmods"),
            "pidfile": own.join(MINION_PID),
            "log_file": "/dev/null",
            "log_level_logfile": "quiet",
            "log_fmt_console": LOG_FORMAT,
            "log_datefmt": LOG_TIME,
            // For every call it notes two errors that are none.
            "log_granular_levels": {"asyncio": "critical"},
            "acceptance_wait_time": 1,
            "acceptance_wait_time_max": 2,
            "random_startup_delay": 0,
            "recon_default": 200,
            "recon_max": 2000,
            "enable_fqdns_grains": false,
            "enable_gpu_grains": false,
            "max_event_size": LARGEST_ANSWER,
            "disable_returners": RETURNERS,
            "disable_executors": EXECUTORS,
            "eos": if minion.is_control { self.control_settings() } else { json!({}) },
        });
        settings["eos"]["roles"] = ROLES.into_iter().collect();
        settings["eos"]["volumes_below"] = json!([minion.volumes]);
        settings["eos_tiers"] = json!({
            // A program of the host is of high risk. This one of Eos's own serves a page and touches nothing.
            "programs": [{"words": ["eos", "serve-hello"], "environment": ["EOS_HELLO_GREETING"], "tier": "low"}],
        });
        let every = |function: &str| {
            json!({
                "function": function,
                "seconds": 300,
                "maxrunning": 1,
                "return_job": false,
            })
        };
        settings["schedule"] = json!({"eos-storage": every("eos_storage.sample")});
        if minion.is_control {
            settings["schedule"]["eos-drift"] = every("eos_terraform.sync_states");
            settings["schedule"]["eos-logs"] = every("eos_logs.shorten");
        }
        settings
    }

    /// What the formula needs to know where Terraform runs.
    fn control_settings(&self) -> Value {
        let (ports, terraform) = (&self.choices.ports, self.layout.terraform());
        let at = |port: u16| format!("https://127.0.0.1:{port}");
        let mut settings = json!({
            "terraform": self.choices.engines.terraform.path,
            "terraform_root": terraform.join("workspaces"),
            "logs": self.layout.logs(),
            "terraform_cli_config": terraform.join("cli.tfrc"),
            "nomad_address": at(ports.nomad_http),
            "engines_authority": self.certificates.authority(),
            "credentials": self.secrets.control_credential(),
        });
        if self.choices.delivers_by_api {
            settings["delivery"] = json!(self.layout.srv());
        }
        if !self.choices.providers.is_empty() {
            let facts = |chosen: &CloudProvider| match &chosen.endpoint {
                Some(endpoint) => json!({"endpoint": endpoint}),
                None => json!({}),
            };
            let all = self.choices.providers.iter();
            settings["providers"] = all.map(|(name, chosen)| (name.clone(), facts(chosen))).collect();
        }
        if let Some(registry) = &self.choices.registry {
            settings["providers_host"] = registry.as_str().into();
        }
        if let Some(full) = &ports.full {
            settings["consul_address"] = at(full.consul_http).into();
            settings["vault_address"] = at(full.vault_http).into();
        }
        settings
    }

    fn part(&self, part: &str) -> PathBuf {
        self.layout.salt().join(part)
    }

    /// Salt looks for a file of the role's name.
    fn settings(&self, part: &str) -> PathBuf {
        self.part(part).join("etc").join(part)
    }

    /// Where the formula keeps the modules of the master.
    fn master_modules(&self) -> PathBuf {
        self.layout.srv().join("formula/master")
    }

    fn users(&self) -> PathBuf {
        self.part("master").join("etc/users")
    }
}

impl Minion<'_> {
    async fn ping(&self, client: &SaltClient) -> std::result::Result<(), EngineError> {
        client
            .call(self.id, "test.ping", json!({}), LONGEST_LOOK)
            .await
            .map(drop)
    }

    /// Says which formula it was brought last.
    fn synced(&self) -> PathBuf {
        self.directory.join("synced")
    }

    /// Salt looks for a file of the role's name.
    fn settings(&self) -> PathBuf {
        self.directory.join("etc/minion")
    }

    fn keys(&self) -> PathBuf {
        self.directory.join("pki")
    }
}

/// Of a larger one Salt leaves out what is large without a word; unless it is told, that is more than one MiB.
const LARGEST_ANSWER: u32 = 64 << 20;
const MASTER_PID: &str = "master.pid";
const API_PID: &str = "api.pid";
const MINION_PID: &str = "minion.pid";
const MINION_CLAIM: &str = "process_responsibility_minion.pid";
const LOG_FORMAT: &str = "%(asctime)s [%(levelname)s] %(name)s: %(message)s";
const LOG_TIME: &str = "%Y-%m-%dT%H:%M:%S";

fn copy(from: &Path, to: &Path) -> Result<()> {
    let bytes = fs::read(from).at("read", from)?;
    Ok(durable::write(to, &bytes, 0o600)?)
}
