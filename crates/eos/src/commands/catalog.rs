//! `eos catalog`: what can be created.

use super::{Ended, Session, new_recipe};
use crate::options::refuse_reserved;
use crate::problem::{Exit, Problem};
use crate::views::reports::catalog::Linted;
use crate::views::reports::plain::Plain;
use eos_core::catalog::Catalog;
use eos_core::diagnostic::Diagnostic;
use eos_core::recipe::Recipe;
use eos_core::{lint, schema};
use std::path::PathBuf;

/// Show, check and start recipes
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos catalog list
  eos catalog show grafana
  eos catalog new guestbook
  eos catalog lint
  eos catalog schema pillar > pillar.schema.json")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the recipes: the built-in ones and the estate's own
    List,
    /// Show a recipe: its options, what it uses and needs, what it runs
    Show {
        /// The recipe to show
        recipe: String,
    },
    /// Check recipes: those of the estate, or the named files
    ///
    /// Eos reports every fault at once, with its place. Warnings are about keys that work but have no effect, such as
    /// an option that no template names. With warnings alone the exit code is 0.
    Lint {
        /// Files to check
        #[arg(value_hint = clap::ValueHint::FilePath)]
        files: Vec<PathBuf>,
    },
    New(Box<new_recipe::Args>),
    /// Print the JSON Schema of a file, for editors
    Schema {
        /// The kind of file
        kind: SchemaOf,
    },
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum SchemaOf {
    /// recipes/NAME/recipe.yaml
    Recipe,
    /// pillar/infrastructure/*.sls
    Pillar,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    match &args.command {
        Command::List => session.view.show(&catalog(session)?),
        Command::Show { recipe } => {
            let catalog = catalog(session)?;
            let found = catalog.find(recipe, None).or_else(|unknown| {
                let pin = pin_of(session, recipe).ok_or(unknown)?;
                catalog.find(recipe, Some(&pin))
            });
            session
                .view
                .show(found.map_err(|unknown| Problem::Usage(vec![unknown]))?);
        }
        Command::Lint { files } => {
            let linted = lint(session, files)?;
            session.view.show(&linted);
        }
        Command::New(args) => {
            let made = new_recipe::new(session, args).await?;
            session.view.show(&made);
        }
        Command::Schema { kind } => session.view.show(&Plain(match kind {
            SchemaOf::Recipe => schema::RECIPE,
            SchemaOf::Pillar => schema::PILLAR,
        })),
    }
    Ok(Exit::Done)
}

/// Where the recipe came with a component: how that has it.
fn pin_of(session: &Session<'_>, component: &str) -> Option<String> {
    let estate = session.estate().ok()?;
    let pillar = estate.whole_pillar().ok()?;
    let component = pillar.component(&session.environment(&estate), component)?;
    component.pinned.get(&component.recipe).cloned()
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

/// Checks recipes among all others, since they may use one another.
fn lint(session: &mut Session<'_>, files: &[PathBuf]) -> Result<Linted, Problem> {
    let given: Vec<_> = files.iter().map(read).collect::<Result<_, _>>()?;
    let own = match session.estate() {
        Ok(estate) => {
            // A path that cannot be followed is no path of a file that was just read: it is not the same one.
            let is_given = |file: &str| {
                let path = estate.root.join(file).canonicalize().ok();
                files.iter().any(|given| given.canonicalize().ok() == path)
            };
            let mut own = estate.own_recipes()?;
            own.retain(|(file, _)| !is_given(file));
            own
        }
        Err(problem) if files.is_empty() || session.everywhere.estate.is_some() => return Err(problem),
        Err(_) => Vec::new(),
    };
    let linted = match files {
        [] => own.clone(),
        _ => given.clone(),
    };
    let all: Vec<_> = own.into_iter().chain(given).collect();
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    let recipes: Vec<_> = linted
        .iter()
        .flat_map(|(file, text)| Recipe::parse(file, text))
        .collect();
    // What is wrong is in `errors`; without a catalog there is nothing to try a recipe in.
    let loaded = Catalog::load(&all).map_err(|found| errors.extend(found)).ok();
    for recipe in &recipes {
        errors.extend(refuse_reserved(recipe).err().into_iter().flatten());
        warnings.extend(lint::warnings(recipe));
        warnings.extend(wrong_folder(recipe));
        errors.extend(loaded.iter().flat_map(|catalog| lint::trial(recipe, catalog)));
    }
    if errors.is_empty() {
        let files = linted.into_iter().map(|(file, _)| file).collect();
        return Ok(Linted { files, warnings });
    }
    for warning in &warnings {
        session.view.warn(warning);
    }
    Err(errors.into())
}

/// An estate has its recipes in folders of their names; people look for them there.
fn wrong_folder(recipe: &Recipe) -> Option<Diagnostic> {
    let folder = recipe
        .file
        .strip_prefix("recipes/")?
        .strip_suffix("/recipe.yaml")?;
    (folder != recipe.name).then(|| {
        Diagnostic::new(format!("Recipe {} is in the folder {folder}", recipe.name))
            .at(&recipe.file, recipe.at)
            .hint(format!("Move it to recipes/{}/recipe.yaml", recipe.name))
    })
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
