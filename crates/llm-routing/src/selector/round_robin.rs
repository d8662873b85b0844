//! In turn.

use super::{Selection, Selector};
use llm_core::error::{Error, ErrorKind, Result};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// Beyond so many candidates, those that were in none of the [`LAST_DECISIONS`] are forgotten: they begin anew when they
/// come back.
const MANY: usize = 1_000;
/// How many decisions count as the last ones.
const LAST_DECISIONS: u64 = 1_000;

/// The way to go for one turn of a candidate with weight 1: it divides by every weight up to 16, so that a round of those
/// comes out even.
const TURN: u64 = 720_720 << 20;

/// Takes candidates in turn, each as often as its weight says, spread evenly over the round: with weights 2 and 1 the
/// order is a, b, a. After the first come those whose turn is next. **Weight 0 means never.**
///
/// Each candidate's place in the round is its own, so members that come, go or are rejected for one request do not shift the
/// others. One that is not available now, or that a soft constraint has found wanting, comes after all others and takes no
/// turn either. Whoever is back makes up for one missed turn at most. Clones share the round, and one step of it is atomic,
/// however many callers decide at once. A turn is taken by a decision, whatever becomes of it.
#[derive(Debug, Clone, Default)]
pub struct RoundRobin {
    weights: BTreeMap<String, u32>,
    round: Arc<Mutex<Round>>,
}

#[derive(Debug, Default)]
struct Round {
    /// How far everybody has come (who has come least far is next), and the last decision that it was in.
    way: HashMap<Arc<str>, (u128, u64)>,
    /// How many were taken.
    decisions: u64,
}

impl RoundRobin {
    /// All alike.
    pub fn new() -> Self {
        RoundRobin::default()
    }

    /// With these weights by candidate id; whoever is not listed has 1.
    ///
    /// # Errors
    /// `Config`, when all that are listed are 0.
    pub fn with_weights<K: Into<String>>(
        mut self,
        weights: impl IntoIterator<Item = (K, u32)>,
    ) -> Result<Self> {
        self.weights = weights
            .into_iter()
            .map(|(id, weight)| (id.into(), weight))
            .collect();
        if !self.weights.is_empty() && self.weights.values().all(|weight| *weight == 0) {
            let message = "all weights that are listed are 0; list whom to ask instead too, with its weight";
            return Err(Error::new(ErrorKind::Config, message));
        }
        Ok(self)
    }

    /// How far a turn brings a candidate; `None`: it has none.
    fn stride(&self, id: &str) -> Option<u128> {
        let weight = self.weights.get(id).map_or(1, |weight| u64::from(*weight));
        TURN.checked_div(weight).map(u128::from)
    }
}

impl Selector for RoundRobin {
    fn name(&self) -> &str {
        "round_robin"
    }

