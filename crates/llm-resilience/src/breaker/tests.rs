//! Decisions: what is decided in some histories, and that any history goes as a plain model says.

pub(super) mod model;

use super::config::BreakerPolicy;
use super::decision::{Asked, BreakerQuestion, BreakerReply, BreakerScope, Report, Ticket};
use super::rules::Rules;
use super::state::{BreakerRecord, BreakerState};
use llm_core::{Error, ErrorKind};
use std::time::Duration;

/// Records, and the moment.
struct Bench {
    policy: BreakerPolicy,
    rules: Rules,
    records: [BreakerRecord; 4],
    now: u64,
    last_id: u64,
    random: u64,
}

impl Bench {
    fn new(policy: BreakerPolicy) -> Self {
        Bench {
            rules: Rules::of(&policy),
            policy,
            records: Default::default(),
            now: 1_000_000,
            last_id: 0,
            random: 0,
        }
    }

    fn ask(&mut self, asked: Asked<'_>) -> BreakerReply {
        let question = BreakerQuestion {
            rules: &self.rules,
            asked,
            random: self.random,
        };
        question.answer(&mut self.records, self.now)
    }

    fn enter(&mut self) -> BreakerReply {
        self.last_id += 1;
        self.ask(Asked::MayPass(self.last_id))
    }

    fn end(&mut self, ticket: &Ticket, report: &Report) -> BreakerReply {
        self.ask(Asked::Ended(ticket, report))
    }

    /// One call that ends at once; false if it was refused.
    fn call(&mut self, error: Option<&Error>) -> bool {
        let reply = self.enter();
        if reply.passed {
            let report = match error {
                None => Report::of_success(),
                Some(error) => Report::of_error(&self.policy, error),
            };
            self.end(&reply.ticket, &report);
        }
        reply.passed
    }

    fn state(&self, scope: BreakerScope) -> BreakerState {
        self.records[scope as usize].standing(&self.rules, self.now).0
    }

    /// How long it is shut yet, in whole seconds.
    fn shut_for(&mut self) -> Option<(BreakerScope, u64)> {
        let (scope, standing) = self.enter().refusal()?;
        Some((scope, standing.left_ms / 1000))
    }
}

fn error(kind: ErrorKind) -> Error {
    Error::new(kind, "scripted")
}

fn hinted(kind: ErrorKind, seconds: u64) -> Error {
    error(kind).with_retry_after(Duration::from_secs(seconds))
}

const SECOND: u64 = 1_000;

#[test]
fn five_failures_in_a_row_open_it_and_a_success_between_them_does_not() {
    let mut bench = Bench::new(BreakerPolicy::default());
    let down = error(ErrorKind::Server);
    for _ in 0..4 {
        assert!(bench.call(Some(&down)));
    }
    assert!(bench.call(None));
    for _ in 0..4 {
        assert!(bench.call(Some(&down)));
    }
    assert_eq!(bench.state(BreakerScope::Vendor), BreakerState::Closed);
    assert!(bench.call(Some(&down)));
    assert_eq!(bench.shut_for(), Some((BreakerScope::Vendor, 60)));
}

#[test]
fn half_of_twenty_calls_open_it_without_any_row() {
    let mut bench = Bench::new(BreakerPolicy::default());
    let down = error(ErrorKind::Connection);
    for _ in 0..9 {
        assert!(bench.call(None) && bench.call(Some(&down)));
    }
    assert!(bench.call(None));
    assert_eq!(bench.state(BreakerScope::Vendor), BreakerState::Closed);
    assert!(bench.call(Some(&down)), "the twentieth");
    assert!(!bench.call(None));
}

