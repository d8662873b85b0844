//! Records on a Redis server or cluster: one script a decision.

use super::decision::{Asked, BreakerQuestion, BreakerReply, BreakerScope};
use super::keys::BreakerKeys;
use super::store::BreakerStore;
use crate::store::redis::{RedisLink, Script, ScriptCall};
use crate::store::{StoreError, StoreErrorKind};
use llm_core::async_trait;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

static DECIDE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("breaker.lua")));
static FORGET: LazyLock<Script> = LazyLock::new(|| Script::new("return redis.call('DEL', unpack(KEYS))"));

/// Records on a Redis server or cluster, which all processes with the same prefix share. One round trip a decision, on
/// the server's own time.
///
/// The records of one vendor live in one slot of a cluster: `llm_router:breaker:{openai@https://…}:model:…` and so on,
/// each a JSON list of integers that runs out by itself. What is there but cannot have been written by a breaker reads
/// as absent, which means closed.
///
/// A call is let in by one round trip and told of by another. The words of an answer come in between, so a stream's
/// reader waits for the second only at the end.
#[derive(Debug, Clone)]
pub struct RedisBreakerStore {
    link: RedisLink,
}

impl RedisBreakerStore {
    /// Keeps records through this link.
    pub fn new(link: RedisLink) -> Self {
        RedisBreakerStore { link }
    }

    fn on(&self, script: &'static Script, keys: &BreakerKeys) -> ScriptCall<'static> {
        let vendor = self.link.key("breaker", keys.stack());
        let [first, rest @ ..] = BreakerScope::ALL.map(|scope| format!("{vendor}:{}", keys.name(scope)));
        rest.into_iter().fold(script.on(first), ScriptCall::key)
    }

    /// Decides as if it were this moment, in milliseconds; 0: the server's own time.
    async fn decide_at(
        &self,
        keys: &BreakerKeys,
        question: &BreakerQuestion<'_>,
        now: u64,
        time_left: Option<Duration>,
    ) -> Result<BreakerReply, StoreError> {
        let arguments = [now, question.random]
            .into_iter()
            .chain(question.rules.to_numbers());
        let mut call = arguments.fold(self.on(&DECIDE, keys), ScriptCall::integer);
        match question.asked {
            Asked::MayPass(id) => call = call.integer(1).integer(id),
            Asked::MayPassAnew(id) => call = call.integer(3).integer(id),
            Asked::Ended(ticket, report) => {
                call = call.integer(2);
                for scope in BreakerScope::ALL.map(|scope| scope as usize) {
                    let pass = ticket.passes[scope];
                    let outcome = report.outcomes[scope].to_number();
                    let (ms, reason, growing) = match report.shuts[scope] {
                        None => (0, 0, 0),
                        Some(shut) => (shut.ms, shut.reason.to_number(), u64::from(shut.growing)),
                    };
                    let numbers = [pass.generation, pass.probe, outcome, ms, reason, growing];
                    call = numbers.into_iter().fold(call, ScriptCall::integer);
                }
            }
        }
        let reply = self.link.run(call, time_left).await?;
        let numbers = (0..reply.len()).map(|place| reply.integer(place));
        let numbers = numbers.map(|number| number.map(|number| u64::try_from(number).unwrap_or(u64::MAX)));
        let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
        BreakerReply::from_numbers(&numbers).ok_or_else(|| {
            StoreError::new(
                StoreErrorKind::Corrupt,
                "redis: the script's answer is none of a breaker's",
            )
        })
    }
}

#[async_trait]
impl BreakerStore for RedisBreakerStore {
    fn decide_at_once(&self, _: &BreakerKeys, _: &BreakerQuestion<'_>, _: Instant) -> Option<BreakerReply> {
        None
    }

    async fn decide(
        &self,
        keys: &BreakerKeys,
        question: &BreakerQuestion<'_>,
        _: Instant,
        time_left: Option<Duration>,
    ) -> Result<BreakerReply, StoreError> {
        self.decide_at(keys, question, 0, time_left).await
    }

    async fn forget(&self, keys: &BreakerKeys, time_left: Option<Duration>) -> Result<(), StoreError> {
        self.link.run(self.on(&FORGET, keys), time_left).await.map(drop)
    }
}

#[cfg(test)]
mod tests;
