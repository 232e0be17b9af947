//! Owns the resource `nomad_job`: a job in Nomad, written as HCL or JSON.

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::client::Client;
use super::job_object::{Hcl2, JobObject, TaskGroup, task_group};
use super::job_rollout::Rollout;
use super::{import_id, job_diff, job_variables, placement};
use crate::api::{ApiError, Call, list, strings, text, texts};
use crate::diagnostic::{Diagnostic, Diagnostics, Step};
use crate::duration;
use crate::provider::{Applied, Change, Context, Failed, Outcome, Planned, Resource};
use crate::schema::{Attribute, Block};
use crate::value::{List, Map, Set, Value};

/// How long to wait for a healthy deployment if no `timeouts` block says otherwise.
const PATIENCE: Duration = Duration::from_secs(300);

pub struct Job;

/// Whether a test wants a provider that overlooks changes outside Terraform, as others do: a file `blind` beside the program.
/// Only debug builds ask.
fn is_blind() -> bool {
    cfg!(debug_assertions)
        && std::env::current_exe().is_ok_and(|program| program.with_file_name("blind").exists())
}

impl Resource for Job {
    type Client = Client;
    type Object = JobObject;

    const NAME: &'static str = "nomad_job";

    fn schema(&self) -> Block {
        Block::new(
            "A job in Nomad",
            [
                Attribute::defaulted::<String>("id", "ID of the job"),
                Attribute::required::<String>("jobspec", "The job, as HCL or JSON"),
                Attribute::defaulted::<bool>("json", "The jobspec is JSON"),
                Attribute::defaulted::<bool>(
                    "detach",
                    "Do not wait for a healthy deployment (default: true)",
                ),
                Attribute::defaulted::<bool>(
                    "deregister_on_destroy",
                    "Stop the job on destroy (default: true)",
                ),
                Attribute::defaulted::<bool>(
                    "deregister_on_id_change",
                    "Stop the old job when the ID changes (default: true)",
                ),
                Attribute::defaulted::<bool>("purge_on_destroy", "Forget the job when it is stopped"),
                Attribute::defaulted::<bool>("policy_override", "Override soft-mandatory policies"),
                Attribute::defaulted::<bool>("read_allocation_ids", "Read allocation_ids"),
                Attribute::defaulted::<bool>("rerun_if_dead", "Run the job again if it is dead"),
                Attribute::computed::<String>("name", "Name of the job"),
                Attribute::computed::<String>("namespace", "Namespace of the job"),
                Attribute::computed::<String>("type", "Type of the job"),
                Attribute::computed::<String>("region", "Region of the job"),
                Attribute::computed::<Set<String>>("datacenters", "Datacenters of the job"),
                Attribute::computed::<String>("status", "pending, running or dead"),
                Attribute::computed::<String>("modify_index", "Index of the last change of the job"),
                Attribute::computed::<String>("deployment_id", "ID of the latest deployment"),
                Attribute::computed::<String>("deployment_status", "Status of the latest deployment"),
                Attribute::computed::<List<String>>("allocation_ids", "IDs of the job's allocations"),
                Attribute::computed::<List<TaskGroup>>("task_groups", "Groups of the job"),
            ],
        )
        .list_block(
            "hcl2",
            0,
            1,
            Block::new(
                "How to read an HCL jobspec",
                [
                    Attribute::defaulted::<bool>(
                        "allow_fs",
                        "Not supported: Nomad reads the job, not Terraform",
                    ),
                    Attribute::optional::<Map<String>>("vars", "Values of the job's variables"),
                ],
            ),
        )
        .single_block(
            "timeouts",
            Block::new(
                "How long to wait for a healthy deployment (default: 5m)",
                [
                    Attribute::optional::<String>("create", "For a new job"),
                    Attribute::optional::<String>("update", "For a changed job"),
                ],
            ),
        )
    }

