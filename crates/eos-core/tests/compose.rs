//! Composition as data: own recipes and a pillar in; components, order and mistakes out.

use eos_core::catalog::Catalog;
use eos_core::compile::{Compilation, compile};
use eos_core::diagnostic::Diagnostic;
use eos_core::pillar::Pillar;
use eos_core::plan::{HostHas, Observed, refusals};
use eos_core::profile::Profile;

const COMMON: &str = "#!yaml\nhosts:\n  control:\n    address: 127.0.0.1\n    roles: [client, control]\n";

/// A recipe of one small service, with more keys before it.
fn recipe(name: &str, more: &str) -> (String, Vec<u8>) {
    let text = format!(
        "recipe: {name}\nsummary: A test\nversion: \"1\"\n{more}services:\n  {name}:\n    replicas: 1\n    program: [eos, serve-hello]\n    ports: {{http: {{}}}}\n    check: {{http: /health}}\n"
    );
    (format!("recipes/{name}/recipe.yaml"), text.into_bytes())
}

fn compiled(recipes: &[(String, Vec<u8>)], components: &str) -> Result<Compilation, Vec<Diagnostic>> {
    let catalog = Catalog::load(recipes)?;
    let production = format!("#!yaml\ncomponents:\n{components}");
    let files = [("common", COMMON), ("production", &production)];
    let files = files.map(|(name, text)| {
        (
            format!("pillar/infrastructure/{name}.sls"),
            text.as_bytes().to_vec(),
        )
    });
    compile(&Pillar::read(&files.into())?, &catalog, Profile::Solo)
}

/// `wave:name` of every component.
fn order(compilation: &Compilation) -> String {
    let mut list: Vec<_> = compilation
        .components
        .values()
        .map(|component| (component.wave, component.component.clone()))
        .collect();
    list.sort();
    let words: Vec<_> = list.iter().map(|(wave, name)| format!("{wave}:{name}")).collect();
    words.join(" ")
}

fn refused(recipes: &[(String, Vec<u8>)], components: &str, expected: &str) {
    let found = compiled(recipes, components).expect_err(expected);
    let messages: Vec<_> = found.iter().map(|one| one.message.as_str()).collect();
    assert!(
        messages.iter().any(|message| message.contains(expected)),
        "{expected}: {messages:#?}"
    );
    assert!(found.iter().all(|one| one.hint.is_some()), "{found:#?}");
}

#[test]
fn dependents_come_after_what_they_use_and_the_star_after_all() {
    let recipes = [
        recipe("networking", ""),
        recipe("dns", ""),
        recipe("boundary", "after: [networking, dns]\n"),
        recipe("hecate", "after: [boundary, load-balancer]\n"),
        recipe("backups", "after: [\"*\"]\n"),
    ];
    let components = "  backups: {}\n  boundary: {}\n  dns: {}\n  hecate: {}\n  networking: {}\n";
    let compilation = compiled(&recipes, components).unwrap();
    assert_eq!(
        order(&compilation),
        "0:dns 0:networking 1:boundary 2:hecate 3:backups"
    );
    // What is not there is not waited for.
    assert_eq!(order(&compiled(&recipes, "  hecate: {}\n").unwrap()), "0:hecate");
    let nodes = compilation.nodes(&("production".to_owned(), "boundary".to_owned()));
    let job = nodes
        .iter()
        .find(|node| node.address.to_string() == "job/boundary")
        .unwrap();
    assert!(
        job.after.contains(&"service/dns".parse().unwrap()),
        "{:?}",
        job.after
    );
}

#[test]
fn a_cycle_is_named_whole() {
    let recipes = [
        recipe("alpha", "after: [gamma]\n"),
        recipe("beta", "after: [alpha]\n"),
        recipe("gamma", "after: [beta]\n"),
    ];
    let components = "  alpha: {}\n  beta: {}\n  gamma: {}\n";
    refused(&recipes, components, "alpha after gamma after beta after alpha");
    let recipes = [
        recipe("backups", "after: [\"*\"]\n"),
        recipe("late", "after: [backups]\n"),
    ];
    refused(
        &recipes,
        "  backups: {}\n  late: {}\n",
        "backups after late after backups",
    );
    let recipes = [
        recipe("one", "uses: {other: {recipe: two}}\n"),
        recipe("two", "uses: {other: {recipe: one}}\n"),
    ];
    refused(&recipes, "  one: {}\n", "one uses two uses one");
}

