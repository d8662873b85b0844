use super::*;

#[test]
fn parts_of_all_kinds_are_sent() {
    let document = DocumentPart::new(llm_core::MediaSource::base64("application/pdf", "UERG"));
    let file = llm_core::MediaSource::VendorFile {
        vendor: OPENAI,
        id: "file-1".into(),
    };
    let content = vec![
        ContentPart::text("look"),
        ContentPart::text(""),
        ContentPart::Image(
            ImagePart::new(llm_core::MediaSource::url("https://a/b.png")).with_detail(ImageDetail::Low),
        ),
        ContentPart::Image(ImagePart::new(llm_core::MediaSource::base64("image/png", "aGk="))),
        ContentPart::Audio(AudioPart::new(llm_core::MediaSource::base64(
            "audio/mpeg",
            "aGk=",
        ))),
        ContentPart::Document(document.clone().with_name("a.pdf")),
        ContentPart::Document(document),
        ContentPart::Document(DocumentPart::new(file)),
    ];
    let request = ChatRequest::new([Message::new(Role::User, content).with_name("ann")]);
    check(
        "demo",
        &request,
        json!({"messages": [{"role": "user", "name": "ann", "content": [
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": "https://a/b.png", "detail": "low"}},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
            {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,UERG"}},
            {"type": "file", "file": {"filename": "document.pdf", "file_data": "data:application/pdf;base64,UERG"}},
            {"type": "file", "file": {"file_id": "file-1"}},
        ]}]}),
    );
}

#[test]
fn media_that_cannot_be_sent_is_refused() {
    let url = || llm_core::MediaSource::url("https://a/b");
    let foreign = llm_core::MediaSource::VendorFile {
        vendor: VendorId::from_static("x"),
        id: "f".into(),
    };
    let parts = [
        ContentPart::Audio(AudioPart::new(url())),
        ContentPart::Audio(AudioPart::new(llm_core::MediaSource::base64(
            "audio/flac",
            "aGk=",
        ))),
        ContentPart::Document(DocumentPart::new(url())),
        ContentPart::Document(DocumentPart::new(foreign.clone())),
        ContentPart::Image(ImagePart::new(foreign)),
    ];
    for part in parts {
        let request = ChatRequest::new([Message::new(Role::User, vec![part])]);
        assert_eq!(
            refused("demo", &request),
            (ErrorKind::Unsupported, "messages[0].content[0]".into())
        );
    }
    let mut dialect = Dialect::openai();
    dialect.parts.image_url = false;
    let request = ChatRequest::new([Message::new(
        Role::User,
        vec![ContentPart::Image(ImagePart::new(url()))],
    )]);
    assert_eq!(
        refused_by(&dialect, &model("demo"), &request).0,
        ErrorKind::Unsupported
    );
}

#[test]
fn instructions_go_to_thinking_models_of_openai_as_developer() {
    let request = ChatRequest::new([Message::system("s"), Message::user("u")]);
    let role = |dialect: &Dialect, name: &str| {
        encoded(dialect, &model(name), &request).0["messages"][0]["role"].clone()
    };
    assert_eq!(role(&Dialect::openai(), "gpt-4o"), "system");
    assert_eq!(role(&Dialect::openai(), "gpt-6-sol"), "developer");
    assert_eq!(role(&Dialect::compatible(), "gpt-6-sol"), "system");
}

#[test]
fn a_turn_with_calls_is_legal_history() {
    let assistant = Message::new(
        Role::Assistant,
        vec![
            ContentPart::Reasoning(ReasoningPart::new("thought")),
            ContentPart::ToolCall(ToolCall::new("c0", "f", "{\"a\":1}")),
            ContentPart::ToolCall(ToolCall::new("c1", "g", "{}")),
        ],
    );
    let results = [
        ToolResult::new("c0", "r0"),
        ToolResult::new("c1", "boom").with_error(),
    ];
    let request = ChatRequest::new([Message::user("go"), assistant, Message::tool_results(results)]);
    check(
        "demo",
        &request,
        json!({"messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c0", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}},
                {"id": "c1", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "c0", "content": "r0"},
            {"role": "tool", "tool_call_id": "c1", "content": "Error: boom"},
        ]}),
    );
}

