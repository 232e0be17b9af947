//! What runs and is not in the pillar, proposed as edits of the pillar; and what is in the pillar and does not run.
//! Pure: the engines were asked before, and nothing is written here.

mod fitting;

use crate::catalog::Catalog;
use crate::compile::compile;
use crate::compose::whole;
use crate::diagnostic::Diagnostic;
use crate::emit::terraform::PLATFORM;
use crate::expand::flag;
use crate::intent::{Intent, Noun, Options, Sentence, edit};
use crate::lowered::service_name;
use crate::name::ENVIRONMENTS;
use crate::option::human_size;
use crate::pillar::{COMMON_FILE, Pillar, PillarFiles, Words, environment_file};
use crate::profile::Profile;
use fitting::{Fit, fit};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What the engines were found to have.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub minions: Vec<Minion>,
    pub nodes: Vec<Node>,
    pub jobs: Vec<Job>,
    pub services: Vec<Service>,
    /// Host -> directory that its volumes are to lie below; known of hosts that share a machine, as those of a lab.
    pub volumes_below: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default)]
pub struct Minion {
    pub id: String,
    pub answers: bool,
    pub grains: Grains,
}

/// What a minion told of its machine; empty where it did not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grains {
    pub os: Option<String>,
    pub cpus: Option<u64>,
    /// In MiB.
    pub memory: Option<u64>,
    pub addresses: Vec<String>,
}

/// A Nomad client.
#[derive(Clone, Debug, Default)]
pub struct Node {
    pub name: String,
    pub address: String,
    pub datacenter: String,
    pub ready: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Job {
    pub namespace: String,
    pub id: String,
    /// The component that Eos made it for.
    pub component: Option<String>,
    /// Read only of jobs that Eos did not make.
    pub groups: Vec<Group>,
    /// The hosts that it runs on.
    pub hosts: BTreeSet<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Group {
    pub name: String,
    pub count: u64,
    pub tasks: Vec<Task>,
    /// Label -> port of the host.
    pub static_ports: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, Default)]
pub struct Task {
    pub image: Option<String>,
    /// In MHz.
    pub cpu: u64,
    /// In MiB.
    pub memory: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Service {
    pub name: String,
    /// Whose catalogue has it.
    pub catalogue: &'static str,
    /// (namespace, job) that it was registered for.
    pub job: Option<(String, String)>,
    /// `address:port on host`
    pub places: BTreeSet<String>,
}

/// Who asks, where, and against what.
pub struct Question<'a> {
    pub files: &'a PillarFiles,
    pub catalog: &'a Catalog,
    pub profile: Profile,
    /// Where a component is proposed that runs in no environment of the estate.
    pub environment: &'a str,
    pub who: &'a str,
    pub when: &'a str,
}

/// The words that a proposal has in the pillar: nobody typed the command that it stands for.
const WORDS: &str = "eos discover --write";

/// Engines register themselves; what they are is known.
const ENGINES: &[&str] = &["consul", "nomad", "nomad-client", "vault"];

#[derive(Debug, Default, Serialize)]
pub struct Discovery {
    pub proposals: Vec<Proposal>,
    pub unknown: Vec<Unknown>,
    pub absent: Vec<Absent>,
    /// How many hosts and components were found as the pillar has them.
    pub known: Known,
    /// The pillar with all that is proposed; only files that differ.
    #[serde(skip)]
    pub files: BTreeMap<String, String>,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Known {
    pub hosts: usize,
    pub components: usize,
}

/// Something that the pillar could have.
#[derive(Debug, PartialEq, Serialize)]
pub struct Proposal {
    pub noun: Noun,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// Where it was seen, in words.
    pub seen: String,
    /// The command that adds it to the pillar and has it carried out, word by word.
    pub command: Vec<String>,
    pub file: String,
    /// The lines that the file would get.
    pub adds: String,
    /// What a person should know before they take it.
    pub notes: Vec<String>,
}

/// Something that runs, is not in the pillar, and cannot be proposed.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// `job default/backup`
    pub object: String,
    /// Where it runs.
    pub place: String,
    pub why: String,
}

/// Something that the pillar has and nobody answers for.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Absent {
    pub object: String,
    pub why: String,
}

