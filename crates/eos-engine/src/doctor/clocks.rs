//! Whether engines and minions have the time of this machine: a token or certificate of another time is none.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use tokio::task::JoinSet;
use tokio::time::timeout_at;

use super::{Area, Condition, Examination, Finding};
use crate::endpoints::Endpoints;
use crate::error::Layer;
use crate::http;

/// Clocks that differ by less agree.
const AGREEMENT: SignedDuration = SignedDuration::from_secs(2);

impl Examination<'_> {
    /// How far that of each engine is ahead of this machine's; one that does not answer has said so elsewhere.
    pub(super) async fn clocks(&self) -> Vec<(String, Option<SignedDuration>)> {
        let Endpoints {
            salt,
            nomad,
            consul,
            vault,
            ..
        } = self.endpoints;
        let mut asking = JoinSet::new();
        let consul = consul.as_ref().map(|one| (&one.address, &one.certificate));
        let vault = vault.as_ref().map(|one| (&one.address, &one.certificate));
        for (layer, place) in [
            (Layer::Salt, Some((&salt.url, &salt.certificate))),
            (Layer::Nomad, Some((&nomad.address, &nomad.certificate))),
            (Layer::Consul, consul),
            (Layer::Vault, vault),
        ] {
            let Some((address, certificate)) = place else {
                continue;
            };
            let (address, certificate, ends) = (address.clone(), certificate.clone(), self.ends);
            asking.spawn(async move {
                let ahead = timeout_at(ends, clock(layer, &address, certificate.as_deref())).await;
                (layer.name().to_owned(), ahead.ok().flatten())
            });
        }
        let mut answers = asking.join_all().await;
        answers.sort();
        answers
    }
}

/// How far the clock of an engine is ahead of this machine's at least; nothing where it does not tell.
async fn clock(layer: Layer, address: &str, certificate: Option<&Path>) -> Option<SignedDuration> {
    let client = http::client(layer, certificate).ok()?;
    let sent = Timestamp::now();
    let answer = client.get(address).send().await.ok()?;
    let received = Timestamp::now();
    let date = answer.headers().get(reqwest::header::DATE)?.to_str().ok()?;
    ahead(date, sent, received)
}

/// The least by which a clock that said `date`, a whole second, between two moments differs from this machine's.
fn ahead(date: &str, sent: Timestamp, received: Timestamp) -> Option<SignedDuration> {
    let earliest = jiff::fmt::rfc2822::parse(date).ok()?.timestamp();
    let latest = earliest + SignedDuration::from_secs(1);
    Some(outside(earliest, latest, sent, received))
}

/// The least by which what lies between two moments is ahead of, or behind, what lies between two others.
pub(super) fn outside(
    earliest: Timestamp,
    latest: Timestamp,
    sent: Timestamp,
    received: Timestamp,
) -> SignedDuration {
    if earliest > received {
        earliest.duration_since(received)
    } else if latest < sent {
        latest.duration_since(sent)
    } else {
        SignedDuration::ZERO
    }
}

/// One line as long as all agree.
pub(super) fn findings(answers: &[(String, Option<SignedDuration>)]) -> Vec<Finding> {
    let told: Vec<(&str, SignedDuration)> = answers
        .iter()
        .filter_map(|(name, ahead)| Some((name.as_str(), (*ahead)?)))
        .collect();
    let wrong: Vec<Finding> = told
        .iter()
        .filter(|(_, ahead)| ahead.abs() > AGREEMENT)
        .map(|(name, ahead)| {
            let side = if ahead.is_positive() { "ahead of" } else { "behind" };
            let words = format!("{:.0} s {side} this machine", ahead.abs().as_secs_f64());
            Finding::not_ok(
                Area::Clocks,
                *name,
                Condition::Limited,
                words,
                "timedatectl set-ntp true",
            )
        })
        .collect();
    if told.is_empty() || !wrong.is_empty() {
        return wrong;
    }
    let words = format!("within {} s of this machine", AGREEMENT.as_secs());
    vec![Finding::ok(Area::Clocks, "engines", words)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_agree_within_what_a_whole_second_can_tell() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let date = "Mon, 16 Nov 2026 04:05:33 GMT";
        let least = |sent, received| ahead(date, at(sent), at(received)).unwrap().as_millis();
        assert_eq!(least("2026-11-16T04:05:33.9Z", "2026-11-16T04:05:34.1Z"), 0);
        assert_eq!(least("2026-11-16T04:05:29.0Z", "2026-11-16T04:05:30.0Z"), 3000);
        assert_eq!(least("2026-11-16T04:05:36.5Z", "2026-11-16T04:05:36.6Z"), -2500);
        assert_eq!(
            ahead(
                "yesterday",
                at("2026-11-16T04:05:29Z"),
                at("2026-11-16T04:05:29Z")
            ),
            None
        );

        let (near, far) = (SignedDuration::from_millis(-1900), SignedDuration::from_secs(-5));
        assert_eq!(
            findings(&[("Nomad".to_owned(), Some(near))])[0].condition,
            Condition::Ok
        );
        let wrong = findings(&[("Nomad".to_owned(), Some(near)), ("Salt".to_owned(), Some(far))]);
        assert_eq!(wrong.len(), 1);
        assert_eq!(
            (wrong[0].what.as_str(), wrong[0].words.as_str()),
            ("Salt", "5 s behind this machine")
        );
        assert!(findings(&[("Nomad".to_owned(), None)]).is_empty());
    }
}
