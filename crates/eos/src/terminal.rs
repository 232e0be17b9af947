//! The terminal: how wide it is, whether a person is there, and asking that person.

use crate::env_names;
use eos_engine::session::Size;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use secrecy::SecretString;
use std::io::{self, BufRead, IsTerminal, Write};

/// What talk is written for where nobody says how wide it is.
const USUAL_WIDTH: usize = 80;
/// Below this nothing can be laid out; it is then as if it were this wide.
const LEAST_WIDTH: usize = 20;

/// Columns for talk (standard error).
pub fn talk_width() -> usize {
    set_width()
        .or_else(|| width_of(&io::stderr()))
        .unwrap_or(USUAL_WIDTH)
}

/// Columns for data (standard output); none where a program reads it, so that nothing is cut short for it.
pub fn data_width() -> Option<usize> {
    set_width().or_else(|| width_of(&io::stdout()))
}

fn set_width() -> Option<usize> {
    let columns: usize = std::env::var(env_names::COLUMNS).ok()?.parse().ok()?;
    Some(columns.max(LEAST_WIDTH))
}

fn width_of(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(stream).filter(|_| stream.is_terminal())?;
    Some(usize::from(width.0).max(LEAST_WIDTH))
}

/// The terminal as a command in it is to know it.
pub fn size() -> Option<Size> {
    let (width, height) = terminal_size::terminal_size_of(io::stdin())?;
    Some(Size {
        columns: width.0,
        rows: height.0,
    })
}

/// The terminal hands every key through as it is, for as long as this is held.
pub struct Raw {
    before: Termios,
}

impl Raw {
    pub fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        Ok(Self { before })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = tcsetattr(io::stdin(), OptionalActions::Drain, &self.before);
    }
}

/// Whether a person can be asked.
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

pub fn ask(question: &str) -> io::Result<String> {
    eprint(question)?;
    after_question(read_line())
}

pub fn ask_hidden(question: &str) -> io::Result<SecretString> {
    after_question(rpassword::prompt_password(question).map(SecretString::from))
}

/// A question that was not answered leaves its line open.
fn after_question<T>(answer: io::Result<T>) -> io::Result<T> {
    answer.or_else(|error| eprint("\n").and(Err(error)))
}

/// One line of standard input, without its end.
pub fn read_line() -> io::Result<String> {
    let mut line = String::new();
    if io::stdin().lock().read_line(&mut line)? == 0 {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "standard input is at its end",
        ));
    }
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

/// Whether standard input has nothing more. A person at a terminal types as many lines as Eos asks for.
pub fn is_read_whole() -> io::Result<bool> {
    Ok(io::stdin().is_terminal() || io::stdin().lock().fill_buf()?.is_empty())
}

fn eprint(text: &str) -> io::Result<()> {
    let mut talk = io::stderr();
    talk.write_all(text.as_bytes())?;
    talk.flush()
}
