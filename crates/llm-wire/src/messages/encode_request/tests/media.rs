use super::*;

fn image(source: MediaSource) -> ContentPart {
    ContentPart::Image(ImagePart::new(source))
}

fn document(source: MediaSource) -> ContentPart {
    ContentPart::Document(DocumentPart::new(source).with_name("a name"))
}

fn file(vendor: VendorId) -> MediaSource {
    MediaSource::VendorFile {
        vendor,
        id: "file_1".into(),
    }
}

/// The one block of a user message.
fn block(part: ContentPart) -> Value {
    let (mut messages, warned) = sent([user([part])]);
    assert_eq!(warned, [""; 0]);
    messages[0]["content"][0].take()
}

#[test]
fn pictures_come_from_everywhere() {
    let source = |part| block(part)["source"].clone();
    assert_eq!(
        source(image(MediaSource::bytes("image/JPG; x=y", b"abc"))),
        json!({"type": "base64", "media_type": "image/jpeg", "data": "YWJj"})
    );
    assert_eq!(
        source(image(MediaSource::url("https://example.com/a.png"))),
        json!({"type": "url", "url": "https://example.com/a.png"})
    );
    assert_eq!(
        source(image(file(ANTHROPIC))),
        json!({"type": "file", "file_id": "file_1"})
    );
}

#[test]
fn documents_are_pdf_or_text() {
    assert_eq!(
        block(document(MediaSource::bytes("application/pdf", b"abc"))),
        json!({"type": "document", "title": "a name",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "YWJj"}})
    );
    for kind in ["text/plain", "text/markdown; charset=utf-8", "application/json"] {
        let source = block(document(MediaSource::bytes(kind, "né")))["source"].take();
        assert_eq!(
            source,
            json!({"type": "text", "media_type": "text/plain", "data": "né"}),
            "{kind}"
        );
    }
    let source = block(document(file(ANTHROPIC)))["source"].take();
    assert_eq!(source, json!({"type": "file", "file_id": "file_1"}));
}

#[test]
fn what_cannot_be_sent_is_refused() {
    for part in [
        image(MediaSource::bytes("image/tiff", b"abc")),
        image(file(OTHER)),
        document(file(OTHER)),
        document(MediaSource::bytes("application/zip", b"abc")),
    ] {
        let request = ChatRequest::new([user([part])]);
        assert_eq!(
            refused("demo", &request),
            (ErrorKind::Unsupported, "messages[0].content[0]".into())
        );
    }
    for data in ["?", "/w=="] {
        let request = ChatRequest::new([user([document(MediaSource::base64("text/plain", data))])]);
        assert_eq!(refused("demo", &request).0, ErrorKind::InvalidRequest);
    }
    let bedrock = Dialect::bedrock();
    for source in [
        MediaSource::url("https://example.com/a.png"),
        file(bedrock.vendor.clone()),
    ] {
        let request = ChatRequest::new([user([image(source)])]);
        assert_eq!(
            refused_by(&bedrock, &model("demo"), &request).0,
            ErrorKind::Unsupported
        );
    }
}

#[test]
fn a_detail_is_warned_about_unless_it_is_the_vendors_choice() {
    let source = || MediaSource::url("https://example.com/a.png");
    let with = |detail| user([ContentPart::Image(ImagePart::new(source()).with_detail(detail))]);
    assert_eq!(sent([with(ImageDetail::Auto)]).1, [""; 0]);
    assert_eq!(sent([with(ImageDetail::High)]).1, ["messages[0].content[0]"]);
}

#[test]
fn results_hold_pictures_documents_and_own_blocks() {
    let found = json!({"type": "search_result", "source": "s", "title": "t", "content": [text("a")]});
    let result = ToolResult::new("a", "").with_content(vec![
        ContentPart::text("see"),
        image(MediaSource::bytes("image/png", b"abc")),
        piece(ANTHROPIC, found.clone()),
    ]);
    let (messages, _) = sent([
        Message::user("x"),
        assistant([call("a", "{}")]),
        Message::tool_results([result]),
    ]);
    let content = &messages[2]["content"][0]["content"];
    assert_eq!(
        (&content[0], &content[1]["type"], &content[2]),
        (&text("see"), &json!("image"), &found)
    );
    let empty = ToolResult::new("a", "");
    let (messages, _) = sent([
        Message::user("x"),
        assistant([call("a", "{}")]),
        Message::tool_results([empty]),
    ]);
    assert_eq!(
        messages[2]["content"][0],
        json!({"type": "tool_result", "tool_use_id": "a"})
    );
}

#[test]
fn what_only_claude_takes_of_a_document_goes_with_the_one_before_it() {
    let pdf = || ContentPart::Document(DocumentPart::new(MediaSource::base64("application/pdf", "UERG")));
    let own = json!({"context": "c", "citations": {"enabled": true}});
    let options = |vendor: VendorId| {
        let piece = OpaquePart::new("document_options", Replay::new(Origin::new(vendor), own.clone()));
        ContentPart::Opaque(piece)
    };
    let user = |parts: Vec<ContentPart>| sent([Message::new(Role::User, parts)]);
    let (messages, warned) = user(vec![
        pdf(),
        options(ANTHROPIC),
        ContentPart::CachePoint(CachePoint::default()),
    ]);
    assert_eq!(
        messages[0]["content"],
        json!([{"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "UERG"},
            "context": "c", "citations": {"enabled": true}, "cache_control": {"type": "ephemeral"}}])
    );
    assert_eq!(warned, [""; 0]);
    for lost in [
        vec![pdf(), options(OTHER)],
        vec![pdf(), ContentPart::text("a"), options(ANTHROPIC)],
        vec![options(ANTHROPIC), pdf()],
    ] {
        let (messages, warned) = user(lost);
        assert!(!messages.to_string().contains("context"), "{messages}");
        assert_eq!(warned.len(), 1);
    }
}

#[test]
fn a_search_result_of_claudes_goes_back_and_another_ones_is_text() {
    let block = json!({"type": "search_result", "source": "s", "title": "t",
        "content": [{"type": "text", "text": "x"}]});
    let found = |vendor: VendorId| {
        let replay = Replay::new(Origin::new(vendor), block.clone());
        ContentPart::Text(TextPart::new("t\ns\nx").with_replay(replay))
    };
    let call = ContentPart::ToolCall(ToolCall::new("c0", "f", "{}"));
    let result = |part| ToolResult::new("c0", "").with_content(vec![part]);
    let history = |vendor: VendorId| {
        [
            Message::new(Role::User, vec![found(vendor.clone())]),
            Message::new(Role::Assistant, vec![call.clone()]),
            Message::tool_results([result(found(vendor))]),
        ]
    };
    let sent = |vendor| {
        let request = ChatRequest::new(history(vendor)).with_tools([ToolSpec::new("f")]);
        field("demo", &request, "messages")
    };
    let (messages, warned) = sent(ANTHROPIC);
    assert_eq!(messages[0]["content"], json!([block]));
    assert_eq!(messages[2]["content"][0]["content"], json!([block]));
    assert_eq!(warned, [""; 0]);
    let (messages, warned) = sent(OTHER);
    let text = json!([{"type": "text", "text": "t\ns\nx"}]);
    assert_eq!(messages[0]["content"], text);
    assert_eq!(messages[2]["content"][0]["content"], text);
    assert_eq!(
        warned,
        ["messages[0].content[0]", "messages[2].content[0].content[0]"]
    );
}
