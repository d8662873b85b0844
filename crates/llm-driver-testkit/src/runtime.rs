//! One runtime and one thread for each scenario, with a watchdog.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Longer than any scenario takes, in real time, on a machine that has much else to do. What waits without tokio's
/// clock is found by it.
const WATCHDOG: Duration = Duration::from_secs(600);

/// Runs a scenario on a thread and a runtime of its own; a panic is a finding like any other.
pub(crate) fn run_alone<T, F>(
    paused: bool,
    scenario: impl FnOnce() -> F + Send + 'static,
) -> Result<T, String>
where
    T: Send + 'static,
    F: Future<Output = Result<T, String>>,
{
    let (sender, receiver) = channel();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(paused)
            .build()
            .map_err(|error| format!("no runtime: {error}"))?;
        let finding = runtime.block_on(async { scenario().await });
        let _ = sender.send(());
        finding
    });
    match receiver.recv_timeout(WATCHDOG) {
        Err(RecvTimeoutError::Timeout) => {
            return Err(format!(
                "it did not end within {WATCHDOG:?}: something waits without tokio's clock"
            ));
        }
        // Disconnected: the thread ended without a word, by a panic or without a runtime.
        Ok(()) | Err(RecvTimeoutError::Disconnected) => {}
    }
    thread.join().unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(format!("it panicked: {}", words.unwrap_or_default()))
    })
}
