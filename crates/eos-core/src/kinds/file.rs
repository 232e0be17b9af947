//! Files: text at a path of a host, with its owner and mode. Salt writes it, and removes only what it made itself.

use super::{
    Function, Going, Kind, Made as MadePart, NodeKind, Parting, Phase, PhaseStep, Piece, Request, Slices,
};
use super::{Unmade as UnmadePart, Wanted};
use crate::address::Address;
use crate::called::slice_file;
use crate::canonical::canonical_digest;
use crate::compile::Compilation;
use crate::diagnostic::{Diagnostic, Position};
use crate::emit::sha256;
use crate::expand::Expanded;
use crate::lowered::Lowered;
use crate::name::quoted;
use crate::node::{Attribute, Layer, Node, Writer, attributes};
use crate::option::{TEXT_LIMIT, is_absolute};
use crate::plan::effects::{Effect, EffectAttribute, Engine, Of};
use crate::plan::{Action, Change, Key, PlanInput, Work};
use crate::read::{Reader, find};
use crate::recipe::Risk;
use crate::recipe::read::{read_document, read_template, read_when};
use crate::source::{Source, Sourced};
use crate::template::Template;
use crate::tiers::Tiers;
use crate::yaml::{self, Entry};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const KIND: &str = "file";
const TITLE: &str = "file";
/// Of a host's slice, and the part of a component's SLS names that is about its files.
const PIECE: &str = "files";
/// A longer text is no attribute of its node: its digest says whether it changes.
const SHOWN: usize = 4 << 10;
/// The kernel's, and those that Salt or Eos reads: nobody manages a file in them.
const NEVER: [&str; 9] = [
    "/dev",
    "/etc/salt",
    "/proc",
    "/srv/eos",
    "/srv/formulas",
    "/srv/pillar",
    "/srv/salt",
    "/srv/spm",
    "/sys",
];

/// A file that a recipe asks for.
#[derive(Clone, Debug)]
pub struct Need {
    pub path: Template,
    pub text: Template,
    pub user: String,
    pub group: String,
    pub mode: String,
    pub when: Option<Template>,
    pub at: Position,
}

/// A file on one host.
#[derive(Clone, Debug)]
pub struct Part {
    pub host: Sourced<String>,
    pub path: Sourced<String>,
    pub text: Sourced<String>,
    pub user: String,
    pub group: String,
    /// Four octal digits.
    pub mode: String,
    /// The need that asks for it, as the source of what it says in so many words.
    pub declared: Source,
}

/// Salt writes the files of a component on one minion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Made {
    pub minion: String,
    /// Of the facts about them that the minion is given.
    pub digest: String,
    /// `environment/component/path` -> path.
    pub files: BTreeMap<String, String>,
}

/// Salt removes files of a component that the pillar names no longer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unmade {
    pub minion: String,
    /// `environment/component/path` -> path.
    pub files: BTreeMap<String, String>,
}

impl Need {
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        [&self.path, &self.text].into_iter().chain(&self.when)
    }
}

/// A file as the recipe writes it: its path is the key.
pub(crate) fn read(reader: &mut Reader<'_>, entry: &Entry) -> Option<Need> {
    let what = format!("file {}", quoted(&entry.key));
    let fields = reader.record(&what, &entry.value, &["text", "user", "group", "mode", "when"]);
    let key = yaml::Node {
        value: yaml::Value::String(entry.key.clone()),
        at: entry.key_at,
        ..entry.value.clone()
    };
    let path = read_template(reader, "the path of a file", &key);
    let text = match find(fields, "text") {
        Some(node) => read_document(reader, "text", node),
        None => {
            let hint = "Add text: \"...\"; text: \"\" is an empty file";
            reader.report_with_hint(entry.key_at, format!("{what} has no text"), hint);
            None
        }
    };
    let mut account = |key: &str| match find(fields, key) {
        None => Some("root".to_owned()),
        Some(node) => {
            let name = reader.text(key, node)?;
            if !is_account(&name) {
                reader.report_with_hint(
                    node.at,
                    format!("{what} cannot have the {key} {}", quoted(&name)),
                    "Use a name such as www-data, or a number in quotes",
                );
            }
            Some(name)
        }
    };
    let (user, group) = (account("user"), account("group"));
    let mode = match find(fields, "mode") {
        None => Some("0644".to_owned()),
        Some(node) => reader.text("mode", node).and_then(|mode| {
            let whole = whole_mode(&mode);
            if whole.is_none() {
                reader.report_with_hint(
                    node.at,
                    format!("{what} cannot have the mode {}", quoted(&mode)),
                    "Use three octal digits in quotes, with or without 0 before them: \"0644\"",
                );
            }
            whole
        }),
    };
    let when = read_when(reader, fields);
    Some(Need {
        path: path?,
        text: text?,
        user: user?,
        group: group?,
        mode: mode?,
        when,
        at: entry.key_at,
    })
}

