//! What was chosen once for a lab and holds from then on: its profile, ports, names, nodes, engines (`lab.json`).

use std::collections::BTreeMap;
use std::env;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use eos_engine::settings::Profile;
use serde::{Deserialize, Serialize};

use crate::containers::ContainerChoices;
use crate::durable;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::network;
use crate::ports;
use eos_install::{Engines, Installed};

/// The name of the machine: Salt minion and Nomad node in one.
pub(crate) const CONTROL: &str = "control";
/// So many that each has enough ports to give out.
pub const MOST_NODES: usize = 9;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choices {
    pub control: String,
    #[serde(default)]
    pub profile: Profile,
    pub ports: Ports,
    /// Those beside control.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Node>,
    /// Of the full profile, where the machine can have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<Mesh>,
    /// Where Salt's Unix sockets lie.
    pub sockets: PathBuf,
    /// The engines of the last `up`.
    pub engines: Engines,
    /// OpenTofu runs in place of Terraform.
    #[serde(default)]
    pub tofu: bool,
    /// Eos delivers over Salt's API, once that was asked for, and needs no file of the lab's.
    #[serde(default)]
    pub delivers_by_api: bool,
    /// The host that this Terraform takes a provider without one to be from.
    pub registry: Option<String>,
    /// Terraform providers beside those of the engines, by name, once they were asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub providers: BTreeMap<String, CloudProvider>,
    /// A Docker of the lab's own, once it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containers: Option<ContainerChoices>,
}

/// A Terraform provider of a cloud.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloudProvider {
    /// In place of the cloud's own endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    pub installed: Installed,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ports {
    pub salt_publish: u16,
    pub salt_return: u16,
    pub salt_api: u16,
    pub nomad_http: u16,
    pub nomad_rpc: u16,
    pub nomad_serf: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full: Option<FullPorts>,
}

/// What the full profile listens on in addition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FullPorts {
    pub consul_http: u16,
    pub consul_grpc: u16,
    pub consul_dns: u16,
    pub consul_server: u16,
    pub consul_serf: u16,
    pub vault_http: u16,
    pub vault_cluster: u16,
}

/// A further machine, as far as engines can tell: a Salt minion, a Nomad client and a Consul agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub name: String,
    /// Where its tasks listen.
    pub address: Ipv4Addr,
    /// The interface of the lab's own with that address; none where the lab may not make one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    pub nomad_http: u16,
    pub consul_http: u16,
    pub consul_grpc: u16,
    pub consul_serf: u16,
}

/// The bridge that the networks of tasks are joined to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mesh {
    pub interface: String,
    /// Of the machine itself; the first of 256 that are the bridge's.
    pub address: Ipv4Addr,
    /// Where Nomad keeps allocations, one directory a node.
    pub allocations: PathBuf,
}

/// Where the person's short-lived files go.
fn run_time() -> Option<PathBuf> {
    env::var_os("XDG_RUNTIME_DIR")
        .map(PathBuf::from)
        .filter(|path| path.is_dir())
}

impl Choices {
    pub fn read(layout: &Layout) -> Result<Option<Choices>> {
        Ok(durable::read_json(&layout.choices(), "the choices of a lab")?)
    }

    /// What was chosen before, with the engines of now and what else is wanted; all of it is on disk before anything
    /// is started. Without a number, there are as many nodes as there were.
    pub fn open(
        layout: &Layout,
        engines: &Engines,
        profile: Profile,
        nodes: Option<usize>,
    ) -> Result<Choices> {
        let mut choices = match Choices::read(layout)? {
            Some(choices) => choices,
            None => Choices::choose(layout, engines)?,
        };
        if choices.engines.terraform != engines.terraform {
            choices.registry = None;
        }
        choices.engines = engines.clone();
        choices.become_full(profile)?;
        if choices.mesh.is_none() && choices.engines.envoy.is_some() {
            let allocations = layout.choose_allocations(run_time().as_deref());
            choices.mesh = network::choose_mesh(&layout.root, allocations)?;
        }
        choices.add_nodes(layout, nodes.unwrap_or(choices.nodes.len()))?;
        choices.save(layout)?;
        Ok(choices)
    }

    pub fn save(&self, layout: &Layout) -> Result<()> {
        Ok(durable::write_json(&layout.choices(), self, 0o600)?)
    }

    /// All ports that engines of this lab listen on.
    pub fn all_ports(&self) -> Vec<u16> {
        let ports = &self.ports;
        let solo = [
            ports.salt_publish,
            ports.salt_return,
            ports.salt_api,
            ports.nomad_http,
            ports.nomad_rpc,
            ports.nomad_serf,
        ];
        let full = ports.full.iter().flat_map(|full| {
            [
                full.consul_http,
                full.consul_grpc,
                full.consul_dns,
                full.consul_server,
                full.consul_serf,
                full.vault_http,
                full.vault_cluster,
            ]
        });
        let nodes = self.nodes.iter().flat_map(|node| {
            [
                node.nomad_http,
                node.consul_http,
                node.consul_grpc,
                node.consul_serf,
            ]
        });
        let registry = self.containers.iter().map(|chosen| chosen.registry_port);
        solo.into_iter()
            .chain(full)
            .chain(nodes)
            .chain(registry)
            .collect()
    }

    fn choose(layout: &Layout, engines: &Engines) -> Result<Choices> {
        let [
            salt_publish,
            salt_return,
            salt_api,
            nomad_http,
            nomad_rpc,
            nomad_serf,
        ] = ports::choose(&[])?;
        Ok(Choices {
            control: CONTROL.into(),
            profile: Profile::Solo,
            ports: Ports {
                salt_publish,
                salt_return,
                salt_api,
                nomad_http,
                nomad_rpc,
                nomad_serf,
                full: None,
            },
            nodes: Vec::new(),
            mesh: None,
            sockets: layout.choose_sockets(run_time().as_deref()),
            engines: engines.clone(),
            tofu: false,
            delivers_by_api: false,
            registry: None,
            providers: BTreeMap::new(),
            containers: None,
        })
    }

