use super::*;
use llm_core::{BlockKind, Delta, FinishReason, RawFrame, ResponseMeta, Usage};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A stream of these items that counts how many were read.
struct Items(VecDeque<Result<ChatEvent>>, Arc<AtomicUsize>);

impl Stream for Items {
    type Item = Result<ChatEvent>;
    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(self.0.pop_front())
    }
}

fn stream(items: Vec<Result<ChatEvent>>) -> (ChatStream, Arc<AtomicUsize>) {
    let read = Arc::new(AtomicUsize::new(0));
    let stream = ChatStream::new(ResponseMeta::default(), Items(items.into(), Arc::clone(&read)));
    (stream, read)
}

fn start() -> ChatEvent {
    ChatEvent::Start(Box::default())
}

fn block(kind: BlockKind) -> ChatEvent {
    ChatEvent::BlockStart { index: 0, kind }
}

fn text(text: &str) -> ChatEvent {
    let delta = Delta::Text(text.to_owned());
    ChatEvent::BlockDelta { index: 0, delta }
}

fn finish() -> ChatEvent {
    ChatEvent::Finish {
        reason: FinishReason::default(),
        usage: Usage::default(),
    }
}

async fn rest(mut stream: ChatStream) -> Vec<ChatEvent> {
    let mut events = Vec::new();
    while let Some(event) = stream.next_event().await {
        events.push(event.unwrap());
    }
    events
}

#[tokio::test]
async fn it_is_handed_on_with_its_first_content_and_all_that_came_before() {
    let usage = ChatEvent::Usage(Usage::new(1, 0));
    let events = [
        start(),
        usage,
        block(BlockKind::Text),
        text("a"),
        text("b"),
        finish(),
    ];
    let (stream, read) = stream(events.iter().cloned().map(Ok).collect());
    let committed = until_commit(stream).await.unwrap();
    assert_eq!(
        read.load(Ordering::Relaxed),
        4,
        "nothing is read beyond the first content"
    );
    assert_eq!(rest(committed).await, events);
}

#[tokio::test]
async fn every_sort_of_content_commits() {
    let call = block(BlockKind::ToolCall {
        id: "1".into(),
        name: "f".into(),
    });
    let raw = ChatEvent::Raw(RawFrame::new("data".into(), true));
    for content in [text("a"), call, raw, finish()] {
        let (stream, read) = stream(vec![Ok(start()), Ok(content), Err(broken())]);
        let _ = until_commit(stream).await.unwrap();
        assert_eq!(read.load(Ordering::Relaxed), 2);
    }
}

fn broken() -> Error {
    Error::new(ErrorKind::Server, "x")
}

#[tokio::test]
async fn what_is_no_content_does_not_commit() {
    let quiet = ChatEvent::Raw(RawFrame::new(": ping".into(), false));
    let items = vec![Ok(start()), Ok(quiet), Ok(block(BlockKind::Text)), Err(broken())];
    let (stream, _) = stream(items);
    assert_eq!(until_commit(stream).await.unwrap_err().kind(), ErrorKind::Server);
}

#[tokio::test]
async fn a_stream_that_just_stops_is_interrupted() {
    let (stream, _) = stream(vec![Ok(start())]);
    let error = until_commit(stream).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.phase()),
        (ErrorKind::Interrupted, Phase::Sent)
    );
}

#[tokio::test]
async fn keep_alives_are_dropped_while_holding_and_passed_on_afterwards() {
    let alive = || ChatEvent::KeepAlive;
    let items = [
        start(),
        alive(),
        block(BlockKind::Text),
        alive(),
        text("a"),
        alive(),
        finish(),
    ];
    let (stream, _) = stream(items.into_iter().map(Ok).collect());
    let events = rest(until_commit(stream).await.unwrap()).await;
    assert_eq!(
        events,
        [start(), block(BlockKind::Text), text("a"), alive(), finish()]
    );
}
