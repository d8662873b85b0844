//! Names of tools that the format does not take.

use super::*;
use crate::chat_completions::{DecodeOptions, StreamDecoder, decode_response};
use llm_core::{ChatResponse, Collector, ResponseMeta};

/// Three tools, two of which have names of other formats, and a call of one of them.
fn request() -> ChatRequest {
    let tools = ["geo.now", "2nd", &"long".repeat(20)].map(ToolSpec::new);
    let call = ToolCall::new("c1", "geo.now", "{}");
    let result = ToolResult::new("c1", "here").with_name("geo.now");
    ChatRequest::new([
        Message::user("where am I?"),
        Message::new(Role::Assistant, vec![ContentPart::ToolCall(call)]),
        Message::new(Role::Tool, vec![ContentPart::ToolResult(result)]),
    ])
    .with_tools(tools)
    .with_tool_choice(ToolChoice::Tool("geo.now".to_owned()))
}

fn offered(dialect: &Dialect) -> Vec<String> {
    let (body, warnings) = encoded(dialect, &model("demo"), &request());
    assert_eq!(warnings, [""; 0]);
    assert_eq!(body["tool_choice"]["function"]["name"], "geo_now");
    assert_eq!(
        body["messages"][1]["tool_calls"][0]["function"]["name"],
        "geo_now"
    );
    let names = body["tools"].as_array().unwrap().iter();
    names
        .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn names_are_made_legal_in_every_dialect() {
    let long = "long".repeat(16);
    for dialect in [
        Dialect::openai(),
        Dialect::compatible(),
        Dialect::groq(),
        Dialect::deepseek(),
        Dialect::mistral(),
    ] {
        assert_eq!(offered(&dialect), ["geo_now", "2nd", &long], "{}", dialect.vendor);
    }
    assert_eq!(offered(&Dialect::kimi()), ["geo_now", "_2nd", &long]);
    let (body, _) = encoded(&Dialect::mistral(), &model("demo"), &request());
    assert_eq!(body["messages"][2]["name"], "geo_now");
}

/// What a stream of these deltas says.
fn streamed(deltas: &[Value]) -> ChatResponse {
    let encoded = encode_request(&Dialect::openai(), &model("demo"), &request(), true).unwrap();
    let options = DecodeOptions::new(&request(), ResponseMeta::default()).with_tool_names(encoded.tool_names);
    let mut decoder = StreamDecoder::new(&Dialect::openai(), options);
    let mut events = Vec::new();
    for delta in deltas {
        let chunk = json!({"id": "a1", "choices": [{"delta": {"tool_calls": [delta]}}]});
        decoder.feed("", &chunk.to_string(), &mut events).unwrap();
    }
    decoder.feed("", "[DONE]", &mut events).unwrap();
    decoder.finish(&mut events).unwrap();
    let mut collector = Collector::default();
    for event in events {
        collector.push(event).unwrap();
    }
    collector.finish().unwrap()
}

#[test]
fn calls_come_back_under_the_callers_names() {
    let whole = json!({"index": 0, "id": "c2", "function": {"name": "geo_now", "arguments": "{\"at\":1}"}});
    let pieces = [
        json!({"index": 0, "id": "c2", "function": {"name": "geo", "arguments": ""}}),
        json!({"index": 0, "function": {"name": "_now"}}),
        json!({"index": 0, "function": {"arguments": "{\"at\""}}),
        json!({"index": 0, "function": {"arguments": ":1}"}}),
    ];
    let encoded = encode_request(&Dialect::openai(), &model("demo"), &request(), false).unwrap();
    let options = DecodeOptions::new(&request(), ResponseMeta::default()).with_tool_names(encoded.tool_names);
    let body = json!({"choices": [{"message": {"tool_calls": [whole]}}]}).to_string();
    let plain = decode_response(&Dialect::openai(), options, body.as_bytes()).unwrap();
    for response in [plain, streamed(&[whole]), streamed(&pieces)] {
        let calls: Vec<_> = response
            .tool_calls()
            .map(|call| (&*call.name, &*call.arguments))
            .collect();
        assert_eq!(calls, [("geo.now", "{\"at\":1}")]);
    }
    let empty = json!({"index": 0, "id": "c2", "function": {"name": "geo_now", "arguments": ""}});
    assert_eq!(streamed(&[empty]).tool_calls().next().unwrap().name, "geo.now");
}
