//! The command line.

mod call;
mod check;
mod serve;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};
use llm_suite::core::{Chain, Registry, Result};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// One address for many language models: routes calls over backends, falls back along chains, and remembers what it
/// decided.
#[derive(Debug, Parser)]
#[command(name = "llm-routerd", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
First steps:
  llm-routerd serve                         uses what is reachable here, and says what it found
  llm-routerd call --model role:default hi  asks it something
  llm-routerd check --config FILE           says what is wrong with a configuration

A model is named by a backend, by a tier, as role:CHAIN, chain:a,b, backend:ID, or driver/model.
Any OpenAI client works: base URL http://127.0.0.1:8765/v1, the router's token as the API key.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the daemon.
    Serve(ServeArgs),
    /// Read a configuration, build what it names, and say what is wrong.
    Check(CheckArgs),
    /// Ask a running daemon one question; the answer streams to standard output.
    Call(CallArgs),
}

#[derive(Debug, Args)]
struct ServeArgs {
    /// The configuration; else LLM_ROUTERD_CONFIG, ./llm-routerd.yaml, ~/.config/llm-routerd/, /etc/llm-routerd/
    #[arg(short, long)]
    config: Option<PathBuf>,
    /// Listen on this port instead of the configured one; 0 takes a free one and says which
    #[arg(long)]
    port: Option<u16>,
    /// error, warn, info, debug or trace
    #[arg(long)]
    log_level: Option<String>,
    /// Let anybody call who can reach the port. Only on a loopback address
    #[arg(long)]
    unsafe_no_auth: bool,
    /// Stop when standard input closes, as a program that starts the daemon for itself wants it
    #[arg(long)]
    stop_with_stdin: bool,
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// The configuration; else the same places as for serve
    #[arg(short, long)]
    config: Option<PathBuf>,
    /// Also ask each backend whether it is well (costs no tokens)
    #[arg(long)]
    probe: bool,
    /// For machines
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct CallArgs {
    /// What to ask: a backend, a tier, role:CHAIN, chain:a,b, backend:ID, driver/model
    #[arg(short, long)]
    model: String,
    /// The message; else read from standard input
    message: Option<String>,
    /// The same, as an option
    #[arg(long = "message", conflicts_with = "message", value_name = "MESSAGE")]
    message_option: Option<String>,
    /// The most tokens that may come out
    #[arg(long)]
    max_tokens: Option<u32>,
    /// Where the daemon is
    #[arg(short, long, env = "LLM_ROUTERD_URL", default_value = "http://127.0.0.1:8765")]
    server: String,
    /// The router's token; else --token-file, LLM_ROUTERD_TOKEN, LLM_ROUTERD_ADMIN_TOKEN, the token made on the first run
    #[arg(short, long)]
    token: Option<String>,
    /// A file that holds the token
    #[arg(long)]
    token_file: Option<PathBuf>,
    /// The id of the request, to find it again in /logs and /decisions; else the router makes one
    #[arg(long)]
    request_id: Option<String>,
    /// Print the whole answer as JSON instead of its text
    #[arg(long)]
    json: bool,
}

/// Runs the program: reads the arguments and does what they say. `registry` holds the drivers that backends may name.
pub fn run(registry: Result<Registry>, arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let line = match CommandLine::try_parse_from(arguments) {
        Ok(line) => line,
        Err(error) => {
            // clap prints help to standard output and mistakes to standard error
            error.print().ok();
            let only_help = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
            return if error.use_stderr() && !only_help {
                ExitCode::from(2)
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    let done = registry.and_then(|registry| {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| {
                let kind = llm_suite::core::ErrorKind::Internal;
                llm_suite::core::Error::new(kind, "the runtime cannot be started").with_source(error)
            })?;
        runtime.block_on(async {
            match line.command {
                Command::Serve(args) => serve::run(&args, &registry).await,
                Command::Check(args) => check::run(&args, &registry).await,
                Command::Call(args) => call::run(&args).await,
            }
        })
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say_error(&format!("error: {}", Chain(&error)));
            ExitCode::FAILURE
        }
    }
}

/// Says something on standard error. Where nobody listens any more, that is no reason to stop.
fn say_error(line: &str) {
    writeln!(std::io::stderr(), "{line}").ok();
}

/// Says something on standard output, which may be closed too (`| head`).
fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").ok();
}
