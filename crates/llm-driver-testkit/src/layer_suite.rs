//! The suite for layers: what a layer whose configuration leaves it nothing to do must not change.

mod answers;
mod facts;
mod sample;
mod time;

use crate::runtime::run_alone;
use crate::scripted::{Exhausted, Reply, ScriptedDriver};
use llm_core::{CallContext, ChatLayer, ChatRequest, ChatResponse, ChatStream, Error, Stack};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// One scenario of the suite for layers.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct LayerScenario {
    /// Its name, which is also the name of its test.
    pub name: &'static str,
    run: Run,
}

type Run = for<'a> fn(&'a Subject) -> Pin<Box<dyn Future<Output = Result<(), String>> + 'a>>;

/// How a layer is made: anew for each scenario, inside its runtime.
type Make = Box<dyn FnOnce() -> Box<dyn ChatLayer> + Send>;

impl fmt::Debug for LayerScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LayerScenario")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

macro_rules! scenarios {
    ($($name:ident: $run:path,)+) => {
        /// Every scenario.
        pub const LAYER_SCENARIOS: &[LayerScenario] = &[
            $(LayerScenario { name: stringify!($name), run: |subject| Box::pin($run(subject)) },)+
        ];
    };
}

scenarios! {
    layer_is_named: facts::name,
    layer_forwards_resolve: facts::resolve,
    layer_forwards_availability: facts::availability,
    layer_forwards_health: facts::health,
    layer_serves_several_drivers: facts::several_drivers,
    layer_hands_the_request_on: answers::request,
    layer_changes_no_response: answers::response,
    layer_changes_no_event: answers::events,
    layer_folds_streams_to_plain: answers::folds,
    layer_changes_no_error: answers::errors,
    layer_changes_no_late_error: answers::late_errors,
    layer_passes_raw_mode: answers::raw,
    layer_calls_once: answers::once,
    layer_shows_no_content: answers::secrets,
    layer_holds_no_content_back: time::first_token,
    layer_keeps_calls_apart: time::concurrent,
    layer_keeps_the_deadline: time::deadline,
    layer_cancels_plain: time::cancel_plain,
    layer_cancels_stream: time::cancel_stream,
    layer_forgets_dropped_calls: time::after_cancel,
}

/// Expands to one `#[test]` for each scenario that any layer must pass when its configuration leaves it nothing to
/// do. The argument is an expression that makes the layer; it is evaluated anew in each test, inside a tokio runtime
/// on paused time. For several layers, put each call into a module of its own.
///
/// ```
/// use llm_core::layer_fn;
///
/// mod unlayered {
///     use super::*;
///     llm_driver_testkit::layer_suite!(layer_fn("nothing", |inner| inner));
/// }
/// # fn main() {}
/// ```
///
/// (The layer of this example does not even say that it is there, which `layer_is_named` finds.)
#[macro_export]
macro_rules! layer_suite {
    ($layer:expr) => {
        $crate::layer_suite! { @tests $layer;
            layer_is_named layer_forwards_resolve layer_forwards_availability layer_forwards_health
            layer_serves_several_drivers
            layer_hands_the_request_on layer_changes_no_response layer_changes_no_event layer_folds_streams_to_plain
            layer_changes_no_error layer_changes_no_late_error layer_passes_raw_mode layer_calls_once
            layer_shows_no_content
            layer_holds_no_content_back layer_keeps_calls_apart layer_keeps_the_deadline
            layer_cancels_plain layer_cancels_stream layer_forgets_dropped_calls
        }
    };
    (@tests $layer:expr; $($name:ident)+) => {
        $(
            #[test]
            fn $name() {
                $crate::layer_suite::assert_layer(stringify!($name), || ::std::boxed::Box::new($layer));
            }
        )+

        #[test]
        fn every_layer_scenario_is_in_the_suite() {
            let canonical: Vec<_> = $crate::layer_suite::LAYER_SCENARIOS
                .iter()
                .map(|scenario| scenario.name)
                .collect();
            assert_eq!([$(stringify!($name)),+].as_slice(), canonical);
        }
    };
}

/// Runs a scenario by its name, with the layer that this makes.
///
/// # Errors
/// What is wrong with the layer, in words.
pub fn run_layer_scenario(
    name: &str,
    layer: impl FnOnce() -> Box<dyn ChatLayer> + Send + 'static,
) -> Result<(), String> {
    let scenario = LAYER_SCENARIOS.iter().find(|scenario| scenario.name == name);
    let scenario = scenario.ok_or_else(|| format!("there is no scenario {name:?}"))?;
    let make: Make = Box::new(layer);
    run_alone(true, move || async move {
        let subject = Subject { layer: make() };
        (scenario.run)(&subject).await
    })
}

/// What [`layer_suite!`](crate::layer_suite!) runs for each scenario.
///
/// # Panics
/// When the scenario fails: this is the assertion of a test.
#[expect(clippy::panic, reason = "the assertion of the test that the macro makes")]
pub fn assert_layer(name: &str, layer: impl FnOnce() -> Box<dyn ChatLayer> + Send + 'static) {
    if let Err(what) = run_layer_scenario(name, layer) {
        panic!("{name}: {what}");
    }
}

/// The layer under test.
#[derive(Debug)]
struct Subject {
    layer: Box<dyn ChatLayer>,
}

/// A driver by itself and with the layer around it.
struct Pair {
    driver: Arc<ScriptedDriver>,
    bare: Stack,
    layered: Stack,
}

impl Subject {
    /// This driver, with and without the layer.
    fn around(&self, driver: ScriptedDriver) -> Pair {
        let driver = Arc::new(driver);
        Pair {
            bare: Stack::from_arc(driver.clone()),
            layered: Stack::from_arc(self.layer.layer(driver.clone())),
            driver,
        }
    }

    /// A driver that gives this reply to every call, with and without the layer.
    fn always(&self, reply: Reply) -> Pair {
        self.around(ScriptedDriver::new(DRIVER, [reply]).with_exhausted(Exhausted::RepeatLast))
    }
}

/// The name of the driver that stands under the layer.
const DRIVER: &str = "inner";

/// Everything of a response.
fn shown(response: &ChatResponse) -> String {
    format!("{response:#?}")
}

/// Everything of an error, what its `Debug` leaves out included.
fn shown_error(error: &Error) -> String {
    format!(
        "{error:#?}, exhausted: {}, status: {}, body: {:?}",
        error.is_exhausted(),
        error.status(),
        error.vendor().body
    )
}

/// The whole stream: its events, and the error that ended it.
async fn read(mut stream: ChatStream) -> (Vec<llm_core::ChatEvent>, Option<Error>) {
    let mut events = Vec::new();
    while let Some(event) = stream.next_event().await {
        match event {
            Ok(event) => events.push(event),
            Err(error) => return (events, Some(error)),
        }
    }
    (events, None)
}

/// Asks for a stream and reads all of it.
async fn stream_of(
    stack: &Stack,
    cx: &CallContext,
    request: &ChatRequest,
) -> (Vec<llm_core::ChatEvent>, Option<Error>) {
    match stack.chat_stream(cx, request).await {
        Ok(stream) => read(stream).await,
        Err(error) => (Vec::new(), Some(error)),
    }
}
