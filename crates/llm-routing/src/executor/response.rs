//! Answers that are none: when the next candidate is asked although one has answered.

use llm_core::error::{Error, ErrorKind};
use llm_core::{ChatRequest, ChatResponse, FinishKind, OutputFormat, Phase, Warning};
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

impl ResponseCheck {
    /// Every answer is one.
    pub fn new() -> Self {
        ResponseCheck::default()
    }

    /// One without text, call or refusal is none.
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
    /// top level must be of the schema's type too, and have its required fields.
    pub fn not_json(mut self) -> Self {
        self.not_json = true;
        self
    }

    /// One that this rule finds at fault is none; `what` says why, in logs and warnings, and holds no content.
    pub fn otherwise(
        mut self,
        what: impl Into<Arc<str>>,
        is_none: impl Fn(&ChatRequest, &ChatResponse) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.own.push((what.into(), Arc::new(is_none)));
        self
    }

    pub(super) fn doubt(&self, request: &ChatRequest, response: &ChatResponse) -> Option<Doubt> {
        // the vendor's own bytes, which nobody here reads
        if response.raw.is_some() {
            return None;
        }
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
        let own = self.own.iter().find(|(_, is_none)| is_none(request, response));
        own.map(|(what, _)| Doubt(what.clone()))
    }

    /// Of a stream at its commit point.
    pub(super) fn doubt_opened(&self, is_empty: bool) -> Option<Doubt> {
        (self.empty && is_empty).then(|| Doubt("the answer is empty".into()))
    }
}

fn is_as_asked(output: &OutputFormat, text: &str) -> bool {
    let read = || serde_json::from_str::<serde_json::Value>(text).ok();
    match output {
        OutputFormat::Json => read().is_some(),
        OutputFormat::JsonSchema { schema, .. } => read().is_some_and(|value| {
            let is_object = schema["type"] == "object";
            let required = schema["required"].as_array().into_iter().flatten();
            let mut names = required.filter_map(|name| name.as_str());
            (!is_object || value.is_object()) && names.all(|name| value.get(name).is_some())
        }),
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
