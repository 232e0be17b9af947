//! How an engine's HTTP API is spoken to: one TLS provider, pinning, no proxy, no redirects; requests with a token.

use std::error::Error;
use std::path::Path;
use std::sync::{Arc, Once};
use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode, Url, redirect};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{EngineError, ErrorKind, Layer};
use crate::waiting::Waiting;

/// How long a connection may take to be made; answers have deadlines of their own.
const CONNECT: Duration = Duration::from_secs(5);
/// How long an answer may take, unless the caller waits for something.
pub const ANSWER: Duration = Duration::from_secs(20);
/// Of an answer, in bytes.
pub const LONGEST: usize = 64 << 20;

/// One request: the words for its object in messages, the path below `/v1/`, and what follows the `?`.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub object: &'a str,
    pub path: &'a str,
    pub query: &'a [(&'a str, &'a str)],
}

/// What an engine answered, whatever its status.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

/// What tells the API of one engine from those of the others.
#[derive(Clone, Copy)]
pub struct Dialect {
    pub layer: Layer,
    pub token_header: &'static str,
    /// Reads an answer that is no success: its object, status and text.
    pub refusal: fn(&str, StatusCode, &str) -> EngineError,
}

/// An API below `/v1/` that takes its token in a header, as those of Nomad, Consul and Vault do.
#[derive(Clone)]
pub struct Api {
    dialect: Dialect,
    http: reqwest::Client,
    address: Url,
    token: Option<SecretString>,
}

impl Api {
    pub fn new(
        dialect: Dialect,
        address: &str,
        certificate: Option<&Path>,
        token_file: Option<&Path>,
    ) -> Result<Self, EngineError> {
        let layer = dialect.layer;
        let object = format!("address {address}");
        let address = Url::parse(address)
            .ok()
            .filter(|url| !url.cannot_be_a_base())
            .ok_or_else(|| EngineError::new(layer, ErrorKind::Invalid, object, "it is not a URL"))?;
        let token = match token_file {
            None => None,
            Some(file) => {
                let text = std::fs::read_to_string(file).map_err(|error| {
                    let object = format!("token file {}", file.display());
                    EngineError::new(layer, ErrorKind::Refused, object, error.to_string())
                })?;
                Some(SecretString::from(text.trim()))
            }
        };
        Ok(Api {
            dialect,
            http: client(layer, certificate)?,
            address,
            token,
        })
    }

    pub fn with_token(self, token: SecretString) -> Self {
        Api {
            token: Some(token),
            ..self
        }
    }

    pub async fn get<T: DeserializeOwned>(&self, request: Request<'_>) -> Result<T, EngineError> {
        self.exchange(Method::GET, request, None).await
    }

    pub async fn put<T: DeserializeOwned>(
        &self,
        request: Request<'_>,
        body: &Value,
    ) -> Result<T, EngineError> {
        self.exchange(Method::PUT, request, Some(body)).await
    }

    pub async fn post<T: DeserializeOwned>(
        &self,
        request: Request<'_>,
        body: &Value,
    ) -> Result<T, EngineError> {
        self.exchange(Method::POST, request, Some(body)).await
    }

    pub async fn delete<T: DeserializeOwned>(&self, request: Request<'_>) -> Result<T, EngineError> {
        self.exchange(Method::DELETE, request, None).await
    }

    async fn exchange<T: DeserializeOwned>(
        &self,
        method: Method,
        request: Request<'_>,
        body: Option<&Value>,
    ) -> Result<T, EngineError> {
        let answer = self.send(method, request, body, ANSWER).await?;
        self.read(request.object, &answer)
    }

    /// The value of an answer, or the engine's refusal.
    pub fn read<T: DeserializeOwned>(&self, object: &str, answer: &Answer) -> Result<T, EngineError> {
        match answer.status.is_success() {
            true => read_json(self.dialect.layer, object, &answer.text),
            false => Err((self.dialect.refusal)(object, answer.status, &answer.text)),
        }
    }

