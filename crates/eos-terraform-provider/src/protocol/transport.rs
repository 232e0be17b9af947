//! Owns the transport: a Unix socket in a private directory, TLS that accepts Terraform's pinned client
//! certificate and no other, gRPC's framing over HTTP/2, and the life of the process.

use std::convert::Infallible;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use bytes::{BufMut, Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::alg_id::{ECDSA_P521, ECDSA_SHA512};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{
    AlgorithmIdentifier, CertificateDer, InvalidSignature, PrivateKeyDer, SignatureVerificationAlgorithm,
    UnixTime,
};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, SignatureScheme};
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::service::{Refusal, Service};
use crate::provider::{Provider, Stop};

/// Terraform kills a plugin two seconds after it asked it to end.
const GRACE: Duration = Duration::from_secs(1);
/// How often to look whether Terraform is still there; a killed Terraform cannot say goodbye.
const PARENT_CHECK: Duration = Duration::from_secs(5);

/// Why the provider could not be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("Terraform sent no certificate in PLUGIN_CLIENT_CERT")]
    NoClientCertificate,
    #[error("the certificate in PLUGIN_CLIENT_CERT cannot be read: {0}")]
    ClientCertificate(rustls::pki_types::pem::Error),
    #[error("the provider's own certificate cannot be made: {0}")]
    OwnCertificate(#[from] rcgen::Error),
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    #[error("the socket cannot be served: {0}")]
    Socket(#[from] io::Error),
}

/// Serves the provider until Terraform asks it to end, a TERM signal comes, or Terraform is gone.
pub async fn serve<C: Send + Sync + 'static>(provider: Provider<C>) -> Result<(), ServeError> {
    // An interrupt at the keyboard reaches the whole process group. Terraform passes it on by
    // `StopProvider`; a provider that died of it would leave objects that no Terraform state knows.
    let _interrupt_ignored = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;

    let pinned = std::env::var("PLUGIN_CLIENT_CERT").map_err(|_| ServeError::NoClientCertificate)?;
    let pinned = CertificateDer::from_pem_slice(pinned.as_bytes()).map_err(ServeError::ClientCertificate)?;
    let (tls, certificate) = tls(pinned)?;

    let directory = tempfile::Builder::new()
        .prefix("eos-terraform-provider-")
        .permissions(std::fs::Permissions::from_mode(0o700))
        .tempdir()?;
    let socket = directory.path().join("socket");
    let listener = UnixListener::bind(&socket)?;
    announce(&socket.to_string_lossy(), &certificate)?;

    let service = Service::new(provider);
    let ending = watch::Sender::new(false);
    let ended = Stop::new(ending.subscribe());
    let mut connections = JoinSet::new();
    let parent = std::os::unix::process::parent_id();
    let mut parent_check = tokio::time::interval(PARENT_CHECK);
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                connections.spawn(connection(stream, tls.clone(), service.clone(), ending.clone()));
            }
            () = ended.requested() => break,
            _ = terminate.recv() => break,
            _ = parent_check.tick() => {
                if std::os::unix::process::parent_id() != parent { break }
            }
        }
    }
    ending.send_replace(true);
    // A connection that does not end in time is cut when the program ends.
    let _ = tokio::time::timeout(GRACE, async { while connections.join_next().await.is_some() {} }).await;
    directory.close()?;
    Ok(())
}

/// The handshake line: core protocol 1, plugin protocol 6.
fn announce(socket: &str, certificate: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(
        stdout,
        "1|6|unix|{socket}|grpc|{}",
        BASE64_STANDARD_NO_PAD.encode(certificate)
    )?;
    stdout.flush()
}

fn tls(pinned: CertificateDer<'static>) -> Result<(TlsAcceptor, Vec<u8>), ServeError> {
    let key = rcgen::KeyPair::generate()?;
    let mut parameters = rcgen::CertificateParams::new(vec!["localhost".to_owned()])?;
    // Terraform takes the certificate as the root it trusts, which must be a certificate authority.
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let certificate = parameters.self_signed(&key)?.der().to_vec();

    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let mut config =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(Arc::new(Pinned(pinned)))
            .with_single_cert(vec![certificate.clone().into()], key)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok((TlsAcceptor::from(Arc::new(config)), certificate))
}

async fn connection<C: Send + Sync + 'static>(
    stream: UnixStream,
    tls: TlsAcceptor,
    service: Arc<Service<C>>,
    ending: watch::Sender<bool>,
) {
    let stream = match tls.accept(stream).await {
        Ok(stream) => stream,
        // Terraform logs what a provider writes to stderr.
        Err(error) => return eprintln!("eos-terraform-provider: a caller was refused: {error}"),
    };
    let ended = Stop::new(ending.subscribe());
    let answer = service_fn(move |request| answer(request, service.clone(), ending.clone()));
    let connection = http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), answer);
    let mut connection = std::pin::pin!(connection);
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = ended.requested() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = result {
        eprintln!("eos-terraform-provider: the connection to Terraform broke: {error}");
    }
}

