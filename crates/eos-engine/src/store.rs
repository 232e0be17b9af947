//! The store of an estate (`.eos/store.db`): its operations, their journal, and what was last applied.
//!
//! The journal rule: that a step begins is on disk before anything is asked of an engine, so that after a crash
//! every step that may have had an effect is known. SQLite in WAL mode, with every commit synced.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use eos_core::address::{Address, NodeKind};
use eos_core::scope::Scope;
use jiff::Timestamp;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use ulid::Ulid;

use crate::audit::{self, Action, Actor};
use crate::disk;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::waiting::Spent;

const FILE: &str = ".eos/store.db";
/// How long another process may hold the store; every one of its transactions is short.
const BUSY: Duration = Duration::from_secs(10);

/// One entry for each version of the schema; what a store has is in its `user_version`.
const SCHEMA: [&str; 4] = [
    "
    CREATE TABLE operations (
        id            TEXT PRIMARY KEY,
        environment   TEXT NOT NULL,
        components    TEXT NOT NULL,
        words         TEXT NOT NULL,
        who           TEXT NOT NULL,
        started       TEXT NOT NULL,
        ended         TEXT,
        outcome       TEXT NOT NULL,
        plan          TEXT NOT NULL,
        commit_before TEXT,
        commit_after  TEXT
    ) STRICT;
    CREATE TABLE journal (
        seq       INTEGER PRIMARY KEY AUTOINCREMENT,
        operation TEXT NOT NULL REFERENCES operations (id),
        step      TEXT NOT NULL,
        event     TEXT NOT NULL CHECK (event IN ('begin', 'end')),
        at        TEXT NOT NULL,
        detail    TEXT NOT NULL
    ) STRICT;
    CREATE INDEX journal_of_operation ON journal (operation, seq);
    CREATE TRIGGER journal_is_not_rewritten BEFORE UPDATE ON journal
        BEGIN SELECT RAISE (ABORT, 'the journal is append-only'); END;
    CREATE TRIGGER journal_is_not_cut BEFORE DELETE ON journal
        BEGIN SELECT RAISE (ABORT, 'the journal is append-only'); END;
    CREATE TABLE applied (
        environment TEXT NOT NULL,
        component   TEXT NOT NULL,
        digest      TEXT NOT NULL,
        nodes       TEXT NOT NULL,
        operation   TEXT NOT NULL REFERENCES operations (id),
        PRIMARY KEY (environment, component)
    ) STRICT;
",
    "
    ALTER TABLE operations ADD COLUMN takes_back TEXT REFERENCES operations (id);
    ALTER TABLE operations ADD COLUMN back TEXT;
    ALTER TABLE operations ADD COLUMN failure TEXT;
    ALTER TABLE operations ADD COLUMN waited REAL NOT NULL DEFAULT 0;
    ALTER TABLE operations ADD COLUMN own REAL NOT NULL DEFAULT 0;
",
    audit::SCHEMA,
    // Their order is that in which they began; SQLite counts rows as they come, and none was ever deleted.
    "
    ALTER TABLE operations ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
    UPDATE operations SET number = rowid;
    CREATE UNIQUE INDEX operations_in_order ON operations (number);
",
];

const APPEND: &str = "INSERT INTO journal (operation, step, event, at, detail) VALUES (?1, ?2, ?3, ?4, ?5)";

const SET_APPLIED: &str = "INSERT OR REPLACE INTO applied (environment, component, digest, nodes, operation)
    VALUES (?1, ?2, ?3, ?4, ?5)";

/// The journal's name for a dismissal.
const DISMISSAL: &str = "dismiss";

const NEWEST_SCHEMA: u32 = SCHEMA.len() as u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    #[serde(rename = "running")]
    Running,
    #[serde(rename = "done")]
    Done,
    #[serde(rename = "failed")]
    Failed,
    #[serde(rename = "taken back")]
    TakenBack,
    /// It was stopped on the way and can be resumed.
    #[serde(rename = "interrupted")]
    Interrupted,
    /// It has changed nothing, and can be resumed once somebody has approved it.
    #[serde(rename = "waiting for approval")]
    Waiting,
    /// A person closed it as it stood.
    #[serde(rename = "dismissed")]
    Dismissed,
}

impl Outcome {
    const ALL: [Outcome; 7] = [
        Outcome::Running,
        Outcome::Done,
        Outcome::Failed,
        Outcome::TakenBack,
        Outcome::Interrupted,
        Outcome::Waiting,
        Outcome::Dismissed,
    ];

    pub fn words(self) -> &'static str {
        match self {
            Outcome::Running => "running",
            Outcome::Done => "done",
            Outcome::Failed => "failed",
            Outcome::TakenBack => "taken back",
            Outcome::Interrupted => "interrupted",
            Outcome::Waiting => "waiting for approval",
            Outcome::Dismissed => "dismissed",
        }
    }

    /// The word for people; `words` is the one on record, which does not change.
    pub fn shown(self) -> &'static str {
        match self {
            Outcome::TakenBack => "rolled back",
            _ => self.words(),
        }
    }
}

