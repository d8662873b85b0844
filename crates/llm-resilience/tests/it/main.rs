//! The layers on a scripted driver, under paused time.

#[cfg(test)]
mod breaker;
#[cfg(test)]
mod bulkhead;
#[cfg(test)]
mod cache;
#[cfg(test)]
mod deadline;
#[cfg(test)]
mod events;
#[cfg(test)]
mod hedge;
#[cfg(test)]
mod key_pool;
#[cfg(test)]
mod neutral;
#[cfg(test)]
mod openai;
#[cfg(test)]
mod rate_limit;
#[cfg(test)]
#[cfg(all(test, feature = "redis"))]
mod redis;
#[cfg(test)]
mod retry;
#[cfg(test)]
mod retry_stream;
#[cfg(test)]
mod stack;
#[cfg(test)]
mod timeout;
#[cfg(test)]
mod trace;

use llm_core::{CallContext, ChatEvent, ChatRequest, ChatStream, Error, ErrorKind, Stack};
use llm_driver_testkit::ScriptedDriver;
use llm_resilience::{RetryLayer, RetryPolicy, TimeoutLayer, TimeoutPolicy};
use std::sync::Arc;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// A driver with a layer around it, and the driver itself to ask afterwards.
struct Called {
    driver: Arc<ScriptedDriver>,
    stack: Stack,
}

impl Called {
    fn retrying(driver: ScriptedDriver, policy: RetryPolicy) -> Self {
        let driver = Arc::new(driver);
        let stack = Stack::from_arc(driver.clone()).layer(RetryLayer::new(policy));
        Called { driver, stack }
    }

    fn limited(driver: ScriptedDriver, policy: TimeoutPolicy) -> Self {
        let driver = Arc::new(driver);
        let stack = Stack::from_arc(driver.clone()).layer(TimeoutLayer::attempt(policy));
        Called { driver, stack }
    }

    /// The pauses between the calls that the driver got.
    fn gaps(&self) -> Vec<Duration> {
        let calls = self.driver.calls();
        calls.windows(2).map(|pair| pair[1].at - pair[0].at).collect()
    }
}

fn request() -> ChatRequest {
    ChatRequest::user("hi")
}

fn error(kind: ErrorKind) -> Error {
    Error::new(kind, "scripted")
}

/// How long a call took, on its own clock.
async fn timed<T>(cx: &CallContext, call: impl Future<Output = T>) -> (T, Duration) {
    let start = cx.clock().now();
    let outcome = call.await;
    (outcome, cx.clock().now() - start)
}

/// All events of a stream, and the error that ended it if one did.
async fn read(mut stream: ChatStream) -> (Vec<ChatEvent>, Option<Error>) {
    let mut events = Vec::new();
    while let Some(event) = stream.next_event().await {
        match event {
            Ok(event) => events.push(event),
            Err(error) => {
                assert!(stream.next_event().await.is_none(), "nothing follows an error");
                return (events, Some(error));
            }
        }
    }
    (events, None)
}

fn text(events: &[ChatEvent]) -> String {
    let mut text = String::new();
    for event in events {
        if let ChatEvent::BlockDelta {
            delta: llm_core::Delta::Text(more),
            ..
        } = event
        {
            text.push_str(more);
        }
    }
    text
}
