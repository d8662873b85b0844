//! What the retry layer says in the log.

use crate::{Called, SECOND, error, request};
use llm_core::{ErrorKind, ModelId};
use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
use llm_resilience::RetryPolicy;
use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps every event as a line of text.
#[derive(Debug, Default)]
pub(crate) struct Lines(pub(crate) Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("llm_resilience")
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

async fn lines(policy: RetryPolicy, replies: impl IntoIterator<Item = Reply>) -> Vec<String> {
    let lines = Lines::default();
    let kept = lines.0.clone();
    let _guard = tracing::subscriber::set_default(lines);
    let call = Called::retrying(ScriptedDriver::new("alpha", replies), policy);
    let cx = TestClock::context().with_request_id("call-7");
    let request = request().with_model(ModelId::new("m1").unwrap());
    let _ = call.stack.chat(&cx, &request).await;
    kept.lock().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn each_retry_and_the_giving_up_are_events_with_their_facts() {
    let mut limited = error(ErrorKind::RateLimit).with_retry_after(SECOND * 2);
    limited.vendor_mut().status = Some(429);
    limited.vendor_mut().request_id = Some("req_1".into());
    let replies = [Reply::error(limited.clone()), Reply::error(limited)];
    let policy = RetryPolicy::new(2).with_backoff(Duration::ZERO, Duration::ZERO);
    let lines = lines(policy, replies).await;
    let retry = r#"INFO message=retrying attempt=1 kind="rate_limit" status=429 wait_ms=2000 request_id="call-7" vendor_request_id="req_1" driver="alpha" model="m1" stream=false"#;
    let giving_up = r#"WARN message=giving up attempt=2 kind="rate_limit" status=429 reason="attempts" retry_after_ms=2000 request_id="call-7" vendor_request_id="req_1" driver="alpha" model="m1" stream=false"#;
    assert_eq!(lines, [retry, giving_up]);
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_is_the_callers_own_is_told_quietly_and_no_message_is_printed() {
    let lines = lines(
        RetryPolicy::default(),
        [Reply::error(error(ErrorKind::InvalidRequest))],
    )
    .await;
    assert_eq!(lines.len(), 1);
    assert!(
        lines[0].starts_with("DEBUG") && lines[0].contains(r#"reason="verdict""#),
        "{lines:?}"
    );
    assert!(!lines[0].contains("scripted"));
}
