//! The suite for layers on one that does nothing, and on copies of it that each break one promise.

use futures_util::stream::{StreamExt, unfold};
use llm_core::{
    Availability, CallContext, ChatDriver, ChatEvent, ChatLayer, ChatRequest, ChatResponse, ChatStream,
    DriverInfo, Error, ErrorKind, HealthStatus, ModelId, ResolvedModel, Result, async_trait,
};
use llm_driver_testkit::layer_suite;
use llm_driver_testkit::layer_suite::run_layer_scenario;
use std::sync::Arc;
use tokio::sync::Mutex;

layer_suite!(ToyLayer { flaw: Flaw::None });

/// What is wrong with a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    None,
    HasNoName,
    IsAlwaysAvailable,
    ChangesTheKind,
    ForgetsTheContext,
    DropsKeepAlives,
    ReadsAhead,
    CallsTwice,
    OneAtATime,
    GoesOnAlone,
    LogsContent,
    ForgetsLateErrors,
}

#[derive(Debug)]
struct ToyLayer {
    flaw: Flaw,
}

#[derive(Debug)]
struct ToyDriver {
    inner: Arc<dyn ChatDriver>,
    info: DriverInfo,
    flaw: Flaw,
    door: Mutex<()>,
}

impl ChatLayer for ToyLayer {
    fn layer(&self, inner: Arc<dyn ChatDriver>) -> Arc<dyn ChatDriver> {
        let mut info = inner.info().clone();
        if self.flaw != Flaw::HasNoName {
            info = info.with_layer("toy");
        }
        Arc::new(ToyDriver {
            info,
            inner,
            flaw: self.flaw,
            door: Mutex::new(()),
        })
    }
}

impl ToyDriver {
    fn before(&self, cx: &CallContext, request: &ChatRequest) -> CallContext {
        if self.flaw == Flaw::LogsContent {
            tracing::debug!(asked = ?request.messages, "asking");
        }
        match self.flaw {
            Flaw::ForgetsTheContext => CallContext::new(cx.clock().clone()),
            _ => cx.clone(),
        }
    }

    fn mend(&self, error: Error) -> Error {
        match self.flaw {
            Flaw::ChangesTheKind => Error::new(ErrorKind::Server, error.message()),
            _ => error,
        }
    }
}

#[async_trait]
impl ChatDriver for ToyDriver {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        self.inner.resolve(model)
    }

    fn availability(&self, model: &ModelId) -> Availability {
        match self.flaw {
            Flaw::IsAlwaysAvailable => Availability::Available,
            _ => self.inner.availability(model),
        }
    }

    async fn health(&self, cx: &CallContext) -> HealthStatus {
        self.inner.health(cx).await
    }

    async fn chat(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatResponse> {
        let cx = self.before(cx, request);
        let outcome = match self.flaw {
            Flaw::OneAtATime => {
                let _inside = self.door.lock().await;
                self.inner.chat(&cx, request).await
            }
            Flaw::GoesOnAlone => {
                let (inner, request) = (self.inner.clone(), request.clone());
                #[expect(clippy::disallowed_methods, reason = "this is the flaw")]
                let task = tokio::spawn(async move { inner.chat(&cx, &request).await });
                task.await
                    .unwrap_or_else(|_| Err(Error::new(ErrorKind::Internal, "the task is gone")))
            }
            Flaw::CallsTwice => {
                let first = self.inner.chat(&cx, request).await;
                if first.is_ok() {
                    first
                } else {
                    self.inner.chat(&cx, request).await
                }
            }
            _ => self.inner.chat(&cx, request).await,
        };
        outcome.map_err(|error| self.mend(error))
    }

    async fn chat_stream(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatStream> {
        let cx = self.before(cx, request);
        let stream = self
            .inner
            .chat_stream(&cx, request)
            .await
            .map_err(|error| self.mend(error))?;
        Ok(match self.flaw {
            Flaw::DropsKeepAlives => stream.map_events(|events| {
                events.filter(|event| std::future::ready(!matches!(event, Ok(ChatEvent::KeepAlive))))
            }),
            Flaw::ForgetsLateErrors => {
                stream.map_events(|events| events.take_while(|event| std::future::ready(event.is_ok())))
            }
            Flaw::ReadsAhead => stream.map_events(|events| {
                unfold((events, None), |(mut events, waiting)| async move {
                    let now = match waiting {
                        Some(event) => event,
                        None => events.next().await?,
                    };
                    let next = events.next().await;
                    Some((now, (events, next)))
                })
            }),
            _ => stream,
        })
    }
}

#[track_caller]
fn found(flaw: Flaw, scenario: &str, says: &str) {
    let finding = run_layer_scenario(scenario, move || Box::new(ToyLayer { flaw }));
    assert!(finding.is_err(), "{scenario} does not find {flaw:?}");
    let what = finding.err().unwrap_or_default();
    assert!(what.contains(says), "{scenario} finds {flaw:?}, but says: {what}");
}

#[test]
fn a_layer_that_hides_is_found() {
    found(Flaw::HasNoName, "layer_is_named", "exactly one name");
}

#[test]
fn a_door_held_open_is_found() {
    found(
        Flaw::IsAlwaysAvailable,
        "layer_forwards_availability",
        "the driver answers",
    );
}

#[test]
fn a_changed_error_is_found() {
    found(
        Flaw::ChangesTheKind,
        "layer_changes_no_error",
        "the error changes",
    );
}

#[test]
fn a_lost_context_is_found() {
    found(
        Flaw::ForgetsTheContext,
        "layer_hands_the_request_on",
        "changes the deadline",
    );
    found(Flaw::ForgetsTheContext, "layer_passes_raw_mode", "the raw body");
    found(Flaw::ForgetsTheContext, "layer_keeps_the_deadline", "never ends");
}

#[test]
fn a_lost_event_is_found() {
    found(
        Flaw::DropsKeepAlives,
        "layer_changes_no_event",
        "the events change",
    );
}

#[test]
fn a_lost_late_error_is_found() {
    found(
        Flaw::ForgetsLateErrors,
        "layer_changes_no_late_error",
        "the error changes",
    );
}

#[test]
fn content_held_back_is_found() {
    found(Flaw::ReadsAhead, "layer_holds_no_content_back", "after");
}

#[test]
fn a_second_call_is_found() {
    found(Flaw::CallsTwice, "layer_calls_once", "2 calls of the driver");
}

#[test]
fn a_queue_is_found() {
    found(
        Flaw::OneAtATime,
        "layer_keeps_calls_apart",
        "waits for another call",
    );
}

#[test]
fn a_call_that_outlives_its_caller_is_found() {
    found(Flaw::GoesOnAlone, "layer_cancels_plain", "the caller went away");
}

#[test]
fn logged_content_is_found() {
    found(
        Flaw::LogsContent,
        "layer_shows_no_content",
        "the log shows content",
    );
}
