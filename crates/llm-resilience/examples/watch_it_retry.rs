//! Watch calls being retried: a server on a loopback port fails twice and then answers; then it is killed.
//!
//! `cargo run -p llm-resilience --example watch_it_retry` takes a few seconds, needs no key and no network, and
//! fails when anything differs from what it says.
#![expect(clippy::print_stdout, reason = "a program to watch")]

use llm_core::{
    Attempt, CallContext, ChatRequest, Error, ErrorKind, ModelId, Phase, Result, Scope, Stack, stream,
};
use llm_driver_openai::{OpenAiConfig, OpenAiDriver};
use llm_driver_testkit::{Answer, FakeServer};
use llm_resilience::{RetryLayer, RetryPolicy, TimeoutLayer, TimeoutPolicy};
use std::fmt::Debug;
use std::process::ExitCode;
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

const BUSY: &str = r#"{"error":{"message":"The engine is busy","type":"server_error"}}"#;
const LIMITED: &str = r#"{"error":{"message":"Slow down","type":"requests","code":"rate_limit_exceeded"}}"#;
const ANSWER: &str = concat!(
    r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"demo-1","#,
    r#""choices":[{"index":0,"delta":{"role":"assistant","content":"Hello after "},"finish_reason":null}]}"#,
    "\n\n",
    r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"demo-1","#,
    r#""choices":[{"index":0,"delta":{"content":"two failures."},"finish_reason":"stop"}]}"#,
    "\n\ndata: [DONE]\n\n",
);

fn main() -> ExitCode {
    let outcome = tracing::subscriber::set_global_default(Printer)
        .map_err(|error| Error::new(ErrorKind::Internal, "the log is taken already").with_source(error))
        .and_then(|()| runtime())
        .and_then(|runtime| runtime.block_on(watch()));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("\nnot as it should be: {}", llm_core::Chain(&error));
            ExitCode::FAILURE
        }
    }
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::new(ErrorKind::Internal, "no runtime").with_source(error))
}

async fn watch() -> Result<()> {
    let answers = [
        Answer::json(503, BUSY).with_header("x-request-id", "req-1"),
        Answer::json(429, LIMITED)
            .with_header("x-request-id", "req-2")
            .with_header("retry-after", "1"),
        Answer::sse(ANSWER).with_header("x-request-id", "req-3"),
    ];
    let server = FakeServer::start(answers)
        .await
        .map_err(|error| Error::new(ErrorKind::Internal, "no loopback port").with_source(error))?;
    println!("a server at {} fails twice and then answers\n", server.base_url());

    let config = OpenAiConfig::compatible(format!("{}/v1", server.base_url()))
        .with_idempotency_header("idempotency-key");
    let stack = Stack::new(OpenAiDriver::new(config)?)
        .layer(TimeoutLayer::attempt(TimeoutPolicy::default()))
        .layer(RetryLayer::new(RetryPolicy::default()));
    println!("calling {}", stack.info());

    let request = ChatRequest::user("Say hello.").with_model(ModelId::new("demo-1")?);
    let response = stream::collect(stack.chat_stream(&context("call-1"), &request).await?).await?;
    println!("  answer: {:?}", response.text());
    print_attempts(&response.attempts);

    check(
        "the answer is the third one",
        response.text() == "Hello after two failures.",
    )?;
    check("three requests were sent", server.request_count() == 3)?;
    let kinds = kinds(&response.attempts);
    let expected = [Some(ErrorKind::Overloaded), Some(ErrorKind::RateLimit), None];
    check("the log says how each attempt ended", kinds == expected)?;
    check("the hint of 1 s was waited", response.attempts[2].wait_ms >= 1000)?;
    let keys: Vec<_> = server
        .requests()
        .iter()
        .map(|request| request.header("idempotency-key").map(str::to_owned))
        .collect();
    let same = keys[0].is_some() && keys.iter().all(|key| *key == keys[0]);
    check("all three carried the same idempotency key", same)?;

    println!("\nthe server is killed; calling again");
    drop(server);
    let error = match stack.chat(&context("call-2"), &request).await {
        Ok(_) => return check("a dead server does not answer", false),
        Err(error) => error,
    };
    println!("  error: {error}");
    println!(
        "  kind {}, scope {:?}, phase {:?}, retryable {}",
        error.kind(),
        error.scope(),
        error.phase(),
        error.retryable()
    );
    print_attempts(error.attempts());

    check(
        "the error is typed",
        error.kind() == ErrorKind::Connection && error.scope() == Scope::Vendor,
    )?;
    check("the last attempt sent nothing", error.phase() == Phase::NotSent)?;
    let refused = [Some(ErrorKind::Connection); 3];
    check(
        "three attempts are the cap",
        self::kinds(error.attempts()) == refused,
    )
}

fn context(request_id: &'static str) -> CallContext {
    CallContext::new(llm_http::shared_clock())
        .with_timeout(Duration::from_secs(20))
        .with_request_id(request_id)
}

fn kinds(attempts: &[Attempt]) -> Vec<Option<ErrorKind>> {
    let kind = |attempt: &Attempt| attempt.failure.as_ref().map(|failure| failure.kind);
    attempts.iter().map(kind).collect()
}

fn print_attempts(attempts: &[Attempt]) {
    for (number, attempt) in (1..).zip(attempts) {
        let end = match &attempt.failure {
            Some(failure) => format!("{}: {}", failure.kind, failure.message),
            None => "served".to_owned(),
        };
        let (wait, elapsed) = (attempt.wait_ms, attempt.elapsed_ms);
        println!("  attempt {number}: waited {wait} ms, took {elapsed} ms, {end}");
    }
}

fn check(claim: &str, holds: bool) -> Result<()> {
    if holds {
        println!("  ok: {claim}");
        Ok(())
    } else {
        Err(Error::new(
            ErrorKind::Internal,
            format!("this does not hold: {claim}"),
        ))
    }
}

/// Prints each event of this workspace's layers as it happens.
struct Printer;

impl Subscriber for Printer {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("llm_resilience")
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        println!("  {} {}", event.metadata().level(), line.0);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let shown = match field.name() {
            "message" => format!("{value:?}"),
            name => format!(" {name}={value:?}"),
        };
        self.0.push_str(&shown);
    }
}
