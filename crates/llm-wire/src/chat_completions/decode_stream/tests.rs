mod custom_calls;

use super::*;
use crate::chat_completions::decode_response;
use llm_core::{Block, ChatRequest, ChatResponse, Collector, ContentPart, Grammar, Message};
use serde_json::json;

fn error_of(data: &str) -> Error {
    let mut decoder = StreamDecoder::new(&Dialect::openai(), DecodeOptions::default());
    decoder.feed("", data, &mut Vec::new()).unwrap_err()
}

#[test]
fn a_list_is_an_error_only_where_it_holds_one() {
    let wrapped = error_of(r#"[{"error":{"message":"try later","code":"rate_limit_exceeded"}}]"#);
    assert_eq!(wrapped.kind(), ErrorKind::RateLimit);
    for garbage in ["[]", "[1]", "[\u{fffd}DONE]", "[{\"half\":"] {
        assert_eq!(error_of(garbage).kind(), ErrorKind::Protocol, "{garbage}");
    }
}

fn options(include_reasoning: bool) -> DecodeOptions {
    DecodeOptions {
        include_reasoning,
        ..DecodeOptions::default()
    }
}

/// The events of a stream of these choices, up to its end or its error.
fn events(dialect: &Dialect, options: DecodeOptions, choices: &[Value]) -> (Vec<ChatEvent>, Option<Error>) {
    let mut decoder = StreamDecoder::new(dialect, options);
    let mut events = Vec::new();
    for choice in choices {
        let chunk = json!({"id": "a1", "choices": [choice]}).to_string();
        if let Err(error) = decoder.feed("", &chunk, &mut events) {
            return (events, Some(error));
        }
    }
    decoder.feed("", "[DONE]", &mut events).unwrap();
    decoder.finish(&mut events).unwrap();
    let mut grammar = Grammar::default();
    for event in &events {
        grammar.check(event).unwrap();
    }
    (events, None)
}

fn streamed(dialect: &Dialect, options: DecodeOptions, choices: &[Value]) -> ChatResponse {
    let mut collector = Collector::default();
    for event in events(dialect, options, choices).0 {
        collector.push(event).unwrap();
    }
    collector.finish().unwrap()
}

fn plain(dialect: &Dialect, options: DecodeOptions, choice: Value) -> Result<ChatResponse> {
    let body = json!({"id": "a1", "choices": [choice]}).to_string();
    decode_response(dialect, options, body.as_bytes())
}

/// Thoughts with what goes back, then texts.
fn shape(response: &ChatResponse) -> Vec<(&'static str, String, Option<Value>)> {
    let blocks = response.blocks.iter().map(|block| match block {
        Block::Reasoning(part) => {
            let replay = part.replay.as_ref().map(|replay| replay.data.clone());
            ("thought", part.text.clone(), replay)
        }
        Block::Text(part) => ("text", part.text.clone(), None),
        Block::ToolCall(call) => ("call", call.id.clone(), None),
        _ => ("other", String::new(), None),
    });
    blocks.collect()
}

fn thinking(text: &str, closed: bool) -> Value {
    json!({"type": "thinking", "thinking": [{"type": "text", "text": text}], "closed": closed})
}

#[test]
fn thinking_parts_go_back_in_their_place() {
    let mistral = Dialect::mistral();
    let whole = json!({"index": 0, "finish_reason": "stop", "message": {"content": [
        {"type": "thinking", "closed": true, "signature": "s1", "thinking": [
            {"type": "text", "text": "Half of "}, {"type": "reference", "reference_ids": [1]},
            {"type": "text", "text": "twelve."}]},
        {"type": "text", "text": "Six"},
        thinking("Sure?", true),
        {"type": "text", "text": ", yes."},
        {"type": "reference", "reference_ids": [3, 4]},
    ]}});
    let first = json!({"type": "thinking", "closed": true, "signature": "s1", "thinking": [
        {"type": "text", "text": "Half of "}, {"type": "reference", "reference_ids": [1]},
        {"type": "text", "text": "twelve."}]});
    for (include, one, two) in [(true, "Half of twelve.", "Sure?"), (false, "", "")] {
        let response = plain(&mistral, options(include), whole.clone()).unwrap();
        assert_eq!(
            shape(&response),
            [
                ("thought", one.to_owned(), Some(first.clone())),
                ("text", "Six".to_owned(), None),
                ("thought", two.to_owned(), Some(thinking("Sure?", true))),
                ("text", ", yes.".to_owned(), None),
            ]
        );
        assert_eq!(
            response.metadata.of("mistral").unwrap()["reference_ids"],
            json!([3, 4])
        );
        assert!(response.warnings.is_empty());
    }
    let pieces = [
        json!({"delta": {"role": "assistant", "content": ""}}),
        json!({"delta": {"content": [thinking("Half of ", false)]}}),
        json!({"delta": {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "twelve."}],
            "signature": "s1"}]}}),
        json!({"delta": {"content": "Si"}}),
        json!({"delta": {"content": [{"type": "text", "text": "x"}]}}),
        json!({"delta": {"content": ""}, "finish_reason": "stop"}),
    ];
    let joined = json!({"type": "thinking", "closed": true, "signature": "s1",
        "thinking": [{"type": "text", "text": "Half of twelve."}]});
    for (include, one) in [(true, "Half of twelve."), (false, "")] {
        assert_eq!(
            shape(&streamed(&mistral, options(include), &pieces)),
            [
                ("thought", one.to_owned(), Some(joined.clone())),
                ("text", "Six".to_owned(), None)
            ]
        );
    }
    // a thought may be all there is before a call
    let call = json!({"delta": {"tool_calls": [{"id": "a1B2c3D4e", "function": {"name": "f", "arguments": "{}"}}]},
        "finish_reason": "tool_calls"});
    let with_call = streamed(&mistral, options(false), &[pieces[1].clone(), call]);
    assert_eq!(with_call.blocks.len(), 2);
    assert_eq!(shape(&with_call)[0].2, Some(thinking("Half of ", true)));
}

