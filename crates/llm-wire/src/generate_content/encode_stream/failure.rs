//! Failures as the vendor says them: a status in numbers, the same as a word, a message.

use crate::json_text::write_json;
use llm_core::{Error, ErrorKind};
use serde::Serialize;

/// Writes a failure. Failures of our own access to a vendor are none of the caller's: they are the server's fault
/// here, and so are failures of our own set-up.
pub(super) fn write_failure(error: &Error, out: &mut Vec<u8>) {
    let code = match error.kind() {
        ErrorKind::UnknownModel => 404,
        ErrorKind::Auth | ErrorKind::Permission => 500,
        _ => error.status(),
    };
    let message = match error.kind() {
        ErrorKind::Auth | ErrorKind::Permission => {
            "the service's own access to the model was refused; tell who runs it"
        }
        ErrorKind::Config | ErrorKind::Internal => "the service is at fault; tell who runs it",
        _ => error.message(),
    };
    let failure = Failure {
        error: Body {
            code,
            message,
            status: word_of_status(code),
        },
    };
    write_json(&failure, out);
}

#[derive(Serialize)]
struct Failure<'a> {
    error: Body<'a>,
}

#[derive(Serialize)]
struct Body<'a> {
    code: u16,
    message: &'a str,
    status: &'static str,
}

fn word_of_status(code: u16) -> &'static str {
    match code {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        409 => "ABORTED",
        429 => "RESOURCE_EXHAUSTED",
        499 => "CANCELLED",
        501 => "UNIMPLEMENTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        400..=498 => "INVALID_ARGUMENT",
        _ => "INTERNAL",
    }
}
