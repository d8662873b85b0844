//! The store as the cache uses it: never waited for long, and never in the way when it is down.

use super::key::CacheKey;
use super::record;
use super::{CachePolicy, key::SCHEMA};
use crate::clock;
use crate::store::{KeyValueStore, StoreError, StoreErrorKind};
use llm_core::{CallContext, ChatResponse};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a store that failed is left alone, so that not every call waits for it; then one call tries it.
const REST: Duration = Duration::from_secs(1);
/// How often the log says that values cannot be read.
const UNREADABLE_EVERY: Duration = Duration::from_secs(60);

/// A store that fails open: what goes wrong with it is an answer that is not there.
#[derive(Debug)]
pub(super) struct OpenStore {
    store: Arc<dyn KeyValueStore>,
    wait: Duration,
    ttl: Duration,
    max_entry_bytes: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Set while the store is down.
    outage: Option<Outage>,
    /// When the log last spoke of values that cannot be read.
    unreadable_told: Option<Instant>,
}

#[derive(Debug)]
struct Outage {
    since: Instant,
    try_again: Instant,
}

impl OpenStore {
    pub(super) fn new(store: Arc<dyn KeyValueStore>, policy: &CachePolicy) -> Self {
        OpenStore {
            store,
            wait: policy.store_wait,
            ttl: policy.ttl,
            max_entry_bytes: policy.max_entry_bytes,
            state: Mutex::default(),
        }
    }

    /// The answer under a key.
    pub(super) async fn load(&self, cx: &CallContext, key: CacheKey) -> Option<ChatResponse> {
        let name = name(key);
        let (wait, _) = self.wait(cx);
        let bytes = self.ask(cx, "get", self.store.get(&name, Some(wait))).await??;
        let response = record::read(key, &bytes, self.max_entry_bytes);
        if response.is_none() {
            self.unreadable(cx);
        }
        response
    }

    /// Keeps an answer, where it is not too large.
    pub(super) async fn keep(&self, cx: &CallContext, key: CacheKey, response: &ChatResponse) {
        let Some(bytes) = record::write(key, response, self.max_entry_bytes) else {
            tracing::debug!(
                request_id = cx.request_id(),
                "an answer is too large for the cache"
            );
            return;
        };
        let name = name(key);
        let (wait, _) = self.wait(cx);
        let set = self.store.set(&name, bytes, self.ttl, Some(wait));
        self.ask(cx, "set", set).await;
    }

    /// How long one step may take, and whether the call's own deadline says so.
    fn wait(&self, cx: &CallContext) -> (Duration, bool) {
        match cx.remaining() {
            Some(left) if left < self.wait => (left, true),
            _ => (self.wait, false),
        }
    }

    /// What the store says, unless it is down.
    async fn ask<T>(
        &self,
        cx: &CallContext,
        operation: &'static str,
        step: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Option<T> {
        if !self.may_ask(cx.clock().now()) {
            return None;
        }
        let (wait, is_the_calls) = self.wait(cx);
        let outcome = match clock::within(wait, step).await {
            Some(outcome) => outcome,
            // A call that has no time left says nothing about the store.
            None if is_the_calls => return None,
            None => Err(StoreError::new(
                StoreErrorKind::Timeout,
                format!("no answer within {wait:?} (store_wait_ms)"),
            )),
        };
        match outcome {
            Ok(value) => {
                self.worked(cx);
                Some(value)
            }
            Err(error) if error.kind() == StoreErrorKind::Timeout && is_the_calls => None,
            Err(error) => {
                self.failed(cx, operation, &error);
                None
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn may_ask(&self, now: Instant) -> bool {
        match &mut self.state().outage {
            Some(outage) if now < outage.try_again => false,
            Some(outage) => {
                outage.try_again = now + REST;
                true
            }
            None => true,
        }
    }

    fn worked(&self, cx: &CallContext) {
        let Some(outage) = self.state().outage.take() else {
            return;
        };
        let lasted = cx.clock().now().saturating_duration_since(outage.since);
        tracing::info!(
            outage_ms = u64::try_from(lasted.as_millis()).unwrap_or(u64::MAX),
            "the cache's store is back"
        );
    }

    fn failed(&self, cx: &CallContext, operation: &'static str, error: &StoreError) {
        let kind = error.kind().as_str();
        if !matches!(
            error.kind(),
            StoreErrorKind::Unreachable | StoreErrorKind::Timeout | StoreErrorKind::Refused
        ) {
            // It is there, and has a quarrel with this one value.
            tracing::debug!(operation, kind, %error, "the cache's store would not");
            return;
        }
        let now = cx.clock().now();
        let mut state = self.state();
        let since = state.outage.as_ref().map_or(now, |outage| outage.since);
        let is_new = state.outage.is_none();
        state.outage = Some(Outage {
            since,
            try_again: now + REST,
        });
        drop(state);
        if is_new {
            tracing::warn!(
                operation,
                kind,
                %error,
                "the cache's store is down; calls go on without it"
            );
        }
    }

    fn unreadable(&self, cx: &CallContext) {
        let now = cx.clock().now();
        let mut state = self.state();
        let told = state.unreadable_told;
        if told.is_some_and(|told| now.saturating_duration_since(told) < UNREADABLE_EVERY) {
            return;
        }
        state.unreadable_told = Some(now);
        drop(state);
        tracing::warn!("the cache's store holds values that cannot be read; they count as absent");
    }
}

/// The key as a store sees it, apart from what else stands there.
fn name(key: CacheKey) -> String {
    format!("cache:{SCHEMA}:{}", key.to_text())
}
