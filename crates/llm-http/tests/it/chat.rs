//! A chat call in a format of these tests' own. What it does for every format alike; what the
//! formats do is told by their own crates.

mod format;

use bytes::Bytes;
use format::Texts;
use futures_core::Stream;
use llm_core::price::Rates;
use llm_core::stream::collect;
use llm_core::{
    CallContext, Capabilities, Capability, ChatEvent, ChatRequest, ChatResponse, ChatStream, Clock, DriverId,
    Error, ErrorKind, Framing, Grammar, ModelId, Phase, Price, ResolvedModel, Result, Warning, async_trait,
};
use llm_http::{Body, ChatCall, EncodedChat, HttpRequest, HttpResponse, Limits, Transport, VendorApi};
use serde_json::json;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};

/// Gives one answer, in pieces, and keeps what was asked.
#[derive(Debug)]
struct Scripted {
    media_type: &'static str,
    pieces: Vec<Result<&'static str, ()>>,
    asked: Mutex<Vec<HttpRequest>>,
}

#[async_trait]
impl Transport for Scripted {
    async fn send(&self, _: &CallContext, request: HttpRequest) -> Result<HttpResponse> {
        self.asked.lock().unwrap().push(request);
        let mut headers = http::HeaderMap::new();
        if !self.media_type.is_empty() {
            headers.insert("content-type", self.media_type.parse().unwrap());
        }
        let pieces = self.pieces.clone().into_iter();
        Ok(HttpResponse::new(200, headers, Body::new(Pieces(pieces))))
    }
}

struct Pieces(std::vec::IntoIter<Result<&'static str, ()>>);

impl Stream for Pieces {
    type Item = Result<Bytes>;
    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.next().map(|piece| match piece {
            Ok(text) => Ok(Bytes::from_static(text.as_bytes())),
            Err(()) => Err(Error::new(ErrorKind::Connection, "broke").with_phase(Phase::Sent)),
        }))
    }
}

#[derive(Debug)]
struct FixedClock;

impl Clock for FixedClock {
    #[expect(clippy::disallowed_methods, reason = "only a point to count from")]
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
    }
}

/// A call of a model, and what it is answered with.
struct Case {
    transport: Arc<Scripted>,
    model: ResolvedModel,
    framings: &'static [Framing],
    request: ChatRequest,
    price: Option<Option<Price>>,
    keep_raw: bool,
}

const LINES: &[Framing] = &[Framing::Lines];

fn case(media_type: &'static str, pieces: &[Result<&'static str, ()>]) -> Case {
    let mut model = ResolvedModel::unknown(ModelId::new("small").unwrap())
        .with_price(Price::new(Rates::usd(1_000_000_000, 2_000_000_000)));
    model.known = true;
    Case {
        transport: Arc::new(Scripted {
            media_type,
            pieces: pieces.to_vec(),
            asked: Mutex::default(),
        }),
        model,
        framings: LINES,
        request: ChatRequest::user("Tell me of the secret garden"),
        price: None,
        keep_raw: false,
    }
}

impl Case {
    async fn call(&self, stream: bool) -> Result<ChatStream> {
        let api = VendorApi::new(
            DriverId::from_static("acme"),
            "http://host.example",
            self.transport.clone(),
        )?
        .with_limits(Limits::default())
        .with_idempotency_header("x-once")?;
        let cx = CallContext::new(Arc::new(FixedClock))
            .with_idempotency_key("key-1")
            .with_kept_raw(self.keep_raw);
        let call = ChatCall::new(&api, &cx, &self.request, Arc::new(self.model.clone()));
        let encode = |model: &ResolvedModel, stream: bool| {
            let text = self.request.messages[0].text();
            let body =
                json!({ "model": model.id.as_str(), "stream": stream, "messages": [{ "content": text }] });
            let http = api.post_json("/chat", body.to_string())?;
            let mut encoded = EncodedChat::new(http, Texts(self.framings))
                .with_warnings(vec![Warning::option("seed", "not sent")]);
            encoded.price = self.price.clone().map(|price| price.map(Box::new));
            Ok(encoded)
        };
        if stream {
            call.stream(encode).await
        } else {
            call.plain(encode).await.map(llm_core::stream::replay)
        }
    }

