//! How well a fleet is: as well as its best member.

use crate::candidate::Candidate;
use llm_core::{CallContext, ChatDriver, HealthState, HealthStatus};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// So many probes at a time: a large fleet must not open all its connections at once.
const AT_A_TIME: usize = 8;

type Probe<'a> = Pin<Box<dyn Future<Output = HealthStatus> + Send + 'a>>;

/// The first that is well, else unknown if nobody knows of one of them, else ill.
pub(super) async fn of_best(candidates: &[Candidate], cx: &CallContext) -> HealthStatus {
    let mut stacks: Vec<(&str, &Arc<dyn ChatDriver>)> = Vec::new();
    for candidate in candidates {
        if !stacks
            .iter()
            .any(|(_, stack)| Arc::ptr_eq(stack, candidate.stack()))
        {
            stacks.push((candidate.id(), candidate.stack()));
        }
    }
    let waiting = stacks.into_iter().map(|(id, stack)| (id, stack.health(cx)));
    let mut search = Search {
        waiting,
        probing: Vec::new(),
        ill: Vec::new(),
    };
    match poll_fn(|task| search.poll(task)).await {
        Some((id, status)) => {
            let mut status = status;
            status.message = Some(format!("{id} is well"));
            status
        }
        None => summary(search.ill, cx),
    }
}

struct Search<'a, I> {
    waiting: I,
    probing: Vec<(&'a str, Probe<'a>)>,
    ill: Vec<(&'a str, HealthStatus)>,
}

impl<'a, I: Iterator<Item = (&'a str, Probe<'a>)>> Search<'a, I> {
    /// Ready with the first that is well, or with `None` when all have answered otherwise.
    fn poll(&mut self, task: &mut Context<'_>) -> Poll<Option<(&'a str, HealthStatus)>> {
        loop {
            let room = AT_A_TIME - self.probing.len();
            self.probing.extend(self.waiting.by_ref().take(room));
            if self.probing.is_empty() {
                return Poll::Ready(None);
            }
            let before = self.probing.len();
            let mut place = 0;
            while let Some((id, probe)) = self.probing.get_mut(place) {
                match probe.as_mut().poll(task) {
                    Poll::Pending => place += 1,
                    Poll::Ready(status) if status.state == HealthState::Healthy => {
                        return Poll::Ready(Some((id, status)));
                    }
                    Poll::Ready(status) => {
                        self.ill.push((id, status));
                        drop(self.probing.swap_remove(place));
                    }
                }
            }
            if self.probing.len() == before {
                return Poll::Pending;
            }
        }
    }
}

fn summary(ill: Vec<(&str, HealthStatus)>, cx: &CallContext) -> HealthStatus {
    let unknown = ill.iter().any(|(_, status)| status.state == HealthState::Unknown);
    let each = ill.into_iter().map(|(id, status)| match status.message {
        Some(message) => format!("{id}: {message}"),
        None => format!("{id}: no word"),
    });
    let message = format!(
        "no candidate is known to be well: {}",
        each.collect::<Vec<_>>().join("; ")
    );
    if unknown {
        HealthStatus::unknown(cx.clock().wall(), message)
    } else {
        HealthStatus::unhealthy(cx.clock().wall(), message)
    }
}
