//! What the images of recipes are made from: software of this machine where there is such, else a stand-in.

use std::path::{Path, PathBuf};

use crate::choices::Choices;
use crate::containers::image::Settings;
use crate::containers::layer::{Account, Contents};
use crate::containers::programs;
use crate::error::Result;
use eos_core::image::Reference;
use eos_install::Installed;

const POSTGRES: &str = "postgres";
const POSTGRES_BELOW: &str = "/usr/lib/postgresql";
const POSTGRES_ENTRYPOINT: &str = include_str!("postgres-entrypoint.sh");
const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// An image that a recipe runs.
#[derive(Debug, Clone)]
pub struct RecipeImage {
    /// As the recipe names it.
    pub name: String,
    /// `USER:GROUP` in numbers, whose the recipe's volumes are.
    pub user: Option<String>,
    /// What to make of it, if there is no software for it on any machine.
    pub stand_in: StandIn,
}

/// What a stand-in answers to, and what it wants to find: all that the recipe gives.
#[derive(Debug, Clone, Default)]
pub struct StandIn {
    pub port: u16,
    pub health: String,
    /// Environment variables that must be set.
    pub variables: Vec<String>,
    /// Those that name a file with something in it.
    pub files: Vec<String>,
    /// Those that hold the address of another service, which must be reachable.
    pub addresses: Vec<String>,
    /// Directories that must be writable.
    pub directories: Vec<String>,
}

/// Software that Debian packages, with what recipes expect of its image.
struct Software {
    /// The image without its tag.
    image: &'static str,
    name: &'static str,
    package: &'static str,
    program: &'static str,
    version_argument: &'static str,
    /// Where the program lies in the image.
    inside: &'static str,
    /// Further programs, by which recipes check it.
    tools: &'static [&'static str],
    /// A recipe's arguments follow it; without one they are the whole command.
    entrypoint: &'static [&'static str],
    command: &'static [&'static str],
    environment: &'static [&'static str],
    /// What it reads of its package besides.
    directories: &'static [&'static str],
}

const SOFTWARE: [Software; 5] = [
    Software {
        image: POSTGRES,
        name: "PostgreSQL",
        package: "postgresql",
        program: "postgres",
        version_argument: "--version",
        inside: "",
        tools: &[],
        entrypoint: &["/usr/local/bin/docker-entrypoint.sh"],
        command: &[],
        environment: &[],
        directories: &[],
    },
    Software {
        image: "redis",
        name: "Redis",
        package: "redis-server",
        program: "redis-server",
        version_argument: "--version",
        inside: "/usr/local/bin/redis-server",
        tools: &["redis-cli"],
        entrypoint: &[],
        command: &["redis-server"],
        environment: &[],
        directories: &[],
    },
    Software {
        image: "prom/prometheus",
        name: "Prometheus",
        package: "prometheus",
        program: "prometheus",
        version_argument: "--version",
        inside: "/bin/prometheus",
        tools: &[],
        entrypoint: &["/bin/prometheus"],
        command: &[],
        environment: &[],
        // Its pages are left out: Debian's would be 200 MiB. Everything else is there.
        directories: &[],
    },
    Software {
        image: "prom/alertmanager",
        name: "Alertmanager",
        package: "prometheus-alertmanager",
        program: "prometheus-alertmanager",
        version_argument: "--version",
        inside: "/bin/alertmanager",
        tools: &[],
        entrypoint: &["/bin/alertmanager"],
        command: &[],
        environment: &[],
        directories: &["/usr/share/prometheus/alertmanager"],
    },
    Software {
        image: "caddy",
        name: "Caddy",
        package: "caddy",
        program: "caddy",
        version_argument: "version",
        inside: "/usr/bin/caddy",
        tools: &[],
        entrypoint: &[],
        command: &["caddy", "run"],
        environment: &["XDG_CONFIG_HOME=/config", "XDG_DATA_HOME=/data"],
        directories: &[],
    },
];

/// What an image is made from.
pub struct Plan {
    pub contents: Contents,
    pub settings: Settings,
    pub stand_in: bool,
}

/// How the image of a recipe is made here, or the package that is missing for it.
pub async fn plan(
    image: &RecipeImage,
    name: &Reference,
    eos: &Path,
) -> Result<std::result::Result<Plan, &'static str>> {
    let known = SOFTWARE
        .iter()
        .find(|software| name.host.is_none() && software.image == name.path);
    let Some(software) = known else {
        return stand_in(image, eos).await.map(Ok);
    };
    let found = match software.image {
        POSTGRES => programs::newest_below(Path::new(POSTGRES_BELOW))
            .map(|home| home.join("bin/postgres"))
            .filter(|program| program.is_file()),
        _ => programs::find(software.program),
    };
    match found {
        Some(program) => software.plan(image, &program).await.map(Ok),
        None => Ok(Err(software.package)),
    }
}

