//! In a random order.

use super::draw::Draws;
use super::{Selection, Selector};

/// Every order is as likely as any other, whatever the scores; but whoever a soft constraint has found wanting comes after
/// all others. The engine's seed says which order it is.
#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is written as a value and has nothing to set"
)]
pub struct Random;

impl Selector for Random {
    fn name(&self) -> &str {
        "random"
    }

    fn order(&self, selection: &Selection<'_>) -> Vec<usize> {
        let mut order: Vec<usize> = (0..selection.contenders.len()).collect();
        Draws::from(selection.seed).shuffle(&mut order);
        selection.penalised_last(&mut order);
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selector::test_contenders::orders;

    #[test]
    fn every_place_is_as_likely() {
        let orders = orders(&Random, &[Some(9.0), None, Some(1.0)], 3_000);
        for (place, who) in (0..3).flat_map(|place| (0..3).map(move |who| (place, who))) {
            let count = orders.iter().filter(|order| order[place] == who).count();
            assert!((850..1_150).contains(&count), "{who} at {place}: {count}");
        }
    }
}
