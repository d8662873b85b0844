//! What the crate promises, through its public interface only.

#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

mod fleet;
mod promises;
mod readme;
mod record;
mod reference;
mod replay;
mod suite;
mod tour;
mod walk;