#[test]
fn a_thought_that_is_cut_off_does_not_go_back() {
    let mut decoder = StreamDecoder::new(&Dialect::mistral(), options(true));
    let mut events = Vec::new();
    let chunk = json!({"id": "a1", "choices": [{"delta": {"content": [thinking("Half", false)]}}]});
    decoder.feed("", &chunk.to_string(), &mut events).unwrap();
    assert_eq!(
        decoder.finish(&mut events).unwrap_err().kind(),
        ErrorKind::Interrupted
    );
    let replays = |event: &ChatEvent| {
        matches!(
            event,
            ChatEvent::BlockDelta {
                delta: Delta::Replay(_),
                ..
            }
        )
    };
    assert!(!events.iter().any(replays));
    let cut_off = |event: &ChatEvent| matches!(event, ChatEvent::BlockEnd { complete: false, .. });
    assert!(events.iter().any(cut_off));
}

#[test]
fn thoughts_in_a_field_are_kept_for_their_vendor() {
    for (dialect, field) in [
        (Dialect::groq(), "reasoning"),
        (Dialect::deepseek(), "reasoning_content"),
        (Dialect::kimi(), "reasoning_content"),
    ] {
        let pieces = [
            json!({"delta": {"role": "assistant", "content": null, field: "Three "}}),
            json!({"delta": {field: "squared."}}),
            json!({"delta": {"content": "Nine", field: null}}),
            json!({"delta": {}, "finish_reason": "stop"}),
        ];
        let response = streamed(&dialect, options(true), &pieces);
        assert_eq!(
            (response.reasoning(), response.text()),
            ("Three squared.".into(), "Nine".into())
        );
        let request = ChatRequest::new([response.to_message(), Message::user("and?")]);
        let thought = request.messages[0].content.iter().find_map(|part| match part {
            ContentPart::Reasoning(part) => part.replay.as_ref(),
            _ => None,
        });
        let thought = thought.unwrap();
        assert_eq!(thought.origin.vendor, dialect.vendor);
        assert_eq!(thought.data, json!({field: "Three squared."}));
    }
}

