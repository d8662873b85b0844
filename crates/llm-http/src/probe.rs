//! Is the vendor there? A probe by a cheap GET, which costs no tokens.

use crate::api::VendorApi;
use llm_core::{CallContext, Error, ErrorKind, HealthStatus};
use std::time::Duration;

/// How long a probe may take.
const PROBE_TIME: Duration = Duration::from_secs(4);

impl VendorApi {
    /// Asks for this path with the credential, such as the list of models: an answer of 200 within four seconds is
    /// health. For [`ChatDriver::health`](llm_core::ChatDriver::health).
    ///
    /// # Cancellation
    /// Dropping the future closes the exchange.
    pub async fn probe(&self, cx: &CallContext, path: &str) -> HealthStatus {
        let clock = cx.clock();
        let cx = cx.clone().with_timeout(PROBE_TIME);
        let began = clock.now();
        let probe = async {
            let exchange = self.ask(&cx, path).await?;
            let status = exchange.status();
            if status == 200 {
                // Read, so that the connection can be used again; what it says does not matter.
                exchange.read().await?;
            }
            Ok::<_, Error>(status)
        };
        let outcome = probe.await;
        let latency = clock.now().saturating_duration_since(began);
        let checked_at = clock.wall();
        match outcome {
            Ok(200) => HealthStatus::healthy(checked_at, latency),
            Ok(status) => {
                let message = format!("{path} was answered with status {status}");
                HealthStatus::unhealthy(checked_at, message).with_latency(latency)
            }
            Err(error) if error.kind() == ErrorKind::Timeout => {
                let message = format!("{path} was not answered in time");
                HealthStatus::unhealthy(checked_at, message).with_latency(latency)
            }
            Err(error) => HealthStatus::unhealthy(checked_at, error.message()).with_latency(latency),
        }
    }
}
