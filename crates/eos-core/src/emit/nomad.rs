//! The Nomad job of a component: static HCL2 with variables, so that `nomad job run -var-file` works by hand too.

use super::hcl::{Body, Expression, raw};
use super::task_templates::{TaskTemplate, WhenChanged, paths, secret_file, shown, templates};
use super::terraform::{Late, late};
use super::variables::{Kind, Variable, identifier};
use crate::lowered::{Check, Container, Driver, Group, Lowered, Mesh, Port, Schedule, Shape, Task};
use crate::profile::Profile;
use crate::recipe::{Moment, Requires};
use crate::runtime::{COMPONENT_TAG, MEASURED_TAG, METRICS_TAG, SECRET_VERSION};
use crate::timing::{Span, Timing};

/// The label of the sidecar's port, and the network of the hosts on which sidecars speak to one another.
const MESH: &str = "mesh";

/// How long Nomad lets a pull take where a job says nothing.
const PULL: Span = Span::seconds(300);

pub fn job(component: &Lowered, variables: &[Variable]) -> String {
    let declarations =
        variables
            .iter()
            .filter(|variable| variable.in_job)
            .fold(Body::new(), |body, variable| {
                let kind = match variable.kind {
                    Kind::Text => "string",
                    Kind::Number { .. } => "number",
                    Kind::Map => "map(string)",
                    Kind::List => "list(string)",
                };
                body.block(
                    "variable",
                    &[&variable.name],
                    Body::new().attribute("type", raw(kind)),
                )
            });
    let late: Vec<&Late> = late(component).into_iter().filter(|late| late.in_job).collect();
    let declarations = late.iter().fold(declarations, |body, late| {
        let declaration = Body::new().attribute("type", raw(late.kind));
        body.block("variable", &[late.name], declaration)
    });
    let mut meta = vec![
        ("eos_component".into(), component.component.as_str().into()),
        ("eos_recipe".into(), component.recipe.as_str().into()),
        ("eos_version".into(), component.version.as_str().into()),
        ("eos_digest".into(), raw("var.eos_digest")),
    ];
    if late.contains(&&super::terraform::SECRET_VERSION) {
        meta.push((SECRET_VERSION.into(), raw("var.secret_version")));
    }
    let job = Body::new()
        .attribute("namespace", raw("var.namespace"))
        .attribute("datacenters", raw("[var.datacenter]"))
        .attribute("type", component.shape.nomad())
        .attribute("meta", Expression::Map(meta));
    let job = match &component.shape {
        Shape::Service | Shape::System => job.block("update", &[], update(&Timing::default())),
        Shape::Batch => job,
        Shape::Scheduled(schedule) => job.block("periodic", &[], periodic(schedule)),
    };
    let job = component.groups.iter().fold(job, |job, group| {
        job.block("group", &[&group.name], group_body(component, group))
    });
    declarations.block("job", &[&component.component], job).print()
}

/// Every setting is written out, so that the job Nomad keeps is the job that was sent.
fn update(timing: &Timing) -> Body<'static> {
    Body::new()
        .attribute("max_parallel", 1)
        .attribute("health_check", "checks")
        .attribute("min_healthy_time", timing.settled().to_string())
        .attribute("healthy_deadline", timing.start().to_string())
        // The first instance that is not healthy ends the deployment: with a deadline, Nomad would go on to place what
        // cannot run until it is over.
        .attribute("progress_deadline", "0s")
        .attribute("auto_revert", true)
}

/// A schedule that rests stays registered, and starts nothing.
fn periodic(schedule: &Schedule) -> Body<'static> {
    Body::new()
        .attribute("crons", raw("[var.cron]"))
        .attribute("time_zone", raw("var.zone"))
        .attribute("prohibit_overlap", !schedule.overlap)
        .attribute("enabled", schedule.rests.is_none())
}

/// What a group has otherwise than its job; Nomad takes the rest from there.
fn own_update(timing: &Timing) -> Option<Body<'static>> {
    let usual = Timing::default();
    let differing = [
        ("min_healthy_time", timing.settled(), usual.settled()),
        ("healthy_deadline", timing.start(), usual.start()),
    ];
    let mut own = None;
    for (name, span, usual) in differing {
        if span != usual {
            own = Some(own.unwrap_or_else(Body::new).attribute(name, span.to_string()));
        }
    }
    own
}

