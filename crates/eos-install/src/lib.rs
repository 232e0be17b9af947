//! The engines of the lab, installed once per user: which versions, from where, and how they are found again.
//! Everything installed lies in `<cache>/engines/`. This crate has few dependencies, so that it compiles first.

mod consul;
pub mod durable;
mod envoy;
mod error;
mod go;
pub mod go_build;
mod hcloud;
mod nomad;
pub mod progress;
pub mod python;
mod record;
mod salt;
mod slot;
mod terraform;
mod tofu;
pub mod tool;
mod vault;

use std::env;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use crate::error::{AtPath, Error, Result};
pub use crate::progress::{Advance, Outcome, Progress, Step};

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

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn engines(&self) -> PathBuf {
        self.directory.join("engines")
    }

    /// What Go downloads and compiles on the way to engines; removed when they are built.
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

/// Vault comes with plugins of its own, programs that it runs itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstalledVault {
    pub version: String,
    pub path: PathBuf,
    /// The directory with its secrets engines `nomad` and `consul`.
    pub plugins: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engines {
    pub salt: Installed,
    pub terraform: Installed,
    pub nomad: Installed,
    /// Of the full profile only, as is Vault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consul: Option<Installed>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vault: Option<InstalledVault>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub envoy: Option<Installed>,
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
                version: tool::version(nomad).await?,
                path: nomad.into(),
            },
            consul: None,
            vault: None,
            envoy: None,
        })
    }

    /// The same with those of the full profile: two programs, and the directory of Vault's plugins.
    pub async fn and_given(self, consul: &Path, vault: &Path, plugins: &Path) -> Result<Engines> {
        Ok(Engines {
            consul: Some(Installed {
                version: tool::version(consul).await?,
                path: consul.into(),
            }),
            vault: Some(InstalledVault {
                version: tool::version(vault).await?,
                path: vault.into(),
                plugins: plugins.into(),
            }),
            ..self
        })
    }
}

/// Which engines are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted {
    /// Those of the full profile.
    pub full: bool,
    /// OpenTofu in place of Terraform.
    pub tofu: bool,
}

/// Finds every engine that is wanted, and installs what is missing. What is installed already costs a look each.
pub async fn install(cache: &Cache, wanted: Wanted, progress: &dyn Progress) -> Result<Engines> {
    let Wanted { full, tofu } = wanted;
    let sidecar = async {
        match full {
            false => Ok(None),
            true => envoy::install(cache, progress).await.map(Some),
        }
    };
    let (salt, terraform, envoy, (nomad, consul, vault)) = tokio::try_join!(
        salt::install(cache, progress),
        async {
            match tofu {
                true => tofu::install(cache, progress).await,
                false => terraform::install(cache, progress).await,
            }
        },
        sidecar,
        build(cache, full, progress),
    )?;
    go_build::remove_caches(cache)?;
    Ok(Engines {
        salt,
        terraform,
        nomad,
        consul,
        vault,
        envoy,
    })
}

/// The provider of Hetzner Cloud. Nobody gets it without asking: `install` leaves it out.
pub async fn install_hcloud(cache: &Cache, progress: &dyn Progress) -> Result<Installed> {
    hcloud::install(cache, progress).await
}

/// The wanted engines that are installed already, and the names of those that are not. Nothing is installed.
pub async fn look(cache: &Cache, wanted: Wanted) -> (Vec<(&'static str, Installed)>, Vec<&'static str>) {
    let of_full = async {
        match wanted.full {
            false => Vec::new(),
            true => {
                let (consul, vault, envoy) =
                    tokio::join!(consul::found(cache), vault::found(cache), envoy::found(cache));
                vec![("consul", consul), ("vault", vault), ("envoy", envoy)]
            }
        }
    };
    let terraform = async {
        match wanted.tofu {
            true => ("tofu", tofu::found(cache).await),
            false => ("terraform", terraform::found(cache).await),
        }
    };
    let (terraform, nomad, of_full) = tokio::join!(terraform, nomad::found(cache), of_full);
    let of_both = [("salt", salt::found(cache)), terraform, ("nomad", nomad)];
    let (mut here, mut missing) = (Vec::new(), Vec::new());
    for (name, found) in of_both.into_iter().chain(of_full) {
        match found {
            Some(found) => here.push((name, found)),
            None => missing.push(name),
        }
    }
    (here, missing)
}

/// One after the other, since each takes all processors and what was compiled for one serves the next.
async fn build(
    cache: &Cache,
    full: bool,
    progress: &dyn Progress,
) -> Result<(Installed, Option<Installed>, Option<InstalledVault>)> {
    let nomad = nomad::install(cache, progress).await?;
    let (consul, vault) = match full {
        false => (None, None),
        true => (
            Some(consul::install(cache, progress).await?),
            Some(vault::install(cache, progress).await?),
        ),
    };
    Ok((nomad, consul, vault))
}
