use super::*;

#[test]
fn system_messages_at_the_start_are_above_the_conversation() {
    let request = ChatRequest::new([
        Message::system("Be brief."),
        Message::new(
            Role::System,
            vec![ContentPart::text("And kind."), point(CacheTtl::Long)],
        ),
        Message::user("hi"),
    ]);
    let body = clean("demo", &request);
    let kept =
        json!({"type": "text", "text": "And kind.", "cache_control": {"type": "ephemeral", "ttl": "1h"}});
    assert_eq!(body["system"], json!([text("Be brief."), kept]));
    assert_eq!(
        body["messages"],
        json!([{"role": "user", "content": [text("hi")]}])
    );
}

#[test]
fn later_system_messages_stay_in_place_where_the_model_takes_that() {
    let request = ChatRequest::new([
        Message::system("a"),
        Message::user("b"),
        Message::system("c"),
        Message::user("d"),
    ]);
    let body = clean("claude-opus-5-5", &request);
    assert_eq!(body["system"], json!([text("a")]));
    let roles: Vec<_> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["role"].clone())
        .collect();
    assert_eq!(roles, ["user", "system", "user"]);
    let (system, warned) = field("claude-opus-4-7", &request, "system");
    assert_eq!(system, json!([text("a"), text("c")]));
    assert_eq!(warned, ["messages[2]"]);
    let (messages, _) = field("claude-opus-4-7", &request, "messages");
    assert_eq!(
        messages,
        json!([{"role": "user", "content": [text("b"), text("d")]}])
    );
}

#[test]
fn roles_in_a_row_are_one_message() {
    let (messages, warned) = sent([
        Message::user("a"),
        Message::user(""),
        Message::user("b"),
        assistant([ContentPart::text("c")]),
        assistant([]),
        assistant([ContentPart::text("d")]),
        Message::user("e"),
    ]);
    assert_eq!(
        messages,
        json!([
            {"role": "user", "content": [text("a"), text("b")]},
            {"role": "assistant", "content": [text("c"), text("d")]},
            {"role": "user", "content": [text("e")]},
        ])
    );
    assert_eq!(warned, [""; 0]);
}

#[test]
fn the_user_begins() {
    for messages in [
        vec![assistant([ContentPart::text("a")]), Message::user("b")],
        vec![Message::system("a")],
    ] {
        let (sent, warned) = sent(messages);
        assert_eq!(sent[0]["role"], "user");
        assert_eq!(warned, ["messages"]);
    }
    assert_eq!(refused("demo", &ChatRequest::default()).1, "messages");
}

#[test]
fn results_of_a_turn_stand_together_before_everything_else() {
    let failed = ToolResult::new("b", "no").with_error();
    let (messages, warned) = sent([
        Message::user("go"),
        assistant([call("a", "{\"x\": 1.0}"), call("b", "")]),
        Message::new(Role::Tool, vec![result("a", "yes"), point(CacheTtl::Short)]),
        user([ContentPart::text("and"), ContentPart::ToolResult(failed)]),
    ]);
    assert_eq!(
        messages[1]["content"],
        json!([
            {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1.0}},
            {"type": "tool_use", "id": "b", "name": "f", "input": {}},
        ])
    );
    assert_eq!(
        messages[2],
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": [text("yes")], "cache_control": {"type": "ephemeral"}},
            {"type": "tool_result", "tool_use_id": "b", "content": [text("no")], "is_error": true},
            text("and"),
        ]})
    );
    assert_eq!(
        warned,
        ["messages[1].content[1]", "tools"],
        "empty arguments are none"
    );
}

#[test]
fn arguments_go_back_byte_for_byte() {
    let arguments = "{\"a\": 1.10, \"n\": 123456789012345678901234567890}";
    let request = with_tool(ChatRequest::new([
        Message::user("go"),
        assistant([call("a", arguments)]),
    ]));
    let encoded = encode_request(&Dialect::anthropic(), &model("demo"), &request, false).unwrap();
    assert!(String::from_utf8(encoded.body).unwrap().contains(arguments));
}

#[test]
fn arguments_that_are_no_object_are_none() {
    for arguments in ["[1]", "{\"a\"", "null", "7"] {
        let (messages, warned) = sent([
            Message::user("go"),
            assistant([call("a", arguments)]),
            Message::tool_results([ToolResult::new("a", "r")]),
        ]);
        assert_eq!(messages[1]["content"][0]["input"], json!({}), "{arguments}");
        assert_eq!(warned, ["messages[1].content[0]", "tools"]);
    }
}

