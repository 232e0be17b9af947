//! What a recipe may name: options and facts anywhere, secrets under `secrets:` alone, what it uses where it is known.

use super::*;
use crate::catalog::Catalog;
use crate::expand::{MEASURED, ROUTES, SERVICES, VOLUMES, variable};
use crate::name::{self, quoted};
use crate::output::PUBLIC_URL;
use crate::template::{FACTS, OUTPUT_FACTS, TASK_FACTS};
use std::collections::{BTreeMap, BTreeSet};

/// Where a service is.
pub const PLACE_FACTS: &[&str] = &["address", "addresses", "host", "port"];

/// What the text for each route may name.
pub const ROUTE_FACTS: &[&str] = &["route.host", "route.addresses"];

/// Facts of a used component beside its options.
pub const USED_FACTS: &[&str] = &["address", "addresses", "component", "host", "port"];

/// Where a template stands, and so what it may name.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// A value that must be known before anything is placed: defaults, conditions, what a use is given.
    Early,
    /// A value of a service or need.
    Service,
    /// A value that the task reads when it starts.
    Task,
    /// As `Task`, in a file of its own.
    File,
    /// As `File`, once for each route.
    Route,
    /// As `Task`, under `secrets:`.
    Secret,
    Output,
}

impl Place {
    fn facts(self) -> &'static [&'static str] {
        match self {
            Self::Early | Self::Service => FACTS,
            Self::Task | Self::File | Self::Route | Self::Secret => TASK_FACTS,
            Self::Output => OUTPUT_FACTS,
        }
    }
}

pub fn check(reader: &mut Reader<'_>, recipe: &Recipe) {
    for (template, place) in templates(recipe) {
        for name in template.names() {
            check_name(reader, recipe, template, place, name);
        }
    }
    for service in &recipe.services {
        check_service(reader, recipe, service);
        check_volumes(reader, recipe, service);
        check_places(reader, service);
        container::check(reader, service);
        container::check_protocol(reader, service);
    }
    check_tasks(reader, recipe);
    jobs::check(reader, &recipe.services);
    if let Some(monitor) = &recipe.monitor {
        check_monitor(reader, recipe, monitor);
    }
    for route in &recipe.routes {
        let service = recipe
            .services
            .iter()
            .find(|service| service.name == route.service);
        if service.is_none_or(|service| service.ports.is_empty()) {
            reader.report(
                route.at,
                format!(
                    "Route {} is to {}, which is no service with a port",
                    route.name,
                    quoted(&route.service)
                ),
            );
        }
    }
}

/// Every name that some template of the recipe has need of.
pub fn named(recipe: &Recipe) -> BTreeSet<&str> {
    let templates = templates(recipe).into_iter();
    templates.flat_map(|(template, _)| template.names()).collect()
}

/// Every template of the recipe.
fn templates(recipe: &Recipe) -> Vec<(&Template, Place)> {
    let mut found = Vec::new();
    for option in &recipe.options {
        found.extend(
            option
                .default
                .iter()
                .chain(&option.when)
                .map(|t| (t, Place::Early)),
        );
    }
    for used in &recipe.uses {
        found.extend(used.when.iter().map(|t| (t, Place::Early)));
        found.extend(used.with.iter().map(|(_, t)| (t, Place::Early)));
    }
    for volume in &recipe.volumes {
        let others = volume.filesystem.iter().chain(&volume.when);
        found.extend(
            [&volume.size, &volume.path]
                .into_iter()
                .chain(others)
                .map(|t| (t, Place::Early)),
        );
    }
    for route in &recipe.routes {
        found.extend(route.when.iter().chain([&route.host]).map(|t| (t, Place::Early)));
    }
    found.extend(
        recipe
            .host
            .iter()
            .flat_map(OnHosts::templates)
            .map(|t| (t, Place::Early)),
    );
    if let Some(monitor) = &recipe.monitor {
        found.push((&monitor.patience, Place::Early));
    }
    let of_proxy = recipe.proxy.iter();
    found.extend(of_proxy.flat_map(|proxy| {
        proxy
            .port
            .iter()
            .chain([&proxy.scheme])
            .map(|t| (t, Place::Early))
    }));
    found.extend(recipe.services.iter().flat_map(templates_of));
    found.extend(recipe.in_workspace.templates().map(|t| (t, Place::Early)));
    found.extend(recipe.outputs.iter().map(|output| (&output.value, Place::Output)));
    found
}

