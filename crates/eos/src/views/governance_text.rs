//! The audit, the home of an estate and its approvals, as a person reads them.

use super::reports::{Approved, HomeReport};
use super::text::{Table, from_record, hang, moment, printable, short_operation};
use eos_engine::audit::{Entry, Verdict};
use eos_engine::home::Recorded;
use eos_engine::operation::Dismissed;
use jiff::Timestamp;

pub fn audit_table(entries: &[Entry]) -> Table<'static> {
    let now = Timestamp::now();
    let row = |entry: &Entry| {
        let when = entry.at.parse().map_or(entry.at.clone(), |at| moment(at, now));
        // Operations and homes have ids that are longer than a person needs.
        let is_id = entry.object.len() == 26 && entry.object.starts_with("01");
        let object = match is_id {
            true => short_operation(&entry.object),
            false => &entry.object,
        };
        [
            &entry.seq.to_string(),
            &when,
            &person(&entry.who, &entry.user),
            &from_record(&entry.action),
            object,
            &from_record(&entry.outcome),
        ]
        .map(printable)
        .to_vec()
    };
    Table {
        headings: &["entry", "when", "who", "what", "object", "outcome"],
        right: &[0],
        rows: entries.iter().map(row).collect(),
    }
}

/// The person, and the API user they acted as.
fn person(who: &str, user: &str) -> String {
    match user {
        "" => who.to_owned(),
        user => format!("{who} as {user}"),
    }
}

pub fn audit_fits_text(verdict: &Verdict, columns: usize) -> String {
    let mut words = format!(
        "{}, {} in commits and {} fit",
        verdict.counted_entries(),
        verdict.counted_anchors(),
        counted(verdict.operations, "sealed journal", "sealed journals"),
    );
    if verdict.foreign_anchors > 0 {
        let others = counted(verdict.foreign_anchors, "commit names", "commits name");
        words = format!("{words}; {others} the audit of another home, which this machine does not have");
    }
    hang("", &words, columns)
}

pub fn home_text(home: &HomeReport, columns: usize) -> String {
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

pub fn home_next(home: &HomeReport) -> &'static str {
    match (&home.home, home.is_here) {
        (_, true) => "this machine operates the estate",
        (None, false) => "the first operation makes its machine the home   next: eos create hello",
        (Some(_), false) => "this machine compiles and plans only   next: eos home take",
    }
}

pub fn move_home_text(home: &HomeReport, columns: usize) -> String {
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

pub fn dismissed_words(dismissed: &Dismissed) -> String {
    let id = short_operation(&dismissed.operation);
    let environment = &dismissed.environment;
    match dismissed.stays.as_slice() {
        [] => format!("dismissed {id}: nothing of it stays"),
        stays => format!(
            "dismissed {id}   stays: {}   next: eos drift --environment {environment}",
            printable(&stays.join("; "))
        ),
    }
}

pub fn approved_words(approved: &Approved) -> String {
    let approval = &approved.approval;
    let minions = match approval.minions.as_slice() {
        [] => String::new(),
        minions => format!(", read back from {}", minions.join(", ")),
    };
    format!(
        "approved by {} until {}{minions}   next, as {}: eos resume {}",
        approval.by,
        moment(approval.until, Timestamp::now()),
        approved.requester,
        short_operation(&approval.operation)
    )
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
