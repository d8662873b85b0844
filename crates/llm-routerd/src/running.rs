//! How many calls run, so that stopping can wait for them.

use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::watch;

/// The calls that run.
#[derive(Debug, Default)]
pub(crate) struct Running {
    calls: watch::Sender<usize>,
    draining: AtomicBool,
    cut: AtomicBool,
}

impl Running {
    pub(crate) fn begin(&self) -> RunningCall {
        self.calls.send_modify(|calls| *calls += 1);
        RunningCall(self.calls.clone())
    }

    /// Waits until none runs.
    pub(crate) async fn all_ended(&self) {
        // it cannot fail: this value holds the sender
        self.calls.subscribe().wait_for(|calls| *calls == 0).await.ok();
    }

    /// From now on no new connection is taken.
    pub(crate) fn start_draining(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// From now on calls that end without an answer were ended by us.
    pub(crate) fn start_cutting(&self) {
        self.cut.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }
}

/// A call that runs until this is dropped.
#[derive(Debug)]
pub(crate) struct RunningCall(watch::Sender<usize>);

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.0.send_modify(|calls| *calls = calls.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test(start_paused = true)]
    async fn stopping_waits_for_the_last_call() {
        let running = Running::default();
        running.all_ended().await;
        let (first, second) = (running.begin(), running.begin());
        drop(first);
        assert!(
            timeout(Duration::from_secs(1), running.all_ended())
                .await
                .is_err()
        );
        drop(second);
        running.all_ended().await;
    }
}
