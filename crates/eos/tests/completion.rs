//! Completion in the real shells: keys are typed on a pseudo terminal (bash, zsh) or the shell is asked itself (fish).
//! A shell that is not installed is skipped, and says so.

use eos_engine::audit::Actor;
use eos_engine::estate::Estate;
use eos_engine::store::{Applied, NewOperation, Outcome, Store};
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What is typed before the tab key, and the line after it; a space or slash at its end is the shell's own affair.
const CASES: &[(&str, &str)] = &[
    ("eos crea", "eos create"),
    ("eos complet", "eos completions"),
    ("eos create graf", "eos create grafana"),
    ("eos create boa", "eos create board"),
    ("eos create grafana --po", "eos create grafana --port"),
    (
        "eos create grafana --port 3000 --adm",
        "eos create grafana --port 3000 --admin-password",
    ),
    ("eos create board --the", "eos create board --theme"),
    ("eos create board --theme d", "eos create board --theme dark"),
    ("eos create board --theme=d", "eos create board --theme=dark"),
    ("eos create board --public=t", "eos create board --public=true"),
    ("eos update we", "eos update web"),
    ("eos update web --adm", "eos update web --admin-password"),
    ("eos -e st", "eos -e staging"),
    ("eos --environment=st", "eos --environment=staging"),
    ("eos -e staging delete sh", "eos -e staging delete shop"),
    ("eos logs hel", "eos logs hello"),
    ("eos catalog sh", "eos catalog show"),
    ("eos catalog show hel", "eos catalog show hello"),
    ("eos man lab u", "eos man lab up"),
    ("eos plan --out sav", "eos plan --out saved.json"),
    ("eos apply sav", "eos apply saved.json"),
    ("eos list --estate pil", "eos list --estate pillar"),
    (
        "eos create board --title unknowable",
        "eos create board --title unknowable",
    ),
];

const BASHRC: &str = r#"
PS1='' PROMPT_COMMAND='echo ready >> "$SEEN"'
source <(eos completions bash)
note() { printf '%s\n' "$READLINE_LINE" >> "$SEEN"; READLINE_LINE=; READLINE_POINT=0; }
bind -x '"\C-n": note'
"#;

const ZSHRC: &str = r#"
PS1=''
fpath=("$HOME" $fpath)
eos completions zsh > "$HOME/_eos"
autoload -Uz compinit && compinit -u -d "$HOME/dump"
ready() { print ready >> "$SEEN" }
zle -N zle-line-init ready
note() { print -r -- "$BUFFER" >> "$SEEN"; BUFFER= }
zle -N note
bindkey '^N' note
"#;

/// An estate with a recipe of its own and components in two environments.
struct Site {
    home: tempfile::TempDir,
}

impl Site {
    fn new() -> Self {
        let site = Self {
            home: tempfile::tempdir().expect("a directory"),
        };
        let made = site
            .command("eos")
            .args(["init", "estate"])
            .output()
            .expect("eos");
        assert!(made.status.success(), "{made:?}");
        let board = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts/own-recipe/board.yaml");
        let components = |text: &str| format!("#!yaml\ncomponents:\n{text}");
        site.write(
            "recipes/board/recipe.yaml",
            &fs::read_to_string(board).expect("the recipe"),
        );
        site.write(
            "pillar/infrastructure/production.sls",
            &components("  hello: {recipe: hello}\n  web: {recipe: grafana}\n"),
        );
        site.write(
            "pillar/infrastructure/staging.sls",
            &components("  shop: {recipe: board}\n"),
        );
        site.write("saved.json", "{}\n");
        site
    }

    fn estate(&self) -> PathBuf {
        self.home.path().join("estate")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.estate().join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("it can be made");
        fs::write(path, text).expect("it can be written");
    }

    fn command(&self, program: &str) -> Command {
        let eos = Path::new(env!("CARGO_BIN_EXE_eos"))
            .parent()
            .expect("a directory");
        let path = std::env::var("PATH").unwrap_or_default();
        let at = match self.estate().exists() {
            true => self.estate(),
            false => self.home.path().to_owned(),
        };
        let mut command = Command::new(program);
        command
            .current_dir(at)
            .env_remove("EOS_ESTATE")
            .env("PATH", format!("{}:{path}", eos.display()))
            .env("HOME", self.home.path())
            .env("ZDOTDIR", self.home.path())
            .env("SEEN", self.home.path().join("seen"))
            .env("TERM", "xterm")
            .env("LC_ALL", "C.UTF-8");
        command
    }

    /// What `eos complete` answers, without its first line; it never fails and never complains.
    fn complete(&self, words: &[&str]) -> Vec<String> {
        let ran = self
            .command("eos")
            .args(["complete", "--", "eos"])
            .args(words)
            .output()
            .expect("eos");
        assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
        let answer = String::from_utf8(ran.stdout).expect("UTF-8");
        answer.lines().skip(1).map(str::to_owned).collect()
    }
}

