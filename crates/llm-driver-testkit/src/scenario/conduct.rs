//! Conduct: one call is one request, a probe costs no tokens, and facts need no network.

use super::{Finding, Outcome, ensure};
use crate::answer::Answer;
use crate::clock::TestClock;
use crate::server::FakeServer;
use crate::subject::{Subject, in_time};
use http::Method;
use llm_core::{ErrorKind, HealthState, ModelId};
use std::time::Duration;

/// Whatever goes wrong, a driver asks once: retrying is a layer's business.
pub(crate) async fn no_retry(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    let fixture = subject.fixture("text")?;
    let request = subject.request_of(&fixture)?;
    let mut failures = [408, 409, 425, 429, 500, 502, 503, 504, 529]
        .map(|status| Answer::json(status, "{}").with_header("retry-after", "0"))
        .to_vec();
    failures.extend([Answer::refused(), Answer::closed(), Answer::json(200, "garbage")]);
    failures.push(subject.answer_of(&fixture)?.cut_after(5));
    for failure in failures {
        for stream in [false, true] {
            let what = format!(
                "{:?}, {}",
                failure.head,
                if stream { "chat_stream" } else { "chat" }
            );
            let before = bench.transport.request_count();
            let failed = if stream {
                bench.stream(&request, failure.clone()).await?.outcome.is_err()
            } else {
                bench.chat(&request, failure.clone()).await?.is_err()
            };
            ensure!(failed, "{what}: the call succeeds");
            let sent = bench.transport.request_count() - before;
            ensure!(
                sent == 1,
                "{what}: {sent} requests were sent; a driver sends one and never retries"
            );
        }
    }
    Ok(Outcome::Proved)
}

/// The same with the transport that the driver uses by itself, on real sockets.
pub(crate) async fn no_retry_on_sockets(subject: &Subject) -> Finding {
    let request = subject.request()?;
    for failure in [
        Answer::json(503, "{}").with_header("retry-after", "0"),
        Answer::closed(),
    ] {
        let server = FakeServer::always(failure)
            .await
            .map_err(|error| format!("no loopback port: {error}"))?;
        let driver = subject.on_sockets(&server)?;
        let error = driver
            .chat(&TestClock::context(), &request)
            .await
            .err()
            .ok_or("the call succeeds")?;
        tokio::time::sleep(Duration::from_millis(50)).await;
        let sent = server.request_count();
        ensure!(
            sent == 1,
            "{sent} requests reached the server ({error}); a driver sends one and never retries"
        );
    }
    Ok(Outcome::Proved)
}

/// A probe asks no model anything, says what it found, and is as patient as the call's deadline.
pub(crate) async fn health_costs_no_tokens(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    let model = subject.model()?;
    let chat_paths: Vec<_> = [false, true]
        .into_iter()
        .filter_map(|stream| subject.harness.path(stream))
        .map(|path| path.replace("{model}", model.as_str()))
        .collect();
    for (answer, well) in [
        (Answer::json(200, "{\"object\":\"list\",\"data\":[]}"), true),
        (Answer::json(500, "{}"), false),
        (Answer::json(401, "{}"), false),
        (Answer::refused(), false),
        (Answer::silent(), false),
    ] {
        let what = format!("{:?}", answer.head);
        bench.transport.set_answers([answer.clone(), answer]);
        let cx = TestClock::context().with_timeout(Duration::from_secs(5));
        let start = cx.clock().now();
        let status = in_time(bench.driver.health(&cx)).await?;
        let took = cx.clock().now() - start;
        ensure!(
            took <= Duration::from_secs(6),
            "{what}: the probe took {took:?}, longer than its deadline"
        );
        if !well {
            ensure!(
                status.state != HealthState::Healthy,
                "{what}: the probe says healthy"
            );
        }
    }
    for sent in bench.transport.requests() {
        let chat = chat_paths.iter().any(|path| sent.path() == path);
        let asks = sent.method == Method::POST && !sent.body.is_empty();
        ensure!(
            !chat && !asks,
            "the probe sends {} {} and may cost tokens",
            sent.method,
            sent.path()
        );
    }
    Ok(Outcome::Proved)
}

/// Who it is, what a model can do, and whether it may be called: all from memory, and a named model is used or
/// refused, never another.
pub(crate) async fn facts_need_no_network(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    let driver = &bench.driver;
    bench.transport.set_answers([]);
    let id = driver.info().id.as_str();
    ensure!(
        id == subject.harness.driver(),
        "info().id is {id:?}; expected {:?}",
        subject.harness.driver()
    );
    ensure!(
        driver.info().layers.is_empty(),
        "a driver has no layers around it: {}",
        driver.info()
    );
    for model in subject.models()? {
        let resolved = driver
            .resolve(Some(&model))
            .map_err(|error| format!("resolve({model}): {error}"))?;
        ensure!(resolved.id == model, "resolve({model}) answers {}", resolved.id);
        ensure!(
            resolved.requested.as_ref() == Some(&model),
            "resolve({model}) says that {:?} was requested",
            resolved.requested
        );
        ensure!(
            driver.availability(&model).is_available(),
            "{model} is not available, but nothing happened"
        );
    }
    let unheard_of = ModelId::new("kit-model-that-nobody-has").map_err(|error| error.to_string())?;
    for asked in [None, Some(&unheard_of)] {
        match driver.resolve(asked) {
            Ok(resolved) => ensure!(
                asked.is_none_or(|asked| resolved.id == *asked),
                "resolve answers {} for another name",
                resolved.id
            ),
            Err(error) => ensure!(
                matches!(error.kind(), ErrorKind::UnknownModel | ErrorKind::Config),
                "resolve({asked:?}): {error}; expected unknown_model or config"
            ),
        }
    }
    ensure!(
        bench.transport.request_count() == 0,
        "asking for facts sent something"
    );
    Ok(Outcome::Proved)
}
