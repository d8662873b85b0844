use super::*;
use llm_core::{
    CachePoint, CacheTtl, ContentPart, MediaSource, OutputFormat, Reasoning, ReasoningEffort as Effort, Role,
    ToolChoice,
};
use serde_json::json;

fn with(fields: Value) -> Value {
    let mut body = json!({"model": "demo", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]});
    let fields = fields.as_object().unwrap().clone();
    body.as_object_mut().unwrap().extend(fields);
    body
}

fn decoded(body: &Value) -> DecodedRequest {
    decode_request(body.to_string().as_bytes()).unwrap()
}

/// The request; nothing may be warned about.
fn read(fields: Value) -> ChatRequest {
    let decoded = decoded(&with(fields));
    assert_eq!(decoded.warnings, []);
    decoded.request
}

/// The fields that are warned about.
fn warned(fields: Value) -> Vec<String> {
    decoded(&with(fields))
        .warnings
        .into_iter()
        .map(|warning| warning.field)
        .collect()
}

/// The field that a request is refused for.
fn refused(body: &Value) -> String {
    let error = decode_request(body.to_string().as_bytes()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{error}");
    error.vendor().param.clone().unwrap_or_default()
}

fn user(content: Value) -> Value {
    json!({"messages": [{"role": "user", "content": content}]})
}

/// The parts of the one message of the user's.
fn parts(content: Value) -> Vec<ContentPart> {
    let mut request = read(user(content));
    request.messages.pop().unwrap().content
}

/// The parts of a message of the assistant's.
fn said(content: Value) -> Vec<ContentPart> {
    let mut request = read(json!({"messages": [{"role": "assistant", "content": content}]}));
    request.messages.pop().unwrap().content
}

#[test]
fn what_must_be_there_must_be_there() {
    for (missing, field) in [
        ("model", "model"),
        ("max_tokens", "max_tokens"),
        ("messages", "messages"),
    ] {
        let mut body = with(json!({}));
        body.as_object_mut().unwrap().remove(missing);
        assert_eq!(refused(&body), field);
    }
    assert_eq!(refused(&with(json!({"messages": []}))), "messages");
    assert_eq!(refused(&with(json!({"messages": "hi"}))), "messages");
    assert_eq!(refused(&with(json!({"max_tokens": 0}))), "max_tokens");
    assert_eq!(refused(&with(json!({"model": "a b"}))), "model");
    for body in ["[]", "{\"model\":", ""] {
        assert_eq!(
            decode_request(body.as_bytes()).unwrap_err().kind(),
            ErrorKind::InvalidRequest
        );
    }
    let mut body = with(json!({}));
    body.as_object_mut().unwrap().remove("max_tokens");
    let counted = decode_count_request(body.to_string().as_bytes()).unwrap();
    assert_eq!(counted.request.max_output_tokens, None);
}

#[test]
fn an_invoked_model_stands_elsewhere() {
    let body = json!({"anthropic_version": "2026-10-21", "anthropic_beta": ["a"], "max_tokens": 9,
        "messages": [{"role": "user", "content": "hi"}]});
    let model = ModelId::new("anthropic.claude-haiku-5-5").unwrap();
    let decoded = decode_invoke_request(model.clone(), body.to_string().as_bytes()).unwrap();
    assert_eq!(decoded.request.model, Some(model));
    assert_eq!(
        decoded.request.vendor.of("anthropic").unwrap()["betas"],
        json!(["a"])
    );
    assert_eq!(decoded.warnings, []);
}

#[test]
fn system_and_messages_keep_their_order() {
    let request = read(json!({
    "system": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "1h"}}, {"type": "text", "text": ""}],
    "messages": [
        {"role": "user", "content": "b"},
        {"role": "system", "content": "c"},
        {"role": "assistant", "content": [{"type": "text", "text": "d"}]},
    ]}));
    let roles: Vec<_> = request.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::System, Role::Assistant]);
    let point = ContentPart::CachePoint(CachePoint::new(CacheTtl::Long));
    assert_eq!(request.messages[0].content, [ContentPart::text("a"), point]);
    assert_eq!(read(json!({"system": ""})).messages.len(), 1);
    assert_eq!(refused(&with(json!({"system": 7}))), "system");
    let image = json!([{"type": "image", "source": {}}]);
    assert_eq!(refused(&with(json!({"system": image}))), "system[0].type");
    for role in [json!("robot"), json!(null)] {
        let body = with(json!({"messages": [{"role": role, "content": "x"}]}));
        assert_eq!(refused(&body), "messages[0].role");
    }
    for content in [json!(null), json!(7), json!({})] {
        assert_eq!(refused(&with(user(content))), "messages[0].content");
    }
}

