//! Plain answers.

use super::{Asked, Outcome, check_expected, judge, server};
use crate::answer;
use crate::case::{Case, Fault, Fields};
use crate::form::Form;
use crate::outcome;
use crate::subject::{Setup, Subject, broken, on_fake_time, request};
use llm_core::ChatRequest;

pub(super) fn run(case: &Case) -> Result<Vec<String>, Fault> {
    check_expected(case)?;
    let form = Form::of_wire(case.wire)?;
    let mut fields = Fields::of(&case.input, "input")?;
    let answer = answer::head(&mut fields)?.with_piece(fields.text("body")?);
    let setup = Setup::read(&mut fields)?;
    fields.end()?;
    let request = request().map_err(|error| broken(&error))?;
    let outcome = on_fake_time(async {
        let subject = Subject::answered(form, &setup, answer).map_err(|error| broken(&error))?;
        let asked = ask(&subject, &request).await;
        let after = asked.known_at;
        Ok(Outcome::timed("", asked, after))
    })??;
    Ok(judge(case, &[outcome]))
}

/// Asks for the whole answer.
pub(super) async fn ask(subject: &Subject, request: &ChatRequest) -> Asked {
    let (outcome, served_by) = match subject.driver.chat(&subject.cx, request).await {
        Ok(response) => {
            let served_by = server(&response.attempts);
            let sent_back = subject.sent_back(request, &response).await;
            (outcome::of_response(&response, sent_back), served_by)
        }
        Err(error) => (outcome::of_early_error(&error), None),
    };
    Asked {
        served_by,
        ..Asked::new(outcome, subject.elapsed())
    }
}
