//! Whether this machine has what a lab needs, and what it costs where it has not. Nothing is installed or changed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use eos_engine::doctor::{Area, Condition, Finding};
use eos_install::{self as install, Cache, Wanted, go_build, python};
use tokio::time::timeout;

use crate::containers::docker::{self, DOCKERD};
use crate::containers::programs::find;
use crate::containers::registry::REGISTRY;
use crate::network;

/// How long programs may take to say their versions, and Docker to let itself be spoken to.
const PATIENCE: Duration = Duration::from_secs(3);
/// What a lab itself writes, with room to live.
const DISK_OF_LAB_GIB: u64 = 1;

/// What was seen, before anything is decided.
struct Seen {
    user: u32,
    may_make_interfaces: bool,
    git: Option<PathBuf>,
    /// Or why there is none.
    python: Result<PathBuf, String>,
    go: Option<PathBuf>,
    c_compiler: Option<PathBuf>,
    cache: PathBuf,
    free_gib: Result<u64, String>,
    /// Names and versions.
    installed: Vec<(&'static str, String)>,
    not_installed: Vec<&'static str>,
    ip: Option<PathBuf>,
    iptables: Option<PathBuf>,
    cni_plugins: Option<&'static Path>,
    /// One that answers.
    docker: Option<String>,
    dockerd: Option<PathBuf>,
    registry: Option<PathBuf>,
}

/// Looks at this machine for a lab with those engines.
pub async fn examine(cache: &Cache, wanted: Wanted) -> Vec<Finding> {
    let (look, python, docker) = tokio::join!(
        timeout(PATIENCE, install::look(cache, wanted)),
        timeout(PATIENCE, python::find()),
        timeout(PATIENCE, reachable_docker()),
    );
    // A program that does not say its version in time is as good as none.
    let (installed, not_installed) = look.unwrap_or_else(|_| (Vec::new(), vec!["engines"]));
    let python = match python {
        Ok(found) => found.map_err(|error| error.to_string()),
        Err(_) => Err("python3 does not answer".to_owned()),
    };
    let nearest = cache.directory().ancestors().find(|path| path.exists());
    let seen = Seen {
        user: rustix::process::geteuid().as_raw(),
        may_make_interfaces: network::may_make_interfaces(),
        git: find("git"),
        python,
        go: find("go"),
        c_compiler: find("cc").or_else(|| find("gcc")),
        cache: cache.directory().to_owned(),
        free_gib: go_build::free_gib(nearest.unwrap_or(Path::new("/"))).map_err(|error| error.to_string()),
        installed: installed
            .into_iter()
            .map(|(name, found)| (name, found.version))
            .collect(),
        not_installed,
        ip: find("ip"),
        iptables: find("iptables"),
        cni_plugins: network::cni_plugins(),
        docker: docker.ok().flatten(),
        dockerd: find(DOCKERD),
        registry: find(REGISTRY),
    };
    findings(&seen, wanted.full)
}

/// The Docker that was there before the lab, if it answers.
async fn reachable_docker() -> Option<String> {
    let host = docker::found()?;
    docker::Engine::at(&host)?.answers().await.then_some(host)
}

fn findings(seen: &Seen, full: bool) -> Vec<Finding> {
    // What only installs engines is not missed where they are installed.
    let to_install = match seen.not_installed.is_empty() {
        true => Condition::Limited,
        false => Condition::Missing,
    };
    // The mesh belongs to the full profile, but only root can have it.
    let to_mesh = match full && seen.may_make_interfaces {
        true => Condition::Missing,
        false => Condition::Limited,
    };
    vec![
        user(seen),
        program(
            "git",
            seen.git.as_deref(),
            Condition::Missing,
            "every operation is a commit",
            "git",
        ),
        match &seen.python {
            Ok(path) => ok("Python", path.display().to_string()),
            Err(why) => not_ok("Python", to_install, why, "apt install python3 python3-venv"),
        },
        match &seen.go {
            Some(path) => ok("Go", path.display().to_string()),
            None => ok("Go", "not on PATH: eos lab install fetches its own"),
        },
        program(
            "C compiler",
            seen.c_compiler.as_deref(),
            to_install,
            "Eos needs it to build Nomad",
            "gcc libc6-dev",
        ),
        disk(seen),
        engines(seen),
        program(
            "ip",
            seen.ip.as_deref(),
            to_mesh,
            "nodes need it for their own addresses",
            "iproute2",
        ),
        program(
            "iptables",
            seen.iptables.as_deref(),
            to_mesh,
            "the mesh needs it to join networks of tasks",
            "iptables",
        ),
        match seen.cni_plugins {
            Some(directory) => ok("CNI plugins", directory.display().to_string()),
            None => not_ok(
                "CNI plugins",
                to_mesh,
                "without them no bridge networks, so no mesh",
                "apt install containernetworking-plugins",
            ),
        },
        docker_engine(seen),
        program(
            "registry",
            seen.registry.as_deref(),
            Condition::Limited,
            "the lab needs it to store the images made here",
            "docker-registry",
        ),
    ]
}

fn ok(what: &str, words: impl Into<String>) -> Finding {
    Finding::ok(Area::Machine, what, words)
}

fn not_ok(what: &str, condition: Condition, words: impl Into<String>, mend: impl Into<String>) -> Finding {
    Finding::not_ok(Area::Machine, what, condition, words, mend)
}

/// A program, what it is there for, and the package that has it.
fn program(what: &str, found: Option<&Path>, without: Condition, purpose: &str, packages: &str) -> Finding {
    match found {
        Some(path) => ok(what, path.display().to_string()),
        None => not_ok(
            what,
            without,
            format!("not installed: {purpose}"),
            format!("apt install {packages}"),
        ),
    }
}

fn user(seen: &Seen) -> Finding {
    match (seen.user, seen.may_make_interfaces) {
        (0, true) => ok("user", "root"),
        (0, false) => not_ok(
            "user",
            Condition::Limited,
            "root without the right to make interfaces: no mesh, and nodes share one address",
            "docker run --privileged",
        ),
        (user, _) => not_ok(
            "user",
            Condition::Limited,
            format!(
                "user {user}, not root: no exec driver, no bridge and so no mesh, nodes share one address, \
                 no Docker of the lab"
            ),
            "sudo eos lab up",
        ),
    }
}

fn disk(seen: &Seen) -> Finding {
    let needed = match seen.not_installed.is_empty() {
        true => DISK_OF_LAB_GIB,
        false => go_build::DISK_GIB,
    };
    let cache = seen.cache.display();
    match &seen.free_gib {
        Ok(free) if *free >= needed => ok("disk", format!("{free} GiB free for {cache}")),
        Ok(free) => not_ok(
            "disk",
            Condition::Missing,
            format!("{free} GiB free for {cache}, {needed} GiB are needed"),
            "XDG_CACHE_HOME=/larger/disk eos lab install",
        ),
        Err(why) => not_ok("disk", Condition::Broken, why, format!("df -h {cache}")),
    }
}

fn engines(seen: &Seen) -> Finding {
    let versions: Vec<String> = seen
        .installed
        .iter()
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    if seen.not_installed.is_empty() {
        return ok("engines", versions.join(", "));
    }
    let words = format!("not installed: {}", seen.not_installed.join(", "));
    not_ok("engines", Condition::Missing, words, "eos lab install")
}

fn docker_engine(seen: &Seen) -> Finding {
    match (&seen.docker, &seen.dockerd, seen.user) {
        (Some(host), ..) => ok("Docker", host),
        (None, Some(dockerd), 0) => ok("Docker", dockerd.display().to_string()),
        (None, Some(_), _) => not_ok(
            "Docker",
            Condition::Limited,
            "installed, but none answers and only root can start one: nothing runs from an image",
            "sudo systemctl start docker",
        ),
        (None, None, _) => not_ok(
            "Docker",
            Condition::Limited,
            "not installed: nothing runs from an image",
            "apt install docker.io",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole() -> Seen {
        let at = |name: &str| Some(Path::new("/usr/bin").join(name));
        Seen {
            user: 0,
            may_make_interfaces: true,
            git: at("git"),
            python: Ok("/usr/bin/python3".into()),
            go: None,
            c_compiler: at("cc"),
            cache: "/home/ada/.cache/eos".into(),
            free_gib: Ok(40),
            installed: vec![("salt", "3008.3".into()), ("nomad", "1.11.2".into())],
            not_installed: vec![],
            ip: at("ip"),
            iptables: at("iptables"),
            cni_plugins: Some(Path::new("/usr/lib/cni")),
            docker: None,
            dockerd: at("dockerd"),
            registry: at("docker-registry"),
        }
    }

    fn not_ok(seen: &Seen, full: bool) -> Vec<(String, Condition)> {
        findings(seen, full)
            .into_iter()
            .filter(|finding| finding.condition != Condition::Ok)
            .map(|finding| {
                assert!(finding.mend.is_some(), "{finding:?}");
                (finding.what, finding.condition)
            })
            .collect()
    }

    #[test]
    fn a_whole_machine_has_nothing_to_mend() {
        assert_eq!(not_ok(&whole(), true), []);
    }

    #[test]
    fn an_ordinary_user_is_limited_and_nothing_is_missing() {
        let seen = Seen {
            user: 65534,
            may_make_interfaces: false,
            cni_plugins: None,
            ..whole()
        };
        let limited = ["user", "CNI plugins", "Docker"].map(|what| (what.to_owned(), Condition::Limited));
        assert_eq!(not_ok(&seen, true), limited);
        let user = &findings(&seen, true)[0];
        for cost in ["exec", "mesh", "one address", "Docker"] {
            assert!(user.words.contains(cost), "{cost}: {}", user.words);
        }
    }

    #[test]
    fn the_mesh_is_missed_only_where_it_belongs() {
        let seen = Seen {
            cni_plugins: None,
            ..whole()
        };
        let cni = |condition| [("CNI plugins".to_owned(), condition)];
        assert_eq!(not_ok(&seen, true), cni(Condition::Missing));
        assert_eq!(not_ok(&seen, false), cni(Condition::Limited));
    }

    #[test]
    fn what_installs_engines_is_missed_until_they_are_installed() {
        let poor = || Seen {
            python: Err("python3 is not on PATH".into()),
            c_compiler: None,
            free_gib: Ok(3),
            ..whole()
        };
        let limited = ["Python", "C compiler"].map(|what| (what.to_owned(), Condition::Limited));
        assert_eq!(not_ok(&poor(), false), limited);
        let seen = Seen {
            not_installed: vec!["nomad"],
            ..poor()
        };
        let missing =
            ["Python", "C compiler", "disk", "engines"].map(|what| (what.to_owned(), Condition::Missing));
        assert_eq!(not_ok(&seen, false), missing);
    }
}