#[test]
fn a_use_is_own_or_shared_or_chosen() {
    let recipes = [
        recipe(
            "base",
            "options:\n  title: {type: string, default: plain, help: Title}\n",
        ),
        recipe("own", "uses: {base: {recipe: base, with: {title: given}}}\n"),
        recipe("sharing", "uses: {base: {recipe: base, share: true}}\n"),
        recipe(
            "maybe",
            "options:\n  wanted: {type: flag, default: false, help: Use it}\nuses: {base: {recipe: base, when: \"{{ wanted }}\"}}\n",
        ),
    ];
    let of = |components: &str| order(&compiled(&recipes, components).unwrap());
    assert_eq!(of("  own: {}\n"), "0:own-base 1:own");
    assert_eq!(of("  base: {}\n  sharing: {}\n"), "0:base 1:sharing");
    assert_eq!(of("  base: {}\n  own: {options: {base: base}}\n"), "0:base 1:own");
    assert_eq!(of("  maybe: {}\n"), "0:maybe");
    assert_eq!(of("  maybe: {options: {wanted: true}}\n"), "0:maybe-base 1:maybe");
    refused(&recipes, "  sharing: {}\n", "sharing uses base as base");
    refused(
        &recipes,
        "  own: {options: {base: nowhere}}\n",
        "own uses nowhere as base",
    );
    refused(
        &recipes,
        "  own: {}\n  own-base: {recipe: sharing}\n  base: {}\n",
        "made from recipe sharing",
    );
    refused(&recipes, "  maybe: {options: {base: x}}\n", "does not apply");
    let compilation = compiled(
        &recipes,
        "  own: {}\n  own-base: {recipe: base, options: {title: mine}}\n",
    )
    .unwrap();
    let own = compilation.component("production", "own-base").unwrap();
    assert_eq!(own.owner.as_deref(), Some("own"));
    assert_eq!(own.uses.len(), 0);
}

#[test]
fn mistakes_of_recipes_are_told_with_their_place() {
    let base = || {
        recipe(
            "base",
            "options:\n  password: {type: secret, generate: 24, help: Secret}\n",
        )
    };
    let wrong = |more: &str, expected: &str| {
        let found = Catalog::load(&[base(), recipe("own", more)]).expect_err(expected);
        assert!(found[0].message.contains(expected), "{expected}: {found:#?}");
        assert!(found[0].at.is_some(), "{found:#?}");
    };
    wrong("uses: {base: {recipe: bsae}}\n", "There is no recipe");
    wrong(
        "uses: {base: {recipe: base, with: {titel: x}}}\n",
        "has no option",
    );
    wrong(
        "uses: {base: {recipe: base, with: {password: x}}}\n",
        "secret option password",
    );
    wrong(
        "uses: {base: {recipe: base, share: true, with: {cpu: 1}}}\n",
        "is shared and cannot be given options",
    );
    wrong(
        "uses: {base: {recipe: base}}\noutputs: {x: \"{{ base.address }}\"}\n",
        "is not known here",
    );
    wrong(
        "needs: {x: {volume: {purpose: application}, secret: {}}}\n",
        "must have one key",
    );
    wrong("options: {x: {type: choice}}\n", "has no choices");
    wrong("options: {x: {pattern: \"[\"}}\n", "pattern cannot be read");
    wrong("options: {x: {type: flag, min: 3}}\n", "not a bound of a flag");
}

