//! The certificate of Salt's API: an authority of the lab's own, and a server certificate that it signed.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use serde::{Deserialize, Serialize};

use crate::durable;
use crate::error::{Error, Result};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const VALID: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);
const RENEW_BEFORE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

pub struct Certificates {
    /// What a client pins.
    pub authority: PathBuf,
    pub certificate: PathBuf,
    pub key: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Validity {
    /// Seconds since 1970. Written after the files, so that a crash in between makes them again.
    until: u64,
}

/// Makes certificate and key, unless they are there and good for a while. A server certificate of its own is
/// needed since an authority's is refused as a server's.
pub fn certificates(directory: &Path) -> Result<Certificates> {
    let made = Certificates {
        authority: directory.join("authority.pem"),
        certificate: directory.join("certificate.pem"),
        key: directory.join("key.pem"),
    };
    let record = directory.join("validity.json");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let validity: Option<Validity> = durable::read_json(&record, "the validity of a certificate")?;
    if validity.is_some_and(|validity| Duration::from_secs(validity.until) > now + RENEW_BEFORE) {
        return Ok(made);
    }
    durable::directory(directory, 0o700)?;
    durable::remove(&record)?;
    let until = now + VALID;
    make(&made, now, until).map_err(|error| Error::Command {
        what: "making a certificate".into(),
        words: error.to_string(),
        hint: None,
    })??;
    durable::write_json(
        &record,
        &Validity {
            until: until.as_secs(),
        },
        0o600,
    )?;
    Ok(made)
}

fn make(
    made: &Certificates,
    now: Duration,
    until: Duration,
) -> std::result::Result<Result<()>, rcgen::Error> {
    let mut authority = parameters("Eos lab", now, until);
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let authority_key = KeyPair::generate()?;
    let authority_certificate = authority.self_signed(&authority_key)?;

    let mut server = parameters("Eos lab: Salt API", now, until);
    server.subject_alt_names =
        CertificateParams::new(["127.0.0.1".to_owned(), "localhost".to_owned()])?.subject_alt_names;
    server.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let server_key = KeyPair::generate()?;
    let server_certificate = server.signed_by(&server_key, &Issuer::new(authority, authority_key))?;

    // The authority's key is kept nowhere: a new server certificate comes with a new authority.
    Ok(
        durable::write(&made.key, server_key.serialize_pem().as_bytes(), 0o600)
            .and_then(|()| durable::write(&made.certificate, server_certificate.pem().as_bytes(), 0o644))
            .and_then(|()| durable::write(&made.authority, authority_certificate.pem().as_bytes(), 0o644))
            .map_err(Error::from),
    )
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
    use std::fs;

    use super::*;

    #[test]
    fn certificates_are_kept_until_they_run_out() {
        let directory = tempfile::tempdir().unwrap();
        let made = certificates(directory.path()).unwrap();
        let first = fs::read(&made.certificate).unwrap();
        certificates(directory.path()).unwrap();
        assert_eq!(fs::read(&made.certificate).unwrap(), first);

        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let soon = Validity {
            until: (now + DAY * 29).as_secs(),
        };
        durable::write_json(&directory.path().join("validity.json"), &soon, 0o600).unwrap();
        certificates(directory.path()).unwrap();
        assert_ne!(fs::read(&made.certificate).unwrap(), first);
    }
}
