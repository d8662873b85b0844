//! Where a decision's chance comes from.

use crate::selector::mix;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// A row of seeds, one for each decision, shared by the clones of an engine.
#[derive(Debug)]
pub(super) struct Seeds(AtomicU64);

impl Seeds {
    /// Of 53 bits: as many as survive every reader of JSON.
    pub(super) fn next(&self) -> u64 {
        mix(self.0.fetch_add(1, Ordering::Relaxed)) >> 11
    }
}

impl From<u64> for Seeds {
    fn from(seed: u64) -> Self {
        Seeds(AtomicU64::new(mix(seed)))
    }
}

impl Default for Seeds {
    /// The standard library keys its hashers by chance.
    fn default() -> Self {
        Seeds(AtomicU64::new(RandomState::new().build_hasher().finish()))
    }
}
