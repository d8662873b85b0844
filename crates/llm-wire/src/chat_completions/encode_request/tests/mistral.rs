//! What is sent to Mistral.

use super::*;
use llm_core::MediaSource;

fn mistral(model: &ResolvedModel, request: &ChatRequest) -> (Value, Vec<String>) {
    encoded(&Dialect::mistral(), model, request)
}

/// The messages for a model of which only the name is known, and the fields that were warned about.
fn said(request: &ChatRequest) -> (Value, Vec<String>) {
    messages_to(&Dialect::mistral(), "mistral-large-4", request)
}

#[test]
fn settings_have_their_own_names() {
    let mut sampling = Sampling::default();
    sampling.temperature = Some(0.5);
    sampling.top_k = Some(9);
    sampling.presence_penalty = Some(1.0);
    sampling.seed = Some(7);
    let request = with_tool(hi())
        .with_sampling(sampling)
        .with_max_output_tokens(9)
        .with_stop((0..6).map(|n| n.to_string()))
        .with_service_tier("auto")
        .with_tool_choice(ToolChoice::Required)
        .with_parallel_tool_calls(false)
        .with_user("u1")
        .with_output(OutputFormat::json_schema("x", json!({"type": "object"})));
    let (body, warnings) = mistral(&model("mistral-large-4"), &request);
    assert_eq!(
        body,
        json!({
            "model": "mistral-large-4",
            "messages": [{"role": "user", "content": "hi"}],
            "tools": [{"type": "function", "function": {
                "name": "f", "parameters": {"type": "object", "properties": {}}}}],
            "tool_choice": "required", "parallel_tool_calls": false,
            "response_format": {"type": "json_schema",
                "json_schema": {"name": "x", "schema": {"type": "object"}, "strict": true}},
            "temperature": 0.5, "top_k": 9, "presence_penalty": 1.0, "random_seed": 7,
            "max_tokens": 9, "stop": ["0", "1", "2", "3", "4", "5"], "service_tier": "auto",
        })
    );
    assert_eq!(warnings, ["user: is not sent: this host does not take it"]);
}

#[test]
fn a_stream_is_not_asked_for_its_usage() {
    let encoded = encode_request(&Dialect::mistral(), &model("m"), &hi(), true).unwrap();
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!(body["stream"], true);
    assert!(body.get("stream_options").is_none());
}

#[test]
fn efforts_are_those_of_the_model() {
    let word = |name: &str, listed: Option<&[Effort]>, level| {
        let mut model = thinking(name, true);
        model.efforts = listed.map(<[_]>::to_vec);
        let (body, warnings) = mistral(&model, &effort(level));
        (
            body["reasoning_effort"].as_str().map(str::to_owned),
            warnings.len(),
        )
    };
    let large = Some(&[Effort::Low, Effort::Medium, Effort::High][..]);
    let small = Some(&[Effort::None, Effort::High][..]);
    for (name, listed, level, sent, warnings) in [
        ("mistral-large-4", large, Effort::None, "low", 1),
        ("mistral-large-4", large, Effort::Medium, "medium", 0),
        ("mistral-large-4", large, Effort::Max, "high", 1),
        ("mistral-small-2603", small, Effort::None, "none", 0),
        ("mistral-small-2603", small, Effort::Low, "high", 1),
        ("mistral-small-2603", small, Effort::Max, "high", 1),
        ("magistral-small-latest", None, Effort::Medium, "high", 1),
        ("zai-glm-5-3", None, Effort::None, "low", 1),
        ("zai-glm-5-3", None, Effort::Medium, "high", 1),
        ("zai-glm-5-3", None, Effort::XHigh, "max", 1),
    ] {
        assert_eq!(
            word(name, listed, level),
            (Some(sent.to_owned()), warnings),
            "{name} {level:?}"
        );
    }
    let plain = thinking("codestral-2508", false);
    assert_eq!(
        mistral(&plain, &effort(Effort::None)).0.get("reasoning_effort"),
        None
    );
    let refused = refused_by(&Dialect::mistral(), &plain, &effort(Effort::High));
    assert_eq!(refused, (ErrorKind::Unsupported, "reasoning.effort".into()));
}

#[test]
fn thoughts_go_back_as_parts_in_their_place() {
    let chunk = json!({"type": "thinking", "thinking": [{"type": "text", "text": "deep"}],
        "closed": true, "signature": "s"});
    let [mut assistant, results] = turn_with_call(Some(("mistral", chunk.clone())));
    assistant.content.insert(1, ContentPart::text("I look."));
    let request = ChatRequest::new([Message::user("go"), assistant.clone(), results.clone()]);
    let (messages, warned) = said(&request);
    assert_eq!(
        messages,
        json!([
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [chunk, {"type": "text", "text": "I look."}], "tool_calls": [
                {"id": "8CApZc4ma", "type": "function", "function": {"name": "find", "arguments": "{\"q\":\"x\"}"}}]},
            {"role": "tool", "name": "find", "tool_call_id": "8CApZc4ma", "content": "found"},
        ])
    );
    assert_eq!(warned, [""; 0]);
    // a model that does not think takes no thoughts, and nor does one that is told not to
    let content = |model: &ResolvedModel, request: &ChatRequest| {
        mistral(model, request).0["messages"][1]["content"].clone()
    };
    assert_eq!(content(&thinking("codestral-2508", false), &request), "I look.");
    let off = request.with_reasoning(Reasoning::effort(Effort::None));
    assert_eq!(content(&model("mistral-small-2603"), &off), "I look.");
    // another vendor's thoughts stay there
    let [foreign, results] = turn_with_call(Some(("kimi", json!({"reasoning_content": "deep"}))));
    let (messages, warned) = said(&ChatRequest::new([foreign, results]));
    assert_eq!(messages[0]["content"], "");
    assert_eq!(warned, ["messages[0].content[0]"]);
}

