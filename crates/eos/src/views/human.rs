//! What a person reads: data on standard output, talk (plans, progress, errors) on standard error.

use super::discover_text::{discovered_text, next_words};
use super::doctor_text::{findings_text, outcome_words};
use super::drift_text::{self, drift_text};
use super::expand_text::{self, decisions_text};
use super::governance_text::{
    approved_words, audit_fits_text, audit_table, dismissed_words, home_next, home_text, move_home_text,
};
use super::graph_text::{extent, graph_text};
use super::lab_progress::LabProgress;
use super::operation_text::operation_text;
use super::plan_text::{BOLD, GREEN, RED, YELLOW, plan_text, subject, value_words};
use super::recipe_text::{recipe_text, recipes_text};
use super::reports::*;
use super::status_text::status_text;
use super::storage_text::{self, storage_text};
use super::text::{Table, age, duration, hang, moment, pad, pad_left, printable, short_operation, width};
use super::why_text::why_text;
use super::{Out, Purpose, View};
use crate::problem::{Exit, Problem};
use crate::terminal::{data_width, talk_width};
use anstream::{AutoStream, ColorChoice};
use eos_core::catalog::Catalog;
use eos_core::diagnostic::{Diagnostic, Place};
use eos_core::drift::Drift;
use eos_core::graph::Graph;
use eos_core::option::human_size;
use eos_core::plan::{Plan, Step};
use eos_core::recipe::Recipe;
use eos_core::storage::HostStorage;
use eos_core::storage::expand::Decision;
use eos_core::why::Answer;
use eos_core::yaml;
use eos_engine::audit;
use eos_engine::diagnose::LogLines;
use eos_engine::doctor::Finding;
use eos_engine::operation::{Dismissed, Finished, Watch, is_resumable};
use eos_engine::status::Status;
use eos_engine::storage::EstateStorage;
use eos_engine::store::{Entry, Operation, Outcome};
use eos_lab::Progress;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

const TICK: Duration = Duration::from_millis(120);
/// Lines of steps are not drawn out over a wide terminal.
const STEP_WIDTH: usize = 100;
/// Titles of steps are at most this wide: `terraform`.
const TITLE: usize = 9;

pub struct Human {
    color: ColorChoice,
    out: Out,
    total: usize,
    /// The steps under way, on a terminal; what is waited for is number 0.
    live: BTreeMap<usize, ProgressBar>,
    bars: MultiProgress,
}

impl Human {
    pub fn new(color: ColorChoice) -> Self {
        Self {
            color,
            out: Out::default(),
            total: 0,
            live: BTreeMap::new(),
            bars: MultiProgress::with_draw_target(ProgressDrawTarget::stderr()),
        }
    }

    fn data(&mut self, text: &str) {
        self.out
            .write(&mut AutoStream::new(io::stdout(), self.color), text);
    }

    fn talk(&mut self, text: &str) {
        let color = self.color;
        // Talk that nobody hears is no reason to stop.
        self.bars.suspend(|| {
            let _ = AutoStream::new(io::stderr(), color).write_all(text.as_bytes());
        });
    }

    /// Talk that hangs from its first word, in colour.
    fn say(&mut self, word: &str, style: anstyle::Style, text: &str) {
        let lines = hang(&format!("{word} "), &printable(text), talk_width());
        self.talk(&lines.replacen(word, &format!("{style}{word}{style:#}"), 1));
    }

    fn steps_prefix(&self, number: usize, step: &Step) -> String {
        let digits = self.total.to_string().len();
        format!(
            "  {number:>digits$}/{} {}  ",
            self.total,
            pad(step.work.title(), TITLE)
        )
    }

    fn end_live(&mut self, number: usize) {
        if let Some(bar) = self.live.remove(&number) {
            bar.finish_and_clear();
        }
    }

    fn end_all_live(&mut self) {
        for bar in std::mem::take(&mut self.live).into_values() {
            bar.finish_and_clear();
        }
    }

    fn begin_live(&mut self, number: usize, prefix: String, message: String) {
        let style = ProgressStyle::with_template("{prefix}{wide_msg} {elapsed:>8}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = ProgressBar::new_spinner()
            .with_style(style)
            .with_prefix(prefix)
            .with_message(message);
        let bar = self.bars.add(bar);
        bar.enable_steady_tick(TICK);
        self.live.insert(number, bar);
    }

    fn outputs(&mut self, outputs: &[(String, String)]) {
        let names = outputs.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
        for (name, value) in outputs {
            self.data(&format!("{}  {}\n", pad(name, names), printable(value)));
        }
    }
}

impl Watch for Human {
    fn begin(&mut self, _operation: &str, total: usize) {
        self.end_live(0);
        self.total = total;
    }

