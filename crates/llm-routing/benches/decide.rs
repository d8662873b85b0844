//! What a decision costs: by the number of candidates, and with many callers at once.
//!
//! All constraints and a composite of five rankers. The stacks answer from a field, so that what they cost is next to
//! nothing; `resolve_and_availability` shows how much that is.

use divan::{Bencher, counter::ItemsCount};
use llm_core::capability::Capability;
use llm_core::price::{Price, Rates};
use llm_core::{
    Availability, CallContext, Capabilities, ChatDriver, ChatRequest, ChatResponse, ChatStream, Clock,
    DriverId, DriverInfo, Error, ErrorKind, HealthStatus, ModelId, ModelLimits, ResolvedModel, Result,
    ToolSpec, Usage, VendorId, async_trait,
};
use llm_routing::{
    CallMode, Candidate, CostRanker, LatencyRanker, LeastBusyRanker, Metrics, PriorityRanker, Ranker,
    ReliabilityRanker, RoundRobin, RoutingEngine, RoutingPolicy,
};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

const FLEETS: [usize; 4] = [3, 30, 300, 3_000];

fn main() {
    divan::main();
}

#[divan::bench(args = FLEETS)]
fn decide(bencher: Bencher<'_, '_>, count: usize) {
    let bench = Bench::new(count);
    bencher.counter(ItemsCount::new(count)).bench(|| bench.decide());
}

#[divan::bench(args = FLEETS)]
fn resolve_and_availability(bencher: Bencher<'_, '_>, count: usize) {
    let bench = Bench::new(count);
    bencher.counter(ItemsCount::new(count)).bench(|| {
        for candidate in &bench.candidates {
            let resolved = candidate.resolve(None);
            divan::black_box(
                resolved
                    .map(|resolved| candidate.stack().availability(&resolved.id))
                    .ok(),
            );
        }
    });
}

/// One engine for all threads: a decision over three candidates.
#[divan::bench(threads = [1, 2, 8, 64])]
fn decide_at_once(bencher: Bencher<'_, '_>) {
    let bench = Bench::new(3);
    bencher.bench(|| bench.decide());
}

/// The same with a selector whose every step is atomic.
#[divan::bench(threads = [1, 2, 8, 64])]
fn round_robin_at_once(bencher: Bencher<'_, '_>) {
    let mut bench = Bench::new(3);
    bench.engine = RoutingEngine::new(RoutingPolicy::default().with_selector(RoundRobin::new()));
    bencher.bench(|| bench.decide());
}

struct Bench {
    engine: RoutingEngine,
    candidates: Vec<Candidate>,
    request: ChatRequest,
    cx: CallContext,
}

impl Bench {
    fn new(count: usize) -> Self {
        let clock = Arc::new(Still(start()));
        let metrics = Metrics::new();
        let candidates: Vec<_> = (0..count)
            .map(|number| candidate(number, &metrics, clock.0))
            .collect();
        let rankers: [Arc<dyn Ranker>; 5] = [
            Arc::new(PriorityRanker::default()),
            Arc::new(CostRanker::new()),
            Arc::new(LatencyRanker::new()),
            Arc::new(ReliabilityRanker::new()),
            Arc::new(LeastBusyRanker),
        ];
        let policy = RoutingPolicy::default();
        let policy = policy
            .clone()
            .with_weighted_rankers(rankers.map(|ranker| (ranker, 1.0)))
            .unwrap_or(policy);
        Bench {
            engine: RoutingEngine::new(policy).with_metrics(metrics),
            candidates,
            request: ChatRequest::user("What is the weather in Oslo?").with_tools([ToolSpec::new("weather")]),
            cx: CallContext::new(clock),
        }
    }

    fn decide(&self) -> usize {
        let decision = self
            .engine
            .decide(&self.cx, &self.request, &self.candidates, CallMode::Stream);
        decision.map_or(0, |decision| divan::black_box(decision).plan().len())
    }
}

fn candidate(number: usize, metrics: &Metrics, now: Instant) -> Candidate {
    let id: Arc<str> = format!("candidate-{number}").into();
    for call in 0..6 {
        let end = now + Duration::from_millis(100 + (number as u64 * 37 + call) % 900);
        metrics
            .begin(&id, now)
            .succeeded(end, end, &Usage::new(100, 20), None);
    }
    let rate = 100_000_000 * (1 + number as u64 % 40);
    Candidate::new(id, Arc::new(Stack::new(rate)))
}

#[expect(clippy::disallowed_methods, reason = "only a point to count from")]
fn start() -> Instant {
    Instant::now()
}

#[derive(Debug)]
struct Still(Instant);

impl Clock for Still {
    fn now(&self) -> Instant {
        self.0
    }
    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

#[derive(Debug)]
struct Stack {
    info: DriverInfo,
    model: Option<Arc<ResolvedModel>>,
}

impl Stack {
    fn new(rate: u64) -> Self {
        let known = ModelId::new("demo-1").ok().map(|id| {
            let mut model = ResolvedModel::unknown(id)
                .with_capabilities(Capabilities::only([Capability::Tools, Capability::Streaming]))
                .with_limits(ModelLimits::new(Some(128_000), None, None))
                .with_price(Price::new(Rates::usd(rate, 4 * rate)));
            model.known = true;
            Arc::new(model)
        });
        Stack {
            info: DriverInfo::new(
                DriverId::from_static("bench"),
                VendorId::from_static("bench"),
                "bench",
            ),
            model: known,
        }
    }
}

#[async_trait]
impl ChatDriver for Stack {
    fn info(&self) -> &DriverInfo {
        &self.info
    }
    fn resolve(&self, _: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        self.model.clone().ok_or_else(never)
    }
    fn availability(&self, _: &ModelId) -> Availability {
        Availability::Available
    }
    async fn health(&self, cx: &CallContext) -> HealthStatus {
        HealthStatus::unknown(cx.clock().wall(), "never asked")
    }
    async fn chat(&self, _: &CallContext, _: &ChatRequest) -> Result<ChatResponse> {
        Err(never())
    }
    async fn chat_stream(&self, _: &CallContext, _: &ChatRequest) -> Result<ChatStream> {
        Err(never())
    }
}

fn never() -> Error {
    Error::new(ErrorKind::Internal, "never called")
}
