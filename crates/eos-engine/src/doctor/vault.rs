//! Vault: its seal, the program's token, and the store that holds the secrets.

use super::versions::Engine;
use super::{Area, Condition, Examination, Finding, minute, words_of};
use crate::endpoints::VaultEndpoint;
use crate::error::{EngineError, Layer};
use crate::secrets::VaultSecrets;
use crate::vault::{self, OwnToken, VaultClient};

/// A token that ends sooner, and cannot be renewed, is worth a word.
const SOON: u64 = 24 * 3600;

impl Examination<'_> {
    pub(super) async fn vault(&self) -> Vec<Finding> {
        let Some(endpoint) = &self.endpoints.vault else {
            return Vec::new();
        };
        let asked = self
            .in_time(Layer::Vault, &endpoint.address, ask_vault(endpoint))
            .await;
        let Vaulted {
            client,
            health,
            token,
            engine,
        } = match asked {
            Ok(answer) => answer,
            Err(error) => return vec![self.failed(Area::Vault, "seal", &error)],
        };
        let mend = if self.is_lab() {
            "eos lab up"
        } else if health.initialized {
            "vault operator unseal"
        } else {
            "vault operator init"
        };
        let sealed = |words| {
            vec![Finding::not_ok(
                Area::Vault,
                "seal",
                Condition::Broken,
                words,
                mend,
            )]
        };
        if !health.initialized {
            return sealed("it was never initialised");
        }
        if health.sealed {
            return sealed("it is sealed");
        }
        let enable = format!("vault secrets enable -path={} -version=2 kv", vault::MOUNT);
        let enable = if self.is_lab() { "eos lab up" } else { &enable };
        let seal = Finding::ok(Area::Vault, "seal", "unsealed");
        let seen = [("the server".to_owned(), health.version)];
        let version = Engine::Vault.finding(Area::Vault, &seen, &self.renew("vault"));
        let token = match token {
            Ok(token) => token_finding(&token, &self.token(Layer::Vault)),
            // Without one nobody is told what is mounted.
            Err(error) => {
                let token = self.failed(Area::Vault, "token", &error);
                return [seal].into_iter().chain(version).chain([token]).collect();
            }
        };
        let store = match engine {
            Ok(engine) if engine.is_versioned_store() => Finding::ok(
                Area::Vault,
                "store",
                format!("{} at {}/", engine.words(), vault::MOUNT),
            ),
            Ok(engine) => {
                let words = format!("{} is at {}/, not kv version 2", engine.words(), vault::MOUNT);
                Finding::not_ok(Area::Vault, "store", Condition::Broken, words, enable)
            }
            Err(error) => Finding::not_ok(Area::Vault, "store", Condition::Broken, words_of(&error), enable),
        };
        let reach = self
            .reach(Area::Vault, &VaultSecrets::new(&client), &endpoint.address)
            .await;
        [seal]
            .into_iter()
            .chain(version)
            .chain([token, store, reach])
            .collect()
    }
}

struct Vaulted {
    client: VaultClient,
    health: vault::Health,
    token: Result<OwnToken, EngineError>,
    engine: Result<vault::SecretsEngine, EngineError>,
}

async fn ask_vault(endpoint: &VaultEndpoint) -> Result<Vaulted, EngineError> {
    let client = VaultClient::new(endpoint)?;
    let health = client.health().await?;
    let (token, engine) = tokio::join!(client.own_token(), client.secrets_engine());
    Ok(Vaulted {
        client,
        health,
        token,
        engine,
    })
}

fn token_finding(token: &OwnToken, mend: &str) -> Finding {
    let Some(expires) = token.expire_time else {
        return Finding::ok(Area::Vault, "token", "valid, without an end");
    };
    let until = minute(expires);
    if token.renewable {
        return Finding::ok(Area::Vault, "token", format!("until {until}, renewed on use"));
    }
    match token.ttl < SOON {
        false => Finding::ok(Area::Vault, "token", format!("until {until}")),
        true => Finding::not_ok(
            Area::Vault,
            "token",
            Condition::Limited,
            format!("it ends {until} and cannot be renewed"),
            mend,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_says_when_it_ends() {
        let mut token = OwnToken {
            ttl: 3600,
            creation_ttl: 7200,
            renewable: false,
            expire_time: Some("2026-11-16T05:00:00Z".parse().unwrap()),
        };
        assert_eq!(token_finding(&token, "mend").condition, Condition::Limited);
        token.renewable = true;
        assert_eq!(
            token_finding(&token, "mend").words,
            "until 2026-11-16 05:00 UTC, renewed on use"
        );
    }
}
