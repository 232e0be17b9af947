//! The JSON Schemas (draft 2020-12) that editors check and explain recipes and pillar files with.
//!
//! They are written by hand, for their descriptions; a test holds them to what the readers know.

/// Of `recipe.yaml`.
pub const RECIPE: &str = include_str!("recipe.json");

/// Of `pillar/infrastructure/`: the file of the hosts, and that of an environment.
pub const PILLAR: &str = include_str!("pillar.json");
