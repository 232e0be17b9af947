//! Plain HTTP with what serves containers: Docker on its socket, the registry on its port.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{HOST, HeaderName, LOCATION};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

/// How much of a file is sent at once.
const PIECE: usize = 256 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    Socket(PathBuf),
    /// `host:port`
    Port(String),
}

impl Address {
    /// As Docker and Nomad write it; `None` is a way of speaking that is not known here.
    pub fn of_docker(endpoint: &str) -> Option<Address> {
        match endpoint.split_once("://")? {
            ("unix", path) => Some(Address::Socket(path.into())),
            ("tcp" | "http", address) => Some(Address::Port(address.trim_end_matches('/').into())),
            _ => None,
        }
    }

    pub async fn get(&self, path: &str) -> io::Result<HttpReply> {
        self.send(Method::GET, path, &[], Content::none()).await
    }

    /// Sends one request on a connection of its own.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(HeaderName, &str)],
        content: Content,
    ) -> io::Result<HttpReply> {
        let host = match self {
            Address::Socket(_) => "localhost",
            Address::Port(address) => address,
        };
        let mut request = Request::builder().method(method).uri(path).header(HOST, host);
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        let request = request.body(content).map_err(io::Error::other)?;
        match self {
            Address::Socket(path) => exchange(UnixStream::connect(path).await?, request).await,
            Address::Port(address) => exchange(TcpStream::connect(address).await?, request).await,
        }
    }
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    request: Request<Content>,
) -> io::Result<HttpReply> {
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(io::Error::other)?;
    let work = async {
        let response = sender.send_request(request).await.map_err(io::Error::other)?;
        let status = response.status();
        let location = response
            .headers()
            .get(LOCATION)
            .and_then(|value| Some(value.to_str().ok()?.to_owned()));
        let body = response
            .into_body()
            .collect()
            .await
            .map_err(io::Error::other)?
            .to_bytes();
        Ok(HttpReply {
            status,
            location,
            body,
        })
    };
    tokio::pin!(work, connection);
    tokio::select! {
        answer = &mut work => answer,
        // It ends before its answer was read only when something went wrong with it, which the answer then says too.
        _ = &mut connection => work.await,
    }
}

pub struct HttpReply {
    pub status: StatusCode,
    pub location: Option<String>,
    pub body: Bytes,
}

impl HttpReply {
    /// What the server says about a refusal, in one line.
    pub fn words(&self) -> String {
        let text = String::from_utf8_lossy(&self.body);
        format!("{}: {}", self.status, text.trim())
    }
}

/// What is sent along: bytes, or a file as it is read.
pub enum Content {
    Bytes(Bytes),
    File { file: File, left: u64 },
}

impl Content {
    pub fn none() -> Content {
        Content::Bytes(Bytes::new())
    }

    pub fn file(path: &Path) -> io::Result<Content> {
        let file = File::open(path)?;
        let left = file.metadata()?.len();
        Ok(Content::File { file, left })
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let piece = match self.get_mut() {
            Content::Bytes(bytes) => Ok(std::mem::take(bytes)),
            Content::File { file, left } => {
                let mut piece = vec![0; PIECE.min(usize::try_from(*left).unwrap_or(PIECE))];
                file.read_exact(&mut piece).map(|()| {
                    *left -= piece.len() as u64;
                    piece.into()
                })
            }
        };
        Poll::Ready(match piece {
            Ok(piece) if piece.is_empty() => None,
            other => Some(other.map(Frame::data)),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.size_hint().exact() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match self {
            Content::Bytes(bytes) => bytes.len() as u64,
            Content::File { left, .. } => *left,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_read_as_docker_writes_them() {
        assert_eq!(
            Address::of_docker("unix:///var/run/docker.sock"),
            Some(Address::Socket("/var/run/docker.sock".into()))
        );
        assert_eq!(
            Address::of_docker("tcp://127.0.0.1:2375"),
            Some(Address::Port("127.0.0.1:2375".into()))
        );
        assert_eq!(Address::of_docker("ssh://ada@example.org"), None);
    }
}
