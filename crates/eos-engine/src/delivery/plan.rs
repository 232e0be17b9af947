//! Brings a plan to the Salt master for as long as it is being made: an environment of its own beside `current`, with what
//! the steps of the plan would be given. Nobody applies anything from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use eos_core::emit::release_digest;
use ulid::Ulid;

use super::directory::{Unfinished, failed, make_directory, write_file};
use super::{Files, RELEASE_FILE, api, placed};
use crate::endpoints::Delivery;
use crate::engines::Engines;
use crate::error::EngineError;

const PREFIX: &str = "plan-";

/// A plan on the master. In a directory it goes with this value; over the API the formula removes it after a while.
pub(crate) struct PlanEnvironment {
    /// Of the environment of file server and pillar.
    pub name: String,
    _place: Option<Place>,
}

/// A plan in a directory of delivery.
struct Place {
    path: PathBuf,
    /// Its lock says that the plan is in use: a plan that nobody has locked is abandoned.
    _in_use: File,
}

impl Drop for Place {
    fn drop(&mut self) {
        // What cannot be removed now goes with the next plan that is made.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Delivers what these components need of the artifacts.
pub(crate) async fn deliver_plan(
    engines: &Engines,
    artifacts: &BTreeMap<String, Vec<u8>>,
    components: &BTreeSet<&str>,
) -> Result<PlanEnvironment, EngineError> {
    let digest = release_digest(artifacts);
    let name = format!("{PREFIX}{}{:016x}", &digest[..16], Ulid::new().random() as u64);
    let mut files: Files<'_> = placed(artifacts)?;
    files.retain(|path, _| is_needed(path, components));
    let place = match &engines.endpoints.delivery {
        Delivery::Directory { path } => Some(write_plan(path, &name, &digest, files)?),
        Delivery::Api {} => {
            api::deliver(engines, &digest, &files, api::Target::Plan { name: &name }).await?;
            None
        }
    };
    Ok(PlanEnvironment { name, _place: place })
}

fn write_plan(path: &Path, name: &str, digest: &str, files: Files<'_>) -> Result<Place, EngineError> {
    let release_file = format!("{digest}\n").into_bytes();
    let mut files: Files<'_> = files;
    files.insert(PathBuf::from(RELEASE_FILE), &release_file);
    // What a plan comes from is there already: it is no plan's business to make the place of delivery.
    let plans = path.join("plans");
    make_directory(&plans)?;
    // It need not outlive a crash, so that nothing is synced.
    let (unfinished, in_use) = begin(&plans)?;
    for (path, bytes) in &files {
        write_file(&unfinished.path, path, bytes)?;
    }
    let place = plans.join(name);
    fs::rename(&unfinished.path, &place).map_err(|error| failed(&place, &error))?;
    Ok(Place {
        path: place,
        _in_use: in_use,
    })
}

/// The slices of all minions, and of states and workspaces those of the components.
fn is_needed(path: &Path, components: &BTreeSet<&str>) -> bool {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    match parts.as_slice() {
        ["pillar", "hosts", ..] => true,
        ["salt", "components", component, ..]
        | ["files", "terraform", "modules", component, ..]
        | ["files", "terraform", "environments", _, component, ..] => components.contains(component),
        _ => false,
    }
}

/// A new plan with its lock. The lock of the whole directory is held meanwhile, so that nobody finds a plan that is there and
/// not yet locked.
fn begin(plans: &Path) -> Result<(Unfinished, File), EngineError> {
    let _whole = locked(plans)?;
    let unfinished = Unfinished::new(plans)?;
    let in_use = locked(&unfinished.path)?;
    Ok((unfinished, in_use))
}

fn locked(directory: &Path) -> Result<File, EngineError> {
    File::open(directory)
        .and_then(|opened| opened.lock().map(|()| opened))
        .map_err(|error| failed(directory, &error))
}

/// Removes plans whose makers did not live to do it. A failure here is no reason to make no plan.
pub(crate) fn remove_abandoned(delivery: &Delivery) {
    match delivery {
        Delivery::Directory { path } => remove_abandoned_in(path),
        Delivery::Api {} => {}
    }
}

fn remove_abandoned_in(path: &Path) {
    let plans = path.join("plans");
    let Ok(_whole) = locked(&plans) else { return };
    for entry in fs::read_dir(&plans).into_iter().flatten().flatten() {
        let is_abandoned = File::open(entry.path()).is_ok_and(|plan| plan.try_lock().is_ok());
        if is_abandoned {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn artifacts() -> BTreeMap<String, Vec<u8>> {
        [
            ("pillar/top.sls", "#!json"),
            ("pillar/hosts/control.sls", "#!json"),
            ("pillar/infrastructure/production.sls", "the intent"),
            ("salt/components/hello/production/workspace.sls", "#!json"),
            ("salt/components/other/production/workspace.sls", "#!json"),
            ("terraform/modules/hello/0123456789ab/main.tf", "module"),
            ("terraform/environments/production/hello/main.tf", "module"),
            ("terraform/environments/production/other/main.tf", "module"),
        ]
        .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
        .into()
    }

    /// A plan of these components, in the directory alone.
    fn planned(root: &Path, components: &[&str]) -> Place {
        let (artifacts, components) = (artifacts(), components.iter().copied().collect());
        let mut files = placed(&artifacts).unwrap();
        files.retain(|path, _| is_needed(path, &components));
        let name = format!("{PREFIX}{:032x}", Ulid::new().random());
        write_plan(root, &name, &release_digest(&artifacts), files).unwrap()
    }

    fn all_files(root: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => found.push(path.strip_prefix(root).unwrap().display().to_string()),
                }
            }
        }
        found.sort();
        found
    }

    #[test]
    fn a_plan_is_an_environment_of_its_own_and_goes_when_it_is_done() {
        let root = tempfile::tempdir().unwrap();
        let one = planned(root.path(), &["hello"]);
        let other = planned(root.path(), &["hello"]);
        assert_eq!(
            all_files(&one.path),
            [
                "files/terraform/environments/production/hello/main.tf",
                "files/terraform/modules/hello/0123456789ab/main.tf",
                "pillar/hosts/control.sls",
                "salt/components/hello/production/workspace.sls",
                "salt/release",
            ]
        );
        assert_eq!(
            fs::metadata(&one.path).unwrap().permissions().mode() & 0o777,
            0o755
        );
        drop(one);
        drop(other);
        assert_eq!(all_files(root.path()), Vec::<String>::new());
        assert!(!root.path().join("current").exists());
    }

    #[test]
    fn what_a_crash_left_goes_with_the_next_plan_and_what_is_in_use_stays() {
        let root = tempfile::tempdir().unwrap();
        let left = ["plan-whole", ".new-half"].map(|name| root.path().join("plans").join(name));
        for path in &left {
            fs::create_dir_all(path.join("salt")).unwrap();
        }
        let used = planned(root.path(), &[]);
        remove_abandoned_in(root.path());
        assert!(left.iter().all(|path| !path.exists()));
        assert!(used.path.exists());
    }

    #[test]
    fn plans_that_are_made_side_by_side_do_not_take_one_another_away() {
        let root = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        remove_abandoned_in(root.path());
                        let one = planned(root.path(), &["hello"]);
                        assert_eq!(all_files(&one.path).len(), 5);
                    }
                });
            }
        });
        assert_eq!(all_files(root.path()), Vec::<String>::new());
    }
}
