//! Reading a request's body: bounded in size and in time.

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, EXPECT};
use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt};
use llm_suite::core::{Error, ErrorKind, Result};
use std::time::Duration;
use tokio::time::timeout;

/// How much of a body that is too large is read and thrown away, so that its sender comes to read the answer. A
/// connection that is closed while its client still sends is reset, and the answer lost with it.
const THROWN_AWAY: usize = 64 * 1024 * 1024;

/// The body of a request.
///
/// # Errors
/// `InvalidRequest`, with status 413 for one that is larger than `cap` and 408 for one that takes longer than `limit`.
pub(super) async fn read(headers: &HeaderMap, body: Body, cap: usize, limit: Duration) -> Result<Bytes> {
    match timeout(limit, read_capped(headers, body, cap)).await {
        Ok(read) => read,
        Err(_) => {
            let seconds = limit.as_secs();
            let message =
                format!("the request's body did not come within {seconds} seconds (proxy.body_seconds)");
            Err(Error::new(ErrorKind::InvalidRequest, message).with_status(408))
        }
    }
}

async fn read_capped(headers: &HeaderMap, body: Body, cap: usize) -> Result<Bytes> {
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let mut pieces = body.into_data_stream();
    if announced.is_some_and(|length| length > cap as u64) {
        // who waits for a word before sending reads the answer first
        if !headers.contains_key(EXPECT) {
            throw_away(pieces).await;
        }
        return Err(too_large(cap));
    }
    let mut whole = BytesMut::new();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| {
            let message = "the request's body broke off or is not framed as HTTP wants it";
            Error::new(ErrorKind::InvalidRequest, message).with_source(error)
        })?;
        if whole.len() + piece.len() > cap {
            drop(whole);
            throw_away(pieces).await;
            return Err(too_large(cap));
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.freeze())
}

async fn throw_away(mut pieces: impl Stream<Item = std::result::Result<Bytes, axum::Error>> + Unpin) {
    let mut read = 0;
    while let Some(Ok(piece)) = pieces.next().await {
        read += piece.len();
        if read > THROWN_AWAY {
            return;
        }
    }
}

fn too_large(cap: usize) -> Error {
    let message = format!("the request is larger than {cap} bytes (proxy.max_body_bytes)");
    Error::new(ErrorKind::InvalidRequest, message).with_status(413)
}
