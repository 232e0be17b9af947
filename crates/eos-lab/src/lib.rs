//! eos-lab
