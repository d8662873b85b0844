//! What is sent to Groq.

use super::*;

const OSS: &str = "openai/gpt-oss-20b";
const QWEN: &str = "qwen/qwen3.8-27b";

fn groq(name: &str, request: &ChatRequest) -> (Value, Vec<String>) {
    encoded(&Dialect::groq(), &model(name), request)
}

#[test]
fn settings_have_their_own_names() {
    let mut sampling = Sampling::default();
    sampling.temperature = Some(0.0);
    sampling.frequency_penalty = Some(1.0);
    sampling.top_k = Some(4);
    sampling.seed = Some(7);
    let request = with_tool(hi())
        .with_sampling(sampling)
        .with_max_output_tokens(9)
        .with_user("u1")
        .with_service_tier("flex")
        .with_parallel_tool_calls(true);
    let (body, warnings) = groq(OSS, &request);
    assert_eq!(
        body,
        json!({
            "model": OSS,
            "messages": [{"role": "user", "content": "hi"}],
            "tools": [{"type": "function", "function": {"name": "f"}}],
            "parallel_tool_calls": true,
            "temperature": 0.0, "seed": 7, "max_completion_tokens": 9, "user": "u1", "service_tier": "flex",
        })
    );
    assert_eq!(
        warnings,
        [
            "sampling.top_k: is not sent: this host does not take it",
            "sampling.frequency_penalty: is not sent: this model or host does not take it",
        ]
    );
    let stops = hi().with_stop((0..5).map(|n| n.to_string()));
    let refused = refused_by(&Dialect::groq(), &model(OSS), &stops);
    assert_eq!(refused, (ErrorKind::Unsupported, "stop".into()));
}

#[test]
fn efforts_are_graded_or_a_switch() {
    for (name, level, word, format, warnings) in [
        (OSS, Effort::None, "low", None, 1),
        (OSS, Effort::Medium, "medium", None, 0),
        (OSS, Effort::Max, "high", None, 1),
        ("openai/gpt-oss-safeguard-20b", Effort::High, "high", None, 0),
        (QWEN, Effort::None, "none", None, 0),
        (QWEN, Effort::Low, "low", Some("parsed"), 0),
        (QWEN, Effort::XHigh, "high", Some("parsed"), 1),
        ("qwen/qwen3-32b", Effort::None, "none", None, 0),
        ("qwen/qwen3-32b", Effort::High, "default", Some("parsed"), 0),
    ] {
        let (body, warned) = groq(name, &effort(level));
        assert_eq!(body["reasoning_effort"], word, "{name} {level:?}");
        assert_eq!(
            body.get("reasoning_format").and_then(Value::as_str),
            format,
            "{name} {level:?}"
        );
        assert_eq!(warned.len(), warnings, "{name} {level:?}");
    }
    // also where nothing was asked for: else the thoughts would stand in the text
    assert_eq!(groq(QWEN, &hi()).0["reasoning_format"], "parsed");
    assert_eq!(groq(OSS, &hi()).0.get("reasoning_format"), None);
}

#[test]
fn the_options_bag_says_how_thoughts_are_shown() {
    let own = |key: &str, value: Value| {
        groq(
            QWEN,
            &hi().with_vendor_option(VendorId::from_static("groq"), key, value),
        )
        .0
    };
    assert_eq!(
        own("reasoning_format", json!("hidden"))["reasoning_format"],
        "hidden"
    );
    let included = own("include_reasoning", json!(false));
    assert_eq!(included["include_reasoning"], false);
    assert_eq!(included.get("reasoning_format"), None);
    assert_eq!(
        own("disable_tool_validation", json!(true))["disable_tool_validation"],
        true
    );
    assert_eq!(
        own("custom_tools", json!([{"type": "browser_search"}]))["tools"],
        json!([{"type": "browser_search"}])
    );
    for key in ["logprobs", "store", "metadata", "logit_bias"] {
        let request = hi().with_vendor_option(VendorId::from_static("groq"), key, json!(true));
        let refused = refused_by(&Dialect::groq(), &model(OSS), &request);
        assert_eq!(refused, (ErrorKind::Unsupported, format!("vendor.groq.{key}")));
    }
}

#[test]
fn thoughts_go_back_to_models_that_think() {
    let turn = turn_with_call(Some(("groq", json!({"reasoning": "deep"}))));
    let request = ChatRequest::new(turn);
    let sent = |model: &ResolvedModel| encoded(&Dialect::groq(), model, &request).0["messages"][0].clone();
    assert_eq!(sent(&thinking(OSS, true))["reasoning"], "deep");
    assert_eq!(sent(&model("new/model"))["reasoning"], "deep");
    assert_eq!(sent(&thinking("old/model", false)).get("reasoning"), None);
}

#[test]
fn json_is_not_streamed_and_not_had_with_tools() {
    let request = hi().with_output(OutputFormat::json_schema("x", json!({"type": "object"})));
    let encoded = encode_request(&Dialect::groq(), &model(OSS), &request, true).unwrap();
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!((body.get("stream"), body.get("stream_options")), (None, None));
    assert_eq!(body["response_format"]["type"], "json_schema");
    assert_eq!(encoded.warnings[0].field, "output");
    assert!(groq(OSS, &request).1.is_empty());
    let refused = refused_by(&Dialect::groq(), &model(OSS), &with_tool(request));
    assert_eq!(refused, (ErrorKind::Unsupported, "output".into()));
}

#[test]
fn pictures_are_taken_and_nothing_else() {
    let (body, _) = groq(
        QWEN,
        &user([image(llm_core::MediaSource::url("https://a/b")), image(png())]),
    );
    assert_eq!(
        body["messages"][0]["content"][1]["image_url"]["url"],
        "data:image/png;base64,aGk="
    );
    let pdf = llm_core::MediaSource::base64("application/pdf", "UERG");
    let sound = llm_core::MediaSource::base64("audio/wav", "aGk=");
    for part in [
        ContentPart::Document(DocumentPart::new(pdf)),
        ContentPart::Audio(AudioPart::new(sound)),
    ] {
        let refused = refused_by(&Dialect::groq(), &model(QWEN), &user([part]));
        assert_eq!(refused.0, ErrorKind::Unsupported);
    }
}
