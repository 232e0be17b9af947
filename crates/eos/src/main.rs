//! The program `eos`: words in, views out. It is the outermost room and the only one that knows a terminal.
//!
//! | module | owns |
//! |---|---|
//! | `args` | the command line: verbs, flags, and the wording of what is wrong with them |
//! | `peek` | what must be known of the command line before it can be parsed |
//! | `ground` | the estate that a command works in, and the recipe that its flags are of |
//! | `options` | recipe options as flags, and where a value comes from that has no flag |
//! | `habits` | verbs of other programs, and what to type here |
//! | `words` | the words of a command for the record, without its secrets |
//! | `commands` | one file a verb |
//! | `views` | every report, with its text and its JSON side by side; what a person reads (`human`) and what a program reads (`json`) |
//! | `problem` | what went wrong, flattened for both views, and the exit code it means |
//! | `terminal` | width, and asking a person |
//! | `formula` | the Salt code that this program carries, and its digest |
//! | `env_names` | the environment variables it reads |

mod args;
mod commands;
mod env_file;
mod env_names;
mod formula;
mod full_profile;
mod ground;
mod habits;
mod options;
mod peek;
mod problem;
mod terminal;
mod views;
mod words;

use ground::Ground;
use mimalloc::MiMalloc;
use problem::Exit;
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};
use std::process::ExitCode;
use views::reports::plain::Plain;

/// Compiling a large estate is a third faster with it: that of glibc searches what was freed before.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let words = habits::translated(std::env::args_os().collect());
    // Asked by scripts and prompts: answered before anything is built.
    if words.len() == 2 && (words[1] == "--version" || words[1] == "-V") {
        return views::answer(&format!("eos {}\n", env!("CARGO_PKG_VERSION")));
    }
    if !words
        .get(1)
        .is_some_and(|word| word.as_encoded_bytes().starts_with(b"serve"))
    {
        keep_memory_private();
    }
    let peek = peek::peek(&words);
    let mut view = views::make(&peek);
    let mut ground = Ground::default();
    let parsed = ground
        .recipe_of(&peek)
        .and_then(|recipe| args::parse(&words, &peek, recipe));
    let exit = match parsed {
        Ok(args::Parsed::Run(invocation)) => commands::run(invocation, ground, view.as_mut()),
        Ok(args::Parsed::Shown(text)) => {
            view.show(&Plain(&text));
            Ok(Exit::Done)
        }
        Err(problem) => Err(problem),
    };
    let exit = exit.unwrap_or_else(|problem| {
        view.problem(&problem);
        problem.exit()
    });
    view.close(exit)
}

/// Secrets pass through this process: a crash writes none of them to a disk, and no other process of this user reads them.
/// Tasks of a laboratory (`eos serve-hello`) have none. A kernel that refuses has no such door.
fn keep_memory_private() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Core);
    let none = Rlimit {
        current: Some(0),
        maximum,
    };
    setrlimit(Resource::Core, none).ok();
    set_dumpable_behavior(DumpableBehavior::NotDumpable).ok();
}