    async fn events(&self) -> (Vec<ChatEvent>, Option<Error>) {
        let mut stream = match self.call(true).await {
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
        (events, None)
    }

    async fn response(&self, stream: bool) -> Result<ChatResponse> {
        collect(self.call(stream).await?).await
    }

    fn asked(&self) -> Vec<HttpRequest> {
        self.transport.asked.lock().unwrap().clone()
    }
}

const STREAM: [Result<&str, ()>; 3] = [
    Ok("{\"text\":\"Sev\"}\n{\"te"),
    Ok("xt\":\"en.\"}\n"),
    Ok("{\"end\":\"stop\"}\n"),
];
const WHOLE: [Result<&str, ()>; 2] = [Ok("{\"text\":"), Ok("\"Seven.\"}")];
const ARRAY: [Result<&str, ()>; 3] = [
    Ok("[{\"text\":\"Sev\"}\n,"),
    Ok("{\"text\":\"en.\"}\n"),
    Ok(",{\"end\":\"stop\"}]"),
];

#[tokio::test]
async fn what_the_vendor_really_said_is_kept_where_it_is_asked_for() {
    for (media_type, pieces) in [
        ("application/x-ndjson", &STREAM[..]),
        ("application/json", &WHOLE),
    ] {
        let mut case = case(media_type, pieces);
        assert_eq!(case.response(false).await.unwrap().raw, None);
        assert_eq!(case.response(true).await.unwrap().raw, None);
        case.keep_raw = true;
        let said: String = pieces.iter().map(|piece| piece.unwrap()).collect();
        for stream in [false, true] {
            let response = case.response(stream).await.unwrap();
            assert_eq!(response.text(), "Seven.", "beside what was read from it");
            assert_eq!(
                response.raw.as_deref(),
                Some(said.as_bytes()),
                "{media_type}, stream: {stream}"
            );
        }
        let (events, error) = case.events().await;
        assert!(error.is_none() && events.iter().any(|event| matches!(event, ChatEvent::Raw(_))));
    }
}

#[tokio::test]
async fn every_form_of_an_answer_is_read_whichever_way_it_was_asked_for() {
    let arrays: &[Framing] = &[Framing::Lines, Framing::Array];
    for (media_type, pieces) in [
        ("application/x-ndjson", &STREAM[..]),
        ("application/json", &STREAM),
        ("", &STREAM),
        ("application/json", &WHOLE),
        ("text/plain", &WHOLE),
        ("application/json; charset=utf-8", &ARRAY),
        ("", &ARRAY),
    ] {
        let mut case = case(media_type, pieces);
        case.framings = arrays;
        for stream in [true, false] {
            let response = case.response(stream).await;
            let response = response.unwrap_or_else(|error| panic!("{media_type} {pieces:?}: {error:?}"));
            assert_eq!(response.text(), "Seven.", "{media_type} {pieces:?}");
            // 1000 × 1 + 100 × 2 dollars for a million.
            assert_eq!(response.usage.cost.unwrap().pico_usd, 1_200_000_000);
            assert_eq!(response.warnings, [Warning::option("seed", "not sent")]);
            assert_eq!(response.meta.driver, Some(DriverId::from_static("acme")));
        }
    }
}

#[tokio::test]
async fn the_form_is_asked_for_and_the_key_of_the_call_is_sent() {
    let case = case("application/x-ndjson", &STREAM);
    case.response(true).await.unwrap();
    case.response(false).await.unwrap();
    let asked = case.asked();
    let accepted: Vec<_> = asked.iter().map(|request| &request.headers["accept"]).collect();
    assert_eq!(accepted, ["application/x-ndjson", "application/json"]);
    assert!(asked.iter().all(|request| request.headers["x-once"] == "key-1"));
}

#[tokio::test]
async fn warnings_come_right_after_the_start() {
    let mut case = case("application/x-ndjson", &STREAM);
    case.model.deprecated_on = Some("2026-01-01".to_owned());
    let (events, error) = case.events().await;
    assert!(error.is_none());
    assert!(matches!(events[0], ChatEvent::Start(_)), "{events:?}");
    assert_eq!(events[1], ChatEvent::Warning(Warning::option("seed", "not sent")));
    let ChatEvent::Warning(ended) = &events[2] else {
        panic!("{events:?}")
    };
    assert!(ended.message.contains("2026-01-01"), "{ended:?}");
}

#[tokio::test]
async fn what_the_model_cannot_do_is_refused_before_anything_is_sent() {
    let mut case = case("application/x-ndjson", &STREAM);
    case.model.capabilities = Capabilities::unknown().with(Capability::Streaming, false);
    let error = case.response(true).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.phase()),
        (ErrorKind::Unsupported, Phase::NotSent)
    );
    assert!(error.message().contains("streaming"), "{error}");
    assert_eq!(error.vendor().driver, Some(DriverId::from_static("acme")));
    assert_eq!(error.vendor().model, Some(ModelId::new("small").unwrap()));
    assert!(case.asked().is_empty());
    assert!(case.response(false).await.is_ok());
}

