//! Taking reality into the pillar: a changed attribute becomes the value of the option it comes from, if the pillar then
//! compiles to that very value; a job that is gone takes its component along.

use super::{Object, Verdict};
use crate::catalog::Catalog;
use crate::compile::compile;
use crate::compose::Key;
use crate::diagnostic::Diagnostic;
use crate::intent::{Intent, Options, Sentence, edit};
use crate::kinds::job;
use crate::node::{Attribute, Node};
use crate::pillar::{Pillar, PillarFiles, Words};
use crate::profile::Profile;
use crate::source::Source;
use serde_json::Value;

/// What would be asked of Eos so that the pillar says what is there.
#[derive(Clone, Debug, PartialEq)]
pub enum Adoption {
    Update(Options),
    Delete,
}

/// How one object is taken into the pillar, or why it cannot be.
pub fn adopt(
    object: &Object,
    files: &PillarFiles,
    catalog: &Catalog,
    profile: Profile,
    environment: &str,
    said: &Words,
) -> Result<Adoption, Diagnostic> {
    let name = &object.object;
    let refuse = |why: String| Diagnostic::new(format!("{name} cannot be adopted into the pillar: {why}"));
    let Some(component) = object.component.as_ref().filter(|_| object.is_job()) else {
        return Err(
            refuse("only differences of a job have a place in the pillar".to_owned())
                .hint("eos reconcile corrects it to the pillar"),
        );
    };
    let key = (environment.to_owned(), component.clone());
    match object.verdict {
        Verdict::Missing => return Ok(Adoption::Delete),
        Verdict::Changed => {}
        _ => return Err(refuse("it did not change".to_owned())),
    }
    let job = job_node(files, catalog, profile, &key)
        .map_err(|found| found.into_iter().next().unwrap_or_else(|| refuse(String::new())))?;
    let mut options = Options::new();
    let mut expected = Vec::new();
    for difference in &object.attributes {
        let place = attribute_of(&job, &difference.name)
            .ok_or_else(|| refuse(format!("no option sets {}", difference.name)))?;
        let (attribute_name, attribute) = place;
        if let Source::Stopped { .. } = attribute.from {
            let start = format!("Start it: `eos start {component}`; or `eos reconcile` stops it again");
            return Err(refuse(format!("{component} is stopped in the pillar")).hint(start));
        }
        // What is zero is left out of a job.
        let nothing = attribute.value.is_number().then(|| Value::from(0));
        let real = difference.after.clone().or(nothing);
        let real = real.ok_or_else(|| refuse(format!("{} is gone", difference.name)))?;
        let option = option_of(&attribute_name, &attribute.from).ok_or_else(|| {
            let from = attribute.from.words();
            refuse(format!(
                "{} comes from {from}, not from an option",
                difference.name
            ))
        })?;
        options.insert(option, real.clone());
        expected.push((attribute_name, real));
    }
    let set = Intent {
        sentence: Sentence::UpdateComponent {
            environment: environment.to_owned(),
            component: component.clone(),
            options: options.clone(),
            upgrade: false,
        },
        said: said.clone(),
    };
    let adopted = edit(files, catalog, &set)
        .and_then(|edited| job_node(&edited, catalog, profile, &key))
        .map_err(|found| {
            let why = found.first().map_or(String::new(), |found| found.message.clone());
            refuse(why)
        })?;
    for (name, real) in expected {
        let compiled = adopted.attributes.get(&name).map(|attribute| &attribute.value);
        if compiled != Some(&real) {
            return Err(refuse(format!(
                "with that value of its option, {name} would be {}",
                compiled.map_or("nothing".to_owned(), Value::to_string)
            )));
        }
    }
    Ok(Adoption::Update(options))
}

fn job_node(
    files: &PillarFiles,
    catalog: &Catalog,
    profile: Profile,
    key: &Key,
) -> Result<Node, Vec<Diagnostic>> {
    let compilation = compile(&Pillar::read(files)?, catalog, profile)?;
    let address = job::address(&key.1);
    let nodes = compilation.nodes(key).into_iter();
    let mut jobs = nodes.filter(|node| node.address == address);
    jobs.next()
        .ok_or_else(|| vec![Diagnostic::new(format!("The pillar has no {address}"))])
}

/// The attribute of a job's node that a path of Nomad's is about.
fn attribute_of<'n>(job: &'n Node, path: &str) -> Option<(String, &'n Attribute)> {
    let path = path.strip_prefix("TaskGroups.")?;
    let (group, field) = path.split_once('.')?;
    let field = match field.strip_prefix("Tasks.") {
        Some(task) => task.split_once('.')?.1,
        None => field,
    };
    let name = match field {
        "Count" => "count".to_owned(),
        "Resources.CPU" => "cpu".to_owned(),
        "Resources.MemoryMB" => "memory".to_owned(),
        "Config.image" => "image".to_owned(),
        field => format!("env.{}", field.strip_prefix("Env.")?),
    };
    let names = [format!("group.{name}"), format!("group.{group}.{name}")];
    names
        .into_iter()
        .find_map(|name| Some((name.clone(), job.attributes.get(&name)?)))
}

/// The option that sets it, or would. Every recipe has those of the figures, whoever else gives them a value.
fn option_of(attribute: &str, source: &Source) -> Option<String> {
    match attribute.rsplit('.').next() {
        Some("count") => return Some("replicas".to_owned()),
        Some(figure @ ("cpu" | "memory")) => return Some(figure.to_owned()),
        _ => {}
    }
    match source {
        Source::Option { option, .. } => Some(option.clone()),
        Source::Environment { key, .. } => Some(key.clone()),
        Source::Recipe {
            default_of: Some(option),
            ..
        } => Some(option.clone()),
        Source::Recipe { made_of, .. } => match made_of.as_slice() {
            [only] => Some(only.option.clone()),
            _ => None,
        },
        _ => None,
    }
}
