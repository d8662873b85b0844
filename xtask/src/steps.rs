//! Steps of a long command: what runs now, how long each took, and how to run the failed one alone.

use std::time::{Duration, Instant};

use crate::failure::{Failure, Outcome};

/// The steps that a command has run so far.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    finished: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    name: String,
    took: Duration,
    passed: bool,
}

impl Steps {
    /// Runs one step. Its failure names the step and `alone`, the command that repeats just this one.
    pub(crate) fn run<T>(
        &mut self,
        name: &str,
        alone: &str,
        work: impl FnOnce() -> Outcome<T>,
    ) -> Outcome<T> {
        eprintln!("\n==> {name}");
        let start = Instant::now();
        let outcome = work();
        let took = start.elapsed();
        let passed = outcome.is_ok();
        self.finished.push(Step {
            name: name.to_owned(),
            took,
            passed,
        });
        outcome.map_err(|failure| {
            let why = match failure.message.as_str() {
                "" => String::new(),
                message => format!(": {message}"),
            };
            Failure {
                message: format!("step `{name}` failed{why}\nrun it alone: {alone}"),
                ..failure
            }
        })
    }

    /// Says what failed, then the time of each step, then a plain line of counts as the last thing of all.
    pub(crate) fn conclude(self, outcome: Outcome) -> Outcome {
        if let Err(failure) = &outcome {
            eprintln!("\nerror: {}", failure.message);
        }
        let passed = self.finished.iter().filter(|step| step.passed).count();
        let failed = self.finished.len() - passed;
        println!(
            "\ntime of each step:\n{}\nsteps: {passed} passed, {failed} failed",
            self.table()
        );
        outcome.map_err(|failure| Failure::already_told(failure.code))
    }

    /// The time of each step as a table.
    fn table(&self) -> String {
        let width = self
            .finished
            .iter()
            .map(|step| step.name.len())
            .max()
            .unwrap_or(0)
            .max("total".len());
        let mut text = String::new();
        for step in &self.finished {
            let verdict = if step.passed { "ok" } else { "FAILED" };
            text.push_str(&format!(
                "  {:<width$}  {:>8}  {verdict}\n",
                step.name,
                seconds(step.took)
            ));
        }
        let total: Duration = self.finished.iter().map(|step| step.took).sum();
        text.push_str(&format!("  {:<width$}  {:>8}", "total", seconds(total)));
        text
    }
}

/// A length of time as a person reads it: `4.2 s`, `12 min 05 s`.
pub(crate) fn seconds(time: Duration) -> String {
    let tenths = time.as_millis() / 100;
    if tenths < 1200 {
        format!("{}.{} s", tenths / 10, tenths % 10)
    } else {
        format!("{} min {:02} s", tenths / 600, tenths / 10 % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_step_names_itself_and_its_command() {
        let mut steps = Steps::default();
        steps.run("first", "cargo one", || Ok(())).unwrap();
        let failure = steps
            .run("second", "cargo two", || -> Outcome {
                Err(Failure::new("it broke"))
            })
            .unwrap_err();
        assert_eq!(
            failure.message,
            "step `second` failed: it broke\nrun it alone: cargo two"
        );
        assert!(steps.table().contains("FAILED"));
        assert_eq!(steps.conclude(Err(failure)).unwrap_err().message, "");
    }

    #[test]
    fn failure_keeps_the_exit_code_of_the_child() {
        let mut steps = Steps::default();
        let failure = steps
            .run("child", "cargo child", || -> Outcome {
                Err(Failure::already_told(101))
            })
            .unwrap_err();
        assert_eq!(failure.code, 101);
        assert_eq!(failure.message, "step `child` failed\nrun it alone: cargo child");
    }

    #[test]
    fn times_read_well() {
        assert_eq!(seconds(Duration::from_millis(4_230)), "4.2 s");
        assert_eq!(seconds(Duration::from_millis(119_999)), "119.9 s");
        assert_eq!(seconds(Duration::from_secs(725)), "12 min 05 s");
    }
}
