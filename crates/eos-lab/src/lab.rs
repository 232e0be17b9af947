//! The lab as a whole: brought up, looked at, brought down, removed.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::iter;
use std::path::{Path, PathBuf};
use std::time::Duration;

use eos_engine::settings::Profile;
use eos_engine::{Delivery, Endpoints};
use serde::Serialize;
use serde_json::Value;

use crate::choices::{CONTROL, Choices, CloudProvider};
use crate::consul::Consul;
use crate::containers;
use crate::daemon::{CONSUL, Daemon, NOMAD, SALT_API, SALT_MASTER, SALT_MINION, VAULT};
use crate::durable;
use crate::error::{AtPath, Error, Result};
use crate::layout::{self, Layout};
use crate::logs;
use crate::network;
use crate::nomad::{self, Nomad};
use crate::process;
use crate::progress::{Progress, Running};
use crate::salt::Salt;
use crate::secrets::Secrets;
use crate::served::{self, FormulaFile};
use crate::terraform;
use crate::tls::Certificates;
use crate::vault::Vault;
use eos_install::Engines;

const TERRAFORM: &str = "terraform";
/// A task that its agent did not end gets this long before it is ended by force.
const GRACE_FOR_TASKS: Duration = Duration::from_secs(5);

/// One lab, known by its directory.
pub struct Lab {
    pub(crate) layout: Layout,
}

/// What the lab is given by the program.
pub struct LabInput<'a> {
    /// Every file of the formula.
    pub formula: &'a [FormulaFile<'a>],
    /// The program `eos`, for tasks that run it.
    pub program: PathBuf,
    /// The Terraform provider.
    pub provider: PathBuf,
    pub profile: Profile,
    /// How many nodes there shall be beside control; without a number, as many as there are.
    pub nodes: Option<usize>,
    /// A Docker and a registry of the lab's own, from now on.
    pub containers: bool,
    /// The engines have OpenTofu in place of Terraform.
    pub tofu: bool,
    /// Eos delivers over Salt's API, from now on.
    pub delivers_by_api: bool,
    /// Terraform providers of clouds, by name, from now on.
    pub providers: BTreeMap<String, CloudProvider>,
}

/// A node beside control.
#[derive(Debug, Clone, Serialize)]
pub struct LabNode {
    pub name: String,
    pub address: String,
    /// Where its directory volumes are to lie.
    pub volumes_below: PathBuf,
    /// Whether its address is its own: else it shares that of the machine, and its ports.
    pub is_apart: bool,
}

/// One engine as it is now.
#[derive(Debug, Clone, Serialize)]
pub struct EngineStatus {
    pub name: String,
    pub version: String,
    /// `None`: it does not run, or is run only when needed.
    pub pid: Option<i32>,
    /// Seconds since 1970.
    pub since: Option<u64>,
    pub address: Option<String>,
    /// It did what it is there for just now.
    pub ready: bool,
    /// Bytes of its processes, pages in common with others counted in part.
    pub memory: u64,
}

impl Lab {
    pub fn at(directory: impl AsRef<Path>) -> Result<Lab> {
        Ok(Lab {
            layout: Layout::at(directory.as_ref())?,
        })
    }

    pub fn directory(&self) -> &Path {
        &self.layout.root
    }

