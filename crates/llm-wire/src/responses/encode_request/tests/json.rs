//! The word that answers in JSON need.

use super::*;
use llm_core::{Message, Role, ToolCall, ToolResult};

#[test]
fn the_word_json_counts_in_what_is_sent_as_input_alone() {
    let added = |messages: Vec<Message>| {
        let request = ChatRequest::new(messages).with_output(OutputFormat::Json);
        let (sent, warned) = sent_to("gpt-4o", &request);
        let added = sent["input"][0]["content"] == "Answer in JSON.";
        assert_eq!(added, warned.contains(&"output".to_owned()));
        added
    };
    let hi = || Message::user("hi");
    assert!(added(vec![Message::system("as json"), hi()]));
    let orphan = Message::tool_results([ToolResult::new("x", "json")]);
    assert!(added(vec![hi(), orphan]));
    let call = ContentPart::ToolCall(ToolCall::new("c", "json", "{}"));
    let called = Message::new(Role::Assistant, vec![call]);
    assert!(added(vec![hi(), called.clone()]));
    let answered = Message::tool_results([ToolResult::new("c", "json")]);
    assert!(!added(vec![hi(), called, answered]));
    for said in [
        Message::assistant("json"),
        Message::user("json"),
        Message::system("json"),
    ] {
        assert!(!added(vec![hi(), said.clone()]), "{said:?}");
    }
}
