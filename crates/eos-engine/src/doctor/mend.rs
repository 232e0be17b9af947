//! The command that mends each kind of thing, in a lab and elsewhere.

use super::{Area, Condition, Examination, Finding, words_of};
use crate::endpoints::Endpoints;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::person;
use crate::settings::Source;

impl Examination<'_> {
    pub(super) fn failed(&self, area: Area, what: &str, error: &EngineError) -> Finding {
        let mend = match error.kind {
            ErrorKind::Refused => self.token(error.layer),
            _ => self.start(match area {
                // The API takes connections for a master that is gone.
                Area::Salt if what == "API" && error.kind == ErrorKind::Timeout => "salt-master",
                Area::Salt if what == "API" => "salt-api",
                Area::Salt => "salt-minion",
                area => area.name(),
            }),
        };
        Finding::not_ok(area, what, Condition::Broken, words_of(error), mend)
    }

    pub(super) fn is_lab(&self) -> bool {
        self.expected.estate.settings.source == Source::Lab
    }

    /// Starts a service: the lab's all in one, others where they run.
    pub(super) fn start(&self, service: &str) -> String {
        match self.is_lab() {
            true => "eos lab up".to_owned(),
            false => format!("systemctl restart {service}"),
        }
    }

    /// Has a host of the pillar join its engines: a lab has nodes of certain names only.
    pub(super) fn bring_host(&self, host: &str, elsewhere: &str) -> String {
        let number = host
            .strip_prefix("node")
            .and_then(|number| number.parse::<u8>().ok());
        match number {
            _ if !self.is_lab() => elsewhere.to_owned(),
            Some(number) => format!("eos lab up --nodes {number}"),
            None => format!("eos delete host {host}"),
        }
    }

    /// Nomad looks for Docker when it starts.
    pub(super) fn start_docker(&self) -> &'static str {
        match self.is_lab() {
            true => "eos lab up --containers",
            false => "apt install docker.io && systemctl restart nomad",
        }
    }

    /// Gets a token that is valid, for the file that eos.toml names. A lab makes one anew where there is none.
    pub(super) fn token(&self, layer: Layer) -> String {
        let Endpoints {
            nomad, consul, vault, ..
        } = self.endpoints;
        let file = match layer {
            Layer::Nomad => nomad.token_file.as_ref(),
            Layer::Consul => consul.as_ref().and_then(|consul| consul.token_file.as_ref()),
            Layer::Vault => vault.as_ref().and_then(|vault| vault.token_file.as_ref()),
            _ => None,
        };
        let policy = person::policy_name(&self.endpoints.salt.user);
        let own = match (layer, file) {
            (_, Some(file)) if self.is_lab() => {
                return format!("rm -f {} && eos lab up", in_quotes(&file.display().to_string()));
            }
            (_, None) if self.is_lab() => "eos lab up",
            (Layer::Nomad, _) => {
                return format!("nomad acl token create -type=client -policy={policy}");
            }
            (Layer::Consul, _) => "consul acl token create -policy-name=eos-program",
            (Layer::Vault, _) => return format!("vault token create -policy={policy} -period=768h"),
            _ => "eos login",
        };
        own.to_owned()
    }

    pub(super) fn bring_formula(&self, minion: &str) -> String {
        match self.is_lab() {
            true => "eos lab up".to_owned(),
            false => format!("salt {minion} saltutil.sync_all"),
        }
    }

    /// Brings an engine to a version that Eos works with.
    pub(super) fn renew(&self, program: &str) -> String {
        match self.is_lab() {
            true => "eos lab install && eos lab up".to_owned(),
            false => format!("apt install --only-upgrade {program}"),
        }
    }

    /// A command that is to be given on the control minion: a lab's is this machine.
    pub(super) fn on_control(&self, command: &str) -> String {
        self.on_minion(&self.endpoints.control, command)
    }

    pub(super) fn on_minion(&self, minion: &str, command: &str) -> String {
        match self.is_lab() {
            true => command.to_owned(),
            false => format!("ssh {minion} {}", in_quotes(command)),
        }
    }

    /// What a minion is to be told in its own configuration; formula/README.md has it all.
    pub(super) fn edit_minion(&self, minion: &str) -> String {
        let edit = "$EDITOR /etc/salt/minion.d/eos.conf && systemctl restart salt-minion";
        match self.is_lab() {
            true => "eos lab up".to_owned(),
            false => self.on_minion(minion, edit),
        }
    }

    /// Lets the control minion move secrets; formula/README.md has the permissions and the policy.
    pub(super) fn let_move(&self, error: &EngineError) -> String {
        match error.layer {
            _ if self.is_lab() => "eos lab up".to_owned(),
            Layer::Vault => "vault policy write eos-control files/eos-control.vault.hcl".to_owned(),
            Layer::Salt if error.kind == ErrorKind::Refused => self.edit_master(),
            _ => format!("salt {} saltutil.sync_all", self.endpoints.control),
        }
    }

    pub(super) fn edit_master(&self) -> String {
        match self.is_lab() {
            true => "eos lab up".to_owned(),
            false => {
                "$EDITOR /etc/salt/master.d/eos.conf && systemctl restart salt-master salt-api".to_owned()
            }
        }
    }
}

fn in_quotes(command: &str) -> String {
    format!("'{}'", command.replace('\'', r"'\''"))
}