#[test]
fn results_come_first_and_in_a_message_of_their_own() {
    let request = read(user(json!([
        {"type": "text", "text": "and"},
        {"type": "tool_result", "tool_use_id": "a", "content": "yes", "cache_control": {"type": "ephemeral"}},
        {"type": "tool_result", "tool_use_id": "b", "is_error": true},
        {"type": "tool_result", "tool_use_id": "c", "content": [
            {"type": "text", "text": "see"}, {"type": "image", "source": {"type": "url", "url": "https://a/b"}}]},
    ])));
    let [results, rest] = request.messages.as_slice() else {
        panic!("{:?}", request.messages);
    };
    assert_eq!((results.role, rest.role), (Role::Tool, Role::User));
    assert_eq!(rest.text(), "and");
    let ContentPart::ToolResult(failed) = &results.content[2] else {
        panic!("{results:?}");
    };
    assert!(failed.is_error && failed.content.is_empty());
    assert_eq!(results.content[1].kind(), "cache_point");
    let only = read(user(json!([{"type": "tool_result", "tool_use_id": "a"}])));
    assert_eq!(only.messages.len(), 1);
    let nested = json!([{"type": "tool_result", "tool_use_id": "a", "content": [{"type": "tool_use"}]}]);
    assert_eq!(
        refused(&with(user(nested))),
        "messages[0].content[0].content[0].type"
    );
    assert_eq!(
        refused(&with(user(json!([{"type": "tool_result"}])))),
        "messages[0].content[0].tool_use_id"
    );
}

#[test]
fn media_are_read_wherever_they_are() {
    let source = |part: ContentPart| match part {
        ContentPart::Image(image) => image.source,
        ContentPart::Document(document) => document.source,
        other => panic!("{other:?}"),
    };
    let block = |kind: &str, source: Value| json!([{"type": kind, "source": source}]);
    let one = |content: Value| source(parts(content).pop().unwrap());
    let base64 = json!({"type": "base64", "media_type": "image/png", "data": "YQ=="});
    assert_eq!(
        one(block("image", base64)),
        MediaSource::base64("image/png", "YQ==")
    );
    let url = json!({"type": "url", "url": "https://a/b"});
    assert_eq!(one(block("document", url)), MediaSource::url("https://a/b"));
    let vendor = ANTHROPIC;
    let file = json!({"type": "file", "file_id": "f"});
    assert_eq!(
        one(block("image", file)),
        MediaSource::VendorFile {
            vendor,
            id: "f".into()
        }
    );
    let text = json!({"type": "text", "media_type": "text/plain", "data": "né"});
    assert_eq!(
        one(block("document", text)),
        MediaSource::bytes("text/plain", "né")
    );
    let blocks =
        json!({"type": "content", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]});
    assert_eq!(
        one(block("document", blocks)),
        MediaSource::bytes("text/plain", "a\n\nb")
    );
    let titled = json!([{"type": "document", "title": "t", "source": {"type": "url", "url": "u"}}]);
    let Some(ContentPart::Document(document)) = parts(titled).pop() else {
        panic!("no document");
    };
    assert_eq!(document.name.as_deref(), Some("t"));
    for (content, field) in [
        (json!([{"type": "image"}]), "source"),
        (
            block("image", json!({"type": "text", "data": "x"})),
            "source.type",
        ),
        (
            block("image", json!({"type": "base64", "media_type": "image/png"})),
            "source.data",
        ),
    ] {
        assert_eq!(
            refused(&with(user(content))),
            format!("messages[0].content[0].{field}")
        );
    }
}

#[test]
fn what_only_claude_takes_of_a_document_stands_behind_it() {
    let document = |more: Value| {
        let mut block = json!({"type": "document", "source": {"type": "url", "url": "u"}});
        block
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        parts(json!([block]))
    };
    let cited = document(json!({"citations": {"enabled": true}, "context": "c",
        "cache_control": {"type": "ephemeral"}}));
    let [
        ContentPart::Document(_),
        ContentPart::Opaque(piece),
        ContentPart::CachePoint(_),
    ] = &cited[..]
    else {
        panic!("{cited:?}");
    };
    assert_eq!(
        piece.replay.data,
        json!({"context": "c", "citations": {"enabled": true}})
    );
    assert_eq!(
        document(json!({"citations": {"enabled": false}, "context": ""})).len(),
        1
    );
}

