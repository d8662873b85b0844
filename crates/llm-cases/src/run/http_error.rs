//! Failures with a status of their own. They must be the same for both ways of asking.

use super::{Outcome, ask, check_expected, judge};
use crate::answer;
use crate::case::{Case, Fault, Fields};
use crate::form::{self, Form};
use crate::subject::{Setup, Subject, broken, date, on_fake_time, request};
use serde_json::Value;

/// What is run here, for faults.
const WHAT: &str = "errors";

pub(super) fn supported(input: &Value) -> Result<(), Fault> {
    form::supported(input, WHAT)
}

pub(super) fn run(case: &Case) -> Result<Vec<String>, Fault> {
    check_expected(case)?;
    let mut fields = Fields::of(&case.input, "input")?;
    let form = Form::of(fields.text("dialect")?, WHAT)?;
    let answer = answer::head(&mut fields)?.with_piece(fields.text("body")?);
    let mut setup = Setup::read(&mut fields)?;
    if let Some(now) = fields.optional("now") {
        setup = setup.at(date(now, &fields.at("now"))?);
    }
    fields.end()?;
    let request = request().map_err(|error| broken(&error))?;
    let mut outcomes = Vec::new();
    for (way, stream) in [("asked plainly", false), ("asked for a stream", true)] {
        let outcome = on_fake_time(async {
            let subject = Subject::answered(form, &setup, answer.clone()).map_err(|error| broken(&error))?;
            let asked = ask(&subject, &request, stream).await;
            Ok(Outcome {
                way,
                value: asked.outcome,
                illegal: asked.illegal,
            })
        })??;
        outcomes.push(outcome);
    }
    Ok(judge(case, &outcomes))
}
