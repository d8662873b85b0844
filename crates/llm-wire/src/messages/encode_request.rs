//! Neutral → wire, for requests.
//!
//! Everything a request holds is sent, refused (`Unsupported` where this format, host or model cannot do it,
//! `InvalidRequest` where nobody could), or reported as a warning. What is not set is not sent, but for the cap on
//! output, which the format requires. The body is written straight from the borrowed request; no tree is built.

mod assistant;
mod calls;
mod conversation;
mod media;
mod messages;
mod recursion;
mod results;
mod schema;
mod settings;
mod thinking;
mod tools;

use super::dialect::{Dialect, ModelRule};
use super::request_types::Body;
use crate::bag::{self, Bag};
use crate::body::{expected_length, with_fields};
use crate::pieces;
use crate::tool_names::{NameRule, ToolNames};
use llm_core::{ChatRequest, ContentPart, Error, ErrorKind, ResolvedModel, Result, Warning};
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
    /// What the `anthropic-version` header must say for this body to be taken. (Where the version stands in the body,
    /// this is that one.)
    pub version: &'static str,
    /// The caller's names for the `anthropic-beta` header. (Where betas stand in the body, they are there too.)
    pub betas: Vec<String>,
    /// Tools that were sent under another name: the decoder of the answer needs them.
    pub tool_names: ToolNames,
}

/// Encodes a request for this model of this host. `stream` asks for a stream.
///
/// What the format cannot say in its own words is carried like this:
///
/// | neutral | on the wire |
/// |---|---|
/// | messages of one role in a row, tool messages included | one message |
/// | system messages at the start | `system` |
/// | later ones | in their place, where the model takes that; else in `system`, and a warning |
/// | a conversation that does not begin with the user | a placeholder before it, and a warning |
/// | a call without a result | a placeholder result that says so, and a warning |
/// | a result without a call, or a second one | left out with a warning: as user text it would gain authority |
/// | arguments that are no JSON object | `{}`, and a warning |
/// | an id or a name that the format does not take | another one; names come back as they were ([`EncodedRequest::tool_names`]) |
/// | calls in the history, but no tools | the tools of the history, none of which may be called, and a warning |
/// | thoughts, opaque pieces and other state of this vendor | as they came, in their place, unmerged |
/// | state of another vendor | left out, and a warning |
/// | thoughts without vendor state | left out: they are for people |
/// | a refusal in the history | text |
/// | a forced call on a model that cannot be forced | `auto` (of a named tool: with that tool only), and a warning |
/// | an effort, where a budget of tokens is taken instead | 2,048, 8,192, 16,384 or 32,000 tokens, below the cap on output |
/// | an effort that the model does not take | the next lower one it takes, else its lowest, and a warning |
/// | no thought, on a model that always thinks | its lowest effort or its nearest mode, and a warning |
/// | a schema that contains itself, for the answer or a strict tool | refused |
/// | budgeted thought with a forced call, a turn to be continued, or calls that began without thought | no thought, and a warning |
/// | temperature and its like on models that do not take them, or that think | left out, and a warning |
/// | keywords of a schema that are not taken | in words, in its `description`, and a warning |
/// | more than four cache points | the last four, and a warning |
/// | no cap on output | the model's limit (for a plain answer 21,333 at most), else 4,096 |
///
/// Of the request's options bag, the namespace of the dialect's vendor is read ([`Dialect::option_keys`]). Its keys go
/// into the body as they are and win over a neutral field of the same name; unknown ones are refused. Under `body`
/// stands an object whose fields take the place of the body's as the very last resort (null leaves a field out).
/// Where it holds options of other vendors alone, each is named in a warning; beside options of this vendor they are
/// for another target.
///
/// ```
/// use llm_core::{ChatRequest, ModelId, ResolvedModel};
/// use llm_wire::messages::{Dialect, encode_request};
/// let model = ResolvedModel::unknown(ModelId::new("demo")?);
/// let encoded = encode_request(&Dialect::anthropic(), &model, &ChatRequest::user("hi"), false)?;
/// assert_eq!(
///     encoded.body,
///     br#"{"model":"demo","max_tokens":4096,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}"#
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
    let tool_names = ToolNames::new(names(request), NAMES);
    let mut encoding = Encoding {
        dialect,
        model,
        rule: dialect.rule_of(model),
        request,
        tool_names: &tool_names,
        keeps_thoughts: true,
        old_rules: false,
        warnings: Vec::new(),
    };
    let bag = Bag::read(&dialect.vendor, dialect.option_keys, &[], request)?;
    let betas = settings::betas(dialect, &bag)?;
    let body = encoding.body(&bag, stream)?;
    let version = dialect.version.unwrap_or_else(|| encoding.version(&body));
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
        version,
        betas: betas.into_iter().map(str::to_owned).collect(),
        tool_names,
    })
}

