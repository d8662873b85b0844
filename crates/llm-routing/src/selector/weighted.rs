//! By chance, in proportion to weights.

use super::draw::Draws;
use super::{Contender, Selection, Selector};
use llm_core::error::{Error, ErrorKind, Result};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Draws the order by weight: a candidate with weight 3 comes first three times as often as one with weight 1, and the
/// rest of the order is drawn alike. **Weight 0 means never**: such a candidate is left out of the plan. Whoever a soft
/// constraint has found wanting comes after all others.
///
/// A candidate's weight stands under its id; one that is not listed has its score where the scores are used as
/// weights ([`by_score`](Self::by_score)), else 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WeightedRandom {
    weights: BTreeMap<String, f64>,
    by_score: bool,
}

impl WeightedRandom {
    /// With these weights by candidate id; whoever is not listed has 1.
    ///
    /// # Errors
    /// `Config`, when a weight is no finite number of at least 0, or when all that are listed are 0.
    pub fn new<K: Into<String>>(weights: impl IntoIterator<Item = (K, f64)>) -> Result<Self> {
        let mut listed = BTreeMap::new();
        for (id, weight) in weights {
            let id = id.into();
            if !weight.is_finite() || weight < 0.0 {
                let message = format!("the weight of {id:?} must be a finite number of at least 0");
                return Err(Error::new(ErrorKind::Config, message));
            }
            listed.insert(id, weight);
        }
        if !listed.is_empty() && listed.values().all(|weight| *weight == 0.0) {
            let message = "all weights that are listed are 0; list whom to ask instead too, with its weight";
            return Err(Error::new(ErrorKind::Config, message));
        }
        Ok(WeightedRandom {
            weights: listed,
            by_score: false,
        })
    }

    /// By the scores of the rankers: one of 0 or less, or an unknown one, is never drawn (where a soft constraint has taken
    /// from it, it comes last). For a ranker of your own whose scores are such weights: of ours, cost, latency and load give
    /// none above 0, and of several rankers the worst candidate has 0.
    pub fn by_score() -> Self {
        WeightedRandom {
            weights: BTreeMap::new(),
            by_score: true,
        }
    }

    /// The weight of one contender.
    fn weight(&self, id: &str, score: Option<f64>) -> f64 {
        match self.weights.get(id) {
            Some(weight) => *weight,
            None if self.by_score => score.unwrap_or(0.0).max(0.0),
            None => 1.0,
        }
    }
}

impl Selector for WeightedRandom {
    fn name(&self) -> &str {
        "weighted"
    }

    /// Each draws an exponentially distributed time whose rate is its weight; who is early is first. (Efraimidis and
    /// Spirakis 2006: sampling without replacement in one pass.)
    fn order(&self, selection: &Selection<'_>) -> Vec<usize> {
        let weight = |contender: &Contender<'_>| self.weight(contender.candidate.id(), contender.score);
        // As parts of the largest: of very small weights the times would be no numbers.
        let largest = selection.contenders.iter().map(weight).fold(0.0, f64::max);
        let mut draws = Draws::from(selection.seed);
        let mut times: Vec<(f64, usize)> = Vec::with_capacity(selection.contenders.len());
        for (place, contender) in selection.contenders.iter().enumerate() {
            let (weight, drawn) = (weight(contender), draws.fraction());
            // 1 less a fraction is never 0, so the time is finite
            let time = -(1.0 - drawn).ln() / (weight / largest);
            if weight > 0.0 {
                times.push((time, place));
            } else if self.by_score && contender.penalised {
                // its score is no weight, and a soft constraint leaves nobody out
                times.push((f64::INFINITY, place));
            }
        }
        times.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal));
        let mut order: Vec<_> = times.into_iter().map(|(_, place)| place).collect();
        selection.penalised_last(&mut order);
        order
    }

    fn listed(&self) -> Vec<&str> {
        self.weights.keys().map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selector::test_contenders::orders;

    fn firsts(selector: &WeightedRandom, scores: &[Option<f64>]) -> Vec<usize> {
        let orders = orders(selector, scores, 6_000);
        (0..scores.len())
            .map(|place| {
                orders
                    .iter()
                    .filter(|order| order.first() == Some(&place))
                    .count()
            })
            .collect()
    }

    #[test]
    fn shares_follow_the_weights_and_zero_is_never() {
        let weighted = WeightedRandom::new([("c0", 3.0), ("c1", 2.0), ("c2", 0.0)]).unwrap();
        let counts = firsts(&weighted, &[None; 4]);
        let expected = [3_000, 2_000, 0, 1_000];
        for (count, expected) in counts.iter().zip(expected) {
            assert!(count.abs_diff(expected) <= 180, "{counts:?}");
        }
        assert_eq!(weighted.listed(), ["c0", "c1", "c2"]);
        let orders = orders(&weighted, &[None; 4], 50);
        assert!(orders.iter().all(|order| order.len() == 3 && !order.contains(&2)));
    }

    #[test]
    fn scores_may_be_weights() {
        let counts = firsts(
            &WeightedRandom::by_score(),
            &[Some(1.0), Some(5.0), Some(-1.0), None],
        );
        assert!(
            counts[0].abs_diff(1_000) < 180 && counts[2] == 0 && counts[3] == 0,
            "{counts:?}"
        );
    }

    #[test]
    fn a_soft_constraint_leaves_nobody_out() {
        let candidate = crate::candidate::Candidate::new(
            "a",
            crate::test_driver::TestDriver::new("test").serving("m").shared(),
        );
        let contender = |score, lacks| Contender::new(&candidate, None, Some(score)).with_penalised(lacks);
        let some = [contender(-0.5, true), contender(0.5, false)];
        let order = WeightedRandom::by_score().order(&Selection::new(&some));
        assert_eq!(order, [1, 0]);
        assert_eq!(WeightedRandom::by_score().order(&Selection::new(&some[..1])), [0]);
    }

    #[test]
    fn the_smallest_weights_hold_too() {
        let tiny = WeightedRandom::new([("c0", 1e-310), ("c1", 3e-310)]).unwrap();
        let counts = firsts(&tiny, &[None; 2]);
        assert!(counts[0].abs_diff(1_500) <= 180, "{counts:?}");
    }

    #[test]
    fn weights_that_say_nothing_are_refused() {
        for wrong in [
            vec![("a", 0.0)],
            vec![("a", -1.0)],
            vec![("a", f64::NAN)],
            vec![("a", f64::INFINITY)],
        ] {
            assert_eq!(WeightedRandom::new(wrong).unwrap_err().kind(), ErrorKind::Config);
        }
        WeightedRandom::new(Vec::<(String, f64)>::new()).unwrap();
    }
}
