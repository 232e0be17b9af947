//! The lab with the real engines. Needs EOS_TEST_SALT (a virtual environment with Salt), EOS_TEST_NOMAD and
//! EOS_TEST_TERRAFORM (programs), and for the full profile EOS_TEST_CONSUL, EOS_TEST_VAULT (programs) and
//! EOS_TEST_VAULT_PLUGINS (a directory); without them every test says that it was skipped.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use eos_engine::nomad::Request;
use eos_engine::settings::Profile;
use eos_engine::{ConsulClient, Endpoints, ErrorKind, NomadClient, SaltClient, VaultClient};
use eos_lab::{Advance, EngineStatus, Engines, FormulaFile, Lab, LabInput, Outcome, Progress, Step};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

const FORMULA: [FormulaFile<'static>; 12] = [
    (
        "_modules/eos.py",
        b"def info():\n    return {'version': __opts__['eos']['nomad_address']}\n",
    ),
    (
        "files/eos-deploy.policy.hcl",
        b"namespace \"*\" {\n  policy = \"write\"\n}\n\nnode {\n  policy = \"read\"\n}\n",
    ),
    (
        "master/log_handlers/eos_guard.py",
        include_bytes!("../../../formula/master/log_handlers/eos_guard.py"),
    ),
    (
        "master/pillar/eos_pillar.py",
        include_bytes!("../../../formula/master/pillar/eos_pillar.py"),
    ),
    (
        "master/returners/eos_jobs.py",
        include_bytes!("../../../formula/master/returners/eos_jobs.py"),
    ),
    (
        "master/netapi/rest_cherrypy/__init__.py",
        include_bytes!("../../../formula/master/netapi/rest_cherrypy/__init__.py"),
    ),
    (
        "files/eos-nodes.policy.hcl",
        include_bytes!("../../../formula/files/eos-nodes.policy.hcl"),
    ),
    (
        "files/eos-session.policy.hcl",
        include_bytes!("../../../formula/files/eos-session.policy.hcl"),
    ),
    (
        "files/eos-person.policy.hcl",
        include_bytes!("../../../formula/files/eos-person.policy.hcl"),
    ),
    (
        "files/eos-person.vault.hcl",
        include_bytes!("../../../formula/files/eos-person.vault.hcl"),
    ),
    (
        "files/eos-deploy.consul.hcl",
        include_bytes!("../../../formula/files/eos-deploy.consul.hcl"),
    ),
    (
        "files/eos-control.vault.hcl",
        include_bytes!("../../../formula/files/eos-control.vault.hcl"),
    ),
];

/// Its task runs the program that the lab was given, by its bare name.
const JOB: &str = r#"job "web" {
  group "web" {
    task "web" {
      driver = "raw_exec"
      config {
        command = "eos"
        args    = ["9999"]
      }
      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}"#;
const READER: &str = r#"job "JOB" {
  group "reader" {
    task "reader" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "cp secrets/app COPY.new && mv COPY.new COPY && exec sleep 9999"]
      }
      vault {}
      template {
        destination = "secrets/app"
        data        = "{{ with secret \"secret/data/default/OF/app\" }}{{ .Data.data.password }}{{ end }}"
      }
      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}"#;

/// One instance on each node beside control.
const PAIR: &str = r#"job "pair" {
  group "pair" {
    count = 2
    constraint {
      attribute = "${node.unique.name}"
      operator  = "regexp"
      value     = "node"
    }
    constraint {
      distinct_hosts = true
    }
    network {
      port "http" {
        HERE
      }
    }
    service {
      name     = "pair"
      port     = "http"
      provider = "PROVIDER"
      check {
        type     = "http"
        path     = "/"
        interval = "1s"
        timeout  = "2s"
      }
    }
    task "pair" {
      driver = "raw_exec"
      config {
        command = "PYTHON"
        args    = ["-m", "http.server", "--bind", "${NOMAD_IP_http}", "${NOMAD_PORT_http}"]
      }
      resources {
        cpu    = 50
        memory = 64
      }
    }
  }
}"#;
const JOBS: Request<'static> = Request {
    object: "job web",
    path: "jobs",
    query: &[],
};

/// Shown only by a failing test, or with --nocapture.
struct Told;

