//! What was chosen once for a lab and holds from then on: its ports, its names, its engines (`lab.json`).

use std::env;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::containers::ContainerChoices;
use crate::durable;
use crate::error::Result;
use crate::install::Engines;
use crate::layout::Layout;
use crate::ports;

/// The name of the machine: Salt minion and Nomad node in one.
const CONTROL: &str = "control";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choices {
    pub control: String,
    pub ports: Ports,
    /// Where Salt's Unix sockets lie.
    pub sockets: PathBuf,
    /// The engines of the last `up`.
    pub engines: Engines,
    /// The host that this Terraform takes a provider without one to be from.
    pub registry: Option<String>,
    /// A Docker of the lab's own, once it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containers: Option<ContainerChoices>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ports {
    pub salt_publish: u16,
    pub salt_return: u16,
    pub salt_api: u16,
    pub nomad_http: u16,
    pub nomad_rpc: u16,
    pub nomad_serf: u16,
}

impl Ports {
    pub fn all(&self) -> [u16; 6] {
        [
            self.salt_publish,
            self.salt_return,
            self.salt_api,
            self.nomad_http,
            self.nomad_rpc,
            self.nomad_serf,
        ]
    }
}

impl Choices {
    pub fn read(layout: &Layout) -> Result<Option<Choices>> {
        durable::read_json(&layout.choices(), "the choices of a lab")
    }

    /// What was chosen before, with the engines of now; all of it is on disk before anything is started.
    pub fn open(layout: &Layout, engines: &Engines) -> Result<Choices> {
        let choices = match Choices::read(layout)? {
            Some(mut choices) => {
                if choices.engines.terraform != engines.terraform {
                    choices.registry = None;
                }
                choices.engines = engines.clone();
                choices
            }
            None => Choices::choose(layout, engines)?,
        };
        choices.save(layout)?;
        Ok(choices)
    }

    pub fn save(&self, layout: &Layout) -> Result<()> {
        durable::write_json(&layout.choices(), self, 0o644)
    }

    fn choose(layout: &Layout, engines: &Engines) -> Result<Choices> {
        let [
            salt_publish,
            salt_return,
            salt_api,
            nomad_http,
            nomad_rpc,
            nomad_serf,
        ] = ports::choose()?;
        let run_time = env::var_os("XDG_RUNTIME_DIR")
            .map(PathBuf::from)
            .filter(|path| path.is_dir());
        Ok(Choices {
            control: CONTROL.into(),
            ports: Ports {
                salt_publish,
                salt_return,
                salt_api,
                nomad_http,
                nomad_rpc,
                nomad_serf,
            },
            sockets: layout.choose_sockets(run_time),
            engines: engines.clone(),
            registry: None,
            containers: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::Installed;

    fn engines(terraform: &str) -> Engines {
        let installed = |version: &str| Installed {
            version: version.into(),
            path: "/x".into(),
        };
        Engines {
            salt: installed("3008.3"),
            terraform: installed(terraform),
            nomad: installed("1.11.2"),
        }
    }

    #[test]
    fn ports_are_chosen_once_and_engines_may_change() {
        let directory = tempfile::tempdir().unwrap();
        let layout = Layout::at(directory.path()).unwrap();
        let mut first = Choices::open(&layout, &engines("1.11.4")).unwrap();
        first.registry = Some("host".into());
        first.save(&layout).unwrap();
        assert_eq!(Choices::open(&layout, &engines("1.11.4")).unwrap(), first);
        let second = Choices::open(&layout, &engines("1.12.0")).unwrap();
        assert_eq!(second.ports, first.ports);
        assert_eq!(
            second.registry, None,
            "another Terraform may have another default host"
        );
        assert_eq!(Choices::read(&layout).unwrap(), Some(second));
    }
}
