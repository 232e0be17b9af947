//! Nouns of `create`, `read`, `update` and `delete` beside components: each has flags of its own.

use super::{container, host, volume};

#[derive(Debug, clap::Subcommand)]
pub enum Create {
    Container(container::CreateArgs),
    Host(host::CreateArgs),
    Volume(volume::CreateArgs),
}

#[derive(Debug, clap::Subcommand)]
pub enum Read {
    Host(host::ReadArgs),
    Volume(volume::ReadArgs),
}

#[derive(Debug, clap::Subcommand)]
pub enum Update {
    Host(host::UpdateArgs),
}

#[derive(Debug, clap::Subcommand)]
pub enum Delete {
    Host(host::DeleteArgs),
    Volume(volume::DeleteArgs),
}

/// The words that are nouns here, and no recipes or components.
pub const NOUNS: [&str; 3] = ["container", "host", "volume"];
