//! The suite: the canonical list of scenarios, the macro that turns it into tests, and what runs one of them.

use crate::harness::Harness;
use crate::report;
use crate::runtime::run_alone;
use crate::scenario::{
    Finding, Outcome, cancel, capability, conduct, errors, fixtures, limits, mutation, options, output,
    reasoning, secrets, stream, text, tools, url_safety, usage,
};
use crate::subject::{Notes, Subject};
use llm_core::Capability;
use std::fmt;
use std::pin::Pin;

/// One scenario of the suite.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Scenario {
    /// Its name, which is also the name of its test.
    pub name: &'static str,
    /// Which promise it is about.
    pub family: &'static str,
    /// Does it need real sockets, and so real time?
    pub on_sockets: bool,
    /// May a harness skip it for a reason? Scenarios of safety and conduct may not be.
    pub skippable: bool,
    run: Run,
}

type Run = for<'a> fn(&'a Subject) -> Pin<Box<dyn Future<Output = Finding> + 'a>>;

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scenario")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

macro_rules! scenario {
    ($name:literal, $family:literal, $time:ident, $skip:ident, $run:expr) => {
        Scenario {
            name: $name,
            family: $family,
            on_sockets: scenario!(@time $time),
            skippable: scenario!(@skip $skip),
            run: |subject| Box::pin($run(subject)),
        }
    };
    ($name:literal, $family:literal, $time:ident, $skip:ident, $run:expr, $capability:expr) => {
        Scenario {
            name: $name,
            family: $family,
            on_sockets: scenario!(@time $time),
            skippable: scenario!(@skip $skip),
            run: |subject| Box::pin($run(subject, $capability)),
        }
    };
    (@time paused) => { false };
    (@time sockets) => { true };
    (@skip skippable) => { true };
    (@skip binding) => { false };
}