fn is_account(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    let is_number = name.parse::<u32>().is_ok();
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    name.len() <= 32 && name.chars().all(fits) && (is_number || is_name)
}

/// Nobody gets the rights of a file's owner by running it: the first of four digits is 0.
fn whole_mode(mode: &str) -> Option<String> {
    let digits = match mode.len() {
        4 => mode.strip_prefix('0')?,
        _ => mode,
    };
    let is_octal = digits.bytes().all(|digit| (b'0'..=b'7').contains(&digit));
    (digits.len() == 3 && is_octal).then(|| format!("0{digits}"))
}

/// The files that apply, on each of these hosts.
pub(crate) fn lower(
    expanded: &Expanded<'_>,
    needs: &[Need],
    hosts: &[Sourced<String>],
) -> Result<Vec<Part>, Diagnostic> {
    let mut parts: Vec<Part> = Vec::new();
    for need in needs {
        if !expanded.applies(&need.when)? {
            continue;
        }
        let path = expanded.text(&need.path)?;
        if let Some(why) = why_no_path(&path.value) {
            let words = format!("{} is no path of a file: it {why}", quoted(&path.value));
            return Err(expanded.wrong(&need.path, &words));
        }
        if parts.iter().any(|other| other.path.value == path.value) {
            let words = format!("two files have the path {}", path.value);
            return Err(expanded.wrong(&need.path, &words));
        }
        let text = expanded.text(&need.text)?;
        if text.value.len() > TEXT_LIMIT {
            let words = format!("the text of {} is longer than {TEXT_LIMIT} bytes", path.value);
            return Err(expanded.wrong(&need.text, &words));
        }
        parts.extend(hosts.iter().map(|host| Part {
            host: host.clone(),
            path: path.clone(),
            text: text.clone(),
            user: need.user.clone(),
            group: need.group.clone(),
            mode: need.mode.clone(),
            declared: expanded.line_source(need.at.line),
        }));
    }
    Ok(parts)
}

fn why_no_path(path: &str) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "/._-+@,:=~".contains(c);
    if !is_absolute(path) {
        return Some("is not absolute, or has . or .. in it".to_owned());
    }
    if let Some(strange) = path.chars().find(|c| !fits(*c)) {
        return Some(format!("has {strange:?} in it"));
    }
    let never = NEVER.iter().find(|one| is_below(path, one));
    never.map(|one| format!("is in {one}"))
}

fn is_below(path: &str, directory: &str) -> bool {
    let rest = path.strip_prefix(directory.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.starts_with('/'))
}

impl Part {
    pub fn address(&self) -> Address {
        let path = self.path.value.trim_start_matches('/');
        NodeKind::File.at(format!("{path}@{}", self.host.value))
    }

    pub fn content(&self) -> String {
        sha256(self.text.value.as_bytes())
    }

    /// One path of one host is one component's.
    pub(crate) fn claim(&self) -> (&'static str, String) {
        (KIND, format!("{}:{}", self.host.value, self.path.value))
    }
}