impl Progress for Told {
    fn started(&self, step: &Step) {
        println!("{}: {}", step.engine, step.what);
    }
    fn advanced(&self, _: &Step, _: Advance, _: Duration) {}
    fn noted(&self, step: &Step, words: &str) {
        println!("{}: {words}", step.engine);
    }
    fn ended(&self, step: &Step, outcome: Outcome, elapsed: Duration) {
        println!("{}: {outcome:?} after {elapsed:.1?}", step.engine);
    }
}

/// A lab that is brought down and removed also when its test fails.
struct Trial {
    lab: Lab,
    engines: Engines,
    profile: Profile,
    nodes: usize,
    root: PathBuf,
    _directory: tempfile::TempDir,
}

fn given<const COUNT: usize>(names: [&str; COUNT]) -> Option<[PathBuf; COUNT]> {
    let found = names.map(|name| env::var_os(name).map(PathBuf::from));
    if found.iter().any(Option::is_none) {
        println!("skipped: {} do not all name an engine", names.join(", "));
        return None;
    }
    Some(found.map(Option::unwrap_or_default))
}

impl Trial {
    async fn new(below: &str) -> Option<Trial> {
        let [salt, terraform, nomad] = given(["EOS_TEST_SALT", "EOS_TEST_TERRAFORM", "EOS_TEST_NOMAD"])?;
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap().join(below);
        let lab = Lab::at(&root).unwrap();
        let engines = Engines::given(&salt, &terraform, &nomad).await.unwrap();
        Some(Trial {
            lab,
            engines,
            profile: Profile::Solo,
            nodes: 0,
            root,
            _directory: directory,
        })
    }

    /// With Consul and Vault.
    async fn full(nodes: usize) -> Option<Trial> {
        let [consul, vault, plugins] =
            given(["EOS_TEST_CONSUL", "EOS_TEST_VAULT", "EOS_TEST_VAULT_PLUGINS"])?;
        let mut trial = Trial::new("lab").await?;
        trial.engines = trial
            .engines
            .clone()
            .and_given(&consul, &vault, &plugins)
            .await
            .unwrap();
        trial.profile = Profile::Full;
        trial.nodes = nodes;
        Some(trial)
    }

