//! Disks without room: those that Eos writes to on this machine, and those that the formula writes to on a minion.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::files::quoted;
use super::{Area, Condition, Examination, Expected, Finding};
use crate::disk;
use crate::endpoints::Delivery;

/// With less than this free, in bytes, a disk is soon full: one release and one Terraform run take a few MiB.
const LITTLE: u64 = 64 << 20;

/// What the disks lack of the estate, its repository, its deliveries and its lab: each disk once.
pub(super) fn of_this_machine(expected: &Expected<'_>) -> Vec<Finding> {
    let estate = expected.estate;
    let own = ["", ".eos", ".git"].map(|name| estate.root.join(name));
    let endpoints = estate.settings.endpoints.iter();
    let delivery = endpoints.filter_map(|endpoints| match &endpoints.delivery {
        Delivery::Directory { path } => Some(path.clone()),
        Delivery::Api {} => None,
    });
    let written_to = expected.written_to.iter().cloned();
    let all = own.into_iter().chain(delivery).chain(written_to);
    let places: BTreeSet<PathBuf> = all.map(|directory| disk::mount_point(&directory)).collect();
    let lacking = places.iter().filter_map(|place| {
        let free = disk::free(place)?;
        finding(Area::Machine, "disk", place, free, str::to_owned)
    });
    lacking.collect()
}

impl Examination<'_> {
    /// What `eos.examine` of a minion says of its disks.
    pub(super) fn disks_of(&self, minion: &str, examined: &Value) -> Vec<Finding> {
        let all = examined.get("disks").and_then(Value::as_array);
        let all = all.into_iter().flatten();
        all.filter_map(|one| {
            let path = Path::new(one.get("path")?.as_str()?);
            let what = format!("disk of minion {minion}");
            finding(Area::Salt, &what, path, one.get("free")?.as_u64()?, |command| {
                self.on_minion(minion, command)
            })
        })
        .collect()
    }
}

fn finding(
    area: Area,
    what: &str,
    path: &Path,
    free: u64,
    there: impl Fn(&str) -> String,
) -> Option<Finding> {
    let (condition, words) = match free {
        LITTLE.. => return None,
        disk::ROOM.. => {
            let left = format!("{} MiB are left on the disk of {}", free >> 20, path.display());
            (Condition::Limited, left)
        }
        _ => (
            Condition::Broken,
            format!("the disk of {} is full", path.display()),
        ),
    };
    let mend = there(&format!("df -h {}", quoted(path)));
    Some(Finding::not_ok(area, what, condition, words, mend))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_told_of_before_it_is_full_and_when_it_is() {
        let of = |free| finding(Area::Salt, "disk", Path::new("/srv"), free, str::to_owned);
        assert_eq!(of(LITTLE), None);
        let little = of(LITTLE - 1).unwrap();
        assert_eq!(little.condition, Condition::Limited);
        assert_eq!(little.words, "63 MiB are left on the disk of /srv");
        let none = of(0).unwrap();
        assert_eq!(
            (none.condition, none.words.as_str()),
            (Condition::Broken, "the disk of /srv is full")
        );
        assert_eq!(none.mend.as_deref(), Some("df -h /srv"));
    }
}
