//! Owns Terraform: a working directory with a provider in a mirror, and what a run of it said.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value as Json;

const PROGRAM: &str = env!("CARGO_BIN_EXE_eos-terraform-provider");

/// What the mirror calls the program.
#[derive(Clone, Copy)]
pub struct Provider {
    pub name: &'static str,
    pub version: &'static str,
}

/// A Terraform working directory with the provider in a mirror.
pub struct Workspace<'a> {
    terraform: &'a Path,
    provider: Provider,
    pub directory: PathBuf,
    cli_config: PathBuf,
    environment: Vec<(&'static str, String)>,
}

pub struct Run {
    code: i32,
    /// Both streams, without the frames and line breaks that Terraform puts around words.
    pub words: String,
}

impl Run {
    pub fn says(&self, words: &str) -> bool {
        self.words.contains(words)
    }

    pub fn expect(self, code: i32, words: &[&str]) -> Self {
        assert_eq!(self.code, code, "{}", self.words);
        for expected in words {
            assert!(self.says(expected), "{expected:?} is not in: {}", self.words);
        }
        self
    }
}

impl<'a> Workspace<'a> {
    pub fn new(
        terraform: &'a Path,
        root: &Path,
        provider: Provider,
        name: &str,
        environment: Vec<(&'static str, String)>,
    ) -> Self {
        let directory = root.join(name);
        fs::create_dir_all(&directory).expect("the directory can be made");
        let workspace = Self {
            terraform,
            provider,
            directory,
            cli_config: root.join("cli.tfrc"),
            environment,
        };
        workspace.write(&[]);
        workspace.fill_mirror(&root.join("mirror"));
        workspace
            .run(&["init", "-input=false"])
            .expect(0, &["has been successfully initialized"]);
        workspace
    }

    /// The host that this Terraform takes providers from by default; only it knows its name.
    fn default_host(&self) -> String {
        let run = self.run(&["providers"]);
        let host = run
            .words
            .split("provider[")
            .nth(1)
            .and_then(|rest| rest.split("/hashicorp/").next());
        host.unwrap_or_else(|| panic!("`terraform providers` names no host: {}", run.words))
            .to_owned()
    }

    fn fill_mirror(&self, mirror: &Path) {
        let cli = format!(
            "disable_checkpoint = true\nprovider_installation {{\n  filesystem_mirror {{\n    path    = \"{}\"\n    \
             include = [\"*/*/*\"]\n  }}\n}}\n",
            mirror.display()
        );
        fs::write(&self.cli_config, cli).expect("the CLI configuration can be written");
        let platform = format!(
            "linux_{}",
            if cfg!(target_arch = "aarch64") {
                "arm64"
            } else {
                "amd64"
            }
        );
        let Provider { name, version } = self.provider;
        let place = mirror
            .join(self.default_host())
            .join("hashicorp")
            .join(name)
            .join(version)
            .join(platform);
        fs::create_dir_all(&place).expect("the mirror can be made");
        fs::copy(
            PROGRAM,
            place.join(format!("terraform-provider-{name}_v{version}")),
        )
        .expect("a copy");
    }

    /// Writes the configuration: the provider and what is given.
    pub fn write(&self, resources: &[&str]) {
        let Provider { name, version } = self.provider;
        let head = format!(
            r#"terraform {{
  required_providers {{
    {name} = {{
      source  = "hashicorp/{name}"
      version = "{version}"
    }}
  }}
}}
"#
        );
        let text = [head.as_str()]
            .iter()
            .chain(resources)
            .copied()
            .collect::<Vec<_>>()
            .join("\n");
        fs::write(self.directory.join("main.tf"), text).expect("the configuration can be written");
    }

    pub fn file(&self, name: &str, text: &str) {
        fs::write(self.directory.join(name), text).expect("the file can be written");
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.terraform);
        command
            .args(arguments)
            .arg("-no-color")
            .current_dir(&self.directory)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &self.directory)
            .env("TF_IN_AUTOMATION", "1")
            .env("TF_CLI_CONFIG_FILE", &self.cli_config)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        let output = self
            .command(arguments)
            .output()
            .expect("EOS_TEST_TERRAFORM can be started");
        finished(&output)
    }

    pub fn plan(&self) -> Run {
        self.run(&["plan", "-input=false", "-detailed-exitcode"])
    }

    pub fn apply(&self) -> Run {
        self.run(&["apply", "-input=false", "-auto-approve"])
    }

    pub fn destroy(&self) -> Run {
        self.run(&["destroy", "-input=false", "-auto-approve"])
    }

    /// The attributes of a resource in the Terraform state.
    pub fn attributes(&self, address: &str) -> Json {
        let run = self.command(&["show", "-json"]).output().expect("terraform show");
        let shown: Json = serde_json::from_slice(&run.stdout).expect("terraform show -json writes JSON");
        let resources = shown["values"]["root_module"]["resources"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let found = resources
            .into_iter()
            .find(|resource| resource["address"] == address);
        found.unwrap_or_else(|| panic!("{address} is not in the Terraform state"))["values"].clone()
    }
}

pub fn finished(output: &std::process::Output) -> Run {
    let both = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    let words = String::from_utf8_lossy(&both).replace(['│', '╷', '╵'], " ");
    Run {
        code: output.status.code().unwrap_or(-1),
        words: words.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}
