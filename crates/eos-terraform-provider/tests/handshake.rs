//! Starts the program as Terraform does, and as a stranger would, and looks at how it lives and ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};

const PROVIDER: &str = env!("CARGO_BIN_EXE_eos-terraform-provider");
const COOKIE: (&str, &str) = (
    "TF_PLUGIN_MAGIC_COOKIE",
    "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
);

/// A running provider that pinned a certificate nobody has the key of.
struct Provider {
    process: Child,
    socket: PathBuf,
    certificate: CertificateDer<'static>,
}

fn certificate() -> (CertificateDer<'static>, String, PrivateKeyDer<'static>) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    (made.cert.der().clone(), made.cert.pem(), key)
}

impl Provider {
    fn start(directory: &Path) -> Self {
        let program = directory.join("terraform-provider-nomad_v2.5.2");
        std::fs::copy(PROVIDER, &program).expect("the program can be copied");
        let mut process = Command::new(&program)
            .env(COOKIE.0, COOKIE.1)
            .env("PLUGIN_CLIENT_CERT", certificate().1)
            .env("TMPDIR", directory)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("stdout is piped");
        BufReader::new(stdout)
            .read_line(&mut line)
            .expect("the handshake line comes");
        let fields: Vec<&str> = line.trim_end().split('|').collect();
        assert_eq!(
            (fields[0], fields[1], fields[2], fields[4]),
            ("1", "6", "unix", "grpc"),
            "{line}"
        );
        let certificate = BASE64_STANDARD_NO_PAD
            .decode(fields[5])
            .expect("the certificate is base64");
        Self {
            process,
            socket: PathBuf::from(fields[3]),
            certificate: certificate.into(),
        }
    }

    /// Whether a caller with this identity gets as far as an HTTP/2 answer.
    fn accepts(&self, identity: Option<(CertificateDer<'static>, PrivateKeyDer<'static>)>) -> bool {
        let mut roots = rustls::RootCertStore::empty();
        roots
            .add(self.certificate.clone())
            .expect("the provider's certificate can be trusted");
        let config =
            rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .expect("ring offers the default versions")
                .with_root_certificates(roots);
        let mut config = match identity {
            Some((certificate, key)) => config
                .with_client_auth_cert(vec![certificate], key)
                .expect("certificate and key fit"),
            None => config.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"h2".to_vec()];
        let name = ServerName::try_from("localhost").expect("a name");
        let connection = rustls::ClientConnection::new(Arc::new(config), name).expect("a connection");
        let socket = UnixStream::connect(&self.socket).expect("the socket listens");
        socket
            .set_read_timeout(Some(Duration::from_secs(10)))
            .expect("a limit");
        let mut stream = rustls::StreamOwned::new(connection, socket);
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
        let mut answer = [0; 9];
        stream
            .write_all(preface)
            .and_then(|()| stream.read_exact(&mut answer))
            .is_ok()
    }

    fn signal(&self, name: &str) {
        let pid = self.process.id().to_string();
        Command::new("kill")
            .args([&format!("-{name}"), &pid])
            .status()
            .expect("kill can be run");
    }

    fn ends_within(&mut self, limit: Duration) -> bool {
        let start = Instant::now();
        while start.elapsed() < limit {
            if self
                .process
                .try_wait()
                .expect("the process can be asked")
                .is_some()
            {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

#[test]
fn a_run_by_hand_says_what_the_program_is() {
    let run = Command::new(PROVIDER)
        .env_remove(COOKIE.0)
        .output()
        .expect("the program starts");
    assert_eq!(run.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&run.stderr).contains("Terraform starts it"),
        "{run:?}"
    );

    let run = Command::new(PROVIDER)
        .arg("--version")
        .output()
        .expect("the program starts");
    assert_eq!(run.status.code(), Some(0));
    let words = String::from_utf8_lossy(&run.stdout);
    assert!(
        words.contains("nomad 2.5.2") && words.contains("consul 2.22.1"),
        "{run:?}"
    );
}

#[test]
fn a_file_name_without_a_provider_is_refused() {
    let run = Command::new(PROVIDER)
        .env(COOKIE.0, COOKIE.1)
        .output()
        .expect("the program starts");
    assert_eq!(run.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&run.stderr).contains("which this program lacks"),
        "{run:?}"
    );
}

#[test]
fn only_terraform_is_let_in() {
    let directory = tempfile::tempdir().expect("a directory");
    let provider = Provider::start(directory.path());
    let place = provider.socket.parent().expect("the socket is in a directory");
    let mode = std::fs::metadata(place)
        .expect("the directory is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(
        !provider.accepts(None),
        "a caller without a certificate was let in"
    );
    let (certificate, _, key) = certificate();
    assert!(
        !provider.accepts(Some((certificate, key))),
        "a caller with a foreign certificate was let in"
    );
}

#[test]
fn an_interrupt_is_ignored_and_the_end_is_clean() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut provider = Provider::start(directory.path());
    provider.signal("INT");
    assert!(
        !provider.ends_within(Duration::from_millis(500)),
        "the interrupt ended the provider"
    );
    provider.signal("TERM");
    assert!(
        provider.ends_within(Duration::from_secs(5)),
        "the provider did not end"
    );
    assert!(
        !provider.socket.parent().expect("a directory").exists(),
        "the socket's directory is still there"
    );
}
