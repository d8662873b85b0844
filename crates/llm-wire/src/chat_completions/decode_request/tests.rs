mod messages;

use super::*;
use llm_core::chat::AudioPart;
use llm_core::{
    CachePoint, CacheTtl, ContentPart, DocumentPart, ImageDetail, ImagePart, MediaSource, Message,
    OutputFormat, Reasoning, ReasoningEffort, ReasoningPart, RefusalPart, Role, Sampling, ToolCall,
    ToolChoice, ToolResult, ToolSpec,
};
use serde_json::json;

/// Decodes a body with these fields beside a model and one message.
fn decoded(fields: Value) -> Result<DecodedRequest> {
    let mut body = json!({"model": "demo", "messages": [{"role": "user", "content": "hi"}]});
    if let (Value::Object(body), Value::Object(fields)) = (&mut body, fields) {
        body.extend(fields);
    }
    decode_request(body.to_string().as_bytes())
}

/// These fields must make this request of a plain one, without a warning.
fn check(fields: Value, change: impl FnOnce(&mut ChatRequest)) {
    let decoded = decoded(fields).unwrap();
    let mut expected = ChatRequest::user("hi").with_model(ModelId::new("demo").unwrap());
    change(&mut expected);
    assert_eq!(decoded.request, expected);
    assert_eq!(decoded.warnings, []);
}

/// These messages must be read as those, without a warning.
fn check_messages(messages: Value, expected: &[Message]) {
    let decoded = decoded(json!({"messages": messages})).unwrap();
    assert_eq!(decoded.request.messages, expected);
    assert_eq!(decoded.warnings, []);
}

/// The field that a body with these fields is refused for.
fn refused(fields: Value) -> String {
    let error = decoded(fields).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{error}");
    let param = error.vendor().param.clone().unwrap();
    assert!(error.message().starts_with(&param), "{error}");
    param
}

fn refused_message(message: Value) -> String {
    refused(json!({"messages": [message]}))
}

fn warned(fields: Value) -> Vec<String> {
    decoded(fields)
        .unwrap()
        .warnings
        .into_iter()
        .map(|warning| warning.field)
        .collect()
}

#[test]
fn a_body_that_is_no_request_is_refused() {
    for body in [
        "",
        "{",
        "[]",
        "7",
        "\u{feff}{}",
        &"[".repeat(100_000),
        &"{\"a\":".repeat(100_000),
    ] {
        assert_eq!(
            decode_request(body.as_bytes()).unwrap_err().kind(),
            ErrorKind::InvalidRequest
        );
    }
    let param = |body: Value| {
        decode_request(body.to_string().as_bytes())
            .unwrap_err()
            .vendor()
            .param
            .clone()
    };
    assert_eq!(param(json!({"messages": []})).as_deref(), Some("model"));
    assert_eq!(
        param(json!({"model": "a b", "messages": []})).as_deref(),
        Some("model")
    );
    assert_eq!(param(json!({"model": "demo"})).as_deref(), Some("messages"));
    assert_eq!(
        param(json!({"model": "demo", "messages": []})).as_deref(),
        Some("messages")
    );
    assert_eq!(
        param(json!({"model": "demo", "messages": "hi"})).as_deref(),
        Some("messages")
    );
}

#[test]
fn every_setting_is_read() {
    check(
        json!({"temperature": 1, "top_p": 0.5, "top_k": 3, "frequency_penalty": -1, "seed": -7}),
        |request| {
            let mut sampling = Sampling::default();
            sampling.temperature = Some(1.0);
            sampling.top_p = Some(0.5);
            sampling.top_k = Some(3);
            sampling.frequency_penalty = Some(-1.0);
            sampling.seed = Some(-7);
            request.sampling = sampling;
        },
    );
    check(json!({"max_tokens": 5}), |request| {
        request.max_output_tokens = Some(5)
    });
    check(json!({"max_completion_tokens": 6, "max_tokens": 6}), |request| {
        request.max_output_tokens = Some(6)
    });
    check(json!({"stop": "a"}), |request| request.stop = vec!["a".into()]);
    check(json!({"stop": ["a", "b"]}), |request| {
        request.stop = vec!["a".into(), "b".into()]
    });
    check(json!({"user": "u", "service_tier": "flex", "n": 1}), |request| {
        request.user = Some("u".into());
        request.service_tier = Some("flex".into());
    });
    check(json!({"user": "old", "safety_identifier": "new"}), |request| {
        request.user = Some("new".into());
        request.vendor.set(OPENAI, "user", json!("old"));
    });
    check(
        json!({"reasoning_effort": "xhigh", "include_reasoning": true}),
        |request| {
            request.reasoning = Some(Reasoning::effort(ReasoningEffort::XHigh).with_include(true));
        },
    );
    check(json!({"reasoning_effort": "minimal"}), |request| {
        request.reasoning = Some(Reasoning::effort(ReasoningEffort::Low));
        request.vendor.set(OPENAI, "reasoning_effort", json!("minimal"));
    });
    check(json!({"response_format": {"type": "text"}}), |_| {});
    check(json!({"response_format": {"type": "json_object"}}), |request| {
        request.output = OutputFormat::Json
    });
    let schema =
        json!({"type": "json_schema", "json_schema": {"name": "x", "schema": {"a": 1}, "strict": true}});
    check(json!({"response_format": schema}), |request| {
        request.output = OutputFormat::json_schema("x", json!({"a": 1}));
    });
}

