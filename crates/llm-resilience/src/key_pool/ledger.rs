//! Which keys may be used, and whose turn it is. Pure: the time is an argument.

use super::KeyPoolPolicy;
use super::turn;
use llm_core::error::verdict::Closes;
use llm_core::{Availability, Error, ModelId, UnavailableReason};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// So many models' rests of a key are remembered before those that are over are cleared away: callers choose models'
/// names.
const SWEEP_FROM: usize = 64;

/// What a ledger has to know of a key.
#[derive(Debug, Clone)]
pub(super) struct KeyName {
    pub(super) name: Arc<str>,
    pub(super) weight: u32,
}

/// How all keys of a layer stand, by their names.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    keys: HashMap<Arc<str>, Standing>,
}

#[derive(Debug, Default)]
struct Standing {
    /// The vendor refused it.
    is_refused: bool,
    /// Its quota is used up until then.
    quota: Option<Instant>,
    /// Quotas used up in a row, without a hint when there is more.
    quotas_in_a_row: u32,
    /// Its limit for a model.
    limits: HashMap<Option<ModelId>, Rest>,
    /// Where it stands in the rotation.
    turn: i64,
}

#[derive(Debug, Clone, Copy)]
struct Rest {
    until: Instant,
    /// The vendor said until when; without that, it is only passed over while others are fresh.
    is_sure: bool,
}

/// What may be asked of a ledger.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask<'a> {
    pub(super) keys: &'a [KeyName],
    pub(super) model: Option<&'a ModelId>,
    /// Which keys this call has tried already, in their order.
    pub(super) tried: &'a [bool],
    /// Who keeps its key.
    pub(super) caller: Option<&'a str>,
}

impl Ledger {
    /// Whose turn it is; `None`, when no key is usable. The first try of a call takes a key that is only passed over,
    /// when there is no fresh one; a later try does not.
    pub(super) fn choose(&mut self, now: Instant, ask: &Ask<'_>) -> Option<usize> {
        let is_first = !ask.tried.contains(&true);
        let mut fresh = Vec::with_capacity(ask.keys.len());
        let mut soonest: Option<(Instant, usize)> = None;
        for (place, key) in ask.keys.iter().enumerate() {
            if key.weight == 0 || ask.tried.get(place) == Some(&true) {
                continue;
            }
            match self.stands(now, &key.name, ask.model) {
                Stands::Fresh => fresh.push(place),
                Stands::PassedOver(until) => {
                    if soonest.is_none_or(|(earliest, _)| until < earliest) {
                        soonest = Some((until, place));
                    }
                }
                Stands::Out { .. } => {}
            }
        }
        if fresh.is_empty() {
            return soonest.filter(|_| is_first).map(|(_, place)| place);
        }
        match ask.caller {
            Some(caller) => turn::kept_by(caller, fresh.into_iter().map(|place| (place, &ask.keys[place]))),
            None => self.rotate(ask.keys, &fresh),
        }
    }

    /// Smooth weighted rotation: each moves up by its weight, the foremost serves and falls back by all of them.
    fn rotate(&mut self, keys: &[KeyName], fresh: &[usize]) -> Option<usize> {
        let mut total = 0;
        let mut foremost: Option<(i64, usize)> = None;
        for place in fresh {
            let key = &keys[*place];
            let weight = i64::from(key.weight);
            total += weight;
            let turn = &mut self.standing(&key.name).turn;
            *turn += weight;
            if foremost.is_none_or(|(most, _)| *turn > most) {
                foremost = Some((*turn, *place));
            }
        }
        let (_, place) = foremost?;
        self.standing(&keys[place].name).turn -= total;
        Some(place)
    }

