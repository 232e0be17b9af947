//! The client of Vault against a real one, and the secrets that are kept in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use crate::process::{EngineProcess, engine_of, eventually, free_port};
use eos_engine::secrets::{SecretPath, Secrets, VaultSecrets};
use eos_engine::vault::{MOUNT, Request};
use eos_engine::{ErrorKind, VaultClient, VaultEndpoint, env_names};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

pub const ROOT: &str = "root-of-this-test";
const LIMIT: Duration = Duration::from_secs(60);
const GRAFANA: SecretPath<'_> = SecretPath {
    namespace: "production",
    path: "production/grafana/app",
};

/// A Vault that keeps nothing, unsealed, with a root token that is chosen in advance.
pub struct Vault {
    pub server: EngineProcess,
    pub address: String,
    pub client: VaultClient,
}

impl Vault {
    pub async fn start(program: &str, directory: &Path) -> Vault {
        let listen = format!("127.0.0.1:{}", free_port());
        let arguments = [
            "server",
            "-dev",
            "-dev-no-store-token",
            &format!("-dev-root-token-id={ROOT}"),
            &format!("-dev-listen-address={listen}"),
        ];
        let server = EngineProcess::start(program, &arguments, directory, "vault.log");
        let address = format!("http://{listen}");
        let client = client(&address, ROOT);
        eventually("vault", LIMIT, async || match client.entry("ready").await {
            Ok(None) => Ok(()),
            other => Err(format!("{other:?}")),
        })
        .await;
        Vault {
            server,
            address,
            client,
        }
    }
}

fn client(address: &str, token: &str) -> VaultClient {
    let endpoint = VaultEndpoint {
        address: address.to_owned(),
        certificate: None,
        token_file: None,
        other_users: BTreeMap::new(),
    };
    VaultClient::new(&endpoint)
        .unwrap()
        .with_token(SecretString::from(token))
}

fn at(path: &str) -> Request<'_> {
    Request {
        object: path,
        path,
        query: &[],
    }
}

fn items(pairs: &[(&str, &str)]) -> BTreeMap<String, SecretString> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), SecretString::from(*value)))
        .collect()
}

#[tokio::test]
async fn secrets_are_kept_in_vault() {
    let Some(program) = engine_of(env_names::TEST_VAULT) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let Vault {
        mut server,
        address,
        client: vault,
    } = Vault::start(&program, directory.path()).await;
    let whole = async {
        items_are_merged_each_write_a_version(&vault).await;
        nobody_elses_write_is_lost(&vault).await;
        a_deleted_version_can_be_followed_by_another(&vault).await;
        a_wrong_or_small_token_is_refused(&address, &vault).await;
        the_own_token_is_renewed_in_its_second_half(&address, &vault).await;
        a_missing_engine_is_not_an_empty_one(&vault).await;
        assert!(!vault.health().await.unwrap().sealed);
        vault.put::<()>(at("sys/seal"), &json!({})).await.unwrap();
        assert!(vault.health().await.unwrap().sealed);
        let error = vault.entry(GRAFANA.path).await.unwrap_err();
        assert_eq!(
            (error.kind, error.words.as_str()),
            (ErrorKind::Unreachable, "Vault is sealed")
        );
        assert!(error.hint.unwrap().contains("Unseal"));
        server.kill();
        let error = vault.entry(GRAFANA.path).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unreachable);
        assert!(error.hint.unwrap().contains("Is Vault running?"));
    };
    tokio::time::timeout(Duration::from_secs(120), whole)
        .await
        .expect("the whole test has a time limit");
}

async fn items_are_merged_each_write_a_version(vault: &VaultClient) {
    let secrets = VaultSecrets::new(vault);
    assert_eq!(secrets.names(GRAFANA).await.unwrap(), None);
    let first = items(&[("admin_password", "hunter2"), ("other", "kept")]);
    assert_eq!(secrets.set_items(GRAFANA, &first).await.unwrap(), Some(1));
    let second = items(&[("admin_password", "hunter3")]);
    assert_eq!(secrets.set_items(GRAFANA, &second).await.unwrap(), Some(2));
    let read = async |item| {
        let value = secrets.read(GRAFANA, item).await.unwrap();
        value.map(|value| value.expose_secret().to_owned())
    };
    assert_eq!(read("admin_password").await.as_deref(), Some("hunter3"));
    assert_eq!(read("other").await.as_deref(), Some("kept"));
    assert_eq!(read("missing").await, None);
    let names = secrets.names(GRAFANA).await.unwrap().unwrap();
    assert_eq!(names, ["admin_password", "other"].map(str::to_owned).into());
    // What a task was started with can still be read.
    let old: Value = vault
        .get(Request {
            query: &[("version", "1")],
            ..at(&format!("{MOUNT}/data/{}", GRAFANA.path))
        })
        .await
        .unwrap();
    assert_eq!(old["data"]["data"]["admin_password"], "hunter2");
}

