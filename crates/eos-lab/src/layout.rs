//! Where everything of one lab lies.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::durable;
use crate::error::{AtPath, Result};

/// What the system allows for the path of a Unix socket.
const LONGEST_SOCKET: usize = 107;
/// Salt's longest socket name, with some room.
const SOCKET_NAME: usize = 40;
/// Of the tenth node, in the directory of an allocation.
const ALLOCATION_SOCKET: &str = "9/01234567-89ab-cdef-0123-456789abcdef/alloc/tmp/consul_grpc.sock";

#[derive(Debug, Clone)]
pub struct Layout {
    pub root: PathBuf,
}

impl Layout {
    /// The path is made absolute and free of symlinks, so that a lab has one name however it is called.
    pub fn at(directory: &Path) -> Result<Layout> {
        let absolute = std::path::absolute(directory).at("find", directory)?;
        let mut there = absolute.as_path();
        let mut missing = Vec::new();
        while let (false, Some(parent)) = (there.exists(), there.parent()) {
            missing.extend(there.components().next_back().map(Component::as_os_str));
            there = parent;
        }
        let mut root = fs::canonicalize(there).at("find", there)?;
        root.extend(missing.into_iter().rev());
        Ok(Layout { root })
    }

    /// Closed to others is what holds secrets; open is what a task of another user may have to read.
    pub fn make(&self) -> Result<()> {
        for (path, mode) in [
            (self.root.clone(), 0o755),
            (self.secrets(), 0o700),
            (self.tls(), 0o700),
            (self.salt(), 0o700),
            // The secrets of tasks lie below it, in directories that anybody may enter.
            (self.nomad(), 0o700),
            (self.srv(), 0o700),
            (self.terraform(), 0o700),
            (self.terraform().join("workspaces"), 0o700),
            (self.volumes(), 0o755),
            (self.root.join("run"), 0o700),
            (self.root.join("log"), 0o700),
            (self.bin(), 0o755),
        ] {
            durable::directory(&path, mode)?;
        }
        Ok(())
    }

    pub fn lock(&self) -> PathBuf {
        self.root.join("lock")
    }
    pub fn choices(&self) -> PathBuf {
        self.root.join("lab.json")
    }
    pub fn endpoints(&self) -> PathBuf {
        self.root.join("endpoints.json")
    }
    pub fn secrets(&self) -> PathBuf {
        self.root.join("secrets")
    }
    pub fn tls(&self) -> PathBuf {
        self.root.join("tls")
    }
    pub fn salt(&self) -> PathBuf {
        self.root.join("salt")
    }
    pub fn nomad(&self) -> PathBuf {
        self.root.join("nomad")
    }
    /// An engine's part of the lab: its own on the control node, that of another node apart.
    pub fn part(&self, engine: &str, node: Option<&str>) -> PathBuf {
        match node {
            None => self.root.join(engine),
            Some(node) => self.nodes().join(node).join(engine),
        }
    }
    pub fn minion(&self, node: Option<&str>) -> PathBuf {
        match node {
            None => self.salt().join("minion"),
            Some(_) => self.part("salt", node),
        }
    }
    /// What engines have on other nodes than control.
    pub fn nodes(&self) -> PathBuf {
        self.root.join("nodes")
    }
    pub fn vault(&self) -> PathBuf {
        self.root.join("vault")
    }
    pub fn volumes(&self) -> PathBuf {
        self.root.join("volumes")
    }
    pub fn srv(&self) -> PathBuf {
        self.root.join("srv")
    }
    pub fn terraform(&self) -> PathBuf {
        self.root.join("terraform")
    }
    pub fn bin(&self) -> PathBuf {
        self.root.join("bin")
    }
    /// Docker, registry and images of the lab's own.
    pub fn containers(&self) -> PathBuf {
        self.root.join("containers")
    }
    pub fn run(&self, engine: &str) -> PathBuf {
        self.root.join("run").join(format!("{engine}.json"))
    }
    pub fn logs(&self) -> PathBuf {
        self.root.join("log")
    }
    pub fn log(&self, engine: &str) -> PathBuf {
        self.logs().join(format!("{engine}.log"))
    }

