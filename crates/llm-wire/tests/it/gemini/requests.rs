//! Requests: what is sent is what the service asks of contents.

use crate::neutral::{canonical, json_value, messy_messages};
use llm_core::{ChatRequest, ContentPart, ModelId, Replay, ResolvedModel, VendorId};
use llm_wire::generate_content::{Dialect, encode_request};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

const GEMINI: VendorId = VendorId::from_static("gemini");

/// Keys of the options bag, one of which is none.
const KEYS: [&str; 9] = [
    "body",
    "cachedContent",
    "candidateCount",
    "labels",
    "responseSchema",
    "serverTools",
    "thinkingConfig",
    "toolConfig",
    "unknown",
];

/// The models that differ most.
const MODELS: [&str; 6] = [
    "gemini-4-argon",
    "gemini-3.5-flash-lite",
    "gemini-2.5-pro",
    "gemini-2.0-flash",
    "gemma-3-27b-it",
    "demo",
];

/// The same messages with one vendor's state as this one's.
fn with_own_state(mut request: ChatRequest) -> ChatRequest {
    let rename = |replay: &mut Replay| {
        if replay.origin.vendor.as_str() == "openai" {
            replay.origin.vendor = GEMINI;
        }
    };
    for message in &mut request.messages {
        for part in &mut message.content {
            match part {
                ContentPart::Reasoning(part) => part.replay.iter_mut().for_each(rename),
                ContentPart::Text(part) => part.replay.iter_mut().for_each(rename),
                ContentPart::ToolCall(call) => call.replay.iter_mut().for_each(rename),
                ContentPart::Opaque(part) => rename(&mut part.replay),
                _ => {}
            }
        }
    }
    request
}

/// What the service asks of contents.
fn check_contents(contents: &[Value]) -> Result<(), TestCaseError> {
    prop_assert_eq!(&contents[0]["role"], "user");
    let kind = |part: &Value, key: &str| part.get(key).cloned();
    for pair in contents.windows(2) {
        prop_assert_ne!(&pair[0]["role"], &pair[1]["role"]);
    }
    let mut open: Vec<Value> = Vec::new();
    for content in contents {
        let parts = content["parts"].as_array().unwrap();
        prop_assert!(!parts.is_empty());
        let mut answered = Vec::new();
        for part in parts {
            let empty = part.get("text") == Some(&json!("")) && part.get("thoughtSignature").is_none();
            prop_assert!(!empty, "an empty text in {}", content);
            if let Some(result) = kind(part, "functionResponse") {
                prop_assert_eq!(&content["role"], "user");
                prop_assert!(result["response"].is_object());
                answered.push(json!([result["id"], result["name"]]));
            }
        }
        prop_assert_eq!(
            &answered,
            &open,
            "results of the calls before them in {:?}",
            contents
        );
        open = parts
            .iter()
            .filter_map(|part| kind(part, "functionCall"))
            .map(|call| {
                assert!(call["args"].is_object());
                json!([call["id"], call["name"]])
            })
            .collect();
    }
    prop_assert!(
        open.is_empty(),
        "calls without results at the end of {:?}",
        contents
    );
    Ok(())
}

proptest! {
    #[test]
    fn any_option_of_the_vendors_own_is_sent_or_refused(
        request in canonical(true),
        options in vec((select(KEYS.to_vec()), json_value()), 1..4),
        name in select(MODELS.to_vec()),
    ) {
        let mut request = request;
        for (key, value) in options {
            request.vendor.set(GEMINI, key, value);
        }
        let model = ResolvedModel::unknown(ModelId::new(name).unwrap());
        match encode_request(&Dialect::vertex(), &model, &request) {
            Err(error) => prop_assert!(error.vendor().param.is_some(), "{}", error),
            Ok(encoded) => {
                let body: Value = serde_json::from_slice(&encoded.body).unwrap();
                prop_assert!(body.is_object());
            }
        }
    }

    #[test]
    fn any_request_is_made_legal_or_refused(
        request in canonical(true),
        history in of(messy_messages()),
        name in select(MODELS.to_vec()),
    ) {
        let mut request = with_own_state(request);
        if let Some(history) = history {
            request.messages = history;
            request = with_own_state(request);
        }
        let model = ResolvedModel::unknown(ModelId::new(name).unwrap());
        for dialect in [Dialect::gemini(), Dialect::vertex()] {
            match encode_request(&dialect, &model, &request) {
                Err(error) => prop_assert!(error.vendor().param.is_some(), "{}", error),
                Ok(encoded) => {
                    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
                    check_contents(body["contents"].as_array().unwrap())?;
                    for tool in body["tools"][0]["functionDeclarations"].as_array().into_iter().flatten() {
                        let name = tool["name"].as_str().unwrap();
                        prop_assert!(!name.is_empty() && name.len() <= 128);
                    }
                }
            }
        }
    }
}
