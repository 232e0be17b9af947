//! The name of a container image, as people and Docker write it.

use crate::name::quoted;
use std::fmt;
use std::str::FromStr;

/// The tag that is meant where a name has neither tag nor digest.
const USUAL_TAG: &str = "latest";

/// `postgres:17.6`, `prom/prometheus:v3.5.0`, `registry.example:5000/team/app:1@sha256:...`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// The registry that the name itself gives; a mirror is not asked for such images.
    pub host: Option<String>,
    pub path: String,
    pub tag: Option<String>,
    /// `sha256:...`, where the name says which image it is.
    pub digest: Option<String>,
}

impl Reference {
    /// Where a registry keeps it: images of one word are those of `library`.
    pub fn repository(&self) -> String {
        match self.path.contains('/') {
            true => self.path.clone(),
            false => format!("library/{}", self.path),
        }
    }

    pub fn tag(&self) -> &str {
        self.tag.as_deref().unwrap_or(USUAL_TAG)
    }

    /// The last word of its path: what most people call it.
    pub fn short(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

impl FromStr for Reference {
    type Err = String;

    fn from_str(text: &str) -> Result<Reference, String> {
        let (named, digest) = match text.split_once('@') {
            Some((named, digest)) => (named, Some(digest)),
            None => (text, None),
        };
        let (host, rest) = match named.split_once('/') {
            Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" => {
                (Some(first.to_owned()), rest)
            }
            _ => (None, named),
        };
        let (path, tag) = match rest.split_once(':') {
            Some((path, tag)) => (path, Some(tag)),
            None => (rest, digest.is_none().then_some(USUAL_TAG)),
        };
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let is_part = |part: &str| {
            part.starts_with(is_plain)
                && part.ends_with(is_plain)
                && part.chars().all(|c| is_plain(c) || "._-".contains(c))
        };
        let is_tag = |tag: &str| {
            !tag.is_empty()
                && tag.len() <= 128
                && !tag.starts_with(['.', '-'])
                && tag
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
        };
        let is_host = |host: &String| {
            let is_plain = |c: char| c.is_ascii_alphanumeric();
            host.starts_with(is_plain)
                && host.ends_with(is_plain)
                && host.chars().all(|c| is_plain(c) || ".:-".contains(c))
        };
        let fits = path.len() <= 255 && path.split('/').all(is_part) && tag.is_none_or(is_tag);
        if !fits || !host.iter().all(is_host) || !digest.is_none_or(is_digest) {
            return Err(format!("{} is not the name of an image", quoted(text)));
        }
        Ok(Reference {
            host,
            path: path.to_owned(),
            tag: tag.map(str::to_owned),
            digest: digest.map(str::to_owned),
        })
    }
}

/// Whether a text is a digest as registries write it.
pub fn is_digest(text: &str) -> bool {
    let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    text.strip_prefix("sha256:")
        .is_some_and(|hex| hex.len() == 64 && hex.chars().all(is_hex))
}

impl fmt::Display for Reference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(host) = &self.host {
            write!(out, "{host}/")?;
        }
        out.write_str(&self.path)?;
        if let Some(tag) = &self.tag {
            write!(out, ":{tag}")?;
        }
        match &self.digest {
            Some(digest) => write!(out, "@{digest}"),
            None => Ok(()),
        }
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
        assert_eq!(far.short(), "app");
        let digest = format!("sha256:{}", "0a".repeat(32));
        for pinned in [format!("caddy@{digest}"), format!("localhost/a/b:1@{digest}")] {
            assert_eq!(read(&pinned).to_string(), pinned);
            assert_eq!(read(&pinned).digest.as_ref(), Some(&digest));
        }
        for wrong in [
            "",
            "Postgres",
            "a//b",
            "a:",
            "a:b:c",
            "a b",
            "../a",
            "a/-b",
            "a:-x",
            "a?x=y",
            "a@",
            "a@sha256:0a",
            "a@md5:00",
        ] {
            assert!(wrong.parse::<Reference>().is_err(), "{wrong}");
        }
    }
}
