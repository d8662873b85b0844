//! Limits: rate-limit headers on every answer, caps on sizes, and the deadline on every wait.

use super::fixtures::{prove_plain, prove_stream};
use super::{Finding, Outcome, ensure};
use crate::answer::{Answer, End, Head, Piece};
use crate::clock::TestClock;
use crate::subject::{Bench, Subject, in_time, read};
use bytes::Bytes;
use llm_core::{CallContext, Error, ErrorKind, Scope};
use std::time::Duration;

const MEBIBYTE: usize = 1024 * 1024;

/// More than any driver may take of one answer before it gives up, in mebibytes.
const TOO_MUCH: usize = 200;

/// More than any driver needs of an error's body, in mebibytes.
const TOO_MUCH_ERROR: usize = 4;

const PATIENCE: Duration = Duration::from_secs(5);

/// What the vendor's headers say of limits is handed on with a good answer, with a stream before its first event,
/// and with an error.
pub(crate) async fn rate_limit_headers(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    let fixture = subject.fixture("rate_limits")?;
    let expected = fixture
        .expect
        .rate_limits
        .clone()
        .filter(|limits| !limits.is_empty());
    ensure!(
        expected.is_some() && !fixture.headers.is_empty(),
        "rate_limits: write the headers into wire_headers.json and rate_limits into expect.json"
    );
    prove_plain(subject, &bench, &fixture).await?;
    let request = subject.request_of(&fixture)?;
    if fixture.stream.is_some() {
        prove_stream(subject, &bench, &fixture).await?;
        bench.transport.set_answers([subject.stream_of(&fixture)?]);
        let stream = in_time(bench.driver.chat_stream(&TestClock::context(), &request)).await?;
        let stream = stream.map_err(|error| error.to_string())?;
        ensure!(
            stream.meta().rate_limits == expected,
            "the stream's meta() has {:?} before the first event; expected {expected:?}",
            stream.meta().rate_limits
        );
    }
    let failed = Answer {
        head: Head::Status(503),
        ..subject.answer_of(&fixture)?
    };
    let error = bench
        .chat(&request, failed)
        .await?
        .err()
        .ok_or("a 503 succeeds")?;
    ensure!(
        error.vendor().rate_limits == expected,
        "with a 503, vendor().rate_limits is {:?}; expected {expected:?}",
        error.vendor().rate_limits
    );
    Ok(Outcome::Proved)
}

/// A plain answer that never ends is given up, at a cap, as `Protocol`.
pub(crate) async fn huge_body(subject: &Subject) -> Finding {
    let answer = Answer::json(200, "{\"padding\":").with_piece(padding(TOO_MUCH));
    capped(subject, answer, false, ErrorKind::Protocol).await
}

/// The body of an error that never ends costs no more than what is shown of it: the status still says the kind.
pub(crate) async fn huge_error_body(subject: &Subject) -> Finding {
    let answer = Answer::json(500, "{\"error\":\"").with_piece(padding(TOO_MUCH_ERROR));
    for stream in [false, true] {
        capped(subject, answer.clone(), stream, ErrorKind::Server).await?;
    }
    Ok(Outcome::Proved)
}

/// One event of a stream that never ends is given up, at a cap, as `Protocol`.
pub(crate) async fn endless_event(subject: &Subject) -> Finding {
    let fixture = subject.fixture("text")?;
    let answer = Answer {
        pieces: vec![Piece::from("data: \""), padding(TOO_MUCH)],
        ..subject.stream_of(&fixture)?
    };
    capped(subject, answer, true, ErrorKind::Protocol).await
}