    fn waiting(&mut self, message: &str) {
        let message = printable(message).replace('\n', " ");
        if !io::stderr().is_terminal() {
            let text = hang("waiting: ", &message, talk_width());
            return self.talk(&text);
        }
        match self.live.get(&0) {
            Some(bar) => bar.set_message(message),
            None => self.begin_live(0, "  waiting  ".to_owned(), message),
        }
    }

    fn step(&mut self, number: usize, step: &Step) {
        if io::stderr().is_terminal() {
            let prefix = self.steps_prefix(number, step);
            self.begin_live(number, prefix, step.component.clone());
        }
    }

    fn progress(&mut self, number: usize, message: &str) {
        // Elsewhere one line a step is enough.
        if let Some(bar) = self.live.get(&number) {
            bar.set_message(printable(message).replace('\n', " "));
        }
    }

    fn turn_back(&mut self, why: &str, total: usize) {
        self.end_all_live();
        self.total = total;
        let text = hang("  ", &printable(why), talk_width());
        self.talk(&text);
    }

    fn done(&mut self, number: usize, step: &Step, effect: &str, took: Duration) {
        self.end_live(number);
        let columns = talk_width().min(STEP_WIDTH);
        let prefix = self.steps_prefix(number, step);
        let time = format!(" {}", pad_left(&duration(took), 7));
        let room = columns.saturating_sub(width(&prefix) + width(&time));
        let effect = printable(effect).replace('\n', " ");
        let line = match width(&effect) <= room {
            true => format!("{prefix}{}{time}\n", pad(&effect, room)),
            false => hang(&prefix, &format!("{effect}  {}", duration(took)), columns),
        };
        self.talk(&line);
    }
}

impl View for Human {
    fn text(&mut self, text: &str) {
        self.data(text);
    }

    fn plan(&mut self, plan: &Plan, purpose: Purpose) {
        match purpose {
            Purpose::Answer => {
                let text = plan_text(plan, data_width().unwrap_or(usize::MAX));
                self.data(&text);
            }
            Purpose::Confirm => {
                let text = plan_text(plan, talk_width());
                self.talk(&text);
            }
        }
    }

    fn nothing_to_do(&mut self, plan: &Plan) {
        let text = hang("", &format!("{}: nothing to do", subject(plan)), talk_width());
        self.talk(&text);
    }

    fn finished(&mut self, finished: &Finished) {
        self.end_all_live();
        let took = duration(finished.took);
        let id = short_operation(&finished.operation);
        let (word, line) = match finished.taken_back {
            None => (
                "done",
                format!("done in {took}   operation {id}   undo: eos undo {id}"),
            ),
            Some(_) => ("rolled back", format!("rolled back in {took}   operation {id}")),
        };
        let lines = hang("", &line, talk_width());
        self.talk(&lines.replacen(word, &format!("{GREEN}{word}{GREEN:#}"), 1));
        if !finished.outputs.is_empty() {
            self.talk("\n");
            self.outputs(&finished.outputs);
        }
    }

    fn made_estate(&mut self, made: &MadeEstate) {
        self.data(&format!("{}\n", made.root.display()));
        let columns = talk_width();
        let mut text = hang(
            "",
            &format!("Created an estate with environment {} in git:", made.environment),
            columns,
        );
        for file in &made.files {
            text.push_str(&hang("  + ", file, columns));
        }
        let to = crate::options::shell_word(&made.root.display().to_string());
        text.push_str(&hang(
            "",
            &format!("next: cd {to} && eos lab up && eos create hello"),
            columns,
        ));
        self.talk(&text);
    }

    fn logged_in(&mut self, login: &Login) {
        let line = format!(
            "Logged in to {} as {} until {}; the token is in {}",
            login.url,
            login.user,
            moment(login.expires, Timestamp::now()),
            login.token_file.display()
        );
        let text = hang("", &line, talk_width());
        self.talk(&text);
    }

