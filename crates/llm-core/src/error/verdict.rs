//! The verdict table: what should happen after a failure. The one place where it is decided.
//!
//! Layers and routers may narrow a verdict by policy; none may widen it.

use super::kind::{ErrorKind, Scope};

/// May the same candidate be asked again with the same request?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SameCandidate {
    /// It would fail again.
    No,
    /// Once more, no oftener.
    Once,
    /// After a backoff.
    Backoff,
    /// After the vendor's hint, else after a backoff.
    AfterHint,
    /// After a backoff, and only while no content was seen.
    BeforeCommit,
}

/// May another candidate be asked?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OtherCandidate {
    /// It would fail there too.
    No,
    /// Yes.
    Yes,
    /// Yes, and somebody should be told: our own set-up is at fault.
    YesWithAlarm,
    /// Only one with a larger context window.
    LargerWindow,
    /// Only if the policy allows it.
    IfPolicyAllows,
    /// Only while no content was seen.
    BeforeCommit,
    /// Only if the failing candidate is itself a router: its verdict is about its own candidates.
    IfFromRouter,
}

/// What a failure closes, and what for. Where several apply, the later end wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Closes {
    /// Nothing; a breaker counts on its own.
    Nothing,
    /// The model, until a refresh.
    Model,
    /// The model, for the vendor's hint.
    ModelForHint,
    /// The credential, until a reload or a reset.
    Credential,
    /// The credential, until its reset, else ten minutes and growing.
    CredentialUntilReset,
    /// The credential together with the model, for the vendor's hint.
    CredentialAndModelForHint,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Verdict {
    /// The same candidate again?
    pub same: SameCandidate,
    /// Another candidate?
    pub other: OtherCandidate,
    /// Does it count against the health of what was called?
    pub counts: bool,
    /// What it closes.
    pub closes: Closes,
    /// The HTTP status that a server face answers by default.
    pub status: u16,
}

impl Verdict {
    /// The row for a kind and a scope.
    ///
    /// `Timeout` is the one kind whose row depends on the scope: a limit of ours or of the vendor's
    /// ([`Scope::Vendor`], or any but `Request`) may be retried, the caller's deadline may not.
    /// `Rejected` answers 429 here; [`Error::status`](crate::Error::status) turns it into 503 where a
    /// breaker or a bulkhead said it.
    pub fn of(kind: ErrorKind, scope: Scope) -> Verdict {
        use Closes as C;
        use ErrorKind as K;
        use OtherCandidate as O;
        use SameCandidate as S;
        match (kind, scope) {
            (K::Config | K::Internal, _) => row(S::No, O::No, false, C::Nothing, 500),
            (K::InvalidRequest, _) => row(S::No, O::No, false, C::Nothing, 400),
            (K::Unsupported | K::UnknownModel, _) => row(S::No, O::IfFromRouter, false, C::Nothing, 400),
            (K::NoEligibleCandidate, _) => row(S::No, O::IfFromRouter, false, C::Nothing, 422),
            (K::ContextLength, _) => row(S::No, O::LargerWindow, false, C::Nothing, 400),
            (K::ContentFilter, _) => row(S::No, O::IfPolicyAllows, false, C::Nothing, 400),
            (K::NotFound, _) => row(S::No, O::Yes, false, C::Model, 404),
            (K::Auth | K::Permission, _) => row(S::No, O::YesWithAlarm, false, C::Credential, 502),
            (K::QuotaExhausted, _) => row(S::No, O::Yes, false, C::CredentialUntilReset, 429),
            (K::RateLimit, _) => row(S::AfterHint, O::Yes, false, C::CredentialAndModelForHint, 429),
            (K::Overloaded, _) => row(S::AfterHint, O::Yes, true, C::ModelForHint, 503),
            (K::Server | K::Connection, _) => row(S::Backoff, O::Yes, true, C::Nothing, 502),
            (K::Timeout, Scope::Request) => row(S::No, O::No, false, C::Nothing, 504),
            (K::Timeout, Scope::Model | Scope::Credential | Scope::Vendor) => {
                row(S::Backoff, O::Yes, true, C::Nothing, 504)
            }
            (K::Protocol, _) => row(S::Once, O::Yes, true, C::Nothing, 502),
            (K::Interrupted, _) => row(S::BeforeCommit, O::BeforeCommit, true, C::Nothing, 502),
            (K::Rejected, _) => row(S::No, O::Yes, false, C::Nothing, 429),
            (K::Cancelled, _) => row(S::No, O::No, false, C::Nothing, 499),
        }
    }

