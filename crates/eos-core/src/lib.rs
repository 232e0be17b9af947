//! The compiler: words in, artifacts and plans out. Pure: no files, clock, environment, network or terminal.

pub mod catalog;
pub mod compile;
pub mod compose;
pub mod diagnostic;
pub mod emit;
pub mod expand;
pub mod graph;
pub mod intent;
pub mod lint;
pub mod lowered;
pub mod name;
pub mod node;
pub mod option;
pub mod order;
pub mod passes;
pub mod pillar;
pub mod plan;
pub mod profile;
mod read;
pub mod recipe;
pub mod runtime;
pub mod schema;
pub mod source;
pub mod splice;
pub mod template;
pub mod why;
pub mod yaml;
