//! Wire → neutral, for requests: what a server face needs.
//!
//! Strict where a guess could change what is asked (structure, types of known fields, unknown roles and kinds of what
//! the user says), lenient where it cannot: an unknown field costs a warning that names it. What only Anthropic has goes
//! into the `anthropic` options bag under its own name, or is kept as vendor state in its place, so that an Anthropic
//! target gets it back.

mod blocks;
mod media;
mod messages;
mod settings;
mod tools;

use super::ANTHROPIC;
use crate::fault::{invalid, missing};
use crate::fields::{Fields, Notes};
use llm_core::{ChatRequest, Error, ErrorKind, ModelId, Result, Warning};
use serde_json::Value;

/// A request as a caller of a server face sent it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DecodedRequest {
    /// What is asked. The model is always named.
    pub request: ChatRequest,
    /// Is the answer wanted as a stream?
    pub stream: bool,
    /// Fields that are not known or cannot be carried, and were left out.
    pub warnings: Vec<Warning>,
}

/// Decodes the body of a request. How large it may be is the caller's business; how deep it may nest is bounded here.
/// Betas are names in a header: a face that passes them on puts them into the bag as `betas`.
///
/// | on the wire | neutral |
/// |---|---|
/// | `system` | one system message at the start |
/// | a user message with results of tools | the results as a tool message, then the rest |
/// | a thought with a signature | a thought with the whole block as its vendor state |
/// | any block of the assistant's of another kind | an opaque piece |
/// | a search result of the user's or a tool's | its title, source and texts as text, with the block as vendor state |
/// | `context` and `citations` of a document | an opaque piece behind the document |
/// | `cache_control` | a cache point after the part; of a tool: before the first message |
/// | tools with a `type` of their own | `builtin_tools` in the options bag |
/// | `thinking` that has no neutral form (a budget, `between_tools`) | the nearest effort, and itself in the bag |
///
/// Canonical form, for which `decode_request(encode_request(x)) == x`: the model is named and output is capped; system
/// messages are one at the start (or stand where the model takes them); roles alternate, beginning with the user;
/// content holds no empty text, no pictures with a detail, no text document that is not `text/plain`; a call's arguments
/// are a JSON object, written without spaces; results stand in one tool message directly after their turn, one for each
/// call, and carry no names; thoughts hold what their own vendor wrote; a cache point stands after a part, or first of
/// all where tools are offered; an effort is one that the model takes as it is; a schema is named `output`, is strict and
/// already closed.
///
/// ```
/// use llm_wire::messages::decode_request;
/// let body = br#"{"model":"demo","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"stream":true}"#;
/// let decoded = decode_request(body)?;
/// assert!(decoded.stream);
/// assert_eq!(decoded.request.messages[0].text(), "hi");
///
/// let error = decode_request(br#"{"model":"demo","messages":[{"role":"user","content":"hi"}]}"#).unwrap_err();
/// assert_eq!(error.vendor().param.as_deref(), Some("max_tokens"));
/// # Ok::<(), llm_core::Error>(())
/// ```
///
/// # Errors
/// `InvalidRequest`, when the body is no JSON object or something in it is missing or malformed. [`Error::vendor`]
/// names the field as `param`.
pub fn decode_request(body: &[u8]) -> Result<DecodedRequest> {
    decode(body, None, true)
}

/// Decodes the body of a request to count tokens: a request without a cap on output.
///
/// # Errors
/// As [`decode_request`].
pub fn decode_count_request(body: &[u8]) -> Result<DecodedRequest> {
    decode(body, None, false)
}

/// Decodes the body of a Bedrock InvokeModel request: the model stands in the path, whether a stream is wanted too (so
/// [`DecodedRequest::stream`] is false here), and betas in the body.
///
/// # Errors
/// As [`decode_request`].
pub fn decode_invoke_request(model: ModelId, body: &[u8]) -> Result<DecodedRequest> {
    decode(body, Some(model), true)
}

fn decode(body: &[u8], invoked: Option<ModelId>, capped: bool) -> Result<DecodedRequest> {
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
    request.model = Some(match invoked {
        Some(model) => {
            fields.text("anthropic_version")?;
            if let Some(betas) = fields.list("anthropic_beta")? {
                request.vendor.set(ANTHROPIC, "betas", Value::Array(betas));
            }
            model
        }
        None => model(&mut fields)?,
    });
    request.max_output_tokens = fields.count("max_tokens")?;
    if request.max_output_tokens.is_none() && capped {
        return Err(missing("max_tokens", "a whole number of at least 1"));
    }
    messages::system(&mut fields, &mut request, &mut notes)?;
    let messages = fields.list("messages")?;
    let messages = messages.ok_or_else(|| missing("messages", "a list of at least one message"))?;
    messages::messages(messages, &mut request, &mut notes)?;
    tools::tools(&mut fields, &mut request, &mut notes)?;
    settings::settings(&mut fields, &mut request, &mut notes)?;
    let stream = fields.flag("stream")?.unwrap_or(false);
    fields.finish(&mut notes);
    Ok(DecodedRequest {
        request,
        stream,
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
