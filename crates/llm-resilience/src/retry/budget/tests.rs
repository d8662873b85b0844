use super::*;
use proptest::prelude::*;

#[expect(clippy::disallowed_methods, reason = "only a point to count from")]
fn start() -> Instant {
    Instant::now()
}

fn take(budget: &mut RetryBudget, now: Instant) -> bool {
    let room = budget.has_room(now);
    if room {
        budget.record_retry(now);
    }
    room
}

#[test]
fn the_reserve_is_there_without_any_call() {
    let mut budget = RetryBudget::new(BudgetPolicy::default());
    let now = start();
    assert_eq!((0..50).filter(|_| take(&mut budget, now)).count(), 10);
}

#[test]
fn a_fifth_of_the_calls_comes_on_top() {
    let mut budget = RetryBudget::new(BudgetPolicy::default());
    let now = start();
    for _ in 0..100 {
        budget.record_call(now);
    }
    assert_eq!((0..100).filter(|_| take(&mut budget, now)).count(), 30);
}

#[test]
fn it_is_whole_again_a_window_and_a_slice_later() {
    let mut budget = RetryBudget::new(BudgetPolicy::default());
    let now = start();
    while take(&mut budget, now) {}
    assert!(!budget.has_room(now + Duration::from_millis(10_999)));
    let later = now + Duration::from_secs(11);
    assert_eq!((0..50).filter(|_| take(&mut budget, later)).count(), 10);
}

#[test]
fn nothing_is_allowed_where_nothing_is_granted() {
    let mut budget = RetryBudget::new(BudgetPolicy::new(0, 0));
    budget.record_call(start());
    assert!(!budget.has_room(start()));
}

#[test]
fn odd_windows_do_no_harm() {
    let now = start();
    for window in [Duration::ZERO, Duration::from_nanos(3), Duration::MAX] {
        let mut budget = RetryBudget::new(BudgetPolicy::default().with_window(window));
        budget.record_call(now);
        assert!(take(&mut budget, now + Duration::from_secs(5)));
        assert!(take(&mut budget, now));
    }
}

#[test]
fn a_clock_read_a_little_earlier_erases_nothing() {
    let mut budget = RetryBudget::new(BudgetPolicy::default());
    let now = start();
    budget.record_call(now);
    // The ring's first place again, eleven slices later.
    let later = now + Duration::from_secs(11);
    while take(&mut budget, later) {}
    budget.record_call(now + Duration::from_millis(500));
    assert!(!budget.has_room(later));
}

/// What is done to a budget, and how long after what was done before.
#[derive(Debug, Clone, Copy)]
enum Step {
    Call(u64),
    Retry(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let gap = || prop_oneof![3 => Just(0_u64), 3 => 0..300_u64, 1 => 0..4000_u64];
    let step = prop_oneof![gap().prop_map(Step::Call), gap().prop_map(Step::Retry)];
    proptest::collection::vec(step, 0..200)
}

proptest! {
    /// The model remembers every moment. No window that ends with a retry holds more retries than granted, and
    /// nothing is refused that a model with one slice of care would grant.
    #[test]
    fn it_agrees_with_a_model_that_remembers_everything(steps in steps(), percent in 0..120_u32, reserve in 0..12_u32) {
        let policy = BudgetPolicy::new(percent, reserve);
        let (window, slice) = (policy.window, policy.window / 10);
        let mut budget = RetryBudget::new(policy);
        let (mut calls, mut retries) = (Vec::new(), Vec::new());
        let mut now = start();
        let within = |moments: &[Instant], now: Instant, window: Duration| {
            moments.iter().filter(|moment| now.duration_since(**moment) < window).count() as u64
        };
        let granted = |calls: u64| calls * u64::from(percent) / 100 + u64::from(reserve);
        for step in steps {
            match step {
                Step::Call(gap) => {
                    now += Duration::from_millis(gap);
                    budget.record_call(now);
                    calls.push(now);
                }
                Step::Retry(gap) => {
                    now += Duration::from_millis(gap);
                    let room = take(&mut budget, now);
                    if room {
                        retries.push(now);
                        prop_assert!(within(&retries, now, window) <= granted(within(&calls, now, window)));
                    } else {
                        let careful = within(&retries, now, window + slice);
                        prop_assert!(careful >= granted(within(&calls, now, window - slice)));
                    }
                }
            }
        }
    }
}
