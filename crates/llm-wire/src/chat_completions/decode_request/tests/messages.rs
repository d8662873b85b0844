use super::*;

#[test]
fn every_form_of_message_is_read() {
    check_messages(
        json!([
            {"role": "developer", "content": "d"},
            {"role": "system", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "name": "n"},
            {"role": "user", "content": ""},
            {"role": "assistant", "content": null, "refusal": null, "annotations": [], "audio": null},
            {"role": "assistant", "content": [{"type": "text", "text": "x"}, {"type": "refusal", "refusal": "no"}]},
            {"role": "assistant", "refusal": "never", "reasoning_content": "hm"},
        ]),
        &[
            Message::system("d"),
            Message::new(Role::System, vec!["a".into(), "b".into()]).with_name("n"),
            Message::new(Role::User, vec![]),
            Message::new(Role::Assistant, vec![]),
            Message::new(
                Role::Assistant,
                vec!["x".into(), ContentPart::Refusal(RefusalPart::new("no"))],
            ),
            Message::new(
                Role::Assistant,
                vec![
                    ContentPart::Reasoning(ReasoningPart::new("hm")),
                    ContentPart::Refusal(RefusalPart::new("never")),
                ],
            ),
        ],
    );
}

#[test]
fn every_kind_of_part_is_read() {
    let long = json!({"mode": "explicit", "ttl": "12h"});
    check_messages(
        json!([{"role": "user", "content": [
            {"type": "text", "text": "look", "prompt_cache_breakpoint": long},
            {"type": "image_url", "image_url": {"url": "https://a/b.png", "detail": "original"}},
            {"type": "image_url", "image_url": {"url": "DATA:image/png;base64,aGk="}},
            {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,UERG"}},
            {"type": "file", "file": {"file_id": "f1"}},
        ]}]),
        &[Message::new(
            Role::User,
            vec![
                "look".into(),
                ContentPart::CachePoint(CachePoint::new(CacheTtl::Long)),
                ContentPart::Image(
                    ImagePart::new(MediaSource::url("https://a/b.png")).with_detail(ImageDetail::Original),
                ),
                ContentPart::Image(ImagePart::new(MediaSource::base64("image/png", "aGk="))),
                ContentPart::Audio(AudioPart::new(MediaSource::base64("audio/wav", "aGk="))),
                ContentPart::Document(
                    DocumentPart::new(MediaSource::base64("application/pdf", "UERG")).with_name("a.pdf"),
                ),
                ContentPart::Document(DocumentPart::new(MediaSource::VendorFile {
                    vendor: OPENAI,
                    id: "f1".into(),
                })),
            ],
        )],
    );
}

#[test]
fn results_of_one_turn_are_one_message() {
    let call = |id: &str| json!({"id": id, "type": "function", "index": 0, "function": {"name": "f", "arguments": ""}});
    check_messages(
        json!([
            {"role": "assistant", "content": null, "tool_calls": [call("c0"), call("c1")]},
            {"role": "tool", "tool_call_id": "c0", "content": "r0"},
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "r1"}], "name": "f"},
            {"role": "user", "content": "on"},
        ]),
        &[
            Message::new(
                Role::Assistant,
                ["c0", "c1"]
                    .map(|id| ContentPart::ToolCall(ToolCall::new(id, "f", "{}")))
                    .to_vec(),
            ),
            Message::tool_results([
                ToolResult::new("c0", "r0"),
                ToolResult::new("c1", "r1").with_name("f"),
            ]),
            Message::user("on"),
        ],
    );
}

#[test]
fn malformed_messages_are_named() {
    assert_eq!(refused_message(json!("hi")), "messages[0]");
    assert_eq!(refused_message(json!({"content": "hi"})), "messages[0].role");
    assert_eq!(refused_message(json!({"role": "robot"})), "messages[0].role");
    assert_eq!(refused_message(json!({"role": 1})), "messages[0].role");
    assert_eq!(refused_message(json!({"role": "user"})), "messages[0].content");
    assert_eq!(
        refused_message(json!({"role": "user", "content": 1})),
        "messages[0].content"
    );
    assert_eq!(
        refused_message(json!({"role": "tool", "content": "r"})),
        "messages[0].tool_call_id"
    );
    let part = |role: &str, part: Value| refused_message(json!({"role": role, "content": [part]}));
    assert_eq!(part("user", json!("x")), "messages[0].content[0]");
    assert_eq!(
        part("user", json!({"type": "video"})),
        "messages[0].content[0].type"
    );
    assert_eq!(
        part("user", json!({"type": "text"})),
        "messages[0].content[0].text"
    );
    assert_eq!(
        part("system", json!({"type": "image_url"})),
        "messages[0].content[0].type"
    );
    assert_eq!(
        part("user", json!({"type": "refusal", "refusal": "x"})),
        "messages[0].content[0].type"
    );
    assert_eq!(
        part(
            "user",
            json!({"type": "image_url", "image_url": {"url": "data:image/png,x"}})
        ),
        "messages[0].content[0].image_url.url"
    );
    assert_eq!(
        part(
            "user",
            json!({"type": "input_audio", "input_audio": {"data": "x", "format": "ogg"}})
        ),
        "messages[0].content[0].input_audio.format"
    );
    assert_eq!(
        part("user", json!({"type": "file", "file": {}})),
        "messages[0].content[0].file"
    );
    let call = |call: Value| refused_message(json!({"role": "assistant", "tool_calls": [call]}));
    assert_eq!(call(json!({"type": "function"})), "messages[0].tool_calls[0].id");
    assert_eq!(
        call(json!({"id": "c", "type": "magic"})),
        "messages[0].tool_calls[0].type"
    );
    assert_eq!(
        call(json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": {}}})),
        "messages[0].tool_calls[0].function.arguments"
    );
}
