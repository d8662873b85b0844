//! What is read and written: answers as the vendors send them (wire notes, 2026-11-29), long enough to matter.

use llm_core::{ChatRequest, ContentPart, Message, Result, Role, ToolCall, ToolResult, ToolSpec};
use serde_json::{Value, json};

/// How many pieces of text a stream brings.
const PIECES: usize = 200;

/// One answer in one format, in both its forms.
pub(crate) struct Sample {
    pub(crate) format: &'static str,
    pub(crate) plain: Vec<u8>,
    pub(crate) stream: Vec<u8>,
    /// The JSON of the stream, without framing.
    pub(crate) payloads: Vec<String>,
}

fn pieces() -> impl Iterator<Item = String> {
    let words = [
        "The",
        " \"quoted\"",
        " sky",
        " is",
        " blue,",
        "\n",
        " scattering",
        " größer",
    ];
    (0..PIECES).map(move |at| words[at % words.len()].to_owned())
}

fn sample(
    format: &'static str,
    plain: &Value,
    chunks: Vec<Value>,
    frame: impl Fn(&Value) -> String,
) -> Sample {
    Sample {
        format,
        plain: plain.to_string().into_bytes(),
        stream: chunks.iter().map(frame).collect::<String>().into_bytes(),
        payloads: chunks.iter().map(Value::to_string).collect(),
    }
}

fn data(chunk: &Value) -> String {
    format!("data: {chunk}\n\n")
}

pub(crate) fn chat_completions() -> Sample {
    let usage = json!({"prompt_tokens": 21, "completion_tokens": 200, "total_tokens": 221,
        "prompt_tokens_details": {"cached_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 4}});
    let plain = json!({"id": "chatcmpl-x1", "object": "chat.completion", "created": 1_795_900_000, "model": "gpt-6-luna",
        "choices": [{"index": 0, "finish_reason": "stop", "logprobs": null, "message": {"role": "assistant",
            "content": pieces().collect::<String>(), "refusal": null, "annotations": []}}],
        "usage": usage, "service_tier": "default", "system_fingerprint": "fp_44a1"});
    let chunk = |choices: Value, usage: Value| {
        json!({"id": "chatcmpl-x1", "object": "chat.completion.chunk", "created": 1_795_900_000, "model": "gpt-6-luna",
            "service_tier": "default", "system_fingerprint": "fp_44a1", "choices": choices, "usage": usage,
            "obfuscation": "xT9"})
    };
    let choice = |delta: Value, finish: Value| {
        let choices = json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
        chunk(choices, Value::Null)
    };
    let mut chunks: Vec<Value> = pieces()
        .map(|text| choice(json!({"content": text}), Value::Null))
        .collect();
    chunks.push(choice(json!({}), json!("stop")));
    chunks.push(chunk(json!([]), usage));
    let mut sample = sample("Chat Completions", &plain, chunks, data);
    sample.stream.extend_from_slice(b"data: [DONE]\n\n");
    sample
}

pub(crate) fn messages() -> Sample {
    let usage = json!({"input_tokens": 21, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        "output_tokens": 200, "service_tier": "standard"});
    let message = |content: Value, stop: Value| {
        json!({"id": "msg_x1", "type": "message", "role": "assistant", "model": "claude-haiku-5-5", "content": content,
            "stop_reason": stop, "stop_sequence": null, "usage": usage})
    };
    let plain = message(
        json!([{"type": "text", "text": pieces().collect::<String>()}]),
        json!("end_turn"),
    );
    let mut chunks = vec![
        json!({"type": "message_start", "message": message(json!([]), Value::Null)}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    ];
    chunks.extend(pieces().map(|text| {
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
    }));
    chunks.push(json!({"type": "content_block_stop", "index": 0}));
    chunks.push(
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null},
        "usage": usage}),
    );
    chunks.push(json!({"type": "message_stop"}));
    sample("Messages", &plain, chunks, |chunk| {
        let event = chunk["type"].as_str().unwrap_or_default();
        format!("event: {event}\ndata: {chunk}\n\n")
    })
}

pub(crate) fn generate_content() -> Sample {
    let answer = |text: Option<String>, finish: Option<&str>| {
        let mut candidate = json!({"index": 0});
        if let Some(text) = text {
            candidate["content"] = json!({"role": "model", "parts": [{"text": text}]});
        }
        if let Some(finish) = finish {
            candidate["finishReason"] = json!(finish);
        }
        json!({"candidates": [candidate], "usageMetadata": {"promptTokenCount": 21, "candidatesTokenCount": 200,
            "totalTokenCount": 221, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 21}]},
            "modelVersion": "gemini-3.5-flash", "responseId": "r-1"})
    };
    let plain = answer(Some(pieces().collect()), Some("STOP"));
    let mut chunks: Vec<Value> = pieces().map(|text| answer(Some(text), None)).collect();
    chunks.push(answer(None, Some("STOP")));
    sample("generateContent", &plain, chunks, data)
}

