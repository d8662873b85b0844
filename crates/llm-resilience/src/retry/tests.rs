//! The runner by itself, on a call of no family at all.

use super::*;
use crate::policy::Observer;
use llm_core::{Attempt, DriverId, DriverInfo, Error, ErrorKind, ModelId, ResolvedModel, VendorId};
use llm_driver_testkit::TestClock;
use std::time::Duration;

/// An answer that comes whole and keeps a log, as each family's does.
#[derive(Debug, Default)]
struct Whole(Vec<Attempt>);

impl Answer for Whole {
    fn attempts(&self) -> &[Attempt] {
        &self.0
    }
    fn with_attempts(self, attempts: Vec<Attempt>) -> Self {
        Whole(attempts)
    }
    fn map_late_error(self, _: impl FnOnce(Error) -> Error + Send + 'static) -> Self {
        self
    }
    fn holding(self, _: impl Send + 'static) -> Self {
        self
    }
    fn at_content(self, _: impl FnOnce() + Send + 'static) -> Self {
        self
    }

    fn at_end<F, Fut>(self, _: F) -> Self
    where
        F: FnOnce(Option<&Error>) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self
    }
    fn observed(self, _: impl Observer) -> Self {
        self
    }
}

/// Serves any model, and `m1` where none is named.
fn any(model: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
    let model = model.cloned().map_or_else(|| ModelId::new("m1"), Ok)?;
    Ok(Arc::new(ResolvedModel::unknown(model)))
}

fn info() -> DriverInfo {
    DriverInfo::new(
        DriverId::from_static("alpha"),
        VendorId::from_static("alpha"),
        "Alpha",
    )
}

/// Runs an operation that fails so many times before it answers, and counts how often it ran.
async fn run(policy: RetryPolicy, target: &Target<'_>, failures: usize) -> (Result<Whole>, usize) {
    let layer = RetryLayer::new(policy);
    let cx = TestClock::context();
    let mut calls = 0;
    let operation = |_: CallContext| {
        calls += 1;
        let fails = calls <= failures;
        async move {
            if fails {
                Err(Error::new(ErrorKind::Server, "x"))
            } else {
                Ok(Whole::default())
            }
        }
    };
    let outcome = layer.shared.run(&cx, target, operation).await;
    (outcome, calls)
}

#[tokio::test(start_paused = true)]
async fn it_runs_a_call_of_any_family() {
    let info = info();
    let (outcome, calls) = run(RetryPolicy::default(), &Target::whole(&info, None, &any), 2).await;
    assert_eq!((outcome.unwrap().0.len(), calls), (3, 3));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_sent_again_is_not() {
    let info = info();
    let target = Target {
        replayable: false,
        ..Target::whole(&info, None, &any)
    };
    let (outcome, calls) = run(RetryPolicy::default(), &target, 1).await;
    assert_eq!((outcome.unwrap_err().attempts().len(), calls), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn the_total_time_is_counted_from_the_first_attempt() {
    // Pauses of a quarter to half a second: one fits into half a second, three never do.
    let half = Duration::from_millis(500);
    let policy = RetryPolicy::new(9)
        .with_backoff(half, half)
        .with_jitter(Jitter::Half)
        .with_max_elapsed(half);
    let info = info();
    let (outcome, calls) = run(policy, &Target::whole(&info, None, &any), 9).await;
    assert!(outcome.is_err());
    assert!((2..=3).contains(&calls), "{calls}");
}
