//! Where the engines of an estate are, and how they are spoken to. No secret is in here, only files that hold one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoints {
    pub salt: SaltEndpoint,
    pub nomad: NomadEndpoint,
    /// Of the full profile, as is `vault`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consul: Option<ConsulEndpoint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vault: Option<VaultEndpoint>,
    pub delivery: Delivery,
    /// The id of the minion on which Terraform runs.
    pub control: String,
    /// Where Docker looks first for images whose name has no registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry: Option<String>,
}

impl Endpoints {
    /// The same engines for another user of Salt's API, with the password and the tokens that are known of that one.
    pub fn as_user(&self, user: &str) -> Self {
        let mut other = self.clone();
        if user == self.salt.user {
            return other;
        }
        let before = &self.salt.user;
        let salt = &mut other.salt;
        salt.user = user.to_owned();
        change_user(&mut salt.password_file, &mut salt.other_users, before, user);
        let nomad = &mut other.nomad;
        change_user(&mut nomad.token_file, &mut nomad.other_users, before, user);
        if let Some(vault) = &mut other.vault {
            change_user(&mut vault.token_file, &mut vault.other_users, before, user);
        }
        other
    }
}

/// The file of the one before is one of the others' now.
fn change_user(own: &mut Option<PathBuf>, others: &mut BTreeMap<String, PathBuf>, before: &str, user: &str) {
    if let Some(file) = std::mem::replace(own, others.get(user).cloned()) {
        others.insert(before.to_owned(), file);
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaltEndpoint {
    /// `https://host:port` of rest_cherrypy.
    pub url: String,
    pub user: String,
    /// PEM. The server must show one of these certificates, or one that they signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_file: Option<PathBuf>,
    /// Other API users -> the files of their passwords, where whoever owns this estate may act as them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other_users: BTreeMap<String, PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NomadEndpoint {
    /// `https://host:port`; `http` is for an engine on loopback whose port nobody else can take.
    pub address: String,
    /// As of Salt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
    /// The token of the user that `salt` names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
    /// Other API users -> the files of their tokens.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other_users: BTreeMap<String, PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConsulEndpoint {
    /// `https://host:port`; `http` is for an engine on loopback whose port nobody else can take.
    pub address: String,
    /// As of Salt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VaultEndpoint {
    /// `https://host:port`; `http` is for an engine on loopback whose port nobody else can take.
    pub address: String,
    /// As of Salt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
    /// The token of the user that `salt` names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
    /// Other API users -> the files of their tokens.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other_users: BTreeMap<String, PathBuf>,
}

/// How compiled artifacts get to the Salt master.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Delivery {
    /// `<path>/releases/<digest>` and the symlink `<path>/current`, on a file system the master reads.
    Directory { path: PathBuf },
    /// Through the control minion, which writes them: whoever operates the estate needs no file of the master's.
    Api {},
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOLO: &str = r#"{
  "salt": {
    "url": "https://127.0.0.1:18000",
    "user": "eos-operator",
    "certificate": "/estate/.eos/lab/tls/authority.pem",
    "password_file": "/estate/.eos/lab/secrets/eos-operator-password",
    "other_users": {
      "eos-user": "/estate/.eos/lab/secrets/eos-user-password"
    }
  },
  "nomad": {
    "address": "https://127.0.0.1:4646",
    "certificate": "/estate/.eos/lab/tls/authority.pem",
    "token_file": "/estate/.eos/lab/secrets/nomad-token",
    "other_users": {
      "eos-user": "/estate/.eos/lab/secrets/eos-user-nomad-token"
    }
  },
  "delivery": {
    "kind": "directory",
    "path": "/estate/.eos/lab/srv"
  },
  "control": "control"
}"#;

    /// The same lab with Consul and Vault; what a token is needed for can be left out.
    fn full() -> String {
        SOLO.replace(
            r#"  "delivery""#,
            r#"  "consul": {
    "address": "https://127.0.0.1:8500",
    "certificate": "/estate/.eos/lab/tls/authority.pem",
    "token_file": "/estate/.eos/lab/secrets/consul-program-token"
  },
  "vault": {
    "address": "http://127.0.0.1:8200"
  },
  "delivery""#,
        )
    }

    #[test]
    fn json_reads_back_as_it_was_written() {
        for text in [SOLO.to_owned(), full()] {
            let endpoints: Endpoints = serde_json::from_str(&text).unwrap();
            assert_eq!(serde_json::to_string_pretty(&endpoints).unwrap(), text);
        }
    }

    #[test]
    fn another_user_has_another_password_and_other_tokens() {
        let endpoints: Endpoints = serde_json::from_str(SOLO).unwrap();
        assert_eq!(endpoints.as_user("eos-operator"), endpoints);
        let user = endpoints.as_user("eos-user");
        let secrets = std::path::Path::new("/estate/.eos/lab/secrets");
        assert_eq!(user.salt.password_file, Some(secrets.join("eos-user-password")));
        assert_eq!(user.nomad.token_file, Some(secrets.join("eos-user-nomad-token")));
        assert_eq!(
            user.as_user("eos-operator").salt.password_file,
            endpoints.salt.password_file
        );
        let unknown = endpoints.as_user("eve");
        assert_eq!(unknown.salt.user, "eve");
        assert_eq!(
            (unknown.salt.password_file, unknown.nomad.token_file),
            (None, None)
        );
    }

    #[test]
    fn delivery_over_the_api_names_no_directory() {
        let api: Delivery = serde_json::from_str(r#"{"kind": "api"}"#).unwrap();
        assert_eq!(api, Delivery::Api {});
        assert!(serde_json::from_str::<Delivery>(r#"{"kind": "api", "path": "/srv/eos"}"#).is_err());
    }

    #[test]
    fn an_unknown_key_is_refused() {
        for name in ["nomad-token", "consul-program-token"] {
            let (right, wrong) = (r#""token_file": "/estate/.eos/lab/secrets/"#, r#""tokenfile": ""#);
            let misspelt = full().replace(&format!("{right}{name}"), &format!("{wrong}{name}"));
            let error = serde_json::from_str::<Endpoints>(&misspelt)
                .unwrap_err()
                .to_string();
            assert!(error.contains("unknown field `tokenfile`"), "{error}");
        }
    }
}
