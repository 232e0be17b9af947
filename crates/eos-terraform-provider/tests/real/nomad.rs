//! The provider `nomad`: jobs, namespaces and volumes.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::engine::{Caller, end, ports, signal, wait_until};
use crate::programs;
use crate::workspace::{Provider, Workspace, finished};

const PROVIDER: Provider = Provider {
    name: "nomad",
    version: "2.5.2",
};

/// A Nomad agent, server and client in one, below a directory of its own.
struct Nomad {
    agent: Child,
    caller: Caller,
    /// Where the agent keeps the directories of allocations.
    allocations: PathBuf,
}

impl Nomad {
    /// Without `keys` everybody may do everything; with them callers need a certificate and an ACL token.
    fn start(program: &Path, directory: &Path, keys: Option<&Keys>) -> Self {
        fs::create_dir_all(directory.join("tmp")).expect("the directory can be made");
        let [http, rpc, serf] = ports();
        let config = format!(
            r#"
            bind_addr            = "127.0.0.1"
            disable_update_check = true
            data_dir             = "{directory}/data"
            ports {{
              http = {http}
              rpc  = {rpc}
              serf = {serf}
            }}
            {security}
            client {{
              options = {{
                "fingerprint.denylist" = "env_aws,env_gce,env_azure,env_digitalocean,consul,vault"
              }}
            }}
            plugin "raw_exec" {{
              config {{
                enabled = true
              }}
            }}
            consul {{
              enabled = false
            }}
            "#,
            directory = directory.display(),
            security = keys.map(Keys::nomad_config).unwrap_or_default(),
        );
        let config_file = directory.join("nomad.hcl");
        fs::write(&config_file, config).expect("the configuration can be written");
        let log = fs::File::create(directory.join("nomad.log")).expect("the log can be made");
        let agent = Command::new(program)
            .args(["agent", "-dev", "-config"])
            .arg(&config_file)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("TMPDIR", directory.join("tmp"))
            .stdout(log.try_clone().expect("the log can be shared"))
            .stderr(log)
            .spawn()
            .expect("EOS_TEST_NOMAD can be started");
        let builder = reqwest::Client::builder();
        let (scheme, builder) = match keys {
            Some(keys) => ("https", keys.trusted_by(builder)),
            None => ("http", builder),
        };
        let address = format!("{scheme}://127.0.0.1:{http}");
        let mut nomad = Self {
            agent,
            caller: Caller::new(address, "X-Nomad-Token", builder),
            allocations: directory.join("data/alloc"),
        };
        if keys.is_some() {
            let secret = "5ad1c4b0-7a3e-4c0f-9a53-2f6f4a1f0c11";
            wait_until("ACL bootstrap", Duration::from_secs(60), || {
                nomad
                    .call(
                        "POST",
                        "/v1/acl/bootstrap",
                        Some(json!({"BootstrapSecret": secret})),
                    )
                    .0
                    == 200
            });
            nomad.caller.token = Some(secret.to_owned());
        }
        wait_until("a ready node", Duration::from_secs(60), || {
            let nodes = nomad.call("GET", "/v1/nodes", None).1;
            nodes[0]["Status"] == "ready" && nodes[0]["Drivers"]["raw_exec"]["Healthy"] == true
        });
        nomad
    }
}

impl std::ops::Deref for Nomad {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.caller
    }
}

/// Certificates of an authority, of Nomad and of its caller, as files.
struct Keys(PathBuf);