pub fn discover(question: &Question<'_>, found: &Found) -> Result<Discovery, Vec<Diagnostic>> {
    let pillar = Pillar::read(question.files)?;
    let wanted = whole(&pillar, question.catalog)?;
    let mut search = Search {
        question,
        found,
        files: question.files.clone(),
        result: Discovery::default(),
    };
    search.hosts(&pillar);
    search.jobs(&wanted);
    search.services();
    search.absent(&wanted);
    search.result.files = search.changed();
    Ok(search.result)
}

struct Search<'a> {
    question: &'a Question<'a>,
    found: &'a Found,
    /// The pillar with what was proposed so far.
    files: PillarFiles,
    result: Discovery,
}

impl Search<'_> {
    fn hosts(&mut self, pillar: &Pillar) {
        let minions = self.found.minions.iter().map(|minion| minion.id.as_str());
        let nodes = self.found.nodes.iter().map(|node| node.name.as_str());
        let names: BTreeSet<&str> = minions.chain(nodes).collect();
        for name in names {
            let minion = self.found.minions.iter().find(|minion| minion.id == name);
            let node = self.found.nodes.iter().find(|node| node.name == name);
            let answers = minion.is_some_and(|minion| minion.answers);
            let ready = node.is_some_and(|node| node.ready);
            if pillar.hosts.contains_key(name) {
                self.result.known.hosts += usize::from(answers);
                continue;
            }
            match (minion, node) {
                (Some(minion), Some(node)) if answers && ready => self.propose_host(minion, node),
                (_, node) => {
                    let why = match (answers, node.is_some()) {
                        (true, false) => {
                            "a Salt minion without a Nomad client: start Nomad there under this name"
                        }
                        (true, true) => "its Nomad client is down",
                        (false, _) if minion.is_some() => "its Salt minion does not answer",
                        (false, _) => {
                            "a Nomad client without a Salt minion: start salt-minion there with this id"
                        }
                    };
                    let told = minion.and_then(|minion| minion.grains.address());
                    let place = node.map(|node| node.address.clone()).or(told).unwrap_or_default();
                    self.unknown(format!("host {name}"), place, why);
                }
            }
        }
    }

    fn propose_host(&mut self, minion: &Minion, node: &Node) {
        let mut options = Options::from([("address".to_owned(), Value::from(node.address.as_str()))]);
        if node.datacenter != "dc1" {
            options.insert("datacenter".to_owned(), node.datacenter.as_str().into());
        }
        if let Some(below) = self.found.volumes_below.get(&node.name) {
            options.insert("volumes_below".to_owned(), below.as_str().into());
        }
        let command = ["eos", "create", "host", &node.name].map(str::to_owned);
        let seen = format!(
            "Salt minion and Nomad client at {}{}",
            node.address,
            minion.grains.words()
        );
        let proposal = Proposal {
            noun: Noun::Host,
            name: node.name.clone(),
            environment: None,
            seen,
            command: command.into_iter().chain(flags(&options)).collect(),
            file: COMMON_FILE.to_owned(),
            adds: String::new(),
            notes: Vec::new(),
        };
        let place = node.address.clone();
        let sentence = Sentence::CreateHost {
            host: node.name.clone(),
            facts: options,
        };
        self.propose(proposal, sentence, place);
    }

    fn jobs(&mut self, wanted: &Pillar) {
        for job in &self.found.jobs {
            let object = format!("job {}/{}", job.namespace, job.id);
            let place = listed(&job.hosts);
            let is_wanted = wanted.component(&job.namespace, &job.id).is_some();
            match &job.component {
                Some(_) if is_wanted => self.result.known.components += 1,
                Some(component) => {
                    let why = format!("Eos made it for {component}, which is no longer in the pillar");
                    self.unknown(object, place, &why);
                }
                None if is_wanted => {
                    let why = format!("Eos did not make it, and the pillar has {} of its own", job.id);
                    self.unknown(object, place, &why);
                }
                None => match fit(self.question.catalog, job) {
                    Some(fit) => self.propose_component(wanted, job, fit),
                    None => {
                        let why = format!("no recipe fits: {}", images(job));
                        self.unknown(object, place, &why);
                    }
                },
            }
        }
    }

    fn propose_component(&mut self, wanted: &Pillar, job: &Job, fit: Fit<'_>) {
        let is_environment = ENVIRONMENTS.contains(&job.namespace.as_str());
        let environment = match is_environment {
            true => job.namespace.clone(),
            false => self.question.environment.to_owned(),
        };
        let object = format!("job {}/{}", job.namespace, job.id);
        let place = listed(&job.hosts);
        if wanted.component(&environment, &job.id).is_some() {
            let why = format!("{} is the name of a component of {environment} already", job.id);
            return self.unknown(object, place, &why);
        }
        let mut command = ["eos", "create", &fit.recipe.name].map(str::to_owned).to_vec();
        if job.id != fit.recipe.name {
            command.extend(["--name".to_owned(), job.id.clone()]);
        }
        command.extend(flags(&fit.options));
        command.extend(["--environment".to_owned(), environment.clone()]);
        let proposal = Proposal {
            noun: Noun::Component,
            name: job.id.clone(),
            environment: Some(environment.clone()),
            seen: match place.is_empty() {
                true => format!("Nomad {object}, {}", images(job)),
                false => format!("Nomad {object} on {place}, {}", images(job)),
            },
            command,
            file: environment_file(&environment),
            adds: String::new(),
            notes: notes(job, &environment, &fit),
        };
        let sentence = Sentence::CreateComponent {
            environment,
            component: job.id.clone(),
            recipe: fit.recipe.name.clone(),
            options: fit.options,
        };
        self.propose(proposal, sentence, place);
    }

    /// Writes a proposal into the pillar at hand. What the pillar refuses, or would not compile with, is unknown.
    fn propose(&mut self, mut proposal: Proposal, sentence: Sentence, place: String) {
        let intent = Intent {
            sentence,
            said: Words {
                words: WORDS.to_owned(),
                who: self.question.who.to_owned(),
                when: self.question.when.to_owned(),
            },
        };
        match self.tried(&intent) {
            Ok(files) => {
                proposal.adds = added(self.files.get(&proposal.file), files.get(&proposal.file));
                self.files = files;
                self.result.proposals.push(proposal);
            }
            Err(refused) => {
                let why = refused.first().map_or("", |first| first.message.as_str());
                let kind = match proposal.noun {
                    Noun::Host => "host",
                    Noun::Component | Noun::Volume => "job",
                };
                let object = format!("{kind} {}", proposal.name);
                self.unknown(object, place, &format!("it cannot be in the pillar: {why}"));
            }
        }
    }

    fn tried(&self, intent: &Intent) -> Result<PillarFiles, Vec<Diagnostic>> {
        let files = edit(&self.files, self.question.catalog, intent)?;
        compile(
            &Pillar::read(&files)?,
            self.question.catalog,
            self.question.profile,
        )?;
        Ok(files)
    }

    /// A service of a job is told with the job.
    fn services(&mut self) {
        for service in &self.found.services {
            let is_engine = ENGINES.contains(&service.name.as_str());
            let jobs = &self.found.jobs;
            let of_job = service.job.as_ref().is_some_and(|(namespace, id)| {
                jobs.iter()
                    .any(|job| job.namespace == *namespace && job.id == *id)
            });
            if !is_engine && !of_job {
                let why = format!("registered in {}, and no Nomad job has it", service.catalogue);
                self.unknown(format!("service {}", service.name), listed(&service.places), &why);
            }
        }
    }

    fn absent(&mut self, wanted: &Pillar) {
        for host in wanted.hosts.values() {
            let minion = self.found.minions.iter().find(|minion| minion.id == host.name);
            let node = self.found.nodes.iter().find(|node| node.name == host.name);
            let object = format!("host {}", host.name);
            if !minion.is_some_and(|minion| minion.answers) {
                self.result.absent.push(Absent {
                    object: object.clone(),
                    why: "no Salt minion answers to this name".to_owned(),
                });
            }
            if host.has_role("client") && !node.is_some_and(|node| node.ready) {
                self.result.absent.push(Absent {
                    object,
                    why: "no Nomad client of this name is ready".to_owned(),
                });
            }
        }
        for component in wanted.components.values().filter(|one| one.name != PLATFORM) {
            let (environment, name) = (&component.environment, &component.name);
            let mut jobs = self.found.jobs.iter();
            let job = jobs.find(|job| job.namespace == *environment && job.id == *name);
            let object = format!("component {name} in {environment}");
            let why = match job {
                None => Some("Nomad has no such job".to_owned()),
                // Nothing is registered of what somebody stopped.
                Some(job) if job.component.is_some() && component.stopped.is_none() => {
                    self.unregistered(component)
                }
                Some(_) => None,
            };
            self.result.absent.extend(why.map(|why| Absent { object, why }));
        }
    }

    /// The first service of a component that is not registered, in words.
    fn unregistered(&self, component: &crate::pillar::Component) -> Option<String> {
        let pin = component.pinned.get(&component.recipe).map(String::as_str);
        let recipe = self.question.catalog.find(&component.recipe, pin).ok()?;
        // One that the component's options may leave out says nothing by being absent.
        let mut certain = recipe
            .services
            .iter()
            .filter(|service| service.when.is_none() && !service.ports.is_empty());
        let name = |service: &crate::recipe::Service| {
            service_name(&component.environment, &component.name, recipe, &service.name)
        };
        let registered = |name: &String| self.found.services.iter().any(|found| found.name == *name);
        let missing = certain.find_map(|service| Some(name(service)).filter(|name| !registered(name)))?;
        Some(format!("its service {missing} is not registered"))
    }

    fn unknown(&mut self, object: String, place: String, why: &str) {
        self.result.unknown.push(Unknown {
            object,
            place,
            why: why.to_owned(),
        });
    }

    fn changed(&self) -> BTreeMap<String, String> {
        let changed = self
            .files
            .iter()
            .filter(|(path, text)| self.question.files.get(*path) != Some(text));
        changed
            .map(|(path, text)| (path.clone(), String::from_utf8_lossy(text).into_owned()))
            .collect()
    }
}

