//! Limits: the real driver within the real limiter and bulkhead, over scripted answers, on a fake clock.

mod expected;
mod held;

use super::{request, told, unmet};
use crate::case::{Case, Fault, Fields, list};
use crate::form::{self, Form};
use crate::script::Scripted;
use crate::subject::{self, Setup, Subject, broken, on_fake_time};
use expected::Seen;
use held::Held;
use llm_core::{CallContext, ChatDriver, ChatRequest, Clock, Error, Rejection};
use llm_driver_testkit::{Answer, ScriptedTransport, TestClock};
use llm_resilience::{
    BulkheadLayer, BulkheadPolicy, LimitReason, RateLimitLayer, RateLimitPolicy, Refusal, TokenEstimate,
};
use serde_json::Value;
use std::collections::HashMap;
use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// What is run here, for faults.
const WHAT: &str = "limits";
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
    let mut found = Vec::new();
    for (way, bytewise) in [("whole", false), ("byte by byte", true)] {
        let seen = on_fake_time(script.play(bytewise))??;
        let lines = unmet(&case.outcomes, |expected| expected::differences(expected, &seen));
        found.extend(told(way, lines));
    }
    Ok(found)
}

/// The input of a case.
struct Script {
    form: Form,
    limits: Limits,
    steps: Vec<Step>,
}

#[derive(Default)]
struct Limits {
    requests: Option<u64>,
    tokens: Option<u64>,
    concurrency: Option<u32>,
}

struct Step {
    at: Option<Duration>,
    kind: Kind,
}

enum Kind {
    /// Begin, be answered, end.
    Call(Begin, Scripted),
    /// Begin, so many at once, and stay.
    Start(Begin, Option<String>, u64),
    /// The answer comes.
    Finish(String, Scripted),
    /// The caller goes away.
    Drop(String),
}

/// How a call begins.
struct Begin {
    request: ChatRequest,
    stream: bool,
    /// The tokens it takes; absent: what the limiter makes of the request.
    estimate: Option<u64>,
}

impl Script {
    fn read(input: &Value) -> Result<Script, Fault> {
        let mut fields = Fields::of(input, "input")?;
        let form = Form::of(fields.optional_text("dialect")?.unwrap_or("openai"), WHAT)?;
        let limits = Limits::read(fields.required("limits")?, &fields.at("limits"))?;
        let at = fields.at("steps");
        let steps = list(fields.required("steps")?, &at)?.iter().enumerate();
        let steps = steps
            .map(|(number, step)| Step::read(form, step, &format!("{at}[{number}]")))
            .collect::<Result<_, _>>()?;
        fields.end()?;
        Ok(Script { form, limits, steps })
    }

    /// All steps, one after the other, within the same layers.
    async fn play(&self, bytewise: bool) -> Result<Vec<Seen>, Fault> {
        let mut calls = Calls {
            form: self.form,
            layers: Layers::new(&self.limits),
            setup: Setup::of_simulation().bytewise(bytewise),
            open: HashMap::new(),
            unnamed: Vec::new(),
        };
        let clock = TestClock::new();
        let start = clock.now();
        let mut seen = Vec::new();
        for step in &self.steps {
            if let Some(at) = step.at {
                tokio::time::sleep((start + at).saturating_duration_since(clock.now())).await;
            }
            seen.push(calls.play(&step.kind).await?);
        }
        Ok(seen)
    }
}

/// The limiter with the bulkhead inside it: a call that has no room to run costs no request.
struct Layers {
    limiter: RateLimitLayer,
    bulkhead: Option<BulkheadLayer>,
}

impl Layers {
    fn new(limits: &Limits) -> Self {
        let policy = RateLimitPolicy::default()
            .with_requests_per_minute(limits.requests)
            .with_tokens_per_minute(limits.tokens)
            .with_assumed_output_tokens(0)
            .with_max_wait(Duration::ZERO);
        let bulkhead = |calls| BulkheadLayer::new(BulkheadPolicy::new(calls).with_max_queue(0));
        Layers {
            limiter: RateLimitLayer::new(policy),
            bulkhead: limits.concurrency.map(bulkhead),
        }
    }

    fn around(&self, subject: Subject) -> Subject {
        let subject = match &self.bulkhead {
            Some(bulkhead) => subject.within(bulkhead),
            None => subject,
        };
        subject.within(&self.limiter)
    }
}

/// The calls that run.
struct Calls {
    form: Form,
    layers: Layers,
    setup: Setup,
    open: HashMap<String, Open>,
    /// Those that no later step names.
    unnamed: Vec<Open>,
}

/// A call on its way. Dropped, its caller goes away.
struct Open {
    answer: oneshot::Sender<Answer>,
    stream: bool,
    running: JoinSet<Result<(), Error>>,
}

impl Calls {
    async fn play(&mut self, kind: &Kind) -> Result<Seen, Fault> {
        match kind {
            Kind::Call(begin, answer) => {
                let begun = self.begin(begin).await?;
                Ok(match begun {
                    Ok(open) => {
                        finish(open, answer, self.form).await;
                        Seen::admitted(1)
                    }
                    Err(reason) => Seen::refused(reason),
                })
            }
            Kind::Start(begin, id, calls) => {
                let mut seen = Seen::default();
                for _ in 0..*calls {
                    match self.begin(begin).await? {
                        Ok(open) => {
                            seen.admitted += 1;
                            match id {
                                Some(id) => drop(self.open.insert(id.clone(), open)),
                                None => self.unnamed.push(open),
                            }
                        }
                        Err(reason) => seen.reason = Some(reason),
                    }
                }
                Ok(seen)
            }
            Kind::Finish(id, answer) => {
                if let Some(open) = self.open.remove(id) {
                    finish(open, answer, self.form).await;
                }
                Ok(Seen::default())
            }
            Kind::Drop(id) => {
                if let Some(mut open) = self.open.remove(id) {
                    open.running.shutdown().await;
                }
                Ok(Seen::default())
            }
        }
    }