#[test]
fn a_failure_that_says_so_is_not_marked_twice() {
    for (said, sent) in [
        ("Error 7", "Error 7"),
        ("  error: x", "  error: x"),
        ("", "Error: the tool failed."),
    ] {
        let call = ContentPart::ToolCall(ToolCall::new("c0", "f", "{}"));
        let request = ChatRequest::new([
            Message::new(Role::Assistant, vec![call]),
            Message::tool_results([ToolResult::new("c0", said).with_error()]),
        ]);
        assert_eq!(messages(&request).0[1]["content"], sent);
    }
}

#[test]
fn arguments_that_are_no_object_are_replayed_empty() {
    for arguments in ["{\"a\": ", "", "[1]", "5"] {
        let call = ContentPart::ToolCall(ToolCall::new("c0", "f", arguments));
        let request = ChatRequest::new([
            Message::new(Role::Assistant, vec![call]),
            Message::tool_results([ToolResult::new("c0", "r")]),
        ]);
        let (messages, warned) = messages(&request);
        assert_eq!(messages[0]["tool_calls"][0]["function"]["arguments"], "{}");
        assert_eq!(warned, ["messages[0].content[0]"]);
    }
}

#[test]
fn orphans_are_answered_or_left_out() {
    let call = |id: &str| ContentPart::ToolCall(ToolCall::new(id, "f", "{}"));
    let request = ChatRequest::new([
        Message::user("go"),
        Message::tool_results([ToolResult::new("gone", "stale")]),
        Message::new(Role::Assistant, vec![call("c0"), call("c1")]),
        Message::user("stop"),
        // late, for another turn, and twice
        Message::tool_results([
            ToolResult::new("c1", "r1"),
            ToolResult::new("gone", "stale"),
            ToolResult::new("c1", "again"),
        ]),
    ]);
    let (messages, warned) = messages(&request);
    let said: Vec<_> = messages
        .as_array()
        .unwrap()
        .iter()
        .map(|m| {
            (
                m["role"].as_str().unwrap(),
                m["tool_call_id"].as_str(),
                m["content"].as_str(),
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            ("user", None, Some("go")),
            ("assistant", None, None),
            ("tool", Some("c1"), Some("r1")),
            ("tool", Some("c0"), Some(results::NO_RESULT)),
            ("user", None, Some("stop")),
        ]
    );
    assert_eq!(
        warned,
        [
            "messages[1].content[0]",
            "messages[4].content[1]",
            "messages[4].content[2]",
            "messages[2]"
        ]
    );
    let only_orphans = ChatRequest::new([Message::tool_results([ToolResult::new("gone", "stale")])]);
    assert_eq!(
        refused("demo", &only_orphans),
        (ErrorKind::InvalidRequest, "messages".into())
    );
}

#[test]
fn pictures_in_results_follow_in_a_user_message() {
    let calls = ["c0", "c1"].map(|id| ContentPart::ToolCall(ToolCall::new(id, "f", "{}")));
    let image = ContentPart::Image(ImagePart::new(llm_core::MediaSource::base64("image/png", "aGk=")));
    let request = ChatRequest::new([
        Message::new(Role::Assistant, calls.to_vec()),
        Message::tool_results([
            ToolResult::new("c0", "").with_content(vec![image]),
            ToolResult::new("c1", "r1"),
        ]),
    ]);
    let (messages, warned) = messages(&request);
    assert_eq!(
        messages[1],
        json!({"role": "tool", "tool_call_id": "c0", "content": results::CONTENT_FOLLOWS})
    );
    assert_eq!(
        messages[2],
        json!({"role": "tool", "tool_call_id": "c1", "content": "r1"})
    );
    assert_eq!(messages[3]["role"], "user");
    assert_eq!(
        messages[3]["content"][0]["text"],
        "Content of the result of call c0:"
    );
    assert_eq!(messages[3]["content"][1]["type"], "image_url");
    assert_eq!(warned, ["messages[1].content[0]"]);
}

#[test]
fn parts_in_the_wrong_place_are_refused() {
    let place =
        |role, part: ContentPart| refused("demo", &ChatRequest::new([Message::new(role, vec![part])]));
    let image = || ContentPart::Image(ImagePart::new(llm_core::MediaSource::url("https://a/b")));
    let result = || ContentPart::ToolResult(ToolResult::new("c0", "r"));
    let call = || ContentPart::ToolCall(ToolCall::new("c0", "f", "{}"));
    let at = |kind| (kind, "messages[0].content[0]".to_owned());
    assert_eq!(place(Role::Assistant, image()), at(ErrorKind::Unsupported));
    assert_eq!(place(Role::System, image()), at(ErrorKind::Unsupported));
    assert_eq!(place(Role::Assistant, result()), at(ErrorKind::InvalidRequest));
    assert_eq!(place(Role::System, result()), at(ErrorKind::InvalidRequest));
    assert_eq!(place(Role::User, call()), at(ErrorKind::InvalidRequest));
    assert_eq!(
        place(Role::Tool, ContentPart::text("x")),
        at(ErrorKind::InvalidRequest)
    );
    assert_eq!(
        refused("demo", &ChatRequest::new([])),
        (ErrorKind::InvalidRequest, "messages".into())
    );
}

#[test]
fn empty_messages_are_made_legal() {
    let foreign = Replay::new(Origin::new(VendorId::from_static("x")), json!({}));
    let request = ChatRequest::new([
        Message::new(Role::System, vec![]),
        Message::user(""),
        Message::new(
            Role::Assistant,
            vec![ContentPart::Opaque(OpaquePart::new("redacted", foreign))],
        ),
        Message::new(
            Role::Assistant,
            vec![ContentPart::Refusal(RefusalPart::new("no"))],
        ),
    ]);
    let (messages, warned) = messages(&request);
    assert_eq!(
        messages,
        json!([
            {"role": "system", "content": ""},
            {"role": "user", "content": ""},
            {"role": "assistant", "content": ""},
            {"role": "assistant", "content": null, "refusal": "no"},
        ])
    );
    assert_eq!(warned, ["messages[2].content[0]"]);
}

#[test]
fn reasoning_goes_back_to_its_own_vendor_only_and_never_empty() {
    let mut dialect = Dialect::compatible();
    dialect.vendor = VendorId::from_static("kimi");
    dialect.replay_reasoning_field = Some("reasoning_content");
    let sent = |vendor: &'static str, data: Value| {
        let replay = Replay::new(Origin::new(VendorId::from_static(vendor)), data);
        let part = ContentPart::Reasoning(ReasoningPart::new("shown").with_replay(replay));
        let request = ChatRequest::new([Message::new(Role::Assistant, vec![part, ContentPart::text("a")])]);
        let (body, warnings) = encoded(&dialect, &model("demo"), &request);
        (body["messages"][0].clone(), warnings.len())
    };
    let own = json!({"reasoning_content": "deep", "reasoning_details": [{"a": 1}], "else": 1});
    assert_eq!(
        sent("kimi", own.clone()),
        (
            json!({"role": "assistant", "reasoning_content": "deep", "reasoning_details": [{"a": 1}], "content": "a"}),
            0
        )
    );
    let bare = json!({"role": "assistant", "content": "a"});
    assert_eq!(
        sent("kimi", json!({"reasoning_content": "", "reasoning_details": []})),
        (bare.clone(), 0)
    );
    assert_eq!(sent("openai", own), (bare.clone(), 1));
    // of another API of the same vendor
    let item = json!({"type": "reasoning", "summary": [], "encrypted_content": "gAAA"});
    assert_eq!(sent("kimi", item), (bare, 1));
}