#[test]
fn null_is_as_good_as_nothing() {
    check(
        json!({"temperature": null, "stop": null, "tools": null, "tool_choice": null, "response_format": null,
            "stream": null, "stream_options": null, "max_tokens": null, "metadata": null, "zzz": null}),
        |_| {},
    );
}

#[test]
fn fields_of_openai_alone_go_into_its_bag() {
    let fields = json!({"verbosity": "low", "store": true, "metadata": {"a": "b"}, "logprobs": true, "top_logprobs": 2,
        "prompt_cache_key": "k", "modalities": ["text"], "prediction": {"type": "content", "content": "x"}});
    check(fields.clone(), |request| {
        for (key, value) in fields.as_object().unwrap() {
            request.vendor.set(OPENAI, key, value.clone());
        }
    });
}

#[test]
fn streams_and_their_options_are_read() {
    let streams = |fields| {
        decoded(fields)
            .map(|decoded| (decoded.stream, decoded.include_usage))
            .unwrap()
    };
    assert_eq!(streams(json!({})), (false, false));
    assert_eq!(streams(json!({"stream": true})), (true, false));
    let options = json!({"include_usage": true, "include_obfuscation": false});
    assert_eq!(
        streams(json!({"stream": true, "stream_options": options})),
        (true, true)
    );
}

#[test]
fn tools_and_choices_are_read() {
    let tools = json!([
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"b": 1}, "strict": true}},
        {"type": "function", "function": {"name": "g"}},
    ]);
    let both = || {
        let tool = ToolSpec::new("f")
            .with_description("d")
            .with_parameters(json!({"b": 1}))
            .with_strict(true);
        vec![tool, ToolSpec::new("g")]
    };
    let choices = [
        (json!("auto"), ToolChoice::Auto),
        (json!("none"), ToolChoice::None),
        (json!("required"), ToolChoice::Required),
        (
            json!({"type": "function", "function": {"name": "g"}}),
            ToolChoice::Tool("g".into()),
        ),
    ];
    for (wire, choice) in choices {
        check(
            json!({"tools": tools, "tool_choice": wire, "parallel_tool_calls": false}),
            |request| {
                request.tools = both();
                request.tool_choice = Some(choice);
                request.parallel_tool_calls = Some(false);
            },
        );
    }
    let allowed = json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}});
    let custom = json!({"type": "custom", "custom": {"name": "c"}});
    check(json!({"tools": [custom], "tool_choice": allowed}), |request| {
        request.vendor.set(OPENAI, "custom_tools", json!([custom]));
        request.vendor.set(OPENAI, "tool_choice", allowed.clone());
        request.tool_choice = Some(ToolChoice::Auto);
    });
}

#[test]
fn a_choice_among_some_tools_comes_with_the_nearest_that_others_know() {
    let function = |name: &str| json!({"type": "function", "function": {"name": name}});
    let custom = json!({"type": "custom", "custom": {"name": "c"}});
    let tools = json!([function("f"), function("g"), function("h"), custom]);
    let cases = [
        ("auto", vec![function("f")], Some(ToolChoice::Auto)),
        (
            "required",
            vec![function("g")],
            Some(ToolChoice::Tool("g".into())),
        ),
        (
            "required",
            vec![function("g"), custom.clone()],
            Some(ToolChoice::Tool("g".into())),
        ),
        (
            "required",
            vec![function("g"), function("g")],
            Some(ToolChoice::Tool("g".into())),
        ),
        (
            "required",
            vec![function("f"), function("g")],
            Some(ToolChoice::Required),
        ),
        // nobody else has any of these, and no other call was asked for
        ("required", vec![custom.clone()], None),
        ("required", vec![function("nobody")], None),
        ("sometimes", vec![function("f")], None),
    ];
    for (mode, among, nearest) in cases {
        let allowed = json!({"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": among}});
        let decoded = decoded(json!({"tools": tools, "tool_choice": allowed})).unwrap();
        assert_eq!(decoded.request.tool_choice, nearest, "{allowed}");
        assert_eq!(
            decoded.request.vendor.of("openai").unwrap()["tool_choice"],
            allowed
        );
    }
    let forced = json!({"type": "custom", "custom": {"name": "c"}});
    let decoded = decoded(json!({"tools": tools, "tool_choice": forced})).unwrap();
    assert_eq!(decoded.request.tool_choice, None);
}

