//! Conversations: who said what, and what goes back.

use super::*;
use llm_core::chat::AudioPart;
use llm_core::{
    CachePoint, DocumentPart, ImageDetail, ImagePart, MediaSource, Message, OpaquePart, Origin,
    ReasoningPart, RefusalPart, Replay, Role, TextPart, ToolCall, ToolResult,
};

fn replay(vendor: &str, data: Value) -> Replay {
    Replay::new(Origin::new(VendorId::new(vendor).unwrap()), data)
}

fn thought(vendor: &str, data: Value) -> ContentPart {
    ContentPart::Reasoning(ReasoningPart::new("hm").with_replay(replay(vendor, data)))
}

fn item() -> Value {
    json!({"type": "reasoning", "summary": [], "encrypted_content": "gAAA"})
}

fn said(text: &str, phase: &str) -> ContentPart {
    ContentPart::Text(TextPart::new(text).with_replay(replay("openai", json!({"phase": phase}))))
}

fn call(id: &str) -> ContentPart {
    ContentPart::ToolCall(ToolCall::new(id, "area", "{\"r\":2}"))
}

fn assistant(content: Vec<ContentPart>) -> Message {
    Message::new(Role::Assistant, content)
}

fn user(content: Vec<ContentPart>) -> ChatRequest {
    ChatRequest::new([Message::new(Role::User, content)])
}

/// The items of a conversation, and what is warned about.
fn items(messages: Vec<Message>) -> (Value, Vec<String>) {
    let (mut body, warned) = sent_to("gpt-6-luna", &ChatRequest::new(messages));
    (body["input"].take(), warned)
}

fn message(role: &str, content: Value) -> Value {
    json!({"type": "message", "role": role, "content": content})
}

#[test]
fn system_messages_at_the_start_are_instructions() {
    let messages = vec![
        Message::system("Be brief."),
        Message::system("Be kind."),
        Message::user("hi"),
        Message::system("Now in French."),
    ];
    let (body, warned) = sent_to("gpt-6-luna", &ChatRequest::new(messages.clone()));
    assert_eq!(body["instructions"], "Be brief.\n\nBe kind.");
    let rest = json!([
        message("user", json!("hi")),
        message("developer", json!("Now in French."))
    ]);
    assert_eq!((&body["input"], warned.len()), (&rest, 0));
    let (body, _) = sent_to("gpt-4o", &ChatRequest::new(messages));
    assert_eq!(body["input"][1]["role"], "system");
    // a mark for the cache needs a part
    let marked = Message::new(
        Role::System,
        vec![
            ContentPart::text("Be brief."),
            ContentPart::CachePoint(CachePoint::default()),
        ],
    );
    let (input, _) = items(vec![marked, Message::user("hi")]);
    assert_eq!(
        input[0]["content"][0]["prompt_cache_breakpoint"],
        json!({"mode": "explicit", "ttl": "30m"})
    );
    // nothing but instructions
    let (input, _) = items(vec![Message::system("Say hi.")]);
    assert_eq!(input, json!([message("developer", json!("Say hi."))]));
}

#[test]
fn own_reasoning_goes_back_in_place_before_what_followed_it() {
    let messages = vec![
        Message::user("hi"),
        assistant(vec![
            thought("openai", item()),
            said("Let me see.", "commentary"),
            thought("openai", item()),
            call("c1"),
            call("c2"),
        ]),
        Message::tool_results([ToolResult::new("c2", "5"), ToolResult::new("c1", "4")]),
        assistant(vec![said("Four", "final_answer"), said(".", "final_answer")]),
        Message::user("why?"),
    ];
    let (input, warned) = items(messages);
    let called =
        |id: &str| json!({"type": "function_call", "call_id": id, "name": "area", "arguments": "{\"r\":2}"});
    let answered =
        |id: &str, text: &str| json!({"type": "function_call_output", "call_id": id, "output": text});
    let commented =
        json!({"type": "message", "role": "assistant", "content": "Let me see.", "phase": "commentary"});
    let parts = json!([{"type": "output_text", "text": "Four"}, {"type": "output_text", "text": "."}]);
    let finally = json!({"type": "message", "role": "assistant", "content": parts, "phase": "final_answer"});
    assert_eq!(
        input,
        json!([
            message("user", json!("hi")),
            item(),
            commented,
            item(),
            called("c1"),
            called("c2"),
            answered("c2", "5"),
            answered("c1", "4"),
            finally,
            message("user", json!("why?")),
        ])
    );
    assert_eq!(warned, [""; 0]);
}