/// What fails at its start is started again for some fifteen seconds, which is enough for a sidecar to be there. What runs
/// to its end is not repeated, unless it needs a sidecar: half of its work may be done.
fn restart(component: &Lowered, group: &Group) -> Body<'static> {
    let calls = group.mesh.as_ref().is_some_and(|mesh| !mesh.upstreams.is_empty());
    let attempts = match component.shape.is_lasting() || calls {
        true => 3,
        false => 0,
    };
    Body::new()
        .attribute("attempts", attempts)
        .attribute("interval", "5m")
        .attribute("delay", "5s")
        .attribute("mode", "fail")
}

/// Nomad makes no second instance of a run that failed.
fn reschedule() -> Body<'static> {
    Body::new().attribute("attempts", 0).attribute("unlimited", false)
}

/// What a host must have for the group to run on it. Nomad's clients say what they have.
fn requirements(requires: &Requires) -> Vec<Body<'static>> {
    let at_least = |attribute: &'static str, bytes: u64| {
        Body::new()
            .attribute("attribute", attribute)
            .attribute("operator", ">=")
            .attribute("value", bytes.to_string())
    };
    let architecture = requires.architecture.map(|(architecture, _)| {
        Body::new()
            .attribute("attribute", "${attr.cpu.arch}")
            .attribute("value", architecture.word())
    });
    let memory = requires
        .memory
        .map(|(bytes, _)| at_least("${attr.memory.totalbytes}", bytes));
    let disk = requires
        .disk
        .map(|(bytes, _)| at_least("${attr.unique.storage.bytesfree}", bytes));
    architecture.into_iter().chain(memory).chain(disk).collect()
}

/// An instance whose check fails three times in a row is started again, and has then as long to be healthy as a new one.
fn check_restart(timing: &Timing) -> Body<'static> {
    Body::new()
        .attribute("limit", 3)
        .attribute("grace", timing.start().to_string())
        .attribute("ignore_warnings", false)
}

fn group_body<'a>(component: &Lowered, group: &'a Group) -> Body<'a> {
    let prefix = identifier(&group.name);
    let var = |suffix: &str| raw(format!("var.{prefix}_{suffix}"));
    let mut body = Body::new().attribute("count", var("count"));
    if group.distinct_hosts {
        let constraint = Body::new()
            .attribute("operator", "distinct_hosts")
            .attribute("value", "true");
        body = body.block("constraint", &[], constraint);
    }
    for constraint in group.requires().map(requirements).into_iter().flatten() {
        body = body.block("constraint", &[], constraint);
    }
    if let Some(update) = own_update(&group.timing).filter(|_| component.shape.is_lasting()) {
        body = body.block("update", &[], update);
    }
    body = body.block("restart", &[], restart(component, group));
    if !component.shape.is_lasting() {
        body = body.block("reschedule", &[], reschedule());
    }
    if !group.ports.is_empty() || group.mesh.is_some() {
        let network = match group.mesh {
            Some(_) => Body::new().attribute("mode", "bridge"),
            None => Body::new(),
        };
        let network = group.ports.iter().fold(network, |network, port| {
            let label = identifier(&port.label);
            let mut settings = Body::new();
            if port.fixed.is_some() {
                settings = settings.attribute("static", var(&format!("port_{label}")));
            }
            if port.to.is_some() {
                settings = settings.attribute("to", var(&format!("port_{label}_to")));
            }
            network.block("port", &[&port.label], settings)
        });
        let network = match group.mesh {
            Some(_) => {
                let port = Body::new()
                    // The one that it has outside.
                    .attribute("to", -1)
                    .attribute("host_network", MESH);
                network.block("port", &[MESH], port)
            }
            None => network,
        };
        body = body.block("network", &[], network);
    }
    for mount in &group.mounts {
        let volume = Body::new()
            .attribute("type", "host")
            .attribute(
                "source",
                raw(format!("var.volume_{}_name", identifier(&mount.volume))),
            )
            .attribute("access_mode", "single-node-writer")
            .attribute("attachment_mode", "file-system");
        // A replacement goes back to where the data of its instance is.
        let volume = match mount.each {
            true => volume.attribute("sticky", true),
            false => volume,
        };
        body = body.block("volume", &[&mount.volume], volume);
    }
    if !group.ports.is_empty() || group.mesh.is_some() {
        body = body.block("service", &[], service(component, group));
    }
    let tasks = group.more.iter().flat_map(|more| &more.tasks);
    let body = tasks.fold(body, |body, side| {
        body.block("task", &[&side.name], side_task(component, group, side))
    });
    body.block("task", &[&group.name], task(component, group))
}

