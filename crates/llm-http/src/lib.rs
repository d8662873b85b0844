#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

pub mod redact;
pub mod request;
pub mod transport;

pub use request::HttpRequest;
pub use transport::{Body, HttpResponse, Transport};
