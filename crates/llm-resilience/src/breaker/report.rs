//! What an error counts for and what it shuts, read from the verdict table of `llm-core`.

use super::config::BreakerPolicy;
use super::decision::{BreakerScope, Report};
use super::rules::whole_ms;
use super::state::{Outcome, Reason, Shut};
use llm_core::error::verdict::Closes;
use llm_core::{Error, ErrorKind, Scope};
use std::time::Duration;

/// The places of the scopes in [`BreakerScope::ALL`].
const VENDOR: usize = BreakerScope::Vendor as usize;
const CREDENTIAL: usize = BreakerScope::Credential as usize;
const MODEL: usize = BreakerScope::Model as usize;
const PAIR: usize = BreakerScope::CredentialAndModel as usize;

impl Report {
    /// The call came to its good end. Where only a rare failure ever counts, it is noted only if there was one.
    pub(super) fn of_success() -> Report {
        let mut report = Report::default();
        report.outcomes[VENDOR] = Outcome::Success;
        report.outcomes[CREDENTIAL] = Outcome::Relief;
        report.outcomes[MODEL] = Outcome::Success;
        report.outcomes[PAIR] = Outcome::Relief;
        report
    }

    /// The call failed, or its stream did.
    pub(super) fn of_error(policy: &BreakerPolicy, error: &Error) -> Report {
        if policy.cool_down {
            return Report::of_error_in_cool_down(policy, error);
        }
        let mut report = Report::default();
        let verdict = error.verdict();
        if verdict.counts {
            match error.scope() {
                // A vendor's failure was met at a model: one model that always fails opens by itself, before the
                // others' successes let the vendor seem half well.
                Scope::Vendor => {
                    report.outcomes[VENDOR] = Outcome::Failure;
                    report.outcomes[MODEL] = Outcome::Failure;
                }
                Scope::Model => report.outcomes[MODEL] = Outcome::Failure,
                Scope::Credential if policy.credentials => report.outcomes[CREDENTIAL] = Outcome::Failure,
                // The table counts nothing that is about one request only.
                _ => {}
            }
        }
        let for_hint = |reason| hint(policy, error).map(|hint| shut(hint, reason, false));
        match verdict.closes {
            Closes::Model => report.shuts[MODEL] = Some(shut(policy.longest_shut, Reason::Model, false)),
            Closes::ModelForHint => report.shuts[MODEL] = for_hint(Reason::Health),
            Closes::Credential => {
                report.shuts[CREDENTIAL] = Some(shut(policy.longest_shut, Reason::Credential, false));
            }
            Closes::CredentialUntilReset => {
                let growing = || shut(policy.quota_shut, Reason::Quota, true);
                report.shuts[CREDENTIAL] = Some(for_hint(Reason::Quota).unwrap_or_else(growing));
            }
            Closes::CredentialAndModelForHint => report.shuts[PAIR] = for_hint(Reason::RateLimit),
            _ => {}
        }
        if !policy.credentials {
            report.shuts[CREDENTIAL] = None;
            report.shuts[PAIR] = None;
        }
        report
    }

    /// Whatever failed, and was no caller's fault, counts at the model: also that a limit was reached, if that is what
    /// the status says. (402 says it too, but of the caller's account.)
    fn of_error_in_cool_down(policy: &BreakerPolicy, error: &Error) -> Report {
        let mut report = Report::default();
        let reason = match error.kind() {
            ErrorKind::RateLimit => Reason::RateLimit,
            ErrorKind::QuotaExhausted if error.vendor().status == Some(429) => Reason::Quota,
            _ if error.verdict().counts => Reason::Health,
            _ => return report,
        };
        report.outcomes[MODEL] = Outcome::Failure;
        let time = hint(policy, error).unwrap_or(policy.open);
        report.shuts[MODEL] = Some(shut(time, reason, false));
        report
    }

    /// Does it change nothing but that a probe's place is free again?
    pub(super) fn says_nothing(&self) -> bool {
        *self == Report::default()
    }
}

/// For how long the vendor wants to be left alone. A hint of nothing is none: it would neither shut nor open anything.
fn hint(policy: &BreakerPolicy, error: &Error) -> Option<Duration> {
    error.retry_after().filter(|hint| policy.hints && !hint.is_zero())
}