impl Keys {
    fn make(directory: &Path) -> Self {
        fs::create_dir_all(directory).expect("the directory can be made");
        let write = |name: &str, text: String| fs::write(directory.join(name), text).expect("a key file");
        let authority_key = rcgen::KeyPair::generate().expect("a key");
        let mut authority = rcgen::CertificateParams::new(Vec::new()).expect("parameters");
        authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        write(
            "ca.pem",
            authority.self_signed(&authority_key).expect("an authority").pem(),
        );
        let issuer = rcgen::Issuer::new(authority, authority_key);
        for (name, subject) in [("server", "127.0.0.1"), ("client", "caller")] {
            let key = rcgen::KeyPair::generate().expect("a key");
            let parameters = rcgen::CertificateParams::new(vec![subject.to_owned()]).expect("parameters");
            let certificate = parameters.signed_by(&key, &issuer).expect("a certificate");
            write(&format!("{name}.pem"), certificate.pem());
            write(&format!("{name}.key"), key.serialize_pem());
        }
        Self(directory.to_owned())
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn nomad_config(&self) -> String {
        format!(
            "acl {{\n enabled = true\n }}\n tls {{\n http = true\n verify_https_client = true\n ca_file = \"{}\"\n \
             cert_file = \"{}\"\n key_file = \"{}\"\n }}",
            self.file("ca.pem"),
            self.file("server.pem"),
            self.file("server.key"),
        )
    }

    fn trusted_by(&self, client: reqwest::ClientBuilder) -> reqwest::ClientBuilder {
        let read = |name: &str| fs::read_to_string(self.file(name)).expect("a key file");
        let authority = reqwest::Certificate::from_pem(read("ca.pem").as_bytes()).expect("the authority");
        let identity = reqwest::Identity::from_pem((read("client.pem") + &read("client.key")).as_bytes());
        client
            .tls_certs_only([authority])
            .identity(identity.expect("the identity"))
    }
}

impl Drop for Nomad {
    /// Tasks outlive their agent, so what a failed test left running is stopped first.
    fn drop(&mut self) {
        let jobs = self.call("GET", "/v1/jobs?namespace=*", None).1;
        for job in jobs.as_array().into_iter().flatten() {
            let path = format!(
                "/v1/job/{}?namespace={}",
                text(&job["ID"]),
                text(&job["Namespace"])
            );
            self.call("DELETE", &path, None);
        }
        let wait = |done: &dyn Fn() -> bool| {
            let start = Instant::now();
            while !done() && start.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(100));
            }
        };
        wait(&|| {
            let allocations = self.call("GET", "/v1/allocations?namespace=*", None).1;
            let ended =
                |allocation: &Json| !matches!(text(&allocation["ClientStatus"]), "pending" | "running");
            allocations
                .as_array()
                .is_none_or(|allocations| allocations.iter().all(ended))
        });
        // Directories of ended allocations hold mounts until they are collected.
        wait(&|| {
            self.call("PUT", "/v1/system/gc", None);
            fs::read_dir(&self.allocations).map_or(true, |mut left| left.next().is_none())
        });
        end(&mut self.agent);
    }
}

fn text(answer: &Json) -> &str {
    answer.as_str().unwrap_or_default()
}

/// A job with one shell task; `group` is HCL that goes into its group.
fn job(id: &str, script: &str, group: &str) -> String {
    format!(
        r#"
job "{id}" {{
  group "main" {{
    restart {{
      attempts = 0
      mode     = "fail"
    }}
    reschedule {{
      attempts  = 0
      unlimited = false
    }}
    {group}
    task "shell" {{
      driver = "raw_exec"
      config {{
        command = "/bin/sh"
        args    = ["-c", "{script}"]
      }}
      resources {{
        cpu    = 10
        memory = 20
      }}
    }}
  }}
}}
"#
    )
}

const QUICK: &str =
    "update {\n min_healthy_time = \"1s\"\n healthy_deadline = \"20s\"\n progress_deadline = \"30s\"\n }";

const WEB: &str = r#"
resource "nomad_job" "web" {
  jobspec          = file("web.nomad.hcl")
  detach           = false
  purge_on_destroy = true
  hcl2 {
    vars = {
      nasty = file("nasty.txt")
      zones = "[\"*\"]"
    }
  }
}
"#;

