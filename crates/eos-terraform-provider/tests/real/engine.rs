//! Owns what the engines of the tests have in common: ports, calls of their API, their end.

use std::net::TcpListener;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

pub fn wait_until(what: &str, limit: Duration, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < limit, "waited {limit:?} in vain: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Free ports of loopback, all different.
pub fn ports<const N: usize>() -> [u16; N] {
    // Held together, so that they differ.
    let sockets = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").expect("loopback has free ports"));
    sockets.map(|socket| socket.local_addr().expect("a bound socket has an address").port())
}

/// The API of an engine, as a person with curl has it.
pub struct Caller {
    pub address: String,
    token_header: &'static str,
    pub token: Option<String>,
    runtime: tokio::runtime::Runtime,
    http: reqwest::Client,
}

impl Caller {
    pub fn new(address: String, token_header: &'static str, http: reqwest::ClientBuilder) -> Self {
        // No pool of threads is needed: every call is waited for.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        // Only the first call of a process installs it; a second one changes nothing.
        rustls::crypto::ring::default_provider().install_default().ok();
        let http = http.timeout(Duration::from_secs(60));
        Self {
            address,
            token_header,
            token: None,
            runtime,
            http: http.build().expect("an HTTP client"),
        }
    }

    /// Status and answer; status 0 if nothing answers.
    pub fn call(&self, method: &str, path: &str, body: Option<Json>) -> (u16, Json) {
        let method = method.parse().expect("a method");
        let mut request = self.http.request(method, format!("{}{path}", self.address));
        if let Some(token) = &self.token {
            request = request.header(self.token_header, token);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        self.runtime.block_on(async {
            match request.send().await {
                Ok(response) => {
                    let status = response.status().as_u16();
                    let text = response.text().await.unwrap_or_default();
                    (status, serde_json::from_str(&text).unwrap_or(Json::String(text)))
                }
                Err(_) => (0, Json::Null),
            }
        })
    }

    pub fn get(&self, path: &str) -> Json {
        let (status, answer) = self.call("GET", path, None);
        assert_eq!(status, 200, "GET {path}: {answer}");
        answer
    }
}

/// Sends a signal to a process, or with a leading minus to a process group.
pub fn signal(name: &str, target: &str) {
    Command::new("kill")
        .args([&format!("-{name}"), "--", target])
        .status()
        .expect("kill can be run");
}

/// Asks an agent to end, and ends it if it does not.
pub fn end(agent: &mut Child) {
    if matches!(agent.try_wait(), Ok(Some(_))) {
        return;
    }
    signal("TERM", &agent.id().to_string());
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        if matches!(agent.try_wait(), Ok(Some(_))) {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    agent.kill().expect("the engine can be killed");
    agent.wait().expect("the engine has ended");
}
