//! The reports of `eos lab`: the lab itself, its engines, an image, and lines of an engine's log.

use crate::views::report::{Message, Page, Report, value};
use crate::views::text::{Table, age, duration, hang, printable};
use eos_core::option::human_size;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a verb of the lab left behind.
#[derive(Serialize)]
pub struct LabReport {
    pub directory: PathBuf,
    pub condition: LabCondition,
    pub engines: Vec<eos_lab::EngineStatus>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<eos_lab::LabNode>,
    /// Commands that a person would give next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub containers: Option<eos_lab::ContainersStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_elsewhere: Option<Tunnel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// How another machine reaches a component of the lab.
#[derive(Serialize)]
pub struct Tunnel {
    pub command: String,
    pub url: String,
    pub component: String,
}

#[derive(Clone, Copy, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum LabCondition {
    Up,
    /// Some of it runs, or does not do what it is there for.
    Partial,
    Down,
    /// There is none.
    Absent,
}

impl Report for LabReport {
    fn text(&self, page: &mut Page) {
        let mut text = lab_text(self, page.data_width);
        if let Some(containers) = &self.containers {
            text.push_str(&containers_text(containers, page.data_width));
        }
        page.data(text);
        if let Some(tunnel) = &self.from_elsewhere {
            let Tunnel {
                command,
                url,
                component,
            } = tunnel;
            page.data(format!(
                "\nfrom another machine, {component} at {url}:\n  {command}\n"
            ));
        }
        let took = self.seconds.map_or_else(String::new, |seconds| {
            format!(" in {}", duration(Duration::from_secs_f64(seconds)))
        });
        let shared: Vec<&str> = self
            .nodes
            .iter()
            .filter(|node| !node.is_apart)
            .map(|node| node.name.as_str())
            .collect();
        if !shared.is_empty() {
            page.say(&format!(
                "{} share the address and the fixed ports of this machine: only root can give them their own",
                shared.join(", ")
            ));
        }
        page.say(&match self.condition {
            LabCondition::Up if !self.next.is_empty() => format!("the lab is up{took}   next:"),
            LabCondition::Up => format!("the lab is up{took}   next: eos create hello"),
            LabCondition::Partial => "parts of the lab are down   next: eos lab up".to_owned(),
            LabCondition::Down => format!("the lab is down{took}   next: eos lab up"),
            LabCondition::Absent => "there is no lab   next: eos lab up".to_owned(),
        });
        // Whole, since they are there to be copied.
        for command in &self.next {
            page.talk(format!("  {command}\n"));
        }
    }

    fn json(&self) -> Message {
        Message::document("lab", self)
    }
}

fn lab_text(lab: &LabReport, columns: Option<usize>) -> String {
    if lab.engines.is_empty() {
        return String::new();
    }
    let now = Timestamp::now();
    let row = |engine: &eos_lab::EngineStatus| {
        let since = engine
            .since
            .and_then(|since| Timestamp::from_second(since as i64).ok());
        let condition = match (engine.ready, engine.pid) {
            (true, _) => "ready",
            (false, Some(_)) => "not ready",
            (false, None) => "stopped",
        };
        vec![
            engine.name.clone(),
            engine.version.clone(),
            condition.to_owned(),
            since.map_or_else(String::new, |since| age(since, now)),
            if engine.memory == 0 {
                String::new()
            } else {
                human_size(engine.memory >> 20 << 20)
            },
            engine.address.clone().unwrap_or_default(),
        ]
    };
    Table {
        headings: &["engine", "version", "condition", "since", "memory", "address"],
        right: &[4],
        rows: lab.engines.iter().map(row).collect(),
    }
    .print(columns)
}

/// Which Docker there is, then a line an image.
fn containers_text(containers: &eos_lab::ContainersStatus, columns: Option<usize>) -> String {
    let row = |image: &eos_lab::ImageStatus| {
        let size = image.bytes.map(|bytes| human_size(bytes >> 20 << 20));
        vec![image.name.clone(), size.unwrap_or_default(), image.holds.clone()]
    };
    let mut text = format!("\ncontainers: {}\n", containers.docker);
    if !containers.images.is_empty() {
        let table = Table {
            headings: &["image", "size", "holds"],
            right: &[1],
            rows: containers.images.iter().map(row).collect(),
        };
        text.push_str(&table.print(columns));
    }
    text
}

impl Report for eos_lab::Engines {
    fn text(&self, page: &mut Page) {
        let row = |name: &str, version: &str, path: &Path| {
            vec![name.to_owned(), version.to_owned(), path.display().to_string()]
        };
        let all = [
            ("salt", Some(&self.salt)),
            ("terraform", Some(&self.terraform)),
            ("nomad", Some(&self.nomad)),
            ("consul", self.consul.as_ref()),
        ];
        let mut rows: Vec<_> = all
            .into_iter()
            .filter_map(|(name, engine)| engine.map(|engine| row(name, &engine.version, &engine.path)))
            .collect();
        if let Some(vault) = &self.vault {
            rows.push(row("vault", &vault.version, &vault.path));
        }
        let table = Table {
            headings: &["engine", "version", "path"],
            right: &[],
            rows,
        };
        page.data(table.print(page.data_width));
        page.talk("all engines are installed   next: eos lab up\n");
    }

    fn json(&self) -> Message {
        let eos_lab::Engines {
            salt,
            terraform,
            nomad,
            consul,
            vault,
            envoy,
        } = self;
        // Of Salt it is the environment that counts, not the directory of its programs.
        let salt_place = salt.path.parent().unwrap_or(&salt.path);
        let mut places = json!({"salt": salt_place, "terraform": terraform.path, "nomad": nomad.path});
        let mut versions =
            json!({"salt": salt.version, "terraform": terraform.version, "nomad": nomad.version});
        if let Some(consul) = consul {
            places["consul"] = value(&consul.path);
            versions["consul"] = value(&consul.version);
        }
        if let Some(vault) = vault {
            places["vault"] = value(&vault.path);
            places["vault_plugins"] = value(&vault.plugins);
            versions["vault"] = value(&vault.version);
        }
        if let Some(envoy) = envoy {
            places["envoy"] = value(&envoy.path);
            versions["envoy"] = value(&envoy.version);
        }
        Message::Document("engines", json!({"engines": places, "versions": versions}))
    }
}

impl Report for eos_lab::PackedImage {
    fn text(&self, page: &mut Page) {
        let place = match self.stored {
            "registry" => "in the lab's registry",
            _ => "in Docker",
        };
        let line = format!(
            "{}: {} files, {}, {place}; runs {}",
            self.name,
            self.files,
            human_size(self.bytes >> 20 << 20),
            self.runs.join(" ")
        );
        page.data(hang("", &line, page.columns()));
    }

    fn json(&self) -> Message {
        Message::document("lab_image", self)
    }
}

/// One line of an engine's log, as it comes.
pub struct LogLine<'a> {
    pub engine: &'a str,
    pub line: &'a str,
}

impl Report for LogLine<'_> {
    fn text(&self, page: &mut Page) {
        let text = match page.is_terminal {
            true => printable(self.line),
            false => self.line.to_owned(),
        };
        page.data(format!("{text}\n"));
    }

    fn json(&self) -> Message {
        Message::Event("line", json!({"engine": self.engine, "text": self.line}))
    }
}