fn service<'a>(component: &Lowered, group: &'a Group) -> Body<'a> {
    let prefix = identifier(&group.name);
    let var = |suffix: &str| raw(format!("var.{prefix}_{suffix}"));
    let mut service = Body::new().attribute("name", var("service"));
    if let Some(port) = group.ports.first() {
        // What is reached through its sidecar alone is known by the port in its own network, not by one of the host.
        service = match group.is_closed() {
            true => service.attribute(
                "port",
                raw(format!(
                    "\"${{var.{prefix}_port_{}_to}}\"",
                    identifier(&port.label)
                )),
            ),
            false => service.attribute("port", port.label.as_str()),
        };
    }
    service = service.attribute(
        "provider",
        match component.profile {
            Profile::Solo => "nomad",
            Profile::Full => "consul",
        },
    );
    if let Some(path) = group.measured() {
        let tags = [
            format!("{COMPONENT_TAG}={}", component.component).into(),
            raw(format!("\"{MEASURED_TAG}=${{var.namespace}}\"")),
            format!("{METRICS_TAG}={path}").into(),
        ];
        service = service.attribute("tags", Expression::List(tags.into()));
    }
    if let Some(check) = &group.check {
        let kind = match check {
            Check::Http(_) => {
                let http = Body::new()
                    .attribute("type", "http")
                    .attribute("path", var("check_path"));
                // The sidecar lets this one path in.
                match group.is_closed() {
                    true => http.attribute("expose", true),
                    false => http,
                }
            }
            Check::Tcp { command } => match command.split_first() {
                Some((program, words)) if group.is_closed() => Body::new()
                    .attribute("type", "script")
                    .attribute("task", group.name.as_str())
                    .attribute("command", program.as_str())
                    .attribute(
                        "args",
                        Expression::List(words.iter().map(|word| word.as_str().into()).collect()),
                    ),
                _ => Body::new().attribute("type", "tcp"),
            },
        };
        let timing = &group.timing;
        let check = kind
            .attribute("interval", timing.every().to_string())
            .attribute("timeout", timing.timeout().to_string())
            .block("check_restart", &[], check_restart(timing));
        service = service.block("check", &[], check);
    }
    match &group.mesh {
        Some(mesh) => service.block("connect", &[], connect(group, mesh)),
        None => service,
    }
}

/// The sidecar through which a group calls and is called.
fn connect<'a>(group: &'a Group, mesh: &'a Mesh) -> Body<'a> {
    let mut sidecar = Body::new().attribute("port", MESH);
    if !mesh.upstreams.is_empty() {
        let upstreams = mesh.upstreams.iter().enumerate();
        let proxy = upstreams.fold(Body::new(), |proxy, (index, upstream)| {
            let name = format!("var.{}_upstream_{index}", identifier(&group.name));
            let upstream = Body::new()
                .attribute("destination_name", raw(name))
                .attribute("local_bind_port", i64::from(upstream.port));
            proxy.block("upstreams", &[], upstream)
        });
        sidecar = sidecar.block("proxy", &[], proxy);
    }
    let connect = Body::new().block("sidecar_service", &[], sidecar);
    match group.driver {
        Driver::Docker { .. } => connect,
        // Beside a program of the host its sidecar is one too, and finds Consul by a path relative to where it runs.
        Driver::RawExec { .. } => {
            let words = [
                "-c",
                "${NOMAD_SECRETS_DIR}/envoy_bootstrap.json",
                "-l",
                "warning",
                "--concurrency",
                "1",
                "--disable-hot-restart",
            ];
            let config = Body::new()
                .attribute("command", "envoy")
                .attribute("work_dir", "${NOMAD_ALLOC_DIR}/..")
                .attribute("args", Expression::List(words.map(Expression::from).into()));
            let task = Body::new()
                .attribute("driver", "raw_exec")
                .block("config", &[], config);
            connect.block("sidecar_task", &[], task)
        }
    }
}

