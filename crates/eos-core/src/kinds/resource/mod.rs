//! Resources: what Terraform makes with a provider of a cloud, said by a recipe as data. They are part of the workspace.
//!
//! Arguments and references become JSON of Terraform's own syntax. There a text is a template, so what begins one is doubled;
//! a provider's schema, not this file, decides what is a block and what is a map.

mod drift;

use super::{Going, Kind, Parting, Phase, PhaseStep, Piece, Proof, Slices, Wanted};
use crate::address::{Address, NodeKind};
use crate::diagnostic::{Diagnostic, Position};
use crate::drift::{Look, Object};
use crate::expand::Expanded;
use crate::lowered::Lowered;
use crate::name::{closest, quoted};
use crate::node::{Attribute, Layer, Node, Reversibility, Writer};
use crate::order;
use crate::plan::{Action, Change, Key, PlanInput, Work};
use crate::providers::{self, PROVIDERS, Provider, Serves};
use crate::read::{Reader, find};
use crate::recipe::read::each;
use crate::recipe::{Risk, check_variable, read_value, read_when};
use crate::source::{Source, Sourced};
use crate::template::Template;
use crate::tiers::Tiers;
use crate::yaml::{Entry, Node as Yaml};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The file of a module that has them.
const FILE: &str = "resources.tf.json";
const KEYS: &[&str] = &["type", "when", "arguments"];
/// The list of its own that the control minion keeps: types of resources.
const TIERS: &str = "resources";
const GENERATION: &str = "generation";
/// What Terraform reads of a resource beside its arguments. A provisioner runs programs on the control minion.
const META: &[&str] = &[
    "connection",
    "count",
    "depends_on",
    "for_each",
    "lifecycle",
    "provider",
    "provisioner",
];
/// A block of this name makes others, by an expression.
const DYNAMIC: &str = "dynamic";
/// Deeper data is nobody's resource.
const DEEPEST: usize = 12;

/// A resource as a recipe says it.
#[derive(Clone, Debug)]
pub struct Need {
    pub name: String,
    /// Its type, such as `hcloud_server`.
    pub kind: String,
    pub when: Option<Template>,
    pub arguments: Vec<(String, Argument)>,
    pub at: Position,
}

/// A value of an argument.
#[derive(Clone, Debug)]
pub enum Argument {
    Value(Template),
    List(Vec<Argument>),
    Map(Vec<(String, Argument)>),
    Reference(Reference),
}

/// An attribute of another resource of the same component: Terraform knows it once that one is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    pub resource: String,
    pub attribute: String,
    pub at: Position,
}

/// A resource with all its values decided.
#[derive(Clone, Debug)]
pub struct Part {
    pub name: String,
    pub kind: String,
    pub arguments: Vec<(String, Decided)>,
    /// The line that says it.
    pub declared: Source,
}

/// A value of an argument, decided.
#[derive(Clone, Debug)]
pub enum Decided {
    Known(Sourced<Value>),
    List(Vec<Decided>, Source),
    Map(Vec<(String, Decided)>, Source),
    Late {
        resource: String,
        kind: String,
        attribute: String,
        from: Source,
    },
}

/// What is proved of a component's resources once its workspace is applied: its Terraform state has them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Present {
    pub minion: String,
    /// Addresses of Terraform.
    pub resources: Vec<String>,
}

impl Part {
    /// Its type, by which its provider is found.
    pub fn terraform_type(&self) -> &str {
        &self.kind
    }

    /// Its address in Terraform.
    pub fn terraform_address(&self, component: &str) -> String {
        format!("module.{component}.{}.{}", self.kind, self.name)
    }
}

/// Unique in an environment: components have names of their own there.
pub fn address(component: &str, resource: &str) -> Address {
    NodeKind::Resource.at(format!("{component}.{resource}"))
}

// Reading a recipe.

/// Reads the resources of a recipe below its key.
pub fn read(reader: &mut Reader<'_>, entries: &[Entry], key: &str) -> Vec<Need> {
    let found = each(reader, entries, key, read_one);
    check_references(reader, &found);
    found
}

