//! Owns waiting until a registered job is placed and its deployment is healthy, and the report when it is
//! not.

use std::time::Duration;

use serde_json::Value as Json;
use tokio::time::Instant;

use super::client::Client;
use super::placement;
use crate::api::{ApiError, Call, list, text};
use crate::diagnostic::Diagnostic;
use crate::duration;
use crate::provider::Stop;

/// How long one blocking query may hang; an interrupt ends it at once.
const QUERY: Duration = Duration::from_secs(30);
/// Nomad tries again to place what found no place as soon as something is freed; for longer than this it is not
/// waited for.
const PLACING: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_secs(2);
/// How many of a task's last events are shown.
const LAST_EVENTS: usize = 5;

/// One registered job on its way to being healthy.
pub struct Rollout<'a> {
    pub client: &'a Client,
    pub stop: Stop,
    pub namespace: &'a str,
    pub id: &'a str,
    /// The registered job; it names the drivers when placing fails.
    pub job: &'a Json,
    pub patience: Duration,
}

/// Why a wait ended without what was waited for.
enum Cut {
    Interrupted,
    TimedOut,
    /// The groups that found no place, each with Nomad's reasons.
    Unplaced(Json),
    Refused(ApiError),
}

impl From<ApiError> for Cut {
    fn from(error: ApiError) -> Self {
        Cut::Refused(error)
    }
}

