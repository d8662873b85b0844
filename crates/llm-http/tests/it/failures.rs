use crate::server::{CHUNKED, Connection, Server, chunk, cx, get, transport, whole, within};
use llm_core::{Error, ErrorKind, Phase, Scope};
use llm_http::{HttpRequest, ReqwestTransport, Transport};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::Notify;

fn facts(error: &Error) -> (ErrorKind, Phase) {
    (error.kind(), error.phase())
}

fn assert_deadline(error: &Error) {
    assert_eq!(
        (error.kind(), error.scope(), error.phase()),
        (ErrorKind::Timeout, Scope::Request, Phase::Sent),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_refused_port_was_not_sent_to() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = get(format!("http://{address}/v1")).await.unwrap_err();
    assert_eq!(facts(&error), (ErrorKind::Connection, Phase::NotSent));
    assert!(error.message().contains(&address.to_string()), "{error}");
}

#[tokio::test]
async fn a_name_nobody_has_was_not_sent_to() {
    let error = get("http://no-such-host.invalid/".into()).await.unwrap_err();
    assert_eq!(
        facts(&error),
        (ErrorKind::Connection, Phase::NotSent),
        "{error:?}"
    );
    assert!(error.message().contains("resolved"), "{error}");
}

/// A listener that accepts nothing and whose queue is full lets connections wait for ever.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_connection_that_is_not_made_in_time_is_the_vendors_timeout() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queued = tokio::task::JoinSet::new();
    for _ in 0..8 {
        queued.spawn(tokio::net::TcpStream::connect(address));
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    let transport = ReqwestTransport::builder()
        .with_connect_timeout(Duration::from_millis(200))
        .build()
        .unwrap();
    let error = transport
        .send(&cx(), HttpRequest::get(format!("http://{address}/")))
        .await
        .unwrap_err();
    assert_eq!(facts(&error), (ErrorKind::Timeout, Phase::NotSent), "{error:?}");
    assert_eq!(error.scope(), Scope::Vendor);
}

#[tokio::test]
async fn a_connection_that_breaks_before_the_answer_was_sent_to() {
    let server = Server::start(|mut connection: Connection| async move {
        connection.request().await;
    })
    .await;
    let error = get(server.url("/")).await.unwrap_err();
    assert_eq!(facts(&error), (ErrorKind::Connection, Phase::Sent), "{error:?}");
}

#[tokio::test]
async fn what_is_no_http_is_a_broken_connection() {
    let server = Server::answering("SSH-2.0-OpenSSH_9.2\r\n\r\n").await;
    let error = get(server.url("/")).await.unwrap_err();
    assert_eq!(facts(&error), (ErrorKind::Connection, Phase::Sent), "{error:?}");
}

#[tokio::test]
async fn a_body_that_is_cut_off_is_an_error_and_never_an_end() {
    let short = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello".to_vec();
    let unfinished = [CHUNKED, &chunk("hello")].concat();
    for answer in [short, unfinished] {
        let server = Server::start(move |mut connection| {
            let answer = answer.clone();
            async move {
                connection.request().await;
                connection.write(&answer).await;
            }
        })
        .await;
        let mut body = get(server.url("/")).await.unwrap().body;
        assert_eq!(body.next_piece().await.unwrap().unwrap(), "hello");
        let error = body.next_piece().await.unwrap_err();
        assert_eq!(facts(&error), (ErrorKind::Connection, Phase::Sent), "{error:?}");
        assert!(body.next_piece().await.unwrap().is_none());
    }
}

#[tokio::test]
async fn a_reset_in_the_middle_is_an_error() {
    let server = Server::start(|mut connection: Connection| async move {
        connection.request().await;
        connection.write(&[CHUNKED, &chunk("hello")].concat()).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        // Closing with a linger time of zero sends RST.
        connection.stream.set_zero_linger().unwrap();
    })
    .await;
    let mut body = get(server.url("/")).await.unwrap().body;
    assert_eq!(body.next_piece().await.unwrap().unwrap(), "hello");
    let error = body.next_piece().await.unwrap_err();
    assert_eq!(facts(&error), (ErrorKind::Connection, Phase::Sent), "{error:?}");
}

#[tokio::test]
async fn the_deadline_bounds_the_wait_for_the_head() {
    let server = Server::start(|mut connection: Connection| async move {
        connection.request().await;
        connection.closed().await;
    })
    .await;
    let error = transport()
        .send(&within(150), HttpRequest::get(server.url("/")))
        .await
        .unwrap_err();
    assert_deadline(&error);
}

#[tokio::test]
async fn the_deadline_bounds_a_stalled_body() {
    let server = Server::start(|mut connection: Connection| async move {
        connection.request().await;
        connection.write(&[CHUNKED, &chunk("hello")].concat()).await;
        connection.closed().await;
    })
    .await;
    let response = transport()
        .send(&within(150), HttpRequest::get(server.url("/")))
        .await
        .unwrap();
    let mut body = response.body;
    assert_eq!(body.next_piece().await.unwrap().unwrap(), "hello");
    assert_deadline(&body.next_piece().await.unwrap_err());
    assert!(body.next_piece().await.unwrap().is_none());
}

#[tokio::test]
async fn the_deadline_bounds_a_body_that_never_stops() {
    let server = Server::start(|mut connection: Connection| async move {
        connection.request().await;
        connection.write(CHUNKED).await;
        for _ in 0..1_000 {
            connection.write(&chunk("drip")).await;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    let response = transport()
        .send(&within(200), HttpRequest::get(server.url("/")))
        .await
        .unwrap();
    assert_deadline(&response.body.read_all(usize::MAX).await.unwrap_err());
}

#[tokio::test]
async fn a_body_over_its_cap_is_not_read_to_its_end() {
    let closed = Arc::new(Notify::new());
    let server = Server::start({
        let closed = closed.clone();
        move |mut connection| {
            let closed = closed.clone();
            async move {
                connection.request().await;
                connection.write(CHUNKED).await;
                let piece = chunk(&"x".repeat(64 * 1024));
                // Writing fails once the client is gone; until then there is no end.
                while tokio::io::AsyncWriteExt::write_all(&mut connection.stream, &piece)
                    .await
                    .is_ok()
                {}
                closed.notify_one();
            }
        }
    })
    .await;
    let response = get(server.url("/")).await.unwrap();
    let error = response.body.read_all(1024 * 1024).await.unwrap_err();
    assert_eq!(facts(&error), (ErrorKind::Protocol, Phase::Sent));
    tokio::time::timeout(Duration::from_secs(5), closed.notified())
        .await
        .unwrap();

    let response = get(server.url("/")).await.unwrap();
    let start = response.body.read_start(100, Duration::from_secs(5)).await;
    assert_eq!(start.len(), 100);
}

#[tokio::test]
async fn the_start_of_a_stalled_body_is_what_came() {
    let server = Server::start(|mut connection: Connection| async move {
        connection.request().await;
        connection.write(&[CHUNKED, &chunk("hello")].concat()).await;
        connection.closed().await;
    })
    .await;
    let response = get(server.url("/")).await.unwrap();
    let start = response.body.read_start(100, Duration::from_millis(100)).await;
    assert_eq!(start, "hello");
}

#[tokio::test]
async fn dropping_the_future_closes_the_connection() {
    let (arrived, closed) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let server = Server::start({
        let (arrived, closed) = (arrived.clone(), closed.clone());
        move |mut connection| {
            let (arrived, closed) = (arrived.clone(), closed.clone());
            async move {
                connection.request().await;
                arrived.notify_one();
                connection.closed().await;
                closed.notify_one();
            }
        }
    })
    .await;
    let transport = transport();
    let cx = cx();
    let mut sending = transport.send(&cx, HttpRequest::get(server.url("/")));
    tokio::select! {
        _ = &mut sending => unreachable!("the server never answers"),
        () = arrived.notified() => {}
    }
    drop(sending);
    tokio::time::timeout(Duration::from_secs(5), closed.notified())
        .await
        .unwrap();
}

#[tokio::test]
async fn dropping_the_body_closes_the_connection() {
    let closed = Arc::new(Notify::new());
    let server = Server::start({
        let closed = closed.clone();
        move |mut connection| {
            let closed = closed.clone();
            async move {
                connection.request().await;
                connection.write(&[CHUNKED, &chunk("hello")].concat()).await;
                connection.closed().await;
                closed.notify_one();
            }
        }
    })
    .await;
    let mut body = get(server.url("/")).await.unwrap().body;
    assert_eq!(body.next_piece().await.unwrap().unwrap(), "hello");
    drop(body);
    tokio::time::timeout(Duration::from_secs(5), closed.notified())
        .await
        .unwrap();
}

/// A kept connection that the server closed meanwhile is no failure: nothing was sent on it.
#[tokio::test]
async fn a_kept_connection_that_died_is_replaced() {
    let server = Server::start(|mut connection: Connection| async move {
        connection.request().await;
        connection.write(whole("200 OK", "", "hello").as_bytes()).await;
    })
    .await;
    let transport = transport();
    for _ in 0..3 {
        let response = transport
            .send(&cx(), HttpRequest::get(server.url("/")))
            .await
            .unwrap();
        assert_eq!(response.body.read_all(100).await.unwrap(), "hello");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn a_passed_deadline_sends_nothing() {
    let server = Server::answering(whole("200 OK", "", "")).await;
    let error = transport()
        .send(&within(0), HttpRequest::get(server.url("/")))
        .await
        .unwrap_err();
    assert_eq!((error.scope(), error.phase()), (Scope::Request, Phase::NotSent));
    assert_eq!(server.connections(), 0);
}

#[test]
fn outside_of_a_runtime_is_an_error_and_no_panic() {
    let transport = transport();
    let cx = cx();
    let mut sending = transport.send(&cx, HttpRequest::get("http://127.0.0.1:1/"));
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    match sending.as_mut().poll(&mut task) {
        std::task::Poll::Ready(Err(error)) => assert_eq!(error.kind(), ErrorKind::Config),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_called_is_a_config_error() {
    for url in ["", "/v1", "ftp://h/", "http://user:pass@127.0.0.1/", "http://"] {
        let error = get(url.into()).await.unwrap_err();
        assert_eq!(facts(&error), (ErrorKind::Config, Phase::NotSent), "{url}");
    }
}

#[cfg(not(feature = "rustls"))]
#[tokio::test]
async fn https_without_the_feature_says_which_feature_is_missing() {
    let error = get("https://127.0.0.1:1/".into()).await.unwrap_err();
    assert_eq!(facts(&error), (ErrorKind::Config, Phase::NotSent));
    assert!(error.message().contains("`rustls`"), "{error}");
    let builder = ReqwestTransport::builder().with_root_certificates("any");
    assert_eq!(builder.build().unwrap_err().kind(), ErrorKind::Config);
}
