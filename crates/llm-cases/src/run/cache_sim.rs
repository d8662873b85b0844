//! Caching: the real driver within the real layer, over the answers of a vendor that is asked only when the cache has
//! none.

mod expected;

use super::{ask_patiently, request, told, unmet};
use crate::case::{Case, Fault, Fields, list};
use crate::form::{self, Form};
use crate::script::Scripted;
use crate::subject::{Setup, Subject, broken, on_fake_time};
use expected::Step;
use llm_core::ChatRequest;
use llm_driver_testkit::{ScriptedTransport, TestClock};
use llm_resilience::cache::MemoryStore;
use llm_resilience::{CacheLayer, CacheNamespace, CachePolicy, CachedStreams};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// What is run here, for faults.
const WHAT: &str = "caching";
/// More room than a case can need.
const STORE_BYTES: u64 = 64 << 20;

pub(super) fn supported(input: &Value) -> Result<(), Fault> {
    form::supported(input, WHAT)
}

pub(super) fn run(case: &Case) -> Result<Vec<String>, Fault> {
    for (place, expected) in case.places() {
        expected::check(expected, &place)?;
    }
    let script = Script::read(&case.input)?;
    let ways: &[(&str, bool)] = if script.has_streams() {
        &[("whole", false), ("byte by byte", true)]
    } else {
        &[("", false)]
    };
    let mut found = Vec::new();
    for (way, bytewise) in ways {
        let steps = on_fake_time(script.play(*bytewise))??;
        let mut lines = unmet(&case.outcomes, |expected| expected::differences(expected, &steps));
        lines.extend(steps.iter().filter_map(|step| step.illegal.clone()));
        found.extend(told(way, lines));
    }
    Ok(found)
}

/// The input of a case.
struct Script {
    form: Form,
    calls: Vec<Call>,
}

/// One step of it.
struct Call {
    request: ChatRequest,
    stream: bool,
    /// For whom it is made.
    tenant: Option<String>,
    /// What the vendor answers, if it is asked.
    upstream: Scripted,
}

impl Script {
    fn read(input: &Value) -> Result<Script, Fault> {
        let mut fields = Fields::of(input, "input")?;
        let form = Form::of(fields.optional_text("dialect")?.unwrap_or("openai"), WHAT)?;
        let at = fields.at("steps");
        let mut calls = Vec::new();
        for (number, step) in list(fields.required("steps")?, &at)?.iter().enumerate() {
            calls.push(Call::read(form, step, &format!("{at}[{number}]"))?);
        }
        fields.end()?;
        // One stream makes all of them streams.
        if calls.iter().any(|call| call.upstream.is_stream()) {
            calls.iter_mut().for_each(|call| call.stream = true);
        }
        Ok(Script { form, calls })
    }

    fn has_streams(&self) -> bool {
        self.calls.iter().any(|call| call.stream)
    }

    /// All calls, one after the other, in front of one cache.
    async fn play(&self, bytewise: bool) -> Result<Vec<Step>, Fault> {
        let setup = Setup::of_simulation().bytewise(bytewise);
        let transport = Arc::new(setup.deliver(ScriptedTransport::new([])));
        let layer = CacheLayer::new(
            policy(),
            Arc::new(MemoryStore::new(STORE_BYTES, TestClock::shared())),
        );
        let mut subject = Subject::over(self.form, &setup, transport.clone())
            .map_err(|error| broken(&error))?
            .within(&layer);
        let alone = subject.cx.clone();
        let mut steps = Vec::new();
        for call in &self.calls {
            transport.set_answers([call.upstream.answer(self.form, call.stream)]);
            subject.cx = match &call.tenant {
                Some(tenant) => alone.clone().with_extension(CacheNamespace::new(tenant.as_str())),
                None => alone.clone(),
            };
            let before = transport.request_count();
            let asked = ask_patiently(&subject, &call.request, call.stream).await;
            steps.push(Step {
                was_asked: transport.request_count() > before,
                result: asked.outcome,
                illegal: asked.illegal,
            });
        }
        Ok(steps)
    }
}

impl Call {
    fn read(form: Form, step: &Value, at: &str) -> Result<Call, Fault> {
        let mut fields = Fields::of(step, at)?;
        let at = fields.at("request");
        let mut asked = match fields.required("request")? {
            // As it came off the wire, keys in this order.
            Value::String(text) => serde_json::from_str(text)
                .map_err(|error| Fault::malformed(format!("{at} is no JSON text: {error}")))?,
            value => value.clone(),
        };
        let upstream = Scripted::read(fields.required("upstream")?, &fields.at("upstream"))?;
        fields.end()?;
        // Not the vendor's: who the tenant is, the cache's owner knows.
        let tenant = match asked.as_object_mut().and_then(|asked| asked.remove("user_scope")) {
            None => None,
            Some(Value::String(tenant)) => Some(tenant),
            Some(_) => return Err(Fault::malformed(format!("{at}.user_scope is no text"))),
        };
        let (request, stream) = request::read(form, &asked, &at)?;
        // Thoughts are wanted in every case; not every form has a word for it.
        let reasoning = request.reasoning.unwrap_or_default().with_include(true);
        Ok(Call {
            request: request.with_reasoning(reasoning),
            stream,
            tenant,
            upstream,
        })
    }
}

/// On for every request, and nothing expires.
fn policy() -> CachePolicy {
    CachePolicy::default()
        .with_ttl(Duration::MAX)
        .with_tool_calls(true)
        .with_max_temperature(None)
        .with_streams(CachedStreams::Replay)
}
