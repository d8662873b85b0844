//! What an admitted call holds until it is known what it used.

use super::budget::{Budget, Grant};
use super::store::{Amount, Settlement};
use crate::policy::Observer;
use llm_core::estimate::TokenDemand;
use llm_core::rate_limit::LimitWindow;
use llm_core::{CallContext, Clock, Error, ErrorKind, Phase, RateLimitSnapshot, ResponseMeta, Usage};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How long a vendor's figure holds that comes without a time.
const NO_RESET: Duration = Duration::from_secs(60);

/// A call's reservation. It watches how the call ends, and settles then; dropped before, the caller has gone.
pub(super) struct Lease {
    budget: Arc<Budget>,
    clock: Arc<dyn Clock>,
    demand: TokenDemand,
    grant: Grant,
    usage: Usage,
    snapshot: RateLimitSnapshot,
    closed_for: Duration,
    ended: End,
}

/// How a call ended, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Not yet, or nobody waited for it.
    Open,
    /// Well.
    Served,
    /// After it was sent.
    Failed,
    /// Before anything was sent.
    NeverSent,
}

impl Lease {
    pub(super) fn new(budget: Arc<Budget>, cx: &CallContext, demand: TokenDemand, grant: Grant) -> Self {
        Lease {
            budget,
            clock: Arc::clone(cx.clock()),
            demand,
            grant,
            usage: Usage::default(),
            snapshot: RateLimitSnapshot::default(),
            closed_for: Duration::ZERO,
            ended: End::Open,
        }
    }

    /// What counts in the end. The vendor counts each request that reached it, whatever became of it; tokens
    /// count as they were reported, and those of a call that failed without a report are given back.
    fn counts(&self) -> Amount {
        let reserved = self.grant.amount;
        if self.ended == End::NeverSent {
            return Amount::default();
        }
        let reported = self.usage.total_tokens();
        let tokens = match (reported, self.ended) {
            (Some(tokens), _) => tokens,
            (None, End::Served) => reserved.tokens,
            (None, End::Open | End::Failed | End::NeverSent) => 0,
        };
        match self.budget.limits().tokens {
            Some(_) => Amount::new(reserved.requests, tokens),
            // Nobody counts them.
            None => reserved,
        }
    }

    fn vendor_says(&self, mut settlement: Settlement) -> Settlement {
        let left = |window: &LimitWindow| Some((window.remaining?, window.reset.unwrap_or(NO_RESET)));
        settlement.closed_for = self.closed_for;
        settlement.requests_left = left(&self.snapshot.requests);
        let (input, output) = (&self.snapshot.input_tokens, &self.snapshot.output_tokens);
        settlement.tokens_left = left(&self.snapshot.tokens).or_else(|| {
            // Counted apart: no more than both together are left.
            let ((input, input_reset), (output, output_reset)) = (left(input)?, left(output)?);
            Some((input.saturating_add(output), input_reset.min(output_reset)))
        });
        settlement
    }
}

impl Observer for Lease {
    fn begun(&mut self, meta: &ResponseMeta) {
        if let Some(limits) = &meta.rate_limits {
            self.snapshot = **limits;
        }
    }

    fn used(&mut self, usage: &Usage) {
        self.usage.merge(usage);
    }

    fn finished(&mut self) {
        self.ended = End::Served;
        self.budget.learn(&self.demand, &self.usage);
    }

    fn failed(&mut self, error: &Error) {
        if let Some(limits) = &error.vendor().rate_limits {
            self.snapshot = **limits;
        }
        if error.kind() == ErrorKind::RateLimit {
            let hint = error.retry_after().or(self.snapshot.retry_after);
            self.closed_for = hint.unwrap_or_default();
        }
        // Who was answered had sent something, whatever else the error says.
        let never_sent = error.phase() == Phase::NotSent && error.vendor().status.is_none();
        self.ended = if never_sent { End::NeverSent } else { End::Failed };
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let used = self.counts();
        self.budget.settle(&self.clock, &self.grant, used, |settlement| {
            self.vendor_says(settlement)
        });
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("grant", &self.grant)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}
