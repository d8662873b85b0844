//! The options of each strategy, and what they make.

use super::{Strategy, StrategyOption};
use crate::constraint::{
    CandidateModelConstraint, CapabilityConstraint, Constraint, ContextWindowConstraint, ModelConstraint,
    QuotaConstraint,
};
use crate::policy::RoutingPolicy;
use crate::ranker::{
    CostRanker, LatencyRanker, LeastBusyRanker, PriorityRanker, QuotaPressureRanker, ReliabilityRanker,
    UsageCount, UsageRanker,
};
use crate::selector::{Random, RoundRobin, WeightedRandom};
use llm_core::Capability;
use llm_core::error::Result;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

const fn option(
    name: &'static str,
    form: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> StrategyOption {
    StrategyOption {
        name,
        form,
        default,
        meaning,
    }
}

/// What every strategy takes.
pub(super) const COMMON: &[StrategyOption] = &[
    option(
        "strict",
        "true or false",
        "true",
        "Are the request's needs (abilities, context window, quota) binding? If not, what lacks one loses `penalty` of its score.",
    ),
    option(
        "penalty",
        "number above 0",
        "1",
        "With `strict: false`: what unmet abilities, an unmet window and an unmet quota each take from a score of 0 to 1; 1 puts it behind all that lack nothing. By chance and in turn, any puts it there.",
    ),
];

const WEIGHTS_BY_CHANCE: StrategyOption = option(
    "weights",
    "numbers by candidate id",
    "1 each",
    "How often each comes first, in proportion; 0 means never.",
);
const WEIGHTS_IN_TURN: StrategyOption = option(
    "weights",
    "whole numbers by candidate id",
    "1 each",
    "How many turns each has in a round; 0 means never.",
);
const REQUIRE: &str = "Must the model be able to, even where the request does not need it?";

/// What one strategy takes beside that.
pub(super) fn own(strategy: Strategy) -> &'static [StrategyOption] {
    match strategy {
        Strategy::Priority => {
            const {
                &[
                    option(
                        "priorities",
                        "numbers by candidate id, model or driver id",
                        "0 each",
                        "The highest is first.",
                    ),
                    option(
                        "quality_priorities",
                        "as `priorities`",
                        "`priorities`",
                        "The list for calls that prefer quality.",
                    ),
                ]
            }
        }
        Strategy::Weighted => &[WEIGHTS_BY_CHANCE],
        Strategy::RoundRobin => &[WEIGHTS_IN_TURN],
        Strategy::Latency => {
            const {
                &[option(
                    "default_latency_ms",
                    "number of at least 0",
                    "100",
                    "What a candidate of which nothing is known is taken to need: a small number has it tried first.",
                )]
            }
        }
        Strategy::Cost => {
            const {
                &[option(
                    "assumed_output_tokens",
                    "whole number",
                    "200",
                    "What is taken to come out where the request sets no cap.",
                )]
            }
        }
        Strategy::Usage => {
            const {
                &[option(
                    "count",
                    "`tokens` or `requests`",
                    "`tokens`",
                    "What is counted as use.",
                )]
            }
        }
        Strategy::Reliability => {
            const {
                &[option(
                    "minimum_calls",
                    "whole number",
                    "5",
                    "How many calls must have ended before their share says anything.",
                )]
            }
        }
        Strategy::ContextWindow => {
            const {
                &[
                    option(
                        "max_context_tokens",
                        "whole number of at least 1",
                        "no cap",
                        "No candidate is given more than this.",
                    ),
                    option(
                        "windows",
                        "whole numbers by candidate id, model or driver id",
                        "as stated",
                        "Context windows in place of those that candidates and stacks state.",
                    ),
                ]
            }
        }
        Strategy::Capability => {
            const {
                &[
                    option("require_tools", "true or false", "false", REQUIRE),
                    option("require_vision", "true or false", "false", REQUIRE),
                    option("require_reasoning", "true or false", "false", REQUIRE),
                    option("require_streaming", "true or false", "false", REQUIRE),
                ]
            }
        }
        Strategy::Random | Strategy::LeastBusy | Strategy::Quota => &[],
    }
}

