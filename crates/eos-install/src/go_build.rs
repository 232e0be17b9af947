//! Programs built from the source that Go's module proxy serves, with caches that are removed when all are built.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::durable;
use crate::error::{AtPath, Error, Result};
use crate::progress::{Progress, Running};
use crate::tool::{self, Run};
use crate::{Cache, go};

/// What Go fetches and compiles on the way.
pub const DISK_GIB: u64 = 10;

/// From this much memory on, Go's compiler collects garbage more rarely.
const AMPLE_MEMORY_GIB: u64 = 8;
/// In percent of what is in use. A cold build then takes some 6 % less processor time.
const RARE_COLLECTION: &str = "400";

/// What is built, and how.
pub struct GoBuild {
    /// As a person calls it.
    pub name: &'static str,
    /// With its version.
    pub module: &'static str,
    /// The checksum of its source, as in go.sum; the go.sum inside holds those of all that it needs.
    pub sum: &'static str,
    /// Go's database of checksums does not know it: the checksum above alone decides.
    pub unlisted: bool,
    pub nested: Nested,
    /// What its go.mod asks for.
    pub go_needed: &'static str,
    pub tags: &'static str,
    /// Flags of the linker.
    pub link: &'static str,
    /// With whom that needs a C compiler: what to do where there is none.
    pub c_hint: Option<&'static str>,
    /// How many packages that usually comes to.
    pub packages: u64,
}

