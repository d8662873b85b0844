//! From what each ranker says to one score for each candidate.

use super::Score;
use crate::decision::{ScorePart, ScoreRecord};
use crate::facts::Facts;
use std::sync::Arc;

/// A ranker of a policy, as every decision of that policy names it.
#[derive(Debug, Clone)]
pub(crate) struct Share {
    pub(crate) ranker: Arc<str>,
    /// Its part of the sum of all weights.
    pub(crate) weight: f64,
}

impl Share {
    /// Of rankers with their weights.
    pub(crate) fn of<'r>(rankers: impl IntoIterator<Item = (&'r str, f64)>) -> Arc<[Share]> {
        let weighted: Vec<_> = rankers.into_iter().collect();
        let sum: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        let share = |(ranker, weight): (&str, f64)| Share {
            ranker: ranker.into(),
            weight: weight / sum,
        };
        weighted.into_iter().map(share).collect()
    }
}

/// What every ranker said of every eligible candidate, and what that comes to.
#[derive(Debug, Clone)]
pub(crate) struct Scores {
    shares: Arc<[Share]>,
    /// Row by row, one for each candidate; in each what each ranker said.
    said: Vec<Option<Score>>,
    /// Where what each ranker said lies.
    scales: Vec<Scale>,
    sum: Sum,
}

/// How the rankers' scores become one.
#[derive(Debug, Clone, Copy)]
enum Sum {
    /// No ranker knows anything of anybody, and there is no penalty: nobody has a score.
    Nothing,
    /// A single ranker stays as it is. What it does not know stands at the median.
    Alone,
    /// Each is brought to 0..1 over these candidates, then they are added up by their weights, and penalties are taken.
    Weighted,
}

impl Scores {
    /// Of these rankers; for about so many candidates.
    pub(crate) fn new(shares: Arc<[Share]>, candidates: usize) -> Self {
        Scores {
            said: Vec::with_capacity(shares.len() * candidates),
            scales: vec![Scale::default(); shares.len()],
            shares,
            sum: Sum::Nothing,
        }
    }

    /// One more candidate: `says` is asked for what the ranker at each place says of it. An error leaves it out.
    pub(crate) fn add<E>(&mut self, says: impl Fn(usize) -> Result<Option<Score>, E>) -> Result<(), E> {
        let row = self.said.len();
        for ranker in 0..self.shares.len() {
            match says(ranker) {
                Ok(score) => self.said.push(score),
                Err(error) => {
                    self.said.truncate(row);
                    return Err(error);
                }
            }
        }
        let said = self.said.get(row..).unwrap_or_default();
        for (scale, said) in self.scales.iter_mut().zip(said) {
            scale.add(raw(said));
        }
        Ok(())
    }

    /// All have been added; `penalised`: soft constraints take something from one of them.
    pub(crate) fn finish(&mut self, penalised: bool) {
        self.sum = if penalised {
            Sum::Weighted
        } else if self.scales.iter().all(|scale| !scale.known) {
            Sum::Nothing
        } else if self.shares.len() == 1 {
            Sum::Alone
        } else {
            Sum::Weighted
        };
        for ranker in 0..self.scales.len() {
            let median = self
                .scales
                .get(ranker)
                .is_some_and(|scale| scale.known && scale.unknown);
            let median = median.then(|| self.median(ranker)).flatten();
            if let (Some(scale), Some(median)) = (self.scales.get_mut(ranker), median) {
                scale.median = median;
            }
        }
    }

    /// The score of the candidate that was added at this place.
    pub(crate) fn value(&self, row: usize, penalties: &[ScorePart]) -> Option<f64> {
        let said = self.row(row).iter().map(raw).zip(&self.scales);
        match self.sum {
            Sum::Nothing => None,
            Sum::Alone => said.map(|(score, scale)| scale.placed(score)).next(),
            Sum::Weighted => {
                let normalised = said.map(|(score, scale)| scale.normalised(score));
                let added = normalised
                    .zip(&*self.shares)
                    .map(|(normalised, share)| normalised * share.weight);
                let sum: f64 = added.chain(penalties.iter().map(|part| part.contribution)).sum();
                // Penalties may be as large as numbers get.
                Some(sum.max(f64::MIN))
            }
        }
    }

