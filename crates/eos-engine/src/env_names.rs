//! The names of all `EOS_*` environment variables.

/// The estate to work in, where `--estate` does not say.
pub const ESTATE: &str = "EOS_ESTATE";

/// The user of Salt's API to act as, where no flag says; else the one that eos.toml names.
pub const SALT_USER: &str = "EOS_SALT_USER";

/// Tests: the `nomad` program to test against. Unset: such tests are skipped.
pub const TEST_NOMAD: &str = "EOS_TEST_NOMAD";

/// Tests: the `consul` program to test against. Unset: such tests are skipped.
pub const TEST_CONSUL: &str = "EOS_TEST_CONSUL";

/// Tests: the `vault` program to test against. Unset: such tests are skipped.
pub const TEST_VAULT: &str = "EOS_TEST_VAULT";

/// Tests: the directory of a Python environment with Salt in it. Unset: such tests are skipped.
pub const TEST_SALT: &str = "EOS_TEST_SALT";

/// Tests, debug builds only: the number of the store's write after which the process kills itself.
#[cfg(debug_assertions)]
pub const FAULT_KILL_AT: &str = "EOS_FAULT_KILL_AT";

/// Tests, debug builds only: a file that gets one line for every write of the store.
#[cfg(debug_assertions)]
pub const FAULT_TRACE: &str = "EOS_FAULT_TRACE";

/// Tests, debug builds only: a file that gets one line for every compilation of an estate.
#[cfg(debug_assertions)]
pub const COMPILE_TRACE: &str = "EOS_COMPILE_TRACE";