/// Encodes a request to count its tokens: the same body without what no token of the input depends on (the cap on
/// output, sampling, stop sequences, who asks, the class of service).
///
/// # Errors
/// As [`encode_request`].
pub fn encode_count_request(
    dialect: &Dialect,
    model: &ResolvedModel,
    request: &ChatRequest,
) -> Result<EncodedRequest> {
    let mut encoded = encode_request(dialect, model, request, false)?;
    encoded.body = with_fields(&encoded.body, |name| !NOT_COUNTED.contains(&name))?;
    Ok(encoded)
}

/// Fields of a request that no token of its input depends on (wire notes, `anthropic.md`, "Counting and models").
const NOT_COUNTED: [&str; 8] = [
    "max_tokens",
    "stream",
    "stop_sequences",
    "temperature",
    "top_p",
    "top_k",
    "metadata",
    "service_tier",
];

/// Names of tools that the format takes.
const NAMES: NameRule = NameRule {
    takes: |c| c.is_ascii_alphanumeric() || c == '_' || c == '-',
    longest: 128,
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
    /// Are thinking blocks of earlier turns sent?
    keeps_thoughts: bool,
    /// Does the request hold something that only the older version of the format takes?
    old_rules: bool,
    warnings: Vec<Warning>,
}

impl<'a> Encoding<'a> {
    fn body(&mut self, bag: &Bag<'a>, stream: bool) -> Result<Body<'a>> {
        let mut body = Body::new(bag.patch);
        let in_body = self.dialect.body_version;
        match in_body {
            Some(version) => body.add("anthropic_version", version),
            None => body.add("model", self.model.id.as_str()),
        }
        let mut cap = self.cap(stream)?;
        let thought = self.thinking(bag, &mut cap)?;
        self.keeps_thoughts = thought.on || self.rule.thinking_blocks_when_off;
        body.add("max_tokens", cap.tokens);
        let mut conversation = self.conversation()?;
        let mut tools = self.tools(bag, &thought)?;
        self.limit_marks(bag, &mut conversation, &mut tools);
        if !conversation.system.is_empty() {
            body.add("system", conversation.system);
        }
        body.add("messages", conversation.messages);
        if !tools.offered.is_empty() {
            body.add("tools", tools.offered);
        }
        if let Some(choice) = tools.choice {
            body.add("tool_choice", choice);
        }
        if let Some(own) = bag.value("thinking") {
            body.add("thinking", own);
        } else if let Some(thinking) = thought.field {
            body.add("thinking", thinking);
        }
        self.output(bag, thought.effort, &mut body)?;
        self.sampling(thought.on, &mut body)?;
        self.stop(&mut body)?;
        self.caller(&mut body);
        if stream && in_body.is_none() {
            body.add("stream", true);
        }
        let betas = settings::betas(self.dialect, bag)?;
        if in_body.is_some() && !betas.is_empty() {
            body.add("anthropic_beta", betas);
        }
        for (name, value) in &bag.fields {
            if !settings::NOT_IN_BODY.contains(name) {
                body.add(name, *value);
            }
        }
        Ok(body)
    }

    /// The version for this body (wire notes, "Endpoint, auth, version"): the newer one answers 400 to sampling values
    /// and to citations in what the user says.
    fn version(&self, body: &Body<'a>) -> &'static str {
        let sent = |name: &str| match body.patch.and_then(|patch| patch.get(name)) {
            Some(value) => !value.is_null(),
            None => body.has(name),
        };
        let sampling = ["temperature", "top_p", "top_k"].into_iter().any(sent);
        match self.dialect.body_version {
            Some(version) => version,
            None if sampling || self.old_rules => "2023-06-01",
            None => "2026-10-21",
        }
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

/// Does it cite anything, at any depth?
fn cites(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| (name == "citations" && is_list(value)) || cites(value)),
        Value::Array(items) => items.iter().any(cites),
        _ => false,
    }
}

/// Is it a list that holds something?
fn is_list(value: &Value) -> bool {
    value.as_array().is_some_and(|list| !list.is_empty())
}

#[cfg(test)]
mod tests;
