//! What the vendor's answers say of its limits.

use super::{impatient, limited, reason, requests, room, tokens};
use crate::{SECOND, error, read, request};
use llm_core::rate_limit::LimitWindow;
use llm_core::{ChatRequest, ChatResponse, ErrorKind, Phase, RateLimitSnapshot, ResponseMeta, Usage};
use llm_driver_testkit::{Reply, ScriptedDriver};
use llm_resilience::LimitReason;

fn snapshot(requests: Option<u64>, tokens: Option<u64>) -> RateLimitSnapshot {
    let window = |left: Option<u64>| LimitWindow::new(Some(1000), left, Some(SECOND * 20));
    let mut snapshot = RateLimitSnapshot::default();
    snapshot.requests = window(requests);
    snapshot.tokens = window(tokens);
    snapshot
}

fn saying(snapshot: RateLimitSnapshot) -> Reply {
    let mut meta = ResponseMeta::default();
    meta.rate_limits = Some(snapshot.into());
    let mut response = ChatResponse::new(meta);
    response.usage = Usage::new(1, 1);
    Reply::response(response)
}

fn plain() -> impl Iterator<Item = Reply> {
    std::iter::repeat_n(Reply::text("hello"), 50)
}

#[tokio::test(start_paused = true)]
async fn headers_narrow_the_window_for_as_long_as_they_hold() {
    for streams in [false, true] {
        let replies = [saying(snapshot(Some(3), None))].into_iter().chain(plain());
        let (stack, _) = limited(ScriptedDriver::new("alpha", replies), requests(10));
        if streams {
            read(stack.chat_stream(&impatient(), &request()).await.unwrap()).await;
        } else {
            stack.chat(&impatient(), &request()).await.unwrap();
        }
        assert_eq!(room(&stack).await, 3);
        tokio::time::sleep(SECOND * 20).await;
        assert_eq!(room(&stack).await, 6, "ours alone: ten less four");
    }
}

#[tokio::test(start_paused = true)]
async fn headers_never_widen_it() {
    let replies = [saying(snapshot(Some(900), Some(900)))]
        .into_iter()
        .chain(plain());
    let (stack, _) = limited(ScriptedDriver::new("alpha", replies), requests(10));
    stack.chat(&impatient(), &request()).await.unwrap();
    assert_eq!(room(&stack).await, 9);
}

#[tokio::test(start_paused = true)]
async fn tokens_that_the_vendor_counts_apart_count_together() {
    let mut said = snapshot(None, None);
    said.input_tokens = LimitWindow::new(None, Some(300), None);
    said.output_tokens = LimitWindow::new(None, Some(100), None);
    let replies = [saying(said)].into_iter().chain(plain());
    let (stack, _) = limited(ScriptedDriver::new("alpha", replies), tokens(1000));
    stack.chat(&impatient(), &request()).await.unwrap();
    let call = |budget| ChatRequest::new([]).with_max_output_tokens(budget);
    assert!(stack.chat(&impatient(), &call(401)).await.is_err());
    stack.chat(&impatient(), &call(400)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_429_closes_the_window_for_its_hint() {
    let busy = error(ErrorKind::RateLimit)
        .with_phase(Phase::Sent)
        .with_retry_after(SECOND * 90);
    let replies = [Reply::error(busy)].into_iter().chain(plain());
    let (stack, _) = limited(ScriptedDriver::new("alpha", replies), requests(10));
    stack.chat(&impatient(), &request()).await.unwrap_err();
    let error = stack.chat(&impatient(), &request()).await.unwrap_err();
    assert_eq!(
        (reason(&error), error.retry_after()),
        (Some(LimitReason::Vendor), Some(SECOND * 90))
    );
    tokio::time::sleep(SECOND * 90).await;
    assert_eq!(room(&stack).await, 10);
}

#[tokio::test(start_paused = true)]
async fn the_headers_of_an_error_count_as_well() {
    let mut failure = error(ErrorKind::Server).with_phase(Phase::Sent);
    failure.vendor_mut().rate_limits = Some(snapshot(Some(2), None).into());
    let replies = [Reply::error(failure)].into_iter().chain(plain());
    let (stack, _) = limited(ScriptedDriver::new("alpha", replies), requests(10));
    stack.chat(&impatient(), &request()).await.unwrap_err();
    assert_eq!(room(&stack).await, 2);
}
