//! The environment variables that this program reads itself; those of the estate are in `eos_engine::env_names`.

/// `EOS_OPTION_<NAME>` gives a recipe option to `eos create` where no flag does, such as `EOS_OPTION_PORT`.
pub const OPTION_PREFIX: &str = "EOS_OPTION_";

/// Width of the output in columns, where it is not to be that of the terminal.
pub const COLUMNS: &str = "COLUMNS";

/// The first line of the page of `serve-hello`.
pub const HELLO_GREETING: &str = "EOS_HELLO_GREETING";

/// Who works here, for the record; the first that is set.
pub const WHO: [&str; 3] = ["SUDO_USER", "USER", "LOGNAME"];
