//! The span of one call, and what is written to it.

use super::content;
use crate::millis;
use llm_core::{
    Attempt, CallContext, ChatRequest, ChatResponse, Clock, DriverInfo, Error, ErrorKind, FinishReason,
    ModelId, ResponseMeta, Usage,
};
use std::sync::Arc;
use std::time::Instant;
use tracing::field::{Empty, debug};
use tracing::{Span, info_span};

/// What is the same for all calls of a stack.
#[derive(Debug)]
pub(super) struct Place {
    /// The vendor, by the conventions' name for it.
    provider: String,
    host: Option<String>,
    port: Option<u16>,
}

impl Place {
    pub(super) fn of(info: &DriverInfo) -> Self {
        let (host, port) = host_and_port(&info.base_url);
        Place {
            provider: provider_name(info.vendor.as_str()).to_owned(),
            host,
            port,
        }
    }
}

/// The conventions' own word for a vendor, where it is not ours.
fn provider_name(vendor: &str) -> &str {
    match vendor {
        "bedrock" => "aws.bedrock",
        "gemini" => "gcp.gemini",
        "mistral" => "mistral_ai",
        other => other,
    }
}

/// Of a URL only these: a path, a query or a user's part may hold what is nobody's business.
fn host_and_port(url: &str) -> (Option<String>, Option<u16>) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let address = authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = match address.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port.parse().ok()),
        _ => (address, None),
    };
    ((!host.is_empty()).then(|| host.to_owned()), port)
}

/// The span of a call. Dropped before its end was told, it says that it was dropped.
#[derive(Debug)]
pub(super) struct CallSpan {
    span: Span,
    clock: Arc<dyn Clock>,
    started: Instant,
    has_content: bool,
    is_over: bool,
}

impl CallSpan {
    /// Opens a span; nothing, when nobody listens.
    pub(super) fn open(
        cx: &CallContext,
        info: &DriverInfo,
        place: &Place,
        request: &ChatRequest,
        streamed: bool,
    ) -> Option<Self> {
        let span = info_span!(
            target: "llm_resilience::trace",
            "chat",
            "otel.name" = Empty,
            "otel.kind" = "client",
            "otel.status_code" = Empty,
            "gen_ai.operation.name" = "chat",
            "gen_ai.provider.name" = place.provider,
            "gen_ai.request.model" = request.model.as_ref().map(ModelId::as_str),
            "gen_ai.request.max_tokens" = request.max_output_tokens,
            "gen_ai.request.temperature" = request.sampling.temperature,
            "gen_ai.request.top_p" = request.sampling.top_p,
            "gen_ai.response.id" = Empty,
            "gen_ai.response.model" = Empty,
            "gen_ai.response.finish_reasons" = Empty,
            "gen_ai.usage.input_tokens" = Empty,
            "gen_ai.usage.output_tokens" = Empty,
            "gen_ai.usage.reasoning.output_tokens" = Empty,
            "gen_ai.usage.cache_read.input_tokens" = Empty,
            "gen_ai.usage.cache_creation.input_tokens" = Empty,
            "gen_ai.input.messages" = Empty,
            "gen_ai.output.messages" = Empty,
            "server.address" = place.host,
            "server.port" = place.port,
            "error.type" = Empty,
            "http.response.status_code" = Empty,
            "llm_router.driver" = info.id.as_str(),
            "llm_router.request_id" = cx.request_id(),
            "llm_router.stream" = streamed,
            "llm_router.outcome" = Empty,
            "llm_router.attempts" = Empty,
            "llm_router.wait_ms" = Empty,
            "llm_router.queue_wait_ms" = Empty,
            "llm_router.first_content_ms" = Empty,
            "llm_router.from_cache" = Empty,
            "llm_router.cost_pico_usd" = Empty,
        );
        if span.is_disabled() {
            return None;
        }
        match &request.model {
            Some(model) => span.record("otel.name", format!("chat {model}")),
            None => span.record("otel.name", "chat"),
        };
        Some(CallSpan {
            span,
            started: cx.clock().now(),
            clock: Arc::clone(cx.clock()),
            has_content: false,
            is_over: false,
        })
    }

    pub(super) fn span(&self) -> Span {
        self.span.clone()
    }

    /// What is asked. Only where somebody chose to show it.
    pub(super) fn asked(&self, request: &ChatRequest) {
        self.span
            .record("gen_ai.input.messages", content::of_request(request));
    }

