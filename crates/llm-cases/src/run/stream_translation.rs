//! One stream form into another: a driver reads the upstream's, the encoder of the other form writes its events, and
//! a driver of that form reads what was written. What is checked is that outcome, and the shape of the stream.

mod encoder;
mod invariants;

use super::{Asked, ask, told, unmet};
use crate::answer;
use crate::case::{Case, Fault, Fields, Wire, list, text};
use crate::form::{Form, unsupported_wire};
use crate::outcome;
use crate::subject::{Setup, Subject, broken, on_fake_time, request};
use encoder::Encoder;
use invariants::{Frame, Invariant};
use llm_core::ChatRequest;
use llm_driver_testkit::Answer;
use serde_json::{Map, Value, json};

pub(super) fn supported(input: &Value) -> Result<(), Fault> {
    for (key, read) in [("from", from as fn(&str) -> Result<Form, Fault>), ("to", to)] {
        if let Some(Err(fault @ Fault::Unsupported(_))) = input[key].as_str().map(read) {
            return Err(fault);
        }
    }
    Ok(())
}

fn from(word: &str) -> Result<Form, Fault> {
    match Wire::parse(word) {
        Some(
            wire @ (Wire::OpenAiChatSse
            | Wire::AnthropicSse
            | Wire::GeminiSse
            | Wire::GeminiArrayStream
            | Wire::OllamaNdjson),
        ) => Form::of_wire(wire),
        Some(wire @ Wire::BedrockEventStream) => Err(unsupported_wire(wire)),
        _ => Err(Fault::unknown("stream", word)),
    }
}

/// What has an encoder.
fn to(word: &str) -> Result<Form, Fault> {
    match Wire::parse(word) {
        Some(wire @ (Wire::OpenAiChatSse | Wire::AnthropicSse | Wire::GeminiSse)) => Form::of_wire(wire),
        _ => from(word).and_then(|_| {
            Err(Fault::unsupported(format!(
                "translations to the stream {word} yet"
            )))
        }),
    }
}

pub(super) fn run(case: &Case) -> Result<Vec<String>, Fault> {
    let mut fields = Fields::of(&case.input, "input")?;
    let (from, to) = (from(fields.text("from")?)?, to(fields.text("to")?)?);
    let expected = case
        .places()
        .map(|(place, outcome)| Expected::read(outcome, to, &place))
        .collect::<Result<Vec<_>, _>>()?;
    let head = answer::head(&mut fields)?;
    let body = answer::body(fields.required("chunks")?, &fields.at("chunks"))?;
    let answer = head
        .with_pieces(body.pieces)
        .with_end(answer::end(fields.text("end")?)?);
    match fields.optional_text("split")? {
        None | Some("none" | "bytewise") => {}
        Some(other) => return Err(Fault::unknown("split", other)),
    }
    let asked_for = fields.optional("client_request");
    let place = fields.at("client_request");
    let setup = Setup::read(&mut fields)?;
    fields.end()?;
    let request = request().map_err(|error| broken(&error))?;
    let mut found = Vec::new();
    let mut first: Option<Translated> = None;
    for (way, bytewise) in [("whole", false), ("byte by byte", true)] {
        let setup = setup.bytewise(bytewise);
        let answer = answer.clone();
        let encoder = Encoder::of(to, asked_for, &place)?;
        let upstream = Subject::answered(from, &setup, answer).map_err(|error| broken(&error))?;
        let translated = on_fake_time(translate(&upstream, &request, encoder, to, bytewise))??;
        let mut lines: Vec<String> = translated.illegal.iter().cloned().collect();
        lines.extend(unmet(&expected, |expected| expected.differences(&translated)));
        found.extend(told(way, lines));
        match &first {
            Some(first) if !outcome::same(&first.assembled, &translated.assembled) => {
                let differ = outcome::differences(&first.assembled, &translated.assembled).join("; ");
                found.push(format!("whole and {way} differ: {differ}"));
            }
            Some(_) => {}
            None => first = Some(translated),
        }
    }
    Ok(found)
}

/// A stream as it was written, and what was read from it.
struct Translated {
    frames: Vec<Frame>,
    assembled: Value,
    illegal: Option<String>,
}

async fn translate(
    upstream: &Subject,
    request: &ChatRequest,
    mut encoder: Encoder,
    to: Form,
    bytewise: bool,
) -> Result<Translated, Fault> {
    let mut written = Vec::new();
    match upstream.driver.chat_stream(&upstream.cx, request).await {
        Err(error) => encoder.error(&error, &mut written),
        Ok(mut stream) => {
            while let Some(event) = stream.next_event().await {
                match event {
                    Ok(event) => encoder.push(&event, &mut written),
                    Err(error) => encoder.error(&error, &mut written),
                }
            }
        }
    }
    let frames = invariants::frames(&written)?;
    let answer = Answer::status(200)
        .with_header("content-type", to.stream_type())
        .with_piece(written);
    let setup = Setup::default().bytewise(bytewise);
    let reader = Subject::answered(to, &setup, answer).map_err(|error| broken(&error))?;
    let Asked { outcome, illegal, .. } = ask(&reader, request, true).await;
    Ok(Translated {
        frames,
        assembled: assembled(outcome),
        illegal,
    })
}

/// The words for a translated stream stand side by side, also for what came before a failure.
fn assembled(mut outcome: Value) -> Value {
    let mut fields = match outcome["partial"].take() {
        Value::Object(partial) => partial,
        _ => Map::new(),
    };
    if let Value::Object(outcome) = outcome {
        fields.extend(outcome.into_iter().filter(|(_, value)| !value.is_null()));
    }
    Value::Object(fields)
}

/// What a case expects of a translated stream.
struct Expected {
    assembled: Value,
    invariants: Vec<Invariant>,
}

impl Expected {
    fn read(expected: &Value, to: Form, at: &str) -> Result<Expected, Fault> {
        let mut fields = Fields::of(expected, at)?;
        let word = fields.text("outcome")?;
        let mut assembled = fields.required("assembled")?.clone();
        let place = fields.at("assembled");
        match assembled.as_object_mut() {
            Some(fields) if !fields.contains_key("outcome") => {
                fields.insert("outcome".to_owned(), json!(word));
            }
            _ => return Err(Fault::malformed(format!("{place} is no canonical outcome"))),
        }
        outcome::check(&assembled, &place)?;
        let mut invariants = Vec::new();
        if let Some(names) = fields.optional("invariants") {
            let place = fields.at("invariants");
            for name in list(names, &place)? {
                invariants.push(Invariant::of(text(name, &place)?, to)?);
            }
        }
        fields.end()?;
        Ok(Expected {
            assembled,
            invariants,
        })
    }

    fn differences(&self, translated: &Translated) -> Vec<String> {
        let mut lines = outcome::differences(&self.assembled, &translated.assembled);
        let broken = self
            .invariants
            .iter()
            .filter(|invariant| !invariant.holds(&translated.frames));
        lines.extend(broken.map(|invariant| format!("the stream breaks {}", invariant.name())));
        lines
    }
}
