//! How the agent is set: on loopback only, with tokens required, on its own, and finding this program for tasks.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::choices::Choices;
use crate::containers;
use crate::layout::Layout;

/// No cloud is asked for this machine's place in it, and no engine that the lab does not have.
const NOT_PROBED: &str = "env_aws,env_gce,env_azure,env_digitalocean,consul,vault";
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

pub fn settings(layout: &Layout, choices: &Choices) -> Value {
    let ports = &choices.ports;
    let visible: Map<String, Value> = VISIBLE
        .into_iter()
        .filter(|(host, _)| Path::new(host).exists())
        .map(|(host, inside)| (host.to_owned(), inside.into()))
        .collect();
    let registry = choices.containers.as_ref().map(|chosen| chosen.registry_port);
    let own_ports: Vec<String> = ports
        .all()
        .into_iter()
        .chain(registry)
        .map(|port| port.to_string())
        .collect();
    let own_ports = own_ports.join(",");
    let mut plugins = json!({"raw_exec": {"config": {"enabled": true}}});
    if let Some(endpoint) = containers::endpoint(layout, choices) {
        plugins["docker"] =
            json!({"config": {"endpoint": endpoint, "volumes": {"enabled": true}, "gc": {"image": false}}});
    }
    json!({
        "name": choices.control,
        "data_dir": layout.nomad().join("data"),
        "log_level": "WARN",
        "bind_addr": "127.0.0.1",
        // Without it an agent on loopback refuses to start.
        "advertise": {"http": "127.0.0.1", "rpc": "127.0.0.1", "serf": "127.0.0.1"},
        "disable_update_check": true,
        "ports": {"http": ports.nomad_http, "rpc": ports.nomad_rpc, "serf": ports.nomad_serf},
        "server": {"enabled": true, "bootstrap_expect": 1, "raft_multiplier": 1},
        // A token that is looked up again each second lets the client be woken (see `start_until_registered`).
        "acl": {"enabled": true, "token_ttl": "1s"},
        "client": {
            "enabled": true,
            "network_interface": containers::interface(layout, choices),
            "options": {"fingerprint.denylist": NOT_PROBED},
            "chroot_env": visible,
            "reserved": {"reserved_ports": own_ports},
        },
        "plugin": plugins,
        "consul": {"enabled": false},
    })
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
