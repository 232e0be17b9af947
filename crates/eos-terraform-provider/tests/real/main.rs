//! Runs the providers under a real Terraform against the real engines.
//!
//! `EOS_TEST_NOMAD`, `EOS_TEST_CONSUL` and `EOS_TEST_TERRAFORM` name the programs; without them the tests say
//! that they were skipped. Every test starts its own engine on free ports and ends it again.

mod consul;
mod engine;
mod nomad;
mod workspace;

use std::path::PathBuf;

/// The engine and the Terraform under test, or one line that says why there are none.
fn programs(engine: &str) -> Option<(PathBuf, PathBuf)> {
    let find = |name: &str| match std::env::var(name) {
        Ok(path) => Some(PathBuf::from(path)),
        Err(_) => {
            println!("skipped: {name} is not set");
            None
        }
    };
    Some((find(engine)?, find("EOS_TEST_TERRAFORM")?))
}
