//! What there is of storage: asked of every host of the pillar at the same time, in one call. Who does not answer is
//! named, and what the others say is told all the same. Read only.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use eos_core::address::NodeKind;
use eos_core::drift::Silent;
use eos_core::kinds::volume::Standing;
use eos_core::name::ENVIRONMENTS;
use eos_core::node::Node;
use eos_core::pillar::{Host, Pillar};
use eos_core::storage::HostStorage;
use eos_core::storage::expand::{HostDisks, OLD_SNAPSHOT_DAYS, RESERVE, Terms};
use futures_util::future::try_join_all;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};

use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::estate::Estate;
use crate::planning::nodes_of;
use crate::salt::MINION_WAIT;
use crate::store::Store;

/// The filesystem of a volume that is a directory, as its node has it.
const DIRECTORY: &str = "directory";
const FUNCTION: &str = "eos.examine";
const OBSERVE: &str = "eos.observe";
/// How long hosts may take: one with many disks asks LVM and each filesystem. Salt itself waits 10 s for those that are
/// gone.
const PATIENCE: Duration = Duration::from_secs(60);

/// The arguments of `FUNCTION` for all storage of a host.
fn asked() -> Value {
    json!({"kind": "volume"})
}

/// What a host sees at these paths, each as `eos.observe` has it. An answer that leaves one out is none.
pub async fn seen_at<T: Serialize + AsRef<str>>(
    engines: &Engines,
    host: &str,
    paths: &[T],
) -> Result<Value, EngineError> {
    let asked = json!({"parts": {"volume": paths}});
    let mut answer = engines.salt.call(host, OBSERVE, asked, PATIENCE).await?;
    let seen = answer.get_mut("volume").map(Value::take).unwrap_or_default();
    match paths.iter().find(|path| said_of(&seen, path.as_ref()).is_none()) {
        None => Ok(seen),
        Some(path) => {
            let words = format!(
                "it was asked for {}, and its answer does not name it",
                path.as_ref()
            );
            let object = format!("minion {host}");
            Err(EngineError::new(Layer::Salt, ErrorKind::Failed, object, words))
        }
    }
}

/// Those of these volumes that are there.
pub async fn standing(engines: &Engines, host: &str, paths: &[&str]) -> Result<Standing, EngineError> {
    let seen = seen_at(engines, host, paths).await?;
    let there = paths.iter().filter(|path| exists(&seen, path));
    Ok(there
        .map(|path| ((*path).to_owned(), mounted(&seen, path)))
        .collect())
}

/// Whether a host says that there is a directory at the path.
pub fn exists(seen: &Value, path: &str) -> bool {
    said_of(seen, path) == Some(true)
}

fn said_of(seen: &Value, path: &str) -> Option<bool> {
    seen.get(path)?.get("exists")?.as_bool()
}

/// The UUID of the filesystem of a volume on LVM that is mounted at the path.
pub fn mounted(seen: &Value, path: &str) -> Option<String> {
    let uuid = seen.get(path)?.get("mounted")?.get("uuid")?;
    uuid.as_str().map(str::to_owned)
}

/// What the hosts of an estate say, in the order of their names.
#[derive(Debug, Serialize)]
pub struct EstateStorage {
    /// The environment that commands mean where none is named.
    #[serde(skip)]
    pub environment: String,
    pub hosts: Vec<HostReport>,
}

#[derive(Debug, Serialize)]
pub struct HostReport {
    pub host: String,
    /// The disks that the pillar gives to Eos.
    pub devices: Vec<String>,
    /// The volume group that the pillar names.
    pub volume_group: Option<String>,
    /// Volumes that are directories, as they were last applied: LVM knows nothing of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<DirectoryVolume>,
    #[serde(flatten)]
    pub said: Said,
}

#[derive(Debug, Serialize)]
pub struct DirectoryVolume {
    pub volume: String,
    pub environment: String,
    pub component: String,
    pub path: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Said {
    Storage(HostStorage),
    Silent(Silent),
}

impl HostReport {
    pub fn storage(&self) -> Option<&HostStorage> {
        match &self.said {
            Said::Storage(storage) => Some(storage),
            Said::Silent(_) => None,
        }
    }
}

impl EstateStorage {
    pub fn host(&self, name: &str) -> Option<&HostReport> {
        self.hosts.iter().find(|report| report.host == name)
    }

