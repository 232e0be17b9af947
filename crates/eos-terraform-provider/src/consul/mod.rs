//! Owns the provider `consul`: its configuration, and the list of its resources.

mod config_entry;
mod entry;
mod keys;

use reqwest::header::HeaderMap;

use crate::api::{Api, ApiError, Call, Engine, Settings};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::provider::{Configuration, Provider};
use crate::schema::{Attribute, Block};
use crate::settings::{Completion, Pem, TlsSources};
use crate::value::{Value, object};

const ENGINE: Engine = Engine {
    name: "consul",
    address_variable: "CONSUL_HTTP_ADDR",
    token_attribute: "token",
    token_variable: "CONSUL_HTTP_TOKEN",
};
pub const NAME: &str = ENGINE.name;
/// The version of the published provider whose schema this one has.
pub const VERSION: &str = "2.22.1";

/// Variables that Consul's own programs read and this provider does not: to pass over them in silence would
/// mean to ask another Consul, or as somebody else, than the person thinks.
const NOT_SUPPORTED: [&str; 7] = [
    "CONSUL_CAPATH",
    "CONSUL_HTTP_AUTH",
    "CONSUL_HTTP_SSL_VERIFY",
    "CONSUL_HTTP_TOKEN_FILE",
    "CONSUL_NAMESPACE",
    "CONSUL_PARTITION",
    "CONSUL_TLS_SERVER_NAME",
];

pub fn provider() -> Provider<Api> {
    Provider {
        name: NAME,
        configuration: Box::new(Consul),
        resources: vec![Box::new(config_entry::ConfigEntry), Box::new(keys::Keys)],
    }
}

struct Consul;

object! {
    pub struct Config {
        address: String,
        scheme: String,
        token: String,
        datacenter: String,
        ca_file: String,
        ca_pem: String,
        cert_file: String,
        cert_pem: String,
        key_file: String,
        key_pem: String,
        insecure_https: bool,
    }
}

impl Configuration for Consul {
    type Client = Api;
    type Object = Config;

    fn schema(&self) -> Block {
        Block::new(
            "Consul: config entries and keys",
            [
                Attribute::optional::<String>(
                    "address",
                    "HOST:PORT or URL of the Consul agent; or CONSUL_HTTP_ADDR",
                ),
                Attribute::optional::<String>("scheme", "http or https; or CONSUL_SCHEME"),
                Attribute::optional::<String>("token", "Secret of the ACL token; or CONSUL_HTTP_TOKEN")
                    .sensitive(),
                Attribute::optional::<String>("datacenter", "Datacenter to ask; the agent's own if not set"),
                Attribute::optional::<String>(
                    "ca_file",
                    "File with the authority to trust; or CONSUL_CACERT",
                ),
                Attribute::optional::<String>("ca_pem", "The authority to trust, as PEM"),
                Attribute::optional::<String>(
                    "cert_file",
                    "File with the client certificate; or CONSUL_CLIENT_CERT",
                ),
                Attribute::optional::<String>("cert_pem", "The client certificate, as PEM"),
                Attribute::optional::<String>("key_file", "File with the client key; or CONSUL_CLIENT_KEY"),
                Attribute::optional::<String>("key_pem", "The client key, as PEM").sensitive(),
                Attribute::optional::<bool>("insecure_https", "Trust any server certificate"),
            ],
        )
    }

    fn validate(&self, config: &Config) -> Diagnostics {
        let mut found = config.tls().validate();
        if let Some(scheme) = config.scheme.as_str()
            && !matches!(scheme, "" | "http" | "https")
        {
            found.push(Diagnostic::error(format!("scheme {scheme} is neither http nor https")).at("scheme"));
        }
        found
    }

