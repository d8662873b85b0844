//! A recorded decision is made again: by the same policy to the same end, by another one to another.

use crate::fleet::{Closed, REFUSED, Script, Time, cast};
use llm_core::price::Rates;
use llm_core::{CallContext, ChatRequest, Clock, ModelId, Price, QuotaView, UnavailableReason, Usage};
use llm_routing::{CallMode, Candidate, DecisionRecord, Metrics, RoutingEngine, RoutingPolicy, Strategy};
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug)]
struct Ledger;

impl QuotaView for Ledger {
    fn exhausted(&self, candidate: &str) -> Option<bool> {
        Some(candidate == "c3")
    }
    fn remaining_ratio(&self, candidate: &str) -> Option<f64> {
        (candidate != "c2").then_some(0.5)
    }
}

/// Candidates with prices and windows of all sorts, and figures of all sorts.
fn fleet(time: &Arc<Time>, prices: &[Option<u64>], latencies: &[u64]) -> (Vec<Candidate>, Metrics) {
    let script = |(place, _): (usize, _)| Script {
        model: match place % 5 {
            1 | 4 => Some(ModelId::new("own").unwrap()),
            3 => Some(ModelId::new(REFUSED).unwrap()),
            _ => None,
        },
        closed: (place % 4 == 2).then_some(Closed {
            reason: UnavailableReason::RateLimit,
            from: 0,
            until: Some(9_000),
        }),
        ..Script::serving(Some(8_000))
    };
    let scripts: Vec<_> = prices.iter().enumerate().map(script).collect();
    let metrics = Metrics::new();
    let candidates = cast(&scripts, time, &Arc::default())
        .into_iter()
        .zip(prices)
        .enumerate()
        .map(|(place, (candidate, price))| {
            let candidate = candidate.with_group(u32::from(place >= 4)).with_tag("eu");
            let candidate = if place == 1 {
                candidate.with_name("the second")
            } else {
                candidate
            };
            match price {
                Some(price) => candidate.with_price(Price::new(Rates::usd(*price, *price))),
                None => candidate,
            }
        })
        .collect();
    for (place, latency) in latencies.iter().enumerate() {
        let start = time.now();
        let end = start + Duration::from_millis(*latency);
        let call = metrics.begin(&format!("c{place}"), start);
        call.succeeded(end, end, &Usage::new(*latency, 1), None);
    }
    (candidates, metrics)
}

fn strategies() -> Vec<Strategy> {
    Strategy::ALL
        .into_iter()
        .filter(|one| *one != Strategy::RoundRobin)
        .collect()
}

fn policy(strategy: Strategy) -> RoutingPolicy {
    strategy.policy(&json!({})).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_policy_decides_the_same_and_survives_json(
        prices in prop::collection::vec(prop::option::of(0..90_000_000_000u64), 1..7),
        latencies in prop::collection::vec(1..60_000u64, 0..7),
        strategy in prop::sample::select(strategies()),
        long in any::<bool>(),
        named in prop::option::of(prop::sample::select(vec!["own", "other", REFUSED])),
        seed in any::<u64>(),
    ) {
        let time = Time::new();
        let (candidates, metrics) = fleet(&time, &prices, &latencies);
        let engine = RoutingEngine::new(policy(strategy))
            .with_metrics(metrics)
            .with_quota(Arc::new(Ledger))
            .with_seed(seed)
            .with_recorded_inputs(true);
        let text = if long { "word ".repeat(9_000) } else { "hi".into() };
        let cx = CallContext::new(time.clone());
        let request = ChatRequest::user(text).with_model(named.map(|named| ModelId::new(named).unwrap()));
        let record = match engine.decide(&cx, &request, &candidates, CallMode::Plain) {
            Ok(decision) => decision.record().clone(),
            Err(error) => llm_routing::Evaluations::of(&error).unwrap().record().clone(),
        };
        let json = serde_json::to_string(&record).unwrap();
        let read: DecisionRecord = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&read, &record);
        let clock: Arc<dyn Clock> = time;
        let inputs = read.inputs.as_deref().unwrap();
        let mut again = inputs.decide_by(policy(strategy), &clock, read.seed).unwrap();
        again.inputs = read.inputs.clone();
        prop_assert_eq!(again, record);
    }
}

/// A ledger that says something else each time it is asked.
#[derive(Debug, Default)]
struct Fickle(std::sync::atomic::AtomicU32);

impl QuotaView for Fickle {
    fn exhausted(&self, _: &str) -> Option<bool> {
        let asked = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Some(asked >= 2)
    }
    fn remaining_ratio(&self, _: &str) -> Option<f64> {
        None
    }
}

#[test]
fn what_is_recorded_of_quotas_is_what_was_decided_by() {
    let time = Time::new();
    let (candidates, _) = fleet(&time, &[None, None], &[]);
    let engine = RoutingEngine::new(policy(Strategy::Quota))
        .with_quota(Arc::new(Fickle::default()))
        .with_recorded_inputs(true);
    let cx = CallContext::new(time.clone());
    let decision = engine.decide(&cx, &ChatRequest::user("hi"), &candidates, CallMode::Plain);
    let record = decision.unwrap().record().clone();
    let inputs = record.inputs.clone().unwrap();
    let clock: Arc<dyn Clock> = time;
    let mut again = inputs
        .decide_by(policy(Strategy::Quota), &clock, record.seed)
        .unwrap();
    again.inputs = record.inputs.clone();
    assert_eq!(again, record);
}

#[test]
fn a_record_of_another_version_is_not_read() {
    let (candidates, _) = fleet(&Time::new(), &[None], &[]);
    let cx = CallContext::new(Time::new());
    let decision =
        RoutingEngine::default().decide(&cx, &ChatRequest::user("hi"), &candidates, CallMode::Plain);
    let mut json = serde_json::to_value(decision.unwrap()).unwrap();
    json["version"] = json!(2);
    let error = serde_json::from_value::<DecisionRecord>(json)
        .unwrap_err()
        .to_string();
    assert!(error.contains("version 2, and version 1 is read here"), "{error}");
}

#[test]
fn another_policy_is_tried_on_what_was_recorded() {
    let time = Time::new();
    let (candidates, metrics) = fleet(&time, &[Some(9), Some(3), None], &[10, 900, 20]);
    let engine = RoutingEngine::new(policy(Strategy::Latency))
        .with_metrics(metrics)
        .with_recorded_inputs(true);
    let cx = CallContext::new(time.clone());
    let decision = engine
        .decide(&cx, &ChatRequest::user("hi"), &candidates, CallMode::Plain)
        .unwrap();
    assert_eq!(decision.selected().id(), "c0");
    let inputs = decision.record().inputs.as_deref().unwrap();
    let clock: Arc<dyn Clock> = time;
    let cheapest = inputs.decide_by(policy(Strategy::Cost), &clock, 0).unwrap();
    assert_eq!(cheapest.selected.as_deref(), Some("c1"));
    assert_eq!(cheapest.policy.as_ref(), "cost");
    let price = |id: &str| {
        inputs
            .candidate(id)?
            .model
            .as_ref()?
            .price
            .as_ref()?
            .cost(&Usage::new(1_000_000, 0))
    };
    assert_eq!((price("c0").unwrap().pico_usd, price("c2")), (9_000, None));
}