    /// A lab can grow into the full profile. The way back would leave secrets behind that nobody can reach.
    fn become_full(&mut self, profile: Profile) -> Result<()> {
        match (self.profile, profile) {
            (Profile::Solo, Profile::Solo) => return Ok(()),
            (Profile::Full, Profile::Solo) => return Err(Error::StaysFull),
            (_, Profile::Full) => {}
        }
        if self.engines.consul.is_none() || self.engines.vault.is_none() {
            return Err(Error::NotFull);
        }
        self.profile = Profile::Full;
        if self.ports.full.is_none() {
            let [
                consul_http,
                consul_grpc,
                consul_dns,
                consul_server,
                consul_serf,
                vault_http,
                vault_cluster,
            ] = ports::choose(&self.all_ports())?;
            self.ports.full = Some(FullPorts {
                consul_http,
                consul_grpc,
                consul_dns,
                consul_server,
                consul_serf,
                vault_http,
                vault_cluster,
            });
        }
        Ok(())
    }

    fn add_nodes(&mut self, layout: &Layout, wanted: usize) -> Result<()> {
        let there = self.nodes.len();
        if wanted < there {
            return Err(Error::FewerNodes { there, wanted });
        }
        if wanted > MOST_NODES {
            return Err(Error::TooManyNodes { most: MOST_NODES });
        }
        for number in there + 1..=wanted {
            let [nomad_http, consul_http, consul_grpc, consul_serf] = ports::choose(&self.all_ports())?;
            let taken: Vec<Ipv4Addr> = self.nodes.iter().map(|node| node.address).collect();
            let place = network::choose(&layout.root, number, &taken)?;
            self.nodes.push(Node {
                name: format!("node{number}"),
                address: place.address,
                interface: place.interface,
                nomad_http,
                consul_http,
                consul_grpc,
                consul_serf,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eos_install::InstalledVault;

    fn installed(version: &str) -> Installed {
        Installed {
            version: version.into(),
            path: "/x".into(),
        }
    }

    fn engines(terraform: &str) -> Engines {
        Engines {
            salt: installed("3008.3"),
            terraform: installed(terraform),
            nomad: installed("1.11.2"),
            consul: None,
            vault: None,
            envoy: None,
        }
    }

    fn full_engines() -> Engines {
        Engines {
            consul: Some(installed("1.22.6")),
            vault: Some(InstalledVault {
                version: "1.21.2".into(),
                path: "/x".into(),
                plugins: "/x".into(),
            }),
            ..engines("1.11.4")
        }
    }

    #[test]
    fn ports_are_chosen_once_and_engines_may_change() {
        let directory = tempfile::tempdir().unwrap();
        let layout = Layout::at(directory.path()).unwrap();
        let open = |terraform| Choices::open(&layout, &engines(terraform), Profile::Solo, None).unwrap();
        let mut first = open("1.11.4");
        first.registry = Some("host".into());
        first.save(&layout).unwrap();
        assert_eq!(open("1.11.4"), first);
        let second = open("1.12.0");
        assert_eq!(second.ports, first.ports);
        assert_eq!(
            second.registry, None,
            "another Terraform may have another default host"
        );
        assert_eq!(Choices::read(&layout).unwrap(), Some(second));
    }

    #[test]
    fn a_lab_grows_and_does_not_shrink() {
        let directory = tempfile::tempdir().unwrap();
        let layout = Layout::at(directory.path()).unwrap();
        let open = |engines: Engines, profile, nodes| Choices::open(&layout, &engines, profile, nodes);
        let solo = open(engines("1.11.4"), Profile::Solo, None).unwrap();
        let error = open(engines("1.11.4"), Profile::Full, None).unwrap_err();
        assert!(matches!(error, Error::NotFull), "{error}");
        let full = open(full_engines(), Profile::Full, Some(2)).unwrap();
        assert_eq!(full.ports.nomad_http, solo.ports.nomad_http);
        let names: Vec<&str> = full.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["node1", "node2"]);
        let mut ports = full.all_ports();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 6 + 7 + 2 * 4);

        assert_eq!(open(full_engines(), Profile::Full, None).unwrap(), full);
        let more = open(full_engines(), Profile::Full, Some(3)).unwrap();
        assert_eq!(more.nodes[..2], full.nodes);
        for (profile, nodes, words) in [
            (Profile::Solo, None, "cannot go back to solo"),
            (Profile::Full, Some(2), "it has 3, and you asked for 2"),
            (Profile::Full, Some(10), "at most 9 nodes"),
        ] {
            let error = open(full_engines(), profile, nodes).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn what_an_older_eos_chose_is_still_read() {
        let directory = tempfile::tempdir().unwrap();
        let layout = Layout::at(directory.path()).unwrap();
        let old = r#"{"control": "control", "ports": {"salt_publish": 1, "salt_return": 2, "salt_api": 3,
            "nomad_http": 4, "nomad_rpc": 5, "nomad_serf": 6}, "sockets": "/s", "registry": null, "engines": {
            "salt": {"version": "1", "path": "/s"}, "terraform": {"version": "1", "path": "/t"},
            "nomad": {"version": "1", "path": "/n"}}}"#;
        std::fs::write(layout.choices(), old).unwrap();
        let choices = Choices::read(&layout).unwrap().unwrap();
        assert_eq!((choices.profile, choices.nodes.len()), (Profile::Solo, 0));
        assert_eq!(choices.all_ports(), [1, 2, 3, 4, 5, 6]);
    }
}
