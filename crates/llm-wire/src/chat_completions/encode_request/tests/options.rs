use super::*;

#[test]
fn what_is_not_set_is_not_sent() {
    check(
        "demo",
        &hi(),
        json!({"messages": [{"role": "user", "content": "hi"}]}),
    );
}

#[test]
fn all_plain_settings_are_sent() {
    let mut sampling = Sampling::default();
    sampling.temperature = Some(0.5);
    sampling.top_p = Some(0.9);
    sampling.frequency_penalty = Some(1.0);
    sampling.presence_penalty = Some(-1.0);
    sampling.seed = Some(7);
    let request = ChatRequest::user("as JSON")
        .with_sampling(sampling)
        .with_max_output_tokens(9)
        .with_stop(["a".to_owned(), "b".to_owned()])
        .with_user("u1")
        .with_service_tier("flex")
        .with_reasoning(Reasoning::effort(Effort::High))
        .with_output(OutputFormat::Json);
    check(
        "demo",
        &request,
        json!({
            "messages": [{"role": "user", "content": "as JSON"}],
            "temperature": 0.5, "top_p": 0.9, "frequency_penalty": 1.0, "presence_penalty": -1.0, "seed": 7,
            "max_completion_tokens": 9, "stop": ["a", "b"], "safety_identifier": "u1", "service_tier": "flex",
            "reasoning_effort": "high", "response_format": {"type": "json_object"},
        }),
    );
}

#[test]
fn a_stream_asks_for_usage_where_the_host_knows_that() {
    let mut dialect = Dialect::openai();
    for (knows, options) in [(true, json!({"include_usage": true})), (false, Value::Null)] {
        dialect.stream_usage = knows;
        let encoded = encode_request(&dialect, &model("demo"), &hi(), true).unwrap();
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        assert_eq!(
            (&body["stream"], &body["stream_options"]),
            (&json!(true), &options)
        );
    }
}

#[test]
fn tools_and_every_choice_are_sent() {
    let tool = ToolSpec::new("f")
        .with_description("d")
        .with_parameters(json!({"type": "object", "properties": {}}))
        .with_strict(true);
    let request = hi()
        .with_tools([tool, ToolSpec::new("g")])
        .with_parallel_tool_calls(false);
    let choices = [
        (ToolChoice::Auto, json!("auto")),
        (ToolChoice::None, json!("none")),
        (ToolChoice::Required, json!("required")),
        (
            ToolChoice::Tool("g".into()),
            json!({"type": "function", "function": {"name": "g"}}),
        ),
    ];
    for (choice, word) in choices {
        check(
            "demo",
            &request.clone().with_tool_choice(choice),
            json!({
                "messages": [{"role": "user", "content": "hi"}],
                "tools": [
                    {"type": "function", "function": {"name": "f", "description": "d",
                        "parameters": {"type": "object", "properties": {}, "additionalProperties": false},
                        "strict": true}},
                    {"type": "function", "function": {"name": "g"}},
                ],
                "tool_choice": word, "parallel_tool_calls": false,
            }),
        );
    }
}

#[test]
fn choices_without_tools_are_nonsense_or_nothing() {
    let (body, warnings) = encoded(
        &Dialect::openai(),
        &model("demo"),
        &hi()
            .with_tool_choice(ToolChoice::Auto)
            .with_parallel_tool_calls(true),
    );
    assert!(body.get("tool_choice").is_none() && body.get("parallel_tool_calls").is_none());
    assert_eq!(warnings.len(), 2);
    let invalid = |request| {
        assert_eq!(
            refused("demo", &request),
            (ErrorKind::InvalidRequest, "tool_choice".into())
        )
    };
    invalid(hi().with_tool_choice(ToolChoice::Required));
    invalid(with_tool(hi()).with_tool_choice(ToolChoice::Tool("other".into())));
}

#[test]
fn a_model_that_cannot_be_forced_refuses_a_forced_call() {
    let mut stubborn = model("demo");
    stubborn.rejects = vec![Knob::ForcedToolUse];
    let request = with_tool(hi()).with_tool_choice(ToolChoice::Required);
    let dialect = Dialect::openai();
    assert_eq!(
        refused_by(&dialect, &stubborn, &request),
        (ErrorKind::Unsupported, "tool_choice".into())
    );
}