    /// Brings up what is not up and repairs what is not right; with all in order that is a look.
    pub async fn up(
        &self,
        engines: &Engines,
        input: &LabInput<'_>,
        progress: &dyn Progress,
    ) -> Result<Endpoints> {
        self.layout.make()?;
        let _lock = self.lock(progress).await?;
        if self.is_without_tls()? {
            // Its engines, and the sidecars of its tasks, speak to each other in the clear.
            self.stop(progress).await?;
        }
        let mut choices = Choices::open(&self.layout, engines, input.profile, input.nodes)?;
        choices.tofu = input.tofu;
        choices.delivers_by_api |= input.delivers_by_api;
        choices.providers.extend(input.providers.clone());
        choices.save(&self.layout)?;
        let secrets = Secrets::open(&self.layout.secrets())?;
        let formula = served::install_formula(&self.layout.srv(), input.formula)?;
        served::first_release(&self.layout.srv())?;
        durable::copy_program(&input.program, &self.layout.bin().join("eos"))?;
        terraform::set_up(&self.layout, &mut choices, &input.provider).await?;
        containers::choose(&self.layout, &mut choices, input.containers)?;
        network::make(&choices.nodes, choices.mesh.as_ref()).await?;
        if let Some(mesh) = &choices.mesh {
            layout::make_private(&mesh.allocations, iter::empty())?;
        }
        for node in &choices.nodes {
            durable::directory(&self.layout.nodes(), 0o700)?;
            durable::directory(&self.layout.volumes().join(&node.name), 0o755)?;
        }

        let certificates = Certificates::open(&self.layout.tls())?;
        let parts = Parts::new(&self.layout, &choices, &secrets, &certificates)?;
        let step = started(progress, "salt", "start Salt", 15);
        tokio::try_join!(
            parts.salt.up(),
            self.start_others(&parts, &choices, input, progress)
        )?;
        parts.salt.minions_up(&formula, &step).await?;
        step.done();

        let endpoints = Endpoints {
            salt: parts.salt.endpoint(),
            nomad: parts.nomad.endpoint(),
            consul: parts.consul.as_ref().map(Consul::endpoint),
            vault: parts.vault.as_ref().map(Vault::endpoint),
            delivery: match choices.delivers_by_api {
                true => Delivery::Api {},
                false => Delivery::Directory {
                    path: self.layout.srv(),
                },
            },
            control: choices.control.clone(),
            registry: choices
                .containers
                .as_ref()
                .map(|chosen| format!("http://{}", chosen.registry())),
        };
        durable::write_json(&self.layout.endpoints(), &endpoints, 0o600)?;
        Ok(endpoints)
    }

    /// Nomad needs its Consul token when it starts, and Consul and Vault ask Nomad for its keys before they trust it.
    async fn start_others(
        &self,
        parts: &Parts<'_>,
        choices: &Choices,
        input: &LabInput<'_>,
        progress: &dyn Progress,
    ) -> Result<()> {
        if let (Some(consul), Some(installed)) = (&parts.consul, &choices.engines.consul) {
            // Nomad runs it, by its bare name.
            durable::link(&installed.path, &self.layout.bin().join(CONSUL))?;
            let step = started(progress, CONSUL, "start Consul", 3);
            consul.up(input.formula).await.map(|()| step.done())?;
        }
        if let Some(installed) = &choices.engines.envoy {
            durable::link(&installed.path, &self.layout.bin().join("envoy"))?;
        }
        if let Some(vault) = &parts.vault {
            let step = started(progress, VAULT, "start Vault", 3);
            vault.up(input.formula).await.map(|()| step.done())?;
        }
        // Nomad looks for Docker when it starts, and its client has its address on Docker's bridge.
        containers::up(&self.layout, choices, progress).await?;
        let step = started(progress, NOMAD, "start Nomad", 5);
        if choices.profile == Profile::Full && choices.mesh.is_none() {
            step.note("no mesh: it needs root, and CNI plugins (apt install containernetworking-plugins)");
        }
        parts.nomad.up(input.formula, &step).await?;
        let nomad = nomad::address(choices);
        if let Some(consul) = &parts.consul {
            consul.trust_nomad(&nomad).await?;
        }
        if let Some(vault) = &parts.vault {
            vault.trust_nomad(&nomad).await?;
        }
        step.done();
        Ok(())
    }

    /// Ends everything that `up` started and what that started in turn. Jobs, secrets and keys stay.
    pub async fn down(&self, progress: &dyn Progress) -> Result<()> {
        if !self.layout.root.exists() {
            return Ok(());
        }
        let _lock = self.lock(progress).await?;
        self.stop(progress).await
    }

