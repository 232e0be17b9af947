//! The report of `eos status`: short, a table a layer, or one component in full.

use crate::views::report::{Message, Page, Report};
use crate::views::text::{
    BOLD, RED, Table, YELLOW, Yield, age, hang, moment, printable, short_operation, width,
};
use eos_engine::operation::Standing;
use eos_engine::status::{ComponentStatus, Instance, LastOperation, Layers, RunOutcome, Status, Trouble};
use jiff::Timestamp;
use std::fmt::Write;

const NO_ENGINES: &str = "no engines: `eos lab up` starts them on this machine; eos.toml can name others";
/// Between what stands side by side on one line.
const GAP: &str = "   ";

/// How much of a status a person wants to see; a program reads all of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// A line a component, one for the layers, one a trouble.
    Short,
    /// A table a layer.
    Layers,
    /// One component, with its instances.
    Component,
}

pub struct StatusReport<'a> {
    pub status: &'a Status,
    pub extent: Extent,
}

impl Report for StatusReport<'_> {
    fn text(&self, page: &mut Page) {
        page.data(status_text(self.status, self.extent, page.data_width));
    }

    fn json(&self) -> Message {
        Message::document("status", self.status)
    }
}

/// Without `columns` nothing is wrapped.
fn status_text(status: &Status, extent: Extent, columns: Option<usize>) -> String {
    let wide = columns.unwrap_or(usize::MAX);
    let now = Timestamp::now();
    let mut text = match extent {
        Extent::Short => components_text(status, columns, now),
        Extent::Layers => String::new(),
        Extent::Component => status
            .components
            .iter()
            .map(|component| component_text(component, status, columns, now))
            .collect(),
    };
    match (&status.layers, extent) {
        (None, _) => {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = write!(text, "{gap}{}", hang("", NO_ENGINES, wide));
        }
        (Some(layers), Extent::Short) => {
            let _ = write!(text, "\n{}", summary_text(layers, wide));
        }
        (Some(layers), Extent::Layers) => text.push_str(&layers_text(layers, columns)),
        (Some(_), Extent::Component) => {}
    }
    let stopped = status.components.iter().filter(|_| extent == Extent::Short);
    for line in stopped.filter_map(|component| stopped_line(component, now)) {
        text.push_str(&hang("- ", &line, wide));
    }
    for trouble in &status.unfinished {
        text.push_str(&trouble_text(trouble, wide));
    }
    let of_components = status.components.iter().filter_map(|one| one.trouble.as_ref());
    let of_layers = status.layers.iter().flat_map(Layers::troubles);
    for trouble in of_components.chain(of_layers) {
        text.push_str(&trouble_text(trouble, wide));
    }
    let failed = status
        .components
        .iter()
        .filter_map(|one| one.runs.as_ref()?.last.as_ref());
    for line in failed.flat_map(|last| last.lines.iter().map(move |line| format!("{}: {line}", last.job))) {
        text.push_str(&hang("  ", &printable(&line), wide));
    }
    text
}

fn trouble_text(trouble: &Trouble, columns: usize) -> String {
    let line = format!(
        "{}: {}: {}",
        trouble.about,
        printable(&trouble.words),
        trouble.look
    );
    let text = match width("! ") + width(&line) <= columns {
        true => hang("! ", &line, columns),
        false => {
            let words = format!("{}: {}", trouble.about, printable(&trouble.words));
            hang("! ", &words, columns) + &hang("  next: ", &trouble.look, columns)
        }
    };
    text.replacen('!', &format!("{RED}!{RED:#}"), 1)
}

/// `salt 3 of 3 minions   nomad 3 nodes`, in as many lines as it takes.
fn summary_text(layers: &Layers, columns: usize) -> String {
    let mut lines = vec![String::new()];
    for (layer, words) in layers.summaries() {
        let part = format!("{layer} {}", printable(words));
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            *line = part;
        } else if width(line) + GAP.len() + width(&part) <= columns {
            let _ = write!(line, "{GAP}{part}");
        } else {
            lines.push(part);
        }
    }
    lines.join("\n") + "\n"
}

fn number(count: Option<u64>) -> String {
    count.map_or("?".to_owned(), |count| count.to_string())
}

fn yes(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}

fn components_text(status: &Status, columns: Option<usize>, now: Timestamp) -> String {
    if status.components.is_empty() {
        return format!("{} has no components\n", status.environment);
    }
    let row = |component: &ComponentStatus| component_row(component, now);
    Table {
        headings: &[
            &status.environment,
            "desired",
            "running",
            "healthy",
            "version",
            "since",
            "where",
            "last operation",
        ],
        right: &[1, 2, 3],
        rows: status.components.iter().map(row).collect(),
    }
    .print_yielding(columns, YIELDS)
}

