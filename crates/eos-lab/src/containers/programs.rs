//! Programs of this machine: where they are, what they need to run, which version they are.

use std::env;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use crate::error::{AtPath, Error, Result};

/// Where services lie, which not everybody has on PATH.
const OF_SYSTEM: [&str; 4] = ["/usr/local/sbin", "/usr/sbin", "/usr/bin", "/bin"];

/// The first program of that name on PATH or where the system's services lie.
pub fn find(name: &str) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        path.metadata()
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(OF_SYSTEM.map(PathBuf::from))
        .map(|directory| directory.join(name))
        .find(is_program)
}

/// What a program prints, on whichever stream, whether it likes it or not.
async fn output(program: &Path, arguments: &[&str]) -> Result<(bool, String)> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = command.output().await.at("run", program)?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    Ok((output.status.success(), text))
}

pub async fn run(program: &Path, arguments: &[&str]) -> Result<String> {
    match output(program, arguments).await? {
        (true, text) => Ok(text),
        (false, text) => Err(Error::Command {
            what: format!("{} {}", program.display(), arguments.join(" ")),
            words: text.trim().into(),
            hint: None,
        }),
    }
}

/// The first thing that looks like a version in what a program says of itself; nothing if it says none.
pub async fn version(program: &Path, argument: &str) -> Result<String> {
    let (_, text) = output(program, &[argument]).await?;
    Ok(text
        .split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .map(|word| word.trim_matches('.'))
        .find(|word| word.contains('.'))
        .unwrap_or_default()
        .to_owned())
}

/// What must lie beside a program for it to run.
pub struct Needed {
    pub libraries: Vec<PathBuf>,
    /// Of a script: what runs it.
    pub interpreters: Vec<PathBuf>,
}

pub async fn needed(program: &Path) -> Result<Needed> {
    if let Some(interpreters) = interpreters(program)? {
        return Ok(Needed {
            libraries: Vec::new(),
            interpreters,
        });
    }
    let ldd = find("ldd").ok_or(Error::ToolMissing {
        what: "ldd",
        hint: "It names the libraries of a program (Debian: apt install libc-bin)",
    })?;
    let (done, text) = output(&ldd, &[&program.display().to_string()]).await?;
    let is_static = text.contains("not a dynamic executable") || text.contains("statically linked");
    if !done && !is_static {
        return Err(Error::Command {
            what: format!("ldd {}", program.display()),
            words: text.trim().into(),
            hint: None,
        });
    }
    let libraries = match is_static {
        true => Vec::new(),
        false => libraries_in(&text).map_err(|library| Error::Command {
            what: format!("packing {}", program.display()),
            words: format!("its library {library} is not on this machine"),
            hint: None,
        })?,
    };
    Ok(Needed {
        libraries,
        interpreters: Vec::new(),
    })
}

/// The paths that `ldd` prints, or the first library that it did not find.
fn libraries_in(text: &str) -> std::result::Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        let (name, place) = line.split_once(" => ").unwrap_or((line, line));
        if place == "not found" {
            return Err(name.to_owned());
        }
        // The kernel's own library has no file.
        if place.starts_with('/') {
            found.push(place.split(" (").next().unwrap_or(place).into());
        }
    }
    Ok(found)
}

/// The words of a script's first line that are programs: `/usr/bin/env` and what it looks for are two.
fn interpreters(program: &Path) -> Result<Option<Vec<PathBuf>>> {
    let mut start = Vec::new();
    let file = File::open(program).at("read", program)?;
    file.take(256).read_to_end(&mut start).at("read", program)?;
    let Some(line) = start.strip_prefix(b"#!") else {
        return Ok(None);
    };
    let line =
        String::from_utf8_lossy(line.split(|byte| *byte == b'\n').next().unwrap_or_default()).into_owned();
    let mut words = line.split_whitespace();
    let mut found: Vec<PathBuf> = words.next().map(PathBuf::from).into_iter().collect();
    if found.first().is_some_and(|first| first.ends_with("env")) {
        found.extend(words.find(|word| !word.starts_with('-')).and_then(find));
    }
    Ok(Some(found))
}

/// The highest numbered directory in a place, such as the newest of several versions.
pub fn newest_below(place: &Path) -> Option<PathBuf> {
    // What is no number is no version, and what cannot be read is not there.
    let number = |entry: &fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let entries = fs::read_dir(place).ok()?.filter_map(|entry| entry.ok());
    let numbered = entries.filter_map(|entry| Some((number(&entry)?, entry.path())));
    numbered.max().map(|(_, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_those_with_a_file() {
        let text = "\tlinux-vdso.so.1 (0x00007ffd)\n\
                    \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n";
        let found = libraries_in(text).unwrap();
        let places = ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"];
        assert_eq!(found, places.map(PathBuf::from));
        assert_eq!(
            libraries_in("\tlibx.so.1 => not found\n").unwrap_err(),
            "libx.so.1"
        );
    }

    #[tokio::test]
    async fn a_script_needs_what_runs_it_and_a_program_its_libraries() {
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("script");
        fs::write(&script, "#!/usr/bin/env sh\nexit 0\n").unwrap();
        let found = needed(&script).await.unwrap();
        assert_eq!(found.interpreters[0], Path::new("/usr/bin/env"));
        assert!(found.interpreters[1].ends_with("sh"));
        let own = env::current_exe().unwrap();
        let found = needed(&own).await.unwrap();
        assert!(
            found.libraries.iter().any(|path| path.ends_with("libc.so.6")),
            "{:?}",
            found.libraries
        );
    }

    #[test]
    fn the_newest_is_the_highest_number() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["9", "15", "common"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        assert_eq!(newest_below(directory.path()), Some(directory.path().join("15")));
        assert_eq!(newest_below(&directory.path().join("9")), None);
    }
}
