//! What would another policy have done? Reads recorded decisions and decides them again.
//!
//! `cargo run -p llm-routing --example replay -- [FILE] [POLICY]`
//!
//! FILE holds a JSON object a line: `{ "decision": …, "usage": … }`, a decision that an engine made
//! `.with_recorded_inputs(true)` and, where it is known, what the call used. Without FILE (or with `-`), a day of a small
//! fleet is made up and recorded first. POLICY is a strategy as in a configuration file, for example
//! `{"strategy":"cost"}`, which is the default.

use llm_core::price::{Price, Rates};
use llm_core::{
    Availability, CallContext, ChatDriver, ChatRequest, ChatResponse, ChatStream, Clock, DriverId,
    DriverInfo, Error, ErrorKind, HealthStatus, ModelId, ModelLimits, ResolvedModel, Result, Usage, VendorId,
    async_trait,
};
use llm_routing::{
    CallMode, Candidate, DecisionInputs, DecisionRecord, Metrics, RoutingEngine, Strategy, StrategyConfig,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::error::Error as StdError;
use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

/// One line of a file.
#[derive(Serialize, Deserialize)]
struct Line {
    decision: DecisionRecord,
    #[serde(default)]
    usage: Usage,
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["--help" | "-h", ..] => {
            let _ = writeln!(
                io::stdout(),
                "usage: replay [FILE|-] [POLICY]\nsee the top of this example's source"
            );
            Ok(())
        }
        [] => replay(None, r#"{"strategy":"cost"}"#),
        [file] => replay(Some(file), r#"{"strategy":"cost"}"#),
        [file, policy, ..] => replay(Some(file), policy),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "replay: {error}");
            ExitCode::FAILURE
        }
    }
}

fn replay(file: Option<&str>, policy: &str) -> std::result::Result<(), Box<dyn StdError>> {
    let text = match file {
        None | Some("-") => recorded_day()?,
        Some(file) => fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?,
    };
    let config: StrategyConfig = serde_json::from_str(policy)?;
    let clock: Arc<dyn Clock> = Arc::new(Time::new());
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{:<4} {:<22} {:>12}   {:<22} {:>12}",
        "",
        "it was",
        "dollars",
        config.strategy(),
        "dollars"
    )?;
    let (mut lines, mut others) = (0, 0);
    let mut sums = [Sum::default(), Sum::default()];
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let line: Line =
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", number + 1))?;
        let Some(inputs) = line.decision.inputs.as_deref() else {
            return Err(format!("line {}: its decision has no `inputs`: record them", number + 1).into());
        };
        let again = inputs.decide_by(config.policy(), &clock, line.decision.seed)?;
        let [was, would] = [&line.decision, &again].map(|record| record.selected.as_deref());
        let costs = [was, would].map(|id| cost(inputs, id, &line.usage));
        for (sum, cost) in sums.iter_mut().zip(&costs) {
            sum.add(*cost);
        }
        lines += 1;
        others += usize::from(was != would);
        let [was, would] = [was, would].map(|id| id.unwrap_or("(nobody)"));
        let [cost_was, cost_would] =
            costs.map(|usd| usd.map_or("unknown".to_owned(), |usd| format!("{usd:.6}")));
        writeln!(
            out,
            "{:<4} {was:<22} {cost_was:>12}   {would:<22} {cost_would:>12}",
            number + 1
        )?;
    }
    let [was, would] = sums.map(|sum| sum.to_string());
    writeln!(out, "{:<4} {:<22} {was:>12}   {:<22} {would:>12}", "sum", "", "")?;
    writeln!(out, "{others} of {lines} calls would have gone elsewhere")?;
    Ok(())
}

/// What the same usage costs at this candidate's prices of that day, in dollars.
fn cost(inputs: &DecisionInputs, candidate: Option<&str>, usage: &Usage) -> Option<f64> {
    let price = inputs.candidate(candidate?)?.model.as_ref()?.price.as_ref()?;
    Some(price.at(inputs.wall()).cost(usage)?.usd())
}

#[derive(Default)]
struct Sum {
    usd: f64,
    unknown: usize,
}

