//! The executor: runs a plan and decides nothing.

mod commit;
mod log;
mod outcome;
mod response;
mod share;
mod verdict;

use crate::clock;
use crate::decision::{PlannedCandidate, RoutingDecision};
use crate::metrics::{CallInFlight, Metrics};
use crate::observer::{Observers, PlanObserver, guarded};
use commit::{Committed, Opened, open};
use llm_core::estimate::TokenDemand;
use llm_core::{
    Attempt, Availability, CallContext, ChatRequest, ChatResponse, ChatStream, Error, Phase,
    RateLimitSnapshot, Result, Skip, Usage,
};
use log::AttemptLog;
use response::{Doubt, Doubted};
use share::Share;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use verdict::{Next, WindowBar};

pub use response::ResponseCheck;

/// Runs a [`RoutingDecision`]: asks its candidates in their order, each for its own model, until one serves
/// or the rules say stop. Cheap to clone.
///
/// It never adds, reorders or swaps anything. At its turn a candidate may be
///
/// - **skipped**, when it is not available at that moment;
/// - **passed over**, when an earlier one found the input too long and this one's context window is known to
///   be no larger;
/// - **asked**. When it fails, the error's [verdict](llm_core::Verdict) says whether the next may be asked:
///   content filters only with [`with_content_filter_failover`](Self::with_content_filter_failover), refusals
///   such as `Unsupported` only if the candidate is itself a router, bad credentials with an alarm.
///
/// Everything that reaches the caller carries what was tried: [`ChatResponse::attempts`],
/// [`ChatStream::attempts`], [`Error::attempts`] and [`Error::skipped`]. An attempt stands there under its
/// candidate's id. Where the candidate's stack keeps a log of its own, that takes the attempt's place: tries
/// of a retry layer stand under the candidate's id, those of an inner router under `outer/inner`.
///
/// A [raw body](llm_core::RawRequest) in the context stays there: drivers of its format put the candidate's
/// model into it.
///
/// When nobody is left, the error takes kind, scope and hint of the failure that may be retried soonest, else
/// of the last one, and is marked [exhausted](Error::is_exhausted). When everybody was skipped, it is
/// `RateLimit` or `Overloaded`, with the time until the first is back as its hint.
///
/// While others remain that could be asked, a candidate may not queue
/// ([`CallContext::max_queue_wait`] is zero), and where the call has a deadline it gets its share of the time that is
/// left until its commit point: as much as each of those who remain, and at least five seconds. One that has shown no
/// content by then has failed with a `Timeout` of scope `Vendor`, and the next is asked. The last one may queue for as long
/// as the caller's context says, and gets all the time there is; so does any, where those five seconds are more than
/// what is left. When the deadline itself passes before the commit point, the call has ended with a `Timeout` of scope
/// `Request`, which counts against nobody. Below another router, what is left ends with the
/// [limit](CallContext::attempt_limit) that this set.
///
/// It feeds the [`Metrics`] that it was [given](Self::with_metrics): how long each call took, how it ended, what it used,
/// what the vendor's headers said. A call that the caller gives up says nothing about its candidate.
///
/// A call with a deadline needs a tokio runtime with its timer; without a runtime it fails with `Config`.
#[derive(Clone, Default)]
pub struct PlanExecutor {
    one_only: bool,
    content_filter_failover: bool,
    may_fail_over: Option<Arc<Predicate>>,
    observers: Observers,
    metrics: Metrics,
    check: Option<ResponseCheck>,
}

type Predicate = dyn Fn(&Error, &PlannedCandidate) -> bool + Send + Sync;

impl PlanExecutor {
    /// By the verdict table alone.
    pub fn new() -> Self {
        PlanExecutor::default()
    }

    /// Asks one candidate only, the first of the plan that is available. It has all the time there is, and may queue.
    #[must_use]
    pub fn without_failover(mut self) -> Self {
        self.one_only = true;
        self
    }

    /// May the next candidate be asked when one filtered the content? No by default.
    #[must_use]
    pub fn with_content_filter_failover(mut self, allowed: bool) -> Self {
        self.content_filter_failover = allowed;
        self
    }

    /// Asks this too before moving on. It can only narrow: where the verdict says stop, it is not asked.
    ///
    /// ```
    /// use llm_core::ErrorKind;
    /// use llm_routing::PlanExecutor;
    /// let careful = PlanExecutor::new().with_failover_if(|error, _candidate| error.kind() != ErrorKind::Auth);
    /// ```
    #[must_use]
    pub fn with_failover_if(
        mut self,
        predicate: impl Fn(&Error, &PlannedCandidate) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.may_fail_over = Some(Arc::new(predicate));
        self
    }

