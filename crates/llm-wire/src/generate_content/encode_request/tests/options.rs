use super::*;
use llm_core::{
    Capabilities, Capability, ModelLimits, OutputFormat, Reasoning, ReasoningEffort, Sampling, ToolChoice,
    ToolSpec, VendorId,
};

const GEMINI: VendorId = VendorId::from_static("gemini");

fn hi() -> ChatRequest {
    ChatRequest::user("hi")
}

fn config(name: &str, request: &ChatRequest) -> (Value, Vec<String>) {
    let (mut body, warned) = sent_to(name, request).unwrap();
    (body["generationConfig"].take(), warned)
}

fn effort(effort: ReasoningEffort) -> ChatRequest {
    hi().with_reasoning(Reasoning::effort(effort))
}

fn own(key: &str, value: Value) -> ChatRequest {
    hi().with_vendor_option(GEMINI, key, value)
}

#[test]
fn efforts_are_levels_or_budgets() {
    use ReasoningEffort as E;
    let level = |word: &str| json!({"thinkingConfig": {"thinkingLevel": word}});
    let budget = |tokens: u32| json!({"thinkingConfig": {"thinkingBudget": tokens}});
    for (name, asked, sent, warns) in [
        ("gemini-4-argon", E::Low, level("low"), false),
        ("gemini-4-argon", E::High, level("high"), false),
        ("gemini-4-argon", E::Max, level("high"), true),
        ("gemini-4-argon", E::None, level("low"), true),
        ("gemini-4-hydrogen", E::XHigh, level("xhigh"), false),
        ("gemini-4-hydrogen", E::Max, level("xhigh"), true),
        ("gemini-3.5-flash", E::None, level("minimal"), true),
        ("gemini-2.5-flash", E::None, budget(0), false),
        ("gemini-2.5-flash", E::Max, budget(24_576), false),
        ("gemini-2.5-pro", E::None, budget(128), true),
        ("gemini-2.5-pro", E::Low, budget(2_048), false),
        ("gemini-2.5-pro", E::XHigh, budget(24_576), false),
        ("gemini-2.5-pro", E::Max, budget(32_768), false),
        ("gemini-2.0-flash", E::None, Value::Null, false),
        ("gemma-4-31b-it", E::High, Value::Null, true),
    ] {
        let (config, warned) = config(name, &effort(asked));
        assert_eq!((config, !warned.is_empty()), (sent, warns), "{name} {asked:?}");
    }
    assert_eq!(
        refusal_of("gemini-2.0-flash", &effort(E::Low)),
        unsupported("reasoning.effort")
    );
}

