//! From what each ranker says to one score for each candidate.

use super::Score;
use crate::decision::{ScorePart, ScoreRecord};
use crate::facts::Facts;
use std::sync::Arc;

/// What every ranker said of every eligible candidate, and what that comes to.
#[derive(Debug, Clone)]
pub(crate) struct Scores {
    rankers: Vec<Arc<str>>,
    /// Shares of their sum.
    weights: Vec<f64>,
    /// Row by row, one for each candidate; in each what each ranker said.
    said: Vec<Option<Score>>,
    sum: Sum,
}

/// How the rankers' scores become one.
#[derive(Debug, Clone)]
enum Sum {
    /// No ranker knows anything of anybody, and nothing is taken: nobody has a score.
    Nothing,
    /// A single ranker stays as it is. What it does not know stands at the median.
    Alone { median: Option<f64> },
    /// Each is brought to 0..1 over these candidates, then they are added up by their weights, and what soft constraints
    /// take is taken. `None`: this ranker knows nothing of anybody.
    Weighted(Vec<Option<Scale>>),
}

impl Scores {
    /// Of these rankers with their weights; for about so many candidates.
    pub(crate) fn new<'r>(rankers: impl Iterator<Item = (&'r str, f64)>, candidates: usize) -> Self {
        let (rankers, mut weights): (Vec<Arc<str>>, Vec<_>) =
            rankers.map(|(name, weight)| (name.into(), weight)).unzip();
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        Scores {
            said: Vec::with_capacity(rankers.len() * candidates),
            rankers,
            weights,
            sum: Sum::Nothing,
        }
    }

    /// One more candidate: `says` is asked for what the ranker at each place says of it. An error leaves it out.
    pub(crate) fn add<E>(&mut self, says: impl Fn(usize) -> Result<Option<Score>, E>) -> Result<(), E> {
        let row = self.said.len();
        for ranker in 0..self.rankers.len() {
            match says(ranker) {
                Ok(score) => self.said.push(score),
                Err(error) => {
                    self.said.truncate(row);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// All have been added; `taken`: soft constraints take something from one of them.
    pub(crate) fn finish(&mut self, taken: bool) {
        let scales: Vec<_> = (0..self.rankers.len()).map(|ranker| self.scale(ranker)).collect();
        self.sum = if self.rankers.len() == 1 && !taken {
            Sum::Alone {
                median: self.median(0),
            }
        } else if !taken && scales.iter().all(Option::is_none) {
            Sum::Nothing
        } else {
            Sum::Weighted(scales)
        };
    }

    /// The score of the candidate that was added at this place.
    pub(crate) fn value(&self, row: usize, penalties: &[ScorePart]) -> Option<f64> {
        match &self.sum {
            Sum::Nothing => None,
            Sum::Alone { median } => self
                .row(row)
                .first()?
                .as_ref()
                .map(|score| score.value)
                .or(*median),
            Sum::Weighted(scales) => {
                let raw = self
                    .row(row)
                    .iter()
                    .map(|said| said.as_ref().map(|said| said.value));
                let rankers = raw.zip(&self.weights).zip(scales);
                let added = rankers.map(|((raw, weight), scale)| normalised(scale.as_ref(), raw) * weight);
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
        match (&self.sum, self.rankers.as_slice()) {
            (Sum::Weighted(scales), rankers) => {
                let rankers = rankers.iter().zip(said).zip(&self.weights).zip(scales);
                let mut parts: Vec<_> = rankers
                    .map(|(((ranker, said), weight), scale)| {
                        let raw = said.as_ref().map(|said| said.value);
                        let normalised = normalised(scale.as_ref(), raw);
                        ScorePart {
                            source: ranker.clone(),
                            weight: Some(*weight),
                            raw,
                            normalised: Some(normalised),
                            contribution: normalised * weight,
                            facts: said.as_ref().map(|said| said.facts.clone()).unwrap_or_default(),
                        }
                    })
                    .collect();
                parts.extend_from_slice(penalties);
                Some(ScoreRecord::composite(value, parts))
            }
            (_, [ranker]) => {
                let facts = match said.first()? {
                    Some(said) => said.facts.clone(),
                    None => Facts::default().with("unknown", true),
                };
                Some(ScoreRecord::new(value, ranker.clone(), facts))
            }
            _ => None,
        }
    }

    fn row(&self, row: usize) -> &[Option<Score>] {
        let width = self.rankers.len();
        self.said.get(row * width..(row + 1) * width).unwrap_or_default()
    }

    /// What one ranker said of each.
    fn raw(&self, ranker: usize) -> impl Iterator<Item = Option<f64>> {
        let said = self.said.iter().skip(ranker).step_by(self.rankers.len().max(1));
        said.map(|said| said.as_ref().map(|said| said.value))
    }

    fn scale(&self, ranker: usize) -> Option<Scale> {
        let known = || self.raw(ranker).flatten();
        let lowest = known().min_by(f64::total_cmp)?;
        let highest = known().max_by(f64::total_cmp)?;
        let unknown = self.raw(ranker).any(|score| score.is_none());
        Some(Scale {
            lowest,
            highest,
            median: if unknown { self.median(ranker) } else { None },
        })
    }

    fn median(&self, ranker: usize) -> Option<f64> {
        let mut known: Vec<f64> = self.raw(ranker).flatten().collect();
        known.sort_unstable_by(f64::total_cmp);
        let upper = *known.get(known.len() / 2)?;
        let lower = *known.get((known.len() - 1) / 2)?;
        Some(lower / 2.0 + upper / 2.0)
    }
}

/// Where the known scores of one ranker lie.
#[derive(Debug, Clone)]
struct Scale {
    lowest: f64,
    highest: f64,
    /// Where the unknown stand; not worked out where all are known.
    median: Option<f64>,
}

/// From 0 to 1; a ranker that knows nothing of anybody gives nothing.
fn normalised(scale: Option<&Scale>, score: Option<f64>) -> f64 {
    let Some(scale) = scale else { return 0.0 };
    let value = score.or(scale.median).unwrap_or(scale.lowest);
    // halves first: the difference of two finite numbers may not be one
    let width = scale.highest / 2.0 - scale.lowest / 2.0;
    if width > 0.0 {
        (value / 2.0 - scale.lowest / 2.0) / width
    } else {
        // all alike: this ranker prefers nobody
        1.0
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

    /// `taken`: what soft constraints take from each candidate.
    fn combined(columns: &[Column], taken: &[&[f64]]) -> Vec<Option<ScoreRecord>> {
        let rankers = columns.iter().map(|column| (column.ranker, column.weight));
        let mut scores = Scores::new(rankers, taken.len());
        for candidate in 0..taken.len() {
            let says = |ranker: usize| Ok::<_, ()>(columns[ranker].scores[candidate].map(Score::new));
            scores.add(says).unwrap();
        }
        scores.finish(taken.iter().any(|taken| !taken.is_empty()));
        let record = |(row, taken): (usize, &&[f64])| {
            let taken: Vec<_> = taken
                .iter()
                .map(|penalty| ScorePart::taken("quota".into(), *penalty))
                .collect();
            let record = scores.record(row, &taken);
            assert_eq!(
                record.as_ref().map(|record| record.value),
                scores.value(row, &taken)
            );
            record
        };
        taken.iter().enumerate().map(record).collect()
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
        let mut scores = Scores::new([("a", 1.0), ("b", 1.0)].into_iter(), 3);
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
