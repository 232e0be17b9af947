//! eos-engine
