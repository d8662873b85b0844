//! The router: engine and executor as one chat driver.

mod health;
mod union;

use crate::candidate::{Candidate, check_candidates};
use crate::decision::RoutingDecision;
use crate::engine::RoutingEngine;
use crate::executor::PlanExecutor;
use crate::metrics::Metrics;
use crate::needs::CallMode;
use crate::policy::RoutingPolicy;
use llm_core::error::{Error, ErrorKind, Result};
use llm_core::{
    Availability, CallContext, ChatDriver, ChatRequest, ChatResponse, ChatStream, DriverId, DriverInfo,
    HealthStatus, ModelId, QuotaView, ResolvedModel, UnavailableReason, VendorId, async_trait,
};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::Arc;

/// A chat driver that decides for every call which of its candidates serves it, and runs the plan.
///
/// To the outside it is one driver: id `router:NAME`, able to do what any of its candidates can. A model that
/// a request names is binding (with the default policy); a request that names none, or the router's own id,
/// is free to go to any candidate.
///
/// Routers nest: a router can be a candidate's stack. They cannot loop, because a router's candidates exist
/// before it does.
#[derive(Debug)]
pub struct Router {
    info: DriverInfo,
    /// What it answers to as a model, and what it resolves to when none is named.
    own_model: ModelId,
    candidates: Vec<Candidate>,
    engine: RoutingEngine,
    executor: PlanExecutor,
}

impl Router {
    /// A router of this name over these candidates.
    ///
    /// # Errors
    /// `Config`, when there are no candidates, when their ids are not unique, or when the name is none: 1 to
    /// 57 lower-case letters, digits, `-`, `_`, `.` or `:`.
    pub fn new(name: &str, candidates: Vec<Candidate>, policy: RoutingPolicy) -> Result<Self> {
        check_candidates(&candidates)?;
        if name.is_empty() {
            let message = "a router needs a name: it is what it answers to, as `router:NAME`";
            return Err(Error::new(ErrorKind::Config, message));
        }
        let id = DriverId::new(format!("router:{name}"))?;
        let own_model = ModelId::new(id.as_str())?;
        let listed = policy.selector().listed();
        for unknown in listed
            .iter()
            .filter(|id| candidates.iter().all(|one| one.id() != **id))
        {
            tracing::warn!(
                name: "llm.routing.unknown_candidate",
                router = id.as_str(),
                candidate = unknown,
                "a weight is given to a candidate that this router does not have; check its id"
            );
        }
        let mut hosts: Vec<_> = candidates
            .iter()
            .map(|c| c.stack().info().base_url.as_str())
            .collect();
        hosts.retain(|host| !host.is_empty());
        hosts.sort_unstable();
        hosts.dedup();
        let engine = RoutingEngine::new(policy);
        let mut info = DriverInfo::new(id, VendorId::from_static("router"), format!("router {name}"))
            .with_base_url(hosts.join(" "))
            .with_router();
        if candidates.iter().any(|c| c.stack().info().needs_content) {
            info = info.with_needs_content();
        }
        Ok(Router {
            info,
            own_model,
            candidates,
            executor: PlanExecutor::new().with_metrics(engine.metrics().clone()),
            engine,
        })
    }

    /// Another executor than the default one: with a predicate, with observers. It writes into the engine's metrics.
    #[must_use]
    pub fn with_executor(mut self, executor: PlanExecutor) -> Self {
        self.executor = executor.with_metrics(self.engine.metrics().clone());
        self
    }

    /// Decides by figures that are shared with other routers, or kept from one configuration to the next.
    #[must_use]
    pub fn with_metrics(mut self, metrics: Metrics) -> Self {
        self.executor = self.executor.with_metrics(metrics.clone());
        self.engine = self.engine.with_metrics(metrics);
        self
    }

    /// What a ledger knows of the candidates' quotas.
    #[must_use]
    pub fn with_quota(mut self, quota: Arc<dyn QuotaView>) -> Self {
        self.engine = self.engine.with_quota(quota);
        self
    }

