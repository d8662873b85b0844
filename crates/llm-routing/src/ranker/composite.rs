//! From what each ranker says to one score for each candidate.

use super::Score;
use crate::decision::ScoreRecord;
use crate::facts::Facts;
use serde_json::{Map, Value};

/// What one ranker said of every eligible candidate, in their order.
#[derive(Debug)]
pub(crate) struct Column<'a> {
    pub(crate) ranker: &'a str,
    pub(crate) scores: Vec<Option<Score>>,
}

/// One score for each candidate; `None` where no ranker knows anything of anybody.
pub(crate) fn combine(columns: Vec<Column<'_>>, candidates: usize) -> Vec<Option<ScoreRecord>> {
    match <[Column<'_>; 1]>::try_from(columns) {
        Ok([only]) => as_they_are(only),
        Err(columns) => averaged(&columns, candidates),
    }
}

/// A single ranker stays as it is; what it does not know stands at the median.
fn as_they_are(column: Column<'_>) -> Vec<Option<ScoreRecord>> {
    let median = median(&column.scores);
    let ranker = column.ranker;
    let record = |score: Option<Score>| match score {
        Some(score) => Some(ScoreRecord::new(score.value, ranker, score.facts)),
        None => median.map(|median| ScoreRecord::new(median, ranker, Facts::default().with("unknown", true))),
    };
    column.scores.into_iter().map(record).collect()
}

/// Several rankers: each is brought to 0..1 over these candidates, then they are averaged.
fn averaged(columns: &[Column<'_>], candidates: usize) -> Vec<Option<ScoreRecord>> {
    let scales: Vec<_> = columns.iter().map(|column| Scale::of(&column.scores)).collect();
    if scales.iter().all(Option::is_none) {
        return (0..candidates).map(|_| None).collect();
    }
    let share = 1.0 / columns.len() as f64;
    let record = |place: usize| {
        let mut value = 0.0;
        let mut facts = Facts::default();
        for (column, scale) in columns.iter().zip(&scales) {
            let score = column.scores.get(place).and_then(Option::as_ref);
            let normalised = scale.as_ref().map_or(0.0, |scale| scale.normalise(score));
            value += normalised * share;
            let part = Map::from_iter([
                (
                    "raw".to_owned(),
                    score.map_or(Value::Null, |score| score.value.into()),
                ),
                ("normalised".to_owned(), normalised.into()),
                ("contribution".to_owned(), (normalised * share).into()),
            ]);
            facts = facts.with(column.ranker.to_owned(), part);
        }
        Some(ScoreRecord::new(value, "composite", facts))
    };
    (0..candidates).map(record).collect()
}

/// Where the known scores of one ranker lie.
#[derive(Debug)]
struct Scale {
    lowest: f64,
    highest: f64,
    median: f64,
}

impl Scale {
    fn of(scores: &[Option<Score>]) -> Option<Self> {
        let known = || scores.iter().flatten().map(|score| score.value);
        Some(Scale {
            lowest: known().min_by(f64::total_cmp)?,
            highest: known().max_by(f64::total_cmp)?,
            median: median(scores)?,
        })
    }

    fn normalise(&self, score: Option<&Score>) -> f64 {
        let value = score.map_or(self.median, |score| score.value);
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

fn median(scores: &[Option<Score>]) -> Option<f64> {
    let mut known: Vec<f64> = scores.iter().flatten().map(|score| score.value).collect();
    known.sort_unstable_by(f64::total_cmp);
    let upper = *known.get(known.len() / 2)?;
    let lower = *known.get((known.len() - 1) / 2)?;
    Some(lower / 2.0 + upper / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column<'a>(ranker: &'a str, scores: &[Option<f64>]) -> Column<'a> {
        Column {
            ranker,
            scores: scores.iter().map(|score| score.map(Score::new)).collect(),
        }
    }

    fn values(columns: Vec<Column<'_>>, candidates: usize) -> Vec<Option<f64>> {
        combine(columns, candidates)
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
    fn several_rankers_are_normalised_before_they_are_averaged() {
        let dollars = column("cost", &[Some(0.1), Some(0.3), Some(0.2)]);
        let millis = column("latency", &[Some(100.0), Some(900.0), None]);
        let got = values(vec![dollars, millis], 3);
        assert_eq!(got[0], Some(0.0));
        assert_eq!(got[1], Some(1.0));
        // a known middle and an unknown at the median: half of each
        assert!((got[2].unwrap() - 0.5).abs() < 1e-9, "{got:?}");
    }

    #[test]
    fn the_parts_are_shown() {
        let records = combine(
            vec![
                column("a", &[Some(1.0), None]),
                column("b", &[Some(5.0), Some(5.0)]),
            ],
            2,
        );
        let facts = records[1].as_ref().unwrap().facts.to_string();
        assert_eq!(
            facts,
            "a={\"raw\":null,\"normalised\":1.0,\"contribution\":0.5}, \
             b={\"raw\":5.0,\"normalised\":1.0,\"contribution\":0.5}"
        );
    }

    #[test]
    fn huge_scores_stay_finite() {
        let wide = [Some(f64::MIN), Some(f64::MAX)];
        let got = values(vec![column("a", &wide), column("b", &wide)], 2);
        assert_eq!(got, [Some(0.0), Some(1.0)]);
        assert_eq!(median(&wide.map(|value| value.map(Score::new))), Some(0.0));
    }
}
