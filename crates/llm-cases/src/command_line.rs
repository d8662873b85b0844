//! The words of the command line.

use crate::case::{DIALECTS, KINDS, Wire};
use crate::selection::Selection;
use std::path::PathBuf;

/// What was asked for.
#[derive(Debug)]
pub(crate) enum Asked {
    Help,
    Run(PathBuf, Selection),
}

/// Reads the words after the program's name.
pub(crate) fn read(words: &[String]) -> Result<Asked, String> {
    let mut words = words.iter().map(String::as_str);
    match words.next() {
        Some("run") => {}
        Some("--help" | "-h" | "help") => return Ok(Asked::Help),
        Some(other) => return Err(format!("there is no command `{other}`; the command is `run DIR`")),
        None => return Err("a command is missing: `run DIR`".to_owned()),
    }
    let mut folder = None;
    let mut selection = Selection::default();
    while let Some(word) = words.next() {
        let (name, inline) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value)),
            _ => (word, None),
        };
        let known: Option<Vec<&str>>;
        let list = match name {
            "--help" | "-h" => return Ok(Asked::Help),
            "--supported" if inline.is_none() => {
                selection.supported = true;
                continue;
            }
            "--kind" => {
                known = Some(KINDS.to_vec());
                &mut selection.kinds
            }
            "--wire" => {
                known = Some(Wire::ALL.iter().map(|wire| wire.as_str()).collect());
                &mut selection.wires
            }
            "--dialect" => {
                known = Some(DIALECTS.to_vec());
                &mut selection.dialects
            }
            "--id" => {
                known = None;
                &mut selection.ids
            }
            option if option.starts_with('-') => {
                return Err(format!("there is no option `{option}`; see `llm-cases --help`"));
            }
            path if folder.is_none() => {
                folder = Some(PathBuf::from(path));
                continue;
            }
            extra => {
                return Err(format!(
                    "`{extra}` is one word too many; one folder is run at a time"
                ));
            }
        };
        let value = inline
            .or_else(|| words.next())
            .ok_or_else(|| format!("`{name}` needs a value"))?;
        for value in value.split(',').map(str::trim).filter(|value| !value.is_empty()) {
            if let Some(known) = &known
                && !known.contains(&value)
            {
                return Err(format!("`{name} {value}`: the format knows {}", known.join(", ")));
            }
            list.push(value.to_owned());
        }
        if list.is_empty() {
            return Err(format!("`{name}` needs a value"));
        }
    }
    match folder {
        Some(folder) => Ok(Asked::Run(folder, selection)),
        None => Err("the folder is missing: `run DIR`".to_owned()),
    }
}

/// What `--help` says.
pub(crate) fn help() -> String {
    let wires: Vec<&str> = Wire::ALL.iter().map(|wire| wire.as_str()).collect();
    format!(
        "\
llm-cases run DIR [--kind K,..] [--wire W,..] [--dialect D,..] [--id ID,..] [--supported]

Runs every case file (*.json) of a folder against this build. A case is raw material with the
outcome that is right; the format is told in the README.md of the crate's `cases` folder.

  --kind K,..      only cases about these: {kinds}
  --wire W,..      only cases whose input is one of these: {wires}
  --dialect D,..   only cases in the form of these vendors: {dialects}
  --id ID,..       only these cases
  --supported      only cases that this build has something to run with

One line a case:
  ok ID                         the outcome is an expected one
  ok ID (should)                the same, for a case of level `should`
  FAIL ID: what differed        another outcome, or a file that cannot be run as it is: a word that
                                the runner does not know, a wire that this build cannot run, or
                                a malformed file
  differs ID (should): what     another outcome than the preferred one; careful people differ

The last line is `N passed, M failed`, after a line `K should-cases differ` where some do.
Exit code: 0 when nothing failed; 1 when something failed or no file matched; 2 for a command line
that cannot be read.

Streams run whole and byte by byte, on a fake clock; both must give the same outcome.

examples:
  llm-cases run crates/llm-cases/cases --supported
  llm-cases run crates/llm-cases/cases --kind sse-framing,delta-tools
  llm-cases run crates/llm-cases/cases-own --id usage-counts-as-floats",
        kinds = listed(KINDS),
        wires = listed(&wires),
        dialects = listed(DIALECTS),
    )
}

/// Words in lines that fit under an option.
fn listed(words: &[&str]) -> String {
    let mut text = String::new();
    let mut length = usize::MAX;
    for word in words {
        if length > 60 {
            text.push_str("\n                   ");
            length = 0;
        }
        text.push_str(word);
        text.push(' ');
        length += word.len() + 1;
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn every_option_is_read_in_both_forms() {
        let line = "run dir --kind errors,usage --wire=http-error --dialect groq --id a,b --supported";
        let Ok(Asked::Run(folder, selection)) = read(&words(line)) else {
            panic!("not read");
        };
        assert_eq!(folder, PathBuf::from("dir"));
        assert_eq!(selection.kinds, ["errors", "usage"]);
        assert_eq!(selection.wires, ["http-error"]);
        assert_eq!(selection.dialects, ["groq"]);
        assert_eq!(selection.ids, ["a", "b"]);
        assert!(selection.supported);
    }

    #[test]
    fn what_cannot_be_read_says_what_would() {
        let fault = |line: &str| read(&words(line)).map(|_| ()).unwrap_err();
        assert!(fault("").contains("run DIR"));
        assert!(fault("walk dir").contains("no command `walk`"));
        assert!(fault("run").contains("folder is missing"));
        assert!(fault("run dir --kind").contains("needs a value"));
        assert!(fault("run dir --kind ,").contains("needs a value"));
        assert!(fault("run dir --kind moods").contains("the format knows sse-framing"));
        assert!(fault("run dir --wire morse").contains("openai-chat-sse"));
        assert!(fault("run dir --quick").contains("no option `--quick`"));
        assert!(fault("run dir other").contains("one word too many"));
        assert!(matches!(read(&words("run --help")), Ok(Asked::Help)));
    }

    #[test]
    fn help_names_every_word_of_the_format() {
        let help = help();
        let words = KINDS.iter().chain(DIALECTS).copied();
        for word in words.chain(Wire::ALL.iter().map(|wire| wire.as_str())) {
            assert!(help.contains(word), "{word}");
        }
    }
}
