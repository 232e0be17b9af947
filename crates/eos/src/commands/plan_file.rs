//! Plans in files: written to be looked at and approved, read to be carried out later.

use crate::problem::Problem;
use clap::ValueHint;
use eos_core::plan::{Plan, Step, VERSION};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The flags of a changing verb that only show or save its plan.
#[derive(Debug, Default, clap::Args)]
pub struct PlanOnly {
    /// Show the plan and stop
    #[arg(long, global = true)]
    pub plan: bool,
    /// With --plan: write the plan to this file, for `eos apply FILE`
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
}

impl PlanOnly {
    /// A plan has no place for a secret, so one that was given with the command would be lost on the way.
    pub fn check(&self, secret_given: bool) -> Result<(), Problem> {
        match self.out {
            None => Ok(()),
            Some(_) if !self.plan => Err(Problem::usage(
                "--out is missing --plan",
                "Eos writes a plan instead of applying it: --plan --out FILE",
            )),
            Some(_) if secret_given => Err(Problem::usage(
                "A saved plan cannot hold a given secret",
                "Leave the secret out, so that Eos generates it, or leave --out out and apply at once",
            )),
            Some(_) => Ok(()),
        }
    }

    /// For a plan that is in a file already.
    pub fn refuse_rewriting(&self) -> Result<(), Problem> {
        match self.out {
            None => Ok(()),
            Some(_) => Err(Problem::usage("The plan is in a file already", "Leave --out out")),
        }
    }
}

pub fn write(file: &Path, plan: &Plan) -> Result<(), Problem> {
    let text = serde_json::to_string_pretty(plan).expect("a plan has a JSON form");
    std::fs::write(file, text + "\n").map_err(|error| {
        Problem::not_done(
            format!("Cannot write {}: {error}", file.display()),
            "Name a file that can be written",
        )
    })
}

/// The plan in a file: as `--out` writes it, or inside of the document of `--plan --json`.
pub fn read(file: &Path) -> Result<Plan, Problem> {
    let wrong = |why: String| {
        Problem::usage(
            format!("Cannot read a plan from {}: {why}", file.display()),
            "`eos plan --out FILE` writes one",
        )
    };
    let bytes = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    let mut document: Value = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
    let plan = match document.get_mut("plan") {
        Some(plan) => plan.take(),
        None => document,
    };
    // A plan of an earlier version names calls that the formula no longer has: its approval would name nothing.
    let version = plan.get("version").and_then(Value::as_u64);
    if version != Some(VERSION.into()) {
        let version = version.map_or_else(|| "no version".to_owned(), |version| format!("version {version}"));
        return Err(wrong(format!(
            "it has {version}, this Eos knows version {VERSION}"
        )));
    }
    let plan: Plan = serde_json::from_value(plan).map_err(|error| wrong(error.to_string()))?;
    refuse_given(file, &plan)?;
    Ok(plan)
}

fn refuse_given(file: &Path, plan: &Plan) -> Result<(), Problem> {
    let is_given = |step: &&Step| step.work.writes().iter().any(|item| item.given);
    match plan.steps.iter().find(is_given) {
        None => Ok(()),
        Some(step) => Err(Problem::usage(
            format!(
                "The plan in {} needs a given secret of {}, and no plan holds a secret",
                file.display(),
                step.component
            ),
            "Run the command itself, without --plan",
        )),
    }
}
