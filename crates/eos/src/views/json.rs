//! What a program reads: one versioned document on standard output, or one event a line while an operation runs.

use super::recipe_text::origin;
use super::reports::*;
use super::{Out, Purpose, View};
use crate::options::default_words;
use crate::problem::{Exit, Problem};
use eos_core::catalog::Catalog;
use eos_core::diagnostic::Diagnostic;
use eos_core::drift::{Drift, Verdict};
use eos_core::graph::Graph;
use eos_core::graph::live::Health;
use eos_core::option::OptionType;
use eos_core::plan::{Plan, Step};
use eos_core::recipe::{Recipe, Run};
use eos_core::storage::HostStorage;
use eos_core::storage::expand::Decision;
use eos_core::template::Template;
use eos_core::why::Answer;
use eos_engine::audit;
use eos_engine::doctor::Finding;
use eos_engine::operation::{Dismissed, Finished, Watch};
use eos_engine::status::Status;
use eos_engine::storage::EstateStorage;
use eos_engine::store::{Entry, Operation};
use eos_engine::waiting::{Spent, Stopwatch};
use eos_lab::{Advance, Outcome, Progress};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Of every document and event; it grows when a field changes its meaning or goes away.
const VERSION: u32 = 1;

pub struct Json {
    out: Out,
    since_start: Stopwatch,
}

impl Default for Json {
    fn default() -> Self {
        Json {
            out: Out::default(),
            since_start: Stopwatch::start(),
        }
    }
}

impl Json {
    fn document(&mut self, kind: &str, content: Value) {
        self.print("kind", kind, content);
    }

    fn event(&mut self, event: &str, content: Value) {
        self.print("event", event, content);
    }

    fn print(&mut self, key: &str, name: &str, content: Value) {
        self.out.write(&mut io::stdout(), &line(key, name, content));
    }
}

fn line(key: &str, name: &str, content: Value) -> String {
    let mut all = Map::new();
    all.insert("version".to_owned(), VERSION.into());
    all.insert(key.to_owned(), name.into());
    match content {
        Value::Object(fields) => all.extend(fields.into_iter().filter(|(field, _)| field != "version")),
        other => {
            all.insert("content".to_owned(), other);
        }
    }
    format!("{}\n", Value::Object(all))
}

fn value(content: &impl Serialize) -> Value {
    serde_json::to_value(content).expect("what is shown has a JSON form")
}

fn step_event(number: usize, step: &Step) -> Value {
    json!({"number": number, "step": step.id, "title": step.work.title(), "component": step.component})
}

/// Time in all, and how it was spent: waiting for engines, and by Eos itself.
fn spend(event: &mut Value, spent: Spent) {
    event["seconds"] = spent.took.as_secs_f64().into();
    event["waited"] = spent.waited.as_secs_f64().into();
    event["own"] = spent.own().as_secs_f64().into();
}

fn pairs(outputs: &[(String, String)]) -> Value {
    outputs
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().into()))
        .collect::<Map<_, _>>()
        .into()
}

/// As the hosts say, and what follows from it: how full each volume is, and when it would be.
fn storage_value(storage: &EstateStorage) -> Value {
    let mut content = value(storage);
    for (report, shown) in storage
        .hosts
        .iter()
        .zip(content["hosts"].as_array_mut().into_iter().flatten())
    {
        let Some(host) = report.storage() else { continue };
        let volumes = shown["storage"]["volumes"].as_array_mut();
        for (volume, shown) in host.volumes.iter().zip(volumes.into_iter().flatten()) {
            shown["percent"] = volume.percent().into();
            shown["days_to_full"] = volume.days_until(100.0).into();
        }
    }
    content
}

