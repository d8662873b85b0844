//! What is kept of one target, and what a call that ended changes in it. Pure: the time is an argument, in
//! milliseconds of the store's clock, and so is chance.
//!
//! `breaker.lua` beside this file is the same algorithm, statement by statement; a test plays random histories
//! through both. Change one, change the other.

mod numbers;

use super::rules::Rules;
use super::window::Window;

/// The largest number that is kept: what a double holds exactly, as Redis' scripts count in doubles.
const MOST: u64 = (1 << 53) - 1;
/// While all probes are out, the next look is worth it after this long: most calls end in seconds, and the lease of
/// a lost one is much longer.
const PROBE_PATIENCE_MS: u64 = 1_000;

/// The generation of a call of which nobody knows whether it was let in: no record ever has it.
pub(super) const UNKNOWN_GENERATION: u64 = MOST;

/// Where a breaker stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BreakerState {
    /// Calls pass.
    #[default]
    Closed,
    /// No call passes.
    Open,
    /// A few calls pass, to see.
    HalfOpen,
}

impl BreakerState {
    pub(super) fn to_number(self) -> u64 {
        match self {
            BreakerState::Closed => 0,
            BreakerState::Open => 1,
            BreakerState::HalfOpen => 2,
        }
    }

    pub(super) fn from_number(number: u64) -> Option<BreakerState> {
        [BreakerState::Closed, BreakerState::Open, BreakerState::HalfOpen]
            .into_iter()
            .find(|state| state.to_number() == number)
    }
}

/// Why something is shut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// Its failures opened the breaker, or its vendor said that it is overloaded.
    Health,
    RateLimit,
    Quota,
    Credential,
    Model,
}

impl Reason {
    pub(super) fn to_number(self) -> u64 {
        match self {
            Reason::Health => 1,
            Reason::RateLimit => 2,
            Reason::Quota => 3,
            Reason::Credential => 4,
            Reason::Model => 5,
        }
    }

    /// The word for logs.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Reason::Health => "health",
            Reason::RateLimit => "rate_limit",
            Reason::Quota => "quota",
            Reason::Credential => "credential",
            Reason::Model => "model",
        }
    }

    pub(super) fn from_number(number: u64) -> Option<Reason> {
        [
            Reason::Health,
            Reason::RateLimit,
            Reason::Quota,
            Reason::Credential,
            Reason::Model,
        ]
        .into_iter()
        .find(|reason| reason.to_number() == number)
    }
}

/// What is kept of one vendor, credential, model, or credential with a model. The default is what an absent one
/// means: closed, and nothing known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BreakerRecord {
    state: BreakerState,
    /// Counts changes of the state. A call that was let in before the last one has no say any more.
    generation: u64,
    /// Failures in a row, while closed.
    in_a_row: u64,
    /// How often it has opened without staying closed for long.
    openings: u64,
    /// The end of being open.
    until: u64,
    closed_at: u64,
    /// Of probes.
    successes: u64,
    window: Window,
    /// Something of another sort than failures has shut it until then.
    shut_until: u64,
    /// A [`Reason`], or 0.
    shut_reason: u64,
    /// How often it was shut without a success in between, for times that grow.
    shut_repeats: u64,
    /// The probes that are out: the id under which each was let in, and the moment from which it no longer counts.
    probes: Vec<(u64, u64)>,
}

/// What a call finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gate {
    Pass,
    Probe,
    Shut { until: u64, reason: u64 },
}

/// How a call ended, as far as one record is concerned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It says nothing: dropped, the caller's fault, or somebody else's.
    #[default]
    Nothing,
    Success,
    Failure,
    /// A success that is worth noting only where something is kept already.
    Relief,
}

#[cfg(feature = "redis")]
impl Outcome {
    pub(super) fn to_number(self) -> u64 {
        match self {
            Outcome::Nothing => 0,
            Outcome::Success => 1,
            Outcome::Failure => 2,
            Outcome::Relief => 3,
        }
    }
}

