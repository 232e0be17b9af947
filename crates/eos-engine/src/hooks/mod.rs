//! Hooks: what is done for a component once it is healthy, in a system beside the engines, and read back from there.
//!
//! A hook is a thing that such a system is to know of a component, or is to know no longer. Salt, or the component's own
//! registration, makes it so; a hook only looks, until it is so or the time is over. There are two kinds, each in both
//! directions: Prometheus gets answers from an instance (`Target`), and has a component's alert rules loaded (`Rules`).
//!
//! A hook that does not come to be fails the operation at its step, which is then taken back like any other: a component
//! that nobody watches, though the estate says that somebody does, is no success. One thing is let pass, and said: where
//! something is to be watched no longer, by a Prometheus that is registered nowhere. Nobody watches then, and it will read
//! what there is to read when it starts. One that is registered and silent is waited for.

pub mod prometheus;

use std::time::{Duration, Instant};

use eos_core::lowered::{Lowered, Monitor};
use serde_json::{Value, json};

use crate::discovery::{Discovery, Instance};
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use prometheus::PrometheusClient;

/// Longer than Nomad takes to write down a new address, and Prometheus to ask there for the first time.
const SETTLED: Duration = Duration::from_secs(90);
const LOOK: Duration = Duration::from_millis(500);

/// What Prometheus is to know of a component, or to know no longer.
pub enum Hook<'a> {
    /// It gets answers from every instance of a service.
    Target { service: &'a str },
    /// It has the component's alerts loaded, and nothing is wrong with them.
    Rules { component: &'a Lowered },
    /// It asks nothing of the component.
    NoTarget { component: &'a str },
    /// It has no alerts of the component.
    NoRules { component: &'a str },
}

/// What was seen when a hook looked.
enum Sight {
    So(Value),
    /// Not yet, and what is there instead.
    NotYet(String),
}

/// The monitor of an environment, as it is found to run.
pub struct Monitored<'a> {
    pub engines: &'a Engines,
    pub environment: &'a str,
    pub monitor: &'a Monitor,
}

impl Monitored<'_> {
    /// Waits until all hooks are so; gives what was seen of each.
    pub async fn settle(
        &self,
        hooks: &[Hook<'_>],
        progress: &mut dyn FnMut(&str),
    ) -> Result<Vec<Value>, EngineError> {
        let ends = Instant::now() + SETTLED;
        let mut seen = Vec::new();
        for hook in hooks {
            loop {
                let found = match self.look(hook).await? {
                    Sight::So(value) => {
                        seen.push(value);
                        break;
                    }
                    Sight::NotYet(found) => found,
                };
                if Instant::now() > ends {
                    let name = hook.name();
                    return Err(
                        EngineError::new(Layer::Prometheus, ErrorKind::Timeout, name, found).with_hint(
                            format!(
                                "`eos logs {}` shows its log; `eos status` shows the components",
                                self.monitor.component
                            ),
                        ),
                    );
                }
                progress(&format!("{}: {found}", hook.name()));
                tokio::time::sleep(LOOK).await;
            }
        }
        Ok(seen)
    }

    async fn look(&self, hook: &Hook<'_>) -> Result<Sight, EngineError> {
        let gone = matches!(hook, Hook::NoTarget { .. } | Hook::NoRules { .. });
        let Some(instance) = self.instances(&self.monitor.service).await?.into_iter().next() else {
            return Ok(match gone {
                true => Sight::So(json!({"monitor": null})),
                false => Sight::NotYet(format!("{} is registered nowhere", self.monitor.service)),
            });
        };
        let address = format!("http://{}:{}", instance.address, instance.port);
        unless_silent(self.ask(&PrometheusClient::new(&address)?, hook).await)
    }

    async fn ask(&self, prometheus: &PrometheusClient, hook: &Hook<'_>) -> Result<Sight, EngineError> {
        let environment = self.environment;
        Ok(match hook {
            Hook::Target { service } => {
                let targets = prometheus.targets(environment).await?;
                let instances = self.instances(service).await?;
                prometheus::answering(service, &instances, &targets)
            }
            Hook::Rules { component } => {
                prometheus::loaded(component, &prometheus.rules(&component.workspace()).await?)
            }
            Hook::NoTarget { component } => {
                let targets = prometheus.targets(environment).await?;
                let left = targets
                    .iter()
                    .filter(|target| target.component() == Some(component));
                match left.count() {
                    0 => Sight::So(json!({"targets": []})),
                    count => Sight::NotYet(format!("{count} still asked")),
                }
            }
            Hook::NoRules { component } => {
                let group = format!("{environment}/{component}");
                match prometheus.rules(&group).await?.len() {
                    0 => Sight::So(json!({"rules": []})),
                    count => Sight::NotYet(format!("{count} still loaded")),
                }
            }
        })
    }

    async fn instances(&self, service: &str) -> Result<Vec<Instance>, EngineError> {
        let discovery = self.engines.discovery();
        discovery.instances(service, self.environment).await
    }
}

/// A Prometheus that is registered and does not answer is asked again: it starts, hangs, or is about to be replaced. What
/// it has forgotten is unknown.
fn unless_silent(looked: Result<Sight, EngineError>) -> Result<Sight, EngineError> {
    match looked {
        Err(error) if matches!(error.kind, ErrorKind::Unreachable | ErrorKind::Timeout) => {
            Ok(Sight::NotYet(format!("unknown: {}", error.words)))
        }
        looked => looked,
    }
}

impl Hook<'_> {
    /// As progress and errors name it.
    fn name(&self) -> String {
        match self {
            Hook::Target { service } => format!("target {service}"),
            Hook::Rules { component } => format!("rules of {}", component.component),
            Hook::NoTarget { component } => format!("targets of {component}"),
            Hook::NoRules { component } => format!("rules of {component}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_answer_has_forgotten_nothing_that_anybody_knows_of() {
        for kind in [ErrorKind::Unreachable, ErrorKind::Timeout] {
            let silent = EngineError::new(Layer::Prometheus, kind, "targets", "no answer");
            let looked = unless_silent(Err(silent));
            assert!(matches!(looked, Ok(Sight::NotYet(words)) if words == "unknown: no answer"));
        }
        let refused = EngineError::new(Layer::Prometheus, ErrorKind::Failed, "targets", "500");
        assert!(unless_silent(Err(refused)).is_err());
        assert!(matches!(
            unless_silent(Ok(Sight::So(json!({})))),
            Ok(Sight::So(_))
        ));
    }
}
