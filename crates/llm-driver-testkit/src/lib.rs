#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod answer;
mod clock;
mod demand;
mod difference;
mod expect;
mod faults;
pub mod fixture;
mod harness;
pub mod layer_suite;
mod log;
mod log_capture;
mod mutate;
mod options;
mod outside;
mod recorded;
mod report;
pub mod router_suite;
mod runtime;
mod scenario;
pub mod scripted;
pub mod server;
mod subject;
pub mod suite;

pub use answer::{Answer, End, Framing, Piece};
pub use clock::TestClock;
pub use demand::{demanding_messages, demanding_request, shown};
pub use expect::Expectation;
pub use fixture::Fixture;
pub use harness::{Endpoint, Harness};
pub use outside::outside_server;
pub use recorded::{Progress, RecordedRequest};
pub use scenario::{Finding, Outcome};
pub use scripted::{Exhausted, RecordedCall, Reply, ScriptedDriver, ScriptedTransport, Step};
pub use server::{Connections, FakeServer};