    fn input(&self) -> LabInput<'static> {
        LabInput {
            formula: &FORMULA,
            program: "/bin/sleep".into(),
            provider: "/bin/true".into(),
            profile: self.profile,
            nodes: Some(self.nodes),
            containers: false,
            tofu: false,
            delivers_by_api: false,
            providers: Default::default(),
        }
    }

    async fn up(&self) -> Endpoints {
        self.lab
            .up(&self.engines, &self.input(), &Told)
            .await
            .unwrap_or_else(|error| {
                let logs = fs::read_dir(self.root.join("log")).unwrap().map(|entry| {
                    let path = entry.unwrap().path();
                    format!("-- {}\n{}", path.display(), fs::read_to_string(&path).unwrap())
                });
                panic!("{error}\n{}", logs.collect::<Vec<_>>().join("\n"))
            })
    }

    async fn status(&self) -> BTreeMap<String, EngineStatus> {
        self.lab
            .status()
            .await
            .unwrap()
            .into_iter()
            .map(|engine| (engine.name.clone(), engine))
            .collect()
    }

    async fn assert_all_ready(&self) {
        for engine in self.status().await.values() {
            assert!(engine.ready, "{engine:?}");
        }
    }

    async fn kill(&self, name: &str) {
        let pid = self.status().await[name]
            .pid
            .unwrap_or_else(|| panic!("{name} does not run"));
        assert!(
            Command::new("kill")
                .args(["-9", &pid.to_string()])
                .status()
                .unwrap()
                .success()
        );
        // A signal is sent before it is obeyed.
        while self.status().await[name].pid.is_some() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// With the token that may do everything.
    fn nomad(&self) -> NomadClient {
        let mut endpoint = self.endpoints().nomad;
        endpoint.token_file = Some(self.root.join("secrets/nomad-management-token"));
        NomadClient::new(&endpoint).unwrap()
    }

    fn endpoints(&self) -> Endpoints {
        serde_json::from_slice(&fs::read(self.lab.endpoints()).unwrap()).unwrap()
    }

    async fn start_job(&self) {
        self.run(JOB).await;
        self.wait_for_job().await;
    }

    async fn run(&self, job: &str) {
        let nomad = self.nomad();
        let job = nomad.parse(job, "").await.unwrap();
        let _: Value = nomad.post(JOBS, &json!({"Job": job})).await.unwrap();
    }

    /// With the token of the person who acts by default, as below.
    fn vault(&self) -> VaultClient {
        VaultClient::new(&self.endpoints().vault.unwrap()).unwrap()
    }

    /// With the token that may do everything.
    fn vault_root(&self) -> VaultClient {
        let file = self.root.join("secrets/vault-init.json");
        let made: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        self.vault()
            .with_token(made["root_token"].as_str().unwrap().into())
    }

    fn consul(&self) -> ConsulClient {
        ConsulClient::new(&self.endpoints().consul.unwrap()).unwrap()
    }

    /// Writes a secret for a job.
    async fn keep_secret(&self, job: &str, password: &str) {
        let items = BTreeMap::from([("password".to_owned(), password.into())]);
        let path = format!("default/{job}/app");
        let version = self.vault_root().entry(&path).await.unwrap();
        let version = version.map_or(0, |entry| entry.version);
        self.vault_root().put_entry(&path, &items, version).await.unwrap();
    }

    async fn secret(&self, job: &str) -> Option<String> {
        let path = format!("default/{job}/app");
        let entry = self.vault_root().entry(&path).await.unwrap()?;
        Some(entry.items["password"].expose_secret().to_owned())
    }

    /// A job that copies a secret, which may not be its own, to a file.
    async fn run_reader(&self, job: &str, of: &str) -> PathBuf {
        let copy = self.root.join(format!("{job}.copy"));
        self.run(
            &READER
                .replace("JOB", job)
                .replace("OF", of)
                .replace("COPY", copy.to_str().unwrap()),
        )
        .await;
        copy
    }

    /// Processes of Vault's plugins.
    fn plugins(&self) -> usize {
        let plugins = self.engines.vault.as_ref().unwrap().plugins.display().to_string();
        self.processes()
            .iter()
            .filter(|line| line.starts_with(&plugins))
            .count()
    }

    async fn running_allocations(&self) -> Vec<String> {
        let allocations = self.nomad().job_allocations("default", "web").await.unwrap();
        allocations
            .into_iter()
            .filter(|found| found.is_running())
            .map(|found| found.id)
            .collect()
    }

    async fn wait_for_job(&self) -> String {
        let begun = Instant::now();
        loop {
            let running = self.running_allocations().await;
            if running.len() == 1 && self.tasks().len() == 1 {
                return running[0].clone();
            }
            assert!(
                begun.elapsed() < Duration::from_secs(30),
                "running: {running:?}, tasks: {:?}",
                self.tasks()
            );
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    fn tasks(&self) -> Vec<String> {
        self.processes()
            .into_iter()
            .filter(|line| line.ends_with("eos 9999"))
            .collect()
    }

    /// Every process that mentions the lab's directory in its arguments or environment.
    fn processes(&self) -> Vec<String> {
        let root = self.root.to_str().unwrap().as_bytes();
        let mentions = |bytes: &[u8]| bytes.windows(root.len()).any(|window| window == root);
        let read = |entry: fs::DirEntry| {
            let (path, own) = (entry.path(), std::process::id().to_string());
            let line = fs::read(path.join("cmdline")).ok()?;
            let environment = fs::read(path.join("environ")).unwrap_or_default();
            (entry.file_name() != *own && (mentions(&line) || mentions(&environment))).then(|| {
                String::from_utf8_lossy(&line)
                    .replace('\0', " ")
                    .trim()
                    .to_owned()
            })
        };
        fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| read(entry.unwrap()))
            .collect()
    }

    async fn end(&self) {
        self.lab.reset(&Told).await.unwrap();
        assert_eq!(self.processes(), Vec::<String>::new());
        assert_eq!(
            fs::read_dir(&self.root).unwrap().count(),
            0,
            "reset leaves an empty directory"
        );
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        if self.processes().is_empty() {
            return;
        }
        let lab = Lab::at(&self.root).unwrap();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(lab.reset(&Told)).unwrap();
        })
        .join()
        .unwrap();
    }
}

