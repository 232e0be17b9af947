//! `eos catalog`: what can be created.

use super::{Answer, Session};
use crate::options::refuse_reserved;
use crate::problem::{Exit, Problem};
use eos_core::catalog::Catalog;
use eos_core::recipe::Recipe;
use std::path::PathBuf;

/// Show and check recipes
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos catalog list
  eos catalog show grafana
  eos catalog lint recipes/mine/recipe.yaml")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the recipes: the built-in ones and the estate's own
    List,
    /// Show a recipe and its options
    Show {
        /// The recipe to show
        recipe: String,
    },
    /// Check recipes: those of the estate, or the files given
    Lint {
        /// Files to check
        files: Vec<PathBuf>,
    },
}

pub fn run(session: &mut Session<'_>, args: &Args) -> Answer {
    match &args.command {
        Command::List => session.view.recipes(&catalog(session)?),
        Command::Show { recipe } => {
            let catalog = catalog(session)?;
            session.view.recipe(
                catalog
                    .find(recipe, None)
                    .map_err(|unknown| Problem::Usage(vec![unknown]))?,
            );
        }
        Command::Lint { files } => {
            let checked = lint(session, files)?;
            session.view.linted(&checked);
        }
    }
    Ok(Exit::Done)
}

/// Outside of an estate there are the built-in recipes.
fn catalog(session: &Session<'_>) -> Result<Catalog, Problem> {
    match session.estate() {
        Ok(estate) => Ok(estate.catalog()?),
        // An estate that was named must be there.
        Err(problem) if session.everywhere.estate.is_some() => Err(problem),
        Err(_) => Ok(Catalog::load(&[])?),
    }
}

fn lint(session: &Session<'_>, files: &[PathBuf]) -> Result<Vec<String>, Problem> {
    let texts = match files {
        [] => session.estate()?.own_recipes()?,
        files => files.iter().map(read).collect::<Result<_, _>>()?,
    };
    let found: Vec<_> = texts
        .iter()
        .filter_map(|(file, text)| {
            Recipe::parse(file, text)
                .and_then(|recipe| refuse_reserved(&recipe))
                .err()
        })
        .flatten()
        .collect();
    match found.is_empty() {
        true => Ok(texts.into_iter().map(|(file, _)| file).collect()),
        false => Err(found.into()),
    }
}

fn read(file: &PathBuf) -> Result<(String, Vec<u8>), Problem> {
    let name = file.display().to_string();
    let text = std::fs::read(file).map_err(|error| {
        Problem::usage(
            format!("Cannot read {name}: {error}"),
            "Name the file of a recipe, recipe.yaml",
        )
    })?;
    Ok((name, text))
}