fn read_one(reader: &mut Reader<'_>, entry: &Entry) -> Option<Need> {
    check_variable(reader, "resource", entry);
    let what = format!("resource {}", quoted(&entry.key));
    let fields = reader.record(&what, &entry.value, KEYS);
    let Some(node) = find(fields, "type") else {
        reader.report_with_hint(
            entry.key_at,
            format!("{what} has no type"),
            "Add type:, such as hcloud_server",
        );
        return None;
    };
    let kind = reader.text("type", node)?;
    check_type(reader, node.at, &kind);
    let mut arguments = Vec::new();
    if let Some(node) = find(fields, "arguments") {
        for entry in reader.map("arguments", node) {
            if META.contains(&entry.key.as_str()) {
                reader.report_with_hint(
                    entry.key_at,
                    format!("{what} has {}, which is no argument", quoted(&entry.key)),
                    "A resource has arguments of its provider and nothing else",
                );
                continue;
            }
            check_key(reader, entry);
            arguments.extend(
                read_argument(reader, &entry.key, &entry.value, 0).map(|value| (entry.key.clone(), value)),
            );
        }
    }
    Some(Need {
        name: entry.key.clone(),
        kind,
        when: read_when(reader, fields),
        arguments,
        at: entry.key_at,
    })
}

fn check_type(reader: &mut Reader<'_>, at: Position, kind: &str) {
    let fits = kind
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    let ours = || PROVIDERS.iter().filter(|one| one.serves == Serves::Recipes);
    match providers::of_type(kind).filter(|_| fits) {
        None => {
            let names: Vec<&str> = ours().map(|one| one.name).collect();
            let first = kind.split('_').next().unwrap_or(kind);
            let hint = match closest(first, names.iter().copied()) {
                Some(meant) => format!("Did you mean {meant}?"),
                None => format!("Eos knows resources of: {}", names.join(", ")),
            };
            reader.report_with_hint(at, format!("Eos knows no provider of {}", quoted(kind)), hint);
        }
        Some(provider) if provider.serves == Serves::Eos => reader.report_with_hint(
            at,
            format!("{} is not for recipes: Eos itself makes it", quoted(kind)),
            "Use services: and needs: instead",
        ),
        Some(provider) if provider.secret.contains(&kind) => reader.report_with_hint(
            at,
            format!("{} would put a secret into the Terraform state", quoted(kind)),
            "Make it by hand, and give its secret to a component as an option",
        ),
        Some(_) => {}
    }
}

/// Terraform reads the keys of a map as templates, too.
fn is_key(key: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '@');
    key.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && key.len() <= 255
        && key.chars().all(fits)
}

fn check_key(reader: &mut Reader<'_>, entry: &Entry) {
    let makes_blocks =
        entry.key == DYNAMIC && (entry.value.as_map().is_some() || entry.value.as_list().is_some());
    if !is_key(&entry.key) || makes_blocks {
        reader.report_with_hint(
            entry.key_at,
            format!("{} cannot name an argument", quoted(&entry.key)),
            "Use letters, digits and . _ - / : @",
        );
    }
}

fn read_argument(reader: &mut Reader<'_>, what: &str, node: &Yaml, depth: usize) -> Option<Argument> {
    if depth > DEEPEST {
        reader.report(
            node.at,
            format!("{} is deeper than {DEEPEST} levels", quoted(what)),
        );
        return None;
    }
    if let Some(items) = node.as_list() {
        let mut list = Vec::new();
        for item in items {
            list.push(read_argument(reader, what, item, depth + 1)?);
        }
        return Some(Argument::List(list));
    }
    let Some(entries) = node.as_map() else {
        return read_value(reader, what, node).map(Argument::Value);
    };
    let is_reference = entries
        .iter()
        .all(|entry| matches!(entry.key.as_str(), "resource" | "attribute"));
    if is_reference && !entries.is_empty() {
        return read_reference(reader, node, entries).map(Argument::Reference);
    }
    let mut map = Vec::new();
    for entry in entries {
        check_key(reader, entry);
        map.push((
            entry.key.clone(),
            read_argument(reader, &entry.key, &entry.value, depth + 1)?,
        ));
    }
    Some(Argument::Map(map))
}

fn read_reference(reader: &mut Reader<'_>, node: &Yaml, entries: &[Entry]) -> Option<Reference> {
    let (Some(resource), Some(attribute)) = (find(entries, "resource"), find(entries, "attribute")) else {
        reader.report_with_hint(
            node.at,
            "A reference names a resource and an attribute of it",
            "Use {resource: NAME, attribute: id}",
        );
        return None;
    };
    let resource = reader.text("resource", resource)?;
    let text = reader.text("attribute", attribute)?;
    if !is_attribute(&text) {
        reader.report_with_hint(
            attribute.at,
            format!("{} cannot name an attribute", quoted(&text)),
            "Use names and indexes with dots between, such as id or network.0.ip",
        );
        return None;
    }
    Some(Reference {
        resource,
        attribute: text,
        at: node.at,
    })
}