    /// Whether anybody said anything.
    pub fn is_known(&self) -> bool {
        self.hosts.iter().any(|report| report.storage().is_some())
    }

    /// The first host that did not answer, and why.
    pub fn silent(&self) -> Option<String> {
        let mut hosts = self.hosts.iter();
        hosts.find_map(|report| match &report.said {
            Said::Silent(silent) => Some(format!("Host {} did not answer: {}", report.host, silent.words)),
            Said::Storage(_) => None,
        })
    }

    /// What `expand::decide` looks at: those who answered.
    pub fn disks(&self) -> Vec<HostDisks<'_>> {
        let hosts = self.hosts.iter();
        hosts
            .filter_map(|report| {
                Some(HostDisks {
                    host: &report.host,
                    storage: report.storage()?,
                    devices: &report.devices,
                })
            })
            .collect()
    }
}

/// What holds for `expand::decide` in this estate, today.
pub fn terms(estate: &Estate, threshold: u8) -> Terms {
    let old_before = Timestamp::now() - SignedDuration::from_hours(24 * OLD_SNAPSHOT_DAYS);
    Terms {
        threshold,
        reserve: RESERVE,
        environment: estate.settings.environment.clone(),
        old_before: old_before.strftime("%Y-%m-%d").to_string(),
    }
}

/// Asks all hosts of the pillar, or one. That Salt's API cannot be asked at all is an error.
pub async fn look(
    estate: &Estate,
    engines: &Engines,
    pillar: &Pillar,
    only: Option<&str>,
) -> Result<EstateStorage, EngineError> {
    let wanted: Vec<&Host> = pillar
        .hosts
        .values()
        .filter(|host| only.is_none_or(|name| name == host.name))
        .collect();
    let answers = match wanted.as_slice() {
        [] => BTreeMap::new(),
        // Where there are no others to be shown, that it does not answer is the answer.
        [one] => {
            let answer = engines.salt.call(&one.name, FUNCTION, asked(), PATIENCE).await?;
            BTreeMap::from([(one.name.clone(), Ok(answer))])
        }
        _ => {
            engines
                .salt
                .call_all(FUNCTION, asked(), MINION_WAIT, PATIENCE)
                .await?
        }
    };
    let directories = directories(&estate.store_to_read()?)?;
    let environment = &estate.settings.environment;
    Ok(report(pillar, environment, &wanted, answers, directories))
}

/// Of each host the volumes that are directories.
fn directories(store: &Store) -> Result<BTreeMap<String, Vec<DirectoryVolume>>, EngineError> {
    let mut found: BTreeMap<String, Vec<DirectoryVolume>> = BTreeMap::new();
    for environment in ENVIRONMENTS {
        for applied in store.applied(environment)? {
            let ((_, component), nodes) = nodes_of(applied)?;
            let is_directory = |node: &&Node| {
                node.address.kind == NodeKind::Volume && node.text("filesystem") == Some(DIRECTORY)
            };
            for node in nodes.iter().filter(is_directory) {
                let (Some(host), Some(path)) = (node.text("host"), node.text("path")) else {
                    continue;
                };
                found.entry(host.to_owned()).or_default().push(DirectoryVolume {
                    volume: node.address.name.clone(),
                    environment: (*environment).to_owned(),
                    component: component.clone(),
                    path: path.to_owned(),
                });
            }
        }
    }
    Ok(found)
}

/// What one host has.
pub async fn of_host(engines: &Engines, host: &str) -> Result<HostStorage, EngineError> {
    let answer = engines.salt.call(host, FUNCTION, asked(), PATIENCE).await?;
    read(host, answer)
}

/// What each of these hosts has. One that is silent is a failure: nothing is planned for a host that nobody knows.
pub async fn of_hosts(
    engines: &Engines,
    hosts: BTreeSet<String>,
) -> Result<BTreeMap<String, HostStorage>, EngineError> {
    let asked = hosts.into_iter().map(|host| async {
        let answer = of_host(engines, &host).await?;
        Ok::<_, EngineError>((host, answer))
    });
    Ok(try_join_all(asked).await?.into_iter().collect())
}

/// The disks that the pillar gives to Eos on a host: its own, and those named for a volume on it.
fn devices_of(pillar: &Pillar, host: &Host) -> Vec<String> {
    let standing = pillar.volumes.values();
    let standing = standing.filter(|volume| volume.host.names.contains(&host.name));
    let named = standing.flat_map(|volume| &volume.settings.devices);
    let mut devices = host.devices.clone();
    for device in named {
        if !devices.contains(device) {
            devices.push(device.clone());
        }
    }
    devices
}

