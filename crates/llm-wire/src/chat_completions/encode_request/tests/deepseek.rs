//! What is sent to DeepSeek.

use super::*;

fn deepseek(request: &ChatRequest) -> (Value, Vec<String>) {
    encoded(&Dialect::deepseek(), &model("deepseek-flash"), request)
}

fn refused(request: &ChatRequest) -> (ErrorKind, String) {
    refused_by(&Dialect::deepseek(), &model("deepseek-flash"), request)
}

fn own(key: &str, value: Value) -> ChatRequest {
    hi().with_vendor_option(VendorId::from_static("deepseek"), key, value)
}

#[test]
fn thought_is_a_switch_with_a_word_beside_it() {
    for (level, switch, word, warnings) in [
        (Effort::None, "disabled", None, 0),
        (Effort::Low, "enabled", Some("low"), 0),
        (Effort::Medium, "enabled", Some("high"), 1),
        (Effort::High, "enabled", Some("high"), 0),
        (Effort::XHigh, "enabled", Some("high"), 1),
        (Effort::Max, "enabled", Some("max"), 0),
    ] {
        let (body, warned) = deepseek(&effort(level));
        assert_eq!(body["thinking"], json!({"type": switch}), "{level:?}");
        assert_eq!(
            body.get("reasoning_effort").and_then(Value::as_str),
            word,
            "{level:?}"
        );
        assert_eq!(warned.len(), warnings, "{level:?}");
    }
    let (body, _) = deepseek(&hi());
    assert_eq!((body.get("thinking"), body.get("reasoning_effort")), (None, None));
}

#[test]
fn the_switch_of_the_options_bag_wins() {
    let disabled = own("thinking", json!({"type": "disabled"})).with_temperature(0.3);
    let (body, warned) = deepseek(&disabled.with_reasoning(Reasoning::effort(Effort::High)));
    assert_eq!(body["thinking"], json!({"type": "disabled"}));
    assert_eq!(body.get("reasoning_effort"), None);
    assert_eq!(body["temperature"], 0.3);
    assert_eq!(warned.len(), 1);
    let (body, warned) = deepseek(&own("reasoning_effort", json!("ultra")));
    assert_eq!((&body["reasoning_effort"], warned.len()), (&json!("ultra"), 0));
}

#[test]
fn sampling_is_for_answers_without_thought() {
    let mut sampling = Sampling::default();
    sampling.temperature = Some(0.2);
    sampling.presence_penalty = Some(1.0);
    let (body, warned) = deepseek(&hi().with_sampling(sampling.clone()));
    assert_eq!(
        (body.get("temperature"), body.get("presence_penalty")),
        (None, None)
    );
    assert_eq!(warned.len(), 2);
    let (body, warned) = deepseek(&effort(Effort::None).with_sampling(sampling));
    assert_eq!(
        (&body["temperature"], &body["presence_penalty"]),
        (&json!(0.2), &json!(1.0))
    );
    assert_eq!(warned, [""; 0]);
}

#[test]
fn settings_have_their_own_names_and_some_are_not_there() {
    let mut sampling = Sampling::default();
    sampling.seed = Some(7);
    let request = with_tool(ChatRequest::user("as JSON"))
        .with_sampling(sampling)
        .with_max_output_tokens(9)
        .with_user("u1")
        .with_service_tier("auto")
        .with_parallel_tool_calls(true)
        .with_output(OutputFormat::Json);
    let (body, warnings) = deepseek(&request);
    assert_eq!(
        body,
        json!({
            "model": "deepseek-flash",
            "messages": [{"role": "user", "content": "as JSON"}],
            "tools": [{"type": "function", "function": {"name": "f"}}],
            "response_format": {"type": "json_object"},
            "max_tokens": 9, "user_id": "u1",
        })
    );
    assert_eq!(
        fields(&warnings),
        ["parallel_tool_calls", "sampling.seed", "service_tier"]
    );
    let single = with_tool(hi()).with_parallel_tool_calls(false);
    assert_eq!(refused(&single).1, "parallel_tool_calls");
    let schema = hi().with_output(OutputFormat::json_schema("x", json!({})));
    assert_eq!(refused(&schema), (ErrorKind::Unsupported, "output".into()));
}

