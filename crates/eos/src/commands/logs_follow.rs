//! `eos logs --follow`: what the tasks of a component write, line by line as they write it, whichever instance runs.

use super::logs::{BYTES_A_LINE, hidden_of, instances};
use super::{Ended, Session};
use crate::problem::Exit;
use crate::views::reports::logs::{Instance, Line};
use eos_core::diagnostic::Diagnostic;
use eos_engine::diagnose::Hidden;
use eos_engine::engines::Engines;
use eos_engine::estate::Estate;
use eos_engine::nomad::{Allocation, LogStream, Streamed};
use eos_engine::{EngineError, ErrorKind, NomadClient};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::AbortHandle;
use tokio::time::{interval, timeout};

/// How often Eos looks for instances that came and went.
const LOOK: Duration = Duration::from_secs(1);
/// After such a silence the last lines from before are complete.
const SILENCE: Duration = Duration::from_millis(400);
/// After so many looks an instance that ended has said everything.
const LOOKS_AFTER_ITS_END: u32 = 3;
/// A longer line is cut: it must fit into memory whole, since a secret may stand anywhere in it.
const LONGEST_LINE: usize = 1 << 20;
const CUT: &str = " [cut]";

/// Whose log it is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Source {
    allocation: String,
    node: String,
    task: String,
    stream: LogStream,
}

enum News {
    Line(Source, String),
    /// Nothing more comes, and perhaps why.
    End(Source, Option<EngineError>),
}

/// An instance that is followed.
struct Followed {
    node: String,
    looks_since_its_end: u32,
    logs: BTreeMap<Source, AbortHandle>,
}

struct Follow<'a> {
    engines: &'a Engines,
    environment: &'a str,
    component: &'a str,
    lines: usize,
    hidden: Hidden,
    followed: BTreeMap<String, Followed>,
    /// They have said everything.
    over: BTreeSet<String>,
    is_first_look: bool,
    /// Nomad did not answer the last look.
    is_silent: bool,
    sender: UnboundedSender<News>,
}

pub async fn run(
    session: &mut Session<'_>,
    estate: &Estate,
    engines: &Engines,
    environment: &str,
    component: &str,
    lines: usize,
) -> Ended {
    let (sender, mut news) = mpsc::unbounded_channel();
    let mut follow = Follow {
        engines,
        environment,
        component,
        lines,
        hidden: hidden_of(estate, engines, environment, component).await?,
        followed: BTreeMap::new(),
        over: BTreeSet::new(),
        is_first_look: true,
        is_silent: false,
        sender,
    };
    let mut look = interval(LOOK);
    loop {
        tokio::select! {
            Some(news) = news.recv() => follow.tell(session, news)?,
            _ = look.tick() => {
                if follow.look(session, estate, &mut news).await? {
                    return Ok(Exit::Done);
                }
            }
            Ok(()) = tokio::signal::ctrl_c() => return Ok(Exit::Interrupted),
        }
        if session.view.is_done_writing() {
            return Ok(Exit::Done);
        }
    }
}