    fn validate(&self, config: &JobObject) -> Diagnostics {
        let mut found = Vec::new();
        let hcl2 = config.hcl2.elements().next();
        let within_hcl2 = |attribute| {
            [
                Step::Attribute("hcl2"),
                Step::Index(0),
                Step::Attribute(attribute),
            ]
        };
        if hcl2.is_some_and(|hcl2| hcl2.allow_fs.is_true()) {
            found.push(
                Diagnostic::error("allow_fs cannot work: Nomad reads the job, and has no files of Terraform")
                    .hint("Read the file in Terraform and pass it by hcl2 { vars }: file(\"...\")")
                    .within(within_hcl2("allow_fs")),
            );
        }
        if hcl2.is_some() && config.json.is_true() {
            found.push(Diagnostic::error("hcl2 has no effect on a jobspec in JSON").at("hcl2"));
        }
        for (name, _) in hcl2.and_then(|hcl2| hcl2.vars.known()).into_iter().flatten() {
            if !job_variables::is_name(name) {
                let place = within_hcl2("vars").into_iter().chain([Step::Key(name.clone())]);
                found.push(Diagnostic::error(format!("{name} cannot name a variable")).within(place));
            }
        }
        if let Some(timeouts) = config.timeouts.known() {
            for (name, value) in [("create", &timeouts.create), ("update", &timeouts.update)] {
                if value.as_str().is_some_and(|text| duration::parse(text).is_none()) {
                    found.push(
                        Diagnostic::error(format!("timeouts.{name} is not a duration"))
                            .hint("Write it like 90s, 5m or 1h30m")
                            .within([Step::Attribute("timeouts"), Step::Attribute(name)]),
                    );
                }
            }
        }
        found
    }

    fn import(&self, id: &str) -> Result<JobObject, Diagnostics> {
        let (id, namespace) = import_id(id);
        let mut object = JobObject {
            id: Value::from(id),
            namespace,
            ..JobObject::default()
        };
        fill_flags(&mut object, &JobObject::default(), None);
        Ok(object)
    }

    async fn read(
        &self,
        context: &Context<'_, Client>,
        mut object: JobObject,
    ) -> Result<Option<JobObject>, Diagnostics> {
        if is_blind() && object.jobspec != Value::Null {
            return Ok(Some(object));
        }
        let id = object.id.as_str().unwrap_or_default().to_owned();
        let cannot_read = |error: ApiError| error.diagnostic(format!("Job {id} cannot be read"));
        let namespace = object
            .namespace
            .as_str()
            .unwrap_or(context.client.namespace())
            .to_owned();
        if !refresh(context.client, &namespace, &id, &mut object)
            .await
            .map_err(cannot_read)?
        {
            return Ok(None);
        }
        // Only an import starts without the text.
        if object.jobspec == Value::Null {
            restore_text(context.client, &namespace, &id, &mut object)
                .await
                .map_err(cannot_read)?;
        }
        Ok(Some(object))
    }

    async fn plan(
        &self,
        context: &Context<'_, Client>,
        change: Change<JobObject>,
    ) -> Result<Planned<JobObject>, Diagnostics> {
        let Change {
            prior,
            config,
            proposed: mut object,
        } = change;
        fill_flags(&mut object, &config, prior.as_ref());
        if !text_is_known(&object) {
            object.forget_identity();
            object.forget_what_nomad_decides();
            return Ok(Planned {
                object,
                replace: Vec::new(),
                warnings: Vec::new(),
            });
        }

        let place = prior.as_ref().and_then(|prior| prior.namespace.as_str());
        let job = parse(
            context.client,
            &object,
            place.unwrap_or(context.client.namespace()),
        )
        .await?;
        let id = text(&job["ID"]);
        let namespace = text(&job["Namespace"]);
        object.take_identity(&job);

        let mut warnings = Vec::new();
        let same_job = prior
            .as_ref()
            .is_some_and(|prior| prior.id == object.id && prior.namespace == object.namespace);
        let same_text = prior.as_ref().is_some_and(|prior| prior.same_text(&object));
        let differs = match ask_plan(context.client, &job, &object).await {
            Ok(plan) => {
                warnings.extend(plan_warnings(id, &plan, &job));
                let differs = text(&plan["Diff"]["Type"]) != "None" && !is_blind();
                if same_job && same_text && differs {
                    warnings.push(drift(id, &plan["Diff"]));
                }
                differs
            }
            Err(error) if !same_job && error.says("nonexistent namespace") => {
                warnings.push(
                    Diagnostic::warning(format!("Namespace {namespace} of job {id} does not exist yet"))
                        .detail("Nomad read the job, but could not check it further."),
                );
                true
            }
            Err(error) => {
                return Err(error
                    .diagnostic(format!("Nomad refuses job {id}"))
                    .at("jobspec")
                    .into());
            }
        };
        if !same_job {
            warnings.extend(taken_over(context.client, namespace, id).await?);
        }

        let rerun = object.rerun_if_dead.is_true()
            && prior
                .as_ref()
                .is_some_and(|prior| prior.status.as_str() == Some("dead"));
        if !same_job || !same_text || differs || rerun {
            object.forget_what_nomad_decides();
        } else if let Some(prior) = &prior {
            if prior.read_allocation_ids.is_true() != object.read_allocation_ids.is_true() {
                object.allocation_ids = Value::Unknown;
            }
            if prior.deployment_status.as_str() == Some("failed") {
                warnings.push(
                    Diagnostic::warning(format!("The last deployment of job {id} failed"))
                        .detail("Nomad has the job as it is written here, so an apply will not help.")
                        .hint(format!("Look at it (nomad job status {id}), and change the job")),
                );
            }
        }
        Ok(Planned {
            object,
            replace: Vec::new(),
            warnings,
        })
    }