impl Software {
    async fn plan(&self, image: &RecipeImage, program: &Path) -> Result<Plan> {
        let account = image
            .user
            .as_deref()
            .and_then(|user| Account::read(user, self.program));
        let mut contents = Contents::new(account.as_ref());
        let mut environment: Vec<String> = self.environment.iter().map(|&entry| entry.into()).collect();
        let mut path = String::from("/usr/local/bin:/usr/bin:/bin");
        if self.image == POSTGRES {
            let home = program.ancestors().nth(2).unwrap_or(program);
            postgres(&mut contents, home).await?;
            path = format!("{}:{path}", home.join("bin").display());
        } else {
            contents.program(program, Path::new(self.inside)).await?;
            for tool in self.tools.iter().filter_map(|tool| programs::find(tool)) {
                contents.program(&tool, &tool).await?;
            }
            for directory in self.directories {
                contents.directory(Path::new(directory))?;
            }
            if Path::new(CERTIFICATES).exists() {
                contents.file(Path::new(CERTIFICATES), Path::new(CERTIFICATES))?;
            }
        }
        environment.push(format!("PATH={path}"));
        let version = programs::version(program, self.version_argument).await?;
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        Ok(Plan {
            contents,
            settings: Settings {
                entrypoint: words(self.entrypoint),
                command: words(self.command),
                environment,
                user: image.user.clone(),
                // As the official image: by SIGTERM a PostgreSQL waits until its last client goes by itself.
                stop_signal: (self.image == POSTGRES).then(|| "SIGINT".to_owned()),
                holds: format!("{} {version}", self.name),
            },
            stand_in: false,
        })
    }
}

/// The server, what makes and saves a database, and the shell that the entrypoint and `initdb` are run by.
async fn postgres(contents: &mut Contents, home: &Path) -> Result<()> {
    let tools = [
        "postgres",
        "initdb",
        "psql",
        "pg_isready",
        "pg_dump",
        "pg_restore",
    ];
    let tools = tools.map(|tool| home.join("bin").join(tool));
    let system = ["/bin/sh", "/bin/rm", "/bin/mv", "/usr/bin/id"].map(PathBuf::from);
    for program in tools.iter().chain(&system) {
        contents.program(program, program).await?;
    }
    let version = home.file_name().unwrap_or_default();
    for directory in [
        home.join("lib"),
        Path::new("/usr/share/postgresql").join(version),
        "/usr/share/zoneinfo".into(),
    ] {
        contents.directory(&directory)?;
    }
    contents.open_directory("/run/postgresql");
    contents.text("/usr/local/bin/docker-entrypoint.sh", POSTGRES_ENTRYPOINT, 0o755);
    Ok(())
}

/// The image that stands for a group's network, which a container holds as long as the group runs.
pub const PAUSE: &str = "eos-pause:1";

/// The image of the sidecars of the mesh.
pub fn sidecar(envoy: &Installed) -> String {
    format!("envoy:{}", envoy.version)
}

/// The images that Nomad runs beside those of recipes in the mesh, by name.
pub async fn of_mesh(choices: &Choices) -> Result<Vec<(String, Plan)>> {
    let Some(envoy) = &choices.engines.envoy else {
        return Ok(Vec::new());
    };
    let sleep = Path::new("/bin/sleep");
    let images = [
        (PAUSE.to_owned(), sleep, vec!["infinity"], "holds a network"),
        (sidecar(envoy), envoy.path.as_path(), Vec::new(), "Envoy"),
    ];
    let mut plans = Vec::new();
    for (name, program, words, holds) in images {
        let mut contents = Contents::new(None);
        let inside = Path::new("/usr/local/bin").join(program.file_name().unwrap_or_default());
        contents.program(program, &inside).await?;
        let settings = Settings {
            entrypoint: vec![inside.display().to_string()],
            command: words.into_iter().map(String::from).collect(),
            holds: holds.into(),
            ..Settings::default()
        };
        let stand_in = false;
        plans.push((
            name,
            Plan {
                contents,
                settings,
                stand_in,
            },
        ));
    }
    Ok(plans)
}

async fn stand_in(image: &RecipeImage, eos: &Path) -> Result<Plan> {
    // The same for all of them, so that they have one layer in common.
    let mut contents = Contents::new(None);
    contents.program(eos, Path::new("/usr/bin/eos")).await?;
    let wanted = &image.stand_in;
    let mut entrypoint = vec![
        "/usr/bin/eos".into(),
        "serve-stand-in".into(),
        format!("--port={}", wanted.port),
        format!("--health={}", wanted.health),
    ];
    for (flag, values) in [
        ("--require-env", &wanted.variables),
        ("--require-file-of", &wanted.files),
        ("--require-reachable", &wanted.addresses),
        ("--require-dir", &wanted.directories),
    ] {
        entrypoint.extend(values.iter().map(|value| format!("{flag}={value}")));
    }
    Ok(Plan {
        contents,
        settings: Settings {
            entrypoint,
            user: image.user.clone(),
            holds: "stand-in".into(),
            ..Settings::default()
        },
        stand_in: true,
    })
}
