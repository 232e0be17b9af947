//! Edits of the pillar, one after the other: the order in which they came leaves no trace in what is compiled, what
//! others wrote stays as it is, and what belongs to a place stays there.

use eos_core::catalog::{Catalog, KEPT};
use eos_core::compile::{Compilation, compile};
use eos_core::diagnostic::Diagnostic;
use eos_core::intent::{Intent, NewValue, Options, Sentence, edit};
use eos_core::pillar::{COMMON_FILE, Component, Pillar, PillarFiles, Words, environment_file};
use eos_core::profile::Profile;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const COMMON: &str = "#!yaml\nhosts:\n  control:\n    address: 127.0.0.1\n    roles: [client, control]\n";

/// An estate without a disk: its pillar, the recipes it keeps, and its own.
#[derive(Clone)]
struct Estate {
    files: PillarFiles,
    own: BTreeMap<String, Vec<u8>>,
    catalog: Catalog,
    edits: usize,
}

impl Estate {
    fn new() -> Self {
        Self::of(&[(COMMON_FILE, COMMON)])
    }

    fn of(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| ((*path).to_owned(), text.as_bytes().to_vec());
        Self {
            files: files.iter().map(file).collect(),
            own: BTreeMap::new(),
            catalog: Catalog::load(&[]).unwrap(),
            edits: 0,
        }
    }

    fn with_recipe(mut self, name: &str, text: &str) -> Self {
        let file = format!("recipes/{name}/recipe.yaml");
        self.own.insert(file, text.as_bytes().to_vec());
        self.load();
        self
    }

    fn load(&mut self) {
        let kept = self.files.iter().filter(|(path, _)| path.starts_with(KEPT));
        let all = self.own.iter().chain(kept);
        let all: Vec<_> = all.map(|(path, text)| (path.clone(), text.clone())).collect();
        self.catalog = Catalog::load(&all).unwrap();
    }

    fn pillar(&self) -> Pillar {
        Pillar::read(&self.files).unwrap()
    }

    fn component(&self, environment: &str, name: &str) -> Component {
        let pillar = self.pillar();
        let component = pillar.component(environment, name);
        component
            .unwrap_or_else(|| panic!("no {name} in {environment}"))
            .clone()
    }

    fn options(&self, environment: &str, name: &str) -> Value {
        let component = self.component(environment, name);
        let options = component.options.into_iter();
        options.map(|(name, option)| (name, option.value)).collect()
    }

    fn text(&self, file: &str) -> String {
        String::from_utf8(self.files[file].clone()).unwrap()
    }

    fn kept(&self) -> BTreeSet<String> {
        let kept = self.files.keys().filter(|path| path.starts_with(KEPT));
        kept.cloned().collect()
    }

    fn compile(&self) -> Result<Compilation, Vec<Diagnostic>> {
        compile(&self.pillar(), &self.catalog, Profile::Solo)
    }

    /// Has an edit made, in short words: `create staging web hello greeting=Hi`, `update staging web replicas=2 --upgrade`,
    /// `delete staging web`, `rotate staging web key=null`, `promote staging production web`, `create host node2 address=10.0.0.2`.
    fn try_say(&mut self, words: &str) -> Result<(), Vec<Diagnostic>> {
        self.edits += 1;
        let intent = intent(words, self.edits);
        let kept = self.kept();
        self.files = edit(&self.files, &self.catalog, &intent)?;
        if self.kept() != kept {
            self.load();
        }
        Ok(())
    }

    fn say(&mut self, words: &str) {
        self.try_say(words)
            .unwrap_or_else(|found| panic!("{words}: {found:#?}"));
    }
}

