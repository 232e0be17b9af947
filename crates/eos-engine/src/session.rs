//! A session in a task: one command in one instance, through a door that the control minion opens for it.
//!
//! The token stays on the control minion: `formula/_utils/eos_door.py` says why. Eos chooses a word, sends its digest over
//! Salt, and shows the word at the door, whose certificate the answer of the control minion names.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use eos_core::emit::sha256;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use reqwest::header::{AUTHORIZATION, CONNECTION, UPGRADE};
use reqwest::{StatusCode, Upgraded};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::http::{client_of, transport_error};
use crate::secrets::error_of;

/// How long the control minion leaves a session open.
pub const LONGEST: Duration = Duration::from_secs(600);
/// The minion compiles its pillar, asks Nomad and makes a token.
const CALL: Duration = Duration::from_secs(60);
const ENTER: Duration = Duration::from_secs(20);
/// A failure of Nomad's or the door's is a sentence.
const LONGEST_WORDS: usize = 4096;

/// What is to be entered.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    pub environment: &'a str,
    pub component: &'a str,
    pub instance: &'a str,
    pub task: &'a str,
}

/// Columns and rows of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub columns: u16,
    pub rows: u16,
}

/// Open for a minute, and for who has the word.
pub struct Door {
    object: String,
    url: String,
    certificate: String,
    word: SecretString,
}

#[derive(Deserialize)]
struct Opened {
    address: String,
    port: u16,
    certificate: String,
}

/// Asks the control minion for a door. It refuses a caller whose role does not reach what the component counts as.
pub async fn open(engines: &Engines, target: Target<'_>) -> Result<Door, EngineError> {
    let object = format!("session in {}", target.component);
    let invalid = |words: String| EngineError::new(Layer::Salt, ErrorKind::Invalid, &object, words);
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| invalid(error.to_string()))?;
    let word: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let arguments = json!({
        "kind": "workspace", "action": "enter", "environment": target.environment, "component": target.component,
        "facts": {"instance": target.instance, "task": target.task, "proof": sha256(word.as_bytes())},
    });
    let control = &engines.endpoints.control;
    let answer = engines.salt.call(control, "eos.act", arguments, CALL).await?;
    if let Some(error) = answer.get("error") {
        return Err(error_of(error));
    }
    let opened: Opened = serde_json::from_value(answer).map_err(|error| invalid(error.to_string()))?;
    let host = match opened.address.contains(':') {
        true => format!("[{}]", opened.address),
        false => opened.address,
    };
    Ok(Door {
        object,
        url: format!("https://{host}:{}/session", opened.port),
        certificate: opened.certificate,
        word: SecretString::from(word),
    })
}

impl Door {
    /// Goes through it, and runs the command. `with_terminal` gives the command a terminal of its own.
    pub async fn enter(
        self,
        command: &[String],
        with_terminal: bool,
    ) -> Result<(Input, Output), EngineError> {
        let object = self.object.as_str();
        let failed = |words: String| EngineError::new(Layer::Nomad, ErrorKind::Failed, object, words);
        let mut key = [0; 16];
        getrandom::fill(&mut key).map_err(|error| failed(error.to_string()))?;
        let asked = json!({"command": command, "terminal": with_terminal}).to_string();
        let request = client_of(Layer::Salt, object, &self.certificate)?
            .get(&self.url)
            .header(AUTHORIZATION, format!("Bearer {}", self.word.expose_secret()))
            .header(CONNECTION, "Upgrade")
            .header(UPGRADE, "websocket")
            .header("Sec-WebSocket-Version", "13")
            .header("Sec-WebSocket-Key", STANDARD.encode(key))
            .header("Eos-Command", STANDARD.encode(asked));
        let transport = |error: reqwest::Error| {
            transport_error(Layer::Salt, object, &self.url, &error).with_hint(
                "Can this machine reach that address? The setting eos:sessions of the control minion names it",
            )
        };
        let response = timeout(ENTER, request.send())
            .await
            .map_err(|_| failed(format!("{} did not answer in time", self.url)))?
            .map_err(transport)?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            let words = response.text().await.unwrap_or_default();
            return Err(failed(words.chars().take(LONGEST_WORDS).collect()));
        }
        let connection = response.upgrade().await.map_err(transport)?;
        let (input, output) = WebSocketStream::from_raw_socket(connection, Role::Client, None)
            .await
            .split();
        Ok((
            Input { socket: input },
            Output {
                object: self.object,
                socket: output,
            },
        ))
    }
}

