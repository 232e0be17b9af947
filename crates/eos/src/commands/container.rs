//! Containers as a noun of `create`, and the flags that describe one: `eos catalog new` has them, too.

use super::carry_out::{Asked, ask};
use super::plan_file::PlanOnly;
use super::{Ended, Session};
use crate::args::own_flags;
use crate::options::{read_secret, refuse_more_input, secret_problem};
use crate::problem::Problem;
use eos_core::draft::{Draft, Words};
use eos_core::image::Reference;
use eos_core::intent::{Options, Sentence};
use eos_core::name::{self, Sort};
use eos_core::option::OptionType;
use eos_core::recipe::Recipe;
use eos_engine::Settings;
use eos_engine::registry;
use secrecy::SecretString;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Create a component from an image, without a recipe
///
/// Eos writes a recipe for it, keeps that with the component, and asks the registry which image the name means: the pillar
/// has its digest. Later, `eos update NAME --image ...` changes the image, and each variable is an option of the component.
/// `eos catalog new RECIPE --from NAME` makes a recipe of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos create container web --image caddy:2.10 --port 80
  eos create container db --image postgres:17 --port 5432 --user 999:999 --secret POSTGRES_PASSWORD_FILE --volume data:5G:/var/lib/postgresql/data
  eos create container shop --image registry.example/shop:3 --port 8080 --check /health --env LOG_LEVEL=info --domain shop.example.org --plan
  eos create container worker --image registry.example/shop:3 -- work --queue mail")]
pub struct CreateArgs {
    /// Name of the component
    name: String,
    #[command(flatten)]
    said: Flags,
}

/// The words of a person about a container.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Flags {
    /// The image, by its tag or digest
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    /// A port of the container, or HOST:CONTAINER; /udp for datagrams [may be repeated]
    #[arg(long = "port", value_name = "PORT")]
    ports: Vec<String>,
    /// A variable [may be repeated]
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// A variable with a secret that Eos makes; NAME=- reads it from standard input. A name that ends in _FILE gets the
    /// path of a file with it [may be repeated]
    #[arg(long = "secret", value_name = "NAME")]
    secrets: Vec<String>,
    /// A volume: its name, its size and its place in the container [may be repeated]
    #[arg(long = "volume", value_name = "NAME:SIZE:/PATH")]
    volumes: Vec<String>,
    /// The path that answers if it is healthy [default: the first port accepts connections]
    #[arg(long, value_name = "/PATH")]
    check: Option<String>,
    /// Host name that the proxy serves it under
    #[arg(long, value_name = "DOMAIN")]
    domain: Option<String>,
    /// User that it runs as, who owns its volumes: numbers, such as 1000:1000
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Memory of an instance, in MiB or as a size [default: 256]
    #[arg(long, value_name = "SIZE")]
    memory: Option<String>,
    /// Processor share of an instance, in MHz [default: 100]
    #[arg(long, value_name = "NUMBER")]
    cpu: Option<String>,
    /// How many instances run [default: 1]
    #[arg(long, value_name = "NUMBER")]
    replicas: Option<String>,
    /// Arguments of the image
    #[arg(last = true, value_name = "ARGUMENT")]
    args: Vec<String>,
}

impl Flags {
    pub fn is_empty(&self) -> bool {
        let lists = [&self.ports, &self.env, &self.secrets, &self.volumes, &self.args];
        let texts = [
            &self.image,
            &self.check,
            &self.domain,
            &self.user,
            &self.memory,
            &self.cpu,
            &self.replicas,
        ];
        lists.into_iter().all(Vec::is_empty) && texts.into_iter().all(Option::is_none)
    }

    /// The words, with the image that its name means now.
    pub async fn words(&self, settings: &Settings) -> Result<Words, Problem> {
        let image = match &self.image {
            Some(image) => Some(pinned(settings, image).await?),
            None => None,
        };
        let figures = [
            ("memory", &self.memory),
            ("cpu", &self.cpu),
            ("replicas", &self.replicas),
        ];
        let figures = figures
            .into_iter()
            .filter_map(|(name, figure)| Some((name.to_owned(), figure.clone()?)));
        Ok(Words {
            image,
            program: Vec::new(),
            args: self.args.clone(),
            ports: self.ports.clone(),
            env: self.env.clone(),
            secrets: self.secrets.clone(),
            volumes: self.volumes.clone(),
            check: self.check.clone(),
            domain: self.domain.clone(),
            user: self.user.clone(),
            figures: figures.collect(),
        })
    }
}

/// The names that no option of a recipe may have, because a flag of every command has them.
pub fn taken() -> BTreeSet<String> {
    own_flags().iter().map(crate::args::OwnFlag::option).collect()
}

/// The image that a name means now, by its digest.
pub async fn pinned(settings: &Settings, image: &str) -> Result<Reference, Problem> {
    let image: Reference = image.parse().map_err(|why| {
        Problem::usage(
            format!("Image: {why}"),
            "Name it as caddy:2.10, or HOST/team/app:1",
        )
    })?;
    Ok(registry::pin(settings, &image).await?)
}

/// Gives each image among these options its digest.
pub async fn pin_images(settings: &Settings, recipe: &Recipe, options: &mut Options) -> Result<(), Problem> {
    for spec in recipe.settable().filter(|spec| spec.kind == OptionType::Image) {
        if let Some(Value::String(image)) = options.get_mut(&spec.name) {
            *image = pinned(settings, image).await?.to_string();
        }
    }
    Ok(())
}

pub async fn create(session: &mut Session<'_>, args: &CreateArgs, look: &PlanOnly) -> Ended {
    let estate = session.estate()?;
    let name = &args.name;
    if let Some(problem) = name::problem(Sort::Recipe, name) {
        return Err(Problem::usage(problem, "Choose another name"));
    }
    if args.said.image.is_none() {
        let hint = format!("For example: eos create container {name} --image caddy:2.10");
        return Err(Problem::usage("--image is missing", hint));
    }
    // What is wrong with the words is said before a registry is asked.
    let unpinned = Words {
        image: Some(Reference {
            host: None,
            path: "image".to_owned(),
            tag: None,
            digest: None,
        }),
        ..Flags {
            image: None,
            ..args.said.clone()
        }
        .words(&estate.settings)
        .await?
    };
    Draft::read(name, &unpinned, &taken())?;
    let words = args.said.words(&estate.settings).await?;
    let draft = Draft::read(name, &words, &taken())?;
    let secrets = given(&draft, name)?;
    let environment = session.environment(&estate);
    let sentence = Sentence::CreateContainer {
        environment: environment.clone(),
        component: name.clone(),
        recipe: draft.recipe,
        options: draft.options,
    };
    let asked = Asked {
        secrets,
        ..Asked::new(sentence, environment, look)
    };
    ask(session, &estate, asked).await
}

/// The secrets that a person gives: a line of standard input each.
fn given(draft: &Draft, name: &str) -> Result<BTreeMap<String, SecretString>, Problem> {
    let mut secrets = BTreeMap::new();
    for option in &draft.given {
        let wrong = |why: String| {
            Problem::usage(
                format!("Secret {option} of {name}: {why}"),
                "Write it on one line of standard input",
            )
        };
        let value = read_secret(option, name).map_err(|error| wrong(error.to_string()))?;
        if let Some(why) = secret_problem(&value) {
            return Err(wrong(why.to_owned()));
        }
        secrets.insert(option.clone(), value);
    }
    match draft.given.len() {
        0 => {}
        lines => refuse_more_input(lines)?,
    }
    Ok(secrets)
}
