use crate::server::{CHUNKED, Server, chunk, cx, get, transport, whole};
use llm_http::{HttpRequest, Transport};
use std::sync::{Arc, Mutex};

#[tokio::test]
async fn request_and_answer_arrive_as_they_were_sent() {
    let seen = Arc::new(Mutex::new(String::new()));
    let server = Server::start({
        let seen = seen.clone();
        move |mut connection| {
            let seen = seen.clone();
            async move {
                *seen.lock().unwrap() = connection.request().await.unwrap();
                connection
                    .write(whole("201 Created", "x-one: 1\r\n", "hello").as_bytes())
                    .await;
            }
        }
    })
    .await;
    let request = HttpRequest::post_json(server.url("/v1/chat?a=b"), "{\"x\":1}")
        .with_header("x-two", "2")
        .unwrap();
    let response = transport().send(&cx(), request).await.unwrap();
    assert_eq!((response.status, response.header("x-one")), (201, Some("1")));
    assert_eq!(response.body.read_all(5).await.unwrap(), "hello");
    let seen = seen.lock().unwrap().to_ascii_lowercase();
    assert!(seen.starts_with("post /v1/chat?a=b http/1.1\r\n"), "{seen}");
    assert!(seen.ends_with("\r\n\r\n{\"x\":1}"), "{seen}");
    for header in [
        "content-type: application/json\r\n",
        "content-length: 7\r\n",
        "x-two: 2\r\n",
        "user-agent: llm-suite/0.1.0\r\n",
        "host: 127.0.0.1:",
    ] {
        assert!(seen.contains(header), "{header} in {seen}");
    }
}

#[tokio::test]
async fn any_status_is_an_answer() {
    for status in [204, 304, 400, 429, 500, 599] {
        let server = Server::answering(whole(&format!("{status} X"), "", "")).await;
        assert_eq!(get(server.url("/")).await.unwrap().status, status);
    }
}

#[tokio::test]
async fn a_redirect_is_handed_back_and_not_followed() {
    let elsewhere = Server::answering(whole("200 OK", "", "elsewhere")).await;
    for status in [301, 302, 303, 307, 308] {
        let location = format!("location: {}\r\n", elsewhere.url("/"));
        let server = Server::answering(whole(&format!("{status} Moved"), &location, "moved")).await;
        let request = HttpRequest::post_json(server.url("/"), "{}").with_header("authorization", "Bearer x");
        let response = transport().send(&cx(), request.unwrap()).await.unwrap();
        assert_eq!(response.status, status);
        assert_eq!(response.header("location"), Some(elsewhere.url("/").as_str()));
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn a_connection_is_kept_for_the_next_call() {
    let server = Server::answering(whole("200 OK", "", "hello")).await;
    let transport = transport();
    for _ in 0..5 {
        let response = transport
            .send(&cx(), HttpRequest::get(server.url("/")))
            .await
            .unwrap();
        assert_eq!(response.body.read_all(100).await.unwrap(), "hello");
    }
    assert_eq!(server.connections(), 1);
}

/// What follows a stream's end mark need not be read: where it has arrived, the connection is kept all the same.
#[tokio::test]
async fn a_stream_dropped_at_its_end_mark_keeps_the_connection() {
    let answer = [CHUNKED, &chunk("data: [DONE]\n\n"), b"0\r\n\r\n"].concat();
    let server = Server::answering(answer).await;
    let transport = transport();
    for _ in 0..3 {
        let response = transport
            .send(&cx(), HttpRequest::get(server.url("/")))
            .await
            .unwrap();
        let mut body = response.body;
        assert_eq!(body.next_piece().await.unwrap().unwrap(), "data: [DONE]\n\n");
        drop(body);
        // The connection is put back by its own task.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn pieces_come_as_they_are_sent() {
    let (release, released) = tokio::sync::oneshot::channel::<()>();
    let released = Arc::new(tokio::sync::Mutex::new(Some(released)));
    let server = Server::start(move |mut connection| {
        let released = released.clone();
        async move {
            connection.request().await;
            connection.write(&[CHUNKED, &chunk("one")].concat()).await;
            let released = released.lock().await.take().unwrap();
            let _ = released.await;
            connection
                .write(&[chunk("two").as_slice(), b"0\r\n\r\n"].concat())
                .await;
        }
    })
    .await;
    let mut body = get(server.url("/")).await.unwrap().body;
    assert_eq!(body.next_piece().await.unwrap().unwrap(), "one");
    release.send(()).unwrap();
    assert_eq!(body.next_piece().await.unwrap().unwrap(), "two");
    assert!(body.next_piece().await.unwrap().is_none());
    assert!(body.next_piece().await.unwrap().is_none());
}

#[tokio::test]
async fn the_environment_names_no_proxy_unless_asked() {
    // Set for this process by nobody; what is tested is that building with and without it works.
    let with = llm_http::ReqwestTransport::builder()
        .with_environment_proxy()
        .build();
    assert!(with.is_ok());
}

#[tokio::test]
async fn a_proxy_is_asked_for_the_whole_address() {
    let seen = Arc::new(Mutex::new(String::new()));
    let proxy = Server::start({
        let seen = seen.clone();
        move |mut connection| {
            let seen = seen.clone();
            async move {
                *seen.lock().unwrap() = connection.request().await.unwrap();
                connection.write(whole("200 OK", "", "by proxy").as_bytes()).await;
            }
        }
    })
    .await;
    let url = format!("http://user:sentinel@{}", proxy.address);
    let builder = llm_http::ReqwestTransport::builder().with_proxy(url);
    assert!(!format!("{builder:?}").contains("sentinel"));
    let transport = builder.build().unwrap();
    let response = transport
        .send(&cx(), HttpRequest::get("http://vendor.example/v1"))
        .await
        .unwrap();
    assert_eq!(response.body.read_all(100).await.unwrap(), "by proxy");
    let seen = seen.lock().unwrap();
    assert!(
        seen.starts_with("GET http://vendor.example/v1 HTTP/1.1\r\n"),
        "{seen}"
    );
}
