//! A real engine's process for a test: on its own ports, below its own directory, and ended with the test.

use std::fs::File;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What a test runs against, if the person has said where it is.
pub fn engine_of(variable: &str) -> Option<String> {
    let found = std::env::var(variable).ok();
    if found.is_none() {
        println!("skipped: {variable} is not set");
    }
    found
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

pub struct EngineProcess {
    child: Child,
}

impl EngineProcess {
    /// Starts it in a process group of its own, with nothing of the caller's environment but PATH.
    pub fn start(program: &str, arguments: &[&str], directory: &Path, log: &str) -> EngineProcess {
        let log = File::create(directory.join(log)).unwrap();
        let child = Command::new(program)
            .args(arguments)
            .current_dir(directory)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", directory)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .process_group(0)
            .spawn()
            .unwrap();
        EngineProcess { child }
    }

    /// Ends all of its processes at once, as a crash of the machine would.
    pub fn kill(&mut self) {
        self.signal("KILL");
        self.child.wait().unwrap();
    }

    fn signal(&self, name: &str) {
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill")
            .args([&format!("-{name}"), "--", &group])
            .stderr(Stdio::null())
            .status();
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        self.signal("TERM");
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(15) && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(100));
        }
        self.signal("KILL");
        let _ = self.child.wait();
    }
}

/// Tries until it works; the last error is the message.
pub async fn eventually<T, E: std::fmt::Display>(
    what: &str,
    limit: Duration,
    mut attempt: impl AsyncFnMut() -> Result<T, E>,
) -> T {
    let begun = Instant::now();
    loop {
        match attempt().await {
            Ok(value) => return value,
            Err(error) if begun.elapsed() > limit => panic!("{what}: {error}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
}

/// Runs it in a thread and runtime of its own, which end with it, as another process would.
pub fn apart<T: Send>(work: impl AsyncFnOnce() -> T + Send) -> T {
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(work())
    };
    std::thread::scope(|scope| scope.spawn(run).join().unwrap())
}
