//! Who is inside and who waits.

use super::{BulkheadPolicy, BulkheadScope};
use crate::policy::Target;
use llm_core::{DriverId, ModelId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// So many places inside and so many more in the queue.
///
/// Two semaphores, both fair: one for being here at all, one for running. The first is what makes "full" exact:
/// a call holds its place there from the door to its end, so nothing has to be counted twice.
#[derive(Debug)]
pub(super) struct Room {
    here: Arc<Semaphore>,
    running: Arc<Semaphore>,
}

/// What the door said.
pub(super) enum Entry {
    Inside(Place),
    Queued(Queued),
    Full,
}

/// A running call. Dropping it frees the place.
#[derive(Debug)]
pub(super) struct Place {
    /// Dropped first: who leaves lets the next one in before the door opens.
    _running: OwnedSemaphorePermit,
    _here: OwnedSemaphorePermit,
}

/// A call in the queue. Dropping it leaves the queue.
pub(super) struct Queued {
    here: OwnedSemaphorePermit,
    running: Arc<Semaphore>,
}

impl Room {
    fn new(policy: &BulkheadPolicy) -> Self {
        Room {
            here: Arc::new(Semaphore::new(places(
                policy.max_concurrent.saturating_add(policy.max_queue),
            ))),
            running: Arc::new(Semaphore::new(places(policy.max_concurrent))),
        }
    }

    pub(super) fn enter(&self) -> Entry {
        let Ok(here) = Arc::clone(&self.here).try_acquire_owned() else {
            return Entry::Full;
        };
        // Fair: a place that somebody waits for is not to be had here.
        match Arc::clone(&self.running).try_acquire_owned() {
            Ok(running) => Entry::Inside(Place {
                _running: running,
                _here: here,
            }),
            Err(_) => Entry::Queued(Queued {
                here,
                running: Arc::clone(&self.running),
            }),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.here.available_permits() == 0
    }

    fn is_empty(&self, policy: &BulkheadPolicy) -> bool {
        self.here.available_permits() == places(policy.max_concurrent.saturating_add(policy.max_queue))
    }
}

/// A semaphore holds fewer than a small machine counts.
fn places(calls: u32) -> usize {
    usize::try_from(calls.max(1)).map_or(Semaphore::MAX_PERMITS, |calls| calls.min(Semaphore::MAX_PERMITS))
}

impl Queued {
    /// Waits for a place inside.
    pub(super) async fn turn(self) -> Place {
        match self.running.acquire_owned().await {
            Ok(running) => Place {
                _running: running,
                _here: self.here,
            },
            // Only a closed semaphore gives none, and nobody closes it.
            Err(_) => std::future::pending().await,
        }
    }
}

/// The rooms of a layer, one for each of what its scope tells apart.
#[derive(Debug)]
pub(super) struct Rooms {
    policy: BulkheadPolicy,
    shared: Arc<Room>,
    apart: Mutex<Apart>,
}

#[derive(Debug, Default)]
struct Apart {
    rooms: HashMap<Key, Arc<Room>>,
    /// How many rooms there may be before the empty ones are cleared away: callers choose models' names.
    sweep_at: usize,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    driver: DriverId,
    base_url: String,
    model: Option<ModelId>,
}

impl Rooms {
    const SWEEP_FROM: usize = 64;

    pub(super) fn new(policy: &BulkheadPolicy) -> Self {
        Rooms {
            shared: Arc::new(Room::new(policy)),
            policy: policy.clone(),
            apart: Mutex::default(),
        }
    }

    pub(super) fn of(&self, scope: BulkheadScope, target: &Target<'_>) -> Arc<Room> {
        let model = match scope {
            BulkheadScope::Layer => return Arc::clone(&self.shared),
            BulkheadScope::Driver => None,
            BulkheadScope::Model => target.serving_model(),
        };
        let key = Key {
            driver: target.driver.id.clone(),
            base_url: target.driver.base_url.clone(),
            model,
        };
        let mut apart = self.apart.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(room) = apart.rooms.get(&key) {
            return Arc::clone(room);
        }
        if apart.rooms.len() >= apart.sweep_at.max(Self::SWEEP_FROM) {
            // Who holds a room is about to enter it.
            apart
                .rooms
                .retain(|_, room| Arc::strong_count(room) > 1 || !room.is_empty(&self.policy));
            apart.sweep_at = apart.rooms.len() * 2;
        }
        let room = Arc::new(Room::new(&self.policy));
        apart.rooms.insert(key, Arc::clone(&room));
        room
    }
}