    /// Draws chance from this seed on; see [`RoutingEngine::with_seed`].
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.engine = self.engine.with_seed(seed);
        self
    }

    /// Puts into every record of a decision what it was decided by; see [`RoutingEngine::with_recorded_inputs`].
    #[must_use]
    pub fn with_recorded_inputs(mut self, recorded: bool) -> Self {
        self.engine = self.engine.with_recorded_inputs(recorded);
        self
    }

    /// Over whom it routes.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// What decides.
    pub fn engine(&self) -> &RoutingEngine {
        &self.engine
    }

    /// What runs the plan.
    pub fn executor(&self) -> &PlanExecutor {
        &self.executor
    }

    /// What it would decide for this request now. Calls nobody; run the decision with
    /// [`executor`](Self::executor), or throw it away. It is a decision like any other: chance is drawn anew for the
    /// next one, and a [`RoundRobin`](crate::RoundRobin) has taken its turn.
    ///
    /// # Errors
    /// As [`RoutingEngine::decide`].
    pub fn decide(&self, cx: &CallContext, request: &ChatRequest, mode: CallMode) -> Result<RoutingDecision> {
        self.engine
            .decide(cx, &self.free_of_own_model(request), &self.candidates, mode)
    }

    /// Decides for a call that follows.
    fn plan(&self, cx: &CallContext, request: &ChatRequest, mode: CallMode) -> Result<RoutingDecision> {
        let observers = self.executor.observers();
        let decided = self.engine.decide(cx, request, &self.candidates, mode);
        let decision = decided.inspect_err(|error| {
            if error.kind() == ErrorKind::NoEligibleCandidate {
                observers.tell(|observer| observer.on_no_candidate(cx, error));
            }
        })?;
        tracing::debug!(
            name: "llm.routing.decided",
            router = self.info.id.as_str(),
            policy = decision.policy(),
            selected = decision.selected().id(),
            fallbacks = decision.fallbacks().len(),
            "a router has decided"
        );
        observers.tell(|observer| observer.on_decision(cx, &decision));
        Ok(decision)
    }

    /// The router's own id as a model means: any.
    fn named<'m>(&self, model: Option<&'m ModelId>) -> Option<&'m ModelId> {
        model.filter(|model| **model != self.own_model)
    }

    fn free_of_own_model<'r>(&self, request: &'r ChatRequest) -> Cow<'r, ChatRequest> {
        match &request.model {
            Some(model) if *model == self.own_model => Cow::Owned(request.clone().with_model(None)),
            _ => Cow::Borrowed(request),
        }
    }

    /// Who serves this model, or any, and with what.
    fn serving(&self, named: Option<&ModelId>) -> impl Iterator<Item = (&Candidate, Arc<ResolvedModel>)> {
        self.candidates.iter().filter_map(move |candidate| {
            let resolved = candidate.resolve(named).ok()?;
            let serves = named.is_none_or(|named| candidate.serves(named, &resolved));
            serves.then_some((candidate, resolved))
        })
    }

    fn nobody_serves(&self, named: Option<&ModelId>) -> Error {
        let Some(named) = named else {
            let message = format!(
                "no candidate of {} has a model that its stack takes",
                self.info.id
            );
            return Error::new(ErrorKind::Config, message);
        };
        let mut known: Vec<_> = self
            .serving(None)
            .map(|(_, resolved)| resolved.id.to_string())
            .collect();
        known.sort_unstable();
        known.dedup();
        let message = format!(
            "{} has no candidate for {named}; it knows {}",
            self.info.id,
            known.join(", ")
        );
        Error::new(ErrorKind::UnknownModel, message)
    }
}

#[async_trait]
impl ChatDriver for Router {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    /// What its candidates can do together: the union of their abilities, the largest limits (unknown, where
    /// one of them is unknown), the price where all have the same. Without a model (or with the router's own
    /// id) over all candidates, with id `router:NAME` and unknown price; else over those that serve it.
    fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        let named = self.named(model);
        let serving = self.serving(named).map(|(_, resolved)| resolved).collect();
        let mut union =
            union::of(serving, named.unwrap_or(&self.own_model)).ok_or_else(|| self.nobody_serves(named))?;
        if named.is_none() {
            union.id = self.own_model.clone();
            union.price = None;
        }
        Ok(Arc::new(union.with_requested(model.cloned())))
    }

    /// That of any candidate that serves the model, else of the one that is back first.
    fn availability(&self, model: &ModelId) -> Availability {
        let named = self.named(Some(model));
        self.serving(named)
            .map(|(candidate, resolved)| candidate.availability(None, Some(&resolved)))
            // the later an end, the smaller; available is never to be beaten, an unknown end always
            .max_by_key(|availability| match availability {
                Availability::Available => (2, None),
                Availability::Unavailable {
                    until: Some(until), ..
                } => (1, Some(Reverse(*until))),
                _ => (0, None),
            })
            .unwrap_or_else(|| Availability::unavailable(UnavailableReason::Model, None))
    }

    /// That of its best candidate. A stack that several candidates share is asked once, and at most eight are
    /// asked at a time; the first that is well ends the search.
    async fn health(&self, cx: &CallContext) -> HealthStatus {
        health::of_best(&self.candidates, cx).await
    }

    async fn chat(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatResponse> {
        let request = self.free_of_own_model(request);
        let decision = self.plan(cx, &request, CallMode::Plain)?;
        self.executor.chat(cx, &decision, &request).await
    }

    async fn chat_stream(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatStream> {
        let request = self.free_of_own_model(request);
        let decision = self.plan(cx, &request, CallMode::Stream)?;
        self.executor.chat_stream(cx, &decision, &request).await
    }
}

#[cfg(test)]
mod tests;
