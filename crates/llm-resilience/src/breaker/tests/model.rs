//! The breaker against a model that remembers everything and computes nothing cleverly.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What may happen to one target.
#[derive(Debug, Clone)]
pub(in crate::breaker) enum Step {
    Wait(u64),
    Enter,
    /// The running call at this place (modulo how many there are) ends.
    End(usize, Option<ErrorKind>, Option<u64>),
    Drop(usize),
}

pub(in crate::breaker) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kinds = prop::sample::select(ErrorKind::ALL.to_vec());
    // Weighted to what counts: other kinds only give places back.
    let counting = prop::sample::select(vec![
        ErrorKind::Server,
        ErrorKind::Overloaded,
        ErrorKind::Interrupted,
        ErrorKind::RateLimit,
        ErrorKind::QuotaExhausted,
    ]);
    let ended = prop_oneof![
        4 => Just(None),
        4 => counting.prop_map(Some),
        1 => kinds.prop_map(Some),
    ];
    let hint = prop::option::weighted(0.3, 0_u64..30);
    let step = prop_oneof![
        3 => (0_u64..400).prop_map(Step::Wait),
        1 => (0_u64..40_000).prop_map(Step::Wait),
        8 => Just(Step::Enter),
        7 => (0_usize..8, ended, hint).prop_map(|(place, kind, hint)| Step::End(place, kind, hint)),
        2 => (0_usize..8).prop_map(Step::Drop),
    ];
    prop::collection::vec(step, 1..160)
}

pub(in crate::breaker) fn policies() -> impl Strategy<Value = BreakerPolicy> {
    (1_u32..5, 1_u32..4, 2_u32..9, 20_u32..101).prop_map(|(failures, probes, requests, percent)| {
        BreakerPolicy::new(failures, Duration::from_secs(5))
            .with_longest_open(Duration::from_secs(20))
            .with_probes(probes, Duration::from_secs(12))
            .with_share(percent, requests, Duration::from_secs(10))
            .with_quota_shut(Duration::from_secs(3))
    })
}

/// Health of the one scope that the model follows.
#[derive(Debug)]
enum Health {
    /// Every call of this spell that ended with a say: when, and whether it failed.
    Closed {
        since: u64,
        ended: Vec<(u64, bool)>,
    },
    Open {
        until: u64,
    },
    /// Who holds a place until when, and how many have succeeded.
    HalfOpen {
        places: BTreeMap<u64, u64>,
        successes: u64,
    },
}

/// Everything that happened to the vendor's record, and to all shut doors.
struct Model {
    policy: BreakerPolicy,
    health: Health,
    /// Changes so far.
    spell: u64,
    /// Openings since the last calm while.
    repeats: u32,
}

impl Model {
    fn enter(&mut self, id: u64, now: u64) -> bool {
        let probes = self.policy.half_open_probes as usize;
        let lease = self.policy.probe_lease.as_millis() as u64;
        if let Health::Open { until } = self.health {
            if until > now {
                return false;
            }
            self.turn(Health::HalfOpen {
                places: BTreeMap::new(),
                successes: 0,
            });
        }
        if let Health::HalfOpen { places, .. } = &mut self.health {
            places.retain(|_, end| *end > now);
            if places.len() >= probes {
                return false;
            }
            places.insert(id, now + lease);
        }
        true
    }

    fn end(&mut self, id: u64, spell: u64, failed: Option<bool>, now: u64) {
        let held = match &mut self.health {
            Health::HalfOpen { places, .. } => places.remove(&id).is_some(),
            _ => false,
        };
        let Some(failed) = failed.filter(|_| spell == self.spell) else {
            return;
        };
        match &mut self.health {
            Health::Open { .. } => {}
            Health::Closed { since, ended } => {
                ended.push((now, failed));
                let row = ended.iter().rev().take_while(|(_, failed)| *failed).count();
                // Slices of a second: the window is ten of them, the present one included.
                let recent: Vec<_> = ended
                    .iter()
                    .filter(|(at, _)| at / 1000 + 10 > now / 1000)
                    .collect();
                let share = recent.iter().filter(|(_, failed)| *failed).count() * 100;
                let too_many = recent.len() >= self.policy.min_requests as usize
                    && share >= recent.len() * self.policy.failure_percent as usize;
                if failed && (row >= self.policy.failures as usize || too_many) {
                    if now - *since >= self.policy.longest_open.as_millis() as u64 {
                        self.repeats = 0;
                    }
                    self.open(now);
                }
            }
            Health::HalfOpen { .. } if !held => {}
            Health::HalfOpen { successes, .. } => {
                if failed {
                    self.open(now);
                } else {
                    *successes += 1;
                    if *successes >= u64::from(self.policy.half_open_probes) {
                        self.turn(Health::Closed {
                            since: now,
                            ended: Vec::new(),
                        });
                    }
                }
            }
        }
    }

