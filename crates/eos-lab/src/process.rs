//! Processes as Linux shows them: never signalled by number alone, since numbers are given out again.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

use crate::error::{AtPath, Result};

/// The environment entry that every engine of a lab, and what it starts, carries: the lab's directory.
pub const MARK: &str = "EOS_LAB";

/// A process of this boot: the same number with another start time is another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    pub pid: i32,
    /// In clock ticks since the machine started.
    pub start: u64,
}

impl Process {
    pub fn is_alive(self) -> bool {
        look_up(self.pid).is_some_and(|found| found.process == self)
    }

    /// Gone already is as good. Between the look and the signal the number cannot change hands.
    fn signal(self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.pid) else {
            return;
        };
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else {
            return;
        };
        if self.is_alive() {
            // The only refusals left are that it ended just now, and another user's process: `end` counts both.
            pidfd_send_signal(&handle, signal).ok();
        }
    }

    /// Its share of memory in bytes, pages in common with others counted in part.
    pub fn memory(self) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", self.pid)).unwrap_or_default();
        let pss = text.lines().find_map(|line| line.strip_prefix("Pss:"));
        let kib = pss.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
        kib.unwrap_or(0) * 1024
    }

    /// The program that it runs, as the kernel has it: of a script, what interprets it. None once it has ended, and of
    /// another user's process.
    pub fn executable(self) -> Option<PathBuf> {
        let path = fs::read_link(format!("/proc/{}/exe", self.pid)).ok()?;
        // So the kernel says of a program that was replaced while it ran.
        match path.to_str()?.strip_suffix(" (deleted)") {
            Some(before) => Some(before.into()),
            None => Some(path),
        }
    }

    /// With blanks between the arguments, as programs that rename themselves write it too.
    fn command_line(self) -> String {
        let bytes = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\0', " ")
    }

    /// As whom it acts.
    fn user(self) -> Option<u32> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        line.split_ascii_whitespace().nth(1)?.parse().ok()
    }

    fn has_mark(self, lab: &Path) -> bool {
        let mark = format!("{MARK}={}", lab.display());
        let bytes = fs::read(format!("/proc/{}/environ", self.pid)).unwrap_or_default();
        bytes
            .split(|byte| *byte == 0)
            .any(|entry| entry == mark.as_bytes())
    }
}

struct Entry {
    process: Process,
    parent: i32,
}

/// A zombie has ended; it only waits for its parent to notice.
fn look_up(pid: i32) -> Option<Entry> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in brackets, may hold blanks and brackets itself; after the last one come plain fields from 3 on.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let is_over = matches!(*fields.first()?, "Z" | "X");
    let entry = Entry {
        process: Process {
            pid,
            start: fields.get(19)?.parse().ok()?,
        },
        parent: fields.get(1)?.parse().ok()?,
    };
    (!is_over).then_some(entry)
}

