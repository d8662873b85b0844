//! The suite for routers: what anything that routes over several drivers must do, however it chooses.

mod facts;
mod streams;
mod walk;

use crate::runtime::run_alone;
use crate::scripted::{Reply, ScriptedDriver};
use llm_core::{Attempt, ChatDriver, ChatRequest, Error, Stack};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// One scenario of the suite for routers.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct RouterScenario {
    /// Its name, which is also the name of its test.
    pub name: &'static str,
    run: Run,
}

type Run = for<'a> fn(&'a Subject) -> Pin<Box<dyn Future<Output = Result<(), String>> + 'a>>;

/// How a router is made: over these stacks, which it asks in this order.
type Make = Box<dyn Fn(Vec<Arc<dyn ChatDriver>>) -> Arc<dyn ChatDriver> + Send>;

impl fmt::Debug for RouterScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RouterScenario")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

macro_rules! scenarios {
    ($($name:ident: $run:path,)+) => {
        /// Every scenario.
        pub const ROUTER_SCENARIOS: &[RouterScenario] = &[
            $(RouterScenario { name: stringify!($name), run: |subject| Box::pin($run(subject)) },)+
        ];
    };
}

scenarios! {
    router_says_that_it_is_one: facts::is_router,
    router_can_do_what_any_can: facts::union,
    router_refuses_a_model_nobody_serves: facts::unknown_model,
    router_is_available_while_any_is: facts::availability,
    router_shows_no_content: facts::secrets,
    router_asks_only_as_many_as_it_needs: walk::first_serves,
    router_moves_on_where_the_verdict_says_so: walk::verdicts,
    router_keeps_an_attempt_log: walk::attempt_log,
    router_skips_whoever_is_not_available: walk::skips,
    router_says_when_to_come_back: walk::all_skipped,
    router_reports_exhaustion: walk::exhaustion,
    router_asks_larger_windows_only: walk::windows,
    router_lets_only_the_last_queue: walk::queueing,
    router_leaves_time_for_the_others: walk::deadline,
    router_nests: walk::nests,
    router_drops_what_the_caller_drops: walk::cancel,
    router_moves_a_stream_before_its_content: streams::before_content,
    router_never_replays_content: streams::after_content,
    router_holds_no_content_back: streams::first_token,
    router_folds_streams_to_plain: streams::folds,
}

/// Expands to one `#[test]` for each scenario that any router must pass. The argument is a closure that makes a router
/// over the stacks that it is given, and asks them in that order: `Vec<Arc<dyn ChatDriver>>` in, `Arc<dyn ChatDriver>`
/// out. Each test runs inside a tokio runtime on paused time.
///
/// ```no_run
/// # use llm_core::ChatDriver;
/// # use std::sync::Arc;
/// # fn my_router(stacks: Vec<Arc<dyn ChatDriver>>) -> Arc<dyn ChatDriver> { stacks[0].clone() }
/// llm_driver_testkit::router_suite!(|stacks| my_router(stacks));
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! router_suite {
    ($router:expr) => {
        $crate::router_suite! { @tests $router;
            router_says_that_it_is_one router_can_do_what_any_can router_refuses_a_model_nobody_serves
            router_is_available_while_any_is router_shows_no_content
            router_asks_only_as_many_as_it_needs router_moves_on_where_the_verdict_says_so
            router_keeps_an_attempt_log router_skips_whoever_is_not_available router_says_when_to_come_back
            router_reports_exhaustion router_asks_larger_windows_only router_lets_only_the_last_queue
            router_leaves_time_for_the_others router_nests router_drops_what_the_caller_drops
            router_moves_a_stream_before_its_content router_never_replays_content router_holds_no_content_back
            router_folds_streams_to_plain
        }
    };
    (@tests $router:expr; $($name:ident)+) => {
        $(
            #[test]
            fn $name() {
                $crate::router_suite::assert_router(stringify!($name), $router);
            }
        )+

        #[test]
        fn every_router_scenario_is_in_the_suite() {
            let canonical: Vec<_> = $crate::router_suite::ROUTER_SCENARIOS
                .iter()
                .map(|scenario| scenario.name)
                .collect();
            assert_eq!([$(stringify!($name)),+].as_slice(), canonical);
        }
    };
}

/// Runs a scenario by its name, with routers that this makes.
///
/// # Errors
/// What is wrong with the router, in words.
pub fn run_router_scenario(
    name: &str,
    router: impl Fn(Vec<Arc<dyn ChatDriver>>) -> Arc<dyn ChatDriver> + Send + 'static,
) -> Result<(), String> {
    let scenario = ROUTER_SCENARIOS.iter().find(|scenario| scenario.name == name);
    let scenario = scenario.ok_or_else(|| format!("there is no scenario {name:?}"))?;
    let subject = Subject {
        make: Box::new(router),
    };
    run_alone(true, move || async move { (scenario.run)(&subject).await })
}

/// What [`router_suite!`](crate::router_suite!) runs for each scenario.
///
/// # Panics
/// When the scenario fails: this is the assertion of a test.
#[expect(clippy::panic, reason = "the assertion of the test that the macro makes")]
pub fn assert_router(
    name: &str,
    router: impl Fn(Vec<Arc<dyn ChatDriver>>) -> Arc<dyn ChatDriver> + Send + 'static,
) {
    if let Err(what) = run_router_scenario(name, router) {
        panic!("{name}: {what}");
    }
}

/// What makes the routers under test.
struct Subject {
    make: Make,
}

/// A router and the drivers behind it.
struct Fleet {
    drivers: Vec<Arc<ScriptedDriver>>,
    router: Stack,
}

/// The names of the drivers of a fleet.
const NAMES: [&str; 4] = ["first", "second", "third", "fourth"];

impl Subject {
    fn over(&self, drivers: Vec<ScriptedDriver>) -> Fleet {
        let drivers: Vec<_> = drivers.into_iter().map(Arc::new).collect();
        let stacks = drivers.iter().map(|driver| driver.clone() as Arc<dyn ChatDriver>);
        Fleet {
            router: Stack::from_arc((self.make)(stacks.collect())),
            drivers,
        }
    }

    /// Drivers that give these replies, one each.
    fn replying(&self, replies: impl IntoIterator<Item = Reply>) -> Fleet {
        let drivers = NAMES.into_iter().zip(replies);
        self.over(
            drivers
                .map(|(name, reply)| ScriptedDriver::always(name, reply))
                .collect(),
        )
    }
}

impl Fleet {
    /// How often each was called.
    fn called(&self) -> Vec<usize> {
        self.drivers.iter().map(|driver| driver.call_count()).collect()
    }

    async fn ask(&self, cx: &llm_core::CallContext) -> Result<llm_core::ChatResponse, Error> {
        self.router.chat(cx, &ChatRequest::user("hi")).await
    }
}

/// The kinds of failure in a log, `served` for the one that served.
fn shown(attempts: &[Attempt]) -> Vec<String> {
    let one = |attempt: &Attempt| match &attempt.failure {
        Some(failure) => failure.kind.as_str().to_owned(),
        None => "served".to_owned(),
    };
    attempts.iter().map(one).collect()
}

fn failed(error: Error) -> String {
    format!("it fails: {error}")
}
