//! Lets a test end the process, as a power cut would, after any write of the store. Only debug builds have it.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::Connection;

use crate::env_names;

static WRITES: AtomicU64 = AtomicU64::new(0);

/// Counts one write that is on disk, notes it in the trace, and kills this process if its turn has come.
pub fn after_write(connection: &Connection, sql: &str) {
    let number = WRITES.fetch_add(1, Ordering::SeqCst) + 1;
    if let Some(trace) = std::env::var_os(env_names::FAULT_TRACE) {
        let line = format!("{number} {}\n", words(connection, sql));
        let written = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&trace)
            .and_then(|mut file| file.write_all(line.as_bytes()));
        if let Err(error) = written {
            panic!("{}: {error}", env_names::FAULT_TRACE);
        }
    }
    if std::env::var(env_names::FAULT_KILL_AT).is_ok_and(|at| at == number.to_string()) {
        kill_this_process();
    }
}

fn words(connection: &Connection, sql: &str) -> String {
    if sql.contains("INTO journal") {
        let newest = "SELECT event || ' step ' || step FROM journal ORDER BY seq DESC LIMIT 1";
        return connection
            .query_row(newest, [], |row| row.get(0))
            .unwrap_or_else(|error| error.to_string());
    }
    sql.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

#[allow(unsafe_code)]
fn kill_this_process() -> ! {
    // SAFETY: both calls take plain numbers; SIGKILL cannot be caught, so no Rust code runs afterwards.
    unsafe {
        libc::kill(libc::getpid(), libc::SIGKILL);
    }
    unreachable!("a process does not survive SIGKILL");
}
