//! Salt's HTTP API (rest_cherrypy): logging in, calling a function on one minion, and following a step to its end.
//!
//! Salt answers HTTP 200 whatever happened, 401 for several reasons and HTML for all of them; every such trap is
//! read here, and nowhere else.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::endpoints::SaltEndpoint;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::http;
use crate::salt_events::{Event, EventStream, Followed};
use crate::waiting::{self, Waiting};

/// With the master stopped, `/login` never answers although its port is open.
const LOGIN: Duration = Duration::from_secs(10);
/// Time for the event stream's first line and for a job to be handed to the master.
const START: Duration = Duration::from_secs(15);
/// How long a step may be silent before it is asked after: every question costs API and minion a third of a second of
/// processor time, which others' steps need. One that works is asked half as often each time.
const SILENCE: Duration = Duration::from_secs(5);
const LONGEST_SILENCE: Duration = Duration::from_secs(10);
/// The same without an event stream, when nothing else tells of the step's end.
const SILENCE_WITHOUT_EVENTS: Duration = Duration::from_secs(2);
/// Salt itself takes twice `MINION_WAIT` to say that a minion is gone.
const PROBE: Duration = Duration::from_secs(12);
/// Without a sign of life for this long, the failing probe is the answer; about a minute in all. A host whose disks are
/// all at work has been silent for half of one.
const PATIENCE: Duration = Duration::from_secs(45);
/// What the master is told: seconds until it looks whether the minion still works, and for that look.
pub(crate) const MINION_WAIT: u64 = 5;
/// An engine's words are for reading; a rendered file or traceback in them is cut here.
const LONGEST_WORDS: usize = 2000;

/// What `login` gives: good for some hours, and as good as the password until then.
#[derive(Clone)]
pub struct Token {
    secret: SecretString,
    expires: Timestamp,
}

impl Token {
    pub fn new(secret: SecretString, expires: Timestamp) -> Self {
        Token { secret, expires }
    }

    pub fn secret(&self) -> &SecretString {
        &self.secret
    }

    pub fn expires(&self) -> Timestamp {
        self.expires
    }
}

/// One mutating call: run again with the same operation and step, it re-attaches instead of running twice.
#[derive(Debug, Clone, Copy)]
pub struct StepCall<'a> {
    pub minion: &'a str,
    /// `eos.make`, `eos.remove` or `eos.act`.
    pub function: &'a str,
    pub operation: &'a str,
    pub step: &'a str,
    /// The other arguments of the function: an object.
    pub arguments: &'a Value,
    pub deadline: Duration,
}

pub struct SaltClient {
    http: reqwest::Client,
    url: Url,
    user: String,
    password_file: Option<PathBuf>,
    token: Mutex<Option<Token>>,
    /// Held by the one call that logs in; the others that began with it use its token.
    login: tokio::sync::Mutex<()>,
    events: tokio::sync::Mutex<Option<EventStream>>,
    probing: tokio::sync::Mutex<()>,
}

impl SaltClient {
    pub fn new(endpoint: &SaltEndpoint) -> Result<Self, EngineError> {
        let url = Url::parse(&endpoint.url).map_err(|error| {
            EngineError::new(
                Layer::Salt,
                ErrorKind::Invalid,
                format!("address {}", endpoint.url),
                error.to_string(),
            )
        })?;
        Ok(SaltClient {
            http: http::client(Layer::Salt, endpoint.certificate.as_deref())?,
            url,
            user: endpoint.user.clone(),
            password_file: endpoint.password_file.clone(),
            token: Mutex::new(None),
            login: tokio::sync::Mutex::new(()),
            events: tokio::sync::Mutex::new(None),
            probing: tokio::sync::Mutex::new(()),
        })
    }

    pub fn with_token(self, token: Token) -> Self {
        self.keep(token);
        self
    }

    /// Asks for a token; the client itself does not keep it (see `with_token`).
    pub async fn login(&self, password: &SecretString) -> Result<Token, EngineError> {
        let object = format!("login of {}", self.user);
        let body =
            json!({"eauth": "file", "username": self.user, "password": password.expose_secret()}).to_string();
        let request = self.post("login", body);
        self.within(LOGIN, &object, async {
            let response = request
                .send()
                .await
                .map_err(|error| self.transport_error(&object, &error))?;
            let status = response.status();
            let text = self.text(response, &object).await?;
            if status == StatusCode::UNAUTHORIZED {
                return Err(
                    EngineError::new(Layer::Salt, ErrorKind::Refused, &object, paragraph(&text))
                        .with_hint("Check the user and the password of Salt's API"),
                );
            }
            read_token(&object, read_return(&object, status, &text)?)
        })
        .await
    }