#[test]
fn what_an_answer_held_is_kept_for_its_vendor() {
    let thinking =
        json!({"type": "thinking", "thinking": "hm", "signature": "SIG", "new": 1, "a": 2, "b": 3});
    let redacted = json!({"type": "redacted_thinking", "data": "ENC", "x": null});
    let content = json!([
        thinking,
        {"type": "thinking", "thinking": "unsigned", "signature": ""},
        redacted,
        {"type": "text", "text": "so", "citations": [{"a": 1}]},
        {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1.5}, "caller": {"type": "direct"}},
        {"type": "of_the_future", "y": 1, "cache_control": {"type": "ephemeral"}},
    ]);
    let parts = said(content);
    let replay = |part: &ContentPart| match part {
        ContentPart::Text(part) => part.replay.clone().map(|replay| replay.data),
        ContentPart::Reasoning(part) => part.replay.clone().map(|replay| replay.data),
        ContentPart::ToolCall(call) => call.replay.clone().map(|replay| replay.data),
        ContentPart::Opaque(piece) => Some(piece.replay.data.clone()),
        _ => None,
    };
    let kept: Vec<_> = parts.iter().map(replay).collect();
    let text = |value: &Value| value.to_string();
    assert_eq!(kept[0].as_ref().map(text), Some(text(&thinking)), "in its order");
    assert_eq!(
        kept,
        [
            Some(thinking),
            None,
            Some(redacted),
            Some(json!({"citations": [{"a": 1}]})),
            Some(json!({"caller": {"type": "direct"}})),
            Some(json!({"type": "of_the_future", "y": 1})),
            None,
        ]
    );
    let ContentPart::ToolCall(call) = &parts[4] else {
        panic!("{parts:?}");
    };
    assert_eq!(call.arguments, "{\"a\":1.5}");
    let refuse = |block: Value, field: &str| {
        let body = with(json!({"messages": [{"role": "assistant", "content": [block]}]}));
        assert_eq!(refused(&body), format!("messages[0].content[0].{field}"));
    };
    refuse(json!({"type": "tool_use", "id": "t", "name": "f"}), "input");
    refuse(
        json!({"type": "tool_use", "id": "t", "name": "f", "input": "{}"}),
        "input",
    );
    refuse(json!({"type": "image", "source": {}}), "type");
    refuse(json!({"text": "x"}), "type");
    assert_eq!(
        refused(&with(user(json!([{"type": "redacted_thinking", "data": "x"}])))),
        "messages[0].content[0].type"
    );
}

#[test]
fn own_blocks_of_the_user_are_kept() {
    let upload = json!({"type": "container_upload", "file_id": "f1"});
    let Some(ContentPart::Opaque(piece)) = parts(json!([upload])).pop() else {
        panic!("no piece");
    };
    assert_eq!(
        (piece.kind.as_str(), piece.replay.data),
        ("container_upload", upload)
    );
}

