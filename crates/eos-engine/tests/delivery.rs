//! Delivery to a disk that is full or may not be written: `current` stays as it was, and nothing is left behind.
//! Delivery over a damaged release: `current` names a release at every moment.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use eos_engine::delivery::directory::{current, deliver};
use eos_engine::{EngineError, ErrorKind};

fn artifacts(text: &str) -> BTreeMap<String, Vec<u8>> {
    BTreeMap::from([
        ("salt/a.sls".to_owned(), b"a".to_vec()),
        ("salt/b.sls".to_owned(), text.into()),
    ])
}

/// Delivers again, which must fail and change nothing.
fn fails_and_changes_nothing(root: &Path, text: &str) -> EngineError {
    let before = current(root).unwrap();
    let error = deliver(root, &artifacts(text)).unwrap_err();
    assert_eq!(current(root).unwrap(), before);
    assert!(root.join("current/salt/release").is_file());
    assert_eq!(fs::read_dir(root.join("releases")).unwrap().count(), 1);
    assert_eq!(fs::read_dir(root).unwrap().count(), 2);
    error
}

fn mount(arguments: &[&str], at: &Path) -> bool {
    Command::new("mount")
        .args(arguments)
        .arg(at)
        .output()
        .is_ok_and(|done| done.status.success())
}

struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_and_a_read_only_one() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    if !mount(&["-t", "tmpfs", "-o", "size=256k,mode=0755", "tmpfs"], root) {
        println!("skipped: this user may not mount");
        return;
    }
    let _mounted = Mounted(root);
    deliver(root, &artifacts("small")).unwrap();

    let error = fails_and_changes_nothing(root, &"large".repeat(100_000));
    assert_eq!(error.kind, ErrorKind::Failed);
    assert_eq!(error.words, format!("the disk of {} is full", root.display()));
    assert!(error.object.ends_with("salt/b.sls"), "{error}");

    assert!(mount(&["-o", "remount,ro"], root));
    let error = fails_and_changes_nothing(root, "other");
    assert_eq!(error.kind, ErrorKind::Refused);
}

#[test]
fn a_directory_that_may_not_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    deliver(root, &artifacts("small")).unwrap();
    let releases = root.join("releases");
    fs::set_permissions(&releases, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::File::create_new(releases.join("probe")).is_ok() {
        println!("skipped: this user may write everywhere");
        return;
    }
    let error = fails_and_changes_nothing(root, "other");
    assert_eq!(error.kind, ErrorKind::Refused);
    assert!(error.words.contains("Permission denied"), "{error}");
}

/// Somebody reads all the while; a kill at any moment leaves what a reader can see at that moment.
#[test]
fn a_damaged_release_is_replaced_without_a_gap() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    deliver(root, &artifacts("right")).unwrap();
    let (over, release) = (AtomicBool::new(false), root.join("current/salt/release"));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0;
            while !over.load(Ordering::Relaxed) {
                fs::symlink_metadata(&release).expect("current names no release");
                reads += 1;
            }
            reads
        });
        for _ in 0..300 {
            fs::write(root.join("current/salt/b.sls"), "damaged").unwrap();
            deliver(root, &artifacts("right")).unwrap();
        }
        over.store(true, Ordering::Relaxed);
        let reads: u32 = reader.join().unwrap();
        assert!(reads > 1000, "only {reads} reads");
    });
    assert_eq!(fs::read(root.join("current/salt/b.sls")).unwrap(), b"right");
    assert_eq!(fs::read_dir(root.join("releases")).unwrap().count(), 1);
}