/// Every template of one service.
fn templates_of(service: &Service) -> Vec<(&Template, Place)> {
    let mut found = Vec::new();
    found.extend(service.when.iter().map(|t| (t, Place::Early)));
    let tasks = service.tasks.iter().filter_map(|task| task.run.as_ref());
    for run in [&service.run].into_iter().chain(tasks) {
        match run {
            Run::Image(image, args) => {
                found.push((image, Place::Service));
                found.extend(args.iter().map(|t| (t, Place::Task)));
            }
            Run::Program(words) => found.extend(words.iter().map(|t| (t, Place::Task))),
        }
    }
    let of_tasks = service.tasks.iter();
    found.extend(of_tasks.flat_map(|task| &task.args).map(|t| (t, Place::Task)));
    let containers = service.tasks.iter().map(|task| &task.container);
    for container in containers.chain([&service.container]) {
        found.extend(container.settings().map(|t| (t, Place::Service)));
        found.extend(container.entrypoint.iter().map(|t| (t, Place::Task)));
    }
    if let Mode::Scheduled(schedule) = &service.mode {
        let times = [&schedule.cron].into_iter().chain(&schedule.zone);
        found.extend(times.map(|t| (t, Place::Early)));
    }
    for port in &service.ports {
        found.extend(port.to.iter().chain(&port.fixed).map(|t| (t, Place::Service)));
    }
    if let Some(Check::Http(path)) = &service.check {
        found.push((path, Place::Service));
    }
    found.extend(service.env.iter().map(|(_, t)| (t, Place::Task)));
    found.extend(service.reload.iter().map(|t| (t, Place::Task)));
    found.extend(service.files.iter().map(|file| match file.each_route {
        true => (&file.text, Place::Route),
        false => (&file.text, Place::File),
    }));
    found.extend(service.secrets.iter().map(|secret| (&secret.text, Place::Secret)));
    found
}

fn check_name(reader: &mut Reader<'_>, recipe: &Recipe, template: &Template, place: Place, name: &str) {
    let first = name.split('.').next().unwrap_or(name);
    if let Some(used) = recipe.use_named(first) {
        let early = matches!(place, Place::Early | Place::Output);
        // A use is an option too: its own name says which component was chosen.
        if early && name != first {
            reader.report_with_hint(
                template.at,
                format!("{} is not known here", quoted(name)),
                "Only services can name a used component",
            );
        } else if !early && name == first && !used.optional {
            reader.report_with_hint(
                template.at,
                format!("{} is a component, not a value", quoted(name)),
                format!("Name a value of it, such as {name}.address"),
            );
        }
        return;
    }
    if recipe.is_secret(first) {
        if place != Place::Secret {
            reader.report_with_hint(
                template.at,
                format!("Secret {} is used outside of secrets", quoted(name)),
                "List it under secrets: of the service; its value then stays in the secrets engine",
            );
        }
        return;
    }
    if first == SERVICES && matches!(place, Place::Task | Place::File | Place::Secret) {
        return check_sibling(reader, recipe, template, name);
    }
    // Which volumes a service finds, its own check knows.
    if is_of_volumes(recipe, first) && matches!(place, Place::Task | Place::File | Place::Secret) {
        return;
    }
    let of_route = place == Place::Route && ROUTE_FACTS.contains(&name);
    let routes = recipe.is_proxy() && matches!(place, Place::Task | Place::File) && first == ROUTES;
    let measured = recipe.monitor.is_some() && place == Place::File && name == MEASURED;
    let known = |name: &str| {
        recipe.option(name).is_some()
            || place.facts().contains(&name)
            || recipe.built_in().any(|option| option.name == name)
    };
    let late = matches!(
        place,
        Place::Task | Place::File | Place::Route | Place::Secret | Place::Output
    );
    let public = late && !recipe.routes.is_empty() && name == PUBLIC_URL;
    if routes || of_route || measured || public || known(first) {
        return;
    }
    let options = recipe.options.iter().map(|option| option.name.as_str());
    let hint = match name::closest(first, options.chain(place.facts().iter().copied())) {
        Some(meant) => format!("Did you mean {meant}?"),
        None => format!(
            "Add an option {}, or use one of: {}",
            quoted(first),
            place.facts().join(", ")
        ),
    };
    reader.report_with_hint(
        template.at,
        format!("Unknown name {} in a template", quoted(name)),
        hint,
    );
}

