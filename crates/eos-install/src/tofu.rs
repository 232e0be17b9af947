//! OpenTofu, in place of Terraform for those who want it: the one on PATH, else built from source.

use std::time::Duration;

use crate::error::Result;
use crate::go_build::{GoBuild, Nested};
use crate::progress::{Progress, Running};
use crate::slot::Slot;
use crate::{Cache, Installed, terraform, tool};

const NEEDED: &str = "1.6";
const VERSION: &str = "1.12.6";
const BUILD: GoBuild = GoBuild {
    name: "OpenTofu",
    module: "github.com/opentofu/opentofu@v1.12.6",
    sum: "h1:0VT4P8pMmGcCUnQ9JDrJ+Qg2d35Vzm4FFd/9+H7oF98=",
    unlisted: false,
    nested: Nested::None,
    go_needed: "1.26.6",
    tags: "",
    link: "-s -w -X github.com/opentofu/opentofu/version.dev=no",
    c_hint: None,
    packages: 1500,
};
/// On two cores.
const USUALLY: Duration = Duration::from_secs(6 * 60);

/// What is installed already.
pub async fn found(cache: &Cache) -> Option<Installed> {
    if let Some(path) = tool::on_path("tofu") {
        // One that does not run, or does not say its version, is none.
        let version = terraform::version(&path).await.unwrap_or_default();
        if tool::is_at_least(&version, NEEDED) {
            return Some(Installed { version, path });
        }
    }
    slot(cache).installed("tofu")
}

fn slot(cache: &Cache) -> Slot {
    Slot::new(cache, "tofu", VERSION)
}

pub async fn install(cache: &Cache, progress: &dyn Progress) -> Result<Installed> {
    let slot = slot(cache);
    if let Some(found) = found(cache).await {
        slot.check_if_in(&found.path)?;
        return Ok(found);
    }
    let path = slot.directory().join("tofu");
    let what = format!("build OpenTofu {VERSION} from source");
    let step = Running::start(progress, "tofu", what, Some(USUALLY));
    slot.fill(&step, || async {
        let programs = [("./cmd/tofu", path.clone())];
        BUILD.run(cache, &programs, progress, &step).await?;
        terraform::version(&path).await
    })
    .await?;
    step.done();
    Ok(Installed {
        version: VERSION.into(),
        path,
    })
}
