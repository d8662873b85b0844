//! The better of two that were drawn.

use super::draw::Draws;
use super::{Best, Contender, Selection, Selector};

/// Draws two and asks first the one that is expected to answer sooner; the rest follow, best first. Many callers that
/// decide at once so do not all run to the same candidate, and a slow one is found out within a call.
///
/// What is expected is the [peak latency](crate::CandidateMetrics::peak_ms) times the calls that run there, this one included. A candidate of which
/// nothing is known is taken to need 100 ms. It draws among those that are available now; the others come last.
#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is written as a value and has nothing to set"
)]
pub struct PowerOfTwo;

/// What an unknown candidate is taken to need.
const ASSUMED_MS: f64 = 100.0;

impl Selector for PowerOfTwo {
    fn name(&self) -> &str {
        "power_of_two"
    }

    fn order(&self, selection: &Selection<'_>) -> Vec<usize> {
        let mut order = Best.order(selection);
        let is = |place: &usize, what: fn(&Contender<'_>) -> bool| {
            selection.contenders.get(*place).is_some_and(what)
        };
        let available = |place: &usize| is(place, |one| one.available);
        let lacks = |place: &usize| is(place, |one| one.penalised);
        order.sort_by_key(|place| (!available(place), lacks(place)));
        // Of those that are as good as the first: available, and lacking something only where it does.
        let first = order.first().map(|place| (available(place), lacks(place)));
        let like_first = |place: &&usize| Some((available(place), lacks(place))) == first;
        let drawn = order
            .iter()
            .take_while(like_first)
            .filter(|place| available(place))
            .count();
        if drawn < 2 {
            return order;
        }
        let mut draws = Draws::from(selection.seed);
        let one = draws.below(drawn);
        let mut other = draws.below(drawn - 1);
        // the second draw leaves the first out
        other += usize::from(other >= one);
        let expected = |at: usize| {
            let metrics = order
                .get(at)
                .and_then(|place| selection.contenders.get(*place))
                .map(|one| one.metrics);
            metrics.map_or(f64::INFINITY, |metrics| {
                metrics.peak_ms.unwrap_or(ASSUMED_MS) * (f64::from(metrics.in_flight) + 1.0)
            })
        };
        let first = if expected(other) < expected(one) {
            other
        } else {
            one
        };
        let first = order.remove(first);
        order.insert(0, first);
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::Candidate;
    use crate::metrics::CandidateMetrics;
    use crate::test_driver::TestDriver;

    #[test]
    fn the_slowest_is_never_first_and_the_quickest_mostly() {
        let candidate = Candidate::new("a", TestDriver::new("test").serving("m").shared());
        let metrics = [(100.0, 0), (100.0, 4), (900.0, 0)].map(|(peak, in_flight)| CandidateMetrics {
            peak_ms: Some(peak),
            in_flight,
            ..CandidateMetrics::default()
        });
        let contenders: Vec<_> = metrics
            .iter()
            .map(|metrics| Contender::new(&candidate, None, None).with_metrics(metrics))
            .collect();
        let mut firsts = [0; 3];
        for seed in 0..3_000 {
            let order = PowerOfTwo.order(&Selection::new(&contenders).with_seed(seed));
            assert_eq!(order.len(), 3);
            firsts[order[0]] += 1;
        }
        assert_eq!(firsts[2], 0, "{firsts:?}");
        assert!(
            (1_850..2_150).contains(&firsts[0]),
            "two of three pairs hold it: {firsts:?}"
        );
        let contenders: Vec<_> = contenders
            .into_iter()
            .zip([false, true, true])
            .map(|(contender, available)| contender.with_available(available))
            .collect();
        for seed in 0..100 {
            let order = PowerOfTwo.order(&Selection::new(&contenders).with_seed(seed));
            assert_eq!(order, [1, 2, 0], "the quickest is not there");
        }
        assert_eq!(PowerOfTwo.order(&Selection::new(&contenders[..1])), [0]);
        assert!(PowerOfTwo.order(&Selection::new(&[])).is_empty());
    }
}
