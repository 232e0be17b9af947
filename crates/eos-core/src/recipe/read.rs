//! A recipe read from its YAML: every key known, every value of its type, all that is wrong told at once.

use super::*;
use crate::catalog::KEPT;
use crate::diagnostic::Position;
use crate::name::{self, ENVIRONMENTS, Sort, quoted};
use crate::option::{CPU, MEMORY, REPLICAS};
use crate::output::TAKEN;
use crate::pillar::{read_mode, read_owner, read_purpose};
use crate::timing::{LONGEST, SHORTEST_CHECK, SHORTEST_START, SHORTEST_STOP, Said, Span};

use crate::read::find;
use crate::yaml::{Entry, Node};
use std::ops::RangeInclusive;

pub fn read(reader: &mut Reader<'_>, root: &Node, text: &[u8]) -> Option<Recipe> {
    const KEYS: &[&str] = &[
        "recipe", "summary", "version", "risk", "proxy", "monitor", "after", "options", "uses", "needs",
        "services", "requires", "host", "outputs",
    ];
    let keys: Vec<&str> = KEYS.iter().chain(WorkspaceNeeds::KEYS).copied().collect();
    let entries = reader.record("the recipe", root, &keys);
    let mut required = |key: &str| -> Option<String> {
        match find(entries, key) {
            Some(node) => reader.text(key, node),
            None => {
                reader.report(root.at, format!("The recipe has no {key}"));
                None
            }
        }
    };
    let (name, summary, version) = (required("recipe"), required("summary"), required("version"));
    let place = |key: &str| find(entries, key).map_or(root.at, |node| node.at);
    if let Some(problem) = name.as_deref().and_then(|name| name::problem(Sort::Recipe, name)) {
        reader.report(place("recipe"), problem);
    }
    if version.as_deref().is_some_and(|version| !is_version(version)) {
        reader.report_with_hint(
            place("version"),
            "The version of a recipe is 1 to 40 letters, digits and . _ +",
            "For example version: \"11.6.0\"",
        );
    }
    let risk = find(entries, "risk").map_or(Some(Risk::Medium), |node| read_risk(reader, node));
    let proxy = find(entries, "proxy").and_then(|node| read_proxy(reader, node));
    let monitor = find(entries, "monitor").and_then(|node| read_monitor(reader, node));
    let after = find(entries, "after").map_or_else(Vec::new, |node| reader.texts("after", node));
    let mut options: Vec<_> = each(reader, entries, "options", read_option);
    let mut uses = each(reader, entries, "uses", read_use);
    let mut needs = Needs::default();
    if let Some(node) = find(entries, "needs") {
        for entry in reader.map("needs", node) {
            read_need(reader, entry, &mut needs);
        }
    }
    uses.extend(needs.databases);
    for used in &uses {
        if let Some(same) = options.iter().find(|option| option.name == used.name) {
            reader.report(
                same.at,
                format!(
                    "option {} has the name of something the recipe uses",
                    quoted(&same.name)
                ),
            );
        }
        options.push(option_of_use(used));
    }
    let services = each(reader, entries, "services", read_service);
    let requires = find(entries, "requires")
        .map_or_else(Requires::default, |node| container::read_requires(reader, node));
    let host = find(entries, "host").and_then(|node| host::read(reader, node));
    let in_workspace = WorkspaceNeeds::read(reader, entries);
    if ["services", "host"]
        .iter()
        .chain(WorkspaceNeeds::KEYS)
        .all(|part| find(entries, part).is_none())
    {
        reader.report(root.at, "The recipe has no services, parts or resources");
    }
    let outputs = each(reader, entries, "outputs", |reader, entry| {
        if !check_output(reader, entry) {
            return None;
        }
        reader.text("an output", &entry.value)?;
        Some(Output {
            name: entry.key.clone(),
            value: read_template(reader, &entry.key, &entry.value)?,
        })
    });
    let version = version?;
    let recipe = Recipe {
        name: name?,
        file: reader.file.to_owned(),
        at: place("recipe"),
        text: text.into(),
        pin: pin(&version, text),
        summary: summary?,
        version,
        risk: risk?,
        proxy,
        monitor,
        after,
        options,
        uses,
        volumes: needs.volumes,
        secrets: needs.secrets,
        routes: needs.routes,
        services,
        requires,
        host,
        in_workspace,
        outputs,
    };
    check::check(reader, &recipe);
    Some(recipe)
}

