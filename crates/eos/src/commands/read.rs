//! `eos read`: a component, or another noun, in declarative form.

use super::carry_out::need_engines;
use super::{Ended, Session, host, no_component, nouns, volume, who};
use crate::problem::{Exit, Problem, capital};
use crate::views::reports::component::{ComponentReport, IntentReport, OptionReport, Revealed, SecretReport};
use crate::views::reports::thing::place;
use eos_core::compile::{Compilation, compile};
use eos_core::compose::compose;
use eos_core::diagnostic::Diagnostic;
use eos_core::intent::unknown_secret;
use eos_core::lowered::{SecretItem, secret_path, secret_place};
use eos_core::option::HIDDEN;
use eos_core::pillar::Pillar;
use eos_engine::audit::{Action, Actor, NewEntry};
use eos_engine::engines::Engines;
use eos_engine::estate::Estate;
use eos_engine::operation;
use eos_engine::secrets::{self as stored, Secrets};
use secrecy::ExposeSecret;
use serde_json::json;

/// Show a component in declarative form
///
/// Eos shows its recipe, every option with the source of its value, its outputs, and the command that created it. It
/// shows secrets as ***. --reveal prints the value of one secret, and nothing else.
#[derive(Debug, clap::Args)]
#[command(
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  eos read hello
  eos read redis --reveal password
  eos read hello --json | jq -r .outputs.hello_url
  eos read host node1"
)]
pub struct Args {
    /// The component to show
    #[arg(required = true)]
    component: Option<String>,
    /// Print the value of this secret, and nothing else
    #[arg(long, value_name = "NAME")]
    reveal: Option<String>,
    #[command(subcommand)]
    noun: Option<nouns::Read>,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let said = args.component.is_some() || args.reveal.is_some();
    match &args.noun {
        Some(nouns::Read::Host(args)) => {
            host::refuse_component("read", "host", said)?;
            return host::read(session, args).await;
        }
        Some(nouns::Read::Volume(args)) => {
            host::refuse_component("read", "volume", said)?;
            return volume::read(session, args).await;
        }
        None => {}
    }
    let Some(named) = &args.component else {
        return Err(Problem::usage(
            "COMPONENT is missing",
            "`eos list` shows the components",
        ));
    };
    let estate = session.estate()?;
    let environment = session.environment(&estate);
    let pillar = Pillar::read(&estate.pillar_files()?)?;
    let catalog = estate.catalog()?;
    let compilation = compile(&pillar, &catalog, estate.settings.profile)?;
    let (composed, _) = compose(&pillar, &catalog);
    let key = (environment.clone(), named.clone());
    let Some(expanded) = composed.components.get(&key) else {
        return Err(another_noun(&pillar, &environment, named));
    };
    if let Some(name) = &args.reveal {
        return reveal(
            session,
            &estate,
            &environment,
            &expanded.component.name,
            name,
            &expanded.secrets,
        )
        .await;
    }
    let (component, recipe) = (&expanded.component, expanded.recipe);
    let mut options: Vec<OptionReport> = expanded
        .options
        .iter()
        .filter(|(name, value)| !name.contains('.') && !value.value.is_null())
        .map(|(name, value)| OptionReport {
            name: name.clone(),
            value: value.value.clone(),
            from: value.from.clone(),
        })
        .collect();
    options.extend(figures(&compilation, &environment, named, &options));
    options.sort_by(|one, other| one.name.cmp(&other.name));
    let secret = |name: &String| SecretReport {
        name: name.clone(),
        value: HIDDEN,
        path: secret_place(estate.settings.profile, &environment, &component.name),
    };
    let report = ComponentReport {
        component: component.name.clone(),
        environment: environment.clone(),
        recipe: recipe.name.clone(),
        version: recipe.version.clone(),
        secrets: expanded.secrets.iter().map(|item| secret(&item.item)).collect(),
        options,
        outputs: outputs(session, &estate, &compilation, &environment, named).await?,
        stopped: component.stopped.is_some(),
        intent: component.intent.as_ref().map(IntentReport::of),
        place: place(&component.at),
    };
    session.view.show(&report);
    Ok(Exit::Done)
}

