//! Best first.

use super::{Contender, Selection, Selector};
use std::cmp::Ordering;

/// The highest score first; without a score last; of those that are alike whoever lacks something last, else in the
/// order they were given. The same input always gives the same order.
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
        // With a penalty, scores are sums of 0 to 1, and the last bits of a sum say nothing.
        let penalised = selection.contenders.iter().any(|contender| contender.penalised);
        let score = |score: f64| {
            if penalised {
                (score * 1e9).round() / 1e9
            } else {
                score
            }
        };
        let key = |contender: &Contender<'_>| (contender.score.map(score), contender.penalised);
        let mut order: Vec<_> = selection.contenders.iter().map(key).enumerate().collect();
        order.sort_by(|(_, (a, a_lacks)), (_, (b, b_lacks))| descending(*a, *b).then(a_lacks.cmp(b_lacks)));
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
    use crate::test_driver::TestDriver;

    #[test]
    fn who_lacks_something_comes_after_who_is_as_good() {
        let candidate = Candidate::new("a", TestDriver::new("test").serving("m").shared());
        let contender =
            |score: f64, lacks| Contender::new(&candidate, None, Some(score)).with_penalised(lacks);
        let tied = [contender(0.0, true), contender(0.0, false)];
        assert_eq!(Best.order(&Selection::new(&tied)), [1, 0]);
        let last_bit = [
            contender(f64::EPSILON, true),
            contender(0.0, false),
            contender(0.5, true),
        ];
        assert_eq!(Best.order(&Selection::new(&last_bit)), [2, 1, 0]);
    }

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
