//! Routes: the proxy itself says which host names it serves.

use std::time::{Duration, Instant};

use eos_core::kinds::route::Routed;
use eos_core::lowered::Lowered;
use eos_core::plan::Step;
use reqwest::header::{HOST, LOCATION};
use reqwest::redirect::Policy;
use serde_json::json;

use crate::discovery::Discovery;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::steps::{Context, Progress, Verified, plural};

/// Longer than Nomad takes to write down a new route, and the proxy to read it.
const SETTLED: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(500);
const ANSWER: Duration = Duration::from_secs(5);

/// Every host name is served, and none of those that are gone.
pub(super) async fn prove_routed(
    context: &Context<'_>,
    step: &Step,
    proof: &Routed,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    let Some(proxy) = context.compilation.component(&step.environment, &proof.by) else {
        let words = "the plan routes through it, but the compiled files do not have it";
        let error = EngineError::new(Layer::Estate, ErrorKind::Conflict, proof.by.as_str(), words);
        return Err(error.with_hint("Make a new plan"));
    };
    let unasked = |words: String| Ok(Verified::new(words, json!({"proxy": null})));
    if proxy.is_stopped() {
        return unasked(format!("{} is stopped, and serves nothing", proof.by));
    }
    let Some(path) = &proxy.asked else {
        return unasked(format!("the recipe of {} says no path to ask it at", proof.by));
    };
    let http = reqwest::Client::builder()
        .redirect(Policy::none())
        .timeout(ANSWER)
        .no_proxy()
        .build()
        .map_err(|error| failed(&proof.by, error.to_string()))?;
    let ends = Instant::now() + SETTLED;
    let served = proof.hosts.iter().map(|host| (host, true));
    for (host, wanted) in served.chain(proof.gone.iter().map(|host| (host, false))) {
        loop {
            let found = match place(context, step, proxy).await? {
                None => Err(format!("{} is registered nowhere", proof.by)),
                Some(place) => ask(&http, &place, path, host).await,
            };
            match found {
                Ok(is_served) if is_served == wanted => break,
                found if Instant::now() > ends => {
                    let words = match (found, wanted) {
                        (Err(words), _) => words,
                        (Ok(_), true) => format!("{} does not serve {host}", proof.by),
                        (Ok(_), false) => format!("{} still serves {host}", proof.by),
                    };
                    let error =
                        EngineError::new(Layer::Nomad, ErrorKind::Timeout, format!("route {host}"), words);
                    let hint = format!(
                        "`eos logs {}` shows whether it refused its configuration",
                        proof.by
                    );
                    return Err(error.with_hint(hint));
                }
                _ => {}
            }
            progress(&format!("route {host}: {} has yet to follow", proof.by));
            tokio::time::sleep(LOOK).await;
        }
    }
    let words = match (proof.hosts.as_slice(), proof.gone.len()) {
        ([], gone) => format!(
            "{}: {} gone, read back",
            proof.by,
            plural(gone, "route", "routes")
        ),
        (hosts, _) => format!("{}: serves {}, read back", proof.by, hosts.join(", ")),
    };
    Ok(Verified::new(
        words,
        json!({"hosts": proof.hosts, "gone": proof.gone}),
    ))
}

async fn place(context: &Context<'_>, step: &Step, proxy: &Lowered) -> Result<Option<String>, EngineError> {
    let Some(front) = proxy.front() else {
        return Ok(None);
    };
    let discovery = context.engines.discovery();
    let instances = discovery.instances(&front.service, &step.environment).await?;
    let first = instances
        .into_iter()
        .min_by_key(|one| (one.address.clone(), one.port));
    Ok(first.map(|one| format!("{}:{}", one.address, one.port)))
}

/// Whether the proxy serves a host name: it answers with the name, or sends who asks to the same host, by HTTPS.
async fn ask(http: &reqwest::Client, place: &str, path: &str, host: &str) -> Result<bool, String> {
    let asked = http.get(format!("http://{place}{path}")).header(HOST, host);
    let answer = asked
        .send()
        .await
        .map_err(|error| format!("it does not answer: {error}"))?;
    let to = answer.headers().get(LOCATION).and_then(|to| to.to_str().ok());
    if answer.status().is_redirection() {
        let to = to.and_then(|to| to.strip_prefix("https://"));
        return Ok(to.is_some_and(|to| to.split(['/', ':']).next() == Some(host)));
    }
    let is_well = answer.status().is_success();
    let text = answer.text().await.map_err(|error| error.to_string())?;
    Ok(is_well && text.trim() == host)
}

fn failed(object: &str, words: String) -> EngineError {
    EngineError::new(Layer::Nomad, ErrorKind::Failed, object, words)
}