    /// The same with what it is made of.
    pub(crate) fn record(&self, row: usize, penalties: &[ScorePart]) -> Option<ScoreRecord> {
        let value = self.value(row, penalties)?;
        let said = self.row(row);
        if let (Sum::Alone, [share], [said]) = (self.sum, &*self.shares, said) {
            let facts = match said {
                Some(said) => said.facts.clone(),
                None => Facts::default().with("unknown", true),
            };
            return Some(ScoreRecord::new(value, share.ranker.clone(), facts));
        }
        let rankers = self.shares.iter().zip(said).zip(&self.scales);
        let mut parts: Vec<_> = rankers
            .map(|((share, said), scale)| {
                let raw = raw(said);
                let normalised = scale.normalised(raw);
                ScorePart {
                    source: share.ranker.clone(),
                    weight: Some(share.weight),
                    raw,
                    normalised: Some(normalised),
                    contribution: normalised * share.weight,
                    facts: said.as_ref().map(|said| said.facts.clone()).unwrap_or_default(),
                }
            })
            .collect();
        parts.extend_from_slice(penalties);
        Some(ScoreRecord::composite(value, parts))
    }

    /// What each ranker said of one candidate.
    fn row(&self, row: usize) -> &[Option<Score>] {
        let width = self.shares.len();
        self.said.get(row * width..(row + 1) * width).unwrap_or_default()
    }

    fn median(&self, ranker: usize) -> Option<f64> {
        let said = self.said.iter().skip(ranker).step_by(self.shares.len());
        let mut known: Vec<f64> = said.filter_map(raw).collect();
        known.sort_unstable_by(f64::total_cmp);
        let upper = *known.get(known.len() / 2)?;
        let lower = *known.get((known.len() - 1) / 2)?;
        Some(lower / 2.0 + upper / 2.0)
    }
}

fn raw(said: &Option<Score>) -> Option<f64> {
    said.as_ref().map(|said| said.value)
}

/// Where the scores of one ranker lie.
#[derive(Debug, Clone, Copy)]
struct Scale {
    /// Is there a score that is known, one that is not?
    known: bool,
    unknown: bool,
    lowest: f64,
    highest: f64,
    /// Where the unknown stand; only worked out where there are some, and some that are known.
    median: f64,
}

impl Default for Scale {
    fn default() -> Self {
        Scale {
            known: false,
            unknown: false,
            lowest: f64::INFINITY,
            highest: f64::NEG_INFINITY,
            median: 0.0,
        }
    }
}

impl Scale {
    fn add(&mut self, said: Option<f64>) {
        match said {
            Some(score) => {
                self.known = true;
                self.lowest = self.lowest.min(score);
                self.highest = self.highest.max(score);
            }
            None => self.unknown = true,
        }
    }

    /// The score, or the median in its place.
    fn placed(&self, said: Option<f64>) -> f64 {
        said.unwrap_or(self.median)
    }