    async fn connect(&self, config: Config) -> Result<Api, Diagnostics> {
        let completion = Completion::new(NAME, |name| std::env::var(name).ok());
        Api::new(&ENGINE, config.complete(&completion)?)
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
                variable: "CONSUL_CACERT",
            },
            certificate: Pem {
                file: &self.cert_file,
                file_attribute: "cert_file",
                inline: &self.cert_pem,
                inline_attribute: "cert_pem",
                variable: "CONSUL_CLIENT_CERT",
            },
            key: Pem {
                file: &self.key_file,
                file_attribute: "key_file",
                inline: &self.key_pem,
                inline_attribute: "key_pem",
                variable: "CONSUL_CLIENT_KEY",
            },
        }
    }

    fn complete(&self, completion: &Completion<'_>) -> Result<Settings, Diagnostics> {
        if let Some(name) = NOT_SUPPORTED
            .iter()
            .find(|name| completion.variable(name).is_some())
        {
            return Err(
                Diagnostic::error(format!("This provider does not support {name}, which is set"))
                    .hint("Unset it")
                    .into(),
            );
        }
        let address = completion.text("address", &self.address, &["CONSUL_ADDRESS", "CONSUL_HTTP_ADDR"])?;
        let scheme = completion.text("scheme", &self.scheme, &["CONSUL_SCHEME", "CONSUL_HTTP_SCHEME"])?;
        let is_https =
            scheme.as_deref() == Some("https") || completion.has_variable_set_to_true("CONSUL_HTTP_SSL");
        let insecure = completion.known("insecure_https", &self.insecure_https)?;
        let datacenter = completion.text("datacenter", &self.datacenter, &[])?;
        Ok(Settings {
            address: url(address.as_deref().unwrap_or("127.0.0.1:8500"), is_https),
            token: completion.text("token", &self.token, &["CONSUL_TOKEN", "CONSUL_HTTP_TOKEN"])?,
            headers: HeaderMap::new(),
            query: datacenter
                .map(|datacenter| ("dc", datacenter))
                .into_iter()
                .collect(),
            tls: completion.tls(&self.tls(), insecure.unwrap_or(false))?,
        })
    }
}

/// Consul's programs take an address with or without a scheme; either way of asking for https wins.
fn url(address: &str, is_https: bool) -> String {
    match (address.split_once("://"), is_https) {
        (Some(("http", rest)), true) => format!("https://{rest}"),
        (Some(_), _) => address.to_owned(),
        (None, true) => format!("https://{address}"),
        (None, false) => format!("http://{address}"),
    }
}

/// An error with the rule that a policy of the token would need, if that is what is missing.
fn refused(error: &ApiError, summary: String, rule: &str) -> Diagnostic {
    let diagnostic = error.diagnostic(summary);
    if error.is_denied() {
        diagnostic.hint(format!("A policy with this rule has it: {rule}"))
    } else {
        diagnostic
    }
}

/// A call in a namespace and a partition, which only Consul Enterprise has.
fn located<'a>(call: Call<'a>, namespace: &Value<String>, partition: &Value<String>) -> Call<'a> {
    let parts = [("ns", namespace), ("partition", partition)];
    parts
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.as_str()?)))
        .fold(call, |call, (name, value)| call.query(name, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::published;
    use crate::settings::variables;
    use crate::value::Shape;

    fn with_environment(config: &Config, set: &[(&str, &str)]) -> Result<Settings, Diagnostics> {
        config.complete(&Completion::new(NAME, variables(set)))
    }

    #[test]
    fn schemas_and_objects_have_the_same_shape() {
        assert_eq!(Consul.schema().shape(), Config::shape());
    }

    #[test]
    fn names_and_types_are_those_of_the_published_provider() {
        published::compare(&provider(), include_str!("published_schema.txt"));
    }

    #[test]
    fn an_address_may_have_a_scheme_and_https_wins() {
        for (address, is_https, expected) in [
            ("127.0.0.1:8500", false, "http://127.0.0.1:8500"),
            ("127.0.0.1:8500", true, "https://127.0.0.1:8500"),
            ("http://127.0.0.1:8500", false, "http://127.0.0.1:8500"),
            ("http://127.0.0.1:8500", true, "https://127.0.0.1:8500"),
            ("https://127.0.0.1:8500", false, "https://127.0.0.1:8500"),
            ("unix:///run/consul.sock", false, "unix:///run/consul.sock"),
        ] {
            assert_eq!(url(address, is_https), expected, "{address}");
        }
    }

    #[test]
    fn the_configuration_comes_before_the_environment() {
        let config = Config {
            address: Value::from("a:1"),
            datacenter: Value::from("dc2"),
            ..Config::default()
        };
        let set = [
            ("CONSUL_HTTP_ADDR", "b:2"),
            ("CONSUL_HTTP_TOKEN", "t"),
            ("CONSUL_HTTP_SSL", "true"),
        ];
        let settings = with_environment(&config, &set).expect("all is known");
        assert_eq!(settings.address, "https://a:1");
        assert_eq!(settings.token.as_deref(), Some("t"));
        assert_eq!(settings.query, [("dc", "dc2".to_owned())]);
        let bare = with_environment(&Config::default(), &set[..1]).expect("all is known");
        assert_eq!(bare.address, "http://b:2");
    }

    #[test]
    fn what_is_not_supported_is_refused() {
        assert!(with_environment(&Config::default(), &[("CONSUL_NAMESPACE", "x")]).is_err());
        let unknown = Config {
            token: Value::Unknown,
            ..Config::default()
        };
        assert!(with_environment(&unknown, &[]).is_err());
        let odd = Config {
            scheme: Value::from("unix"),
            ..Config::default()
        };
        assert_eq!(Consul.validate(&odd).len(), 1);
    }
}
