//! How an estate goes from the profile solo to full: its `eos.toml`, and what is compiled for it.

use crate::problem::Problem;
use eos_core::emit::terraform::PLATFORM;
use eos_core::name::ENVIRONMENTS;
use eos_engine::estate::{COMMITTED, Estate};
use eos_engine::lock::{Lock, Target, patience};
use eos_engine::settings::{FILE, Profile, Settings, Source};
use std::time::Duration;

const WAIT: Duration = Duration::from_secs(10);

/// Makes the estate one of the profile full, unless it is. What solo has put into Nomad could not be found there.
pub async fn take(estate: &mut Estate) -> Result<(), Problem> {
    if estate.settings.profile == Profile::Full {
        return Ok(());
    }
    if estate.settings.source == Source::File {
        return Err(Problem::usage(
            format!("{FILE} names the engines of this estate, which does not use a lab"),
            "Set profile = \"full\" there yourself, with [consul] and [vault]",
        ));
    }
    let _lock = Lock::wait(&estate.root, Target::Estate, None, &mut patience(WAIT)).await?;
    refuse_applied(estate)?;
    let path = estate.root.join(FILE);
    let unwritten = |error: std::io::Error| {
        Problem::not_done(
            format!("Cannot change {}: {error}", path.display()),
            format!("Set profile = \"full\" in {FILE} yourself, then run eos lab up"),
        )
    };
    let text = std::fs::read_to_string(&path).map_err(unwritten)?;
    std::fs::write(&path, with_full_profile(&text)).map_err(unwritten)?;
    estate.settings = Settings::load(&estate.root)?;
    estate.write_artifacts(&estate.compile()?.artifacts)?;
    let paths: Vec<&str> = COMMITTED.iter().copied().chain([FILE]).collect();
    estate
        .repository()
        .commit(&paths, "Set profile full", &[])
        .await?;
    Ok(())
}

fn refuse_applied(estate: &Estate) -> Result<(), Problem> {
    let store = estate.store()?;
    let mut applied = Vec::new();
    for environment in ENVIRONMENTS {
        let components = store
            .applied(environment)?
            .into_iter()
            .map(|found| found.component);
        // The platform goes with the last component.
        let components = components.filter(|component| component != PLATFORM);
        applied.extend(components.map(|component| format!("{environment}/{component}")));
    }
    if applied.is_empty() {
        return Ok(());
    }
    Err(Problem::usage(
        format!(
            "This estate runs components of the profile solo: {}",
            applied.join(", ")
        ),
        "Delete them first, or make another estate: eos init DIRECTORY",
    ))
}

/// The text with only the value of `profile` changed; where there is none, with a first line more.
fn with_full_profile(text: &str) -> String {
    const LINE: &str = "profile = \"full\"";
    let top = text
        .split_inclusive('\n')
        .take_while(|line| !line.trim_start().starts_with('['));
    let mut start = 0;
    for line in top {
        let is_profile = line
            .trim_start()
            .strip_prefix("profile")
            .is_some_and(|rest| rest.trim_start().starts_with('='));
        if is_profile {
            let rest = line.split_once('#').map(|(_, comment)| format!("   #{comment}"));
            let end = if line.ends_with('\n') { "\n" } else { "" };
            let new = rest.unwrap_or_else(|| end.to_owned());
            return format!("{}{LINE}{new}{}", &text[..start], &text[start + line.len()..]);
        }
        start += line.len();
    }
    format!("{LINE}\n{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_profile_changes() {
        let cases = [
            ("", "profile = \"full\"\n"),
            (
                "# mine\nprofile = \"solo\"\nenvironment = \"staging\"\n",
                "# mine\nprofile = \"full\"\nenvironment = \"staging\"\n",
            ),
            ("  profile='solo' # for now\n", "profile = \"full\"   # for now\n"),
            ("profile = \"solo\"", "profile = \"full\""),
            (
                "profiles = 1\n[x]\nprofile = \"solo\"\n",
                "profile = \"full\"\nprofiles = 1\n[x]\nprofile = \"solo\"\n",
            ),
        ];
        for (text, wanted) in cases {
            assert_eq!(with_full_profile(text), wanted, "{text}");
        }
    }
}
