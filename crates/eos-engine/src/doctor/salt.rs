//! Salt: its API, who Eos is to it, and every minion.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use eos_core::pillar::Host;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::versions::Engine;
use super::{Area, Condition, Examination, Finding, PATIENCE, clocks, minute};
use crate::engines::kept_token;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::home::{self, Recorded};
use crate::salt::SaltClient;

/// How long minions may take once master and API answer: on a busy machine a call alone has taken three seconds.
const MINIONS: Duration = Duration::from_secs(6);

/// How long one that did not answer is asked once more, where it may be slow.
const SLOW: Duration = Duration::from_secs(24);

/// What asking Salt came to.
pub(super) struct SaltLooked {
    /// Which machine operates the estate, as the control minion has it.
    pub home: Option<Finding>,
    pub findings: Vec<Finding>,
    /// How far the clock of each minion is ahead of this machine's.
    pub clocks: Vec<(String, Option<SignedDuration>)>,
    /// What `eos.examine` of the control minion answered.
    pub control: Option<Result<Value, EngineError>>,
}

/// One minion's answer to `eos.info`, and between which two moments it came about; and that to `eos.examine`.
struct Told {
    info: Result<Value, EngineError>,
    /// It answered only when it was asked once more.
    is_slow: bool,
    examined: Result<Value, EngineError>,
    sent: Timestamp,
    received: Timestamp,
}