fn recipe_value(recipe: &Recipe) -> Value {
    let shown = |template: &Option<Template>| template.as_ref().map(Template::written);
    let options: Vec<_> = recipe
        .settable()
        .map(|spec| {
            let choices = match &spec.kind {
                OptionType::Choice(choices) => Some(choices),
                _ => None,
            };
            json!({
                "name": spec.name, "flag": format!("--{}", eos_core::expand::flag(&spec.name)), "type": spec.kind.word(),
                "of": match &spec.kind { OptionType::List(of) => Some(of.word()), _ => None }, "choices": choices,
                "default": default_words(spec, recipe), "generated": spec.generate.is_some(),
                "needed": spec.default.is_none() && default_words(spec, recipe).is_none(),
                "pattern": spec.shown_pattern(),
                "min": spec.min.map(|min| spec.shown_bound(min)), "max": spec.max.map(|max| spec.shown_bound(max)),
                "when": shown(&spec.when), "promoted": spec.promote, "help": spec.help,
            })
        })
        .collect();
    let uses: Vec<_> = recipe
        .uses
        .iter()
        .map(|used| {
            let with = used
                .with
                .iter()
                .map(|(option, value)| (option.clone(), Template::written(value)));
            json!({
                "name": used.name, "recipe": used.recipe, "share": used.share, "when": shown(&used.when),
                "with": with.collect::<Map<_, _>>(),
            })
        })
        .collect();
    let volumes: Vec<_> = recipe
        .volumes
        .iter()
        .map(|need| {
            json!({
                "name": need.name, "purpose": need.purpose, "size": Template::written(&need.size),
                "path": Template::written(&need.path),
                "owner": need.owner, "each": need.each, "when": shown(&need.when),
            })
        })
        .collect();
    let secrets: Vec<_> = recipe
        .secrets
        .iter()
        .map(|need| json!({"name": need.name, "generate": need.generate}))
        .collect();
    let routes: Vec<_> = recipe
        .routes
        .iter()
        .map(|need| {
            json!({
                "name": need.name, "host": Template::written(&need.host), "service": need.service,
                "when": shown(&need.when),
            })
        })
        .collect();
    let services: Vec<_> = recipe
        .services
        .iter()
        .map(|service| {
            let (driver, run) = match &service.run {
                Run::Image(image, _) => ("image", Template::written(image)),
                Run::Program(words) => ("program", words.iter().map(Template::written).collect()),
            };
            let ports: Vec<_> = service.ports.iter().map(|port| &port.label).collect();
            json!({
                "name": service.name, driver: run, "one": service.one, "ports": ports, "when": shown(&service.when),
                "volumes": service.mounts.iter().map(|(volume, _)| volume).collect::<Vec<_>>(),
            })
        })
        .collect();
    let outputs: Map<_, _> = recipe
        .outputs
        .iter()
        .map(|output| (output.name.clone(), Template::written(&output.value)))
        .collect();
    json!({
        "recipe": recipe.name, "summary": recipe.summary, "recipe_version": recipe.version, "pin": recipe.pin,
        "risk": recipe.risk, "from": origin(recipe), "file": recipe.file, "proxy": recipe.proxy,
        "monitor": recipe.monitor.is_some(), "after": recipe.after,
        "options": options, "uses": uses, "volumes": volumes, "secrets": secrets, "routes": routes,
        "services": services, "outputs": outputs,
    })
}

/// The graph as a program reads it, asked for with `--json` or with `--format json`.
pub fn graph_document(graph: &Graph) -> String {
    let nodes = graph.nodes.iter().zip(&graph.waves).map(|(node, wave)| {
        let mut shown = json!({
            "environment": node.environment, "component": node.component, "address": node.address,
            "layer": node.layer, "writer": node.writer, "wave": wave, "summary": node.summary,
        });
        if let Some(health) = graph.health(node) {
            shown["health"] = health.word().into();
            if let Health::Ill(why) = health {
                shown["why"] = why.as_str().into();
            }
        }
        shown
    });
    let edges = graph.edges.iter().map(|edge| {
        let [from, to] = [edge.from, edge.to].map(|place| graph.nodes[place]);
        json!({"environment": to.environment, "from": from.address, "to": to.address})
    });
    let mut content = json!({"nodes": nodes.collect::<Vec<_>>(), "edges": edges.collect::<Vec<_>>()});
    if let Some(live) = &graph.live {
        content["health"] = value(&live.counts(graph.nodes.iter().copied()));
        content["silent"] = value(&live.silent);
    }
    line("kind", "graph", content)
}

