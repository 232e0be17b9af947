//! Who may change what just now: locks of the operating system, which end with the process that holds them.
//!
//! The estate lock is held shortly, to edit, commit and deliver; that of a component, and that of the operation itself,
//! for a whole operation. In the full profile components are locked in Consul instead (`component_lock`).

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use eos_core::plan::Key;
use eos_core::scope::Scope;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::disk;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::waiting;

const LOCKS: &str = ".eos/locks";
const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<'a> {
    Estate,
    Component {
        environment: &'a str,
        component: &'a str,
    },
    /// Held by the process that carries the operation out: without a holder it is not at work.
    Operation(&'a str),
    /// Held by who watches for drift, so that there is one at a time.
    Watch,
}

/// Where the lock of a component or host lies, by two names. `estate` names no environment.
pub fn place(key: &Key) -> (&str, &str) {
    let below = match Scope::of(key) {
        Scope::Estate => "estate",
        Scope::Environment(environment) => environment,
    };
    (below, &key.1)
}

/// Whether one who waits goes on waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    Left,
    Over,
}

impl Target<'_> {
    fn path(self, estate: &Path) -> Result<PathBuf, EngineError> {
        let locks = estate.join(LOCKS);
        match self {
            Target::Estate => Ok(locks.join("estate.lock")),
            Target::Watch => Ok(locks.join("watch.lock")),
            Target::Operation(id) => Ok(estate.join(operation_file(id))),
            Target::Component {
                environment,
                component,
            } => {
                for name in [environment, component] {
                    if name.is_empty() || name.starts_with('.') || name.contains('/') {
                        return Err(self.error(ErrorKind::Invalid, format!("{name:?} is not a name")));
                    }
                }
                Ok(locks.join(environment).join(format!("{component}.lock")))
            }
        }
    }

    fn name(self) -> String {
        match self {
            Target::Estate => "lock of the estate".to_owned(),
            Target::Operation(id) => format!("operation {id}"),
            Target::Watch => "the watch for drift".to_owned(),
            Target::Component {
                environment,
                component,
            } => format!("lock of {environment}/{component}"),
        }
    }

    fn error(self, kind: ErrorKind, words: String) -> EngineError {
        EngineError::new(Layer::Estate, kind, self.name(), words)
    }
}

/// Waits so long and no longer.
pub fn patience(deadline: Duration) -> impl FnMut(&EngineError) -> Patience {
    let ends = Instant::now() + deadline;
    move |_| match Instant::now() < ends {
        true => Patience::Left,
        false => Patience::Over,
    }
}

/// What a holder writes into its lock file, for others to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub pid: u32,
    pub operation: Option<String>,
    pub since: Timestamp,
}

/// A lock that is held until this is dropped or the process ends, in whatever way.
///
/// The file of an operation, or of a component, goes with its lock: there would be one of every name that ever was.
/// Whoever takes a lock looks whether the file is still the one of its name, so that two never hold two files.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    goes: Option<PathBuf>,
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some(path) = &self.goes {
            // What cannot be removed is found by the doctor.
            std::fs::remove_file(path).ok();
        }
    }
}

impl Lock {
    /// Takes the lock, or says who holds it (`Conflict`).
    pub fn try_acquire(
        estate: &Path,
        target: Target<'_>,
        operation: Option<&str>,
    ) -> Result<Lock, EngineError> {
        let path = target.path(estate)?;
        let failed = |error: &std::io::Error| match disk::is_full(error) {
            true => disk::full(Layer::Estate, target.name(), &path),
            false => target.error(ErrorKind::Failed, format!("{}: {error}", path.display())),
        };
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory).map_err(|error| failed(&error))?;
        }
        let mut file = loop {
            let mut file = OpenOptions::new()
                .create(true)
                .truncate(false)
                .read(true)
                .write(true)
                .open(&path)
                .map_err(|error| failed(&error))?;
            match file.try_lock() {
                Ok(()) if is_of_that_name(&file, &path) => break file,
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(target.error(ErrorKind::Conflict, read_holder(&mut file).words()));
                }
                Err(TryLockError::Error(error)) => return Err(failed(&error)),
            }
        };
        let holder = Holder {
            pid: std::process::id(),
            operation: operation.map(str::to_owned),
            since: Timestamp::now(),
        };
        write_holder(&mut file, &holder).map_err(|error| failed(&error))?;
        let goes = matches!(target, Target::Operation(_) | Target::Component { .. }).then_some(path);
        Ok(Lock { _file: file, goes })
    }

    /// Takes the lock as soon as it is free. As long as it is held, `held` is told by whom, and says whether to go on
    /// waiting.
    pub async fn wait(
        estate: &Path,
        target: Target<'_>,
        operation: Option<&str>,
        held: &mut dyn FnMut(&EngineError) -> Patience,
    ) -> Result<Lock, EngineError> {
        loop {
            match Lock::try_acquire(estate, target, operation) {
                Err(error) if error.kind == ErrorKind::Conflict && held(&error) == Patience::Left => {}
                answer => return answer,
            }
            waiting::on(tokio::time::sleep(LOOK)).await;
        }
    }
}

