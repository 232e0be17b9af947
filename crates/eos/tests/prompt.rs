//! Questions on a pseudo terminal: what a person who is asked for an option sees, and what they do not.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs `eos` on a terminal in an estate with the recipe `shop`: after each text that it shows, a line is typed.
/// Answers what was on the screen, and the exit code.
fn talk(words: &str, set: &[(&str, &str)], answers: &[(&str, &str)]) -> (String, Option<i32>) {
    let home = tempfile::tempdir().expect("a directory");
    let recipe = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts/values/shop.yaml");
    let program = env!("CARGO_BIN_EXE_eos");
    let made = Command::new(program)
        .args(["init", "."])
        .current_dir(&home)
        .env("HOME", home.path())
        .output()
        .expect("eos");
    assert!(made.status.success(), "{made:?}");
    let own = home.path().join("recipes/shop");
    std::fs::create_dir_all(&own).expect("a directory");
    std::fs::copy(recipe, own.join("recipe.yaml")).expect("the recipe");
    let mut terminal = Command::new("script")
        .args([
            "--quiet",
            "--return",
            "--command",
            &format!("{program} {words} --color never"),
            "/dev/null",
        ])
        .current_dir(&home)
        .env_remove("EOS_ESTATE")
        .env("HOME", home.path())
        .envs(set.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script, of util-linux");
    let mut keys = terminal.stdin.take().expect("a pipe");
    let mut output = terminal.stdout.take().expect("a pipe");
    let (mut screen, mut byte, mut from) = (Vec::new(), [0], 0);
    let mut answers = answers.iter();
    let mut next = answers.next();
    while output.read(&mut byte).expect("the screen") == 1 {
        screen.push(byte[0]);
        if let Some((question, answer)) = next
            && String::from_utf8_lossy(&screen[from..]).ends_with(question)
        {
            from = screen.len();
            // A question is written before the terminal stops showing what is typed.
            std::thread::sleep(std::time::Duration::from_millis(200));
            writeln!(keys, "{answer}").expect("it is read");
            next = answers.next();
        }
    }
    let screen = String::from_utf8(screen).expect("UTF-8").replace('\r', "");
    assert_eq!(next, None, "not everything was asked for:\n{screen}");
    (screen, terminal.wait().expect("script ends").code())
}

#[test]
fn a_person_is_asked_for_what_is_missing_until_the_answer_can_be_used() {
    let (screen, code) = talk(
        "create shop --plan",
        &[],
        &[
            ("title of shop (Its title): ", ""),
            ("title of shop (Its title): ", "Top"),
            ("key of shop (Its key): ", "canary-51c0"),
            (
                "listen of shop (Where it answers; a port between 1 and 65535): ",
                "eighty",
            ),
            (
                "listen of shop (Where it answers; a port between 1 and 65535): ",
                "8080",
            ),
            (
                "currency of shop (What it is paid in; one of euro, dollar): ",
                "euro",
            ),
        ],
    );
    let asked = "\
title of shop (Its title): 
warning: Option title of shop: it is empty
hint: --title takes a text
title of shop (Its title): Top
key of shop (Its key): 
listen of shop (Where it answers; a port between 1 and 65535): eighty
warning: Option listen of shop: \"eighty\" is not a whole number
hint: --listen takes a port between 1 and 65535
listen of shop (Where it answers; a port between 1 and 65535): 8080
currency of shop (What it is paid in; one of euro, dollar): euro
shop in production: 4 to create, 0 to change, 0 to delete
";
    assert!(screen.starts_with(asked), "{screen}");
    assert!(!screen.contains("canary-51c0"), "{screen}");
    assert_eq!(code, Some(0));
}

#[test]
fn what_the_environment_gives_is_not_asked_for() {
    let set = [
        ("EOS_OPTION_TITLE", "Top"),
        ("EOS_OPTION_KEY", "canary-51c0"),
        ("EOS_OPTION_LISTEN", "80"),
    ];
    let question = "currency of shop (What it is paid in; one of euro, dollar): ";
    let (screen, code) = talk("create shop --plan", &set, &[(question, "dollar")]);
    assert!(screen.starts_with(question), "{screen}");
    assert_eq!(code, Some(0));
}

#[test]
fn the_end_of_the_input_ends_the_questions() {
    let (screen, code) = talk(
        "create shop --plan",
        &[],
        &[("title of shop (Its title): ", "\x04\x04")],
    );
    assert!(screen.contains("error: Option title of shop"), "{screen}");
    assert_eq!(code, Some(2));
}

#[test]
fn a_new_recipe_is_asked_for_and_can_be_used_at_once() {
    let digest = "0a".repeat(32);
    let image = format!("example/board:2@sha256:{digest}");
    let volumes = "volumes of board (NAME:SIZE:/path, spaces between; nothing for none): ";
    let (screen, code) = talk(
        "catalog new && eos catalog lint && eos create board --plan",
        &[("PATH", &with_eos_first())],
        &[
            ("name of the recipe: ", "hello"),
            ("name of the recipe: ", "board"),
            (
                "image of board (such as caddy:2.10; nothing for a program of the host): ",
                &image,
            ),
            ("port of board (that it listens on; nothing for none): ", "8080"),
            (
                "check of board (a path that answers; nothing if the port accepts connections): ",
                "/up",
            ),
            (volumes, "/srv/x:/data"),
            (volumes, "data:2G:/data"),
            (
                "secrets of board (variables that Eos makes a secret for, spaces between; nothing for none): ",
                "API_TOKEN",
            ),
        ],
    );
    for said in [
        "There is a recipe hello already",
        "a path of the host is no volume",
        "recipes/board/recipe.yaml  sound\n",
        "api_token (generated)",
        "check GET /up",
    ] {
        assert!(screen.contains(said), "{said}: {screen}");
    }
    assert_eq!(code, Some(0), "{screen}");
}

/// The search path with the program under test first.
fn with_eos_first() -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_eos"));
    let path = std::env::var("PATH").unwrap_or_default();
    format!(
        "{}:{path}",
        program.parent().expect("it is in a directory").display()
    )
}
