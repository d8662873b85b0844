//! The window against a naive model: the list of everything that was admitted.

use super::*;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

const MINUTE: Micros = 60_000_000;
const SECOND: Micros = 1_000_000;

/// Everything that was admitted, and what it counts in the end.
#[derive(Debug, Default)]
struct Model {
    admitted: Vec<(Micros, Amount)>,
}

impl Model {
    /// They are in the order of their times.
    fn within(&self, from: Micros, to: Micros) -> Amount {
        let place = |time: Micros| self.admitted.partition_point(|(at, _)| *at < time);
        let inside = &self.admitted[place(from)..place(to)];
        inside
            .iter()
            .fold(Amount::default(), |sum, (_, amount)| sum.plus(*amount))
    }

    /// No window holds more than the limits. (The fullest one begins with an admission.)
    fn never_above(&self, limits: &Limits) -> TestCaseResult {
        for (from, _) in &self.admitted {
            let sum = self.within(*from, from + limits.window);
            prop_assert!(limits.fits(sum).is_ok(), "{sum:?} from {from}, limits {limits:?}");
        }
        Ok(())
    }
}

fn limits(requests: Option<u64>, tokens: Option<u64>) -> Limits {
    Limits::per_minute(requests, tokens)
}

fn granted(asked: Asked) -> Option<Micros> {
    match asked {
        Asked::Granted { lease } => Some(lease),
        Asked::Wait { .. } => None,
    }
}

#[derive(Debug, Clone)]
struct Call {
    gap: Micros,
    tokens: u64,
    /// What it used in the end, as a share in percent; absent: never settled.
    used_percent: Option<u64>,
    settled_after: usize,
}

/// Calls in the beginning: dense or sparse, and then more than is allowed.
fn gaps() -> impl Strategy<Value = Vec<Micros>> {
    let longest = prop_oneof![Just(2_000_u64), Just(400_000), Just(1_500_000)];
    longest.prop_flat_map(|longest| proptest::collection::vec(longest / 2..=longest, 1..250))
}

