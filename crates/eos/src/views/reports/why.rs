//! The report of `eos why`: one attribute in full, or one line each for several.

use super::plan::attribute_value;
use crate::views::report::{Message, Page, Report, value};
use crate::views::text::{BOLD, hang, pad, printable, shorten, width};
use eos_core::called::Called;
use eos_core::why::{Change, Explained, Explanation, Extent, Spot};
use serde_json::json;

/// Attributes are not padded to more than this, nor to more than a third of the line.
const NAME: usize = 24;
/// In a list, longer values are shortened.
const VALUE: usize = 96;

impl Report for Explanation {
    fn text(&self, page: &mut Page) {
        page.data(why_text(self, page.columns()));
    }

    fn json(&self) -> Message {
        let (attributes, called) = (value(&self.explained), value(&self.called));
        Message::Document("why", json!({"attributes": attributes, "called": called}))
    }
}

fn why_text(answer: &Explanation, columns: usize) -> String {
    match (answer.extent, answer.explained.as_slice()) {
        (Extent::Attribute, [explained]) => one(explained, columns),
        (_, explained) => several(explained, columns) + &names(&answer.called),
    }
}

fn names(called: &[Called]) -> String {
    let widest = called.iter().map(|one| width(one.by)).max().unwrap_or(0);
    let lines = called
        .iter()
        .map(|one| format!("  {}  {}\n", pad(one.by, widest), one.name));
    match called.is_empty() {
        true => String::new(),
        false => format!("\nIts names elsewhere\n{}", lines.collect::<String>()),
    }
}

fn one(explained: &Explained, columns: usize) -> String {
    let value = attribute_value(&explained.attribute, &explained.value);
    let mut text = format!("{BOLD}{}{BOLD:#}\n", printable(value.trim_end()));
    let mut add = |name: &str, lines: Vec<String>| {
        for (index, line) in lines.iter().enumerate() {
            let name = if index == 0 { name } else { "" };
            text.push_str(&hang(&format!("  {}  ", pad(name, 8)), line, columns));
        }
    };
    add("in truth", explained.truth.iter().cloned().collect());
    add("set by", vec![explained.from.words()]);
    let with_place = |words: String, place: &Option<Spot>| match place {
        Some(place) => format!("{words}, {}", spot(place)),
        None => words,
    };
    let made_of = explained.made_of.iter().map(|part| {
        let value = shorten(&attribute_value(&part.option, &part.value), VALUE);
        let words = format!("{} {}: {}", part.option, shown(value), part.from.words());
        with_place(words, &part.place)
    });
    add("made of", made_of.collect());
    let over = explained.over.iter().map(|rival| {
        let value = rival.value.as_ref().map_or("no value".to_owned(), |value| {
            shown(shorten(
                &first_line(&attribute_value(&explained.attribute, value)),
                VALUE,
            ))
        });
        with_place(format!("{} ({value})", rival.from.words()), &rival.place)
    });
    add("over", over.collect());
    add("file", explained.place.iter().map(spot).collect());
    add("change", explained.change.iter().map(change).collect());
    text
}

fn several(explained: &[Explained], columns: usize) -> String {
    let mut text = String::new();
    let mut address = None;
    let names = explained.iter().map(|one| width(&one.attribute));
    let names = names
        .filter(|name| *name <= NAME.min(columns / 3))
        .max()
        .unwrap_or(0);
    for one in explained {
        if address != Some(&one.address) {
            if address.is_some() {
                text.push('\n');
            }
            let place = one
                .environment
                .as_ref()
                .map_or_else(String::new, |environment| format!(" in {environment}"));
            let heading = hang("", &format!("{}{place}", one.address), columns);
            let bold = format!("{BOLD}{}{BOLD:#}", one.address);
            text.push_str(&heading.replacen(&one.address, &bold, 1));
            address = Some(&one.address);
        }
        let value = first_line(&attribute_value(&one.attribute, &one.value));
        let truth = one
            .truth
            .as_ref()
            .map_or_else(String::new, |truth| format!(", in truth {truth}"));
        let line = format!("{}{truth}  ({})", shown(shorten(&value, VALUE)), one.from);
        let first = match width(&one.attribute) <= names {
            true => pad(&one.attribute, names),
            // Its value goes below a name that would push it out of its column.
            false => {
                text.push_str(&hang("  ", &one.attribute, columns));
                " ".repeat(names)
            }
        };
        text.push_str(&hang(&format!("  {first}  "), &line, columns));
    }
    text
}

/// A value of several lines by its first.
fn first_line(value: &str) -> String {
    match value.trim_end().split_once('\n') {
        Some((first, _)) => format!("{first} ..."),
        None => value.trim_end().to_owned(),
    }
}

fn shown(value: String) -> String {
    match value.is_empty() {
        true => "nothing".to_owned(),
        false => value,
    }
}

fn spot(spot: &Spot) -> String {
    let line = spot.line.map_or_else(String::new, |line| format!(":{line}"));
    let built_in = if spot.built_in { " (built in)" } else { "" };
    format!("{}{line}{built_in}", spot.file)
}

fn change(change: &Change) -> String {
    match change {
        Change::Command { command } => command.clone(),
        Change::Edit { place, what } => format!("edit {}: {what}", spot(place)),
        Change::Follows { from } => format!("nothing: it follows {from}"),
    }
}
