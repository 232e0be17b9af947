//! Making a plan: the pillar edited and compiled, the engines observed, the difference found.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use eos_core::address::NodeKind;
use eos_core::catalog::{Catalog, KEPT};
use eos_core::compile::Compilation;
use eos_core::diagnostic::{Diagnostic, Place};
use eos_core::intent::{Intent, Sentence, edit};
use eos_core::kinds::Proof;
use eos_core::kinds::host::Answers as HostAnswers;
use eos_core::kinds::volume::Standing;
use eos_core::lowered::Lowered;
use eos_core::node::{Layer as NodeLayer, Node};
use eos_core::pillar::{Pillar, PillarFiles};
use eos_core::pins::Pinned;
use eos_core::plan::{
    HostHas, Key, Left, Observed, PillarEdit, Plan, PlanInput, Work, plan, refusals, scope,
};
use serde_json::{Value, json};

use crate::compiling::{Beforehand, Inputs, compile};
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::estate::{Estate, pillar_digest};
use crate::failure::Failure;
use crate::hosts;
use crate::kinds::host::host_answers;
use crate::pins::{self, JobStub, Seen};
use crate::secrets::seen_in;
use crate::storage;
use crate::store::{Applied, Store};

/// How long a minion may take to say what it sees.
pub(crate) const OBSERVE: Duration = Duration::from_secs(20);

pub type Nodes = BTreeMap<Key, Vec<Node>>;

/// What a plan is wanted for.
#[derive(Default)]
pub struct Wish {
    pub environment: String,
    /// What to change in the pillar first; without one, the pillar as it stands is compared.
    pub intent: Option<Intent>,
    /// The components to look at; none means all of the environment.
    pub components: Option<Vec<String>>,
    /// The hosts to look at; none means all of the estate.
    pub hosts: Option<Vec<String>>,
    /// Secret options that the person gave a value for.
    pub given: BTreeSet<String>,
    /// What to take back, instead of an intent.
    pub take_back: Option<TakeBack>,
}

/// What an operation did, to be taken back.
pub struct TakeBack {
    /// The operation, if another one takes it back.
    pub operation: Option<String>,
    /// The whole pillar without it.
    pub pillar: PillarFiles,
    /// Components of which it is not known what is there.
    pub unknown: BTreeSet<Key>,
    pub left: Left,
}

impl Wish {
    /// The wish that a plan came from.
    pub fn again(plan: &Plan) -> Wish {
        let given = plan.steps.iter().flat_map(|step| step.work.writes());
        Wish {
            environment: plan.environment.clone(),
            intent: plan.intent.clone(),
            components: plan.intent.as_ref().map(|_| plan.components.clone()),
            hosts: plan.intent.as_ref().map(|_| plan.hosts.clone()),
            given: given
                .filter(|work| work.given)
                .map(|work| work.item.clone())
                .collect(),
            take_back: None,
        }
    }
}

/// A plan, with what was compiled for it. An operation takes that over if every input is still the same.
pub struct Planned {
    pub plan: Plan,
    pub(crate) beforehand: Option<Beforehand>,
    /// It holds only as long as nothing has moved.
    pub(crate) exact: bool,
}

impl Planned {
    /// A plan that was made and confirmed before, such as one from a file. An operation compiles for it, and refuses it if it
    /// was overtaken.
    pub fn exact(plan: Plan) -> Self {
        Self {
            plan,
            beforehand: None,
            exact: true,
        }
    }
}

/// The plan for a wish. With engines it is made against what they say; without, against what was last applied.
pub async fn make_plan(estate: &Estate, engines: Option<&Engines>, wish: &Wish) -> Result<Planned, Failure> {
    let prepared = Prepared::new(estate, wish).await?;
    let plan = match engines {
        Some(engines) => prepared.observed_plan(estate, engines).await?,
        None => prepared.plan(None),
    };
    Ok(prepared.planned(plan))
}

/// What was found in a pillar as it would be, with the places that a person finds in the pillar as it is.
fn in_files(found: Vec<Diagnostic>, files: &PillarFiles, edited: &PillarFiles) -> Vec<Diagnostic> {
    let lines = |of: &PillarFiles, at: &Place| {
        let text = of.get(&at.file).map_or(&[][..], Vec::as_slice);
        let lines = text.split(|byte| *byte == b'\n').take(at.position.line as usize);
        Vec::from_iter(lines.map(<[u8]>::to_vec))
    };
    let is_there = |at: &Place| !edited.contains_key(&at.file) || lines(files, at) == lines(edited, at);
    let known = |one: Diagnostic| Diagnostic {
        at: one.at.filter(is_there),
        ..one
    };
    found.into_iter().map(known).collect()
}