impl Sum {
    fn add(&mut self, usd: Option<f64>) {
        self.usd += usd.unwrap_or(0.0);
        self.unknown += usize::from(usd.is_none());
    }
}

impl std::fmt::Display for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sum = match self.unknown {
            0 => format!("{:.6}", self.usd),
            unknown => format!("{:.6} + {unknown} unknown", self.usd),
        };
        f.pad(&sum)
    }
}

/// Twelve calls over a fleet of three, decided by latency: each learns from the ones before.
fn recorded_day() -> std::result::Result<String, Box<dyn StdError>> {
    let time = Arc::new(Time::new());
    let fleet = [
        ("home", 0, 0, 2_500),
        ("quick", 1, 3, 700),
        ("large", 4, 20, 1_600),
    ];
    let candidates: Vec<_> = fleet
        .iter()
        .map(|(id, input, output, _)| {
            let price = Price::new(Rates::usd(input * 1_000_000_000, output * 1_000_000_000));
            Candidate::new(*id, Arc::new(Stack::new(id, price)))
        })
        .collect();
    let metrics = Metrics::new();
    let engine = RoutingEngine::new(Strategy::Latency.policy(&json!({}))?)
        .with_metrics(metrics.clone())
        .with_seed(1)
        .with_recorded_inputs(true);
    let mut text = String::new();
    for number in 1..=12_u64 {
        let cx = CallContext::new(time.clone());
        let request = ChatRequest::user("word ".repeat(300 * usize::try_from(number)?));
        let decision = engine.decide(&cx, &request, &candidates, CallMode::Plain)?;
        let usage = Usage::new(350 * number, 40 * number);
        let id = decision.selected().id();
        let millis = fleet.iter().find(|one| one.0 == id).map_or(0, |one| one.3);
        let start = time.now();
        time.advance(Duration::from_millis(millis));
        let call = metrics.begin(id, start).with_demand(decision.needs().demand());
        call.succeeded(time.now(), time.now(), &usage, None);
        let line = Line {
            decision: decision.record().clone(),
            usage,
        };
        text.push_str(&serde_json::to_string(&line)?);
        text.push('\n');
    }
    Ok(text)
}

/// A clock that moves when it is told to.
#[derive(Debug)]
struct Time(Mutex<Instant>);

impl Time {
    fn new() -> Self {
        #[expect(clippy::disallowed_methods, reason = "only a point to count from")]
        Time(Mutex::new(Instant::now()))
    }

    fn advance(&self, by: Duration) {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) += by;
    }
}

impl Clock for Time {
    fn now(&self) -> Instant {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_000_000)
    }
}

/// A stack that is only decided about.
#[derive(Debug)]
struct Stack {
    info: DriverInfo,
    model: Arc<ResolvedModel>,
}

impl Stack {
    fn new(id: &'static str, price: Price) -> Self {
        let vendor = VendorId::from_static("example");
        let model = ModelId::new(format!("demo-{id}")).unwrap_or_else(|_| unreachable!("a plain name"));
        let limits = ModelLimits::new(Some(32_000), None, None);
        let mut model = ResolvedModel::unknown(model)
            .with_limits(limits)
            .with_price(price);
        model.known = true;
        Stack {
            info: DriverInfo::new(DriverId::from_static(id), vendor, id),
            model: Arc::new(model),
        }
    }
}

#[async_trait]
impl ChatDriver for Stack {
    fn info(&self) -> &DriverInfo {
        &self.info
    }
    fn resolve(&self, _: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        Ok(self.model.clone())
    }
    fn availability(&self, _: &ModelId) -> Availability {
        Availability::Available
    }
    async fn health(&self, cx: &CallContext) -> HealthStatus {
        HealthStatus::unknown(cx.clock().wall(), "it is never asked")
    }
    async fn chat(&self, _: &CallContext, _: &ChatRequest) -> Result<ChatResponse> {
        Err(Error::new(ErrorKind::Internal, "it is never called"))
    }
    async fn chat_stream(&self, _: &CallContext, _: &ChatRequest) -> Result<ChatStream> {
        Err(Error::new(ErrorKind::Internal, "it is never called"))
    }
}
