//! Vault with two of its secrets engines as plugins: Vault the one on PATH, else built from source; the plugins
//! built in any case, since the small Vault has them not, and no archive brings them.

use std::path::PathBuf;
use std::time::Duration;

use crate::durable;
use crate::error::Result;
use crate::go_build::{GoBuild, Nested};
use crate::progress::{Progress, Running};
use crate::slot::Slot;
use crate::{Cache, Installed, InstalledVault, tool};

/// Since then the plugins of this version speak its language.
const NEEDED: &str = "1.16";
const VERSION: &str = "1.21.2";
const BUILD: GoBuild = GoBuild {
    name: "Vault",
    module: "github.com/hashicorp/vault@v1.21.2",
    sum: "h1:t6/vAAhgGvKukkIAQBUPenvfLiJ5oUm8CmOMa6tgUYQ=",
    unlisted: false,
    nested: Nested::Released(""),
    go_needed: "1.25.3",
    // Without the engines and storages of half the world.
    tags: "minimal",
    link: "-s -w",
    c_hint: None,
    packages: 750,
};
/// On two cores, with what was compiled for Nomad and Consul.
const USUALLY: Duration = Duration::from_secs(5 * 60);

/// What is installed already, with its plugins.
pub async fn found(cache: &Cache) -> Option<Installed> {
    let on_path = tool::installed("vault", NEEDED).await;
    let own = slot(cache, on_path.as_ref()).installed("vault")?;
    Some(on_path.unwrap_or(own))
}

/// Beside a Vault on PATH there are only the plugins.
fn slot(cache: &Cache, on_path: Option<&Installed>) -> Slot {
    let name = match on_path {
        Some(_) => "vault-plugins",
        None => "vault",
    };
    Slot::new(cache, name, VERSION)
}

pub async fn install(cache: &Cache, progress: &dyn Progress) -> Result<InstalledVault> {
    let found = tool::installed("vault", NEEDED).await;
    let what = match found {
        Some(_) => "plugins of Vault",
        None => "Vault",
    };
    let slot = slot(cache, found.as_ref());
    let plugins = slot.directory().join("plugins");
    let own = slot.directory().join("vault");
    if slot.is_complete() {
        slot.check()?;
    } else {
        let what = format!("build {what} {VERSION} from source");
        let step = Running::start(progress, "vault", what, Some(USUALLY));
        slot.fill(&step, || async {
            durable::directory(&plugins, 0o755)?;
            let mut programs: Vec<(&str, PathBuf)> = vec![
                ("./builtin/logical/nomad/cmd/nomad", plugins.join("nomad")),
                ("./builtin/logical/consul/cmd/consul", plugins.join("consul")),
            ];
            if found.is_none() {
                programs.insert(0, (".", own.clone()));
            }
            BUILD.run(cache, &programs, progress, &step).await?;
            match found {
                // Plugins do not say their version: nobody but Vault can run them.
                Some(_) => Ok(VERSION.into()),
                None => tool::version(&own).await,
            }
        })
        .await?;
        step.done();
    }
    let (version, path) = found.map_or((VERSION.into(), own), |found| (found.version, found.path));
    Ok(InstalledVault {
        version,
        path,
        plugins,
    })
}
