//! The JSON Schemas against the readers: both know the same keys and words, accept all that is there, refuse what is wrong.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use eos_core::lowered::Filesystem;
use eos_core::name::{ENVIRONMENTS, RESERVED};
use eos_core::option::{BUILT_IN, OptionType};
use eos_core::pillar::{Pillar, PillarFiles, ROLES};
use eos_core::recipe::Recipe;
use eos_core::{schema, yaml};
use jsonschema::Validator;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("a schema is JSON")
}

fn validator(text: &str) -> Validator {
    let schema = parsed(text);
    assert!(jsonschema::meta::is_valid(&schema), "it is no JSON Schema");
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .build(&schema)
        .expect("a schema that can be used")
}

/// What the schema has against a YAML document.
fn refusals(validator: &Validator, text: &str) -> Vec<String> {
    let document =
        yaml::parse("document", text.as_bytes()).unwrap_or_else(|found| panic!("{found:#?}\n{text}"));
    let document = document.to_json();
    validator
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files_named(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_named(&path, ending));
        } else if path.to_str().is_some_and(|path| path.ends_with(ending)) {
            found.push(path);
        }
    }
    found
}

/// The reader's messages and hints.
fn recipe_problems(text: &str) -> Vec<(String, String)> {
    problems(Recipe::parse("recipe.yaml", text.as_bytes()).map(drop))
}

fn pillar_problems(file: &str, text: &str) -> Vec<(String, String)> {
    let text = format!("#!yaml\n{text}").into_bytes();
    let files = PillarFiles::from([(format!("pillar/infrastructure/{file}.sls"), text)]);
    problems(Pillar::read(&files).map(drop))
}

fn problems(read: Result<(), Vec<eos_core::diagnostic::Diagnostic>>) -> Vec<(String, String)> {
    let found = read.err().unwrap_or_default().into_iter();
    found
        .map(|found| (found.message, found.hint.unwrap_or_default()))
        .collect()
}

/// The keys that a reader names when it meets one it does not know.
fn keys_of_reader(found: &[(String, String)]) -> BTreeSet<String> {
    let hint = found
        .iter()
        .find(|(message, _)| message.starts_with(&format!("Unknown key \"{INVENTED}\"")))
        .and_then(|(_, hint)| hint.strip_prefix("Known keys: "))
        .unwrap_or_else(|| panic!("the reader has nothing against {INVENTED}: {found:?}"));
    hint.split(", ").map(str::to_owned).collect()
}

fn keys_of_schema(schema: &str, pointer: &str) -> BTreeSet<String> {
    let schema = parsed(schema);
    let node = schema
        .pointer(pointer)
        .unwrap_or_else(|| panic!("the schema has no {pointer}"));
    assert_eq!(
        node["additionalProperties"], false,
        "{pointer} lets any key through"
    );
    let properties = node["properties"].as_object().expect("properties");
    properties.keys().cloned().collect()
}

const INVENTED: &str = "zzzzzzzzzzzzzzzzzzzz";

const START: &str = "recipe: mine\nsummary: s\nversion: '1'\n";
const SERVICE: &str = "services: {mine: {program: [x]}}\n";

