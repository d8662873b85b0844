use super::*;

#[test]
fn a_cap_on_output_is_always_sent() {
    let limited = model("claude-opus-5-5").with_limits(ModelLimits::new(None, None, Some(128_000)));
    let cap = |model: &ResolvedModel, request: &ChatRequest, stream| {
        let encoded = encode_request(&Dialect::anthropic(), model, request, stream).unwrap();
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        (body["max_tokens"].as_u64().unwrap(), encoded.warnings.len())
    };
    assert_eq!(cap(&model("demo"), &hi(), false), (4_096, 0));
    assert_eq!(cap(&limited, &hi(), false), (21_333, 0));
    assert_eq!(cap(&limited, &hi(), true), (128_000, 0));
    assert_eq!(cap(&limited, &hi().with_max_output_tokens(7), false), (7, 0));
    assert_eq!(
        cap(&limited, &hi().with_max_output_tokens(200_000), true),
        (128_000, 1)
    );
    assert_eq!(
        refused("demo", &hi().with_max_output_tokens(0)).1,
        "max_output_tokens"
    );
}

#[test]
fn tools_have_schemas_of_objects() {
    let request = hi().with_tools([
        ToolSpec::new("a").with_description("does a").with_strict(true),
        ToolSpec::new("b")
            .with_parameters(json!({"properties": {"x": {"type": "string"}}, "required": ["x"]})),
        ToolSpec::new("c").with_parameters(json!({"type": "object", "$defs": {}})),
    ]);
    assert_eq!(
        clean("demo", &request)["tools"],
        json!([
            {"name": "a", "description": "does a", "input_schema": {"type": "object", "properties": {}}, "strict": true},
            {"name": "b", "input_schema": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}},
            {"name": "c", "input_schema": {"type": "object", "$defs": {}}},
        ])
    );
    assert_eq!(
        refused("demo", &hi().with_tools([ToolSpec::new("")])).1,
        "tools[0].name"
    );
}

#[test]
fn a_choice_among_tools_holds_the_switch_for_parallel_calls() {
    let choice = |choice: Option<ToolChoice>, parallel: Option<bool>| {
        let mut request = with_tool(hi());
        request.tool_choice = choice;
        request.parallel_tool_calls = parallel;
        clean("demo", &request).get("tool_choice").cloned()
    };
    assert_eq!(choice(None, None), None);
    assert_eq!(
        choice(Some(ToolChoice::Auto), None),
        Some(json!({"type": "auto"}))
    );
    assert_eq!(
        choice(Some(ToolChoice::Required), None),
        Some(json!({"type": "any"}))
    );
    let parallel =
        |kind: &str, disabled: bool| Some(json!({"type": kind, "disable_parallel_tool_use": disabled}));
    assert_eq!(choice(None, Some(false)), parallel("auto", true));
    assert_eq!(
        choice(Some(ToolChoice::Required), Some(true)),
        parallel("any", false)
    );
    assert_eq!(
        choice(Some(ToolChoice::None), Some(false)),
        Some(json!({"type": "none"}))
    );
    let named = ToolChoice::Tool("g".into());
    assert_eq!(
        choice(Some(named), None),
        Some(json!({"type": "tool", "name": "g"}))
    );
}

#[test]
fn a_choice_without_tools_is_said_or_refused() {
    let (body, warnings) = encoded(
        "demo",
        &hi()
            .with_tool_choice(ToolChoice::Auto)
            .with_parallel_tool_calls(true),
    );
    assert_eq!((body.get("tool_choice"), warnings.len()), (None, 2));
    for choice in [ToolChoice::Required, ToolChoice::Tool("f".into())] {
        assert_eq!(
            refused("demo", &hi().with_tool_choice(choice)).0,
            ErrorKind::InvalidRequest
        );
    }
    let unknown = with_tool(hi()).with_tool_choice(ToolChoice::Tool("h".into()));
    assert_eq!(
        refused("demo", &unknown),
        (ErrorKind::InvalidRequest, "tool_choice".into())
    );
}