/// Everything that an escape could get wrong.
const NASTY: &str = "say \"hi\"\\n\n${var.x} $${y} %{ if true } %%{z} 100% $5 \t back\\slash ünïcode";

fn web() -> String {
    let job = job("web", "sleep 600", QUICK).replacen(
        "{\n  group",
        "{\n  datacenters = var.zones\n  meta {\n    nasty = var.nasty\n  }\n  group",
        1,
    );
    format!(
        "variable \"nasty\" {{\n  type = string\n}}\nvariable \"zones\" {{\n  type = list(string)\n}}\n{job}"
    )
}

#[test]
fn jobs_namespaces_and_volumes() {
    let Some((nomad, terraform)) = programs("EOS_TEST_NOMAD") else {
        return;
    };
    let root = tempfile::tempdir().expect("a directory for the test");
    let nomad = Nomad::start(&nomad, &root.path().join("nomad"), None);
    let environment = vec![("NOMAD_ADDR", nomad.address.clone())];
    let workspace = |name: &str| Workspace::new(&terraform, root.path(), PROVIDER, name, environment.clone());

    life_of_a_job(&nomad, &workspace("job"), &workspace("import"));
    broken_jobs(&nomad, &workspace("broken"));
    interrupt(&nomad, &workspace("interrupt"));
    namespace(&nomad, &workspace("namespace"));
    volume(&nomad, &workspace("volume"), &root.path().join("data"));
    batch(&nomad, &workspace("batch"));
    text_from_elsewhere(&nomad, &workspace("text"));
}

fn life_of_a_job(nomad: &Nomad, workspace: &Workspace<'_>, import: &Workspace<'_>) {
    workspace.write(&[WEB]);
    workspace.file("web.nomad.hcl", &web());
    workspace.file("nasty.txt", NASTY);
    workspace.plan().expect(2, &["1 to add"]);
    workspace.apply().expect(0, &["1 added"]);
    assert_eq!(
        workspace.attributes("nomad_job.web")["deployment_status"],
        "successful"
    );
    let job = nomad.get("/v1/job/web");
    assert_eq!(job["Meta"]["nasty"], NASTY, "the value reached the job as it was");
    assert_eq!(job["Datacenters"], json!(["*"]));
    workspace.plan().expect(0, &["No changes"]);

    // Import into an empty Terraform state restores text and variables; only flags differ, and to set them
    // does not touch the job.
    import.write(&[WEB]);
    import.file("web.nomad.hcl", &web());
    import.file("nasty.txt", NASTY);
    import
        .run(&["import", "nomad_job.web", "web@default"])
        .expect(0, &["Import successful"]);
    let imported = import.plan().expect(2, &["0 to add, 1 to change, 0 to destroy"]);
    assert!(
        !imported.says("~ jobspec") && !imported.says("hcl2 {"),
        "{}",
        imported.words
    );
    import.apply().expect(0, &["1 changed"]);
    assert_eq!(nomad.get("/v1/job/web")["JobModifyIndex"], job["JobModifyIndex"]);
    import.plan().expect(0, &["No changes"]);

    // A hand edit is drift, named field by field.
    let mut edited = nomad.get("/v1/job/web");
    edited["TaskGroups"][0]["Count"] = json!(2);
    assert_eq!(
        nomad.call("POST", "/v1/jobs", Some(json!({"Job": edited}))).0,
        200
    );
    workspace.plan().expect(
        2,
        &[
            "Job web was changed outside of Terraform",
            "group main: Count 2 -> 1",
            "0 to add, 1 to change",
        ],
    );
    workspace.apply().expect(0, &["1 changed"]);
    assert_eq!(nomad.get("/v1/job/web")["TaskGroups"][0]["Count"], 1);
    workspace.plan().expect(0, &["No changes"]);

    // An update that does not get healthy: the text is in the Terraform state, and the plan goes on saying
    // that the job is broken, though there is nothing to change.
    workspace.file(
        "web.nomad.hcl",
        &web().replace("sleep 600", "echo out of luck >&2; exit 1"),
    );
    workspace
        .apply()
        .expect(1, &["Deployment of job web ended failed", "Exit Code: 1"]);
    workspace
        .plan()
        .expect(0, &["The last deployment of job web failed"]);
    // Another text of the same job is registered again, and is as broken.
    workspace.file(
        "web.nomad.hcl",
        &format!(
            "# again\n{}",
            web().replace("sleep 600", "echo out of luck >&2; exit 1")
        ),
    );
    workspace
        .apply()
        .expect(1, &["Deployment of job web ended failed"]);

    // Another ID is another job; the old one is stopped.
    workspace.file("web.nomad.hcl", &web().replace("job \"web\"", "job \"web2\""));
    workspace.apply().expect(0, &["1 changed"]);
    assert_eq!(nomad.call("GET", "/v1/job/web", None).0, 404);
    assert_eq!(nomad.get("/v1/job/web2")["Stop"], false);
    workspace.destroy().expect(0, &["1 destroyed"]);
    assert_eq!(nomad.call("GET", "/v1/job/web2", None).0, 404);
}