/// `services.NAME.address` and the like: where another service of the recipe is.
fn check_sibling(reader: &mut Reader<'_>, recipe: &Recipe, template: &Template, name: &str) {
    let known = recipe.services.iter().filter(|service| !service.ports.is_empty());
    let known: Vec<String> = known.map(|service| variable(&service.name)).collect();
    let mut parts = name.split('.').skip(1);
    let is_known = parts
        .next()
        .is_some_and(|service| known.iter().any(|name| name == service))
        && parts.next().is_some_and(|fact| PLACE_FACTS.contains(&fact))
        && parts.next().is_none();
    if !is_known {
        let hint = format!(
            "Use {SERVICES}.NAME.FACT; services with a port: {}; facts: {}",
            known.join(", "),
            PLACE_FACTS.join(", ")
        );
        reader.report_with_hint(
            template.at,
            format!("Unknown name {} in a template", quoted(name)),
            hint,
        );
    }
}

/// An option of this name comes first.
fn is_of_volumes(recipe: &Recipe, first: &str) -> bool {
    first == VOLUMES && recipe.option(VOLUMES).is_none()
}

/// `volumes.NAME`: where the service finds a volume that it names.
fn check_volumes(reader: &mut Reader<'_>, recipe: &Recipe, service: &Service) {
    let known = service.mounts.iter();
    let known: Vec<String> = known.map(|(volume, _)| format!("{VOLUMES}.{volume}")).collect();
    for (template, _) in templates_of(service) {
        let of_volumes = |name: &&str| is_of_volumes(recipe, name.split('.').next().unwrap_or(name));
        let named = template.names().filter(of_volumes);
        for name in named.filter(|name| !known.iter().any(|volume| volume == name)) {
            let hint = match known.as_slice() {
                [] => "List the volume under volumes: of the service".to_owned(),
                known => format!("Service {} has {}", service.name, known.join(", ")),
            };
            reader.report_with_hint(
                template.at,
                format!("Unknown name {} in a template", quoted(name)),
                hint,
            );
        }
    }
}

/// Rules lie on one host, beside what reads them; and they are loaded at the port of that host.
fn check_monitor(reader: &mut Reader<'_>, recipe: &Recipe, monitor: &Monitor) {
    let volume = recipe.volumes.iter().find(|need| need.name == monitor.rules);
    if volume.is_none_or(|volume| volume.each || volume.when.is_some()) {
        let words = format!("The rules of a monitor cannot lie in {}", quoted(&monitor.rules));
        let hint = "Name a volume that has one copy with any options";
        reader.report_with_hint(monitor.at, words, hint);
    }
    let front = recipe.front().map(|service| &service.ports[0]);
    if front.is_none_or(|port| port.fixed.is_none()) {
        let words = "A monitor is asked at its first port, which must be a static one";
        reader.report_with_hint(monitor.at, words, "For example ports: {http: {static: 9090}}");
    }
}