    fn components(&mut self, environment: &str, rows: &[ComponentRow]) {
        if rows.is_empty() {
            let line =
                format!("{environment} has no components yet; `eos catalog list` shows what can be created");
            let text = hang("", &line, talk_width());
            return self.talk(&text);
        }
        let row = |row: &ComponentRow| {
            vec![
                row.component.clone(),
                row.recipe.clone(),
                row.version.clone().unwrap_or_default(),
                row.applied.words().to_owned(),
                row.operation
                    .as_deref()
                    .map_or_else(String::new, |id| short_operation(id).to_owned()),
            ]
        };
        let table = Table {
            headings: &[environment, "recipe", "version", "applied", "last operation"],
            right: &[],
            rows: rows.iter().map(row).collect(),
        };
        self.data(&table.print(data_width()));
    }

    fn hosts(&mut self, rows: &[HostRow]) {
        let row = |row: &HostRow| {
            vec![
                row.host.clone(),
                row.address.clone(),
                row.datacenter.clone(),
                row.roles.join(", "),
                row.volume_group.clone().unwrap_or_default(),
                row.devices.join(", "),
            ]
        };
        let table = Table {
            headings: &[
                "host",
                "address",
                "datacenter",
                "roles",
                "volume group",
                "devices",
            ],
            right: &[],
            rows: rows.iter().map(row).collect(),
        };
        self.data(&table.print(data_width()));
    }

    fn discovered(&mut self, discovered: &Discovered) {
        let text = discovered_text(discovered, data_width().unwrap_or(usize::MAX));
        self.data(&text);
        if let Some(next) = next_words(discovered) {
            self.talk(&hang("", &next, talk_width()));
        }
    }

    fn component(&mut self, component: &ComponentReport) {
        let text = component_text(component);
        self.data(&text);
    }

    fn revealed(&mut self, secret: &Revealed<'_>) {
        // To the byte, whatever it is: it may be piped into a program.
        self.out
            .write(&mut io::stdout(), &format!("{}\n", secret.revealed));
    }

    fn history(&mut self, operations: &[Operation]) {
        if operations.is_empty() {
            return self.talk("No operation has run yet\n");
        }
        let now = Timestamp::now();
        let row = |operation: &Operation| {
            vec![
                short_operation(&operation.id).to_owned(),
                moment(operation.started, now),
                operation.who.clone(),
                printable(operation.words.strip_prefix("eos ").unwrap_or(&operation.words)),
                operation.outcome.shown().to_owned(),
            ]
        };
        let table = Table {
            headings: &["operation", "when", "who", "what", "outcome"],
            right: &[],
            rows: operations.iter().map(row).collect(),
        };
        self.data(&table.print(data_width()));
        if let Some(stopped) = operations
            .iter()
            .find(|operation| is_resumable(operation.outcome))
        {
            let text = hang("", &next_of(stopped), talk_width());
            self.talk(&text);
        }
    }

    fn operation(&mut self, operation: &Operation, journal: &[Entry]) {
        let text = operation_text(operation, journal);
        self.data(&text);
    }

    fn audit(&mut self, entries: &[audit::Entry]) {
        if entries.is_empty() {
            return self.talk("The audit has no entry yet\n");
        }
        self.data(&audit_table(entries).print(data_width()));
    }

    fn audit_fits(&mut self, verdict: &audit::Verdict) {
        self.data(&audit_fits_text(verdict, data_width().unwrap_or(usize::MAX)));
    }

    fn home(&mut self, home: &HomeReport) {
        self.data(&home_text(home, data_width().unwrap_or(usize::MAX)));
        let text = hang("", home_next(home), talk_width());
        self.talk(&text);
    }

    fn move_home(&mut self, home: &HomeReport) {
        let text = move_home_text(home, talk_width());
        self.talk(&text);
    }

    fn approved(&mut self, approved: &Approved) {
        let text = hang("", &approved_words(approved), talk_width());
        self.talk(&text);
    }

    fn dismissed(&mut self, dismissed: &Dismissed) {
        let text = hang("", &dismissed_words(dismissed), talk_width());
        self.talk(&text);
    }

    fn status(&mut self, status: &Status, extent: Extent) {
        let text = status_text(status, extent, data_width());
        self.data(&text);
    }

    fn storage(&mut self, storage: &EstateStorage) {
        self.data(&storage_text(storage, data_width(), Timestamp::now()));
        if let Some(next) = storage_text::next_words(storage) {
            self.talk(&hang("", &next, talk_width()));
        }
    }

    fn snapshots(&mut self, of: &HostStorage) {
        match of.volumes.iter().any(|volume| !volume.snapshots.is_empty()) {
            true => self.data(&storage_text::snapshots_text(of, data_width(), Timestamp::now())),
            false => self.talk("no snapshots\n"),
        }
    }

