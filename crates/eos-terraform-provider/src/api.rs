//! Owns the conversation with the HTTP API of an engine: addressing, credentials, errors, blocking queries.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde_json::Value as Json;

use crate::diagnostic::{Diagnostic, Diagnostics};

/// How long an ordinary call may take; a parse of a large job on a busy server takes seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// How an engine and the settings of its provider are called.
#[derive(Debug)]
pub struct Engine {
    pub name: &'static str,
    pub address_variable: &'static str,
    pub token_attribute: &'static str,
    pub token_variable: &'static str,
}

pub struct Settings {
    pub address: String,
    pub token: Option<String>,
    pub headers: HeaderMap,
    /// What is asked with every call.
    pub query: Vec<(&'static str, String)>,
    pub tls: Tls,
}

/// How to trust the server and prove oneself to it; all as PEM.
#[derive(Default)]
pub struct Tls {
    pub authority: Option<String>,
    pub certificate: Option<String>,
    pub key: Option<String>,
    pub skip_verify: bool,
}

pub struct Api {
    engine: &'static Engine,
    http: reqwest::Client,
    address: Url,
    headers: HeaderMap,
    query: Vec<(&'static str, String)>,
}

/// A call that the engine refused or did not answer.
#[derive(Debug, thiserror::Error)]
#[error("{call}: {words}")]
pub struct ApiError {
    engine: &'static Engine,
    call: String,
    status: Option<u16>,
    /// The engine's own words, or the transport's.
    words: String,
}

impl ApiError {
    pub fn is_not_found(&self) -> bool {
        self.status == Some(404)
    }

    pub fn says(&self, words: &str) -> bool {
        self.words.contains(words)
    }

    pub fn words(&self) -> &str {
        &self.words
    }

    /// Whether the engine knows the token but does not let it do this.
    pub fn is_denied(&self) -> bool {
        self.status == Some(403) && !self.says("not found")
    }

