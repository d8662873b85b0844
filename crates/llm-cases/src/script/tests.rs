use super::*;
use serde_json::json;

fn scripted(answer: Value) -> Scripted {
    Scripted::read(&answer, "input.upstream[0]").unwrap()
}

fn body(answer: Value, stream: bool) -> String {
    let answer = scripted(answer).answer(Form::ChatCompletions, stream);
    String::from_utf8(answer.body_bytes()).unwrap()
}

fn payloads(stream: &str) -> Vec<&str> {
    stream
        .split_terminator("\n\n")
        .map(|event| event.strip_prefix("data: ").unwrap())
        .collect()
}

#[test]
fn a_good_answer_comes_as_it_was_asked_for() {
    let good = json!({"ok": "fine", "finish_reason": "length", "usage": {"total_tokens": 9}});
    let plain: Value = serde_json::from_str(&body(good.clone(), false)).unwrap();
    assert_eq!(plain["choices"][0]["message"]["content"], "fine");
    assert_eq!(plain["choices"][0]["finish_reason"], "length");
    assert_eq!(plain["usage"], json!({"total_tokens": 9}));

    let stream = body(good, true);
    let payloads = payloads(&stream);
    assert_eq!((payloads.len(), payloads[4]), (5, "[DONE]"));
    let chunk = |number: usize| serde_json::from_str::<Value>(payloads[number]).unwrap();
    assert_eq!(chunk(1)["choices"][0]["delta"]["content"], "fine");
    assert_eq!(chunk(2)["choices"][0]["finish_reason"], "length");
    assert_eq!(chunk(3)["usage"], json!({"total_tokens": 9}));

    let plain: Value = serde_json::from_str(&body(json!({"ok": ""}), false)).unwrap();
    assert_eq!(plain["choices"][0]["finish_reason"], "stop");
    assert_eq!(plain.get("usage"), None);
}

#[test]
fn messages_have_words_and_events_of_their_own() {
    let good = scripted(json!({"ok": "fine", "finish_reason": "length", "usage": {"output_tokens": 9}}));
    let body = |stream: bool| {
        let answer = good.answer(Form::Messages, stream);
        String::from_utf8(answer.body_bytes()).unwrap()
    };
    let plain: Value = serde_json::from_str(&body(false)).unwrap();
    assert_eq!(plain["content"], json!([{"type": "text", "text": "fine"}]));
    assert_eq!(plain["stop_reason"], "max_tokens");
    assert_eq!(plain["usage"], json!({"output_tokens": 9}));
    let stream = body(true);
    let names: Vec<&str> = stream
        .lines()
        .filter_map(|line| line.strip_prefix("event: "))
        .collect();
    assert_eq!(
        names,
        [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop"
        ]
    );
    let cut = scripted(json!({"stream": [{"type": "ping"}], "end": "eof"}));
    assert_eq!(
        cut.answer(Form::Messages, true).body_bytes(),
        b"event: ping\ndata: {\"type\":\"ping\"}\n\n"
    );
}

#[test]
fn gemini_and_ollama_have_words_of_their_own() {
    let good = scripted(json!({"ok": "fine", "finish_reason": "length", "usage": {"eval_count": 9}}));
    let answer = |form, stream| {
        let answer = good.answer(form, stream);
        String::from_utf8(answer.body_bytes()).unwrap()
    };
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let plain = read(&answer(Form::GenerateContent, false));
    assert_eq!(plain["candidates"][0]["finishReason"], "MAX_TOKENS");
    assert_eq!(plain["usageMetadata"], json!({"eval_count": 9}));
    assert_eq!(answer(Form::GenerateContent, true), format!("data: {plain}\n\n"));

    let plain = read(&answer(Form::Ollama, false));
    assert_eq!(
        (&plain["message"]["content"], &plain["eval_count"]),
        (&json!("fine"), &json!(9))
    );
    let lines: Vec<Value> = answer(Form::Ollama, true).lines().map(read).collect();
    assert_eq!(
        (&lines[0]["message"]["content"], &lines[0]["done"]),
        (&json!("fine"), &json!(false))
    );
    assert_eq!(lines[0].get("eval_count"), None);
    assert_eq!(
        (&lines[1]["message"]["content"], &lines[1]["done_reason"]),
        (&json!(""), &json!("length"))
    );
}

#[test]
fn everything_else_comes_as_it_stands_there() {
    for stream in [false, true] {
        assert_eq!(
            body(json!({"status": 503, "body": {"error": "x"}}), stream),
            "{\"error\":\"x\"}"
        );
        assert_eq!(body(json!({"status": 503, "body": "busy"}), stream), "busy");
        assert_eq!(body(json!({"status": 503}), stream), "");
        assert_eq!(body(json!({"raw_stream": ": hi\n\n"}), stream), ": hi\n\n");
        assert_eq!(
            body(json!({"stream": [{"a": 1}, "b"]}), stream),
            "data: {\"a\":1}\n\ndata: b\n\ndata: [DONE]\n\n"
        );
        assert_eq!(
            body(json!({"stream": [{"a": 1}], "end": "eof"}), stream),
            "data: {\"a\":1}\n\n"
        );
    }
}

#[test]
fn only_streams_make_a_call_one_for_a_stream() {
    assert!(scripted(json!({"stream": []})).is_stream());
    assert!(scripted(json!({"raw_stream": ""})).is_stream());
    for answer in [
        json!({"ok": ""}),
        json!({"status": 200}),
        json!({"connect_error": "refused"}),
    ] {
        assert!(!scripted(answer).is_stream());
    }
    assert_eq!(
        scripted(json!({"ok": "", "delay_ms": 50})).delay,
        Duration::from_millis(50)
    );
}

#[test]
fn other_forms_are_faults() {
    let fault = |answer: Value| {
        let read = Scripted::read(&answer, "input.upstream[0]");
        read.unwrap_err().to_string()
    };
    assert_eq!(
        fault(json!({"ok": "a", "whim": 1})),
        "unknown key input.upstream[0].whim"
    );
    assert_eq!(
        fault(json!({"ok": "a", "status": 500})),
        "unknown key input.upstream[0].status"
    );
    assert_eq!(fault(json!({"whim": 1})), "unknown key input.upstream[0].whim");
    assert_eq!(fault(json!({"stream": [], "end": "slam"})), "unknown end slam");
    assert_eq!(fault(json!({"stream": [], "end": "hang"})), "unknown end hang");
    assert_eq!(
        fault(json!({"connect_error": "shy"})),
        "unknown connect error shy"
    );
    for malformed in [
        json!({}),
        json!(1),
        json!({"ok": 1}),
        json!({"status": 70_000}),
        json!({"stream": {}}),
        json!({"status": 500, "body": []}),
        json!({"ok": "a", "delay_ms": -1}),
    ] {
        assert!(fault(malformed).starts_with("malformed"));
    }
    assert!(read(&json!([]), "input.upstream").is_err());
}
