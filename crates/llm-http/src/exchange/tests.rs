use super::*;
use crate::transport::Transport;
use crate::{AuthScheme, HttpRequest, VendorApi, shared_clock};
use llm_core::{Scope, Secret, async_trait};
use std::sync::Mutex;
use std::time::SystemTime;

const SENTINEL: &str = "sentinel-7f3a";
const DRIVER: DriverId = DriverId::from_static("mine");

/// Answers every request alike and keeps it.
#[derive(Debug)]
struct Canned {
    status: u16,
    headers: Vec<(&'static str, &'static str)>,
    body: Bytes,
    seen: Mutex<Vec<HttpRequest>>,
}

#[async_trait]
impl Transport for Canned {
    async fn send(&self, _: &CallContext, request: HttpRequest) -> Result<HttpResponse> {
        self.seen.lock().unwrap().push(request);
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            headers.append(*name, value.parse().unwrap());
        }
        Ok(HttpResponse::new(
            self.status,
            headers,
            Body::from(self.body.clone()),
        ))
    }
}

/// Takes longer than anybody waits, as a transport may that knows no deadlines.
#[derive(Debug)]
struct Endless;

#[async_trait]
impl Transport for Endless {
    async fn send(&self, _: &CallContext, _: HttpRequest) -> Result<HttpResponse> {
        std::future::pending().await
    }
}

fn canned(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Arc<Canned> {
    Arc::new(Canned {
        status,
        headers: headers.to_vec(),
        body: body.to_owned().into(),
        seen: Mutex::default(),
    })
}

fn api(transport: Arc<dyn Transport>) -> VendorApi {
    VendorApi::new(DRIVER, "https://vendor.example/v1?key=sentinel-7f3a", transport)
        .and_then(|api| api.with_credential(Credential::bearer(SENTINEL.into())))
        .unwrap()
}

fn cx() -> CallContext {
    CallContext::new(shared_clock())
}

fn model() -> ModelId {
    ModelId::new("small").unwrap()
}

async fn send(transport: Arc<dyn Transport>) -> Result<Exchange> {
    let api = api(transport);
    api.send(&cx(), Some(&model()), api.post_json("/chat", "{}")?)
        .await
}

fn vendor_error(status: u16, body: &[u8]) -> Error {
    Error::new(ErrorKind::of_status(status), String::from_utf8_lossy(body))
}

#[tokio::test]
async fn a_good_answer_gives_its_body_and_facts() {
    let transport = canned(
        200,
        &[
            ("request-id", "req_1"),
            ("x-ratelimit-remaining-requests", "5"),
            ("content-type", "Text/Plain; a=b"),
        ],
        "hello",
    );
    let exchange = send(transport.clone()).await.unwrap();
    assert_eq!((exchange.status(), &*exchange.media_type()), (200, "text/plain"));
    let (facts, body) = exchange
        .success([], vendor_error)
        .await
        .unwrap()
        .read()
        .await
        .unwrap();
    assert_eq!(body, "hello");
    let mut meta = ResponseMeta::default();
    facts.fill(&mut meta);
    assert_eq!(meta.driver, Some(DRIVER));
    assert_eq!(meta.requested_model, Some(model()));
    assert_eq!(meta.request_id.as_deref(), Some("req_1"));
    assert_eq!(meta.rate_limits.unwrap().requests.remaining, Some(5));
    let seen = transport.seen.lock().unwrap();
    assert_eq!(seen[0].url, "https://vendor.example/v1/chat?key=sentinel-7f3a");
    assert_eq!(seen[0].headers["authorization"], "Bearer sentinel-7f3a");
}

#[tokio::test]
async fn a_bad_answer_is_an_error_with_every_fact_and_no_secret() {
    let transport = canned(
        429,
        &[
            ("x-request-id", "req_2"),
            ("retry-after", "7"),
            ("x-ratelimit-remaining-tokens", "0"),
        ],
        "wrong key sentinel-7f3a for 'What I asked in confidence'",
    );
    let exchange = send(transport).await.unwrap();
    let texts = ["What I asked in confidence"];
    let error = exchange.success(texts, vendor_error).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RateLimit);
    assert_eq!(error.phase(), Phase::Sent);
    assert_eq!(error.message(), "wrong key *** for '[content]'");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    let vendor = error.vendor();
    assert_eq!(vendor.driver, Some(DRIVER));
    assert_eq!(vendor.model, Some(model()));
    assert_eq!(vendor.status, Some(429));
    assert_eq!(vendor.request_id.as_deref(), Some("req_2"));
    assert_eq!(vendor.rate_limits.as_ref().unwrap().tokens.remaining, Some(0));
    assert_eq!(
        vendor.body.as_deref(),
        Some(&b"wrong key *** for 'What I asked in confidence'"[..])
    );
}