    fn decisions(&mut self, decisions: &[Decision], purpose: Purpose) {
        match purpose {
            Purpose::Answer => {
                self.data(&decisions_text(decisions, data_width().unwrap_or(usize::MAX)));
                if let Some(next) = expand_text::next_words(decisions) {
                    self.talk(&hang("", next, talk_width()));
                }
            }
            Purpose::Confirm => self.talk(&decisions_text(decisions, talk_width())),
        }
    }

    fn doctor(&mut self, findings: &[Finding]) {
        let text = findings_text(findings, data_width().unwrap_or(usize::MAX));
        self.data(&text);
        let text = hang("", &outcome_words(findings), talk_width());
        self.talk(&text);
    }

    fn drift(&mut self, drift: &Drift, all: bool) {
        let columns = data_width().unwrap_or(usize::MAX);
        self.data(&drift_text(drift, all, columns, Timestamp::now()));
        if let Some(next) = drift_text::next_words(drift) {
            self.talk(&hang("", &next, talk_width()));
        }
    }

    fn files_to_write(&mut self, files: &[String]) {
        let count = counted(files.len(), "generated file", "generated files");
        let words = format!("Eos writes {count} again: {}", files.join(", "));
        self.talk(&hang("", &words, talk_width()));
    }

    fn files_written(&mut self, files: &[String]) {
        let words = format!("{} written", counted(files.len(), "file", "files"));
        self.talk(&hang("", &words, talk_width()));
    }

    fn logs(&mut self, logs: &[LogText]) {
        let several = logs.len() > 1;
        for log in logs {
            if several {
                let of = log.allocation.get(..8).unwrap_or(&log.allocation);
                let status = match log.status.as_str() {
                    "running" => String::new(),
                    ended => format!(" ({ended})"),
                };
                self.talk(&format!(
                    "{BOLD}{} {} on {}, allocation {of}{status}{BOLD:#}\n",
                    log.task, log.stream, log.node
                ));
            }
            let end = if log.text.is_empty() || log.text.ends_with('\n') {
                ""
            } else {
                "\n"
            };
            let text = if io::stdout().is_terminal() {
                printable(&log.text)
            } else {
                log.text.clone()
            };
            self.data(&format!("{text}{end}"));
        }
    }

    fn recipes(&mut self, catalog: &Catalog) {
        let text = recipes_text(catalog, data_width().unwrap_or(usize::MAX));
        self.data(&text);
        let text = hang(
            "",
            "next: eos catalog show RECIPE, eos create RECIPE",
            talk_width(),
        );
        self.talk(&text);
    }

    fn recipe(&mut self, recipe: &Recipe) {
        let text = recipe_text(recipe, data_width().unwrap_or(usize::MAX));
        self.data(&text);
    }

    fn linted(&mut self, linted: &Linted) {
        for warning in &linted.warnings {
            self.warn(warning);
        }
        let of = |file: &String| {
            let concerns = |at: &Place| at.file == *file;
            let concerning = |warning: &&Diagnostic| warning.at.as_ref().is_some_and(concerns);
            match linted.warnings.iter().filter(concerning).count() {
                0 => format!("{file}  sound\n"),
                count => format!("{file}  sound, {}\n", counted(count, "warning", "warnings")),
            }
        };
        let text: String = linted.files.iter().map(of).collect();
        self.data(&text);
    }

    fn made_recipe(&mut self, made: &MadeRecipe) {
        let text: String = made.files.iter().map(|file| format!("{file}\n")).collect();
        self.data(&text);
        let next = format!(
            "next: eos create {} --plan, then edit it and eos catalog lint",
            made.recipe
        );
        self.talk(&hang("", &next, talk_width()));
    }

    fn compiled(&mut self, compiled: &Compiled) {
        let columns = talk_width();
        let glyph = if compiled.check { "  ~ " } else { "  " };
        for file in &compiled.differing {
            self.data(&format!("{glyph}{file}\n"));
        }
        let components = counted(compiled.components, "component", "components");
        let files = counted(compiled.files, "file", "files");
        let changed = match (compiled.differing.len(), compiled.check) {
            (0, _) => "all up to date".to_owned(),
            (count, true) => format!("{count} would change: eos compile"),
            (count, false) => format!("{count} written"),
        };
        let release = compiled.release.get(..12).unwrap_or(&compiled.release);
        let text = hang(
            "",
            &format!("{components} in {files}, {changed}   release {release}"),
            columns,
        );
        self.talk(&text);
    }

