mod cut_off;

use super::*;
use llm_core::{
    Block, ChatResponse, Collector, Grammar, OpaquePart, Origin, ReasoningPart, Replay, TextPart, ToolCall,
};
use serde_json::json;

fn replay(data: Value) -> Replay {
    Replay::new(Origin::new(Dialect::anthropic().vendor), data)
}

fn options(include: bool) -> DecodeOptions {
    DecodeOptions {
        include_reasoning: include,
        ..DecodeOptions::default()
    }
}

/// Feeds events, named by their type, and reads what came of them, finished or not.
fn feed(options: DecodeOptions, events: &[Value]) -> (Vec<ChatEvent>, Result<()>) {
    let mut decoder = StreamDecoder::new(&Dialect::anthropic(), options);
    let mut out = Vec::new();
    let fed = events.iter().try_for_each(|event| {
        let name = event["type"].as_str().unwrap_or_default().to_owned();
        decoder.feed(&name, &event.to_string(), &mut out)
    });
    let outcome = match fed {
        Ok(()) => decoder.finish(&mut out),
        Err(error) => {
            decoder.interrupt(&mut out);
            Err(error)
        }
    };
    let mut grammar = Grammar::default();
    for event in &out {
        grammar.check(event).unwrap();
    }
    (out, outcome)
}

fn fold(events: Vec<ChatEvent>) -> ChatResponse {
    let mut collector = Collector::default();
    for event in events {
        collector.push(event).unwrap();
    }
    collector.partial()
}

/// The answer of a stream that ends well.
fn read(include: bool, events: &[Value]) -> ChatResponse {
    let (events, outcome) = feed(options(include), events);
    outcome.unwrap();
    fold(events)
}

fn begin() -> Value {
    let usage = json!({"input_tokens": 5, "output_tokens": 1, "service_tier": "standard"});
    json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant",
        "model": "claude-opus-5-5", "content": [], "stop_reason": null, "usage": usage}})
}

fn start(index: u32, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u32, kind: &str, field: &str, value: &str) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": {"type": kind, field: value}})
}

fn text(index: u32, text: &str) -> Value {
    delta(index, "text_delta", "text", text)
}

fn input(index: u32, json: &str) -> Value {
    delta(index, "input_json_delta", "partial_json", json)
}

fn stop(index: u32) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn end(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ]
}

fn whole(blocks: impl IntoIterator<Item = Value>, reason: &str) -> Vec<Value> {
    let mut events = vec![begin()];
    events.extend(blocks);
    events.extend(end(reason));
    events
}

fn call(index: u32, id: &str) -> Value {
    start(
        index,
        json!({"type": "tool_use", "id": id, "name": "f", "input": {}}),
    )
}

#[test]
fn the_message_names_itself() {
    let response = read(false, &whole([], "end_turn"));
    assert_eq!(response.meta.id.as_deref(), Some("msg_1"));
    assert_eq!(response.meta.model.as_deref(), Some("claude-opus-5-5"));
    assert_eq!(response.meta.service_tier.as_deref(), Some("standard"));
    assert_eq!(response.usage, Usage::new(5, 9));
    assert_eq!(
        response.finish,
        FinishReason::new(FinishKind::Stop, "end_turn".to_owned())
    );
}

#[test]
fn thoughts_are_shown_only_where_wanted_and_signed_ones_go_back_either_way() {
    let events = whole(
        [
            start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
            delta(0, "thinking_delta", "thinking", "two and "),
            delta(0, "thinking_delta", "thinking", "two"),
            delta(0, "signature_delta", "signature", "SIG"),
            stop(0),
            start(1, json!({"type": "thinking", "thinking": "unsigned"})),
            stop(1),
            start(2, json!({"type": "text", "text": "four"})),
            stop(2),
        ],
        "end_turn",
    );
    let block = json!({"type": "thinking", "thinking": "two and two", "signature": "SIG"});
    let signed = |text: &str| Block::Reasoning(ReasoningPart::new(text).with_replay(replay(block.clone())));
    assert_eq!(
        read(true, &events).blocks,
        [
            signed("two and two"),
            Block::Reasoning(ReasoningPart::new("unsigned")),
            Block::Text(TextPart::new("four"))
        ]
    );
    assert_eq!(
        read(false, &events).blocks,
        [signed(""), Block::Text(TextPart::new("four"))]
    );
    let (events, _) = feed(options(false), &events);
    let alive = events
        .iter()
        .filter(|event| **event == ChatEvent::KeepAlive)
        .count();
    assert_eq!(alive, 3, "a thought that is not shown is still proof of life");
}

