//! The real binary before fake vendors: started with a configuration in a folder of its own, ended on drop.

use crate::client::{Connection, Reply, soon, until};
use llm_driver_testkit::FakeServer;
use serde_json::{Map, Value, json};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_llm-routerd");
pub(crate) const TOKEN: &str = "router-token-4711";
pub(crate) const ADMIN_TOKEN: &str = "admin-token-0815";
/// The key of every backend: it must never be seen but by its vendor.
pub(crate) const VENDOR_KEY: &str = "sk-vendor-sentinel";

/// What a daemon is started with.
#[derive(Debug)]
pub(crate) struct Setup {
    config: Value,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
}

impl Setup {
    /// Each vendor is a backend `a`, `b`, … with the model `model-of-a`, …; all of them in order are `role:main`.
    pub(crate) fn new(vendors: &[&FakeServer]) -> Self {
        let mut backends = Map::new();
        for (vendor, id) in vendors.iter().zip(["a", "b", "c", "d"]) {
            let backend = json!({
                "adapter": "openai_api", "url": format!("{}/v1", vendor.base_url()),
                "api_key": VENDOR_KEY, "model": format!("model-of-{id}"),
            });
            backends.insert(id.to_owned(), backend);
        }
        let chain: Vec<_> = backends.keys().cloned().collect();
        let config = json!({
            "backends": backends, "chains": { "main": chain }, "log": { "level": "debug" },
            "proxy": { "token": TOKEN, "admin_token": ADMIN_TOKEN },
        });
        Setup {
            config,
            arguments: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// Sets a key, by its path: `backends/a/timeout_seconds`.
    pub(crate) fn with(mut self, path: &str, value: Value) -> Self {
        let place = path
            .split('/')
            .fold(&mut self.config, |place, key| &mut place[key]);
        *place = value;
        self
    }

    /// Takes a key away.
    pub(crate) fn without(mut self, section: &str, key: &str) -> Self {
        self.config[section].as_object_mut().unwrap().remove(key);
        self
    }

    pub(crate) fn with_argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    pub(crate) fn with_environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) async fn start(self) -> Daemon {
        let folder = tempfile::tempdir().unwrap();
        self.start_in(folder).await
    }

    /// Starts it in a folder where one may have run before.
    pub(crate) async fn start_in(self, folder: TempDir) -> Daemon {
        let config = folder.path().join("llm-routerd.yaml");
        // JSON is YAML
        std::fs::write(&config, self.config.to_string()).unwrap();
        let mut command = command(folder.path());
        command.args(["serve", "--port", "0", "--config"]).arg(&config);
        command.args(&self.arguments).envs(self.environment);
        Daemon::of(&mut command, folder).await
    }
}

/// The binary with a state folder of its own and nothing else of this machine.
pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(BINARY);
    command
        .env_clear()
        .env("LLM_ROUTERD_STATE_DIR", folder.join("state"))
        .env("HOME", folder)
        .current_dir(folder)
        .stdin(Stdio::null());
    command
}

/// A daemon that runs.
#[derive(Debug)]
pub(crate) struct Daemon {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) folder: TempDir,
    said: Arc<Mutex<String>>,
    deaf: Arc<AtomicBool>,
    slow: Arc<AtomicBool>,
    reader: Option<std::thread::JoinHandle<()>>,
}

