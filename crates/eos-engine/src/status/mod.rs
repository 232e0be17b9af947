//! What runs, and how each layer is: asked of all engines at once, in so many requests however many components there are.
//!
//! | module | owns |
//! |---|---|
//! | `component` | one component: wanted, running, healthy, where, since when |
//! | `runs` | jobs that run to their end: how the last run ended |
//! | `checks` | which instances do not pass a check just now, in whichever engine knows |
//! | `salt`, `terraform`, `nomad`, `consul`, `vault` | one layer each: what it is asked, and what that means |
//! | `live` | the health of each node of the graph |
//!
//! An engine that does not answer is named; what the others know is told all the same. Nomad is asked for its jobs, their
//! instances and its nodes in one request each. Checks of services in Consul are one more. Those of services in Nomad
//! are known to the client that runs the instance and to nobody else: they cost one small request an instance, and are the
//! only thing whose number grows.

mod checks;
mod component;
mod consul;
pub mod live;
mod nomad;
mod runs;
mod salt;
mod terraform;
mod vault;

use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;

use eos_core::emit::terraform::PLATFORM;
use eos_core::lowered::Lowered;
use jiff::Timestamp;
use serde::Serialize;
use tokio::time::timeout;

pub use checks::CheckStatus;
pub use component::{ComponentStatus, Instance, LastOperation, Stopped};
pub use consul::{ConsulSeen, ServerStatus, ServiceStatus};
pub use nomad::{JobRow, NodeStatus, NomadSeen};
pub use runs::{LastRun, RunOutcome, Runs};
pub use salt::{MinionStatus, SaltSeen};
pub use terraform::{TerraformSeen, WorkspaceStatus};
pub use vault::VaultSeen;

use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::estate::Estate;
use crate::failure::Failure;
use crate::operation::{Standing, Standings};
use crate::store::Operation;

/// How long a layer may take; one that takes longer does not answer.
const PATIENCE: Duration = Duration::from_secs(12);

/// How an environment is.
#[derive(Debug, Serialize)]
pub struct Status {
    pub environment: String,
    pub components: Vec<ComponentStatus>,
    /// Operations that did not end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<Trouble>,
    /// Nothing where the estate has no engines.
    pub layers: Option<Layers>,
}

impl Status {
    /// Whether all that is wanted runs and is healthy, and every layer is well.
    pub fn is_well(&self) -> bool {
        self.components.iter().all(ComponentStatus::is_well)
            && self
                .layers
                .as_ref()
                .is_some_and(|layers| layers.troubles().is_empty())
    }
}

#[derive(Debug, Serialize)]
pub struct Layers {
    pub salt: LayerStatus<SaltSeen>,
    pub terraform: LayerStatus<TerraformSeen>,
    pub nomad: LayerStatus<NomadSeen>,
    /// Of the full profile, as is `vault`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consul: Option<LayerStatus<ConsulSeen>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vault: Option<LayerStatus<VaultSeen>>,
}

impl Layers {
    /// The name of each and how it is in a few words, in order.
    pub fn summaries(&self) -> Vec<(&'static str, &str)> {
        let of_full = [
            self.consul.as_ref().map(|layer| ("consul", layer.words.as_str())),
            self.vault.as_ref().map(|layer| ("vault", layer.words.as_str())),
        ];
        [
            ("salt", self.salt.words.as_str()),
            ("terraform", &self.terraform.words),
            ("nomad", &self.nomad.words),
        ]
        .into_iter()
        .chain(of_full.into_iter().flatten())
        .collect()
    }

    /// What is said of those that do not answer.
    pub fn silent(&self) -> Vec<&Trouble> {
        let of_full = [
            self.consul
                .as_ref()
                .filter(|layer| !layer.answers)
                .map(|layer| &layer.troubles),
            self.vault
                .as_ref()
                .filter(|layer| !layer.answers)
                .map(|layer| &layer.troubles),
        ];
        let of_both = [
            (!self.salt.answers).then_some(&self.salt.troubles),
            (!self.terraform.answers).then_some(&self.terraform.troubles),
            (!self.nomad.answers).then_some(&self.nomad.troubles),
        ];
        of_both.into_iter().chain(of_full).flatten().flatten().collect()
    }

