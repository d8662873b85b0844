//! Streams: the answer whole as the case cuts it, and byte by byte.

use super::{Asked, Outcome, check_expected, judge, server};
use crate::answer;
use crate::case::{Case, Fault, Fields};
use crate::form::Form;
use crate::outcome;
use crate::subject::{Setup, Subject, broken, on_fake_time, request};
use llm_core::{ChatEvent, ChatRequest, ChatStream, Collector, Error, Grammar};

pub(super) fn run(case: &Case) -> Result<Vec<String>, Fault> {
    check_expected(case)?;
    let form = Form::of_wire(case.wire)?;
    let mut fields = Fields::of(&case.input, "input")?;
    let head = answer::head(&mut fields)?;
    let body = answer::body(fields.required("chunks")?, &fields.at("chunks"))?;
    let end = answer::end(fields.text("end")?)?;
    match fields.optional_text("split")? {
        None | Some("none" | "bytewise") => {}
        Some(other) => return Err(Fault::unknown("split", other)),
    }
    let setup = Setup::read(&mut fields)?;
    fields.end()?;
    let answer = head.with_pieces(body.pieces.clone()).with_end(end);
    let request = request().map_err(|error| broken(&error))?;
    let mut outcomes = Vec::new();
    for (way, bytewise) in [("whole", false), ("byte by byte", true)] {
        let outcome = on_fake_time(async {
            let subject = Subject::answered(form, &setup.bytewise(bytewise), answer.clone())
                .map_err(|error| broken(&error))?;
            let asked = ask(&subject, &request, None).await;
            let after = body.silence_until(asked.known_at);
            Ok(Outcome::timed(way, asked, after))
        })??;
        outcomes.push(outcome);
    }
    Ok(judge(case, &outcomes))
}

/// Asks for a stream and reads it to its end, or drops it after so many events.
pub(super) async fn ask(subject: &Subject, request: &ChatRequest, most: Option<u64>) -> Asked {
    match subject.driver.chat_stream(&subject.cx, request).await {
        Err(error) => Asked::new(outcome::of_early_error(&error), subject.elapsed()),
        Ok(stream) => read(subject, request, stream, most).await,
    }
}

async fn read(subject: &Subject, request: &ChatRequest, mut stream: ChatStream, most: Option<u64>) -> Asked {
    let served_by = server(stream.attempts());
    let (mut events, mut starts) = (0, 0);
    let mut collector = Collector::default();
    let mut grammar = Grammar::default();
    let mut illegal = None;
    let mut note = |checked: Result<(), Error>| {
        if let Err(error) = checked {
            illegal.get_or_insert(error.message().to_owned());
        }
    };
    let mut failure = None;
    let mut known_at = None;
    while most.is_none_or(|most| events < most)
        && let Some(event) = stream.next_event().await
    {
        events += 1;
        match event {
            Ok(event) => {
                starts += u64::from(matches!(event, ChatEvent::Start(_)));
                if matches!(event, ChatEvent::Finish { .. }) {
                    known_at.get_or_insert_with(|| subject.elapsed());
                }
                note(grammar.check(&event));
                if let Err(error) = collector.push(event) {
                    failure.get_or_insert(error);
                }
            }
            Err(error) => {
                known_at.get_or_insert_with(|| subject.elapsed());
                note(grammar.fail());
                failure.get_or_insert(error);
            }
        }
    }
    let partial = collector.partial();
    if most.is_some_and(|most| events >= most) {
        return Asked {
            illegal,
            starts,
            ..Asked::new(outcome::of_dropped(&partial), subject.elapsed())
        };
    }
    note(grammar.end());
    let outcome = match failure.map_or_else(|| collector.finish(), Err) {
        Ok(response) => outcome::of_response(&response, subject.sent_back(request, &response).await),
        Err(error) => outcome::of_error(&error, &partial),
    };
    Asked {
        illegal,
        starts,
        served_by,
        ..Asked::new(outcome, known_at.unwrap_or_else(|| subject.elapsed()))
    }
}
