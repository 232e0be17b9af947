//! `eos lab`: the real engines on this machine.

use super::carry_out::confirm;
use super::{Ended, Session, lab_image, who};
use crate::formula;
use crate::full_profile;
use crate::problem::{Exit, Problem};
use crate::views::reports::lab::{LabCondition, LabReport, LogLine, Tunnel};
use crate::words::shell_word;
use eos_core::compile::compile;
use eos_core::pillar::Pillar;
use eos_engine::engines::Engines;
use eos_engine::estate::Estate;
use eos_engine::operation;
use eos_engine::settings::Profile;
use eos_lab::{Cache, CloudProvider, Lab, LabInput, LabNode, Wanted};
use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Components that are asked for a URL, at most.
const TRIED: usize = 4;
/// The Terraform provider that comes with Eos.
const PROVIDER: &str = "eos-terraform-provider";

/// Salt, Terraform, Nomad and more on this machine
///
/// The profile full adds Consul and Vault. Eos installs the engines once per user into ${XDG_CACHE_HOME:-~/.cache}/eos.
/// It starts them below .eos/lab of the estate, on addresses of this machine only. An estate whose eos.toml names no
/// engines uses its lab.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos lab up
  eos lab up --full --nodes 3
  eos lab status
  eos lab logs nomad --follow
  eos lab image tools/busybox:1 busybox
  eos lab down")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Install the engines, and start nothing
    ///
    /// Without a Nomad on this machine, Eos builds it from source, which takes some minutes the first time. The same
    /// holds for Consul and Vault.
    Install {
        /// Also install Consul and Vault, for the full profile
        #[arg(long)]
        full: bool,
        /// Install OpenTofu in place of Terraform
        #[arg(long)]
        tofu: bool,
    },
    /// Install missing engines, start those that are down, repair broken ones
    ///
    /// --containers also starts a Docker and an image registry of the lab, and makes the images of the built-in
    /// recipes. It needs root and Debian's docker.io and docker-registry, and holds for every later up. Services then
    /// have this machine's address on the lab's bridge, which containers reach too. If a Docker already answers, the
    /// lab uses that one.
    Up {
        /// Also run Consul and Vault; Eos writes this profile to eos.toml for good
        #[arg(long)]
        full: bool,
        /// Add this many nodes, from node1 on, each a Salt minion and a Nomad client (at most 9)
        #[arg(long, value_name = "NUMBER")]
        nodes: Option<usize>,
        /// Also run containers, with the lab's own Docker
        #[arg(long)]
        containers: bool,
        /// Run OpenTofu in place of Terraform, now and later
        #[arg(long)]
        tofu: bool,
        /// Deliver over Salt's API, now and later, not to a directory
        #[arg(long)]
        deliver_by_api: bool,
        /// Add the Terraform provider of a cloud (hcloud), now and later; with a URL, it asks that one
        #[arg(long, value_name = "NAME[=URL]")]
        provider: Vec<String>,
    },
    /// Stop the engines and their tasks; the next up restores jobs and secrets
    Down,
    /// Show the engines
    Status,
    /// Pack programs of this machine, with the libraries they need, into an image for jobs of this lab
    Image(lab_image::Args),
    /// Make the images of the built-in recipes, from software of this machine or as stand-ins
    Images,
    /// Show the log of an engine
    Logs {
        /// salt-master, salt-api, salt-minion, nomad, consul, vault, dockerd, docker-registry, or one of a node such as nomad-node1
        engine: String,
        /// How many lines from its end
        #[arg(long, short = 'n', default_value_t = 50, value_name = "NUMBER")]
        lines: usize,
        /// Follow new lines, until Ctrl-C
        #[arg(long, short)]
        follow: bool,
    },
    /// Stop the engines and remove the lab with its jobs, secrets and volumes
    Reset,
}

