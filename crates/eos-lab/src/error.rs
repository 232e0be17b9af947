//! What can go wrong with the lab, in words a person can act on.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use eos_engine::{EngineError, ErrorKind, Layer, disk};

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{what} is not on PATH")]
    ToolMissing { what: &'static str, hint: &'static str },

    #[error("{what} failed: {words}")]
    Command {
        what: String,
        words: String,
        hint: Option<&'static str>,
    },

    #[error("a process outside this lab uses port {port} of {engine}")]
    PortTaken { engine: String, port: u16 },

    #[error("no free port was found between {from} and {to} on 127.0.0.1")]
    NoPort { from: u16, to: u16 },

    #[error("{engine} ended right after it was started\n{tail}")]
    EngineEnded {
        engine: String,
        log: PathBuf,
        tail: String,
    },

    #[error("{engine} was not ready after {} seconds: {words}", waited.as_secs())]
    NotReady {
        engine: String,
        waited: Duration,
        words: String,
        log: PathBuf,
    },

    #[error("{engine} did not end: {count} of its processes still run")]
    StillThere { engine: String, count: usize },

    #[error("the lab has no engine named {name}")]
    NoSuchEngine { name: String, known: Vec<String> },

    #[error("this lab has the full profile, and cannot go back to solo")]
    StaysFull,

    #[error("these engines are not those of the full profile")]
    NotFull,

    #[error("a lab cannot lose nodes: it has {there}, and you asked for {wanted}")]
    FewerNodes { there: usize, wanted: usize },

    #[error("a lab has at most {most} nodes")]
    TooManyNodes { most: usize },

    #[error("{engine} does not know the lab's token: somebody else has had its first one")]
    TokenTaken { engine: &'static str },

    #[error("Vault is initialised, but {path} with its key is gone")]
    VaultKeyLost { path: PathBuf },

    #[error("the formula of this program has no file {path}")]
    FormulaIncomplete { path: &'static str },

    #[error("the lab has no containers: {why}")]
    NoContainers { why: String },

    #[error("the image cannot be packed: {why}")]
    NoSuchImage { why: String },

    #[error(transparent)]
    Engine(#[from] EngineError),

    #[error(transparent)]
    Install(#[from] eos_install::Error),
}

impl Error {
    /// Whether something else has to be asked for.
    pub fn is_input(&self) -> bool {
        matches!(
            self,
            Error::NoSuchEngine { .. }
                | Error::StaysFull
                | Error::FewerNodes { .. }
                | Error::TooManyNodes { .. }
        )
    }

    /// What to do about it, where that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::ToolMissing { hint, .. } => Some((*hint).into()),
            Error::Command { hint, .. } => hint.map(Into::into),
            Error::StillThere { .. } => None,
            Error::PortTaken { port, .. } => Some(format!(
                "End that process (ss -ltnp 'sport = :{port}' names it), then run eos lab up again"
            )),
            Error::NoPort { .. } => Some("End a program that listens on many ports".into()),
            Error::EngineEnded { log, .. } | Error::NotReady { log, .. } => {
                Some(format!("Its log is {}; eos lab up tries again", log.display()))
            }
            Error::NoSuchEngine { known, .. } => Some(format!("It has {}", known.join(", "))),
            Error::StaysFull | Error::FewerNodes { .. } => {
                Some("eos lab reset removes the lab with all it holds, and eos lab up makes a new one".into())
            }
            Error::NotFull => Some("eos lab install --full installs them".into()),
            Error::TooManyNodes { .. } => None,
            Error::TokenTaken { .. } => {
                Some("eos lab reset removes the lab with all it holds, and eos lab up makes a new one".into())
            }
            Error::VaultKeyLost { .. } => {
                Some("Restore it from a copy; or eos lab reset removes the lab with all it holds".into())
            }
            Error::FormulaIncomplete { .. } => {
                Some("Build the program again from a complete source tree".into())
            }
            Error::NoContainers { .. } => Some(
                "eos lab up --containers, as root, starts a Docker and a registry of the lab's own".into(),
            ),
            Error::NoSuchImage { .. } => Some("eos lab image --help has examples".into()),
            Error::Engine(error) => error.hint.clone(),
            Error::Install(error) => error.hint(),
        }
    }
}

/// Names what was being done to which file.
pub(crate) trait AtPath<T> {
    fn at(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T>;
}

impl<T> AtPath<T> for io::Result<T> {
    fn at(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T> {
        let path = path.into();
        match self {
            Err(error) if disk::is_full(&error) => {
                let object = path.display().to_string();
                Err(disk::full(Layer::Estate, object, &path).into())
            }
            ended => Ok(eos_install::AtPath::at(ended, action, path)?),
        }
    }
}

/// Where nothing being there is an answer too.
pub(crate) trait IfThere<T> {
    fn if_there(self) -> Result<Option<T>>;
}

impl<T> IfThere<T> for std::result::Result<T, EngineError> {
    fn if_there(self) -> Result<Option<T>> {
        match self {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