impl Follow<'_> {
    /// Takes up instances that came and leaves those that went. Says whether the component is gone.
    async fn look(
        &mut self,
        session: &mut Session<'_>,
        estate: &Estate,
        news: &mut UnboundedReceiver<News>,
    ) -> Result<bool, EngineError> {
        let found = match instances(&self.engines.nomad, self.environment, self.component).await {
            Ok(found) => found,
            Err(error) => {
                if !std::mem::replace(&mut self.is_silent, true) {
                    let warning = Diagnostic::new(format!("{error}"));
                    session.view.warn(&warning.hint("Eos keeps trying"));
                }
                return Ok(false);
            }
        };
        self.is_silent = false;
        let new: Vec<&Allocation> = found
            .iter()
            .filter(|one| one.is_running() && !self.over.contains(&one.id))
            .filter(|one| !self.followed.contains_key(&one.id))
            .collect();
        if !new.is_empty() && !self.is_first_look {
            // It may have been given other secrets.
            self.hidden = hidden_of(estate, self.engines, self.environment, self.component).await?;
        }
        for one in new {
            if !self.is_first_look {
                session
                    .view
                    .show(&Instance::new(&one.id, &one.node_name, "joins"));
            }
            let followed = Followed {
                node: one.node_name.clone(),
                looks_since_its_end: 0,
                logs: BTreeMap::new(),
            };
            self.followed.insert(one.id.clone(), followed);
        }
        for one in &found {
            self.follow_tasks_of(one);
        }
        if self.is_first_look && self.followed.is_empty() {
            let words = format!("Nothing of {} runs in {} now", self.component, self.environment);
            session
                .view
                .warn(&Diagnostic::new(words).hint("Eos waits for an instance; Ctrl-C ends it"));
        }
        self.is_first_look = false;
        self.leave_ended(session, &found, news)?;
        Ok(found.is_empty() && self.followed.is_empty())
    }

    /// A task may begin later than its instance.
    fn follow_tasks_of(&mut self, one: &Allocation) {
        let Some(followed) = self.followed.get_mut(&one.id) else {
            return;
        };
        // From its beginning, if it began while Eos looked.
        let tail = self
            .is_first_look
            .then_some(BYTES_A_LINE * u64::try_from(self.lines).unwrap_or(u64::MAX / BYTES_A_LINE));
        for (task, state) in &one.task_states {
            for stream in [LogStream::Stdout, LogStream::Stderr] {
                let source = Source {
                    allocation: one.id.clone(),
                    node: one.node_name.clone(),
                    task: task.clone(),
                    stream,
                };
                if state.started_at.is_none() || followed.logs.contains_key(&source) {
                    continue;
                }
                let reading = read(
                    self.engines.nomad.clone(),
                    self.environment.to_owned(),
                    source.clone(),
                    tail.map(|bytes| (bytes, self.lines)),
                    self.sender.clone(),
                );
                followed.logs.insert(source, tokio::spawn(reading).abort_handle());
            }
        }
    }

    fn leave_ended(
        &mut self,
        session: &mut Session<'_>,
        found: &[Allocation],
        news: &mut UnboundedReceiver<News>,
    ) -> Result<(), EngineError> {
        let mut ended = Vec::new();
        for (id, followed) in &mut self.followed {
            let now = found.iter().find(|one| one.id == *id);
            let status = match now {
                Some(one) if matches!(one.client_status.as_str(), "running" | "pending") => continue,
                Some(one) => one.client_status.clone(),
                None => "forgotten by Nomad".to_owned(),
            };
            followed.looks_since_its_end += 1;
            if followed.looks_since_its_end > LOOKS_AFTER_ITS_END {
                ended.push((id.clone(), status));
            }
        }
        for (id, status) in ended {
            while let Ok(last) = news.try_recv() {
                self.tell(session, last)?;
            }
            if let Some(followed) = self.followed.remove(&id) {
                for log in followed.logs.values() {
                    log.abort();
                }
                let how = format!("ended: {status}");
                session.view.show(&Instance::new(&id, &followed.node, &how));
                self.over.insert(id);
            }
        }
        Ok(())
    }

    fn tell(&mut self, session: &mut Session<'_>, news: News) -> Result<(), EngineError> {
        match news {
            News::Line(source, text) => {
                let text = self.hidden.mask(&text);
                let is_one_task = self.followed.values().all(|one| {
                    let tasks: BTreeSet<_> = one.logs.keys().map(|log| &log.task).collect();
                    tasks.len() < 2
                });
                session.view.show(&Line {
                    of_several: self.followed.len() > 1,
                    of_several_tasks: !is_one_task,
                    allocation: &source.allocation,
                    node: &source.node,
                    task: &source.task,
                    stream: source.stream.name(),
                    text: &text,
                });
            }
            News::End(_, Some(error)) if error.kind == ErrorKind::Refused => return Err(error),
            News::End(source, why) => {
                // The next look reads it again.
                if let Some(followed) = self.followed.get_mut(&source.allocation)
                    && followed.looks_since_its_end == 0
                {
                    followed.logs.remove(&source);
                    if let Some(error) = why {
                        let warning = Diagnostic::new(error.to_string());
                        let hint = "Eos reads that log again from its beginning: its lines come twice";
                        session.view.warn(&warning.hint(hint));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Reads one log until nobody wants it, and tells it line by line.
async fn read(
    nomad: NomadClient,
    environment: String,
    source: Source,
    tail: Option<(u64, usize)>,
    to: UnboundedSender<News>,
) {
    let bytes = tail.map(|(bytes, _)| bytes);
    let opened = nomad
        .follow_logs(
            &environment,
            &source.allocation,
            &source.task,
            source.stream,
            bytes,
        )
        .await;
    let ended = match opened {
        Ok(log) => read_lines(log, &source, tail, &to).await,
        // A task that never started has written nothing.
        Err(error) if error.kind == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    let _ = to.send(News::End(source, ended.err()));
}

async fn read_lines(
    mut log: Streamed,
    source: &Source,
    tail: Option<(u64, usize)>,
    to: &UnboundedSender<News>,
) -> Result<(), EngineError> {
    let tell = |line: String| {
        let _ = to.send(News::Line(source.clone(), line));
    };
    let mut lines = Lines::default();
    if let Some((bytes, most)) = tail {
        let (mut before, mut length) = (Vec::new(), 0);
        while let Ok(next) = timeout(SILENCE, log.next()).await {
            let Some(chunk) = next? else { break };
            length += chunk.len() as u64;
            before.extend(lines.take(&chunk));
            if length >= bytes {
                break;
            }
        }
        // A tail that is full begins within a line, perhaps within a secret of it.
        let cut = usize::from(length >= bytes && !before.is_empty());
        let from = before.len().saturating_sub(most).max(cut);
        before.drain(from..).for_each(tell);
    }
    while let Some(chunk) = log.next().await? {
        lines.take(&chunk).into_iter().for_each(tell);
    }
    lines.rest().into_iter().for_each(tell);
    Ok(())
}

/// Takes bytes apart into whole lines.
#[derive(Default)]
struct Lines {
    begun: Vec<u8>,
    is_cut: bool,
}

impl Lines {
    fn take(&mut self, chunk: &[u8]) -> Vec<String> {
        let mut whole = Vec::new();
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            let is_end = piece.ends_with(b"\n");
            let piece = piece.strip_suffix(b"\n").unwrap_or(piece);
            let room = LONGEST_LINE.saturating_sub(self.begun.len());
            self.is_cut |= piece.len() > room;
            self.begun.extend(&piece[..piece.len().min(room)]);
            if is_end {
                whole.extend(self.end());
            }
        }
        whole
    }

    fn rest(&mut self) -> Option<String> {
        (!self.begun.is_empty()).then(|| self.end()).flatten()
    }

    fn end(&mut self) -> Option<String> {
        let mut bytes = std::mem::take(&mut self.begun);
        if std::mem::take(&mut self.is_cut) {
            // The cut may go through a secret: what is left of the last word goes as well.
            let last = bytes.iter().rposition(u8::is_ascii_whitespace).unwrap_or(0);
            bytes.truncate(last);
            bytes.extend(CUT.as_bytes());
        }
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_however_they_come() {
        let mut lines = Lines::default();
        assert_eq!(lines.take(b"one\ntw"), ["one"]);
        assert_eq!(lines.take(b"o"), [""; 0]);
        assert_eq!(lines.take(b"\n\nthree"), ["two", ""]);
        assert_eq!(lines.rest().as_deref(), Some("three"));
        assert_eq!(lines.rest(), None);
    }

    #[test]
    fn a_line_without_end_is_cut_before_its_last_word() {
        let mut lines = Lines::default();
        let long = [b"word ".repeat(LONGEST_LINE / 5 + 9), b"\nnext\n".to_vec()].concat();
        let told = lines.take(&long);
        assert_eq!(told.len(), 2);
        assert!(told[0].ends_with("word [cut]") && told[0].len() <= LONGEST_LINE + CUT.len());
        assert_eq!(told[1], "next");
    }
}
