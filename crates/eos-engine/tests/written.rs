//! Generated files are written only where they differ, and a hand's edit is never taken for what was written.

use eos_core::emit::Artifacts;
use eos_engine::estate::Estate;
use std::fs;

fn artifacts(files: &[(&str, &str)]) -> Artifacts {
    let files = files.iter();
    files
        .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
        .collect()
}

#[tokio::test]
async fn only_what_differs_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let estate = Estate::init(&directory.path().join("estate")).await.unwrap();
    let file = |path: &str| estate.root.join(path);
    let first = artifacts(&[("graph/production/a.json", "one"), ("salt/b.sls", "two")]);
    estate.write_artifacts(&first).unwrap();
    assert_eq!(estate.write_changed(&first).unwrap(), 0);

    // The same size, and in the same instant as the record: the content decides.
    fs::write(file("salt/b.sls"), "owt").unwrap();
    assert_eq!(estate.write_changed(&first).unwrap(), 1);
    assert_eq!(fs::read_to_string(file("salt/b.sls")).unwrap(), "two");

    fs::remove_file(file("graph/production/a.json")).unwrap();
    assert_eq!(estate.write_changed(&first).unwrap(), 1);

    let second = artifacts(&[("graph/production/a.json", "three")]);
    assert_eq!(
        estate.write_changed(&second).unwrap(),
        2,
        "one written, one removed"
    );
    assert!(!file("salt").exists());

    // A record that cannot be read costs time only.
    fs::write(file(".eos/written"), "nonsense").unwrap();
    fs::write(file("graph/production/a.json"), "other").unwrap();
    assert_eq!(estate.write_changed(&second).unwrap(), 1);
    assert_eq!(estate.write_changed(&second).unwrap(), 0);
    assert!(estate.differing(&second).unwrap().is_empty());
}
