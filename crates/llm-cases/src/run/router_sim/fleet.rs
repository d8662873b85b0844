//! The deployments of a case as candidates, and what is sent to them.

use super::script::{Deployment, Script, Step};
use crate::form::Form;
use crate::outcome::class_of;
use crate::script::Scripted;
use crate::subject::{Setup, driver};
use llm_core::{CallContext, ChatDriver, Error, ErrorKind, ModelId, Result, Stack, async_trait};
use llm_driver_testkit::{Answer, ScriptedTransport, TestClock};
use llm_http::{HttpRequest, HttpResponse, Transport};
use llm_resilience::{BreakerLayer, BreakerPolicy, RetryLayer, RetryPolicy};
use llm_routing::{Candidate, PlanExecutor, Router, RoutingPolicy};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// Everybody who may be asked, on one clock.
pub(super) struct Fleet {
    pub(super) clock: Arc<TestClock>,
    /// In the order of the case's deployments.
    candidates: Vec<Candidate>,
    policy: RoutingPolicy,
    sent: Sent,
}

/// The requests that were sent, in order: `deployment`, `model`, `base_url`, `key`.
type Sent = Arc<Mutex<Vec<Value>>>;

impl Fleet {
    pub(super) fn build(script: &Script, bytewise: bool) -> Result<Fleet> {
        let sent = Sent::default();
        let setup = Setup::of_simulation().bytewise(bytewise);
        let deployments = script.deployments.iter();
        Ok(Fleet {
            clock: Arc::new(TestClock::starting_at(SystemTime::UNIX_EPOCH)),
            candidates: deployments
                .map(|deployment| candidate(script, deployment, &setup, &sent))
                .collect::<Result<_>>()?,
            policy: script.policy()?,
            sent,
        })
    }

    /// The router as a step asks it.
    pub(super) fn router(&self, script: &Script, step: &Step) -> Result<Arc<dyn ChatDriver>> {
        let (places, policy) = match step.pin {
            // a pinned call takes nobody's turn
            Some(place) => (vec![place], RoutingPolicy::default()),
            None => (script.order.clone(), self.policy.clone()),
        };
        let candidates = places
            .iter()
            .filter_map(|place| self.candidates.get(*place).cloned())
            .collect();
        let router = Router::new("case", candidates, policy)?;
        Ok(Arc::new(router.with_executor(executor(script, step))))
    }

    /// What was sent so far.
    pub(super) fn sent(&self) -> Vec<Value> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Each deployment, and whether it is `up` or `cooling`.
    pub(super) fn standing(&self) -> Vec<(String, &'static str)> {
        let standing = |candidate: &Candidate| {
            let up = candidate.stack().availability(candidate.model()?).is_available();
            Some((candidate.id().to_owned(), if up { "up" } else { "cooling" }))
        };
        self.candidates.iter().filter_map(standing).collect()
    }
}

fn executor(script: &Script, step: &Step) -> PlanExecutor {
    let executor = PlanExecutor::new();
    if step.no_fallback {
        return executor.without_failover();
    }
    let Some(classes) = script.fallback_on.clone() else {
        return executor.with_failover_if(|error, _| {
            let others = [
                ErrorKind::QuotaExhausted,
                ErrorKind::ContextLength,
                ErrorKind::Rejected,
            ];
            error.retryable() || others.contains(&error.kind())
        });
    };
    let filtered = classes.iter().any(|class| class == "content_filter");
    executor
        .with_content_filter_failover(filtered)
        .with_failover_if(move |error, _| {
            // a deployment that began to cool while it was to be asked has not failed
            error.kind() == ErrorKind::Rejected || classes.iter().any(|class| class == class_of(error))
        })
}

fn candidate(script: &Script, deployment: &Deployment, setup: &Setup, sent: &Sent) -> Result<Candidate> {
    let setup = setup.on(&deployment.host);
    let line = Line {
        deployment: deployment.id.clone(),
        model: deployment.model.clone(),
        base_url: deployment.host.base_url.clone(),
        form: script.form,
        answers: deployment.answers.clone(),
        arrived: Mutex::new(0),
        inner: setup.deliver(ScriptedTransport::new([])),
        sent: Arc::clone(sent),
    };
    let policy = script.cooldown.clone().unwrap_or_else(BreakerPolicy::off);
    let driver = driver(script.form, &setup, Arc::new(line))?;
    let mut stack = Stack::from_arc(driver).layer(BreakerLayer::new(policy));
    if script.attempts > 1 {
        let pause = Duration::from_millis(1);
        let policy = RetryPolicy::new(script.attempts)
            .with_backoff(pause, pause)
            .with_max_wait(None)
            .with_budget(None);
        stack = stack.layer(RetryLayer::new(policy));
    }
    let candidate =
        Candidate::new(deployment.id.as_str(), stack.into_arc()).with_model(deployment.model.clone());
    Ok(match deployment.context {
        Some(tokens) => candidate.with_context_window(tokens),
        None => candidate,
    })
}

/// The line to one deployment: writes down what is sent, and answers by arrival; the last answer repeats.
#[derive(Debug)]
struct Line {
    deployment: String,
    model: ModelId,
    base_url: String,
    form: Form,
    answers: Vec<Scripted>,
    arrived: Mutex<usize>,
    inner: ScriptedTransport,
    sent: Sent,
}

impl Line {
    /// The answer to the request that arrives now.
    fn next(&self, stream: bool) -> Result<Answer> {
        let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = self.answers.get(*arrived).or(self.answers.last());
        *arrived += 1;
        answer
            .map(|answer| answer.answer(self.form, stream))
            .ok_or_else(|| {
                let message = format!("the case has no answer of {}", self.deployment);
                Error::new(ErrorKind::Internal, message)
            })
    }

    /// A request in the words of the cases.
    fn words(&self, request: &HttpRequest, body: &Value) -> Value {
        let header = |name: &str| request.headers.get(name)?.to_str().ok();
        let bearer = header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let key = bearer
            .or_else(|| header("x-api-key"))
            .or_else(|| header("x-goog-api-key"))
            .or_else(|| header("api-key"));
        let base_url = match request.url.strip_prefix(&self.base_url) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => &self.base_url,
            _ => &request.url,
        };
        // Google's requests name it in their address
        let in_address = format!("/{}:", self.model);
        let model = match body.get("model") {
            None if request.url.contains(&in_address) => json!(self.model.as_str()),
            model => json!(model),
        };
        json!({"deployment": self.deployment, "model": model, "base_url": base_url, "key": key})
    }
}

#[async_trait]
impl Transport for Line {
    async fn send(&self, cx: &CallContext, request: HttpRequest) -> Result<HttpResponse> {
        cx.check_deadline()?;
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let stream = body["stream"] == true || request.url.contains(":streamGenerateContent");
        let answer = self.next(stream)?;
        let words = self.words(&request, &body);
        self.sent
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(words);
        // it is taken at once, before anything is waited for
        self.inner.push(answer);
        self.inner.send(cx, request).await
    }
}
