//! `llm-routerd check`

use super::serve::build_context;
use super::{CheckArgs, say};
use crate::backend;
use crate::config;
use llm_suite::core::{CallContext, Error, ErrorKind, HealthState, Registry, Result};
use llm_suite::http::shared_clock;
use serde_json::json;
use std::time::Duration;

/// How long a backend may take to answer a probe.
const PROBE_LIMIT: Duration = Duration::from_secs(5);

pub(super) async fn run(args: &CheckArgs, registry: &Registry) -> Result<()> {
    let path = config::find(args.config.as_deref()).ok_or_else(|| {
        Error::new(
            ErrorKind::Config,
            "there is no configuration to check; name one with --config FILE",
        )
    })?;
    let config = config::load(&path)?;
    let backends = backend::build_all(&config, registry, &build_context()?)?;
    let mut rows = Vec::new();
    let mut ill = Vec::new();
    for backend in &backends {
        let model = match (backend.stack.resolve(backend.model.as_ref()), &backend.model) {
            (Ok(resolved), _) => Some(resolved.id.to_string()),
            // it has no default: fine for calls that bring their own
            (Err(_), None) => None,
            (Err(error), Some(_)) => {
                let message = format!("backends.{}.model: {}", backend.id, error.message());
                return Err(error.with_message(message));
            }
        };
        let health = if args.probe {
            let cx = CallContext::new(shared_clock()).with_timeout(PROBE_LIMIT);
            let health = backend.stack.health(&cx).await;
            if health.state != HealthState::Healthy {
                ill.push(backend.id.to_string());
            }
            let said = health.message.unwrap_or_else(|| "well".to_owned());
            Some(format!(
                "{}: {said}",
                if health.state == HealthState::Healthy {
                    "healthy"
                } else {
                    "not healthy"
                }
            ))
        } else {
            None
        };
        rows.push((
            backend.id.to_string(),
            backend.stack.info().to_string(),
            model,
            health,
        ));
    }
    if args.json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(id, stack, model, health)| json!({"id": id, "stack": stack, "model": model, "health": health}))
            .collect();
        say(
            &json!({"config": path, "backends": rows, "tiers": config.tiers, "chains": config.chains})
                .to_string(),
        );
    } else {
        say(&format!("{}: fits together", path.display()));
        for ((id, stack, model, health), backend) in rows.iter().zip(&backends) {
            let model = match model {
                Some(model) => format!("model {model}"),
                None => format!("no model, serves only {}/MODEL", backend.driver),
            };
            let health = health
                .as_ref()
                .map(|health| format!(", {health}"))
                .unwrap_or_default();
            say(&format!("  backend {id}: {stack}, {model}{health}"));
        }
        for (alias, members) in &config.tiers {
            say(&format!("  tier {alias}: {}", members.join(", ")));
        }
        for (name, entries) in &config.chains {
            say(&format!("  role:{name}: {}", entries.join(" → ")));
        }
    }
    if ill.is_empty() {
        Ok(())
    } else {
        Err(Error::new(
            ErrorKind::Connection,
            format!("not healthy: {}", ill.join(", ")),
        ))
    }
}
