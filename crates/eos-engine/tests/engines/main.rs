//! Tests against real engines: they need `EOS_TEST_NOMAD`, `EOS_TEST_CONSUL`, `EOS_TEST_VAULT` and `EOS_TEST_SALT`,
//! and are skipped without.

mod component_lock;
mod consul;
mod nomad;
mod process;
mod salt;
mod vault;