    fn graph(&mut self, graph: &Graph) {
        if graph.nodes.is_empty() {
            let line = "There is no component here yet; `eos catalog list` shows what can be created";
            let text = hang("", line, talk_width());
            return self.talk(&text);
        }
        let text = graph_text(graph, data_width().unwrap_or(usize::MAX));
        self.data(&text);
    }

    fn terraform_graph(&mut self, _environment: &str, _component: &str, dot: &str) {
        self.data(&printable(dot));
    }

    fn terraform_graph_written(&mut self, environment: &str, component: &str, file: &Path) {
        let line = format!(
            "Terraform's graph of {environment}/{component}, written to {}",
            file.display()
        );
        let text = hang("", &line, talk_width());
        self.talk(&text);
    }

    fn graph_written(&mut self, graph: &Graph, file: &Path) {
        let line = format!("{}, written to {}", extent(graph), file.display());
        let text = hang("", &line, talk_width());
        self.talk(&text);
    }

    fn why(&mut self, answer: &Answer) {
        let text = why_text(answer, data_width().unwrap_or(usize::MAX));
        self.data(&text);
    }

    fn lab(&mut self, lab: &LabReport) {
        let mut text = lab_text(lab);
        if let Some(containers) = &lab.containers {
            text.push_str(&containers_text(containers));
        }
        self.data(&text);
        let took = lab.seconds.map_or_else(String::new, |seconds| {
            format!(" in {}", duration(Duration::from_secs_f64(seconds)))
        });
        let shared: Vec<&str> = lab
            .nodes
            .iter()
            .filter(|node| !node.is_apart)
            .map(|node| node.name.as_str())
            .collect();
        if !shared.is_empty() {
            let line = format!(
                "{} share the address and the fixed ports of this machine: only root can give them their own",
                shared.join(", ")
            );
            self.talk(&hang("", &line, talk_width()));
        }
        let line = match lab.condition {
            LabCondition::Up if !lab.next.is_empty() => format!("the lab is up{took}   next:"),
            LabCondition::Up => format!("the lab is up{took}   next: eos create hello"),
            LabCondition::Partial => "parts of the lab are down   next: eos lab up".to_owned(),
            LabCondition::Down => format!("the lab is down{took}   next: eos lab up"),
            LabCondition::Absent => "there is no lab   next: eos lab up".to_owned(),
        };
        let text = hang("", &line, talk_width());
        self.talk(&text);
        // Whole, since they are there to be copied.
        for command in &lab.next {
            self.talk(&format!("  {command}\n"));
        }
    }

    fn lab_engines(&mut self, engines: &eos_lab::Engines) {
        let row = |name: &str, version: &str, path: &Path| {
            vec![name.to_owned(), version.to_owned(), path.display().to_string()]
        };
        let all = [
            ("salt", Some(&engines.salt)),
            ("terraform", Some(&engines.terraform)),
            ("nomad", Some(&engines.nomad)),
            ("consul", engines.consul.as_ref()),
        ];
        let mut rows: Vec<_> = all
            .into_iter()
            .filter_map(|(name, engine)| engine.map(|engine| row(name, &engine.version, &engine.path)))
            .collect();
        if let Some(vault) = &engines.vault {
            rows.push(row("vault", &vault.version, &vault.path));
        }
        self.data(
            &Table {
                headings: &["engine", "version", "path"],
                right: &[],
                rows,
            }
            .print(data_width()),
        );
        self.talk("all engines are installed   next: eos lab up\n");
    }

    fn lab_image(&mut self, image: &eos_lab::PackedImage) {
        let place = match image.stored {
            "registry" => "in the lab's registry",
            _ => "in Docker",
        };
        let line = format!(
            "{}: {} files, {}, {place}; runs {}",
            image.name,
            image.files,
            human_size(image.bytes >> 20 << 20),
            image.runs.join(" ")
        );
        let text = hang("", &line, data_width().unwrap_or(usize::MAX));
        self.data(&text);
    }

    fn lab_log_line(&mut self, _engine: &str, line: &str) {
        let text = if io::stdout().is_terminal() {
            printable(line)
        } else {
            line.to_owned()
        };
        self.data(&format!("{text}\n"));
    }

    fn lab_progress(&self) -> Box<dyn Progress> {
        Box::new(LabProgress::new())
    }

