//! Neutral → wire, for requests.
//!
//! Everything a request holds is sent, refused (`Unsupported` where this format, host or model cannot do it,
//! `InvalidRequest` where nobody could), or reported as a warning. What is not set is not sent. The body is
//! written straight from the borrowed request; no tree is built but of schemas and of arguments.

mod contents;
mod media;
mod own_options;
mod results;
mod schema;
mod settings;
mod thinking;
mod tools;

use super::dialect::{Dialect, ModelRule};
use super::request_types::{Fields, WireSystem};
use crate::bag;
use crate::body::expected_length;
use crate::pieces;
use crate::tool_names::{NameRule, ToolNames};
use llm_core::{ChatRequest, ContentPart, Error, ErrorKind, ResolvedModel, Result, Warning};
use own_options::OwnOptions;
use serde_json::Value;
use std::fmt::Display;

/// A request as it is sent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EncodedRequest {
    /// The JSON body.
    pub body: Vec<u8>,
    /// What was not sent, or was sent otherwise than asked. They belong into the response.
    pub warnings: Vec<Warning>,
    /// Tools that were sent under another name: the decoder of the answer needs them.
    pub tool_names: ToolNames,
}

/// Encodes a request for this model of this host. Whether a stream is asked for, and which model, stands in the
/// address that it is sent to.
///
/// What the format cannot say in its own words is carried like this:
///
/// | neutral | on the wire |
/// |---|---|
/// | system messages | `systemInstruction`; from between other messages, too, and a warning. Models without it: before the first text of the user's |
/// | neighbouring messages of one side | one content |
/// | a conversation that the model begins | a placeholder of the user's in front, and a warning |
/// | a tool's result | text, under `output` or `error` |
/// | pictures, sound and files in a result | inside of it; before Gemini 3, and by address, behind it |
/// | a call without a result | a placeholder result, and a warning |
/// | a result without a call, or a second one | left out with a warning: as user text it would gain authority |
/// | arguments that are no JSON object | `{}`, and a warning |
/// | a call that this model did not make | from Gemini 3 on, the documented placeholder for the signature of the first in its step |
/// | reasoning | what its own vendor signed, for the model that signed it; anything else is left out |
/// | a tool's name that the format does not take | another one; calls come back under the caller's ([`EncodedRequest::tool_names`]) |
/// | a schema | `parametersJsonSchema` and `responseJsonSchema`, with references written out; what is not read there is named in a warning |
/// | the name of a schema | nowhere: it is a label |
/// | a strict tool | mode `VALIDATED`, which holds for all tools |
/// | an effort | a level or a budget; what the model does not take becomes the next lower one it takes, else its lowest, and a warning |
///
/// Of the request's options bag, the namespace of the dialect's vendor is read. Keys that the dialect lists
/// ([`Dialect::option_keys`]) go into the body as they are and win over a neutral field of the same meaning; unknown
/// ones are refused. Under `body` stands an object whose fields take the place of the body's as the very last
/// resort, inside of `generationConfig` field by field (null leaves a field out).
/// Where it holds options of other vendors alone, each is named in a warning; beside options of this vendor they are
/// for another target.
///
/// ```
/// use llm_core::{ChatRequest, ModelId, ResolvedModel};
/// use llm_wire::generate_content::{Dialect, encode_request};
/// let model = ResolvedModel::unknown(ModelId::new("gemini-3.8-flash")?);
/// let encoded = encode_request(&Dialect::gemini(), &model, &ChatRequest::user("hi"))?;
/// assert_eq!(encoded.body, br#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#);
/// # Ok::<(), llm_core::Error>(())
/// ```
///
/// # Errors
/// `InvalidRequest`, when the request is nonsense (no messages, a number that is none, a choice of a tool that
/// is not offered); `Unsupported`, when it asks for what this format, host or model cannot do, a key of the
/// vendor's options bag that is not known included. The error names the field.
pub fn encode_request(
    dialect: &Dialect,
    model: &ResolvedModel,
    request: &ChatRequest,
) -> Result<EncodedRequest> {
    encode(dialect, model, request, |body| body)
}

