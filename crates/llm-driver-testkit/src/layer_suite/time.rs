//! When things happen: nothing is held back, deadlines are kept, and who goes away is not waited for.

use super::{DRIVER, Subject, read, sample};
use crate::clock::TestClock;
use crate::recorded::Progress;
use crate::scenario::ensure;
use crate::scripted::{Reply, ScriptedDriver, Step};
use llm_core::{BlockKind, CallContext, ChatEvent, ChatRequest, Delta, Error, ErrorKind, Scope, Stack};
use sample::SECOND;
use std::time::Duration;
use tokio::time::timeout;

/// Longer than any limit of a neutral layer, shorter than for ever.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

/// From the first content on, an event reaches the caller in the instant in which the driver hands it out.
pub(super) async fn first_token(subject: &Subject) -> Result<(), String> {
    let delta = |text: &str| {
        Step::Event(ChatEvent::BlockDelta {
            index: 0,
            delta: Delta::Text(text.to_owned()),
        })
    };
    let pair = subject.always(Reply::steps([
        Step::Event(ChatEvent::Start(Box::default())),
        Step::Delay(SECOND),
        Step::Event(ChatEvent::BlockStart {
            index: 0,
            kind: BlockKind::Text,
        }),
        Step::Delay(SECOND),
        delta("a"),
        Step::Delay(SECOND),
        delta("b"),
        Step::Event(ChatEvent::KeepAlive),
        delta("c"),
        Step::Hang,
    ]));
    let bare = content_times(&pair.bare).await?;
    let layered = content_times(&pair.layered).await?;
    ensure!(
        bare == layered,
        "pieces of content reach the caller after {layered:?}; the driver sent them after {bare:?}"
    );
    Ok(())
}

/// When the three pieces of content came, counted from the call.
async fn content_times(stack: &Stack) -> Result<Vec<Duration>, String> {
    let cx = TestClock::context();
    let start = cx.clock().now();
    let mut times = Vec::new();
    let reading = async {
        let mut stream = stack
            .chat_stream(&cx, &sample::request())
            .await
            .map_err(|error| error.to_string())?;
        while times.len() < 3 {
            match stream.next_event().await {
                Some(Ok(event)) if event.is_content() => times.push(cx.clock().now() - start),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error.to_string()),
                None => return Err("the stream ended".to_owned()),
            }
        }
        Ok(())
    };
    let outcome = timeout(10 * SECOND, reading).await;
    outcome
        .unwrap_or_else(|_| Err("the next one was held back".to_owned()))
        .map_err(|what| format!("after {} pieces of content: {what}", times.len()))?;
    Ok(times)
}

/// A call that hangs holds up no other.
pub(super) async fn concurrent(subject: &Subject) -> Result<(), String> {
    let pair = subject.around(ScriptedDriver::new(
        DRIVER,
        [
            Reply::hang(),
            Reply::text("hello").hanging_after(3),
            Reply::text("third"),
        ],
    ));
    let cx = TestClock::context();
    let ask = |text: &str| ChatRequest::user(text);
    let (first, second, third) = (ask("first"), ask("second"), ask("third"));
    let mut hanging = std::pin::pin!(pair.layered.chat(&cx, &first));
    ensure!(
        timeout(SECOND, &mut hanging).await.is_err(),
        "a call of a driver that hangs ends at once"
    );
    let stream = timeout(SECOND, pair.layered.chat_stream(&cx, &second)).await;
    let _stream = stream.map_err(|_| "a stream waits for another call".to_owned())?;
    let answer = timeout(SECOND, pair.layered.chat(&cx, &third))
        .await
        .map_err(|_| "a call waits for another call and an open stream".to_owned())?;
    let text = answer.map_err(|error| error.to_string())?.text();
    ensure!(text == "third", "the third call is answered {text:?}");
    Ok(())
}

