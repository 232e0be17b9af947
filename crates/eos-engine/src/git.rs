//! The estate's repository, by the `git` program: what was meant, committed before anything is done.
//!
//! The person's own settings give the identity and nothing else; no hook, signature, pager or prompt can stop an
//! operation, and history is only ever added to.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::disk;
use crate::error::{EngineError, ErrorKind, Layer};

const LIMIT: Duration = Duration::from_secs(60);

/// Against settings that would ask, refuse, change bytes or lose them.
const SETTINGS: [&str; 10] = [
    "commit.gpgsign=false",
    "core.hooksPath=/dev/null",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.fsmonitor=false",
    // A person's global ignore list (often *.tfvars) must not keep artifacts out of a commit.
    "core.excludesFile=/dev/null",
    // The journal names a commit only after all of it is on disk: objects, index and reference.
    "core.fsync=all",
    "core.fsyncMethod=fsync",
    "gc.auto=0",
    "advice.detachedHead=false",
];

/// The identity of commits where the person has none.
const IDENTITY: [&str; 2] = ["user.name=Eos", "user.email=eos@localhost"];

pub struct Repository {
    directory: PathBuf,
}

impl Repository {
    pub fn new(directory: &Path) -> Self {
        Repository {
            directory: directory.to_owned(),
        }
    }

    /// Makes the repository; one that is there already is left as it is.
    pub async fn init(&self) -> Result<(), EngineError> {
        self.git(
            "repository",
            &["init", "--quiet", "--template=", "--initial-branch=main"],
            b"",
        )
        .await
        .map(|_| ())
    }

    /// The commit that HEAD is at, or nothing before the first one.
    pub async fn head(&self) -> Result<Option<String>, EngineError> {
        self.resolve("HEAD").await
    }

    /// The last commit that changed anything below these paths, or nothing if none did.
    pub async fn last_change(&self, paths: &[&str]) -> Result<Option<String>, EngineError> {
        let Some(head) = self.head().await? else {
            return Ok(None);
        };
        let mut arguments = vec!["rev-list", "--max-count=1", &head, "--"];
        arguments.extend(paths);
        let output = self.git("history", &arguments, b"").await?;
        let commit = String::from_utf8_lossy(&output).trim().to_owned();
        Ok((!commit.is_empty()).then_some(commit))
    }

    /// Which files below these paths differ from HEAD, new and deleted ones among them.
    pub async fn changed(&self, paths: &[&str]) -> Result<BTreeSet<String>, EngineError> {
        let mut arguments = vec![
            "status",
            "--porcelain=v1",
            "-z",
            "--no-renames",
            "--untracked-files=all",
            "--",
        ];
        arguments.extend(paths);
        let output = self.git("status", &arguments, b"").await?;
        // Each entry is two letters, a space and the path.
        Ok(entries(&output)
            .filter_map(|entry| entry.get(3..).map(str::to_owned))
            .collect())
    }

    pub async fn is_clean(&self, paths: &[&str]) -> Result<bool, EngineError> {
        Ok(self.changed(paths).await?.is_empty())
    }

    /// Commits what changed below these paths and nothing else; without a change there is no commit.
    pub async fn commit(
        &self,
        paths: &[&str],
        message: &str,
        trailers: &[(&str, &str)],
    ) -> Result<Option<String>, EngineError> {
        let changed = self.changed(paths).await?;
        self.commit_files(&changed, message, trailers).await
    }

    /// Makes everything below these paths as it was at a commit, by a new commit on top; history stays.
    pub async fn put_back(
        &self,
        commit: &str,
        paths: &[&str],
        message: &str,
        trailers: &[(&str, &str)],
    ) -> Result<Option<String>, EngineError> {
        let mut arguments = vec!["diff", "--name-only", "-z", "--no-renames", commit, "HEAD", "--"];
        arguments.extend(paths);
        let output = self.git(&format!("commit {commit}"), &arguments, b"").await?;
        let files: BTreeSet<String> = entries(&output).map(str::to_owned).collect();
        if files.is_empty() {
            return Ok(None);
        }
        let source = format!("--source={commit}");
        let restore = [
            "restore",
            &source,
            "--staged",
            "--worktree",
            "--pathspec-from-file=-",
            "--pathspec-file-nul",
        ];
        self.git(&format!("commit {commit}"), &restore, &listed(&files))
            .await?;
        self.commit_files(&files, message, trailers).await
    }

