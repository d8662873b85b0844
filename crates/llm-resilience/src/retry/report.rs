//! What the retry layer says in the log. Never content, never a vendor's words: only kinds, numbers and ids.

use super::{GiveUpReason, Retry};
use crate::millis;
use crate::policy::Target;
use llm_core::{CallContext, Error, ModelId};
use std::time::Duration;

impl Retry {
    pub(super) fn log_retry(
        &self,
        cx: &CallContext,
        target: &Target<'_>,
        error: &Error,
        attempt: u32,
        wait: Duration,
    ) {
        tracing::info!(
            attempt,
            kind = error.kind().as_str(),
            status = error.vendor().status,
            wait_ms = millis::of(wait),
            request_id = cx.request_id(),
            vendor_request_id = error.vendor().request_id.as_deref(),
            driver = target.driver.id.as_str(),
            model = target.model.map(ModelId::as_str),
            stream = target.streamed,
            "retrying"
        );
    }

    pub(super) fn log_giving_up(
        &self,
        cx: &CallContext,
        target: &Target<'_>,
        error: &Error,
        attempt: u32,
        reason: GiveUpReason,
    ) {
        // A failure that no retry can help is the caller's to report; one that a retry might have helped says
        // something about the vendor or about this policy.
        macro_rules! event {
            ($level:ident) => {
                tracing::$level!(
                    attempt,
                    kind = error.kind().as_str(),
                    status = error.vendor().status,
                    reason = reason.as_str(),
                    retry_after_ms = error.retry_after().map(millis::of),
                    request_id = cx.request_id(),
                    vendor_request_id = error.vendor().request_id.as_deref(),
                    driver = target.driver.id.as_str(),
                    model = target.model.map(ModelId::as_str),
                    stream = target.streamed,
                    "giving up"
                )
            };
        }
        match reason {
            GiveUpReason::Committed | GiveUpReason::Exhausted | GiveUpReason::Verdict => event!(debug),
            GiveUpReason::Once
            | GiveUpReason::NotReplayable
            | GiveUpReason::Attempts
            | GiveUpReason::HintTooLong
            | GiveUpReason::TotalTime
            | GiveUpReason::Deadline
            | GiveUpReason::Budget => event!(warn),
        }
    }
}