    /// Brings the lab down and removes it with everything that it holds.
    pub async fn reset(&self, progress: &dyn Progress) -> Result<()> {
        if !self.layout.root.exists() {
            return Ok(());
        }
        let _lock = self.lock(progress).await?;
        self.stop(progress).await?;
        let root = &self.layout.root;
        for entry in fs::read_dir(root).at("read", root)? {
            durable::remove(&entry.at("read", root)?.path())?;
        }
        Ok(())
    }

    pub async fn status(&self) -> Result<Vec<EngineStatus>> {
        let Some(choices) = Choices::read(&self.layout)? else {
            return Ok(Vec::new());
        };
        let secrets = Secrets::open(&self.layout.secrets())?;
        let certificates = Certificates::open(&self.layout.tls())?;
        let parts = Parts::new(&self.layout, &choices, &secrets, &certificates)?;
        let consul_readiness = async {
            match &parts.consul {
                Some(consul) => consul.readiness().await,
                None => Vec::new(),
            }
        };
        let vault_readiness = async {
            match &parts.vault {
                Some(vault) => vault.is_ready().await,
                None => false,
            }
        };
        let (salt_ready, nomad_ready, consul_ready, vault_ready) = tokio::join!(
            parts.salt.readiness(),
            parts.nomad.readiness(),
            consul_readiness,
            vault_readiness
        );
        let (api_ready, minions_ready) = salt_ready?;
        let (engines, ports) = (&choices.engines, &choices.ports);
        let salt_ready = [api_ready, api_ready].into_iter().chain(minions_ready);
        // Where tasks of a node listen is more worth knowing than where its agents do.
        let of_nodes = || choices.nodes.iter().map(|node| Some(node.address.to_string()));
        let loopback = format!("127.0.0.1:{}", ports.salt_return);
        let salt_addresses = [Some(loopback), Some(parts.salt.url()), None];
        let mut all = Vec::new();
        let mut add = |daemon: &Daemon<'_>, version: &str, address: Option<String>, ready: bool| {
            engine_status(daemon, version, address, ready).map(|status| all.push(status))
        };
        let addresses = salt_addresses.into_iter().chain(of_nodes());
        for ((daemon, ready), address) in parts.salt.daemons().zip(salt_ready).zip(addresses) {
            add(daemon, &engines.salt.version, address, ready)?;
        }
        if let (Some(consul), Some(installed)) = (&parts.consul, &engines.consul) {
            let addresses = std::iter::once(Some(consul.address())).chain(of_nodes());
            for ((daemon, ready), address) in consul.daemons().zip(consul_ready).zip(addresses) {
                add(daemon, &installed.version, address, ready)?;
            }
        }
        if let (Some(vault), Some(installed)) = (&parts.vault, &engines.vault) {
            add(
                vault.daemon(),
                &installed.version,
                Some(vault.address()),
                vault_ready,
            )?;
        }
        let addresses = std::iter::once(Some(nomad::address(&choices))).chain(of_nodes());
        for ((daemon, ready), address) in parts.nomad.daemons().zip(nomad_ready).zip(addresses) {
            add(daemon, &engines.nomad.version, address, ready)?;
        }
        all.push(EngineStatus {
            name: TERRAFORM.into(),
            version: engines.terraform.version.clone(),
            pid: None,
            since: None,
            address: None,
            ready: engines.terraform.path.exists(),
            memory: 0,
        });
        all.extend(containers::status(&self.layout, &choices).await?);
        Ok(all)
    }

    /// Whether OpenTofu was chosen for it.
    pub fn has_tofu(&self) -> Result<bool> {
        Ok(Choices::read(&self.layout)?.is_some_and(|choices| choices.tofu))
    }

    /// The Terraform providers of clouds that were chosen for it.
    pub fn providers(&self) -> Result<BTreeMap<String, CloudProvider>> {
        Ok(Choices::read(&self.layout)?.map_or_else(BTreeMap::new, |choices| choices.providers))
    }

    /// Directories that its engines write to, each of which may have a disk of its own.
    pub fn written_to(&self) -> Vec<PathBuf> {
        let layout = &self.layout;
        let minion = layout.minion(None).join("cache");
        let master = layout.salt().join("master/cache");
        vec![minion, master, layout.nomad(), layout.srv(), layout.terraform()]
    }

    /// By what root speaks to the minions of a lab: the program, and the directory of its settings.
    pub fn salt_command(&self) -> Result<Option<(PathBuf, PathBuf)>> {
        let choices = Choices::read(&self.layout)?;
        Ok(choices.map(|choices| {
            let settings = self.layout.salt().join("master/etc");
            (choices.engines.salt.path.join("salt"), settings)
        }))
    }

    /// The nodes beside control.
    pub fn nodes(&self) -> Result<Vec<LabNode>> {
        let choices = Choices::read(&self.layout)?;
        let nodes = choices.map_or_else(Vec::new, |choices| choices.nodes);
        let shown = nodes.into_iter().map(|node| LabNode {
            volumes_below: self.layout.volumes().join(&node.name),
            address: node.address.to_string(),
            is_apart: node.interface.is_some(),
            name: node.name,
        });
        Ok(shown.collect())
    }

    /// Of each minion whether its process runs; of one that hangs it does.
    pub fn running_minions(&self) -> Result<BTreeMap<String, bool>> {
        let control = (None, CONTROL.to_owned());
        let nodes = self.nodes()?.into_iter();
        let nodes = nodes.map(|node| (Some(node.name.clone()), node.name));
        std::iter::once(control)
            .chain(nodes)
            .map(|(node, minion)| {
                let daemon = Daemon::minion(&self.layout, node.as_deref());
                Ok((minion, daemon.running()?.is_some()))
            })
            .collect()
    }

    /// Gives the last lines of an engine's log to `show`; with `follow` also what comes, until it is dropped.
    pub async fn logs(
        &self,
        name: &str,
        lines: usize,
        follow: bool,
        show: &mut (dyn FnMut(&str) + Send),
    ) -> Result<()> {
        let known = self.with_logs()?;
        if !known.iter().any(|known| known == name) {
            return Err(Error::NoSuchEngine {
                name: name.into(),
                known,
            });
        }
        logs::show(&self.layout.log(name), lines, follow, show).await
    }

    /// Where the endpoints of a lab that is or was up are written down.
    pub fn endpoints(&self) -> PathBuf {
        self.layout.endpoints()
    }

    async fn stop(&self, progress: &dyn Progress) -> Result<()> {
        let step = Running::start(progress, "lab", "stop the engines", Some(Duration::from_secs(5)));
        if let Some(choices) = Choices::read(&self.layout)? {
            let secrets = Secrets::open(&self.layout.secrets())?;
            let certificates = Certificates::open(&self.layout.tls())?;
            let parts = Parts::new(&self.layout, &choices, &secrets, &certificates)?;
            let others: Vec<&Daemon<'_>> = parts.but_nomad().collect();
            let stop_others = async {
                // It ends containers itself, in good order, as long as their Docker answers.
                let mut ended = containers::revive(&self.layout, &choices).await;
                // Nomad first: its tasks have what they need until they end.
                ended = ended.and(parts.nomad.stop(&others, &step).await);
                ended = ended.and(containers::stop(&self.layout, &choices).await);
                if let Some(vault) = &parts.vault {
                    ended = ended.and(vault.stop().await);
                }
                if let Some(consul) = &parts.consul {
                    ended = ended.and(consul.stop().await);
                }
                ended
            };
            let (others, salt) = tokio::join!(stop_others, parts.salt.stop());
            others.and(salt)?;
            let tasks = process::marked(&self.layout.root);
            let left = process::end(&tasks, &tasks, GRACE_FOR_TASKS).await;
            if !left.is_empty() {
                return Err(Error::StillThere {
                    engine: NOMAD.into(),
                    count: left.len(),
                });
            }
            let elsewhere = choices.mesh.iter().map(|mesh| mesh.allocations.clone());
            let places = [
                self.layout.nomad(),
                self.layout.nodes(),
                self.layout.containers(),
                choices.sockets.clone(),
            ];
            for place in places.into_iter().chain(elsewhere) {
                nomad::unmount(&place)?;
            }
            if let Some(mesh) = &choices.mesh {
                durable::remove(&mesh.allocations)?;
            }
            network::remove(&choices.nodes, choices.mesh.as_ref()).await?;
            durable::remove(&choices.sockets)?;
        }
        step.done();
        Ok(())
    }

    /// Whether an older Eos made the settings of its Nomad.
    fn is_without_tls(&self) -> Result<bool> {
        let settings: Option<Value> =
            durable::read_json(&self.layout.nomad().join("agent.json"), "settings of Nomad")?;
        Ok(settings.is_some_and(|settings| settings.get("tls").is_none()))
    }

    fn with_logs(&self) -> Result<Vec<String>> {
        let Some(choices) = Choices::read(&self.layout)? else {
            return Ok([SALT_MASTER, SALT_API, SALT_MINION, NOMAD]
                .map(String::from)
                .into());
        };
        let secrets = Secrets::open(&self.layout.secrets())?;
        let certificates = Certificates::open(&self.layout.tls())?;
        let parts = Parts::new(&self.layout, &choices, &secrets, &certificates)?;
        let all = parts.but_nomad().chain(parts.nomad.daemons());
        let mut names: Vec<String> = all.map(|daemon| daemon.name.clone()).collect();
        if choices.containers.is_some() {
            names.extend(containers::WITH_LOGS.map(String::from));
        }
        Ok(names)
    }

    /// One at a time works on a lab. The lock is the system's: it ends with its holder.
    pub(crate) async fn lock(&self, progress: &dyn Progress) -> Result<File> {
        let path = self.layout.lock();
        let file = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .at("open", &path)?;
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error).at("lock", path),
        }
        let step = Running::start(
            progress,
            "lab",
            "wait for another eos that works on this lab",
            None,
        );
        let waited = tokio::task::spawn_blocking(move || file.lock().map(|()| file)).await;
        let file = waited.map_err(std::io::Error::other).flatten().at("lock", path)?;
        step.done();
        Ok(file)
    }
}

