//! Requests there and back.

use crate::neutral::{canonical, messages, messy_messages};
use llm_core::{ChatRequest, ModelId, ResolvedModel, VendorOptions};
use llm_wire::chat_completions::dialect::StrictSchemas;
use llm_wire::chat_completions::{Dialect, decode_request, encode_request};
use proptest::prelude::*;
use serde_json::Value;

fn model(request: &ChatRequest) -> ResolvedModel {
    ResolvedModel::unknown(request.model.clone().unwrap())
}

fn there_and_back(dialect: &Dialect, request: &ChatRequest, stream: bool) -> Result<(), TestCaseError> {
    let encoded = encode_request(dialect, &model(request), request, stream).unwrap();
    prop_assert_eq!(&encoded.warnings, &[]);
    let decoded = decode_request(&encoded.body).unwrap();
    prop_assert_eq!(&decoded.request, request);
    prop_assert_eq!(decoded.warnings, []);
    prop_assert_eq!((decoded.stream, decoded.include_usage), (stream, stream));
    Ok(())
}

/// Every call is answered once, directly after its turn, and every answer has its call.
fn check_turns(messages: &[Value]) -> Result<(), TestCaseError> {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap();
            let at = open.iter().position(|call| *call == id);
            prop_assert!(at.is_some(), "a result of no call: {:?}", messages);
            open.remove(at.unwrap());
            continue;
        }
        prop_assert!(open.is_empty(), "a call without a result: {:?}", messages);
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            open.push(call["id"].as_str().unwrap());
        }
    }
    prop_assert!(
        open.is_empty(),
        "a call without a result at the end: {:?}",
        messages
    );
    Ok(())
}

proptest! {
    #[test]
    fn a_request_to_openai_comes_back(request in canonical(false), stream in any::<bool>()) {
        let mut dialect = Dialect::openai();
        // else a strict schema comes back as one that is taken
        dialect.strict_schemas = StrictSchemas::AsGiven;
        // else a request for JSON comes back with the word
        dialect.json.wants_word = false;
        there_and_back(&dialect, &request, stream)?;
    }

    /// A vendor keeps prefixes by their bytes: what is made legal once stays as it is.
    #[test]
    fn what_openai_is_sent_is_written_the_same_again(mut request in canonical(false)) {
        // their order is that of whoever wrote them
        request.vendor = VendorOptions::default();
        let dialect = Dialect::openai();
        let once = encode_request(&dialect, &model(&request), &request, false).unwrap();
        let again = decode_request(&once.body).unwrap().request;
        let again = encode_request(&dialect, &model(&again), &again, false).unwrap();
        prop_assert_eq!(String::from_utf8_lossy(&again.body), String::from_utf8_lossy(&once.body));
        prop_assert_eq!(again.warnings, []);
    }

    #[test]
    fn a_request_to_a_compatible_host_comes_back(request in canonical(true), stream in any::<bool>()) {
        let mut dialect = Dialect::compatible();
        // as text it would come back as text
        dialect.messages.refusals = true;
        there_and_back(&dialect, &request, stream)?;
    }

    #[test]
    fn cache_points_come_back(messages in messages(true)) {
        let request = ChatRequest::new(messages).with_model(ModelId::new("gpt-6-sol").unwrap());
        there_and_back(&Dialect::openai(), &request, false)?;
    }

    /// Whatever the history, what is sent is legal; what cannot be made legal is refused, naming the field.
    #[test]
    fn any_history_is_made_legal_or_refused(messages in messy_messages(), replays in any::<bool>()) {
        let request = ChatRequest::new(messages).with_model(ModelId::new("demo").unwrap());
        let mut dialect = Dialect::openai();
        dialect.replay_reasoning_field = replays.then_some("reasoning_content");
        match encode_request(&dialect, &model(&request), &request, false) {
            Err(error) => prop_assert!(error.vendor().param.is_some(), "{}", error),
            Ok(encoded) => {
                let body: Value = serde_json::from_slice(&encoded.body).unwrap();
                check_turns(body["messages"].as_array().unwrap())?;
                let decoded = decode_request(&encoded.body);
                prop_assert!(decoded.is_ok(), "{:?} {}", decoded.err(), body);
            }
        }
    }

    /// The same for each vendor's dialect, with what it wants of the order of messages.
    #[test]
    fn any_history_is_made_legal_for_every_vendor(messages in messy_messages(), vendor in 0_usize..5) {
        let request = ChatRequest::new(messages).with_model(ModelId::new("demo").unwrap());
        let dialect = [
            Dialect::mistral(),
            Dialect::groq(),
            Dialect::deepseek(),
            Dialect::deepseek().with_deepseek_beta(),
            Dialect::kimi(),
        ][vendor].clone();
        let encoded = match encode_request(&dialect, &model(&request), &request, true) {
            Ok(encoded) => encoded,
            Err(error) => {
                prop_assert!(error.vendor().param.is_some(), "{}", error);
                return Ok(());
            }
        };
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        let messages = body["messages"].as_array().unwrap();
        check_turns(messages)?;
        for pair in messages.windows(2) {
            let roles = (pair[0]["role"].as_str().unwrap(), pair[1]["role"].as_str().unwrap());
            if dialect == Dialect::mistral() {
                prop_assert!(roles.1 != "system" || roles.0 == "system", "{:?}", roles);
                prop_assert!(roles != ("tool", "user"), "{:?}", roles);
            }
        }
        for message in messages {
            let fits = |id: &Value| {
                id.as_str().is_none_or(|id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()))
            };
            if dialect == Dialect::mistral() {
                prop_assert!(fits(&message["tool_call_id"]));
                prop_assert!(!message["content"].is_null());
            }
            if dialect == Dialect::kimi() && message["role"] != "assistant" && message["role"] != "tool" {
                prop_assert!(message["content"] != "", "{}", message);
            }
        }
    }
}
