//! How an agent is set: on loopback only, with tokens required, and finding this program for tasks.

use std::path::{Path, PathBuf};

use eos_engine::settings::Profile;
use secrecy::ExposeSecret;
use serde_json::{Map, Value, json};

use crate::choices::{Choices, Node};
use crate::consul;
use crate::containers;
use crate::daemon::NOMAD;
use crate::error::Result;
use crate::layout::Layout;
use crate::network;
use crate::secrets::Secrets;
use crate::tls::Certificates;

/// No cloud is asked for this machine's place in it.
const NOT_PROBED: &str = "env_aws,env_gce,env_azure,env_digitalocean";
const NEVER: &str = "876000h";
/// As long as a recipe may say that a stop takes.
const LONGEST_STOP: &str = "1h";
/// Nodes of one machine do not give out each other's ports: each has so many, from the first on in turn.
const FIRST_PORT: u16 = 20_000;
const PORTS_A_NODE: u16 = 1_200;
/// All that a task of the exec driver sees of the machine; by default that would be gigabytes, copied.
const VISIBLE: [(&str, &str); 9] = [
    ("/bin/dash", "/bin/dash"),
    ("/etc/passwd", "/etc/passwd"),
    ("/etc/resolv.conf", "/etc/resolv.conf"),
    (
        "/usr/lib/x86_64-linux-gnu/libc.so.6",
        "/lib/x86_64-linux-gnu/libc.so.6",
    ),
    (
        "/usr/lib/x86_64-linux-gnu/libgcc_s.so.1",
        "/lib/x86_64-linux-gnu/libgcc_s.so.1",
    ),
    (
        "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
        "/lib64/ld-linux-x86-64.so.2",
    ),
    (
        "/usr/lib/aarch64-linux-gnu/libc.so.6",
        "/lib/aarch64-linux-gnu/libc.so.6",
    ),
    (
        "/usr/lib/aarch64-linux-gnu/libgcc_s.so.1",
        "/lib/aarch64-linux-gnu/libgcc_s.so.1",
    ),
    (
        "/usr/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1",
        "/lib/ld-linux-aarch64.so.1",
    ),
];

/// Of the control node, server and client in one, or of another one, a client of that server.
pub fn settings(
    layout: &Layout,
    choices: &Choices,
    secrets: &Secrets,
    certificates: &Certificates,
    node: Option<&Node>,
) -> Result<Value> {
    let (ports, holder) = (&choices.ports, super::holder(node));
    let name = node.map(|node| node.name.as_str());
    let mut settings = json!({
        "name": name.unwrap_or(&choices.control),
        "data_dir": layout.part(NOMAD, name).join("data"),
        "log_level": "WARN",
        "bind_addr": "127.0.0.1",
        // Without it an agent on loopback refuses to start.
        "advertise": {"http": "127.0.0.1", "rpc": "127.0.0.1", "serf": "127.0.0.1"},
        "disable_update_check": true,
        "ports": {"http": ports.nomad_http, "rpc": ports.nomad_rpc, "serf": ports.nomad_serf},
        "tls": {
            "http": true,
            "rpc": true,
            "ca_file": certificates.authority(),
            "cert_file": certificates.certificate(holder),
            "key_file": certificates.key(holder),
            "verify_server_hostname": true,
            // Whoever speaks to the API has a token instead of a certificate.
            "verify_https_client": false,
        },
        "server": {
            "enabled": true,
            "bootstrap_expect": 1,
            "raft_multiplier": 1,
            "encrypt": secrets.gossip_key(NOMAD)?.expose_secret(),
            "client_introduction": {"enforcement": "strict"},
            // A node that Nomad forgets would have to be introduced again.
            "node_gc_threshold": NEVER,
        },
        // A token that is looked up again each second lets the client be woken (see `start_until_registered`).
        "acl": {"enabled": true, "token_ttl": "1s"},
        "client": client(layout, choices, node),
        "plugin": plugins(layout, choices),
        "consul": {"enabled": false},
    });
    if let Some(node) = node {
        settings["server"] = json!({"enabled": false});
        settings["ports"] = json!({"http": node.nomad_http});
    }
    if let Some(full) = &ports.full {
        let identity = |audience: &str| json!({"aud": [audience], "ttl": "1h"});
        let (http, grpc) = match node {
            None => (full.consul_http, full.consul_grpc),
            Some(node) => (node.consul_http, node.consul_grpc),
        };
        settings["consul"] = json!({
            "address": format!("127.0.0.1:{http}"),
            "ssl": true,
            "ca_file": certificates.authority(),
            "grpc_address": format!("127.0.0.1:{grpc}"),
            "grpc_ca_file": certificates.authority(),
            "token": secrets.token(consul::NOMAD_TOKEN)?.expose_secret(),
            "service_identity": identity("consul.io"),
            "task_identity": identity("consul.io"),
        });
        settings["vault"] = json!({
            "enabled": true,
            "address": format!("https://127.0.0.1:{}", full.vault_http),
            "ca_file": certificates.authority(),
            "jwt_auth_backend_path": "jwt-nomad",
            "default_identity": identity("vault.io"),
        });
    }
    Ok(settings)
}