#[test]
fn a_cool_down_ends_without_a_probe_and_one_more_failure_in_a_row_begins_it_again() {
    let mut bench = Bench::new(BreakerPolicy::cool_down(2, Duration::from_secs(60)));
    let (down, limited) = (error(ErrorKind::Server), hinted(ErrorKind::RateLimit, 20));
    assert!(
        bench.call(Some(&limited)),
        "one is no row, whatever its hint says"
    );
    assert!(bench.call(Some(&down)));
    assert_eq!(bench.shut_for(), Some((BreakerScope::Model, 60)));
    bench.now += 60 * SECOND;
    let [first, second] = std::array::from_fn(|_| bench.enter());
    assert!(first.passed && second.passed, "all pass");
    let report = Report::of_error(&bench.policy, &limited);
    bench.end(&first.ticket, &report);
    assert_eq!(bench.shut_for(), Some((BreakerScope::Model, 20)));
    bench.now += 20 * SECOND;
    assert!(bench.call(None) && bench.call(Some(&down)), "the row has ended");
    assert_eq!(bench.shut_for(), None);
    for callers_fault in [ErrorKind::Auth, ErrorKind::NotFound, ErrorKind::InvalidRequest] {
        assert!(bench.call(Some(&error(callers_fault))));
    }
}

#[test]
fn a_cool_down_by_share_counts_anew_after_it() {
    let policy = BreakerPolicy::cool_down(u32::MAX, Duration::from_secs(60));
    let mut bench = Bench::new(policy.with_share(50, 4, Duration::from_secs(3_600)));
    let down = error(ErrorKind::Server);
    for _ in 0..2 {
        assert!(bench.call(None) && bench.call(Some(&down)));
    }
    assert_eq!(bench.shut_for(), Some((BreakerScope::Model, 60)));
    bench.now += 60 * SECOND;
    for _ in 0..3 {
        assert!(bench.call(Some(&down)), "of three calls no share is taken");
    }
    assert!(bench.call(Some(&down)));
    assert!(!bench.call(None));
}

#[test]
fn failures_of_a_window_ago_are_no_share_of_anything() {
    let mut bench = Bench::new(BreakerPolicy::default());
    let down = error(ErrorKind::Connection);
    for _ in 0..18 {
        assert!(bench.call(None) && bench.call(Some(&down)));
        bench.now += 7 * SECOND;
    }
    assert_eq!(bench.state(BreakerScope::Vendor), BreakerState::Closed);
}

#[test]
fn one_model_that_fails_leaves_the_others_alone() {
    let mut bench = Bench::new(BreakerPolicy::default());
    let busy = error(ErrorKind::Overloaded);
    for _ in 0..5 {
        assert!(bench.call(Some(&busy)));
    }
    assert_eq!(bench.state(BreakerScope::Model), BreakerState::Open);
    assert_eq!(bench.state(BreakerScope::Vendor), BreakerState::Closed);
    assert_eq!(bench.shut_for(), Some((BreakerScope::Model, 60)));
}

#[test]
fn it_stays_open_for_longer_each_time_and_forgets_that_after_a_calm_while() {
    let mut bench = Bench::new(BreakerPolicy::new(1, Duration::from_secs(60)));
    let down = error(ErrorKind::Server);
    let mut opened_for = Vec::new();
    assert!(bench.call(Some(&down)));
    for _ in 0..6 {
        let (_, seconds) = bench.shut_for().unwrap();
        opened_for.push(seconds);
        bench.now += seconds * SECOND;
        assert!(bench.call(Some(&down)), "a probe");
    }
    assert_eq!(opened_for, [60, 120, 240, 480, 600, 600]);
    bench.random = 1000;
    bench.now += 600 * SECOND;
    assert!(bench.call(Some(&down)));
    assert_eq!(bench.shut_for().unwrap().1, 720, "a fifth more at most");
    bench.now += 720 * SECOND;
    assert!(bench.call(None), "closed");
    bench.now += 599 * SECOND;
    assert!(bench.call(Some(&down)));
    assert_eq!(bench.shut_for().unwrap().1, 720, "not calm for long enough");
    bench.now += 720 * SECOND;
    assert!(bench.call(None));
    bench.now += 600 * SECOND;
    assert!(bench.call(Some(&down)));
    assert_eq!(bench.shut_for().unwrap().1, 60);
}

#[test]
fn a_hint_takes_the_place_of_the_open_time() {
    let mut bench = Bench::new(BreakerPolicy::new(1, Duration::from_secs(60)));
    assert!(bench.call(Some(&hinted(ErrorKind::Overloaded, 7))));
    assert_eq!(bench.shut_for(), Some((BreakerScope::Model, 7)));
    bench.now += 7 * SECOND;
    let probe = bench.enter();
    assert!(probe.passed && probe.ticket.is_probe());
}