#[test]
fn models_that_cannot_be_forced_are_asked() {
    let request = with_tool(hi())
        .with_tool_choice(ToolChoice::Tool("g".into()))
        .with_parallel_tool_calls(false);
    let (body, warnings) = encoded("claude-opus-5-5", &request);
    assert_eq!(
        body["tool_choice"],
        json!({"type": "auto", "disable_parallel_tool_use": true})
    );
    assert_eq!(
        body["tools"].as_array().unwrap().len(),
        1,
        "only the tool that was meant"
    );
    assert_eq!(warnings.len(), 1);
    let mut listed = model("demo");
    listed.rejects.push(Knob::ForcedToolUse);
    let request = with_tool(hi()).with_tool_choice(ToolChoice::Required);
    let (body, _) = encoded_by(&Dialect::anthropic(), &listed, &request);
    assert_eq!(
        (
            &body["tool_choice"]["type"],
            body["tools"].as_array().unwrap().len()
        ),
        (&json!("auto"), 2)
    );
}

#[test]
fn sampling_goes_to_models_that_take_it_with_the_older_version() {
    let mut sampling = Sampling::default();
    sampling.temperature = Some(0.5);
    sampling.top_p = Some(0.9);
    sampling.top_k = Some(5);
    let request = hi().with_sampling(sampling);
    let body = clean("demo", &request);
    assert_eq!(
        (&body["temperature"], &body["top_p"], &body["top_k"]),
        (&json!(0.5), &json!(0.9), &json!(5))
    );
    let version = |name: &str, request: &ChatRequest| {
        encode_request(&Dialect::anthropic(), &model(name), request, false)
            .unwrap()
            .version
    };
    assert_eq!(
        (version("demo", &request), version("demo", &hi())),
        ("2023-06-01", "2026-10-21")
    );
    let (body, warnings) = encoded("claude-haiku-4-5", &request);
    assert_eq!((body.get("top_p"), warnings.len()), (None, 1), "not both");
    let (body, warnings) = encoded("claude-opus-5-5", &request);
    assert_eq!((body.get("temperature"), warnings.len()), (None, 3));
    assert_eq!(version("claude-opus-5-5", &request), "2026-10-21");
    let thinking = request.with_reasoning(Reasoning::effort(Effort::Low));
    assert_eq!(encoded("claude-haiku-4-5", &thinking).1.len(), 3);
    let patched = hi().with_vendor_option(ANTHROPIC, "body", json!({"temperature": 1}));
    assert_eq!(version("claude-opus-5-5", &patched), "2023-06-01");
}

#[test]
fn other_ways_of_sampling_are_warned_about() {
    let mut sampling = Sampling::default();
    sampling.temperature = Some(1.5);
    sampling.frequency_penalty = Some(0.1);
    sampling.presence_penalty = Some(0.1);
    sampling.seed = Some(7);
    let (body, warnings) = encoded("demo", &hi().with_sampling(sampling));
    assert_eq!(body["temperature"], 1.0);
    let fields: Vec<_> = warnings
        .iter()
        .map(|warning| warning.split(':').next().unwrap())
        .collect();
    assert_eq!(
        fields,
        [
            "sampling.temperature",
            "sampling.frequency_penalty",
            "sampling.presence_penalty",
            "sampling.seed"
        ]
    );
    assert_eq!(
        refused("demo", &hi().with_temperature(f64::NAN)).1,
        "sampling.temperature"
    );
    let mut listed = model("demo");
    listed.rejects.push(Knob::Sampling);
    assert_eq!(
        encoded_by(&Dialect::anthropic(), &listed, &hi().with_temperature(0.1))
            .1
            .len(),
        1
    );
    let mut listed = model("demo");
    listed.ignores.push(Knob::Sampling);
    let (body, warnings) = encoded_by(&Dialect::anthropic(), &listed, &hi().with_temperature(0.1));
    assert_eq!((&body["temperature"], warnings.len()), (&json!(0.1), 1));
}

