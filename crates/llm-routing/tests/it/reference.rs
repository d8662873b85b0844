//! The rules of a plan, written a second time and in another way: from a table of words, over plain numbers,
//! without any of the crate's code.

use crate::fleet::{Asked, Ending, Point, Script};
use llm_core::{ErrorKind, ModelId, Phase, Scope, UnavailableReason};

/// Everything that decides how a call goes.
#[derive(Debug, Clone)]
pub(crate) struct Play {
    pub(crate) scripts: Vec<Script>,
    pub(crate) groups: Vec<u32>,
    pub(crate) named: Option<ModelId>,
    pub(crate) streamed: bool,
    pub(crate) deadline_ms: Option<u64>,
    pub(crate) content_filter_failover: bool,
}

/// Everything that can be seen of how it went.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    pub(crate) asked: Vec<Asked>,
    /// Candidate, its failure, its time; without a failure it served.
    pub(crate) log: Vec<(usize, Option<ErrorKind>, u64)>,
    /// Candidate, reason, time until it is back.
    pub(crate) skipped: Vec<(usize, UnavailableReason, Option<u64>)>,
    pub(crate) end: End,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum End {
    Served(usize),
    /// Served, but broken after the caller had content.
    Broken(usize, ErrorKind),
    Failed {
        kind: ErrorKind,
        scope: Scope,
        hint_ms: Option<u64>,
        phase: Phase,
        exhausted: bool,
    },
}

/// The verdict table: may another be asked, may it be retried.
pub(crate) const RULES: &str = "\
config                 stop    final
internal               stop    final
invalid_request        stop    final
unsupported            router  final
unknown_model          router  final
no_eligible_candidate  router  final
context_length         larger  final
content_filter         policy  final
not_found              next    final
auth                   next    final
permission             next    final
quota_exhausted        next    final
rate_limit             next    again
overloaded             next    again
server                 next    again
connection             next    again
timeout                next    again
deadline               stop    final
protocol               next    again
interrupted            next    again
rejected               next    final
cancelled              stop    final
";

fn rule(rules: &str, failure: &Failure) -> (String, bool) {
    let name = match (failure.kind, failure.scope) {
        (ErrorKind::Timeout, Scope::Request) => "deadline",
        (kind, _) => kind.as_str(),
    };
    let row = rules
        .lines()
        .find(|row| row.split(' ').next() == Some(name))
        .unwrap();
    let words: Vec<_> = row.split_whitespace().collect();
    (words[1].to_owned(), words[2] == "again")
}

#[derive(Debug, Clone)]
struct Failure {
    kind: ErrorKind,
    scope: Scope,
    hint_ms: Option<u64>,
    phase: Phase,
}

