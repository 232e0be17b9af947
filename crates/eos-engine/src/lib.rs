//! The effects of Eos: the clients of its engines, and what an operation writes down on the way.
//!
//! | module | owns |
//! |---|---|
//! | `error` | how every engine's answer reads when it is not what was asked for |
//! | `endpoints` | where the engines are and how they are spoken to |
//! | `settings` | `eos.toml`, and which endpoints an estate has |
//! | `env_names` | the names of all `EOS_*` environment variables |
//! | `http` | how an HTTP client is built: TLS, pinning, no proxy, no redirects |
//! | `salt` | Salt's HTTP API: calls, steps, and every way in which Salt says no |
//! | `nomad` | Nomad's HTTP API, read with typed answers |

pub mod endpoints;
pub mod error;
mod http;
pub mod nomad;
pub mod salt;

pub use endpoints::{Delivery, Endpoints, NomadEndpoint, SaltEndpoint};
pub use error::{EngineError, ErrorKind, Layer};
pub use nomad::NomadClient;
pub use salt::{SaltClient, StepCall, Token};