/// What taking a job over means: it is not imported, it is made anew.
fn notes(job: &Job, environment: &str, fit: &Fit<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let same_place = job.namespace == environment;
    notes.push(match same_place {
        true => format!(
            "Eos would write its own job in place of {}/{}, without the data of the old one",
            job.namespace, job.id
        ),
        false => format!(
            "Eos would make its own job, {environment}/{}; {}/{} keeps running beside it, with its data, \
             until you stop it",
            job.id, job.namespace, job.id
        ),
    });
    let ports: Vec<String> = job
        .groups
        .iter()
        .flat_map(|group| group.static_ports.values())
        .map(u64::to_string)
        .collect();
    if !ports.is_empty() && !same_place {
        let ports = ports.join(", ");
        notes.push(format!(
            "Both want port {ports}: the new one cannot run on the same host before the old one is stopped"
        ));
    }
    if let Some(why) = &fit.doubt {
        notes.push(why.clone());
    }
    notes
}

fn images(job: &Job) -> String {
    let tasks = job.groups.iter().flat_map(|group| &group.tasks);
    let images: BTreeSet<&str> = tasks.filter_map(|task| task.image.as_deref()).collect();
    match images.len() {
        0 => "it has no container image".to_owned(),
        1 => format!("image {}", listed(&images)),
        _ => format!("images {}", listed(&images)),
    }
}

