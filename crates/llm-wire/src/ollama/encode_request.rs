//! Neutral → wire, for requests.
//!
//! Everything a request holds is sent, refused (`Unsupported` where this format or model cannot do it,
//! `InvalidRequest` where nobody could), or reported as a warning. What is not set is not sent, but for two fields
//! whose defaults nobody wants: `stream`, and that long prompts are cut in silence. The body is written straight from
//! the borrowed request; no tree is built.

mod messages;
mod own_options;
mod results;
mod settings;
mod thinking;
mod tools;

use super::dialect::Dialect;
use super::request_types::Fields;
use crate::bag;
use crate::body::expected_length;
use crate::pieces;
use llm_core::{ChatRequest, Error, ErrorKind, ResolvedModel, Result, Warning};
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
}

/// Encodes a request for this model of this server. `stream` asks for a stream.
///
/// What the format cannot say in its own words is carried like this:
///
/// | neutral | on the wire |
/// |---|---|
/// | several texts of a message | one, line by line |
/// | pictures and sound | bytes beside the text, wherever they stood; by address they are refused |
/// | a failed tool result | the text begins with `Error: `, unless it begins with that word anyway |
/// | pictures in a tool result | in a `user` message after the results of the turn, and a warning |
/// | a call without a result | a placeholder result, and a warning |
/// | a result without a call, or a second one | left out with a warning: as user text it would gain authority |
/// | arguments that are no JSON object | `{}`, and a warning |
/// | thoughts of this server | `thinking` of their message; others are left out, with a warning where they have state |
/// | no tool may be called | no tools |
/// | a tool must be called | a sentence among the instructions (of a named tool: with that tool only), and a warning |
/// | a strict tool | as any other, and a warning |
/// | an effort | a level where the model is known to take levels, else thinking on or off, and a warning |
/// | the name of a schema | nowhere: it is a label |
/// | a prompt that is longer than the window | an error of the server's ([`Dialect::cuts_long_prompts`]) |
///
/// Of the request's options bag, the namespace of the dialect's vendor is read. Keys that the dialect lists
/// ([`Dialect::option_keys`]) go into the body or its `options` as they are and win over a neutral field of the same
/// meaning; unknown ones are refused. Under `body` stands an object whose fields take the place of the body's as the
/// very last resort, inside of `options` field by field (null leaves a field out).
/// Where it holds options of other vendors alone, each is named in a warning; beside options of this vendor they are
/// for another target.
///
/// ```
/// use llm_core::{ChatRequest, ModelId, ResolvedModel};
/// use llm_wire::ollama::{Dialect, encode_request};
/// let model = ResolvedModel::unknown(ModelId::new("qwen4:8b")?);
/// let encoded = encode_request(&Dialect::ollama(), &model, &ChatRequest::user("hi"), false)?;
/// assert_eq!(
///     encoded.body,
///     br#"{"model":"qwen4:8b","messages":[{"role":"user","content":"hi"}],"stream":false,"truncate":false}"#
/// );
/// # Ok::<(), llm_core::Error>(())
/// ```
///
/// # Errors
/// `InvalidRequest`, when the request is nonsense (no messages, a number that is none, a choice of a tool that
/// is not offered); `Unsupported`, when it asks for what this format or model cannot do, a key of the vendor's
/// options bag that is not known included. The error names the field.
pub fn encode_request(
    dialect: &Dialect,
    model: &ResolvedModel,
    request: &ChatRequest,
    stream: bool,
) -> Result<EncodedRequest> {
    let mut encoding = Encoding {
        dialect,
        model,
        request,
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
    })
}

/// One request on its way to the wire.
struct Encoding<'a> {
    dialect: &'a Dialect,
    model: &'a ResolvedModel,
    request: &'a ChatRequest,
    warnings: Vec<Warning>,
}

impl<'a> Encoding<'a> {
    fn body(&mut self, stream: bool) -> Result<Fields<'a>> {
        let own = OwnOptions::read(self.dialect, self.request)?;
        let mut body = Fields::new(own.bag.patch);
        let mut options = Fields::new(None);
        body.add("model", self.model.id.as_str());
        let mut messages = self.messages()?;
        self.tools(&mut body, &mut messages)?;
        body.add("messages", messages);
        own.add(&mut body, &mut options);
        self.output(&mut body)?;
        self.thinking(&mut body)?;
        body.add("stream", stream);
        if !self.dialect.cuts_long_prompts {
            body.add("truncate", false);
        }
        self.sampling(&mut options)?;
        self.limits(&mut options)?;
        body.add_object("options", options);
        self.caller();
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
