//! The home of an estate: the one machine whose store holds journal and audit, and which alone operates it.
//!
//! Each copy of an estate has an id, made once and kept beside its store. Which of them is the home is recorded on the
//! control minion, where all of them can ask. A copy that is not the home compiles and plans, and refuses to operate.

use std::fs::OpenOptions;
use std::io::{ErrorKind as IoErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use ulid::Ulid;

use crate::audit::{Action, Actor, NewEntry};
use crate::control::{self, Control};
use crate::disk;
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::estate::Estate;
use crate::store::Store;

const FILE: &str = ".eos/home";
const CALL: Duration = Duration::from_secs(30);

/// What the control minion has on record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    #[serde(rename = "home")]
    pub id: String,
    /// The machine's name, for people.
    pub name: String,
    /// The API user who took it.
    pub user: Option<String>,
    pub since: Timestamp,
}

/// The id of this copy of the estate; made if it has none yet.
pub fn id(estate: &Path) -> Result<String, EngineError> {
    match known(estate)? {
        Some(id) => Ok(id),
        None => make(estate),
    }
}

/// The same, if it has one.
pub(crate) fn known(estate: &Path) -> Result<Option<String>, EngineError> {
    let text = match std::fs::read_to_string(estate.join(FILE)) {
        Ok(text) => text,
        Err(error) if error.kind() == IoErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(broken(ErrorKind::Failed, error.to_string())),
    };
    let id = text.trim();
    match Ulid::from_string(id) {
        Ok(_) => Ok(Some(id.to_owned())),
        Err(_) => Err(broken(ErrorKind::Invalid, "it does not hold the id of a home")
            .with_hint("Restore it from a copy; or take the home again, as another machine: rm .eos/home && eos home take")),
    }
}

/// Two processes may be the first at once: both get the id of the one whose file is there first.
fn make(estate: &Path) -> Result<String, EngineError> {
    let new = estate.join(format!("{FILE}.{}", Ulid::new()));
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(estate.join(".eos"))?;
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(format!("{}\n", Ulid::new()).as_bytes())?;
        file.sync_all()?;
        let linked = std::fs::hard_link(&new, estate.join(FILE));
        std::fs::remove_file(&new)?;
        linked.or_else(|error| match error.kind() {
            IoErrorKind::AlreadyExists => Ok(()),
            _ => Err(error),
        })
    };
    write().map_err(|error| disk::failed(FILE, estate, &error))?;
    known(estate)?.ok_or_else(|| broken(ErrorKind::Failed, "Eos wrote it, but it is not there"))
}

/// The name of this machine, for people.
pub fn machine_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "unnamed".to_owned(),
        name => name.to_owned(),
    }
}

/// Makes this machine the home, if the one on record is still `instead_of`; what is then on record is read back.
pub async fn take(
    engines: &Engines,
    estate: &Estate,
    instead_of: Option<&Recorded>,
    by: Actor<'_>,
) -> Result<Recorded, EngineError> {
    let id = id(&estate.root)?;
    let control = &engines.endpoints.control;
    let before = instead_of.map(|home| home.id.as_str());
    let arguments = json!({"home": id, "name": machine_name(), "instead_of": before});
    let asked = engines
        .salt
        .call(control, "eos.take_home", arguments, CALL)
        .await
        .map_err(|error| match error.kind {
            ErrorKind::Refused => error.with_hint("An operator or an architect takes it: eos home take"),
            _ => error,
        });
    let taken = match asked {
        Ok(_) => read_back(engines, &id).await,
        Err(error) => Err(error),
    };
    let (outcome, now) = match &taken {
        Ok(recorded) => (
            "done",
            json!({"home": id, "name": recorded.name, "instead_of": instead_of}),
        ),
        Err(error) => (
            "failed",
            json!({"home": id, "why": error.to_string(), "instead_of": instead_of}),
        ),
    };
    estate.store()?.audit(&NewEntry {
        by,
        action: Action::TakeHome,
        object: &id,
        outcome,
        detail: now,
    })?;
    taken
}

