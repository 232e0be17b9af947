//! Made-up estates of any size: the same pillar for the same catalog, size and seed.

use eos_core::catalog::Catalog;
use eos_core::compile::compile;
use eos_core::intent::{Intent, Noun, Verb};
use eos_core::name::ENVIRONMENTS;
use eos_core::option::OptionType;
use eos_core::pillar::{COMMON_FILE, Pillar, PillarFiles, environment_file};
use eos_core::recipe::{OptionSpec, Recipe};
use eos_core::yaml;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

pub const HOSTS: usize = 200;
pub const SEED: u64 = 20_261_115;

/// Few hosts and one component more than that: a recipe that cannot be given ports of its own is refused here.
const PROBE_HOSTS: usize = 4;
const PROBE_COMPONENTS: usize = 5;

type Options = BTreeMap<String, Value>;

/// The recipes that an estate can have many components of, each with the options it takes made-up values for.
pub struct Mix<'a> {
    kits: Vec<Kit<'a>>,
    /// Recipes that the compiler refuses more than a few components of, and its words.
    pub left_out: Vec<(String, String)>,
}

struct Kit<'a> {
    recipe: &'a Recipe,
    always: Vec<&'a OptionSpec>,
    sometimes: Vec<&'a OptionSpec>,
}

impl<'a> Mix<'a> {
    /// Asks the compiler itself what it takes: every option is tried on a small estate.
    pub fn of(catalog: &'a Catalog) -> Self {
        let mut mix = Self {
            kits: Vec::new(),
            left_out: Vec::new(),
        };
        for recipe in catalog.iter() {
            let mut kit = Kit {
                recipe,
                always: Vec::new(),
                sometimes: Vec::new(),
            };
            let (needed, free): (Vec<_>, Vec<_>) = recipe
                .settable()
                .filter(|option| option.kind != OptionType::Secret)
                .partition(|option| option.kind == OptionType::Port || is_required(option));
            kit.always = needed;
            if let Err(words) = kit.probe(catalog) {
                mix.left_out.push((recipe.name.clone(), words));
                continue;
            }
            for option in free {
                kit.always.push(option);
                let taken = kit.probe(catalog).is_ok();
                kit.always.pop();
                if taken {
                    kit.sometimes.push(option);
                }
            }
            mix.kits.push(kit);
        }
        mix
    }

    pub fn recipes(&self) -> impl Iterator<Item = &str> {
        self.kits.iter().map(|kit| kit.recipe.name.as_str())
    }

    /// The pillar of an estate. A component stands in each environment, mostly with the same options.
    pub fn estate(&self, components: usize) -> PillarFiles {
        let mut chance = Chance(SEED);
        let mut ports = Ports::default();
        let names = (0..components).map(|index| {
            let number = index / ENVIRONMENTS.len();
            let kit = &self.kits[number % self.kits.len()];
            (ENVIRONMENTS[index % ENVIRONMENTS.len()], number, kit)
        });
        files(HOSTS, names, |kit| kit.options(&mut chance, &mut ports))
    }

    /// What a person would ask for next in an estate of that many components.
    pub fn creation(&self, components: usize, number: usize) -> Intent {
        let kit = &self.kits[number % self.kits.len()];
        let mut ports = Ports {
            given: components + number,
        };
        let options = kit
            .always
            .iter()
            .map(|option| {
                let value = made_up(option, &mut Chance(SEED), &mut ports);
                (option.name.clone(), value)
            })
            .collect();
        let component = format!("{}-new-{number}", kit.recipe.name);
        Intent {
            verb: Verb::Create,
            environment: "production".to_owned(),
            words: format!("eos create {} {component}", kit.recipe.name),
            component,
            recipe: Some(kit.recipe.name.clone()),
            options,
            noun: Noun::Component,
            from: None,
            upgrade: false,
            who: "bench".to_owned(),
            when: "2026-01-01T00:00:00Z".to_owned(),
        }
    }
}