    /// Calls a function on one minion, waits, and gives its return value after all checks.
    pub async fn call(
        &self,
        minion: &str,
        function: &str,
        kwargs: Value,
        deadline: Duration,
    ) -> Result<Value, EngineError> {
        let object = object_of(minion, function);
        // The master asks a minion that is silent whether it is still at work. One that may be at work for long may be
        // too busy to say so at once.
        let patience = MINION_WAIT.max(deadline.as_secs() / 3);
        let low = json!([{
            "client": "local", "tgt": [minion], "tgt_type": "list", "fun": function, "kwarg": kwargs,
            "full_return": true, "timeout": MINION_WAIT, "gather_job_timeout": patience,
        }]);
        let answer = self
            .within(deadline, &object, self.lowstate(&object, &low))
            .await?;
        read_local(minion, function, &answer)
    }

    /// Calls a function on every minion that the master knows, and gives what each made of it. `wait` is in seconds: until
    /// the master looks whether a silent one still works, and for that look.
    pub async fn call_all(
        &self,
        function: &str,
        arguments: Value,
        wait: u64,
        deadline: Duration,
    ) -> Result<BTreeMap<String, Result<Value, EngineError>>, EngineError> {
        let object = format!("{function} on all minions");
        let low = json!([{
            "client": "local", "tgt": "*", "tgt_type": "glob", "fun": function, "kwarg": arguments,
            "full_return": true, "timeout": wait, "gather_job_timeout": wait,
        }]);
        let answer = self
            .within(deadline, &object, self.lowstate(&object, &low))
            .await?;
        let Some(answers) = answer.as_object() else {
            let words = words_of(&answer);
            return Err(EngineError::new(Layer::Salt, ErrorKind::Failed, object, words));
        };
        let minions = answers.keys();
        Ok(minions
            .map(|minion| (minion.clone(), read_local(minion, function, &answer)))
            .collect())
    }

    /// Asks API and master, with the token, without waiting for the minion: the answer is when the token expires.
    pub async fn reach(&self, minion: &str, deadline: Duration) -> Result<Option<Timestamp>, EngineError> {
        let object = "the API";
        let low = json!([{"client": "local_async", "tgt": [minion], "tgt_type": "list", "fun": "test.ping"}]);
        self.within(deadline, object, self.lowstate(object, &low)).await?;
        Ok(self.kept().map(|token| token.expires))
    }

