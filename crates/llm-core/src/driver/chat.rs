//! The chat driver and the stack.

use super::DriverInfo;
use crate::chat::{ChatRequest, ChatResponse};
use crate::context::CallContext;
use crate::error::Result;
use crate::health::{Availability, HealthStatus};
use crate::layer::ChatLayer;
use crate::model::{ModelId, ResolvedModel};
use crate::stream::ChatStream;
use async_trait::async_trait;
use std::fmt::Debug;
use std::sync::Arc;

/// Speaks one vendor's chat API, or wraps something that does: drivers, layers and routers all are this.
///
/// There are no default methods: a default that an inner driver overrides would be lost in a wrapper that
/// forgets to forward it.
///
/// What a driver promises, each line checked by the conformance suite: dropping the future or the stream stops
/// the work; no retries, no caching and no logging of content inside; what changes the meaning of the request
/// and cannot be honoured is `Unsupported` before anything is sent, a tuning knob that cannot be honoured is a
/// [`Warning`](crate::Warning); a URL in a request is never fetched; credentials never show.
#[async_trait]
pub trait ChatDriver: Debug + Send + Sync + 'static {
    /// Who it is, with the layers around it.
    fn info(&self) -> &DriverInfo;

    /// Which model will serve, and what is known of it. Reads only memory.
    ///
    /// # Errors
    /// `UnknownModel`, when the named model is not one of its; `Config`, when none is named and it has no
    /// default.
    fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>>;

    /// May it be called for this model now? Reads only memory.
    fn availability(&self, model: &ModelId) -> Availability;

    /// Is it well? May ask the vendor; costs no tokens.
    async fn health(&self, cx: &CallContext) -> HealthStatus;

    /// Asks, and waits for the whole answer.
    ///
    /// # Errors
    /// Any kind; see [`ErrorKind`](crate::ErrorKind).
    ///
    /// # Cancellation
    /// Dropping the future stops the call and frees its connection.
    async fn chat(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatResponse>;

    /// Asks, and hands the answer on as it comes.
    ///
    /// # Errors
    /// Any kind, for what fails before the first event; later failures come as the stream's last item.
    ///
    /// # Cancellation
    /// Dropping the future or the stream stops the call and frees its connection.
    async fn chat_stream(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatStream>;
}

/// A driver with its layers, ready to be called and cheap to clone.
///
/// `.layer(x)` puts x outermost, so code reads inside-out; configuration lists layers outermost first, as a
/// request meets them.
#[derive(Debug, Clone)]
pub struct Stack(Arc<dyn ChatDriver>);

impl Stack {
    /// A driver without layers.
    pub fn new(driver: impl ChatDriver) -> Self {
        Stack(Arc::new(driver))
    }

    /// A driver that is shared already.
    pub fn from_arc(driver: Arc<dyn ChatDriver>) -> Self {
        Stack(driver)
    }

    /// One more layer around everything so far.
    #[must_use]
    pub fn layer(self, layer: impl ChatLayer) -> Self {
        Stack(layer.layer(self.0))
    }

    /// The driver inside, shared.
    pub fn into_arc(self) -> Arc<dyn ChatDriver> {
        self.0
    }
}

impl std::ops::Deref for Stack {
    type Target = dyn ChatDriver;
    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}