    fn warn(&mut self, warning: &Diagnostic) {
        self.say("warning:", YELLOW, &warning.message);
        if let Some(place) = &warning.at {
            self.talk(&format!("  at {place}\n"));
        }
        if let Some(hint) = &warning.hint {
            self.say("hint:", GREEN, hint);
        }
    }

    fn problem(&mut self, problem: &Problem) {
        self.end_all_live();
        for fault in problem.faults() {
            let words = fault.words.as_deref().unwrap_or_default();
            let inline = format!("{}: {words}", fault.message);
            let fits = !words.is_empty() && !words.contains('\n') && width(&inline) + 7 <= 2 * talk_width();
            self.say("error:", RED, if fits { &inline } else { &fault.message });
            if let Some(place) = &fault.place {
                let text = hang("  at ", &printable(&place.to_string()), talk_width());
                self.talk(&text);
            }
            if !fits && !words.is_empty() {
                let layer = fault.layer.map_or_else(String::new, |layer| format!("{layer}: "));
                for (index, line) in printable(words).lines().enumerate() {
                    let prefix = if index == 0 {
                        format!("  {layer}")
                    } else {
                        "    ".to_owned()
                    };
                    let text = hang(&prefix, line, talk_width());
                    self.talk(&text);
                }
            }
            for LogLines { from, lines } in &fault.lines {
                let text = hang("  ", &format!("{}:", printable(from)), talk_width());
                self.talk(&text);
                for line in lines {
                    let text = hang("    ", &printable(line), talk_width());
                    self.talk(&text);
                }
            }
            if let Some(effects) = &fault.taken_back {
                let text = hang("  rolled back: ", &printable(&effects.join("; ")), talk_width());
                self.talk(&text);
            }
            if let Some(why) = &fault.stands {
                let text = hang("  not rolled back: ", &printable(why), talk_width());
                self.talk(&text);
            }
            if let Some(hint) = &fault.hint {
                self.say("hint:", GREEN, hint);
            }
        }
    }

    fn is_for_programs(&self) -> bool {
        false
    }

    fn close(&mut self, exit: Exit) -> ExitCode {
        self.end_all_live();
        self.out.close(exit)
    }
}

fn next_of(stopped: &Operation) -> String {
    let id = short_operation(&stopped.id);
    match stopped.outcome {
        Outcome::Waiting => format!("next: eos approve {id} --as USER, then eos resume {id}"),
        _ => format!("next: eos resume {id}"),
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The declarative form: YAML, with the source of each value as a comment.
fn component_text(component: &ComponentReport) -> String {
    let mut text = format!(
        "# {}\n{}:\n  recipe: {}\n",
        component.place, component.component, component.recipe
    );
    let _ = writeln!(text, "  version: {}", yaml::quote(&component.version));
    let _ = writeln!(text, "  environment: {}", component.environment);
    let lines: Vec<(String, String)> = component
        .options
        .iter()
        .map(|option| {
            let value = match &option.value {
                serde_json::Value::String(text) => yaml::quote(text),
                other => value_words(other),
            };
            (format!("    {}: {value}", option.name), option.from.to_string())
        })
        .collect();
    let secrets = component.secrets.iter().map(|secret| {
        (
            format!("    {}: \"{}\"", secret.name, secret.value),
            secret.path.clone(),
        )
    });
    let lines: Vec<_> = lines.into_iter().chain(secrets).collect();
    let wide = lines
        .iter()
        .map(|(line, _)| width(line))
        .filter(|wide| *wide <= 44)
        .max()
        .unwrap_or(0);
    if !lines.is_empty() {
        text.push_str("  options:\n");
    }
    for (line, comment) in lines {
        let _ = writeln!(text, "{}  # {comment}", pad(&line, wide));
    }
    if let Some(outputs) = component.outputs.as_ref().filter(|outputs| !outputs.is_empty()) {
        text.push_str("  outputs:\n");
        for (name, value) in outputs {
            let _ = writeln!(text, "    {name}: {}", yaml::quote(value));
        }
    }
    if let Some(intent) = &component.intent {
        let _ = writeln!(text, "  intent:\n    words: {}", yaml::quote(&intent.words));
        let _ = writeln!(
            text,
            "    who: {}\n    when: {}",
            yaml::quote(&intent.who),
            yaml::quote(&intent.when)
        );
    }
    text
}

fn lab_text(lab: &LabReport) -> String {
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
    .print(data_width())
}

/// Which Docker there is, then a line an image.
fn containers_text(containers: &eos_lab::ContainersStatus) -> String {
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
        text.push_str(&table.print(data_width()));
    }
    text
}