#[test]
fn once_there_were_calls_every_turn_thinks() {
    let thought = Some(("deepseek", json!({"reasoning_content": "deep"})));
    let turn = turn_with_call(thought);
    let history = |turn: [Message; 2]| {
        let mut messages = vec![Message::user("a"), Message::assistant("b"), Message::user("go")];
        messages.extend(turn);
        ChatRequest::new(messages)
    };
    let (body, warned) = deepseek(&history(turn.clone()));
    assert_eq!(
        body["messages"][1],
        json!({"role": "assistant", "reasoning_content": " ", "content": "b"})
    );
    assert_eq!(body["messages"][3]["reasoning_content"], "deep");
    assert_eq!(body["messages"][3]["content"], "");
    assert_eq!(warned, [""; 0]);
    // two thoughts of one turn stand in the one field that there is
    let mut twice = turn.clone();
    let again = twice[0].content[0].clone();
    twice[0].content.insert(0, again);
    let request = history(twice);
    let sent = encode_request(&Dialect::deepseek(), &model("deepseek-flash"), &request, false).unwrap();
    let sent = String::from_utf8(sent.body).unwrap();
    assert_eq!(
        sent.matches("\"reasoning_content\":\"deep\\n\\ndeep\"").count(),
        1,
        "{sent}"
    );
    assert_eq!(sent.matches("reasoning_content").count(), 2, "{sent}");
    // another vendor's thoughts are not sent, but something must be
    let foreign = turn_with_call(Some(("kimi", json!({"reasoning_content": "deep"}))));
    let (body, warned) = deepseek(&history(foreign));
    assert_eq!(body["messages"][3]["reasoning_content"], " ");
    assert_eq!(warned.len(), 1);
    // nothing of it where there is no thought, or was no call
    let off = history(turn).with_reasoning(Reasoning::effort(Effort::None));
    assert!(
        !deepseek(&off).0["messages"]
            .to_string()
            .contains("reasoning_content")
    );
    let talk = ChatRequest::new([Message::user("a"), Message::assistant("b"), Message::user("c")]);
    assert!(
        !deepseek(&talk).0["messages"]
            .to_string()
            .contains("reasoning_content")
    );
}

#[test]
fn texts_are_one_string_and_results_hold_pictures() {
    let (body, _) = deepseek(&user([ContentPart::text("a"), ContentPart::text("b")]));
    assert_eq!(body["messages"][0]["content"], "a\n\nb");
    let call = ContentPart::ToolCall(ToolCall::new("c0", "f", "{}"));
    let result = ToolResult::new("c0", "").with_content(vec![ContentPart::text("a map"), image(png())]);
    let request = ChatRequest::new([
        Message::new(Role::Assistant, vec![call]),
        Message::tool_results([result]),
    ]);
    let (body, warned) = deepseek(&request);
    assert_eq!(
        body["messages"][1]["content"],
        json!([{"type": "text", "text": "a map"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}])
    );
    assert_eq!(body["messages"].as_array().unwrap().len(), 2);
    assert_eq!(warned, [""; 0]);
}

