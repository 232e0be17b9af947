//! Prometheus's HTTP API: what it asks for metrics, and which alerts it has, as it says itself.

use std::collections::BTreeMap;
use std::time::Duration;

use eos_core::lowered::Lowered;
use eos_core::option::milliseconds;
use eos_core::passes::monitoring::Alert;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::Sight;
use crate::discovery::Instance;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::http::{self, read_json};

const ANSWER: Duration = Duration::from_secs(10);

/// Something that Prometheus asks for metrics.
#[derive(Debug, Clone, Deserialize)]
pub struct Target {
    pub labels: BTreeMap<String, String>,
    /// `up`, `down`, or `unknown` where it was not asked yet.
    pub health: String,
    #[serde(rename = "lastError")]
    pub last_error: String,
}

/// An alert that Prometheus has loaded.
#[derive(Debug, Clone, Deserialize)]
pub struct Rule {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    /// Seconds that it must be so before it fires.
    pub duration: f64,
    /// `ok`, `err`, or `unknown` where it was not evaluated yet.
    pub health: String,
    #[serde(rename = "lastError", default)]
    pub last_error: String,
    /// `inactive`, `pending` or `firing`.
    pub state: String,
}

#[derive(Deserialize)]
struct Answered<T> {
    data: T,
}

#[derive(Deserialize)]
struct Targets {
    #[serde(rename = "activeTargets")]
    active: Vec<Target>,
}

#[derive(Deserialize)]
struct Groups {
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    name: String,
    rules: Vec<Rule>,
}

pub struct PrometheusClient {
    http: reqwest::Client,
    address: String,
}

impl PrometheusClient {
    pub fn new(address: &str) -> Result<Self, EngineError> {
        Ok(PrometheusClient {
            http: http::client(Layer::Prometheus, None)?,
            address: address.to_owned(),
        })
    }

    /// What it asks of an environment's components.
    pub async fn targets(&self, environment: &str) -> Result<Vec<Target>, EngineError> {
        let mut found: Targets = self.get("targets", "/api/v1/targets?state=active").await?;
        found
            .active
            .retain(|target| target.label("environment") == Some(environment));
        Ok(found.active)
    }

    /// The alerts of one group; none, if it has no such group.
    pub async fn rules(&self, group: &str) -> Result<Vec<Rule>, EngineError> {
        let found: Groups = self.get("rules", "/api/v1/rules?type=alert").await?;
        let groups = found.groups.into_iter().filter(|found| found.name == group);
        Ok(groups.flat_map(|group| group.rules).collect())
    }

    async fn get<T: DeserializeOwned>(&self, object: &str, path: &str) -> Result<T, EngineError> {
        let url = format!("{}{path}", self.address);
        let failed =
            |error: reqwest::Error| http::transport_error(Layer::Prometheus, object, &self.address, &error);
        let response = self.http.get(url).timeout(ANSWER).send().await.map_err(failed)?;
        let status = response.status();
        let text = response.text().await.map_err(failed)?;
        if !status.is_success() {
            let words = format!("{status}: {}", text.trim());
            return Err(EngineError::new(
                Layer::Prometheus,
                ErrorKind::Failed,
                object,
                words,
            ));
        }
        let answered: Answered<T> = read_json(Layer::Prometheus, object, &text)?;
        Ok(answered.data)
    }
}

impl Target {
    fn label(&self, name: &str) -> Option<&str> {
        self.labels.get(name).map(String::as_str)
    }

    pub fn component(&self) -> Option<&str> {
        self.label("component")
    }
}

/// Whether every instance that is registered answers where it is registered now. One that was replaced may still be asked
/// for a moment.
pub(super) fn answering(service: &str, instances: &[Instance], targets: &[Target]) -> Sight {
    if instances.is_empty() {
        return Sight::NotYet(format!("{service} is registered nowhere"));
    }
    let mut seen = Vec::new();
    for Instance { address, port, .. } in instances {
        let at = format!("{address}:{port}");
        let target = targets
            .iter()
            .find(|target| target.label("service") == Some(service) && target.label("instance") == Some(&at));
        match target {
            None => return Sight::NotYet(format!("{at} is not known")),
            Some(target) if target.health != "up" => {
                let why = match target.last_error.as_str() {
                    "" => "not asked yet",
                    error => error,
                };
                return Sight::NotYet(format!("{at} is {}: {why}", target.health));
            }
            Some(target) => seen.push(json!({"instance": at, "health": target.health})),
        }
    }
    Sight::So(json!({"service": service, "targets": seen}))
}

