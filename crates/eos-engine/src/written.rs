//! What the estate's generated files were when Eos last wrote them, so that an unchanged file is known without reading
//! it: size and time of change stand for the content, as in git's index. Lost or not to be read, it costs time only.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::num::NonZero;
use std::os::unix::fs::MetadataExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use eos_core::emit::Artifacts;

/// Below the estate.
const FILE: &str = ".eos/written";

#[derive(Clone, Debug, PartialEq)]
struct Entry {
    fingerprint: u64,
    mark: Mark,
}

/// What changes when somebody writes to a file.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mark {
    size: u64,
    modified: i64,
    inode: u64,
}

/// An artifact whose file must be read to know what it holds.
pub struct Doubtful<'a> {
    pub path: &'a str,
    pub bytes: &'a [u8],
    pub fingerprint: u64,
}

#[derive(Debug)]
pub struct Written {
    file: PathBuf,
    entries: BTreeMap<String, Entry>,
    /// When the entries were taken, by the clock of the filesystem. A file as young as they are may have been written
    /// once more in the same instant: it is read.
    taken: i64,
}

impl Written {
    /// Nothing, where there is no record or it cannot be read.
    pub fn load(root: &Path) -> Option<Self> {
        let file = root.join(FILE);
        let text = std::fs::read_to_string(&file).ok()?;
        let taken = modified(&std::fs::metadata(&file).ok()?);
        let entries = text.lines().map(entry).collect::<Option<_>>()?;
        Some(Self { file, entries, taken })
    }

    pub fn empty(root: &Path) -> Self {
        Self {
            file: root.join(FILE),
            entries: BTreeMap::new(),
            taken: i64::MIN,
        }
    }

    /// Files that were written and are no artifacts any more.
    pub fn gone(&self, artifacts: &Artifacts) -> Vec<String> {
        let mut wanted = artifacts.keys().peekable();
        let is_gone = |path: &&String| {
            // Both are sorted: one walk beside the other is far cheaper than a search for each.
            while wanted.next_if(|wanted| wanted < path).is_some() {}
            wanted.peek() != Some(path)
        };
        self.entries.keys().filter(is_gone).cloned().collect()
    }

    /// The artifacts of which it is not sure that their file holds them. All processors look, each at its share.
    pub fn doubtful<'a>(&self, root: &Path, artifacts: &'a Artifacts) -> Vec<Doubtful<'a>> {
        let all: Vec<_> = artifacts.iter().collect();
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let share = all.len().div_ceil(processors).max(1);
        thread::scope(|scope| {
            let looking: Vec<_> = all
                .chunks(share)
                .map(|share| {
                    scope.spawn(|| {
                        share
                            .iter()
                            .filter_map(|one| self.doubt(root, one))
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            looking
                .into_iter()
                .flat_map(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        })
    }

    fn doubt<'a>(&self, root: &Path, (path, bytes): &(&'a String, &'a Vec<u8>)) -> Option<Doubtful<'a>> {
        let fingerprint = fingerprint(bytes);
        let held = self.entries.get(*path).is_some_and(|entry| {
            entry.fingerprint == fingerprint
                && entry.mark.modified < self.taken
                && mark(&root.join(path)) == Some(entry.mark)
        });
        (!held).then_some(Doubtful {
            path,
            bytes,
            fingerprint,
        })
    }

    /// Remembers what is in a file now.
    pub fn remember(&mut self, path: &str, target: &Path, fingerprint: u64) {
        match mark(target) {
            Some(mark) => self.entries.insert(path.to_owned(), Entry { fingerprint, mark }),
            None => self.entries.remove(path),
        };
    }

    pub fn forget(&mut self, path: &str) {
        self.entries.remove(path);
    }

    pub fn save(&self) -> io::Result<()> {
        let mut text = String::with_capacity(self.entries.len() * 160);
        for (path, Entry { fingerprint, mark }) in &self.entries {
            let Mark {
                size,
                modified,
                inode,
            } = mark;
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{fingerprint} {size} {modified} {inode} {path}");
        }
        let new = self.file.with_extension("new");
        std::fs::create_dir_all(self.file.parent().unwrap_or(Path::new(".")))?;
        std::fs::write(&new, text)?;
        std::fs::rename(new, &self.file)
    }
}

/// A fast hash of the bytes: it tells one's own earlier output from the present one, and guards against nobody.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

fn entry(line: &str) -> Option<(String, Entry)> {
    let mut words = line.splitn(5, ' ');
    let fingerprint = words.next()?.parse().ok()?;
    let mark = Mark {
        size: words.next()?.parse().ok()?,
        modified: words.next()?.parse().ok()?,
        inode: words.next()?.parse().ok()?,
    };
    Some((words.next()?.to_owned(), Entry { fingerprint, mark }))
}

/// Nothing for what is no regular file.
fn mark(file: &Path) -> Option<Mark> {
    let metadata = std::fs::symlink_metadata(file)
        .ok()
        .filter(|metadata| metadata.is_file())?;
    Some(Mark {
        size: metadata.size(),
        modified: modified(&metadata),
        inode: metadata.ino(),
    })
}

/// In nanoseconds.
fn modified(metadata: &std::fs::Metadata) -> i64 {
    metadata
        .mtime()
        .saturating_mul(1_000_000_000)
        .saturating_add(metadata.mtime_nsec())
}
