//! The sliding window: what was admitted lately, and when there is room. Pure: the time is an argument. The
//! script that runs on a shared store does exactly the same (its test compares the two on random histories).
//!
//! The window is cut into sub-buckets, each a sixtieth of it at most: a new one begins when the present one has
//! lasted a sixtieth of the time, holds a hundredth of a limit, or has seen nothing for a quarter of its time. A
//! sub-bucket leaves the window as a whole, one window after the *last* admission into it. Two things follow, for
//! requests and for tokens alike:
//!
//! - In every window of time, wherever it begins, no more is admitted than the limit.
//! - Under demand no more than a hundredth of the limit is held back for longer than it has to be, so that in
//!   every window at least 98 % of the limit is admitted (less only what is too little for the next call).

use super::store::{Amount, LimitReason, Limits};
use std::collections::VecDeque;

/// The window has this many sub-buckets by time.
pub(super) const SUB_BUCKETS: u64 = 60;
/// A sub-bucket is full when it holds one part of so many of a limit: it is held back as a whole for as long as its
/// last admission.
const FULL_PARTS: u64 = 100;
/// A sub-bucket ends after one part of so many of its time without an admission, or what comes then would hold back
/// all that came before.
const IDLE_PARTS: u64 = 4;
/// While the window has fewer than this, a sub-bucket ends when nothing comes: sparse calls could make more.
const MOST_WHEN_IDLE: usize = 160;
/// While the window has fewer than this, a sub-bucket ends when it is full: refunds could make more. It leaves room for a
/// burst behind sparse calls. From here on only time ends one, which bounds memory and work.
pub(super) const MOST_WHEN_FULL: usize = 300;

/// A vendor that asks for longer silence is asked again after so long.
pub(super) const LONGEST_SILENCE: Micros = 3_600_000_000;

/// Microseconds since some beginning.
pub(super) type Micros = u64;

/// What was admitted lately.
#[derive(Debug, Clone, Default)]
pub(super) struct Window {
    sub_buckets: VecDeque<SubBucket>,
    used: Amount,
    vendor: VendorView,
}

/// What was admitted in a short while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SubBucket {
    /// When it began; its name in leases, unlike any other's.
    began: Micros,
    /// The last admission into it.
    last: Micros,
    amount: Amount,
}

/// What the vendor's answers added to our own count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct VendorView {
    /// It asked for silence until then.
    closed_until: Micros,
    requests: Held,
    tokens: Held,
}

/// What others used of the same limit, as far as the vendor's figures show it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Held {
    amount: u64,
    until: Micros,
}

/// What came of asking for room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// Admitted, into the sub-bucket of this name.
    Granted { lease: Micros },
    /// Not before then.
    Wait { until: Micros, reason: LimitReason },
}

/// What one answer of the vendor said of its limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct VendorSays {
    /// Nothing may be sent for so long.
    pub(super) closed_for: Micros,
    /// So many requests are left, for so long.
    pub(super) requests: Option<Left>,
    /// So many tokens are left, for so long.
    pub(super) tokens: Option<Left>,
}

/// So much is left for so long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) amount: u64,
    pub(super) lasts: Micros,
}

impl Window {
    /// Takes room for a call, if there is. The amount fits the limits as such (see [`Limits::fits`]).
    pub(super) fn reserve(&mut self, now: Micros, limits: &Limits, amount: Amount) -> Asked {
        let now = self.advance(now, limits);
        match self.free_at(now, limits, amount) {
            Some((until, reason)) => Asked::Wait { until, reason },
            None => Asked::Granted {
                lease: self.admit(now, limits, amount),
            },
        }
    }

    /// When there is room for this amount, and what it waits for; `None`: now.
    pub(super) fn peek(
        &mut self,
        now: Micros,
        limits: &Limits,
        amount: Amount,
    ) -> Option<(Micros, LimitReason)> {
        let now = self.advance(now, limits);
        self.free_at(now, limits, amount)
    }

    /// Counts a call that was admitted elsewhere, whether or not there is room.
    pub(super) fn record(&mut self, now: Micros, limits: &Limits, amount: Amount) -> Micros {
        let now = self.advance(now, limits);
        self.admit(now, limits, amount)
    }

    /// Is nothing in it that counts?
    pub(super) fn is_empty(&mut self, now: Micros, limits: &Limits) -> bool {
        self.advance(now, limits);
        self.sub_buckets.is_empty() && self.vendor == VendorView::default()
    }

    /// Puts what a call really used in the place of what was reserved for it. Nothing happens when its
    /// sub-bucket has left the window already.
    pub(super) fn settle(&mut self, lease: Micros, reserved: Amount, used: Amount) {
        let place = self
            .sub_buckets
            .binary_search_by_key(&lease, |bucket| bucket.began);
        if let Ok(place) = place {
            let bucket = &mut self.sub_buckets[place];
            let before = bucket.amount;
            bucket.amount = before.less(reserved).plus(used);
            self.used = self.used.less(before).plus(bucket.amount);
        }
    }