/// The engines that a lab has.
struct Parts<'a> {
    salt: Salt<'a>,
    nomad: Nomad<'a>,
    consul: Option<Consul<'a>>,
    vault: Option<Vault<'a>>,
}

impl<'a> Parts<'a> {
    fn new(
        layout: &'a Layout,
        choices: &'a Choices,
        secrets: &'a Secrets,
        certificates: &'a Certificates,
    ) -> Result<Parts<'a>> {
        Ok(Parts {
            salt: Salt::new(layout, choices, secrets, certificates),
            nomad: Nomad::new(layout, choices, secrets, certificates)?,
            consul: Consul::new(layout, choices, secrets, certificates)?,
            vault: Vault::new(layout, choices, secrets, certificates),
        })
    }

    fn but_nomad(&self) -> impl Iterator<Item = &Daemon<'a>> {
        let consul = self.consul.iter().flat_map(Consul::daemons);
        let vault = self.vault.iter().map(Vault::daemon);
        self.salt.daemons().chain(consul).chain(vault)
    }
}

fn started<'a>(
    progress: &'a dyn Progress,
    engine: &'static str,
    what: &str,
    usual_seconds: u64,
) -> Running<'a> {
    Running::start(progress, engine, what, Some(Duration::from_secs(usual_seconds)))
}

fn engine_status(
    daemon: &Daemon<'_>,
    version: &str,
    address: Option<String>,
    ready: bool,
) -> Result<EngineStatus> {
    let record = daemon.running()?;
    Ok(EngineStatus {
        name: daemon.name.clone(),
        version: version.to_owned(),
        pid: record.as_ref().map(|record| record.process.pid),
        since: record.as_ref().map(|record| record.since),
        address,
        ready: ready && record.is_some(),
        memory: daemon.processes().into_iter().map(process::Process::memory).sum(),
    })
}
