//! Makes the table of formula files that the program carries, so that a lab can be set up from it alone.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let formula = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo names it")).join("../../formula");
    let formula = formula.canonicalize()?;
    let mut files = Vec::new();
    collect(&formula, &mut files)?;
    files.sort();
    let mut table = String::from("pub static FILES: &[(&str, &[u8])] = &[\n");
    for file in &files {
        let name = file.strip_prefix(&formula).map_err(io::Error::other)?;
        writeln!(
            table,
            "    ({:?}, include_bytes!({:?})),",
            name.display().to_string(),
            file.display().to_string()
        )
        .map_err(io::Error::other)?;
    }
    table.push_str("];\n");
    fs::write(
        Path::new(&env::var("OUT_DIR").expect("cargo names it")).join("formula.rs"),
        table,
    )
}

/// What the engines need: neither the words about it nor its tests.
fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", directory.display());
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.starts_with('.')
            || ["README.md", "tests", "__pycache__"].contains(&name.as_str())
            || name.ends_with(".pyc")
        {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            println!("cargo::rerun-if-changed={}", path.display());
            files.push(path);
        }
    }
    Ok(())
}
