//! What a caller gets, and what a vendor is asked: plain and streaming.

use crate::client::Reply;
use crate::daemon::{Setup, VENDOR_KEY};
use crate::vendor::{ask, ask_stream, closing, event, opened, says, streams, text, vendor};
use llm_driver_testkit::Answer;
use serde_json::{Value, json};

#[tokio::test]
async fn a_plain_call_names_who_served_and_echoes_the_model() {
    let cloud = vendor([says("Seven.")]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let reply = daemon.chat_as("r-plain", &ask("role:main")).await;
    assert_eq!((reply.status(), reply.complete), (200, true), "{}", reply.text());
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(reply.header("x-request-id"), Some("r-plain"));
    assert_eq!(reply.header("x-router-backend"), Some("a"));
    assert_eq!(reply.header("x-router-chain-position"), Some("0"));
    assert!(
        reply
            .header("x-router-latency-ms")
            .unwrap()
            .parse::<u64>()
            .is_ok()
    );
    assert_eq!(reply.header("x-router-fallback-reason"), None);
    let body = reply.json();
    assert_eq!(body["object"], "chat.completion");
    assert_eq!(body["model"], "role:main");
    assert_eq!(body["choices"][0]["message"]["content"], "Seven.");
    assert_eq!(body["choices"][0]["finish_reason"], "stop");
    assert_eq!(body["usage"]["total_tokens"], 9);
    let asked = &cloud.requests()[0];
    assert_eq!(asked.path(), "/v1/chat/completions");
    assert_eq!(
        asked.header("authorization"),
        Some(format!("Bearer {VENDOR_KEY}").as_str())
    );
    assert_eq!(asked.json().unwrap()["model"], "model-of-a");
    assert_eq!(daemon.log("r-plain").await, ["a pass - -"]);
    let row = &daemon.rows("r-plain").await[0];
    assert_eq!(row["prompt_tokens_est"], 7);
    assert_eq!(row["completion_tokens_est"], 2);
    assert_eq!(row["model"], "model-of-a");
    assert_eq!(row["tier_alias"], "a");
    assert_eq!(row["tools_present"], json!(false));
}

#[tokio::test]
async fn a_stream_has_its_events_in_order_and_ends_with_done() {
    let cloud = vendor([streams(&["Se", "ven."])]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let reply = daemon.chat_as("r-stream", &ask_stream("a")).await;
    assert_eq!((reply.status(), reply.complete), (200, true));
    assert!(
        reply
            .header("content-type")
            .unwrap()
            .starts_with("text/event-stream")
    );
    assert_eq!(reply.header("x-router-backend"), Some("a"));
    assert_eq!(reply.header("x-request-id"), Some("r-stream"));
    assert_eq!(reply.streamed_text(), "Seven.");
    assert_eq!(reply.events().last().unwrap(), "[DONE]");
    assert_eq!(daemon.log("r-stream").await, ["a pass - -"]);
}

/// Everything that a request may hold reaches the vendor as it was sent.
#[tokio::test]
async fn fields_reach_the_vendor_unchanged() {
    let weather = json!({
        "type": "function",
        "function": {
            "name": "weather", "description": "of a city", "strict": true,
            "parameters": { "type": "object", "properties": { "city": { "type": "string" } } },
        },
    });
    let cases = [
        json!({ "messages": [
            { "role": "system", "content": "be brief" },
            { "role": "user", "content": [
                { "type": "text", "text": "what is this?" },
                { "type": "image_url", "image_url": { "url": "https://host.example/a.png", "detail": "low" } },
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,iVBORw0=" } },
            ] },
        ] }),
        json!({ "tools": [weather], "tool_choice": "auto", "parallel_tool_calls": false }),
        json!({ "tools": [weather], "tool_choice": "none" }),
        json!({ "tools": [weather], "tool_choice": "required" }),
        json!({ "tools": [weather],
                "tool_choice": { "type": "function", "function": { "name": "weather" } } }),
        json!({ "tools": [weather], "messages": [
            { "role": "user", "content": "Paris and Rome?" },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "c1", "type": "function", "function": { "name": "weather", "arguments": "{\"city\":\"Paris\"}" } },
                { "id": "c2", "type": "function", "function": { "name": "weather", "arguments": "{\"city\":\"Rome\"}" } },
            ] },
            { "role": "tool", "tool_call_id": "c1", "content": "sunny" },
            { "role": "tool", "tool_call_id": "c2", "content": "rain" },
        ] }),
        json!({ "response_format": { "type": "json_schema", "json_schema": {
            "name": "pick", "description": "a choice", "strict": true,
            "schema": { "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] },
        } } }),
        json!({ "response_format": { "type": "json_object" } }),
        json!({ "temperature": 0.3, "top_p": 0.9, "presence_penalty": -0.5, "frequency_penalty": 1.5,
                "seed": 42, "stop": ["ZZZ", "YYY"], "max_tokens": 17, "user": "u-1" }),
        json!({ "logprobs": true, "top_logprobs": 3, "logit_bias": { "50256": -100 } }),
    ];
    let cloud = vendor(cases.iter().map(|_| says("ok"))).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    for (turn, fields) in cases.iter().enumerate() {
        let mut body = ask("a");
        for (name, value) in fields.as_object().unwrap() {
            body[name] = value.clone();
        }
        let reply = daemon.chat(&body).await;
        assert_eq!(reply.status(), 200, "{fields} {}", reply.text());
        let sent = cloud.requests()[turn].json().unwrap();
        for (name, value) in fields.as_object().unwrap() {
            assert_eq!(&sent[name], value, "{name}");
        }
    }
}

