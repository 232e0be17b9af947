//! The estate on disk: pillar and recipes read, compiled artifacts written, a new estate made.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use eos_core::catalog::{Catalog, KEPT};
use eos_core::compile::Compilation;
use eos_core::compose::whole;
use eos_core::emit::{Artifacts, digest_of};
use eos_core::intent::empty_environment_file;
use eos_core::name::ENVIRONMENTS;
use eos_core::pillar::{COMMON_FILE, Pillar, PillarFiles, environment_file};
use eos_core::plan::PillarEdit;
use eos_core::yaml;

use crate::compiling::compile;
use crate::disk;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::failure::Failure;
use crate::git::Repository;
use crate::settings::{self, Settings};
use crate::store::Store;
use crate::written::{Doubtful, Written, fingerprint};

/// What one operation commits: the pillar, the recipes it is pinned to, and what is compiled from it.
pub const COMMITTED: &[&str] = &["graph", "pillar", "recipes", "salt", "terraform"];

/// What a person may edit of that.
pub const PILLAR: &[&str] = &["pillar/infrastructure", "recipes"];

/// Files and directories that Eos writes and nobody else.
const GENERATED: &[&str] = &[
    "graph",
    "pillar/credentials",
    "pillar/hosts",
    "pillar/top.sls",
    "salt",
    "terraform",
];

const EOS_TOML: &str = "\
# Which engines this estate runs on. No secrets in here.
# Without [salt], [nomad], [delivery] and [control] it runs on its own lab: `eos lab up`.
profile = \"solo\"
environment = \"production\"
";

const GITIGNORE: &str = ".eos/\n";

