//! The requests of simulations, in the form of their vendor.

use crate::case::Fault;
use crate::form::Form;
use llm_core::ChatRequest;
use llm_wire::{chat_completions, messages};
use serde_json::Value;

/// The request of a case, and whether it asks for a stream.
pub(super) fn read(form: Form, request: &Value, at: &str) -> Result<(ChatRequest, bool), Fault> {
    let body = request.to_string();
    let decoded = match form {
        Form::ChatCompletions => {
            chat_completions::decode_request(body.as_bytes()).map(|decoded| (decoded.request, decoded.stream))
        }
        Form::Messages => {
            messages::decode_request(body.as_bytes()).map(|decoded| (decoded.request, decoded.stream))
        }
        // Nothing reads these yet.
        Form::Responses | Form::GenerateContent | Form::Ollama => {
            return Err(Fault::unsupported(format!("requests in the form {form:?} yet")));
        }
    };
    decoded.map_err(|error| Fault::malformed(format!("{at} is no request: {error}")))
}
