use super::*;
use crate::{Reply, ScriptedDriver};
use std::sync::Arc;

fn harness() -> Harness {
    Harness::new("alpha", "a-model", |_| {
        Ok(Arc::new(ScriptedDriver::always("alpha", Reply::text("hi"))))
    })
}

fn all_names() -> Vec<&'static str> {
    SCENARIOS.iter().map(|scenario| scenario.name).collect()
}

#[test]
fn names_stand_once_and_begin_with_their_family() {
    for (index, scenario) in SCENARIOS.iter().enumerate() {
        assert!(
            scenario.name.starts_with(&format!("{}_", scenario.family)),
            "{}",
            scenario.name
        );
        assert!(
            !all_names()[..index].contains(&scenario.name),
            "{}",
            scenario.name
        );
    }
}

#[test]
fn a_list_that_is_not_the_canonical_one_is_found() {
    assert_eq!(check_complete(&all_names(), &harness()), Ok(()));
    assert!(
        check_complete(&all_names()[1..], &harness())
            .unwrap_err()
            .contains("text_plain")
    );
    let more = [all_names(), vec!["dance"]].concat();
    assert!(check_complete(&more, &harness()).unwrap_err().contains("dance"));
    let misspelt = harness().with_skip("text_plane", "a typing error");
    assert!(
        check_complete(&all_names(), &misspelt)
            .unwrap_err()
            .contains("text_plane")
    );
}

#[test]
fn skips_are_named_and_only_where_they_may_be() {
    let find = |name: &str| SCENARIOS.iter().find(|scenario| scenario.name == name).unwrap();
    let skipping = harness()
        .with_skip("stream_reset", "no such thing")
        .with_skip("conduct_no_retry", "no");
    let skipped = run(find("stream_reset"), skipping.clone());
    assert_eq!(skipped.0, Ok(Outcome::Skipped("no such thing".to_owned())));
    assert!(
        run(find("conduct_no_retry"), skipping)
            .0
            .unwrap_err()
            .contains("cannot be skipped")
    );
}

#[test]
fn an_expected_failure_must_fail() {
    let scenario = &SCENARIOS[0];
    let harness = harness().with_expected_failure(scenario.name, 7, "not yet");
    let failed = judge(scenario, &harness, Err("broken".to_owned()));
    assert_eq!(
        failed,
        Ok(Outcome::FailsAsExpected("issue 7: not yet".to_owned()))
    );
    let passed = judge(scenario, &harness, Ok(Outcome::Proved));
    assert!(passed.unwrap_err().contains("it passes"));
}

#[test]
fn a_panic_of_the_driver_is_a_failure_in_words() {
    let panicking = Harness::new("alpha", "a-model", |_| panic!("out of cheese"));
    assert!(
        run(&SCENARIOS[0], panicking)
            .0
            .unwrap_err()
            .contains("out of cheese")
    );
}

#[test]
fn a_missing_fixture_is_advice() {
    let advice = run(&SCENARIOS[0], harness().with_fixtures("no/such/folder"))
        .0
        .unwrap_err();
    assert!(
        advice.contains("no/such/folder/text is missing; write request.json"),
        "{advice}"
    );
}
