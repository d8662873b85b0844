//! What may stand in `llm-routerd.yaml`.

use super::secret::SecretSource;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The whole file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Config {
    /// What can be called, by id. At least one.
    pub backends: BTreeMap<String, BackendConfig>,
    /// Groups of backends of one quality, by alias.
    pub tiers: BTreeMap<String, Vec<String>>,
    /// Ordered fallbacks over tiers and backends, by name; called as `role:NAME`.
    pub chains: BTreeMap<String, Vec<String>>,
    /// How one is chosen.
    pub routing: RoutingConfig,
    /// How the daemon listens.
    pub proxy: ProxyConfig,
    /// Where it keeps what it must remember.
    pub storage: StorageConfig,
    /// What it says about itself.
    pub log: LogConfig,
}

/// One backend.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BackendConfig {
    /// Which driver reaches it.
    pub adapter: Adapter,
    /// The model it is asked for, passed on as it is. Empty: the driver's default.
    #[serde(default)]
    pub model: String,
    /// Its base URL. Empty: the vendor's public one.
    #[serde(default)]
    pub url: String,
    /// Its key.
    #[serde(default)]
    pub api_key: SecretSource,
    /// Goes out as the `OpenAI-Project` header.
    #[serde(default)]
    pub openai_project_id: String,
    /// Seconds for a plain call, and for a stream until its first content. Default 180.
    #[serde(default = "default_timeout")]
    pub timeout_seconds: u64,
    /// Seconds that a stream may be silent after its first event. Default 60.
    #[serde(default = "default_idle_timeout")]
    pub idle_timeout_seconds: u64,
    /// Requests to this backend in one call, the first included. Default 1: falling back to another backend is
    /// faster than waiting for this one.
    #[serde(default = "default_attempts")]
    pub max_attempts: u32,
}

fn default_timeout() -> u64 {
    180
}

fn default_idle_timeout() -> u64 {
    60
}

fn default_attempts() -> u32 {
    1
}

impl BackendConfig {
    /// A backend reached by this driver, everything else at its default.
    pub fn new(adapter: Adapter) -> Self {
        BackendConfig {
            adapter,
            model: String::new(),
            url: String::new(),
            api_key: SecretSource::default(),
            openai_project_id: String::new(),
            timeout_seconds: default_timeout(),
            idle_timeout_seconds: default_idle_timeout(),
            max_attempts: default_attempts(),
        }
    }
}

/// Which driver reaches a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Adapter {
    /// OpenAI, or any host that speaks Chat Completions.
    OpenaiApi,
}

impl Adapter {
    /// The id of the driver in the registry.
    pub fn driver(self) -> &'static str {
        match self {
            Adapter::OpenaiApi => "openai",
        }
    }
}

/// How one of several backends is chosen.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RoutingConfig {
    /// How members of a tier are ordered.
    pub strategy: Strategy,
    /// Which decisions are kept in the store.
    pub record_decisions: RecordDecisions,
}

/// How members of a tier are ordered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Strategy {
    /// As they are listed.
    #[default]
    Ordered,
}

/// Which decisions are kept in the store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecordDecisions {
    /// All.
    All,
    /// Those of calls that were not served by the first candidate.
    #[default]
    Fallbacks,
    /// None.
    Off,
}

/// How the daemon listens and how long it waits.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ProxyConfig {
    /// The address to listen on. Default 127.0.0.1.
    pub host: String,
    /// The port to listen on. Default 8765.
    pub port: u16,
    /// The token callers present. Not configured: one is made on the first run.
    pub token: Option<SecretSource>,
    /// The token for everything that is not a call. Not configured: the same.
    pub admin_token: Option<SecretSource>,
    /// The longest a request may take, in seconds. Default 1800.
    pub max_request_seconds: u64,
    /// How long the head of a streamed answer waits for the first content, in seconds. 0 is not at
    /// all. Default 10.
    pub head_wait_seconds: u64,
    /// How long a streamed answer's connection is silent at most, in seconds: then a comment goes out. Default 15.
    pub keep_alive_seconds: u64,
    /// How long a client may take to send a request's body, in seconds. Default 60.
    pub body_seconds: u64,
    /// The largest request body, in bytes. Default 32 MiB.
    pub max_body_bytes: usize,
    /// The most connections at once. Default 4096.
    pub max_connections: usize,
    /// How long a client may take to accept the next bytes of an answer, in seconds. Default 60.
    pub write_stall_seconds: u64,
    /// How long running calls may go on after the daemon was told to stop, in seconds. Default 30.
    pub drain_seconds: u64,
}

impl Default for ProxyConfig {
    fn default() -> Self {
        ProxyConfig {
            host: "127.0.0.1".to_owned(),
            port: 8765,
            token: None,
            admin_token: None,
            max_request_seconds: 1800,
            head_wait_seconds: 10,
            keep_alive_seconds: 15,
            body_seconds: 60,
            max_body_bytes: 32 * 1024 * 1024,
            max_connections: 4096,
            write_stall_seconds: 60,
            drain_seconds: 30,
        }
    }
}

/// Where the daemon keeps what it must remember.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct StorageConfig {
    /// The SQLite file. Default: `state.db` in the state folder.
    pub db_path: Option<PathBuf>,
}

/// What the daemon says about itself.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LogConfig {
    /// `error`, `warn`, `info`, `debug` or `trace`. Default `info`.
    pub level: Option<String>,
    /// Default `text`.
    pub format: LogFormat,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}
