//! What a caller knows of its tokens. What is guessed otherwise, `llm_core::estimate` guesses.

/// What a caller knows better than a guess: how many tokens its call will take, in and out together. Put it into the
/// context, after asking a [`TokenCounter`](llm_core::TokenCounter) for example; it goes for that call in every rate
/// limit inside.
///
/// ```
/// use llm_driver_testkit::TestClock;
/// use llm_resilience::TokenEstimate;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let cx = TestClock::context().with_extension(TokenEstimate::new(1250));
/// # let _ = cx;
/// # });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenEstimate {
    /// So many.
    pub tokens: u64,
}

impl TokenEstimate {
    /// So many tokens.
    pub fn new(tokens: u64) -> Self {
        TokenEstimate { tokens }
    }
}
