//! A recipe in words: its options, what it uses and needs, what it runs.

use super::text::{Table, hang, pad, width, wrap};
use crate::options::{default_words, only, usual};
use eos_core::catalog::{BUILT_IN, Catalog};
use eos_core::expand::flag;
use eos_core::option::OptionType;
use eos_core::recipe::{Check, Figure, OptionSpec, Purpose, Recipe, Risk, Run, Service, Use, VolumeNeed};
use eos_core::template::Template;
use serde_json::{Map, Value};

/// Whose recipe it is.
pub fn origin(recipe: &Recipe) -> &'static str {
    match BUILT_IN.iter().any(|(file, _)| *file == recipe.file) {
        true => "built-in",
        false => "own",
    }
}

pub fn risk_word(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
    }
}

/// `list of port`, `choice`.
pub fn type_words(kind: &OptionType) -> String {
    match kind {
        OptionType::List(of) => format!("list of {}", of.word()),
        other => other.word().to_owned(),
    }
}

pub fn purpose_word(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Application => "application",
        Purpose::Database => "database",
        Purpose::Backup => "backup",
        Purpose::Shared => "shared",
    }
}

/// One line a recipe where there is room for its summary beside the rest, else a block of lines.
pub fn recipes_text(catalog: &Catalog, columns: usize) -> String {
    let row = |recipe: &Recipe| {
        [
            recipe.name.clone(),
            recipe.version.clone(),
            risk_word(recipe.risk).to_owned(),
            origin(recipe).to_owned(),
            recipe.summary.clone(),
        ]
    };
    let headings = ["recipe", "version", "risk", "from", "summary"];
    let rows: Vec<_> = catalog.iter().map(row).collect();
    let wide = |column: usize| {
        rows.iter()
            .map(|row| width(&row[column]))
            .chain([width(headings[column])])
            .max()
    };
    let widths = [0, 1, 2, 3].map(|column| wide(column).unwrap_or(0) + 2);
    let beside: usize = widths.iter().sum();
    if columns < beside + 24 {
        let rows = rows.into_iter().map(Vec::from).collect();
        return Table {
            headings: &headings,
            right: &[],
            rows,
        }
        .print(Some(columns));
    }
    let line = |cells: &[String; 5]| {
        let first: String = cells
            .iter()
            .zip(widths)
            .map(|(cell, wide)| pad(cell, wide))
            .collect();
        let room = columns.saturating_sub(beside);
        let mut lines = wrap(&cells[4], room).into_iter();
        let mut text = format!("{first}{}\n", lines.next().unwrap_or_default());
        text.extend(lines.map(|line| format!("{}{line}\n", " ".repeat(beside))));
        text
    };
    let mut text = line(&headings.map(str::to_owned));
    text.extend(rows.iter().map(line));
    text
}

pub fn recipe_text(recipe: &Recipe, columns: usize) -> String {
    let mut text = hang(
        "",
        &format!("{} {}: {}", recipe.name, recipe.version, recipe.summary),
        columns,
    );
    let mut facts = vec![
        format!("{} ({})", origin(recipe), recipe.file),
        format!("risk {}", risk_word(recipe.risk)),
        format!("pin {}", recipe.pin),
    ];
    facts.extend(recipe.proxy.then(|| "serves the routes of others".to_owned()));
    facts.extend(recipe.monitor.iter().map(|_| "watches others".to_owned()));
    if !recipe.after.is_empty() {
        facts.push(format!("after {}", recipe.after.join(", ")));
    }
    text.push_str(&hang("", &facts.join(", "), columns));
    let usual = usual(recipe);
    let options = recipe
        .settable()
        .map(|spec| (format!("--{}", flag(&spec.name)), option_words(spec, recipe)));
    let uses = recipe
        .uses
        .iter()
        .map(|used| (used.name.clone(), use_words(used, &usual)));
    let volumes = recipe
        .volumes
        .iter()
        .map(|need| (need.name.clone(), volume_words(need, &usual)));
    let secrets = recipe.secrets.iter().map(|need| {
        let words = format!("secret, {} random characters", need.generate);
        (need.name.clone(), words)
    });
    let routes = recipe.routes.iter().map(|need| {
        let words = format!("route {} to {}", value(&need.host, &usual), need.service);
        (need.name.clone(), with_condition(words, need.when.as_ref()))
    });
    let services = recipe
        .services
        .iter()
        .map(|service| (service.name.clone(), service_words(service, &usual)));
    let outputs = recipe
        .outputs
        .iter()
        .map(|output| (output.name.clone(), output.value.shown()));
    for (heading, entries) in [
        ("options", options.collect::<Vec<_>>()),
        ("uses", uses.collect()),
        ("needs", volumes.chain(secrets).chain(routes).collect()),
        ("services", services.collect()),
        ("outputs", outputs.collect()),
    ] {
        text.push_str(&section(heading, &entries, columns));
    }
    text
}

