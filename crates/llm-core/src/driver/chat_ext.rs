//! Conveniences for callers.

use super::chat::ChatDriver;
use crate::chat::{ChatRequest, ChatResponse};
use crate::context::CallContext;
use crate::error::Result;
use crate::model::ModelId;
use crate::stream::{ChatStream, collect};
use async_trait::async_trait;

/// What callers like to write in one line. Implemented for every chat driver, and not implementable outside.
#[async_trait]
pub trait ChatDriverExt: ChatDriver + sealed::Sealed {
    /// One question to one model, the whole answer.
    ///
    /// # Errors
    /// As [`ChatDriver::chat`]; `InvalidRequest` when the model's name is none.
    async fn ask(&self, cx: &CallContext, model: &str, question: &str) -> Result<ChatResponse> {
        let request = ChatRequest::user(question).with_model(ModelId::new(model)?);
        self.chat(cx, &request).await
    }

    /// One question to one model, the answer as it comes.
    ///
    /// # Errors
    /// As [`ChatDriver::chat_stream`]; `InvalidRequest` when the model's name is none.
    async fn ask_stream(&self, cx: &CallContext, model: &str, question: &str) -> Result<ChatStream> {
        let request = ChatRequest::user(question).with_model(ModelId::new(model)?);
        self.chat_stream(cx, &request).await
    }

    /// Asks for a stream and folds it: the same answer as [`ChatDriver::chat`], without a limit on how long
    /// the vendor may write.
    ///
    /// # Errors
    /// As [`ChatDriver::chat_stream`], and what ends the stream early.
    async fn chat_collected(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatResponse> {
        collect(self.chat_stream(cx, request).await?).await
    }
}

impl<D: ChatDriver + ?Sized> ChatDriverExt for D {}

mod sealed {
    pub trait Sealed {}
    impl<D: super::ChatDriver + ?Sized> Sealed for D {}
}
