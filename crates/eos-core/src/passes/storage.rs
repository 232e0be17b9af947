//! The storage pass: where a volume lies. A host without a volume group gets a directory (requirement D6).

use crate::diagnostic::Diagnostic;
use crate::expand::Expanded;
use crate::lowered::{Volume, instance_name};
use crate::option;
use crate::passes::placement::clients;
use crate::pillar::Pillar;
use crate::recipe::VolumeNeed;
use crate::source::{Source, Sourced};

pub fn volumes(expanded: &Expanded<'_>, pillar: &Pillar) -> Result<Vec<Volume>, Vec<Diagnostic>> {
    let mut volumes = Vec::new();
    let mut found = Vec::new();
    // No client host at all is the placement pass's to report.
    let Some(host) = clients(pillar).next() else {
        return Ok(volumes);
    };
    for need in &expanded.recipe.volumes {
        match volume(expanded, need, host) {
            Ok(volume) => volumes.push(volume),
            Err(diagnostic) => found.push(diagnostic),
        }
    }
    if found.is_empty() { Ok(volumes) } else { Err(found) }
}

fn volume(
    expanded: &Expanded<'_>,
    need: &VolumeNeed,
    host: &crate::pillar::Host,
) -> Result<Volume, Diagnostic> {
    let component = expanded.component;
    let path = expanded.text(&need.path)?;
    let path = match &host.volumes_below {
        Some(below) => Sourced::new(
            format!("{}{}", below.trim_end_matches('/'), path.value),
            Source::Host {
                host: host.name.clone(),
                file: host.at.file.clone(),
                line: host.at.position.line,
            },
        ),
        None => path,
    };
    let size = expanded.text(&need.size)?;
    let bytes = option::bytes(&size.value).map_err(|why| {
        Diagnostic::new(format!("Volume {} of {}: {why}", need.name, component.name))
            .at(&expanded.recipe.file, need.at)
    })?;
    let (user, group) = need.owner.split_once(':').unwrap_or((&need.owner, &need.owner));
    Ok(Volume {
        need: need.name.clone(),
        name: format!(
            "{}-{}",
            instance_name(&component.environment, &component.name),
            need.name
        ),
        host: Sourced::new(
            host.name.clone(),
            Source::pass("storage", "first host with the role client"),
        ),
        path,
        purpose: need.purpose,
        size: Sourced::new(bytes, size.from),
        user: user.to_owned(),
        group: group.to_owned(),
        mode: need.mode.clone(),
    })
}