impl Examination<'_> {
    pub(super) async fn salt(&self) -> SaltLooked {
        let endpoint = &self.endpoints.salt;
        let control = &self.endpoints.control;
        let unasked = |error: &EngineError| SaltLooked {
            home: None,
            findings: vec![self.failed(Area::Salt, "API", error)],
            clocks: Vec::new(),
            control: None,
        };
        let client = match self.salt_client() {
            Ok(client) => Arc::new(client),
            Err(error) => return unasked(&error),
        };
        let reached = self
            .in_time(Layer::Salt, &endpoint.url, client.reach(control, PATIENCE))
            .await;
        let api = match reached {
            Ok(expires) => {
                let until = expires.map_or_else(String::new, |expires| {
                    format!(", token until {}", minute(expires))
                });
                Finding::ok(Area::Salt, "API", format!("{}{until}", endpoint.url))
            }
            Err(error) => return unasked(&error),
        };
        let (mut told, refuses, closed, moves) = tokio::join!(
            self.minions(&client),
            client.refuses_more(control, MINIONS),
            client.opens_no_more(MINIONS),
            self.moves(&client, MINIONS)
        );
        let mut findings = vec![api, self.requests_finding(&refuses), self.doors_finding(&closed)];
        let of_control = told.get(control).and_then(|told| told.info.as_ref().ok());
        findings
            .extend(of_control.map(|info| role_finding(info, &endpoint.user, &self.edit_minion(control))));
        findings.extend(of_control.and(moves));
        let home = of_control.and_then(|info| self.home_finding(info));
        findings.extend(
            told.iter()
                .map(|(minion, told)| self.minion_finding(minion, told)),
        );
        for (minion, told) in &told {
            findings.extend(told.examined.iter().flat_map(|seen| self.disks_of(minion, seen)));
            let host = self.expected.pillar.and_then(|pillar| pillar.hosts.get(minion));
            let both = host.zip(told.info.as_ref().ok());
            findings.extend(both.and_then(|(host, info)| address_finding(host, info)));
        }
        // One that answers nothing is told of once, as the minion.
        let examined = told
            .get_mut(control)
            .filter(|told| told.info.is_ok() || told.examined.is_ok())
            .map(|told| std::mem::replace(&mut told.examined, Ok(Value::Null)));
        let clocks = told.into_iter().map(|(minion, told)| {
            let time = told
                .info
                .ok()
                .and_then(|info| info.get("time")?.as_str()?.parse().ok());
            let ahead = time.map(|time: Timestamp| clocks::outside(time, time, told.sent, told.received));
            (format!("minion {minion}"), ahead)
        });
        SaltLooked {
            home,
            findings,
            clocks: clocks.collect(),
            control: examined,
        }
    }

    async fn minions(&self, client: &Arc<SaltClient>) -> BTreeMap<String, Told> {
        let hosts = self.expected.pillar.iter().flat_map(|pillar| pillar.hosts.keys());
        let minions: BTreeSet<String> = hosts.chain([&self.endpoints.control]).cloned().collect();
        let mut asking = JoinSet::new();
        for minion in minions {
            let client = client.clone();
            let is_running = self.expected.running.get(&minion).copied();
            asking.spawn(async move {
                let mut told = tell(&client, &minion, MINIONS).await;
                // Silence within a few seconds is no proof that nobody is there.
                let patience = second_patience(is_running).filter(|_| told.is_silent());
                if let Some(patience) = patience {
                    told = tell(&client, &minion, patience).await;
                    told.is_slow = told.info.is_ok();
                }
                (minion, told)
            });
        }
        asking.join_all().await.into_iter().collect()
    }

    /// Whether the master refuses what Salt's permissions do not look at.
    fn requests_finding(&self, refuses: &Result<bool, EngineError>) -> Finding {
        match refuses {
            Ok(true) => Finding::ok(Area::Salt, "requests", "the master refuses what Eos does not use"),
            Ok(false) => {
                let words =
                    "the master publishes all that a request carries: every API user is root on every minion";
                Finding::not_ok(
                    Area::Salt,
                    "requests",
                    Condition::Broken,
                    words,
                    self.edit_master(),
                )
            }
            Err(error) => self.failed(Area::Salt, "requests", error),
        }
    }

    /// Whether API users can fire events, and see those of others.
    fn doors_finding(&self, closed: &Result<bool, EngineError>) -> Finding {
        match closed {
            Ok(true) => Finding::ok(Area::Salt, "doors", "the API opens what Eos uses"),
            Ok(false) => {
                let words = "the API opens all of Salt's doors: every API user fires events and reads those of others";
                Finding::not_ok(Area::Salt, "doors", Condition::Broken, words, self.edit_master())
            }
            Err(error) => self.failed(Area::Salt, "doors", error),
        }
    }

    fn minion_finding(&self, minion: &str, told: &Told) -> Finding {
        let what = format!("minion {minion}");
        match &told.info {
            Ok(info) => {
                let (bring, renew) = (self.bring_formula(minion), self.renew("salt-minion"));
                let finding = formula_finding(minion, info, self.expected.formula, &bring, &renew);
                if told.is_slow && finding.condition == Condition::Ok {
                    let words = format!(
                        "it is slow: it did not answer within {} s at first",
                        MINIONS.as_secs()
                    );
                    return Finding::not_ok(Area::Salt, what, Condition::Limited, words, "eos doctor");
                }
                let exposed = told.examined.as_ref().map(exposed_by).unwrap_or_default();
                match finding.condition == Condition::Ok && !exposed.is_empty() {
                    true => {
                        let words = format!("a request could name its {}", exposed.join(", "));
                        let mend = self.edit_minion(minion);
                        Finding::not_ok(Area::Salt, what, Condition::Broken, words, mend)
                    }
                    false => finding,
                }
            }
            Err(_) if told.is_silent() => {
                let mend = self.start("salt-minion");
                Finding::not_ok(Area::Salt, what, Condition::Broken, "it does not answer", mend)
            }
            Err(error) if error.kind == ErrorKind::NotFound => {
                let mend = self.bring_host(minion, &format!("salt-key -a {minion}"));
                Finding::not_ok(Area::Salt, what, Condition::Broken, &error.words, mend)
            }
            Err(error) => self.failed(Area::Salt, &what, error),
        }
    }

    /// Nothing where no machine has taken it yet: the first that operates does.
    fn home_finding(&self, info: &Value) -> Option<Finding> {
        let home: Recorded = serde_json::from_value(info.get("home")?.clone()).ok()?;
        let here = home::known(&self.expected.estate.root).ok()?;
        Some(match here.as_ref() == Some(&home.id) {
            true => Finding::ok(Area::Estate, "home", "this machine operates it"),
            false => {
                let words = format!("{} operates it: this machine can only plan", home.name);
                Finding::not_ok(Area::Estate, "home", Condition::Limited, words, "eos home take")
            }
        })
    }

    fn salt_client(&self) -> Result<SaltClient, EngineError> {
        let endpoint = &self.endpoints.salt;
        let client = SaltClient::new(endpoint)?;
        Ok(match kept_token(endpoint)? {
            Some(token) => client.with_token(token),
            None => client,
        })
    }
}

