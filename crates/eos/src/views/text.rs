//! Laying out text in columns: width as a terminal counts it, wrapping, tables, durations, colours.

use anstyle::{AnsiColor, Style};
use eos_core::diagnostic::Diagnostic;
use jiff::Timestamp;
use std::time::Duration;
use unicode_width::UnicodeWidthStr;

pub const GREEN: Style = AnsiColor::Green.on_default();
pub const YELLOW: Style = AnsiColor::Yellow.on_default();
pub const RED: Style = AnsiColor::Red.on_default();
pub const BOLD: Style = Style::new().bold();

/// How many letters of an operation's id tell it apart for a person: its time, to the millisecond.
const OPERATION_LETTERS: usize = 10;

/// Text of others made safe for a terminal: control characters are shown, not obeyed.
pub fn printable(text: &str) -> String {
    let show = |c: char| match c {
        '\n' | '\t' => c.to_string(),
        '\r' => String::new(),
        c if c.is_control() => c.escape_default().to_string(),
        // They would turn the direction of what follows.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => c.escape_default().to_string(),
        c => c.to_string(),
    };
    text.chars().map(show).collect()
}

pub fn width(text: &str) -> usize {
    text.width()
}

pub fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

pub fn pad_left(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text if it fits, else its beginning and three dots.
pub fn shorten(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        kept.push(letter);
        if width(&kept) + 3 > columns {
            kept.pop();
            break;
        }
    }
    format!("{}...", kept.trim_end())
}

/// The text if it fits, else its beginning and its end: names often differ there.
fn shorten_middle(text: &str, columns: usize) -> String {
    if width(text) <= columns || columns < 12 {
        return shorten(text, columns);
    }
    let mut end = String::new();
    for letter in text.chars().rev() {
        if width(&end) + width(letter.encode_utf8(&mut [0; 4])) > columns / 3 {
            break;
        }
        end.insert(0, letter);
    }
    format!("{}{end}", shorten(text, columns - width(&end)))
}

/// The words of a text in lines of so many columns. A longer word is broken, behind a hyphen or the like if it has one.
/// Spaces inside of a line are kept.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(8);
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        let mut words = paragraph.split_inclusive(' ').peekable();
        if words.peek().is_none() {
            lines.push(String::new());
            continue;
        }
        for word in words {
            if !line.is_empty() && width(&line) + width(word.trim_end()) > columns {
                lines.push(line.trim_end().to_owned());
                line.clear();
            }
            for letter in word.chars() {
                if width(&line) >= columns && letter != ' ' {
                    let rest = line.split_off(breaking_point(&line));
                    lines.push(std::mem::replace(&mut line, rest));
                }
                line.push(letter);
            }
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// Where to break a line that one word fills: in its second half, behind what joins words; else at its end.
fn breaking_point(line: &str) -> usize {
    let joint = line.rfind(['-', '/', '.', '_', ',', ':']).map_or(0, |at| at + 1);
    match width(&line[..joint]) * 2 > width(line) {
        true => joint,
        false => line.len(),
    }
}

/// The text with `first` before its first line and as many spaces before the others, in so many columns.
pub fn hang(first: &str, text: &str, columns: usize) -> String {
    let indent = width(first);
    // A prefix that leaves no room is not worth hanging from.
    let below = if indent * 2 > columns { 4 } else { indent };
    let mut result = String::new();
    for (index, line) in wrap(text, columns.saturating_sub(indent)).iter().enumerate() {
        let prefix = if index == 0 {
            first.to_owned()
        } else {
            " ".repeat(below)
        };
        result.push_str(format!("{prefix}{line}").trim_end());
        result.push('\n');
    }
    result
}

/// Text that hangs from its first word, which has the colour.
pub fn labelled(label: &str, style: Style, text: &str, columns: usize) -> String {
    let lines = hang(&format!("{label} "), &printable(text), columns);
    lines.replacen(label, &format!("{style}{label}{style:#}"), 1)
}

pub fn warning_text(warning: &Diagnostic, columns: usize) -> String {
    let mut text = labelled("warning:", YELLOW, &warning.message, columns);
    if let Some(place) = &warning.at {
        text.push_str(&format!("  at {place}\n"));
    }
    if let Some(hint) = &warning.hint {
        text.push_str(&labelled("hint:", GREEN, hint, columns));
    }
    text
}

pub fn duration(took: Duration) -> String {
    let seconds = took.as_secs_f64();
    match took.as_secs() {
        0..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{} min {} s", took.as_secs() / 60, took.as_secs() % 60),
        _ => format!("{} h {} min", took.as_secs() / 3600, took.as_secs() / 60 % 60),
    }
}

/// How long something has been so, in one unit.
pub fn age(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(since).as_secs().max(0);
    let of = |count: i64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    match seconds {
        0..120 => of(seconds, "s", "s"),
        120..7200 => of(seconds / 60, "min", "min"),
        7200..172_800 => of(seconds / 3600, "hour", "hours"),
        _ => of(seconds / 86_400, "day", "days"),
    }
}

/// A moment as a person says it, in the machine's time zone.
pub fn moment(at: Timestamp, now: Timestamp) -> String {
    let zone = jiff::tz::TimeZone::system();
    let (at, now) = (at.to_zoned(zone.clone()), now.to_zoned(zone));
    let days = now
        .date()
        .since(at.date())
        .map_or(i64::MAX, |span| span.get_days().into());
    match days {
        0 => at.strftime("today %H:%M").to_string(),
        1..7 => at.strftime("%a %H:%M").to_string(),
        _ => at.strftime("%Y-%m-%d %H:%M").to_string(),
    }
}

/// `1 file`, `3 files`.
pub fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Records keep their words; people read the operator's.
pub fn from_record(words: &str) -> String {
    words.replace("taken back", "rolled back")
}

pub fn short_operation(id: &str) -> &str {
    id.get(..OPERATION_LETTERS).unwrap_or(id)
}

/// How a column gives way to others where a table is too wide.
#[derive(Clone, Copy)]
pub enum Yield {
    /// The column goes.
    Drop(usize),
    /// Its cells lose their ends, down to so many columns.
    Shorten(usize, usize),
    /// Its cells lose what is before their ends.
    ShortenMiddle(usize, usize),
}

/// Rows under headings; columns named in `right` are aligned there.
pub struct Table<'a> {
    pub headings: &'a [&'a str],
    pub right: &'a [usize],
    pub rows: Vec<Vec<String>>,
}