#[test]
fn a_model_of_one_call_at_a_time_is_not_told_so() {
    let mut single = model("demo");
    single.capabilities = Capabilities::unknown().with(Capability::ParallelTools, false);
    let (body, warnings) = encoded(
        &Dialect::openai(),
        &single,
        &with_tool(hi()).with_parallel_tool_calls(false),
    );
    assert!(body.get("parallel_tool_calls").is_none() && warnings.is_empty());
}

#[test]
fn a_schema_is_sent_or_refused() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let mut closed = schema.clone();
    closed["additionalProperties"] = false.into();
    let request = hi().with_output(OutputFormat::json_schema("x", schema));
    check(
        "demo",
        &request,
        json!({
            "messages": [{"role": "user", "content": "hi"}],
            "response_format": {"type": "json_schema",
                "json_schema": {"name": "x", "schema": closed, "strict": true}},
        }),
    );
    let mut dialect = Dialect::openai();
    dialect.json_schema = false;
    assert_eq!(
        refused_by(&dialect, &model("demo"), &request),
        (ErrorKind::Unsupported, "output".into())
    );
}

#[test]
fn effort_is_clamped_to_what_the_endpoint_takes() {
    let sent = |name: &str, effort| {
        let request = hi().with_reasoning(Reasoning::effort(effort));
        let (body, warnings) = encoded(&Dialect::openai(), &model(name), &request);
        (
            body["reasoning_effort"].as_str().unwrap_or("-").to_owned(),
            warnings.len(),
        )
    };
    assert_eq!(sent("gpt-5.2", Effort::XHigh), ("xhigh".into(), 0));
    assert_eq!(sent("gpt-5.6-sol", Effort::Max), ("xhigh".into(), 1));
    assert_eq!(sent("gpt-5", Effort::None), ("low".into(), 1));
    assert_eq!(sent("gpt-5.1", Effort::None), ("none".into(), 0));
    assert_eq!(sent("unheard-of", Effort::Max), ("max".into(), 0));
    let mut plain = model("gpt-4o");
    plain.efforts = Some(vec![]);
    let quiet = hi().with_reasoning(Reasoning::effort(Effort::None));
    assert!(
        encoded(&Dialect::openai(), &plain, &quiet)
            .0
            .get("reasoning_effort")
            .is_none()
    );
    let loud = hi().with_reasoning(Reasoning::effort(Effort::Low));
    let dialect = Dialect::openai();
    assert_eq!(
        refused_by(&dialect, &plain, &loud),
        (ErrorKind::Unsupported, "reasoning.effort".into())
    );
    let mut restless = model("demo");
    restless.rejects = vec![Knob::ThinkingOff];
    assert_eq!(encoded(&dialect, &restless, &quiet).0["reasoning_effort"], "low");
}

#[test]
fn tools_with_reasoning_are_sent_only_where_they_are_served() {
    let none = Reasoning::effort(Effort::None);
    let sent = |name: &str, request: ChatRequest| {
        let (body, warnings) = encoded(&Dialect::openai(), &model(name), &with_tool(request));
        (
            body["reasoning_effort"].as_str().unwrap_or("-").to_owned(),
            warnings.len(),
        )
    };
    assert_eq!(sent("gpt-5.6", hi()), ("none".into(), 1));
    assert_eq!(sent("gpt-5.6", hi().with_reasoning(none)), ("none".into(), 0));
    assert_eq!(sent("gpt-5.4", hi()), ("-".into(), 0));
    assert_eq!(
        sent("gpt-5.2", hi().with_reasoning(Reasoning::effort(Effort::High))),
        ("high".into(), 0)
    );
    let high = with_tool(hi().with_reasoning(Reasoning::effort(Effort::High)));
    assert_eq!(
        refused("gpt-5.6", &high),
        (ErrorKind::Unsupported, "reasoning.effort".into())
    );
    assert_eq!(
        refused("gpt-6-astra", &with_tool(hi())),
        (ErrorKind::Unsupported, "tools".into())
    );
}

