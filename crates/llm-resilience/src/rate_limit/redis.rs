//! Quotas on a Redis server or cluster: one script a decision.

use super::store::{Amount, LimitReason, Limits, QuotaStore, Reserved, Settlement, StoreFault, micros};
use super::window::LONGEST_SILENCE;
use crate::store::redis::{RedisLink, Reply, Script, ScriptCall};
use crate::store::{StoreError, StoreErrorKind};
use llm_core::async_trait;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

static RESERVE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(concat!(
        include_str!("redis/window.lua"),
        include_str!("redis/reserve.lua")
    ))
});
static SETTLE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(concat!(
        include_str!("redis/window.lua"),
        include_str!("redis/settle.lua")
    ))
});

/// The budgets whose server is remembered. More than that are told apart by the state on the server alone.
const MOST_REMEMBERED: usize = 4096;

/// Quotas on a Redis server or cluster, which all processes with the same prefix share: one round trip to reserve, one
/// to settle, on the server's own time.
///
/// The state of a budget lives in one slot of a cluster (`llm_router:rate_limit:{budget}` and `…:{budget}:head`),
/// two minutes long. What is there but cannot have been written by a limiter reads as absent.
///
/// A server that was started anew and a replica that took over may have forgotten what was admitted last. The script
/// sees that another server process runs it than before, and answers [`StoreFault::StateLost`] to everybody for one
/// window, whoever comes first. It cannot see that keys were deleted (`FLUSHALL`, an eviction) while the server went on.
///
/// ```no_run
/// use llm_resilience::store::redis::{RedisConfig, RedisLink};
/// use llm_resilience::{RateLimitLayer, RateLimitPolicy, RedisQuotaStore};
/// use std::sync::Arc;
///
/// let link = RedisLink::new(RedisConfig::single("redis://localhost"))?;
/// let limits = RateLimitPolicy::default().with_requests_per_minute(500).with_budget("openai-team-blue");
/// let layer = RateLimitLayer::with_store(limits, Arc::new(RedisQuotaStore::new(link)));
/// # let _ = layer;
/// # Ok::<(), llm_core::Error>(())
/// ```
#[derive(Clone)]
pub struct RedisQuotaStore {
    link: RedisLink,
    /// Which server process counted a budget last.
    seen: Arc<Mutex<HashMap<String, String>>>,
}

impl RedisQuotaStore {
    /// Counts through this link.
    pub fn new(link: RedisLink) -> Self {
        RedisQuotaStore {
            link,
            seen: Arc::default(),
        }
    }

    fn on(&self, script: &'static Script, budget: &str, limits: &Limits, now: u64) -> ScriptCall<'static> {
        let buckets = self.link.key("rate_limit", budget);
        let head = format!("{buckets}:head");
        script
            .on(buckets)
            .key(head)
            .integer(now)
            .integer(limits.window)
            .integer(or_none(limits.requests))
            .integer(or_none(limits.tokens))
    }

    /// Decides as if it were this moment, in microseconds; 0: the server's own time.
    async fn reserve_at(
        &self,
        now: u64,
        budget: &str,
        limits: &Limits,
        amount: Amount,
        time_left: Option<Duration>,
    ) -> Result<Reserved, StoreFault> {
        let seen = self.seen_of(budget);
        let call = self
            .on(&RESERVE, budget, limits, now)
            .integer(amount.requests)
            .integer(amount.tokens)
            .text(seen.as_str());
        let reply = self
            .link
            .run(call, time_left)
            .await
            .map_err(StoreFault::Unavailable)?;
        let (decision, run) = read(&reply).map_err(StoreFault::Unavailable)?;
        if seen != run {
            self.remember(budget, run);
        }
        decision
    }

    async fn settle_at(
        &self,
        now: u64,
        budget: &str,
        limits: &Limits,
        settlement: &Settlement,
    ) -> Result<(), StoreFault> {
        let (reserved, used) = (settlement.reserved, settlement.used);
        let mut call = self
            .on(&SETTLE, budget, limits, now)
            .integer(settlement.lease)
            .integer(reserved.requests)
            .integer(reserved.tokens)
            .integer(used.requests)
            .integer(used.tokens)
            .integer(micros(settlement.closed_for).min(LONGEST_SILENCE));
        for left in [settlement.requests_left, settlement.tokens_left] {
            let (amount, lasts) = left.unzip();
            call = call
                .integer(or_none(amount.map(|amount| amount.min(Amount::MOST))))
                .integer(micros(lasts.unwrap_or_default()).min(limits.window));
        }
        let call = call.text(self.seen_of(budget).as_str());
        // Given back twice, the tokens of others would be given back.
        let ran = self.link.run(call.once(), None).await;
        ran.map(drop).map_err(StoreFault::Unavailable)
    }

    /// The run id that is remembered, or nothing.
    fn seen_of(&self, budget: &str) -> String {
        self.seen().get(budget).cloned().unwrap_or_default()
    }

    fn remember(&self, budget: &str, run: &str) {
        let mut seen = self.seen();
        if seen.len() >= MOST_REMEMBERED && !seen.contains_key(budget) {
            seen.clear();
        }
        seen.insert(budget.to_owned(), run.to_owned());
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, HashMap<String, String>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the script decided, and which server process it was.
fn read(reply: &Reply) -> Result<(Result<Reserved, StoreFault>, &str), StoreError> {
    let figure = |place| {
        let figure = reply.integer(place)?;
        u64::try_from(figure).map_err(|_| none_of_ours())
    };
    let (first, second) = (figure(1)?, figure(2)?);
    let decision = match figure(0)? {
        1 => Ok(Reserved::Granted {
            lease: first,
            at: figure(3)?,
        }),
        2 => Ok(Reserved::Wait {
            wait: Duration::from_micros(first),
            reason: match second {
                1 => LimitReason::Requests,
                2 => LimitReason::Tokens,
                3 => LimitReason::Vendor,
                _ => return Err(none_of_ours()),
            },
        }),
        3 => Err(StoreFault::StateLost {
            trusted_in: Duration::from_micros(first),
        }),
        _ => return Err(none_of_ours()),
    };
    Ok((decision, reply.text(4)?))
}

fn none_of_ours() -> StoreError {
    StoreError::new(
        StoreErrorKind::Corrupt,
        "redis: the script's answer is none of a rate limit's",
    )
}

/// Scripts take -1 for none.
fn or_none(figure: Option<u64>) -> i128 {
    figure.map_or(-1, i128::from)
}

#[async_trait]
impl QuotaStore for RedisQuotaStore {
    async fn reserve(
        &self,
        budget: &str,
        limits: &Limits,
        amount: Amount,
        time_left: Option<Duration>,
    ) -> Result<Reserved, StoreFault> {
        self.reserve_at(0, budget, limits, amount, time_left).await
    }

    async fn settle(&self, budget: &str, limits: &Limits, settlement: &Settlement) -> Result<(), StoreFault> {
        self.settle_at(0, budget, limits, settlement).await
    }
}

impl fmt::Debug for RedisQuotaStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisQuotaStore")
            .field("link", &self.link)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
