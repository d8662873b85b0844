//! No way to fail shows a credential, a query or a body.

use crate::server::{CHUNKED, Connection, Server, chunk, cx, transport, within};
use llm_core::{Chain, DriverId, Error};
use llm_http::{Credential, HttpRequest, Transport, VendorApi, status_error};
use std::error::Error as StdError;
use std::sync::Arc;

const SENTINEL: &str = "sentinel-7f3a";

/// Everything a log could print of an error.
fn printed(error: &Error) -> String {
    let mut text = format!("{error} {error:?} {error:#?} {}", Chain(error));
    let mut next = error.source();
    while let Some(cause) = next {
        text += &format!(" {cause} {cause:?}");
        next = cause.source();
    }
    text
}

fn assert_clean(error: &Error) {
    let text = printed(error);
    assert!(!text.contains(SENTINEL), "{text}");
}

fn request(base: &str) -> HttpRequest {
    HttpRequest::post_json(format!("{base}/v1?key={SENTINEL}"), SENTINEL)
        .with_secret_header("authorization", &format!("Bearer {SENTINEL}"))
        .unwrap()
}

#[tokio::test]
async fn failures_of_sending_are_clean() {
    let silent = Server::start(|mut connection: Connection| async move {
        connection.request().await;
        connection.closed().await;
    })
    .await;
    let broken = Server::start(|mut connection: Connection| async move {
        connection.request().await;
    })
    .await;
    let no_http = Server::answering("nonsense\r\n\r\n").await;
    for base in [
        "http://127.0.0.1:1",
        "https://127.0.0.1:1",
        "http://no-such-host.invalid",
        "ftp://sentinel-7f3a",
        "sentinel-7f3a",
        &format!("http://{SENTINEL}:{SENTINEL}@127.0.0.1"),
        &silent.url(""),
        &broken.url(""),
        &no_http.url(""),
        &broken.url("").replace("http:", "https:"),
    ] {
        let error = transport().send(&within(300), request(base)).await.unwrap_err();
        assert_clean(&error);
    }
}

#[tokio::test]
async fn failures_of_a_body_are_clean() {
    let server = Server::start(|mut connection: Connection| async move {
        connection.request().await;
        connection.write(&[CHUNKED, &chunk("hello")].concat()).await;
    })
    .await;
    let response = transport().send(&cx(), request(&server.url(""))).await.unwrap();
    assert_clean(&response.body.read_all(100).await.unwrap_err());
}

#[tokio::test]
async fn failures_of_an_exchange_are_clean() {
    let echo = Server::start(|mut connection: Connection| async move {
        let request = connection.request().await.unwrap();
        let answer = crate::server::whole("401 Unauthorized", "", &request);
        connection.write(answer.as_bytes()).await;
    })
    .await;
    let credential = Credential::query("key", SENTINEL.into()).with_header("x-other-key", SENTINEL);
    let api = VendorApi::new(
        DriverId::from_static("mine"),
        &echo.url("/v1"),
        Arc::new(transport()),
    )
    .and_then(|api| api.with_credential(credential))
    .unwrap();
    let request = api.get("/models").unwrap();
    let exchange = api.send(&cx(), None, request).await.unwrap();
    let decode = |status, body: &[u8]| status_error(status, body).with_message(String::from_utf8_lossy(body));
    let error = exchange.success([], decode).await.unwrap_err();
    assert!(error.message().contains("key=***"), "{error}");
    assert_clean(&error);
    let body = error.vendor().body.clone().unwrap();
    assert!(!String::from_utf8_lossy(&body).contains(SENTINEL));
}

#[test]
fn failures_of_building_are_clean() {
    let error = llm_http::ReqwestTransport::builder()
        .with_proxy(format!("ht tp://{SENTINEL}:{SENTINEL}@[host"))
        .build()
        .unwrap_err();
    assert_clean(&error);
    let error = VendorApi::new(
        DriverId::from_static("mine"),
        &format!("http://{SENTINEL}@host"),
        Arc::new(transport()),
    );
    assert_clean(&error.unwrap_err());
}
