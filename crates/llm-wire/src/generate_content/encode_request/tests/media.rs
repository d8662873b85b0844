use super::*;
use llm_core::chat::AudioPart;
use llm_core::{
    ContentPart, DocumentPart, ImageDetail, ImagePart, MediaSource, Message, Role, ToolCall, ToolResult,
    VendorId,
};

#[test]
fn media_goes_inline_or_by_an_address_that_is_fetched() {
    let image = |source| ContentPart::Image(ImagePart::new(source));
    let part = |name: &str, part: ContentPart| {
        let request = ChatRequest::new([Message::new(Role::User, vec![part])]);
        sent_to(name, &request).map(|(body, _)| body["contents"][0]["parts"][0].clone())
    };
    let inline = |kind: &str| json!({"inlineData": {"mimeType": kind, "data": "AQ=="}});
    let bytes = |kind: &str| MediaSource::bytes(kind, [1]);
    let check = |content: ContentPart, expected: Value| {
        assert_eq!(part("gemini-4-argon", content).unwrap(), expected);
    };
    check(image(bytes("image/jpg; q=1")), inline("image/jpeg"));
    check(
        ContentPart::Audio(AudioPart::new(bytes("audio/mpeg"))),
        inline("audio/mp3"),
    );
    check(
        ContentPart::Document(DocumentPart::new(bytes("application/pdf"))),
        inline("application/pdf"),
    );
    check(
        image(MediaSource::url("data:image/png;base64,AQ==")),
        inline("image/png"),
    );
    let file = |kind: Option<&str>, uri: &str| match kind {
        Some(kind) => json!({"fileData": {"mimeType": kind, "fileUri": uri}}),
        None => json!({"fileData": {"fileUri": uri}}),
    };
    let public = "https://example.com/a.PNG?x=1";
    check(image(MediaSource::url(public)), file(Some("image/png"), public));
    let own = "https://generativelanguage.googleapis.com/v1beta/files/abc";
    check(image(MediaSource::url(own)), file(None, own));
    let uploaded = |vendor, id: &str| MediaSource::VendorFile {
        vendor: VendorId::from_static(vendor),
        id: id.to_owned(),
    };
    check(image(uploaded("gemini", "files/abc")), file(None, own));
    check(image(uploaded("gemini", own)), file(None, own));
    let detailed = ImagePart::new(bytes("image/png")).with_detail(ImageDetail::High);
    let mut expected = inline("image/png");
    expected["mediaResolution"] = json!({"level": "MEDIA_RESOLUTION_HIGH"});
    check(ContentPart::Image(detailed), expected);

    let at = unsupported("messages[0].content[0]");
    let refused = |name: &str, source| {
        let error = part(name, image(source)).unwrap_err();
        (error.kind(), error.vendor().param.clone().unwrap())
    };
    assert_eq!(
        refused("gemini-4-argon", MediaSource::url("http://example.com/a.png")),
        at
    );
    assert_eq!(refused("gemini-2.0-flash", MediaSource::url(public)), at);
    assert_eq!(
        refused("gemini-4-argon", MediaSource::url("gs://bucket/a.png")),
        at
    );
    assert_eq!(
        refused("gemini-4-argon", MediaSource::url("data:text/plain,hi")),
        at
    );
    assert_eq!(refused("gemini-4-argon", uploaded("openai", "file-1")), at);
    assert_eq!(refused("gemini-4-argon", uploaded("gemini", "abc")), at);
    let resolved = ResolvedModel::unknown(ModelId::new("gemini-4-argon").unwrap());
    let bucket = image(MediaSource::url("gs://bucket/a.png"));
    let request = ChatRequest::new([Message::new(Role::User, vec![bucket])]);
    let (vertex, _) = sent(&Dialect::vertex(), &resolved, &request).unwrap();
    assert_eq!(
        vertex["contents"][0]["parts"][0],
        file(Some("image/png"), "gs://bucket/a.png")
    );
}

#[test]
fn media_of_a_result_stands_inside_of_it_or_behind_it() {
    let content = vec![
        ContentPart::text("one"),
        ContentPart::Image(ImagePart::new(MediaSource::bytes("image/png", [1]))),
        ContentPart::text("two"),
    ];
    let request = ChatRequest::new([
        Message::user("go"),
        Message::new(
            Role::Assistant,
            vec![ContentPart::ToolCall(ToolCall::new("c0", "f", "{}"))],
        ),
        Message::tool_results([ToolResult::new("c0", "").with_content(content)]),
    ]);
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "AQ=="}});
    let response = json!({"output": "one\ntwo"});
    let (recent, warned) = sent_to("gemini-3.8-flash", &request).unwrap();
    assert_eq!(
        recent["contents"][2]["parts"],
        json!([{"functionResponse": {"id": "c0", "name": "f", "response": response, "parts": [image]}}])
    );
    assert_eq!(warned, [""; 0]);
    let (older, _) = sent_to("gemini-2.5-pro", &request).unwrap();
    assert_eq!(
        older["contents"][2]["parts"],
        json!([{"functionResponse": {"name": "f", "response": response}}, image])
    );
}
