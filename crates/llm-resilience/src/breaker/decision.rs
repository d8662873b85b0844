//! One decision about one call: whether it may pass, or what its end changes. Pure.
//!
//! A decision looks at four records at once, those of [`BreakerScope::ALL`], because a call that is let in takes its
//! place in each of them or in none.

use super::rules::Rules;
use super::state::{BreakerRecord, BreakerState, Gate, Outcome, Pass, Reason, Shut, UNKNOWN_GENERATION};
use std::time::Duration;

/// How many records a decision looks at.
const SCOPES: usize = 4;

/// What a record is kept for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BreakerScope {
    /// The vendor: a driver at a base URL, or the name that the layer was given.
    Vendor,
    /// A credential there.
    Credential,
    /// A model there.
    Model,
    /// A model there with one credential: what a vendor's rate limits are about.
    CredentialAndModel,
}

impl BreakerScope {
    /// All, in the order in which decisions and stores take them.
    pub const ALL: [BreakerScope; SCOPES] = [
        BreakerScope::Vendor,
        BreakerScope::Credential,
        BreakerScope::Model,
        BreakerScope::CredentialAndModel,
    ];

    /// The stable word for logs and for the keys of stores.
    pub fn as_str(self) -> &'static str {
        match self {
            BreakerScope::Vendor => "vendor",
            BreakerScope::Credential => "credential",
            BreakerScope::Model => "model",
            BreakerScope::CredentialAndModel => "credential_and_model",
        }
    }
}

/// What a store is asked. It loads the four records of the target, lets [`BreakerQuestion::answer`] change them, and
/// keeps what changed, all in one step that nothing comes between.
#[derive(Debug, Clone, PartialEq)]
pub struct BreakerQuestion<'a> {
    pub(super) rules: &'a Rules,
    pub(super) asked: Asked<'a>,
    /// From 0 to 1000: chance is part of the question, so that a store only decides.
    pub(super) random: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Asked<'a> {
    /// May a call pass? If as a probe, then under this id, which no other call has; so a question that is sent
    /// twice takes one place.
    MayPass(u64),
    /// The same of a call with a credential that was set up anew: that it was refused says nothing any more.
    MayPassAnew(u64),
    Ended(&'a Ticket, &'a Report),
}

/// How a call was let in, for the report on its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Ticket {
    pub(super) passes: [Pass; SCOPES],
}

impl Ticket {
    /// That of a call which asks under this id and has no answer: perhaps it takes a place.
    pub(super) fn asking(id: u64) -> Ticket {
        let pass = Pass {
            generation: UNKNOWN_GENERATION,
            probe: id,
        };
        Ticket {
            passes: [pass; SCOPES],
        }
    }

    /// Does it take a place that has to be given back?
    pub(super) fn is_probe(&self) -> bool {
        self.passes.iter().any(|pass| pass.probe != 0)
    }
}

/// What the end of a call says of each scope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) outcomes: [Outcome; SCOPES],
    pub(super) shuts: [Option<Shut>; SCOPES],
}

/// What a store answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakerReply {
    pub(super) passed: bool,
    pub(super) ticket: Ticket,
    pub(super) standings: [Standing; SCOPES],
}

/// How one record stands after a decision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) state: BreakerState,
    /// No call passes for this long.
    pub(super) left_ms: u64,
    /// A [`Reason`], or 0.
    pub(super) reason: u64,
}

/// How many numbers a reply is in a store's script.
#[cfg(feature = "redis")]
const REPLY_NUMBERS: usize = 1 + SCOPES * 5;

impl BreakerQuestion<'_> {
    /// The decision, as a change of the records of [`BreakerScope::ALL`]. `now` is in milliseconds of the store's own
    /// clock, which need not be a calendar but must go on.
    pub fn answer(&self, records: &mut [BreakerRecord; SCOPES], now: u64) -> BreakerReply {
        for record in records.iter_mut() {
            if !record.is_plausible(self.rules, now) {
                *record = BreakerRecord::default();
            }
        }
        let mut reply = BreakerReply {
            passed: true,
            ticket: Ticket::default(),
            standings: Default::default(),
        };
        match self.asked {
            Asked::MayPass(id) | Asked::MayPassAnew(id) => {
                if matches!(self.asked, Asked::MayPassAnew(_)) {
                    records.iter_mut().for_each(BreakerRecord::readmit);
                }
                let gates = records.each_ref().map(|record| record.gate(self.rules, now, id));
                reply.passed = !gates.iter().any(|gate| matches!(gate, Gate::Shut { .. }));
                if reply.passed {
                    for ((record, gate), pass) in records.iter_mut().zip(gates).zip(&mut reply.ticket.passes)
                    {
                        if gate == Gate::Probe {
                            record.take_probe(self.rules, now, id);
                            pass.probe = id;
                        }
                        pass.generation = record.generation();
                    }
                }
            }
            Asked::Ended(ticket, report) => {
                for (index, record) in records.iter_mut().enumerate() {
                    let (pass, outcome) = (ticket.passes[index], report.outcomes[index]);
                    record.settle(self.rules, now, pass, outcome, report.shuts[index], self.random);
                }
            }
        }
        for (record, standing) in records.iter().zip(&mut reply.standings) {
            let (state, left_ms, reason) = record.standing(self.rules, now);
            *standing = Standing {
                state,
                left_ms,
                reason,
            };
        }
        reply
    }

    /// For how long records have to be kept after this, before they may be forgotten: nothing in them means anything
    /// any more by then.
    pub fn keep_for(&self) -> Duration {
        let rules = self.rules;
        let longest = rules.longest_shut_ms.max(2 * rules.longest_open_ms);
        Duration::from_millis(longest + rules.longest_open_ms + rules.lease_ms)
    }
}

impl BreakerReply {
    /// What refuses the call: of several the one that ends last, of equal ones the widest.
    pub(super) fn refusal(&self) -> Option<(BreakerScope, Standing)> {
        if self.passed {
            return None;
        }
        let shut = BreakerScope::ALL.into_iter().zip(self.standings);
        // The last of equal ones wins in `max_by_key`, and the widest stands first.
        shut.rev().max_by_key(|(_, standing)| standing.left_ms)
    }
}

#[cfg(feature = "redis")]
impl BreakerReply {
    /// From the numbers of a script; `None` where they are none.
    pub(super) fn from_numbers(numbers: &[u64]) -> Option<BreakerReply> {
        let (passed, scopes) = numbers.split_first()?;
        if numbers.len() != REPLY_NUMBERS || *passed > 1 {
            return None;
        }
        let mut reply = BreakerReply {
            passed: *passed == 1,
            ticket: Ticket::default(),
            standings: Default::default(),
        };
        for (index, scope) in scopes.chunks_exact(5).enumerate() {
            reply.ticket.passes[index] = Pass {
                generation: scope[0],
                probe: scope[1],
            };
            reply.standings[index] = Standing {
                state: BreakerState::from_number(scope[2])?,
                left_ms: scope[3],
                reason: scope[4],
            };
        }
        Some(reply)
    }
}

impl Standing {
    pub(super) fn why(&self) -> Reason {
        // A reason that this version has no word for still shuts.
        Reason::from_number(self.reason).unwrap_or(Reason::Health)
    }
}