/// What is known of an operation before it begins.
#[derive(Debug, Clone)]
pub struct NewOperation<'a> {
    pub environment: &'a str,
    pub components: &'a [String],
    /// The intent as it was said. Never a secret value.
    pub words: &'a str,
    pub by: Actor<'a>,
    pub plan: &'a Value,
    /// The operation that this one takes back.
    pub takes_back: Option<&'a str>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Operation {
    pub id: String,
    /// Counts the operations of the store in the order in which they began, whatever the clock said.
    pub number: i64,
    pub environment: String,
    pub components: Vec<String>,
    pub words: String,
    pub who: String,
    pub started: Timestamp,
    pub ended: Option<Timestamp>,
    pub outcome: Outcome,
    pub plan: Value,
    /// The pillar as it was before, and as this operation left it.
    pub commit_before: Option<String>,
    pub commit_after: Option<String>,
    /// The operation that this one takes back.
    pub takes_back: Option<String>,
    /// The plan by which it is taken back itself, once that has begun.
    pub back: Option<Value>,
    /// Which step failed last, and what is known of the cause.
    pub failure: Option<Value>,
    /// Seconds in which engines were waited for, and those of Eos itself, of all processes that worked on it to an end.
    pub waited: f64,
    pub own: f64,
}

impl ToSql for Outcome {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.words().into())
    }
}

impl FromSql for Outcome {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let words = value.as_str()?;
        Outcome::ALL
            .into_iter()
            .find(|outcome| outcome.words() == words)
            .ok_or(FromSqlError::InvalidType)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Event {
    Begin,
    End,
}

impl ToSql for Event {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Event::Begin => "begin".into(),
            Event::End => "end".into(),
        })
    }
}

impl FromSql for Event {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "begin" => Ok(Event::Begin),
            "end" => Ok(Event::End),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    pub seq: i64,
    pub operation: String,
    pub step: String,
    pub event: Event,
    pub at: Timestamp,
    pub detail: Value,
}

/// What a component, or a host, was last brought to, and by which operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Applied {
    pub environment: String,
    pub component: String,
    /// What `Compilation::digest` said of it; empty while the operation that makes it has not come to its end.
    pub digest: String,
    pub nodes: Value,
    pub operation: String,
}

impl Applied {
    /// Whether Terraform made something of it.
    pub fn has_workspace(&self) -> bool {
        let nodes = self.nodes.as_array().into_iter().flatten();
        let mut writers = nodes.filter_map(|node| node.get("writer"));
        writers.any(|writer| writer == "terraform")
    }

    /// Whether it is something, and has no job.
    pub fn runs_nothing(&self) -> bool {
        let kinds = self.kinds();
        !kinds.is_empty() && !kinds.contains(&NodeKind::Job)
    }

    /// Whether its job ran once, to its end.
    pub fn runs_once(&self) -> bool {
        let nodes = self.nodes.as_array().into_iter().flatten();
        let mut jobs = nodes.filter(|node| {
            let address = node.get("address").and_then(Value::as_str);
            let address = address.and_then(|address| address.parse::<Address>().ok());
            address.is_some_and(|address| address.kind == NodeKind::Job)
        });
        jobs.any(|job| job.pointer("/attributes/type/value") == Some(&Value::from("batch")))
    }

    /// Whether volumes are all that it is.
    pub fn is_storage(&self) -> bool {
        let kinds = self.kinds();
        kinds.first() == Some(&NodeKind::Volume) && kinds.len() == 1
    }

    /// The hosts that have something of it.
    pub fn hosts(&self) -> BTreeSet<String> {
        let nodes = self.nodes.as_array().into_iter().flatten();
        let hosts = nodes.filter_map(|node| node.pointer("/attributes/host/value")?.as_str());
        hosts.map(str::to_owned).collect()
    }

    /// How many instances its job was to have; nothing where it has no job.
    pub fn instances(&self) -> Option<u64> {
        let nodes = self.nodes.as_array().into_iter().flatten();
        let is_job = |node: &&Value| {
            let address = node.get("address").and_then(Value::as_str);
            let address = address.and_then(|address| address.parse::<Address>().ok());
            address.is_some_and(|address| address.kind == NodeKind::Job)
        };
        let counts = |job: &Value| {
            let attributes = job
                .get("attributes")
                .and_then(Value::as_object)
                .into_iter()
                .flatten();
            let counts = attributes.filter(|(name, _)| name.ends_with(".count"));
            let counts = counts.filter_map(|(_, count)| count.get("value")?.as_u64());
            counts.sum()
        };
        nodes
            .filter(is_job)
            .map(counts)
            .reduce(|one: u64, other| one + other)
    }

    fn kinds(&self) -> BTreeSet<NodeKind> {
        let nodes = self.nodes.as_array().into_iter().flatten();
        let addresses = nodes.filter_map(|node| node.get("address")?.as_str()?.parse::<Address>().ok());
        addresses.map(|address| address.kind).collect()
    }
}

pub struct Store {
    connection: Connection,
    /// The directory it lies in.
    place: PathBuf,
}

impl Store {
    /// Opens the store of an estate, and makes it if there is none.
    pub fn open(estate: &Path) -> Result<Store, EngineError> {
        let path = estate.join(FILE);
        let place = estate.join(".eos");
        // Made here, because SQLite would let everybody read it; its other files take after this one.
        let make = || {
            std::fs::create_dir_all(&place)?;
            OpenOptions::new()
                .create(true)
                .append(true)
                .mode(0o600)
                .open(&path)
        };
        make().map_err(|error| disk::failed(FILE, &place, &error))?;
        let open = || {
            let mut connection = Connection::open(&path)?;
            prepare(&mut connection)?;
            Ok(connection)
        };
        let connection = open().map_err(|error| broken(&place, &error))?;
        let store = Store { connection, place };
        store.refuse_newer_schema()?;
        Ok(store)
    }

