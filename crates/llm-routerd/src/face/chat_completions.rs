//! `POST /v1/chat/completions`, plain and streaming.

use super::stream::{self, Opening, Waits};
use super::{RequestId, body, error_response, json, set_header};
use crate::app::App;
use crate::call_log::{CallLog, Winner};
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use llm_suite::core::{CallContext, ChatRequest, Result};
use llm_suite::routing::{CallMode, RoutingDecision};
use llm_wire::chat_completions::{EncodeOptions, decode_request, encode_response};
use std::sync::Arc;
use std::time::Duration;

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
    let proxy = &app.config.proxy;
    let body_limit = Duration::from_secs(proxy.body_seconds);
    let body = body::read(&head.headers, body, proxy.max_body_bytes, body_limit).await?;
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
    let mut log = CallLog::begin(app.clone(), route.clone(), request_id.clone(), &request);
    let cx = CallContext::new(app.clock.clone())
        .with_request_id(request_id)
        .with_extension(log.trail())
        .with_timeout(Duration::from_secs(app.config.proxy.max_request_seconds));
    let mode = if decoded.stream {
        CallMode::Stream
    } else {
        CallMode::Plain
    };
    let decision = match app.engine.decide(&cx, &request, &route.candidates, mode) {
        Ok(decision) => Arc::new(decision),
        Err(error) => {
            log.refused(&error);
            return Err(error);
        }
    };
    log.decided(decision.clone());
    if decoded.stream {
        let waits = Waits::of(&app.config.proxy);
        let opening = open(app, cx, decision, request);
        return stream::respond(opening, log, options, waits).await;
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
