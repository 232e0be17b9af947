//! Compiles an estate. One digest names every input, so that a compilation serves for as long as none of them changed.

use eos_core::backend::Setup;
use eos_core::catalog::{Catalog, KEPT};
use eos_core::compile::{self, Compilation};
use eos_core::diagnostic::Diagnostic;
use eos_core::emit::digest_of;
use eos_core::pillar::{Pillar, PillarFiles};

use crate::error::EngineError;
use crate::estate::{Estate, pillar_digest};
use crate::failure::Failure;

/// The files that a compilation is made from, as they were read once.
pub(crate) struct Inputs {
    pub files: PillarFiles,
    recipes: Vec<(String, Vec<u8>)>,
}

impl Inputs {
    pub fn read(estate: &Estate) -> Result<Self, EngineError> {
        Ok(Self {
            files: estate.pillar_files()?,
            recipes: estate.recipes()?,
        })
    }

    pub fn catalog(&self) -> Result<Catalog, Failure> {
        Ok(Catalog::load(&self.recipes)?)
    }

    /// Names these files and what they are compiled for. The built-in recipes are as old as this process.
    pub fn digest(&self, setup: &Setup) -> String {
        let setup = format!("{setup:?}");
        let recipes = self.recipes.iter().map(|(path, text)| (path, text));
        let files = self.files.iter().chain(recipes);
        let parts = files.flat_map(|(path, bytes)| [path.as_bytes(), bytes.as_slice()]);
        // The pillar and the recipes never share a path, so that no file can pass for one of the others.
        digest_of([setup.as_bytes()].into_iter().chain(parts))
    }
}

/// A compilation, and the pillar it is of.
pub(crate) struct Compiled {
    /// Digest of the pillar.
    pub from: String,
    pub compilation: Compilation,
}

/// What was compiled for a plan before anything was locked.
pub(crate) struct Beforehand {
    /// Digest of every input, without the plan's own edit.
    inputs: String,
    compiled: Compiled,
}

impl Beforehand {
    /// `edited` is the pillar of the inputs with the plan's edit.
    pub fn new(inputs: String, edited: &PillarFiles, compilation: Compilation) -> Self {
        let pillar = edited.iter().filter(|(path, _)| !path.starts_with(KEPT));
        let pillar = pillar.map(|(path, bytes)| (path.clone(), bytes.clone()));
        Self {
            inputs,
            compiled: Compiled {
                from: pillar_digest(&pillar.collect()),
                compilation,
            },
        }
    }

    /// The compilation, if it is the one of this release and every input is still the same.
    pub fn if_unchanged(self, inputs: &Inputs, setup: &Setup, release: &str) -> Option<Compiled> {
        let Self {
            inputs: before,
            compiled,
        } = self;
        let same = before == inputs.digest(setup) && compiled.compilation.release == release;
        same.then_some(compiled)
    }
}

/// Every compilation of the engine is made here, so that a test can count them.
pub(crate) fn compile(
    pillar: &Pillar,
    catalog: &Catalog,
    setup: Setup,
) -> Result<Compilation, Vec<Diagnostic>> {
    #[cfg(debug_assertions)]
    trace::note();
    compile::compile(pillar, catalog, setup)
}

/// Tells a test of each compilation. Only debug builds have it.
#[cfg(debug_assertions)]
mod trace {
    use std::io::Write;

    use crate::env_names;

    pub fn note() {
        let Some(trace) = std::env::var_os(env_names::COMPILE_TRACE) else {
            return;
        };
        let written = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&trace)
            .and_then(|mut file| file.write_all(b"compiled\n"));
        if let Err(error) = written {
            panic!("{}: {error}", env_names::COMPILE_TRACE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eos_core::pillar::{COMMON_FILE, environment_file};
    use eos_core::profile::Profile;
    use std::path::Path;

    const RECIPE: &str =
        "recipe: own\nversion: 1.0.0\nsummary: Ours\nservices: {own: {program: {command: /bin/true}}}\n";

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// An estate with a pillar, a recipe of its own and one that it keeps.
    fn estate(root: &Path) -> Estate {
        write(root, "eos.toml", "profile = \"solo\"\n");
        write(
            root,
            COMMON_FILE,
            "#!yaml\nhosts: {control: {address: 127.0.0.1, roles: [client, control]}}\n",
        );
        write(
            root,
            &environment_file("production"),
            "#!yaml\ncomponents: {hello: {recipe: hello}}\n",
        );
        write(root, "recipes/own/recipe.yaml", RECIPE);
        write(root, "recipes/kept/own/1.0.0-0.yaml", RECIPE);
        Estate::open(Some(root)).unwrap()
    }

    fn compiled(estate: &Estate) -> (Beforehand, String) {
        let inputs = Inputs::read(estate).unwrap();
        let pillar = Pillar::read(&inputs.files).unwrap();
        let setup = estate.settings.setup();
        let compilation = compile(&pillar, &Catalog::load(&[]).unwrap(), setup.clone()).unwrap();
        let release = compilation.release.clone();
        let digest = inputs.digest(&setup);
        (Beforehand::new(digest, &inputs.files, compilation), release)
    }

    fn serves(estate: &Estate, (beforehand, release): (Beforehand, String)) -> bool {
        let now = Inputs::read(estate).unwrap();
        let setup = crate::Settings::load(&estate.root).unwrap().setup();
        beforehand.if_unchanged(&now, &setup, &release).is_some()
    }

    #[test]
    fn a_compilation_serves_as_long_as_no_input_changed() {
        let directory = tempfile::tempdir().unwrap();
        let estate = estate(directory.path());
        assert!(serves(&estate, compiled(&estate)));
        for (path, text) in [
            (COMMON_FILE.to_owned(), "hosts: {}\n"),
            (environment_file("production"), "components: {}\n"),
            // A file that was not there before.
            (environment_file("staging"), "components: {}\n"),
            ("recipes/own/recipe.yaml".to_owned(), "recipe: other\n"),
            ("recipes/kept/own/1.0.0-0.yaml".to_owned(), "recipe: other\n"),
            ("recipes/new/recipe.yaml".to_owned(), RECIPE),
            ("eos.toml".to_owned(), "profile = \"full\"\n"),
            (
                "eos.toml".to_owned(),
                "[terraform]\nbackend = \"s3\"\nbucket = \"one\"\n",
            ),
        ] {
            let made = compiled(&estate);
            let file = estate.root.join(&path);
            let before = std::fs::read(&file).ok();
            write(&estate.root, &path, text);
            assert!(!serves(&estate, made), "{path} changed: {text}");
            match before {
                Some(bytes) => std::fs::write(&file, bytes).unwrap(),
                None => std::fs::remove_file(&file).unwrap(),
            }
            assert!(serves(&estate, compiled(&estate)), "{path} is as it was");
        }
    }

    #[test]
    fn a_compilation_serves_no_other_release_and_no_other_setup() {
        let directory = tempfile::tempdir().unwrap();
        let estate = estate(directory.path());
        let (beforehand, _) = compiled(&estate);
        assert!(!serves(&estate, (beforehand, "of another plan".to_owned())));
        let inputs = Inputs::read(&estate).unwrap();
        assert_ne!(
            inputs.digest(&Profile::Solo.into()),
            inputs.digest(&Profile::Full.into())
        );
    }
}
