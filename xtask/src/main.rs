//! The workspace's own commands: one table, one parser, one way to fail. `cargo xtask` lists them.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a developer's program: it prints, reads the environment and measures time"
)]

mod arguments;
mod bench;
mod cases;
mod catalog;
mod ci;
mod demo;
mod docs;
mod failure;
mod features;
mod fuzz;
mod lint;
mod metadata;
mod new_driver;
mod services;
mod soak;
mod steps;
mod test;
mod workspace;

use std::process::ExitCode;

use crate::arguments::{Command, nearest};
use crate::failure::{Failure, Outcome};

/// Every command, in the order in which somebody new to the workspace meets them.
const COMMANDS: [&Command; 13] = [
    &demo::COMMAND,
    &test::COMMAND,
    &ci::COMMAND,
    &lint::COMMAND,
    &features::COMMAND,
    &cases::COMMAND,
    &bench::COMMAND,
    &fuzz::COMMAND,
    &docs::COMMAND,
    &catalog::COMMAND,
    &services::COMMAND,
    &soak::COMMAND,
    &new_driver::COMMAND,
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.message.is_empty() {
                eprintln!("error: {}", failure.message);
            }
            ExitCode::from(failure.code)
        }
    }
}

fn dispatch(words: &[String]) -> Outcome {
    let Some(name) = words.first() else {
        println!("{}", overview());
        return Ok(());
    };
    if matches!(name.as_str(), "--help" | "-h" | "help") {
        println!("{}", overview());
        return Ok(());
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        let names = COMMANDS.iter().map(|command| command.name);
        return Err(Failure::usage(match nearest(name, names) {
            Some(close) => format!("no command `{name}`; did you mean `cargo xtask {close}`?"),
            None => format!("no command `{name}`; `cargo xtask` lists them"),
        }));
    };
    match command.parse(&words[1..])? {
        None => {
            println!("{}", command.help());
            Ok(())
        }
        Some(parsed) => (command.run)(&parsed),
    }
}

fn overview() -> String {
    let mut text = String::from("usage: cargo xtask COMMAND [OPTIONS]\n\n");
    for command in COMMANDS {
        text.push_str(&format!("  {:<10} {}\n", command.name, command.summary));
    }
    text.push_str("\nNew here? `cargo xtask demo` shows the main job on a real model, without keys.\n");
    text.push_str("Before you hand in a change: `cargo xtask ci`. It runs the others in order, and each\n");
    text.push_str("of its steps can be run alone. `cargo xtask COMMAND --help` tells what a command does.");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overview_names_every_command() {
        let text = overview();
        for command in COMMANDS {
            assert!(
                text.contains(&format!("  {} ", command.name)),
                "{} is missing",
                command.name
            );
        }
    }

    #[test]
    fn unknown_command_suggests_the_nearest() {
        let failure = dispatch(&["lnit".to_owned()]).unwrap_err();
        assert!(
            failure.message.contains("cargo xtask lint"),
            "{}",
            failure.message
        );
        assert_eq!(failure.code, 2);
    }

    #[test]
    fn command_help_lists_each_flag() {
        for command in COMMANDS {
            let help = command.help();
            for flag in command.flags {
                assert!(
                    help.contains(flag.name),
                    "{}: {} is missing",
                    command.name,
                    flag.name
                );
            }
        }
    }
}
