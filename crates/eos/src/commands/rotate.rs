//! `eos rotate`: new values for secrets, and the old ones dead.

use super::carry_out::{Asked, ask};
use super::plan_file::PlanOnly;
use super::{Ended, Session};
use crate::options;
use crate::problem::Problem;
use crate::words;
use eos_core::diagnostic::Diagnostic;
use eos_core::intent::{NewValue, Sentence};
use eos_engine::engines::Engines;
use eos_engine::estate::Estate;
use eos_engine::secrets;
use secrecy::{ExposeSecret, SecretString};
use std::collections::BTreeMap;

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
    #[arg(long, value_name = "VALUE", value_parser = words::secret)]
    to: Option<SecretString>,
    #[command(flatten)]
    look: PlanOnly,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let What::Secret(args) = &args.noun;
    let estate = session.estate()?;
    let environment = session.environment(&estate);
    let component = args.component.as_str();
    let (mut secrets, mut values, mut warnings) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for name in &args.names {
        secrets.insert(name.replace('-', "_"), NewValue::Generated);
    }
    if let Some(to) = &args.to {
        let [name] = args.names.as_slice() else {
            return Err(Problem::usage(
                "--to gives one value to one secret",
                format!("Name it: eos rotate secret {component} NAME --to -"),
            ));
        };
        let name = name.replace('-', "_");
        let value = given(&mut warnings, to, &name, component)?;
        refuse_same(&estate, &environment, component, &name, &value).await?;
        secrets.insert(name.clone(), NewValue::Given);
        values.insert(name, value);
    }
    let asked = Asked {
        sentence: Sentence::Rotate {
            environment: environment.clone(),
            component: component.to_owned(),
            secrets,
        },
        environment,
        secrets: values,
        warnings,
        look: &args.look,
    };
    ask(session, &estate, asked).await
}

fn given(
    warnings: &mut Vec<Diagnostic>,
    to: &SecretString,
    name: &str,
    component: &str,
) -> Result<SecretString, Problem> {
    let value = match to.expose_secret() {
        "-" => {
            let value = options::read_secret(name, component).map_err(|error| {
                Problem::usage(
                    format!("Secret {name} of {component} cannot be read: {error}"),
                    "Write it on one line of standard input",
                )
            })?;
            options::refuse_more_input(1)?;
            value
        }
        _ => {
            warnings.push(options::visible("to"));
            to.clone()
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
