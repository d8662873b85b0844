//! Answers that are none.

use super::*;
use llm_core::stream::collect;
use llm_core::{ChatEvent, FinishKind, FinishReason, OutputFormat};
use serde_json::json;

fn says(text: &'static str) -> TestDriver {
    driver().then(Outcome::Text(text))
}

async fn asked(drivers: Vec<TestDriver>, check: ResponseCheck, request: &ChatRequest) -> ChatResponse {
    let fleet = Fleet::new(drivers);
    let executor = PlanExecutor::new().with_response_check(check);
    executor.chat(&fleet.cx(), &fleet.plan, request).await.unwrap()
}

#[tokio::test]
async fn an_empty_answer_moves_on_only_where_it_was_switched_on() {
    let request = ChatRequest::user("hi");
    let response = asked(vec![says(""), says("b")], ResponseCheck::new(), &request).await;
    assert_eq!(log(&response.attempts), ["a served"]);
    let response = asked(vec![says(""), says("b")], ResponseCheck::new().empty(), &request).await;
    assert_eq!(
        (response.text(), log(&response.attempts)),
        ("b".into(), vec!["a protocol".into(), "b served".into()])
    );
    assert!(response.warnings.is_empty());
}

#[tokio::test]
async fn a_paid_answer_never_becomes_an_error() {
    let request = ChatRequest::user("hi");
    let check = || ResponseCheck::new().otherwise("it is short", |_, response| response.text().len() < 5);
    let response = asked(
        vec![says("a"), driver().fails(ErrorKind::Server)],
        check(),
        &request,
    )
    .await;
    assert_eq!(response.text(), "a");
    assert_eq!(
        log(&response.attempts),
        ["a served", "b server"],
        "who was asked after it, too"
    );
    assert!(
        response.warnings[0].message.contains("it is short"),
        "{:?}",
        response.warnings
    );
    let response = asked(vec![says("a"), says("b")], check(), &request).await;
    assert_eq!(response.text(), "b", "the last that came");
    assert_eq!(response.warnings.len(), 1);
    let response = asked(
        vec![says("a"), driver().fails(ErrorKind::InvalidRequest)],
        check(),
        &request,
    )
    .await;
    assert_eq!(response.text(), "a");
}

