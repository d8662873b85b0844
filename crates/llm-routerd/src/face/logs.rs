//! Reading back what was recorded: the log of calls, and the decision behind a request.

use super::{error_response, json};
use crate::app::App;
use crate::call_log::stored_json;
use crate::store::{LogFilter, Store};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use llm_suite::core::{Error, ErrorKind, Result};
use serde::Deserialize;
use serde_json::json as value;
use std::sync::Arc;

/// What may be asked of the log. Times are milliseconds since 1970.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LogQuery {
    backend: Option<String>,
    request_id: Option<String>,
    from: Option<i64>,
    to: Option<i64>,
    limit: Option<u32>,
}

/// `GET /logs?backend=&request_id=&from=&to=&limit=`: rows of the call log, the newest first.
pub(super) async fn calls(
    State(app): State<Arc<App>>,
    query: std::result::Result<Query<LogQuery>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let query = match query {
        Ok(Query(query)) => query,
        Err(rejection) => {
            let advice = "takes backend, request_id, from, to (milliseconds since 1970) and limit (1 to 500)";
            let message = format!("/logs {advice}: {}", rejection.body_text());
            return error_response(&Error::new(ErrorKind::InvalidRequest, message));
        }
    };
    let limit = query.limit.unwrap_or(50);
    if !(1..=500).contains(&limit) {
        return error_response(&Error::new(ErrorKind::InvalidRequest, "limit is 1 to 500"));
    }
    if let (Some(from), Some(to)) = (query.from, query.to)
        && from >= to
    {
        return error_response(&Error::new(ErrorKind::InvalidRequest, "to must come after from"));
    }
    let filter = LogFilter {
        backend: query.backend,
        request_id: query.request_id,
        from: query.from,
        to: query.to,
        limit,
    };
    match read(app, move |store| store.calls(&filter)).await {
        Ok(rows) => json(StatusCode::OK, value!({ "rows": rows }).to_string()),
        Err(error) => error_response(&error),
    }
}

/// `GET /decisions/REQUEST_ID`: who was considered, why, and what came of it.
pub(super) async fn decision(State(app): State<Arc<App>>, Path(request_id): Path<String>) -> Response {
    if let Some(kept) = app.kept_decision(&request_id) {
        return json(StatusCode::OK, kept.to_json().to_string());
    }
    match read(app, move |store| store.decision(&request_id)).await {
        Ok(Some(row)) => json(StatusCode::OK, stored_json(&row).to_string()),
        Ok(None) => {
            let advice = "it is too old, was not recorded (routing.record_decisions), or never came";
            let body = value!({
                "error": {
                    "message": format!("no decision of that request is known; {advice}"),
                    "type": "invalid_request_error", "param": null, "code": "not_found",
                }
            });
            json(StatusCode::NOT_FOUND, body.to_string())
        }
        Err(error) => error_response(&error),
    }
}

/// Reads from the store on a thread that may wait, after everything recorded so far was written.
async fn read<T: Send + 'static>(
    app: Arc<App>,
    read: impl FnOnce(Store) -> Result<T> + Send + 'static,
) -> Result<T> {
    let task = tokio::task::spawn_blocking(move || {
        app.recorder.flush();
        read(Store::open(&app.db_path)?)
    });
    task.await.unwrap_or_else(|error| {
        Err(Error::new(ErrorKind::Internal, "reading the store was given up").with_source(error))
    })
}
