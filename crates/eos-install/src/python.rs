//! Virtual environments: a Python that is new enough, and packages of known hashes in a place of their own.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::durable;
use crate::error::{Error, Result};
use crate::progress::Running;
use crate::tool::{self, Run};

const NEEDED: &str = "3.11";
const NAMES: [&str; 4] = ["python3", "python3.13", "python3.12", "python3.11"];
const HINT: &str =
    "Install Python 3.11 or newer with its venv module (Debian: apt install python3 python3-venv)";

/// pip's settings that say where packages come from. The hashes say which they are, so no other setting counts.
const KEPT: [&str; 11] = [
    "cert",
    "client-cert",
    "default-timeout",
    "extra-index-url",
    "find-links",
    "index-url",
    "no-index",
    "proxy",
    "retries",
    "timeout",
    "trusted-host",
];

/// The packages of one environment, each with its version and the hashes of its files: `requirements/lock.py` wrote them.
pub struct Packages {
    /// As a person calls them together.
    pub name: &'static str,
    pub wheels: &'static str,
    pub built: Option<Built>,
}

/// Packages without a wheel.
pub struct Built {
    pub sources: &'static str,
    /// What builds them, as wheels.
    pub tools: &'static str,
}

/// Makes a virtual environment in `directory` and installs packages.
pub async fn environment(directory: &Path, packages: &Packages, step: &Running<'_>) -> Result<()> {
    let python = find().await?;
    let create = Run {
        what: "python3 -m venv",
        program: &python,
        arguments: vec![OsStr::new("-m"), OsStr::new("venv"), directory.as_os_str()],
        directory: None,
        environment: vec![],
        removed: of_python(),
        on_line: &|_| {},
    };
    create.with_patience(step).await?;
    let own_python = directory.join("bin/python");
    let pip = Pip {
        name: packages.name,
        settings: kept(&tool::output(&own_python, &["-m", "pip", "config", "list"]).await?),
        python: own_python,
        directory: directory.to_owned(),
    };
    pip.install("requirements.txt", packages.wheels, &WHEELS, None, step)
        .await?;
    if let Some(Built { sources, tools }) = packages.built {
        let place = directory.join("build-tools");
        let into = ["--target".as_ref(), place.as_os_str()];
        let for_tools: Vec<&OsStr> = WHEELS.iter().map(OsStr::new).chain(into).collect();
        pip.run("build-tools.txt", tools, for_tools, None, step).await?;
        pip.install("sources.txt", sources, &SOURCES, Some(&place), step)
            .await?;
        durable::remove(&place)?;
    }
    Ok(())
}

const WHEELS: [&str; 2] = ["--only-binary", ":all:"];
/// pip would build in an environment of its own, with whatever is newest.
const SOURCES: [&str; 4] = ["--no-binary", ":all:", "--no-build-isolation", "--no-cache-dir"];

/// The pip of an environment, which obeys nobody else.
struct Pip {
    name: &'static str,
    python: PathBuf,
    directory: PathBuf,
    settings: Vec<(String, OsString)>,
}

impl Pip {
    async fn install(
        &self,
        file: &str,
        requirements: &str,
        how: &[&str],
        tools: Option<&Path>,
        step: &Running<'_>,
    ) -> Result<()> {
        let how = how.iter().map(OsStr::new).collect();
        self.run(file, requirements, how, tools, step).await
    }

    /// Installs what a file of requirements lists, which stays beside as a record.
    async fn run(
        &self,
        file: &str,
        requirements: &str,
        how: Vec<&OsStr>,
        tools: Option<&Path>,
        step: &Running<'_>,
    ) -> Result<()> {
        let file = self.directory.join(file);
        durable::write(&file, requirements.as_bytes(), 0o644)?;
        let mut arguments: Vec<&OsStr> = [
            "-m",
            "pip",
            "install",
            "--no-input",
            "--disable-pip-version-check",
            "--progress-bar=off",
            "--require-hashes",
            "--no-deps",
        ]
        .map(OsStr::new)
        .into();
        arguments.extend(how);
        arguments.extend([OsStr::new("--requirement"), file.as_os_str()]);
        let mut environment = vec![
            ("PIP_CONFIG_FILE", OsStr::new("/dev/null")),
            ("PYTHONNOUSERSITE", OsStr::new("1")),
        ];
        environment.extend(
            self.settings
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_os_str())),
        );
        environment.extend(tools.map(|tools| ("PYTHONPATH", tools.as_os_str())));
        let usual = requirements.lines().filter(|line| line.contains("==")).count() as u64;
        let collected = AtomicU64::new(0);
        let what = format!("pip install for {}", self.name);
        let install = Run {
            what: &what,
            program: &self.python,
            arguments,
            directory: None,
            environment,
            removed: of_python(),
            on_line: &|line| {
                if line.starts_with("Collecting ") {
                    step.advance(collected.fetch_add(1, Ordering::Relaxed) + 1, usual, "packages");
                }
            },
        };
        install.with_patience(step).await
    }
}

