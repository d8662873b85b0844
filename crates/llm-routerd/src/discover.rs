//! Without a configuration: what is reachable here?

use crate::config::{Adapter, BackendConfig, Config, SecretSource, environment};
use llm_suite::core::{CallContext, Result, Secret};
use llm_suite::http::{HttpRequest, Transport};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Local servers that speak Chat Completions, by their usual port.
const LOCAL: &[(&str, u16)] = &[
    ("ollama", 11434),
    ("llama-cpp", 8080),
    ("vllm", 8000),
    ("lm-studio", 1234),
    ("localai", 8081),
];
/// How long a local server may take to answer.
const PROBE_LIMIT: Duration = Duration::from_millis(800);

/// What was looked for and what was found, for people.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) config: Config,
    /// One line each.
    pub(crate) report: Vec<String>,
}

/// Looks for API keys in the environment and for servers on their usual local ports.
pub(crate) async fn discover(cx: &CallContext, transport: &Arc<dyn Transport>) -> Found {
    let mut found = Found::default();
    match environment::variable("OPENAI_API_KEY") {
        Some(key) => {
            let mut backend = BackendConfig::new(Adapter::OpenaiApi);
            backend.api_key = SecretSource::from(Secret::new(key));
            backend.url = environment::variable("OPENAI_BASE_URL").unwrap_or_default();
            found.add("openai", backend, "OPENAI_API_KEY is set");
        }
        None => found
            .report
            .push("no OPENAI_API_KEY in the environment".to_owned()),
    }
    let ports = environment::variable("LLM_ROUTERD_DISCOVER_PORTS");
    for (name, port) in ports_to_try(ports.as_deref()) {
        let url = format!("http://127.0.0.1:{port}/v1");
        match first_model(cx, transport, &url).await {
            Ok(Some(model)) => {
                let mut backend = BackendConfig::new(Adapter::OpenaiApi);
                backend.url = url.clone();
                let what = format!("a server answers on {url}, with the model {model}");
                backend.model = model;
                found.add(&name, backend, &what);
            }
            Ok(None) => found
                .report
                .push(format!("a server answers on {url}, but it lists no models")),
            Err(_) => found.report.push(format!("nothing on {url} ({name})")),
        }
    }
    let all: Vec<String> = found.config.backends.keys().cloned().collect();
    if !all.is_empty() {
        found.config.chains.insert("default".to_owned(), all);
    }
    found
}

/// What to do when nothing was found.
pub(crate) const ADVICE: &str = "either set OPENAI_API_KEY, or start a local server \
     (Ollama, llama.cpp, vLLM, LM Studio), or write llm-routerd.yaml:\n\n\
     backends:\n  local:\n    adapter: openai_api\n    url: http://127.0.0.1:8080/v1\n    model: NAME\n\n\
     and start again with --config llm-routerd.yaml";

impl Found {
    fn add(&mut self, name: &str, backend: BackendConfig, why: &str) {
        self.report.push(format!("backend {name}: {why}"));
        self.config.backends.insert(name.to_owned(), backend);
    }
}

/// The usual ports; `LLM_ROUTERD_DISCOVER_PORTS` (a list, or nothing but a comma for none) takes their place.
fn ports_to_try(given: Option<&str>) -> Vec<(String, u16)> {
    match given {
        None => LOCAL
            .iter()
            .map(|(name, port)| ((*name).to_owned(), *port))
            .collect(),
        Some(list) => {
            let ports = list.split(',').filter_map(|port| port.trim().parse::<u16>().ok());
            ports.map(|port| (format!("local-{port}"), port)).collect()
        }
    }
}

/// The first model that a server lists.
async fn first_model(cx: &CallContext, transport: &Arc<dyn Transport>, url: &str) -> Result<Option<String>> {
    let cx = cx.clone().with_timeout(PROBE_LIMIT);
    let response = transport
        .send(&cx, HttpRequest::get(format!("{url}/models")))
        .await?;
    let success = response.is_success();
    let body = response.body.read_all(1024 * 1024).await?;
    let list: Value = serde_json::from_slice(&body).unwrap_or_default();
    let first = list["data"][0]["id"].as_str().filter(|_| success);
    Ok(first.map(str::to_owned))
}
