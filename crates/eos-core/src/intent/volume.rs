//! Volumes in the pillar: made, changed and removed, whether they stand for themselves or belong to a component.

use super::{Options, Subject, words_json, yaml_value};
use crate::catalog::Catalog;
use crate::compile::lower;
use crate::diagnostic::Diagnostic;
use crate::lowered::{Filesystem, Lowered, Lvm, Volume};
use crate::name::{self, Sort, quoted};
use crate::option::{self, human_size};
use crate::pillar::{
    ALERTS, COMPRESSIONS, Pillar, PillarFiles, STANDING_NEED, StandingVolume, VolumeSettings, Words,
    environment_file, group_problem, is_device,
};
use crate::profile::Profile;
use crate::recipe::Purpose;
use crate::splice;
use crate::storage::{exact, smaller_instead};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The part of a volume's size that a snapshot has for changes, unless somebody says how much.
const SNAPSHOT_SHARE: u64 = 5;
/// The least that it has.
const SNAPSHOT_LEAST: u64 = 64 << 20;

type Edited<T> = Result<T, Vec<Diagnostic>>;

fn wrong<T>(words: impl Into<String>, hint: impl Into<String>) -> Edited<T> {
    Err(vec![Diagnostic::new(words).hint(hint)])
}

pub(super) fn create(
    files: &PillarFiles,
    catalog: &Catalog,
    said: &Words,
    (environment, name): (&str, &str),
    facts: &Options,
) -> Edited<PillarFiles> {
    let whose = (environment, name, STANDING_NEED);
    edit(files, catalog, said, whose, facts, |edit| edit.create())
}

pub(super) fn update(
    files: &PillarFiles,
    catalog: &Catalog,
    said: &Words,
    whose: (&str, &str, &str),
    facts: &Options,
) -> Edited<PillarFiles> {
    edit(files, catalog, said, whose, facts, |edit| edit.change())
}

pub(super) fn delete(
    files: &PillarFiles,
    catalog: &Catalog,
    said: &Words,
    (environment, name): (&str, &str),
) -> Edited<PillarFiles> {
    let whose = (environment, name, STANDING_NEED);
    edit(files, catalog, said, whose, &Options::new(), |edit| edit.delete())
}

fn edit(
    files: &PillarFiles,
    catalog: &Catalog,
    said: &Words,
    (environment, name, need): (&str, &str, &str),
    facts: &Options,
    write: fn(&mut Edit<'_>) -> Edited<()>,
) -> Edited<PillarFiles> {
    let pillar = Pillar::read(files)?;
    let (lowered, _) = lower(&pillar, catalog, Profile::default());
    let file = environment_file(environment);
    let text = match files.get(&file) {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => super::empty_environment_file().to_owned(),
    };
    let mut edit = Edit {
        subject: Subject {
            environment,
            name,
            said,
            pillar: &pillar,
            catalog,
        },
        need,
        facts,
        lowered: &lowered,
        file,
        text,
    };
    write(&mut edit)?;
    let mut files = files.clone();
    files.insert(edit.file, edit.text.into_bytes());
    Ok(files)
}

/// The volume that a person means by its name or by the path it is mounted at: its component and its need.
pub fn find<'l>(
    lowered: &'l BTreeMap<(String, String), Lowered>,
    environment: &str,
    meant: &str,
) -> Result<(&'l Lowered, &'l Volume), Diagnostic> {
    let components = lowered.values().filter(|one| one.environment == environment);
    let all: Vec<_> = components
        .flat_map(|component| component.volumes.iter().map(move |volume| (component, volume)))
        .collect();
    let is_path = meant.starts_with('/');
    let matches = |volume: &Volume| match is_path {
        true => volume.path.value == meant,
        false => volume.name == meant,
    };
    if let Some(found) = all.iter().find(|(_, volume)| matches(volume)) {
        return Ok(*found);
    }
    let names = all.iter().map(|(_, volume)| match is_path {
        true => volume.path.value.as_str(),
        false => volume.name.as_str(),
    });
    let hint = match name::closest(meant, names) {
        Some(near) => format!("Did you mean {near}?"),
        None => "`eos storage` shows the volumes there are".to_owned(),
    };
    let what = if is_path { "at" } else { "called" };
    Err(Diagnostic::new(format!(
        "There is no volume {what} {} in {environment}",
        quoted(meant)
    ))
    .hint(hint))
}