/// What the command is given.
pub struct Input {
    socket: SplitSink<WebSocketStream<Upgraded>, Message>,
}

impl Input {
    pub async fn bytes(&mut self, bytes: &[u8]) {
        self.send(json!({"stdin": {"data": STANDARD.encode(bytes)}}))
            .await;
    }

    pub async fn end(&mut self) {
        self.send(json!({"stdin": {"close": true}})).await;
    }

    pub async fn size(&mut self, size: Size) {
        self.send(json!({"tty_size": {"width": size.columns, "height": size.rows}}))
            .await;
    }

    /// Nothing, so that no one on the way takes the connection for dead.
    pub async fn beat(&mut self) {
        self.send(json!({})).await;
    }

    /// A command that has ended takes nothing more: its output says so.
    async fn send(&mut self, message: Value) {
        let _ = self.socket.send(Message::text(message.to_string())).await;
    }
}

/// What the command says.
pub struct Output {
    object: String,
    socket: SplitStream<WebSocketStream<Upgraded>>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Said {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    /// The command ended, with its exit code.
    Exited(i32),
    /// The connection ended before the command did.
    Cut,
}

impl Output {
    pub async fn next(&mut self) -> Result<Said, EngineError> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => {
                    if let Some(said) = read(&text) {
                        return Ok(said);
                    }
                }
                Some(Ok(Message::Close(Some(why)))) if !why.reason.is_empty() => {
                    return Err(refused(&self.object, &why.reason));
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Ok(Said::Cut),
                Some(Ok(_)) => {}
            }
        }
    }
}

fn refused(object: &str, words: &str) -> EngineError {
    let error = EngineError::new(Layer::Nomad, ErrorKind::Refused, object, words);
    match words.contains("Permission denied") {
        true => error.with_hint(
            "Nomad lets nobody into a task that runs as a program of its host, and nobody where its policy eos-session lacks",
        ),
        false => error,
    }
}

/// One frame of Nomad's. It leaves out what is empty or 0.
#[derive(Deserialize)]
struct Frame {
    stdout: Option<Piece>,
    stderr: Option<Piece>,
    #[serde(default)]
    exited: bool,
    result: Option<BTreeMap<String, Value>>,
}

#[derive(Deserialize)]
struct Piece {
    data: Option<String>,
}

fn read(text: &str) -> Option<Said> {
    let frame: Frame = serde_json::from_str(text).ok()?;
    if frame.exited {
        let code = frame.result.as_ref().and_then(|result| result.get("exit_code"));
        let code = code.and_then(Value::as_i64).unwrap_or(0);
        return Some(Said::Exited(i32::try_from(code).unwrap_or(i32::MAX)));
    }
    let bytes = |piece: Option<Piece>| STANDARD.decode(piece?.data?).ok();
    bytes(frame.stdout)
        .map(Said::Stdout)
        .or_else(|| bytes(frame.stderr).map(Said::Stderr))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_nomad_writes_them() {
        for (text, expected) in [
            ("{}", None),
            (
                r#"{"stdout":{"data":"aGk="}}"#,
                Some(Said::Stdout(b"hi".to_vec())),
            ),
            (
                r#"{"stderr":{"data":"aGk="}}"#,
                Some(Said::Stderr(b"hi".to_vec())),
            ),
            (r#"{"stdout":{"close":true}}"#, None),
            (r#"{"exited":true,"result":{}}"#, Some(Said::Exited(0))),
            (r#"{"exited":true}"#, Some(Said::Exited(0))),
            (
                r#"{"exited":true,"result":{"exit_code":42}}"#,
                Some(Said::Exited(42)),
            ),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