impl Told {
    /// Salt says by itself that a minion gave no answer, or does not say anything in time.
    fn is_silent(&self) -> bool {
        let kind = self.info.as_ref().err().map(|error| error.kind);
        matches!(kind, Some(ErrorKind::Timeout | ErrorKind::Unreachable))
    }
}

/// Asks one minion both questions. Salt itself waits longer than it is told to.
async fn tell(client: &SaltClient, minion: &str, patience: Duration) -> Told {
    let ask = async |function| {
        let asked = client.call(minion, function, json!({}), patience);
        tokio::time::timeout(patience, asked).await.unwrap_or_else(|_| {
            let object = format!("minion {minion}");
            Err(EngineError::new(
                Layer::Salt,
                ErrorKind::Timeout,
                object,
                "it did not answer",
            ))
        })
    };
    let sent = Timestamp::now();
    let info = async { (ask("eos.info").await, Timestamp::now()) };
    let ((info, received), examined) = tokio::join!(info, ask("eos.examine"));
    Told {
        info,
        is_slow: false,
        examined,
        sent,
        received,
    }
}

/// How long a silent minion is asked once more. One whose process runs is slow, or hangs; one that was killed is not asked.
/// Of one on another machine nothing is known: it may wait for its processor where this machine has none to spare.
fn second_patience(is_running: Option<bool>) -> Option<Duration> {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    is_running
        .unwrap_or_else(|| is_busy(&load, cores))
        .then_some(SLOW)
}

/// Whether more wanted to run in the last minute than can.
fn is_busy(load: &str, cores: usize) -> bool {
    let last_minute = load.split(' ').next().and_then(|load| load.parse::<f64>().ok());
    last_minute.is_some_and(|load| load > cores as f64)
}

/// What this minion has loaded that a request could name: any returner, and executors that do more than to call.
fn exposed_by(examined: &Value) -> Vec<String> {
    let names = |kind: &str| examined.get(kind).and_then(Value::as_array).into_iter().flatten();
    let returners = names("returners").filter_map(Value::as_str);
    let executors = names("executors").filter_map(Value::as_str);
    returners
        .map(|name| format!("returner {name}"))
        .chain(
            executors
                .filter(|name| *name != "direct_call")
                .map(|name| format!("executor {name}")),
        )
        .collect()
}

fn role_finding(info: &Value, user: &str, mend: &str) -> Finding {
    match info.get("role").and_then(Value::as_str) {
        Some(role) => Finding::ok(Area::Salt, "role", format!("{user} is {role}")),
        None => {
            let words = format!("API user {user} has no role and may change nothing");
            Finding::not_ok(Area::Salt, "role", Condition::Broken, words, mend)
        }
    }
}

/// What others are told of a host, against what its minion says of itself. Nobody is asked what a name stands for, and a
/// loopback address is every machine's own.
fn address_finding(host: &Host, info: &Value) -> Option<Finding> {
    let wanted: Ipv4Addr = host.address.parse().ok()?;
    let told = info.pointer("/grains/ipv4")?.as_array()?.iter();
    let own: Vec<&str> = told.filter_map(Value::as_str).collect();
    if wanted.is_loopback() || own.is_empty() || own.contains(&host.address.as_str()) {
        return None;
    }
    let others: Vec<&str> = own.into_iter().filter(|one| !one.starts_with("127.")).collect();
    let (words, mend) = match others.first() {
        Some(first) => (
            format!("the pillar says {wanted}; its minion has {}", others.join(", ")),
            format!("eos update host {} --address {first}", host.name),
        ),
        None => (
            format!("the pillar says {wanted}; its minion has loopback addresses alone"),
            format!("eos update host {} --address ADDRESS", host.name),
        ),
    };
    let what = format!("address of {}", host.name);
    Some(Finding::not_ok(Area::Salt, what, Condition::Limited, words, mend))
}