fn broken_jobs(nomad: &Nomad, workspace: &Workspace<'_>) {
    let broken = |more: &str| {
        format!(
            "resource \"nomad_job\" \"broken\" {{\n  jobspec = file(\"broken.nomad.hcl\")\n  detach = false\n  \
             purge_on_destroy = true\n{more}}}\n"
        )
    };
    workspace.write(&[&broken("")]);

    workspace.file("broken.nomad.hcl", "job \"broken\" {");
    // Terraform points at the attribute: file, line and text.
    workspace.plan().expect(
        1,
        &[
            "Nomad cannot read the jobspec",
            "jobspec = file(\"broken.nomad.hcl\")",
            "Unclosed configuration block",
        ],
    );

    workspace.file("broken.nomad.hcl", &job("broken", "sleep 600", "count = -1"));
    workspace
        .plan()
        .expect(1, &["Nomad refuses job broken", "count can't be negative"]);

    workspace.file("broken.nomad.hcl", &job("broken", "sleep 600", ""));
    workspace.write(&[&broken("hcl2 {\n allow_fs = true\n }\n")]);
    workspace.plan().expect(1, &["allow_fs cannot work"]);
    workspace.write(&[&broken("hcl2 {\n vars = { typo = \"x\" }\n }\n")]);
    workspace
        .plan()
        .expect(1, &["The jobspec declares no variable typo"]);
    workspace.write(&[&broken("timeouts {\n create = \"soon\"\n }\n")]);
    workspace.plan().expect(1, &["timeouts.create is not a duration"]);

    // A task that dies: the error tells how, and the job is in the Terraform state, to be replaced.
    workspace.write(&[&broken("")]);
    workspace.file(
        "broken.nomad.hcl",
        &job(
            "broken",
            "echo database $((40 + 2)) is not there >&2; exit 3",
            QUICK,
        ),
    );
    let failed = workspace.apply().expect(
        1,
        &[
            "Deployment of job broken ended failed",
            "Exit Code: 3",
            "Its output: nomad alloc logs -stderr",
        ],
    );
    // What a task writes may be a secret, and Terraform's words are kept in many a log.
    assert!(!failed.words.contains("database 42"), "{}", failed.words);
    workspace.plan().expect(2, &["nomad_job.broken is tainted"]);
    workspace.destroy().expect(0, &["1 destroyed"]);

    // A job that no node can take.
    let large = job("broken", "sleep 600", QUICK).replace("memory = 20", "memory = 900000000");
    workspace.file("broken.nomad.hcl", &large);
    workspace.plan().expect(
        2,
        &[
            "Nomad could not place job broken now",
            "not enough memory on 1 node",
        ],
    );
    let begun = Instant::now();
    workspace.apply().expect(
        1,
        &[
            "Nomad cannot place job broken",
            "group main: not enough memory on 1 node",
        ],
    );
    let took = begun.elapsed();
    assert!(
        took > Duration::from_secs(15) && took < Duration::from_secs(28),
        "{took:?}"
    );
    workspace.destroy().expect(0, &["1 destroyed"]);

    // One that another job leaves no room for, until that is stopped.
    let memory = nomad.get("/v1/nodes?resources=true")[0]["NodeResources"]["Memory"]["MemoryMB"].as_u64();
    let most = format!("memory = {}", memory.expect("a node has memory") * 6 / 10);
    let hog = job("hog", "sleep 600", QUICK).replace("memory = 20", &most);
    let hog = nomad
        .call("POST", "/v1/jobs/parse", Some(json!({"JobHCL": hog})))
        .1;
    assert_eq!(nomad.call("POST", "/v1/jobs", Some(json!({"Job": hog}))).0, 200);
    wait_until("the hog is placed", Duration::from_secs(20), || {
        nomad.get("/v1/job/hog/allocations")[0]["ClientStatus"] == "running"
    });
    workspace.file(
        "broken.nomad.hcl",
        &job("broken", "sleep 600", QUICK).replace("memory = 20", &most),
    );
    std::thread::scope(|scope| {
        let applied = scope.spawn(|| workspace.apply());
        wait_until("the job waits for a place", Duration::from_secs(20), || {
            let evaluations = nomad.call("GET", "/v1/job/broken/evaluations", None).1;
            let blocked = |evaluation: &Json| evaluation["Status"] == "blocked";
            evaluations
                .as_array()
                .is_some_and(|found| found.iter().any(blocked))
        });
        nomad.call("DELETE", "/v1/job/hog?purge=true", None);
        applied.join().expect("terraform ran").expect(0, &["1 added"]);
    });
    workspace.destroy().expect(0, &["1 destroyed"]);
    let foreign = job("broken", "sleep 600", QUICK).replace("\"raw_exec\"", "\"no_such_driver\"");
    workspace.file("broken.nomad.hcl", &foreign);
    workspace
        .apply()
        .expect(1, &["missing drivers (asked for: no_such_driver) on 1 node"]);
    workspace.destroy().expect(0, &["1 destroyed"]);

    // A deployment that takes longer than allowed.
    workspace.write(&[&broken("timeouts {\n create = \"2s\"\n }\n")]);
    let slow =
        "update {\n min_healthy_time = \"60s\"\n healthy_deadline = \"90s\"\n progress_deadline = \"2m\"\n }";
    workspace.file("broken.nomad.hcl", &job("broken", "sleep 600", slow));
    workspace
        .apply()
        .expect(1, &["Job broken was not healthy within 2 s", "task shell:"]);
    workspace.destroy().expect(0, &["1 destroyed"]);
    assert_eq!(nomad.call("GET", "/v1/job/broken", None).0, 404);
}

