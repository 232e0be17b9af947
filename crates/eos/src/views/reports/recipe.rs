//! The report of one recipe: its options, what it uses and needs, what it runs.

use crate::options::{default_words, only, usual};
use crate::views::report::{Message, Page, Report};
use crate::views::text::{hang, pad, width};
use eos_core::catalog::BUILT_IN;
use eos_core::expand::flag;
use eos_core::option::OptionType;
use eos_core::recipe::{
    Check, Figure, Mode, OptionSpec, Purpose, Recipe, Risk, Run, Service, Use, VolumeNeed,
};
use eos_core::template::Template;
use serde_json::{Map, Value, json};

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
    }
}

impl Report for Recipe {
    fn text(&self, page: &mut Page) {
        page.data(recipe_text(self, page.columns()));
    }

    fn json(&self) -> Message {
        Message::Document("recipe", recipe_value(self))
    }
}

pub fn recipe_value(recipe: &Recipe) -> Value {
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
                "name": used.name, "recipe": used.recipe, "share": used.share,
                "optional": used.optional, "when": shown(&used.when),
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
        "risk": recipe.risk, "from": origin(recipe), "file": recipe.file, "proxy": recipe.is_proxy(),
        "monitor": recipe.monitor.is_some(), "after": recipe.after,
        "options": options, "uses": uses, "volumes": volumes, "secrets": secrets, "routes": routes,
        "services": services, "outputs": outputs,
    })
}

fn recipe_text(recipe: &Recipe, columns: usize) -> String {
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
    facts.extend(
        recipe
            .is_proxy()
            .then(|| "serves the routes of others".to_owned()),
    );
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
    let words = match (used.optional, used.share) {
        (true, _) => format!("the {} of its environment, if there is one", used.recipe),
        (false, true) => format!("the shared {}", used.recipe),
        (false, false) => format!("its own {}", used.recipe),
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
    facts.push(match &service.mode {
        Mode::Service if service.one => "one instance".to_owned(),
        Mode::Service => figure_words("instances", &service.replicas),
        Mode::System => "one instance on each host".to_owned(),
        Mode::Batch => "once, to its end".to_owned(),
        Mode::Scheduled(schedule) => format!("at {}", value(&schedule.cron, usual)),
    });
    if !service.after.is_empty() {
        let names = service.after.iter().map(|(name, _)| name.as_str());
        facts.push(format!("after {}", names.collect::<Vec<_>>().join(" and ")));
    }
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
    facts.extend(
        service
            .metrics
            .iter()
            .map(|path| format!("metrics {}", path.text)),
    );
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
