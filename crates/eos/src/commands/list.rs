//! `eos list`: the components of an environment, or the hosts of the estate.

use super::{Answer, Session};
use crate::problem::Exit;
use crate::views::reports::list::{Applied, ComponentRow, Components, HostRow, Hosts};
use eos_core::emit::terraform::PLATFORM;
use eos_core::pillar::{Host, Pillar};

/// List the components of an environment, or the hosts
///
/// Eos reads the pillar and the record of applied components; it asks no engine. `eos status` asks them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos list
  eos list --environment staging --json
  eos list --hosts")]
pub struct Args {
    /// List the hosts of the estate
    #[arg(long)]
    hosts: bool,
}

pub fn run(session: &mut Session<'_>, args: &Args) -> Answer {
    let estate = session.estate()?;
    if args.hosts {
        session.refuse_environment("A host belongs to no environment")?;
        let pillar = Pillar::read(&estate.pillar_files()?)?;
        let rows: Vec<_> = pillar.hosts.into_values().map(host_row).collect();
        session.view.show(&Hosts(rows));
        return Ok(Exit::Done);
    }
    let environment = session.environment(&estate);
    let compilation = estate.compile()?;
    let applied = estate.store_to_read()?.applied(&environment)?;
    let mut rows: Vec<ComponentRow> = compilation
        .of_environment(&environment)
        .map(|component| {
            let before = applied.iter().find(|one| one.component == component.component);
            let wanted = compilation.digest(&(environment.clone(), component.component.clone()));
            ComponentRow {
                component: component.component.clone(),
                recipe: component.recipe.clone(),
                version: Some(component.version.clone()).filter(|version| !version.is_empty()),
                applied: match before {
                    None => Applied::No,
                    Some(before) if Some(&before.digest) == wanted.as_ref() => Applied::Yes,
                    Some(_) => Applied::Changed,
                },
                operation: before.map(|before| before.operation.clone()),
            }
        })
        .collect();
    let removed = applied.iter().filter(|one| one.component != PLATFORM);
    for one in removed.filter(|one| compilation.component(&environment, &one.component).is_none()) {
        rows.push(ComponentRow {
            component: one.component.clone(),
            recipe: String::new(),
            version: None,
            applied: Applied::Removed,
            operation: Some(one.operation.clone()),
        });
    }
    session.view.show(&Components { environment, rows });
    Ok(Exit::Done)
}

fn host_row(host: Host) -> HostRow {
    HostRow {
        host: host.name,
        address: host.address,
        datacenter: host.datacenter,
        roles: host.roles,
        volume_group: host.volume_group,
        devices: host.devices,
    }
}