fn interrupt(nomad: &Nomad, workspace: &Workspace<'_>) {
    let slow =
        "update {\n min_healthy_time = \"60s\"\n healthy_deadline = \"90s\"\n progress_deadline = \"2m\"\n }";
    workspace.file("slow.nomad.hcl", &job("slow", "sleep 600", slow));
    workspace.write(&[
        "resource \"nomad_job\" \"slow\" {\n  jobspec = file(\"slow.nomad.hcl\")\n  detach = false\n  \
         purge_on_destroy = true\n}\n",
    ]);
    let mut apply = workspace.command(&["apply", "-input=false", "-auto-approve"]);
    let apply = apply
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("terraform");
    wait_until("the job is registered", Duration::from_secs(30), || {
        nomad.call("GET", "/v1/job/slow", None).1["Status"] == "running"
    });
    // As the keyboard does it: to the whole group, the provider included.
    signal("INT", &format!("-{}", apply.id()));
    let interrupted = Instant::now();
    let output = apply.wait_with_output().expect("terraform ends");
    finished(&output).expect(1, &["Interrupted before job slow was healthy"]);
    assert!(
        interrupted.elapsed() < Duration::from_secs(20),
        "{:?}",
        interrupted.elapsed()
    );
    assert_eq!(workspace.attributes("nomad_job.slow")["id"], "slow");
    workspace.destroy().expect(0, &["1 destroyed"]);
    assert_eq!(nomad.call("GET", "/v1/job/slow", None).0, 404);
}

