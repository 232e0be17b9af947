//! The Go toolchain: the one on PATH if it is new enough, else the one that lies inside a Python package.

use std::path::PathBuf;
use std::time::Duration;

use crate::error::Result;
use crate::progress::{Progress, Running};
use crate::python::Packages;
use crate::slot::Slot;
use crate::{Cache, python, tool};

const VERSION: &str = "1.26.6";
const PACKAGES: Packages = Packages {
    name: "Go",
    wheels: include_str!("../requirements/go.txt"),
    built: None,
};
const USUALLY: Duration = Duration::from_secs(30);

pub async fn install(cache: &Cache, needed: &str, progress: &dyn Progress) -> Result<PathBuf> {
    if let Some(path) = tool::on_path("go") {
        let words = tool::output(&path, &["version"]).await.unwrap_or_default();
        if tool::version_in(&words).is_some_and(|version| tool::is_at_least(version, needed)) {
            return Ok(path);
        }
    }
    let slot = Slot::new(cache, "go", VERSION);
    let program = slot.directory().join("bin/go");
    if slot.is_complete() {
        slot.check()?;
    } else {
        let step = Running::start(progress, "go", format!("install Go {VERSION}"), Some(USUALLY));
        slot.fill(&step, || async {
            python::environment(slot.directory(), &PACKAGES, &step).await?;
            let words = tool::output(&program, &["version"]).await?;
            Ok(tool::version_in(&words).unwrap_or_default().to_owned())
        })
        .await?;
        step.done();
    }
    Ok(program)
}
