//! What only all drivers together can show.

#![cfg(feature = "drivers")]
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

mod invoices;