/// Whether the shell is there; where it is not, the reader of the results is told.
fn there(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok();
    if !there {
        println!("skipped: {program} is not installed");
    }
    there
}

/// A shell on a pseudo terminal, which writes each line that it is asked for into a file.
struct Typing<'a> {
    site: &'a Site,
    terminal: Child,
    seen: usize,
}

impl<'a> Typing<'a> {
    fn start(site: &'a Site, shell: &str) -> Self {
        let terminal = site
            .command("script")
            .args(["--quiet", "--return", "--command", shell, "/dev/null"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("script, of util-linux");
        let mut typing = Self {
            site,
            terminal,
            seen: 0,
        };
        assert_eq!(typing.next_line(), "ready");
        typing
    }

    fn next_line(&mut self) -> String {
        let since = Instant::now();
        loop {
            let text = fs::read_to_string(self.site.home.path().join("seen")).unwrap_or_default();
            let whole = text.rfind('\n').map_or("", |end| &text[..end]);
            if let Some(line) = whole.lines().nth(self.seen) {
                self.seen += 1;
                return line.to_owned();
            }
            assert!(
                since.elapsed() < Duration::from_secs(60),
                "the shell wrote only: {text}"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn type_keys(&mut self, keys: &str) {
        let input = self.terminal.stdin.as_mut().expect("a pipe");
        input
            .write_all(keys.as_bytes())
            .and_then(|()| input.flush())
            .expect("the shell reads");
    }

    /// The line after `keys`, which is then emptied.
    fn line_after(&mut self, keys: &str) -> String {
        self.type_keys(&format!("{keys}\x0e"));
        self.next_line().trim_end_matches([' ', '/']).to_owned()
    }

    /// Ends the shell; everything that was on its screen.
    fn end(mut self) -> String {
        self.type_keys("exit\r");
        let mut screen = Vec::new();
        let mut output = self.terminal.stdout.take().expect("a pipe");
        output.read_to_end(&mut screen).expect("the screen");
        self.terminal.wait().expect("script ends");
        String::from_utf8_lossy(&screen).into_owned()
    }
}

fn complete_on_a_terminal(site: &Site, shell: &str) -> String {
    let mut typing = Typing::start(site, shell);
    for (keys, expected) in CASES {
        assert_eq!(
            typing.line_after(&format!("{keys}\t")),
            *expected,
            "{keys} in {shell}"
        );
    }
    // What stands behind the cursor is left alone.
    let inside = typing.line_after("eos crea grafana\x1bb\x02\t");
    assert_eq!(
        inside.split_whitespace().collect::<Vec<_>>(),
        ["eos", "create", "grafana"],
        "{shell}"
    );
    // Two tabs list what there is.
    typing.line_after("eos create grafana --\t\t");
    typing.end()
}

#[test]
fn bash_completes() {
    if !there("bash") {
        return;
    }
    let site = Site::new();
    fs::write(site.home.path().join("bashrc"), BASHRC).expect("it can be written");
    let shell = format!(
        "bash --noprofile --rcfile {}/bashrc -i",
        site.home.path().display()
    );
    let screen = complete_on_a_terminal(&site, &shell);
    assert!(screen.contains("--data-path"), "{screen}");
}

#[test]
fn zsh_completes_and_says_what_a_word_means() {
    if !there("zsh") {
        return;
    }
    let site = Site::new();
    fs::write(site.home.path().join(".zshrc"), ZSHRC).expect("it can be written");
    let screen = complete_on_a_terminal(&site, "zsh -d -i");
    assert!(screen.contains("Port the service answers on"), "{screen}");
}

#[test]
fn fish_completes_and_says_what_a_word_means() {
    if !there("fish") {
        return;
    }
    let site = Site::new();
    let ask = |line: &str| {
        let script = "eos completions fish | source; complete --do-complete $argv[1]";
        let ran = site
            .command("fish")
            .args(["--no-config", "-c", script, line])
            .output()
            .expect("fish");
        assert!(ran.status.success() && ran.stderr.is_empty(), "{line}: {ran:?}");
        String::from_utf8(ran.stdout).expect("UTF-8")
    };
    for (keys, expected) in CASES {
        let (before, word) = keys.rsplit_once(' ').expect("several words");
        let answer = ask(keys);
        // Fish offers what contains the word, too; it takes what starts with it first.
        let starting: Vec<&str> = answer
            .lines()
            .map(|line| line.split('\t').next().unwrap_or_default().trim_end_matches('/'))
            .filter(|candidate| candidate.starts_with(word))
            .collect();
        let wanted = &expected[before.len() + 1..];
        match wanted == word {
            true => assert_eq!(starting, [""; 0], "{keys} in fish"),
            false => assert_eq!(starting, [wanted], "{keys} in fish"),
        }
    }
    assert!(ask("eos create grafana --p").contains("--port\tPort the service answers on"));
}

#[test]
fn an_estate_that_cannot_be_read_leaves_what_is_built_in() {
    let site = Site::new();
    let starts = |answer: &[String], word: &str| answer.iter().any(|line| line.starts_with(word));
    let options = ["create", "grafana", "--"];
    let broken = [
        ("recipes/board/recipe.yaml", "recipe: ["),
        ("pillar/infrastructure/production.sls", "{{ jinja }}"),
        ("eos.toml", "profile = ["),
    ];
    assert!(starts(&site.complete(&["create", ""]), "board\t"));
    assert!(starts(&site.complete(&["update", ""]), "web\t"));
    // In whichever form the pillar is written.
    site.write(
        "pillar/infrastructure/development.sls",
        "#!yaml\ncomponents: {web: {recipe: grafana}}\n",
    );
    assert_eq!(
        site.complete(&["-e", "development", "update", ""]),
        ["web\t", "host\tChange the facts of a host"]
    );
    assert!(starts(
        &site.complete(&["-e", "development", "update", "web", "--"]),
        "--port\t"
    ));
    for (file, text) in broken {
        site.write(file, text);
        assert!(starts(&site.complete(&options), "--port\t"), "{file}");
        assert!(starts(&site.complete(&["create", ""]), "hello\t"), "{file}");
        site.complete(&["update", "web", "--"]);
    }
    assert_eq!(
        site.complete(&["update", ""]),
        ["host\tChange the facts of a host"]
    );
    assert_eq!(
        site.complete(&["--estate", "/nowhere", "delete", ""]),
        [
            "host\tRemove a host from the estate",
            "volume\tRemove a volume from the estate"
        ]
    );
    assert!(starts(
        &site.complete(&["--estate", "/nowhere", "create", ""]),
        "grafana\t"
    ));
}

#[test]
fn what_was_given_is_not_offered_again() {
    let site = Site::new();
    let offered = |words: &[&str]| {
        site.complete(words)
            .iter()
            .any(|line| line.starts_with("--port\t"))
    };
    assert!(offered(&["create", "grafana", ""]));
    assert!(!offered(&["create", "grafana", "--port", "3000", ""]));
    assert!(!offered(&["create", "grafana", "--port=3000", "--"]));
    // After a flag that takes a word comes that word.
    assert_eq!(site.complete(&["create", "grafana", "--port", ""]), [""; 0]);
    // Verbs of the machinery are nobody's.
    assert!(
        !site
            .complete(&[""])
            .iter()
            .any(|line| line.starts_with("serve-") || line.starts_with("complete\t"))
    );
}

/// The pillar counts as applied from then on, by this operation.
fn applied(estate: &Path) -> String {
    let estate = Estate::open(Some(estate)).expect("an estate");
    let compilation = estate.compile().expect("a sound pillar");
    let mut store = estate.store().expect("a store");
    let operation = Store::new_operation_id();
    let by = Actor { who: "ada", user: "" };
    let new = NewOperation {
        environment: "production",
        components: &["chat".to_owned()],
        words: "eos create mattermost --name chat",
        by,
        plan: &serde_json::json!({"steps": []}),
        takes_back: None,
    };
    store.begin_operation(&operation, &new).expect("an operation");
    store
        .end_operation(&operation, Outcome::Done, by)
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
    operation
}

#[test]
fn what_only_the_estate_knows_is_offered_too() {
    let site = Site::new();
    site.write(
        "pillar/infrastructure/production.sls",
        "#!yaml\ncomponents: {chat: {recipe: mattermost}}\n",
    );
    site.write("pillar/infrastructure/staging.sls", "#!yaml\ncomponents: {}\n");
    let operation = applied(&site.estate());
    let offered = |words: &[&str], wanted: &str| {
        let all = site.complete(words);
        let is_wanted = |line: &String| line.split('\t').next() == Some(wanted);
        assert!(all.iter().any(is_wanted), "{words:?} without {wanted}: {all:?}");
    };
    for verb in [&["undo"][..], &["rollback"], &["history", "show"]] {
        offered(&[verb, &[""]].concat(), &operation[..10]);
    }
    // A component that another has for its own use, its secrets, and what `why` explains.
    offered(&["status", ""], "chat-database");
    offered(&["rotate", "secret", "chat-database", ""], "password");
    offered(&["read", "chat", "--reveal", ""], "database_password");
    offered(&["why", ""], "job/chat");
}