/// Every map with fixed keys in a recipe: where the schema describes it, and a recipe with KEY in it.
const RECIPE_PLACES: &[(&str, &str)] = &[
    ("", "KEY: 1\n"),
    ("/$defs/option", "options: {o: {KEY: 1}}\n"),
    ("/$defs/use", "uses: {u: {KEY: 1}}\n"),
    ("/$defs/need", "needs: {n: {KEY: 1}}\n"),
    ("/$defs/volume", "needs: {n: {volume: {KEY: 1}}}\n"),
    ("/$defs/secret", "needs: {n: {secret: {KEY: 1}}}\n"),
    ("/$defs/route", "needs: {n: {route: {KEY: 1}}}\n"),
    ("/$defs/database", "needs: {n: {database: {KEY: 1}}}\n"),
    ("/$defs/service", "services: {mine: {KEY: 1}}\n"),
    ("/$defs/host", "host: {KEY: 1}\n"),
    ("/$defs/host_file", "host: {files: {/etc/x: {KEY: 1}}}\n"),
    (
        "/$defs/figure",
        "services: {mine: {program: [x], memory: {KEY: 1}}}\n",
    ),
    (
        "/$defs/secret_text",
        "services: {mine: {program: [x], secrets: {A: {KEY: 1}}}}\n",
    ),
    (
        "/$defs/port",
        "services: {mine: {program: [x], ports: {p: {KEY: 1}}}}\n",
    ),
    (
        "/$defs/check",
        "services: {mine: {program: [x], check: {KEY: 1}}}\n",
    ),
    (
        "/$defs/within",
        "services: {mine: {program: [x], start: {KEY: 1}}}\n",
    ),
    ("/$defs/resource", "resources: {mine: {KEY: 1}}\n"),
    (
        "/$defs/file",
        "services: {mine: {image: x, files: {a: {KEY: 1}}}}\n",
    ),
    (
        "/$defs/privileges",
        "services: {mine: {image: x, privileges: {KEY: 1}}}\n",
    ),
    (
        "/$defs/task",
        "services: {mine: {image: x, tasks: {t: {KEY: 1}}}}\n",
    ),
];

/// As above, with the pillar file it stands in.
const PILLAR_PLACES: &[(&str, &str, &str)] = &[
    ("/$defs/host", "common", "hosts: {a: {KEY: 1}}\n"),
    ("/$defs/component", "production", "components: {a: {KEY: 1}}\n"),
    (
        "/$defs/intent",
        "production",
        "components: {a: {intent: {KEY: 1}}}\n",
    ),
    (
        "/$defs/volume_settings",
        "production",
        "components: {a: {volumes: {data: {KEY: 1}}}}\n",
    ),
    ("/$defs/standing_volume", "production", "volumes: {a: {KEY: 1}}\n"),
    (
        "/$defs/restored",
        "production",
        "volumes: {a: {host: h, size: 1G, restored: {KEY: 1}}}\n",
    ),
    (
        "/$defs/converted",
        "production",
        "volumes: {a: {host: h, size: 1G, converted: {KEY: 1}}}\n",
    ),
];

#[test]
fn schema_and_readers_know_the_same_keys() {
    let recipe = validator(schema::RECIPE);
    for (pointer, place) in RECIPE_PLACES {
        let text = format!("{START}{}", place.replace("KEY", INVENTED));
        assert_eq!(
            keys_of_schema(schema::RECIPE, pointer),
            keys_of_reader(&recipe_problems(&text)),
            "{pointer}"
        );
        assert_ne!(refusals(&recipe, &text), Vec::<String>::new(), "{text}");
    }
    let pillar = validator(schema::PILLAR);
    for (pointer, file, place) in PILLAR_PLACES {
        let text = place.replace("KEY", INVENTED);
        let keys = keys_of_reader(&pillar_problems(file, &text));
        assert_eq!(keys_of_schema(schema::PILLAR, pointer), keys, "{pointer}");
        assert_ne!(refusals(&pillar, &text), Vec::<String>::new(), "{text}");
    }
    let mut roots = BTreeSet::new();
    for file in ["common", "production"] {
        roots.append(&mut keys_of_reader(&pillar_problems(
            file,
            &format!("{INVENTED}: 1"),
        )));
    }
    assert_eq!(keys_of_schema(schema::PILLAR, ""), roots);
}

#[test]
fn every_map_with_fixed_keys_is_compared() {
    let with_keys = |text: &str| -> BTreeSet<String> {
        let schema = parsed(text);
        let definitions = schema["$defs"].as_object().expect("definitions").clone();
        let fixed = definitions
            .into_iter()
            .filter(|(_, node)| node.get("properties").is_some());
        fixed.map(|(name, _)| format!("/$defs/{name}")).collect()
    };
    let places = |places: Vec<&str>| -> BTreeSet<String> {
        let below = places.into_iter().filter(|pointer| !pointer.is_empty());
        below.map(str::to_owned).collect()
    };
    assert_eq!(
        with_keys(schema::RECIPE),
        places(RECIPE_PLACES.iter().map(|(pointer, _)| *pointer).collect())
    );
    assert_eq!(
        with_keys(schema::PILLAR),
        places(PILLAR_PLACES.iter().map(|(pointer, ..)| *pointer).collect())
    );
}