impl Watch for Json {
    fn begin(&mut self, operation: &str, total: usize) {
        self.event("begin", json!({"operation": operation, "steps": total}));
    }

    fn step(&mut self, number: usize, step: &Step) {
        self.event("step", step_event(number, step));
    }

    fn waiting(&mut self, message: &str) {
        self.event("waiting", json!({"message": message}));
    }

    fn progress(&mut self, number: usize, message: &str) {
        self.event("progress", json!({"number": number, "message": message}));
    }

    fn turn_back(&mut self, why: &str, total: usize) {
        self.event("turn_back", json!({"why": why, "steps": total}));
    }

    fn done(&mut self, number: usize, step: &Step, effect: &str, took: Duration) {
        let mut event = step_event(number, step);
        event["effect"] = effect.into();
        event["seconds"] = took.as_secs_f64().into();
        self.event("done", event);
    }
}

impl View for Json {
    fn text(&mut self, text: &str) {
        let plain = anstream::adapter::strip_str(text).to_string();
        self.document("text", json!({"text": plain}));
    }

    fn plan(&mut self, plan: &Plan, purpose: Purpose) {
        // The plan has its own version, and keeps its form in both places.
        let mut content = json!({"plan": value(plan)});
        match purpose {
            Purpose::Answer => self.document("plan", content),
            Purpose::Confirm => {
                spend(&mut content, self.since_start.read());
                self.event("plan", content);
            }
        }
    }

    fn nothing_to_do(&mut self, plan: &Plan) {
        let content = json!({"operation": null, "environment": plan.environment, "components": plan.components, "outputs": {}});
        self.event("finished", content);
    }

    fn finished(&mut self, finished: &Finished) {
        let mut event = json!({
            "operation": finished.operation, "environment": finished.plan.environment,
            "components": finished.plan.components, "outputs": pairs(&finished.outputs),
            "taken_back": finished.taken_back,
        });
        let Finished { took, waited, .. } = *finished;
        spend(&mut event, Spent { took, waited });
        self.event("finished", event);
    }

    fn made_estate(&mut self, made: &MadeEstate) {
        self.document("estate", value(made));
    }

    fn logged_in(&mut self, login: &Login) {
        self.document("login", value(login));
    }

    fn components(&mut self, environment: &str, rows: &[ComponentRow]) {
        self.document(
            "components",
            json!({"environment": environment, "components": value(&rows)}),
        );
    }

    fn hosts(&mut self, rows: &[HostRow]) {
        self.document("hosts", json!({"hosts": value(&rows)}));
    }

    fn discovered(&mut self, discovered: &Discovered) {
        self.document("discovered", value(discovered));
    }

    fn component(&mut self, component: &ComponentReport) {
        let mut content = value(component);
        // The document's own version is another.
        content["recipe_version"] = component.version.as_str().into();
        content["outputs"] = component.outputs.as_deref().map_or(Value::Null, pairs);
        self.document("component", content);
    }

    fn revealed(&mut self, secret: &Revealed<'_>) {
        self.document("secret", value(secret));
    }

    fn history(&mut self, operations: &[Operation]) {
        let brief = |operation: &Operation| {
            let mut brief = value(operation);
            if let Some(fields) = brief.as_object_mut() {
                fields.remove("plan");
            }
            brief
        };
        self.document(
            "history",
            json!({"operations": operations.iter().map(brief).collect::<Vec<_>>()}),
        );
    }

    fn operation(&mut self, operation: &Operation, journal: &[Entry]) {
        self.document(
            "operation",
            json!({"operation": value(operation), "journal": value(&journal)}),
        );
    }

    fn audit(&mut self, entries: &[audit::Entry]) {
        self.document("audit", json!({"entries": value(&entries)}));
    }

    fn audit_fits(&mut self, verdict: &audit::Verdict) {
        self.document("audit_verdict", value(verdict));
    }

