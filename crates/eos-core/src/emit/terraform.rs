//! Terraform modules and workspaces: structure in the module, values in the environment's tfvars.

use super::backend::settings as backend_settings;
use super::hcl::{Body, Expression, raw};
use super::outputs::{self, Outputs};
use super::variables::{Kind, Variable, generation, identifier, text, variables};
use super::{Artifacts, digest_of, json_lines, nomad, sha256};
use crate::backend::{Backend, Setup};
use crate::canonical::canonical_digest;
use crate::lowered::{Group, Lowered, Mesh, Shape};
use crate::providers::{self, Provider};
use crate::recipe::Risk;
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::slice;

/// What the control minion is told about one workspace.
#[derive(Clone, Debug, PartialEq)]
pub struct Workspace {
    pub environment: String,
    pub component: String,
    /// What an applied workspace is compared with: all that follows but for the digest of the job.
    pub digest: String,
    /// What a running job is compared with: all that its instances run with.
    pub job_digest: String,
    pub facts: WorkspaceFacts,
}

/// The slice of a workspace but for its own digest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkspaceFacts {
    pub risk: Risk,
    pub token: &'static str,
    /// Path in the release -> sha256.
    pub files: BTreeMap<String, String>,
    pub hosts: Vec<String>,
    pub secrets: Vec<SecretFacts>,
    /// Whether its job runs `once`, so that Nomad may forget it; or `runs` at set times, or `rests`: then the minion
    /// ends the run that goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<&'static str>,
    /// The service whose place the outputs say; the minion looks it up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// Where the Terraform state lies, if not where the profile has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<Backend>,
}

/// Where a component's secrets lie; never what they are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SecretFacts {
    pub namespace: String,
    pub path: String,
    pub items: Vec<String>,
}

pub const PLATFORM: &str = "platform";

/// The types of the resources that are Eos's own.
const NAMESPACE: &str = "nomad_namespace";
const REGISTRATION: &str = "nomad_dynamic_host_volume_registration";
const JOB: &str = "nomad_job";
const ENTRY: &str = "consul_config_entry";

/// Seconds that Nomad's provider waits for a deployment where nothing says otherwise.
const PATIENCE: u32 = 300;

/// A variable whose value is looked up when Terraform runs.
#[derive(Debug, PartialEq)]
pub struct Late {
    pub name: &'static str,
    pub kind: &'static str,
    description: &'static str,
    /// Whether the Nomad job takes it too.
    pub in_job: bool,
}

const NODE_IDS: Late = Late {
    name: "node_ids",
    kind: "map(string)",
    description: "Nomad node ids by node name, looked up when Terraform runs",
    in_job: false,
};

pub const SECRET_VERSION: Late = Late {
    name: "secret_version",
    kind: "number",
    description: "Version of the component's secrets, looked up when Terraform runs",
    in_job: true,
};

/// Of outputs alone: no instance runs with it.
pub const REGISTERED: Late = Late {
    name: "registered",
    kind: "object({ address = string, port = number })",
    description: "Where the first service answers, looked up when Terraform runs; null before it is registered",
    in_job: false,
};

/// What is looked up for what a component makes.
pub fn late(lowered: &Lowered) -> Vec<&'static Late> {
    let mut list = Vec::new();
    if lowered.registers_volumes() {
        list.push(&NODE_IDS);
    }
    if !lowered.secrets.is_empty() {
        list.push(&SECRET_VERSION);
    }
    list
}

