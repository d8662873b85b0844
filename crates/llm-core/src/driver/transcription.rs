//! The transcription driver.

use super::DriverInfo;
use crate::context::CallContext;
use crate::error::Result;
use crate::health::{Availability, HealthStatus};
use crate::model::{ModelId, ResolvedModel};
use crate::transcription::{TranscriptionRequest, TranscriptionResponse};
use async_trait::async_trait;
use std::fmt::Debug;
use std::sync::Arc;

/// Turns speech into text. The promises of [`ChatDriver`](super::ChatDriver) hold.
#[async_trait]
pub trait TranscriptionDriver: Debug + Send + Sync + 'static {
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
    /// Writes down what is said.
    ///
    /// # Errors
    /// Any kind.
    async fn transcribe(
        &self,
        cx: &CallContext,
        request: &TranscriptionRequest,
    ) -> Result<TranscriptionResponse>;
}