#[test]
fn a_vendor_that_breaks_off_has_failed() {
    for (dialect, word, kind) in [
        (
            Dialect::deepseek(),
            "insufficient_system_resource",
            ErrorKind::Overloaded,
        ),
        (Dialect::mistral(), "error", ErrorKind::Server),
    ] {
        let pieces = [
            json!({"delta": {"content": "Ni"}}),
            json!({"delta": {"content": ""}, "finish_reason": word}),
        ];
        let (before, error) = events(&dialect, options(false), &pieces);
        let error = error.unwrap();
        assert_eq!((error.kind(), error.phase()), (kind, Phase::Streaming));
        assert_eq!(error.vendor().code.as_deref(), Some(word));
        assert!(before.iter().any(ChatEvent::is_content));
        let whole = json!({"message": {"content": ""}, "finish_reason": word});
        let error = plain(&dialect, options(false), whole).unwrap_err();
        assert_eq!((error.kind(), error.phase()), (kind, Phase::Sent));
    }
}

#[test]
fn groq_says_early_ends_under_its_own_key() {
    let chunk = r#"{"id":"g1","choices":[{"delta":{},"finish_reason":null}],"x_groq":{"id":"r","error":"over capacity"}}"#;
    let mut decoder = StreamDecoder::new(&Dialect::groq(), options(false));
    let error = decoder.feed("", chunk, &mut Vec::new()).unwrap_err();
    assert!(error.message().ends_with("over capacity"), "{error}");
}

#[test]
fn a_repeated_beginning_is_cut_off_where_it_is_repeated() {
    let request = ChatRequest::new([Message::user("go"), Message::assistant("Once upon")]);
    let pieces = [
        json!({"delta": {"content": "Once"}}),
        json!({"delta": {"content": " upon a time"}, "finish_reason": "stop"}),
    ];
    let options = || DecodeOptions::new(&request, ResponseMeta::default());
    let said = |dialect: &Dialect| streamed(dialect, options(), &pieces).text();
    assert_eq!(said(&Dialect::mistral()), " a time");
    assert_eq!(said(&Dialect::kimi()), "Once upon a time");
    let short = [json!({"delta": {"content": "Once"}, "finish_reason": "length"})];
    assert_eq!(streamed(&Dialect::mistral(), options(), &short).text(), "Once");
}

fn call(arguments: &str) -> Value {
    json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "wipe", "arguments": arguments}}]})
}

/// How many calls can be run, and how many are cut off: the same for a plain answer.
fn calls(arguments: &str, reason: &str) -> (usize, usize) {
    let openai = Dialect::openai();
    let choices = [
        json!({"delta": call(arguments)}),
        json!({"delta": {}, "finish_reason": reason}),
    ];
    let streamed = streamed(&openai, options(true), &choices);
    let choice = json!({"message": call(arguments), "finish_reason": reason});
    let plain = plain(&openai, options(true), choice).unwrap();
    assert_eq!(streamed.blocks, plain.blocks);
    assert_eq!(streamed.incomplete_tool_calls, plain.incomplete_tool_calls);
    (
        streamed.tool_calls().count(),
        streamed.incomplete_tool_calls.len(),
    )
}

#[test]
fn a_call_without_arguments_is_complete_only_where_nothing_cut_it_off() {
    for reason in ["stop", "tool_calls"] {
        assert_eq!(calls("", reason), (1, 0), "{reason}");
    }
    for reason in ["length", "model_length", "content_filter", "error"] {
        assert_eq!(calls("", reason), (0, 1), "{reason}");
        assert_eq!(calls("{\"a\":", reason), (0, 1), "{reason}");
        assert_eq!(calls("{}", reason), (1, 0), "{reason}");
    }
}

#[test]
fn an_answer_may_hold_many_calls_but_not_any_number() {
    let of = |count: usize| {
        let calls = (0..count).map(
            |at| json!({"index": at, "id": format!("c{at}"), "function": {"name": "f", "arguments": "{}"}}),
        );
        json!({"tool_calls": calls.collect::<Vec<_>>()})
    };
    let openai = Dialect::openai();
    let choices = [
        json!({"delta": of(1024)}),
        json!({"delta": {}, "finish_reason": "tool_calls"}),
    ];
    let most = streamed(&openai, options(true), &choices);
    assert_eq!(most.tool_calls().count(), 1024);
    let (_, error) = events(&openai, options(true), &[json!({"delta": of(1025)})]);
    assert_eq!(error.unwrap().kind(), ErrorKind::Protocol);
    let choice = json!({"message": of(1025), "finish_reason": "tool_calls"});
    assert_eq!(
        plain(&openai, options(true), choice).unwrap_err().kind(),
        ErrorKind::Protocol
    );
}

