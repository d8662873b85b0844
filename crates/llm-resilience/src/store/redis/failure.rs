//! What went wrong between us and Redis, in the words of this crate.

use crate::store::{StoreError, StoreErrorKind};
use deadpool_redis::redis::{ErrorKind, RedisError, ServerErrorKind};

/// The longest piece of a server's own words that goes into a message.
const LONGEST_DETAIL: usize = 200;

pub(super) fn of(error: &RedisError) -> StoreError {
    StoreError::new(kind(error), describe(error))
}

fn kind(error: &RedisError) -> StoreErrorKind {
    match error.kind() {
        ErrorKind::AuthenticationFailed
        | ErrorKind::InvalidClientConfig
        | ErrorKind::Server(ServerErrorKind::NoPerm) => StoreErrorKind::Refused,
        ErrorKind::Io if error.is_timeout() => StoreErrorKind::Timeout,
        ErrorKind::Io | ErrorKind::ClusterConnectionNotFound => StoreErrorKind::Unreachable,
        ErrorKind::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::Moved
            | ServerErrorKind::Ask
            | ServerErrorKind::TryAgain
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ReadOnly,
        ) => StoreErrorKind::Unreachable,
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => StoreErrorKind::Corrupt,
        _ => match error.code() {
            Some("NOAUTH" | "WRONGPASS") => StoreErrorKind::Refused,
            Some("WRONGTYPE") => StoreErrorKind::WrongType,
            // Busy with another script, or cut off from its replicas.
            Some("BUSY" | "NOREPLICAS") => StoreErrorKind::Unreachable,
            _ => StoreErrorKind::Script,
        },
    }
}

/// The error in a few words: never an address, which may hold a password.
pub(super) fn describe(error: &RedisError) -> String {
    let mut text = match error.code() {
        Some(code) => format!("redis says {code}"),
        None => format!("redis: {}", error.category()),
    };
    // Addresses stand in the details of connection errors only; a server's own words say what is wrong.
    if matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Extension)
        && let Some(detail) = error.detail()
    {
        text.push_str(": ");
        text.extend(detail.chars().take(LONGEST_DETAIL));
    }
    text
}

/// Did the connection break, so that a new one may do better?
pub(super) fn is_broken(error: &RedisError) -> bool {
    error.is_connection_dropped()
}