    /// Whether the master refuses what it must not publish: a request that carries more than Eos uses. This one would do
    /// nothing but come back with the answer.
    pub async fn refuses_more(&self, minion: &str, deadline: Duration) -> Result<bool, EngineError> {
        let object = "the API";
        let low = json!([{
            "client": "local_async", "tgt": [minion], "tgt_type": "list", "fun": "test.ping",
            "metadata": {"asked_by": "eos doctor"},
        }]);
        match self.within(deadline, object, self.lowstate(object, &low)).await {
            Ok(_) => Ok(false),
            Err(error) if error.kind == ErrorKind::Refused && error.words.contains("may not carry") => {
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the API opens no more than Eos uses. The door that this one tries would fire an event.
    pub async fn opens_no_more(&self, deadline: Duration) -> Result<bool, EngineError> {
        let object = "the API";
        let request = self.post("hook/eos-doctor", "{}".to_owned());
        let response = self
            .within(deadline, object, self.authorised(object, &request))
            .await?;
        Ok(response.status() == StatusCode::NOT_FOUND)
    }

    /// Runs a step and follows it: its progress goes to `on_progress`, its record (or other answer) comes back.
    ///
    /// The event stream tells soonest, but minion, master and stream can each die under it. So every few seconds
    /// of silence the minion is asked for the step's record; without a sign of life this ends in about a minute.
    pub async fn run(
        &self,
        step: StepCall<'_>,
        on_progress: &mut dyn FnMut(&str),
    ) -> Result<Value, EngineError> {
        let object = object_of(step.minion, step.function);
        let _waiting = Waiting::begin();
        let ends = Instant::now() + step.deadline;
        // Opened before the job is started, so that no event is missed. If it cannot be, probing is enough.
        let mut events = self.follow_events(&object).await.ok();
        let jid = self.start(&object, step).await?;
        let returned = format!("salt/job/{jid}/ret/{}", step.minion);
        let progress = format!("eos/{}/{}", step.operation, step.step);

        // When the minion was heard of last; when this step was, or was asked after; since when it is not to be found.
        let mut alive = Instant::now();
        let mut heard = alive;
        let mut missing: Option<Instant> = None;
        let mut silence = SILENCE;
        let mut probing: Option<Probing<'_>> = None;
        loop {
            let pause = match events {
                Some(_) => silence,
                None => SILENCE_WITHOUT_EVENTS,
            };
            tokio::select! {
                event = next_event(&mut events), if events.is_some() => match event {
                    None => events = None,
                    Some(event) if event.tag == returned => {
                        if let Some(answer) = answer_in(&event, step.minion, step.function, &jid) {
                            return answer;
                        }
                    }
                    Some(event) if event.tag == progress => {
                        if let Some(message) = message_in(&event, step.minion) {
                            on_progress(&message);
                            heard = Instant::now();
                            alive = heard;
                        }
                    }
                    // What it returns for others says that it lives, and that the stream does.
                    Some(event) if event.is_return_of(step.minion) => alive = Instant::now(),
                    Some(_) => {}
                },
                probed = settled(&mut probing), if probing.is_some() => {
                    probing = None;
                    heard = Instant::now();
                    match probed {
                        Ok(Probe::Working) => {
                            (alive, missing) = (heard, None);
                            silence = (silence * 2).min(LONGEST_SILENCE);
                        }
                        Ok(Probe::Ended(record)) => {
                            // The stream did not tell: whatever is wrong with it, the next step gets a new one.
                            *self.events.lock().await = None;
                            return Ok(record);
                        }
                        // The job may not have reached a busy minion yet, so it is looked for again.
                        Ok(Probe::Missing) if missing.get_or_insert(heard).elapsed() < PATIENCE => alive = heard,
                        Ok(Probe::Missing) => {
                            let words = "the minion neither works on it nor has a record of it";
                            return Err(EngineError::new(Layer::Salt, ErrorKind::Failed, &object, words)
                                .with_hint("eos resume runs the step again"));
                        }
                        Err(error) if is_silence(&error) && alive.elapsed() < PATIENCE => silence = SILENCE_WITHOUT_EVENTS,
                        Err(error) => return Err(error),
                    }
                }
                () = tokio::time::sleep_until(heard + pause), if probing.is_none() => {
                    probing = Some(Box::pin(self.probe(step, &jid)));
                }
                () = tokio::time::sleep_until(ends) => {
                    return Err(self.out_of_time(step.deadline, &object)
                        .with_hint("The minion may still be working: eos resume looks again"));
                }
            }
        }
    }

    /// Hands the step's job to the master; the answer is the job's id.
    async fn start(&self, object: &str, step: StepCall<'_>) -> Result<String, EngineError> {
        let mut kwargs = json!({"operation": step.operation, "step": step.step});
        match (kwargs.as_object_mut(), step.arguments) {
            (Some(all), Value::Object(others)) => all.extend(others.clone()),
            _ => {
                return Err(EngineError::new(
                    Layer::Salt,
                    ErrorKind::Invalid,
                    object,
                    "arguments are not an object",
                ));
            }
        }
        let low = json!([{
            "client": "local_async", "tgt": [step.minion], "tgt_type": "list", "fun": step.function,
            "kwarg": kwargs,
        }]);
        let answer = self.within(START, object, self.lowstate(object, &low)).await?;
        match answer.get("jid").and_then(Value::as_str) {
            Some(jid) => Ok(jid.to_owned()),
            None if answer.as_object().is_some_and(|fields| fields.is_empty()) => {
                Err(unknown_minion(step.minion))
            }
            None => Err(EngineError::new(
                Layer::Salt,
                ErrorKind::Invalid,
                object,
                words_of(&answer),
            )),
        }
    }

    async fn probe(&self, step: StepCall<'_>, jid: &str) -> Result<Probe, EngineError> {
        // One after the other: steps that fall silent together, because all is busy, would make that worse.
        let _turn = self.probing.lock().await;
        let asked = json!({"operation": step.operation, "step": step.step});
        let record = self.call(step.minion, "eos.status", asked, PROBE).await?;
        let status = record.get("status").and_then(Value::as_str).unwrap_or("unknown");
        if status == "running" {
            return Ok(Probe::Working);
        }
        // An ended record may be that of an earlier attempt, as long as this job has not written its own.
        let job = self
            .call(step.minion, "saltutil.find_job", json!({"jid": jid}), PROBE)
            .await?;
        Ok(
            match (job.as_object().is_some_and(|job| !job.is_empty()), status) {
                (true, _) => Probe::Working,
                (false, "unknown") => Probe::Missing,
                (false, _) => Probe::Ended(record),
            },
        )
    }

    /// The events from now on, of the one stream that all steps share.
    async fn follow_events(&self, object: &str) -> Result<Followed, EngineError> {
        let mut kept = self.events.lock().await;
        if let Some(stream) = kept.as_ref().filter(|stream| !stream.is_lost()) {
            return Ok(stream.follow());
        }
        let request = self.http.get(self.address("events"));
        let response = self
            .within(START, object, self.authorised(object, &request))
            .await?;
        if response.status() != StatusCode::OK {
            let words = format!("the event stream answered {}", response.status());
            return Err(EngineError::new(Layer::Salt, ErrorKind::Failed, object, words));
        }
        Ok(kept.insert(EventStream::of(response)).follow())
    }

    /// Posts one lowstate; the answer is what stands first in `return`.
    async fn lowstate(&self, object: &str, low: &Value) -> Result<Value, EngineError> {
        let response = self.authorised(object, &self.post("", low.to_string())).await?;
        let status = response.status();
        let text = self.text(response, object).await?;
        read_return(object, status, &text)
    }

    /// Sends with the token. 401 means "log in again" as well as "not permitted", so it logs in at most once.
    async fn authorised(&self, object: &str, request: &RequestBuilder) -> Result<Response, EngineError> {
        let mut fresh = false;
        loop {
            let token = match self.kept() {
                Some(token) => token,
                None => {
                    fresh = true;
                    let _one_at_a_time = self.login.lock().await;
                    match self.kept() {
                        Some(token) => token,
                        None => self.login_from_file(object).await?,
                    }
                }
            };
            let Some(attempt) = request.try_clone() else {
                return Err(EngineError::new(
                    Layer::Salt,
                    ErrorKind::Invalid,
                    object,
                    "request cannot be repeated",
                ));
            };
            let response = attempt
                .header("X-Auth-Token", token.secret.expose_secret())
                .send()
                .await
                .map_err(|error| self.transport_error(object, &error))?;
            if response.status() != StatusCode::UNAUTHORIZED {
                return Ok(response);
            }
            let denial = read_denial(object, &self.text(response, object).await?);
            match denial {
                Denial::Token(_) if !fresh && self.password_file.is_some() => *self.token() = None,
                Denial::Token(error) | Denial::Function(error) => return Err(error),
            }
        }
    }

    async fn login_from_file(&self, object: &str) -> Result<Token, EngineError> {
        let Some(file) = &self.password_file else {
            return Err(
                EngineError::new(Layer::Salt, ErrorKind::Refused, object, "not logged in")
                    .with_hint("eos login"),
            );
        };
        let password = std::fs::read_to_string(file).map_err(|error| {
            let words = format!("the password file {} cannot be read: {error}", file.display());
            EngineError::new(Layer::Salt, ErrorKind::Refused, object, words)
        })?;
        let password = SecretString::from(password.trim_end_matches(['\n', '\r']));
        let token = self.login(&password).await?;
        self.keep(token.clone());
        Ok(token)
    }

    fn token(&self) -> std::sync::MutexGuard<'_, Option<Token>> {
        // A poisoned lock still holds a whole token: nothing that panics runs while it is held.
        self.token
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn keep(&self, token: Token) {
        *self.token() = Some(token);
    }

    fn kept(&self) -> Option<Token> {
        self.token().clone()
    }

    fn address(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(path);
        url
    }

    fn post(&self, path: &str, body: String) -> RequestBuilder {
        self.http
            .post(self.address(path))
            .header("Accept", "application/json")
            .header("Content-Type", "application/json")
            .body(body)
    }

    async fn text(&self, response: Response, object: &str) -> Result<String, EngineError> {
        http::text_of(response, http::LONGEST)
            .await
            .map_err(|error| self.transport_error(object, &error))?
            .ok_or_else(|| http::too_long(Layer::Salt, object))
    }

    async fn within<T>(
        &self,
        deadline: Duration,
        object: &str,
        work: impl Future<Output = Result<T, EngineError>>,
    ) -> Result<T, EngineError> {
        let ended = waiting::on(tokio::time::timeout(deadline, work)).await;
        ended.unwrap_or_else(|_| {
            Err(self
                .out_of_time(deadline, object)
                .with_hint("salt-api answers for a dead master too: is salt-master running?"))
        })
    }

    fn out_of_time(&self, deadline: Duration, object: &str) -> EngineError {
        let words = format!("{} gave no answer in {} s", self.url, deadline.as_secs());
        EngineError::new(Layer::Salt, ErrorKind::Timeout, object, words)
    }

    fn transport_error(&self, object: &str, error: &reqwest::Error) -> EngineError {
        http::transport_error(Layer::Salt, object, self.url.as_str(), error)
            .with_default_hint("Is salt-api running? eos lab up starts a lab's")
    }
}

enum Probe {
    Working,
    Ended(Value),
    Missing,
}

type Probing<'a> = Pin<Box<dyn Future<Output = Result<Probe, EngineError>> + 'a>>;

enum Denial {
    Token(EngineError),
    Function(EngineError),
}

fn object_of(minion: &str, function: &str) -> String {
    format!("{function} on minion {minion}")
}

fn is_silence(error: &EngineError) -> bool {
    matches!(error.kind, ErrorKind::Unreachable | ErrorKind::Timeout)
}

fn unknown_minion(minion: &str) -> EngineError {
    let words = "no minion of this id has joined the master";
    EngineError::new(
        Layer::Salt,
        ErrorKind::NotFound,
        format!("minion {minion}"),
        words,
    )
    .with_hint("Check the minion's id and that the master accepted its key")
}

async fn settled(future: &mut Option<Probing<'_>>) -> Result<Probe, EngineError> {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

async fn next_event(events: &mut Option<Followed>) -> Option<Arc<Event>> {
    match events {
        Some(stream) => stream.next().await,
        None => None,
    }
}

/// The words of Salt's HTML error pages stand in their `<p>`.
fn paragraph(html: &str) -> String {
    let inner = html
        .split_once("<p>")
        .and_then(|(_, rest)| rest.split_once("</p>"))
        .map(|(inner, _)| inner);
    shorten(
        &inner
            .unwrap_or(html)
            .replace("&quot;", "\"")
            .replace("&#x27;", "'")
            .replace("&amp;", "&"),
    )
}

fn shorten(words: &str) -> String {
    match words.char_indices().nth(LONGEST_WORDS) {
        Some((end, _)) => format!("{} ...", &words[..end]),
        None => words.to_owned(),
    }
}

fn read_denial(object: &str, html: &str) -> Denial {
    let words = paragraph(html);
    let error = EngineError::new(Layer::Salt, ErrorKind::Refused, object, &words);
    // `Authorization error occurred.` is local's, `Authentication failure of type "token" …` is runner's.
    if words.starts_with("Authorization error") || words.starts_with("Authentication failure of type") {
        return Denial::Function(
            error.with_hint("The API user is not permitted to call this function on this minion: eos doctor"),
        );
    }
    Denial::Token(error.with_hint("eos login"))
}

/// The words of an answer that is no success: Salt's API sends them as JSON, the server around it as a page.
fn said(body: &str) -> String {
    let answer: Option<Value> = serde_json::from_str(body).ok();
    let words = answer.as_ref().and_then(|answer| answer["return"].as_str());
    words.map_or_else(|| paragraph(body), shorten)
}

fn read_return(object: &str, status: StatusCode, body: &str) -> Result<Value, EngineError> {
    #[derive(Deserialize)]
    struct Body {
        r#return: Vec<Value>,
    }
    if status.is_server_error() && status != StatusCode::INTERNAL_SERVER_ERROR {
        return Err(EngineError::new(
            Layer::Salt,
            ErrorKind::Unreachable,
            object,
            paragraph(body),
        ));
    }
    if status != StatusCode::OK {
        let words = format!("{}: {}", status.as_u16(), said(body));
        let error = EngineError::new(Layer::Salt, ErrorKind::Failed, object, words);
        return Err(error.with_hint("Salt's API or its master is in trouble: eos doctor"));
    }
    let Ok(body) = serde_json::from_str::<Body>(body) else {
        // What /login says while the master is still starting.
        let words = "the answer is not JSON";
        return Err(
            EngineError::new(Layer::Salt, ErrorKind::Unreachable, object, words)
                .with_hint("Salt's API answers before its master is ready; try again in a few seconds"),
        );
    };
    body.r#return
        .into_iter()
        .next()
        .ok_or_else(|| EngineError::new(Layer::Salt, ErrorKind::Invalid, object, "the answer is empty"))
}

fn read_token(object: &str, answer: Value) -> Result<Token, EngineError> {
    #[derive(Deserialize)]
    struct TokenAnswer {
        token: SecretString,
        expire: f64,
    }
    let invalid = |words: &str| EngineError::new(Layer::Salt, ErrorKind::Invalid, object, words);
    // The decoder's own message is left out: it would quote the answer.
    let answer: TokenAnswer =
        serde_json::from_value(answer).map_err(|_| invalid("the answer has no token"))?;
    let expires = Timestamp::from_second(answer.expire as i64)
        .map_err(|_| invalid("the token's expiry is not a date"))?;
    Ok(Token::new(answer.token, expires))
}

/// Reads `return[0]` of a `local` call with `full_return`.
fn read_local(minion: &str, function: &str, answer: &Value) -> Result<Value, EngineError> {
    let Some(answers) = answer.as_object() else {
        return Err(EngineError::new(
            Layer::Salt,
            ErrorKind::Failed,
            object_of(minion, function),
            words_of(answer),
        ));
    };
    match answers.get(minion) {
        None => Err(unknown_minion(minion)),
        Some(entry) if entry.get("out").and_then(Value::as_str) == Some("no_return") => {
            Err(EngineError::new(
                Layer::Salt,
                ErrorKind::Unreachable,
                format!("minion {minion}"),
                "it did not answer",
            )
            .with_hint(
                "Does salt-minion run there, connected to this master, and with room on its disk? eos doctor",
            ))
        }
        Some(entry) => read_outcome(minion, function, entry.get("ret"), entry.get("retcode")),
    }
}

/// Reads what a function gave: only the exit code tells success, and the value has one of three shapes.
fn read_outcome(
    minion: &str,
    function: &str,
    value: Option<&Value>,
    exit: Option<&Value>,
) -> Result<Value, EngineError> {
    let object = object_of(minion, function);
    let (Some(value), Some(exit)) = (value, exit.and_then(Value::as_i64)) else {
        return Err(EngineError::new(
            Layer::Salt,
            ErrorKind::Invalid,
            object,
            "the answer has no exit code",
        ));
    };
    // A failed step is a finished one: its record says in which layer it failed, and why.
    if exit == 0 || is_step_record(value) {
        return Ok(value.clone());
    }
    let words = words_of(value);
    if words.ends_with("is not available.") {
        return Err(
            EngineError::new(Layer::Salt, ErrorKind::NotFound, object, words).with_hint(format!(
                "The formula is not on this minion yet: on the master, salt {minion} saltutil.sync_all"
            )),
        );
    }
    if words.contains("There is no argument ") {
        let hint = "The formula on this minion is of another version of Eos: eos doctor";
        return Err(EngineError::new(Layer::Salt, ErrorKind::Invalid, object, words).with_hint(hint));
    }
    // The formula asks other engines, and says in these words that one is silent.
    let silent = [Layer::Nomad, Layer::Consul, Layer::Vault]
        .into_iter()
        .find(|layer| {
            words.starts_with(&format!("{} at ", layer.name())) && words.contains(" does not answer")
        });
    if let Some(layer) = silent {
        // What Salt adds to it says the same once more.
        let words = words.split(". Additional info").next().unwrap_or_default();
        // Vault waits for Consul, whose tokens it makes.
        let behind = if layer == Layer::Vault {
            ", and Consul behind it,"
        } else {
            ""
        };
        let hint = format!("Is {}{behind} running? eos doctor asks each", layer.name());
        return Err(EngineError::new(layer, ErrorKind::Unreachable, object, words).with_hint(hint));
    }
    if words.contains("is running as PID") {
        return Err(EngineError::new(Layer::Salt, ErrorKind::Conflict, object, words));
    }
    Err(EngineError::new(Layer::Salt, ErrorKind::Failed, object, words))
}

fn is_step_record(value: &Value) -> bool {
    ["operation", "step", "status"]
        .iter()
        .all(|field| value.get(field).is_some_and(Value::is_string))
}

/// A person gets the last line of Python's traceback, which says what went wrong; the minion's log has the rest.
pub(crate) fn without_traceback(words: &str) -> String {
    const TRACEBACK: &str = "Traceback (most recent call last):";
    let Some((_, trace)) = words.split_once(TRACEBACK) else {
        return words.to_owned();
    };
    let mut lines = trace.lines().rev().filter(|line| !line.trim().is_empty());
    match lines.find(|line| !line.starts_with(' ')) {
        Some(last) => format!("{}; the minion's log has the traceback", last.trim_end()),
        None => "an unexpected error; the minion's log has the traceback".to_owned(),
    }
}

/// The words in a return value: a string, an array of strings, or an object of Salt states.
fn words_of(value: &Value) -> String {
    let words = match value {
        Value::String(words) => words.strip_prefix("ERROR: ").unwrap_or(words).to_owned(),
        Value::Array(lines) => lines
            .iter()
            .map(|line| line.as_str().map_or_else(|| line.to_string(), str::to_owned))
            .collect::<Vec<_>>()
            .join("; "),
        Value::Object(states) => {
            // Skipped states failed only because of another, whose comment says more.
            let failed: Vec<String> = states
                .values()
                .filter(|state| state.get("result") == Some(&Value::Bool(false)))
                .filter(|state| state.get("__state_ran__") != Some(&Value::Bool(false)))
                .map(|state| {
                    let text = |field: &str| {
                        state
                            .get(field)
                            .and_then(Value::as_str)
                            .unwrap_or_default()
                            .to_owned()
                    };
                    format!("{}: {}", text("__id__"), text("comment"))
                })
                .collect();
            if failed.is_empty() {
                value.to_string()
            } else {
                failed.join("; ")
            }
        }
        other => other.to_string(),
    };
    shorten(&without_traceback(&words))
}

/// Reads a minion's return in an event as `call` reads its own, if it is this minion's and this job's: any minion may
/// send any tag, and sees every job's id.
fn answer_in(event: &Event, minion: &str, function: &str, jid: &str) -> Option<Result<Value, EngineError>> {
    let event = event.read().ok()?;
    let sent = event.get("data")?;
    if sent.get("id")?.as_str()? != minion || sent.get("jid")?.as_str()? != jid {
        return None;
    }
    Some(read_outcome(
        minion,
        function,
        sent.get("return"),
        sent.get("retcode"),
    ))
}

/// The message of a progress event, if it is this minion's: any minion may send any tag.
fn message_in(event: &Event, minion: &str) -> Option<String> {
    let event = event.read().ok()?;
    let sent = event.get("data")?;
    if sent.get("id")?.as_str()? != minion {
        return None;
    }
    Some(sent.get("data")?.get("message")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a body of `POST /` as `call` does.
    fn read(minion: &str, body: &str) -> Result<Value, EngineError> {
        let answer = read_return(&object_of(minion, "fun"), StatusCode::OK, body)?;
        read_local(minion, "fun", &answer)
    }

    #[test]
    fn a_return_value_is_taken_only_with_exit_code_0() {
        let body = r#"{"return":[{"node1":{"ret":true,"retcode":0,"jid":"20261115181307310548"}}]}"#;
        assert_eq!(read("node1", body).unwrap(), json!(true));
        let body = r#"{"return":[{"node1":{"ret":true,"jid":"20261115181307310548"}}]}"#;
        assert_eq!(read("node1", body).unwrap_err().kind, ErrorKind::Invalid);
    }

    #[test]
    fn an_answer_counts_only_from_the_minion_asked_and_for_its_job() {
        let returned = |id: &str, jid: &str| Event {
            tag: "salt/job/20261115181307310548/ret/control".to_owned(),
            data: json!({"data": {"id": id, "jid": jid, "return": "done", "retcode": 0}}).to_string(),
        };
        let answer = |event: Event| answer_in(&event, "control", "fun", "20261115181307310548");
        let own = answer(returned("control", "20261115181307310548"));
        assert_eq!(own.unwrap().unwrap(), json!("done"));
        assert!(answer(returned("node1", "20261115181307310548")).is_none());
        assert!(answer(returned("control", "20261115181307310549")).is_none());
    }

    #[test]
    fn a_traceback_becomes_its_last_line() {
        let trace = "The minion function caused an exception: Traceback (most recent call last):\n  \
            File \"/usr/lib/minion.py\", line 7, in f\n    json.load(file)\n\
            json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n";
        let told = "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0); \
            the minion's log has the traceback";
        assert_eq!(words_of(&json!(trace)), told);
        assert_eq!(words_of(&json!([trace])), told);
        let cut = trace.split_once("json.decoder").unwrap().0;
        assert_eq!(
            words_of(&json!(cut)),
            "an unexpected error; the minion's log has the traceback"
        );
        assert_eq!(words_of(&json!("no traceback")), "no traceback");
    }

    #[test]
    fn every_shape_of_failure_gives_salts_own_words() {
        let cases = [
            (
                r#"{"return":[{"node1":{"ret":["Rendering SLS 'base:broken' failed: Jinja variable 'undefined_fn' is undefined; line 1"],"out":"highstate","retcode":1}}]}"#,
                ErrorKind::Failed,
                "Rendering SLS 'base:broken' failed: Jinja variable 'undefined_fn' is undefined; line 1",
            ),
            (
                r#"{"return":[{"node1":{"ret":["No matching sls found for 'nosuch' in env 'base'"],"retcode":1}}]}"#,
                ErrorKind::Failed,
                "No matching sls found for 'nosuch' in env 'base'",
            ),
            (
                r#"{"return":[{"node1":{"ret":"'state.nosuch' is not available.","out":"nested","retcode":1}}]}"#,
                ErrorKind::NotFound,
                "'state.nosuch' is not available.",
            ),
            (
                r#"{"return":[{"node1":{"ret":["The function \"state.single\" is running as PID 361 and was started at .. with jid .."],"retcode":1}}]}"#,
                ErrorKind::Conflict,
                "The function \"state.single\" is running as PID 361 and was started at .. with jid ..",
            ),
            (
                r#"{"return":[{"node1":{"ret":"ERROR: x","retcode":1}}]}"#,
                ErrorKind::Failed,
                "x",
            ),
            (
                r#"{"return":[{"node1":{"ret":{
                    "cmd_|-step-bad_|-exit 3_|-run":{"__id__":"step-bad","changes":{"pid":1,"retcode":3,"stdout":"out","stderr":"oops"},"result":false,"comment":"Command \"exit 3\" run"},
                    "test_|-step-after_|-x_|-nop":{"__id__":"step-after","result":false,"comment":"One or more requisite failed: failing.step-bad","__state_ran__":false}
                    },"out":"highstate","retcode":2,"jid":".."}}]}"#,
                ErrorKind::Failed,
                "step-bad: Command \"exit 3\" run",
            ),
            (
                r#"{"return":["Exception occurred in local"]}"#,
                ErrorKind::Failed,
                "Exception occurred in local",
            ),
        ];
        for (body, kind, words) in cases {
            let error = read("node1", body).unwrap_err();
            assert_eq!(
                (error.layer, error.kind, error.words.as_str()),
                (Layer::Salt, kind, words)
            );
        }
    }