/// Wherever the vendor stalls, the call ends with its deadline: `Timeout` with scope `Request`, and not later.
pub(crate) async fn deadline(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    let fixture = subject.fixture("text")?;
    let (request, plain, stream) = (
        subject.request_of(&fixture)?,
        subject.answer_of(&fixture)?,
        subject.stream_of(&fixture)?,
    );
    let half = stream.body_bytes().len() / 2;
    let stalls = [
        ("chat, no answer", false, Answer::silent()),
        ("chat, no body", false, plain.clone().stall_after(0)),
        ("chat, half a body", false, plain.stall_after(10)),
        ("chat_stream, no answer", true, Answer::silent()),
        ("chat_stream, no event", true, stream.clone().stall_after(0)),
        (
            "chat_stream, half a stream",
            true,
            stream.clone().stall_after(half),
        ),
        (
            "chat_stream, a slow drip",
            true,
            stream.drip(1, Duration::from_secs(1)),
        ),
    ];
    for (what, is_stream, answer) in stalls {
        bench.transport.set_answers([answer]);
        let cx = TestClock::context().with_timeout(PATIENCE);
        let error = if is_stream {
            in_time(read(&*bench.driver, &cx, &request))
                .await
                .and_then(|streamed| streamed)?
                .outcome
                .err()
        } else {
            in_time(bench.driver.chat(&cx, &request)).await?.err()
        };
        let Some(error) = error else {
            return Err(format!("{what}: the call succeeds"));
        };
        timed_out(&cx, &error, what)?;
    }
    // A status that is there already may be worth more than the rest of its body; it comes in time all the same.
    let cx = TestClock::context().with_timeout(PATIENCE);
    bench
        .transport
        .set_answers([Answer::status(500).with_end(End::Hang)]);
    let error = in_time(bench.driver.chat(&cx, &request))
        .await?
        .err()
        .ok_or("a 500 succeeds")?;
    if error.kind() != ErrorKind::Server {
        timed_out(&cx, &error, "chat, an error without a body")?;
    }
    on_time(&cx, "chat, an error without a body")?;
    // With the time used up, nothing is sent any more.
    let before = bench.transport.request_count();
    let cx = TestClock::context().with_timeout(Duration::ZERO);
    let error = in_time(bench.driver.chat(&cx, &request))
        .await?
        .err()
        .ok_or("a late call succeeds")?;
    timed_out(&cx, &error, "no time left")?;
    // The transport counts what reached it, even what it refuses for its deadline.
    let sent = bench.transport.request_count() - before;
    ensure!(sent == 0, "no time left: the request was sent all the same");
    Ok(Outcome::Proved)
}

fn timed_out(cx: &CallContext, error: &Error, what: &str) -> Result<(), String> {
    ensure!(
        (error.kind(), error.scope()) == (ErrorKind::Timeout, Scope::Request),
        "{what}: {error} with scope {:?}; expected timeout, Request",
        error.scope()
    );
    on_time(cx, what)
}

fn on_time(cx: &CallContext, what: &str) -> Result<(), String> {
    let over = cx
        .deadline()
        .map(|deadline| cx.clock().now().saturating_duration_since(deadline));
    ensure!(
        over.is_some_and(|over| over < Duration::from_secs(1)),
        "{what}: the call ended {over:?} after its deadline"
    );
    Ok(())
}

/// So many mebibytes of nothing.
fn padding(mebibytes: usize) -> Piece {
    Piece::Repeat(Bytes::from(vec![b' '; MEBIBYTE]), mebibytes)
}

/// The driver gives the answer up before its last piece. (Who reads on comes to where nothing follows, and hangs.)
async fn capped(subject: &Subject, answer: Answer, stream: bool, kind: ErrorKind) -> Finding {
    let bench = subject.bench()?;
    let request = subject.request()?;
    let answer = answer.with_end(End::Hang);
    let whole = length(&answer);
    let outcome = if stream {
        bench
            .stream(&request, answer)
            .await
            .map(|streamed| streamed.outcome.err())
    } else {
        bench.chat(&request, answer).await.map(Result::err)
    };
    match outcome {
        Ok(Some(error)) if error.kind() == kind => {
            let taken = taken(&bench);
            ensure!(
                taken < whole,
                "all {taken} bytes of the answer were read; cap what is read"
            );
            Ok(Outcome::Proved)
        }
        Ok(Some(error)) => Err(format!("{error}; expected {kind}")),
        Ok(None) => Err("an answer that is far too long succeeds".to_owned()),
        Err(what) => Err(format!(
            "{what}, after {} bytes of the answer; cap what is read",
            taken(&bench)
        )),
    }
}

fn taken(bench: &Bench) -> usize {
    let requests = bench.transport.requests();
    requests
        .iter()
        .map(|request| request.bytes_taken)
        .max()
        .unwrap_or(0)
}

fn length(answer: &Answer) -> usize {
    let length = |piece: &Piece| match piece {
        Piece::Bytes(bytes) => bytes.len(),
        Piece::Repeat(bytes, times) => bytes.len() * times,
        Piece::Delay(_) | Piece::Hang => 0,
    };
    answer.pieces.iter().map(length).sum()
}
