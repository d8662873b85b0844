//! `cargo xtask cases`: the replayable cases of a folder, run by `llm-cases`.

use crate::arguments::{Arguments, Command, Flag};
use crate::failure::Outcome;
use crate::workspace;

pub(crate) const COMMAND: Command = Command {
    name: "cases",
    summary: "Run a folder of replayable cases against this build",
    details: "\
Builds llm-cases and runs every case file of DIR that the filters leave: one line a case, then
`N passed, M failed`. Several values are separated by commas. The exit code is that of llm-cases.
Words after `--` go to it as they are.

example: cargo xtask cases crates/llm-cases/cases --kind sse-framing,delta-tools
",
    operands: &["DIR"],
    flags: &[
        Flag {
            name: "--kind",
            value: Some("K,.."),
            help: "only cases of these kinds",
        },
        Flag {
            name: "--wire",
            value: Some("W,.."),
            help: "only cases whose input is one of these wires",
        },
        Flag {
            name: "--dialect",
            value: Some("D,.."),
            help: "only cases in these vendors' forms",
        },
        Flag {
            name: "--supported",
            value: None,
            help: "only cases on wires that this build knows",
        },
    ],
    run: start,
};

fn start(arguments: &Arguments) -> Outcome {
    let mut words = vec![arguments.operand(0)];
    for (name, value) in arguments.options() {
        words.push(name);
        words.extend(value);
    }
    words.extend(arguments.rest().iter().map(String::as_str));
    run(&words)
}

/// Runs `llm-cases run` with these words; relative folders count from where the person stands.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let manifest = workspace::root()?.join("Cargo.toml");
    let mut command = workspace::cargo(&["run", "--quiet", "--package", "llm-cases", "--manifest-path"])?;
    command.arg(manifest).args(["--", "run"]).args(words);
    if let Ok(here) = std::env::current_dir() {
        command.current_dir(here);
    }
    workspace::run(&mut command)
}
