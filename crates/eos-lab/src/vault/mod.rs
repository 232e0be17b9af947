//! Vault in the lab: initialised once, unsealed, given its engines, policies and ways in.
//!
//! Its key lies beside its data: that is fit for a lab, and protects nothing.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use eos_engine::person;
use eos_engine::vault::policies::{self, JOBS_COME_BY, WORKLOADS};
use eos_engine::vault::{Health, Request};
use eos_engine::{VaultClient, VaultEndpoint};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep};

use crate::choices::{Choices, FullPorts};
use crate::consul;
use crate::daemon::{Daemon, Start, VAULT};
use crate::durable;
use crate::error::{AtPath, Error, IfThere, Result};
use crate::layout::Layout;
use crate::logs;
use crate::process::MARK;
use crate::salt::{ROLES, USER};
use crate::secrets::Secrets;
use crate::served::{self, FormulaFile};
use crate::tls::{Certificates, Holder};
use eos_install::InstalledVault;

const READY: Duration = Duration::from_secs(60);
const STOP: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(100);
const PRIVATE: u32 = 0o077;

/// Of the token that all users shared in a lab of an earlier Eos. It read every secret.
const SHARED_POLICY: &str = "eos-program";
/// So long a token of a person lives that nobody renews; `up` renews it.
const PERIOD: &str = "768h";
/// How the control minion comes in.
const CONTROL_ROLE: &str = "auth/approle/role/eos-control";
/// How long a token of one run lives at first, and at most.
const LEASE: (&str, &str) = ("15m", "1h");
/// Of Nomad's policy for those who only ask which nodes there are.
pub const NODES_POLICY: &str = "eos-nodes";

pub struct Vault<'a> {
    layout: &'a Layout,
    secrets: &'a Secrets,
    certificates: &'a Certificates,
    installed: &'a InstalledVault,
    ports: &'a FullPorts,
    daemon: Daemon<'a>,
}

/// The only answer that cannot be asked for again.
#[derive(Serialize, Deserialize)]
struct Initialised {
    keys_base64: Vec<String>,
    root_token: String,
}

/// The digest of a plugin, as long as its file is the same.
#[derive(Serialize, Deserialize, PartialEq)]
struct Plugin {
    path: PathBuf,
    length: u64,
    modified: Duration,
    sha256: String,
}

