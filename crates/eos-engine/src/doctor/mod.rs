//! What works and what does not: the form of a finding, and the questions that the engines of an estate are asked.
//!
//! Every engine is asked by itself and within a few seconds, so that one that is silent says nothing of the others.
//! What is decided from an answer is decided by functions that ask nobody.
//!
//! | module | owns |
//! |---|---|
//! | `finding` | the form of a finding |
//! | `salt`, `nomad`, `consul`, `vault` | what each engine is asked |
//! | `control` | what the control minion says of its Terraform, its schedule and what was left there |
//! | `versions` | which versions of the engines Eos works with |
//! | `clocks` | whether all of them have the same time |
//! | `disks` | which disks have no room left |
//! | `files` | who can read and change what is on this machine |
//! | `repository` | what a killed git left, what git cannot read, a store that was lost |
//! | `leftovers` | operations that were interrupted, and locks that nobody holds |
//! | `mend` | the command that mends each kind of thing, in a lab and elsewhere |

mod clocks;
mod consul;
mod control;
mod disks;
mod files;
mod finding;
mod leftovers;
mod mend;
mod nomad;
mod reach;
mod repository;
mod salt;
mod vault;
mod versions;

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use eos_core::pillar::Pillar;
use jiff::Timestamp;
use tokio::time::{Instant, timeout_at};

pub use finding::{Area, Condition, Finding};

use crate::endpoints::Endpoints;
use crate::engines::refuse_other_profile;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::estate::Estate;

/// How long all that one engine is asked may take.
const PATIENCE: Duration = Duration::from_secs(4);

/// An estate and what its engines should be like.
pub struct Expected<'a> {
    pub estate: &'a Estate,
    /// Nothing where it cannot be read.
    pub pillar: Option<&'a Pillar>,
    /// Of the Salt code that this program carries, as `eos.info` answers it.
    pub formula: &'a str,
    /// How root speaks to minions on the master: `salt`, or that of the lab.
    pub salt: &'a str,
    /// Where the engines of a lab write to on this machine.
    pub written_to: &'a [PathBuf],
    /// Of each minion on this machine: whether its process runs.
    pub running: &'a BTreeMap<String, bool>,
}

/// Looks at the estate on this machine, then asks every engine of it, all at once; an estate without engines is a
/// finding too.
pub async fn examine(expected: &Expected<'_>) -> Vec<Finding> {
    let estate = expected.estate;
    let mut files = files::findings(estate);
    files.extend(disks::of_this_machine(expected));
    files.extend(repository::findings(estate).await);
    let Some(endpoints) = &estate.settings.endpoints else {
        let words = "none: neither eos.toml nor a lab names any";
        let engines = Finding::not_ok(Area::Estate, "engines", Condition::Missing, words, "eos lab up");
        return [files, leftovers::operations(estate), vec![engines]].concat();
    };
    let examination = Examination {
        expected,
        endpoints,
        ends: Instant::now() + PATIENCE,
    };
    let (salt, nomad, consul, vault, clocks) = tokio::join!(
        examination.salt(),
        examination.nomad(),
        examination.consul(),
        examination.vault(),
        examination.clocks(),
    );
    let clocks = clocks::findings(&[clocks, salt.clocks].concat());
    [
        files,
        leftovers::operations(estate),
        examination.profile(),
        salt.home.into_iter().collect(),
        salt.findings,
        examination.control(salt.control, consul.keys),
        nomad,
        consul.findings,
        vault,
        clocks,
    ]
    .concat()
}

struct Examination<'a> {
    expected: &'a Expected<'a>,
    endpoints: &'a Endpoints,
    ends: Instant,
}

impl Examination<'_> {
    fn profile(&self) -> Vec<Finding> {
        let settings = &self.expected.estate.settings;
        let Err(error) = refuse_other_profile(settings.profile, self.endpoints) else {
            return Vec::new();
        };
        vec![Finding::not_ok(
            Area::Estate,
            "profile",
            Condition::Broken,
            error.words,
            "eos lab up",
        )]
    }

    async fn in_time<T>(
        &self,
        layer: Layer,
        address: &str,
        work: impl Future<Output = Result<T, EngineError>>,
    ) -> Result<T, EngineError> {
        until(self.ends, layer, address, work).await
    }
}

async fn until<T>(
    ends: Instant,
    layer: Layer,
    address: &str,
    work: impl Future<Output = Result<T, EngineError>>,
) -> Result<T, EngineError> {
    timeout_at(ends, work).await.unwrap_or_else(|_| {
        let words = format!("{address} gave no answer within {} s", PATIENCE.as_secs());
        Err(EngineError::new(layer, ErrorKind::Timeout, layer.name(), words))
    })
}

/// The words of the error without what the row says already.
fn words_of(error: &EngineError) -> String {
    match error.kind {
        _ if error.words.is_empty() => error.to_string(),
        // They name the address.
        ErrorKind::Unreachable | ErrorKind::Timeout => error.words.clone(),
        _ => format!("{}: {}", error.object, error.words),
    }
}

fn minute(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}
