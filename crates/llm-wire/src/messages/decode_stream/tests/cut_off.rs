//! Calls whose input did not come to its end.

use super::*;

fn begun(index: usize, id: &str) -> Value {
    let block = json!({"type": "tool_use", "id": id, "name": "f", "input": {}});
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn stopped(index: usize) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn ended(reason: &str) -> [Value; 2] {
    let end = json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {}});
    [end, json!({"type": "message_stop"})]
}

#[test]
fn a_call_without_input_at_the_end_of_a_cut_off_answer_is_incomplete() {
    let of = |reason| {
        let mut events = vec![begun(0, "t"), stopped(0)];
        events.extend(ended(reason));
        let response = read(true, &events);
        (
            response.tool_calls().count(),
            response.incomplete_tool_calls.len(),
        )
    };
    for reason in ["end_turn", "tool_use"] {
        assert_eq!(of(reason), (1, 0), "{reason}");
    }
    for reason in ["max_tokens", "model_context_window_exceeded", "refusal"] {
        assert_eq!(of(reason), (0, 1), "{reason}");
    }
}

#[test]
fn a_call_that_makes_room_is_incomplete() {
    let mut events: Vec<_> = (0..17).map(|at| begun(at, &format!("t{at}"))).collect();
    events.extend((0..17).map(|at| {
        let delta = json!({"type": "input_json_delta", "partial_json": "{\"i\":1}"});
        json!({"type": "content_block_delta", "index": at, "delta": delta})
    }));
    events.extend((0..17).map(stopped));
    events.extend(ended("tool_use"));
    let response = read(true, &events);
    let cut: Vec<_> = response
        .incomplete_tool_calls
        .iter()
        .map(|call| call.id.as_str())
        .collect();
    assert_eq!(cut, ["t0"]);
    assert_eq!(response.tool_calls().count(), 16);
    assert!(response.tool_calls().all(|call| call.arguments == "{\"i\":1}"));
    assert!(
        response
            .warnings
            .iter()
            .any(|warning| warning.message.contains("oldest"))
    );
}