#[test]
fn an_empty_delta_gives_way_to_the_message_beside_it() {
    let openai = Dialect::openai();
    let message = json!({"role": "assistant", "content": "Hello"});
    for empty in [
        json!({}),
        json!({"role": "assistant", "content": "", "tool_calls": []}),
    ] {
        let choices = [json!({"delta": empty, "message": message, "finish_reason": "stop"})];
        assert_eq!(
            streamed(&openai, options(true), &choices).text(),
            "Hello",
            "{empty}"
        );
    }
    let choices = [
        json!({"delta": {"content": "Hello"}}),
        json!({"delta": {}, "message": message, "finish_reason": "stop"}),
    ];
    assert_eq!(
        streamed(&openai, options(true), &choices).text(),
        "Hello",
        "said once"
    );
}

/// A chunk of one of the kinds that streams are made of.
fn chunk_of(kind: u8, text: &str) -> String {
    let content = json!({"index": 0, "delta": {"content": text}, "finish_reason": null});
    let reasoning = json!({"index": 0, "delta": {"reasoning_content": text}});
    let call = json!({"delta": {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": text}}]}});
    match kind {
        0 => json!({"id": "a", "model": "m", "choices": [content]}),
        1 => json!({"id": "a", "model": "m", "choices": [content], "system_fingerprint": "f1"}),
        2 => json!({"id": "a", "model": "m", "choices": [content], "system_fingerprint": "f2"}),
        3 => json!({"id": "a", "choices": [content], "usage": null, "obfuscation": "x".repeat(text.len())}),
        4 => json!({"id": "a", "choices": [reasoning]}),
        5 => json!({"id": "a", "choices": [call]}),
        6 => json!({"id": "a", "choices": [content], "usage": {"prompt_tokens": text.len()}}),
        7 => json!({"id": "a", "choices": [{"index": 1, "delta": {"content": text}}]}),
        8 => json!({"id": "a", "choices": [{"delta": {"content": text}, "logprobs": {"content": [1]}}]}),
        _ => json!({"id": "a", "choices": [{"delta": {"content": text}, "finish_reason": "length"}]}),
    }
    .to_string()
}

proptest::proptest! {
    #[test]
    fn a_chunk_that_is_like_the_one_before_says_what_it_says_alone(
        think in proptest::bool::ANY,
        continues in proptest::option::of("[a]{1,3}"),
        chunks in proptest::collection::vec((0..10_u8, 1..4_usize, "(<think>|</think>)?[a\"\\\\\n\u{e4}]{0,3}"), 1..12),
    ) {
        let dialect = Dialect {
            extract_think_tags: think,
            // One whose hosts may repeat the beginning.
            ..Dialect::mistral()
        };
        let options = DecodeOptions {
            continues,
            ..options(true)
        };
        let [mut quick, mut slow] = [(); 2].map(|()| StreamDecoder::new(&dialect, options.clone()));
        let (mut quick_events, mut slow_events) = (Vec::new(), Vec::new());
        for (kind, repeats, text) in chunks {
            for repeat in 0..repeats {
                let chunk = chunk_of(kind, &format!("{text}{repeat}"));
                slow.state.envelope.forget();
                let ends = [
                    quick.feed("", &chunk, &mut quick_events).is_ok(),
                    slow.feed("", &chunk, &mut slow_events).is_ok(),
                ];
                proptest::prop_assert_eq!(ends, [true, true]);
            }
        }
        let ends = [
            quick.finish(&mut quick_events).is_ok(),
            slow.finish(&mut slow_events).is_ok(),
        ];
        proptest::prop_assert_eq!(ends[0], ends[1]);
        proptest::prop_assert_eq!(format!("{quick_events:?}"), format!("{slow_events:?}"));
    }
}
