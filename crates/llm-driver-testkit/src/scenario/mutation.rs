//! Mutations: an answer with one field missing, null, of another type or of another name is still read.

use super::{Finding, Outcome, ensure};
use crate::answer::Answer;
use crate::fixture::Fixture;
use crate::mutate::{Frame, Mutation, frames, mutations, shape};
use crate::subject::{Bench, Subject};
use llm_core::{ChatRequest, ChatResponse, Error, ErrorKind};
use serde_json::Value;
use std::collections::BTreeSet;

/// The plain answer of every fixture, with one place changed at a time.
pub(crate) async fn plain(subject: &Subject) -> Finding {
    let mut verdict = Verdict::default();
    for fixture in subject.fixtures()? {
        let Some(answer) = &fixture.response else {
            continue;
        };
        let Ok(whole) = serde_json::from_slice::<Value>(&answer.bytes) else {
            continue;
        };
        let bench = subject.bench()?;
        let request = subject.request_of(&fixture)?;
        for mutation in mutations(&whole) {
            let body = mutation.apply(&whole).to_string();
            let outcome = bench
                .chat(&request, fixture.answer_with(answer, body.into_bytes()))
                .await?;
            verdict.weigh(&fixture, "", &mutation, &outcome);
        }
        verdict.look_for_needless(&fixture, |path| !path.starts_with(STREAM));
    }
    verdict.finding()
}

/// The frames of the stream of every fixture, with one place changed at a time. Of frames that are built alike, the
/// first and the last stand for all.
pub(crate) async fn stream(subject: &Subject) -> Finding {
    let mut verdict = Verdict::default();
    for fixture in subject.fixtures()? {
        let Some(answer) = &fixture.stream else {
            continue;
        };
        let bench = subject.bench()?;
        let request = subject.request_of(&fixture)?;
        for frame in first_and_last_of_each_shape(frames(&answer.bytes)) {
            for mutation in mutations(&frame.value) {
                let bytes = frame.replaced(&answer.bytes, &mutation.apply(&frame.value));
                let outcome = ask(&bench, &request, fixture.answer_with(answer, bytes)).await?;
                verdict.weigh(&fixture, STREAM, &mutation, &outcome);
            }
        }
        verdict.look_for_needless(&fixture, |path| path.starts_with(STREAM));
    }
    verdict.finding()
}

fn first_and_last_of_each_shape(frames: Vec<Frame>) -> Vec<Frame> {
    let mut shapes: Vec<(String, Vec<Frame>)> = Vec::new();
    for frame in frames {
        let shape = shape(&frame.value);
        match shapes.iter_mut().find(|(known, _)| *known == shape) {
            Some((_, alike)) => {
                alike.truncate(1);
                alike.push(frame);
            }
            None => shapes.push((shape, vec![frame])),
        }
    }
    shapes.into_iter().flat_map(|(_, alike)| alike).collect()
}

async fn ask(
    bench: &Bench,
    request: &ChatRequest,
    answer: Answer,
) -> Result<Result<ChatResponse, Error>, String> {
    Ok(bench.stream(request, answer).await?.outcome)
}

/// Before a path of `essential` that is one of a stream's frames.
const STREAM: &str = "stream ";

/// What all mutations came to.
#[derive(Default)]
struct Verdict {
    faults: Vec<String>,
    /// The paths of this fixture without which the answer could not be read.
    needed: BTreeSet<String>,
    count: usize,
}

impl Verdict {
    fn weigh(
        &mut self,
        fixture: &Fixture,
        place: &str,
        mutation: &Mutation,
        outcome: &Result<ChatResponse, Error>,
    ) {
        self.count += 1;
        let Err(error) = outcome else { return };
        let defect = error.kind() == ErrorKind::Internal;
        // An answer that is an error stays one, in some words or other.
        if fixture.expect.error.is_some() && !defect {
            return;
        }
        let path = format!("{place}{}", mutation.pattern());
        if fixture.expect.essential.contains(&path) && !defect {
            self.needed.insert(path);
        } else {
            self.faults
                .push(format!("{}: {place}{mutation}: {error}", fixture.name));
        }
    }

    fn look_for_needless(&mut self, fixture: &Fixture, of_this_kind: impl Fn(&str) -> bool) {
        let needed = std::mem::take(&mut self.needed);
        let listed = fixture.expect.essential.iter();
        for path in listed.filter(|path| of_this_kind(path) && !needed.contains(*path)) {
            self.faults.push(format!(
                "{}: {path} is listed as essential, but the answer is read without it",
                fixture.name
            ));
        }
    }

    fn finding(self) -> Finding {
        ensure!(self.count > 0, "no fixture has an answer in JSON");
        ensure!(
            self.faults.is_empty(),
            "{} of {} mutations are not survived; read what can be read, or list the path as essential in expect.json:\n{}",
            self.faults.len(),
            self.count,
            self.faults.join("\n")
        );
        Ok(Outcome::Proved)
    }
}