fn client(layout: &Layout, choices: &Choices, node: Option<&Node>) -> Value {
    let visible: Map<String, Value> = VISIBLE
        .into_iter()
        .filter(|(host, _)| Path::new(host).exists())
        .map(|(host, inside)| (host.to_owned(), inside.into()))
        .collect();
    let own_ports: Vec<String> = choices.all_ports().iter().map(u16::to_string).collect();
    let not_probed = match choices.profile {
        Profile::Solo => format!("{NOT_PROBED},consul,vault"),
        Profile::Full => NOT_PROBED.to_owned(),
    };
    let mut client = json!({
        "enabled": true,
        "network_interface": containers::interface(layout, choices),
        "options": {"fingerprint.denylist": not_probed},
        "chroot_env": visible,
        "reserved": {"reserved_ports": own_ports.join(",")},
        // How full the disk of this machine is says nothing of the lab, and what a failed task wrote must stay for a look.
        "gc_disk_usage_threshold": 99,
        "gc_inode_usage_threshold": 99,
        // Without it a client kills every task after thirty seconds, however long its job lets it take to end.
        "max_kill_timeout": LONGEST_STOP,
    });
    if let Some(node) = node {
        client["servers"] = json!([format!("127.0.0.1:{}", choices.ports.nomad_rpc)]);
        if let Some(interface) = &node.interface {
            client["network_interface"] = json!(interface);
        }
    }
    let place = node.and_then(|node| choices.nodes.iter().position(|other| other == node));
    let number = place.map_or(0, |place| place + 1);
    if let (Some(mesh), Some(plugins)) = (&choices.mesh, network::cni_plugins()) {
        let [first, second, third, _] = mesh.address.octets();
        client["cni_path"] = json!(plugins);
        client["bridge_network_name"] = json!(mesh.interface);
        client["bridge_network_subnet"] = json!(format!("{first}.{second}.{third}.0/24"));
        // Loopback is another one in the network of a task: sidecars find one another at the bridge.
        client["alloc_dir"] = json!(mesh.allocations.join(number.to_string()));
        if let Some(envoy) = &choices.engines.envoy {
            client["meta"] = json!({"connect.sidecar_image": containers::sidecar(envoy)});
        }
        client["host_network"] = json!({"mesh": {"interface": mesh.interface}});
    }
    if !choices.nodes.is_empty() {
        let (first, last) = port_range(number);
        client["min_dynamic_port"] = json!(first);
        client["max_dynamic_port"] = json!(last);
    }
    client
}

/// The ports that the node of this number, with control as 0, gives out to tasks.
fn port_range(number: usize) -> (u16, u16) {
    let number = u16::try_from(number).unwrap_or(u16::MAX);
    let first = FIRST_PORT.saturating_add(PORTS_A_NODE.saturating_mul(number));
    (first, first.saturating_add(PORTS_A_NODE - 1))
}

fn plugins(layout: &Layout, choices: &Choices) -> Value {
    let mut plugins = json!({"raw_exec": {"config": {"enabled": true}}});
    if let Some(endpoint) = containers::endpoint(layout, choices) {
        plugins["docker"] =
            json!({"config": {"endpoint": endpoint, "volumes": {"enabled": false}, "gc": {"image": false}}});
        if choices.mesh.is_some() {
            plugins["docker"]["config"]["infra_image"] = json!(containers::PAUSE);
        }
    }
    plugins
}

/// The mounts below a directory, the innermost first, from the text of `mountinfo`.
pub fn mounts_below(mountinfo: &str, directory: &Path) -> Vec<PathBuf> {
    let place = |line: &str| Some(PathBuf::from(unescape(line.split(' ').nth(4)?)));
    let mut found: Vec<PathBuf> = mountinfo
        .lines()
        .filter_map(place)
        .filter(|path| path.starts_with(directory))
        .collect();
    found.reverse();
    found
}

/// Blanks and the like are written as a backslash and three octal digits.
fn unescape(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part
            .get(..3)
            .and_then(|digits| u8::from_str_radix(digits, 8).ok())
        {
            Some(byte) => {
                plain.push(byte.into());
                plain.push_str(&part[3..]);
            }
            None => {
                plain.push('\\');
                plain.push_str(part);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choices::MOST_NODES;

    #[test]
    fn no_two_nodes_give_out_the_same_port() {
        let ranges: Vec<_> = (0..=MOST_NODES).map(port_range).collect();
        assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0), "{ranges:?}");
        assert!(ranges[MOST_NODES].1 < 32_768, "below those of the system");
    }

    #[test]
    fn mounts_of_this_lab_only_and_from_the_inside_out() {
        let text = "22 1 254:0 / / rw - ext4 /dev/root rw\n\
                    91 22 0:50 / /my\\040lab/nomad/data/alloc/1/t rw - tmpfs tmpfs rw\n\
                    92 91 0:51 / /my\\040lab/nomad/data/alloc/1/t/secrets rw - tmpfs tmpfs rw\n\
                    93 22 0:52 / /my\\040lab/nomad2/data rw - tmpfs tmpfs rw\n";
        let found = mounts_below(text, Path::new("/my lab/nomad"));
        let places = [
            "/my lab/nomad/data/alloc/1/t/secrets",
            "/my lab/nomad/data/alloc/1/t",
        ];
        assert_eq!(found, places.map(PathBuf::from));
    }
}