/// The workspace of one component.
pub fn component(lowered: &Lowered, setup: &Setup, artifacts: &mut Artifacts) -> Workspace {
    let mut variables = match lowered.runs() {
        true => job_variables(lowered),
        false => Vec::new(),
    };
    variables.push(generation(lowered.generation));
    let name = lowered.component.as_str();
    let late = late(lowered);
    let providers = providers::of_types(types(lowered));
    let mut module = vec![(
        "main.tf".to_owned(),
        component_main(lowered, &variables, &providers),
    )];
    if lowered.runs() {
        module.push(("outputs.tf".to_owned(), outputs()));
    }
    module.push(("variables.tf".to_owned(), declarations(&variables, &late, true)));
    if lowered.runs() {
        module.push((format!("{name}.nomad.hcl"), nomad::job(lowered, &variables)));
    }
    for (file, document) in lowered.in_workspace.documents() {
        let text = String::from_utf8(json_lines("", &document)).expect("JSON is text");
        module.push((file.to_owned(), text));
    }
    let volumes = lowered.volumes.iter().filter(|_| lowered.registers_volumes());
    let mut hosts: Vec<_> = volumes.map(|volume| volume.host.value.clone()).collect();
    hosts.sort();
    hosts.dedup();
    workspace(
        artifacts,
        Parts {
            setup,
            environment: &lowered.environment,
            name,
            module,
            variables,
            late,
            providers,
            hosts,
            risk: lowered.risk,
            schedule: match &lowered.shape {
                Shape::Service | Shape::System => None,
                Shape::Batch => Some("once"),
                Shape::Scheduled(schedule) if schedule.rests.is_some() => Some("rests"),
                Shape::Scheduled(_) => Some("runs"),
            },
            secrets: secrets(lowered),
            outputs: outputs::outputs(lowered),
            token: "client",
        },
    )
}

/// The variables of a component with a job.
fn job_variables(lowered: &Lowered) -> Vec<Variable> {
    let mut variables = variables(lowered);
    variables.push(text(
        "eos_digest",
        "",
        "Digest of what an instance runs with, kept in the job",
        true,
    ));
    variables
}

/// The types of all resources that Terraform makes of a component.
fn types(lowered: &Lowered) -> impl Iterator<Item = &str> {
    let called = lowered.groups.iter().any(is_called).then_some(ENTRY);
    let volumes = lowered.registers_volumes().then_some(REGISTRATION);
    let job = lowered.runs().then_some(JOB);
    called
        .into_iter()
        .chain(volumes)
        .chain(job)
        .chain(lowered.in_workspace.types())
}

fn secrets(lowered: &Lowered) -> Vec<SecretFacts> {
    if lowered.secrets.is_empty() {
        return Vec::new();
    }
    vec![SecretFacts {
        namespace: lowered.environment.clone(),
        path: lowered.secret_path(),
        items: lowered.secrets.iter().map(|secret| secret.item.clone()).collect(),
    }]
}

/// What the components of an environment share: its namespace.
pub fn platform(environment: &str, brought_back: u32, setup: &Setup, artifacts: &mut Artifacts) -> Workspace {
    let variables = vec![
        text(
            "namespace",
            environment,
            "Nomad namespace: the environment",
            false,
        ),
        Variable {
            in_job: false,
            ..generation(brought_back)
        },
    ];
    let providers = providers::of_types([NAMESPACE]);
    let namespace = Body::new()
        .attribute("name", raw("var.namespace"))
        .attribute("description", "Environment of an Eos estate");
    let main = Body::new()
        .block("terraform", &[], required_providers(&providers))
        .block("resource", &[NAMESPACE, "environment"], namespace);
    let output = Body::new().attribute("value", raw("nomad_namespace.environment.name"));
    let module = vec![
        ("main.tf".to_owned(), main.print()),
        (
            "outputs.tf".to_owned(),
            Body::new().block("output", &["namespace"], output).print(),
        ),
        ("variables.tf".to_owned(), declarations(&variables, &[], true)),
    ];
    workspace(
        artifacts,
        Parts {
            setup,
            environment,
            name: PLATFORM,
            module,
            variables,
            late: Vec::new(),
            providers,
            hosts: Vec::new(),
            // It is a namespace: who may make a component may have it made.
            risk: Risk::Low,
            schedule: None,
            secrets: Vec::new(),
            outputs: None,
            token: "management",
        },
    )
}

