//! Streams: legal in every case, the same however the bytes are split, honest about being cut.

use super::text::{same_answer, same_stream};
use super::{Finding, InContext, Outcome, ensure};
use crate::answer::{Answer, End, Piece};
use crate::fixture::Fixture;
use crate::subject::{Bench, Streamed, Subject};
use llm_core::stream::ChatEvent;
use llm_core::{ChatRequest, ErrorKind, Phase};
use serde_json::Value;

/// Every fixture's stream follows the grammar, whole and however its bytes are split, and brings the same.
pub(crate) async fn bytewise(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    let mut streams = 0;
    for fixture in subject.fixtures()? {
        let Some(answer) = fixture.stream_answer() else {
            continue;
        };
        let request = subject.request_of(&fixture)?;
        let place = |size: usize| format!("fixture {}, in pieces of {size} bytes", fixture.name);
        let whole = bench
            .stream(&request, answer.clone())
            .await
            .context(|| place(usize::MAX))?;
        for size in [1, 2, 7, 64] {
            let split = bench
                .stream(&request, answer.clone().split(size))
                .await
                .context(|| place(size))?;
            same_stream(&whole, &split).context(|| place(size))?;
        }
        streams += 1;
    }
    ensure!(streams > 0, "no fixture has a stream; give `text` one");
    Ok(Outcome::Proved)
}

/// A stream whose connection is closed in the middle ends with `Interrupted`, after what had come.
pub(crate) async fn cut(subject: &Subject) -> Finding {
    broken(subject, End::Cut).await
}

/// The same for a connection that is reset.
pub(crate) async fn reset(subject: &Subject) -> Finding {
    broken(subject, End::Reset).await
}

async fn broken(subject: &Subject, end: End) -> Finding {
    let (bench, request, answer) = text_stream(subject)?;
    let whole = whole_text(&bench, &request, &answer).await?;
    let half = answer.body_bytes().len() / 2;
    let streamed = bench
        .stream(&request, answer.clone().end_after(half).with_end(end))
        .await?;
    interrupted(&streamed, &whole)?;
    let text = streamed.partial.text();
    ensure!(
        !text.is_empty(),
        "half of the stream brought no text; make the stream of `text` longer"
    );

    // Before any content the call may also count as one that was never answered.
    let streamed = bench.stream(&request, answer.end_after(0).with_end(end)).await?;
    match streamed.outcome {
        Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::Connection) => {
            Ok(Outcome::Proved)
        }
        Err(error) => Err(format!(
            "broken before its first byte, the stream ends with {error}"
        )),
        Ok(_) => Err("broken before its first byte, the stream succeeds".to_owned()),
    }
}

/// Wherever a stream just stops, there is no finish that the vendor did not send.
pub(crate) async fn no_invented_finish(subject: &Subject) -> Finding {
    let (bench, request, answer) = text_stream(subject)?;
    let whole = bench.stream(&request, answer.clone()).await?;
    let complete = whole
        .outcome
        .map_err(|error| format!("the whole stream fails: {error}"))?;
    let mut interruptions = 0;
    for at in cut_points(answer.body_bytes().len()) {
        let place = || format!("ended after {at} bytes");
        let streamed = bench
            .stream(&request, answer.clone().end_after(at))
            .await
            .context(place)?;
        match &streamed.outcome {
            Ok(response) => ensure!(
                response.text() == complete.text() && response.finish == complete.finish,
                "{}: the stream finishes ({}) with {:?}, but the vendor had not finished",
                place(),
                response.finish,
                response.text()
            ),
            Err(_) => {
                interrupted(&streamed, &complete.text()).context(place)?;
                interruptions += 1;
            }
        }
    }
    ensure!(interruptions > 0, "no cut of the stream was noticed");
    Ok(Outcome::Proved)
}

/// An error inside a stream that began with 200 is the stream's one error.
pub(crate) async fn error_frame(subject: &Subject) -> Finding {
    let (bench, fixture) = (subject.bench()?, subject.fixture("error_in_stream")?);
    ensure!(
        fixture.meta.status == 200 && fixture.expect.error.is_some(),
        "error_in_stream: the status must be 200, and expect.json must name the error"
    );
    let streamed = super::fixtures::prove_stream(subject, &bench, &fixture).await?;
    let error = streamed.outcome.err().ok_or("the stream succeeds")?;
    ensure!(
        error.phase() != Phase::NotSent,
        "the phase of {error} is NotSent, but the request was sent"
    );
    Ok(Outcome::Proved)
}

/// Comments between the events change nothing.
pub(crate) async fn keep_alives(subject: &Subject) -> Finding {
    with_changed_events(subject, |event| {
        format!(": keep-alive\n\n{event}\n\n: keep-alive\n\n")
    })
    .await
}

