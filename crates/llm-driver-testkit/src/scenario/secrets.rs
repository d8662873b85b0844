//! Secrets: neither the credential nor the prompt shows in any error, even where the vendor repeats it.

use super::{Finding, Outcome, ensure};
use crate::answer::Answer;
use crate::fixture::Fixture;
use crate::harness::Endpoint;
use crate::log_capture::Captured;
use crate::mutate::{Mutation, frames_or_whole, mutations};
use crate::options::samples;
use crate::subject::{Bench, SCRIPTED_URL, SENTINEL_KEY, SENTINEL_PROMPT, Subject, in_time, read};
use llm_core::chat::RequestOption;
use llm_core::codec::percent_encode;
use llm_core::{Chain, ChatRequest, Error, Secret};
use std::error::Error as _;
use std::fmt::Write as _;
use std::time::Duration;

/// How long a provoked failure may take, on paused time.
const DEADLINE: Duration = Duration::from_secs(30);

/// How much of the prompt shows nowhere.
const PART: usize = 8;

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
    answers.extend([
        stream.clone().end_after(half),
        stream.clone().reset_after(half),
        stream.stall_after(half),
        Answer::silent(),
    ]);
    provoke(subject, &bench, &answers).await
}

/// A vendor that repeats the credential and the prompt in its answer, in every shape of an error body.
pub(crate) async fn echoed_by_vendor(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    let mut answers = Vec::new();
    for body in echoes(&echo()) {
        answers.extend([400, 401, 429, 500].map(|status| Answer::json(status, body.clone())));
        answers.push(Answer::json(200, body.clone()));
        answers.push(Answer::sse(format!("event: error\ndata: {body}\n\n")));
    }
    let page = format!(
        "<html><head><title>{0}</title></head><body><p>{0}</p></body></html>",
        echo()
    );
    answers.extend([403, 413, 502, 503].map(|status| Answer::html(status, page.clone())));
    // Cut in the middle, and larger than anybody reads.
    let cut = format!("{{\"error\":{{\"message\":\"{}", echo());
    answers.extend([200, 400, 500].map(|status| Answer::json(status, cut.clone())));
    let long = format!("{{\"error\":{{\"message\":\"{}\"}}}}", echo().repeat(20_000));
    answers.extend([200, 400, 500].map(|status| Answer::json(status, long.clone())));
    answers.extend([401, 429, 500].map(|status| {
        Answer::json(status, "{}").with_headers(
            ["x-request-id", "request-id", "retry-after", "content-type"].map(|name| (name, echo())),
        )
    }));
    for part in parts() {
        for body in echoes(&part) {
            answers.push(Answer::json(400, body.clone()));
            answers.push(Answer::sse(format!("event: error\ndata: {body}\n\n")));
        }
    }
    for fixture in subject.fixtures()? {
        answers.extend(echoing(&fixture));
    }
    provoke(subject, &bench, &answers).await
}

/// The vendor's own errors, with each of their texts in turn, and then all, saying what was asked.
fn echoing(fixture: &Fixture) -> Vec<Answer> {
    if fixture.expect.error.is_none() {
        return Vec::new();
    }
    let mut answers = Vec::new();
    for body in [&fixture.response, &fixture.stream].into_iter().flatten() {
        for frame in frames_or_whole(&body.bytes) {
            let mut all = frame.value.clone();
            let text = |mutation: &Mutation| mutation.replaces_text_by(&echo(), &frame.value);
            for mutation in mutations(&frame.value).iter().filter_map(text) {
                let bytes = frame.replaced(&body.bytes, &mutation.apply(&frame.value));
                answers.push(fixture.answer_with(body, bytes));
                all = mutation.apply(&all);
            }
            answers.push(fixture.answer_with(body, frame.replaced(&body.bytes, &all)));
        }
    }
    answers
}

/// Requests that are refused or warned of: what is said about them says nothing of what stands in them.
pub(crate) async fn in_refusals(subject: &Subject) -> Finding {
    let log = Captured::begin();
    let answer = subject.answer_of(&subject.fixture("text")?)?;
    let mut refused = 0;
    for model in subject.models()? {
        let bench = subject.bench()?;
        for option in RequestOption::ALL {
            for sample in samples(*option, &bench.driver.info().vendor, &model) {
                let request = with_sentinels(&sample.with)?;
                match bench.chat(&request, answer.clone()).await? {
                    Ok(response) => {
                        let shown = format!("{:?}", response.warnings);
                        clean(&format!("a warning of {option}"), &shown)?;
                    }
                    Err(error) => {
                        refused += 1;
                        clean(&format!("the error of {option}"), &everything(&error))?;
                    }
                }
            }
        }
    }
    clean("the log", &log.text())?;
    if refused == 0 {
        return Ok(Outcome::Skipped("the driver refuses no option".to_owned()));
    }
    Ok(Outcome::Proved)
}