/// What a workspace is made of.
struct Parts<'a> {
    setup: &'a Setup,
    environment: &'a str,
    name: &'a str,
    /// Name of the file -> text.
    module: Vec<(String, String)>,
    variables: Vec<Variable>,
    late: Vec<&'static Late>,
    providers: Vec<&'static Provider>,
    hosts: Vec<String>,
    risk: Risk,
    schedule: Option<&'static str>,
    secrets: Vec<SecretFacts>,
    outputs: Option<Outputs>,
    token: &'static str,
}

fn workspace(artifacts: &mut Artifacts, parts: Parts<'_>) -> Workspace {
    let Parts {
        setup,
        environment,
        name,
        mut module,
        mut variables,
        mut late,
        providers,
        hosts,
        risk,
        schedule,
        secrets,
        outputs,
        token,
    } = parts;
    let main = |backend: &Backend, structure: &str, late: &[&Late], variables: &[Variable]| {
        let settings = backend_settings(backend, environment, name);
        environment_main(
            (backend.kind(), settings),
            name,
            structure,
            variables,
            late,
            &providers,
        )
    };
    let of_instances = values(variables.iter().filter(|variable| variable.of_instance));
    // A Terraform state that moves elsewhere restarts nothing, nor does what a recipe says of the service.
    let preset = Backend::of_profile(setup.profile);
    let structure = structure_digest(&module);
    let of_job = main(&preset, &structure, &late, &variables);
    let job_digest = digest_of([structure.as_bytes(), of_job.as_bytes(), &of_instances]);
    let mut service = None;
    let mut handed_on = None;
    if let Some(outputs) = outputs {
        let place = outputs.service.as_ref().map(|_| &REGISTERED);
        let needed = declarations(slice::from_ref(&outputs.texts), place.as_slice(), true);
        let text = format!("{needed}\n{}", outputs.of_module);
        module.push((outputs::FILE.to_owned(), text));
        variables.push(outputs.texts);
        late.extend(place);
        handed_on = Some(("outputs.tf", outputs.of_workspace));
        service = outputs.service.filter(|_| !outputs.is_stopped);
    }
    let structure = structure_digest(&module);
    let module_directory = format!("terraform/modules/{name}/{structure}");
    let backend = setup.chosen_backend().unwrap_or(&preset);
    let main = main(backend, &structure, &late, &variables);
    if let Some(own) = variables
        .iter_mut()
        .find(|variable| variable.name == "eos_digest")
    {
        own.value = job_digest.as_str().into();
    }
    let directory = format!("terraform/environments/{environment}/{name}");
    let files: Vec<(String, Vec<u8>)> = module
        .into_iter()
        .map(|(file, text)| (format!("{module_directory}/{file}"), text.into_bytes()))
        .chain([
            (format!("{directory}/main.tf"), main.into_bytes()),
            (
                format!("{directory}/variables.tf"),
                declarations(&variables, &late, false).into_bytes(),
            ),
            (format!("{directory}/terraform.tfvars.json"), values(&variables)),
        ])
        .chain(handed_on.map(|(file, text)| (format!("{directory}/{file}"), text.into_bytes())))
        .collect();
    let digests = files
        .iter()
        .map(|(path, bytes)| (path.clone(), sha256(bytes)))
        .collect();
    artifacts.extend(files);
    let facts = WorkspaceFacts {
        risk,
        token,
        files: digests,
        hosts,
        secrets,
        schedule,
        service,
        backend: setup.chosen_backend().cloned(),
    };
    Workspace {
        environment: environment.to_owned(),
        component: name.to_owned(),
        digest: canonical_digest(&serde_json::to_value(&facts).expect("it has a JSON form")),
        job_digest,
        facts,
    }
}

/// Environments whose modules are equal to the byte share one.
fn structure_digest(module: &[(String, String)]) -> String {
    digest_of(
        module
            .iter()
            .flat_map(|(file, text)| [file.as_bytes(), text.as_bytes()]),
    )[..12]
        .to_owned()
}