fn check_service(reader: &mut Reader<'_>, recipe: &Recipe, service: &Service) {
    let follows = service.files.iter().any(|file| file.each_route);
    if follows && (!recipe.is_proxy() || service.reload.is_empty()) {
        reader.report_with_hint(
            service.at,
            format!(
                "Service {} follows the routes of others, and does not say how",
                service.name
            ),
            "Add proxy: to the recipe, and reload: to the service",
        );
    }
    if !follows && !service.reload.is_empty() {
        reader.report_with_hint(
            service.at,
            format!("Service {} has nothing to reload", service.name),
            "Write a file with each_route",
        );
    }
    for secret in &service.secrets {
        let names_one = secret.text.names().any(|name| {
            let first = name.split('.').next().unwrap_or(name);
            recipe.is_secret(first) || recipe.use_named(first).is_some()
        });
        if !names_one {
            reader.report(
                secret.text.at,
                format!(
                    "{} names no secret option and no secret of what is used",
                    quoted(&secret.variable)
                ),
            );
        }
    }
    for (mounted, _) in &service.mounts {
        let Some(volume) = recipe.volumes.iter().find(|need| need.name == *mounted) else {
            reader.report(
                service.at,
                format!(
                    "Service {} mounts unknown volume {}",
                    service.name,
                    quoted(mounted)
                ),
            );
            continue;
        };
        if !service.one && !volume.each {
            reader.report_with_hint(
                service.at,
                format!(
                    "Service {} writes to a volume and must be a single instance",
                    service.name
                ),
                "Add instances: one to the service, or each: true to the volume",
            );
        }
    }
    let variables: Vec<&String> = service
        .env
        .iter()
        .map(|(name, _)| name)
        .chain(service.secrets.iter().map(|secret| &secret.variable))
        .collect();
    check_apart(reader, service, "variables", &variables);
    let files: Vec<&String> = service.files.iter().map(|file| &file.name).collect();
    check_apart(reader, service, "files", &files);
    let secret_files: Vec<&String> = service
        .secrets
        .iter()
        .filter_map(|secret| secret.file.as_ref())
        .collect();
    check_apart(reader, service, "secret files", &secret_files);
    for variable in variables {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        if !variable.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') || !variable.chars().all(fits)
        {
            reader.report_with_hint(
                service.at,
                format!("{} cannot name an environment variable", quoted(variable)),
                "Use letters, digits, underscores and dots",
            );
        }
    }
}

/// The variables of a task are named after its service and it: `a_task_x` is the service `a-task-x` as well.
fn check_tasks(reader: &mut Reader<'_>, recipe: &Recipe) {
    let services = recipe.services.iter();
    let services: Vec<String> = services
        .map(|service| crate::emit::identifier(&service.name))
        .collect();
    for service in &recipe.services {
        let names: Vec<&String> = service.tasks.iter().map(|task| &task.name).collect();
        check_apart(reader, service, "tasks", &names);
        for task in &service.tasks {
            let joined = crate::emit::identifier(&format!("{}-task-{}", service.name, task.name));
            let meets = services.iter().position(|name| *name == joined);
            if let Some(other) = meets.and_then(|at| recipe.services.get(at)) {
                let words = format!(
                    "Task {} of service {} and service {} would have the same variables",
                    task.name, service.name, other.name
                );
                reader.report_with_hint(task.at, words, "Rename one of them");
            }
        }
    }
}

/// Directories of a container that are Nomad's: what is mounted there would hide them.
const OF_NOMAD: &[&str] = &["/alloc", "/local", "/secrets"];

