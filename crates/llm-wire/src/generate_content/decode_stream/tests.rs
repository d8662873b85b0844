use super::*;
use crate::generate_content::decode_response;
use llm_core::{
    Block, ChatResponse, Collector, Grammar, ModelId, ResponseMeta, Usage, VendorId, WarningKind,
};
use serde_json::{Value, json};

fn options(include_reasoning: bool) -> DecodeOptions {
    DecodeOptions {
        include_reasoning,
        ..DecodeOptions::default()
    }
}

/// Reads a stream of these chunks, and checks its grammar.
fn read_with(options: DecodeOptions, chunks: &[Value]) -> Result<ChatResponse> {
    let mut decoder = StreamDecoder::new(&Dialect::gemini(), options);
    let mut events = Vec::new();
    let fed = chunks
        .iter()
        .try_for_each(|chunk| decoder.feed("", &chunk.to_string(), &mut events));
    let outcome = fed.and_then(|()| decoder.finish(&mut events));
    if outcome.is_err() {
        decoder.interrupt(&mut events);
    }
    let mut grammar = Grammar::default();
    let mut collector = Collector::default();
    for event in events {
        grammar.check(&event).unwrap();
        collector.push(event).unwrap();
    }
    outcome?;
    collector.finish()
}

fn read(chunks: &[Value]) -> ChatResponse {
    read_with(options(true), chunks).unwrap()
}

fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]})
}

fn end(reason: &str) -> Value {
    json!({"candidates": [{"finishReason": reason, "index": 0}]})
}

/// What the blocks are, with their text and their state.
fn blocks(response: &ChatResponse) -> Vec<(&'static str, &str, Option<&Value>)> {
    response
        .blocks
        .iter()
        .map(|block| match block {
            Block::Text(part) => ("text", part.text.as_str(), part.replay.as_ref()),
            Block::Reasoning(part) => ("reasoning", part.text.as_str(), part.replay.as_ref()),
            Block::ToolCall(call) => ("call", call.arguments.as_str(), call.replay.as_ref()),
            Block::Opaque(part) => ("opaque", part.kind.as_str(), Some(&part.replay)),
            _ => ("other", "", None),
        })
        .map(|(kind, text, replay)| (kind, text, replay.map(|replay| &replay.data)))
        .collect()
}

#[test]
fn pieces_are_joined_and_signed_ones_stand_alone() {
    let response = read(&[
        parts(json!([{"text": "I should ", "thought": true}, {"text": "add.", "thought": true}])),
        parts(json!([{"text": "The sum "}])),
        parts(json!([{"text": "is "}, {"text": "12", "thoughtSignature": "QQ=="}, {"text": "."}])),
        parts(json!([{"text": "", "thoughtSignature": "Qg=="}])),
        end("STOP"),
    ]);
    let signed = |signature: &str| json!({"thoughtSignature": signature});
    assert_eq!(
        blocks(&response),
        [
            ("reasoning", "I should add.", None),
            ("text", "The sum is ", None),
            ("text", "12", Some(&signed("QQ=="))),
            ("text", ".", None),
            ("text", "", Some(&signed("Qg=="))),
        ]
    );
    assert_eq!(response.finish.kind, FinishKind::Stop);
}

#[test]
fn a_thought_that_is_not_shown_goes_back_with_its_signature() {
    let chunks = [
        parts(json!([{"text": "hm", "thought": true}])),
        parts(json!([{"text": "secret", "thought": true, "thoughtSignature": "QQ=="}, {"text": "a"}])),
        end("STOP"),
    ];
    let response = read_with(options(false), &chunks).unwrap();
    let state = json!({"text": "secret", "thoughtSignature": "QQ=="});
    assert_eq!(
        blocks(&response),
        [("reasoning", "", Some(&state)), ("text", "a", None)]
    );
}

