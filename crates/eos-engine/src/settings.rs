//! The settings of an estate, resolved once: `eos.toml`, and where it names no engines, those of the lab.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use eos_core::backend::{Backend, Setup};
use eos_core::drift::{Policy, Tiers};
use eos_core::option;
pub use eos_core::profile::Profile;
use eos_core::recipe::Risk;
use eos_core::storage::expand::Decision;
use serde::Deserialize;

use crate::backend_table::BackendTable;
use crate::component_lock;
use crate::endpoints::{ConsulEndpoint, Delivery, Endpoints, NomadEndpoint, SaltEndpoint, VaultEndpoint};
use crate::env_names;
use crate::error::{EngineError, ErrorKind, Layer};

pub const FILE: &str = "eos.toml";
const LAB_ENDPOINTS: &str = ".eos/lab/endpoints.json";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub profile: Profile,
    /// Where the Terraform states are.
    pub backend: Backend,
    /// The environment that is meant where none is named.
    pub environment: String,
    pub endpoints: Option<Endpoints>,
    pub source: Source,
    /// How long a lock in Consul outlives a holder that was killed.
    pub lock_ttl: Duration,
    /// What is done about drift, by risk.
    pub drift: Tiers,
    /// What `eos expand storage --auto --yes` may do.
    pub expand: Expand,
    /// The registry of images whose name has none: an address of HTTP.
    pub registry: Option<String>,
}

/// A standing approval for volumes that run full, with its limits. Without one, a person confirms each time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expand {
    risk: Option<Risk>,
    at_most: Option<String>,
}

impl Expand {
    /// Why a decision is beyond it, or nothing if it is within.
    pub fn refuse(&self, decision: &Decision) -> Result<(), String> {
        let name = &decision.name;
        let risk = decision.risk.unwrap_or_default();
        let Some(approved) = self.risk.filter(|approved| *approved >= risk) else {
            return Err(format!(
                "Volume {name} stays untouched: no standing approval covers risk {}",
                risk.word()
            ));
        };
        let more = decision.to.unwrap_or_default().saturating_sub(decision.from);
        let at_most = self.at_most.as_deref().and_then(|text| option::bytes(text).ok());
        match at_most {
            Some(at_most) if more > at_most => Err(format!(
                "Volume {name} stays untouched: {} more exceed the standing approval of {} at {}",
                option::human_size(more),
                option::human_size(at_most),
                approved.word()
            )),
            _ => Ok(()),
        }
    }
}

