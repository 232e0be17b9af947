//! Consul: the one on PATH, else built from source.

use std::time::Duration;

use crate::error::Result;
use crate::go_build::{GoBuild, Nested};
use crate::progress::{Progress, Running};
use crate::slot::Slot;
use crate::{Cache, Installed, tool};

/// Since then tokens can be made from the policies that it knows by name.
const NEEDED: &str = "1.17";
const VERSION: &str = "1.22.6";
const BUILD: GoBuild = GoBuild {
    name: "Consul",
    module: "github.com/hashicorp/consul@v1.22.6",
    sum: "h1:88IgAZk0XeUEs3oWaUTpYQSSIcFvSHMZWI1ECIionmw=",
    unlisted: false,
    nested: Nested::Released(SUMS),
    go_needed: "1.25.8",
    tags: "",
    link: "-s -w",
    c_hint: None,
    packages: 1000,
};
/// Go's database of checksums answers `404 Not Found` for these three, so they are held to what the module proxy served
/// when this was written.
const SUMS: &str = "\
github.com/hashicorp/consul/envoyextensions v0.9.4 h1:YwlgpelCyZQF0HZiGELa9D8uRgQzQflf4kvphIlOCpA=
github.com/hashicorp/consul/envoyextensions v0.9.4/go.mod h1:rx7eXCLQpBuyKDe8lpY3E9qJCXNaHIHQO6MNaSNYXx0=
github.com/hashicorp/consul/proto-public v0.7.2 h1:nJlgQwXgUd7Uwbj5ZkSo7oK4sIp53ONbx2GLVOK4WjE=
github.com/hashicorp/consul/proto-public v0.7.2/go.mod h1:VNuZ1sdNYguOU1DhfU7e99Nf8qeIK+WntaeBHnC561Y=
github.com/hashicorp/consul/troubleshoot v0.8.5 h1:l527En05h/tIsHV6Lodt6gx0vEdfeCYdHzA06UKBbxM=
github.com/hashicorp/consul/troubleshoot v0.8.5/go.mod h1:QHc6k0DQUiS8rovti18eMGTyiy1QQYaUxJfzVVrS4Eo=
";
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
    let slot = slot(cache);
    if let Some(found) = found(cache).await {
        slot.check_if_in(&found.path)?;
        return Ok(found);
    }
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
