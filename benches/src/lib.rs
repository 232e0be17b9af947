//! Made-up estates of any size: the same pillar for the same catalog, size and seed.

use eos_core::catalog::Catalog;
use eos_core::compile::compile;
use eos_core::intent::{Intent, Sentence};
use eos_core::name::ENVIRONMENTS;
use eos_core::option::OptionType;
use eos_core::pillar::{COMMON_FILE, Pillar, PillarFiles, Words, environment_file};
use eos_core::profile::Profile;
use eos_core::recipe::{OptionSpec, Recipe};
use eos_core::yaml;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

pub const HOSTS: usize = 200;
pub const SEED: u64 = 20_261_115;

/// Who raises this says in the commit what the new bytes are for.
pub const BYTES_PER_COMPONENT: usize = 16_000;
/// Those of the component, and of the one that it has for its own use.
pub const FILES_OF_ONE_CREATE: usize = 36;

/// Whether a file belongs to one component, and not to this one.
pub fn is_of_another(path: &str, component: &str) -> bool {
    let own = ["graph/", "salt/components/", "terraform/"];
    own.iter().any(|tree| path.starts_with(tree)) && !path.contains(component)
}

/// Few hosts and one component more than that: a recipe that cannot be given ports of its own is refused here.
const PROBE_HOSTS: usize = 4;
const PROBE_COMPONENTS: usize = 5;

/// The recipes that an estate can have many components of, each with the options it takes made-up values for.
pub struct Mix<'a> {
    catalog: &'a Catalog,
    kits: Vec<Kit<'a>>,
    /// One component of each serves a whole environment: proxies, monitors, and what others share.
    shared: Vec<Kit<'a>>,
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
        let is_shared = |name: &str| {
            let mut uses = catalog.iter().flat_map(|recipe| &recipe.uses);
            uses.any(|used| used.share && used.recipe == name)
        };
        let (shared, repeated): (Vec<&Recipe>, Vec<&Recipe>) = catalog.iter().partition(|recipe| {
            recipe.proxy.is_some() || recipe.monitor.is_some() || is_shared(&recipe.name)
        });
        let mut mix = Self {
            catalog,
            kits: Vec::new(),
            shared: shared.into_iter().map(Kit::new).collect(),
            left_out: Vec::new(),
        };
        for recipe in repeated {
            let mut kit = Kit::new(recipe);
            if let Err(words) = mix.probe(&kit) {
                mix.left_out.push((recipe.name.clone(), words));
                continue;
            }
            let free = recipe.settable().filter(|option| !is_always_given(option));
            for option in free.filter(|option| option.kind != OptionType::Secret) {
                kit.always.push(option);
                let taken = mix.probe(&kit).is_ok();
                kit.always.pop();
                if taken {
                    kit.sometimes.push(option);
                }
            }
            mix.kits.push(kit);
        }
        mix
    }

    /// How many recipes an estate has many components of.
    pub fn repeated(&self) -> usize {
        self.kits.len()
    }

    pub fn recipes(&self) -> impl Iterator<Item = &str> {
        let kits = self.shared.iter().chain(&self.kits);
        kits.map(|kit| kit.recipe.name.as_str())
    }

    /// The pillar of an estate: most components stand in every environment.
    pub fn estate(&self, components: usize) -> PillarFiles {
        let mut making = Making::new(HOSTS);
        for environment in ENVIRONMENTS {
            self.add_shared(&mut making, environment);
        }
        for index in 0..components.saturating_sub(ENVIRONMENTS.len() * self.shared.len()) {
            let number = index / ENVIRONMENTS.len();
            let kit = &self.kits[number % self.kits.len()];
            let name = format!("{}-{number:05}", kit.recipe.name);
            making.add(self, ENVIRONMENTS[index % ENVIRONMENTS.len()], name, kit);
        }
        making.files()
    }

    fn add_shared(&self, making: &mut Making, environment: &'static str) {
        for kit in &self.shared {
            making.add(self, environment, kit.recipe.name.clone(), kit);
        }
    }

    fn probe(&self, kit: &Kit<'_>) -> Result<(), String> {
        let mut making = Making::new(PROBE_HOSTS);
        self.add_shared(&mut making, "production");
        for number in 0..PROBE_COMPONENTS {
            making.add(self, "production", format!("{}-{number}", kit.recipe.name), kit);
        }
        let compiled =
            Pillar::read(&making.files()).and_then(|pillar| compile(&pillar, self.catalog, Profile::Solo));
        match compiled {
            Ok(_) => Ok(()),
            Err(found) => Err(found
                .first()
                .map_or_else(String::new, |first| first.message.clone())),
        }
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
            said: Words {
                words: format!("eos create {} {component}", kit.recipe.name),
                who: "bench".to_owned(),
                when: "2026-01-01T00:00:00Z".to_owned(),
            },
            sentence: Sentence::CreateComponent {
                environment: "production".to_owned(),
                component,
                recipe: kit.recipe.name.clone(),
                options,
            },
        }
    }
}

