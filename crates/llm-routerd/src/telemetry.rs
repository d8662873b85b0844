//! Log lines to standard error, as text or as JSON.

mod lines;

use crate::config::{LogConfig, LogFormat, environment};
use lines::Lines;
use llm_suite::core::{Error, ErrorKind, Result};
use tracing_subscriber::EnvFilter;

/// Logging that was started. Dropped, it lets the last lines out.
#[derive(Debug)]
pub(crate) struct Telemetry(Lines);

impl Drop for Telemetry {
    fn drop(&mut self) {
        self.0.flush_for_good();
    }
}

/// Starts logging. `level` from the command line wins over `LLM_ROUTERD_LOG_LEVEL`, that over the file.
///
/// # Errors
/// `Config`, when a level is none.
pub(crate) fn start(config: &LogConfig, level: Option<&str>) -> Result<Telemetry> {
    let level = level
        .map(str::to_owned)
        .or_else(|| environment::variable("LLM_ROUTERD_LOG_LEVEL"));
    let level = level
        .or_else(|| config.level.clone())
        .unwrap_or_else(|| "info".to_owned());
    if level.parse::<tracing::Level>().is_err() {
        let message = format!("the log level {level:?} is none; give error, warn, info, debug or trace");
        return Err(Error::new(ErrorKind::Config, message));
    }
    let json = match environment::variable("LLM_ROUTERD_LOG_FORMAT").as_deref() {
        Some("json") => true,
        Some("text") => false,
        Some(_) => {
            return Err(Error::new(
                ErrorKind::Config,
                "LLM_ROUTERD_LOG_FORMAT is neither text nor json",
            ));
        }
        None => config.format == LogFormat::Json,
    };
    // Other people's crates speak at warn: at debug they would show addresses and headers.
    let directives =
        format!("warn,llm_routerd={level},llm={level},llm_routing={level},llm_resilience={level}");
    let filter = EnvFilter::try_new(directives).map_err(|error| {
        Error::new(ErrorKind::Internal, "the log filter cannot be made").with_source(error)
    })?;
    let queue = Lines::to(std::io::stderr()).map_err(|error| {
        Error::new(ErrorKind::Internal, "the log's writer thread cannot be started").with_source(error)
    })?;
    let writer = queue.clone();
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(move || writer.clone())
        // it would report a closed standard error there, and panic over it in the middle of a call
        .log_internal_errors(false)
        .with_target(true);
    // A second start in one process (tests) keeps the first.
    if json {
        lines.json().try_init().ok()
    } else {
        lines.try_init().ok()
    };
    Ok(Telemetry(queue))
}
