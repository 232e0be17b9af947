//! Owns what is Nomad's own in the conversation with its HTTP API: the namespace, and logging in.

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName};
use serde_json::json;

use crate::api::{Api, ApiError, Call, Engine, Settings, Tls, secret_header};
use crate::diagnostic::{Diagnostic, Diagnostics};

pub const ENGINE: Engine = Engine {
    name: "nomad",
    address_variable: "NOMAD_ADDR",
    token_attribute: "secret_id",
    token_variable: "NOMAD_TOKEN",
};
/// The namespace of everything that names none.
const DEFAULT_NAMESPACE: &str = "default";

pub struct Client {
    api: Api,
    namespace: String,
}

/// What Nomad is asked with, besides what every engine is.
pub struct NomadSettings {
    pub address: String,
    pub region: Option<String>,
    /// The namespace of jobs and volumes that name none themselves.
    pub namespace: Option<String>,
    pub token: Option<String>,
    pub http_auth: Option<String>,
    pub headers: Vec<(String, String)>,
    pub tls: Tls,
}

impl Client {
    pub fn new(settings: NomadSettings) -> Result<Self, Diagnostics> {
        let query = settings.region.map(|region| ("region", region));
        let api = Settings {
            address: settings.address,
            token: settings.token,
            headers: headers(&settings.headers, settings.http_auth.as_deref())?,
            query: query.into_iter().collect(),
            tls: settings.tls,
        };
        Ok(Self {
            api: Api::new(&ENGINE, api)?,
            namespace: settings.namespace.unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned()),
        })
    }

    /// Exchanges a token of another issuer for a Nomad token, which every later call sends.
    pub async fn log_in(mut self, method: &str, token: &str) -> Result<Self, Diagnostic> {
        let refused = format!("Nomad's auth method {method} refuses the login");
        let body = json!({"AuthMethodName": method, "LoginToken": token});
        let answer = self.api.ask(Call::put(&["acl", "login"], body)).await;
        let answer = answer.map_err(|error: ApiError| error.diagnostic(&refused))?;
        let secret = answer["SecretID"].as_str().unwrap_or_default();
        self.api
            .set_token(secret)
            .map_err(|why| Diagnostic::error(&refused).detail(why))?;
        Ok(self)
    }

    /// The namespace of jobs and volumes that name none themselves.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }
}

/// A client is asked like the API itself.
impl std::ops::Deref for Client {
    type Target = Api;

    fn deref(&self) -> &Api {
        &self.api
    }
}

fn headers(configured: &[(String, String)], http_auth: Option<&str>) -> Result<HeaderMap, Diagnostics> {
    let wrong = |attribute, why: String| {
        Diagnostic::error("Provider nomad cannot be configured")
            .detail(why)
            .at(attribute)
    };
    let mut headers = HeaderMap::new();
    for (name, value) in configured {
        let name: HeaderName = name
            .parse()
            .map_err(|_| wrong("headers", format!("{name} is not a header name")))?;
        let value = secret_header(value).map_err(|why| wrong("headers", format!("header {name}: {why}")))?;
        headers.append(name, value);
    }
    if let Some(auth) = http_auth {
        use base64::Engine as _;
        let basic = format!("Basic {}", base64::prelude::BASE64_STANDARD.encode(auth));
        let basic = secret_header(&basic).map_err(|why| wrong("http_auth", why))?;
        headers.insert(AUTHORIZATION, basic);
    }
    Ok(headers)
}
