//! Habits from other programs: two of their verbs work here as well, others lead to the verb that does the same.

use std::ffi::OsString;

/// What people type elsewhere, and what to type here.
const KNOWN: &[(&[&str], &str)] = &[
    (&["ps", "top"], "`eos status` shows what runs"),
    (&["ls"], "`eos list` lists the components"),
    (
        &["remove", "rm", "destroy", "uninstall", "purge"],
        "`eos delete COMPONENT` deletes one",
    ),
    (
        &["deploy", "install", "add", "new"],
        "`eos create RECIPE` creates a component, `eos apply` applies the pillar",
    ),
    (
        &["up"],
        "`eos lab up` starts the engines, `eos create RECIPE` creates a component, `eos start COMPONENT` starts one",
    ),
    (
        &["down", "kill"],
        "`eos stop COMPONENT` stops one, `eos delete COMPONENT` deletes it, `eos lab down` stops the engines",
    ),
    (&["scale"], "`eos update COMPONENT --replicas NUMBER` scales one"),
    (
        &["edit", "set", "change", "configure", "config"],
        "`eos update COMPONENT` changes its options",
    ),
    (
        &["upgrade"],
        "`eos update COMPONENT --upgrade` takes the newest recipe",
    ),
    (
        &["show", "get", "describe", "inspect", "info"],
        "`eos read COMPONENT` shows one, `eos status COMPONENT` shows how it runs",
    ),
    (
        &["exec", "shell", "ssh", "attach", "sh"],
        "Eos runs nothing in an instance; `eos logs COMPONENT` shows what it says, `nomad alloc exec` enters it",
    ),
    (
        &["diff"],
        "`eos plan` shows what an apply changes, `eos drift` what changed outside Eos",
    ),
    (&["revert"], "`eos undo` rolls the newest operation back"),
    (
        &["lint", "validate"],
        "`eos catalog lint` checks recipes, `eos compile` the pillar",
    ),
    (&["search", "recipes"], "`eos catalog list` shows the recipes"),
];

/// What does here what a verb of other programs does there.
pub fn hint(word: &str) -> Option<&'static str> {
    let known = KNOWN.iter().find(|(words, _)| words.contains(&word));
    known.map(|(_, hint)| *hint)
}

/// `eos help VERB` and `eos version` in the words that Eos knows.
pub fn translated(mut line: Vec<OsString>) -> Vec<OsString> {
    let Some(verb) = line.get(1).and_then(|word| word.to_str()) else {
        return line;
    };
    match verb {
        "help" => {
            line.remove(1);
            line.push("--help".into());
        }
        "version" if line.len() == 2 => line[1] = "--version".into(),
        _ => {}
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translate(line: &str) -> String {
        let words = translated(line.split(' ').map(OsString::from).collect());
        words.join(" ".as_ref()).into_string().unwrap()
    }

    #[test]
    fn help_and_version_are_flags() {
        assert_eq!(translate("eos help"), "eos --help");
        assert_eq!(translate("eos help create grafana"), "eos create grafana --help");
        assert_eq!(translate("eos version"), "eos --version");
        assert_eq!(translate("eos create help"), "eos create help");
        assert_eq!(translate("eos"), "eos");
    }
}