#[test]
fn one_host_name_is_served_once() {
    let web = |name: &str| {
        recipe(
            name,
            &format!("needs: {{web: {{route: {{host: www.example.org, service: {name}}}}}}}\n"),
        )
    };
    let recipes = [web("one"), web("two")];
    refused(&recipes, "  one: {}\n", "No proxy in production serves");
    refused(
        &recipes,
        "  hecate-proxy: {}\n  one: {}\n  two: {}\n",
        "both want the host name www.example.org",
    );
    let compilation = compiled(&recipes, "  hecate-proxy: {}\n  one: {}\n").unwrap();
    assert_eq!(order(&compilation), "0:one 1:hecate-proxy");
}

#[test]
fn a_program_runs_where_its_volume_is_and_has_none_mounted() {
    let recipe = |run: &str| {
        let text = format!(
            "recipe: keeper\nsummary: A test\nversion: \"1\"\nneeds:\n  data: {{volume: {{purpose: database, size: 1G, path: /opt/keeper}}}}\nservices:\n  keeper:\n    instances: one\n    {run}\n    volumes: {{data: /data}}\n"
        );
        [("recipes/keeper/recipe.yaml".to_owned(), text.into_bytes())]
    };
    for (run, mounts) in [("image: keeper", 1), ("program: [keeper]", 0)] {
        let compilation = compiled(&recipe(run), "  keeper: {}\n").unwrap();
        let mut jobs = compilation.artifacts.iter();
        let (_, job) = jobs.find(|(path, _)| path.ends_with("keeper.nomad.hcl")).unwrap();
        let job = String::from_utf8_lossy(job);
        assert_eq!(job.matches("volume \"data\" {").count(), 1, "{job}");
        assert_eq!(job.matches("volume_mount {").count(), mounts, "{job}");
    }
}

/// A recipe whose service has a volume, and names where it finds it.
fn keeper(run: &str, volume: &str, text: &str) -> [(String, Vec<u8>); 1] {
    let text = format!(
        "recipe: keeper\nsummary: A test\nversion: \"1\"\nneeds:\n  in_box: {{volume: {{purpose: database, size: 1G, path: /opt/keeper{volume}}}}}\nservices:\n  keeper:\n    instances: one\n    {run}\n    env: {{INBOX: \"{text}\"}}\n    volumes: {{in_box: /inbox}}\n"
    );
    [("recipes/keeper/recipe.yaml".to_owned(), text.into_bytes())]
}

#[test]
fn a_service_names_where_it_finds_its_volume() {
    let inbox = |common: &str, run: &str, volume: &str| {
        let recipes = keeper(run, volume, "at {{ volumes.in_box }}");
        let components = "#!yaml\ncomponents:\n  keeper: {}\n";
        let files = [("common", common), ("production", components)].map(|(name, text)| {
            let path = format!("pillar/infrastructure/{name}.sls");
            (path, text.as_bytes().to_vec())
        });
        let catalog = Catalog::load(&recipes).unwrap();
        let compilation = compile(&Pillar::read(&files.into()).unwrap(), &catalog, Profile::Solo)
            .map_err(|found| found[0].message.clone())?;
        let component = compilation.component("production", "keeper").unwrap();
        let (_, text) = component.groups[0]
            .env
            .iter()
            .find(|(name, _)| name == "INBOX")
            .unwrap();
        Ok::<_, String>(text.value.known().unwrap().to_owned())
    };
    let below = format!("{COMMON}    volumes_below: /lab/volumes\n");
    let program = "program: [keeper, \"{{ volumes.in_box }}\"]";
    // A program finds it on the host, wherever that has its volumes; a container where it mounts it.
    assert_eq!(inbox(COMMON, program, ""), Ok("at /opt/keeper".to_owned()));
    assert_eq!(
        inbox(&below, program, ""),
        Ok("at /lab/volumes/opt/keeper".to_owned())
    );
    assert_eq!(inbox(&below, "image: keeper", ""), Ok("at /inbox".to_owned()));
    // Each instance has its own, and one text for all of them.
    let two = format!("{below}  two: {{address: 10.0.0.2, roles: [client], volumes_below: OTHER}}\n");
    let each = ", each: true";
    assert_eq!(
        inbox(&two.replace("OTHER", "/lab/volumes"), program, each),
        Ok("at /lab/volumes/opt/keeper".to_owned())
    );
    assert_eq!(
        inbox(&two.replace("OTHER", "/other"), program, each),
        Err(
            "Recipe keeper: volume in_box is in another directory on each host: /lab/volumes/opt/keeper, \
             /other/opt/keeper"
                .to_owned()
        )
    );
}

