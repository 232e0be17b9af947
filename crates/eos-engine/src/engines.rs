//! The engines of an estate, ready to be spoken to, with the token that `eos login` left.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use eos_core::emit::sha256;
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use crate::endpoints::{Endpoints, SaltEndpoint};
use crate::error::{EngineError, ErrorKind, Layer};
use crate::nomad::NomadClient;
use crate::salt::{SaltClient, Token};
use crate::settings::Settings;

pub struct Engines {
    pub salt: SaltClient,
    pub nomad: NomadClient,
    pub endpoints: Endpoints,
}

impl Engines {
    /// The estate's engines; nothing if it names none and has no lab.
    pub fn connect(settings: &Settings) -> Result<Option<Self>, EngineError> {
        let Some(endpoints) = settings.endpoints.clone() else {
            return Ok(None);
        };
        let mut salt = SaltClient::new(&endpoints.salt)?;
        if let Some(token) = kept_token(&endpoints.salt)? {
            salt = salt.with_token(token);
        }
        let nomad = NomadClient::new(&endpoints.nomad)?;
        Ok(Some(Self {
            salt,
            nomad,
            endpoints,
        }))
    }
}

#[derive(Serialize, Deserialize)]
struct TokenFile {
    token: String,
    expires: Timestamp,
}

/// One file for each API and user, below the user's own directory for such things.
fn token_path(endpoint: &SaltEndpoint) -> Result<PathBuf, EngineError> {
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
    write().map_err(|error| {
        EngineError::new(
            Layer::Estate,
            ErrorKind::Failed,
            path.display().to_string(),
            error.to_string(),
        )
    })?;
    Ok(path)
}

fn kept_token(endpoint: &SaltEndpoint) -> Result<Option<Token>, EngineError> {
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
