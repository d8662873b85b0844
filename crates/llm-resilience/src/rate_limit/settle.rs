//! Settlements on their way to a shared store: a bounded queue and one worker, so that nothing waits in `Drop`.

use super::budget::Budget;
use super::store::{QuotaStore, Settlement};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// So many settlements may be on their way. What comes on top is dropped: the store has it back when the lease
/// leaves the window.
const MOST_ON_THE_WAY: usize = 4096;

/// A store, and the worker that brings it settlements. The worker begins with the first settlement and ends with
/// the layer.
pub(super) struct Settler {
    store: Arc<dyn QuotaStore>,
    worker: Mutex<Option<Worker>>,
}

struct Worker {
    jobs: mpsc::Sender<Job>,
    task: JoinHandle<()>,
}

type Job = (Arc<Budget>, Settlement);

impl Settler {
    pub(super) fn new(store: Arc<dyn QuotaStore>) -> Self {
        Settler {
            store,
            worker: Mutex::default(),
        }
    }

    pub(super) fn store(&self) -> &dyn QuotaStore {
        self.store.as_ref()
    }

    /// Hands a settlement on. Never waits; outside of a runtime it is dropped.
    pub(super) fn submit(&self, budget: Arc<Budget>, settlement: Settlement) {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        if worker.as_ref().is_none_or(|worker| worker.task.is_finished()) {
            *worker = self.start();
        }
        let sent = worker
            .as_ref()
            .is_some_and(|worker| worker.jobs.try_send((budget, settlement)).is_ok());
        if !sent {
            tracing::debug!("a settlement was dropped; its lease ends when it leaves the window");
        }
    }

    fn start(&self) -> Option<Worker> {
        let runtime = Handle::try_current().ok()?;
        let (jobs, inbox) = mpsc::channel(MOST_ON_THE_WAY);
        let task = runtime.spawn(work(Arc::clone(&self.store), inbox));
        Some(Worker { jobs, task })
    }
}

async fn work(store: Arc<dyn QuotaStore>, mut inbox: mpsc::Receiver<Job>) {
    while let Some((budget, settlement)) = inbox.recv().await {
        match store.settle(budget.name(), budget.limits(), &settlement).await {
            Ok(()) => budget.wake(),
            Err(fault) => {
                tracing::debug!(budget = budget.name(), %fault, "a settlement was lost; its lease ends by itself");
            }
        }
    }
}

impl Drop for Settler {
    fn drop(&mut self) {
        let worker = self.worker.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(worker) = worker {
            worker.task.abort();
        }
    }
}

impl fmt::Debug for Settler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settler")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}
