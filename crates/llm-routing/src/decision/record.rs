//! The decision as plain data, with a stable JSON form.

use super::inputs::DecisionInputs;
use crate::constraint::{CandidateRejection, Note};
use crate::facts::Facts;
use llm_core::{Availability, Error, ModelId, UnavailableReason};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// A decision as plain data: what is kept, compared, shown and replayed.
///
/// # JSON, version 1
///
/// Every field is always there, in this order; what is unknown or absent is `null`, an empty list or an
/// empty object. New fields may be added within a version; a field that is renamed, removed or given another
/// meaning raises `version`.
///
/// ```json
/// {
///   "version": 1,
///   "policy": "default",
///   "at_ms": 1796000000000,
///   "seed": 7,
///   "selected": "local",
///   "fallbacks": ["cloud"],
///   "evaluations": [
///     {
///       "candidate": "local",
///       "name": "local",
///       "group": 0,
///       "model_asked": "demo-small",
///       "model": "demo-small",
///       "eligible": true,
///       "score": { "value": 10.0, "ranker": "priority", "facts": { "set_by": "candidate" }, "parts": [] },
///       "rejections": [],
///       "notes": [{ "source": "capability", "code": "unknown_tools", "description": "…", "facts": {} }],
///       "availability": { "available": false, "reason": "breaker_open", "available_in_ms": 12000 }
///     }
///   ]
/// }
/// ```
///
/// `inputs` is there only where it is [recorded](crate::RoutingEngine::with_recorded_inputs), as the last field.
/// Facts are plain values: text, numbers, `true`, `false` and `null`. A rejection is
/// `{ "constraint", "code", "description", "facts" }`. Where several rankers were asked, or constraints that only take
/// from the score, the score's `ranker` is `composite` and its `parts` are
/// `{ "source", "weight", "raw", "normalised", "contribution", "facts" }`; the contributions add up to `value`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DecisionRecord {
    /// Of this form: 1. A record of another version is not read.
    #[serde(deserialize_with = "this_version")]
    pub version: u32,
    /// The name of the policy that decided.
    pub policy: Arc<str>,
    /// When: the calendar time of the call's clock, in milliseconds since 1970.
    #[serde(default)]
    pub at_ms: u64,
    /// What chance was drawn from: with the same seed, figures and time the same policy decides the same.
    #[serde(default)]
    pub seed: u64,
    /// The id of the candidate that is asked first; absent: none can serve.
    pub selected: Option<Arc<str>>,
    /// The ids of those that are asked after it, in order.
    pub fallbacks: Vec<Arc<str>>,
    /// What was found of every candidate, in the order they were given.
    pub evaluations: Vec<Evaluation>,
    /// What it was decided by, for trying another policy on it; absent unless the engine
    /// [records it](crate::RoutingEngine::with_recorded_inputs).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Box<DecisionInputs>>,
}

impl DecisionRecord {
    /// The version of the JSON form that this crate writes.
    pub const VERSION: u32 = 1;
}

fn this_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let version = u32::deserialize(deserializer)?;
    if version == DecisionRecord::VERSION {
        Ok(version)
    } else {
        let reads = DecisionRecord::VERSION;
        Err(D::Error::custom(format!(
            "a decision record of version {version}, and version {reads} is read here; read it with the release that wrote it"
        )))
    }
}

/// What was found of one candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Evaluation {
    /// Its id.
    pub candidate: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its group.
    pub group: u32,
    /// The model it would be asked for; absent: its stack's default.
    pub model_asked: Option<ModelId>,
    /// The model that would serve; absent: its stack takes no such model.
    pub model: Option<ModelId>,
    /// May it be in the plan?
    pub eligible: bool,
    /// How good it is; absent: rejected, or no ranker knows anything.
    pub score: Option<ScoreRecord>,
    /// Every reason why it cannot serve.
    pub rejections: Vec<CandidateRejection>,
    /// What else should be known.
    pub notes: Vec<Note>,
    /// Could it be called at the moment of the decision? It is asked again at its turn, and then skipped, so
    /// this rejects nobody. Absent: without a model there is nothing to ask about.
    pub availability: Option<AvailabilityRecord>,
}