#[test]
fn a_hint_below_the_threshold_shuts_and_needs_no_probe() {
    let mut bench = Bench::new(BreakerPolicy::default());
    assert!(bench.call(Some(&hinted(ErrorKind::Overloaded, 7))));
    assert_eq!(bench.shut_for(), Some((BreakerScope::Model, 7)));
    assert_eq!(bench.state(BreakerScope::Model), BreakerState::Closed);
    bench.now += 7 * SECOND;
    assert!((0..20).all(|_| bench.enter().passed));
}

#[test]
fn the_later_end_wins() {
    let mut bench = Bench::new(BreakerPolicy::default());
    let calls: Vec<_> = (0..3).map(|_| bench.enter()).collect();
    for (call, seconds) in calls.iter().zip([5, 90, 20]) {
        let report = Report::of_error(&bench.policy, &hinted(ErrorKind::RateLimit, seconds));
        bench.end(&call.ticket, &report);
    }
    assert_eq!(bench.shut_for(), Some((BreakerScope::CredentialAndModel, 90)));
}

#[test]
fn a_used_up_quota_is_asked_for_less_and_less_often() {
    let mut bench = Bench::new(BreakerPolicy::default());
    let quota = error(ErrorKind::QuotaExhausted);
    let under_way: Vec<_> = (0..9).map(|_| bench.enter()).collect();
    let report = Report::of_error(&bench.policy, &quota);
    for call in under_way {
        bench.end(&call.ticket, &report);
    }
    let mut shut_for = Vec::new();
    for _ in 0..10 {
        let (scope, seconds) = bench.shut_for().unwrap();
        assert_eq!(scope, BreakerScope::Credential);
        shut_for.push(seconds / 60);
        bench.now += seconds * SECOND;
        assert!(bench.call(Some(&quota)));
    }
    assert_eq!(shut_for, [10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440]);
    bench.now += 24 * 3600 * SECOND;
    assert!(bench.call(None));
    assert!(bench.call(Some(&quota)));
    assert_eq!(bench.shut_for().unwrap().1, 600, "a success begins anew");
}

#[test]
fn nothing_is_shut_for_longer_than_a_day() {
    for forever in [hinted(ErrorKind::RateLimit, u64::MAX), error(ErrorKind::Auth)] {
        let mut bench = Bench::new(BreakerPolicy::default());
        assert!(bench.call(Some(&forever)));
        assert_eq!(bench.shut_for().unwrap().1, 24 * 3600);
        bench.now += 24 * 3600 * SECOND;
        assert!(bench.enter().passed);
    }
}

#[test]
fn callers_faults_change_nothing_at_all() {
    let mut bench = Bench::new(BreakerPolicy::new(1, Duration::from_secs(60)));
    for kind in [
        ErrorKind::InvalidRequest,
        ErrorKind::ContextLength,
        ErrorKind::Cancelled,
        ErrorKind::Rejected,
    ] {
        assert!(bench.call(Some(&error(kind))));
    }
    assert!(bench.call(Some(&Error::deadline("scripted"))));
    assert!(bench.records.iter().all(BreakerRecord::is_blank));
}

#[test]
fn what_was_let_in_before_a_change_has_no_say_after_it() {
    let mut bench = Bench::new(BreakerPolicy::new(1, Duration::from_secs(60)));
    let [first, late_failure, late_success] = std::array::from_fn(|_| bench.enter().ticket);
    let down = Report::of_error(&bench.policy, &error(ErrorKind::Server));
    bench.end(&first, &down);
    bench.now += 60 * SECOND;
    let probe = bench.enter();
    assert!(probe.ticket.is_probe());
    bench.end(&late_success, &Report::of_success());
    bench.end(&late_failure, &down);
    assert_eq!(bench.state(BreakerScope::Vendor), BreakerState::HalfOpen);
    bench.end(&probe.ticket, &Report::of_success());
    assert_eq!(bench.state(BreakerScope::Vendor), BreakerState::Closed);
}