fn namespace(nomad: &Nomad, workspace: &Workspace<'_>) {
    let namespace = |description: &str, meta: &str| {
        format!(
            "resource \"nomad_namespace\" \"production\" {{\n  name = \"production\"\n  description = \
             \"{description}\"\n{meta}  capabilities {{\n    disabled_task_drivers = [\"exec\"]\n  }}\n}}\n"
        )
    };
    workspace.write(&[&namespace("for people", "  meta = { owner = \"eos\" }\n")]);
    workspace.apply().expect(0, &["1 added"]);
    let made = nomad.get("/v1/namespace/production");
    assert_eq!(
        (&made["Description"], &made["Meta"]["owner"]),
        (&json!("for people"), &json!("eos"))
    );
    assert_eq!(made["Capabilities"]["DisabledTaskDrivers"], json!(["exec"]));
    workspace.plan().expect(0, &["No changes"]);

    workspace.write(&[&namespace("for all", "")]);
    workspace.apply().expect(0, &["1 changed"]);
    let changed = nomad.get("/v1/namespace/production");
    assert_eq!(changed["Description"], "for all");
    assert!(
        changed["Meta"].as_object().is_none_or(serde_json::Map::is_empty),
        "{changed}"
    );
    workspace.plan().expect(0, &["No changes"]);

    // Taken out of the Terraform state and brought back.
    workspace
        .run(&["state", "rm", "nomad_namespace.production"])
        .expect(0, &[]);
    workspace
        .plan()
        .expect(2, &["Namespace production exists in Nomad already"]);
    workspace
        .run(&["import", "nomad_namespace.production", "production"])
        .expect(0, &["Import successful"]);
    workspace.plan().expect(0, &["No changes"]);

    // A job in it is stopped first when both go.
    workspace.file(
        "inside.nomad.hcl",
        &job("inside", "sleep 600", QUICK).replacen("{\n", "{\n  namespace = \"production\"\n", 1),
    );
    workspace.write(&[
        &namespace("for all", ""),
        "resource \"nomad_job\" \"inside\" {\n  jobspec = file(\"inside.nomad.hcl\")\n  purge_on_destroy = true\n  \
         depends_on = [nomad_namespace.production]\n}\n",
    ]);
    workspace.apply().expect(0, &["1 added"]);
    assert_eq!(
        workspace.attributes("nomad_job.inside")["namespace"],
        "production"
    );
    workspace.destroy().expect(0, &["2 destroyed"]);
    assert_eq!(nomad.call("GET", "/v1/namespace/production", None).0, 404);
}

