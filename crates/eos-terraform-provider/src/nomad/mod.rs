//! Owns the provider `nomad`: its configuration, and the list of its resources.

mod client;
mod duration;
mod host_volume;
mod job;
mod job_diff;
mod job_object;
mod job_rollout;
mod job_variables;
mod namespace;
mod placement;
mod size;

use std::future::Future;

use crate::diagnostic::{Diagnostic, Diagnostics, Step};
use crate::provider::{AnyResource, Provider};
use crate::schema::{Attribute, Block};
use crate::value::{List, Map, Value, object};
use client::{Client, Settings, Tls};

pub struct Nomad;

object! {
    pub struct Config {
        address: String,
        region: String,
        secret_id: String,
        ca_file: String,
        ca_pem: String,
        cert_file: String,
        cert_pem: String,
        key_file: String,
        key_pem: String,
        skip_verify: bool,
        http_auth: String,
        headers: List<Header>,
        ignore_env_vars: Map<bool>,
        auth_jwt: List<AuthJwt>,
    }
}

object! {
    pub struct Header {
        name: String,
        value: String,
    }
}

object! {
    pub struct AuthJwt {
        auth_method: String,
        login_token: String,
    }
}

impl Provider for Nomad {
    type Config = Config;
    type Client = Client;

    const NAME: &'static str = "nomad";
    const VERSION: &'static str = "2.5.2";

    fn schema() -> Block {
        Block::new(
            "Nomad: jobs, namespaces and host volumes",
            [
                Attribute::optional::<String>("address", "URL of the Nomad agent; or NOMAD_ADDR"),
                Attribute::optional::<String>("region", "Region to ask; or NOMAD_REGION"),
                Attribute::optional::<String>("secret_id", "Secret of the ACL token; or NOMAD_TOKEN")
                    .sensitive(),
                Attribute::optional::<String>("ca_file", "File with the authority to trust; or NOMAD_CACERT"),
                Attribute::optional::<String>("ca_pem", "The authority to trust, as PEM"),
                Attribute::optional::<String>(
                    "cert_file",
                    "File with the client certificate; or NOMAD_CLIENT_CERT",
                ),
                Attribute::optional::<String>("cert_pem", "The client certificate, as PEM"),
                Attribute::optional::<String>("key_file", "File with the client key; or NOMAD_CLIENT_KEY"),
                Attribute::optional::<String>("key_pem", "The client key, as PEM").sensitive(),
                Attribute::optional::<bool>(
                    "skip_verify",
                    "Trust any server certificate; or NOMAD_SKIP_VERIFY",
                ),
                Attribute::optional::<String>("http_auth", "USER:PASSWORD for HTTP; or NOMAD_HTTP_AUTH")
                    .sensitive(),
                Attribute::optional::<Map<bool>>("ignore_env_vars", "Environment variables not to read"),
            ],
        )
        .list_block(
            "headers",
            0,
            0,
            Block::new(
                "A header of every request",
                [
                    Attribute::required::<String>("name", "Name of the header"),
                    Attribute::required::<String>("value", "Value of the header").sensitive(),
                ],
            ),
        )
        .list_block(
            "auth_jwt",
            0,
            1,
            Block::new(
                "Log in with a token of another issuer",
                [
                    Attribute::required::<String>("auth_method", "Name of Nomad's auth method"),
                    Attribute::required::<String>("login_token", "The token to exchange").sensitive(),
                ],
            ),
        )
    }

    fn resources() -> Vec<Box<dyn AnyResource<Client>>> {
        vec![
            Box::new(job::Job),
            Box::new(namespace::Namespace),
            Box::new(host_volume::HostVolumeRegistration),
        ]
    }

    fn validate(config: &Config) -> Diagnostics {
        let mut found = Vec::new();
        let both = |a: &Value<String>, b: &Value<String>| a != &Value::Null && b != &Value::Null;
        for (file, pem, name, other) in [
            (&config.ca_file, &config.ca_pem, "ca_file", "ca_pem"),
            (&config.cert_file, &config.cert_pem, "cert_file", "cert_pem"),
            (&config.key_file, &config.key_pem, "key_file", "key_pem"),
        ] {
            if both(file, pem) {
                found.push(Diagnostic::error(format!("{name} and {other} exclude each other")).at(name));
            }
        }
        let has_certificate = config.cert_file != Value::Null || config.cert_pem != Value::Null;
        let has_key = config.key_file != Value::Null || config.key_pem != Value::Null;
        if has_certificate && !has_key {
            found.push(Diagnostic::error("A client certificate needs key_file or key_pem").at("cert_file"));
        }
        if config.http_auth.as_str().is_some_and(|auth| !auth.contains(':')) {
            found.push(Diagnostic::error("http_auth is not of the form USER:PASSWORD").at("http_auth"));
        }
        found
    }

