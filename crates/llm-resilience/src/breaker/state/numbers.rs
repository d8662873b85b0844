//! Records as lists of numbers, for stores that keep JSON.

use super::{BreakerRecord, BreakerState, MOST, Reason};
use crate::breaker::window::{self, Window};

/// The form of a stored record. Another number is another form, which reads as absent.
const VERSION: u64 = 1;
/// How many numbers stand before the probes.
const HEAD: usize = 11 + window::NUMBERS;
/// More probes than any policy allows.
const MOST_PROBES: usize = 100;

impl BreakerRecord {
    /// The record as numbers, for a store that keeps JSON.
    pub fn to_numbers(&self) -> Vec<u64> {
        let mut numbers = vec![
            VERSION,
            self.state.to_number(),
            self.generation,
            self.in_a_row,
            self.openings,
            self.until,
            self.closed_at,
            self.successes,
            self.shut_until,
            self.shut_reason,
            self.shut_repeats,
        ];
        numbers.extend(self.window.to_numbers());
        numbers.extend(self.probes.iter().flat_map(|(id, end)| [*id, *end]));
        numbers
    }

    /// The record from numbers; `None` where they are none: then it reads as absent.
    pub fn from_numbers(numbers: &[u64]) -> Option<BreakerRecord> {
        let (head, probes) = numbers.split_at_checked(HEAD)?;
        let legal = head[0] == VERSION
            && numbers.iter().all(|number| *number <= MOST)
            && head[9] <= Reason::Model.to_number()
            && probes.len() % 2 == 0
            && probes.len() <= 2 * MOST_PROBES;
        let state = BreakerState::from_number(head[1])?;
        legal.then(|| BreakerRecord {
            state,
            generation: head[2],
            in_a_row: head[3],
            openings: head[4],
            until: head[5],
            closed_at: head[6],
            successes: head[7],
            shut_until: head[8],
            shut_reason: head[9],
            shut_repeats: head[10],
            window: Window::from_numbers(&head[11..]),
            probes: probes.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(),
        })
    }
}
