//! Streams: what may be replaced, and from when on nothing may.

use super::{Subject, failed, shown};
use crate::clock::TestClock;
use crate::scenario::ensure;
use crate::scripted::{Reply, Step};
use llm_core::stream::collect;
use llm_core::{BlockKind, ChatEvent, ChatRequest, Delta, Error, ErrorKind, Phase};
use std::time::Duration;
use tokio::time::timeout;

fn cut() -> Error {
    Error::new(ErrorKind::Interrupted, "cut").with_phase(Phase::Streaming)
}

/// A stream that breaks before its first content is replaced, and the caller sees one stream only.
pub(super) async fn before_content(subject: &Subject) -> Result<(), String> {
    for after in [0, 1, 2] {
        let fleet = subject.replying([Reply::text("hello").broken_after(after, cut()), Reply::text("b")]);
        let request = ChatRequest::user("hi");
        let mut stream = fleet
            .router
            .chat_stream(&TestClock::context(), &request)
            .await
            .map_err(failed)?;
        let mut starts = 0;
        let mut text = String::new();
        while let Some(event) = stream.next_event().await {
            match event.map_err(failed)? {
                ChatEvent::Start(_) => starts += 1,
                ChatEvent::BlockDelta {
                    delta: Delta::Text(piece),
                    ..
                } => text.push_str(&piece),
                _ => {}
            }
        }
        ensure!(
            (text.as_str(), starts) == ("b", 1),
            "broken after {after} events, the caller reads {text:?} after {starts} starts"
        );
    }
    Ok(())
}

/// Once the caller has seen content, a failure is the stream's, and nobody else is asked.
pub(super) async fn after_content(subject: &Subject) -> Result<(), String> {
    let fleet = subject.replying([Reply::text("hello").broken_after(3, cut()), Reply::text("b")]);
    let request = ChatRequest::user("hi");
    let stream = fleet
        .router
        .chat_stream(&TestClock::context(), &request)
        .await
        .map_err(failed)?;
    let error = collect(stream)
        .await
        .err()
        .ok_or("a broken stream folds to an answer")?;
    ensure!(
        (error.kind(), error.phase()) == (ErrorKind::Interrupted, Phase::Streaming),
        "the stream ends with {} in phase {:?}",
        error.kind(),
        error.phase()
    );
    ensure!(fleet.called() == [1, 0], "calls: {:?}", fleet.called());
    Ok(())
}

/// From the first content on, an event reaches the caller in the instant in which the driver hands it out.
pub(super) async fn first_token(subject: &Subject) -> Result<(), String> {
    let delta = |text: &str| {
        Step::Event(ChatEvent::BlockDelta {
            index: 0,
            delta: Delta::Text(text.to_owned()),
        })
    };
    let second = Duration::from_secs(1);
    let fleet = subject.replying([Reply::steps([
        Step::Event(ChatEvent::Start(Box::default())),
        Step::Event(ChatEvent::BlockStart {
            index: 0,
            kind: BlockKind::Text,
        }),
        Step::Delay(second),
        delta("a"),
        Step::Delay(second),
        delta("b"),
        Step::Hang,
    ])]);
    let cx = TestClock::context();
    let start = cx.clock().now();
    let request = ChatRequest::user("hi");
    let mut times = Vec::new();
    let reading = async {
        let mut stream = fleet.router.chat_stream(&cx, &request).await?;
        while let Some(event) = stream.next_event().await {
            if event?.is_content() {
                times.push(cx.clock().now() - start);
            }
        }
        Ok::<_, Error>(())
    };
    let read = timeout(10 * second, reading).await;
    ensure!(read.is_err(), "a stream that hangs ends");
    ensure!(
        times == [second, 2 * second],
        "content comes after {times:?}; the driver sent it after 1 s and 2 s"
    );
    Ok(())
}

/// Both ways of asking give one answer, log included.
pub(super) async fn folds(subject: &Subject) -> Result<(), String> {
    let replies = || {
        [
            Reply::error(Error::new(ErrorKind::Server, "as scripted")),
            Reply::text("an answer"),
        ]
    };
    let request = ChatRequest::user("hi");
    let plain = subject
        .replying(replies())
        .ask(&TestClock::context())
        .await
        .map_err(failed)?;
    let fleet = subject.replying(replies());
    let stream = fleet
        .router
        .chat_stream(&TestClock::context(), &request)
        .await
        .map_err(failed)?;
    let folded = collect(stream).await.map_err(failed)?;
    ensure!(
        plain.text() == folded.text() && plain.finish == folded.finish && plain.usage == folded.usage,
        "a plain call answers {plain:?} and a stream folds to {folded:?}"
    );
    ensure!(
        shown(&plain.attempts) == shown(&folded.attempts),
        "their logs differ: {:?} and {:?}",
        plain.attempts,
        folded.attempts
    );
    Ok(())
}
