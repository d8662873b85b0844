//! Listening, serving connections, and stopping without cutting answers short.

mod stop;

use crate::config::ProxyConfig;
use crate::connection::{StallGuard, WriteDeadline};
use crate::running::Running;
use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use llm_suite::core::{Error, ErrorKind, Result};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tower::ServiceExt;

pub(crate) use stop::StopSignals;

/// How long a client may take to send a request's head; also how long an idle connection is kept.
const HEAD_LIMIT: Duration = Duration::from_secs(120);
/// The pause after the system had no more file handles.
const BREATH: Duration = Duration::from_millis(50);
/// How much of a request's head, and of an answer that waits for its client, is held for one connection.
const MOST_BUFFERED: usize = 64 * 1024;

/// The limits of connections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    connections: usize,
    write_stall: Duration,
    /// From the head of a request to the last byte of its answer.
    exchange: Duration,
    drain: Duration,
}

impl Limits {
    pub(crate) fn of(config: &ProxyConfig) -> Self {
        Limits {
            connections: config.max_connections,
            write_stall: Duration::from_secs(config.write_stall_seconds),
            // the call has its deadline; what is left then must still reach a client that reads
            exchange: Duration::from_secs(
                config
                    .body_seconds
                    .saturating_add(config.max_request_seconds)
                    .saturating_add(config.write_stall_seconds),
            ),
            drain: Duration::from_secs(config.drain_seconds),
        }
    }
}

/// Takes an address.
///
/// # Errors
/// `Config`, when it is taken or not ours.
pub(crate) async fn listen(host: &str, port: u16) -> Result<TcpListener> {
    TcpListener::bind((host, port)).await.map_err(|error| {
        let advice = "another program may listen there: change proxy.port, or stop it";
        Error::new(
            ErrorKind::Config,
            format!("cannot listen on {host}:{port}: {error}; {advice}"),
        )
    })
}

/// Serves until the first signal to stop. Then no connection is taken any more; running calls finish, on connections
/// that stay open for them and for who asks whether we are ready. It is over when they are done, when the limit has
/// passed, or at the second signal. Gives back how many connections had to be cut.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    running: &Running,
    limits: Limits,
    stop: &mut StopSignals,
) -> usize {
    let (close, closes) = watch::channel(false);
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stop.next() => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            accepted = listener.accept(), if connections.len() < limits.connections => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                connections.spawn(connection(stream, router.clone(), limits, closes.clone()));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(BREATH).await;
            }
        }
    }
    drop(listener);
    running.start_draining();
    tracing::info!(
        connections = connections.len(),
        seconds = limits.drain.as_secs(),
        "stopping: running calls may finish; a second signal cuts them"
    );
    let finished = async {
        running.all_ended().await;
        close.send_replace(true);
        while connections.join_next().await.is_some() {}
    };
    tokio::select! {
        biased;
        () = finished => return 0,
        () = tokio::time::sleep(limits.drain) => {}
        () = stop.next() => {}
    }
    running.start_cutting();
    let cut = connections.len();
    connections.shutdown().await;
    cut
}

async fn connection(stream: TcpStream, router: Router, limits: Limits, mut closes: watch::Receiver<bool>) {
    // each piece of a stream goes out at once; an error here only costs that
    stream.set_nodelay(true).ok();
    let deadline = WriteDeadline::default();
    let io = TokioIo::new(StallGuard::new(stream, limits.write_stall, deadline.clone()));
    let service = router.map_request(move |request: Request<Incoming>| {
        deadline.restart(limits.exchange);
        request
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        .max_buf_size(MOST_BUFFERED)
        .serve_connection(io, TowerToHyperService::new(service));
    let mut serving = std::pin::pin!(serving);
    let ended = tokio::select! {
        ended = &mut serving => ended,
        () = told_to_close(&mut closes) => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

async fn told_to_close(closes: &mut watch::Receiver<bool>) {
    // an error means that the server is gone, which ends this connection too
    closes.wait_for(|close| *close).await.ok();
}
