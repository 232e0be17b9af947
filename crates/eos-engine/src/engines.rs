//! The engines of an estate, ready to be spoken to, with the token that `eos login` left.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use eos_core::emit::sha256;
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use crate::consul::ConsulClient;
use crate::control::Heard;
use crate::discovery::{ConsulDiscovery, EstateDiscovery, NomadDiscovery};
use crate::disk;
use crate::endpoints::{Endpoints, SaltEndpoint};
use crate::error::{EngineError, ErrorKind, Layer};
use crate::nomad::NomadClient;
use crate::salt::{SaltClient, Token};
use crate::secrets::{EstateSecrets, NomadSecrets, VaultSecrets};
use crate::settings::{self, Profile, Settings};
use crate::vault::VaultClient;

pub struct Engines {
    pub salt: SaltClient,
    pub nomad: NomadClient,
    /// Of the full profile, as is `vault`.
    pub consul: Option<ConsulClient>,
    pub vault: Option<VaultClient>,
    pub endpoints: Endpoints,
    pub(crate) heard: Heard,
}

impl Engines {
    /// The estate's engines; nothing if it names none and has no lab.
    pub fn connect(settings: &Settings) -> Result<Option<Self>, EngineError> {
        let Some(endpoints) = settings.endpoints.clone() else {
            return Ok(None);
        };
        refuse_other_profile(settings.profile, &endpoints)?;
        let mut salt = SaltClient::new(&endpoints.salt)?;
        if let Some(token) = kept_token(&endpoints.salt)? {
            salt = salt.with_token(token);
        }
        Ok(Some(Self {
            salt,
            nomad: NomadClient::new(&endpoints.nomad)?,
            consul: endpoints.consul.as_ref().map(ConsulClient::new).transpose()?,
            vault: endpoints.vault.as_ref().map(VaultClient::new).transpose()?,
            endpoints,
            heard: Heard::default(),
        }))
    }

    /// Where this estate keeps its secrets.
    pub fn secrets(&self) -> EstateSecrets<'_> {
        match &self.vault {
            Some(vault) => EstateSecrets::Vault(VaultSecrets::new(vault)),
            None => EstateSecrets::Nomad(NomadSecrets::new(&self.nomad)),
        }
    }

    /// Where this estate looks services up.
    pub fn discovery(&self) -> EstateDiscovery<'_> {
        match &self.consul {
            Some(consul) => EstateDiscovery::Consul(ConsulDiscovery::new(consul, &self.nomad)),
            None => EstateDiscovery::Nomad(NomadDiscovery::new(&self.nomad)),
        }
    }
}

/// A lab may be of another profile than the estate: what is compiled for one does not run on the other.
pub(crate) fn refuse_other_profile(profile: Profile, endpoints: &Endpoints) -> Result<(), EngineError> {
    let has_both = endpoints.consul.is_some() && endpoints.vault.is_some();
    let has_one = endpoints.consul.is_some() || endpoints.vault.is_some();
    let (words, hint) = match profile {
        Profile::Full if !has_both => (
            "the profile is full, but the lab has no Consul or no Vault",
            "eos lab up starts them",
        ),
        Profile::Solo if has_one => (
            "the profile is solo, but the lab has Consul and Vault",
            "Set profile = \"full\"; or remove the lab with everything in it: eos lab reset",
        ),
        Profile::Full | Profile::Solo => return Ok(()),
    };
    Err(EngineError::new(Layer::Estate, ErrorKind::Invalid, settings::FILE, words).with_hint(hint))
}

#[derive(Serialize, Deserialize)]
struct TokenFile {
    token: String,
    expires: Timestamp,
}

/// One file for each API and user, below the user's own directory for such things.
pub(crate) fn token_path(endpoint: &SaltEndpoint) -> Result<PathBuf, EngineError> {
    let state = std::env::var_os("XDG_STATE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let state =
        state.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state")));
    let state = state.ok_or_else(|| {
        EngineError::new(
            Layer::Estate,
            ErrorKind::Invalid,
            "Salt's token",
            "neither HOME nor XDG_STATE_HOME is set",
        )
    })?;
    let name = sha256(format!("{} {}", endpoint.url, endpoint.user).as_bytes());
    Ok(state.join("eos/tokens").join(format!("{}.json", &name[..16])))
}

/// Keeps a token for later commands, readable by its owner alone.
pub fn keep_token(endpoint: &SaltEndpoint, token: &Token) -> Result<PathBuf, EngineError> {
    let path = token_path(endpoint)?;
    let write = || -> std::io::Result<()> {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let new = path.with_extension("new");
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&new)?;
        let kept = TokenFile {
            token: token.secret().expose_secret().to_owned(),
            expires: token.expires(),
        };
        file.write_all(&serde_json::to_vec(&kept)?)?;
        file.sync_all()?;
        std::fs::rename(&new, &path)
    };
    write().map_err(|error| disk::failed(path.display().to_string(), &path, &error))?;
    Ok(path)
}

pub(crate) fn kept_token(endpoint: &SaltEndpoint) -> Result<Option<Token>, EngineError> {
    let path = token_path(endpoint)?;
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let words = error.to_string();
            return Err(EngineError::new(
                Layer::Estate,
                ErrorKind::Failed,
                path.display().to_string(),
                words,
            ));
        }
    };
    // A file that cannot be understood, or a token past its time, is as good as none: `eos login` makes a new one.
    let kept: Option<TokenFile> = serde_json::from_slice(&bytes).ok();
    Ok(kept
        .filter(|kept| kept.expires > Timestamp::now())
        .map(|kept| Token::new(SecretString::from(kept.token), kept.expires)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_of_another_profile_is_refused() {
        let solo = r#"{"salt": {"url": "https://127.0.0.1:1", "user": "eos"}, "nomad": {"address": "http://127.0.0.1:2"},
            "delivery": {"kind": "directory", "path": "/lab/srv"}, "control": "node1"}"#;
        let full = solo.replace(
            "\"delivery\"",
            "\"consul\": {\"address\": \"x\"}, \"vault\": {\"address\": \"x\"}, \"delivery\"",
        );
        let check = |profile, text: &str| refuse_other_profile(profile, &serde_json::from_str(text).unwrap());
        check(Profile::Solo, solo).unwrap();
        check(Profile::Full, &full).unwrap();
        for (profile, text) in [(Profile::Full, solo), (Profile::Solo, full.as_str())] {
            let error = check(profile, text).unwrap_err();
            assert_eq!(
                (error.object.as_str(), error.kind),
                (settings::FILE, ErrorKind::Invalid)
            );
            assert!(error.hint.is_some());
        }
    }
}
