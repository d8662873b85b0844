//! Error body → `Error`.

use super::dialect::Dialect;
use super::types::Answer;
use crate::failure::decode_failure;
use crate::lenient::Presence;
use llm_core::Error;

/// Reads a failure. `status` is the HTTP status, or `None` for an error inside a 200 (a body or a stream's event).
///
/// The kind comes from status and vendor's words together: a status decides, and exact names or well-known wordings
/// refine it where vendors put several meanings under one status (credit under 400, 403 and 429; context length and
/// filters under 400). A 413 stays `InvalidRequest` whatever the body says: it can never succeed unchanged.
///
/// The wait that the body asks for is put on the error; one of the headers comes before it.
pub fn decode_error(_dialect: &Dialect, status: Option<u16>, body: &[u8]) -> Error {
    decode_failure(status, body)
}

/// Is this document an error that stands alone, without an `error` key? (Mistral's `"object":"error"`, gateways'
/// `{"message"}` and `{"errors"}`, validators' `{"detail"}`.)
pub(super) fn is_lone_error(answer: &Answer<'_>) -> bool {
    answer.choices.is_none()
        && (answer.object.as_deref() == Some("error")
            || (answer.usage.is_none()
                && [&answer.message, &answer.detail, &answer.errors]
                    .into_iter()
                    .any(Presence::of)))
}

#[cfg(test)]
mod tests;