/// The caller's deadline ends a call and a stream at any point, and is said to be the caller's.
pub(super) async fn deadline(subject: &Subject) -> Result<(), String> {
    for reply in [
        Reply::hang(),
        Reply::text("hello").hanging_after(0),
        Reply::text("hello").hanging_after(1),
        Reply::text("hello").hanging_after(3),
    ] {
        for stream in [false, true] {
            let pair = subject.always(reply.clone());
            let cx = TestClock::context().with_timeout(5 * SECOND);
            let start = cx.clock().now();
            let error = timeout(LONG, failure(&pair.layered, &cx, stream))
                .await
                .map_err(|_| "a call with a deadline never ends".to_owned())?;
            let took = cx.clock().now() - start;
            ensure!(
                took == 5 * SECOND,
                "a call with 5 s left ends after {took:?} (stream: {stream})"
            );
            is_deadline(error)?;
        }
    }
    for stream in [false, true] {
        let pair = subject.always(Reply::hang());
        let cx = TestClock::context().with_timeout(Duration::ZERO);
        is_deadline(failure(&pair.layered, &cx, stream).await)?;
    }
    Ok(())
}

async fn failure(stack: &Stack, cx: &CallContext, stream: bool) -> Option<Error> {
    if stream {
        super::stream_of(stack, cx, &sample::request()).await.1
    } else {
        stack.chat(cx, &sample::request()).await.err()
    }
}

fn is_deadline(error: Option<Error>) -> Result<(), String> {
    match error {
        Some(error) if (error.kind(), error.scope()) == (ErrorKind::Timeout, Scope::Request) => Ok(()),
        other => Err(format!(
            "a passed deadline is reported as {other:?}; expected timeout with scope request"
        )),
    }
}

/// Dropping a plain call drops the driver's.
pub(super) async fn cancel_plain(subject: &Subject) -> Result<(), String> {
    for reply in [Reply::hang(), Reply::text("hello").hanging_after(3)] {
        let pair = subject.always(reply);
        let (cx, request) = (TestClock::context(), sample::request());
        let call = timeout(SECOND, pair.layered.chat(&cx, &request)).await;
        ensure!(call.is_err(), "a call of a driver that hangs ends at once");
        is_dropped(&pair.driver).await?;
    }
    Ok(())
}

/// Dropping a stream drops the driver's, before its first event, before and after its first content.
pub(super) async fn cancel_stream(subject: &Subject) -> Result<(), String> {
    for reply in [
        Reply::hang(),
        Reply::text("hello").hanging_after(0),
        Reply::text("hello").hanging_after(1),
        Reply::text("hello").hanging_after(3),
    ] {
        let pair = subject.always(reply);
        let reading = async {
            if let Ok(stream) = pair
                .layered
                .chat_stream(&TestClock::context(), &sample::request())
                .await
            {
                let _ = read(stream).await;
            }
        };
        ensure!(
            timeout(SECOND, reading).await.is_err(),
            "a stream of a driver that hangs ends at once"
        );
        is_dropped(&pair.driver).await?;
    }
    Ok(())
}

async fn is_dropped(driver: &ScriptedDriver) -> Result<(), String> {
    // A layer may own a task that it aborts: that takes a turn of the runtime.
    tokio::time::sleep(Duration::from_millis(1)).await;
    let calls = driver.calls();
    let progress: Vec<_> = calls.iter().map(|call| call.progress).collect();
    ensure!(
        progress == [Progress::Dropped],
        "the caller went away, and the driver's call is {progress:?}; expected [Dropped]"
    );
    Ok(())
}

/// Many calls that were dropped leave nothing behind: the next one is served.
pub(super) async fn after_cancel(subject: &Subject) -> Result<(), String> {
    let hanging = subject.always(Reply::hang());
    let cx = TestClock::context();
    for number in 0..200 {
        let request = ChatRequest::user(format!("question {number}"));
        let chat = timeout(Duration::from_millis(1), hanging.layered.chat(&cx, &request)).await;
        let stream = timeout(
            Duration::from_millis(1),
            hanging.layered.chat_stream(&cx, &request),
        )
        .await;
        ensure!(
            chat.is_err() && stream.is_err(),
            "call {number} of a driver that hangs ends: {:?}",
            chat.map(|outcome| outcome.err())
        );
    }
    let pair = subject.always(Reply::text("hello"));
    let served = timeout(SECOND, pair.layered.chat(&cx, &sample::request())).await;
    let served = served.map_err(|_| "after 200 dropped calls the next one waits".to_owned())?;
    let text = served
        .map_err(|error| format!("after 200 dropped calls the next one fails: {error}"))?
        .text();
    ensure!(
        text == "hello",
        "after 200 dropped calls the next one is answered {text:?}"
    );
    Ok(())
}
