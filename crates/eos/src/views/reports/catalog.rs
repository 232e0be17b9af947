//! The reports of `eos catalog`: the recipes there are, sound ones, and a new one.

use super::recipe::{origin, recipe_value, risk_word};
use crate::views::report::{Message, Page, Report};
use crate::views::text::{Table, counted, pad, warning_text, width, wrap};
use eos_core::catalog::Catalog;
use eos_core::diagnostic::{Diagnostic, Place};
use eos_core::recipe::Recipe;
use serde::Serialize;
use serde_json::json;

impl Report for Catalog {
    fn text(&self, page: &mut Page) {
        page.data(recipes_text(self, page.columns()));
        page.say("next: eos catalog show RECIPE, eos create RECIPE");
    }

    fn json(&self) -> Message {
        let recipes: Vec<_> = self.iter().map(recipe_value).collect();
        Message::Document("catalog", json!({"recipes": recipes}))
    }
}

/// One line a recipe where there is room for its summary beside the rest, else a block of lines.
fn recipes_text(catalog: &Catalog, columns: usize) -> String {
    let row = |recipe: &Recipe| {
        [
            recipe.name.clone(),
            recipe.version.clone(),
            risk_word(recipe.risk).to_owned(),
            origin(recipe).to_owned(),
            recipe.summary.clone(),
        ]
    };
    let headings = ["recipe", "version", "risk", "from", "summary"];
    let rows: Vec<_> = catalog.iter().map(row).collect();
    let wide = |column: usize| {
        rows.iter()
            .map(|row| width(&row[column]))
            .chain([width(headings[column])])
            .max()
    };
    let widths = [0, 1, 2, 3].map(|column| wide(column).unwrap_or(0) + 2);
    let beside: usize = widths.iter().sum();
    if columns < beside + 24 {
        let rows = rows.into_iter().map(Vec::from).collect();
        return Table {
            headings: &headings,
            right: &[],
            rows,
        }
        .print(Some(columns));
    }
    let line = |cells: &[String; 5]| {
        let first: String = cells
            .iter()
            .zip(widths)
            .map(|(cell, wide)| pad(cell, wide))
            .collect();
        let room = columns.saturating_sub(beside);
        let mut lines = wrap(&cells[4], room).into_iter();
        let mut text = format!("{first}{}\n", lines.next().unwrap_or_default());
        text.extend(lines.map(|line| format!("{}{line}\n", " ".repeat(beside))));
        text
    };
    let mut text = line(&headings.map(str::to_owned));
    text.extend(rows.iter().map(line));
    text
}

/// `eos catalog lint`: recipes without errors.
#[derive(Serialize)]
pub struct Linted {
    pub files: Vec<String>,
    pub warnings: Vec<Diagnostic>,
}

impl Report for Linted {
    fn text(&self, page: &mut Page) {
        for warning in &self.warnings {
            page.talk(warning_text(warning, page.talk_width));
        }
        let of = |file: &String| {
            let concerns = |at: &Place| at.file == *file;
            let concerning = |warning: &&Diagnostic| warning.at.as_ref().is_some_and(concerns);
            match self.warnings.iter().filter(concerning).count() {
                0 => format!("{file}  sound\n"),
                count => format!("{file}  sound, {}\n", counted(count, "warning", "warnings")),
            }
        };
        page.data(self.files.iter().map(of).collect::<String>());
    }

    fn json(&self) -> Message {
        Message::document("lint", self)
    }
}

/// `eos catalog new`: a recipe to begin with.
#[derive(Serialize)]
pub struct MadeRecipe {
    pub recipe: String,
    pub files: Vec<String>,
}

impl Report for MadeRecipe {
    fn text(&self, page: &mut Page) {
        let files = self.files.iter().map(|file| format!("{file}\n"));
        page.data(files.collect::<String>());
        page.say(&format!(
            "next: eos create {} --plan, then edit it and eos catalog lint",
            self.recipe
        ));
    }

    fn json(&self) -> Message {
        Message::document("recipe_file", self)
    }
}
