//! Requests of Messages there and back, and histories that were never meant for it.

use crate::messages_neutral::canonical;
use crate::neutral;
use llm_core::{ChatRequest, ContentPart, ErrorKind, Message, ModelId, ResolvedModel, Role};
use llm_wire::chat_completions;
use llm_wire::messages::{Dialect, decode_request, encode_request};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::HashSet;

fn model(request: &ChatRequest) -> ResolvedModel {
    ResolvedModel::unknown(request.model.clone().unwrap())
}

/// The rules of the format (wire notes, "Messages and blocks").
fn check_turns(messages: &[Value]) -> Result<(), TestCaseError> {
    prop_assert_eq!(&messages[0]["role"], "user");
    let mut ids = HashSet::new();
    let mut open: HashSet<&str> = HashSet::new();
    let mut before = "";
    for message in messages {
        let role = message["role"].as_str().unwrap();
        prop_assert_ne!(role, before, "roles alternate: {:?}", messages);
        before = role;
        let blocks = message["content"].as_array().unwrap();
        prop_assert!(!blocks.is_empty());
        let mut results_over = false;
        for block in blocks {
            match block["type"].as_str().unwrap() {
                "tool_result" => {
                    let id = block["tool_use_id"].as_str().unwrap();
                    prop_assert!(
                        role == "user" && !results_over && open.remove(id),
                        "{:?}",
                        messages
                    );
                }
                "tool_use" => {
                    let id = block["id"].as_str().unwrap();
                    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                    prop_assert!(role == "assistant" && !id.is_empty() && id.chars().all(fits));
                    prop_assert!(ids.insert(id) && block["input"].is_object());
                    open.insert(id);
                }
                kind => {
                    results_over = true;
                    prop_assert!(kind != "text" || block["text"] != "", "{:?}", messages);
                }
            }
        }
        prop_assert!(
            role == "assistant" || open.is_empty(),
            "a call without a result: {:?}",
            messages
        );
    }
    prop_assert!(
        open.is_empty(),
        "a call without a result at the end: {:?}",
        messages
    );
    let last = &messages[messages.len() - 1];
    if let (Some("assistant"), Some(text)) =
        (last["role"].as_str(), last["content"].as_array().unwrap().last())
    {
        let text = text["text"].as_str().unwrap_or_default();
        prop_assert_eq!(text, text.trim_end());
    }
    Ok(())
}

/// What both formats can carry of a conversation, in order.
#[derive(Debug, PartialEq)]
enum Said {
    Text(Role, String),
    Call(String, Value),
    Result(String),
}

fn said(messages: &[Message]) -> Vec<Said> {
    let mut said = Vec::new();
    for message in messages {
        for part in &message.content {
            match part {
                // stands before a conversation that does not begin with the user
                ContentPart::Text(part) if part.text == "(The conversation begins.)" => {}
                ContentPart::Text(part) => match said.last_mut() {
                    Some(Said::Text(role, text)) if *role == message.role => text.push_str(&part.text),
                    _ => said.push(Said::Text(message.role, part.text.clone())),
                },
                ContentPart::Refusal(part) => match said.last_mut() {
                    Some(Said::Text(role, text)) if *role == message.role => text.push_str(&part.text),
                    _ => said.push(Said::Text(message.role, part.text.clone())),
                },
                ContentPart::ToolCall(call) => {
                    let arguments = serde_json::from_str(&call.arguments).unwrap();
                    said.push(Said::Call(call.name.clone(), arguments));
                }
                ContentPart::ToolResult(result) => said.push(Said::Result(result.text())),
                _ => {}
            }
        }
    }
    said
}

/// A conversation that both formats can carry: calls of functions only, no calls by the vendor's own tools.
fn is_common(request: &ChatRequest) -> bool {
    let mut parts = request.messages.iter().flat_map(|message| &message.content);
    parts.all(|part| !matches!(part, ContentPart::Opaque(_)))
}

/// A host that takes everything that the format has.
fn generous() -> Dialect {
    let mut dialect = Dialect::anthropic();
    dialect.other_rule.system_messages = true;
    dialect
}

proptest! {
    #[test]
    fn a_request_comes_back(request in canonical(), stream in any::<bool>()) {
        let encoded = encode_request(&Dialect::anthropic(), &model(&request), &request, stream).unwrap();
        prop_assert_eq!(&encoded.warnings, &[]);
        let decoded = decode_request(&encoded.body).unwrap();
        prop_assert_eq!(&decoded.request, &request);
        prop_assert_eq!(decoded.warnings, []);
        prop_assert_eq!(decoded.stream, stream);
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        check_turns(body["messages"].as_array().unwrap())?;
    }

    /// Whatever the history, what is sent is legal; what cannot be made legal is refused, naming the field.
    #[test]
    fn any_history_is_made_legal_or_refused(
        messages in neutral::messy_messages(),
        name in prop::sample::select(vec!["demo", "claude-haiku-4-5", "claude-opus-5-5"]),
    ) {
        let request = ChatRequest::new(messages).with_model(ModelId::new(name).unwrap());
        match encode_request(&Dialect::anthropic(), &model(&request), &request, false) {
            Err(error) => {
                prop_assert!(matches!(error.kind(), ErrorKind::InvalidRequest | ErrorKind::Unsupported));
                prop_assert!(error.vendor().param.is_some(), "{}", error);
            }
            Ok(encoded) => {
                let body: Value = serde_json::from_slice(&encoded.body).unwrap();
                check_turns(body["messages"].as_array().unwrap())?;
                let decoded = decode_request(&encoded.body);
                prop_assert!(decoded.is_ok(), "{:?} {}", decoded.err(), body);
            }
        }
    }

    /// A request of Chat Completions, sent to a Messages host and taken by a Messages face, keeps what both can carry.
    #[test]
    fn chat_completions_survives_the_way_through(mut request in neutral::canonical(false)) {
        // no turn to be continued: white space at its end is cut
        request.messages.push(Message::user("And now?"));
        let chat = chat_completions::Dialect::openai();
        let inbound = chat_completions::encode_request(&chat, &model(&request), &request, false).unwrap();
        let request = chat_completions::decode_request(&inbound.body).unwrap().request;
        let Ok(encoded) = encode_request(&generous(), &model(&request), &request, false) else {
            // sound, files of another vendor, open schemas: named in unit tests
            return Ok(());
        };
        let through = decode_request(&encoded.body).unwrap().request;
        if is_common(&request) {
            let expected: Vec<_> = said(&request.messages);
            let kept = said(&through.messages);
            prop_assert_eq!(&kept, &expected);
            let back = chat_completions::encode_request(&chat, &model(&through), &through, false).unwrap();
            let back = chat_completions::decode_request(&back.body).unwrap().request;
            let names = |request: &ChatRequest| request.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
            if !request.tools.is_empty() {
                prop_assert_eq!(names(&back), names(&request));
                prop_assert_eq!(&back.tool_choice, &request.tool_choice.clone().or(back.tool_choice.clone()));
            }
            prop_assert_eq!(&back.stop, &request.stop);
            prop_assert_eq!(&back.user, &request.user);
            prop_assert_eq!(back.sampling.top_p, request.sampling.top_p);
            prop_assert_eq!(back.sampling.temperature, request.sampling.temperature.map(|t| t.min(1.0)));
            prop_assert_eq!(back.max_output_tokens, request.max_output_tokens.or(through.max_output_tokens));
        }
    }
}
