//! What the Salt master serves: the formula, and a first release that asks for nothing.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::durable;
use crate::error::{AtPath, Error, Result};

/// A pillar for nobody. Delivery puts a real release in its place.
const EMPTY_TOP: &str = "#!json\n{\"base\": {}}\n";

/// One file of the formula: its path below the formula's root, and its contents.
pub type FormulaFile<'a> = (&'a str, &'a [u8]);

/// Makes the served formula exactly these files, and gives the digest of all of them.
pub fn install_formula(srv: &Path, formula: &[FormulaFile<'_>]) -> Result<String> {
    let root = srv.join("formula");
    durable::directory(&root, 0o755)?;
    let mut wanted: BTreeSet<PathBuf> = BTreeSet::new();
    let mut digest = Sha256::new();
    let mut sorted = formula.to_vec();
    sorted.sort_unstable();
    for (path, bytes) in sorted {
        let file = root.join(path);
        for directory in file
            .ancestors()
            .skip(1)
            .take_while(|directory| *directory != root)
        {
            durable::directory(directory, 0o755)?;
            wanted.insert(directory.into());
        }
        durable::write(&file, bytes, 0o644)?;
        wanted.insert(file);
        for part in [path.as_bytes(), bytes] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
    }
    remove_others(&root, &wanted)?;
    Ok(hex::encode(digest.finalize()))
}

/// The text of a policy that comes with the formula: its modules need exactly what it allows.
pub fn policy(formula: &[FormulaFile<'_>], path: &'static str) -> Result<String> {
    let found = formula.iter().find(|(there, _)| *there == path);
    let (_, rules) = found.ok_or(Error::FormulaIncomplete { path })?;
    Ok(String::from_utf8_lossy(rules).into_owned())
}

fn remove_others(directory: &Path, wanted: &BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(directory).at("read", directory)? {
        let path = entry.at("read", directory)?.path();
        if !wanted.contains(&path) {
            durable::remove(&path)?;
        } else if path.is_dir() {
            remove_others(&path, wanted)?;
        }
    }
    Ok(())
}

/// Makes the first release, unless there is one already.
pub fn first_release(srv: &Path) -> Result<()> {
    let current = srv.join("current");
    if current.exists() {
        return Ok(());
    }
    let digest = hex::encode(Sha256::digest(EMPTY_TOP.as_bytes()));
    let release = srv.join("releases").join(&digest);
    for part in ["salt", "pillar", "files/terraform"] {
        durable::directory(&release.join(part), 0o755)?;
    }
    durable::write(&release.join("pillar/top.sls"), EMPTY_TOP.as_bytes(), 0o644)?;
    durable::write(
        &release.join("salt/release"),
        format!("{digest}\n").as_bytes(),
        0o644,
    )?;
    // A link that leads nowhere is what a crash or a removed release left.
    durable::remove(&current)?;
    symlink(Path::new("releases").join(digest), &current).at("make link", &current)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_is_exactly_what_was_given() {
        let srv = tempfile::tempdir().unwrap();
        let first: [FormulaFile<'_>; 2] = [("_modules/eos.py", b"one"), ("files/deep/x", b"x")];
        let digest = install_formula(srv.path(), &first).unwrap();
        assert_eq!(
            install_formula(srv.path(), &[first[1], first[0]]).unwrap(),
            digest,
            "order does not matter"
        );
        let second: [FormulaFile<'_>; 1] = [("_modules/eos.py", b"two")];
        assert_ne!(install_formula(srv.path(), &second).unwrap(), digest);
        assert_eq!(
            fs::read(srv.path().join("formula/_modules/eos.py")).unwrap(),
            b"two"
        );
        assert!(
            !srv.path().join("formula/files").exists(),
            "what is no longer part of it is gone"
        );
    }

    #[test]
    fn a_release_is_made_only_where_none_is() {
        let srv = tempfile::tempdir().unwrap();
        first_release(srv.path()).unwrap();
        let release = fs::read_to_string(srv.path().join("current/salt/release")).unwrap();
        assert_eq!(release.len(), 65);
        assert!(
            fs::read_link(srv.path().join("current"))
                .unwrap()
                .ends_with(release.trim())
        );

        fs::create_dir(srv.path().join("releases/own")).unwrap();
        fs::remove_file(srv.path().join("current")).unwrap();
        symlink("releases/own", srv.path().join("current")).unwrap();
        first_release(srv.path()).unwrap();
        assert!(
            fs::read_link(srv.path().join("current"))
                .unwrap()
                .ends_with("own")
        );
    }
}
