//! The audit of an estate: who did what, when, and how it ended; append-only, each entry chained to the one before.
//!
//! An entry's hash is the sha256 of the canonical JSON of all its other fields, the hash of the entry before among them,
//! so that no entry can be changed, put in or taken out without all later ones being written anew. Against that, and
//! against a cut tail, every commit of an operation names the newest entry in its trailer `Audit:`: an anchor. The entry
//! of an operation's end holds a digest of its journal and its plan, which are so covered as well.

mod verify;

pub use verify::{Misfit, Verdict, verify};

use eos_core::canonical::{canonical, canonical_digest};
use eos_core::emit::digest_of;
use jiff::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::EngineError;
use crate::estate::Estate;
use crate::home;
use crate::store::{NewOperation, Outcome, Store};

/// Name of the trailer of a commit that holds an anchor.
pub const TRAILER: &str = "Audit";

pub(crate) const SCHEMA: &str = "
    CREATE TABLE audit (
        seq      INTEGER PRIMARY KEY AUTOINCREMENT,
        at       TEXT NOT NULL,
        who      TEXT NOT NULL,
        user     TEXT NOT NULL,
        action   TEXT NOT NULL,
        object   TEXT NOT NULL,
        outcome  TEXT NOT NULL,
        detail   TEXT NOT NULL,
        previous TEXT NOT NULL,
        hash     TEXT NOT NULL
    ) STRICT;
    CREATE INDEX audit_of_object ON audit (object, seq);
    CREATE TRIGGER audit_is_not_rewritten BEFORE UPDATE ON audit
        BEGIN SELECT RAISE (ABORT, 'the audit is append-only'); END;
    CREATE TRIGGER audit_is_not_cut BEFORE DELETE ON audit
        BEGIN SELECT RAISE (ABORT, 'the audit is append-only'); END;
";

/// Who acts: the person at the keyboard, and the user that Salt's API knows them as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Actor<'a> {
    pub who: &'a str,
    /// Empty where no engine was asked.
    pub user: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Begin,
    Resume,
    TakeBack,
    End,
    Dismiss,
    Approve,
    Reveal,
    Enter,
    TakeHome,
    Login,
}

impl Action {
    pub fn words(self) -> &'static str {
        match self {
            Action::Begin => "operation begun",
            Action::Resume => "operation resumed",
            Action::TakeBack => "operation being taken back",
            Action::End => "operation ended",
            Action::Dismiss => "operation dismissed",
            Action::Approve => "approve",
            Action::Reveal => "reveal",
            Action::Enter => "enter",
            Action::TakeHome => "take home",
            Action::Login => "login",
        }
    }
}

/// What is to be written down.
#[derive(Debug, Clone)]
pub struct NewEntry<'a> {
    pub by: Actor<'a>,
    pub action: Action,
    /// What it was about: an operation's id, a secret's path.
    pub object: &'a str,
    /// How it ended, in a word or two: `done`, `refused`.
    pub outcome: &'a str,
    /// Never a secret value.
    pub detail: Value,
}

/// An entry as it stands in the store, byte for byte: it may have been changed, and is to be shown nevertheless.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    pub seq: i64,
    pub at: String,
    pub who: String,
    pub user: String,
    pub action: String,
    pub object: String,
    pub outcome: String,
    pub detail: Value,
    pub previous: String,
    pub hash: String,
    /// The detail as text. Only its canonical form is ever written.
    #[serde(skip)]
    detail_text: String,
}

impl Entry {
    fn computed_hash(&self) -> String {
        canonical_digest(&json!({
            "seq": self.seq, "at": self.at, "who": self.who, "user": self.user, "action": self.action,
            "object": self.object, "outcome": self.outcome, "detail": self.detail, "previous": self.previous,
        }))
    }
}

impl Store {
    /// Appends an entry. It is on disk when this returns; writers at the same time wait for each other.
    pub fn audit(&mut self, new: &NewEntry<'_>) -> Result<(), EngineError> {
        self.in_transaction(|transaction| append(transaction, new))
    }

    /// The latest entries, newest first.
    pub fn audit_entries(&self, limit: u32) -> Result<Vec<Entry>, EngineError> {
        entries(
            self.connection(),
            "SELECT * FROM audit ORDER BY seq DESC LIMIT ?1",
            [limit],
        )
        .map_err(|error| self.broken(&error))
    }

    /// All that was done about an object, oldest first.
    pub fn audit_of(&self, object: &str) -> Result<Vec<Entry>, EngineError> {
        let sql = "SELECT * FROM audit WHERE object = ?1 ORDER BY seq";
        entries(self.connection(), sql, [object]).map_err(|error| self.broken(&error))
    }
}

/// Appends an entry inside of a transaction that began with the write lock, so that nobody appends in between.
pub(crate) fn append(transaction: &Transaction<'_>, new: &NewEntry<'_>) -> rusqlite::Result<()> {
    let newest = transaction
        .query_row("SELECT hash FROM audit ORDER BY seq DESC LIMIT 1", [], |row| {
            row.get(0)
        })
        .optional()?;
    let previous: String = newest.unwrap_or_default();
    let mut entry = Entry {
        seq: counted(transaction)? + 1,
        at: Timestamp::now().to_string(),
        who: new.by.who.to_owned(),
        user: new.by.user.to_owned(),
        action: new.action.words().to_owned(),
        object: new.object.to_owned(),
        outcome: new.outcome.to_owned(),
        detail_text: canonical(&new.detail),
        detail: new.detail.clone(),
        previous,
        hash: String::new(),
    };
    entry.hash = entry.computed_hash();
    transaction.execute(
        "INSERT INTO audit (seq, at, who, user, action, object, outcome, detail, previous, hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params![
            entry.seq,
            entry.at,
            entry.who,
            entry.user,
            entry.action,
            entry.object,
            entry.outcome,
            entry.detail_text,
            entry.previous,
            entry.hash
        ],
    )?;
    Ok(())
}

