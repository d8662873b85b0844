//! A scripted transport that notes when requests arrive.

use llm_core::{CallContext, Result, async_trait};
use llm_driver_testkit::{Answer, ScriptedTransport};
use llm_http::{HttpRequest, HttpResponse, Transport};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A scripted transport, and when its requests arrived.
#[derive(Debug)]
pub(crate) struct NotingTransport {
    inner: ScriptedTransport,
    arrivals: Mutex<Vec<Instant>>,
}

impl NotingTransport {
    pub(crate) fn new(inner: ScriptedTransport) -> Self {
        NotingTransport {
            inner,
            arrivals: Mutex::default(),
        }
    }

    /// What is answered from now on.
    pub(crate) fn set_answers(&self, answers: impl IntoIterator<Item = Answer>) {
        self.inner.set_answers(answers);
    }

    /// When each request arrived, in order.
    pub(crate) fn arrivals(&self) -> Vec<Instant> {
        self.arrivals
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[async_trait]
impl Transport for NotingTransport {
    async fn send(&self, cx: &CallContext, request: HttpRequest) -> Result<HttpResponse> {
        self.arrivals
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(cx.clock().now());
        self.inner.send(cx, request).await
    }
}