/// Every scenario, in the order of the report.
#[rustfmt::skip]
pub const SCENARIOS: &[Scenario] = &[
    scenario!("text_plain", "text", paused, binding, text::plain),
    scenario!("text_stream", "text", paused, binding, text::stream),
    scenario!("text_stream_folds_to_plain", "text", paused, skippable, text::stream_folds_to_plain),
    scenario!("usage_plain", "usage", paused, skippable, usage::plain),
    scenario!("usage_stream", "usage", paused, skippable, usage::stream),
    scenario!("tools_call", "tools", paused, skippable, tools::call),
    scenario!("tools_call_stream", "tools", paused, skippable, tools::call_stream),
    scenario!("tools_cut_call_is_incomplete", "tools", paused, skippable, tools::cut_call_is_incomplete),
    scenario!("tools_result_round_trip", "tools", paused, skippable, tools::result_round_trip),
    scenario!("tools_parallel_calls", "tools", paused, skippable, tools::parallel_calls),
    scenario!("output_json_schema", "output", paused, skippable, output::json_schema),
    scenario!("reasoning_effort", "reasoning", paused, skippable, reasoning::effort),
    scenario!("reasoning_shown_when_asked", "reasoning", paused, skippable, reasoning::shown_when_asked),
    scenario!("capability_tools", "capability", paused, binding, capability::honest, Capability::Tools),
    scenario!("capability_parallel_tools", "capability", paused, binding, capability::honest, Capability::ParallelTools),
    scenario!("capability_vision", "capability", paused, binding, capability::honest, Capability::Vision),
    scenario!("capability_documents", "capability", paused, binding, capability::honest, Capability::Documents),
    scenario!("capability_audio_input", "capability", paused, binding, capability::honest, Capability::AudioInput),
    scenario!("capability_json_schema", "capability", paused, binding, capability::honest, Capability::JsonSchema),
    scenario!("capability_reasoning", "capability", paused, binding, capability::honest, Capability::Reasoning),
    scenario!("capability_streaming", "capability", paused, binding, capability::honest, Capability::Streaming),
    scenario!("capability_prompt_cache", "capability", paused, binding, capability::honest, Capability::PromptCache),
    scenario!("options_none_dropped", "options", paused, binding, options::none_dropped),
    scenario!("fixtures_both_directions", "fixtures", paused, binding, fixtures::all),
    scenario!("mutation_plain", "mutation", paused, binding, mutation::plain),
    scenario!("mutation_stream", "mutation", paused, skippable, mutation::stream),
    scenario!("stream_bytewise", "stream", paused, skippable, stream::bytewise),
    scenario!("stream_cut", "stream", paused, skippable, stream::cut),
    scenario!("stream_reset", "stream", paused, skippable, stream::reset),
    scenario!("stream_no_invented_finish", "stream", paused, skippable, stream::no_invented_finish),
    scenario!("stream_error_frame", "stream", paused, skippable, stream::error_frame),
    scenario!("stream_keep_alives", "stream", paused, skippable, stream::keep_alives),
    scenario!("stream_unknown_fields", "stream", paused, skippable, stream::unknown_fields),
    scenario!("stream_bad_utf8", "stream", paused, skippable, stream::bad_utf8),
    scenario!("errors_unauthorized_401", "errors", paused, binding, errors::unauthorized_401),
    scenario!("errors_forbidden_403", "errors", paused, binding, errors::forbidden_403),
    scenario!("errors_not_found_404", "errors", paused, binding, errors::not_found_404),
    scenario!("errors_too_large_413", "errors", paused, binding, errors::too_large_413),
    scenario!("errors_rate_limit_429", "errors", paused, binding, errors::rate_limit_429),
    scenario!("errors_html_500", "errors", paused, binding, errors::html_500),
    scenario!("errors_overloaded_503", "errors", paused, binding, errors::overloaded_503),
    scenario!("errors_context_length", "errors", paused, skippable, errors::context_length),
    scenario!("errors_garbage_body", "errors", paused, binding, errors::garbage_body),
    scenario!("errors_empty_body", "errors", paused, binding, errors::empty_body),
    scenario!("errors_cut_body", "errors", paused, binding, errors::cut_body),
    scenario!("errors_no_connection", "errors", paused, binding, errors::no_connection),
    scenario!("limits_rate_limit_headers", "limits", paused, skippable, limits::rate_limit_headers),
    scenario!("limits_huge_body", "limits", paused, binding, limits::huge_body),
    scenario!("limits_huge_error_body", "limits", paused, binding, limits::huge_error_body),
    scenario!("limits_endless_event", "limits", paused, skippable, limits::endless_event),
    scenario!("limits_deadline", "limits", paused, binding, limits::deadline),
    scenario!("secrets_in_errors", "secrets", paused, binding, secrets::in_errors),
    scenario!("secrets_echoed_by_vendor", "secrets", paused, binding, secrets::echoed_by_vendor),
    scenario!("secrets_in_refusals", "secrets", paused, binding, secrets::in_refusals),
    scenario!("secrets_in_debug", "secrets", paused, binding, secrets::in_debug),
    scenario!("cancel_plain", "cancel", sockets, binding, cancel::plain),
    scenario!("cancel_stream", "cancel", sockets, binding, cancel::stream),
    scenario!("url_safety_model_id", "url_safety", paused, binding, url_safety::model_id),
    scenario!("url_safety_url_in_request", "url_safety", paused, binding, url_safety::url_in_request),
    scenario!("conduct_no_retry", "conduct", paused, binding, conduct::no_retry),
    scenario!("conduct_no_retry_on_sockets", "conduct", sockets, binding, conduct::no_retry_on_sockets),
    scenario!("conduct_health_costs_no_tokens", "conduct", paused, binding, conduct::health_costs_no_tokens),
    scenario!("conduct_facts_need_no_network", "conduct", paused, binding, conduct::facts_need_no_network),
];

/// Expands to one `#[test]` for each scenario, named after it, and one that compares the list with the canonical
/// one. The argument is an expression that makes a [`Harness`]; each test evaluates it anew.
///
/// ```
/// use llm_driver_testkit::{Harness, Reply, ScriptedDriver, conformance_suite};
///
/// fn harness() -> Harness {
///     Harness::new("acme", "acme-large", |_endpoint| {
///         Ok(std::sync::Arc::new(ScriptedDriver::always("acme", Reply::text("hi"))))
///     })
/// }
///
/// conformance_suite!(harness());
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! conformance_suite {
    ($harness:expr) => {
        $crate::conformance_suite! { @tests $harness;
            text_plain text_stream text_stream_folds_to_plain
            usage_plain usage_stream
            tools_call tools_call_stream tools_cut_call_is_incomplete tools_result_round_trip tools_parallel_calls
            output_json_schema
            reasoning_effort reasoning_shown_when_asked
            capability_tools capability_parallel_tools capability_vision capability_documents
            capability_audio_input capability_json_schema capability_reasoning capability_streaming
            capability_prompt_cache
            options_none_dropped
            fixtures_both_directions
            mutation_plain mutation_stream
            stream_bytewise stream_cut stream_reset stream_no_invented_finish stream_error_frame
            stream_keep_alives stream_unknown_fields stream_bad_utf8
            errors_unauthorized_401 errors_forbidden_403 errors_not_found_404 errors_too_large_413
            errors_rate_limit_429 errors_html_500 errors_overloaded_503 errors_context_length
            errors_garbage_body errors_empty_body errors_cut_body errors_no_connection
            limits_rate_limit_headers limits_huge_body limits_huge_error_body limits_endless_event limits_deadline
            secrets_in_errors secrets_echoed_by_vendor secrets_in_refusals secrets_in_debug
            cancel_plain cancel_stream
            url_safety_model_id url_safety_url_in_request
            conduct_no_retry conduct_no_retry_on_sockets conduct_health_costs_no_tokens
            conduct_facts_need_no_network
        }
    };
    (@tests $harness:expr; $($name:ident)+) => {
        $(
            #[test]
            fn $name() {
                $crate::suite::assert_scenario(stringify!($name), &$harness);
            }
        )+

        #[test]
        fn every_scenario_is_in_the_suite() {
            $crate::suite::assert_complete(&[$(stringify!($name)),+], &$harness);
        }
    };
}