fn values<'a>(variables: impl IntoIterator<Item = &'a Variable>) -> Vec<u8> {
    let values: IndexMap<&str, &Value> = variables
        .into_iter()
        .map(|variable| (variable.name.as_str(), &variable.value))
        .collect();
    json_lines("", &values)
}

fn required_providers(providers: &[&'static Provider]) -> Body<'static> {
    Body::new().block("required_providers", &[], provider_versions(providers))
}

fn provider_versions(providers: &[&'static Provider]) -> Body<'static> {
    let mut versions = Body::new();
    for provider in providers {
        let facts = Expression::Map(vec![
            ("source".into(), provider.source.into()),
            ("version".into(), provider.version.into()),
        ]);
        versions = versions.attribute(provider.name, facts);
    }
    versions
}

fn environment_main(
    (backend, settings): (&str, Body<'static>),
    name: &str,
    structure: &str,
    variables: &[Variable],
    late: &[&Late],
    providers: &[&'static Provider],
) -> String {
    let terraform = Body::new()
        .attribute("required_version", ">= 1.6")
        .block("backend", &[backend], settings)
        .block("required_providers", &[], provider_versions(providers));
    let mut module = Body::new().attribute("source", format!("../../../modules/{name}/{structure}"));
    for variable in variables {
        module = module.attribute(variable.name.as_str(), raw(format!("var.{}", variable.name)));
    }
    for late in late {
        module = module.attribute(late.name, raw(format!("var.{}", late.name)));
    }
    let mut main = Body::new().block("terraform", &[], terraform);
    for provider in providers {
        let settings = match provider.block {
            Some(block) => Body::new().block(block, &[], Body::new()),
            None => Body::new(),
        };
        main = main.block("provider", &[provider.name], settings);
    }
    main.block("module", &[name], module).print()
}

/// `variable` blocks; a module states its bounds, a workspace only passes values on.
fn declarations(variables: &[Variable], late: &[&Late], validate: bool) -> String {
    let mut body = Body::new();
    for variable in variables {
        let (kind, bounds) = match variable.kind {
            Kind::Text => ("string", None),
            Kind::Number { low, high } => ("number", Some((low, high))),
            Kind::Map => ("map(string)", None),
            Kind::List => ("list(string)", None),
        };
        let mut declaration = Body::new()
            .attribute("description", variable.description.as_str())
            .attribute("type", raw(kind));
        if let (Some((low, high)), true) = (bounds, validate) {
            let name = &variable.name;
            let validation = Body::new()
                .attribute(
                    "condition",
                    raw(format!(
                        "var.{name} >= {low} && var.{name} <= {high} && floor(var.{name}) == var.{name}"
                    )),
                )
                .attribute(
                    "error_message",
                    format!("{name} must be a whole number between {low} and {high}."),
                );
            declaration = declaration.block("validation", &[], validation);
        }
        body = body.block("variable", &[&variable.name], declaration);
    }
    for late in late {
        let declaration = Body::new()
            .attribute("description", late.description)
            .attribute("type", raw(late.kind));
        body = body.block("variable", &[late.name], declaration);
    }
    body.print()
}

fn component_main(lowered: &Lowered, variables: &[Variable], providers: &[&'static Provider]) -> String {
    let mut body = Body::new().block("terraform", &[], required_providers(providers));
    if !lowered.runs() {
        return body.print();
    }
    for (need, volumes) in lowered.volumes_by_need() {
        let need = identifier(need);
        let capability = Body::new()
            .attribute("access_mode", "single-node-writer")
            .attribute("attachment_mode", "file-system");
        let (each, node, path) = match volumes[0].each {
            true => (
                Body::new().attribute("for_each", raw(format!("var.volume_{need}_paths"))),
                "each.key".to_owned(),
                "each.value".to_owned(),
            ),
            false => (
                Body::new(),
                format!("var.volume_{need}_host"),
                format!("var.volume_{need}_path"),
            ),
        };
        let registration = each
            .attribute("name", raw(format!("var.volume_{need}_name")))
            .attribute("namespace", raw("var.namespace"))
            .attribute("node_id", raw(format!("var.node_ids[{node}]")))
            .attribute("host_path", raw(path))
            .block("capability", &[], capability);
        body = body.block("resource", &[REGISTRATION, &need], registration);
    }
    for group in lowered.groups.iter().filter(|group| is_called(group)) {
        body = body.block(
            "resource",
            &[ENTRY, &identifier(&group.name)],
            intentions(&identifier(&group.name)),
        );
    }
    let late = late(lowered).into_iter().filter(|late| late.in_job);
    let late = late.map(|late| (late.name.into(), raw(format!("tostring(var.{})", late.name))));
    let vars = variables
        .iter()
        .filter(|variable| variable.in_job)
        .map(|variable| {
            let value = match variable.kind {
                Kind::Text => format!("var.{}", variable.name),
                Kind::Number { .. } => format!("tostring(var.{})", variable.name),
                Kind::Map | Kind::List => format!("jsonencode(var.{})", variable.name),
            };
            (variable.name.as_str().into(), raw(value))
        })
        .chain(late)
        .collect();
    let mut job = Body::new()
        .attribute(
            "jobspec",
            raw(format!(
                "file(\"${{path.module}}/{}.nomad.hcl\")",
                lowered.component
            )),
        )
        .attribute("purge_on_destroy", true)
        .attribute("detach", false);
    if !lowered.volumes.is_empty() {
        let volumes = lowered
            .volumes_by_need()
            .into_keys()
            .map(|need| raw(format!("{REGISTRATION}.{}", identifier(need))));
        job = job.attribute("depends_on", Expression::List(volumes.collect()));
    }
    let mut job = job.block("hcl2", &[], Body::new().attribute("vars", Expression::Map(vars)));
    if let Some(timeouts) = timeouts(lowered) {
        job = job.block("timeouts", &[], timeouts);
    }
    body.block("resource", &[JOB, "component"], job).print()
}

/// How long Terraform waits for a deployment, as `Lowered::rollout` reckons it. Its provider's own patience is enough for
/// what starts and stops as usual, and for a single instance that is replaced within it.
fn timeouts(lowered: &Lowered) -> Option<Body<'static>> {
    let is_enough = |group: &Group| {
        let is_short = group.one && group.timing.replacement().as_secs() <= PATIENCE.into();
        is_short || !group.timing.says_limits()
    };
    if lowered.groups.iter().all(is_enough) {
        return None;
    }
    let groups = lowered.groups.iter().map(|group| {
        let count = format!("var.{}_count", identifier(&group.name));
        let seconds = group.timing.replacement().as_secs_f64().ceil();
        format!("({count} + 1) * {seconds}")
    });
    let all: Vec<String> = std::iter::once(PATIENCE.to_string()).chain(groups).collect();
    let seconds = format!("\"${{max({})}}s\"", all.join(", "));
    let limit = || raw(seconds.clone());
    Some(
        Body::new()
            .attribute("create", limit())
            .attribute("update", limit()),
    )
}

fn is_called(group: &Group) -> bool {
    group.mesh.as_ref().is_some_and(Mesh::is_called)
}

/// Who may call a service through the mesh; whoever is not named may not.
fn intentions<'a>(prefix: &str) -> Body<'a> {
    let sources = format!(
        "jsonencode({{ Sources = [for caller in var.{prefix}_callers : {{ Name = caller, Action = \"allow\", Precedence = 9, Type = \"consul\" }}] }})"
    );
    Body::new()
        .attribute("kind", "service-intentions")
        .attribute("name", raw(format!("var.{prefix}_service")))
        .attribute("config_json", raw(sources))
}

fn outputs() -> String {
    let output =
        |attribute: &str| Body::new().attribute("value", raw(format!("nomad_job.component.{attribute}")));
    Body::new()
        .block("output", &["job"], output("id"))
        .block("output", &["namespace"], output("namespace"))
        .print()
}
