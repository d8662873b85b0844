//! `expect.json` of a fixture: what must come of an answer. A field that is not named is not checked.

use crate::difference::difference;
use llm_core::{ChatResponse, Error, ErrorKind, FinishKind, RateLimitSnapshot, Scope, Warning, WarningKind};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::time::Duration;

/// What must come of an answer.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Expectation {
    /// All answer text.
    pub text: Option<String>,
    /// All reasoning text.
    pub reasoning: Option<String>,
    /// What the model said instead of an answer.
    pub refusal: Option<String>,
    /// The complete calls, in order.
    pub tool_calls: Option<Vec<ExpectedCall>>,
    /// The calls that were cut off, in order.
    pub incomplete_tool_calls: Option<Vec<ExpectedIncompleteCall>>,
    /// Our word for why it ended; `other:WORD` for another word of the vendor's.
    pub finish_reason: Option<String>,
    /// What it used; an expected 0 is also met by an absent figure.
    pub usage: Option<ExpectedUsage>,
    /// All warnings, in any order.
    pub warnings: Option<Vec<ExpectedWarning>>,
    /// The model that the vendor says served it.
    pub model: Option<String>,
    /// The vendor's id of the request.
    pub request_id: Option<String>,
    /// What the headers said of limits, whole.
    pub rate_limits: Option<Box<RateLimitSnapshot>>,
    /// The call fails like this.
    pub error: Option<ExpectedError>,
    /// What a stream had brought before it failed.
    pub partial: Option<Box<Expectation>>,
    /// JSON paths of the wire text without which the answer cannot be read. (For the mutation test.)
    pub essential: Vec<String>,
}

/// A complete call of a tool.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExpectedCall {
    /// Its id; absent: any that is not empty and unlike the others.
    #[serde(default)]
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// The arguments, parsed.
    pub arguments: Value,
}

/// A call that was cut off.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExpectedIncompleteCall {
    /// Its id; absent: any.
    #[serde(default)]
    pub id: Option<String>,
    /// The tool, as far as it came.
    pub name: String,
    /// The arguments, as far as they came.
    pub arguments_raw: String,
}

/// What a call used.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ExpectedUsage {
    /// All tokens that went in.
    pub input_tokens: Option<u64>,
    /// Of these, read from the vendor's cache.
    pub cached_input_tokens: Option<u64>,
    /// Of these, written to it.
    pub cache_write_input_tokens: Option<u64>,
    /// All tokens that came out.
    pub output_tokens: Option<u64>,
    /// Of these, reasoning.
    pub reasoning_tokens: Option<u64>,
}

/// A warning, without its words.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExpectedWarning {
    /// What sort.
    pub kind: WarningKind,
    /// The field it is about.
    pub field: String,
}

/// A failure.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExpectedError {
    /// What happened.
    pub kind: ErrorKind,
    /// What it says something about.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// May the same request succeed later?
    #[serde(default)]
    pub retryable: Option<bool>,
    /// The vendor's hint in milliseconds; null: there must be none.
    #[serde(default, deserialize_with = "named")]
    pub retry_after_ms: Option<Option<u64>>,
    /// The vendor's own code.
    #[serde(default)]
    pub code: Option<String>,
    /// Words that must stand in the message.
    #[serde(default)]
    pub message_contains: Option<String>,
}

fn named<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Option<u64>>, D::Error> {
    Option::deserialize(value).map(Some)
}

impl Expectation {
    /// Everything in which a response differs; empty: it is as expected.
    pub(crate) fn differences(&self, response: &ChatResponse) -> Vec<String> {
        let mut list = Vec::new();
        let mut compare = |field: &str, expected: &Option<String>, found: String| {
            if let Some(expected) = expected
                && *expected != found
            {
                list.push(format!("{field} is {found:?}; expected {expected:?}"));
            }
        };
        compare("text", &self.text, response.text());
        compare("reasoning", &self.reasoning, response.reasoning());
        compare("refusal", &self.refusal, response.refusal().unwrap_or_default());
        compare("finish_reason", &self.finish_reason, finish_word(response));
        let meta = &response.meta;
        compare("model", &self.model, meta.model.clone().unwrap_or_default());
        compare(
            "request_id",
            &self.request_id,
            meta.request_id.clone().unwrap_or_default(),
        );
        if let Some(expected) = &self.tool_calls {
            calls(&mut list, expected, response);
        }
        if let Some(expected) = &self.incomplete_tool_calls {
            incomplete_calls(&mut list, expected, response);
        }
        if let Some(expected) = &self.usage {
            usage(&mut list, expected, response);
        }
        if let Some(expected) = &self.warnings {
            warnings(&mut list, expected, &response.warnings);
        }
        if self.rate_limits.is_some() && self.rate_limits != meta.rate_limits {
            let (found, expected) = (&meta.rate_limits, &self.rate_limits);
            list.push(format!("rate_limits is {found:?}; expected {expected:?}"));
        }
        list
    }
}

