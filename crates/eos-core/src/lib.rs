//! The compiler: words in, artifacts and plans out. Pure: no files, clock, environment, network or terminal.

pub mod diagnostic;
pub mod splice;
pub mod yaml;
