//! One request form into another: what is checked is the translated request.

use super::{Outcome, judge, unmet};
use crate::case::{Case, Fault, Fields, dialect_of_form};
use crate::checks::{self, Check};
use crate::outcome;
use llm_core::{
    ChatRequest, ContentPart, Error, ModelId, Origin, ReasoningPart, Replay, ResolvedModel, Role, VendorId,
};
use llm_wire::chat_completions::{self, Dialect};
use serde_json::{Map, Value, json};

const OPENAI_CHAT: &str = "openai-chat";

pub(super) fn supported(input: &Value) -> Result<(), Fault> {
    for key in ["from", "to"] {
        match input[key].as_str() {
            Some(form) if form != OPENAI_CHAT && dialect_of_form(form).is_some() => {
                return Err(Fault::unsupported(format!(
                    "translations {key} the form {form} yet"
                )));
            }
            _ => {}
        }
    }
    Ok(())
}

pub(super) fn run(case: &Case) -> Result<Vec<String>, Fault> {
    let expected = case
        .places()
        .map(|(place, outcome)| Expected::read(outcome, &place))
        .collect::<Result<Vec<_>, _>>()?;
    let mut fields = Fields::of(&case.input, "input")?;
    for key in ["from", "to"] {
        let form = fields.text(key)?;
        if form != OPENAI_CHAT {
            return Err(Fault::unknown("form", form));
        }
    }
    let dialect = dialect(fields.optional_text("dialect")?.unwrap_or("openai"))?;
    let request = fields.required("request")?;
    fields.optional_text("note")?;
    fields.optional_text("also")?;
    fields.end()?;
    match translate(request, &dialect)? {
        Ok(document) => Ok(unmet(&expected, |expected| expected.faults_in(&document))),
        Err(error) => Ok(judge(case, &[Outcome::new("", outcome::of_early_error(&error))])),
    }
}

/// What a case expects of a translation.
enum Expected {
    Request(Vec<Check>),
    Failure,
}

impl Expected {
    fn read(expected: &Value, at: &str) -> Result<Expected, Fault> {
        if expected["outcome"] != "ok" {
            outcome::check(expected, at)?;
            return Ok(Expected::Failure);
        }
        let mut fields = Fields::of(expected, at)?;
        fields.required("outcome")?;
        let checks = checks::read(fields.required("checks")?, &fields.at("checks"))?;
        fields.end()?;
        Ok(Expected::Request(checks))
    }

    fn faults_in(&self, document: &Value) -> Vec<String> {
        match self {
            Expected::Request(checks) => checks
                .iter()
                .filter_map(|check| check.fault_in(document))
                .collect(),
            Expected::Failure => vec!["outcome: expected \"error\", got \"ok\"".to_owned()],
        }
    }
}

/// The dialect of the vendor that is the target.
fn dialect(name: &str) -> Result<Dialect, Fault> {
    let vendor = match name {
        "openai" => return Ok(Dialect::openai()),
        "azure" => return Ok(Dialect::openai()),
        "groq" => VendorId::from_static("groq"),
        "deepseek" => VendorId::from_static("deepseek"),
        "kimi" => VendorId::from_static("kimi"),
        "mistral" => VendorId::from_static("mistral"),
        other => return Err(Fault::unknown("dialect", other)),
    };
    let mut dialect = Dialect::compatible();
    dialect.vendor = vendor;
    Ok(dialect)
}

/// The inner failure is the outcome, the outer one a fault of the case.
fn translate(request: &Value, dialect: &Dialect) -> Result<Result<Value, Error>, Fault> {
    let mut request = request.clone();
    let kept = take_kept_state(&mut request)?;
    let body = request.to_string();
    let encoded = chat_completions::decode_request(body.as_bytes()).and_then(|decoded| {
        let mut neutral = decoded.request;
        give_kept_state(&mut neutral, kept, dialect);
        let model = match &neutral.model {
            Some(model) => model.clone(),
            None => ModelId::new("demo")?,
        };
        chat_completions::encode_request(dialect, &ResolvedModel::unknown(model), &neutral, decoded.stream)
    });
    Ok(match encoded {
        Ok(encoded) => Ok(serde_json::from_slice(&encoded.body)
            .map_err(|error| Fault::unsupported(format!("a request that is not JSON: {error}")))?),
        Err(error) => Err(error),
    })
}

/// State of an earlier answer that a source message keeps outside of any vendor's form.
#[derive(Default)]
struct Kept {
    reasoning: Option<String>,
    replay: Option<Map<String, Value>>,
}

/// Takes the keys `reasoning` and `replay` out of the assistant messages, in their order.
fn take_kept_state(request: &mut Value) -> Result<Vec<Kept>, Fault> {
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
            state.replay = match fields.shift_remove("replay") {
                None => None,
                Some(Value::Object(replay)) => Some(replay),
                Some(_) => return Err(Fault::malformed("a message's replay is not an object")),
            };
        }
        kept.push(state);
    }
    Ok(kept)
}

/// Puts it where an answer of the target's vendor would have put it.
fn give_kept_state(request: &mut ChatRequest, kept: Vec<Kept>, dialect: &Dialect) {
    let turns = request
        .messages
        .iter_mut()
        .filter(|message| message.role == Role::Assistant);
    for (message, kept) in turns.zip(kept) {
        if kept.reasoning.is_none() && kept.replay.is_none() {
            continue;
        }
        let mut data = kept.replay.unwrap_or_default();
        let text = kept.reasoning.unwrap_or_default();
        if let Some(field) = dialect.replay_reasoning_field {
            data.entry(field).or_insert_with(|| json!(text));
        }
        let state = Replay::new(Origin::new(dialect.vendor.clone()), Value::Object(data));
        let part = ReasoningPart::new(text).with_replay(state);
        message.content.insert(0, ContentPart::Reasoning(part));
    }
}
