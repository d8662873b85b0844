use super::*;
use llm_core::chat::AudioPart;
use llm_core::{
    CachePoint, ContentPart, DocumentPart, ImageDetail, ImagePart, MediaSource, Message, OpaquePart, Origin,
    ReasoningPart, RefusalPart, Replay, Role, ToolCall, ToolResult,
};

fn assistant(parts: impl IntoIterator<Item = ContentPart>) -> Message {
    Message::new(Role::Assistant, parts.into_iter().collect())
}

fn image(bytes: &[u8]) -> ContentPart {
    ContentPart::Image(ImagePart::new(MediaSource::bytes("image/png", bytes)))
}

fn messages(messages: impl IntoIterator<Item = Message>) -> (Value, Vec<String>) {
    let (mut body, warned) = sent(&ChatRequest::new(messages));
    (body["messages"].take(), warned)
}

#[test]
fn texts_are_joined_and_pictures_stand_beside_them() {
    let parts = vec![
        ContentPart::text("one"),
        ContentPart::text("two "),
        ContentPart::text("three"),
        image(&[1]),
    ];
    let (said, warned) = messages([Message::system("s"), Message::new(Role::User, parts)]);
    let expected = json!([
        {"role": "system", "content": "s"},
        {"role": "user", "content": "one\ntwo three", "images": ["AQ=="]},
    ]);
    assert_eq!((said, warned), (expected, vec![]));
    let parts = vec![ContentPart::text("a"), image(&[1]), ContentPart::text("b")];
    let (said, warned) = messages([Message::new(Role::User, parts)]);
    assert_eq!(
        said,
        json!([{"role": "user", "content": "a\nb", "images": ["AQ=="]}])
    );
    assert_eq!(warned, ["messages[0]"]);
}

#[test]
fn media_is_bytes_or_refused() {
    let send = |part: ContentPart| {
        sent_to(
            &resolved("demo"),
            &ChatRequest::new([Message::new(Role::User, vec![part])]),
        )
    };
    let images = |part: ContentPart| send(part).unwrap().0["messages"][0]["images"].clone();
    let picture = |source| ContentPart::Image(ImagePart::new(source));
    assert_eq!(
        images(picture(MediaSource::url("data:image/png;base64,AQ=="))),
        json!(["AQ=="])
    );
    let sound = || ContentPart::Audio(AudioPart::new(MediaSource::bytes("audio/wav", [2])));
    assert_eq!(images(sound()), json!(["Ag=="]));
    let deaf =
        resolved("demo").with_capabilities(Capabilities::unknown().with(Capability::AudioInput, false));
    let request = ChatRequest::new([Message::new(Role::User, vec![sound()])]);
    assert_eq!(
        sent_to(&deaf, &request).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    for part in [
        picture(MediaSource::url("https://example.com/a.png")),
        picture(MediaSource::VendorFile {
            vendor: OLLAMA,
            id: "x".into(),
        }),
        ContentPart::Document(DocumentPart::new(MediaSource::bytes("application/pdf", [1]))),
    ] {
        assert_eq!(send(part).unwrap_err().kind(), ErrorKind::Unsupported);
    }
    let detailed = ImagePart::new(MediaSource::bytes("image/png", [1])).with_detail(ImageDetail::High);
    assert_eq!(
        send(ContentPart::Image(detailed)).unwrap().1,
        ["messages[0].content[0]"]
    );
}

#[test]
fn results_follow_their_calls_in_order() {
    let call =
        |id: &str, name: &str, arguments: &str| ContentPart::ToolCall(ToolCall::new(id, name, arguments));
    let (said, warned) = messages([
        Message::user("go"),
        assistant([
            ContentPart::text("Look."),
            call("c0", "f", "{\"a\": 1.0}"),
            call("c1", "g", "{\"half\":"),
            call("c2", "h", "{}"),
        ]),
        Message::user("and then?"),
        Message::tool_results([
            ToolResult::new("c1", "it broke").with_error(),
            ToolResult::new("c0", "").with_content(vec![image(&[1])]),
            ToolResult::new("c0", "again"),
            ToolResult::new("gone", "stale"),
        ]),
    ]);
    let function = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
    let result = |id: &str, name: &str, content: &str| json!({"role": "tool", "content": content, "tool_name": name, "tool_call_id": id});
    let expected = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "Look.", "tool_calls": [
            {"id": "c0", "function": function("f", json!({"a": 1.0}))},
            {"id": "c1", "function": function("g", json!({}))},
            {"id": "c2", "function": function("h", json!({}))},
        ]},
        result("c0", "f", "The result is in the next user message."),
        result("c1", "g", "Error: it broke"),
        result("c2", "h", "Error: this call has no result."),
        {"role": "user", "content": "Content of the result of call c0:", "images": ["AQ=="]},
        {"role": "user", "content": "and then?"},
    ]);
    assert_eq!(said, expected);
    let fields = [
        "messages[1].content[2]",
        "messages[3].content[1]",
        "messages[3].content[2]",
        "messages[3].content[3]",
        "messages[1]",
    ];
    assert_eq!(warned, fields);
}

#[test]
fn thoughts_go_back_only_where_they_came_from() {
    let state = |vendor, data: Value| Replay::new(Origin::new(VendorId::from_static(vendor)), data);
    let thought = |text: &str, replay: Option<Replay>| {
        let mut part = ReasoningPart::new(text);
        part.replay = replay;
        ContentPart::Reasoning(part)
    };
    let (said, warned) = messages([
        Message::user("go"),
        assistant([
            thought("shown", Some(state("ollama", json!({})))),
            thought("", Some(state("ollama", json!({"thinking": "hidden"})))),
            thought("for people", None),
            thought("foreign", Some(state("claude", json!({"signature": "x"})))),
            ContentPart::Refusal(RefusalPart::new("no")),
            ContentPart::Opaque(OpaquePart::new("audio", state("openai", json!({"id": "x"})))),
        ]),
    ]);
    assert_eq!(
        said[1],
        json!({"role": "assistant", "content": "no", "thinking": "shown\nhidden"})
    );
    assert_eq!(warned, ["messages[1].content[3]", "messages[1].content[5]"]);
}

#[test]
fn what_has_no_place_is_warned_about_or_refused() {
    let cached = vec![
        ContentPart::text("a"),
        ContentPart::CachePoint(CachePoint::default()),
    ];
    let (_, warned) = messages([Message::new(Role::User, cached).with_name("ann")]);
    assert_eq!(warned, ["messages[0].content[1]", "messages[0].name"]);
    let result = || ContentPart::ToolResult(ToolResult::new("c0", "a"));
    for (role, part, kind) in [
        (Role::Assistant, result(), ErrorKind::InvalidRequest),
        (Role::Assistant, image(&[1]), ErrorKind::Unsupported),
        (Role::System, result(), ErrorKind::InvalidRequest),
        (Role::System, image(&[1]), ErrorKind::Unsupported),
        (Role::Tool, ContentPart::text("a"), ErrorKind::InvalidRequest),
        (
            Role::User,
            ContentPart::Refusal(RefusalPart::new("a")),
            ErrorKind::InvalidRequest,
        ),
    ] {
        let request = ChatRequest::new([Message::new(role, vec![part])]);
        assert_eq!(
            refusal(&request),
            (kind, "messages[0].content[0]".to_owned()),
            "{role:?}"
        );
    }
    assert_eq!(refusal(&ChatRequest::new([])), invalid("messages"));
    assert_eq!(
        refusal(&ChatRequest::new([Message::tool_results([ToolResult::new(
            "c", "a"
        )])])),
        invalid("messages")
    );
}
