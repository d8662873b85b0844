use super::*;
use llm_core::{
    CachePoint, ContentPart, DocumentPart, ImagePart, MediaSource, Message, OpaquePart, Origin,
    ReasoningPart, RefusalPart, Replay, Role, TextPart, ToolCall, ToolResult, ToolSpec, VendorId,
};

const DUMMY: &str = "skip_thought_signature_validator";

fn assistant(parts: impl IntoIterator<Item = ContentPart>) -> Message {
    Message::new(Role::Assistant, parts.into_iter().collect())
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, name, arguments)
}

fn state(vendor: &'static str, model: Option<&str>, data: Value) -> Replay {
    let origin = Origin::new(VendorId::from_static(vendor));
    Replay::new(
        match model {
            Some(model) => origin.with_model(ModelId::new(model).unwrap()),
            None => origin,
        },
        data,
    )
}

fn contents(messages: impl IntoIterator<Item = Message>) -> (Value, Vec<String>) {
    let (mut body, warned) = sent_to("gemini-4-argon", &ChatRequest::new(messages)).unwrap();
    (body["contents"].take(), warned)
}

#[test]
fn one_side_is_one_content() {
    let (contents, warned) = contents([
        Message::user("a"),
        Message::user("b"),
        Message::assistant("c"),
        Message::assistant(""),
        Message::assistant("d"),
    ]);
    let expected = json!([
        user(json!([{"text": "a"}, {"text": "b"}])),
        model(json!([{"text": "c"}, {"text": "d"}])),
    ]);
    assert_eq!((contents, warned), (expected, vec![]));
}

#[test]
fn instructions_stand_in_front() {
    let messages = [
        Message::system("one"),
        Message::system("two"),
        Message::user("a"),
        Message::system("three"),
    ];
    let request = ChatRequest::new(messages);
    let (sent, warned) = sent_to("gemini-4-argon", &request).unwrap();
    let system = json!([{"text": "one"}, {"text": "two"}, {"text": "three"}]);
    assert_eq!(
        sent,
        json!({"systemInstruction": {"parts": system}, "contents": [user(json!([{"text": "a"}]))]})
    );
    assert_eq!(warned, ["messages[3]"]);
    let (gemma, _) = sent_to("gemma-3-27b-it", &request).unwrap();
    let texts = json!([{"text": "one"}, {"text": "two"}, {"text": "three"}, {"text": "a"}]);
    assert_eq!(gemma, json!({"contents": [user(texts)]}));
    let (alone, warned) = sent_to("gemini-4-argon", &ChatRequest::new([Message::system("one")])).unwrap();
    assert_eq!(alone, json!({"contents": [user(json!([{"text": "one"}]))]}));
    assert_eq!(warned, ["messages"]);
}

#[test]
fn a_conversation_begins_with_the_user() {
    let (sent, warned) = contents([Message::assistant("a")]);
    assert_eq!(
        sent,
        json!([
            user(json!([{"text": "(The conversation begins.)"}])),
            model(json!([{"text": "a"}]))
        ])
    );
    assert_eq!(warned, ["messages"]);
    assert_eq!(refusal(&ChatRequest::new([])), invalid("messages"));
    assert_eq!(refusal(&ChatRequest::user("")), invalid("messages"));
}

#[test]
fn results_follow_their_calls_in_order() {
    let (sent, warned) = contents([
        Message::user("go"),
        assistant([
            ContentPart::ToolCall(call("c0", "f", "{\"a\": 1.50}")),
            ContentPart::ToolCall(call("c1", "g", "")),
            ContentPart::ToolCall(call("c2", "f", "[1]")),
        ]),
        Message::user("and then?"),
        Message::tool_results([
            ToolResult::new("c1", "one").with_error(),
            ToolResult::new("c0", "nil"),
            ToolResult::new("c0", "again"),
            ToolResult::new("gone", "stale"),
        ]),
    ]);
    let result = |id: &str, name: &str, response: Value| json!({"functionResponse": {"id": id, "name": name, "response": response}});
    let expected = json!([
        user(json!([{"text": "go"}])),
        model(json!([
            {"functionCall": {"id": "c0", "name": "f", "args": {"a": 1.5}}, "thoughtSignature": DUMMY},
            {"functionCall": {"id": "c1", "name": "g", "args": {}}},
            {"functionCall": {"id": "c2", "name": "f", "args": {}}},
        ])),
        user(json!([
            result("c0", "f", json!({"output": "nil"})),
            result("c1", "g", json!({"error": "one"})),
            result("c2", "f", json!({"error": "This call has no result."})),
            {"text": "and then?"},
        ])),
    ]);
    assert_eq!(sent, expected);
    let fields = [
        "messages[1].content[1]",
        "messages[1].content[2]",
        "messages[3].content[2]",
        "messages[3].content[3]",
        "messages[1]",
    ];
    assert_eq!(warned, fields);
}