#[test]
fn a_hidden_thought_keeps_its_signature() {
    let thought = json!({"type": "thinking", "thinking": "", "signature": ""});
    let events = whole(
        [
            start(0, thought),
            delta(0, "signature_delta", "signature", "SIG"),
            stop(0),
        ],
        "end_turn",
    );
    let block = json!({"type": "thinking", "thinking": "", "signature": "SIG"});
    for include in [false, true] {
        let part = ReasoningPart::default().with_replay(replay(block.clone()));
        assert_eq!(read(include, &events).blocks, [Block::Reasoning(part)]);
    }
}

#[test]
fn citations_belong_to_their_text_and_are_reported() {
    let cite = |n: u32| json!({"type": "char_location", "n": n});
    let events = whole(
        [
            start(0, json!({"type": "text", "text": "", "citations": [cite(1)]})),
            text(0, "so it is"),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": cite(2)}}),
            stop(0),
        ],
        "end_turn",
    );
    let response = read(false, &events);
    let citations = json!({"citations": [cite(1), cite(2)]});
    assert_eq!(
        response.blocks,
        [Block::Text(
            TextPart::new("so it is").with_replay(replay(citations.clone()))
        )]
    );
    assert_eq!(
        response.metadata.of("anthropic").unwrap()["citations"],
        citations["citations"]
    );
}

#[test]
fn pieces_of_the_vendors_own_come_whole() {
    let server = json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{"a": null}]});
    let events = whole(
        [
            start(0, server),
            input(0, "{\"query\""),
            input(0, ": \"x\"}"),
            stop(0),
            start(1, found.clone()),
            stop(1),
            start(2, json!({"type": "compaction", "content": null})),
            delta(2, "compaction_delta", "content", "what was said"),
            stop(2),
        ],
        "pause_turn",
    );
    let response = read(false, &events);
    let piece = |kind: &str, data: Value| Block::Opaque(OpaquePart::new(kind, replay(data)));
    assert_eq!(
        response.blocks,
        [
            piece(
                "server_tool_use",
                json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}})
            ),
            piece("web_search_tool_result", found),
            piece(
                "compaction",
                json!({"type": "compaction", "content": "what was said"})
            ),
        ]
    );
    assert_eq!(response.finish.kind, FinishKind::Pause);
    assert!(!read(false, &events).tool_calls().any(|_| true));
}

#[test]
fn a_vendors_call_that_was_cut_off_is_left_out() {
    let server = json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}});
    let response = read(
        false,
        &whole([start(0, server), input(0, "{\"que"), stop(0)], "max_tokens"),
    );
    assert!(response.blocks.is_empty());
    assert_eq!(response.warnings.len(), 1);
}

#[test]
fn calls_keep_their_text_and_the_vendors_fields() {
    let called =
        json!({"type": "tool_use", "id": "t1", "name": "f", "input": {}, "caller": {"type": "direct"}});
    let response = read(
        false,
        &whole(
            [
                start(0, called),
                input(0, ""),
                input(0, "{\"a\":"),
                input(0, " 1.0}"),
                stop(0),
            ],
            "tool_use",
        ),
    );
    let call =
        ToolCall::new("t1", "f", "{\"a\": 1.0}").with_replay(replay(json!({"caller": {"type": "direct"}})));
    assert_eq!(response.blocks, [Block::ToolCall(call)]);
    assert_eq!(response.finish.kind, FinishKind::ToolCalls);
}

