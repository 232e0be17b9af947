//! Golden trees: `tests/golden/<case>/pillar` in, `tests/golden/<case>/tree` out, to the byte.
//! `EOS_BLESS=1 cargo test -p eos-core --test golden` writes the trees anew.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use eos_core::backend::{Azurerm, Backend, S3, Setup};
use eos_core::catalog::Catalog;
use eos_core::compile::compile;
use eos_core::pillar::{Pillar, PillarFiles};
use eos_core::profile::Profile;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

fn files_below(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else {
                let name = entry
                    .path()
                    .strip_prefix(directory)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                files.insert(name, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    files
}

fn cases() -> Vec<PathBuf> {
    let mut cases: Vec<_> = std::fs::read_dir(golden())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.sort();
    cases
}

/// Cases of the full profile begin with its name.
fn profile(case: &Path) -> Profile {
    match case.file_name().unwrap().to_str().unwrap().starts_with("full") {
        true => Profile::Full,
        false => Profile::Solo,
    }
}

/// Cases of another Terraform backend than the profile's own bear its name.
fn setup(case: &Path) -> Setup {
    let (profile, prefix) = (profile(case), Some("eos".to_owned()));
    match case.file_name().unwrap().to_str().unwrap() {
        "backend-s3" => Setup {
            profile,
            backend: Backend::S3(S3 {
                bucket: "eos-terraform-state".to_owned(),
                region: "eu-central-1".to_owned(),
                endpoint: Some("https://store.example.org:9000".to_owned()),
                prefix,
            }),
        },
        "backend-azurerm" => Setup {
            profile,
            backend: Backend::Azurerm(Azurerm {
                storage_account: "eosstates".to_owned(),
                container: "eos-terraform-state".to_owned(),
                endpoint: None,
                metadata_host: None,
                prefix,
            }),
        },
        _ => profile.into(),
    }
}

fn compiled(case: &Path) -> BTreeMap<String, Vec<u8>> {
    let pillar: PillarFiles = files_below(&case.join("estate"));
    let recipes: Vec<_> = files_below(&case.join("recipes"))
        .into_iter()
        .map(|(name, text)| (format!("recipes/{name}"), text))
        .collect();
    let catalog = Catalog::load(&recipes).unwrap();
    compile(&Pillar::read(&pillar).unwrap(), &catalog, setup(case))
        .unwrap_or_else(|found| panic!("{}: {found:#?}", case.display()))
        .artifacts
}

#[test]
fn every_case_compiles_to_its_tree() {
    let cases = cases();
    assert!(cases.len() >= 3, "golden cases are missing");
    for case in cases {
        let artifacts = compiled(&case);
        let tree = case.join("tree");
        if std::env::var("EOS_BLESS").is_ok() {
            if tree.exists() {
                std::fs::remove_dir_all(&tree).unwrap();
            }
            for (path, bytes) in &artifacts {
                let path = tree.join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, bytes).unwrap();
            }
        }
        let expected = files_below(&tree);
        let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&artifacts), names(&expected), "{}", case.display());
        for (path, bytes) in &artifacts {
            assert_eq!(
                String::from_utf8_lossy(bytes),
                String::from_utf8_lossy(&expected[path]),
                "{} {path}",
                case.display()
            );
        }
    }
}

#[test]
fn two_compiles_are_equal_to_the_byte() {
    for case in cases() {
        assert_eq!(compiled(&case), compiled(&case), "{}", case.display());
    }
}
