//! `cargo xtask ci`: everything that a change must pass, in order, the same on every machine.

use crate::arguments::{Arguments, Command, Flag};
use crate::failure::Outcome;
use crate::steps::Steps;
use crate::{catalog, demo, docs, features, fuzz, lint, new_driver, test, workspace};

pub(crate) const COMMAND: Command = Command {
    name: "ci",
    summary: "Everything a change must pass, in order",
    details: "\
fmt, clippy, lint, catalog, features, test, reference pages, retry example, external driver, new driver, fuzz, docs,
demo. Stops at the first failure and says how to run that step alone. The time of each step is printed at the end. Needs
the package registries and no keys.
",
    operands: &[],
    flags: &[Flag {
        name: "--full",
        value: None,
        help: "also check each feature of llm-suite alone",
    }],
    run: start,
};

const FORMAT: [&str; 3] = ["fmt", "--all", "--check"];
const CLIPPY: [&str; 7] = [
    "clippy",
    "--workspace",
    "--all-targets",
    "--all-features",
    "--",
    "-D",
    "warnings",
];
/// Retries against a real server that fails twice and is killed in the end; it checks what it shows.
const RETRY_EXAMPLE: [&str; 6] = [
    "run",
    "--quiet",
    "--package",
    "llm-resilience",
    "--example",
    "watch_it_retry",
];
/// What a third party would build: it must stand on what is published, and pass the kit.
const EXTERNAL_DRIVER: [&str; 4] = [
    "test",
    "--quiet",
    "--manifest-path",
    "examples/external-driver/Cargo.toml",
];
const DOCS: [&str; 4] = ["doc", "--workspace", "--no-deps", "--all-features"];

fn start(arguments: &Arguments) -> Outcome {
    let mut steps = Steps::default();
    let outcome = run(&mut steps, arguments.has("--full"));
    steps.conclude(outcome)
}

fn run(steps: &mut Steps, full: bool) -> Outcome {
    steps.run("fmt", "cargo fmt --all", || cargo(&FORMAT))?;
    steps.run("clippy", &format!("cargo {}", CLIPPY.join(" ")), || {
        cargo(&CLIPPY)
    })?;
    steps.run("lint", "cargo xtask lint", lint::run)?;
    steps.run("catalog", "cargo xtask catalog --check", || {
        catalog::run(None, true)
    })?;
    steps.run("features", "cargo xtask features", features::run)?;
    if full {
        steps.run(
            "features, each",
            "cargo xtask features --check-each",
            features::check_each,
        )?;
    }
    test::run(steps)?;
    // The tests of this run wrote the reports that the pages come from.
    steps.run("reference pages", "cargo xtask docs --check", || docs::run(true))?;
    steps.run(
        "retry example",
        &format!("cargo {}", RETRY_EXAMPLE.join(" ")),
        || cargo(&RETRY_EXAMPLE),
    )?;
    steps.run(
        "external driver",
        &format!("cargo {}", EXTERNAL_DRIVER.join(" ")),
        || {
            // What the workspace has built is not built again.
            let target = workspace::target_folder()?;
            workspace::run(workspace::cargo(&EXTERNAL_DRIVER)?.env("CARGO_TARGET_DIR", target))
        },
    )?;
    steps.run("new driver", "cargo xtask new-driver --check", new_driver::check)?;
    steps.run("fuzz", "cargo xtask fuzz --stable --seconds 0.5", || {
        fuzz::run_all_stable(fuzz::IN_CI)
    })?;
    let docs = format!("RUSTDOCFLAGS='-D warnings' cargo {}", DOCS.join(" "));
    steps.run("docs", &docs, || {
        workspace::run(workspace::cargo(&DOCS)?.env("RUSTDOCFLAGS", "-D warnings"))
    })?;
    steps.run("demo", "cargo xtask demo", || demo::run(demo::DEFAULT_PROMPT))
}

fn cargo(words: &[&str]) -> Outcome {
    workspace::run(&mut workspace::cargo(words)?)
}
