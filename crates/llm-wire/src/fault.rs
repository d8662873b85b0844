//! Refusals of a request, before anything is sent.

use llm_core::{Error, ErrorKind};
use std::fmt::{self, Display};

/// The request is at fault at this field.
pub(crate) fn invalid(field: impl Display, message: &str) -> Error {
    at(ErrorKind::InvalidRequest, field, message).with_code("invalid_value")
}

/// A field is not of the form it must have.
pub(crate) fn wrong_type(field: impl Display, expected: &str) -> Error {
    at(ErrorKind::InvalidRequest, field, &format!("must be {expected}")).with_code("invalid_type")
}

/// A field is missing.
pub(crate) fn missing(field: impl Display, expected: &str) -> Error {
    at(
        ErrorKind::InvalidRequest,
        field,
        &format!("is missing; give {expected}"),
    )
    .with_code("missing_required_parameter")
}

/// The request asks at this field for something that cannot be had here.
pub(crate) fn unsupported(field: impl Display, message: &str) -> Error {
    at(ErrorKind::Unsupported, field, message).with_code("unsupported_value")
}

fn at(kind: ErrorKind, field: impl Display, message: &str) -> Error {
    let field = field.to_string();
    let mut error = Error::new(kind, format!("{field} {message}"));
    error.vendor_mut().param = Some(field);
    error
}

/// Where in the messages of a request a part stands. Nearly all that is looked at is at no fault: it is written out only
/// when somebody is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartPath {
    message: usize,
    part: usize,
    /// In the content of that part, a tool's result.
    inner: Option<usize>,
}

impl PartPath {
    pub(crate) fn of(message: usize, part: usize) -> Self {
        PartPath {
            message,
            part,
            inner: None,
        }
    }

    /// A part of the content of the tool's result that stands here.
    pub(crate) fn inner(self, part: usize) -> Self {
        PartPath {
            inner: Some(part),
            ..self
        }
    }
}

impl Display for PartPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "messages[{}].content[{}]", self.message, self.part)?;
        match self.inner {
            Some(inner) => write!(f, ".content[{inner}]"),
            None => Ok(()),
        }
    }
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
