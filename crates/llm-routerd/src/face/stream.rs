//! Streamed answers: when the head goes out, what stands in it, and what goes in-band.
//!
//! The head waits for the commit point or for `proxy.head_wait_seconds`, so that status, `Retry-After` and the
//! router's headers are true. After that it is a 200 without them; comments keep the connection alive, and a failure
//! and the serving backend go in-band.

use super::chat_completions::tell_winner;
use super::{error_response, for_caller};
use crate::call_log::CallLog;
use crate::config::ProxyConfig;
use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use llm_suite::core::{ChatEvent, ChatStream, Result};
use llm_wire::chat_completions::{EncodeOptions, StreamEncoder};
use llm_wire::frame::encode_sse_comment;
use std::convert::Infallible;
use std::time::Duration;
use tokio::time::timeout;

/// A stream that is being opened: ready at the commit point.
pub(super) type Opening = BoxFuture<'static, Result<ChatStream>>;

/// Events that are ready at once go out together, up to this many bytes.
const FLUSH_AT: usize = 16 * 1024;

/// How long is waited, and what for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waits {
    /// The head, for the first content.
    head: Duration,
    /// Silence, before a comment goes out.
    keep_alive: Duration,
}

impl Waits {
    pub(super) fn of(config: &ProxyConfig) -> Self {
        Waits {
            head: Duration::from_secs(config.head_wait_seconds),
            keep_alive: Duration::from_secs(config.keep_alive_seconds),
        }
    }
}

/// The response to a streamed call.
pub(super) async fn respond(
    mut opening: Opening,
    mut log: CallLog,
    options: EncodeOptions,
    waits: Waits,
) -> Result<Response> {
    let (source, known) = match timeout(waits.head, &mut opening).await {
        Ok(Ok(stream)) => {
            log.tried(stream.attempts());
            (Source::Open(Box::new(stream)), true)
        }
        Ok(Err(error)) => {
            log.failed(&error, false);
            return Ok(error_response(&error));
        }
        Err(_) => (Source::Opening(opening), false),
    };
    let winner = log.winner().filter(|_| known);
    let asked = options.model.clone();
    let answer = Answer {
        asked,
        source,
        log,
        encoder: StreamEncoder::new(options),
        keep_alive: waits.keep_alive,
        told: known,
    };
    let chunks = futures_util::stream::unfold(answer, |mut answer| async move {
        let chunk = answer.next_chunk().await?;
        Some((Ok::<Bytes, Infallible>(chunk), answer))
    });
    let mut response = Response::new(Body::from_stream(chunks));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    tell_winner(&mut response, winner.as_ref());
    Ok(response)
}

/// An answer on its way out. Dropping it (the client left) drops the upstream call and records the end.
struct Answer {
    /// The model as the caller named it.
    asked: String,
    source: Source,
    log: CallLog,
    encoder: StreamEncoder,
    keep_alive: Duration,
    /// Does the client know who serves?
    told: bool,
}

enum Source {
    Opening(Opening),
    Open(Box<ChatStream>),
    Over,
}

impl Answer {
    async fn next_chunk(&mut self) -> Option<Bytes> {
        let mut out = Vec::new();
        while out.is_empty() {
            match &mut self.source {
                Source::Over => return None,
                Source::Opening(opening) => match timeout(self.keep_alive, opening).await {
                    Err(_) => encode_sse_comment("keep-alive", &mut out),
                    Ok(Ok(stream)) => self.opened(stream, &mut out),
                    Ok(Err(error)) => {
                        self.log.failed(&error, false);
                        self.encoder.error(&for_caller(&error), &mut out);
                        self.source = Source::Over;
                    }
                },
                Source::Open(stream) => match timeout(self.keep_alive, stream.next_event()).await {
                    Err(_) => encode_sse_comment("keep-alive", &mut out),
                    Ok(event) => {
                        self.take(event, &mut out);
                        self.take_what_is_ready(&mut out);
                    }
                },
            }
        }
        Some(Bytes::from(out))
    }

    fn opened(&mut self, stream: ChatStream, out: &mut Vec<u8>) {
        self.log.tried(stream.attempts());
        if let (false, Some(winner)) = (self.told, self.log.winner()) {
            encode_sse_comment(&format!("x-router-backend: {}", winner.backend), out);
        }
        self.told = true;
        self.source = Source::Open(Box::new(stream));
    }

    fn take(&mut self, event: Option<Result<ChatEvent>>, out: &mut Vec<u8>) {
        match event {
            Some(Ok(mut event)) => {
                match &mut event {
                    // the caller's name for it, as in a plain answer
                    ChatEvent::Start(meta) => meta.model = Some(self.asked.clone()),
                    ChatEvent::Usage(usage) => self.log.used(usage),
                    ChatEvent::Finish { usage, .. } => {
                        self.log.used(usage);
                        self.log.served();
                    }
                    _ => {}
                }
                self.encoder.push(&event, out);
            }
            Some(Err(error)) => {
                self.log.failed(&error, true);
                self.encoder.error(&for_caller(&error), out);
                self.source = Source::Over;
            }
            None => self.source = Source::Over,
        }
    }

    /// Takes further events as long as they are there already.
    fn take_what_is_ready(&mut self, out: &mut Vec<u8>) {
        while out.len() < FLUSH_AT {
            let Source::Open(stream) = &mut self.source else {
                return;
            };
            let Some(event) = stream.next_event().now_or_never() else {
                return;
            };
            self.take(event, out);
        }
    }
}
