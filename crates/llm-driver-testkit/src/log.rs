//! A list of what happened, shared between who plays and who asks.

use crate::recorded::Progress;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What can stand in a log.
pub(crate) trait Logged: Clone {
    fn progress(&mut self) -> &mut Progress;
}

#[derive(Debug)]
pub(crate) struct Log<T>(Arc<Mutex<Vec<T>>>);

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        Log(Arc::clone(&self.0))
    }
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Log(Arc::default())
    }
}

impl<T: Logged> Log<T> {
    /// Adds a line, and hands out what completes it.
    pub(crate) fn begin(&self, line: T) -> Entry<T> {
        let mut lines = self.lock();
        lines.push(line);
        Entry {
            log: self.clone(),
            index: lines.len() - 1,
        }
    }

    pub(crate) fn lines(&self) -> Vec<T> {
        self.lock().clone()
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One line of a log that is still going on. Dropping it while it runs marks it as dropped.
#[derive(Debug)]
pub(crate) struct Entry<T: Logged> {
    log: Log<T>,
    index: usize,
}

impl<T: Logged> Entry<T> {
    pub(crate) fn change(&self, change: impl FnOnce(&mut T)) {
        if let Some(line) = self.log.lock().get_mut(self.index) {
            change(line);
        }
    }

    /// It came to its end. Said once; later ends change nothing.
    pub(crate) fn end(&self) {
        self.finish(Progress::Ended);
    }

    fn finish(&self, progress: Progress) {
        self.change(|line| {
            let present = line.progress();
            if *present == Progress::Running {
                *present = progress;
            }
        });
    }
}

impl<T: Logged> Drop for Entry<T> {
    fn drop(&mut self) {
        self.finish(Progress::Dropped);
    }
}
