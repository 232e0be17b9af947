//! The client of Salt against a real master, API and minion, and against each of them dead.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::process::{EngineProcess, engine_of, eventually, free_port};
use eos_engine::{EngineError, ErrorKind, SaltClient, SaltEndpoint, StepCall, Token, env_names};
use jiff::Timestamp;
use secrecy::SecretString;
use serde_json::{Value, json};
use sha2::{Digest, Sha512};

const PASSWORD: &str = "correct horse battery staple";
const LIMIT: Duration = Duration::from_secs(90);
const CALL: Duration = Duration::from_secs(30);
/// What the client promises about dead engines, with room for a busy machine.
const NOTICED: Duration = Duration::from_secs(80);

struct Salt {
    programs: String,
    /// Short, because Unix sockets lie below it.
    directory: tempfile::TempDir,
    endpoint: SaltEndpoint,
}

#[tokio::test]
async fn salt_is_called_followed_and_missed() {
    let Some(environment) = engine_of(env_names::TEST_SALT) else {
        return;
    };
    let salt = Salt::prepare(&environment);
    let mut master = salt.start("salt-master", "etc");
    let mut api = salt.start("salt-api", "etc");
    let mut minion = salt.start("salt-minion", "minion");
    let whole = async {
        let client = salt.ready().await;
        refusals_differ(&salt, &client).await;
        only_the_pinned_certificate_is_trusted(&salt).await;
        an_expired_token_is_renewed_once(&salt).await;
        a_step_is_followed_to_its_end(&client).await;
        a_failed_step_gives_its_record(&client).await;
        a_step_that_never_ends_has_a_deadline(&client).await;
        a_lost_stream_does_not_lose_the_step(&salt, &client, &mut api).await;
        a_dead_minion_is_noticed(&client, &mut minion).await;
        minion = salt.start("salt-minion", "minion");
        salt.ready().await;
        a_dead_master_is_noticed(&client, &mut master).await;
    };
    tokio::time::timeout(Duration::from_secs(400), whole)
        .await
        .expect("the whole test has a time limit");
    drop((minion, api, master));
}

impl Salt {
    fn prepare(environment: &str) -> Salt {
        let directory = tempfile::Builder::new().prefix("eos").tempdir_in("/tmp").unwrap();
        let root = directory.path();
        for folder in ["etc", "minion", "srv/_modules", "pillar"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let formula = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engines/formula.py");
        std::fs::copy(formula, root.join("srv/_modules/eos.py")).unwrap();
        make_certificate(root, "salt");
        make_certificate(root, "other");
        std::fs::write(root.join("password"), format!("{PASSWORD}\n")).unwrap();
        let digest: String = Sha512::digest(PASSWORD)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        std::fs::write(root.join("users"), format!("eos:{digest}\n")).unwrap();

        let [publish, returns, api] = [(); 3].map(|()| free_port());
        let user = String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout).unwrap();
        let user = user.trim();
        let at = root.display();
        let master = format!(
            r"
user: {user}
root_dir: {at}/m
pki_dir: {at}/m/pki
cachedir: {at}/m/cache
sock_dir: {at}/m/sock
pidfile: {at}/m/master.pid
api_pidfile: {at}/m/api.pid
log_file: {at}/master.log
api_logfile: {at}/api.log
token_dir: {at}/m/tokens
sqlite_queue_dir: {at}/m/queues
conf_file: {at}/etc/master
interface: 127.0.0.1
publish_port: {publish}
ret_port: {returns}
worker_threads: 2
auto_accept: True
file_roots: {{base: ['{at}/srv']}}
pillar_roots: {{base: ['{at}/pillar']}}
netapi_enable_clients: [local, local_async]
external_auth:
  file:
    ^filename: {at}/users
    ^hashtype: sha512
    eos:
      - 'control': [test.ping, saltutil.find_job, saltutil.sync_all, eos.info, eos.make, eos.status]
rest_cherrypy: {{host: 127.0.0.1, port: {api}, ssl_crt: '{at}/salt.pem', ssl_key: '{at}/salt.key'}}
"
        );
        std::fs::write(root.join("etc/master"), master).unwrap();
        let minion = format!(
            r"
id: control
user: {user}
master: 127.0.0.1
master_port: {returns}
publish_port: {publish}
root_dir: {at}/n
pki_dir: {at}/n/pki
cachedir: {at}/n/cache
sock_dir: {at}/n/sock
extension_modules: {at}/n/extmods
pidfile: {at}/n/minion.pid
log_file: {at}/minion.log
conf_file: {at}/minion/minion
acceptance_wait_time: 1
acceptance_wait_time_max: 2
random_startup_delay: 0
recon_default: 200
recon_max: 2000
enable_fqdns_grains: False
enable_gpu_grains: False
"
        );
        std::fs::write(root.join("minion/minion"), minion).unwrap();
        let endpoint = SaltEndpoint {
            url: format!("https://127.0.0.1:{api}"),
            user: "eos".to_owned(),
            certificate: Some(root.join("salt.pem")),
            password_file: Some(root.join("password")),
            other_users: BTreeMap::new(),
        };
        Salt {
            programs: format!("{environment}/bin"),
            directory,
            endpoint,
        }
    }

