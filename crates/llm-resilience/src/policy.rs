//! The generic runner: what a layer does is written once, as a [`Policy`], for every family of calls. A thin
//! wrapper for each family ([`chat`] now; embeddings and transcriptions when they come) carries it there.

mod chat;
mod ending;
mod first_content;
mod observed;

use llm_core::{
    Attempt, Availability, CallContext, ChatRequest, ChatStream, DriverInfo, Error, ModelId, ResolvedModel,
    ResponseMeta, Result, Usage, VendorFacts,
};
use std::fmt::{self, Debug};
use std::sync::Arc;
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

    /// Is there room in what this layer keeps of the target? Costs nothing to ask. The driver inside is asked
    /// as well, and the stricter answer holds.
    fn availability(&self, _: &Target<'_>) -> Availability {
        Availability::Available
    }

    /// Is the driver known to be ill, whatever the model? Then its health is not probed, and this is why.
    fn illness(&self, _: &DriverInfo) -> Option<String> {
        None
    }
}

/// What is called: for logs, and for the keys of state that is kept for each target.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    /// Who is called.
    pub(crate) driver: &'a DriverInfo,
    /// The model that the request names.
    pub(crate) model: Option<&'a ModelId>,
    /// Does the answer come in pieces?
    pub(crate) streamed: bool,
    /// Can the request be sent again? (A sound that is read once cannot.)
    pub(crate) replayable: bool,
    /// Says which model serves.
    pub(crate) resolve: &'a Resolve<'a>,
    /// What is asked, where it is a chat.
    pub(crate) chat: Option<&'a ChatRequest>,
}

/// Which model serves, for the one that a request names.
pub(crate) type Resolve<'a> = dyn Fn(Option<&ModelId>) -> Result<Arc<ResolvedModel>> + Send + Sync + 'a;

impl<'a> Target<'a> {
    /// A call whose answer comes whole, and that can be sent again.
    pub(crate) fn whole(
        driver: &'a DriverInfo,
        model: Option<&'a ModelId>,
        resolve: &'a Resolve<'a>,
    ) -> Self {
        Target {
            driver,
            model,
            streamed: false,
            replayable: true,
            resolve,
            chat: None,
        }
    }

    /// A call whose answer comes in pieces.
    pub(crate) fn streamed(
        driver: &'a DriverInfo,
        model: Option<&'a ModelId>,
        resolve: &'a Resolve<'a>,
    ) -> Self {
        Target {
            streamed: true,
            ..Target::whole(driver, model, resolve)
        }
    }

    /// With the chat that is asked for.
    pub(crate) fn asking(mut self, chat: &'a ChatRequest) -> Self {
        self.chat = Some(chat);
        self
    }

    /// The model that serves, whatever name the request has for it; the name itself where the driver refuses
    /// it (which the call will say).
    pub(crate) fn serving_model(&self) -> Option<ModelId> {
        match (self.resolve)(self.model) {
            Ok(model) => Some(model.id.clone()),
            Err(_) => self.model.cloned(),
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

impl Debug for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("driver", &self.driver.id)
            .field("model", &self.model)
            .field("streamed", &self.streamed)
            .field("replayable", &self.replayable)
            .finish_non_exhaustive()
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

    /// Keeps a guard until the answer is there whole, or its reader has gone.
    fn holding(self, guard: impl Send + 'static) -> Self;

    /// Tells of the first content that is still to come; an answer that is there whole has none.
    fn at_content(self, tell: impl FnOnce() + Send + 'static) -> Self;

    /// Tells of the end that is still to come, good (nothing) or bad, and keeps its last item from the reader until
    /// that is done. Dropped unheard when the reader goes first; an answer that is there whole has no such end.
    fn at_end<F, Fut>(self, tell: F) -> Self
    where
        F: FnOnce(Option<&Error>) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static;

    /// Shows an observer the answer, to its end.
    fn observed(self, observer: impl Observer) -> Self;
}

/// Who wants to know what an answer says of itself, and how it ends. Dropped after that; dropped before it, the
/// reader has gone.
pub(crate) trait Observer: Send + 'static {
    /// The head of the answer.
    fn begun(&mut self, meta: &ResponseMeta);

    /// A report of what was used so far; the last figure counts.
    fn used(&mut self, usage: &Usage);

    /// It is there whole.
    fn finished(&mut self);

    /// It failed.
    fn failed(&mut self, error: &Error);
}
