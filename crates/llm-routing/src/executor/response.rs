//! Answers that are none: when the next candidate is asked although one has answered.

use crate::observer::guarded;
use llm_core::error::{Error, ErrorKind};
use llm_core::{
    Attempt, CallContext, ChatRequest, ChatResponse, FinishKind, OutputFormat, Phase, RateLimitSnapshot,
    Usage, Warning,
};
use serde::de::IgnoredAny;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// When an answer is none. Everything is off until it is switched on.
///
/// ```
/// use llm_core::{ChatRequest, ChatResponse};
/// use llm_routing::{PlanExecutor, ResponseCheck};
/// let check = ResponseCheck::new()
///     .empty()
///     .refusal()
///     .not_json()
///     .otherwise("too short", |_request, response| response.text().len() < 3);
/// let executor = PlanExecutor::new().with_response_check(check);
/// ```
#[derive(Clone, Default)]
#[must_use = "a check does nothing until an executor has it"]
pub struct ResponseCheck {
    empty: bool,
    refusal: bool,
    not_json: bool,
    own: Vec<(Arc<str>, Arc<Judge>)>,
}

type Judge = dyn Fn(&ChatRequest, &ChatResponse) -> bool + Send + Sync;

/// Why an answer is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Doubt(Arc<str>);

/// An answer that is none, and what is known of it beside that.
#[derive(Debug)]
pub(super) struct Doubted {
    pub(super) doubt: Doubt,
    pub(super) usage: Usage,
    pub(super) limits: Option<Box<RateLimitSnapshot>>,
    /// What its stack logged.
    pub(super) attempts: Vec<Attempt>,
}

impl ResponseCheck {
    /// Every answer is one.
    pub fn new() -> Self {
        ResponseCheck::default()
    }

    /// One without text, call or refusal is none. (In a stream thought counts as content too: it has been shown by then.)
    pub fn empty(mut self) -> Self {
        self.empty = true;
        self
    }

    /// One in which the model refuses, or in which its vendor filtered the content, is none.
    pub fn refusal(mut self) -> Self {
        self.refusal = true;
        self
    }

    /// Where JSON was asked for, by a schema or without, a text that is no JSON is none. For a schema the
    /// top level must be of one of the schema's types too, and an object must have its required fields.
    pub fn not_json(mut self) -> Self {
        self.not_json = true;
        self
    }

    /// One that this rule finds at fault is none; `what` says why, in logs and warnings, and holds no content. A rule that
    /// panics finds nothing: an answer that was paid for is not lost by it.
    pub fn otherwise(
        mut self,
        what: impl Into<Arc<str>>,
        is_none: impl Fn(&ChatRequest, &ChatResponse) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.own.push((what.into(), Arc::new(is_none)));
        self
    }

    pub(super) fn doubt(
        &self,
        cx: &CallContext,
        request: &ChatRequest,
        response: &ChatResponse,
    ) -> Option<Doubted> {
        // the vendor's own bytes, which nobody here reads
        if cx.raw().is_some() && response.raw.is_some() {
            return None;
        }
        Some(Doubted {
            doubt: self.find(request, response)?,
            usage: response.usage,
            limits: response.meta.rate_limits.clone(),
            attempts: response.attempts.clone(),
        })
    }

    fn find(&self, request: &ChatRequest, response: &ChatResponse) -> Option<Doubt> {
        let has_calls = response.tool_calls().next().is_some();
        let refused = response.refusal().is_some()
            || matches!(
                response.finish.kind,
                FinishKind::Refusal | FinishKind::ContentFilter
            );
        if self.refusal && refused {
            return Some(Doubt("the model refuses".into()));
        }
        if self.empty && !has_calls && !refused && response.text().is_empty() {
            return Some(Doubt("the answer is empty".into()));
        }
        if self.not_json && !has_calls && !refused && !is_as_asked(&request.output, &response.text()) {
            return Some(Doubt("the answer is not the JSON that was asked for".into()));
        }
        let judged = |judge: &Judge| guarded("a response check", || judge(request, response));
        let own = self
            .own
            .iter()
            .find(|(_, is_none)| judged(&**is_none) == Some(true));
        own.map(|(what, _)| Doubt(what.clone()))
    }

    /// Of a stream at its commit point.
    pub(super) fn doubt_opened(&self, is_empty: bool) -> Option<Doubt> {
        (self.empty && is_empty).then(|| Doubt("the answer is empty".into()))
    }
}

fn is_as_asked(output: &OutputFormat, text: &str) -> bool {
    // This reads what is nested deeper, and numbers that are larger, than a value can hold.
    let is_json = || serde_json::from_str::<IgnoredAny>(text).is_ok();
    let read = || serde_json::from_str::<Value>(text);
    match output {
        OutputFormat::Json => is_json(),
        OutputFormat::JsonSchema { schema, .. } => read().map_or_else(
            |_| is_json(),
            |value| {
                let required = schema["required"].as_array().into_iter().flatten();
                let mut names = required.filter_map(Value::as_str);
                is_of(&schema["type"], &value)
                    && (!value.is_object() || names.all(|name| value.get(name).is_some()))
            },
        ),
        _ => true,
    }
}

/// Is the value of this type, or of one of these? What is no type of JSON Schema says nothing.
fn is_of(types: &Value, value: &Value) -> bool {
    match types {
        Value::String(name) => match name.as_str() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            "number" => value.is_number(),
            // 2.0 is one too
            "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            _ => true,
        },
        Value::Array(several) => several.is_empty() || several.iter().any(|one| is_of(one, value)),
        _ => true,
    }
}

impl Doubt {
    /// As a failure that lets the plan go on.
    pub(super) fn error(&self) -> Error {
        Error::new(ErrorKind::Protocol, self.0.to_string()).with_phase(Phase::Sent)
    }

    /// As it stands in the answer, when there is no better one.
    pub(super) fn warning(&self) -> Warning {
        Warning::option(
            "output",
            format!("{}; no other candidate had a better one", self.0),
        )
    }
}

impl fmt::Debug for ResponseCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own: Vec<_> = self.own.iter().map(|(what, _)| what).collect();
        f.debug_struct("ResponseCheck")
            .field("empty", &self.empty)
            .field("refusal", &self.refusal)
            .field("not_json", &self.not_json)
            .field("own", &own)
            .finish()
    }
}