    /// From 0 to 1; a ranker that knows nothing of anybody gives nothing.
    fn normalised(&self, said: Option<f64>) -> f64 {
        if !self.known {
            return 0.0;
        }
        // Halves first: the difference of two finite numbers may not be one.
        let width = self.highest / 2.0 - self.lowest / 2.0;
        if width > 0.0 {
            (self.placed(said) / 2.0 - self.lowest / 2.0) / width
        } else {
            // All alike: this ranker prefers nobody.
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What one ranker says of each candidate.
    struct Column {
        ranker: &'static str,
        weight: f64,
        scores: Vec<Option<f64>>,
    }

    fn column(ranker: &'static str, scores: &[Option<f64>]) -> Column {
        Column {
            ranker,
            weight: 1.0,
            scores: scores.to_vec(),
        }
    }

    fn shares(columns: &[Column]) -> Arc<[Share]> {
        Share::of(columns.iter().map(|column| (column.ranker, column.weight)))
    }

    fn combined(columns: &[Column], penalties: &[&[f64]]) -> Vec<Option<ScoreRecord>> {
        let mut scores = Scores::new(shares(columns), penalties.len());
        for candidate in 0..penalties.len() {
            let says = |ranker: usize| Ok::<_, ()>(columns[ranker].scores[candidate].map(Score::new));
            scores.add(says).unwrap();
        }
        scores.finish(penalties.iter().any(|penalties| !penalties.is_empty()));
        let record = |(row, penalties): (usize, &&[f64])| {
            let penalties: Vec<_> = penalties
                .iter()
                .map(|penalty| ScorePart::penalty("quota".into(), *penalty))
                .collect();
            let record = scores.record(row, &penalties);
            assert_eq!(
                record.as_ref().map(|record| record.value),
                scores.value(row, &penalties)
            );
            record
        };
        penalties.iter().enumerate().map(record).collect()
    }

    fn values(columns: Vec<Column>, candidates: usize) -> Vec<Option<f64>> {
        combined(&columns, &vec![&[][..]; candidates])
            .into_iter()
            .map(|record| record.map(|record| record.value))
            .collect()
    }

    #[test]
    fn one_ranker_is_taken_as_it_is_and_the_unknown_stand_at_the_median() {
        let scores = [Some(-7.0), None, Some(40.0), Some(2.0)];
        let expected = [Some(-7.0), Some(2.0), Some(40.0), Some(2.0)];
        assert_eq!(values(vec![column("a", &scores)], 4), expected);
        assert_eq!(values(vec![column("a", &[None, None])], 2), [None, None]);
    }

    #[test]
    fn no_ranker_gives_no_score() {
        assert_eq!(values(vec![], 2), [None, None]);
    }

    #[test]
    fn several_rankers_are_normalised_before_they_are_added_up() {
        let dollars = column("cost", &[Some(0.1), Some(0.3), Some(0.2)]);
        let millis = column("latency", &[Some(100.0), Some(900.0), None]);
        let got = values(vec![dollars, millis], 3);
        assert_eq!(got[0], Some(0.0));
        assert_eq!(got[1], Some(1.0));
        // a known middle and an unknown at the median: half of each
        assert!((got[2].unwrap() - 0.5).abs() < 1e-9, "{got:?}");
    }

    #[test]
    fn weights_are_shares_of_their_sum() {
        let mut a = column("a", &[Some(1.0), Some(0.0)]);
        a.weight = 3.0;
        let b = column("b", &[Some(0.0), Some(1.0)]);
        assert_eq!(values(vec![a, b], 2), [Some(0.75), Some(0.25)]);
    }

    #[test]
    fn the_parts_are_shown_and_add_up() {
        let columns = vec![
            column("a", &[Some(1.0), None]),
            column("b", &[Some(5.0), Some(5.0)]),
        ];
        let records = combined(&columns, &[&[], &[2.0]]);
        let second = records[1].as_ref().unwrap();
        let parts: Vec<_> = second
            .parts
            .iter()
            .map(|part| (&*part.source, part.raw, part.normalised, part.contribution))
            .collect();
        let expected = [
            ("a", None, Some(1.0), 0.5),
            ("b", Some(5.0), Some(1.0), 0.5),
            ("quota", None, None, -2.0),
        ];
        assert_eq!(parts, expected);
        assert_eq!((second.value, &*second.ranker), (-1.0, "composite"));
        assert_eq!(records[0].as_ref().unwrap().value, 1.0);
    }

    #[test]
    fn a_penalty_counts_without_a_ranker_too() {
        let values: Vec<_> = combined(&[], &[&[1.0], &[]])
            .into_iter()
            .map(|record| record.unwrap().value)
            .collect();
        assert_eq!(values, [-1.0, 0.0]);
    }

    #[test]
    fn huge_scores_stay_finite() {
        let wide = [Some(f64::MIN), Some(f64::MAX)];
        let got = values(vec![column("a", &wide), column("b", &wide)], 2);
        assert_eq!(got, [Some(0.0), Some(1.0)]);
    }

    #[test]
    fn the_median_is_the_middle_or_between_the_two() {
        let of = |known: &[f64]| {
            let mut scores: Vec<_> = known.iter().copied().map(Some).collect();
            scores.push(None);
            values(vec![column("a", &scores)], scores.len())[known.len()]
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[3.0]), Some(3.0));
        assert_eq!(of(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(of(&[9.0, 1.0, 4.0, 2.0]), Some(3.0));
        assert_eq!(of(&[f64::MIN, f64::MAX]), Some(0.0));
    }

    #[test]
    fn who_cannot_be_scored_leaves_no_trace() {
        let mut scores = Scores::new(Share::of([("a", 1.0), ("b", 1.0)]), 3);
        let says = |value: f64| move |_| Ok::<_, &str>(Some(Score::new(value)));
        scores.add(says(1.0)).unwrap();
        let fails = |ranker| {
            if ranker == 0 {
                Ok(Some(Score::new(99.0)))
            } else {
                Err("no")
            }
        };
        assert_eq!(scores.add(fails), Err("no"));
        scores.add(says(2.0)).unwrap();
        scores.finish(false);
        assert_eq!([0, 1].map(|row| scores.value(row, &[])), [Some(0.0), Some(1.0)]);
    }
}