const GITATTRIBUTES: &str = "\
# Compiled from the pillar: a merge conflict here is solved by `eos compile`.
graph/** linguist-generated
pillar/credentials/** linguist-generated
pillar/hosts/** linguist-generated
pillar/top.sls linguist-generated
salt/** linguist-generated
terraform/** linguist-generated
";

#[derive(Debug)]
pub struct Estate {
    pub root: PathBuf,
    pub settings: Settings,
}

impl Estate {
    /// The estate that is given, named by the environment, or around the current directory.
    pub fn open(given: Option<&Path>) -> Result<Self, EngineError> {
        let root = settings::find_estate(given)?;
        let settings = Settings::load(&root)?;
        Ok(Self { root, settings })
    }

    /// The same for who makes its lab, which writes again what cannot be read of it.
    pub fn open_for_lab(given: Option<&Path>) -> Result<Self, EngineError> {
        let root = settings::find_estate(given)?;
        let settings = Settings::load_for_lab(&root)?;
        Ok(Self { root, settings })
    }

    /// Makes a new estate: settings, a pillar with this machine as its only host, a git repository.
    pub async fn init(root: &Path) -> Result<Self, Failure> {
        let at = |path: &str| root.join(path);
        if at(settings::FILE).exists() {
            let words = format!("{} has an estate already", root.display());
            return Err(
                EngineError::new(Layer::Estate, ErrorKind::Conflict, "eos init", words)
                    .with_hint("Use it with --estate, or choose another directory")
                    .into(),
            );
        }
        if let Some(around) = settings::estate_around(root) {
            let words = format!("{} lies in the estate {}", root.display(), around.display());
            return Err(
                EngineError::new(Layer::Estate, ErrorKind::Conflict, "eos init", words)
                    .with_hint("Work in that estate, or choose a directory outside of it")
                    .into(),
            );
        }
        std::fs::create_dir_all(root).map_err(|error| broken(root, &error))?;
        let root = root.canonicalize().map_err(|error| broken(root, &error))?;
        let below = root.join(".eos/lab/volumes");
        let common = format!(
            "#!yaml\n# The hosts of this estate. `control` runs Terraform; `client` hosts run tasks.\nhosts:\n  control:\n    address: 127.0.0.1\n    roles: [client, control]\n    volumes_below: {}\n",
            yaml::quote(&below.display().to_string())
        );
        let mut writer = Writer::default();
        for (path, text) in [
            (COMMON_FILE.to_owned(), common.as_str()),
            (environment_file("production"), empty_environment_file()),
            (".gitignore".to_owned(), GITIGNORE),
            (".gitattributes".to_owned(), GITATTRIBUTES),
            // Last: a directory with this file is an estate.
            (settings::FILE.to_owned(), EOS_TOML),
        ] {
            let path = root.join(path);
            if !path.exists() {
                writer.write(&path, text.as_bytes())?;
            }
        }
        writer.sync()?;
        let repository = Repository::new(&root);
        repository.init().await?;
        let settings = Settings::load(&root)?;
        let estate = Self { root, settings };
        estate.write_artifacts(&estate.compile()?.artifacts)?;
        repository.commit(&["."], "Make the estate", &[]).await?;
        Ok(estate)
    }

    pub fn pillar_files(&self) -> Result<PillarFiles, EngineError> {
        let files = std::iter::once(COMMON_FILE.to_owned())
            .chain(ENVIRONMENTS.iter().map(|name| environment_file(name)));
        let mut found = PillarFiles::new();
        for file in files {
            let path = self.root.join(&file);
            match std::fs::read(&path) {
                Ok(bytes) => {
                    found.insert(file, bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(broken(&path, &error)),
            }
        }
        Ok(found)
    }

    /// The built-in recipes, the estate's own, `recipes/<name>/recipe.yaml`, and those it keeps.
    pub fn catalog(&self) -> Result<Catalog, Failure> {
        self.catalog_with(Vec::new())
    }

    /// As `catalog`, with recipes that are to be kept and are not written yet.
    pub fn catalog_with(&self, more: Vec<(String, Vec<u8>)>) -> Result<Catalog, Failure> {
        let mut recipes = self.recipes()?;
        recipes.extend(more);
        Ok(Catalog::load(&recipes)?)
    }

    /// The texts of the estate's own recipes and of those it keeps.
    pub(crate) fn recipes(&self) -> Result<Vec<(String, Vec<u8>)>, EngineError> {
        let mut recipes = self.own_recipes()?;
        recipes.extend(self.kept_recipes()?);
        Ok(recipes)
    }

    pub fn own_recipes(&self) -> Result<Vec<(String, Vec<u8>)>, EngineError> {
        let directories = entries(&self.root.join("recipes"))?;
        let files = directories
            .into_iter()
            .map(|directory| directory.join("recipe.yaml"));
        self.read_all(files.filter(|file| file.is_file()))
    }

    /// Recipes that components are pinned to: `recipes/kept/<name>/<pin>.yaml`.
    fn kept_recipes(&self) -> Result<Vec<(String, Vec<u8>)>, EngineError> {
        let mut files = Vec::new();
        for directory in entries(&self.root.join(KEPT))? {
            files.extend(entries(&directory)?);
        }
        self.read_all(
            files
                .into_iter()
                .filter(|file| file.extension().is_some_and(|kind| kind == "yaml")),
        )
    }

    fn read_all(&self, files: impl Iterator<Item = PathBuf>) -> Result<Vec<(String, Vec<u8>)>, EngineError> {
        let mut read = Vec::new();
        for file in files {
            let text = std::fs::read(&file).map_err(|error| broken(&file, &error))?;
            let name = file
                .strip_prefix(&self.root)
                .unwrap_or(&file)
                .display()
                .to_string();
            read.push((name, text));
        }
        read.sort();
        Ok(read)
    }

    /// The pillar as it stands, compiled.
    pub fn compile(&self) -> Result<Compilation, Failure> {
        let pillar = Pillar::read(&self.pillar_files()?)?;
        Ok(compile(&pillar, &self.catalog()?, self.settings.setup())?)
    }

    /// The pillar, with what components have for their own use as if it were written there.
    pub fn whole_pillar(&self) -> Result<Pillar, Failure> {
        let pillar = Pillar::read(&self.pillar_files()?)?;
        Ok(whole(&pillar, &self.catalog()?)?)
    }

    /// The store, made if it is not there.
    pub fn store(&self) -> Result<Store, EngineError> {
        Store::open(&self.root)
    }

    /// The store for those who only look: where there is none, an empty one that leaves no file.
    pub fn store_to_read(&self) -> Result<Store, EngineError> {
        Store::open_to_read(&self.root)
    }

    pub fn repository(&self) -> Repository {
        Repository::new(&self.root)
    }

    /// Generated files whose bytes on disk are not those of `artifacts`: missing, stale, or edited by hand.
    pub fn differing(&self, artifacts: &Artifacts) -> Result<Vec<String>, EngineError> {
        let mut differing = Vec::new();
        for (path, bytes) in artifacts {
            if self.read_if_there(path)?.as_deref() != Some(bytes.as_slice()) {
                differing.push(path.clone());
            }
        }
        differing.extend(
            self.generated_files()?
                .into_iter()
                .filter(|path| !artifacts.contains_key(path)),
        );
        differing.sort();
        Ok(differing)
    }

    /// Writes what differs and removes what is no longer compiled, whoever put it there. Gives back those files.
    pub fn write_artifacts(&self, artifacts: &Artifacts) -> Result<Vec<String>, EngineError> {
        let differing = self.differing(artifacts)?;
        let mut written = Written::empty(&self.root);
        let mut writer = Writer::default();
        for path in &differing {
            let target = self.root.join(path);
            match artifacts.get(path) {
                Some(bytes) => writer.write(&target, bytes)?,
                None => remove_with_empty_parents(&self.root, &target)?,
            }
        }
        writer.sync()?;
        for (path, bytes) in artifacts {
            written.remember(path, &self.root.join(path), fingerprint(bytes));
        }
        written.save().map_err(|error| broken(&self.root, &error))?;
        Ok(differing)
    }

    /// As `write_artifacts`, but looks only at the files that Eos wrote, and reads only those that somebody touched since.
    pub fn write_changed(&self, artifacts: &Artifacts) -> Result<usize, EngineError> {
        let Some(mut written) = Written::load(&self.root) else {
            return Ok(self.write_artifacts(artifacts)?.len());
        };
        let mut count = 0;
        let mut writer = Writer::default();
        for Doubtful {
            path,
            bytes,
            fingerprint,
        } in written.doubtful(&self.root, artifacts)
        {
            let target = self.root.join(path);
            if self.read_if_there(path)?.as_deref() != Some(bytes) {
                writer.write(&target, bytes)?;
                count += 1;
            }
            written.remember(path, &target, fingerprint);
        }
        writer.sync()?;
        for path in written.gone(artifacts) {
            let target = self.root.join(&path);
            if target.symlink_metadata().is_ok() {
                remove_with_empty_parents(&self.root, &target)?;
                count += 1;
            }
            written.forget(&path);
        }
        written.save().map_err(|error| broken(&self.root, &error))?;
        Ok(count)
    }

    /// Writes the texts of an edit, and removes the files that go with it. Doing it twice changes nothing.
    pub fn write_pillar(&self, edit: &PillarEdit) -> Result<(), EngineError> {
        let mut writer = Writer::default();
        for (path, text) in edit {
            let target = self.root.join(path);
            match text {
                Some(text) => writer.write(&target, text.as_bytes())?,
                None if target.symlink_metadata().is_ok() => remove_with_empty_parents(&self.root, &target)?,
                None => {}
            }
        }
        writer.sync()
    }

    /// Generated files that were changed since the last commit, by someone other than the plan at hand.
    pub async fn edited_by_hand(&self, artifacts: &Artifacts) -> Result<Vec<String>, EngineError> {
        let mut edited = Vec::new();
        for path in self.repository().changed(GENERATED).await? {
            if self.read_if_there(&path)?.as_ref() != artifacts.get(&path) {
                edited.push(path);
            }
        }
        Ok(edited)
    }

    fn read_if_there(&self, path: &str) -> Result<Option<Vec<u8>>, EngineError> {
        let path = self.root.join(path);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(broken(&path, &error)),
        }
    }

    fn generated_files(&self) -> Result<Vec<String>, EngineError> {
        let mut files = Vec::new();
        let mut open: Vec<PathBuf> = GENERATED.iter().map(|path| self.root.join(path)).collect();
        while let Some(path) = open.pop() {
            if path.is_dir() && !path.is_symlink() {
                for entry in std::fs::read_dir(&path).map_err(|error| broken(&path, &error))? {
                    open.push(entry.map_err(|error| broken(&path, &error))?.path());
                }
            } else if path.exists() || path.is_symlink() {
                files.push(
                    path.strip_prefix(&self.root)
                        .unwrap_or(&path)
                        .display()
                        .to_string(),
                );
            }
        }
        Ok(files)
    }
}

/// What lies in a directory; nothing, if it is not there.
fn entries(directory: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let found = match std::fs::read_dir(directory) {
        Ok(found) => found,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(Vec::new());
        }
        Err(error) => return Err(broken(directory, &error)),
    };
    found
        .map(|entry| {
            entry
                .map(|entry| entry.path())
                .map_err(|error| broken(directory, &error))
        })
        .collect()
}

/// What pins a plan to the pillar it was made from.
pub fn pillar_digest(files: &PillarFiles) -> String {
    digest_of(
        files
            .iter()
            .flat_map(|(path, bytes)| [path.as_bytes(), bytes.as_slice()]),
    )
}

/// Writes files that are on disk once it has synced the directories that name them.
#[derive(Default)]
struct Writer {
    directories: BTreeSet<PathBuf>,
}

impl Writer {
    /// A file appears whole or not at all.
    fn write(&mut self, path: &Path, bytes: &[u8]) -> Result<(), EngineError> {
        let write = || -> io::Result<()> {
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(".eos-new");
            let new = path.with_file_name(name);
            std::fs::write(&new, bytes)?;
            std::fs::File::open(&new)?.sync_all()?;
            std::fs::rename(&new, path)
        };
        self.directories.extend(path.parent().map(Path::to_owned));
        write().map_err(|error| broken(path, &error))
    }

    fn sync(self) -> Result<(), EngineError> {
        for directory in self.directories {
            std::fs::File::open(&directory)
                .and_then(|opened| opened.sync_all())
                .map_err(|error| broken(&directory, &error))?;
        }
        Ok(())
    }
}

fn remove_with_empty_parents(root: &Path, path: &Path) -> Result<(), EngineError> {
    std::fs::remove_file(path).map_err(|error| broken(path, &error))?;
    for parent in path.ancestors().skip(1).take_while(|parent| *parent != root) {
        // A directory that still holds something stays; that is the end of it, not an error.
        if std::fs::remove_dir(parent).is_err() {
            break;
        }
    }
    Ok(())
}

fn broken(path: &Path, error: &io::Error) -> EngineError {
    let hint = match error.kind() {
        io::ErrorKind::PermissionDenied => "Check who owns the estate's files",
        _ => "Check the estate's files",
    };
    disk::failed(path.display().to_string(), path, error).with_default_hint(hint)
}
