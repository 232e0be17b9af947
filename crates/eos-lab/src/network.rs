//! Interfaces of the lab's own: one a node, so that tasks of two nodes can listen on the same port, and the bridge of
//! the mesh, to which the networks of tasks are joined.
//!
//! A bridge without members stands in for a network card, since not every kernel has dummy ones; each node has its
//! own, since Nomad takes all addresses of an interface for its node's.

use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use sha2::{Digest, Sha256};
use tokio::process::Command;

use crate::choices::{Mesh, Node};
use crate::error::{AtPath, Error, Result};
use crate::secrets;

/// The bit of the right to make interfaces.
const NET_ADMIN: u32 = 12;
const FORWARD: &str = "/proc/sys/net/ipv4/ip_forward";
const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

pub struct Place {
    pub address: Ipv4Addr,
    pub interface: Option<String>,
}

/// Chooses an address that this machine does not have yet, from those that are set aside for tests of networks.
/// Without the right to make interfaces it is loopback.
pub fn choose(lab: &Path, number: usize, taken: &[Ipv4Addr]) -> Result<Place> {
    if !may_make_interfaces() {
        return Ok(Place {
            address: Ipv4Addr::LOCALHOST,
            interface: None,
        });
    }
    loop {
        let [low, third, fourth] = secrets::random::<3>()?;
        let address = Ipv4Addr::new(198, 18 + (low & 1), third, fourth.clamp(1, 254));
        if !taken.contains(&address) && !is_here(address) {
            return Ok(Place {
                address,
                interface: Some(format!("eos-{}-{number}", digest(lab))),
            });
        }
    }
}

/// The network of the mesh, where this machine can have one: it takes the right to make interfaces, and the plugins by
/// which Nomad joins a task's network to a bridge.
pub fn choose_mesh(lab: &Path, allocations: PathBuf) -> Result<Option<Mesh>> {
    if !may_make_interfaces() || cni_plugins().is_none() {
        return Ok(None);
    }
    loop {
        let [low, third] = secrets::random::<2>()?;
        let address = Ipv4Addr::new(10, 64 + (low & 63), third, 1);
        if !is_here(address) {
            return Ok(Some(Mesh {
                interface: format!("eos-{}-m", digest(lab)),
                address,
                allocations,
            }));
        }
    }
}

/// Where the plugins lie that Nomad makes networks with.
pub fn cni_plugins() -> Option<&'static Path> {
    let whole = |directory: &&Path| {
        ["bridge", "firewall", "portmap"]
            .iter()
            .all(|name| directory.join(name).exists())
    };
    ["/opt/cni/bin", "/usr/lib/cni"]
        .map(Path::new)
        .into_iter()
        .find(whole)
}

/// Makes the interfaces that are missing: they are gone when the machine was started anew.
pub async fn make(nodes: &[Node], mesh: Option<&Mesh>) -> Result<()> {
    for (interface, address, width) in own(nodes, mesh) {
        if is_here(address) {
            continue;
        }
        if !exists(interface) {
            ip(&["link", "add", interface, "type", "bridge"]).await?;
        }
        let address = format!("{address}/{width}");
        ip(&["address", "replace", &address, "dev", interface]).await?;
        ip(&["link", "set", interface, "up"]).await?;
    }
    match mesh {
        // Whoever else turns it on may also close the machine's other bridges to one another.
        Some(_) => fs::write(FORWARD, "1").at("write", FORWARD),
        None => Ok(()),
    }
}

pub async fn remove(nodes: &[Node], mesh: Option<&Mesh>) -> Result<()> {
    for (interface, ..) in own(nodes, mesh).filter(|(interface, ..)| exists(interface)) {
        ip(&["link", "delete", interface]).await?;
    }
    Ok(())
}

/// Interface, address, and how many of its bits are the network's.
fn own<'a>(nodes: &'a [Node], mesh: Option<&'a Mesh>) -> impl Iterator<Item = (&'a str, Ipv4Addr, u8)> {
    let nodes = nodes
        .iter()
        .filter_map(|node| Some((node.interface.as_deref()?, node.address, 32)));
    nodes.chain(mesh.map(|mesh| (mesh.interface.as_str(), mesh.address, 24)))
}

/// A short name for a lab, for what is known in the whole machine.
fn digest(lab: &Path) -> String {
    hex::encode(Sha256::digest(lab.as_os_str().as_encoded_bytes()))[..8].to_owned()
}

/// Nobody can listen on an address that the machine does not have.
fn is_here(address: Ipv4Addr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

fn exists(interface: &str) -> bool {
    Path::new("/sys/class/net").join(interface).exists()
}

/// Whether this process has the right, which an ordinary user has not, and root in a container may lack.
pub fn may_make_interfaces() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let rights = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    rights
        .and_then(|rights| u64::from_str_radix(rights.trim(), 16).ok())
        .is_some_and(|rights| rights >> NET_ADMIN & 1 == 1)
}

async fn ip(arguments: &[&str]) -> Result<()> {
    let output = Command::new("ip")
        .args(arguments)
        .env("PATH", PATH)
        .stdin(Stdio::null())
        .output()
        .await
        .at("run", "ip")?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::Command {
        what: format!("ip {}", arguments.join(" ")),
        words: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        hint: Some("Nodes of a lab have interfaces of their own (Debian: apt install iproute2)"),
    })
}