#[tokio::test]
async fn unknown_fields_are_accepted_and_left_out() {
    let cloud = vendor([says("ok")]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let mut body = ask("a");
    body["x_unknown_field"] = json!({ "a": 1 });
    body["messages"][0]["x_more"] = json!(2);
    assert_eq!(daemon.chat(&body).await.status(), 200);
    let sent = cloud.requests()[0].json().unwrap();
    assert_eq!(sent["x_unknown_field"], json!(null));
    assert_eq!(sent["messages"][0]["x_more"], json!(null));
}

#[tokio::test]
async fn usage_ends_a_stream_only_where_it_was_asked_for() {
    let cloud = vendor([streams(&["hi"]), streams(&["hi"])]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let usages = |reply: &Reply| -> Vec<Value> {
        let events = reply.events();
        let chunks = events.iter().filter(|data| *data != "[DONE]");
        chunks
            .map(|data| serde_json::from_str::<Value>(data).unwrap()["usage"].clone())
            .filter(|usage| !usage.is_null())
            .collect()
    };
    let without = daemon.chat(&ask_stream("a")).await;
    assert_eq!(usages(&without), [] as [Value; 0]);
    let mut body = ask_stream("a");
    body["stream_options"] = json!({ "include_usage": true });
    let with = daemon.chat(&body).await;
    assert_eq!(usages(&with).len(), 1);
    assert_eq!(usages(&with)[0]["total_tokens"], 9);
    let last: Value = serde_json::from_str(&with.events()[with.events().len() - 2]).unwrap();
    assert_eq!(last["choices"], json!([]));
    // the call log knows it either way
    for request in cloud.requests() {
        assert_eq!(request.json().unwrap()["stream_options"]["include_usage"], true);
    }
}

#[tokio::test]
async fn tool_calls_come_back_whole_and_in_pieces() {
    let message = json!({
        "role": "assistant", "content": null,
        "tool_calls": [{ "id": "c1", "type": "function",
                         "function": { "name": "weather", "arguments": "{\"city\":\"Paris\"}" } }],
    });
    let whole = json!({
        "id": "x", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{ "index": 0, "message": message, "finish_reason": "tool_calls" }],
    });
    let piece = |arguments: &str| {
        event(
            json!({ "tool_calls": [{ "index": 0, "function": { "arguments": arguments } }] }),
            None,
        )
    };
    let first = json!({ "tool_calls": [{ "index": 0, "id": "c1", "type": "function",
                                         "function": { "name": "weather", "arguments": "" } }] });
    let pieces = opened()
        .with_piece(event(first, None))
        .with_piece(piece("{\"city\":"))
        .with_piece(piece("\"Paris\"}"))
        .with_piece(event(json!({}), Some("tool_calls")))
        .with_piece("data: [DONE]\n\n");
    let cloud = vendor([Answer::json(200, whole.to_string()), pieces]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let mut body = ask("a");
    body["tools"] = json!([{ "type": "function", "function": { "name": "weather" } }]);
    let reply = daemon.chat_as("r-tools", &body).await.json();
    assert_eq!(reply["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(
        reply["choices"][0]["message"]["tool_calls"],
        message["tool_calls"]
    );
    assert_eq!(daemon.rows("r-tools").await[0]["tools_present"], json!(true));
    body["stream"] = json!(true);
    let reply = daemon.chat(&body).await;
    let chunks: Vec<Value> = reply
        .events()
        .iter()
        .filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let calls = chunks
        .iter()
        .flat_map(|chunk| chunk["choices"][0]["delta"]["tool_calls"].as_array());
    let arguments: String = calls
        .flatten()
        .map(|call| call["function"]["arguments"].as_str().unwrap())
        .collect();
    assert_eq!(arguments, "{\"city\":\"Paris\"}");
    assert_eq!(
        chunks.last().unwrap()["choices"][0]["finish_reason"],
        "tool_calls"
    );
}

#[tokio::test]
async fn reasoning_comes_back_where_it_was_asked_for() {
    let message = json!({ "role": "assistant", "content": "Seven.", "reasoning_content": "3 + 4" });
    let whole = json!({
        "id": "x", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
    });
    let pieces = || {
        opened()
            .with_piece(event(json!({ "reasoning_content": "3 + 4" }), None))
            .with_piece(text("Seven."))
            .with_piece(closing())
    };
    let whole = || Answer::json(200, whole.to_string());
    let cloud = vendor([whole(), pieces(), whole(), pieces()]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    for include in [true, false] {
        let expected = if include { json!("3 + 4") } else { json!(null) };
        let mut body = ask("a");
        body["include_reasoning"] = json!(include);
        let reply = daemon.chat(&body).await.json();
        assert_eq!(
            reply["choices"][0]["message"]["reasoning_content"], expected,
            "{reply}"
        );
        body["stream"] = json!(true);
        let reply = daemon.chat(&body).await;
        assert_eq!(reply.streamed_text(), "Seven.");
        assert_eq!(reply.text().contains("3 + 4"), include, "{}", reply.text());
    }
}

#[tokio::test]
async fn a_request_id_is_taken_over_when_it_is_fit_and_made_otherwise() {
    let cloud = vendor((0..4).map(|_| says("ok"))).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let id = |reply: &Reply| reply.header("x-request-id").unwrap().to_owned();
    assert_eq!(id(&daemon.chat_as("abc-1.2:3_x", &ask("a")).await), "abc-1.2:3_x");
    for unfit in ["with space", &"x".repeat(129), "<script>"] {
        let made = id(&daemon.chat_as(unfit, &ask("a")).await);
        assert!(made.starts_with("req-"), "{made}");
        assert_eq!(daemon.log(&made).await, ["a pass - -"]);
    }
    // errors and open endpoints have one too
    let mut connection = daemon.connect().await;
    connection.send("GET", "/nowhere", &[], b"").await;
    assert!(id(&connection.reply().await).starts_with("req-"));
}

/// A vendor that does not stream, and one whose stream comes byte by byte or with an event larger than any buffer.
#[tokio::test]
async fn odd_framing_of_the_vendor_is_not_the_callers_matter() {
    let large = "w".repeat(3 * 1024 * 1024);
    let cloud = vendor([
        says("whole at once"),
        streams(&["dripping ", "wet"]).bytewise(),
        streams(&[&large]),
    ])
    .await;
    let daemon = Setup::new(&[&cloud]).start().await;
    for expected in ["whole at once", "dripping wet", &large] {
        let reply = daemon.chat_as("r-1", &ask_stream("a")).await;
        assert!(reply.streamed_text() == expected, "{}", reply.events().len());
        assert_eq!(reply.events().last().unwrap(), "[DONE]");
    }
}
