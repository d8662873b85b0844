//! Connections: how they are made, kept and thrown away.

use super::config::RedisConfig;
use super::failure;
use deadpool::managed::{self, Metrics, RecycleResult};
use deadpool_redis::cluster::{ClusterClient, ClusterConnection};
use deadpool_redis::redis::aio::MultiplexedConnection;
use deadpool_redis::redis::{AsyncConnectionConfig, Cmd, RedisError, RedisResult, Value};
use llm_core::{Error, ErrorKind, Result};
use std::fmt;
use std::time::Duration;

/// Kept connections.
pub(super) type Pool = managed::Pool<Manager>;

/// How often a cluster's redirections and elections are followed within one call; the call's time ends it sooner.
const CLUSTER_RETRIES: u32 = 16;

/// The pause between those, in milliseconds.
const CLUSTER_RETRY_PAUSE: (u64, u64) = (10, 100);

pub(super) fn build(config: &RedisConfig) -> Result<Pool> {
    managed::Pool::builder(Manager::new(config)?)
        .max_size(config.pool_size)
        .build()
        .map_err(|_| {
            Error::new(
                ErrorKind::Internal,
                "redis: the pool of connections was not built",
            )
        })
}

/// Makes connections, and takes them back without asking the server.
///
/// The managers of deadpool-redis send a `PING` before each use, which would make two round trips of every
/// decision, and the one for clusters takes no timeouts. A connection that has died while nobody used it is found
/// out by its first use instead, which is then repeated on a new one.
pub(super) enum Manager {
    Single(deadpool_redis::Manager),
    Cluster(ClusterClient),
}

impl Manager {
    fn new(config: &RedisConfig) -> Result<Self> {
        let refused = |error: RedisError| {
            let why = failure::describe(&error);
            Error::new(ErrorKind::Config, format!("redis: the url cannot be used: {why}"))
        };
        let mut urls = config.urls.iter().map(|url| url.expose().as_str());
        if config.cluster {
            let (shortest, longest) = CLUSTER_RETRY_PAUSE;
            return ClusterClient::builder(urls)
                // Nodes that were named first, then the slots, then all nodes: within the time for a connection.
                .connection_timeout(config.connect_timeout / 3)
                // Longer than any call waits: what nobody waits for any more must not be sent once more.
                .response_timeout(config.command_timeout * 2)
                .overall_response_timeout(None)
                .retries(CLUSTER_RETRIES)
                .min_retry_wait(shortest)
                .max_retry_wait(longest)
                .build()
                .map(Manager::Cluster)
                .map_err(refused);
        }
        let limits = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(config.connect_timeout))
            .set_response_timeout(Some(config.command_timeout * 2));
        let url = urls.next().unwrap_or_default();
        deadpool_redis::Manager::new_with_config(url, limits)
            .map(Manager::Single)
            .map_err(refused)
    }
}

impl managed::Manager for Manager {
    type Type = Connection;
    type Error = RedisError;

    async fn create(&self) -> RedisResult<Connection> {
        match self {
            // Boxed: tens of kilobytes, which would otherwise be part of every call.
            Manager::Single(manager) => Box::pin(managed::Manager::create(manager))
                .await
                .map(Connection::Single),
            Manager::Cluster(client) => Box::pin(client.get_async_connection())
                .await
                .map(Connection::Cluster),
        }
    }

    async fn recycle(&self, _: &mut Connection, _: &Metrics) -> RecycleResult<RedisError> {
        Ok(())
    }
}

/// Nothing of the address: it may hold a password.
impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Manager::Single(_) => "Single",
            Manager::Cluster(_) => "Cluster",
        })
    }
}

pub(super) enum Connection {
    Single(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl Connection {
    async fn query(&mut self, command: &Cmd) -> RedisResult<Value> {
        match self {
            Connection::Single(connection) => command.query_async(connection).await,
            Connection::Cluster(connection) => command.query_async(connection).await,
        }
    }
}

/// A connection in use. When it is let go without an answer, because the time was up or because the caller went
/// away, it is thrown away.
pub(super) struct Lent {
    /// `None` only while it is being dropped.
    connection: Option<managed::Object<Manager>>,
    answered: bool,
}

/// How long a connection is kept at least, answers or not. When one node of a cluster is silent the others still
/// answer, and callers who go away are no reason to connect again and again. After that, a cluster is asked anew
/// who holds what, or a silent master would be waited for long after its replica has taken over.
const YOUNG: Duration = Duration::from_secs(1);

impl Lent {
    pub(super) fn new(connection: managed::Object<Manager>) -> Self {
        Lent {
            connection: Some(connection),
            answered: false,
        }
    }

    pub(super) async fn query(&mut self, command: &Cmd) -> RedisResult<Value> {
        let Some(connection) = &mut self.connection else {
            return Err(RedisError::from(std::io::Error::from(
                std::io::ErrorKind::NotConnected,
            )));
        };
        let answer = connection.query(command).await;
        self.answered = true;
        answer
    }

    /// Throws away a connection that broke, and those that nobody uses at the moment, which broke with it. True
    /// when it had been used before, so that a new one may do better.
    pub(super) fn drop_broken(mut self, pool: &Pool) -> bool {
        let Some(connection) = self.connection.take() else {
            return false;
        };
        let used_before = managed::Object::metrics(&connection).recycle_count > 0;
        drop(managed::Object::take(connection));
        pool.retain(|_, _| false);
        used_before
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take()
            && !self.answered
            && managed::Object::metrics(&connection).age() >= YOUNG
        {
            drop(managed::Object::take(connection));
        }
    }
}