    fn start(&self, program: &str, configuration: &str) -> EngineProcess {
        let root = self.directory.path();
        let configuration = root.join(configuration).display().to_string();
        let log = format!("{program}.out");
        let program = format!("{}/{program}", self.programs);
        EngineProcess::start(&program, &["-c", &configuration, "-l", "warning"], root, &log)
    }

    fn client(&self, change: impl FnOnce(&mut SaltEndpoint)) -> SaltClient {
        let mut endpoint = self.endpoint.clone();
        change(&mut endpoint);
        SaltClient::new(&endpoint).unwrap()
    }

    /// A port that is open is not a Salt that is ready: only a minion's answer tells.
    async fn ready(&self) -> SaltClient {
        let client = self.client(|_| {});
        eventually("ping", LIMIT, async || {
            client.call("control", "test.ping", json!({}), CALL).await
        })
        .await;
        client
            .call("control", "saltutil.sync_all", json!({}), LIMIT)
            .await
            .unwrap();
        client
    }
}

fn make_certificate(directory: &Path, name: &str) {
    let done = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
        ])
        .args([
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1",
        ])
        .arg("-keyout")
        .arg(directory.join(format!("{name}.key")))
        .arg("-out")
        .arg(directory.join(format!("{name}.pem")))
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

async fn refusals_differ(salt: &Salt, client: &SaltClient) {
    let answer = client.call("control", "eos.info", json!({}), CALL).await.unwrap();
    assert_eq!(answer, json!({"minion": "control"}));

    let error = client
        .call("control", "cmd.run", json!({"cmd": "id"}), CALL)
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind, error.words.as_str()),
        (ErrorKind::Refused, "Authorization error occurred.")
    );
    assert_ne!(error.hint.as_deref(), Some("eos login"));

    let error = client
        .call("nobody", "test.ping", json!({}), CALL)
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind, ErrorKind::Refused | ErrorKind::NotFound),
        "{error}"
    );

    let stranger = salt.client(|endpoint| endpoint.password_file = None);
    let error = stranger
        .call("control", "test.ping", json!({}), CALL)
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind, error.hint.as_deref()),
        (ErrorKind::Refused, Some("eos login"))
    );
    let stranger = stranger.with_token(old_token());
    let error = stranger
        .call("control", "test.ping", json!({}), CALL)
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind, error.hint.as_deref()),
        (ErrorKind::Refused, Some("eos login"))
    );
    assert!(error.words.starts_with("No permission"), "{error}");
    let error = stranger.login(&SecretString::from("wrong")).await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert!(error.words.contains("Could not authenticate"), "{error}");

    let token = stranger.login(&SecretString::from(PASSWORD)).await.unwrap();
    assert!(token.expires() > Timestamp::now());
    stranger
        .with_token(token)
        .call("control", "test.ping", json!({}), CALL)
        .await
        .unwrap();

    let nobody = salt.client(|endpoint| endpoint.url = format!("https://127.0.0.1:{}", free_port()));
    let error = nobody
        .call("control", "test.ping", json!({}), CALL)
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unreachable);
}

fn old_token() -> Token {
    Token::new(SecretString::from("0".repeat(40)), Timestamp::now())
}

async fn only_the_pinned_certificate_is_trusted(salt: &Salt) {
    let other: PathBuf = salt.directory.path().join("other.pem");
    let client = salt.client(|endpoint| endpoint.certificate = Some(other));
    let error = client.login(&SecretString::from(PASSWORD)).await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert!(
        error.words.contains("a certificate other than the pinned one"),
        "{error}"
    );
    let client = salt.client(|endpoint| endpoint.certificate = None);
    let error = client.login(&SecretString::from(PASSWORD)).await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::Refused, "{error}");
}

async fn an_expired_token_is_renewed_once(salt: &Salt) {
    let client = salt.client(|_| {}).with_token(old_token());
    client
        .call("control", "test.ping", json!({}), CALL)
        .await
        .unwrap();
}

