//! Tasks of a service: what runs to its end before the service starts, or once it started.

use super::read::{check_variable, find_run};
use super::{Container, Run};
use crate::diagnostic::Position;
use crate::name::quoted;
use crate::option::{CPU, MEMORY};
use crate::read::{Reader, find};
use crate::template::Template;
use crate::yaml::Entry;

/// It has the files, variables, secrets and volumes of its service.
#[derive(Clone, Debug)]
pub struct Task {
    pub name: String,
    pub moment: Moment,
    /// What it runs, if not the image of its service.
    pub run: Option<Run>,
    /// Arguments for the image of its service.
    pub args: Vec<Template>,
    pub container: Container,
    /// Of its own; that of the service otherwise.
    pub cpu: Option<u32>,
    pub memory: Option<u32>,
    pub at: Position,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The service starts once it ended well.
    Before,
    /// It starts once the service did.
    After,
}

impl Moment {
    pub fn word(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

/// An entry of `tasks` of a service: `migrate: {runs: before, args: [migrate]}`.
pub(super) fn read(reader: &mut Reader<'_>, entry: &Entry) -> Option<Task> {
    const KEYS: &[&str] = &[
        "runs",
        "image",
        "args",
        "program",
        "entrypoint",
        "user",
        "cpu",
        "memory",
    ];
    let (name, at) = (&entry.key, entry.key_at);
    check_variable(reader, "task", entry);
    let what = format!("task {}", quoted(name));
    let fields = reader.record(&what, &entry.value, KEYS);
    let moment = match find(fields, "runs").map(|node| (node.as_str(), node.at)) {
        Some((Some("before"), _)) => Moment::Before,
        Some((Some("after"), _)) => Moment::After,
        said => {
            let words = format!("{what} does not say when it runs");
            let hint = "Add runs: before or runs: after, for the start of its service";
            reader.report_with_hint(said.map_or(at, |(_, at)| at), words, hint);
            return None;
        }
    };
    let mut figure = |key: &str, bounds: std::ops::RangeInclusive<u32>| {
        let node = find(fields, key)?;
        let value = reader.whole_number(key, node, (*bounds.start()).into(), (*bounds.end()).into())?;
        u32::try_from(value).ok()
    };
    let (cpu, memory) = (figure("cpu", CPU), figure("memory", MEMORY));
    let (run, args) = find_run(reader, fields, at, &what)?;
    Some(Task {
        name: name.clone(),
        moment,
        run,
        args,
        container: Container::read(reader, fields),
        cpu,
        memory,
        at,
    })
}
