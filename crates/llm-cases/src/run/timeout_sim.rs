//! Time limits: the real driver within the real layer, on a fake clock.

use super::{Outcome, ask_patiently, check_expected, judge};
use crate::answer::{self, Body};
use crate::case::{Case, Fault, Fields};
use crate::form::{self, Form};
use crate::subject::{Setup, Subject, broken, on_fake_time, request};
use llm_driver_testkit::Answer;
use llm_resilience::{TimeoutLayer, TimeoutPolicy};
use serde_json::Value;
use std::time::Duration;

/// What is run here, for faults.
const WHAT: &str = "time limits";

pub(super) fn supported(input: &Value) -> Result<(), Fault> {
    form::supported(input, WHAT)
}

pub(super) fn run(case: &Case) -> Result<Vec<String>, Fault> {
    check_expected(case)?;
    let mut fields = Fields::of(&case.input, "input")?;
    let form = Form::of(fields.optional_text("dialect")?.unwrap_or("openai"), WHAT)?;
    let limits = Limits::read(fields.required("config")?, &fields.at("config"))?;
    let upstream = Upstream::read(
        fields.required("upstream")?,
        &fields.at("upstream"),
        form,
        &limits,
    )?;
    fields.end()?;
    let layer = TimeoutLayer::attempt(limits.policy);
    let request = request().map_err(|error| broken(&error))?;
    let mut outcomes = Vec::new();
    for (way, bytewise) in [("whole", false), ("byte by byte", true)] {
        let setup = Setup::of_simulation().bytewise(bytewise);
        let outcome = on_fake_time(async {
            let subject =
                Subject::answered(form, &setup, upstream.answer.clone()).map_err(|error| broken(&error))?;
            let subject = subject.within(&layer);
            let asked = ask_patiently(&subject, &request, !upstream.plain).await;
            let after = upstream.body.silence_until(asked.known_at);
            Ok(Outcome::timed(way, asked, after))
        })??;
        outcomes.push(outcome);
    }
    Ok(judge(case, &outcomes))
}

/// `config`. A limit that is not named is none.
struct Limits {
    /// The transport's, which no layer knows.
    connect: Option<Duration>,
    policy: TimeoutPolicy,
}

impl Limits {
    fn read(config: &Value, at: &str) -> Result<Limits, Fault> {
        let mut fields = Fields::of(config, at)?;
        let connect = fields.optional_millis("connect_ms")?;
        let policy = TimeoutPolicy::off()
            .with_first_event(fields.optional_millis("first_byte_ms")?)
            .with_idle(fields.optional_millis("idle_ms")?)
            .with_whole(fields.optional_millis("total_ms")?);
        fields.end()?;
        Ok(Limits { connect, policy })
    }
}

/// `upstream`: connects and sends headers at once, then its chunks.
struct Upstream {
    plain: bool,
    answer: Answer,
    body: Body,
}

impl Upstream {
    fn read(upstream: &Value, at: &str, form: Form, limits: &Limits) -> Result<Upstream, Fault> {
        let mut fields = Fields::of(upstream, at)?;
        let plain = fields.flag("plain")?;
        let body = answer::body(fields.required("chunks")?, &fields.at("chunks"))?;
        let end = answer::end(fields.optional_text("end")?.unwrap_or("eof"))?;
        let connects = match fields.optional_text("connect")? {
            None => true,
            Some("hang") => false,
            Some(other) => return Err(Fault::unknown("connect", other)),
        };
        fields.end()?;
        let media_type = if plain {
            "application/json"
        } else {
            form.stream_type()
        };
        if connects {
            let head = Answer::status(200).with_header("content-type", media_type);
            return Ok(Upstream {
                plain,
                answer: head.with_pieces(body.pieces.clone()).with_end(end),
                body,
            });
        }
        let Some(limit) = limits.connect else {
            return Err(Fault::malformed(format!(
                "{at} never connects without a connect_ms"
            )));
        };
        Ok(Upstream {
            plain,
            answer: Answer::connect_timeout().with_pause(limit),
            body: Body::default(),
        })
    }
}
