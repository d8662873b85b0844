//! A policy: who may serve, how good they are, in which order they are asked.

use crate::constraint::{CandidateModelConstraint, CapabilityConstraint, Constraint, ModelConstraint};
use crate::ranker::Ranker;
use crate::selector::{Best, Selector};
use std::sync::Arc;

/// Constraints, rankers and a selector under one name. Cheap to clone.
///
/// The default is what most programs want: a named model is binding, what cannot serve is rejected, and the
/// rest are asked in the order they were given. Add a ranker to prefer some over others:
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
    constraints: Vec<Arc<dyn Constraint>>,
    rankers: Vec<Arc<dyn Ranker>>,
    selector: Arc<dyn Selector>,
}

impl Default for RoutingPolicy {
    fn default() -> Self {
        RoutingPolicy::empty("default")
            .with_constraint(ModelConstraint)
            .with_constraint(CandidateModelConstraint)
            .with_constraint(CapabilityConstraint)
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
        self.constraints.push(Arc::new(constraint));
        self
    }

    /// One more ranker; see [`Ranker`] for what several make of their scores.
    pub fn with_ranker(mut self, ranker: impl Ranker) -> Self {
        self.rankers.push(Arc::new(ranker));
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

    pub(crate) fn constraints(&self) -> &[Arc<dyn Constraint>] {
        &self.constraints
    }

    pub(crate) fn rankers(&self) -> &[Arc<dyn Ranker>] {
        &self.rankers
    }

    pub(crate) fn selector(&self) -> &dyn Selector {
        &*self.selector
    }
}
