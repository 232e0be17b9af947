//! Monitoring: what can be measured is watched by the Prometheus of its environment, with alerts for what matters most.

use crate::compose::Key;
use crate::diagnostic::Diagnostic;
use crate::expand::Expanded;
use crate::lowered::{Group, Lowered, Monitor, Volume};
use crate::source::{Overruled, Source, Sourced};
use crate::template::Template;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where a monitor reads rules, below the volume that its recipe names. All that is in it is Eos's.
const DIRECTORY: &str = "eos-rules";

/// One alert of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    pub name: &'static str,
    pub expression: String,
    /// Labels that it has beside those of what it was found at.
    pub labels: BTreeMap<&'static str, String>,
    pub summary: String,
}

/// What a component is to others, if its recipe says that it watches them.
pub fn monitor(
    expanded: &Expanded<'_>,
    groups: &[Group],
    volumes: &[Volume],
) -> Result<Option<Arc<Monitor>>, Diagnostic> {
    let Some(monitor) = &expanded.recipe.monitor else {
        return Ok(None);
    };
    let patience = patience(expanded, &monitor.patience)?;
    let front = groups.iter().find(|group| !group.ports.is_empty());
    let port = front.and_then(|group| Some((group, group.ports[0].fixed.as_ref()?)));
    let volume = volumes.iter().find(|volume| volume.need == monitor.rules);
    let (Some((group, port)), Some(volume)) = (port, volume) else {
        let at = &expanded.component.at;
        let name = &expanded.component.name;
        return Err(Diagnostic::new(format!(
            "{name} watches others, and has no port of its host to be asked at"
        ))
        .at(&at.file, at.position)
        .hint("Give its first port a number"));
    };
    Ok(Some(Arc::new(Monitor {
        component: expanded.component.name.clone(),
        service: group.service.clone(),
        host: volume.host.value.clone(),
        port: port.value,
        directory: format!("{}/{DIRECTORY}", volume.path.value),
        user: volume.user.clone(),
        group: volume.group.clone(),
        patience,
    })))
}

/// Others are watched with it, so its source names the component that has the option.
fn patience(expanded: &Expanded<'_>, template: &Template) -> Result<Sourced<String>, Diagnostic> {
    let Sourced { value, from, over } = expanded.text(template)?;
    let mut names = template.names();
    let Some(option) = names.next().filter(|_| names.next().is_none()) else {
        let why = format!("as patient as recipe {} says", expanded.recipe.name);
        return Ok(Sourced::new(value, Source::pass("monitoring", why)));
    };
    let of_monitor = |from: Source| Source::Used {
        component: expanded.component.name.clone(),
        option: option.to_owned(),
        from: Box::new(from),
    };
    let over = over.into_iter().map(|other| Overruled {
        value: other.value,
        from: of_monitor(other.from),
    });
    Ok(Sourced::new(value, of_monitor(from)).over(over))
}

/// Gives every component that can be measured to the monitor of its environment: one alone has rules, so that nobody is
/// told anything twice. That is the one named after its recipe, else the first.
pub fn watch(components: &mut BTreeMap<Key, Lowered>) {
    let mut monitors: BTreeMap<String, Arc<Monitor>> = BTreeMap::new();
    for ((environment, name), component) in components.iter() {
        if let Some(monitor) = &component.monitor
            && (*name == component.recipe || !monitors.contains_key(environment))
        {
            monitors.insert(environment.clone(), monitor.clone());
        }
    }
    for ((environment, _), component) in components.iter_mut() {
        if component.measured().next().is_some() {
            component.watched_by = monitors.get(environment).cloned();
        }
    }
}

impl Lowered {
    /// The services of it that can be measured, each with the path at which.
    pub fn measured(&self) -> impl Iterator<Item = (&Group, &str)> {
        self.groups
            .iter()
            .filter_map(|group| Some((group, group.measured()?)))
    }

    /// Nobody is called at night for what is not in production.
    pub fn severity(&self) -> &'static str {
        match self.environment.as_str() {
            "production" => "critical",
            _ => "warning",
        }
    }

    /// The alerts that a watched component has. One that died is no longer registered, and so no longer asked: that one
    /// is missing is a thing of its own.
    pub fn alerts(&self) -> Vec<Alert> {
        let (environment, component) = (&self.environment, &self.component);
        let labels = || BTreeMap::from([("severity", self.severity().to_owned())]);
        let mut alerts = vec![Alert {
            name: "InstanceDown",
            expression: format!("up{{component=\"{component}\",environment=\"{environment}\"}} == 0"),
            labels: labels(),
            summary: format!("{{{{ $labels.instance }}}} of {component} in {environment} does not answer"),
        }];
        let wanted = self.measured().filter(|(group, _)| !group.is_stopped());
        for (group, _) in wanted {
            let (service, count) = (&group.service, group.count.value);
            let mut labels = labels();
            labels.insert("component", component.clone());
            labels.insert("environment", environment.clone());
            labels.insert("service", service.clone());
            alerts.push(Alert {
                name: "InstanceMissing",
                expression: format!(
                    "(count(up{{environment=\"{environment}\",service=\"{service}\"}} == 1) or vector(0)) < {count}"
                ),
                labels,
                summary: format!("Fewer than {count} instances of {service} in {environment} answer"),
            });
        }
        alerts
    }

    /// How long something of it must be wrong before an alert fires.
    pub fn patience(&self) -> Option<&Sourced<String>> {
        self.watched_by.as_ref().map(|monitor| &monitor.patience)
    }
}