fn intent(words: &str, number: usize) -> Intent {
    let (flags, words_left): (Vec<&str>, Vec<&str>) =
        words.split(' ').partition(|word| word.starts_with("--"));
    let (settings, names): (Vec<&str>, Vec<&str>) =
        words_left.into_iter().partition(|word| word.contains('='));
    let options = settings.into_iter().map(|setting| {
        let (name, value) = setting.split_once('=').unwrap();
        let list = matches!(name, "devices" | "mirrors" | "roles" | "tags" | "targets");
        let value = match value {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            items if list => items.split(',').collect(),
            text => text
                .parse::<i64>()
                .map_or_else(|_| Value::from(text), Value::from),
        };
        (name.to_owned(), value)
    });
    let options: Options = options.collect();
    let own = |at: usize| names[at].to_owned();
    let sentence = match (names[0], names[1]) {
        ("create", "host") => Sentence::CreateHost {
            host: own(2),
            facts: options,
        },
        ("update", "host") => Sentence::UpdateHost {
            host: own(2),
            facts: options,
        },
        ("delete", "host") => Sentence::DeleteHost { host: own(2) },
        ("create", _) => Sentence::CreateComponent {
            environment: own(1),
            component: own(2),
            recipe: own(names.len().min(4) - 1),
            options,
        },
        ("update", _) => Sentence::UpdateComponent {
            environment: own(1),
            component: own(2),
            options,
            upgrade: flags.contains(&"--upgrade"),
        },
        ("delete", _) => Sentence::DeleteComponent {
            environment: own(1),
            component: own(2),
        },
        ("promote", _) => Sentence::PromoteComponent {
            from: own(1),
            to: own(2),
            component: own(3),
        },
        ("rotate", _) => Sentence::Rotate {
            environment: own(1),
            component: own(2),
            secrets: options
                .into_iter()
                .map(|(name, value)| match value.is_null() {
                    true => (name, NewValue::Generated),
                    false => (name, NewValue::Given),
                })
                .collect(),
        },
        other => panic!("{other:?} begins no sentence"),
    };
    Intent {
        sentence,
        said: Words {
            words: format!("eos {words}"),
            who: format!("tester {number}"),
            when: format!("2026-11-15T20:{:02}:{:02}Z", number / 60, number % 60),
        },
    }
}

fn messages(found: &[Diagnostic]) -> String {
    let line = |one: &Diagnostic| format!("{} | {}", one.message, one.hint.clone().unwrap_or_default());
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
}

/// One way to the end, and another one. Edits of one line come in their order; lines come in any.
const WAYS: &[(&[&str], &[&str])] = &[
    (
        &[
            "create staging web hello greeting=One",
            "update staging web greeting=Two",
            "update staging web replicas=3",
            "promote staging production web",
            "update production web replicas=2",
        ],
        &[
            "create production web hello replicas=1 greeting=Other",
            "update production web replicas=2",
            "create staging web hello",
            "update staging web greeting=Two replicas=3",
            "promote staging production web",
        ],
    ),
    (
        &[
            "create staging page hello greeting=A",
            "promote staging production page",
            "update staging page greeting=null",
            "promote staging production page",
            "delete staging page",
        ],
        &[
            "create production page hello greeting=Z cpu=100",
            "update production page cpu=null",
            "create staging page hello",
            "promote staging production page",
            "delete staging page",
        ],
    ),
    (
        &[
            "create development scratch hello",
            "update development scratch replicas=2",
            "delete development scratch",
            "create development scratch redis",
            "delete development scratch",
            "create development scratch hello greeting=Last",
        ],
        &[
            "create development scratch hello greeting=First",
            "update development scratch greeting=Middle",
            "update development scratch memory=300",
            "update development scratch memory=null",
            "update development scratch greeting=Middle",
            "update development scratch greeting=Last",
        ],
    ),
    (
        &[
            "create production grafana grafana port=3001",
            "update production grafana domain=graphs.example.org",
            "update production grafana admin_password=***",
            "update production grafana port=3000",
            "update production grafana port=null",
        ],
        &[
            "create production grafana grafana admin_password=*** domain=other.example.org",
            "update production grafana domain=graphs.example.org",
        ],
    ),
    (
        &[
            "create production jenkins jenkins replicas=1",
            "update production jenkins domain=builds.example.org",
        ],
        &["create production jenkins jenkins replicas=1 domain=builds.example.org"],
    ),
    (
        &[
            "create production prometheus prometheus",
            "update production prometheus alerting=true targets=a:1,b:2",
            "update production prometheus targets=b:2,a:1",
            "update production prometheus retention=30d",
        ],
        &["create production prometheus prometheus alerting=true targets=b:2,a:1 retention=30d"],
    ),
    (
        &[
            "create production metrics prometheus port=9091",
            "update production metrics alerting=true",
        ],
        &["create production metrics prometheus port=9091 alerting=true"],
    ),
    (
        &[
            "create production mattermost mattermost",
            "update production mattermost-database memory=2048",
            "update production mattermost port=8066",
            "update production mattermost domain=chat.example.org",
        ],
        &[
            "create production mattermost mattermost port=8066 domain=chat.example.org",
            "update production mattermost-database memory=4096",
            "update production mattermost-database memory=2048",
        ],
    ),
    (
        &[
            "create staging postgres postgres database=shop",
            "create production postgres postgres database=shop size=40G",
            "update staging postgres user=shop",
            "promote staging production postgres",
            "update production postgres size=60G",
        ],
        &[
            "create staging postgres postgres database=shop user=shop",
            "promote staging production postgres",
            "update production postgres size=60G",
        ],
    ),
    (
        &[
            "create staging cache redis",
            "create production cache redis",
            "update production cache memory=700",
            "delete staging cache",
            "update production cache memory=800",
        ],
        &["create production cache redis memory=800"],
    ),
    (
        &[
            "create host guest address=10.0.0.9",
            "update host guest address=10.0.0.10 roles=storage devices=/dev/sdb,/dev/sdc",
            "update host guest volume_group=data-vg volumes_below=/srv/guest",
            "create host passing address=10.0.0.11 roles=storage",
            "delete host passing",
        ],
        &[
            "create host guest address=10.0.0.10 roles=storage devices=/dev/sdb,/dev/sdc volume_group=data-vg volumes_below=/srv/guest",
        ],
    ),
];