pub async fn run(session: &mut Session<'_>, args: Args) -> Ended {
    if let Command::Install { full, tofu } = args.command {
        let progress = session.view.lab_progress();
        let cache = Cache::of_user().map_err(eos_lab::Error::from)?;
        let wanted = Wanted { full, tofu };
        let engines =
            unless_interrupted(async { Ok(eos_lab::install(&cache, wanted, progress.as_ref()).await?) })
                .await?;
        session.view.show(&engines);
        return Ok(Exit::Done);
    }
    let mut estate = Estate::open_for_lab(session.everywhere.estate.as_deref())?;
    let lab = Lab::at(estate.root.join(".eos/lab"))?;
    let begun = Instant::now();
    match args.command {
        Command::Install { .. } => {}
        Command::Up {
            full,
            nodes,
            containers,
            tofu,
            deliver_by_api,
            provider,
        } => {
            let clouds = clouds(&provider)?;
            if full {
                full_profile::take(&mut estate).await?;
            }
            let wanted = Wanted {
                full: estate.settings.profile == Profile::Full,
                tofu: tofu || lab.has_tofu()?,
            };
            up(session, &lab, wanted, nodes, containers, deliver_by_api, clouds).await?;
            report(session, &estate, &lab, Some(begun.elapsed())).await?;
        }
        Command::Down => {
            let progress = session.view.lab_progress();
            unless_interrupted(lab.down(progress.as_ref())).await?;
            report(session, &estate, &lab, Some(begun.elapsed())).await?;
        }
        Command::Status => report(session, &estate, &lab, None).await?,
        Command::Image(args) => lab_image::run(session, &lab, args).await?,
        Command::Images => {
            lab_image::make_all(session, &lab).await?;
            report(session, &estate, &lab, Some(begun.elapsed())).await?;
        }
        Command::Logs {
            engine,
            lines,
            follow,
        } => {
            let mut seen = Vec::new();
            if !follow {
                lab.logs(&engine, lines, false, &mut |line| seen.push(line.to_owned()))
                    .await?;
                seen.iter().for_each(|line| {
                    session.view.show(&LogLine {
                        engine: &engine,
                        line,
                    })
                });
                return Ok(Exit::Done);
            }
            follow_log(session, &lab, &engine, lines).await?;
        }
        Command::Reset => {
            confirm(session, "Remove the lab with its jobs, secrets and volumes?")?;
            let progress = session.view.lab_progress();
            unless_interrupted(lab.reset(progress.as_ref())).await?;
            report(session, &estate, &lab, Some(begun.elapsed())).await?;
        }
    }
    Ok(Exit::Done)
}

async fn up(
    session: &mut Session<'_>,
    lab: &Lab,
    wanted: Wanted,
    nodes: Option<usize>,
    containers: bool,
    delivers_by_api: bool,
    mut clouds: BTreeMap<String, Option<String>>,
) -> Result<(), Problem> {
    let program = std::env::current_exe().map_err(|error| {
        Problem::not_done(
            format!("Cannot find the program itself: {error}"),
            "Is /proc mounted?",
        )
    })?;
    let provider = find_provider(&program)?;
    let progress = session.view.lab_progress();
    for (name, chosen) in lab.providers()? {
        clouds.entry(name).or_insert(chosen.endpoint);
    }
    let mut input = LabInput {
        formula: formula::FILES,
        program,
        provider,
        profile: if wanted.full { Profile::Full } else { Profile::Solo },
        nodes,
        containers,
        tofu: wanted.tofu,
        delivers_by_api,
        providers: BTreeMap::new(),
    };
    unless_interrupted(async {
        let cache = Cache::of_user()?;
        let engines = eos_lab::install(&cache, wanted, progress.as_ref()).await?;
        for (name, endpoint) in clouds {
            let installed = eos_lab::install_hcloud(&cache, progress.as_ref()).await?;
            let chosen = CloudProvider { endpoint, installed };
            input.providers.insert(name, chosen);
        }
        lab.up(&engines, &input, progress.as_ref()).await
    })
    .await?;
    match containers {
        true => lab_image::make_all(session, lab).await,
        false => Ok(()),
    }
}

/// The providers of clouds that a person asks for: name -> an address in place of the cloud's own.
fn clouds(asked: &[String]) -> Result<BTreeMap<String, Option<String>>, Problem> {
    let mut found = BTreeMap::new();
    for one in asked {
        let (name, endpoint) = match one.split_once('=') {
            Some((name, endpoint)) => (name, Some(endpoint.to_owned())),
            None => (one.as_str(), None),
        };
        if !eos_lab::CLOUDS.iter().any(|(known, _)| *known == name) {
            let known: Vec<&str> = eos_lab::CLOUDS.iter().map(|(known, _)| *known).collect();
            return Err(Problem::usage(
                format!("Eos cannot build the Terraform provider {}", shell_word(name)),
                format!("A lab can have: {}", known.join(", ")),
            ));
        }
        found.insert(name.to_owned(), endpoint);
    }
    Ok(found)
}

/// Beside this program, where a build and a package put it; else on PATH.
fn find_provider(program: &Path) -> Result<PathBuf, Problem> {
    let beside = program.parent().map(|directory| directory.join(PROVIDER));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|directory| directory.join(PROVIDER));
    beside
        .into_iter()
        .chain(on_path)
        .find(|file| file.is_file())
        .ok_or_else(|| {
            Problem::not_done(
                format!(
                    "The Terraform provider {PROVIDER} is neither beside {} nor on PATH",
                    program.display()
                ),
                format!("Build it (cargo build -p {PROVIDER}) or install it beside eos"),
            )
        })
}

