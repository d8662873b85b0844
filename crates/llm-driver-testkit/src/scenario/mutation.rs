//! Mutations: an answer with one field missing, null, of another type or of another name is still read.

use super::{Finding, Outcome, ensure};
use crate::answer::{Answer, Piece};
use crate::fixture::{Fixture, WireBody};
use crate::mutate::{Mutation, frames, mutations};
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
                .chat(&request, replaced(&fixture, answer, body.into_bytes()))
                .await?;
            verdict.weigh(&fixture, "", &mutation, &outcome);
        }
        verdict.look_for_needless(&fixture, |path| !path.starts_with(STREAM));
    }
    verdict.finding()
}

/// Every frame of the stream of every fixture, with one place changed at a time.
pub(crate) async fn stream(subject: &Subject) -> Finding {
    let mut verdict = Verdict::default();
    for fixture in subject.fixtures()? {
        let Some(answer) = &fixture.stream else {
            continue;
        };
        let bench = subject.bench()?;
        let request = subject.request_of(&fixture)?;
        for frame in frames(&answer.bytes) {
            for mutation in mutations(&frame.value) {
                let bytes = frame.replaced(&answer.bytes, &mutation.apply(&frame.value));
                let outcome = ask(&bench, &request, replaced(&fixture, answer, bytes)).await?;
                verdict.weigh(&fixture, STREAM, &mutation, &outcome);
            }
        }
        verdict.look_for_needless(&fixture, |path| path.starts_with(STREAM));
    }
    verdict.finding()
}

async fn ask(
    bench: &Bench,
    request: &ChatRequest,
    answer: Answer,
) -> Result<Result<ChatResponse, Error>, String> {
    Ok(bench.stream(request, answer).await?.outcome)
}

fn replaced(fixture: &Fixture, answer: &WireBody, bytes: Vec<u8>) -> Answer {
    let mut replaced = fixture.answer_of(answer);
    replaced.pieces = vec![Piece::from(bytes)];
    replaced
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
