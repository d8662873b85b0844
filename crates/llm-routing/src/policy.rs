//! A policy: who may serve, how good they are, in which order they are asked.

use crate::constraint::{
    CandidateModelConstraint, CapabilityConstraint, Constraint, ContextWindowConstraint, ModelConstraint,
    QuotaConstraint,
};
use crate::ranker::Ranker;
use crate::ranker::composite::Share;
use crate::selector::{Best, Selector};
use llm_core::error::{Error, ErrorKind, Result};
use std::sync::Arc;

/// Constraints, rankers and a selector under one name. Cheap to clone.
///
/// The default is what most programs want: a named model is binding, what cannot serve (the model, its abilities, its
/// context window, its quota) is rejected, and the rest are asked in the order they were given. Add a ranker to prefer some over others:
///
/// ```
/// use llm_routing::{PriorityRanker, RoutingPolicy};
/// let policy = RoutingPolicy::default()
///     .with_name("local-first")
///     .with_ranker(PriorityRanker::new([("local", 10.0)])?);
/// # Ok::<(), llm_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "a policy does nothing until an engine or a router has it"]
pub struct RoutingPolicy {
    name: Arc<str>,
    constraints: Vec<Rule>,
    rankers: Vec<Weighted>,
    /// What decisions say of the rankers.
    shares: Arc<[Share]>,
    selector: Arc<dyn Selector>,
}

/// A constraint and what it does.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) constraint: Arc<dyn Constraint>,
    /// What it takes from the score; absent: it rejects.
    pub(crate) penalty: Option<f64>,
}

/// A ranker and its share in the score.
#[derive(Debug, Clone)]
pub(crate) struct Weighted {
    pub(crate) ranker: Arc<dyn Ranker>,
    pub(crate) weight: f64,
}

impl Default for RoutingPolicy {
    fn default() -> Self {
        RoutingPolicy::empty("default")
            .with_constraint(ModelConstraint)
            .with_constraint(CandidateModelConstraint)
            .with_constraint(CapabilityConstraint::new())
            .with_constraint(ContextWindowConstraint::new())
            .with_constraint(QuotaConstraint)
    }
}

impl RoutingPolicy {
    /// Nothing but best-first: no candidate is rejected, not even one that cannot serve. For policies that
    /// are made of other constraints than the default's.
    pub fn empty(name: impl Into<Arc<str>>) -> Self {
        RoutingPolicy {
            name: name.into(),
            constraints: Vec::new(),
            rankers: Vec::new(),
            shares: Arc::default(),
            selector: Arc::new(Best),
        }
    }

    /// What decisions call it.
    pub fn with_name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = name.into();
        self
    }

    /// One more constraint. All are asked about every candidate, in this order.
    pub fn with_constraint(mut self, constraint: impl Constraint) -> Self {
        self.constraints.push(Rule {
            constraint: Arc::new(constraint),
            penalty: None,
        });
        self
    }

    /// One more constraint that rejects nobody: what it would have rejected becomes a note, and `penalty` is taken from
    /// the score, once for each such constraint. Scores are brought to 0..1 before that, so that a penalty of 1 puts
    /// a candidate behind all that have none.
    ///
    /// # Errors
    /// `Config`, when the penalty is no finite number above 0.
    pub fn with_soft_constraint(mut self, constraint: impl Constraint, penalty: f64) -> Result<Self> {
        if !penalty.is_finite() || penalty <= 0.0 {
            let name = constraint.name();
            let message =
                format!("the penalty of the soft constraint {name} must be a finite number above 0");
            return Err(Error::new(ErrorKind::Config, message));
        }
        self.constraints.push(Rule {
            constraint: Arc::new(constraint),
            penalty: Some(penalty),
        });
        Ok(self)
    }

    /// One more ranker, with weight 1; see [`Ranker`] for what several make of their scores.
    pub fn with_ranker(mut self, ranker: impl Ranker) -> Self {
        self.rankers.push(Weighted {
            ranker: Arc::new(ranker),
            weight: 1.0,
        });
        self.shared()
    }

    /// Rankers with their weights, in place of those that are there. Each counts with its share of the sum of all
    /// weights; one with weight 0 is shown in decisions and counts for nothing.
    ///
    /// ```
    /// use llm_routing::{CostRanker, LatencyRanker, Ranker, RoutingPolicy};
    /// use std::sync::Arc;
    /// let rankers: [(Arc<dyn Ranker>, f64); 2] =
    ///     [(Arc::new(CostRanker::new()), 0.7), (Arc::new(LatencyRanker::new()), 0.3)];
    /// let policy = RoutingPolicy::default().with_weighted_rankers(rankers)?;
    /// # Ok::<(), llm_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Config`, when a weight is no finite number of at least 0, or when there are rankers and all weights are 0.
    pub fn with_weighted_rankers(
        mut self,
        rankers: impl IntoIterator<Item = (Arc<dyn Ranker>, f64)>,
    ) -> Result<Self> {
        let mut weighted = Vec::new();
        for (ranker, weight) in rankers {
            if !weight.is_finite() || weight < 0.0 {
                let message = format!(
                    "the weight of the ranker {} must be a finite number of at least 0",
                    ranker.name()
                );
                return Err(Error::new(ErrorKind::Config, message));
            }
            weighted.push(Weighted { ranker, weight });
        }
        let sum: f64 = weighted.iter().map(|weighted| weighted.weight).sum();
        if !weighted.is_empty() && (sum <= 0.0 || !sum.is_finite()) {
            let message =
                "the weights of the rankers must have a finite sum above 0; give at least one ranker some";
            return Err(Error::new(ErrorKind::Config, message));
        }
        self.rankers = weighted;
        Ok(self.shared())
    }

    fn shared(mut self) -> Self {
        let weighted = self.rankers.iter();
        self.shares = Share::of(weighted.map(|weighted| (weighted.ranker.name(), weighted.weight)));
        self
    }

    /// The selector, in place of [`Best`].
    pub fn with_selector(mut self, selector: impl Selector) -> Self {
        self.selector = Arc::new(selector);
        self
    }

    /// What decisions call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn constraints(&self) -> &[Rule] {
        &self.constraints
    }

    pub(crate) fn rankers(&self) -> &[Weighted] {
        &self.rankers
    }

    pub(crate) fn shares(&self) -> &Arc<[Share]> {
        &self.shares
    }

    pub(crate) fn shared_name(&self) -> &Arc<str> {
        &self.name
    }

    pub(crate) fn selector(&self) -> &dyn Selector {
        &*self.selector
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranker::{LeastBusyRanker, UsageRanker};

    fn weighted(weights: [f64; 2]) -> Result<RoutingPolicy> {
        let rankers: [Arc<dyn Ranker>; 2] = [Arc::new(LeastBusyRanker), Arc::new(UsageRanker::new())];
        RoutingPolicy::default().with_weighted_rankers(rankers.into_iter().zip(weights))
    }

    #[test]
    fn weights_and_penalties_that_say_nothing_are_refused() {
        assert!(weighted([0.0, 2.0]).is_ok());
        for wrong in [
            [0.0, 0.0],
            [-1.0, 2.0],
            [f64::NAN, 1.0],
            [f64::INFINITY, 1.0],
            [f64::MAX, f64::MAX],
        ] {
            assert_eq!(
                weighted(wrong).unwrap_err().kind(),
                ErrorKind::Config,
                "{wrong:?}"
            );
        }
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let soft = RoutingPolicy::default().with_soft_constraint(CapabilityConstraint::new(), wrong);
            assert_eq!(soft.unwrap_err().kind(), ErrorKind::Config, "{wrong}");
        }
    }
}