fn volume(nomad: &Nomad, workspace: &Workspace<'_>, data: &Path) {
    fs::create_dir_all(data).expect("the directory of the volume can be made");
    let node = nomad.get("/v1/nodes")[0]["ID"]
        .as_str()
        .expect("a node has an ID")
        .to_owned();
    let volume = |path: &str| {
        format!(
            "resource \"nomad_dynamic_host_volume_registration\" \"data\" {{\n  name = \"data\"\n  node_id = \
             \"{node}\"\n  host_path = \"{path}\"\n  capacity = \"1GiB\"\n  capability {{\n    access_mode = \
             \"single-node-writer\"\n    attachment_mode = \"file-system\"\n  }}\n}}\n"
        )
    };
    workspace.write(&[&volume("/no/such/directory")]);
    workspace.apply().expect(
        1,
        &[
            "Nomad refuses volume data",
            "The directory must exist on the node first",
        ],
    );

    let mounting = job(
        "mounting",
        "echo hello > /proc/self/cwd/mounted; sleep 600",
        &format!(
            "{QUICK}\n volume \"data\" {{\n type = \"host\"\n source = \"data\"\n access_mode = \
         \"single-node-writer\"\n attachment_mode = \"file-system\"\n }}"
        ),
    );
    workspace.file("mounting.nomad.hcl", &mounting);
    workspace.write(&[
        &volume(&data.display().to_string()),
        "resource \"nomad_job\" \"mounting\" {\n  jobspec = file(\"mounting.nomad.hcl\")\n  detach = false\n  \
         purge_on_destroy = true\n  depends_on = [nomad_dynamic_host_volume_registration.data]\n}\n",
    ]);
    workspace.apply().expect(0, &["2 added"]);
    let registered = workspace.attributes("nomad_dynamic_host_volume_registration.data");
    assert_eq!(
        (&registered["state"], &registered["capacity_bytes"]),
        (&json!("ready"), &json!(1 << 30))
    );
    workspace.plan().expect(0, &["No changes"]);
    let id = registered["id"].as_str().expect("a volume has an ID").to_owned();
    let path = format!("/v1/volume/host/{id}");

    // In use by a job that Terraform does not know any more.
    workspace
        .run(&["state", "rm", "nomad_job.mounting"])
        .expect(0, &[]);
    workspace.write(&[&volume(&data.display().to_string())]);
    workspace
        .destroy()
        .expect(1, &["Volume data is in use", "job mounting, allocation"]);
    assert_eq!(nomad.get(&path)["State"], "ready");

    // Brought back by import; the job of the same configuration ends first.
    workspace
        .run(&["state", "rm", "nomad_dynamic_host_volume_registration.data"])
        .expect(0, &[]);
    let import = ["import", "nomad_dynamic_host_volume_registration.data", &id];
    workspace.run(&import).expect(0, &["Import successful"]);
    workspace.apply().expect(0, &["0 added"]);
    assert_eq!(nomad.call("DELETE", "/v1/job/mounting?purge=true", None).0, 200);
    workspace.destroy().expect(0, &["1 destroyed"]);
    assert_eq!(nomad.call("GET", &path, None).0, 404);
    assert!(data.is_dir(), "deregistering leaves the directory alone");
}

fn batch(nomad: &Nomad, workspace: &Workspace<'_>) {
    let batch = job("once", "exit 0", "").replacen("{\n", "{\n  type = \"batch\"\n", 1);
    workspace.file("once.nomad.hcl", &batch);
    workspace.write(&[
        "resource \"nomad_job\" \"once\" {\n  jobspec = file(\"once.nomad.hcl\")\n  rerun_if_dead = true\n  \
         purge_on_destroy = true\n}\n",
    ]);
    workspace.apply().expect(0, &["1 added"]);
    let run = || nomad.get("/v1/job/once/allocations")[0]["ID"].clone();
    let dead = || nomad.get("/v1/job/once")["Status"] == "dead";
    wait_until("the batch job ran", Duration::from_secs(30), dead);
    let first = run();
    workspace.plan().expect(2, &["1 to change"]);
    workspace.apply().expect(0, &["1 changed"]);
    wait_until("the batch job ran again", Duration::from_secs(30), || {
        run() != first && dead()
    });
    workspace.destroy().expect(0, &["1 destroyed"]);
}