fn calls(most_gap: Micros) -> impl Strategy<Value = Vec<Call>> {
    let call = (
        0..most_gap,
        0_u64..400,
        proptest::option::of(0_u64..=100),
        0_usize..8,
    );
    let call = call.prop_map(|(gap, tokens, used_percent, settled_after)| Call {
        gap,
        tokens,
        used_percent,
        settled_after,
    });
    proptest::collection::vec(call, 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_window_is_ever_above_the_limit(
        calls in calls(2 * SECOND),
        requests in proptest::option::of(1_u64..200),
        tokens in proptest::option::of(400_u64..4000),
    ) {
        let limits = limits(requests, tokens);
        let (mut window, mut model, mut open) = (Window::default(), Model::default(), Vec::new());
        let mut now = 0;
        for (number, call) in calls.iter().enumerate() {
            now += call.gap;
            let amount = Amount::new(1, call.tokens);
            if let Some(lease) = granted(window.reserve(now, &limits, amount)) {
                model.admitted.push((now, amount));
                if let Some(percent) = call.used_percent {
                    let used = Amount::new(1, call.tokens * percent / 100);
                    open.push((number + call.settled_after, lease, amount, used, model.admitted.len() - 1));
                }
            }
            open.retain(|(due, lease, reserved, used, place)| {
                if *due <= number {
                    window.settle(*lease, *reserved, *used);
                    model.admitted[*place].1 = *used;
                }
                *due > number
            });
        }
        model.never_above(&limits)?;
    }

    #[test]
    fn a_wait_ends_exactly_when_there_is_room(calls in calls(SECOND), tokens in 400_u64..2000) {
        let limits = limits(Some(20), Some(tokens));
        let mut window = Window::default();
        let mut now = 0;
        for call in &calls {
            now += call.gap;
            let amount = Amount::new(1, call.tokens);
            if let Asked::Wait { until, .. } = window.reserve(now, &limits, amount) {
                prop_assert!(until > now && until <= now + MINUTE);
                prop_assert!(granted(window.clone().reserve(until - 1, &limits, amount)).is_none());
                now = until;
                prop_assert!(granted(window.reserve(now, &limits, amount)).is_some());
            }
        }
    }

    /// From the first refusal on somebody always waits.
    #[test]
    fn under_demand_every_window_is_almost_full(
        gaps in gaps(),
        requests in proptest::option::of(50_u64..300),
        tokens in 5_000_u64..20_000,
        size in 10_u64..60,
    ) {
        let limits = limits(requests, Some(tokens));
        let (mut window, mut model) = (Window::default(), Model::default());
        let mut gaps = gaps.into_iter();
        let (mut now, mut first_refusal) = (0, None);
        while now < 6 * MINUTE {
            let amount = Amount::new(1, size);
            match window.reserve(now, &limits, amount) {
                Asked::Granted { .. } => {
                    model.admitted.push((now, amount));
                    if first_refusal.is_none() {
                        now += gaps.next().unwrap_or(1_000);
                    }
                }
                Asked::Wait { until, .. } => {
                    first_refusal.get_or_insert(now);
                    now = until;
                }
            }
        }
        model.never_above(&limits)?;
        let first_refusal = first_refusal.unwrap_or(now);
        // What is bought of each limit when it is bought as far as whole calls go.
        let most = (tokens / size).min(requests.unwrap_or(u64::MAX));
        for (at, _) in &model.admitted {
            // The emptiest windows begin just after an admission.
            let from = at + 1;
            if from + MINUTE > first_refusal && from + MINUTE <= now {
                let sum = model.within(from, from + MINUTE).requests;
                prop_assert!(sum * 100 + 100 >= most * 98, "{sum} of {most} from {from}");
            }
        }
    }

    #[test]
    fn the_number_of_sub_buckets_is_bounded(calls in calls(100_000)) {
        let limits = limits(Some(10_000), Some(1000));
        let mut window = Window::default();
        let mut now = 0;
        for call in calls.iter().cycle().take(5000) {
            now += call.gap % 997;
            let amount = Amount::new(1, call.tokens);
            if let Some(lease) = granted(window.reserve(now, &limits, amount)) {
                window.settle(lease, amount, Amount::new(1, 0));
            }
            let most = MOST_WHEN_FULL + usize::try_from(SUB_BUCKETS).unwrap() + 1;
            prop_assert!(window.sub_buckets.len() <= most, "{}", window.sub_buckets.len());
        }
    }
}

#[test]
fn the_reason_is_the_limit_that_is_waited_for_longest() {
    let limits = limits(Some(2), Some(100));
    let mut window = Window::default();
    window.reserve(0, &limits, Amount::new(1, 90));
    window.reserve(5 * SECOND, &limits, Amount::new(1, 1));
    let (until, reason) = window.peek(6 * SECOND, &limits, Amount::new(1, 5)).unwrap();
    assert_eq!((until, reason), (MINUTE, LimitReason::Requests));
    let (until, reason) = window.peek(6 * SECOND, &limits, Amount::new(0, 20)).unwrap();
    assert_eq!((until, reason), (MINUTE, LimitReason::Tokens));
    let both = window.peek(6 * SECOND, &limits, Amount::new(2, 20)).unwrap();
    assert_eq!(both, (MINUTE + 5 * SECOND, LimitReason::Requests));
}

#[test]
fn what_is_given_back_is_free_at_once_and_a_late_settlement_changes_nothing() {
    let limits = limits(None, Some(1000));
    let mut window = Window::default();
    let reserved = Amount::new(1, 900);
    let lease = granted(window.reserve(0, &limits, reserved)).unwrap();
    assert!(window.peek(1, &limits, reserved).is_some());
    window.settle(lease, reserved, Amount::new(1, 100));
    assert_eq!(window.peek(1, &limits, reserved), None);
    assert!(window.peek(1, &limits, Amount::new(1, 901)).is_some());

    assert_eq!(window.peek(2 * MINUTE, &limits, Amount::new(1, 1000)), None);
    window.settle(lease, reserved, Amount::new(1, 1000));
    assert_eq!(window.peek(2 * MINUTE, &limits, Amount::new(1, 1000)), None);
}

#[test]
fn more_use_than_was_reserved_is_waited_out() {
    let limits = limits(None, Some(1000));
    let mut window = Window::default();
    let reserved = Amount::new(1, 10);
    let lease = granted(window.reserve(0, &limits, reserved)).unwrap();
    window.settle(lease, reserved, Amount::new(1, 5000));
    assert_eq!(
        window.peek(SECOND, &limits, reserved),
        Some((MINUTE, LimitReason::Tokens))
    );
}

#[test]
fn the_vendor_narrows_and_never_widens() {
    let limits = limits(Some(10), None);
    let one = Amount::new(1, 0);
    let left = |amount| VendorSays {
        requests: Some(Left {
            amount,
            lasts: 20 * SECOND,
        }),
        ..VendorSays::default()
    };
    let mut window = Window::default();
    window.reserve(0, &limits, one);
    window.heed(1, &limits, &left(2));
    let room = |window: &Window, now| {
        let mut window = window.clone();
        (0..20)
            .filter(|_| granted(window.reserve(now, &limits, one)).is_some())
            .count()
    };
    assert_eq!(room(&window, 2), 2);
    assert_eq!(
        room(&window, 20 * SECOND + 1),
        9,
        "it holds for as long as the vendor said"
    );
    window.heed(3, &limits, &left(1000));
    assert_eq!(
        room(&window, 4),
        9,
        "the newest word counts, and ours is the most"
    );

    let silence = VendorSays {
        closed_for: 30 * SECOND,
        ..VendorSays::default()
    };
    window.heed(SECOND, &limits, &silence);
    assert_eq!(
        window.peek(2 * SECOND, &limits, one),
        Some((31 * SECOND, LimitReason::Vendor))
    );
    assert_eq!(room(&window, 31 * SECOND), 9);
    let for_ever = VendorSays {
        closed_for: u64::MAX,
        ..VendorSays::default()
    };
    window.heed(31 * SECOND, &limits, &for_ever);
    let (until, _) = window.peek(32 * SECOND, &limits, one).unwrap();
    assert_eq!(until, 31 * SECOND + LONGEST_SILENCE);
}

#[test]
fn a_clock_set_back_a_little_stands_still_and_one_set_back_far_begins_anew() {
    let limits = limits(Some(1), None);
    let one = Amount::new(1, 0);
    let mut window = Window::default();
    assert!(granted(window.reserve(10 * MINUTE, &limits, one)).is_some());
    assert_eq!(
        window.peek(10 * MINUTE - SECOND, &limits, one),
        Some((11 * MINUTE, LimitReason::Requests))
    );
    assert_eq!(window.peek(5 * MINUTE, &limits, one), None);
}
