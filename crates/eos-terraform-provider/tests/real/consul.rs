//! The provider `consul`: config entries, under ACLs that deny what they do not allow.

use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::engine::{Caller, end, ports, wait_until};
use crate::programs;
use crate::workspace::{Provider, Workspace};

const PROVIDER: Provider = Provider {
    name: "consul",
    version: "2.22.1",
};
const MANAGEMENT: &str = "5ad1c4b0-7a3e-4c0f-9a53-2f6f4a1f0c11";

/// A Consul agent, server and client in one, below a directory of its own.
struct Consul {
    agent: Child,
    caller: Caller,
}

impl Consul {
    fn start(program: &Path, directory: &Path) -> Self {
        fs::create_dir_all(directory).expect("the directory can be made");
        let [http, server, serf] = ports();
        let config = json!({
            "node_name": "test",
            "data_dir": directory.join("data"),
            "server": true,
            "bootstrap_expect": 1,
            "bind_addr": "127.0.0.1",
            "client_addr": "127.0.0.1",
            "disable_update_check": true,
            "ports": {"http": http, "server": server, "serf_lan": serf, "serf_wan": -1, "dns": -1, "grpc": -1, "grpc_tls": -1},
            "connect": {"enabled": true},
            "performance": {"raft_multiplier": 1},
            "acl": {"enabled": true, "default_policy": "deny", "tokens": {"initial_management": MANAGEMENT}},
        });
        let config_file = directory.join("consul.json");
        fs::write(&config_file, config.to_string()).expect("the configuration can be written");
        let log = fs::File::create(directory.join("consul.log")).expect("the log can be made");
        let agent = Command::new(program)
            .args(["agent", "-config-file"])
            .arg(&config_file)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .stdout(log.try_clone().expect("the log can be shared"))
            .stderr(log)
            .spawn()
            .expect("EOS_TEST_CONSUL can be started");
        let address = format!("http://127.0.0.1:{http}");
        let mut caller = Caller::new(address, "X-Consul-Token", reqwest::Client::builder());
        caller.token = Some(MANAGEMENT.to_owned());
        let consul = Self { agent, caller };
        wait_until("a write of Consul", Duration::from_secs(60), || {
            consul.caller.call("PUT", "/v1/kv/ready", Some(json!("yes"))) == (200, json!(true))
        });
        consul
    }

    fn call(&self, method: &str, path: &str, body: Option<Json>) -> (u16, Json) {
        self.caller.call(method, path, body)
    }

    /// An ACL token that may do what the rules say.
    fn token(&self, name: &str, rules: &str) -> String {
        let policy = json!({"Name": name, "Rules": rules});
        assert_eq!(self.call("PUT", "/v1/acl/policy", Some(policy)).0, 200);
        let (status, token) = self.call(
            "PUT",
            "/v1/acl/token",
            Some(json!({"Policies": [{"Name": name}]})),
        );
        assert_eq!(status, 200, "{token}");
        token["SecretID"]
            .as_str()
            .expect("a token has a secret")
            .to_owned()
    }

    fn write(&self, entry: Json) {
        assert_eq!(self.call("PUT", "/v1/config", Some(entry)), (200, json!(true)));
    }

    fn entry(&self, kind: &str, name: &str) -> Option<Json> {
        match self.call("GET", &format!("/v1/config/{kind}/{name}"), None) {
            (200, entry) => Some(entry),
            (404, _) => None,
            other => panic!("{kind}/{name}: {other:?}"),
        }
    }

    /// Whether Consul would let the one service speak to the other.
    fn allows(&self, source: &str, destination: &str) -> bool {
        let path = format!("/v1/connect/intentions/check?source={source}&destination={destination}");
        self.caller.get(&path)["Allowed"] == true
    }
}

impl Drop for Consul {
    fn drop(&mut self) {
        end(&mut self.agent);
    }
}