#[test]
fn stop_sequences_user_and_tier() {
    let request = hi()
        .with_stop(["END".to_owned(), "\n\nHuman".to_owned()])
        .with_user("u-1")
        .with_service_tier("standard_only");
    let body = clean("demo", &request);
    assert_eq!(body["stop_sequences"], json!(["END", "\n\nHuman"]));
    assert_eq!(body["metadata"], json!({"user_id": "u-1"}));
    assert_eq!(body["service_tier"], "standard_only");
    let (body, warnings) = encoded("demo", &hi().with_service_tier("flex"));
    assert_eq!((body.get("service_tier"), warnings.len()), (None, 1));
    let stop = |text: &str| refused("demo", &hi().with_stop([text.to_owned()]));
    assert_eq!(stop(""), (ErrorKind::InvalidRequest, "stop[0]".into()));
    assert_eq!(stop(" \n"), (ErrorKind::Unsupported, "stop[0]".into()));
}

#[test]
fn schemas_go_where_they_are_taken() {
    let request = hi().with_output(OutputFormat::json_schema("x", json!({"type": "string"})));
    assert_eq!(
        refused("claude-3-haiku-20240307", &request),
        (ErrorKind::Unsupported, "output".into())
    );
    assert_eq!(
        refused("demo", &hi().with_output(OutputFormat::Json)).0,
        ErrorKind::Unsupported
    );
    let nameless = hi().with_output(OutputFormat::json_schema("", json!({})));
    assert_eq!(refused("demo", &nameless).1, "output.name");
    let unable = model("demo").with_capabilities(Capabilities::unknown().with(Capability::JsonSchema, false));
    assert_eq!(refused_by(&Dialect::anthropic(), &unable, &request).1, "output");
    assert_eq!(
        refused_by(&Dialect::bedrock(), &model("anthropic.claude-opus-5-5"), &request).1,
        "output"
    );
}

#[test]
fn the_options_bag_is_sent_as_it_is_and_read_where_it_must_be() {
    let mut request = hi().with_reasoning(Reasoning::effort(Effort::Low));
    for (key, value) in [
        ("context_management", json!({"edits": []})),
        ("container", json!("c_1")),
        ("speed", json!("fast")),
        ("betas", json!(["a-1", "b-2"])),
        (
            "builtin_tools",
            json!([{"type": "web_search_20260101", "name": "web_search"}]),
        ),
        ("task_budget", json!({"total": 9})),
        ("output_config", json!({"effort": "max", "x": 1})),
    ] {
        request.vendor.set(ANTHROPIC, key, value);
    }
    let encoded = encode_request(&Dialect::anthropic(), &model("claude-opus-5-5"), &request, false).unwrap();
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!(body["context_management"], json!({"edits": []}));
    assert_eq!(
        (&body["container"], &body["speed"]),
        (&json!("c_1"), &json!("fast"))
    );
    assert_eq!(
        body["tools"],
        json!([{"type": "web_search_20260101", "name": "web_search"}])
    );
    assert_eq!(
        body["output_config"],
        json!({"task_budget": {"total": 9}, "effort": "max", "x": 1})
    );
    assert!(body.get("betas").is_none() && body.get("builtin_tools").is_none());
    assert_eq!(encoded.betas, ["a-1", "b-2"]);
    assert_eq!(encoded.warnings, []);
}

