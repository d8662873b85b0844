//! What the daemon remembers: the log of calls and the decisions behind fallbacks, in SQLite.
//!
//! Writing never happens on the path of a request: rows go through a bounded queue to one writer thread
//! ([`Recorder`]). Nothing of a request's content is stored anywhere.

mod migrations;
mod record;
mod sqlite;
mod writer;

pub use record::{CallRow, DecisionRow, LogFilter, Outcome};
pub use sqlite::Store;
pub use writer::Recorder;
