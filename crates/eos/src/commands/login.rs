//! `eos login`: a token of Salt's API, for the commands that follow.

use super::carry_out::need_engines;
use super::{Ended, Session, who};
use crate::problem::{Exit, Problem};
use crate::terminal;
use crate::views::reports::login::Login;
use eos_engine::audit::{Action, Actor, NewEntry};
use eos_engine::engines::keep_token;
use eos_engine::estate::Estate;
use eos_engine::{EngineError, ErrorKind, SaltEndpoint, Token};
use secrecy::SecretString;
use serde_json::json;
use std::path::Path;

/// Log in to Salt's API
///
/// Eos asks for the password, or reads it from standard input if that is not a terminal. It knows the password of a
/// lab. It keeps the token below ${XDG_STATE_HOME:-~/.local/state}/eos, readable by you alone.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos login
  eos login --user eos-architect
  pass show salt-api | eos login")]
pub struct Args {
    /// The API user [default: $EOS_SALT_USER, or the user in eos.toml]
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let mut estate = session.estate()?;
    if let Some(user) = &args.user {
        estate.settings.act_as(user);
    }
    let engines = need_engines(&estate)?;
    let endpoint = &engines.endpoints.salt;
    let password = match &endpoint.password_file {
        Some(file) => from_file(file)?,
        None => from_person(&format!("Password of {} at {}: ", endpoint.user, endpoint.url))?,
    };
    let token = engines.salt.login(&password).await;
    record(&estate, endpoint, &token)?;
    let token = token?;
    let token_file = keep_token(endpoint, &token)?;
    session.view.show(&Login {
        url: endpoint.url.clone(),
        user: endpoint.user.clone(),
        expires: token.expires(),
        token_file,
    });
    Ok(Exit::Done)
}

/// A login that was refused is worth knowing of as well; one that reached nobody is not.
fn record(
    estate: &Estate,
    endpoint: &SaltEndpoint,
    token: &Result<Token, EngineError>,
) -> Result<(), EngineError> {
    let (outcome, detail) = match token {
        Ok(token) => ("done", json!({"until": token.expires()})),
        Err(error) if error.kind == ErrorKind::Refused => ("refused", json!({"why": error.words})),
        Err(_) => return Ok(()),
    };
    estate.store()?.audit(&NewEntry {
        by: Actor {
            who: &who(),
            user: &endpoint.user,
        },
        action: Action::Login,
        object: &endpoint.url,
        outcome,
        detail,
    })
}

fn from_file(file: &Path) -> Result<SecretString, Problem> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        Problem::not_done(
            format!("Cannot read the password file {}: {error}", file.display()),
            "`eos lab up` writes the password file of a lab",
        )
    })?;
    Ok(text.trim_end_matches(['\n', '\r']).into())
}

fn from_person(question: &str) -> Result<SecretString, Problem> {
    let read = match terminal::can_ask() {
        true => terminal::ask_hidden(question),
        false => terminal::read_line().map(SecretString::from),
    };
    read.map_err(|error| {
        Problem::usage(
            format!("Cannot read the password: {error}"),
            "Write it on one line of standard input",
        )
    })
}
