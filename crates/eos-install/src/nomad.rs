//! Nomad: the one on PATH, else built from source.

use std::time::Duration;

use crate::error::Result;
use crate::go_build::{GoBuild, Nested};
use crate::progress::{Progress, Running};
use crate::slot::Slot;
use crate::{Cache, Installed, tool};

/// Since then it knows dynamic host volumes.
const NEEDED: &str = "1.10";
const VERSION: &str = "1.11.2";
const BUILD: GoBuild = GoBuild {
    name: "Nomad",
    module: "github.com/hashicorp/nomad@v1.11.2",
    sum: "h1:Ub7ZQy6TMHVsayZehbgfS+X6oINv6M2wGkAGI8FT3yg=",
    unlisted: false,
    // Of the same commit.
    nested: Nested::Added(
        "github.com/hashicorp/nomad/api@v0.0.0-20260211190147-f876384fe3ab",
        "h1:d4bgp3mWqdd71konXaTgyaK4SjgKS1IPvzsrn/cshPY=",
        "api",
    ),
    go_needed: "1.25.5",
    // The last one leaves out what only Google's storage over gRPC would use: 132 packages.
    tags: "codegen_generated hashicorpmetrics disable_grpc_modules",
    link: "-s -w -X github.com/hashicorp/nomad/version.GitCommit=f876384fe3ab",
    c_hint: Some("It builds Nomad (Debian: apt install gcc libc6-dev); or put nomad 1.10 or newer on PATH"),
    packages: 1520,
};
/// On two cores.
const USUALLY: Duration = Duration::from_secs(6 * 60);

/// What is installed already.
pub async fn found(cache: &Cache) -> Option<Installed> {
    match tool::installed("nomad", NEEDED).await {
        Some(found) => Some(found),
        None => slot(cache).installed("nomad"),
    }
}

fn slot(cache: &Cache) -> Slot {
    Slot::new(cache, "nomad", VERSION)
}

pub async fn install(cache: &Cache, progress: &dyn Progress) -> Result<Installed> {
    let slot = slot(cache);
    if let Some(found) = found(cache).await {
        slot.check_if_in(&found.path)?;
        return Ok(found);
    }
    let path = slot.directory().join("nomad");
    let what = format!("build Nomad {VERSION} from source");
    let step = Running::start(progress, "nomad", what, Some(USUALLY));
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
