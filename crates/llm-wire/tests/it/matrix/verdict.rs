//! What became of one fact.

use super::facts::{Fact, Inbound};
use super::targets::Target;
use llm_core::ErrorKind;
use serde_json::Value;
use std::fmt;

/// What became of one fact.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It stands in the request that is sent; with the warnings that came with it.
    Sent(Vec<String>),
    /// Nothing is sent: the error and the field it names.
    Refused(ErrorKind, String),
    /// It is not sent, and the response will say so.
    Warned(Vec<String>),
    /// It is not sent, by a rule that the format's documentation states.
    KeptBack(&'static str),
    /// None of these.
    Lost(Value),
}

pub(super) fn verdict(inbound: Inbound, body: &Value, fact: &Fact, target: &Target) -> Verdict {
    let decoded = match inbound.decode(body) {
        Ok(decoded) => decoded,
        Err(error) => return Verdict::Refused(error.kind(), error.message().to_owned()),
    };
    let (sent, warnings) = match (target.encode)(&decoded.request) {
        Ok(encoded) => encoded,
        Err(error) => {
            assert!(
                matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidRequest),
                "{error}"
            );
            return Verdict::Refused(error.kind(), error.message().to_owned());
        }
    };
    let mut fields: Vec<_> = decoded
        .warnings
        .iter()
        .chain(&warnings)
        .map(|warning| warning.field.clone())
        .collect();
    fields.dedup();
    if fact.stands_in(&sent) {
        return Verdict::Sent(fields);
    }
    match fact.rule {
        _ if !fields.is_empty() => Verdict::Warned(fields),
        Some(rule) => Verdict::KeptBack(rule),
        None => Verdict::Lost(sent),
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Sent(fields) if fields.is_empty() => f.write_str("sent"),
            Verdict::Sent(fields) => write!(f, "sent, with a warning on {}", fields.join(", ")),
            Verdict::Refused(kind, message) => write!(f, "refused, {kind:?}: {message}"),
            Verdict::Warned(fields) => write!(f, "warned: {}", fields.join(", ")),
            Verdict::KeptBack(rule) => write!(f, "kept back: {rule}"),
            Verdict::Lost(_) => f.write_str("LOST"),
        }
    }
}
