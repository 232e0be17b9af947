//! `eos catalog new`: a recipe of the estate from nothing, from flags, from answers or from a component.

use super::container::{Flags, pinned, taken};
use super::{Session, find_component};
use crate::problem::Problem;
use crate::terminal;
use crate::views::reports::catalog::MadeRecipe;
use eos_core::diagnostic::Diagnostic;
use eos_core::draft::{Draft, Words, with_values};
use eos_core::name::{self, Sort};
use eos_core::option::HIDDEN;
use eos_core::recipe::Recipe;
use eos_core::schema;
use eos_engine::estate::Estate;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// A recipe that works as it is; NAME stands for its name.
const PAGE: &str = include_str!("new_recipe.yaml");
/// Editors find the schema of a recipe here, by its first line.
const SCHEMA_FILE: &str = "recipes/recipe.schema.json";
const FIRST_LINE: &str = "# yaml-language-server: $schema=../recipe.schema.json\n";

/// Start a new recipe of the estate, in recipes/NAME/recipe.yaml
///
/// On a terminal Eos asks a few questions. The same stand as flags. Without flags and without a terminal, the recipe is a page
/// that greets. The new recipe works at once; change it step by step. Editors with a YAML language server explain every key.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos catalog new guestbook
  eos catalog new guestbook --image example/guestbook:2 --port 8080 --check /health --volume data:5G:/data
  eos catalog new guestbook --program 'sleep 600'
  eos catalog new guestbook --from shop")]
pub struct Args {
    /// Its name: lower-case letters, digits and hyphens
    name: Option<String>,
    /// A component whose recipe it is to be, with the component's values as defaults
    #[arg(long, value_name = "COMPONENT")]
    from: Option<String>,
    /// A program of the host in place of an image: its words, with spaces between
    #[arg(long, value_name = "WORDS")]
    program: Option<String>,
    #[command(flatten)]
    said: Flags,
}

pub async fn new(session: &mut Session<'_>, args: &Args) -> Result<MadeRecipe, Problem> {
    let estate = session.estate()?;
    let can_ask = terminal::can_ask() && !session.view.is_for_programs();
    let name = match &args.name {
        Some(name) => free(&estate, name)?,
        None if can_ask => ask_until(session, "name of the recipe: ", |name| free(&estate, name))?,
        None => {
            return Err(Problem::usage(
                "NAME is missing",
                "For example: eos catalog new guestbook",
            ));
        }
    };
    let is_plain = args.said.is_empty() && args.program.is_none();
    let text = match &args.from {
        Some(_) if !is_plain => {
            let hint = "Leave the flags out, and change the recipe afterwards";
            return Err(Problem::usage("--from and flags exclude each other", hint));
        }
        Some(component) => from_component(session, &estate, &name, component)?,
        None if !is_plain => {
            let mut words = args.said.words(&estate.settings).await?;
            if words.image.is_some() == args.program.is_some() {
                let hint = "Give --image for a container, or --program for a program of the host";
                return Err(Problem::usage("A recipe runs either an image or a program", hint));
            }
            words.program = split(args.program.as_deref().unwrap_or_default());
            written(&name, &words)?
        }
        None if can_ask => match ask_all(session, &estate, &name).await? {
            Some(words) => written(&name, &words)?,
            None => PAGE.replace("NAME", &name),
        },
        None => PAGE.replace("NAME", &name),
    };
    let file = format!("recipes/{name}/recipe.yaml");
    write_new(&estate.root.join(&file), &text)?;
    let schema = estate.root.join(SCHEMA_FILE);
    std::fs::write(&schema, schema::RECIPE).map_err(|error| unwritten(&schema, &error))?;
    Ok(MadeRecipe {
        recipe: name,
        files: vec![file, SCHEMA_FILE.to_owned()],
    })
}

/// The name, if a recipe may have it and none has.
fn free(estate: &Estate, name: &str) -> Result<String, Problem> {
    if let Some(problem) = name::problem(Sort::Recipe, name) {
        return Err(Problem::usage(problem, "For example: eos catalog new guestbook"));
    }
    if let Some(there) = estate.catalog()?.get(name) {
        return Err(Problem::usage(
            format!("There is a recipe {name} already, in {}", there.file),
            format!("Choose another name; `eos catalog show {name}` shows what is there"),
        ));
    }
    Ok(name.to_owned())
}

/// The text of the recipe that these words mean, with their values as its defaults.
fn written(name: &str, words: &Words) -> Result<String, Problem> {
    let draft = Draft::read(name, words, &taken())?;
    let recipe = Recipe::parse(&format!("recipes/{name}/recipe.yaml"), draft.recipe.as_bytes())?;
    let (text, _) = with_values(&recipe, name, &draft.options)?;
    Ok(format!("{FIRST_LINE}{text}"))
}

