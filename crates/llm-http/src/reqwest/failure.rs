//! What reqwest's errors mean for us.

use llm_core::{Error, ErrorKind, Phase};
use std::time::Duration;

/// A request that got no answer. `host` is the host and port alone, which may be shown.
pub(super) fn send_failure(error: reqwest::Error, host: &str, connect_timeout: Duration) -> Error {
    if error.is_builder() {
        return setup_failure(
            error,
            "the request cannot be built; check the base URL and the headers",
        );
    }
    let (kind, phase, message) = if !error.is_connect() {
        let message = format!("the connection to {host} broke before an answer came");
        (ErrorKind::Connection, Phase::Sent, message)
    } else if error.is_timeout() {
        let message =
            format!("no connection to {host} within {connect_timeout:?}; check the base URL and the network");
        (ErrorKind::Timeout, Phase::NotSent, message)
    } else if error.is_dns() {
        let message =
            format!("the host name of {host} cannot be resolved; check the base URL and the network");
        (ErrorKind::Connection, Phase::NotSent, message)
    } else if is_tls(&error) {
        let message = format!(
            "no TLS with {host}; check that the base URL's scheme, host and port are right and its certificate trusted"
        );
        (ErrorKind::Connection, Phase::NotSent, message)
    } else {
        let message =
            format!("cannot connect to {host}; check that the base URL is right and the server runs");
        (ErrorKind::Connection, Phase::NotSent, message)
    };
    Error::new(kind, message)
        .with_phase(phase)
        .with_source(error.without_url())
}

/// A body that ended before its end.
pub(super) fn body_failure(error: reqwest::Error, host: &str) -> Error {
    let message = format!("the connection to {host} broke before the answer was complete");
    Error::new(ErrorKind::Connection, message)
        .with_phase(Phase::Sent)
        .with_source(error.without_url())
}

/// Settings that do not work. The error's own URL is left out: it may hold a password.
pub(super) fn setup_failure(error: reqwest::Error, message: &str) -> Error {
    Error::new(ErrorKind::Config, message).with_source(error.without_url())
}

#[cfg(feature = "rustls")]
fn is_tls(error: &reqwest::Error) -> bool {
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        if cause.is::<rustls::Error>() {
            return true;
        }
        // An I/O error hides what it wraps from `source`, and gives only that one's source.
        next = match cause
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref)
        {
            Some(wrapped) => Some(wrapped),
            None => cause.source(),
        };
    }
    false
}

#[cfg(not(feature = "rustls"))]
fn is_tls(_: &reqwest::Error) -> bool {
    false
}
