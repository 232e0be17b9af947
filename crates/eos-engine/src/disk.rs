//! Calls a full disk a full disk, whoever met it: Eos itself, SQLite or git.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::{EngineError, ErrorKind, Layer};

/// With less than this free, SQLite and git may fail without saying why.
pub const ROOM: u64 = 256 << 10;

/// Whether this error is that of a disk without room: for the machine, or for this user.
pub fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

/// How much may still be written to the disk that a path lies on, in bytes; nothing where it cannot be asked.
pub fn free(path: &Path) -> Option<u64> {
    let about = rustix::fs::statvfs(there(path)).ok()?;
    let has_names = about.f_files == 0 || about.f_favail > 0;
    Some(match has_names {
        true => about.f_bavail.saturating_mul(about.f_frsize),
        false => 0,
    })
}

/// Whether the disk that a path lies on has no room for a small file.
pub fn has_no_room(path: &Path) -> bool {
    free(path).is_some_and(|free| free < ROOM)
}

/// What a person has to know and to do about it.
pub fn full(layer: Layer, object: impl Into<String>, path: &Path) -> EngineError {
    let path = mount_point(path);
    let path = path.display();
    EngineError::new(
        layer,
        ErrorKind::Failed,
        object,
        format!("the disk of {path} is full"),
    )
    .with_hint(format!(
        "Free some space (`df -h {path}` shows how much is left), then run the command again"
    ))
}

/// An error at a file of the estate.
pub fn failed(object: impl Into<String>, path: &Path, error: &io::Error) -> EngineError {
    match is_full(error) {
        true => full(Layer::Estate, object, path),
        false => EngineError::new(Layer::Estate, ErrorKind::Failed, object, error.to_string()),
    }
}

/// The directory at which the disk of a path begins: as `df` names it.
pub fn mount_point(path: &Path) -> PathBuf {
    let path = there(path);
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    // A directory that cannot be asked ends the search: the one below it is named.
    let disk = |path: &Path| path.metadata().map(|about| about.dev()).ok();
    let own = disk(&path);
    let same = path.ancestors().take_while(|path| disk(path) == own);
    same.last().unwrap_or(&path).to_owned()
}

/// The nearest directory, or file, that exists.
fn there(path: &Path) -> &Path {
    let mut all = path.ancestors();
    all.find(|path| path.exists()).unwrap_or(Path::new("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_named_by_where_it_begins() {
        let error = full(Layer::Estate, "x", Path::new("/proc/self/not/there"));
        assert_eq!(error.words, "the disk of /proc is full");
        assert!(error.hint.unwrap().contains("`df -h /proc`"));
        assert!(is_full(&io::Error::from_raw_os_error(libc::ENOSPC)));
        assert!(is_full(&io::Error::from_raw_os_error(libc::EDQUOT)));
        assert!(!is_full(&io::Error::from_raw_os_error(libc::EACCES)));
    }
}