/// Encodes a request to count its tokens, instructions and tools included: for the developer API's `countTokens`, which
/// answers with `totalTokens`.
///
/// ```
/// use llm_core::{ChatRequest, ModelId, ResolvedModel};
/// use llm_wire::generate_content::{Dialect, encode_count_request};
/// let model = ResolvedModel::unknown(ModelId::new("demo")?);
/// let encoded = encode_count_request(&Dialect::gemini(), &model, &ChatRequest::user("hi"))?;
/// let begins = br#"{"generateContentRequest":{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"model":"#;
/// assert!(encoded.body.starts_with(begins));
/// # Ok::<(), llm_core::Error>(())
/// ```
///
/// # Errors
/// As [`encode_request`].
pub fn encode_count_request(
    dialect: &Dialect,
    model: &ResolvedModel,
    request: &ChatRequest,
) -> Result<EncodedRequest> {
    let id = model.id.as_str();
    let prefix = if id.contains('/') { "" } else { "models/" };
    let path = Value::from(format!("{prefix}{id}"));
    encode(dialect, model, request, |mut body| {
        body.add("model", path);
        let mut counted = Fields::new(None);
        counted.add("generateContentRequest", body);
        counted
    })
}

/// `wrap` puts the body into what is sent.
fn encode(
    dialect: &Dialect,
    model: &ResolvedModel,
    request: &ChatRequest,
    wrap: impl FnOnce(Fields<'_>) -> Fields<'_>,
) -> Result<EncodedRequest> {
    let tool_names = ToolNames::beginning_with(names(request), NAMES, may_begin);
    let mut encoding = Encoding {
        dialect,
        model,
        rule: dialect.rule_of(model),
        request,
        tool_names: &tool_names,
        warnings: Vec::new(),
    };
    let body = wrap(encoding.body()?);
    let mut bytes = Vec::with_capacity(expected_length(request));
    serde_json::to_writer(&mut bytes, &body).map_err(|error| {
        Error::new(ErrorKind::Internal, "the request cannot be written as JSON").with_source(error)
    })?;
    let mut warnings = encoding.warnings;
    warnings.extend(pieces::as_text(&dialect.vendor, request));
    warnings.extend(bag::of_others(&dialect.vendor, request));
    Ok(EncodedRequest {
        body: bytes,
        warnings,
        tool_names,
    })
}

/// Names of tools that the format takes (wire notes, `gemini.md`, Tools).
const NAMES: NameRule = NameRule {
    takes: |c| c.is_ascii_alphanumeric() || "_.:-".contains(c),
    longest: 128,
};

fn may_begin(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// All names of tools in a request.
fn names(request: &ChatRequest) -> impl Iterator<Item = &str> + Clone {
    let offered = request.tools.iter().map(|tool| tool.name.as_str());
    let parts = request.messages.iter().flat_map(|message| &message.content);
    offered.chain(parts.filter_map(|part| match part {
        ContentPart::ToolCall(call) => Some(call.name.as_str()),
        _ => None,
    }))
}

/// One request on its way to the wire.
struct Encoding<'a> {
    dialect: &'a Dialect,
    model: &'a ResolvedModel,
    rule: ModelRule,
    request: &'a ChatRequest,
    tool_names: &'a ToolNames,
    warnings: Vec<Warning>,
}

impl<'a> Encoding<'a> {
    fn body(&mut self) -> Result<Fields<'a>> {
        let own = OwnOptions::read(self.dialect, self.request)?;
        let mut body = Fields::new(own.bag.patch);
        let said = self.contents(own.cached_content)?;
        if !said.system.is_empty() {
            if own.cached_content {
                self.warn(
                    "messages",
                    "has instructions that are not sent: those of the cached content hold",
                );
            } else {
                body.add("systemInstruction", WireSystem { parts: said.system });
            }
        }
        body.add("contents", said.contents);
        self.tools(&own, &mut body)?;
        let mut config = Fields::new(None);
        own.add(&mut body, &mut config);
        self.thinking(&own, &mut config)?;
        self.output(&own, &mut config)?;
        self.sampling(&mut config)?;
        self.limits(&mut config)?;
        body.add_object("generationConfig", config);
        self.caller(&mut body);
        Ok(body)
    }

    /// An option that was not sent, or was sent otherwise.
    fn warn(&mut self, field: impl Display, message: &str) {
        self.warnings.push(Warning::option(field.to_string(), message));
    }

    /// A piece of history that could not be carried over as it is.
    fn warn_history(&mut self, field: impl Display, message: &str) {
        self.warnings.push(Warning::history(field.to_string(), message));
    }
}

#[cfg(test)]
mod tests;