#[test]
fn a_service_names_no_volume_that_it_does_not_have() {
    for (text, wrong) in [
        ("{{ volumes.other }}", "volumes.other"),
        ("{{ volumes }}", "volumes"),
        ("{{ volumes.in_box.path }}", "volumes.in_box.path"),
    ] {
        let [(file, recipe)] = keeper("image: keeper", "", text);
        let found = Catalog::load(&[(file, recipe)]).unwrap_err();
        assert_eq!(found[0].message, format!("Unknown name {wrong:?} in a template"));
        assert_eq!(
            found[0].hint.as_deref(),
            Some("Service keeper has volumes.in_box")
        );
    }
    let [(file, recipe)] = keeper("image: \"{{ volumes.in_box }}\"", "", "x");
    let found = Catalog::load(&[(file, recipe)]).unwrap_err();
    assert_eq!(found[0].message, "Unknown name \"volumes.in_box\" in a template");
}

/// Compiles components of two environments, in a profile.
fn of_two(
    profile: Profile,
    recipes: &[(String, Vec<u8>)],
    production: &str,
    staging: &str,
) -> Result<Compilation, Vec<Diagnostic>> {
    let [production, staging] = [production, staging].map(|text| format!("#!yaml\ncomponents:\n{text}"));
    let files = [
        ("common", COMMON),
        ("production", &production),
        ("staging", &staging),
    ];
    let files = files.map(|(name, text)| {
        (
            format!("pillar/infrastructure/{name}.sls"),
            text.as_bytes().to_vec(),
        )
    });
    compile(&Pillar::read(&files.into())?, &Catalog::load(recipes)?, profile)
}

#[test]
fn joined_names_of_two_components_do_not_meet() {
    let pair = "recipe: pair\nsummary: A test\nversion: \"1\"\nservices:\n  pair:\n    replicas: 1\n    program: [eos, serve-hello]\n    ports: {http: {}}\n  api:\n    replicas: 1\n    program: [eos, serve-hello]\n    ports: {http: {}}\n";
    let keeper = "recipe: keeper\nsummary: A test\nversion: \"1\"\nneeds:\n  data: {volume: {purpose: application, size: 1M, path: \"/srv/{{ component }}-{{ environment }}\"}}\nservices:\n  keeper:\n    instances: one\n    program: [eos, serve-hello]\n    volumes: {data: /data}\n";
    let recipes = [
        recipe("web", ""),
        ("recipes/pair/recipe.yaml".to_owned(), pair.into()),
        ("recipes/keeper/recipe.yaml".to_owned(), keeper.into()),
    ];
    let cases = [
        (
            "  web-staging: {recipe: web}\n",
            "  web: {}\n",
            "production/web-staging and staging/web would both have the service web-staging",
        ),
        (
            "  a: {recipe: pair}\n  a-api: {recipe: web}\n",
            "  {}\n",
            "production/a and production/a-api would both have the service a-api",
        ),
        (
            "  keeper-staging: {recipe: keeper}\n",
            "  keeper: {}\n",
            "production/keeper-staging and staging/keeper would both have the volume keeper-staging-data",
        ),
    ];
    for profile in [Profile::Solo, Profile::Full] {
        for (production, staging, expected) in &cases {
            let found = of_two(profile, &recipes, production, staging).expect_err(expected);
            assert!(found.iter().any(|one| one.message == *expected), "{found:#?}");
            assert!(found.iter().all(|one| one.hint.is_some()), "{found:#?}");
        }
        of_two(
            profile,
            &recipes,
            "  web: {}\n  keeper: {}\n",
            "  web: {}\n  keeper: {}\n",
        )
        .unwrap();
    }
}