/// Whether the alerts that are loaded are the wanted ones, and can be evaluated. What an alert asks for is printed by
/// Prometheus in a form of its own; its summary says the same in words.
pub(super) fn loaded(component: &Lowered, rules: &[Rule]) -> Sight {
    let wanted = component.alerts();
    let patience = component
        .patience()
        .and_then(|patience| milliseconds(&patience.value).ok())
        .map(|milliseconds| milliseconds as f64 / 1000.0);
    let fits = |alert: &Alert, rule: &Rule| {
        let labels = rule.labels.iter().map(|(name, value)| (name.as_str(), value));
        alert.name == rule.name
            && patience == Some(rule.duration)
            && rule.annotations.get("summary") == Some(&alert.summary)
            && labels.eq(alert.labels.iter().map(|(name, value)| (*name, value)))
    };
    if let Some(broken) = rules.iter().find(|rule| rule.health == "err") {
        return Sight::NotYet(format!("{} fails: {}", broken.name, broken.last_error));
    }
    let missing = wanted
        .iter()
        .find(|alert| !rules.iter().any(|rule| fits(alert, rule)));
    if let Some(alert) = missing {
        return Sight::NotYet(format!("{} is not loaded as it should be", alert.name));
    }
    if rules.len() != wanted.len() {
        return Sight::NotYet(format!("{} are loaded, not {}", rules.len(), wanted.len()));
    }
    let seen: Vec<_> = rules
        .iter()
        .map(|rule| json!({"alert": rule.name, "health": rule.health, "state": rule.state}))
        .collect();
    Sight::So(json!({"group": component.workspace(), "rules": seen}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use eos_core::catalog::Catalog;
    use eos_core::compile::compile;
    use eos_core::pillar::Pillar;
    use eos_core::profile::Profile;
    use serde_json::Value;

    fn instance(port: u16) -> Instance {
        Instance {
            address: "10.0.0.1".to_owned(),
            port,
            healthy: Some(true),
            node: "control".to_owned(),
            allocation: "8c1f".to_owned(),
            checks: Vec::new(),
        }
    }

    fn target(service: &str, port: u16, health: &str) -> Target {
        let last_error = if health == "down" {
            "connection refused"
        } else {
            ""
        };
        let labels = json!({"service": service, "instance": format!("10.0.0.1:{port}")});
        serde_json::from_value(json!({"labels": labels, "health": health, "lastError": last_error})).unwrap()
    }

    fn found(look: Sight) -> String {
        match look {
            Sight::So(_) => "so".to_owned(),
            Sight::NotYet(words) => words,
        }
    }

    #[test]
    fn every_registered_instance_must_answer_where_it_is_now() {
        let up = target("hello", 1, "up");
        let cases = [
            (vec![], vec![], "hello is registered nowhere"),
            (vec![1], vec![], "10.0.0.1:1 is not known"),
            (vec![1], vec![target("other", 1, "up")], "10.0.0.1:1 is not known"),
            (
                vec![1],
                vec![target("hello", 1, "unknown")],
                "10.0.0.1:1 is unknown: not asked yet",
            ),
            (
                vec![1],
                vec![target("hello", 1, "down")],
                "10.0.0.1:1 is down: connection refused",
            ),
            (vec![1], vec![up.clone()], "so"),
            // One that was replaced is asked for a moment longer.
            (vec![1], vec![up.clone(), target("hello", 9, "down")], "so"),
            (vec![1, 2], vec![up], "10.0.0.1:2 is not known"),
        ];
        for (ports, targets, expected) in cases {
            let instances: Vec<Instance> = ports.into_iter().map(instance).collect();
            assert_eq!(found(answering("hello", &instances, &targets)), expected);
        }
    }

    #[test]
    fn rules_are_loaded_only_as_they_are_wanted() {
        let files = [
            (
                "common",
                "hosts: {control: {address: 10.0.0.1, roles: [client, control]}}",
            ),
            (
                "production",
                "components: {hello: {}, prometheus: {options: {alert_after: 90s}}}",
            ),
        ];
        let files = files.map(|(name, text)| {
            let text = format!("#!yaml\n{text}\n").into_bytes();
            (format!("pillar/infrastructure/{name}.sls"), text)
        });
        let pillar = Pillar::read(&files.into()).unwrap();
        let compilation = compile(&pillar, &Catalog::load(&[]).unwrap(), Profile::Solo).unwrap();
        let component = compilation.component("production", "hello").unwrap();
        let wanted = || -> Vec<Value> {
            let rule = |alert: Alert| {
                json!({"name": alert.name, "labels": alert.labels, "annotations": {"summary": alert.summary},
                    "duration": 90, "health": "ok", "state": "inactive"})
            };
            component.alerts().into_iter().map(rule).collect()
        };
        let look = |rules: Vec<Value>| {
            let rules: Vec<Rule> = serde_json::from_value(rules.into()).unwrap();
            found(loaded(component, &rules))
        };
        let with = |name: &str, value: Value| {
            let mut rules = wanted();
            rules[0][name] = value;
            look(rules)
        };
        assert_eq!(look(wanted()), "so");
        assert_eq!(look(Vec::new()), "InstanceDown is not loaded as it should be");
        assert_eq!(
            with("duration", 60.into()),
            "InstanceDown is not loaded as it should be"
        );
        assert_eq!(
            with("labels", json!({"severity": "warning"})),
            "InstanceDown is not loaded as it should be"
        );
        assert!(with("health", "err".into()).starts_with("InstanceDown fails"));
        let more = wanted().into_iter().chain([wanted().remove(0)]).collect();
        assert_eq!(look(more), "3 are loaded, not 2");
    }
}
