//! The SQLite file.

use super::migrations;
use super::record::{CallRow, DecisionRow, LogFilter, Outcome};
use llm_suite::core::{Error, ErrorKind, Result};
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// One connection to the store. The writer has one, each reader opens its own: with a write-ahead log they do not
/// wait for each other.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens the file, makes it if it is missing, and brings its schema up to date.
    ///
    /// # Errors
    /// `Config`, saying what to do: the folder cannot be made, the file is no database, it was written by a newer
    /// daemon, or the write-ahead log cannot be had (a network file system, for example).
    pub fn open(path: &Path) -> Result<Store> {
        let fault = |what: &str, error: &dyn std::fmt::Display| {
            let advice = "check storage.db_path and the rights of its folder";
            Error::new(
                ErrorKind::Config,
                format!("{what} {}: {error}; {advice}", path.display()),
            )
        };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| fault("cannot make the folder of", &error))?;
        }
        make_private(path).map_err(|error| fault("cannot make", &error))?;
        let mut connection = Connection::open(path).map_err(|error| fault("cannot open", &error))?;
        prepare(&mut connection).map_err(|error| fault("cannot prepare", &error))?;
        Ok(Store {
            connection,
            path: path.to_owned(),
        })
    }

    /// Another connection to the same file.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn reopen(&self) -> Result<Store> {
        Store::open(&self.path)
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds rows, all or none.
    pub(super) fn add(&mut self, calls: &[CallRow], decisions: &[DecisionRow]) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        for row in calls {
            let sql = "INSERT INTO call_log (ts, backend_id, tier_alias, chain_position, outcome, error_type, \
                       prompt_tokens_est, completion_tokens_est, latency_ms, cost_usd_est, model, score, request_id, \
                       rate_limit_type, utilization, fallback_count, tools_present, vendor_status) \
                       VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18)";
            transaction.prepare_cached(sql)?.execute(params![
                row.ts,
                row.backend_id,
                row.tier_alias,
                row.chain_position,
                row.outcome.as_str(),
                row.error_type,
                row.prompt_tokens_est,
                row.completion_tokens_est,
                row.latency_ms,
                row.cost_usd_est,
                row.model,
                row.score,
                row.request_id,
                row.rate_limit_type,
                row.utilization,
                row.fallback_count,
                row.tools_present,
                row.vendor_status,
            ])?;
        }
        for row in decisions {
            let sql = "INSERT OR REPLACE INTO decisions (request_id, ts, decision, attempts, skipped) \
                       VALUES (?1,?2,?3,?4,?5)";
            transaction.prepare_cached(sql)?.execute(params![
                row.request_id,
                row.ts,
                row.decision.to_string(),
                row.attempts.to_string(),
                row.skipped.to_string(),
            ])?;
        }
        transaction.commit()
    }

    /// Rows of the call log, the newest first.
    ///
    /// # Errors
    /// `Internal`, when the store cannot be read.
    pub fn calls(&self, filter: &LogFilter) -> Result<Vec<CallRow>> {
        let mut sql = "SELECT ts, backend_id, tier_alias, chain_position, outcome, error_type, prompt_tokens_est, \
                       completion_tokens_est, latency_ms, cost_usd_est, model, score, request_id, rate_limit_type, \
                       utilization, fallback_count, tools_present, vendor_status FROM call_log WHERE 1"
            .to_owned();
        let mut values: Vec<Box<dyn rusqlite::ToSql>> = Vec::new();
        let mut narrow = |condition: &str, value: Option<Box<dyn rusqlite::ToSql>>| {
            if let Some(value) = value {
                values.push(value);
                sql.push_str(&format!(" AND {condition} ?{}", values.len()));
            }
        };
        narrow(
            "backend_id =",
            filter.backend.clone().map(|value| Box::new(value) as _),
        );
        narrow(
            "request_id =",
            filter.request_id.clone().map(|value| Box::new(value) as _),
        );
        narrow("ts >=", filter.from.map(|value| Box::new(value) as _));
        narrow("ts <", filter.to.map(|value| Box::new(value) as _));
        values.push(Box::new(filter.limit));
        sql.push_str(&format!(" ORDER BY ts DESC, id DESC LIMIT ?{}", values.len()));
        let read = || -> rusqlite::Result<Vec<CallRow>> {
            let mut statement = self.connection.prepare(&sql)?;
            statement
                .query_map(params_from_iter(values.iter()), call_row)?
                .collect()
        };
        read().map_err(unreadable)
    }

    /// The decision behind a request, if it was kept.
    ///
    /// # Errors
    /// `Internal`, when the store cannot be read.
    pub fn decision(&self, request_id: &str) -> Result<Option<DecisionRow>> {
        let sql = "SELECT ts, request_id, decision, attempts, skipped FROM decisions WHERE request_id = ?1";
        self.connection
            .query_row(sql, [request_id], decision_row)
            .optional()
            .map_err(unreadable)
    }
}

