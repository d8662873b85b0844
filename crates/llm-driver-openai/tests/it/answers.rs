//! What is made of an answer beyond the wire format: cost, warnings, answers in another form than asked for, and
//! what happens around the end of a stream.

use crate::setup::{answer, question, scripted};
use llm_core::chat::AudioPart;
use llm_core::stream::collect;
use llm_core::{
    CallContext, ChatDriver, ChatEvent, ChatRequest, ChatResponse, ContentPart, CostSource, Error, ErrorKind,
    Grammar, MediaSource, Message, ModelId, Phase, Role, Usage, WarningKind,
};
use llm_driver_openai::{Limits, ModelEntry, OpenAiConfig, OpenAiDriver};
use llm_driver_testkit::{Answer, End, FakeServer, Piece, TestClock};
use serde_json::{Value, json};
use std::time::Duration;

const CHUNK: &str = r#"data: {"id":"c1","model":"gpt-6-luna","choices":[{"index":0,"delta":{"content":"Seven."}}]}

"#;
const FINISH: &str = r#"data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

"#;
const USAGE: &str = r#"data: {"id":"c1","choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100}}

"#;
const DONE: &str = "data: [DONE]\n\n";

/// What a million tokens in and out cost: 0.10 and 0.50 dollars (gpt-6-luna in the shipped catalogue).
const COST: u64 = 1_000 * 100_000 + 100 * 500_000;

fn openai() -> OpenAiConfig {
    OpenAiConfig::new("an invented key")
}

async fn chat(config: OpenAiConfig, request: &ChatRequest, answer: Answer) -> Result<ChatResponse, Error> {
    let (driver, _) = scripted(config, [answer]);
    driver.chat(&TestClock::context(), request).await
}