#[test]
fn old_forms_of_tools_are_read_with_a_warning() {
    let messages = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{\"a\":1}"}},
        {"role": "function", "name": "f", "content": "r"},
        {"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": ""}},
        {"role": "function", "name": "f", "content": "s"},
    ]);
    let fields = json!({"messages": messages, "functions": [{"name": "f"}], "function_call": {"name": "f"}});
    let decoded = decoded(fields).unwrap();
    let call = |id: &str, arguments: &str| {
        Message::new(
            Role::Assistant,
            vec![ContentPart::ToolCall(ToolCall::new(id, "f", arguments))],
        )
    };
    let result = |id: &str, text: &str| Message::tool_results([ToolResult::new(id, text).with_name("f")]);
    let expected = [
        Message::user("go"),
        call("call_0", "{\"a\":1}"),
        result("call_0", "r"),
        call("call_1", "{}"),
        result("call_1", "s"),
    ];
    assert_eq!(decoded.request.messages, expected);
    assert_eq!(decoded.request.tools, [ToolSpec::new("f")]);
    assert_eq!(decoded.request.tool_choice, Some(ToolChoice::Tool("f".into())));
    let fields: Vec<_> = decoded
        .warnings
        .iter()
        .map(|warning| warning.field.as_str())
        .collect();
    assert_eq!(
        fields,
        [
            "messages[1].function_call",
            "messages[3].function_call",
            "functions",
            "function_call"
        ]
    );
    let orphan = json!({"role": "function", "name": "f", "content": "r"});
    assert_eq!(refused_message(orphan), "messages[0].name");
}

#[test]
fn unknown_fields_cost_a_warning() {
    assert_eq!(
        warned(json!({
            "zzz": 1,
            "tools": [{"type": "function", "x": 1, "function": {"name": "f", "y": 1}}],
            "messages": [
                {"role": "user", "mood": "good", "content": [{"type": "text", "text": "a", "w": 1}]},
                {"role": "assistant", "content": "a", "reasoning": {"a": 1}},
            ],
        })),
        [
            "messages[0].content[0].w",
            "messages[0].mood",
            "messages[1].reasoning",
            "tools[0].function.y",
            "tools[0].x",
            "zzz"
        ]
    );
    let many: serde_json::Map<_, _> = (0..1000).map(|n| (format!("f{n}"), json!(1))).collect();
    assert_eq!(warned(Value::Object(many)).len(), 32);
}

#[test]
fn what_is_malformed_is_named() {
    assert_eq!(refused(json!({"temperature": "hot"})), "temperature");
    assert_eq!(refused(json!({"max_tokens": 0})), "max_tokens");
    assert_eq!(refused(json!({"max_tokens": 1.5})), "max_tokens");
    assert_eq!(refused(json!({"stop": [1]})), "stop");
    assert_eq!(refused(json!({"stream": "yes"})), "stream");
    assert_eq!(
        refused(json!({"stream_options": {"include_usage": 1}})),
        "stream_options.include_usage"
    );
    assert_eq!(refused(json!({"store": "yes"})), "store");
    assert_eq!(refused(json!({"reasoning_effort": "huge"})), "reasoning_effort");
    assert_eq!(
        refused(json!({"response_format": {"type": "xml"}})),
        "response_format.type"
    );
    assert_eq!(
        refused(json!({"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}})),
        "response_format.json_schema.schema"
    );
    assert_eq!(refused(json!({"tools": [{"type": "browser"}]})), "tools[0].type");
    assert_eq!(
        refused(json!({"tools": [{"type": "function"}]})),
        "tools[0].function"
    );
    assert_eq!(
        refused(json!({"tools": [{"type": "function", "function": {}}]})),
        "tools[0].function.name"
    );
    assert_eq!(refused(json!({"tool_choice": "any"})), "tool_choice");
    assert_eq!(refused(json!({"tool_choice": {"type": "x"}})), "tool_choice.type");
    let error = decoded(json!({"n": 2})).unwrap_err();
    assert_eq!(
        (error.kind(), error.vendor().param.as_deref()),
        (ErrorKind::Unsupported, Some("n"))
    );
}