impl Request for Made {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn title(&self) -> &'static str {
        TITLE
    }

    fn minion(&self) -> &str {
        &self.minion
    }

    fn function(&self) -> Function {
        Function::Make
    }

    fn facts(&self, _: &str) -> Value {
        json!({"digest": self.digest})
    }

    fn is_served(&self, key: &Key, compilation: &Compilation) -> bool {
        let component = compilation.components.get(key);
        component.is_some_and(|component| digest(component, &self.minion) == self.digest)
    }

    fn is_bound(&self) -> bool {
        true
    }

    fn effects(&self, of: Of<'_>, _: Option<&Lowered>, answer: &Value) -> Vec<Effect> {
        let states = answer["states"].as_array().into_iter().flatten();
        let would = states.filter(|state| state["result"].is_null());
        would
            .filter_map(|state| effect(of, &self.minion, state))
            .collect()
    }

    fn object(&self, place: &str) -> String {
        format!("files of {place} on {}", self.minion)
    }
}

/// What a test run says of one file: `{"mode": {"old": "0600", "new": "0644"}}`, where nothing is old of a new one.
fn effect(of: Of<'_>, minion: &str, state: &Value) -> Option<Effect> {
    let path = state["name"].as_str()?;
    let mut is_new = false;
    let said = state["changes"].as_object()?.iter();
    let attributes: Vec<EffectAttribute> = said
        .map(|(name, change)| {
            let side = |key: &str| change.get(key).filter(|value| !value.is_null()).cloned();
            is_new |= side("old").is_none();
            EffectAttribute::new(name, side("old"), side("new"))
        })
        .collect();
    let action = match is_new {
        true => Action::Create,
        false => Action::Change,
    };
    let object = format!("salt/file/{minion}:{path}");
    Some(of.effect(Engine::Salt, object, action, attributes))
}

impl Request for Unmade {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn title(&self) -> &'static str {
        TITLE
    }

    fn minion(&self) -> &str {
        &self.minion
    }

    fn function(&self) -> Function {
        Function::Remove
    }

    fn facts(&self, _: &str) -> Value {
        json!({"files": self.files})
    }

    /// The minion refuses to remove a file that its pillar names.
    fn is_served(&self, _: &Key, _: &Compilation) -> bool {
        true
    }

    fn is_bound(&self) -> bool {
        false
    }

    fn object(&self, place: &str) -> String {
        format!("files of {place} on {}", self.minion)
    }
}

/// Host -> its files of the component, in the order of the recipe.
fn by_host(component: &Lowered) -> BTreeMap<&str, Vec<&Part>> {
    let mut hosts: BTreeMap<&str, Vec<&Part>> = BTreeMap::new();
    for part in &component.parts.files {
        hosts.entry(&part.host.value).or_default().push(part);
    }
    hosts
}

/// The name that its minion knows a file under.
fn id(environment: &str, component: &str, path: &str) -> String {
    format!("{environment}/{component}{path}")
}

fn facts(component: &Lowered, part: &Part) -> Value {
    json!({
        "path": part.path.value,
        "text": part.text.value,
        "user": part.user,
        "group": part.group,
        "mode": part.mode,
        "risk": component.risk,
    })
}

/// Name -> facts of the component's files on one host.
fn slices(component: &Lowered, host: &str) -> Map<String, Value> {
    let there = component
        .parts
        .files
        .iter()
        .filter(|part| part.host.value == host);
    let slices = there.map(|part| {
        let id = id(&component.environment, &component.component, &part.path.value);
        (id, facts(component, part))
    });
    slices.collect()
}

/// What a step names the component's files on one host by: the digest of their slices there.
pub fn digest(component: &Lowered, host: &str) -> String {
    canonical_digest(&Value::Object(slices(component, host)))
}

/// Files of applied nodes, host by host: those of which `goes` is true.
fn applied(
    input: &PlanInput<'_>,
    key: &Key,
    goes: impl Fn(&Node) -> bool,
) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut hosts: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let nodes = input.applied.get(key).into_iter().flatten();
    for node in nodes.filter(|node| node.address.kind == NodeKind::File && goes(node)) {
        if let (Some(host), Some(path)) = (node.text("host"), node.text("path")) {
            let files = hosts.entry(host.to_owned()).or_default();
            files.insert(id(&key.0, &key.1, path), path.to_owned());
        }
    }
    hosts
}