/// All that a plan is made from but for what the engines say.
pub(crate) struct Prepared<'w> {
    wish: &'w Wish,
    /// Digest of all that it is compiled from, but for the edit.
    inputs: String,
    /// The pillar as it is, and with the wish in it.
    files: PillarFiles,
    edited: PillarFiles,
    pub compilation: Compilation,
    pub applied: Nodes,
    unfinished: BTreeSet<Key>,
}

impl<'w> Prepared<'w> {
    pub async fn new(estate: &Estate, wish: &'w Wish) -> Result<Self, Failure> {
        let inputs = Inputs::read(estate)?;
        let catalog = inputs.catalog()?;
        let setup = estate.settings.setup();
        let digest = inputs.digest(&setup);
        let files = inputs.files;
        let edited = match (&wish.intent, &wish.take_back) {
            (Some(intent), _) => edit(&files, &catalog, intent)?,
            (None, Some(taken)) => taken.pillar.clone(),
            (None, None) => files.clone(),
        };
        let catalog = with_kept(catalog, &edited)?;
        let compilation = match compile(&Pillar::read(&edited)?, &catalog, setup.clone()) {
            Ok(compilation) => compilation,
            Err(found) => {
                let needed = wish.intent.as_ref().and_then(|intent| {
                    let before = compile(&Pillar::read(&files).ok()?, &catalog, setup).ok()?;
                    who_needs(intent, &before, &catalog)
                });
                let found = needed.map_or(found, |needed| vec![needed]);
                return Err(Failure::Input(in_files(found, &files, &edited)));
            }
        };
        let store = estate.store_to_read()?;
        let (mut applied, mut unfinished) = applied_nodes(&store, &wish.environment)?;
        applied.extend(hosts::applied(estate, &store).await?);
        if let Some(taken) = &wish.take_back {
            unfinished.extend(taken.unknown.iter().cloned());
        }
        Ok(Self {
            wish,
            inputs: digest,
            files,
            edited,
            compilation,
            applied,
            unfinished,
        })
    }

    /// Whether it puts back what was there before.
    pub fn takes_back(&self) -> bool {
        self.wish.take_back.is_some()
    }

    /// The plan that came of it, with what was compiled.
    pub fn planned(self, plan: Plan) -> Planned {
        Planned {
            plan,
            beforehand: Some(Beforehand::new(self.inputs, &self.edited, self.compilation)),
            exact: false,
        }
    }

    /// The plan against what the engines have, pinned to that.
    pub async fn observed_plan(&self, estate: &Estate, engines: &Engines) -> Result<Plan, Failure> {
        let answers = self.ask(engines).await?;
        self.settle(estate, engines, &answers).await
    }

    /// The plan against what was observed; without that, against what was last applied.
    pub fn plan(&self, observed: Option<&Observed>) -> Plan {
        plan(PlanInput {
            environment: &self.wish.environment,
            components: self.wish.components.as_deref(),
            hosts: self.wish.hosts.as_deref(),
            intent: self.wish.intent.clone(),
            compilation: &self.compilation,
            applied: &self.applied,
            unfinished: &self.unfinished,
            observed,
            left: self.wish.take_back.as_ref().map(|taken| &taken.left),
            given: &self.wish.given,
            base: pillar_digest(&self.files),
            pillar: changed_texts(&self.files, &self.edited),
        })
    }

    /// What the engines say about the environment, all asked at once.
    pub async fn ask(&self, engines: &Engines) -> Result<Answers, EngineError> {
        let mut answers = ask(engines, &self.wish.environment, &self.compilation, &self.applied).await?;
        let components = self.wish.components.as_deref();
        let hosts = hosts_with_lvm(&self.wish.environment, components, &self.compilation);
        answers.observed.storage = storage::of_hosts(engines, hosts).await?;
        answers.observed.standing = self.standing(engines).await?;
        Ok(answers)
    }

    /// What is there of the volumes that the pillar names no longer: a step that keeps them compares with that.
    async fn standing(&self, engines: &Engines) -> Result<BTreeMap<String, Standing>, EngineError> {
        let ran = |nodes: &[Node]| nodes.iter().any(|node| node.layer == NodeLayer::Job);
        let gone = self
            .applied
            .iter()
            .filter(|(key, nodes)| self.compilation.component(&key.0, &key.1).is_none() && !ran(nodes));
        let mut paths: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let volumes = gone
            .flat_map(|(_, nodes)| nodes)
            .filter(|node| node.address.kind == NodeKind::Volume);
        for node in volumes {
            if let (Some(host), Some(path)) = (node.text("host"), node.text("path")) {
                paths.entry(host).or_default().push(path);
            }
        }
        let mut standing = BTreeMap::new();
        for (host, paths) in paths {
            standing.insert(host.to_owned(), storage::standing(engines, host, &paths).await?);
        }
        Ok(standing)
    }