/// The same request, with the prompt wherever a caller says something.
fn with_sentinels(request: &ChatRequest) -> Result<ChatRequest, String> {
    let mut text = serde_json::to_string(request).map_err(|error| error.to_string())?;
    for said in [
        "Say hello.",
        "Look.",
        "And now?",
        "Hello.",
        "KIT-TEXT",
        "KIT-THOUGHT",
        "KIT-REFUSAL",
        "kit result",
    ] {
        text = text.replace(said, SENTINEL_PROMPT);
    }
    serde_json::from_str(&text).map_err(|error| error.to_string())
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
    for address in [
        format!("http://user:{SENTINEL_KEY}@127.0.0.1:9"),
        format!("http://127.0.0.1:9/?key={SENTINEL_KEY}"),
        format!("no address {SENTINEL_KEY}"),
    ] {
        bad_address(subject, &address).await?;
    }
    Ok(Outcome::Proved)
}

/// A credential in the address shows neither when the driver is built, nor in what it says of itself, nor when a
/// call fails.
async fn bad_address(subject: &Subject, address: &str) -> Result<(), String> {
    let bench = subject.bench()?;
    let endpoint = Endpoint::new(address, Secret::new(SENTINEL_KEY.to_owned()));
    let driver = match subject
        .harness
        .build(&endpoint.with_transport(bench.transport.clone()))
    {
        Ok(driver) => driver,
        Err(error) => return clean("the error of a bad address", &everything(&error)),
    };
    clean("the driver's Debug", &format!("{driver:?} {:?}", driver.info()))?;
    bench.transport.set_answers([Answer::refused()]);
    let outcome = driver
        .chat(&crate::TestClock::context(), &subject.request()?)
        .await;
    match outcome {
        Ok(_) => Ok(()),
        Err(error) => clean("the error of a bad address", &everything(&error)),
    }
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

/// What a vendor may say that does not repeat the prompt as it is: cut, in another case, or encoded.
fn parts() -> Vec<String> {
    let prompt = prompt();
    let half = SENTINEL_PROMPT.len() / 2 + 4;
    let (start, end) = SENTINEL_PROMPT.split_at(half);
    vec![
        format!("Invalid value: \"{start}...\""),
        format!("Invalid value: '{SENTINEL_PROMPT}' at position 3"),
        format!("Invalid value: `Please keep {start}`…"),
        format!("Invalid value: keep {start}…"),
        format!("Invalid value: …{end} to yourself."),
        format!("Invalid value: {}", prompt.to_uppercase()),
        format!("Invalid value: \"{}\"", SENTINEL_PROMPT.to_uppercase()),
        format!("Cannot read {}", percent_encode(&prompt)),
    ]
}

/// The shapes that error bodies have, here and there.
fn echoes(said: &str) -> Vec<String> {
    let text = serde_json::Value::String(said.to_owned());
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
        said.to_owned(),
    ]
}

async fn provoke(subject: &Subject, bench: &Bench, answers: &[Answer]) -> Finding {
    let log = Captured::begin();
    let request = ChatRequest::user(prompt()).with_model(subject.model()?);
    let mut provoked = 0;
    for answer in answers {
        // With a deadline: some answers never come.
        let cx = || crate::TestClock::context().with_timeout(DEADLINE);
        bench.transport.set_answers([answer.clone()]);
        let plain = in_time(bench.driver.chat(&cx(), &request)).await?.err();
        bench.transport.set_answers([answer.clone()]);
        let stream = in_time(read(&*bench.driver, &cx(), &request))
            .await??
            .outcome
            .err();
        for error in [plain, stream].into_iter().flatten() {
            let what = format!("the error after {:?} ({})", answer.head, error.kind());
            clean(&what, &everything(&error))?;
            provoked += 1;
        }
    }
    ensure!(provoked > 0, "no error was provoked");
    clean("the log", &log.text())?;
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
    ensure!(
        !shown.contains(SENTINEL_KEY),
        "{what} shows the credential; scrub what the vendor says before it becomes a message:\n{shown}"
    );
    // a part of the prompt is as bad as all of it, in whatever case
    let lower = shown.to_lowercase();
    let parts = (0..=SENTINEL_PROMPT.len() - PART).map(|at| &SENTINEL_PROMPT[at..at + PART]);
    for part in parts {
        ensure!(
            !lower.contains(part),
            "{what} shows the prompt, or a part of it ({part}); scrub what the vendor says before it becomes a \
             message:\n{shown}"
        );
    }
    Ok(())
}