fn report(
    pillar: &Pillar,
    environment: &str,
    hosts: &[&Host],
    mut answers: BTreeMap<String, Result<Value, EngineError>>,
    mut directories: BTreeMap<String, Vec<DirectoryVolume>>,
) -> EstateStorage {
    let hosts = hosts.iter().map(|host| {
        let said = match answers.remove(&host.name) {
            None => Said::Silent(Silent {
                words: format!("Salt knows no minion {}", host.name),
                hint: None,
            }),
            Some(answer) => match answer.and_then(|answer| read(&host.name, answer)) {
                Ok(storage) => Said::Storage(storage),
                Err(error) => Said::Silent(silent(&error)),
            },
        };
        HostReport {
            host: host.name.clone(),
            devices: devices_of(pillar, host),
            volume_group: host.volume_group.clone(),
            directories: directories.remove(&host.name).unwrap_or_default(),
            said,
        }
    });
    EstateStorage {
        environment: environment.to_owned(),
        hosts: hosts.collect(),
    }
}

fn read(host: &str, answer: Value) -> Result<HostStorage, EngineError> {
    serde_json::from_value(answer).map_err(|error| {
        let object = format!("{FUNCTION} of minion {host}");
        EngineError::new(Layer::Salt, ErrorKind::Invalid, object, error.to_string())
    })
}

/// In one line: what a minion says of an exception goes on for pages.
fn silent(error: &EngineError) -> Silent {
    let words = error.to_string();
    Silent {
        words: words.lines().next().unwrap_or_default().to_owned(),
        hint: error.hint.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eos_core::pillar::{COMMON_FILE, PillarFiles};

    #[test]
    fn who_does_not_answer_is_named_and_the_others_are_told() {
        let text = "#!yaml\nhosts:\n  node1: {address: 10.0.0.1, roles: [client, control], devices: [/dev/sdb]}\n  \
                    node2: {address: 10.0.0.2, roles: [client]}\n  node3: {address: 10.0.0.3, roles: [client]}\n  \
                    node4: {address: 10.0.0.4, roles: [client]}\n";
        let files = PillarFiles::from([(COMMON_FILE.to_owned(), text.as_bytes().to_vec())]);
        let pillar = Pillar::read(&files).expect("a sound pillar");
        let hosts: Vec<&Host> = pillar.hosts.values().collect();
        let said = json!({
            "disks": [{"path": "/dev/sdb", "size": 1, "usable": true, "why": null, "group": null, "model": null}],
            "groups": [], "volumes": [], "filesystems": [],
            "tools": {"lvm": true, "xfs": true, "btrfs": false, "ext4": true},
        });
        let gone = EngineError::new(
            Layer::Salt,
            ErrorKind::Unreachable,
            "minion node2",
            "it did not answer\nand more",
        );
        let answers = BTreeMap::from([
            ("node1".to_owned(), Ok(said)),
            ("node2".to_owned(), Err(gone)),
            ("node3".to_owned(), Ok(json!({"disks": "none"}))),
            ("stranger".to_owned(), Ok(json!({}))),
        ]);
        let report = report(&pillar, "production", &hosts, answers, BTreeMap::new());
        assert!(report.is_known());
        let words: Vec<(&str, String)> = report
            .hosts
            .iter()
            .map(|one| match &one.said {
                Said::Storage(storage) => (one.host.as_str(), format!("{} disk", storage.disks.len())),
                Said::Silent(silent) => (one.host.as_str(), silent.words.clone()),
            })
            .collect();
        assert_eq!(words[0], ("node1", "1 disk".to_owned()));
        assert!(words[1].1.ends_with("it did not answer"), "{words:?}");
        assert!(words[2].1.contains("eos.examine of minion node3"), "{words:?}");
        assert_eq!(words[3], ("node4", "Salt knows no minion node4".to_owned()));
        assert_eq!(report.disks().len(), 1);
        assert_eq!(report.disks()[0].devices, ["/dev/sdb"]);
        let document = serde_json::to_value(&report).expect("it has a JSON form");
        assert_eq!(document["hosts"][0]["storage"]["tools"]["lvm"], true);
        assert_eq!(
            document["hosts"][3]["silent"]["words"],
            "Salt knows no minion node4"
        );
    }
}