    /// Takes over what the vendor said. It can only make the window narrower than the limits.
    pub(super) fn heed(&mut self, now: Micros, limits: &Limits, says: &VendorSays) {
        let now = self.advance(now, limits);
        let held = |limit: Option<u64>, used: u64, left: Left| Held {
            amount: limit.map_or(0, |limit| limit.saturating_sub(used).saturating_sub(left.amount)),
            until: now.saturating_add(left.lasts.min(limits.window)),
        };
        if says.closed_for > 0 {
            let closed_until = now.saturating_add(says.closed_for.min(LONGEST_SILENCE));
            self.vendor.closed_until = self.vendor.closed_until.max(closed_until);
        }
        if let Some(left) = says.requests {
            self.vendor.requests = held(limits.requests, self.used.requests, left);
        }
        if let Some(left) = says.tokens {
            self.vendor.tokens = held(limits.tokens, self.used.tokens, left);
        }
    }

    /// Drops what has left the window. A clock that was set back a little stands still until it has caught up;
    /// one that was set back further than a window makes all of this meaningless, so nothing is left of it.
    fn advance(&mut self, now: Micros, limits: &Limits) -> Micros {
        let last = self.sub_buckets.back().map_or(0, |bucket| bucket.last);
        if last > now.saturating_add(limits.window) {
            *self = Window::default();
            return now;
        }
        let now = now.max(last);
        while let Some(oldest) = self.sub_buckets.front() {
            if oldest.last.saturating_add(limits.window) > now {
                break;
            }
            self.used = self.used.less(oldest.amount);
            self.sub_buckets.pop_front();
        }
        // What is further ahead than anything of ours comes from elsewhere, and counts as absent.
        let ends = |until: Micros, longest: Micros| until <= now || until > now.saturating_add(longest);
        if ends(self.vendor.closed_until, LONGEST_SILENCE) {
            self.vendor.closed_until = 0;
        }
        for held in [&mut self.vendor.requests, &mut self.vendor.tokens] {
            if ends(held.until, limits.window) {
                *held = Held::default();
            }
        }
        now
    }

    fn free_at(&self, now: Micros, limits: &Limits, amount: Amount) -> Option<(Micros, LimitReason)> {
        let closed_until = self.vendor.closed_until;
        let mut latest = (closed_until > now).then_some((closed_until, LimitReason::Vendor));
        let of_requests = (
            limits.requests,
            self.used.requests.saturating_add(amount.requests),
            self.vendor.requests,
            LimitReason::Requests,
        );
        let of_tokens = (
            limits.tokens,
            self.used.tokens.saturating_add(amount.tokens),
            self.vendor.tokens,
            LimitReason::Tokens,
        );
        for (limit, wanted, held, reason) in [of_requests, of_tokens] {
            let Some(limit) = limit else { continue };
            let over = wanted.saturating_add(held.amount).saturating_sub(limit);
            if over == 0 {
                continue;
            }
            let until = self.gone_at(over, held, limits.window, reason);
            if latest.is_none_or(|(latest, _)| latest < until) {
                latest = Some((until, reason));
            }
        }
        latest
    }

    /// When so much will have left the window.
    fn gone_at(&self, mut over: u64, held: Held, window: Micros, reason: LimitReason) -> Micros {
        let mut held = (held.amount > 0).then_some(held);
        for bucket in &self.sub_buckets {
            let at = bucket.last.saturating_add(window);
            if let Some(first) = held.filter(|held| held.until <= at) {
                over = over.saturating_sub(first.amount);
                if over == 0 {
                    return first.until;
                }
                held = None;
            }
            over = over.saturating_sub(match reason {
                LimitReason::Tokens => bucket.amount.tokens,
                LimitReason::Requests | LimitReason::Vendor => bucket.amount.requests,
            });
            if over == 0 {
                return at;
            }
        }
        held.map_or(Micros::MAX, |held| held.until)
    }

    fn admit(&mut self, now: Micros, limits: &Limits, amount: Amount) -> Micros {
        let began = match self.sub_buckets.back() {
            Some(bucket) if self.goes_on(bucket, now, limits) => bucket.began,
            // Two that begin in one microsecond still have names of their own.
            Some(bucket) => self.begin(now.max(bucket.began.saturating_add(1))),
            None => self.begin(now),
        };
        if let Some(bucket) = self.sub_buckets.back_mut() {
            bucket.last = now;
            bucket.amount = bucket.amount.plus(amount);
        }
        self.used = self.used.plus(amount);
        began
    }

    fn begin(&mut self, began: Micros) -> Micros {
        self.sub_buckets.push_back(SubBucket {
            began,
            last: began,
            amount: Amount::default(),
        });
        began
    }

    /// Is the newest sub-bucket still the one to admit into?
    fn goes_on(&self, bucket: &SubBucket, now: Micros, limits: &Limits) -> bool {
        if bucket.last == now {
            // What is admitted in one instant leaves in one instant: nothing is held back.
            return true;
        }
        let full = |limit: Option<u64>, amount: u64| {
            limit.is_some_and(|limit| amount.saturating_mul(FULL_PARTS) >= limit)
        };
        let is_full =
            full(limits.requests, bucket.amount.requests) || full(limits.tokens, bucket.amount.tokens);
        let lasts = limits.window / SUB_BUCKETS;
        let is_over = now >= bucket.began.saturating_add(lasts);
        let is_idle = now >= bucket.last.saturating_add(lasts / IDLE_PARTS);
        let there = self.sub_buckets.len();
        let ends_early = (is_full && there < MOST_WHEN_FULL) || (is_idle && there < MOST_WHEN_IDLE);
        !is_over && !ends_early
    }
}

#[cfg(test)]
mod tests;