impl<'a> Vault<'a> {
    /// None in a lab that has no Vault.
    pub fn new(
        layout: &'a Layout,
        choices: &'a Choices,
        secrets: &'a Secrets,
        certificates: &'a Certificates,
    ) -> Option<Vault<'a>> {
        let (ports, installed) = (choices.ports.full.as_ref()?, choices.engines.vault.as_ref()?);
        Some(Vault {
            layout,
            secrets,
            certificates,
            installed,
            ports,
            daemon: Daemon::vault(layout, &installed.plugins),
        })
    }

    pub fn endpoint(&self) -> VaultEndpoint {
        VaultEndpoint {
            address: self.address(),
            certificate: Some(self.certificates.authority()),
            token_file: Some(self.secrets.person_file(USER, VAULT)),
            other_users: self.secrets.tokens_of_others(VAULT),
        }
    }

    pub fn address(&self) -> String {
        format!("https://127.0.0.1:{}", self.ports.vault_http)
    }

    pub fn daemon(&self) -> &Daemon<'a> {
        &self.daemon
    }

    /// Brings it up if it is not, unseals it, and sees to what needs no other engine.
    pub async fn up(&self, formula: &[FormulaFile<'_>]) -> Result<()> {
        durable::directory(&self.layout.vault(), 0o700)?;
        durable::write_json(&self.settings_file(), &self.settings()?, 0o600)?;
        self.start().await?;
        self.initialise().await?;
        self.unseal().await?;
        let client = self.root()?;
        self.keep_audit(&client).await?;
        self.mount(
            &client,
            "secret",
            &json!({"type": "kv", "options": {"version": "2"}}),
        )
        .await?;
        self.wait_for("its key-value store is not there", || async {
            Ok(client
                .get::<Value>(request("the key-value store", "secret/config"))
                .await
                .is_ok())
        })
        .await?;
        let control = served::policy(formula, policies::CONTROL_FILE)?;
        self.policy(&client, policies::CONTROL, &control).await?;
        let text = served::policy(formula, person::VAULT_FILE)?;
        for (user, _) in ROLES {
            let rules = person::rules(&text, user);
            self.policy(&client, &person::policy_name(user), &rules).await?;
            self.token_of(&client, user).await?;
        }
        // A token without its policy may do nothing.
        let path = format!("sys/policies/acl/{SHARED_POLICY}");
        let shared = request("policy of the shared token", &path);
        client.delete::<Value>(shared).await.if_there()?;
        self.secrets.remove_shared(VAULT)
    }

    /// Lets jobs in with what Nomad says of them, makes it the source of tokens for Nomad and Consul, and then gives
    /// the control minion its way in. Vault asks Nomad for its keys, so Nomad has to be up.
    pub async fn trust_nomad(&self, nomad: &str) -> Result<()> {
        let client = self.root()?;
        self.let_jobs_in(&client, nomad).await?;
        self.make_tokens_of_nomad(&client, nomad).await?;
        self.make_tokens_of_consul(&client).await?;
        self.let_control_in(&client).await
    }

    pub async fn stop(&self) -> Result<()> {
        self.daemon.stop(STOP).await
    }

    pub async fn is_ready(&self) -> bool {
        match self.client() {
            Ok(client) => is_active(&client).await.unwrap_or(false),
            Err(_) => false,
        }
    }

    async fn start(&self) -> Result<()> {
        durable::directory(&self.data(), 0o700)?;
        if self.daemon.running()?.is_none() {
            logs::rotate(&self.audit_file())?;
        }
        let ports = self.ports;
        let mut reads = vec![self.settings_file()];
        reads.extend(self.certificates.files(Holder::Vault));
        self.daemon
            .ensure(&Start {
                program: &self.installed.path,
                reads: &reads,
                ports: &[ports.vault_http, ports.vault_cluster],
                stale: &[],
                umask: PRIVATE,
            })
            .await
    }

    fn settings(&self) -> Result<Value> {
        let (address, cluster) = (
            format!("127.0.0.1:{}", self.ports.vault_http),
            format!("127.0.0.1:{}", self.ports.vault_cluster),
        );
        // It refuses a directory that is reached by a link.
        let plugins = fs::canonicalize(&self.installed.plugins).at("find", &self.installed.plugins)?;
        Ok(json!({
            "storage": {"raft": {
                "path": self.data(),
                "node_id": "lab",
                // With the usual patience the first start takes 8 s.
                "performance_multiplier": "1",
            }},
            "listener": [{"tcp": {
                "address": address,
                "cluster_address": cluster,
                "tls_cert_file": self.certificates.certificate(Holder::Vault),
                "tls_key_file": self.certificates.key(Holder::Vault),
            }}],
            "api_addr": format!("https://{address}"),
            "cluster_addr": format!("https://{cluster}"),
            "plugin_directory": plugins,
            "disable_mlock": true,
            "log_level": "warn",
            "ui": false,
        }))
    }

    /// Its answer is on disk before anything else is done with it. If it was not to be read any more, because this
    /// program was killed in between, then nothing can have been written to Vault yet, and it begins anew.
    async fn initialise(&self) -> Result<()> {
        let (file, marker) = (
            self.secrets.vault_init_file(),
            self.layout.vault().join("initialised"),
        );
        let client = self.client()?;
        let mut initialised = self.health(&client).await?.initialized;
        if initialised && !file.exists() {
            if marker.exists() {
                return Err(Error::VaultKeyLost { path: file });
            }
            self.daemon.stop(STOP).await?;
            durable::remove(&self.data())?;
            self.start().await?;
            initialised = self.health(&client).await?.initialized;
        }
        if !initialised {
            let shares = json!({"secret_shares": 1, "secret_threshold": 1});
            let answer: Initialised = client.put(request("its first key", "sys/init"), &shares).await?;
            durable::write_json(&file, &answer, 0o600)?;
        }
        Ok(durable::write(&marker, b"", 0o600)?)
    }

    async fn unseal(&self) -> Result<()> {
        let client = self.client()?;
        if self.health(&client).await?.sealed {
            let key = json!({"key": self.initialised()?.keys_base64.first()});
            put(&client, "its seal", "sys/unseal", &key).await?;
        }
        self.wait_for("it is not active", || async { is_active(&client).await })
            .await
    }

    fn initialised(&self) -> Result<Initialised> {
        let path = self.secrets.vault_init_file();
        durable::read_json(&path, "the key of Vault")?.ok_or(Error::VaultKeyLost { path })
    }

    /// Waits for it to answer at all, which it does sealed and uninitialised too.
    async fn health(&self, client: &VaultClient) -> Result<Health> {
        let begun = Instant::now();
        loop {
            match client.health().await {
                Ok(health) => return Ok(health),
                Err(error) if begun.elapsed() > READY => return Err(error.into()),
                Err(_) => {}
            }
            self.daemon.check_running()?;
            sleep(LOOK).await;
        }
    }

    async fn wait_for<F>(&self, nothing: &str, look: impl Fn() -> F) -> Result<()>
    where
        F: Future<Output = Result<bool>>,
    {
        let begun = Instant::now();
        let mut words = nothing.to_owned();
        while begun.elapsed() < READY {
            match look().await {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) => words = error.to_string(),
            }
            self.daemon.check_running()?;
            sleep(LOOK).await;
        }
        Err(self.daemon.not_ready(READY, words))
    }

    async fn keep_audit(&self, client: &VaultClient) -> Result<()> {
        let devices: Value = client.get(request("audit devices", "sys/audit")).await?;
        if devices["data"].get("file/").is_some() {
            return Ok(());
        }
        let device = json!({"type": "file", "options": {"file_path": self.audit_file(), "mode": "0600"}});
        put(client, "audit device file", "sys/audit/file", &device).await
    }

    async fn mount(&self, client: &VaultClient, name: &str, engine: &Value) -> Result<()> {
        let mounts: Value = client.get(request("secrets engines", "sys/mounts")).await?;
        if mounts["data"].get(format!("{name}/")).is_some() {
            return Ok(());
        }
        let (object, path) = (format!("secrets engine {name}"), format!("sys/mounts/{name}"));
        post(client, &object, &path, engine).await
    }

    /// Gives the accessor, by which policies speak of it.
    async fn enable_auth(&self, client: &VaultClient, name: &str, kind: &str) -> Result<String> {
        let object = format!("auth method {name}");
        let look = async || -> Result<Option<String>> {
            let methods: Value = client.get(request("auth methods", "sys/auth")).await?;
            let accessor = &methods["data"][format!("{name}/")]["accessor"];
            Ok(accessor.as_str().map(str::to_owned))
        };
        if let Some(accessor) = look().await? {
            return Ok(accessor);
        }
        post(
            client,
            &object,
            &format!("sys/auth/{name}"),
            &json!({"type": kind}),
        )
        .await?;
        look().await?.ok_or_else(|| {
            self.daemon
                .not_ready(Duration::ZERO, format!("{object} is not there"))
        })
    }

    async fn policy(&self, client: &VaultClient, name: &str, rules: &str) -> Result<()> {
        let (object, path) = (format!("policy {name}"), format!("sys/policies/acl/{name}"));
        let there = client.get::<Value>(request(&object, &path)).await.if_there()?;
        if there.is_some_and(|there| there["data"]["policy"] == rules) {
            return Ok(());
        }
        put(client, &object, &path, &json!({"policy": rules})).await
    }

    async fn token_of(&self, client: &VaultClient, user: &str) -> Result<()> {
        let secret = self.secrets.token(&format!("{user}-{VAULT}"))?;
        let object = "token of a person";
        let itself = json!({"token": secret.expose_secret()});
        // Vault does not know it yet, or not any more.
        if post(client, object, "auth/token/renew", &itself).await.is_ok() {
            return Ok(());
        }
        let token = json!({
            "id": secret.expose_secret(),
            "display_name": user,
            "policies": [person::policy_name(user)],
            "no_default_policy": true,
            "no_parent": true,
            "period": PERIOD,
        });
        post(client, object, "auth/token/create", &token).await
    }

    async fn let_jobs_in(&self, client: &VaultClient, nomad: &str) -> Result<()> {
        let accessor = self.enable_auth(client, JOBS_COME_BY, "jwt").await?;
        let settings = json!({
            "jwks_url": format!("{nomad}/.well-known/jwks.json"),
            "jwks_ca_pem": self.certificates.authority_text()?,
            "jwt_supported_algs": ["RS256", "EdDSA"],
            "default_role": WORKLOADS,
        });
        post(
            client,
            "auth method jwt-nomad",
            "auth/jwt-nomad/config",
            &settings,
        )
        .await?;
        let path = format!("auth/jwt-nomad/role/{WORKLOADS}");
        post(
            client,
            "role nomad-workloads",
            &path,
            &policies::role_of_workloads(),
        )
        .await?;
        self.forget_shared_identities(client, &accessor).await?;
        self.policy(client, WORKLOADS, &policies::workloads(&accessor))
            .await
    }

    /// Identities of an earlier lab, named after the job alone: jobs of one name in two environments have one. A token
    /// of such an identity ends with it, and Nomad fetches the task another one.
    async fn forget_shared_identities(&self, client: &VaultClient, accessor: &str) -> Result<()> {
        let object = "identities of jobs";
        let all = Request {
            query: &[("list", "true")],
            ..request(object, "identity/entity-alias/id")
        };
        let Some(all) = client.get::<Value>(all).await.if_there()? else {
            return Ok(());
        };
        let aliases = all["data"]["key_info"].as_object().into_iter().flatten();
        for (_, alias) in aliases.filter(|(_, alias)| alias["mount_accessor"] == accessor) {
            let name = alias["name"].as_str().unwrap_or_default();
            if let Some(entity) = alias["canonical_id"].as_str()
                && !name.contains(':')
            {
                let path = format!("identity/entity/id/{entity}");
                client.delete::<Value>(request(object, &path)).await?;
            }
        }
        Ok(())
    }

    async fn make_tokens_of_nomad(&self, client: &VaultClient, nomad: &str) -> Result<()> {
        self.plugin(client, "nomad").await?;
        let access = json!({
            "address": nomad,
            "ca_cert": self.certificates.authority_text()?,
            "token": self.secrets.nomad_management.expose_secret(),
        });
        post(client, "access to Nomad", "nomad/config/access", &access).await?;
        let lease = json!({"ttl": LEASE.0, "max_ttl": LEASE.1});
        post(client, "leases of Nomad", "nomad/config/lease", &lease).await?;
        for (name, role) in [
            (
                "eos-deploy",
                json!({"type": "client", "policies": ["eos-deploy"]}),
            ),
            (
                "eos-session",
                json!({"type": "client", "policies": ["eos-session"]}),
            ),
            ("eos-platform", json!({"type": "management"})),
            ("eos-read", json!({"type": "client", "policies": [NODES_POLICY]})),
        ] {
            let object = format!("role {name} of Nomad");
            post(client, &object, &format!("nomad/role/{name}"), &role).await?;
        }
        Ok(())
    }

    async fn make_tokens_of_consul(&self, client: &VaultClient) -> Result<()> {
        self.plugin(client, "consul").await?;
        let access = json!({
            "address": format!("127.0.0.1:{}", self.ports.consul_http),
            "scheme": "https",
            "ca_cert": self.certificates.authority_text()?,
            "token": self.secrets.token(consul::VAULT_TOKEN)?.expose_secret(),
        });
        post(client, "access to Consul", "consul/config/access", &access).await?;
        let role = json!({"consul_policies": ["eos-deploy"], "ttl": LEASE.0, "max_ttl": LEASE.1});
        let object = "role eos-deploy of Consul";
        post(client, object, "consul/roles/eos-deploy", &role).await
    }

    /// A secrets engine that is a program of its own: known by its digest, then mounted under its name.
    async fn plugin(&self, client: &VaultClient, name: &str) -> Result<()> {
        let (object, path) = (
            format!("plugin {name}"),
            format!("sys/plugins/catalog/secret/{name}"),
        );
        let sha256 = self.digest(name)?;
        let there = client.get::<Value>(request(&object, &path)).await.if_there()?;
        if there
            .as_ref()
            .is_none_or(|there| there["data"]["sha256"] != sha256)
        {
            // The mark is how it is found when it has outlived Vault.
            let mark = format!("{MARK}={}", self.layout.root.display());
            let plugin = json!({"sha256": sha256, "command": name, "env": [mark]});
            put(client, &object, &path, &plugin).await?;
            if there.is_some() {
                let reload = json!({"plugin": name});
                put(client, &object, "sys/plugins/reload/backend", &reload).await?;
            }
        }
        let lease = json!({"default_lease_ttl": LEASE.0, "max_lease_ttl": LEASE.1});
        self.mount(client, name, &json!({"type": name, "config": lease}))
            .await
    }

    /// Kept, since reading a whole program takes longer than all else that `up` does when all is in order.
    fn digest(&self, name: &str) -> Result<String> {
        let path = self.installed.plugins.join(name);
        let found = fs::metadata(&path).at("read", &path)?;
        let since = |time: io::Result<std::time::SystemTime>| {
            time.map(|time| time.duration_since(std::time::UNIX_EPOCH).unwrap_or_default())
        };
        let (length, modified) = (found.len(), since(found.modified()).at("read", &path)?);
        let record = self.layout.vault().join(format!("plugin-{name}.json"));
        let kept: Option<Plugin> = durable::read_json(&record, "the digest of a plugin")?;
        if let Some(kept) = kept
            && (&kept.path, kept.length, kept.modified) == (&path, length, modified)
        {
            return Ok(kept.sha256);
        }
        let sha256 = sha256_of(&path)?;
        let plugin = Plugin {
            path,
            length,
            modified,
            sha256: sha256.clone(),
        };
        durable::write_json(&record, &plugin, 0o600)?;
        Ok(sha256)
    }

    /// Both halves of its credential are chosen here, so that they can be told again.
    async fn let_control_in(&self, client: &VaultClient) -> Result<()> {
        let object = "role eos-control";
        self.enable_auth(client, "approle", "approle").await?;
        let role = json!({
            "token_policies": [policies::CONTROL],
            "token_ttl": "20m",
            "token_max_ttl": "1h",
        });
        post(client, object, CONTROL_ROLE, &role).await?;
        let role_id = self.secrets.token("control-role-id")?;
        let secret_id = self.secrets.token("control-secret-id")?;
        let first = json!({"role_id": role_id.expose_secret()});
        post(client, object, &format!("{CONTROL_ROLE}/role-id"), &first).await?;
        let second = json!({"secret_id": secret_id.expose_secret()});
        let known: Value = client
            .post(
                request(object, &format!("{CONTROL_ROLE}/secret-id/lookup")),
                &second,
            )
            .await?;
        if known.is_null() {
            post(
                client,
                object,
                &format!("{CONTROL_ROLE}/custom-secret-id"),
                &second,
            )
            .await?;
        }
        self.secrets.write_control_credential(&json!({
            "role_id": role_id.expose_secret(),
            "secret_id": secret_id.expose_secret(),
        }))
    }

    fn client(&self) -> Result<VaultClient> {
        Ok(VaultClient::new(&VaultEndpoint {
            address: self.address(),
            certificate: Some(self.certificates.authority()),
            token_file: None,
            other_users: BTreeMap::new(),
        })?)
    }

    /// With the token that may do everything.
    fn root(&self) -> Result<VaultClient> {
        Ok(self.client()?.with_token(self.initialised()?.root_token.into()))
    }

    fn settings_file(&self) -> PathBuf {
        self.layout.vault().join("server.json")
    }

    fn data(&self) -> PathBuf {
        self.layout.vault().join("data")
    }

    fn audit_file(&self) -> PathBuf {
        self.layout.log("vault-audit")
    }
}

async fn is_active(client: &VaultClient) -> Result<bool> {
    let health = client.health().await?;
    Ok(health.initialized && !health.sealed && !health.standby)
}

fn sha256_of(path: &Path) -> Result<String> {
    let mut digest = Sha256::new();
    let mut file = File::open(path).at("read", path)?;
    io::copy(&mut file, &mut digest).at("read", path)?;
    Ok(hex::encode(digest.finalize()))
}

async fn put(client: &VaultClient, object: &str, path: &str, body: &Value) -> Result<()> {
    client.put::<Value>(request(object, path), body).await?;
    Ok(())
}

async fn post(client: &VaultClient, object: &str, path: &str, body: &Value) -> Result<()> {
    client.post::<Value>(request(object, path), body).await?;
    Ok(())
}

fn request<'a>(object: &'a str, path: &'a str) -> Request<'a> {
    Request {
        object,
        path,
        query: &[],
    }
}
