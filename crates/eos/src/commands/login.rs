//! `eos login`: a token of Salt's API, for the commands that follow.

use super::carry_out::need_engines;
use super::{Answer, Session};
use crate::problem::{Exit, Problem};
use crate::terminal;
use crate::views::reports::Login;
use eos_engine::engines::keep_token;
use secrecy::SecretString;
use std::path::Path;

/// Log in to Salt's API
///
/// The password is asked for, or read from standard input if that is not a terminal; a lab's own password is known. The
/// token is kept below ${XDG_STATE_HOME:-~/.local/state}/eos, readable by you alone.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos login
  pass show salt-api | eos login")]
pub struct Args {}

pub async fn run(session: &mut Session<'_>, _: &Args) -> Answer {
    let estate = session.estate()?;
    let engines = need_engines(&estate)?;
    let endpoint = &engines.endpoints.salt;
    let password = match &endpoint.password_file {
        Some(file) => from_file(file)?,
        None => from_person(&format!("Password of {} at {}: ", endpoint.user, endpoint.url))?,
    };
    let token = engines.salt.login(&password).await?;
    let token_file = keep_token(endpoint, &token)?;
    session.view.logged_in(&Login {
        url: endpoint.url.clone(),
        user: endpoint.user.clone(),
        expires: token.expires(),
        token_file,
    });
    Ok(Exit::Done)
}

fn from_file(file: &Path) -> Result<SecretString, Problem> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        Problem::not_done(
            format!("Cannot read the password file {}: {error}", file.display()),
            "`eos lab up` writes that of a lab",
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