    /// One more observer.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn PlanObserver>) -> Self {
        self.observers.add(observer);
        self
    }

    /// Where it writes what it sees. Give the engine the same ones, so that it decides by them.
    #[must_use]
    pub fn with_metrics(mut self, metrics: Metrics) -> Self {
        self.metrics = metrics;
        self
    }

    /// Asks the next candidate too when an answer came but is none: empty, a refusal, not the JSON that was asked for.
    /// Off by default: such an answer was paid for. When nobody has a better one, the last that came is the answer, with a
    /// warning; a paid answer never becomes an error. For streams only emptiness can be seen in time.
    #[must_use]
    pub fn with_response_check(mut self, check: ResponseCheck) -> Self {
        self.check = Some(check);
        self
    }

    pub(crate) fn observers(&self) -> &Observers {
        &self.observers
    }

    /// Runs the plan for a whole answer.
    ///
    /// # Errors
    /// What stopped the plan: a candidate's failure that no other can mend, `Timeout` with scope `Request`
    /// when the deadline passed, or the outcome of exhaustion; see the type.
    ///
    /// # Cancellation
    /// Dropping the future drops the attempt that is under way; nothing else is asked.
    pub async fn chat(
        &self,
        cx: &CallContext,
        plan: &RoutingDecision,
        request: &ChatRequest,
    ) -> Result<ChatResponse> {
        let ask = |cx: CallContext, planned: &PlannedCandidate| {
            let (stack, request) = (planned.stack().clone(), planned.request(request));
            async move { stack.chat(&cx, &request).await }
        };
        let doubt = |response: &ChatResponse| self.check.as_ref()?.doubt(cx, request, response);
        let kind = Kind::Chat(plan.needs().demand());
        let mut served = self.walk(cx, plan, kind, ask, doubt).await?;
        let inner_log = std::mem::take(&mut served.value.attempts);
        let limits = served.value.meta.rate_limits.clone();
        served.settle(&served.value.usage.clone(), limits.as_deref());
        let doubt = served.doubt.take();
        let mut response = served.report(self, cx, inner_log);
        response.value.attempts = response.attempts;
        response.value.warnings.extend(doubt.map(|doubt| doubt.warning()));
        Ok(response.value)
    }

    /// Runs the plan for a stream.
    ///
    /// It returns at the commit point: when a candidate's first event with content is there, or its finish.
    /// What came before is handed out first; from then on every event passes at once, and failures come in
    /// the stream, because nothing is replayed once the caller has seen content.
    ///
    /// # Errors
    /// As [`chat`](Self::chat), for everything before the commit point.
    ///
    /// # Cancellation
    /// Dropping the future or the stream drops the attempt that is under way; nothing else is asked.
    pub async fn chat_stream(
        &self,
        cx: &CallContext,
        plan: &RoutingDecision,
        request: &ChatRequest,
    ) -> Result<ChatStream> {
        let ask = |cx: CallContext, planned: &PlannedCandidate| {
            let (stack, request) = (planned.stack().clone(), planned.request(request));
            async move { open(&*stack, &cx, &request).await }
        };
        let doubt = |opened: &Opened| opened.doubt(self.check.as_ref()?);
        let kind = Kind::Stream(plan.needs().demand());
        let served = self.walk(cx, plan, kind, ask, doubt).await?;
        Ok(Committed::stream(served, self.observers.clone(), cx.clone()))
    }

    /// Runs the plan for any kind of attempt: `attempt` is called for one candidate after another, with the
    /// context of that attempt, and must ask that candidate for its model
    /// ([`PlannedCandidate::model`]). An attempt ends at its commit point: once it has returned `Ok`, nobody
    /// else is asked. `used` says what an answer used and what its headers said of limits, for the metrics; where nothing
    /// is known, `(Usage::default(), None)`.
    ///
    /// # Errors
    /// As [`chat`](Self::chat).
    ///
    /// # Cancellation
    /// Dropping the future drops the attempt that is under way; nothing else is asked.
    pub async fn run<'p, T, F, Fut>(
        &self,
        cx: &CallContext,
        plan: &'p RoutingDecision,
        attempt: F,
        used: impl Fn(&T) -> (Usage, Option<RateLimitSnapshot>) + Send,
    ) -> Result<Served<'p, T>>
    where
        T: Send,
        F: FnMut(CallContext, &'p PlannedCandidate) -> Fut + Send,
        Fut: Future<Output = Result<T>> + Send,
    {
        let mut served = self.walk(cx, plan, Kind::Other, attempt, |_: &T| None).await?;
        let (usage, limits) = used(&served.value);
        served.settle(&usage, limits.as_ref());
        Ok(served.report(self, cx, Vec::new()))
    }

    /// The rules of the type, in order. `doubt` says why an answer is none, where it is none.
    async fn walk<'p, T, F, Fut>(
        &self,
        cx: &CallContext,
        plan: &'p RoutingDecision,
        kind: Kind<'_>,
        mut attempt: F,
        doubt: impl Fn(&T) -> Option<Doubted> + Send,
    ) -> Result<Served<'p, T>>
    where
        T: Send,
        F: FnMut(CallContext, &'p PlannedCandidate) -> Fut + Send,
        Fut: Future<Output = Result<T>> + Send,
    {
        let clock = cx.clock();
        if cx.deadline().is_some() || cx.attempt_limit().is_some() {
            crate::clock::require_runtime()?;
        }
        let mut log = AttemptLog::default();
        let mut bar = WindowBar::default();
        let mut rest = plan.plan();
        // the last answer that came and is none
        let mut doubtful: Option<Served<'p, T>> = None;
        while let Some((planned, later)) = rest.split_first() {
            rest = later;
            if !bar.admits(planned) {
                log::trace_passed_over(planned);
                continue;
            }
            if let Err(expired) = cx.check_deadline() {
                return doubtful
                    .map(|served| served.after(&log))
                    .ok_or_else(|| log.stopped(expired));
            }
            if share::is_let_go(cx) {
                break;
            }
            if let Availability::Unavailable { reason, until } = planned.availability() {
                let left = until.map(|until| until.saturating_duration_since(clock.now()));
                let skip = Skip::new(planned.id(), reason, left);
                log::trace_skip(&skip);
                self.observers
                    .tell(|observer| observer.on_skipped(cx, planned, &skip));
                log.skip(skip);
                continue;
            }
            let others = later
                .iter()
                .filter(|other| bar.admits(other) && other.availability().is_available());
            let others = if self.one_only { 0 } else { others.count() };
            let attempt_cx = attempt_context(cx, log.attempts().len(), others > 0);
            let share = Share::of(cx, others);
            self.observers.tell(|observer| observer.on_asked(cx, planned));
            let start = clock.now();
            let mut call = kind.of(self.metrics.begin(planned.id(), start));
            // A drop at that moment is this candidate's failure, for its own layers too.
            let attempt_cx = match share.limit {
                Some(limit) => {
                    call = call.with_limit(clock.clone(), limit);
                    attempt_cx.with_attempt_limit(limit)
                }
                None => attempt_cx.without_attempt_limit(),
            };
            let outcome = clock::within(share.time, attempt(attempt_cx, planned)).await;
            let cut = share.time.filter(|_| outcome.is_none());
            let end = clock.now().max(start + cut.unwrap_or_default());
            let elapsed = end.saturating_duration_since(start);
            let error = match outcome {
                Some(Ok(value)) => {
                    call.committed();
                    let doubted = doubt(&value);
                    let mut served =
                        Served::new(value, planned, start, elapsed, call, log.attempts().to_vec());
                    let Some(Doubted {
                        doubt,
                        usage,
                        limits,
                        attempts,
                    }) = doubted
                    else {
                        return Ok(served);
                    };
                    let error = doubt.error();
                    served.doubt = Some(doubt);
                    if others == 0 || !self.may_move_on(&error, planned) {
                        return Ok(served);
                    }
                    // It has ended and was paid for, whoever is asked now.
                    served.settle(&usage, limits.as_deref());
                    log.doubt(planned, &error, elapsed, attempts);
                    served.logged = log.attempts().len();
                    log::trace_failure(planned, &error, elapsed);
                    self.observers
                        .tell(|observer| observer.on_failed(cx, planned, &error, elapsed));
                    doubtful = Some(served);
                    continue;
                }
                Some(Err(error)) => before_commit(error),
                None => share.over(planned),
            };
            let unfair = cut.is_some() && !share.counts();
            if !unfair && !log::asked_nobody(planned, &error) {
                call.failed(&error, end);
            }
            let next = self.next(&error, planned);
            log.fail(planned, &error, elapsed);
            if next == Next::Stop {
                return doubtful
                    .map(|served| served.after(&log))
                    .ok_or_else(|| log.stopped(error));
            }
            log::trace_failure(planned, &error, elapsed);
            self.observers
                .tell(|observer| observer.on_failed(cx, planned, &error, elapsed));
            if next == Next::Larger {
                bar.raise(planned);
            }
            log.remember(planned, error);
        }
        doubtful
            .map(|served| served.after(&log))
            .ok_or_else(|| log.nobody_left())
    }

    /// The verdict, narrowed by this executor's own rules.
    fn next(&self, error: &Error, planned: &PlannedCandidate) -> Next {
        let next = verdict::next(error, planned, self.content_filter_failover);
        match &self.may_fail_over {
            _ if self.one_only => Next::Stop,
            Some(_) if next != Next::Stop && !self.may_move_on(error, planned) => Next::Stop,
            _ => next,
        }
    }

    /// What the caller's predicate says; one that panics says nothing.
    fn may_move_on(&self, error: &Error, planned: &PlannedCandidate) -> bool {
        let may = self.may_fail_over.as_ref();
        may.is_none_or(|may| guarded("the fail-over predicate", || may(error, planned)).unwrap_or(true))
    }
}

