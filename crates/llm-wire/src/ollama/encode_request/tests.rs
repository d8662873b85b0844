mod history;

use super::*;
use llm_core::{
    Capabilities, Capability, ModelId, OutputFormat, Reasoning, ReasoningEffort, Sampling, ToolChoice,
    ToolSpec, VendorId,
};
use serde_json::{Value, json};

const OLLAMA: VendorId = VendorId::from_static("ollama");

fn resolved(name: &str) -> ResolvedModel {
    ResolvedModel::unknown(ModelId::new(name).unwrap())
}

/// What a request becomes for a model, and the fields that are warned about.
fn sent_to(model: &ResolvedModel, request: &ChatRequest) -> Result<(Value, Vec<String>)> {
    let encoded = encode_request(&Dialect::ollama(), model, request, true)?;
    let warned = encoded
        .warnings
        .into_iter()
        .map(|warning| warning.field)
        .collect();
    Ok((serde_json::from_slice(&encoded.body).unwrap(), warned))
}

fn sent(request: &ChatRequest) -> (Value, Vec<String>) {
    sent_to(&resolved("demo"), request).unwrap()
}

/// The body alone, without warnings.
fn body(request: &ChatRequest) -> Value {
    let (body, warned) = sent(request);
    assert_eq!(warned, [""; 0], "of {body}");
    body
}

fn refusal(request: &ChatRequest) -> (ErrorKind, String) {
    let error = sent_to(&resolved("demo"), request).unwrap_err();
    (error.kind(), error.vendor().param.clone().unwrap())
}

fn unsupported(field: &str) -> (ErrorKind, String) {
    (ErrorKind::Unsupported, field.to_owned())
}

fn invalid(field: &str) -> (ErrorKind, String) {
    (ErrorKind::InvalidRequest, field.to_owned())
}

fn hi() -> ChatRequest {
    ChatRequest::user("hi")
}

fn own(key: &str, value: Value) -> ChatRequest {
    hi().with_vendor_option(OLLAMA, key, value)
}

#[test]
fn what_is_not_set_is_not_sent() {
    let messages = json!([{"role": "user", "content": "hi"}]);
    assert_eq!(
        body(&hi()),
        json!({"model": "demo", "messages": messages, "stream": true, "truncate": false})
    );
    let mut dialect = Dialect::ollama();
    dialect.cuts_long_prompts = true;
    let encoded = encode_request(&dialect, &resolved("demo"), &hi(), false).unwrap();
    let sent: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!(
        sent,
        json!({"model": "demo", "messages": messages, "stream": false})
    );
}

#[test]
fn settings_stand_in_the_options() {
    let mut sampling = Sampling::default();
    sampling.temperature = Some(0.5);
    sampling.top_p = Some(0.25);
    sampling.top_k = Some(40);
    sampling.frequency_penalty = Some(0.5);
    sampling.presence_penalty = Some(-0.5);
    sampling.seed = Some(1 << 40);
    let request = hi()
        .with_sampling(sampling.clone())
        .with_max_output_tokens(9)
        .with_stop(["a".to_owned()])
        .with_vendor_option(OLLAMA, "num_ctx", json!(8192))
        .with_vendor_option(OLLAMA, "temperature", json!(null))
        .with_vendor_option(OLLAMA, "options", json!({"mirostat": 1, "top_k": 3}));
    assert_eq!(
        body(&request)["options"],
        json!({"num_ctx": 8192, "mirostat": 1, "top_k": 3, "temperature": 0.5, "top_p": 0.25,
            "frequency_penalty": 0.5, "presence_penalty": -0.5, "seed": 1_u64 << 40, "num_predict": 9, "stop": ["a"]})
    );
    assert_eq!(
        refusal(&hi().with_max_output_tokens(0)),
        invalid("max_output_tokens")
    );
    assert_eq!(refusal(&hi().with_stop([String::new()])), invalid("stop[0]"));
    sampling.top_p = Some(f64::INFINITY);
    assert_eq!(refusal(&hi().with_sampling(sampling)), invalid("sampling.top_p"));
    let (_, warned) = sent(&hi().with_user("u").with_service_tier("flex"));
    assert_eq!(warned, ["user", "service_tier"]);
}

#[test]
fn keys_of_the_bag_stand_where_they_belong() {
    let request = own("keep_alive", json!(-1))
        .with_vendor_option(OLLAMA, "truncate", json!(true))
        .with_vendor_option(OLLAMA, "think", json!("max"))
        .with_vendor_option(OLLAMA, "min_p", json!(0.1))
        .with_vendor_option(VendorId::from_static("openai"), "unknown", json!(1))
        .with_reasoning(Reasoning::effort(ReasoningEffort::Low));
    let sent = body(&request);
    assert_eq!(
        (&sent["keep_alive"], &sent["truncate"], &sent["think"]),
        (&json!(-1), &json!(true), &json!("max"))
    );
    assert_eq!(sent["options"], json!({"min_p": 0.1}));
    assert_eq!(
        refusal(&own("keep_alive", json!(true))),
        invalid("vendor.ollama.keep_alive")
    );
    assert_eq!(refusal(&own("think", json!(1))), invalid("vendor.ollama.think"));
    assert_eq!(
        refusal(&own("num_ctx", json!("big"))),
        invalid("vendor.ollama.num_ctx")
    );
    assert_eq!(
        refusal(&own("mirostat", json!(1))),
        unsupported("vendor.ollama.mirostat")
    );
}

