//! Measures one thing in a made-up estate and prints it as JSON; `ratios.py` runs these and holds them to bounds.

use eos_benches::{BYTES_PER_COMPONENT, FILES_OF_ONE_CREATE, Mix, is_of_another};
use eos_core::catalog::Catalog;
use eos_core::compile::{Compilation, compile, lower};
use eos_core::emit::terraform::PLATFORM;
use eos_core::intent::edit;
use eos_core::pillar::{Pillar, PillarFiles};
use eos_core::plan::{Observed, PillarEdit, PlanInput, plan};
use eos_core::profile::Profile;
use eos_engine::estate::{COMMITTED, Estate};
use mimalloc::MiMalloc;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

const USAGE: &str =
    "usage: eos-benches compile N | scaling SMALL LARGE | plan N | write N DIRECTORY | create N DIRECTORY";

/// The one that `eos` has.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

type Answer = Result<Value, Box<dyn Error>>;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let catalog = Catalog::load(&[]).map_err(said)?;
    let mix = Mix::of(&catalog);
    let bench = Bench {
        catalog: &catalog,
        mix,
    };
    let answer = match words.as_slice() {
        ["compile", components] => bench.compile(components.parse()?),
        ["scaling", small, large] => bench.scaling(small.parse()?, large.parse()?),
        ["plan", components] => bench.plan(components.parse()?),
        ["write", components, directory] => bench.write(components.parse()?, Path::new(directory)),
        ["create", components, directory] => bench.create(components.parse()?, Path::new(directory)),
        _ => Err(USAGE.into()),
    }?;
    println!("{answer}");
    Ok(())
}

struct Bench<'a> {
    catalog: &'a Catalog,
    mix: Mix<'a>,
}

