//! Where records are kept: the trait.

use super::decision::{BreakerQuestion, BreakerReply};
use super::keys::BreakerKeys;
use crate::store::StoreError;
use llm_core::async_trait;
use std::fmt::Debug;
use std::time::{Duration, Instant};

/// Where a breaker keeps its records. Cache-grade: what it loses reads as closed, and when it fails, calls pass.
///
/// A decision is one step: no other decision about the same vendor may come between loading the records and keeping
/// them. A store that cannot lock loads, decides, and keeps with a compare-and-swap, as often as it takes.
///
/// ```
/// use llm_core::async_trait;
/// use llm_resilience::breaker::{BreakerKeys, BreakerQuestion, BreakerRecord, BreakerReply, BreakerScope, BreakerStore};
/// use llm_resilience::store::StoreError;
/// use std::collections::HashMap;
/// use std::sync::Mutex;
/// use std::time::{Duration, Instant};
///
/// /// Numbers under names, as any database can keep them.
/// #[derive(Debug)]
/// struct Numbers {
///     since: Instant,
///     kept: Mutex<HashMap<String, Vec<u64>>>,
/// }
///
/// #[async_trait]
/// impl BreakerStore for Numbers {
///     fn decide_at_once(&self, _: &BreakerKeys, _: &BreakerQuestion<'_>, _: Instant) -> Option<BreakerReply> {
///         None // This one has to be waited for.
///     }
///
///     async fn decide(
///         &self,
///         keys: &BreakerKeys,
///         question: &BreakerQuestion<'_>,
///         now: Instant,
///         _: Option<Duration>,
///     ) -> Result<BreakerReply, StoreError> {
///         let mut kept = self.kept.lock().unwrap();
///         let names = BreakerScope::ALL.map(|scope| format!("{}/{}", keys.stack(), keys.name(scope)));
///         let mut records = names.each_ref().map(|name| {
///             let numbers = kept.get(name);
///             numbers.and_then(|numbers| BreakerRecord::from_numbers(numbers)).unwrap_or_default()
///         });
///         let now_ms = (now - self.since).as_millis() as u64;
///         let reply = question.answer(&mut records, now_ms);
///         kept.extend(names.into_iter().zip(records.map(|record| record.to_numbers())));
///         Ok(reply)
///     }
///
///     async fn forget(&self, keys: &BreakerKeys, _: Option<Duration>) -> Result<(), StoreError> {
///         let names = BreakerScope::ALL.map(|scope| format!("{}/{}", keys.stack(), keys.name(scope)));
///         self.kept.lock().unwrap().retain(|name, _| !names.contains(name));
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait BreakerStore: Debug + Send + Sync + 'static {
    /// The decision, where nothing has to be waited for; `None`: ask [`decide`](Self::decide). `now` is what the
    /// call's clock says.
    ///
    /// A store that answers here is also told at once of probes that were dropped, where nothing can be waited for.
    fn decide_at_once(
        &self,
        keys: &BreakerKeys,
        question: &BreakerQuestion<'_>,
        now: Instant,
    ) -> Option<BreakerReply>;

    /// The decision. Ends by itself after a time that the store is configured with, and not later than `time_left`.
    ///
    /// # Errors
    /// Any kind. The layer lets the call pass, and warns.
    async fn decide(
        &self,
        keys: &BreakerKeys,
        question: &BreakerQuestion<'_>,
        now: Instant,
        time_left: Option<Duration>,
    ) -> Result<BreakerReply, StoreError>;

    /// Forgets the records of a target, which closes what was open.
    ///
    /// # Errors
    /// Any kind; then nothing may have been forgotten.
    async fn forget(&self, keys: &BreakerKeys, time_left: Option<Duration>) -> Result<(), StoreError>;
}