#[tokio::test]
async fn up_and_down_and_everything_is_there_again() {
    let Some(trial) = Trial::new("lab").await else {
        return;
    };
    let begun = Instant::now();
    let endpoints = trial.up().await;
    println!("cold: {:.1?}", begun.elapsed());
    trial.assert_all_ready().await;
    assert_eq!(endpoints, trial.endpoints());

    // The best of three, and twice what it takes: other suites run beside this one.
    let mut again = Duration::MAX;
    for _ in 0..3 {
        let begun = Instant::now();
        trial.up().await;
        again = again.min(begun.elapsed());
    }
    assert!(again < Duration::from_secs(4), "{again:?}");

    // The formula's module was brought to the minion, which has its settings.
    let salt = SaltClient::new(&endpoints.salt).unwrap();
    let info = salt
        .call("control", "eos.info", json!({}), Duration::from_secs(15))
        .await
        .unwrap();
    assert_eq!(info["version"], *endpoints.nomad.address);

    // Salt itself refuses everything that is not on the list, also what only begins like something on it.
    for function in [
        "cmd.run",
        "state.apply",
        "state.single",
        "eos.infos",
        "test.pings",
        "pillar.items",
    ] {
        let refused = salt
            .call("control", function, json!({}), Duration::from_secs(15))
            .await
            .unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Refused, "{function}: {refused}");
    }

    // The program's token reads and writes a place of its user's own. It reads no component's secret, and runs no job.
    let nomad = NomadClient::new(&endpoints.nomad).unwrap();
    let secret = |path: &str| json!({"Path": path, "Items": {"password": "kept"}});
    let own = Request {
        object: "variable",
        path: "var/eos_users/eos-operator/kept",
        query: &[],
    };
    let of_a_component = Request {
        object: "variable",
        path: "var/nomad/jobs/web",
        query: &[],
    };
    let _: Value = nomad
        .put(own, &secret("eos_users/eos-operator/kept"))
        .await
        .unwrap();
    let refused = nomad
        .put::<Value>(of_a_component, &secret("nomad/jobs/web"))
        .await;
    assert_eq!(refused.unwrap_err().kind, ErrorKind::Refused);
    let job = nomad.parse(JOB, "").await.unwrap();
    let refused = nomad.post::<Value>(JOBS, &json!({"Job": job})).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Refused, "{refused}");

    trial.start_job().await;
    let down = Instant::now();
    trial.lab.down(&Told).await.unwrap();
    println!("down: {:.1?}", down.elapsed());
    assert_eq!(trial.processes(), Vec::<String>::new());
    let mounts = fs::read_to_string("/proc/mounts").unwrap();
    assert!(!mounts.contains(trial.root.to_str().unwrap()), "{mounts}");
    assert!(trial.status().await.values().all(|engine| engine.pid.is_none()));

    let begun = Instant::now();
    assert_eq!(trial.up().await, endpoints);
    println!("up again: {:.1?}", begun.elapsed());
    trial.assert_all_ready().await;
    trial.wait_for_job().await;
    let kept: Value = nomad.get(own).await.unwrap();
    assert_eq!(kept["Items"]["password"], "kept");
    trial.end().await;
}

#[tokio::test]
async fn what_was_killed_is_repaired() {
    // Deep enough that Salt's sockets have to lie elsewhere.
    let Some(trial) = Trial::new(&"deep/".repeat(16)).await else {
        return;
    };
    trial.up().await;
    let choices: Value = serde_json::from_slice(&fs::read(trial.root.join("lab.json")).unwrap()).unwrap();
    let sockets = PathBuf::from(choices["sockets"].as_str().unwrap());
    assert!(
        !sockets.starts_with(&trial.root) && sockets.is_dir(),
        "{}",
        sockets.display()
    );
    trial.start_job().await;
    let task = trial.wait_for_job().await;

    let engines = ["salt-master", "salt-api", "salt-minion", "nomad"];
    for killed in engines
        .map(|name| vec![name])
        .into_iter()
        .chain([engines.to_vec()])
    {
        for name in &killed {
            trial.kill(name).await;
        }
        let begun = Instant::now();
        trial.up().await;
        println!("killed {killed:?}, up after {:.1?}", begun.elapsed());
        trial.assert_all_ready().await;
        assert_eq!(trial.wait_for_job().await, task, "the task went on meanwhile");
    }

    // An agent that is dead when the lab is brought down still does not leave its tasks behind.
    trial.kill("nomad").await;
    trial.lab.down(&Told).await.unwrap();
    assert_eq!(trial.processes(), Vec::<String>::new());
    assert!(!sockets.exists());
    trial.end().await;
}