/// The person's variables of pip and Python. Some of them choose other packages, or another place.
fn of_python() -> Vec<OsString> {
    let is_theirs = |name: &OsString| {
        let name = name.to_string_lossy();
        name.starts_with("PIP_") || matches!(&*name, "PYTHONPATH" | "PYTHONHOME" | "PYTHONUSERBASE")
    };
    env::vars_os().map(|(name, _)| name).filter(is_theirs).collect()
}

/// Of `pip config list` the kept settings, as variables. A variable wins over a file, and one of `install` over `global`.
fn kept(listed: &str) -> Vec<(String, OsString)> {
    let mut settings = BTreeMap::new();
    for section in ["global", "install", ":env:"] {
        for line in listed.lines() {
            let Some((key, value)) = line.split_once('=') else {
                continue;
            };
            let key = key.strip_prefix(section).and_then(|key| key.strip_prefix('.'));
            if let Some(key) = key.filter(|key| KEPT.contains(key)) {
                let name = format!("PIP_{}", key.to_uppercase().replace('-', "_"));
                // As Python shows a text: several values are on lines of their own.
                let value = value.trim_matches(['\'', '"']).replace("\\n", " ");
                settings.insert(name, OsString::from(value.trim()));
            }
        }
    }
    settings.into_iter().collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::tests::Kept;

    #[test]
    fn of_pips_settings_only_the_way_to_packages_counts() {
        let listed = "\
:env:.cert='/env.pem'
:env:.no-deps='0'
global.cert='/file.pem'
global.extra-index-url='\\nhttps://a\\nhttps://b'
global.target='/elsewhere'
install.pre='true'
";
        let found = kept(listed);
        let found: Vec<_> = found
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
            .collect();
        assert_eq!(
            found,
            [
                ("PIP_CERT", "/env.pem"),
                ("PIP_EXTRA_INDEX_URL", "https://a https://b")
            ]
        );
    }

    #[test]
    fn every_package_has_one_version_and_a_hash() {
        for text in [
            include_str!("../requirements/salt.txt"),
            include_str!("../requirements/salt-source.txt"),
            include_str!("../requirements/salt-build.txt"),
            include_str!("../requirements/terraform.txt"),
            include_str!("../requirements/go.txt"),
            include_str!("../requirements/envoy.txt"),
        ] {
            let text = text.replace("\\\n", "");
            assert!(!text.trim().is_empty());
            for line in text.lines() {
                let (name, rest) = line.split_once("==").expect(line);
                assert!(
                    !name.contains(|c: char| c.is_whitespace() || "[;@<>~".contains(c)),
                    "{line}"
                );
                assert!(rest.contains("--hash=sha256:"), "{line}");
            }
        }
    }

    /// A wheel of the right name and version, with another content.
    #[tokio::test]
    async fn a_package_of_another_hash_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let wheels = directory.path().join("wheels");
        let environment = directory.path().join("environment");
        let make = "import sys, zipfile\n\
            with zipfile.ZipFile(sys.argv[1], 'w') as wheel:\n\
            \x20   wheel.writestr('eos_trial.py', '')\n\
            \x20   info = 'eos_trial-1.0.dist-info/'\n\
            \x20   wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: eos-trial\\nVersion: 1.0\\n')\n\
            \x20   wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n\
            \x20   wheel.writestr(info + 'RECORD', '')\n";
        durable::directory(&wheels, 0o755).unwrap();
        let wheel = wheels.join("eos_trial-1.0-py3-none-any.whl");
        tool::output(&find().await.unwrap(), &["-c", make, wheel.to_str().unwrap()])
            .await
            .unwrap();
        let progress = Kept::default();
        let step = Running::start(&progress, "thing", "install", None);
        let python = find().await.unwrap();
        tool::output(&python, &["-m", "venv", environment.to_str().unwrap()])
            .await
            .unwrap();
        let pip = Pip {
            name: "a trial",
            python: environment.join("bin/python"),
            directory: environment.clone(),
            settings: vec![
                ("PIP_NO_INDEX".into(), "1".into()),
                ("PIP_FIND_LINKS".into(), wheels.into()),
            ],
        };
        let wrong = format!("eos-trial==1.0 --hash=sha256:{}\n", "0".repeat(64));
        let error = pip
            .install("r.txt", &wrong, &WHEELS, None, &step)
            .await
            .unwrap_err();
        assert!(error.to_string().contains("Expected sha256 0000"), "{error}");
        assert!(
            error.hint().unwrap().contains("another package registry"),
            "{error}"
        );
        let words = tool::output(&PathBuf::from("sha256sum"), &[wheel.to_str().unwrap()])
            .await
            .unwrap();
        let right = format!(
            "eos-trial==1.0 --hash=sha256:{}\n",
            words.split(' ').next().unwrap()
        );
        pip.install("r.txt", &right, &WHEELS, None, &step).await.unwrap();
    }
}
