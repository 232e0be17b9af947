//! What the engines wrote to their logs: the last lines, and those that come.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use crate::error::{AtPath, Result};

const LONGEST: u64 = 10 * 1024 * 1024;
/// Lines of a log are short: so many bytes are read from its end for each one asked for.
const BYTES_A_LINE: u64 = 400;
const LOOK: Duration = Duration::from_millis(250);

/// Puts a log aside that has grown long. For a time when nobody writes to it.
pub fn rotate(path: &Path) -> Result<()> {
    if fs::metadata(path).is_ok_and(|found| found.len() > LONGEST) {
        fs::rename(path, path.with_extension("log.1")).at("rotate", path)?;
    }
    Ok(())
}

/// The last lines of a log; none if there is no log yet.
pub fn last_lines(path: &Path, count: usize) -> Result<Vec<String>> {
    let read = || -> io::Result<String> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let wanted = (count as u64 + 1) * BYTES_A_LINE;
        file.seek(SeekFrom::Start(length.saturating_sub(wanted)))?;
        text_of(&mut file)
    };
    match read() {
        Ok(text) => {
            let lines: Vec<&str> = text.lines().collect();
            Ok(lines[lines.len().saturating_sub(count)..]
                .iter()
                .map(|line| (*line).to_owned())
                .collect())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error).at("read", path),
    }
}

/// Gives the last lines to `show`; with `follow` also every later one, until the caller stops waiting.
pub async fn show(
    path: &Path,
    lines: usize,
    follow: bool,
    show: &mut (dyn FnMut(&str) + Send),
) -> Result<()> {
    let mut position = fs::metadata(path).map_or(0, |found| found.len());
    last_lines(path, lines)?.iter().for_each(|line| show(line));
    if !follow {
        return Ok(());
    }
    let mut rest = String::new();
    loop {
        tokio::time::sleep(LOOK).await;
        let length = fs::metadata(path).map_or(0, |found| found.len());
        if length < position {
            // It was rotated: a new one began.
            position = 0;
        }
        if length > position {
            let mut file = File::open(path).at("read", path)?;
            file.seek(SeekFrom::Start(position)).at("read", path)?;
            let text = text_of(&mut file).at("read", path)?;
            position = file.stream_position().at("read", path)?;
            rest.push_str(&text);
            while let Some((line, later)) = rest.split_once('\n') {
                show(line);
                rest = later.to_owned();
            }
        }
    }
}

fn text_of(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[tokio::test]
    async fn the_last_lines_then_those_that_come() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.log");
        assert!(last_lines(&path, 3).unwrap().is_empty());
        fs::write(&path, "one\ntwo\nthree\n").unwrap();
        assert_eq!(last_lines(&path, 2).unwrap(), ["two", "three"]);

        let mut seen = Vec::new();
        let mut note = |line: &str| seen.push(line.to_owned());
        let write = async {
            tokio::time::sleep(LOOK / 2).await;
            let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
            file.write_all(b"four\nfi").unwrap();
            tokio::time::sleep(LOOK * 2).await;
            file.write_all(b"ve\n").unwrap();
            tokio::time::sleep(LOOK * 2).await;
        };
        tokio::select! {
            ended = show(&path, 1, true, &mut note) => ended.unwrap(),
            () = write => {}
        }
        assert_eq!(seen, ["three", "four", "five"]);
    }
}
