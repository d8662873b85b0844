//! Best first.

use super::{Selection, Selector};
use std::cmp::Ordering;

/// The highest score first; without a score last; alike in the order they were given. The same input always
/// gives the same order.
#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is written as a value and has nothing to set"
)]
pub struct Best;

impl Selector for Best {
    fn name(&self) -> &str {
        "best"
    }

    fn order(&self, selection: &Selection<'_>) -> Vec<usize> {
        let scores = selection.contenders.iter().map(|contender| contender.score);
        let mut order: Vec<_> = scores.enumerate().collect();
        order.sort_by(|(_, a), (_, b)| descending(*a, *b));
        order.into_iter().map(|(place, _)| place).collect()
    }
}

fn descending(a: Option<f64>, b: Option<f64>) -> Ordering {
    match (a, b) {
        // 0.0 and -0.0 are alike, and the engine lets no other odd number in
        (Some(a), Some(b)) => b.partial_cmp(&a).unwrap_or(Ordering::Equal),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::Candidate;
    use crate::selector::Contender;
    use crate::test_driver::TestDriver;

    #[test]
    fn descending_then_as_given_then_the_scoreless() {
        let candidate = Candidate::new("a", TestDriver::new("test").serving("m").shared());
        let scores = [None, Some(1.0), Some(2.0), Some(-0.0), Some(1.0), None, Some(0.0)];
        let contenders: Vec<_> = scores
            .into_iter()
            .map(|score| Contender::new(&candidate, None, score))
            .collect();
        assert_eq!(Best.order(&Selection::new(&contenders)), [2, 1, 4, 3, 6, 0, 5]);
        assert!(Best.order(&Selection::new(&[])).is_empty());
    }
}