fn is_attribute(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_part = |part: &str| !part.is_empty() && part.chars().all(fits);
    text.len() <= 200 && text.starts_with(|c: char| c.is_ascii_lowercase()) && text.split('.').all(is_part)
}

/// Every reference is to a resource of the recipe, and none comes back to where it began.
fn check_references(reader: &mut Reader<'_>, needs: &[Need]) {
    let mut before: order::Before<'_> = BTreeMap::new();
    for need in needs {
        let named = before.entry(&need.name).or_default();
        for reference in references(&need.arguments) {
            if needs.iter().any(|other| other.name == reference.resource) {
                named.insert(&reference.resource);
                continue;
            }
            let names = needs.iter().map(|other| other.name.as_str());
            let hint = match closest(&reference.resource, names) {
                Some(meant) => format!("Did you mean {meant}?"),
                None => "Name a resource of the same recipe".to_owned(),
            };
            reader.report_with_hint(
                reference.at,
                format!("The recipe has no resource {}", quoted(&reference.resource)),
                hint,
            );
        }
    }
    if let Err(cycle) = order::waves(&before)
        && let Some(first) = needs.iter().find(|need| cycle.contains(&need.name.as_str()))
    {
        reader.report(
            first.at,
            format!("Resources wait for one another: {}", cycle.join(", ")),
        );
    }
}

fn references(arguments: &[(String, Argument)]) -> Vec<&Reference> {
    let mut found = Vec::new();
    let mut open: Vec<&Argument> = arguments.iter().map(|(_, value)| value).collect();
    while let Some(next) = open.pop() {
        match next {
            Argument::Value(_) => {}
            Argument::List(list) => open.extend(list),
            Argument::Map(map) => open.extend(map.iter().map(|(_, value)| value)),
            Argument::Reference(reference) => found.push(reference),
        }
    }
    found
}

impl Need {
    /// Every template that it has.
    pub fn templates(&self) -> Vec<&Template> {
        let mut found: Vec<&Template> = self.when.iter().collect();
        let mut open: Vec<&Argument> = self.arguments.iter().map(|(_, value)| value).collect();
        while let Some(next) = open.pop() {
            match next {
                Argument::Value(template) => found.push(template),
                Argument::List(list) => open.extend(list),
                Argument::Map(map) => open.extend(map.iter().map(|(_, value)| value)),
                Argument::Reference(_) => {}
            }
        }
        found
    }
}

// Deciding its values.

/// The resources of a component that apply.
pub(crate) fn lower(expanded: &Expanded<'_>, needs: &[Need], found: &mut Vec<Diagnostic>) -> Vec<Part> {
    let mut kinds = BTreeMap::new();
    let mut applying = Vec::new();
    for need in needs {
        match expanded.applies(&need.when) {
            Ok(true) => {
                kinds.insert(need.name.as_str(), need.kind.as_str());
                applying.push(need);
            }
            Ok(false) => {}
            Err(diagnostic) => found.push(diagnostic),
        }
    }
    let mut resources = Vec::new();
    for need in applying {
        let decided: Result<Vec<_>, Diagnostic> = need
            .arguments
            .iter()
            .map(|(name, value)| Ok((name.clone(), decide(expanded, &kinds, value, need.at.line)?)))
            .collect();
        match decided {
            Ok(arguments) => resources.push(Part {
                name: need.name.clone(),
                kind: need.kind.clone(),
                arguments,
                declared: expanded.line_source(need.at.line),
            }),
            Err(diagnostic) => found.push(diagnostic),
        }
    }
    resources
}

fn decide(
    expanded: &Expanded<'_>,
    kinds: &BTreeMap<&str, &str>,
    argument: &Argument,
    line: u32,
) -> Result<Decided, Diagnostic> {
    Ok(match argument {
        Argument::Value(template) => {
            let value = expanded.value(template)?;
            if let Some(why) = unwritable(&value.value) {
                return Err(expanded.wrong(template, &why));
            }
            Decided::Known(value)
        }
        Argument::List(list) => {
            let list: Result<_, Diagnostic> = list
                .iter()
                .map(|one| decide(expanded, kinds, one, line))
                .collect();
            Decided::List(list?, expanded.line_source(line))
        }
        Argument::Map(map) => {
            let map: Result<_, Diagnostic> = map
                .iter()
                .map(|(key, one)| Ok((key.clone(), decide(expanded, kinds, one, line)?)))
                .collect();
            Decided::Map(map?, expanded.line_source(line))
        }
        Argument::Reference(reference) => match kinds.get(reference.resource.as_str()) {
            Some(kind) => Decided::Late {
                resource: reference.resource.clone(),
                kind: (*kind).to_owned(),
                attribute: reference.attribute.clone(),
                from: expanded.line_source(reference.at.line),
            },
            None => {
                let words = format!(
                    "Resource {} does not apply to {}, and another one names it",
                    quoted(&reference.resource),
                    expanded.component.name
                );
                return Err(Diagnostic::new(words)
                    .at(&expanded.recipe.file, reference.at)
                    .hint("Give both the same when:"));
            }
        },
    })
}

