//! Routes one chat over two candidates, a limited cloud host and a local server, streams the answer and explains the
//! decision. `cargo xtask demo` starts both hosts and runs this.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program for people")]

use llm_suite::core::{Attempt, ChatStream, Collector, Delta};
use llm_suite::prelude::*;
use llm_suite::routing::{CallMode, PriorityRanker, RoutingPolicy};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let value_of = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let (Some(cloud), Some(local), Some(prompt)) = (value_of("--cloud-url"), value_of("--local-url"), value_of("--prompt"))
    else {
        return Err(Error::new(ErrorKind::Config, "give --cloud-url URL --local-url URL --prompt TEXT"));
    };
    let driver = |url: &str| OpenAiDriver::new(OpenAiConfig::new("demo-key").with_base_url(url)).map(Arc::new);
    let candidates = vec![
        Candidate::new("cloud", driver(&cloud)?).with_model(llm_suite::core::ModelId::new("cloud-large")?),
        Candidate::new("local", driver(&local)?).with_model(llm_suite::core::ModelId::new("smollm2-135m-instruct")?),
    ];
    let policy = RoutingPolicy::default().with_ranker(PriorityRanker::new([("cloud", 2.0), ("local", 1.0)])?);
    let router = Router::new("demo", candidates, policy)?;
    let cx = context().with_timeout(Duration::from_secs(120)).with_request_id("demo-1");
    let request = ChatRequest::user(prompt).with_max_output_tokens(96).with_temperature(0.2);

    let decision = router.decide(&cx, &request, CallMode::Stream)?;
    println!("{}", decision.explain());
    let stream = router.executor().chat_stream(&cx, &decision, &request).await?;
    for attempt in stream.attempts() {
        println!("{}", line_of(attempt));
    }
    println!();
    let (attempts, response) = (stream.attempts().to_vec(), print_answer(stream).await?);
    let failed = attempts.iter().find(|attempt| attempt.failure.is_some());
    println!(
        "{}",
        serde_json::json!({
            "request_id": cx.request_id(),
            "served_by": attempts.last().map(|attempt| &attempt.candidate),
            "fallback_from": failed.map(|attempt| &attempt.candidate),
            "status_first": failed.and_then(|attempt| attempt.failure.as_ref()?.status),
            "input_tokens": response.usage.input_tokens,
            "output_tokens": response.usage.output_tokens,
            "text": response.text(),
        })
    );
    Ok(())
}

fn line_of(attempt: &Attempt) -> String {
    match &attempt.failure {
        Some(failure) => format!("{}: {} after {} ms ({})", attempt.candidate, failure.kind, attempt.elapsed_ms, failure.message),
        None => format!("{}: serves, first content after {} ms", attempt.candidate, attempt.elapsed_ms),
    }
}

async fn print_answer(mut stream: ChatStream) -> Result<ChatResponse> {
    let mut collector = Collector::default();
    while let Some(event) = stream.next_event().await {
        let event = event?;
        if let ChatEvent::BlockDelta { delta: Delta::Text(text), .. } = &event {
            print!("{text}");
            std::io::stdout().flush().ok();
        }
        collector.push(event)?;
    }
    println!("\n");
    collector.finish()
}
