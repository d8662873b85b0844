//! Neutral → wire, for requests.
//!
//! Everything a request holds is sent, refused (`Unsupported` where this format, host or model cannot do it,
//! `InvalidRequest` where nobody could), or reported as a warning. What is not set is not sent, but for `store`. The body
//! is written straight from the borrowed request; no tree is built.

mod assistant;
mod input;
mod media;
mod reasoning;
mod results;
mod settings;
mod tools;

use super::dialect::{Dialect, ModelRule};
use super::request_types::Body;
use crate::bag::{self, Bag};
use crate::body::expected_length;
use crate::pieces;
use crate::tool_names::{NameRule, ToolNames};
use llm_core::{ChatRequest, ContentPart, Error, ErrorKind, ResolvedModel, Result, Warning};
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
/// | system messages at the start, of text alone | `instructions`, with an empty line between two |
/// | other system messages | in their place, as `developer` to models that reason, else as `system` |
/// | reasoning of this vendor that this format recorded | its item, in its place before what followed it, without its id |
/// | the same with nothing behind it, or without encrypted content | left out, and a warning |
/// | reasoning of another vendor, or of another API of this one | left out, and a warning where it held state |
/// | a failed tool result | the text begins with `Error: `, unless it begins with that word anyway |
/// | a call without a result | a placeholder result, and a warning |
/// | a result without a call, or a second one | left out with a warning, unless the options bag continues a stored response |
/// | arguments that are no JSON object | `{}`, and a warning |
/// | ids of calls over 64 characters, names of tools that are not taken | others; names come back as they were ([`EncodedRequest::tool_names`]) |
/// | a tool that does not say whether it is strict | `strict: false`: left out, the host would decide by the schema |
/// | a strict schema that OpenAI does not take | its objects closed; else as it is, not strict, and a warning |
/// | JSON, where the host wants the word and the input does not have it (`instructions` do not count) | a message `Answer in JSON.`, and a warning |
/// | an effort the model does not take | the next lower one it takes, else its lowest, and a warning |
/// | thoughts without vendor state | left out: they are for people |
/// | thoughts to be shown | their summary, `auto` |
/// | stop sequences | refused: this format has none |
/// | seed, penalties, top-k | left out, and a warning: this format has none |
///
/// Answers are not stored at the vendor (`store: false`), and reasoning models are asked for their reasoning in encrypted
/// form, so that it can go back on the next turn. The options bag has `store` for who wants otherwise.
///
/// Of the request's options bag, the namespace of the dialect's vendor is read ([`Dialect::option_keys`]); unknown keys
/// are refused. Under `body` stands an object whose fields take the place of the body's as the very last resort (null
/// leaves a field out).
/// Where it holds options of other vendors alone, each is named in a warning; beside options of this vendor they are
/// for another target.
///
/// ```
/// use llm_core::{ChatRequest, ModelId, ResolvedModel};
/// use llm_wire::responses::{Dialect, encode_request};
/// let model = ResolvedModel::unknown(ModelId::new("demo")?);
/// let encoded = encode_request(&Dialect::openai(), &model, &ChatRequest::user("hi"), false)?;
/// assert_eq!(
///     encoded.body,
///     br#"{"model":"demo","input":[{"type":"message","role":"user","content":"hi"}],"store":false}"#
/// );
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
    let bag = read_bag(dialect, request)?;
    let tool_names = ToolNames::new(names(request), NAMES);
    let mut encoding = Encoding {
        dialect,
        model,
        rule: dialect.rule_of(model),
        request,
        tool_names: &tool_names,
        continues: ["previous_response_id", "conversation"].map(|key| bag.value(key).is_some()) != [false; 2],
        stores: bag.value("store").is_some_and(|store| *store == true),
        warnings: Vec::new(),
    };
    let body = encoding.body(bag, stream)?;
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

/// The options bag. It may ask for one answer, as for Chat Completions; there are never more.
fn read_bag<'a>(dialect: &Dialect, request: &'a ChatRequest) -> Result<Bag<'a>> {
    let own = request.vendor.of(dialect.vendor.as_str());
    let one = own
        .and_then(|own| own.get("n"))
        .is_some_and(|answers| *answers == 1);
    let passed_over: &[&str] = if one { &["n"] } else { &[] };
    Bag::read(&dialect.vendor, dialect.option_keys, passed_over, request)
}

/// Names of tools that the format takes.
const NAMES: NameRule = NameRule {
    takes: |c| c.is_ascii_alphanumeric() || c == '_' || c == '-',
    longest: 64,
};

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
    /// Does it go on from a response that the vendor stored? Then calls may stand there.
    continues: bool,
    /// Does the vendor store responses?
    stores: bool,
    warnings: Vec<Warning>,
}

impl<'a> Encoding<'a> {
    fn body(&mut self, mut bag: Bag<'a>, stream: bool) -> Result<Body<'a>> {
        let own_tools = bag.take_list("custom_tools");
        let mut body = Body::new(bag.patch);
        body.add("model", self.model.id.as_str());
        let reasoning = self.reasoning(&bag)?;
        let of_reasoning = std::mem::take(&mut self.warnings);
        self.input(&mut body)?;
        self.warnings.extend(of_reasoning);
        for (name, value) in &bag.fields {
            if !settings::NOT_IN_BODY.contains(name) {
                body.add(name, *value);
            }
        }
        self.tools(own_tools, &bag, &mut body)?;
        self.text(&bag, &mut body)?;
        self.limits(&mut body)?;
        self.sampling(&bag, reasoning.off, &mut body)?;
        body.add_object("reasoning", reasoning.field);
        self.include(&bag, reasoning.off, &mut body);
        self.caller(&mut body);
        // kept at the vendor only where the caller says so
        body.add("store", false);
        if stream {
            body.add("stream", true);
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
