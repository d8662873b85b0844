//! What a caller is told when nobody is left.

use super::log::{Failure, asked_nobody};
use llm_core::{Error, ErrorKind, Skip};
use std::time::Duration;

/// The error of a plan that came to its end.
pub(super) fn of(failures: &[Failure<'_>], skipped: &[Skip]) -> Error {
    let tried = |failure: &Failure<'_>| !asked_nobody(failure.planned, &failure.error);
    match telling(failures) {
        Some(failure) if failures.iter().any(tried) => exhausted(failure, failures, skipped),
        _ => all_skipped(skipped),
    }
}

/// The failure that may be retried soonest (when its hint says, without a hint at once; of several, the last), else the
/// last. A refused turn and a quota end too, when their hint says.
fn telling<'f, 'p>(failures: &'f [Failure<'p>]) -> Option<&'f Failure<'p>> {
    let soonest = failures.iter().rev().filter_map(|failure| {
        let error = &failure.error;
        let wait = match error.kind() {
            ErrorKind::Rejected | ErrorKind::QuotaExhausted => error.retry_after()?,
            _ if error.retryable() => error.retry_after().unwrap_or_default(),
            _ => return None,
        };
        Some((wait, failure))
    });
    soonest
        .min_by_key(|(wait, _)| *wait)
        .map(|(_, failure)| failure)
        .or(failures.last())
}

/// Kind, scope, hint and facts of the failure that tells most, marked so that an outer retry does not
/// multiply the attempts.
fn exhausted(failure: &Failure<'_>, failures: &[Failure<'_>], skipped: &[Skip]) -> Error {
    let mut message = format!(
        "no candidate of the plan is left; {}: {}",
        name(failure),
        failure.error.message()
    );
    let others = failures.iter().filter(|other| !std::ptr::eq(*other, failure));
    let others: Vec<_> = others
        .map(|other| format!("{}: {}", name(other), other.error.kind()))
        .chain(
            skipped
                .iter()
                .map(|skip| format!("{}: skipped, {}", skip.candidate, why(skip))),
        )
        .collect();
    if !others.is_empty() {
        message = format!("{message} (also {})", others.join("; "));
    }
    failure.error.clone().with_message(message).with_exhausted()
}

fn name(failure: &Failure<'_>) -> String {
    match failure.planned.model_for_log() {
        Some(model) => format!("{} ({model})", failure.planned.id()),
        None => format!("{} (default model)", failure.planned.id()),
    }
}

fn why(skip: &Skip) -> String {
    match skip.available_in_ms {
        Some(left) => format!("{} for {left} ms", skip.reason.as_str()),
        None => skip.reason.as_str().to_owned(),
    }
}

/// `RateLimit` where limits closed them all, `Overloaded` where health did; of both sorts, the one that ends
/// first decides. Not marked exhausted: nothing was tried, and coming back at the hint is right.
fn all_skipped(skipped: &[Skip]) -> Error {
    let first = skipped
        .iter()
        .filter(|skip| skip.available_in_ms.is_some())
        .min_by_key(|skip| skip.available_in_ms);
    let by_limit = match first {
        Some(first) => first.reason.is_limit(),
        None => skipped.iter().all(|skip| skip.reason.is_limit()),
    };
    let kind = if by_limit {
        ErrorKind::RateLimit
    } else {
        ErrorKind::Overloaded
    };
    let all: Vec<_> = skipped
        .iter()
        .map(|skip| format!("{} ({})", skip.candidate, why(skip)))
        .collect();
    let message = format!(
        "no candidate is available now, come back later: {}",
        all.join(", ")
    );
    let hint = first
        .and_then(|first| first.available_in_ms)
        .map(Duration::from_millis);
    Error::new(kind, message).with_retry_after(hint)
}
