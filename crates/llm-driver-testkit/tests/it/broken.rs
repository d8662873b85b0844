//! Scenarios must be able to fail: each broken promise is found by the scenarios that are about it.

use crate::toy::{Flaw, harness};
use llm_driver_testkit::suite::run_scenario;

/// The flaw fails this scenario, with these words in what is said.
#[track_caller]
fn found(flaw: Flaw, scenario: &str, says: &str) {
    let finding = run_scenario(scenario, &harness(flaw));
    assert!(finding.is_err(), "{scenario} does not find {flaw:?}: {finding:?}");
    let what = finding.err().unwrap_or_default();
    assert!(what.contains(says), "{scenario} finds {flaw:?}, but says: {what}");
}

#[test]
fn an_invented_finish_is_found() {
    found(
        Flaw::InventsFinish,
        "stream_no_invented_finish",
        "but the vendor had not finished",
    );
}

#[test]
fn a_cut_call_among_the_complete_ones_is_found() {
    found(
        Flaw::CompletesCutCalls,
        "tools_cut_call_is_incomplete",
        "stands as complete, but was cut off",
    );
}

#[test]
fn a_retry_is_found() {
    found(Flaw::Retries, "conduct_no_retry", "2 requests were sent");
    found(
        Flaw::Retries,
        "conduct_no_retry_on_sockets",
        "2 requests reached the server",
    );
}

#[test]
fn a_leak_is_found() {
    found(
        Flaw::RepeatsTheVendor,
        "secrets_echoed_by_vendor",
        "shows the credential",
    );
    found(
        Flaw::ShowsTheKey,
        "secrets_in_debug",
        "the driver's Debug shows the credential",
    );
}

#[test]
fn a_call_that_outlives_the_caller_is_found() {
    found(
        Flaw::IgnoresCancellation,
        "cancel_plain",
        "still holds its connection",
    );
}

#[test]
fn a_stream_that_outlives_the_caller_is_found() {
    found(
        Flaw::IgnoresCancellation,
        "cancel_stream",
        "still holds its connection",
    );
}

#[test]
fn sending_what_a_model_cannot_do_is_found() {
    for scenario in ["capability_tools", "capability_vision", "capability_json_schema"] {
        found(
            Flaw::SendsWhatItCannot,
            scenario,
            "requests for what the driver says it cannot do",
        );
    }
    found(
        Flaw::SendsWhatItCannot,
        "fixtures_both_directions",
        "fixture refused_schema, to be refused",
    );
}

#[test]
fn an_address_that_a_model_id_chooses_is_found() {
    found(
        Flaw::PutsModelsIntoPathsAsTheyAre,
        "url_safety_model_id",
        "the model id",
    );
}

#[test]
fn a_fetched_picture_is_found() {
    found(
        Flaw::FetchesUrls,
        "url_safety_url_in_request",
        "fetches a URL of the request",
    );
}

#[test]
fn a_probe_that_costs_tokens_is_found() {
    found(
        Flaw::ProbesWithTokens,
        "conduct_health_costs_no_tokens",
        "may cost tokens",
    );
}

#[test]
fn a_forgotten_deadline_is_found() {
    found(Flaw::ForgetsTheDeadline, "limits_deadline", "would never end");
}

#[test]
fn a_body_without_a_cap_is_found() {
    for scenario in [
        "limits_huge_body",
        "limits_huge_error_body",
        "limits_endless_event",
    ] {
        found(Flaw::ReadsWithoutCap, scenario, "cap what is read");
    }
}

#[test]
fn a_decoder_that_depends_on_pieces_is_found() {
    found(Flaw::DependsOnPieces, "stream_bytewise", "in pieces of 1 bytes");
}

#[test]
fn an_option_that_is_not_sent_is_found() {
    found(Flaw::DropsAnOption, "text_plain", "/most is missing; expected 60");
    found(
        Flaw::DropsAnOption,
        "fixtures_both_directions",
        "fixture text, plain",
    );
    found(
        Flaw::DropsAnOption,
        "options_none_dropped",
        "max_output_tokens is dropped in silence",
    );
}

#[test]
fn a_decoder_that_insists_is_found() {
    found(Flaw::IsStrict, "mutation_plain", "/in removed: protocol");
}

#[test]
fn a_lost_hint_is_found() {
    found(Flaw::LosesTheHint, "errors_rate_limit_429", "retry_after is None");
}

#[test]
fn a_substituted_model_is_found() {
    found(
        Flaw::SubstitutesModels,
        "conduct_facts_need_no_network",
        "resolve(toy-small) answers toy-large",
    );
}

#[test]
fn garbage_taken_for_an_answer_is_found() {
    found(
        Flaw::AcceptsGarbage,
        "errors_garbage_body",
        "the plain call succeeds",
    );
    found(Flaw::AcceptsGarbage, "errors_cut_body", "taken for whole");
}