#[test]
fn schema_and_core_know_the_same_words() {
    let recipe = parsed(schema::RECIPE);
    let pillar = parsed(schema::PILLAR);
    let words = |schema: &Value, pointer: &str| -> BTreeSet<String> {
        let words = schema.pointer(pointer).and_then(Value::as_array);
        let words = words.unwrap_or_else(|| panic!("no words at {pointer}"));
        words
            .iter()
            .map(|word| word.as_str().unwrap().to_owned())
            .collect()
    };
    let set = |words: &[&str]| -> BTreeSet<String> { words.iter().map(|word| (*word).to_owned()).collect() };
    assert_eq!(words(&recipe, "/$defs/option_type/enum"), set(OptionType::WORDS));
    let built_in: Vec<_> = BUILT_IN.iter().map(|option| option.name.as_str()).collect();
    assert_eq!(
        words(&recipe, "/properties/options/propertyNames/not/enum"),
        set(&built_in)
    );
    assert_eq!(words(&recipe, "/properties/recipe/not/enum"), set(RESERVED));
    assert_eq!(words(&pillar, "/$defs/reserved/enum"), set(RESERVED));
    assert_eq!(
        words(&pillar, "/$defs/host/properties/roles/items/enum"),
        set(ROLES)
    );
    let mut figures = keys_of_schema(schema::RECIPE, "/$defs/figure");
    assert!(figures.remove("minimum"));
    assert_eq!(figures, set(ENVIRONMENTS));
    let filesystem = recipe["$defs"]["volume"]["properties"]["filesystem"]["description"].to_string();
    for word in Filesystem::WORDS {
        assert!(filesystem.contains(word), "{word}");
    }
    // What a list is made of: each type or neither.
    let of = words(&recipe, "/$defs/option/properties/of/enum");
    for word in OptionType::WORDS {
        let text = format!("{START}{SERVICE}options: {{o: {{type: list, of: {word}, choices: [a]}}}}\n");
        assert_eq!(recipe_problems(&text).is_empty(), of.contains(*word), "{word}");
    }
}

#[test]
fn every_place_has_a_description() {
    fn described(node: &Value, path: &str, missing: &mut Vec<String>) {
        for (name, property) in node
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let refers = property.get("$ref").is_some() || property.get("anyOf").is_some();
            if property.get("description").is_none() && !refers {
                missing.push(format!("{path}/{name}"));
            }
        }
        for (name, definition) in node.get("$defs").and_then(Value::as_object).into_iter().flatten() {
            described(definition, name, missing);
        }
    }
    let mut missing = Vec::new();
    described(&parsed(schema::RECIPE), "recipe", &mut missing);
    described(&parsed(schema::PILLAR), "pillar", &mut missing);
    missing.retain(|place| !place.starts_with("figure/") && !place.starts_with("intent/"));
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn what_is_there_is_accepted_by_both() {
    let recipe = validator(schema::RECIPE);
    let recipes = files_named(&repository().join("catalog"), "recipe.yaml");
    assert!(recipes.len() >= 9);
    for file in recipes {
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(
            refusals(&recipe, &text),
            Vec::<String>::new(),
            "{}",
            file.display()
        );
    }
    for text in RIGHT {
        let text = format!("{START}{text}");
        assert_eq!(recipe_problems(&text), [], "{text}");
        assert_eq!(refusals(&recipe, &text), Vec::<String>::new(), "{text}");
    }
    let pillar = validator(schema::PILLAR);
    let golden = repository().join("tests/golden");
    let mut seen = 0;
    for case in std::fs::read_dir(golden).unwrap() {
        for file in files_named(&case.unwrap().path().join("estate"), ".sls") {
            let text = std::fs::read_to_string(&file).unwrap();
            assert_eq!(
                refusals(&pillar, &text),
                Vec::<String>::new(),
                "{}",
                file.display()
            );
            seen += 1;
        }
    }
    assert!(seen >= 6, "golden pillars are missing");
    for (file, text) in RIGHT_PILLARS {
        assert_eq!(pillar_problems(file, text), [], "{text}");
        assert_eq!(refusals(&pillar, text), Vec::<String>::new(), "{text}");
    }
}