    fn connect(config: Config) -> impl Future<Output = Result<Client, Diagnostics>> + Send {
        connect(config)
    }
}

async fn connect(config: Config) -> Result<Client, Diagnostics> {
    let login = config.auth_jwt.elements().next().cloned();
    let settings = settings(config, |name| std::env::var(name).ok())?;
    let client = Client::new(settings)?;
    match login {
        Some(login) => {
            let method = known("auth_method", &login.auth_method)?.unwrap_or_default();
            let token = known("login_token", &login.login_token)?.unwrap_or_default();
            client.log_in(&method, &token).await.map_err(|error| {
                let place = [Step::Attribute("auth_jwt"), Step::Index(0)];
                error
                    .diagnostic(format!("Nomad's auth method {method} refuses the login"))
                    .within(place)
                    .into()
            })
        }
        None => Ok(client),
    }
}

/// The configuration, completed from the environment. `environment` is asked for one variable at a time.
fn settings(config: Config, environment: impl Fn(&str) -> Option<String>) -> Result<Settings, Diagnostics> {
    let ignored = |name: &str| {
        config
            .ignore_env_vars
            .entries()
            .any(|(key, ignore)| key == name && *ignore)
    };
    let variable = |name: &str| environment(name).filter(|value| !value.is_empty() && !ignored(name));
    let choose = |attribute: &'static str, value: &Value<String>, name: &str| {
        Ok::<_, Diagnostics>(known(attribute, value)?.or_else(|| variable(name)))
    };
    for name in ["NOMAD_CAPATH", "NOMAD_TLS_SERVER_NAME"] {
        if variable(name).is_some() {
            return Err(
                Diagnostic::error(format!("This provider does not support {name}, which is set"))
                    .hint(format!(
                        "Unset it, or ignore it: ignore_env_vars = {{ {name} = true }}"
                    ))
                    .into(),
            );
        }
    }
    let skip_verify = match &config.skip_verify {
        Value::Known(skip) => *skip,
        Value::Null => matches!(
            variable("NOMAD_SKIP_VERIFY").as_deref(),
            Some("1" | "t" | "true" | "TRUE")
        ),
        Value::Unknown => return Err(not_known("skip_verify")),
    };
    let pem = |attribute: &'static str,
               inline: &Value<String>,
               file_attribute: &'static str,
               file: &Value<String>,
               name: &str| {
        match known(attribute, inline)? {
            Some(pem) => Ok(Some(pem)),
            None => choose(file_attribute, file, name)?
                .map(|path| read_pem(file_attribute, &path))
                .transpose(),
        }
    };
    let mut headers = Vec::new();
    for header in config.headers.elements() {
        let name = known("headers", &header.name)?.unwrap_or_default();
        headers.push((name, known("headers", &header.value)?.unwrap_or_default()));
    }
    Ok(Settings {
        address: choose("address", &config.address, "NOMAD_ADDR")?
            .unwrap_or_else(|| "http://127.0.0.1:4646".to_owned()),
        region: choose("region", &config.region, "NOMAD_REGION")?,
        namespace: variable("NOMAD_NAMESPACE"),
        token: choose("secret_id", &config.secret_id, "NOMAD_TOKEN")?,
        http_auth: choose("http_auth", &config.http_auth, "NOMAD_HTTP_AUTH")?,
        headers,
        tls: Tls {
            authority: pem(
                "ca_pem",
                &config.ca_pem,
                "ca_file",
                &config.ca_file,
                "NOMAD_CACERT",
            )?,
            certificate: pem(
                "cert_pem",
                &config.cert_pem,
                "cert_file",
                &config.cert_file,
                "NOMAD_CLIENT_CERT",
            )?,
            key: pem(
                "key_pem",
                &config.key_pem,
                "key_file",
                &config.key_file,
                "NOMAD_CLIENT_KEY",
            )?,
            skip_verify,
        },
    })
}