    /// The error under a summary that says what was tried.
    pub fn diagnostic(&self, summary: impl Into<String>) -> Diagnostic {
        let Engine {
            name,
            address_variable,
            token_attribute,
            token_variable,
        } = self.engine;
        let diagnostic = Diagnostic::error(summary);
        let Some(status) = self.status else {
            return diagnostic
                .detail(format!("{name} does not answer {}: {}", self.call, self.words))
                .hint(format!("Check address of provider {name}, or {address_variable}"));
        };
        let diagnostic = diagnostic.detail(format!("{name}: {} ({})", self.words, self.call));
        let token = format!("The ACL token ({token_attribute}, or {token_variable})");
        match status {
            403 if self.is_denied() => diagnostic.hint(format!("{token} lacks the right to do this")),
            403 => diagnostic.hint(format!("{token} is unknown to {name}; it may have expired")),
            _ => diagnostic,
        }
    }
}

/// One request: path segments, query and body.
pub struct Call<'a> {
    method: Method,
    path: Vec<&'a str>,
    query: Vec<(&'a str, String)>,
    body: Option<Body>,
    patience: Duration,
}

enum Body {
    Json(Json),
    Text(String),
}

impl<'a> Call<'a> {
    fn new(method: Method, path: &[&'a str]) -> Self {
        Self {
            method,
            path: path.to_vec(),
            query: Vec::new(),
            body: None,
            patience: PATIENCE,
        }
    }

    pub fn get(path: &[&'a str]) -> Self {
        Self::new(Method::GET, path)
    }

    pub fn delete(path: &[&'a str]) -> Self {
        Self::new(Method::DELETE, path)
    }

    pub fn put(path: &[&'a str], body: Json) -> Self {
        Self {
            body: Some(Body::Json(body)),
            ..Self::new(Method::PUT, path)
        }
    }

    /// Puts a text as it is.
    pub fn put_text(path: &[&'a str], text: &str) -> Self {
        Self {
            body: Some(Body::Text(text.to_owned())),
            ..Self::new(Method::PUT, path)
        }
    }

    pub fn query(mut self, name: &'a str, value: impl Into<String>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    pub fn namespace(self, namespace: &str) -> Self {
        self.query("namespace", namespace)
    }

    /// Answers when what is asked for is newer than `index`, at the latest after `wait`.
    pub fn newer_than(mut self, index: u64, wait: Duration) -> Self {
        self.patience = wait + PATIENCE;
        self.query("index", index.to_string())
            .query("wait", format!("{}ms", wait.as_millis()))
    }
}

impl Api {
    pub fn new(engine: &'static Engine, settings: Settings) -> Result<Self, Diagnostics> {
        let wrong = |attribute, why: String| {
            Diagnostics::from(
                Diagnostic::error(format!("Provider {} cannot be configured", engine.name))
                    .detail(why)
                    .at(attribute),
            )
        };
        let address = Url::parse(&settings.address).map_err(|error| {
            wrong(
                "address",
                format!("address {} is not a URL: {error}", settings.address),
            )
        })?;
        if !matches!(address.scheme(), "http" | "https") {
            return Err(wrong(
                "address",
                format!("address {address} is neither http nor https"),
            ));
        }
        let mut api = Self {
            engine,
            http: http(engine, &address, &settings.tls)?,
            address,
            headers: settings.headers,
            query: settings.query,
        };
        if let Some(token) = &settings.token {
            api.set_token(token)
                .map_err(|why| wrong(engine.token_attribute, why))?;
        }
        Ok(api)
    }

    /// Sends this token with every later call.
    pub fn set_token(&mut self, token: &str) -> Result<(), String> {
        let name: HeaderName = format!("x-{}-token", self.engine.name)
            .parse()
            .expect("engines have simple names");
        self.headers.insert(name, secret_header(token)?);
        Ok(())
    }

    /// The engine's answer.
    pub async fn ask(&self, call: Call<'_>) -> Result<Json, ApiError> {
        Ok(self.ask_with_index(call).await?.0)
    }

    /// The engine's answer; nothing if there is no such object.
    pub async fn find(&self, call: Call<'_>) -> Result<Option<Json>, ApiError> {
        match self.ask(call).await {
            // Some lists and singles answer null instead of 404.
            Ok(found) => Ok(Some(found).filter(|found| !found.is_null())),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The engine's answer and the index to wait for the next change with.
    pub async fn ask_with_index(&self, call: Call<'_>) -> Result<(Json, u64), ApiError> {
        let (text, name, index) = self.send(call).await?;
        if text.is_empty() {
            return Ok((Json::Null, index));
        }
        match serde_json::from_str(&text) {
            Ok(answer) => Ok((answer, index)),
            Err(error) => Err(ApiError {
                engine: self.engine,
                call: name,
                status: Some(200),
                words: format!("not JSON: {error}"),
            }),
        }
    }

    async fn send(&self, call: Call<'_>) -> Result<(String, String, u64), ApiError> {
        let mut url = self.address.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("v1").extend(&call.path);
        }
        let name = format!("{} {}", call.method, url.path());
        url.query_pairs_mut().extend_pairs(&call.query);
        url.query_pairs_mut().extend_pairs(&self.query);
        let mut request = self
            .http
            .request(call.method, url)
            .headers(self.headers.clone())
            .timeout(call.patience);
        request = match call.body {
            Some(Body::Json(body)) => request.json(&body),
            Some(Body::Text(body)) => request.body(body),
            None => request,
        };
        // The address of the error is left out: it may hold a password.
        let lost = |error: reqwest::Error| ApiError {
            engine: self.engine,
            call: name.clone(),
            status: None,
            words: causes(&error.without_url()),
        };
        let response = request.send().await.map_err(lost)?;
        let status = response.status();
        let index = response
            .headers()
            .get(format!("x-{}-index", self.engine.name))
            .and_then(|index| index.to_str().ok());
        let index = index.and_then(|index| index.parse().ok()).unwrap_or(0);
        let text = response.text().await.map_err(lost)?;
        if status.is_success() {
            Ok((text, name, index))
        } else {
            Err(ApiError {
                engine: self.engine,
                call: name,
                status: Some(status.as_u16()),
                words: text.trim().to_owned(),
            })
        }
    }
}

/// A header that no log shows.
pub fn secret_header(value: &str) -> Result<HeaderValue, String> {
    let mut value =
        HeaderValue::from_str(value).map_err(|_| "it holds characters no header may hold".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

/// An error with its causes, outermost first.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

fn http(engine: &Engine, address: &Url, tls: &Tls) -> Result<reqwest::Client, Diagnostics> {
    let wrong = |attribute, error: reqwest::Error| {
        Diagnostics::from(
            Diagnostic::error(format!(
                "The TLS settings of provider {} cannot be used",
                engine.name
            ))
            .detail(causes(&error))
            .at(attribute),
        )
    };
    // A proxy of the environment, or whoever a redirect names, would be handed the token.
    let builder = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .tcp_nodelay(true)
        .connect_timeout(Duration::from_secs(10));
    let builder = if address.scheme() == "http" {
        // No trust store: loading one takes longer than a whole plan.
        builder.tls_backend_preconfigured(plain_tls())
    } else {
        // Only the first call of a process installs it; a second one changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = builder.tls_danger_accept_invalid_certs(tls.skip_verify);
        if let Some(authority) = &tls.authority {
            let authorities = reqwest::Certificate::from_pem_bundle(authority.as_bytes());
            builder = builder.tls_certs_only(authorities.map_err(|error| wrong("ca_file", error))?);
        }
        if let (Some(certificate), Some(key)) = (&tls.certificate, &tls.key) {
            let identity = reqwest::Identity::from_pem(format!("{certificate}\n{key}").as_bytes());
            builder = builder.identity(identity.map_err(|error| wrong("cert_file", error))?);
        }
        builder
    };
    builder.build().map_err(|error| wrong("address", error))
}

/// A TLS configuration that trusts nobody, for addresses that need none.
fn plain_tls() -> rustls::ClientConfig {
    rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring offers the default protocol versions")
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth()
}

/// A map of strings in an answer; empty if it is null.
pub fn strings(answer: &Json) -> HashMap<String, String> {
    let entries = answer.as_object().into_iter().flatten();
    entries
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}

/// The elements of a list in an answer; none if it is null.
pub fn list(answer: &Json) -> impl Iterator<Item = &Json> {
    answer.as_array().into_iter().flatten()
}

/// A list of strings in an answer; empty if it is null.
pub fn texts(answer: &Json) -> Vec<String> {
    list(answer).filter_map(Json::as_str).map(str::to_owned).collect()
}

/// A string in an answer; empty if it is null.
pub fn text(answer: &Json) -> &str {
    answer.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGINE: Engine = Engine {
        name: "nomad",
        address_variable: "NOMAD_ADDR",
        token_attribute: "secret_id",
        token_variable: "NOMAD_TOKEN",
    };

    fn settings(address: &str) -> Settings {
        Settings {
            address: address.to_owned(),
            token: Some("secret-token".to_owned()),
            headers: HeaderMap::new(),
            query: Vec::new(),
            tls: Tls::default(),
        }
    }

    #[test]
    fn an_address_that_is_no_http_is_refused() {
        for address in ["unix:///run/nomad.sock", "nonsense"] {
            assert!(Api::new(&ENGINE, settings(address)).is_err(), "{address}");
        }
    }

    #[tokio::test]
    async fn an_error_never_shows_a_credential() {
        let address = "http://someone:address-password@127.0.0.1:1";
        let api = Api::new(&ENGINE, settings(address)).expect("the settings are complete");
        let error = api
            .ask(Call::get(&["jobs"]))
            .await
            .expect_err("nobody listens on port 1");
        let shown = format!("{error} {}", error.diagnostic("x").text());
        assert!(shown.contains("GET /v1/jobs"), "{shown}");
        assert!(
            !shown.contains("secret-token") && !shown.contains("address-password"),
            "{shown}"
        );
    }

    /// A server of one answer; gives its address, and what it was asked.
    fn answering(answer: String) -> (String, std::thread::JoinHandle<String>) {
        use std::io::{Read, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = format!("http://{}", listener.local_addr().expect("it is bound"));
        let asked = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody asks");
            let mut text = [0; 4096];
            let length = stream.read(&mut text).expect("it is readable");
            stream.write_all(answer.as_bytes()).expect("it is writable");
            String::from_utf8_lossy(&text[..length]).into_owned()
        });
        (address, asked)
    }

    #[tokio::test]
    async fn a_redirect_is_not_followed_with_the_token() {
        let elsewhere = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        elsewhere.set_nonblocking(true).expect("it is a socket");
        let place = elsewhere.local_addr().expect("it is bound");
        let answer = format!("HTTP/1.1 307 There\r\nLocation: http://{place}/\r\nContent-Length: 0\r\n\r\n");
        let (address, asked) = answering(answer);
        let api = Api::new(&ENGINE, settings(&address)).expect("the settings are complete");
        let error = api.ask(Call::get(&["jobs"])).await.expect_err("it is no answer");
        assert_eq!(error.status, Some(307));
        assert!(asked.join().expect("it was asked").contains("secret-token"));
        assert!(elsewhere.accept().is_err(), "somebody else was asked");
    }

    #[test]
    fn a_token_without_the_right_is_told_from_one_that_is_not_known() {
        let refused = |words: &str| {
            let error = ApiError {
                engine: &ENGINE,
                call: "GET /v1/jobs".to_owned(),
                status: Some(403),
                words: words.to_owned(),
            };
            error.diagnostic("x").text()
        };
        assert!(refused("Permission denied").contains("(secret_id, or NOMAD_TOKEN) lacks the right"));
        assert!(refused("ACL token not found").contains("is unknown to nomad"));
    }
}
