//! Writing off the path of requests: a bounded queue and one thread.

use super::record::{CallRow, DecisionRow};
use super::sqlite::Store;
use llm_suite::core::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How many rows may wait. At some hundred bytes a row this is a few megabytes.
const QUEUE: usize = 16 * 1024;
/// How many rows go into one transaction.
const BATCH: usize = 512;
/// How long a reader waits for what was recorded before it.
const FLUSH_LIMIT: Duration = Duration::from_secs(5);

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
        Recorder::with_queue(store, QUEUE)
    }

    fn with_queue(store: Store, rows: usize) -> Result<(Recorder, JoinHandle<()>)> {
        let (queue, entries) = sync_channel(rows);
        let dropped: Arc<AtomicU64> = Arc::default();
        let lost = dropped.clone();
        let thread = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || write_all(store, &entries, &lost));
        let thread = thread.map_err(|error| {
            Error::new(ErrorKind::Internal, "the store's writer thread cannot be started").with_source(error)
        })?;
        Ok((Recorder { queue, dropped }, thread))
    }

    /// Records an attempt.
    pub fn call(&self, row: CallRow) {
        self.put(Entry::Call(Box::new(row)));
    }

    /// Records a decision.
    pub fn decision(&self, row: DecisionRow) {
        self.put(Entry::Decision(Box::new(row)));
    }

    /// How many rows were dropped because the queue was full, or could not be written.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Waits until everything recorded so far is on disk, but not longer than a disk that hangs deserves, and not at
    /// all when the queue is full. Blocks: call it from a thread that may.
    pub fn flush(&self) {
        let (done, wait) = sync_channel(1);
        if self.queue.try_send(Entry::Flush(done)).is_ok() {
            // an error here means that it takes too long, or that the writer is gone
            wait.recv_timeout(FLUSH_LIMIT).ok();
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

fn write_all(mut store: Store, entries: &Receiver<Entry>, dropped: &AtomicU64) {
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
            dropped.fetch_add(rows as u64, Ordering::Relaxed);
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

    /// The same file, locked by somebody else: the writer waits for it, and nobody else does.
    #[test]
    fn a_full_queue_drops_rows_counts_them_and_never_waits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let store = Store::open(&path).unwrap();
        let mut other = rusqlite::Connection::open(&path).unwrap();
        let lock = other
            .transaction_with_behavior(rusqlite::TransactionBehavior::Exclusive)
            .unwrap();
        let (recorder, thread) = Recorder::with_queue(store, 4).unwrap();
        // the writer holds at most one batch while it waits for the lock
        for ts in 0..1_000 {
            recorder.call(CallRow {
                ts,
                request_id: "r".into(),
                ..CallRow::default()
            });
        }
        let dropped = recorder.dropped();
        assert!(dropped > 0);
        drop(lock);
        drop(recorder);
        thread.join().unwrap();
        let rows: i64 = other
            .query_row("SELECT count(*) FROM call_log", [], |row| row.get(0))
            .unwrap();
        assert_eq!(
            rows + i64::try_from(dropped).unwrap(),
            1_000,
            "every row is written or counted"
        );
    }

    #[test]
    fn rows_that_cannot_be_written_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let store = Store::open(&path).unwrap();
        rusqlite::Connection::open(&path)
            .unwrap()
            .execute_batch("DROP TABLE call_log")
            .unwrap();
        let (recorder, thread) = Recorder::start(store).unwrap();
        recorder.call(CallRow::default());
        recorder.flush();
        assert_eq!(recorder.dropped(), 1);
        drop(recorder);
        thread.join().unwrap();
    }
}