impl Table<'_> {
    fn widths(&self) -> Vec<usize> {
        let column = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells
                .map(|cell| width(cell))
                .chain([width(self.headings[column])])
                .max()
                .unwrap_or(0)
        };
        (0..self.headings.len()).map(column).collect()
    }

    /// How many columns of a terminal it takes as a table.
    pub fn width(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)
    }

    /// As a table where it fits into `columns`, else one block of lines a row.
    pub fn print(&self, columns: Option<usize>) -> String {
        if let Some(columns) = columns.filter(|columns| self.width() > *columns) {
            return self.print_blocks(columns);
        }
        let widths = self.widths();
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let cells = cells.zip(&widths).enumerate().map(|(column, (cell, wide))| {
                match self.right.contains(&column) {
                    true => pad_left(cell, *wide),
                    false => pad(cell, *wide),
                }
            });
            format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
        };
        let mut text = line(&mut self.headings.iter().copied());
        for row in &self.rows {
            text.push_str(&line(&mut row.iter().map(String::as_str)));
        }
        text
    }

    /// As a table without columns that say nothing: where it does not fit into `columns`, one column after the other gives way. Blocks come last.
    pub fn print_yielding(&self, columns: Option<usize>, yields: &[Yield]) -> String {
        let Some(room) = columns else {
            return self.print(None);
        };
        let natural = self.widths();
        let is_empty = |column: usize| self.rows.iter().all(|row| row[column].is_empty());
        let shown = |(column, wide)| Some(wide).filter(|_| self.rows.is_empty() || !is_empty(column));
        let mut widths: Vec<Option<usize>> = natural.iter().copied().enumerate().map(shown).collect();
        let total = |widths: &[Option<usize>]| {
            let shown = widths.iter().flatten();
            shown.clone().sum::<usize>() + 2 * shown.count().saturating_sub(1)
        };
        for given in yields {
            let too_much = total(&widths).saturating_sub(room);
            if too_much == 0 {
                break;
            }
            match *given {
                Yield::Drop(column) => widths[column] = None,
                Yield::Shorten(column, least) | Yield::ShortenMiddle(column, least) => {
                    widths[column] =
                        widths[column].map(|wide| wide.min(wide.saturating_sub(too_much).max(least)));
                }
            }
        }
        let Some(mut spare) = room.checked_sub(total(&widths)) else {
            return self.print_blocks(room);
        };
        // A column that went leaves room for those that were shortened before.
        for (wide, natural) in widths.iter_mut().zip(&natural) {
            if let Some(wide) = wide {
                let more = spare.min(natural - *wide);
                (*wide, spare) = (*wide + more, spare - more);
            }
        }
        let shown: Vec<usize> = (0..widths.len())
            .filter(|&column| widths[column].is_some())
            .collect();
        let is_middle = |column| {
            let of = |given: &Yield| matches!(given, Yield::ShortenMiddle(of, _) if *of == column);
            yields.iter().any(of)
        };
        let fit = |column: usize, cell: &str| match widths[column] {
            Some(wide) if is_middle(column) => shorten_middle(cell, wide),
            Some(wide) => shorten(cell, wide),
            None => String::new(),
        };
        let headings = Vec::from_iter(shown.iter().map(|&column| fit(column, self.headings[column])));
        Table {
            headings: &Vec::from_iter(headings.iter().map(String::as_str)),
            right: &Vec::from_iter((0..shown.len()).filter(|&at| self.right.contains(&shown[at]))),
            rows: self
                .rows
                .iter()
                .map(|row| shown.iter().map(|&column| fit(column, &row[column])).collect())
                .collect(),
        }
        .print(None)
    }

    fn print_blocks(&self, columns: usize) -> String {
        let names = self.headings[1..]
            .iter()
            .map(|name| width(name))
            .max()
            .unwrap_or(0);
        let mut text = String::new();
        for row in &self.rows {
            text.push_str(&hang("", &row[0], columns));
            for (heading, cell) in self
                .headings
                .iter()
                .zip(row)
                .skip(1)
                .filter(|(_, cell)| !cell.is_empty())
            {
                text.push_str(&hang(&format!("  {}  ", pad(heading, names)), cell, columns));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_wider_than_asked_for() {
        let text = "grafana  1 x (500 MHz, 1 GiB), image registry/with-a-name-that-is-far-too-long-for-one-line:11.6.0";
        for columns in [12, 20, 40, 80] {
            for line in hang("  job      + ", text, columns).lines() {
                assert!(width(line) <= columns.max(21), "{columns}: {line:?}");
            }
        }
        assert_eq!(shorten("grafana", 7), "grafana");
        assert_eq!(shorten("grafana-data", 7), "graf...");
    }

    #[test]
    fn wrapping_loses_nothing() {
        let text = "one two  three four";
        assert_eq!(wrap(text, 9), ["one two", "three", "four"]);
        assert_eq!(wrap("abcdefghijkl", 8), ["abcdefgh", "ijkl"]);
        assert_eq!(wrap("日本語日本語", 8), ["日本語日", "本語"]);
        assert_eq!(wrap("one two-three-four", 12), ["one", "two-three-", "four"]);
        assert_eq!(wrap("a-bcdefghijkl", 8), ["a-bcdefg", "hijkl"]);
    }

    #[test]
    fn a_terminal_is_not_commanded_by_text_of_others() {
        assert_eq!(printable("a\u{1b}[2Jb\r\n\u{202e}c"), "a\\u{1b}[2Jb\n\\u{202e}c");
    }

    #[test]
    fn a_table_becomes_blocks_where_it_does_not_fit() {
        let table = Table {
            headings: &["name", "count"],
            right: &[1],
            rows: vec![vec!["hello".into(), "3".into()]],
        };
        assert_eq!(table.print(Some(80)), "name   count\nhello      3\n");
        assert_eq!(table.print(Some(11)), "hello\n  count  3\n");
    }

    #[test]
    fn a_table_that_yields_keeps_its_rows() {
        let cells = |row: [&str; 3]| row.map(str::to_owned).to_vec();
        let table = Table {
            headings: &["name", "count", "where"],
            right: &[1],
            rows: vec![
                cells(["mattermost-database", "3", "node1"]),
                cells(["redis", "1", "node2"]),
            ],
        };
        let yields = &[Yield::Drop(2), Yield::Shorten(0, 10), Yield::Drop(1)];
        let print = |columns| table.print_yielding(columns, yields);
        assert_eq!(print(None), table.print(None));
        assert_eq!(print(Some(33)), table.print(None));
        assert_eq!(
            print(Some(32)),
            "name                 count\nmattermost-database      3\nredis                    1\n"
        );
        assert_eq!(
            print(Some(20)),
            "name           count\nmattermost...      3\nredis              1\n"
        );
        // The column that went leaves its room to the name.
        assert_eq!(print(Some(12)), "name\nmattermos...\nredis\n");
        let yields = &[Yield::Drop(2), Yield::ShortenMiddle(0, 14)];
        assert_eq!(
            table.print_yielding(Some(22), yields),
            "name             count\nmatterm...abase      3\nredis                1\n"
        );
        // Nothing is left to give way.
        assert!(
            print(Some(9)).starts_with("mattermos\nt-databas\ne\n  count"),
            "{}",
            print(Some(9))
        );
    }

    #[test]
    fn times_are_said_in_one_unit() {
        let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        let ago = |seconds: i64| age(now - jiff::SignedDuration::from_secs(seconds), now);
        assert_eq!(
            [ago(4), ago(240), ago(7200), ago(200_000)],
            ["4 s", "4 min", "2 hours", "2 days"]
        );
        assert_eq!(duration(Duration::from_millis(23_460)), "23.5 s");
        assert_eq!(duration(Duration::from_secs(125)), "2 min 5 s");
    }
}