/// A volume and a host have a word of their own; the refusal names it.
fn another_noun(pillar: &Pillar, environment: &str, named: &str) -> Problem {
    let noun = match (
        pillar.volume(environment, named),
        pillar.hosts.contains_key(named),
    ) {
        (Some(_), _) => "volume",
        (None, true) => "host",
        (None, false) => return no_component(pillar, environment, named),
    };
    Problem::usage(
        format!("{named} is a {noun}, not a component"),
        format!("`eos read {noun} {named}` shows it"),
    )
}

/// The value goes from the secrets engine to standard output, and nowhere else.
async fn reveal(
    session: &mut Session<'_>,
    estate: &Estate,
    environment: &str,
    component: &str,
    name: &str,
    secrets: &[SecretItem],
) -> Ended {
    let name = name.replace('-', "_");
    if !secrets.iter().any(|secret| secret.item == name) {
        let known: Vec<&SecretItem> = secrets.iter().collect();
        return Err(Problem::Usage(vec![unknown_secret(component, &name, &known)]));
    }
    let engines = need_engines(estate)?;
    let path = secret_path(estate.settings.profile, environment, component);
    let mut found = stored::reveal(&engines, environment, component, Some(&name), None).await?;
    let Some(value) = found.remove(&name) else {
        return Err(Problem::not_done(
            format!(
                "{} has no value for {name} of {component} yet",
                engines.secrets().layer().name()
            ),
            format!(
                "`eos apply` generates missing secrets; to choose this one: eos rotate secret {component} \
                 {name} --to -"
            ),
        ));
    };
    // It is written down before anybody sees the value.
    estate.store()?.audit(&NewEntry {
        by: Actor {
            who: &who(),
            user: estate.settings.salt_user(),
        },
        action: Action::Reveal,
        object: &format!("{path} {name}"),
        outcome: "done",
        detail: json!({"environment": environment, "component": component, "name": name}),
    })?;
    session.view.show(&Revealed {
        component,
        environment,
        name: &name,
        revealed: value.expose_secret(),
    });
    Ok(Exit::Done)
}

/// Sizes that no option gives: the recipe or the environment decided them.
fn figures(
    compilation: &Compilation,
    environment: &str,
    component: &str,
    given: &[OptionReport],
) -> Vec<OptionReport> {
    let groups = compilation
        .component(environment, component)
        .map_or(&[][..], |lowered| &lowered.groups);
    // With several services a figure has several values; the plan shows them one by one.
    let [group] = groups else { return Vec::new() };
    [
        ("replicas", &group.count),
        ("cpu", &group.cpu),
        ("memory", &group.memory),
    ]
    .into_iter()
    .filter(|(name, _)| !given.iter().any(|option| option.name == *name))
    .map(|(name, figure)| OptionReport {
        name: name.to_owned(),
        value: figure.value.into(),
        from: figure.from.clone(),
    })
    .collect()
}

/// Unknown without engines, or when they do not answer; the rest is worth showing all the same.
async fn outputs(
    session: &mut Session<'_>,
    estate: &Estate,
    compilation: &Compilation,
    environment: &str,
    component: &str,
) -> Result<Option<Vec<(String, String)>>, Problem> {
    let Some(engines) = Engines::connect(&estate.settings)? else {
        return Ok(None);
    };
    match operation::outputs(&engines, compilation, environment, component).await {
        Ok(outputs) => Ok(Some(outputs)),
        Err(error) => {
            session
                .view
                .warn(&Diagnostic::new(capital(&error.to_string())).hint("Outputs are not known without it"));
            Ok(None)
        }
    }
}
