//! Salt, with its HTTP API, in a virtual environment.

use std::path::Path;
use std::time::Duration;

use crate::error::Result;
use crate::progress::{Progress, Running};
use crate::python::{Built, Packages};
use crate::slot::Slot;
use crate::{Cache, Installed, python, tool};

const VERSION: &str = "3008.3";
const USUALLY: Duration = Duration::from_secs(60);
/// Neither Salt nor timelib has a wheel for Linux: pip builds both here.
const PACKAGES: Packages = Packages {
    name: "Salt",
    wheels: include_str!("../requirements/salt.txt"),
    built: Some(Built {
        sources: include_str!("../requirements/salt-source.txt"),
        tools: include_str!("../requirements/salt-build.txt"),
    }),
};

/// What is installed already.
pub fn found(cache: &Cache) -> Option<Installed> {
    slot(cache).installed("bin")
}

fn slot(cache: &Cache) -> Slot {
    Slot::new(cache, "salt", VERSION)
}

pub async fn install(cache: &Cache, progress: &dyn Progress) -> Result<Installed> {
    let slot = slot(cache);
    let programs = slot.directory().join("bin");
    if slot.is_complete() {
        slot.check()?;
    } else {
        let step = Running::start(progress, "salt", format!("install Salt {VERSION}"), Some(USUALLY));
        slot.fill(&step, || async {
            python::environment(slot.directory(), &PACKAGES, &step).await?;
            version(&programs).await
        })
        .await?;
        step.done();
    }
    Ok(Installed {
        version: VERSION.into(),
        path: programs,
    })
}

pub async fn version(programs: &Path) -> Result<String> {
    let words = tool::output(&programs.join("salt-master"), &["--version"]).await?;
    Ok(tool::version_in(&words).unwrap_or_default().to_owned())
}