/// The edits of all lines in an order that the dice choose: each line by the first or by the second way.
fn shuffled(dice: &mut Dice, second: impl Fn(&mut Dice) -> bool) -> Vec<&'static str> {
    let mut lines: Vec<std::slice::Iter<'_, &str>> = WAYS
        .iter()
        .map(|(one, other)| if second(dice) { other.iter() } else { one.iter() })
        .collect();
    let mut order = Vec::new();
    while !lines.is_empty() {
        let at = dice.below(lines.len());
        match lines[at].next() {
            Some(words) => order.push(*words),
            None => drop(lines.remove(at)),
        }
    }
    order
}

fn carried_out(order: &[&str]) -> Estate {
    let mut estate = Estate::new();
    // Hosts that tasks run on come first: where a volume lies depends on which there were when it was made.
    for host in ["node2", "node3"] {
        estate.say(&format!("create host {host} address={host}.example.org"));
    }
    for words in order {
        estate.say(words);
    }
    estate
}

#[test]
fn the_order_of_fifty_edits_leaves_no_trace() {
    let first = shuffled(&mut Dice(1), |_| false);
    assert!(first.len() + 2 >= 50, "{}", first.len());
    let expected = carried_out(&first).compile().unwrap();
    assert!(expected.artifacts.len() > 80, "{}", expected.artifacts.len());
    for seed in 2..6 {
        let order = shuffled(&mut Dice(seed), |dice| dice.below(2) == 1);
        let compilation = carried_out(&order).compile().unwrap();
        assert_eq!(compilation.release, expected.release, "{order:#?}");
        let (found, wanted) = (&compilation.artifacts, &expected.artifacts);
        assert!(found.keys().eq(wanted.keys()), "{order:#?}");
        for (path, bytes) in found {
            assert!(bytes == &wanted[path], "{path} after {order:#?}");
        }
    }
}

#[test]
fn words_and_times_of_an_intent_are_in_no_artifact() {
    let order = shuffled(&mut Dice(7), |_| false);
    let compilation = carried_out(&order).compile().unwrap();
    for (path, bytes) in &compilation.artifacts {
        let text = String::from_utf8_lossy(bytes);
        assert!(
            !text.contains("tester ") && !text.contains("2026-11-15"),
            "{path}"
        );
    }
}

#[test]
fn the_same_pillar_twice_is_the_same_to_the_byte() {
    let estate = carried_out(&shuffled(&mut Dice(3), |dice| dice.below(2) == 1));
    assert_eq!(
        estate.compile().unwrap().artifacts,
        estate.compile().unwrap().artifacts
    );
}

const HAND_COMMON: &str = "\
#!yaml
# Hosts. Ask Ada before you add one!

