use crate::server::{CHUNKED, Connection, Server, chunk, cx, get, transport, whole};
use llm_http::{HttpRequest, ReqwestTransport, Transport};
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

/// A host that finds a request too large says so without reading it all.
#[tokio::test]
async fn an_answer_that_comes_before_the_request_is_read_is_an_answer() {
    let server = Server::start(|mut connection: Connection| async move {
        let _ = tokio::io::AsyncReadExt::read(&mut connection.stream, &mut [0; 1024]).await;
        let answer = whole("413 Too Large", "connection: close\r\n", "too large");
        connection.write(answer.as_bytes()).await;
        connection.closed().await;
    })
    .await;
    let request = HttpRequest::post_json(server.url("/"), vec![b'x'; 20_000_000]);
    let response = transport().send(&cx(), request).await.unwrap();
    assert_eq!(response.status, 413);
    assert_eq!(response.body.read_all(100).await.unwrap(), "too large");
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
    let builder = ReqwestTransport::builder().with_proxy(url);
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

/// Runs [`calls_under_a_proxy_environment`] in a process of its own: the environment belongs to all tests.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_environments_proxy_is_asked_only_when_wanted() {
    let proxy = Server::answering(whole("200 OK", "", "by proxy")).await;
    let url = format!("http://{}", proxy.address);
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "answers::calls_under_a_proxy_environment"])
        .env("HTTP_PROXY", &url)
        .env("http_proxy", &url)
        .env("LLM_HTTP_TEST_CHILD", "1")
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .env_remove("REQUEST_METHOD")
        .output();
    let output = child.unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(proxy.connections(), 1);
}

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "whether this is the child process of the test above"
)]
async fn calls_under_a_proxy_environment() {
    if std::env::var("LLM_HTTP_TEST_CHILD").is_err() {
        return;
    }
    let url = "http://no-such-host.invalid/";
    assert!(transport().send(&cx(), HttpRequest::get(url)).await.is_err());
    let asking = ReqwestTransport::builder()
        .with_environment_proxy()
        .build()
        .unwrap();
    let response = asking.send(&cx(), HttpRequest::get(url)).await.unwrap();
    assert_eq!(response.body.read_all(100).await.unwrap(), "by proxy");
}
