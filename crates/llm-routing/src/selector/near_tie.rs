//! Those that are nearly the best, in a random order.

use super::draw::Draws;
use super::{Best, Selection, Selector};
use llm_core::error::{Error, ErrorKind, Result};

/// All whose score is within a band below the highest are alike and come first, in a random order; the rest follow, best
/// first. So small differences, which are mostly noise, do not send all calls to one candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearTie {
    band: f64,
}

impl NearTie {
    /// Within so much of the highest score, in the unit of the scores: of one ranker as it says them, of several 0..1.
    ///
    /// # Errors
    /// `Config`, when it is no finite number of at least 0.
    pub fn within(band: f64) -> Result<Self> {
        if !band.is_finite() || band < 0.0 {
            let message = "the band of a near tie must be a finite number of at least 0";
            return Err(Error::new(ErrorKind::Config, message));
        }
        Ok(NearTie { band })
    }
}

impl Selector for NearTie {
    fn name(&self) -> &str {
        "near_tie"
    }

    fn order(&self, selection: &Selection<'_>) -> Vec<usize> {
        let mut order = Best.order(selection);
        let contender = |place: &usize| selection.contenders.get(*place);
        let score = |place: &usize| contender(place)?.score;
        // A tie of those that lack nothing is none with those that do.
        let lacks = |place: &usize| contender(place).is_some_and(|contender| contender.penalised);
        let best_lacks = order.first().is_some_and(lacks);
        let tied = match order.first().map(score) {
            // nobody has a score: all are alike
            Some(None) => order.len(),
            Some(Some(best)) => order
                .iter()
                .take_while(|place| score(place).is_some_and(|score| best - score <= self.band))
                .take_while(|place| lacks(place) == best_lacks)
                .count(),
            None => 0,
        };
        Draws::from(selection.seed).shuffle(&mut order[..tied]);
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selector::test_contenders::orders;

    #[test]
    fn the_nearly_best_share_the_first_place() {
        let near = NearTie::within(0.25).unwrap();
        let scores = [Some(0.5), Some(1.0), Some(0.75), None, Some(0.8)];
        let orders = orders(&near, &scores, 300);
        for place in [1, 2, 4] {
            let first = orders.iter().filter(|order| order[0] == place).count();
            assert!((50..150).contains(&first), "{place}: {first} of 300");
        }
        assert!(orders.iter().all(|order| order[3..] == [0, 3]));
    }

    #[test]
    fn without_scores_all_are_alike_and_without_a_band_only_equals_are() {
        let exact = NearTie::within(0.0).unwrap();
        assert!(orders(&exact, &[None, None], 50).contains(&vec![1, 0]));
        assert!(
            orders(&exact, &[Some(1.0), Some(0.9)], 50)
                .iter()
                .all(|order| *order == [0, 1])
        );
        assert!(NearTie::within(f64::NAN).is_err() && NearTie::within(-0.1).is_err());
        assert!(orders(&exact, &[], 1)[0].is_empty());
    }
}
