//! The rows of the store.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One row of `call_log`: an attempt that failed and let the next one be asked, or the end of a request.
///
/// The columns are those of the daemon's specification (1.13). Names that end in `_est` held estimates in older
/// daemons; here they hold what the vendor reported, and are absent where nobody did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallRow {
    /// When, in milliseconds since 1970.
    pub ts: i64,
    /// The backend that was asked; absent: none was.
    pub backend_id: Option<String>,
    /// The entry of the chain it belongs to; the whole chain joined by commas where none served.
    pub tier_alias: Option<String>,
    /// The entry's place in the chain, from 0.
    pub chain_position: i64,
    /// How it ended.
    pub outcome: Outcome,
    /// The kind of the error, for what failed; `shutdown` where the daemon itself cut the call.
    pub error_type: Option<String>,
    /// Tokens that went in.
    pub prompt_tokens_est: Option<i64>,
    /// Tokens that came out.
    pub completion_tokens_est: Option<i64>,
    /// How long it took: until the answer, or a stream's first content.
    pub latency_ms: i64,
    /// What it cost in dollars; absent: unknown.
    pub cost_usd_est: Option<f64>,
    /// The model that was asked for.
    pub model: Option<String>,
    /// The score that chose it; absent where nothing is scored.
    pub score: Option<f64>,
    /// The id of the request, the same for all its rows.
    pub request_id: String,
    /// Which limit was hit, where the vendor says.
    pub rate_limit_type: Option<String>,
    /// How full a quota is, where the vendor says.
    pub utilization: Option<f64>,
    /// How many attempts failed before.
    pub fallback_count: i64,
    /// Did the request offer tools?
    pub tools_present: bool,
    /// The HTTP status the vendor answered; absent: none, or not known.
    pub vendor_status: Option<i64>,
}

/// How an attempt or a request ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// It served the answer.
    #[default]
    Pass,
    /// It failed in a way that let the next one be asked, whether or not there was one.
    Fallback,
    /// Every candidate failed or was skipped.
    Degraded,
    /// The answer failed after its first content had reached the caller, or was cut because the daemon stopped.
    Interrupted,
    /// The request was at fault, or failed in a way that no other backend could mend.
    Failed,
    /// The caller went away, or stopped reading.
    Cancelled,
    /// The caller's or the daemon's deadline passed.
    RequestDeadline,
    /// No backend of the chain can do what the request needs.
    Refused,
}

impl Outcome {
    /// The word in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Pass => "pass",
            Outcome::Fallback => "fallback",
            Outcome::Degraded => "degraded",
            Outcome::Interrupted => "interrupted",
            Outcome::Failed => "failed",
            Outcome::Cancelled => "cancelled",
            Outcome::RequestDeadline => "request_deadline",
            Outcome::Refused => "refused",
        }
    }

    /// The outcome of a word; an unknown one reads as a failure.
    pub fn parse(word: &str) -> Self {
        let all = [
            Outcome::Pass,
            Outcome::Fallback,
            Outcome::Degraded,
            Outcome::Interrupted,
            Outcome::Cancelled,
            Outcome::RequestDeadline,
            Outcome::Refused,
        ];
        all.into_iter()
            .find(|outcome| outcome.as_str() == word)
            .unwrap_or(Outcome::Failed)
    }
}

/// The decision behind a request, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DecisionRow {
    /// When, in milliseconds since 1970.
    pub ts: i64,
    /// The id of the request.
    pub request_id: String,
    /// The decision, in its stable JSON form.
    pub decision: Value,
    /// What was tried, in order.
    pub attempts: Value,
    /// What was skipped.
    pub skipped: Value,
}

/// Which rows of the log are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogFilter {
    /// Only of this backend.
    pub backend: Option<String>,
    /// Only of this request.
    pub request_id: Option<String>,
    /// From this moment on, in milliseconds since 1970.
    pub from: Option<i64>,
    /// Before this moment.
    pub to: Option<i64>,
    /// At most so many, the newest first.
    pub limit: u32,
}
