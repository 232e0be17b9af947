//! Nomad: the one on PATH, else built from the source that Go's module proxy serves.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::durable;
use crate::error::{AtPath, Error, Result};
use crate::install::slot::Slot;
use crate::install::tool::{self, Run};
use crate::install::{Cache, Installed, go};
use crate::progress::{Progress, Running};

/// Since then it knows dynamic host volumes.
const NEEDED: &str = "1.10";
const VERSION: &str = "1.11.2";
const MODULE: &str = "github.com/hashicorp/nomad@v1.11.2";
/// The module nested in it, of the same commit: the source names it by a path that its own archive lacks.
const API_MODULE: &str = "github.com/hashicorp/nomad/api@v0.0.0-20260211190147-f876384fe3ab";
const LINK: &str = "-s -w -X github.com/hashicorp/nomad/version.GitCommit=f876384fe3ab";
/// What its go.mod asks for.
const GO_NEEDED: &str = "1.25.5";
const PACKAGES: u64 = 1650;
/// On two cores.
const USUALLY: Duration = Duration::from_secs(6 * 60);
const DISK_GIB: u64 = 10;

pub async fn install(cache: &Cache, progress: &dyn Progress) -> Result<Installed> {
    if let Some(path) = tool::on_path("nomad") {
        // One that does not run, or does not say its version, is none.
        let version = version(&path).await.unwrap_or_default();
        if tool::is_at_least(&version, NEEDED) {
            return Ok(Installed { version, path });
        }
    }
    let slot = Slot::new(cache, "nomad", VERSION);
    let program = slot.directory().join("nomad");
    if !slot.is_complete() {
        let what = format!("build Nomad {VERSION} from source");
        let step = Running::start(progress, "nomad", what, Some(USUALLY));
        slot.fill(&step, || async {
            build(cache, &slot.directory().join("source"), &program, progress, &step).await?;
            version(&program).await
        })
        .await?;
        step.done();
    }
    Ok(Installed {
        version: VERSION.into(),
        path: program,
    })
}

pub async fn version(program: &Path) -> Result<String> {
    let words = tool::output(program, &["version"]).await?;
    Ok(tool::version_in(&words).unwrap_or_default().to_owned())
}

/// What Go fetched and compiled outlives a build that was killed, so that the next one goes on from there.
async fn build(
    cache: &Cache,
    source: &Path,
    program: &Path,
    progress: &dyn Progress,
    step: &Running<'_>,
) -> Result<()> {
    let go_directory = cache.go();
    durable::directory(&go_directory, 0o755)?;
    check_disk(&go_directory)?;
    let compiler = "a C compiler (cc)";
    let hint =
        "Nomad is built with it (Debian: apt install gcc libc6-dev), or put nomad 1.10 or newer on PATH";
    tool::on_path("cc")
        .or_else(|| tool::on_path("gcc"))
        .ok_or(Error::ToolMissing { what: compiler, hint })?;

    let go = Go {
        program: go::install(cache, GO_NEEDED, progress).await?,
        directory: go_directory,
    };
    copy_tree(&go.download(MODULE, step).await?, source)?;
    copy_tree(&go.download(API_MODULE, step).await?, &source.join("api"))?;

    let compiled = AtomicU64::new(0);
    let arguments = [
        "build",
        "-v",
        "-trimpath",
        "-tags",
        "codegen_generated hashicorpmetrics",
        "-ldflags",
        LINK,
        "-o",
    ];
    let mut arguments: Vec<&OsStr> = arguments.map(OsStr::new).into();
    arguments.extend([program.as_os_str(), OsStr::new(".")]);
    let on_line = |line: &str| {
        if !line.starts_with("go: ") {
            step.advance(compiled.fetch_add(1, Ordering::Relaxed) + 1, PACKAGES, "packages");
        }
    };
    go.run("go build of Nomad", arguments, Some(source), &on_line, step)
        .await?;
    durable::remove(source)?;
    durable::remove(&go.directory)
}

fn check_disk(path: &Path) -> Result<()> {
    let found = rustix::fs::statvfs(path)
        .map_err(std::io::Error::from)
        .at("measure", path)?;
    let free_gib = (found.f_bavail * found.f_frsize) >> 30;
    if free_gib < DISK_GIB {
        let what = "building Nomad";
        return Err(Error::DiskFull {
            what,
            path: path.into(),
            free_gib,
            needed_gib: DISK_GIB,
        });
    }
    Ok(())
}

/// Go, with its caches in a place that can be removed again.
struct Go {
    program: PathBuf,
    directory: PathBuf,
}

impl Go {
    /// Fetches a module and gives the directory in which its source lies.
    async fn download(&self, module: &str, step: &Running<'_>) -> Result<PathBuf> {
        let printed = Mutex::new(String::new());
        let on_line = |line: &str| {
            if let Ok(mut printed) = printed.lock() {
                printed.push_str(line);
                printed.push('\n');
            }
        };
        let arguments = ["mod", "download", "-json", module].map(OsStr::new).into();
        let what = format!("go mod download {module}");
        // Outside of every module: one of the person's own would change what is fetched.
        let done = self
            .run(&what, arguments, Some(&self.directory), &on_line, step)
            .await;
        let printed = printed.into_inner().unwrap_or_default();
        done?;
        let directory = serde_json::Deserializer::from_str(&printed)
            .into_iter::<serde_json::Value>()
            .filter_map(|value| value.ok()?.get("Dir")?.as_str().map(PathBuf::from))
            .last();
        directory.ok_or_else(|| Error::Command {
            what,
            words: "it names no directory".into(),
            hint: None,
        })
    }

    async fn run(
        &self,
        what: &str,
        arguments: Vec<&OsStr>,
        directory: Option<&Path>,
        on_line: &(dyn Fn(&str) + Sync),
        step: &Running<'_>,
    ) -> Result<()> {
        let (modules, built) = (self.directory.join("mod"), self.directory.join("build"));
        let environment = vec![
            ("GOMODCACHE", modules.as_os_str()),
            ("GOCACHE", built.as_os_str()),
            ("GOPATH", self.directory.as_os_str()),
            ("GOFLAGS", OsStr::new("-modcacherw")),
            ("GOWORK", OsStr::new("off")),
            ("GOTOOLCHAIN", OsStr::new("local")),
            ("CGO_ENABLED", OsStr::new("1")),
        ];
        Run {
            what,
            program: &self.program,
            arguments,
            directory,
            environment,
            on_line,
        }
        .with_patience(step)
        .await
    }
}

/// Copies a source tree; Go's cache is read-only, the copy is not.
fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    durable::directory(to, 0o755)?;
    for entry in fs::read_dir(from).at("read", from)? {
        let entry = entry.at("read", from)?;
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().at("read", &path)?.is_dir() {
            copy_tree(&path, &copy)?;
        } else {
            fs::copy(&path, &copy).at("copy", &path)?;
            fs::set_permissions(&copy, fs::Permissions::from_mode(0o644)).at("set the mode of", &copy)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copied_tree_can_be_written_and_removed() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        fs::create_dir_all(from.join("inner")).unwrap();
        fs::write(from.join("inner/file.go"), "package x").unwrap();
        fs::set_permissions(from.join("inner/file.go"), fs::Permissions::from_mode(0o444)).unwrap();
        copy_tree(&from, &to).unwrap();
        fs::write(to.join("inner/file.go"), "package y").unwrap();
        durable::remove(&to).unwrap();
        assert!(!to.exists() && from.exists());
    }
}
