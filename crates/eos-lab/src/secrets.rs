//! Secrets of the lab: chosen once, written down durably before anybody is told, never shown.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::durable;
use crate::error::{AtPath, Result};
use crate::salt::{ROLES, USER};
use secrecy::SecretString;
use serde_json::Value;

pub struct Secrets {
    directory: PathBuf,
    /// Nomad's first token: it may do everything.
    pub nomad_management: SecretString,
}

impl Secrets {
    /// Reads what was chosen before, and chooses what is missing.
    pub fn open(directory: &Path) -> Result<Secrets> {
        durable::directory(directory, 0o700)?;
        Ok(Secrets {
            nomad_management: keep(&directory.join("nomad-management-token"), uuid)?,
            directory: directory.into(),
        })
    }

    /// A token that is chosen here, before the engine that shall know it is told.
    pub fn token(&self, name: &str) -> Result<SecretString> {
        keep(&self.token_file(name), uuid)
    }

    pub fn token_file(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}-token"))
    }

    /// The password of a user of Salt's API.
    pub fn password(&self, user: &str) -> Result<SecretString> {
        keep(&self.password_file(user), || random::<32>().map(hex::encode))
    }

    pub fn password_file(&self, user: &str) -> PathBuf {
        self.directory.join(format!("{user}-password"))
    }

    /// The key without which nobody takes part in what the agents of an engine tell each other.
    pub fn gossip_key(&self, engine: &str) -> Result<SecretString> {
        let choose = || random::<32>().map(|bytes| STANDARD.encode(bytes));
        keep(&self.directory.join(format!("{engine}-gossip-key")), choose)
    }

    /// Vault's answer to its initialisation, which it gives only once: the key that unseals it, and its first token.
    pub fn vault_init_file(&self) -> PathBuf {
        self.directory.join("vault-init.json")
    }

    pub fn nomad_management_file(&self) -> PathBuf {
        self.directory.join("nomad-management-token")
    }

    /// The token of each user of Salt's API but the first, for one engine.
    pub fn tokens_of_others(&self, engine: &str) -> BTreeMap<String, PathBuf> {
        let others = ROLES.iter().filter(|(user, _)| *user != USER);
        others
            .map(|(user, _)| ((*user).to_owned(), self.person_file(user, engine)))
            .collect()
    }

    /// Where the token of a user of Salt's API lies, with which Eos speaks to an engine for that one.
    pub fn person_file(&self, user: &str, engine: &str) -> PathBuf {
        self.token_file(&format!("{user}-{engine}"))
    }

    /// Removes the file of the token that all users shared in a lab of an earlier Eos.
    pub fn remove_shared(&self, engine: &str) -> Result<()> {
        let file = self.token_file(&format!("{engine}-program"));
        match fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error).at("remove", &file),
            _ => Ok(()),
        }
    }

    /// The root credential that the control minion makes short-lived ones from.
    pub fn control_credential(&self) -> PathBuf {
        self.directory.join("control.json")
    }

    /// Writes the credential of the engines. What an administrator added for stores and clouds stays.
    pub fn write_control_credential(&self, credential: &Value) -> Result<()> {
        let path = self.control_credential();
        let mut written = credential.clone();
        let before = fs::read(&path).unwrap_or_default();
        let before: Value = serde_json::from_slice(&before).unwrap_or_default();
        for key in OF_ADMINISTRATOR {
            if let Some(kept) = before.get(key) {
                written[key] = kept.clone();
            }
        }
        Ok(durable::write_json(&path, &written, 0o600)?)
    }
}

/// What the laboratory does not make of the control minion's credential.
const OF_ADMINISTRATOR: [&str; 2] = ["backends", "providers"];

pub fn random<const COUNT: usize>() -> Result<[u8; COUNT]> {
    let (path, mut bytes) = ("/dev/urandom", [0; COUNT]);
    File::open(path)
        .and_then(|mut source| source.read_exact(&mut bytes))
        .at("read", path)?;
    Ok(bytes)
}

fn uuid() -> Result<String> {
    let mut bytes = random::<16>()?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits = hex::encode(bytes);
    Ok([
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..],
    ]
    .join("-"))
}

fn keep(path: &Path, choose: fn() -> Result<String>) -> Result<SecretString> {
    match fs::read_to_string(path) {
        Ok(there) => return Ok(there.trim_end().into()),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error).at("read", path),
    }
    let chosen = choose()?;
    durable::write(path, format!("{chosen}\n").as_bytes(), 0o600)?;
    Ok(chosen.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn secrets_are_chosen_once_and_closed() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("secrets");
        let first = Secrets::open(&place).unwrap();
        let again = Secrets::open(&place).unwrap();
        let password = first.password("eos-user").unwrap();
        assert_eq!(
            again.password("eos-user").unwrap().expose_secret(),
            password.expose_secret()
        );
        let another = first.password("eos-architect").unwrap();
        assert_ne!(another.expose_secret(), password.expose_secret());
        assert_eq!(
            first.nomad_management.expose_secret(),
            again.nomad_management.expose_secret()
        );
        assert_eq!(password.expose_secret().len(), 64);
        assert_eq!(first.nomad_management.expose_secret().len(), 36);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&place), 0o700);
        first
            .write_control_credential(&serde_json::json!({"nomad_token": "x"}))
            .unwrap();
        let path = first.control_credential();
        let added = serde_json::json!({"nomad_token": "x", "backends": [{"backend": "s3"}]});
        fs::write(&path, added.to_string()).unwrap();
        first
            .write_control_credential(&serde_json::json!({"role_id": "y"}))
            .unwrap();
        let kept: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let wanted = serde_json::json!({"role_id": "y", "backends": [{"backend": "s3"}]});
        assert_eq!(kept, wanted, "the administrator's entries alone stay");
        let token = first.token("consul-program").unwrap();
        assert_eq!(
            again.token("consul-program").unwrap().expose_secret(),
            token.expose_secret()
        );
        for file in [
            first.password_file("eos-user"),
            first.control_credential(),
            first.token_file("consul-program"),
        ] {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
    }
}
