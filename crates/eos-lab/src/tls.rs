//! The lab's own authority, and the certificates that it signed: one for each kind of engine that listens.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use serde::{Deserialize, Serialize};

use crate::durable;
use crate::error::{AtPath, Error, Result};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const VALID: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);
const RENEW_BEFORE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Who shows a certificate. Agents know each other by the name in it: with that of a client nobody becomes a server.
#[derive(Debug, Clone, Copy)]
pub enum Holder {
    SaltApi,
    NomadServer,
    NomadClient,
    ConsulServer,
    ConsulClient,
    Vault,
}

impl Holder {
    const ALL: [Holder; 6] = [
        Holder::SaltApi,
        Holder::NomadServer,
        Holder::NomadClient,
        Holder::ConsulServer,
        Holder::ConsulClient,
        Holder::Vault,
    ];

    fn file(self) -> &'static str {
        match self {
            Holder::SaltApi => "salt-api",
            Holder::NomadServer => "nomad-server",
            Holder::NomadClient => "nomad-client",
            Holder::ConsulServer => "consul-server",
            Holder::ConsulClient => "consul-client",
            Holder::Vault => "vault",
        }
    }

    /// The name by which other agents know it. It holds the region of Nomad, or the datacenter of Consul.
    fn role(self) -> Option<&'static str> {
        match self {
            Holder::SaltApi | Holder::Vault => None,
            Holder::NomadServer => Some("server.global.nomad"),
            Holder::NomadClient => Some("client.global.nomad"),
            Holder::ConsulServer => Some("server.dc1.consul"),
            Holder::ConsulClient => Some("client.dc1.consul"),
        }
    }
}

/// Where the certificates of a lab lie.
#[derive(Debug, Clone)]
pub struct Certificates {
    directory: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Validity {
    /// Seconds since 1970. Written after the files, so that a crash in between makes them again.
    until: u64,
}

impl Certificates {
    /// Makes all of them, unless they are there and good for a while. They are made together, because the authority's key
    /// is kept nowhere.
    pub fn open(directory: &Path) -> Result<Certificates> {
        let certificates = Certificates {
            directory: directory.into(),
        };
        let record = directory.join("validity.json");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let validity: Option<Validity> = durable::read_json(&record, "the validity of certificates")?;
        if validity.is_some_and(|validity| Duration::from_secs(validity.until) > now + RENEW_BEFORE) {
            return Ok(certificates);
        }
        durable::directory(directory, 0o700)?;
        durable::remove(&record)?;
        let until = now + VALID;
        for (path, pem, mode) in certificates.make(now, until).map_err(|error| Error::Command {
            what: "making certificates".into(),
            words: error.to_string(),
            hint: None,
        })? {
            durable::write(&path, pem.as_bytes(), mode)?;
        }
        let until = until.as_secs();
        durable::write_json(&record, &Validity { until }, 0o600)?;
        Ok(certificates)
    }

    /// What a client pins.
    pub fn authority(&self) -> PathBuf {
        self.directory.join("authority.pem")
    }

    pub fn authority_text(&self) -> Result<String> {
        let path = self.authority();
        fs::read_to_string(&path).at("read", path)
    }

    pub fn certificate(&self, holder: Holder) -> PathBuf {
        self.directory.join(format!("{}.pem", holder.file()))
    }

    pub fn key(&self, holder: Holder) -> PathBuf {
        self.directory.join(format!("{}-key.pem", holder.file()))
    }

    /// All that a holder reads when it starts.
    pub fn files(&self, holder: Holder) -> [PathBuf; 3] {
        [self.authority(), self.certificate(holder), self.key(holder)]
    }

    /// Paths, texts and modes of all files.
    fn make(
        &self,
        now: Duration,
        until: Duration,
    ) -> std::result::Result<Vec<(PathBuf, String, u32)>, rcgen::Error> {
        let mut authority = parameters("Eos lab", now, until);
        authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let authority_key = KeyPair::generate()?;
        let mut files = vec![(
            self.authority(),
            authority.self_signed(&authority_key)?.pem(),
            0o644,
        )];
        let issuer = Issuer::new(authority, authority_key);
        for holder in Holder::ALL {
            let mut own = parameters(&format!("Eos lab: {}", holder.file()), now, until);
            let names = ["127.0.0.1", "localhost"].into_iter().chain(holder.role());
            let names: Vec<String> = names.map(str::to_owned).collect();
            own.subject_alt_names = CertificateParams::new(names)?.subject_alt_names;
            own.key_usages = vec![KeyUsagePurpose::DigitalSignature];
            own.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
            if holder.role().is_some() {
                own.extended_key_usages.push(ExtendedKeyUsagePurpose::ClientAuth);
            }
            let key = KeyPair::generate()?;
            let certificate = own.signed_by(&key, &issuer)?.pem();
            files.push((self.key(holder), key.serialize_pem(), 0o600));
            files.push((self.certificate(holder), certificate, 0o644));
        }
        Ok(files)
    }
}

fn parameters(name: &str, now: Duration, until: Duration) -> CertificateParams {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name.push(DnType::CommonName, name);
    // A day back, for clocks that are set while the lab is up.
    parameters.not_before = (UNIX_EPOCH + now - DAY).into();
    parameters.not_after = (UNIX_EPOCH + until).into();
    parameters
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn certificates_are_kept_until_they_run_out() {
        let directory = tempfile::tempdir().unwrap();
        let read = || {
            let made = Certificates::open(directory.path()).unwrap();
            fs::read(made.certificate(Holder::NomadServer)).unwrap()
        };
        let first = read();
        assert_eq!(read(), first);

        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let soon = Validity {
            until: (now + DAY * 29).as_secs(),
        };
        durable::write_json(&directory.path().join("validity.json"), &soon, 0o600).unwrap();
        assert_ne!(read(), first);
    }

    #[test]
    fn no_key_is_open_and_that_of_the_authority_is_nowhere() {
        let directory = tempfile::tempdir().unwrap();
        let made = Certificates::open(directory.path()).unwrap();
        let keys: Vec<PathBuf> = Holder::ALL.map(|holder| made.key(holder)).into();
        for entry in fs::read_dir(directory.path()).unwrap() {
            let path = entry.unwrap().path();
            let has_key = fs::read_to_string(&path).unwrap().contains("PRIVATE KEY");
            assert_eq!(has_key, keys.contains(&path), "{}", path.display());
            let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert!(!has_key || mode == 0o600, "{}: {mode:o}", path.display());
        }
    }
}