    #[test]
    fn a_dead_minion_and_an_unknown_one_differ() {
        let dead = r#"{"return":[{"node3":{"out":"no_return","ret":"Minion did not return. [No response]","retcode":1}}]}"#;
        assert_eq!(read("node3", dead).unwrap_err().kind, ErrorKind::Unreachable);
        let error = read("node3", r#"{"return":[{}]}"#).unwrap_err();
        assert_eq!(
            (error.kind, error.object.as_str()),
            (ErrorKind::NotFound, "minion node3")
        );
    }

    #[test]
    fn a_failed_step_is_answered_by_its_record() {
        let record = json!({"operation": "01JCX4", "step": "3", "status": "failed",
            "error": {"layer": "terraform", "object": "workspace", "words": "no", "hint": null}});
        let body = json!({"return": [{"node1": {"ret": record, "retcode": 1}}]}).to_string();
        assert_eq!(read("node1", &body).unwrap(), record);
    }

    #[test]
    fn a_master_that_is_not_ready_is_not_reached() {
        let error = read("node1", "<html>..</html>").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unreachable);
        let error = read_return(
            "x",
            StatusCode::INTERNAL_SERVER_ERROR,
            "<p>An unexpected error</p>",
        )
        .unwrap_err();
        assert_eq!(
            (error.kind, error.words.as_str()),
            (ErrorKind::Failed, "500: An unexpected error")
        );
        let body = json!({"status": 500, "return": "An unexpected error occurred"}).to_string();
        let error = read_return("x", StatusCode::INTERNAL_SERVER_ERROR, &body).unwrap_err();
        assert_eq!(error.words, "500: An unexpected error occurred");
        assert!(error.hint.is_some());
    }