    async fn create(&self, context: &Context<'_, Client>, planned: JobObject) -> Outcome<JobObject> {
        register(context, None, planned).await
    }

    async fn update(
        &self,
        context: &Context<'_, Client>,
        prior: JobObject,
        mut planned: JobObject,
    ) -> Outcome<JobObject> {
        if planned.modify_index.is_unknown() {
            return register(context, Some(prior), planned).await;
        }
        // Only flags changed, and Nomad does not know them.
        if planned.allocation_ids.is_unknown() {
            let id = planned.id.as_str().unwrap_or_default();
            let namespace = planned.namespace.as_str().unwrap_or_default();
            planned.allocation_ids = allocation_ids(context.client, namespace, id, &planned)
                .await
                .map_err(|error| error.diagnostic(format!("Allocations of job {id} cannot be read")))?;
        }
        Ok(Applied {
            object: planned,
            warnings: Vec::new(),
        })
    }

    async fn destroy(
        &self,
        context: &Context<'_, Client>,
        object: JobObject,
    ) -> Result<Diagnostics, Diagnostics> {
        let id = object.id.as_str().unwrap_or_default();
        if object.deregister_on_destroy.known() == Some(&false) {
            return Ok(Diagnostic::warning(format!("Job {id} keeps running in Nomad"))
                .detail("deregister_on_destroy is false: the job only leaves the Terraform state.")
                .into());
        }
        deregister(context.client, &object)
            .await
            .map_err(|error| error.diagnostic(format!("Nomad cannot stop job {id}")))?;
        Ok(Vec::new())
    }
}

/// Sets every flag that the configuration leaves open. A flag without a default stays what the Terraform
/// state holds for "no", so that a state of another provider shows no needless change.
fn fill_flags(object: &mut JobObject, config: &JobObject, prior: Option<&JobObject>) {
    let yes = |configured: &Value<bool>| match configured {
        Value::Null => Value::Known(true),
        set => set.clone(),
    };
    let no = |configured: &Value<bool>, before: Option<&Value<bool>>| match (configured, before) {
        (Value::Null, Some(Value::Known(false))) => Value::Known(false),
        (Value::Null, _) => Value::Null,
        (set, _) => set.clone(),
    };
    object.detach = yes(&config.detach);
    object.deregister_on_destroy = yes(&config.deregister_on_destroy);
    object.deregister_on_id_change = yes(&config.deregister_on_id_change);
    object.purge_on_destroy = no(
        &config.purge_on_destroy,
        prior.map(|prior| &prior.purge_on_destroy),
    );
    object.policy_override = no(&config.policy_override, prior.map(|prior| &prior.policy_override));
    object.read_allocation_ids = no(
        &config.read_allocation_ids,
        prior.map(|prior| &prior.read_allocation_ids),
    );
    object.rerun_if_dead = no(&config.rerun_if_dead, prior.map(|prior| &prior.rerun_if_dead));
    object.json = no(&config.json, prior.map(|prior| &prior.json));
    if let (Value::Known(blocks), Value::Known(configured)) = (&mut object.hcl2, &config.hcl2) {
        let before = prior
            .and_then(|prior| prior.hcl2.elements().next())
            .map(|hcl2| hcl2.allow_fs.clone());
        for (block, configured) in blocks.iter_mut().zip(configured) {
            if let (Value::Known(block), Value::Known(configured)) = (block, configured) {
                block.allow_fs = no(&configured.allow_fs, before.as_ref());
            }
        }
    }
}

