mod history;
mod json;

use super::*;
use llm_core::{
    Capabilities, Capability, ModelId, OutputFormat, Reasoning, ReasoningEffort, Sampling, ToolChoice,
    ToolSpec, VendorId,
};
use serde_json::{Value, json};

const OPENAI: VendorId = VendorId::from_static("openai");

fn resolved(name: &str) -> ResolvedModel {
    ResolvedModel::unknown(ModelId::new(name).unwrap())
}

/// What a request becomes for a model, and the fields that are warned about.
fn sent_by(dialect: &Dialect, model: &str, request: &ChatRequest) -> Result<(Value, Vec<String>)> {
    let encoded = encode_request(dialect, &resolved(model), request, false)?;
    let warned = encoded.warnings.into_iter().map(|warning| warning.field);
    Ok((serde_json::from_slice(&encoded.body).unwrap(), warned.collect()))
}

fn sent_to(model: &str, request: &ChatRequest) -> (Value, Vec<String>) {
    sent_by(&Dialect::openai(), model, request).unwrap()
}

/// The body alone, without warnings.
fn body(request: &ChatRequest) -> Value {
    let (body, warned) = sent_to("demo", request);
    assert_eq!(warned, [""; 0], "of {body}");
    body
}

fn refusal(request: &ChatRequest) -> (ErrorKind, String) {
    let error = sent_by(&Dialect::openai(), "demo", request).unwrap_err();
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
    hi().with_vendor_option(OPENAI, key, value)
}

fn effort(level: ReasoningEffort) -> ChatRequest {
    hi().with_reasoning(Reasoning::effort(level))
}

#[test]
fn what_is_not_set_is_not_sent() {
    let input = json!([{"type": "message", "role": "user", "content": "hi"}]);
    assert_eq!(
        body(&hi()),
        json!({"model": "demo", "input": input, "store": false})
    );
    let encoded = encode_request(&Dialect::compatible(), &resolved("demo"), &hi(), true).unwrap();
    let streamed: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!(streamed["stream"], true);
}

#[test]
fn reasoning_models_are_asked_for_what_goes_back() {
    let (luna, warned) = sent_to("gpt-6-luna", &hi());
    assert_eq!(luna["include"], json!(["reasoning.encrypted_content"]));
    assert!(luna.get("reasoning").is_none() && warned.is_empty());
    let (off, _) = sent_to("gpt-6-luna", &effort(ReasoningEffort::None));
    assert_eq!(off["reasoning"], json!({"effort": "none"}));
    assert!(off.get("include").is_none());
    // thinks only when it is told to
    assert!(sent_to("gpt-5.1", &hi()).0.get("include").is_none());
    assert!(sent_to("gpt-4o", &hi()).0.get("include").is_none());
}

#[test]
fn efforts_are_those_of_the_model() {
    use ReasoningEffort::{High, Low, Max, None as Off, XHigh};
    for (model, asked, expected, warned) in [
        ("gpt-6-luna", Max, json!("max"), false),
        ("gpt-5.5", Max, json!("xhigh"), true),
        ("o3", XHigh, json!("high"), true),
        ("gpt-6-astra", Off, json!("low"), true),
        ("gpt-6.2-sol", High, json!("high"), false),
        ("some-model", Low, json!("low"), false),
    ] {
        let (body, warnings) = sent_to(model, &effort(asked));
        assert_eq!(body["reasoning"]["effort"], expected, "{model}");
        assert_eq!(!warnings.is_empty(), warned, "{model}: {warnings:?}");
    }
    let plain = resolved("gpt-4o").with_capabilities(Capabilities::only([Capability::Tools]));
    let encode = |request: &ChatRequest| encode_request(&Dialect::openai(), &plain, request, false);
    assert_eq!(encode(&effort(High)).unwrap_err().kind(), ErrorKind::Unsupported);
    assert!(encode(&effort(Off)).unwrap().warnings.is_empty());
    let shown = hi().with_reasoning(Reasoning::default().with_include(true));
    assert_eq!(encode(&shown).unwrap().warnings[0].field, "reasoning.include");
    assert_eq!(
        sent_to("gpt-6-luna", &shown).0["reasoning"],
        json!({"summary": "auto"})
    );
}

#[test]
fn sampling_is_for_models_that_do_not_think() {
    let mut sampling = Sampling::default();
    sampling.temperature = Some(0.5);
    sampling.top_p = Some(0.25);
    sampling.top_k = Some(40);
    sampling.frequency_penalty = Some(0.5);
    sampling.presence_penalty = Some(-0.5);
    sampling.seed = Some(7);
    let request = hi().with_sampling(sampling);
    let never = [
        "sampling.top_k",
        "sampling.frequency_penalty",
        "sampling.presence_penalty",
        "sampling.seed",
    ];
    let (body, warned) = sent_to("gpt-4o", &request);
    assert_eq!(
        (&body["temperature"], &body["top_p"]),
        (&json!(0.5), &json!(0.25))
    );
    assert_eq!(warned, never);
    let (body, warned) = sent_to("gpt-6-luna", &request);
    assert!(body.get("temperature").is_none() && body.get("top_p").is_none());
    assert_eq!(warned.len(), 6);
    let off = request.with_reasoning(Reasoning::effort(ReasoningEffort::None));
    assert_eq!(sent_to("gpt-6-luna", &off).0["temperature"], 0.5);
    assert_eq!(
        refusal(&hi().with_temperature(f64::NAN)),
        invalid("sampling.temperature")
    );
}