/// A score as it stands in a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ScoreRecord {
    /// The higher, the better.
    pub value: f64,
    /// Which ranker gave it; `composite`: several did, or soft constraints took from it.
    pub ranker: Arc<str>,
    /// The figures behind it.
    pub facts: Facts,
    /// What a composite is made of; their contributions add up to the value.
    #[serde(default)]
    pub parts: Vec<ScorePart>,
}

impl ScoreRecord {
    pub(crate) fn new(value: f64, ranker: Arc<str>, facts: Facts) -> Self {
        ScoreRecord {
            value,
            ranker,
            facts,
            parts: Vec::new(),
        }
    }

    pub(crate) fn composite(value: f64, parts: Vec<ScorePart>) -> Self {
        ScoreRecord {
            value,
            ranker: "composite".into(),
            facts: Facts::default(),
            parts,
        }
    }
}

/// What one ranker or one soft constraint adds to a score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ScorePart {
    /// The ranker's or the constraint's name.
    pub source: Arc<str>,
    /// Its share of all rankers' weights, 0 to 1; absent for a constraint.
    pub weight: Option<f64>,
    /// What the ranker said; absent: it knew nothing.
    pub raw: Option<f64>,
    /// The same, or the median in its place, brought to 0..1 over the eligible candidates; absent for a constraint.
    pub normalised: Option<f64>,
    /// What it adds to the score; below 0 for a constraint.
    pub contribution: f64,
    /// The figures behind it.
    pub facts: Facts,
}

impl ScorePart {
    /// What a soft constraint takes.
    pub(crate) fn penalty(constraint: Arc<str>, penalty: f64) -> Self {
        ScorePart {
            source: constraint,
            weight: None,
            raw: None,
            normalised: None,
            contribution: -penalty,
            facts: Facts::default(),
        }
    }
}

/// An availability as it stands in a decision: moments are written as durations from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AvailabilityRecord {
    /// Could it be called?
    pub available: bool,
    /// Why not.
    pub reason: Option<UnavailableReason>,
    /// For how long, where known.
    pub available_in_ms: Option<u64>,
}

impl AvailabilityRecord {
    pub(crate) fn new(availability: Availability, now: Instant) -> Self {
        let (reason, until) = match availability {
            Availability::Unavailable { reason, until } => (Some(reason), until),
            _ => (None, None),
        };
        let left = until.map(|until| until.saturating_duration_since(now).as_millis());
        AvailabilityRecord {
            available: availability.is_available(),
            reason,
            available_in_ms: left.map(|left| u64::try_from(left).unwrap_or(u64::MAX)),
        }
    }
}

/// Every evaluation of a decision that found nobody: the source of a `NoEligibleCandidate` error.
///
/// ```
/// use llm_core::Error;
/// use llm_routing::Evaluations;
/// fn why(error: &Error) -> String {
///     match Evaluations::of(error) {
///         Some(evaluations) => evaluations.record().explain(),
///         None => error.to_string(),
///     }
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Evaluations(DecisionRecord);

impl Evaluations {
    pub(crate) fn new(record: DecisionRecord) -> Self {
        Evaluations(record)
    }

    /// Those that an error carries.
    pub fn of(error: &Error) -> Option<&Evaluations> {
        error.source()?.downcast_ref()
    }

    /// What was found of every candidate, in the order they were given.
    pub fn all(&self) -> &[Evaluation] {
        &self.0.evaluations
    }

    /// The same as a decision without a selected candidate.
    pub fn record(&self) -> &DecisionRecord {
        &self.0
    }

    /// Ids and codes on one line, for an error's message: `a (missing_tools, missing_vision), b (model_mismatch)`.
    pub(crate) fn summary(&self) -> String {
        /// More than these nobody reads in a log line.
        const SHOWN: usize = 10;
        let one = |evaluation: &Evaluation| {
            let codes: Vec<_> = evaluation
                .rejections
                .iter()
                .map(|rejection| &*rejection.code)
                .collect();
            let codes = if codes.is_empty() {
                "left out".to_owned()
            } else {
                codes.join(", ")
            };
            format!("{} ({codes})", evaluation.candidate)
        };
        let mut parts: Vec<_> = self.all().iter().take(SHOWN).map(one).collect();
        if self.all().len() > SHOWN {
            parts.push(format!("and {} more", self.all().len() - SHOWN));
        }
        parts.join(", ")
    }
}

impl fmt::Display for Evaluations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "policy {} evaluated {} candidates",
            self.0.policy,
            self.all().len()
        )
    }
}

impl StdError for Evaluations {}
