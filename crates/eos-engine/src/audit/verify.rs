//! Whether the audit is as it was written: every entry, the journals they seal, and the commits that name one.

use eos_core::canonical::canonical;
use rusqlite::Connection;
use serde::Serialize;

use super::{Action, Entry, Sealed, TRAILER, bytes, counted, entries};
use crate::error::EngineError;
use crate::estate::Estate;
use crate::home;
use crate::store::Store;

/// What was looked at, and the first thing that does not fit.
#[derive(Debug, Serialize)]
pub struct Verdict {
    pub entries: usize,
    /// Ends of operations whose journal and plan were compared.
    pub operations: usize,
    /// Commits that name an entry of this audit.
    pub anchors: usize,
    /// Commits that name an entry of another home's audit, which cannot be looked at here.
    pub foreign_anchors: usize,
    pub misfit: Option<Misfit>,
}

impl Verdict {
    pub fn counted_entries(&self) -> String {
        counted_as(self.entries, "entry", "entries")
    }

    pub fn counted_anchors(&self) -> String {
        counted_as(self.anchors, "anchor", "anchors")
    }
}

fn counted_as(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The first entry that does not fit.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Misfit {
    pub entry: i64,
    /// What is wrong with it, as the end of a sentence that names it.
    pub words: String,
}

/// Looks at every entry, at the journals they seal, and at the commits that name one.
pub async fn verify(estate: &Estate, store: &Store) -> Result<Verdict, EngineError> {
    let anchors = Anchor::read_all(estate).await?;
    let home = home::id(&estate.root)?;
    let (own, foreign): (Vec<_>, Vec<_>) = anchors.into_iter().partition(|anchor| anchor.home == home);
    let mut verdict = check(store, &own).map_err(|error| store.broken(&error))?;
    verdict.foreign_anchors = foreign.len();
    Ok(verdict)
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Anchor {
    commit: String,
    home: String,
    seq: i64,
    hash: String,
}

impl Anchor {
    async fn read_all(estate: &Estate) -> Result<Vec<Self>, EngineError> {
        let found = estate.repository().trailers(TRAILER).await?;
        Ok(found
            .iter()
            .filter_map(|(commit, value)| Self::read(commit, value))
            .collect())
    }

    /// A trailer of this name that somebody else wrote for another purpose is no anchor.
    fn read(commit: &str, value: &str) -> Option<Self> {
        let mut words = value.split(' ');
        let (home, seq, hash) = (words.next()?, words.next()?, words.next()?);
        Some(Anchor {
            commit: commit.to_owned(),
            home: home.to_owned(),
            seq: seq.parse().ok()?,
            hash: hash.to_owned(),
        })
    }
}

/// All of it in one transaction: an operation may be at work.
fn check(store: &Store, anchors: &[Anchor]) -> rusqlite::Result<Verdict> {
    let transaction = store.connection().unchecked_transaction()?;
    let all = entries(&transaction, "SELECT * FROM audit ORDER BY seq", [])?;
    let mut verdict = Verdict {
        entries: all.len(),
        operations: 0,
        anchors: anchors.len(),
        foreign_anchors: 0,
        misfit: None,
    };
    let mut previous = "";
    for (wanted, entry) in (1..).zip(&all) {
        let misfit = |words: String| Some(Misfit { entry: wanted, words });
        verdict.misfit = match misfit_of_entry(entry, wanted, previous, anchors) {
            Some(words) => misfit(words),
            None if entry.action == Action::End.words() => {
                verdict.operations += 1;
                misfit_of_operation(&transaction, entry, &all[wanted as usize..])?.and_then(misfit)
            }
            None => None,
        };
        if verdict.misfit.is_some() {
            return Ok(verdict);
        }
        previous = &entry.hash;
    }
    // What was at the end and is gone is known to a commit, or to SQLite's own count.
    let end = all.len() as i64;
    let named = anchors.iter().find(|anchor| anchor.seq > end);
    let named = named.map(|anchor| format!("commit {} names entry {}", short(&anchor.commit), anchor.seq));
    let count = Some(counted(&transaction)?).filter(|count| *count > end);
    let witness = named.or_else(|| count.map(|count| format!("Eos wrote {count}")));
    verdict.misfit = witness.map(|witness| Misfit {
        entry: end + 1,
        words: format!("is missing: the audit ends with entry {end}, but {witness}"),
    });
    Ok(verdict)
}

fn misfit_of_entry(entry: &Entry, wanted: i64, previous: &str, anchors: &[Anchor]) -> Option<String> {
    if entry.seq != wanted {
        return Some("is missing".to_owned());
    }
    if canonical(&entry.detail) != entry.detail_text || entry.computed_hash() != entry.hash {
        return Some("was changed: its hash does not fit its content".to_owned());
    }
    if entry.previous != previous {
        return Some("does not follow the entry before it: one of the two was rewritten".to_owned());
    }
    let other = anchors
        .iter()
        .find(|anchor| anchor.seq == wanted && anchor.hash != entry.hash)?;
    Some(format!(
        "was rewritten: commit {} names another one",
        short(&other.commit)
    ))
}

/// Compares what the end of an operation sealed with what is there now; `later` are the entries after it.
fn misfit_of_operation(
    connection: &Connection,
    entry: &Entry,
    later: &[Entry],
) -> rusqlite::Result<Option<String>> {
    let id = &entry.object;
    let last = entry.detail["journal"]["last"].as_i64();
    let found = Sealed::read(connection, id, last)?;
    if entry.detail["journal"] != found.to_json()["journal"] {
        return Ok(Some(format!(
            "does not fit: the journal of operation {id} was changed"
        )));
    }
    // It went on, maybe with another plan; a later end seals it.
    if later
        .iter()
        .any(|later| later.object == *id && later.action.starts_with("operation "))
    {
        return Ok(None);
    }
    if entry.detail["record"] != found.to_json()["record"] {
        return Ok(Some(format!(
            "does not fit: operation {id} or its plan was changed"
        )));
    }
    let newest: Option<i64> =
        connection.query_row("SELECT max(seq) FROM journal WHERE operation = ?1", [id], |row| {
            row.get(0)
        })?;
    if newest > last && newest.is_some() {
        return Ok(Some(format!(
            "does not fit: the journal of operation {id} goes on after its end"
        )));
    }
    let outcome = connection.query_row("SELECT outcome FROM operations WHERE id = ?1", [id], |row| {
        bytes(row, "outcome")
    })?;
    if outcome != entry.outcome.as_bytes() {
        return Ok(Some(format!(
            "does not fit: the outcome of operation {id} was changed"
        )));
    }
    Ok(None)
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rusqlite::params;
    use serde_json::json;

    use super::*;
    use crate::audit::{Actor, NewEntry};
    use crate::store::{NewOperation, Outcome};

    const ADA: Actor<'_> = Actor {
        who: "ada",
        user: "eos-operator",
    };

    fn login() -> NewEntry<'static> {
        NewEntry {
            by: ADA,
            action: Action::Login,
            object: "https://127.0.0.1:1",
            outcome: "done",
            detail: json!({"until": "14:02", "from": {"b": 1, "a": "ü"}}),
        }
    }

    /// A store with an operation that was done, and one entry before and after it.
    fn store(estate: &Path) -> (Store, String) {
        let mut store = Store::open(estate).unwrap();
        store.audit(&login()).unwrap();
        let new = NewOperation {
            environment: "production",
            components: &["hello".to_owned()],
            words: "eos create hello",
            by: ADA,
            plan: &json!({"steps": [1, 2]}),
            takes_back: None,
        };
        let id = Store::new_operation_id();
        store.begin_operation(&id, &new).unwrap();
        store.begin_step(&id, "1-deliver", &json!({})).unwrap();
        store
            .end_step(&id, "1-deliver", &json!({"effect": "served"}))
            .unwrap();
        store.end_operation(&id, Outcome::Done, ADA).unwrap();
        store.audit(&login()).unwrap();
        (store, id)
    }

    fn anchors(store: &Store) -> Vec<Anchor> {
        let all = store.audit_entries(10).unwrap();
        all.iter()
            .map(|entry| Anchor {
                commit: "0123456789abcdef".to_owned(),
                home: "here".to_owned(),
                seq: entry.seq,
                hash: entry.hash.clone(),
            })
            .collect()
    }

    /// As somebody would who wants nobody to know.
    fn tamper(store: &Store, sql: &str) {
        store
            .connection()
            .execute_batch(
                "PRAGMA foreign_keys = OFF;
                 DROP TRIGGER IF EXISTS audit_is_not_rewritten; DROP TRIGGER IF EXISTS audit_is_not_cut;
                 DROP TRIGGER IF EXISTS journal_is_not_rewritten; DROP TRIGGER IF EXISTS journal_is_not_cut;",
            )
            .unwrap();
        store.connection().execute_batch(sql).unwrap();
    }

    /// The entry and the words of the first misfit after a change; there was none before it.
    fn found(sql: &str) -> (i64, String) {
        let estate = tempfile::tempdir().unwrap();
        let (store, _) = store(estate.path());
        let anchors = anchors(&store);
        assert_eq!(check(&store, &anchors).unwrap().misfit, None, "before {sql}");
        tamper(&store, sql);
        let misfit = check(&store, &anchors).unwrap().misfit;
        let Misfit { entry, words } = misfit.unwrap_or_else(|| panic!("not found: {sql}"));
        (entry, words)
    }

    #[test]
    fn entries_read_back_and_fit() {
        let estate = tempfile::tempdir().unwrap();
        let (store, id) = store(estate.path());
        let verdict = check(&store, &anchors(&store)).unwrap();
        assert_eq!(
            (
                verdict.entries,
                verdict.operations,
                verdict.anchors,
                verdict.misfit
            ),
            (4, 1, 4, None)
        );
        let newest_first = store.audit_entries(10).unwrap();
        let actions: Vec<&str> = newest_first.iter().map(|entry| entry.action.as_str()).collect();
        assert_eq!(actions, ["login", "operation ended", "operation begun", "login"]);
        let of_operation = store.audit_of(&id).unwrap();
        assert_eq!(of_operation.len(), 2);
        assert_eq!(
            (of_operation[1].user.as_str(), of_operation[1].outcome.as_str()),
            ("eos-operator", "done")
        );
    }

    #[test]
    fn the_audit_cannot_be_rewritten() {
        let estate = tempfile::tempdir().unwrap();
        let (store, _) = store(estate.path());
        for sql in ["DELETE FROM audit", "UPDATE audit SET who = 'eve'"] {
            let error = store.connection().execute(sql, []).unwrap_err();
            assert!(error.to_string().contains("append-only"), "{sql}: {error}");
        }
    }

    /// Every byte of every column of one entry: another letter, and a byte that is no text.
    #[test]
    fn a_changed_byte_of_an_entry_is_found() {
        let estate = tempfile::tempdir().unwrap();
        let (store, _) = store(estate.path());
        let anchors = anchors(&store);
        tamper(&store, "");
        for column in [
            "at", "who", "user", "action", "object", "outcome", "detail", "previous", "hash",
        ] {
            let sql = format!("SELECT CAST({column} AS BLOB) FROM audit WHERE seq = 3");
            let whole: Vec<u8> = store.connection().query_row(&sql, [], |row| row.get(0)).unwrap();
            assert!(!whole.is_empty(), "{column}");
            let set = format!("UPDATE audit SET {column} = CAST(?1 AS TEXT) WHERE seq = 3");
            for (place, bit) in (0..whole.len()).flat_map(|place| [(place, 1), (place, 0x80)]) {
                let mut changed = whole.clone();
                changed[place] ^= bit;
                store.connection().execute(&set, [&changed]).unwrap();
                let misfit = check(&store, &[]).unwrap().misfit;
                let entry = misfit
                    .unwrap_or_else(|| panic!("{column}, byte {place}, bit {bit}"))
                    .entry;
                assert_eq!(entry, 3, "{column}, byte {place}");
            }
            store.connection().execute(&set, [&whole]).unwrap();
            assert_eq!(
                check(&store, &anchors).unwrap().misfit,
                None,
                "{column} as it was"
            );
        }
        store
            .connection()
            .execute("UPDATE audit SET seq = 9 WHERE seq = 3", [])
            .unwrap();
        assert_eq!(check(&store, &[]).unwrap().misfit.unwrap().entry, 3);
    }

    #[test]
    fn a_cut_tail_is_found_by_the_count_and_by_a_commit() {
        let (entry, words) = found("DELETE FROM audit WHERE seq = 4");
        assert_eq!(
            (entry, words.contains("commit 0123456789ab names entry 4")),
            (4, true),
            "{words}"
        );
        let all = "DELETE FROM audit; UPDATE sqlite_sequence SET seq = 0 WHERE name = 'audit'";
        assert_eq!(found(all).0, 1);

        let estate = tempfile::tempdir().unwrap();
        let (mut store, _) = store(estate.path());
        tamper(&store, "DELETE FROM audit WHERE seq = 4");
        let misfit = check(&store, &[]).unwrap().misfit.unwrap();
        assert_eq!(
            misfit.words,
            "is missing: the audit ends with entry 3, but Eos wrote 4"
        );
        // What is appended later does not cover it up.
        store.audit(&login()).unwrap();
        assert_eq!(check(&store, &[]).unwrap().misfit.unwrap().entry, 4);
    }

    #[test]
    fn an_entry_in_the_middle_cannot_be_taken_out() {
        assert_eq!(
            found("DELETE FROM audit WHERE seq = 2"),
            (2, "is missing".to_owned())
        );
        let renumbered = "DELETE FROM audit WHERE seq = 2; UPDATE audit SET seq = seq - 1 WHERE seq > 2";
        assert_eq!(found(renumbered).0, 2);
    }

    /// The whole chain made anew around a change fits in itself; a commit knows better.
    #[test]
    fn a_chain_written_anew_is_found_by_a_commit() {
        let estate = tempfile::tempdir().unwrap();
        let (store, _) = store(estate.path());
        let anchors = anchors(&store);
        tamper(&store, "UPDATE audit SET who = 'eve' WHERE seq = 2");
        let mut previous = String::new();
        for mut entry in entries(store.connection(), "SELECT * FROM audit ORDER BY seq", []).unwrap() {
            entry.previous = previous;
            entry.hash = entry.computed_hash();
            let sql = "UPDATE audit SET previous = ?2, hash = ?3 WHERE seq = ?1";
            let changed = store
                .connection()
                .execute(sql, params![entry.seq, entry.previous, entry.hash]);
            assert_eq!(changed.unwrap(), 1);
            previous = entry.hash;
        }
        assert_eq!(check(&store, &[]).unwrap().misfit, None);
        let misfit = check(&store, &anchors).unwrap().misfit.unwrap();
        assert_eq!(
            misfit,
            Misfit {
                entry: 2,
                words: "was rewritten: commit 0123456789ab names another one".to_owned()
            }
        );
    }

    #[test]
    fn a_change_of_what_an_end_seals_is_found() {
        for sql in [
            "UPDATE journal SET detail = '{\"effect\":\"Served\"}' WHERE event = 'end'",
            "UPDATE journal SET at = '2020-01-01T00:00:00Z' WHERE event = 'begin'",
            "UPDATE journal SET seq = 99 WHERE event = 'end'",
            "DELETE FROM journal WHERE event = 'end'",
            "INSERT INTO journal SELECT seq + 9, operation, step, event, at, detail FROM journal WHERE event = 'end'",
            "UPDATE operations SET plan = replace(plan, '1', '2')",
            "UPDATE operations SET words = 'eos create hell'",
            "UPDATE operations SET outcome = 'failed'",
            "UPDATE operations SET who = 'eve'",
            "DELETE FROM operations",
        ] {
            let (entry, words) = found(sql);
            assert_eq!(
                (entry, words.starts_with("does not fit: ")),
                (3, true),
                "{sql}: {words}"
            );
        }
    }

    #[test]
    fn an_operation_that_goes_on_after_an_end_fits() {
        let estate = tempfile::tempdir().unwrap();
        let (mut store, id) = store(estate.path());
        store.resume_operation(&id, ADA).unwrap();
        store.begin_step(&id, "2-verify", &json!({})).unwrap();
        assert_eq!(check(&store, &[]).unwrap().misfit, None);
        store.end_operation(&id, Outcome::TakenBack, ADA).unwrap();
        let verdict = check(&store, &[]).unwrap();
        assert_eq!((verdict.operations, verdict.misfit), (2, None));
    }

    #[test]
    fn writers_at_the_same_time_do_not_break_the_chain() {
        let estate = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut store = Store::open(estate.path()).unwrap();
                    (0..10).for_each(|_| store.audit(&login()).unwrap());
                });
            }
        });
        let verdict = check(&Store::open(estate.path()).unwrap(), &[]).unwrap();
        assert_eq!((verdict.entries, verdict.misfit), (40, None));
    }

    #[test]
    fn a_trailer_that_is_no_anchor_is_passed_over() {
        let anchor = Anchor::read("c0ffee", "01HOME 12 abc").unwrap();
        assert_eq!(
            (anchor.home.as_str(), anchor.seq, anchor.hash.as_str()),
            ("01HOME", 12, "abc")
        );
        for other in ["", "by hand", "01HOME twelve abc"] {
            assert_eq!(Anchor::read("c0ffee", other), None);
        }
    }
}
