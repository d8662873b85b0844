//! A server on loopback that does to each connection what a test says.

use llm_core::{CallContext, Result};
use llm_http::{HttpRequest, HttpResponse, ReqwestTransport, Transport, shared_clock};
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Stops when it is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

impl Server {
    /// Hands each connection to `serve`.
    pub(crate) async fn start<F>(serve: impl Fn(Connection) -> F + Send + 'static) -> Server
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let accepted = Arc::new(AtomicUsize::new(0));
        let count = accepted.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                connections.spawn(serve(Connection { stream }));
            }
        });
        Server {
            address,
            accepted,
            _tasks: tasks,
        }
    }

    /// Answers every request on every connection with these bytes.
    pub(crate) async fn answering(answer: impl Into<Vec<u8>>) -> Server {
        let answer: Arc<[u8]> = answer.into().into();
        Server::start(move |mut connection| {
            let answer = answer.clone();
            async move {
                while connection.request().await.is_some() {
                    connection.write(&answer).await;
                }
            }
        })
        .await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn connections(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
}

impl Connection {
    /// Reads one request, head and body; `None` when the client is gone.
    pub(crate) async fn request(&mut self) -> Option<String> {
        let mut bytes = Vec::new();
        let mut expected = None;
        loop {
            let end = || bytes.windows(4).position(|window| window == b"\r\n\r\n");
            if expected.is_none()
                && let Some(end) = end()
            {
                let head = String::from_utf8_lossy(&bytes[..end]);
                let length: usize = head
                    .lines()
                    .filter_map(|line| line.split_once(':'))
                    .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                    .map_or(0, |(_, length)| length.trim().parse().unwrap());
                expected = Some(end + 4 + length);
            }
            if expected.is_some_and(|expected| bytes.len() >= expected) {
                return Some(String::from_utf8_lossy(&bytes).into_owned());
            }
            let mut buffer = [0; 8 * 1024];
            match self.stream.read(&mut buffer).await {
                Ok(0) | Err(_) => return None,
                Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            }
        }
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
        let _ = self.stream.flush().await;
    }

    /// Waits until the client closes its side.
    pub(crate) async fn closed(&mut self) {
        let mut buffer = [0; 4096];
        while matches!(self.stream.read(&mut buffer).await, Ok(1..)) {}
    }
}

/// An answer with a length.
pub(crate) fn whole(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
}

/// The head of an answer without a length.
pub(crate) const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

/// One chunk.
pub(crate) fn chunk(text: &str) -> Vec<u8> {
    format!("{:x}\r\n{text}\r\n", text.len()).into_bytes()
}

/// A transport of its own for each test: a shared one would hand connections from one runtime to the next.
pub(crate) fn transport() -> ReqwestTransport {
    ReqwestTransport::builder().build().unwrap()
}

pub(crate) fn cx() -> CallContext {
    CallContext::new(shared_clock())
}

pub(crate) fn within(millis: u64) -> CallContext {
    cx().with_timeout(Duration::from_millis(millis))
}

pub(crate) async fn get(url: String) -> Result<HttpResponse> {
    transport().send(&cx(), HttpRequest::get(url)).await
}
