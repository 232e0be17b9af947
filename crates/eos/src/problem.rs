//! What went wrong, from whichever room, flattened to what both views show; and the exit code it means.

use eos_core::diagnostic::{Diagnostic, Place, Position};
use eos_engine::diagnose::LogLines;
use eos_engine::failure::{Aftermath, Failure, StepFailure, Stopped, Waiting};
use eos_engine::{EngineError, ErrorKind, Layer};
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done, or nothing to do.
    Done,
    Failed,
    /// The command, or what it read, is wrong; nothing was changed.
    Usage,
    /// Changes are pending, and `--check` was asked; or drift was found, or what needs mending.
    Pending,
    /// Somebody must approve the operation before it goes on.
    Approval,
    Interrupted,
    /// A command in a task ended with this code.
    Command(i32),
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Pending => 3,
            Self::Approval => 4,
            Self::Interrupted => 130,
            Self::Command(code) => u8::try_from(code).unwrap_or(u8::MAX),
        }
    }
}

#[derive(Debug)]
pub enum Problem {
    /// The words of the command are wrong.
    Usage(Vec<Diagnostic>),
    /// It was not done, for a reason that no engine gave.
    NotDone(Diagnostic),
    Failure(Failure),
    Lab(eos_lab::Error),
    /// A person stopped it; the operation, if one had begun, can be resumed.
    Interrupted {
        operation: Option<String>,
    },
}

impl Problem {
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage(vec![Diagnostic::new(message).hint(hint)])
    }

    pub fn not_done(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::NotDone(Diagnostic::new(message).hint(hint))
    }

    pub fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) | Self::Failure(Failure::Input(_)) => Exit::Usage,
            Self::Failure(Failure::Engine(error)) if is_input(error) => Exit::Usage,
            Self::Lab(error) if error.is_input() => Exit::Usage,
            Self::Interrupted { .. } | Self::Failure(Failure::Stopped(_)) => Exit::Interrupted,
            Self::Failure(Failure::Waiting(_)) => Exit::Approval,
            _ => Exit::Failed,
        }
    }

    /// Everything that is wrong, one thing each.
    pub fn faults(&self) -> Vec<Fault> {
        match self {
            Self::Usage(found) | Self::Failure(Failure::Input(found)) => {
                let mut found: Vec<&Diagnostic> = found.iter().collect();
                // As a reader comes upon them; what stands in no file comes last.
                found.sort_by_key(|found| match &found.at {
                    Some(at) => (0, at.file.as_str(), at.position),
                    None => (1, "", Position { line: 0, column: 0 }),
                });
                found.into_iter().map(Fault::from).collect()
            }
            Self::NotDone(diagnostic) => vec![diagnostic.into()],
            Self::Failure(Failure::Engine(error)) => vec![error.into()],
            Self::Failure(Failure::Refused(refused)) => refused.iter().map(Fault::of_plan).collect(),
            Self::Failure(Failure::Step(step)) => {
                let fault = Fault::of_step(step);
                let (next, taken_back, stands) = match &step.aftermath {
                    Aftermath::TakenBack { effects } => {
                        let next = format!("eos history show {} has the log", step.operation);
                        (next, Some(effects.clone()), None)
                    }
                    Aftermath::Stands { why } => {
                        let id = &step.operation;
                        let next = format!("then: eos resume {id}; or roll it back: eos rollback {id}");
                        (next, None, some(why))
                    }
                };
                let hint = match &fault.hint {
                    Some(question) if question.ends_with('?') => format!("{question} {}", capital(&next)),
                    Some(hint) => format!("{hint}; {next}"),
                    None => capital(&next),
                };
                vec![Fault {
                    message: format!(
                        "Step {}/{} {} failed: {}",
                        step.number,
                        step.total,
                        step.title,
                        lower(&fault.message)
                    ),
                    operation: Some(step.operation.clone()),
                    taken_back,
                    stands,
                    hint: Some(hint),
                    ..fault
                }]
            }
            Self::Failure(Failure::Waiting(waiting)) => vec![waiting_fault(waiting)],
            Self::Lab(eos_lab::Error::Engine(error)) => vec![error.into()],
            Self::Lab(error) => {
                let text = error.to_string();
                let (message, words) = text.split_once('\n').unwrap_or((&text, ""));
                vec![Fault {
                    hint: error.hint(),
                    words: some(words),
                    ..Fault::new(capital(message))
                }]
            }
            Self::Failure(Failure::Stopped(stopped)) => {
                let Stopped {
                    operation,
                    done,
                    total,
                    is_back,
                } = stopped;
                let hint = match is_back {
                    true => format!("eos resume {operation} continues the rollback"),
                    false => {
                        format!("eos resume {operation} continues; eos rollback {operation} rolls it back")
                    }
                };
                let steps = format!("{done} of {total} steps are done, and no step is half done");
                vec![Fault {
                    hint: Some(hint),
                    operation: Some(operation.clone()),
                    ..Fault::new(format!("Interrupted: {steps}"))
                }]
            }
            Self::Interrupted { operation: None } => {
                vec![Fault::new("Interrupted: nothing was changed")]
            }
            Self::Interrupted {
                operation: Some(operation),
            } => vec![Fault {
                hint: Some(format!(
                    "eos resume {operation} checks how far it got and continues; eos rollback {operation} \
                     rolls it back"
                )),
                operation: Some(operation.clone()),
                ..Fault::new("Interrupted at once: its engine may still be working on the last request")
            }],
        }
    }
}

