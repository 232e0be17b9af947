//! `eos serve-stand-in`: answers in place of an image that cannot be had, and says so.

use super::Answer;
use super::serve::{TEXT, not_found, serve};
use hyper::StatusCode;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// Serve in place of an image that cannot be had, healthy only while it has what the image would need
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Port to listen on, on all addresses
    #[arg(long)]
    port: u16,
    /// Path that is asked for its health
    #[arg(long, default_value = "/health")]
    health: String,
    /// Environment variable that must be set
    #[arg(long, value_name = "NAME")]
    require_env: Vec<String>,
    /// Environment variable that must name a file with something in it
    #[arg(long, value_name = "NAME")]
    require_file_of: Vec<String>,
    /// Directory that must be writable
    #[arg(long, value_name = "DIRECTORY")]
    require_dir: Vec<PathBuf>,
}

pub async fn run(args: &Args) -> Answer {
    let health = args.health.clone();
    let needed = Needed {
        variables: args.require_env.clone(),
        files: args.require_file_of.clone(),
        directories: args.require_dir.clone(),
    };
    serve(
        SocketAddr::from((Ipv4Addr::UNSPECIFIED, args.port)),
        move |path| match path {
            _ if path == health => match needed.missing() {
                None => (StatusCode::OK, TEXT, "ok\n".to_owned()),
                Some(what) => (StatusCode::SERVICE_UNAVAILABLE, TEXT, format!("{what}\n")),
            },
            "/" => (
                StatusCode::OK,
                TEXT,
                "This is a stand-in for the real image, served by Eos for tests.\n".to_owned(),
            ),
            _ => not_found(),
        },
    )
    .await
}

/// What the image would need.
#[derive(Default)]
struct Needed {
    variables: Vec<String>,
    files: Vec<String>,
    directories: Vec<PathBuf>,
}

impl Needed {
    /// The first thing that is not as the image would need it; values are not shown.
    fn missing(&self) -> Option<String> {
        let value = |name: &String| std::env::var_os(name).filter(|value| !value.is_empty());
        if let Some(name) = self
            .variables
            .iter()
            .chain(&self.files)
            .find(|name| value(name).is_none())
        {
            return Some(format!("variable {name} is not set"));
        }
        let empty = |name: &&String| {
            let size = value(name)
                .and_then(|path| std::fs::read(path).ok())
                .map_or(0, |bytes| bytes.len());
            size == 0
        };
        if let Some(name) = self.files.iter().find(empty) {
            return Some(format!("the file that {name} names holds nothing"));
        }
        self.directories.iter().find_map(|directory| {
            let error = write_in(directory).err()?;
            Some(format!(
                "directory {} is not writable: {error}",
                directory.display()
            ))
        })
    }
}

fn write_in(directory: &Path) -> std::io::Result<()> {
    let probe = directory.join(".eos-stand-in");
    std::fs::write(&probe, b"")?;
    std::fs::remove_file(&probe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_healthy_only_with_what_it_needs() {
        let directory = tempfile::tempdir().unwrap();
        let needed = |variables: &[&str], files: &[&str], directories: Vec<PathBuf>| {
            let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            Needed {
                variables: names(variables),
                files: names(files),
                directories,
            }
            .missing()
        };
        let there = vec![directory.path().to_owned()];
        assert_eq!(needed(&["PATH"], &[], there.clone()), None);
        assert_eq!(
            needed(&["EOS_TEST_NOT_SET"], &[], there.clone()).unwrap(),
            "variable EOS_TEST_NOT_SET is not set"
        );
        // PATH names no file.
        assert!(needed(&[], &["PATH"], there).unwrap().contains("holds nothing"));
        let gone = vec![directory.path().join("gone")];
        assert!(needed(&[], &[], gone).unwrap().contains("is not writable"));
        assert_eq!(
            std::fs::read_dir(directory.path()).unwrap().count(),
            0,
            "the probe is removed"
        );
    }
}
