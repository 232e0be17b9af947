//! Salt: every minion that the master knows, asked in one call.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use super::{LOOK, Seen, Trouble, counted};
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind};

/// Seconds until the master looks whether a silent minion still works, and for that look.
const MINION_WAIT: u64 = 3;
const ANSWER: Duration = Duration::from_secs(11);

#[derive(Debug, Clone, Serialize)]
pub struct SaltSeen {
    pub minions: Vec<MinionStatus>,
}

#[derive(Debug, Clone, Serialize)]
pub struct MinionStatus {
    pub minion: String,
    pub answers: bool,
    /// Of Salt.
    pub version: Option<String>,
    /// What it is served.
    pub release: Option<String>,
    /// Why it does not answer as it should.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
}

pub(super) async fn ask(engines: &Engines) -> Result<SaltSeen, EngineError> {
    let answers = engines
        .salt
        .call_all("eos.info", json!({}), MINION_WAIT, ANSWER)
        .await?;
    Ok(read(answers, &engines.endpoints.control))
}

fn read(answers: BTreeMap<String, Result<Value, EngineError>>, control: &str) -> SaltSeen {
    let row = |(minion, answer): (String, Result<Value, EngineError>)| {
        let text = |info: &Value, name: &str| info.get(name).and_then(Value::as_str).map(str::to_owned);
        match answer {
            Ok(info) => MinionStatus {
                minion,
                answers: true,
                version: text(&info, "version"),
                release: text(&info, "release"),
                words: None,
            },
            Err(error) => MinionStatus {
                minion,
                answers: false,
                version: None,
                release: None,
                words: Some(match error.kind {
                    ErrorKind::Unreachable | ErrorKind::Timeout => "it does not answer".to_owned(),
                    _ => error.words,
                }),
            },
        }
    };
    let is_known = answers.contains_key(control);
    let mut minions: Vec<MinionStatus> = answers.into_iter().map(row).collect();
    if !is_known {
        minions.push(MinionStatus {
            minion: control.to_owned(),
            answers: false,
            version: None,
            release: None,
            words: Some("Salt's master does not know it".to_owned()),
        });
    }
    SaltSeen { minions }
}

impl Seen for SaltSeen {
    fn words(&self) -> String {
        let answering = self.minions.iter().filter(|minion| minion.answers).count();
        format!("{answering} of {}", counted(self.minions.len(), "minion"))
    }

    fn troubles(&self) -> Vec<Trouble> {
        let trouble = |minion: &MinionStatus| {
            let words = minion.words.as_ref()?;
            Some(Trouble::new(format!("minion {}", minion.minion), words, LOOK))
        };
        self.minions.iter().filter_map(trouble).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::Layer;

    #[test]
    fn a_minion_that_is_silent_or_unknown_is_a_row_and_a_trouble() {
        let silent = EngineError::new(Layer::Salt, ErrorKind::Unreachable, "eos.info", "no response");
        let answers = BTreeMap::from([
            (
                "node1".to_owned(),
                Ok(json!({"version": "3008.3", "release": null})),
            ),
            ("node2".to_owned(), Err(silent)),
        ]);
        let seen = read(answers, "control");
        assert_eq!(seen.words(), "1 of 3 minions");
        let troubles: Vec<String> = seen.troubles().into_iter().map(|one| one.about).collect();
        assert_eq!(troubles, ["minion node2", "minion control"]);
    }
}