#[test]
fn two_components_do_not_have_one_for_their_own_use() {
    let recipes = [
        recipe("store", ""),
        recipe("one", "uses:\n  b_c: {recipe: store}\n"),
        recipe("other", "uses:\n  c: {recipe: store}\n"),
    ];
    let expected = "a and a-b would both have a-b-c for their own use";
    let both = "  a: {recipe: one}\n  a-b: {recipe: other}\n";
    refused(&recipes, both, expected);
    // Written down or not.
    refused(&recipes, &format!("{both}  a-b-c: {{recipe: store}}\n"), expected);
    compiled(&recipes, "  a: {recipe: one}\n  a-c: {recipe: other}\n").unwrap();
}

/// A recipe of one service and another that comes after it: a job of its own.
fn line(name: &str, second: &str) -> (String, Vec<u8>) {
    let service = |more: &str| format!("    instances: one\n    program: [eos]\n{more}");
    let text = format!(
        "recipe: {name}\nsummary: A test\nversion: \"1\"\nservices:\n  {name}:\n{}  {second}:\n{}",
        service(""),
        service(&format!("    after: [{name}]\n")),
    );
    (format!("recipes/{name}/recipe.yaml"), text.into_bytes())
}

#[test]
fn two_components_do_not_have_one_further_job() {
    let recipes = [line("one", "web-x"), line("other", "x"), recipe("web", "")];
    let expected = "a and a-web would both have a-web-x for their own use";
    refused(
        &recipes,
        "  a: {recipe: one}\n  a-web: {recipe: other}\n",
        expected,
    );
    let expected = "a-web-x and a would both have a-web-x for their own use";
    refused(
        &recipes,
        "  a: {recipe: one}\n  a-web-x: {recipe: web}\n",
        expected,
    );
    compiled(&recipes, "  a: {recipe: one}\n  a-wob: {recipe: other}\n").unwrap();
}

#[test]
fn the_name_of_a_further_job_is_none_that_the_formula_refuses() {
    let (name, service) = ("a".repeat(40), "b".repeat(23));
    let recipes = [line("one", &service)];
    let expected = format!("would be {name}-{service}, which has 64 letters: 63 are the most");
    refused(&recipes, &format!("  {name}: {{recipe: one}}\n"), &expected);
    compiled(&recipes, &format!("  {}: {{recipe: one}}\n", &name[1..])).unwrap();
}

#[test]
fn two_secrets_of_a_component_do_not_have_one_name() {
    let secret = |name: &str| format!("needs:\n  {name}: {{secret: {{}}}}\n");
    let taker = "recipe: taker\nsummary: A test\nversion: \"1\"\nuses:\n  a: {recipe: one, share: true}\n  a_b: {recipe: other, share: true}\nservices:\n  taker:\n    replicas: 1\n    program: [eos, serve-hello]\n    secrets: {X: {text: \"{{ a.b_c }}\"}, Y: {text: \"{{ a_b.c }}\"}}\n";
    let recipes = [
        recipe("one", &secret("b_c")),
        recipe("other", &secret("c")),
        ("recipes/taker/recipe.yaml".to_owned(), taker.into()),
    ];
    let expected = "would have two secrets called a_b_c: b_c of one and c of other";
    refused(&recipes, "  one: {}\n  other: {}\n  taker: {}\n", expected);
}

const SHOP: &str = "needs:\n  web: {route: {host: \"{{ domain }}\", service: shop, when: \"{{ domain }}\"}}\noptions:\n  domain: {type: domain, default: null}\n";

/// The catalogue's proxy and a recipe with a route.
fn with_a_route(proxy: &str, component: &str) -> Compilation {
    let components =
        format!("  hecate-proxy: {{options: {{{proxy}}}}}\n  shop: {{options: {{{component}}}}}\n");
    compiled(&[recipe("shop", SHOP)], &components).unwrap()
}

