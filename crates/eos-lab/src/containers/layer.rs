//! What an image holds: files of this machine at their places, written as one archive.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use crate::containers::programs;
use crate::error::{AtPath, Result};

/// Looked up by programs that ask who they are; names of hosts come from `/etc/hosts` first.
const NAME_SERVICES: &str = "hosts: files dns\n";

/// The account that the programs of an image run as, besides root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub name: String,
    pub user: u32,
    pub group: u32,
}

impl Account {
    /// `USER` or `USER:GROUP`, in numbers.
    pub fn read(text: &str, name: &str) -> Option<Account> {
        let (user, group) = text.split_once(':').unwrap_or((text, text));
        Some(Account {
            name: name.into(),
            user: user.parse().ok()?,
            group: group.parse().ok()?,
        })
    }
}

enum Entry {
    Directory { mode: u32 },
    Link { to: PathBuf },
    File { from: PathBuf, mode: u32, size: u64 },
    Text { bytes: Vec<u8>, mode: u32 },
}

/// By their place in the image, without the leading slash.
pub struct Contents {
    entries: BTreeMap<PathBuf, Entry>,
}

/// An archive of contents, on disk.
pub struct Layer {
    pub path: PathBuf,
    /// `sha256:...` of the archive.
    pub digest: String,
    pub bytes: u64,
}

impl Contents {
    /// The tree that programs expect, and nothing in it.
    pub fn new(account: Option<&Account>) -> Contents {
        let mut contents = Contents {
            entries: BTreeMap::new(),
        };
        for (path, mode) in [("tmp", 0o1777), ("run", 0o1777), ("etc", 0o755), ("var", 0o755)] {
            contents.entries.insert(path.into(), Entry::Directory { mode });
        }
        let to = PathBuf::from("/run");
        contents.entries.insert("var/run".into(), Entry::Link { to });
        let (mut users, mut groups) = (
            String::from("root:x:0:0::/:/bin/sh\n"),
            String::from("root:x:0:\n"),
        );
        if let Some(Account { name, user, group }) = account.filter(|account| account.user != 0) {
            users.push_str(&format!("{name}:x:{user}:{group}::/:/bin/sh\n"));
            groups.push_str(&format!("{name}:x:{group}:\n"));
        }
        contents.text("/etc/passwd", users, 0o644);
        contents.text("/etc/group", groups, 0o644);
        contents.text("/etc/nsswitch.conf", NAME_SERVICES, 0o644);
        contents
    }

    pub fn count(&self) -> usize {
        let is_file = |entry: &&Entry| matches!(entry, Entry::File { .. } | Entry::Text { .. });
        self.entries.values().filter(is_file).count()
    }

    pub fn text(&mut self, inside: &str, text: impl Into<Vec<u8>>, mode: u32) {
        let place = self.place(Path::new(inside));
        let bytes = text.into();
        self.entries.insert(place, Entry::Text { bytes, mode });
    }

    /// A directory that everybody may write to.
    pub fn open_directory(&mut self, inside: &str) {
        let place = self.place(Path::new(inside));
        self.entries.insert(place, Entry::Directory { mode: 0o1777 });
    }

    /// A program at a place of its own, with everything that it needs at the places where this machine has it.
    pub async fn program(&mut self, from: &Path, inside: &Path) -> Result<()> {
        let mut open = vec![(from.to_owned(), inside.to_owned())];
        while let Some((from, inside)) = open.pop() {
            self.file(&from, &inside)?;
            let needed = programs::needed(&from).await?;
            for library in needed.libraries {
                self.file(&library, &library)?;
            }
            open.extend(needed.interpreters.into_iter().map(|path| (path.clone(), path)));
        }
        Ok(())
    }

    /// What a link leads to is taken in its stead.
    pub fn file(&mut self, from: &Path, inside: &Path) -> Result<()> {
        let found = fs::metadata(from).at("read", from)?;
        if !found.is_file() {
            return Err(io::Error::other("it is not a file")).at("pack", from);
        }
        let place = self.place(inside);
        let entry = Entry::File {
            from: from.into(),
            mode: found.permissions().mode() & 0o777,
            size: found.len(),
        };
        self.entries.insert(place, entry);
        Ok(())
    }

