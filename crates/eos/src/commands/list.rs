//! `eos list`: the components or volumes of an environment, or the hosts of the estate.

use super::{Ended, Session};
use crate::problem::Exit;
use crate::views::reports::list::{Applied, ComponentRow, Components, HostRow, Hosts, VolumeRow, Volumes};
use eos_core::emit::terraform::PLATFORM;
use eos_core::kinds::host::node;
use eos_core::kinds::volume::address;
use eos_core::pillar::{Host, Pillar};
use eos_core::scope::Scope;
use eos_engine::estate::Estate;
use eos_engine::planning::{Nodes, last_applied};

/// List the components of an environment, its volumes, or the hosts
///
/// Eos reads the pillar and the record of what is applied; it asks no engine. `eos status` and `eos storage` ask them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos list
  eos list --environment staging --json
  eos list --hosts
  eos list --volumes")]
pub struct Args {
    /// List the hosts of the estate
    #[arg(long)]
    hosts: bool,
    /// List the volumes of the environment, those of its components included
    #[arg(long, conflicts_with = "hosts")]
    volumes: bool,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let estate = session.estate()?;
    if args.hosts {
        session.refuse_environment("A host belongs to no environment")?;
        let pillar = Pillar::read(&estate.pillar_files()?)?;
        let applied = last_applied(&estate, &session.environment(&estate)).await?;
        let hosts = pillar.hosts.into_values();
        let rows: Vec<_> = hosts.map(|host| host_row(host, &applied)).collect();
        session.view.show(&Hosts(rows));
        return Ok(Exit::Done);
    }
    if args.volumes {
        return volumes(session, &estate).await;
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
                url: component.public_url().map(str::to_owned),
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
            url: None,
        });
    }
    session.view.show(&Components { environment, rows });
    Ok(Exit::Done)
}

async fn volumes(session: &mut Session<'_>, estate: &Estate) -> Ended {
    let environment = session.environment(estate);
    let (pillar, compilation) = (estate.whole_pillar()?, estate.compile()?);
    let applied = last_applied(estate, &environment).await?;
    let mut rows = Vec::new();
    for component in compilation.of_environment(&environment) {
        let key = component.key();
        let is_standing = pillar.volumes.contains_key(&key);
        let nodes = compilation.nodes(&key);
        for volume in &component.volumes {
            let node = nodes.iter().find(|node| node.address == address(volume));
            let before = applied.get(&key).into_iter().flatten();
            rows.push(VolumeRow {
                volume: volume.name.clone(),
                component: (!is_standing).then(|| component.component.clone()),
                host: volume.host.value.clone(),
                size: volume.size.value,
                filesystem: volume.filesystem.value.word(),
                path: volume.path.value.clone(),
                applied: node.map_or(Applied::No, |node| Applied::of(node, before)),
            });
        }
    }
    session.view.show(&Volumes { environment, rows });
    Ok(Exit::Done)
}

fn host_row(host: Host, applied: &Nodes) -> HostRow {
    let before = applied.get(&Scope::Estate.key(&host.name));
    HostRow {
        applied: Applied::of(&node(&host), before.into_iter().flatten()),
        host: host.name,
        address: host.address,
        datacenter: host.datacenter,
        roles: host.roles,
        volume_group: host.volume_group,
        devices: host.devices,
    }
}
