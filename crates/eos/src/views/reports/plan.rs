//! The report of a plan: the summary first, then what cannot be taken back, then one row a change, by component
//! and layer, then what was changed behind Eos and what nobody could say.

use super::effects::{changed_behind, not_asked, refused, words_of_engines};
use crate::views::report::{Message, Page, Purpose, Report, value};
use crate::views::text::{BOLD, GREEN, RED, YELLOW, hang, printable, wrap};
use eos_core::catalog::KEPT;
use eos_core::emit::terraform::PLATFORM;
use eos_core::node::Layer;
use eos_core::option::human_size;
use eos_core::plan::{Act, Action, AttributeChange, Change, Key, Plan, Step};
use eos_core::recipe::Risk;
use eos_core::scope::Scope;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The widest name of a layer: `service`.
const LAYER: usize = 7;

/// What the risk of a plan asks for; low risk asks for nothing.
fn risk_words(risk: Risk) -> Option<&'static str> {
    match risk {
        Risk::Low => None,
        Risk::Medium => Some("medium risk: an operator applies or approves it"),
        Risk::High => Some("high risk: an architect other than the requester must approve it"),
    }
}

pub struct PlanReport<'a> {
    plan: &'a Plan,
    purpose: Purpose,
}

impl<'a> PlanReport<'a> {
    /// The plan is all that was asked for.
    pub fn answer(plan: &'a Plan) -> Self {
        let purpose = Purpose::Answer;
        Self { plan, purpose }
    }

    /// A person confirms the plan next.
    pub fn to_confirm(plan: &'a Plan) -> Self {
        let purpose = Purpose::Confirm;
        Self { plan, purpose }
    }
}

impl Report for PlanReport<'_> {
    fn text(&self, page: &mut Page) {
        match self.purpose {
            Purpose::Answer => page.data(plan_text(self.plan, page.columns())),
            Purpose::Confirm => page.talk(plan_text(self.plan, page.talk_width)),
        }
    }

    /// The plan has its own version, and keeps its form for both purposes.
    fn json(&self) -> Message {
        let content = json!({"plan": value(self.plan)});
        match self.purpose {
            Purpose::Answer => Message::Document("plan", content),
            Purpose::Confirm => Message::TimedEvent("plan", content),
        }
    }
}

/// The plan changes nothing, and Eos applies nothing.
pub struct NothingToDo<'a>(pub &'a Plan);

impl Report for NothingToDo<'_> {
    fn text(&self, page: &mut Page) {
        page.say(&format!("{}: nothing to do", subject(self.0)));
    }

    fn json(&self) -> Message {
        let Plan {
            environment,
            components,
            ..
        } = self.0;
        let content =
            json!({"operation": null, "environment": environment, "components": components, "outputs": {}});
        Message::Event("finished", content)
    }
}

fn plan_text(plan: &Plan, columns: usize) -> String {
    let mut text = String::new();
    for line in hang("", &summary(plan), columns).lines() {
        let _ = writeln!(text, "{BOLD}{line}{BOLD:#}");
    }
    text.push_str(&no_return(plan, columns));
    if let Some(words) = risk_words(plan.risk()) {
        text.push_str(&hang("", words, columns));
    }
    if !plan.observed {
        text.push_str(&hang(
            "",
            "made without the engines: a preview, which cannot be applied",
            columns,
        ));
    }
    text.push('\n');
    let mut name = "pillar";
    for (file, edited) in &plan.pillar {
        let action = match edited {
            None => Action::Delete,
            // What a component is pinned to is kept once and never edited.
            Some(_) if file.starts_with(KEPT) => Action::Create,
            Some(_) => Action::Change,
        };
        row(&mut text, name, action, file, columns);
        name = "";
    }
    by_components(&mut text, plan, columns);
    let beside = changed_behind(plan, columns) + &not_asked(plan, columns) + &refused(plan, columns);
    if !beside.is_empty() {
        text.push('\n');
        text.push_str(&beside);
    }
    text
}

