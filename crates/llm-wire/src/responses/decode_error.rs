//! Error body → `Error`.

use super::dialect::Dialect;
use crate::failure::decode_failure;
use llm_core::Error;
use serde_json::{Value, json};

/// Reads a failure. `status` is the HTTP status, or `None` for an error inside a 200: a body, the event `error`, or that
/// of a response that failed.
///
/// The kind comes from status and vendor's words together, as in every format; one inside a 200 has the kind that it
/// would have with a status of its own.
pub fn decode_error(_dialect: &Dialect, status: Option<u16>, body: &[u8]) -> Error {
    if status.is_none()
        && let Some(failure) = of_response(body)
    {
        return decode_failure(None, failure.to_string().as_bytes());
    }
    decode_failure(status, body)
}

/// What a failed response, or the event that holds one, says of the failure: all else in it is echo of the request.
fn of_response(body: &[u8]) -> Option<Value> {
    let document: Value = serde_json::from_slice(body).ok()?;
    let of_event = document.get("response").filter(|response| response.is_object());
    let response = of_event.unwrap_or(&document);
    let named = response.get("object").is_some_and(|object| object == "response");
    let is_response = named || of_event.is_some() || response.get("output").is_some();
    is_response.then(|| match response.get("error") {
        Some(error) if !error.is_null() => json!({ "error": error }),
        _ => json!({}),
    })
}

#[cfg(test)]
mod tests;