impl fmt::Debug for PlanExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlanExecutor")
            .field("one_only", &self.one_only)
            .field("content_filter_failover", &self.content_filter_failover)
            .field(
                "may_fail_over",
                &self.may_fail_over.as_ref().map(|_| "a predicate"),
            )
            .field("observers", &self.observers)
            .field("check", &self.check)
            .finish_non_exhaustive()
    }
}

/// What kind of attempts a walk makes.
#[derive(Debug, Clone, Copy)]
enum Kind<'a> {
    /// With what its input tokens were estimated from.
    Chat(&'a TokenDemand),
    Stream(&'a TokenDemand),
    /// What these use says nothing of how a vendor counts the words of a chat.
    Other,
}

impl Kind<'_> {
    fn of(self, call: CallInFlight) -> CallInFlight {
        match self {
            Kind::Chat(demand) => call.with_demand(demand),
            Kind::Stream(demand) => call.with_demand(demand).with_stream(),
            Kind::Other => call,
        }
    }
}

/// The context of one attempt: its number, and no queueing while somebody else could be asked instead.
fn attempt_context(cx: &CallContext, tried: usize, others_remain: bool) -> CallContext {
    let tried = u32::try_from(tried).unwrap_or(u32::MAX);
    let attempt_cx = cx.clone().with_attempt(cx.attempt().saturating_add(tried));
    if others_remain {
        attempt_cx.with_max_queue_wait(Duration::ZERO)
    } else {
        attempt_cx
    }
}

