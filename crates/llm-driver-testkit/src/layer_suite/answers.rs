//! What goes in and comes out: requests, responses, events and errors.

use super::{DRIVER, Pair, Subject, read, sample, shown, shown_error, stream_of};
use crate::clock::TestClock;
use crate::log_capture::Captured;
use crate::scenario::ensure;
use crate::scripted::{Reply, ScriptedDriver};
use crate::subject::SENTINEL_PROMPT;
use llm_core::{ChatEvent, ChatRequest, Error, ErrorKind, RawRequest, WireFormatId};
use std::time::Duration;

#[derive(Debug, PartialEq)]
struct Traveller(u8);

/// Request and context reach the driver as they are.
pub(super) async fn request(subject: &Subject) -> Result<(), String> {
    let pair = subject.always(Reply::text("hello"));
    let request = sample::request();
    let cx = TestClock::context()
        .with_timeout(Duration::from_secs(40))
        .with_attempt(3)
        .with_max_queue_wait(Duration::from_secs(2))
        .with_idempotency_key("key-1")
        .with_request_id("call-1")
        .with_prefer_quality(true)
        .with_extension(Traveller(9));
    // What came of the answers is the other scenarios' question.
    let _ = pair.layered.chat(&cx, &request).await;
    let _ = stream_of(&pair.layered, &cx, &request).await;
    let calls = pair.driver.calls();
    ensure!(
        calls.iter().map(|call| call.stream).eq([false, true]),
        "a plain call and a stream reached the driver as {} calls with stream = {:?}",
        calls.len(),
        calls.iter().map(|call| call.stream).collect::<Vec<_>>()
    );
    for call in calls {
        let found = &call.context;
        let verb = if call.stream { "chat_stream" } else { "chat" };
        ensure!(call.request == request, "{verb} changes the request");
        ensure!(found.deadline() == cx.deadline(), "{verb} changes the deadline");
        ensure!(
            call.remaining == cx.remaining(),
            "{verb} lets time pass before it calls"
        );
        ensure!(
            found.attempt() == cx.attempt(),
            "{verb} makes attempt {} of attempt 3",
            found.attempt()
        );
        ensure!(
            found.max_queue_wait() == cx.max_queue_wait(),
            "{verb} changes max_queue_wait"
        );
        ensure!(
            found.idempotency_key() == cx.idempotency_key(),
            "{verb} changes the idempotency key"
        );
        ensure!(
            found.request_id() == cx.request_id(),
            "{verb} changes the request id"
        );
        ensure!(
            found.prefers_quality() == cx.prefers_quality(),
            "{verb} changes prefer_quality"
        );
        ensure!(
            found.extensions().find() == Some(&Traveller(9)),
            "{verb} loses the context's extensions"
        );
    }
    Ok(())
}

/// A plain call answers what the driver answers.
pub(super) async fn response(subject: &Subject) -> Result<(), String> {
    for reply in sample::answers() {
        let pair = subject.always(reply);
        let cx = TestClock::context();
        let [bare, layered] = [
            pair.bare.chat(&cx, &sample::request()).await,
            pair.layered.chat(&cx, &sample::request()).await,
        ]
        .map(|outcome| {
            outcome
                .map(|response| shown(&response))
                .map_err(|error| shown_error(&error))
        });
        ensure!(
            bare == layered,
            "the response changes from {bare:#?} to {layered:#?}"
        );
    }
    Ok(())
}

/// A stream brings the driver's events, all of them, in order, with what the stream itself says beside them.
pub(super) async fn events(subject: &Subject) -> Result<(), String> {
    for reply in sample::answers() {
        let pair = subject.always(reply);
        let cx = TestClock::context();
        let mut seen = Vec::new();
        for stack in [&pair.bare, &pair.layered] {
            let mut stream = stack
                .chat_stream(&cx, &sample::request())
                .await
                .map_err(|error| format!("chat_stream fails: {error}"))?;
            let mut events = Vec::new();
            while let Some(event) = stream.next_event().await {
                events.push(event.map_err(|error| format!("the stream fails: {error}"))?);
            }
            let beside = format!(
                "{:?} {:?} {:?} {:?}",
                stream.meta(),
                stream.attempts(),
                stream.usage(),
                stream.finish_reason()
            );
            seen.push((events, beside));
        }
        ensure!(
            seen[0].0 == seen[1].0,
            "the events change from {:#?} to {:#?}",
            seen[0].0,
            seen[1].0
        );
        ensure!(
            seen[0].1 == seen[1].1,
            "what a stream says of itself changes from {} to {}",
            seen[0].1,
            seen[1].1
        );
    }
    Ok(())
}

/// A stream through the layer folds to what a plain call through it answers.
pub(super) async fn folds(subject: &Subject) -> Result<(), String> {
    for reply in sample::answers() {
        let pair = subject.always(reply);
        let cx = TestClock::context();
        let failed = |error: Error| format!("it fails: {error}");
        let plain = pair.layered.chat(&cx, &sample::request()).await.map_err(failed)?;
        let stream = pair
            .layered
            .chat_stream(&cx, &sample::request())
            .await
            .map_err(failed)?;
        let attempts = stream.attempts().to_vec();
        let mut folded = llm_core::stream::collect(stream).await.map_err(failed)?;
        if folded.attempts.is_empty() {
            folded.attempts = attempts;
        }
        ensure!(
            shown(&plain) == shown(&folded),
            "a plain call answers {plain:#?} and a stream folds to {folded:#?}"
        );
    }
    Ok(())
}

