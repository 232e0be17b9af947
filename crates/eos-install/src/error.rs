//! What can go wrong with an install, in words a person can act on.

use std::io;
use std::path::PathBuf;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot {action} {path}: {source}")]
    File {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },

    #[error("{path} cannot be read as {meaning}: {words}")]
    Unreadable {
        path: PathBuf,
        meaning: &'static str,
        words: String,
    },

    #[error("no directory for installed engines: neither XDG_CACHE_HOME nor HOME is set")]
    NoCache,

    #[error("{what} is not on PATH")]
    ToolMissing { what: &'static str, hint: &'static str },

    #[error("{program} {found} is too old: {needed} or newer is needed")]
    ToolTooOld {
        program: PathBuf,
        found: String,
        needed: &'static str,
        hint: &'static str,
    },

    #[error("only {free_gib} GiB are free at {path}: {what} needs {needed_gib} GiB")]
    DiskFull {
        what: String,
        path: PathBuf,
        free_gib: u64,
        needed_gib: u64,
    },

    #[error("{what} failed: {words}")]
    Command {
        what: String,
        words: String,
        hint: Option<&'static str>,
    },

    #[error("{path} is not as Eos installed it with {engine}")]
    Changed {
        engine: String,
        path: PathBuf,
        directory: PathBuf,
    },

    #[error("{program} reports version {found}, but Eos installed {expected}")]
    WrongVersion {
        program: PathBuf,
        expected: String,
        found: String,
    },
}

impl Error {
    /// What to do about it, where that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::File { action, source, .. }
                if *action != "run" && source.kind() == io::ErrorKind::PermissionDenied =>
            {
                Some("The lab belongs to the user who started it first; run eos as that user".into())
            }
            Error::File { .. } => None,
            Error::Unreadable { .. } => {
                Some("eos lab reset removes the lab, and eos lab up makes a new one".into())
            }
            Error::NoCache => Some("Set HOME, or XDG_CACHE_HOME to a directory of your own".into()),
            Error::ToolMissing { hint, .. } | Error::ToolTooOld { hint, .. } => Some((*hint).into()),
            Error::DiskFull { .. } => {
                Some("Free some space, or set XDG_CACHE_HOME to a directory on a larger disk".into())
            }
            Error::Command { hint, .. } => hint.map(Into::into),
            Error::Changed { directory, .. } => Some(format!(
                "Ask who changed it; `rm -r {}` and `eos lab install` install it again",
                directory.display()
            )),
            Error::WrongVersion { .. } => Some("Remove its directory and run eos lab up again".into()),
        }
    }
}

/// Names what was being done to which file.
pub trait AtPath<T> {
    fn at(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T>;
}

impl<T> AtPath<T> for io::Result<T> {
    fn at(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T> {
        self.map_err(|source| Error::File {
            action,
            path: path.into(),
            source,
        })
    }
}
