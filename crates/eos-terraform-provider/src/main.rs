//! A Terraform provider for places where the published ones cannot be had. One program serves several
//! providers: the name of its file says which.
//!
//! A mirror holds it as `<host>/hashicorp/<name>/<version>/<platform>/terraform-provider-<name>_v<version>`.
//! `--version` prints the program's own version and then, one a line, every `<name> <version>` it serves.

mod api;
mod consul;
mod diagnostic;
mod duration;
mod nomad;
mod protocol;
mod provider;
mod schema;
mod settings;
mod value;

use std::path::Path;
use std::process::ExitCode;

use provider::Provider;

/// Terraform sets this, so that a provider run by hand does not wait for a caller that never comes.
const COOKIE: (&str, &str) = (
    "TF_PLUGIN_MAGIC_COOKIE",
    "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
);

/// What this program serves.
const SERVED: [Served; 2] = [
    Served {
        name: nomad::NAME,
        version: nomad::VERSION,
        serve: || serve(nomad::provider()),
    },
    Served {
        name: consul::NAME,
        version: consul::VERSION,
        serve: || serve(consul::provider()),
    },
];

struct Served {
    name: &'static str,
    version: &'static str,
    serve: fn() -> Result<(), String>,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args();
    let file = arguments.next().unwrap_or_default();
    if arguments.next().is_some_and(|argument| argument == "--version") {
        println!("{}", version());
        return ExitCode::SUCCESS;
    }
    if std::env::var(COOKIE.0).as_deref() != Ok(COOKIE.1) {
        eprintln!("error: This program is a Terraform provider: Terraform starts it");
        eprintln!("hint: Put it into a provider mirror; `--version` lists the providers it serves");
        return ExitCode::FAILURE;
    }
    let name = served_name(&file);
    let outcome = match SERVED.iter().find(|served| served.name == name) {
        Some(served) => (served.serve)(),
        None => Err(format!(
            "error: File name {file} asks for provider {name}, which this program lacks"
        )),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn serve<C: Send + Sync + 'static>(provider: Provider<C>) -> Result<(), String> {
    let name = provider.name;
    // One thread: a provider waits for its engine, it does not compute; and Terraform starts it three
    // times for one plan, so starting must cost nothing.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("error: The provider cannot start: {error}"))?;
    let served = runtime.block_on(protocol::serve(provider));
    served.map_err(|error| format!("error: Provider {name} cannot be served to Terraform: {error}"))
}

/// `terraform-provider-nomad_v2.5.2` serves `nomad`; a file of any other form serves nothing.
fn served_name(file: &str) -> &str {
    let base = Path::new(file)
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let name = base.strip_prefix("terraform-provider-").unwrap_or(base);
    name.split('_').next().unwrap_or_default()
}

/// The program and, one a line, the providers it serves with the version each must have in a mirror.
fn version() -> String {
    let program = format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    let served = SERVED
        .iter()
        .map(|served| format!("{} {}", served.name, served.version));
    std::iter::once(program)
        .chain(served)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_name_decides() {
        assert_eq!(served_name("/mirror/x/terraform-provider-nomad_v2.5.2"), "nomad");
        assert_eq!(served_name("terraform-provider-salt"), "salt");
        assert_eq!(served_name("eos-terraform-provider"), "eos-terraform-provider");
    }

    #[test]
    fn the_version_tells_a_mirror_what_to_name_the_file() {
        let version = version();
        let served: Vec<&str> = version.lines().skip(1).collect();
        assert_eq!(served, ["nomad 2.5.2", "consul 2.22.1"]);
    }
}
