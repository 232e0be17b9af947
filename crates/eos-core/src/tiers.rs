//! The risk to expect of a component: the control minion computes it from the job, and says beforehand by which lists.
//!
//! `formula/_modules/eos_tiers.py` has the table and decides. This says early what it will say of things that Eos emits.

use crate::kinds;
use crate::kinds::job::PRIVILEGES;
use crate::node::Node;
use crate::recipe::Risk;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The lists of the control minion.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Tiers {
    /// The least risk of each image; one that is not here is of medium risk.
    pub images: BTreeMap<String, Risk>,
    /// Programs of hosts; one that is not here is of high risk.
    pub programs: Vec<Program>,
    /// Directories that volumes may lie in; elsewhere they are of high risk.
    pub volumes_below: Vec<String>,
    /// Further lists, each of which its own kind reads.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// Programs that begin with these words.
#[derive(Clone, Debug, Deserialize)]
pub struct Program {
    pub words: Vec<String>,
    /// The variables that they may have. Without words, any.
    #[serde(default)]
    pub environment: Vec<String>,
    pub tier: Risk,
}

impl Tiers {
    /// The risk of these nodes of one component: their own, raised by what they run and where they lie.
    pub fn risk(&self, nodes: &[Node]) -> Risk {
        let risks = nodes.iter().map(|node| {
            let kind = kinds::of(node.address.kind);
            node.risk
                .max(kind.map_or(Risk::Low, |kind| kind.risk(node, self)))
        });
        risks.max().unwrap_or_default()
    }

    pub(crate) fn of_directory(&self, path: Option<&str>) -> Risk {
        let is_below = |directory: &String| {
            let inside = path.and_then(|path| path.strip_prefix(directory.trim_end_matches('/')));
            inside.is_some_and(|rest| rest.starts_with('/'))
        };
        match self.volumes_below.iter().any(is_below) {
            true => Risk::Low,
            false => Risk::High,
        }
    }

    pub(crate) fn of_job(&self, job: &Node) -> Risk {
        let groups = job.attributes.keys().filter_map(|name| {
            let group = name.strip_suffix(".count")?;
            job.attributes
                .contains_key(&format!("{group}.memory"))
                .then_some(group)
        });
        groups
            .map(|group| self.of_group(job, group))
            .max()
            .unwrap_or_default()
    }

    fn of_group(&self, job: &Node, group: &str) -> Risk {
        let tasks = job.attributes.keys().filter_map(|name| {
            let task = name.strip_prefix(group)?.strip_prefix(".task.")?;
            let (task, _) = task.split_once('.')?;
            Some(format!("{group}.task.{task}"))
        });
        let tasks: BTreeSet<String> = tasks.chain([group.to_owned()]).collect();
        let risks = tasks.iter().map(|task| self.of_task(job, group, task));
        risks.max().unwrap_or_default()
    }

    /// Of one task of a group, whose attributes begin with these words.
    fn of_task(&self, job: &Node, group: &str, task: &str) -> Risk {
        if job.text(&format!("{task}.{PRIVILEGES}")).is_some() {
            return Risk::High;
        }
        if let Some(image) = job.text(&format!("{task}.image")) {
            let started = match job.text(&format!("{task}.entrypoint.0")) {
                Some(_) => Risk::Medium,
                None => Risk::Low,
            };
            return self
                .images
                .get(image)
                .copied()
                .unwrap_or(Risk::Medium)
                .max(started);
        }
        let command = job.text(&format!("{task}.command"));
        let args = (0..).map_while(|index| job.text(&format!("{task}.arg.{index}")));
        let words: Vec<&str> = command.into_iter().chain(args).collect();
        let known = self
            .programs
            .iter()
            .find(|program| program.begins(&words) && program.is_plain(job, group));
        known.map_or(Risk::High, |program| program.tier)
    }
}

impl Program {
    fn begins(&self, words: &[&str]) -> bool {
        words.len() >= self.words.len() && words.iter().zip(&self.words).all(|(word, known)| word == known)
    }

    /// Whether the task has nothing that could make another program of it: a variable, or a file that Nomad renders.
    fn is_plain(&self, job: &Node, group: &str) -> bool {
        self.words.is_empty()
            || job.attributes.keys().all(|name| {
                let of_group = name.strip_prefix(group).and_then(|rest| rest.strip_prefix('.'));
                match of_group.and_then(|rest| rest.split_once('.')) {
                    Some(("file" | "secret", _)) => false,
                    Some(("env", name)) => self.environment.iter().any(|known| known == name),
                    _ => true,
                }
            })
    }
}
