//! The Terraform provider of Hetzner Cloud, for those who ask for it: built from source.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use crate::error::{AtPath, Error, Result};
use crate::go_build::{self, GoBuild, Nested};
use crate::progress::{Progress, Running};
use crate::slot::Slot;
use crate::{Cache, Installed};

const VERSION: &str = "1.60.1";
const PROGRAM: &str = "terraform-provider-hcloud";
const BUILD: GoBuild = GoBuild {
    name: "hcloud",
    module: "github.com/hetznercloud/terraform-provider-hcloud@v1.60.1",
    sum: "h1:odWlbo+IFmoAL3ZStFUF9AbW4WzFCY8YQ3oF2E7EIos=",
    unlisted: true,
    nested: Nested::None,
    go_needed: "1.24.0",
    tags: "",
    link: "-s -w",
    c_hint: None,
    packages: 700,
};
/// On two cores.
const USUALLY: Duration = Duration::from_secs(4 * 60);

pub async fn install(cache: &Cache, progress: &dyn Progress) -> Result<Installed> {
    let slot = Slot::new(cache, "hcloud", VERSION);
    if let Some(found) = slot.installed(PROGRAM) {
        slot.check()?;
        return Ok(found);
    }
    let path = slot.directory().join(PROGRAM);
    let what = format!("build the provider hcloud {VERSION} from source");
    let step = Running::start(progress, "hcloud", what, Some(USUALLY));
    slot.fill(&step, || async {
        BUILD.run(cache, &[(".", path.clone())], progress, &step).await?;
        check_plugin(&path).await?;
        // The program does not say its version; its source has the checksum of this one.
        Ok(VERSION.to_owned())
    })
    .await?;
    go_build::remove_caches(cache)?;
    step.done();
    Ok(Installed {
        version: VERSION.into(),
        path,
    })
}

/// A provider that somebody starts by hand says that it is a plugin.
async fn check_plugin(program: &Path) -> Result<()> {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).kill_on_drop(true).env_clear();
    let output = command.output().await.at("run", program)?;
    let words = [output.stdout, output.stderr].concat();
    let words = String::from_utf8_lossy(&words);
    match words.contains("This binary is a plugin") {
        true => Ok(()),
        false => Err(Error::Command {
            what: program.display().to_string(),
            words: words.trim().to_owned(),
            hint: None,
        }),
    }
}