    /// The plan against what the engines said, pinned to that.
    pub async fn settle(
        &self,
        estate: &Estate,
        engines: &Engines,
        answers: &Answers,
    ) -> Result<Plan, Failure> {
        let Wish {
            environment,
            components,
            take_back,
            ..
        } = self.wish;
        // What ran before is put back whatever the engines offer by now.
        if take_back.is_none() {
            let names = components
                .as_deref()
                .map(|components| in_scope(environment, components, &self.compilation, &self.applied));
            let refused = refusals(
                environment,
                names.as_deref(),
                &self.compilation,
                &answers.observed,
            );
            if !refused.is_empty() {
                return Err(Failure::Input(in_files(refused, &self.files, &self.edited)));
            }
        }
        let mut plan = self.plan(Some(&answers.observed));
        for step in plan.steps.iter().filter(|_| take_back.is_none()) {
            if let Work::Prove(Proof::Host(host)) = &step.work {
                refuse_absent(engines, host).await?;
            }
        }
        let seen = Seen {
            environment,
            workspaces: &answers.workspaces,
            jobs: &answers.jobs,
        };
        plan.pins = seen
            .pins(estate, engines, &self.files, &Pinned::of(&plan))
            .await?;
        Ok(plan)
    }
}

/// With the recipes that an edit keeps from now on: of some of them there is no newest.
fn with_kept(mut catalog: Catalog, edited: &PillarFiles) -> Result<Catalog, Vec<Diagnostic>> {
    for (file, text) in edited.iter().filter(|(file, _)| file.starts_with(KEPT)) {
        catalog.keep(file, text)?;
    }
    Ok(catalog)
}

/// A deletion that leaves others without what they need: they have to let go of it first.
fn who_needs(intent: &Intent, before: &Compilation, catalog: &Catalog) -> Option<Diagnostic> {
    let Sentence::DeleteComponent {
        environment,
        component,
    } = &intent.sentence
    else {
        return None;
    };
    let recipe = &before.component(environment, component)?.recipe;
    let is_proxy = catalog.find(recipe, None).is_ok_and(|recipe| recipe.is_proxy());
    let names = before.need(environment, component, is_proxy).join(", ");
    if names.is_empty() {
        return None;
    }
    let (why, hint) = match is_proxy {
        true => (
            "it serves",
            "First take their host names away (`eos update COMPONENT --unset OPTION`), or delete them",
        ),
        false => (
            "it is used by",
            "First let them use another (`eos update COMPONENT`), or delete them",
        ),
    };
    let words = format!("{component} cannot be deleted from {environment}: {why} {names}");
    Some(Diagnostic::new(words).hint(hint))
}

/// The engines answer, so that a silent host is a fact about the host: better said before anyone confirms.
async fn refuse_absent(engines: &Engines, host: &HostAnswers) -> Result<(), Failure> {
    let name = &host.minion;
    let answered = host_answers(engines, name, host.client).await;
    let Err(error) = answered else { return Ok(()) };
    let refused = Diagnostic::new(format!("Host {name} cannot be used: {error}"));
    Err(Failure::Input(vec![match error.hint {
        Some(hint) => refused.hint(hint),
        None => refused,
    }]))
}

fn in_scope(
    environment: &str,
    components: &[String],
    compilation: &Compilation,
    applied: &Nodes,
) -> Vec<String> {
    scope(environment, components, compilation, applied)
        .into_iter()
        .collect()
}

fn changed_texts(before: &PillarFiles, after: &PillarFiles) -> PillarEdit {
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let changed = paths
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path));
    changed
        .map(|path| {
            let text = after
                .get(path)
                .map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            (path.clone(), text)
        })
        .collect()
}

/// The nodes of an environment's components, and of all hosts, as they were last applied.
pub async fn last_applied(estate: &Estate, environment: &str) -> Result<Nodes, EngineError> {
    let store = estate.store_to_read()?;
    let (mut applied, _) = applied_nodes(&store, environment)?;
    applied.extend(hosts::applied(estate, &store).await?);
    Ok(applied)
}

/// Nodes as they were last applied, from the store; and the components that an operation began and did not finish.
fn applied_nodes(store: &Store, environment: &str) -> Result<(Nodes, BTreeSet<Key>), EngineError> {
    let mut applied = BTreeMap::new();
    let mut unfinished = BTreeSet::new();
    for component in store.applied(environment)? {
        if component.digest.is_empty() {
            unfinished.insert((component.environment.clone(), component.component.clone()));
        }
        applied.extend([nodes_of(component)?]);
    }
    Ok((applied, unfinished))
}

/// The nodes in a row of the store, with the key of what they are of.
pub(crate) fn nodes_of(applied: Applied) -> Result<(Key, Vec<Node>), EngineError> {
    let Applied {
        environment,
        component,
        nodes,
        ..
    } = applied;
    let nodes = serde_json::from_value(nodes).map_err(|error| {
        EngineError::new(
            Layer::Estate,
            ErrorKind::Invalid,
            format!("applied component {component}"),
            error.to_string(),
        )
    })?;
    Ok(((environment, component), nodes))
}