async fn read_back(engines: &Engines, id: &str) -> Result<Recorded, EngineError> {
    match control::ask(engines).await?.home {
        Some(home) if home.id == id => Ok(home),
        other => {
            let there = other.map_or("none".to_owned(), |home| format!("{} ({})", home.name, home.id));
            let words = format!("Salt reported success, but the home on record is {there}");
            let object = format!("home on minion {}", engines.endpoints.control);
            Err(EngineError::new(Layer::Salt, ErrorKind::Failed, object, words))
        }
    }
}

/// What must be so before an operation begins: this machine is the home. Where none is on record it becomes so. The
/// answer is what else the control minion said.
pub async fn require(engines: &Engines, estate: &Estate, by: Actor<'_>) -> Result<Control, EngineError> {
    let id = id(&estate.root)?;
    let mut control = control::ask(engines).await?;
    let here = match &control.home {
        Some(home) if home.id != id => return Err(elsewhere(home)),
        here => here.as_ref(),
    };
    refuse_lost_store(estate, &estate.store_to_read()?, here).await?;
    match here {
        Some(_) => {}
        None => control.home = Some(take(engines, estate, None, by).await?),
    }
    Ok(control)
}

/// Refuses a store that knows of nothing where the estate was operated from here before, as the control minion or git says:
/// it was lost or emptied, and a new one would hide journal and audit. Taking the home says that this is meant.
pub(crate) async fn refuse_lost_store(
    estate: &Estate,
    store: &Store,
    here: Option<&Recorded>,
) -> Result<(), EngineError> {
    if !store.is_blank()? {
        return Ok(());
    }
    let known = match here {
        Some(home) => Some(format!(
            "this machine is the home since {}",
            home.since.strftime("%Y-%m-%d %H:%M UTC")
        )),
        None => {
            let applied = estate.repository().was_applied().await?;
            applied.then(|| "git has commits that were applied from here (refs/eos)".to_owned())
        }
    };
    match known {
        None => Ok(()),
        Some(known) => Err(EngineError::new(
            Layer::Estate,
            ErrorKind::Conflict,
            ".eos/store.db",
            format!("it holds no operation, but {known}"),
        )
        .with_hint("Restore it from a copy; or begin a new journal and audit: eos home take")),
    }
}

/// Refuses if another machine is the home, and changes nothing.
pub async fn refuse_elsewhere(engines: &Engines, estate: &Estate) -> Result<(), EngineError> {
    let id = id(&estate.root)?;
    match control::ask(engines).await?.home {
        Some(home) if home.id != id => Err(elsewhere(&home)),
        _ => Ok(()),
    }
}

fn elsewhere(home: &Recorded) -> EngineError {
    let words = format!(
        "its home is {} since {}",
        home.name,
        home.since.strftime("%Y-%m-%d %H:%M UTC")
    );
    let object = "operations on this machine";
    EngineError::new(Layer::Estate, ErrorKind::Conflict, object, words)
        .with_hint("Operate the estate there, or move the home here: eos home take")
}

fn broken(kind: ErrorKind, words: impl Into<String>) -> EngineError {
    EngineError::new(Layer::Estate, kind, FILE, words)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_id_is_made_once_and_is_the_owners_alone() {
        let estate = tempfile::tempdir().unwrap();
        let ids: Vec<String> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| id(estate.path()).unwrap()))
                .collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|one| *one == ids[0]), "{ids:?}");
        assert_eq!(id(estate.path()).unwrap(), ids[0]);
        let mode = std::fs::metadata(estate.path().join(FILE))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(estate.path().join(".eos")).unwrap().count(), 1);
    }

    #[test]
    fn a_broken_id_is_not_replaced() {
        let estate = tempfile::tempdir().unwrap();
        id(estate.path()).unwrap();
        std::fs::write(estate.path().join(FILE), "mine\n").unwrap();
        assert_eq!(id(estate.path()).unwrap_err().kind, ErrorKind::Invalid);
    }
}
