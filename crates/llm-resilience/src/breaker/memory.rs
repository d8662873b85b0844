//! Records in this process.

use super::decision::{BreakerQuestion, BreakerReply, BreakerScope};
use super::keys::{BreakerKeys, Place};
use super::state::BreakerRecord;
use super::store::BreakerStore;
use crate::store::StoreError;
use llm_core::async_trait;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// So many records are kept of one vendor. Names of models come from outside, so there could be any number.
const MOST_RECORDS: usize = 4_096;

/// Records in this process: the default. Decisions about one vendor wait for each other, which takes well under a
/// microsecond; those about different vendors do not.
///
/// Of one vendor 4,096 records are kept. When there are more, the half that was not used for longest is forgotten.
#[derive(Debug, Default)]
pub struct MemoryBreakerStore {
    /// Where milliseconds are counted from: the first moment it was told.
    origin: OnceLock<Instant>,
    vendors: RwLock<HashMap<Arc<str>, Arc<Mutex<Vendor>>>>,
}

#[derive(Debug, Default)]
struct Vendor {
    records: HashMap<Place, Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    record: BreakerRecord,
    used_at: u64,
}

impl MemoryBreakerStore {
    fn vendor(&self, keys: &BreakerKeys) -> Arc<Mutex<Vendor>> {
        let vendors = self.vendors.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(vendor) = vendors.get(keys.stack()) {
            return Arc::clone(vendor);
        }
        drop(vendors);
        let mut vendors = self.vendors.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(vendors.entry(Arc::clone(keys.shared_stack())).or_default())
    }

    fn decide_now(&self, keys: &BreakerKeys, question: &BreakerQuestion<'_>, now: Instant) -> BreakerReply {
        let since = now.saturating_duration_since(*self.origin.get_or_init(|| now));
        let now = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let places = BreakerScope::ALL.map(|scope| keys.place(scope));
        let vendor = self.vendor(keys);
        let mut vendor = vendor.lock().unwrap_or_else(PoisonError::into_inner);
        let mut records = places.each_ref().map(|place| {
            let kept = vendor.records.get_mut(place);
            kept.map(|kept| std::mem::take(&mut kept.record))
                .unwrap_or_default()
        });
        let reply = question.answer(&mut records, now);
        for (place, record) in places.into_iter().zip(records) {
            vendor.keep(place, record, now);
        }
        reply
    }
}

impl Vendor {
    fn keep(&mut self, place: Place, record: BreakerRecord, now: u64) {
        if let Some(kept) = self.records.get_mut(&place) {
            *kept = Kept { record, used_at: now };
        } else if !record.is_blank() {
            if self.records.len() >= MOST_RECORDS {
                self.forget_half();
            }
            self.records.insert(place, Kept { record, used_at: now });
        }
    }

    fn forget_half(&mut self) {
        let mut moments: Vec<u64> = self.records.values().map(|kept| kept.used_at).collect();
        let middle = moments.len() / 2;
        let (_, middle_moment, _) = moments.select_nth_unstable(middle);
        let limit = *middle_moment;
        // Of those of the same moment as many go as it takes.
        let mut left = middle.max(1);
        self.records.retain(|_, kept| {
            let goes = kept.used_at <= limit && left > 0;
            left -= usize::from(goes);
            !goes
        });
    }
}

#[async_trait]
impl BreakerStore for MemoryBreakerStore {
    fn decide_at_once(
        &self,
        keys: &BreakerKeys,
        question: &BreakerQuestion<'_>,
        now: Instant,
    ) -> Option<BreakerReply> {
        Some(self.decide_now(keys, question, now))
    }

    async fn decide(
        &self,
        keys: &BreakerKeys,
        question: &BreakerQuestion<'_>,
        now: Instant,
        _: Option<Duration>,
    ) -> Result<BreakerReply, StoreError> {
        Ok(self.decide_now(keys, question, now))
    }

    async fn forget(&self, keys: &BreakerKeys, _: Option<Duration>) -> Result<(), StoreError> {
        let vendor = self.vendor(keys);
        let mut vendor = vendor.lock().unwrap_or_else(PoisonError::into_inner);
        for scope in BreakerScope::ALL {
            vendor.records.remove(&keys.place(scope));
        }
        Ok(())
    }
}
