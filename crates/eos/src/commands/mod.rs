//! Verbs: one file each. Shared here is only what a verb works with.

pub mod apply;
pub mod approve;
pub mod audit;
mod carry_out;
pub mod catalog;
pub mod compile;
pub mod complete;
pub mod completions;
mod container;
pub mod convert;
pub mod create;
pub mod delete;
pub mod discover;
pub mod doctor;
pub mod drift;
pub mod exec;
pub mod expand;
pub mod graph;
pub mod history;
pub mod home;
pub mod host;
pub mod init;
pub mod lab;
mod lab_image;
pub mod list;
pub mod login;
pub mod logs;
mod logs_follow;
pub mod man;
mod new_recipe;
pub mod nouns;
pub mod plan;
pub mod plan_file;
pub mod promote;
pub mod read;
pub mod reconcile;
pub mod resize;
pub mod restart;
pub mod resume;
pub mod rollback;
pub mod rotate;
pub mod run;
mod serve;
pub mod serve_hello;
pub mod serve_stand_in;
pub mod snapshot;
pub mod start;
pub mod status;
pub mod stop;
pub mod storage;
pub mod update;
mod volume;
pub mod why;

use crate::args::{Everywhere, Invocation, Verb};
use crate::env_names;
use crate::ground::Ground;
use crate::options::Typed;
use crate::problem::{Exit, Problem};
use crate::views::View;
use eos_core::diagnostic::Diagnostic;
use eos_core::name::{closest, quoted};
use eos_core::pillar::{Component, Pillar};
use eos_engine::estate::Estate;
use eos_engine::request::{Requester, Terms};
use jiff::Timestamp;
use std::cell::RefCell;
use std::os::unix::fs::MetadataExt;

type Ended = Result<Exit, Problem>;

/// One run of the program: the flags of every verb, and the view.
pub struct Session<'a> {
    pub everywhere: Everywhere,
    pub view: &'a mut dyn View,
    ground: RefCell<Ground>,
    /// The typed words, for the record.
    typed_words: String,
    /// Eos chose this where the person left it open, such as a name.
    pub filled_in: Option<String>,
}

impl Session<'_> {
    pub fn estate(&self) -> Result<Estate, Problem> {
        Ok(self.ground.borrow_mut().take(self.everywhere.estate.as_deref())?)
    }

    /// The component as the pillar of the environment has it, or what to say when there is none of that name.
    pub fn component(&self, estate: &Estate, name: &str) -> Result<Component, Problem> {
        find_component(&estate.whole_pillar()?, &self.environment(estate), name).cloned()
    }

    pub fn environment(&self, estate: &Estate) -> String {
        self.everywhere
            .environment
            .clone()
            .unwrap_or_else(|| estate.settings.environment.clone())
    }

    /// The words of the command for the record, with what Eos filled in; secrets are `***`.
    fn words(&self) -> String {
        match &self.filled_in {
            Some(filled_in) => format!("{} ({filled_in})", self.typed_words),
            None => self.typed_words.clone(),
        }
    }

    /// The person at work, with the words and terms of this command.
    pub fn requester(&self) -> Requester {
        let Everywhere {
            yes, keep, no_wait, ..
        } = self.everywhere;
        Requester {
            who: who(),
            words: self.words(),
            terms: Terms { yes, keep, no_wait },
        }
    }

    /// For a verb that `--environment` says nothing to.
    pub fn refuse_environment(&self, why: &str) -> Result<(), Problem> {
        match self.everywhere.environment {
            Some(_) => Err(Problem::usage(why, "Leave --environment out")),
            None => Ok(()),
        }
    }
}

pub fn run(invocation: Box<Invocation>, ground: Ground, view: &mut dyn View) -> Ended {
    let Invocation { cli, typed, words } = *invocation;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            Problem::not_done(
                format!("Cannot start: {error}"),
                "Is the machine out of files or memory?",
            )
        })?;
    let mut session = Session {
        everywhere: cli.everywhere,
        view,
        ground: RefCell::new(ground),
        typed_words: words,
        filled_in: None,
    };
    runtime.block_on(dispatch(&mut session, cli.verb, typed))
}

