//! From what each ranker says to one score for each candidate.

use crate::decision::ScoreRecord;
use crate::facts::Facts;

/// Makes one score of what was said of each eligible candidate: a part for each ranker, in the order of their `weights`,
/// then one for each soft constraint that takes something. What comes out is `None` where no ranker knows anything of
/// anybody and nothing is taken.
pub(crate) fn combine(said: &mut [&mut Option<ScoreRecord>], weights: &[f64]) {
    let is_alone = |record: &ScoreRecord| record.parts.len() == 1;
    if weights.len() == 1 && said.iter().all(|record| record.as_ref().is_some_and(is_alone)) {
        take_as_they_are(said);
    } else {
        add_up(said, weights);
    }
}

/// A single ranker stays as it is; what it does not know stands at the median.
fn take_as_they_are(said: &mut [&mut Option<ScoreRecord>]) {
    let median = median(said, 0);
    for record in said {
        let only = record.take().and_then(|mut record| record.parts.pop());
        **record = only.and_then(|part| {
            let (value, facts) = match part.raw {
                Some(value) => (value, part.facts),
                None => (median?, Facts::default().with("unknown", true)),
            };
            Some(ScoreRecord::new(value, part.source, facts))
        });
    }
}

/// Several rankers: each is brought to 0..1 over these candidates, then they are added up by their weights, and what
/// soft constraints take is taken.
fn add_up(said: &mut [&mut Option<ScoreRecord>], weights: &[f64]) {
    let sum: f64 = weights.iter().sum();
    let scales: Vec<_> = (0..weights.len()).map(|ranker| Scale::of(said, ranker)).collect();
    let takes = |record: &ScoreRecord| record.parts.len() > weights.len();
    let nothing_known = scales.iter().all(Option::is_none);
    if nothing_known && !said.iter().any(|record| record.as_ref().is_some_and(takes)) {
        said.iter_mut().for_each(|record| **record = None);
        return;
    }
    for record in said.iter_mut().filter_map(|record| record.as_mut()) {
        for ((part, weight), scale) in record.parts.iter_mut().zip(weights).zip(&scales) {
            let weight = weight / sum;
            let normalised = scale.as_ref().map_or(0.0, |scale| scale.normalise(part.raw));
            part.weight = Some(weight);
            part.normalised = Some(normalised);
            part.contribution = normalised * weight;
        }
        record.value = record.parts.iter().map(|part| part.contribution).sum();
    }
}

/// Where the known scores of one ranker lie.
#[derive(Debug)]
struct Scale {
    lowest: f64,
    highest: f64,
    /// Where the unknown stand; not worked out where all are known.
    median: Option<f64>,
}

impl Scale {
    /// Of the ranker at this place.
    fn of(said: &[&mut Option<ScoreRecord>], ranker: usize) -> Option<Self> {
        let mut scores = raw(said, ranker);
        let first = scores.by_ref().flatten().next()?;
        let ends = |(lowest, highest): (f64, f64), score: f64| (lowest.min(score), highest.max(score));
        let (lowest, highest) = scores.flatten().fold((first, first), ends);
        let all_known = raw(said, ranker).all(|score| score.is_some());
        Some(Scale {
            lowest,
            highest,
            median: if all_known { None } else { median(said, ranker) },
        })
    }

    fn normalise(&self, score: Option<f64>) -> f64 {
        let value = score.or(self.median).unwrap_or(self.lowest);
        // halves first: the difference of two finite numbers may not be one
        let width = self.highest / 2.0 - self.lowest / 2.0;
        if width > 0.0 {
            (value / 2.0 - self.lowest / 2.0) / width
        } else {
            // all alike: this ranker prefers nobody
            1.0
        }
    }
}

/// What one ranker said of each.
fn raw<'s>(said: &'s [&mut Option<ScoreRecord>], ranker: usize) -> impl Iterator<Item = Option<f64>> + 's {
    let records = said.iter().filter_map(|record| record.as_ref());
    records.map(move |record| record.parts.get(ranker)?.raw)
}

fn median(said: &[&mut Option<ScoreRecord>], ranker: usize) -> Option<f64> {
    let mut known: Vec<f64> = raw(said, ranker).flatten().collect();
    known.sort_unstable_by(f64::total_cmp);
    let upper = *known.get(known.len() / 2)?;
    let lower = *known.get((known.len() - 1) / 2)?;
    Some(lower / 2.0 + upper / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::ScorePart;
    use crate::ranker::Score;

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
        let mut records: Vec<_> = taken
            .iter()
            .enumerate()
            .map(|(candidate, taken)| {
                let said = |column: &Column| {
                    let score: Option<f64> = column.scores[candidate];
                    ScorePart::said(column.ranker.into(), score.map(Score::new))
                };
                let taken = taken
                    .iter()
                    .map(|penalty| ScorePart::taken("quota".into(), *penalty));
                let parts = columns.iter().map(said).chain(taken).collect();
                Some(ScoreRecord::composite("composite".into(), parts))
            })
            .collect();
        let weights: Vec<_> = columns.iter().map(|column| column.weight).collect();
        combine(&mut records.iter_mut().collect::<Vec<_>>(), &weights);
        records
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
}
