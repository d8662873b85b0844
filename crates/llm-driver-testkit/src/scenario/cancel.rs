//! Cancellation, on real sockets: dropping the future or the stream closes the connection.

use super::{Finding, Outcome, ensure};
use crate::answer::Answer;
use crate::clock::TestClock;
use crate::server::FakeServer;
use crate::subject::Subject;
use llm_core::{Capability, Support};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(3);

/// A plain call that is dropped before its answer, and in the middle of it.
pub(crate) async fn plain(subject: &Subject) -> Finding {
    let fixture = subject.fixture("text")?;
    let answer = subject.answer_of(&fixture)?;
    for answer in [Answer::silent(), answer.stall_after(5)] {
        let server = start(answer).await?;
        let driver = subject.on_sockets(&server)?;
        let (cx, request) = (TestClock::context(), subject.request_of(&fixture)?);
        tokio::select! {
            outcome = driver.chat(&cx, &request) => {
                return Err(format!("the call ends on its own: {:?}", outcome.err()));
            }
            arrived = asked(&server) => ensure!(arrived, "no request reached the server"),
        }
        freed(&server, "the dropped call").await?;
    }
    Ok(Outcome::Proved)
}

/// A stream that is dropped while it is being opened, and after its first event.
pub(crate) async fn stream(subject: &Subject) -> Finding {
    let fixture = subject.fixture("text")?;
    let model = subject.model()?;
    let bench = subject.bench()?;
    if subject
        .capabilities(&*bench.driver, &model)?
        .support(Capability::Streaming)
        == Support::No
    {
        return Ok(Outcome::Skipped("the driver does not stream".to_owned()));
    }
    let (cx, request) = (TestClock::context(), subject.request_of(&fixture)?);

    let server = start(Answer::silent()).await?;
    let driver = subject.on_sockets(&server)?;
    tokio::select! {
        outcome = driver.chat_stream(&cx, &request) => {
            return Err(format!("the stream opens on its own: {:?}", outcome.err()));
        }
        arrived = asked(&server) => ensure!(arrived, "no request reached the server"),
    }
    freed(&server, "the stream that was being opened").await?;

    let answer = subject.stream_of(&fixture)?;
    let half = answer.body_bytes().len() / 2;
    let server = start(answer.stall_after(half)).await?;
    let driver = subject.on_sockets(&server)?;
    let mut stream = driver
        .chat_stream(&cx, &request)
        .await
        .map_err(|error| error.to_string())?;
    let first = tokio::time::timeout(SOON, stream.next_event()).await;
    ensure!(
        matches!(first, Ok(Some(Ok(_)))),
        "no event came from half a stream"
    );
    ensure!(
        server.connections().open == 1,
        "the stream has no connection of its own"
    );
    drop(stream);
    freed(&server, "the dropped stream").await?;
    Ok(Outcome::Proved)
}

async fn start(answer: Answer) -> Result<FakeServer, String> {
    FakeServer::start([answer])
        .await
        .map_err(|error| format!("no loopback port: {error}"))
}

/// A request came in, and the answer had time to begin.
async fn asked(server: &FakeServer) -> bool {
    let arrived = server.wait_for_requests(SOON, 1).await;
    tokio::time::sleep(Duration::from_millis(30)).await;
    arrived
}

async fn freed(server: &FakeServer, what: &str) -> Result<(), String> {
    let freed = server.wait_for(SOON, |now| now.open == 0).await;
    ensure!(freed, "{what} still holds its connection after {SOON:?}");
    ensure!(server.request_count() == 1, "{what} was sent again");
    Ok(())
}
