//! Effects: what the engines say that a plan would do to what is really there. They are named by the real objects, not by
//! nodes, so that what was said can be compared with what an engine shows afterwards.
//!
//! | object | who says so | attributes |
//! |---|---|---|
//! | `nomad/namespace/<name>` | Terraform | fields of the namespace |
//! | `nomad/job/<namespace>/<id>` | Nomad | paths of the job's JSON, such as `TaskGroups.hello.Count` |
//! | `nomad/allocations/<namespace>/<id>` | Nomad | how many `place`, `stop`, `destructive`, `in_place`, `migrate`, `canary` |
//! | `nomad/service/<namespace>/<name>`, `consul/service/<name>` | Nomad | `instances` |
//! | `nomad/volume/<namespace>/<name>` | Terraform | fields of the volume |
//! | `nomad/variable/<namespace>/<path>`, `vault/secret/<path>` | Eos | names of items, without values |
//! | `consul/config/<kind>/<name>` | Terraform | paths of the entry |
//! | `salt/directory/<minion>:<path>` | Salt | `user`, `group`, `mode` |
//! | `salt/file/<minion>:<path>` | Salt | |
//! | `terraform/resource/<address>` | Terraform | paths of its attributes |
//! | `terraform/state/<environment>/<component>` | Terraform | addresses: `present`, `absent` or `changed` |
//!
//! In a path, task groups, tasks and services stand by their name, ports by their label, volumes by their key, and all
//! other lists by index. A path whose value is an object or a list stands for all in it: it has `present` for a value. What
//! is empty, zero or false is as good as absent, as it is in the engines' own JSON.

pub mod explain;
pub mod nomad;
pub mod salt;
pub mod terraform;

use super::Action;
use crate::address::Address;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Of something that is there as a whole, where its value would be.
pub const PRESENT: &str = "present";
/// Of a resource of Terraform that is not in its state.
pub const ABSENT: &str = "absent";
/// Of a resource of Terraform whose attributes change.
pub const CHANGED: &str = "changed";

/// What one engine says that becomes of one object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    pub engine: Engine,
    pub object: String,
    pub environment: String,
    pub component: String,
    pub action: Action,
    pub attributes: Vec<EffectAttribute>,
    /// Address of the change of the plan that it belongs to; none where nothing in the pillar explains it, because what is
    /// there was changed behind Eos.
    pub change: Option<Address>,
    /// What the engine warns of, in a sentence.
    pub warning: Option<String>,
}

/// One attribute that becomes another. Without `before` it was not there; without `after` it will not be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectAttribute {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
    /// It changes, and nobody knows yet what it becomes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unknown: bool,
    /// No change of the plan explains it: it was changed behind Eos, and is put right on the way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub behind: bool,
}

impl EffectAttribute {
    pub fn new(name: impl Into<String>, before: Option<Value>, after: Option<Value>) -> Self {
        Self {
            name: name.into(),
            before,
            after,
            unknown: false,
            behind: false,
        }
    }

    pub fn unknown(name: impl Into<String>, before: Option<Value>) -> Self {
        Self {
            name: name.into(),
            before,
            after: None,
            unknown: true,
            behind: false,
        }
    }
}

/// Who says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    Salt,
    Terraform,
    Nomad,
    Consul,
    Vault,
    Eos,
    /// All of them: where a plan was made without any.
    Engines,
}

impl Engine {
    pub fn name(self) -> &'static str {
        match self {
            Self::Salt => "salt",
            Self::Terraform => "terraform",
            Self::Nomad => "nomad",
            Self::Consul => "consul",
            Self::Vault => "vault",
            Self::Eos => "eos",
            Self::Engines => "engines",
        }
    }
}

/// What could not be asked, so that nothing is said of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unasked {
    pub engine: Engine,
    pub object: String,
    pub why: String,
}

/// What an engine refuses: the plan cannot be applied as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refused {
    pub engine: Engine,
    pub object: String,
    /// The engine's own words.
    pub words: String,
    pub hint: String,
}

/// Whose step is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Of<'a> {
    pub environment: &'a str,
    pub component: &'a str,
}

impl Of<'_> {
    /// One effect, before it is known which change explains it.
    pub fn effect(
        self,
        engine: Engine,
        object: impl Into<String>,
        action: Action,
        attributes: Vec<EffectAttribute>,
    ) -> Effect {
        Effect {
            engine,
            object: object.into(),
            environment: self.environment.to_owned(),
            component: self.component.to_owned(),
            action,
            attributes,
            change: None,
            warning: None,
        }
    }
}
