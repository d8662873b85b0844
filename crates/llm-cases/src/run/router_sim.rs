//! A router: real drivers, each within the real layers, under the real engine and executor, on a fake clock.

mod expected;
mod fleet;
mod script;

use super::{Asked, ask_patiently, stream, told, unmet};
use crate::case::{Case, Fault};
use crate::form;
use crate::subject::{Subject, broken, on_fake_time, patiently};
use expected::{Call, Seen};
use fleet::Fleet;
use llm_core::Clock;
use script::{Script, Step};
use serde_json::Value;
use std::sync::Arc;
use tokio::task::JoinSet;

/// What is run here, for faults.
const WHAT: &str = "routers";

pub(super) fn supported(input: &Value) -> Result<(), Fault> {
    form::supported(input, WHAT)
}

pub(super) fn run(case: &Case) -> Result<Vec<String>, Fault> {
    let script = Script::read(&case.input)?;
    let ids: Vec<&str> = script.deployments.iter().map(|one| one.id.as_str()).collect();
    for (place, expected) in case.places() {
        expected::check(expected, &place, script.steps.len(), &ids)?;
    }
    let ways: &[(&str, bool)] = if script.streams() {
        &[("whole", false), ("byte by byte", true)]
    } else {
        &[("", false)]
    };
    let mut found = Vec::new();
    let mut first: Option<Seen> = None;
    for (way, bytewise) in ways {
        let seen = on_fake_time(play(&script, *bytewise))??;
        let mut lines = unmet(&case.outcomes, |expected| expected::differences(expected, &seen));
        lines.extend(seen.illegal());
        match &first {
            Some(first) => lines.extend(expected::ways_differ(first, &seen)),
            None => first = Some(seen),
        }
        found.extend(told(way, lines));
    }
    Ok(found)
}

/// All steps, one after the other, over one fleet.
async fn play(script: &Script, bytewise: bool) -> Result<Seen, Fault> {
    let fleet = Fleet::build(script, bytewise).map_err(|error| broken(&error))?;
    let start = fleet.clock.now();
    let mut steps = Vec::new();
    for step in &script.steps {
        if let Some(at) = step.at {
            let left = (start + at).saturating_duration_since(fleet.clock.now());
            tokio::time::sleep(left).await;
        }
        let before = fleet.sent().len();
        let calls = play_step(script, &fleet, step).await?;
        let sent = fleet.sent().split_off(before);
        steps.push((calls, sent));
    }
    Ok(Seen {
        steps,
        standing: fleet.standing(),
    })
}

async fn play_step(script: &Script, fleet: &Fleet, step: &Step) -> Result<Vec<Call>, Fault> {
    let router = fleet.router(script, step).map_err(|error| broken(&error))?;
    let streamed = script.stream || step.stream;
    let call = || {
        let subject = Subject::of(
            router.clone(),
            script.form,
            Arc::clone(&fleet.clock),
            step.deadline,
        );
        let (request, most) = (step.request.clone(), step.cancel_after_events);
        async move {
            if most.is_none() {
                return Call::of(ask_patiently(&subject, &request, streamed).await);
            }
            match patiently(stream::ask(&subject, &request, most)).await {
                Some(asked) => Call::of(asked),
                None => Call::of(Asked::new(crate::outcome::of_no_end(), subject.elapsed())),
            }
        }
    };
    let mut calls = Vec::new();
    if !step.at_once {
        for _ in 0..step.calls {
            calls.push(call().await);
        }
        return Ok(calls);
    }
    let mut running = JoinSet::new();
    for _ in 0..step.calls {
        running.spawn(call());
    }
    while let Some(joined) = running.join_next().await {
        match joined {
            Ok(call) => calls.push(call),
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
    Ok(calls)
}