impl ExpectedError {
    /// Everything in which an error differs; empty: it is as expected.
    pub(crate) fn differences(&self, error: &Error) -> Vec<String> {
        let mut list = Vec::new();
        if error.kind() != self.kind {
            list.push(format!("the error is {error}; expected kind {}", self.kind));
        }
        if let Some(scope) = self.scope
            && error.scope() != scope
        {
            list.push(format!("scope is {:?}; expected {scope:?}", error.scope()));
        }
        if let Some(retryable) = self.retryable
            && error.retryable() != retryable
        {
            list.push(format!(
                "retryable is {}; expected {retryable}",
                error.retryable()
            ));
        }
        if let Some(hint) = self.retry_after_ms {
            let hint = hint.map(Duration::from_millis);
            if error.retry_after() != hint {
                list.push(format!(
                    "retry_after is {:?}; expected {hint:?}",
                    error.retry_after()
                ));
            }
        }
        if self.code.is_some() && error.vendor().code != self.code {
            list.push(format!(
                "code is {:?}; expected {:?}",
                error.vendor().code,
                self.code
            ));
        }
        if let Some(words) = &self.message_contains
            && !error.message().contains(words.as_str())
        {
            list.push(format!(
                "the message {:?} does not hold {words:?}",
                error.message()
            ));
        }
        list
    }
}

fn finish_word(response: &ChatResponse) -> String {
    match (response.finish.kind, &response.finish.raw) {
        (FinishKind::Other, Some(raw)) => format!("other:{raw}"),
        (kind, _) => kind.as_str().to_owned(),
    }
}

fn calls(list: &mut Vec<String>, expected: &[ExpectedCall], response: &ChatResponse) {
    let found: Vec<_> = response.tool_calls().collect();
    if found.len() != expected.len() {
        let names: Vec<_> = found.iter().map(|call| &call.name).collect();
        list.push(format!(
            "tool_calls are {names:?}; expected {} of them",
            expected.len()
        ));
        return;
    }
    for (index, (expected, call)) in expected.iter().zip(&found).enumerate() {
        match &expected.id {
            Some(id) if *id != call.id => {
                list.push(format!("tool_calls/{index}/id is {:?}; expected {id:?}", call.id));
            }
            None if call.id.is_empty() || found[..index].iter().any(|other| other.id == call.id) => {
                list.push(format!("tool_calls/{index}/id is empty or stands twice"));
            }
            _ => {}
        }
        if expected.name != call.name {
            list.push(format!(
                "tool_calls/{index}/name is {:?}; expected {:?}",
                call.name, expected.name
            ));
        }
        let arguments = call
            .parse_arguments::<Value>()
            .unwrap_or(Value::String(call.arguments.clone()));
        if let Some(difference) = difference(&expected.arguments, &arguments) {
            list.push(format!("tool_calls/{index}/arguments: {difference}"));
        }
    }
}

fn incomplete_calls(list: &mut Vec<String>, expected: &[ExpectedIncompleteCall], response: &ChatResponse) {
    let found = &response.incomplete_tool_calls;
    let same = found.len() == expected.len()
        && expected.iter().zip(found).all(|(expected, call)| {
            expected.id.as_ref().is_none_or(|id| *id == call.id)
                && expected.name == call.name
                && expected.arguments_raw == call.arguments
        });
    if !same {
        list.push(format!(
            "incomplete_tool_calls are {found:?}; expected {expected:?}"
        ));
    }
}

fn usage(list: &mut Vec<String>, expected: &ExpectedUsage, response: &ChatResponse) {
    let found = &response.usage;
    for (field, expected, found) in [
        ("input_tokens", expected.input_tokens, found.input_tokens),
        (
            "cached_input_tokens",
            expected.cached_input_tokens,
            found.cached_input_tokens,
        ),
        (
            "cache_write_input_tokens",
            expected.cache_write_input_tokens,
            found.cache_write_input_tokens,
        ),
        ("output_tokens", expected.output_tokens, found.output_tokens),
        (
            "reasoning_tokens",
            expected.reasoning_tokens,
            found.reasoning_tokens,
        ),
    ] {
        let same = match expected {
            None => true,
            Some(0) => found.unwrap_or(0) == 0,
            Some(_) => expected == found,
        };
        if !same {
            list.push(format!("usage/{field} is {found:?}; expected {expected:?}"));
        }
    }
}

fn warnings(list: &mut Vec<String>, expected: &[ExpectedWarning], found: &[Warning]) {
    let sorted = |mut pairs: Vec<(String, String)>| {
        pairs.sort();
        pairs
    };
    let pair = |kind: WarningKind, field: &str| (format!("{kind:?}"), field.to_owned());
    let found = sorted(
        found
            .iter()
            .map(|warning| pair(warning.kind, &warning.field))
            .collect(),
    );
    let expected = sorted(
        expected
            .iter()
            .map(|warning| pair(warning.kind, &warning.field))
            .collect(),
    );
    if found != expected {
        list.push(format!("warnings are {found:?}; expected {expected:?}"));
    }
}