    /// A directory for Salt's sockets: in the lab, unless that is too deep for a socket's path.
    pub fn choose_sockets(&self, run_time: Option<&Path>) -> PathBuf {
        self.choose_shallow(
            self.salt().join("sockets"),
            "",
            "minion/".len() + SOCKET_NAME,
            run_time,
        )
    }

    /// A directory for Nomad's allocations, which have a socket each in the mesh.
    pub fn choose_allocations(&self, run_time: Option<&Path>) -> PathBuf {
        self.choose_shallow(self.nomad().join("a"), "-a", ALLOCATION_SOCKET.len(), run_time)
    }

    fn choose_shallow(&self, inside: PathBuf, end: &str, below: usize, run_time: Option<&Path>) -> PathBuf {
        let digest = hex::encode(Sha256::digest(self.root.as_os_str().as_encoded_bytes()));
        let uid = rustix::process::getuid().as_raw();
        let short = format!("eos-{uid}-{}{end}", &digest[..8]);
        let fits = |path: &PathBuf| path.as_os_str().len() + 1 + below <= LONGEST_SOCKET;
        [Some(inside), run_time.map(|directory| directory.join(&short))]
            .into_iter()
            .flatten()
            .find(fits)
            .unwrap_or_else(|| Path::new("/tmp").join(&short))
    }
}

/// Makes a directory that is nobody else's, with parts. In a place that others can write to, theirs is not taken for ours.
pub fn make_private<'a>(directory: &Path, parts: impl Iterator<Item = &'a str>) -> Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let found = fs::symlink_metadata(directory).at("read", directory)?;
            if !found.is_dir() || found.uid() != rustix::process::getuid().as_raw() {
                return Err(std::io::Error::other("it belongs to somebody else")).at("use", directory);
            }
        }
        other => other.at("make directory", directory)?,
    }
    for part in parts {
        durable::directory(&directory.join(part), 0o700)?;
    }
    Ok(durable::directory(directory, 0o700)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_has_one_name() {
        let directory = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(directory.path()).unwrap().join("real");
        fs::create_dir(&real).unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert_eq!(
            Layout::at(&link.join(".eos/lab")).unwrap().root,
            real.join(".eos/lab")
        );
        Layout::at(&link.join(".eos/lab")).unwrap().make().unwrap();
        assert_eq!(
            Layout::at(&link.join(".eos/lab")).unwrap().root,
            real.join(".eos/lab")
        );
    }

    #[test]
    fn sockets_of_a_deep_lab_lie_elsewhere() {
        let shallow = Layout {
            root: "/home/ada/estate/.eos/lab".into(),
        };
        assert_eq!(
            shallow.choose_sockets(None),
            Path::new("/home/ada/estate/.eos/lab/salt/sockets")
        );
        let deep = Layout {
            root: Path::new("/").join("deep/".repeat(20)),
        };
        let chosen = deep.choose_sockets(Some(Path::new("/run/user/1000")));
        assert!(chosen.starts_with("/run/user/1000"), "{}", chosen.display());
        assert!(deep.choose_sockets(Some(&deep.root)).starts_with("/tmp"));
        assert!(deep.choose_sockets(None).starts_with("/tmp"));
    }

    #[test]
    fn sockets_are_not_laid_into_what_a_link_names() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(directory.path(), &link).unwrap();
        let error = make_private(&link, ["master"].into_iter())
            .unwrap_err()
            .to_string();
        assert!(error.contains("belongs to somebody else"), "{error}");
        let own = directory.path().join("own");
        make_private(&own, ["master"].into_iter()).unwrap();
        make_private(&own, ["master"].into_iter()).unwrap();
    }
}
