//! The directory of one engine and version: locked while it is filled, complete when its marker says so.

use std::fs::{File, TryLockError};
use std::future::Future;
use std::path::{Path, PathBuf};

use crate::durable;
use crate::error::{AtPath, Error, Result};
use crate::progress::Running;
use crate::record::Record;
use crate::{Cache, Installed};

/// Written last, after the installed program has run and printed its version: the record of all files.
const COMPLETE: &str = "complete";

pub struct Slot {
    name: &'static str,
    version: &'static str,
    directory: PathBuf,
}

impl Slot {
    pub fn new(cache: &Cache, name: &'static str, version: &'static str) -> Slot {
        Slot {
            name,
            version,
            directory: cache.engines().join(format!("{name}-{version}")),
        }
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub fn is_complete(&self) -> bool {
        self.directory.join(COMPLETE).is_file()
    }

    /// What lies in it, with its program at this path below.
    pub fn installed(&self, program: &str) -> Option<Installed> {
        self.is_complete().then(|| Installed {
            version: self.version.to_owned(),
            path: self.directory.join(program),
        })
    }

    /// Checks it if a program is its own, not one on PATH.
    pub fn check_if_in(&self, program: &Path) -> Result<()> {
        match program.starts_with(&self.directory) {
            true => self.check(),
            false => Ok(()),
        }
    }

    /// Fills the directory, or waits for the one who does. `fill` finds it empty and gives the program's version.
    ///
    /// The lock is the system's: that of a killed installer is gone with it, and what it left is removed here.
    pub async fn fill<F>(&self, step: &Running<'_>, fill: impl FnOnce() -> F) -> Result<()>
    where
        F: Future<Output = Result<String>>,
    {
        let _lock = self.lock(step).await?;
        if self.is_complete() {
            return Ok(());
        }
        durable::remove(&self.directory)?;
        durable::directory(&self.directory, 0o755)?;
        let found = fill().await?;
        if found != self.version {
            let program = self.directory.clone();
            return Err(Error::WrongVersion {
                program,
                expected: self.version.into(),
                found,
            });
        }
        let (name, version, directory) = (self.name, self.version, self.directory.clone());
        let record = tokio::task::spawn_blocking(move || Record::of(name, version, &directory));
        let record = record
            .await
            .map_err(std::io::Error::other)
            .at("read", &self.directory)??;
        durable::write_json(&self.directory.join(COMPLETE), &record, 0o644)
    }

    /// Refuses an engine that somebody changed. One that was installed before there were records passes.
    pub fn check(&self) -> Result<()> {
        match Record::read(&self.directory.join(COMPLETE))? {
            Some(record) => record.compare(&self.directory),
            None => Ok(()),
        }
    }

    async fn lock(&self, step: &Running<'_>) -> Result<File> {
        let path = self
            .directory
            .with_file_name(format!("{}-{}.lock", self.name, self.version));
        if let Some(parent) = path.parent() {
            durable::directory(parent, 0o755)?;
        }
        let file = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .at("open", &path)?;
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => step.note("another eos is installing it; waiting for that one"),
            Err(TryLockError::Error(error)) => return Err(error).at("lock", path),
        }
        let waited = tokio::task::spawn_blocking(move || file.lock().map(|()| file)).await;
        waited.map_err(std::io::Error::other).flatten().at("lock", path)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::progress::tests::Kept;

    fn slot(cache: &Path) -> Slot {
        Slot::new(&Cache::at(cache.into()), "thing", "1.0")
    }

    #[tokio::test]
    async fn two_who_meet_install_once() {
        let cache = tempfile::tempdir().unwrap();
        let (first, second) = (Kept::default(), Kept::default());
        let installed = AtomicU32::new(0);
        let one = |progress| {
            let (slot, installed) = (slot(cache.path()), &installed);
            async move {
                let step = Running::start(progress, "thing", "install", None);
                slot.fill(&step, || async {
                    installed.fetch_add(1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    Ok("1.0".to_owned())
                })
                .await
                .unwrap();
                assert!(slot.is_complete());
                step.done();
            }
        };
        tokio::join!(one(&first), one(&second));
        assert_eq!(installed.load(Ordering::SeqCst), 1);
        assert!(
            second
                .lines()
                .iter()
                .any(|line| line.contains("another eos is installing it"))
        );
    }

    #[tokio::test]
    async fn what_a_killed_install_left_is_removed() {
        let cache = tempfile::tempdir().unwrap();
        let slot = slot(cache.path());
        let half = slot.directory().join("half");
        durable::directory(&half, 0o755).unwrap();
        let progress = Kept::default();
        let step = Running::start(&progress, "thing", "install", None);
        let error = slot
            .fill(&step, || async { Ok("0.9".to_owned()) })
            .await
            .unwrap_err();
        assert!(matches!(error, Error::WrongVersion { .. }), "{error}");
        assert!(!slot.is_complete() && !half.exists());
        slot.fill(&step, || async { Ok("1.0".to_owned()) }).await.unwrap();
        slot.check().unwrap();
    }

    #[tokio::test]
    async fn a_changed_engine_is_refused_and_one_without_a_record_is_not() {
        let cache = tempfile::tempdir().unwrap();
        let slot = slot(cache.path());
        let program = slot.directory().join("program");
        let progress = Kept::default();
        let step = Running::start(&progress, "thing", "install", None);
        slot.fill(&step, || async {
            durable::write(&program, b"right", 0o755)?;
            Ok("1.0".to_owned())
        })
        .await
        .unwrap();
        slot.check().unwrap();
        durable::write(&program, b"wrong", 0o755).unwrap();
        let error = slot.check().unwrap_err().to_string();
        assert!(
            error.ends_with("program is not as Eos installed it with thing 1.0"),
            "{error}"
        );
        durable::write(&slot.directory().join(COMPLETE), b"thing 1.0\n", 0o644).unwrap();
        slot.check().unwrap();
    }
}
