//! Kept connections that the server closes: what is sent once more, and what never is.

use crate::server::{CHUNKED, Connection, Server, chunk, cx, transport, whole, within};
use llm_core::{Error, ErrorKind, Phase, Result, Scope};
use llm_http::{HttpRequest, ReqwestTransport, Transport};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How many requests a server has read whole.
#[derive(Clone, Default)]
struct Seen(Arc<AtomicUsize>);

impl Seen {
    fn add(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

fn plain() -> Vec<u8> {
    whole("200 OK", "", "Seven.").into_bytes()
}

fn stream() -> Vec<u8> {
    [CHUNKED, &chunk("Sev"), &chunk("en."), b"0\r\n\r\n"].concat()
}

/// Promises to keep each connection. Answers the first request on it, then closes it when the next one has come: the
/// one moment in which every client is wrong.
async fn closes_under_the_second(answer: Vec<u8>, seen: Seen) -> Server {
    Server::start(move |mut connection: Connection| {
        let (answer, seen) = (answer.clone(), seen.clone());
        async move {
            connection.request().await;
            seen.add();
            connection.write(&answer).await;
            if connection.request().await.is_some() {
                seen.add();
            }
        }
    })
    .await
}

async fn call(transport: &ReqwestTransport, server: &Server) -> Result<String> {
    let request = HttpRequest::post_json(server.url("/v1/chat"), r#"{"messages":[]}"#);
    let body = transport.send(&cx(), request).await?.body;
    Ok(String::from_utf8(body.read_all(1024).await?.to_vec()).unwrap())
}

fn assert_broken(error: &Error) {
    assert_eq!(
        (error.kind(), error.phase()),
        (ErrorKind::Connection, Phase::Sent),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_kept_connection_that_closes_after_each_answer_costs_no_call() {
    for answer in [plain(), stream()] {
        let seen = Seen::default();
        let count = seen.clone();
        let server = Server::start(move |mut connection: Connection| {
            let (answer, seen) = (answer.clone(), count.clone());
            async move {
                connection.request().await;
                let nth = seen.add();
                connection.write(&answer).await;
                // A moment later, a different one each time.
                for _ in 0..nth % 7 {
                    tokio::task::yield_now().await;
                }
            }
        })
        .await;
        let transport = transport();
        for nth in 0..200 {
            let text = call(&transport, &server).await;
            assert_eq!(text.unwrap_or_else(|error| panic!("{nth}: {error:?}")), "Seven.");
        }
        // What arrived before the connection closed was never read by anybody.
        assert_eq!((seen.count(), server.connections()), (200, 200));
    }
}

#[tokio::test]
async fn a_request_whose_kept_connection_closes_under_it_is_sent_once_more() {
    for answer in [plain(), stream()] {
        let seen = Seen::default();
        let server = closes_under_the_second(answer, seen.clone()).await;
        let transport = transport();
        for _ in 0..200 {
            assert_eq!(call(&transport, &server).await.unwrap(), "Seven.");
        }
        // The first goes out once. The second meets a closing connection and is sent again on one that is not kept,
        // so the third starts anew. No request is seen three times.
        assert_eq!(seen.count(), 300);
        assert_eq!(server.connections(), 200);
    }
}

#[tokio::test]
async fn without_the_switch_it_is_an_error() {
    let seen = Seen::default();
    let server = closes_under_the_second(plain(), seen.clone()).await;
    let transport = ReqwestTransport::builder().with_resend(false).build().unwrap();
    assert_eq!(call(&transport, &server).await.unwrap(), "Seven.");
    assert_broken(&call(&transport, &server).await.unwrap_err());
    assert_eq!(seen.count(), 2);
}

#[tokio::test]
async fn what_must_arrive_once_is_sent_once() {
    let seen = Seen::default();
    let server = closes_under_the_second(plain(), seen.clone()).await;
    let transport = transport();
    assert_eq!(call(&transport, &server).await.unwrap(), "Seven.");
    let request = HttpRequest::post_json(server.url("/"), "{}").with_once();
    assert_broken(&transport.send(&cx(), request).await.unwrap_err());
    assert_eq!(seen.count(), 2);
}

#[tokio::test]
async fn what_fails_on_a_new_connection_is_sent_once() {
    let seen = Seen::default();
    let count = seen.clone();
    let server = Server::start(move |mut connection: Connection| {
        let seen = count.clone();
        async move {
            connection.request().await;
            // Every other connection answers, and says that it closes.
            if seen.add() % 2 == 0 {
                let answer = whole("200 OK", "connection: close\r\n", "Seven.");
                connection.write(answer.as_bytes()).await;
            }
        }
    })
    .await;
    let transport = transport();
    for nth in 1..=5 {
        // Also after the server has answered: this connection never has.
        assert_eq!(call(&transport, &server).await.unwrap(), "Seven.");
        assert_broken(&call(&transport, &server).await.unwrap_err());
        assert_eq!(seen.count(), 2 * nth);
    }
}

#[tokio::test]
async fn the_second_failure_is_final() {
    for reset in [false, true] {
        let seen = Seen::default();
        let count = seen.clone();
        let server = Server::start(move |mut connection: Connection| {
            let seen = count.clone();
            async move {
                while connection.request().await.is_some() {
                    if seen.add() > 0 {
                        if reset {
                            connection.stream.set_zero_linger().unwrap();
                        }
                        return;
                    }
                    connection.write(&plain()).await;
                }
            }
        })
        .await;
        let transport = transport();
        assert_eq!(call(&transport, &server).await.unwrap(), "Seven.");
        assert_broken(&call(&transport, &server).await.unwrap_err());
        assert_eq!((seen.count(), server.connections()), (3, 2));
        // That one was new: the next is on its own again.
        assert_broken(&call(&transport, &server).await.unwrap_err());
        assert_eq!((seen.count(), server.connections()), (4, 3));
    }
}

#[tokio::test]
async fn a_server_that_is_gone_afterwards_may_have_had_the_first() {
    let (listener, address) = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    };
    let serving = async move {
        let (stream, _) = listener.accept().await.unwrap();
        drop(listener);
        let mut connection = Connection { stream };
        connection.request().await;
        connection.write(&plain()).await;
        connection.request().await;
    };
    let calling = async {
        let transport = transport();
        let send = async || {
            let request = HttpRequest::get(format!("http://{address}/"));
            transport.send(&cx(), request).await?.body.read_all(1024).await
        };
        assert_eq!(send().await.unwrap(), "Seven.");
        assert_broken(&send().await.unwrap_err());
    };
    tokio::join!(serving, calling);
}

#[tokio::test]
async fn a_large_request_is_sent_once_more_too() {
    let server = Server::start(move |mut connection: Connection| async move {
        connection.request().await;
        connection.write(&plain()).await;
        // The start of the next one is enough to close.
        let _ = connection.stream.readable().await;
    })
    .await;
    let transport = transport();
    assert_eq!(call(&transport, &server).await.unwrap(), "Seven.");
    let request = HttpRequest::post_json(server.url("/"), vec![b' '; 8 * 1024 * 1024]);
    let response = transport.send(&cx(), request).await.unwrap();
    assert_eq!(response.body.read_all(1024).await.unwrap(), "Seven.");
}

#[tokio::test]
async fn both_are_within_the_deadline() {
    let seen = Seen::default();
    let count = seen.clone();
    let server = Server::start(move |mut connection: Connection| {
        let seen = count.clone();
        async move {
            connection.request().await;
            if seen.add() > 0 {
                return connection.closed().await;
            }
            connection.write(&plain()).await;
            connection.request().await;
            seen.add();
        }
    })
    .await;
    let transport = transport();
    assert_eq!(call(&transport, &server).await.unwrap(), "Seven.");
    let request = HttpRequest::post_json(server.url("/"), "{}");
    let error = transport.send(&within(300), request).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.scope(), error.phase()),
        (ErrorKind::Timeout, Scope::Request, Phase::Sent)
    );
    assert_eq!(seen.count(), 3);
}

#[tokio::test]
async fn an_answer_that_has_begun_is_never_asked_for_again() {
    let seen = Seen::default();
    let count = seen.clone();
    let server = Server::start(move |mut connection: Connection| {
        let seen = count.clone();
        async move {
            while connection.request().await.is_some() {
                if seen.add() > 0 {
                    let begun = [CHUNKED, &chunk("Sev")].concat();
                    return connection.write(&begun).await;
                }
                connection.write(&plain()).await;
            }
        }
    })
    .await;
    let transport = transport();
    assert_eq!(call(&transport, &server).await.unwrap(), "Seven.");
    assert_broken(&call(&transport, &server).await.unwrap_err());
    assert_eq!((seen.count(), server.connections()), (2, 1));
}

#[tokio::test]
async fn silence_on_a_kept_connection_is_no_reason() {
    let seen = Seen::default();
    let count = seen.clone();
    let server = Server::start(move |mut connection: Connection| {
        let seen = count.clone();
        async move {
            connection.request().await;
            seen.add();
            connection.write(&plain()).await;
            connection.request().await;
            seen.add();
            tokio::time::sleep(Duration::from_secs(5)).await;
        }
    })
    .await;
    let transport = transport();
    assert_eq!(call(&transport, &server).await.unwrap(), "Seven.");
    let request = HttpRequest::post_json(server.url("/"), "{}");
    let error = transport.send(&within(200), request).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!((seen.count(), server.connections()), (2, 1));
}
