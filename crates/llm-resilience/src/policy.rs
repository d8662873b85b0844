//! The generic runner: what a layer does is written once, as a [`Policy`], for every family of calls. A thin
//! wrapper for each family ([`chat`] now; embeddings and transcriptions when they come) carries it there.

mod chat;

use llm_core::{Attempt, CallContext, ChatStream, DriverInfo, Error, ModelId, Result, VendorFacts};
use std::fmt::Debug;
use std::time::Instant;

pub(crate) use chat::PolicyChatDriver;

/// What a layer does around a call, whatever is called.
pub(crate) trait Policy: Debug + Send + Sync + 'static {
    /// Its word in [`DriverInfo::layers`].
    const NAME: &'static str;

    /// Makes one logical call: runs `operation` once, or several times, or not at all, each time with the
    /// context that this attempt gets.
    ///
    /// The context goes by value: it is a pointer wide, and a bound with a borrowed one does not compile for
    /// `Send` futures.
    fn run<T, Fut>(
        &self,
        cx: &CallContext,
        target: &Target<'_>,
        operation: impl FnMut(CallContext) -> Fut + Send,
    ) -> impl Future<Output = Result<T>> + Send
    where
        T: Answer,
        Fut: Future<Output = Result<T>> + Send;

    /// The hook to the end of a stream: takes over the stream that an attempt opened (at `started`, on the
    /// call's clock), while [`Policy::run`] still waits for that attempt.
    fn watch(
        &self,
        cx: &CallContext,
        target: &Target<'_>,
        started: Instant,
        stream: ChatStream,
    ) -> impl Future<Output = Result<ChatStream>> + Send;
}

/// What is called: for logs, and for the keys of state that is kept for each target.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    /// Who is called.
    pub(crate) driver: &'a DriverInfo,
    /// The model that the request names.
    pub(crate) model: Option<&'a ModelId>,
    /// Does the answer come in pieces?
    pub(crate) streamed: bool,
    /// Can the request be sent again? (A sound that is read once cannot.)
    pub(crate) replayable: bool,
}

impl<'a> Target<'a> {
    /// A call whose answer comes whole, and that can be sent again.
    pub(crate) fn whole(driver: &'a DriverInfo, model: Option<&'a ModelId>) -> Self {
        Target {
            driver,
            model,
            streamed: false,
            replayable: true,
        }
    }

    /// A call whose answer comes in pieces.
    pub(crate) fn streamed(driver: &'a DriverInfo, model: Option<&'a ModelId>) -> Self {
        Target {
            streamed: true,
            ..Target::whole(driver, model)
        }
    }

    /// Whose call it is, for an error of ours.
    pub(crate) fn facts(&self, request_id: Option<String>) -> VendorFacts {
        let mut facts = VendorFacts::default();
        facts.driver = Some(self.driver.id.clone());
        facts.model = self.model.cloned();
        facts.request_id = request_id;
        facts
    }
}

/// What a call gives back, as far as a runner has to know it.
pub(crate) trait Answer: Send + Sized {
    /// What it says was tried for it.
    fn attempts(&self) -> &[Attempt];

    /// The same with this log of what was tried.
    fn with_attempts(self, attempts: Vec<Attempt>) -> Self;

    /// Changes the error that may still end it; an answer that is there whole has none.
    fn map_late_error(self, change: impl FnOnce(Error) -> Error + Send + 'static) -> Self;
}
