//! A transport whose answer is decided while the request waits for it.

use llm_core::{CallContext, Error, ErrorKind, Phase, Result, async_trait};
use llm_driver_testkit::{Answer, ScriptedTransport};
use llm_http::{HttpRequest, HttpResponse, Transport};
use std::sync::{Mutex, PoisonError};
use tokio::sync::oneshot;

/// Tells of the one request that arrives, and holds it until its answer is given.
#[derive(Debug)]
pub(super) struct Held {
    inner: ScriptedTransport,
    waiting: Mutex<Option<Waiting>>,
}

#[derive(Debug)]
struct Waiting {
    answer: oneshot::Receiver<Answer>,
    arrived: oneshot::Sender<()>,
}

impl Held {
    pub(super) fn new(
        inner: ScriptedTransport,
        answer: oneshot::Receiver<Answer>,
        arrived: oneshot::Sender<()>,
    ) -> Self {
        Held {
            inner,
            waiting: Mutex::new(Some(Waiting { answer, arrived })),
        }
    }
}

#[async_trait]
impl Transport for Held {
    async fn send(&self, cx: &CallContext, request: HttpRequest) -> Result<HttpResponse> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waiting) = waiting {
            // Nobody listens any more when the step that began it is over.
            let _ = waiting.arrived.send(());
            match waiting.answer.await {
                Ok(answer) => self.inner.push(answer),
                Err(_) => {
                    let error = Error::new(ErrorKind::Internal, "nobody answers this request any more");
                    return Err(error.with_phase(Phase::Sent));
                }
            }
        }
        self.inner.send(cx, request).await
    }
}