/// What the engines said: as a plan reads it, and as its pins do.
pub(crate) struct Answers {
    observed: Observed,
    workspaces: Value,
    jobs: Vec<JobStub>,
}

/// A number that the client does not say counts as none.
fn host_has(datacenter: &str, attributes: &BTreeMap<String, String>) -> HostHas {
    let text = |name: &str| attributes.get(name).cloned().unwrap_or_default();
    let bytes = |name: &str| text(name).parse().unwrap_or_default();
    HostHas {
        datacenter: datacenter.to_owned(),
        architecture: text("cpu.arch"),
        memory: bytes("memory.totalbytes"),
        disk: bytes("unique.storage.bytesfree"),
    }
}

/// The hosts that the wanted components have volumes on LVM on.
fn hosts_with_lvm(
    environment: &str,
    components: Option<&[String]>,
    compilation: &Compilation,
) -> BTreeSet<String> {
    let wanted = |component: &&Lowered| components.is_none_or(|names| names.contains(&component.component));
    let components = compilation.of_environment(environment).filter(wanted);
    let volumes = components.flat_map(|component| &component.volumes);
    volumes
        .filter(|volume| volume.lvm.is_some())
        .map(|volume| volume.host.value.clone())
        .collect()
}

async fn ask(
    engines: &Engines,
    environment: &str,
    compilation: &Compilation,
    applied: &Nodes,
) -> Result<Answers, EngineError> {
    let names: BTreeSet<String> = compilation
        .workspaces
        .keys()
        .chain(applied.keys())
        .filter(|(of, _)| of == environment)
        .map(|(of, component)| format!("{of}/{component}"))
        .collect();
    // `environment/component` -> where its secrets lie.
    let secrets: BTreeMap<String, String> = compilation
        .of_environment(environment)
        .filter(|component| !component.secrets.is_empty())
        .map(|component| {
            let name = format!("{environment}/{}", component.component);
            (name, component.secret_path())
        })
        .collect();
    let wanted: BTreeMap<&String, Option<u64>> = secrets.keys().map(|name| (name, None)).collect();
    let arguments = json!({"parts": {"workspace": names, "secret": wanted}});
    let (minion, jobs, nodes) = tokio::join!(
        engines
            .salt
            .call(&engines.endpoints.control, "eos.observe", arguments, OBSERVE),
        pins::jobs(engines, environment),
        engines.nomad.nodes(),
    );
    let mut observed = Observed::default();
    let (workspaces, jobs) = (minion?, jobs?);
    for (name, seen) in seen_in(&workspaces)? {
        if let (Some(path), Some(items)) = (secrets.get(&name), seen.items) {
            let key = (environment.to_owned(), path.clone());
            observed.secrets.insert(key, items.into_keys().collect());
        }
    }
    engines.heard.keep(workspaces.get("caller"));
    // A minion whose formula is older says nothing of them.
    let tiers = workspaces.get("tiers");
    observed.tiers = tiers.and_then(|tiers| serde_json::from_value(tiers.clone()).ok());
    for name in names {
        let digest = workspaces
            .get("workspace")
            .and_then(|all| all.get(&name))
            .and_then(|one| one.get("digest"));
        observed
            .workspaces
            .insert(name, digest.and_then(Value::as_str).map(str::to_owned));
    }
    for job in &jobs {
        let digest = job.meta.as_ref().and_then(|meta| meta.get("eos_digest"));
        let digest = digest.filter(|_| !job.stop).cloned();
        observed
            .jobs
            .insert((environment.to_owned(), job.id.clone()), digest);
    }
    let has_mesh = compilation.of_environment(environment).any(Lowered::is_meshed);
    let mut groups = compilation
        .of_environment(environment)
        .flat_map(|component| &component.groups);
    let is_choosy = groups.any(|group| group.requires().is_some());
    for node in nodes? {
        if node.status == "ready" && node.scheduling_eligibility == "eligible" {
            if has_mesh && engines.nomad.has_bridge(&node).await? {
                observed.bridges.insert(node.name.clone());
            }
            if is_choosy {
                let attributes = engines.nomad.attributes(&node).await?;
                observed
                    .hosts
                    .insert(node.name.clone(), host_has(&node.datacenter, &attributes));
            }
            let healthy = node
                .drivers
                .into_iter()
                .filter(|(_, driver)| driver.detected && driver.healthy);
            observed
                .drivers
                .insert(node.name, healthy.map(|(name, _)| name).collect());
        }
    }
    Ok(Answers {
        observed,
        workspaces,
        jobs,
    })
}
