//! `cargo xtask test`: all set-up that tests need, then all tests.

use std::path::PathBuf;
use std::process::Stdio;

use crate::arguments::{Arguments, Command};
use crate::cases;
use crate::docs;
use crate::failure::{Failure, Outcome};
use crate::services::model_server::ModelServer;
use crate::services::redis;
use crate::services::scripted_upstream::ScriptedUpstream;
use crate::soak;
use crate::steps::Steps;
use crate::workspace;

pub(crate) const COMMAND: Command = Command {
    name: "test",
    summary: "Set up what tests need and run all tests",
    details: "\
In order: a real local model server, whose base URL tests find in LLM_TEST_MODEL_SERVER; a redis-server, whose
program tests find in LLM_TEST_REDIS_SERVER (each starts its own); a scripted upstream that others wrote, whose
address tests find in LLM_TEST_SCRIPTED_UPSTREAM; the tests of the workspace (with nextest where `cargo nextest`
is there); the doctests; the short form of `soak redis`; the replayable cases kept in crates/llm-cases/cases. A
failing step does not keep the others from running. The time of each step is printed at the end.
",
    operands: &[],
    flags: &[],
    run: start,
};

/// Where tests find the model server.
const MODEL_SERVER_VARIABLE: &str = "LLM_TEST_MODEL_SERVER";

/// Where tests find the program of the Redis server.
const REDIS_VARIABLE: &str = "LLM_TEST_REDIS_SERVER";

/// Where tests find the scripted upstream.
const UPSTREAM_VARIABLE: &str = "LLM_TEST_SCRIPTED_UPSTREAM";

/// The replayable cases that the project keeps.
const CASES: &str = "crates/llm-cases/cases";

const NEXTEST: [&str; 5] = [
    "nextest",
    "run",
    "--workspace",
    "--all-features",
    "--no-fail-fast",
];
const PLAIN: [&str; 6] = [
    "test",
    "--workspace",
    "--all-features",
    "--lib",
    "--bins",
    "--tests",
];
const DOCTESTS: [&str; 4] = ["test", "--workspace", "--doc", "--all-features"];

fn start(_: &Arguments) -> Outcome {
    let mut steps = Steps::default();
    let outcome = run(&mut steps);
    steps.conclude(outcome)
}

/// Runs every step, and fails at the end if one of them did.
pub(crate) fn run(steps: &mut Steps) -> Outcome {
    let server = steps.run("model server", "cargo xtask services model-server", || {
        ModelServer::start(0)
    })?;
    let redis = steps.run("redis", "cargo xtask services redis", redis::program)?;
    let upstream = steps.run(
        "scripted upstream",
        "cargo xtask services scripted-upstream",
        || ScriptedUpstream::start(0),
    )?;
    let surroundings = Surroundings {
        server,
        redis,
        upstream,
    };
    docs::forget_reports()?;
    let tests: &[&str] = if has_nextest()? { &NEXTEST } else { &PLAIN };
    let outcomes = [
        steps.run("tests", &alone(tests), || surroundings.cargo(tests)),
        steps.run("doctests", &alone(&DOCTESTS), || surroundings.cargo(&DOCTESTS)),
        steps.run("soak, short", "cargo xtask soak redis --short", soak::run_short),
        steps.run(
            "cases",
            &format!("cargo xtask cases {CASES} --supported"),
            run_cases,
        ),
    ];
    let failures: Vec<Failure> = outcomes.into_iter().filter_map(Result::err).collect();
    let Some(code) = failures.first().map(|failure| failure.code) else {
        return Ok(());
    };
    let messages: Vec<String> = failures.into_iter().map(|failure| failure.message).collect();
    Err(Failure {
        message: messages.join("\n"),
        code,
    })
}

/// The command for one failed step; without a server, tests that need one say that they are skipped.
fn alone(words: &[&str]) -> String {
    format!("cargo {}", words.join(" "))
}

/// What tests talk to.
struct Surroundings {
    server: ModelServer,
    redis: PathBuf,
    upstream: ScriptedUpstream,
}

impl Surroundings {
    fn cargo(&self, words: &[&str]) -> Outcome {
        let mut command = workspace::cargo(words)?;
        command
            .env(MODEL_SERVER_VARIABLE, self.server.base_url())
            .env(REDIS_VARIABLE, &self.redis)
            .env(UPSTREAM_VARIABLE, self.upstream.origin_url());
        workspace::run(&mut command)
    }
}

fn has_nextest() -> Outcome<bool> {
    let mut command = workspace::cargo(&["nextest", "--version"])?;
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command.status().is_ok_and(|status| status.success()))
}

fn run_cases() -> Outcome {
    let folder = workspace::root()?.join(CASES);
    if !folder.is_dir() {
        return Err(Failure::new(format!(
            "{CASES} is missing; the suite of replayable cases is kept there"
        )));
    }
    cases::run(&[&folder.to_string_lossy(), "--supported"])
}