/// What no built-in recipe does.
const RIGHT: &[&str] = &[
    "risk: high\nafter: ['*', redis]\nservices: {}\n",
    "options: {a: {}, b: {type: list, of: port, default: [1, 2]}, c: {type: flag, default: true, when: true}, d: {type: integer, min: 0, max: 5, promote: false}}\nservices: {mine: {program: [x, 1, true]}}\n",
    "options: {p: {type: secret, not_rotated: it is kept}}\nneeds: {k: {secret: {not_rotated: it is kept}}}\nservices: {mine: {program: [x], secrets: {A: k, B: p}}}\n",
    "needs: {k: {secret: {}}, s: {secret: {generate: 12}}}\nservices: {mine: {program: [x], secrets: {A: k, B: {file: s}, C: {text: 'x{{ k }}'}, D: {file: name.conf, text: '{{ s }}'}}}}\n",
    "needs: {d: {database: {engine: postgres, name: x, size: 1G, when: '{{ component }}'}}}\nservices: {mine: {instances: many, image: x, args: ['{{ files_dir }}'], replicas: {production: 3, staging: 1, minimum: 1}, cpu: 1000000, env: {A: null, B: 1, C: true}, files: {a.conf: text}, ports: {p: {to: 80, static: 80}, q: {static: null}}, check: {tcp: true}}}\n",
    "resources: {net: {type: hcloud_network, arguments: {name: x, labels: {a.b/c: d}}}, web: {type: hcloud_server, when: true, arguments: {name: '${x}', count_me: 1, network: [{network_id: {resource: net, attribute: id}}]}}}\n",
    "needs: {v: {volume: {purpose: backup, size: 1G, path: /x, filesystem: ext4, mode: '0700', each: true, when: true}}}\nservices: {mine: {program: [x], volumes: {v: /v}}}\n",
];

const RIGHT_PILLARS: &[(&str, &str)] = &[
    ("common", ""),
    ("common", "hosts:\n"),
    ("production", "components:\n"),
    (
        "common",
        "hosts: {a: {address: 10.0.0.1, roles: [storage], datacenter: dc2, volume_group: vg, devices: [/dev/sdb], volumes_below: /x}}\n",
    ),
    (
        "production",
        "components: {a: {recipe: null, pinned: {a: 1-2}, hosts: {data: [h]}, options: {list: [1], none: null}, intent: {words: w, who: w, when: w}}}\n",
    ),
    ("production", "volumes:\n"),
    (
        "production",
        "volumes: {a: {host: h, size: 1.5T, purpose: backup, mount: /x, owner: '1:1', mode: '0700', volume_group: vg-1, devices: [/dev/sdb], filesystem: btrfs, compression: zstd, alert: 80, shrink_from: 2T, snapshots: {b: 1G}, restored: {snapshot: c, when: w}, converted: {from: ext4, when: w, committed: true}, intent: {words: w, who: w, when: w}}}\n",
    ),
    (
        "production",
        "components: {a: {volumes: {data: {size: 5G, alert: null, devices: null}}}}\n",
    ),
];

#[test]
fn what_is_wrong_is_refused_by_both() {
    let recipe = validator(schema::RECIPE);
    for text in WRONG {
        assert_ne!(recipe_problems(text), [], "the reader accepts\n{text}");
        assert_ne!(
            refusals(&recipe, text),
            Vec::<String>::new(),
            "the schema accepts\n{text}"
        );
    }
    for lines in WRONG_LINES {
        let service = if lines.contains("services:") { "" } else { SERVICE };
        let text = format!("{START}{service}{lines}\n");
        assert_ne!(recipe_problems(&text), [], "the reader accepts\n{text}");
        assert_ne!(
            refusals(&recipe, &text),
            Vec::<String>::new(),
            "the schema accepts\n{text}"
        );
    }
    let pillar = validator(schema::PILLAR);
    for (file, text) in WRONG_PILLARS {
        assert_ne!(pillar_problems(file, text), [], "the reader accepts\n{text}");
        assert_ne!(
            refusals(&pillar, text),
            Vec::<String>::new(),
            "the schema accepts\n{text}"
        );
    }
}

