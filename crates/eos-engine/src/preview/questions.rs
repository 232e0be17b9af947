//! What is asked of each step, of whom, and how the answers become the effects of a plan.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use eos_core::canonical::canonical_digest;
use eos_core::emit::terraform::PLATFORM;
use eos_core::kinds::{Function, Request};
use eos_core::plan::effects::explain::{Places, explain};
use eos_core::plan::effects::nomad::{self, JobNow, removed};
use eos_core::plan::effects::terraform::{self, JobWork};
use eos_core::plan::effects::{Effect, Engine, Of, Refused, Unasked};
use eos_core::plan::{Action, Plan, Step, Work};
use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};

use super::Asks;
use super::ground::{Jobs, Unknown};
use crate::calls::{Call, call_of};
use crate::delivery::deliver_plan;
use crate::engines::Engines;
use crate::error::{EngineError, Layer};
use crate::planning::Prepared;

/// How many calls run at the same time.
const AT_ONCE: usize = 8;
/// How long one engine may take to say what it would do.
const PREVIEW: Duration = Duration::from_secs(60);

/// Digest of a question -> the answer to it.
pub(super) type Answers = BTreeMap<String, Result<Value, EngineError>>;

/// What the engines have said so far.
pub(super) struct Heard {
    pub unknown: Unknown,
    pub jobs: Jobs,
    pub answers: Answers,
}

impl Default for Heard {
    fn default() -> Self {
        Self {
            unknown: Unknown::default(),
            jobs: Ok(BTreeMap::new()),
            answers: Answers::new(),
        }
    }
}

/// What was said of one step, or of all.
#[derive(Default)]
struct Said {
    effects: Vec<Effect>,
    unasked: Vec<Unasked>,
    refused: Vec<Refused>,
}

impl Said {
    fn add(&mut self, other: Self) {
        self.effects.extend(other.effects);
        self.unasked.extend(other.unasked);
        self.refused.extend(other.refused);
    }
}

/// One step and what is asked about it.
struct Question<'p> {
    step: &'p Step,
    call: Call,
    /// What is not known before the plan is carried out.
    unknown: Vec<&'static str>,
}

impl<'p> Question<'p> {
    fn of(step: &'p Step, plan: &Plan, not_known: &Unknown, asks: Asks) -> Option<Self> {
        let is_asked = match asks {
            Asks::Effects => step.work.request().is_some_and(Request::is_previewed),
            Asks::Refusals => can_be_refused(step),
        };
        if !is_asked {
            return None;
        }
        let call = call_of(step, "")?;
        let mut unknown = Vec::new();
        if can_be_refused(step) && step.component != PLATFORM {
            let mut before = plan
                .steps
                .iter()
                .filter(|other| other.component == step.component);
            if before.any(|other| not_known.writes(other)) {
                unknown.push("secret_version");
            }
            if not_known.namespace {
                unknown.push("namespace");
            }
        }
        Some(Self { step, call, unknown })
    }

    fn digest(&self) -> String {
        let Call {
            minion,
            function,
            arguments,
        } = &self.call;
        canonical_digest(&json!([minion, function, arguments, self.unknown]))
    }

    async fn ask(&self, engines: &Engines, environment: &str) -> Result<Value, EngineError> {
        let arguments = json!({
            "plan": environment, "function": self.call.function, "arguments": self.call.arguments,
            "unknown": self.unknown,
        });
        let minion = &self.call.minion;
        engines.salt.call(minion, "eos.preview", arguments, PREVIEW).await
    }
}