#[test]
fn state_says_which_model_it_is_of_and_whose_id_a_call_has() {
    let mut options = options(true);
    options.meta.requested_model = Some(ModelId::new("gemini-flash-latest").unwrap());
    let chunks = [
        parts(json!([
            {"functionCall": {"id": "f-1", "name": "a", "args": {"x": 3.0}}, "thoughtSignature": "QQ=="},
            {"functionCall": {"name": "a"}},
            {"functionCall": {"id": "f-1", "name": "b", "args": {}}},
        ])),
        end("STOP"),
    ];
    let response = read_with(options, &chunks).unwrap();
    let calls: Vec<_> = response.tool_calls().collect();
    assert_eq!(calls[0].id, "f-1");
    assert!(calls[1].id.starts_with("call_") && calls[2].id.starts_with("call_"));
    assert_ne!(calls[1].id, calls[2].id);
    assert_eq!(
        blocks(&response),
        [
            (
                "call",
                "{\"x\":3.0}",
                Some(&json!({"id": "f-1", "thoughtSignature": "QQ=="}))
            ),
            ("call", "{}", Some(&json!({}))),
            ("call", "{}", Some(&json!({"id": "f-1"}))),
        ]
    );
    let origin = &calls[0].replay.as_ref().unwrap().origin;
    assert_eq!(origin.vendor, VendorId::from_static("gemini"));
    assert_eq!(origin.model.as_ref().unwrap().as_str(), "gemini-flash-latest");
    assert_eq!(response.finish.kind, FinishKind::ToolCalls);
}

#[test]
fn pieces_without_a_neutral_form_are_kept_whole() {
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}, "thoughtSignature": "QQ=="});
    let code = json!({"executableCode": {"language": "PYTHON", "code": "1"}});
    let new = json!({"brandNew": [1], "thought": true});
    let response = read(&[parts(json!([image, code, {}, {"text": null}, new])), end("STOP")]);
    assert_eq!(
        blocks(&response),
        [
            ("opaque", "inlineData", Some(&image)),
            ("opaque", "executableCode", Some(&code)),
            ("opaque", "brandNew", Some(&new)),
        ]
    );
}

#[test]
fn calls_that_cannot_be_run_are_incomplete() {
    let piece =
        json!({"name": "f", "partialArgs": [{"jsonPath": "$.a", "stringValue": "x"}], "willContinue": true});
    let response = read(&[
        parts(json!([{"functionCall": piece}, {"functionCall": {}}])),
        parts(
            json!([{"functionCall": {"args": {"a": 1}}}, {"functionCall": {"name": "g", "args": "{\"half\":"}}]),
        ),
        end("STOP"),
    ]);
    assert_eq!(response.tool_calls().count(), 0);
    let cut: Vec<_> = response
        .incomplete_tool_calls
        .iter()
        .map(|call| (call.name.as_str(), call.arguments.as_str()))
        .collect();
    assert_eq!(cut, [("f", ""), ("", "{\"a\":1}"), ("g", "{\"half\":")]);
    assert_eq!(response.finish.kind, FinishKind::Stop);
    assert_eq!(response.warnings.len(), 1);
}

#[test]
fn every_reason_has_a_kind() {
    let call = || parts(json!([{"functionCall": {"name": "f", "args": {}}}]));
    for (word, without, with) in [
        ("STOP", FinishKind::Stop, FinishKind::ToolCalls),
        ("MAX_TOKENS", FinishKind::Length, FinishKind::Length),
        ("CONTINUATION", FinishKind::Length, FinishKind::Length),
        ("SAFETY", FinishKind::ContentFilter, FinishKind::ContentFilter),
        (
            "IMAGE_OTHER",
            FinishKind::ContentFilter,
            FinishKind::ContentFilter,
        ),
        (
            "MALFORMED_FUNCTION_CALL",
            FinishKind::ModelFault,
            FinishKind::ModelFault,
        ),
        ("ESCALATION", FinishKind::Other, FinishKind::Other),
        ("BRAND_NEW", FinishKind::Other, FinishKind::Other),
    ] {
        let silent = read(&[end(word)]);
        assert_eq!(
            (silent.finish.kind, silent.finish.raw.as_deref()),
            (without, Some(word))
        );
        assert_eq!(read(&[call(), end(word)]).finish.kind, with, "{word}");
    }
}

