//! Tools: calls in plain answers and streams, calls cut off, and results on their way back.

use super::capability::{claim, refuse};
use super::fixtures::{prove_plain, prove_stream};
use super::text::same_answer;
use super::{Finding, InContext, Outcome, ensure};
use crate::subject::Subject;
use llm_core::stream::{BlockKind, ChatEvent};
use llm_core::{Capability, ChatResponse, FinishKind, Message, Support, ToolResult};
use serde_json::Value;

/// A plain answer's calls are complete: an id, a name, arguments that parse, and the finish says so.
pub(crate) async fn call(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    if claim(subject, &bench, Capability::Tools)? == Support::No {
        return refuse(subject, &bench, Capability::Tools).await;
    }
    let response = prove_plain(subject, &bench, &subject.fixture("tools")?).await?;
    check_calls(&response)?;
    Ok(Outcome::Proved)
}

/// The same in a stream, where each call is a block of its own.
pub(crate) async fn call_stream(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    if claim(subject, &bench, Capability::Tools)? == Support::No {
        return refuse(subject, &bench, Capability::Tools).await;
    }
    let streamed = prove_stream(subject, &bench, &subject.fixture("tools")?).await?;
    let response = streamed.outcome.map_err(|error| error.to_string())?;
    check_calls(&response)?;
    let is_call = |event: &&ChatEvent| {
        matches!(
            event,
            ChatEvent::BlockStart {
                kind: BlockKind::ToolCall { .. },
                ..
            }
        )
    };
    let started = streamed.events.iter().filter(is_call).count();
    let calls = response.tool_calls().count();
    ensure!(
        started == calls,
        "{started} blocks of tool calls began; expected {calls}"
    );
    Ok(Outcome::Proved)
}

/// Wherever a stream is cut: a call that stands among the complete ones is whole.
pub(crate) async fn cut_call_is_incomplete(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    if claim(subject, &bench, Capability::Tools)? == Support::No {
        return refuse(subject, &bench, Capability::Tools).await;
    }
    let fixture = subject.fixture("tools")?;
    let (request, answer) = (subject.request_of(&fixture)?, subject.stream_of(&fixture)?);
    let whole = bench.stream(&request, answer.clone()).await?;
    let calls: Vec<_> = whole.partial.tool_calls().cloned().collect();
    for at in super::stream::cut_points(answer.body_bytes().len()) {
        let place = || format!("cut after {at} bytes");
        let streamed = bench
            .stream(&request, answer.clone().cut_after(at))
            .await
            .context(place)?;
        for call in streamed.partial.tool_calls() {
            ensure!(
                calls.contains(call),
                "{}: the call {} {} stands as complete, but was cut off",
                place(),
                call.name,
                call.arguments
            );
        }
    }
    Ok(Outcome::Proved)
}

/// The fixture's results are sent as they should be, and what the model called can be answered: the answer's own
/// message and a result make a request that carries both.
pub(crate) async fn result_round_trip(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    if claim(subject, &bench, Capability::Tools)? == Support::No {
        return refuse(subject, &bench, Capability::Tools).await;
    }
    prove_plain(subject, &bench, &subject.fixture("tool_result")?).await?;

    let (fixture, text) = (subject.fixture("tools")?, subject.fixture("text")?);
    let request = subject.request_of(&fixture)?;
    let answer = bench.chat(&request, subject.answer_of(&fixture)?).await?;
    let answer = answer.map_err(|error| error.to_string())?;
    let marks: Vec<_> = answer
        .tool_calls()
        .enumerate()
        .map(|(at, _)| format!("result-{at}-of-the-kit"))
        .collect();
    let results = answer
        .tool_calls()
        .zip(&marks)
        .map(|(call, mark)| ToolResult::new(call.id.clone(), mark.clone()).with_name(call.name.clone()));
    let next = request
        .with_message(answer.to_message())
        .with_message(Message::tool_results(results));
    let again = bench.chat(&next, subject.answer_of(&text)?).await?;
    again.map_err(|error| format!("the turn with the results fails: {error}"))?;
    let sent = bench
        .transport
        .requests()
        .pop()
        .ok_or("the turn with the results was not sent")?;
    let body = String::from_utf8_lossy(&sent.body);
    let names = answer.tool_calls().map(|call| &call.name);
    for word in names.chain(&marks) {
        ensure!(
            body.contains(word.as_str()),
            "the turn with the results does not carry {word:?}"
        );
    }
    Ok(Outcome::Proved)
}

/// Several calls in one answer are told apart, plain and streaming.
pub(crate) async fn parallel_calls(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    if claim(subject, &bench, Capability::ParallelTools)? == Support::No {
        return refuse(subject, &bench, Capability::ParallelTools).await;
    }
    let fixture = subject.fixture("parallel_tools")?;
    let plain = prove_plain(subject, &bench, &fixture).await?;
    check_calls(&plain)?;
    ensure!(
        plain.tool_calls().count() > 1,
        "the fixture has no two calls; give it some"
    );
    if fixture.stream.is_some() {
        let streamed = prove_stream(subject, &bench, &fixture).await?;
        let folded = streamed.outcome.map_err(|error| error.to_string())?;
        same_answer(&plain, &folded).context(|| "the stream differs".to_owned())?;
    }
    Ok(Outcome::Proved)
}

fn check_calls(response: &ChatResponse) -> Result<(), String> {
    let calls: Vec<_> = response.tool_calls().collect();
    ensure!(
        !calls.is_empty(),
        "the answer of the fixture `tools` has no complete call"
    );
    for (index, call) in calls.iter().enumerate() {
        ensure!(
            !call.id.is_empty() && !call.name.is_empty(),
            "a call without an id or a name"
        );
        let twice = calls[..index].iter().any(|other| other.id == call.id);
        ensure!(!twice, "the id {} stands twice", call.id);
        call.parse_arguments::<Value>()
            .map_err(|error| error.to_string())?;
    }
    ensure!(
        response.finish.kind == FinishKind::ToolCalls,
        "the finish is {}; expected tool_calls",
        response.finish
    );
    Ok(())
}
