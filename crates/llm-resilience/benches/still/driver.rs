//! A driver that answers at once, so that a bench measures what is around it.

use llm_core::stream::events_of;
use llm_core::{
    Availability, Block, CallContext, ChatDriver, ChatEvent, ChatRequest, ChatResponse, ChatStream, DriverId,
    DriverInfo, HealthStatus, ModelId, ResolvedModel, ResponseMeta, Result, Stack, TextPart, VendorId,
    async_trait,
};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Answers at once, with what it always answers.
#[derive(Debug)]
struct Still {
    info: DriverInfo,
    model: Arc<ResolvedModel>,
    response: ChatResponse,
    events: Vec<ChatEvent>,
}

/// Events that are there.
struct There(std::vec::IntoIter<ChatEvent>);

impl futures_core::Stream for There {
    type Item = Result<ChatEvent>;
    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.next().map(Ok))
    }
}

#[async_trait]
impl ChatDriver for Still {
    fn info(&self) -> &DriverInfo {
        &self.info
    }
    fn resolve(&self, _: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        Ok(Arc::clone(&self.model))
    }
    fn availability(&self, _: &ModelId) -> Availability {
        Availability::Available
    }
    async fn health(&self, cx: &CallContext) -> HealthStatus {
        HealthStatus::unknown(cx.clock().wall(), "never asked")
    }
    async fn chat(&self, _: &CallContext, _: &ChatRequest) -> Result<ChatResponse> {
        Ok(self.response.clone())
    }
    async fn chat_stream(&self, _: &CallContext, _: &ChatRequest) -> Result<ChatStream> {
        let events = There(self.events.clone().into_iter());
        Ok(ChatStream::new(ResponseMeta::default(), events))
    }
}

/// A stack without layers.
pub(crate) fn bare() -> Result<Stack> {
    let mut response = ChatResponse::new(ResponseMeta::default());
    response.blocks = vec![Block::Text(TextPart::new("hello"))];
    let id = DriverId::from_static("alpha");
    let info = DriverInfo::new(id, VendorId::from_static("alpha"), "alpha");
    Ok(Stack::new(Still {
        info: info.with_base_url("https://api.vendor.example/v1"),
        model: Arc::new(ResolvedModel::unknown(ModelId::new("m1")?)),
        events: events_of(response.clone()),
        response,
    }))
}