    #[test]
    fn only_a_refused_token_asks_for_a_login() {
        let page = |words: &str| format!("<html><body><h2>401 Unauthorized</h2><p>{words}</p></body></html>");
        let cases = [
            ("No permission -- see authorization schemes", true),
            ("Authorization error occurred.", false),
            (
                "Authentication failure of type &quot;token&quot; occurred for user eos.",
                false,
            ),
        ];
        for (words, token) in cases {
            let (error, asks) = match read_denial("eos.info on minion node1", &page(words)) {
                Denial::Token(error) => (error, true),
                Denial::Function(error) => (error, false),
            };
            assert_eq!((error.kind, asks), (ErrorKind::Refused, token), "{words}");
            assert_eq!(error.words, words.replace("&quot;", "\""));
            assert_eq!(error.hint.as_deref() == Some("eos login"), token);
        }
    }

    #[test]
    fn a_login_answer_gives_token_and_end_and_never_a_message_with_it() {
        let body = r#"{"return":[{"token":"0123456789abcdef","expire":1794809569.29,"start":1794766369.29,"user":"eos","eauth":"file","perms":["@jobs",{"@runner":["state\\..*"]}]}]}"#;
        let token = read_token("login", read_return("login", StatusCode::OK, body).unwrap()).unwrap();
        assert_eq!(token.secret().expose_secret(), "0123456789abcdef");
        assert_eq!(token.expires(), Timestamp::from_second(1794809569).unwrap());
        let error = read_token("login", json!({"token": "0123456789abcdef", "expire": "x"}))
            .err()
            .unwrap();
        assert!(!error.to_string().contains("0123"), "{error}");
    }

    #[test]
    fn long_words_are_cut() {
        let words = words_of(&Value::String("ä".repeat(LONGEST_WORDS + 1)));
        assert_eq!(words.chars().count(), LONGEST_WORDS + 4);
    }
}