/// Whether everything that the parser needs is known.
fn text_is_known(object: &JobObject) -> bool {
    let vars = object.vars();
    let blocks_known = object
        .hcl2
        .known()
        .is_none_or(|blocks| blocks.iter().all(|block| !block.is_unknown()));
    !object.jobspec.is_unknown()
        && !object.json.is_unknown()
        && !object.hcl2.is_unknown()
        && blocks_known
        && !vars.is_unknown()
        && vars
            .known()
            .is_none_or(|vars| vars.values().all(|value| !value.is_unknown()))
}

/// The job as Nomad's API takes it, with ID, name, namespace and type filled in.
async fn parse(client: &Client, object: &JobObject, namespace: &str) -> Result<Json, Diagnostic> {
    let jobspec = object.jobspec.as_str().unwrap_or_default();
    let mut job = if object.json.is_true() {
        parse_json(jobspec)?
    } else {
        parse_hcl(client, object, namespace).await?
    };
    let id = text(&job["ID"]).to_owned();
    if id.is_empty() {
        return Err(Diagnostic::error("The jobspec names no job ID").at("jobspec"));
    }
    for (field, default) in [
        ("Name", id.as_str()),
        ("Namespace", client.namespace()),
        ("Type", "service"),
    ] {
        if text(&job[field]).is_empty() {
            job[field] = Json::from(default);
        }
    }
    Ok(job)
}

fn parse_json(jobspec: &str) -> Result<Json, Diagnostic> {
    let mut parsed: Json = serde_json::from_str(jobspec).map_err(|error| {
        Diagnostic::error("The jobspec is not JSON")
            .detail(error.to_string())
            .at("jobspec")
    })?;
    let job = if parsed["Job"].is_object() {
        parsed["Job"].take()
    } else {
        parsed
    };
    if job.is_object() {
        Ok(job)
    } else {
        Err(Diagnostic::error("The jobspec is not a JSON object").at("jobspec"))
    }
}

async fn parse_hcl(client: &Client, object: &JobObject, namespace: &str) -> Result<Json, Diagnostic> {
    let jobspec = object.jobspec.as_str().unwrap_or_default();
    let declared = job_variables::declared(jobspec);
    let vars = object.vars();
    // Nomad ignores a variable that the job does not declare: a misspelt name would go unnoticed.
    if let Some((name, _)) = vars.entries().find(|(name, _)| !declared.contains_key(*name)) {
        let place = [
            Step::Attribute("hcl2"),
            Step::Index(0),
            Step::Attribute("vars"),
            Step::Key(name.clone()),
        ];
        return Err(
            Diagnostic::error(format!("The jobspec declares no variable {name}"))
                .hint(format!("Add to the jobspec: variable \"{name}\" {{}}"))
                .within(place),
        );
    }
    let body = json!({"JobHCL": jobspec, "Variables": job_variables::file(vars.entries(), &declared)});
    let call = Call::put(&["jobs", "parse"], body).namespace(namespace);
    client.ask(call).await.map_err(|error| {
        let diagnostic = error.diagnostic("Nomad cannot read the jobspec").at("jobspec");
        if error.says("Permission denied") {
            diagnostic.hint(format!(
                "The provider asked Nomad to read the job in namespace {namespace}; NOMAD_NAMESPACE sets it"
            ))
        } else {
            diagnostic
        }
    })
}