    /// What is wrong with any of them, in order.
    pub fn troubles(&self) -> Vec<&Trouble> {
        let both = self.salt.troubles.iter().chain(&self.terraform.troubles);
        let consul = self.consul.iter().flat_map(|layer| &layer.troubles);
        let vault = self.vault.iter().flat_map(|layer| &layer.troubles);
        both.chain(&self.nomad.troubles)
            .chain(consul)
            .chain(vault)
            .collect()
    }
}

#[derive(Debug, Serialize)]
pub struct LayerStatus<T> {
    pub answers: bool,
    /// How it is, in a few words: `3 of 3 minions`.
    pub words: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<Trouble>,
    #[serde(flatten)]
    pub seen: Option<T>,
}

/// One thing that is wrong, and the command that looks into it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trouble {
    pub about: String,
    pub words: String,
    pub look: String,
}

impl Trouble {
    fn new(about: impl Into<String>, words: impl Into<String>, look: impl Into<String>) -> Self {
        Trouble {
            about: about.into(),
            words: words.into(),
            look: look.into(),
        }
    }
}

/// How many operations are looked through, such as for the last one of each component.
const OPERATIONS: u32 = 1000;

/// So many letters of an operation's id tell it apart for a person.
const SHORT: usize = 10;

const LOOK: &str = "eos doctor";

/// What each layer's own rows say of it.
trait Seen {
    fn words(&self) -> String;
    fn troubles(&self) -> Vec<Trouble>;
}

fn layer_status<T: Seen>(layer: Layer, answer: Result<T, EngineError>) -> LayerStatus<T> {
    match answer {
        Ok(seen) => LayerStatus {
            answers: true,
            words: seen.words(),
            troubles: seen.troubles(),
            seen: Some(seen),
        },
        Err(error) => {
            let short = match error.kind {
                ErrorKind::Refused => "refuses",
                _ => "does not answer",
            };
            let words = match error.words.as_str() {
                "" => short,
                words => words,
            };
            LayerStatus {
                answers: false,
                words: short.to_owned(),
                troubles: vec![Trouble::new(layer.to_string(), words, LOOK)],
                seen: None,
            }
        }
    }
}

