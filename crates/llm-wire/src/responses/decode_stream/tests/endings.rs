//! What the end of a response settles: items still open, failure, calls cut off.

use super::*;

fn added(index: usize, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn called(id: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "f", "arguments": arguments})
}

fn completed(output: Value) -> Value {
    json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": output}})
}

fn runnable(response: &ChatResponse) -> Vec<(&str, &str)> {
    let calls = response.tool_calls();
    calls
        .map(|call| (call.id.as_str(), call.arguments.as_str()))
        .collect()
}

#[test]
fn what_is_still_open_takes_its_content_from_the_end() {
    let message = json!({"type": "message", "content": [{"type": "output_text", "text": "Hello"}]});
    let opened = || added(0, json!({"type": "message", "content": []}));
    assert_eq!(read(&[opened(), completed(json!([message]))]).text(), "Hello");
    let said = json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hello"});
    assert_eq!(
        read(&[opened(), said, completed(json!([message]))]).text(),
        "Hello",
        "said once"
    );

    let call = read(&[
        added(0, called("t", "")),
        completed(json!([called("t", "{\"a\":1}")])),
    ]);
    assert_eq!(runnable(&call), [("t", "{\"a\":1}")]);
}

#[test]
fn the_end_fills_no_item_of_another_kind() {
    let other_kind = read(&[
        added(0, called("t", "")),
        completed(json!([{"type": "message", "content": "x"}])),
    ]);
    assert_eq!(
        (other_kind.text().as_str(), runnable(&other_kind)),
        ("", vec![("t", "{}")])
    );
    let other_call = read(&[
        added(0, called("t", "")),
        completed(json!([called("u", "{\"a\":1}")])),
    ]);
    assert_eq!(runnable(&other_call), [("t", "{}")]);
}

#[test]
fn a_completed_response_that_says_failed_is_a_failure() {
    let said =
        json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hi"});
    let end =
        json!({"type": "response.completed", "response": {"id": "r", "status": "failed", "error": null}});
    let error = try_read(&[said, end], true).unwrap_err();
    assert_eq!(
        (error.kind(), error.phase()),
        (ErrorKind::Server, Phase::Streaming)
    );
}

#[test]
fn a_call_that_makes_room_is_incomplete() {
    let mut events: Vec<_> = (0..33)
        .map(|at| added(at, called(&format!("t{at}"), "")))
        .collect();
    events.extend((0..33).map(|at| {
        json!({"type": "response.function_call_arguments.delta", "output_index": at, "delta": "{\"i\":1}"})
    }));
    events.push(completed(json!([])));
    let response = read(&events);
    let cut: Vec<_> = response
        .incomplete_tool_calls
        .iter()
        .map(|call| call.id.as_str())
        .collect();
    assert_eq!(cut, ["t0"]);
    assert_eq!(runnable(&response).len(), 32);
    assert!(
        runnable(&response)
            .iter()
            .all(|(_, arguments)| *arguments == "{\"i\":1}")
    );
    assert!(
        response
            .warnings
            .iter()
            .any(|warning| warning.message.contains("oldest"))
    );
}

#[test]
fn a_call_without_arguments_in_a_cut_off_response_is_incomplete() {
    for reason in ["max_output_tokens", "content_filter"] {
        let of = |item: Value| {
            let end =
                json!({"status": "incomplete", "incomplete_details": {"reason": reason}, "output": [item]});
            read(&[json!({"type": "response.incomplete", "response": end})])
        };
        assert_eq!(of(called("t", "")).incomplete_tool_calls.len(), 1, "{reason}");
        assert_eq!(runnable(&of(called("t", "{}"))), [("t", "{}")], "{reason}");
    }
}
