//! Answers of every format, plain and streamed, to callers of every form: what was answered arrives.

use llm_core::{
    ChatCodec, ChatEvent, ChatRequest, ChatResponse, Collector, FinishKind, Framing, Reasoning, ResponseMeta,
    Usage,
};
use llm_wire::frame::encode_ndjson;
use llm_wire::{ToolNames, chat_completions, generate_content, messages, ollama, responses};
use serde_json::{Value, json};

/// What a model did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Says,
    ThinksAndSays,
    CallsTwoTools,
    IsCutShort,
    IsFiltered,
    Refuses,
}

const DEEDS: [Deed; 6] = [
    Deed::Says,
    Deed::ThinksAndSays,
    Deed::CallsTwoTools,
    Deed::IsCutShort,
    Deed::IsFiltered,
    Deed::Refuses,
];

/// A format that answers come in.
struct Upstream {
    name: &'static str,
    codec: Box<dyn ChatCodec>,
    framing: Framing,
    /// The whole answer and the payloads of the stream; `None`: the format cannot say it.
    answer: fn(Deed) -> Option<(Value, Vec<Value>)>,
}

fn request() -> ChatRequest {
    ChatRequest::user("hi").with_reasoning(Reasoning::default().with_include(true))
}

fn upstreams() -> Vec<Upstream> {
    let request = request();
    vec![
        Upstream {
            name: "chat_completions",
            codec: Box::new(chat_completions::ChatCompletionsCodec::new(
                &chat_completions::Dialect::compatible(),
                &request,
                ToolNames::default(),
            )),
            framing: Framing::Events,
            answer: chat_completions_answer,
        },
        Upstream {
            name: "messages",
            codec: Box::new(messages::MessagesCodec::new(
                &messages::Dialect::anthropic(),
                &request,
                ToolNames::default(),
            )),
            framing: Framing::Events,
            answer: messages_answer,
        },
        Upstream {
            name: "responses",
            codec: Box::new(responses::ResponsesCodec::new(
                &responses::Dialect::openai(),
                &request,
                ToolNames::default(),
            )),
            framing: Framing::Events,
            answer: responses_answer,
        },
        Upstream {
            name: "generate_content",
            codec: Box::new(generate_content::GenerateContentCodec::new(
                &generate_content::Dialect::gemini(),
                &request,
                ToolNames::default(),
            )),
            framing: Framing::Events,
            answer: generate_content_answer,
        },
        Upstream {
            name: "ollama",
            codec: Box::new(ollama::OllamaCodec::new(&ollama::Dialect::ollama(), &request)),
            framing: Framing::Lines,
            answer: ollama_answer,
        },
    ]
}

fn chat_completions_answer(deed: Deed) -> Option<(Value, Vec<Value>)> {
    let call = |index: u64| {
        json!({ "index": index, "id": format!("call_{index}"), "type": "function",
            "function": { "name": format!("tool_{index}"), "arguments": format!("{{\"n\":{index}}}") } })
    };
    let (message, finish) = match deed {
        Deed::Says => (json!({ "content": "Hello" }), "stop"),
        Deed::ThinksAndSays => (json!({ "reasoning_content": "Hm.", "content": "Hello" }), "stop"),
        Deed::CallsTwoTools => (
            json!({ "content": "Look:", "tool_calls": [call(0), call(1)] }),
            "tool_calls",
        ),
        Deed::IsCutShort => (json!({ "content": "Hel" }), "length"),
        Deed::IsFiltered => (json!({ "content": "Hel" }), "content_filter"),
        Deed::Refuses => (json!({ "refusal": "I will not." }), "stop"),
    };
    let usage = json!({ "prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13,
        "prompt_tokens_details": { "cached_tokens": 3 } });
    let head = |object: &str| json!({ "id": "a1", "object": object, "created": 1_795_000_000, "model": "m" });
    let with = |mut head: Value, choices: Value, usage: &Value| {
        head["choices"] = choices;
        head["usage"] = usage.clone();
        head
    };
    let mut whole = message.clone();
    whole["role"] = json!("assistant");
    let plain = json!([{ "index": 0, "message": whole, "finish_reason": finish }]);
    // each field in a chunk of its own
    let mut frames = vec![with(
        head("chat.completion.chunk"),
        json!([{ "index": 0, "delta": { "role": "assistant" } }]),
        &json!(null),
    )];
    for (key, value) in message.as_object().unwrap() {
        frames.push(with(
            head("chat.completion.chunk"),
            json!([{ "index": 0, "delta": { key: value } }]),
            &json!(null),
        ));
    }
    frames.push(with(
        head("chat.completion.chunk"),
        json!([{ "index": 0, "delta": {}, "finish_reason": finish }]),
        &json!(null),
    ));
    frames.push(with(head("chat.completion.chunk"), json!([]), &usage));
    frames.push(json!("[DONE]"));
    Some((with(head("chat.completion"), plain, &usage), frames))
}

