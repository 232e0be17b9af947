//! eos-lab
pub mod error; mod durable; pub mod progress; pub mod install; mod process; mod ports; mod secrets; mod tls;