const WRONG: &[&str] = &[
    "[]",
    "recipe: mine\nsummary: s\nversion: '1'\n",
    "summary: s\nversion: '1'\nservices: {}\n",
    "recipe: mine\nversion: '1'\nservices: {}\n",
    "recipe: mine\nsummary: s\nservices: {}\n",
    "recipe: Mine\nsummary: s\nversion: '1'\nservices: {}\n",
    "recipe: mine-\nsummary: s\nversion: '1'\nservices: {}\n",
    "recipe: volume\nsummary: s\nversion: '1'\nservices: {}\n",
    "recipe: mine\nsummary: s\nversion: 1.0\nservices: {}\n",
    "recipe: mine\nsummary: s\nversion: a/b\nservices: {}\n",
    "recipe: mine\nsummary: s\nversion: .1\nservices: {}\n",
    "recipe: mine\nsummary: 1\nversion: '1'\nservices: {}\n",
];

const WRONG_LINES: &[&str] = &[
    "resources: []",
    "resources: {Web: {type: hcloud_server}}",
    "resources: {web: {}}",
    "resources: {web: {type: random_password}}",
    "resources: {web: {type: nomad_job}}",
    "resources: {web: {type: hcloud_server, arguments: {provisioner: {local-exec: {command: id}}}}}",
    "resources: {web: {type: hcloud_server, arguments: {for_each: [1]}}}",
    "resources: {web: {type: hcloud_server, arguments: {labels: {'${x}': y}}}}",
    "resources: {web: {type: hcloud_server, arguments: {name: {resource: web}}}}",
    "risk: huge",
    "proxy: maybe",
    "after: all",
    "options: []",
    "options: {Port: {type: port}}",
    "options: {cpu: {type: integer}}",
    "options: {o: {type: sise}}",
    "options: {o: {type: choice}}",
    "options: {o: {type: choice, choices: []}}",
    "options: {o: {type: list, of: list}}",
    "options: {o: {type: list, of: secret}}",
    "options: {o: {type: secret, default: x}}",
    "options: {o: {type: secret, generate: 8}}",
    "options: {o: {type: secret, generate: 200}}",
    "options: {o: {generate: 24}}",
    "options: {o: {not_rotated: it is kept}}",
    "options: {o: {type: secret, not_rotated: ' '}}",
    "options: {o: {type: secret, not_rotated: false}}",
    "options: {o: {type: port, pattern: x}}",
    "options: {o: {type: string, min: 1}}",
    "options: {o: {type: port, max: 1}}",
    "options: {o: {type: integer, min: -1}}",
    "options: {o: {help: [a]}}",
    "options: {o: {promote: sometimes}}",
    "uses: {u: {}}",
    "uses: {u: {recipe: redis, share: true, with: {a: b}}}",
    "uses: {u: {recipe: redis, share: 1}}",
    "uses: {U: {recipe: redis}}",
    "needs: {n: {}}",
    "needs: {n: {secret: {}, volume: {purpose: backup, size: 1G, path: /x}}}",
    "needs: {n: {volume: {size: 1G, path: /x}}}",
    "needs: {n: {volume: {purpose: backup, path: /x}}}",
    "needs: {n: {volume: {purpose: backup, size: 1G}}}",
    "needs: {n: {volume: {purpose: fun, size: 1G, path: /x}}}",
    "needs: {n: {volume: {purpose: backup, size: 1G, path: /x, owner: root}}}",
    "needs: {n: {volume: {purpose: backup, size: 1G, path: /x, mode: 700}}}",
    "needs: {n: {volume: {purpose: backup, size: 1G, path: /x, each: 2}}}",
    "needs: {n: {secret: {generate: 4}}}",
    "needs: {n: {secret: {not_rotated: ''}}}",
    "needs: {n: {route: {host: x}}}",
    "needs: {n: {route: {service: mine}}}",
    "needs: {n: {database: {engine: 1}}}",
    "services: []",
    "services: {Mine: {program: [x]}}",
    "services: {mine: {}}",
    "services: {mine: {program: [x], image: y}}",
    "services: {mine: {program: []}}",
    "services: {mine: {program: x}}",
    "services: {mine: {program: ['']}}",
    "services: {mine: {program: [null]}}",
    "services: {mine: {image: ''}}",
    "services: {mine: {program: [x], args: [y]}}",
    "services: {mine: {program: [x], instances: two}}",
    "services: {mine: {program: [x], replicas: 0}}",
    "services: {mine: {program: [x], replicas: 1001}}",
    "services: {mine: {program: [x], replicas: {production: 1001}}}",
    "services: {mine: {program: [x], cpu: a lot}}",
    "services: {mine: {program: [x], cpu: {staging: 1000001}}}",
    "services: {mine: {program: [x], memory: {minimum: 0}}}",
    "services: {mine: {program: [x], env: {A-B: x}}}",
    "services: {mine: {program: [x], files: {a/b: x}}}",
    "services: {mine: {program: [x], files: {.a: x}}}",
    "services: {mine: {program: [x], secrets: {A: {}}}}",
    "services: {mine: {program: [x], secrets: {A: {file: a/b, text: x}}}}",
    "services: {mine: {program: [x], secrets: {A: 1}}}",
    "services: {mine: {program: [x], check: {tcp: true}}}",
    "services: {mine: {program: [x], ports: {p: {}}, check: {}}}",
    "services: {mine: {program: [x], ports: {p: {}}, check: {tcp: false}}}",
    "services: {mine: {program: [x], ports: {p: {}}, check: {tcp: true, http: /}}}",
    "services: {mine: {program: [x], ports: {P: {}}}}",
    "services: {mine: {program: [x], volumes: {v: 1}}}",
    "services: {mine: {program: [x], env: {A: [x]}}}",
    "services: {mine: {program: [[x]]}}",
    "outputs: {o: 1}",
    "outputs: {a b: x}",
    "outputs: {1a: x}",
    "outputs: {job: x}",
    "outputs: {consul_service: x}",
    "needs: {n: {volume: {purpose: backup, size: 1G, path: /x, mode: '0999'}}}",
];

