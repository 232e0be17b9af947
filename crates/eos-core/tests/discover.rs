//! What is proposed of what was found, what is left unknown, and what is missed.

use eos_core::catalog::Catalog;
use eos_core::discover::{
    Discovery, Found, Grains, Group, Job, Minion, Node, Question, Service, Task, discover,
};
use eos_core::pillar::{Pillar, PillarFiles};
use eos_core::profile::Profile;
use std::collections::{BTreeMap, BTreeSet};

const COMMON: &str = "#!yaml\nhosts:\n  control:\n    address: 127.0.0.1\n    roles: [client, control]\n";
const PRODUCTION: &str = "#!yaml\ncomponents:\n  # Ours.\n  hello: {}\n";

fn files() -> PillarFiles {
    let file = |(name, text): (&str, &str)| {
        let path = format!("pillar/infrastructure/{name}.sls");
        (path, text.as_bytes().to_vec())
    };
    [("common", COMMON), ("production", PRODUCTION)].map(file).into()
}

fn asked(found: &Found) -> Discovery {
    let question = Question {
        files: &files(),
        catalog: &Catalog::load(&[]).unwrap(),
        profile: Profile::Solo,
        environment: "production",
        who: "ada",
        when: "2026-11-16T00:00:00Z",
    };
    discover(&question, found).unwrap()
}

fn minion(id: &str, answers: bool) -> Minion {
    Minion {
        id: id.to_owned(),
        answers,
        grains: Grains::default(),
    }
}

fn node(name: &str, ready: bool) -> Node {
    Node {
        name: name.to_owned(),
        address: "10.0.0.2".to_owned(),
        datacenter: "dc1".to_owned(),
        ready,
    }
}

/// The estate as it should be: its host answers, its component runs and is registered.
fn as_wanted() -> Found {
    Found {
        minions: vec![minion("control", true)],
        nodes: vec![node("control", true)],
        jobs: vec![Job {
            namespace: "production".to_owned(),
            id: "hello".to_owned(),
            component: Some("hello".to_owned()),
            ..Job::default()
        }],
        services: vec![Service {
            name: "hello".to_owned(),
            catalogue: "Nomad",
            job: Some(("production".to_owned(), "hello".to_owned())),
            places: BTreeSet::new(),
        }],
        volumes_below: BTreeMap::new(),
    }
}

fn foreign(namespace: &str, id: &str, image: Option<&str>) -> Job {
    Job {
        namespace: namespace.to_owned(),
        id: id.to_owned(),
        component: None,
        groups: vec![Group {
            name: "web".to_owned(),
            count: 2,
            tasks: vec![Task {
                image: image.map(str::to_owned),
                cpu: 300,
                memory: 700,
            }],
            static_ports: BTreeMap::from([("ui".to_owned(), 3001)]),
        }],
        hosts: BTreeSet::from(["control".to_owned()]),
    }
}

fn with_job(job: Job) -> Found {
    let mut found = as_wanted();
    found.jobs.push(job);
    found
}

fn unknown(discovery: &Discovery) -> Vec<String> {
    let unknown = discovery.unknown.iter();
    unknown
        .map(|one| format!("{} ({}): {}", one.object, one.place, one.why))
        .collect()
}

fn absent(discovery: &Discovery) -> Vec<String> {
    let absent = discovery.absent.iter();
    absent.map(|one| format!("{}: {}", one.object, one.why)).collect()
}

#[test]
fn what_the_pillar_has_and_runs_is_only_counted() {
    let discovery = asked(&as_wanted());
    assert_eq!((discovery.known.hosts, discovery.known.components), (1, 1));
    assert_eq!(discovery.proposals, []);
    assert_eq!(unknown(&discovery), Vec::<String>::new());
    assert_eq!(absent(&discovery), Vec::<String>::new());
    assert!(discovery.files.is_empty());
}

#[test]
fn a_host_is_proposed_when_both_engines_know_it() {
    let mut found = as_wanted();
    found.minions.push(Minion {
        grains: Grains {
            os: Some("Debian 12".to_owned()),
            cpus: Some(4),
            memory: Some(8192),
            addresses: Vec::new(),
        },
        ..minion("node2", true)
    });
    found.nodes.push(node("node2", true));
    let discovery = asked(&found);
    let proposal = &discovery.proposals[0];
    assert_eq!(
        proposal.command.join(" "),
        "eos create host node2 --address 10.0.0.2"
    );
    assert_eq!(
        proposal.seen,
        "Salt minion and Nomad client at 10.0.0.2, Debian 12, 4 cores, 8 GiB"
    );
    assert!(
        proposal.adds.starts_with("  node2:\n    address: 10.0.0.2\n"),
        "{}",
        proposal.adds
    );
    let common = &discovery.files["pillar/infrastructure/common.sls"];
    assert_eq!(common, &format!("{COMMON}{}\n", proposal.adds));
}

