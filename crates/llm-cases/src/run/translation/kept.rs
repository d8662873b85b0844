//! State of earlier answers, which the source messages keep under `reasoning` and `replay`, outside of any vendor's
//! form. Whole blocks or parts are read by the codec of the vendor that wrote them, as the answer that they were.

use super::forms::Target;
use crate::case::{Fault, Fields, list};
use crate::subject;
use llm_core::{
    ChatRequest, ChatResponse, ContentPart, Error, Message, Origin, ReasoningPart, Replay, ResponseMeta,
    Role, VendorId,
};
use llm_wire::{DecodeOptions, generate_content, messages};
use serde_json::{Map, Value, json};

/// What one assistant message keeps.
#[derive(Debug, Default)]
pub(super) struct Kept {
    reasoning: Option<String>,
    replay: Option<State>,
}

#[derive(Debug)]
enum State {
    /// All blocks of Anthropic's.
    Blocks(Vec<Value>),
    /// All parts of Gemini's.
    Parts(Vec<Value>),
    /// All entries of a host of Chat Completions.
    Details(Vec<Value>),
}

impl State {
    fn read(value: &Value) -> Result<State, Fault> {
        let at = "replay";
        let mut fields = Fields::of(value, at)?;
        let mut found = Vec::new();
        for key in ["blocks", "parts", "reasoning_details"] {
            let Some(pieces) = fields.optional(key) else {
                continue;
            };
            let pieces = list(pieces, &fields.at(key))?.to_vec();
            found.push(match key {
                "blocks" => State::Blocks(pieces),
                "parts" => State::Parts(pieces),
                _ => State::Details(pieces),
            });
        }
        fields.end()?;
        match (found.pop(), found.pop()) {
            (Some(state), None) => Ok(state),
            _ => Err(Fault::malformed("a message's replay is not of one vendor")),
        }
    }
}

/// Takes the keys out of the assistant messages, in their order.
pub(super) fn take(request: &mut Value) -> Result<Vec<Kept>, Fault> {
    let mut kept = Vec::new();
    let Some(messages) = request["messages"].as_array_mut() else {
        return Ok(kept);
    };
    for message in messages {
        if message["role"] != "assistant" {
            continue;
        }
        let mut state = Kept::default();
        if let Some(fields) = message.as_object_mut() {
            state.reasoning = match fields.shift_remove("reasoning") {
                None => None,
                Some(Value::String(text)) => Some(text),
                Some(_) => return Err(Fault::malformed("a message's reasoning is not a text")),
            };
            let replay = fields.shift_remove("replay");
            state.replay = replay.as_ref().map(State::read).transpose()?;
        }
        kept.push(state);
    }
    Ok(kept)
}

/// Puts it where the answer of the vendor that wrote it would have put it. Details and text name no vendor: they are
/// the target's.
pub(super) fn give(request: &mut ChatRequest, kept: Vec<Kept>, target: &Target) -> Result<(), Fault> {
    let turns = request
        .messages
        .iter_mut()
        .filter(|message| message.role == Role::Assistant);
    for (message, kept) in turns.zip(kept) {
        match kept.replay {
            Some(State::Blocks(blocks)) => restore(message, answer_of_blocks(&blocks))?,
            Some(State::Parts(parts)) => restore(message, answer_of_parts(&parts))?,
            Some(State::Details(details)) => {
                let data = Map::from_iter([("reasoning_details".to_owned(), Value::Array(details))]);
                put_first(message, thought(kept.reasoning.unwrap_or_default(), data, target));
            }
            None => {
                if let Some(text) = kept.reasoning {
                    put_first(message, thought(text, Map::new(), target));
                }
            }
        }
    }
    Ok(())
}

/// The answer takes the place of what the source could say of it. Its calls have the names that the source knows them
/// by, since results refer to these.
fn restore(message: &mut Message, answer: Result<ChatResponse, Error>) -> Result<(), Fault> {
    let answer = answer.map_err(|error| Fault::malformed(format!("a message's replay: {error}")))?;
    let ids: Vec<String> = calls(&mut message.content).map(|id| id.clone()).collect();
    let mut restored = answer.to_message();
    let mut theirs = ids.iter();
    for id in calls(&mut restored.content) {
        let ours = theirs.next();
        let ours = ours.ok_or_else(|| Fault::malformed("a message's replay holds calls that it has not"))?;
        id.clone_from(ours);
    }
    if theirs.next().is_some() {
        return Err(Fault::malformed("a message holds calls that its replay has not"));
    }
    message.content = restored.content;
    Ok(())
}

/// The ids of the calls.
fn calls(content: &mut [ContentPart]) -> impl Iterator<Item = &mut String> {
    content.iter_mut().filter_map(|part| match part {
        ContentPart::ToolCall(call) => Some(&mut call.id),
        _ => None,
    })
}

fn answer_of_blocks(blocks: &[Value]) -> Result<ChatResponse, Error> {
    let body = json!({
        "id": "msg_kept", "type": "message", "role": "assistant", "model": "demo", "content": blocks,
        "stop_reason": "end_turn", "stop_sequence": null,
    });
    let dialect = messages::Dialect::anthropic();
    messages::decode_response(&dialect, options()?, body.to_string().as_bytes())
}

fn answer_of_parts(parts: &[Value]) -> Result<ChatResponse, Error> {
    let body = json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
    });
    let dialect = generate_content::Dialect::gemini();
    generate_content::decode_response(&dialect, options()?, body.to_string().as_bytes())
}

/// Whoever kept the state had asked for thoughts.
fn options() -> Result<DecodeOptions, Error> {
    Ok(DecodeOptions::new(&subject::request()?, ResponseMeta::default()))
}

/// Reasoning as the target's vendor would have given it.
fn thought(text: String, mut data: Map<String, Value>, target: &Target) -> ReasoningPart {
    let vendor: &VendorId = match target {
        Target::ChatCompletions(dialect) => {
            if let Some(field) = dialect.replay_reasoning_field {
                data.insert(field.to_owned(), json!(text));
            }
            if dialect.replay_reasoning_parts {
                data.insert("type".to_owned(), json!("thinking"));
                data.insert("thinking".to_owned(), json!([{"type": "text", "text": text}]));
            }
            &dialect.vendor
        }
        Target::Ollama(dialect) => {
            data.insert("thinking".to_owned(), json!(text));
            &dialect.vendor
        }
        // Text alone is nothing that these take back.
        Target::Messages(_) | Target::GenerateContent(_) => return ReasoningPart::new(text),
    };
    let state = Replay::new(Origin::new(vendor.clone()), Value::Object(data));
    ReasoningPart::new(text).with_replay(state)
}

fn put_first(message: &mut Message, part: ReasoningPart) {
    message.content.insert(0, ContentPart::Reasoning(part));
}
