use super::*;
use crate::{Progress, TestClock};
use llm_core::Scope;
use std::time::Duration;

fn request() -> HttpRequest {
    HttpRequest::get("http://vendor.test/")
}

#[tokio::test(start_paused = true)]
async fn pauses_are_waited_on_paused_time() {
    let answer = Answer::status(200)
        .with_pause(Duration::from_secs(10))
        .with_piece("a")
        .with_piece(Duration::from_secs(5))
        .with_piece("b");
    let cx = TestClock::context();
    let start = cx.clock().now();
    let transport = ScriptedTransport::new([answer]);
    let response = transport.send(&cx, request()).await.unwrap();
    assert_eq!(response.body.read_all(9).await.unwrap(), "ab");
    assert_eq!(cx.clock().now() - start, Duration::from_secs(15));
    assert_eq!(transport.requests()[0].bytes_taken, 2);
}

#[tokio::test(start_paused = true)]
async fn hanging_ends_with_the_deadline() {
    let hanging = [
        Answer::silent(),
        Answer::status(200).with_end(End::Hang),
        Answer::status(200).with_piece(Piece::Hang),
    ];
    for answer in hanging {
        let transport = ScriptedTransport::new([answer]);
        let cx = TestClock::context().with_timeout(Duration::from_secs(3));
        let outcome = async { transport.send(&cx, request()).await?.body.read_all(9).await };
        let error = outcome.await.unwrap_err();
        assert_eq!(
            (error.kind(), error.scope()),
            (ErrorKind::Timeout, Scope::Request)
        );
        assert_eq!(cx.remaining(), Some(Duration::ZERO));
        assert_eq!(transport.requests()[0].progress, Progress::Ended);
    }
}

#[tokio::test(start_paused = true)]
async fn broken_bodies_are_connection_errors_after_sending() {
    let whole = Answer::status(200).with_piece("abc");
    for answer in [
        whole.clone().reset_after(2),
        whole.clone().cut_after(2),
        whole.with_too_long_length(1),
        Answer::closed(),
    ] {
        let transport = ScriptedTransport::new([answer]);
        let cx = TestClock::context();
        let outcome = async { transport.send(&cx, request()).await?.body.read_all(9).await };
        let error = outcome.await.unwrap_err();
        assert_eq!(
            (error.kind(), error.phase()),
            (ErrorKind::Connection, Phase::Sent)
        );
    }
    let refused = ScriptedTransport::new([Answer::refused()]);
    let error = refused.send(&TestClock::context(), request()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.phase()),
        (ErrorKind::Connection, Phase::NotSent)
    );
}

#[tokio::test(start_paused = true)]
async fn a_dropped_body_is_recorded() {
    let transport = ScriptedTransport::always(Answer::status(200).with_piece("abc")).bytewise();
    let mut response = transport.send(&TestClock::context(), request()).await.unwrap();
    assert_eq!(response.body.next_piece().await.unwrap().unwrap(), "a");
    assert_eq!(transport.requests()[0].progress, Progress::Running);
    drop(response);
    assert_eq!(transport.requests()[0].progress, Progress::Dropped);
    assert_eq!(transport.requests()[0].bytes_taken, 1);
}

#[tokio::test]
async fn an_exhausted_script_is_loud() {
    let transport = ScriptedTransport::new([]);
    let error = transport
        .send(&TestClock::context(), request())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert_eq!(transport.request_count(), 1);
}
