//! Wire → neutral, for requests: what a server face needs.
//!
//! Strict where a guess could change what is asked (structure, types of known fields, unknown roles and kinds of
//! parts), lenient where it cannot: an unknown field costs a warning that names it. Fields that only OpenAI has
//! go into the `openai` options bag under their own names, so that an OpenAI target gets them back.

mod content;
mod messages;
mod settings;
mod tools;

use crate::fault::{invalid, missing};
use crate::fields::{Fields, Notes};
use llm_core::{ChatRequest, Error, ErrorKind, ModelId, Result, VendorId, Warning};
use serde_json::Value;

/// A request as a caller of a server face sent it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DecodedRequest {
    /// What is asked. The model is always named.
    pub request: ChatRequest,
    /// Is the answer wanted as a stream?
    pub stream: bool,
    /// Is the usage wanted at the end of the stream?
    pub include_usage: bool,
    /// Fields that are not known and were left out.
    pub warnings: Vec<Warning>,
}

/// The options bag of fields that only OpenAI has.
const OPENAI: VendorId = VendorId::from_static("openai");

/// Decodes the body of a request. How large it may be is the caller's business; how deep it may nest is bounded
/// here.
///
/// Canonical form, for which `decode_request(encode_request(x)) == x`: the model is named; content holds no
/// empty text, and no reasoning; an assistant message holds texts, then one refusal, then calls; a call's
/// arguments are a JSON object; results stand in one tool message directly after their turn, hold text only,
/// are in the order of the calls, carry no names and are not marked as errors (the format has no such mark);
/// documents given as bytes have names, those given by id have none; beside a choice among some tools in OpenAI's bag
/// stands the nearest neutral one.
///
/// ```
/// use llm_wire::chat_completions::decode_request;
/// let body = br#"{"model":"demo","messages":[{"role":"user","content":"hi"}],"stream":true}"#;
/// let decoded = decode_request(body)?;
/// assert!(decoded.stream);
/// assert_eq!(decoded.request.messages[0].text(), "hi");
///
/// let error = decode_request(br#"{"model":"demo","messages":[{"role":"robot"}]}"#).unwrap_err();
/// assert_eq!(error.vendor().param.as_deref(), Some("messages[0].role"));
/// # Ok::<(), llm_core::Error>(())
/// ```
///
/// # Errors
/// `InvalidRequest`, when the body is no JSON object or something in it is missing or malformed, and
/// `Unsupported`, when several answers are asked for. [`Error::vendor`] names the field as `param`.
pub fn decode_request(body: &[u8]) -> Result<DecodedRequest> {
    let value: Value = serde_json::from_slice(body).map_err(|error| {
        let message = format!(
            "the body is not JSON that can be read (line {}, column {})",
            error.line(),
            error.column()
        );
        Error::new(ErrorKind::InvalidRequest, message)
    })?;
    let mut fields = Fields::root(value)?;
    let mut notes = Notes::default();
    let mut request = ChatRequest::default();
    request.model = Some(model(&mut fields)?);
    let messages = fields.list("messages")?;
    let messages = messages.ok_or_else(|| missing("messages", "a list of at least one message"))?;
    request.messages = messages::messages(messages, &mut notes)?;
    tools::tools(&mut fields, &mut request, &mut notes)?;
    settings::settings(&mut fields, &mut request, &mut notes)?;
    let stream = fields.flag("stream")?.unwrap_or(false);
    let mut include_usage = false;
    if let Some(mut options) = fields.inner("stream_options")? {
        include_usage = options.flag("include_usage")?.unwrap_or(false);
        // asks for padding against eavesdroppers, which is not added here
        options.flag("include_obfuscation")?;
        options.finish(&mut notes);
    }
    fields.finish(&mut notes);
    Ok(DecodedRequest {
        request,
        stream,
        include_usage,
        warnings: notes.warnings,
    })
}

fn model(fields: &mut Fields) -> Result<ModelId> {
    let name = fields.text("model")?;
    let name = name.ok_or_else(|| missing("model", "the name of a model"))?;
    ModelId::new(name).map_err(|_| invalid("model", "is no name of a model"))
}

#[cfg(test)]
mod tests;