fn by_components(text: &mut String, plan: &Plan, columns: usize) {
    for act in &plan.acts {
        act_row(text, act, columns);
    }
    let components = by_component(plan);
    let several = components
        .iter()
        .filter(|((_, name), _)| name != PLATFORM)
        .count()
        > 1;
    if !several {
        by_layer(text, plan, &plan.changes.iter().collect::<Vec<_>>(), columns);
        return;
    }
    for (index, (key, changes)) in components.into_iter().enumerate() {
        if index > 0 || !plan.pillar.is_empty() {
            text.push('\n');
        }
        let title = match (Scope::of(&key), key.1.as_str()) {
            (Scope::Estate, host) => format!("host {host}"),
            (Scope::Environment(environment), PLATFORM) => {
                format!("{PLATFORM}, shared by all of {environment}")
            }
            (Scope::Environment(_), name) => name.to_owned(),
        };
        let _ = writeln!(text, "{BOLD}{title}{BOLD:#}");
        by_layer(text, plan, &changes, columns);
    }
}

fn summary(plan: &Plan) -> String {
    let subject = subject(plan);
    if let Some(act) = plan.only_act() {
        return format!(
            "{subject}: {}, nothing to create, change or delete",
            act.deed.word()
        );
    }
    if plan.changes.is_empty() {
        return format!("{subject}: nothing to create, change or delete; only the pillar is edited");
    }
    let counts = [Action::Create, Action::Change, Action::Delete].map(|action| plan.count(action));
    let [create, change, delete] = counts;
    let no_return = match plan.points_of_no_return().count() {
        0 => String::new(),
        1 => "; 1 point of no return".to_owned(),
        number => format!("; {number} points of no return"),
    };
    format!("{subject}: {create} to create, {change} to change, {delete} to delete{no_return}")
}

/// The changes of each component and host, as the steps of the plan come to them.
fn by_component(plan: &Plan) -> Vec<(Key, Vec<&Change>)> {
    let mut changes: BTreeMap<Key, Vec<&Change>> = BTreeMap::new();
    for change in &plan.changes {
        changes.entry(change.key()).or_default().push(change);
    }
    let steps = plan.steps.iter().map(Step::key);
    let mut ordered: Vec<_> = steps.filter_map(|key| changes.remove_entry(&key)).collect();
    ordered.extend(changes);
    ordered
}

fn by_layer(text: &mut String, plan: &Plan, changes: &[&Change], columns: usize) {
    for layer in Layer::ALL {
        let mut name = layer.name();
        for change in changes.iter().filter(|change| change.layer == layer) {
            row(text, name, change.action, &words(change), columns);
            name = "";
            if change.action == Action::Change {
                attributes(text, change, columns);
            }
            for words in words_of_engines(plan, change) {
                text.push_str(&hang(&" ".repeat(LAYER + 8), &words, columns));
            }
        }
    }
}

/// `grafana in production`, or as many components as there are; a host is in no environment.
fn subject(plan: &Plan) -> String {
    let hosts = match plan.hosts.as_slice() {
        [] => None,
        [host] => Some(format!("host {host}")),
        names if names.len() <= 3 => Some(format!("hosts {}", names.join(", "))),
        names => Some(format!("{} hosts", names.len())),
    };
    let components = match plan.components.as_slice() {
        [] if hosts.is_some() => None,
        [] => Some(plan.environment.clone()),
        names if names.len() <= 3 => Some(format!("{} in {}", names.join(", "), plan.environment)),
        names => Some(format!("{} components in {}", names.len(), plan.environment)),
    };
    let both: Vec<String> = components.into_iter().chain(hosts).collect();
    both.join(" and ")
}

fn no_return(plan: &Plan, columns: usize) -> String {
    let points: Vec<String> = plan
        .points_of_no_return()
        .map(|change| match &change.note {
            Some(note) => format!("{} ({note})", change.address),
            None => change.address.to_string(),
        })
        .collect();
    match points.as_slice() {
        [] if plan.only_act().is_some() => String::new(),
        [] => hang("", "no point of no return", columns),
        [point] => hang("! ", &format!("point of no return: {point}"), columns) + &no_undo(plan, columns),
        points => {
            let points = format!("points of no return: {}", points.join(", "));
            hang("! ", &points, columns) + &no_undo(plan, columns)
        }
    }
}

/// `eos undo` will refuse it: better said before anybody confirms.
fn no_undo(plan: &Plan, columns: usize) -> String {
    let words = plan.lost_secret().map(|lost| {
        format!(
            "cannot be undone: Nomad keeps no earlier value of the secret of {}",
            lost.component
        )
    });
    words.map_or_else(String::new, |words| hang("! ", &words, columns))
}