    /// Opens the store for those who only look. It waits for no writer, and needs no room on the disk.
    pub fn open_to_read(estate: &Path) -> Result<Store, EngineError> {
        let (path, place) = (estate.join(FILE), estate.join(".eos"));
        let length = std::fs::metadata(&path).map(|about| about.len());
        let opened = match length {
            Ok(0) | Err(_) => blank(),
            Ok(_) => look_into(&path),
        };
        let connection = opened.map_err(|error| broken(&place, &error))?;
        let store = Store { connection, place };
        store.refuse_newer_schema()?;
        match schema_version(&store.connection).map_err(|error| store.broken(&error))? {
            // One of an older Eos is brought up to date first.
            version if version < NEWEST_SCHEMA => Self::open(estate),
            _ => Ok(store),
        }
    }

    /// An id for a new operation: a name, and no more. Their order is that of their numbers.
    pub fn new_operation_id() -> String {
        Ulid::new().to_string()
    }

    /// Writes down that an operation begins.
    pub fn begin_operation(&mut self, id: &str, new: &NewOperation<'_>) -> Result<(), EngineError> {
        self.write_audited(
            "INSERT INTO operations
                 (id, environment, components, words, who, started, outcome, plan, takes_back, number)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, (SELECT coalesce(max(number), 0) + 1 FROM operations))",
            params![
                id,
                new.environment,
                json!(new.components),
                new.words,
                new.by.who,
                Timestamp::now(),
                Outcome::Running,
                new.plan,
                new.takes_back
            ],
            |transaction| audit::append_begin(transaction, id, new),
        )
        .map(|_| ())
    }

    /// Writes down the plan that an operation goes by from here on: others changed the estate while it waited.
    pub fn replace_plan(&mut self, operation: &str, plan: &Value) -> Result<(), EngineError> {
        self.write_one(
            "UPDATE operations SET plan = ?2 WHERE id = ?1",
            params![operation, plan],
            operation,
        )
    }

    /// Writes down what the pillar was before an operation edits it.
    pub fn record_commit_before(&mut self, operation: &str, commit: &str) -> Result<(), EngineError> {
        self.write_one(
            "UPDATE operations SET commit_before = ?2 WHERE id = ?1",
            params![operation, commit],
            operation,
        )
    }

    /// Writes down which step failed, and what is known of the cause.
    pub fn record_failure(&mut self, operation: &str, failure: &Value) -> Result<(), EngineError> {
        self.write_one(
            "UPDATE operations SET failure = ?2 WHERE id = ?1",
            params![operation, failure],
            operation,
        )
    }

    /// Writes down that an operation is taken back from here on, and by which plan.
    pub fn begin_back(&mut self, operation: &str, plan: &Value, by: Actor<'_>) -> Result<(), EngineError> {
        let written = self.write_audited(
            "UPDATE operations SET back = ?2, outcome = ?3, ended = NULL WHERE id = ?1",
            params![operation, plan, Outcome::Running],
            |transaction| audit::append_goes_on(transaction, Action::TakeBack, operation, by),
        );
        one(written?, operation)
    }

    /// Writes down the commit an operation made, before anything is delivered from it.
    pub fn record_commit(&mut self, operation: &str, commit: &str) -> Result<(), EngineError> {
        self.write_one(
            "UPDATE operations SET commit_after = ?2 WHERE id = ?1",
            params![operation, commit],
            operation,
        )
    }

    pub fn end_operation(
        &mut self,
        operation: &str,
        outcome: Outcome,
        by: Actor<'_>,
    ) -> Result<(), EngineError> {
        let written = self.write_audited(
            "UPDATE operations SET outcome = ?2, ended = ?3 WHERE id = ?1",
            params![operation, outcome, Timestamp::now()],
            |transaction| audit::append_end(transaction, operation, outcome, by),
        );
        one(written?, operation)
    }

    /// Writes down that a person closed an operation as it stands, why, and what of it stays.
    pub fn dismiss_operation(
        &mut self,
        operation: &str,
        reason: &str,
        stays: &[String],
        by: Actor<'_>,
    ) -> Result<(), EngineError> {
        let at = Timestamp::now();
        let begin = json!({"title": DISMISSAL});
        let end = json!({"effect": reason, "stays": stays});
        let sql = "UPDATE operations SET outcome = ?2, ended = ?3 WHERE id = ?1";
        let written = self.write_audited(sql, params![operation, Outcome::Dismissed, at], |transaction| {
            for (event, detail) in [(Event::Begin, begin), (Event::End, end)] {
                transaction.execute(APPEND, params![operation, DISMISSAL, event, at, detail])?;
            }
            let detail = json!({"reason": reason, "stays": stays});
            audit::append_dismissal(transaction, operation, detail, by)?;
            audit::append_end(transaction, operation, Outcome::Dismissed, by)
        });
        one(written?, operation)
    }

    /// Adds what one process spent on an operation.
    pub fn add_spent(&mut self, operation: &str, spent: Spent) -> Result<(), EngineError> {
        self.write_one(
            "UPDATE operations SET waited = waited + ?2, own = own + ?3 WHERE id = ?1",
            params![operation, spent.waited.as_secs_f64(), spent.own().as_secs_f64()],
            operation,
        )
    }

    /// Writes down that an operation which did not end goes on.
    pub fn resume_operation(&mut self, operation: &str, by: Actor<'_>) -> Result<(), EngineError> {
        let written = self.write_audited(
            "UPDATE operations SET outcome = ?2, ended = NULL WHERE id = ?1",
            params![operation, Outcome::Running],
            |transaction| audit::append_goes_on(transaction, Action::Resume, operation, by),
        );
        one(written?, operation)
    }

    /// Writes down that a step begins. It is on disk when this returns; only then may the engine be asked.
    pub fn begin_step(&mut self, operation: &str, step: &str, detail: &Value) -> Result<(), EngineError> {
        self.append(operation, step, Event::Begin, detail)
    }

    /// Writes down that a step ended, with what was read back.
    pub fn end_step(&mut self, operation: &str, step: &str, detail: &Value) -> Result<(), EngineError> {
        self.append(operation, step, Event::End, detail)
    }

    fn append(
        &mut self,
        operation: &str,
        step: &str,
        event: Event,
        detail: &Value,
    ) -> Result<(), EngineError> {
        self.write(APPEND, params![operation, step, event, Timestamp::now(), detail])
            .map(|_| ())
    }

    pub fn operation(&self, id: &str) -> Result<Option<Operation>, EngineError> {
        self.connection
            .query_row("SELECT * FROM operations WHERE id = ?1", [id], read_operation)
            .optional()
            .map_err(|error| self.broken(&error))
    }

    /// The operations that neither ended nor were taken back, oldest first. One of them may still be at work
    /// in another process: its locks tell.
    pub fn unfinished(&self) -> Result<Vec<Operation>, EngineError> {
        self.read(
            "SELECT * FROM operations WHERE outcome IN ('running', 'interrupted') ORDER BY number",
            [],
            read_operation,
        )
    }

    /// The latest operations, newest first.
    pub fn history(&self, limit: u32) -> Result<Vec<Operation>, EngineError> {
        self.read(
            "SELECT * FROM operations ORDER BY number DESC LIMIT ?1",
            [limit],
            read_operation,
        )
    }

    /// The newest operation that is done, takes none back, and was not taken back.
    pub fn newest_to_undo(&self) -> Result<Option<Operation>, EngineError> {
        let sql = "SELECT * FROM operations AS found WHERE outcome = 'done' AND takes_back IS NULL AND NOT EXISTS
            (SELECT 1 FROM operations WHERE outcome = 'done' AND takes_back = found.id) ORDER BY number DESC LIMIT 1";
        let newest = self.read(sql, [], read_operation)?;
        Ok(newest.into_iter().next())
    }

    /// (operation, the one that it took back) of all that are done, newest first.
    pub fn undoings(&self) -> Result<Vec<(String, String)>, EngineError> {
        let sql = "SELECT id, takes_back FROM operations WHERE outcome = 'done' AND takes_back IS NOT NULL
            ORDER BY number DESC";
        self.read(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// The operations that wait for an approval and are older than this one, oldest first.
    pub fn waiting_before(&self, number: i64) -> Result<Vec<Operation>, EngineError> {
        self.read(
            "SELECT * FROM operations WHERE outcome = 'waiting for approval' AND number < ?1 ORDER BY number",
            [number],
            read_operation,
        )
    }

    /// The operations whose id begins so.
    pub fn beginning_with(&self, beginning: &str) -> Result<Vec<Operation>, EngineError> {
        self.read(
            "SELECT * FROM operations WHERE substr(id, 1, length(?1)) = ?1 ORDER BY number",
            [beginning],
            read_operation,
        )
    }

    pub fn journal(&self, operation: &str) -> Result<Vec<Entry>, EngineError> {
        self.read(
            "SELECT * FROM journal WHERE operation = ?1 ORDER BY seq",
            [operation],
            read_entry,
        )
    }

    /// Of every step that began, what its first beginning noted.
    pub fn beginnings(&self, operation: &str) -> Result<BTreeMap<String, Value>, EngineError> {
        let mut begun = BTreeMap::new();
        for entry in self.journal(operation)? {
            if entry.event == Event::Begin {
                begun.entry(entry.step).or_insert(entry.detail);
            }
        }
        Ok(begun)
    }

    /// The steps that began and, as far as the journal knows, did not end: to be probed, never assumed.
    pub fn open_steps(&self, operation: &str) -> Result<Vec<Entry>, EngineError> {
        self.read(
            "SELECT * FROM journal WHERE event = 'begin' AND seq IN
                 (SELECT max(seq) FROM journal WHERE operation = ?1 GROUP BY step) ORDER BY seq",
            [operation],
            read_entry,
        )
    }

    /// Whether it holds nothing that the home of an estate has: no operation, and no taking of the home.
    pub fn is_blank(&self) -> Result<bool, EngineError> {
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM operations) AND NOT EXISTS (SELECT 1 FROM audit WHERE action = ?1)";
        self.connection
            .query_row(sql, [Action::TakeHome.words()], |row| row.get(0))
            .map_err(|error| self.broken(&error))
    }

    /// What is applied in an environment, by component; or the hosts, by name, where `Scope::Estate` begins their keys.
    pub fn applied(&self, environment: &str) -> Result<Vec<Applied>, EngineError> {
        self.read(
            "SELECT * FROM applied WHERE environment = ?1 ORDER BY component",
            [environment],
            |row| {
                Ok(Applied {
                    environment: row.get("environment")?,
                    component: row.get("component")?,
                    digest: row.get("digest")?,
                    nodes: row.get("nodes")?,
                    operation: row.get("operation")?,
                })
            },
        )
    }

    pub fn set_applied(&mut self, applied: &Applied) -> Result<(), EngineError> {
        self.write(SET_APPLIED, applied_params(applied)).map(|_| ())
    }

    /// Writes down these hosts, all of them or none, unless a host is written down.
    pub fn set_first_hosts(&mut self, hosts: &[Applied]) -> Result<(), EngineError> {
        self.in_transaction(|transaction| {
            let sql = "SELECT EXISTS (SELECT 1 FROM applied WHERE environment = ?1)";
            if transaction.query_row(sql, [Scope::Estate.prefix()], |row| row.get(0))? {
                return Ok(());
            }
            for applied in hosts {
                transaction.execute(SET_APPLIED, applied_params(applied))?;
            }
            Ok(())
        })
    }

    pub fn clear_applied(&mut self, environment: &str, component: &str) -> Result<(), EngineError> {
        self.write(
            "DELETE FROM applied WHERE environment = ?1 AND component = ?2",
            params![environment, component],
        )
        .map(|_| ())
    }

    /// Components that this operation was to make and that are still not made are known no more.
    pub fn forget_unfinished(&mut self, operation: &str) -> Result<(), EngineError> {
        self.write(
            "DELETE FROM applied WHERE operation = ?1 AND digest = ''",
            [operation],
        )
        .map(|_| ())
    }

    fn refuse_newer_schema(&self) -> Result<(), EngineError> {
        let version = schema_version(&self.connection).map_err(|error| self.broken(&error))?;
        if version <= NEWEST_SCHEMA {
            return Ok(());
        }
        let words = format!(
            "its schema has version {version}, this Eos knows up to {}",
            SCHEMA.len()
        );
        Err(EngineError::new(Layer::Estate, ErrorKind::Invalid, FILE, words)
            .with_hint("Use a newer Eos here"))
    }

    fn read<T>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, EngineError> {
        let mut statement = self
            .connection
            .prepare_cached(sql)
            .map_err(|error| self.broken(&error))?;
        let rows = statement
            .query_map(params, read)
            .map_err(|error| self.broken(&error))?;
        rows.collect::<rusqlite::Result<_>>()
            .map_err(|error| self.broken(&error))
    }

    fn write_one(
        &mut self,
        sql: &str,
        params: impl rusqlite::Params,
        operation: &str,
    ) -> Result<(), EngineError> {
        one(self.write(sql, params)?, operation)
    }

    /// Every write goes through here, one transaction each; the answer is the number of rows.
    fn write(&mut self, sql: &str, params: impl rusqlite::Params) -> Result<usize, EngineError> {
        let changed = self
            .connection
            .execute(sql, params)
            .map_err(|error| self.broken(&error))?;
        #[cfg(debug_assertions)]
        crate::fault::after_write(&self.connection, sql);
        Ok(changed)
    }

    /// As `write`, with what is to stand in the audit about it: neither is there without the other.
    fn write_audited(
        &mut self,
        sql: &str,
        params: impl rusqlite::Params,
        audit: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<usize, EngineError> {
        let changed = self.in_transaction(|transaction| {
            let changed = transaction.execute(sql, params)?;
            if changed > 0 {
                audit(transaction)?;
            }
            Ok(changed)
        })?;
        #[cfg(debug_assertions)]
        crate::fault::after_write(&self.connection, sql);
        Ok(changed)
    }

    /// Several statements as one. The write lock is taken first, so that what they read is still so when they write.
    pub(crate) fn in_transaction<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, EngineError> {
        let run = || {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let answer = work(&transaction)?;
            transaction.commit()?;
            Ok(answer)
        };
        let ended = run();
        ended.map_err(|error: rusqlite::Error| self.broken(&error))
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(crate) fn broken(&self, error: &rusqlite::Error) -> EngineError {
        broken(&self.place, error)
    }
}

/// An operation was meant, so there must have been one.
fn applied_params(applied: &Applied) -> impl rusqlite::Params + '_ {
    (
        &applied.environment,
        &applied.component,
        &applied.digest,
        &applied.nodes,
        &applied.operation,
    )
}

fn one(changed: usize, operation: &str) -> Result<(), EngineError> {
    match changed {
        0 => Err(EngineError::new(
            Layer::Estate,
            ErrorKind::NotFound,
            format!("operation {operation}"),
            format!("{FILE} has none of this id"),
        )),
        _ => Ok(()),
    }
}

fn prepare(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    go_into_wal(connection)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", "ON")?;
    // Two processes may open a new store at once: the version is looked at under the write lock.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let have = schema_version(&transaction)?;
    for (version, sql) in (1..).zip(SCHEMA).filter(|(version, _)| *version > have) {
        transaction.execute_batch(sql)?;
        transaction.pragma_update(None, "user_version", version)?;
    }
    transaction.commit()
}

/// A new store goes into WAL mode once. SQLite does not wait for another process that is just doing the same, but
/// says at once that the store is locked.
fn go_into_wal(connection: &Connection) -> rusqlite::Result<()> {
    let until = Instant::now() + BUSY;
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
                    && Instant::now() < until =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            ended => return ended,
        }
    }
}