    fn order(&self, selection: &Selection<'_>) -> Vec<usize> {
        let mut round = self.round.lock().unwrap_or_else(PoisonError::into_inner);
        let Round { way, decisions } = &mut *round;
        *decisions += 1;
        // where the last one of these stood when its turn came; members of other selections may be anywhere
        let last_turn = |contender: &super::Contender<'_>| {
            let id = contender.candidate.shared_id();
            way.get(id)?.0.checked_sub(self.stride(id)?)
        };
        let now = selection
            .contenders
            .iter()
            .filter_map(last_turn)
            .max()
            .unwrap_or(0);
        let mut turns = Vec::with_capacity(selection.contenders.len());
        let mut waiting = Vec::new();
        for (place, contender) in selection.contenders.iter().enumerate() {
            let id = contender.candidate.shared_id();
            if let Some(stride) = self.stride(id) {
                let (come, seen) = way.entry(id.clone()).or_insert((now, 0));
                *seen = *decisions;
                // One missed turn is made up for, but for a hair: with a whole one it would be among equals for a third.
                *come = (*come).max((now + 1).saturating_sub(stride));
                let turn = (*come, place, stride);
                if contender.available && !contender.penalised {
                    turns.push(turn);
                } else {
                    waiting.push(turn);
                }
            }
        }
        // who was listed first is first among equals
        turns.sort_unstable();
        if let Some(&(come, place, stride)) = turns.first()
            && let Some(contender) = selection.contenders.get(place)
        {
            way.insert(
                contender.candidate.shared_id().clone(),
                (come + stride, *decisions),
            );
        }
        waiting.sort_unstable();
        turns.append(&mut waiting);
        if way.len() > selection.contenders.len() + MANY && decisions.is_multiple_of(LAST_DECISIONS) {
            let recent = decisions.saturating_sub(LAST_DECISIONS);
            way.retain(|_, (_, seen)| *seen > recent);
        }
        turns.into_iter().map(|(_, place, _)| place).collect()
    }

    fn listed(&self) -> Vec<&str> {
        self.weights.keys().map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::Candidate;
    use crate::selector::Contender;
    use crate::selector::test_contenders::candidates;

    fn firsts(robin: &RoundRobin, candidates: &[&Candidate], times: usize) -> String {
        let contenders: Vec<_> = candidates
            .iter()
            .map(|one| Contender::new(one, None, None))
            .collect();
        (0..times)
            .map(|_| {
                candidates[robin.order(&Selection::new(&contenders))[0]]
                    .id()
                    .to_owned()
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn everybody_in_turn_and_the_next_in_turn_as_fallbacks() {
        let three = candidates(3);
        let three: Vec<_> = three.iter().collect();
        let robin = RoundRobin::new();
        assert_eq!(firsts(&robin, &three, 6), "c0 c1 c2 c0 c1 c2");
        let contenders: Vec<_> = three.iter().map(|one| Contender::new(one, None, None)).collect();
        assert_eq!(robin.order(&Selection::new(&contenders)), [0, 1, 2]);
        assert_eq!(robin.order(&Selection::new(&contenders))[0], 1);
    }

    #[test]
    fn weights_are_spread_over_the_round_and_zero_is_never() {
        let three = candidates(3);
        let three: Vec<_> = three.iter().collect();
        let robin = RoundRobin::new()
            .with_weights([("c0", 4), ("c1", 2), ("c2", 0)])
            .unwrap();
        assert_eq!(firsts(&robin, &three, 6), "c0 c1 c0 c0 c1 c0");
        assert!(RoundRobin::new().with_weights([("c0", 0)]).is_err());
    }

    #[test]
    fn who_is_not_available_takes_no_turn_and_makes_up_for_one() {
        let three = candidates(3);
        let robin = RoundRobin::new();
        let order = |available: [bool; 3]| -> Vec<usize> {
            let contenders: Vec<_> = three
                .iter()
                .zip(available)
                .map(|(one, available)| Contender::new(one, None, None).with_available(available))
                .collect();
            robin.order(&Selection::new(&contenders))
        };
        let down = [true, false, true];
        assert_eq!(order([true; 3]), [0, 1, 2]);
        for expected in [[2, 0, 1], [0, 2, 1], [2, 0, 1], [0, 2, 1]] {
            assert_eq!(order(down), expected);
        }
        for expected in [[1, 2, 0], [2, 1, 0], [1, 0, 2], [0, 2, 1], [2, 1, 0]] {
            assert_eq!(order([true; 3]), expected, "one more, then in turn again");
        }
        assert_eq!(order([false; 3]), [1, 0, 2], "nobody's turn");
        assert_eq!(order([true; 3]), [1, 0, 2]);
    }

    #[test]
    fn large_groups_keep_their_rounds_beside_each_other() {
        let all = candidates(3_000);
        let robin = RoundRobin::new();
        let mut firsts = std::collections::HashSet::new();
        for round in 0..40 {
            let group = if round % 2 == 0 {
                &all[..1_500]
            } else {
                &all[1_500..]
            };
            let contenders: Vec<_> = group.iter().map(|one| Contender::new(one, None, None)).collect();
            firsts.insert((round % 2, robin.order(&Selection::new(&contenders))[0]));
        }
        assert_eq!(firsts.len(), 40);
    }

    #[test]
    fn who_is_in_no_decision_any_more_is_forgotten() {
        let robin = RoundRobin::new();
        for number in 0..4_000 {
            let one = [Candidate::new(
                format!("once-{number}"),
                crate::test_driver::TestDriver::new("test").serving("m").shared(),
            )];
            robin.order(&Selection::new(&[Contender::new(&one[0], None, None)]));
        }
        assert!(robin.round.lock().unwrap().way.len() <= 2_001);
    }

    #[test]
    fn who_is_away_in_step_with_the_decisions_has_its_share_all_the_same() {
        for members in [3, 4] {
            let all = candidates(members);
            for (away, penalised) in [
                (&[true, false][..], false),
                (&[true, true, false], false),
                (&[false, true], true),
            ] {
                let robin = RoundRobin::new();
                let mut counts = vec![0; members];
                for round in 0..1_200 {
                    let is_away = |one: &Candidate| one.id() == "c1" && away[round % away.len()];
                    let contenders: Vec<_> = all
                        .iter()
                        .map(|one| {
                            Contender::new(one, None, None)
                                .with_available(penalised || !is_away(one))
                                .with_penalised(penalised && is_away(one))
                        })
                        .collect();
                    counts[robin.order(&Selection::new(&contenders))[0]] += 1;
                }
                let fair = |count: &usize| count.abs_diff(1_200 / members) <= 1;
                assert!(counts.iter().all(fair), "{away:?} {counts:?}");
            }
        }
    }

    #[test]
    fn weights_hold_among_those_that_are_available() {
        let three = candidates(3);
        let robin = RoundRobin::new()
            .with_weights([("c0", 8), ("c1", 2), ("c2", 1)])
            .unwrap();
        let mut counts = [0; 3];
        for round in 0..330 {
            let contenders: Vec<_> = three
                .iter()
                .map(|one| Contender::new(one, None, None).with_available(one.id() != "c0" || round >= 30))
                .collect();
            counts[robin.order(&Selection::new(&contenders))[0]] += 1;
            if round == 29 {
                assert_eq!(counts, [0, 20, 10]);
            }
        }
        let shares = [218, 75, 37];
        let near = |(count, share): (&i32, i32)| count.abs_diff(share) <= 2;
        assert!(counts.iter().zip(shares).all(near), "{counts:?}");
    }

    #[test]
    fn members_that_come_and_go_do_not_shift_the_others() {
        let all = candidates(3);
        let (all, two): (Vec<_>, Vec<_>) = (all.iter().collect(), all.iter().take(2).collect());
        let robin = RoundRobin::new();
        let mut counts: HashMap<String, u32> = HashMap::new();
        for round in 0..300 {
            // c2 is out for every other decision
            let present = if round % 2 == 0 { &all } else { &two };
            *counts.entry(firsts(&robin, present, 1)).or_insert(0) += 1;
        }
        // c2 gets at least a third of the decisions it is present for, and no more than a third of all
        assert!((50..=100).contains(&counts["c2"]), "{counts:?}");
        assert!(counts["c0"].abs_diff(counts["c1"]) <= 2, "{counts:?}");
    }

    #[test]
    fn many_callers_at_once_get_fair_shares() {
        let three = candidates(3);
        let robin = RoundRobin::new();
        let counts = Mutex::new([0; 3]);
        std::thread::scope(|scope| {
            for _ in 0..64 {
                scope.spawn(|| {
                    let contenders: Vec<_> =
                        three.iter().map(|one| Contender::new(one, None, None)).collect();
                    for _ in 0..30 {
                        let first = robin.clone().order(&Selection::new(&contenders))[0];
                        counts.lock().unwrap()[first] += 1;
                    }
                });
            }
        });
        assert_eq!(counts.into_inner().unwrap(), [640; 3]);
    }

    #[test]
    fn those_of_one_selection_are_not_driven_on_by_another() {
        let all = candidates(3);
        let (a, bc): (Vec<_>, Vec<_>) = (all.iter().take(1).collect(), all.iter().skip(1).collect());
        let robin = RoundRobin::new();
        let mut counts: HashMap<String, u32> = HashMap::new();
        for _ in 0..100 {
            firsts(&robin, &a, 1);
            *counts.entry(firsts(&robin, &bc, 1)).or_insert(0) += 1;
        }
        assert_eq!((counts["c1"], counts["c2"]), (50, 50), "{counts:?}");
    }
}
