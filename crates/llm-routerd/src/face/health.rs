//! Is the daemon there, can it serve, and how are its backends.

use super::json;
use crate::app::App;
use crate::backend::Condition;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Map, Value, json as value};
use std::sync::Arc;

/// The process answers.
pub(super) async fn alive() -> &'static str {
    "ok"
}

/// It takes calls: false while it drains.
pub(super) async fn ready(State(app): State<Arc<App>>) -> (StatusCode, &'static str) {
    if app.running.is_draining() {
        (StatusCode::SERVICE_UNAVAILABLE, "draining")
    } else {
        (StatusCode::OK, "ok")
    }
}

/// Each backend as its own calls show it. Asks nobody.
pub(super) async fn health(State(app): State<Arc<App>>) -> Response {
    let mut backends = Map::new();
    let mut degraded = false;
    for backend in app.routes.backends() {
        let status = app.statuses.of(&backend.id);
        degraded |= status.status == Condition::Degraded;
        backends.insert(
            backend.id.to_string(),
            serde_json::to_value(status.status).unwrap_or(Value::Null),
        );
    }
    let body = value!({
        "status": if degraded { "degraded" } else { "ok" },
        "version": env!("CARGO_PKG_VERSION"),
        "backends": backends,
        "log_rows_dropped": app.recorder.dropped(),
    });
    json(StatusCode::OK, body.to_string())
}
