//! Envoy, the sidecar of Consul's mesh: the one on PATH, else the one that lies inside a Python package.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::durable;
use crate::error::{Error, Result};
use crate::progress::{Progress, Running};
use crate::python::Packages;
use crate::slot::Slot;
use crate::{Cache, Installed, python, tool};

/// The oldest that the package registry has, which is the nearest to those that Consul names as supported.
const VERSION: &str = "1.36.2";
const NEEDED: &str = "1.33";
const PACKAGES: Packages = Packages {
    name: "Envoy",
    wheels: include_str!("../requirements/envoy.txt"),
    built: None,
};
const USUALLY: Duration = Duration::from_secs(15);

/// What is installed already.
pub async fn found(cache: &Cache) -> Option<Installed> {
    if let Some(path) = tool::on_path("envoy") {
        // One that does not run, or does not say its version, is none.
        let version = version(&path).await.unwrap_or_default();
        if tool::is_at_least(&version, NEEDED) {
            return Some(Installed { version, path });
        }
    }
    slot(cache).installed("envoy")
}

fn slot(cache: &Cache) -> Slot {
    Slot::new(cache, "envoy", VERSION)
}

pub async fn install(cache: &Cache, progress: &dyn Progress) -> Result<Installed> {
    let slot = slot(cache);
    if let Some(found) = found(cache).await {
        slot.check_if_in(&found.path)?;
        return Ok(found);
    }
    let program = slot.directory().join("envoy");
    let what = format!("install Envoy {VERSION}");
    let step = Running::start(progress, "envoy", what, Some(USUALLY));
    slot.fill(&step, || async {
        let environment = slot.directory().join("venv");
        python::environment(&environment, &PACKAGES, &step).await?;
        // The program itself: the package's own command would start Python first.
        durable::link(&packed(&environment)?, &program)?;
        version(&program).await
    })
    .await?;
    step.done();
    Ok(Installed {
        version: VERSION.into(),
        path: program,
    })
}

/// Where the package keeps it, whichever Python made the environment.
fn packed(environment: &Path) -> Result<PathBuf> {
    let library = environment.join("lib");
    let pythons = std::fs::read_dir(&library).into_iter().flatten().flatten();
    pythons
        .map(|python| python.path().join("site-packages/envoy/_bin/envoy"))
        .find(|program| program.exists())
        .ok_or(Error::Command {
            what: format!("installing Envoy {VERSION}"),
            words: format!("there is no program of Envoy below {}", library.display()),
            hint: None,
        })
}

/// `envoy  version: <commit>/1.36.2/Clean/RELEASE/BoringSSL`
pub async fn version(program: &Path) -> Result<String> {
    let words = tool::output(program, &["--version"]).await?;
    let build = words.rsplit("version: ").next().unwrap_or_default();
    Ok(build.split('/').nth(1).unwrap_or_default().to_owned())
}