/// The recipe of a component as it is pinned, with what the component says in place of its defaults.
fn from_component(
    session: &mut Session<'_>,
    estate: &Estate,
    name: &str,
    component: &str,
) -> Result<String, Problem> {
    let pillar = estate.whole_pillar()?;
    let component = find_component(&pillar, &session.environment(estate), component)?;
    let catalog = estate.catalog()?;
    let pin = component.pinned.get(&component.recipe).map(String::as_str);
    let recipe = catalog
        .find(&component.recipe, pin)
        .map_err(|unknown| Problem::Usage(vec![unknown]))?;
    let values: BTreeMap<_, _> = component
        .options
        .iter()
        .filter(|(_, option)| option.value != HIDDEN)
        .map(|(name, option)| (name.clone(), option.value.clone()))
        .collect();
    let (text, left) = with_values(recipe, name, &values)?;
    if !left.is_empty() {
        let words = format!("Recipe {name} does not carry: {}", left.join(", "));
        let hint = "Give these to `eos create` again; they are of the component and not of its recipe";
        session.view.warn(&Diagnostic::new(words).hint(hint));
    }
    let first = if text.starts_with(FIRST_LINE) {
        ""
    } else {
        FIRST_LINE
    };
    Ok(format!("{first}{text}"))
}

/// The answers to a few questions. Nothing, if neither an image nor a program is named.
async fn ask_all(session: &mut Session<'_>, estate: &Estate, name: &str) -> Result<Option<Words>, Problem> {
    let mut words = Words::default();
    loop {
        let image = ask(&format!(
            "image of {name} (such as caddy:2.10; nothing for a program of the host): "
        ))?;
        match image.trim() {
            "" => break,
            image => match pinned(&estate.settings, image).await {
                Ok(image) => {
                    words.image = Some(image);
                    break;
                }
                Err(problem) => session.view.problem(&problem),
            },
        }
    }
    if words.image.is_none() {
        let program = ask(&format!(
            "program of {name} (its words; nothing for a page that greets): "
        ))?;
        words.program = split(&program);
        if words.program.is_empty() {
            return Ok(None);
        }
    }
    type Add = fn(&mut Words, Vec<String>);
    let questions: [(&str, Add); 4] = [
        (
            "port of NAME (that it listens on; nothing for none): ",
            |words, said| words.ports = said,
        ),
        (
            "check of NAME (a path that answers; nothing if the port accepts connections): ",
            |words, said| words.check = said.into_iter().next(),
        ),
        (
            "volumes of NAME (NAME:SIZE:/path, spaces between; nothing for none): ",
            |words, said| words.volumes = said,
        ),
        (
            "secrets of NAME (variables that Eos makes a secret for, spaces between; nothing for none): ",
            |words, said| words.secrets = said,
        ),
    ];
    for (index, (question, add)) in questions.into_iter().enumerate() {
        // Without a port there is nothing to check.
        if index == 1 && words.ports.is_empty() {
            continue;
        }
        let question = question.replacen("NAME", name, 1);
        words = ask_until(session, &question, |answer| {
            let mut more = words.clone();
            add(&mut more, split(answer));
            Draft::read(name, &more, &taken())?;
            Ok(more)
        })?;
    }
    Ok(Some(words))
}

/// Asks until the answer can be used.
fn ask_until<T>(
    session: &mut Session<'_>,
    question: &str,
    mut read: impl FnMut(&str) -> Result<T, Problem>,
) -> Result<T, Problem> {
    loop {
        match read(ask(question)?.trim()) {
            Ok(read) => return Ok(read),
            Err(problem) => session.view.problem(&problem),
        }
    }
}

fn ask(question: &str) -> Result<String, Problem> {
    terminal::ask(question).map_err(|error| {
        let words = format!("Nothing was written: the answer cannot be read: {error}");
        Problem::usage(words, "The same can be said in flags: eos catalog new --help")
    })
}

fn split(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_owned).collect()
}

/// Writes a file that must not be there yet.
fn write_new(path: &Path, text: &str) -> Result<(), Problem> {
    let write = || {
        std::fs::create_dir_all(path.parent().unwrap_or(path))?;
        let mut file = std::fs::File::create_new(path)?;
        file.write_all(text.as_bytes())
    };
    write().map_err(|error| unwritten(path, &error))
}

fn unwritten(path: &Path, error: &std::io::Error) -> Problem {
    Problem::not_done(
        format!("Cannot write {}: {error}", path.display()),
        "Check the estate's directory recipes/",
    )
}