async fn run(
    client: &SaltClient,
    step: &str,
    arguments: &Value,
    deadline: Duration,
) -> (Result<Value, EngineError>, Vec<String>) {
    let mut said = Vec::new();
    let call = StepCall {
        minion: "control",
        function: "eos.make",
        operation: "01JCX4",
        step,
        arguments,
        deadline,
    };
    let outcome = client
        .run(call, &mut |message| said.push(message.to_owned()))
        .await;
    (outcome, said)
}

async fn a_step_is_followed_to_its_end(client: &SaltClient) {
    let (outcome, said) = run(client, "followed", &json!({"seconds": 2}), LIMIT).await;
    assert_eq!(outcome.unwrap()["status"], "done");
    assert_eq!(said, ["second 0", "second 1"]);
    // Longer than the silence after which the minion is asked.
    let (outcome, said) = run(client, "silent", &json!({"seconds": 7, "quiet": true}), LIMIT).await;
    assert_eq!(outcome.unwrap()["status"], "done");
    assert!(said.is_empty());
    // Each is told its own.
    let (two, three) = (json!({"seconds": 2}), json!({"seconds": 3}));
    let (first, second) = tokio::join!(
        run(client, "first", &two, LIMIT),
        run(client, "second", &three, LIMIT)
    );
    assert_eq!(
        (first.0.unwrap()["step"].as_str(), first.1.len()),
        (Some("first"), 2)
    );
    assert_eq!(
        (second.0.unwrap()["step"].as_str(), second.1.len()),
        (Some("second"), 3)
    );
}

async fn a_failed_step_gives_its_record(client: &SaltClient) {
    let (outcome, _) = run(client, "failing", &json!({"seconds": 1, "fails": true}), LIMIT).await;
    assert_eq!(outcome.unwrap()["status"], "failed");
    let (outcome, _) = run(client, "misused", &json!({"minutes": 1}), LIMIT).await;
    let error = outcome.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Failed);
    assert!(error.words.contains("minutes"), "{error}");
}

async fn a_step_that_never_ends_has_a_deadline(client: &SaltClient) {
    let begun = Instant::now();
    let (outcome, _) = run(client, "endless", &json!({"seconds": 20}), Duration::from_secs(5)).await;
    assert_eq!(outcome.unwrap_err().kind, ErrorKind::Timeout);
    assert!(begun.elapsed() < Duration::from_secs(15));
}

async fn a_lost_stream_does_not_lose_the_step(salt: &Salt, client: &SaltClient, api: &mut EngineProcess) {
    let restart = async {
        tokio::time::sleep(Duration::from_secs(4)).await;
        api.kill();
        *api = salt.start("salt-api", "etc");
    };
    let arguments = json!({"seconds": 12});
    let ((outcome, said), ()) = tokio::join!(run(client, "lost", &arguments, LIMIT), restart);
    assert_eq!(outcome.unwrap()["status"], "done");
    assert!(said.len() < 12, "{said:?}");
}

async fn a_dead_minion_is_noticed(client: &SaltClient, minion: &mut EngineProcess) {
    let begun = Instant::now();
    let kill = async {
        tokio::time::sleep(Duration::from_secs(4)).await;
        minion.kill();
    };
    let arguments = json!({"seconds": 200});
    let ((outcome, _), ()) = tokio::join!(run(client, "orphaned", &arguments, LIMIT), kill);
    assert_eq!(outcome.unwrap_err().kind, ErrorKind::Unreachable);
    assert!(begun.elapsed() < NOTICED, "{:?}", begun.elapsed());
    let error = client
        .call("control", "test.ping", json!({}), CALL)
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind, error.object.as_str()),
        (ErrorKind::Unreachable, "minion control")
    );
}

async fn a_dead_master_is_noticed(client: &SaltClient, master: &mut EngineProcess) {
    let begun = Instant::now();
    let kill = async {
        tokio::time::sleep(Duration::from_secs(4)).await;
        master.kill();
    };
    let arguments = json!({"seconds": 200});
    let ((outcome, _), ()) = tokio::join!(run(client, "headless", &arguments, LIMIT), kill);
    let error = outcome.unwrap_err();
    assert!(
        matches!(error.kind, ErrorKind::Unreachable | ErrorKind::Timeout),
        "{error}"
    );
    assert!(begun.elapsed() < NOTICED, "{:?}", begun.elapsed());
    let begun = Instant::now();
    let error = client.login(&SecretString::from(PASSWORD)).await.err().unwrap();
    assert!(
        matches!(error.kind, ErrorKind::Unreachable | ErrorKind::Timeout),
        "{error}"
    );
    assert!(begun.elapsed() < Duration::from_secs(15));
}