    pub async fn send(
        &self,
        method: Method,
        request: Request<'_>,
        body: Option<&Value>,
        deadline: Duration,
    ) -> Result<Answer, EngineError> {
        let mut builder = self.builder(method, request).timeout(deadline);
        if let Some(body) = body {
            builder = builder.json(body);
        }
        let layer = self.dialect.layer;
        let transport = |error: reqwest::Error| self.transport(request.object, &error);
        let _waiting = Waiting::begin();
        let response = builder.send().await.map_err(transport)?;
        Ok(Answer {
            status: response.status(),
            headers: response.headers().clone(),
            text: match text_of(response, LONGEST).await.map_err(transport)? {
                Some(text) => text,
                None => return Err(too_long(layer, request.object)),
            },
        })
    }

    /// An answer that goes on for as long as somebody reads it.
    pub async fn stream(&self, request: Request<'_>) -> Result<Streamed, EngineError> {
        let sent = self.builder(Method::GET, request).send().await;
        let response = sent.map_err(|error| self.transport(request.object, &error))?;
        let status = response.status();
        if !status.is_success() {
            let words = text_of(response, LONGEST)
                .await
                .ok()
                .flatten()
                .unwrap_or_default();
            return Err((self.dialect.refusal)(request.object, status, &words));
        }
        Ok(Streamed {
            api: self.clone(),
            object: request.object.to_owned(),
            response,
        })
    }

    fn builder(&self, method: Method, request: Request<'_>) -> reqwest::RequestBuilder {
        let mut url = self.address.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("v1").extend(request.path.split('/'));
        }
        url.query_pairs_mut().extend_pairs(request.query);
        let builder = self.http.request(method, url);
        match &self.token {
            Some(token) => builder.header(self.dialect.token_header, token.expose_secret()),
            None => builder,
        }
    }

    fn transport(&self, object: &str, error: &reqwest::Error) -> EngineError {
        let layer = self.dialect.layer;
        transport_error(layer, object, self.address.as_str(), error)
            .with_default_hint(&format!("Is {} running? eos lab up starts a lab's", layer.name()))
    }
}

/// An answer that is read as it comes.
pub struct Streamed {
    api: Api,
    object: String,
    response: reqwest::Response,
}

impl Streamed {
    /// What came next; nothing at its end.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, EngineError> {
        let chunk = self.response.chunk().await;
        let chunk = chunk.map_err(|error| self.api.transport(&self.object, &error))?;
        Ok(chunk.map(|bytes| bytes.to_vec()))
    }
}

/// The text of an answer; nothing if it is longer than so many bytes: whoever squats on an engine's port must not fill the
/// memory.
pub async fn text_of(mut response: reqwest::Response, longest: usize) -> reqwest::Result<Option<String>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if bytes.len() + chunk.len() > longest {
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

pub fn too_long(layer: Layer, object: &str) -> EngineError {
    let words = format!("the answer is longer than {} MiB", LONGEST >> 20);
    EngineError::new(layer, ErrorKind::Invalid, object, words)
}

/// The decoder's own message is left out: it may quote the answer, and an answer may be a secret.
pub fn read_json<T: DeserializeOwned>(layer: Layer, object: &str, text: &str) -> Result<T, EngineError> {
    // A deletion and a few writes answer with nothing at all.
    let text = if text.is_empty() { "null" } else { text };
    serde_json::from_str(text).map_err(|error| {
        let words = format!(
            "unexpected answer at line {}, column {}",
            error.line(),
            error.column()
        );
        EngineError::new(layer, ErrorKind::Invalid, object, words)
    })
}

/// Builds a client. With `pinned`, a PEM file, only its certificates and what they signed are trusted.
///
/// Proxies of the environment are left out, since they would be handed the token; redirects likewise.
pub fn client(layer: Layer, pinned: Option<&Path>) -> Result<reqwest::Client, EngineError> {
    let mut builder = plain_builder();
    if let Some(file) = pinned {
        let object = format!("certificate {}", file.display());
        let text = std::fs::read(file).map_err(|error| invalid(layer, &object, &error))?;
        builder = builder.tls_backend_preconfigured(pinned_configuration(layer, &object, &text)?);
    }
    built(layer, builder)
}

/// The same for one whose certificate somebody vouched for.
pub fn client_of(layer: Layer, object: &str, certificate: &str) -> Result<reqwest::Client, EngineError> {
    let configuration = pinned_configuration(layer, object, certificate.as_bytes())?;
    built(layer, plain_builder().tls_backend_preconfigured(configuration))
}

fn built(layer: Layer, builder: reqwest::ClientBuilder) -> Result<reqwest::Client, EngineError> {
    builder
        .build()
        .map_err(|error| invalid(layer, "http client", &error))
}

fn plain_builder() -> reqwest::ClientBuilder {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // Another part of the program may have chosen already; either provider does.
        rustls::crypto::ring::default_provider().install_default().ok();
    });
    reqwest::Client::builder()
        .connect_timeout(CONNECT)
        .no_proxy()
        .redirect(redirect::Policy::none())
}

