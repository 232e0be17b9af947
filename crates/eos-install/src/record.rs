//! The record of an installed engine: every file with its checksum, so that a later change is noticed.
//!
//! A comparison costs a look at each file. Only a file of another size or time is read again: hundreds of megabytes
//! at every start would cost seconds. The record finds damage and slips, not somebody who may write the cache.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::error::{AtPath, Error, Result};

/// As many files as one call of `sha256sum` takes.
const TOGETHER: usize = 200;

#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    name: String,
    version: String,
    files: BTreeMap<PathBuf, Entry>,
    links: BTreeMap<PathBuf, PathBuf>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    sha256: String,
    size: u64,
    /// Nanoseconds since 1970.
    modified: i128,
}

impl Record {
    /// Of all that lies in a directory now.
    pub fn of(name: &str, version: &str, directory: &Path) -> Result<Record> {
        let (mut files, mut links) = (Vec::new(), BTreeMap::new());
        let mut folders = vec![directory.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).at("read", &folder)? {
                let path = entry.at("read", &folder)?.path();
                let about = fs::symlink_metadata(&path).at("read", &path)?;
                if about.is_dir() {
                    folders.push(path);
                } else if about.is_symlink() {
                    let target = fs::read_link(&path).at("read", &path)?;
                    links.insert(below(directory, &path), target);
                } else {
                    files.push((path, about));
                }
            }
        }
        let mut found = BTreeMap::new();
        for some in files.chunks(TOGETHER) {
            let paths: Vec<&Path> = some.iter().map(|(path, _)| path.as_path()).collect();
            for ((path, about), sha256) in some.iter().zip(checksums(&paths)?) {
                let entry = Entry {
                    sha256,
                    size: about.len(),
                    modified: modified(about),
                };
                found.insert(below(directory, path), entry);
            }
        }
        Ok(Record {
            name: name.to_owned(),
            version: version.to_owned(),
            files: found,
            links,
        })
    }

    /// The record in a marker; none in a marker of before there were records.
    pub fn read(marker: &Path) -> Result<Option<Record>> {
        let bytes = fs::read(marker).at("read", marker)?;
        if !bytes.starts_with(b"{") {
            return Ok(None);
        }
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| Error::Unreadable {
                path: marker.into(),
                meaning: "the record of an engine",
                words: error.to_string(),
            })
    }

    /// Refuses a directory in which a file is gone or another one.
    pub fn compare(&self, directory: &Path) -> Result<()> {
        let mut doubtful = Vec::new();
        for (path, entry) in &self.files {
            let path = directory.join(path);
            match fs::symlink_metadata(&path) {
                Ok(about) if about.len() == entry.size && modified(&about) == entry.modified => {}
                Ok(about) if about.is_file() => doubtful.push((path, &entry.sha256)),
                _ => return Err(self.changed(directory, path)),
            }
        }
        for some in doubtful.chunks(TOGETHER) {
            let paths: Vec<&Path> = some.iter().map(|(path, _)| path.as_path()).collect();
            for ((path, recorded), found) in some.iter().zip(checksums(&paths)?) {
                if found != **recorded {
                    return Err(self.changed(directory, path.clone()));
                }
            }
        }
        for (path, target) in &self.links {
            let path = directory.join(path);
            if fs::read_link(&path).ok().as_ref() != Some(target) {
                return Err(self.changed(directory, path));
            }
        }
        Ok(())
    }

    fn changed(&self, directory: &Path, path: PathBuf) -> Error {
        Error::Changed {
            engine: format!("{} {}", self.name, self.version),
            path,
            directory: directory.into(),
        }
    }
}

fn below(directory: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(directory).unwrap_or(path).to_owned()
}

fn modified(about: &Metadata) -> i128 {
    i128::from(about.mtime()) * 1_000_000_000 + i128::from(about.mtime_nsec())
}

/// By the system's own program: it is quick however Eos was compiled.
fn checksums(files: &[&Path]) -> Result<Vec<String>> {
    let program = Path::new("sha256sum");
    let output = Command::new(program)
        .arg("--")
        .args(files)
        .output()
        .at("run", program)?;
    let words = String::from_utf8_lossy(&output.stdout);
    // A line that begins with a backslash has escapes in the name of its file.
    let found: Vec<String> = words
        .lines()
        .filter_map(|line| Some(line.trim_start_matches('\\').get(..64)?.to_owned()))
        .collect();
    if !output.status.success() || found.len() != files.len() {
        return Err(Error::Command {
            what: "sha256sum".into(),
            words: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            hint: None,
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_changed_file_is_named_and_a_touched_one_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::create_dir(root.join("bin")).unwrap();
        fs::write(root.join("bin/program"), "right").unwrap();
        fs::write(root.join("odd \\ name"), "text").unwrap();
        symlink("program", root.join("bin/link")).unwrap();
        let record = Record::of("thing", "1.0", root).unwrap();
        let text = serde_json::to_string(&record).unwrap();
        let record: Record = serde_json::from_str(&text).unwrap();
        record.compare(root).unwrap();

        let touch = |name: &str| {
            let file = fs::File::open(root.join(name)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        };
        touch("bin/program");
        touch("odd \\ name");
        record.compare(root).unwrap();

        let named = |what: &str| {
            let error = record.compare(root).unwrap_err();
            assert!(error.to_string().contains(what), "{error}");
            assert!(error.hint().unwrap().contains("eos lab install"), "{error}");
        };
        // Of the same length.
        fs::write(root.join("bin/program"), "wrong").unwrap();
        named("bin/program");
        fs::remove_file(root.join("bin/program")).unwrap();
        named("bin/program");
        fs::write(root.join("bin/program"), "right").unwrap();
        record.compare(root).unwrap();
        fs::remove_file(root.join("bin/link")).unwrap();
        symlink("other", root.join("bin/link")).unwrap();
        named("bin/link");
    }
}