    /// The row with the vendor's own word on whether trying again makes sense (`x-should-retry`), for a failure of this
    /// kind. It knows better than its status: `false` forbids to ask the same candidate again, `true` allows it after a
    /// backoff where a status alone would not. It cannot allow what no answer can change: a request that is too long,
    /// was filtered or cannot be paid for, and what ended on our side or the caller's.
    #[must_use]
    pub fn told(mut self, kind: ErrorKind, should_retry: Option<bool>) -> Verdict {
        use ErrorKind as K;
        let of_a_status = matches!(
            kind,
            K::InvalidRequest | K::Unsupported | K::NotFound | K::Auth | K::Permission
        );
        match should_retry {
            Some(false) => self.same = SameCandidate::No,
            Some(true) if of_a_status => self.same = SameCandidate::Backoff,
            Some(true) | None => {}
        }
        self
    }

    /// May the same request succeed later at the same place? (Whether to retry *automatically* also
    /// depends on the commit point.)
    pub fn retryable(&self) -> bool {
        self.same != SameCandidate::No
    }
}

fn row(same: SameCandidate, other: OtherCandidate, counts: bool, closes: Closes, status: u16) -> Verdict {
    Verdict {
        same,
        other,
        counts,
        closes,
        status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the architecture, written a second time as text: a changed cell must fail here.
    #[test]
    fn table_is_the_decided_one() {
        let mut table = String::new();
        for kind in ErrorKind::ALL {
            let scopes: &[Scope] = if kind == ErrorKind::Timeout {
                &[Scope::Vendor, Scope::Request]
            } else {
                &[kind.default_scope()]
            };
            for scope in scopes {
                let v = Verdict::of(kind, *scope);
                table += &format!(
                    "{kind} {scope:?}: {:?} {:?} {} {:?} {}\n",
                    v.same, v.other, v.counts, v.closes, v.status
                );
            }
        }
        let expected = "\
config Request: No No false Nothing 500
internal Request: No No false Nothing 500
invalid_request Request: No No false Nothing 400
unsupported Request: No IfFromRouter false Nothing 400
unknown_model Request: No IfFromRouter false Nothing 400
no_eligible_candidate Request: No IfFromRouter false Nothing 422
context_length Request: No LargerWindow false Nothing 400
content_filter Request: No IfPolicyAllows false Nothing 400
not_found Model: No Yes false Model 404
auth Credential: No YesWithAlarm false Credential 502
permission Credential: No YesWithAlarm false Credential 502
quota_exhausted Credential: No Yes false CredentialUntilReset 429
rate_limit Credential: AfterHint Yes false CredentialAndModelForHint 429
overloaded Model: AfterHint Yes true ModelForHint 503
server Vendor: Backoff Yes true Nothing 502
connection Vendor: Backoff Yes true Nothing 502
timeout Vendor: Backoff Yes true Nothing 504
timeout Request: No No false Nothing 504
protocol Vendor: Once Yes true Nothing 502
interrupted Vendor: BeforeCommit BeforeCommit true Nothing 502
rejected Request: No Yes false Nothing 429
cancelled Request: No No false Nothing 499
";
        assert_eq!(table, expected);
    }

    /// The page of the reference, made from the table: when it is stale, this prints what it must be.
    #[test]
    fn the_page_of_the_reference_is_this_table() {
        let mut page = String::from(
            "<!-- a test of llm-core compares this page with the verdict table; do not edit -->\n\n# Kinds of errors\n\n\
             What each kind means for what happens next: the table in `llm-core`'s `error::verdict`. Layers and routers may narrow\n\
             a verdict; none may widen it. The status is a server face's default.\n\n\
             The vendor's own word (`x-should-retry`) goes before the column on the same candidate: `false` is no,\n\
             `true` is after a backoff for `invalid_request`, `unsupported`, `not_found`, `auth` and `permission`, and\n\
             changes nothing for other kinds.\n\n\
             | kind | says something about | same candidate again | other candidate | counts against health | closes | status |\n\
             |---|---|---|---|---|---|---|\n",
        );
        for kind in ErrorKind::ALL {
            let scopes: &[Scope] = if kind == ErrorKind::Timeout {
                &[Scope::Vendor, Scope::Request]
            } else {
                &[kind.default_scope()]
            };
            for scope in scopes {
                let verdict = Verdict::of(kind, *scope);
                let same = match verdict.same {
                    SameCandidate::No => "no",
                    SameCandidate::Once => "once",
                    SameCandidate::Backoff => "after a backoff",
                    SameCandidate::AfterHint => "after the hint, else a backoff",
                    SameCandidate::BeforeCommit => "before the first content",
                };
                let other = match verdict.other {
                    OtherCandidate::No => "no",
                    OtherCandidate::Yes => "yes",
                    OtherCandidate::YesWithAlarm => "yes, with an alarm",
                    OtherCandidate::LargerWindow => "with a larger window",
                    OtherCandidate::IfPolicyAllows => "if the policy allows it",
                    OtherCandidate::BeforeCommit => "before the first content",
                    OtherCandidate::IfFromRouter => "only after a router",
                };
                let closes = match verdict.closes {
                    Closes::Nothing => "–",
                    Closes::Model => "the model",
                    Closes::ModelForHint => "the model, for the hint",
                    Closes::Credential => "the credential",
                    Closes::CredentialUntilReset => "the credential, until its reset",
                    Closes::CredentialAndModelForHint => "the credential with the model, for the hint",
                };
                let counts = if verdict.counts { "yes" } else { "no" };
                page += &format!(
                    "| `{kind}` | the {} | {same} | {other} | {counts} | {closes} | {} |\n",
                    format!("{scope:?}").to_lowercase(),
                    verdict.status
                );
            }
        }
        assert_eq!(
            include_str!("../../../../docs/reference/errors.md"),
            page,
            "it must be:\n{page}"
        );
    }

    #[test]
    fn the_vendors_word_changes_only_whether_the_same_is_asked_again() {
        let allowed = "invalid_request unsupported not_found auth permission";
        for kind in ErrorKind::ALL {
            let row = Verdict::of(kind, kind.default_scope());
            let told = |word| row.told(kind, word);
            assert_eq!(told(None), row, "{kind}");
            let never = Verdict {
                same: SameCandidate::No,
                ..row
            };
            assert_eq!(told(Some(false)), never, "{kind}");
            let again = Verdict {
                same: SameCandidate::Backoff,
                ..row
            };
            let is_allowed = allowed.split(' ').any(|word| word == kind.as_str());
            assert_eq!(told(Some(true)), if is_allowed { again } else { row }, "{kind}");
        }
    }

    #[test]
    fn only_the_scope_of_a_timeout_changes_its_row() {
        for kind in ErrorKind::ALL {
            let rows: Vec<_> = [Scope::Request, Scope::Model, Scope::Credential, Scope::Vendor]
                .into_iter()
                .map(|scope| Verdict::of(kind, scope))
                .collect();
            let same = rows.windows(2).all(|pair| pair[0] == pair[1]);
            assert_eq!(same, kind != ErrorKind::Timeout, "{kind}");
        }
    }
}
