//! Registries of container images: which image a name means now. Eos asks without a password, and only for a digest.

use std::collections::BTreeMap;

use eos_core::image::{Reference, is_digest};
use reqwest::header::{ACCEPT, HeaderMap, WWW_AUTHENTICATE};
use reqwest::{Method, Response, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use crate::error::{EngineError, ErrorKind, Layer};
use crate::http::{self, ANSWER, read_json, transport_error};
use crate::settings::Settings;
use crate::waiting::Waiting;

const DIGEST: &str = "docker-content-digest";
/// What an image may be written as: for one kind of processor, or a list for several.
const MANIFESTS: &str = "application/vnd.oci.image.index.v1+json, \
     application/vnd.docker.distribution.manifest.list.v2+json, \
     application/vnd.oci.image.manifest.v1+json, \
     application/vnd.docker.distribution.manifest.v2+json";

/// The name with the digest of the image that it means now. One that has a digest stays as it is, and nobody is asked.
pub async fn pin(settings: &Settings, image: &Reference) -> Result<Reference, EngineError> {
    if image.digest.is_some() {
        return Ok(image.clone());
    }
    let registry = Registry {
        http: http::client(Layer::Registry, None)?,
        address: address(settings, image)?,
        object: format!("image {image}"),
        by_hand: format!("give the digest yourself: {image}@sha256:..."),
    };
    let digest = registry.digest(image).await?;
    Ok(Reference {
        digest: Some(digest),
        ..image.clone()
    })
}

struct Registry {
    http: reqwest::Client,
    address: Url,
    object: String,
    /// What can be done without it.
    by_hand: String,
}

/// The registry of the image: the one of its name, else the one that the settings or a laboratory name.
fn address(settings: &Settings, image: &Reference) -> Result<Url, EngineError> {
    let object = format!("image {image}");
    let text = match (&image.host, &settings.registry) {
        (Some(host), _) => match is_loopback(host) {
            true => format!("http://{host}"),
            false => format!("https://{host}"),
        },
        (None, Some(registry)) => registry.clone(),
        (None, None) => {
            let object = format!("a registry for {object}");
            let words = "its name has none, and eos.toml names none";
            let hint = format!(
                "Name the registry in eos.toml (registry below [images]) or in the name, HOST/{image}; \
                 or give the digest: {image}@sha256:..."
            );
            return Err(EngineError::new(Layer::Estate, ErrorKind::NotFound, object, words).with_hint(hint));
        }
    };
    Url::parse(&text).map_err(|error| {
        EngineError::new(
            Layer::Registry,
            ErrorKind::Invalid,
            object,
            format!("{text}: {error}"),
        )
    })
}

/// Docker, too, speaks plain HTTP with this machine alone.
fn is_loopback(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    name == "localhost"
        || name
            .parse::<std::net::Ipv4Addr>()
            .is_ok_and(|address| address.is_loopback())
}

impl Registry {
    async fn digest(&self, image: &Reference) -> Result<String, EngineError> {
        let path = format!("/v2/{}/manifests/{}", image.repository(), image.tag());
        let mut url = self.address.clone();
        url.set_path(&path);
        let mut answer = self.ask(Method::HEAD, &url, None).await?;
        if answer.status() == StatusCode::UNAUTHORIZED
            && let Some(guard) = Guard::of(answer.headers())
        {
            let token = self.token(&guard).await?;
            answer = self.ask(Method::HEAD, &url, Some(&token)).await?;
        }
        let status = answer.status();
        match status.as_u16() {
            200 => {}
            404 => {
                let hint = format!("Look at its name and tag, or {}", self.by_hand);
                return Err(self.error(ErrorKind::NotFound, "").with_hint(hint));
            }
            401 | 403 => {
                let words = "it wants a password, and Eos knows none of registries";
                let hint = format!("Let Docker on the hosts log in, and {}", self.by_hand);
                return Err(self.error(ErrorKind::Refused, words).with_hint(hint));
            }
            _ => {
                let hint = format!("Try again later, or {}", self.by_hand);
                return Err(self.error(ErrorKind::Failed, &status.to_string()).with_hint(hint));
            }
        }
        let digest = answer
            .headers()
            .get(DIGEST)
            .and_then(|digest| digest.to_str().ok());
        match digest.filter(|digest| is_digest(digest)) {
            Some(digest) => Ok(digest.to_owned()),
            None => Err(self
                .error(ErrorKind::Invalid, "it does not say the digest")
                .with_hint(format!("Is it a registry? Otherwise {}", self.by_hand))),
        }
    }

    /// A registry that lets everybody read still wants to hear a word that it gave out itself.
    async fn token(&self, guard: &Guard) -> Result<SecretString, EngineError> {
        let refuse = |words: &str| {
            let hint = format!("Instead, {}", self.by_hand);
            self.error(ErrorKind::Invalid, words).with_hint(hint)
        };
        let mut url = Url::parse(&guard.realm).map_err(|_| refuse("it names no place for its tokens"))?;
        if url.scheme() != "https" && url.origin() != self.address.origin() {
            return Err(refuse("it gives its tokens out over plain HTTP"));
        }
        url.query_pairs_mut().extend_pairs(&guard.query);
        let answer = self.ask(Method::GET, &url, None).await?;
        if !answer.status().is_success() {
            let hint = format!("Let Docker on the hosts log in, and {}", self.by_hand);
            let words = "it wants a password, and Eos knows none of registries";
            return Err(self.error(ErrorKind::Refused, words).with_hint(hint));
        }
        let text = http::text_of(answer, 1 << 20).await;
        let text = text.map_err(|error| self.silent(&url, &error))?;
        let token: Token = read_json(Layer::Registry, &self.object, &text.unwrap_or_default())?;
        token
            .token
            .or(token.access_token)
            .ok_or_else(|| refuse("it gives out no token"))
    }

    async fn ask(
        &self,
        method: Method,
        url: &Url,
        token: Option<&SecretString>,
    ) -> Result<Response, EngineError> {
        let mut request = self.http.request(method, url.clone()).timeout(ANSWER);
        request = request.header(ACCEPT, MANIFESTS);
        if let Some(token) = token {
            request = request.bearer_auth(token.expose_secret());
        }
        let _waiting = Waiting::begin();
        request.send().await.map_err(|error| self.silent(url, &error))
    }

    fn silent(&self, url: &Url, error: &reqwest::Error) -> EngineError {
        let place = url.origin().ascii_serialization();
        transport_error(Layer::Registry, &self.object, &place, error)
            .with_hint(format!("If this machine cannot reach it, {}", self.by_hand))
    }

    fn error(&self, kind: ErrorKind, words: &str) -> EngineError {
        EngineError::new(Layer::Registry, kind, self.object.clone(), words)
    }
}

#[derive(Deserialize)]
struct Token {
    token: Option<SecretString>,
    access_token: Option<SecretString>,
}

/// Where a registry gives out its tokens: `Bearer realm="https://...",service="...",scope="..."`.
#[derive(Debug, PartialEq, Eq)]
struct Guard {
    realm: String,
    query: BTreeMap<String, String>,
}

impl Guard {
    fn of(headers: &HeaderMap) -> Option<Self> {
        let said = headers.get(WWW_AUTHENTICATE)?.to_str().ok()?;
        let (scheme, mut rest) = said.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let mut query = BTreeMap::new();
        // A value has commas in it, and no quotes.
        while let Some((key, after)) = rest.split_once("=\"") {
            let (value, next) = after.split_once('"')?;
            query.insert(key.trim_matches([',', ' ']).to_owned(), value.to_owned());
            rest = next;
        }
        let realm = query.remove("realm")?;
        query.retain(|key, _| key == "service" || key == "scope");
        Some(Self { realm, query })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::thread::JoinHandle;

    const SHA: &str = "sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a";

    /// A registry that gives these answers, one a connection, and hands back what it was asked. `HERE` is its own address.
    fn registry(answers: &[&str]) -> (String, JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let answers: Vec<_> = answers.iter().map(|text| text.replace("HERE", &host)).collect();
        let asked = std::thread::spawn(move || {
            let serve = |answer: String| {
                let (mut stream, _) = listener.accept().unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let request: Vec<_> = lines
                    .by_ref()
                    .map(Result::unwrap)
                    .take_while(|line| !line.is_empty())
                    .collect();
                stream.write_all(answer.as_bytes()).unwrap();
                request.join("\n")
            };
            answers.into_iter().map(serve).collect()
        });
        (host, asked)
    }

    async fn pinned(host: &str) -> Result<String, EngineError> {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("eos.toml"), "").unwrap();
        let settings = Settings::load(directory.path()).unwrap();
        let image = format!("{host}/team/app:1").parse().unwrap();
        pin(&settings, &image).await.map(|image| image.to_string())
    }

    fn found() -> String {
        format!(
            "HTTP/1.1 200 OK\r\ndocker-content-digest: {SHA}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
    }

    #[tokio::test]
    async fn a_tag_becomes_the_digest_that_the_registry_says() {
        let (host, asked) = registry(&[&found()]);
        assert_eq!(pinned(&host).await.unwrap(), format!("{host}/team/app:1@{SHA}"));
        let asked = asked.join().unwrap();
        assert!(
            asked[0].starts_with("HEAD /v2/team/app/manifests/1 "),
            "{asked:?}"
        );
        assert!(asked[0].contains("manifest.list.v2+json"), "{asked:?}");
    }

    #[tokio::test]
    async fn a_registry_for_everybody_gives_its_token_first() {
        let guard = "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer \
                     realm=\"http://HERE/token\",service=\"r\",scope=\"repository:team/app:pull,push\"\r\n\
                     content-length: 0\r\nconnection: close\r\n\r\n";
        let token = "HTTP/1.1 200 OK\r\ncontent-length: 15\r\nconnection: close\r\n\r\n{\"token\":\"word\"}";
        let token = token.replace("length: 15", "length: 16");
        let (host, asked) = registry(&[guard, &token, &found()]);
        assert!(pinned(&host).await.unwrap().ends_with(SHA));
        let asked = asked.join().unwrap();
        assert!(
            asked[1].starts_with("GET /token?scope=repository%3Ateam%2Fapp%3Apull%2Cpush&service=r "),
            "{asked:?}"
        );
        assert!(asked[2].contains("authorization: Bearer word"), "{asked:?}");
    }

    #[tokio::test]
    async fn each_refusal_says_how_to_go_on() {
        let elsewhere = "HTTP/1.1 401 No\r\nwww-authenticate: Bearer realm=\"http://other.invalid/\"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let basic = "HTTP/1.1 401 No\r\nwww-authenticate: Basic realm=\"x\"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let plain =
            |status: &str| format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        for (answer, kind) in [
            (plain("404 Not Found"), ErrorKind::NotFound),
            (plain("429 Too Many Requests"), ErrorKind::Failed),
            (plain("200 OK"), ErrorKind::Invalid),
            (basic.to_owned(), ErrorKind::Refused),
            (elsewhere.to_owned(), ErrorKind::Invalid),
        ] {
            let (host, asked) = registry(&[&answer]);
            let refused = pinned(&host).await.unwrap_err();
            asked.join().unwrap();
            assert_eq!(refused.kind, kind, "{refused}");
            assert!(
                refused.hint.as_ref().unwrap().contains("app:1@sha256:..."),
                "{refused:?}"
            );
        }
        let closed = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .to_string();
        let refused = pinned(&closed).await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Unreachable);
        assert!(refused.hint.unwrap().contains("@sha256:..."));
    }

    #[tokio::test]
    async fn a_name_without_a_registry_goes_to_that_of_the_settings() {
        let (host, asked) = registry(&[&found()]);
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("eos.toml");
        std::fs::write(&file, "").unwrap();
        let caddy: Reference = "caddy:2".parse().unwrap();
        let none = pin(&Settings::load(directory.path()).unwrap(), &caddy)
            .await
            .unwrap_err();
        assert!(none.hint.unwrap().contains("[images]"));
        std::fs::write(&file, format!("[images]\nregistry = \"http://{host}\"\n")).unwrap();
        let settings = Settings::load(directory.path()).unwrap();
        let pinned = pin(&settings, &caddy).await.unwrap();
        assert_eq!(pinned.to_string(), format!("caddy:2@{SHA}"));
        assert!(asked.join().unwrap()[0].starts_with("HEAD /v2/library/caddy/manifests/2 "));
        // Nobody is asked any more.
        assert_eq!(pin(&settings, &pinned).await.unwrap(), pinned);
        for wrong in ["registry.example", "https://ada:word@registry.example"] {
            std::fs::write(&file, format!("[images]\nregistry = \"{wrong}\"\n")).unwrap();
            assert!(Settings::load(directory.path()).is_err(), "{wrong}");
        }
    }
}
