//! Files that are either as they were or as they shall be, also after a crash, and never too open.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{AtPath, Error, Result};

/// Makes a directory, and sets its mode also if it was there.
pub fn directory(path: &Path, mode: u32) -> Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(mode)
        .create(path)
        .at("make directory", path)?;
    fs::set_permissions(path, Permissions::from_mode(mode)).at("set the mode of", path)
}

/// Replaces a file in one go, unless it holds these bytes already. The mode holds from the first byte on.
pub fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return fs::set_permissions(path, Permissions::from_mode(mode)).at("set the mode of", path);
    }
    replace(path, mode, |file| file.write_all(bytes))
}

/// Replaces a program by a copy, unless it is equal already; one that runs keeps running from the old file.
pub fn copy_program(from: &Path, to: &Path) -> Result<()> {
    if is_equal(from, to).at("read", from)? {
        return Ok(());
    }
    let mut source = File::open(from).at("read", from)?;
    replace(to, 0o755, |file| io::copy(&mut source, file).map(drop))
}

/// Makes a link that leads there, in place of what was there.
pub fn link(target: &Path, path: &Path) -> Result<()> {
    if fs::read_link(path).is_ok_and(|there| there == target) {
        return Ok(());
    }
    let new = beside(path);
    remove(&new)?;
    symlink(target, &new)
        .and_then(|()| fs::rename(&new, path))
        .at("make link", path)
}

pub fn write_json(path: &Path, value: &impl Serialize, mode: u32) -> Result<()> {
    let mut text = serde_json::to_string_pretty(value).map_err(|error| Error::Unreadable {
        path: path.into(),
        meaning: "JSON",
        words: error.to_string(),
    })?;
    text.push('\n');
    write(path, text.as_bytes(), mode)
}

/// `None` if there is no such file.
pub fn read_json<T: DeserializeOwned>(path: &Path, meaning: &'static str) -> Result<Option<T>> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| Error::Unreadable {
                path: path.into(),
                meaning,
                words: error.to_string(),
            }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).at("read", path),
    }
}

/// Removes a file or a whole directory; nothing there is as good.
pub fn remove(path: &Path) -> Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other.at("remove", path),
    }
}

fn replace(path: &Path, mode: u32, fill: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    let new = beside(path);
    let written = (|| {
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&new)?;
        fill(&mut file)?;
        file.set_permissions(Permissions::from_mode(mode))?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        path.parent()
            .map_or(Ok(()), |parent| File::open(parent)?.sync_all())
    })();
    written.at("write", path)
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

fn is_equal(from: &Path, to: &Path) -> io::Result<bool> {
    let mut old = match File::open(to) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let mut new = File::open(from)?;
    if new.metadata()?.len() != old.metadata()?.len() {
        return Ok(false);
    }
    let (mut ours, mut theirs) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    loop {
        let count = new.read(&mut ours)?;
        if count == 0 {
            return Ok(true);
        }
        if old.read_exact(&mut theirs[..count]).is_err() || ours[..count] != theirs[..count] {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_with_its_mode() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        write(&path, b"one", 0o644).unwrap();
        write(&path, b"two", 0o600).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(
            fs::read_dir(directory.path()).unwrap().count(),
            1,
            "nothing is left beside it"
        );
    }

    #[test]
    fn a_file_that_is_right_is_not_written_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        write(&path, b"same", 0o644).unwrap();
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        write(&path, b"same", 0o600).unwrap();
        let after = fs::metadata(&path).unwrap();
        assert_eq!(after.modified().unwrap(), before);
        assert_eq!(after.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_program_is_copied_when_it_differs() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        for bytes in [&b"first"[..], b"other", b"longer than that"] {
            fs::write(&from, bytes).unwrap();
            copy_program(&from, &to).unwrap();
            assert_eq!(fs::read(&to).unwrap(), bytes);
        }
        assert_eq!(fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o755);
    }

    #[test]
    fn unreadable_json_names_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lab.json");
        assert!(read_json::<u32>(&path, "ports").unwrap().is_none());
        fs::write(&path, "{").unwrap();
        let error = read_json::<u32>(&path, "ports").unwrap_err().to_string();
        assert!(error.contains("lab.json cannot be read as ports"), "{error}");
    }
}
