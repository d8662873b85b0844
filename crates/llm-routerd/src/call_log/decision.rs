//! Decisions, kept with what came of them.

use crate::config::RecordDecisions;
use crate::store::DecisionRow;
use llm_suite::core::{Attempt, Skip};
use llm_suite::routing::{DecisionRecord, RoutingDecision};
use serde_json::{Value, json};
use std::sync::Arc;

/// What was decided for a request.
#[derive(Debug)]
pub(crate) enum Decided {
    /// Whom to ask.
    Plan(Arc<RoutingDecision>),
    /// That nobody can do what it needs.
    Refusal(DecisionRecord),
}

impl Decided {
    fn record(&self) -> &DecisionRecord {
        match self {
            Decided::Plan(decision) => decision.record(),
            Decided::Refusal(record) => record,
        }
    }
}

/// A decision and what came of it.
#[derive(Debug)]
pub(crate) struct KeptDecision {
    pub(crate) request_id: String,
    pub(crate) ts: i64,
    pub(crate) decided: Decided,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) skipped: Vec<Skip>,
}

impl KeptDecision {
    /// As it stands in the store.
    pub(super) fn row(&self) -> DecisionRow {
        DecisionRow {
            ts: self.ts,
            request_id: self.request_id.clone(),
            decision: decision_json(self.decided.record()),
            attempts: json!(self.attempts),
            skipped: json!(self.skipped),
        }
    }

    /// As it is shown.
    pub(crate) fn to_json(&self) -> Value {
        shown(&self.row(), self.decided.record())
    }
}

/// A decision of the store as it is shown: as one that is still in memory.
pub(crate) fn stored_json(row: &DecisionRow) -> Value {
    match serde_json::from_value::<DecisionRecord>(row.decision.clone()) {
        Ok(record) => shown(row, &record),
        // of another version: its own words must do
        Err(_) => json!(row),
    }
}

fn shown(row: &DecisionRow, record: &DecisionRecord) -> Value {
    let mut shown = json!(row);
    shown["explanation"] = Value::from(record.explain());
    shown
}

/// Is it kept in the store?
pub(super) fn is_wanted(record: RecordDecisions, fell_back: bool) -> bool {
    match record {
        RecordDecisions::All => true,
        RecordDecisions::Fallbacks => fell_back,
        RecordDecisions::Off => false,
    }
}

fn decision_json(record: &DecisionRecord) -> Value {
    serde_json::to_value(record).unwrap_or_else(|error| json!({ "error": error.to_string() }))
}