    /// A whole directory at its own place. Links stay links, but for those that lead out of it: what they lead to is
    /// taken in.
    pub fn directory(&mut self, from: &Path) -> Result<()> {
        let root = fs::canonicalize(from).at("read", from)?;
        // A directory outside that leads to itself is not followed for ever.
        let mut followed = BTreeSet::new();
        let mut open = vec![from.to_owned()];
        while let Some(directory) = open.pop() {
            let found = fs::metadata(&directory).at("read", &directory)?;
            let place = self.place(&directory);
            let mode = found.permissions().mode() & 0o1777;
            self.entries.insert(place, Entry::Directory { mode });
            for entry in fs::read_dir(&directory).at("read", &directory)? {
                let path = entry.at("read", &directory)?.path();
                let kind = fs::symlink_metadata(&path).at("read", &path)?.file_type();
                if kind.is_dir() {
                    open.push(path);
                } else if kind.is_file() {
                    self.file(&path, &path)?;
                } else if kind.is_symlink() {
                    let outside = fs::canonicalize(&path).ok().filter(|to| !to.starts_with(&root));
                    match outside {
                        Some(to) if to.is_file() => self.file(&path, &path)?,
                        Some(to) if to.is_dir() && followed.insert(to.clone()) => open.push(path),
                        _ => self.link(&path)?,
                    }
                }
            }
        }
        Ok(())
    }

    fn link(&mut self, path: &Path) -> Result<()> {
        let to = fs::read_link(path).at("read", path)?;
        let place = self.place(path);
        self.entries.insert(place, Entry::Link { to });
        Ok(())
    }

    /// Where a path lies in the image. `/lib` and its like are the links there that they are on this machine, so that
    /// a library has one place, however it is named.
    fn place(&mut self, path: &Path) -> PathBuf {
        let relative = path.strip_prefix("/").unwrap_or(path);
        let mut parts = relative.components();
        let Some(first) = parts.next().map(|first| PathBuf::from(first.as_os_str())) else {
            return relative.into();
        };
        match fs::read_link(Path::new("/").join(&first)) {
            Ok(to) if to.is_relative() => {
                let place = to.join(parts.as_path());
                self.entries.insert(first, Entry::Link { to });
                place
            }
            _ => relative.into(),
        }
    }

    /// What the archive is made from, without reading files: equal as long as none was touched.
    pub fn fingerprint(&self) -> Result<String> {
        let mut digest = Sha256::new();
        for (place, entry) in &self.entries {
            digest.update(place.as_os_str().as_encoded_bytes());
            match entry {
                Entry::Directory { mode } => digest.update(format!("\0d{mode}\0")),
                Entry::Link { to } => digest.update(format!("\0l{}\0", to.display())),
                Entry::File { from, mode, size } => {
                    let found = fs::metadata(from).at("read", from)?;
                    let changed = (found.mtime(), found.mtime_nsec());
                    digest.update(format!("\0f{}\0{mode} {size} {changed:?}\0", from.display()));
                }
                Entry::Text { bytes, mode } => {
                    digest.update(format!("\0t{mode} {}\0", bytes.len()));
                    digest.update(bytes);
                }
            }
        }
        Ok(hex::encode(digest.finalize()))
    }

    /// Writes the archive. The same files give the same bytes: nothing of when and by whom is in it.
    pub fn write(&self, to: &Path) -> Result<Layer> {
        let file = File::create(to).at("write", to)?;
        let mut builder = Builder::new(Counted {
            inner: BufWriter::new(file),
            digest: Sha256::new(),
            bytes: 0,
        });
        let mut made: Vec<&Path> = Vec::new();
        for (place, entry) in &self.entries {
            let missing = place
                .ancestors()
                .skip(1)
                .filter(|above| !above.as_os_str().is_empty() && !self.entries.contains_key(*above));
            let mut missing: Vec<&Path> = missing.filter(|above| !made.contains(above)).collect();
            missing.reverse();
            for above in missing {
                append(&mut builder, above, &Entry::Directory { mode: 0o755 }).at("pack", above)?;
                made.push(above);
            }
            append(&mut builder, place, entry).at("pack", Path::new("/").join(place))?;
        }
        let mut counted = builder.into_inner().at("write", to)?;
        counted.inner.flush().at("write", to)?;
        Ok(Layer {
            path: to.into(),
            digest: format!("sha256:{}", hex::encode(counted.digest.finalize())),
            bytes: counted.bytes,
        })
    }
}

