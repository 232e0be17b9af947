//! Who can read and change what lies on this machine: the estate's own files, and those that hold a secret.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{Area, Condition, Finding};
use crate::engines::token_path;
use crate::estate::Estate;
use crate::settings::Source;

/// What only the owner may read.
const PRIVATE: u32 = 0o077;
/// What only the owner may change.
const OWN: u32 = 0o022;

pub(super) fn findings(estate: &Estate) -> Vec<Finding> {
    let owned = ["", ".eos", "pillar", "eos.toml"].map(|name| estate.root.join(name));
    let kept = [".eos/store.db", ".eos/home"].map(|name| estate.root.join(name));
    let faults = [
        faults(&owned, OWN, "others may change it", "chmod go-w"),
        faults(&kept, PRIVATE, "others may read it", "chmod go="),
        unwritable(&kept[0]),
    ]
    .concat();
    let own = match faults.is_empty() {
        true => vec![Finding::ok(
            Area::Estate,
            "files",
            "only their owner can change them",
        )],
        false => faults.into_iter().map(|fault| fault.finding("files")).collect(),
    };
    let secrets = secret_files(estate);
    let faults = self::faults(&secrets, PRIVATE, "others may read it", "chmod go=");
    let there = secrets.iter().filter(|file| file.is_file()).count();
    let secret = match (faults.is_empty(), there) {
        (true, 0) => Vec::new(),
        (true, 1) => vec![Finding::ok(
            Area::Estate,
            "secrets",
            "1 file, for its owner alone",
        )],
        (true, count) => {
            let words = format!("{count} files, for their owner alone");
            vec![Finding::ok(Area::Estate, "secrets", words)]
        }
        (false, _) => faults.into_iter().map(|fault| fault.finding("secrets")).collect(),
    };
    [own, secret].concat()
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    words: String,
    mend: String,
}

impl Fault {
    fn finding(self, what: &str) -> Finding {
        Finding::not_ok(Area::Estate, what, Condition::Broken, self.words, self.mend)
    }
}

/// One that is not there is somebody else's finding: that of the engine it is for.
fn faults(files: &[PathBuf], unwanted: u32, words: &str, mend: &str) -> Vec<Fault> {
    let fault = |file: &PathBuf| {
        let mode = std::fs::metadata(file).ok().as_ref().map(Metadata::mode)?;
        (mode & unwanted != 0).then(|| Fault {
            words: format!("{} has mode {:04o}: {words}", file.display(), mode & 0o7777),
            mend: format!("{mend} {}", quoted(file)),
        })
    };
    files.iter().filter_map(fault).collect()
}

fn unwritable(store: &Path) -> Vec<Fault> {
    match std::fs::OpenOptions::new().append(true).open(store) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => vec![Fault {
            words: format!("{} cannot be written: {error}", store.display()),
            mend: format!(
                "sudo chown -R \"$(id -un)\" {}",
                quoted(store.parent().unwrap_or(store))
            ),
        }],
        _ => Vec::new(),
    }
}

/// Every file that holds a password or a token, as far as it is on this machine; a lab has a directory of them.
fn secret_files(estate: &Estate) -> Vec<PathBuf> {
    let Some(endpoints) = &estate.settings.endpoints else {
        return Vec::new();
    };
    let salt = &endpoints.salt;
    let passwords = salt.password_file.iter().chain(salt.other_users.values());
    let tokens = [
        endpoints.nomad.token_file.as_ref(),
        endpoints
            .consul
            .as_ref()
            .and_then(|consul| consul.token_file.as_ref()),
        endpoints
            .vault
            .as_ref()
            .and_then(|vault| vault.token_file.as_ref()),
    ];
    let mut files: Vec<PathBuf> = passwords.chain(tokens.into_iter().flatten()).cloned().collect();
    files.extend(token_path(salt).ok());
    if estate.settings.source == Source::Lab {
        let directory = estate.root.join(".eos/lab/secrets");
        let entries = std::fs::read_dir(&directory).into_iter().flatten().flatten();
        files.extend(entries.map(|entry| entry.path()));
        files.push(directory);
    }
    files.sort();
    files.dedup();
    files
}

/// As a shell takes it for one word.
pub(super) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:,".contains(c);
    match text.chars().all(is_plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_that_others_may_read_is_named_with_what_mends_it() {
        let directory = tempfile::tempdir().unwrap();
        let [open, closed, gone] = ["o'pen", "closed", "gone"].map(|name| directory.path().join(name));
        for (file, mode) in [(&open, 0o640), (&closed, 0o600)] {
            std::fs::write(file, "hunter2").unwrap();
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let found = faults(&[open, closed, gone], PRIVATE, "others may read it", "chmod go=");
        let [fault] = &found[..] else {
            panic!("{found:?}");
        };
        assert!(
            fault.words.ends_with("has mode 0640: others may read it"),
            "{fault:?}"
        );
        assert!(
            fault.mend.starts_with("chmod go= '/") && fault.mend.ends_with(r"o'\''pen'"),
            "{fault:?}"
        );
    }
}
