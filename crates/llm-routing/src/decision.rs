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
pub(crate) use replay::RecordedQuota;

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
    /// What a constraint goes by in place of the model's own limits.
    input_limit: Option<u64>,
}

impl PlannedCandidate {
    pub(crate) fn new(
        candidate: Candidate,
        asked: Option<ModelId>,
        resolved: Option<Arc<ResolvedModel>>,
        input_limit: Option<u64>,
    ) -> Self {
        PlannedCandidate {
            candidate,
            asked,
            resolved,
            input_limit,
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

    /// How much input it takes at most, in tokens: what a [constraint](crate::Constraint::input_limit) says, else the smaller
    /// of the model's window and its own cap on input; absent: unknown.
    pub fn input_limit(&self) -> Option<u64> {
        let stated = || {
            let limits = &self.resolved()?.limits;
            limits.context_window.into_iter().chain(limits.max_input).min()
        };
        self.input_limit.or_else(stated)
    }

    /// May it be called now? Reads only memory.
    pub fn availability(&self) -> Availability {
        self.candidate.availability(self.model(), self.resolved())
    }

    /// The request as this candidate gets it: with the [model](Self::model) that was decided on. Copied only when that
    /// differs.
    pub fn request<'r>(&self, request: &'r ChatRequest) -> Cow<'r, ChatRequest> {
        if request.model == self.asked {
            Cow::Borrowed(request)
        } else {
            Cow::Owned(request.clone().with_model(self.asked.clone()))
        }
    }

    /// The model's name for logs: as asked, else as resolved.
    pub(crate) fn model_for_log(&self) -> Option<&ModelId> {
        self.model().or_else(|| Some(&self.resolved()?.id))
    }
}