#[test]
fn a_component_knows_the_url_under_which_the_proxy_serves_it() {
    let url = |proxy: &str| {
        let compilation = with_a_route(proxy, "domain: Shop.Example");
        let component = compilation.component("production", "shop").unwrap();
        component.public_url().map(str::to_owned)
    };
    assert_eq!(url(""), Some("http://shop.example".to_owned()));
    assert_eq!(url("port: 8080"), Some("http://shop.example:8080".to_owned()));
    assert_eq!(url("tls: internal"), Some("https://shop.example".to_owned()));
    assert_eq!(
        url("tls: internal, https_port: 8443"),
        Some("https://shop.example:8443".to_owned())
    );
    let without = with_a_route("", "");
    assert_eq!(
        without.component("production", "shop").unwrap().public_url(),
        None
    );
}

#[test]
fn a_new_route_changes_nothing_of_the_proxy() {
    let key = ("production".to_owned(), "hecate-proxy".to_owned());
    let before = with_a_route("", "");
    let after = with_a_route("", "domain: shop.example");
    let said = |compilation: &Compilation| {
        let nodes = compilation.nodes(&key);
        let said = nodes.into_iter().map(|node| (node.address, node.attributes));
        said.collect::<Vec<_>>()
    };
    assert_eq!(said(&before), said(&after));
    assert_eq!(before.workspaces[&key].digest, after.workspaces[&key].digest);
    let key = ("production".to_owned(), "shop".to_owned());
    let hook = |compilation: &Compilation| {
        let nodes = compilation.nodes(&key);
        nodes
            .iter()
            .any(|node| node.address.to_string().contains("route"))
    };
    assert!(hook(&after) && !hook(&before));
}

#[test]
fn a_host_name_that_is_none_is_refused() {
    let recipes = [recipe(
        "shop",
        "needs:\n  web: {route: {host: \"a {{ 1 }}\", service: shop}}\n",
    )];
    refused(
        &recipes,
        "  hecate-proxy: {}\n  shop: {}\n",
        "is not a domain name",
    );
}

#[test]
fn what_is_there_is_used_and_nothing_else_is_made() {
    let file = |components: &str| {
        let compilation = compiled(&[], components).unwrap();
        let grafana = compilation.component("production", "grafana").unwrap();
        let (_, text) = &grafana.groups[0].files[0];
        (
            text.value.to_string(),
            grafana.before.len(),
            compilation.components.len(),
        )
    };
    assert_eq!(
        file("  grafana: {}\n"),
        ("apiVersion: 1\nprune: true\ndatasources: []\n".to_owned(), 0, 1)
    );
    let (text, before, count) = file("  grafana: {}\n  metrics: {recipe: prometheus}\n");
    assert!(
        text.ends_with("  - name: metrics\n    type: prometheus\n    access: proxy\n    url: http://<address of metrics>\n"),
        "{text}"
    );
    assert_eq!((before, count), (1, 2));
    let (text, ..) =
        file("  grafana: {}\n  a: {recipe: prometheus, options: {port: 9091}}\n  prometheus: {}\n");
    assert!(text.contains("- name: prometheus\n"), "{text}");
    // Nobody has to ask whether one that is optional may go; one that a person chose is needed.
    let need = |options: &str| {
        let components = format!("  grafana: {{options: {{{options}}}}}\n  prometheus: {{}}\n");
        let compilation = compiled(&[], &components).unwrap();
        compilation.need("production", "prometheus", false).len()
    };
    assert_eq!((need(""), need("metrics: prometheus")), (0, 1));
}

