//! Which engines an estate has, and so what a component is compiled for.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Salt, Terraform and Nomad: secrets in Nomad variables, discovery by Nomad's services.
    #[default]
    Solo,
    /// Solo with Consul (discovery, locks, Terraform state, mesh) and Vault (secrets).
    Full,
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Profile::Solo => "solo",
            Profile::Full => "full",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_written_as_it_is_shown() {
        assert_eq!(Profile::default(), Profile::Solo);
        for profile in [Profile::Solo, Profile::Full] {
            let text = serde_json::to_value(profile).unwrap();
            assert_eq!(text, profile.to_string());
            assert_eq!(serde_json::from_value::<Profile>(text).unwrap(), profile);
        }
    }
}