fn entry(label: &str, kind: &str, name: &str, config: &str) -> String {
    format!(
        "resource \"consul_config_entry\" \"{label}\" {{\n  kind = \"{kind}\"\n  name = \"{name}\"\n  config_json = \
         jsonencode({config})\n}}\n"
    )
}

/// As the published provider wants it: what Consul computes is spelled out, and the order is Consul's.
const SPELLED_OUT: &str = "{ Sources = [\n  { Action = \"allow\", Name = \"front\", Precedence = 9, Type = \"consul\" },\n  { \
                           Action = \"deny\", Name = \"*\", Precedence = 8, Type = \"consul\" },\n] }";

fn intentions(sources: &[(&str, &str)]) -> String {
    let sources: Vec<String> = sources
        .iter()
        .map(|(name, action)| format!("{{ Name = \"{name}\", Action = \"{action}\" }}"))
        .collect();
    entry(
        "api",
        "service-intentions",
        "api",
        &format!("{{ Sources = [{}] }}", sources.join(", ")),
    )
}

#[test]
fn config_entries() {
    let Some((consul, terraform)) = programs("EOS_TEST_CONSUL") else {
        return;
    };
    let root = tempfile::tempdir().expect("a directory for the test");
    let mut consul = Consul::start(&consul, &root.path().join("consul"));
    let token = consul.token(
        "deploy",
        "service_prefix \"\" { policy = \"write\" intentions = \"write\" } mesh = \"write\" key_prefix \"app/\" { policy = \"write\" }",
    );
    let environment = |token: &str| {
        vec![
            ("CONSUL_HTTP_ADDR", consul.caller.address.clone()),
            ("CONSUL_HTTP_TOKEN", token.to_owned()),
        ]
    };
    let workspace =
        |name: &str, token: &str| Workspace::new(&terraform, root.path(), PROVIDER, name, environment(token));

    life_of_an_entry(&consul, &workspace("entry", &token));
    import(&consul, &workspace("import", &token));
    several_at_once(&consul, &workspace("several", &token));
    broken_entries(&consul, &workspace("broken", &token));
    keys(&consul, &workspace("keys", &token));
    acls(&consul, workspace);
    let last = workspace("gone", &token);
    last.write(&[&intentions(&[("front", "allow")])]);
    last.apply().expect(0, &["1 added"]);
    end(&mut consul.agent);
    let gone = last.plan().expect(
        1,
        &[
            "Consul cannot read config entry service-intentions/api",
            "consul does not answer GET /v1/config/service-intentions/api",
            "Check address of provider consul, or CONSUL_HTTP_ADDR",
        ],
    );
    assert!(!gone.says(&token), "an error shows the token");
    last.destroy().expect(1, &["consul does not answer"]);
    assert_eq!(last.attributes("consul_config_entry.api")["name"], "api");
}