/// What gives way where there is no room, least important first; `eos status COMPONENT` has it all.
const YIELDS: &[Yield] = &[
    Yield::Drop(6),
    Yield::Drop(2),
    Yield::Drop(5),
    Yield::Drop(4),
    Yield::Drop(7),
    Yield::Drop(1),
    Yield::ShortenMiddle(0, 8),
];

/// In place of the counts of instances, where there can be none.
fn without_job(component: &ComponentStatus) -> &'static str {
    match component.is_well() {
        true => "applied",
        false => "unfinished",
    }
}

/// Whether nothing of it runs because somebody stopped it.
fn is_at_rest(component: &ComponentStatus) -> bool {
    component.stopped.is_some() && component.is_well()
}

/// In place of the counts, of a job that runs to its end: how its last run did.
fn run_word(component: &ComponentStatus) -> &'static str {
    let runs = component.runs.as_ref();
    match runs.and_then(|runs| runs.last.as_ref()).map(|last| last.outcome) {
        Some(RunOutcome::Running) => "running",
        Some(RunOutcome::Failed) => "failed!",
        Some(RunOutcome::Ended) => "ended",
        None if runs.is_some_and(|runs| runs.scheduled) => "waits",
        None => "ended",
    }
}

/// `failed, 2 min ago`.
fn run_words(component: &ComponentStatus, now: Timestamp) -> Option<String> {
    let runs = component.runs.as_ref()?;
    let Some(last) = &runs.last else {
        return Some(match runs.scheduled {
            true => "none yet".to_owned(),
            false => "ended well, and Nomad has forgotten it since".to_owned(),
        });
    };
    let when = last
        .began
        .map_or_else(String::new, |began| format!(", {} ago", age(began, now)));
    Some(format!("{}{when}", last.outcome.words()))
}

/// When somebody stopped it.
fn stopped_when(component: &ComponentStatus) -> Option<Timestamp> {
    component.stopped.as_ref()?.by.as_ref()?.when.parse().ok()
}

/// `by root, 2 min ago`.
fn stopped_words(component: &ComponentStatus, now: Timestamp) -> Option<String> {
    let by = component.stopped.as_ref()?.by.as_ref();
    Some(match (by, stopped_when(component)) {
        (Some(by), Some(when)) => format!("by {}, {} ago", by.who, age(when, now)),
        (Some(by), None) => format!("by {}", by.who),
        (None, _) => "by hand, in the pillar".to_owned(),
    })
}

/// `hello: stopped by root, 2 min ago`.
fn stopped_line(component: &ComponentStatus, now: Timestamp) -> Option<String> {
    let words = stopped_words(component, now).filter(|_| is_at_rest(component))?;
    Some(printable(&format!("{}: stopped {words}", component.component)))
}

fn component_row(component: &ComponentStatus, now: Timestamp) -> Vec<String> {
    let short = component.healthy.is_some() && component.healthy < component.desired;
    let nothing = |word: &str| ["-".to_owned(), "-".to_owned(), format!("{word} ")];
    let counts = match component.runs_nothing {
        true => nothing(without_job(component)),
        false if is_at_rest(component) => nothing("stopped"),
        false if component.runs.is_some() => nothing(run_word(component)),
        false => [
            number(component.desired),
            number(component.running),
            format!("{}{}", number(component.healthy), if short { "!" } else { " " }),
        ],
    };
    let [desired, running, healthy] = counts;
    vec![
        component.component.clone(),
        desired,
        running,
        healthy,
        component.version.clone().unwrap_or_default(),
        component
            .since
            .or_else(|| stopped_when(component).filter(|_| is_at_rest(component)))
            .map_or_else(String::new, |since| age(since, now)),
        Vec::from_iter(component.nodes.iter().map(String::as_str)).join(", "),
        component.operation.as_ref().map_or_else(String::new, last_words),
    ]
}

fn last_words(last: &LastOperation) -> String {
    let outcome = match last.standing {
        Standing::Done => String::new(),
        other => format!(" ({})", other.words()),
    };
    format!("{} {}{outcome}", short_operation(&last.id), last.verb)
}

