//! The Nomad job of a component: static HCL2 with variables, so that `nomad job run -var-file` works by hand too.

use super::hcl::{Body, Expression, raw};
use super::variables::{Kind, Variable, identifier};
use crate::lowered::{Driver, Group, Lowered};
use crate::recipe::SecretUse;

pub fn job(component: &Lowered, variables: &[Variable]) -> String {
    let declarations =
        variables
            .iter()
            .filter(|variable| variable.in_job)
            .fold(Body::new(), |body, variable| {
                let kind = match variable.kind {
                    Kind::Text => "string",
                    Kind::Number { .. } => "number",
                };
                body.block(
                    "variable",
                    &[&variable.name],
                    Body::new().attribute("type", raw(kind)),
                )
            });
    let meta = Expression::Map(vec![
        ("eos_component".to_owned(), component.component.as_str().into()),
        ("eos_recipe".to_owned(), component.recipe.as_str().into()),
        ("eos_version".to_owned(), component.version.as_str().into()),
        ("eos_digest".to_owned(), raw("var.eos_digest")),
    ]);
    let job = Body::new()
        .attribute("namespace", raw("var.namespace"))
        .attribute("datacenters", raw("[var.datacenter]"))
        .attribute("type", "service")
        .attribute("meta", meta)
        .block("update", &[], update());
    let job = component.groups.iter().fold(job, |job, group| {
        job.block("group", &[&group.name], group_body(component, group))
    });
    declarations.block("job", &[&component.component], job).print()
}

/// Every setting is written out, so that the job Nomad keeps is the job that was sent.
fn update() -> Body {
    Body::new()
        .attribute("max_parallel", 1)
        .attribute("health_check", "checks")
        .attribute("min_healthy_time", "2s")
        .attribute("healthy_deadline", "90s")
        .attribute("progress_deadline", "2m")
        .attribute("auto_revert", true)
}

fn group_body(component: &Lowered, group: &Group) -> Body {
    let prefix = identifier(&group.name);
    let var = |suffix: &str| raw(format!("var.{prefix}_{suffix}"));
    let mut body = Body::new().attribute("count", var("count"));
    if group.distinct_hosts {
        let constraint = Body::new()
            .attribute("operator", "distinct_hosts")
            .attribute("value", "true");
        body = body.block("constraint", &[], constraint);
    }
    body = body.block(
        "restart",
        &[],
        Body::new()
            .attribute("attempts", 2)
            .attribute("interval", "5m")
            .attribute("delay", "5s")
            .attribute("mode", "fail"),
    );
    if !group.ports.is_empty() {
        let network = group.ports.iter().fold(Body::new(), |network, port| {
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
        body = body.block("volume", &[&mount.volume], volume);
    }
    if let Some(port) = group.ports.first() {
        let mut service = Body::new()
            .attribute("name", var("service"))
            .attribute("port", port.label.as_str())
            .attribute("provider", "nomad");
        if group.check.is_some() {
            let check = Body::new()
                .attribute("type", "http")
                .attribute("path", var("check_path"))
                .attribute("interval", "5s")
                .attribute("timeout", "3s");
            service = service.block("check", &[], check);
        }
        body = body.block("service", &[], service);
    }
    body.block("task", &[&group.name], task(component, group))
}

fn task(component: &Lowered, group: &Group) -> Body {
    let prefix = identifier(&group.name);
    let var = |suffix: &str| raw(format!("var.{prefix}_{suffix}"));
    let config = match &group.driver {
        Driver::Docker { .. } => {
            let config = Body::new().attribute("image", var("image"));
            match group.ports.is_empty() {
                true => config,
                false => config.attribute(
                    "ports",
                    Expression::List(
                        group
                            .ports
                            .iter()
                            .map(|port| port.label.as_str().into())
                            .collect(),
                    ),
                ),
            }
        }
        Driver::RawExec { args, .. } => {
            let args = (0..args.len())
                .map(|index| var(&format!("arg_{index}")))
                .collect();
            Body::new()
                .attribute("command", var("command"))
                .attribute("args", Expression::List(args))
        }
    };
    let mut body = Body::new()
        .attribute("driver", group.driver.name())
        .block("config", &[], config);
    let (in_files, in_variables): (Vec<&SecretUse>, Vec<&SecretUse>) =
        group.secrets.iter().partition(|secret| secret.file);
    if !group.env.is_empty() || !in_files.is_empty() {
        let env = group.env.iter().fold(Body::new(), |env, (name, _)| {
            env.attribute(name.as_str(), var(&format!("env_{}", identifier(name))))
        });
        let env = in_files.iter().fold(env, |env, secret| {
            env.attribute(secret.variable.as_str(), secret_file(secret).as_str())
        });
        body = body.block("env", &[], env);
    }
    for secret in in_files {
        let data = with_secret(component, &format!("{{{{ .{}.Value }}}}", secret.item));
        body = body.block(
            "template",
            &[],
            secret_template(&secret_file(secret), &data, false),
        );
    }
    if !in_variables.is_empty() {
        let lines: String = in_variables
            .iter()
            .map(|secret| format!("{}={{{{ .{}.Value | toJSON }}}}\n", secret.variable, secret.item))
            .collect();
        let data = with_secret(component, &lines);
        body = body.block(
            "template",
            &[],
            secret_template("${NOMAD_SECRETS_DIR}/eos.env", &data, true),
        );
    }
    for mount in &group.mounts {
        let mount = Body::new()
            .attribute("volume", mount.volume.as_str())
            .attribute("destination", mount.path.as_str());
        body = body.block("volume_mount", &[], mount);
    }
    body.block(
        "resources",
        &[],
        Body::new()
            .attribute("cpu", var("cpu"))
            .attribute("memory", var("memory")),
    )
}

/// Secrets reach the task at run time through its workload identity; the job holds only their names.
fn with_secret(component: &Lowered, inner: &str) -> String {
    format!(
        "{{{{ with nomadVar \"{}\" }}}}{inner}{{{{ end }}}}",
        component.secret_path()
    )
}

fn secret_file(secret: &SecretUse) -> String {
    format!("${{NOMAD_SECRETS_DIR}}/{}", secret.item)
}

/// A variable's value is also kept in Nomad's and the driver's own databases; a file lies in the task's memory alone.
fn secret_template(destination: &str, data: &str, env: bool) -> Body {
    Body::new()
        .attribute("destination", destination)
        .attribute("env", env)
        .attribute("change_mode", "restart")
        .attribute("data", data)
}