fn life_of_an_entry(consul: &Consul, workspace: &Workspace<'_>) {
    let unchanged = || {
        workspace.plan().expect(0, &["No changes"]);
    };
    // Not in the order in which Consul keeps them.
    let wanted = intentions(&[("*", "deny"), ("front", "allow")]);
    workspace.write(&[&wanted]);
    workspace.plan().expect(2, &["1 to add"]);
    workspace.apply().expect(0, &["1 added"]);
    assert!(consul.allows("front", "api") && !consul.allows("other", "api"));
    let id = &workspace.attributes("consul_config_entry.api")["id"];
    assert_eq!(id, "service-intentions-api");
    unchanged();
    let index =
        |name: &str| consul.entry("service-intentions", name).expect("it is there")["ModifyIndex"].clone();
    let before = index("api");
    workspace.apply().expect(0, &["0 added, 0 changed, 0 destroyed"]);
    assert_eq!(index("api"), before, "a second apply writes nothing");

    // Other words for the same.
    workspace.write(&[&entry("api", "service-intentions", "api", SPELLED_OUT)]);
    unchanged();
    workspace.write(&[&wanted]);

    let by_hand = |sources: Json| {
        consul.write(json!({"Kind": "service-intentions", "Name": "api", "Sources": sources}));
    };
    let mend = |words: &[&str]| {
        workspace.plan().expect(2, words);
        workspace.apply().expect(0, &["0 added, 1 changed, 0 destroyed"]);
        assert!(consul.allows("front", "api") && !consul.allows("other", "api"));
        unchanged();
    };
    // A source added, an action changed, a source removed, a note added, the whole entry deleted.
    let intention = "/v1/connect/intentions/exact?source=other&destination=api";
    assert_eq!(
        consul.call("PUT", intention, Some(json!({"Action": "allow"}))).0,
        200
    );
    assert!(consul.allows("other", "api"));
    mend(&["- Name = \"other\"", "0 to add, 1 to change"]);
    by_hand(json!([{"Name": "*", "Action": "deny"}, {"Name": "front", "Action": "deny"}]));
    assert!(!consul.allows("front", "api"));
    mend(&["\"deny\" -> \"allow\"", "0 to add, 1 to change"]);
    by_hand(json!([{"Name": "*", "Action": "deny"}]));
    mend(&["+ Name = \"front\"", "0 to add, 1 to change"]);
    by_hand(
        json!([{"Name": "*", "Action": "deny"}, {"Name": "front", "Action": "allow", "Description": "by hand"}]),
    );
    mend(&["- Description = \"by hand\"", "0 to add, 1 to change"]);
    assert_eq!(
        consul.call("DELETE", "/v1/config/service-intentions/api", None).0,
        200
    );
    workspace.plan().expect(2, &["1 to add"]);
    workspace.apply().expect(0, &["1 added"]);
    unchanged();

    // An update, and another name, which is another entry.
    workspace.write(&[&intentions(&[("front", "deny"), ("back", "allow")])]);
    workspace
        .plan()
        .expect(2, &["0 to add, 1 to change, 0 to destroy"]);
    workspace.apply().expect(0, &["1 changed"]);
    assert!(!consul.allows("front", "api") && consul.allows("back", "api"));
    unchanged();
    workspace.write(&[&intentions(&[("front", "allow")]).replace("name = \"api\"", "name = \"api2\"")]);
    workspace
        .plan()
        .expect(2, &["forces replacement", "1 to add, 0 to change, 1 to destroy"]);
    workspace.apply().expect(0, &["1 added, 0 changed, 1 destroyed"]);
    assert_eq!(consul.entry("service-intentions", "api"), None);
    assert!(consul.allows("front", "api2"));

    workspace.destroy().expect(0, &["1 destroyed"]);
    assert_eq!(consul.entry("service-intentions", "api2"), None);
}

fn import(consul: &Consul, workspace: &Workspace<'_>) {
    let sources = json!([{"Name": "front", "Action": "allow"}, {"Name": "*", "Action": "deny"}]);
    consul.write(json!({"Kind": "service-intentions", "Name": "api", "Sources": sources}));
    workspace.write(&[&intentions(&[("front", "allow"), ("*", "deny")])]);
    workspace
        .plan()
        .expect(2, &["Consul has config entry service-intentions/api already"]);
    let address = "consul_config_entry.api";
    workspace
        .run(&["import", address, "api"])
        .expect(1, &["is not of the form KIND/NAME"]);
    workspace
        .run(&["import", address, "service-intentions/nothing"])
        .expect(1, &["non-existent remote object"]);
    for config in [
        intentions(&[("front", "allow"), ("*", "deny")]),
        entry("api", "service-intentions", "api", SPELLED_OUT),
    ] {
        workspace.write(&[&config]);
        workspace
            .run(&["import", address, "service-intentions/api"])
            .expect(0, &["Import successful"]);
        workspace.plan().expect(0, &["No changes"]);
        workspace.run(&["state", "rm", address]).expect(0, &[]);
    }
    // Taken over, without an import.
    workspace.apply().expect(0, &["1 added"]);
    workspace.destroy().expect(0, &["1 destroyed"]);
}

