//! What a recipe says of a container, as Nomad is told it: spelled as people write it, and out of the container's own reach.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use eos_core::catalog::Catalog;
use eos_core::compile::{Compilation, compile};
use eos_core::diagnostic::Diagnostic;
use eos_core::pillar::{Pillar, PillarFiles};
use eos_core::profile::Profile;

fn compiled(service: &str) -> Result<Compilation, Vec<Diagnostic>> {
    let files = [
        (
            "common",
            "#!yaml\nhosts:\n  n1: {address: 10.0.0.1, roles: [client, control]}\n",
        ),
        ("production", "#!yaml\ncomponents:\n  hull: {}\n"),
    ];
    let files = files.map(|(name, text)| {
        (
            format!("pillar/infrastructure/{name}.sls"),
            text.as_bytes().to_vec(),
        )
    });
    let recipe = format!(
        "recipe: hull\nsummary: A test\nversion: \"1\"\nrisk: high\nrequires: {{memory: 64mb, architecture: x86_64}}\n\
         services:\n  hull:\n    instances: one\n    image: \"example/hull:1\"\n{service}"
    );
    let own = ("recipes/hull/recipe.yaml".to_owned(), recipe.into_bytes());
    let pillar = Pillar::read(&PillarFiles::from(files)).unwrap_or_else(|found| panic!("{found:#?}"));
    compile(&pillar, &Catalog::load(&[own])?, Profile::Solo)
}

fn job(service: &str) -> String {
    let compilation = compiled(service).unwrap_or_else(|found| panic!("{found:#?}"));
    let text = compilation.artifacts.iter().find_map(|(path, text)| {
        path.ends_with("/hull.nomad.hcl")
            .then(|| String::from_utf8(text.as_slice().to_vec()).unwrap())
    });
    text.unwrap_or_else(|| panic!("{:#?}", compilation.artifacts.keys().collect::<Vec<_>>()))
}

#[test]
fn a_file_at_a_path_lies_where_its_container_cannot_replace_it() {
    let text = job(
        "    files:\n      a.conf: {path: /etc/a.conf, text: \"a = 1\\n\"}\n      b.conf: \"b = 2\\n\"\n",
    );
    // A container has the directories local, secrets and alloc of its task.
    assert!(text.contains("source   = \"placed/a.conf\""), "{text}");
    assert!(text.contains("destination = \"placed/a.conf\""), "{text}");
    assert!(
        text.contains("destination = \"$${NOMAD_TASK_DIR}/b.conf\""),
        "{text}"
    );
    assert!(!text.contains("TASK_DIR}/a.conf"), "{text}");
}

#[test]
fn words_of_docker_and_of_the_kernel_are_known() {
    let text = job("    shm: 128mb\n    privileges: {capabilities: [NET_ADMIN, CAP_SYS_NICE, chown]}\n");
    assert!(text.contains(r#"["net_admin", "sys_nice", "chown"]"#), "{text}");
    assert!(text.contains(r#"value     = "amd64""#), "{text}");
}

#[test]
fn a_variable_may_have_dots() {
    let text = job("    env: {discovery.type: single-node, PLAIN: here}\n");
    assert!(text.contains("PLAIN = var.hull_env_plain"), "{text}");
    // HCL has no such name, so it stands in a file.
    assert!(!text.contains("discovery.type"), "{text}");
    assert!(text.contains("var.hull_links"), "{text}");
}

#[test]
fn one_number_of_the_host_is_one_port() {
    let found =
        compiled("    ports: {web: {to: 53, static: 53}, name: {to: 53, static: 53, protocol: udp}}\n")
            .map(|_| ())
            .unwrap_err();
    let [one] = found.as_slice() else {
        panic!("{found:#?}");
    };
    assert_eq!(
        one.message,
        "Service hull of production/hull has port 53 as web and as name"
    );
    assert_eq!(
        one.hint.as_deref(),
        Some("Name it once: one port takes tcp and udp")
    );
}

#[test]
fn an_entrypoint_may_be_a_file_of_the_recipe() {
    let text = job(
        "    entrypoint: [sh, \"{{ files_dir }}/start.sh\"]\n    files: {start.sh: \"exec sleep 9\\n\"}\n",
    );
    assert!(
        text.contains("entrypoint = [var.hull_entrypoint_0, var.hull_entrypoint_1]"),
        "{text}"
    );
}

#[test]
fn a_plan_says_what_a_container_may_do_beyond_its_walls() {
    let compilation = compiled("    privileges: {network: host, devices: [/dev/ttyUSB0]}\n").unwrap();
    let nodes = compilation.all_nodes();
    let (_, nodes) = nodes
        .iter()
        .find(|((_, component), _)| component == "hull")
        .unwrap();
    let summaries: Vec<&str> = nodes.iter().map(|node| node.summary.as_str()).collect();
    let expected = "image example/hull:1, with the network of the host, devices /dev/ttyUSB0";
    assert!(
        summaries.iter().any(|summary| summary.ends_with(expected)),
        "{summaries:#?}"
    );
}