#[test]
fn beginnings_and_strict_tools_are_for_the_beta_endpoint() {
    let beginning = ChatRequest::new([Message::user("go"), Message::assistant("Once")]);
    assert_eq!(refused(&beginning), (ErrorKind::Unsupported, "messages".into()));
    let tool = |name: &str, strict| ToolSpec::new(name).with_strict(strict);
    let strict = hi().with_tools([tool("f", true), tool("g", true)]);
    assert_eq!(
        refused(&strict),
        (ErrorKind::Unsupported, "tools[0].strict".into())
    );
    let lax = hi().with_tools([tool("f", false)]);
    assert_eq!(deepseek(&lax).0["tools"][0]["function"], json!({"name": "f"}));

    let beta = Dialect::deepseek().with_deepseek_beta();
    let model = model("deepseek-flash");
    assert_eq!(
        encoded(&beta, &model, &beginning).0["messages"][1]["prefix"],
        true
    );
    assert_eq!(
        encoded(&beta, &model, &strict).0["tools"][1]["function"]["strict"],
        true
    );
    let mixed = hi().with_tools([tool("f", true), tool("g", false)]);
    assert_eq!(refused_by(&beta, &model, &mixed).1, "tools[0].strict");
}

#[test]
fn the_end_users_id_is_a_word() {
    let (body, warnings) = deepseek(&hi().with_user("user_7-a"));
    assert_eq!(body["user_id"], "user_7-a");
    assert_eq!(warnings, [""; 0]);
    for id in ["ann@example.com", "Zoë", &"u".repeat(513)] {
        let (body, warnings) = deepseek(&hi().with_user(id));
        assert!(body.get("user_id").is_none(), "{id}");
        assert_eq!(fields(&warnings), ["user"]);
    }
}

#[test]
fn thoughts_without_state_go_back_as_text() {
    let thought = |text: &str| ContentPart::Reasoning(ReasoningPart::new(text));
    let turn = |parts: Vec<ContentPart>| {
        let [mut said, results] = turn_with_call(None);
        said.content.splice(0..0, parts);
        ChatRequest::new([Message::user("go"), said, results])
    };
    let sent = |dialect: &Dialect, request: &ChatRequest| {
        let (body, warned) = encoded(dialect, &thinking("demo", true), request);
        (body["messages"][1].clone(), warned.len())
    };
    let vendors = [
        (Dialect::deepseek(), "reasoning_content"),
        (Dialect::kimi(), "reasoning_content"),
        (Dialect::groq(), "reasoning"),
    ];
    for (dialect, field) in vendors {
        let (message, warned) = sent(&dialect, &turn(vec![thought("one"), thought(""), thought("two")]));
        assert_eq!(
            (&message[field], warned),
            (&json!("one\n\ntwo"), 0),
            "{}",
            dialect.vendor
        );
        let (message, _) = sent(&dialect, &turn(vec![thought("")]));
        assert_ne!(message.get(field), Some(&json!("")));
        // what was shown of a thought with state: this vendor's state says it all, another's stays out
        let state = |vendor: &'static str| {
            let replay = Replay::new(
                Origin::new(VendorId::from_static(vendor)),
                json!({field: "state"}),
            );
            ContentPart::Reasoning(ReasoningPart::default().with_replay(replay))
        };
        let vendor = match dialect.vendor.as_str() {
            "deepseek" => "deepseek",
            "moonshot" => "moonshot",
            _ => "groq",
        };
        let (message, warned) = sent(&dialect, &turn(vec![thought("shown"), state(vendor)]));
        assert_eq!((&message[field], warned), (&json!("state"), 0));
        let (message, warned) = sent(&dialect, &turn(vec![thought("shown"), state("else")]));
        assert_ne!(message[field], "shown");
        assert_eq!(warned, 1);
    }
    // a model that does not think refuses them, a host without such a field does not read them
    let off = turn(vec![thought("one")]).with_reasoning(Reasoning::effort(Effort::None));
    assert!(!deepseek(&off).0.to_string().contains("one"));
    let groq = encoded(
        &Dialect::groq(),
        &thinking("old/model", false),
        &turn(vec![thought("one")]),
    );
    assert_eq!((groq.0["messages"][1].get("reasoning"), groq.1.len()), (None, 0));
    assert!(
        !sent(&Dialect::openai(), &turn(vec![thought("one")]))
            .0
            .to_string()
            .contains("one")
    );
}