#[test]
fn arguments_go_out_just_as_they_were_written() {
    let arguments = "{\"big\": 12345678901234567890123, \"b\":1,\"a\":1.0}";
    let request = ChatRequest::new([assistant([ContentPart::ToolCall(call("c0", "f", arguments))])]);
    let resolved = ResolvedModel::unknown(ModelId::new("demo").unwrap());
    let encoded = encode_request(&Dialect::gemini(), &resolved, &request).unwrap();
    let sent = String::from_utf8(encoded.body).unwrap();
    assert!(sent.contains(&format!("\"args\":{arguments}")), "{sent}");
}

#[test]
fn results_without_an_id_are_matched_by_name_and_order() {
    let nameless = |text: &str| ToolResult::new("", text).with_name("f");
    let (sent, warned) = contents([
        Message::user("go"),
        assistant([
            ContentPart::ToolCall(call("c0", "f", "{}")),
            ContentPart::ToolCall(call("c1", "g", "{}")),
            ContentPart::ToolCall(call("c2", "f", "{}")),
        ]),
        Message::tool_results([
            nameless("first"),
            ToolResult::new("c1", "second"),
            nameless("third"),
        ]),
    ]);
    let outputs: Vec<_> = sent[2]["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["functionResponse"]["response"]["output"].as_str().unwrap())
        .collect();
    assert_eq!((outputs, warned), (vec!["first", "second", "third"], vec![]));
}

#[test]
fn calls_come_back_as_this_model_made_them() {
    let own = |data: Value| state("gemini", Some("gemini-4-argon"), data);
    let step = |first: Replay| {
        let (sent, warned) = contents([
            Message::user("go"),
            assistant([
                ContentPart::ToolCall(call("call_x_0", "f", "{}").with_replay(first)),
                ContentPart::ToolCall(call("f-2", "f", "{}").with_replay(own(json!({"id": "f-2"})))),
            ]),
            Message::tool_results([ToolResult::new("call_x_0", "a"), ToolResult::new("f-2", "b")]),
        ]);
        let ids = [0, 1].map(|at| sent[2]["parts"][at]["functionResponse"]["id"].clone());
        assert_eq!(ids, [Value::Null, json!("f-2")]);
        (sent[1]["parts"].clone(), warned)
    };
    let second = json!({"functionCall": {"id": "f-2", "name": "f", "args": {}}});
    let first = json!({"functionCall": {"name": "f", "args": {}}});
    let signed = |signature: &str| {
        let mut signed = first.clone();
        signed["thoughtSignature"] = json!(signature);
        json!([signed, second])
    };
    assert_eq!(
        step(own(json!({"thoughtSignature": "QQ=="}))),
        (signed("QQ=="), vec![])
    );
    // the vendor gave none, so it wants none
    assert_eq!(step(own(json!({}))), (json!([first, second]), vec![]));
    let other = state(
        "gemini",
        Some("gemini-3.8-flash"),
        json!({"thoughtSignature": "QQ=="}),
    );
    assert_eq!(
        step(other),
        (signed(DUMMY), vec!["messages[1].content[0]".to_owned()])
    );
    let unknown = state("gemini", None, json!({"thoughtSignature": "QQ=="}));
    assert_eq!(step(unknown), (signed("QQ=="), vec![]));
}

#[test]
fn older_models_take_neither_ids_nor_placeholders() {
    let request = ChatRequest::new([
        Message::user("go"),
        assistant([ContentPart::ToolCall(call("c0", "f", "{}"))]),
        Message::tool_results([ToolResult::new("c0", "a")]),
    ]);
    let (sent, _) = sent_to("gemini-2.5-flash", &request).unwrap();
    assert_eq!(
        sent["contents"][1]["parts"],
        json!([{"functionCall": {"name": "f", "args": {}}}])
    );
    assert_eq!(
        sent["contents"][2]["parts"],
        json!([{"functionResponse": {"name": "f", "response": {"output": "a"}}}])
    );
}

#[test]
fn only_state_of_this_vendor_goes_back() {
    let signed = |vendor| state(vendor, None, json!({"thoughtSignature": "QQ=="}));
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "AA=="}, "thoughtSignature": "QQ=="});
    let hidden = state("gemini", None, json!({"thoughtSignature": "QQ==", "text": "hm"}));
    let (sent, warned) = contents([
        Message::user("go"),
        assistant([
            ContentPart::Reasoning(ReasoningPart::new("shown only")),
            ContentPart::Reasoning(ReasoningPart::new("hm").with_replay(signed("gemini"))),
            ContentPart::Reasoning(ReasoningPart::new("").with_replay(hidden)),
            ContentPart::Reasoning(ReasoningPart::new("hm").with_replay(signed("claude"))),
            ContentPart::Text(TextPart::new("a").with_replay(signed("gemini"))),
            ContentPart::Text(TextPart::new("").with_replay(signed("gemini"))),
            ContentPart::Text(TextPart::new("b").with_replay(signed("openai"))),
            ContentPart::Refusal(RefusalPart::new("c")),
            ContentPart::Opaque(OpaquePart::new(
                "inlineData",
                state("gemini", None, image.clone()),
            )),
            ContentPart::Opaque(OpaquePart::new(
                "inlineData",
                state("gemini", Some("gemini-2.5-pro"), image.clone()),
            )),
            ContentPart::Opaque(OpaquePart::new(
                "audio",
                state("openai", None, json!({"id": "x"})),
            )),
        ]),
    ]);
    let thought = json!({"text": "hm", "thought": true, "thoughtSignature": "QQ=="});
    let expected = json!([
        thought,
        thought,
        {"text": "a", "thoughtSignature": "QQ=="},
        {"text": "", "thoughtSignature": "QQ=="},
        {"text": "b"},
        {"text": "c"},
        image,
        {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
    ]);
    assert_eq!(sent[1]["parts"], expected);
    let places = [3, 6, 9, 10].map(|at| format!("messages[1].content[{at}]"));
    assert_eq!(warned, places);
}