/// Why Terraform's JSON has no form for a value, where it has none.
fn unwritable(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
        // Two marks before a brace mean one; of three nobody is sure.
        Value::String(text) if text.contains("$${") || text.contains("%%{") => {
            Some("Terraform has no form for text with $${ or %%{ in it".to_owned())
        }
        Value::String(_) => None,
        Value::Array(items) => items.iter().find_map(unwritable),
        Value::Object(map) => map.iter().find_map(|(key, one)| match is_key(key) {
            true => unwritable(one),
            false => Some(format!("{} cannot be the key of a map", quoted(key))),
        }),
    }
}

// What Terraform reads.

/// The file of a module that has these resources, in Terraform's JSON.
pub(crate) fn document(resources: &[Part]) -> (&'static str, Value) {
    let mut kinds: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for resource in resources {
        let arguments = resource
            .arguments
            .iter()
            .map(|(name, value)| (name.clone(), written(value)));
        kinds
            .entry(&resource.kind)
            .or_default()
            .insert(resource.name.clone(), Value::Object(arguments.collect()));
    }
    (FILE, json!({"resource": kinds}))
}

fn written(value: &Decided) -> Value {
    match value {
        Decided::Known(known) => literal(&known.value),
        Decided::List(list, _) => list.iter().map(written).collect(),
        Decided::Map(map, _) => Value::Object(
            map.iter()
                .map(|(key, value)| (key.clone(), written(value)))
                .collect(),
        ),
        Decided::Late {
            resource,
            kind,
            attribute,
            ..
        } => format!("${{{kind}.{resource}.{attribute}}}").into(),
    }
}

/// A value that Terraform takes as it stands.
fn literal(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) => text.replace("${", "$${").replace("%{", "%%{").into(),
        Value::Array(items) => items.iter().map(literal).collect(),
        Value::Object(map) => {
            let entries = map.iter().map(|(key, one)| (key.clone(), literal(one)));
            Value::Object(entries.collect())
        }
    }
}

// Nodes and steps.

fn provider(kind: &str) -> Option<&'static Provider> {
    providers::of_type(kind)
}

/// Whether something is lost that nothing brings back if this resource is destroyed.
fn loses(kind: &str) -> bool {
    provider(kind).is_none_or(|provider| !provider.remakes(kind))
}

pub(crate) struct Resources;

