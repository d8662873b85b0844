//! Writing off the path of requests: a bounded queue and one thread.

use super::record::{CallRow, DecisionRow};
use super::sqlite::Store;
use llm_suite::core::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// How many rows may wait. At some hundred bytes a row this is a few megabytes.
const QUEUE: usize = 16 * 1024;
/// How many rows go into one transaction.
const BATCH: usize = 512;

/// Takes rows from requests and has them written. Cheap to clone.
///
/// Recording never waits: where the disk cannot keep up and the queue is full, rows are dropped, counted, and
/// said so in the log.
#[derive(Debug, Clone)]
pub struct Recorder {
    queue: SyncSender<Entry>,
    dropped: Arc<AtomicU64>,
}

enum Entry {
    Call(Box<CallRow>),
    Decision(Box<DecisionRow>),
    /// Write what is there, then say so.
    Flush(SyncSender<()>),
}

impl Recorder {
    /// Starts the writer on this store. It ends when the last recorder is gone; the handle waits for that.
    ///
    /// # Errors
    /// `Internal`, when no thread can be had.
    pub fn start(store: Store) -> Result<(Recorder, JoinHandle<()>)> {
        let (queue, entries) = sync_channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || write_all(store, &entries));
        let thread = thread.map_err(|error| {
            Error::new(ErrorKind::Internal, "the store's writer thread cannot be started").with_source(error)
        })?;
        Ok((
            Recorder {
                queue,
                dropped: Arc::default(),
            },
            thread,
        ))
    }

    /// Records an attempt.
    pub fn call(&self, row: CallRow) {
        self.put(Entry::Call(Box::new(row)));
    }

    /// Records a decision.
    pub fn decision(&self, row: DecisionRow) {
        self.put(Entry::Decision(Box::new(row)));
    }

    /// How many rows were dropped because the queue was full.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Waits until everything recorded so far is on disk. Blocks: call it from a thread that may.
    pub fn flush(&self) {
        let (done, wait) = sync_channel(1);
        if self.queue.send(Entry::Flush(done)).is_ok() {
            // an error here means that the writer is gone, and with it what could be waited for
            wait.recv().ok();
        }
    }

    fn put(&self, entry: Entry) {
        if let Err(TrySendError::Full(_)) = self.queue.try_send(entry) {
            let dropped = self.dropped.fetch_add(1, Ordering::Relaxed) + 1;
            if dropped.is_power_of_two() {
                tracing::warn!(
                    dropped,
                    "the store cannot keep up: rows of the call log are dropped"
                );
            }
        }
    }
}

fn write_all(mut store: Store, entries: &Receiver<Entry>) {
    while let Ok(first) = entries.recv() {
        let (mut calls, mut decisions, mut flushed) = (Vec::new(), Vec::new(), Vec::new());
        let rest = std::iter::from_fn(|| entries.try_recv().ok());
        for entry in std::iter::once(first).chain(rest).take(BATCH) {
            match entry {
                Entry::Call(row) => calls.push(*row),
                Entry::Decision(row) => decisions.push(*row),
                Entry::Flush(done) => flushed.push(done),
            }
        }
        if let Err(error) = store.add(&calls, &decisions) {
            let rows = calls.len() + decisions.len();
            tracing::error!(%error, rows, "rows of the call log could not be written");
        }
        for done in flushed {
            done.send(()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::LogFilter;
    use super::*;

    #[test]
    fn everything_recorded_is_written_before_the_writer_ends() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("state.db")).unwrap();
        let reader = store.reopen().unwrap();
        let (recorder, thread) = Recorder::start(store).unwrap();
        for ts in 0..2_000 {
            recorder.call(CallRow {
                ts,
                request_id: "r".into(),
                ..CallRow::default()
            });
        }
        recorder.flush();
        let filter = LogFilter {
            limit: 10_000,
            ..LogFilter::default()
        };
        assert_eq!(reader.calls(&filter).unwrap().len(), 2_000);
        recorder.call(CallRow {
            request_id: "last".into(),
            ..CallRow::default()
        });
        drop(recorder);
        thread.join().unwrap();
        assert_eq!(reader.calls(&filter).unwrap().len(), 2_001);
    }
}
