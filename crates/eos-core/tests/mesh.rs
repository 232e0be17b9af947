//! The mesh as data: who calls whom, how a service is reached, and what the solo profile knows nothing of.

use eos_core::catalog::Catalog;
use eos_core::compile::{Compilation, compile};
use eos_core::diagnostic::Diagnostic;
use eos_core::lowered::{Group, Lowered};
use eos_core::pillar::Pillar;
use eos_core::plan::{Observed, refusals};
use eos_core::profile::Profile;
use std::collections::{BTreeMap, BTreeSet};

const COMMON: &str = "#!yaml\nhosts:\n  control:\n    address: 127.0.0.1\n    roles: [client, control]\n";
const STORE: &str = "\
recipe: store
summary: A test
version: \"1\"
options:
  port: {type: port, default: null, help: A door}
services:
  store:
    replicas: 1
    program: [eos, serve-hello, --listen, \"{{ listen_address }}\"]
    ports: {http: {static: \"{{ port }}\"}}
    check: {http: /health}
";
const READER: &str = "\
recipe: reader
summary: A test
version: \"1\"
uses:
  store: {recipe: store, share: true}
services:
  reader:
    replicas: 1
    program: [eos, serve-hello]
    env: {STORE: \"{{ store.address }}\", HOST: \"{{ store.host }}\", PORT: \"{{ store.port }}\"}
    ports: {http: {}}
    check: {http: /health}
";

fn compiled(profile: Profile, store: &str, components: &str) -> Result<Compilation, Vec<Diagnostic>> {
    let recipes = [("store", store), ("reader", READER)]
        .map(|(name, text)| (format!("recipes/{name}/recipe.yaml"), text.as_bytes().to_vec()));
    let production = format!("#!yaml\ncomponents:\n{components}");
    let files = [("common", COMMON), ("production", &production)].map(|(name, text)| {
        (
            format!("pillar/infrastructure/{name}.sls"),
            text.as_bytes().to_vec(),
        )
    });
    compile(&Pillar::read(&files.into())?, &Catalog::load(&recipes)?, profile)
}

fn component<'c>(compilation: &'c Compilation, name: &str) -> &'c Lowered {
    compilation.component("production", name).unwrap()
}

fn group<'c>(compilation: &'c Compilation, name: &str) -> &'c Group {
    &component(compilation, name).groups[0]
}

fn env(group: &Group) -> BTreeMap<&str, String> {
    let texts = group.env.iter();
    texts
        .map(|(name, text)| (name.as_str(), text.value.to_string()))
        .collect()
}

fn listens(group: &Group) -> &str {
    &group.driver.args()[2].value
}

#[test]
fn what_is_used_is_reached_through_the_mesh_alone() {
    let full = compiled(Profile::Full, STORE, "  store: {}\n  reader: {}\n").unwrap();
    let (store, reader) = (group(&full, "store"), group(&full, "reader"));
    assert!(store.is_closed() && !reader.is_closed());
    assert_eq!(listens(store), "127.0.0.1");
    assert_eq!(store.ports[0].to.as_ref().map(|to| to.value), Some(8080));
    let callers = &store.mesh.as_ref().unwrap().callers;
    assert_eq!(*callers, BTreeSet::from(["reader".to_owned()]));
    let upstreams = &reader.mesh.as_ref().unwrap().upstreams;
    assert_eq!(
        (upstreams[0].service.as_str(), upstreams[0].port),
        ("store", 20_000)
    );
    let found = env(reader);
    assert_eq!(
        (
            found["STORE"].as_str(),
            found["HOST"].as_str(),
            found["PORT"].as_str()
        ),
        ("127.0.0.1:20000", "127.0.0.1", "20000")
    );
}

#[test]
fn alone_or_in_solo_nothing_is_of_the_mesh() {
    let alone = compiled(Profile::Full, STORE, "  store: {}\n").unwrap();
    let solo = compiled(Profile::Solo, STORE, "  store: {}\n  reader: {}\n").unwrap();
    for compilation in [&alone, &solo] {
        assert!(!component(compilation, "store").is_meshed());
        assert_eq!(listens(group(compilation, "store")), "${NOMAD_IP_http}");
    }
    assert_eq!(env(group(&solo, "reader"))["STORE"], "<address of store>");
    assert!(
        !solo
            .artifacts
            .values()
            .any(|bytes| String::from_utf8_lossy(bytes).contains("consul"))
    );
}

#[test]
fn a_port_that_was_chosen_stays_a_door() {
    let full = compiled(
        Profile::Full,
        STORE,
        "  store: {options: {port: 4321}}\n  reader: {}\n",
    )
    .unwrap();
    let store = group(&full, "store");
    assert!(store.mesh.is_some() && !store.is_closed());
    // In a network of its own, but not closed: the host's port leads there.
    assert_eq!(listens(store), "0.0.0.0");
}

#[test]
fn a_new_caller_restarts_nothing() {
    let digests = |components: &str| {
        let full = compiled(Profile::Full, STORE, components).unwrap();
        let workspace = full.workspace("production", "store").unwrap().clone();
        (workspace.digest, workspace.job_digest)
    };
    let one = digests("  store: {}\n  reader: {}\n");
    let two = digests("  store: {}\n  reader: {}\n  second: {recipe: reader}\n");
    assert_ne!(one.0, two.0, "Consul has to be told");
    assert_eq!(one.1, two.1, "the job is the same");
}

#[test]
fn a_port_that_nobody_can_check_is_refused() {
    let unchecked = STORE.replace("{http: /health}", "{tcp: true}");
    let found = compiled(Profile::Full, &unchecked, "  store: {}\n  reader: {}\n").unwrap_err();
    assert!(
        found[0].message.contains("Consul cannot check it") && found[0].hint.is_some(),
        "{found:?}"
    );
    compiled(Profile::Full, &unchecked, "  store: {}\n").unwrap();
    let checked = STORE.replace("{http: /health}", "{tcp: true, command: [pg_isready]}");
    compiled(Profile::Full, &checked, "  store: {}\n  reader: {}\n").unwrap();
}

#[test]
fn a_mesh_that_no_host_can_have_is_refused_before_anyone_confirms() {
    let full = compiled(Profile::Full, STORE, "  store: {}\n  reader: {}\n").unwrap();
    let mut observed = Observed {
        drivers: [("control".to_owned(), BTreeSet::from(["raw_exec".to_owned()]))].into(),
        ..Observed::default()
    };
    let found = refusals("production", None, &full, &observed);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].message.contains("needs the mesh"), "{found:?}");
    observed.bridges.insert("control".to_owned());
    assert_eq!(refusals("production", None, &full, &observed), []);
}
