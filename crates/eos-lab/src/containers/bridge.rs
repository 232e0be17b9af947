//! The bridge of the lab's own Docker: containers are on it, and Nomad's client has its address there.
//!
//! Docker is told to leave the firewall alone (`docker`), so this is all that a lab changes of the machine's network.

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::containers::programs;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::secrets;

/// Private addresses that are seldom used; the third number is chosen.
const RANGES: [[u8; 2]; 3] = [[10, 213], [172, 31], [192, 168]];
const PREFIX: u32 = 24;

/// An address, the first of a network of its own that no route of this machine leads to.
pub fn choose() -> Result<Ipv4Addr> {
    let routes = fs::read_to_string("/proc/net/route").unwrap_or_default();
    let start = u8::from_le_bytes(secrets::random()?);
    let candidates = RANGES.into_iter().flat_map(|[first, second]| {
        (0..=u8::MAX).map(move |step| Ipv4Addr::new(first, second, start.wrapping_add(step), 1))
    });
    let mut free = candidates.filter(|address| !is_routed(&routes, *address));
    free.next().ok_or(Error::Command {
        what: "choosing a network for containers".into(),
        words: "every private network is in use here".into(),
        hint: None,
    })
}

/// Whether the network of an address that was chosen once went to somebody else while the bridge was not there.
pub fn is_lost(name: &str, address: Ipv4Addr) -> bool {
    let routes = fs::read_to_string("/proc/net/route").unwrap_or_default();
    !exists(name) && is_routed(&routes, address)
}

/// Whether a route other than the default one leads into the network of an address; from the text of `/proc/net/route`.
fn is_routed(routes: &str, address: Ipv4Addr) -> bool {
    let network = u32::from(address) & mask(PREFIX);
    routes.lines().skip(1).any(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        // Numbers stand there as the machine has them in memory.
        let number = |index: usize| {
            let number = u32::from_str_radix(fields.get(index)?, 16).ok()?;
            Some(u32::from_be_bytes(number.to_ne_bytes()))
        };
        let (Some(destination), Some(of)) = (number(1), number(7)) else {
            return false;
        };
        let common = of & mask(PREFIX);
        of != 0 && destination & common == network & common
    })
}

fn mask(prefix: u32) -> u32 {
    u32::MAX << (32 - prefix)
}

/// A name that is this lab's alone and short enough for an interface.
pub fn name(layout: &Layout) -> String {
    let digest = hex::encode(Sha256::digest(layout.root.as_os_str().as_encoded_bytes()));
    format!("eosd-{}", &digest[..8])
}

/// Makes it if it is not there; with it, what is already on it stays.
pub async fn up(name: &str, address: Ipv4Addr) -> Result<()> {
    let address = format!("{address}/{PREFIX}");
    if !exists(name) {
        ip(&["link", "add", "name", name, "type", "bridge"]).await?;
    }
    ip(&["address", "replace", &address, "dev", name]).await?;
    ip(&["link", "set", name, "up"]).await
}

pub async fn down(name: &str) -> Result<()> {
    match exists(name) {
        true => ip(&["link", "delete", name]).await,
        false => Ok(()),
    }
}

fn exists(name: &str) -> bool {
    Path::new("/sys/class/net").join(name).exists()
}

async fn ip(arguments: &[&str]) -> Result<()> {
    let program = programs::find("ip").ok_or(Error::ToolMissing {
        what: "ip",
        hint: "The lab's Docker needs it (Debian: apt install iproute2)",
    })?;
    programs::run(&program, arguments).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_that_is_in_use_is_not_chosen() {
        // 10.213.7.0/24 by an interface, 172.31.0.0/16 by a gateway, and the default route.
        let line = |destination: [u8; 4], of: [u8; 4]| {
            let number = |bytes: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(bytes));
            format!(
                "eth0\t{}\t00000000\t0003\t0\t0\t0\t{}\t0\t0\t0\n",
                number(destination),
                number(of)
            )
        };
        let routes = String::from("Iface\tDestination\n")
            + &line([0, 0, 0, 0], [0, 0, 0, 0])
            + &line([10, 213, 7, 0], [255, 255, 255, 0])
            + &line([172, 31, 0, 0], [255, 255, 0, 0]);
        assert!(is_routed(&routes, Ipv4Addr::new(10, 213, 7, 1)));
        assert!(!is_routed(&routes, Ipv4Addr::new(10, 213, 8, 1)));
        assert!(is_routed(&routes, Ipv4Addr::new(172, 31, 200, 1)));
        assert!(!is_routed(&routes, Ipv4Addr::new(192, 168, 1, 1)));
    }

    #[test]
    fn its_name_fits_an_interface() {
        let layout = Layout {
            root: "/home/ada/estate/.eos/lab".into(),
        };
        let name = name(&layout);
        assert!(name.len() < 16, "{name}");
    }
}