/// Whether somebody holds it. Nothing is taken, and nobody is kept waiting for longer than the look takes.
pub fn is_held(estate: &Path, target: Target<'_>) -> Result<bool, EngineError> {
    let path = target.path(estate)?;
    let failed =
        |error: &std::io::Error| target.error(ErrorKind::Failed, format!("{}: {error}", path.display()));
    let file = match File::open(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        opened => opened.map_err(|error| failed(&error))?,
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(failed(&error)),
    }
}

fn write_holder(file: &mut File, holder: &Holder) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    serde_json::to_writer(&mut *file, holder)?;
    file.write_all(b"\n")
}

/// Whether the file was not removed, by the holder before, between being opened and being locked.
fn is_of_that_name(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(opened), Ok(named)) => (opened.dev(), opened.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// Who holds a lock, as its file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeldBy {
    Known(Holder),
    /// The holder has locked the file, but not yet written itself into it.
    Unknown,
}

impl HeldBy {
    pub fn words(&self) -> String {
        match self {
            HeldBy::Known(Holder {
                pid,
                operation,
                since,
            }) => match operation {
                Some(operation) => {
                    format!("held by operation {operation} (process {pid}), since {since:.0}")
                }
                None => format!("held by process {pid}, since {since:.0}"),
            },
            HeldBy::Unknown => "held by another process".to_owned(),
        }
    }
}

/// Who holds a lock now; nobody takes it by asking.
pub fn held_by(estate: &Path, target: Target<'_>) -> Result<Option<HeldBy>, EngineError> {
    let path = target.path(estate)?;
    match probe(&path) {
        Ok(held) => Ok(held),
        Err(error) => Err(target.error(ErrorKind::Failed, format!("{}: {error}", path.display()))),
    }
}

/// Operations whose lock's file is there although no process holds it: whoever made it was killed.
pub fn left_by_operations(estate: &Path) -> Result<Vec<String>, EngineError> {
    let directory = estate.join(LOCKS).join("operations");
    let failed = |error: std::io::Error| {
        let object = directory.display().to_string();
        EngineError::new(Layer::Estate, ErrorKind::Failed, object, error.to_string())
    };
    let entries = match std::fs::read_dir(&directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut left = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let name = path.file_stem().and_then(|name| name.to_str());
        if let Some(name) = name.filter(|_| path.extension().is_some_and(|end| end == "lock"))
            && probe(&path).map_err(failed)?.is_none()
            // Its holder may have come to its end a moment ago.
            && path.exists()
        {
            left.push(name.to_owned());
        }
    }
    left.sort();
    Ok(left)
}

/// Where the file of an operation's lock is, below the estate.
pub fn operation_file(operation: &str) -> String {
    format!("{LOCKS}/operations/{operation}.lock")
}

