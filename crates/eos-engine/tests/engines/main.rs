//! Tests against real engines: they need `EOS_TEST_NOMAD` and `EOS_TEST_SALT`, and are skipped without.

mod nomad;
mod process;
mod salt;
