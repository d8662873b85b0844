//! Command lines: what a command accepts, its help, and errors that suggest what was meant.

use crate::failure::{Failure, Outcome};

/// One command of `cargo xtask`.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    /// One line for the list of commands.
    pub(crate) summary: &'static str,
    /// What the command does, for its own help.
    pub(crate) details: &'static str,
    /// Names of the words that must follow, in order, as the help shows them. A last one in brackets may be missing, and
    /// with dots (`[NAME..]`) come several times.
    pub(crate) operands: &'static [&'static str],
    pub(crate) flags: &'static [Flag],
    pub(crate) run: fn(&Arguments) -> Outcome,
}

/// An option of a command.
pub(crate) struct Flag {
    /// With its dashes, as in `--check`.
    pub(crate) name: &'static str,
    /// The name of its value in the help, where it takes one.
    pub(crate) value: Option<&'static str>,
    pub(crate) help: &'static str,
}

/// A command line that a command has accepted.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    operands: Vec<String>,
    options: Vec<(&'static str, Option<String>)>,
    rest: Vec<String>,
}

impl Command {
    /// Reads the words after the command's name; `None` means that help was asked for.
    pub(crate) fn parse(&self, words: &[String]) -> Outcome<Option<Arguments>> {
        let mut arguments = Arguments::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--help" | "-h" => return Ok(None),
                "--" => {
                    arguments.rest = words.by_ref().cloned().collect();
                }
                option if option.starts_with('-') && option.len() > 1 => {
                    let (name, inline) = match option.split_once('=') {
                        Some((name, value)) => (name, Some(value.to_owned())),
                        None => (option, None),
                    };
                    let flag = self.flag(name)?;
                    let value = match (flag.value, inline) {
                        (None, None) => None,
                        (None, Some(_)) => {
                            return Err(self.wrong(format!("`{name}` takes no value")));
                        }
                        (Some(_), Some(value)) => Some(value),
                        (Some(kind), None) => match words.next() {
                            Some(value) => Some(value.clone()),
                            None => {
                                return Err(self.wrong(format!("`{name}` needs a value: `{name} {kind}`")));
                            }
                        },
                    };
                    arguments.options.push((flag.name, value));
                }
                operand => arguments.operands.push(operand.to_owned()),
            }
        }
        let missing = self.operands.get(arguments.operands.len());
        if let Some(missing) = missing.filter(|name| !name.starts_with('[')) {
            return Err(self.wrong(format!("{missing} is missing")));
        }
        let repeats = self.operands.last().is_some_and(|name| name.ends_with("..]"));
        if let Some(extra) = arguments.operands.get(self.operands.len()).filter(|_| !repeats) {
            return Err(self.wrong(format!("`{extra}` is one word too many")));
        }
        Ok(Some(arguments))
    }

    fn flag(&self, name: &str) -> Outcome<&Flag> {
        self.flags.iter().find(|flag| flag.name == name).ok_or_else(|| {
            match nearest(name, self.flags.iter().map(|flag| flag.name)) {
                Some(close) => self.wrong(format!("no option `{name}`; did you mean `{close}`?")),
                None => self.wrong(format!("no option `{name}`")),
            }
        })
    }

    fn wrong(&self, what: String) -> Failure {
        let name = self.name;
        Failure::usage(format!(
            "{name}: {what}\n{}; more: `cargo xtask {name} --help`",
            self.usage()
        ))
    }

    fn usage(&self) -> String {
        let mut line = format!("usage: cargo xtask {}", self.name);
        for operand in self.operands {
            line.push_str(&format!(" {operand}"));
        }
        for flag in self.flags {
            match flag.value {
                Some(value) => line.push_str(&format!(" [{} {value}]", flag.name)),
                None => line.push_str(&format!(" [{}]", flag.name)),
            }
        }
        line
    }

    /// The text of `cargo xtask NAME --help`.
    pub(crate) fn help(&self) -> String {
        let mut text = format!("{}\n\n{}\n\n{}", self.summary, self.usage(), self.details.trim());
        if !self.flags.is_empty() {
            text.push('\n');
        }
        for flag in self.flags {
            let name = match flag.value {
                Some(value) => format!("{} {value}", flag.name),
                None => flag.name.to_owned(),
            };
            text.push_str(&format!("\n  {name:<18} {}", flag.help));
        }
        text
    }
}

