//! The name of an image, as people and Docker write it.

use std::fmt;
use std::str::FromStr;

/// `postgres:17.6`, `prom/prometheus:v3.5.0`, `registry.example:5000/team/app:1`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// The registry that the name itself gives; a mirror is not asked for such images.
    pub host: Option<String>,
    pub path: String,
    pub tag: String,
}

impl Reference {
    /// Where a registry keeps it: images of one word are those of `library`.
    pub fn repository(&self) -> String {
        match self.path.contains('/') {
            true => self.path.clone(),
            false => format!("library/{}", self.path),
        }
    }
}

impl FromStr for Reference {
    type Err = String;

    fn from_str(text: &str) -> Result<Reference, String> {
        let (host, rest) = match text.split_once('/') {
            Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" => {
                (Some(first.to_owned()), rest)
            }
            _ => (None, text),
        };
        let (path, tag) = rest.split_once(':').unwrap_or((rest, "latest"));
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let is_part = |part: &str| {
            part.starts_with(is_plain)
                && part.ends_with(is_plain)
                && part.chars().all(|c| is_plain(c) || "._-".contains(c))
        };
        let is_tag = !tag.is_empty()
            && tag.len() <= 128
            && !tag.starts_with(['.', '-'])
            && tag
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        let is_host = |host: &String| {
            let is_plain = |c: char| c.is_ascii_alphanumeric();
            host.starts_with(is_plain)
                && host.ends_with(is_plain)
                && host.chars().all(|c| is_plain(c) || ".:-".contains(c))
        };
        if !path.split('/').all(is_part) || !is_tag || !host.iter().all(is_host) {
            return Err(format!(
                "\"{}\" is not the name of an image",
                text.escape_default()
            ));
        }
        Ok(Reference {
            host,
            path: path.to_owned(),
            tag: tag.to_owned(),
        })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(host) = &self.host {
            write!(out, "{host}/")?;
        }
        write!(out, "{}:{}", self.path, self.tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_docker_reads_them() {
        let read = |text: &str| text.parse::<Reference>().unwrap();
        assert_eq!(read("postgres:17.6").repository(), "library/postgres");
        assert_eq!(read("prom/prometheus:v3.5.0").repository(), "prom/prometheus");
        assert_eq!(read("caddy").to_string(), "caddy:latest");
        let far = read("registry.example:5000/team/app:1");
        assert_eq!(far.host.as_deref(), Some("registry.example:5000"));
        assert_eq!(far.to_string(), "registry.example:5000/team/app:1");
        for wrong in [
            "", "Postgres", "a//b", "a:", "a:b:c", "a b", "../a", "a/-b", "a:-x", "a?x=y",
        ] {
            assert!(wrong.parse::<Reference>().is_err(), "{wrong}");
        }
    }
}
