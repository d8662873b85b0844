//! Refusals of a request, before anything is sent.

use llm_core::{Error, ErrorKind};

/// The request is at fault at this field.
pub(crate) fn invalid(field: &str, message: &str) -> Error {
    at(ErrorKind::InvalidRequest, field, message).with_code("invalid_value")
}

/// A field is not of the form it must have.
pub(crate) fn wrong_type(field: &str, expected: &str) -> Error {
    at(ErrorKind::InvalidRequest, field, &format!("must be {expected}")).with_code("invalid_type")
}

/// A field is missing.
pub(crate) fn missing(field: &str, expected: &str) -> Error {
    at(
        ErrorKind::InvalidRequest,
        field,
        &format!("is missing; give {expected}"),
    )
    .with_code("missing_required_parameter")
}

/// The request asks at this field for something that cannot be had here.
pub(crate) fn unsupported(field: &str, message: &str) -> Error {
    at(ErrorKind::Unsupported, field, message).with_code("unsupported_value")
}

fn at(kind: ErrorKind, field: &str, message: &str) -> Error {
    let mut error = Error::new(kind, format!("{field} {message}"));
    error.vendor_mut().param = Some(field.to_owned());
    error
}

trait WithCode {
    fn with_code(self, code: &str) -> Self;
}

impl WithCode for Error {
    fn with_code(mut self, code: &str) -> Self {
        self.vendor_mut().code = Some(code.to_owned());
        self
    }
}
