use super::*;

fn asking(effort: Effort, include: bool) -> ChatRequest {
    hi().with_reasoning(Reasoning::effort(effort).with_include(include))
}

/// Thinking, effort and cap as they are sent, and the fields that were warned about.
fn sent_for(name: &str, request: &ChatRequest) -> (Value, Value, Value, Vec<String>) {
    let (mut body, warnings) = encoded(name, request);
    let warned = warnings
        .iter()
        .map(|warning| warning.split(':').next().unwrap().to_owned());
    let effort = body["output_config"]["effort"].take();
    (
        body["thinking"].take(),
        effort,
        body["max_tokens"].take(),
        warned.collect(),
    )
}

fn adaptive(display: &str) -> Value {
    json!({"type": "adaptive", "display": display})
}

fn budget(tokens: u32) -> Value {
    json!({"type": "enabled", "budget_tokens": tokens})
}

const NOBODY: [&str; 0] = [];

#[test]
fn adaptive_models_are_told_how_much() {
    for name in [
        "claude-opus-5-5",
        "claude-sonnet-5",
        "claude-opus-4-7",
        "claude-opus-9",
    ] {
        let (thinking, effort, _, warned) = sent_for(name, &asking(Effort::Medium, true));
        assert_eq!(
            (thinking, effort),
            (adaptive("summarized"), json!("medium")),
            "{name}"
        );
        assert_eq!(warned, NOBODY);
    }
    let (thinking, effort, _, _) = sent_for("claude-opus-5-5", &asking(Effort::XHigh, false));
    assert_eq!((thinking, effort), (adaptive("omitted"), json!("xhigh")));
    let (_, effort, _, warned) = sent_for("claude-opus-4-6", &asking(Effort::XHigh, false));
    assert_eq!(
        (effort, warned),
        (json!("high"), vec!["reasoning.effort".to_owned()])
    );
}

#[test]
fn a_catalogue_says_which_levels_there_are() {
    let mut listed = model("claude-opus-5-5");
    listed.efforts = Some(vec![Effort::Low, Effort::Medium]);
    let (body, warnings) = encoded_by(&Dialect::anthropic(), &listed, &asking(Effort::Max, false));
    assert_eq!(body["output_config"]["effort"], "medium");
    assert_eq!(warnings.len(), 1);
}

#[test]
fn older_models_are_given_a_budget_below_the_cap() {
    for (effort, tokens) in [
        (Effort::Low, 2_048),
        (Effort::Medium, 8_192),
        (Effort::High, 16_384),
        (Effort::Max, 32_000),
    ] {
        let (thinking, word, cap, warned) = sent_for("claude-haiku-4-5", &asking(effort, true));
        assert_eq!((thinking, word), (budget(tokens), Value::Null));
        assert_eq!(cap, tokens + 4096, "a cap that nobody set makes room");
        assert_eq!(warned, NOBODY);
    }
    let capped = |tokens| asking(Effort::High, true).with_max_output_tokens(tokens);
    let (thinking, _, cap, warned) = sent_for("claude-haiku-4-5", &capped(4_000));
    assert_eq!((thinking, cap, warned.len()), (budget(3_000), json!(4_000), 0));
    let (thinking, _, _, _) = sent_for("claude-haiku-4-5", &capped(1_100));
    assert_eq!(thinking, budget(1_024));
    let (thinking, _, _, warned) = sent_for("claude-haiku-4-5", &capped(1_024));
    assert_eq!(
        (thinking, warned),
        (Value::Null, vec!["reasoning.effort".to_owned()])
    );
    let (thinking, effort, _, _) = sent_for("claude-opus-4-5", &asking(Effort::Low, true));
    assert_eq!(
        (thinking, effort),
        (budget(2_048), json!("low")),
        "both, where both are taken"
    );
}

#[test]
fn no_thought_is_said_as_the_model_understands_it() {
    for (name, thinking, effort, warned) in [
        ("claude-haiku-5-5", json!({"type": "disabled"}), Value::Null, 0),
        ("claude-haiku-4-5", json!({"type": "disabled"}), Value::Null, 0),
        ("claude-opus-9", json!({"type": "disabled"}), Value::Null, 0),
        (
            "claude-sonnet-5-5",
            json!({"type": "between_tools"}),
            Value::Null,
            1,
        ),
        ("claude-opus-5-5", Value::Null, json!("low"), 1),
    ] {
        let sent = sent_for(name, &asking(Effort::None, false));
        assert_eq!(
            (sent.0, sent.1, sent.3.len()),
            (thinking, effort, warned),
            "{name}"
        );
    }
    let mut listed = model("claude-opus-9");
    listed.rejects.push(Knob::ThinkingOff);
    let (body, _) = encoded_by(&Dialect::anthropic(), &listed, &asking(Effort::None, false));
    assert_eq!(
        (body.get("thinking"), &body["output_config"]["effort"]),
        (None, &json!("low"))
    );
}