    /// The bytes of a file at a commit, or nothing if it had no such file.
    pub async fn show(&self, commit: &str, path: &str) -> Result<Option<Vec<u8>>, EngineError> {
        let object = format!("{path} at commit {commit}");
        let listing = self
            .git(
                &object,
                &["ls-tree", "-z", "--full-tree", commit, "--", path],
                b"",
            )
            .await?;
        // `<mode> blob <id>\t<path>`
        let id = entries(&listing)
            .next()
            .and_then(|entry| entry.split_once(" blob "))
            .and_then(|(_, rest)| rest.split_once('\t'))
            .map(|(id, _)| id);
        match id {
            Some(id) => self.git(&object, &["cat-file", "blob", id], b"").await.map(Some),
            None => Ok(None),
        }
    }

    /// Writes down which commit is applied in an environment.
    pub async fn set_applied(&self, environment: &str, commit: &str) -> Result<(), EngineError> {
        let reference = applied_reference(environment);
        self.git(&reference, &["update-ref", &reference, commit], b"")
            .await?;
        self.sync()
    }

    pub async fn applied(&self, environment: &str) -> Result<Option<String>, EngineError> {
        self.resolve(&applied_reference(environment)).await
    }

    /// Whether any environment was applied from this copy: a clone does not bring these references.
    pub async fn was_applied(&self) -> Result<bool, EngineError> {
        if self.directory.join(".git").symlink_metadata().is_err() {
            return Ok(false);
        }
        let arguments = ["for-each-ref", "--count=1", "refs/eos/applied/"];
        let found = self.git("references", &arguments, b"").await?;
        Ok(!found.is_empty())
    }

    /// Has git read its index and every object.
    pub async fn read_all(&self) -> Result<(), EngineError> {
        self.changed(&["."]).await?;
        let arguments = ["fsck", "--no-dangling", "--no-progress"];
        self.git("objects", &arguments, b"").await.map(|_| ())
    }

    /// Files of locks that no git holds: it was killed, and every later one refuses to work.
    pub fn left_locks(&self) -> Vec<PathBuf> {
        let git = self.directory.join(".git");
        let refs = ["refs/heads", "refs/eos/applied"].map(|name| git.join(name));
        let entries = [git]
            .into_iter()
            .chain(refs)
            .filter_map(|place| fs::read_dir(place).ok());
        let paths = entries.flatten().flatten().map(|entry| entry.path());
        let locks: Vec<PathBuf> = paths
            .filter(|path| path.extension().is_some_and(|kind| kind == "lock"))
            .collect();
        match locks.is_empty() || self.is_at_work() {
            true => Vec::new(),
            false => locks,
        }
    }

    /// Whether a git may be at work here: one whose place cannot be seen is taken to be.
    fn is_at_work(&self) -> bool {
        let root = self.directory.canonicalize().unwrap_or(self.directory.clone());
        let Ok(processes) = fs::read_dir("/proc") else {
            return true;
        };
        processes.flatten().any(|process| {
            let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            let place = || fs::read_link(process.path().join("cwd"));
            name.trim_end().starts_with("git")
                && place().map_or_else(is_hidden, |place| place.starts_with(&root))
        })
    }

    /// Removes what a killed git left. Whoever commits holds the estate's lock.
    fn clear_left_locks(&self) -> Result<(), EngineError> {
        for lock in self.left_locks() {
            fs::remove_file(&lock).map_err(|error| {
                let object = lock.display().to_string();
                EngineError::new(Layer::Git, ErrorKind::Failed, object, error.to_string())
            })?;
        }
        Ok(())
    }

