//! Failures with a status of their own. They must be the same for both ways of asking.

use super::{Outcome, check_expected, judge, plain, stream};
use crate::answer;
use crate::case::{Case, DIALECTS, Fault, Fields};
use crate::subject::{Setup, Subject, broken, date, on_fake_time, request};
use serde_json::Value;

/// The dialects that the Chat Completions codec reads.
const CHAT_COMPLETIONS: &[&str] = &["openai", "azure", "groq", "deepseek", "kimi", "mistral"];

pub(super) fn supported(input: &Value) -> Result<(), Fault> {
    match input["dialect"].as_str() {
        Some(known) if !CHAT_COMPLETIONS.contains(&known) && DIALECTS.contains(&known) => {
            Err(Fault::unsupported(format!("errors of the dialect {known} yet")))
        }
        _ => Ok(()),
    }
}

pub(super) fn run(case: &Case) -> Result<Vec<String>, Fault> {
    check_expected(case)?;
    let mut fields = Fields::of(&case.input, "input")?;
    let dialect = fields.text("dialect")?;
    if !DIALECTS.contains(&dialect) {
        return Err(Fault::unknown("dialect", dialect));
    }
    let answer = answer::head(&mut fields)?.with_piece(fields.text("body")?);
    let mut setup = Setup::read(&mut fields)?;
    if let Some(now) = fields.optional("now") {
        setup = setup.at(date(now, &fields.at("now"))?);
    }
    fields.end()?;
    let request = request().map_err(|error| broken(&error))?;
    let mut outcomes = Vec::new();
    for way in ["asked plainly", "asked for a stream"] {
        let outcome = on_fake_time(async {
            let subject =
                Subject::chat_completions(&setup, answer.clone()).map_err(|error| broken(&error))?;
            Ok(match way {
                "asked plainly" => Outcome::new(way, plain::ask(&subject, &request).await),
                _ => {
                    let asked = stream::ask(&subject, &request).await;
                    Outcome {
                        way,
                        value: asked.outcome,
                        illegal: asked.illegal,
                    }
                }
            })
        })??;
        outcomes.push(outcome);
    }
    Ok(judge(case, &outcomes))
}
