//! The HTTP faces: one file per API, and what they share.

mod body;
mod chat_completions;
mod health;
mod logs;
mod models;
mod stream;

use crate::app::App;
use crate::request_id;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, post};
use llm_suite::core::{Error, ErrorKind, VendorFacts};
use llm_wire::chat_completions::encode_error;
use std::sync::Arc;
use std::time::Duration;

/// What a 429 says where no vendor said how long.
const DEFAULT_RETRY_AFTER: Duration = Duration::from_secs(1);
/// The longest wait that is passed on.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// All routes.
pub(crate) fn router(app: Arc<App>) -> Router {
    let calls = Router::new()
        .route("/v1/chat/completions", post(chat_completions::serve))
        .route("/v1/models", get(models::list))
        .route_layer(middleware::from_fn_with_state(app.clone(), require_token));
    let admin = Router::new()
        .route("/health", get(health::health))
        .route("/logs", get(logs::calls))
        .route("/decisions/{request_id}", get(logs::decision))
        .route_layer(middleware::from_fn_with_state(app.clone(), require_admin_token));
    let open = Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready));
    calls
        .merge(admin)
        .merge(open)
        .fallback(no_such_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(app.clone(), with_request_id))
        .with_state(app)
}

/// The id of the request, for handlers.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(pub(crate) String);

async fn with_request_id(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let id = request_id::of(request.headers());
    request.extensions_mut().insert(RequestId(id.clone()));
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut response = next.run(request).await;
    set_header(&mut response, request_id::HEADER, &id);
    if app.running.is_draining() {
        // one more request on this connection was served; the next one finds another daemon
        set_header(&mut response, CONNECTION.as_str(), "close");
    }
    let status = response.status().as_u16();
    if status < 400 {
        tracing::debug!(request_id = id, %method, path, status, "request answered");
    } else {
        tracing::info!(request_id = id, %method, path, status, "request answered with an error");
    }
    response
}

async fn require_token(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    match &app.tokens {
        Some(tokens) if !tokens.may_call(request.headers()) => unauthorized("the router's token"),
        _ => next.run(request).await,
    }
}

async fn require_admin_token(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    match &app.tokens {
        Some(tokens) if !tokens.may_administer(request.headers()) => unauthorized("the router's admin token"),
        _ => next.run(request).await,
    }
}

fn unauthorized(what: &str) -> Response {
    let message = format!("present {what} as Authorization: Bearer …");
    let body = serde_json::json!({
        "error": { "message": message, "type": "invalid_request_error", "param": null, "code": "invalid_api_key" }
    });
    let mut response = json(StatusCode::UNAUTHORIZED, body.to_string());
    set_header(&mut response, "www-authenticate", "Bearer");
    response
}

async fn no_such_route(method: Method, request: Request) -> Response {
    let message = format!("there is no {method} {}", request.uri().path());
    let body = serde_json::json!({
        "error": { "message": message, "type": "invalid_request_error", "param": null, "code": "unknown_url" }
    });
    json(StatusCode::NOT_FOUND, body.to_string())
}

async fn wrong_method(method: Method, request: Request) -> Response {
    let message = format!("{} does not take {method}", request.uri().path());
    let body = serde_json::json!({
        "error": { "message": message, "type": "invalid_request_error", "param": null, "code": "method_not_allowed" }
    });
    json(StatusCode::METHOD_NOT_ALLOWED, body.to_string())
}

/// An error as this face's vendor would answer it.
pub(crate) fn error_response(error: &Error) -> Response {
    let (status, body) = encode_error(&for_caller(error));
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json(status, body);
    // a limit without a hint: clients that obey one back off all the same
    let hint = error
        .retry_after()
        .or((status == StatusCode::TOO_MANY_REQUESTS).then_some(DEFAULT_RETRY_AFTER));
    if let Some(wait) = hint {
        // whole seconds, never less than the hint; more than a day is no hint
        let wait = wait.min(LONGEST_RETRY_AFTER);
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        set_header(&mut response, RETRY_AFTER.as_str(), &seconds.to_string());
    }
    response
}

/// What a caller may read of a failure: all of what is the caller's own fault, and only the kind of what went wrong
/// between the router and its backends. The rest stands in the log.
pub(crate) fn for_caller(error: &Error) -> Error {
    let shown = match error.kind() {
        ErrorKind::InvalidRequest
        | ErrorKind::Unsupported
        | ErrorKind::UnknownModel
        | ErrorKind::NoEligibleCandidate
        | ErrorKind::ContextLength
        | ErrorKind::ContentFilter
        | ErrorKind::Cancelled => return without_the_plan(error),
        ErrorKind::RateLimit => "every backend that could serve this is rate limited; come back later",
        ErrorKind::QuotaExhausted => "the quota of every backend that could serve this is used up",
        ErrorKind::Overloaded | ErrorKind::Rejected => {
            "no backend that could serve this has room at the moment"
        }
        ErrorKind::Auth | ErrorKind::Permission => "a backend does not accept the router's own credential",
        ErrorKind::NotFound => "the backend does not know the model it is configured for",
        ErrorKind::Timeout => "no backend answered in time",
        ErrorKind::Interrupted => "the backend's answer was cut off",
        _ => "the backend failed",
    };
    error
        .clone()
        .with_message(shown)
        .with_vendor(VendorFacts::default())
}

/// A fault of the caller's, in the words of the attempt that found it: that it was the last of a plan is our business.
fn without_the_plan(error: &Error) -> Error {
    let mut failures = error
        .attempts()
        .iter()
        .rev()
        .filter_map(|attempt| attempt.failure.as_ref());
    let found = failures.find(|failure| failure.kind == error.kind());
    match found {
        Some(failure) if error.is_exhausted() => error.clone().with_message(failure.message.as_str()),
        _ => error.clone(),
    }
}

pub(crate) fn json(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Sets a header whose value may come from configuration; one that no header can hold is left out.
pub(crate) fn set_header(response: &mut Response, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response
            .headers_mut()
            .insert(HeaderName::from_static(name), value);
    }
}