hosts:   # all of them

  # the old one
  zeta: {address: 10.0.0.26,   roles: [client,control], datacenter: dc1}
  alpha:
      roles:
      - client
      - storage
      # not the address of the switch
      address:    \"10.0.0.1\"
      volumes_below:  '/srv/volumes'   # mind the slash


  # the end of the hosts
";

const HAND_PRODUCTION: &str = "\
#!yaml
# Written by hand, with care.

components:

  # --- things for people ---
  web:      # the front page
      options:
          # do not shout
          greeting:   'Hello,  world'   # two spaces
      recipe:    hello


  cache: {recipe: redis,  options: {memory: 600}}   # small

  # --- things for machines ---
  \"numbers\":
    recipe: prometheus
    options:
      retention: 30d     # a month
      targets:   [ 'a:1' , \"b:2\" ]

# the end
";

/// Lines that somebody else wrote, in their order: all of `before` but those named.
fn keeps_lines(before: &str, after: &str, touched: &[&str]) {
    let mut left = after.lines();
    for line in before.lines().filter(|line| !touched.contains(line)) {
        assert!(
            left.any(|kept| kept == line),
            "{line:?} is lost or moved in\n{after}"
        );
    }
}

#[test]
fn what_a_person_wrote_survives_twenty_edits() {
    let production = environment_file("production");
    let mut estate = Estate::of(&[(COMMON_FILE, HAND_COMMON), (production.as_str(), HAND_PRODUCTION)]);
    let small = "  cache: {recipe: redis,  options: {memory: 600}}   # small";
    let month = "      retention: 30d     # a month";
    let shout = "          greeting:   'Hello,  world'   # two spaces";
    let old = "  zeta: {address: 10.0.0.26,   roles: [client,control], datacenter: dc1}";
    let address = "      address:    \"10.0.0.1\"";
    // What is said, the lines it concerns, and what is true of the pillar then.
    type Holds = fn(&Estate) -> bool;
    let edits: [(&str, &[&str], Holds); 20] = [
        ("create production hello hello", &[], |e| {
            e.options("production", "hello") == json!({})
        }),
        ("update production hello greeting=Hi", &[], |e| {
            e.options("production", "hello") == json!({"greeting": "Hi"})
        }),
        ("update production web replicas=2", &[], |e| {
            e.options("production", "web") == json!({"greeting": "Hello,  world", "replicas": 2})
        }),
        ("update production numbers retention=1440h", &[month], |e| {
            e.options("production", "numbers")["retention"] == "1440h"
        }),
        ("create host mid address=10.0.0.13", &[], |e| {
            e.pillar().hosts["mid"].address == "10.0.0.13"
        }),
        ("update host mid roles=storage devices=/dev/sdb", &[], |e| {
            e.pillar().hosts["mid"].devices == ["/dev/sdb"]
        }),
        ("update host alpha address=10.0.0.2", &[address], |e| {
            e.pillar().hosts["alpha"].address == "10.0.0.2"
        }),
        (
            "create production chat mattermost domain=chat.example.org",
            &[],
            |e| e.component("production", "hecate-proxy").recipe == "hecate-proxy",
        ),
        ("update production chat-database memory=700", &[], |e| {
            e.options("production", "chat-database") == json!({"memory": 700})
        }),
        ("update production cache memory=700", &[small], |e| {
            e.options("production", "cache") == json!({"memory": 700})
        }),
        ("update production numbers alerting=true", &[], |e| {
            e.component("production", "alertmanager").recipe == "alertmanager"
        }),
        ("update production web greeting=Hi", &[shout], |e| {
            e.options("production", "web")["greeting"] == "Hi"
        }),
        ("update host zeta datacenter=dc1", &[], |e| {
            e.pillar().hosts["zeta"].datacenter == "dc1"
        }),
        ("delete host mid", &[], |e| !e.pillar().hosts.contains_key("mid")),
        ("create staging web hello greeting=Tried", &[], |e| {
            e.options("staging", "web") == json!({"greeting": "Tried"})
        }),
        ("promote staging production web", &[], |e| {
            e.options("production", "web") == json!({"greeting": "Tried", "replicas": 2})
        }),
        ("update production web replicas=null", &[], |e| {
            e.options("production", "web") == json!({"greeting": "Tried"})
        }),
        ("delete production hello", &[], |e| {
            e.pillar().component("production", "hello").is_none()
        }),
        ("update host zeta address=10.0.0.27", &[old], |e| {
            e.pillar().hosts["zeta"].address == "10.0.0.27"
        }),
        ("create production hello hello", &[], |e| {
            e.options("production", "hello") == json!({})
        }),
    ];
    let mut touched: Vec<&str> = Vec::new();
    for (words, lines, holds) in edits {
        touched.extend(lines);
        estate.say(words);
        keeps_lines(HAND_COMMON, &estate.text(COMMON_FILE), &touched);
        keeps_lines(HAND_PRODUCTION, &estate.text(&production), &touched);
        assert!(holds(&estate), "after {words}:\n{}", estate.text(&production));
        estate
            .compile()
            .unwrap_or_else(|found| panic!("after {words}: {found:#?}"));
    }
    // What stood behind a value that was changed is still there.
    let (common, production) = (estate.text(COMMON_FILE), estate.text(&production));
    for (text, kept) in [
        (&production, "# small"),
        (&production, "retention: 1440h     # a month"),
        (&production, "# two spaces"),
        (&common, "# not the address of the switch"),
    ] {
        assert!(text.contains(kept), "{kept}\n{text}");
    }
}

const SHOP: &str = "\
recipe: shop
summary: A shop
version: \"1\"
options:
  title: {type: string, default: Shop, help: Its name}
  banner: {type: string, default: null, promote: false, help: Said in one environment}
  port: {type: port, default: 8000, help: Where it answers}
  admin_port: {type: port, default: 8001, promote: true, help: The same everywhere}
  mirrors: {type: list, of: domain, default: [], help: Where it is too}
  tags: {type: list, default: [], help: What it is}
  cache_size: {type: size, default: 1G, help: How much it remembers}
  token: {type: secret, generate: 20, help: Its own}
services:
  shop:
    replicas: 1
    program: [eos, serve-hello]
    ports: {http: {static: \"{{ port }}\"}}
outputs: {}
";

fn shop() -> Estate {
    Estate::new().with_recipe("shop", SHOP)
}

#[test]
fn what_a_component_does_is_promoted_and_what_belongs_to_its_place_stays() {
    let mut estate = shop();
    estate.say("create production shop shop port=80 title=Old tags=x banner=Open memory=300 token=***");
    estate.say(
        "create staging shop shop port=81 title=New cache_size=2G banner=Test admin_port=9 replicas=1 mirrors=a.org",
    );
    estate.say("promote staging production shop");
    assert_eq!(
        estate.options("production", "shop"),
        json!({
            "admin_port": 9, "banner": "Open", "cache_size": "2G", "memory": 300, "port": 80, "title": "New",
            "token": "***",
        })
    );
    let words = estate.component("production", "shop").intent.unwrap().words;
    assert_eq!(words, "eos promote staging production shop");
    assert_eq!(
        estate.options("staging", "shop")["banner"],
        "Test",
        "what is promoted from stays as it is"
    );
}

#[test]
fn an_option_taken_back_in_one_environment_is_taken_back_by_a_promotion() {
    let mut estate = shop();
    estate.say("create staging shop shop title=New port=81");
    estate.say("promote staging production shop");
    assert_eq!(estate.options("production", "shop"), json!({"title": "New"}));
    estate.say("update staging shop title=null");
    estate.say("promote staging production shop");
    assert_eq!(estate.options("production", "shop"), json!({}));
    let before = estate.files.clone();
    estate.say("promote staging production shop");
    assert_eq!(estate.files, before, "there was nothing to promote");
}

#[test]
fn an_upgrade_moves_one_environment_and_a_promotion_brings_its_pin() {
    let mut estate = shop();
    estate.say("create staging shop shop port=81 replicas=1");
    estate.say("create production shop shop port=80");
    let pin =
        |estate: &Estate, environment: &str| estate.component(environment, "shop").pinned["shop"].clone();
    let first = pin(&estate, "staging");
    assert!(first.starts_with("1-"), "{first}");
    assert_eq!(pin(&estate, "production"), first);
    let kept_first = format!("recipes/kept/shop/{first}.yaml");
    assert_eq!(estate.kept(), [kept_first.clone()].into());
    assert_eq!(estate.text(&kept_first), SHOP);

    let newer = SHOP
        .replace("version: \"1\"", "version: \"2\"")
        .replace("default: Shop", "default: Store");
    estate = estate.with_recipe("shop", &newer);
    let production = estate.compile().unwrap().all_nodes();
    assert_eq!(
        pin(&estate, "staging"),
        first,
        "a new recipe moves nothing by itself"
    );
    estate.say("update staging shop --upgrade");
    let second = pin(&estate, "staging");
    assert!(second.starts_with("2-"), "{second}");
    assert_eq!(pin(&estate, "production"), first);
    let kept_second = format!("recipes/kept/shop/{second}.yaml");
    assert_eq!(estate.kept(), [kept_first.clone(), kept_second.clone()].into());
    assert_eq!(estate.text(&kept_second), newer);
    let key = ("production".to_owned(), "shop".to_owned());
    let after = estate.compile().unwrap().all_nodes();
    assert_eq!(
        serde_json::to_value(&after[&key]).unwrap(),
        serde_json::to_value(&production[&key]).unwrap()
    );
    let before = estate.text(&environment_file("production"));
    estate.say("update staging shop --upgrade");
    assert_eq!(estate.text(&environment_file("production")), before);

    estate.say("promote staging production shop");
    assert_eq!(pin(&estate, "production"), second);
    assert_eq!(estate.options("production", "shop"), json!({"port": 80}));
    // Staging moves on; what production is pinned to is kept, not taken anew.
    estate = estate.with_recipe("shop", &newer.replace("version: \"2\"", "version: \"3\""));
    estate.say("update production shop title=Named");
    assert_eq!(pin(&estate, "production"), second);
    assert_eq!(estate.kept(), [kept_first, kept_second].into());
    let version = estate.compile().unwrap();
    assert_eq!(version.component("production", "shop").unwrap().version, "2");
}

#[test]
fn a_promotion_needs_two_environments_and_something_to_promote() {
    let mut estate = shop();
    estate.say("create staging shop shop");
    let mut refused = |words: &str| messages(&estate.try_say(words).unwrap_err());
    assert!(refused("promote staging staging shop").contains("staging cannot be promoted to itself"));
    assert!(refused("promote staging production shpo").contains("Did you mean shop?"));
    assert!(refused("promote development production shop").contains("no component \"shop\" in development"));
}

#[test]
fn the_first_to_use_a_shared_component_adds_it_and_the_second_does_not() {
    let mut estate = Estate::new();
    let names = |estate: &Estate| -> Vec<String> {
        estate.pillar().components.into_keys().map(|key| key.1).collect()
    };
    estate.say("create production prometheus prometheus");
    assert_eq!(names(&estate), ["prometheus"]);
    estate.say("update production prometheus alerting=true");
    assert_eq!(names(&estate), ["alertmanager", "prometheus"]);
    let shared = estate.component("production", "alertmanager").intent;
    assert_eq!(
        shared.as_ref().unwrap().words,
        "eos update production prometheus alerting=true"
    );
    estate.say("create production metrics prometheus alerting=true port=9091");
    assert_eq!(names(&estate), ["alertmanager", "metrics", "prometheus"]);
    assert_eq!(estate.component("production", "alertmanager").intent, shared);

    estate.say("create production grafana grafana domain=graphs.example.org");
    assert_eq!(
        names(&estate),
        ["alertmanager", "grafana", "hecate-proxy", "metrics", "prometheus"]
    );
    estate.say("create production jenkins jenkins domain=builds.example.org replicas=1");
    assert_eq!(names(&estate).len(), 6);
    estate.compile().unwrap();
}

#[test]
fn a_promotion_brings_what_the_component_uses_along() {
    let mut estate = Estate::new();
    estate.say("create staging prometheus prometheus alerting=true port=9091");
    estate.say("update staging alertmanager port=9094");
    estate.say("promote staging production prometheus");
    let shared = estate.component("production", "alertmanager");
    assert_eq!(shared.recipe, "alertmanager");
    assert!(shared.options.is_empty(), "its own place, its own options");
    estate.compile().unwrap();
}

#[test]
fn a_shared_component_in_use_cannot_go() {
    let mut estate = Estate::new();
    estate.say("create production prometheus prometheus alerting=true");
    estate.say("create production metrics prometheus alerting=true port=9091");
    estate.say("create production grafana grafana domain=graphs.example.org");
    let mut without = estate.clone();
    without.say("delete production alertmanager");
    let said = messages(&without.compile().unwrap_err());
    assert_eq!(
        said,
        "metrics uses alertmanager as alertmanager, which is not in production | Keep it, create it with `eos create \
         alertmanager --environment production`, or let metrics use another with --alertmanager\nprometheus uses \
         alertmanager as alertmanager, which is not in production | Keep it, create it with `eos create alertmanager \
         --environment production`, or let prometheus use another with --alertmanager"
    );
    let mut without = estate.clone();
    without.say("delete production hecate-proxy");
    let said = messages(&without.compile().unwrap_err());
    assert!(
        said.starts_with("No proxy in production serves the host names of grafana"),
        "{said}"
    );
    for user in ["metrics", "prometheus"] {
        estate.say(&format!("delete production {user}"));
    }
    estate.say("delete production alertmanager");
    estate.compile().unwrap();
}

#[test]
fn volumes_stay_where_they_are_when_hosts_come() {
    let mut estate = Estate::new();
    for name in ["one", "two", "three", "four"] {
        estate.say(&format!("create production {name} redis"));
    }
    estate.say("create production chat mattermost");
    let places = |estate: &Estate| -> BTreeMap<String, Vec<String>> {
        let compilation = estate.compile().unwrap();
        let components = compilation.of_environment("production");
        components
            .map(|component| {
                let hosts = component.volumes.iter().map(|volume| volume.host.value.clone());
                (component.component.clone(), hosts.collect())
            })
            .collect()
    };
    let before = places(&estate);
    assert!(before["chat-database"] == ["control"], "{before:?}");
    let text = estate.text(&environment_file("production"));
    for host in 2..8 {
        estate.say(&format!("create host node{host} address=10.0.0.{host}"));
    }
    assert_eq!(places(&estate), before);
    assert_eq!(estate.text(&environment_file("production")), text);
    // Those that come later are spread, and stay as well.
    for name in ["five", "six", "seven", "eight"] {
        estate.say(&format!("create production {name} redis"));
    }
    let spread = places(&estate);
    let hosts: BTreeSet<_> = spread.values().flatten().collect();
    assert!(hosts.len() > 2, "{spread:?}");
    estate.say("create host node9 address=10.0.0.9");
    estate.say("update production one memory=700");
    assert_eq!(places(&estate), spread);

    let with_data = spread["five"][0].clone();
    let said = messages(&estate.try_say(&format!("delete host {with_data}")).unwrap_err());
    assert!(
        said.contains(&format!(
            "Volume data of five in production lies on host {with_data}"
        )),
        "{said}"
    );
    let said = messages(&estate.try_say("delete host control").unwrap_err());
    assert!(said.contains("runs Terraform for the estate"), "{said}");
    estate.say("delete host node9");
    assert_eq!(places(&estate), spread);
}

#[test]
fn only_one_host_runs_terraform() {
    let mut estate = Estate::new();
    estate.say("create host node2 address=10.0.0.2");
    for words in [
        "create host node3 address=10.0.0.3 roles=client,control",
        "update host node2 roles=control",
    ] {
        let said = messages(&estate.try_say(words).unwrap_err());
        assert!(said.starts_with("Host control has the role control"), "{said}");
    }
    estate.say("update host control roles=control,client");
    assert_eq!(estate.compile().unwrap().control.as_deref(), Some("control"));
}

#[test]
fn a_rotation_edits_nothing_but_the_record_of_who_asked_for_it() {
    let mut estate = Estate::new();
    estate.say("create production redis redis max_memory=64M");
    estate.say("create production mattermost mattermost");
    let before = estate.text("pillar/infrastructure/production.sls");
    estate.say("rotate production redis password=null");
    let after = estate.text("pillar/infrastructure/production.sls");
    let changed: Vec<&str> = after.lines().filter(|line| !before.contains(line)).collect();
    assert_eq!(
        changed,
        [
            "      words: \"eos rotate production redis password=null\"",
            "      who: \"tester 3\"",
            "      when: \"2026-11-15T20:00:03Z\"",
        ]
    );
    let compiled = |estate: &Estate| estate.compile().unwrap().release;
    let release = compiled(&estate);
    // What another has for its own use is written down.
    estate.say("rotate production mattermost-database");
    assert_eq!(
        estate.component("production", "mattermost-database").recipe,
        "postgres"
    );
    assert_eq!(compiled(&estate), release, "and nothing that is compiled changes");
    for (words, said) in [
        (
            "rotate production redis pasword=null",
            "redis has no secret \"pasword\" | Did you mean password?",
        ),
        (
            "rotate production mattermost database_password=null",
            "Secret database_password of mattermost is a copy of password of mattermost-database | Rotate it there, and \
             all copies follow: eos rotate secret mattermost-database password",
        ),
        ("rotate production nobody", "There is no component"),
    ] {
        let found = estate.try_say(words).unwrap_err();
        assert!(
            messages(&found).starts_with(said),
            "{words}: {}",
            messages(&found)
        );
    }
}

#[test]
fn a_generated_secret_is_not_unset_since_its_value_would_stay() {
    let mut estate = Estate::new();
    estate.say("create production redis redis max_memory=64M");
    let before = estate.text("pillar/infrastructure/production.sls");
    let found = estate
        .try_say("update production redis password=null")
        .unwrap_err();
    assert_eq!(
        messages(&found),
        "Secret password of redis cannot be unset: the component needs a value | Have Eos generate a new one: `eos rotate \
         secret redis password`"
    );
    assert_eq!(estate.text("pillar/infrastructure/production.sls"), before);
}

const CONTAINER: &str = "recipe: shop
summary: A container of shop
version: \"1\"
options:
  image: {type: image, help: Image}
  log_level: {help: Variable LOG_LEVEL}
services:
  shop:
    image: \"{{ image }}\"
    env: {LOG_LEVEL: \"{{ log_level }}\"}
";

/// `create container shop` with this recipe.
fn contain(estate: &mut Estate, recipe: &str, image: &str) -> Result<(), Vec<Diagnostic>> {
    let sentence = Sentence::CreateContainer {
        environment: "staging".to_owned(),
        component: "shop".to_owned(),
        recipe: recipe.to_owned(),
        options: Options::from([
            ("image".to_owned(), image.into()),
            ("log_level".to_owned(), "info".into()),
        ]),
    };
    let said = intent("create staging shop", 1).said;
    estate.files = edit(&estate.files, &estate.catalog, &Intent { sentence, said })?;
    estate.load();
    Ok(())
}

#[test]
fn a_container_brings_its_recipe_along_and_is_a_component_from_then_on() {
    let image = |number: usize| format!("example/shop:{number}@sha256:{number:064}");
    let mut estate = Estate::new();
    contain(&mut estate, CONTAINER, &image(1)).unwrap();
    assert_eq!(estate.kept().len(), 1);
    estate.compile().unwrap();

    // Once more says nothing new; other words, or another recipe, are an update.
    let before = estate.files.clone();
    contain(&mut estate, CONTAINER, &image(1)).unwrap();
    assert_eq!(estate.files, before);
    let other = CONTAINER.replace("A container", "Another container");
    for (recipe, image) in [(CONTAINER, image(2)), (&other, image(1))] {
        let found = contain(&mut estate, recipe, &image).unwrap_err();
        assert!(messages(&found).contains("eos update shop"), "{found:#?}");
    }
    assert_eq!(estate.files, before);

    estate.say(&format!("update staging shop image={}", image(2)));
    let found = estate
        .try_say("update staging shop image=example/shop:3")
        .unwrap_err();
    assert!(messages(&found).contains("has no digest"), "{found:#?}");
    estate.say("promote staging production shop");
    assert_eq!(estate.options("production", "shop")["image"], image(2));
    estate.compile().unwrap();

    // A recipe of the catalog has the name for itself; who has the container can go on to it.
    let own = CONTAINER.replace("version: \"1\"", "version: \"2\"");
    let mut estate = estate.with_recipe("shop", &own);
    let found = contain(&mut estate, CONTAINER, &image(2)).unwrap_err();
    assert!(
        messages(&found).contains("There is a recipe shop already"),
        "{found:#?}"
    );
    estate.say("update staging shop --upgrade");
    assert!(estate.component("staging", "shop").pinned["shop"].starts_with("2-"));
    estate.compile().unwrap();
    estate.say("delete production shop");
    estate.say("delete staging shop");
    assert!(!estate.text(&environment_file("staging")).contains("shop"));
}
