//! Retries: the real driver within the real layer, over scripted answers, on a fake clock.

mod expected;

use super::{ask_patiently, request, told, unmet};
use crate::arrivals::NotingTransport;
use crate::case::{Case, Fault, Fields};
use crate::form::{self, Form};
use crate::outcome;
use crate::script::{self, Scripted};
use crate::subject::{self, Setup, Subject, broken, on_fake_time};
use expected::Call;
use llm_core::{ChatRequest, Error};
use llm_driver_testkit::{Exhausted, ScriptedTransport};
use llm_resilience::{Jitter, RetryLayer, RetryPolicy};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// What is run here, for faults.
const WHAT: &str = "retries";
/// More callers than a case can mean.
const MOST_CALLERS: u64 = 10_000;

pub(super) fn supported(input: &Value) -> Result<(), Fault> {
    form::supported(input, WHAT)
}

pub(super) fn run(case: &Case) -> Result<Vec<String>, Fault> {
    for (place, expected) in case.places() {
        expected::check(expected, &place)?;
    }
    let script = Script::read(&case.input)?;
    let ways: &[(&str, bool)] = if script.stream {
        &[("whole", false), ("byte by byte", true)]
    } else {
        &[("", false)]
    };
    let mut found = Vec::new();
    let mut first: Option<Vec<Call>> = None;
    for (way, bytewise) in ways {
        let calls = on_fake_time(script.play(*bytewise))??;
        let mut lines = unmet(&case.outcomes, |expected| expected::differences(expected, &calls));
        lines.extend(calls.iter().filter_map(|call| call.illegal.clone()));
        match &first {
            Some(first) => lines.extend(expected::ways_differ(first, &calls)),
            None => first = Some(calls),
        }
        found.extend(told(way, lines));
    }
    Ok(found)
}

/// The input of a case.
struct Script {
    form: Form,
    policy: RetryPolicy,
    answers: Vec<Scripted>,
    callers: u64,
    request: ChatRequest,
    stream: bool,
}

impl Script {
    fn read(input: &Value) -> Result<Script, Fault> {
        let mut fields = Fields::of(input, "input")?;
        let form = Form::of(fields.optional_text("dialect")?.unwrap_or("openai"), WHAT)?;
        let policy = policy(fields.required("policy")?, &fields.at("policy"))?;
        let answers = script::read(fields.required("upstream")?, &fields.at("upstream"))?;
        let callers = fields.optional_count("callers")?.unwrap_or(1);
        if !(1..=MOST_CALLERS).contains(&callers) {
            return Err(Fault::malformed(format!("{} callers cannot be run", callers)));
        }
        let (request, asked_for_a_stream) = match fields.optional("request") {
            Some(request) => request::read(form, request, &fields.at("request"))?,
            None => (subject::request().map_err(|error| broken(&error))?, false),
        };
        fields.end()?;
        Ok(Script {
            form,
            policy,
            stream: asked_for_a_stream || answers.iter().any(Scripted::is_stream),
            answers,
            callers,
            request,
        })
    }

    /// All callers at once, within one layer, each in front of a vendor of its own.
    async fn play(&self, bytewise: bool) -> Result<Vec<Call>, Fault> {
        let layer = RetryLayer::new(self.policy.clone());
        let setup = Setup::of_simulation().bytewise(bytewise);
        let mut running = JoinSet::new();
        for caller in 0..self.callers {
            let call = self.prepare(&layer, &setup).map_err(|error| broken(&error))?;
            running.spawn(async move { (caller, call.await) });
        }
        let mut calls = Vec::new();
        while let Some(joined) = running.join_next().await {
            match joined {
                Ok(call) => calls.push(call),
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            }
        }
        calls.sort_by_key(|(caller, _)| *caller);
        Ok(calls.into_iter().map(|(_, call)| call).collect())
    }

    /// The call of one caller.
    fn prepare(
        &self,
        layer: &RetryLayer,
        setup: &Setup,
    ) -> Result<impl Future<Output = Call> + Send + 'static, Error> {
        let answers = self
            .answers
            .iter()
            .map(|answer| answer.answer(self.form, self.stream));
        let transport = ScriptedTransport::new(answers).with_exhausted(Exhausted::RepeatLast);
        let transport = Arc::new(NotingTransport::new(setup.deliver(transport)));
        let subject = Subject::over(self.form, setup, transport.clone())?.within(layer);
        let (request, stream) = (self.request.clone(), self.stream);
        let delays: Vec<Duration> = self.answers.iter().map(|answer| answer.delay).collect();
        Ok(async move {
            let began = subject.cx.clock().now();
            let asked = ask_patiently(&subject, &request, stream).await;
            let exchanges = exchanges(&transport.arrivals(), &delays);
            let last_answer = exchanges.last().map_or(began, |(_, answered)| *answered);
            let after = (began + asked.known_at).saturating_duration_since(last_answer);
            Call {
                attempts: exchanges.len(),
                waits: exchanges
                    .windows(2)
                    .map(|pair| pair[1].0.saturating_duration_since(pair[0].1))
                    .collect(),
                result: outcome::with_time(asked.outcome, after),
                illegal: asked.illegal,
            }
        })
    }
}

/// When each request arrived, and when it was answered. The last delay repeats, as the last answer does.
fn exchanges(arrivals: &[Instant], delays: &[Duration]) -> Vec<(Instant, Instant)> {
    let delays = delays.iter().chain(delays.last().into_iter().cycle());
    let each = arrivals.iter().zip(delays);
    each.map(|(arrived, delay)| (*arrived, *arrived + *delay))
        .collect()
}

/// `policy`. What it does not name is as in the layer, but for what the format has a default for.
fn policy(policy: &Value, at: &str) -> Result<RetryPolicy, Fault> {
    let mut fields = Fields::of(policy, at)?;
    let mut policy = RetryPolicy::default().with_budget(None);
    if let Some(attempts) = fields.optional_count("max_attempts")? {
        policy.max_attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
    }
    if let Some(base) = fields.optional_millis("base_ms")? {
        policy.base = base;
    }
    if let Some(cap) = fields.optional_millis("cap_ms")? {
        policy.cap = cap;
    }
    policy.max_wait = fields.optional_millis("max_wait_ms")?;
    policy.jitter = match fields.optional_text("jitter")? {
        None | Some("full") => Jitter::Full,
        Some(other) => return Err(Fault::unknown("jitter", other)),
    };
    fields.end()?;
    Ok(policy)
}