impl Arguments {
    /// The operand at `position`; the parser has made sure that the declared ones are there.
    pub(crate) fn operand(&self, position: usize) -> &str {
        self.operands.get(position).map_or("", String::as_str)
    }

    /// All operands, for a command whose last one may come several times.
    pub(crate) fn operands(&self) -> &[String] {
        &self.operands
    }

    /// Whether the option was given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.options.iter().any(|(option, _)| *option == name)
    }

    /// The value of an option; the last one counts.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.options
            .iter()
            .rev()
            .find(|(option, _)| *option == name)?
            .1
            .as_deref()
    }

    /// Every option as it was given, for handing on to another program.
    pub(crate) fn options(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.options.iter().map(|(name, value)| (*name, value.as_deref()))
    }

    /// The words after `--`.
    pub(crate) fn rest(&self) -> &[String] {
        &self.rest
    }
}

/// The candidate that a mistyped word was most likely meant to be, if any is close.
pub(crate) fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = word.chars().count().max(3) / 2;
    candidates
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= limit || (word.len() > 2 && candidate.starts_with(word)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Number of insertions, deletions and replacements that turn `left` into `right`.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut previous: Vec<usize> = (0..=right.len()).collect();
    for (row, a) in left.chars().enumerate() {
        let mut current = vec![row + 1];
        for (column, b) in right.iter().enumerate() {
            let replaced = previous[column] + usize::from(a != *b);
            current.push(replaced.min(previous[column + 1] + 1).min(current[column] + 1));
        }
        previous = current;
    }
    previous[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: Command = Command {
        name: "sample",
        summary: "Shows how words are read",
        details: "Nothing happens.",
        operands: &["DIR"],
        flags: &[
            Flag {
                name: "--check",
                value: None,
                help: "only compare",
            },
            Flag {
                name: "--kind",
                value: Some("K,.."),
                help: "only these kinds",
            },
        ],
        run: |_| Ok(()),
    };

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_are_read_in_both_forms() {
        let arguments = SAMPLE
            .parse(&words("there --kind=a --kind b --check -- -x y"))
            .unwrap()
            .unwrap();
        assert_eq!(arguments.operand(0), "there");
        assert_eq!(arguments.value("--kind"), Some("b"));
        assert!(arguments.has("--check"));
        assert_eq!(arguments.rest(), ["-x", "y"]);
    }

    #[test]
    fn wrong_lines_say_what_to_write() {
        for (line, expected) in [
            ("", "DIR is missing"),
            ("a b", "`b` is one word too many"),
            ("a --chek", "did you mean `--check`?"),
            ("a --check=1", "`--check` takes no value"),
            ("a --kind", "`--kind` needs a value"),
        ] {
            let failure = SAMPLE.parse(&words(line)).unwrap_err();
            assert!(failure.message.contains(expected), "{line}: {}", failure.message);
            assert!(
                failure.message.contains("usage: cargo xtask sample DIR"),
                "{line}: {}",
                failure.message
            );
        }
    }

    #[test]
    fn a_last_operand_in_brackets_may_be_missing_or_come_again() {
        let command = Command {
            operands: &["DIR", "[NAME..]"],
            ..SAMPLE
        };
        assert!(command.parse(&words("")).is_err());
        for line in ["a", "a b", "a b c"] {
            let arguments = command.parse(&words(line)).unwrap().unwrap();
            assert_eq!(arguments.operands(), words(line));
        }
    }

    #[test]
    fn help_wins_over_missing_words() {
        assert!(SAMPLE.parse(&words("--help")).unwrap().is_none());
    }

    #[test]
    fn far_words_get_no_suggestion() {
        assert_eq!(nearest("zebra", ["lint", "demo"].into_iter()), None);
        assert_eq!(nearest("cat", ["catalog", "cases"].into_iter()), Some("catalog"));
    }
}
