//! Error body → `Error`.

use super::dialect::Dialect;
use crate::failure::decode_failure;
use llm_core::Error;

/// Reads a failure. `status` is the HTTP status, or `None` for an error inside a 200 (a body or a stream's event).
///
/// The kind comes from status and vendor's words together: a status decides, and exact names (the `error_code` among
/// the details before the `type`) or well-known wordings refine it where several meanings share a status: a prompt that
/// is too long, filtered content and a spend limit that the customer set are 400 like any bad request, a spent budget
/// is 429 like any limit. A 413 stays `InvalidRequest` whatever the body says: it can never succeed unchanged.
///
/// The wait that the body asks for is put on the error; one of the headers comes before it.
pub fn decode_error(_dialect: &Dialect, status: Option<u16>, body: &[u8]) -> Error {
    decode_failure(status, body)
}

#[cfg(test)]
mod tests;