#[test]
fn thinking_models_take_no_sampling() {
    let mut sampling = Sampling::default();
    sampling.temperature = Some(1.0);
    sampling.presence_penalty = Some(1.0);
    let request = hi()
        .with_sampling(sampling)
        .with_vendor_option(OPENAI, "logprobs", json!(true));
    let sent = |request: &ChatRequest| {
        let (body, warnings) = encoded(&Dialect::openai(), &model("gpt-5.6"), request);
        let there = |key| body.get(key).is_some();
        (
            there("temperature"),
            there("presence_penalty"),
            there("logprobs"),
            warnings.len(),
        )
    };
    assert_eq!(sent(&request), (false, false, false, 3));
    let quiet = request.with_reasoning(Reasoning::effort(Effort::None));
    assert_eq!(sent(&quiet), (true, false, true, 1));
    let mut rejecting = model("demo");
    rejecting.rejects = vec![Knob::Sampling];
    assert!(
        encoded(&Dialect::openai(), &rejecting, &hi().with_temperature(0.0))
            .0
            .get("temperature")
            .is_none()
    );
}

#[test]
fn numbers_must_be_finite() {
    for number in [f64::NAN, f64::INFINITY] {
        let request = hi().with_temperature(number);
        assert_eq!(
            refused("demo", &request),
            (ErrorKind::InvalidRequest, "sampling.temperature".into())
        );
    }
}

#[test]
fn stop_sequences_are_sent_whole_or_not_at_all() {
    let stop = |count: usize| hi().with_stop((0..count).map(|n| n.to_string()));
    assert_eq!(refused("demo", &stop(5)), (ErrorKind::Unsupported, "stop".into()));
    assert_eq!(refused("o3", &stop(1)), (ErrorKind::Unsupported, "stop".into()));
    assert_eq!(
        encoded(&Dialect::openai(), &model("o1"), &stop(1)).0["stop"],
        json!(["0"])
    );
    let empty = hi().with_stop([String::new()]);
    assert_eq!(
        refused("demo", &empty),
        (ErrorKind::InvalidRequest, "stop[0]".into())
    );
}

#[test]
fn the_cap_on_output_has_two_names() {
    let request = hi().with_max_output_tokens(50);
    let mut dialect = Dialect::compatible();
    assert_eq!(encoded(&dialect, &model("demo"), &request).0["max_tokens"], 50);
    dialect.reasoning_max_tokens_field = MaxTokensField::MaxCompletionTokens;
    let mut thinker = model("demo");
    thinker.capabilities = Capabilities::only([Capability::Reasoning]);
    thinker.limits = ModelLimits::new(None, None, Some(20));
    let (body, warnings) = encoded(&dialect, &thinker, &request);
    assert_eq!(body["max_completion_tokens"], 20);
    assert_eq!(warnings.len(), 1);
    assert_eq!(
        refused("demo", &hi().with_max_output_tokens(0)).0,
        ErrorKind::InvalidRequest
    );
}

#[test]
fn known_options_of_the_vendor_are_copied_and_win() {
    let request = hi()
        .with_user("neutral")
        .with_vendor_option(OPENAI, "verbosity", json!("low"))
        .with_vendor_option(OPENAI, "safety_identifier", json!("own"))
        .with_vendor_option(OPENAI, "n", json!(1))
        .with_vendor_option(OPENAI, "store", Value::Null)
        .with_vendor_option(
            OPENAI,
            "custom_tools",
            json!([{"type": "custom", "custom": {"name": "c"}}]),
        )
        .with_vendor_option(VendorId::from_static("mistral"), "safe_prompt", json!(true));
    check(
        "demo",
        &request,
        json!({
            "messages": [{"role": "user", "content": "hi"}],
            "verbosity": "low", "safety_identifier": "own",
            "tools": [{"type": "custom", "custom": {"name": "c"}}],
        }),
    );
}