/// A heading, and under it names with their words, hanging; on a narrow terminal the words stand below the name.
fn section(heading: &str, entries: &[(String, String)], columns: usize) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let names = entries.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let mut text = format!("\n{heading}\n");
    for (name, words) in entries {
        let first = format!("  {}  ", pad(name, names));
        if 2 * width(&first) <= columns {
            text.push_str(&hang(&first, words, columns));
        } else {
            text.push_str(&format!("  {name}\n{}", hang("    ", words, columns)));
        }
    }
    text
}

/// Its help, then on a line of its own all that is fixed about its value.
fn option_words(spec: &OptionSpec, recipe: &Recipe) -> String {
    let mut facts = vec![match &spec.kind {
        OptionType::Choice(choices) => format!("one of {}", choices.join(", ")),
        kind => type_words(kind),
    }];
    facts.extend(spec.shown_pattern().map(|pattern| format!("matching {pattern}")));
    // Those that every recipe has have bounds that nobody reaches.
    if recipe.option(&spec.name).is_some() {
        facts.extend(spec.min.map(|min| format!("at least {}", spec.shown_bound(min))));
        facts.extend(spec.max.map(|max| format!("at most {}", spec.shown_bound(max))));
    }
    facts.push(match (default_words(spec, recipe), &spec.default) {
        (Some(default), _) => format!("default {default}"),
        (None, Some(_)) => "optional".to_owned(),
        (None, None) => "needed".to_owned(),
    });
    facts.extend(spec.when.as_ref().map(only));
    facts.extend(spec.promote.then(|| "promoted".to_owned()));
    match spec.help.is_empty() {
        true => facts.join("; "),
        false => format!("{}\n{}", spec.help, facts.join("; ")),
    }
}

fn use_words(used: &Use, usual: &Map<String, Value>) -> String {
    let words = match used.share {
        true => format!("the shared {}", used.recipe),
        false => format!("its own {}", used.recipe),
    };
    let given = used
        .with
        .iter()
        .map(|(option, template)| format!("{option} {}", value(template, usual)));
    let given = given.collect::<Vec<_>>().join(", ");
    let words = if given.is_empty() {
        words
    } else {
        format!("{words} with {given}")
    };
    with_condition(words, used.when.as_ref())
}

fn volume_words(need: &VolumeNeed, usual: &Map<String, Value>) -> String {
    let mut words = format!(
        "volume for {} data, {} at {}",
        purpose_word(need.purpose),
        value(&need.size, usual),
        value(&need.path, usual)
    );
    if need.each {
        words.push_str(", one for each instance");
    }
    with_condition(words, need.when.as_ref())
}

fn service_words(service: &Service, usual: &Map<String, Value>) -> String {
    let mut facts = vec![match &service.run {
        Run::Image(image, _) => format!("image {}", value(image, usual)),
        Run::Program(words) => {
            let words = words.iter().map(|word| value(word, usual));
            format!("program {}", words.collect::<Vec<_>>().join(" "))
        }
    }];
    facts.push(match service.one {
        true => "one instance".to_owned(),
        false => figure_words("instances", &service.replicas),
    });
    facts.push(figure_words("MHz", &service.cpu));
    facts.push(figure_words("MiB", &service.memory));
    for port in &service.ports {
        let fixed = port.fixed.as_ref().and_then(|fixed| shown(fixed, usual));
        facts.push(format!(
            "port {} {}",
            port.label,
            fixed.as_deref().unwrap_or("chosen by Nomad")
        ));
    }
    facts.extend(service.check.as_ref().map(|check| match check {
        Check::Http(path) => format!("check GET {}", value(path, usual)),
        Check::Tcp { .. } => "check of the port".to_owned(),
    }));
    facts.extend(service.metrics.iter().map(|path| format!("metrics {path}")));
    with_condition(facts.join(", "), service.when.as_ref())
}

/// What the recipe says of production, and at least; nothing said leaves it to the environment.
fn figure_words(unit: &str, figure: &Figure) -> String {
    let production = figure.of.iter().find(|(of, ..)| of == "production");
    let least = figure.minimum.map(|(value, _)| format!(" (at least {value})"));
    match production {
        Some((_, 1, _)) if unit == "instances" => format!("1 instance{}", least.unwrap_or_default()),
        Some((_, value, _)) => format!("{value} {unit}{}", least.unwrap_or_default()),
        None => format!("{unit} by environment{}", least.unwrap_or_default()),
    }
}

fn with_condition(words: String, when: Option<&Template>) -> String {
    match when {
        Some(when) => format!("{words}; {}", only(when)),
        None => words,
    }
}

/// The value of a template in the usual component, where it has one, as text.
fn shown(template: &Template, usual: &Map<String, Value>) -> Option<String> {
    match template.evaluate(usual).ok()? {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

/// The same; or the template itself.
fn value(template: &Template, usual: &Map<String, Value>) -> String {
    let written = || template.written().as_str().unwrap_or_default().to_owned();
    shown(template, usual).unwrap_or_else(written)
}