    /// Every value of a trailer in the history of all branches, with the commit it stands in; newest first.
    pub async fn trailers(&self, name: &str) -> Result<Vec<(String, String)>, EngineError> {
        // Before the first commit `log` would fail.
        if self.head().await?.is_none() {
            return Ok(Vec::new());
        }
        let format = format!("--format=%H %(trailers:key={name},valueonly,unfold,separator=%x00)");
        let output = self.git("history", &["log", "--all", &format], b"").await?;
        let text = String::from_utf8_lossy(&output);
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        let values = lines.flat_map(|(commit, values)| {
            let values = values.split('\0').filter(|value| !value.is_empty());
            values.map(move |value| (commit.to_owned(), value.to_owned()))
        });
        Ok(values.collect())
    }

    async fn commit_files(
        &self,
        files: &BTreeSet<String>,
        message: &str,
        trailers: &[(&str, &str)],
    ) -> Result<Option<String>, EngineError> {
        if files.is_empty() {
            return Ok(None);
        }
        self.clear_left_locks()?;
        let from_input = ["--pathspec-from-file=-", "--pathspec-file-nul"];
        // A new file must be known before it can be committed; one that is gone is not found by `add`.
        let there: BTreeSet<String> = files
            .iter()
            .filter(|file| self.directory.join(file).symlink_metadata().is_ok())
            .cloned()
            .collect();
        if !there.is_empty() {
            self.git("index", &[["add", "--all"], from_input].concat(), &listed(&there))
                .await?;
        }
        let text = with_trailers(message, trailers);
        // Only these files: what the person has staged besides stays staged.
        let commit = [
            ["commit", "--quiet", "--only", "--cleanup=verbatim", "-m", &text].as_slice(),
            &from_input,
        ]
        .concat();
        self.git("commit", &commit, &listed(files)).await?;
        self.sync()?;
        self.head().await
    }

    /// Git syncs what it writes, but not the directories that name it: a file may be whole and have no name.
    fn sync(&self) -> Result<(), EngineError> {
        let git = self.directory.join(".git");
        // In a linked work tree it is a file, and names the directory.
        let directories =
            ["", "objects", "refs", "refs/heads", "refs/eos/applied"].map(|name| git.join(name));
        for directory in directories.iter().filter(|directory| directory.is_dir()) {
            fs::File::open(directory)
                .and_then(|directory| directory.sync_all())
                .map_err(|error| {
                    let object = directory.display().to_string();
                    EngineError::new(Layer::Git, ErrorKind::Failed, object, error.to_string())
                })?;
        }
        Ok(())
    }

    async fn resolve(&self, name: &str) -> Result<Option<String>, EngineError> {
        let output = self
            .run(
                name,
                &["rev-parse", "--verify", "--quiet", "--end-of-options", name],
                b"",
            )
            .await?;
        match output.status.code() {
            Some(0) => Ok(Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())),
            Some(1) => Ok(None),
            _ => Err(self.refused(name, &output.stderr)),
        }
    }

    /// Git refused; its words where the disk is full name any file but that.
    fn refused(&self, object: &str, stderr: &[u8]) -> EngineError {
        let words = String::from_utf8_lossy(stderr);
        let said = ["No space left on device", "Disk quota exceeded"];
        let place = self.directory.join(".git");
        match said.iter().any(|said| words.contains(said)) || disk::has_no_room(&place) {
            true => disk::full(Layer::Git, object, &place),
            false => refused(object, &words),
        }
    }

    async fn git(&self, object: &str, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, EngineError> {
        let output = self.run(object, arguments, input).await?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(self.refused(object, &output.stderr))
        }
    }

    async fn run(
        &self,
        object: &str,
        arguments: &[&str],
        input: &[u8],
    ) -> Result<std::process::Output, EngineError> {
        let mut command = self.command();
        if arguments.first() == Some(&"commit") && !self.has_identity(object).await? {
            command.args(IDENTITY.iter().flat_map(|setting| ["-c", setting]));
        }
        command.args(arguments);
        finish(object, command, input).await
    }

    async fn has_identity(&self, object: &str) -> Result<bool, EngineError> {
        for name in ["user.name", "user.email"] {
            let mut command = self.command();
            command.args(["config", "--get", name]);
            if finish(object, command, b"").await?.stdout.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        // A GIT_DIR or GIT_INDEX_FILE of the caller would mean another repository.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"GIT_"))
        {
            command.env_remove(name);
        }
        command
            .env("GIT_TERMINAL_PROMPT", "0")
            // A look at the status would take the index's lock for a moment, and the commit of another operation would fail.
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("LC_ALL", "C")
            .arg("-C")
            .arg(&self.directory)
            .args(["--no-pager", "--literal-pathspecs"])
            .args(SETTINGS.iter().flat_map(|setting| ["-c", setting]))
            .kill_on_drop(true);
        command
    }
}

