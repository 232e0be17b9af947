//! Terraform's part of the lab: a mirror that serves our providers, and the settings that point to it.

use std::path::Path;
use std::process::Stdio;

use tokio::process::Command;

use crate::choices::Choices;
use crate::durable;
use crate::error::{AtPath, Error, Result};
use crate::layout::Layout;

/// What the one program serves, by the name of its file; `--version` of it says the same.
const PROVIDERS: [(&str, &str); 2] = [("nomad", "2.5.2"), ("consul", "2.22.1")];
/// The providers of clouds that a lab can have, and their sources.
pub const CLOUDS: [(&str, &str); 1] = [("hcloud", "hetznercloud/hcloud")];
const QUESTION: &str = r#"terraform {
  required_providers {
    nomad = {
      source = "hashicorp/nomad"
    }
  }
}
"#;

/// Lays out mirror and settings. What is there already is compared, not asked for again.
pub async fn set_up(layout: &Layout, choices: &mut Choices, provider: &Path) -> Result<()> {
    let directory = layout.terraform();
    let mirror = directory.join("mirror");
    // A JSON string is also one of this language.
    let path = serde_json::Value::from(mirror.display().to_string());
    let settings = format!(
        "disable_checkpoint = true\n\nprovider_installation {{\n  filesystem_mirror {{\n    path    = {path}\n    \
         include = [\"*/*/*\"]\n  }}\n}}\n"
    );
    durable::write(&directory.join("cli.tfrc"), settings.as_bytes(), 0o644)?;
    let registry = match &choices.registry {
        Some(registry) => registry.clone(),
        None => {
            let found = ask_registry(layout, &choices.engines.terraform.path).await?;
            choices.registry = Some(found.clone());
            choices.save(layout)?;
            found
        }
    };
    let host = mirror.join(registry);
    for (name, chosen) in &choices.providers {
        let Some((_, source)) = CLOUDS.iter().find(|(known, _)| known == name) else {
            continue;
        };
        put(
            &host.join(source),
            name,
            &chosen.installed.version,
            &chosen.installed.path,
        )?;
    }
    fill(&host, provider)
}

/// Puts a provider into the mirror, where Terraform looks for it.
fn put(source: &Path, name: &str, version: &str, program: &Path) -> Result<()> {
    let place = source.join(version).join(platform());
    durable::directory(&place, 0o755)?;
    let file = place.join(format!("terraform-provider-{name}_v{version}"));
    Ok(durable::copy_program(program, &file)?)
}

/// The mirror holds the one program under every name that it serves.
fn fill(host: &Path, provider: &Path) -> Result<()> {
    for (name, version) in PROVIDERS {
        put(&host.join("hashicorp").join(name), name, version, provider)?;
    }
    Ok(())
}

/// The host that a provider without one is from differs between tools; the tool itself knows its own.
async fn ask_registry(layout: &Layout, program: &Path) -> Result<String> {
    let question = layout.terraform().join("question");
    durable::directory(&question, 0o700)?;
    durable::write(&question.join("main.tf"), QUESTION.as_bytes(), 0o600)?;
    let output = Command::new(program)
        .arg("providers")
        .current_dir(&question)
        .env_clear()
        .env("HOME", &question)
        .env("PATH", "/usr/bin:/bin")
        .env("TF_CLI_CONFIG_FILE", layout.terraform().join("cli.tfrc"))
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .at("run", program)?;
    durable::remove(&question)?;
    let answer = String::from_utf8_lossy(&output.stdout);
    registry_in(&answer).ok_or_else(|| Error::Command {
        what: format!("{} providers", program.display()),
        words: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        hint: Some("Put another terraform, 1.6 or newer, on PATH"),
    })
}

fn registry_in(answer: &str) -> Option<String> {
    let (_, after) = answer.split_once("provider[")?;
    let (host, _) = after.split_once("/hashicorp/nomad]")?;
    (!host.is_empty() && !host.contains(char::is_whitespace)).then(|| host.to_owned())
}

fn platform() -> String {
    let machine = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{}_{machine}", std::env::consts::OS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_has_its_own_name_in_the_mirror() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("program");
        std::fs::write(&program, "served").unwrap();
        fill(&directory.path().join("host"), &program).unwrap();
        for file in [
            "nomad/2.5.2/PLATFORM/terraform-provider-nomad_v2.5.2",
            "consul/2.22.1/PLATFORM/terraform-provider-consul_v2.22.1",
        ] {
            let file = directory
                .path()
                .join("host/hashicorp")
                .join(file.replace("PLATFORM", &platform()));
            assert_eq!(std::fs::read_to_string(file).unwrap(), "served");
        }
    }

    #[test]
    fn the_host_is_read_from_the_tools_own_words() {
        let words =
            "\nProviders required by configuration:\n.\n└── provider[host.example/hashicorp/nomad]\n\n";
        assert_eq!(registry_in(words).as_deref(), Some("host.example"));
        assert_eq!(registry_in("Error: no such command"), None);
        assert_eq!(registry_in("provider[a b/hashicorp/nomad]"), None);
    }
}