async fn dispatch(session: &mut Session<'_>, verb: Verb, typed: Option<Typed>) -> Ended {
    match verb {
        Verb::Init(args) => init::run(session, &args).await,
        Verb::Login(args) => login::run(session, &args).await,
        Verb::Lab(args) => lab::run(session, args).await,
        Verb::Create(args) => create::run(session, &args, typed).await,
        Verb::Update(args) => update::run(session, &args, typed).await,
        Verb::Delete(args) => delete::run(session, &args).await,
        Verb::Stop(args) => stop::run(session, &args).await,
        Verb::Start(args) => start::run(session, &args).await,
        Verb::Restart(args) => restart::run(session, &args).await,
        Verb::Run(args) => run::run(session, &args).await,
        Verb::Resize(args) => resize::run(session, &args).await,
        Verb::Convert(args) => convert::run(session, &args).await,
        Verb::Snapshot(args) => snapshot::run(session, &args).await,
        Verb::Expand(args) => expand::run(session, &args).await,
        Verb::Promote(args) => promote::run(session, &args).await,
        Verb::Rotate(args) => rotate::run(session, &args).await,
        Verb::Discover(args) => discover::run(session, &args).await,
        Verb::Drift(args) => drift::run(session, &args).await,
        Verb::Reconcile(args) => reconcile::run(session, &args).await,
        Verb::Read(args) => read::run(session, &args).await,
        Verb::List(args) => list::run(session, &args).await,
        Verb::Plan(args) => plan::run(session, &args).await,
        Verb::Apply(args) => apply::run(session, &args).await,
        Verb::Resume(args) => resume::run(session, &args).await,
        Verb::Approve(args) => approve::run(session, &args).await,
        Verb::Rollback(args) => rollback::run(session, &args).await,
        Verb::Undo(args) => rollback::undo(session, &args).await,
        Verb::History(args) => history::run(session, &args),
        Verb::Audit(args) => audit::run(session, &args).await,
        Verb::Home(args) => home::run(session, &args).await,
        Verb::Status(args) => status::run(session, &args).await,
        Verb::Storage(args) => storage::run(session, &args).await,
        Verb::Doctor(args) => doctor::run(session, &args).await,
        Verb::Logs(args) => logs::run(session, &args).await,
        Verb::Exec(args) => exec::run(session, &args).await,
        Verb::Catalog(args) => catalog::run(session, &args).await,
        Verb::Compile(args) => compile::run(session, &args),
        Verb::Graph(args) => graph::run(session, &args).await,
        Verb::Why(args) => why::run(session, &args),
        Verb::Completions(args) => completions::run(session, &args),
        Verb::Man(args) => man::run(session, &args),
        Verb::Complete(args) => complete::run(session, &args),
        Verb::ServeHello(args) => serve_hello::run(&args).await,
        Verb::ServeStandIn(args) => serve_stand_in::run(&args).await,
    }
}

/// The component, or what to say when there is none of that name.
pub fn find_component<'a>(
    pillar: &'a Pillar,
    environment: &str,
    name: &str,
) -> Result<&'a Component, Problem> {
    let component = pillar.component(environment, name);
    component.ok_or_else(|| no_component(pillar, environment, name))
}

fn no_component(pillar: &Pillar, environment: &str, name: &str) -> Problem {
    let elsewhere = pillar.components.keys().find(|(_, component)| component == name);
    let here = pillar
        .components
        .keys()
        .filter(|(of, _)| of == environment)
        .map(|(_, component)| component.as_str());
    let hint = match (elsewhere, closest(name, here)) {
        (Some((environment, _)), _) => format!("It is in {environment}: --environment {environment}"),
        (None, Some(meant)) => format!("Did you mean {meant}?"),
        (None, None) => "`eos list` shows what there is".to_owned(),
    };
    let missing = format!("There is no component {} in {environment}", quoted(name));
    Problem::Usage(vec![Diagnostic::new(missing).hint(hint)])
}

/// The person at work, for the record: as the environment says, else the name of the user this runs as.
fn who() -> String {
    let set = |name: &&str| std::env::var(name).ok().filter(|who| !who.is_empty());
    env_names::WHO
        .iter()
        .find_map(set)
        .or_else(account)
        .unwrap_or_else(|| "unknown".to_owned())
}

fn account() -> Option<String> {
    let user = std::fs::metadata("/proc/self").ok()?.uid().to_string();
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mut lines = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let name = lines
        .find(|fields| fields.get(2) == Some(&user.as_str()))
        .and_then(|fields| fields.first().map(|n| (*n).to_owned()));
    Some(name.unwrap_or(format!("user {user}")))
}

fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
