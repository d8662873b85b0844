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
    let mut warned: Vec<String> = decoded
        .warnings
        .into_iter()
        .map(|warning| warning.field)
        .collect();
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
        let mut answer = stream::respond(opening, log, options, waits).await?;
        tell_warnings(&mut answer, &warned);
        return Ok(answer);
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
            warned.extend(response.warnings.into_iter().map(|warning| warning.field));
            tell_warnings(&mut answer, &warned);
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

/// Which fields were not understood, not sent or changed, as far as it is known when the head goes out.
fn tell_warnings(response: &mut Response, fields: &[String]) {
    const MOST: usize = 20;
    let plain = |field: &&String| {
        field.len() <= 100 && field.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',')
    };
    let mut told: Vec<&str> = Vec::new();
    for field in fields.iter().filter(plain).take(MOST) {
        if !told.contains(&field.as_str()) {
            told.push(field);
        }
    }
    if !fields.is_empty() {
        set_header(
            response,
            "x-router-warnings",
            &if told.is_empty() {
                "other".to_owned()
            } else {
                told.join(",")
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_suite::core::{Error, ErrorKind};

    #[test]
    fn fields_that_were_not_honoured_stand_in_a_header() {
        let told = |fields: &[&str]| {
            let mut response = Response::new(Body::empty());
            let fields: Vec<String> = fields.iter().map(|field| (*field).to_owned()).collect();
            tell_warnings(&mut response, &fields);
            response
                .headers()
                .get("x-router-warnings")
                .map(|value| value.to_str().unwrap().to_owned())
        };
        assert_eq!(told(&[]), None);
        assert_eq!(told(&["top_k", "min_p", "top_k"]).as_deref(), Some("top_k,min_p"));
        assert_eq!(told(&["a,b\r\nx: y"]).as_deref(), Some("other"));
    }

    #[test]
    fn a_limit_always_says_when_to_come_back() {
        let wait = |error: Error| error_response(&error).headers().get("retry-after").cloned();
        let limit = || Error::new(ErrorKind::RateLimit, "full");
        assert_eq!(wait(limit()).unwrap(), "1");
        assert_eq!(
            wait(limit().with_retry_after(Duration::from_millis(6_001))).unwrap(),
            "7"
        );
        assert_eq!(
            wait(limit().with_retry_after(Duration::from_secs(1 << 40))).unwrap(),
            "86400"
        );
        assert_eq!(wait(Error::new(ErrorKind::Server, "broken")), None);
    }
}
