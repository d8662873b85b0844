//! A breaker: the real driver within the real layer, over scripted answers, on a fake clock.

mod expected;

use super::{ask_patiently, told, unmet};
use crate::arrivals::NotingTransport;
use crate::case::{Case, Fault, Fields, list};
use crate::form::{self, Form};
use crate::script::{self, Scripted};
use crate::subject::{self, Setup, Subject, broken, model, on_fake_time};
use expected::Seen;
use llm_core::{ChatRequest, Clock};
use llm_driver_testkit::{Exhausted, ScriptedTransport, TestClock};
use llm_resilience::{BreakerLayer, BreakerPolicy, BreakerState};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// What is run here, for faults.
const WHAT: &str = "breakers";
/// More calls at once than a case can mean.
const MOST_CALLS: u64 = 10_000;

pub(super) fn supported(input: &Value) -> Result<(), Fault> {
    form::supported(input, WHAT)
}

pub(super) fn run(case: &Case) -> Result<Vec<String>, Fault> {
    let script = Script::read(&case.input)?;
    for (place, expected) in case.places() {
        expected::check(expected, &place, script.steps.len())?;
    }
    let ways: &[(&str, bool)] = if script.stream {
        &[("whole", false), ("byte by byte", true)]
    } else {
        &[("", false)]
    };
    let mut found = Vec::new();
    for (way, bytewise) in ways {
        let seen = on_fake_time(script.play(*bytewise))??;
        let lines = unmet(&case.outcomes, |expected| expected::differences(expected, &seen));
        found.extend(told(way, lines));
    }
    Ok(found)
}

/// The input of a case.
struct Script {
    form: Form,
    policy: BreakerPolicy,
    steps: Vec<Step>,
    stream: bool,
}

/// What is under test, and the vendor before it.
struct Stack {
    subject: Arc<Subject>,
    transport: Arc<NotingTransport>,
    layer: BreakerLayer,
}

struct Step {
    at: Option<Duration>,
    calls: u64,
    cancel_at: Option<Duration>,
    answers: Vec<Scripted>,
}

impl Script {
    fn read(input: &Value) -> Result<Script, Fault> {
        let mut fields = Fields::of(input, "input")?;
        let form = Form::of(fields.optional_text("dialect")?.unwrap_or("openai"), WHAT)?;
        let policy = policy(fields.required("config")?, &fields.at("config"))?;
        let at = fields.at("steps");
        let steps = list(fields.required("steps")?, &at)?.iter().enumerate();
        let steps: Vec<Step> = steps
            .map(|(number, step)| Step::read(step, &format!("{at}[{number}]")))
            .collect::<Result<_, _>>()?;
        fields.end()?;
        Ok(Script {
            form,
            policy,
            stream: steps
                .iter()
                .flat_map(|step| &step.answers)
                .any(Scripted::is_stream),
            steps,
        })
    }

    /// All steps, one after the other, on one stack: a new one would try a refused credential again.
    async fn play(&self, bytewise: bool) -> Result<Vec<Seen>, Fault> {
        let layer = BreakerLayer::new(self.policy.clone());
        let setup = Setup::of_simulation().bytewise(bytewise);
        let transport = ScriptedTransport::new([]).with_exhausted(Exhausted::RepeatLast);
        let transport = Arc::new(NotingTransport::new(setup.deliver(transport)));
        let subject = Subject::over(self.form, &setup, transport.clone()).map_err(|error| broken(&error))?;
        let stack = Stack {
            subject: Arc::new(subject.within(&layer)),
            transport,
            layer,
        };
        let request = subject::request().map_err(|error| broken(&error))?;
        let clock = TestClock::new();
        let start = clock.now();
        let left_until = |at: Duration| (start + at).saturating_duration_since(clock.now());
        let mut seen = Vec::new();
        for step in &self.steps {
            if let Some(at) = step.at {
                tokio::time::sleep(left_until(at)).await;
            }
            let patience = step.cancel_at.map(left_until);
            seen.push(self.play_step(step, &stack, &request, patience).await?);
        }
        Ok(seen)
    }

    async fn play_step(
        &self,
        step: &Step,
        stack: &Stack,
        request: &ChatRequest,
        patience: Option<Duration>,
    ) -> Result<Seen, Fault> {
        let Stack {
            subject,
            transport,
            layer,
        } = stack;
        let answers = step
            .answers
            .iter()
            .map(|answer| answer.answer(self.form, self.stream));
        transport.set_answers(answers);
        let before = transport.arrivals().len();
        let mut running = JoinSet::new();
        for _ in 0..step.calls {
            let (subject, request, stream) = (Arc::clone(subject), request.clone(), self.stream);
            running.spawn(async move {
                let call = ask_patiently(&subject, &request, stream);
                match patience {
                    // Its caller goes away, and with it the call.
                    Some(patience) => drop(tokio::time::timeout(patience, call).await),
                    None => drop(call.await),
                }
            });
        }
        while let Some(joined) = running.join_next().await {
            if let Err(error) = joined {
                std::panic::resume_unwind(error.into_panic());
            }
        }
        let model = model().map_err(|error| broken(&error))?;
        Ok(Seen {
            passed: transport.arrivals().len() - before,
            state: match layer.state(subject.driver.info(), &model) {
                BreakerState::Open => "open",
                BreakerState::HalfOpen => "half_open",
                _ => "closed",
            },
        })
    }
}

impl Step {
    fn read(step: &Value, at: &str) -> Result<Step, Fault> {
        let mut fields = Fields::of(step, at)?;
        let calls = match fields.text("op")? {
            "call" => 1,
            "concurrent_call" => fields.count("n")?,
            other => return Err(Fault::unknown("operation", other)),
        };
        if !(1..=MOST_CALLS).contains(&calls) {
            return Err(Fault::malformed(format!("{calls} calls at once cannot be run")));
        }
        let upstream = fields.required("upstream")?;
        let answers = if upstream.is_array() {
            script::read(upstream, &fields.at("upstream"))?
        } else {
            vec![Scripted::read(upstream, &fields.at("upstream"))?]
        };
        let step = Step {
            at: fields.optional_millis("at_ms")?,
            calls,
            cancel_at: fields.optional_millis("cancel_at_ms")?,
            answers,
        };
        fields.end()?;
        Ok(step)
    }
}

/// `config`. What it does not name is as in the layer, but that no share of failures opens it, and that it is open
/// for the same time whenever it opens.
fn policy(config: &Value, at: &str) -> Result<BreakerPolicy, Fault> {
    let mut fields = Fields::of(config, at)?;
    let mut policy = BreakerPolicy::default();
    if let Some(failures) = fields.optional_count("failures_to_open")? {
        policy.failures = u32::try_from(failures).unwrap_or(u32::MAX);
    }
    if let Some(open) = fields.optional_millis("open_ms")? {
        policy.open = open;
    }
    if let Some(probes) = fields.optional_count("half_open_probes")? {
        policy.half_open_probes = u32::try_from(probes).unwrap_or(u32::MAX);
    }
    fields.end()?;
    let (open, window) = (policy.open, policy.window);
    Ok(policy
        .with_longest_open(open)
        .with_jitter_percent(0)
        .with_share(u32::MAX, u32::MAX, window))
}
