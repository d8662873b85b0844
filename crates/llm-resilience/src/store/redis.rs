//! State on a Redis server or cluster: start with [`RedisLink`].

mod config;
mod failure;
mod key_value;
mod pool;
mod script;

use crate::clock::within;
use crate::store::{StoreError, StoreErrorKind};
use deadpool::managed::PoolError;
use deadpool_redis::redis::{Cmd, RedisError, Value};
use llm_core::Result as CoreResult;
use pool::{Lent, Pool};
use std::fmt;
use std::time::Duration;

pub use config::RedisConfig;
pub use key_value::RedisKeyValueStore;
pub use script::{Reply, Script, ScriptCall};

/// The way to one Redis server or cluster, for every layer that keeps something there. Cheap to clone; clones
/// share their connections.
///
/// Connects when it is first needed, and again when it has to: after a restart, when a replica has taken over, when
/// a key has moved. Every call ends by itself: it waits for a connection up to the connect timeout, for its answer
/// up to the command timeout, for both together in all, and never longer than the caller has time.
///
/// ```no_run
/// use llm_resilience::store::redis::{RedisConfig, RedisLink, Script};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let link = RedisLink::new(RedisConfig::single("redis://localhost"))?;
/// // Keep the script, in a `LazyLock` for example.
/// let count = Script::new("return {redis.call('INCRBY', KEYS[1], ARGV[1]), server_now(), run_id()}");
/// let reply = link.run(count.on(link.key("visits", "somebody")).integer(2), None).await?;
/// println!("{} at {} on {}", reply.integer(0)?, reply.integer(1)?, reply.text(2)?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RedisLink {
    pool: Pool,
    prefix: String,
    connect_timeout: Duration,
    command_timeout: Duration,
}

impl RedisLink {
    /// A link by this configuration. Nothing is sent yet.
    ///
    /// # Errors
    /// `Config`, when the configuration cannot work.
    pub fn new(config: RedisConfig) -> CoreResult<Self> {
        config.check()?;
        Ok(RedisLink {
            pool: pool::build(&config)?,
            prefix: config.prefix,
            connect_timeout: config.connect_timeout,
            command_timeout: config.command_timeout,
        })
    }

    /// The key of `id` in a space (`rate_limit`, `breaker`, …): `llm_router:rate_limit:{id}`. Keys of one id,
    /// whatever their space, live in one slot of a cluster, so a script can take several.
    pub fn key(&self, space: &str, id: &str) -> String {
        let mut key = format!("{}{space}:{{", self.prefix);
        for character in id.chars() {
            match character {
                // Only what is between the first brace and the next decides the slot.
                '{' => key.push_str("%7B"),
                '}' => key.push_str("%7D"),
                '%' => key.push_str("%25"),
                other => key.push(other),
            }
        }
        // Without anything between them, the whole key would decide.
        if id.is_empty() {
            key.push('%');
        }
        key.push('}');
        key
    }

    /// Runs a script: one round trip, two for the first time that a server sees it.
    ///
    /// `time_left` is what the call it is for has left (`CallContext::remaining`); `None` for no limit but the
    /// configured ones.
    ///
    /// # Errors
    /// Any [`StoreErrorKind`] but `TooLarge`. After `Timeout` and `Unreachable` the script may have run.
    pub async fn run(&self, call: ScriptCall<'_>, time_left: Option<Duration>) -> Result<Reply, StoreError> {
        self.bounded(time_left, self.run_on_some_connection(&call))
            .await
            .map(Reply::new)
    }

    /// Sends a plain command, under the same rules.
    async fn send(&self, command: Cmd, time_left: Option<Duration>) -> Result<Value, StoreError> {
        self.bounded(time_left, self.query(&command, false))
            .await
            .and_then(|answer| answer.map_err(|error| failure::of(&error)))
    }

    async fn run_on_some_connection(&self, call: &ScriptCall<'_>) -> Result<Value, StoreError> {
        match self.query(&call.by_hash(), call.is_once()).await? {
            Err(error) if script::is_unknown_script(&error) => {
                self.query(&call.by_source(), call.is_once()).await?
            }
            answer => answer,
        }
        .map_err(|error| failure::of(&error))
    }

    /// The server's answer, an error of its own included, on a kept connection or a new one.
    async fn query(&self, command: &Cmd, once: bool) -> Result<Result<Value, RedisError>, StoreError> {
        loop {
            let mut connection = self.connection().await?;
            match within(self.command_timeout, connection.query(command)).await {
                None => return Err(timed_out("no answer", self.command_timeout)),
                Some(Err(error)) if failure::is_broken(&error) => {
                    // What was kept has died in the meantime; a new connection tells whether the server has, too.
                    if !connection.drop_broken(&self.pool) || once {
                        return Err(failure::of(&error));
                    }
                }
                Some(answer) => return Ok(answer),
            }
        }
    }

    async fn connection(&self) -> Result<Lent, StoreError> {
        match within(self.connect_timeout, self.pool.get()).await {
            Some(Ok(connection)) => Ok(Lent::new(connection)),
            Some(Err(PoolError::Backend(error))) => Err(failure::of(&error)),
            Some(Err(_)) => {
                let message = "redis: the pool of connections is closed";
                Err(StoreError::new(StoreErrorKind::Unreachable, message))
            }
            None => Err(timed_out("no connection", self.connect_timeout)),
        }
    }

    async fn bounded<T>(
        &self,
        time_left: Option<Duration>,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let ours = self.connect_timeout + self.command_timeout;
        let limit = time_left.map_or(ours, |left| left.min(ours));
        if limit.is_zero() {
            return Err(timed_out("not asked", limit));
        }
        within(limit, work)
            .await
            .unwrap_or_else(|| Err(timed_out("no answer", limit)))
    }
}

fn timed_out(what: &str, limit: Duration) -> StoreError {
    let message = format!("redis: {what} within {} ms", limit.as_millis());
    StoreError::new(StoreErrorKind::Timeout, message)
}

impl fmt::Debug for RedisLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisLink")
            .field("prefix", &self.prefix)
            .field("connect_timeout", &self.connect_timeout)
            .field("command_timeout", &self.command_timeout)
            .field("pool", self.pool.manager())
            .finish()
    }
}
