//! Text: the plain answer, the stream, and that they agree.

use super::fixtures::{prove_plain, prove_stream};
use super::{Finding, InContext, Outcome, ensure};
use crate::difference::difference;
use crate::subject::{Streamed, Subject};
use llm_core::{Capability, ChatResponse, ResponseMeta, Support};
use serde_json::json;

/// A plain call sends the fixture's body and makes of the answer what it should; the response says who served it.
pub(crate) async fn plain(subject: &Subject) -> Finding {
    let (bench, fixture) = (subject.bench()?, subject.fixture("text")?);
    let response = prove_plain(subject, &bench, &fixture).await?;
    ensure!(
        fixture.expect.text.is_some(),
        "text/expect.json names no text; add it"
    );
    check_meta(subject, &response.meta)?;
    Ok(Outcome::Proved)
}

/// The same as a stream, whose meta data is there before the first event.
pub(crate) async fn stream(subject: &Subject) -> Finding {
    let (bench, fixture) = (subject.bench()?, subject.fixture("text")?);
    let request = subject.request_of(&fixture)?;
    let model = request.model.clone().ok_or("no model")?;
    let claim = subject
        .capabilities(&*bench.driver, &model)?
        .support(Capability::Streaming);
    if claim == Support::No {
        return super::capability::refused(&bench, &request, true).await;
    }
    let streamed = prove_stream(subject, &bench, &fixture).await?;
    let response = streamed.outcome.map_err(|error| error.to_string())?;
    check_meta(subject, &response.meta)?;
    Ok(Outcome::Proved)
}

/// Every fixture that has both answers gives the same response either way.
pub(crate) async fn stream_folds_to_plain(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    let mut compared = 0;
    for fixture in subject.fixtures()? {
        let (Some(answer), Some(stream)) = (fixture.answer(), fixture.stream_answer()) else {
            continue;
        };
        if fixture.expect.error.is_some() {
            continue;
        }
        let request = subject.request_of(&fixture)?;
        let place = || format!("fixture {}", fixture.name);
        let plain = bench.chat(&request, answer).await.context(place)?;
        let streamed = bench.stream(&request, stream).await.context(place)?;
        let plain = plain.map_err(|error| format!("{}: {error}", place()))?;
        let folded = streamed
            .outcome
            .map_err(|error| format!("{}: {error}", place()))?;
        same_answer(&plain, &folded).context(|| {
            format!(
                "{}: the stream folds to another response than the plain one",
                place()
            )
        })?;
        compared += 1;
    }
    ensure!(
        compared > 0,
        "no fixture has both a plain answer and a stream; give `text` both"
    );
    Ok(Outcome::Proved)
}

/// Do two responses hold the same answer?
pub(crate) fn same_answer(one: &ChatResponse, other: &ChatResponse) -> Result<(), String> {
    let content = |response: &ChatResponse| {
        json!({
            "blocks": &response.blocks,
            "incomplete_tool_calls": &response.incomplete_tool_calls,
            "finish": &response.finish,
            "usage": &response.usage,
        })
    };
    match difference(&content(one), &content(other)) {
        Some(difference) => Err(difference),
        None => Ok(()),
    }
}

/// Did two streams bring the same, good or bad?
pub(crate) fn same_stream(one: &Streamed, other: &Streamed) -> Result<(), String> {
    match (&one.outcome, &other.outcome) {
        (Ok(one), Ok(other)) => same_answer(one, other),
        (Err(first), Err(second)) => {
            ensure!(
                (first.kind(), first.phase()) == (second.kind(), second.phase()),
                "one ends with {first}, the other with {second}"
            );
            same_answer(&one.partial, &other.partial)
        }
        (Ok(_), Err(error)) | (Err(error), Ok(_)) => Err(format!("only one of them fails: {error}")),
    }
}

fn check_meta(subject: &Subject, meta: &ResponseMeta) -> Result<(), String> {
    let driver = meta.driver.as_ref().map(|driver| driver.as_str());
    ensure!(
        driver == Some(subject.harness.driver()),
        "meta.driver is {driver:?}; expected the driver's id {:?}",
        subject.harness.driver()
    );
    ensure!(
        meta.requested_model.is_some(),
        "meta.requested_model is absent; expected the model that was asked"
    );
    Ok(())
}