#[test]
fn the_catalogue_narrows_the_levels() {
    use ReasoningEffort as E;
    let mut resolved = ResolvedModel::unknown(ModelId::new("gemini-4-argon").unwrap());
    let mut level = |efforts: Option<Vec<E>>, asked: E| {
        resolved.efforts = efforts;
        sent(&Dialect::gemini(), &resolved, &effort(asked))
            .map(|(body, _)| body["generationConfig"]["thinkingConfig"]["thinkingLevel"].clone())
    };
    assert_eq!(level(Some(vec![E::Low]), E::High).unwrap(), "low");
    assert_eq!(level(Some(vec![E::XHigh]), E::High).unwrap(), "high");
    assert_eq!(level(Some(vec![]), E::None).unwrap(), Value::Null);
    assert_eq!(
        level(Some(vec![]), E::Low).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
}

#[test]
fn thoughts_are_shown_where_there_are_some() {
    let shown = hi().with_reasoning(Reasoning::default().with_include(true));
    let include = json!({"thinkingConfig": {"includeThoughts": true}});
    assert_eq!(config("gemini-4-argon", &shown), (include, vec![]));
    assert_eq!(
        config("gemini-2.0-flash", &shown),
        (Value::Null, vec!["reasoning.include".to_owned()])
    );
    let mut own = own("thinkingConfig", json!({"thinkingBudget": -1}));
    own.reasoning = Some(Reasoning::effort(ReasoningEffort::Low).with_include(true));
    let both = json!({"thinkingConfig": {"thinkingBudget": -1, "includeThoughts": true}});
    assert_eq!(config("gemini-2.5-pro", &own), (both, vec![]));
}

#[test]
fn sampling_goes_where_it_is_taken() {
    let mut sampling = Sampling::default();
    sampling.temperature = Some(0.5);
    sampling.top_p = Some(0.25);
    sampling.top_k = Some(40);
    sampling.frequency_penalty = Some(0.5);
    sampling.presence_penalty = Some(-0.5);
    sampling.seed = Some(7);
    let request = hi().with_sampling(sampling.clone());
    let all = json!({"temperature": 0.5, "topP": 0.25, "topK": 40, "frequencyPenalty": 0.5,
        "presencePenalty": -0.5, "seed": 7});
    assert_eq!(config("gemini-2.0-flash", &request), (all.clone(), vec![]));
    let penalties = ["sampling.frequency_penalty", "sampling.presence_penalty"].map(str::to_owned);
    let without = json!({"temperature": 0.5, "topP": 0.25, "topK": 40, "seed": 7});
    assert_eq!(config("gemini-4-argon", &request), (without, penalties.to_vec()));
    let (flash, warned) = config("gemini-3.8-flash", &request);
    assert_eq!((flash, warned.len()), (json!({"seed": 7}), 5));
    let resolved = ResolvedModel::unknown(ModelId::new("gemini-2.5-pro").unwrap());
    let (vertex, warned) = sent(&Dialect::vertex(), &resolved, &request).unwrap();
    assert_eq!((&vertex["generationConfig"], warned), (&all, vec![]));
    sampling.seed = Some(1 << 40);
    let (_, warned) = config("gemini-2.0-flash", &hi().with_sampling(sampling.clone()));
    assert_eq!(warned, ["sampling.seed"]);
    sampling.top_p = Some(f64::NAN);
    assert_eq!(refusal(&hi().with_sampling(sampling)), invalid("sampling.top_p"));
}

#[test]
fn limits_hold() {
    let stop = |count: usize| hi().with_stop((0..count).map(|number| format!("s{number}")));
    let (config, _) = config("demo", &stop(5).with_max_output_tokens(9));
    assert_eq!(
        config,
        json!({"maxOutputTokens": 9, "stopSequences": ["s0", "s1", "s2", "s3", "s4"]})
    );
    assert_eq!(refusal(&stop(6)), unsupported("stop"));
    assert_eq!(refusal(&hi().with_stop([String::new()])), invalid("stop[0]"));
    assert_eq!(
        refusal(&hi().with_max_output_tokens(0)),
        invalid("max_output_tokens")
    );
    let limits = ModelLimits::new(None, None, Some(100));
    let resolved = ResolvedModel::unknown(ModelId::new("demo").unwrap()).with_limits(limits);
    let (body, warned) = sent(&Dialect::gemini(), &resolved, &hi().with_max_output_tokens(101)).unwrap();
    assert_eq!(body["generationConfig"]["maxOutputTokens"], 100);
    assert_eq!(warned, ["max_output_tokens"]);
    let (body, _) = sent_to("demo", &hi().with_max_output_tokens(u32::MAX)).unwrap();
    assert_eq!(body["generationConfig"]["maxOutputTokens"], i32::MAX);
}

#[test]
fn tools_are_declared() {
    let schema = json!({"type": "object", "properties": {"a": {"const": "x"}}, "required": ["a"]});
    let tools = [
        ToolSpec::new("f")
            .with_description("does f")
            .with_parameters(schema),
        ToolSpec::new("g").with_parameters(json!({"type": "object", "properties": {}})),
        ToolSpec::new("h").with_parameters(json!({"properties": {"b": {}}})),
        ToolSpec::new("i"),
    ];
    assert_eq!(
        body(&hi().with_tools(tools))["tools"],
        json!([{"functionDeclarations": [
            {"name": "f", "description": "does f", "parametersJsonSchema":
                {"properties": {"a": {"type": "string", "enum": ["x"]}}, "required": ["a"], "type": "object"}},
            {"name": "g"},
            {"name": "h", "parametersJsonSchema": {"properties": {"b": {}}, "type": "object"}},
            {"name": "i"},
        ]}])
    );
    let with = |parameters: Value| hi().with_tools([ToolSpec::new("f").with_parameters(parameters)]);
    assert_eq!(
        refusal(&with(json!({"$ref": "https://x"}))),
        unsupported("tools[0].parameters")
    );
    assert_eq!(refusal(&with(json!("string"))), invalid("tools[0].parameters"));
    assert_eq!(
        refusal(&hi().with_tools([ToolSpec::new("")])),
        invalid("tools[0].name")
    );
    let (_, warned) = sent_to("demo", &with(json!({"properties": {"a": {"pattern": "x"}}}))).unwrap();
    assert_eq!(warned, ["tools[0].parameters"]);
    let (_, warned) = sent_to("demo", &with(json!({"properties": {"a": {"$ref": "#"}}}))).unwrap();
    assert_eq!(warned, ["tools[0].parameters"]);
}

#[test]
fn choices_are_modes() {
    let tools = |strict| hi().with_tools([ToolSpec::new("f").with_strict(strict), ToolSpec::new("g")]);
    let mode = |request: &ChatRequest| body(request)["toolConfig"]["functionCallingConfig"].clone();
    assert_eq!(mode(&tools(false)), Value::Null);
    assert_eq!(mode(&tools(true)), json!({"mode": "VALIDATED"}));
    for (choice, plain, strict) in [
        (
            ToolChoice::Auto,
            json!({"mode": "AUTO"}),
            json!({"mode": "VALIDATED"}),
        ),
        (ToolChoice::None, json!({"mode": "NONE"}), json!({"mode": "NONE"})),
        (
            ToolChoice::Required,
            json!({"mode": "ANY"}),
            json!({"mode": "ANY"}),
        ),
        (
            ToolChoice::Tool("g".into()),
            json!({"mode": "ANY", "allowedFunctionNames": ["g"]}),
            json!({"mode": "ANY", "allowedFunctionNames": ["g"]}),
        ),
    ] {
        assert_eq!(mode(&tools(false).with_tool_choice(choice.clone())), plain);
        assert_eq!(mode(&tools(true).with_tool_choice(choice)), strict);
    }
    let none = ToolChoice::Tool("none".into());
    assert_eq!(
        refusal(&tools(false).with_tool_choice(none)),
        invalid("tool_choice")
    );
    assert_eq!(
        refusal(&hi().with_tool_choice(ToolChoice::Required)),
        invalid("tool_choice")
    );
    let (_, warned) = sent_to("demo", &hi().with_tool_choice(ToolChoice::None)).unwrap();
    assert_eq!(warned, ["tool_choice"]);
}

#[test]
fn one_call_at_a_time_cannot_be_promised() {
    let tools = || hi().with_tools([ToolSpec::new("f")]);
    assert_eq!(
        refusal(&tools().with_parallel_tool_calls(false)),
        unsupported("parallel_tool_calls")
    );
    body(&tools().with_parallel_tool_calls(true));
    let one = Capabilities::unknown().with(Capability::ParallelTools, false);
    let resolved = ResolvedModel::unknown(ModelId::new("demo").unwrap()).with_capabilities(one);
    sent(
        &Dialect::gemini(),
        &resolved,
        &tools().with_parallel_tool_calls(false),
    )
    .unwrap();
}

#[test]
fn tools_of_the_vendors_own_stand_beside_functions() {
    let search = || own("serverTools", json!([{"googleSearch": {}}]));
    assert_eq!(body(&search())["tools"], json!([{"googleSearch": {}}]));
    let mixed = search().with_tools([ToolSpec::new("f")]);
    let sent = body(&mixed);
    assert_eq!(
        sent["tools"],
        json!([{"functionDeclarations": [{"name": "f"}]}, {"googleSearch": {}}])
    );
    let config =
        json!({"functionCallingConfig": {"mode": "VALIDATED"}, "includeServerSideToolInvocations": true});
    assert_eq!(sent["toolConfig"], config);
    assert_eq!(
        refusal_of("gemini-2.5-pro", &mixed),
        unsupported("vendor.gemini.serverTools")
    );
    let (none, warned) = sent_to("demo", &mixed.with_tool_choice(ToolChoice::None)).unwrap();
    assert_eq!(none["tools"], json!([{"functionDeclarations": [{"name": "f"}]}]));
    assert_eq!(warned, ["tool_choice"]);
}

#[test]
fn json_is_asked_for_by_schema() {
    let schema = json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}});
    let mut output = OutputFormat::json_schema("out", schema);
    if let OutputFormat::JsonSchema { description, .. } = &mut output {
        *description = Some("why".into());
    }
    let asked = hi().with_output(output);
    assert_eq!(
        body(&asked)["generationConfig"],
        json!({"responseMimeType": "application/json", "responseJsonSchema": {
            "properties": {"a": {"type": ["string", "null"]}}, "type": "object", "description": "why"}})
    );
    let plain = hi().with_output(OutputFormat::Json);
    assert_eq!(
        body(&plain)["generationConfig"],
        json!({"responseMimeType": "application/json"})
    );
    let tool = || [ToolSpec::new("f")];
    body(&plain.clone().with_tools(tool()));
    assert_eq!(
        refusal_of("gemini-2.5-pro", &plain.clone().with_tools(tool())),
        unsupported("output")
    );
    let forced = asked.with_tools(tool()).with_tool_choice(ToolChoice::Required);
    assert_eq!(refusal(&forced), unsupported("output"));
    let strict = plain.with_tools([ToolSpec::new("f").with_strict(true)]);
    let (sent, warned) = sent_to("demo", &strict).unwrap();
    assert_eq!(
        (&sent["toolConfig"], warned),
        (&Value::Null, vec!["tools".to_owned()])
    );
    let own = hi().with_output(OutputFormat::Json).with_vendor_option(
        GEMINI,
        "responseMimeType",
        json!("text/x.enum"),
    );
    assert_eq!(
        body(&own)["generationConfig"],
        json!({"responseMimeType": "text/x.enum"})
    );
}