    /// Begins a call; refused, the word for the limit that has no room.
    async fn begin(&self, begin: &Begin) -> Result<Result<Open, &'static str>, Fault> {
        let (answer, later) = oneshot::channel();
        let (reached, mut arrival) = oneshot::channel();
        let transport = self.setup.deliver(ScriptedTransport::new([]));
        let transport = Arc::new(Held::new(transport, later, reached));
        let subject = Subject::over(self.form, &self.setup, transport).map_err(|error| broken(&error))?;
        let subject = self.layers.around(subject);
        let mut cx = subject.cx.clone();
        if let Some(tokens) = begin.estimate {
            cx = cx.with_extension(TokenEstimate::new(tokens));
        }
        let (request, stream) = (begin.request.clone(), begin.stream);
        let mut running = JoinSet::new();
        running.spawn(async move { asked(subject.driver.as_ref(), &cx, &request, stream).await });
        tokio::select! {
            biased;
            Ok(()) = &mut arrival => Ok(Ok(Open { answer, stream, running })),
            ended = running.join_next() => match ended {
                Some(Ok(Err(error))) => Ok(Err(reason(&error)?)),
                Some(Err(error)) => std::panic::resume_unwind(error.into_panic()),
                _ => Err(Fault::unsupported("a call that ends before it begins")),
            },
        }
    }
}

/// The call itself: to the end of its answer, or to its error.
async fn asked(
    driver: &dyn ChatDriver,
    cx: &CallContext,
    request: &ChatRequest,
    stream: bool,
) -> Result<(), Error> {
    if !stream {
        return driver.chat(cx, request).await.map(drop);
    }
    let mut stream = driver.chat_stream(cx, request).await?;
    while let Some(event) = stream.next_event().await {
        event?;
    }
    Ok(())
}

/// Lets a call be answered, and come to its end.
async fn finish(mut open: Open, answer: &Scripted, form: Form) {
    // Gone already, it needs none.
    drop(open.answer.send(answer.answer(form, open.stream)));
    while open.running.join_next().await.is_some() {}
}

/// The word for the limit that refused.
fn reason(error: &Error) -> Result<&'static str, Fault> {
    let refusal = error.source().and_then(|source| source.downcast_ref::<Refusal>());
    match (error.rejection(), refusal) {
        (Some(Rejection::BulkheadFull), _) => Ok("concurrency"),
        (_, Some(Refusal::NoRoom { reason, .. } | Refusal::TooLarge { reason, .. })) => match reason {
            LimitReason::Tokens => Ok("tokens"),
            _ => Ok("requests"),
        },
        _ => Err(broken(error)),
    }
}

impl Limits {
    fn read(limits: &Value, at: &str) -> Result<Limits, Fault> {
        let mut fields = Fields::of(limits, at)?;
        let mut limit = |key| match fields.optional_count(key)? {
            Some(0) => Err(Fault::malformed(format!("{at}.{key} of 0 lets nothing through"))),
            limit => Ok(limit),
        };
        let limits = Limits {
            requests: limit("requests_per_minute")?,
            tokens: limit("tokens_per_minute")?,
            concurrency: limit("concurrency")?.map(|calls| u32::try_from(calls).unwrap_or(u32::MAX)),
        };
        fields.end()?;
        Ok(limits)
    }
}

impl Step {
    fn read(form: Form, step: &Value, at: &str) -> Result<Step, Fault> {
        let mut fields = Fields::of(step, at)?;
        let at_ms = fields.optional_millis("at_ms")?;
        let upstream = |fields: &mut Fields<'_>| match fields.optional("upstream") {
            Some(answer) => Scripted::read(answer, &fields.at("upstream")),
            None => Scripted::read(&serde_json::json!({"ok": "fine"}), at),
        };
        let kind = match fields.text("op")? {
            "call" => Kind::Call(Begin::read(form, &mut fields)?, upstream(&mut fields)?),
            "start" => {
                let id = fields.text("id")?.to_owned();
                Kind::Start(Begin::read(form, &mut fields)?, Some(id), 1)
            }
            "concurrent_start" => {
                let calls = fields.count("n")?;
                if !(1..=MOST_CALLS).contains(&calls) {
                    return Err(Fault::malformed(format!("{calls} calls at once cannot be run")));
                }
                Kind::Start(Begin::read(form, &mut fields)?, None, calls)
            }
            "finish" => Kind::Finish(fields.text("id")?.to_owned(), upstream(&mut fields)?),
            "drop" => Kind::Drop(fields.text("id")?.to_owned()),
            other => return Err(Fault::unknown("operation", other)),
        };
        fields.end()?;
        Ok(Step { at: at_ms, kind })
    }
}

impl Begin {
    fn read(form: Form, fields: &mut Fields<'_>) -> Result<Begin, Fault> {
        let estimate = fields.optional_count("estimate")?;
        let stream = fields.flag("stream")?;
        Ok(match fields.optional("request") {
            Some(request) => {
                let (request, asks) = request::read(form, request, &fields.at("request"))?;
                Begin {
                    request,
                    stream: stream || asks,
                    estimate,
                }
            }
            None => Begin {
                request: subject::request().map_err(|error| broken(&error))?,
                stream,
                estimate: Some(estimate.unwrap_or(0)),
            },
        })
    }
}
