//! The Salt code that this program carries: path below the formula's directory, and bytes.

include!(concat!(env!("OUT_DIR"), "/formula.rs"));