async fn ask_plan(client: &Client, job: &Json, object: &JobObject) -> Result<Json, ApiError> {
    let body = json!({"Job": job, "Diff": true, "PolicyOverride": object.policy_override.is_true()});
    let call = Call::put(&["job", text(&job["ID"]), "plan"], body).namespace(text(&job["Namespace"]));
    client.ask(call).await
}

/// Warnings do not point at `jobspec`: Terraform would print the whole text above each of them.
fn plan_warnings(id: &str, plan: &Json, job: &Json) -> Diagnostics {
    let mut warnings = Vec::new();
    let words = text(&plan["Warnings"]);
    if !words.is_empty() {
        warnings.push(Diagnostic::warning(format!("Nomad warns about job {id}")).detail(words));
    }
    let failed = &plan["FailedTGAllocs"];
    let reasons = placement::reasons(failed, job);
    if !reasons.is_empty() && !placement::only_volumes_are_missing(failed) {
        warnings.push(
            Diagnostic::warning(format!("Nomad could not place job {id} now")).detail(reasons.join("\n")),
        );
    }
    warnings
}

fn drift(id: &str, diff: &Json) -> Diagnostic {
    Diagnostic::warning(format!("Job {id} was changed outside of Terraform")).detail(format!(
        "In Nomad now -> after the apply:\n{}",
        job_diff::changes(diff).join("\n")
    ))
}

/// A warning if the ID is taken. Whether by a job that the Terraform state holds (as tainted, say) cannot be
/// seen from here.
async fn taken_over(client: &Client, namespace: &str, id: &str) -> Result<Option<Diagnostic>, Diagnostic> {
    let found = client.find(Call::get(&["job", id]).namespace(namespace)).await;
    let found = found.map_err(|error| error.diagnostic(format!("Job {id} cannot be read")))?;
    Ok(found.filter(|job| job["Stop"] != Json::Bool(true)).map(|_| {
        Diagnostic::warning(format!("Job {id} exists in namespace {namespace} already"))
            .detail("If it is not in the Terraform state yet, the apply takes it over.")
            .hint(format!(
                "To look first: terraform import ADDRESS {id}@{namespace}"
            ))
    }))
}

/// Registers the job and waits for it unless told not to. Once it is registered, even a failure answers the
/// object, so that the job is in the Terraform state.
async fn register(
    context: &Context<'_, Client>,
    prior: Option<JobObject>,
    planned: JobObject,
) -> Outcome<JobObject> {
    let client = context.client;
    let place = prior
        .as_ref()
        .and_then(|prior| prior.namespace.as_str())
        .unwrap_or(client.namespace());
    let job = parse(client, &planned, place).await?;
    let mut object = planned;
    object.take_identity(&job);
    let id = text(&job["ID"]);
    let namespace = text(&job["Namespace"]);

    if let Some(prior) = &prior {
        make_way(client, prior, &object).await?;
    }
    let format = if object.json.is_true() { "json" } else { "hcl2" };
    let vars = object.vars();
    let variables: serde_json::Map<_, _> = vars
        .entries()
        .map(|(name, value)| (name.clone(), Json::from(value.as_str())))
        .collect();
    let body = json!({
        "Job": job,
        "PolicyOverride": object.policy_override.is_true(),
        // What `terraform import`, `nomad job inspect` and Nomad's own page show as the source.
        "Submission": {"Source": object.jobspec.as_str(), "Format": format, "VariableFlags": variables},
    });
    let call = Call::put(&["jobs"], body).namespace(namespace);
    let registered = client
        .ask(call)
        .await
        .map_err(|error| error.diagnostic(format!("Nomad refuses job {id}")).at("jobspec"))?;

    let mut diagnostics = Vec::new();
    let evaluation = text(&registered["EvalID"]);
    // A periodic or parameterized job is not evaluated before it is launched.
    if object.detach.known() == Some(&false) && !evaluation.is_empty() {
        let patience = patience(&object, prior.is_none());
        let rollout = Rollout {
            client,
            stop: context.stop.clone(),
            namespace,
            id,
            job: &job,
            patience,
        };
        match rollout.finish(evaluation).await {
            Ok(warning) => diagnostics.extend(warning),
            Err(error) => diagnostics.push(error),
        }
    }
    match refresh(client, namespace, id, &mut object).await {
        Ok(true) => {}
        Ok(false) => diagnostics.push(Diagnostic::error(format!(
            "Job {id} is gone right after it was registered"
        ))),
        Err(error) => {
            diagnostics.push(error.diagnostic(format!("Job {id} is registered, but cannot be read")))
        }
    }
    if diagnostics.iter().any(Diagnostic::is_error) {
        Err(Failed {
            object: Some(Box::new(object)),
            diagnostics,
        })
    } else {
        Ok(Applied {
            object,
            warnings: diagnostics,
        })
    }
}

