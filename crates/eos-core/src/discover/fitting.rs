//! Which recipe a job that Eos did not make is most likely of, and which of its options can be read from the job.

use super::{Group, Job, Task};
use crate::catalog::Catalog;
use crate::option::OptionType;
use crate::recipe::{Recipe, Run, Service};
use crate::template::Template;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub struct Fit<'c> {
    pub recipe: &'c Recipe,
    pub options: BTreeMap<String, Value>,
    /// What about the job the recipe does not say.
    pub doubt: Option<String>,
}

/// By image first, which says what it is; else by the name of the job, or the last word of an image.
pub fn fit<'c>(catalog: &'c Catalog, job: &Job) -> Option<Fit<'c>> {
    let by_image = catalog.iter().find_map(|recipe| {
        let service = recipe.services.iter().find(|service| {
            repository_of(recipe, service).is_some_and(|repository| task_with(job, &repository).is_some())
        })?;
        let (group, task) = task_with(job, &repository_of(recipe, service)?)?;
        Some(read(recipe, service, job, group, task))
    });
    by_image.or_else(|| {
        let names = |recipe: &&Recipe| {
            recipe.name == job.id
                || tasks(job).any(|(_, task)| {
                    let image = task.image.as_deref();
                    image.is_some_and(|image| last_word(image) == recipe.name)
                })
        };
        let recipe = catalog.iter().find(names)?;
        let service = recipe.front().or(recipe.services.first())?;
        let (group, task) = tasks(job).next()?;
        let mut fit = read(recipe, service, job, group, task);
        fit.doubt = Some(format!("Only its name suggests a {}: check it", recipe.name));
        Some(fit)
    })
}

fn read<'c>(recipe: &'c Recipe, service: &Service, job: &Job, group: &Group, task: &Task) -> Fit<'c> {
    let mut options = BTreeMap::new();
    let settable = |name: &str| recipe.settable().any(|spec| spec.name == name);
    if task.cpu > 0 && settable("cpu") {
        options.insert("cpu".to_owned(), task.cpu.into());
    }
    if task.memory > 0 && settable("memory") {
        options.insert("memory".to_owned(), task.memory.into());
    }
    if settable("replicas") {
        options.insert("replicas".to_owned(), group.count.into());
    }
    if let (Some(option), Some(image)) = (image_option(recipe, service), &task.image)
        && default_image(recipe, service).as_ref() != Some(image)
    {
        options.insert(option.to_owned(), image.as_str().into());
    }
    options.extend(port_options(recipe, service, group));
    let others: Vec<&str> = job
        .groups
        .iter()
        .filter(|other| other.name != group.name)
        .map(|other| other.name.as_str())
        .collect();
    let doubt = (!others.is_empty()).then(|| format!("Its other groups are left out: {}", others.join(", ")));
    Fit {
        recipe,
        options,
        doubt,
    }
}

/// Options that are a port of the host: by the label of the port, else by there being one only.
fn port_options(recipe: &Recipe, service: &Service, group: &Group) -> BTreeMap<String, Value> {
    let mut options = BTreeMap::new();
    for port in &service.ports {
        let option = port.fixed.as_ref().and_then(|fixed| only_name(fixed));
        let is_port = |name: &&str| {
            recipe
                .option(name)
                .is_some_and(|spec| matches!(spec.kind, OptionType::Port))
        };
        let Some(option) = option.filter(is_port) else {
            continue;
        };
        let single = (service.ports.len() == 1 && group.static_ports.len() == 1)
            .then(|| group.static_ports.values().next())
            .flatten();
        if let Some(number) = group.static_ports.get(&port.label).or(single) {
            options.insert(option.to_owned(), (*number).into());
        }
    }
    options
}

fn image_option<'r>(recipe: &'r Recipe, service: &'r Service) -> Option<&'r str> {
    let Run::Image(image, _) = &service.run else {
        return None;
    };
    only_name(image).filter(|name| recipe.option(name).is_some())
}

/// The image as the recipe has it, with the version filled in.
fn default_image(recipe: &Recipe, service: &Service) -> Option<String> {
    let Run::Image(image, _) = &service.run else {
        return None;
    };
    let template = match image_option(recipe, service) {
        Some(option) => recipe.option(option)?.default.as_ref()?,
        None => image,
    };
    let context = Map::from_iter([("version".to_owned(), Value::from(recipe.version.as_str()))]);
    Some(template.evaluate(&context).ok()?.as_str()?.to_owned())
}

fn repository_of(recipe: &Recipe, service: &Service) -> Option<String> {
    default_image(recipe, service).map(|image| repository(&image).to_owned())
}

fn only_name(template: &Template) -> Option<&str> {
    let mut names = template.names();
    let name = names.next()?;
    (names.next().is_none() && template.shown() == name).then_some(name)
}

fn tasks(job: &Job) -> impl Iterator<Item = (&Group, &Task)> {
    let groups = job.groups.iter();
    groups.flat_map(|group| group.tasks.iter().map(move |task| (group, task)))
}

fn task_with<'j>(job: &'j Job, wanted: &str) -> Option<(&'j Group, &'j Task)> {
    tasks(job).find(|(_, task)| {
        let image = task.image.as_deref();
        image.is_some_and(|image| repository(image) == wanted)
    })
}

/// `grafana/grafana` of `registry.example.org:5000/grafana/grafana:11.6.0@sha256:...`; of an official image, its only word.
fn repository(image: &str) -> &str {
    let image = image.split_once('@').map_or(image, |(image, _)| image);
    let untagged = match image.rsplit_once(':') {
        Some((before, tag)) if !tag.contains('/') => before,
        _ => image,
    };
    let path = match untagged.split_once('/') {
        Some((host, path)) if host.contains(['.', ':']) || host == "localhost" => path,
        _ => untagged,
    };
    path.strip_prefix("library/").unwrap_or(path)
}

fn last_word(image: &str) -> &str {
    let repository = repository(image);
    repository.rsplit('/').next().unwrap_or(repository)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_known_without_registry_and_tag() {
        let cases = [
            ("grafana/grafana:11.6.0", "grafana/grafana"),
            ("docker.io/grafana/grafana", "grafana/grafana"),
            (
                "registry.example.org:5000/grafana/grafana@sha256:00",
                "grafana/grafana",
            ),
            ("docker.io/library/postgres:17", "postgres"),
            ("localhost/postgres", "postgres"),
            ("postgres", "postgres"),
        ];
        for (image, expected) in cases {
            assert_eq!(repository(image), expected, "{image}");
        }
    }
}
