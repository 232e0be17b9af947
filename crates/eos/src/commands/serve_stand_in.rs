//! `eos serve-stand-in`: answers in place of an image that cannot be had, and says so.

use super::Ended;
use super::serve::{METRICS, TEXT, not_found, serve};
use hyper::StatusCode;
use std::net::{Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Less than whoever asks for its health waits for the answer.
const CONNECT: Duration = Duration::from_secs(1);

/// All that can be measured of it.
const STAND_IN_METRICS: &str = "# HELP eos_stand_in Whether this stands in for the real image.\n\
                                # TYPE eos_stand_in gauge\n\
                                eos_stand_in 1\n";

/// Serve in place of an unavailable image, healthy only while the needs of the image are met
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Port to listen on, on all addresses
    #[arg(long)]
    port: u16,
    /// Path of the health check
    #[arg(long, default_value = "/health")]
    health: String,
    /// Environment variable that must be set
    #[arg(long, value_name = "NAME")]
    require_env: Vec<String>,
    /// Environment variable that must name a file with something in it
    #[arg(long, value_name = "NAME")]
    require_file_of: Vec<String>,
    /// Environment variable that must hold the address of a service that takes connections
    #[arg(long, value_name = "NAME")]
    require_reachable: Vec<String>,
    /// Directory that must be writable
    #[arg(long, value_name = "DIRECTORY")]
    require_dir: Vec<PathBuf>,
}

pub async fn run(args: &Args) -> Ended {
    let health = args.health.clone();
    let needed = Needed {
        variables: args.require_env.clone(),
        files: args.require_file_of.clone(),
        services: args.require_reachable.clone(),
        directories: args.require_dir.clone(),
    };
    serve(
        SocketAddr::from((Ipv4Addr::UNSPECIFIED, args.port)),
        move |path| match path {
            _ if path == health => match needed.missing() {
                None => (StatusCode::OK, TEXT, "ok\n".to_owned()),
                Some(what) => (StatusCode::SERVICE_UNAVAILABLE, TEXT, format!("{what}\n")),
            },
            "/metrics" => (StatusCode::OK, METRICS, STAND_IN_METRICS.to_owned()),
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

/// The needs of the image.
#[derive(Default)]
struct Needed {
    variables: Vec<String>,
    files: Vec<String>,
    services: Vec<String>,
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
            .chain(&self.services)
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
        let unreached = |name: &&String| {
            let text = value(name).map(|value| value.to_string_lossy().into_owned());
            !text
                .as_deref()
                .and_then(address_in)
                .is_some_and(takes_connections)
        };
        if let Some(name) = self.services.iter().find(unreached) {
            return Some(format!("the service that {name} names is not reachable"));
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

/// `host:port` of a URL, or of a text that is nothing else.
fn address_in(text: &str) -> Option<&str> {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next()?;
    let address = authority
        .rsplit_once('@')
        .map_or(authority, |(_, address)| address);
    address.contains(':').then_some(address)
}

fn takes_connections(address: &str) -> bool {
    let mut found = address.to_socket_addrs().into_iter().flatten();
    found.any(|address| TcpStream::connect_timeout(&address, CONNECT).is_ok())
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
    fn a_service_is_reached_where_the_text_says() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let url = format!("postgres://app:p@ss/word@{address}/app?sslmode=disable");
        assert_eq!(
            address_in(&format!("postgres://app:secret@{address}/app")),
            Some(address.as_str())
        );
        assert_eq!(address_in(&address), Some(address.as_str()));
        assert_eq!(address_in("http://host/"), None);
        assert!(takes_connections(&address));
        drop(listener);
        assert!(!takes_connections(&address));
        // A password is written as URLs write it, or the URL is none.
        assert_ne!(address_in(&url), Some(address.as_str()));
    }

    #[test]
    fn it_is_healthy_only_with_what_it_needs() {
        let directory = tempfile::tempdir().unwrap();
        let needed = |variables: &[&str], files: &[&str], directories: Vec<PathBuf>| {
            let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            Needed {
                variables: names(variables),
                files: names(files),
                services: Vec::new(),
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
