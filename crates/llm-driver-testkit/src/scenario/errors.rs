//! Errors: what a status, a broken body or no answer at all becomes, for plain calls and streams alike.

use super::fixtures::prove;
use super::{Finding, Outcome, ensure};
use crate::answer::Answer;
use crate::subject::{Bench, Subject};
use llm_core::{ChatRequest, Error, ErrorKind, Phase, Scope};
use std::time::Duration;

const HTML: &str =
    "<html><head><title>500</title></head><body><h1>Something broke</h1><hr>proxy/1.1</body></html>";

/// What an error must be, whoever the vendor is.
struct Row {
    kind: ErrorKind,
    scope: Scope,
    retryable: bool,
    retry_after: Option<Duration>,
}

fn row(kind: ErrorKind, scope: Scope, retryable: bool) -> Row {
    Row {
        kind,
        scope,
        retryable,
        retry_after: None,
    }
}

/// A status with words that say nothing more.
fn bare(status: u16) -> Answer {
    Answer::status(status)
        .with_header("content-type", "text/plain")
        .with_piece("no")
}

/// 401: the credential is not accepted.
pub(crate) async fn unauthorized_401(subject: &Subject) -> Finding {
    status(
        subject,
        "error_auth",
        bare(401),
        &row(ErrorKind::Auth, Scope::Credential, false),
    )
    .await
}

/// 403: the credential may not do this.
pub(crate) async fn forbidden_403(subject: &Subject) -> Finding {
    status(
        subject,
        "error_permission",
        bare(403),
        &row(ErrorKind::Permission, Scope::Credential, false),
    )
    .await
}

/// 404: the model is not there.
pub(crate) async fn not_found_404(subject: &Subject) -> Finding {
    status(
        subject,
        "error_not_found",
        bare(404),
        &row(ErrorKind::NotFound, Scope::Model, false),
    )
    .await
}

/// 413: the request is too large, for ever.
pub(crate) async fn too_large_413(subject: &Subject) -> Finding {
    status(
        subject,
        "error_too_large",
        bare(413),
        &row(ErrorKind::InvalidRequest, Scope::Request, false),
    )
    .await
}

/// 429: too many requests; the vendor's hint is read.
pub(crate) async fn rate_limit_429(subject: &Subject) -> Finding {
    let expected = Row {
        retry_after: Some(Duration::from_secs(7)),
        ..row(ErrorKind::RateLimit, Scope::Credential, true)
    };
    let answer = bare(429).with_header("retry-after", "7");
    status(subject, "error_rate_limit", answer, &expected).await
}

/// 500 from a proxy, in HTML: its tags are not shown.
pub(crate) async fn html_500(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    for error in both(&bench, &subject.request()?, &Answer::html(500, HTML)).await? {
        check(subject, &error, 500, &row(ErrorKind::Server, Scope::Vendor, true))?;
        ensure!(
            !error.message().contains('<'),
            "the message holds HTML: {}",
            error.message()
        );
    }
    Ok(Outcome::Proved)
}

/// 503: no capacity at the moment.
pub(crate) async fn overloaded_503(subject: &Subject) -> Finding {
    status(
        subject,
        "error_overloaded",
        bare(503),
        &row(ErrorKind::Overloaded, Scope::Model, true),
    )
    .await
}

/// The vendor's own words for an input that is too long.
pub(crate) async fn context_length(subject: &Subject) -> Finding {
    let fixture = subject.fixture("error_context_length")?;
    let expected = fixture.expect.error.as_ref().map(|error| error.kind);
    ensure!(
        expected == Some(ErrorKind::ContextLength),
        "error_context_length/expect.json: error.kind must be context_length"
    );
    prove(subject, &subject.bench()?, &fixture).await?;
    Ok(Outcome::Proved)
}

/// 200 with a body that cannot be understood.
pub(crate) async fn garbage_body(subject: &Subject) -> Finding {
    for body in ["lorem ipsum", "{\"half\":", "{}", "\u{0}\u{1}"] {
        not_understood(subject, &Answer::json(200, body), body).await?;
    }
    not_understood(subject, &Answer::html(200, HTML), "a page of HTML").await
}

/// 200 with nothing.
pub(crate) async fn empty_body(subject: &Subject) -> Finding {
    let empty = Answer::status(200).with_header("content-type", "application/json");
    not_understood(subject, &empty, "an empty body").await
}

/// Nobody listens: nothing was sent.
pub(crate) async fn no_connection(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    for answer in [Answer::refused(), Answer::connect_timeout()] {
        for error in both(&bench, &subject.request()?, &answer).await? {
            ensure!(
                (error.kind(), error.phase()) == (ErrorKind::Connection, Phase::NotSent),
                "{error} with phase {:?}; expected connection, NotSent",
                error.phase()
            );
            check_driver(subject, &error)?;
        }
    }
    for error in both(&bench, &subject.request()?, &Answer::closed()).await? {
        ensure!(
            error.kind() == ErrorKind::Connection && error.phase() == Phase::Sent,
            "closed without an answer: {error} with phase {:?}; expected connection, Sent",
            error.phase()
        );
    }
    Ok(Outcome::Proved)
}