fn call_row(row: &Row<'_>) -> rusqlite::Result<CallRow> {
    Ok(CallRow {
        ts: row.get(0)?,
        backend_id: row.get(1)?,
        tier_alias: row.get(2)?,
        chain_position: row.get(3)?,
        outcome: Outcome::parse(&row.get::<_, String>(4)?),
        error_type: row.get(5)?,
        prompt_tokens_est: row.get(6)?,
        completion_tokens_est: row.get(7)?,
        latency_ms: row.get(8)?,
        cost_usd_est: row.get(9)?,
        model: row.get(10)?,
        score: row.get(11)?,
        request_id: row.get(12)?,
        rate_limit_type: row.get(13)?,
        utilization: row.get(14)?,
        fallback_count: row.get(15)?,
        tools_present: row.get(16)?,
        vendor_status: row.get(17)?,
    })
}

fn decision_row(row: &Row<'_>) -> rusqlite::Result<DecisionRow> {
    // A value that does not parse reads as null: a broken row must not hide the others.
    let json = |text: String| serde_json::from_str(&text).unwrap_or_default();
    Ok(DecisionRow {
        ts: row.get(0)?,
        request_id: row.get(1)?,
        decision: json(row.get(2)?),
        attempts: json(row.get(3)?),
        skipped: json(row.get(4)?),
    })
}

fn prepare(connection: &mut Connection) -> std::result::Result<(), Box<dyn std::error::Error>> {
    connection.busy_timeout(Duration::from_secs(5))?;
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if !mode.eq_ignore_ascii_case("wal") {
        return Err(format!("the write-ahead log is not to be had here (journal mode {mode})").into());
    }
    connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;")?;
    let version: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version > migrations::newest() {
        return Err("it was written by a newer llm-routerd".into());
    }
    migrations::migrate(connection)?;
    Ok(())
}

/// Makes the file, readable for its owner only, before SQLite makes it readable for all.
fn make_private(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

fn unreadable(error: rusqlite::Error) -> Error {
    Error::new(ErrorKind::Internal, "the store cannot be read").with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ts: i64, backend: &str, request: &str) -> CallRow {
        CallRow {
            ts,
            backend_id: Some(backend.into()),
            request_id: request.into(),
            ..CallRow::default()
        }
    }

    #[test]
    fn rows_come_back_as_they_went_in_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("deep/state.db")).unwrap();
        let full = CallRow {
            outcome: Outcome::Fallback,
            error_type: Some("rate_limit".into()),
            prompt_tokens_est: Some(7),
            cost_usd_est: Some(0.25),
            tools_present: true,
            vendor_status: Some(429),
            ..row(2, "a", "r1")
        };
        store
            .add(&[row(1, "b", "r0"), full.clone(), row(3, "b", "r1")], &[])
            .unwrap();
        let all = store
            .reopen()
            .unwrap()
            .calls(&LogFilter {
                limit: 10,
                ..LogFilter::default()
            })
            .unwrap();
        assert_eq!(all.iter().map(|row| row.ts).collect::<Vec<_>>(), [3, 2, 1]);
        assert_eq!(all[1], full);
        let of_request = LogFilter {
            request_id: Some("r1".into()),
            limit: 10,
            ..LogFilter::default()
        };
        assert_eq!(store.calls(&of_request).unwrap().len(), 2);
        let of_backend = LogFilter {
            backend: Some("b".into()),
            from: Some(2),
            to: Some(4),
            limit: 10,
            ..LogFilter::default()
        };
        assert_eq!(store.calls(&of_backend).unwrap().len(), 1);
    }

    #[test]
    fn a_decision_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("state.db")).unwrap();
        let decision = DecisionRow {
            ts: 1,
            request_id: "r1".into(),
            decision: serde_json::json!({"selected": "a"}),
            attempts: serde_json::json!([]),
            skipped: serde_json::json!([]),
        };
        store.add(&[], std::slice::from_ref(&decision)).unwrap();
        assert_eq!(store.decision("r1").unwrap(), Some(decision));
        assert_eq!(store.decision("r2").unwrap(), None);
    }

    #[test]
    fn a_file_of_a_newer_daemon_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        drop(Store::open(&path).unwrap());
        Connection::open(&path)
            .unwrap()
            .execute_batch("PRAGMA user_version = 999")
            .unwrap();
        assert!(Store::open(&path).unwrap_err().message().contains("newer"));
    }

    #[test]
    fn what_is_no_database_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        std::fs::write(
            &path,
            "this is a text, long enough to be taken for a page of a database? no",
        )
        .unwrap();
        assert_eq!(Store::open(&path).unwrap_err().kind(), ErrorKind::Config);
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_private_and_the_log_is_on() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let store = Store::open(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0);
        let mode: String = store
            .connection
            .query_row("PRAGMA journal_mode", [], |row| row.get(0))
            .unwrap();
        assert_eq!(mode, "wal");
    }
}
