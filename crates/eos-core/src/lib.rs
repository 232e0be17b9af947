//! eos-core
