//! Log lines on their way out: a bounded queue and one thread, because a reader of standard error that does not read
//! must not stop the calls.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

/// How many lines may wait.
const QUEUE: usize = 8 * 1024;
/// How long the end of the process waits for lines that are still to be written.
const LAST_WAIT: Duration = Duration::from_secs(2);
/// How often a full queue is looked at meanwhile.
const STEP: Duration = Duration::from_millis(10);

/// Takes lines. Cheap to clone. Where the queue is full, lines are dropped and counted.
#[derive(Debug, Clone)]
pub(super) struct Lines {
    queue: SyncSender<Entry>,
    dropped: Arc<AtomicU64>,
}

#[derive(Debug)]
enum Entry {
    Line(Vec<u8>),
    /// Say so when everything before it was written.
    Flush(SyncSender<()>),
}

impl Lines {
    /// Starts the thread that writes to this.
    ///
    /// # Errors
    /// What the system says when no thread can be had.
    pub(super) fn to(out: impl Write + Send + 'static) -> io::Result<Self> {
        Lines::with_queue(out, QUEUE)
    }

    fn with_queue(out: impl Write + Send + 'static, lines: usize) -> io::Result<Self> {
        let (queue, entries) = sync_channel(lines);
        let dropped: Arc<AtomicU64> = Arc::default();
        let lost = dropped.clone();
        std::thread::Builder::new()
            .name("log-writer".into())
            .spawn(move || write_all(out, &entries, &lost))?;
        Ok(Lines { queue, dropped })
    }

    /// Waits until everything said so far is out, but not for ever.
    pub(super) fn flush_for_good(&self) {
        let (done, wait) = sync_channel(1);
        let mut entry = Entry::Flush(done);
        for _ in 0..LAST_WAIT.as_millis() / STEP.as_millis() {
            match self.queue.try_send(entry) {
                Err(TrySendError::Full(back)) => entry = back,
                _ => break,
            }
            std::thread::sleep(STEP);
        }
        wait.recv_timeout(LAST_WAIT).ok();
    }
}

impl Write for Lines {
    /// Takes a whole line. Never waits, and never fails: there is nobody to tell.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Err(TrySendError::Full(_)) = self.queue.try_send(Entry::Line(line.to_vec())) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes until the last sender is gone. What cannot be written (nobody listens any more) is gone too.
fn write_all(mut out: impl Write, entries: &Receiver<Entry>, dropped: &AtomicU64) {
    while let Ok(entry) = entries.recv() {
        match entry {
            Entry::Line(line) => {
                out.write_all(&line).ok();
            }
            Entry::Flush(done) => {
                done.send(()).ok();
            }
        }
        let lost = dropped.swap(0, Ordering::Relaxed);
        if lost > 0 {
            writeln!(out, "{lost} log lines were dropped: nobody read them in time").ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, mpsc};

    /// Takes a line only when it is told to.
    struct Gate(Receiver<()>, Arc<Mutex<Vec<u8>>>);

    impl Write for Gate {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.0.recv().ok();
            self.1.lock().unwrap().extend_from_slice(line);
            Ok(line.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_does_not_read_costs_lines_and_no_time() {
        let (open, gate) = mpsc::channel();
        let out: Arc<Mutex<Vec<u8>>> = Arc::default();
        let mut lines = Lines::with_queue(Gate(gate, out.clone()), 4).unwrap();
        for number in 0..100 {
            lines.write_all(format!("line {number}\n").as_bytes()).unwrap();
        }
        assert!(lines.dropped.load(Ordering::Relaxed) >= 95);
        // the gate opens for good
        drop(open);
        lines.flush_for_good();
        let said = String::from_utf8(out.lock().unwrap().clone()).unwrap();
        assert!(said.starts_with("line 0\n"), "{said}");
        assert!(said.contains("log lines were dropped"), "{said}");
    }
}