async fn nobody_elses_write_is_lost(vault: &VaultClient) {
    let error = vault
        .put_entry(GRAFANA.path, &items(&[("x", "mine")]), 1)
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    let shown = format!("{error:?}");
    assert!(!shown.contains("mine") && !shown.contains("hunter"), "{shown}");

    let set = async |name: &str| {
        let secrets = VaultSecrets::new(vault);
        secrets
            .set_items(GRAFANA, &items(&[(name, "value")]))
            .await
            .unwrap()
    };
    let (a, b, c, d) = tokio::join!(set("item0"), set("item1"), set("item2"), set("item3"));
    let versions: BTreeSet<Option<u64>> = [a, b, c, d].into();
    assert_eq!(
        versions,
        [3, 4, 5, 6].map(Some).into(),
        "each has a version of its own"
    );
    let names = VaultSecrets::new(vault).names(GRAFANA).await.unwrap().unwrap();
    assert_eq!(names.len(), 6, "{names:?}");
}

async fn a_deleted_version_can_be_followed_by_another(vault: &VaultClient) {
    let secrets = VaultSecrets::new(vault);
    let data = format!("{MOUNT}/data/{}", GRAFANA.path);
    vault.delete::<()>(at(&data)).await.unwrap();
    assert_eq!(secrets.names(GRAFANA).await.unwrap(), Some(BTreeSet::new()));
    assert_eq!(secrets.version(GRAFANA).await.unwrap(), None);
    let written = secrets
        .set_items(GRAFANA, &items(&[("admin_password", "hunter4")]))
        .await;
    assert_eq!(written.unwrap(), Some(7));
    assert_eq!(secrets.version(GRAFANA).await.unwrap(), Some(7));

    secrets.delete(GRAFANA).await.unwrap();
    assert_eq!(secrets.names(GRAFANA).await.unwrap(), None);
    let metadata = format!("{MOUNT}/metadata/{}", GRAFANA.path);
    let error = vault.get::<Value>(at(&metadata)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound, "no version is left");
    secrets.delete(GRAFANA).await.unwrap();
}

async fn a_wrong_or_small_token_is_refused(address: &str, vault: &VaultClient) {
    let wrong = client(address, "hvs.wrong-token");
    let error = wrong.entry(GRAFANA.path).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert!(error.words.contains("permission denied"), "{error}");
    assert!(!format!("{error:?}").contains("hvs.wrong-token"), "{error:?}");

    let token = token(vault, &json!({"policies": ["default"]})).await;
    let error = VaultSecrets::new(&client(address, &token))
        .set_items(GRAFANA, &items(&[("password", "hunter5")]))
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert!(!format!("{error:?}").contains("hunter5"), "{error:?}");
}

async fn token(vault: &VaultClient, wanted: &Value) -> String {
    let made: Value = vault.post(at("auth/token/create"), wanted).await.unwrap();
    made["auth"]["client_token"].as_str().unwrap().to_owned()
}

async fn the_own_token_is_renewed_in_its_second_half(address: &str, vault: &VaultClient) {
    vault.keep_token().await.unwrap();
    let token = token(vault, &json!({"policies": ["default"], "period": "6s"})).await;
    let own = client(address, &token);
    tokio::time::sleep(Duration::from_secs(4)).await;
    let left = async || {
        let token: Value = own.get(at("auth/token/lookup-self")).await.unwrap();
        token["data"]["ttl"].as_u64().unwrap()
    };
    assert!(left().await <= 2);
    own.keep_token().await.unwrap();
    assert!(left().await >= 4);
    vault
        .post::<()>(at("auth/token/revoke"), &json!({"token": token}))
        .await
        .unwrap();
    assert_eq!(own.keep_token().await.unwrap_err().kind, ErrorKind::Refused);
}

async fn a_missing_engine_is_not_an_empty_one(vault: &VaultClient) {
    vault
        .delete::<()>(at(&format!("sys/mounts/{MOUNT}")))
        .await
        .unwrap();
    let error = VaultSecrets::new(vault).names(GRAFANA).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert!(error.hint.unwrap().contains("mounted at secret/"));
    let body = json!({"type": "kv", "options": {"version": "2"}});
    vault
        .post::<()>(at(&format!("sys/mounts/{MOUNT}")), &body)
        .await
        .unwrap();
}