/// The policy of a strategy with options whose keys are known.
pub(super) fn policy(strategy: Strategy, options: &Map<String, Value>) -> Result<RoutingPolicy> {
    let (common, own): (Map<_, _>, Map<_, _>) = options
        .clone()
        .into_iter()
        .partition(|(key, _)| COMMON.iter().any(|option| option.name == key));
    let common: CommonOptions = read(COMMON, common)?;
    common.check()?;
    let known = self::own(strategy);
    let mut capability = CapabilityConstraint::new();
    let mut window = ContextWindowConstraint::new();
    let mut policy = RoutingPolicy::empty(strategy.as_str())
        .with_constraint(ModelConstraint)
        .with_constraint(CandidateModelConstraint);
    match strategy {
        Strategy::Priority => {
            let own: PriorityOptions = read(known, own)?;
            let ranker = PriorityRanker::new(own.priorities)?.with_quality(own.quality_priorities)?;
            policy = policy.with_ranker(ranker);
        }
        Strategy::Weighted => {
            let own: WeightedOptions<f64> = read(known, own)?;
            policy = policy.with_selector(WeightedRandom::new(own.weights)?);
        }
        Strategy::RoundRobin => {
            let own: WeightedOptions<u32> = read(known, own)?;
            policy = policy.with_selector(RoundRobin::new().with_weights(own.weights)?);
        }
        Strategy::Latency => {
            let own: LatencyOptions = read(known, own)?;
            let ranker = LatencyRanker::new();
            policy = policy.with_ranker(match own.default_latency_ms {
                Some(millis) => ranker.with_assumed(millis)?,
                None => ranker,
            });
        }
        Strategy::Cost => {
            let own: CostOptions = read(known, own)?;
            let assumed = own.assumed_output_tokens.unwrap_or(CostRanker::ASSUMED_OUTPUT);
            policy = policy.with_ranker(CostRanker::new().with_assumed_output(assumed));
        }
        Strategy::Usage => {
            let own: UsageOptions = read(known, own)?;
            policy = policy.with_ranker(UsageRanker::new().with_count(own.count));
        }
        Strategy::Reliability => {
            let own: ReliabilityOptions = read(known, own)?;
            let minimum = own.minimum_calls.unwrap_or(ReliabilityRanker::MINIMUM);
            policy = policy.with_ranker(ReliabilityRanker::new().with_minimum(minimum));
        }
        Strategy::ContextWindow => {
            let own: WindowOptions = read(known, own)?;
            window = window.with_windows(own.windows)?;
            if let Some(most) = own.max_context_tokens {
                window = window.with_most(most)?;
            }
        }
        Strategy::Capability => {
            let own: CapabilityOptions = read(known, own)?;
            capability = capability.requiring(own.required());
        }
        Strategy::Random => policy = policy.with_selector(Random),
        Strategy::LeastBusy => policy = policy.with_ranker(LeastBusyRanker),
        Strategy::Quota => policy = policy.with_ranker(QuotaPressureRanker),
    }
    policy = common.add(policy, capability)?;
    policy = common.add(policy, window)?;
    common.add(policy, QuotaConstraint)
}

/// Reads options; an error names the option and what it holds.
fn read<T: DeserializeOwned>(known: &[StrategyOption], options: Map<String, Value>) -> Result<T> {
    serde_path_to_error::deserialize(Value::Object(options)).map_err(|fault| {
        let path = fault.path().to_string();
        let option = path.split('.').next().unwrap_or_default();
        let form = known
            .iter()
            .find(|known| known.name == option)
            .map(|known| known.form);
        let holds = form
            .map(|form| format!("; `{option}` holds {form}"))
            .unwrap_or_default();
        super::config_error(format!("{path}: {}{holds}", fault.inner()))
    })
}

#[derive(Deserialize)]
#[serde(default)]
struct CommonOptions {
    strict: bool,
    penalty: f64,
}

impl Default for CommonOptions {
    fn default() -> Self {
        CommonOptions {
            strict: true,
            penalty: 1.0,
        }
    }
}

impl CommonOptions {
    /// Also where the penalty is not used: it is as wrong there.
    fn check(&self) -> Result<()> {
        if self.penalty.is_finite() && self.penalty > 0.0 {
            Ok(())
        } else {
            let message = format!("penalty: it is {}, and must be a number above 0", self.penalty);
            Err(super::config_error(message))
        }
    }

    fn add(&self, policy: RoutingPolicy, constraint: impl Constraint) -> Result<RoutingPolicy> {
        if self.strict {
            Ok(policy.with_constraint(constraint))
        } else {
            policy.with_soft_constraint(constraint, self.penalty)
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PriorityOptions {
    priorities: BTreeMap<String, f64>,
    quality_priorities: BTreeMap<String, f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WeightedOptions<T> {
    weights: BTreeMap<String, T>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LatencyOptions {
    default_latency_ms: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CostOptions {
    assumed_output_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct UsageOptions {
    count: UsageCount,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ReliabilityOptions {
    minimum_calls: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WindowOptions {
    max_context_tokens: Option<u64>,
    windows: BTreeMap<String, u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CapabilityOptions {
    require_tools: bool,
    require_vision: bool,
    require_reasoning: bool,
    require_streaming: bool,
}

impl CapabilityOptions {
    fn required(&self) -> impl Iterator<Item = Capability> {
        let all = [
            (self.require_tools, Capability::Tools),
            (self.require_vision, Capability::Vision),
            (self.require_reasoning, Capability::Reasoning),
            (self.require_streaming, Capability::Streaming),
        ];
        all.into_iter()
            .filter_map(|(required, capability)| required.then_some(capability))
    }
}