fn schema_version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn broken(place: &Path, error: &rusqlite::Error) -> EngineError {
    use rusqlite::ErrorCode::{CannotOpen, DatabaseCorrupt, DiskFull, NotADatabase, SystemIoFailure};
    let failed = || EngineError::new(Layer::Estate, ErrorKind::Failed, FILE, error.to_string());
    match error.sqlite_error_code() {
        Some(NotADatabase | DatabaseCorrupt) => failed().with_hint(
            "Restore it from a copy; or put it aside and begin a new one: mkdir .eos/damaged && \
             mv .eos/store.db* .eos/damaged/ && eos home take",
        ),
        Some(DiskFull) => disk::full(Layer::Estate, FILE, place),
        // SQLite keeps to itself why it could not write.
        Some(SystemIoFailure | CannotOpen) if disk::has_no_room(place) => {
            disk::full(Layer::Estate, FILE, place)
        }
        _ => failed(),
    }
}

/// An empty store that leaves no file.
fn blank() -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    prepare(&mut connection)?;
    Ok(connection)
}

/// Opens a store that is there, and changes nothing in it.
fn look_into(path: &Path) -> rusqlite::Result<Connection> {
    let open = || {
        // Not as read-only: SQLite would leave the files beside the store that it makes to read.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY)?;
        connection.pragma_update(None, "query_only", "ON")?;
        schema_version(&connection)?;
        Ok(connection)
    };
    open().or_else(|error| match can_be_read_alone(path, &error) {
        true => look_into_file(path),
        false => Err(error),
    })
}