fn task<'a>(component: &Lowered, group: &'a Group) -> Body<'a> {
    let prefix = identifier(&group.name);
    let var = |suffix: &str| raw(format!("var.{prefix}_{suffix}"));
    let container = group.more.as_deref().map(|more| &more.container);
    let config = config(&group.driver, container, &prefix, group, &group.ports);
    let body = body(component, group, (&group.driver, container, &prefix), config);
    body.block(
        "resources",
        &[],
        Body::new()
            .attribute("cpu", var("cpu"))
            .attribute("memory", var("memory")),
    )
}

/// A task that runs to its end before the service starts, or once it started. It has what the service has.
fn side_task<'a>(component: &Lowered, group: &'a Group, side: &'a Task) -> Body<'a> {
    let prefix = task_prefix(group, side);
    let config = config(&side.driver, Some(&side.container), &prefix, group, &[]);
    let hook = match side.moment {
        Moment::Before => "prestart",
        Moment::After => "poststart",
    };
    let lifecycle = Body::new().attribute("hook", hook).attribute("sidecar", false);
    let figure = |own: Option<u32>, name: &str| match own {
        Some(own) => Expression::from(i64::from(own)),
        None => raw(format!("var.{}_{name}", identifier(&group.name))),
    };
    let resources = Body::new()
        .attribute("cpu", figure(side.cpu, "cpu"))
        .attribute("memory", figure(side.memory, "memory"));
    body(
        component,
        group,
        (&side.driver, Some(&side.container), &prefix),
        config,
    )
    .block("lifecycle", &[], lifecycle)
    .block("resources", &[], resources)
}

/// What variables of a task beside the service begin with.
pub fn task_prefix(group: &Group, side: &Task) -> String {
    format!("{}_task_{}", identifier(&group.name), identifier(&side.name))
}

/// What the driver is told.
fn config<'a>(
    driver: &Driver,
    container: Option<&'a Container>,
    prefix: &str,
    group: &'a Group,
    ports: &'a [Port],
) -> Body<'a> {
    let var = |suffix: &str| raw(format!("var.{prefix}_{suffix}"));
    let words = (0..driver.args().len()).map(|index| var(&format!("arg_{index}")));
    let args = Expression::List(words.collect());
    match driver {
        Driver::Docker { args: given, .. } => {
            let mut config = Body::new().attribute("image", var("image"));
            // In a network of its own the container needs no port of the host mapped to it.
            if !ports.is_empty() && group.mesh.is_none() {
                let labels = ports.iter().map(|port| port.label.as_str().into());
                config = config.attribute("ports", Expression::List(labels.collect()));
            }
            // A pull that takes longer is given up by Docker's driver, whatever time the start has.
            if group.timing.start() > PULL {
                config = config.attribute("image_pull_timeout", group.timing.start().to_string());
            }
            if !given.is_empty() {
                config = config.attribute("args", args);
            }
            if let Some(container) = container {
                config = contained(config, container, prefix);
            }
            paths(group).fold(config, |config, (file, path)| {
                config.block("mount", &[], in_place(file, path))
            })
        }
        Driver::RawExec { .. } => Body::new()
            .attribute("command", var("command"))
            .attribute("args", args),
    }
}

/// What the container is started with, beside its image and arguments.
fn contained<'a>(config: Body<'a>, container: &'a Container, prefix: &str) -> Body<'a> {
    let var = |suffix: &str| raw(format!("var.{prefix}_{suffix}"));
    let texts = |texts: &'a [String]| {
        let texts = texts.iter().map(|text| text.as_str().into());
        Expression::List(texts.collect())
    };
    let mut config = config;
    if !container.entrypoint.is_empty() {
        let words = (0..container.entrypoint.len()).map(|index| var(&format!("entrypoint_{index}")));
        config = config.attribute("entrypoint", Expression::List(words.collect()));
    }
    if container.init {
        config = config.attribute("init", true);
    }
    if container.hostname.is_some() {
        config = config.attribute("hostname", var("hostname"));
    }
    if container.shm.is_some() {
        config = config.attribute("shm_size", var("shm"));
    }
    let privileges = &container.privileges;
    if !privileges.capabilities.is_empty() {
        config = config.attribute("cap_add", texts(&privileges.capabilities));
    }
    if privileges.host_network {
        config = config.attribute("network_mode", "host");
    }
    if privileges.all {
        config = config.attribute("privileged", true);
    }
    privileges.devices.iter().fold(config, |config, device| {
        let device = Body::new().attribute("host_path", device.as_str());
        config.block("devices", &[], device)
    })
}