/// Stops what stands in the way of the registration: the job under its old ID, or the dead run of a batch
/// job, which Nomad would not repeat while it remembers it.
async fn make_way(client: &Client, prior: &JobObject, object: &JobObject) -> Result<(), Diagnostic> {
    let cannot_stop = |error: ApiError| {
        let id = prior.id.as_str().unwrap_or_default();
        error.diagnostic(format!("Nomad cannot stop the earlier job {id}"))
    };
    if prior.id != object.id || prior.namespace != object.namespace {
        if object.deregister_on_id_change.known() != Some(&false) {
            deregister(client, prior).await.map_err(cannot_stop)?;
        }
    } else if object.rerun_if_dead.is_true()
        && prior.status.as_str() == Some("dead")
        && matches!(object.r#type.as_str(), Some("batch" | "sysbatch"))
    {
        let purged = JobObject {
            purge_on_destroy: Value::Known(true),
            ..prior.clone()
        };
        deregister(client, &purged).await.map_err(cannot_stop)?;
    }
    Ok(())
}

async fn deregister(client: &Client, object: &JobObject) -> Result<(), ApiError> {
    let call = Call::delete(&["job", object.id.as_str().unwrap_or_default()])
        .namespace(object.namespace.as_str().unwrap_or(client.namespace()))
        .query("purge", object.purge_on_destroy.is_true().to_string());
    match client.ask(call).await {
        Err(error) if !error.is_not_found() => Err(error),
        _ => Ok(()),
    }
}

fn patience(object: &JobObject, create: bool) -> Duration {
    let timeouts = object.timeouts.known();
    let chosen = timeouts.map(|timeouts| {
        if create {
            &timeouts.create
        } else {
            &timeouts.update
        }
    });
    chosen
        .and_then(|text| duration::parse(text.as_str()?))
        .unwrap_or(PATIENCE)
}

/// Reads what Nomad has into the object; answers false if the job is gone.
async fn refresh(
    client: &Client,
    namespace: &str,
    id: &str,
    object: &mut JobObject,
) -> Result<bool, ApiError> {
    let Some(job) = client.find(Call::get(&["job", id]).namespace(namespace)).await? else {
        return Ok(false);
    };
    let deployment = client
        .find(Call::get(&["job", id, "deployment"]).namespace(namespace))
        .await?;
    object.take_identity(&job);
    object.region = Value::from(text(&job["Region"]));
    object.datacenters = Value::from_members(texts(&job["Datacenters"]));
    object.status = Value::from(text(&job["Status"]));
    // Not ModifyIndex: that one moves with the status, too.
    object.modify_index = Value::Known(job["JobModifyIndex"].to_string());
    object.deployment_id = deployment
        .as_ref()
        .map(|found| text(&found["ID"]).to_owned())
        .into();
    object.deployment_status = deployment
        .as_ref()
        .map(|found| text(&found["Status"]).to_owned())
        .into();
    object.task_groups = Value::from_elements(list(&job["TaskGroups"]).map(task_group));
    object.allocation_ids = allocation_ids(client, namespace, id, object).await?;
    Ok(true)
}

async fn allocation_ids(
    client: &Client,
    namespace: &str,
    id: &str,
    object: &JobObject,
) -> Result<Value<List<String>>, ApiError> {
    if !object.read_allocation_ids.is_true() {
        return Ok(Value::from_elements([]));
    }
    let allocations = client
        .ask(Call::get(&["job", id, "allocations"]).namespace(namespace))
        .await?;
    Ok(Value::from_elements(
        list(&allocations).map(|allocation| text(&allocation["ID"]).to_owned()),
    ))
}

/// The text that the job was registered from, as far as Nomad kept it.
async fn restore_text(
    client: &Client,
    namespace: &str,
    id: &str,
    object: &mut JobObject,
) -> Result<(), ApiError> {
    let job = client.ask(Call::get(&["job", id]).namespace(namespace)).await?;
    let call = Call::get(&["job", id, "submission"])
        .namespace(namespace)
        .query("version", job["Version"].to_string());
    object.hcl2 = Value::from_elements([]);
    let Some(submission) = client.find(call).await? else {
        return Ok(());
    };
    object.jobspec = Value::from(text(&submission["Source"]));
    if text(&submission["Format"]) == "json" {
        object.json = Value::Known(true);
    }
    let vars = strings(&submission["VariableFlags"]);
    if !vars.is_empty() {
        object.hcl2 = Value::from_elements([Hcl2 {
            allow_fs: Value::Null,
            vars: Value::from_entries(vars),
        }]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nomad::job_object::Timeouts;
    use crate::value::Shape;

    #[test]
    fn schema_and_object_have_the_same_shape() {
        assert_eq!(Job.schema().shape(), JobObject::shape());
    }

    #[test]
    fn allow_fs_hcl2_with_json_and_bad_timeouts_are_refused() {
        let hcl2 = Hcl2 {
            allow_fs: Value::Known(true),
            vars: Value::from_entries([("a b".to_owned(), String::new())]),
        };
        let config = JobObject {
            hcl2: Value::from_elements([hcl2]),
            json: Value::Known(true),
            timeouts: Value::Known(Timeouts {
                create: Value::from("soon"),
                update: Value::from("5m"),
            }),
            ..JobObject::default()
        };
        let found: Vec<String> = Job.validate(&config).iter().map(Diagnostic::text).collect();
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(Job.validate(&JobObject::default()).is_empty());
    }

    #[test]
    fn a_flag_taken_out_of_the_configuration_falls_back_to_its_default() {
        let prior = JobObject {
            detach: Value::Known(false),
            purge_on_destroy: Value::Known(true),
            json: Value::Known(false),
            ..JobObject::default()
        };
        let mut object = prior.clone();
        fill_flags(&mut object, &JobObject::default(), Some(&prior));
        assert_eq!(object.detach, Value::Known(true));
        assert_eq!(object.purge_on_destroy, Value::Null);
        assert_eq!(
            object.json,
            Value::Known(false),
            "the Terraform state of another provider stays as it is"
        );
    }

    #[test]
    fn an_unknown_variable_makes_the_text_unknown() {
        let with = |vars| JobObject {
            jobspec: Value::from("job"),
            hcl2: Value::from_elements([Hcl2 {
                vars,
                ..Hcl2::default()
            }]),
            ..JobObject::default()
        };
        assert!(text_is_known(&with(Value::Null)));
        assert!(!text_is_known(&with(Value::Unknown)));
        assert!(!text_is_known(&with(Value::Known(Map::from([(
            "a".to_owned(),
            Value::Unknown
        )])))));
        assert!(!text_is_known(&JobObject {
            jobspec: Value::Unknown,
            ..JobObject::default()
        }));
    }

    #[test]
    fn a_json_job_may_be_wrapped() {
        assert_eq!(parse_json(r#"{"Job": {"ID": "a"}}"#).expect("wrapped")["ID"], "a");
        assert_eq!(parse_json(r#"{"ID": "a"}"#).expect("bare")["ID"], "a");
        assert!(parse_json("[]").is_err());
    }

    #[test]
    fn the_timeout_of_the_right_operation_counts() {
        let timeouts = Timeouts {
            create: Value::from("1m"),
            update: Value::Null,
        };
        let object = JobObject {
            timeouts: Value::Known(timeouts),
            ..JobObject::default()
        };
        assert_eq!(patience(&object, true), Duration::from_secs(60));
        assert_eq!(patience(&object, false), PATIENCE);
    }
}