impl Rollout<'_> {
    /// Waits for the evaluation and the deployment it made. Answers a warning if a person must act.
    pub async fn finish(&self, evaluation: &str) -> Result<Option<Diagnostic>, Diagnostic> {
        let deadline = Instant::now() + self.patience;
        let evaluation = match self.evaluated(evaluation, deadline).await {
            Ok(evaluation) => evaluation,
            Err(cut) => return Err(self.cut("placed", cut, None).await),
        };
        if text(&evaluation["Status"]) != "complete" {
            return Err(
                Diagnostic::error(format!("Nomad's evaluation of job {} did not complete", self.id)).detail(
                    format!(
                        "nomad: {} {}",
                        text(&evaluation["Status"]),
                        text(&evaluation["StatusDescription"])
                    ),
                ),
            );
        }
        let deployment = match self.deployment_of(&evaluation).await {
            Ok(Some(deployment)) => deployment,
            // Batch jobs, and jobs whose update strategy is switched off, have none.
            Ok(None) => {
                return match self.placed().await {
                    Ok(()) => Ok(None),
                    Err(cut) => Err(self.cut("placed", cut, None).await),
                };
            }
            Err(error) => return Err(self.cut("healthy", Cut::Refused(error), None).await),
        };
        let deployed = tokio::select! {
            deployed = self.deployed(&deployment, deadline) => deployed,
            // Nomad itself would wait for a place until the deployment is over, or for ever.
            cut = self.unplaced() => Err(cut),
        };
        match deployed {
            Ok(deployed) => {
                self.reverted(&deployment, &deployed, deadline).await;
                self.judge(&deployment, &deployed).await
            }
            Err(cut) => Err(self.cut("healthy", cut, Some(&deployment)).await),
        }
    }

    /// Ends when something of the job has found no place for too long, or that cannot be read.
    async fn unplaced(&self) -> Cut {
        let mut since = None;
        loop {
            match self.blocked().await {
                Err(error) => return Cut::Refused(error),
                Ok(None) => since = None,
                Ok(Some(groups)) => {
                    if since.get_or_insert_with(Instant::now).elapsed() >= PLACING {
                        return Cut::Unplaced(groups);
                    }
                }
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Waits until nothing of the job waits for a place.
    async fn placed(&self) -> Result<(), Cut> {
        let begun = Instant::now();
        while let Some(groups) = self.blocked().await? {
            if begun.elapsed() >= PLACING {
                return Err(Cut::Unplaced(groups));
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = self.stop.requested() => return Err(Cut::Interrupted),
            }
        }
        Ok(())
    }

    /// The groups that Nomad would place now and cannot.
    async fn blocked(&self) -> Result<Option<Json>, ApiError> {
        let call = Call::get(&["job", self.id, "evaluations"]).namespace(self.namespace);
        let evaluations = self.client.ask(call).await?;
        let blocked = list(&evaluations).find(|evaluation| text(&evaluation["Status"]) == "blocked");
        Ok(blocked.map(|evaluation| evaluation["FailedTGAllocs"].clone()))
    }

    async fn evaluated(&self, evaluation: &str, deadline: Instant) -> Result<Json, Cut> {
        self.until(&["evaluation", evaluation], deadline, |answer| {
            text(&answer["Status"]) != "pending"
        })
        .await
    }

    async fn deployed(&self, deployment: &str, deadline: Instant) -> Result<Json, Cut> {
        self.until(&["deployment", deployment], deadline, is_settled)
            .await
    }

    /// The deployment of the job's current version: a registration that changed nothing makes none, but an
    /// earlier one may still run, or have failed.
    async fn deployment_of(&self, evaluation: &Json) -> Result<Option<String>, ApiError> {
        let named = text(&evaluation["DeploymentID"]);
        if !named.is_empty() {
            return Ok(Some(named.to_owned()));
        }
        let get = |path| self.client.find(Call::get(path).namespace(self.namespace));
        let (Some(latest), Some(job)) = (
            get(&["job", self.id, "deployment"]).await?,
            get(&["job", self.id]).await?,
        ) else {
            return Ok(None);
        };
        let current =
            latest["JobVersion"] == job["Version"] && latest["JobCreateIndex"] == job["CreateIndex"];
        Ok(current.then(|| text(&latest["ID"]).to_owned()))
    }

    /// Waits until Nomad's own way back from a failed deployment has settled, one way or the other. Whoever answers the
    /// failure registers the job again; while instances start, that would leave them without a verdict on their health.
    async fn reverted(&self, id: &str, deployment: &Json, deadline: Instant) {
        if text(&deployment["Status"]) != "failed" {
            return;
        }
        loop {
            match self.reverting(id, deployment).await {
                // What cannot be read is not waited for: the failure is what matters.
                Ok(false) | Err(_) => return,
                Ok(true) => tokio::select! {
                    () = tokio::time::sleep(LOOK) => {}
                    () = self.stop.requested() => return,
                    () = tokio::time::sleep_until(deadline) => return,
                },
            }
        }
    }

    /// Whether Nomad put another version in the place of the failed one, and is not done with it.
    async fn reverting(&self, id: &str, deployment: &Json) -> Result<bool, ApiError> {
        let get = |path| self.client.find(Call::get(path).namespace(self.namespace));
        let (Some(job), Some(latest), Some(evaluations)) = (
            get(&["job", self.id]).await?,
            get(&["job", self.id, "deployment"]).await?,
            get(&["job", self.id, "evaluations"]).await?,
        ) else {
            return Ok(false);
        };
        if job["Version"] == deployment["JobVersion"] {
            return Ok(false);
        }
        // Its evaluation may still have to make the deployment, or have found nothing to deploy.
        Ok(if text(&latest["ID"]) == id {
            list(&evaluations).any(|evaluation| text(&evaluation["Status"]) == "pending")
        } else {
            !is_settled(&latest)
        })
    }

    async fn judge(&self, id: &str, deployment: &Json) -> Result<Option<Diagnostic>, Diagnostic> {
        match text(&deployment["Status"]) {
            "successful" => Ok(None),
            _ if waits_for_a_person(deployment) => {
                let warning = Diagnostic::warning(format!("Job {} waits for a promotion", self.id));
                Ok(Some(
                    warning
                        .detail(format!("nomad: {}", text(&deployment["StatusDescription"])))
                        .hint(format!(
                            "Look at the canaries, then: nomad deployment promote {id}"
                        )),
                ))
            }
            status => Err(
                Diagnostic::error(format!("Deployment of job {} ended {status}", self.id))
                    .detail(format!(
                        "nomad: {} (deployment {id})",
                        text(&deployment["StatusDescription"])
                    ))
                    .detail(self.report(id).await),
            ),
        }
    }

    /// What to say when the job is not known to be `goal`.
    async fn cut(&self, goal: &str, cut: Cut, deployment: Option<&str>) -> Diagnostic {
        let id = self.id;
        let kept = "The job is registered and stays in the Terraform state";
        match cut {
            Cut::Interrupted => {
                Diagnostic::error(format!("Interrupted before job {id} was {goal}")).hint(kept)
            }
            Cut::Unplaced(groups) => Diagnostic::error(format!("Nomad cannot place job {id}"))
                .detail(placement::reasons(&groups, self.job).join("\n"))
                .hint("Ask for less, or add a node that offers it; the job is registered and waits"),
            Cut::Refused(error) => error
                .diagnostic(format!("Nomad does not report whether job {id} is {goal}"))
                .hint(kept),
            Cut::TimedOut => {
                let late = Diagnostic::error(format!(
                    "Job {id} was not {goal} within {}",
                    duration::show(self.patience)
                ));
                let late = match deployment {
                    Some(deployment) => late.detail(self.report(deployment).await),
                    None => late,
                };
                late.hint(format!("{kept}; a `timeouts` block sets how long to wait"))
            }
        }
    }

    /// Asks again and again, each time until something changed, for an answer that satisfies `settled`.
    async fn until(
        &self,
        path: &[&str],
        deadline: Instant,
        settled: impl Fn(&Json) -> bool,
    ) -> Result<Json, Cut> {
        let mut index = 0;
        loop {
            let wait = QUERY.min(deadline.saturating_duration_since(Instant::now()));
            let call = Call::get(path).namespace(self.namespace).newer_than(index, wait);
            let (answer, next) = tokio::select! {
                answer = self.client.ask_with_index(call) => answer?,
                () = self.stop.requested() => return Err(Cut::Interrupted),
                () = tokio::time::sleep_until(deadline) => return Err(Cut::TimedOut),
            };
            if settled(&answer) {
                return Ok(answer);
            }
            // An index that went back means that the server was restored; then everything is new.
            index = if next < index { 0 } else { next };
        }
    }

    /// What became of the allocations of a deployment that did not succeed: the worst one in full.
    async fn report(&self, deployment: &str) -> String {
        let call = Call::get(&["deployment", "allocations", deployment]).namespace(self.namespace);
        let allocations = match self.client.ask(call).await {
            Ok(allocations) => allocations,
            Err(error) => return format!("Its allocations cannot be read: {error}"),
        };
        let worst = list(&allocations).max_by_key(|allocation| {
            let failed = text(&allocation["ClientStatus"]) == "failed";
            let unhealthy = allocation["DeploymentStatus"]["Healthy"] == Json::Bool(false);
            (failed, unhealthy, allocation["ModifyIndex"].as_u64())
        });
        match worst {
            None => "Nomad made no allocation".to_owned(),
            Some(allocation) => describe(allocation),
        }
    }
}

/// What Nomad says of an allocation. What its tasks wrote is left out: it may hold a secret, and what a provider says is
/// kept in many a log.
fn describe(allocation: &Json) -> String {
    let id = text(&allocation["ID"]);
    let mut lines = vec![format!(
        "allocation {id} ({}) on {}",
        text(&allocation["ClientStatus"]),
        text(&allocation["NodeName"])
    )];
    if let Some(tasks) = allocation["TaskStates"].as_object() {
        // A failed task comes first; without one every task may be to blame.
        let some_failed = tasks.values().any(|task| task["Failed"] == Json::Bool(true));
        for (name, task) in tasks {
            if some_failed && task["Failed"] != Json::Bool(true) {
                continue;
            }
            lines.push(format!("task {name}:"));
            let events: Vec<&Json> = list(&task["Events"]).collect();
            for event in events.iter().rev().take(LAST_EVENTS).rev() {
                lines.push(format!(
                    "  {}: {}",
                    text(&event["Type"]),
                    text(&event["DisplayMessage"])
                ));
            }
        }
    }
    lines.push(format!("Its output: nomad alloc logs -stderr {id}"));
    lines.join("\n")
}

fn is_settled(deployment: &Json) -> bool {
    matches!(text(&deployment["Status"]), "successful" | "failed" | "cancelled")
        || waits_for_a_person(deployment)
}

fn waits_for_a_person(deployment: &Json) -> bool {
    text(&deployment["StatusDescription"]).contains("requires manual promotion")
}
