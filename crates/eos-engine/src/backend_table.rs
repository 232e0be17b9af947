//! The table `[terraform]` of eos.toml: which backend keeps the Terraform states, and its settings.
//!
//! A credential has no place here: the control minion has it.

use eos_core::backend::{Azurerm, Backend, S3};
use eos_core::profile::Profile;
use serde::Deserialize;
use toml::Spanned;

const BUCKET: &str = "eos-terraform-state";
const REGION: &str = "us-east-1";
const CONTAINER: &str = "eos-terraform-state";

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BackendTable {
    backend: Option<Spanned<Kind>>,
    bucket: Option<Spanned<String>>,
    region: Option<Spanned<String>>,
    endpoint: Option<Spanned<String>>,
    prefix: Option<Spanned<String>>,
    storage_account: Option<Spanned<String>>,
    container: Option<Spanned<String>>,
    metadata_host: Option<Spanned<String>>,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Local,
    Consul,
    S3,
    Azurerm,
}

/// Where in the file, what is wrong, and how it can be mended.
type Mistake = (usize, String, String);

impl BackendTable {
    /// The backend that it names, else that of the profile.
    pub fn backend(&self, profile: Profile) -> Result<Backend, Mistake> {
        let preset = Backend::of_profile(profile);
        let at = self.backend.as_ref().map_or(0, |kind| kind.span().start);
        let kind = match (&self.backend, &preset) {
            (Some(kind), _) => *kind.get_ref(),
            (None, Backend::Consul) => Kind::Consul,
            (None, Backend::Local | Backend::S3(_) | Backend::Azurerm(_)) => Kind::Local,
        };
        self.refuse_settings_of_others(kind)?;
        let prefix = setting("prefix", &self.prefix, is_prefix, "a path such as production/eos")?;
        let endpoint = setting(
            "endpoint",
            &self.endpoint,
            is_endpoint,
            "an address such as https://store.example.org:9000",
        )?;
        match kind {
            Kind::Local => Ok(Backend::Local),
            Kind::Consul if profile == Profile::Solo => Err((
                at,
                "the profile solo has no Consul to keep Terraform states in".to_owned(),
                "Set profile = \"full\", or backend = \"local\", \"s3\" or \"azurerm\"".to_owned(),
            )),
            Kind::Consul => Ok(Backend::Consul),
            Kind::S3 => Ok(Backend::S3(S3 {
                bucket: setting("bucket", &self.bucket, is_bucket, "3 to 63 of a-z, 0-9, . and -")?
                    .unwrap_or_else(|| BUCKET.to_owned()),
                region: setting("region", &self.region, is_name, "a region such as eu-central-1")?
                    .unwrap_or_else(|| REGION.to_owned()),
                endpoint,
                prefix,
            })),
            Kind::Azurerm => {
                let account = setting(
                    "storage_account",
                    &self.storage_account,
                    is_account,
                    "3 to 24 of a-z and 0-9",
                )?;
                let storage_account = account.ok_or_else(|| {
                    let hint = "Add storage_account = \"...\" to [terraform]";
                    let words = "the backend azurerm needs terraform.storage_account";
                    (at, words.to_owned(), hint.to_owned())
                })?;
                Ok(Backend::Azurerm(Azurerm {
                    storage_account,
                    container: setting("container", &self.container, is_name, "3 to 63 of a-z, 0-9 and -")?
                        .unwrap_or_else(|| CONTAINER.to_owned()),
                    endpoint,
                    metadata_host: setting(
                        "metadata_host",
                        &self.metadata_host,
                        is_host,
                        "a host such as management.example.org",
                    )?,
                    prefix,
                }))
            }
        }
    }

    fn refuse_settings_of_others(&self, kind: Kind) -> Result<(), Mistake> {
        let settings = [
            ("bucket", &self.bucket, &[Kind::S3][..]),
            ("region", &self.region, &[Kind::S3]),
            ("endpoint", &self.endpoint, &[Kind::S3, Kind::Azurerm]),
            ("prefix", &self.prefix, &[Kind::S3, Kind::Azurerm]),
            ("storage_account", &self.storage_account, &[Kind::Azurerm]),
            ("container", &self.container, &[Kind::Azurerm]),
            ("metadata_host", &self.metadata_host, &[Kind::Azurerm]),
        ];
        for (name, value, of) in settings {
            if let Some(value) = value
                && !of.contains(&kind)
            {
                let owners: Vec<&str> = of.iter().map(|kind| kind.word()).collect();
                let owners = owners.join(" and ");
                let words = format!(
                    "terraform.{name} is a setting of the backend {owners}, not of {}",
                    kind.word()
                );
                let hint = format!("Set backend = \"{}\", or leave {name} out", of[0].word());
                return Err((value.span().start, words, hint));
            }
        }
        Ok(())
    }
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Local => "local",
            Kind::Consul => "consul",
            Kind::S3 => "s3",
            Kind::Azurerm => "azurerm",
        }
    }
}

/// The value of a setting, if it is one that it may have.
fn setting(
    name: &str,
    value: &Option<Spanned<String>>,
    may_be: fn(&str) -> bool,
    shape: &str,
) -> Result<Option<String>, Mistake> {
    match value {
        None => Ok(None),
        Some(value) if may_be(value.get_ref()) => Ok(Some(value.get_ref().clone())),
        Some(value) => {
            let words = format!("terraform.{name} cannot be {:?}", value.get_ref());
            Err((value.span().start, words, format!("It is {shape}")))
        }
    }
}

fn is_made_of(text: &str, others: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || others.contains(c);
    text.chars().all(is_allowed) && text.starts_with(|c: char| c.is_ascii_alphanumeric())
}

fn is_bucket(text: &str) -> bool {
    (3..=63).contains(&text.len()) && is_made_of(text, ".-")
}

fn is_name(text: &str) -> bool {
    (3..=63).contains(&text.len()) && is_made_of(text, "-")
}

fn is_account(text: &str) -> bool {
    (3..=24).contains(&text.len()) && is_made_of(text, "")
}

fn is_host(text: &str) -> bool {
    (1..=253).contains(&text.len()) && is_made_of(text, ".-:")
}

fn is_prefix(text: &str) -> bool {
    let is_part = |part: &str| {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        !part.is_empty() && part != "." && part != ".." && part.chars().all(is_allowed)
    };
    text.len() <= 200 && text.split('/').all(is_part)
}

/// Without a person's name and password, and without a query.
fn is_endpoint(text: &str) -> bool {
    let address = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    address.is_some_and(|address| {
        let (host, path) = address.split_once('/').unwrap_or((address, ""));
        is_host(host) && (path.is_empty() || is_prefix(path))
    })
}