#[test]
fn what_the_bag_does_not_know_is_refused_and_the_patch_is_last() {
    let with = |key: &str, value: Value| hi().with_vendor_option(ANTHROPIC, key, value);
    let (kind, param) = refused("demo", &with("contexts_management", json!({})));
    assert_eq!(
        (kind, param),
        (
            ErrorKind::Unsupported,
            "vendor.anthropic.contexts_management".into()
        )
    );
    assert_eq!(
        refused("demo", &with("speed", json!(7))).0,
        ErrorKind::InvalidRequest
    );
    for betas in [json!([7]), json!(["a,b"]), json!(["a\r\nx-evil: 1"]), json!([""])] {
        assert_eq!(
            refused("demo", &with("betas", betas)).0,
            ErrorKind::InvalidRequest
        );
    }
    let body = clean(
        "demo",
        &with("body", json!({"max_tokens": 5, "messages": null, "new": 1})),
    );
    assert_eq!(body, json!({"model": "demo", "max_tokens": 5, "new": 1}));
    assert_eq!(
        refused("demo", &with("body", json!({"model": "x"}))).0,
        ErrorKind::InvalidRequest
    );
    // of somebody else: named, but where this vendor was thought of too
    let other = hi().with_vendor_option(OTHER, "anything", json!(1));
    let (_, warned) = field("demo", &other, "model");
    assert_eq!(warned, [format!("vendor.{OTHER}.anything")]);
    clean("demo", &other.with_vendor_option(ANTHROPIC, "body", json!({})));
}

#[test]
fn bedrocks_body_has_its_version_and_its_betas_inside() {
    let bedrock = Dialect::bedrock();
    let request = with_tool(hi())
        .with_service_tier("auto")
        .with_vendor_option(bedrock.vendor.clone(), "betas", json!(["a-1"]))
        .with_tools([ToolSpec::new("f").with_strict(true)]);
    let sonnet = model("us.anthropic.claude-sonnet-5");
    let encoded = encode_request(&bedrock, &sonnet, &request, true).unwrap();
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!(body["anthropic_version"], "bedrock-2023-05-31");
    assert_eq!(body["anthropic_beta"], json!(["a-1"]));
    for absent in ["model", "stream", "service_tier", "betas"] {
        assert!(body.get(absent).is_none(), "{absent}");
    }
    assert!(body["tools"][0].get("strict").is_none());
    assert_eq!(encoded.warnings.len(), 2);
    assert_eq!(encoded.version, "bedrock-2023-05-31");
}

#[test]
fn citations_in_what_the_user_says_need_the_older_version() {
    let found = json!({"type": "search_result", "source": "s", "title": "t",
        "content": [{"type": "text", "text": "a", "citations": [{"x": 1}]}]});
    let version = |block: Value| {
        let request = ChatRequest::new([user([ContentPart::text("hi"), piece(ANTHROPIC, block)])]);
        encode_request(&Dialect::anthropic(), &model("demo"), &request, false)
            .unwrap()
            .version
    };
    assert_eq!(version(found), "2023-06-01");
    assert_eq!(
        version(json!({"type": "search_result", "citations": {"enabled": true}})),
        "2026-10-21"
    );
}

#[test]
fn a_stream_is_asked_for() {
    let encoded = encode_request(&Dialect::anthropic(), &model("demo"), &hi(), true).unwrap();
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!(body["stream"], true);
    assert!(clean("demo", &hi()).get("stream").is_none());
}

#[test]
fn tokens_are_counted_without_what_they_do_not_depend_on() {
    let request = with_tool(hi())
        .with_max_output_tokens(9)
        .with_user("u")
        .with_stop(["x".to_owned()]);
    let encoded = encode_count_request(&Dialect::anthropic(), &model("demo"), &request).unwrap();
    let counted: Value = serde_json::from_slice(&encoded.body).unwrap();
    let mut asked = clean("demo", &request);
    for name in ["max_tokens", "metadata", "stop_sequences"] {
        assert!(asked.as_object_mut().unwrap().remove(name).is_some(), "{name}");
    }
    assert_eq!(counted, asked);
}

#[test]
fn a_host_may_have_its_own_version_and_betas() {
    let mut dialect = Dialect::anthropic();
    dialect.version = Some("2023-06-01");
    dialect.betas = vec!["one".to_owned(), "two".to_owned()];
    let request = hi().with_vendor_option(dialect.vendor.clone(), "betas", json!(["two", "three"]));
    let encoded = encode_request(&dialect, &model("demo"), &request, false).unwrap();
    assert_eq!(encoded.version, "2023-06-01");
    assert_eq!(encoded.betas, ["one", "two", "three"]);
}
