//! What holds for every verb, also for those to come: they are taken from what the program completes.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn eos(at: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_eos"))
        .args(words)
        .current_dir(at)
        .env_remove("EOS_ESTATE")
        .env("HOME", at)
        .stdin(Stdio::null())
        .output()
        .expect("eos")
}

fn verbs(at: &Path) -> Vec<String> {
    let answer = eos(at, &["complete", "--", "eos", ""]).stdout;
    let answer = String::from_utf8(answer).expect("UTF-8");
    let words = answer.lines().skip(1).filter_map(|line| line.split('\t').next());
    let verbs: Vec<_> = words.map(str::to_owned).collect();
    assert!(verbs.len() > 15, "{verbs:?}");
    verbs
}

#[test]
fn every_verb_answers_in_json_and_says_nothing_else() {
    let home = tempfile::tempdir().expect("a directory");
    for verb in verbs(home.path()) {
        let wrong = [verb.as_str(), "--no-such-flag", "--json"];
        for words in [
            &[verb.as_str(), "--json"][..],
            &[verb.as_str(), "--help", "--json"],
            &wrong,
        ] {
            // Each in a directory of its own: one of the verbs makes an estate.
            let at = tempfile::tempdir_in(&home).expect("a directory");
            let ran = eos(at.path(), words);
            let said = String::from_utf8_lossy(&ran.stderr);
            assert_eq!(said, "", "{words:?}");
            let answer = String::from_utf8(ran.stdout).expect("UTF-8");
            assert!(!answer.is_empty(), "{words:?}");
            for line in answer.lines() {
                let document: serde_json::Value =
                    serde_json::from_str(line).unwrap_or_else(|error| panic!("{words:?}: {error}: {line}"));
                assert_eq!(document["version"], 1, "{words:?}");
            }
        }
    }
}

#[test]
fn every_manual_page_is_set_without_a_warning() {
    if Command::new("groff").arg("--version").output().is_err() {
        println!("skipped: groff is not installed");
        return;
    }
    let home = tempfile::tempdir().expect("a directory");
    let mut pages = verbs(home.path());
    pages.push(String::new());
    for verb in pages {
        let words: Vec<&str> = ["man", &verb]
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect();
        let page = eos(home.path(), &words).stdout;
        assert!(page.starts_with(b".TH"), "{verb}");
        let mut groff = Command::new("groff")
            .args(["-man", "-ww", "-Tutf8"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("groff");
        let mut input = groff.stdin.take().expect("a pipe");
        input.write_all(&page).expect("groff reads");
        drop(input);
        let set = groff.wait_with_output().expect("groff ends");
        assert_eq!(String::from_utf8_lossy(&set.stderr), "", "{verb}");
        assert!(
            String::from_utf8_lossy(&set.stdout).contains("Print JSON"),
            "{verb}"
        );
    }
}
