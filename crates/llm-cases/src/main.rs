//! The program around the library: prints its lines and turns the outcome into an exit code.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that reports to a terminal"
)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match llm_cases::run(&words, &mut |line| println!("{line}")) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("llm-cases: {message}");
            ExitCode::from(2)
        }
    }
}
