//! Answers in this process's memory: [`MemoryStore`].

use crate::store::{KeyValueStore, StoreError};
use bytes::Bytes;
use llm_core::{Clock, async_trait};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A store in this process's memory, bounded by bytes. Clones share it; what it holds ends with the process.
///
/// ```
/// use llm_driver_testkit::TestClock;
/// use llm_resilience::cache::MemoryStore;
/// use llm_resilience::store::KeyValueStore;
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let store = MemoryStore::new(64 << 20, Arc::new(TestClock::new()));
/// store.set("a", "seven".into(), Duration::from_secs(60), None).await?;
/// assert_eq!(store.get("a", None).await?.as_deref(), Some(&b"seven"[..]));
/// # Ok::<(), llm_resilience::store::StoreError>(())
/// # }).unwrap();
/// ```
///
/// When it is full, what is asked for least makes room; a value that nobody asks for may be turned away at once.
/// What has run out goes when it is asked for, or when room is needed. How long is left is counted on the clock it
/// is given.
#[derive(Clone)]
pub struct MemoryStore {
    clock: Arc<dyn Clock>,
    max_bytes: u64,
    values: moka::sync::Cache<Box<str>, Kept>,
}

#[derive(Clone)]
struct Kept {
    value: Bytes,
    /// Absent: beyond what an instant holds.
    until: Option<Instant>,
}

impl MemoryStore {
    /// What each value takes beside its bytes and its key, roughly.
    const OVERHEAD: usize = 128;

    /// A store of so many bytes, keys and overhead included, with this clock.
    pub fn new(max_bytes: u64, clock: Arc<dyn Clock>) -> Self {
        MemoryStore {
            clock,
            max_bytes,
            values: moka::sync::Cache::<Box<str>, _>::builder()
                .max_capacity(max_bytes)
                .weigher(|key, kept: &Kept| {
                    let bytes = key.len() + kept.value.len() + Self::OVERHEAD;
                    u32::try_from(bytes).unwrap_or(u32::MAX)
                })
                .build(),
        }
    }
}

#[async_trait]
impl KeyValueStore for MemoryStore {
    async fn get(&self, key: &str, _: Option<Duration>) -> Result<Option<Bytes>, StoreError> {
        let Some(kept) = self.values.get(key) else {
            return Ok(None);
        };
        if kept.until.is_none_or(|until| self.clock.now() < until) {
            return Ok(Some(kept.value));
        }
        self.values.invalidate(key);
        Ok(None)
    }

    async fn set(
        &self,
        key: &str,
        value: Bytes,
        ttl: Duration,
        _: Option<Duration>,
    ) -> Result<(), StoreError> {
        if ttl.is_zero() {
            self.values.invalidate(key);
            return Ok(());
        }
        let until = self.clock.now().checked_add(ttl);
        self.values.insert(key.into(), Kept { value, until });
        Ok(())
    }

    async fn delete(&self, key: &str, _: Option<Duration>) -> Result<(), StoreError> {
        self.values.invalidate(key);
        Ok(())
    }
}

impl fmt::Debug for MemoryStore {
    /// Never what it holds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("bytes", &self.values.weighted_size())
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