type Reply = Response<http_body_util::combinators::BoxBody<Bytes, Infallible>>;

async fn answer<C: Send + Sync>(
    request: Request<Incoming>,
    service: Arc<Service<C>>,
    ending: watch::Sender<bool>,
) -> Result<Reply, hyper::Error> {
    let path = request.uri().path().to_owned();
    match path.as_str() {
        "/plugin.GRPCController/Shutdown" => {
            ending.send_replace(true);
            Ok(reply(Ok(Vec::new())))
        }
        // A stream for plugins that call back; it stays silent and ends with the program.
        "/plugin.GRPCBroker/StartStream" => {
            Stop::new(ending.subscribe()).requested().await;
            Ok(reply(Err(Refusal::NotImplemented)))
        }
        _ => {
            let Some(method) = path.strip_prefix("/tfplugin6.Provider/") else {
                return Ok(reply(Err(Refusal::NotImplemented)));
            };
            let body = request.into_body().collect().await?.to_bytes();
            Ok(reply(match unframe(&body) {
                Ok(message) => service.call(method, message).await,
                Err(refusal) => Err(refusal),
            }))
        }
    }
}

/// The one message of a unary call: a flag for compression, the length, the bytes.
fn unframe(body: &[u8]) -> Result<&[u8], Refusal> {
    let malformed = |why: &str| Refusal::Malformed(why.to_owned());
    let (head, message) = body
        .split_at_checked(5)
        .ok_or_else(|| malformed("the frame has no head"))?;
    if head[0] != 0 {
        return Err(malformed("the message is compressed, which was not agreed on"));
    }
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
    if usize::try_from(length) != Ok(message.len()) {
        return Err(malformed("the frame does not have the length it says"));
    }
    Ok(message)
}

fn frame(message: &[u8]) -> Bytes {
    let mut framed = BytesMut::with_capacity(message.len() + 5);
    framed.put_u8(0);
    framed.put_u32(u32::try_from(message.len()).expect("no object of 4 GiB exists"));
    framed.put_slice(message);
    framed.freeze()
}

/// gRPC says how a call ended in trailers after the body.
fn reply(outcome: Result<Vec<u8>, Refusal>) -> Reply {
    let (body, code, message) = match outcome {
        Ok(message) => (frame(&message), "0", None),
        Err(Refusal::NotImplemented) => (Bytes::new(), "12", None),
        Err(Refusal::Malformed(why)) => (Bytes::new(), "3", HeaderValue::from_str(&why).ok()),
    };
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static(code));
    if let Some(message) = message {
        trailers.insert("grpc-message", message);
    }
    let body = Full::new(body).with_trailers(async move { Some(Ok(trailers)) });
    debug_assert!(!body.is_end_stream(), "the trailers are still to come");
    let mut reply = Response::new(body.boxed());
    reply
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    reply
}

/// Accepts the one certificate that Terraform announced. It is a certificate authority's, which the usual
/// verifier refuses as a client's.
#[derive(Debug)]
struct Pinned(CertificateDer<'static>);

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        if *certificate == self.0 {
            Ok(ClientCertVerified::assertion())
        } else {
            Err(rustls::Error::General(
                "the client certificate is not the one Terraform announced".into(),
            ))
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signature, &ALGORITHMS)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signature, &ALGORITHMS)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ALGORITHMS.supported_schemes()
    }
}

/// Terraform's client key is on the curve P-521, which ring cannot verify.
static ALGORITHMS: WebPkiSupportedAlgorithms = WebPkiSupportedAlgorithms {
    all: &[&P521],
    mapping: &[(SignatureScheme::ECDSA_NISTP521_SHA512, &[&P521])],
};

#[derive(Debug)]
struct P521;

impl SignatureVerificationAlgorithm for P521 {
    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        ECDSA_P521
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        ECDSA_SHA512
    }

    fn verify_signature(&self, key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        use p521::ecdsa::signature::Verifier;
        use p521::ecdsa::{Signature, VerifyingKey};

        let key = VerifyingKey::from_sec1_bytes(key).map_err(|_| InvalidSignature)?;
        let signature = Signature::from_der(signature).map_err(|_| InvalidSignature)?;
        key.verify(message, &signature).map_err(|_| InvalidSignature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_gives_its_message_back() {
        assert_eq!(unframe(&frame(b"hello")), Ok(&b"hello"[..]));
        assert_eq!(unframe(&frame(b"")), Ok(&b""[..]));
    }

    #[test]
    fn a_broken_frame_is_refused() {
        for broken in [
            &b""[..],
            b"\0\0\0",
            b"\0\0\0\0\x05abc",
            b"\x01\0\0\0\x01a",
            b"\0\0\0\0\x01ab",
        ] {
            assert!(
                matches!(unframe(broken), Err(Refusal::Malformed(_))),
                "{broken:?}"
            );
        }
    }
}
