//! Which connections have carried an answer already, and which failures mean that such a one was closed under a
//! request.

use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpInfo;
use std::collections::HashMap;
use std::error::Error;
use std::hash::{Hash, Hasher};
use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Beyond this many, connections that the pool has long dropped are forgotten.
const MANY: usize = 512;

/// Where the pool keeps connections for ever, they are forgotten after this long.
const LONG: Duration = Duration::from_secs(60 * 60);

/// A connection: our end and the other's. No two that are open at the same time have both in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConnectionId {
    local: SocketAddr,
    remote: SocketAddr,
}

impl Hash for ConnectionId {
    /// Our port tells nearly all apart, and is noted twice a call.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u16(self.local.port());
    }
}

impl ConnectionId {
    /// The connection of an answer, or of a failure that says which it was.
    pub(super) fn of(extensions: &http::Extensions) -> Option<Self> {
        extensions.get::<HttpInfo>().map(|info| ConnectionId {
            local: info.local_addr(),
            remote: info.remote_addr(),
        })
    }
}

/// The connections on which an answer came and which the pool may hand out again.
#[derive(Debug)]
pub(super) struct UsedConnections {
    idle_timeout: Duration,
    answered: Mutex<HashMap<ConnectionId, Instant>>,
}

impl UsedConnections {
    pub(super) fn new(idle_timeout: Option<Duration>) -> Self {
        UsedConnections {
            idle_timeout: idle_timeout.unwrap_or(LONG),
            answered: Mutex::default(),
        }
    }

    /// An answer came on this connection, or came to its end.
    pub(super) fn answered(&self, connection: ConnectionId, now: Instant) {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        if answered.len() >= MANY && !answered.contains_key(&connection) {
            answered.retain(|_, at| now.saturating_duration_since(*at) <= self.idle_timeout);
        }
        answered.insert(connection, now);
    }

    /// Did this failure happen on a connection that had answered before, and only because the other side had closed
    /// it or closed it then, before anything of an answer?
    pub(super) fn closed_on_reuse(&self, error: &reqwest::Error, now: Instant) -> bool {
        if error.is_connect() || error.is_timeout() || error.is_builder() {
            return false;
        }
        let Some(connection) = closed_connection(error) else {
            return false;
        };
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        // It is gone: whatever has its addresses next is another.
        let last = answered.remove(&connection);
        last.is_some_and(|at| now.saturating_duration_since(at) <= self.idle_timeout)
    }
}

/// The connection of a failure that says that the other side closed it.
fn closed_connection(error: &reqwest::Error) -> Option<ConnectionId> {
    let mut connection = None;
    let mut next = error.source();
    while let Some(cause) = next {
        if let Some(failed) = cause.downcast_ref::<legacy::Error>() {
            let info = failed.connect_info()?;
            let mut extras = http::Extensions::new();
            info.get_extras(&mut extras);
            connection = ConnectionId::of(&extras);
        }
        let closed = match cause.downcast_ref::<io::Error>() {
            Some(error) => is_closed(error.kind()),
            None => cause
                .downcast_ref::<hyper::Error>()
                .is_some_and(hyper::Error::is_incomplete_message),
        };
        if closed {
            return connection;
        }
        next = cause.source();
    }
    None
}

fn is_closed(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::NotConnected
            // TLS without its closing word.
            | io::ErrorKind::UnexpectedEof
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(port: u16) -> ConnectionId {
        ConnectionId {
            local: ([127, 0, 0, 1], port).into(),
            remote: ([127, 0, 0, 1], 80).into(),
        }
    }

    #[test]
    fn what_the_pool_has_dropped_is_forgotten_when_there_are_many() {
        #[expect(clippy::disallowed_methods, reason = "only a point to count from")]
        let start = Instant::now();
        let used = UsedConnections::new(Some(Duration::from_secs(90)));
        for port in 0..600 {
            used.answered(connection(port), start);
        }
        assert_eq!(used.answered.lock().unwrap().len(), 600, "all may still be open");
        used.answered(connection(700), start + Duration::from_secs(91));
        assert_eq!(used.answered.lock().unwrap().len(), 1);
    }
}
