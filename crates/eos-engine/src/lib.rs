//! The effects of Eos: the clients of its engines, and what an operation writes down on the way.
//!
//! | module | owns |
//! |---|---|
//! | `error` | how every engine's answer reads when it is not what was asked for |
//! | `endpoints` | where the engines are and how they are spoken to |
//! | `settings` | `eos.toml`, and which endpoints an estate has |
//! | `env_names` | the names of all `EOS_*` environment variables |
//! | `http` | how an HTTP API is spoken to: TLS, pinning, no proxy, no redirects, requests with a token |
//! | `salt` | Salt's HTTP API: calls, steps, and every way in which Salt says no |
//! | `salt_events` | its event stream, one for all that is followed |
//! | `nomad` | Nomad's HTTP API, read with typed answers |
//! | `consul` | Consul's HTTP API: sessions, keys, the health of services |
//! | `vault` | Vault's HTTP API: entries of its key-value store, its health, its tokens |
//! | `secrets` | secret values, in whichever engine keeps them |
//! | `session` | a command in a task, through the control minion's door |
//! | `discover` | what there is in the engines, made by Eos or not |
//! | `discovery` | where a service answers, and its health |
//! | `hosts` | the hosts as they were last applied |
//! | `hooks` | what systems beside the engines are to know of a component: Prometheus |
//! | `store` | `.eos/store.db`: operations, journal, what is applied |
//! | `lock` | `.eos/locks/`: who may change what just now |
//! | `component_lock` | the same across machines, in Consul |
//! | `disk` | how a full disk reads, whoever met it |
//! | `delivery` | releases on the Salt master, which is current, and plans; through a directory or Salt's API |
//! | `git` | the estate's repository |
//! | `estate` | the estate on disk: pillar and recipes read, artifacts written |
//! | `compiling` | every compilation of an estate, with the digest of its inputs |
//! | `engines` | the engines of an estate, ready to be spoken to |
//! | `diagnose` | why a step failed: layer, object, the engine's own lines, what to do |
//! | `drift` | what differs between the pillar, Terraform and reality, asked of all of them |
//! | `doctor` | what works and what does not: findings, and the questions that engines are asked |
//! | `status` | what runs, and how each layer is |
//! | `storage` | disks, volume groups, volumes and snapshots, asked of all hosts |
//! | `terraform_graph` | Terraform's own graph of a workspace |
//! | `pins` | what a plan is pinned to, and whether that moved |
//! | `planning` | a plan: pillar edited and compiled, engines observed |
//! | `preview` | the joint plan: what each engine says that the steps of a plan would do |
//! | `request` | what somebody wants, in which words and on which terms: as every front end makes it |
//! | `operation` | a plan carried out, from journal entry to read-back |
//! | `steps` | a step asked for and read back: delivery, and the call of a minion |
//! | `kinds` | how each kind of thing is read back from the engine that owns it |
//! | `control` | who calls, in which role, and which machine is the home: as the control minion says |
//! | `calls` | the call of Salt that a step makes |
//! | `approval` | which plans need an approval, who may give it, and giving it |
//! | `audit` | who did what, when, and how it ended; each entry chained to the one before |
//! | `home` | which machine operates an estate |
//! | `waiting` | how much of the time an engine was waited for |
//! | `written` | what generated files were when they were last written |
//! | `failure` | why something was not done |

pub mod approval;
pub mod audit;
mod backend_table;
pub mod calls;
mod compiling;
pub mod component_lock;
pub mod consul;
pub mod control;
pub mod delivery;
pub mod diagnose;
pub mod discover;
pub mod discovery;
pub mod disk;
pub mod doctor;
pub mod drift;
pub mod endpoints;
pub mod engines;
pub mod env_names;
pub mod error;
pub mod estate;
pub mod failure;
#[cfg(debug_assertions)]
mod fault;
pub mod git;
pub mod home;
pub mod hooks;
mod hosts;
mod http;
mod kinds;
pub mod lock;
pub mod nomad;
pub mod operation;
pub mod person;
pub mod pins;
pub mod planning;
pub mod preview;
pub mod registry;
pub mod request;
pub mod salt;
mod salt_events;
pub mod secrets;
pub mod session;
pub mod settings;
pub mod status;
mod steps;
pub mod storage;
pub mod store;
pub mod terraform_graph;
pub mod vault;
pub mod waiting;
mod written;

pub use consul::ConsulClient;
pub use endpoints::{ConsulEndpoint, Delivery, Endpoints, NomadEndpoint, SaltEndpoint, VaultEndpoint};
pub use error::{EngineError, ErrorKind, Layer};
pub use nomad::NomadClient;
pub use salt::{SaltClient, StepCall, Token};
pub use settings::Settings;
pub use store::Store;
pub use vault::VaultClient;