#[test]
fn a_call_that_was_cut_before_its_arguments_is_never_run() {
    for blocks in [vec![call(0, "t1"), stop(0)], vec![call(0, "t1")]] {
        let cut = read(false, &whole(blocks.clone(), "max_tokens"));
        assert_eq!((cut.blocks.len(), cut.incomplete_tool_calls.len()), (0, 1));
        assert_eq!(cut.finish.kind, FinishKind::Length);
        let fine = read(false, &whole(blocks, "end_turn"));
        assert_eq!(
            (fine.tool_calls().count(), fine.finish.kind),
            (1, FinishKind::ToolCalls)
        );
    }
    let first_of_two = [call(0, "t1"), stop(0), call(1, "t2"), input(1, "{\"a"), stop(1)];
    let response = read(false, &whole(first_of_two, "max_tokens"));
    assert_eq!(response.tool_calls().next().unwrap().id, "t1");
    assert_eq!(response.incomplete_tool_calls[0].id, "t2");
}

#[test]
fn calls_without_names_or_with_broken_arguments_are_incomplete() {
    let nameless = start(0, json!({"type": "tool_use", "id": "t1", "input": {"a": 1}}));
    let broken = [call(1, "t2"), input(1, "{\"a\": }"), stop(1)];
    let response = read(
        false,
        &whole([nameless, stop(0)].into_iter().chain(broken), "tool_use"),
    );
    let cut: Vec<_> = response
        .incomplete_tool_calls
        .iter()
        .map(|call| &*call.arguments)
        .collect();
    assert_eq!(cut, ["{\"a\":1}", "{\"a\": }"]);
    assert_eq!(response.finish.kind, FinishKind::ToolCalls, "it did call");
}

#[test]
fn ids_are_given_where_they_are_missing_or_used_twice() {
    let without = start(0, json!({"type": "tool_use", "name": "f", "input": {}}));
    let events = whole(
        [without, stop(0), call(1, "t"), stop(1), call(2, "t"), stop(2)],
        "tool_use",
    );
    let ids = |response: ChatResponse| {
        response
            .tool_calls()
            .map(|call| call.id.clone())
            .collect::<Vec<_>>()
    };
    let first = ids(read(false, &events));
    assert_eq!(first.len(), 3);
    assert_eq!(first[1], "t");
    assert!(first[0] != first[2] && first.iter().all(|id| !id.is_empty()));
    assert_eq!(ids(read(false, &events)), first, "the same for the same answer");
}

#[test]
fn calls_come_back_under_the_callers_names() {
    let names = ["fs.read"];
    let rule = crate::tool_names::NameRule {
        takes: |c| c != '.',
        longest: 64,
    };
    let renamed = crate::ToolNames::new(names.into_iter(), rule);
    let called = start(
        0,
        json!({"type": "tool_use", "id": "t", "name": renamed.sent("fs.read"), "input": {}}),
    );
    let (events, _) = feed(
        options(false).with_tool_names(renamed),
        &whole([called, stop(0)], "tool_use"),
    );
    assert_eq!(fold(events).tool_calls().next().unwrap().name, "fs.read");
}

#[test]
fn counts_are_running_totals() {
    let usage = json!({"input_tokens": 3, "cache_read_input_tokens": 200, "cache_creation_input_tokens": 46,
        "cache_creation": {"ephemeral_5m_input_tokens": 6, "ephemeral_1h_input_tokens": 40}, "output_tokens": 1});
    let later = json!({"output_tokens": 70, "input_tokens": null, "output_tokens_details": {"thinking_tokens": 60},
        "server_tool_use": {"web_search_requests": 2}});
    let response = read(
        false,
        &[
            json!({"type": "message_start", "message": {"id": "m", "usage": usage}}),
            json!({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 30}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": later}),
        ],
    );
    let mut expected = Usage::new(249, 70);
    expected.cached_input_tokens = Some(200);
    expected.cache_write_input_tokens = Some(46);
    expected.cache_write_long_input_tokens = Some(40);
    expected.reasoning_tokens = Some(60);
    assert_eq!(response.usage, expected);
    assert_eq!(
        response.metadata.of("anthropic").unwrap()["server_tool_use"]["web_search_requests"],
        2
    );
}

#[test]
fn steps_are_added_up_unless_another_model_took_part() {
    let step = |kind: &str, input: u32| {
        json!({"type": kind, "input_tokens": input, "output_tokens": 2,
        "cache_read_input_tokens": 1, "cache_creation_input_tokens": 0})
    };
    let usage = |steps: Value| {
        let usage = json!({"input_tokens": 10, "output_tokens": 5, "iterations": steps});
        let end = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage});
        read(false, &[begin(), end]).usage
    };
    let billed = usage(json!([
        step("compaction", 100),
        step("message", 10),
        step("advisor", 7)
    ]));
    assert_eq!((billed.input_tokens, billed.output_tokens), (Some(112), Some(4)));
    let fallback = usage(json!([step("message", 10), step("fallback_message", 9)]));
    assert_eq!(
        (fallback.input_tokens, fallback.output_tokens),
        (Some(10), Some(5))
    );
}

