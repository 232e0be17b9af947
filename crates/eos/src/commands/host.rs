//! Hosts as a noun of `create`, `update` and `delete`: the machines that the estate may use.

use super::carry_out::{Asked, ask};
use super::plan_file::Look;
use super::{Answer, Session};
use crate::options::{Chosen, shell_word};
use crate::problem::Problem;
use clap::ValueHint;
use clap::builder::PossibleValuesParser;
use eos_core::intent::{Noun, Verb};
use eos_core::pillar::ROLES;
use serde_json::Value;
use std::collections::BTreeMap;

/// Add a host to the estate
///
/// The host's Salt minion must already answer to its name. For the role client, a Nomad node of the same name must be
/// ready. Eos asks both before it asks you. The default role is client, the default datacenter dc1. A host belongs to
/// no environment. Existing volumes stay where they are.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos create host node2 --address 10.0.0.2
  eos create host node3 --address 10.0.0.3 --role storage,client --device /dev/sdb --volume-group data-vg
  eos create host node4 --address 10.0.1.4 --datacenter dc2 --plan")]
pub struct CreateArgs {
    /// The id of its Salt minion, and the name of its Nomad node
    name: String,
    #[command(flatten)]
    facts: Facts,
}

/// Change the facts of a host
///
/// Only the options you give change; a list such as --role is replaced as a whole.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos update host node2 --role client,storage --device /dev/sdb,/dev/sdc
  eos update host node2 --address 10.0.0.12 --yes")]
pub struct UpdateArgs {
    /// The host to change
    #[arg(value_name = "NAME")]
    host: String,
    #[command(flatten)]
    facts: Facts,
}

/// Remove a host from the estate
///
/// Nothing on the host itself changes. Eos refuses a host that holds a volume or runs Terraform for the estate.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos delete host node2 --plan
  eos delete host node2 --yes")]
pub struct DeleteArgs {
    /// The host to remove
    #[arg(value_name = "NAME")]
    host: String,
}

/// The facts of a host.
#[derive(Debug, Default, clap::Args)]
struct Facts {
    /// IP address or name of the host
    #[arg(long)]
    address: Option<String>,
    /// client (runs tasks), storage (has disks for data) or control (runs Terraform) [may be repeated]
    #[arg(
        long = "role", value_name = "ROLE", value_delimiter = ',', hide_possible_values = true,
        value_parser = PossibleValuesParser::new(ROLES)
    )]
    roles: Vec<String>,
    /// A disk that Eos may use as a whole [may be repeated]
    #[arg(long = "device", value_name = "PATH", value_delimiter = ',', value_hint = ValueHint::AnyPath)]
    devices: Vec<String>,
    /// Nomad datacenter of the host
    #[arg(long, value_name = "NAME")]
    datacenter: Option<String>,
    /// LVM volume group for its volumes
    #[arg(long, value_name = "NAME")]
    volume_group: Option<String>,
    /// Directory above all its volumes, for hosts that share a machine, like the nodes of a lab
    #[arg(long, value_name = "PATH", value_hint = ValueHint::DirPath)]
    volumes_below: Option<String>,
}

impl Facts {
    fn options(&self) -> BTreeMap<String, Value> {
        let texts = [
            ("address", &self.address),
            ("datacenter", &self.datacenter),
            ("volume_group", &self.volume_group),
            ("volumes_below", &self.volumes_below),
        ];
        let texts = texts
            .into_iter()
            .filter_map(|(name, text)| Some((name.to_owned(), text.clone()?.into())));
        let lists = [("devices", &self.devices), ("roles", &self.roles)];
        let lists = lists
            .into_iter()
            .filter(|(_, items)| !items.is_empty())
            .map(|(name, items)| (name.to_owned(), items.clone().into()));
        texts.chain(lists).collect()
    }

    fn words(&self) -> Vec<String> {
        let list = |items: &[String]| (!items.is_empty()).then(|| items.join(","));
        let flags = [
            ("address", self.address.clone()),
            ("role", list(&self.roles)),
            ("device", list(&self.devices)),
            ("datacenter", self.datacenter.clone()),
            ("volume-group", self.volume_group.clone()),
            ("volumes-below", self.volumes_below.clone()),
        ];
        let given = flags.into_iter().filter_map(|(flag, value)| Some((flag, value?)));
        given
            .map(|(flag, value)| format!("--{flag} {}", shell_word(&value)))
            .collect()
    }
}

pub async fn create(session: &mut Session<'_>, args: &CreateArgs, look: &Look) -> Answer {
    change(session, Verb::Create, &args.name, &args.facts, look).await
}

pub async fn update(session: &mut Session<'_>, args: &UpdateArgs, look: &Look) -> Answer {
    change(session, Verb::Update, &args.host, &args.facts, look).await
}

pub async fn delete(session: &mut Session<'_>, args: &DeleteArgs, look: &Look) -> Answer {
    change(session, Verb::Delete, &args.host, &Facts::default(), look).await
}

/// A noun stands right after its verb; what is said of a component before it has no meaning.
pub fn refuse_component(verb: &str, noun: &str, said: bool) -> Result<(), Problem> {
    match said {
        true => Err(Problem::usage(
            format!("The command names a component and a {noun}"),
            format!("For a {noun}: `eos {verb} {noun} NAME`"),
        )),
        false => Ok(()),
    }
}

async fn change(session: &mut Session<'_>, verb: Verb, name: &str, facts: &Facts, look: &Look) -> Answer {
    session.refuse_environment("A host belongs to no environment")?;
    let estate = session.estate()?;
    let verb_word = match verb {
        Verb::Create => "create",
        Verb::Update => "update",
        Verb::Delete => "delete",
        Verb::Promote => "promote",
        Verb::Rotate => "rotate",
        Verb::Reconcile => "reconcile",
    };
    let asked = Asked {
        verb,
        noun: Noun::Host,
        environment: session.environment(&estate),
        from: None,
        upgrade: false,
        component: name,
        recipe: None,
        chosen: Chosen {
            options: facts.options(),
            ..Chosen::default()
        },
        words: [format!("eos {verb_word} host {}", shell_word(name))]
            .into_iter()
            .chain(facts.words())
            .collect(),
        look,
    };
    ask(session, &estate, asked).await
}