/// A plain answer that breaks off is never taken for whole.
pub(crate) async fn cut_body(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    let fixture = subject.fixture("text")?;
    let (request, answer) = (subject.request_of(&fixture)?, subject.answer_of(&fixture)?);
    let body = answer.body_bytes();
    let whole = String::from_utf8_lossy(&body).trim_end().len();
    for at in super::stream::cut_points(whole) {
        for broken in [
            answer.clone().end_after(at),
            answer.clone().cut_after(at),
            answer.clone().reset_after(at),
        ] {
            match bench.chat(&request, broken).await? {
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::Interrupted | ErrorKind::Connection | ErrorKind::Protocol
                    ) && error.phase() == Phase::Sent => {}
                Err(error) => {
                    return Err(format!(
                        "cut after {at} bytes: {error} with phase {:?}; expected interrupted, connection or \
                         protocol, Sent",
                        error.phase()
                    ));
                }
                Ok(_) => {
                    return Err(format!(
                        "cut after {at} of {} bytes, the answer is taken for whole",
                        body.len()
                    ));
                }
            }
        }
    }
    Ok(Outcome::Proved)
}

/// A bare status, and the vendor's own words for it where the fixture is there.
async fn status(subject: &Subject, fixture: &str, answer: Answer, expected: &Row) -> Finding {
    let bench = subject.bench()?;
    let crate::answer::Head::Status(status) = answer.head else {
        return Err("not a status".to_owned());
    };
    for error in both(&bench, &subject.request()?, &answer).await? {
        check(subject, &error, status, expected)?;
    }
    if subject.harness.fixtures().join(fixture).is_dir() {
        prove(subject, &bench, &subject.fixture(fixture)?).await?;
    }
    Ok(Outcome::Proved)
}

async fn not_understood(subject: &Subject, answer: &Answer, what: &str) -> Finding {
    let bench = subject.bench()?;
    let [plain, stream] = both(&bench, &subject.request()?, answer).await?;
    ensure!(
        plain.kind() == ErrorKind::Protocol,
        "{what} as a plain answer: {plain}; expected protocol"
    );
    ensure!(
        matches!(stream.kind(), ErrorKind::Protocol | ErrorKind::Interrupted),
        "{what} as a stream: {stream}; expected protocol or interrupted"
    );
    for error in [plain, stream] {
        ensure!(
            error.phase() == Phase::Sent,
            "the phase of {error} is {:?}; expected Sent",
            error.phase()
        );
        check_driver(subject, &error)?;
    }
    Ok(Outcome::Proved)
}

/// The error of a plain call and the one of a stream.
async fn both(bench: &Bench, request: &ChatRequest, answer: &Answer) -> Result<[Error; 2], String> {
    let plain = bench
        .chat(request, answer.clone())
        .await?
        .err()
        .ok_or("the plain call succeeds")?;
    let stream = bench
        .stream(request, answer.clone())
        .await?
        .outcome
        .err()
        .ok_or("the stream succeeds")?;
    Ok([plain, stream])
}

fn check(subject: &Subject, error: &Error, status: u16, expected: &Row) -> Result<(), String> {
    ensure!(
        error.kind() == expected.kind,
        "{status}: {error}; expected {}",
        expected.kind
    );
    ensure!(
        error.scope() == expected.scope,
        "{status}: the scope is {:?}; expected {:?}",
        error.scope(),
        expected.scope
    );
    ensure!(
        error.phase() == Phase::Sent,
        "{status}: the phase is {:?}; expected Sent",
        error.phase()
    );
    ensure!(
        error.retryable() == expected.retryable,
        "{status}: retryable is {}",
        error.retryable()
    );
    ensure!(
        error.retry_after() == expected.retry_after,
        "{status}: retry_after is {:?}; expected {:?}",
        error.retry_after(),
        expected.retry_after
    );
    ensure!(
        error.vendor().status == Some(status),
        "vendor().status is {:?}; expected {status}",
        error.vendor().status
    );
    check_driver(subject, error)
}

fn check_driver(subject: &Subject, error: &Error) -> Result<(), String> {
    let driver = error.vendor().driver.as_ref().map(|driver| driver.as_str());
    ensure!(
        driver == Some(subject.harness.driver()),
        "vendor().driver of {error} is {driver:?}; expected {:?}",
        subject.harness.driver()
    );
    ensure!(
        error.vendor().model.is_some(),
        "vendor().model of {error} is absent; say which model was asked"
    );
    Ok(())
}
