//! Vault: sealed or not, as its own health endpoint says, and the store that holds the secrets.

use serde::Serialize;

use super::{LOOK, Seen, Trouble};
use crate::error::EngineError;
use crate::vault::{MOUNT, VaultClient};

#[derive(Debug, Clone, Serialize)]
pub struct VaultSeen {
    pub initialised: bool,
    pub sealed: bool,
    pub standby: bool,
    pub version: String,
    /// What is mounted where secrets are; unknown of one that is sealed.
    pub store: Option<String>,
}

pub(super) async fn ask(vault: &VaultClient) -> Result<VaultSeen, EngineError> {
    let health = vault.health().await?;
    let store = match health.initialized && !health.sealed {
        true => Some(format!("{} at {MOUNT}/", vault.secrets_engine().await?.words())),
        false => None,
    };
    Ok(VaultSeen {
        initialised: health.initialized,
        sealed: health.sealed,
        standby: health.standby,
        version: health.version,
        store,
    })
}

impl Seen for VaultSeen {
    fn words(&self) -> String {
        match (self.initialised, self.sealed) {
            (false, _) => "not initialised".to_owned(),
            (true, true) => "sealed".to_owned(),
            (true, false) => "unsealed".to_owned(),
        }
    }

    fn troubles(&self) -> Vec<Trouble> {
        let trouble = |words: &str| vec![Trouble::new("vault", words, LOOK)];
        match (self.initialised, self.sealed) {
            (false, _) => trouble("it was never initialised"),
            (true, true) => trouble("it is sealed: no task gets its secrets"),
            (true, false) => Vec::new(),
        }
    }
}