/// `true`, or `{scheme: ..., port: ...}` for one that serves by more than plain HTTP at its first port.
fn read_proxy(reader: &mut Reader<'_>, node: &Node) -> Option<Proxy> {
    if node.as_map().is_none() {
        return (reader.flag("proxy", node) == Some(true)).then(|| Proxy {
            scheme: Template::constant("http"),
            port: None,
            asked: None,
        });
    }
    let fields = reader.record("proxy", node, &["scheme", "port", "asked"]);
    let scheme = match find(fields, "scheme") {
        Some(node) => read_template(reader, "scheme", node)?,
        None => Template::constant("http"),
    };
    let port = find(fields, "port").and_then(|node| read_template(reader, "port", node));
    let asked = match find(fields, "asked") {
        Some(node) => Some(read_metrics(reader, node, "asked")?.text),
        None => None,
    };
    Some(Proxy { scheme, port, asked })
}

fn read_monitor(reader: &mut Reader<'_>, node: &Node) -> Option<Monitor> {
    let fields = reader.record("monitor", node, &["rules", "patience"]);
    let (Some(rules), Some(patience)) = (find(fields, "rules"), find(fields, "patience")) else {
        reader.report_with_hint(
            node.at,
            "A monitor names the volume of its rules and its patience",
            "Use {rules: VOLUME, patience: 1m}",
        );
        return None;
    };
    Some(Monitor {
        rules: reader.text("rules", rules)?,
        patience: read_template(reader, "patience", patience)?,
        at: node.at,
    })
}

