//! Listening, serving connections, and stopping without cutting answers short.

use crate::connection::StallGuard;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use llm_suite::core::{Error, ErrorKind, Result};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How long a client may take to send a request's head; also how long an idle connection is kept.
const HEAD_LIMIT: Duration = Duration::from_secs(120);
/// The pause after the system had no more file handles.
const BREATH: Duration = Duration::from_millis(50);

/// The limits of connections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) connections: usize,
    pub(crate) write_stall: Duration,
    pub(crate) drain: Duration,
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

/// Serves until `stop` is done, then lets running answers finish, for as long as the limits say. Gives back how many
/// connections had to be cut.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    stop: impl Future<Output = ()>,
    draining: impl FnOnce(usize),
) -> usize {
    let (drain, drains) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            accepted = listener.accept(), if connections.len() < limits.connections => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                connections.spawn(connection(
                    stream,
                    router.clone(),
                    limits.write_stall,
                    drains.clone(),
                ));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(BREATH).await;
            }
        }
    }
    drop(listener);
    draining(connections.len());
    drain.send_replace(true);
    let all_done = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(limits.drain, all_done).await.is_ok() {
        return 0;
    }
    let cut = connections.len();
    connections.shutdown().await;
    cut
}

async fn connection(
    stream: TcpStream,
    router: Router,
    write_stall: Duration,
    mut drains: watch::Receiver<bool>,
) {
    // each piece of a stream goes out at once; an error here only costs that
    stream.set_nodelay(true).ok();
    let io = TokioIo::new(StallGuard::new(stream, write_stall));
    let service = TowerToHyperService::new(router);
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        .serve_connection(io, service);
    let mut serving = std::pin::pin!(serving);
    let ended = tokio::select! {
        ended = &mut serving => ended,
        () = told_to_drain(&mut drains) => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

async fn told_to_drain(drains: &mut watch::Receiver<bool>) {
    // an error means that the server is gone, which ends this connection too
    drains.wait_for(|drain| *drain).await.ok();
}
