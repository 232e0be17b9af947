//! Owns Terraform's plugin protocol 6: messages, transport, and the translation of calls into calls of a
//! provider's resources.

pub mod messages;
mod service;
mod transport;

pub use transport::serve;
