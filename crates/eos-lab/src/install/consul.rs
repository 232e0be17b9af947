//! Consul: the one on PATH, else built from source.

use std::time::Duration;

use crate::error::Result;
use crate::install::go_build::{GoBuild, Nested};
use crate::install::slot::Slot;
use crate::install::{Cache, Installed, tool};
use crate::progress::{Progress, Running};

/// Since then tokens can be made from the policies that it knows by name.
const NEEDED: &str = "1.17";
const VERSION: &str = "1.22.6";
const BUILD: GoBuild = GoBuild {
    name: "Consul",
    module: "github.com/hashicorp/consul@v1.22.6",
    nested: Nested::Released,
    go_needed: "1.25.8",
    tags: "",
    link: "-s -w",
    c_hint: None,
    packages: 1000,
};
/// On two cores, with what was compiled for Nomad.
const USUALLY: Duration = Duration::from_secs(8 * 60);

/// What is installed already.
pub async fn found(cache: &Cache) -> Option<Installed> {
    match tool::installed("consul", NEEDED).await {
        Some(found) => Some(found),
        None => slot(cache).installed("consul"),
    }
}

fn slot(cache: &Cache) -> Slot {
    Slot::new(cache, "consul", VERSION)
}

pub async fn install(cache: &Cache, progress: &dyn Progress) -> Result<Installed> {
    if let Some(found) = found(cache).await {
        return Ok(found);
    }
    let slot = slot(cache);
    let path = slot.directory().join("consul");
    let what = format!("build Consul {VERSION} from source");
    let step = Running::start(progress, "consul", what, Some(USUALLY));
    slot.fill(&step, || async {
        BUILD.run(cache, &[(".", path.clone())], progress, &step).await?;
        tool::version(&path).await
    })
    .await?;
    step.done();
    Ok(Installed {
        version: VERSION.into(),
        path,
    })
}