#[tokio::test]
async fn a_connection_that_breaks_costs_a_complete_answer_a_warning_and_another_its_end() {
    let complete = case(
        "",
        &[STREAM[0], STREAM[1], Ok("{\"end\":\"stop\"}"), Ok("\n"), Err(())],
    );
    assert!(
        complete.response(true).await.is_ok(),
        "after the end mark nothing matters"
    );

    let mut complete = case(
        "",
        &[Ok(" "), ARRAY[0], ARRAY[1], Ok(",{\"end\":\"stop\"}\n"), Err(())],
    );
    complete.framings = &[Framing::Array];
    let response = complete.response(true).await.unwrap();
    assert_eq!(response.text(), "Seven.");
    assert!(
        response.warnings[1].message.contains("broke after"),
        "{:?}",
        response.warnings
    );

    let (events, error) = case("", &[STREAM[0], STREAM[1], Err(())]).events().await;
    let error = error.unwrap();
    assert_eq!(
        (error.kind(), error.phase()),
        (ErrorKind::Interrupted, Phase::Streaming)
    );
    assert_eq!(error.vendor().model, Some(ModelId::new("small").unwrap()));
    let end = ChatEvent::BlockEnd {
        index: 0,
        complete: false,
    };
    assert_eq!(events.last(), Some(&end));

    let (_, error) = case("", &[STREAM[0], STREAM[1]]).events().await;
    assert_eq!(error.unwrap().kind(), ErrorKind::Interrupted);
}

#[tokio::test]
async fn an_error_shows_nothing_that_the_caller_wrote() {
    let quoting = "{\"text\":\"a\"}\nTell me of the secret garden\n";
    for stream in [true, false] {
        for media_type in ["application/x-ndjson", "application/json"] {
            let error = case(media_type, &[Ok(quoting)])
                .response(stream)
                .await
                .unwrap_err();
            assert_eq!(error.message(), "cannot parse '[content]'", "{media_type}");
            assert_eq!(error.vendor().status, Some(200));
        }
    }
}

#[tokio::test]
async fn a_price_of_its_own_goes_before_the_models() {
    let mut case = case("application/x-ndjson", &STREAM);
    case.price = Some(Some(Price::new(Rates::usd(0, 1_000_000_000))));
    let cost = case.response(true).await.unwrap().usage.cost.unwrap();
    assert_eq!(cost.pico_usd, 100_000_000);
    case.price = Some(None);
    assert_eq!(case.response(true).await.unwrap().usage.cost, None);
    // Another class of service has another price, which nobody knows.
    case.price = None;
    case.request.service_tier = Some("flex".to_owned());
    assert_eq!(case.response(false).await.unwrap().usage.cost, None);
}
