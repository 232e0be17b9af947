//! Owns how the configuration of a provider is completed: from the environment, and from files it names.

use crate::api::Tls;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::value::Value;

/// Gives the value of an environment variable.
type Environment<'a> = dyn Fn(&str) -> Option<String> + Send + Sync + 'a;

/// Completes the configuration of one provider.
pub struct Completion<'a> {
    provider: &'static str,
    environment: Box<Environment<'a>>,
}

/// A certificate or key: in a file, or in the configuration itself.
pub struct Pem<'a> {
    pub file: &'a Value<String>,
    pub file_attribute: &'static str,
    pub inline: &'a Value<String>,
    pub inline_attribute: &'static str,
    /// Names a file, if the configuration does not.
    pub variable: &'static str,
}

/// Where the TLS settings of a provider come from.
pub struct TlsSources<'a> {
    pub authority: Pem<'a>,
    pub certificate: Pem<'a>,
    pub key: Pem<'a>,
}

impl TlsSources<'_> {
    /// Checks a configuration whose values may be unknown.
    pub fn validate(&self) -> Diagnostics {
        let is_set = |pem: &Pem<'_>| pem.file != &Value::Null || pem.inline != &Value::Null;
        let mut found: Diagnostics = [&self.authority, &self.certificate, &self.key]
            .into_iter()
            .filter(|pem| pem.file != &Value::Null && pem.inline != &Value::Null)
            .map(|pem| {
                let both = format!("{} and {}", pem.file_attribute, pem.inline_attribute);
                Diagnostic::error(format!("{both} exclude each other")).at(pem.file_attribute)
            })
            .collect();
        if is_set(&self.certificate) && !is_set(&self.key) {
            found.push(Diagnostic::error("A client certificate needs key_file or key_pem").at("cert_file"));
        }
        found
    }
}

impl<'a> Completion<'a> {
    /// `environment` is asked for one variable at a time; an empty one counts as not set.
    pub fn new(
        provider: &'static str,
        environment: impl Fn(&str) -> Option<String> + Send + Sync + 'a,
    ) -> Self {
        Self {
            provider,
            environment: Box::new(environment),
        }
    }

    pub fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name).filter(|value| !value.is_empty())
    }

    pub fn has_variable_set_to_true(&self, name: &str) -> bool {
        matches!(
            self.variable(name).as_deref(),
            Some("1" | "t" | "true" | "True" | "TRUE")
        )
    }

    /// The attribute; if it is not set, the first of these variables that is.
    pub fn text(
        &self,
        attribute: &'static str,
        value: &Value<String>,
        variables: &[&str],
    ) -> Result<Option<String>, Diagnostics> {
        let configured = self.known(attribute, value)?.filter(|text| !text.is_empty());
        Ok(configured.or_else(|| variables.iter().find_map(|name| self.variable(name))))
    }

    /// An attribute that may be null, but must be known by now.
    pub fn known<T: Clone>(
        &self,
        attribute: &'static str,
        value: &Value<T>,
    ) -> Result<Option<T>, Diagnostics> {
        match value {
            Value::Known(value) => Ok(Some(value.clone())),
            Value::Null => Ok(None),
            Value::Unknown => Err(Diagnostic::error(format!(
                "{attribute} of provider {} is not known before the apply",
                self.provider
            ))
            .hint("Apply what it comes from first: terraform apply -target=ADDRESS")
            .at(attribute)
            .into()),
        }
    }

    pub fn tls(&self, sources: &TlsSources<'_>, skip_verify: bool) -> Result<Tls, Diagnostics> {
        Ok(Tls {
            authority: self.pem(&sources.authority)?,
            certificate: self.pem(&sources.certificate)?,
            key: self.pem(&sources.key)?,
            skip_verify,
        })
    }

    fn pem(&self, pem: &Pem<'_>) -> Result<Option<String>, Diagnostics> {
        if let Some(inline) = self.text(pem.inline_attribute, pem.inline, &[])? {
            return Ok(Some(inline));
        }
        let Some(path) = self.text(pem.file_attribute, pem.file, &[pem.variable])? else {
            return Ok(None);
        };
        let read = std::fs::read_to_string(&path);
        read.map(Some).map_err(|error| {
            Diagnostic::error(format!(
                "File {path} of provider {} cannot be read",
                self.provider
            ))
            .detail(error.to_string())
            .at(pem.file_attribute)
            .into()
        })
    }
}

/// An environment for tests.
#[cfg(test)]
pub fn variables<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
    |name| {
        let found = set.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    }
}