#[test]
fn the_patch_comes_last_and_reaches_inside() {
    let patch = json!({"options": {"num_predict": null, "top_k": 3}, "truncate": null, "new": 1});
    let sent = body(&own("body", patch).with_max_output_tokens(9).with_temperature(0.5));
    assert_eq!(sent["options"], json!({"temperature": 0.5, "top_k": 3}));
    assert_eq!((&sent["truncate"], &sent["new"]), (&Value::Null, &json!(1)));
    assert_eq!(
        refusal(&own("body", json!({"stream": false}))),
        invalid("vendor.ollama.body.stream")
    );
}

#[test]
fn effort_is_a_level_or_a_switch() {
    use ReasoningEffort as E;
    let mut levels = resolved("cloud-model");
    levels.efforts = Some(vec![E::Low, E::Medium, E::High, E::Max]);
    let no_thought =
        resolved("plain").with_capabilities(Capabilities::unknown().with(Capability::Reasoning, false));
    let mut always = resolved("always-thinks");
    always.rejects = vec![llm_core::model::Knob::ThinkingOff];
    for (model, asked, think, warns) in [
        (resolved("qwen4:8b"), E::None, json!(false), false),
        (resolved("qwen4:8b"), E::High, json!(true), true),
        (resolved("gpt-oss:20b"), E::Medium, json!("medium"), false),
        (resolved("library/gpt-oss:20b"), E::Max, json!("high"), true),
        (resolved("gpt-oss"), E::None, json!("low"), true),
        (levels.clone(), E::Max, json!("max"), false),
        (levels.clone(), E::XHigh, json!("high"), true),
        (levels, E::None, json!(false), false),
        (no_thought.clone(), E::None, Value::Null, false),
        (always, E::None, json!(true), true),
    ] {
        let (body, warned) = sent_to(&model, &hi().with_reasoning(Reasoning::effort(asked))).unwrap();
        assert_eq!(
            (&body["think"], !warned.is_empty()),
            (&think, warns),
            "{} {asked:?}",
            model.id
        );
    }
    let asked = hi().with_reasoning(Reasoning::effort(E::Low));
    assert_eq!(
        sent_to(&no_thought, &asked).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    let shown = hi().with_reasoning(Reasoning::default().with_include(true));
    assert_eq!(sent_to(&no_thought, &shown).unwrap().1, ["reasoning.include"]);
    assert_eq!(body(&shown)["think"], Value::Null);
}

#[test]
fn tools_are_offered() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let tools = [
        ToolSpec::new("f")
            .with_description("does f")
            .with_parameters(schema.clone()),
        ToolSpec::new("g"),
    ];
    assert_eq!(
        body(&hi().with_tools(tools))["tools"],
        json!([
            {"type": "function", "function": {"name": "f", "description": "does f", "parameters": schema}},
            {"type": "function", "function": {"name": "g", "parameters": {"type": "object", "properties": {}}}},
        ])
    );
    let (_, warned) = sent(&hi().with_tools([ToolSpec::new("f").with_strict(true)]));
    assert_eq!(warned, ["tools[0].strict"]);
    assert_eq!(
        refusal(&hi().with_tools([ToolSpec::new("")])),
        invalid("tools[0].name")
    );
    let odd = ToolSpec::new("f").with_parameters(json!([]));
    assert_eq!(refusal(&hi().with_tools([odd])), invalid("tools[0].parameters"));
}

#[test]
fn a_choice_is_said_in_words() {
    let tools = || hi().with_tools([ToolSpec::new("f"), ToolSpec::new("g")]);
    let names = |body: &Value| -> Vec<String> {
        let tools = body["tools"].as_array().cloned().unwrap_or_default();
        tools
            .iter()
            .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        names(&body(&tools().with_tool_choice(ToolChoice::Auto))),
        ["f", "g"]
    );
    assert_eq!(names(&body(&tools().with_tool_choice(ToolChoice::None))), [""; 0]);
    let mut named = tools().with_tool_choice(ToolChoice::Tool("g".into()));
    named.messages.insert(0, llm_core::Message::system("Be brief."));
    let (sent, warned) = sent(&named);
    assert_eq!(names(&sent), ["g"]);
    assert_eq!(warned, ["tool_choice"]);
    assert_eq!(
        sent["messages"],
        json!([
            {"role": "system", "content": "Be brief."},
            {"role": "system", "content": "Answer with a call of the tool g."},
            {"role": "user", "content": "hi"},
        ])
    );
    let none = ToolChoice::Tool("none".into());
    assert_eq!(refusal(&tools().with_tool_choice(none)), invalid("tool_choice"));
    assert_eq!(
        refusal(&hi().with_tool_choice(ToolChoice::Required)),
        invalid("tool_choice")
    );
    assert_eq!(
        refusal(&tools().with_parallel_tool_calls(false)),
        unsupported("parallel_tool_calls")
    );
    body(&tools().with_parallel_tool_calls(true));
}

#[test]
fn json_is_asked_for_by_format() {
    assert_eq!(body(&hi().with_output(OutputFormat::Json))["format"], "json");
    let schema = json!({"type": "object"});
    let mut output = OutputFormat::json_schema("out", schema.clone());
    assert_eq!(body(&hi().with_output(output.clone()))["format"], schema);
    if let OutputFormat::JsonSchema { description, .. } = &mut output {
        *description = Some("why".into());
    }
    let described = json!({"type": "object", "description": "why"});
    assert_eq!(body(&hi().with_output(output.clone()))["format"], described);
    let (_, warned) = sent(&hi().with_output(output).with_tools([ToolSpec::new("f")]));
    assert_eq!(warned, ["output"]);
    let odd = OutputFormat::json_schema("out", json!("string"));
    assert_eq!(refusal(&hi().with_output(odd)), invalid("output.schema"));
}
