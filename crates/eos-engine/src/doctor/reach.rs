//! What may be done with secrets: a person's token uses the person's own place, and the control minion moves them.

use std::time::Duration;

use eos_core::lowered::secret_path;
use serde_json::json;

use super::{Area, Condition, Examination, Finding, words_of};
use crate::error::{EngineError, ErrorKind, Layer};
use crate::salt::SaltClient;
use crate::secrets::{APART, SecretPath, Secrets, forgetting, seen_in};

/// Nothing is ever there: only the refusal counts.
const PROBE: &str = "doctor";

#[derive(Debug, PartialEq, Eq)]
enum Reach {
    Own,
    /// Not even the person's own place.
    Nothing,
    /// Also this place, which is a component's or the control minion's.
    More(String),
}

impl Examination<'_> {
    /// Of the engine that keeps the secrets.
    pub(super) async fn reach(&self, area: Area, secrets: &impl Secrets, address: &str) -> Finding {
        let layer = secrets.layer();
        let user = &self.endpoints.salt.user;
        let settings = &self.expected.estate.settings;
        let component = secret_path(settings.profile, &settings.environment, PROBE);
        let look = look(secrets, user, &settings.environment, &component);
        match self.in_time(layer, address, look).await {
            Ok(reach) => finding(area, layer, user, &reach, &self.token(layer)),
            Err(error) => self.failed(area, "secrets", &error),
        }
    }
}

impl Examination<'_> {
    /// Whether the control minion moves secrets for this user: it looks for those of nothing. Nothing of one that is silent, or
    /// whose engine is: another finding tells of that.
    pub(super) async fn moves(&self, client: &SaltClient, patience: Duration) -> Option<Finding> {
        let control = &self.endpoints.control;
        let name = format!("{}/{PROBE}", self.expected.estate.settings.environment);
        let observe = json!({"parts": {"secret": {name: null}}});
        let (forgot, observed) = tokio::join!(
            client.call(control, "eos.act", forgetting(PROBE), patience),
            client.call(control, "eos.observe", observe, patience)
        );
        match forgot.and(observed).and_then(|answer| seen_in(&answer)) {
            Ok(_) => Some(Finding::ok(
                Area::Salt,
                "secrets",
                "the control minion moves them",
            )),
            Err(error) if matches!(error.kind, ErrorKind::Unreachable | ErrorKind::Timeout) => None,
            Err(error) => {
                let (words, mend) = (words_of(&error), self.let_move(&error));
                Some(Finding::not_ok(
                    Area::Salt,
                    "secrets",
                    Condition::Broken,
                    words,
                    mend,
                ))
            }
        }
    }
}

async fn look(
    secrets: &impl Secrets,
    user: &str,
    environment: &str,
    component: &str,
) -> Result<Reach, EngineError> {
    let own = format!("eos_users/{user}/{PROBE}");
    if !may_read(secrets, APART, &own).await? {
        return Ok(Reach::Nothing);
    }
    let kept = format!("eos_kept/{PROBE}");
    for (namespace, path) in [(environment, component), (APART, kept.as_str())] {
        if may_read(secrets, namespace, path).await? {
            return Ok(Reach::More(path.to_owned()));
        }
    }
    Ok(Reach::Own)
}

async fn may_read(secrets: &impl Secrets, namespace: &str, path: &str) -> Result<bool, EngineError> {
    match secrets.entry(SecretPath { namespace, path }).await {
        Err(error) if error.kind == ErrorKind::Refused => Ok(false),
        answer => answer.map(|_| true),
    }
}

fn finding(area: Area, layer: Layer, user: &str, reach: &Reach, mend: &str) -> Finding {
    let (condition, words) = match reach {
        Reach::Own => {
            let words = format!("{user} reads values in a place of its own, and nowhere else");
            return Finding::ok(area, "secrets", words);
        }
        Reach::Nothing => (
            Condition::Broken,
            format!("the token for {} may not use eos_users/{user}/", layer.name()),
        ),
        Reach::More(path) => (
            Condition::Limited,
            format!("the token of {user} is too wide: it reads {path} past the role"),
        ),
    };
    Finding::not_ok(area, "secrets", condition, words, mend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_reads_more_is_named() {
        let found = |reach| finding(Area::Nomad, Layer::Nomad, "eve", &reach, "mend");
        assert_eq!(found(Reach::Own).condition, Condition::Ok);
        assert_eq!(found(Reach::Nothing).condition, Condition::Broken);
        let wide = found(Reach::More("nomad/jobs/doctor".to_owned()));
        assert_eq!(wide.condition, Condition::Limited);
        assert_eq!(
            wide.words,
            "the token of eve is too wide: it reads nomad/jobs/doctor past the role"
        );
    }
}
