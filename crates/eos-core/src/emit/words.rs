//! What the estate says of a minion in its own words, for people who ask Salt and for an estate without Eos. No step is
//! compared with it, and no digest but that of the release is of it.

use crate::compose::Key;
use crate::lowered::{Lowered, Volume};
use crate::option::{HIDDEN, human_size};
use crate::pillar::{Component, Host, Pillar};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of an option's value, as JSON. A minion's pillar goes over the wire with every step.
const LONGEST: usize = 256;

/// What the estate says of one minion.
#[derive(Serialize)]
pub(super) struct Words<'a> {
    host: HostWords<'a>,
    /// Each of which the minion has a part, by `<environment>/<component>`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    components: BTreeMap<String, ComponentWords<'a>>,
    /// Those that stand for themselves, by `<environment>/<volume>`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    volumes: BTreeMap<String, VolumeWords>,
}

#[derive(Serialize)]
struct HostWords<'a> {
    address: &'a str,
    roles: &'a [String],
    datacenter: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    volume_group: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    devices: &'a [String],
}

#[derive(Serialize)]
struct ComponentWords<'a> {
    recipe: &'a str,
    version: &'a str,
    /// The component that has this one for its own use.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    options: BTreeMap<&'a str, Cow<'a, Value>>,
    /// Those that lie on this minion, by need.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    volumes: BTreeMap<&'a str, VolumeWords>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stopped: bool,
}

/// Where it lies, its slice says.
#[derive(Serialize)]
struct VolumeWords {
    size: String,
    filesystem: &'static str,
}

impl<'a> Words<'a> {
    /// `concerned` are the components of which the minion has a part.
    pub(super) fn of(
        host: &'a Host,
        concerned: BTreeSet<&'a Key>,
        pillar: &'a Pillar,
        components: &'a BTreeMap<Key, Lowered>,
    ) -> Self {
        let mut words = Self {
            host: host.into(),
            components: BTreeMap::new(),
            volumes: BTreeMap::new(),
        };
        // `platform` is no component.
        for component in concerned.into_iter().filter_map(|key| components.get(key)) {
            let here = component
                .volumes
                .iter()
                .filter(|volume| volume.host.value == host.name);
            let volumes = here.map(|volume| (volume.need.as_str(), volume.into()));
            let (name, key) = (component.workspace(), component.key());
            if pillar.volumes.contains_key(&key) {
                words
                    .volumes
                    .extend(volumes.map(|(_, volume)| (name.clone(), volume)));
                continue;
            }
            let said = pillar.components.get(&key);
            let of = ComponentWords {
                recipe: &component.recipe,
                version: &component.version,
                owner: component.owner.as_deref(),
                options: said.map(options).unwrap_or_default(),
                volumes: volumes.collect(),
                stopped: component.is_stopped(),
            };
            words.components.insert(name, of);
        }
        words
    }
}

/// The options that a person set. A secret has no value in the pillar, and none here.
fn options(component: &Component) -> BTreeMap<&str, Cow<'_, Value>> {
    let set = component
        .options
        .iter()
        .filter(|(_, option)| option.value != HIDDEN);
    set.map(|(name, option)| {
        let size = option.value.to_string().len();
        let value = match size > LONGEST {
            true => Cow::Owned(format!("({size} bytes in {})", option.at.file).into()),
            false => Cow::Borrowed(&option.value),
        };
        (name.as_str(), value)
    })
    .collect()
}

impl<'a> From<&'a Host> for HostWords<'a> {
    fn from(host: &'a Host) -> Self {
        Self {
            address: &host.address,
            roles: &host.roles,
            datacenter: &host.datacenter,
            volume_group: host.volume_group.as_deref(),
            devices: &host.devices,
        }
    }
}

impl From<&Volume> for VolumeWords {
    fn from(volume: &Volume) -> Self {
        Self {
            size: human_size(volume.size.value),
            filesystem: volume.filesystem.value.word(),
        }
    }
}