#[test]
fn ids_of_calls_have_nine_characters_and_names_are_left_out() {
    let request = ChatRequest::new([
        Message::user("go").with_name("ann"),
        Message::new(
            Role::Assistant,
            vec![ContentPart::ToolCall(ToolCall::new("a1B2c3D4e", "f", "{}"))],
        ),
        Message::tool_results([ToolResult::new("a1B2c3D4e", "r")]),
    ]);
    let (messages, warned) = said(&request);
    assert_eq!(messages[0], json!({"role": "user", "content": "go"}));
    assert_eq!(messages[1]["tool_calls"][0]["id"], "a1B2c3D4e");
    assert_eq!(messages[2]["tool_call_id"], "a1B2c3D4e");
    assert_eq!(warned, ["messages[0].name"]);
}

#[test]
fn messages_are_put_into_the_order_that_is_taken() {
    let [assistant, results] = turn_with_call(None);
    let request = ChatRequest::new([
        Message::system("one"),
        Message::user("go"),
        assistant,
        results,
        Message::system("two"),
        Message::user("and?"),
    ]);
    let (messages, warned) = said(&request);
    let order: Vec<_> = messages
        .as_array()
        .unwrap()
        .iter()
        .map(|message| {
            (
                message["role"].as_str().unwrap(),
                message["content"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        order,
        [
            ("system", "one"),
            ("system", "two"),
            ("user", "go"),
            ("assistant", ""),
            ("tool", "found"),
            ("assistant", "OK."),
            ("user", "and?"),
        ]
    );
    assert_eq!(warned, ["messages[4]", "messages"]);
}

#[test]
fn a_beginning_is_marked_unless_it_calls_tools() {
    let request = ChatRequest::new([Message::user("go"), Message::assistant("Once")]);
    let last = json!({"role": "assistant", "content": "Once", "prefix": true});
    assert_eq!(said(&request).0[1], last);
    let [assistant, _] = turn_with_call(None);
    let (messages, _) = said(&ChatRequest::new([assistant]));
    assert!(messages[0].get("prefix").is_none());
    assert_eq!(messages[1]["role"], "tool");
}

#[test]
fn parts_have_their_own_forms() {
    let file = |id: &str| MediaSource::VendorFile {
        vendor: VendorId::from_static("mistral"),
        id: id.into(),
    };
    let pdf = || DocumentPart::new(MediaSource::base64("application/pdf", "UERG"));
    let (messages, warned) = said(&user([
        image(MediaSource::url("https://a/b.png")),
        image(png()),
        ContentPart::Audio(AudioPart::new(MediaSource::base64("audio/flac", "aGk="))),
        ContentPart::Audio(AudioPart::new(MediaSource::url("https://a/b.mp3"))),
        ContentPart::Document(pdf()),
        ContentPart::Document(DocumentPart::new(MediaSource::url("https://a/b.pdf")).with_name("b.pdf")),
        ContentPart::Document(DocumentPart::new(file("f1"))),
    ]));
    assert_eq!(
        messages[0]["content"],
        json!([
            {"type": "image_url", "image_url": {"url": "https://a/b.png"}},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
            {"type": "input_audio", "input_audio": "aGk="},
            {"type": "input_audio", "input_audio": "https://a/b.mp3"},
            {"type": "document_url", "document_url": "data:application/pdf;base64,UERG"},
            {"type": "document_url", "document_url": "https://a/b.pdf", "document_name": "b.pdf"},
            {"type": "file", "file_id": "f1"},
        ])
    );
    assert_eq!(warned, [""; 0]);
    for part in [ContentPart::Audio(AudioPart::new(file("f1"))), image(file("f1"))] {
        let refused = refused_by(&Dialect::mistral(), &model("m"), &user([part]));
        assert_eq!(refused, (ErrorKind::Unsupported, "messages[0].content[0]".into()));
    }
}

#[test]
fn own_options_are_sent_and_others_refused() {
    let own = |key: &str, value: Value| hi().with_vendor_option(VendorId::from_static("mistral"), key, value);
    for (key, value) in [
        ("safe_prompt", json!(true)),
        ("prompt_mode", json!("reasoning")),
        ("guardrails", json!([{"block_on_error": true}])),
        ("repetition_penalty", json!(1.1)),
        ("min_tokens", json!(3)),
        ("prompt_cache_key", json!("k")),
        ("reasoning_effort", json!("minimal")),
    ] {
        assert_eq!(mistral(&model("m"), &own(key, value.clone())).0[key], value);
    }
    for (key, kind) in [
        ("stream_options", ErrorKind::Unsupported),
        ("safe_prompt", ErrorKind::InvalidRequest),
    ] {
        let refused = refused_by(&Dialect::mistral(), &model("m"), &own(key, json!("x")));
        assert_eq!(refused, (kind, format!("vendor.mistral.{key}")));
    }
}

#[test]
fn a_refusal_is_text_where_there_is_no_field_for_it() {
    let no = ContentPart::Refusal(RefusalPart::new("I will not."));
    let request = ChatRequest::new([
        Message::user("do it"),
        Message::new(Role::Assistant, vec![no]),
        Message::user("why not?"),
    ]);
    for dialect in [
        Dialect::mistral(),
        Dialect::groq(),
        Dialect::deepseek(),
        Dialect::kimi(),
        Dialect::compatible(),
    ] {
        let (messages, warned) = messages_to(&dialect, "demo", &request);
        let expected = json!({"role": "assistant", "content": "I will not."});
        assert_eq!(messages[1], expected, "{}", dialect.vendor);
        assert_eq!(warned, [""; 0]);
    }
}