    fn open(&mut self, now: u64) {
        let open = self.policy.open.as_millis() as u64 * 2_u64.pow(self.repeats.min(10));
        let open = open.min(self.policy.longest_open.as_millis() as u64);
        self.repeats += 1;
        self.turn(Health::Open { until: now + open });
    }

    fn turn(&mut self, health: Health) {
        self.health = health;
        self.spell += 1;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// The vendor's record alone: no model's failures and no shut doors, which would refuse for other reasons.
    #[test]
    fn any_history_goes_as_the_model_says(policy in policies(), steps in steps()) {
        let policy = policy.with_jitter_percent(0);
        let mut bench = Bench::new(policy.clone());
        let mut model = Model {
            policy,
            health: Health::Closed { since: 0, ended: Vec::new() },
            spell: 0,
            repeats: 0,
        };
        let mut running = Vec::new();
        for step in steps {
            match step {
                Step::Wait(ms) => bench.now += ms,
                Step::Enter => {
                    let reply = bench.enter();
                    prop_assert_eq!(reply.passed, model.enter(bench.last_id, bench.now));
                    if reply.passed {
                        running.push((bench.last_id, model.spell, reply.ticket));
                    }
                }
                Step::End(place, kind, _) if !running.is_empty() => {
                    let (id, spell, ticket) = running.remove(place % running.len());
                    let failed = kind.map_or(Some(false), |kind| error(kind).verdict().counts.then_some(true));
                    let mut report = Report::default();
                    let mut source = match failed {
                        Some(true) => Report::of_error(&bench.policy, &error(ErrorKind::Server)),
                        Some(false) => Report::of_success(),
                        None => Report::default(),
                    };
                    std::mem::swap(&mut report.outcomes[0], &mut source.outcomes[0]);
                    bench.end(&ticket, &report);
                    model.end(id, spell, failed, bench.now);
                }
                Step::Drop(place) if !running.is_empty() => {
                    let (id, spell, ticket) = running.remove(place % running.len());
                    bench.end(&ticket, &Report::default());
                    model.end(id, spell, None, bench.now);
                }
                Step::End(..) | Step::Drop(_) => {}
            }
        }
    }

    /// All records and all kinds: never more probes out than allowed, and never shut for good.
    #[test]
    fn no_place_is_ever_lost(policy in policies(), steps in steps(), random in 0_u64..=1000) {
        let mut bench = Bench::new(policy);
        bench.random = random;
        let mut running = Vec::new();
        for step in steps {
            match step {
                Step::Wait(ms) => bench.now += ms,
                Step::Enter => {
                    let reply = bench.enter();
                    if reply.passed {
                        running.push((bench.now, reply.ticket));
                    }
                }
                Step::End(place, kind, hint) if !running.is_empty() => {
                    let (_, ticket) = running.remove(place % running.len());
                    let report = match kind {
                        None => Report::of_success(),
                        Some(kind) => {
                            let hint = hint.map(Duration::from_secs);
                            Report::of_error(&bench.policy, &error(kind).with_retry_after(hint))
                        }
                    };
                    bench.end(&ticket, &report);
                }
                Step::Drop(place) if !running.is_empty() => {
                    let (_, ticket) = running.remove(place % running.len());
                    bench.end(&ticket, &Report::default());
                }
                Step::End(..) | Step::Drop(_) => {}
            }
            for index in 0..4 {
                let lease = bench.rules.lease_ms;
                let generation = bench.records[index].generation();
                let out = running
                    .iter()
                    .filter(|(since, ticket)| {
                        let pass = ticket.passes[index];
                        pass.probe != 0 && pass.generation == generation && since + lease > bench.now
                    })
                    .count() as u64;
                prop_assert!(out <= bench.rules.probes, "{} probes are out", out);
            }
        }
        for (_, ticket) in running.drain(..) {
            bench.end(&ticket, &Report::default());
        }
        // Past every end but that of a lease: whatever was dropped has given its place back.
        let longest = bench.records.iter().map(|record| record.standing(&bench.rules, bench.now).1).max();
        let longest = longest.unwrap_or_default();
        prop_assert!(longest <= bench.rules.longest_shut_ms);
        bench.now += longest;
        prop_assert!(bench.enter().passed);
    }
}
