//! What a decision was made by: figures and facts, no content.

use super::grounds::Judgement;
use super::record::AvailabilityRecord;
use crate::engine::Asked;
use crate::metrics::CandidateMetrics;
use crate::needs::Needs;
use llm_core::{Capabilities, DriverId, ModelId, ModelLimits, Price};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// What a decision was made by: enough to [decide again](Self::decide_by) with another policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DecisionInputs {
    /// The calendar time, in milliseconds since 1970.
    pub at_ms: u64,
    /// The model that the request names.
    pub model: Option<ModelId>,
    /// Did the caller prefer quality over price and speed?
    pub prefers_quality: bool,
    /// What the request needs.
    pub needs: Needs,
    /// Who was considered, in the order they were given.
    pub candidates: Vec<CandidateInputs>,
}

/// What one candidate was judged by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CandidateInputs {
    /// Its id.
    pub id: Arc<str>,
    /// Its name for people; absent: its id.
    #[serde(default)]
    pub name: Option<Arc<str>>,
    /// Its group.
    pub group: u32,
    /// The words it was tagged with.
    pub tags: Vec<String>,
    /// The model of its own, if it has one.
    pub own_model: Option<ModelId>,
    /// Its driver.
    pub driver: DriverId,
    /// The model that would serve and what was known of it; absent: its stack takes no such model.
    pub model: Option<ModelFacts>,
    /// What its stack said where it takes no such model.
    #[serde(default)]
    pub refusal: Option<String>,
    /// Does it serve the model that the request names? Absent: the request names none.
    #[serde(default)]
    pub serves_named: Option<bool>,
    /// Could it be called at that moment?
    #[serde(default)]
    pub availability: Option<AvailabilityRecord>,
    /// What its own calls had shown.
    pub metrics: CandidateMetrics,
    /// What a ledger knew of its quota; absent: there was none.
    pub quota: Option<QuotaFacts>,
}

/// What was known of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelFacts {
    /// Its name.
    pub id: ModelId,
    /// Was it in the catalogue?
    pub known: bool,
    /// What it can do.
    pub capabilities: Capabilities,
    /// How much it takes and gives.
    pub limits: ModelLimits,
    /// What it costs; absent: unknown.
    pub price: Option<Price>,
}

/// What a ledger knew of a quota.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QuotaFacts {
    /// Was it used up?
    pub exhausted: Option<bool>,
    /// The share that was left, 0 to 1.
    pub remaining_ratio: Option<f64>,
}

impl DecisionInputs {
    pub(crate) fn of(asked: &Asked<'_>, candidates: Vec<CandidateInputs>) -> Self {
        DecisionInputs {
            at_ms: millis_since_1970(asked.wall),
            model: asked.request.model.clone(),
            prefers_quality: asked.prefers_quality,
            needs: asked.needs.clone(),
            candidates,
        }
    }

    /// The calendar time.
    pub fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.at_ms)
    }

    /// What was known of one candidate.
    pub fn candidate(&self, id: &str) -> Option<&CandidateInputs> {
        self.candidates.iter().find(|candidate| &*candidate.id == id)
    }
}

pub(crate) fn millis_since_1970(wall: SystemTime) -> u64 {
    let since = wall.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl CandidateInputs {
    pub(crate) fn of(judgement: &Judgement, asked: &Asked<'_>, metrics: CandidateMetrics) -> Self {
        let (candidate, quota) = (&judgement.candidate, asked.quota);
        let resolved = judgement.resolved.as_deref();
        let serves = |named: &ModelId| match resolved {
            Ok(resolved) => candidate.serves(named, resolved),
            Err(_) => candidate.model() == Some(named),
        };
        let id = candidate.shared_id();
        CandidateInputs {
            id: id.clone(),
            name: candidate.given_name().cloned(),
            group: candidate.group(),
            tags: candidate.tags().map(str::to_owned).collect(),
            own_model: candidate.model().cloned(),
            driver: candidate.stack().info().id.clone(),
            model: resolved.ok().map(|resolved| ModelFacts {
                id: resolved.id.clone(),
                known: resolved.known,
                capabilities: resolved.capabilities,
                limits: resolved.limits,
                price: resolved.price.clone(),
            }),
            refusal: resolved.err().map(|error| error.message().to_owned()),
            serves_named: asked.request.model.as_ref().map(serves),
            availability: judgement.availability,
            metrics,
            quota: quota.map(|quota| QuotaFacts {
                exhausted: quota.exhausted(id),
                remaining_ratio: quota.remaining_ratio(id),
            }),
        }
    }
}
