//! Hosts as a noun of `create`, `read`, `update` and `delete`: the machines that the estate may use.

use super::carry_out::{Asked, ask};
use super::plan_file::PlanOnly;
use super::storage::find_host;
use super::{Ended, Session};
use crate::problem::{Exit, Problem};
use crate::views::reports::component::IntentReport;
use crate::views::reports::list::Applied;
use crate::views::reports::thing::{ThingReport, facts, place};
use clap::ValueHint;
use clap::builder::PossibleValuesParser;
use eos_core::intent::{Noun, Options, Sentence};
use eos_core::kinds::host::node as host_node;
use eos_core::pillar::ROLES;
use eos_core::scope::Scope;
use eos_engine::planning::last_applied;

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

/// Show a host in declarative form
///
/// Eos shows every fact of the host with its source, and whether it is applied. `eos storage HOST` asks the host itself.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos read host node2
  eos read host node2 --json | jq -r .address")]
pub struct ReadArgs {
    /// The host to show
    #[arg(value_name = "NAME")]
    host: String,
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
    fn options(&self) -> Options {
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
}

pub async fn create(session: &mut Session<'_>, args: &CreateArgs, look: &PlanOnly) -> Ended {
    let sentence = Sentence::CreateHost {
        host: args.name.clone(),
        facts: args.facts.options(),
    };
    change(session, sentence, look).await
}

pub async fn read(session: &mut Session<'_>, args: &ReadArgs) -> Ended {
    session.refuse_environment("A host belongs to no environment")?;
    let estate = session.estate()?;
    let pillar = estate.whole_pillar()?;
    find_host(&pillar, &args.host)?;
    let host = &pillar.hosts[&args.host];
    let applied = last_applied(&estate, &session.environment(&estate)).await?;
    let before = applied.get(&Scope::Estate.key(&host.name));
    let node = host_node(host);
    session.view.show(&ThingReport {
        noun: Noun::Host,
        name: host.name.clone(),
        environment: None,
        component: None,
        applied: Applied::of(&node, before.into_iter().flatten()),
        facts: facts(&node),
        intent: host.intent.as_ref().map(IntentReport::of),
        place: place(&host.at),
    });
    Ok(Exit::Done)
}

pub async fn update(session: &mut Session<'_>, args: &UpdateArgs, look: &PlanOnly) -> Ended {
    let sentence = Sentence::UpdateHost {
        host: args.host.clone(),
        facts: args.facts.options(),
    };
    change(session, sentence, look).await
}

pub async fn delete(session: &mut Session<'_>, args: &DeleteArgs, look: &PlanOnly) -> Ended {
    let sentence = Sentence::DeleteHost {
        host: args.host.clone(),
    };
    change(session, sentence, look).await
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

async fn change(session: &mut Session<'_>, sentence: Sentence, look: &PlanOnly) -> Ended {
    session.refuse_environment("A host belongs to no environment")?;
    let estate = session.estate()?;
    let asked = Asked::new(sentence, session.environment(&estate), look);
    ask(session, &estate, asked).await
}
