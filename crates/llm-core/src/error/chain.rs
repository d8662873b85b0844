//! Printing an error together with what caused it.

use std::error::Error as StdError;
use std::fmt;

/// Prints an error and all its sources on one line, `a: b: c`.
///
/// [`Error`](crate::Error)'s own `Display` never prints its source, so that a log line that uses both
/// does not say everything twice.
///
/// ```
/// use llm_core::{Chain, Error, ErrorKind};
/// let broken = std::io::Error::other("pipe closed");
/// let error = Error::new(ErrorKind::Connection, "cannot reach the server").with_source(broken);
/// assert_eq!(error.to_string(), "connection: cannot reach the server");
/// assert_eq!(Chain(&error).to_string(), "connection: cannot reach the server: pipe closed");
/// ```
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a plain wrapper; callers write Chain(&error)"
)]
pub struct Chain<'a>(pub &'a (dyn StdError + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut next = self.0.source();
        while let Some(error) = next {
            write!(f, ": {error}")?;
            next = error.source();
        }
        Ok(())
    }
}
