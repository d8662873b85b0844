//! Every fixture, in both directions: what is sent, and what is made of the answer.

use super::{Finding, InContext, Outcome, ensure};
use crate::fixture::Fixture;
use crate::recorded::RecordedRequest;
use crate::subject::{Bench, Streamed, Subject};
use llm_core::{ChatResponse, Error, ErrorKind};

/// Every folder below the fixtures is proved, whether a scenario names it or not.
pub(crate) async fn all(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    let fixtures = subject.fixtures()?;
    ensure!(
        !fixtures.is_empty(),
        "there is no fixture; begin with the folder `text`"
    );
    let mut faults = Vec::new();
    for fixture in &fixtures {
        if let Err(fault) = prove(subject, &bench, fixture).await {
            faults.push(fault);
        }
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(Outcome::Proved)
}

/// Proves a fixture every way it can be asked.
pub(crate) async fn prove(subject: &Subject, bench: &Bench, fixture: &Fixture) -> Result<(), String> {
    if fixture.is_refusal() {
        return prove_refusal(subject, bench, fixture).await;
    }
    if fixture.response.is_some() {
        // Good or bad, it is as the fixture expects.
        let _ = prove_plain_outcome(subject, bench, fixture).await?;
    }
    if fixture.stream.is_some() || is_failed_answer(fixture) {
        prove_stream(subject, bench, fixture).await?;
    }
    Ok(())
}

/// A plain call of the fixture is what it should be and succeeds.
pub(crate) async fn prove_plain(
    subject: &Subject,
    bench: &Bench,
    fixture: &Fixture,
) -> Result<ChatResponse, String> {
    let outcome = prove_plain_outcome(subject, bench, fixture).await?;
    outcome.map_err(|error| format!("fixture {}: the plain call fails: {error}", fixture.name))
}

/// A plain call of the fixture is what it should be, good or bad.
pub(crate) async fn prove_plain_outcome(
    subject: &Subject,
    bench: &Bench,
    fixture: &Fixture,
) -> Result<Result<ChatResponse, Error>, String> {
    let place = || format!("fixture {}, plain", fixture.name);
    let before = bench.transport.request_count();
    let request = subject.request_of(fixture)?;
    let outcome = bench
        .chat(&request, subject.answer_of(fixture)?)
        .await
        .context(place)?;
    check_outcome(fixture, &outcome, None).context(place)?;
    subject
        .check_sent(fixture, false, &sent_since(bench, before))
        .context(place)?;
    Ok(outcome)
}

/// A stream of the fixture is what it should be, good or bad. An error status without a stream is answered with
/// the plain body.
pub(crate) async fn prove_stream(
    subject: &Subject,
    bench: &Bench,
    fixture: &Fixture,
) -> Result<Streamed, String> {
    let place = || format!("fixture {}, stream", fixture.name);
    let before = bench.transport.request_count();
    let request = subject.request_of(fixture)?;
    let answer = match (fixture.stream_answer(), fixture.answer()) {
        (None, Some(answer)) if is_failed_answer(fixture) => answer,
        _ => subject.stream_of(fixture)?,
    };
    let streamed = bench.stream(&request, answer).await.context(place)?;
    check_outcome(fixture, &streamed.outcome, Some(&streamed.partial)).context(place)?;
    subject
        .check_sent(fixture, true, &sent_since(bench, before))
        .context(place)?;
    Ok(streamed)
}

async fn prove_refusal(subject: &Subject, bench: &Bench, fixture: &Fixture) -> Result<(), String> {
    let place = || format!("fixture {}, to be refused", fixture.name);
    let before = bench.transport.request_count();
    let request = subject.request_of(fixture)?;
    let unasked = || crate::answer::Answer::closed();
    let plain = bench.chat(&request, unasked()).await.context(place)?;
    let streamed = bench.stream(&request, unasked()).await.context(place)?;
    let sent = bench.transport.request_count() - before;
    ensure!(sent == 0, "{}: {sent} requests were sent", place());
    check_outcome(fixture, &plain, None).context(place)?;
    check_outcome(fixture, &streamed.outcome, Some(&streamed.partial)).context(place)
}

fn check_outcome(
    fixture: &Fixture,
    outcome: &Result<ChatResponse, Error>,
    partial: Option<&ChatResponse>,
) -> Result<(), String> {
    let expect = &fixture.expect;
    let differences = match (outcome, &expect.error) {
        (Ok(response), None) => expect.differences(response),
        (Err(error), Some(expected)) => {
            let mut differences = expected.differences(error);
            if let (Some(partial), Some(expected)) = (partial, &expect.partial) {
                differences.extend(
                    expected
                        .differences(partial)
                        .into_iter()
                        .map(|what| format!("partial: {what}")),
                );
            }
            differences
        }
        (Ok(_), Some(expected)) => vec![format!(
            "it succeeds; expected an error of kind {}",
            expected.kind
        )],
        (Err(error), None) if error.kind() == ErrorKind::Internal => vec![format!("a defect: {error}")],
        (Err(error), None) => vec![format!("it fails: {error}")],
    };
    ensure!(differences.is_empty(), "{}", differences.join("; "));
    Ok(())
}

fn is_failed_answer(fixture: &Fixture) -> bool {
    fixture.meta.status >= 400
}

fn sent_since(bench: &Bench, before: usize) -> Vec<RecordedRequest> {
    bench.transport.requests().split_off(before)
}