#[test]
fn limits_callers_and_what_there_is_not() {
    let request = hi()
        .with_max_output_tokens(9)
        .with_user("u-1")
        .with_service_tier("flex");
    let sent = body(&request);
    assert_eq!(sent["max_output_tokens"], 9);
    assert_eq!(sent["safety_identifier"], "u-1");
    assert_eq!(sent["service_tier"], "flex");
    assert_eq!(refusal(&hi().with_stop(["END".to_owned()])), unsupported("stop"));
    assert_eq!(
        refusal(&hi().with_max_output_tokens(0)),
        invalid("max_output_tokens")
    );
    assert_eq!(refusal(&ChatRequest::default()), invalid("messages"));
}

#[test]
fn the_form_of_the_answer_is_flat() {
    let schema = json!({"type": "object", "properties": {}});
    let request = hi().with_output(OutputFormat::json_schema("remark", schema.clone()));
    let closed = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let format = json!({"type": "json_schema", "name": "remark", "schema": closed, "strict": true});
    assert_eq!(body(&request)["text"], json!({"format": format}));
    let json = ChatRequest::user("as JSON")
        .with_output(OutputFormat::Json)
        .with_vendor_option(OPENAI, "verbosity", json!("low"));
    assert_eq!(
        body(&json)["text"],
        json!({"format": {"type": "json_object"}, "verbosity": "low"})
    );
    let nameless = hi().with_output(OutputFormat::json_schema("", schema));
    assert_eq!(refusal(&nameless), invalid("output.name"));
}

#[test]
fn json_is_asked_for_in_words() {
    let request = hi().with_output(OutputFormat::Json);
    for (model, role) in [("gpt-6-luna", "developer"), ("gpt-4o", "system")] {
        let (body, warned) = sent_to(model, &request);
        let added = json!({"type": "message", "role": role, "content": "Answer in JSON."});
        assert_eq!(
            (&body["input"][0], body["input"].as_array().unwrap().len()),
            (&added, 2)
        );
        assert_eq!(warned, ["output"]);
    }
    let (body, warned) = sent_by(&Dialect::compatible(), "demo", &request).unwrap();
    assert_eq!((body["input"].as_array().unwrap().len(), warned.len()), (1, 0));
    let said = ChatRequest::user("as JSON").with_output(OutputFormat::Json);
    assert_eq!(self::body(&said)["input"].as_array().unwrap().len(), 1);
}

#[test]
fn what_the_vendor_does_not_take_as_strict_is_not_sent_as_strict() {
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let tool = ToolSpec::new("f").with_parameters(open.clone()).with_strict(true);
    let request = hi()
        .with_tools([tool])
        .with_output(OutputFormat::json_schema("x", open.clone()));
    let (body, warned) = sent_to("demo", &request);
    let (function, format) = (&body["tools"][0], &body["text"]["format"]);
    assert_eq!(
        (&function["strict"], &function["parameters"]),
        (&json!(false), &open)
    );
    assert_eq!((&format["strict"], &format["schema"]), (&json!(false), &open));
    assert_eq!(warned, ["tools[0].strict", "output.strict"]);
    let (body, warned) = sent_by(&Dialect::compatible(), "demo", &request).unwrap();
    assert_eq!(
        (&body["tools"][0]["strict"], &body["text"]["format"]["strict"]),
        (&json!(true), &json!(true))
    );
    assert!(warned.is_empty());
}

