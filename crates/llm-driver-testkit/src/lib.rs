#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod answer;
mod clock;
mod deadline;
mod faults;
mod log;
mod recorded;
pub mod scripted;
pub mod server;

pub use answer::{Answer, End, Framing, Piece};
pub use clock::TestClock;
pub use recorded::{Progress, RecordedRequest};
pub use scripted::{Exhausted, RecordedCall, Reply, ScriptedDriver, ScriptedTransport, Step};
pub use server::{Connections, FakeServer};
