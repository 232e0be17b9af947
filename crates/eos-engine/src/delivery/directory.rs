//! Delivery to a directory that the master reads: immutable releases, and the symlink `current` that names one of them.
//!
//! Whatever fails on the way (a full disk, a missing right, a crash), `current` still names a whole release.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use eos_core::emit::{release_digest, sha256};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use ulid::Ulid;

use super::{Files, RELEASE_FILE, placed};
use crate::disk;
use crate::error::{EngineError, ErrorKind, Layer};

/// How many releases are kept besides the current one.
pub const KEEP: usize = 10;
const UNFINISHED: &str = ".new-";
/// What a crash left behind is removed only when no delivery can still be writing it.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// Writes the release of these artifacts, unless it is there already, and makes it current.
pub fn deliver(path: &Path, artifacts: &BTreeMap<String, Vec<u8>>) -> Result<String, EngineError> {
    let mut files = placed(artifacts)?;
    let digest = release_digest(artifacts);
    let release_file = format!("{digest}\n").into_bytes();
    files.insert(PathBuf::from(RELEASE_FILE), &release_file);

    let releases = path.join("releases");
    make_directory(path)?;
    make_directory(&releases)?;
    let release = releases.join(&digest);
    if !holds_exactly(&release, &files) {
        write_release(&releases, &release, &files)?;
    }
    // The newest is what garbage collection keeps; a release that is delivered again is new again.
    let at = after_all_in(&releases)?;
    File::open(&release)
        .and_then(|directory| directory.set_modified(at))
        .map_err(|error| failed(&release, &error))?;
    switch(path, &digest)?;
    Ok(digest)
}

/// Now; but later than any release has, if the clock was set back since.
fn after_all_in(releases: &Path) -> Result<SystemTime, EngineError> {
    let mut at = SystemTime::now();
    for entry in fs::read_dir(releases).map_err(|error| failed(releases, &error))? {
        let about = entry.and_then(|entry| entry.metadata());
        let changed = about.and_then(|about| about.modified());
        at = at.max(changed.map_err(|error| failed(releases, &error))? + Duration::from_millis(1));
    }
    Ok(at)
}

