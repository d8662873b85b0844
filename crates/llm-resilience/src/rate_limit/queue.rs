//! Who waits for room, in order. Pure: nothing here waits itself.

use super::store::Amount;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::Notify;

/// The calls that wait, in the order in which they came.
///
/// Only the first one looks for room; the others wait to become the first. Whoever leaves the front, admitted or
/// not, wakes the next.
#[derive(Debug, Default)]
pub(super) struct Queue {
    next: u64,
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    ticket: Ticket,
    amount: Amount,
    wake: Arc<Notify>,
}

/// Whose place it is. Later ones are larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket(u64);

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// What they wait for, in order.
    pub(super) fn amounts(&self) -> impl Iterator<Item = Amount> {
        self.waiting.iter().map(|waiting| waiting.amount)
    }

    /// Takes the last place. What is given back is told when to look again.
    pub(super) fn join(&mut self, amount: Amount) -> (Ticket, Arc<Notify>) {
        let ticket = Ticket(self.next);
        self.next += 1;
        let wake = Arc::new(Notify::new());
        self.waiting.push_back(Waiting {
            ticket,
            amount,
            wake: Arc::clone(&wake),
        });
        (ticket, wake)
    }

    pub(super) fn is_first(&self, ticket: Ticket) -> bool {
        self.waiting.front().is_some_and(|first| first.ticket == ticket)
    }

    /// Gives up a place, wherever in the queue it is. Giving it up twice is once.
    pub(super) fn leave(&mut self, ticket: Ticket) {
        let was_first = self.is_first(ticket);
        let place = self
            .waiting
            .binary_search_by_key(&ticket, |waiting| waiting.ticket);
        if let Ok(place) = place {
            self.waiting.remove(place);
        }
        if was_first {
            self.wake_first();
        }
    }

    /// There may be room now.
    pub(super) fn wake_first(&self) {
        if let Some(first) = self.waiting.front() {
            first.wake.notify_one();
        }
    }
}