    fn home(&mut self, home: &HomeReport) {
        self.document("home", value(home));
    }

    fn move_home(&mut self, home: &HomeReport) {
        self.event("home", value(home));
    }

    fn approved(&mut self, approved: &Approved) {
        self.document("approval", value(approved));
    }

    fn dismissed(&mut self, dismissed: &Dismissed) {
        self.document("dismissed", value(dismissed));
    }

    fn status(&mut self, status: &Status, _extent: Extent) {
        self.document("status", value(status));
    }

    fn storage(&mut self, storage: &EstateStorage) {
        self.document("storage", storage_value(storage));
    }

    fn snapshots(&mut self, of: &HostStorage) {
        self.document("snapshots", json!({"volumes": value(&of.volumes)}));
    }

    fn decisions(&mut self, decisions: &[Decision], purpose: Purpose) {
        let content = json!({"decisions": value(&decisions)});
        match purpose {
            Purpose::Answer => self.document("decisions", content),
            Purpose::Confirm => self.event("decisions", content),
        }
    }

    fn doctor(&mut self, findings: &[Finding]) {
        self.document("doctor", json!({"findings": value(&findings)}));
    }

    fn drift(&mut self, drift: &Drift, all: bool) {
        let objects = drift.objects.iter();
        let shown: Vec<_> = objects
            .filter(|object| all || object.verdict != Verdict::InStep)
            .collect();
        let content = json!({
            "environment": drift.environment, "looked_at": drift.objects.len(), "in_step": drift.is_in_step(),
            "objects": value(&shown), "held": value(&drift.held), "synced": value(&drift.synced),
        });
        self.document("drift", content);
    }

    fn files_to_write(&mut self, files: &[String]) {
        self.event("files", json!({"to_write": files}));
    }

    fn files_written(&mut self, files: &[String]) {
        self.event("files", json!({"written": files}));
    }

    fn logs(&mut self, logs: &[LogText]) {
        self.document("logs", json!({"logs": value(&logs)}));
    }

    fn recipes(&mut self, catalog: &Catalog) {
        self.document(
            "catalog",
            json!({"recipes": catalog.iter().map(recipe_value).collect::<Vec<_>>()}),
        );
    }

    fn recipe(&mut self, recipe: &Recipe) {
        self.document("recipe", recipe_value(recipe));
    }

    fn linted(&mut self, linted: &Linted) {
        self.document("lint", value(linted));
    }

    fn made_recipe(&mut self, made: &MadeRecipe) {
        self.document("recipe_file", value(made));
    }

    fn compiled(&mut self, compiled: &Compiled) {
        self.document("compile", value(compiled));
    }

    fn graph(&mut self, graph: &Graph) {
        self.out.write(&mut io::stdout(), &graph_document(graph));
    }

    fn terraform_graph(&mut self, environment: &str, component: &str, dot: &str) {
        let content = json!({"environment": environment, "component": component, "dot": dot});
        self.document("terraform_graph", content);
    }

    fn terraform_graph_written(&mut self, environment: &str, component: &str, file: &Path) {
        let content = json!({"environment": environment, "component": component, "file": file});
        self.document("terraform_graph_file", content);
    }

    fn graph_written(&mut self, graph: &Graph, file: &Path) {
        self.document(
            "graph_file",
            json!({"file": file, "nodes": graph.nodes.len(), "waves": graph.waves.iter().max()}),
        );
    }

    fn why(&mut self, answer: &Answer) {
        self.document("why", json!({"attributes": value(&answer.explained)}));
    }

    fn lab(&mut self, lab: &LabReport) {
        self.document("lab", value(lab));
    }

    fn lab_engines(&mut self, engines: &eos_lab::Engines) {
        let eos_lab::Engines {
            salt,
            terraform,
            nomad,
            consul,
            vault,
            envoy,
        } = engines;
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
        self.document("engines", json!({"engines": places, "versions": versions}));
    }

    fn lab_image(&mut self, image: &eos_lab::PackedImage) {
        self.document("lab_image", value(image));
    }

