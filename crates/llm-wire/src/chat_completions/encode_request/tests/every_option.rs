//! Each option of a request changes what is sent, or is warned about, or is refused: in every dialect.

use super::*;

/// The request without anything, and with one option at a time.
fn options() -> Vec<(&'static str, ChatRequest)> {
    let sampling = |set: fn(&mut Sampling)| {
        let mut sampling = Sampling::default();
        set(&mut sampling);
        hi().with_sampling(sampling)
    };
    let schema = || OutputFormat::json_schema("x", json!({"type": "object"}));
    let mut options = vec![
        ("tools", with_tool(hi())),
        ("strict", hi().with_tools([ToolSpec::new("f").with_strict(true)])),
        ("json", hi().with_output(OutputFormat::Json)),
        ("schema", hi().with_output(schema())),
        ("temperature", sampling(|s| s.temperature = Some(0.5))),
        ("top_p", sampling(|s| s.top_p = Some(0.5))),
        ("top_k", sampling(|s| s.top_k = Some(5))),
        ("frequency_penalty", sampling(|s| s.frequency_penalty = Some(0.5))),
        ("presence_penalty", sampling(|s| s.presence_penalty = Some(0.5))),
        ("seed", sampling(|s| s.seed = Some(5))),
        ("max_output_tokens", hi().with_max_output_tokens(5)),
        ("stop", hi().with_stop(["END".to_owned()])),
        ("user", hi().with_user("u1")),
        ("service_tier", hi().with_service_tier("auto")),
    ];
    for level in Effort::ALL {
        options.push(("effort", effort(level)));
    }
    for choice in [
        ToolChoice::Auto,
        ToolChoice::None,
        ToolChoice::Required,
        ToolChoice::Tool("f".into()),
    ] {
        options.push(("tool_choice", with_tool(hi()).with_tool_choice(choice)));
    }
    for parallel in [true, false] {
        options.push(("parallel", with_tool(hi()).with_parallel_tool_calls(parallel)));
    }
    options
}

#[test]
fn no_option_is_lost_in_silence() {
    let dialects = [
        (Dialect::openai(), "gpt-4o"),
        (Dialect::openai(), "gpt-5.6"),
        (Dialect::compatible(), "demo"),
        (Dialect::mistral(), "mistral-large-4"),
        (Dialect::groq(), "openai/gpt-oss-20b"),
        (Dialect::groq(), "qwen/qwen3.8-27b"),
        (Dialect::groq(), "qwen/qwen3-32b"),
        (Dialect::deepseek(), "deepseek-flash"),
        (Dialect::deepseek().with_deepseek_beta(), "deepseek-flash"),
        (Dialect::kimi(), "kimi-k3"),
        (Dialect::kimi(), "kimi-k2.6"),
        (Dialect::kimi(), "kimi-k2.7-code"),
    ];
    for (dialect, name) in &dialects {
        let model = model(name);
        let (bare, _) = encoded(dialect, &model, &hi());
        let (bare_with_tool, _) = encoded(dialect, &model, &with_tool(hi()));
        for (option, request) in options() {
            let at = format!("{} {name} {option} {request:?}", dialect.vendor);
            match encode_request(dialect, &model, &request, false) {
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Unsupported, "{at}");
                    assert!(error.vendor().param.is_some(), "{at}");
                }
                Ok(encoded) => {
                    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
                    let base = if matches!(option, "tool_choice" | "parallel") {
                        &bare_with_tool
                    } else {
                        &bare
                    };
                    assert!(body != *base || !encoded.warnings.is_empty(), "{at}: lost");
                }
            }
        }
    }
}

#[test]
fn a_class_of_service_of_another_vendor_is_not_sent() {
    for (dialect, taken, other) in [
        (Dialect::openai(), "priority", "standard_only"),
        (Dialect::mistral(), "standard_only", "flex"),
        (Dialect::groq(), "on_demand", "priority"),
    ] {
        let sent = |tier| encoded(&dialect, &model("demo"), &hi().with_service_tier(tier));
        assert_eq!(sent(taken).0["service_tier"], taken);
        let (body, warnings) = sent(other);
        assert!(
            body.get("service_tier").is_none(),
            "{other} to {}",
            dialect.vendor
        );
        assert_eq!(fields(&warnings), ["service_tier"]);
    }
    let request = hi().with_service_tier("standard_only");
    let (body, warnings) = encoded(&Dialect::compatible(), &model("demo"), &request);
    assert_eq!(body["service_tier"], "standard_only");
    assert_eq!(warnings, [""; 0]);
}
