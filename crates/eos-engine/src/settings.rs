//! The settings of an estate, resolved once: `eos.toml`, and where it names no engines, those of the lab.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::endpoints::{Delivery, Endpoints, NomadEndpoint, SaltEndpoint};
use crate::env_names;
use crate::error::{EngineError, ErrorKind, Layer};

pub const FILE: &str = "eos.toml";
const LAB_ENDPOINTS: &str = ".eos/lab/endpoints.json";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub profile: Profile,
    /// The environment that is meant where none is named.
    pub environment: String,
    pub endpoints: Option<Endpoints>,
    pub source: Source,
}

/// Which engines there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Salt, Terraform and Nomad; secrets in Nomad variables, discovery by Nomad's services.
    #[default]
    Solo,
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
    delivery: Option<Delivery>,
    control: Option<Control>,
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
        let path = estate.join(FILE);
        let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
        let file: File = toml::from_str(&text).map_err(|error| misread(&text, &error))?;
        let (profile, environment) = (file.profile, file.environment.clone());
        let (endpoints, source) = match file.endpoints(estate)? {
            Some(endpoints) => (Some(endpoints), Source::File),
            None => match lab_endpoints(estate)? {
                Some(endpoints) => (Some(endpoints), Source::Lab),
                None => (None, Source::None),
            },
        };
        Ok(Settings {
            profile,
            environment,
            endpoints,
            source,
        })
    }
}

impl File {
    /// The engines this file names: all of them, or none.
    fn endpoints(self, estate: &Path) -> Result<Option<Endpoints>, EngineError> {
        match (self.salt, self.nomad, self.delivery, self.control) {
            (None, None, None, None) => Ok(None),
            (Some(mut salt), Some(mut nomad), Some(delivery), Some(control)) => {
                let from_estate = |path: PathBuf| estate.join(path);
                salt.certificate = salt.certificate.map(from_estate);
                salt.password_file = salt.password_file.map(from_estate);
                nomad.token_file = nomad.token_file.map(from_estate);
                let Delivery::Directory { path } = delivery;
                let delivery = Delivery::Directory {
                    path: estate.join(path),
                };
                Ok(Some(Endpoints {
                    salt,
                    nomad,
                    delivery,
                    control: control.minion,
                }))
            }
            (salt, nomad, delivery, control) => {
                let missing: Vec<&str> = [
                    ("[salt]", salt.is_none()),
                    ("[nomad]", nomad.is_none()),
                    ("[delivery]", delivery.is_none()),
                    ("[control]", control.is_none()),
                ]
                .into_iter()
                .filter_map(|(table, missing)| missing.then_some(table))
                .collect();
                let words = format!("it names some of the engines, but not {}", missing.join(", "));
                Err(EngineError::new(Layer::Estate, ErrorKind::Invalid, FILE, words)
                    .with_hint("Name all four tables, or none of them to use the lab of this estate"))
            }
        }
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
        .with_hint("eos lab up writes it anew")
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

fn find_estate_from(named: Option<&Path>, current: &Path) -> Result<PathBuf, EngineError> {
    let is_estate = |directory: &Path| directory.join(FILE).is_file();
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
    let place = match error.span() {
        None => FILE.to_owned(),
        Some(span) => {
            let before = text.get(..span.start).unwrap_or(text);
            let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
            let line = before.matches('\n').count() + 1;
            let column = before[line_start..].chars().count() + 1;
            format!("{FILE}:{line}:{column}")
        }
    };
    EngineError::new(Layer::Estate, ErrorKind::Invalid, place, error.message())
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
                "environment = \"production\"\nprofil = \"solo\"\n",
                "eos.toml:2:1",
                "unknown field `profil`",
            ),
            ("profile = \"full\"\n", "eos.toml:1:11", "unknown variant `full`"),
            ("[salt]\nurl = \"x\"\nuser = 7\n", "eos.toml:3:8", "invalid type"),
            ("[salt\n", "eos.toml:1:6", ""),
            (
                "[control]\nminion = \"control\"\n",
                "eos.toml",
                "but not [salt], [nomad], [delivery]",
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
