//! What is sent to Kimi.

use super::*;

fn kimi(name: &str, request: &ChatRequest) -> (Value, Vec<String>) {
    encoded(&Dialect::kimi(), &model(name), request)
}

fn refused(name: &str, request: &ChatRequest) -> (ErrorKind, String) {
    refused_by(&Dialect::kimi(), &model(name), request)
}

#[test]
fn thought_is_a_word_or_a_switch() {
    for (name, level, word, switch, warnings) in [
        ("kimi-k3", Effort::None, Some("low"), None, 1),
        ("kimi-k3", Effort::Medium, Some("high"), None, 1),
        ("kimi-k3.1-pro", Effort::XHigh, Some("max"), None, 1),
        ("kimi-k3.1-pro-highspeed", Effort::Max, Some("max"), None, 0),
        ("kimi-k2.7-code", Effort::None, None, Some("enabled"), 1),
        ("kimi-k2.7-code-highspeed", Effort::High, None, Some("enabled"), 0),
        ("kimi-k2.6", Effort::None, None, Some("disabled"), 0),
        ("kimi-k2.6", Effort::Low, None, Some("enabled"), 1),
        ("kimi-k2.6", Effort::Max, None, Some("enabled"), 1),
    ] {
        let (body, warned) = kimi(name, &effort(level));
        assert_eq!(
            body.get("reasoning_effort").and_then(Value::as_str),
            word,
            "{name} {level:?}"
        );
        assert_eq!(body["thinking"]["type"].as_str(), switch, "{name} {level:?}");
        assert_eq!(warned.len(), warnings, "{name} {level:?}");
    }
    let keep = json!({"type": "enabled", "keep": "all"});
    let request =
        effort(Effort::None).with_vendor_option(VendorId::from_static("moonshot"), "thinking", keep.clone());
    assert_eq!(kimi("kimi-k2.6", &request).0["thinking"], keep);
}

#[test]
fn how_answers_are_drawn_is_fixed() {
    let mut sampling = Sampling::default();
    sampling.temperature = Some(0.2);
    sampling.top_p = Some(0.9);
    sampling.presence_penalty = Some(1.0);
    sampling.seed = Some(7);
    let request = hi()
        .with_sampling(sampling.clone())
        .with_max_output_tokens(9)
        .with_user("u1")
        .with_service_tier("auto");
    let (body, warned) = kimi("kimi-k2.6", &request);
    assert_eq!(
        body,
        json!({
            "model": "kimi-k2.6", "messages": [{"role": "user", "content": "hi"}],
            "max_completion_tokens": 9, "safety_identifier": "u1",
        })
    );
    assert_eq!(
        fields(&warned),
        [
            "sampling.temperature",
            "sampling.top_p",
            "sampling.presence_penalty",
            "sampling.seed",
            "service_tier"
        ]
    );
    let old = thinking("moonshot-v1-8k", false);
    assert_eq!(encoded(&Dialect::kimi(), &old, &request).0["temperature"], 0.2);
}

#[test]
fn stop_sequences_are_few_and_short() {
    let stop = |stops: &[&str]| hi().with_stop(stops.iter().map(ToString::to_string));
    assert_eq!(
        kimi("kimi-k3", &stop(&["a"; 5])).0["stop"],
        json!(["a", "a", "a", "a", "a"])
    );
    assert_eq!(refused("kimi-k3", &stop(&["a"; 6])).1, "stop");
    let long = "ö".repeat(17);
    assert_eq!(
        refused("kimi-k3", &stop(&["a", &long])),
        (ErrorKind::Unsupported, "stop[1]".into())
    );
}