fn waiting_fault(waiting: &Waiting) -> Fault {
    let Waiting {
        operation,
        needed,
        requester,
    } = waiting;
    let message = format!(
        "Operation {operation} waits for approval: its risk is {}, and {} other than {requester} must approve it",
        needed.risk.word(),
        needed.role.with_article()
    );
    let hint = format!(
        "They run eos approve {operation} --as USER. While that holds (60 minutes by default), you run eos \
         resume {operation}"
    );
    Fault {
        operation: Some(operation.clone()),
        hint: Some(hint),
        ..Fault::new(message)
    }
}

/// What a person wrote, or which estate they meant; as opposed to what a machine did.
fn is_input(error: &EngineError) -> bool {
    error.layer == Layer::Estate
        && matches!(
            error.kind,
            ErrorKind::Invalid | ErrorKind::NotFound | ErrorKind::Conflict
        )
}

/// One thing that is wrong.
#[derive(Debug, Serialize)]
pub struct Fault {
    /// A sentence without full stop.
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<Layer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The engine's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The operation that can be resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// What engines and tasks said of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LogLines>,
    /// It was taken back: the effects of the steps that did that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_back: Option<Vec<String>>,
    /// Why it was not taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stands: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Fault {
    /// What the engines know of it says more than the error of the one that was asked.
    fn of_step(step: &StepFailure) -> Self {
        let Some(known) = &step.diagnosis else {
            return Fault::from(&step.error);
        };
        let error = EngineError::new(known.layer, step.error.kind, &known.object, &known.words);
        Fault {
            lines: known.lines.clone(),
            ..Fault::from(&error.with_hint(&known.hint))
        }
    }

    /// An engine refuses a plan before anything of it is done.
    fn of_plan(error: &EngineError) -> Self {
        let fault = Fault::from(error);
        Fault {
            message: format!("Nothing was changed: {}", lower(&fault.message)),
            ..fault
        }
    }

    fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            message,
            layer: None,
            object: None,
            words: None,
            place: None,
            operation: None,
            lines: Vec::new(),
            taken_back: None,
            stands: None,
            hint: None,
        }
    }
}

impl From<&Diagnostic> for Fault {
    fn from(diagnostic: &Diagnostic) -> Self {
        Self {
            place: diagnostic.at.clone(),
            hint: diagnostic.hint.clone(),
            ..Self::new(&diagnostic.message)
        }
    }
}

impl From<&EngineError> for Fault {
    fn from(error: &EngineError) -> Self {
        let message = match (error.layer, error.kind) {
            (Layer::Estate, ErrorKind::NotFound) => format!("Cannot find {}", error.object),
            (Layer::Estate, ErrorKind::Invalid) => format!("Cannot understand {}", error.object),
            (Layer::Estate, _) => format!("Cannot continue with {}", error.object),
            _ => capital(
                &EngineError {
                    words: String::new(),
                    ..error.clone()
                }
                .to_string(),
            ),
        };
        Self {
            layer: Some(error.layer),
            object: Some(error.object.clone()),
            words: some(&error.words),
            hint: error.hint.clone().or_else(|| hint_for(error).map(str::to_owned)),
            ..Self::new(message)
        }
    }
}

/// For what the person wrote and the engine crate has no hint for.
fn hint_for(error: &EngineError) -> Option<&'static str> {
    let settings = error.layer == Layer::Estate && error.object.starts_with(eos_engine::settings::FILE);
    settings.then_some("Fix the file; a new estate (`eos init`) shows its simplest form")
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        Self::Failure(Failure::Engine(error))
    }
}

impl From<Vec<Diagnostic>> for Problem {
    fn from(found: Vec<Diagnostic>) -> Self {
        Self::Failure(Failure::Input(found))
    }
}

impl From<eos_lab::Error> for Problem {
    fn from(error: eos_lab::Error) -> Self {
        Self::Lab(error)
    }
}
