#![doc = include_str!("../README.md")]
#![deny(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]

pub mod candidate;
mod clock;
pub mod constraint;
pub mod decision;
pub mod engine;
pub mod executor;
pub mod facts;
pub mod metrics;
pub mod needs;
pub mod observer;
pub mod pairing;
pub mod policy;
pub mod ranker;
pub mod router;
pub mod selector;
pub mod strategy;

pub use candidate::Candidate;
pub use constraint::{
    CandidateModelConstraint, CandidateRejection, CapabilityConstraint, Constraint, ContextWindowConstraint,
    Findings, ModelConstraint, Note, QuotaConstraint,
};
pub use decision::{
    AvailabilityRecord, CandidateInputs, DecisionInputs, DecisionRecord, Evaluation, Evaluations, ModelFacts,
    PlannedCandidate, QuotaFacts, RoutingDecision, ScorePart, ScoreRecord,
};
pub use engine::RoutingEngine;
pub use executor::{PlanExecutor, ResponseCheck, Served};
pub use facts::{Fact, Facts};
pub use metrics::{CallInFlight, CandidateMetrics, Metrics};
pub use needs::{CallMode, Needs};
pub use observer::PlanObserver;
pub use pairing::Pairing;
pub use policy::RoutingPolicy;
pub use ranker::{
    CostRanker, LatencyRanker, LeastBusyRanker, PriorityRanker, QuotaPressureRanker, Ranker,
    ReliabilityRanker, Score, UsageCount, UsageRanker,
};
pub use router::Router;
pub use selector::{
    Best, Contender, NearTie, PowerOfTwo, Random, RoundRobin, Selection, Selector, WeightedRandom,
};
pub use strategy::{Strategy, StrategyConfig, StrategyOption};

#[cfg(test)]
mod test_driver;
