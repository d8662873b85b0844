//! The schema, step by step. A step is never changed once it was released; a new one is added.

use rusqlite::{Connection, Result, Transaction};

/// The steps, in order. `PRAGMA user_version` counts those that were taken.
const STEPS: &[&str] = &["
    CREATE TABLE call_log (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        ts INTEGER NOT NULL,
        backend_id TEXT,
        tier_alias TEXT,
        chain_position INTEGER NOT NULL DEFAULT 0,
        outcome TEXT NOT NULL,
        error_type TEXT,
        prompt_tokens_est INTEGER,
        completion_tokens_est INTEGER,
        latency_ms INTEGER NOT NULL DEFAULT 0,
        cost_usd_est REAL,
        model TEXT,
        score REAL,
        request_id TEXT NOT NULL,
        rate_limit_type TEXT,
        utilization REAL,
        fallback_count INTEGER NOT NULL DEFAULT 0,
        tools_present INTEGER NOT NULL DEFAULT 0,
        vendor_status INTEGER
    );
    CREATE INDEX call_log_ts ON call_log (ts);
    CREATE INDEX call_log_backend_ts ON call_log (backend_id, ts);
    CREATE INDEX call_log_request ON call_log (request_id);
    CREATE INDEX call_log_model_ts ON call_log (model, ts);
    CREATE TABLE decisions (
        request_id TEXT PRIMARY KEY,
        ts INTEGER NOT NULL,
        decision TEXT NOT NULL,
        attempts TEXT NOT NULL,
        skipped TEXT NOT NULL
    );
    CREATE INDEX decisions_ts ON decisions (ts);
"];

/// Takes the steps that are missing. Each is whole or not at all.
pub(super) fn migrate(connection: &mut Connection) -> Result<()> {
    let taken: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    for (number, step) in STEPS.iter().enumerate().skip(taken as usize) {
        let transaction: Transaction<'_> = connection.transaction()?;
        transaction.execute_batch(step)?;
        transaction.execute_batch(&format!("PRAGMA user_version = {}", number + 1))?;
        transaction.commit()?;
    }
    Ok(())
}

/// The version this program knows. A file of a newer one is not touched.
pub(super) fn newest() -> u32 {
    u32::try_from(STEPS.len()).unwrap_or(u32::MAX)
}