/// The digest of the release that is current, or nothing before the first delivery.
pub fn current(path: &Path) -> Result<Option<String>, EngineError> {
    let link = path.join("current");
    match fs::read_link(&link) {
        Ok(target) => Ok(target
            .file_name()
            .map(|digest| digest.to_string_lossy().into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(&link, &error)),
    }
}

/// Removes all but the last releases and the current one, and what crashed deliveries left.
pub fn remove_old_releases(path: &Path, keep: usize) -> Result<Vec<String>, EngineError> {
    let current = current(path)?;
    let releases = path.join("releases");
    let mut found: Vec<(SystemTime, String)> = Vec::new();
    for entry in fs::read_dir(&releases).map_err(|error| failed(&releases, &error))? {
        let entry = entry.map_err(|error| failed(&releases, &error))?;
        // Of the entry itself: a symlink is neither followed nor removed.
        let about = entry.metadata().map_err(|error| failed(&entry.path(), &error))?;
        let changed = about.modified().map_err(|error| failed(&entry.path(), &error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(UNFINISHED) {
            if changed.elapsed().is_ok_and(|age| age > ABANDONED) {
                fs::remove_dir_all(entry.path()).map_err(|error| failed(&entry.path(), &error))?;
            }
        } else if about.is_dir() && is_digest(&name) {
            found.push((changed, name));
        }
    }
    found.sort_by(|one, other| other.cmp(one));
    let mut removed = Vec::new();
    for (_, digest) in found.into_iter().skip(keep) {
        if current.as_ref() != Some(&digest) {
            let release = releases.join(&digest);
            fs::remove_dir_all(&release).map_err(|error| failed(&release, &error))?;
            removed.push(digest);
        }
    }
    Ok(removed)
}

/// The files of a release by their place in it, with the digest of each.
pub(super) fn digests_of(path: &Path, release: &Path) -> Result<BTreeMap<PathBuf, String>, EngineError> {
    let files = files_of(&path.join(release))?.into_iter();
    Ok(files.map(|(place, bytes)| (place, sha256(&bytes))).collect())
}

/// Whether a release holds what its name stands for.
pub(super) fn is_whole(path: &Path, digest: &str) -> Result<bool, EngineError> {
    let mut artifacts = BTreeMap::new();
    for (place, bytes) in files_of(&path.join("releases").join(digest))? {
        if place != Path::new(RELEASE_FILE) {
            let place = place.strip_prefix("files").unwrap_or(&place);
            artifacts.insert(place.display().to_string(), bytes);
        }
    }
    Ok(release_digest(&artifacts) == digest)
}

/// All files of a release, by their place in it.
fn files_of(release: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>, EngineError> {
    let mut files = BTreeMap::new();
    let mut folders = vec![release.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| failed(&folder, &error))? {
            let path = entry.map_err(|error| failed(&folder, &error))?.path();
            let about = fs::symlink_metadata(&path).map_err(|error| failed(&path, &error))?;
            if about.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = fs::read(&path).map_err(|error| failed(&path, &error))?;
            let place = path.strip_prefix(release).unwrap_or(&path).to_owned();
            files.insert(place, bytes);
        }
    }
    Ok(files)
}

fn is_digest(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a release is there, with exactly these files and nothing else. Symlinks do not count as files.
fn holds_exactly(release: &Path, files: &Files<'_>) -> bool {
    let mut expected: BTreeSet<&Path> = files.keys().map(PathBuf::as_path).collect();
    let mut folders = vec![release.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            return false;
        };
        for entry in entries {
            let Ok(entry) = entry else { return false };
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() => {
                    let Ok(relative) = path.strip_prefix(release) else {
                        return false;
                    };
                    let same = files
                        .get(relative)
                        .is_some_and(|bytes| fs::read(&path).is_ok_and(|found| found == **bytes));
                    if !same {
                        return false;
                    }
                    expected.remove(relative);
                }
                _ => return false,
            }
        }
    }
    fs::symlink_metadata(release).is_ok_and(|about| about.is_dir()) && expected.is_empty()
}

fn write_release(releases: &Path, release: &Path, files: &Files<'_>) -> Result<(), EngineError> {
    let unfinished = Unfinished::new(releases)?;
    for (path, bytes) in files {
        let file = write_file(&unfinished.path, path, bytes)?;
        file.sync_all().map_err(|error| failed(path, &error))?;
    }
    sync_folders(&unfinished.path)?;
    // One that was damaged is not mended in place, since minions may be reading it. Both change names in one go:
    // `current` may name this release. The damaged one then goes with `unfinished`.
    let renamed = match fs::symlink_metadata(release) {
        Ok(_) => {
            renameat_with(CWD, &unfinished.path, CWD, release, RenameFlags::EXCHANGE).map_err(Into::into)
        }
        Err(_) => fs::rename(&unfinished.path, release),
    };
    renamed.map_err(|error| failed(release, &error))?;
    sync(releases)
}

/// A folder that is removed again if it does not become a release.
pub(crate) struct Unfinished {
    pub(crate) path: PathBuf,
}

impl Unfinished {
    pub(crate) fn new(releases: &Path) -> Result<Self, EngineError> {
        let path = unfinished_path(releases);
        fs::create_dir(&path).map_err(|error| failed(&path, &error))?;
        let unfinished = Unfinished { path };
        open_to_all(&unfinished.path, 0o755)?;
        Ok(unfinished)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After success the folder has another name: nothing is there to remove, or a damaged release. After a failure
        // that failure is the message; what cannot be removed now goes with the old releases.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn unfinished_path(releases: &Path) -> PathBuf {
    releases.join(format!("{UNFINISHED}{}", Ulid::new()))
}

/// Writes one file, which is on disk once it is synced.
pub(crate) fn write_file(root: &Path, relative: &Path, bytes: &[u8]) -> Result<File, EngineError> {
    let path = root.join(relative);
    let mut folder = root.to_owned();
    for part in relative.parent().into_iter().flat_map(Path::components) {
        folder.push(part);
        make_directory(&folder)?;
    }
    let mut file = File::create_new(&path).map_err(|error| failed(&path, &error))?;
    file.write_all(bytes).map_err(|error| failed(&path, &error))?;
    open_to_all(&path, 0o644)?;
    Ok(file)
}

/// Makes a folder that the master's user can read, if there is none; a symlink in its place is refused.
pub(crate) fn make_directory(path: &Path) -> Result<(), EngineError> {
    match fs::create_dir(path) {
        Ok(()) => open_to_all(path, 0o755),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match fs::symlink_metadata(path) {
            Ok(about) if about.is_dir() => Ok(()),
            Ok(_) => Err(EngineError::new(
                Layer::Estate,
                ErrorKind::Invalid,
                path.display().to_string(),
                "it is not a directory",
            )),
            Err(error) => Err(failed(path, &error)),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(failed(path, &error).with_hint("Make the directory that [delivery] in eos.toml names"))
        }
        Err(error) => Err(failed(path, &error)),
    }
}

/// The person's umask must not hide a release from the master's user.
fn open_to_all(path: &Path, mode: u32) -> Result<(), EngineError> {
    fs::set_permissions(path, Permissions::from_mode(mode)).map_err(|error| failed(path, &error))
}

fn sync_folders(folder: &Path) -> Result<(), EngineError> {
    for entry in fs::read_dir(folder).map_err(|error| failed(folder, &error))? {
        let entry = entry.map_err(|error| failed(folder, &error))?;
        if entry
            .file_type()
            .map_err(|error| failed(&entry.path(), &error))?
            .is_dir()
        {
            sync_folders(&entry.path())?;
        }
    }
    sync(folder)
}

fn sync(folder: &Path) -> Result<(), EngineError> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| failed(folder, &error))
}

fn switch(root: &Path, digest: &str) -> Result<(), EngineError> {
    let link = root.join("current");
    let target = Path::new("releases").join(digest);
    if fs::read_link(&link).is_ok_and(|now| now == target) {
        return Ok(());
    }
    if fs::symlink_metadata(&link).is_ok_and(|about| !about.is_symlink()) {
        let object = link.display().to_string();
        return Err(
            EngineError::new(Layer::Estate, ErrorKind::Invalid, object, "it is not a symlink")
                .with_hint("Move it elsewhere: delivery owns this name"),
        );
    }
    let new = root.join(format!(".current-{}", Ulid::new()));
    symlink(&target, &new).map_err(|error| failed(&new, &error))?;
    if let Err(error) = fs::rename(&new, &link) {
        // The rename's failure is the message.
        let _ = fs::remove_file(&new);
        return Err(failed(&link, &error));
    }
    sync(root)
}

pub(crate) fn failed(path: &Path, error: &io::Error) -> EngineError {
    let object = path.display().to_string();
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            EngineError::new(Layer::Estate, ErrorKind::Refused, object, error.to_string()).with_hint(
                "Give this user the right to write to the directory that [delivery] in eos.toml names",
            )
        }
        _ => disk::failed(object, path, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifacts(text: &str) -> BTreeMap<String, Vec<u8>> {
        [
            ("salt/components/grafana/deploy.sls", text),
            ("pillar/top.sls", "top"),
            ("pillar/hosts/control.sls", "#!json"),
            ("pillar/credentials/vault.sls", "paths"),
            ("pillar/infrastructure/production.sls", "the intent"),
            ("terraform/environments/production/grafana/main.tf", "module"),
            ("graph/production/grafana.json", "{}"),
        ]
        .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
        .into()
    }

    fn served(root: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![root.join("current/")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(
                        path.strip_prefix(root.join("current"))
                            .unwrap()
                            .display()
                            .to_string(),
                    );
                }
            }
        }
        found.sort();
        found
    }

    fn directory() -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let delivery = root.path().to_owned();
        (root, delivery)
    }

    #[test]
    fn a_release_holds_what_minions_need_and_nothing_else() {
        let (root, delivery) = directory();
        let digest = deliver(&delivery, &artifacts("one")).unwrap();
        assert_eq!(
            served(root.path()),
            [
                "files/terraform/environments/production/grafana/main.tf",
                "pillar/credentials/vault.sls",
                "pillar/hosts/control.sls",
                "pillar/top.sls",
                "salt/components/grafana/deploy.sls",
                "salt/release",
            ]
        );
        assert_eq!(digest, release_digest(&artifacts("one")));
        assert!(is_digest(&digest));
        assert_eq!(
            fs::read_to_string(root.path().join("current/salt/release")).unwrap(),
            format!("{digest}\n")
        );
        assert_eq!(current(&delivery).unwrap(), Some(digest));
    }

    #[test]
    fn only_what_is_delivered_decides_the_digest() {
        let mut changed = artifacts("one");
        changed.insert("graph/production/grafana.json".to_owned(), b"other".to_vec());
        assert_eq!(release_digest(&changed), release_digest(&artifacts("one")));
        assert_ne!(
            release_digest(&artifacts("two")),
            release_digest(&artifacts("one"))
        );
    }

    #[test]
    fn everybody_may_read_a_release_whatever_the_umask() {
        let (root, delivery) = directory();
        deliver(&delivery, &artifacts("one")).unwrap();
        let mode = |path: &str| fs::metadata(root.path().join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode("current/salt/components"), 0o755);
        assert_eq!(mode("current/salt/release"), 0o644);
        assert_eq!(mode("releases"), 0o755);
    }

    #[test]
    fn a_damaged_release_is_not_used_again() {
        let (root, delivery) = directory();
        let digest = deliver(&delivery, &artifacts("one")).unwrap();
        let release = root.path().join("releases").join(&digest);
        let damages: [&dyn Fn(); 4] = [
            &|| fs::write(release.join("pillar/top.sls"), "changed").unwrap(),
            &|| fs::write(release.join("salt/more.sls"), "added").unwrap(),
            &|| fs::remove_file(release.join("pillar/top.sls")).unwrap(),
            &|| {
                fs::remove_file(release.join("pillar/top.sls")).unwrap();
                fs::write(root.path().join("elsewhere"), "top").unwrap();
                symlink(root.path().join("elsewhere"), release.join("pillar/top.sls")).unwrap();
            },
        ];
        for damage in damages {
            damage();
            assert_eq!(deliver(&delivery, &artifacts("one")).unwrap(), digest);
            assert_eq!(fs::read_to_string(release.join("pillar/top.sls")).unwrap(), "top");
            assert!(
                !fs::symlink_metadata(release.join("pillar/top.sls"))
                    .unwrap()
                    .is_symlink()
            );
            assert!(!release.join("salt/more.sls").exists());
        }
        assert_eq!(fs::read_dir(root.path().join("releases")).unwrap().count(), 1);
    }

    #[test]
    fn a_path_that_leads_elsewhere_is_refused() {
        let (root, delivery) = directory();
        for path in ["salt/../../x", "/etc/x", "salt/./x/..", "", "salt/release"] {
            let artifacts = BTreeMap::from([(path.to_owned(), b"x".to_vec())]);
            assert_eq!(
                deliver(&delivery, &artifacts).unwrap_err().kind,
                ErrorKind::Invalid,
                "{path}"
            );
        }
        assert!(!root.path().join("current").exists());
    }

    #[test]
    fn a_symlink_or_directory_in_the_way_is_refused() {
        let (root, delivery) = directory();
        let elsewhere = tempfile::tempdir().unwrap();
        symlink(elsewhere.path(), root.path().join("releases")).unwrap();
        assert_eq!(
            deliver(&delivery, &artifacts("one")).unwrap_err().kind,
            ErrorKind::Invalid
        );
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);

        let (root, delivery) = directory();
        fs::create_dir(root.path().join("current")).unwrap();
        let error = deliver(&delivery, &artifacts("one")).unwrap_err();
        assert_eq!(
            (error.kind, error.words.as_str()),
            (ErrorKind::Invalid, "it is not a symlink")
        );
    }

    #[test]
    fn the_latest_releases_stay_though_the_clock_was_set_back() {
        let (root, delivery) = directory();
        let digests: Vec<String> = (0..2)
            .map(|number| deliver(&delivery, &artifacts(&number.to_string())).unwrap())
            .collect();
        for digest in &digests {
            let release = File::open(root.path().join("releases").join(digest)).unwrap();
            release
                .set_modified(SystemTime::now() + Duration::from_secs(7200))
                .unwrap();
        }
        let later: Vec<String> = (2..4)
            .map(|number| deliver(&delivery, &artifacts(&number.to_string())).unwrap())
            .collect();
        let mut removed = remove_old_releases(&delivery, 2).unwrap();
        removed.sort();
        let mut expected = digests;
        expected.sort();
        assert_eq!(removed, expected);
        assert_eq!(current(&delivery).unwrap().as_ref(), Some(&later[1]));
    }

    #[test]
    fn old_releases_go_but_never_the_current_one() {
        let (root, delivery) = directory();
        let digests: Vec<String> = (0..5)
            .map(|number| deliver(&delivery, &artifacts(&number.to_string())).unwrap())
            .collect();
        // Current again, though not the newest by content.
        deliver(&delivery, &artifacts("0")).unwrap();
        fs::create_dir(root.path().join("releases/.new-fresh")).unwrap();
        let stale = root.path().join("releases/.new-stale");
        fs::create_dir(&stale).unwrap();
        File::open(&stale)
            .unwrap()
            .set_modified(SystemTime::now() - ABANDONED * 2)
            .unwrap();

        let mut removed = remove_old_releases(&delivery, 2).unwrap();
        removed.sort();
        let mut expected = digests[1..4].to_vec();
        expected.sort();
        assert_eq!(removed, expected);
        assert_eq!(current(&delivery).unwrap().as_ref(), Some(&digests[0]));
        assert!(!stale.exists() && root.path().join("releases/.new-fresh").exists());

        remove_old_releases(&delivery, 0).unwrap();
        assert!(root.path().join("releases").join(&digests[0]).exists());
    }
}
