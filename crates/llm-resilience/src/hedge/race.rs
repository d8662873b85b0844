//! Two attempts of one call, of which the first to answer is the answer.

use crate::policy::{Answer, Target};
use llm_core::error::verdict::SameCandidate;
use llm_core::{Attempt, CallContext, Clock, Error, ErrorKind, ModelId, Phase, Result};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

/// What is known of both attempts.
#[derive(Debug, Clone)]
pub(super) struct Race {
    clock: Arc<dyn Clock>,
    candidate: String,
    model: Option<ModelId>,
    /// When each began.
    started: [Instant; 2],
    /// The log of each, once it has ended. Several lines where what is inside (a key pool, a router) kept its own.
    lines: [Vec<Attempt>; 2],
}

const FIRST: usize = 0;
const SECOND: usize = 1;

impl Race {
    /// The first attempt began then, the second begins now.
    pub(super) fn begin(cx: &CallContext, target: &Target<'_>, first_started: Instant) -> Self {
        Race {
            clock: Arc::clone(cx.clock()),
            candidate: target.driver.id.as_str().to_owned(),
            model: target.model.cloned(),
            started: [first_started, cx.clock().now()],
            lines: [Vec::new(), Vec::new()],
        }
    }

    /// The answer, and how long attempts took: the one that served, and at least so long the first one if it lost.
    pub(super) async fn run<T, Fut>(
        mut self,
        first: Pin<&mut Fut>,
        second: Pin<&mut Fut>,
    ) -> Result<(T, Vec<Duration>)>
    where
        T: Answer,
        Fut: Future<Output = Result<T>> + Send,
    {
        let mut running = [Some(first), Some(second)];
        let mut first_error = None;
        loop {
            let (place, outcome) = poll_fn(|task| {
                for (place, attempt) in running.iter_mut().enumerate() {
                    if let Some(future) = attempt
                        && let Poll::Ready(outcome) = future.as_mut().poll(task)
                    {
                        *attempt = None;
                        return Poll::Ready((place, outcome));
                    }
                }
                Poll::Pending
            })
            .await;
            let error = match outcome {
                Ok(answer) => return Ok(self.won(place, answer)),
                Err(error) => error,
            };
            self.note_failure(place, &error);
            // What would fail again everywhere ends both; a second attempt that fails only ends itself.
            let is_hopeless = place == FIRST && error.verdict().same == SameCandidate::No;
            if place == FIRST {
                first_error = Some(error);
            }
            let is_over = is_hopeless || running.iter().all(Option::is_none);
            if let Some(error) = first_error.take_if(|_| is_over) {
                self.note_dropped();
                return Err(error.with_attempts(self.log()));
            }
        }
    }

    fn won<T: Answer>(mut self, place: usize, answer: T) -> (T, Vec<Duration>) {
        let mut latencies = vec![self.elapsed(place)];
        if place == SECOND && self.lines[FIRST].is_empty() {
            // It would have taken longer still. Left out, the slowest calls would never be learnt.
            latencies.push(self.elapsed(FIRST));
        }
        self.lines[place] = match answer.attempts() {
            [] => {
                let took = self.elapsed(place);
                vec![Attempt::served(&self.candidate, self.model.clone(), took)]
            }
            inner => inner.to_vec(),
        };
        self.note_dropped();
        let answer = answer
            .with_attempts(self.log())
            .map_late_error(move |error| self.into_late_error(place, error));
        (answer, latencies)
    }

    /// The error that a committed answer broke off with, with both attempts in its log. It is never replayed.
    fn into_late_error(mut self, place: usize, error: Error) -> Error {
        let error = error.with_phase(Phase::Streaming);
        self.note_failure(place, &error);
        error.with_attempts(self.log())
    }

    fn note_failure(&mut self, place: usize, error: &Error) {
        self.lines[place] = match error.attempts() {
            [] => {
                let took = self.elapsed(place);
                vec![Attempt::failed(&self.candidate, self.model.clone(), took, error)]
            }
            inner => inner.to_vec(),
        };
    }

    /// Who has not ended by now is dropped.
    fn note_dropped(&mut self) {
        for place in [FIRST, SECOND] {
            if self.lines[place].is_empty() {
                let message = "dropped: the other attempt of the call decided it";
                self.note_failure(place, &Error::new(ErrorKind::Cancelled, message));
            }
        }
    }

    /// Both, in the order in which they began.
    fn log(&self) -> Vec<Attempt> {
        let [first, second] = &self.lines;
        let mut log = first.clone();
        log.extend_from_slice(second);
        if let Some(line) = log.get_mut(first.len()) {
            let waited = self.started[SECOND].saturating_duration_since(self.started[FIRST]);
            *line = line
                .clone()
                .with_wait(waited + Duration::from_millis(line.wait_ms));
        }
        log
    }

    fn elapsed(&self, place: usize) -> Duration {
        self.clock.now().saturating_duration_since(self.started[place])
    }
}