#[test]
fn bedrocks_counts_fill_in_what_is_missing() {
    let metrics = json!({"inputTokenCount": 7, "outputTokenCount": 8});
    let last = json!({"type": "message_stop", "amazon-bedrock-invocationMetrics": metrics});
    let begin = json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 5}}});
    let response = read(false, &[begin, last]);
    assert_eq!(response.usage, Usage::new(5, 8));
    let guarded = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
        "amazon-bedrock-guardrailAction": "INTERVENED"});
    assert_eq!(read(false, &[guarded]).finish.kind, FinishKind::ContentFilter);
}

#[test]
fn every_stop_reason_has_its_word() {
    for (word, kind) in [
        ("end_turn", FinishKind::Stop),
        ("stop_sequence", FinishKind::Stop),
        ("max_tokens", FinishKind::Length),
        ("model_context_window_exceeded", FinishKind::Length),
        ("tool_use", FinishKind::Stop),
        ("pause_turn", FinishKind::Pause),
        ("compaction", FinishKind::Pause),
        ("refusal", FinishKind::Refusal),
        ("of_the_future", FinishKind::Other),
    ] {
        let response = read(false, &whole([], word));
        assert_eq!(
            response.finish,
            FinishReason::new(kind, word.to_owned()),
            "{word}"
        );
    }
    let refused = read(false, &whole([call(0, "t"), stop(0)], "refusal"));
    assert_eq!(
        refused.finish.kind,
        FinishKind::Refusal,
        "a refused turn is not run"
    );
}

#[test]
fn what_only_this_vendor_says_is_kept() {
    let response = read(
        false,
        &[
            begin(),
            json!({"type": "message_delta", "context_management": {"applied_edits": [1]},
                "delta": {"stop_reason": "stop_sequence", "stop_sequence": "END", "stop_details": null}}),
        ],
    );
    let own = response.metadata.of("anthropic").unwrap();
    assert_eq!(own["stop_sequence"], "END");
    assert_eq!(own["context_management"], json!({"applied_edits": [1]}));
    assert!(!own.contains_key("stop_details"));
}

#[test]
fn failures_inside_the_stream_have_the_kind_of_their_own_status() {
    for (kind, expected) in [
        ("overloaded_error", ErrorKind::Overloaded),
        ("rate_limit_error", ErrorKind::RateLimit),
        ("api_error", ErrorKind::Server),
        ("timeout_error", ErrorKind::Timeout),
        ("invalid_request_error", ErrorKind::InvalidRequest),
        ("of_the_future", ErrorKind::Server),
    ] {
        let failure =
            json!({"type": "error", "error": {"type": kind, "message": "no"}, "request_id": "req_1"});
        let (_, outcome) = feed(options(false), &[begin(), failure]);
        let error = outcome.unwrap_err();
        assert_eq!((error.kind(), error.phase()), (expected, Phase::Sent), "{kind}");
        assert_eq!(error.vendor().request_id.as_deref(), Some("req_1"));
    }
    let failure = json!({"type": "error", "error": {"type": "overloaded_error"}});
    let blocks = [
        begin(),
        start(0, json!({"type": "text", "text": "half"})),
        failure,
    ];
    let (events, outcome) = feed(options(false), &blocks);
    assert_eq!(outcome.unwrap_err().phase(), Phase::Streaming);
    assert_eq!(fold(events).text(), "half");
}