/// Modules that lie inside of another one: its go.mod names them by a path that its own archive lacks.
pub enum Nested {
    None,
    /// Fetched and laid into the source: module with version, its checksum, and its directory.
    Added(&'static str, &'static str, &'static str),
    /// Released under the versions that go.mod asks for as well, so that the paths can be forgotten. With them come
    /// the checksums, as lines of go.sum, of those that Go's own database does not know.
    Released(&'static str),
}

impl GoBuild {
    /// Builds programs of one source: pairs of a package and the file to be made. What Go fetched and compiled
    /// outlives a build that was killed, so that the next one goes on from there.
    pub async fn run(
        &self,
        cache: &Cache,
        programs: &[(&str, PathBuf)],
        progress: &dyn Progress,
        step: &Running<'_>,
    ) -> Result<()> {
        let directory = cache.go();
        let lock = open_lock(cache)?;
        lock.lock_shared().at("lock", lock_path(cache))?;
        // Not before: who is done removes it, unless somebody holds the lock.
        durable::directory(&directory, 0o755)?;
        check_disk(self.name, &directory)?;
        if let Some(hint) = self.c_hint {
            let what = "a C compiler (cc)";
            tool::on_path("cc")
                .or_else(|| tool::on_path("gcc"))
                .ok_or(Error::ToolMissing { what, hint })?;
        }
        let go = Go {
            program: go::install(cache, self.go_needed, progress).await?,
            source: directory.join(format!("source-{}", self.name)),
            directory,
            has_c: self.c_hint.is_some(),
            edits: matches!(self.nested, Nested::Released(_)),
        };
        durable::remove(&go.source)?;
        let unlisted = self.unlisted.then_some(self.module);
        copy_tree(
            &go.download(self.module, self.sum, unlisted, step).await?,
            &go.source,
        )?;
        match self.nested {
            Nested::None => {}
            Nested::Added(module, sum, place) => {
                copy_tree(
                    &go.download(module, sum, None, step).await?,
                    &go.source.join(place),
                )?;
            }
            Nested::Released(sums) => {
                edit(&go.source.join("go.mod"), without_paths)?;
                edit(&go.source.join("go.sum"), |text| format!("{text}{sums}"))?;
            }
        }
        let compiled = AtomicU64::new(0);
        let on_line = |line: &str| {
            if !line.starts_with("go: ") {
                let done = compiled.fetch_add(1, Ordering::Relaxed) + 1;
                step.advance(done, self.packages, "packages");
            }
        };
        for (package, program) in programs {
            let arguments = [
                "build",
                "-v",
                "-trimpath",
                // The cache may lie in somebody's repository, whose state is not that of the engine.
                "-buildvcs=false",
                // The linker drops what the compiler would write for debuggers.
                "-gcflags=all=-dwarf=false",
                "-tags",
                self.tags,
                "-ldflags",
                self.link,
                "-o",
            ];
            let mut arguments: Vec<&OsStr> = arguments.map(OsStr::new).into();
            arguments.extend([program.as_os_str(), OsStr::new(package)]);
            let what = format!("go build of {}", self.name);
            go.run(&what, arguments, &go.source, None, &on_line, step).await?;
        }
        durable::remove(&go.source)
    }
}

/// Removes what Go fetched and compiled, unless somebody else builds just now, who will come here too.
pub fn remove_caches(cache: &Cache) -> Result<()> {
    if !cache.go().exists() {
        return Ok(());
    }
    let lock = open_lock(cache)?;
    match lock.try_lock() {
        Ok(()) => durable::remove(&cache.go()),
        Err(TryLockError::WouldBlock) => Ok(()),
        Err(TryLockError::Error(error)) => Err(error).at("lock", lock_path(cache)),
    }
}

fn lock_path(cache: &Cache) -> PathBuf {
    cache.go().with_extension("lock")
}

fn open_lock(cache: &Cache) -> Result<File> {
    let path = lock_path(cache);
    File::options()
        .create(true)
        .append(true)
        .open(&path)
        .at("open", path)
}

/// How much of the disk that holds a path is free.
pub fn free_gib(path: &Path) -> Result<u64> {
    let found = rustix::fs::statvfs(path)
        .map_err(std::io::Error::from)
        .at("measure", path)?;
    Ok((found.f_bavail * found.f_frsize) >> 30)
}

fn memory_gib() -> u64 {
    let found = rustix::system::sysinfo();
    (u64::from(found.mem_unit) * found.totalram) >> 30
}

fn check_disk(name: &str, path: &Path) -> Result<()> {
    let free_gib = free_gib(path)?;
    if free_gib < DISK_GIB {
        return Err(Error::DiskFull {
            what: format!("building {name}"),
            path: path.into(),
            free_gib,
            needed_gib: DISK_GIB,
        });
    }
    Ok(())
}

/// Variables with which Go would check less.
const UNCHECKED: [&str; 6] = [
    "GOSUMDB",
    "GONOSUMDB",
    "GONOSUMCHECK",
    "GOPRIVATE",
    "GONOPROXY",
    "GOINSECURE",
];

/// The directory of the one module that Go has fetched, if its source has this checksum.
fn source_in(printed: &str, sum: &str) -> std::result::Result<PathBuf, String> {
    let fetched: serde_json::Value = serde_json::from_str(printed).map_err(|error| error.to_string())?;
    match (fetched["Sum"].as_str(), fetched["Dir"].as_str()) {
        (Some(found), _) if found != sum => Err(format!("its checksum is {found}, not {sum}")),
        (Some(_), Some(directory)) => Ok(directory.into()),
        _ => Err("it names no checksum or no directory".into()),
    }
}

/// Go, with its caches in a place that can be removed again.
struct Go {
    program: PathBuf,
    directory: PathBuf,
    source: PathBuf,
    has_c: bool,
    /// Whether go.mod was edited, so that Go has to complete it.
    edits: bool,
}

impl Go {
    /// Fetches a module and gives the directory in which its source lies.
    async fn download(
        &self,
        module: &str,
        sum: &str,
        unlisted: Option<&str>,
        step: &Running<'_>,
    ) -> Result<PathBuf> {
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
        let unlisted = unlisted.and_then(|module| module.split('@').next());
        let done = self
            .run(&what, arguments, &self.directory, unlisted, &on_line, step)
            .await;
        let printed = printed.into_inner().unwrap_or_default();
        done?;
        source_in(&printed, sum).map_err(|words| Error::Command {
            what,
            words,
            hint: Some("The source is not the one that Eos was tested with; use another module proxy"),
        })
    }

    async fn run(
        &self,
        what: &str,
        arguments: Vec<&OsStr>,
        directory: &Path,
        unlisted: Option<&str>,
        on_line: &(dyn Fn(&str) + Sync),
        step: &Running<'_>,
    ) -> Result<()> {
        let (modules, built) = (self.directory.join("mod"), self.directory.join("build"));
        let is_in_source = directory == self.source;
        let flags = if self.edits && is_in_source {
            "-modcacherw -mod=mod"
        } else if is_in_source {
            "-modcacherw -mod=readonly"
        } else {
            "-modcacherw"
        };
        // Of the person's settings, also those in a file, only the way to the modules counts.
        let proxy = tool::output(&self.program, &["env", "GOPROXY"]).await?;
        let mut environment = vec![
            ("GOMODCACHE", modules.as_os_str()),
            ("GOCACHE", built.as_os_str()),
            ("GOPATH", self.directory.as_os_str()),
            ("GOFLAGS", OsStr::new(flags)),
            ("GOENV", OsStr::new("off")),
            ("GOPROXY", OsStr::new(proxy.trim())),
            ("GOWORK", OsStr::new("off")),
            ("GOTOOLCHAIN", OsStr::new("local")),
            ("CGO_ENABLED", OsStr::new(if self.has_c { "1" } else { "0" })),
        ];
        if let Some(module) = unlisted {
            environment.push(("GONOSUMDB", OsStr::new(module)));
        }
        if std::env::var_os("GOGC").is_none() && memory_gib() >= AMPLE_MEMORY_GIB {
            environment.push(("GOGC", OsStr::new(RARE_COLLECTION)));
        }
        Run {
            what,
            program: &self.program,
            arguments,
            directory: Some(directory),
            environment,
            removed: UNCHECKED.map(OsString::from).into(),
            on_line,
        }
        .with_patience(step)
        .await
    }
}

fn edit(file: &Path, change: impl FnOnce(&str) -> String) -> Result<()> {
    let text = fs::read_to_string(file).at("read", file)?;
    durable::write(file, change(&text).as_bytes(), 0o644)
}

/// A go.mod without the lines that put a path in place of a module.
fn without_paths(text: &str) -> String {
    text.split_inclusive('\n')
        .filter(|line| !line.contains("=> ./"))
        .collect()
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

    #[test]
    fn only_modules_that_lie_inside_lose_their_paths() {
        let text = "module x\n\nreplace x/api => ./api\n\nreplace (\n\tx/sdk => ./sdk\n\ty => y v1.2.3\n)\n";
        assert_eq!(
            without_paths(text),
            "module x\n\n\nreplace (\n\ty => y v1.2.3\n)\n"
        );
    }

    #[test]
    fn a_source_of_another_checksum_is_refused() {
        let printed = r#"{"Path": "x", "Version": "v1", "Sum": "h1:right=", "Dir": "/d"}"#;
        assert_eq!(source_in(printed, "h1:right=").unwrap(), Path::new("/d"));
        let words = source_in(printed, "h1:other=").unwrap_err();
        assert_eq!(words, "its checksum is h1:right=, not h1:other=");
        assert!(source_in(r#"{"Dir": "/d"}"#, "h1:right=").is_err());
    }

    #[test]
    fn caches_stay_as_long_as_somebody_builds() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::at(directory.path().into());
        remove_caches(&cache).unwrap();
        durable::directory(&cache.go().join("mod"), 0o755).unwrap();
        let building = open_lock(&cache).unwrap();
        building.lock_shared().unwrap();
        remove_caches(&cache).unwrap();
        assert!(cache.go().exists());
        drop(building);
        remove_caches(&cache).unwrap();
        assert!(!cache.go().exists());
    }
}