fn several_at_once(consul: &Consul, workspace: &Workspace<'_>) {
    let api = intentions(&[("front", "allow")]);
    let database = entry(
        "database",
        "service-intentions",
        "database",
        "{ Sources = [{ Name = \"api\", Action = \"allow\" }] }",
    );
    let web = entry(
        "web",
        "service-defaults",
        "web",
        "{ Protocol = \"http\", UpstreamConfig = { Defaults = { ConnectTimeoutMs = 500, PassiveHealthCheck = { Interval \
         = \"10s\" } } } }",
    );
    let proxies = entry(
        "proxies",
        "proxy-defaults",
        "global",
        "{ Config = { local_connect_timeout_ms = 1000, envoy_dogstatsd_url = \"\" } }",
    );
    workspace.write(&[&api, &database, &web, &proxies]);
    workspace.apply().expect(0, &["4 added"]);
    assert!(consul.allows("front", "api") && consul.allows("api", "database"));
    assert!(!consul.allows("front", "database"));
    let kept = |kind: &str, name: &str| consul.entry(kind, name).expect("it is there");
    assert_eq!(kept("service-defaults", "web")["Protocol"], "http");
    assert_eq!(
        kept("proxy-defaults", "global")["Config"]["local_connect_timeout_ms"],
        1000
    );
    workspace.plan().expect(0, &["No changes"]);

    // Two drift at once, in parts that the configuration does not name.
    let mut changed = kept("service-defaults", "web");
    changed["MaxInboundConnections"] = json!(5);
    consul.write(changed);
    let mut changed = kept("proxy-defaults", "global");
    changed["Config"]["more"] = json!(0);
    consul.write(changed);
    workspace
        .plan()
        .expect(2, &["MaxInboundConnections", "more", "0 to add, 2 to change"]);
    workspace.apply().expect(0, &["0 added, 2 changed"]);
    workspace.plan().expect(0, &["No changes"]);

    // One goes, the others stay.
    workspace.write(&[&api, &web, &proxies]);
    workspace.apply().expect(0, &["0 added, 0 changed, 1 destroyed"]);
    assert!(!consul.allows("api", "database"));
    assert!(consul.allows("front", "api"));
    workspace.destroy().expect(0, &["3 destroyed"]);
    assert_eq!(consul.entry("proxy-defaults", "global"), None);
}

fn broken_entries(consul: &Consul, workspace: &Workspace<'_>) {
    workspace.write(&[&entry("g", "ingress-gateway", "g", "{}")]);
    workspace.plan().expect(
        1,
        &[
            "This provider has no config entries of kind ingress-gateway",
            "kind = \"ingress-gateway\"",
        ],
    );
    workspace.write(&[&entry("web", "service-defaults", "web", "{ Nonsense = 1 }")]);
    workspace.apply().expect(
        1,
        &[
            "Consul refuses config entry service-defaults/web",
            "invalid config key \"Nonsense\"",
        ],
    );
    workspace.write(&[&intentions(&[])]);
    workspace.apply().expect(1, &["At least one source is required"]);
    assert_eq!(consul.entry("service-intentions", "api"), None);

    // Consul takes the entry, but computes another precedence than the one that was asked for.
    let wrong = SPELLED_OUT.replace("Precedence = 8", "Precedence = 3");
    workspace.write(&[&entry("api", "service-intentions", "api", &wrong)]);
    workspace.apply().expect(
        1,
        &[
            "Consul stores config entry service-intentions/api with other values than the provider wrote",
            "Differences: Sources[*].Precedence",
        ],
    );
    workspace.write(&[&entry("api", "service-intentions", "api", SPELLED_OUT)]);
    workspace.apply().expect(0, &["1 added"]);
    workspace.plan().expect(0, &["No changes"]);

    // A name and a text that are known at the apply only.
    workspace.write(&[
        "resource \"terraform_data\" \"later\" {\n  input = \"later\"\n}\n",
        "resource \"consul_config_entry\" \"later\" {\n  kind = \"service-defaults\"\n  name = \
         terraform_data.later.output\n  config_json = jsonencode({ Protocol = \"tcp\", Meta = { from = \
         terraform_data.later.output } })\n}\n",
    ]);
    workspace.plan().expect(
        2,
        &["id = (known after apply)", "2 to add, 0 to change, 1 to destroy"],
    );
    workspace.apply().expect(0, &["2 added"]);
    workspace.plan().expect(0, &["No changes"]);
    workspace.destroy().expect(0, &["2 destroyed"]);
}

