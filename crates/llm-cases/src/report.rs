//! What is said of each case and of all of them.

use crate::case::{Fault, Level};
use std::fmt::Write as _;

/// How a case ended.
#[derive(Debug)]
pub(crate) enum Verdict {
    Passed,
    /// The outcome is none of the expected ones.
    Differs(Vec<String>),
    /// The file cannot be run.
    Refused(Fault),
    /// The code under test panicked.
    Panicked,
}

/// The count of a run.
#[derive(Debug, Default)]
pub(crate) struct Report {
    passed: usize,
    failed: usize,
    should_differ: usize,
}

impl Report {
    /// Counts a case, and gives its line.
    pub(crate) fn add(&mut self, id: &str, level: Level, verdict: &Verdict) -> String {
        match (verdict, level) {
            (Verdict::Passed, level) => {
                self.passed += 1;
                format!("ok {id}{}", mark(level))
            }
            (Verdict::Differs(found), Level::Should) => {
                self.should_differ += 1;
                format!("differs {id}{}: {}", mark(level), one_line(&found.join("; ")))
            }
            (Verdict::Differs(found), Level::Must) => {
                self.failed += 1;
                format!("FAIL {id}: {}", one_line(&found.join("; ")))
            }
            (Verdict::Refused(fault), _) => {
                self.failed += 1;
                format!("FAIL {id}: {}", one_line(&fault.to_string()))
            }
            (Verdict::Panicked, _) => {
                self.failed += 1;
                format!("FAIL {id}: panicked")
            }
        }
    }

    /// Did no case fail, and was there any?
    pub(crate) fn is_good(&self) -> bool {
        self.failed == 0 && !self.is_empty()
    }

    /// Was no file chosen?
    pub(crate) fn is_empty(&self) -> bool {
        self.passed + self.failed + self.should_differ == 0
    }

    /// The last lines.
    pub(crate) fn closing(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.is_empty() {
            lines.push("no case file matched".to_owned());
        }
        if self.should_differ > 0 {
            lines.push(format!("{} should-cases differ", self.should_differ));
        }
        lines.push(format!("{} passed, {} failed", self.passed, self.failed));
        lines
    }
}

fn mark(level: Level) -> &'static str {
    match level {
        Level::Must => "",
        Level::Should => " (should)",
    }
}

/// Control characters and line separators, escaped.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') {
            let _ = write!(line, "{}", character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_has_its_line_and_its_count() {
        let differs = || Verdict::Differs(vec!["text: a\nb".to_owned(), "usage: c".to_owned()]);
        let refused = || Verdict::Refused(Fault::unknown("key", "input.whim"));
        let mut report = Report::default();
        let lines: Vec<String> = [
            ("a", Level::Must, Verdict::Passed),
            ("b", Level::Should, Verdict::Passed),
            ("c", Level::Must, differs()),
            ("d", Level::Should, differs()),
            ("e", Level::Should, refused()),
            ("f", Level::Should, Verdict::Panicked),
        ]
        .iter()
        .map(|(id, level, verdict)| report.add(id, *level, verdict))
        .collect();
        assert_eq!(
            lines,
            [
                "ok a",
                "ok b (should)",
                "FAIL c: text: a\\nb; usage: c",
                "differs d (should): text: a\\nb; usage: c",
                "FAIL e: unknown key input.whim",
                "FAIL f: panicked",
            ]
        );
        assert_eq!(report.closing(), ["1 should-cases differ", "2 passed, 3 failed"]);
        assert!(!report.is_good());
    }

    #[test]
    fn a_run_of_nothing_is_not_good() {
        let report = Report::default();
        assert_eq!(report.closing(), ["no case file matched", "0 passed, 0 failed"]);
        assert!(!report.is_good());
        let mut only_should = Report::default();
        only_should.add("a", Level::Should, &Verdict::Differs(Vec::new()));
        assert!(only_should.is_good());
    }
}