#[tokio::test]
async fn two_labs_do_not_meet() {
    let (Some(one), Some(other)) = (Trial::new("lab").await, Trial::new("lab").await) else {
        return;
    };
    let (first, second) = tokio::join!(one.up(), other.up());
    assert_ne!(first.salt.url, second.salt.url);
    assert_ne!(first.nomad.address, second.nomad.address);
    one.end().await;
    other.assert_all_ready().await;

    // The port of a lab that is down may be taken by somebody else.
    other.lab.down(&Told).await.unwrap();
    let address = second.nomad.address.strip_prefix("https://").unwrap();
    let held = std::net::TcpListener::bind(address).unwrap();
    let error = other
        .lab
        .up(&other.engines, &other.input(), &Told)
        .await
        .unwrap_err();
    let port = address.rsplit_once(':').unwrap().1;
    assert!(
        error.to_string().contains(&format!("uses port {port} of nomad")),
        "{error}"
    );
    drop(held);
    other.up().await;
    other.end().await;
}

#[tokio::test]
async fn logs_are_shown_and_an_unknown_engine_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let lab = Lab::at(directory.path().join("lab")).unwrap();
    assert!(lab.status().await.unwrap().is_empty());
    lab.down(&Told).await.unwrap();
    let mut lines = Vec::new();
    lab.logs("nomad", 10, false, &mut |line| lines.push(line.to_owned()))
        .await
        .unwrap();
    assert!(lines.is_empty());
    let error = lab.logs("vault", 10, false, &mut |_| {}).await.unwrap_err();
    assert_eq!(error.to_string(), "the lab has no engine named vault");
    assert_eq!(
        error.hint().unwrap(),
        "It has salt-master, salt-api, salt-minion, nomad"
    );
    assert!(!Path::new(&lab.endpoints()).exists());
}

async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "not within a minute: {what}"
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

fn request<'a>(object: &'a str, path: &'a str) -> Request<'a> {
    Request {
        object,
        path,
        query: &[],
    }
}

#[tokio::test]
async fn the_full_lab_keeps_secrets_and_gives_out_tokens() {
    let Some(trial) = Trial::full(0).await else {
        return;
    };
    let begun = Instant::now();
    let endpoints = trial.up().await;
    println!("full, cold: {:.1?}", begun.elapsed());
    trial.assert_all_ready().await;
    for engine in trial.status().await.values() {
        println!("{}: {} MiB", engine.name, engine.memory >> 20);
    }
    assert_eq!(endpoints, trial.endpoints());
    let mut again = Duration::MAX;
    for _ in 0..3 {
        let begun = Instant::now();
        assert_eq!(trial.up().await, endpoints);
        again = again.min(begun.elapsed());
    }
    println!("full, again: {again:.1?}");
    assert!(again < Duration::from_secs(4), "{again:?}");

    a_job_reads_its_own_secret_and_no_other(&trial).await;
    the_program_may_do_what_it_needs(&trial).await;
    the_control_minion_has_tokens_that_it_can_end(&trial).await;
    no_secret_is_open_to_others(&trial);

    trial.lab.down(&Told).await.unwrap();
    assert_eq!(trial.processes(), Vec::<String>::new());
    let begun = Instant::now();
    assert_eq!(trial.up().await, endpoints);
    println!("full, up again: {:.1?}", begun.elapsed());
    trial.assert_all_ready().await;
    assert_eq!(trial.secret("reader").await.as_deref(), Some("hunter2"));
    let kept = trial.consul().key("terraform/kept").await.unwrap().unwrap();
    assert_eq!(kept.value, b"1");
    trial.end().await;
}

