//! Editing a pillar file as text: the one entry changes, every other line stays as the person wrote it.

use crate::diagnostic::Diagnostic;
use crate::yaml::Value;

/// Creates or replaces the value at a path of keys; missing parents are created.
pub fn set(file: &str, text: &str, path: &[&str], value: &Value) -> Result<String, Diagnostic> {
    let _ = (text, path, value);
    Err(Diagnostic::new(format!("editing {file} is not ready")))
}

/// Removes the entry at a path of keys.
pub fn remove(file: &str, text: &str, path: &[&str]) -> Result<String, Diagnostic> {
    let _ = (text, path);
    Err(Diagnostic::new(format!("editing {file} is not ready")))
}