/// Whether what follows the name of a directory ends it.
fn is_end(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

/// One place in a container has one thing: a file with a path of its own, or a volume.
fn check_places(reader: &mut Reader<'_>, service: &Service) {
    let files = service.files.iter();
    let files =
        files.filter_map(|file| Some((format!("File {}", quoted(&file.name)), file.path.as_deref()?)));
    let mounts = service.mounts.iter();
    let mounts = mounts.map(|(name, placed)| (format!("Volume {}", quoted(name)), placed.text.as_str()));
    let mut seen: BTreeMap<&str, String> = BTreeMap::new();
    for (what, path) in mounts.chain(files) {
        let is_within = |directory: &&str| path.strip_prefix(*directory).is_some_and(is_end);
        if OF_NOMAD.iter().any(is_within) {
            let words = format!("{what} would lie at {path}, which Nomad has in every container");
            reader.report_with_hint(service.at, words, "Choose another path");
        } else if let Some(other) = seen.get(path) {
            let words = format!("{other} and {what} would both lie at {path}");
            reader.report_with_hint(service.at, words, "Choose another path for one of them");
        }
        seen.insert(path, what);
    }
}

/// The module names its variables after these, letters and digits in lower case: no two may fall together.
fn check_apart(reader: &mut Reader<'_>, service: &Service, what: &str, names: &[&String]) {
    let mut seen = BTreeMap::new();
    for name in names {
        if let Some(other) = seen.insert(crate::emit::identifier(name), *name) {
            reader.report_with_hint(
                service.at,
                format!(
                    "Service {} has {what} of the same name: {} and {}",
                    service.name,
                    quoted(other),
                    quoted(name)
                ),
                "Case and marks do not make them different: rename one",
            );
        }
    }
}

/// What a recipe says of the recipes it uses: they exist, and have what is given to and asked of them.
pub fn check_uses(recipe: &Recipe, catalog: &Catalog) -> Vec<Diagnostic> {
    let mut reader = Reader::new(&recipe.file);
    for used in &recipe.uses {
        let other = match catalog.find(&used.recipe, None) {
            Ok(other) => other,
            Err(unknown) => {
                reader.diagnostics.push(unknown.at(&recipe.file, used.at));
                continue;
            }
        };
        for (option, template) in &used.with {
            match other.settable().find(|spec| spec.name == *option) {
                Some(spec) if spec.kind != OptionType::Secret => {}
                Some(_) => reader.report(
                    template.at,
                    format!(
                        "{} gets secret option {option}, whose value would be in the pillar",
                        used.recipe
                    ),
                ),
                None => reader
                    .diagnostics
                    .push(crate::intent::unknown_option(other, option).at(&recipe.file, template.at)),
            }
        }
        for (template, place) in templates(recipe) {
            for name in template.names() {
                let Some((first, attribute)) = name.split_once('.') else {
                    continue;
                };
                if first == used.name {
                    check_used_name(&mut reader, used, other, template, place, attribute);
                }
            }
        }
    }
    reader.diagnostics
}

fn check_used_name(
    reader: &mut Reader<'_>,
    used: &Use,
    other: &Recipe,
    template: &Template,
    place: Place,
    attribute: &str,
) {
    if other.is_secret(attribute) {
        if place != Place::Secret {
            reader.report_with_hint(
                template.at,
                format!("Secret {attribute} of {} is used outside of secrets", used.recipe),
                "List it under secrets: of the service",
            );
        }
        return;
    }
    // Where it is, is known when the task starts: too late for what Nomad itself reads.
    if place == Place::Service && attribute != "component" && USED_FACTS.contains(&attribute) {
        reader.report_with_hint(
            template.at,
            format!(
                "{} is not known here",
                quoted(&format!("{}.{attribute}", used.name))
            ),
            "Only env, files and secrets can name the address of a component",
        );
        return;
    }
    if USED_FACTS.contains(&attribute) || other.settable().any(|option| option.name == attribute) {
        return;
    }
    let options = other.settable().map(|option| option.name.as_str());
    let hint = match name::closest(attribute, options.chain(USED_FACTS.iter().copied())) {
        Some(meant) => format!("Did you mean {}.{meant}?", used.name),
        None => format!("It has its options and {}", USED_FACTS.join(", ")),
    };
    reader.report_with_hint(
        template.at,
        format!("Recipe {} has no {}", used.recipe, quoted(attribute)),
        hint,
    );
}
