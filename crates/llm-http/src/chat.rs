//! One chat call over HTTP, from the request to the last event: everything that is the same whichever vendor is
//! asked.
//!
//! A driver says which model serves the request and how it is written for this vendor ([`EncodedChat`]: the HTTP
//! request and the [`ChatCodec`](llm_core::ChatCodec) that reads its answer); [`ChatCall`] does the rest. See the
//! crate's page for what a driver writes.

mod answer;
mod call;
mod cost;
mod events;
mod form;
mod reading;

pub use call::{ChatCall, EncodedChat};
