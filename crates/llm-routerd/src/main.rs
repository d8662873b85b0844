//! The daemon with every driver of the workspace. To link drivers of your own, write a `main` like this one.

use std::process::ExitCode;

fn main() -> ExitCode {
    llm_routerd::run(llm_suite::builtin_registry(), std::env::args_os())
}
