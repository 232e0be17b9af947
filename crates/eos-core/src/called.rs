//! What engines call the things that people name: the one mapping, which `eos why` shows where it gives another name.
//!
//! Most things keep their name (`name`), with their environment where an engine has none (`lowered::instance_name`). What
//! is here is another word in an engine. No two names give one word; `passes::check_names` refuses those that would.

use serde::Serialize;

/// What one engine calls a thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Called {
    /// Who calls it so, such as LVM.
    pub by: &'static str,
    pub name: String,
}

impl Called {
    pub(crate) fn new(by: &'static str, name: impl Into<String>) -> Self {
        Self {
            by,
            name: name.into(),
        }
    }
}

/// The SLS of a component that has one piece of it.
pub fn piece_sls(environment: &str, component: &str, piece: &str) -> String {
    format!("components.{component}.{environment}.{piece}")
}

/// The SLS that has what one minion needs of the pillar.
pub fn slice_sls(minion: &str) -> String {
    format!("hosts.{minion}")
}

/// Where that lies below the estate.
pub fn slice_file(minion: &str) -> String {
    sls_file("pillar", &slice_sls(minion))
}

/// Where Salt looks for an SLS below a root. It takes a dot, also one of a minion's id, for the end of a directory.
pub fn sls_file(root: &str, sls: &str) -> String {
    format!("{root}/{}.sls", sls.replace('.', "/"))
}

/// The device of a logical volume. The kernel has one name for both: a hyphen of either is written twice.
pub fn device(group: &str, volume: &str) -> String {
    let [group, volume] = [group, volume].map(|name| name.replace('-', "--"));
    format!("/dev/mapper/{group}-{volume}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn an_sls_lies_where_salt_looks_for_it() {
        assert_eq!(slice_file("node1"), "pillar/hosts/node1.sls");
        assert_eq!(
            slice_file("web1.example.org"),
            "pillar/hosts/web1/example/org.sls"
        );
        let sls = piece_sls("production", "shop", "volumes-web1.example.org");
        assert_eq!(
            sls_file("salt", &sls),
            "salt/components/shop/production/volumes-web1/example/org.sls"
        );
    }

    #[test]
    fn no_two_names_give_one() {
        let names = [
            "a", "a.b", "a.b.c", "a_b", "a-b", "a--b", "A.b", "a.sls", "a.sls.b",
        ];
        let files: BTreeSet<String> = names.iter().map(|name| slice_file(name)).collect();
        assert_eq!(files.len(), names.len());
        // No directory has the name of a file.
        assert!(
            files
                .iter()
                .all(|file| !files.iter().any(|other| other.starts_with(&format!("{file}/"))))
        );
        assert_eq!(
            device("data-vg", "database_volume"),
            "/dev/mapper/data--vg-database_volume"
        );
        let pairs = [
            ("a", "b-c"),
            ("a-b", "c"),
            ("a-", "b"),
            ("a--b", "c"),
            ("a", "b--c"),
        ];
        let devices: BTreeSet<String> = pairs
            .iter()
            .map(|(group, volume)| device(group, volume))
            .collect();
        assert_eq!(devices.len(), pairs.len());
    }
}