#[test]
fn a_stream_that_just_ends_is_interrupted() {
    let blocks = [
        begin(),
        start(0, json!({"type": "text", "text": "half"})),
        call(1, "t"),
        input(1, "{}"),
    ];
    let (events, outcome) = feed(options(false), &blocks);
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Interrupted);
    let partial = fold(events);
    assert_eq!(partial.text(), "half");
    assert_eq!(partial.incomplete_tool_calls.len(), 1);
    let (events, outcome) = feed(options(false), &[]);
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Interrupted);
    assert!(events.is_empty());
}

#[test]
fn a_second_message_is_an_error_and_its_repetition_is_not() {
    let response = read(false, &whole([begin()], "end_turn"));
    assert_eq!(response.usage, Usage::new(5, 9));
    let other = json!({"type": "message_start", "message": {"id": "msg_2"}});
    let (_, outcome) = feed(options(false), &[begin(), other]);
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Protocol);
}

#[test]
fn what_is_missing_or_new_costs_only_itself() {
    let response = read(
        false,
        &[
            json!({"type": "of_the_future"}),
            json!({"type": "content_block_delta", "delta": {"text": "He"}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "of_the_future", "text": "x"}}),
            json!({"type": "content_block_delta", "index": 0.0, "delta": {"type": "text_delta", "text": "llo"}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": 7}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta"}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": "much"}),
        ],
    );
    assert_eq!(response.text(), "Hello");
    assert_eq!(response.warnings.len(), 3, "{:?}", response.warnings);
}

#[test]
fn data_may_be_nothing_and_lists_are_errors() {
    let mut decoder = StreamDecoder::new(&Dialect::anthropic(), options(false));
    let mut out = Vec::new();
    decoder.feed("", "", &mut out).unwrap();
    decoder.feed("ping", ": waiting", &mut out).unwrap();
    assert!(out.is_empty());
    decoder
        .feed("message_start", r#"{"message":{"id":"m"}}"#, &mut out)
        .unwrap();
    decoder.feed("ping", r#"{"type":"ping"}"#, &mut out).unwrap();
    assert_eq!(out.last(), Some(&ChatEvent::KeepAlive));
    for (data, kind) in [
        (
            "[{\"error\":{\"type\":\"rate_limit_error\"}}]",
            ErrorKind::RateLimit,
        ),
        ("[1]", ErrorKind::Protocol),
        ("{", ErrorKind::Protocol),
    ] {
        assert_eq!(
            decoder.feed("", data, &mut out).unwrap_err().kind(),
            kind,
            "{data}"
        );
    }
    decoder
        .feed_unterminated("", "{\"type\":\"mess", &mut out)
        .unwrap();
    decoder.feed_unterminated("message_stop", "{}", &mut out).unwrap();
    assert!(decoder.is_done());
    decoder.feed("error", "{}", &mut out).unwrap();
    decoder.finish(&mut out).unwrap();
}

#[test]
fn many_open_blocks_are_closed_from_the_first() {
    let blocks = (0..100).map(|index| start(index, json!({"type": "text", "text": "a"})));
    let response = read(false, &whole(blocks, "end_turn"));
    assert_eq!(response.blocks.len(), 100);
}

#[test]
fn long_cache_writes_of_all_steps_count() {
    let step = |kind: &str, short: u64, long: u64| {
        json!({"type": kind, "input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": short + long,
            "cache_creation": {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": long}})
    };
    let mut usage = step("message", 1, 40);
    usage["iterations"] = json!([step("compaction", 2, 100), step("message", 1, 40)]);
    let body =
        json!({"type": "message", "content": [], "stop_reason": "end_turn", "usage": usage}).to_string();
    let options = DecodeOptions::default();
    let response = crate::messages::decode_response(&Dialect::anthropic(), options, body.as_bytes()).unwrap();
    assert_eq!(response.usage.cache_write_input_tokens, Some(143));
    assert_eq!(response.usage.cache_write_long_input_tokens, Some(140));
    assert_eq!(response.usage.input_tokens, Some(163));
}
