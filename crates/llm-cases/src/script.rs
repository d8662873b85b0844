//! Scripted answers of the simulations, and how they look on the wire.

mod chat_completions;
mod generate_content;
mod messages;
mod ollama;
mod responses;

use crate::answer;
use crate::case::{Fault, Fields, list, text};
use crate::form::Form;
use llm_driver_testkit::{Answer, End};
use serde_json::Value;
use std::time::Duration;

/// One scripted answer.
#[derive(Debug, Clone)]
pub(crate) struct Scripted {
    /// The pause before its first byte.
    pub(crate) delay: Duration,
    content: Content,
}

#[derive(Debug, Clone)]
enum Content {
    Ok(Good),
    /// Status, headers and body as they are.
    Given(Answer),
    /// Payloads of events; without an end, then the end mark and a clean close.
    Stream(Vec<Value>, Option<End>),
    /// The body of an event stream.
    RawStream(String),
    /// No connection.
    Refused,
}

/// An answer that is right, in nobody's form yet.
#[derive(Debug, Clone)]
struct Good {
    text: String,
    /// In the vendor's word.
    finish_reason: String,
    /// As the vendor sends it.
    usage: Option<Value>,
}

/// Reads a list of answers, of which the last repeats.
pub(crate) fn read(answers: &Value, at: &str) -> Result<Vec<Scripted>, Fault> {
    let answers = list(answers, at)?;
    if answers.is_empty() {
        return Err(Fault::malformed(format!("{at} holds no answer")));
    }
    let each = answers.iter().enumerate();
    each.map(|(number, answer)| Scripted::read(answer, &format!("{at}[{number}]")))
        .collect()
}

impl Scripted {
    /// Reads one answer.
    pub(crate) fn read(answer: &Value, at: &str) -> Result<Scripted, Fault> {
        let mut fields = Fields::of(answer, at)?;
        let delay = fields.optional_millis("delay_ms")?.unwrap_or_default();
        let content = if let Some(text) = fields.optional_text("ok")? {
            Content::Ok(Good {
                text: text.to_owned(),
                finish_reason: fields
                    .optional_text("finish_reason")?
                    .unwrap_or("stop")
                    .to_owned(),
                usage: fields.optional("usage").cloned(),
            })
        } else if fields.optional("status").is_some() {
            Content::Given(given(&mut fields)?)
        } else if let Some(events) = fields.optional("stream") {
            let end = match fields.optional_text("end")? {
                None => None,
                Some("hang") => return Err(Fault::unknown("end", "hang")),
                Some(word) => Some(answer::end(word)?),
            };
            Content::Stream(list(events, &fields.at("stream"))?.to_vec(), end)
        } else if let Some(body) = fields.optional_text("raw_stream")? {
            Content::RawStream(body.to_owned())
        } else if let Some(reason) = fields.optional_text("connect_error")? {
            match reason {
                "refused" => Content::Refused,
                other => return Err(Fault::unknown("connect error", other)),
            }
        } else {
            fields.end()?;
            return Err(Fault::malformed(format!("{at} holds no answer")));
        };
        fields.end()?;
        Ok(Scripted { delay, content })
    }

    /// Does it come as a stream whatever was asked for?
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.content, Content::Stream(..) | Content::RawStream(_))
    }

    /// What the vendor of a form sends who was asked for a stream, or plainly.
    pub(crate) fn answer(&self, form: Form, stream: bool) -> Answer {
        let answer = match &self.content {
            Content::Ok(good) if stream => {
                let payloads = match form {
                    Form::ChatCompletions => chat_completions::chunks(good),
                    Form::Responses => responses::events(good),
                    Form::Messages => messages::events(good),
                    Form::GenerateContent => vec![generate_content::body(good)],
                    Form::Ollama => ollama::lines(good),
                };
                events(form, &payloads, None)
            }
            Content::Ok(good) => {
                let body = match form {
                    Form::ChatCompletions => chat_completions::body(good),
                    Form::Responses => responses::body(good),
                    Form::Messages => messages::body(good),
                    Form::GenerateContent => generate_content::body(good),
                    Form::Ollama => ollama::body(good),
                };
                Answer::json(200, body.to_string())
            }
            Content::Given(answer) => answer.clone(),
            Content::Stream(payloads, end) => events(form, payloads, *end),
            Content::RawStream(body) => Answer::status(200)
                .with_header("content-type", form.stream_type())
                .with_piece(body.as_str()),
            Content::Refused => Answer::refused(),
        };
        answer.with_pause(self.delay)
    }
}

/// Status, headers and body. An object is sent as JSON.
fn given(fields: &mut Fields<'_>) -> Result<Answer, Fault> {
    let mut answer = answer::head(fields)?;
    let Some(body) = fields.optional("body") else {
        return Ok(answer);
    };
    if !body.is_object() {
        return Ok(answer.with_piece(text(body, &fields.at("body"))?));
    }
    let names_its_type = fields
        .optional("headers")
        .and_then(Value::as_object)
        .is_some_and(|headers| {
            headers
                .keys()
                .any(|name| name.eq_ignore_ascii_case("content-type"))
        });
    if !names_its_type {
        answer = answer.with_header("content-type", "application/json");
    }
    Ok(answer.with_piece(body.to_string()))
}

/// Each payload as one event.
fn events(form: Form, payloads: &[Value], end: Option<End>) -> Answer {
    let (event, end_mark): (fn(&Value) -> String, &str) = match form {
        Form::ChatCompletions => (chat_completions::event, chat_completions::END_MARK),
        Form::Responses => (responses::event, responses::END_MARK),
        Form::Messages => (messages::event, messages::END_MARK),
        Form::GenerateContent => (generate_content::event, generate_content::END_MARK),
        Form::Ollama => (ollama::line, ollama::END_MARK),
    };
    let answer = Answer::status(200)
        .with_header("content-type", form.stream_type())
        .with_pieces(payloads.iter().map(event));
    match end {
        Some(end) => answer.with_end(end),
        None => answer.with_piece(end_mark),
    }
}

#[cfg(test)]
mod tests;
