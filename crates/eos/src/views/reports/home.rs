//! The report of `eos home`: which machine operates the estate, and which does once the home moves.

use crate::views::report::{Message, Page, Report, value};
use crate::views::text::{hang, moment, printable};
use eos_engine::home::Recorded;
use jiff::Timestamp;
use serde::Serialize;

#[derive(Serialize)]
pub struct HomeReport {
    /// The machine that this runs on.
    #[serde(rename = "this")]
    pub here: Machine,
    pub home: Option<Recorded>,
    pub is_here: bool,
}

#[derive(Serialize)]
pub struct Machine {
    pub id: String,
    pub name: String,
}

impl Report for HomeReport {
    fn text(&self, page: &mut Page) {
        page.data(home_text(self, page.columns()));
        page.say(home_next(self));
    }

    fn json(&self) -> Message {
        Message::document("home", self)
    }
}

/// What it means to make this machine the home, before a person confirms it.
pub struct MoveHome<'a>(pub &'a HomeReport);

impl Report for MoveHome<'_> {
    fn text(&self, page: &mut Page) {
        page.talk(move_home_text(self.0, page.talk_width));
    }

    fn json(&self) -> Message {
        Message::Event("home", value(self.0))
    }
}

fn home_text(home: &HomeReport, columns: usize) -> String {
    let here = format!("{}  {}", home.here.id, printable(&home.here.name));
    let there = home.home.as_ref().map_or("none yet".to_owned(), recorded_words);
    hang("this machine  ", &here, columns) + &hang("home          ", &there, columns)
}

fn recorded_words(home: &Recorded) -> String {
    let by = home
        .user
        .as_deref()
        .map_or_else(String::new, |user| format!(", taken by {user}"));
    let since = moment(home.since, Timestamp::now());
    printable(&format!("{}  {}, since {since}{by}", home.id, home.name))
}

fn home_next(home: &HomeReport) -> &'static str {
    match (&home.home, home.is_here) {
        (_, true) => "this machine operates the estate",
        (None, false) => "the first operation makes its machine the home   next: eos create hello",
        (Some(_), false) => "this machine compiles and plans only   next: eos home take",
    }
}

fn move_home_text(home: &HomeReport, columns: usize) -> String {
    let Some(before) = &home.home else {
        return hang("", "The estate has no home yet: this machine becomes it", columns);
    };
    let name = printable(&before.name);
    let what = format!(
        "The home moves from {name} ({}) to {} ({}).",
        before.id,
        printable(&home.here.name),
        home.here.id
    );
    let meaning = format!(
        "Journal and audit of {name} stay there: operations it left unfinished cannot be resumed or rolled \
         back from here. Eos on {name} then refuses to operate."
    );
    hang("", &what, columns) + &hang("", &meaning, columns)
}
