//! The embedding driver.

use super::DriverInfo;
use crate::context::CallContext;
use crate::embedding::{EmbeddingRequest, EmbeddingResponse};
use crate::error::Result;
use crate::health::{Availability, HealthStatus};
use crate::model::{ModelId, ResolvedModel};
use async_trait::async_trait;
use std::fmt::Debug;
use std::sync::Arc;

/// Turns texts into vectors. The promises of [`ChatDriver`](super::ChatDriver) hold.
#[async_trait]
pub trait EmbeddingDriver: Debug + Send + Sync + 'static {
    /// Who it is.
    fn info(&self) -> &DriverInfo;
    /// Which model will serve. Reads only memory.
    ///
    /// # Errors
    /// `UnknownModel` and `Config`, as for chats.
    fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>>;
    /// May it be called for this model now? Reads only memory.
    fn availability(&self, model: &ModelId) -> Availability;
    /// Is it well?
    async fn health(&self, cx: &CallContext) -> HealthStatus;
    /// Embeds all texts of the request, in order.
    ///
    /// # Errors
    /// Any kind.
    async fn embed(&self, cx: &CallContext, request: &EmbeddingRequest) -> Result<EmbeddingResponse>;
}