fn probe(path: &Path) -> std::io::Result<Option<HeldBy>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    // Shared, so that two who ask do not take each other for a holder; it ends with the file.
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => Ok(Some(read_holder(&mut file))),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn read_holder(file: &mut File) -> HeldBy {
    let mut text = String::new();
    let holder = file
        .read_to_string(&mut text)
        .ok()
        .and_then(|_| serde_json::from_str::<Holder>(&text).ok());
    holder.map_or(HeldBy::Unknown, HeldBy::Known)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAFANA: Target<'_> = Target::Component {
        environment: "production",
        component: "grafana",
    };

    #[test]
    fn a_held_lock_names_its_holder_and_a_dropped_one_is_free() {
        let estate = tempfile::tempdir().unwrap();
        let lock = Lock::try_acquire(estate.path(), GRAFANA, Some("01JCX4")).unwrap();
        let error = Lock::try_acquire(estate.path(), GRAFANA, Some("01JCX5")).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Conflict);
        assert!(
            error.words.starts_with("held by operation 01JCX4 (process "),
            "{error}"
        );
        let other = Target::Component {
            environment: "staging",
            component: "grafana",
        };
        Lock::try_acquire(estate.path(), other, None).unwrap();
        drop(lock);
        Lock::try_acquire(estate.path(), GRAFANA, None).unwrap();
    }

    #[test]
    fn the_file_of_an_operation_goes_with_its_lock_and_stays_where_its_holder_was_killed() {
        let estate = tempfile::tempdir().unwrap();
        let operation = Target::Operation("01JCX4");
        let file = estate.path().join(operation_file("01JCX4"));
        let lock = Lock::try_acquire(estate.path(), operation, Some("01JCX4")).unwrap();
        let held = held_by(estate.path(), operation).unwrap().unwrap();
        assert!(
            matches!(&held, HeldBy::Known(holder) if holder.pid == std::process::id()),
            "{held:?}"
        );
        assert!(left_by_operations(estate.path()).unwrap().is_empty());
        drop(lock);
        assert!(!file.exists());
        assert_eq!(held_by(estate.path(), operation).unwrap(), None);
        std::fs::write(&file, "{}\n").unwrap();
        assert_eq!(left_by_operations(estate.path()).unwrap(), ["01JCX4"]);
        drop(Lock::try_acquire(estate.path(), operation, None).unwrap());
        assert!(left_by_operations(estate.path()).unwrap().is_empty());
    }

    /// With the file going away under those who wait for it, there is still one holder at a time.
    #[test]
    fn a_file_that_goes_lets_no_two_in() {
        use std::sync::atomic::{AtomicU32, Ordering};
        let estate = tempfile::tempdir().unwrap();
        let (inside, taken) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while taken.load(Ordering::SeqCst) < 400 {
                        let Ok(lock) = Lock::try_acquire(estate.path(), Target::Operation("01JCX4"), None)
                        else {
                            continue;
                        };
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        taken.fetch_add(1, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
    }

    #[tokio::test]
    async fn waiting_ends_with_the_holder_or_the_deadline() {
        let estate = tempfile::tempdir().unwrap();
        let lock = Lock::try_acquire(estate.path(), Target::Estate, None).unwrap();
        let begun = Instant::now();
        let short = Duration::from_millis(250);
        let error = Lock::wait(estate.path(), Target::Estate, None, &mut patience(short))
            .await
            .unwrap_err();
        assert_eq!(error.kind, ErrorKind::Conflict);
        assert!(begun.elapsed() >= short);
        let release = async {
            tokio::time::sleep(short).await;
            drop(lock);
        };
        let mut long = patience(Duration::from_secs(30));
        let waiting = Lock::wait(estate.path(), Target::Estate, None, &mut long);
        let (got, ()) = tokio::join!(waiting, release);
        got.unwrap();
    }

    #[test]
    fn a_killed_holder_holds_nothing() {
        let estate = tempfile::tempdir().unwrap();
        let path = GRAFANA.path(estate.path()).unwrap();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        // flock(1) takes the same kind of lock; with -F it becomes the command, which says that it has it.
        let mut holder = std::process::Command::new("flock")
            .arg("-F")
            .arg(&path)
            .args(["sh", "-c", "echo held; exec sleep 60"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = [0; 5];
        holder.stdout.as_mut().unwrap().read_exact(&mut line).unwrap();
        let error = Lock::try_acquire(estate.path(), GRAFANA, None).unwrap_err();
        assert_eq!(
            (error.kind, error.words.as_str()),
            (ErrorKind::Conflict, "held by another process")
        );
        holder.kill().unwrap();
        holder.wait().unwrap();
        Lock::try_acquire(estate.path(), GRAFANA, None).unwrap();
    }

    #[test]
    fn names_cannot_lead_elsewhere() {
        let estate = tempfile::tempdir().unwrap();
        for component in ["", "..", "a/b", ".hidden"] {
            let target = Target::Component {
                environment: "production",
                component,
            };
            assert_eq!(
                Lock::try_acquire(estate.path(), target, None).unwrap_err().kind,
                ErrorKind::Invalid
            );
        }
    }
}