/// Fields and events that the driver does not know change nothing.
pub(crate) async fn unknown_fields(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    let fixture = subject.fixture("text")?;
    let request = subject.request_of(&fixture)?;
    let answer = subject.answer_of(&fixture)?;
    let known = bench
        .chat(&request, answer.clone())
        .await?
        .map_err(|error| error.to_string())?;
    let body = with_unknown_field(&String::from_utf8_lossy(&answer.body_bytes()))
        .ok_or("text/wire_response.json is no JSON object")?;
    let changed = Answer {
        pieces: vec![Piece::from(body)],
        ..answer
    };
    let unknown = bench.chat(&request, changed).await?;
    let unknown =
        unknown.map_err(|error| format!("an unknown field in the answer fails the call: {error}"))?;
    same_answer(&known, &unknown).context(|| "an unknown field changes the answer".to_owned())?;
    with_changed_events(subject, |event| {
        let data = event.lines().map(|line| {
            let changed = line.strip_prefix("data:").and_then(with_unknown_field);
            changed.map_or_else(|| line.to_owned(), |data| format!("data: {data}"))
        });
        let event: Vec<_> = data.collect();
        format!(
            "event: kit_unknown\ndata: {{\"type\":\"kit_unknown\"}}\n\n{}\n\n",
            event.join("\n")
        )
    })
    .await
}

/// Bytes that are no UTF-8 break nothing but the text they stand in.
pub(crate) async fn bad_utf8(subject: &Subject) -> Finding {
    let (bench, request, answer) = text_stream(subject)?;
    for at in cut_points(answer.body_bytes().len()) {
        let place = || format!("bad bytes after {at}");
        let streamed = bench
            .stream(&request, answer.clone().bad_utf8_after(at))
            .await
            .context(place)?;
        // What the broken words then mean is not ours to say; a defect they must not be.
        if let Err(error) = &streamed.outcome {
            ensure!(error.kind() != ErrorKind::Internal, "{}: {error}", place());
        }
    }
    Ok(Outcome::Proved)
}

/// Where to cut a body of this length: everywhere, or at some thousand places.
pub(crate) fn cut_points(length: usize) -> impl Iterator<Item = usize> {
    (0..length).step_by(length / 2000 + 1)
}

fn text_stream(subject: &Subject) -> Result<(Bench, ChatRequest, Answer), String> {
    let fixture = subject.fixture("text")?;
    Ok((
        subject.bench()?,
        subject.request_of(&fixture)?,
        subject.stream_of(&fixture)?,
    ))
}

async fn whole_text(bench: &Bench, request: &ChatRequest, answer: &Answer) -> Result<String, String> {
    let whole = bench.stream(request, answer.clone()).await?;
    whole
        .outcome
        .map(|response| response.text())
        .map_err(|error| format!("the whole stream fails: {error}"))
}

fn interrupted(streamed: &Streamed, whole: &str) -> Result<(), String> {
    let error = match &streamed.outcome {
        Err(error) => error,
        Ok(_) => return Err("a stream that was cut succeeds".to_owned()),
    };
    ensure!(
        error.kind() == ErrorKind::Interrupted,
        "a stream that was cut ends with {error}; expected interrupted"
    );
    let seen = streamed.events.iter().any(ChatEvent::is_content);
    let phase = if seen { Phase::Streaming } else { Phase::Sent };
    ensure!(
        error.phase() == phase,
        "the phase of {error} is {:?}; expected {phase:?} (content was {}seen)",
        error.phase(),
        if seen { "" } else { "not " }
    );
    let text = streamed.partial.text();
    ensure!(
        whole.starts_with(&text),
        "what came before the cut is {text:?}, no beginning of the answer"
    );
    Ok(())
}

async fn with_changed_events(subject: &Subject, change: impl Fn(&str) -> String) -> Finding {
    let bench = subject.bench()?;
    let mut changed = 0;
    for fixture in subject.fixtures()? {
        let Some(body) = event_stream(&fixture) else {
            continue;
        };
        let events = body.split("\n\n").filter(|event| !event.trim().is_empty());
        let body: String = events.map(&change).collect();
        let answer = subject.stream_of(&fixture)?;
        let place = || format!("fixture {}", fixture.name);
        let request = subject.request_of(&fixture)?;
        let whole = bench.stream(&request, answer.clone()).await.context(place)?;
        let answer = Answer {
            pieces: vec![Piece::from(body)],
            ..answer
        };
        let other = bench.stream(&request, answer).await.context(place)?;
        same_stream(&whole, &other).context(place)?;
        changed += 1;
    }
    if changed == 0 {
        return Ok(Outcome::Skipped("no fixture is an event stream".to_owned()));
    }
    Ok(Outcome::Proved)
}

fn event_stream(fixture: &Fixture) -> Option<String> {
    let body = fixture.stream.as_ref()?;
    let text = String::from_utf8(body.bytes.clone()).ok()?.replace("\r\n", "\n");
    (body.media_type == "text/event-stream").then_some(text)
}

fn with_unknown_field(text: &str) -> Option<String> {
    let mut value: Value = serde_json::from_str(text).ok()?;
    let field = serde_json::json!({"deep": [1, null, {"x": "y"}]});
    value
        .as_object_mut()?
        .insert("kit_unknown_field".to_owned(), field);
    Some(value.to_string())
}
