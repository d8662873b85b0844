//! Thoughts of earlier turns: which go back, and how several of one turn do.

use super::*;

fn thought(data: Value) -> ContentPart {
    let replay = Replay::new(Origin::new(VendorId::from_static("kimi")), data);
    ContentPart::Reasoning(ReasoningPart::new("shown").with_replay(replay))
}

/// A host of Kimi's that takes texts of thoughts back.
fn host() -> Dialect {
    let mut dialect = Dialect::compatible();
    dialect.vendor = VendorId::from_static("kimi");
    dialect.replay_reasoning_field = Some("reasoning_content");
    dialect
}

/// What is sent of a turn of these thoughts and a text.
fn turn(dialect: &Dialect, model: &ResolvedModel, mut parts: Vec<ContentPart>) -> (Value, Vec<String>) {
    parts.push(ContentPart::text("a"));
    let request = ChatRequest::new([Message::new(Role::Assistant, parts)]);
    let (body, warned) = encoded(dialect, model, &request);
    (body["messages"][0].clone(), warned)
}

#[test]
fn those_without_state_go_to_models_that_are_known_to_think_alone() {
    let sent = |dialect: &Dialect, model: &ResolvedModel| {
        let field = dialect.replay_reasoning_field.unwrap();
        let plain = ContentPart::Reasoning(ReasoningPart::new("one"));
        let (message, warned) = turn(dialect, model, vec![plain]);
        assert_eq!(warned, [""; 0]);
        message.get(field).cloned()
    };
    let (groq, kimi) = (Dialect::groq(), Dialect::kimi());
    for name in [
        "llama-3.3-70b-versatile",
        "moonshotai/kimi-k2-instruct",
        "new/model",
    ] {
        assert_eq!(sent(&groq, &model(name)), None, "{name}");
    }
    assert_eq!(sent(&kimi, &model("moonshot-v1-8k")), None);
    for name in ["openai/gpt-oss-20b", "qwen/qwen3-32b"] {
        assert_eq!(sent(&groq, &model(name)), Some(json!("one")), "{name}");
    }
    assert_eq!(sent(&groq, &thinking("new/model", true)), Some(json!("one")));
    assert_eq!(sent(&kimi, &model("kimi-k3")), Some(json!("one")));
}

#[test]
fn several_of_one_turn_all_go_back_in_their_order() {
    let parts = vec![
        thought(json!({"reasoning_content": "one", "reasoning_details": [{"a": 1}, {"a": 2}]})),
        thought(json!({"reasoning_content": "two", "reasoning_details": [{"a": 3}]})),
        thought(json!({"reasoning_content": "three"})),
    ];
    let (message, warned) = turn(&host(), &model("demo"), parts);
    assert_eq!(message["reasoning_content"], "one\n\ntwo\n\nthree");
    assert_eq!(
        message["reasoning_details"],
        json!([{"a": 1}, {"a": 2}, {"a": 3}])
    );
    assert_eq!(warned, [""; 0]);
}

#[test]
fn one_that_cannot_be_sent_is_named_beside_one_that_can() {
    let parts = vec![
        thought(json!({"reasoning_content": "one"})),
        thought(json!({"else": "two"})),
    ];
    let (message, warned) = turn(&host(), &model("demo"), parts);
    assert_eq!(message["reasoning_content"], "one");
    assert_eq!(fields(&warned), ["messages[0].content[1]"]);
}