fn formula_finding(minion: &str, info: &Value, expected: &str, bring: &str, renew: &str) -> Finding {
    let what = format!("minion {minion}");
    let said = |name: &str| info.get(name).and_then(Value::as_str).unwrap_or_default();
    if said("formula") != expected {
        let words = "its formula differs from the one in this program";
        return Finding::not_ok(Area::Salt, what, Condition::Broken, words, bring);
    }
    let version = said("version");
    match Engine::Salt.judge(version) {
        (condition, Some(words)) => Finding::not_ok(Area::Salt, what, condition, words, renew),
        _ => Finding::ok(
            Area::Salt,
            what,
            format!("answers, Salt {version}, formula of this program"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eos_core::pillar::Pillar;

    #[test]
    fn a_machine_is_busy_where_more_wants_to_run_than_can() {
        assert!(is_busy("35.10 20.00 9.00 40/900 12345\n", 2));
        assert!(!is_busy("1.90 20.00 9.00 1/900 12345\n", 2));
        assert!(!is_busy("", 2));
    }

    #[test]
    fn a_minion_with_a_returner_or_an_executor_of_more_than_calls_is_exposed() {
        let sound = json!({"returners": [], "executors": ["direct_call"]});
        assert!(exposed_by(&sound).is_empty());
        let exposed = json!({"returners": ["rawfile_json"], "executors": ["direct_call", "splay"]});
        assert_eq!(exposed_by(&exposed), ["returner rawfile_json", "executor splay"]);
    }

    #[test]
    fn an_address_that_the_minion_does_not_have_is_told() {
        let files = |address: &str| {
            let text = format!("#!yaml\nhosts:\n  web1.example.org: {{address: {address}}}\n");
            [("pillar/infrastructure/common.sls".to_owned(), text.into_bytes())]
        };
        let told = |address: &str, own: Value| {
            let pillar = Pillar::read(&files(address).into()).unwrap();
            let info = json!({"grains": {"ipv4": own}});
            address_finding(&pillar.hosts["web1.example.org"], &info)
        };
        let own = || json!(["10.0.0.2", "127.0.0.1", "192.168.1.2"]);
        for (address, own) in [
            ("10.0.0.2", own()),
            ("192.168.1.2", own()),
            ("127.0.0.7", own()),
            ("web1.example.org", own()),
            ("10.0.0.9", json!([])),
            ("10.0.0.9", Value::Null),
        ] {
            assert_eq!(told(address, own), None, "{address}");
        }
        let found = told("10.0.0.9", own()).unwrap();
        assert_eq!(found.condition, Condition::Limited);
        assert_eq!(
            found.words,
            "the pillar says 10.0.0.9; its minion has 10.0.0.2, 192.168.1.2"
        );
        let mend = "eos update host web1.example.org --address 10.0.0.2";
        assert_eq!(found.mend.as_deref(), Some(mend));
        let bare = told("10.0.0.9", json!(["127.0.0.1"])).unwrap();
        assert!(bare.words.ends_with("loopback addresses alone"), "{}", bare.words);
    }

    #[test]
    fn another_formula_than_this_programs_is_broken() {
        let info = json!({"formula": "aa", "version": "3008.3"});
        assert_eq!(
            formula_finding("control", &info, "aa", "bring", "renew").condition,
            Condition::Ok
        );
        assert_eq!(
            formula_finding("control", &info, "bb", "bring", "renew").condition,
            Condition::Broken
        );
        assert_eq!(
            formula_finding("control", &Value::Null, "bb", "bring", "renew").condition,
            Condition::Broken
        );
    }
}
