//! Where Terraform keeps its states: the backend of all workspaces of an estate.
//!
//! The control minion's own credential goes with it; no setting here is a secret.

use crate::profile::Profile;
use serde::Serialize;
use std::fmt;

/// As the slice of a workspace has it, where it is not the profile's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Backend {
    /// Files on the control minion.
    Local,
    /// Keys in Consul's key-value store.
    Consul,
    /// Objects of a bucket, locked by objects beside them.
    S3(S3),
    /// Blobs of a container in Azure, locked by leases.
    Azurerm(Azurerm),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct S3 {
    pub bucket: String,
    pub region: String,
    /// Of a store other than Amazon's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Azurerm {
    pub storage_account: String,
    pub container: String,
    /// Where the blobs of the account are, in a cloud other than Azure's public one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Tells Terraform the addresses of that cloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata_host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
}

impl Backend {
    /// What a profile has unless the estate chooses another.
    pub fn of_profile(profile: Profile) -> Self {
        match profile {
            Profile::Solo => Self::Local,
            Profile::Full => Self::Consul,
        }
    }

    /// As Terraform calls it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Consul => "consul",
            Self::S3(_) => "s3",
            Self::Azurerm(_) => "azurerm",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())
    }
}

/// What an estate is compiled for: a profile is a preset of the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    pub profile: Profile,
    pub backend: Backend,
}

impl Setup {
    /// The backend, if it is not the profile's own.
    pub fn chosen_backend(&self) -> Option<&Backend> {
        Some(&self.backend).filter(|backend| **backend != Backend::of_profile(self.profile))
    }
}

impl From<Profile> for Setup {
    fn from(profile: Profile) -> Self {
        Self {
            profile,
            backend: Backend::of_profile(profile),
        }
    }
}