/// Runs a scenario by its name. For testing a suite; [`conformance_suite!`](crate::conformance_suite) also writes
/// the report.
///
/// # Errors
/// What is wrong with the driver, its fixtures or its harness, in words.
pub fn run_scenario(name: &str, harness: &Harness) -> Finding {
    let scenario = find(name)?;
    judge(scenario, harness, run(scenario, harness.clone()).0)
}

/// What [`conformance_suite!`](crate::conformance_suite) runs for each scenario: runs it and writes what was found
/// into the report.
///
/// # Panics
/// When the scenario fails: this is the assertion of a test.
#[expect(clippy::panic, reason = "the assertion of the test that the macro makes")]
pub fn assert_scenario(name: &str, harness: &Harness) {
    let outcome = find(name).and_then(|scenario| {
        let (finding, notes) = run(scenario, harness.clone());
        let finding = judge(scenario, harness, finding);
        report::write(scenario, harness, &finding, &notes);
        finding
    });
    if let Err(what) = outcome {
        panic!("{}: {name}: {what}", harness.driver());
    }
}

fn find(name: &str) -> Result<&'static Scenario, String> {
    let scenario = SCENARIOS.iter().find(|scenario| scenario.name == name);
    scenario.ok_or_else(|| format!("there is no scenario {name:?}"))
}

/// Does a suite hold every scenario, and does its harness name none that is not there?
///
/// # Panics
/// When it does not: this is the assertion of a test.
#[expect(clippy::panic, reason = "the assertion of the test that the macro makes")]
pub fn assert_complete(names: &[&str], harness: &Harness) {
    if let Err(what) = check_complete(names, harness) {
        panic!("{what}");
    }
}

fn check_complete(names: &[&str], harness: &Harness) -> Result<(), String> {
    let canonical: Vec<_> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
    let missing: Vec<_> = canonical.iter().filter(|name| !names.contains(name)).collect();
    let unknown: Vec<_> = names.iter().filter(|name| !canonical.contains(name)).collect();
    if !missing.is_empty() || !unknown.is_empty() {
        return Err(format!(
            "the suite lacks {missing:?} and has {unknown:?}, which are no scenarios"
        ));
    }
    match harness
        .exceptions()
        .find(|exception| !canonical.contains(&exception.scenario.as_str()))
    {
        Some(exception) => Err(format!(
            "the harness names {:?}, which is no scenario",
            exception.scenario
        )),
        None => Ok(()),
    }
}

/// Weighs what was found against what the harness announced.
fn judge(scenario: &Scenario, harness: &Harness, finding: Finding) -> Finding {
    if let Some(failure) = harness.expected_failure(scenario.name) {
        return match finding {
            Err(_) => Ok(Outcome::FailsAsExpected(failure.reason.clone())),
            Ok(_) => Err(format!(
                "it passes; take its Harness::with_expected_failure ({}) away",
                failure.reason
            )),
        };
    }
    finding
}

/// Runs a scenario on a runtime and a thread of its own; with what it noted for the report.
fn run(scenario: &'static Scenario, harness: Harness) -> (Finding, Notes) {
    if let Some(skip) = harness.skip(scenario.name) {
        let finding = if scenario.skippable {
            Ok(Outcome::Skipped(skip.reason.clone()))
        } else {
            Err("this scenario cannot be skipped; every driver can prove it".to_owned())
        };
        return (finding, Notes::default());
    }
    let ran = run_alone(!scenario.on_sockets, move || async move {
        let subject = Subject::new(harness);
        let finding = (scenario.run)(&subject).await;
        Ok((finding, subject.into_notes()))
    });
    ran.unwrap_or_else(|what| (Err(what), Notes::default()))
}

#[cfg(test)]
mod tests;