#[tokio::test]
async fn error_bodies_are_cut_and_good_bodies_are_capped() {
    let transport = canned(500, &[], &"é".repeat(5_000));
    let limits = Limits::default()
        .with_max_error_body_bytes(4_001)
        .with_max_body_bytes(10);
    let api = api(transport).with_limits(limits);
    let exchange = api.send(&cx(), None, api.get("/x").unwrap()).await.unwrap();
    let mut length = 0;
    let decode = |status, body: &[u8]| {
        length = body.len();
        vendor_error(status, body)
    };
    let error = exchange.success([], decode).await.unwrap_err();
    assert_eq!(length, 4_001);
    assert_eq!(error.message().chars().count(), 1_001);
    assert_eq!(error.vendor().body.as_ref().unwrap().len(), 2_048);

    let exchange = api.send(&cx(), None, api.get("/x").unwrap()).await.unwrap();
    let error = exchange.read().await.unwrap_err();
    assert_eq!((error.kind(), error.phase()), (ErrorKind::Protocol, Phase::Sent));
    assert_eq!(error.vendor().status, Some(500));
}

#[tokio::test]
async fn a_redirect_is_told_as_one() {
    let transport = canned(302, &[("location", "https://evil.example")], "<html>moved</html>");
    let exchange = send(transport).await.unwrap();
    let error = exchange.success([], vendor_error).await.unwrap_err();
    assert!(error.message().contains("redirect"), "{error}");
    assert_eq!(error.vendor().status, Some(302));
}

#[test]
fn the_header_goes_before_the_bodys_hint_unless_it_is_zero() {
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    for (header, body, hint) in [
        (seconds(7), seconds(3), seconds(7)),
        (seconds(0), seconds(3), seconds(3)),
        (None, seconds(3), seconds(3)),
        (seconds(0), None, seconds(0)),
        (None, None, None),
    ] {
        let headers = HeaderFacts {
            retry_after: header,
            ..HeaderFacts::default()
        };
        let facts = CallFacts::new(DRIVER, None, 429, headers);
        let error = Error::new(ErrorKind::RateLimit, "slow").with_retry_after(body);
        assert_eq!(facts.annotate(error, &[], []).retry_after(), hint);
    }
}

#[test]
fn the_vendors_word_on_trying_again_is_obeyed() {
    for (status, word, retryable) in [
        (500, None, true),
        (500, Some(false), false),
        (429, Some(false), false),
        (400, None, false),
        (400, Some(true), true),
        // of an answer that went well it says nothing of what came after
        (200, Some(false), true),
    ] {
        let headers = HeaderFacts {
            should_retry: word,
            ..HeaderFacts::default()
        };
        let kind = if status == 200 {
            ErrorKind::Server
        } else {
            ErrorKind::of_status(status)
        };
        let error = CallFacts::new(DRIVER, None, status, headers).annotate(Error::new(kind, "no"), b"", []);
        assert_eq!(error.retryable(), retryable, "{status} {word:?}");
        assert_eq!(error.vendor().should_retry, word.filter(|_| status != 200));
    }
}

#[test]
fn what_an_error_says_already_stays() {
    let headers = HeaderFacts {
        request_id: Some("header".into()),
        rate_limits: Some(Box::default()),
        ..HeaderFacts::default()
    };
    let facts = CallFacts::new(DRIVER, Some(model()), 500, headers);
    let mut error = Error::new(ErrorKind::Server, "x")
        .with_phase(Phase::Streaming)
        .with_scope(Scope::Model);
    error.vendor_mut().request_id = Some("body".into());
    error.vendor_mut().status = Some(503);
    error.vendor_mut().code = Some("sk-12345678".into());
    let error = facts.annotate(error, b"", []);
    assert_eq!(error.vendor().request_id.as_deref(), Some("body"));
    assert_eq!(error.vendor().status, Some(503));
    assert_eq!(error.vendor().code.as_deref(), Some("***"));
    assert_eq!((error.phase(), error.scope()), (Phase::Streaming, Scope::Model));
    assert!(error.vendor().body.is_none());
}

