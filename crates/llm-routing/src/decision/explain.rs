//! The decision as a table for people.

use super::record::{DecisionRecord, Evaluation, ScoreRecord};
use std::fmt::Write;

/// The columns before the last, which is as wide as it likes.
const HEAD: [&str; 6] = ["#", "candidate", "model", "score", "verdict", "why"];
const WHY: usize = HEAD.len() - 1;

impl DecisionRecord {
    /// A table: who is asked in which order, with which model and score, and why the rest are not. It holds
    /// no content. Meant for people; programs read the fields.
    pub fn explain(&self) -> String {
        let mut rows = Vec::with_capacity(self.evaluations.len() + 1);
        rows.push(HEAD.map(str::to_owned));
        let plan: Vec<_> = self.selected.iter().chain(&self.fallbacks).collect();
        for (place, id) in plan.iter().enumerate() {
            let verdict = if place == 0 { "selected" } else { "fallback" };
            for evaluation in self.evaluations.iter().filter(|e| e.candidate == **id) {
                add_rows(&mut rows, (place + 1).to_string(), evaluation, verdict);
            }
        }
        for evaluation in self.evaluations.iter().filter(|e| !plan.contains(&&e.candidate)) {
            let verdict = if evaluation.eligible {
                "left out"
            } else {
                "rejected"
            };
            add_rows(&mut rows, "-".to_owned(), evaluation, verdict);
        }
        let mut out = String::new();
        let _ = writeln!(
            out,
            "policy {}: {} of {} candidates can serve",
            self.policy,
            self.evaluations.iter().filter(|e| e.eligible).count(),
            self.evaluations.len()
        );
        print(&rows, &mut out);
        out
    }
}

fn add_rows(rows: &mut Vec<[String; 6]>, place: String, evaluation: &Evaluation, verdict: &str) {
    let mut reasons = reasons(evaluation).into_iter();
    let score = evaluation
        .score
        .as_ref()
        .map_or("-".to_owned(), |score| number(score.value));
    let model = evaluation.model.as_ref().or(evaluation.model_asked.as_ref());
    rows.push([
        place,
        if evaluation.name == evaluation.candidate {
            evaluation.candidate.to_string()
        } else {
            format!("{} ({})", evaluation.candidate, evaluation.name)
        },
        model.map_or("(default)".to_owned(), ToString::to_string),
        score,
        verdict.to_owned(),
        reasons.next().unwrap_or_default(),
    ]);
    // one reason a line
    rows.extend(reasons.map(|reason| {
        let mut row = <[String; 6]>::default();
        row[WHY] = reason;
        row
    }));
}

fn reasons(evaluation: &Evaluation) -> Vec<String> {
    let mut reasons = Vec::new();
    for rejection in &evaluation.rejections {
        reasons.push(format!("{}: {}", rejection.code, rejection.description));
    }
    if let Some(availability) = evaluation.availability.filter(|a| !a.available) {
        let reason = availability
            .reason
            .map_or("unavailable", |reason| reason.as_str());
        reasons.push(match availability.available_in_ms {
            Some(left) => format!("not available now: {reason} for {}", seconds(left)),
            None => format!("not available now: {reason}"),
        });
    }
    if let Some(score) = &evaluation.score {
        add_score(&mut reasons, score);
    }
    for note in &evaluation.notes {
        reasons.push(format!("note {}: {}", note.code, note.description));
    }
    reasons
}

/// What a score is made of: for a composite one line for each part.
fn add_score(reasons: &mut Vec<String>, score: &ScoreRecord) {
    for part in &score.parts {
        let figure = |value: Option<f64>| value.map_or("unknown".to_owned(), number);
        let adds = number(part.contribution);
        reasons.push(match part.weight {
            Some(weight) => format!(
                "{}: {}, normalised {}, weight {}, adds {adds}",
                part.source,
                figure(part.raw),
                figure(part.normalised),
                number(weight),
            ),
            None => format!("{}: adds {adds}", part.source),
        });
    }
    if !score.facts.is_empty() {
        reasons.push(format!("{}: {}", score.ranker, score.facts));
    }
}

/// At most four decimals, and none that say nothing; of what is closer to 0, as a price for a short question, two
/// digits.
fn number(value: f64) -> String {
    if value != 0.0 && value.abs() < 5e-5 {
        return format!("{value:.1e}");
    }
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

fn seconds(millis: u64) -> String {
    format!("{}.{} s", millis / 1000, millis % 1000 / 100)
}

fn print(rows: &[[String; 6]], out: &mut String) {
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; WHY] = std::array::from_fn(width);
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        line.push_str(&row[WHY]);
        // A row is one line, whatever words a constraint or a stack has put into it.
        let _ = writeln!(out, "{}", line.trim_end().replace(char::is_control, " "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let all = [10.0, 0.5, 0.123_456, -0.0, -2.25, 1e-9, 1e20].map(number);
        assert_eq!(
            all,
            [
                "10",
                "0.5",
                "0.1235",
                "0",
                "-2.25",
                "1.0e-9",
                "100000000000000000000"
            ]
        );
        assert_eq!(number(-0.000_013_4), "-1.3e-5");
        assert_eq!(seconds(12_049), "12.0 s");
    }

    #[test]
    fn a_row_is_one_line() {
        let mut row = <[String; 6]>::default();
        row[WHY] = "first\nsecond\tthird".to_owned();
        let mut out = String::new();
        print(&[row], &mut out);
        assert_eq!(out.trim(), "first second third");
    }
}
