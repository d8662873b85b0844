//! The decision: the one plan that is executed, and why it came out as it did.

mod explain;
mod grounds;
mod inputs;
mod record;
mod replay;

use crate::candidate::Candidate;
use crate::needs::Needs;
use llm_core::{Availability, ChatDriver, ChatRequest, ModelId, ResolvedModel};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

pub(crate) use grounds::{Grounds, Judgement};
pub use inputs::{CandidateInputs, DecisionInputs, ModelFacts, QuotaFacts};
pub use record::{AvailabilityRecord, DecisionRecord, Evaluation, Evaluations, ScorePart, ScoreRecord};

/// A plan: who is asked first, who after that, and every evaluation that led there.
///
/// [`PlanExecutor`](crate::PlanExecutor) runs exactly this and decides nothing of its own. As JSON it is its
/// [`DecisionRecord`]; [`explain`](Self::explain) prints it for people. It holds on to every candidate that was
/// considered, stacks included: what is to be kept is the [record](Self::record).
#[derive(Debug, Clone)]
#[must_use = "a decision does nothing until it is executed"]
pub struct RoutingDecision {
    /// Never empty: a decision without a candidate is an error.
    plan: Vec<PlannedCandidate>,
    grounds: Grounds,
    needs: Needs,
    /// Made when it is first asked for.
    record: OnceLock<DecisionRecord>,
}

impl RoutingDecision {
    pub(crate) fn new(plan: Vec<PlannedCandidate>, grounds: Grounds, needs: Needs) -> Self {
        debug_assert!(!plan.is_empty(), "a decision has a candidate");
        RoutingDecision {
            plan,
            grounds,
            needs,
            record: OnceLock::new(),
        }
    }

    /// What the request needs.
    pub fn needs(&self) -> &Needs {
        &self.needs
    }

    /// Everybody who may be asked, in order: the selected candidate, then the fallbacks.
    pub fn plan(&self) -> &[PlannedCandidate] {
        &self.plan
    }

    /// Who is asked first.
    pub fn selected(&self) -> &PlannedCandidate {
        &self.plan[0]
    }

    /// Who is asked after that, in order.
    pub fn fallbacks(&self) -> &[PlannedCandidate] {
        &self.plan[1..]
    }

    /// What was found of every candidate, in the order they were given.
    pub fn evaluations(&self) -> &[Evaluation] {
        &self.record().evaluations
    }

    /// The name of the policy that decided.
    pub fn policy(&self) -> &str {
        &self.grounds.policy
    }

    /// The decision as plain data, for keeping and comparing. It is made when it is first asked for.
    pub fn record(&self) -> &DecisionRecord {
        self.record.get_or_init(|| self.grounds.record())
    }

    /// The decision as a table for people; see [`DecisionRecord::explain`].
    pub fn explain(&self) -> String {
        self.record().explain()
    }
}

impl Serialize for RoutingDecision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.record().serialize(serializer)
    }
}

/// A candidate in a plan, with the model it is asked for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PlannedCandidate {
    candidate: Candidate,
    asked: Option<ModelId>,
    resolved: Option<Arc<ResolvedModel>>,
}

impl PlannedCandidate {
    pub(crate) fn new(
        candidate: Candidate,
        asked: Option<ModelId>,
        resolved: Option<Arc<ResolvedModel>>,
    ) -> Self {
        PlannedCandidate {
            candidate,
            asked,
            resolved,
        }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        self.candidate.id()
    }

    /// Who it is.
    pub fn candidate(&self) -> &Candidate {
        &self.candidate
    }

    /// What is called.
    pub fn stack(&self) -> &Arc<dyn ChatDriver> {
        self.candidate.stack()
    }

    /// The model it is asked for: its own, else the one the request names; absent: its stack's default.
    pub fn model(&self) -> Option<&ModelId> {
        self.asked.as_ref()
    }

    /// What is known of that model; absent: nothing, and no constraint minded.
    pub fn resolved(&self) -> Option<&ResolvedModel> {
        self.resolved.as_deref()
    }

    /// How much it takes, in tokens; absent: unknown.
    pub fn context_window(&self) -> Option<u64> {
        self.resolved()?.limits.context_window
    }

    /// May it be called now? Reads only memory.
    pub fn availability(&self) -> Availability {
        self.candidate.availability(self.model(), self.resolved())
    }

    /// The request as this candidate gets it: with its own model, or untouched if it has none. Copied only
    /// when the model differs.
    pub fn request<'r>(&self, request: &'r ChatRequest) -> Cow<'r, ChatRequest> {
        match self.candidate.model() {
            Some(own) if request.model.as_ref() != Some(own) => {
                Cow::Owned(request.clone().with_model(own.clone()))
            }
            _ => Cow::Borrowed(request),
        }
    }

    /// The model's name for logs: as asked, else as resolved.
    pub(crate) fn model_for_log(&self) -> Option<&ModelId> {
        self.model().or_else(|| Some(&self.resolved()?.id))
    }
}
