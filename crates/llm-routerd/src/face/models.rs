//! `GET /v1/models`: every name a caller may ask for.

use super::json;
use crate::app::App;
use crate::backend::Backend;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use llm_suite::core::{Capability, Support};
use serde_json::{Value, json as value};
use std::sync::Arc;

/// Backends, then tiers, then chains, each with what the router knows of it.
pub(super) async fn list(State(app): State<Arc<App>>) -> Response {
    let mut data: Vec<Value> = app
        .routes
        .backends()
        .map(|backend| backend_entry(&app, backend))
        .collect();
    data.extend(
        app.routes
            .tiers()
            .map(|(alias, members)| group_entry(alias.clone(), "tier", members)),
    );
    data.extend(
        app.routes
            .chains()
            .map(|(name, entries)| group_entry(format!("role:{name}"), "chain", entries)),
    );
    json(
        StatusCode::OK,
        value!({ "object": "list", "data": data }).to_string(),
    )
}

fn backend_entry(app: &App, backend: &Backend) -> Value {
    let status = app.statuses.of(&backend.id);
    let resolved = backend.stack.resolve(backend.model.as_ref()).ok();
    let support = |capability: Capability| match resolved.as_ref()?.capabilities.support(capability) {
        Support::Yes => Some(true),
        Support::No => Some(false),
        _ => None,
    };
    value!({
        "id": &*backend.id,
        "object": "model",
        "created": 0,
        "owned_by": backend.driver,
        "router": {
            "kind": "backend",
            "model": resolved.as_ref().map(|resolved| resolved.id.as_str()),
            "status": status.status,
            "consecutive_failures": status.consecutive_failures,
            "total_calls": status.total_calls,
            "last_error_type": status.last_error_type,
        },
        "capabilities": {
            "supports_tools": support(Capability::Tools),
            "supports_streaming": support(Capability::Streaming),
            "supports_images": support(Capability::Vision),
        },
    })
}

fn group_entry(id: String, kind: &str, members: &[String]) -> Value {
    value!({
        "id": id,
        "object": "model",
        "created": 0,
        "owned_by": "llm-routerd",
        "router": { "kind": kind, "members": members },
    })
}