#[test]
fn keys_of_the_bag_stand_where_they_belong() {
    let request = own("safetySettings", json!([{"category": "c", "threshold": "OFF"}]))
        .with_vendor_option(GEMINI, "responseModalities", json!(["TEXT", "IMAGE"]))
        .with_vendor_option(GEMINI, "store", json!(false))
        .with_vendor_option(GEMINI, "candidateCount", json!(1))
        .with_vendor_option(GEMINI, "mediaResolution", json!(null))
        .with_vendor_option(VendorId::from_static("openai"), "unknown", json!(1))
        .with_service_tier("flex");
    assert_eq!(
        body(&request),
        json!({"contents": [user(json!([{"text": "hi"}]))], "safetySettings": [{"category": "c", "threshold": "OFF"}],
            "store": false, "generationConfig": {"responseModalities": ["TEXT", "IMAGE"], "candidateCount": 1},
            "serviceTier": "flex"})
    );
    assert_eq!(
        refusal(&own("safetySetting", json!([]))),
        unsupported("vendor.gemini.safetySetting")
    );
    assert_eq!(
        refusal(&own("safetySettings", json!({}))),
        invalid("vendor.gemini.safetySettings")
    );
    assert_eq!(
        refusal(&own("candidateCount", json!(2))),
        unsupported("vendor.gemini.candidateCount")
    );
    let labels = own("labels", json!({"a": "b"}));
    assert_eq!(refusal(&labels), unsupported("vendor.gemini.labels"));
    let resolved = ResolvedModel::unknown(ModelId::new("demo").unwrap());
    let (vertex, _) = sent(&Dialect::vertex(), &resolved, &labels).unwrap();
    assert_eq!(vertex["labels"], json!({"a": "b"}));
}