/// A file of the task at a path of its container. Nothing in the container can write it.
fn in_place<'a>(file: &str, path: &'a str) -> Body<'a> {
    Body::new()
        .attribute("type", "bind")
        .attribute("source", shown(file))
        .attribute("target", path)
        .attribute("readonly", true)
}

/// What a task has of its group, whichever task it is.
fn body<'a>(
    component: &Lowered,
    group: &'a Group,
    (driver, container, prefix): (&Driver, Option<&'a Container>, &str),
    config: Body<'a>,
) -> Body<'a> {
    let var = |suffix: &str| raw(format!("var.{}_{suffix}", identifier(&group.name)));
    let mut body = Body::new().attribute("driver", driver.name());
    if container.is_some_and(|container| container.user.is_some()) {
        body = body.attribute("user", raw(format!("var.{prefix}_user")));
    }
    if let Some(stop) = group.timing.stop {
        body = body.attribute("kill_timeout", stop.span.to_string());
    }
    body = body.block("config", &[], config);
    let known = group.env.iter().filter(|(_, text)| text.value.known().is_some());
    let env: Vec<(&str, Expression<'_>)> = known
        .map(|(name, _)| (name.as_str(), var(&format!("env_{}", identifier(name)))))
        .chain(group.secrets.iter().filter_map(|secret| {
            let file = secret_file(secret.file.as_deref()?);
            Some((secret.variable.as_str(), file.into()))
        }))
        .collect();
    if !env.is_empty() {
        let env = env
            .into_iter()
            .fold(Body::new(), |env, (name, value)| env.attribute(name, value));
        body = body.block("env", &[], env);
    }
    if component.profile == Profile::Full && !group.secrets.is_empty() {
        body = body.block("vault", &[], vault());
    }
    // What is registered in Consul is asked for by the task's own identity.
    if component.profile == Profile::Full && group.files.iter().any(|(_, text)| text.value.is_live()) {
        body = body.block("consul", &[], Body::new());
    }
    for template in templates(component, group) {
        let data = || match template.fixed {
            true => template.data.clone().into(),
            false => var(&template.name),
        };
        // Only a container has a use for what is shown.
        let shown = match driver {
            Driver::Docker { .. } => template.shown.clone(),
            Driver::RawExec { .. } => None,
        };
        for destination in shown.into_iter().chain([template.destination.clone()]) {
            let template = template_body(&template, destination, data());
            body = body.block("template", &[], template);
        }
    }
    // A program sees the files of its host, its volumes among them, and Nomad refuses to mount one for it.
    let mounts = match driver {
        Driver::Docker { .. } => &*group.mounts,
        Driver::RawExec { .. } => &[],
    };
    mounts.iter().fold(body, |body, mount| {
        let mount = Body::new()
            .attribute("volume", mount.volume.as_str())
            .attribute("destination", mount.path.value.as_str());
        body.block("volume_mount", &[], mount)
    })
}

/// Its templates may ask Vault by the task's own identity. The task itself gets no token.
fn vault() -> Body<'static> {
    Body::new()
        .attribute("env", false)
        .attribute("disable_file", true)
        .attribute("change_mode", "noop")
}

/// A value in a variable is also kept in Nomad's and the driver's own databases; a file lies in the task's memory alone.
fn template_body<'a>(template: &TaskTemplate, destination: String, data: Expression<'a>) -> Body<'a> {
    // A new secret comes with a new job, whose deployment is waited for; a task that restarted by itself would do so at
    // a time of its own.
    let change_mode = match template.when_changed {
        WhenChanged::Restart => "restart",
        WhenChanged::Pinned | WhenChanged::Watched => "noop",
    };
    let body = Body::new()
        .attribute("destination", destination)
        .attribute("env", template.env)
        .attribute("change_mode", change_mode)
        .attribute("data", data);
    match template.when_changed {
        // Without this, Nomad waits up to minutes for services to come to rest.
        WhenChanged::Watched => {
            let wait = Body::new().attribute("min", "1s").attribute("max", "10s");
            body.block("wait", &[], wait)
        }
        WhenChanged::Restart | WhenChanged::Pinned => body,
    }
}