struct Edit<'a> {
    /// The component that has the volume; one that stands for itself counts as one.
    subject: Subject<'a>,
    need: &'a str,
    facts: &'a Options,
    lowered: &'a BTreeMap<(String, String), Lowered>,
    file: String,
    text: String,
}

impl Edit<'_> {
    fn option(&self, name: &str) -> Option<&str> {
        self.facts.get(name).and_then(Value::as_str)
    }

    fn put(&mut self, path: &[&str], value: &Value) -> Edited<()> {
        let value = yaml_value(value);
        self.text = splice::set(&self.file, &self.text, path, &value).map_err(|found| vec![found])?;
        Ok(())
    }

    fn take(&mut self, path: &[&str]) -> Edited<()> {
        self.text = splice::remove(&self.file, &self.text, path).map_err(|found| vec![found])?;
        Ok(())
    }

    /// Where the pillar has a setting of the volume.
    fn path<'k>(&'k self, key: &[&'k str]) -> Vec<&'k str> {
        let Subject {
            environment,
            name,
            pillar,
            ..
        } = self.subject;
        let base: Vec<&str> = match pillar.volume(environment, name) {
            Some(_) => vec!["volumes", name],
            None => vec!["components", name, "volumes", self.need],
        };
        [base.as_slice(), key].concat()
    }

    fn set(&mut self, key: &[&str], value: &Value) -> Edited<()> {
        let value = yaml_value(value);
        let text = splice::set(&self.file, &self.text, &self.path(key), &value);
        self.text = text.map_err(|found| vec![found])?;
        Ok(())
    }

    fn unset(&mut self, key: &[&str]) -> Edited<()> {
        let text = splice::remove(&self.file, &self.text, &self.path(key));
        self.text = text.map_err(|found| vec![found])?;
        Ok(())
    }

    fn create(&mut self) -> Edited<()> {
        let (environment, name) = (self.subject.environment, self.subject.name);
        if let Some(problem) = name::problem(Sort::Volume, name) {
            return wrong(problem, "Choose another name");
        }
        if self.subject.pillar.component(environment, name).is_some() {
            return wrong(
                format!("{name} is the name of a component of {environment}"),
                "Choose another name",
            );
        }
        let mut fields: Map<String, Value> = Map::new();
        for (option, value) in self.facts {
            check(option, value)?;
            fields.insert(option.clone(), value.clone());
        }
        if !fields.contains_key("size") {
            return wrong(
                format!("Volume {name} needs a size"),
                "Give it with --size, such as 20G",
            );
        }
        let host = match fields.get("host").and_then(Value::as_str) {
            Some(host) => host.to_owned(),
            None => self.only_host()?,
        };
        if !self.subject.pillar.hosts.contains_key(&host) {
            let near = name::closest(&host, self.subject.pillar.hosts.keys().map(String::as_str));
            let hint = near.map_or_else(
                || "`eos create host NAME --address ADDRESS` adds one".to_owned(),
                |near| format!("Did you mean {near}?"),
            );
            return wrong(format!("There is no host {}", quoted(&host)), hint);
        }
        fields.insert("host".to_owned(), host.into());
        if let Some(existing) = self.subject.pillar.volume(environment, name) {
            return match is_as_asked(existing, &fields) {
                true => Ok(()),
                false => wrong(
                    format!("Volume {name} exists in {environment} with other options"),
                    format!("`eos resize lvm {name} SIZE` changes its size"),
                ),
            };
        }
        fields.insert("intent".to_owned(), words_json(self.subject.said));
        self.put(&["volumes", name], &Value::Object(fields))
    }

    fn only_host(&self) -> Edited<String> {
        let hosts: Vec<&String> = self.subject.pillar.hosts.keys().collect();
        let storage = self
            .subject
            .pillar
            .hosts
            .values()
            .filter(|host| host.has_role("storage"));
        let storage: Vec<&String> = storage.map(|host| &host.name).collect();
        match (hosts.as_slice(), storage.as_slice()) {
            ([only], _) | (_, [only]) => Ok((*only).clone()),
            ([], _) => wrong(
                "The estate has no host",
                "`eos create host NAME --address ADDRESS` adds one",
            ),
            (hosts, _) => wrong(
                "--host is missing: there are several hosts",
                format!(
                    "One of {}",
                    hosts
                        .iter()
                        .map(|name| name.as_str())
                        .collect::<Vec<_>>()
                        .join(", ")
                ),
            ),
        }
    }

    /// The pillar names the volume no longer; what becomes of its data, the plan says.
    fn delete(&mut self) -> Edited<()> {
        let (environment, name) = (self.subject.environment, self.subject.name);
        if self.subject.pillar.volume(environment, name).is_none() {
            let found = find(self.lowered, environment, name);
            return match found {
                Ok((component, _)) => wrong(
                    format!("Volume {name} belongs to {}", component.component),
                    format!("It goes with it: `eos delete {}`", component.component),
                ),
                Err(missing) => Err(vec![missing]),
            };
        }
        self.take(&["volumes", name])
    }

    fn change(&mut self) -> Edited<()> {
        let key = (self.subject.environment.to_owned(), self.subject.name.to_owned());
        let found = self.lowered.get(&key).and_then(|component| {
            let mut volumes = component.volumes.iter();
            volumes.find(|volume| volume.need == self.need)
        });
        let Some(volume) = found else {
            return Err(vec![find(self.lowered, &key.0, &key.1).err().unwrap_or_else(
                || {
                    Diagnostic::new(format!("{} has no volume {}", key.1, quoted(self.need)))
                        .hint("`eos storage` shows the volumes there are")
                },
            )]);
        };
        let Some(lvm) = &volume.lvm else {
            return wrong(
                format!(
                    "Volume {} is a directory: its size is not enforced, and it has no snapshots",
                    volume.name
                ),
                format!(
                    "Give host {} a volume group, and create the volume again",
                    volume.host.value
                ),
            );
        };
        let before = self.text.clone();
        self.write_down()?;
        let written = self.text.clone();
        self.resize(volume)?;
        self.convert(volume, lvm)?;
        self.snapshots(volume, lvm)?;
        if let Some(alert) = self.facts.get("alert") {
            check("alert", alert)?;
            if alert.as_u64() != Some(lvm.alert.value.into()) {
                self.set(&["alert"], alert)?;
            }
        }
        if let Some(devices) = self.facts.get("devices") {
            check("devices", devices)?;
            let mut all = self.own_devices();
            for device in devices.as_array().into_iter().flatten().filter_map(Value::as_str) {
                if !lvm.devices.value.iter().any(|known| known == device) {
                    all.push(device.to_owned());
                }
            }
            if all != self.own_devices() {
                self.set(&["devices"], &json!(all))?;
            }
        }
        if self.text == written {
            self.text = before;
            return Ok(());
        }
        let name = self.subject.name;
        let standing = self.subject.pillar.volume(&key.0, name).is_some();
        let place = if standing { "volumes" } else { "components" };
        self.put(&[place, name, "intent"], &words_json(self.subject.said))
    }

    /// What a component has for its own use is in the pillar once something of it is set.
    fn write_down(&mut self) -> Edited<()> {
        let (environment, name) = (self.subject.environment, self.subject.name);
        let there =
            self.subject.existing().is_some() || self.subject.pillar.volume(environment, name).is_some();
        if there {
            return Ok(());
        }
        let Some(recipe) = self.subject.owned_by_another() else {
            return wrong(
                format!("There is no component {}", quoted(name)),
                "`eos list` shows them",
            );
        };
        let component = self.subject.new_component(&recipe);
        self.put(&["components", name, "recipe"], &component.recipe.into())
    }

    /// What the pillar has of the volume as it is.
    fn settings(&self) -> Option<&VolumeSettings> {
        let (environment, name) = (self.subject.environment, self.subject.name);
        let component = self.subject.pillar.component(environment, name);
        let of_component = component.and_then(|component| component.volumes.get(self.need));
        let standing = self
            .subject
            .pillar
            .volume(environment, name)
            .map(|volume| &volume.settings);
        standing.or(of_component)
    }

    fn own_devices(&self) -> Vec<String> {
        self.settings()
            .map_or_else(Vec::new, |settings| settings.devices.clone())
    }

    fn resize(&mut self, volume: &Volume) -> Edited<()> {
        let Some(text) = self.option("size").map(str::to_owned) else {
            return Ok(());
        };
        let now = volume.size.value;
        let (added, text) = match text.strip_prefix('+') {
            Some(more) => (now, more.to_owned()),
            None => (0, text),
        };
        if text.starts_with('-') {
            return wrong(
                format!("{} is not a size", quoted(&text)),
                "Give the new size, such as 200G, or the growth, such as +50G",
            );
        }
        let size = match option::bytes(&text) {
            Ok(bytes) => bytes.saturating_add(added),
            Err(why) => return wrong(format!("size: {why}"), "For example +50G or 200G"),
        };
        let name = &volume.name;
        if size == now {
            return Ok(());
        }
        if size < now && volume.filesystem.value == Filesystem::Xfs {
            let words = format!(
                "Volume {name} cannot shrink from {} to {}: XFS has no shrink",
                human_size(now),
                human_size(size)
            );
            let refused = Diagnostic::new(words).hint(smaller_instead(name, size));
            let size = self.settings().and_then(|settings| settings.size.as_ref());
            return Err(vec![match size.map(|size| &size.at) {
                Some(at) => refused.at(&at.file, at.position),
                None => refused,
            }]);
        }
        match size < now {
            true => self.set(&["shrink_from"], &exact(now).into())?,
            false
                if self
                    .settings()
                    .is_some_and(|settings| settings.shrink_from.is_some()) =>
            {
                self.unset(&["shrink_from"])?
            }
            false => {}
        }
        self.set(&["size"], &exact(size).into())
    }

    fn convert(&mut self, volume: &Volume, lvm: &Lvm) -> Edited<()> {
        if self.facts.get("commit") == Some(&Value::Bool(true)) {
            return match &lvm.converted {
                Some(converted) if converted.committed => Ok(()),
                Some(_) => self.set(&["converted", "committed"], &true.into()),
                None => wrong(
                    format!("Volume {} has no conversion to commit", volume.name),
                    "`eos convert filesystem PATH FILESYSTEM` converts one",
                ),
            };
        }
        let Some(word) = self.option("filesystem") else {
            return Ok(());
        };
        check("filesystem", &word.into())?;
        let Some(wanted) = Filesystem::from_word(word).filter(|wanted| *wanted != Filesystem::Directory)
        else {
            return wrong(
                format!("{} is not a filesystem for a volume", quoted(word)),
                "Use xfs, btrfs or ext4",
            );
        };
        let compression = self.facts.get("compression").cloned();
        if let Some(compression) = &compression {
            check("compression", compression)?;
            if wanted != Filesystem::Btrfs {
                return wrong(
                    format!("{} does not compress", wanted.title()),
                    "Leave --compression out",
                );
            }
        }
        let from = volume.filesystem.value;
        if from == wanted {
            let now = lvm
                .compression
                .as_ref()
                .map(|word| Value::from(word.value.as_str()));
            return match compression {
                Some(compression) if now.as_ref() != Some(&compression) => {
                    self.set(&["compression"], &compression)
                }
                _ => Ok(()),
            };
        }
        refuse_uncommitted(volume, lvm)?;
        if !lvm.snapshots.is_empty() {
            let names: Vec<&str> = lvm.snapshots.keys().map(String::as_str).collect();
            return wrong(
                format!(
                    "Volume {} has snapshots, which hold it as {}: {}",
                    volume.name,
                    from.title(),
                    names.join(", ")
                ),
                format!("Delete them first: `eos snapshot delete {} NAME`", volume.name),
            );
        }
        self.set(&["filesystem"], &wanted.word().into())?;
        match compression {
            Some(compression) => self.set(&["compression"], &compression)?,
            None if self
                .settings()
                .is_some_and(|settings| settings.compression.is_some()) =>
            {
                self.unset(&["compression"])?
            }
            None => {}
        }
        let when = self.subject.said.when.clone();
        let converted = json!({"from": from.word(), "when": when, "committed": false});
        self.set(&["converted"], &converted)
    }

    fn snapshots(&mut self, volume: &Volume, lvm: &Lvm) -> Edited<()> {
        let known = |name: &str| {
            let near = name::closest(name, lvm.snapshots.keys().map(String::as_str));
            let hint = near.map_or_else(
                || format!("`eos snapshot list {}` shows them", volume.name),
                |near| format!("Did you mean {near}?"),
            );
            match lvm.snapshots.contains_key(name) {
                true => Ok(()),
                false => wrong(
                    format!("Volume {} has no snapshot {}", volume.name, quoted(name)),
                    hint,
                ),
            }
        };
        if let Some(name) = self.option("snapshot").map(str::to_owned) {
            if let Some(problem) = name::problem(Sort::Snapshot, &name) {
                return wrong(problem, "Choose another name");
            }
            if lvm.snapshots.contains_key(&name) {
                return Ok(());
            }
            refuse_uncommitted(volume, lvm)?;
            let room = match self.option("room") {
                Some(text) => match option::bytes(text) {
                    Ok(bytes) => bytes,
                    Err(why) => return wrong(format!("room: {why}"), "For example --room 5G"),
                },
                None => (volume.size.value / SNAPSHOT_SHARE).max(SNAPSHOT_LEAST),
            };
            self.set(&["snapshots", &name], &exact(room).into())?;
        }
        if let Some(name) = self.option("forget").map(str::to_owned) {
            known(&name)?;
            self.unset(&["snapshots", &name])?;
        }
        if let Some(name) = self.option("restore").map(str::to_owned) {
            known(&name)?;
            self.unset(&["snapshots", &name])?;
            let when = self.subject.said.when.clone();
            self.set(&["restored"], &json!({"snapshot": name, "when": when}))?;
        }
        Ok(())
    }
}

