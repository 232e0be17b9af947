//! Virtual environments: a Python that is new enough, and packages of pinned versions in a place of their own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::progress::Running;
use crate::tool::{self, Run};

const NEEDED: &str = "3.11";
const NAMES: [&str; 4] = ["python3", "python3.13", "python3.12", "python3.11"];
const HINT: &str =
    "Install Python 3.11 or newer with its venv module (Debian: apt install python3 python3-venv)";

/// Makes a virtual environment in `directory` and installs packages; `usual` is how many that comes to.
pub async fn environment(directory: &Path, packages: &[&str], usual: u64, step: &Running<'_>) -> Result<()> {
    let python = find().await?;
    let create = Run {
        what: "python3 -m venv",
        program: &python,
        arguments: vec![OsStr::new("-m"), OsStr::new("venv"), directory.as_os_str()],
        directory: None,
        environment: vec![],
        on_line: &|_| {},
    };
    create.with_patience(step).await?;
    let own_python = directory.join("bin/python");
    let collected = AtomicU64::new(0);
    let mut arguments: Vec<&OsStr> = [
        "-m",
        "pip",
        "install",
        "--no-input",
        "--disable-pip-version-check",
        "--progress-bar=off",
    ]
    .map(OsStr::new)
    .into();
    arguments.extend(packages.iter().map(OsStr::new));
    let what = format!("pip install {}", packages.join(" "));
    let install = Run {
        what: &what,
        program: &own_python,
        arguments,
        directory: None,
        // A pip of the person's own may be told to install elsewhere, or only into virtual environments.
        environment: vec![
            ("PIP_USER", OsStr::new("0")),
            ("PYTHONNOUSERSITE", OsStr::new("1")),
        ],
        on_line: &|line| {
            if line.starts_with("Collecting ") {
                step.advance(collected.fetch_add(1, Ordering::Relaxed) + 1, usual, "packages");
            }
        },
    };
    install.with_patience(step).await
}

/// A Python that can make virtual environments.
pub async fn find() -> Result<PathBuf> {
    let mut too_old = None;
    for python in NAMES.into_iter().filter_map(tool::on_path) {
        let words = tool::output(
            &python,
            &["-c", "import platform; print(platform.python_version())"],
        )
        .await?;
        let found = tool::version_in(&words).unwrap_or_default().to_owned();
        if !tool::is_at_least(&found, NEEDED) {
            too_old.get_or_insert(Error::ToolTooOld {
                program: python,
                found,
                needed: NEEDED,
                hint: HINT,
            });
        } else if tool::output(&python, &["-c", "import ensurepip, venv"])
            .await
            .is_err()
        {
            return Err(Error::ToolMissing {
                what: "the venv module of python3",
                hint: HINT,
            });
        } else {
            return Ok(python);
        }
    }
    Err(too_old.unwrap_or(Error::ToolMissing {
        what: "python3",
        hint: HINT,
    }))
}
