//! Backends: from configuration to a stack, and how each has been doing.

use crate::config::{BackendConfig, Config};
use llm_suite::core::{BuildContext, CallContext, ChatDriver, Error, ErrorKind, ModelId, Registry, Result};
use llm_suite::resilience::{RetryPolicy, StackConfig, StackLayers, StackStores, TimeoutPolicy};
use llm_suite::routing::{PlanObserver, PlannedCandidate};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A configured, named stack.
#[derive(Debug, Clone)]
pub(crate) struct Backend {
    pub(crate) id: Arc<str>,
    /// The id of the driver that reaches it.
    pub(crate) driver: &'static str,
    pub(crate) stack: Arc<dyn ChatDriver>,
    /// The model it is asked for; absent: the driver's default.
    pub(crate) model: Option<ModelId>,
}

/// Builds all backends, in the order of their names.
///
/// # Errors
/// `Config`, naming the backend at fault.
pub(crate) fn build_all(
    config: &Config,
    registry: &Registry,
    context: &BuildContext,
) -> Result<Vec<Backend>> {
    config
        .backends
        .iter()
        .map(|(id, backend)| build(id, backend, registry, context))
        .collect()
}

fn build(id: &str, config: &BackendConfig, registry: &Registry, context: &BuildContext) -> Result<Backend> {
    let at = |error: Error| {
        let message = format!("backends.{id}: {}", error.message());
        error.with_message(message)
    };
    let driver = registry
        .build(config.adapter.driver(), driver_config(id, config)?, context)
        .map_err(at)?;
    let chat = driver.as_chat().ok_or_else(|| {
        let message = format!(
            "backends.{id}: the driver {} does not chat",
            config.adapter.driver()
        );
        Error::new(ErrorKind::Config, message)
    })?;
    let model = match config.model.as_str() {
        "" => None,
        name => Some(ModelId::new(name).map_err(at)?),
    };
    let limit = Duration::from_secs(config.timeout_seconds);
    let timeouts = TimeoutPolicy::default()
        .with_whole(limit)
        .with_first_event(limit)
        .with_first_content(limit)
        .with_idle(Duration::from_secs(config.idle_timeout_seconds));
    let retries = (config.max_attempts > 1).then(|| RetryPolicy::new(config.max_attempts));
    let layers = StackConfig::default().with_retry(retries).with_timeout(timeouts);
    let stack = StackLayers::build(layers, StackStores::default())
        .map_err(at)?
        .stack(chat);
    Ok(Backend {
        id: id.into(),
        driver: config.adapter.driver(),
        stack: stack.into_arc(),
        model,
    })
}

/// The driver's own configuration, from a backend's.
fn driver_config(id: &str, config: &BackendConfig) -> Result<Value> {
    let key = config.api_key.resolve(&format!("backends.{id}.api_key"))?;
    let mut fields = json!({ "unknown_models": "allow" });
    let mut set = |name: &str, value: &str| {
        if !value.is_empty() {
            fields[name] = Value::from(value);
        }
    };
    set("api_key", key.expose());
    set("base_url", &config.url);
    set("project", &config.openai_project_id);
    Ok(fields)
}

/// How a backend has been doing, for people and health pages. Nothing is decided by it.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct BackendStatus {
    pub(crate) status: Condition,
    pub(crate) consecutive_failures: u64,
    pub(crate) total_calls: u64,
    pub(crate) last_error_type: Option<&'static str>,
}

/// The condition of a backend as its own calls show it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Condition {
    /// Not called yet.
    #[default]
    Unknown,
    /// The last call was served.
    Healthy,
    /// Three calls in a row failed through its own fault.
    Degraded,
}

/// Failures in a row that make a backend degraded.
const DEGRADED_AFTER: u64 = 3;

/// Watches plans and keeps each backend's status.
#[derive(Debug, Default)]
pub(crate) struct Statuses(Mutex<BTreeMap<Arc<str>, BackendStatus>>);

impl Statuses {
    pub(crate) fn of(&self, backend: &str) -> BackendStatus {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(backend)
            .cloned()
            .unwrap_or_default()
    }

    fn change(&self, backend: &str, change: impl FnOnce(&mut BackendStatus)) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get_mut(backend) {
            Some(status) => change(status),
            None => change(all.entry(backend.into()).or_default()),
        }
    }

    fn failed(&self, backend: &str, error: &Error) {
        let counts = error.verdict().counts;
        self.change(backend, |status| {
            status.total_calls += 1;
            status.last_error_type = Some(error.kind().as_str());
            if counts {
                status.consecutive_failures += 1;
                if status.consecutive_failures >= DEGRADED_AFTER {
                    status.status = Condition::Degraded;
                }
            }
        });
    }
}

impl PlanObserver for Statuses {
    fn on_failed(&self, _: &CallContext, candidate: &PlannedCandidate, error: &Error, _: Duration) {
        self.failed(candidate.id(), error);
    }

    fn on_interrupted(&self, _: &CallContext, candidate: &PlannedCandidate, error: &Error) {
        self.failed(candidate.id(), error);
    }

    fn on_served(&self, _: &CallContext, candidate: &PlannedCandidate, _: Duration) {
        self.change(candidate.id(), |status| {
            *status = BackendStatus {
                status: Condition::Healthy,
                total_calls: status.total_calls + 1,
                ..BackendStatus::default()
            };
        });
    }
}