async fn a_job_reads_its_own_secret_and_no_other(trial: &Trial) {
    trial.keep_secret("reader", "hunter2").await;
    let copy = trial.run_reader("reader", "reader").await;
    let read = eventually("the job's copy of its secret", async || {
        fs::read_to_string(&copy).ok()
    })
    .await;
    assert_eq!(read, "hunter2");

    let copy = trial.run_reader("thief", "reader").await;
    let words = eventually("a task that waits for a secret", async || {
        let allocations = trial.nomad().job_allocations("default", "thief").await.unwrap();
        let runs = allocations.iter().flat_map(|found| found.task_states.values());
        let mut events = runs.flat_map(|run| &run.events);
        let missing = "vault.read(secret/data/default/reader/app)";
        events
            .find(|event| event.display_message.contains(missing))
            .map(|event| event.display_message.clone())
    })
    .await;
    assert!(!copy.exists(), "{words}");
    let thief = request("job thief", "job/thief");
    let _: Value = trial.nomad().delete(thief).await.unwrap();
}

async fn the_program_may_do_what_it_needs(trial: &Trial) {
    let consul = trial.consul();
    let _: bool = consul
        .put(request("key", "kv/terraform/kept"), &json!(1))
        .await
        .unwrap();
    for (object, path) in [("another key", "kv/elsewhere"), ("a policy", "acl/policy")] {
        let refused = consul
            .put::<Value>(request(object, path), &json!({"Name": "x"}))
            .await;
        assert_eq!(refused.unwrap_err().kind, ErrorKind::Refused, "{path}");
    }
    let vault = trial.vault();
    vault.keep_token().await.unwrap();
    let refused = vault.entry("default/reader/app").await;
    assert_eq!(refused.unwrap_err().kind, ErrorKind::Refused);
    let own = "eos_users/eos-operator/trial";
    vault.put_entry(own, &BTreeMap::new(), 0).await.unwrap();
    vault.delete_entry(own).await.unwrap();
    let refused = vault
        .get::<Value>(request("more", "nomad/creds/eos-deploy"))
        .await;
    assert_eq!(refused.unwrap_err().kind, ErrorKind::Refused);
    // It reads the rules, so that drift can tell of them; it does not write them.
    let rules = request("rules", "sys/policies/acl/eos-person-eos-operator");
    let found: Value = vault.get(rules).await.unwrap();
    assert!(found["data"]["policy"].is_string(), "{found}");
    let rules = request("rules", "sys/policies/acl/eos-person-eos-operator");
    let refused = vault.post::<Value>(rules, &json!({"policy": ""})).await;
    assert_eq!(refused.unwrap_err().kind, ErrorKind::Refused);
}

async fn the_control_minion_has_tokens_that_it_can_end(trial: &Trial) {
    let file = trial.root.join("secrets/control.json");
    let credential: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    assert!(credential.get("nomad_token").is_none());
    let mut endpoint = trial.endpoints().vault.unwrap();
    endpoint.token_file = None;
    let stranger = VaultClient::new(&endpoint).unwrap();
    let login: Value = stranger
        .post(request("login", "auth/approle/login"), &credential)
        .await
        .unwrap();
    assert_eq!(login["auth"]["lease_duration"], 20 * 60);
    let token = login["auth"]["client_token"].as_str().unwrap();
    let control = VaultClient::new(&endpoint).unwrap().with_token(token.into());

    assert!(control.entry("default/reader/app").await.unwrap().is_some());
    let names: Value = control
        .get(Request {
            object: "names",
            path: "secret/metadata/default",
            query: &[("list", "true")],
        })
        .await
        .unwrap();
    assert_eq!(names["data"]["keys"], json!(["reader/"]));

    let mut nomads = Vec::new();
    for (role, kind) in [
        ("eos-deploy", "client"),
        ("eos-platform", "management"),
        ("eos-read", "client"),
    ] {
        let made: Value = control
            .get(request(role, &format!("nomad/creds/{role}")))
            .await
            .unwrap();
        assert_eq!(made["lease_duration"], 15 * 60, "{role}");
        let token_file = trial.root.join("secrets").join(format!("{role}-trial"));
        fs::write(&token_file, made["data"]["secret_id"].as_str().unwrap()).unwrap();
        let mut endpoint = trial.endpoints().nomad;
        endpoint.token_file = Some(token_file);
        let nomad = NomadClient::new(&endpoint).unwrap();
        let itself: Value = nomad.get(request(role, "acl/token/self")).await.unwrap();
        assert_eq!(itself["Type"], kind, "{role}");
        assert_eq!(nomad.nodes().await.unwrap().len(), 1, "{role}");
        nomads.push(nomad);
    }
    let made: Value = control
        .get(request("eos-deploy", "consul/creds/eos-deploy"))
        .await
        .unwrap();
    assert_eq!(made["lease_duration"], 15 * 60);
    let consul = trial
        .consul()
        .with_token(made["data"]["token"].as_str().unwrap().into());
    let _: bool = consul
        .put(request("key", "kv/terraform/trial"), &json!(1))
        .await
        .unwrap();

    let _: Value = control
        .post(request("itself", "auth/token/revoke-self"), &json!({}))
        .await
        .unwrap();
    for nomad in nomads {
        eventually("a revoked token of Nomad", async || {
            let itself = nomad.get::<Value>(request("itself", "acl/token/self")).await;
            itself.is_err().then_some(())
        })
        .await;
    }
    eventually("a revoked token of Consul", async || {
        let itself = consul.get::<Value>(request("itself", "acl/token/self")).await;
        itself.is_err().then_some(())
    })
    .await;
}

