//! The real engines on one machine, without any other preparation: Salt, Terraform and Nomad, in the full profile
//! Consul and Vault too, installed once per user, started, checked, repaired and stopped. Everything of one lab lies below one directory, listens on
//! loopback only, and belongs to the user who brought it up. Nothing is printed here.
//!
//! | module | owns |
//! |---|---|
//! | `lab` | the lab as a whole: up, status, logs, down, reset |
//! | `layout` | where everything of a lab lies |
//! | `choices` | `lab.json`: profile, ports, names, nodes and engines, chosen once |
//! | `secrets` | `secrets/` |
//! | `salt`, `tls` | `salt/`: settings, keys, certificates, readiness |
//! | `nomad` | `nomad/`: settings, first token, policies, readiness, draining |
//! | `consul` | `consul/`: settings, tokens, policies, its trust in Nomad |
//! | `vault` | `vault/`: settings, seal, engines, policies, ways in |
//! | `network` | interfaces of nodes and of the mesh |
//! | `containers` | `containers/`: Docker, registry and images of the lab's own |
//! | `machine` | whether this machine has what a lab needs |
//! | `terraform` | `terraform/mirror`, `terraform/cli.tfrc` |
//! | `served` | `srv/formula` and the first release |
//! | `daemon`, `process` | `run/`: how a process is started apart, found again and ended |
//! | `logs` | `log/` |
//! | `ports` | free ports, and foreign holders of ours |
//!
//! `eos-install` installs the engines. Its files that are replaced in one go and its progress are used here too.

mod choices;
mod consul;
mod containers;
mod daemon;
mod error;
mod lab;
mod layout;
mod logs;
mod machine;
mod network;
mod nomad;
mod ports;
mod process;
mod salt;
mod secrets;
mod served;
mod terraform;
mod tls;
mod vault;

use eos_install::{durable, progress};

pub use choices::CloudProvider;
pub use containers::{ContainersStatus, ImageInput, ImageStatus, PackedImage, RecipeImage, StandIn};
pub use eos_install::{Advance, Outcome, Progress, Step};
pub use eos_install::{Cache, Engines, Installed, InstalledVault, Wanted, install, install_hcloud};
pub use error::{Error, Result};
pub use lab::{EngineStatus, Lab, LabInput, LabNode};
pub use machine::examine as examine_machine;
pub use served::FormulaFile;
pub use terraform::CLOUDS;