const WRONG_PILLARS: &[(&str, &str)] = &[
    ("common", "[]"),
    ("common", "hosts: []"),
    ("common", "hosts: {a: {}}"),
    ("common", "hosts: {A..b: {address: x}}"),
    ("common", "hosts: {volume: {address: x}}"),
    ("common", "hosts: {a: {address: 1}}"),
    ("common", "hosts: {a: {address: x, roles: [boss]}}"),
    ("common", "hosts: {a: {address: x, roles: client}}"),
    ("common", "hosts: {a: {address: x, devices: /dev/sdb}}"),
    ("common", "hosts: {}\ncomponents: {}"),
    ("common", "hosts: {}\ngeneration: 1"),
    ("production", "volumes: {a: {size: 1G}}"),
    ("production", "volumes: {a: {host: h}}"),
    ("production", "volumes: {a: {host: h, size: 1}}"),
    ("production", "volumes: {a: {host: h, size: 1G, alert: 100}}"),
    ("production", "volumes: {a: {host: h, size: 1G, devices: [sdb]}}"),
    ("production", "volumes: {a: {host: h, size: 1G, filesystem: zfs}}"),
    (
        "production",
        "volumes: {a: {host: h, size: 1G, compression: gzip}}",
    ),
    ("production", "volumes: {a: {host: h, size: 1G, mount: srv}}"),
    ("production", "volumes: {a: {host: h, size: 1G, owner: me}}"),
    (
        "production",
        "volumes: {a: {host: h, size: 1G, snapshots: {B: 1G}}}",
    ),
    ("production", "components: {a: {volumes: {data: {host: h}}}}"),
    ("production", "components: {}\ngeneration: -1"),
    ("production", "components: {hello: {generation: two}}"),
    ("common", "hosts: {a: {address: x, volumes_below: here}}"),
    ("production", "components: a"),
    ("production", "components: {a: b}"),
    ("production", "components: {a_b: {}}"),
    ("production", "components: {a: {recipe: 1}}"),
    ("production", "components: {a: {pinned: x}}"),
    ("production", "components: {a: {pinned: {a: 1}}}"),
    ("production", "components: {a: {hosts: {data: h}}}"),
    ("production", "components: {a: {options: []}}"),
    ("production", "components: {a: {intent: {words: 1}}}"),
];