async fn finish(
    object: &str,
    mut command: Command,
    input: &[u8],
) -> Result<std::process::Output, EngineError> {
    let error = |kind, words: String| EngineError::new(Layer::Git, kind, object, words);
    let failed = |cause: std::io::Error| match cause.kind() {
        std::io::ErrorKind::NotFound => {
            error(ErrorKind::NotFound, "git is not installed".to_owned()).with_hint("Install git")
        }
        _ => error(ErrorKind::Failed, cause.to_string()),
    };
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let stdin = child.stdin.take();
    let feed = async move {
        if let Some(mut stdin) = stdin {
            // A git that ends early does not read on; its exit code says why.
            let _ = stdin.write_all(input).await;
        }
    };
    let (_, output) = tokio::time::timeout(LIMIT, async { tokio::join!(feed, child.wait_with_output()) })
        .await
        .map_err(|_| {
            error(
                ErrorKind::Timeout,
                format!("git did not finish in {} s", LIMIT.as_secs()),
            )
        })?;
    output.map_err(failed)
}

/// Of a process that ended meanwhile nothing is hidden.
fn is_hidden(error: std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::PermissionDenied
}

fn applied_reference(environment: &str) -> String {
    format!("refs/eos/applied/{environment}")
}

fn entries(output: &[u8]) -> impl Iterator<Item = &str> {
    output
        .split(|byte| *byte == 0)
        .filter_map(|entry| std::str::from_utf8(entry).ok())
        .filter(|entry| !entry.is_empty())
}

fn listed(files: &BTreeSet<String>) -> Vec<u8> {
    files.iter().flat_map(|file| file.bytes().chain([0])).collect()
}

/// A trailer is one line: what a value has more of becomes spaces.
fn with_trailers(message: &str, trailers: &[(&str, &str)]) -> String {
    let lines: Vec<String> = trailers
        .iter()
        .map(|(name, value)| {
            format!(
                "{name}: {}\n",
                value.split_whitespace().collect::<Vec<_>>().join(" ")
            )
        })
        .collect();
    format!("{}\n\n{}", message.trim_end(), lines.concat())
}

