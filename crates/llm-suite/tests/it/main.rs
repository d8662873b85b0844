//! What only all drivers together can show.

#![cfg(feature = "drivers")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "what fails here fails a test")]

mod invoices;