/// How many entries there have ever been. SQLite counts them apart from the entries, so that a number whose entry is
/// gone is not given again.
fn counted(connection: &Connection) -> rusqlite::Result<i64> {
    let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'audit'";
    Ok(connection
        .query_row(sql, [], |row| row.get(0))
        .optional()?
        .unwrap_or(0))
}

pub(crate) fn append_begin(
    transaction: &Transaction<'_>,
    operation: &str,
    new: &NewOperation<'_>,
) -> rusqlite::Result<()> {
    let entry = NewEntry {
        by: new.by,
        action: Action::Begin,
        object: operation,
        outcome: Outcome::Running.words(),
        detail: json!({"words": new.words, "environment": new.environment, "components": new.components}),
    };
    append(transaction, &entry)
}

/// Appends that an operation which had stopped goes on: forward, or back.
pub(crate) fn append_goes_on(
    transaction: &Transaction<'_>,
    action: Action,
    operation: &str,
    by: Actor<'_>,
) -> rusqlite::Result<()> {
    let entry = NewEntry {
        by,
        action,
        object: operation,
        outcome: Outcome::Running.words(),
        detail: Value::Null,
    };
    append(transaction, &entry)
}

/// Appends that an operation ended, with what its journal and its plan are at this moment.
pub(crate) fn append_end(
    transaction: &Transaction<'_>,
    operation: &str,
    outcome: Outcome,
    by: Actor<'_>,
) -> rusqlite::Result<()> {
    let sealed = Sealed::read(transaction, operation, None)?;
    let entry = NewEntry {
        by,
        action: Action::End,
        object: operation,
        outcome: outcome.words(),
        detail: sealed.to_json(),
    };
    append(transaction, &entry)
}

/// Appends that a person closed an operation as it stood, and why.
pub(crate) fn append_dismissal(
    transaction: &Transaction<'_>,
    operation: &str,
    detail: Value,
    by: Actor<'_>,
) -> rusqlite::Result<()> {
    let entry = NewEntry {
        by,
        action: Action::Dismiss,
        object: operation,
        outcome: Outcome::Dismissed.words(),
        detail,
    };
    append(transaction, &entry)
}

/// What the entry of an operation's end seals: its record with the plan, and its journal up to then.
#[derive(Debug, PartialEq, Eq)]
struct Sealed {
    /// The journal's last row of this operation; zero if there is none.
    last: i64,
    journal: String,
    record: String,
}

impl Sealed {
    /// As the store has it; the journal up to `last`, where that is given.
    fn read(connection: &Connection, operation: &str, last: Option<i64>) -> rusqlite::Result<Self> {
        let mut statement = connection
            .prepare_cached("SELECT * FROM journal WHERE operation = ?1 AND seq <= ?2 ORDER BY seq")?;
        let mut rows = statement.query(params![operation, last.unwrap_or(i64::MAX)])?;
        let (mut found, mut parts) = (0, Vec::new());
        while let Some(row) = rows.next()? {
            found = row.get("seq")?;
            for column in ["seq", "operation", "step", "event", "at", "detail"] {
                parts.push(bytes(row, column)?);
            }
        }
        let columns = [
            "id",
            "environment",
            "components",
            "words",
            "who",
            "started",
            "plan",
        ];
        let record = connection
            .query_row("SELECT * FROM operations WHERE id = ?1", [operation], |row| {
                columns.iter().map(|column| bytes(row, column)).collect()
            })
            .optional()?;
        let record: Vec<Vec<u8>> = record.unwrap_or_default();
        Ok(Sealed {
            last: last.unwrap_or(found),
            journal: digest_of(parts.iter().map(Vec::as_slice)),
            record: digest_of(record.iter().map(Vec::as_slice)),
        })
    }

    fn to_json(&self) -> Value {
        json!({"journal": {"last": self.last, "digest": self.journal}, "record": self.record})
    }
}

/// What a column holds, byte for byte.
fn bytes(row: &Row<'_>, column: &str) -> rusqlite::Result<Vec<u8>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => Vec::new(),
        ValueRef::Integer(number) => number.to_string().into_bytes(),
        ValueRef::Real(number) => number.to_string().into_bytes(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_owned(),
    })
}

fn entries(
    connection: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
) -> rusqlite::Result<Vec<Entry>> {
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_map(params, read_entry)?.collect()
}

/// Bytes that are no text are read as such that no hash fits.
fn read_entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let text = |column: &str| -> rusqlite::Result<String> {
        Ok(String::from_utf8_lossy(&bytes(row, column)?).into_owned())
    };
    let detail_text = text("detail")?;
    Ok(Entry {
        seq: row.get("seq")?,
        at: text("at")?,
        who: text("who")?,
        user: text("user")?,
        action: text("action")?,
        object: text("object")?,
        outcome: text("outcome")?,
        detail: serde_json::from_str(&detail_text).unwrap_or(Value::Null),
        previous: text("previous")?,
        hash: text("hash")?,
        detail_text,
    })
}

/// The newest entry as a commit names it: the home whose chain it is of, its number and its hash.
pub fn anchor(estate: &Estate, store: &Store) -> Result<Option<String>, EngineError> {
    let newest = store.audit_entries(1)?.into_iter().next();
    let home = home::id(&estate.root)?;
    Ok(newest.map(|entry| format!("{home} {} {}", entry.seq, entry.hash)))
}