async fn follow_log(session: &mut Session<'_>, lab: &Lab, engine: &str, lines: usize) -> Result<(), Problem> {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let mut send = move |line: &str| drop(sender.send(line.to_owned()));
    let following = lab.logs(engine, lines, true, &mut send);
    tokio::pin!(following);
    loop {
        tokio::select! {
            ended = &mut following => return Ok(ended?),
            Some(line) = receiver.recv() => session.view.show(&LogLine { engine, line: &line }),
            // It was to be followed until now.
            Ok(()) = tokio::signal::ctrl_c() => return Ok(()),
        }
    }
}

async fn report(
    session: &mut Session<'_>,
    estate: &Estate,
    lab: &Lab,
    took: Option<Duration>,
) -> Result<(), Problem> {
    let engines = lab.status().await?;
    let ready = engines.iter().filter(|engine| engine.ready).count();
    let condition = match engines.iter().any(|engine| engine.pid.is_some()) {
        _ if engines.is_empty() => LabCondition::Absent,
        _ if ready == engines.len() => LabCondition::Up,
        true => LabCondition::Partial,
        false => LabCondition::Down,
    };
    let nodes = lab.nodes()?;
    let environment = session.environment(estate);
    let from_elsewhere = match (condition, took) {
        (LabCondition::Up, None) => tunnel(estate, &environment).await,
        _ => None,
    };
    session.view.show(&LabReport {
        directory: lab.directory().to_owned(),
        condition,
        engines,
        next: if condition == LabCondition::Up {
            hosts_to_create(estate, &nodes)
        } else {
            Vec::new()
        },
        nodes,
        containers: lab.containers()?,
        from_elsewhere,
        seconds: took.map(|took| took.as_secs_f64()),
    });
    Ok(())
}

/// How a browser on another machine reaches a first component; the addresses of a lab are of this machine only.
async fn tunnel(estate: &Estate, environment: &str) -> Option<Tunnel> {
    // Neither a broken pillar nor an engine that does not answer keeps anybody from seeing the lab.
    let pillar = Pillar::read(&estate.pillar_files().ok()?).ok()?;
    let compilation = compile(&pillar, &estate.catalog().ok()?, estate.settings.setup()).ok()?;
    let engines = Engines::connect(&estate.settings).ok()??;
    for component in compilation.of_environment(environment).take(TRIED) {
        let found = operation::outputs(&engines, &compilation, environment, &component.component);
        let outputs = found.await.ok()?;
        if let Some(url) = outputs
            .iter()
            .find_map(|(_, value)| value.strip_prefix("http://"))
        {
            let (address, path) = url.split_once('/').unwrap_or((url, ""));
            let (_, port) = address.rsplit_once(':').unwrap_or((address, "80"));
            let port: u16 = port.parse().ok()?;
            // Below 1024 a laptop would ask for root.
            let near = if port < 1024 { 8080 } else { port };
            let at = if address.contains(':') {
                address.to_owned()
            } else {
                format!("{address}:{port}")
            };
            let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
            return Some(Tunnel {
                command: format!("ssh -N -L {near}:{at} {}@{}", who(), machine.trim()),
                url: format!("http://localhost:{near}/{path}"),
                component: component.component.clone(),
            });
        }
    }
    None
}

/// Nodes become hosts of the estate when a person says so.
fn hosts_to_create(estate: &Estate, nodes: &[LabNode]) -> Vec<String> {
    // A pillar that cannot be read is for another command to complain about.
    let Ok(pillar) = estate.whole_pillar() else {
        return Vec::new();
    };
    let unknown = nodes.iter().filter(|node| !pillar.hosts.contains_key(&node.name));
    let command = |node: &LabNode| {
        let below = shell_word(&node.volumes_below.display().to_string());
        let (name, address) = (&node.name, &node.address);
        format!("eos create host {name} --address {address} --role client --volumes-below {below}")
    };
    unknown.map(command).collect()
}

/// Ctrl-C leaves the work of the lab where it is; the same command continues from there.
pub async fn unless_interrupted<T>(work: impl Future<Output = eos_lab::Result<T>>) -> Result<T, Problem> {
    tokio::select! {
        ended = work => Ok(ended?),
        Ok(()) = tokio::signal::ctrl_c() => Err(Problem::Interrupted { operation: None }),
    }
}