#[test]
fn any_call_of_one_tool_is_a_call_of_that_tool() {
    let must = with_tool(hi()).with_tool_choice(ToolChoice::Required);
    let named = json!({"type": "function", "function": {"name": "f"}});
    assert_eq!(kimi("kimi-k3", &must).0["tool_choice"], "required");
    assert_eq!(kimi("kimi-k2.6", &must).0["tool_choice"], named);
    let two = hi()
        .with_tools([ToolSpec::new("f"), ToolSpec::new("g")])
        .with_tool_choice(ToolChoice::Required);
    assert_eq!(
        refused("kimi-k2.7-code", &two),
        (ErrorKind::Unsupported, "tool_choice".into())
    );
}

#[test]
fn turns_with_calls_think() {
    let sent = |replay| {
        let [assistant, results] = turn_with_call(replay);
        let request = ChatRequest::new([Message::user("a"), Message::assistant("b"), assistant, results]);
        kimi("kimi-k3", &request).0["messages"].clone()
    };
    let own = sent(Some(("moonshot", json!({"reasoning_content": "deep"}))));
    assert_eq!(
        own,
        json!([
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b"},
            {"role": "assistant", "reasoning_content": "deep", "content": "", "tool_calls": [
                {"id": "find:0", "type": "function", "function": {"name": "find", "arguments": "{\"q\":\"x\"}"}}]},
            {"role": "tool", "tool_call_id": "find:0", "content": "found"},
        ])
    );
    assert_eq!(sent(None)[2]["reasoning_content"], " ");
    assert_eq!(
        sent(Some(("deepseek", json!({"reasoning_content": "x"}))))[2]["reasoning_content"],
        " "
    );
}

#[test]
fn empty_messages_are_left_out() {
    let request = ChatRequest::new([Message::system(""), Message::user("hi"), Message::user("")]);
    let (body, warned) = kimi("kimi-k3", &request);
    assert_eq!(body["messages"], json!([{"role": "user", "content": "hi"}]));
    assert_eq!(warned.len(), 2);
    assert_eq!(
        refused("kimi-k3", &ChatRequest::user("")),
        (ErrorKind::InvalidRequest, "messages".into())
    );
}

#[test]
fn pictures_are_bytes_or_files_of_the_vendor() {
    let file = llm_core::MediaSource::VendorFile {
        vendor: VendorId::from_static("moonshot"),
        id: "f1".into(),
    };
    let detailed = ContentPart::Image(ImagePart::new(png()).with_detail(ImageDetail::Low));
    let (body, warned) = kimi("kimi-k3", &user([image(file), detailed]));
    assert_eq!(
        body["messages"][0]["content"],
        json!([
            {"type": "image_url", "image_url": {"url": "ms://f1"}},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        ])
    );
    assert_eq!(warned.len(), 1);
    let remote = user([image(llm_core::MediaSource::url("https://a/b.png"))]);
    assert_eq!(refused("kimi-k3", &remote).0, ErrorKind::Unsupported);
}

#[test]
fn a_beginning_is_partial_and_not_in_json() {
    let request = ChatRequest::new([Message::user("go"), Message::assistant("Once").with_name("ann")]);
    assert_eq!(
        kimi("kimi-k3", &request).0["messages"][1],
        json!({"role": "assistant", "name": "ann", "content": "Once", "partial": true})
    );
    let json = request.with_output(OutputFormat::Json);
    assert_eq!(
        refused("kimi-k3", &json),
        (ErrorKind::Unsupported, "messages".into())
    );
}

#[test]
fn schemas_are_written_in_its_dialect() {
    let schema =
        json!({"$schema": "x", "type": "object", "properties": {"n": {"type": "array", "items": [{}]}}});
    let request = hi().with_output(OutputFormat::json_schema("x", schema));
    assert_eq!(
        kimi("kimi-k3", &request).0["response_format"]["json_schema"]["schema"],
        json!({"type": "object", "properties": {"n": {"type": "array", "prefixItems": [{}]}}})
    );
    let list = hi().with_output(OutputFormat::json_schema("x", json!({"type": "array"})));
    assert_eq!(refused("kimi-k3", &list).1, "output.schema");
}