#[test]
fn a_stream_without_a_reason_is_cut_off() {
    for chunks in [
        vec![parts(json!([{"text": "half"}]))],
        vec![
            parts(json!([{"text": "half"}])),
            end("FINISH_REASON_UNSPECIFIED"),
            end(""),
        ],
        vec![],
    ] {
        let error = read_with(options(true), &chunks).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
    }
}

#[test]
fn a_blocked_prompt_is_a_failure_and_a_block_later_on_is_an_end() {
    let block = |reason: &str| json!({"promptFeedback": {"blockReason": reason}, "usageMetadata": {"promptTokenCount": 7}});
    let error = read_with(options(true), &[block("PROHIBITED_CONTENT")]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ContentFilter);
    assert_eq!(error.vendor().code.as_deref(), Some("PROHIBITED_CONTENT"));
    let cut = read(&[parts(json!([{"text": "Well"}])), block("SAFETY")]);
    assert_eq!(cut.text(), "Well");
    assert_eq!(
        cut.finish,
        FinishReason::new(FinishKind::ContentFilter, Some("SAFETY".to_owned()))
    );
    for nothing in ["", "BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED"] {
        assert_eq!(
            read(&[block(nothing), end("STOP")]).finish.kind,
            FinishKind::Stop,
            "{nothing}"
        );
    }
}

#[test]
fn usage_is_a_running_total_of_several_counts() {
    let usage = |usage: Value| {
        let mut last = end("STOP");
        last["usageMetadata"] = usage;
        let first = json!({"usageMetadata": {"promptTokenCount": 9, "thoughtsTokenCount": 20, "totalTokenCount": 29}});
        read(&[first, parts(json!([{"text": "a"}])), last]).usage
    };
    let mut expected = Usage::new(12, 26);
    expected.reasoning_tokens = Some(20);
    expected.cached_input_tokens = Some(4);
    let counts = json!({"promptTokenCount": "9", "toolUsePromptTokenCount": 3, "candidatesTokenCount": 6.0,
        "cachedContentTokenCount": 4, "totalTokenCount": 38, "serviceTier": "flex"});
    assert_eq!(usage(counts), expected);
    let nothing_out = read(&[json!({"candidates": [{"finishReason": "MAX_TOKENS"}],
        "usageMetadata": {"promptTokenCount": 5, "totalTokenCount": 5}})]);
    assert_eq!(nothing_out.usage, Usage::new(5, 0));
    assert_eq!(read(&[end("STOP")]).usage, Usage::default());
}

#[test]
fn reports_are_put_together() {
    let chunk = |citation: &str, rating: &str| {
        json!({"candidates": [{"content": {"parts": [{"text": "a"}]}, "safetyRatings": [{"probability": rating}],
            "citationMetadata": {"citationSources": [{"uri": citation}]}}]})
    };
    let mut last = end("CONTINUATION");
    last["candidates"][0]["continuationToken"] = json!("QQ==");
    last["createTime"] = json!("2026-11-29T10:00:00Z");
    let response = read(&[chunk("u1", "LOW"), chunk("u2", "HIGH"), last]);
    let own = response.metadata.of("gemini").unwrap();
    assert_eq!(
        own["citationMetadata"],
        json!({"citationSources": [{"uri": "u1"}, {"uri": "u2"}]})
    );
    assert_eq!(own["safetyRatings"], json!([{"probability": "HIGH"}]));
    assert_eq!(own["continuationToken"], "QQ==");
    assert_eq!(own["createTime"], "2026-11-29T10:00:00Z");
}