fn refused(object: &str, words: &str) -> EngineError {
    let words = words
        .trim()
        .trim_start_matches("fatal: ")
        .trim_start_matches("error: ");
    if words.contains("index.lock") {
        return EngineError::new(
            Layer::Git,
            ErrorKind::Conflict,
            object,
            "another git process works in this repository",
        )
        .with_hint("Wait until it ends; after a crash, remove .git/index.lock");
    }
    let error = EngineError::new(Layer::Git, ErrorKind::Failed, object, words);
    match hint_for(words) {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

fn hint_for(words: &str) -> Option<&'static str> {
    let says = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    if says(&["dubious ownership"]) {
        return Some("The estate belongs to another user: run Eos as that user");
    }
    if says(&["index file", "bad signature", "index uses"]) {
        return Some(
            "Git's index is damaged; make it again, which changes no file: rm .git/index && git reset",
        );
    }
    if says(&["not a git repository"]) {
        return Some(
            "If it was one, .git/HEAD is damaged: echo 'ref: refs/heads/main' > .git/HEAD, or restore .git \
             from a copy",
        );
    }
    if says(&["broken", "bad object HEAD", "unknown revision", "bad ref"]) {
        return Some(
            "The branch names no commit; `git reflog` shows the last ones: git update-ref HEAD COMMIT",
        );
    }
    says(&["object", "unable to read", "missing"]).then_some(
        "`git fsck` names the damaged objects: remove those files, then fetch them from a copy: git fetch \
         --refetch COPY",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn repository() -> (tempfile::TempDir, Repository) {
        let directory = tempfile::tempdir().unwrap();
        let repository = Repository::new(directory.path());
        repository.init().await.unwrap();
        (directory, repository)
    }

    async fn log(repository: &Repository, format: &str) -> String {
        let format = format!("--format={format}");
        String::from_utf8(repository.git("log", &["log", &format], b"").await.unwrap()).unwrap()
    }

    #[tokio::test]
    async fn only_the_given_paths_are_committed_with_their_trailers() {
        let (directory, repository) = repository().await;
        assert_eq!(repository.head().await.unwrap(), None);
        fs::create_dir(directory.path().join("pillar")).unwrap();
        fs::write(directory.path().join("pillar/a b.sls"), "one").unwrap();
        fs::write(directory.path().join("notes.txt"), "mine").unwrap();
        repository.git("index", &["add", "notes.txt"], b"").await.unwrap();

        let trailers = [("Operation", "01JCX4"), ("Intent", "create grafana\n--port 3000")];
        let commit = repository
            .commit(&["pillar", "salt"], "Create grafana", &trailers)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(repository.head().await.unwrap(), Some(commit.clone()));
        assert_eq!(
            log(&repository, "%B").await.trim(),
            "Create grafana\n\nOperation: 01JCX4\nIntent: create grafana --port 3000"
        );
        assert!(repository.is_clean(&["pillar"]).await.unwrap());
        assert_eq!(
            repository.changed(&["."]).await.unwrap(),
            BTreeSet::from(["notes.txt".to_owned()])
        );
        assert_eq!(
            repository.show(&commit, "pillar/a b.sls").await.unwrap().unwrap(),
            b"one"
        );
        assert_eq!(repository.show(&commit, "notes.txt").await.unwrap(), None);
        assert_eq!(
            repository.commit(&["pillar"], "Nothing", &[]).await.unwrap(),
            None
        );
    }

    /// An operation looks while another one commits: git would lock the index to write down times that it looked up.
    #[tokio::test]
    async fn a_look_leaves_the_index_alone() {
        let (directory, repository) = repository().await;
        let file = directory.path().join("x");
        fs::write(&file, "one").unwrap();
        repository.commit(&["x"], "Add", &[]).await.unwrap();
        let index = || fs::read(directory.path().join(".git/index")).unwrap();
        let before = index();
        let later = std::time::SystemTime::now() + Duration::from_secs(60);
        fs::File::options()
            .write(true)
            .open(&file)
            .unwrap()
            .set_modified(later)
            .unwrap();
        assert!(repository.is_clean(&["."]).await.unwrap());
        assert_eq!(index(), before);
    }

    #[tokio::test]
    async fn nothing_of_the_persons_settings_stops_a_commit() {
        let (directory, repository) = repository().await;
        let hooks = directory.path().join(".git/hooks");
        fs::create_dir_all(&hooks).unwrap();
        fs::write(hooks.join("pre-commit"), "#!/bin/sh\nexit 1\n").unwrap();
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(hooks.join("pre-commit"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(directory.path().join("ignored"), "*.tfvars\n").unwrap();
        let ignored = directory.path().join("ignored").display().to_string();
        for (name, value) in [
            ("commit.gpgsign", "true"),
            ("user.signingkey", "nobody"),
            ("core.autocrlf", "true"),
            ("core.excludesFile", &ignored),
            ("core.hooksPath", &hooks.display().to_string()),
            ("user.useConfigOnly", "true"),
        ] {
            repository
                .git("settings", &["config", name, value], b"")
                .await
                .unwrap();
        }
        fs::write(directory.path().join("x.tfvars"), "a\r\nb\n").unwrap();
        let commit = repository
            .commit(&["x.tfvars"], "Add", &[])
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            repository.show(&commit, "x.tfvars").await.unwrap().unwrap(),
            b"a\r\nb\n"
        );
    }

    #[tokio::test]
    async fn put_back_adds_a_commit_and_keeps_history() {
        let (directory, repository) = repository().await;
        let file = |name: &str| directory.path().join("salt").join(name);
        fs::create_dir(directory.path().join("salt")).unwrap();
        fs::write(file("kept"), "1").unwrap();
        fs::write(file("deleted"), "1").unwrap();
        fs::write(directory.path().join("other"), "1").unwrap();
        let before = repository
            .commit(&["salt", "other"], "Before", &[])
            .await
            .unwrap()
            .unwrap();
        fs::write(file("kept"), "2").unwrap();
        fs::remove_file(file("deleted")).unwrap();
        fs::write(file("added"), "2").unwrap();
        fs::write(directory.path().join("other"), "2").unwrap();
        let after = repository
            .commit(&["salt", "other"], "After", &[])
            .await
            .unwrap()
            .unwrap();
        repository.set_applied("production", &after).await.unwrap();

        repository
            .put_back(&before, &["salt", "terraform"], "Take back", &[])
            .await
            .unwrap()
            .unwrap();
        assert_eq!(fs::read_to_string(file("kept")).unwrap(), "1");
        assert_eq!(fs::read_to_string(file("deleted")).unwrap(), "1");
        assert!(!file("added").exists());
        assert_eq!(fs::read_to_string(directory.path().join("other")).unwrap(), "2");
        assert_eq!(log(&repository, "%s").await, "Take back\nAfter\nBefore\n");
        assert_eq!(repository.applied("production").await.unwrap(), Some(after));
        assert_eq!(repository.applied("staging").await.unwrap(), None);
        assert_eq!(
            repository
                .put_back(&before, &["salt"], "Again", &[])
                .await
                .unwrap(),
            None
        );
    }

    #[tokio::test]
    async fn what_git_says_is_an_error_of_its_layer() {
        let directory = tempfile::tempdir().unwrap();
        let error = Repository::new(directory.path())
            .changed(&["."])
            .await
            .unwrap_err();
        assert_eq!((error.layer, error.kind), (Layer::Git, ErrorKind::Failed));
        assert!(error.words.starts_with("not a git repository"), "{error}");
    }

    /// A git at work here, such as one that waits for an editor, holds its lock; one that was killed holds nothing.
    #[tokio::test]
    async fn a_lock_that_a_killed_git_left_is_cleared_and_one_in_use_is_not() {
        let (directory, repository) = repository().await;
        let lock = directory.path().join(".git/index.lock");
        fs::write(directory.path().join("x"), "1").unwrap();
        fs::write(&lock, "").unwrap();
        let mut other = repository.command();
        let mut other = other
            .args(["hash-object", "--stdin"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let error = loop {
            // It may not have come to its place yet.
            let seen = repository.is_at_work();
            if seen {
                break repository.commit(&["x"], "Add", &[]).await.unwrap_err();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        assert_eq!(error.kind, ErrorKind::Conflict);
        assert!(repository.left_locks().is_empty() && lock.exists());
        other.kill().await.unwrap();
        assert_eq!(repository.left_locks(), std::slice::from_ref(&lock));
        repository.commit(&["x"], "Add", &[]).await.unwrap().unwrap();
        assert!(!lock.exists());
    }

    #[tokio::test]
    async fn the_hint_for_a_damaged_repository_helps() {
        async fn damaged(name: &str, bytes: &[u8]) -> (tempfile::TempDir, Repository, EngineError) {
            let (directory, repository) = repository().await;
            fs::write(directory.path().join("x"), "1").unwrap();
            repository.commit(&["x"], "Add", &[]).await.unwrap();
            fs::write(directory.path().join(".git").join(name), bytes).unwrap();
            let error = repository.read_all().await.unwrap_err();
            (directory, repository, error)
        }
        for (name, bytes) in [("index", b"not an index".as_slice()), ("HEAD", b"")] {
            let (directory, repository, error) = damaged(name, bytes).await;
            let hint = error.hint.clone().unwrap_or_default();
            let (_, command) = hint
                .split_once(": ")
                .unwrap_or_else(|| panic!("{name}: {error:?}"));
            let command = command.split(", or").next().unwrap();
            let mended = std::process::Command::new("sh")
                .args(["-c", command])
                .current_dir(directory.path())
                .output()
                .unwrap();
            assert!(mended.status.success(), "{name}: {command}: {mended:?}");
            repository.read_all().await.unwrap();
            assert!(repository.is_clean(&["x"]).await.unwrap(), "{name}");
        }
        let (_directory, _repository, error) = damaged("refs/heads/main", b"").await;
        assert!(error.hint.is_some(), "{error:?}");
    }
}