#[test]
fn calls_and_results_without_each_other_are_made_legal() {
    let (messages, warned) = sent([
        Message::user("go"),
        Message::tool_results([ToolResult::new("gone", "stale")]),
        assistant([call("a", "{}"), call("b", "{}")]),
        Message::tool_results([
            ToolResult::new("b", "r"),
            ToolResult::new("b", "again"),
            ToolResult::new("c", "r"),
        ]),
        Message::user("next"),
    ]);
    let content = messages[2]["content"].as_array().unwrap();
    let ids: Vec<_> = content.iter().map(|block| block["tool_use_id"].clone()).collect();
    assert_eq!(ids, [json!("b"), json!("a"), Value::Null]);
    assert_eq!(content[1]["is_error"], true);
    assert_eq!(
        warned,
        [
            "messages[1].content[0]",
            "messages[3].content[1]",
            "messages[3].content[2]",
            "messages[2]",
            "tools"
        ]
    );
    let only = ChatRequest::new([Message::tool_results([ToolResult::new("gone", "stale")])]);
    assert_eq!(
        refused("demo", &only),
        (ErrorKind::InvalidRequest, "messages".into())
    );
}

#[test]
fn ids_are_made_to_fit_and_told_apart() {
    let (messages, _) = sent([
        Message::user("go"),
        assistant([call("f.x:0", "{}"), call("f.x:0", "{}"), call("f_x_0", "{}")]),
        Message::tool_results([
            ToolResult::new("f_x_0", "three"),
            ToolResult::new("f.x:0", "one"),
            ToolResult::new("f.x:0", "two"),
        ]),
        assistant([call("f.x:0", "{}")]),
        Message::tool_results([ToolResult::new("f.x:0", "four")]),
    ]);
    let ids = |message: usize, key: &str| -> Vec<String> {
        let blocks = messages[message]["content"].as_array().unwrap();
        blocks
            .iter()
            .map(|block| block[key].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids(1, "id"), ["f_x_0", "f_x_0_2", "f_x_0_3"]);
    assert_eq!(ids(2, "tool_use_id"), ["f_x_0_3", "f_x_0", "f_x_0_2"]);
    assert_eq!(
        (ids(3, "id"), ids(4, "tool_use_id")),
        (vec!["f_x_0_4".into()], vec!["f_x_0_4".into()])
    );
}

#[test]
fn state_of_this_vendor_goes_back_as_it_came_and_that_of_others_does_not() {
    let redacted = json!({"type": "redacted_thinking", "data": "ENC"});
    let search = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": 1}});
    let cited = TextPart::new("so").with_replay(replay(ANTHROPIC, json!({"citations": [{"a": 1}]})));
    let direct =
        ToolCall::new("a", "f", "{}").with_replay(replay(ANTHROPIC, json!({"caller": {"type": "direct"}})));
    let (messages, warned) = sent([
        Message::user("go"),
        assistant([
            thought(ANTHROPIC),
            piece(ANTHROPIC, redacted.clone()),
            ContentPart::Reasoning(ReasoningPart::new("for people")),
            ContentPart::Text(cited),
            piece(ANTHROPIC, search.clone()),
            ContentPart::ToolCall(direct),
        ]),
        Message::tool_results([ToolResult::new("a", "r")]),
    ]);
    assert_eq!(
        messages[1]["content"],
        json!([
            {"type": "thinking", "thinking": "hm", "signature": "SIG"},
            redacted,
            {"type": "text", "text": "so", "citations": [{"a": 1}]},
            search,
            {"type": "tool_use", "id": "a", "name": "f", "input": {}, "caller": {"type": "direct"}},
        ])
    );
    assert_eq!(warned, ["tools"]);
    let signed = TextPart::new("b").with_replay(replay(OTHER, json!({"type": "x", "sig": 1})));
    let (messages, warned) = sent([
        Message::user("go"),
        assistant([
            thought(OTHER),
            piece(OTHER, redacted),
            ContentPart::Text(signed),
            piece(ANTHROPIC, json!(7)),
        ]),
        Message::user("next"),
    ]);
    assert_eq!(messages[1]["content"], json!([text("b")]));
    assert_eq!(
        warned,
        ["messages[1].content[1]", "messages[1].content[3]", "messages[1]"]
    );
}

#[test]
fn a_refusal_is_what_was_said() {
    let refusal = ContentPart::Refusal(RefusalPart::new("I would rather not."));
    let (messages, warned) = sent([Message::user("go"), assistant([refusal]), Message::user("why?")]);
    assert_eq!(messages[1]["content"], json!([text("I would rather not.")]));
    assert_eq!(warned, [""; 0]);
}

#[test]
fn a_turn_to_be_continued_goes_to_models_that_continue_it() {
    let request = |last: &str| ChatRequest::new([Message::user("x"), Message::assistant(last)]);
    let (messages, warned) = field("claude-haiku-4-5", &request("{\"title\": \n"), "messages");
    assert_eq!(messages[1]["content"], json!([text("{\"title\":")]));
    assert_eq!(warned, ["messages"]);
    let (messages, _) = field("claude-haiku-4-5", &request(" \n"), "messages");
    assert_eq!(messages.as_array().unwrap().len(), 1);
    for name in ["claude-opus-5-5", "claude-opus-4-6", "claude-opus-9"] {
        assert_eq!(
            refused(name, &request("a")),
            (ErrorKind::Unsupported, "messages".into()),
            "{name}"
        );
    }
    let mut listed = model("demo");
    listed.rejects.push(Knob::Prefill);
    assert_eq!(
        refused_by(&Dialect::anthropic(), &listed, &request("a")).0,
        ErrorKind::Unsupported
    );
}

#[test]
fn a_paused_turn_goes_back_to_any_model() {
    let search = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let paused = assistant([ContentPart::text("Searching "), piece(ANTHROPIC, search.clone())]);
    let body = clean("claude-opus-5-5", &ChatRequest::new([Message::user("x"), paused]));
    assert_eq!(
        body["messages"][1]["content"],
        json!([text("Searching "), search])
    );
}

#[test]
fn parts_where_they_cannot_be_are_refused() {
    let sound = ContentPart::Audio(llm_core::chat::AudioPart::new(MediaSource::bytes(
        "audio/wav",
        b"x",
    )));
    let image = ContentPart::Image(ImagePart::new(MediaSource::url("https://example.com/a.png")));
    let system = |part: ContentPart| Message::new(Role::System, vec![part]);
    let tool = |part: ContentPart| Message::new(Role::Tool, vec![part]);
    for (message, kind) in [
        (user([sound.clone()]), ErrorKind::Unsupported),
        (user([call("a", "{}")]), ErrorKind::InvalidRequest),
        (user([thought(ANTHROPIC)]), ErrorKind::InvalidRequest),
        (tool(ContentPart::text("a")), ErrorKind::InvalidRequest),
        (tool(image.clone()), ErrorKind::InvalidRequest),
        (system(image.clone()), ErrorKind::Unsupported),
        (system(result("a", "b")), ErrorKind::InvalidRequest),
        (system(call("a", "{}")), ErrorKind::InvalidRequest),
        (assistant([image]), ErrorKind::Unsupported),
        (assistant([result("a", "b")]), ErrorKind::InvalidRequest),
        (assistant([call("", "{}")]), ErrorKind::InvalidRequest),
    ] {
        let request = ChatRequest::new([Message::user("x"), message.clone()]);
        assert_eq!(
            refused("demo", &request),
            (kind, "messages[1].content[0]".into()),
            "{message:?}"
        );
    }
    let inside = ToolResult::new("a", "").with_content(vec![sound]);
    let request = ChatRequest::new([
        Message::user("x"),
        assistant([call("a", "{}")]),
        Message::tool_results([inside]),
    ]);
    assert_eq!(refused("demo", &request).1, "messages[2].content[0].content[0]");
}

#[test]
fn names_of_speakers_are_warned_about() {
    let (_, warned) = sent([
        Message::system("a").with_name("s"),
        Message::user("b").with_name("u"),
        Message::assistant("c").with_name("a"),
        Message::user("d"),
    ]);
    assert_eq!(
        warned,
        ["messages[0].name", "messages[1].name", "messages[2].name"]
    );
}

#[test]
fn a_cache_point_keeps_everything_before_it() {
    let request = with_tool(ChatRequest::new([
        Message::new(Role::System, vec![point(CacheTtl::Short), ContentPart::text("a")]),
        user([point(CacheTtl::Short), ContentPart::text("b")]),
        assistant([ContentPart::text("c"), thought(ANTHROPIC), point(CacheTtl::Short)]),
        Message::user("d"),
    ]));
    let body = clean("demo", &request);
    let kept = json!({"type": "ephemeral"});
    assert_eq!(body["tools"][1]["cache_control"], kept);
    assert_eq!(body["system"][0]["cache_control"], kept);
    assert_eq!(
        body["messages"][1]["content"][0]["cache_control"], kept,
        "a thought cannot be marked"
    );
    let inside = ToolResult::new("a", "").with_content(vec![ContentPart::text("r"), point(CacheTtl::Long)]);
    let (messages, _) = sent([
        Message::user("x"),
        assistant([call("a", "{}")]),
        Message::tool_results([inside]),
    ]);
    assert_eq!(
        messages[2]["content"][0]["content"][0]["cache_control"]["ttl"],
        "1h"
    );
    let (_, warned) = sent([user([point(CacheTtl::Short), ContentPart::text("b")])]);
    assert_eq!(warned, ["messages"], "nothing before it");
}

#[test]
fn no_more_cache_points_are_sent_than_are_taken() {
    let parts = (0..6).flat_map(|n| [ContentPart::text(n.to_string()), point(CacheTtl::Long)]);
    let (messages, warned) = sent([user(parts.clone())]);
    let marked = |messages: &Value| -> Vec<usize> {
        let blocks = messages[0]["content"].as_array().unwrap();
        let marked = blocks
            .iter()
            .enumerate()
            .filter(|(_, block)| block.get("cache_control").is_some());
        marked.map(|(index, _)| index).collect()
    };
    assert_eq!(
        (marked(&messages), warned),
        (vec![2, 3, 4, 5], vec!["messages".to_owned()])
    );
    let automatic = ChatRequest::new([user(parts)]).with_vendor_option(
        ANTHROPIC,
        "cache_control",
        json!({"type": "ephemeral"}),
    );
    assert_eq!(marked(&field("demo", &automatic, "messages").0), [3, 4, 5]);
}

#[test]
fn long_cache_points_stand_before_short_ones() {
    let parts = [CacheTtl::Long, CacheTtl::Short, CacheTtl::Long];
    let parts = parts
        .into_iter()
        .flat_map(|ttl| [ContentPart::text("a"), point(ttl)]);
    let (messages, warned) = sent([user(parts)]);
    let blocks = messages[0]["content"].as_array().unwrap();
    let ttls: Vec<_> = blocks
        .iter()
        .map(|block| block["cache_control"]["ttl"].clone())
        .collect();
    assert_eq!(ttls, [json!("1h"), Value::Null, Value::Null]);
    assert_eq!(warned, ["messages"]);
}

#[test]
fn earlier_calls_without_tools_bring_theirs() {
    let request = ChatRequest::new([
        Message::user("go"),
        assistant([call("a", "{}"), call("b", "{}")]),
        Message::tool_results([ToolResult::new("a", "r"), ToolResult::new("b", "r")]),
    ]);
    let (body, warnings) = encoded("claude-opus-5-5", &request);
    assert_eq!(body["tools"].as_array().unwrap().len(), 1);
    assert_eq!(body["tools"][0]["name"], "f");
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
    assert_eq!(warnings.len(), 1);
}

#[test]
fn tools_are_renamed_where_they_must_be() {
    let named = |name: &str| ToolCall::new("a", name, "{}");
    let request = ChatRequest::new([
        Message::user("go"),
        assistant([ContentPart::ToolCall(named("fs.read"))]),
        Message::tool_results([ToolResult::new("a", "r")]),
    ])
    .with_tools([ToolSpec::new("fs.read"), ToolSpec::new("fs_read")])
    .with_tool_choice(ToolChoice::Tool("fs.read".into()));
    let encoded = encode_request(&Dialect::anthropic(), &model("demo"), &request, false).unwrap();
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!(body["tools"][0]["name"], "fs_read_2");
    assert_eq!(body["tools"][1]["name"], "fs_read");
    assert_eq!(body["tool_choice"]["name"], "fs_read_2");
    assert_eq!(body["messages"][1]["content"][0]["name"], "fs_read_2");
    assert_eq!(encoded.tool_names.own("fs_read_2"), "fs.read");
    assert_eq!(encoded.warnings, []);
}

/// A caller may send any number of them; none of it may take the square of the time.
#[test]
fn many_calls_of_one_id_many_names_and_many_cache_points_take_no_longer() {
    const MANY: usize = 10_000;
    let calls = (0..MANY).map(|_| call("same.id", "{}"));
    let results = (0..MANY).map(|_| ToolResult::new("same.id", "r"));
    let thoughts = (0..MANY).flat_map(|_| [thought(ANTHROPIC), point(CacheTtl::Short)]);
    let names = ('\u{4e00}'..)
        .take(7_000)
        .map(|name| ToolSpec::new(name.to_string()));
    let request = ChatRequest::new([
        Message::user("go"),
        assistant(calls),
        Message::tool_results(results),
        assistant(thoughts),
        Message::user("next"),
    ])
    .with_tools(names);
    let (body, _) = encoded("demo", &request);
    assert_eq!(
        body["messages"][1]["content"][MANY - 1]["id"],
        format!("same_id_{MANY}")
    );
}
