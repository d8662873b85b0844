//! `POST /v1/chat/completions`, plain and streaming.

use super::stream::{self, Opening};
use super::{RequestId, error_response, json, set_header};
use crate::app::App;
use crate::call_log::{CallLog, Winner};
use axum::Extension;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use llm_suite::core::{CallContext, ChatRequest, Error, ErrorKind, Result};
use llm_suite::routing::{CallMode, RoutingDecision};
use llm_wire::chat_completions::{EncodeOptions, decode_request, encode_response};
use std::sync::Arc;
use std::time::Duration;

/// How long a client may take to send its request's body.
const BODY_LIMIT: Duration = Duration::from_secs(60);

/// Serves one call.
pub(super) async fn serve(
    State(app): State<Arc<App>>,
    Extension(RequestId(request_id)): Extension<RequestId>,
    request: Request<Body>,
) -> Response {
    match answer(app, request_id, request).await {
        Ok(response) => response,
        Err(error) => error_response(&error),
    }
}

async fn answer(app: Arc<App>, request_id: String, request: Request<Body>) -> Result<Response> {
    let (head, body) = request.into_parts();
    let body = read_body(&head.headers, body, app.config.proxy.max_body_bytes).await?;
    let decoded = decode_request(&body)?;
    drop(body);
    for warning in &decoded.warnings {
        tracing::debug!(
            request_id,
            field = warning.field,
            "a field of the request is not understood"
        );
    }
    let mut request = decoded.request;
    let asked = request.model.take().map(String::from).unwrap_or_default();
    let route = Arc::new(app.routes.resolve(&asked)?);
    let created = u64::try_from(app.now_ms() / 1000).unwrap_or(0);
    let options = EncodeOptions::new(format!("chatcmpl-{request_id}"), created, &asked)
        .with_include_usage(decoded.include_usage);
    let cx = CallContext::new(app.clock.clone())
        .with_request_id(request_id.as_str())
        .with_timeout(Duration::from_secs(app.config.proxy.max_request_seconds));
    let mut log = CallLog::begin(app.clone(), route.clone(), request_id, &request);
    let mode = if decoded.stream {
        CallMode::Stream
    } else {
        CallMode::Plain
    };
    let decision = match app.engine.decide(&cx, &request, &route.candidates, mode) {
        Ok(decision) => Arc::new(decision),
        Err(error) => {
            log.failed(&error, false);
            return Err(error);
        }
    };
    log.decided(decision.clone());
    if decoded.stream {
        let opening = open(app.clone(), cx, decision, request);
        let head_wait = Duration::from_secs(app.config.proxy.head_wait_seconds);
        return stream::respond(opening, log, options, head_wait).await;
    }
    match app.executor.chat(&cx, &decision, &request).await {
        Ok(mut response) => {
            // the caller's name for it comes back, as the caller's client expects; who served is in the headers
            response.meta.model = Some(options.model.clone());
            log.tried(&response.attempts);
            log.used(&response.usage);
            let winner = log.winner();
            log.served();
            let mut answer = json(StatusCode::OK, encode_response(&options, &response));
            tell_winner(&mut answer, winner.as_ref());
            Ok(answer)
        }
        Err(error) => {
            log.failed(&error, false);
            Err(error)
        }
    }
}

fn open(app: Arc<App>, cx: CallContext, decision: Arc<RoutingDecision>, request: ChatRequest) -> Opening {
    Box::pin(async move { app.executor.chat_stream(&cx, &decision, &request).await })
}

/// The headers that say who served.
pub(super) fn tell_winner(response: &mut Response, winner: Option<&Winner>) {
    let Some(winner) = winner else { return };
    set_header(response, "x-router-backend", &winner.backend);
    set_header(response, "x-router-chain-position", &winner.position.to_string());
    set_header(response, "x-router-latency-ms", &winner.latency_ms.to_string());
    if let Some(reason) = winner.fallback_reason {
        set_header(response, "x-router-fallback-reason", reason);
    }
}

async fn read_body(headers: &HeaderMap, body: Body, cap: usize) -> Result<Bytes> {
    let too_large = || {
        let message = format!("the request is larger than {cap} bytes (proxy.max_body_bytes)");
        Error::new(ErrorKind::InvalidRequest, message).with_status(413)
    };
    let announced = headers
        .get("content-length")
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > cap as u64) {
        return Err(too_large());
    }
    match tokio::time::timeout(BODY_LIMIT, to_bytes(body, cap)).await {
        Ok(Ok(body)) => Ok(body),
        // axum hides which it was: the cap, or a client that went away and reads no answer anyway
        Ok(Err(_)) => Err(too_large()),
        Err(_) => {
            let message = "the request's body did not come within 60 seconds";
            Err(Error::new(ErrorKind::InvalidRequest, message).with_status(408))
        }
    }
}
