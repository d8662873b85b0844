//! A store that does as it is told.

use bytes::Bytes;
use llm_core::{Clock, async_trait};
use llm_driver_testkit::TestClock;
use llm_resilience::store::{KeyValueStore, StoreError, StoreErrorKind};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How a store answers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) enum Mood {
    #[default]
    Well,
    Slow(Duration),
    Down,
    Silent,
}

#[derive(Debug, Default)]
pub(crate) struct Shelf {
    inner: Mutex<Inner>,
    clock: TestClock,
}

#[derive(Debug, Default)]
struct Inner {
    values: HashMap<String, (Bytes, Instant)>,
    mood: Mood,
    steps: Vec<&'static str>,
}

impl Shelf {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    pub(super) fn feel(&self, mood: Mood) {
        self.inner().mood = mood;
    }

    /// What it was asked since this was last called.
    pub(super) fn take_steps(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.inner().steps)
    }

    /// Changes all it holds.
    pub(super) fn tamper(&self, change: impl Fn(&[u8]) -> Vec<u8>) {
        for (value, _) in self.inner().values.values_mut() {
            *value = change(value).into();
        }
    }

    async fn step(&self, name: &'static str) -> Result<(), StoreError> {
        let mood = {
            let mut inner = self.inner();
            inner.steps.push(name);
            inner.mood
        };
        match mood {
            Mood::Well => Ok(()),
            Mood::Slow(pause) => {
                tokio::time::sleep(pause).await;
                Ok(())
            }
            Mood::Down => Err(StoreError::new(StoreErrorKind::Unreachable, "refused")),
            Mood::Silent => std::future::pending().await,
        }
    }
}

#[async_trait]
impl KeyValueStore for Shelf {
    async fn get(&self, key: &str, _: Option<Duration>) -> Result<Option<Bytes>, StoreError> {
        self.step("get").await?;
        let now = self.clock.now();
        let inner = self.inner();
        let kept = inner.values.get(key).filter(|(_, until)| now < *until);
        Ok(kept.map(|(value, _)| value.clone()))
    }

    async fn set(
        &self,
        key: &str,
        value: Bytes,
        ttl: Duration,
        _: Option<Duration>,
    ) -> Result<(), StoreError> {
        self.step("set").await?;
        let until = self.clock.now() + ttl;
        self.inner().values.insert(key.to_owned(), (value, until));
        Ok(())
    }

    async fn delete(&self, key: &str, _: Option<Duration>) -> Result<(), StoreError> {
        self.step("delete").await?;
        self.inner().values.remove(key);
        Ok(())
    }
}