/// Errors pass as they are: kind, scope, phase, hint, facts, attempts, source.
pub(super) async fn errors(subject: &Subject) -> Result<(), String> {
    for error in sample::errors() {
        let pair = subject.always(Reply::error(error));
        let cx = TestClock::context();
        let request = sample::request();
        let plain = [&pair.bare, &pair.layered].map(|stack| stack.chat(&cx, &request));
        let [bare, layered] = plain;
        same_error("chat", bare.await.err(), layered.await.err())?;
        let (_, bare) = stream_of(&pair.bare, &cx, &request).await;
        let (_, layered) = stream_of(&pair.layered, &cx, &request).await;
        same_error("chat_stream", bare, layered)?;
    }
    Ok(())
}

/// An error in the middle of a stream passes as it is, behind everything that came before it. One before the first
/// content may come earlier, as the error of the call.
pub(super) async fn late_errors(subject: &Subject) -> Result<(), String> {
    for error in sample::errors() {
        for after in [1, 2, 3] {
            let pair = subject.always(Reply::text("hello").broken_after(after, error.clone()));
            let cx = TestClock::context();
            let bare = stream_of(&pair.bare, &cx, &sample::request()).await;
            let layered = stream_of(&pair.layered, &cx, &sample::request()).await;
            same_error("a stream", bare.1, layered.1)?;
            if bare.0.iter().any(ChatEvent::is_content) {
                ensure!(
                    bare.0 == layered.0,
                    "before the error come {:?}; the driver sent {:?}",
                    layered.0,
                    bare.0
                );
            }
        }
    }
    Ok(())
}

fn same_error(what: &str, bare: Option<Error>, layered: Option<Error>) -> Result<(), String> {
    let [bare, layered] = [bare, layered].map(|error| error.as_ref().map(shown_error));
    ensure!(
        bare == layered,
        "{what}: the error changes from {} to {}",
        bare.unwrap_or_default(),
        layered.unwrap_or_else(|| "a success".to_owned())
    );
    Ok(())
}

/// Raw mode reaches the driver, and its frames the caller.
pub(super) async fn raw(subject: &Subject) -> Result<(), String> {
    let pair = subject.always(Reply::steps(sample::raw_events()));
    let body = RawRequest::new(WireFormatId::new("some_format"), "{}".into());
    let cx = TestClock::context().with_raw(Some(body.clone()));
    let (bare, _) = stream_of(&pair.bare, &cx, &sample::request()).await;
    let (layered, error) = stream_of(&pair.layered, &cx, &sample::request()).await;
    ensure!(
        bare == layered,
        "the frames change from {bare:?} to {layered:?} ({error:?})"
    );
    let handed = pair
        .driver
        .calls()
        .pop()
        .and_then(|call| call.context.raw().cloned());
    ensure!(
        handed == Some(body),
        "the raw body does not reach the driver: {handed:?}"
    );
    Ok(())
}

/// One call is one call, whatever comes of it.
pub(super) async fn once(subject: &Subject) -> Result<(), String> {
    let mut replies: Vec<_> = sample::errors().into_iter().map(Reply::error).collect();
    replies.push(Reply::text("hello"));
    let broken = Error::new(ErrorKind::Interrupted, "cut");
    replies.extend([1, 3].map(|after| Reply::text("hello").broken_after(after, broken.clone())));
    for reply in replies {
        let pair = subject.always(reply);
        let _ = pair.layered.chat(&TestClock::context(), &sample::request()).await;
        let plain = pair.driver.call_count();
        let _ = stream_of(&pair.layered, &TestClock::context(), &sample::request()).await;
        let streamed = pair.driver.call_count() - plain;
        ensure!(
            (plain, streamed) == (1, 1),
            "a plain call is {plain} calls of the driver, a stream {streamed}"
        );
    }
    Ok(())
}

/// Neither `Debug` nor what is logged shows what was said.
pub(super) async fn secrets(subject: &Subject) -> Result<(), String> {
    let log = Captured::begin();
    let cut = Error::new(ErrorKind::Interrupted, "cut");
    let text = || Reply::text(SENTINEL_PROMPT);
    let pair = subject.around(ScriptedDriver::new(
        DRIVER,
        [
            text(),
            text(),
            text().broken_after(3, cut.clone()),
            text().broken_after(3, cut),
            Reply::error(Error::new(ErrorKind::Overloaded, "busy")),
        ],
    ));
    let cx = TestClock::context();
    let request = ChatRequest::user(SENTINEL_PROMPT);
    let Pair { layered, .. } = &pair;
    for stream in [false, true, false, true, false] {
        if stream {
            let Ok(stream) = layered.chat_stream(&cx, &request).await else {
                continue;
            };
            let shown = format!("{stream:?} {layered:?} {:?}", subject.layer);
            ensure!(!shown.contains(SENTINEL_PROMPT), "Debug shows content: {shown}");
            let _ = read(stream).await;
        } else {
            let _ = layered.chat(&cx, &request).await;
        }
        let shown = format!("{layered:#?} {:#?}", subject.layer);
        ensure!(!shown.contains(SENTINEL_PROMPT), "Debug shows content: {shown}");
    }
    let logged = log.text();
    ensure!(
        !logged.contains(SENTINEL_PROMPT),
        "the log shows content; say kinds, counts and ids: {logged}"
    );
    Ok(())
}