/// What is kept of a conversion is in the way of what would need it anew.
fn refuse_uncommitted(volume: &Volume, lvm: &Lvm) -> Edited<()> {
    match &lvm.converted {
        Some(converted) if !converted.committed => wrong(
            format!(
                "Volume {} has a conversion that is not committed yet",
                volume.name
            ),
            format!(
                "`eos convert filesystem {} --commit` first, or `eos undo` it",
                volume.path.value
            ),
        ),
        _ => Ok(()),
    }
}

/// Whether an existing volume is what is asked for; what is not asked for does not matter.
fn is_as_asked(existing: &StandingVolume, fields: &Map<String, Value>) -> bool {
    let settings = &existing.settings;
    fields.iter().all(|(key, value)| {
        let text = value.as_str();
        match key.as_str() {
            "size" => {
                let asked = text.and_then(|text| option::bytes(text).ok());
                asked == settings.size.as_ref().map(|size| size.value)
            }
            "host" => text == existing.host.names.first().map(String::as_str),
            "mount" => text == existing.mount.as_deref(),
            "purpose" => text.and_then(Purpose::from_word) == Some(existing.purpose),
            "volume_group" => text == settings.volume_group.as_ref().map(|set| set.value.as_str()),
            "filesystem" => text == settings.filesystem.as_ref().map(|set| set.value.word()),
            "compression" => text == settings.compression.as_ref().map(|set| set.value.as_str()),
            "devices" => *value == json!(settings.devices),
            "owner" => text == Some(existing.owner.as_str()),
            _ => true,
        }
    })
}