fn act_row(text: &mut String, act: &Act, columns: usize) {
    let first = format!("  {:<LAYER$}  > ", act.layer.name());
    text.push_str(&hang(&first, &printable(&act.summary), columns));
}

fn row(text: &mut String, layer: &str, action: Action, words: &str, columns: usize) {
    let (glyph, style) = match action {
        Action::Create => ('+', GREEN),
        Action::Change => ('~', YELLOW),
        Action::Delete => ('-', RED),
    };
    let first = format!("  {layer:<LAYER$}  {glyph} ");
    let lines = hang(&first, words, columns);
    // The glyph is the only thing coloured; it stands once, at the end of the prefix.
    text.push_str(&lines.replacen(&first, &format!("  {layer:<LAYER$}  {style}{glyph}{style:#} "), 1));
}

fn words(change: &Change) -> String {
    let summary = printable(&change.summary);
    match (&change.note, summary.strip_suffix(')')) {
        (Some(note), Some(open)) => format!("{open}; {note})"),
        (Some(note), None) => format!("{summary} ({note})"),
        (None, _) => summary,
    }
}

fn attributes(text: &mut String, change: &Change, columns: usize) {
    let first = " ".repeat(LAYER + 8);
    for attribute in &change.attributes {
        let lines = wrap(
            &attribute_words(attribute),
            columns.saturating_sub(first.len() + 2),
        );
        text.push_str(&format!("{first}{}\n", lines.join(&format!("\n{first}  "))));
        for line in changed_lines(attribute) {
            text.push_str(&hang(&format!("{first}  "), &line, columns));
        }
    }
}

/// `count 1 -> 3 (option replicas, pillar/infrastructure/production.sls:5)`
fn attribute_words(attribute: &AttributeChange) -> String {
    let name = attribute.name.strip_prefix("group.").unwrap_or(&attribute.name);
    let value = |value: &Option<Value>| match value {
        Some(value) => attribute_value(&attribute.name, value),
        None => "nothing".to_owned(),
    };
    let from = attribute
        .from
        .as_ref()
        .map_or_else(String::new, |from| format!(" ({from})"));
    match is_long(&attribute.before) || is_long(&attribute.after) {
        true => format!("{name}{from}"),
        false => format!(
            "{name} {} -> {}{from}",
            value(&attribute.before),
            value(&attribute.after)
        ),
    }
}

fn is_long(value: &Option<Value>) -> bool {
    let text = value.as_ref().and_then(Value::as_str);
    text.is_some_and(|text| text.contains('\n'))
}

/// Of texts of several lines: what stands between the lines that they begin and end with alike.
fn changed_lines(attribute: &AttributeChange) -> Vec<String> {
    if !is_long(&attribute.before) && !is_long(&attribute.after) {
        return Vec::new();
    }
    fn lines(value: &Option<Value>) -> Vec<&str> {
        let text = value.as_ref().and_then(Value::as_str);
        text.unwrap_or_default().lines().collect()
    }
    let (before, after) = (lines(&attribute.before), lines(&attribute.after));
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let begin = before.iter().zip(&after).take_while(same).count();
    let (before, after) = (&before[begin..], &after[begin..]);
    let end = before
        .iter()
        .rev()
        .zip(after.iter().rev())
        .take_while(same)
        .count();
    let gone = before[..before.len() - end].iter().map(|line| ('-', line));
    let come = after[..after.len() - end].iter().map(|line| ('+', line));
    let shown = gone.chain(come);
    shown
        .map(|(glyph, line)| format!("{glyph} {}", printable(line)))
        .collect()
}

/// The value of an attribute with its unit.
pub fn attribute_value(name: &str, value: &Value) -> String {
    let last = name.rsplit('.').next().unwrap_or(name);
    match (last, value.as_u64()) {
        ("size", Some(bytes)) => human_size(bytes),
        (snapshot, Some(bytes)) if snapshot.starts_with("snapshot.") => human_size(bytes),
        ("memory", Some(mebibytes)) => human_size(mebibytes << 20),
        ("cpu", Some(megahertz)) => format!("{megahertz} MHz"),
        _ => value_words(value),
    }
}

pub fn value_words(value: &Value) -> String {
    match value {
        Value::String(text) => printable(text),
        Value::Array(items) if items.is_empty() => "nothing".to_owned(),
        Value::Array(items) => items.iter().map(value_words).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