fn component_text(
    component: &ComponentStatus,
    status: &Status,
    columns: Option<usize>,
    now: Timestamp,
) -> String {
    let wide = columns.unwrap_or(usize::MAX);
    let counts = match component.runs_nothing {
        true => format!("{}; it has no job", without_job(component)),
        false if is_at_rest(component) => "stopped; nothing of it runs".to_owned(),
        false if component.runs.is_some() => run_word(component).trim_end_matches('!').to_owned(),
        false => format!(
            "{} desired, {} running, {} healthy",
            number(component.desired),
            number(component.running),
            number(component.healthy)
        ),
    };
    let summary = format!("{} in {}: {counts}", component.component, status.environment);
    let mut text = String::new();
    for line in hang("", &summary, wide).lines() {
        let _ = writeln!(text, "{BOLD}{line}{BOLD:#}");
    }
    let mut fact = |name: &str, words: Option<String>| {
        if let Some(words) = words {
            text.push_str(&hang(&format!("  {name:<10} "), &printable(&words), wide));
        }
    };
    fact("url", component.url.clone());
    fact("version", component.version.clone());
    fact("stopped", stopped_words(component, now));
    fact("last run", run_words(component, now));
    fact("since", component.since.map(|since| age(since, now)));
    let hosts = || Vec::from_iter(component.nodes.iter().map(String::as_str)).join(", ");
    fact("where", component.runs_nothing.then(hosts));
    fact("workspace", workspace_words(component, status));
    fact(
        "operation",
        component.operation.as_ref().map(|last| {
            format!(
                "{} {}, {} by {}, {}",
                short_operation(&last.id),
                last.words,
                last.standing.words(),
                last.who,
                moment(last.started, now)
            )
        }),
    );
    if component.instances.is_empty() {
        return text;
    }
    let _ = write!(
        text,
        "\n{}",
        instances_table(component, now).print_yielding(columns, INSTANCE_YIELDS)
    );
    let checks = checks_table(component);
    if !checks.rows.is_empty() {
        let _ = write!(text, "\n{}", checks.print_yielding(columns, CHECK_YIELDS));
    }
    for (instance, trouble) in component
        .instances
        .iter()
        .filter_map(|one| Some((one, one.trouble.as_ref()?)))
    {
        let line = format!("instance {}: {}", short(instance), printable(trouble));
        let line = hang("~ ", &line, wide);
        text.push_str(&line.replacen('~', &format!("{YELLOW}~{YELLOW:#}"), 1));
    }
    text
}

fn workspace_words(component: &ComponentStatus, status: &Status) -> Option<String> {
    let name = format!("{}/{}", status.environment, component.component);
    let seen = status.layers.as_ref()?.terraform.seen.as_ref()?;
    let found = seen.workspaces.iter().find(|one| one.workspace == name)?;
    let step = if found.as_applied {
        "as applied"
    } else {
        "not as applied"
    };
    let serial = found
        .serial
        .map_or_else(String::new, |serial| format!(", serial {serial}"));
    let resources = match found.resources {
        1 => "1 resource".to_owned(),
        count => format!("{count} resources"),
    };
    let locked = found
        .locked
        .as_ref()
        .map_or_else(String::new, |words| format!(", {words}"));
    Some(format!("{step}{serial}, {resources}{locked}"))
}

fn short(instance: &Instance) -> &str {
    instance.allocation.get(..8).unwrap_or(&instance.allocation)
}

fn instances_table(component: &ComponentStatus, now: Timestamp) -> Table<'static> {
    let healthy = |instance: &Instance| instance.healthy.map_or("?".to_owned(), yes);
    let row = |instance: &Instance| {
        vec![
            short(instance).to_owned(),
            instance.service.clone(),
            instance.node.clone(),
            instance.status.clone(),
            healthy(instance),
            instance.since.map_or_else(String::new, |since| age(since, now)),
            instance.restarts.to_string(),
            instance.job_version.to_string(),
        ]
    };
    Table {
        headings: &[
            "instance",
            "service",
            "where",
            "status",
            "healthy",
            "since",
            "restarts",
            "job version",
        ],
        right: &[6, 7],
        rows: component.instances.iter().map(row).collect(),
    }
}

/// What gives way in the tables of one component.
const INSTANCE_YIELDS: &[Yield] = &[
    Yield::Drop(7),
    Yield::Drop(6),
    Yield::Drop(2),
    Yield::Drop(5),
    Yield::ShortenMiddle(1, 8),
];
const CHECK_YIELDS: &[Yield] = &[
    Yield::Drop(1),
    Yield::Shorten(4, 12),
    Yield::ShortenMiddle(0, 12),
    Yield::Drop(4),
];

/// The name of a check, unless it is the one that Nomad makes of the name of the service.
fn own_name<'n>(check: &'n str, service: &str) -> &'n str {
    match check == format!("service: \"{service}\" check") {
        true => "",
        false => check,
    }
}