/// What can be said of a volume, each of its own kind.
fn check(option: &str, value: &Value) -> Edited<()> {
    let text = value.as_str();
    let words = match option {
        "size" => match text.map(option::bytes) {
            Some(Err(why)) => Some(format!("size: {why}")),
            Some(Ok(_)) => None,
            None => Some("size must be text, such as 20G".to_owned()),
        },
        "volume_group" => text.and_then(group_problem),
        "devices" => {
            let devices = value.as_array().into_iter().flatten();
            let mut bad = devices.filter(|device| !device.as_str().is_some_and(is_device));
            bad.next()
                .map(|device| format!("{device} is not a device: use a path such as /dev/sdb"))
        }
        "purpose" if text.and_then(Purpose::from_word).is_none() => Some(format!(
            "purpose cannot be {value}: use {}",
            Purpose::WORDS.join(", ")
        )),
        "filesystem" if text.and_then(Filesystem::from_word).is_none() => Some(format!(
            "filesystem cannot be {value}: use {}",
            Filesystem::WORDS.join(", ")
        )),
        "compression" if !text.is_some_and(|word| COMPRESSIONS.contains(&word)) => Some(format!(
            "compression cannot be {value}: use {}",
            COMPRESSIONS.join(", ")
        )),
        "mount" if !text.is_some_and(option::is_absolute) => Some(format!(
            "mount cannot be {value}: use an absolute path without . and .."
        )),
        "alert" => {
            let percent = value.as_u64().and_then(|percent| u8::try_from(percent).ok());
            let fits = percent.is_some_and(|percent| ALERTS.contains(&percent));
            (!fits).then(|| format!("alert cannot be {value}: use 1 to 99"))
        }
        "host" | "owner" | "mode" | "purpose" | "filesystem" | "compression" | "mount" => None,
        other => Some(format!("A volume has no {}", quoted(other))),
    };
    match words {
        Some(words) => wrong(words, "`eos create volume --help` shows what it takes"),
        None => Ok(()),
    }
}