#[test]
fn the_first_chunk_says_who_answers() {
    let mut chunk = parts(json!([{"text": "a"}]));
    chunk["modelVersion"] = json!("gemini-3.8-flash");
    chunk["responseId"] = json!("r-1");
    chunk["usageMetadata"] = json!({"serviceTier": "priority"});
    let meta = read(&[chunk, end("STOP")]).meta;
    let mut expected = ResponseMeta::default();
    expected.id = Some("r-1".into());
    expected.model = Some("gemini-3.8-flash".into());
    expected.service_tier = Some("priority".into());
    assert_eq!(meta, expected);
}

#[test]
fn only_the_first_candidate_is_read() {
    let response = read(&[json!({"candidates": [
        {"index": 1, "content": {"parts": [{"text": "b"}]}, "finishReason": "SAFETY"},
        {"index": 0, "content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"},
    ]})]);
    assert_eq!(
        (response.text().as_str(), response.finish.kind),
        ("a", FinishKind::Stop)
    );
    assert_eq!(response.warnings[0].kind, WarningKind::Wire);
}

#[test]
fn failures_inside_a_200_are_found_in_every_wrapping() {
    for data in [
        r#"{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}"#,
        r#"{"error":{"message":"m","status":"UNAVAILABLE"}}"#,
        r#"[{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}]"#,
        r#"{"message":"m","code":503}"#,
    ] {
        let mut decoder = StreamDecoder::new(&Dialect::gemini(), options(true));
        let error = decoder.feed("", data, &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Overloaded, "{data}");
        let error = decode_response(&Dialect::gemini(), options(true), data.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Overloaded, "{data}");
    }
    for garbage in ["[]", "[1]", "[[]]", "nonsense", "{\"half\":", "7"] {
        let mut decoder = StreamDecoder::new(&Dialect::gemini(), options(true));
        let error = decoder.feed("", garbage, &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{garbage}");
    }
}

#[test]
fn a_plain_answer_may_lack_its_reason_and_may_be_a_list() {
    let plain = |body: Value| decode_response(&Dialect::gemini(), options(true), body.to_string().as_bytes());
    let response = plain(parts(json!([{"text": "a"}]))).unwrap();
    assert_eq!(response.finish, FinishReason::new(FinishKind::Stop, None));
    let list = plain(json!([
        parts(json!([{"text": "a"}])),
        parts(json!([{"text": "b"}])),
        end("STOP")
    ]))
    .unwrap();
    assert_eq!(list.text(), "ab");
    let cut = plain(json!([parts(json!([{"text": "a"}]))])).unwrap_err();
    assert_eq!(cut.kind(), ErrorKind::Interrupted);
    for nothing in [json!({}), json!({"candidates": []}), json!({"usageMetadata": {}})] {
        assert_eq!(plain(nothing).unwrap_err().kind(), ErrorKind::Protocol);
    }
    let blocked = plain(json!({"promptFeedback": {"blockReason": "SAFETY"}})).unwrap_err();
    assert_eq!(blocked.kind(), ErrorKind::ContentFilter);
}

#[test]
fn a_field_of_another_form_costs_that_field() {
    let mut chunk = parts(json!([{"text": 7}, {"text": "a"}, null]));
    chunk["modelVersion"] = json!(3);
    chunk["candidates"][0]["finishReason"] = json!("STOP");
    let response = read(&[chunk]);
    assert_eq!(response.text(), "a");
    assert!(response.warnings.len() >= 3, "{:?}", response.warnings);
}

#[test]
fn names_come_back_as_the_caller_wrote_them() {
    let names = crate::tool_names::ToolNames::beginning_with(
        ["2nd"].into_iter(),
        crate::tool_names::NameRule {
            takes: |c| c.is_ascii_alphanumeric() || c == '_',
            longest: 9,
        },
        |c| !c.is_ascii_digit(),
    );
    let options = options(true).with_tool_names(names);
    let call = parts(json!([{"functionCall": {"name": "_2nd", "args": {}}}]));
    let response = read_with(options, &[call, end("STOP")]).unwrap();
    assert_eq!(response.tool_calls().next().unwrap().name, "2nd");
}
