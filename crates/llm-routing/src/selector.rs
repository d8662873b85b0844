//! Selectors order the candidates that are left: the first is asked first, the rest are its fallbacks.

mod best;
mod draw;
mod near_tie;
mod power_of_two;
mod random;
mod round_robin;
mod weighted;

#[cfg(test)]
mod test_contenders;

pub(crate) use draw::mix;

use crate::candidate::Candidate;
use crate::metrics::CandidateMetrics;
use llm_core::ResolvedModel;
use std::fmt::Debug;
use std::sync::Arc;

pub use best::Best;
pub use near_tie::NearTie;
pub use power_of_two::PowerOfTwo;
pub use random::Random;
pub use round_robin::RoundRobin;
pub use weighted::WeightedRandom;

/// Orders the eligible candidates of one group.
///
/// Groups are the engine's business: it calls the selector once for each, lowest group first, so no selector
/// can move a candidate across groups.
pub trait Selector: Debug + Send + Sync + 'static {
    /// What decisions call it.
    fn name(&self) -> &str;

    /// Places in [`Selection::contenders`], best first. A contender that is left out is not in the plan;
    /// naming one twice or naming a place that does not exist fails the decision.
    fn order(&self, selection: &Selection<'_>) -> Vec<usize>;

    /// The candidates that it was told something of, by id. A router that has none of such a name says so in the log.
    fn listed(&self) -> Vec<&str> {
        Vec::new()
    }
}

impl<S: Selector + ?Sized> Selector for Arc<S> {
    fn name(&self) -> &str {
        (**self).name()
    }
    fn order(&self, selection: &Selection<'_>) -> Vec<usize> {
        (**self).order(selection)
    }
    fn listed(&self) -> Vec<&str> {
        (**self).listed()
    }
}

/// What a selector chooses from.
#[derive(Debug)]
#[non_exhaustive]
pub struct Selection<'a> {
    /// The eligible candidates of one group, in the order they were given.
    pub contenders: &'a [Contender<'a>],
    /// What chance is drawn from.
    pub seed: u64,
}

impl<'a> Selection<'a> {
    /// Chooses from these; for the engine, and for testing selectors of your own.
    pub fn new(contenders: &'a [Contender<'a>]) -> Self {
        Selection { contenders, seed: 0 }
    }

    /// Chance is drawn from this.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
}

impl Selection<'_> {
    /// For selectors that do not go by scores: whoever a soft constraint has found wanting goes to the end, in its order.
    fn penalised_last(&self, order: &mut [usize]) {
        order.sort_by_key(|place| {
            self.contenders
                .get(*place)
                .is_some_and(|contender| contender.penalised)
        });
    }
}

/// One eligible candidate.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Contender<'a> {
    /// Who.
    pub candidate: &'a Candidate,
    /// The model it would serve with; absent: not known, and no constraint minded.
    pub resolved: Option<&'a ResolvedModel>,
    /// Its score; absent: nobody gave one.
    pub score: Option<f64>,
    /// What its own calls have shown.
    pub metrics: &'a CandidateMetrics,
    /// Could it be called at the moment of the decision? One that could not is asked again at its turn, and skipped if
    /// it must be: it belongs into the plan, but not at a place where it takes another's turn.
    pub available: bool,
    /// Has a soft constraint found it wanting? Selectors that do not go by scores ask it after all others.
    pub penalised: bool,
}

impl<'a> Contender<'a> {
    /// A candidate with its score.
    pub fn new(candidate: &'a Candidate, resolved: Option<&'a ResolvedModel>, score: Option<f64>) -> Self {
        Contender {
            candidate,
            resolved,
            score,
            metrics: CandidateMetrics::UNKNOWN,
            available: true,
            penalised: false,
        }
    }

    /// Whether a soft constraint has found it wanting; unless it is said, none has.
    #[must_use]
    pub fn with_penalised(mut self, penalised: bool) -> Self {
        self.penalised = penalised;
        self
    }

    /// Whether it could be called now; unless it is said, it could.
    #[must_use]
    pub fn with_available(mut self, available: bool) -> Self {
        self.available = available;
        self
    }

    /// What its own calls have shown.
    #[must_use]
    pub fn with_metrics(mut self, metrics: &'a CandidateMetrics) -> Self {
        self.metrics = metrics;
        self
    }
}