    /// The head of an answer.
    pub(super) fn begun(&self, meta: &ResponseMeta) {
        self.span.record("gen_ai.response.id", meta.id.as_deref());
        self.span.record("gen_ai.response.model", meta.model.as_deref());
        self.span.record("llm_router.from_cache", meta.from_cache);
    }

    /// Content came; the first one counts.
    pub(super) fn content_came(&mut self) {
        if !self.has_content {
            self.has_content = true;
            let after = self.clock.now().saturating_duration_since(self.started);
            self.span.record("llm_router.first_content_ms", millis::of(after));
        }
    }

    /// What was used, as far as it was told.
    pub(super) fn used(&self, usage: &Usage) {
        self.span.record("gen_ai.usage.input_tokens", usage.input_tokens);
        self.span
            .record("gen_ai.usage.output_tokens", usage.output_tokens);
        self.span
            .record("gen_ai.usage.reasoning.output_tokens", usage.reasoning_tokens);
        self.span
            .record("gen_ai.usage.cache_read.input_tokens", usage.cached_input_tokens);
        let written = [
            usage.cache_write_input_tokens,
            usage.cache_write_long_input_tokens,
        ];
        let written = written.into_iter().flatten().reduce(u64::saturating_add);
        self.span
            .record("gen_ai.usage.cache_creation.input_tokens", written);
        let cost = usage.cost.map(|cost| cost.pico_usd);
        self.span.record("llm_router.cost_pico_usd", cost);
    }

    /// What was tried, where a layer or a router kept the log.
    pub(super) fn tried(&self, attempts: &[Attempt]) {
        if attempts.is_empty() {
            return;
        }
        self.span.record("llm_router.attempts", attempts.len());
        let waited = attempts.iter().map(|attempt| attempt.wait_ms);
        self.span
            .record("llm_router.wait_ms", waited.fold(0, u64::saturating_add));
    }

    /// It is there whole.
    pub(super) fn answered(&mut self, response: &ChatResponse, content: bool) {
        self.begun(&response.meta);
        self.used(&response.usage);
        self.tried(&response.attempts);
        if content {
            self.said(response);
        }
        self.finished(&response.finish);
    }

    /// What was answered. Only where somebody chose to show it.
    pub(super) fn said(&self, response: &ChatResponse) {
        self.span
            .record("gen_ai.output.messages", content::of_response(response));
    }

    /// It ended well.
    pub(super) fn finished(&mut self, reason: &FinishReason) {
        self.span
            .record("gen_ai.response.finish_reasons", debug([reason.kind.as_str()]));
        self.span.record("llm_router.outcome", "finished");
        self.is_over = true;
    }

    /// It failed.
    pub(super) fn failed(&mut self, error: &Error) {
        self.span.record("error.type", error.kind().as_str());
        self.span
            .record("http.response.status_code", error.vendor().status);
        // Who went away is not at fault.
        if error.kind() != ErrorKind::Cancelled {
            self.span.record("otel.status_code", "ERROR");
        }
        self.tried(error.attempts());
        self.span.record("llm_router.outcome", "failed");
        self.is_over = true;
    }

    /// It ended, and nobody said how.
    pub(super) fn ended(&mut self) {
        self.is_over = true;
    }
}

impl Drop for CallSpan {
    fn drop(&mut self) {
        if !self.is_over {
            self.span.record("llm_router.outcome", "dropped");
        }
    }
}

/// Tells the span of the call that is going on that it waited in a queue since then, where it did.
pub(crate) fn note_queue_wait(cx: &CallContext, since: Instant) {
    let waited = cx.clock().now().saturating_duration_since(since);
    if !waited.is_zero() {
        Span::current().record("llm_router.queue_wait_ms", millis::of(waited));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_url_only_host_and_port_are_shown() {
        for (url, host, port) in [
            ("https://api.vendor.test/v1?key=k", Some("api.vendor.test"), None),
            (
                "http://user:pass@127.0.0.1:8080/v1",
                Some("127.0.0.1"),
                Some(8080),
            ),
            ("http://user:p@ss@host", Some("host"), None),
            ("http://[::1]:11434", Some("[::1]"), Some(11434)),
            ("http://[::1]", Some("[::1]"), None),
            ("https://host?token=t", Some("host"), None),
            ("", None, None),
        ] {
            assert_eq!(host_and_port(url), (host.map(str::to_owned), port), "{url}");
        }
    }
}