fn keys(consul: &Consul, workspace: &Workspace<'_>) {
    let keys = |blocks: &[(&str, &str, &str)]| {
        let blocks: Vec<String> = blocks
            .iter()
            .map(|(path, value, more)| {
                format!("  key {{\n    path = \"{path}\"\n    value = \"{value}\"\n    {more}\n  }}\n")
            })
            .collect();
        format!("resource \"consul_keys\" \"app\" {{\n{}}}\n", blocks.concat())
    };
    let kept = |path: &str| match consul.call("GET", &format!("/v1/kv/{path}?raw"), None) {
        (200, Json::String(value)) => Some(value),
        (200, other) => Some(other.to_string()),
        (404, _) => None,
        other => panic!("{path}: {other:?}"),
    };
    let by_hand = |path: &str, value: Json| {
        assert_eq!(consul.call("PUT", &format!("/v1/kv/{path}"), Some(value)).0, 200);
    };
    let level = ("app/level", "info", "delete = true");
    let odd = ("app/a b/ü?#%", "line\\nü", "flags = 7\n    delete = true");
    let stays = ("app/stays", "", "");
    workspace.write(&[&keys(&[level, odd, stays])]);
    workspace.apply().expect(0, &["1 added"]);
    assert_eq!(kept("app/level").as_deref(), Some("info"));
    assert_eq!(kept("app/a%20b/%C3%BC%3F%23%25").as_deref(), Some("line\nü"));
    assert_eq!(
        consul.caller.get("/v1/kv/app/a%20b/%C3%BC%3F%23%25")[0]["Flags"],
        7
    );
    assert_eq!(kept("app/stays").as_deref(), Some(""));
    workspace.plan().expect(0, &["No changes"]);
    let index = || consul.caller.get("/v1/kv/app/stays")[0]["ModifyIndex"].clone();
    let before = index();

    // A value changed, and a key deleted.
    by_hand("app/level", json!(5));
    workspace.plan().expect(2, &["0 to add, 1 to change"]);
    workspace.apply().expect(0, &["1 changed"]);
    assert_eq!(kept("app/level").as_deref(), Some("info"));
    assert_eq!(consul.call("DELETE", "/v1/kv/app/level", None).0, 200);
    workspace
        .plan()
        .expect(2, &["app/level", "0 to add, 1 to change"]);
    workspace.apply().expect(0, &["1 changed"]);
    assert_eq!(kept("app/level").as_deref(), Some("info"));
    workspace.plan().expect(0, &["No changes"]);
    assert_eq!(index(), before, "a key that is as it should be is not written");

    // One key gets another value, one goes, one comes that the token may not write: what was done is known.
    let level = ("app/level", "debug", "delete = true");
    let foreign = ("zoo/x", "x", "");
    workspace.write(&[&keys(&[level, foreign, stays])]);
    workspace.apply().expect(
        1,
        &[
            "Consul refuses key zoo/x",
            "lacks permission 'key:write' on \"zoo/x\"",
            "key \"zoo/x\" { policy = \"write\" }",
        ],
    );
    assert_eq!(kept("app/level").as_deref(), Some("debug"));
    assert_eq!(kept("app/a%20b/%C3%BC%3F%23%25").as_deref(), Some("line\nü"));
    workspace.write(&[&keys(&[level, stays])]);
    workspace.apply().expect(0, &["1 changed"]);
    assert_eq!(kept("app/a%20b/%C3%BC%3F%23%25"), None);
    workspace.plan().expect(0, &["No changes"]);

    workspace.write(&[&keys(&[level, ("app/level", "warn", "")])]);
    workspace
        .plan()
        .expect(1, &["Two blocks write the key app/level"]);
    workspace.write(&[&keys(&[level, stays])]);
    workspace.destroy().expect(0, &["1 destroyed"]);
    assert_eq!(kept("app/level"), None);
    assert_eq!(
        kept("app/stays").as_deref(),
        Some(""),
        "a key without delete stays"
    );
}