    fn lab_log_line(&mut self, engine: &str, text: &str) {
        self.event("line", json!({"engine": engine, "text": text}));
    }

    fn lab_progress(&self) -> Box<dyn Progress> {
        Box::new(LabEvents)
    }

    /// A warning is talk: it would break the one document.
    fn warn(&mut self, warning: &Diagnostic) {
        let hint = warning
            .hint
            .as_ref()
            .map_or_else(String::new, |hint| format!("hint: {hint}\n"));
        let place = warning
            .at
            .as_ref()
            .map_or_else(String::new, |place| format!("  at {place}\n"));
        let _ = write!(io::stderr(), "warning: {}\n{place}{hint}", warning.message);
    }

    fn problem(&mut self, problem: &Problem) {
        for fault in problem.faults() {
            self.event("error", value(&fault));
        }
    }

    fn is_for_programs(&self) -> bool {
        true
    }

    fn close(&mut self, exit: Exit) -> ExitCode {
        self.out.close(exit)
    }
}

/// The lab's progress, one event a line.
struct LabEvents;

impl LabEvents {
    fn event(&self, event: &str, step: &eos_lab::Step, more: Value) {
        let mut content = json!({"engine": step.engine, "what": step.what});
        if let (Some(fields), Value::Object(more)) = (content.as_object_mut(), more) {
            fields.extend(more);
        }
        // The verb's own answer follows: if that cannot be written, it says so.
        let _ = io::stdout().write_all(line("event", event, content).as_bytes());
    }
}

impl Progress for LabEvents {
    fn started(&self, step: &eos_lab::Step) {
        self.event(
            "started",
            step,
            json!({"usual_seconds": step.usual.map(|usual| usual.as_secs_f64())}),
        );
    }

    fn advanced(&self, step: &eos_lab::Step, advance: Advance, elapsed: Duration) {
        let Advance { done, total, unit } = advance;
        self.event(
            "advanced",
            step,
            json!({"done": done, "total": total, "unit": unit, "seconds": elapsed.as_secs_f64()}),
        );
    }

    fn noted(&self, step: &eos_lab::Step, words: &str) {
        self.event("noted", step, json!({"words": words}));
    }

    fn ended(&self, step: &eos_lab::Step, outcome: Outcome, elapsed: Duration) {
        self.event(
            "ended",
            step,
            json!({"done": outcome == Outcome::Done, "seconds": elapsed.as_secs_f64()}),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eos_engine::storage::{HostReport, Said};

    #[test]
    fn storage_says_how_full_and_when() {
        let said = json!({
            "disks": [], "groups": [], "filesystems": [],
            "volumes": [
                {"name": "a", "group": "vg", "id": null, "size": 200, "filesystem": "xfs", "uuid": null, "mount": "/a", "capacity": 200,
                 "used": 50, "available": 150, "open_files": null, "alert": null, "growth": 15.0, "snapshots": [], "old": null},
                {"name": "b", "group": "vg", "id": null, "size": 200, "filesystem": null, "uuid": null, "mount": null, "capacity": null,
                 "used": null, "available": null, "open_files": null, "alert": null, "growth": null, "snapshots": [], "old": null},
            ],
            "tools": {"lvm": true, "xfs": true, "btrfs": true, "ext4": true},
        });
        let host = HostReport {
            host: "node1".to_owned(),
            devices: Vec::new(),
            volume_group: None,
            said: Said::Storage(serde_json::from_value(said).expect("as a host says it")),
        };
        let storage = EstateStorage {
            environment: "production".to_owned(),
            hosts: vec![host],
        };
        let document = storage_value(&storage);
        let volumes = &document["hosts"][0]["storage"]["volumes"];
        assert_eq!(
            (&volumes[0]["percent"], &volumes[0]["days_to_full"]),
            (&json!(25.0), &json!(10.0))
        );
        assert_eq!(
            (&volumes[1]["percent"], &volumes[1]["days_to_full"]),
            (&Value::Null, &Value::Null)
        );
        assert!(document.get("environment").is_none());
    }
}
