//! Several calls in one of a tool that nobody offered.

use super::*;
use crate::responses::ResponsesCodec;
use llm_core::{ChatCodec, ChatRequest, Framing, ToolSpec};

const CALLS: &str = r#"{"tool_uses":[{"recipient_name":"functions.area","parameters":{"r":2}},
    {"recipient_name":"functions.geo_now","parameters":{}}]}"#;

fn folded(arguments: &str) -> Value {
    json!({"type": "function_call", "id": "fc_1", "call_id": "call_7", "name": "parallel", "arguments": arguments,
        "status": "completed"})
}

fn request() -> ChatRequest {
    ChatRequest::user("hi").with_tools(["area", "geo.now"].map(ToolSpec::new))
}

/// The calls of an answer to this request, whole and as a stream: id, name, arguments.
fn calls(request: &ChatRequest, item: &Value) -> [Vec<(String, String, String)>; 2] {
    let model = llm_core::ResolvedModel::unknown(llm_core::ModelId::new("gpt-6-luna").unwrap());
    let encoded = crate::responses::encode_request(&Dialect::openai(), &model, request, true).unwrap();
    let codec = ResponsesCodec::new(&Dialect::openai(), request, encoded.tool_names);
    let body = whole(json!([item])).to_string();
    let plain = codec
        .decode_response(ResponseMeta::default(), body.as_bytes())
        .unwrap();
    let mut begun = item.clone();
    begun["arguments"] = json!("");
    let arguments = item["arguments"].as_str().unwrap();
    let (front, back) = arguments.split_at(arguments.len() / 2);
    let delta = |text: &str| json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": text});
    let events = [
        created(),
        json!({"type": "response.output_item.added", "output_index": 0, "item": begun}),
        delta(front),
        delta(back),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        completed(json!([item])),
    ];
    let mut decoder = codec.decoder(Framing::Events, ResponseMeta::default(), usize::MAX);
    let mut out = Vec::new();
    for event in events {
        decoder
            .push(format!("data: {event}\n\n").as_bytes(), &mut out)
            .unwrap();
    }
    decoder.finish(&mut out).unwrap();
    let mut grammar = Grammar::default();
    let mut collector = Collector::default();
    for event in out {
        grammar.check(&event).unwrap();
        collector.push(event).unwrap();
    }
    [plain, collector.finish().unwrap()].map(|response| {
        assert_eq!(response.finish.kind, FinishKind::ToolCalls);
        let calls = response.tool_calls();
        calls
            .map(|call| (call.id.clone(), call.name.clone(), call.arguments.clone()))
            .collect()
    })
}

#[test]
fn they_are_taken_apart() {
    for calls in calls(&request(), &folded(CALLS)) {
        let named: Vec<_> = calls
            .iter()
            .map(|(_, name, arguments)| (&**name, &**arguments))
            .collect();
        assert_eq!(named, [("area", "{\"r\":2}"), ("geo.now", "{}")]);
        assert_eq!(calls[0].0, "call_7");
        assert!(!calls[1].0.is_empty() && calls[1].0 != "call_7");
    }
}

#[test]
fn what_names_no_tool_of_the_request_or_is_stored_stays_one_call() {
    let foreign = r#"{"tool_uses":[{"recipient_name":"functions.area","parameters":{}},
        {"recipient_name":"functions.other","parameters":{}}]}"#;
    let openai = VendorId::from_static("openai");
    let offered = ChatRequest::user("hi").with_tools(["area", "geo.now", "parallel"].map(ToolSpec::new));
    for (request, arguments) in [
        (request(), foreign),
        (request(), "{\"tool_uses\":[]}"),
        (request(), "{}"),
        (offered, CALLS),
        (
            request().with_vendor_option(openai.clone(), "store", json!(true)),
            CALLS,
        ),
        (
            request().with_vendor_option(openai, "previous_response_id", json!("resp_0")),
            CALLS,
        ),
    ] {
        for calls in calls(&request, &folded(arguments)) {
            let expected = ("call_7".to_owned(), "parallel".to_owned(), arguments.to_owned());
            assert_eq!(calls, [expected]);
        }
    }
}
