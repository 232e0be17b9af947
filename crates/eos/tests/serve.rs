//! The two hidden servers, run as Nomad and a container engine would run them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A server that is ended with the test.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(words: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_eos"))
            .args(words)
            .envs(variables.iter().copied())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut said = String::new();
        BufReader::new(child.stderr.take().expect("it is piped"))
            .read_line(&mut said)
            .expect("it says where it listens");
        let port = said.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        Self {
            child,
            port: port.unwrap_or_else(|| panic!("no port in {said:?}")),
        }
    }

    /// Status and body of one request.
    fn ask(&self, method: &str, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        .expect("it takes a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .expect("a status");
        (status, body.to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn hello_shows_its_greeting_and_the_chain() {
    let server = Server::start(
        &["serve-hello"],
        &[
            ("NOMAD_PORT_http", "0"),
            ("NOMAD_ALLOC_ID", "8c1f-77"),
            ("NOMAD_META_eos_digest", "d16e57"),
            ("EOS_HELLO_GREETING", "Hi <b>there</b>"),
        ],
    );
    let (status, page) = server.ask("GET", "/");
    assert_eq!(status, 200);
    for part in [
        "Hi &lt;b&gt;there&lt;/b&gt;",
        "8c1f-77",
        "d16e57",
        "Pillar",
        "Salt",
        "Terraform",
        "Nomad",
    ] {
        assert!(page.contains(part), "{part} is missing in {page}");
    }
    assert!(!page.contains("http"), "the page needs nothing from elsewhere");
    assert_eq!(server.ask("GET", "/health"), (200, "ok".to_owned()));
    let (status, metrics) = server.ask("GET", "/metrics");
    assert_eq!(status, 200);
    // The page was shown once; what is measured is not what was measured.
    assert!(metrics.ends_with("\neos_hello_pages_total 1\n"), "{metrics}");
    assert_eq!(server.ask("GET", "/../etc/passwd").0, 404);
    assert_eq!(server.ask("POST", "/").0, 405);
}

#[test]
fn a_stand_in_is_healthy_only_with_what_it_needs() {
    let directory = tempfile::tempdir().expect("a directory");
    let place = directory.path().join("data");
    let words = [
        "serve-stand-in",
        "--port",
        "0",
        "--health",
        "/api/health",
        "--require-env",
        "EOS_TEST_SECRET",
        "--require-dir",
        place.to_str().expect("UTF-8"),
    ];
    let bare = Server::start(&words, &[]);
    assert_eq!(
        bare.ask("GET", "/api/health"),
        (503, "variable EOS_TEST_SECRET is not set\n".to_owned())
    );
    let server = Server::start(&words, &[("EOS_TEST_SECRET", "canary")]);
    let (status, why) = server.ask("GET", "/api/health");
    assert!(status == 503 && why.contains("is not writable"), "{status} {why}");
    std::fs::create_dir(&place).expect("it can be made");
    assert_eq!(server.ask("GET", "/api/health").0, 200);
    assert!(server.ask("GET", "/metrics").1.ends_with("\neos_stand_in 1\n"));
    let (_, words) = server.ask("GET", "/");
    assert!(words.contains("stand-in") && !words.contains("canary"), "{words}");
}