impl Kit<'_> {
    fn probe(&self, catalog: &Catalog) -> Result<(), String> {
        let mut ports = Ports::default();
        let names = (0..PROBE_COMPONENTS).map(|number| ("production", number, self));
        let files = files(PROBE_HOSTS, names, |kit| {
            let value = |option: &&OptionSpec| {
                (
                    option.name.clone(),
                    made_up(option, &mut Chance(SEED), &mut ports),
                )
            };
            kit.always.iter().map(value).collect()
        });
        let compiled = Pillar::read(&files).and_then(|pillar| compile(&pillar, catalog));
        match compiled {
            Ok(_) => Ok(()),
            Err(found) => Err(found
                .first()
                .map_or_else(String::new, |first| first.message.clone())),
        }
    }

    fn options(&self, chance: &mut Chance, ports: &mut Ports) -> Options {
        let sometimes: Vec<_> = self
            .sometimes
            .iter()
            .filter(|_| chance.below(4) == 0)
            .copied()
            .collect();
        self.always
            .iter()
            .copied()
            .chain(sometimes)
            .map(|option| (option.name.clone(), made_up(option, chance, ports)))
            .collect()
    }
}

/// An option that nobody but the pillar gives a value for; figures come from the environment.
fn is_required(option: &OptionSpec) -> bool {
    option.default.is_none() && !matches!(option.name.as_str(), "replicas" | "cpu" | "memory")
}

fn made_up(option: &OptionSpec, chance: &mut Chance, ports: &mut Ports) -> Value {
    match &option.kind {
        OptionType::Port => ports.next().into(),
        OptionType::Integer if option.name == "replicas" => (1 + chance.below(3)).into(),
        OptionType::Integer => (100 + chance.below(400)).into(),
        OptionType::Flag => (chance.below(2) == 0).into(),
        OptionType::Size => format!("{}G", 1 + chance.below(50)).into(),
        OptionType::Duration => format!("{}s", 1 + chance.below(600)).into(),
        OptionType::Domain => format!("d{:x}.example.org", chance.below(1 << 32)).into(),
        OptionType::List(of) => {
            let item = OptionSpec {
                kind: (**of).clone(),
                ..option.clone()
            };
            Value::from(vec![made_up(&item, chance, ports)])
        }
        OptionType::Component => Value::Null,
        OptionType::Path => format!("/srv/data/{:x}", chance.below(1 << 32)).into(),
        OptionType::Choice(choices) => choices[chance.below(choices.len() as u64) as usize]
            .as_str()
            .into(),
        OptionType::String | OptionType::Secret => format!("value-{:x}", chance.below(1 << 32)).into(),
    }
}

fn files<'k, 'r: 'k>(
    hosts: usize,
    names: impl Iterator<Item = (&'static str, usize, &'k Kit<'r>)>,
    mut options: impl FnMut(&'k Kit<'r>) -> Options,
) -> PillarFiles {
    let mut common = String::from("#!yaml\nhosts:\n");
    for host in 0..hosts {
        let roles = if host == 0 { "client, control" } else { "client" };
        let _ = write!(
            common,
            "  host-{host:03}:\n    address: 10.0.{}.{}\n    roles: [{roles}]\n",
            host / 250,
            host % 250 + 1
        );
    }
    let mut environments: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    for (environment, number, kit) in names {
        let recipe = &kit.recipe.name;
        let name = format!("{recipe}-{number:05}");
        let text = component_text(&name, recipe, &options(kit));
        environments.entry(environment).or_default().insert(name, text);
    }
    let mut files = PillarFiles::from([(COMMON_FILE.to_owned(), common.into_bytes())]);
    for (environment, components) in environments {
        let mut text = String::from("#!yaml\ncomponents:\n");
        text.extend(components.into_values());
        files.insert(environment_file(environment), text.into_bytes());
    }
    files
}

/// As `eos create` writes it.
fn component_text(name: &str, recipe: &str, options: &Options) -> String {
    let mut text = format!("  {name}:\n    recipe: {recipe}\n");
    if !options.is_empty() {
        text.push_str("    options:\n");
    }
    for (option, value) in options {
        let value = value.as_str().map_or_else(|| value.to_string(), yaml::quote);
        let _ = writeln!(text, "      {option}: {value}");
    }
    let _ = write!(
        text,
        "    intent:\n      words: eos create {recipe} {name}\n      who: bench\n      when: \"2026-01-01T00:00:00Z\"\n"
    );
    text
}

/// Host ports in turn; one comes round again only after more components than an estate here has hosts for.
#[derive(Default)]
struct Ports {
    given: usize,
}

impl Ports {
    fn next(&mut self) -> u64 {
        self.given += 1;
        10_000 + (self.given % 50_000) as u64
    }
}

/// SplitMix64.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}