#[test]
fn a_custom_call_that_responses_recorded_is_one_of_this_format() {
    let data =
        json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "c9", "name": "sh", "input": "ls"});
    let piece = OpaquePart::new("custom_tool_call", Replay::new(Origin::new(OPENAI), data));
    let request = ChatRequest::new([
        Message::new(Role::Assistant, vec![ContentPart::Opaque(piece)]),
        Message::tool_results([ToolResult::new("c9", "files")]),
    ]);
    let call = json!({"id": "c9", "type": "custom", "custom": {"name": "sh", "input": "ls"}});
    let expected = json!([
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c9", "content": "files"},
    ]);
    assert_eq!(messages(&request), (expected, vec![]));
}

#[test]
fn vendor_pieces_of_this_format_go_back_as_they_came() {
    let piece = |kind: &str, data: Value| {
        ContentPart::Opaque(OpaquePart::new(kind, Replay::new(Origin::new(OPENAI), data)))
    };
    let call = json!({"id": "c9", "type": "custom", "custom": {"name": "f", "input": "x"}});
    let request = ChatRequest::new([
        Message::new(Role::Assistant, vec![piece("audio", json!({"id": "a1"}))]),
        Message::new(Role::Assistant, vec![piece("custom_tool_call", call.clone())]),
        Message::tool_results([ToolResult::new("c9", "r")]),
    ]);
    let (messages, warned) = messages(&request);
    assert_eq!(
        messages[0],
        json!({"role": "assistant", "audio": {"id": "a1"}, "content": null})
    );
    assert_eq!(messages[1]["tool_calls"], json!([call]));
    assert_eq!(messages[2]["tool_call_id"], "c9");
    assert_eq!(warned, [""; 0]);
}

