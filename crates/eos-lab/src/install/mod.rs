//! The engines of the lab, installed once per user: which versions, from where, and how they are found again.

mod go;
mod nomad;
mod python;
mod salt;
mod slot;
mod terraform;
mod tool;

use std::env;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::progress::Progress;

/// Where installed engines lie: one directory for each name and version.
#[derive(Debug, Clone)]
pub struct Cache {
    directory: PathBuf,
}

impl Cache {
    /// `${XDG_CACHE_HOME:-~/.cache}/eos`.
    pub fn of_user() -> Result<Cache> {
        let base = match absolute("XDG_CACHE_HOME") {
            Some(cache) => cache,
            None => absolute("HOME").ok_or(Error::NoCache)?.join(".cache"),
        };
        Ok(Cache {
            directory: base.join("eos"),
        })
    }

    pub fn at(directory: PathBuf) -> Cache {
        Cache { directory }
    }

    fn engines(&self) -> PathBuf {
        self.directory.join("engines")
    }

    /// What Go downloads and compiles on the way to an engine; removed when it is built.
    fn go(&self) -> PathBuf {
        self.directory.join("go")
    }
}

/// As the convention for such directories wants it, a relative path counts as none.
fn absolute(name: &str) -> Option<PathBuf> {
    env::var_os(name)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}

/// One engine as it is installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    pub version: String,
    /// Its program; for Salt the directory in which `salt-master`, `salt-api`, `salt-minion` and `python` are.
    pub path: PathBuf,
}

/// All engines of the solo profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engines {
    pub salt: Installed,
    pub terraform: Installed,
    pub nomad: Installed,
}

impl Engines {
    /// Engines that somebody else installed: a virtual environment with Salt in it, and two programs.
    pub async fn given(salt: &Path, terraform: &Path, nomad: &Path) -> Result<Engines> {
        let salt = salt.join("bin");
        Ok(Engines {
            salt: Installed {
                version: salt::version(&salt).await?,
                path: salt,
            },
            terraform: Installed {
                version: terraform::version(terraform).await?,
                path: terraform.into(),
            },
            nomad: Installed {
                version: nomad::version(nomad).await?,
                path: nomad.into(),
            },
        })
    }
}

/// Finds every engine, and installs what is missing. What is installed already costs a look each.
pub async fn install(cache: &Cache, progress: &dyn Progress) -> Result<Engines> {
    let (salt, terraform, nomad) = tokio::try_join!(
        salt::install(cache, progress),
        terraform::install(cache, progress),
        nomad::install(cache, progress),
    )?;
    Ok(Engines {
        salt,
        terraform,
        nomad,
    })
}