/// The entries of the map under `key`, each read by `read`.
pub(crate) fn each<T>(
    reader: &mut Reader<'_>,
    entries: &[Entry],
    key: &str,
    read: impl Fn(&mut Reader<'_>, &Entry) -> Option<T>,
) -> Vec<T> {
    let Some(node) = find(entries, key) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for entry in reader.map(key, node) {
        found.extend(read(reader, entry));
    }
    found
}

fn is_version(version: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+');
    (1..=40).contains(&version.len()) && version.chars().all(fits) && !version.starts_with('.')
}

fn read_risk(reader: &mut Reader<'_>, node: &Node) -> Option<Risk> {
    match node.as_str() {
        Some("low") => Some(Risk::Low),
        Some("medium") => Some(Risk::Medium),
        Some("high") => Some(Risk::High),
        _ => {
            reader.report_with_hint(node.at, "Unknown risk", "Use low, medium or high");
            None
        }
    }
}

/// Names of options, uses and needs: they are variables of templates.
pub(crate) fn check_variable(reader: &mut Reader<'_>, what: &str, entry: &Entry) {
    let name = &entry.key;
    let fits = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.len() <= 48
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !fits {
        reader.report_with_hint(
            entry.key_at,
            format!("{what} {} has no valid name", quoted(name)),
            "Use lower-case letters, digits and underscores",
        );
    }
}

/// Whether Terraform can have an output of this name. The text of a pin never changes: there it is left out.
fn check_output(reader: &mut Reader<'_>, entry: &Entry) -> bool {
    let name = &entry.key;
    let is_kept = reader.file.starts_with(KEPT);
    let fits = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.len() <= 48
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let is_taken = TAKEN.contains(&name.as_str());
    if !fits && !is_kept {
        reader.report_with_hint(
            entry.key_at,
            format!("output {} has no valid name", quoted(name)),
            "Use letters, digits, underscores and hyphens, a letter first",
        );
    } else if is_taken && !is_kept {
        reader.report_with_hint(
            entry.key_at,
            format!("output {} has the name of one that Eos adds", quoted(name)),
            format!("Choose another name, such as own_{name}"),
        );
    }
    fits && !is_taken
}

fn read_option(reader: &mut Reader<'_>, entry: &Entry) -> Option<OptionSpec> {
    const KEYS: &[&str] = &[
        "type",
        "default",
        "generate",
        "not_rotated",
        "help",
        "choices",
        "of",
        "when",
        "pattern",
        "min",
        "max",
        "promote",
    ];
    let (name, at) = (&entry.key, entry.key_at);
    let what = format!("option {}", quoted(name));
    check_variable(reader, "option", entry);
    if BUILT_IN.iter().any(|built_in| built_in.name == *name) {
        reader.report(at, format!("{what} is built in: every recipe has it"));
    }
    let entries = reader.record(&what, &entry.value, KEYS);
    let kind = read_type(reader, entries, at, &what)?;
    let default = find(entries, "default").and_then(|node| read_values(reader, "default", node));
    let generate = find(entries, "generate")
        .and_then(|node| reader.whole_number("generate", node, 12, 128))
        .map(|n| n as u32);
    let secret = kind == OptionType::Secret;
    if secret && default.is_some() {
        reader.report_with_hint(
            at,
            format!("{what} is a secret and has a default"),
            "Use generate: 24 instead",
        );
    }
    if !secret && generate.is_some() {
        reader.report(at, format!("{what} is not a secret and cannot be generated"));
    }
    let not_rotated = read_not_rotated(reader, entries);
    if !secret && not_rotated.is_some() {
        reader.report(at, format!("{what} is not a secret and has no rotation"));
    }
    let help = find(entries, "help")
        .and_then(|node| reader.text("help", node))
        .unwrap_or_default();
    let pattern = find(entries, "pattern").and_then(|node| read_pattern(reader, node));
    if pattern.is_some() && !matches!(kind, OptionType::String | OptionType::List(_)) {
        reader.report(at, format!("{what} is a {}, which has no pattern", kind.word()));
    }
    let mut bound = |key: &str| {
        let node = find(entries, key)?;
        match kind.measure(&node.to_json()) {
            Some(bound) => Some(bound),
            None => {
                reader.report_with_hint(
                    node.at,
                    format!("{key} of {what} is not a bound of a {}", kind.word()),
                    "Integers, sizes and durations have bounds, written like their values",
                );
                None
            }
        }
    };
    let (min, max) = (bound("min"), bound("max"));
    let promote = match find(entries, "promote") {
        Some(node) => reader.flag("promote", node)?,
        None => kind.is_promoted(),
    };
    Some(OptionSpec {
        name: name.clone(),
        kind,
        default,
        generate,
        not_rotated,
        help,
        when: read_when(reader, entries),
        pattern,
        min,
        max,
        promote,
        at,
    })
}

fn read_type(reader: &mut Reader<'_>, entries: &[Entry], at: Position, what: &str) -> Option<OptionType> {
    let choices = find(entries, "choices")
        .map(|node| reader.texts("choices", node))
        .unwrap_or_default();
    let of = match find(entries, "of") {
        Some(node) => reader.text("of", node)?,
        None => "string".to_owned(),
    };
    let Some(node) = find(entries, "type") else {
        return Some(OptionType::String);
    };
    let word = reader.text("type", node)?;
    if word == "choice" && choices.is_empty() {
        reader.report_with_hint(at, format!("{what} has no choices"), "Add choices: [one, other]");
        return None;
    }
    OptionType::from_word(&word, choices, &of).or_else(|| {
        reader.report_with_hint(
            node.at,
            format!("Unknown option type {}", quoted(&word)),
            format!("Known types: {}", OptionType::WORDS.join(", ")),
        );
        None
    })
}

fn read_pattern(reader: &mut Reader<'_>, node: &Node) -> Option<Regex> {
    let text = reader.text("pattern", node)?;
    // The whole value must match: a pattern that finds a piece of it lets everything else through.
    match Regex::new(&format!("^(?:{text})$")) {
        Ok(pattern) => Some(pattern),
        Err(why) => {
            let why = why.to_string();
            let last = crate::yaml::shown(why.lines().last().unwrap_or_default(), 200);
            reader.report(node.at, format!("The pattern cannot be read: {last}"));
            None
        }
    }
}

/// An option that names a component to use in place of an own or the usual shared one.
fn option_of_use(used: &Use) -> OptionSpec {
    let instead = match (used.optional, used.share) {
        (true, _) => "the one of the environment",
        (false, true) => "the shared one",
        (false, false) => "one of its own",
    };
    OptionSpec {
        name: used.name.clone(),
        kind: OptionType::Component,
        default: Some(Template::constant(serde_json::Value::Null)),
        generate: None,
        not_rotated: None,
        help: format!("An existing {}, instead of {instead}", used.recipe),
        when: used.when.clone(),
        pattern: None,
        min: None,
        max: None,
        promote: false,
        at: used.at,
    }
}

fn read_use(reader: &mut Reader<'_>, entry: &Entry) -> Option<Use> {
    check_variable(reader, "use", entry);
    let what = format!("use {}", quoted(&entry.key));
    let fields = reader.record(
        &what,
        &entry.value,
        &["recipe", "share", "optional", "when", "with"],
    );
    let recipe = match find(fields, "recipe") {
        Some(node) => reader.text("recipe", node)?,
        None => {
            reader.report(entry.key_at, format!("{what} names no recipe"));
            return None;
        }
    };
    let mut is_so = |key: &str| find(fields, key).is_some_and(|node| reader.flag(key, node) == Some(true));
    let (share, optional) = (is_so("share"), is_so("optional"));
    if share && optional {
        reader.report_with_hint(
            entry.key_at,
            format!("{what} is both shared and optional"),
            "Eos makes a missing shared one; an optional one is used only if it is there",
        );
    }
    let with = each(reader, fields, "with", |reader, entry| {
        Some((entry.key.clone(), read_values(reader, &entry.key, &entry.value)?))
    });
    if (share || optional) && !with.is_empty() {
        reader.report_with_hint(
            entry.key_at,
            format!(
                "{what} is {} and cannot be given options",
                if share { "shared" } else { "optional" }
            ),
            "Options of a component that is not its own belong to that one",
        );
    }
    Some(Use {
        name: entry.key.clone(),
        recipe,
        share,
        optional,
        when: read_when(reader, fields),
        with,
        at: entry.key_at,
    })
}

#[derive(Default)]
struct Needs {
    volumes: Vec<VolumeNeed>,
    secrets: Vec<SecretNeed>,
    routes: Vec<RouteNeed>,
    databases: Vec<Use>,
}

fn read_need(reader: &mut Reader<'_>, entry: &Entry, needs: &mut Needs) {
    const KINDS: &[&str] = &["volume", "secret", "route", "database"];
    check_variable(reader, "need", entry);
    let what = format!("need {}", quoted(&entry.key));
    let fields = reader.record(&what, &entry.value, KINDS);
    let [only] = fields else {
        reader.report_with_hint(
            entry.key_at,
            format!("{what} must have one key"),
            format!("It is one of {}", KINDS.join(", ")),
        );
        return;
    };
    let name = &entry.key;
    match only.key.as_str() {
        "volume" => needs.volumes.extend(read_volume(reader, name, &only.value)),
        "secret" => needs.secrets.extend(read_secret_need(reader, name, &only.value)),
        "route" => needs.routes.extend(read_route(reader, name, &only.value)),
        "database" => needs.databases.extend(read_database(reader, entry, &only.value)),
        _ => {}
    }
}

fn read_volume(reader: &mut Reader<'_>, name: &str, node: &Node) -> Option<VolumeNeed> {
    const KEYS: &[&str] = &[
        "purpose",
        "size",
        "path",
        "owner",
        "mode",
        "each",
        "filesystem",
        "when",
    ];
    let fields = reader.record("volume", node, KEYS);
    let mut need = |key: &str| {
        let found = find(fields, key);
        if found.is_none() {
            reader.report(node.at, format!("volume {} has no {key}", quoted(name)));
        }
        found
    };
    let (purpose, size, path) = (need("purpose")?, need("size")?, need("path")?);
    let purpose = read_purpose(reader, purpose)?;
    let owner =
        find(fields, "owner").map_or(Some("root:root".to_owned()), |node| read_owner(reader, node))?;
    let mode = find(fields, "mode").map_or(Some("0750".to_owned()), |node| read_mode(reader, node))?;
    let filesystem = match find(fields, "filesystem") {
        Some(node) => Some(read_template(reader, "filesystem", node)?),
        None => None,
    };
    Some(VolumeNeed {
        name: name.to_owned(),
        purpose,
        size: read_template(reader, "size", size)?,
        path: read_template(reader, "path", path)?,
        filesystem,
        owner,
        mode,
        each: find(fields, "each").is_some_and(|node| reader.flag("each", node) == Some(true)),
        when: read_when(reader, fields),
        at: node.at,
    })
}

fn read_secret_need(reader: &mut Reader<'_>, name: &str, node: &Node) -> Option<SecretNeed> {
    let fields = reader.record("secret", node, &["generate", "not_rotated"]);
    let generate = match find(fields, "generate") {
        Some(node) => reader.whole_number("generate", node, 12, 128)?,
        None => 32,
    };
    Some(SecretNeed {
        name: name.to_owned(),
        generate: generate as u32,
        not_rotated: read_not_rotated(reader, fields),
        at: node.at,
    })
}

fn read_not_rotated(reader: &mut Reader<'_>, fields: &[Entry]) -> Option<String> {
    let node = find(fields, "not_rotated")?;
    let why = reader.text("not_rotated", node)?;
    if why.trim().is_empty() {
        reader.report_with_hint(
            node.at,
            "not_rotated names no reason",
            "Write one sentence about the program's use of the secret",
        );
    }
    Some(why)
}

fn read_route(reader: &mut Reader<'_>, name: &str, node: &Node) -> Option<RouteNeed> {
    let fields = reader.record("route", node, &["host", "service", "when"]);
    let mut need = |key: &str| {
        let found = find(fields, key);
        if found.is_none() {
            reader.report(node.at, format!("route {} has no {key}", quoted(name)));
        }
        found
    };
    let (host, service) = (need("host")?, need("service")?);
    Some(RouteNeed {
        name: name.to_owned(),
        host: read_template(reader, "host", host)?,
        service: reader.text("service", service)?,
        when: read_when(reader, fields),
        at: node.at,
    })
}

/// A database is a component of its own: the need is a use with the names filled in.
fn read_database(reader: &mut Reader<'_>, entry: &Entry, node: &Node) -> Option<Use> {
    let fields = reader.record("database", node, &["engine", "name", "size", "when"]);
    let engine = match find(fields, "engine") {
        Some(node) => reader.text("engine", node)?,
        None => "postgres".to_owned(),
    };
    let mut with = Vec::new();
    for (key, option) in [("name", "database"), ("size", "size")] {
        if let Some(node) = find(fields, key) {
            with.push((option.to_owned(), read_template(reader, key, node)?));
        }
    }
    Some(Use {
        name: entry.key.clone(),
        recipe: engine,
        share: false,
        optional: false,
        when: read_when(reader, fields),
        with,
        at: entry.key_at,
    })
}

fn read_service(reader: &mut Reader<'_>, entry: &Entry) -> Option<Service> {
    const KEYS: &[&str] = &[
        "type",
        "schedule",
        "after",
        "instances",
        "when",
        "replicas",
        "cpu",
        "memory",
        "image",
        "args",
        "program",
        "env",
        "files",
        "secrets",
        "ports",
        "check",
        "start",
        "stop",
        "ends",
        "metrics",
        "reload",
        "tasks",
        "volumes",
    ];
    let (name, at) = (&entry.key, entry.key_at);
    let what = format!("service {}", quoted(name));
    if let Some(problem) = name::problem(Sort::Service, name) {
        reader.report(at, problem);
    }
    let keys: Vec<&str> = KEYS.iter().chain(Container::KEYS).copied().collect();
    let entries = reader.record(&what, &entry.value, &keys);
    let mode = jobs::read_mode(reader, entries, &what);
    let one = match find(entries, "instances").map(|node| (node, node.as_str())) {
        None | Some((_, Some("many"))) => false,
        Some((_, Some("one"))) => true,
        Some((node, _)) => {
            reader.report_with_hint(node.at, format!("Unknown instances of {what}"), "Use one or many");
            false
        }
    };
    let replicas = read_figure(reader, entries, "replicas", REPLICAS);
    let cpu = read_figure(reader, entries, "cpu", CPU);
    let memory = read_figure(reader, entries, "memory", MEMORY);
    let run = read_run(reader, entries, at, &what)?;
    let ports = each(reader, entries, "ports", read_port);
    let mut timing = Timing::default();
    let check = find(entries, "check").and_then(|node| read_check(reader, node, &mut timing));
    timing.start = read_within(reader, entries, "start", SHORTEST_START);
    timing.stop = read_within(reader, entries, "stop", SHORTEST_STOP);
    timing.ends = read_within(reader, entries, "ends", SHORTEST_STOP);
    if check.is_some() {
        check_timing(reader, entries, &what, &timing);
    }
    if check.is_some() && ports.is_empty() {
        reader.report(at, format!("{what} has a check but no port to check"));
    }
    let metrics = find(entries, "metrics").and_then(|node| read_metrics(reader, node, "metrics"));
    if metrics.is_some() && ports.is_empty() {
        reader.report(at, format!("{what} has metrics but no port to ask for them"));
    }
    Some(Service {
        name: name.clone(),
        after: jobs::read_after(reader, entries),
        one: one || !mode.is_lasting(),
        mode,
        when: read_when(reader, entries),
        replicas,
        cpu,
        memory,
        run,
        container: Container::read(reader, entries),
        tasks: each(reader, entries, "tasks", tasks::read),
        env: read_templates(reader, entries, "env"),
        files: each(reader, entries, "files", read_file),
        secrets: each(reader, entries, "secrets", read_secret_use),
        ports,
        check,
        timing,
        reload: find(entries, "reload").map_or_else(Vec::new, |node| read_words(reader, "reload", node)),
        metrics,
        mounts: each(reader, entries, "volumes", |reader, entry| {
            let text = reader.text("volumes", &entry.value)?;
            let at = entry.value.at;
            Some((entry.key.clone(), Placed { text, at }))
        }),
        at,
    })
}

/// `NAME: text`, or `NAME: {path: /etc/NAME, text: ...}` for one that a container finds at a path of its own as well.
fn read_file(reader: &mut Reader<'_>, entry: &Entry) -> Option<File> {
    let name = entry.key.clone();
    check_file_name(reader, entry.key_at, &name);
    if entry.value.as_map().is_none() {
        let text = read_document(reader, &name, &entry.value)?;
        return Some(File {
            name,
            text,
            path: None,
            each_route: false,
        });
    }
    let fields = reader.record(
        &format!("file {}", quoted(&name)),
        &entry.value,
        &["path", "text", "each_route"],
    );
    if let Some(node) = find(fields, "each_route")
        && find(fields, "text").is_none()
        && find(fields, "path").is_none()
    {
        return Some(File {
            text: read_document(reader, &name, node)?,
            name,
            path: None,
            each_route: true,
        });
    }
    let (Some(path), Some(text)) = (find(fields, "path"), find(fields, "text")) else {
        let words = format!("file {} has not both a path and a text", quoted(&name));
        reader.report_with_hint(
            entry.key_at,
            words,
            "Use {path: /etc/app.conf, text: ...}, or {each_route: ...} in a proxy",
        );
        return None;
    };
    let at = path.at;
    let path = reader.text("path", path)?;
    if !crate::option::is_absolute(&path) || path == "/" {
        let words = format!(
            "{} is not absolute and plain, such as /etc/app.conf",
            quoted(&path)
        );
        reader.report(at, words);
    }
    let text = read_document(reader, &name, text)?;
    Some(File {
        name,
        text,
        path: Some(path),
        each_route: false,
    })
}

fn read_figure(reader: &mut Reader<'_>, entries: &[Entry], key: &str, bounds: RangeInclusive<u32>) -> Figure {
    let (low, high) = ((*bounds.start()).into(), (*bounds.end()).into());
    let mut figure = Figure::default();
    let Some(node) = find(entries, key) else {
        return figure;
    };
    if node.as_map().is_none() {
        if let Some(value) = reader.whole_number(key, node, low, high) {
            figure.of.push(("production".to_owned(), value as u32, node.at));
        }
        return figure;
    }
    let known: Vec<&str> = ENVIRONMENTS.iter().copied().chain(["minimum"]).collect();
    for entry in reader.record(key, node, &known) {
        let Some(value) = reader.whole_number(&entry.key, &entry.value, low, high) else {
            continue;
        };
        match entry.key.as_str() {
            "minimum" => figure.minimum = Some((value as u32, entry.value.at)),
            environment => figure
                .of
                .push((environment.to_owned(), value as u32, entry.value.at)),
        }
    }
    figure
}

/// What a task runs: an image or program of its own, or arguments for the image of its service.
pub(super) fn find_run(
    reader: &mut Reader<'_>,
    entries: &[Entry],
    at: Position,
    what: &str,
) -> Option<(Option<Run>, Vec<Template>)> {
    let has = |key: &str| find(entries, key).is_some();
    if has("image") || has("program") {
        return Some((Some(read_run(reader, entries, at, what)?), Vec::new()));
    }
    let args = find(entries, "args").map_or_else(Vec::new, |node| read_words(reader, "args", node));
    Some((None, args))
}

fn read_run(reader: &mut Reader<'_>, entries: &[Entry], at: Position, what: &str) -> Option<Run> {
    match (
        find(entries, "image"),
        find(entries, "program"),
        find(entries, "args"),
    ) {
        (Some(image), None, args) => {
            let args = args.map_or_else(Vec::new, |node| read_words(reader, "args", node));
            let template = read_template(reader, "image", image)?;
            refuse_nothing(reader, &format!("The image of {what}"), &template);
            Some(Run::Image(template, args))
        }
        (None, Some(program), None) => {
            let words = read_words(reader, "program", program);
            if words.is_empty() {
                reader.report(
                    program.at,
                    format!("The program of {what} must be a list of words"),
                );
                return None;
            }
            refuse_nothing(reader, &format!("The program of {what}"), &words[0]);
            Some(Run::Program(words))
        }
        (None, Some(_), Some(args)) => {
            reader.report(
                args.at,
                format!("{what} runs a program: its arguments belong to program"),
            );
            None
        }
        _ => {
            reader.report_with_hint(
                at,
                format!("{what} needs either an image or a program"),
                "Add image: NAME:TAG",
            );
            None
        }
    }
}

/// What is run has a name.
fn refuse_nothing(reader: &mut Reader<'_>, what: &str, template: &Template) {
    let name = template
        .literal()
        .map(|literal| literal.as_str().unwrap_or_default());
    if name == Some("") {
        reader.report(template.at, format!("{what} must be a name"));
    }
}

pub(super) fn read_words(reader: &mut Reader<'_>, what: &str, node: &Node) -> Vec<Template> {
    let Some(words) = node.as_list() else {
        reader.report_with_hint(
            node.at,
            format!("{what} must be a list of words, not {}", node.kind_name()),
            "Write them in brackets, with commas: [serve, --verbose]",
        );
        return Vec::new();
    };
    let mut templates = Vec::new();
    for word in words {
        templates.extend(read_template(reader, what, word));
    }
    templates
}

fn read_check(reader: &mut Reader<'_>, node: &Node, timing: &mut Timing) -> Option<Check> {
    let fields = reader.record("check", node, &["http", "tcp", "command", "every", "timeout"]);
    timing.every = read_span(reader, "every", find(fields, "every"), SHORTEST_CHECK);
    timing.timeout = read_span(reader, "timeout", find(fields, "timeout"), SHORTEST_CHECK);
    match (find(fields, "http"), find(fields, "tcp"), find(fields, "command")) {
        (Some(path), None, None) => Some(Check::Http(read_template(reader, "http", path)?)),
        (None, Some(flag), command) if flag.to_json() == true => Some(Check::Tcp {
            command: command.map_or_else(Vec::new, |command| reader.texts("command", command)),
        }),
        _ => {
            reader.report_with_hint(
                node.at,
                "A check is either of a path or of the port",
                "Use {http: /health}, or {tcp: true} with or without a command",
            );
            None
        }
    }
}

/// `{within: 10m}`: how long a start or a stop may take.
fn read_within(reader: &mut Reader<'_>, entries: &[Entry], key: &str, shortest: Span) -> Option<Said> {
    let node = find(entries, key)?;
    let fields = reader.record(key, node, &["within"]);
    let within = find(fields, "within");
    if within.is_none() && node.as_map().is_some() {
        let hint = format!("Use {key}: {{within: 2m}}");
        reader.report_with_hint(node.at, format!("{key} says no time"), hint);
    }
    read_span(reader, &format!("{key}.within"), within, shortest)
}

fn read_span(reader: &mut Reader<'_>, what: &str, node: Option<&Node>, shortest: Span) -> Option<Said> {
    let node = node?;
    let hint = format!("Write a duration from {shortest} to {LONGEST}, such as 30s or 2m");
    let Some(text) = node.as_str() else {
        let message = format!("{what} must be a duration, not {}", node.kind_name());
        reader.report_with_hint(node.at, message, hint);
        return None;
    };
    match Span::parse(text) {
        Ok(span) if (shortest..=LONGEST).contains(&span) => Some(Said {
            span,
            line: node.at.line,
        }),
        Ok(span) => {
            let message = format!("{what} must be between {shortest} and {LONGEST}, not {span}");
            reader.report_with_hint(node.at, message, hint);
            None
        }
        Err(why) => {
            reader.report_with_hint(node.at, format!("{what}: {why}"), hint);
            None
        }
    }
}

/// A start that ends before its check was made and answered can never be a healthy one.
fn check_timing(reader: &mut Reader<'_>, entries: &[Entry], what: &str, timing: &Timing) {
    let start = timing.start();
    let at = |key: &str, field: &str| Some(find(find(entries, key)?.as_map()?, field)?.at);
    for (field, span) in [("every", timing.every()), ("timeout", timing.timeout())] {
        if let Some(at) = at("check", field)
            .or_else(|| at("start", "within"))
            .filter(|_| span >= start)
        {
            reader.report_with_hint(
                at,
                format!("{field} of the check of {what} is {span}, and a start may take {start}"),
                "Lower it, or raise start: {within: 2m} of the service",
            );
        }
    }
}

/// It stands in a tag of the service, where commas and blanks part one thing from the next.
fn read_metrics(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Placed> {
    let path = reader.text(key, node)?;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    if !path.starts_with('/') || path.len() > 100 || !path.chars().all(fits) {
        reader.report_with_hint(
            node.at,
            format!("{key} cannot be at {}", quoted(&path)),
            "Use a path of letters, digits and . _ -, such as /metrics",
        );
    }
    Some(Placed {
        text: path,
        at: node.at,
    })
}

/// `NAME: option`, `NAME: {file: option}`, `NAME: {text: ...}` or `NAME: {file: name, text: ...}`.
fn read_secret_use(reader: &mut Reader<'_>, entry: &Entry) -> Option<SecretUse> {
    let variable = entry.key.clone();
    let option = |reader: &mut Reader<'_>, node: &Node| -> Option<Template> {
        let name = reader.text("secrets", node)?;
        Template::name(&name, node.at).or_else(|| {
            reader.report_with_hint(
                node.at,
                format!("{} cannot name a secret", quoted(&name)),
                format!(
                    "Write the name of the option alone, or a text: {{text: {}}}",
                    quoted(&name)
                ),
            );
            None
        })
    };
    if entry.value.as_map().is_none() {
        return Some(SecretUse {
            variable,
            text: option(reader, &entry.value)?,
            file: None,
        });
    }
    let fields = reader.record("a secret", &entry.value, &["file", "text"]);
    let file = match find(fields, "file") {
        Some(node) => Some((reader.text("file", node)?, node)),
        None => None,
    };
    let text = match (find(fields, "text"), &file) {
        (Some(node), _) => read_document(reader, "text", node)?,
        (None, Some((_, node))) => option(reader, node)?,
        (None, None) => {
            reader.report_with_hint(
                entry.key_at,
                "A secret names nothing",
                "Use {file: OPTION} or {text: ...}",
            );
            return None;
        }
    };
    if let Some((name, node)) = &file {
        check_file_name(reader, node.at, name);
    }
    Some(SecretUse {
        variable,
        text,
        file: file.map(|(name, _)| name),
    })
}

fn check_file_name(reader: &mut Reader<'_>, at: Position, name: &str) {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.is_empty() || name.starts_with('.') || name.len() > 100 || !name.chars().all(fits) {
        reader.report_with_hint(
            at,
            format!("{} cannot name a file", quoted(name)),
            "Use letters, digits and . _ -, without directories",
        );
    }
}

