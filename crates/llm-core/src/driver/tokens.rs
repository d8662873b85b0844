//! Counting tokens before sending.

use crate::chat::ChatRequest;
use crate::context::CallContext;
use crate::error::Result;
use async_trait::async_trait;
use std::fmt::Debug;

/// Counts a request's input tokens as the vendor would, without generating anything.
#[async_trait]
pub trait TokenCounter: Debug + Send + Sync + 'static {
    /// How many tokens the request's input has.
    ///
    /// # Errors
    /// Any kind.
    async fn count_tokens(&self, cx: &CallContext, request: &ChatRequest) -> Result<u64>;
}