/// Where the endpoints come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    File,
    Lab,
    None,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    profile: Profile,
    #[serde(default = "production")]
    environment: String,
    salt: Option<SaltEndpoint>,
    nomad: Option<NomadEndpoint>,
    consul: Option<ConsulEndpoint>,
    vault: Option<VaultEndpoint>,
    delivery: Option<Delivery>,
    control: Option<Control>,
    #[serde(default)]
    terraform: BackendTable,
    #[serde(default)]
    lock: LockTable,
    #[serde(default)]
    drift: Tiers,
    #[serde(default)]
    expand: Expand,
    #[serde(default)]
    images: Images,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Images {
    registry: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LockTable {
    ttl_seconds: u64,
}

impl Default for LockTable {
    fn default() -> Self {
        Self {
            ttl_seconds: component_lock::TTL.as_secs(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Control {
    minion: String,
}

fn production() -> String {
    "production".to_owned()
}

impl Settings {
    pub fn load(estate: &Path) -> Result<Settings, EngineError> {
        Self::read(estate, lab_endpoints)
    }

    /// For who makes the lab: a file of endpoints that cannot be read is written again.
    pub fn load_for_lab(estate: &Path) -> Result<Settings, EngineError> {
        Self::read(estate, |estate| Ok(lab_endpoints(estate).unwrap_or_default()))
    }

    fn read(
        estate: &Path,
        lab_endpoints: impl FnOnce(&Path) -> Result<Option<Endpoints>, EngineError>,
    ) -> Result<Settings, EngineError> {
        let path = estate.join(FILE);
        let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
        let file: File = toml::from_str(&text).map_err(|error| misread(&text, &error))?;
        let (profile, environment) = (file.profile, file.environment.clone());
        let lock_ttl = Duration::from_secs(file.lock.ttl_seconds);
        if lock_ttl < component_lock::LEAST_TTL || lock_ttl > component_lock::LONGEST_TTL {
            let words = "lock.ttl_seconds is a number from 10 to 86400, as Consul takes it";
            return Err(EngineError::new(Layer::Estate, ErrorKind::Invalid, FILE, words));
        }
        let backend = file
            .terraform
            .backend(profile)
            .map_err(|(at, words, hint)| misplaced(&text, at, words).with_hint(hint))?;
        let drift = file.drift;
        for (tier, policy) in [("medium", drift.medium), ("high", drift.high)] {
            if policy == Policy::Correct {
                let words =
                    format!("drift.{tier} cannot be \"correct\": Eos corrects only low risk without asking");
                return Err(EngineError::new(Layer::Estate, ErrorKind::Invalid, FILE, words)
                    .with_hint("Write \"ask\", or \"report\""));
            }
        }
        if let Some(Err(why)) = file.expand.at_most.as_deref().map(option::bytes) {
            let words = format!("expand.at_most: {why}");
            return Err(EngineError::new(Layer::Estate, ErrorKind::Invalid, FILE, words));
        }
        let expand = file.expand.clone();
        let registry = file.images.registry.clone();
        if let Some(address) = &registry {
            let is_address = address.starts_with("https://") || address.starts_with("http://");
            if !is_address || address.contains('@') {
                let words = "images.registry is the address of a registry, without a user and a password";
                return Err(EngineError::new(Layer::Estate, ErrorKind::Invalid, FILE, words)
                    .with_hint("Write it as registry = \"https://HOST\""));
            }
        }
        let (endpoints, source) = match file.endpoints(estate)? {
            Some(endpoints) => (Some(endpoints), Source::File),
            None => match lab_endpoints(estate)? {
                Some(endpoints) => (Some(endpoints), Source::Lab),
                None => (None, Source::None),
            },
        };
        let of_lab = endpoints
            .as_ref()
            .and_then(|endpoints| endpoints.registry.clone());
        let mut settings = Settings {
            profile,
            backend,
            environment,
            endpoints,
            source,
            lock_ttl,
            drift,
            expand,
            registry: registry.or(of_lab),
        };
        if let Some(user) = std::env::var(env_names::SALT_USER)
            .ok()
            .filter(|user| !user.is_empty())
        {
            settings.act_as(&user);
        }
        Ok(settings)
    }

    /// What the pillar is compiled for.
    pub fn setup(&self) -> Setup {
        Setup {
            profile: self.profile,
            backend: self.backend.clone(),
        }
    }

    /// The user of Salt's API; empty where there is none.
    pub fn salt_user(&self) -> &str {
        self.endpoints
            .as_ref()
            .map_or("", |endpoints| &endpoints.salt.user)
    }

    /// Speaks to the engines as another user of Salt's API.
    pub fn act_as(&mut self, user: &str) {
        if let Some(endpoints) = &mut self.endpoints {
            *endpoints = endpoints.as_user(user);
        }
    }
}

impl File {
    /// The engines this file names: all that the profile has, or none.
    fn endpoints(self, estate: &Path) -> Result<Option<Endpoints>, EngineError> {
        let named = self.tables();
        if let Profile::Solo = self.profile
            && let Some((table, ..)) = named
                .iter()
                .find(|(_, profile, is_named)| *is_named && *profile != Profile::Solo)
        {
            let words = format!("it names {table}, which the profile solo does not have");
            let hint = format!("Set profile = \"full\", or leave {table} out");
            return Err(EngineError::new(Layer::Estate, ErrorKind::Invalid, FILE, words).with_hint(hint));
        }
        let wanted = named
            .iter()
            .filter(|(_, profile, _)| *profile == Profile::Solo || self.profile == Profile::Full);
        let missing: Vec<&str> = wanted
            .clone()
            .filter(|(.., is_named)| !is_named)
            .map(|(table, ..)| *table)
            .collect();
        if missing.len() == wanted.clone().count() {
            return Ok(None);
        }
        let (Some(mut salt), Some(mut nomad), Some(delivery), Some(control), true) = (
            self.salt,
            self.nomad,
            self.delivery,
            self.control,
            missing.is_empty(),
        ) else {
            let words = format!("it names some of the engines, but not {}", missing.join(", "));
            let hint = format!(
                "The profile {} has {} tables: name all, or none of them to use the lab of this estate",
                self.profile,
                wanted.count()
            );
            return Err(EngineError::new(Layer::Estate, ErrorKind::Invalid, FILE, words).with_hint(hint));
        };
        let from_estate = |path: PathBuf| estate.join(path);
        salt.certificate = salt.certificate.map(from_estate);
        salt.password_file = salt.password_file.map(from_estate);
        let all_from_estate = |files: BTreeMap<String, PathBuf>| -> BTreeMap<String, PathBuf> {
            files
                .into_iter()
                .map(|(user, path)| (user, estate.join(path)))
                .collect()
        };
        salt.other_users = all_from_estate(salt.other_users);
        nomad.certificate = nomad.certificate.map(from_estate);
        nomad.token_file = nomad.token_file.map(from_estate);
        nomad.other_users = all_from_estate(nomad.other_users);
        let consul = self.consul.map(|consul| ConsulEndpoint {
            certificate: consul.certificate.map(from_estate),
            token_file: consul.token_file.map(from_estate),
            ..consul
        });
        let vault = self.vault.map(|vault| VaultEndpoint {
            certificate: vault.certificate.map(from_estate),
            token_file: vault.token_file.map(from_estate),
            other_users: all_from_estate(vault.other_users),
            address: vault.address,
        });
        let delivery = match delivery {
            Delivery::Directory { path } => Delivery::Directory {
                path: estate.join(path),
            },
            Delivery::Api {} => Delivery::Api {},
        };
        Ok(Some(Endpoints {
            salt,
            nomad,
            consul,
            vault,
            delivery,
            control: control.minion,
            registry: None,
        }))
    }

    /// Every table of an engine, the smallest profile that has it, and whether this file names it.
    fn tables(&self) -> [(&'static str, Profile, bool); 6] {
        [
            ("[salt]", Profile::Solo, self.salt.is_some()),
            ("[nomad]", Profile::Solo, self.nomad.is_some()),
            ("[consul]", Profile::Full, self.consul.is_some()),
            ("[vault]", Profile::Full, self.vault.is_some()),
            ("[delivery]", Profile::Solo, self.delivery.is_some()),
            ("[control]", Profile::Solo, self.control.is_some()),
        ]
    }
}

fn lab_endpoints(estate: &Path) -> Result<Option<Endpoints>, EngineError> {
    let path = estate.join(LAB_ENDPOINTS);
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        answer => answer.map_err(|error| unreadable(&path, &error))?,
    };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        EngineError::new(
            Layer::Estate,
            ErrorKind::Invalid,
            LAB_ENDPOINTS,
            error.to_string(),
        )
        .with_hint("eos lab up writes it again")
    })
}

/// Finds the estate: the one given, else that of the environment, else the nearest directory with `eos.toml`.
pub fn find_estate(given: Option<&Path>) -> Result<PathBuf, EngineError> {
    let named = given
        .map(Path::to_owned)
        .or_else(|| std::env::var_os(env_names::ESTATE).map(PathBuf::from));
    let current = std::env::current_dir().map_err(|error| unreadable(Path::new("."), &error))?;
    find_estate_from(named.as_deref(), &current)
}

fn is_estate(directory: &Path) -> bool {
    directory.join(FILE).is_file()
}

/// The estate that this directory is to lie in, if any; the directory need not be there.
pub fn estate_around(directory: &Path) -> Option<PathBuf> {
    let whole = std::path::absolute(directory).ok()?;
    let mut above = whole.ancestors().skip(1);
    above.find(|directory| is_estate(directory)).map(Path::to_owned)
}

fn find_estate_from(named: Option<&Path>, current: &Path) -> Result<PathBuf, EngineError> {
    if let Some(named) = named {
        let directory = current.join(named);
        return if is_estate(&directory) {
            Ok(directory)
        } else {
            Err(no_estate(&directory))
        };
    }
    match current.ancestors().find(|directory| is_estate(directory)) {
        Some(directory) => Ok(directory.to_owned()),
        None => Err(no_estate(current)),
    }
}

fn no_estate(directory: &Path) -> EngineError {
    let object = format!("an estate at {}", directory.display());
    EngineError::new(Layer::Estate, ErrorKind::NotFound, object, "there is no eos.toml")
        .with_hint("eos init makes an estate; --estate or EOS_ESTATE names another")
}

fn unreadable(path: &Path, error: &io::Error) -> EngineError {
    let kind = if error.kind() == io::ErrorKind::NotFound {
        ErrorKind::NotFound
    } else {
        ErrorKind::Failed
    };
    EngineError::new(Layer::Estate, kind, path.display().to_string(), error.to_string())
}

fn misread(text: &str, error: &toml::de::Error) -> EngineError {
    match error.span() {
        None => EngineError::new(Layer::Estate, ErrorKind::Invalid, FILE, error.message()),
        Some(span) => misplaced(text, span.start, error.message().to_owned()),
    }
}

/// A mistake at this byte of the file.
fn misplaced(text: &str, at: usize, words: String) -> EngineError {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    let column = before[line_start..].chars().count() + 1;
    let place = format!("{FILE}:{line}:{column}");
    EngineError::new(Layer::Estate, ErrorKind::Invalid, place, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"profile = "solo"
environment = "staging"

[salt]
url = "https://salt.example:8000"
user = "eos"
certificate = "certificates/salt.pem"

[nomad]
address = "http://nomad.example:4646"
token_file = "/run/secrets/nomad"

[delivery]
kind = "directory"
path = "/srv/eos"

[control]
minion = "control"
"#;

    const CONSUL_AND_VAULT: &str = r#"
[consul]
address = "http://consul.example:8500"
token_file = "/run/secrets/consul"

[vault]
address = "https://vault.example:8200"
certificate = "certificates/engines.pem"
token_file = "secrets/vault"
"#;

    fn load(text: &str, lab: Option<&str>) -> Result<Settings, EngineError> {
        let estate = tempfile::tempdir().unwrap();
        std::fs::write(estate.path().join(FILE), text).unwrap();
        if let Some(lab) = lab {
            std::fs::create_dir_all(estate.path().join(".eos/lab")).unwrap();
            std::fs::write(estate.path().join(LAB_ENDPOINTS), lab).unwrap();
        }
        let mut settings = Settings::load(estate.path())?;
        // So that relative paths can be compared.
        if let Some(endpoints) = &mut settings.endpoints
            && let Some(path) = &mut endpoints.salt.certificate
        {
            *path = path.strip_prefix(estate.path()).unwrap().to_owned();
        }
        Ok(settings)
    }

    fn lab() -> String {
        r#"{"salt": {"url": "https://127.0.0.1:1", "user": "eos"}, "nomad": {"address": "http://127.0.0.1:2"},
            "delivery": {"kind": "directory", "path": "/lab/srv"}, "control": "node1"}"#
            .to_owned()
    }

    #[test]
    fn a_file_that_names_its_engines_wins_over_the_lab() {
        let settings = load(WHOLE, Some(&lab())).unwrap();
        assert_eq!(
            (settings.source, settings.environment.as_str()),
            (Source::File, "staging")
        );
        let endpoints = settings.endpoints.unwrap();
        assert_eq!(endpoints.control, "control");
        assert_eq!(
            endpoints.salt.certificate.unwrap(),
            Path::new("certificates/salt.pem")
        );
        assert_eq!(
            endpoints.nomad.token_file.unwrap(),
            Path::new("/run/secrets/nomad")
        );
    }

    #[test]
    fn the_full_profile_has_consul_and_vault_too() {
        let estate = tempfile::tempdir().unwrap();
        let text = format!("{WHOLE}{CONSUL_AND_VAULT}").replace("\"solo\"", "\"full\"");
        std::fs::write(estate.path().join(FILE), text).unwrap();
        let settings = Settings::load(estate.path()).unwrap();
        assert_eq!((settings.profile, settings.source), (Profile::Full, Source::File));
        let endpoints = settings.endpoints.unwrap();
        let (consul, vault) = (endpoints.consul.unwrap(), endpoints.vault.unwrap());
        assert_eq!(consul.token_file.unwrap(), Path::new("/run/secrets/consul"));
        assert_eq!(vault.address, "https://vault.example:8200");
        let certificate = estate.path().join("certificates/engines.pem");
        assert_eq!(vault.certificate.unwrap(), certificate);
        assert_eq!(vault.token_file.unwrap(), estate.path().join("secrets/vault"));
    }

    #[test]
    fn a_hint_says_how_to_mend_a_table_of_the_wrong_profile() {
        let text = format!("{WHOLE}{CONSUL_AND_VAULT}");
        let hint = load(&text, None).unwrap_err().hint.unwrap();
        assert_eq!(hint, "Set profile = \"full\", or leave [consul] out");
        let hint = load(&WHOLE.replace("\"solo\"", "\"full\""), None)
            .unwrap_err()
            .hint
            .unwrap();
        assert!(hint.starts_with("The profile full has 6 tables"), "{hint}");
    }

    #[test]
    fn an_empty_file_means_the_lab_if_there_is_one() {
        let settings = load("", Some(&lab())).unwrap();
        assert_eq!(
            (settings.source, settings.environment.as_str()),
            (Source::Lab, "production")
        );
        assert_eq!(settings.endpoints.unwrap().control, "node1");
        let settings = load("", None).unwrap();
        assert_eq!((settings.source, settings.endpoints), (Source::None, None));
    }

    #[test]
    fn mistakes_are_refused_with_their_place() {
        let cases = [
            (
                "[drift]\nmedium = \"correct\"\n",
                "eos.toml",
                "Eos corrects only low risk without asking",
            ),
            (
                "[drift]\nlow = \"mend\"\n",
                "eos.toml:2:7",
                "unknown variant `mend`",
            ),
            (
                "environment = \"production\"\nprofil = \"solo\"\n",
                "eos.toml:2:1",
                "unknown field `profil`",
            ),
            (
                "profile = \"fully\"\n",
                "eos.toml:1:11",
                "unknown variant `fully`, expected `solo` or `full`",
            ),
            ("[salt]\nurl = \"x\"\nuser = 7\n", "eos.toml:3:8", "invalid type"),
            ("[salt\n", "eos.toml:1:6", ""),
            (
                "[terraform]\nbackend = \"swift\"\n",
                "eos.toml:2:11",
                "unknown variant `swift`, expected one of `local`, `consul`, `s3`, `azurerm`",
            ),
            (
                "[terraform]\nbackend = \"s3\"\nsecret_access_key = \"x\"\n",
                "eos.toml:3:1",
                "unknown field `secret_access_key`",
            ),
            (
                "[terraform]\nbackend = \"consul\"\n",
                "eos.toml:2:11",
                "the profile solo has no Consul to keep Terraform states in",
            ),
            (
                "[terraform]\nbucket = \"states\"\n",
                "eos.toml:2:10",
                "terraform.bucket is a setting of the backend s3, not of local",
            ),
            (
                "[terraform]\nbackend = \"s3\"\nbucket = \"My_States\"\n",
                "eos.toml:3:10",
                "terraform.bucket cannot be \"My_States\"",
            ),
            (
                "[terraform]\nbackend = \"s3\"\nendpoint = \"https://key:word@store.example\"\n",
                "eos.toml:3:12",
                "terraform.endpoint cannot be",
            ),
            (
                "[terraform]\nbackend = \"s3\"\nprefix = \"a/../b\"\n",
                "eos.toml:3:10",
                "terraform.prefix cannot be \"a/../b\"",
            ),
            (
                "[terraform]\nbackend = \"azurerm\"\n",
                "eos.toml:2:11",
                "the backend azurerm needs terraform.storage_account",
            ),
            (
                "[control]\nminion = \"control\"\n",
                "eos.toml",
                "but not [salt], [nomad], [delivery]",
            ),
            (
                "profile = \"full\"\n[vault]\naddress = \"http://127.0.0.1:1\"\n",
                "eos.toml",
                "but not [salt], [nomad], [consul], [delivery], [control]",
            ),
            (
                &WHOLE.replace("\"solo\"", "\"full\""),
                "eos.toml",
                "but not [consul], [vault]",
            ),
            (
                &format!("{WHOLE}{CONSUL_AND_VAULT}"),
                "eos.toml",
                "it names [consul], which the profile solo does not have",
            ),
            (
                "[vault]\naddress = \"http://127.0.0.1:1\"\n",
                "eos.toml",
                "it names [vault], which the profile solo does not have",
            ),
        ];
        for (text, place, words) in cases {
            let error = load(text, None).unwrap_err();
            assert_eq!(
                (error.object.as_str(), error.kind),
                (place, ErrorKind::Invalid),
                "{text}: {error}"
            );
            assert!(error.words.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn broken_lab_endpoints_are_not_taken_for_none() {
        let error = load("", Some("{")).unwrap_err();
        assert_eq!(
            (error.object.as_str(), error.kind),
            (LAB_ENDPOINTS, ErrorKind::Invalid)
        );
    }

    #[test]
    fn the_nearest_estate_is_found_and_a_named_one_must_be_one() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(root.path().join("a").join(FILE), "").unwrap();
        assert_eq!(find_estate_from(None, &inner).unwrap(), root.path().join("a"));
        assert_eq!(
            find_estate_from(Some(Path::new("..")), &inner).unwrap(),
            inner.join("..")
        );
        let error = find_estate_from(Some(root.path()), &inner).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NotFound);
    }
}