/// Every event of a stream, and the error that ended it.
async fn events(
    config: OpenAiConfig,
    request: &ChatRequest,
    answer: Answer,
) -> (Vec<ChatEvent>, Option<Error>) {
    let (driver, _) = scripted(config, [answer]);
    let mut stream = match driver.chat_stream(&TestClock::context(), request).await {
        Ok(stream) => stream,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let (mut events, mut grammar) = (Vec::new(), Grammar::default());
    while let Some(event) = stream.next_event().await {
        match event {
            Ok(event) => {
                grammar.check(&event).unwrap();
                events.push(event);
            }
            Err(error) => return (events, Some(error)),
        }
    }
    grammar.end().unwrap();
    (events, None)
}

fn usage_of(events: &[ChatEvent]) -> Vec<Usage> {
    let usages = events.iter().filter_map(|event| match event {
        ChatEvent::Usage(usage) | ChatEvent::Finish { usage, .. } => Some(*usage),
        _ => None,
    });
    usages.collect()
}

fn sse(pieces: &[&str]) -> Answer {
    Answer::sse(pieces.concat())
}

#[tokio::test(start_paused = true)]
async fn the_cost_is_computed_from_the_catalogue() {
    let request = question("gpt-6-luna");
    let plain = chat(openai(), &request, Answer::json(200, answer(json!({}))))
        .await
        .unwrap();
    let cost = plain.usage.cost.unwrap();
    assert_eq!((cost.pico_usd, cost.source), (COST, CostSource::Computed));
    let (events, _) = events(openai(), &request, sse(&[CHUNK, FINISH, USAGE, DONE])).await;
    let usages = usage_of(&events);
    assert_eq!(usages.len(), 2);
    assert!(usages.iter().all(|usage| *usage == plain.usage), "{usages:?}");
}

#[tokio::test(start_paused = true)]
async fn a_cost_that_the_host_states_wins() {
    let usage = json!({ "usage": { "prompt_tokens": 1000, "completion_tokens": 100, "cost": 0.25 } });
    let plain = chat(
        openai(),
        &question("gpt-6-luna"),
        Answer::json(200, answer(usage)),
    )
    .await
    .unwrap();
    let cost = plain.usage.cost.unwrap();
    assert_eq!(
        (cost.pico_usd, cost.source),
        (250_000_000_000, CostSource::Reported)
    );
}

#[tokio::test(start_paused = true)]
async fn an_unknown_price_is_no_cost() {
    let cost = async |config, request: &ChatRequest, changes: Value| {
        let answered = Answer::json(200, answer(changes));
        chat(config, request, answered)
            .await
            .unwrap()
            .usage
            .cost
            .map(|cost| cost.pico_usd)
    };
    let luna = question("gpt-6-luna");
    let elsewhere = OpenAiConfig::compatible("http://127.0.0.1:8080/v1");
    assert_eq!(cost(elsewhere.clone(), &luna, json!({})).await, None);
    assert_eq!(
        cost(openai(), &question("gpt-5-chat-latest"), json!({})).await,
        None
    );
    assert_eq!(cost(openai(), &luna, json!({ "usage": null })).await, None);
    // Other classes of service have other prices.
    assert_eq!(
        cost(openai(), &luna, json!({ "service_tier": "flex" })).await,
        None
    );
    let fast = luna.clone().with_service_tier("priority");
    assert_eq!(cost(openai(), &fast, json!({})).await, None);
    assert_eq!(
        cost(openai(), &fast, json!({ "service_tier": "default" })).await,
        Some(COST)
    );
    // So has sound.
    let sound = ContentPart::Audio(AudioPart::new(MediaSource::bytes("audio/wav", b"not heard")));
    let listen = ChatRequest::new([Message::new(Role::User, vec![sound])]);
    let listen = listen.with_model(ModelId::new("gpt-audio-1.5").unwrap());
    assert_eq!(cost(openai(), &listen, json!({})).await, None);
    // A price of the caller's own holds anywhere.
    let entry: ModelEntry =
        serde_json::from_value(json!({ "price": { "input": 1_000, "output": 0 } })).unwrap();
    let priced = elsewhere.with_model(ModelId::new("gpt-6-luna").unwrap(), entry);
    assert_eq!(cost(priced, &luna, json!({})).await, Some(1_000));
}

#[tokio::test(start_paused = true)]
async fn a_model_past_its_end_is_told_of() {
    // The test's calendar says 2026-11-29.
    let warned = async |model: &str| {
        let response = chat(openai(), &question(model), Answer::json(200, answer(json!({}))))
            .await
            .unwrap();
        response
            .warnings
            .iter()
            .any(|warning| warning.field == "model" && warning.kind == WarningKind::Option)
    };
    assert!(warned("gpt-4").await, "its end was 2026-10-23");
    assert!(!warned("gpt-4o").await, "its end is 2027-01-14");
    assert!(!warned("gpt-6-luna").await, "its end is not announced");
}

#[tokio::test(start_paused = true)]
async fn warnings_come_right_after_the_start() {
    let request = question("gpt-6-luna").with_temperature(0.5);
    let (events, _) = events(openai(), &request, sse(&[CHUNK, FINISH, DONE])).await;
    assert!(matches!(&events[0], ChatEvent::Start(_)));
    assert!(matches!(&events[1], ChatEvent::Warning(warning) if warning.field == "sampling.temperature"));
    let plain = chat(openai(), &request, Answer::json(200, answer(json!({}))))
        .await
        .unwrap();
    assert_eq!(plain.warnings.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_plain_call_takes_an_event_stream_too() {
    let whole = [CHUNK, FINISH, USAGE, DONE];
    for answer in [
        sse(&whole),
        Answer::json(200, whole.concat()),
        Answer::status(200).with_piece(whole.concat()),
    ] {
        let request = question("gpt-6-luna").with_temperature(0.5);
        let response = chat(openai(), &request, answer).await.unwrap();
        assert_eq!(response.text(), "Seven.");
        assert_eq!(response.usage.cost.unwrap().pico_usd, COST);
        assert_eq!(response.warnings.len(), 1);
    }
    for cut in [sse(&[CHUNK]), Answer::json(200, CHUNK)] {
        let error = chat(openai(), &question("gpt-6-luna"), cut).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_takes_a_whole_answer_too() {
    let body = answer(json!({}));
    let failed = r#"{"error":{"message":"too many","code":"rate_limit_exceeded"}}"#;
    for label in [
        Some("application/json"),
        Some("application/problem+json"),
        Some("text/plain"),
        None,
    ] {
        let with = |body: &str| {
            let plain = Answer::status(200).with_piece("\n").with_piece(body);
            match label {
                Some(label) => plain.with_header("content-type", label),
                None => plain,
            }
        };
        let request = question("gpt-6-luna").with_temperature(0.5);
        let (got, error) = events(openai(), &request, with(&body)).await;
        assert!(error.is_none(), "{label:?}: {error:?}");
        assert!(matches!(&got[1], ChatEvent::Warning(_)), "{label:?}: {got:?}");
        assert_eq!(usage_of(&got)[0].cost.unwrap().pico_usd, COST, "{label:?}");
        let (_, error) = events(openai(), &request, with(failed)).await;
        assert_eq!(error.unwrap().kind(), ErrorKind::RateLimit, "{label:?}");
        // And an event stream without its label.
        let (got, error) = events(openai(), &request, with(&[CHUNK, FINISH, DONE].concat())).await;
        assert!(
            error.is_none() && matches!(got.last(), Some(ChatEvent::Finish { .. })),
            "{label:?}: {error:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_breaks_after_the_finish_reason_costs_nothing_but_the_rest() {
    let broken = sse(&[CHUNK, FINISH]).with_end(End::Reset);
    let (events, error) = events(openai(), &question("gpt-6-luna"), broken).await;
    assert!(error.is_none(), "{error:?}");
    let warned = events
        .iter()
        .any(|event| matches!(event, ChatEvent::Warning(warning) if warning.field == "stream"));
    assert!(warned, "{events:?}");
    assert!(matches!(events.last(), Some(ChatEvent::Finish { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_breaks_before_is_an_interruption() {
    let broken = sse(&[CHUNK]).with_end(End::Reset);
    let (events, error) = events(openai(), &question("gpt-6-luna"), broken).await;
    let error = error.unwrap();
    assert_eq!(
        (error.kind(), error.phase()),
        (ErrorKind::Interrupted, Phase::Streaming)
    );
    assert!(
        matches!(events.last(), Some(ChatEvent::BlockEnd { complete: false, .. })),
        "{events:?}"
    );
    assert!(std::error::Error::source(&error).is_some());
}

#[tokio::test(start_paused = true)]
async fn an_error_inside_a_stream_carries_the_facts_and_no_content() {
    let said =
        json!({ "error": { "message": "cannot answer 'Why is the sky blue?'", "code": "server_error" } });
    let stream = Answer::sse(format!("{CHUNK}data: {said}\n\n"))
        .with_header("x-request-id", "req-1")
        .with_header("x-ratelimit-remaining-requests", "7");
    let (_, error) = events(openai(), &question("gpt-6-luna"), stream).await;
    let error = error.unwrap();
    assert_eq!(
        (error.kind(), error.phase()),
        (ErrorKind::Server, Phase::Streaming)
    );
    assert_eq!(error.vendor().request_id.as_deref(), Some("req-1"));
    assert_eq!(
        error.vendor().rate_limits.as_ref().unwrap().requests.remaining,
        Some(7)
    );
    assert_eq!(error.vendor().model.as_ref().unwrap().as_str(), "gpt-6-luna");
    assert!(
        error.message().contains("cannot answer") && !error.message().contains("sky"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_at_its_end_mark_even_if_the_connection_does_not() {
    for end in [End::Hang, End::Reset] {
        let (driver, _) = scripted(openai(), [sse(&[CHUNK, FINISH, USAGE, DONE]).with_end(end)]);
        let cx = TestClock::context();
        let began = cx.clock().now();
        let mut stream = driver.chat_stream(&cx, &question("gpt-6-luna")).await.unwrap();
        loop {
            match stream.next_event().await.unwrap().unwrap() {
                ChatEvent::Finish { .. } => break,
                ChatEvent::Warning(warning) => panic!("{warning:?}"),
                _ => {}
            }
        }
        assert_eq!(cx.clock().now(), began, "the finish waits for nothing");
        assert!(stream.next_event().await.is_none());
        assert!(cx.clock().now() - began <= Duration::from_millis(50));
    }
}

#[tokio::test(start_paused = true)]
async fn what_follows_the_end_mark_is_read_for_a_short_while_only() {
    let endless = sse(&[CHUNK, FINISH, DONE]).with_piece(Piece::Repeat(vec![b':'; 4096].into(), usize::MAX));
    let (driver, transport) = scripted(openai(), [endless]);
    let stream = driver
        .chat_stream(&TestClock::context(), &question("gpt-6-luna"))
        .await
        .unwrap();
    assert_eq!(collect(stream).await.unwrap().text(), "Seven.");
    let taken = transport.requests()[0].bytes_taken;
    assert!(taken < 64 * 1024, "{taken}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_has_a_cap() {
    let config = openai().with_limits(Limits::default().with_max_stream_bytes(300));
    let stream = Answer::sse(CHUNK).with_pieces(vec![CHUNK; 10]);
    let (events, error) = events(config, &question("gpt-6-luna"), stream).await;
    assert!(events.iter().any(ChatEvent::is_content));
    assert_eq!(error.unwrap().kind(), ErrorKind::Protocol);
}

#[tokio::test]
async fn a_stream_that_was_read_to_its_finish_frees_its_connection_for_the_next_call() {
    let answers = [CHUNK, FINISH, USAGE, DONE].map(str::to_owned);
    let stream = || {
        Answer::status(200)
            .with_header("content-type", "text/event-stream")
            .with_pieces(answers.clone())
    };
    let server = FakeServer::always(stream()).await.unwrap();
    let config = OpenAiConfig::compatible(format!("{}/v1", server.base_url()));
    let driver = OpenAiDriver::new(config).unwrap();
    let cx = CallContext::new(TestClock::shared()).with_timeout(Duration::from_secs(20));
    for _ in 0..3 {
        let stream = driver.chat_stream(&cx, &question("m")).await.unwrap();
        assert_eq!(collect(stream).await.unwrap().text(), "Seven.");
    }
    let connections = server.connections();
    assert_eq!((connections.accepted, server.request_count()), (1, 3));
}

#[tokio::test(start_paused = true)]
async fn a_host_that_knows_no_stream_options_and_leaves_its_thoughts_in_is_served() {
    let config: OpenAiConfig = serde_json::from_value(json!({
        "base_url": "http://127.0.0.1:8080/v1",
        "stream_usage": false,
        "extract_think_tags": true,
    }))
    .unwrap();
    let chunk = |text: &str| {
        format!(
            "data: {}\n\n",
            json!({ "choices": [{ "delta": { "content": text } }] })
        )
    };
    let stream = [
        chunk("<thi"),
        chunk("nk>Hm.</think>"),
        chunk("Seven."),
        FINISH.to_owned(),
    ]
    .concat();
    let (driver, transport) = scripted(config, [Answer::sse(stream)]);
    let request = question("m").with_reasoning(llm_core::Reasoning::default().with_include(true));
    let stream = driver.chat_stream(&TestClock::context(), &request).await.unwrap();
    let response = collect(stream).await.unwrap();
    assert_eq!(
        (response.reasoning(), response.text()),
        ("Hm.".to_owned(), "Seven.".to_owned())
    );
    let sent = transport.requests()[0].json().unwrap();
    assert_eq!(
        (&sent["stream"], sent.get("stream_options")),
        (&json!(true), None)
    );
}
