//! Neutral → wire, for requests.
//!
//! Everything a request holds is sent, refused (`Unsupported` where this format, host or model cannot do it,
//! `InvalidRequest` where nobody could), or reported as a warning. What is not set is not sent. The body is
//! written straight from the borrowed request; no tree is built.

mod assistant;
mod effort;
mod media;
mod messages;
mod moonshot_schema;
mod own_options;
mod results;
mod settings;
mod tools;

use super::dialect::{Dialect, ModelRule};
use super::request_types::{Body, WireStreamOptions};
use crate::bag;
use crate::body::expected_length;
use crate::pieces;
use crate::tool_names::{NameRule, ToolNames};
use llm_core::{ChatRequest, ContentPart, Error, ErrorKind, ResolvedModel, Result, Warning};
use own_options::OwnOptions;
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

/// Encodes a request for this model of this host. `stream` asks for a stream.
///
/// What the format cannot say in its own words is carried like this:
///
/// | neutral | on the wire |
/// |---|---|
/// | a failed tool result | the text begins with `Error: `, unless it begins with that word anyway |
/// | pictures, sound and files in a tool result | in a `user` message after the results of the turn, and a warning |
/// | a call without a result | a placeholder result, and a warning |
/// | a result without a call, or a second one | left out with a warning: as user text it would gain authority |
/// | arguments that are no JSON object | `{}`, and a warning |
/// | thoughts of this vendor | what it wants back of them, where the model thinks |
/// | thoughts of another vendor | left out, and a warning |
/// | thoughts without vendor state | as text, where a host takes text back ([`Dialect::replay_reasoning_field`]) and the model is known to think; else left out: they are for people |
/// | an effort the model does not take | the next lower one it takes, else its lowest, and a warning |
/// | an effort at a vendor whose models take few levels | Mistral, DeepSeek, Kimi: where the dialect says so, the next higher one |
/// | an assistant message at the end | sent as it is, marked as a beginning, or refused: as the dialect says |
/// | a tool's name that the format does not take | another one; calls come back under the caller's ([`EncodedRequest::tool_names`]) |
/// | a strict schema that OpenAI does not take | its objects closed; else as it is, not strict, and a warning |
/// | JSON, where the host wants the word and no message has it | `Answer in JSON.` as system text, and a warning |
/// | a refusal in the history, where the host has no field for it | text |
/// | ids of calls that the host does not take | a hash of the form that it takes, in call and result alike |
/// | system messages behind others, empty messages, a user right after tools | where the dialect forbids them: moved to the beginning, left out, parted by a short assistant message, with a warning |
/// | a call of any tool, where the model knows no word for it | a call of the one tool on offer, else refused |
/// | tools on a model that takes them only without reasoning | effort `none` and a warning where no effort was asked for; else refused |
///
/// Of the request's options bag, the namespace of the dialect's vendor is read. Keys that the dialect lists
/// ([`Dialect::option_keys`]) go into the body as they are and win over a neutral field of the same name; unknown
/// ones are refused. Under `body` stands an object whose fields take the place of the body's as the very last
/// resort (null leaves a field out).
/// Where it holds options of other vendors alone, each is named in a warning; beside options of this vendor they are
/// for another target.
///
/// ```
/// use llm_core::{ChatRequest, ModelId, ResolvedModel};
/// use llm_wire::chat_completions::{Dialect, encode_request};
/// let model = ResolvedModel::unknown(ModelId::new("demo")?);
/// let encoded = encode_request(&Dialect::openai(), &model, &ChatRequest::user("hi"), false)?;
/// assert_eq!(encoded.body, br#"{"model":"demo","messages":[{"role":"user","content":"hi"}]}"#);
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
    stream: bool,
) -> Result<EncodedRequest> {
    let tool_names = tool_names(dialect, request);
    let mut encoding = Encoding {
        dialect,
        model,
        rule: dialect.rule_of(model),
        request,
        tool_names: &tool_names,
        thinking_off: false,
        warnings: Vec::new(),
    };
    let body = encoding.body(stream)?;
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

/// Names of tools that the format takes (wire notes, `openai-chat.md` and `kimi.md`, Tools).
const NAMES: NameRule = NameRule {
    takes: |c| c.is_ascii_alphanumeric() || c == '_' || c == '-',
    longest: 64,
};

/// What does not fit among all names of tools in a request.
fn tool_names(dialect: &Dialect, request: &ChatRequest) -> ToolNames {
    let offered = request.tools.iter().map(|tool| tool.name.as_str());
    let parts = request.messages.iter().flat_map(|message| &message.content);
    let names = offered.chain(parts.filter_map(|part| match part {
        ContentPart::ToolCall(call) => Some(call.name.as_str()),
        _ => None,
    }));
    if dialect.tools.names_begin_with_letters {
        ToolNames::beginning_with(names, NAMES, |c| c.is_ascii_alphabetic() || c == '_')
    } else {
        ToolNames::new(names, NAMES)
    }
}

/// One request on its way to the wire.
struct Encoding<'a> {
    dialect: &'a Dialect,
    model: &'a ResolvedModel,
    rule: ModelRule,
    request: &'a ChatRequest,
    tool_names: &'a ToolNames,
    /// Will the model not think at all?
    thinking_off: bool,
    warnings: Vec<Warning>,
}

impl<'a> Encoding<'a> {
    fn body(&mut self, stream: bool) -> Result<Body<'a>> {
        let own = OwnOptions::read(self.dialect, self.request)?;
        let mut body = Body::new(own.bag.patch);
        body.add("model", self.model.id.as_str());
        let effort = self.effort(&own)?;
        self.thinking_off = effort.off;
        let of_effort = std::mem::take(&mut self.warnings);
        body.add("messages", self.messages()?);
        self.warnings.extend(of_effort);
        self.own_options(&own, &mut body);
        self.tools(&own, &mut body)?;
        self.output(&own, &mut body)?;
        self.sampling(&mut body)?;
        self.add_effort(&effort, &own, &mut body);
        self.limits(&mut body)?;
        self.caller(&mut body);
        if stream && self.can_be_streamed() {
            body.add("stream", true);
            if self.dialect.stream_usage {
                body.add("stream_options", WireStreamOptions { include_usage: true });
            }
        }
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