#[test]
fn other_reasoning_is_left_out_and_that_is_told() {
    let plain =
        json!({"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]});
    for data in [
        thought("anthropic", json!({"type": "thinking", "signature": "s"})),
        thought("openai", json!({"reasoning_details": [{"data": "x"}]})),
        thought(
            "openai",
            json!({"type": "reasoning", "id": "rs_1", "summary": []}),
        ),
        thought("openai", plain.clone()),
    ] {
        let (input, warned) = items(vec![
            assistant(vec![data.clone(), ContentPart::text("a")]),
            Message::user("b"),
        ]);
        assert_eq!(input[0], message("assistant", json!("a")), "{data:?}");
        assert_eq!(warned, ["messages[0].content[0]"], "{data:?}");
    }
    // shown thoughts are for people
    let shown = ContentPart::Reasoning(ReasoningPart::new("hm"));
    let (_, warned) = items(vec![
        assistant(vec![shown, ContentPart::text("a")]),
        Message::user("b"),
    ]);
    assert_eq!(warned, [""; 0]);
    // nothing followed it
    let alone = vec![
        Message::user("a"),
        assistant(vec![thought("openai", item())]),
        Message::user("b"),
    ];
    assert_eq!(items(alone).1, ["messages[1].content[0]"]);
    let (last, warned) = items(vec![
        Message::user("a"),
        assistant(vec![thought("openai", item())]),
    ]);
    assert_eq!((last.as_array().unwrap().len(), warned.len()), (1, 1));
    // but a call in the next message did
    let next = vec![
        assistant(vec![thought("openai", item())]),
        assistant(vec![call("c1")]),
        Message::user("b"),
    ];
    assert_eq!(items(next).0[0], item());
    // hosts of open models take plain words
    let request = ChatRequest::new([assistant(vec![
        thought("openai", plain.clone()),
        ContentPart::text("a"),
    ])]);
    let (body, warned) = sent_by(&Dialect::compatible(), "demo", &request).unwrap();
    assert_eq!((&body["input"][0], warned.len()), (&plain, 0));
}

#[test]
fn every_call_has_one_result() {
    let long = "x".repeat(80);
    let messages = vec![
        Message::user("hi"),
        assistant(vec![
            call("c1"),
            call(&long),
            ContentPart::ToolCall(ToolCall::new("c3", "a.b", "no object")),
        ]),
        Message::new(
            Role::User,
            vec![
                ContentPart::ToolResult(ToolResult::new("c1", "broken").with_error()),
                ContentPart::ToolResult(ToolResult::new("c1", "again")),
                ContentPart::ToolResult(ToolResult::new("nobody", "x")),
                ContentPart::ToolResult(ToolResult::new(long.as_str(), "Error 7").with_error()),
                ContentPart::text("go on"),
            ],
        ),
    ];
    let (input, warned) = items(messages);
    let of = |kind: &str| -> Vec<Value> {
        let items = input.as_array().unwrap().iter();
        items.filter(|item| item["type"] == kind).cloned().collect()
    };
    let (calls, outputs) = (of("function_call"), of("function_call_output"));
    let ids = |items: &[Value]| {
        items
            .iter()
            .map(|item| item["call_id"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&calls), ids(&outputs));
    assert!(calls[1]["call_id"].as_str().unwrap().len() <= 64);
    assert_eq!(
        (&calls[2]["name"], &calls[2]["arguments"]),
        (&json!("a_b"), &json!("{}"))
    );
    let said: Vec<_> = outputs
        .iter()
        .map(|output| output["output"].as_str().unwrap())
        .collect();
    assert_eq!(
        said,
        ["Error: broken", "Error 7", "Error: this call has no result."]
    );
    assert_eq!(
        input[input.as_array().unwrap().len() - 1],
        message("user", json!("go on"))
    );
    assert_eq!(warned.len(), 4, "{warned:?}");
    // where a stored response is continued, its calls stand there
    let request = ChatRequest::new([Message::tool_results([ToolResult::new("c1", "4")])]).with_vendor_option(
        OPENAI,
        "previous_response_id",
        json!("resp_1"),
    );
    assert_eq!(body(&request)["input"][0]["output"], "4");
}

#[test]
fn pictures_files_and_sound() {
    let request = user(vec![
        ContentPart::text("look"),
        ContentPart::Image(
            ImagePart::new(MediaSource::url("https://host.example/a.png")).with_detail(ImageDetail::High),
        ),
        ContentPart::Image(ImagePart::new(MediaSource::bytes("image/png", b"a"))),
        ContentPart::Document(DocumentPart::new(MediaSource::bytes("application/pdf", b"a"))),
        ContentPart::Document(DocumentPart::new(MediaSource::url("https://host.example/a.pdf"))),
        ContentPart::Image(ImagePart::new(MediaSource::VendorFile {
            vendor: OPENAI,
            id: "file-1".into(),
        })),
        ContentPart::Document(DocumentPart::new(MediaSource::VendorFile {
            vendor: OPENAI,
            id: "file-2".into(),
        })),
        ContentPart::Audio(AudioPart::new(MediaSource::bytes("audio/wav", b"a"))),
    ]);
    assert_eq!(
        body(&request)["input"][0]["content"],
        json!([
            {"type": "input_text", "text": "look"},
            {"type": "input_image", "image_url": "https://host.example/a.png", "detail": "high"},
            {"type": "input_image", "image_url": "data:image/png;base64,YQ=="},
            {"type": "input_file", "filename": "document.pdf", "file_data": "data:application/pdf;base64,YQ=="},
            {"type": "input_file", "file_url": "https://host.example/a.pdf"},
            {"type": "input_image", "file_id": "file-1"},
            {"type": "input_file", "file_id": "file-2"},
            {"type": "input_audio", "input_audio": {"data": "YQ==", "format": "wav"}},
        ])
    );
    let foreign = MediaSource::VendorFile {
        vendor: VendorId::from_static("acme"),
        id: "f".into(),
    };
    let request = user(vec![ContentPart::Image(ImagePart::new(foreign))]);
    assert_eq!(refusal(&request), unsupported("messages[0].content[0]"));
    // pictures and files are taken in results, sound is not
    let result = |part: ContentPart| {
        let result = ToolResult::new("c1", "").with_content(vec![ContentPart::text("see"), part]);
        ChatRequest::new([assistant(vec![call("c1")]), Message::tool_results([result])])
    };
    let picture = ContentPart::Image(ImagePart::new(MediaSource::bytes("image/png", b"a")));
    assert_eq!(
        body(&result(picture))["input"][1]["output"][1]["type"],
        "input_image"
    );
    let sound = ContentPart::Audio(AudioPart::new(MediaSource::bytes("audio/wav", b"a")));
    assert_eq!(
        refusal(&result(sound)),
        unsupported("messages[1].content[0].content[1]")
    );
}

#[test]
fn refusals_and_own_pieces_go_back() {
    let own = |kind: &str, data: Value| ContentPart::Opaque(OpaquePart::new(kind, replay("openai", data)));
    let custom = json!({"type": "custom_tool_call", "call_id": "c9", "name": "sh", "input": "ls"});
    let summary = json!({"type": "compaction", "encrypted_content": "x"});
    let search = json!({"type": "web_search_call", "id": "ws_1"});
    let history = vec![
        assistant(vec![
            own("compaction", summary.clone()),
            own("custom_tool_call", custom.clone()),
            own("web_search_call", search.clone()),
            own("audio", json!({"id": "audio_1"})),
            ContentPart::Refusal(RefusalPart::new("No.")),
        ]),
        Message::tool_results([ToolResult::new("c9", "files")]),
    ];
    let (input, warned) = items(history.clone());
    let output = json!({"type": "custom_tool_call_output", "call_id": "c9", "output": "files"});
    let refused = message("assistant", json!([{"type": "refusal", "refusal": "No."}]));
    assert_eq!(input, json!([summary, custom, refused, output]));
    assert_eq!(warned, ["messages[0].content[2]", "messages[0].content[3]"]);
    let stored = ChatRequest::new(history).with_vendor_option(OPENAI, "store", json!(true));
    assert_eq!(sent_to("demo", &stored).0["input"][2], search);
}

#[test]
fn a_custom_call_that_chat_completions_recorded_is_an_item_with_its_result() {
    let data = json!({"id": "c9", "type": "custom", "custom": {"name": "sh", "input": "ls"}});
    let piece = ContentPart::Opaque(OpaquePart::new(
        "custom_tool_call",
        replay("openai", data.clone()),
    ));
    let (input, warned) = items(vec![
        assistant(vec![thought("openai", item()), piece]),
        Message::tool_results([ToolResult::new("c9", "files")]),
    ]);
    let call = json!({"type": "custom_tool_call", "call_id": "c9", "name": "sh", "input": "ls"});
    let output = json!({"type": "custom_tool_call_output", "call_id": "c9", "output": "files"});
    assert_eq!(input, json!([item(), call, output]));
    assert_eq!(warned, [""; 0]);
    // another vendor's is not known here
    let foreign = ContentPart::Opaque(OpaquePart::new("custom_tool_call", replay("groq", data)));
    let (_, warned) = items(vec![Message::user("hi"), assistant(vec![foreign])]);
    assert_eq!(warned[0], "messages[1].content[0]");
}

#[test]
fn names_marks_and_misplaced_parts() {
    let named = ChatRequest::new([
        Message::user("hi").with_name("ada"),
        Message::assistant("ho").with_name("bob"),
    ]);
    assert_eq!(
        sent_to("demo", &named).1,
        ["messages[0].name", "messages[1].name"]
    );
    let point = || ContentPart::CachePoint(CachePoint::default());
    let marked = user(vec![point(), ContentPart::text("a"), point()]);
    assert_eq!(sent_to("gpt-6-luna", &marked).1, ["messages[0].content[0]"]);
    assert_eq!(sent_to("gpt-4o", &marked).1.len(), 2);
    let misplaced = ContentPart::ToolResult(ToolResult::new("c", "x"));
    for role in [Role::System, Role::Assistant] {
        let request = ChatRequest::new([Message::new(role, vec![misplaced.clone()])]);
        assert_eq!(refusal(&request), invalid("messages[0].content[0]"));
    }
    assert_eq!(
        refusal(&user(vec![call("c1")])),
        invalid("messages[0].content[0]")
    );
    let only_results = ChatRequest::new([Message::tool_results([ToolResult::new("c", "x")])]);
    assert_eq!(refusal(&only_results), invalid("messages"));
}