#[test]
fn one_place_in_a_container_has_one_thing() {
    let found = |more: &str| {
        let text = format!(
            "recipe: boxed\nsummary: A test\nversion: \"1\"\nneeds:\n  data: {{volume: {{purpose: database, size: 1G, path: /opt/x}}}}\nservices:\n  boxed:\n    instances: one\n    image: example\n{more}"
        );
        let recipes = [("recipes/boxed/recipe.yaml".to_owned(), text.into_bytes())];
        match Catalog::load(&recipes) {
            Ok(_) => Vec::new(),
            Err(found) => found.into_iter().map(|one| one.message).collect::<Vec<_>>(),
        }
    };
    let file = |name: &str, path: &str| format!("      {name}: {{path: {path}, text: x}}\n");
    let files = |one: &str, other: &str| format!("    files:\n{}{}", file("one", one), file("two", other));
    assert_eq!(found(&files("/etc/a", "/etc/b")), [""; 0]);
    assert_eq!(
        found(&files("/etc/a", "/etc/a")),
        ["File \"one\" and File \"two\" would both lie at /etc/a"]
    );
    for place in ["/local", "/secrets/one", "/alloc/x"] {
        let expected = format!("File \"one\" would lie at {place}, which Nomad has in every container");
        assert_eq!(found(&files(place, "/localhost")), [expected]);
    }
    let mounted = |path: &str| {
        format!(
            "    volumes: {{data: {path}}}\n    files:\n{}",
            file("one", "/data")
        )
    };
    assert_eq!(
        found(&mounted("/data")),
        ["Volume \"data\" and File \"one\" would both lie at /data"]
    );
    assert_eq!(
        found(&mounted("/alloc")),
        ["Volume \"data\" would lie at /alloc, which Nomad has in every container"]
    );
    assert_eq!(found(&mounted("/var/data")), [""; 0]);
}

#[test]
fn variables_of_a_task_are_no_others() {
    let found = |tasks: &str, other: &str| {
        let text = format!(
            "recipe: a\nsummary: A test\nversion: \"1\"\nservices:\n  a:\n    instances: one\n    image: example\n    tasks: {{{tasks}}}\n  {other}:\n    instances: one\n    image: example\n"
        );
        let recipes = [("recipes/a/recipe.yaml".to_owned(), text.into_bytes())];
        Catalog::load(&recipes)
            .map(drop)
            .map_err(|found| found[0].message.clone())
    };
    let task = "{runs: before, args: [x]}";
    assert_eq!(
        found(&format!("x: {task}"), "a-task-x"),
        Err("Task x of service a and service a-task-x would have the same variables".to_owned())
    );
    assert_eq!(found(&format!("x: {task}"), "a-task-y"), Ok(()));
}

#[test]
fn what_hosts_must_have_is_asked_of_those_with_the_volumes() {
    let service = |name: &str, more: &str| {
        format!("  {name}:\n    instances: one\n    image: example\n    volumes: {{data: /data}}\n{more}")
    };
    let text = format!(
        "recipe: big\nsummary: A test\nversion: \"1\"\nrequires: {{memory: 8G}}\nneeds:\n  data: {{volume: {{purpose: database, size: 1G, path: /opt/x}}}}\nservices:\n{}{}",
        service("big", ""),
        service("late", "    after: [big]\n"),
    );
    let recipes = [("recipes/big/recipe.yaml".to_owned(), text.into_bytes())];
    let compilation = compiled(&recipes, "  big: {}\n").unwrap();
    let datacenter = compilation.component("production", "big").unwrap();
    let has = |memory: u64| HostHas {
        datacenter: datacenter.datacenter.value.clone(),
        architecture: "amd64".to_owned(),
        memory: memory << 30,
        disk: 0,
    };
    let told = |control: u64| {
        let hosts = [
            ("control".to_owned(), has(control)),
            ("other".to_owned(), has(16)),
        ];
        let observed = Observed {
            hosts: hosts.into(),
            drivers: [("control".to_owned(), ["docker".to_owned()].into())].into(),
            ..Observed::default()
        };
        let components = ["big".to_owned(), "big-late".to_owned()];
        let found = refusals("production", Some(&components), &compilation, &observed);
        found.into_iter().map(|one| one.message).collect::<Vec<_>>()
    };
    assert_eq!(told(8), [""; 0]);
    let expected = |name: &str| {
        let datacenter = &datacenter.datacenter.value;
        format!(
            "{name} requires 8 GiB of memory, which no host with its volumes in datacenter {datacenter} has"
        )
    };
    assert_eq!(told(4), [expected("big"), expected("big-late")]);
}