fn all() -> Vec<Entry> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| look_up(entry.ok()?.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// Every process of this user that runs this program, whose command line holds `words`, and that is no older than
/// `leader`: an engine's leader and those that it forked. Anybody may give a process of their own any command line, and
/// an editor or a search of this user's may name an engine's.
pub fn of_engine(words: &str, executable: &Path, leader: Process) -> Vec<Process> {
    let user = rustix::process::geteuid().as_raw();
    let is_of_engine = |process: &Process| {
        process.start >= leader.start
            && process.user() == Some(user)
            && process.executable().as_deref() == Some(executable)
            && process.command_line().contains(words)
    };
    all()
        .into_iter()
        .map(|entry| entry.process)
        .filter(is_of_engine)
        .collect()
}

/// Every process with the mark of this lab whose command line holds `words`.
pub fn marked_with(lab: &Path, words: &str) -> Vec<Process> {
    marked(lab)
        .into_iter()
        .filter(|process| process.command_line().contains(words))
        .collect()
}

/// Every process that an engine of this lab started from a program below a directory.
pub fn marked_below(lab: &Path, directory: &Path) -> Vec<Process> {
    let is_below = |process: &Process| Path::new(&process.command_line()).starts_with(directory);
    all()
        .into_iter()
        .map(|entry| entry.process)
        .filter(|process| is_below(process) && process.has_mark(lab))
        .collect()
}

/// Every process that an engine of this lab started, with its descendants.
pub fn marked(lab: &Path) -> Vec<Process> {
    let all = all();
    let mut found: Vec<Process> = all
        .iter()
        .map(|entry| entry.process)
        .filter(|process| process.has_mark(lab))
        .collect();
    // Parents may stand after their children in the list, so it is gone through until nothing is added.
    loop {
        let more: Vec<Process> = all
            .iter()
            .filter(|entry| found.iter().any(|parent| parent.pid == entry.parent))
            .map(|entry| entry.process)
            .filter(|process| !found.contains(process))
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// Asks `leaders` to end, waits, then ends by force what is left of `all`. Gives those that are still there.
pub async fn end(leaders: &[Process], all: &[Process], grace: Duration) -> Vec<Process> {
    leaders.iter().for_each(|process| process.signal(Signal::TERM));
    if wait_for(all, grace).await.is_empty() {
        return Vec::new();
    }
    all.iter().for_each(|process| process.signal(Signal::KILL));
    wait_for(all, Duration::from_secs(5)).await
}

async fn wait_for(processes: &[Process], limit: Duration) -> Vec<Process> {
    let ends = tokio::time::Instant::now() + limit;
    loop {
        let left: Vec<Process> = processes
            .iter()
            .copied()
            .filter(|process| process.is_alive())
            .collect();
        if left.is_empty() || tokio::time::Instant::now() >= ends {
            return left;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Distinguishes this boot from others: start times count from it.
pub fn boot() -> Result<String> {
    let path = "/proc/sys/kernel/random/boot_id";
    fs::read_to_string(path)
        .map(|id| id.trim().to_owned())
        .at("read", path)
}

/// A program to be run apart from the one that starts it: own session, own environment, output to a log.
pub struct Apart<'a> {
    pub program: &'a Path,
    pub arguments: &'a [String],
    /// All it gets of an environment.
    pub environment: Vec<(&'static str, PathBuf)>,
    pub directory: &'a Path,
    pub log: File,
    pub umask: u32,
}

impl Apart<'_> {
    pub fn start(self) -> Result<Process> {
        let second = self.log.try_clone().at("open the log of", self.program)?;
        let mut command = Command::new(self.program);
        command
            .args(self.arguments)
            .env_clear()
            .envs(self.environment)
            .current_dir(self.directory);
        command.stdin(Stdio::null()).stdout(self.log).stderr(second);
        in_own_session(&mut command, self.umask);
        let child = command.spawn().at("start", self.program)?;
        let pid = i32::try_from(child.id())
            .map_err(io::Error::other)
            .at("start", self.program)?;
        reap(child);
        // Nothing found means that it ended already, which the caller will notice.
        Ok(look_up(pid).map_or(Process { pid, start: 0 }, |found| found.process))
    }
}

/// As long as this program lives, what it started and what has ended is to be waited for.
fn reap(mut child: std::process::Child) {
    std::thread::spawn(move || child.wait());
}

#[allow(unsafe_code)]
fn in_own_session(command: &mut Command, umask: u32) {
    use std::os::unix::process::CommandExt;
    // SAFETY: between fork and exec only setsid and umask are called, and both are async-signal-safe.
    unsafe {
        command.pre_exec(move || {
            libc::umask(umask);
            if libc::setsid() == -1 {
                Err(io::Error::last_os_error())
            } else {
                Ok(())
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(lab: &Path, script: &str) -> Process {
        Apart {
            program: Path::new("/bin/sh"),
            arguments: &["-c".to_owned(), script.to_owned()],
            environment: vec![(MARK, lab.into()), ("PATH", "/usr/bin:/bin".into())],
            directory: lab,
            log: File::create(lab.join("log")).unwrap(),
            umask: 0o077,
        }
        .start()
        .unwrap()
    }

    async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
        for _ in 0..100 {
            if holds() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("not within 5 s: {what}");
    }

    #[tokio::test]
    async fn a_process_is_told_by_its_start_and_ended_with_its_children() {
        let lab = tempfile::tempdir().unwrap();
        // The child's environment is another one: it is found as a descendant.
        let process = apart(
            lab.path(),
            "trap '' TERM; env -i sleep 60 & umask >mask; wait; sleep 60",
        );
        eventually("two marked processes", || marked(lab.path()).len() == 2).await;
        assert!(process.is_alive());
        let other = Process {
            start: process.start + 1,
            ..process
        };
        assert!(!other.is_alive());
        assert!(
            end(&[other], &[other], Duration::from_millis(100))
                .await
                .is_empty()
        );
        assert!(process.is_alive(), "a reused number is not signalled");

        let all = marked(lab.path());
        let left = end(&[process], &all, Duration::from_millis(300)).await;
        assert!(left.is_empty() && !process.is_alive() && marked(lab.path()).is_empty());
        assert_eq!(
            fs::read_to_string(lab.path().join("mask")).unwrap().trim(),
            "0077"
        );
    }

    /// Only root can start a process of another user.
    #[tokio::test]
    async fn a_process_of_another_user_or_program_is_no_engine_whatever_its_command_line() {
        let lab = tempfile::tempdir().unwrap();
        let words = format!("nomad agent -config {}", lab.path().display());
        let script = format!("sleep 60; : {words}");
        let older = apart(lab.path(), &script);
        // Two processes of one tick could not be told apart.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let own = apart(lab.path(), &script);
        let shell = own.executable().unwrap();
        let found = || of_engine(&words, &shell, own);
        eventually("the own process", || found() == [own]).await;
        assert!(older.is_alive(), "it is older than the leader");
        // Somebody looks for the engine.
        let search = apart(lab.path(), &format!("exec perl -e 'sleep 60' '{words}'"));
        eventually("the search", || {
            search.executable().is_some_and(|program| program != shell)
        })
        .await;
        eventually("its command line", || search.command_line().contains(&words)).await;
        assert_eq!(found(), [own]);
        if rustix::process::geteuid().is_root() {
            let script = format!("setpriv --reuid=65534 --clear-groups sh -c 'sleep 60; : {words}'");
            let theirs = apart(lab.path(), &format!("exec {script}"));
            eventually("the other user", || theirs.user() == Some(65_534)).await;
            eventually("its command line", || theirs.command_line().contains(&words)).await;
            assert_eq!(found(), [own]);
            end(&[theirs], &[theirs], Duration::from_secs(5)).await;
        }
        for process in [older, own, search] {
            let all = marked(lab.path());
            end(&[process], &all, Duration::from_secs(5)).await;
        }
    }

    #[tokio::test]
    async fn another_lab_is_not_touched() {
        let (ours, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let process = apart(theirs.path(), "exec sleep 60");
        eventually("the mark", || marked(theirs.path()) == [process]).await;
        assert!(marked(ours.path()).is_empty());
        end(&[process], &[process], Duration::from_secs(5)).await;
        assert!(!process.is_alive());
    }
}