impl Bench<'_> {
    /// One full compile in a process that has done nothing else, with its peak memory.
    fn compile(&self, components: usize) -> Answer {
        let files = self.mix.estate(components);
        let before = peak_memory()?;
        let mut clock = Clock::start()?;
        let pillar = Pillar::read(&files).map_err(said)?;
        let read = clock.lap()?;
        let (lowered, _) = lower(&pillar, self.catalog, Profile::Solo);
        drop(lowered);
        let lowered = clock.lap()?;
        let compilation = compile(&pillar, self.catalog, Profile::Solo).map_err(said)?;
        let compiled = clock.lap()?;
        let peak = peak_memory()?;
        let bytes = bytes(&compilation);
        Ok(json!({
            "components": components,
            "recipes": self.mix.recipes().collect::<Vec<_>>(),
            "left_out": self.mix.left_out,
            "seconds": read.wall + compiled.wall,
            "cpu_seconds": read.cpu + compiled.cpu,
            "phases": {"read": read.wall, "expand and lower": lowered.wall, "emit": compiled.wall - lowered.wall},
            "memory_before_bytes": before,
            "peak_rss_bytes": peak,
            "files": compilation.artifacts.len(),
            "bytes": bytes,
            "compiled": compilation.components.len(),
            "bytes_per_component": bytes as f64 / compilation.components.len() as f64,
            "bytes_per_component_at_most": BYTES_PER_COMPONENT,
            "bytes_by_tree": bytes_by_tree(&compilation),
        }))
    }

    /// Processor time a component in a small and a large estate, in one process: small, large, large, small.
    fn scaling(&self, small: usize, large: usize) -> Answer {
        let (few, many) = (self.mix.estate(small), self.mix.estate(large));
        let rounds = (large / small).clamp(1, 10);
        let per_component =
            |files: &PillarFiles, components: usize, rounds: usize| -> Result<f64, Box<dyn Error>> {
                let mut clock = Clock::start()?;
                for _ in 0..rounds {
                    std::hint::black_box(self.compiled(files)?);
                }
                Ok(clock.lap()?.cpu / (components * rounds) as f64)
            };
        self.compiled(&few)?;
        let small_first = per_component(&few, small, rounds)?;
        let large_first = per_component(&many, large, 1)?;
        let large_last = per_component(&many, large, 1)?;
        let small_last = per_component(&few, small, rounds)?;
        let at_small = (small_first + small_last) / 2.0;
        let at_large = (large_first + large_last) / 2.0;
        Ok(json!({
            "small": small,
            "large": large,
            "seconds_per_component": {"small": at_small, "large": at_large},
            "ratio": at_large / at_small,
        }))
    }

    /// A plan for one new component where all else is applied and in step with the engines.
    fn plan(&self, components: usize) -> Answer {
        let files = self.mix.estate(components);
        let before = self.compiled(&files)?;
        let environment = "production";
        let observed = in_step(&before);
        let applied = before.all_nodes();
        let mut clock = Clock::start()?;
        let intent = self.mix.creation(components, 0);
        let edited = edit(&files, self.catalog, &intent).map_err(said)?;
        let after = self.compiled(&edited)?;
        let compiled = clock.lap()?;
        let names = [intent.sentence.component().unwrap_or_default().to_owned()];
        let made = |scope: Option<&[String]>| {
            plan(PlanInput {
                environment,
                components: scope,
                intent: Some(intent.clone()),
                compilation: &after,
                applied: &applied,
                unfinished: &BTreeSet::new(),
                observed: Some(&observed),
                left: None,
                given: &BTreeSet::new(),
                hosts: Some(&[]),
                base: String::new(),
                pillar: BTreeMap::new(),
            })
        };
        clock.lap()?;
        let one = made(Some(&names));
        let of_one = clock.lap()?;
        let all = made(None);
        let of_all = clock.lap()?;
        Ok(json!({
            "components": components,
            "seconds": compiled.wall + of_one.wall,
            "cpu_seconds": compiled.cpu + of_one.cpu,
            "phases": {"edit and compile": compiled.wall, "plan": of_one.wall, "plan of the whole environment": of_all.wall},
            "changes": one.changes.len(),
            "changes_of_all": all.changes.len(),
            "steps": one.steps.len(),
        }))
    }

    /// A new estate on disk.
    fn write(&self, components: usize, directory: &Path) -> Answer {
        let estate = runtime()?.block_on(Estate::init(directory)).map_err(said)?;
        estate
            .write_pillar(&texts(&self.mix.estate(components))?)
            .map_err(said)?;
        let compilation = estate.compile().map_err(said)?;
        let mut clock = Clock::start()?;
        let written = estate.write_artifacts(&compilation.artifacts).map_err(said)?;
        Ok(json!({"components": components, "files_written": written.len(), "seconds": clock.lap()?.wall}))
    }

    /// One more component in a committed estate on disk, five times over, each beside a full compile in memory.
    fn create(&self, components: usize, directory: &Path) -> Answer {
        let runtime = runtime()?;
        let estate = Estate::open(Some(directory)).map_err(said)?;
        let mut rounds = Vec::new();
        for number in 0..5 {
            let mut clock = Clock::start()?;
            std::hint::black_box(self.compiled(&estate.pillar_files().map_err(said)?)?);
            let compile = clock.lap()?;
            let files = estate.pillar_files().map_err(said)?;
            let intent = self.mix.creation(components, number);
            let edited = edit(&files, self.catalog, &intent).map_err(said)?;
            let edit = clock.lap()?;
            let compilation = self.compiled(&edited)?;
            let compiled = clock.lap()?;
            let mut changed = edited;
            changed.retain(|path, bytes| files.get(path) != Some(bytes));
            estate.write_pillar(&texts(&changed)?).map_err(said)?;
            let written = estate.write_changed(&compilation.artifacts).map_err(said)?;
            let write = clock.lap()?;
            drop(compilation);
            clock.lap()?;
            let repository = estate.repository();
            let touched = runtime.block_on(repository.changed(COMMITTED)).map_err(said)?;
            clock.lap()?;
            runtime
                .block_on(repository.commit(COMMITTED, &intent.said.words, &[]))
                .map_err(said)?;
            let commit = clock.lap()?;
            let create = edit.wall + compiled.wall + write.wall;
            rounds.push(json!({
                "seconds": create,
                "full_compile_seconds": compile.wall,
                "ratio": create / compile.wall,
                "phases": {"edit": edit.wall, "compile": compiled.wall, "write": write.wall},
                "commit_seconds": commit.wall,
                "files_written": written + changed.len(),
                "files_written_at_most": FILES_OF_ONE_CREATE,
                "foreign_files": touched.iter().filter(|path| is_of_another(path, intent.sentence.component().unwrap_or_default())).count(),
            }));
        }
        Ok(json!({"components": components, "rounds": rounds}))
    }

    fn compiled(&self, files: &PillarFiles) -> Result<Compilation, Box<dyn Error>> {
        let pillar = Pillar::read(files).map_err(said)?;
        compile(&pillar, self.catalog, Profile::Solo).map_err(said)
    }
}