impl Daemon {
    /// Starts a `serve` and waits until it listens.
    pub(crate) async fn of(command: &mut Command, folder: TempDir) -> Daemon {
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let deaf = Arc::new(AtomicBool::new(false));
        let slow = Arc::new(AtomicBool::new(false));
        let (stderr, heard) = (child.stderr.take().unwrap(), said.clone());
        let (stop, wait) = (deaf.clone(), slow.clone());
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let mut heard = heard.lock().unwrap();
                heard.push_str(&line);
                heard.push('\n');
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                while wait.load(Ordering::SeqCst) {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
            }
        });
        let mut daemon = Daemon {
            child,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            folder,
            said,
            deaf,
            slow,
            reader: Some(reader),
        };
        let mut address = None;
        let said = daemon.said.clone();
        until("a daemon that listens", || {
            let said = said.lock().unwrap();
            address = said.lines().find_map(|line| {
                let address = line.strip_prefix("listening on http://")?;
                address.parse().ok()
            });
            let ended = daemon.child.try_wait().unwrap();
            assert!(ended.is_none(), "the daemon ended: {said}");
            address.is_some()
        })
        .await;
        daemon.address = address.unwrap();
        daemon
    }

    /// What it wrote to standard error so far.
    pub(crate) fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    /// From its next line on nobody reads its standard error, which is closed then.
    pub(crate) fn stop_reading(&self) {
        self.deaf.store(true, Ordering::SeqCst);
    }

    /// Its standard error stays open, and nobody reads it for a while.
    pub(crate) fn pause_reading(&self, pause: bool) {
        self.slow.store(pause, Ordering::SeqCst);
    }

    pub(crate) fn state(&self, file: &str) -> PathBuf {
        self.folder.path().join("state").join(file)
    }

    pub(crate) async fn connect(&self) -> Connection {
        Connection::open(self.address).await
    }

    /// Asks on a connection of its own, with the inference token.
    pub(crate) async fn chat(&self, body: &Value) -> Reply {
        self.chat_as("r-1", body).await
    }

    /// The same, under a request id.
    pub(crate) async fn chat_as(&self, request_id: &str, body: &Value) -> Reply {
        let mut connection = self.start_chat(request_id, body).await;
        connection.reply().await
    }

    /// Sends the request and reads nothing.
    pub(crate) async fn start_chat(&self, request_id: &str, body: &Value) -> Connection {
        self.start_chat_on(self.connect().await, request_id, body).await
    }

    pub(crate) async fn start_chat_on(
        &self,
        mut connection: Connection,
        request_id: &str,
        body: &Value,
    ) -> Connection {
        let headers = [
            bearer(TOKEN),
            ("content-type", "application/json"),
            ("x-request-id", request_id),
        ];
        let body = body.to_string();
        connection
            .send("POST", "/v1/chat/completions", &headers, body.as_bytes())
            .await;
        connection
    }

    /// Reads from it with the admin token.
    pub(crate) async fn read(&self, path: &str) -> Reply {
        self.read_with(ADMIN_TOKEN, path).await
    }

    pub(crate) async fn read_with(&self, token: &str, path: &str) -> Reply {
        let mut connection = self.connect().await;
        connection
            .send("GET", path, &[bearer(token), ("connection", "close")], b"")
            .await;
        connection.reply().await
    }

    /// The rows of a request as soon as it has ended, the first attempt first.
    pub(crate) async fn rows(&self, request_id: &str) -> Vec<Value> {
        let reading = async {
            loop {
                let rows = self.read(&format!("/logs?request_id={request_id}")).await.json();
                let mut rows = rows["rows"].as_array().unwrap().clone();
                if !rows.is_empty() {
                    rows.reverse();
                    return rows;
                }
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        };
        soon("a row of the call log", reading).await
    }

    /// The same, short: `a fallback rate_limit 429`, with `-` for what is absent.
    pub(crate) async fn log(&self, request_id: &str) -> Vec<String> {
        let word = |value: &Value| match value {
            Value::Null => "-".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let short = |row: &Value| {
            let columns = ["backend_id", "outcome", "error_type", "vendor_status"];
            columns.map(|column| word(&row[column])).join(" ")
        };
        let rows = self.rows(request_id).await;
        let last = rows.last().unwrap();
        assert_eq!(last["fallback_count"], rows.len() - 1, "{rows:?}");
        rows.iter().map(short).collect()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How many files and sockets it holds.
    pub(crate) fn open_files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.pid()))
            .unwrap()
            .count()
    }

    /// How much memory it holds, in kilobytes.
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Asks it to stop, as a service manager does.
    pub(crate) fn terminate(&self) {
        let kill = format!("kill -TERM {}", self.pid());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Waits for its end: the exit code, what it said, and its folder.
    pub(crate) async fn ended(mut self) -> (Option<i32>, String, TempDir) {
        let mut status = None;
        until("the end of the daemon", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        })
        .await;
        self.reader.take().unwrap().join().unwrap();
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap());
        (status.unwrap().code(), self.said(), folder)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

pub(crate) fn bearer(token: &str) -> (&'static str, &'static str) {
    let value = match token {
        TOKEN => "Bearer router-token-4711",
        ADMIN_TOKEN => "Bearer admin-token-0815",
        other => panic!("no header for {other}"),
    };
    ("authorization", value)
}