fn read_port(reader: &mut Reader<'_>, entry: &Entry) -> Option<Port> {
    check_variable(reader, "port", entry);
    let fields = reader.record(
        &format!("port {}", quoted(&entry.key)),
        &entry.value,
        &["to", "static", "protocol"],
    );
    let udp = match find(fields, "protocol").map(|node| (node.as_str(), node.at)) {
        None | Some((Some("tcp"), _)) => false,
        Some((Some("udp"), _)) => true,
        Some((_, at)) => {
            reader.report_with_hint(at, "Unknown protocol of a port", "Use tcp or udp");
            false
        }
    };
    let mut field = |key: &str| find(fields, key).and_then(|node| read_template(reader, key, node));
    Some(Port {
        label: entry.key.clone(),
        to: field("to"),
        fixed: field("static"),
        udp,
    })
}

pub(crate) fn read_when(reader: &mut Reader<'_>, entries: &[Entry]) -> Option<Template> {
    find(entries, "when").and_then(|node| read_template(reader, "when", node))
}

/// The value of an option, which may be a list.
pub(crate) fn read_values(reader: &mut Reader<'_>, what: &str, node: &Node) -> Option<Template> {
    reported(reader, what, node, Template::read(node))
}

fn read_templates(reader: &mut Reader<'_>, entries: &[Entry], key: &str) -> Vec<(String, Template)> {
    each(reader, entries, key, |reader, entry| {
        Some((
            entry.key.clone(),
            read_template(reader, &entry.key, &entry.value)?,
        ))
    })
}

pub(crate) fn read_template(reader: &mut Reader<'_>, what: &str, node: &Node) -> Option<Template> {
    if node.as_list().is_some() || node.as_map().is_some() {
        reader.report_with_hint(
            node.at,
            format!("{} must be one value, not {}", quoted(what), node.kind_name()),
            "Write text, a number, or an expression in {{ }}",
        );
        return None;
    }
    reported(reader, what, node, Template::read(node))
}

/// The text of a file may have loops and conditions in it.
pub(crate) fn read_document(reader: &mut Reader<'_>, what: &str, node: &Node) -> Option<Template> {
    reported(reader, what, node, Template::read_document(node))
}

fn reported(
    reader: &mut Reader<'_>,
    what: &str,
    node: &Node,
    read: Result<Template, String>,
) -> Option<Template> {
    match read {
        Ok(template) => Some(template),
        Err(why) => {
            let why = crate::yaml::shown(&why, 200);
            reader.report_with_hint(
                node.at,
                format!("{} cannot be read: {why}", quoted(what)),
                "docs/recipes.md lists what a template may hold, under Templates",
            );
            None
        }
    }
}