#[test]
fn parts_in_the_wrong_place_are_refused() {
    let result = || ContentPart::ToolResult(ToolResult::new("c0", "a"));
    let call = || ContentPart::ToolCall(call("c0", "f", "{}"));
    for (role, part, expected) in [
        (Role::Assistant, result(), ErrorKind::InvalidRequest),
        (Role::System, result(), ErrorKind::InvalidRequest),
        (Role::User, call(), ErrorKind::InvalidRequest),
        (Role::Tool, ContentPart::text("a"), ErrorKind::InvalidRequest),
        (
            Role::User,
            ContentPart::Refusal(RefusalPart::new("a")),
            ErrorKind::InvalidRequest,
        ),
        (
            Role::System,
            ContentPart::Image(ImagePart::new(MediaSource::bytes("image/png", [1]))),
            ErrorKind::Unsupported,
        ),
    ] {
        let request = ChatRequest::new([Message::new(role, vec![part])]);
        assert_eq!(
            refusal(&request),
            (expected, "messages[0].content[0]".to_owned()),
            "{role:?}"
        );
    }
}

#[test]
fn what_has_no_place_is_warned_about() {
    let message = Message::new(
        Role::User,
        vec![
            ContentPart::text("a"),
            ContentPart::CachePoint(CachePoint::default()),
        ],
    );
    let document = DocumentPart::new(MediaSource::bytes("application/pdf", [1])).with_name("a.pdf");
    let (_, warned) = contents([
        message.with_name("ann"),
        Message::new(Role::User, vec![ContentPart::Document(document)]),
    ]);
    assert_eq!(
        warned,
        [
            "messages[0].content[1]",
            "messages[0].name",
            "messages[1].content[0]"
        ]
    );
}

#[test]
fn names_are_made_legal_and_one_answer_gives_them_back() {
    let request = ChatRequest::new([
        Message::user("go"),
        assistant([ContentPart::ToolCall(call("c0", "fs/read", "{}"))]),
        Message::tool_results([ToolResult::new("c0", "a")]),
    ])
    .with_tools([ToolSpec::new("9lives")])
    .with_tool_choice(llm_core::ToolChoice::Tool("9lives".into()));
    let resolved = ResolvedModel::unknown(ModelId::new("demo").unwrap());
    let encoded = encode_request(&Dialect::gemini(), &resolved, &request).unwrap();
    let sent: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!(sent["tools"][0]["functionDeclarations"][0]["name"], "_9lives");
    assert_eq!(
        sent["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"],
        json!(["_9lives"])
    );
    assert_eq!(sent["contents"][1]["parts"][0]["functionCall"]["name"], "fs_read");
    assert_eq!(
        sent["contents"][2]["parts"][0]["functionResponse"]["name"],
        "fs_read"
    );
    assert_eq!(encoded.tool_names.own("_9lives"), "9lives");
}