#[test]
fn cached_content_brings_its_own_instructions_and_tools() {
    let request = ChatRequest::new([llm_core::Message::system("s"), llm_core::Message::user("hi")])
        .with_tools([ToolSpec::new("f")])
        .with_tool_choice(ToolChoice::Auto)
        .with_vendor_option(GEMINI, "cachedContent", json!("cachedContents/x"));
    let (sent, warned) = sent_to("demo", &request).unwrap();
    let contents = json!([user(json!([{"text": "hi"}]))]);
    assert_eq!(
        sent,
        json!({"contents": contents, "cachedContent": "cachedContents/x"})
    );
    assert_eq!(warned, ["messages", "tools", "tool_choice"]);
}

#[test]
fn the_patch_comes_last_and_reaches_inside() {
    let patch = json!({"generationConfig": {"temperature": null, "topK": 3, "new": {"a": 1}}, "contents": null,
        "brandNew": true});
    let request = own("body", patch).with_temperature(0.5).with_max_output_tokens(9);
    assert_eq!(
        body(&request),
        json!({"generationConfig": {"maxOutputTokens": 9, "topK": 3, "new": {"a": 1}}, "brandNew": true})
    );
    let whole = own(
        "body",
        json!({"generationConfig": {"topK": 3}, "toolConfig": {"a": 1}}),
    );
    let sent = body(&whole);
    assert_eq!(
        (&sent["generationConfig"], &sent["toolConfig"]),
        (&json!({"topK": 3}), &json!({"a": 1}))
    );
    assert_eq!(refusal(&own("body", json!([]))), invalid("vendor.gemini.body"));
}

#[test]
fn a_class_of_service_of_another_vendor_is_not_sent() {
    assert_eq!(
        body(&hi().with_service_tier("priority"))["serviceTier"],
        "priority"
    );
    let (sent, warned) = sent_to("gemini-4-argon", &hi().with_service_tier("standard_only")).unwrap();
    assert!(sent.get("serviceTier").is_none());
    assert_eq!(warned, ["service_tier"]);
}