    /// A key failed. Would another one help?
    pub(super) fn failed(
        &mut self,
        now: Instant,
        policy: &KeyPoolPolicy,
        name: &Arc<str>,
        model: Option<&ModelId>,
        error: &Error,
    ) -> bool {
        let hint = error.retry_after();
        let standing = self.standing(name);
        match error.verdict().closes {
            Closes::Credential => standing.is_refused = true,
            Closes::CredentialUntilReset => {
                let doublings = standing.quotas_in_a_row.min(20);
                standing.quotas_in_a_row += 1;
                let guess = policy.quota_rest.saturating_mul(1 << doublings);
                let until = end(now, hint.unwrap_or(guess), policy);
                standing.quota = standing.quota.max(Some(until));
            }
            Closes::CredentialAndModelForHint => {
                let rest = Rest {
                    until: end(now, hint.unwrap_or(policy.rest), policy),
                    is_sure: hint.is_some(),
                };
                standing.note_limit(now, model, rest);
            }
            _ => return false,
        }
        true
    }

    /// A key served.
    pub(super) fn served(&mut self, name: &Arc<str>) {
        self.standing(name).quotas_in_a_row = 0;
    }

    /// Keys that were refused may be tried again: they were set up anew.
    pub(super) fn readmit(&mut self, keys: &[KeyName]) {
        for key in keys {
            self.standing(&key.name).is_refused = false;
        }
    }

    /// May this key be used for this model?
    pub(super) fn availability(&self, now: Instant, key: &KeyName, model: Option<&ModelId>) -> Availability {
        if key.weight == 0 {
            return Availability::unavailable(UnavailableReason::Disabled, None);
        }
        match self.stands(now, &key.name, model) {
            Stands::Fresh | Stands::PassedOver(_) => Availability::Available,
            Stands::Out { reason, until } => Availability::unavailable(reason, until),
        }
    }

    fn stands(&self, now: Instant, name: &Arc<str>, model: Option<&ModelId>) -> Stands {
        let Some(standing) = self.keys.get(name) else {
            return Stands::Fresh;
        };
        if standing.is_refused {
            return Stands::Out {
                reason: UnavailableReason::Credential,
                until: None,
            };
        }
        let quota = standing.quota.filter(|until| *until > now);
        // Looked up by a reference, without a copy of the name.
        let limit = standing
            .limits
            .iter()
            .find(|(limited, _)| limited.as_ref() == model);
        let limit = limit.map(|(_, rest)| *rest).filter(|rest| rest.until > now);
        match (quota, limit) {
            (None, None) => Stands::Fresh,
            (None, Some(rest)) if !rest.is_sure => Stands::PassedOver(rest.until),
            (quota, Some(rest)) if rest.is_sure && quota.is_none_or(|quota| rest.until > quota) => {
                Stands::Out {
                    reason: UnavailableReason::RateLimit,
                    until: Some(rest.until),
                }
            }
            (quota, _) => Stands::Out {
                reason: UnavailableReason::Quota,
                until: quota,
            },
        }
    }

    fn standing(&mut self, name: &Arc<str>) -> &mut Standing {
        self.keys.entry(Arc::clone(name)).or_default()
    }
}

/// How a key stands for a model.
enum Stands {
    Fresh,
    PassedOver(Instant),
    Out {
        reason: UnavailableReason,
        until: Option<Instant>,
    },
}

impl Standing {
    fn note_limit(&mut self, now: Instant, model: Option<&ModelId>, rest: Rest) {
        if self.limits.len() >= SWEEP_FROM {
            self.limits.retain(|_, rest| rest.until > now);
        }
        let known = self.limits.entry(model.cloned()).or_insert(rest);
        if known.until < rest.until || (rest.is_sure && !known.is_sure) {
            *known = rest;
        }
    }
}

/// A time that is too far away for a clock is a day away: the longest rest is shorter by default.
fn end(now: Instant, rest: Duration, policy: &KeyPoolPolicy) -> Instant {
    let rest = rest.min(policy.longest_rest);
    now.checked_add(rest)
        .unwrap_or(now + Duration::from_secs(24 * 3600))
}

#[cfg(test)]
mod tests;