pub(crate) fn ollama() -> Sample {
    let line = |text: String, done: bool| {
        let mut line = json!({"model": "qwen4:8b", "created_at": "2026-11-29T10:00:00.123456Z",
            "message": {"role": "assistant", "content": text}, "done": done});
        if done {
            line["done_reason"] = json!("stop");
            line["total_duration"] = json!(500_000_000);
            line["prompt_eval_count"] = json!(21);
            line["eval_count"] = json!(200);
        }
        line
    };
    let plain = line(pieces().collect(), true);
    let mut chunks: Vec<Value> = pieces().map(|text| line(text, false)).collect();
    chunks.push(line(String::new(), true));
    sample("Ollama", &plain, chunks, |chunk| format!("{chunk}\n"))
}

pub(crate) fn responses() -> Sample {
    let usage = json!({"input_tokens": 21, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 200, "output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 221});
    let answer = |status: &str, output: Value, usage: Value| {
        json!({"id": "resp_x1", "object": "response", "created_at": 1_795_900_000, "status": status,
            "model": "gpt-6-luna", "output": output, "incomplete_details": null, "error": null,
            "service_tier": "default", "store": false, "usage": usage})
    };
    let text: String = pieces().collect();
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let item = |status: &str, content: Value| {
        json!({"type": "message", "id": "msg_x1", "role": "assistant", "status": status, "phase": "final_answer",
            "content": content})
    };
    let whole = item("completed", json!([part(&text)]));
    let plain = answer("completed", json!([whole]), usage);
    let of_part = |kind: &str, field: &str, value: Value| json!({"type": kind, "item_id": "msg_x1", "output_index": 0, "content_index": 0, field: value});
    let begun = || answer("in_progress", json!([]), Value::Null);
    let mut chunks = vec![
        json!({"type": "response.created", "response": begun()}),
        json!({"type": "response.in_progress", "response": begun()}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item("in_progress", json!([]))}),
        of_part("response.content_part.added", "part", part("")),
    ];
    chunks.extend(pieces().map(|text| of_part("response.output_text.delta", "delta", json!(text))));
    chunks.push(of_part("response.output_text.done", "text", json!(text)));
    chunks.push(of_part("response.content_part.done", "part", part(&text)));
    chunks.push(json!({"type": "response.output_item.done", "output_index": 0, "item": whole}));
    chunks.push(json!({"type": "response.completed", "response": plain}));
    for (number, chunk) in chunks.iter_mut().enumerate() {
        chunk["sequence_number"] = json!(number);
    }
    sample("Responses", &plain, chunks, |chunk| {
        let event = chunk["type"].as_str().unwrap_or_default();
        format!("event: {event}\ndata: {chunk}\n\n")
    })
}

/// Ten turns with calls of tools, and two tools.
pub(crate) fn conversation() -> Result<ChatRequest> {
    let mut messages = vec![Message::system(
        "You answer questions about the weather. Be brief.",
    )];
    for turn in 0..10 {
        let id = format!("call_{turn}");
        messages.push(Message::user(format!(
            "How is the weather in \"Town {turn}\", and what should I wear?"
        )));
        let arguments = format!("{{\"city\":\"Town {turn}\",\"unit\":\"celsius\"}}");
        messages.push(Message::new(
            Role::Assistant,
            vec![
                ContentPart::text("Let me look that up for you.\n"),
                ContentPart::ToolCall(ToolCall::new(&*id, "weather", arguments)),
            ],
        ));
        messages.push(Message::tool_results([ToolResult::new(
            id,
            "{\"celsius\":21,\"sky\":\"clear\"}",
        )]));
        messages.push(Message::assistant(
            "It is 21 degrees and clear: a light jacket in the evening will do.",
        ));
    }
    messages.push(Message::user("And tomorrow?"));
    let schema = json!({"type": "object", "required": ["city"], "properties": {
        "city": {"type": "string", "description": "the name of the town"},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}}});
    let tool = |name: &str| {
        ToolSpec::new(name)
            .with_description("Looks it up")
            .with_parameters(schema.clone())
    };
    Ok(ChatRequest::new(messages)
        .with_tools([tool("weather"), tool("forecast")])
        .with_max_output_tokens(500))
}
