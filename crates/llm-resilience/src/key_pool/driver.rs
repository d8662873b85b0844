//! The driver that a pool makes of its keys' drivers.

use super::KeyPool;
use super::ledger::{Ask, KeyName};
use crate::cache::CacheNamespace;
use crate::policy::Answer;
use crate::retry::{AttemptLog, until_commit};
use llm_core::{
    Availability, CallContext, ChatDriver, ChatRequest, ChatResponse, ChatStream, DriverInfo, Error,
    ErrorKind, HealthStatus, ModelId, Rejection, ResolvedModel, Result, UnavailableReason, VendorFacts,
    async_trait,
};
use std::sync::Arc;
use std::time::Instant;

/// Drivers of one kind and place, one for each key.
#[derive(Debug)]
pub(super) struct KeyPoolDriver {
    pub(super) info: DriverInfo,
    pub(super) pool: Arc<KeyPool>,
    /// In the order of the drivers; never empty.
    pub(super) names: Vec<KeyName>,
    pub(super) drivers: Vec<Arc<dyn ChatDriver>>,
}

#[async_trait]
impl ChatDriver for KeyPoolDriver {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        self.drivers[0].resolve(model)
    }

    fn availability(&self, model: &ModelId) -> Availability {
        let inner = |place: usize| self.drivers[place].availability(model);
        match self.pool.now() {
            Some(now) => {
                let serving = self.serving_model(Some(model));
                self.back_first(now, inner, serving.as_ref())
            }
            // Nothing was called yet, so no key rests.
            None => first_back((0..self.drivers.len()).map(inner)),
        }
    }

    async fn health(&self, cx: &CallContext) -> HealthStatus {
        let now = cx.clock().now();
        let usable = {
            let ledger = self.pool.ledger();
            let is_usable = |name: &KeyName| ledger.availability(now, name, None).is_available();
            self.names.iter().position(is_usable)
        };
        match usable {
            Some(place) => self.drivers[place].health(cx).await,
            None => HealthStatus::unhealthy(cx.clock().wall(), "not probed: no key of the pool is usable"),
        }
    }

    async fn chat(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatResponse> {
        let attempt = |place: usize| async move { self.drivers[place].chat(cx, request).await };
        self.run(cx, request, attempt).await
    }

    async fn chat_stream(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatStream> {
        let attempt = |place: usize| async move {
            let stream = self.drivers[place].chat_stream(cx, request).await?;
            match self.drivers.len() {
                1 => Ok(stream),
                _ => until_commit(stream).await,
            }
        };
        self.run(cx, request, attempt).await
    }
}

impl KeyPoolDriver {
    /// One call, with as many keys as it takes.
    async fn run<T, Fut>(
        &self,
        cx: &CallContext,
        request: &ChatRequest,
        mut operation: impl FnMut(usize) -> Fut + Send,
    ) -> Result<T>
    where
        T: Answer,
        Fut: Future<Output = Result<T>> + Send,
    {
        let model = self.serving_model(request.model.as_ref());
        let caller = self.pool.policy.sticky.then(|| caller(cx, request)).flatten();
        self.pool.note_clock(cx);
        let mut tried = vec![false; self.drivers.len()];
        let mut log: Option<AttemptLog> = None;
        let mut last: Option<Error> = None;
        loop {
            let started = cx.clock().now();
            let ask = Ask {
                keys: &self.names,
                model: model.as_ref(),
                tried: &tried,
                caller,
            };
            let chosen = self.pool.ledger().choose(started, &ask);
            let Some(place) = chosen else {
                return Err(match (last, log) {
                    (Some(error), Some(log)) => log.into_error(self.given_up(error, started, model.as_ref())),
                    _ => self.refusal(request, started, model.as_ref()),
                });
            };
            tried[place] = true;
            let name = &self.names[place].name;
            let candidate = format!("{}#{name}", self.info.id);
            let log = match &mut log {
                Some(log) => {
                    log.begin_next_as(candidate);
                    log
                }
                None => log.insert(AttemptLog::begin_as(cx, candidate, request.model.as_ref())),
            };
            let error = match operation(place).await {
                Ok(answer) => {
                    self.pool.ledger().served(name);
                    // One try is no log of tries: whoever keeps one outside writes its line.
                    let log = last.is_some().then(|| log.clone());
                    return Ok(self.watched(cx, place, model, answer, log));
                }
                Err(error) => error,
            };
            let another_helps = self.pool.note_failure(cx, name, model.as_ref(), &error);
            if tried.len() == 1 || (last.is_none() && !another_helps) {
                return Err(error);
            }
            log.add_failure(&error);
            if !another_helps {
                return Err(log.clone().into_error(error));
            }
            cx.check_deadline()
                .map_err(|error| log.clone().into_error(error))?;
            last = Some(error);
        }
    }

    /// The same answer with the log, if there is one; a late failure is noted and goes into the log, too.
    fn watched<T: Answer>(
        &self,
        cx: &CallContext,
        place: usize,
        model: Option<ModelId>,
        answer: T,
        log: Option<AttemptLog>,
    ) -> T {
        let answer = match &log {
            Some(log) => {
                let attempts = log.clone().into_served(answer.attempts());
                answer.with_attempts(attempts)
            }
            None => answer,
        };
        let (pool, cx) = (Arc::clone(&self.pool), cx.clone());
        let name = Arc::clone(&self.names[place].name);
        answer.map_late_error(move |error| {
            pool.note_failure(&cx, &name, model.as_ref(), &error);
            match log {
                Some(log) => log.into_late_error(error),
                None => error,
            }
        })
    }

    /// The failure of the last usable key, with the time until one is back.
    fn given_up(&self, error: Error, now: Instant, model: Option<&ModelId>) -> Error {
        let is_limit = matches!(error.kind(), ErrorKind::RateLimit | ErrorKind::QuotaExhausted);
        match self.back_first(now, |_| Availability::Available, model) {
            Availability::Unavailable {
                until: Some(until), ..
            } if is_limit => error.with_retry_after(until.saturating_duration_since(now)),
            _ => error,
        }
    }

    /// No key is usable.
    fn refusal(&self, request: &ChatRequest, now: Instant, model: Option<&ModelId>) -> Error {
        let (reason, until) = match self.back_first(now, |_| Availability::Available, model) {
            Availability::Unavailable { reason, until } => (reason, until),
            _ => (UnavailableReason::Credential, None),
        };
        let (rejection, why) = match reason {
            UnavailableReason::RateLimit => {
                (Rejection::RateLimit, "every key of the pool is at its rate limit")
            }
            UnavailableReason::Quota => (Rejection::Budget, "the quota of every key of the pool is used up"),
            _ => (
                Rejection::NoCredential,
                "every key of the pool was refused; set one of them up anew",
            ),
        };
        let mut facts = VendorFacts::default();
        facts.driver = Some(self.info.id.clone());
        facts.model = request.model.clone();
        Error::rejected(rejection, why)
            .with_vendor(facts)
            .with_retry_after(until.map(|until| until.saturating_duration_since(now)))
    }

    /// The availability of the key that may be used first.
    fn back_first(
        &self,
        now: Instant,
        inner: impl Fn(usize) -> Availability,
        model: Option<&ModelId>,
    ) -> Availability {
        let own: Vec<Availability> = {
            let ledger = self.pool.ledger();
            let own = |name: &KeyName| ledger.availability(now, name, model);
            self.names.iter().map(own).collect()
        };
        first_back(
            own.into_iter()
                .enumerate()
                .map(|(place, own)| own.and(inner(place))),
        )
    }

    fn serving_model(&self, model: Option<&ModelId>) -> Option<ModelId> {
        match self.resolve(model) {
            Ok(model) => Some(model.id.clone()),
            Err(_) => model.cloned(),
        }
    }
}

/// Who makes the call.
fn caller<'a>(cx: &'a CallContext, request: &'a ChatRequest) -> Option<&'a str> {
    let namespace = || {
        cx.extensions()
            .find::<CacheNamespace>()
            .map(CacheNamespace::as_str)
    };
    request.user.as_deref().or_else(namespace)
}

/// Of several availabilities the one that may be used first; an end that is not known is the last.
fn first_back(each: impl Iterator<Item = Availability>) -> Availability {
    let end = |availability: &Availability| match availability {
        Availability::Unavailable { until, .. } => (until.is_none(), *until),
        _ => (false, None),
    };
    each.min_by_key(end).unwrap_or(Availability::Available)
}