/// A job whose text another resource makes, as JSON: at the first plan nothing of it is known.
fn text_from_elsewhere(nomad: &Nomad, workspace: &Workspace<'_>) {
    let group = json!({"Name": "main", "Count": 1, "Tasks": [
        {"Name": "shell", "Driver": "raw_exec", "Config": {"command": "/bin/sleep", "args": ["600"]}},
    ]});
    workspace.file(
        "text.json",
        &json!({"Job": {"ID": "text", "TaskGroups": [group]}}).to_string(),
    );
    workspace.write(&[
        "resource \"terraform_data\" \"text\" {\n  input = file(\"text.json\")\n}\n",
        "resource \"nomad_job\" \"text\" {\n  jobspec = terraform_data.text.output\n  json = true\n  \
         read_allocation_ids = true\n  deregister_on_destroy = false\n}\n",
    ]);
    workspace
        .plan()
        .expect(2, &["2 to add", "id = (known after apply)"]);
    workspace.apply().expect(0, &["2 added"]);
    wait_until("the job runs", Duration::from_secs(30), || {
        nomad.get("/v1/job/text")["Status"] == "running"
    });
    workspace.plan().expect(0, &["No changes"]);
    workspace
        .run(&["apply", "-refresh-only", "-auto-approve"])
        .expect(0, &[]);
    let allocation = nomad.get("/v1/job/text/allocations")[0]["ID"].clone();
    assert_eq!(
        workspace.attributes("nomad_job.text")["allocation_ids"],
        json!([allocation])
    );
    workspace
        .destroy()
        .expect(0, &["2 destroyed", "Job text keeps running in Nomad"]);
    assert_eq!(nomad.get("/v1/job/text")["Stop"], false);

    // Back under Terraform, stopped by hand, then forgotten by hand.
    workspace.plan().expect(2, &["2 to add"]);
    workspace.apply().expect(0, &["2 added"]);
    workspace.plan().expect(0, &["No changes"]);
    assert_eq!(nomad.call("DELETE", "/v1/job/text", None).0, 200);
    workspace.plan().expect(2, &["1 to change", "Stop true -> false"]);
    assert_eq!(nomad.call("DELETE", "/v1/job/text?purge=true", None).0, 200);
    workspace.plan().expect(2, &["1 to add"]);
}

#[test]
fn certificates_and_token_open_the_door_and_are_never_shown() {
    let Some((nomad, terraform)) = programs("EOS_TEST_NOMAD") else {
        return;
    };
    let root = tempfile::tempdir().expect("a directory for the test");
    let keys = Keys::make(&root.path().join("keys"));
    let nomad = Nomad::start(&nomad, &root.path().join("nomad"), Some(&keys));
    let token = nomad.token.clone().expect("the ACL system was bootstrapped");
    let resource = "resource \"nomad_namespace\" \"locked\" {\n  name = \"locked\"\n}\n";

    let address = ("NOMAD_ADDR", nomad.address.clone());
    let stranger = Workspace::new(
        &terraform,
        root.path(),
        PROVIDER,
        "stranger",
        vec![address.clone()],
    );
    stranger.write(&[resource]);
    stranger
        .apply()
        .expect(1, &["nomad does not answer GET /v1/namespace/locked"]);

    let provider = format!(
        "provider \"nomad\" {{\n  ca_file = \"{}\"\n  cert_file = \"{}\"\n  key_pem = file(\"{}\")\n}}\n",
        keys.file("ca.pem"),
        keys.file("client.pem"),
        keys.file("client.key"),
    );
    stranger.write(&[&provider, resource]);
    stranger
        .apply()
        .expect(1, &["Permission denied", "lacks the right to do this"]);

    let environment = vec![
        address,
        ("NOMAD_TOKEN", token.clone()),
        ("TF_LOG", "trace".to_owned()),
    ];
    let with = Workspace::new(&terraform, root.path(), PROVIDER, "with", environment);
    with.write(&[&provider, resource]);
    let applied = with.apply().expect(0, &["1 added"]);
    let stored = fs::read_to_string(with.directory.join("terraform.tfstate")).expect("the Terraform state");
    for (place, text) in [("trace log", &applied.words), ("Terraform state", &stored)] {
        assert!(!text.contains(&token), "the {place} holds the token");
        assert!(!text.contains("PRIVATE KEY"), "the {place} holds the key");
    }
    with.destroy().expect(0, &["1 destroyed"]);
}
