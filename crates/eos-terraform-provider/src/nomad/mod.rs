//! Owns the provider `nomad`: its configuration, and the list of its resources.

mod client;
mod host_volume;
mod job;
mod job_diff;
mod job_object;
mod job_rollout;
mod job_variables;
mod namespace;
mod placement;
mod size;
mod stopping;

use crate::diagnostic::{Diagnostic, Diagnostics, Step};
use crate::provider::{Configuration, Provider};
use crate::schema::{Attribute, Block};
use crate::settings::{Completion, Pem, TlsSources};
use crate::value::{List, Map, Value, object};
use client::{Client, NomadSettings};

pub const NAME: &str = client::ENGINE.name;
/// The version of the published provider whose schema this one has.
pub const VERSION: &str = "2.5.2";

pub fn provider() -> Provider<Client> {
    Provider {
        name: NAME,
        configuration: Box::new(Nomad),
        resources: vec![
            Box::new(job::Job),
            Box::new(namespace::Namespace),
            Box::new(host_volume::HostVolumeRegistration),
        ],
    }
}

struct Nomad;

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

impl Configuration for Nomad {
    type Client = Client;
    type Object = Config;

    fn schema(&self) -> Block {
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

    fn validate(&self, config: &Config) -> Diagnostics {
        let mut found = config.tls().validate();
        if config.http_auth.as_str().is_some_and(|auth| !auth.contains(':')) {
            found.push(Diagnostic::error("http_auth is not of the form USER:PASSWORD").at("http_auth"));
        }
        found
    }

    async fn connect(&self, config: Config) -> Result<Client, Diagnostics> {
        let completion = config.completion(|name| std::env::var(name).ok());
        let client = Client::new(config.complete(&completion)?)?;
        let Some(login) = config.auth_jwt.elements().next() else {
            return Ok(client);
        };
        let method = completion.text("auth_method", &login.auth_method, &[])?;
        let token = completion.text("login_token", &login.login_token, &[])?;
        let logged_in = client
            .log_in(&method.unwrap_or_default(), &token.unwrap_or_default())
            .await;
        logged_in.map_err(|refused| {
            refused
                .within([Step::Attribute("auth_jwt"), Step::Index(0)])
                .into()
        })
    }
}

impl Config {
    fn tls(&self) -> TlsSources<'_> {
        TlsSources {
            authority: Pem {
                file: &self.ca_file,
                file_attribute: "ca_file",
                inline: &self.ca_pem,
                inline_attribute: "ca_pem",
                variable: "NOMAD_CACERT",
            },
            certificate: Pem {
                file: &self.cert_file,
                file_attribute: "cert_file",
                inline: &self.cert_pem,
                inline_attribute: "cert_pem",
                variable: "NOMAD_CLIENT_CERT",
            },
            key: Pem {
                file: &self.key_file,
                file_attribute: "key_file",
                inline: &self.key_pem,
                inline_attribute: "key_pem",
                variable: "NOMAD_CLIENT_KEY",
            },
        }
    }

    /// The environment without what the configuration says to ignore.
    fn completion<'a>(
        &'a self,
        environment: impl Fn(&str) -> Option<String> + Send + Sync + 'a,
    ) -> Completion<'a> {
        let ignored = |name: &str| {
            self.ignore_env_vars
                .entries()
                .any(|(key, ignore)| key == name && *ignore)
        };
        Completion::new(NAME, move |name| environment(name).filter(|_| !ignored(name)))
    }

    fn complete(&self, completion: &Completion<'_>) -> Result<NomadSettings, Diagnostics> {
        for name in ["NOMAD_CAPATH", "NOMAD_TLS_SERVER_NAME"] {
            if completion.variable(name).is_some() {
                return Err(Diagnostic::error(format!(
                    "This provider does not support {name}, which is set"
                ))
                .hint(format!(
                    "Unset it, or ignore it: ignore_env_vars = {{ {name} = true }}"
                ))
                .into());
            }
        }
        let skip_verify = completion.known("skip_verify", &self.skip_verify)?;
        let skip_verify =
            skip_verify.unwrap_or_else(|| completion.has_variable_set_to_true("NOMAD_SKIP_VERIFY"));
        let mut headers = Vec::new();
        for header in self.headers.elements() {
            let name = completion.text("headers", &header.name, &[])?.unwrap_or_default();
            headers.push((
                name,
                completion
                    .text("headers", &header.value, &[])?
                    .unwrap_or_default(),
            ));
        }
        let address = completion.text("address", &self.address, &["NOMAD_ADDR"])?;
        Ok(NomadSettings {
            address: address.unwrap_or_else(|| "http://127.0.0.1:4646".to_owned()),
            region: completion.text("region", &self.region, &["NOMAD_REGION"])?,
            namespace: completion.variable("NOMAD_NAMESPACE"),
            token: completion.text("secret_id", &self.secret_id, &["NOMAD_TOKEN"])?,
            http_auth: completion.text("http_auth", &self.http_auth, &["NOMAD_HTTP_AUTH"])?,
            headers,
            tls: completion.tls(&self.tls(), skip_verify)?,
        })
    }
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
    use super::*;
    use crate::schema::published;
    use crate::settings::variables;
    use crate::value::Shape;

    #[test]
    fn schemas_and_objects_have_the_same_shape() {
        assert_eq!(Nomad.schema().shape(), Config::shape());
    }

    #[test]
    fn names_and_types_are_those_of_the_published_provider() {
        published::compare(&provider(), include_str!("published_schema.txt"));
    }

    fn with_environment(config: &Config, set: &[(&str, &str)]) -> Result<NomadSettings, Diagnostics> {
        config.complete(&config.completion(variables(set)))
    }

    #[test]
    fn the_configuration_comes_before_the_environment() {
        let config = Config {
            address: Value::from("http://a:1"),
            ..Config::default()
        };
        let set = [
            ("NOMAD_ADDR", "http://b:2"),
            ("NOMAD_TOKEN", "t"),
            ("NOMAD_NAMESPACE", "n"),
        ];
        let settings = with_environment(&config, &set).expect("all is known");
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
            with_environment(&config, &[("NOMAD_TOKEN", "t"), ("NOMAD_REGION", "r")]).expect("known");
        assert_eq!(settings.token, None);
        assert_eq!(settings.region.as_deref(), Some("r"));
    }

    #[test]
    fn what_is_not_supported_is_refused() {
        assert!(with_environment(&Config::default(), &[("NOMAD_CAPATH", "/ca")]).is_err());
        let unknown = Config {
            address: Value::Unknown,
            ..Config::default()
        };
        assert!(with_environment(&unknown, &[]).is_err());
        let twice = Config {
            ca_file: Value::from("f"),
            ca_pem: Value::from("p"),
            ..Config::default()
        };
        assert_eq!(Nomad.validate(&twice).len(), 1);
    }

    #[test]
    fn an_import_id_may_name_the_namespace() {
        assert_eq!(import_id("web"), ("web", Value::Null));
        assert_eq!(import_id("web@production"), ("web", Value::from("production")));
    }
}