fn shut(duration: Duration, reason: Reason, growing: bool) -> Shut {
    Shut {
        ms: whole_ms(duration),
        reason,
        growing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_core::VendorFacts;

    const HINT: Duration = Duration::from_secs(7);

    fn row(error: &Error, policy: &BreakerPolicy) -> String {
        let report = Report::of_error(policy, error);
        let mut words = Vec::new();
        for (index, scope) in BreakerScope::ALL.into_iter().enumerate() {
            if report.outcomes[index] == Outcome::Failure {
                words.push(format!("{} fails", scope.as_str()));
            }
            if let Some(shut) = report.shuts[index] {
                let grows = if shut.growing { ", growing" } else { "" };
                words.push(format!("{} {} s{grows}", scope.as_str(), shut.ms / 1000));
            }
        }
        words.join("; ")
    }

    /// The two columns of the table, as they come out: a changed cell must fail here.
    #[test]
    fn every_kind_counts_and_shuts_what_the_table_says() {
        let policy = BreakerPolicy::default();
        let mut found = String::new();
        for kind in ErrorKind::ALL {
            let bare = row(&Error::new(kind, "x"), &policy);
            let hinted = row(&Error::new(kind, "x").with_retry_after(HINT), &policy);
            let hinted = if hinted == bare { String::new() } else { hinted };
            found += &format!("{kind}: {bare} | {hinted}\n");
        }
        let expected = "\
config:  | 
internal:  | 
invalid_request:  | 
unsupported:  | 
unknown_model:  | 
no_eligible_candidate:  | 
context_length:  | 
content_filter:  | 
not_found: model 86400 s | 
auth: credential 86400 s | 
permission: credential 86400 s | 
quota_exhausted: credential 600 s, growing | credential 7 s
rate_limit:  | credential_and_model 7 s
overloaded: model fails | model fails; model 7 s
server: vendor fails; model fails | 
connection: vendor fails; model fails | 
timeout: vendor fails; model fails | 
protocol: vendor fails; model fails | 
interrupted: vendor fails; model fails | 
rejected:  | 
cancelled:  | 
";
        assert_eq!(found, expected);
        let deadline = Error::deadline("x").with_retry_after(HINT);
        assert_eq!(row(&deadline, &policy), "");
    }

    #[test]
    fn a_key_pool_looks_after_credentials_itself() {
        let policy = BreakerPolicy::default().without_credentials();
        for kind in [
            ErrorKind::Auth,
            ErrorKind::Permission,
            ErrorKind::QuotaExhausted,
            ErrorKind::RateLimit,
        ] {
            let error = Error::new(kind, "x").with_retry_after(HINT);
            assert!(Report::of_error(&policy, &error).says_nothing(), "{kind}");
        }
    }

    #[test]
    fn without_hints_their_time_is_nobodys() {
        let policy = BreakerPolicy::default().without_hints();
        for (kind, expected) in [
            (ErrorKind::RateLimit, ""),
            (ErrorKind::Overloaded, "model fails"),
            (ErrorKind::QuotaExhausted, "credential 600 s, growing"),
        ] {
            let error = Error::new(kind, "x").with_retry_after(HINT);
            assert_eq!(row(&error, &policy), expected, "{kind}");
        }
    }

    #[test]
    fn a_cool_down_counts_what_is_no_callers_fault_at_the_model_alone() {
        let policy = BreakerPolicy::cool_down(1, Duration::from_secs(60));
        for kind in ErrorKind::ALL {
            let error = Error::new(kind, "x");
            let counts = kind == ErrorKind::RateLimit || error.verdict().counts;
            let expected = if counts { "model fails; model 60 s" } else { "" };
            assert_eq!(row(&error, &policy), expected, "{kind}");
            let expected = if counts { "model fails; model 7 s" } else { "" };
            assert_eq!(row(&error.with_retry_after(HINT), &policy), expected, "{kind}");
        }
        let used_up = |status| {
            let mut facts = VendorFacts::default();
            facts.status = Some(status);
            Error::new(ErrorKind::QuotaExhausted, "x").with_vendor(facts)
        };
        assert_eq!(row(&used_up(402), &policy), "");
        assert_eq!(row(&used_up(429), &policy), "model fails; model 60 s");
    }

    #[test]
    fn a_hint_of_nothing_is_none() {
        let error = Error::new(ErrorKind::Overloaded, "x").with_retry_after(Duration::ZERO);
        assert_eq!(row(&error, &BreakerPolicy::default()), "model fails");
    }
}