#[test]
fn tools_are_flat_and_strict_only_where_they_say_so() {
    let parameters = json!({"type": "object", "properties": {"r": {"type": "number"}}});
    let request = hi()
        .with_tools([
            ToolSpec::new("area")
                .with_description("An area.")
                .with_parameters(parameters.clone()),
            ToolSpec::new("geo.now").with_strict(true),
        ])
        .with_tool_choice(ToolChoice::Tool("geo.now".to_owned()))
        .with_parallel_tool_calls(false)
        .with_vendor_option(OPENAI, "custom_tools", json!([{"type": "web_search"}]));
    let sent = body(&request);
    let nothing = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    assert_eq!(
        sent["tools"],
        json!([
            {"type": "function", "name": "area", "description": "An area.", "parameters": parameters, "strict": false},
            {"type": "function", "name": "geo_now", "parameters": nothing, "strict": true},
            {"type": "web_search"},
        ])
    );
    assert_eq!(
        sent["tool_choice"],
        json!({"type": "function", "name": "geo_now"})
    );
    assert_eq!(sent["parallel_tool_calls"], false);
    let encoded = encode_request(&Dialect::openai(), &resolved("demo"), &request, false).unwrap();
    assert_eq!(encoded.tool_names.own("geo_now"), "geo.now");
    for (choice, word) in [
        (ToolChoice::Auto, "auto"),
        (ToolChoice::None, "none"),
        (ToolChoice::Required, "required"),
    ] {
        assert_eq!(
            body(&request.clone().with_tool_choice(choice))["tool_choice"],
            word
        );
    }
    let unknown = request.with_tool_choice(ToolChoice::Tool("other".to_owned()));
    assert_eq!(refusal(&unknown), invalid("tool_choice"));
    assert_eq!(
        refusal(&hi().with_tool_choice(ToolChoice::Required)),
        invalid("tool_choice")
    );
    let idle = hi()
        .with_tool_choice(ToolChoice::Auto)
        .with_parallel_tool_calls(true);
    assert_eq!(sent_to("demo", &idle).1, ["tool_choice", "parallel_tool_calls"]);
}

#[test]
fn the_options_bag_wins() {
    let request = effort(ReasoningEffort::High)
        .with_user("neutral")
        .with_vendor_option(OPENAI, "reasoning_effort", json!("minimal"))
        .with_vendor_option(OPENAI, "safety_identifier", json!("own"))
        .with_vendor_option(OPENAI, "store", json!(true))
        .with_vendor_option(OPENAI, "prompt_cache_key", json!("manual-v3"))
        .with_vendor_option(OPENAI, "logprobs", json!(true))
        .with_vendor_option(OPENAI, "include", json!(["web_search_call.results"]));
    let sent = body(&request);
    assert_eq!(sent["reasoning"], json!({"effort": "minimal"}));
    assert_eq!(sent["safety_identifier"], "own");
    assert_eq!(sent["store"], true);
    assert_eq!(sent["prompt_cache_key"], "manual-v3");
    assert_eq!(
        sent["include"],
        json!(["web_search_call.results", "message.output_text.logprobs"])
    );
    for (name, inside) in [
        ("reasoning", json!({"mode": "pro"})),
        ("text", json!({"verbosity": "low"})),
    ] {
        assert_eq!(body(&own(name, inside.clone()))[name], inside);
    }
    let patched = own(
        "body",
        json!({"store": null, "truncation": "auto", "safety_identifier": "x"}),
    );
    let sent = body(&patched);
    assert!(sent.get("store").is_none());
    assert_eq!(
        (&sent["truncation"], &sent["safety_identifier"]),
        (&json!("auto"), &json!("x"))
    );
    assert_eq!(
        refusal(&own("logit_bias", json!({}))),
        unsupported("vendor.openai.logit_bias")
    );
    assert_eq!(
        refusal(&own("store", json!("yes"))),
        invalid("vendor.openai.store")
    );
    assert_eq!(body(&own("n", json!(1))), body(&hi()));
    assert_eq!(refusal(&own("n", json!(2))), unsupported("vendor.openai.n"));
    // of somebody else: named, but where this vendor was thought of too
    let other = hi().with_vendor_option(VendorId::from_static("acme"), "x", json!(1));
    assert_eq!(
        sent_to("demo", &other),
        (body(&hi()), vec!["vendor.acme.x".to_owned()])
    );
    assert_eq!(
        body(&other.with_vendor_option(VendorId::from_static("openai"), "n", json!(1))),
        body(&hi())
    );
}

#[test]
fn own_tools_and_choices_in_the_form_of_chat_completions_go_out_in_this_one() {
    let f = || json!({"type": "function", "function": {"name": "f"}});
    let allowed = json!({"mode": "required", "tools": [f(), {"type": "custom", "custom": {"name": "sql"}}]});
    let request = hi().with_tools([ToolSpec::new("f")]).with_vendor_option(
        OPENAI,
        "custom_tools",
        json!([{"type": "custom", "custom": {"name": "sql", "description": "d"}}]),
    );
    let choice = |own: Value| body(&request.clone().with_vendor_option(OPENAI, "tool_choice", own));
    let sent = choice(json!({"type": "allowed_tools", "allowed_tools": allowed}));
    assert_eq!(
        sent["tools"][1],
        json!({"type": "custom", "name": "sql", "description": "d"})
    );
    assert_eq!(
        sent["tool_choice"],
        json!({"type": "allowed_tools", "mode": "required",
            "tools": [{"type": "function", "name": "f"}, {"type": "custom", "name": "sql"}]})
    );
    assert_eq!(
        choice(f())["tool_choice"],
        json!({"type": "function", "name": "f"})
    );
    let custom = json!({"type": "custom", "custom": {"name": "sql"}});
    assert_eq!(
        choice(custom)["tool_choice"],
        json!({"type": "custom", "name": "sql"})
    );
}
