//! The Salt code that this program carries: path below the formula's directory, and bytes; and its digest.

use eos_core::emit::sha256;

include!(concat!(env!("OUT_DIR"), "/formula.rs"));

/// What `eos.info` answers as `formula` on a minion that has the modules of this program.
pub fn digest() -> String {
    let is_module = |path: &str| {
        ["_modules/eos", "_states/eos", "_utils/eos"]
            .iter()
            .any(|start| path.starts_with(start))
            && path.ends_with(".py")
    };
    let lines: String = FILES
        .iter()
        .filter(|(path, _)| is_module(path))
        .map(|(path, bytes)| format!("{}  {path}\n", sha256(bytes)))
        .collect();
    sha256(lines.as_bytes())
}

/// A file of the formula, as text.
pub fn text(path: &str) -> Option<String> {
    let file = FILES.iter().find(|(of, _)| *of == path);
    file.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned())
}