#[tokio::test]
async fn json_that_was_asked_for_and_did_not_come() {
    let schema = json!({ "type": "object", "required": ["x"] });
    let by_schema = ChatRequest::user("hi").with_output(OutputFormat::json_schema("o", schema));
    let any = ChatRequest::user("hi").with_output(OutputFormat::Json);
    for (request, text, moves_on) in [
        (&any, "[1]", false),
        (&any, "sure: [1]", true),
        (&by_schema, r#"{"x":1}"#, false),
        (&by_schema, r#"{"y":1}"#, true),
        (&by_schema, "[]", true),
    ] {
        let response = asked(
            vec![says(text), says("{}")],
            ResponseCheck::new().not_json(),
            request,
        )
        .await;
        assert_eq!(response.attempts.len() == 2, moves_on, "{text}");
    }
}

#[tokio::test]
async fn an_empty_stream_is_seen_before_its_commit_point() {
    let empty = || {
        let finish = ChatEvent::Finish {
            reason: FinishReason::new(FinishKind::Stop, None),
            usage: Usage::default(),
        };
        driver().then(Outcome::Stream(vec![
            Ok(ChatEvent::Start(Box::default())),
            Ok(finish),
        ]))
    };
    let executor = PlanExecutor::new().with_response_check(ResponseCheck::new().empty());
    let response = collect(
        Fleet::new(vec![empty(), says("b")])
            .stream(&executor)
            .await
            .unwrap(),
    )
    .await
    .unwrap();
    assert_eq!(
        (response.text(), log(&response.attempts)),
        ("b".into(), vec!["a protocol".into(), "b served".into()])
    );
    let response = collect(
        Fleet::new(vec![empty(), empty()])
            .stream(&executor)
            .await
            .unwrap(),
    )
    .await
    .unwrap();
    assert_eq!(response.warnings.len(), 1, "the last, with a warning");
}

/// Deeper than a value can be read.
const DEEP: &str = concat!(
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
    "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
);

#[tokio::test]
async fn a_schema_says_what_is_at_the_top() {
    for (schema, text, moves_on) in [
        (json!({ "type": "array" }), r#"{"a":1}"#, true),
        (json!({ "type": "array" }), "[1]", false),
        (json!({ "type": "string" }), "5", true),
        (json!({ "type": "integer" }), "2.0", false),
        (json!({ "type": "integer" }), "2.5", true),
        (
            json!({ "type": ["object", "null"], "required": ["a"] }),
            "null",
            false,
        ),
        (
            json!({ "type": ["object", "null"], "required": ["a"] }),
            "{}",
            true,
        ),
        (json!({ "anyOf": [] }), "1", false),
        (json!({ "type": [] }), "1", false),
        (json!({ "type": "number" }), "1e400", false),
        (json!({ "type": "array" }), DEEP, false),
    ] {
        let request = ChatRequest::user("hi").with_output(OutputFormat::json_schema("o", schema.clone()));
        let drivers = vec![says(text), says("{}")];
        let response = asked(drivers, ResponseCheck::new().not_json(), &request).await;
        assert_eq!(response.attempts.len() == 2, moves_on, "{schema} {text}");
    }
}

#[tokio::test]
async fn an_answer_whose_bytes_are_kept_is_looked_at_and_one_of_bytes_alone_is_not() {
    let mut kept = Fleet::new(vec![says(""), says("b")]);
    let executor = PlanExecutor::new().with_response_check(ResponseCheck::new().empty());
    let request = ChatRequest::user("hi");
    let cx = kept.cx().with_kept_raw(true);
    let response = executor.chat(&cx, &kept.plan, &request).await.unwrap();
    assert_eq!(response.text(), "b");
    kept = Fleet::new(vec![says(""), says("b")]);
    let raw = llm_core::RawRequest::new(llm_core::WireFormatId::new("chat"), "{}".into());
    let cx = kept.cx().with_raw(Some(raw));
    let response = executor.chat(&cx, &kept.plan, &request).await.unwrap();
    assert_eq!(log(&response.attempts), ["a served"]);
}

#[tokio::test]
async fn rules_that_panic_say_nothing() {
    let check = ResponseCheck::new().otherwise("never", |_, _| panic!("the rule's own business"));
    let response = asked(vec![says("a"), says("b")], check, &ChatRequest::user("hi")).await;
    assert_eq!(response.text(), "a");
    let fleet = Fleet::new(vec![driver().fails(ErrorKind::Server), driver()]);
    let executor = PlanExecutor::new().with_failover_if(|_, _| panic!("the predicate's own business"));
    assert_eq!(fleet.chat(&executor).await.unwrap().text(), "hello");
}

#[tokio::test]
async fn what_a_stack_tried_before_its_answer_stands_in_the_log() {
    let tries = vec![
        Attempt::failed("test", None, Duration::ZERO, &Error::new(ErrorKind::Server, "x")),
        Attempt::served("test", None, Duration::ZERO),
    ];
    let check = ResponseCheck::new().otherwise("it is logged", |_, response| response.text() == "logged");
    let drivers = vec![driver().then(Outcome::Logged(tries)), says("b")];
    let response = asked(drivers, check.clone(), &ChatRequest::user("hi")).await;
    assert_eq!(log(&response.attempts), ["a server", "a protocol", "b served"]);
}

#[tokio::test]
async fn the_doubted_answer_of_a_router_below_keeps_its_name() {
    let tries = vec![
        Attempt::served("x", None, Duration::ZERO),
        Attempt::failed("y", None, Duration::ZERO, &Error::new(ErrorKind::Server, "x")),
    ];
    let check = ResponseCheck::new().otherwise("it is logged", |_, response| response.text() == "logged");
    let drivers = vec![driver().a_router().then(Outcome::Logged(tries)), says("b")];
    let response = asked(drivers, check, &ChatRequest::user("hi")).await;
    assert_eq!(
        log(&response.attempts),
        ["a/x protocol", "a/y server", "b served"]
    );
}