fn listed<T: AsRef<str>>(items: &BTreeSet<T>) -> String {
    items.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
}

fn flags(options: &BTreeMap<String, Value>) -> impl Iterator<Item = String> {
    let flags = options.iter().flat_map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        [format!("--{}", flag(name)), value]
    });
    flags.collect::<Vec<_>>().into_iter()
}

/// The lines between those that two texts begin and end with alike.
fn added(before: Option<&Vec<u8>>, after: Option<&Vec<u8>>) -> String {
    let text =
        |bytes: Option<&Vec<u8>>| bytes.map_or_else(String::new, |b| String::from_utf8_lossy(b).into_owned());
    let (before, after) = (text(before), text(after));
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let begin = before.iter().zip(&after).take_while(same).count();
    let (before, after) = (&before[begin..], &after[begin..]);
    let end = before
        .iter()
        .rev()
        .zip(after.iter().rev())
        .take_while(same)
        .count();
    after[..after.len() - end].join("\n")
}

impl Grains {
    /// One that others reach it at.
    fn address(&self) -> Option<String> {
        let mut addresses = self.addresses.iter();
        addresses.find(|address| !address.starts_with("127.")).cloned()
    }

    /// `, Debian 12, 4 cores, 8 GiB`, as much as is known.
    fn words(&self) -> String {
        let cores = self.cpus.map(|count| match count {
            1 => "1 core".to_owned(),
            count => format!("{count} cores"),
        });
        let memory = self.memory.map(|mebibytes| human_size(mebibytes << 20));
        let known = [self.os.clone(), cores, memory].into_iter().flatten();
        known.map(|fact| format!(", {fact}")).collect()
    }
}
