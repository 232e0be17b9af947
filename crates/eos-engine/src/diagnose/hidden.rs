//! The secrets of a component, taken out of what its tasks wrote before anybody sees or keeps it.

use secrecy::{ExposeSecret, SecretString};

use crate::engines::Engines;
use crate::error::EngineError;
use crate::secrets::{STAGED_NAMESPACE, SecretPath, Secrets, staged_path};

use eos_core::lowered::secret_path;
use eos_core::profile::Profile;

/// What is shorter would take away half the words around it, and is no secret.
const SHORTEST: usize = 4;
const MASK: &str = "***";

/// Values that are shown as `***`.
pub struct Hidden {
    /// The longest first, so that one value within another leaves nothing of it.
    values: Vec<SecretString>,
}

impl Hidden {
    /// All that the component has, and what an operation has waiting for it.
    pub async fn of(
        engines: &Engines,
        environment: &str,
        component: &str,
        operation: Option<&str>,
    ) -> Result<Self, EngineError> {
        let profile = match engines.vault {
            Some(_) => Profile::Full,
            None => Profile::Solo,
        };
        let mut places = vec![(environment, secret_path(profile, environment, component))];
        if let Some(operation) = operation {
            let staged = staged_path(operation);
            places.push((STAGED_NAMESPACE, format!("{staged}/{component}")));
            places.push((STAGED_NAMESPACE, staged));
        }
        let secrets = engines.secrets();
        let mut values = Vec::new();
        for (namespace, path) in &places {
            let entry = secrets.entry(SecretPath { namespace, path }).await?;
            values.extend(entry.into_iter().flat_map(|entry| entry.items.into_values()));
        }
        Ok(Self::new(values))
    }

    fn new(values: Vec<SecretString>) -> Self {
        let mut hidden: Vec<SecretString> = values.iter().flat_map(forms).collect();
        hidden.sort_by_key(|value| std::cmp::Reverse(value.expose_secret().len()));
        Self { values: hidden }
    }

    /// The text without the values. What is to be cut into lines is given whole: a value may have several.
    pub fn mask(&self, text: &str) -> String {
        self.values.iter().fold(text.to_owned(), |text, value| {
            text.replace(value.expose_secret(), MASK)
        })
    }
}

/// A value as it is, as JSON has it, and each of its lines.
fn forms(value: &SecretString) -> Vec<SecretString> {
    let plain = value.expose_secret();
    let quoted = serde_json::Value::from(plain).to_string();
    let mut forms = vec![plain, &quoted[1..quoted.len() - 1]];
    forms.extend(plain.lines().map(str::trim));
    forms.retain(|form| form.len() >= SHORTEST);
    forms.into_iter().map(SecretString::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(values: &[&str], text: &str) -> String {
        Hidden::new(values.iter().copied().map(SecretString::from).collect()).mask(text)
    }

    #[test]
    fn a_value_is_hidden_wherever_it_stands() {
        assert_eq!(mask(&["hunter22"], "pw=hunter22;hunter22\n"), "pw=***;***\n");
        assert_eq!(mask(&["abcd", "abcdefgh"], "abcdefgh abcd"), "*** ***");
        assert_eq!(mask(&["a\"bcd"], r#"{"pw":"a\"bcd"}"#), r#"{"pw":"***"}"#);
    }

    #[test]
    fn a_value_of_several_lines_is_hidden_whole_and_line_by_line() {
        let key = "-----BEGIN-----\nq83vEjRWeJA=\n-----END-----\n";
        assert_eq!(mask(&[key], key), "***");
        assert_eq!(mask(&[key], "  q83vEjRWeJA=\n"), "  ***\n");
    }

    #[test]
    fn what_is_too_short_to_be_a_secret_stays() {
        assert_eq!(mask(&["a", "yes", ""], "a yes"), "a yes");
    }
}