/// How this play must go by these rules.
pub(crate) fn expect(play: &Play, rules: &str) -> Seen {
    let mut plan: Vec<usize> = (0..play.scripts.len()).collect();
    plan.retain(|index| match (&play.named, &play.scripts[*index].model) {
        (Some(named), Some(own)) => named == own,
        _ => true,
    });
    plan.sort_by_key(|index| play.groups[*index]);
    let mut seen = Seen {
        asked: vec![],
        log: vec![],
        skipped: vec![],
        end: failed(
            ErrorKind::NoEligibleCandidate,
            Scope::Request,
            None,
            Phase::NotSent,
            false,
        ),
    };
    if plan.is_empty() {
        return seen;
    }
    let mut now = 0;
    let mut failures: Vec<Failure> = vec![];
    let mut too_small = 0;
    for (place, index) in plan.iter().copied().enumerate() {
        let script = &play.scripts[index];
        let fits = |script: &Script, too_small| script.window.is_none_or(|window| window > too_small);
        if !fits(script, too_small) {
            continue;
        }
        if play.deadline_ms.is_some_and(|deadline| now >= deadline) {
            let phase = furthest(&failures);
            seen.end = failed(ErrorKind::Timeout, Scope::Request, None, phase, false);
            return seen;
        }
        if let Some(closed) = script.closed.filter(|closed| closed.is_at(now)) {
            seen.skipped
                .push((index, closed.reason, closed.until.map(|until| until - now)));
            continue;
        }
        let open = |other: &&usize| {
            let other = &play.scripts[**other];
            fits(other, too_small) && !other.closed.is_some_and(|closed| closed.is_at(now))
        };
        seen.asked.push(Asked {
            index,
            model: script.model.clone().or(play.named.clone()),
            attempt: 1 + seen.log.len() as u32,
            may_queue: plan[place + 1..].iter().filter(open).count() == 0,
        });
        now += script.takes_ms;
        let commits = play.streamed && script.at == Point::AfterContent;
        let failure = match script.ending {
            Ending::Serves => {
                seen.log.push((index, None, script.takes_ms));
                seen.end = End::Served(index);
                return seen;
            }
            Ending::Fails {
                kind,
                scope,
                hint_ms,
                phase,
            } => Failure {
                kind,
                scope,
                hint_ms,
                phase: phase.min(Phase::Sent),
            },
            Ending::JustStops => Failure {
                kind: ErrorKind::Interrupted,
                scope: Scope::Vendor,
                hint_ms: None,
                phase: Phase::Sent,
            },
        };
        if commits {
            seen.log.push((index, None, script.takes_ms));
            seen.end = End::Broken(index, failure.kind);
            return seen;
        }
        seen.log.push((index, Some(failure.kind), script.takes_ms));
        let (other, _) = rule(rules, &failure);
        let goes_on = match other.as_str() {
            "next" => true,
            "router" => script.is_router,
            "policy" => play.content_filter_failover,
            "larger" => {
                if !script.is_router {
                    too_small = too_small.max(script.window.unwrap_or(0));
                }
                true
            }
            _ => false,
        };
        failures.push(failure.clone());
        if !goes_on {
            let phase = furthest(&failures);
            seen.end = failed(failure.kind, failure.scope, failure.hint_ms, phase, false);
            return seen;
        }
    }
    seen.end = over(&failures, &seen.skipped, rules);
    seen
}

fn over(failures: &[Failure], skipped: &[(usize, UnavailableReason, Option<u64>)], rules: &str) -> End {
    let phase = furthest(failures);
    let mut soonest: Option<&Failure> = None;
    for failure in failures {
        let (_, again) = rule(rules, failure);
        let ends = matches!(failure.kind, ErrorKind::Rejected | ErrorKind::QuotaExhausted);
        let again = again || (ends && failure.hint_ms.is_some());
        let wait = |failure: &Failure| failure.hint_ms.unwrap_or(0);
        if again && soonest.is_none_or(|best| wait(failure) <= wait(best)) {
            soonest = Some(failure);
        }
    }
    if let Some(telling) = soonest.or(failures.last()) {
        return failed(telling.kind, telling.scope, telling.hint_ms, phase, true);
    }
    let is_limit = |reason| matches!(reason, UnavailableReason::RateLimit | UnavailableReason::Quota);
    let earliest = skipped.iter().filter_map(|(_, _, back)| *back).min();
    let by_limit = match earliest {
        Some(earliest) => is_limit(
            skipped
                .iter()
                .find(|(_, _, back)| *back == Some(earliest))
                .unwrap()
                .1,
        ),
        None => skipped.iter().all(|(_, reason, _)| is_limit(*reason)),
    };
    if by_limit {
        failed(ErrorKind::RateLimit, Scope::Credential, earliest, phase, false)
    } else {
        failed(ErrorKind::Overloaded, Scope::Model, earliest, phase, false)
    }
}

fn failed(kind: ErrorKind, scope: Scope, hint_ms: Option<u64>, phase: Phase, exhausted: bool) -> End {
    End::Failed {
        kind,
        scope,
        hint_ms,
        phase,
        exhausted,
    }
}

fn furthest(failures: &[Failure]) -> Phase {
    failures
        .iter()
        .map(|failure| failure.phase)
        .max()
        .unwrap_or(Phase::NotSent)
}