#[tokio::test]
async fn the_credential_goes_to_no_other_host() {
    let transport = canned(200, &[], "");
    let api = api(transport.clone());
    for url in [
        "https://evil.example/v1/chat",
        "http://vendor.example/v1/chat",
        "/v1/chat",
        "",
    ] {
        let error = api.send(&cx(), None, HttpRequest::get(url)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config, "{url}");
        assert_eq!(error.vendor().driver, Some(DRIVER));
    }
    assert!(transport.seen.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_deadline_holds_also_over_a_transport_without_one() {
    let api = api(Arc::new(Endless));
    let cx = cx().with_timeout(Duration::from_secs(3));
    let error = api.send(&cx, None, api.get("/x").unwrap()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.scope(), error.phase()),
        (ErrorKind::Timeout, Scope::Request, Phase::Sent)
    );
    let error = api
        .send(&cx, Some(&model()), api.get("/x").unwrap())
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.scope(), error.phase()),
        (ErrorKind::Timeout, Scope::Request, Phase::NotSent)
    );
    assert_eq!(error.vendor().model, Some(model()));
}

#[tokio::test]
async fn a_source_is_asked_before_every_request() {
    #[derive(Debug, Default)]
    struct Counting(Mutex<u32>);
    #[async_trait]
    impl crate::CredentialSource for Counting {
        async fn credential(&self, _: &CallContext) -> Result<Arc<Credential>> {
            let mut count = self.0.lock().unwrap();
            *count += 1;
            if *count > 2 {
                return Err(Error::new(ErrorKind::Auth, "no more"));
            }
            Ok(Arc::new(Credential::bearer(format!("key-{count}").into())))
        }
    }
    let transport = canned(200, &[], "");
    let api = api(transport.clone()).with_credential_source(Arc::new(Counting::default()));
    for _ in 0..2 {
        let _ = api.send(&cx(), None, api.get("/x").unwrap()).await.unwrap();
    }
    let error = api.send(&cx(), None, api.get("/x").unwrap()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.vendor().driver.clone()),
        (ErrorKind::Auth, Some(DRIVER))
    );
    let seen = transport.seen.lock().unwrap();
    let shown: Vec<_> = seen
        .iter()
        .map(|request| request.headers["authorization"].clone())
        .collect();
    assert_eq!(shown, ["Bearer key-1", "Bearer key-2"]);
}

#[tokio::test]
async fn nothing_shows_a_credential() {
    let api = api(canned(200, &[], ""));
    let exchange = api.send(&cx(), None, api.get("/x").unwrap()).await.unwrap();
    let shown = format!(
        "{api:?} {:?} {exchange:?} {:?}",
        api.get("/x").unwrap(),
        exchange.facts()
    );
    assert!(!shown.contains(SENTINEL), "{shown}");
    let scheme = AuthScheme::Bearer;
    let error = Credential::new(scheme, Some(Secret::new(String::new()))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
}

#[test]
fn facts_come_from_the_headers_at_the_wall_clock() {
    let mut headers = HeaderMap::new();
    headers.insert("retry-after", "Thu, 01 Jan 1970 00:01:00 GMT".parse().unwrap());
    let facts = crate::header_facts(&headers, SystemTime::UNIX_EPOCH);
    assert_eq!(facts.retry_after, Some(Duration::from_secs(60)));
}

#[test]
fn a_body_that_a_decoder_kept_is_scrubbed_too() {
    let facts = CallFacts::new(DRIVER, None, 401, HeaderFacts::default())
        .with_credential(Arc::new(Credential::bearer(SENTINEL.into())));
    let echo = format!("wrong key {SENTINEL}");
    for given in [echo.as_bytes(), b""] {
        let mut error = Error::new(ErrorKind::Auth, "wrong key");
        error.vendor_mut().body = Some(echo.clone().into());
        let error = facts.annotate(error, given, []);
        assert_eq!(error.vendor().body.as_deref(), Some(&b"wrong key ***"[..]));
    }
}