/// What an error shuts, beside what it counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shut {
    pub(super) ms: u64,
    pub(super) reason: Reason,
    /// Twice as long each time that it comes again.
    pub(super) growing: bool,
}

impl BreakerRecord {
    /// Would a call pass that asks under this id?
    pub(super) fn gate(&self, rules: &Rules, now: u64, id: u64) -> Gate {
        let shut = Gate::Shut {
            until: self.shut_until,
            reason: self.shut_reason,
        };
        let health = Reason::Health.to_number();
        let gate = match self.state {
            BreakerState::Closed => Gate::Pass,
            BreakerState::Open if self.until > now => Gate::Shut {
                until: self.until,
                reason: health,
            },
            BreakerState::Open => Gate::Probe,
            BreakerState::HalfOpen => {
                let others = self
                    .probes
                    .iter()
                    .filter(|(other, end)| *other != id && *end > now);
                let out = others.map(|(_, end)| *end);
                if (out.clone().count() as u64) < rules.probes {
                    Gate::Probe
                } else {
                    let first_back = out.min().unwrap_or(now);
                    Gate::Shut {
                        until: first_back.min(now + PROBE_PATIENCE_MS),
                        reason: health,
                    }
                }
            }
        };
        match gate {
            Gate::Shut { until, .. } if until >= self.shut_until => gate,
            _ if self.shut_until > now => shut,
            _ => gate,
        }
    }

    /// Lets a call in that found [`Gate::Probe`]; under this id its place is given back.
    pub(super) fn take_probe(&mut self, rules: &Rules, now: u64, id: u64) {
        if self.state == BreakerState::Open {
            self.turn(BreakerState::HalfOpen);
        }
        self.probes.retain(|(other, end)| *other != id && *end > now);
        self.probes.push((id, now + rules.lease_ms));
    }

    /// Forgets that the credential was refused.
    pub(super) fn readmit(&mut self) {
        if self.shut_reason == Reason::Credential.to_number() {
            self.shut_until = 0;
            self.shut_reason = 0;
        }
    }

    /// A call has ended that was let in like this. `random` is from 0 to 1000.
    ///
    /// A probe has a say only while it holds its place, so one that is told twice counts once.
    pub(super) fn settle(
        &mut self,
        rules: &Rules,
        now: u64,
        pass: Pass,
        outcome: Outcome,
        shut: Option<Shut>,
        random: u64,
    ) {
        if outcome == Outcome::Relief && self.is_blank() {
            return;
        }
        let places = self.probes.len();
        self.probes.retain(|(id, _)| *id != pass.probe);
        let gave_back = self.probes.len() < places;
        if pass.generation == self.generation {
            match (self.state, outcome) {
                (_, Outcome::Nothing) | (BreakerState::Open, _) => {}
                (BreakerState::HalfOpen, _) if !gave_back => {}
                (BreakerState::Closed, Outcome::Success | Outcome::Relief) => {
                    self.in_a_row = 0;
                    self.window.note(rules.slice_ms, now, false);
                }
                (BreakerState::Closed, Outcome::Failure) => {
                    self.in_a_row += 1;
                    self.window.note(rules.slice_ms, now, true);
                    if self.is_ill(rules, now) {
                        self.open(rules, now, shut, random);
                    }
                }
                (BreakerState::HalfOpen, Outcome::Success | Outcome::Relief) => {
                    self.successes += 1;
                    if self.successes >= rules.probes {
                        self.turn(BreakerState::Closed);
                        self.window = Window::default();
                        self.closed_at = now;
                    }
                }
                (BreakerState::HalfOpen, Outcome::Failure) => self.open(rules, now, shut, random),
            }
        }
        if matches!(outcome, Outcome::Success | Outcome::Relief) {
            self.shut_repeats = 0;
        }
        if let Some(shut) = shut
            && rules.probes > 0
        {
            self.shut(rules, now, shut);
        }
    }