fn pinned_configuration(layer: Layer, object: &str, text: &[u8]) -> Result<ClientConfig, EngineError> {
    let certificates = CertificateDer::pem_slice_iter(text)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| invalid(layer, object, &error))?;
    let mut roots = RootCertStore::empty();
    for certificate in &certificates {
        roots
            .add(certificate.clone())
            .map_err(|error| invalid(layer, object, &error))?;
    }
    let chain = WebPkiServerVerifier::builder(Arc::new(roots))
        .build()
        .map_err(|error| invalid(layer, object, &error))?;
    Ok(ClientConfig::builder()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Pinned { certificates, chain }))
        .with_no_client_auth())
}

/// Trusts exactly the pinned certificates, whatever they say of themselves, and what they signed.
///
/// A self-signed certificate made by a plain `openssl req -x509` calls itself an authority, which the ordinary
/// check refuses in a server; being byte for byte the pinned one is the stronger proof.
#[derive(Debug)]
struct Pinned {
    certificates: Vec<CertificateDer<'static>>,
    chain: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self
            .certificates
            .iter()
            .any(|pinned| pinned.as_ref() == shown.as_ref())
        {
            return Ok(ServerCertVerified::assertion());
        }
        self.chain
            .verify_server_cert(shown, intermediates, server, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.chain.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.chain.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chain.supported_verify_schemes()
    }
}

/// Reads an error of the transport: nobody there, not in time, or not the server that was pinned.
pub fn transport_error(layer: Layer, object: &str, address: &str, error: &reqwest::Error) -> EngineError {
    if error.is_timeout() && !error.is_connect() {
        return EngineError::new(
            layer,
            ErrorKind::Timeout,
            object,
            format!("{address} did not answer in time"),
        );
    }
    if is_certificate_error(error) {
        let words = format!("{address} shows a certificate other than the pinned one");
        return EngineError::new(layer, ErrorKind::Refused, object, words)
            .with_hint("If somebody replaced the certificate on purpose, name the new one in eos.toml");
    }
    // An engine that hangs takes a connection, and shows no certificate.
    let words = match error.is_timeout() {
        true => format!("{address} did not answer in time"),
        false => format!("{address}: {}", innermost(error)),
    };
    EngineError::new(layer, ErrorKind::Unreachable, object, words)
}

fn is_certificate_error(error: &reqwest::Error) -> bool {
    causes(error).any(|cause| matches!(cause.downcast_ref(), Some(rustls::Error::InvalidCertificate(_))))
}

/// The last cause says what happened (`Connection refused`); those before it repeat the URL.
fn innermost(error: &reqwest::Error) -> String {
    causes(error)
        .last()
        .map(|cause| cause.to_string())
        .unwrap_or_default()
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(Some(error as &(dyn Error + 'static)), |&cause| {
        // The source of an io::Error is that of the error it wraps, which would thus be left out.
        match cause
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref)
        {
            Some(wrapped) => Some(wrapped as &(dyn Error + 'static)),
            None => cause.source(),
        }
    })
}

fn invalid(layer: Layer, object: &str, error: &dyn std::fmt::Display) -> EngineError {
    EngineError::new(layer, ErrorKind::Invalid, object, error.to_string())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn an_answer_without_end_is_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            assert!(stream.read(&mut [0; 1024]).unwrap() > 0);
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
            while stream.write_all(&[b'x'; 65536]).is_ok() {}
        });
        let response = client(Layer::Nomad, None)
            .unwrap()
            .get(address)
            .send()
            .await
            .unwrap();
        assert_eq!(text_of(response, 1 << 20).await.unwrap(), None);
    }
}