fn no_secret_is_open_to_others(trial: &Trial) {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for entry in fs::read_dir(trial.root.join("secrets")).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_str().unwrap().ends_with("-trial") {
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    }
    assert_eq!(mode(&trial.root.join("log/vault-audit.log")), 0o600);
    for name in ["secrets", "consul", "vault", "nomad", "log"] {
        assert_eq!(mode(&trial.root.join(name)), 0o700, "{name}");
    }
    let token = fs::read_to_string(trial.root.join("secrets/eos-operator-vault-token")).unwrap();
    for entry in fs::read_dir(trial.root.join("log")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!text.contains("hunter2") && !text.contains(token.trim()));
    }
}

#[tokio::test]
async fn what_was_killed_of_the_full_lab_is_repaired() {
    let Some(trial) = Trial::full(0).await else {
        return;
    };
    // A Vault that was initialised by a program that was killed before it could write the key down.
    trial.up().await;
    trial.kill("vault").await;
    fs::remove_file(trial.root.join("secrets/vault-init.json")).unwrap();
    let refused = trial
        .lab
        .up(&trial.engines, &trial.input(), &Told)
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("with its key is gone"), "{refused}");
    fs::remove_file(trial.root.join("vault/initialised")).unwrap();
    trial.up().await;

    trial.start_job().await;
    let task = trial.wait_for_job().await;
    trial.keep_secret("web", "hunter2").await;
    let engines = ["consul", "vault", "nomad"];
    for killed in engines
        .map(|name| vec![name])
        .into_iter()
        .chain([engines.to_vec()])
    {
        for name in &killed {
            trial.kill(name).await;
        }
        let begun = Instant::now();
        trial.up().await;
        println!("killed {killed:?}, up after {:.1?}", begun.elapsed());
        trial.assert_all_ready().await;
        assert_eq!(trial.wait_for_job().await, task, "the task went on meanwhile");
        assert_eq!(trial.secret("web").await.as_deref(), Some("hunter2"));
        assert_eq!(trial.plugins(), 2, "none outlives the Vault that started it");
    }
    for name in engines {
        trial.kill(name).await;
    }
    trial.lab.down(&Told).await.unwrap();
    assert_eq!(trial.processes(), Vec::<String>::new());
    trial.end().await;
}

#[tokio::test]
async fn two_full_labs_with_nodes_do_not_meet() {
    let (Some(one), Some(other)) = (Trial::full(2).await, Trial::full(0).await) else {
        return;
    };
    let (first, second) = tokio::join!(one.up(), other.up());
    assert_ne!(first.consul, second.consul);
    assert_ne!(first.vault, second.vault);
    one.keep_secret("web", "hunter2").await;
    assert_eq!(other.secret("web").await, None);
    let status = one.status().await;
    for node in ["node1", "node2"] {
        for engine in ["salt-minion", "nomad", "consul"] {
            assert!(status[&format!("{engine}-{node}")].ready, "{engine} of {node}");
        }
    }
    each_node_runs_one(&one, "consul").await;

    // Nomad takes services that it does not know out of its Consul agent: not those of another node.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let found = one.consul().service("pair").await.unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    let passing = |found: &eos_engine::consul::ServiceHealth| {
        found.checks.iter().all(|check| check.status == "passing")
    };
    assert!(found.iter().all(passing), "{found:?}");
    one.end().await;
    other.assert_all_ready().await;
    other.end().await;
}