#[test]
fn a_search_result_is_text_that_others_can_read() {
    let found = json!({"type": "search_result", "source": "https://a/b", "title": "A",
        "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]});
    let Some(ContentPart::Text(part)) = parts(json!([found])).pop() else {
        panic!("no text");
    };
    assert_eq!(part.text, "A\nhttps://a/b\none\ntwo");
    assert_eq!(part.replay.map(|replay| replay.data), Some(found));
    let nothing = parts(json!([{"type": "search_result"}]));
    assert!(matches!(nothing[0], ContentPart::Opaque(_)), "{nothing:?}");
}

#[test]
fn tools_and_their_choice() {
    let request = read(json!({
        "tools": [
            {"name": "f", "description": "d", "input_schema": {"type": "object"}, "strict": true},
            {"type": "custom", "name": "g", "input_schema": {}, "cache_control": {"type": "ephemeral", "ttl": "1h"}},
            {"type": "web_search_20260101", "name": "web_search"},
        ],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": true}}));
    assert_eq!(request.tools.len(), 2);
    assert_eq!(request.tools[0].parameters, Some(json!({"type": "object"})));
    assert_eq!(request.tool_choice, Some(ToolChoice::Required));
    assert_eq!(request.parallel_tool_calls, Some(false));
    let own = request.vendor.of("anthropic").unwrap();
    assert_eq!(
        own["builtin_tools"],
        json!([{"type": "web_search_20260101", "name": "web_search"}])
    );
    let point = ContentPart::CachePoint(CachePoint::new(CacheTtl::Long));
    assert_eq!(request.messages[0].content, [point, ContentPart::text("hi")]);
    for (kind, choice) in [("auto", ToolChoice::Auto), ("none", ToolChoice::None)] {
        assert_eq!(
            read(json!({"tool_choice": {"type": kind}})).tool_choice,
            Some(choice)
        );
    }
    let named = read(json!({"tool_choice": {"type": "tool", "name": "f"}}));
    assert_eq!(named.tool_choice, Some(ToolChoice::Tool("f".into())));
    for (fields, field) in [
        (json!({"tool_choice": {"type": "some"}}), "tool_choice.type"),
        (json!({"tool_choice": {"type": "tool"}}), "tool_choice.name"),
        (json!({"tools": [{"name": "f"}]}), "tools[0].input_schema"),
        (json!({"tools": [{"input_schema": {}}]}), "tools[0].name"),
    ] {
        assert_eq!(refused(&with(fields)), field);
    }
}

#[test]
fn thought_has_a_neutral_form_or_is_kept_as_it_is() {
    let asked = |fields: Value| {
        let request = read(fields);
        let own = request.vendor.of("anthropic").and_then(|own| own.get("thinking"));
        (request.reasoning, own.is_some())
    };
    let effort = |level, include| Some(Reasoning::effort(level).with_include(include));
    let adaptive = |display: &str| json!({"type": "adaptive", "display": display});
    let high = json!({"effort": "high"});
    assert_eq!(asked(json!({})), (None, false));
    assert_eq!(
        asked(json!({"output_config": high})),
        (effort(Effort::High, false), false)
    );
    let shown = json!({"thinking": adaptive("summarized"), "output_config": high});
    assert_eq!(asked(shown), (effort(Effort::High, true), false));
    let omitted = json!({"thinking": adaptive("omitted"), "output_config": high});
    assert_eq!(asked(omitted), (effort(Effort::High, false), false));
    assert_eq!(
        asked(json!({"thinking": {"type": "disabled"}})),
        (effort(Effort::None, false), false)
    );
    assert_eq!(
        asked(json!({"thinking": {"type": "adaptive"}})),
        (Some(Reasoning::default()), true)
    );
    let budget = |tokens: u32| json!({"thinking": {"type": "enabled", "budget_tokens": tokens}});
    for (tokens, level) in [
        (1_024, Effort::Low),
        (8_000, Effort::Medium),
        (16_000, Effort::High),
        (60_000, Effort::XHigh),
    ] {
        assert_eq!(asked(budget(tokens)), (effort(level, true), true), "{tokens}");
    }
    assert_eq!(
        asked(json!({"thinking": {"type": "between_tools"}})),
        (effort(Effort::None, false), true)
    );
    let both = read(json!({"thinking": {"type": "enabled", "budget_tokens": 2_000}, "output_config": high}));
    assert_eq!(both.vendor.of("anthropic").unwrap()["output_config"], high);
    for (fields, field) in [
        (json!({"thinking": {"type": "enabled"}}), "thinking.budget_tokens"),
        (json!({"thinking": {"type": "deep"}}), "thinking.type"),
        (
            json!({"output_config": {"effort": "none"}}),
            "output_config.effort",
        ),
        (
            json!({"output_config": {"format": {"type": "json"}}}),
            "output_config.format.type",
        ),
        (
            json!({"output_config": {"format": {"type": "json_schema"}}}),
            "output_config.format.schema",
        ),
    ] {
        assert_eq!(refused(&with(fields)), field);
    }
}

#[test]
fn everything_else() {
    let request = read(json!({
        "temperature": 0.5, "top_p": 0.9, "top_k": 5, "stop_sequences": ["END"], "service_tier": "auto",
        "metadata": {"user_id": "u"}, "stream": true, "container": "c", "speed": "fast",
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "string"}}, "task_budget": {"total": 1}},
        "context_management": {"edits": []}, "cache_control": {"type": "ephemeral"}}));
    assert_eq!(
        (request.sampling.temperature, request.sampling.top_k),
        (Some(0.5), Some(5))
    );
    assert_eq!(
        (request.stop, request.user.as_deref()),
        (vec!["END".to_owned()], Some("u"))
    );
    assert_eq!(request.service_tier.as_deref(), Some("auto"));
    assert_eq!(
        request.output,
        OutputFormat::json_schema("output", json!({"type": "string"}))
    );
    let own = request.vendor.of("anthropic").unwrap();
    let keys: Vec<_> = own.keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "task_budget",
            "cache_control",
            "context_management",
            "container",
            "speed"
        ]
    );
    assert_eq!(
        warned(json!({"x_unknown_field": 1, "metadata": {"other": 1}})),
        ["metadata.other", "x_unknown_field"]
    );
    assert_eq!(refused(&with(json!({"stop_sequences": "END"}))), "stop_sequences");
    assert_eq!(refused(&with(json!({"speed": 1}))), "speed");
}

/// Claude Code sends this.
#[test]
fn a_request_of_claude_code() {
    let body = json!({
    "model": "claude-sonnet-4-5", "max_tokens": 64000, "stream": true, "thinking": {"type": "adaptive"},
    "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
    "output_config": {"effort": "high"}, "metadata": {"user_id": "{\"device_id\":\"d\"}"},
    "system": [{"type": "text", "text": "x"}, {"type": "text", "text": "You are", "cache_control": {"type": "ephemeral"}}],
    "tools": [{"name": "Bash", "description": "run", "input_schema": {"$schema": "s", "type": "object", "additionalProperties": false}}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]},
        {"role": "system", "content": "Available agent types"},
    ]});
    let decoded = decoded(&body);
    assert_eq!(decoded.warnings, []);
    assert!(decoded.stream);
}
