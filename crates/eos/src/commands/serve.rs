//! A small HTTP server for the two hidden verbs that components run.

use super::Ended;
use crate::problem::Problem;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// A client that does not finish its request is not waited for.
const REQUEST: Duration = Duration::from_secs(10);
/// After an accept failed (no file descriptors left) it is not tried again at once.
const PAUSE: Duration = Duration::from_millis(200);

/// The answer to a GET: status, kind of content, body.
pub type Page = (StatusCode, &'static str, String);

/// Serves until it is asked to stop.
pub async fn serve(address: SocketAddr, page: impl Fn(&str) -> Page + Send + Sync + 'static) -> Ended {
    let failed = |error: std::io::Error| {
        Problem::not_done(
            format!("Cannot listen on {address}: {error}"),
            "Check that the port is free and that you may use it",
        )
    };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let mut terminated = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupted = signal(SignalKind::interrupt()).map_err(failed)?;
    eprintln!("listening on http://{}", listener.local_addr().map_err(failed)?);
    let page = Arc::new(page);
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(_) => {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            },
            _ = terminated.recv() => return Ok(crate::problem::Exit::Done),
            _ = interrupted.recv() => return Ok(crate::problem::Exit::Done),
        };
        let page = Arc::clone(&page);
        tokio::spawn(async move {
            let answer = service_fn(move |request| {
                let response = respond(&request, page.as_ref());
                async move { Ok::<_, Infallible>(response) }
            });
            // A client that went away is its own affair.
            let _ = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(REQUEST)
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}

fn respond(request: &Request<Incoming>, page: &(impl Fn(&str) -> Page + ?Sized)) -> Response<Full<Bytes>> {
    let (status, kind, body) = match *request.method() {
        Method::GET | Method::HEAD => page(request.uri().path()),
        _ => (
            StatusCode::METHOD_NOT_ALLOWED,
            TEXT,
            "only GET is answered\n".to_owned(),
        ),
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'"),
    );
    response
}

pub const TEXT: &str = "text/plain; charset=utf-8";
pub const HTML: &str = "text/html; charset=utf-8";
/// The text form in which Prometheus reads metrics.
pub const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

pub fn not_found() -> Page {
    (StatusCode::NOT_FOUND, TEXT, "there is nothing here\n".to_owned())
}

/// Text as it may stand in HTML.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_cannot_be_smuggled_in() {
        assert_eq!(
            escape("<b a='1'>&\"</b>"),
            "&lt;b a=&#39;1&#39;&gt;&amp;&quot;&lt;/b&gt;"
        );
    }
}