#[test]
fn unknown_or_malformed_options_are_refused() {
    let refuse = |key: &str, value: Value| {
        let request = hi().with_vendor_option(OPENAI, key, value);
        let error = encode_request(&Dialect::openai(), &model("demo"), &request, false).unwrap_err();
        (error.kind(), error.message().to_owned())
    };
    assert_eq!(
        refuse("verbositty", json!("low")),
        (
            ErrorKind::Unsupported,
            "vendor.openai.verbositty is not an option known here; is verbosity meant?".into()
        )
    );
    assert!(
        refuse("zzz", json!(1))
            .1
            .contains("put it under vendor.openai.body")
    );
    assert_eq!(refuse("n", json!(2)).0, ErrorKind::Unsupported);
    assert_eq!(refuse("store", json!("yes")).0, ErrorKind::InvalidRequest);
    assert_eq!(
        refuse("body", json!({"stream": true})).0,
        ErrorKind::InvalidRequest
    );
}

#[test]
fn a_raw_patch_takes_the_place_of_fields() {
    let patch = json!({"temperature": null, "seed": 9, "zzz": {"a": 1}});
    let request = hi()
        .with_temperature(1.0)
        .with_vendor_option(OPENAI, "body", patch);
    check(
        "demo",
        &request,
        json!({"messages": [{"role": "user", "content": "hi"}], "seed": 9, "zzz": {"a": 1}}),
    );
}

#[test]
fn what_a_host_does_not_take_is_warned_about() {
    let mut dialect = Dialect::openai();
    dialect.options.seed = None;
    dialect.options.user = None;
    dialect.options.service_tiers = ServiceTiers::NONE;
    dialect.reasoning_effort = false;
    let mut sampling = Sampling::default();
    sampling.seed = Some(1);
    sampling.top_k = Some(1);
    let request = hi()
        .with_sampling(sampling)
        .with_user("u")
        .with_service_tier("flex")
        .with_reasoning(Reasoning::effort(Effort::Low).with_include(true));
    let (body, warnings) = encoded(&dialect, &model("demo"), &request);
    assert_eq!(
        body,
        json!({"model": "demo", "messages": [{"role": "user", "content": "hi"}]})
    );
    let fields: Vec<_> = warnings
        .iter()
        .map(|warning| warning.split(':').next().unwrap())
        .collect();
    assert_eq!(
        fields,
        [
            "reasoning.include",
            "reasoning.effort",
            "sampling.top_k",
            "sampling.seed",
            "user",
            "service_tier"
        ]
    );
}

#[test]
fn openai_gets_its_own_choice_among_some_tools_and_others_the_nearest() {
    let function = |name: &str| json!({"type": "function", "function": {"name": name}});
    let allowed = json!({"type": "allowed_tools",
        "allowed_tools": {"mode": "required", "tools": [function("g")]}});
    let body = json!({"model": "demo", "messages": [{"role": "user", "content": "hi"}],
        "tools": [function("f"), function("g")], "tool_choice": allowed});
    let request = crate::chat_completions::decode_request(body.to_string().as_bytes())
        .unwrap()
        .request;
    check("demo", &request, body);
    let (body, _) = encoded(&Dialect::mistral(), &model("demo"), &request);
    assert_eq!(body["tool_choice"], function("g"));
}

#[test]
fn a_choice_in_the_vendors_own_words_is_not_checked_against_the_neutral_one() {
    let own = json!({"type": "custom", "custom": {"name": "c"}});
    let mut request = hi().with_tool_choice(ToolChoice::Required);
    request.vendor.set(OPENAI, "tool_choice", own.clone());
    let (body, warnings) = encoded(&Dialect::openai(), &model("demo"), &request);
    assert_eq!(body["tool_choice"], own);
    assert_eq!(warnings, [""; 0]);
}

#[test]
fn own_tools_and_choices_in_the_form_of_responses_go_out_in_this_one() {
    let flat = json!({"type": "custom", "name": "sql"});
    let nested = json!({"type": "custom", "custom": {"name": "sql"}});
    let request = hi()
        .with_vendor_option(OPENAI, "custom_tools", json!([flat]))
        .with_vendor_option(
            OPENAI,
            "tool_choice",
            json!({"type": "allowed_tools", "mode": "auto", "tools": [flat]}),
        );
    let (body, warnings) = encoded(&Dialect::openai(), &model("demo"), &request);
    assert_eq!(body["tools"], json!([nested]));
    let allowed = json!({"mode": "auto", "tools": [nested]});
    assert_eq!(
        body["tool_choice"],
        json!({"type": "allowed_tools", "allowed_tools": allowed})
    );
    assert_eq!(warnings, [""; 0]);
}
