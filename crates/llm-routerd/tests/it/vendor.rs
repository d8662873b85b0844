//! What fake vendors answer, and what clients ask.

use llm_driver_testkit::{Answer, FakeServer, Framing, Piece};
use serde_json::{Value, json};
use std::time::Duration;

/// The body of a call.
pub(crate) fn ask(model: &str) -> Value {
    json!({ "model": model, "messages": [{ "role": "user", "content": "prompt-sentinel" }] })
}

/// The same, streamed.
pub(crate) fn ask_stream(model: &str) -> Value {
    let mut body = ask(model);
    body["stream"] = json!(true);
    body
}

/// A whole answer.
pub(crate) fn says(text: &str) -> Answer {
    let body = json!({
        "id": "chatcmpl-vendor", "object": "chat.completion", "created": 1_790_000_000, "model": "served-model",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9 },
    });
    Answer::json(200, body.to_string())
}

/// A failure in OpenAI's envelope.
pub(crate) fn fails(status: u16, kind: &str, code: &str) -> Answer {
    let body = json!({
        "error": { "message": "vendor-text-sentinel", "type": kind, "param": null, "code": code }
    });
    Answer::json(status, body.to_string())
}

/// 429 with a hint.
pub(crate) fn limited(seconds: u32) -> Answer {
    fails(429, "requests", "rate_limit_exceeded").with_header("retry-after", seconds.to_string())
}

/// One event of a stream.
pub(crate) fn event(delta: Value, finish: Option<&str>) -> String {
    let chunk = json!({
        "id": "chatcmpl-vendor", "object": "chat.completion.chunk", "created": 1_790_000_000,
        "model": "served-model",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
    });
    format!("data: {chunk}\n\n")
}

/// A piece of text as an event.
pub(crate) fn text(text: &str) -> Piece {
    event(json!({ "content": text }), None).into()
}

/// The first event of a stream: a role, no content yet.
pub(crate) fn opened() -> Answer {
    Answer::sse(event(json!({ "role": "assistant", "content": "" }), None))
}

/// The last events of a stream.
pub(crate) fn closing() -> Piece {
    let usage = json!({
        "id": "chatcmpl-vendor", "object": "chat.completion.chunk", "created": 1_790_000_000,
        "model": "served-model", "choices": [],
        "usage": { "prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9 },
    });
    let finish = event(json!({}), Some("stop"));
    format!("{finish}data: {usage}\n\ndata: [DONE]\n\n").into()
}

/// A whole stream of these texts.
pub(crate) fn streams(texts: &[&str]) -> Answer {
    opened()
        .with_pieces(texts.iter().copied().map(text))
        .with_piece(closing())
}

/// A stream on a connection that is closed after it: nothing stays in the daemon's pool.
pub(crate) fn streams_and_closes(texts: &[&str]) -> Answer {
    streams(texts).with_framing(Framing::UntilClose)
}

/// Seconds, as a pause.
pub(crate) fn pause(seconds: u64) -> Piece {
    Piece::Delay(Duration::from_secs(seconds))
}

/// A vendor that plays these answers.
pub(crate) async fn vendor(answers: impl IntoIterator<Item = Answer>) -> FakeServer {
    FakeServer::start(answers).await.unwrap()
}

/// All its connections are closed.
pub(crate) async fn freed(vendor: &FakeServer) {
    let closed = vendor
        .wait_for(crate::client::PATIENCE, |now| now.open == 0)
        .await;
    assert!(closed, "a connection to the vendor stayed open");
}