/// Whatever a driver thinks, nothing of this attempt has reached our caller.
fn before_commit(error: Error) -> Error {
    match error.phase() {
        Phase::Streaming => error.with_phase(Phase::Sent),
        _ => error,
    }
}

/// What an attempt brought, and who served it.
#[derive(Debug)]
#[non_exhaustive]
#[must_use = "this is the answer"]
pub struct Served<'p, T> {
    /// What the attempt returned.
    pub value: T,
    /// Who served.
    pub candidate: &'p PlannedCandidate,
    /// From the start of that attempt to its return.
    pub elapsed: Duration,
    /// What was tried, the attempt that served included.
    pub attempts: Vec<Attempt>,
    started: Instant,
    /// In flight until the answer has ended.
    call: Option<CallInFlight>,
    /// Why it is hardly an answer.
    doubt: Option<Doubt>,
    /// What was tried after it, in vain.
    later: Vec<Attempt>,
    /// How long the log was when its own attempt stood in it, as a failure.
    logged: usize,
}

impl<'p, T> Served<'p, T> {
    /// Before its own attempt is in the log.
    fn new(
        value: T,
        candidate: &'p PlannedCandidate,
        started: Instant,
        elapsed: Duration,
        call: CallInFlight,
        attempts: Vec<Attempt>,
    ) -> Self {
        Served {
            value,
            candidate,
            elapsed,
            attempts,
            started,
            call: Some(call),
            doubt: None,
            later: Vec::new(),
            logged: 0,
        }
    }

    /// Others were asked after it, and had nothing better.
    fn after(mut self, log: &AttemptLog<'_>) -> Self {
        self.later = log.attempts().iter().skip(self.logged).cloned().collect();
        self
    }

    /// The answer has ended: it was whole when the attempt returned.
    fn settle(&mut self, usage: &Usage, limits: Option<&RateLimitSnapshot>) {
        if let Some(call) = self.call.take() {
            let ended = self.started + self.elapsed;
            call.succeeded(None, ended, usage, limits);
        }
    }

    /// Puts its own attempt into the log, and tells the observers.
    fn report(mut self, executor: &PlanExecutor, cx: &CallContext, inner_log: Vec<Attempt>) -> Self {
        log::add_served(&mut self.attempts, self.candidate, self.elapsed, inner_log);
        self.attempts.append(&mut self.later);
        let (candidate, elapsed) = (self.candidate, self.elapsed);
        executor
            .observers
            .tell(|observer| observer.on_served(cx, candidate, elapsed));
        self
    }
}

#[cfg(test)]
mod tests;