fn known(attribute: &'static str, value: &Value<String>) -> Result<Option<String>, Diagnostics> {
    match value {
        Value::Known(text) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
        Value::Null => Ok(None),
        Value::Unknown => Err(not_known(attribute)),
    }
}

fn not_known(attribute: &'static str) -> Diagnostics {
    Diagnostic::error(format!(
        "{attribute} of provider nomad is not known before the apply"
    ))
    .hint("Apply what it comes from first: terraform apply -target=ADDRESS")
    .at(attribute)
    .into()
}

fn read_pem(attribute: &'static str, path: &str) -> Result<String, Diagnostics> {
    std::fs::read_to_string(path).map_err(|error| {
        Diagnostic::error(format!("File {path} of provider nomad cannot be read"))
            .detail(error.to_string())
            .at(attribute)
            .into()
    })
}

/// `ID` or `ID@NAMESPACE`, as `terraform import` takes it.
fn import_id(id: &str) -> (&str, Value<String>) {
    match id.rsplit_once('@') {
        Some((id, namespace)) => (id, Value::from(namespace)),
        None => (id, Value::Null),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::value::Shape;

    #[test]
    fn schemas_and_objects_have_the_same_shape() {
        assert_eq!(Nomad::schema().shape(), Config::shape());
    }

    /// The published schema, one line an attribute or block, in `published_schema.txt`.
    #[test]
    fn names_and_types_are_those_of_the_published_provider() {
        let mut published: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut section = "";
        for line in include_str!("published_schema.txt").lines() {
            match line.split_once('#').map_or(line, |(text, _)| text).trim() {
                "" => {}
                name if name.ends_with(':') => section = name.trim_end_matches(':'),
                entry => published.entry(section).or_default().push(entry.to_owned()),
            }
        }
        published.values_mut().for_each(|lines| lines.sort());

        let resources = Nomad::resources();
        let mut ours: BTreeMap<&str, Vec<String>> = resources
            .iter()
            .map(|resource| (resource.name(), resource.schema().table()))
            .collect();
        ours.insert("provider", Nomad::schema().table());
        assert_eq!(ours, published);
    }

    fn with_environment(config: Config, variables: &[(&str, &str)]) -> Result<Settings, Diagnostics> {
        settings(config, |name| {
            variables
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_configuration_comes_before_the_environment() {
        let config = Config {
            address: Value::from("http://a:1"),
            ..Config::default()
        };
        let variables = [
            ("NOMAD_ADDR", "http://b:2"),
            ("NOMAD_TOKEN", "t"),
            ("NOMAD_NAMESPACE", "n"),
        ];
        let settings = with_environment(config, &variables).expect("all is known");
        assert_eq!(settings.address, "http://a:1");
        assert_eq!(settings.token.as_deref(), Some("t"));
        assert_eq!(settings.namespace.as_deref(), Some("n"));
    }

    #[test]
    fn an_ignored_variable_is_not_read() {
        let ignore = Value::from_entries([
            ("NOMAD_TOKEN".to_owned(), true),
            ("NOMAD_REGION".to_owned(), false),
        ]);
        let config = Config {
            ignore_env_vars: ignore,
            ..Config::default()
        };
        let settings =
            with_environment(config, &[("NOMAD_TOKEN", "t"), ("NOMAD_REGION", "r")]).expect("known");
        assert_eq!(settings.token, None);
        assert_eq!(settings.region.as_deref(), Some("r"));
    }

    #[test]
    fn what_is_not_supported_is_refused() {
        assert!(with_environment(Config::default(), &[("NOMAD_CAPATH", "/ca")]).is_err());
        let unknown = Config {
            address: Value::Unknown,
            ..Config::default()
        };
        assert!(with_environment(unknown, &[]).is_err());
        let twice = Config {
            ca_file: Value::from("f"),
            ca_pem: Value::from("p"),
            ..Config::default()
        };
        assert_eq!(Nomad::validate(&twice).len(), 1);
    }

    #[test]
    fn an_import_id_may_name_the_namespace() {
        assert_eq!(import_id("web"), ("web", Value::Null));
        assert_eq!(import_id("web@production"), ("web", Value::from("production")));
    }
}