/// Whether the pillar has the host. One that it has no longer is asked for nothing.
fn is_asked(input: &PlanInput<'_>, host: &str) -> bool {
    input.compilation.artifacts.contains_key(&slice_file(host))
}

fn unmade(minion: String, files: BTreeMap<String, String>) -> Work {
    Work::Unmake(UnmadePart::File(Unmade { minion, files }))
}

pub(crate) struct Files;

impl Kind for Files {
    fn sorts(&self) -> &'static [NodeKind] {
        &[NodeKind::File]
    }

    fn phase(&self) -> Phase {
        Phase::BeforeJob
    }

    fn nodes(&self, component: &Lowered) -> Vec<Node> {
        let node = |part: &Part| {
            let bytes = part.text.value.len();
            let (host, path) = (&part.host.value, &part.path.value);
            let summary = format!(
                "{host}:{path}  {}:{} {}, {bytes} bytes",
                part.user, part.group, part.mode
            );
            Node::of(
                component,
                part.address(),
                (Layer::Host, Writer::Salt),
                summary,
                all_attributes(part),
                Vec::new(),
            )
        };
        component.parts.files.iter().map(node).collect()
    }

    fn part(&self, node: &Node) -> Option<String> {
        Some(id(&node.environment, &node.component, node.text("path")?))
    }

    fn slices<'a>(&self, components: &'a BTreeMap<Key, Lowered>, slices: &mut Slices<'a>) {
        for component in components.values() {
            for host in by_host(component).into_keys() {
                let of_host = slices.entry(host).or_default();
                let files = of_host.entry(PIECE).or_default();
                files.extend(self::slices(component, host));
            }
        }
    }

    fn pieces(&self, component: &Lowered) -> Vec<Piece> {
        let hosts = by_host(component);
        let several = hosts.len() > 1;
        let piece = |(host, parts): (&str, Vec<&Part>)| {
            let states = parts.into_iter().map(|part| {
                let id = id(&component.environment, &component.component, &part.path.value);
                let state = json!({"eos_file.managed": [
                    {"name": part.path.value},
                    {"part": id},
                    {"text": part.text.value},
                    {"user": part.user},
                    {"group": part.group},
                    {"mode": part.mode},
                ]});
                (id, state)
            });
            Piece {
                name: match several {
                    true => format!("{PIECE}-{host}"),
                    false => PIECE.to_owned(),
                },
                minion: host.to_owned(),
                states: Value::Object(states.collect()),
                digest: digest(component, host),
                // Its pieces on several hosts are for these alone: no one host includes them all.
                deploys: !several,
            }
        };
        hosts.into_iter().map(piece).collect()
    }

    /// No workspace knows of files.
    fn recorded(&self, component: &Lowered) -> Vec<String> {
        let hosts = by_host(component).into_keys();
        hosts.map(|host| digest(component, host)).collect()
    }

    fn files(&self, _: &Lowered) -> Vec<(&'static str, Vec<u8>)> {
        Vec::new()
    }

    fn makes(&self, wanted: &Wanted<'_, '_>) -> Vec<PhaseStep> {
        let (component, key) = (wanted.component, wanted.key);
        let changes = || wanted.changes_of(NodeKind::File);
        let is_made = |part: &Part| {
            let address = part.address();
            changes().any(|change| change.action != Action::Delete && change.address == address)
        };
        let hosts = by_host(component).into_iter();
        let made = hosts
            .filter(|(_, parts)| parts.iter().any(|part| is_made(part)))
            .map(|(host, parts)| {
                let files = parts.into_iter().map(|part| {
                    let path = &part.path.value;
                    (id(&key.0, &key.1, path), path.clone())
                });
                PhaseStep {
                    risk: wanted.risk,
                    work: Work::Make(MadePart::File(Made {
                        minion: host.to_owned(),
                        digest: digest(component, host),
                        files: files.collect(),
                    })),
                }
            });
        let is_unwanted = |node: &Node| {
            let mut parts = component.parts.files.iter();
            parts.all(|part| part.address() != node.address)
        };
        let gone = applied(wanted.input, key, is_unwanted).into_iter();
        let gone = gone
            .filter(|(host, _)| is_asked(wanted.input, host))
            .map(|(host, files)| PhaseStep {
                risk: wanted.applied_risk,
                work: unmade(host, files),
            });
        made.chain(gone).collect()
    }

    /// What runs may read its files until it ends.
    fn removes(&self, going: &Going<'_, '_>) -> Vec<(Parting, PhaseStep)> {
        let gone = applied(going.input, going.key, |_| true).into_iter();
        let gone = gone
            .filter(|(host, _)| is_asked(going.input, host))
            .map(|(host, files)| PhaseStep {
                risk: going.risk,
                work: unmade(host, files),
            });
        gone.map(|asked| (Parting::AfterJob, asked)).collect()
    }

    /// Files that the operation wrote and neither the pillar before it nor the one after it names.
    fn leftovers(&self, input: &PlanInput<'_>) -> Vec<(Key, Work)> {
        let begun = input.left.into_iter().flat_map(|left| &left.begun);
        let removed = begun.filter_map(|(key, made)| {
            let MadePart::File(Made { minion, files, .. }) = made else {
                return None;
            };
            let named = input.compilation.components.get(key);
            let wanted = named.map_or_else(Map::new, |component| slices(component, minion));
            let applied = applied(input, key, |_| true);
            let applied = applied.get(minion);
            let left = files.iter().filter(|(name, _)| {
                let is_applied = applied.is_some_and(|files| files.contains_key(*name));
                !wanted.contains_key(*name) && !is_applied
            });
            let left: BTreeMap<String, String> =
                left.map(|(name, path)| (name.clone(), path.clone())).collect();
            let is_some = !left.is_empty() && is_asked(input, minion);
            is_some.then(|| (key.clone(), unmade(minion.clone(), left)))
        });
        removed.collect()
    }

    fn waits_for<'c>(&self, _: &'c Lowered) -> Option<&'c str> {
        None
    }

    fn adds(&self, _: &PlanInput<'_>, _: &Key, _: &[Node], _: &mut Vec<Change>) {}

    /// A file of a host is an architect's, unless the minion's settings name a directory lower.
    fn risk(&self, node: &Node, tiers: &Tiers) -> Risk {
        let lists = tiers.others.get(PIECE).cloned().unwrap_or_default();
        let lists: Vec<Below> = serde_json::from_value(lists).unwrap_or_default();
        let path = node.text("path").unwrap_or_default();
        let fitting = lists.iter().filter(|one| is_below(path, &one.below));
        let innermost = fitting.max_by_key(|one| one.below.trim_end_matches('/').len());
        innermost.map_or(Risk::High, |one| one.tier)
    }

    fn remark(&self, change: &mut Change, input: &PlanInput<'_>) {
        if change.action != Action::Delete {
            return;
        }
        let mut attributes = change.attributes.iter();
        let host = attributes.find(|attribute| attribute.name == "host");
        let host = host.and_then(|attribute| attribute.before.as_ref()?.as_str());
        let is_gone = host.is_some_and(|host| !is_asked(input, host));
        let words = match is_gone {
            true => "the file stays: the pillar no longer has its host",
            false => "the file is removed, if Eos made it",
        };
        change.note = Some(words.to_owned());
    }
}

/// A directory in which files are of a lower tier.
#[derive(Deserialize)]
struct Below {
    below: String,
    tier: Risk,
}

fn all_attributes(part: &Part) -> BTreeMap<String, Attribute> {
    let declared = |value: &str| Attribute::new(value, part.declared.clone());
    let mut all = attributes([
        ("host", Attribute::of(&part.host, part.host.value.as_str())),
        ("path", Attribute::of(&part.path, part.path.value.as_str())),
        ("content", Attribute::new(part.content(), part.text.from.clone())),
        ("user", declared(&part.user)),
        ("group", declared(&part.group)),
        ("mode", declared(&part.mode)),
    ]);
    if part.text.value.len() <= SHOWN {
        let text = Attribute::of(&part.text, part.text.value.as_str());
        all.insert("text".to_owned(), text);
    }
    all
}
