//! A vendor on a loopback socket: plays scripted answers with their faults, and records what it saw.
//!
//! It speaks just enough HTTP/1.1 (no TLS, no upgrade) and is our own because most of its faults (a reset, a
//! false length, a drip, no answer at all) are what server libraries exist to prevent.

mod connection;
mod parse;

use crate::answer::Answer;
use crate::log::Log;
use crate::recorded::RecordedRequest;
use crate::scripted::{Exhausted, Script};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// More connections at a time than any test opens; the next ones wait.
const MOST_CONNECTIONS: usize = 256;

/// A vendor on a loopback socket.
///
/// It runs on the runtime it is started on and stops, with all its connections, when it is dropped. Pauses are
/// real time: do not pause tokio's clock around it (use [`ScriptedTransport`](crate::ScriptedTransport) for
/// that).
///
/// ```
/// use llm_driver_testkit::{Answer, FakeServer};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let server = FakeServer::start([Answer::json(200, "{}")]).await.unwrap();
/// // what a driver does through its transport:
/// let mut socket = tokio::net::TcpStream::connect(server.address()).await.unwrap();
/// socket.write_all(b"GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
/// let mut answer = String::new();
/// socket.read_to_string(&mut answer).await.unwrap();
/// assert!(answer.starts_with("HTTP/1.1 200 "));
/// assert_eq!(server.requests()[0].path(), "/v1/models");
/// # });
/// ```
#[derive(Debug)]
pub struct FakeServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    // Owns the accepting task, which owns one task for each connection: all end with it.
    _tasks: JoinSet<()>,
}

#[derive(Debug)]
struct Shared {
    address: SocketAddr,
    script: Mutex<Script<Answer>>,
    log: Log<RecordedRequest>,
    connections: watch::Sender<Connections>,
}

/// How many connections there are and were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Connections {
    /// Open now.
    pub open: usize,
    /// Accepted so far.
    pub accepted: usize,
}

impl FakeServer {
    /// Starts a server on a free port that plays these answers, one for each request. A request beyond them is
    /// answered 500 with a body that says so; it is recorded like any other.
    ///
    /// # Errors
    /// What the operating system says when no loopback port can be opened.
    pub async fn start(answers: impl IntoIterator<Item = Answer>) -> io::Result<FakeServer> {
        let script = Script::new(answers);
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            address,
            script: Mutex::new(script),
            log: Log::default(),
            connections: watch::Sender::new(Connections::default()),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&shared)));
        Ok(FakeServer {
            address,
            shared,
            _tasks: tasks,
        })
    }

    /// Starts a server that plays this answer for every request.
    ///
    /// # Errors
    /// As [`FakeServer::start`].
    pub async fn always(answer: Answer) -> io::Result<FakeServer> {
        let server = FakeServer::start([answer]).await?;
        server.shared.script().exhausted = Exhausted::RepeatLast;
        Ok(server)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address for a driver: `http://127.0.0.1:PORT`, without a slash at the end.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds an answer to the end of the script.
    pub fn push(&self, answer: Answer) {
        self.shared.script().push(answer);
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.log.lines()
    }

    /// How many requests there were so far.
    pub fn request_count(&self) -> usize {
        self.shared.log.len()
    }

    /// How many connections are open now and were accepted so far.
    pub fn connections(&self) -> Connections {
        *self.shared.connections.borrow()
    }

    /// Waits until the connections are as wanted. False: they were not within this time.
    ///
    /// ```no_run
    /// # async fn example(server: llm_driver_testkit::FakeServer) {
    /// // after dropping a stream:
    /// let freed = server.wait_for(std::time::Duration::from_secs(2), |now| now.open == 0).await;
    /// assert!(freed, "the connection is still open");
    /// # }
    /// ```
    pub async fn wait_for(&self, within: Duration, wanted: impl FnMut(&Connections) -> bool) -> bool {
        let mut connections = self.shared.connections.subscribe();
        let waiting = connections.wait_for(wanted);
        matches!(tokio::time::timeout(within, waiting).await, Ok(Ok(_)))
    }

    /// Waits until so many requests have come in. False: they had not within this time.
    pub async fn wait_for_requests(&self, within: Duration, count: usize) -> bool {
        let waiting = async {
            while self.request_count() < count {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(within, waiting).await.is_ok()
    }
}

impl Shared {
    fn script(&self) -> MutexGuard<'_, Script<Answer>> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_answer(&self) -> Answer {
        self.script().next().unwrap_or_else(|| {
            Answer::status(500)
                .with_header("content-type", "text/plain")
                .with_piece("the fake server has no answer left; script one for each request")
        })
    }

    fn opened(self: &Arc<Self>) -> OpenConnection {
        self.connections.send_modify(|now| {
            now.open += 1;
            now.accepted += 1;
        });
        OpenConnection(Arc::clone(self))
    }
}

/// Counts a connection as open until it is dropped.
struct OpenConnection(Arc<Shared>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.connections.send_modify(|now| now.open -= 1);
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        if connections.len() >= MOST_CONNECTIONS {
            connections.join_next().await;
        }
        let Ok((socket, _)) = listener.accept().await else {
            // Out of sockets, most likely: some will be free soon.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        connections.spawn(connection::serve(socket, shared.opened()));
    }
}

#[cfg(test)]
mod tests;
