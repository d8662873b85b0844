//! What writes the events of an answer as a stream of another form.

use crate::case::{Fault, Fields};
use crate::form::Form;
use llm_core::{ChatEvent, Error};
use llm_wire::{chat_completions, generate_content, messages};
use serde_json::{Value, json};

/// The model of an answer that names none.
const MODEL: &str = "demo-1";
/// When an answer was made that does not say it.
const CREATED: u64 = 1_795_000_000;

/// An encoder of the target's form.
#[derive(Debug)]
pub(super) enum Encoder {
    ChatCompletions(chat_completions::StreamEncoder),
    Messages(messages::StreamEncoder),
    GenerateContent(generate_content::StreamEncoder),
}

impl Encoder {
    /// An encoder for the answer to a request, of which only the options matter.
    pub(super) fn of(form: Form, client_request: Option<&Value>, at: &str) -> Result<Encoder, Fault> {
        let body = match client_request {
            Some(request) => Some(whole(request, at)?),
            None => None,
        };
        let fault = |error| Fault::malformed(format!("{at} is no request: {error}"));
        Ok(match form {
            Form::ChatCompletions => {
                let decoded = body.map(|body| chat_completions::decode_request(body.as_bytes()));
                let decoded = decoded.transpose().map_err(fault)?;
                let options = chat_completions::EncodeOptions::new("chatcmpl-t1", CREATED, MODEL);
                let include_usage = decoded.is_some_and(|decoded| decoded.include_usage);
                let options = options.with_include_usage(include_usage);
                Encoder::ChatCompletions(chat_completions::StreamEncoder::new(options))
            }
            Form::Messages => {
                let decoded = body.map(|body| messages::decode_request(body.as_bytes()));
                decoded.transpose().map_err(fault)?;
                let options = messages::EncodeOptions::new("msg_t1", MODEL);
                Encoder::Messages(messages::StreamEncoder::new(options))
            }
            Form::GenerateContent if client_request.is_none() => {
                let options = generate_content::EncodeOptions::new("resp-t1", MODEL);
                Encoder::GenerateContent(generate_content::StreamEncoder::new(options))
            }
            Form::Responses | Form::GenerateContent | Form::Ollama => {
                return Err(Fault::unsupported(format!("callers who speak {form:?} yet")));
            }
        })
    }

    pub(super) fn push(&mut self, event: &ChatEvent, out: &mut Vec<u8>) {
        match self {
            Encoder::ChatCompletions(encoder) => encoder.push(event, out),
            Encoder::Messages(encoder) => encoder.push(event, out),
            Encoder::GenerateContent(encoder) => encoder.push(event, out),
        }
    }

    pub(super) fn error(&mut self, error: &Error, out: &mut Vec<u8>) {
        match self {
            Encoder::ChatCompletions(encoder) => encoder.error(error, out),
            Encoder::Messages(encoder) => encoder.error(error, out),
            Encoder::GenerateContent(encoder) => encoder.error(error, out),
        }
    }
}

/// A request with what the case leaves out of it, since it does not matter.
fn whole(request: &Value, at: &str) -> Result<String, Fault> {
    Fields::of(request, at)?;
    let mut body = json!({
        "model": MODEL, "max_tokens": 1000, "messages": [{"role": "user", "content": "Which outcome is right?"}],
    });
    if let (Some(body), Some(given)) = (body.as_object_mut(), request.as_object()) {
        body.extend(given.clone());
    }
    Ok(body.to_string())
}