#[test]
fn cache_points_mark_the_part_before_them_where_the_model_takes_that() {
    let point = |ttl| ContentPart::CachePoint(CachePoint::new(ttl));
    let call = ContentPart::ToolCall(ToolCall::new("c0", "f", "{}"));
    let result = ContentPart::ToolResult(ToolResult::new("c0", "r"));
    let request = ChatRequest::new([
        Message::new(
            Role::User,
            vec![
                ContentPart::text("long"),
                point(CacheTtl::Long),
                ContentPart::text("x"),
            ],
        ),
        Message::new(Role::Assistant, vec![call]),
        Message::new(Role::Tool, vec![result, point(CacheTtl::Short)]),
    ]);
    let (body, warnings) = encoded(&Dialect::openai(), &model("gpt-6-sol"), &request);
    let mark = |ttl: &str| json!({"mode": "explicit", "ttl": ttl});
    assert_eq!(
        body["messages"][0]["content"],
        json!([{"type": "text", "text": "long", "prompt_cache_breakpoint": mark("12h")}, {"type": "text", "text": "x"}])
    );
    assert_eq!(
        body["messages"][2]["content"],
        json!([{"type": "text", "text": "r", "prompt_cache_breakpoint": mark("30m")}])
    );
    assert_eq!(warnings, [""; 0]);
    let (messages, warned) = messages(&request);
    assert!(!messages.to_string().contains("breakpoint"));
    assert_eq!(warned.len(), 2);
}

#[test]
fn a_thought_in_a_form_that_its_vendor_does_not_take_is_named() {
    let sent = |dialect: &Dialect, data: Value| {
        let replay = Replay::new(Origin::new(OPENAI), data);
        let part = ContentPart::Reasoning(ReasoningPart::default().with_replay(replay));
        let request = ChatRequest::new([Message::new(Role::Assistant, vec![part, ContentPart::text("a")])]);
        let (body, warnings) = encoded(dialect, &model("demo"), &request);
        (
            body["messages"][0].get("reasoning_details").is_some(),
            fields(&warnings),
        )
    };
    let details = json!({"reasoning_details": [{"a": 1}]});
    assert_eq!(sent(&Dialect::compatible(), details.clone()), (true, vec![]));
    assert_eq!(sent(&Dialect::openai(), details).1, ["messages[0].content[0]"]);
    assert_eq!(
        sent(&Dialect::openai(), json!({"reasoning_content": "x"}))
            .1
            .len(),
        1
    );
    assert_eq!(
        sent(&Dialect::openai(), json!({"reasoning_details": []})),
        (false, vec![])
    );
}
