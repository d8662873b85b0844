use super::*;
use llm_core::stream::collect;

fn failure(kind: ErrorKind) -> Result<ChatEvent> {
    Err(Error::new(kind, "scripted").with_phase(Phase::Streaming))
}

#[tokio::test]
async fn a_stream_moves_on_until_its_commit_point() {
    let fleet = Fleet::new(vec![
        driver().fails(ErrorKind::Connection),
        driver().then(Outcome::Stream(vec![
            start(),
            block(),
            failure(ErrorKind::Overloaded),
        ])),
        driver().then(Outcome::Stream(vec![start(), block()])),
        driver().then(Outcome::Stream(vec![
            start(),
            Ok(ChatEvent::KeepAlive),
            block(),
            text("one"),
            Ok(ChatEvent::KeepAlive),
            text("two"),
            Ok(ChatEvent::BlockEnd {
                index: 0,
                complete: true,
            }),
            finish(),
        ])),
    ]);
    let mut stream = fleet.stream(&PlanExecutor::new()).await.unwrap();
    let expected = ["a connection", "b overloaded", "c interrupted", "d served"];
    assert_eq!(log(stream.attempts()), expected);
    let mut events = Vec::new();
    while let Some(event) = stream.next_event().await {
        events.push(event.unwrap());
    }
    // only what proves life to nobody was left out
    let expected = [
        start(),
        block(),
        text("one"),
        Ok(ChatEvent::KeepAlive),
        text("two"),
    ]
    .map(Result::unwrap);
    assert_eq!(events[..5], expected);
    assert_eq!(events.len(), 7);
}

#[tokio::test]
async fn after_the_commit_point_failures_come_in_the_stream() {
    let cut = vec![
        start(),
        block(),
        text("Result: "),
        failure(ErrorKind::Interrupted),
        text("never"),
    ];
    let fleet = Fleet::new(vec![
        driver().fails(ErrorKind::Server),
        driver().then(Outcome::Stream(cut)),
        driver(),
    ]);
    let mut stream = fleet.stream(&PlanExecutor::new()).await.unwrap();
    assert_eq!(stream.next_text().await.unwrap().as_deref(), Some("Result: "));
    let error = stream.next_text().await.unwrap_err();
    assert_eq!(
        (error.kind(), error.phase()),
        (ErrorKind::Interrupted, Phase::Streaming)
    );
    assert_eq!(log(error.attempts()), ["a server", "b interrupted"]);
    assert!(stream.next_event().await.is_none(), "nothing follows an error");
    assert_eq!(fleet.called(), [1, 1, 0]);
}

#[tokio::test]
async fn an_answer_without_content_serves_with_its_finish() {
    let fleet = Fleet::new(vec![
        driver().then(Outcome::Stream(vec![start(), finish()])),
        driver(),
    ]);
    let response = collect(fleet.stream(&PlanExecutor::new()).await.unwrap())
        .await
        .unwrap();
    assert_eq!(log(&response.attempts), ["a served"]);
    assert_eq!(fleet.called(), [1, 0]);
}

#[tokio::test]
async fn what_a_stack_logged_takes_the_place_of_its_attempt() {
    let error = Error::new(ErrorKind::Server, "x");
    let tries = || {
        vec![
            Attempt::failed("test", None, Duration::ZERO, &error).with_wait(Duration::from_millis(5)),
            Attempt::served("test", None, Duration::ZERO),
        ]
    };
    let retried = error.clone().with_attempts(vec![tries()[0].clone(); 2]);
    let fleet = Fleet::new(vec![
        driver().then(Outcome::Fails(retried.clone())),
        driver().a_router().then(Outcome::Fails(retried)),
        driver().then(Outcome::Logged(tries())),
    ]);
    let response = fleet.chat(&PlanExecutor::new()).await.unwrap();
    let expected = [
        "a server",
        "a server",
        "b/test server",
        "b/test server",
        "c server",
        "c served",
    ];
    assert_eq!(log(&response.attempts), expected);
    assert_eq!(response.attempts[0].wait_ms, 5);

    let cut = vec![start(), block(), text("x"), failure(ErrorKind::Interrupted)];
    let fleet = Fleet::new(vec![
        driver().a_router().then(Outcome::Logged(tries())),
        driver().then(Outcome::Stream(cut)),
    ]);
    let stream = fleet.stream(&PlanExecutor::new()).await.unwrap();
    assert_eq!(log(stream.attempts()), ["a/test server", "a/test served"]);
}

#[tokio::test]
async fn a_stream_is_served_at_its_end_and_a_cut_one_never() {
    let cut = vec![start(), block(), text("x"), failure(ErrorKind::Interrupted)];
    let fleet = Fleet::new(vec![
        driver().then(Outcome::Stream(cut)).then(Outcome::Text("hello")),
    ]);
    let told = Arc::new(Told::default());
    let executor = PlanExecutor::new().with_observer(told.clone());
    for expected in [vec!["a interrupted interrupted"], vec!["a served"], vec![]] {
        let stream = fleet.stream(&executor).await.unwrap();
        assert_eq!(std::mem::take(&mut *told.told.lock().unwrap()), ["a asked"]);
        if expected.is_empty() {
            // dropped by the caller: that says nothing about the candidate
            drop(stream);
        } else {
            let _ = collect(stream).await;
        }
        assert_eq!(std::mem::take(&mut *told.told.lock().unwrap()), expected);
    }
}

#[tokio::test]
async fn a_cut_stream_replaces_the_try_that_seemed_to_serve() {
    let broken = Error::new(ErrorKind::Server, "x");
    let tries = vec![
        Attempt::failed("y", None, Duration::ZERO, &broken),
        Attempt::served("z", None, Duration::ZERO),
    ];
    let inner_log = vec![
        tries[0].clone(),
        Attempt::failed("z", None, Duration::ZERO, &broken),
    ];
    let cut = Error::new(ErrorKind::Interrupted, "cut");
    for (error, expected) in [
        (cut.clone(), vec!["a server", "b/y server", "b interrupted"]),
        (
            cut.with_attempts(inner_log),
            vec!["a server", "b/y server", "b/z server"],
        ),
    ] {
        let events = vec![start(), block(), text("x"), Err(error)];
        let inner = driver()
            .a_router()
            .then(Outcome::LoggedStream(tries.clone(), events));
        let fleet = Fleet::new(vec![driver().fails(ErrorKind::Server), inner]);
        let mut stream = fleet.stream(&PlanExecutor::new()).await.unwrap();
        assert_eq!(log(stream.attempts()), ["a server", "b/y server", "b/z served"]);
        stream.next_text().await.unwrap();
        assert_eq!(log(stream.next_text().await.unwrap_err().attempts()), expected);
    }
}

#[tokio::test]
async fn a_stream_that_ends_without_saying_why_was_cut_off() {
    let fleet = Fleet::new(vec![driver().then(Outcome::Stream(vec![
        start(),
        block(),
        text("hal"),
    ]))]);
    let told = Arc::new(Told::default());
    let executor = PlanExecutor::new().with_observer(told.clone());
    let error = collect(fleet.stream(&executor).await.unwrap()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.phase()),
        (ErrorKind::Interrupted, Phase::Streaming)
    );
    assert_eq!(log(error.attempts()), ["a interrupted"]);
    assert_eq!(
        *told.told.lock().unwrap(),
        ["a asked", "a interrupted interrupted"]
    );
}