#[test]
fn thoughts_are_shown_without_an_effort_where_there_are_any() {
    let request = hi().with_reasoning(Reasoning::default().with_include(true));
    assert_eq!(sent_for("claude-opus-5-5", &request).0, adaptive("summarized"));
    let (thinking, _, _, warned) = sent_for("claude-opus-4-7", &request);
    assert_eq!(
        (thinking, warned),
        (Value::Null, vec!["reasoning.include".to_owned()])
    );
    assert_eq!(sent_for("claude-opus-5-5", &hi()).0, Value::Null);
}

#[test]
fn a_model_that_does_not_reason_is_not_asked_to() {
    let plain = model("demo").with_capabilities(Capabilities::unknown().with(Capability::Reasoning, false));
    let asked = asking(Effort::Low, false);
    let anthropic = Dialect::anthropic();
    assert_eq!(
        refused_by(&anthropic, &plain, &asked),
        (ErrorKind::Unsupported, "reasoning.effort".into())
    );
    let (body, warnings) = encoded_by(&anthropic, &plain, &asking(Effort::None, true));
    assert_eq!((body.get("thinking"), warnings.len()), (None, 1));
}

#[test]
fn budgets_give_way_to_what_excludes_them() {
    let asked = || asking(Effort::High, false);
    let forced = with_tool(asked()).with_tool_choice(ToolChoice::Required);
    let (body, warnings) = encoded("claude-haiku-4-5", &forced);
    assert_eq!(
        (body.get("thinking"), &body["tool_choice"]["type"]),
        (None, &json!("any"))
    );
    assert_eq!(warnings.len(), 1);
    let prefilled = asked().with_message(Message::assistant("{"));
    assert_eq!(sent_for("claude-haiku-4-5", &prefilled).3, ["reasoning.effort"]);
}

#[test]
fn a_running_loop_goes_on_as_it_began() {
    let looping = |first: ContentPart| {
        with_tool(asking(Effort::High, false))
            .with_message(assistant([ContentPart::text(""), first, call("a", "{}")]))
            .with_message(Message::tool_results([ToolResult::new("a", "r")]))
    };
    let redacted = piece(ANTHROPIC, json!({"type": "redacted_thinking", "data": "x"}));
    for first in [thought(ANTHROPIC), redacted] {
        assert_eq!(sent_for("claude-haiku-4-5", &looping(first)).0, budget(16_384));
    }
    for first in [thought(OTHER), ContentPart::text("let me see")] {
        let (thinking, _, _, warned) = sent_for("claude-haiku-4-5", &looping(first.clone()));
        assert_eq!(thinking, Value::Null);
        assert!(warned.contains(&"reasoning.effort".to_owned()), "{warned:?}");
        let over = looping(first.clone()).with_message(Message::user("next"));
        assert_eq!(
            sent_for("claude-haiku-4-5", &over).0,
            budget(16_384),
            "the loop is over"
        );
        assert_eq!(
            sent_for("claude-opus-5-5", &looping(first)).0,
            adaptive("omitted")
        );
    }
}

#[test]
fn thoughts_of_earlier_turns_go_back_only_where_they_are_taken() {
    let history = |request: ChatRequest| {
        request
            .with_message(assistant([thought(ANTHROPIC), ContentPart::text("a")]))
            .with_message(Message::user("next"))
    };
    let kinds = |name: &str, request: &ChatRequest| {
        let (messages, warned) = field(name, request, "messages");
        (messages[1]["content"].as_array().unwrap().len(), warned.len())
    };
    assert_eq!(
        kinds("claude-haiku-4-5", &history(hi())),
        (1, 1),
        "it is not to think"
    );
    assert_eq!(
        kinds("claude-haiku-4-5", &history(asking(Effort::Low, false))),
        (2, 0)
    );
    for name in ["claude-opus-5-5", "claude-opus-4-7", "demo"] {
        assert_eq!(kinds(name, &history(hi())), (2, 0), "{name}");
    }
}

#[test]
fn the_callers_own_thinking_comes_first() {
    let own = json!({"type": "enabled", "budget_tokens": 5_000});
    let request = asking(Effort::High, true).with_vendor_option(ANTHROPIC, "thinking", own.clone());
    let (thinking, effort, _, _) = sent_for("claude-opus-4-6", &request);
    assert_eq!((thinking, effort), (own, Value::Null));
    let forced = with_tool(request).with_tool_choice(ToolChoice::Required);
    let (choice, warned) = field("claude-haiku-4-5", &forced, "tool_choice");
    assert_eq!(
        (choice, warned),
        (json!({"type": "auto"}), vec!["tool_choice".to_owned()])
    );
}
