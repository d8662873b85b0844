//! Plain answers.

use super::{Outcome, check_expected, judge};
use crate::answer;
use crate::case::{Case, Fault, Fields};
use crate::outcome;
use crate::subject::{Setup, Subject, broken, on_fake_time, request};
use llm_core::{ChatDriver, ChatRequest};
use serde_json::Value;

pub(super) fn run(case: &Case) -> Result<Vec<String>, Fault> {
    check_expected(case)?;
    let mut fields = Fields::of(&case.input, "input")?;
    let answer = answer::head(&mut fields)?.with_piece(fields.text("body")?);
    let setup = Setup::read(&mut fields)?;
    fields.end()?;
    let request = request().map_err(|error| broken(&error))?;
    let value = on_fake_time(async {
        let subject = Subject::chat_completions(&setup, answer).map_err(|error| broken(&error))?;
        let value = ask(&subject, &request).await;
        Ok(outcome::with_time(value, subject.elapsed()))
    })??;
    Ok(judge(case, &[Outcome::new("", value)]))
}

/// Asks for the whole answer.
pub(super) async fn ask(subject: &Subject, request: &ChatRequest) -> Value {
    match subject.driver.chat(&subject.cx, request).await {
        Ok(response) => outcome::of_response(&response),
        Err(error) => outcome::of_early_error(&error),
    }
}