/// Asks about the steps of a plan of which nothing is known yet, from an environment that is there for no longer.
pub(super) async fn ask(
    engines: &Engines,
    prepared: &Prepared<'_>,
    plan: &Plan,
    unknown: &Unknown,
    asks: Asks,
    mut answers: Answers,
) -> Answers {
    let open: Vec<(String, Question<'_>)> = plan
        .steps
        .iter()
        .filter_map(|step| Question::of(step, plan, unknown, asks))
        .map(|question| (question.digest(), question))
        .filter(|(digest, _)| !answers.contains_key(digest))
        .collect();
    if open.is_empty() {
        return answers;
    }
    let components: BTreeSet<&str> = open
        .iter()
        .map(|(_, question)| question.step.component.as_str())
        .collect();
    let artifacts = &prepared.compilation.artifacts;
    match deliver_plan(engines, artifacts, &components).await {
        Ok(environment) => {
            let name = environment.name.as_str();
            let asked = stream::iter(&open)
                .map(|(digest, question)| async move { (digest.clone(), question.ask(engines, name).await) })
                .buffer_unordered(AT_ONCE);
            answers.extend(asked.collect::<Vec<_>>().await);
        }
        Err(error) => {
            let all = open.into_iter();
            answers.extend(all.map(|(digest, _)| (digest, Err(error.clone()))));
        }
    }
    answers
}

impl Heard {
    /// Writes into the plan what was said of it, in the order of its steps.
    pub fn tell(self, plan: &mut Plan, prepared: &Prepared<'_>) {
        let mut said = Said::default();
        for step in &plan.steps {
            match self.of_step(step, plan, prepared) {
                Ok(of_step) => said.add(of_step),
                Err(error) => said.unasked.push(not_answered(step, &error)),
            }
        }
        explain(&mut said.effects, &plan.changes, &places(plan, prepared));
        plan.effects = said.effects;
        plan.unasked = said.unasked;
        plan.refused = said.refused;
    }

    /// Writes into the plan what engines refuse of it, and of what they did not say whether they do.
    pub fn tell_refusals(self, plan: &mut Plan, prepared: &Prepared<'_>) {
        let mut said = Said::default();
        for step in &plan.steps {
            let question = Question::of(step, plan, &self.unknown, Asks::Refusals);
            match question.and_then(|question| self.answers.get(&question.digest())) {
                Some(Ok(answer)) => said.add(fault_in(step, answer, prepared.takes_back())),
                Some(Err(error)) => said.unasked.push(not_answered(step, error)),
                None => {}
            }
        }
        plan.unasked = said.unasked;
        plan.refused = said.refused;
    }

    fn of_step(&self, step: &Step, plan: &Plan, prepared: &Prepared<'_>) -> Result<Said, EngineError> {
        let secrets = self.unknown.secrets.as_ref();
        if let Some(secret) = secrets.and_then(|secrets| secrets.get(&step.id)) {
            let effects = secret.clone()?.into_iter().collect();
            return Ok(Said {
                effects,
                ..Said::default()
            });
        }
        let Some(question) = Question::of(step, plan, &self.unknown, Asks::Effects) else {
            return Ok(Said::default());
        };
        let Some(answer) = self.answers.get(&question.digest()) else {
            return Ok(Said::default());
        };
        let answer = answer.clone()?;
        let mut said = fault_in(step, &answer, prepared.takes_back());
        let of = Of {
            environment: &step.environment,
            component: &step.component,
        };
        match step.work.request() {
            Some(request) if request.is_workspace() => {
                let (effects, unknown) = self.of_workspace(of, step, plan, prepared, &answer);
                said.effects = effects;
                // One reason a step is enough.
                if said.unasked.is_empty() {
                    said.unasked.extend(unknown);
                }
            }
            Some(request) => {
                let component = prepared.compilation.component(of.environment, of.component);
                said.effects = request.effects(of, component, &answer);
            }
            None => {}
        }
        Ok(said)
    }

    fn of_workspace(
        &self,
        of: Of<'_>,
        step: &Step,
        plan: &Plan,
        prepared: &Prepared<'_>,
        answer: &Value,
    ) -> (Vec<Effect>, Option<Unasked>) {
        let gone = matches!(step.work, Work::Unmake(_));
        let (name, key) = (step.place(), step.key());
        let state = match plan.observed {
            true => plan.pins.workspaces.get(&name).is_some_and(Option::is_some),
            false => prepared.applied.contains_key(&key),
        };
        let terraform = terraform::TerraformPreview::read(&answer["terraform"]);
        // A workspace of which Terraform said nothing may or may not have a state to lose.
        let said = answer["terraform"].is_object();
        let mut effects = match said {
            true => terraform.effects(of, state, gone),
            false => Vec::new(),
        };
        let Some(work) = terraform.job() else {
            return (effects, None);
        };
        let jobs = match &self.jobs {
            Ok(jobs) => jobs,
            Err(error) => return (effects, Some(not_answered(step, error))),
        };
        let nothing = JobNow::default();
        let now = jobs.get(&step.component).unwrap_or(&nothing);
        match (work, nomad::JobPreview::read(&answer["nomad"])) {
            (JobWork::Remove { namespace, id }, _) => effects.extend(removed(of, namespace, id, now)),
            (JobWork::Register, Some(nomad)) => effects.extend(nomad.effects(of, now)),
            // Terraform alone knows no more than that it registers the job.
            (JobWork::Register, None) => {
                let action = match now.job {
                    Some(_) => Action::Change,
                    None => Action::Create,
                };
                let object = format!("nomad/job/{name}");
                effects.push(of.effect(Engine::Terraform, object, action, Vec::new()));
            }
        }
        (effects, None)
    }
}

fn not_answered(step: &Step, error: &EngineError) -> Unasked {
    Unasked {
        engine: engine(error.layer),
        object: object(step),
        why: error.to_string(),
    }
}

/// What the minion says that is refused, or that it could not find out.
fn fault_in(step: &Step, answer: &Value, takes_back: bool) -> Said {
    let mut said = Said::default();
    let Some(error) = answer.get("error").filter(|error| error.is_object()) else {
        return said;
    };
    let layer = serde_json::from_value(error["layer"].clone()).unwrap_or(Layer::Salt);
    let text = |key: &str| error[key].as_str().unwrap_or_default();
    let is_refused = error["refused"] == true && can_be_refused(step) && !takes_back;
    if is_refused {
        said.refused.push(Refused {
            engine: engine(layer),
            object: match text("object") {
                name if name.is_empty() || name == step.place() => object(step),
                name => name.to_owned(),
            },
            words: text("words").to_owned(),
            hint: text("hint").to_owned(),
        });
    } else {
        said.unasked.push(Unasked {
            engine: engine(layer),
            object: object(step),
            why: match (text("object"), text("words")) {
                ("", words) => words.to_owned(),
                (object, words) => format!("{object}: {words}"),
            },
        });
    }
    said
}

/// Whether a plan stops if an engine refuses this step: what is to be made needs it. What goes away goes, whatever
/// anybody says of it.
fn can_be_refused(step: &Step) -> bool {
    let request = step.work.request();
    request.is_some_and(|request| request.is_workspace() && request.function() == Function::Make)
}

/// What a person calls the thing that a step is about.
fn object(step: &Step) -> String {
    let place = step.place();
    match step.work.request() {
        Some(request) => request.object(&place),
        None => place,
    }
}

pub(super) fn engine(layer: Layer) -> Engine {
    match layer {
        Layer::Terraform => Engine::Terraform,
        Layer::Nomad => Engine::Nomad,
        Layer::Consul => Engine::Consul,
        Layer::Vault => Engine::Vault,
        Layer::Estate | Layer::Git | Layer::Registry => Engine::Eos,
        Layer::Salt | Layer::Prometheus => Engine::Salt,
    }
}

pub(super) fn layer(engine: Engine) -> Layer {
    match engine {
        Engine::Terraform => Layer::Terraform,
        Engine::Nomad => Layer::Nomad,
        Engine::Consul => Layer::Consul,
        Engine::Vault => Layer::Vault,
        Engine::Salt => Layer::Salt,
        Engine::Eos | Engine::Engines => Layer::Estate,
    }
}

/// Where the things lie that the plan's components have or had on hosts.
fn places(plan: &Plan, prepared: &Prepared<'_>) -> Places {
    let keys: BTreeSet<(String, String)> = plan.steps.iter().map(Step::key).collect();
    let was = keys.iter().filter_map(|key| prepared.applied.get(key));
    let nodes = was
        .flatten()
        .cloned()
        .chain(keys.iter().flat_map(|key| prepared.compilation.nodes(key)));
    nodes
        .filter_map(|node| {
            let place = (node.text("host")?.to_owned(), node.text("path")?.to_owned());
            Some((place, node.address))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use eos_core::kinds::{Made, Unmade, volume, workspace};
    use eos_core::recipe::Risk;

    use super::*;

    fn step(work: Work) -> Step {
        Step {
            id: "2-terraform".to_owned(),
            environment: "production".to_owned(),
            component: "hello".to_owned(),
            after: Vec::new(),
            risk: Risk::Low,
            work,
        }
    }

    fn applied() -> Step {
        step(Work::Make(Made::Workspace(workspace::Made {
            minion: "control".to_owned(),
            digest: "d1".to_owned(),
            loses: false,
        })))
    }

    fn answer(refused: Value) -> Value {
        json!({"error": {"layer": "nomad", "object": "job hello", "words": "no", "hint": "Mend it", "refused": refused}})
    }

    #[test]
    fn what_is_refused_of_a_workspace_that_is_made_is_a_refusal() {
        let said = fault_in(&applied(), &answer(json!(true)), false);
        let refused = Refused {
            engine: Engine::Nomad,
            object: "job hello".to_owned(),
            words: "no".to_owned(),
            hint: "Mend it".to_owned(),
        };
        assert_eq!((said.refused, said.unasked.len()), (vec![refused], 0));
    }

    #[test]
    fn a_way_back_a_removal_and_what_nobody_could_ask_are_not_refused() {
        let removed = step(Work::Unmake(Unmade::Workspace(workspace::Unmade {
            minion: "control".to_owned(),
            loses: false,
        })));
        let volume = step(Work::Make(Made::Volume(volume::Made {
            minion: "control".to_owned(),
            digest: "d1".to_owned(),
            paths: Vec::new(),
            lasting: false,
        })));
        let refused = answer(json!(true));
        for (step, answer, takes_back) in [
            (applied(), &refused, true),
            (removed, &refused, false),
            (volume, &refused, false),
            (applied(), &answer(Value::Null), false),
            (applied(), &answer(json!("true")), false),
        ] {
            let said = fault_in(&step, answer, takes_back);
            assert!(said.refused.is_empty(), "{step:?}");
            assert_eq!(said.unasked[0].why, "job hello: no");
        }
        assert!(
            fault_in(&applied(), &json!({"error": null}), false)
                .unasked
                .is_empty()
        );
    }

    #[test]
    fn a_workspace_is_called_as_a_person_calls_it() {
        let answer = json!({"error": {"layer": "terraform", "object": "production/hello", "words": "no", "refused": true}});
        let said = fault_in(&applied(), &answer, false);
        assert_eq!(said.refused[0].object, "workspace production/hello");
    }
}