#[test]
fn as_many_successes_as_probes_close_it_and_no_more_pass_at_a_time() {
    let policy = BreakerPolicy::new(1, Duration::from_secs(60)).with_probes(3, Duration::from_secs(180));
    let mut bench = Bench::new(policy);
    assert!(bench.call(Some(&error(ErrorKind::Server))));
    bench.now += 60 * SECOND;
    let probes: Vec<_> = (0..3).map(|_| bench.enter()).collect();
    assert!(probes.iter().all(|probe| probe.passed));
    let refused = bench.enter();
    assert_eq!(
        refused.refusal().unwrap().1.left_ms,
        1_000,
        "a look later is worth it"
    );
    for probe in &probes[..2] {
        bench.end(&probe.ticket, &Report::of_success());
    }
    assert_eq!(bench.state(BreakerScope::Vendor), BreakerState::HalfOpen);
    // Told twice, it counts once.
    bench.end(&probes[0].ticket, &Report::of_success());
    assert_eq!(bench.state(BreakerScope::Vendor), BreakerState::HalfOpen);
    bench.end(&probes[2].ticket, &Report::of_success());
    assert_eq!(bench.state(BreakerScope::Vendor), BreakerState::Closed);
}

#[test]
fn a_lost_probe_heals_when_its_lease_ends() {
    let mut bench = Bench::new(BreakerPolicy::new(1, Duration::from_secs(60)));
    assert!(bench.call(Some(&error(ErrorKind::Server))));
    bench.now += 60 * SECOND;
    let lost = bench.enter();
    assert!(lost.passed);
    bench.now += 180 * SECOND - 1;
    assert!(!bench.enter().passed);
    bench.now += 1;
    let next = bench.enter();
    assert!(next.passed);
    // The lost one comes back after all: it has no place, and no say.
    bench.end(&lost.ticket, &Report::of_success());
    assert_eq!(bench.state(BreakerScope::Vendor), BreakerState::HalfOpen);
    bench.end(&next.ticket, &Report::of_success());
    assert_eq!(bench.state(BreakerScope::Vendor), BreakerState::Closed);
}

#[test]
fn a_question_that_is_sent_twice_takes_one_place() {
    let mut bench = Bench::new(BreakerPolicy::new(1, Duration::from_secs(60)));
    assert!(bench.call(Some(&error(ErrorKind::Server))));
    bench.now += 60 * SECOND;
    let first = bench.ask(Asked::MayPass(77));
    let again = bench.ask(Asked::MayPass(77));
    assert_eq!((first.passed, first.ticket), (again.passed, again.ticket));
    assert!(!bench.ask(Asked::MayPass(78)).passed);
    // Nobody heard the answer; the id alone gives the place back.
    bench.end(&Ticket::asking(77), &Report::default());
    assert!(bench.ask(Asked::MayPass(78)).passed);
}

#[test]
fn a_record_survives_as_numbers_and_anything_else_reads_as_absent() {
    let policy = BreakerPolicy::new(1, Duration::from_secs(60)).with_probes(2, Duration::from_secs(9));
    let mut bench = Bench::new(policy);
    assert!(bench.call(Some(&hinted(ErrorKind::Overloaded, 3))));
    bench.now += 60 * SECOND;
    assert!(bench.enter().passed && bench.enter().passed);
    for record in &bench.records {
        let numbers = record.to_numbers();
        assert_eq!(BreakerRecord::from_numbers(&numbers).as_ref(), Some(record));
        assert_eq!(BreakerRecord::from_numbers(&numbers[..40]), None);
        for (place, hostile) in [(0, 2), (1, 3), (2, 1 << 53), (9, 6)] {
            let mut numbers = numbers.clone();
            numbers[place] = hostile;
            assert_eq!(BreakerRecord::from_numbers(&numbers), None, "{place}");
        }
        let odd = [numbers.as_slice(), &[1]].concat();
        assert_eq!(BreakerRecord::from_numbers(&odd), None);
    }
}

#[test]
fn what_claims_to_be_shut_for_ever_reads_as_absent() {
    let mut bench = Bench::new(BreakerPolicy::default());
    for place in [5, 8] {
        let mut numbers = BreakerRecord::default().to_numbers();
        numbers[1] = 1;
        numbers[place] = bench.now + 10_000_000_000;
        bench.records[0] = BreakerRecord::from_numbers(&numbers).unwrap();
        assert!(bench.enter().passed);
    }
}
