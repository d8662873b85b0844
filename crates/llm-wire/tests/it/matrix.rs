//! Every request form in, every format out: whatever a caller says in one form reaches a vendor of another, or it
//! is named as what cannot. One fact at a time, so that one loss cannot hide behind another's warning.

mod answers;
mod facts;
mod targets;
mod verdict;

use facts::{FACTS, Fact, Inbound};
use std::fmt::Write as _;
use targets::targets;
use verdict::{Verdict, verdict};

/// What became of each fact, one line each: `sent`, `refused`, `warned` or `kept back` (by a stated rule).
#[test]
fn no_fact_of_a_request_is_lost_on_the_way_to_any_format() {
    let mut table = String::new();
    let mut lost = Vec::new();
    for inbound in [Inbound::ChatCompletions, Inbound::Messages] {
        for fact in FACTS {
            let Some(body) = fact.body(inbound) else {
                continue;
            };
            let _ = writeln!(table, "{inbound:?}: {}", fact.name);
            for target in targets() {
                let verdict = verdict(inbound, &body, fact, &target);
                if let Verdict::Lost(body) = &verdict {
                    lost.push(format!("{inbound:?} -> {}: {} in {body}", target.name, fact.name));
                }
                let _ = writeln!(table, "  {:<12} {verdict}", target.name);
            }
        }
    }
    assert!(lost.is_empty(), "lost without a word:\n{}", lost.join("\n"));
    insta::assert_snapshot!("requests", table);
}

/// A fact that no form can say, or whose marks stand in the empty request, would prove nothing.
#[test]
fn every_fact_can_be_said_and_would_be_missed() {
    // that no tool is called holds for an empty request as well
    for fact in FACTS.iter().filter(|fact| fact.name != "no tool may be called") {
        let said = [Inbound::ChatCompletions, Inbound::Messages]
            .into_iter()
            .filter_map(|inbound| fact.body(inbound));
        assert!(said.count() > 0, "{}: no form says it", fact.name);
        for inbound in [Inbound::ChatCompletions, Inbound::Messages] {
            let empty = Fact::EMPTY.body(inbound).unwrap();
            for target in targets() {
                let decoded = inbound.decode(&empty).unwrap();
                let (body, _) = (target.encode)(&decoded.request).unwrap();
                assert!(
                    !fact.stands_in(&body),
                    "{}: {} without being asked",
                    target.name,
                    fact.name
                );
            }
        }
    }
}