fn checks_table(component: &ComponentStatus) -> Table<'static> {
    let rows = component.instances.iter().flat_map(|instance| {
        instance.checks.iter().map(|check| {
            vec![
                check.service.clone(),
                own_name(&check.name, &check.service).to_owned(),
                short(instance).to_owned(),
                check.status.to_owned(),
                printable(&check.words),
            ]
        })
    });
    Table {
        headings: &["service", "check", "instance", "status", "answer"],
        right: &[],
        rows: rows.collect(),
    }
}

fn layers_text(layers: &Layers, columns: Option<usize>) -> String {
    let mut parts = Vec::new();
    let mut part = |name: &str, words: &str, tables: Vec<Table<'_>>| {
        let mut text = String::new();
        for line in hang(
            "",
            &format!("{name}: {}", printable(words)),
            columns.unwrap_or(usize::MAX),
        )
        .lines()
        {
            let _ = writeln!(text, "{BOLD}{line}{BOLD:#}");
        }
        let tables = tables.iter().filter(|table| !table.rows.is_empty());
        let printed: Vec<String> = tables.map(|table| table.print(columns)).collect();
        text.push_str(&printed.join("\n"));
        parts.push(text);
    };
    let text = |words: &Option<String>| words.clone().unwrap_or_default();
    part(
        "salt",
        &layers.salt.words,
        layers
            .salt
            .seen
            .iter()
            .map(|seen| Table {
                headings: &["minion", "answers", "salt", "release"],
                right: &[],
                rows: seen
                    .minions
                    .iter()
                    .map(|one| {
                        let release = one.release.as_deref().and_then(|release| release.get(..12));
                        vec![
                            one.minion.clone(),
                            yes(one.answers),
                            text(&one.version),
                            release.unwrap_or_default().to_owned(),
                        ]
                    })
                    .collect(),
            })
            .collect(),
    );
    part(
        "terraform",
        &layers.terraform.words,
        layers
            .terraform
            .seen
            .iter()
            .map(|seen| Table {
                headings: &["workspace", "as applied", "serial", "resources", "locked"],
                right: &[2, 3],
                rows: seen
                    .workspaces
                    .iter()
                    .map(|one| {
                        vec![
                            one.workspace.clone(),
                            yes(one.as_applied),
                            number(one.serial),
                            one.resources.to_string(),
                            text(&one.locked),
                        ]
                    })
                    .collect(),
            })
            .collect(),
    );
    let mut nomad = Vec::new();
    if let Some(seen) = &layers.nomad.seen {
        nomad.push(Table {
            headings: &[
                "node",
                "status",
                "placed on",
                "instances",
                "address",
                "nomad",
                "drivers",
            ],
            right: &[3],
            rows: seen
                .nodes
                .iter()
                .map(|one| {
                    vec![
                        one.node.clone(),
                        one.status.clone(),
                        yes(one.eligible),
                        one.running.to_string(),
                        one.address.clone(),
                        one.version.clone(),
                        one.drivers.join(", "),
                    ]
                })
                .collect(),
        });
        nomad.push(Table {
            headings: &["job", "type", "status", "desired", "running", "version"],
            right: &[3, 4, 5],
            rows: seen
                .jobs
                .iter()
                .map(|one| {
                    vec![
                        one.job.clone(),
                        one.kind.clone(),
                        one.status.clone(),
                        one.desired.to_string(),
                        one.running.to_string(),
                        one.version.to_string(),
                    ]
                })
                .collect(),
        });
    }
    part("nomad", &layers.nomad.words, nomad);
    if let Some(consul) = &layers.consul {
        let mut tables = Vec::new();
        if let Some(seen) = &consul.seen {
            tables.push(Table {
                headings: &["server", "consul", "leads", "healthy"],
                right: &[],
                rows: seen
                    .servers
                    .iter()
                    .map(|one| {
                        vec![
                            one.server.clone(),
                            one.version.clone(),
                            yes(one.leads),
                            yes(one.healthy),
                        ]
                    })
                    .collect(),
            });
            tables.push(Table {
                headings: &["service", "checks", "passing"],
                right: &[1, 2],
                rows: seen
                    .services
                    .iter()
                    .map(|one| {
                        vec![
                            one.service.clone(),
                            one.checks.to_string(),
                            one.passing.to_string(),
                        ]
                    })
                    .collect(),
            });
        }
        part("consul", &consul.words, tables);
    }
    if let Some(vault) = &layers.vault {
        let table = |seen: &eos_engine::status::VaultSeen| Table {
            headings: &["vault", "initialised", "sealed", "standby", "store"],
            right: &[],
            rows: vec![vec![
                seen.version.clone(),
                yes(seen.initialised),
                yes(seen.sealed),
                yes(seen.standby),
                text(&seen.store),
            ]],
        };
        part("vault", &vault.words, vault.seen.iter().map(table).collect());
    }
    parts.join("\n")
}
