//! Every write of the store is on disk when it returns: shown by killing the process right after each.

#![cfg(debug_assertions)]

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use eos_engine::Store;
use eos_engine::audit::Actor;
use eos_engine::env_names::{FAULT_KILL_AT, FAULT_TRACE};
use eos_engine::store::{Applied, Event, NewOperation, Outcome};
use serde_json::json;

const ROOT: Actor<'_> = Actor {
    who: "root",
    user: "",
};

/// Not a test of its own: what the killed process does, in the directory it is started in.
#[test]
#[ignore = "started by the test below"]
fn an_operation() {
    let mut store = Store::open(Path::new(".")).unwrap();
    let components = ["grafana".to_owned()];
    let new = NewOperation {
        environment: "production",
        components: &components,
        words: "create grafana",
        by: ROOT,
        plan: &json!({}),
        takes_back: None,
    };
    let operation = Store::new_operation_id();
    store.begin_operation(&operation, &new).unwrap();
    store.record_commit(&operation, "a41c9e2").unwrap();
    for step in ["secret", "volume"] {
        store.begin_step(&operation, step, &json!({})).unwrap();
        store.end_step(&operation, step, &json!({})).unwrap();
    }
    let applied = Applied {
        environment: "production".to_owned(),
        component: "grafana".to_owned(),
        digest: "1".to_owned(),
        nodes: json!([]),
        operation: operation.clone(),
    };
    store.set_applied(&applied).unwrap();
    store.end_operation(&operation, Outcome::Done, ROOT).unwrap();
}

#[test]
fn a_process_killed_after_any_write_has_written_it() {
    const TRACE: [&str; 8] = [
        "1 INSERT INTO operations",
        "2 UPDATE operations SET",
        "3 begin step secret",
        "4 end step secret",
        "5 begin step volume",
        "6 end step volume",
        "7 INSERT OR REPLACE",
        "8 UPDATE operations SET",
    ];
    let (estate, signal) = run_and_kill_at(0);
    assert_eq!(
        (signal, trace(estate.path())),
        (None, TRACE.map(str::to_owned).to_vec())
    );

    for number in 1..=TRACE.len() {
        let (estate, signal) = run_and_kill_at(number);
        assert_eq!(signal, Some(9), "at write {number}");
        assert_eq!(trace(estate.path()), TRACE[..number]);
        let store = Store::open(estate.path()).unwrap();
        let operation = store.history(1).unwrap().remove(0);
        assert_eq!(operation.commit_after.is_some(), number >= 2);
        let events: Vec<Event> = store
            .journal(&operation.id)
            .unwrap()
            .into_iter()
            .map(|entry| entry.event)
            .collect();
        assert_eq!(events.len(), number.clamp(2, 6) - 2, "at write {number}");
        assert_eq!(
            store.open_steps(&operation.id).unwrap().len(),
            usize::from([3, 5].contains(&number))
        );
        assert_eq!(
            store.applied("production").unwrap().len(),
            usize::from(number >= 7)
        );
        assert_eq!(store.unfinished().unwrap().len(), usize::from(number < 8));
    }
}

fn run_and_kill_at(number: usize) -> (tempfile::TempDir, Option<i32>) {
    let estate = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "an_operation", "--ignored"])
        .current_dir(estate.path())
        .env(FAULT_TRACE, estate.path().join("trace"))
        .env(FAULT_KILL_AT, number.to_string())
        .output()
        .unwrap();
    let signal = output.status.signal();
    assert!(
        signal.is_some() || output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    (estate, signal)
}

fn trace(estate: &Path) -> Vec<String> {
    std::fs::read_to_string(estate.join("trace"))
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}