impl<'a> Kit<'a> {
    fn new(recipe: &'a Recipe) -> Self {
        Self {
            recipe,
            always: recipe
                .settable()
                .filter(|option| is_always_given(option))
                .collect(),
            sometimes: Vec::new(),
        }
    }
}

/// Ports, since a host has each only once, and what nobody but the pillar gives; figures come from the environment.
fn is_always_given(option: &OptionSpec) -> bool {
    let figure = matches!(option.name.as_str(), "replicas" | "cpu" | "memory");
    let required = option.default.is_none() && !figure && option.kind != OptionType::Secret;
    option.kind == OptionType::Port || required
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
        OptionType::Image => format!("example/image@sha256:{:064x}", chance.below(1 << 32)).into(),
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

/// A pillar in the making.
struct Making {
    hosts: usize,
    chance: Chance,
    ports: Ports,
    /// Environment -> component -> its lines.
    environments: BTreeMap<&'static str, BTreeMap<String, String>>,
}

impl Making {
    fn new(hosts: usize) -> Self {
        Self {
            hosts,
            chance: Chance(SEED),
            ports: Ports::default(),
            environments: BTreeMap::new(),
        }
    }

    /// Writes a component as `eos create` does: pinned to its recipes, its volumes on hosts of their own.
    fn add(&mut self, mix: &Mix<'_>, environment: &'static str, name: String, kit: &Kit<'_>) {
        let recipe = kit.recipe;
        let mut text = format!("  {name}:\n    recipe: {}\n    options:\n", recipe.name);
        let sometimes = kit.sometimes.iter();
        let chosen: Vec<_> = sometimes.filter(|_| self.chance.below(4) == 0).collect();
        for option in kit.always.iter().chain(chosen) {
            let value = made_up(option, &mut self.chance, &mut self.ports);
            // A list in brackets is the same in JSON and YAML.
            let value = value.as_str().map_or_else(|| value.to_string(), yaml::quote);
            let _ = writeln!(text, "      {}: {value}", option.name);
        }
        if text.ends_with("options:\n") {
            text.truncate(text.len() - "    options:\n".len());
        }
        text.push_str("    pinned:\n");
        let own = recipe.uses.iter().filter(|used| !used.share);
        let own: Vec<(String, &Recipe)> = own
            .filter_map(|used| Some((format!("{}.", used.name), mix.catalog.get(&used.recipe)?)))
            .collect();
        for recipe in [recipe].into_iter().chain(own.iter().map(|(_, recipe)| *recipe)) {
            let _ = writeln!(text, "      {}: {}", recipe.name, recipe.pin);
        }
        let mut volumes = String::new();
        for (prefix, recipe) in [(String::new(), recipe)].into_iter().chain(own) {
            for volume in &recipe.volumes {
                let host = self.chance.below(self.hosts as u64);
                let _ = writeln!(volumes, "      {prefix}{}: [host-{host:03}]", volume.name);
            }
        }
        if !volumes.is_empty() {
            let _ = write!(text, "    hosts:\n{volumes}");
        }
        let _ = write!(
            text,
            "    intent:\n      words: eos create {} --name {name}\n      who: bench\n      when: \"2026-01-01T00:00:00Z\"\n",
            recipe.name
        );
        self.environments
            .entry(environment)
            .or_default()
            .insert(name, text);
    }

    fn files(self) -> PillarFiles {
        let mut common = String::from("#!yaml\nhosts:\n");
        for host in 0..self.hosts {
            let roles = if host == 0 { "client, control" } else { "client" };
            let _ = write!(
                common,
                "  host-{host:03}:\n    address: 10.0.{}.{}\n    roles: [{roles}]\n",
                host / 250,
                host % 250 + 1
            );
        }
        let mut files = PillarFiles::from([(COMMON_FILE.to_owned(), common.into_bytes())]);
        for (environment, components) in self.environments {
            let mut text = String::from("#!yaml\ncomponents:\n");
            text.extend(components.into_values());
            files.insert(environment_file(environment), text.into_bytes());
        }
        files
    }
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