/// Whether SQLite only lacks room, or the right, for the files beside the store, and the store is whole without them.
fn can_be_read_alone(path: &Path, error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, DiskFull, ReadOnly, SystemIoFailure};
    let log = path.with_file_name("store.db-wal");
    let is_whole = std::fs::metadata(log).map_or(true, |about| about.len() == 0);
    is_whole
        && matches!(
            error.sqlite_error_code(),
            Some(CannotOpen | DiskFull | ReadOnly | SystemIoFailure)
        )
}

/// Reads the file as it is. Nobody writes meanwhile: there is no room to, or no right.
fn look_into_file(path: &Path) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(unchanging(path), flags)?;
    schema_version(&connection)?;
    Ok(connection)
}

/// The address of a file that SQLite takes for one which nobody changes.
fn unchanging(path: &Path) -> String {
    let mut address = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                address.push(char::from(*byte))
            }
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address + "?immutable=1"
}

/// Written by `begin_operation` as an array of strings.
fn read_components(components: &Value) -> Vec<String> {
    let names = components.as_array().map(Vec::as_slice).unwrap_or_default();
    names
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

fn read_operation(row: &Row<'_>) -> rusqlite::Result<Operation> {
    Ok(Operation {
        id: row.get("id")?,
        number: row.get("number")?,
        environment: row.get("environment")?,
        components: read_components(&row.get("components")?),
        words: row.get("words")?,
        who: row.get("who")?,
        started: row.get("started")?,
        ended: row.get("ended")?,
        outcome: row.get("outcome")?,
        plan: row.get("plan")?,
        commit_before: row.get("commit_before")?,
        commit_after: row.get("commit_after")?,
        takes_back: row.get("takes_back")?,
        back: row.get("back")?,
        failure: row.get("failure")?,
        waited: row.get("waited")?,
        own: row.get("own")?,
    })
}

fn read_entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        seq: row.get("seq")?,
        operation: row.get("operation")?,
        step: row.get("step")?,
        event: row.get("event")?,
        at: row.get("at")?,
        detail: row.get("detail")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: Actor<'_> = Actor {
        who: "ada",
        user: "eos-operator",
    };

    /// Ids of two clocks.
    const SORTS_FIRST: &str = "01KA3V9Q2M0000000000000001";
    const SORTS_LAST: &str = "01KA3V9Q2M0000000000000002";

    fn begin(store: &mut Store, words: &str) -> String {
        let id = Store::new_operation_id();
        begin_as(store, &id, words);
        id
    }

    fn begin_as(store: &mut Store, id: &str, words: &str) {
        let new = NewOperation {
            environment: "production",
            components: &["grafana".to_owned()],
            words,
            by: ADA,
            plan: &json!({"steps": []}),
            takes_back: None,
        };
        store.begin_operation(id, &new).unwrap();
    }

    #[test]
    fn a_new_store_opens_for_all_who_come_at_once() {
        for _ in 0..25 {
            let estate = tempfile::tempdir().unwrap();
            let all = std::sync::Barrier::new(4);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        all.wait();
                        Store::open(estate.path()).unwrap();
                    });
                }
            });
        }
    }

    #[test]
    fn an_operation_reads_back_as_it_was_written() {
        let estate = tempfile::tempdir().unwrap();
        let id = {
            let mut store = Store::open(estate.path()).unwrap();
            let id = begin(&mut store, "create grafana");
            store.record_commit_before(&id, "a41c9e2").unwrap();
            store.record_commit(&id, "b52d0f3").unwrap();
            store.end_operation(&id, Outcome::TakenBack, ADA).unwrap();
            id
        };
        let store = Store::open(estate.path()).unwrap();
        let operation = store.operation(&id).unwrap().unwrap();
        assert_eq!(operation.components, ["grafana"]);
        assert_eq!(operation.outcome, Outcome::TakenBack);
        assert_eq!(operation.commit_before.as_deref(), Some("a41c9e2"));
        assert_eq!(operation.commit_after.as_deref(), Some("b52d0f3"));
        assert!(operation.ended.unwrap() >= operation.started);
        assert_eq!(store.history(10).unwrap(), [operation]);
        assert_eq!(
            serde_json::to_value(Outcome::TakenBack).unwrap(),
            json!("taken back")
        );
    }

    #[test]
    fn unfinished_operations_and_open_steps_are_found() {
        let estate = tempfile::tempdir().unwrap();
        let mut store = Store::open(estate.path()).unwrap();
        let done = begin(&mut store, "create postgres");
        store.end_operation(&done, Outcome::Done, ADA).unwrap();
        let open = begin(&mut store, "create grafana");
        store.begin_step(&open, "secret", &json!({})).unwrap();
        store.end_step(&open, "secret", &json!({"read": "back"})).unwrap();
        store.begin_step(&open, "volume", &json!({})).unwrap();
        store.end_step(&open, "volume", &json!({"failed": true})).unwrap();
        store
            .begin_step(&open, "volume", &json!({"again": true}))
            .unwrap();

        let unfinished: Vec<String> = store
            .unfinished()
            .unwrap()
            .into_iter()
            .map(|found| found.id)
            .collect();
        assert_eq!(unfinished, [open.as_str()]);
        let steps = store.open_steps(&open).unwrap();
        assert_eq!(steps.len(), 1);
        assert_eq!(
            (steps[0].step.as_str(), &steps[0].detail),
            ("volume", &json!({"again": true}))
        );
        assert_eq!(store.journal(&open).unwrap().len(), 5);

        store.end_operation(&open, Outcome::Interrupted, ADA).unwrap();
        assert_eq!(store.unfinished().unwrap().len(), 1);
        store.resume_operation(&open, ADA).unwrap();
        assert_eq!(store.operation(&open).unwrap().unwrap().ended, None);
    }

    #[test]
    fn a_dismissed_operation_is_over_and_keeps_its_reason() {
        let estate = tempfile::tempdir().unwrap();
        let mut store = Store::open(estate.path()).unwrap();
        let id = begin(&mut store, "create grafana");
        store.begin_step(&id, "volume", &json!({})).unwrap();
        let stays = ["volume of grafana in production: begun".to_owned()];
        store
            .dismiss_operation(&id, "deleted by hand", &stays, ADA)
            .unwrap();
        let operation = store.operation(&id).unwrap().unwrap();
        assert_eq!(operation.outcome, Outcome::Dismissed);
        assert!(operation.ended.is_some() && store.unfinished().unwrap().is_empty());
        let journal = store.journal(&id).unwrap();
        assert_eq!(journal.last().unwrap().detail["effect"], "deleted by hand");
        let audited = store.audit_of(&id).unwrap();
        let actions: Vec<&str> = audited.iter().map(|entry| entry.action.as_str()).collect();
        assert_eq!(
            actions,
            ["operation begun", "operation dismissed", "operation ended"]
        );
        assert_eq!(
            audited[1].detail,
            json!({"reason": "deleted by hand", "stays": stays})
        );
        assert_eq!(
            store.dismiss_operation("nobody", "x", &[], ADA).unwrap_err().kind,
            ErrorKind::NotFound
        );
    }

    #[test]
    fn the_journal_cannot_be_rewritten() {
        let estate = tempfile::tempdir().unwrap();
        let mut store = Store::open(estate.path()).unwrap();
        let id = begin(&mut store, "create grafana");
        store.begin_step(&id, "secret", &json!({})).unwrap();
        for sql in ["DELETE FROM journal", "UPDATE journal SET step = 'other'"] {
            let error = store.write(sql, []).unwrap_err();
            assert!(error.words.contains("append-only"), "{sql}: {error}");
        }
    }

    #[test]
    fn a_step_of_no_operation_and_an_unknown_operation_are_refused() {
        let estate = tempfile::tempdir().unwrap();
        let mut store = Store::open(estate.path()).unwrap();
        assert!(store.begin_step("nobody", "secret", &json!({})).is_err());
        assert_eq!(
            store
                .end_operation("nobody", Outcome::Done, ADA)
                .unwrap_err()
                .kind,
            ErrorKind::NotFound
        );
    }

    #[test]
    fn what_is_applied_is_replaced_and_cleared() {
        let estate = tempfile::tempdir().unwrap();
        let mut store = Store::open(estate.path()).unwrap();
        let operation = begin(&mut store, "create grafana");
        let mut applied = Applied {
            environment: "production".to_owned(),
            component: "grafana".to_owned(),
            digest: "1".to_owned(),
            nodes: json!([{"id": "job/grafana"}]),
            operation,
        };
        store.set_applied(&applied).unwrap();
        applied.digest = "2".to_owned();
        store.set_applied(&applied).unwrap();
        assert_eq!(store.applied("production").unwrap(), [applied]);
        assert_eq!(store.applied("staging").unwrap(), []);
        store.clear_applied("production", "grafana").unwrap();
        assert_eq!(store.applied("production").unwrap(), []);
    }

    #[test]
    fn what_an_operation_never_made_is_forgotten_alone() {
        let estate = tempfile::tempdir().unwrap();
        let mut store = Store::open(estate.path()).unwrap();
        let (first, second) = (begin(&mut store, "create a"), begin(&mut store, "create b"));
        for (component, digest, operation) in [("a", "1", &first), ("b", "", &first), ("c", "", &second)] {
            store
                .set_applied(&Applied {
                    environment: "production".to_owned(),
                    component: component.to_owned(),
                    digest: digest.to_owned(),
                    nodes: json!([]),
                    operation: operation.clone(),
                })
                .unwrap();
        }
        store.forget_unfinished(&first).unwrap();
        let left = store.applied("production").unwrap();
        let left: Vec<&str> = left.iter().map(|one| one.component.as_str()).collect();
        assert_eq!(left, ["a", "c"]);
    }

    #[test]
    fn every_commit_is_synced_and_only_the_owner_may_read() {
        use std::os::unix::fs::PermissionsExt;
        let estate = tempfile::tempdir().unwrap();
        let mut store = Store::open(estate.path()).unwrap();
        begin(&mut store, "create grafana");
        let pragma = |name: &str| -> String {
            let sql = format!("SELECT CAST({name} AS TEXT) FROM pragma_{name}");
            store.connection.query_row(&sql, [], |row| row.get(0)).unwrap()
        };
        assert_eq!(
            (pragma("journal_mode").as_str(), pragma("synchronous").as_str()),
            ("wal", "2")
        );
        for file in ["store.db", "store.db-wal"] {
            let mode = std::fs::metadata(estate.path().join(".eos").join(file))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600, "{file}");
        }
    }

    #[test]
    fn who_only_looks_leaves_no_file() {
        let estate = tempfile::tempdir().unwrap();
        let store = Store::open_to_read(estate.path()).unwrap();
        assert!(store.applied("production").unwrap().is_empty());
        assert!(!estate.path().join(".eos").exists());
        drop(Store::open(estate.path()).unwrap());
        assert!(
            Store::open_to_read(estate.path())
                .unwrap()
                .unfinished()
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn who_only_looks_waits_for_no_writer_and_needs_no_right_to_write() {
        let estate = tempfile::tempdir().unwrap();
        let mut store = Store::open(estate.path()).unwrap();
        let id = begin(&mut store, "create grafana");
        let writing = store.connection.unchecked_transaction().unwrap();
        writing
            .execute("UPDATE operations SET words = 'other'", [])
            .unwrap();
        let begun = Instant::now();
        let seen = Store::open_to_read(estate.path()).unwrap();
        assert_eq!(seen.operation(&id).unwrap().unwrap().words, "create grafana");
        assert!(begun.elapsed() < BUSY / 2);
        assert!(seen.connection.execute("DELETE FROM applied", []).is_err());
        drop(writing);
        drop((seen, store));
        // What SQLite needs beside the store cannot be made here.
        let alone = look_into_file(&estate.path().join(FILE)).unwrap();
        let words: String = alone
            .query_row("SELECT words FROM operations", [], |row| row.get(0))
            .unwrap();
        assert_eq!(words, "create grafana");
    }

    #[test]
    fn the_newest_to_undo_is_found_without_the_plans_of_others() {
        let estate = tempfile::tempdir().unwrap();
        let mut store = Store::open(estate.path()).unwrap();
        let old = begin(&mut store, "create a");
        let wanted = begin(&mut store, "create b");
        let undone = begin(&mut store, "create c");
        for id in [&old, &wanted, &undone] {
            store.end_operation(id, Outcome::Done, ADA).unwrap();
        }
        let back = begin(&mut store, "undo c");
        store
            .write(
                "UPDATE operations SET takes_back = ?2 WHERE id = ?1",
                [&back, &undone],
            )
            .unwrap();
        assert_eq!(store.newest_to_undo().unwrap().unwrap().id, undone);
        store.end_operation(&back, Outcome::Done, ADA).unwrap();
        store
            .write("UPDATE operations SET plan = '{cut' WHERE id = ?1", [&old])
            .unwrap();
        assert_eq!(store.newest_to_undo().unwrap().unwrap().id, wanted);
    }

    #[test]
    fn who_waits_is_found_by_number() {
        let estate = tempfile::tempdir().unwrap();
        let mut store = Store::open(estate.path()).unwrap();
        let waiting = begin(&mut store, "create a");
        store.end_operation(&waiting, Outcome::Waiting, ADA).unwrap();
        begin(&mut store, "create b");
        assert!(store.waiting_before(1).unwrap().is_empty());
        assert_eq!(ids(store.waiting_before(2).unwrap()), [waiting]);
    }

    #[test]
    fn an_address_names_any_path() {
        assert_eq!(
            unchanging(Path::new("/a b/c?d%/store.db")),
            "file:/a%20b/c%3Fd%25/store.db?immutable=1"
        );
    }

    fn ids(operations: Vec<Operation>) -> Vec<String> {
        operations.into_iter().map(|operation| operation.id).collect()
    }

    #[test]
    fn operations_stand_in_the_order_in_which_they_began_whatever_the_clock_says() {
        let estate = tempfile::tempdir().unwrap();
        let mut store = Store::open(estate.path()).unwrap();
        // The clock was set back between the two.
        let [first, second] = [SORTS_LAST, SORTS_FIRST].map(str::to_owned);
        for id in [&first, &second] {
            begin_as(&mut store, id, "create grafana");
        }
        assert_eq!(ids(store.history(10).unwrap()), [second.clone(), first.clone()]);
        assert_eq!(ids(store.history(1).unwrap()), std::slice::from_ref(&second));
        assert_eq!(ids(store.unfinished().unwrap()), [first, second]);
        let numbers: Vec<i64> = store.history(10).unwrap().iter().map(|one| one.number).collect();
        assert_eq!(numbers, [2, 1]);
    }

    #[test]
    fn a_store_without_numbers_gets_them_in_the_order_of_its_rows() {
        let estate = tempfile::tempdir().unwrap();
        std::fs::create_dir(estate.path().join(".eos")).unwrap();
        let old = Connection::open(estate.path().join(FILE)).unwrap();
        old.execute_batch(&SCHEMA[..3].concat()).unwrap();
        old.pragma_update(None, "user_version", 3).unwrap();
        let [first, second] = [SORTS_LAST, SORTS_FIRST].map(str::to_owned);
        for id in [&first, &second] {
            old.execute(
                "INSERT INTO operations (id, environment, components, words, who, started, outcome, plan)
                 VALUES (?1, 'production', '[]', 'create', 'ada', '2026-11-17T12:00:00Z', 'done', '{}')",
                [id],
            )
            .unwrap();
        }
        drop(old);
        let mut store = Store::open(estate.path()).unwrap();
        assert_eq!(ids(store.history(10).unwrap()), [second.clone(), first.clone()]);
        let third = begin(&mut store, "create redis");
        assert_eq!(ids(store.history(10).unwrap()), [third, second, first]);
    }

    #[test]
    fn a_newer_schema_is_refused() {
        let estate = tempfile::tempdir().unwrap();
        let store = Store::open(estate.path()).unwrap();
        store
            .connection
            .pragma_update(None, "user_version", NEWEST_SCHEMA + 1)
            .unwrap();
        drop(store);
        let error = Store::open(estate.path()).err().unwrap();
        assert_eq!(error.kind, ErrorKind::Invalid);
    }
}