fn acls<'a>(consul: &Consul, workspace: impl Fn(&str, &str) -> Workspace<'a>) {
    let api = intentions(&[("front", "allow")]);
    let web = entry("web", "service-defaults", "web", "{ Protocol = \"http\" }");
    let proxies = entry("proxies", "proxy-defaults", "global", "{ Config = {} }");

    // Nobody's token, and one that nobody knows.
    let nobody = workspace("nobody", "");
    nobody.write(&[&api]);
    nobody.plan().expect(
        1,
        &[
            "Consul cannot read config entry service-intentions/api",
            "lacks permission 'intention:read' on \"api\"",
            "service \"api\" { policy = \"read\", intentions = \"read\" }",
        ],
    );
    let wrong = "0e7a54c2-0000-4000-8000-00000000dead";
    let stranger = workspace("stranger", wrong);
    stranger.write(&[&api]);
    let refused = stranger.plan().expect(
        1,
        &[
            "ACL not found",
            "The ACL token (token, or CONSUL_HTTP_TOKEN) is unknown to consul",
        ],
    );
    assert!(!refused.says(wrong), "an error shows the token");

    // One that may read everything and write nothing.
    let reader = consul.token("reader", "service_prefix \"\" { policy = \"read\" }");
    let reading = workspace("reader", &reader);
    for (resource, permission, rule) in [
        (
            &api,
            "'intention:write' on \"api\"",
            "service \"api\" { policy = \"read\", intentions = \"write\" }",
        ),
        (
            &web,
            "'service:write' on \"web\"",
            "service \"web\" { policy = \"write\" }",
        ),
        (&proxies, "'mesh:write'", "mesh = \"write\""),
    ] {
        reading.write(&[resource]);
        reading.plan().expect(2, &["1 to add"]);
        let refused = reading
            .apply()
            .expect(1, &["Consul refuses config entry", permission, rule]);
        assert!(!refused.says(&reader), "an error shows the token");
    }
    assert_eq!(consul.entry("service-intentions", "api"), None);

    // One that may set intentions and nothing else, given in the configuration and not in the environment.
    let narrow = consul.token(
        "narrow",
        "service \"api\" { policy = \"read\", intentions = \"write\" }",
    );
    let nobody_again = workspace("narrow", "");
    let address = consul.caller.address.trim_start_matches("http://");
    nobody_again.write(&[
        &format!("provider \"consul\" {{\n  address = \"{address}\"\n  scheme = \"http\"\n  token = \"{narrow}\"\n}}\n"),
        &api,
    ]);
    let mut traced = nobody_again.command(&["apply", "-input=false", "-auto-approve"]);
    let output = traced.env("TF_LOG", "trace").output().expect("terraform");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let stored =
        fs::read_to_string(nobody_again.directory.join("terraform.tfstate")).expect("the Terraform state");
    for text in [
        &String::from_utf8_lossy(&output.stdout),
        &String::from_utf8_lossy(&output.stderr),
        &*stored,
    ] {
        assert!(!text.contains(&narrow), "the token is shown");
    }
    assert!(consul.allows("front", "api"));
    nobody_again.plan().expect(0, &["No changes"]);
    nobody_again.destroy().expect(0, &["1 destroyed"]);
}
