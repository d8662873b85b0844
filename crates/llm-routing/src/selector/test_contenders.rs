//! Contenders to select from: `c0`, `c1`, …

use super::{Contender, Selection, Selector};
use crate::candidate::Candidate;
use crate::test_driver::TestDriver;

pub(super) fn candidates(count: usize) -> Vec<Candidate> {
    let driver = TestDriver::new("test").serving("m").shared();
    (0..count)
        .map(|number| Candidate::new(format!("c{number}"), driver.clone()))
        .collect()
}

/// The orders for as many seeds.
pub(super) fn orders(selector: &dyn Selector, scores: &[Option<f64>], times: u64) -> Vec<Vec<usize>> {
    let candidates = candidates(scores.len());
    let contenders: Vec<_> = candidates
        .iter()
        .zip(scores)
        .map(|(one, score)| Contender::new(one, None, *score))
        .collect();
    (0..times)
        .map(|seed| selector.order(&Selection::new(&contenders).with_seed(seed)))
        .collect()
}