fn append(builder: &mut Builder<impl Write>, place: &Path, entry: &Entry) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(0);
    match entry {
        Entry::Directory { mode } => {
            header.set_entry_type(EntryType::Directory);
            header.set_mode(*mode);
            builder.append_data(&mut header, place, io::empty())
        }
        Entry::Link { to } => {
            header.set_entry_type(EntryType::Symlink);
            header.set_mode(0o777);
            builder.append_link(&mut header, place, to)
        }
        Entry::File { from, mode, .. } => {
            let file = File::open(from)?;
            header.set_mode(*mode);
            header.set_size(file.metadata()?.len());
            builder.append_data(&mut header, place, file)
        }
        Entry::Text { bytes, mode } => {
            header.set_mode(*mode);
            header.set_size(bytes.len() as u64);
            builder.append_data(&mut header, place, bytes.as_slice())
        }
    }
}

/// Counts and digests what goes through.
struct Counted<W> {
    inner: W,
    digest: Sha256,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.digest.update(&bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(layer: &Layer) -> BTreeMap<String, (u32, String)> {
        let mut archive = tar::Archive::new(File::open(&layer.path).unwrap());
        let entries = archive.entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            let link = entry
                .link_name()
                .unwrap()
                .map_or_else(String::new, |to| to.display().to_string());
            let path = entry.path().unwrap().display().to_string();
            (path, (entry.header().mode().unwrap(), link))
        });
        entries.collect()
    }

    #[tokio::test]
    async fn a_program_is_packed_with_its_libraries_and_the_same_twice() {
        let directory = tempfile::tempdir().unwrap();
        let account = Account {
            name: "app".into(),
            user: 999,
            group: 998,
        };
        let mut contents = Contents::new(Some(&account));
        contents
            .program(Path::new("/bin/sh"), Path::new("/bin/sh"))
            .await
            .unwrap();
        let one = contents.write(&directory.path().join("one.tar")).unwrap();
        let other = contents.write(&directory.path().join("other.tar")).unwrap();
        assert_eq!(one.digest, other.digest);
        assert_eq!(one.bytes, fs::metadata(&one.path).unwrap().len());
        let found = listed(&one);
        assert!(found.keys().any(|path| path.ends_with("libc.so.6")), "{found:?}");
        let is_shell = |path: &String| path == "usr/bin/sh" || path == "bin/sh";
        assert!(
            found
                .iter()
                .any(|(path, (mode, _))| is_shell(path) && *mode == 0o755)
        );
        assert_eq!(found["tmp"].0, 0o1777);
        assert_eq!(found["var/run"].1, "/run");
        let parents = found.keys().filter_map(|path| Path::new(path).parent());
        for parent in parents.filter(|parent| !parent.as_os_str().is_empty()) {
            assert!(
                found.contains_key(parent.to_str().unwrap()),
                "{}",
                parent.display()
            );
        }
    }

    #[test]
    fn links_of_a_directory_stay_but_for_those_that_lead_out() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        let inner = root.join("data");
        fs::create_dir_all(inner.join("deep")).unwrap();
        fs::write(root.join("outside"), "outside").unwrap();
        fs::write(inner.join("deep/file"), "inside").unwrap();
        std::os::unix::fs::symlink("deep/file", inner.join("near")).unwrap();
        std::os::unix::fs::symlink("..", inner.join("deep/up")).unwrap();
        std::os::unix::fs::symlink(root.join("outside"), inner.join("far")).unwrap();
        fs::create_dir(root.join("other")).unwrap();
        fs::write(root.join("other/file"), "other").unwrap();
        std::os::unix::fs::symlink(root.join("other"), root.join("other/self")).unwrap();
        std::os::unix::fs::symlink("../other", inner.join("away")).unwrap();
        let mut contents = Contents::new(None);
        contents.directory(&inner).unwrap();
        let before = contents.fingerprint().unwrap();
        let found = listed(&contents.write(&root.join("layer.tar")).unwrap());
        let at = |name: &str| found[inner.join(name).to_str().unwrap().trim_start_matches('/')].clone();
        assert_eq!(at("near").1, "deep/file");
        assert_eq!(at("deep/up").1, "..");
        assert_eq!(at("far").1, "", "a file of its own");
        assert_eq!(at("away/file").1, "");
        assert!(!at("away/self").1.is_empty(), "once is enough");

        fs::write(inner.join("deep/file"), "changed").unwrap();
        let mut contents = Contents::new(None);
        contents.directory(&inner).unwrap();
        assert_ne!(contents.fingerprint().unwrap(), before);
    }
}