/// Looks at all components of an environment, or at one.
pub async fn look(
    estate: &Estate,
    engines: Option<&Engines>,
    environment: &str,
    only: Option<&str>,
) -> Result<Status, Failure> {
    let store = estate.store_to_read()?;
    let mut applied = store.applied(environment)?;
    // `eos storage` shows standalone volumes.
    applied.retain(|one| !one.is_storage());
    let pillar = estate.whole_pillar()?;
    let names: BTreeSet<String> = match only {
        Some(name) => [name.to_owned()].into(),
        None => {
            let wanted = pillar.components.keys().filter(|(of, _)| of == environment);
            wanted
                .map(|(_, name)| name.clone())
                .chain(applied.iter().map(|one| one.component.clone()))
                .filter(|name| name != PLATFORM)
                .collect()
        }
    };
    applied.retain(|one| only.is_none_or(|name| name == one.component));
    let standings = Standings::read(estate, &store)?;
    let operations: Vec<(Operation, Standing)> = store
        .history(OPERATIONS)?
        .into_iter()
        .map(|one| {
            let standing = standings.of(&one);
            (one, standing)
        })
        .collect();
    let mut components = component::of_store(&operations, environment, names, &applied, &pillar);
    // The rest is true of a pillar that does not compile, too.
    if let Some(name) = only
        && let Ok(compilation) = estate.compile()
    {
        let url = compilation
            .component(environment, name)
            .and_then(Lowered::public_url);
        components
            .iter_mut()
            .for_each(|one| one.url = url.map(str::to_owned));
    }
    let mut status = Status {
        environment: environment.to_owned(),
        components: Vec::new(),
        unfinished: unfinished(&operations, environment, only),
        layers: None,
    };
    if let Some(engines) = engines {
        let (salt, terraform, nomad, consul, vault) = tokio::join!(
            in_time(Layer::Salt, salt::ask(engines)),
            in_time(
                Layer::Terraform,
                terraform::ask(estate, engines, environment, &applied)
            ),
            in_time(Layer::Nomad, nomad::ask(engines, environment)),
            of_full(Layer::Consul, engines.consul.as_ref(), consul::ask),
            of_full(Layer::Vault, engines.vault.as_ref(), vault::ask),
        );
        if let Ok(asked) = &nomad {
            let checks = match &consul {
                Some(answer) => answer.as_ref().ok().map(|seen| checks::of_consul(&seen.checks)),
                None => in_time(
                    Layer::Nomad,
                    checks::of_nomad(&engines.nomad, environment, asked, only),
                )
                .await
                .ok(),
            };
            let more = match estate.settings.environment == environment {
                true => String::new(),
                false => format!(" --environment {environment}"),
            };
            for component in &mut components {
                component.see(asked, checks.as_ref(), &more);
                let name = component.component.clone();
                if let Some(runs) = &mut component.runs {
                    let lines = runs.read_lines(engines, environment, &name, asked);
                    timeout(PATIENCE, lines).await.ok();
                }
            }
        }
        status.layers = Some(Layers {
            salt: layer_status(Layer::Salt, salt),
            terraform: layer_status(Layer::Terraform, terraform),
            nomad: layer_status(Layer::Nomad, nomad.map(nomad::NomadNow::seen)),
            consul: consul.map(|answer| layer_status(Layer::Consul, answer)),
            vault: vault.map(|answer| layer_status(Layer::Vault, answer)),
        });
    }
    status.components = components;
    Ok(status)
}

/// The operations that stand in the way of others, oldest first, and what to do about each.
fn unfinished(operations: &[(Operation, Standing)], environment: &str, only: Option<&str>) -> Vec<Trouble> {
    let is_asked_for = |one: &Operation| {
        let names = |name: &str| one.components.iter().any(|component| component == name);
        one.environment == environment && only.is_none_or(names)
    };
    // What failed stands in nobody's way once its components were changed again.
    let is_over = |one: &Operation, standing: Standing| {
        let is_later = |(other, then): &&(Operation, Standing)| {
            let shared = other.components.iter().any(|name| one.components.contains(name));
            other.number > one.number && shared && *then == Standing::Done
        };
        standing == Standing::Failed && operations.iter().any(|other| is_later(&other))
    };
    let open = operations.iter().rev();
    let open = open.filter(|(one, standing)| is_asked_for(one) && !is_over(one, *standing));
    let trouble = |(one, standing): &(Operation, Standing)| {
        let id = one.id.get(..SHORT).unwrap_or(&one.id);
        let words = format!("{}: {}", standing.words(), one.words);
        Some(Trouble::new(format!("operation {id}"), words, standing.next(id)?))
    };
    open.filter_map(trouble).collect()
}

async fn in_time<T>(
    layer: Layer,
    work: impl Future<Output = Result<T, EngineError>>,
) -> Result<T, EngineError> {
    timeout(PATIENCE, work).await.unwrap_or_else(|_| {
        let words = format!("no answer within {} s", PATIENCE.as_secs());
        Err(EngineError::new(layer, ErrorKind::Timeout, layer.name(), words))
    })
}

/// Asks an engine that only the full profile has.
async fn of_full<'a, E, T>(
    layer: Layer,
    engine: Option<&'a E>,
    ask: impl AsyncFnOnce(&'a E) -> Result<T, EngineError>,
) -> Option<Result<T, EngineError>> {
    match engine {
        Some(engine) => Some(in_time(layer, ask(engine)).await),
        None => None,
    }
}

/// Nomad counts nanoseconds.
fn moment(nanoseconds: i64) -> Option<Timestamp> {
    Timestamp::from_nanosecond(nanoseconds.into()).ok()
}

fn counted(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}
