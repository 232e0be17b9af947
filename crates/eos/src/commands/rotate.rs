//! `eos rotate`: new values for secrets, and the old ones dead.

use super::carry_out::{Asked, ask};
use super::plan_file::Look;
use super::{Answer, Session};
use crate::options::{self, Chosen};
use crate::problem::Problem;
use eos_core::intent::{Noun, Verb};
use eos_core::option::HIDDEN;
use eos_engine::engines::Engines;
use eos_engine::estate::Estate;
use eos_engine::secrets;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// Give secrets new values
///
/// Eos writes the new value to the secrets engine and deploys the component again with it. It then deploys every
/// component that has a copy of the secret, one by one. After that the old value opens nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos rotate secret redis password
  eos rotate secret mattermost-database --plan
  pass show redis | eos rotate secret redis password --to - --yes")]
pub struct Args {
    #[command(subcommand)]
    noun: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Secret(Secret),
}

/// Give secrets of a component new values
///
/// Without a name, Eos rotates all secrets of the component. A service is down for a moment while it restarts. A
/// component with a copy of the secret cannot log in until it restarts too.
#[derive(Debug, clap::Args)]
struct Secret {
    /// The component that owns the secrets
    component: String,
    /// The secrets, by the names that `eos read` shows
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// The new value, or - to read it from standard input [default: generated]
    #[arg(long, value_name = "VALUE")]
    to: Option<String>,
    #[command(flatten)]
    look: Look,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Answer {
    let What::Secret(args) = &args.noun;
    let estate = session.estate()?;
    let environment = session.environment(&estate);
    let component = args.component.as_str();
    let mut chosen = Chosen::default();
    for name in &args.names {
        chosen.options.insert(name.replace('-', "_"), Value::Null);
    }
    if let Some(to) = &args.to {
        let [name] = args.names.as_slice() else {
            return Err(Problem::usage(
                "--to gives one value to one secret",
                format!("Name it: eos rotate secret {component} NAME --to -"),
            ));
        };
        let name = name.replace('-', "_");
        let value = given(&mut chosen, to, &name, component)?;
        refuse_same(&estate, &environment, component, &name, &value).await?;
        chosen.options.insert(name.clone(), HIDDEN.into());
        chosen.secrets.insert(name, value);
    }
    let names = args.names.iter().map(|name| options::shell_word(name));
    let words = [format!("eos rotate secret {component}")]
        .into_iter()
        .chain(names)
        .chain(args.to.as_ref().map(|_| format!("--to {HIDDEN}")))
        .collect();
    let asked = Asked {
        verb: Verb::Rotate,
        noun: Noun::Component,
        environment,
        from: None,
        upgrade: false,
        component,
        recipe: None,
        chosen,
        words,
        look: &args.look,
    };
    ask(session, &estate, asked).await
}

fn given(chosen: &mut Chosen, to: &str, name: &str, component: &str) -> Result<SecretString, Problem> {
    let value = match to {
        "-" => options::read_secret(name, component).map_err(|error| {
            Problem::usage(
                format!("Secret {name} of {component} cannot be read: {error}"),
                "Write it on one line of standard input",
            )
        })?,
        typed => {
            chosen.warnings.push(options::visible("to"));
            SecretString::from(typed)
        }
    };
    match options::secret_problem(&value) {
        Some(why) => Err(Problem::usage(
            format!("Secret {name} of {component}: {why}"),
            "--to takes a secret, or - to read it from standard input",
        )),
        None => Ok(value),
    }
}

/// With the value it has, nothing would be rotated: the old one would go on opening everything.
async fn refuse_same(
    estate: &Estate,
    environment: &str,
    component: &str,
    name: &str,
    value: &SecretString,
) -> Result<(), Problem> {
    let Some(engines) = Engines::connect(&estate.settings)? else {
        return Ok(());
    };
    // An engine that does not answer is reported where the plan is made, and a role that does not reach it as well.
    let found = secrets::reveal(&engines, environment, component, Some(name), None).await;
    let old = found.ok().and_then(|mut found| found.remove(name));
    match old.is_some_and(|old| old.expose_secret() == value.expose_secret()) {
        true => Err(Problem::usage(
            format!("Secret {name} of {component} already has this value"),
            "Give another value, or leave --to out and Eos generates one",
        )),
        false => Ok(()),
    }
}
