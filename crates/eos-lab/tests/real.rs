//! The lab with the real engines. Needs EOS_TEST_SALT (a virtual environment with Salt), EOS_TEST_NOMAD and
//! EOS_TEST_TERRAFORM (programs); without them every test says that it was skipped.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use eos_engine::nomad::Request;
use eos_engine::{Endpoints, ErrorKind, NomadClient, SaltClient};
use eos_lab::{Advance, EngineStatus, Engines, FormulaFile, Lab, LabInput, Outcome, Progress, Step};
use serde_json::{Value, json};

const FORMULA: [FormulaFile<'static>; 2] = [
    (
        "_modules/eos.py",
        b"def info():\n    return {'version': __opts__['eos']['nomad_address']}\n",
    ),
    (
        "files/eos-deploy.policy.hcl",
        b"namespace \"*\" {\n  policy = \"write\"\n}\n",
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
    root: PathBuf,
    _directory: tempfile::TempDir,
}

impl Trial {
    async fn new(below: &str) -> Option<Trial> {
        let [salt, terraform, nomad] = ["EOS_TEST_SALT", "EOS_TEST_TERRAFORM", "EOS_TEST_NOMAD"]
            .map(|name| env::var_os(name).map(PathBuf::from));
        let (Some(salt), Some(terraform), Some(nomad)) = (salt, terraform, nomad) else {
            println!(
                "skipped: EOS_TEST_SALT, EOS_TEST_TERRAFORM and EOS_TEST_NOMAD do not all name an engine"
            );
            return None;
        };
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap().join(below);
        let lab = Lab::at(&root).unwrap();
        let engines = Engines::given(&salt, &terraform, &nomad).await.unwrap();
        Some(Trial {
            lab,
            engines,
            root,
            _directory: directory,
        })
    }

    async fn up(&self) -> Endpoints {
        let input = LabInput {
            formula: &FORMULA,
            program: "/bin/sleep".into(),
            provider: "/bin/true".into(),
            containers: false,
        };
        self.lab
            .up(&self.engines, &input, &Told)
            .await
            .unwrap_or_else(|error| {
                let logs = ["salt-master", "salt-api", "salt-minion", "nomad"].map(|name| {
                    fs::read_to_string(self.root.join("log").join(format!("{name}.log"))).unwrap_or_default()
                });
                panic!("{error}\n{}", logs.join("\n--\n"))
            })
    }

    async fn status(&self) -> BTreeMap<&'static str, EngineStatus> {
        self.lab
            .status()
            .await
            .unwrap()
            .into_iter()
            .map(|engine| (engine.name, engine))
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
        let nomad = self.nomad();
        let job = nomad.parse(JOB, "").await.unwrap();
        let _: Value = nomad.post(JOBS, &json!({"Job": job})).await.unwrap();
        self.wait_for_job().await;
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

    // The best of three, since the machine may be busy with something else.
    let mut again = Duration::MAX;
    for _ in 0..3 {
        let begun = Instant::now();
        trial.up().await;
        again = again.min(begun.elapsed());
    }
    assert!(again < Duration::from_secs(2), "{again:?}");

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

    // The program's token reads and writes secrets, but does not run jobs.
    let nomad = NomadClient::new(&endpoints.nomad).unwrap();
    let variable = Request {
        object: "variable",
        path: "var/nomad/jobs/web",
        query: &[],
    };
    let secret = json!({"Path": "nomad/jobs/web", "Items": {"password": "kept"}});
    let _: Value = nomad.put(variable, &secret).await.unwrap();
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
    let kept: Value = nomad.get(variable).await.unwrap();
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
    let address = second.nomad.address.strip_prefix("http://").unwrap();
    let held = std::net::TcpListener::bind(address).unwrap();
    let input = LabInput {
        formula: &FORMULA,
        program: "/bin/sleep".into(),
        provider: "/bin/true".into(),
        containers: false,
    };
    let error = other.lab.up(&other.engines, &input, &Told).await.unwrap_err();
    let port = address.rsplit_once(':').unwrap().1;
    assert!(
        error
            .to_string()
            .contains(&format!("port {port} of nomad is taken")),
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
        "It has salt-master, salt-api, salt-minion, nomad, dockerd, docker-registry"
    );
    assert!(!Path::new(&lab.endpoints()).exists());
}