fn messages_answer(deed: Deed) -> Option<(Value, Vec<Value>)> {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let call = |index: u64| json!({ "type": "tool_use", "id": format!("call_{index}"), "name": format!("tool_{index}"), "input": { "n": index } });
    let (blocks, stop) = match deed {
        Deed::Says => (vec![text("Hello")], "end_turn"),
        Deed::ThinksAndSays => (
            vec![
                json!({ "type": "thinking", "thinking": "Hm.", "signature": "s" }),
                text("Hello"),
            ],
            "end_turn",
        ),
        Deed::CallsTwoTools => (vec![text("Look:"), call(0), call(1)], "tool_use"),
        Deed::IsCutShort => (vec![text("Hel")], "max_tokens"),
        Deed::IsFiltered => return None,
        Deed::Refuses => (vec![text("I will not.")], "refusal"),
    };
    let usage = json!({ "input_tokens": 6, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 0, "output_tokens": 4 });
    let message = |content: &[Value], stop: Value| {
        json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content,
            "stop_reason": stop, "stop_sequence": null, "usage": usage })
    };
    let mut frames = vec![json!({ "type": "message_start", "message": message(&[], json!(null)) })];
    for (index, block) in blocks.iter().enumerate() {
        let (start, deltas) = match block["type"].as_str().unwrap() {
            "text" => (
                json!({ "type": "text", "text": "" }),
                vec![json!({ "type": "text_delta", "text": block["text"] })],
            ),
            "thinking" => (
                json!({ "type": "thinking", "thinking": "" }),
                vec![
                    json!({ "type": "thinking_delta", "thinking": block["thinking"] }),
                    json!({ "type": "signature_delta", "signature": block["signature"] }),
                ],
            ),
            _ => (
                json!({ "type": "tool_use", "id": block["id"], "name": block["name"], "input": {} }),
                vec![json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() })],
            ),
        };
        frames.push(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        frames.extend(
            deltas
                .into_iter()
                .map(|delta| json!({ "type": "content_block_delta", "index": index, "delta": delta })),
        );
        frames.push(json!({ "type": "content_block_stop", "index": index }));
    }
    frames.push(json!({ "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null }, "usage": { "output_tokens": 4 } }));
    frames.push(json!({ "type": "message_stop" }));
    Some((message(&blocks, json!(stop)), frames))
}

fn responses_answer(deed: Deed) -> Option<(Value, Vec<Value>)> {
    let message = |part: Value| json!({ "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part] });
    let text = |text: &str| message(json!({ "type": "output_text", "text": text, "annotations": [] }));
    let call = |index: u64| {
        json!({ "type": "function_call", "id": format!("fc_{index}"), "call_id": format!("call_{index}"), "status": "completed",
            "name": format!("tool_{index}"), "arguments": format!("{{\"n\":{index}}}") })
    };
    let (items, reason) = match deed {
        Deed::Says => (vec![text("Hello")], None),
        Deed::ThinksAndSays => (
            vec![
                json!({ "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": "Hm." }], "encrypted_content": "e" }),
                text("Hello"),
            ],
            None,
        ),
        Deed::CallsTwoTools => (vec![text("Look:"), call(0), call(1)], None),
        Deed::IsCutShort => (vec![text("Hel")], Some("max_output_tokens")),
        Deed::IsFiltered => (vec![text("Hel")], Some("content_filter")),
        Deed::Refuses => (
            vec![message(json!({ "type": "refusal", "refusal": "I will not." }))],
            None,
        ),
    };
    let usage = json!({ "input_tokens": 9, "input_tokens_details": { "cached_tokens": 3 }, "output_tokens": 4, "total_tokens": 13 });
    let response = |status: &str, output: &[Value], usage: Value| {
        json!({ "id": "resp_1", "object": "response", "created_at": 1_795_000_000, "model": "m", "status": status, "output": output,
            "incomplete_details": reason.map(|reason| json!({ "reason": reason })), "usage": usage })
    };
    let status = if reason.is_some() {
        "incomplete"
    } else {
        "completed"
    };
    let whole = response(status, &items, usage);
    let mut frames =
        vec![json!({ "type": "response.created", "response": response("in_progress", &[], json!(null)) })];
    for (index, item) in items.iter().enumerate() {
        let mut begun = item.clone();
        let id = &item["id"];
        let mut deltas = Vec::new();
        match item["type"].as_str().unwrap() {
            "message" => {
                begun["content"] = json!([]);
                let part = &item["content"][0];
                let kind = part["type"].as_str().unwrap();
                let (event, text) = if kind == "refusal" {
                    ("response.refusal.delta", &part["refusal"])
                } else {
                    ("response.output_text.delta", &part["text"])
                };
                deltas.push(json!({ "type": event, "item_id": id, "output_index": index, "content_index": 0, "delta": text }));
            }
            "reasoning" => {
                begun["summary"] = json!([]);
                deltas.push(json!({ "type": "response.reasoning_summary_text.delta", "item_id": id, "output_index": index, "summary_index": 0, "delta": "Hm." }));
            }
            _ => {
                begun["arguments"] = json!("");
                deltas.push(json!({ "type": "response.function_call_arguments.delta", "item_id": id, "output_index": index, "delta": item["arguments"] }));
            }
        }
        frames.push(json!({ "type": "response.output_item.added", "output_index": index, "item": begun }));
        frames.extend(deltas);
        frames.push(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
    }
    frames.push(json!({ "type": format!("response.{status}"), "response": whole }));
    Some((whole, frames))
}

fn generate_content_answer(deed: Deed) -> Option<(Value, Vec<Value>)> {
    let call = |index: u64| json!({ "functionCall": { "id": format!("call_{index}"), "name": format!("tool_{index}"), "args": { "n": index } } });
    let (parts, finish) = match deed {
        Deed::Says => (vec![json!({ "text": "Hello" })], "STOP"),
        Deed::ThinksAndSays => (
            vec![
                json!({ "text": "Hm.", "thought": true }),
                json!({ "text": "Hello" }),
            ],
            "STOP",
        ),
        Deed::CallsTwoTools => (vec![json!({ "text": "Look:" }), call(0), call(1)], "STOP"),
        Deed::IsCutShort => (vec![json!({ "text": "Hel" })], "MAX_TOKENS"),
        Deed::IsFiltered => (vec![json!({ "text": "Hel" })], "SAFETY"),
        Deed::Refuses => return None,
    };
    let usage = json!({ "promptTokenCount": 9, "cachedContentTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 13 });
    let chunk = |parts: &[Value], finish: Option<&str>| {
        let mut chunk = json!({ "candidates": [{ "index": 0, "content": { "role": "model", "parts": parts } }],
            "modelVersion": "m", "responseId": "r1", "usageMetadata": usage });
        if let Some(finish) = finish {
            chunk["candidates"][0]["finishReason"] = json!(finish);
        }
        chunk
    };
    let mut frames: Vec<_> = parts
        .iter()
        .map(|part| chunk(std::slice::from_ref(part), None))
        .collect();
    frames.push(chunk(&[json!({ "text": "" })], Some(finish)));
    Some((chunk(&parts, Some(finish)), frames))
}

fn ollama_answer(deed: Deed) -> Option<(Value, Vec<Value>)> {
    let call = |index: u64| json!({ "id": format!("call_{index}"), "function": { "index": index, "name": format!("tool_{index}"), "arguments": { "n": index } } });
    let (message, reason) = match deed {
        Deed::Says => (json!({ "content": "Hello" }), "stop"),
        Deed::ThinksAndSays => (json!({ "thinking": "Hm.", "content": "Hello" }), "stop"),
        Deed::CallsTwoTools => (
            json!({ "content": "Look:", "tool_calls": [call(0), call(1)] }),
            "stop",
        ),
        Deed::IsCutShort => (json!({ "content": "Hel" }), "length"),
        Deed::IsFiltered | Deed::Refuses => return None,
    };
    let line = |mut message: Value, done: bool| {
        message["role"] = json!("assistant");
        let mut line =
            json!({ "model": "m", "created_at": "2026-11-29T00:00:00Z", "message": message, "done": done });
        if done {
            line["done_reason"] = json!(reason);
            line["prompt_eval_count"] = json!(9);
            line["eval_count"] = json!(4);
        }
        line
    };
    let mut frames: Vec<_> = message
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| {
            let mut piece = json!({ "content": "" });
            piece[key] = value.clone();
            line(piece, false)
        })
        .collect();
    frames.push(line(json!({ "content": "" }), true));
    Some((line(message, true), frames))
}

/// What must arrive.
#[derive(Debug, Clone, PartialEq)]
struct Told {
    text: String,
    reasoning: String,
    refusal: Option<String>,
    /// Name and arguments, in order, and how many different ids there are.
    calls: Vec<(String, Value)>,
    ids: usize,
    finish: FinishKind,
    usage: Usage,
}

impl Told {
    fn by(response: &ChatResponse) -> Told {
        let calls: Vec<_> = response
            .tool_calls()
            .map(|call| (call.name.clone(), serde_json::from_str(&call.arguments).unwrap()))
            .collect();
        let mut ids: Vec<_> = response.tool_calls().map(|call| call.id.clone()).collect();
        ids.sort();
        ids.dedup();
        Told {
            text: response.text(),
            reasoning: response.reasoning(),
            refusal: response.refusal(),
            calls,
            ids: ids.len(),
            finish: response.finish.kind,
            usage: response.usage,
        }
    }
}

/// The bytes of a stream.
fn written(frames: &[Value], framing: Framing) -> Vec<u8> {
    let mut bytes = Vec::new();
    for frame in frames {
        match (framing, frame.as_str(), frame["type"].as_str()) {
            (Framing::Lines, ..) => encode_ndjson(&frame.to_string(), &mut bytes),
            (_, Some(mark), _) => bytes.extend(format!("data: {mark}\n\n").into_bytes()),
            (_, _, Some(name)) => bytes.extend(format!("event: {name}\ndata: {frame}\n\n").into_bytes()),
            _ => bytes.extend(format!("data: {frame}\n\n").into_bytes()),
        }
    }
    bytes
}

fn events(codec: &dyn ChatCodec, framing: Framing, bytes: &[u8]) -> Vec<ChatEvent> {
    let mut decoder = codec.decoder(framing, ResponseMeta::default(), 1 << 20);
    let mut events = Vec::new();
    decoder.push(bytes, &mut events).unwrap();
    decoder.end(&mut events).unwrap();
    decoder.finish(&mut events).unwrap();
    events
}

fn folded(events: &[ChatEvent]) -> ChatResponse {
    let mut collector = Collector::default();
    for event in events {
        collector.push(event.clone()).unwrap();
    }
    collector.finish().unwrap()
}

/// The answer as a caller of Chat Completions reads it, whole and as a stream.
fn to_chat_completions(response: &ChatResponse, events: &[ChatEvent]) -> [Told; 2] {
    let options = || chat_completions::EncodeOptions::new("a1", 1_795_000_000, "m").with_include_usage(true);
    let dialect = chat_completions::Dialect::compatible();
    let reader = chat_completions::ChatCompletionsCodec::new(&dialect, &request(), ToolNames::default());
    let plain = reader
        .decode_response(
            ResponseMeta::default(),
            &chat_completions::encode_response(&options(), response),
        )
        .unwrap();
    let mut encoder = chat_completions::StreamEncoder::new(options());
    let mut bytes = Vec::new();
    events.iter().for_each(|event| encoder.push(event, &mut bytes));
    let streamed = folded(&self::events(&reader, Framing::Events, &bytes));
    [Told::by(&plain), Told::by(&streamed)]
}

/// The same for a caller of Messages.
fn to_messages(response: &ChatResponse, events: &[ChatEvent]) -> [Told; 2] {
    let options = || messages::EncodeOptions::new("msg_1", "m");
    let reader =
        messages::MessagesCodec::new(&messages::Dialect::anthropic(), &request(), ToolNames::default());
    let plain = reader
        .decode_response(
            ResponseMeta::default(),
            &messages::encode_response(&options(), response),
        )
        .unwrap();
    let mut encoder = messages::StreamEncoder::new(options());
    let mut bytes = Vec::new();
    events.iter().for_each(|event| encoder.push(event, &mut bytes));
    let streamed = folded(&self::events(&reader, Framing::Events, &bytes));
    [Told::by(&plain), Told::by(&streamed)]
}

#[test]
fn what_is_answered_arrives_in_every_form() {
    let (mut said, mut lost) = (0, Vec::new());
    for upstream in upstreams() {
        for deed in DEEDS {
            let Some((plain, frames)) = (upstream.answer)(deed) else {
                continue;
            };
            let at = format!("{} {deed:?}", upstream.name);
            let codec = &*upstream.codec;
            let whole = codec
                .decode_response(ResponseMeta::default(), plain.to_string().as_bytes())
                .unwrap();
            let events = events(codec, upstream.framing, &written(&frames, upstream.framing));
            let told = Told::by(&whole);
            assert_eq!(
                Told::by(&folded(&events)),
                told,
                "{at}: the stream is another answer"
            );
            expect(deed, &told, &at);
            for (form, read) in [
                ("Chat Completions", to_chat_completions(&whole, &events)),
                ("Messages", to_messages(&whole, &events)),
            ] {
                for (way, read) in ["whole", "streamed"].into_iter().zip(read) {
                    let expected = as_read_by(form, &told);
                    if read != expected {
                        lost.push(format!("{at} to {form}, {way}:\n  {read:?}\n  {expected:?}"));
                    }
                    said += 1;
                }
            }
        }
    }
    assert!(lost.is_empty(), "lost on the way:\n{}", lost.join("\n"));
    assert_eq!(said, 4 * (6 + 5 + 6 + 5 + 4));
}

/// What each format's own words mean.
fn expect(deed: Deed, told: &Told, at: &str) {
    let finish = match deed {
        Deed::Says | Deed::ThinksAndSays => FinishKind::Stop,
        Deed::CallsTwoTools => FinishKind::ToolCalls,
        Deed::IsCutShort => FinishKind::Length,
        Deed::IsFiltered => FinishKind::ContentFilter,
        Deed::Refuses => FinishKind::Refusal,
    };
    assert_eq!(told.finish, finish, "{at}");
    assert_eq!(
        told.reasoning,
        if deed == Deed::ThinksAndSays { "Hm." } else { "" },
        "{at}"
    );
    assert_eq!(
        (told.usage.input_tokens, told.usage.output_tokens),
        (Some(9), Some(4)),
        "{at}"
    );
    let calls = if deed == Deed::CallsTwoTools { 2 } else { 0 };
    assert_eq!((told.calls.len(), told.ids), (calls, calls), "{at}");
}

/// What a form cannot say in the words of another.
fn as_read_by(form: &str, told: &Told) -> Told {
    let mut read = told.clone();
    if form == "Chat Completions" && read.finish == FinishKind::Refusal && read.refusal.is_none() {
        // a refusal in plain text has no finish reason of its own there
        read.finish = FinishKind::ContentFilter;
    }
    if form == "Messages" {
        // it has one word for both, and no place of its own for the words of a refusal
        if read.finish == FinishKind::ContentFilter {
            read.finish = FinishKind::Refusal;
        }
        if let Some(refusal) = read.refusal.take() {
            read.text.push_str(&refusal);
        }
    }
    read
}