#[tokio::test]
async fn a_solo_lab_has_nodes_too() {
    let Some(mut trial) = Trial::new("lab").await else {
        return;
    };
    trial.up().await;
    trial.nodes = 2;
    let endpoints = trial.up().await;
    trial.assert_all_ready().await;
    let salt = SaltClient::new(&endpoints.salt).unwrap();
    for node in ["node1", "node2"] {
        salt.call(node, "test.ping", json!({}), Duration::from_secs(15))
            .await
            .unwrap();
    }
    each_node_runs_one(&trial, "nomad").await;
    trial.kill("nomad-node1").await;
    trial.kill("salt-minion-node2").await;
    trial.up().await;
    trial.assert_all_ready().await;
    let nodes = trial.lab.nodes().unwrap();
    trial.end().await;
    for node in nodes.iter().filter(|node| node.is_apart) {
        let address = node.address.parse::<std::net::Ipv4Addr>().unwrap();
        assert!(
            std::net::UdpSocket::bind((address, 0)).is_err(),
            "{address} is still there"
        );
    }
}

/// On the same port, where each has an address of its own.
async fn each_node_runs_one(trial: &Trial, provider: &str) {
    let nodes = trial.lab.nodes().unwrap();
    let free = std::net::TcpListener::bind("0.0.0.0:0").unwrap();
    let port = if nodes.iter().all(|node| node.is_apart) {
        format!("static = {}", free.local_addr().unwrap().port())
    } else {
        String::new()
    };
    drop(free);
    let python = trial.engines.salt.path.join("python");
    let job = PAIR
        .replace("HERE", &port)
        .replace("PROVIDER", provider)
        .replace("PYTHON", python.to_str().unwrap());
    trial.run(&job).await;
    let on = eventually("an instance on each node", async || {
        let all = trial.nomad().job_allocations("default", "pair").await.unwrap();
        let healthy = all.iter().filter(|found| found.healthy() == Some(true));
        let mut on: Vec<String> = healthy.map(|found| found.node_name.clone()).collect();
        on.sort();
        (on.len() == 2).then_some(on)
    })
    .await;
    assert_eq!(on, ["node1", "node2"]);
}

/// The same as somebody without any rights, if the engines can be run by others than their owner.
#[test]
fn an_ordinary_user_has_a_full_lab() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65534;
    let Some([salt, consul, vault, plugins, nomad, terraform]) = given([
        "EOS_TEST_SALT",
        "EOS_TEST_CONSUL",
        "EOS_TEST_VAULT",
        "EOS_TEST_VAULT_PLUGINS",
        "EOS_TEST_NOMAD",
        "EOS_TEST_TERRAFORM",
    ]) else {
        return;
    };
    let as_nobody = |program: &Path| {
        let mut command = Command::new(program);
        command.uid(NOBODY).gid(NOBODY);
        command
    };
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let may_run = |program: &Path, argument: &Path| {
        let output = as_nobody(program).arg(argument).output();
        output.is_ok_and(|output| output.status.success())
    };
    let may_run_all = may_run(&salt.join("bin/python"), Path::new("--version"))
        && [consul, vault, nomad, terraform]
            .iter()
            .all(|program| may_run(program, Path::new("version")))
        && may_run(Path::new("/bin/ls"), &plugins);
    if !may_run_all {
        println!("skipped: this user cannot run the engines as another one");
        return;
    }
    let ran = as_nobody(&env::current_exe().unwrap())
        .args([
            "--exact",
            "--nocapture",
            "the_full_lab_keeps_secrets_and_gives_out_tokens",
        ])
        .env("TMPDIR", directory.path())
        .env("HOME", directory.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}
