use super::*;

#[test]
fn json_is_asked_for_in_words_where_the_host_wants_that() {
    let asked = |messages: Vec<Message>| ChatRequest::new(messages).with_output(OutputFormat::Json);
    let vendors = [
        Dialect::openai(),
        Dialect::mistral(),
        Dialect::groq(),
        Dialect::deepseek(),
        Dialect::kimi(),
    ];
    for dialect in vendors {
        let (body, warnings) = encoded(&dialect, &model("demo"), &asked(vec![Message::user("hi")]));
        let added = json!({"role": "system", "content": "Answer in JSON."});
        assert_eq!(
            body["messages"],
            json!([added, {"role": "user", "content": "hi"}]),
            "{}",
            dialect.vendor
        );
        assert_eq!(fields(&warnings), ["output"], "{}", dialect.vendor);
        let (body, warnings) = encoded(&dialect, &model("demo"), &asked(vec![Message::user("as json")]));
        assert_eq!(body["messages"], json!([{"role": "user", "content": "as json"}]));
        assert_eq!(fields(&warnings), [""; 0], "{}", dialect.vendor);
    }
    let request = asked(vec![Message::user("hi")]);
    assert!(
        encoded(&Dialect::compatible(), &model("demo"), &request)
            .1
            .is_empty()
    );
    let behind = asked(vec![
        Message::user("hi"),
        Message::system("be brief"),
        Message::user("go"),
    ]);
    let (sent, warned) = messages_to(&Dialect::openai(), "o3", &behind);
    assert_eq!(
        sent[1],
        json!({"role": "developer", "content": "be brief\n\nAnswer in JSON."})
    );
    assert_eq!(
        (sent.as_array().unwrap().len(), warned),
        (3, vec!["output".to_owned()])
    );
    let mut cached = behind;
    cached.messages[1]
        .content
        .push(ContentPart::CachePoint(CachePoint::default()));
    let (sent, _) = messages_to(&Dialect::openai(), "gpt-6-sol", &cached);
    assert_eq!(
        sent[1]["content"][1],
        json!({"type": "text", "text": "Answer in JSON."})
    );
}

#[test]
fn what_openai_does_not_take_as_strict_is_not_sent_as_strict() {
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let tool = ToolSpec::new("f").with_parameters(open.clone()).with_strict(true);
    let request = hi()
        .with_tools([ToolSpec::new("g"), tool])
        .with_output(OutputFormat::json_schema("x", open.clone()));
    let (body, warnings) = encoded(&Dialect::openai(), &model("demo"), &request);
    let (function, answer) = (
        &body["tools"][1]["function"],
        &body["response_format"]["json_schema"],
    );
    assert_eq!(
        (&function["strict"], &function["parameters"]),
        (&json!(false), &open)
    );
    assert_eq!((&answer["strict"], &answer["schema"]), (&json!(false), &open));
    assert_eq!(fields(&warnings), ["tools[1].strict", "output.strict"]);
    let (body, warnings) = encoded(&Dialect::compatible(), &model("demo"), &request);
    assert_eq!(body["tools"][1]["function"]["strict"], true);
    assert_eq!(body["response_format"]["json_schema"]["schema"], open);
    assert!(warnings.is_empty());
}

#[test]
fn the_word_may_stand_in_any_text_that_is_sent() {
    let added = |messages: Vec<Message>| {
        let request = ChatRequest::new(messages).with_output(OutputFormat::Json);
        let (body, _) = encoded(&Dialect::openai(), &model("demo"), &request);
        body.to_string().contains("Answer in JSON.")
    };
    let said = |text: &str| {
        let call = ContentPart::ToolCall(ToolCall::new("c", "json", "{\"json\":1}"));
        let results = Message::tool_results([ToolResult::new("c", text)]);
        vec![
            Message::user("hi"),
            Message::new(Role::Assistant, vec![call]),
            results,
        ]
    };
    assert!(added(said("found")));
    assert!(!added(said("found json")));
    for message in [
        Message::system("json"),
        Message::assistant("json"),
        Message::user("json"),
    ] {
        assert!(!added(vec![Message::user("hi"), message.clone()]), "{message:?}");
    }
    // a result that nobody asked for is left out
    let orphan = Message::tool_results([ToolResult::new("x", "json")]);
    assert!(added(vec![Message::user("hi"), orphan]));
}