#[test]
fn half_a_host_is_unknown_and_says_what_is_missing() {
    let mut found = as_wanted();
    found.minions.extend([
        minion("alone", true),
        minion("node..example", true),
        minion("mute", false),
    ]);
    found
        .nodes
        .extend([node("stranger", true), node("node..example", true)]);
    let told = unknown(&asked(&found)).join("\n");
    for words in [
        "host alone (): a Salt minion without a Nomad client",
        "host stranger (10.0.0.2): a Nomad client without a Salt minion",
        "host mute (): its Salt minion does not answer",
        "host node..example (10.0.0.2): it cannot be in the pillar: \"node..example\" cannot name a host",
    ] {
        assert!(told.contains(words), "{words}\n---\n{told}");
    }
}

#[test]
fn a_job_of_a_known_image_is_proposed_with_what_can_be_read_from_it() {
    let image = "registry.example.org:5000/grafana/grafana:10.4.2";
    let discovery = asked(&with_job(foreign("default", "metrics", Some(image))));
    let proposal = &discovery.proposals[0];
    assert_eq!(
        proposal.command.join(" "),
        format!(
            "eos create grafana --name metrics --cpu 300 --image {image} --memory 700 --port 3001 \
             --environment production"
        )
    );
    let notes = proposal.notes.join("\n");
    assert!(
        notes.contains("default/metrics keeps running beside it"),
        "{notes}"
    );
    assert!(notes.contains("port 3001"), "{notes}");
    // It compiles, beside what there is, and nothing but the one entry is new.
    let mut edited = files();
    for (path, text) in &discovery.files {
        if path.starts_with("pillar/") {
            edited.insert(path.clone(), text.clone().into_bytes());
        }
    }
    let pillar = Pillar::read(&edited).unwrap();
    let component = pillar.component("production", "metrics").unwrap();
    assert_eq!(
        (component.recipe.as_str(), &component.options["port"].value),
        ("grafana", &3001.into())
    );
    assert!(discovery.files["pillar/infrastructure/production.sls"].contains("  # Ours.\n  hello: {}\n"));
}

#[test]
fn a_job_in_an_environment_is_proposed_there_and_would_be_written_over() {
    let discovery = asked(&with_job(foreign(
        "staging",
        "grafana",
        Some("grafana/grafana:11.6.0"),
    )));
    let proposal = &discovery.proposals[0];
    assert_eq!(proposal.environment.as_deref(), Some("staging"));
    assert!(
        !proposal.command.contains(&"--image".to_owned()),
        "{:?}",
        proposal.command
    );
    assert!(
        proposal.notes[0].contains("in place of staging/grafana"),
        "{:?}",
        proposal.notes
    );
}

#[test]
fn a_name_alone_is_doubted() {
    let discovery = asked(&with_job(foreign(
        "default",
        "redis",
        Some("example.org/cache:1"),
    )));
    assert!(
        discovery.proposals[0]
            .notes
            .iter()
            .any(|note| note.contains("Only its name"))
    );
}

#[test]
fn what_fits_nothing_is_unknown() {
    let cases = [
        (
            foreign("default", "backup", Some("example.org/backup:1")),
            "job default/backup (control): no recipe fits: image example.org/backup:1",
        ),
        (
            foreign("default", "cron", None),
            "job default/cron (control): no recipe fits: it has no container image",
        ),
        (
            foreign("default", "hello", None),
            "job default/hello (control): hello is the name of a component of production already",
        ),
        (
            Job {
                component: Some("left".to_owned()),
                ..foreign("production", "left", None)
            },
            "job production/left (control): Eos made it for left, which is no longer in the pillar",
        ),
    ];
    for (job, expected) in cases {
        let discovery = asked(&with_job(job));
        assert_eq!(unknown(&discovery), [expected]);
        assert!(discovery.files.is_empty());
    }
}

#[test]
fn a_service_of_no_job_is_unknown_and_engines_are_not() {
    let mut found = as_wanted();
    for name in ["ledger", "consul", "vault"] {
        found.services.push(Service {
            name: name.to_owned(),
            catalogue: "Consul",
            job: None,
            places: BTreeSet::from(["10.9.8.7:8443 on control".to_owned()]),
        });
    }
    let words = "service ledger (10.9.8.7:8443 on control): registered in Consul, and no Nomad job has it";
    assert_eq!(unknown(&asked(&found)), [words]);
}

#[test]
fn what_the_pillar_has_and_nobody_answers_for_is_missed() {
    let discovery = asked(&Found::default());
    assert_eq!(
        absent(&discovery),
        [
            "host control: no Salt minion answers to this name",
            "host control: no Nomad client of this name is ready",
            "component hello in production: Nomad has no such job",
        ]
    );
    let mut found = as_wanted();
    found.services.clear();
    assert_eq!(
        absent(&asked(&found)),
        ["component hello in production: its service hello is not registered"]
    );
}
