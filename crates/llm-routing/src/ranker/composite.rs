//! From what each ranker says to one score for each candidate.

use super::Score;
use crate::decision::{ScorePart, ScoreRecord};
use crate::facts::Facts;
use std::sync::Arc;

/// What one ranker said of every eligible candidate, in their order.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) ranker: Arc<str>,
    pub(crate) weight: f64,
    pub(crate) scores: Vec<Option<Score>>,
}

/// What one soft constraint takes from a candidate's score.
#[derive(Debug, Clone)]
pub(crate) struct Penalty {
    pub(crate) constraint: Arc<str>,
    pub(crate) penalty: f64,
}

/// One score for each candidate; `None` where no ranker knows anything of anybody and nothing is taken. `penalties`
/// are the candidates', in their order.
pub(crate) fn combine(columns: Vec<Column>, penalties: &[Vec<Penalty>]) -> Vec<Option<ScoreRecord>> {
    let penalised = penalties.iter().any(|penalties| !penalties.is_empty());
    match <[Column; 1]>::try_from(columns) {
        Ok([only]) if !penalised => as_they_are(only),
        Ok([only]) => added_up(vec![only], penalties),
        Err(columns) => added_up(columns, penalties),
    }
}

/// A single ranker stays as it is; what it does not know stands at the median.
fn as_they_are(column: Column) -> Vec<Option<ScoreRecord>> {
    let median = median(&column.scores);
    let ranker = column.ranker;
    let record = |score: Option<Score>| match score {
        Some(score) => Some(ScoreRecord::new(score.value, ranker.clone(), score.facts)),
        None => median
            .map(|median| ScoreRecord::new(median, ranker.clone(), Facts::default().with("unknown", true))),
    };
    column.scores.into_iter().map(record).collect()
}

/// Several rankers: each is brought to 0..1 over these candidates, then they are added up by their weights, and what
/// soft constraints take is taken.
fn added_up(columns: Vec<Column>, penalties: &[Vec<Penalty>]) -> Vec<Option<ScoreRecord>> {
    let sum: f64 = columns.iter().map(|column| column.weight).sum();
    let mut columns: Vec<_> = columns
        .into_iter()
        .map(|column| {
            let scale = Scale::of(&column.scores);
            (
                column.ranker,
                column.weight / sum,
                scale,
                column.scores.into_iter(),
            )
        })
        .collect();
    let nothing_known = columns.iter().all(|(_, _, scale, _)| scale.is_none());
    if nothing_known && penalties.iter().all(Vec::is_empty) {
        return penalties.iter().map(|_| None).collect();
    }
    let mut record = |penalties: &Vec<Penalty>| {
        let mut parts = Vec::with_capacity(columns.len() + penalties.len());
        for (ranker, weight, scale, scores) in &mut columns {
            let score = scores.next().flatten();
            let raw = score.as_ref().map(|score| score.value);
            let normalised = scale.as_ref().map_or(0.0, |scale| scale.normalise(raw));
            parts.push(ScorePart {
                source: ranker.clone(),
                weight: Some(*weight),
                raw,
                normalised: Some(normalised),
                contribution: normalised * *weight,
                facts: score.map(|score| score.facts).unwrap_or_default(),
            });
        }
        parts.extend(penalties.iter().map(|penalty| ScorePart {
            source: penalty.constraint.clone(),
            weight: None,
            raw: None,
            normalised: None,
            contribution: -penalty.penalty,
            facts: Facts::default(),
        }));
        Some(ScoreRecord::composite(parts))
    };
    penalties.iter().map(&mut record).collect()
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

    fn normalise(&self, score: Option<f64>) -> f64 {
        let value = score.unwrap_or(self.median);
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

    fn column(ranker: &str, scores: &[Option<f64>]) -> Column {
        Column {
            ranker: ranker.into(),
            weight: 1.0,
            scores: scores.iter().map(|score| score.map(Score::new)).collect(),
        }
    }

    fn values(columns: Vec<Column>, candidates: usize) -> Vec<Option<f64>> {
        combine(columns, &vec![Vec::new(); candidates])
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
        let penalty = Penalty {
            constraint: "quota".into(),
            penalty: 2.0,
        };
        let records = combine(columns, &[vec![], vec![penalty]]);
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
        let penalty = Penalty {
            constraint: "quota".into(),
            penalty: 1.0,
        };
        let values: Vec<_> = combine(vec![], &[vec![penalty], vec![]])
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
        assert_eq!(median(&wide.map(|value| value.map(Score::new))), Some(0.0));
    }
}
