//! Who is asked, in which order, and what comes of it.

use super::{Subject, failed, shown};
use crate::clock::TestClock;
use crate::recorded::Progress;
use crate::scenario::ensure;
use crate::scripted::{Reply, ScriptedDriver};
use llm_core::error::verdict::OtherCandidate;
use llm_core::stream::collect;
use llm_core::{
    Availability, CallContext, ChatDriver, ChatRequest, Error, ErrorKind, ModelId, ModelLimits,
    ResolvedModel, Scope, UnavailableReason,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

const SECOND: Duration = Duration::from_secs(1);

fn fails(kind: ErrorKind) -> Reply {
    Reply::error(Error::new(kind, "as scripted"))
}

/// Who is not needed is not asked.
pub(super) async fn first_serves(subject: &Subject) -> Result<(), String> {
    let fleet = subject.replying([Reply::text("a"), Reply::text("b")]);
    let answer = fleet.ask(&TestClock::context()).await.map_err(failed)?;
    ensure!(
        answer.text() == "a",
        "{:?} answers; expected the first",
        answer.text()
    );
    ensure!(
        fleet.called() == [1, 0],
        "calls: {:?}; expected one of the first",
        fleet.called()
    );
    Ok(())
}

/// Every kind of failure: the next is asked exactly where the verdict table lets it.
pub(super) async fn verdicts(subject: &Subject) -> Result<(), String> {
    for kind in ErrorKind::ALL {
        let error = Error::new(kind, "as scripted");
        let other = error.verdict().other;
        // between drivers whose windows nobody knows, a larger window is one that may be larger
        let expected = matches!(
            other,
            OtherCandidate::Yes
                | OtherCandidate::YesWithAlarm
                | OtherCandidate::BeforeCommit
                | OtherCandidate::LargerWindow
        );
        let fleet = subject.replying([Reply::error(error), Reply::text("b")]);
        let answer = fleet.ask(&TestClock::context()).await;
        let asked = fleet.called() == [1, 1];
        ensure!(
            asked == expected && answer.is_ok() == expected,
            "after {kind} the next is {}asked; the verdict says {other:?}",
            if asked { "" } else { "not " }
        );
        if let Err(error) = answer {
            ensure!(error.kind() == kind, "{kind} is reported as {}", error.kind());
        }
    }
    Ok(())
}

/// Every answer and every error says what was tried.
pub(super) async fn attempt_log(subject: &Subject) -> Result<(), String> {
    let fleet = subject.replying([
        fails(ErrorKind::Server),
        fails(ErrorKind::RateLimit),
        Reply::text("c"),
    ]);
    let expected = ["server", "rate_limit", "served"];
    let answer = fleet.ask(&TestClock::context()).await.map_err(failed)?;
    ensure!(
        shown(&answer.attempts) == expected,
        "the log is {:?}",
        answer.attempts
    );
    let fleet = subject.replying([
        fails(ErrorKind::Server),
        fails(ErrorKind::RateLimit),
        Reply::text("c"),
    ]);
    let request = ChatRequest::user("hi");
    let stream = fleet
        .router
        .chat_stream(&TestClock::context(), &request)
        .await
        .map_err(failed)?;
    ensure!(
        shown(stream.attempts()) == expected,
        "the stream's log is {:?}",
        stream.attempts()
    );
    let folded = collect(stream).await.map_err(failed)?;
    ensure!(
        shown(&folded.attempts) == expected,
        "the folded stream's log is {:?}",
        folded.attempts
    );
    let fleet = subject.replying([fails(ErrorKind::Server), fails(ErrorKind::InvalidRequest)]);
    let error = fleet.ask(&TestClock::context()).await.err();
    let log = error.as_ref().map(|error| shown(error.attempts()));
    ensure!(
        log.as_deref() == Some(["server".to_owned(), "invalid_request".to_owned()].as_slice()),
        "the error's log is {log:?}"
    );
    Ok(())
}

/// Whoever says that it is not available is not asked.
pub(super) async fn skips(subject: &Subject) -> Result<(), String> {
    let closed = Availability::unavailable(UnavailableReason::BreakerOpen, None);
    let fleet = subject.over(vec![
        ScriptedDriver::always("first", Reply::text("a")).with_availability(closed),
        ScriptedDriver::always("second", Reply::text("b")),
    ]);
    let answer = fleet.ask(&TestClock::context()).await.map_err(failed)?;
    ensure!(
        answer.text() == "b" && fleet.called() == [0, 1],
        "{:?} answers, calls: {:?}",
        answer.text(),
        fleet.called()
    );
    Ok(())
}

/// When nobody is available, the error says when the first is back.
pub(super) async fn all_skipped(subject: &Subject) -> Result<(), String> {
    for (reason, kind) in [
        (UnavailableReason::RateLimit, ErrorKind::RateLimit),
        (UnavailableReason::BreakerOpen, ErrorKind::Overloaded),
    ] {
        let cx = TestClock::context();
        let closed = |seconds| Availability::unavailable(reason, cx.clock().now() + seconds * SECOND);
        let fleet = subject.over(vec![
            ScriptedDriver::always("first", Reply::text("a")).with_availability(closed(20)),
            ScriptedDriver::always("second", Reply::text("b")).with_availability(closed(7)),
        ]);
        let error = fleet
            .ask(&cx)
            .await
            .err()
            .ok_or("somebody serves though nobody is available")?;
        ensure!(
            (error.kind(), error.retry_after()) == (kind, Some(7 * SECOND)),
            "it is {} with the hint {:?}; expected {kind} with 7 s",
            error.kind(),
            error.retry_after()
        );
        ensure!(error.skipped().len() == 2, "skipped: {:?}", error.skipped());
        ensure!(fleet.called() == [0, 0], "calls: {:?}", fleet.called());
    }
    Ok(())
}

/// When all have failed, an outer retry must know, and the soonest hint is the one to wait for.
pub(super) async fn exhaustion(subject: &Subject) -> Result<(), String> {
    let hint =
        |kind, seconds| Reply::error(Error::new(kind, "as scripted").with_retry_after(seconds * SECOND));
    let fleet = subject.replying([hint(ErrorKind::RateLimit, 30), hint(ErrorKind::Overloaded, 4)]);
    let error = fleet.ask(&TestClock::context()).await.err().ok_or("it serves")?;
    ensure!(error.is_exhausted(), "it does not say that it is exhausted");
    ensure!(
        (error.kind(), error.retry_after()) == (ErrorKind::Overloaded, Some(4 * SECOND)),
        "it is {} with the hint {:?}; expected overloaded with 4 s",
        error.kind(),
        error.retry_after()
    );
    ensure!(error.attempts().len() == 2, "attempts: {:?}", error.attempts());
    Ok(())
}

/// An input that is too long is asked again only of a window that may be larger.
pub(super) async fn windows(subject: &Subject) -> Result<(), String> {
    let driver = |name, window, reply| -> Result<ScriptedDriver, String> {
        let mut model = ResolvedModel::unknown(ModelId::new("m").map_err(failed)?)
            .with_limits(ModelLimits::new(Some(window), None, None));
        model.known = true;
        Ok(ScriptedDriver::always(name, reply).with_models([model]))
    };
    let fleet = subject.over(vec![
        driver("first", 8_000, fails(ErrorKind::ContextLength))?,
        driver("second", 8_000, Reply::text("b"))?,
        driver("third", 32_000, Reply::text("c"))?,
    ]);
    let answer = fleet.ask(&TestClock::context()).await.map_err(failed)?;
    ensure!(
        answer.text() == "c" && fleet.called() == [1, 0, 1],
        "{:?} answers, calls: {:?}; expected only the larger window",
        answer.text(),
        fleet.called()
    );
    Ok(())
}

/// While others could serve, a candidate does not queue.
pub(super) async fn queueing(subject: &Subject) -> Result<(), String> {
    let fleet = subject.replying([fails(ErrorKind::Rejected), Reply::text("b")]);
    let cx = TestClock::context().with_max_queue_wait(9 * SECOND);
    fleet.ask(&cx).await.map_err(failed)?;
    let waits: Vec<_> = fleet
        .drivers
        .iter()
        .flat_map(|driver| driver.calls())
        .map(|call| call.max_queue_wait)
        .collect();
    ensure!(
        waits == [Some(Duration::ZERO), Some(9 * SECOND)],
        "they may queue for {waits:?}; expected none, then as long as the caller says"
    );
    Ok(())
}

/// A candidate that hangs does not use up the caller's time, neither before a plain answer nor before a stream.
pub(super) async fn deadline(subject: &Subject) -> Result<(), String> {
    for stream in [false, true] {
        let fleet = subject.replying([Reply::hang(), Reply::text("b")]);
        let cx = TestClock::context().with_timeout(60 * SECOND);
        let start = cx.clock().now();
        let outcome = if stream {
            let request = ChatRequest::user("hi");
            match fleet.router.chat_stream(&cx, &request).await {
                Ok(stream) => collect(stream).await,
                Err(error) => Err(error),
            }
        } else {
            fleet.ask(&cx).await
        };
        let answer = outcome.map_err(failed)?;
        let took = cx.clock().now() - start;
        ensure!(answer.text() == "b", "{:?} answers", answer.text());
        ensure!(
            took < 60 * SECOND,
            "the one that hangs takes {took:?} of the 60 s"
        );
        let first = answer
            .attempts
            .first()
            .and_then(|attempt| attempt.failure.as_ref());
        let first = first.map(|failure| (failure.kind, failure.scope));
        ensure!(
            first == Some((ErrorKind::Timeout, Scope::Vendor)),
            "its failure is {first:?}; expected a timeout of scope vendor: the caller has time left"
        );
    }
    Ok(())
}

/// A router is a candidate like any other.
pub(super) async fn nests(subject: &Subject) -> Result<(), String> {
    let inner_driver = Arc::new(ScriptedDriver::always("inner", fails(ErrorKind::Server)));
    let inner = (subject.make)(vec![inner_driver as Arc<dyn ChatDriver>]);
    let last = Arc::new(ScriptedDriver::always("last", Reply::text("outer")));
    let outer = (subject.make)(vec![inner, last.clone() as Arc<dyn ChatDriver>]);
    let answer = outer
        .chat(&TestClock::context(), &ChatRequest::user("hi"))
        .await
        .map_err(failed)?;
    ensure!(answer.text() == "outer", "{:?} answers", answer.text());
    ensure!(
        shown(&answer.attempts) == ["server", "served"],
        "the log is {:?}",
        answer.attempts
    );
    Ok(())
}

/// Who goes away is not waited for, and nobody else is asked for it.
pub(super) async fn cancel(subject: &Subject) -> Result<(), String> {
    for stream in [false, true] {
        let fleet = subject.replying([Reply::text("hello").hanging_after(3), Reply::text("b")]);
        let left = timeout(SECOND, leave(&fleet.router, stream)).await;
        ensure!(left.is_err(), "a driver that hangs ends at once");
        tokio::time::sleep(Duration::from_millis(1)).await;
        let progress: Vec<_> = fleet
            .drivers
            .iter()
            .flat_map(|driver| driver.calls())
            .map(|call| call.progress)
            .collect();
        ensure!(
            progress == [Progress::Dropped],
            "the caller went away, and the calls are {progress:?}; expected one, dropped"
        );
    }
    Ok(())
}

async fn leave(router: &llm_core::Stack, stream: bool) {
    let (cx, request): (CallContext, _) = (TestClock::context(), ChatRequest::user("hi"));
    if !stream {
        let _ = router.chat(&cx, &request).await;
    } else if let Ok(stream) = router.chat_stream(&cx, &request).await {
        let _ = collect(stream).await;
    }
}