    /// Where it stands, and if no call passes: for how long yet, and why.
    pub(super) fn standing(&self, rules: &Rules, now: u64) -> (BreakerState, u64, u64) {
        match self.gate(rules, now, 0) {
            Gate::Shut { until, reason } => (self.state, until.saturating_sub(now), reason),
            Gate::Pass | Gate::Probe => (self.state, 0, 0),
        }
    }

    /// The generation of calls that are let in now.
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// Can it be one of ours? No rule shuts anything for longer than this, so what claims to be shut for longer was
    /// written by somebody else, and reads as absent. (A minute is left for clocks that differ.)
    pub(super) fn is_plausible(&self, rules: &Rules, now: u64) -> bool {
        let longest = now + rules.longest_shut_ms.max(2 * rules.longest_open_ms) + 60_000;
        self.until <= longest && self.shut_until <= longest
    }

    /// Is there nothing to keep?
    pub(super) fn is_blank(&self) -> bool {
        *self == BreakerRecord::default()
    }

    fn is_ill(&self, rules: &Rules, now: u64) -> bool {
        let (calls, failures) = self.window.totals(rules.slice_ms, now);
        self.in_a_row >= rules.failures
            || (calls >= rules.min_requests && failures * 100 >= calls * rules.failure_percent)
    }

    fn open(&mut self, rules: &Rules, now: u64, shut: Option<Shut>, random: u64) {
        if rules.probes == 0 {
            return self.cool_down(rules, now, shut);
        }
        let calm = now.saturating_sub(self.closed_at) >= rules.longest_open_ms;
        if self.state == BreakerState::Closed && calm {
            self.openings = 0;
        }
        self.openings += 1;
        let grown = doubled(rules.open_ms, self.openings, rules.longest_open_ms);
        let open_ms = match shut {
            Some(shut) => shut.ms.min(rules.longest_shut_ms),
            None if self.openings > 1 => grown + grown * rules.jitter_percent * random / 100_000,
            None => grown,
        };
        self.until = now + open_ms;
        self.turn(BreakerState::Open);
    }

    /// Shut for its time, and closed after it without a probe. The row goes on; the share is counted anew.
    fn cool_down(&mut self, rules: &Rules, now: u64, shut: Option<Shut>) {
        let in_a_row = self.in_a_row;
        self.turn(BreakerState::Closed);
        self.in_a_row = in_a_row;
        self.window = Window::default();
        let (ms, reason) = match shut {
            Some(shut) => (shut.ms.min(rules.longest_shut_ms), shut.reason),
            None => (rules.open_ms, Reason::Health),
        };
        self.shut_until = now + ms;
        self.shut_reason = reason.to_number();
    }

    fn turn(&mut self, state: BreakerState) {
        self.state = state;
        self.generation += 1;
        self.in_a_row = 0;
        self.successes = 0;
        self.probes.clear();
    }

    fn shut(&mut self, rules: &Rules, now: u64, shut: Shut) {
        let ms = if shut.growing {
            if self.shut_until > now {
                // Calls that were under way together say it together; that is one time, not many.
                return;
            }
            self.shut_repeats += 1;
            doubled(shut.ms, self.shut_repeats, rules.longest_shut_ms)
        } else {
            shut.ms.min(rules.longest_shut_ms)
        };
        if now + ms > self.shut_until {
            self.shut_until = now + ms;
            self.shut_reason = shut.reason.to_number();
        }
    }
}

/// `first` at the first time, twice as much each further time, `longest` at most.
fn doubled(first: u64, times: u64, longest: u64) -> u64 {
    let doublings = times.saturating_sub(1).min(40);
    (0..doublings)
        .try_fold(first, |ms, _| (ms < longest).then_some(ms * 2))
        .unwrap_or(longest)
        .min(longest)
}

/// How a call was let in at one record. The default is one that takes no place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Pass {
    pub(super) generation: u64,
    /// 0: it is no probe.
    pub(super) probe: u64,
}
