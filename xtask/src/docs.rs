//! `cargo xtask docs`: the pages that are made from what the conformance suites proved.

mod tables;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::arguments::{Arguments, Command, Flag};
use crate::failure::{Context, Failure, Outcome};
use crate::workspace;

pub(crate) const COMMAND: Command = Command {
    name: "docs",
    summary: "Make the pages that come from what the tests proved",
    details: "\
Runs the conformance suite of every driver and writes what was proved: the table of capabilities in README.md, and
docs/reference/capabilities.md and docs/reference/options.md. With --check nothing is written, and a page that is not
up to date is an error.
",
    operands: &[],
    flags: &[
        Flag {
            name: "--check",
            value: None,
            help: "write nothing; fail where a page is not up to date",
        },
        Flag {
            name: "--last-run",
            value: None,
            help: "take the reports of the last test run and run no suite",
        },
    ],
    run: start,
};

/// Where the suites write their reports, below the build folder.
const REPORTS: &str = "conformance";

/// What stands around a generated part of a page that is written by hand.
const BEGIN: &str = "<!-- begin: capabilities, made by `cargo xtask docs` -->";
const END: &str = "<!-- end: capabilities -->";

/// What one suite found.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) driver: String,
    pub(crate) found: Value,
}

fn start(arguments: &Arguments) -> Outcome {
    if !arguments.has("--last-run") {
        forget_reports()?;
        let mut words = vec![
            "test".to_owned(),
            "--quiet".to_owned(),
            "--test".to_owned(),
            "it".to_owned(),
        ];
        for driver in drivers(&workspace::root()?)? {
            words.extend(["--package".to_owned(), format!("llm-driver-{driver}")]);
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        workspace::run(&mut workspace::cargo(&words)?)?;
    }
    run(arguments.has("--check"))
}

/// Writes or checks every page, from the reports that are there.
pub(crate) fn run(check: bool) -> Outcome {
    let root = workspace::root()?;
    let reports = reports(&root)?;
    let readme = root.join("README.md");
    let text = std::fs::read_to_string(&readme).while_doing("reading README.md")?;
    let pages = [
        (readme, with_part(&text, &tables::capabilities(&reports))?),
        (
            root.join("docs/reference/capabilities.md"),
            tables::capabilities_page(&reports),
        ),
        (
            root.join("docs/reference/options.md"),
            tables::options_page(&reports),
        ),
    ];
    let mut stale = Vec::new();
    for (path, page) in pages {
        let present = std::fs::read_to_string(&path).unwrap_or_default();
        if present == page {
            continue;
        }
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        if !check {
            let folder = path.parent().unwrap_or(&root);
            std::fs::create_dir_all(folder).while_doing(format_args!("making the folder of {name}"))?;
            std::fs::write(&path, page).while_doing(format_args!("writing {name}"))?;
            println!("wrote {name}");
        }
        stale.push(name);
    }
    if check && !stale.is_empty() {
        return Err(Failure::new(format!(
            "not up to date: {}; run `cargo xtask docs`",
            stale.join(", ")
        )));
    }
    println!("docs: {} drivers, every page is up to date", reports.len());
    Ok(())
}

/// Takes away what earlier runs reported, so that a page never tells of a scenario that no longer runs.
pub(crate) fn forget_reports() -> Outcome {
    let folder = folder()?;
    if folder.is_dir() {
        std::fs::remove_dir_all(&folder).while_doing("removing old reports")?;
    }
    Ok(())
}

fn folder() -> Outcome<PathBuf> {
    Ok(workspace::target_folder()?.join(REPORTS))
}

/// The name of each driver crate, without `llm-driver-`.
fn drivers(root: &Path) -> Outcome<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root.join("crates")).while_doing("reading crates")? {
        let name = entry.while_doing("reading crates")?.file_name();
        let name = name.to_string_lossy();
        if let Some(driver) = name.strip_prefix("llm-driver-").filter(|name| *name != "testkit") {
            names.push(driver.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn reports(root: &Path) -> Outcome<Vec<Report>> {
    let folder = folder()?;
    let mut reports = Vec::new();
    for driver in drivers(root)? {
        for name in suites(&folder, &driver) {
            let path = folder.join(format!("{name}.json"));
            let text = std::fs::read(&path).while_doing(format_args!(
                "reading what the suite of llm-driver-{driver} found; run its tests first"
            ))?;
            let found: Value =
                serde_json::from_slice(&text).while_doing(format_args!("reading the report of {name}"))?;
            let failed = tables::scenarios(&found).find(|scenario| scenario["outcome"] == "failed");
            if let Some(failed) = failed {
                return Err(Failure::new(format!(
                    "llm-driver-{driver}: the scenario {} failed; nothing is told of a suite that is not green",
                    failed["name"]
                )));
            }
            reports.push(Report { driver: name, found });
        }
    }
    Ok(reports)
}

/// The suites of a driver: one of its own name, and one for each further API, `DRIVER-API`.
fn suites(folder: &Path, driver: &str) -> Vec<String> {
    let further = format!("{driver}-");
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = files
        .filter_map(|file| {
            file.file_name()
                .to_str()?
                .strip_suffix(".json")
                .map(str::to_owned)
        })
        .filter(|name| name.starts_with(&further))
        .collect();
    names.sort();
    names.insert(0, driver.to_owned());
    names
}

/// A page with another generated part.
fn with_part(page: &str, part: &str) -> Outcome<String> {
    let (Some(begin), Some(end)) = (page.find(BEGIN), page.find(END)) else {
        return Err(Failure::new(format!(
            "README.md lacks the marks `{BEGIN}` and `{END}`"
        )));
    };
    Ok(format!("{}{BEGIN}\n\n{part}\n{}", &page[..begin], &page[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_is_replaced() {
        let page = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        assert_eq!(
            with_part(&page, "| new |\n").unwrap(),
            format!("a\n{BEGIN}\n\n| new |\n\n{END}\nb\n")
        );
        let again = with_part(&with_part(&page, "| new |\n").unwrap(), "| new |\n").unwrap();
        assert_eq!(again, with_part(&page, "| new |\n").unwrap());
        assert!(with_part("a page without marks", "x").is_err());
    }
}