/// Engines that run exactly what was compiled.
fn in_step(compilation: &Compilation) -> Observed {
    let mut observed = Observed::default();
    for workspace in compilation.workspaces.values() {
        let name = format!("{}/{}", workspace.environment, workspace.component);
        observed.workspaces.insert(name, Some(workspace.digest.clone()));
        if workspace.component != PLATFORM {
            let key = (workspace.environment.clone(), workspace.component.clone());
            observed.jobs.insert(key, Some(workspace.job_digest.clone()));
        }
    }
    for component in compilation.components.values().filter(|c| !c.secrets.is_empty()) {
        let items = component.secrets.iter().map(|secret| secret.item.clone());
        observed.secrets.insert(
            (component.environment.clone(), component.secret_path()),
            items.collect(),
        );
    }
    observed
}

fn texts(files: &PillarFiles) -> Result<PillarEdit, Box<dyn Error>> {
    let text =
        |(path, bytes): (&String, &Vec<u8>)| Ok((path.clone(), Some(String::from_utf8(bytes.clone())?)));
    files.iter().map(text).collect()
}

fn bytes(compilation: &Compilation) -> usize {
    compilation.artifacts.values().map(Vec::len).sum()
}

/// Bytes below each top-level directory: where growth came from.
fn bytes_by_tree(compilation: &Compilation) -> BTreeMap<&str, usize> {
    let mut trees = BTreeMap::new();
    for (path, bytes) in &compilation.artifacts {
        let tree = path.split('/').next().unwrap_or(path);
        *trees.entry(tree).or_default() += bytes.len();
    }
    trees
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

fn said(error: impl std::fmt::Debug) -> Box<dyn Error> {
    format!("{error:?}").into()
}

struct Lap {
    wall: f64,
    cpu: f64,
}

/// Wall time and this thread's processor time since the last lap.
struct Clock {
    wall: Instant,
    cpu: f64,
}

impl Clock {
    fn start() -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            cpu: processor_seconds()?,
            wall: Instant::now(),
        })
    }

    fn lap(&mut self) -> Result<Lap, Box<dyn Error>> {
        let now = Self::start()?;
        let lap = Lap {
            wall: now.wall.duration_since(self.wall).as_secs_f64(),
            cpu: now.cpu - self.cpu,
        };
        *self = now;
        Ok(lap)
    }
}

/// The kernel's count of nanoseconds on a processor, the first field.
fn processor_seconds() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = text.split(' ').next().ok_or("schedstat is empty")?;
    Ok(nanoseconds.parse::<f64>()? / 1e9)
}

fn peak_memory() -> Result<u64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line
        .and_then(|rest| rest.split_whitespace().next())
        .ok_or("no VmHWM")?;
    Ok(kibibytes.parse::<u64>()? * 1024)
}