impl Kind for Resources {
    fn sorts(&self) -> &'static [NodeKind] {
        &[NodeKind::Resource]
    }

    fn phase(&self) -> Phase {
        Phase::Job
    }

    fn nodes(&self, component: &Lowered) -> Vec<Node> {
        let node = |resource| node(component, resource);
        component.in_workspace.resources.iter().map(node).collect()
    }

    fn part(&self, _: &Node) -> Option<String> {
        None
    }

    /// Workspaces, not resources, have slices.
    fn slices<'a>(&self, _: &'a BTreeMap<Key, Lowered>, _: &mut Slices<'a>) {}

    fn pieces(&self, _: &Lowered) -> Vec<Piece> {
        Vec::new()
    }

    fn recorded(&self, _: &Lowered) -> Vec<String> {
        Vec::new()
    }

    fn files(&self, _: &Lowered) -> Vec<(&'static str, Vec<u8>)> {
        Vec::new()
    }

    /// The step of the workspace makes them; what is left is to read them back.
    fn makes(&self, wanted: &Wanted<'_, '_>) -> Vec<PhaseStep> {
        let component = wanted.component;
        if component.in_workspace.resources.is_empty() {
            return Vec::new();
        }
        let addresses = component
            .in_workspace
            .resources
            .iter()
            .map(|resource| resource.terraform_address(&component.component));
        vec![PhaseStep {
            risk: Risk::Low,
            work: Work::Prove(Proof::Present(Present {
                minion: wanted.control.to_owned(),
                resources: addresses.collect(),
            })),
        }]
    }

    /// A resource is an architect's, unless the control minion's settings name its type lower.
    fn risk(&self, node: &Node, tiers: &Tiers) -> Risk {
        let known = tiers.others.get(TIERS).cloned().unwrap_or_default();
        let known: BTreeMap<String, Risk> = serde_json::from_value(known).unwrap_or_default();
        let tier = node.text("type").and_then(|kind| known.get(kind));
        tier.copied().unwrap_or(Risk::High)
    }

    fn is_lost(&self, node: &Node) -> bool {
        node.text("type").is_none_or(loses)
    }

    fn at_terraform(&self, component: &str, terraform: &str) -> Option<Address> {
        let rest = terraform.strip_prefix(&format!("module.{component}."))?;
        let (_, name) = rest.split_once('.')?;
        Some(address(component, name))
    }

    fn verdicts(&self, look: &Look<'_>) -> Vec<Object> {
        drift::verdicts(look)
    }

    /// They go with the workspace, whose removal is read back.
    fn removes(&self, _: &Going<'_, '_>) -> Vec<(Parting, PhaseStep)> {
        Vec::new()
    }

    fn leftovers(&self, _: &PlanInput<'_>) -> Vec<(Key, Work)> {
        Vec::new()
    }

    fn waits_for<'c>(&self, _: &'c Lowered) -> Option<&'c str> {
        None
    }

    fn adds(&self, _: &PlanInput<'_>, _: &Key, _: &[Node], _: &mut Vec<Change>) {}

    /// Only Terraform's plan says whether a change replaces a resource, and nobody may have asked for one (`--yes`). So each
    /// change of one that holds something counts as its loss.
    fn remark(&self, change: &mut Change, input: &PlanInput<'_>) {
        let note = match change.action {
            Action::Create => return,
            Action::Change if !changes_it(change) => return,
            Action::Change => "Terraform may replace it, and then all that it holds is lost",
            Action::Delete => "Terraform destroys it with all that it holds",
        };
        let key = (change.environment.clone(), change.component.clone());
        let mut applied = input.applied.get(&key).into_iter().flatten();
        let node = applied.find(|node| node.address == change.address);
        if node.is_none_or(|node| self.is_lost(node)) {
            change.reversibility = Reversibility::Final;
            change.note = Some(note.to_owned());
        }
    }
}

/// Whether Terraform finds other arguments. A generation is counted for its job or workspace, and changes no resource.
fn changes_it(change: &Change) -> bool {
    let mut changed = change.attributes.iter();
    changed.any(|attribute| attribute.name != GENERATION)
}

fn node(component: &Lowered, resource: &Part) -> Node {
    let mut attributes = BTreeMap::new();
    attributes.insert(
        "type".to_owned(),
        Attribute::new(resource.kind.as_str(), resource.declared.clone()),
    );
    let mut after = BTreeSet::new();
    for (name, value) in &resource.arguments {
        flatten(&format!("arguments.{name}"), value, &mut attributes, &mut after);
    }
    // A component with a job has it there.
    if component.generation > 0 && !component.runs() {
        let from = Source::Kept {
            what: GENERATION.to_owned(),
            file: component.at.file.clone(),
            line: component.at.position.line,
        };
        attributes.insert(GENERATION.to_owned(), Attribute::new(component.generation, from));
    }
    let after = after
        .into_iter()
        .map(|name| address(&component.component, name))
        .collect();
    Node::of(
        component,
        address(&component.component, &resource.name),
        (Layer::Cloud, Writer::Terraform),
        format!("{}.{}  {}", component.component, resource.name, resource.kind),
        attributes,
        after,
    )
}

/// One attribute for each value, by its path.
fn flatten<'v>(
    path: &str,
    value: &'v Decided,
    attributes: &mut BTreeMap<String, Attribute>,
    after: &mut BTreeSet<&'v str>,
) {
    let mut add = |attribute| attributes.insert(path.to_owned(), attribute);
    match value {
        Decided::Known(known) => {
            add(Attribute::of(known, known.value.clone()));
        }
        Decided::List(list, from) if list.is_empty() => {
            add(Attribute::new(json!([]), from.clone()));
        }
        Decided::Map(map, from) if map.is_empty() => {
            add(Attribute::new(json!({}), from.clone()));
        }
        Decided::Late {
            resource,
            attribute,
            from,
            ..
        } => {
            add(Attribute::new(
                json!({"resource": resource, "attribute": attribute}),
                from.clone(),
            ));
            after.insert(resource);
        }
        Decided::List(list, _) => {
            for (index, one) in list.iter().enumerate() {
                flatten(&format!("{path}.{index}"), one, attributes, after);
            }
        }
        Decided::Map(map, _) => {
            for (key, one) in map {
                flatten(&format!("{path}.{key}"), one, attributes, after);
            }
        }
    }
}
