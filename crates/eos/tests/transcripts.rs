//! Transcripts of the command line: each file under `tests/transcripts/` is a session, run again and compared.
//!
//! A line that starts with `$ ` is run by a shell in a directory that the session has for itself; `$FILES` is the folder
//! of its name, with files to copy from. Below it stand the lines of standard output (`1 `) and standard error (`2 `),
//! then the exit code. A line that starts with `@ applied ` names an estate whose pillar is from then on what was last
//! applied, as after an operation. What differs from run to run stands in brackets. `SNAPSHOTS=overwrite cargo test -p eos`
//! writes them anew.

use eos_engine::audit::Actor;
use eos_engine::estate::Estate;
use eos_engine::store::{Applied, NewOperation, Outcome, Store};
use regex::Regex;
use snapbox::{Assert, Data};
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Neither the estate nor the options, engines and colours of whoever runs the tests.
const UNWANTED: [&str; 8] = [
    "EOS_ESTATE",
    "EOS_OPTION_PORT",
    "COLUMNS",
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "SUDO_USER",
    "GIT_DIR",
];

fn session(file: &Path) -> String {
    // Always as long: where lines are wrapped depends on it.
    let home = tempfile::Builder::new()
        .prefix("eos-")
        .tempdir_in("/tmp")
        .expect("a directory for the session");
    let place = home
        .path()
        .canonicalize()
        .expect("the directory is there")
        .join("work");
    std::fs::create_dir(&place).expect("a directory to work in");
    let program = Path::new(env!("CARGO_BIN_EXE_eos"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!(
        "{}:{path}",
        program.parent().expect("it is in a directory").display()
    );
    let mut transcript = String::new();
    for line in std::fs::read_to_string(file).expect("the transcript").lines() {
        if let Some(estate) = line.strip_prefix("@ applied ") {
            take_as_applied(&place.join(estate));
            writeln!(transcript, "{line}").unwrap();
            continue;
        }
        let Some(command) = line.strip_prefix("$ ") else {
            if line.starts_with('#') || line.is_empty() {
                writeln!(transcript, "{line}").unwrap();
            }
            continue;
        };
        let mut shell = Command::new("sh");
        shell
            .args(["-c", command])
            .current_dir(&place)
            .stdin(Stdio::null());
        for name in UNWANTED {
            shell.env_remove(name);
        }
        shell
            .env("FILES", file.with_extension(""))
            .env("PATH", &path)
            .env("HOME", home.path())
            .env("USER", "ada")
            .env("TZ", "UTC");
        let ran = shell.output().expect("a shell");
        writeln!(transcript, "$ {command}").unwrap();
        for (mark, bytes) in [(1, &ran.stdout), (2, &ran.stderr)] {
            for line in String::from_utf8_lossy(bytes).lines() {
                writeln!(transcript, "{}", format!("{mark} {line}").trim_end()).unwrap();
            }
        }
        writeln!(
            transcript,
            "exit {}",
            ran.status
                .code()
                .map_or("by signal".to_owned(), |code| code.to_string())
        )
        .unwrap();
    }
    settled(&transcript.replace(place.to_str().expect("UTF-8"), "[WORK]"))
}

const ADA: Actor<'_> = Actor { who: "ada", user: "" };

fn take_as_applied(estate: &Path) {
    let estate = Estate::open(Some(estate)).expect("an estate");
    let compilation = estate.compile().expect("a sound pillar");
    let mut store = estate.store().expect("a store");
    let operation = Store::new_operation_id();
    let new = NewOperation {
        environment: "production",
        components: &[],
        words: "eos apply",
        by: ADA,
        plan: &serde_json::json!({}),
        takes_back: None,
    };
    store.begin_operation(&operation, &new).expect("an operation");
    store
        .end_operation(&operation, Outcome::Done, ADA)
        .expect("an operation");
    for (key, nodes) in &compilation.all_nodes() {
        let applied = Applied {
            environment: key.0.clone(),
            component: key.1.clone(),
            digest: compilation.digest(key).expect("each has one"),
            nodes: serde_json::to_value(nodes).expect("nodes have a JSON form"),
            operation: operation.clone(),
        };
        store.set_applied(&applied).expect("a store");
    }
}

/// What differs from run to run, or with every change of a recipe, by its kind.
fn settled(transcript: &str) -> String {
    let kinds = [
        (r"[0-9a-f]{64}", "[DIGEST]"),
        (r"release [0-9a-f]{12}", "release [DIGEST]"),
        (r"-[0-9a-f]{12}\b", "-[PIN]"),
        (r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "[TIME]"),
    ];
    let mut text = transcript.replace(&format!("eos {}", env!("CARGO_PKG_VERSION")), "eos [VERSION]");
    for (pattern, kind) in kinds {
        text = Regex::new(pattern)
            .expect("a pattern")
            .replace_all(&text, kind)
            .into_owned();
    }
    text
}

#[test]
fn every_transcript_reads_as_before() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let assert = Assert::new()
        .normalize_paths(false)
        .action_env(snapbox::assert::DEFAULT_ACTION_ENV);
    let entries = std::fs::read_dir(directory)
        .expect("transcripts")
        .map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|kind| kind == "txt"))
        .collect();
    files.sort();
    assert!(files.len() > 5, "transcripts are missing");
    for file in files {
        assert.eq(session(&file), Data::read_from(&file, None));
    }
}
