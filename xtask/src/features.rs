//! `cargo xtask features`: how many crates each choice of features costs, and that each choice builds.

use std::collections::BTreeSet;

use crate::arguments::{Command, Flag};
use crate::failure::{Failure, Outcome};
use crate::metadata::Metadata;
use crate::workspace;

pub(crate) const COMMAND: Command = Command {
    name: "features",
    summary: "Count the crates behind each feature; fail where a promise is broken",
    details: "\
Prints one row per package and choice of features: how many crates its normal dependency tree has for
this machine, the package itself not counted (build-time code such as proc-macros is). Rows with a limit
fail when they grow past it. Raising a limit is a decision: the table is in xtask/src/features.rs.
",
    operands: &[],
    flags: &[Flag {
        name: "--check-each",
        value: None,
        help: "also `cargo check` llm-suite and llm-driver-wire with no feature, each feature alone, and all",
    }],
    run: |arguments| {
        run()?;
        if arguments.has("--check-each") {
            check_each()
        } else {
            Ok(())
        }
    },
};

/// The package that users add; its features choose the rest.
const META_CRATE: &str = "llm-suite";

/// The packages whose features are checked one by one: the meta-crate, and the wire formats.
const CHOSEN_FROM: [&str; 2] = [META_CRATE, "llm-driver-wire"];

/// A promise about weight: this choice of features costs at most that many crates.
struct Promise {
    package: &'static str,
    features: Choice,
    limit: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Choice {
    None,
    Default,
    Only(&'static str),
    All,
}

const PROMISES: &[Promise] = &[
    Promise {
        package: "llm-driver-core",
        features: Choice::Default,
        limit: 20,
    },
    one_driver("llm-driver-claude"),
    one_driver("llm-driver-deepseek"),
    one_driver("llm-driver-gemini"),
    one_driver("llm-driver-groq"),
    one_driver("llm-driver-kimi"),
    one_driver("llm-driver-mistral"),
    one_driver("llm-driver-ollama"),
    one_driver("llm-driver-openai"),
];

/// One driver with TLS.
const fn one_driver(package: &'static str) -> Promise {
    Promise {
        package,
        features: Choice::Only("rustls"),
        limit: 100,
    }
}

/// Rows without a promise, for the eye.
const SHOWN: [Choice; 3] = [Choice::None, Choice::Default, Choice::All];

struct Row {
    name: String,
    count: usize,
    limit: Option<usize>,
}

impl Row {
    fn is_over(&self) -> bool {
        self.limit.is_some_and(|limit| self.count > limit)
    }
}

impl Choice {
    fn flags(&self) -> Vec<&'static str> {
        match self {
            Self::None => vec!["--no-default-features"],
            Self::Default => Vec::new(),
            Self::Only(names) => vec!["--no-default-features", "--features", names],
            Self::All => vec!["--all-features"],
        }
    }

    fn label(&self) -> &'static str {
        match self {
            Self::None => "no features",
            Self::Default => "default",
            Self::Only(names) => names,
            Self::All => "all features",
        }
    }
}

/// Counts every row and fails when one is over its limit.
pub(crate) fn run() -> Outcome {
    let mut rows = Vec::new();
    for promise in PROMISES {
        rows.push(row(promise.package, &promise.features, Some(promise.limit))?);
    }
    for choice in &SHOWN {
        rows.push(row(META_CRATE, choice, None)?);
    }
    println!("{}", table(&rows));
    let over: Vec<String> = rows
        .iter()
        .filter(|row| row.is_over())
        .map(|row| {
            format!(
                "{} ({} crates, limit {})",
                row.name,
                row.count,
                row.limit.unwrap_or_default()
            )
        })
        .collect();
    if over.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "heavier than promised: {}; see what came in with `cargo tree -e normal -p PACKAGE`",
        over.join(", ")
    )))
}

fn row(package: &str, choice: &Choice, limit: Option<usize>) -> Outcome<Row> {
    let mut command = workspace::cargo(&[
        "tree",
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--package",
        package,
    ])?;
    let tree = workspace::output(command.args(choice.flags()))?;
    Ok(Row {
        name: format!("{package}, {}", choice.label()),
        count: count(&tree),
        limit,
    })
}

/// Unique packages in what `cargo tree --prefix none` prints, the first line (the root) not counted.
fn count(tree: &str) -> usize {
    let name_and_version = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.to_owned()))
    };
    let mut lines = tree.lines().filter_map(name_and_version);
    let root = lines.next();
    lines
        .filter(|package| Some(package) != root.as_ref())
        .collect::<BTreeSet<_>>()
        .len()
}

fn table(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let mut text = format!("{:<width$}  crates  limit", "package, features");
    for row in rows {
        let limit = row.limit.map_or("-".to_owned(), |limit| limit.to_string());
        let mark = if row.is_over() { "  OVER" } else { "" };
        text.push_str(&format!(
            "\n{:<width$}  {:>6}  {limit:>5}{mark}",
            row.name, row.count
        ));
    }
    text
}

/// Checks that the packages whose features users choose from build with no feature, with each one alone, and with all.
pub(crate) fn check_each() -> Outcome {
    let metadata = Metadata::read()?;
    for name in CHOSEN_FROM {
        let Some(package) = metadata.members().find(|package| package.name == name) else {
            return Err(Failure::new(format!("the workspace has no `{name}`")));
        };
        check(name, &["--no-default-features"])?;
        for feature in package.features.iter().filter(|feature| *feature != "default") {
            check(name, &["--no-default-features", "--features", feature])?;
        }
        check(name, &["--all-features"])?;
    }
    Ok(())
}

fn check(package: &str, flags: &[&str]) -> Outcome {
    println!("features: cargo check -p {package} {}", flags.join(" "));
    workspace::run(workspace::cargo(&["check", "--quiet", "--package", package])?.args(flags))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_counted_once_and_the_root_not_at_all() {
        let tree = "ours v0.1.0 (somewhere)\nserde v1.0.1\nserde_derive v1.0.1 (proc-macro)\nserde v1.0.1 (*)\n\
                    syn v2.0.0\n\nours v0.1.0 (somewhere) (*)\nsyn v1.0.9\n";
        assert_eq!(count(tree), 4);
        assert_eq!(count("ours v0.1.0 (somewhere)\n"), 0);
        assert_eq!(count(""), 0);
    }

    #[test]
    fn table_marks_the_row_that_is_over() {
        let rows = [
            Row {
                name: "a, default".to_owned(),
                count: 20,
                limit: Some(20),
            },
            Row {
                name: "b, rustls".to_owned(),
                count: 101,
                limit: Some(100),
            },
            Row {
                name: "c, all features".to_owned(),
                count: 300,
                limit: None,
            },
        ];
        let lines: Vec<String> = table(&rows).lines().map(str::to_owned).collect();
        assert!(!lines[1].contains("OVER"));
        assert!(lines[2].ends_with("100  OVER"), "{lines:?}");
        assert!(lines[3].ends_with('-'), "{lines:?}");
    }
}
