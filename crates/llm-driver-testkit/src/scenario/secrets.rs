//! Secrets: neither the credential nor the prompt shows in any error, even where the vendor repeats it.

use super::{Finding, Outcome, ensure};
use crate::answer::Answer;
use crate::harness::Endpoint;
use crate::subject::{Bench, SCRIPTED_URL, SENTINEL_KEY, SENTINEL_PROMPT, Subject};
use llm_core::{Chain, ChatRequest, Error, Secret};
use std::error::Error as _;
use std::fmt::Write as _;

/// Every error that the kit can provoke, from a vendor that repeats nothing.
pub(crate) async fn in_errors(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    let mut answers = vec![
        Answer::refused(),
        Answer::connect_timeout(),
        Answer::closed(),
        Answer::json(200, "garbage"),
        Answer::json(200, ""),
    ];
    answers.extend([400, 401, 403, 404, 413, 422, 429, 500, 503].map(|status| Answer::json(status, "{}")));
    let stream = subject.stream_of(&subject.fixture("text")?)?;
    let half = stream.body_bytes().len() / 2;
    answers.extend([stream.clone().end_after(half), stream.reset_after(half)]);
    provoke(subject, &bench, &answers).await
}

/// A vendor that repeats the credential and the prompt in its answer, in every shape of an error body.
pub(crate) async fn echoed_by_vendor(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    let mut answers = Vec::new();
    for body in echoes() {
        answers.extend([400, 401, 429, 500].map(|status| Answer::json(status, body.clone())));
        answers.push(Answer::json(200, body.clone()));
        answers.push(Answer::sse(format!("event: error\ndata: {body}\n\n")));
    }
    answers.push(Answer::html(
        502,
        format!("<html><body><p>{}</p></body></html>", echo()),
    ));
    provoke(subject, &bench, &answers).await
}

/// The driver's own `Debug` and its info, and what it says of a credential that cannot be sent.
pub(crate) async fn in_debug(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    clean(
        "the driver's Debug",
        &format!("{:?} {:#?}", bench.driver, bench.driver),
    )?;
    clean("the driver's info", &format!("{:?}", bench.driver.info()))?;
    let unusable = Secret::new(format!("{SENTINEL_KEY}\nsecond line"));
    let endpoint = Endpoint::new(SCRIPTED_URL, unusable).with_transport(bench.transport.clone());
    let error = match subject.harness.build(&endpoint) {
        Err(error) => Some(error),
        Ok(driver) => {
            bench.transport.set_answers([Answer::json(401, "{}")]);
            driver
                .chat(&crate::TestClock::context(), &subject.request()?)
                .await
                .err()
        }
    };
    if let Some(error) = error {
        clean("the error of an unusable credential", &everything(&error))?;
    }
    Ok(Outcome::Proved)
}

/// What a vendor may say.
fn echo() -> String {
    format!(
        "Incorrect API key provided: {SENTINEL_KEY}. You wrote: {}",
        prompt()
    )
}

fn prompt() -> String {
    format!("Please keep {SENTINEL_PROMPT} to yourself.")
}

/// The shapes that error bodies have, here and there.
fn echoes() -> Vec<String> {
    let text = serde_json::Value::String(echo());
    vec![
        format!(
            r#"{{"error":{{"message":{text},"type":"invalid_request_error","param":null,"code":"invalid_api_key"}}}}"#
        ),
        format!(r#"{{"type":"error","error":{{"type":"invalid_request_error","message":{text}}}}}"#),
        format!(
            r#"{{"error":{{"code":400,"message":{text},"status":"INVALID_ARGUMENT","details":[{{"reason":{text}}}]}}}}"#
        ),
        format!(r#"[{{"error":{{"code":400,"message":{text},"status":"INVALID_ARGUMENT"}}}}]"#),
        format!(r#"{{"object":"error","message":{text},"type":"invalid_request","param":null,"code":null}}"#),
        format!(r#"{{"detail":[{{"loc":["body","messages"],"msg":{text},"type":"value_error"}}]}}"#),
        format!(r#"{{"error":{text}}}"#),
        format!(r#"{{"message":{text}}}"#),
        text.to_string(),
        echo(),
    ]
}

async fn provoke(subject: &Subject, bench: &Bench, answers: &[Answer]) -> Finding {
    let request = ChatRequest::user(prompt()).with_model(subject.model()?);
    let mut provoked = 0;
    for answer in answers {
        let plain = bench.chat(&request, answer.clone()).await?.err();
        let stream = bench.stream(&request, answer.clone()).await?.outcome.err();
        for error in [plain, stream].into_iter().flatten() {
            let what = format!("the error after {:?} ({})", answer.head, error.kind());
            clean(&what, &everything(&error))?;
            provoked += 1;
        }
    }
    ensure!(provoked > 0, "no error was provoked");
    Ok(Outcome::Proved)
}

/// Everything an error can show.
fn everything(error: &Error) -> String {
    let mut shown = format!(
        "{error}\n{error:?}\n{error:#?}\n{}\n{}\n",
        error.message(),
        Chain(error)
    );
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = writeln!(shown, "{cause}\n{cause:?}");
        source = cause.source();
    }
    shown
}

fn clean(what: &str, shown: &str) -> Result<(), String> {
    for (name, secret) in [("credential", SENTINEL_KEY), ("prompt", SENTINEL_PROMPT)] {
        ensure!(
            !shown.contains(secret),
            "{what} shows the {name}; scrub what the vendor says before it becomes a message:\n{shown}"
        );
    }
    Ok(())
}
