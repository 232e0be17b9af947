//! Ports of the lab: free ones are chosen once, below those that Nomad and the system give out themselves.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};

use crate::error::{Error, Result};
use crate::secrets;

const FROM: u16 = 10_000;
const TO: u16 = 19_999;

/// Chooses that many free ports, from a random place on so that two labs do not get in each other's way. Those of
/// an engine that does not run just now are free, and yet `taken`.
pub fn choose<const COUNT: usize>(taken: &[u16]) -> Result<[u16; COUNT]> {
    let width = TO - FROM + 1;
    let start = u16::from_le_bytes(secrets::random()?) % width;
    let mut free = (0..width)
        .map(|step| FROM + (start + step) % width)
        .filter(|port| !taken.contains(port) && is_free(*port));
    let mut ports = [0; COUNT];
    for port in &mut ports {
        *port = free.next().ok_or(Error::NoPort { from: FROM, to: TO })?;
    }
    Ok(ports)
}

/// Refuses to start an engine whose port somebody else has.
pub fn check(engine: &str, ports: &[u16]) -> Result<()> {
    match ports.iter().find(|port| !is_free(**port)) {
        Some(port) => Err(Error::PortTaken {
            engine: engine.into(),
            port: *port,
        }),
        None => Ok(()),
    }
}

/// Gossip uses the same number by datagrams, so both must be free.
fn is_free(port: u16) -> bool {
    let here = (Ipv4Addr::LOCALHOST, port);
    let taken = |kind: ErrorKind| kind == ErrorKind::AddrInUse;
    !TcpListener::bind(here).is_err_and(|error| taken(error.kind()))
        && !UdpSocket::bind(here).is_err_and(|error| taken(error.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_ports_differ_and_a_taken_one_is_named() {
        let ports = choose::<6>(&[]).unwrap();
        assert!(ports.iter().all(|port| (FROM..=TO).contains(port)));
        let mut sorted = ports.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 6);
        let all_but_one: Vec<u16> = (FROM..=TO).filter(|port| *port != ports[0]).collect();
        assert_eq!(choose::<1>(&all_but_one).unwrap(), [ports[0]]);

        let held = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = held.local_addr().unwrap().port();
        let error = check("nomad", &[port]).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("a process outside this lab uses port {port} of nomad")
        );
        assert!(error.hint().unwrap().contains(&port.to_string()));
        drop(held);
        check("nomad", &[port]).unwrap();
    }
}
